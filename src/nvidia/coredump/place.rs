//! From an address to module, function and line.
//!
//! The sections of a relocated cubin lie at the addresses that the module was loaded at. Line programs are read of the
//! module as it was before, if the dump has it, where they count from the start of each section; of the relocated one
//! they are taken as addresses.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use super::{Coredump, section as s};
use crate::elf::{Elf, Section, Symbols};
use crate::error::Diagnostics;
use crate::index::Map;
use crate::lines::{self, Function, Lines};
use crate::order;
use crate::span::Span;

/// Where code is.
#[derive(Clone, Debug)]
pub struct Place {
    /// The function.
    pub function: String,
    /// Bytes from its start.
    pub offset: u64,
    /// The path of the source, and the line; where that is known.
    pub line: Option<(String, u32)>,
    /// Index of the section of the dump with the relocated cubin.
    pub image: u32,
    /// Its bytes in the dump, where the cubin has them.
    pub code: Option<Span>,
}

impl Place {
    /// As people write it: `kernel+0x80 (file.cu:6)`.
    pub fn text(&self) -> String {
        let line = self.line.as_ref().map(|(path, line)| {
            let name = lines::name(path);
            format!(" ({name}:{line})")
        });
        let line = line.unwrap_or_default();
        format!("{}+0x{:x}{line}", self.function, self.offset)
    }
}

/// Code of a module.
#[derive(Debug)]
struct Range {
    address: u64,
    size: u64,
    /// The part with the relocated cubin.
    part: u32,
    /// The section of it.
    section: u32,
}

/// A module that is open.
#[derive(Debug)]
struct Module {
    part: u32,
    relocated: Elf,
    /// The same as it was before.
    plain: Option<Elf>,
    /// Its functions by address.
    functions: Vec<Named>,
    /// The lines of its functions, by section.
    lines: RefCell<Map<Rc<Lines>>>,
}

/// A function of a module.
#[derive(Debug)]
struct Named {
    address: u64,
    size: u64,
    /// Index of its symbol.
    symbol: u64,
}

/// Addresses that were asked for, and what is kept for the next ones.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// By address.
    ranges: OnceCell<Vec<Range>>,
    /// Modules that were looked at.
    modules: RefCell<Vec<Rc<Module>>>,
    known: RefCell<Map<Option<Rc<Place>>>>,
    /// Bytes of modules that were gone through for them.
    spent: Cell<u64>,
}

/// Addresses that are kept with what they are, at most, and modules that are kept open.
const KNOWN: usize = 1 << 14;
const OPEN: usize = 16;
/// Bytes of modules that are gone through for addresses, in sizes of the dump: more is asked for by malformed ones only.
const SPENT: u64 = 64;
/// Functions before an address that are looked at, at most: they may lie in each other.
const BEFORE: usize = 64;

/// How names of code sections begin.
const CODE: &str = ".text.";
/// `STT_FUNC`.
const FUNCTION: u8 = 2;
/// Bytes of an instruction on GPUs since Volta.
const INSTRUCTION: u64 = 16;

impl Places {
    pub(super) fn get(
        &self,
        dump: &Coredump,
        elf: &Elf,
        address: u64,
        is_return: bool,
    ) -> Option<Rc<Place>> {
        let key = crate::index::pair(address, is_return.into());
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let place = self.find(dump, elf, address, is_return).map(Rc::new);
        let mut known = self.known.borrow_mut();
        if known.len() >= KNOWN {
            *known = Map::default();
        }
        known.entry(&key, place.clone());
        place
    }

    fn find(&self, dump: &Coredump, elf: &Elf, address: u64, is_return: bool) -> Option<Place> {
        let ranges = self.ranges.get_or_init(|| ranges(dump, elf));
        // The call is before what it returns to.
        let asked = address.checked_sub(is_return.into())?;
        let next = ranges.partition_point(|range| range.address <= asked);
        let range = ranges.get(next.checked_sub(1)?)?;
        let within = asked - range.address;
        if within >= range.size {
            return None;
        }
        let module = self.module(dump, elf, range.part)?;
        let section = module.relocated.section(range.section)?;
        let (function, start) = module.function(section, asked);
        let line = module.line(section, within, || self.may_read(dump, elf, range.part));
        let stored = module
            .relocated
            .stored_from(section, address - range.address);
        let start_of_image = dump.parts[range.part as usize].span.offset;
        let code = stored.and_then(|stored| {
            let at = start_of_image + stored.offset;
            Span::new(at, INSTRUCTION.min(stored.size)).some()
        });
        Some(Place {
            function,
            offset: address - start,
            line,
            image: dump.parts[range.part as usize].section,
            code,
        })
    }
}

impl Places {
    /// Whether the module of `part` may be gone through once more.
    fn may_read(&self, dump: &Coredump, elf: &Elf, part: u32) -> bool {
        let size = dump.parts[part as usize].span.size;
        let spent = self.spent.get().saturating_add(size);
        self.spent.set(spent);
        spent <= elf.source().size().saturating_mul(SPENT)
    }

    fn module(&self, dump: &Coredump, elf: &Elf, part: u32) -> Option<Rc<Module>> {
        let mut modules = self.modules.borrow_mut();
        if let Some(module) = modules.iter().find(|module| module.part == part) {
            return Some(module.clone());
        }
        if !self.may_read(dump, elf, part) {
            return None;
        }
        let module = Rc::new(Module::open(dump, elf, part)?);
        if modules.len() == OPEN {
            modules.remove(0);
        }
        modules.push(module.clone());
        Some(module)
    }
}

/// The code of all modules by address. Modules are opened one by one; together they may be as long as the dump twice.
fn ranges(dump: &Coredump, elf: &Elf) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::new();
    let mut room = elf.source().size().saturating_mul(2);
    for &(_, part) in dump.parts_of(s::RELF_IMG) {
        let Some(rest) = room.checked_sub(dump.parts[part as usize].span.size) else {
            break;
        };
        room = rest;
        let Some(module) = open(dump, elf, part) else {
            continue;
        };
        let sections = module.sections.iter();
        let code = sections.filter(|section| section.name.starts_with(CODE));
        ranges.extend(code.map(|section| Range {
            address: section.address,
            size: section.size,
            part,
            section: section.index,
        }));
    }
    order::arrange(&mut ranges, |range| range.address);
    ranges
}

/// The cubin that is the section of `part`.
fn open(dump: &Coredump, elf: &Elf, part: u32) -> Option<Elf> {
    let source = elf.source().part(dump.parts[part as usize].span).ok()?;
    // What is wrong with it is said where it is opened by itself.
    let mut findings = Diagnostics::default();
    Elf::open(&source, |_| &super::super::DIALECT, &mut findings).ok()
}

impl Module {
    fn open(dump: &Coredump, elf: &Elf, part: u32) -> Option<Self> {
        let relocated = open(dump, elf, part)?;
        let parent = dump.parts[part as usize].parent();
        let beside = parent.map(|(above, index)| dump.parts_in(above, index));
        let mut beside = beside.into_iter().flatten();
        let is_plain = |&&part: &&u32| dump.parts[part as usize].kind.number == s::ELF_IMG;
        let plain = beside
            .find(is_plain)
            .and_then(|&part| open(dump, elf, part));
        Some(Self {
            part,
            functions: functions(&relocated),
            relocated,
            plain,
            lines: RefCell::default(),
        })
    }

    /// The function that holds the byte at `address`, which is in `section`, and where it starts.
    fn function(&self, section: &Section, address: u64) -> (String, u64) {
        let next = self.functions.partition_point(|f| f.address <= address);
        let mut before = self.functions[..next].iter().rev().take(BEFORE);
        // Of functions in each other the one that starts last is the innermost.
        let found = before.find(|f| address - f.address < f.size);
        let named = found.and_then(|found| {
            let table = self.relocated.symbol_tables.first()?;
            let symbols = self.relocated.symbols(table).ok()?;
            Some((symbols.name(&symbols.get(found.symbol)?), found.address))
        });
        let name = section.name.strip_prefix(CODE).unwrap_or(&section.name);
        named.unwrap_or_else(|| (name.into(), section.address))
    }

    /// The line of the code at `within` of `section`.
    fn line(
        &self,
        section: &Section,
        within: u64,
        may_read: impl FnOnce() -> bool,
    ) -> Option<(String, u32)> {
        let key = section.index.to_le_bytes();
        let mut kept = self.lines.borrow_mut();
        let lines = match kept.get(&key) {
            Some(lines) => lines.clone(),
            None if !may_read() => return None,
            None => kept.entry(&key, Rc::new(self.read_lines(section))).clone(),
        };
        let line = lines.source_at(within).next()?;
        Some((line.file.into(), line.line))
    }

    fn read_lines(&self, section: &Section) -> Lines {
        let plain = self.plain.as_ref().and_then(|elf| {
            let same = elf.section_named(&section.name)?;
            let function = Function {
                section: same.index,
                start: 0,
                size: u64::MAX,
            };
            Some(Lines::read(elf, function)).filter(Lines::has_source)
        });
        plain.unwrap_or_else(|| {
            let function = Function {
                section: 0,
                start: section.address,
                size: section.size,
            };
            Lines::read(&self.relocated, function)
        })
    }
}

/// The functions of a relocated cubin by address. Values of symbols may be addresses, or count from the start of their section.
fn functions(elf: &Elf) -> Vec<Named> {
    let table = elf.symbol_tables.first();
    let symbols = table.and_then(|table| elf.symbols(table).ok());
    let mut functions = Vec::new();
    for symbol in symbols.iter().flat_map(Symbols::iter) {
        let section = elf.section(symbol.section);
        let Some(section) = section.filter(|_| symbol.info & 15 == FUNCTION) else {
            continue;
        };
        let within = symbol.value.checked_sub(section.address);
        let within = within.filter(|&within| within < section.size);
        functions.push(Named {
            address: section
                .address
                .saturating_add(within.unwrap_or(symbol.value)),
            size: symbol.size,
            symbol: symbol.index,
        });
    }
    order::arrange(&mut functions, |function| function.address);
    functions
}
