//! Lines of source beside code, from `.debug_line`, and lines of PTX, from `.nv_debug_line_sass`.
//!
//! Both are DWARF line programs without a unit that leads to them, so they are read one behind the other. Every address
//! counts from the start of a function: the relocation of the operand of `DW_LNE_set_address` says of which. NVIDIA's own
//! `DW_LNE_inlined_call` names a row before, counted from 1 in its sequence, as the place that the next rows were inlined
//! at, and 0 ends that.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gimli::{
    AttributeValue, DebugLine, DebugLineOffset, DwLne, EndianSlice, LineInstruction, LineRow,
    LittleEndian, Reader, RelocateReader,
};

use crate::elf::{Class, Elf, Section};
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::index::{self, Index};
use crate::order;

const SOURCE: &str = ".debug_line";
const PTX: &str = ".nv_debug_line_sass";

/// `DW_LNE_inlined_call`: the row that the call is in, and the function's name in `.debug_str`.
const INLINED_CALL: DwLne = DwLne(0x90);

/// Bytes of a section with line programs that are read, at most.
const LIMIT: u64 = 128 << 20;

/// The lines of a function.
#[derive(Debug, Default)]
pub struct Lines {
    files: Vec<String>,
    source: Rows,
    ptx: Rows,
}

/// Rows of line programs for one function, in the order in which the programs make them.
#[derive(Debug, Default)]
struct Rows {
    rows: Vec<Row>,
    /// Their indices by increasing offset.
    order: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    /// Offset in the code.
    offset: u64,
    /// Index in the files.
    file: u32,
    /// 0 where code ends, or has no line.
    line: u32,
    /// The row that it was inlined at, counted from 1; 0 where it was not.
    caller: u32,
}

/// A line of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The path of its file as the compiler had it.
    pub file: &'a str,
    /// Counted from 1.
    pub line: u32,
}

/// Inlining that is told of a line, at most.
const DEPTH: usize = 64;

impl Rows {
    fn at(&self, offset: u64) -> Option<&Row> {
        let row = |i: usize| self.order.get(i).and_then(|&i| self.rows.get(i as usize));
        let end = self
            .order
            .partition_point(|&i| self.rows[i as usize].offset <= offset);
        let last = row(end.checked_sub(1)?)?;
        // A sequence can end where another has begun.
        let mut same = (0..end).rev().map_while(row);
        same.by_ref()
            .take_while(|row| row.offset == last.offset)
            .find(|row| row.line != 0)
    }
}

impl Lines {
    /// Reads the lines of the code in section `code`.
    fn read(elf: &Elf, code: u32) -> Self {
        let mut files = Vec::new();
        let rows = |name: &str, files: &mut Vec<String>| {
            let section = elf.section_named(name);
            section.map_or_else(Rows::default, |section| {
                Rows::read(elf, section, code, files)
            })
        };
        let source = rows(SOURCE, &mut files);
        let ptx = rows(PTX, &mut Vec::new());
        Self { files, source, ptx }
    }

    /// Whether there are lines of source.
    pub fn has_source(&self) -> bool {
        !self.source.rows.is_empty()
    }

    /// Whether there are lines of PTX.
    pub fn has_ptx(&self) -> bool {
        !self.ptx.rows.is_empty()
    }

    /// The line of source of the instruction at `offset` of the code, then the lines that it was inlined at, nearest first.
    pub fn source_at(&self, offset: u64) -> impl Iterator<Item = Line<'_>> {
        let rows = &self.source.rows;
        // A caller stands before what it calls, so this ends; the bound is for chains of a malformed file.
        let chain = std::iter::successors(self.source.at(offset), |row| {
            rows.get((row.caller as usize).checked_sub(1)?)
        });
        chain.take(DEPTH).map(|row| Line {
            file: self.files.get(row.file as usize).map_or("", String::as_str),
            line: row.line,
        })
    }

    /// The line of PTX of the instruction at `offset` of the code, counted from 1.
    pub fn ptx_at(&self, offset: u64) -> Option<u32> {
        self.ptx.at(offset).map(|row| row.line)
    }
}

/// The lines of the function that was asked for last: a table of its code is looked at window by window.
#[derive(Clone, Debug, Default)]
pub(super) struct Cache(RefCell<Option<(u32, Rc<Lines>)>>);

impl Cache {
    /// The lines of the code in section `code`.
    pub fn get(&self, elf: &Elf, code: u32) -> Rc<Lines> {
        let mut kept = self.0.borrow_mut();
        match &*kept {
            Some((section, lines)) if *section == code => lines.clone(),
            _ => {
                let lines = Rc::new(Lines::read(elf, code));
                *kept = Some((code, lines.clone()));
                lines
            }
        }
    }
}

/// A row of a line program.
struct Stated<'a> {
    /// Which of the section's programs it is of.
    unit: u64,
    /// Which row it is of its sequence.
    nth: usize,
    /// The section of the code; 0 where nothing says which.
    code: u32,
    offset: u64,
    file: u64,
    line: u32,
    /// The row of its sequence that it was inlined at, counted from 1; 0 where it was not.
    context: usize,
    path: &'a dyn Fn() -> (String, String),
}

impl Rows {
    /// The rows of the code in section `code`, of the programs in `section`.
    fn read(elf: &Elf, section: &Section, code: u32, files: &mut Vec<String>) -> Self {
        let mut known = Index::default();
        let mut rows = Vec::new();
        let mut base = 0;
        // Many files of a malformed program can be in one folder with a long name.
        let mut room = section.size.saturating_mul(4);
        // What is wrong in it is found by the checks.
        let _ = walk(elf, section, &mut |stated| {
            if stated.nth == 0 {
                base = rows.len();
            }
            if stated.code != code {
                return;
            }
            let file = known.add(&index::pair(stated.unit, stated.file));
            if file == files.len() {
                let (folder, name) = (stated.path)();
                let size = folder.len() as u64;
                files.push(
                    if folder.is_empty() || name.starts_with('/') || size > room {
                        name
                    } else {
                        room -= size;
                        folder + "/" + &name
                    },
                );
            }
            // A row of before: chains of callers end.
            let caller = (base + stated.context).min(u32::MAX as usize);
            let is_inlined = stated.context > 0 && caller <= rows.len();
            rows.push(Row {
                offset: stated.offset,
                file: file as u32,
                line: stated.line,
                caller: if is_inlined { caller as u32 } else { 0 },
            });
        });
        let order = order::by_key(rows.len(), &|i| rows[i].offset);
        Self { rows, order }
    }
}

/// Where a walk ends that cannot go on: in the file that was dropped, and why.
struct Malformed(u64, &'static str);

/// What the operands of `DW_LNE_set_address` are relocated to. The reader of line programs asks by offset for an address;
/// which section's it is is left beside.
#[derive(Clone, Copy, Debug)]
struct Relocations<'a> {
    /// Offset of the operand, section, offset there; by increasing offset.
    entries: &'a [(u64, u32, u64)],
    section: &'a Cell<u32>,
}

impl gimli::Relocate for Relocations<'_> {
    fn relocate_address(&self, offset: usize, value: u64) -> gimli::Result<u64> {
        let at = self
            .entries
            .binary_search_by_key(&(offset as u64), |entry| entry.0);
        let (_, section, address) = at.map_or((0, 0, 0), |at| self.entries[at]);
        self.section.set(section);
        // The addend is in the relocation or in the bytes; of the two the other is 0.
        Ok(address.wrapping_add(value))
    }

    fn relocate_offset(&self, _: usize, value: usize) -> gimli::Result<usize> {
        Ok(value)
    }
}

/// What relocations do to `section`.
fn relocations(elf: &Elf, section: &Section) -> Vec<(u64, u32, u64)> {
    let mut entries = Vec::new();
    let tables = elf.relocation_tables.iter();
    for table in tables.filter(|table| table.target == Some(section.index)) {
        let symbols = elf.symbol_table_in(table.symbols);
        let symbols = symbols.and_then(|table| elf.symbols(table).ok());
        let (Some(symbols), Ok(relocations)) = (symbols, elf.relocations(table)) else {
            continue;
        };
        entries.extend(relocations.iter().filter_map(|relocation| {
            let symbol = symbols.get(relocation.symbol.into())?;
            let addend = relocation.addend.unwrap_or(0) as u64;
            let address = symbol.value.wrapping_add(addend);
            Some((relocation.offset, symbol.section, address))
        }));
    }
    order::arrange(&mut entries, |entry| entry.0);
    entries
}

/// Runs the line programs in `section` and tells `each` of their rows.
fn walk(
    elf: &Elf,
    section: &Section,
    each: &mut dyn FnMut(&Stated<'_>),
) -> std::result::Result<(), Malformed> {
    let span = elf.stored(section);
    let place = |at: usize| span.offset + at as u64;
    if span.size > LIMIT {
        return Err(Malformed(
            place(0),
            "the line programs are too long to be read",
        ));
    }
    let bytes = elf.source().read(span);
    let bytes = bytes.map_err(|_| Malformed(place(0), "the line programs cannot be read"))?;
    let entries = relocations(elf, section);
    let code = Cell::new(0);
    let relocations = Relocations {
        entries: &entries,
        section: &code,
    };
    let reader = EndianSlice::new(&bytes, LittleEndian);
    let programs = DebugLine::from(RelocateReader::new(reader, relocations));
    let address_size = match elf.header.class {
        Class::Elf32 => 4,
        Class::Elf64 => 8,
    };
    let mut at = 0;
    let mut unit = 0;
    while at < bytes.len() {
        let malformed = |_| Malformed(place(at), "a line program is malformed");
        let program = programs.program(DebugLineOffset(at), address_size, None, None);
        let mut program = program.map_err(malformed)?;
        let header = program.header();
        let next = at + header.unit_length() + usize::from(header.format().initial_length_size());
        let mut instructions = header.instructions();
        let mut row = LineRow::new(header);
        let (mut nth, mut context) = (0, 0);
        code.set(0);
        loop {
            let header = program.header();
            let Some(instruction) = instructions.next_instruction(header).map_err(malformed)?
            else {
                break;
            };
            if let LineInstruction::UnknownExtended(INLINED_CALL, mut operands) = instruction {
                context = operands.read_uleb128().map_err(malformed)? as usize;
                continue;
            }
            if !row.execute(instruction, &mut program).map_err(malformed)? {
                continue;
            }
            let header = program.header();
            let line = row.line().map_or(0, |line| line.get());
            each(&Stated {
                unit,
                nth,
                code: code.get(),
                offset: row.address(),
                file: row.file_index(),
                line: match row.end_sequence() {
                    true => 0,
                    false => u32::try_from(line).unwrap_or(u32::MAX),
                },
                context,
                path: &|| {
                    let file = header.file(row.file_index());
                    let folder = file.and_then(|file| file.directory(header));
                    (text(folder), text(file.map(|file| file.path_name())))
                },
            });
            nth += 1;
            if row.end_sequence() {
                (nth, context) = (0, 0);
                code.set(0);
            }
            row.reset(header);
        }
        at = next;
        unit += 1;
    }
    Ok(())
}

fn text<R: Reader>(value: Option<AttributeValue<R>>) -> String {
    match value {
        Some(AttributeValue::String(text)) => text
            .to_slice()
            .map(|text| String::from_utf8_lossy(&text).into_owned())
            .unwrap_or_default(),
        _ => String::new(),
    }
}

/// Finds line programs that cannot be read to their end.
pub(super) fn check(elf: &Elf, findings: &mut Diagnostics) {
    for section in [SOURCE, PTX]
        .iter()
        .filter_map(|name| elf.section_named(name))
    {
        if let Err(Malformed(at, why)) = walk(elf, section, &mut |_| {}) {
            findings.push(
                Diagnostic::warning(Kind::Format, format!("{why}; lines behind it are not told"))
                    .within(format!("section {} {}", section.index, section.name))
                    .at(elf.source().absolute(at)),
            );
        }
    }
}
