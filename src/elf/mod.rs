//! ELF files, on the raw types of the `object` crate: everything as stored, null entries included.
//!
//! [`Elf::open`] reads the header and the two header tables and describes the rest; symbols,
//! relocations, notes and contents are read when they are asked for. What is wrong becomes a
//! finding, and the rest is still read.

pub mod check;
pub mod compressed;
pub mod dialect;
pub mod dynamic;
pub mod header;
pub mod image;
pub mod map;
pub mod note;
pub mod patch;
pub mod record;
pub mod relocation;
pub mod section;
pub mod segment;
pub mod string;
pub mod symbol;
pub mod tables;

use std::borrow::Cow;

use object::LittleEndian;
use object::pod::{self, Pod};

pub use dialect::Dialect;
pub use header::{Class, Header};
pub use image::Image;
pub use map::{Map, Part};
pub use relocation::{Bits, Relocation, RelocationTable, Relocations};
pub use section::Section;
pub use segment::Segment;
pub use string::Strings;
pub use symbol::{Symbol, SymbolTable, Symbols};

use crate::error::{Diagnostic, Diagnostics, Kind, Result};
use crate::source::Source;
use crate::span::Span;

const LE: LittleEndian = LittleEndian;

/// Section headers and program headers read of one file, at most.
pub const HEADER_LIMIT: u64 = 1 << 20;

/// A table of entries of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Offset of the first entry in the file.
    pub offset: u64,
    /// Entries that lie in the file.
    pub count: u64,
    /// Bytes from one entry to the next.
    pub stride: u64,
}

impl Table {
    /// Its bytes.
    pub fn span(&self) -> Span {
        Span::new(self.offset, self.count.saturating_mul(self.stride))
    }

    /// The bytes of entry `index`.
    pub fn entry(&self, index: u64) -> Span {
        Span::new(self.offset + index * self.stride, self.stride)
    }

    /// The entry that holds the byte at `offset`.
    pub fn index_at(&self, offset: u64) -> Option<u64> {
        let index = offset.checked_sub(self.offset)?.checked_div(self.stride)?;
        (index < self.count).then_some(index)
    }
}

/// An ELF file.
#[derive(Debug)]
pub struct Elf {
    source: Source,
    /// What the machine's ABI adds to the names and rules of ELF.
    pub dialect: &'static Dialect,
    /// The file's header.
    pub header: Header,
    /// Where the section headers are.
    pub section_table: Option<Table>,
    /// Where the program headers are.
    pub segment_table: Option<Table>,
    /// The section headers by index.
    pub sections: Vec<Section>,
    /// The program headers by index.
    pub segments: Vec<Segment>,
    /// The symbol tables: static ones, then dynamic ones.
    pub symbol_tables: Vec<SymbolTable>,
    /// The relocation sections, in section order.
    pub relocation_tables: Vec<RelocationTable>,
    /// The symbol tables of the machine's own section types, in section order: those of sections that no loader has.
    pub other_symbol_tables: Vec<SymbolTable>,
    /// The relocations of the machine's own section types, in section order, which no loader applies.
    pub other_relocation_tables: Vec<RelocationTable>,
    /// The image by the reference ABI's rule: from the sections.
    pub image: Image,
    /// The image by the program headers; `None` without PT_LOAD.
    pub load_image: Option<Image>,
    /// What every byte of the file belongs to.
    pub map: Map,
}

impl Elf {
    /// Reads the headers of an ELF file. `dialect` chooses by the header what its machine adds.
    ///
    /// # Errors
    /// If there is no whole header of a 32- or 64-bit little-endian ELF file.
    pub fn open(
        source: &Source,
        dialect: impl FnOnce(&Header) -> &'static Dialect,
        findings: &mut Diagnostics,
    ) -> Result<Self> {
        let header = Header::read(source)?;
        let dialect = dialect(&header);
        header.check(dialect, source, findings);
        let (section_table, segment_table, names) = header.tables(source, findings);
        let mut sections = section::read(source, header.class, section_table, findings);
        for section in &mut sections {
            section.no_bits = dialect.no_bits.contains(&section.kind);
        }
        section::name(source, &mut sections, names, findings);
        section::repair(source, &mut sections, header.class, dialect, findings);
        let segments = segment::read(source, header.class, segment_table, findings);
        section::check(source, &sections, header.class, dialect, findings);
        segment::check(source, &segments, findings);

        let mut elf = Self {
            source: source.clone(),
            dialect,
            header,
            section_table,
            segment_table,
            sections,
            segments,
            symbol_tables: Vec::new(),
            relocation_tables: Vec::new(),
            other_symbol_tables: Vec::new(),
            other_relocation_tables: Vec::new(),
            image: Image::default(),
            load_image: None,
            map: Map::default(),
        };
        elf.load_image = image::by_segments(&elf, findings);
        elf.image = image::by_sections(&elf, findings);
        if dialect.has_loader {
            image::compare(&elf, findings);
        }
        let mut room = source.size();
        elf.symbol_tables = symbol::tables(&elf, &mut room, findings);
        elf.relocation_tables = relocation::tables(&elf, false, &mut room, findings);
        elf.other_symbol_tables = symbol::other_tables(&elf, &mut room, findings);
        elf.other_relocation_tables = relocation::tables(&elf, true, &mut room, findings);
        if elf.sections.is_empty() {
            dynamic::describe(&mut elf, findings);
        } else {
            relocation::packed_in_sections(&elf, findings);
        }
        elf.map = map::cover(&elf, findings);
        Ok(elf)
    }

    /// Words of identity: the machine and the kind of file.
    pub fn facts(&self) -> Vec<String> {
        let machine = u64::from(self.header.e_machine);
        let machine = match tables::E_MACHINE.get(machine) {
            Some(named) if !named.note.is_empty() => named.note.into(),
            Some(named) => named.name.into(),
            None => format!("machine {machine}"),
        };
        vec![
            machine,
            self.header.type_words(self.dialect),
            format!("{}-bit", self.header.class.bits()),
        ]
    }

    /// A finding that a loader of the reference ABI refuses something of the file that the tools of its
    /// vendor may well do: a note where the file is still to be linked, else a warning.
    pub fn refused(&self, message: impl Into<String>) -> Diagnostic {
        if self.header.is_relocatable() {
            Diagnostic::note(Kind::Loader, message)
        } else {
            Diagnostic::warning(Kind::Loader, message)
        }
    }

    /// Where its bytes come from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The section of that index.
    pub fn section(&self, index: u32) -> Option<&Section> {
        self.sections.get(index as usize)
    }

    /// The first section called `name`.
    pub fn section_named(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The name of the section of that index as people write it; special indices by their names.
    pub fn section_label(&self, index: u32) -> Cow<'_, str> {
        match self.section(index).filter(|section| section.index != 0) {
            Some(section) if section.name.is_empty() => format!("section {index}").into(),
            Some(section) => section.name.as_str().into(),
            None => {
                let value = u64::from(index);
                let of_machine = self.dialect.special_sections.name(value);
                match of_machine.or_else(|| tables::SPECIAL_SECTION.name(value)) {
                    Some(name) => name.into(),
                    None => format!("section {index}").into(),
                }
            }
        }
    }
}

/// The headers in `table`: `read` makes one of its bytes, its index and its offset.
fn headers<T>(
    source: &Source,
    table: Option<Table>,
    findings: &mut Diagnostics,
    read: impl Fn(&[u8], u32, u64) -> Option<T>,
) -> Vec<T> {
    let Some(table) = table else {
        return Vec::new();
    };
    let Some(bytes) = findings.take(source.hold(table.span())) else {
        return Vec::new();
    };
    let entries = bytes.chunks_exact(table.stride as usize).zip(0..);
    entries
        .filter_map(|(bytes, index)| read(bytes, index, table.entry(index.into()).offset))
        .collect()
}

/// The first bytes of `bytes` as a `T`.
fn pod<T: Pod + Copy>(bytes: &[u8]) -> Option<T> {
    pod::from_bytes(bytes).ok().map(|(value, _)| *value)
}
