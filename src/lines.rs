//! Lines of source beside code, from `.debug_line`, and in cubins lines of PTX, from `.nv_debug_line_sass`.
//!
//! Both are DWARF line programs, of any version up to 5. They are read one behind the other, without the units that lead
//! to them: cubins need not have these. In files that are not linked, and in cubins, addresses count from the start of a
//! section: the relocation of the operand of `DW_LNE_set_address` says of which. Elsewhere they are addresses. NVIDIA's
//! own `DW_LNE_inlined_call` names a row before, counted from 1 in its sequence, as the place that the next rows were
//! inlined at, and 0 ends that.

use std::cell::{Cell, OnceCell, RefCell};
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
/// Where names of files are that line programs of DWARF 5 share, and those that they share with other sections.
const LINE_NAMES: &str = ".debug_line_str";
const NAMES: &str = ".debug_str";

/// `DW_LNE_inlined_call`: the row that the call is in, and the function's name in `.debug_str`.
const INLINED_CALL: DwLne = DwLne(0x90);

/// Bytes of a section with line programs that are read, at most; if it is compressed, of what it unpacks to.
const LIMIT: u64 = 128 << 20;

/// Rows of line programs that are kept of a function, at most.
const ROW_LIMIT: usize = 1 << 22;

/// Bytes of a name that is kept in another section, at most.
const NAME_LIMIT: usize = 4096;

/// A function whose lines are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// The section in which the addresses of its line programs count; 0 where they are addresses.
    pub section: u32,
    /// Its first address.
    pub start: u64,
    /// Bytes.
    pub size: u64,
}

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
    /// Whether code ends at it.
    is_end: bool,
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

impl Row {
    /// Whether this row says nothing of the code once `next` of the same sequence is there, unless it is a caller.
    fn replaced_by(&self, next: &Self) -> bool {
        self.offset == next.offset && !next.is_end
    }
}

impl Rows {
    fn at(&self, offset: u64) -> Option<&Row> {
        let row = |i: usize| self.order.get(i).and_then(|&i| self.rows.get(i as usize));
        let end = self
            .order
            .partition_point(|&i| self.rows[i as usize].offset <= offset);
        let last = row(end.checked_sub(1)?)?;
        // A sequence can end where another has begun. A line of 0 counts: the code there has none, whatever rows before say.
        let mut same = (0..end).rev().map_while(row);
        same.by_ref()
            .take_while(|row| row.offset == last.offset)
            .find(|row| !row.is_end)
            .filter(|row| row.line != 0)
    }
}

impl Lines {
    /// Reads the lines of `code`.
    pub fn read(elf: &Elf, code: Function) -> Self {
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

    /// Whether a row of the line programs begins in the `size` bytes from `offset` of the code on.
    pub fn begins_in(&self, offset: u64, size: u64) -> bool {
        let rows = &self.source;
        let at = |i: &u32| rows.rows[*i as usize].offset;
        let first = rows.order.partition_point(|i| at(i) < offset);
        rows.order.get(first).is_some_and(|i| at(i) - offset < size)
    }

    /// The line of PTX of the instruction at `offset` of the code, counted from 1.
    pub fn ptx_at(&self, offset: u64) -> Option<u32> {
        self.ptx.at(offset).map(|row| row.line)
    }
}

/// The lines of the function that was asked for last: a table of its code is looked at window by window.
#[derive(Clone, Debug, Default)]
pub struct Cache(RefCell<Option<(Function, Rc<Lines>)>>);

impl Cache {
    /// The lines of `code`.
    pub fn get(&self, elf: &Elf, code: Function) -> Rc<Lines> {
        let mut kept = self.0.borrow_mut();
        match &*kept {
            Some((function, lines)) if *function == code => lines.clone(),
            _ => {
                let lines = Rc::new(Lines::read(elf, code));
                *kept = Some((code, lines.clone()));
                lines
            }
        }
    }
}

/// The last part of a path.
pub fn name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// A row of a line program.
struct Stated<'a> {
    /// Which of the section's programs it is of.
    unit: u64,
    /// Which row it is of its sequence.
    nth: usize,
    /// The section of the code; 0 where nothing says which.
    code: u32,
    address: u64,
    file: u64,
    line: u32,
    /// Whether its sequence ends with it.
    is_end: bool,
    /// The row of its sequence that it was inlined at, counted from 1; 0 where it was not.
    context: usize,
    path: &'a dyn Fn() -> (String, String),
}

impl Rows {
    /// The rows of `code`, of the programs in `section`.
    fn read(elf: &Elf, section: &Section, code: Function, files: &mut Vec<String>) -> Self {
        let mut known = Index::default();
        let mut rows: Vec<Row> = Vec::new();
        let mut base = 0;
        // The row before the function's first one, in a sequence of several functions.
        let mut before: Option<Row> = None;
        let has_callers = has_callers(elf);
        // Rows of one file come together.
        let mut last = None;
        // Many files of a malformed program can be in one folder with a long name.
        let mut room = section.size.saturating_mul(4);
        // What is wrong in it is found by the checks.
        let _ = walk(elf, section, &mut |stated| {
            if stated.nth == 0 {
                base = rows.len();
                before = None;
            }
            // Where the function ends its rows do, too.
            let offset = stated.address.wrapping_sub(code.start);
            let is_before = stated.address < code.start;
            if stated.code != code.section || (!is_before && offset > code.size) {
                return;
            }
            if rows.len() >= ROW_LIMIT {
                return;
            }
            let name = (stated.unit, stated.file);
            let file = match last {
                Some((known, file)) if known == name => file,
                _ => known.add(&index::pair(stated.unit, stated.file)),
            };
            last = Some((name, file));
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
            let row = Row {
                offset: if is_before { 0 } else { offset },
                file: file as u32,
                line: stated.line,
                caller: if is_inlined { caller as u32 } else { 0 },
                is_end: stated.is_end,
            };
            if is_before {
                before = Some(row);
                return;
            }
            rows.extend(before.take().filter(|row| offset > 0 && row.line > 0));
            // Of the rows of a sequence at one address only the last one says something of the code.
            match rows.get_mut(base..).and_then(<[Row]>::last_mut) {
                Some(same) if !has_callers && same.replaced_by(&row) => *same = row,
                _ => rows.push(row),
            }
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
    /// By increasing offset.
    entries: &'a [Moved],
    section: &'a Cell<u32>,
}

/// What a relocation makes of an operand.
#[derive(Clone, Copy, Debug)]
struct Moved {
    /// Offset of the operand.
    operand: u64,
    /// The section that it leads to.
    section: u32,
    /// Where in that it leads to.
    address: u64,
    /// Whether the bytes of the operand are added.
    is_added: bool,
}

impl Relocations<'_> {
    fn moved(&self, operand: usize, value: u64) -> (u32, u64) {
        let entries = self.entries;
        let at = entries.binary_search_by_key(&(operand as u64), |moved| moved.operand);
        match at.map(|at| entries[at]) {
            Err(_) => (0, value),
            Ok(moved) if moved.is_added => (moved.section, moved.address.wrapping_add(value)),
            Ok(moved) => (moved.section, moved.address),
        }
    }
}

impl gimli::Relocate for Relocations<'_> {
    fn relocate_address(&self, offset: usize, value: u64) -> gimli::Result<u64> {
        let (section, address) = self.moved(offset, value);
        self.section.set(section);
        Ok(address)
    }

    fn relocate_offset(&self, offset: usize, value: usize) -> gimli::Result<usize> {
        // Offsets past what a browser can address are past the end of any section.
        let (_, moved) = self.moved(offset, value as u64);
        Ok(usize::try_from(moved).unwrap_or(usize::MAX))
    }
}

/// What relocations do to `section`: nothing where a linker has done it and kept them, in a file with addresses.
fn relocations(elf: &Elf, section: &Section) -> Vec<Moved> {
    let mut entries = Vec::new();
    if has_addresses(elf) {
        return entries;
    }
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
            Some(Moved {
                operand: relocation.offset,
                section: symbol.section,
                address: symbol.value.wrapping_add(addend),
                is_added: relocation.addend.is_none(),
            })
        }));
    }
    order::arrange(&mut entries, |moved| moved.operand);
    entries
}

/// Whether addresses of line programs are those of the file, not places in its sections.
pub fn has_addresses(elf: &Elf) -> bool {
    !elf.header.is_relocatable() && elf.image.has_addresses
}

/// Whether rows can be named by others that come after them, as what they were inlined at.
fn has_callers(elf: &Elf) -> bool {
    elf.header.e_machine == crate::nvidia::EM_CUDA
}

/// Runs the line programs in `section` and tells `each` of their rows.
fn walk(
    elf: &Elf,
    section: &Section,
    each: &mut dyn FnMut(&Stated<'_>),
) -> std::result::Result<(), Malformed> {
    let start = elf.stored(section).offset;
    let place = |at: usize| match section.is_compressed() {
        true => start,
        false => start + at as u64,
    };
    let bytes = elf.unpack(section, LIMIT);
    let bytes = bytes.map_err(|why| Malformed(start, why))?;
    let names = [LINE_NAMES, NAMES].map(|name| Names {
        elf,
        name,
        bytes: OnceCell::new(),
    });
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
                address: row.address(),
                file: row.file_index(),
                line: match row.end_sequence() {
                    true => 0,
                    false => u32::try_from(line).unwrap_or(u32::MAX),
                },
                is_end: row.end_sequence(),
                context,
                path: &|| {
                    let file = header.file(row.file_index());
                    let folder = file.and_then(|file| file.directory(header));
                    let mut folder = text(folder, &names);
                    let name = text(file.map(|file| file.path_name()), &names);
                    // A folder may be said from where the compiler ran.
                    let is_below = file.is_some_and(|file| file.directory_index() > 0);
                    if is_below && !folder.is_empty() && !folder.starts_with('/') {
                        let above = text(header.directory(0), &names);
                        if !above.is_empty() {
                            folder = above + "/" + &folder;
                        }
                    }
                    (folder, name)
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

/// A section with names, read when the first one is asked for.
struct Names<'a> {
    elf: &'a Elf,
    name: &'a str,
    bytes: OnceCell<Vec<u8>>,
}

impl Names<'_> {
    fn at(&self, offset: usize) -> String {
        let bytes = self.bytes.get_or_init(|| {
            let section = self.elf.section_named(self.name);
            let bytes = section.map(|section| self.elf.unpack(section, LIMIT));
            bytes.and_then(Result::ok).unwrap_or_default()
        });
        let rest = bytes.get(offset..).unwrap_or_default();
        let rest = &rest[..rest.len().min(NAME_LIMIT)];
        let name = rest.split(|&byte| byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    }
}

fn text<R: Reader<Offset = usize>>(
    value: Option<AttributeValue<R>>,
    [line_names, names]: &[Names<'_>; 2],
) -> String {
    match value {
        Some(AttributeValue::String(text)) => text
            .to_slice()
            .map(|text| String::from_utf8_lossy(&text).into_owned())
            .unwrap_or_default(),
        Some(AttributeValue::DebugLineStrRef(offset)) => line_names.at(offset.0),
        Some(AttributeValue::DebugStrRef(offset)) => names.at(offset.0),
        _ => String::new(),
    }
}

/// Finds line programs that cannot be read to their end, names of files that cannot be unpacked, and rows that are left
/// out where they are of one function.
pub fn check(elf: &Elf, findings: &mut Diagnostics) {
    let mut find = |section: &Section, at: u64, finding: Diagnostic| {
        findings.push(
            finding
                .within(format!("section {} {}", section.index, section.name))
                .at(elf.source().absolute(at)),
        );
    };
    let mut has_lines = false;
    let has_callers = has_callers(elf);
    for section in [SOURCE, PTX]
        .iter()
        .filter_map(|name| elf.section_named(name))
    {
        has_lines = true;
        let mut count = 0_usize;
        let mut before = None;
        let walked = walk(elf, section, &mut |stated| {
            let place = Some((stated.code, stated.address));
            let is_same = stated.nth > 0 && before == place && !stated.is_end && !has_callers;
            count += usize::from(!is_same);
            before = place;
        });
        if let Err(Malformed(at, why)) = walked {
            let message = format!("{why}; lines behind it are not told");
            find(section, at, Diagnostic::warning(Kind::Format, message));
        }
        if count > ROW_LIMIT {
            let message = "there may be more rows of lines than are told of one function";
            let finding = Diagnostic::warning(Kind::Limit, message)
                .expected(format!("at most {ROW_LIMIT} rows"), count);
            find(section, elf.stored(section).offset, finding);
        }
    }
    let names = [LINE_NAMES, NAMES].into_iter().filter(|_| has_lines);
    for section in names.filter_map(|name| elf.section_named(name)) {
        // Bytes that are as they are need not be read to be known to be there.
        let is_read = section.is_compressed() || section.size > LIMIT;
        if is_read && let Err(why) = elf.unpack(section, LIMIT) {
            let message = format!("{why}; names of files in it are not told");
            let at = elf.stored(section).offset;
            find(section, at, Diagnostic::warning(Kind::Format, message));
        }
    }
}
