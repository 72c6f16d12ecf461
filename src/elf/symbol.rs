//! Symbol tables.

use object::LittleEndian;
use object::elf::{self, Sym32, Sym64};
use object::read::elf::Sym;

use super::{Class, Dialect, Elf, LE, Strings, Table, pod, tables};
use crate::error::{Diagnostics, Result};
use crate::span::Span;

/// A symbol table of a file.
#[derive(Clone, Debug)]
pub struct SymbolTable {
    /// Index of its section; `None` where it was found by the dynamic table alone.
    pub section: Option<u32>,
    /// Whether it is a dynamic one (`.dynsym`).
    pub is_dynamic: bool,
    /// Where its entries are.
    pub table: Table,
    /// Where its strings are.
    pub strings: Span,
    /// Where section indices past 0xff00 are (`SHT_SYMTAB_SHNDX`).
    pub extended: Option<Span>,
}

/// A symbol, as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Index in its table.
    pub index: u64,
    /// Offset of the name in the table's strings.
    pub name: u32,
    /// `st_info`.
    pub info: u8,
    /// `st_other`.
    pub other: u8,
    /// `st_shndx`, an extended index resolved.
    pub section: u32,
    /// `st_value`.
    pub value: u64,
    /// `st_size`.
    pub size: u64,
}

/// Where a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In another file.
    Undefined,
    /// At a value that does not move.
    Absolute,
    /// At that offset of the image.
    Image(u64),
    /// In something that the image does not hold.
    Outside,
}

impl Symbol {
    fn from_raw<S: Sym<Endian = LittleEndian>>(raw: &S, index: u64) -> Self
    where
        S::Word: Into<u64>,
    {
        Self {
            index,
            name: raw.st_name(LE),
            info: raw.st_info().0,
            other: raw.st_other().0,
            section: u32::from(raw.st_shndx(LE).0),
            value: raw.st_value(LE).into(),
            size: raw.st_size(LE).into(),
        }
    }

    /// The name of its type.
    pub fn kind_name(self, dialect: &Dialect) -> Option<&'static str> {
        let value = u64::from(self.info & 15);
        dialect
            .symbol_types
            .name(value)
            .or_else(|| tables::SYMBOL_TYPE.name(value))
    }

    /// The name of its binding.
    pub fn binding_name(self) -> Option<&'static str> {
        tables::SYMBOL_BINDING.name(u64::from(self.info >> 4))
    }
}

/// A symbol table, open for reading.
#[derive(Clone, Copy, Debug)]
pub struct Symbols<'a> {
    class: Class,
    entries: &'a [u8],
    extended: &'a [u8],
    stride: usize,
    /// The table's strings.
    pub strings: Strings<'a>,
}

impl Symbols<'_> {
    /// How many there are.
    pub fn len(&self) -> u64 {
        (self.entries.len() / self.stride.max(1)) as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The symbol of that index.
    pub fn get(&self, index: u64) -> Option<Symbol> {
        let at = usize::try_from(index).ok()?;
        let bytes = self.entries.get(at.checked_mul(self.stride)?..)?;
        let mut symbol = match self.class {
            Class::Elf32 => pod(bytes).map(|raw: Sym32<_>| Symbol::from_raw(&raw, index)),
            Class::Elf64 => pod(bytes).map(|raw: Sym64<_>| Symbol::from_raw(&raw, index)),
        }?;
        if symbol.section == u32::from(elf::SHN_XINDEX.0)
            && let Some(bytes) = self.extended.get(at * 4..at * 4 + 4)
        {
            symbol.section = u32::from_le_bytes(bytes.try_into().unwrap_or_default());
        }
        Some(symbol)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Symbol> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// The name of `symbol`; empty where it cannot be read.
    pub fn name(&self, symbol: &Symbol) -> String {
        self.strings.text(u64::from(symbol.name)).into_owned()
    }
}

/// The tables in sections of the machine's own types, in section order.
pub(super) fn other_tables(
    elf: &Elf,
    room: &mut u64,
    findings: &mut Diagnostics,
) -> Vec<SymbolTable> {
    let kinds = elf.dialect.symbol_tables;
    let sections = elf.sections.iter().filter(|s| kinds.contains(&s.kind));
    let tables = sections.filter_map(|section| {
        let strings = elf.section(section.link).map(|s| elf.stored(s));
        Some(SymbolTable {
            section: Some(section.index),
            is_dynamic: false,
            table: elf.table_in(section, room, findings)?,
            strings: strings.unwrap_or_default(),
            extended: None,
        })
    });
    tables.collect()
}

/// The tables in sections: static ones, then dynamic ones, each in section order.
pub(super) fn tables(elf: &Elf, room: &mut u64, findings: &mut Diagnostics) -> Vec<SymbolTable> {
    let of = |kind: elf::SectionType| {
        elf.sections
            .iter()
            .filter(move |section| section.kind == kind.0)
    };
    // Of the sections with extended indices, the one for each table.
    let mut extended = vec![None; elf.sections.len()];
    for section in of(elf::SHT_SYMTAB_SHNDX) {
        if let Some(slot) = extended.get_mut(section.link as usize) {
            slot.get_or_insert(section);
        }
    }
    let mut tables = Vec::new();
    for section in of(elf::SHT_SYMTAB).chain(of(elf::SHT_DYNSYM)) {
        let Some(table) = elf.table_in(section, room, findings) else {
            continue;
        };
        let strings = elf.section(section.link).map(|s| elf.stored(s));
        let extended = extended[section.index as usize];
        tables.push(SymbolTable {
            section: Some(section.index),
            is_dynamic: section.kind == elf::SHT_DYNSYM.0,
            table,
            strings: strings.unwrap_or_default(),
            extended: extended.map(|s| elf.stored(s)),
        });
    }
    tables
}

impl Elf {
    /// Opens a symbol table for reading.
    ///
    /// # Errors
    /// Those of [`crate::source::Source::hold`].
    pub fn symbols(&self, table: &SymbolTable) -> Result<Symbols<'_>> {
        let extended = match table.extended {
            Some(span) => self.source().hold(span)?,
            None => &[],
        };
        Ok(Symbols {
            class: self.header.class,
            entries: self.source().hold(table.table.span())?,
            extended,
            stride: table.table.stride as usize,
            strings: Strings::open(self.source(), table.strings)?,
        })
    }

    /// The table in section `index`, one of [`Elf::symbol_tables`] or of [`Elf::other_symbol_tables`].
    pub fn symbol_table_in(&self, index: u32) -> Option<&SymbolTable> {
        // Static tables stand before dynamic ones, and each kind in section order.
        let dynamic = self
            .symbol_tables
            .partition_point(|table| !table.is_dynamic);
        let (fixed, dynamic) = self.symbol_tables.split_at(dynamic);
        let all = [fixed, dynamic, &self.other_symbol_tables];
        all.into_iter().find_map(|tables| {
            let at = tables.partition_point(|table| table.section < Some(index));
            tables.get(at).filter(|table| table.section == Some(index))
        })
    }

    /// Where `symbol` is.
    pub fn place(&self, symbol: &Symbol) -> Place {
        match symbol.section {
            0 => Place::Undefined,
            index if index == u32::from(elf::SHN_ABS.0) => Place::Absolute,
            index => {
                let Some(section) = self.section(index) else {
                    return self.place_by_address(symbol);
                };
                let within = symbol.value.checked_sub(section.address);
                let held = self.image.piece_of_section(index);
                match (within, held) {
                    (Some(within), Some(piece)) if within <= section.size => {
                        Place::Image(piece.offset + within)
                    }
                    _ => Place::Outside,
                }
            }
        }
    }

    /// The bytes of the file that `symbol` names: as many as its size says, at least one. `None` where it
    /// names none: it is undefined, absolute, or zeros that the file does not have.
    pub fn named_by(&self, symbol: &Symbol) -> Option<Span> {
        let rest = match (self.place(symbol), self.section(symbol.section)) {
            (Place::Undefined | Place::Absolute, _) => None,
            (_, Some(section)) => {
                self.stored_from(section, symbol.value.checked_sub(section.address)?)
            }
            // Without section headers it is an offset in the image by the segments.
            (Place::Image(offset), None) => self.load_image.as_ref()?.stored_from(offset),
            (Place::Outside, None) => None,
        }?;
        Some(Span::new(rest.offset, symbol.size.clamp(1, rest.size)))
    }

    /// Without section headers the address alone says where it is, in the image by the segments.
    fn place_by_address(&self, symbol: &Symbol) -> Place {
        if !self.sections.is_empty() || self.load_image.is_none() {
            return Place::Outside;
        }
        let image = self.main_image();
        match symbol.value.checked_sub(image.address) {
            Some(offset) if offset <= image.size => Place::Image(offset),
            _ => Place::Outside,
        }
    }
}
