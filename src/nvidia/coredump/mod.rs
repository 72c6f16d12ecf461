//! Core dumps of CUDA programs: what the driver writes of every GPU when a kernel fails.
//!
//! A dump is an ELF file whose sections are tables and memory. They form a tree: `sh_link` names the section of the table
//! above, `sh_info` the entry there, so that what belongs to a thread is found from its entry, and the other way. Entries
//! have grown with drivers; `sh_entsize` says how much of one there is. [`Coredump`] is that tree, made of section headers
//! alone; entries are read when they are looked at.
//!
//! All of this follows the public header, `cudacoredump.h` of cuda-gdb: no dump of a driver was at hand to hold it against.

mod faults;
mod place;

use std::cell::OnceCell;
use std::rc::Rc;

pub use faults::Fault;
pub use place::Place;

use super::tables;
use crate::elf::dialect::GENERIC;
use crate::elf::map::Role;
use crate::elf::{Dialect, Elf, Header, Section, Strings};
use crate::error::{Diagnostic, Diagnostics, Kind as Rule, Result};
use crate::index::Index;
use crate::order;
use crate::record::{Kind as FieldKind, Layout, Record, bits};
use crate::span::Span;

/// `e_type` of core dumps.
pub const ET_CORE: u16 = 4;

/// `EI_OSABI` of core dumps.
const OS_ABI: u8 = 0x33;

/// What core dumps add to ELF.
pub static DIALECT: Dialect = Dialect {
    os_abis: &tables::OS_ABI,
    section_types: &tables::COREDUMP_SECTION_TYPE,
    roles: ROLES,
    ..GENERIC
};

const ROLES: &[(&str, Role)] = &[
    (".cudbg.elfimg", Role::Code),
    (".cudbg.relfimg", Role::Code),
    (".cudbg.global", Role::Data),
    (".cudbg.local", Role::Data),
    (".cudbg.shared", Role::Data),
    (".cudbg.param", Role::Data),
    (".cudbg", Role::Info),
];

/// What is said of every dump.
pub const NOT_VERIFIED: &str = "read by the public header; no dump of a driver was at hand";

// Types of sections, see `tables/nvidia/coredump.toml`.
#[allow(missing_docs)] // the names are the format's own, without CUDBG_SHT
pub mod section {
    pub const MANAGED_MEM: u32 = 0x8000_0001;
    pub const GLOBAL_MEM: u32 = 0x8000_0002;
    pub const LOCAL_MEM: u32 = 0x8000_0003;
    pub const SHARED_MEM: u32 = 0x8000_0004;
    pub const DEV_REGS: u32 = 0x8000_0005;
    pub const ELF_IMG: u32 = 0x8000_0006;
    pub const RELF_IMG: u32 = 0x8000_0007;
    pub const BT: u32 = 0x8000_0008;
    pub const DEV_TABLE: u32 = 0x8000_0009;
    pub const CTX_TABLE: u32 = 0x8000_000a;
    pub const SM_TABLE: u32 = 0x8000_000b;
    pub const GRID_TABLE: u32 = 0x8000_000c;
    pub const CTA_TABLE: u32 = 0x8000_000d;
    pub const WP_TABLE: u32 = 0x8000_000e;
    pub const LN_TABLE: u32 = 0x8000_000f;
    pub const MOD_TABLE: u32 = 0x8000_0010;
    pub const DEV_PRED: u32 = 0x8000_0011;
    pub const PARAM_MEM: u32 = 0x8000_0012;
    pub const DEV_UREGS: u32 = 0x8000_0013;
    pub const DEV_UPRED: u32 = 0x8000_0014;
    pub const CB_TABLE: u32 = 0x8000_0015;
    pub const META_DATA: u32 = 0x8000_0016;
    pub const CBU_BAR: u32 = 0x8000_0017;
}
use section as s;

/// What sections of a type hold.
#[derive(Debug)]
pub enum Holds {
    /// Entries of a layout; with the bytes that one had in the first version.
    Entries(&'static Layout, u64),
    /// Words of 32 bits: what each is called, its number behind it.
    Words(&'static str),
    /// Bytes of that memory.
    Memory,
    /// A cubin.
    Image,
}

/// A type of section.
#[derive(Debug)]
pub struct Kind {
    /// Its number.
    pub number: u32,
    /// What people call what it holds.
    pub title: &'static str,
    /// The type of section that `sh_link` names; 0 where it names none.
    pub parent: u32,
    /// What it holds.
    pub holds: Holds,
}

const fn kind(number: u32, title: &'static str, parent: u32, holds: Holds) -> Kind {
    Kind {
        number,
        title,
        parent,
        holds,
    }
}

/// The types of sections, by their numbers.
static KINDS: &[Kind] = &[
    kind(s::MANAGED_MEM, "managed memory", 0, Holds::Memory),
    kind(s::GLOBAL_MEM, "global memory", 0, Holds::Memory),
    kind(s::LOCAL_MEM, "local memory", s::LN_TABLE, Holds::Memory),
    kind(s::SHARED_MEM, "shared memory", s::CTA_TABLE, Holds::Memory),
    kind(s::DEV_REGS, "registers", s::LN_TABLE, Holds::Words("R")),
    kind(s::ELF_IMG, "cubin", s::MOD_TABLE, Holds::Image),
    kind(s::RELF_IMG, "relocated cubin", s::MOD_TABLE, Holds::Image),
    kind(
        s::BT,
        "call stack",
        s::LN_TABLE,
        Holds::Entries(&tables::COREDUMP_FRAME, 24),
    ),
    kind(
        s::DEV_TABLE,
        "devices",
        0,
        Holds::Entries(&tables::COREDUMP_DEVICE, 72),
    ),
    kind(
        s::CTX_TABLE,
        "contexts",
        s::DEV_TABLE,
        Holds::Entries(&tables::COREDUMP_CONTEXT, 40),
    ),
    kind(
        s::SM_TABLE,
        "SMs",
        s::DEV_TABLE,
        Holds::Entries(&tables::COREDUMP_SM, 8),
    ),
    kind(
        s::GRID_TABLE,
        "grids",
        s::DEV_TABLE,
        Holds::Entries(&tables::COREDUMP_GRID, 104),
    ),
    kind(
        s::CTA_TABLE,
        "blocks",
        s::SM_TABLE,
        Holds::Entries(&tables::COREDUMP_CTA, 24),
    ),
    kind(
        s::WP_TABLE,
        "warps",
        s::CTA_TABLE,
        Holds::Entries(&tables::COREDUMP_WARP, 32),
    ),
    kind(
        s::LN_TABLE,
        "threads",
        s::WP_TABLE,
        Holds::Entries(&tables::COREDUMP_LANE, 48),
    ),
    kind(
        s::MOD_TABLE,
        "modules",
        s::CTX_TABLE,
        Holds::Entries(&tables::COREDUMP_MODULE, 8),
    ),
    kind(s::DEV_PRED, "predicates", s::LN_TABLE, Holds::Words("P")),
    kind(s::PARAM_MEM, "parameters", s::GRID_TABLE, Holds::Memory),
    kind(
        s::DEV_UREGS,
        "uniform registers",
        s::WP_TABLE,
        Holds::Words("UR"),
    ),
    kind(
        s::DEV_UPRED,
        "uniform predicates",
        s::WP_TABLE,
        Holds::Words("UP"),
    ),
    kind(
        s::CB_TABLE,
        "constant banks",
        s::GRID_TABLE,
        Holds::Entries(&tables::COREDUMP_BANK, 16),
    ),
    kind(
        s::META_DATA,
        "the dump",
        0,
        Holds::Entries(&tables::COREDUMP_META, 32),
    ),
    kind(
        s::CBU_BAR,
        "convergence barriers",
        s::WP_TABLE,
        Holds::Words("B"),
    ),
];

/// The type of that number.
fn kind_of(number: u32) -> Option<&'static Kind> {
    KINDS.get(number.checked_sub(KINDS[0].number)? as usize)
}

/// Whether sections of that type hold a cubin.
pub fn is_image(number: u32) -> bool {
    matches!(number, s::ELF_IMG | s::RELF_IMG)
}

/// Bytes of an entry, at most: those of any version are far fewer.
const ENTRY_LIMIT: u64 = 4096;

/// Words of a record, at most: a thread has 255 registers.
const RECORD_WORDS: u64 = 256;

/// What `sh_link` and `sh_info` of a part that has none above it are taken as.
const NONE: u32 = u32::MAX;

/// A section of a dump.
#[derive(Debug)]
pub struct Part {
    /// Index of the section.
    pub section: u32,
    /// Its type.
    pub kind: &'static Kind,
    /// Its bytes.
    pub span: Span,
    /// Bytes from an entry to the next; 0 where it has none.
    stride: u64,
    /// Entries that it has.
    pub count: u64,
    /// The part that it belongs to, and the entry there.
    parent: (u32, u32),
}

impl Part {
    /// The part that it belongs to, and the entry there.
    pub fn parent(&self) -> Option<(u32, u64)> {
        let (part, entry) = self.parent;
        (part != NONE).then_some((part, entry.into()))
    }

    /// The bytes of entry `index`.
    pub fn entry(&self, index: u64) -> Span {
        let at = self.span.offset + index.saturating_mul(self.stride);
        Span::new(at, self.stride)
    }
}

/// An entry, and where it is.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Index of the part.
    pub part: u32,
    /// Index in it.
    pub index: u64,
    /// The type of its section.
    pub kind: u32,
    bytes: Rc<[u8]>,
}

impl Entry {
    /// The number in the field called `name`; `None` where the entry is of a driver that did not have it.
    pub fn number(&self, name: &str) -> Option<u64> {
        let Holds::Entries(layout, _) = kind_of(self.kind)?.holds else {
            return None;
        };
        let field = layout.field(name)?;
        bits(&self.bytes, field.lsb, field.bits)
    }

    /// The number in the field called `name`, if the one called `valid` says that it counts.
    pub fn number_if(&self, name: &str, valid: &str) -> Option<u64> {
        self.number(valid).filter(|&is| is != 0)?;
        self.number(name)
    }
}

/// A core dump.
#[derive(Debug)]
pub struct Coredump {
    /// What it is of: the first device's ISA.
    pub target: Option<String>,
    /// What else there is to say of it in a word each.
    pub facts: Vec<String>,
    /// Its sections, in section order.
    pub parts: Vec<Part>,
    /// The parts by what they belong to.
    children: Vec<u32>,
    /// Of each type the parts, each with the number of entries before it.
    by_kind: Vec<Vec<(u64, u32)>>,
    /// The part of each section.
    by_section: Vec<u32>,
    /// The string table that names are in.
    strings: Option<Span>,
    grids: OnceCell<(Index, Vec<(u32, u64)>)>,
    faults: OnceCell<Vec<Fault>>,
    places: place::Places,
}

impl Coredump {
    /// Reads how the sections of `elf` belong together.
    pub fn open(elf: &Elf, findings: &mut Diagnostics) -> Self {
        if elf.header.os_abi != OS_ABI {
            findings.push(
                Diagnostic::warning(Rule::UnknownValue, "a core dump of another EI_OSABI")
                    .expected("0x33", format!("0x{:x}", elf.header.os_abi))
                    .within("ELF header, EI_OSABI")
                    .at(elf.source().absolute(7)),
            );
        }
        let mut dump = Self {
            target: None,
            facts: Vec::new(),
            parts: Vec::new(),
            children: Vec::new(),
            by_kind: KINDS.iter().map(|_| Vec::new()).collect(),
            by_section: vec![NONE; elf.sections.len()],
            strings: elf.section_named(".strtab").map(|found| elf.stored(found)),
            grids: OnceCell::new(),
            faults: OnceCell::new(),
            places: place::Places::default(),
        };
        let mut room = elf.source().size();
        for section in &elf.sections {
            if let Some(kind) = kind_of(section.kind) {
                dump.add(elf, section, kind, &mut room, findings);
            }
        }
        for index in 0..dump.parts.len() {
            if let Some(parent) = dump.parent_of(elf, index, findings) {
                dump.parts[index].parent = parent;
            }
        }
        let key = |index: usize| {
            let (part, entry) = dump.parts[index].parent;
            u64::from(part) << 32 | u64::from(entry)
        };
        dump.children = order::by_key(dump.parts.len(), &key);
        if dump.entries(s::DEV_TABLE) == 0 {
            let finding = Diagnostic::error(Rule::Format, "the dump has no table of devices");
            findings.push(finding.at(elf.source().absolute(0)));
        }
        dump.target = dump.first_isa(elf);
        dump.facts = dump.facts(elf);
        dump
    }

    fn add(
        &mut self,
        elf: &Elf,
        section: &Section,
        kind: &'static Kind,
        room: &mut u64,
        findings: &mut Diagnostics,
    ) {
        let mut part = Part {
            section: section.index,
            kind,
            span: elf.stored(section),
            stride: 0,
            count: 0,
            parent: (NONE, NONE),
        };
        if let Holds::Entries(layout, least) = kind.holds {
            part.stride = section.entry_size;
            if !(least..=ENTRY_LIMIT).contains(&part.stride) {
                let finding = Diagnostic::error(Rule::Format, "entries of this size are not read");
                let expected = format!("{least} to {ENTRY_LIMIT} bytes, {} now", layout.bytes);
                let finding = finding.expected(expected, part.stride);
                findings.push(at(elf, section, "sh_entsize", finding));
                part.stride = 0;
            } else if !section.size.is_multiple_of(part.stride) {
                let message = "the last entry is cut off";
                let finding = Diagnostic::error(Rule::Format, message)
                    .expected(format!("a multiple of {}", part.stride), section.size);
                findings.push(at(elf, section, "sh_size", finding));
            }
            if part.span.size > *room {
                let message = "tables are together longer than the file; this one is not read";
                findings.push(at(
                    elf,
                    section,
                    "sh_size",
                    Diagnostic::error(Rule::Format, message)
                        .expected(format!("at most {room} bytes more"), part.span.size),
                ));
                part.stride = 0;
            }
            *room = room.saturating_sub(part.span.size);
            part.count = part.span.size.checked_div(part.stride).unwrap_or(0);
        }
        let index = self.parts.len() as u32;
        let kind = (kind.number - KINDS[0].number) as usize;
        let rows = &mut self.by_kind[kind];
        let before = rows.last().map_or(0, |&(before, last)| {
            before + self.parts[last as usize].count
        });
        rows.push((before, index));
        self.by_section[section.index as usize] = index;
        self.parts.push(part);
    }

    /// What part `index` belongs to; a finding where that is not there.
    fn parent_of(&self, elf: &Elf, index: usize, findings: &mut Diagnostics) -> Option<(u32, u32)> {
        let part = &self.parts[index];
        let above = kind_of(part.kind.parent)?;
        let section = elf.section(part.section)?;
        let found = self.by_section.get(section.link as usize).copied();
        let found = found.filter(|&found| found != NONE);
        let parent = found.map(|found| &self.parts[found as usize]);
        let Some((parent, found)) = parent
            .zip(found)
            .filter(|(p, _)| p.kind.number == above.number)
        else {
            let name = tables::COREDUMP_SECTION_TYPE.name(above.number.into());
            let finding = Diagnostic::error(Rule::Format, "it belongs to no table of the dump")
                .expected(
                    format!(
                        "the index of a section of type {}",
                        name.unwrap_or_default()
                    ),
                    section.link,
                );
            findings.push(at(elf, section, "sh_link", finding));
            return None;
        };
        if u64::from(section.info) >= parent.count {
            let finding = Diagnostic::error(Rule::Format, "it belongs to no entry of its table")
                .expected(format!("an index below {}", parent.count), section.info);
            findings.push(at(elf, section, "sh_info", finding));
            return None;
        }
        Some((found, section.info))
    }

    /// How many entries sections of that type have together.
    pub fn entries(&self, kind: u32) -> u64 {
        let last = self.parts_of(kind).last();
        last.map_or(0, |&(before, part)| {
            before + self.parts[part as usize].count
        })
    }

    /// The parts of that type, each with the number of entries before it.
    pub fn parts_of(&self, kind: u32) -> &[(u64, u32)] {
        let index = kind
            .checked_sub(KINDS[0].number)
            .map(|index| index as usize);
        let parts = index.and_then(|index| self.by_kind.get(index));
        parts.map_or(&[], Vec::as_slice)
    }

    /// Where the entry is that is number `row` of those of that type: part and index.
    pub fn row(&self, kind: u32, row: u64) -> Option<(u32, u64)> {
        let parts = self.parts_of(kind);
        // Parts without entries stand before the next one that has some.
        let next = parts.partition_point(|&(before, _)| before <= row);
        let &(before, part) = parts.get(next.checked_sub(1)?)?;
        let index = row - before;
        (index < self.parts[part as usize].count).then_some((part, index))
    }

    /// The parts that belong to entry `index` of `part`.
    pub fn parts_in(&self, part: u32, index: u64) -> &[u32] {
        let key = |&child: &u32| {
            let (part, entry) = self.parts[child as usize].parent;
            (part, u64::from(entry))
        };
        let start = self.children.partition_point(|c| key(c) < (part, index));
        let rest = &self.children[start..];
        &rest[..rest.partition_point(|c| key(c) == (part, index))]
    }

    /// Entry `index` of `part`.
    pub fn entry(&self, elf: &Elf, part: u32, index: u64) -> Option<Entry> {
        let Part { kind, count, .. } = self.parts.get(part as usize)?;
        if index >= *count {
            return None;
        }
        let bytes = elf.source().read(self.parts[part as usize].entry(index));
        Some(Entry {
            part,
            index,
            kind: kind.number,
            bytes: bytes.ok()?.into(),
        })
    }

    /// Entry `index` of `part`, then what it belongs to, up to the device. Those of `known` that are the same are not read again.
    pub fn chain(&self, elf: &Elf, part: u32, index: u64, known: &[Entry]) -> Vec<Entry> {
        let mut chain = Vec::new();
        let mut next = Some((part, index));
        // Each type belongs to one type only, so this ends.
        while let Some((part, index)) = next {
            let same = known.iter().find(|e| e.part == part && e.index == index);
            let Some(entry) = same.cloned().or_else(|| self.entry(elf, part, index)) else {
                break;
            };
            chain.push(entry);
            next = self.parts[part as usize].parent();
        }
        chain
    }

    /// The grid of that number.
    pub fn grid(&self, elf: &Elf, number: u64) -> Option<(u32, u64)> {
        let (index, places) = self.grids.get_or_init(|| {
            let mut index = Index::default();
            let mut places = Vec::new();
            for row in 0..self.entries(s::GRID_TABLE) {
                let place = self.row(s::GRID_TABLE, row);
                let entry = place.and_then(|(part, index)| self.entry(elf, part, index));
                let number = entry.and_then(|entry| entry.number("gridId64"));
                if let (Some(place), Some(number)) = (place, number)
                    && index.add(&number.to_le_bytes()) == places.len()
                {
                    places.push(place);
                }
            }
            (index, places)
        });
        places.get(index.get(&number.to_le_bytes())?).copied()
    }

    /// The string at `offset` of the dump's names.
    pub fn text(&self, elf: &Elf, offset: u64) -> Option<String> {
        let strings = Strings::open(elf.source(), self.strings?).ok()?;
        let text = strings.get(offset).ok()?;
        Some(String::from_utf8_lossy(text).into_owned()).filter(|text| !text.is_empty())
    }

    /// Where in the modules the code at `address` is; of a `return`, where the call before it is.
    pub fn place(&self, elf: &Elf, address: u64, is_return: bool) -> Option<Rc<Place>> {
        self.places.get(self, elf, address, is_return)
    }

    /// What failed, by SM, block, warp and thread.
    pub fn faults(&self, elf: &Elf) -> &[Fault] {
        self.faults.get_or_init(|| faults::find(self, elf))
    }

    fn first_isa(&self, elf: &Elf) -> Option<String> {
        let (part, index) = self.row(s::DEV_TABLE, 0)?;
        self.text(elf, self.entry(elf, part, index)?.number("smType")?)
    }

    fn facts(&self, elf: &Elf) -> Vec<String> {
        let mut facts = Vec::new();
        let meta = self.row(s::META_DATA, 0);
        if let Some(meta) = meta.and_then(|(part, index)| self.entry(elf, part, index)) {
            let number = |name| meta.number(name).unwrap_or(0);
            facts.push(format!(
                "driver {}.{}",
                number("driverVersionMajor"),
                number("driverVersionMinor")
            ));
            facts.push(format!(
                "CUDA {}.{}",
                number("cudaDriverVersionMajor"),
                number("cudaDriverVersionMinor")
            ));
        }
        facts.push(NOT_VERIFIED.into());
        facts
    }

    /// The record that holds the byte at `offset` of `section`; `None` where the dump has no structure there.
    ///
    /// # Errors
    /// If its bytes cannot be read.
    pub fn record_in(&self, elf: &Elf, section: &Section, offset: u64) -> Result<Option<Record>> {
        let index = self.by_section.get(section.index as usize);
        let Some(part) = index.and_then(|&index| self.parts.get(index as usize)) else {
            return Ok(None);
        };
        let Some(within) = offset.checked_sub(part.span.offset) else {
            return Ok(None);
        };
        match part.kind.holds {
            Holds::Entries(layout, _) => {
                let index = within.checked_div(part.stride).unwrap_or(u64::MAX);
                if index >= part.count {
                    return Ok(None);
                }
                let span = part.entry(index);
                let bytes = elf.source().read(span)?;
                let title = format!("{} {index}", section.name);
                let mut record = layout.read(title, &bytes, span.offset);
                // What a newer driver has behind the last field is a gap.
                record.span = span;
                self.explain(elf, &mut record);
                Ok(Some(record))
            }
            Holds::Words(name) => {
                let first = within / 4 / RECORD_WORDS * RECORD_WORDS;
                let rest = Span::new(part.span.offset + first * 4, RECORD_WORDS * 4);
                let span = rest.clamp(part.span.end());
                let bytes = elf.source().read(span)?;
                let title = format!("{} of {}", part.kind.title, section.name);
                let mut record = Record::new(title, span, Some(tables::COREDUMP_LANE.source));
                for i in 0..(span.size / 4) as u32 {
                    let name = format!("{name}{}", first + u64::from(i));
                    record.append_bytes(name, &bytes, i * 4, 4, FieldKind::Hex);
                }
                Ok(Some(record))
            }
            Holds::Memory | Holds::Image => Ok(None),
        }
    }

    /// Says what strings and addresses of code in `record` are.
    fn explain(&self, elf: &Elf, record: &mut Record) {
        let strings: Vec<(String, u64)> = record
            .fields
            .iter()
            .filter(|field| field.kind == "string")
            .map(|field| (field.name.clone(), record.number(&field.name)))
            .collect();
        for (name, at) in strings {
            let strings = self
                .strings
                .and_then(|s| Strings::open(elf.source(), s).ok());
            if let Some(strings) = strings {
                record.explain(&name, strings.text(at), strings.span(at));
            }
        }
        for (name, is_return) in [
            ("virtualPC", false),
            ("errorPC", false),
            ("functionEntry", false),
            ("virtualReturnAddress", true),
        ] {
            if record.field(name).is_some()
                && let Some(place) = self.place(elf, record.number(name), is_return)
            {
                record.explain(name, place.text(), place.code);
            }
        }
    }
}

/// `finding` about a field of the header of `section`.
fn at(elf: &Elf, section: &Section, field: &str, finding: Diagnostic) -> Diagnostic {
    let place = match field {
        "sh_size" => 32,
        "sh_link" => 40,
        "sh_info" => 44,
        _ => 56,
    };
    finding
        .within(format!(
            "section {} {}, {field}",
            section.index, section.name
        ))
        .at(elf.source().absolute(section.header + place))
}

/// Whether a file with that header is a core dump.
pub fn is_coredump(header: &Header) -> bool {
    header.e_machine == super::EM_CUDA && header.e_type == ET_CORE
}
