//! Relocation sections.

use object::LittleEndian;
use object::elf::{self, Rel32, Rel64, Rela32, Rela64};
use object::read::elf::{Rel, Rela};

use super::{Class, Dialect, Elf, LE, SymbolTable, Table, patch, pod};
use crate::error::{Diagnostics, Result};
use crate::span::Span;

/// A relocation section of a file.
#[derive(Clone, Debug)]
pub struct RelocationTable {
    /// Index of its section; `None` where it was found by the dynamic table alone.
    pub section: Option<u32>,
    /// Whether the entries carry addends (`SHT_RELA`).
    pub has_addends: bool,
    /// Index of the section to be patched; `None` for dynamic relocations.
    pub target: Option<u32>,
    /// Index of the section of the symbol table.
    pub symbols: u32,
    /// Where its entries are.
    pub table: Table,
}

/// A relocation entry, as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Index in its table.
    pub index: u64,
    /// `r_offset`.
    pub offset: u64,
    /// The type in `r_info`.
    pub kind: u32,
    /// The symbol's index in `r_info`.
    pub symbol: u32,
    /// `r_addend`; `None` where the entry has none.
    pub addend: Option<i64>,
}

impl Relocation {
    fn from_rel<R: Rel<Endian = LittleEndian>>(raw: &R, index: u64) -> Self {
        Self {
            index,
            offset: raw.r_offset(LE).into(),
            kind: raw.r_type(LE).0,
            symbol: raw.r_sym(LE),
            addend: None,
        }
    }

    fn from_rela<R: Rela<Endian = LittleEndian>>(raw: &R, index: u64) -> Self {
        Self {
            index,
            offset: raw.r_offset(LE).into(),
            kind: raw.r_type(LE, false).0,
            symbol: raw.r_sym(LE, false),
            addend: Some(raw.r_addend(LE).into()),
        }
    }

    /// The name of its type.
    pub fn kind_name(self, dialect: &Dialect) -> Option<&'static str> {
        dialect.relocation_types.name(u64::from(self.kind))
    }

    /// What it writes and where, as far as that is known, and whether that was verified.
    pub fn writes(self, dialect: &Dialect) -> Option<(&'static str, bool)> {
        let note = dialect.relocation_types.get(self.kind.into())?.note;
        match note.strip_suffix("; not verified") {
            _ if note.is_empty() => None,
            Some(what) => Some((what, false)),
            None => Some((note, true)),
        }
    }

    /// Where the bytes that it patches lie: so many bytes past `r_offset`, and so many.
    fn field(self, dialect: &Dialect) -> (u64, u64) {
        if let Some(bits) = patch::bits(dialect, self.kind) {
            let bytes = bits.bytes();
            return (bytes.offset, bytes.size);
        }
        // The tables' notes say how wide fields of whole bytes are: `S + A, 32 bits`. Others are some bits of an
        // instruction, or not known.
        let named = dialect.relocation_types.get(self.kind.into());
        let note = named.map_or("", |named| named.note);
        let width = match note.split_once(" bits") {
            Some((before, after)) if !after.contains(" bit") => before.rsplit(' ').next(),
            _ => None,
        };
        match width.and_then(|width| width.parse::<u64>().ok()) {
            Some(bits) if bits % 8 == 0 && bits > 0 => (0, bits / 8),
            _ => (0, 8),
        }
    }
}

/// The bits that a relocation patches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    /// Lowest bit from `r_offset` on and number of bits of each part, the low bits of the value first.
    pub parts: [(u32, u32); 2],
    /// Bits that the value is shifted right before it is written.
    pub shift: u32,
}

impl Bits {
    /// Bytes from `r_offset` on that they reach to, at most.
    pub const REACH: u64 = 16;

    /// The bytes that they lie in, from `r_offset` on.
    pub fn bytes(&self) -> Span {
        let (mut first, mut end) = (u32::MAX, 0);
        for &(lsb, width) in self.parts.iter().filter(|(_, width)| *width > 0) {
            first = first.min(lsb / 8);
            end = end.max((lsb + width).div_ceil(8));
        }
        match end {
            0 => Span::default(),
            _ => Span::new(first.into(), (end - first).into()),
        }
    }

    /// The unsigned value whose bits are in `bytes`, which begin at `r_offset`: an addend that has no other place.
    pub fn read(&self, bytes: &[u8]) -> u64 {
        let (mut value, mut at) = (0_u64, 0);
        for (lsb, width) in self.parts {
            for bit in 0..width {
                let place = (lsb + bit) as usize;
                let set = bytes
                    .get(place / 8)
                    .is_some_and(|byte| byte >> (place % 8) & 1 != 0);
                value |= u64::from(set).checked_shl(at).unwrap_or(0);
                at += 1;
            }
        }
        value.checked_shl(self.shift).unwrap_or(0)
    }
}

/// A relocation section, open for reading.
#[derive(Clone, Copy, Debug)]
pub struct Relocations<'a> {
    class: Class,
    has_addends: bool,
    entries: &'a [u8],
    stride: usize,
}

impl Relocations<'_> {
    /// How many there are.
    pub fn len(&self) -> u64 {
        (self.entries.len() / self.stride.max(1)) as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The relocation of that index.
    pub fn get(&self, index: u64) -> Option<Relocation> {
        let at = usize::try_from(index).ok()?.checked_mul(self.stride)?;
        let bytes = self.entries.get(at..)?;
        match (self.class, self.has_addends) {
            (Class::Elf32, false) => {
                pod(bytes).map(|raw: Rel32<_>| Relocation::from_rel(&raw, index))
            }
            (Class::Elf32, true) => {
                pod(bytes).map(|raw: Rela32<_>| Relocation::from_rela(&raw, index))
            }
            (Class::Elf64, false) => {
                pod(bytes).map(|raw: Rel64<_>| Relocation::from_rel(&raw, index))
            }
            (Class::Elf64, true) => {
                pod(bytes).map(|raw: Rela64<_>| Relocation::from_rela(&raw, index))
            }
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Relocation> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

/// The tables in sections of the format's types, or of the machine's own, in section order.
pub(super) fn tables(
    elf: &Elf,
    is_of_machine: bool,
    room: &mut u64,
    findings: &mut Diagnostics,
) -> Vec<RelocationTable> {
    let own = elf.dialect.relocation_tables;
    let sections = elf.sections.iter();
    sections
        .filter(|s| s.is_relocations(elf.dialect) && own.contains(&s.kind) == is_of_machine)
        .filter_map(|section| {
            Some(RelocationTable {
                section: Some(section.index),
                has_addends: section.kind != elf::SHT_REL.0,
                target: (section.info != 0).then_some(section.info),
                symbols: section.symbols,
                table: elf.table_in(section, room, findings)?,
            })
        })
        .collect()
}

/// Notes tables of packed relative relocations, by the section headers.
pub(super) fn packed_in_sections(elf: &Elf, findings: &mut Diagnostics) {
    let sections = elf.sections.iter();
    for section in sections.filter(|s| s.kind == elf::SHT_RELR.0 && s.is_allocated()) {
        let within = format!("section {} {}, sh_type", section.index, section.name);
        packed(elf, section.size, within, section.header, findings);
    }
}

/// Notes one table of `size` bytes of packed relative relocations, found at `at`. Their addends lie in the bytes that
/// they patch, so that the reference ABI's loader would refuse them in any form; they are not listed.
pub(super) fn packed(elf: &Elf, size: u64, within: String, at: u64, findings: &mut Diagnostics) {
    if elf.dialect.has_loader && size > 0 {
        findings.push(
            elf.refused(
                "packed relative relocations, which a loader does not apply, are not listed",
            )
            .within(within)
            .at(elf.source().absolute(at)),
        );
    }
}

impl Elf {
    /// Opens a relocation section for reading.
    ///
    /// # Errors
    /// Those of [`crate::source::Source::hold`].
    pub fn relocations(&self, table: &RelocationTable) -> Result<Relocations<'_>> {
        Ok(Relocations {
            class: self.header.class,
            has_addends: table.has_addends,
            entries: self.source().hold(table.table.span())?,
            stride: table.table.stride as usize,
        })
    }

    /// The relocations in section `index`, whoever applies them.
    pub fn relocation_table_in(&self, index: u32) -> Option<&RelocationTable> {
        let all = [&self.relocation_tables, &self.other_relocation_tables];
        all.into_iter().find_map(|tables| {
            let at = tables.partition_point(|table| table.section < Some(index));
            tables.get(at).filter(|table| table.section == Some(index))
        })
    }

    /// Whether the entries patch the image: those of an allocated section, and dynamic ones.
    pub fn is_of_image(&self, table: &RelocationTable) -> bool {
        let section = table.section.and_then(|index| self.section(index));
        let own = self.dialect.relocation_tables;
        if section.is_some_and(|section| own.contains(&section.kind)) {
            return false;
        }
        match table.target {
            Some(target) => self.section(target).is_some_and(|s| s.is_allocated()),
            None => true,
        }
    }

    /// The offset in the image of what `relocation` patches; `None` where the image does not hold it.
    pub fn patched(&self, table: &RelocationTable, relocation: &Relocation) -> Option<u64> {
        if !self.is_of_image(table) {
            return None;
        }
        let image = self.main_image();
        let linked = !self.header.is_relocatable() && image.has_addresses;
        match table.target {
            // In a linked file r_offset is an address, in others an offset in the section.
            Some(target) if !linked => {
                let piece = image.piece_of_section(target)?;
                (relocation.offset < piece.size).then(|| piece.offset + relocation.offset)
            }
            _ => {
                let offset = relocation.offset.checked_sub(image.address)?;
                // Between held sections lie those that are allocated but not held.
                image.holds(offset).then_some(offset)
            }
        }
    }

    /// The addend of `relocation`: the entry's own, or the unsigned value of the bytes that it
    /// patches where the machine's ABI says which these are.
    pub fn addend(&self, table: &RelocationTable, relocation: &Relocation) -> Option<i128> {
        if let Some(addend) = relocation.addend {
            return Some(addend.into());
        }
        let bits = patch::bits(self.dialect, relocation.kind)?;
        let rest = self.patched_from(table, relocation)?;
        let end = bits.bytes().end();
        let mut bytes = [0; Bits::REACH as usize];
        let bytes = bytes.get_mut(..end as usize).filter(|_| end <= rest.size)?;
        self.source().read_into(rest.offset, bytes).ok()?;
        Some(bits.read(bytes).into())
    }

    /// The bytes of the file that `relocation` patches; `None` where the file does not have them.
    pub fn patched_bytes(&self, table: &RelocationTable, relocation: &Relocation) -> Option<Span> {
        let rest = self.patched_from(table, relocation)?;
        let (skip, size) = relocation.field(self.dialect);
        let skip = skip.min(rest.size - 1);
        Some(Span::new(rest.offset + skip, size.min(rest.size - skip)))
    }

    /// The bytes of the file from where `r_offset` points on, to the end of the section or of the segment.
    fn patched_from(&self, table: &RelocationTable, relocation: &Relocation) -> Option<Span> {
        let Some(target) = table.target else {
            // Dynamic relocations have addresses.
            let image = self.load_image.as_ref().unwrap_or(&self.image);
            return image.stored_from(relocation.offset.checked_sub(image.address)?);
        };
        let section = self.section(target)?;
        let start = self.start_of(section);
        self.stored_from(section, relocation.offset.checked_sub(start)?)
    }

    /// The symbols that the relocations of `table` name.
    pub fn symbols_of(&self, table: &RelocationTable) -> Option<&SymbolTable> {
        match table.section {
            Some(_) => self.symbol_table_in(table.symbols),
            // The dynamic table names one of each.
            None => self.symbol_tables.first(),
        }
    }

    /// The name of the symbol that `relocation` refers to; of the section for symbols without one.
    pub fn symbol_name(&self, table: &RelocationTable, relocation: &Relocation) -> Option<String> {
        let symbols = self.symbols(self.symbols_of(table)?).ok()?;
        let symbol = symbols.get(u64::from(relocation.symbol))?;
        if symbol.name == 0 && symbol.info & 15 == elf::STT_SECTION.0 {
            return Some(self.section_label(symbol.section).into_owned());
        }
        Some(symbols.name(&symbol))
    }
}
