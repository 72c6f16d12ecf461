//! The format's structures as records.

use object::elf;

use super::map::Part;
use super::note::Note;
use super::{Elf, Relocation, RelocationTable, Section, Strings, SymbolTable, tables};
use crate::error::{Diagnostics, Result};
use crate::record::{Kind, Layout, Raw, Record};
use crate::span::Span;

impl Elf {
    /// The record of the file's header.
    ///
    /// # Errors
    /// If its bytes cannot be read.
    pub fn header_record(&self) -> Result<Record> {
        let layout = self
            .header
            .class
            .choose(&tables::ELF32_HEADER, &tables::ELF64_HEADER);
        let span = self.header.span();
        let bytes = self.source().read(span)?;
        let mut record = layout.read("ELF header", &bytes, span.offset);
        if let Some(named) = self.dialect.os_abis.get(self.header.os_abi.into()) {
            record.explain("EI_OSABI", named.meaning(), None);
        }
        if let Some(name) = self.header.type_name(self.dialect) {
            record.explain("e_type", name, None);
        }
        if let Some(version) = self.dialect.version {
            record.explain("e_version", version(&self.header), None);
        }
        record.explain("e_shoff", "", self.section_table.map(|t| t.span()));
        record.explain("e_phoff", "", self.segment_table.map(|t| t.span()));
        let names = u32::from(self.header.e_shstrndx);
        self.explain_section(&mut record, "e_shstrndx", names);
        if let Some(flags) = self.dialect.flags {
            record.append_alternatives(flags(&self.header), &bytes, "e_flags");
            self.explain_sections(&mut record, "e_flags");
        }
        Ok(record)
    }

    /// The record of the section header of that index.
    ///
    /// # Errors
    /// If its bytes cannot be read. `None` if there is no such section.
    pub fn section_record(&self, index: u32) -> Result<Option<Record>> {
        let (Some(section), Some(table)) = (self.section(index), self.section_table) else {
            return Ok(None);
        };
        let class = self.header.class;
        let special = self.dialect.section.and_then(|f| f(&self.header, section));
        let layout =
            special.unwrap_or(class.choose(&tables::ELF32_SECTION, &tables::ELF64_SECTION));
        let span = table.entry(index.into());
        let bytes = self.source().read(span)?;
        let name = format!("section header {index} {}", section.name);
        let mut record = layout.read(name.trim_end(), &bytes, span.offset);
        let names = self.section(self.names_index());
        let name_span = names
            .and_then(|names| Strings::open(self.source(), names.span()).ok())
            .and_then(|strings| strings.span(section.name_offset.into()));
        record.explain("sh_name", section.name.clone(), name_span);
        if let Some(kind) = section.kind_name(self.dialect) {
            record.explain("sh_type", kind, None);
        }
        record.explain("sh_flags", section.flag_names(self.dialect), None);
        let stored = self.stored(section);
        let place = (stored.size > 0).then_some(stored);
        record.explain("sh_offset", "", place);
        if section.link != 0 {
            self.explain_section(&mut record, "sh_link", section.link);
        }
        if let Some(table) = self.symbol_table_in(section.symbols) {
            self.explain_symbols(&mut record, table);
        }
        if section.is_relocations(self.dialect) && section.info != 0 {
            self.explain_section(&mut record, "sh_info", section.info);
        }
        Ok(Some(record))
    }

    /// Index of the section with the section names.
    fn names_index(&self) -> u32 {
        match self.header.e_shstrndx {
            0xffff => self.section(0).map_or(0, |zero| zero.link),
            index => index.into(),
        }
    }

    /// Explains those alternatives of the field called `of` that are indices of sections.
    fn explain_sections(&self, record: &mut Record, of: &str) {
        for field in &mut record.fields {
            let is_index = field.kind == "section" && field.alternative_of.as_deref() == Some(of);
            if let (true, Raw::Int(index)) = (is_index, &field.raw) {
                let header = self.section_table.filter(|t| *index < t.count);
                field.target = header.map(|t| t.entry(*index));
                field.meaning = Some(self.section_label(*index as u32).into_owned());
            }
        }
    }

    /// Explains those fields that are indices of symbols in `table`.
    fn explain_symbols(&self, record: &mut Record, table: &SymbolTable) {
        for field in &mut record.fields {
            let (true, Raw::Int(index)) = (field.kind == "symbol", &field.raw) else {
                continue;
            };
            let symbols = self.symbols(table).ok();
            let symbol = symbols.and_then(|symbols| Some((symbols, symbols.get(*index)?)));
            if let Some((symbols, symbol)) = symbol {
                field.meaning = Some(symbols.name(&symbol));
                field.target = Some(table.table.entry(*index));
            }
        }
    }

    fn explain_section(&self, record: &mut Record, field: &str, index: u32) {
        let header = self.section_table.filter(|t| u64::from(index) < t.count);
        let target = header.map(|t| t.entry(index.into()));
        record.explain(field, self.section_label(index), target);
    }

    /// The record of the program header of that index.
    ///
    /// # Errors
    /// If its bytes cannot be read. `None` if there is no such segment.
    pub fn segment_record(&self, index: u32) -> Result<Option<Record>> {
        let (Some(segment), Some(table)) = (self.segments.get(index as usize), self.segment_table)
        else {
            return Ok(None);
        };
        let class = self.header.class;
        let layout = class.choose(&tables::ELF32_SEGMENT, &tables::ELF64_SEGMENT);
        let span = table.entry(index.into());
        let bytes = self.source().read(span)?;
        let mut record = layout.read(format!("program header {index}"), &bytes, span.offset);
        let stored = segment.span().clamp(self.source().size());
        record.explain("p_offset", "", (stored.size > 0).then_some(stored));
        Ok(Some(record))
    }

    /// The record of the symbol of that index in `table`.
    ///
    /// # Errors
    /// If its bytes cannot be read. `None` if there is no such symbol.
    pub fn symbol_record(&self, table: &SymbolTable, index: u64) -> Result<Option<Record>> {
        let symbols = self.symbols(table)?;
        let Some(symbol) = symbols.get(index) else {
            return Ok(None);
        };
        let class = self.header.class;
        let layout = class.choose(&tables::ELF32_SYMBOL, &tables::ELF64_SYMBOL);
        let span = table.table.entry(index);
        let bytes = self.source().read(span)?;
        let text = symbols.name(&symbol);
        let title = format!("symbol {index} {text}");
        let mut record = layout.read(title.trim_end(), &bytes, span.offset);
        record.explain("st_name", text, symbols.strings.span(symbol.name.into()));
        if let Some(kind) = symbol.kind_name(self.dialect) {
            record.explain("st_type", kind, None);
        }
        if let Some(other) = self.dialect.other {
            record.append_alternatives(other, &bytes, "st_other");
        }
        self.explain_section(&mut record, "st_shndx", symbol.section);
        Ok(Some(record))
    }

    /// The record of the entry of that index in `table`.
    ///
    /// # Errors
    /// If its bytes cannot be read. `None` if there is no such entry.
    pub fn relocation_record(&self, table: &RelocationTable, index: u64) -> Result<Option<Record>> {
        let Some(relocation) = self.relocations(table)?.get(index) else {
            return Ok(None);
        };
        let span = table.table.entry(index);
        let bytes = self.source().read(span)?;
        let layout: &Layout = match (table.has_addends, self.header.class) {
            (false, super::Class::Elf32) => &tables::ELF32_REL,
            (true, super::Class::Elf32) => &tables::ELF32_RELA,
            (false, super::Class::Elf64) => &tables::ELF64_REL,
            (true, super::Class::Elf64) => &tables::ELF64_RELA,
        };
        let mut record = layout.read(format!("relocation {index}"), &bytes, span.offset);
        self.explain_relocation(&mut record, table, &relocation);
        Ok(Some(record))
    }

    fn explain_relocation(
        &self,
        record: &mut Record,
        table: &RelocationTable,
        relocation: &Relocation,
    ) {
        if let Some(kind) = relocation.kind_name(self.dialect) {
            record.explain("r_type", kind, None);
        }
        let target = table.target.and_then(|index| self.section(index));
        if let Some(section) = target {
            let start = self.start_of(section);
            let at = relocation.offset.checked_sub(start);
            let place = at.filter(|at| *at < self.stored(section).size);
            record.explain(
                "r_offset",
                format!("{}+0x{:x}", section.name, at.unwrap_or(relocation.offset)),
                place.map(|at| Span::new(section.offset + at, 1)),
            );
        }
        if relocation.symbol != 0 {
            let symbols = self.symbol_table_in(table.symbols);
            let entry = symbols.filter(|t| u64::from(relocation.symbol) < t.table.count);
            let target = entry.map(|t| t.table.entry(relocation.symbol.into()));
            let name = self.symbol_name(table, relocation).unwrap_or_default();
            record.explain("r_sym", name, target);
        }
    }

    /// The record of a note: its header, the owner's name and what it says as bytes. The machines'
    /// floors know more of their own.
    ///
    /// # Errors
    /// If its bytes cannot be read.
    pub fn note_record(&self, note: &Note) -> Result<Record> {
        // A note's content can be as large as the file; the record shows the beginning.
        const CONTENT_LIMIT: u64 = 4096;
        let size = note.span.size.min(CONTENT_LIMIT);
        let bytes = self.source().read(Span::new(note.span.offset, size))?;
        let title = format!("note {}", note.owner);
        let mut record = tables::NOTE_HEADER.read(title.trim_end(), &bytes, note.span.offset);
        record.span = note.span;
        if let Some(kind) = note.kind_name(self.dialect) {
            record.explain("n_type", kind, None);
        }
        let owner = note.owner_size.min((size as u32).saturating_sub(12));
        record.append_bytes("name", &bytes, 12, owner, Kind::Text);
        let at = (note.content.offset - note.span.offset) as u32;
        let rest = (size as u32).saturating_sub(at);
        record.append_bytes("desc", &bytes, at, rest, Kind::Bytes);
        Ok(record)
    }

    /// The record that holds the byte at `offset` in `part`: an entry of a table, a string, a note.
    /// `None` where the part has no structure that this floor knows.
    ///
    /// # Errors
    /// If its bytes cannot be read.
    pub fn record_in(&self, part: Part, offset: u64) -> Result<Option<Record>> {
        let entry = |table: Option<super::Table>| table.and_then(|t| t.index_at(offset));
        match part {
            Part::Header => self.header_record().map(Some),
            Part::Sections => match entry(self.section_table) {
                Some(index) => self.section_record(index as u32),
                None => Ok(None),
            },
            Part::Segments => match entry(self.segment_table) {
                Some(index) => self.segment_record(index as u32),
                None => Ok(None),
            },
            Part::Symbols(table) => self.symbol_at(self.symbol_tables.get(table as usize), offset),
            Part::Relocations(table) => {
                self.relocation_at(self.relocation_tables.get(table as usize), offset)
            }
            Part::Strings(table) => {
                let strings = self.symbol_tables.get(table as usize).map(|t| t.strings);
                strings.map_or(Ok(None), |span| self.string_at(span, offset))
            }
            Part::Section(index) => self.record_in_section(index, offset),
            Part::Segment(index) => {
                let segment = self.segments.get(index as usize);
                match segment.map(|s| elf::ProgramType(s.kind)) {
                    Some(elf::PT_NOTE) => self.note_at(offset),
                    Some(elf::PT_DYNAMIC) => {
                        let span = segment.map_or(Span::default(), |s| s.span());
                        self.dynamic_at(span.clamp(self.source().size()), offset)
                    }
                    _ => Ok(None),
                }
            }
            Part::Dumped | Part::Contained(_) | Part::Padding | Part::Unclaimed | Part::Unread => {
                Ok(None)
            }
        }
    }

    fn record_in_section(&self, index: u32, offset: u64) -> Result<Option<Record>> {
        let Some(section) = self.section(index) else {
            return Ok(None);
        };
        if section.is_compressed() {
            return self.compression_record(section, offset);
        }
        let symbols = self.symbol_table_in(index);
        if symbols.is_some() {
            return self.symbol_at(symbols, offset);
        }
        let relocations = self.relocation_table_in(index);
        if relocations.is_some() {
            return self.relocation_at(relocations, offset);
        }
        match elf::SectionType(section.kind) {
            elf::SHT_STRTAB => self.string_at(section.span(), offset),
            elf::SHT_NOTE => self.note_at(offset),
            elf::SHT_DYNAMIC => self.dynamic_at(self.stored(section), offset),
            _ => Ok(None),
        }
    }

    /// The compression header of `section`, if it has the byte at `offset`: behind it nothing is as it was.
    fn compression_record(&self, section: &Section, offset: u64) -> Result<Option<Record>> {
        let class = self.header.class;
        let layout = class.choose(&tables::ELF32_COMPRESSION, &tables::ELF64_COMPRESSION);
        let stored = self.stored(section);
        let span = Span::new(stored.offset, class.choose(12, 24));
        if span.size > stored.size || !span.contains(offset) {
            return Ok(None);
        }
        let bytes = self.source().read(span)?;
        Ok(Some(layout.read("compression header", &bytes, span.offset)))
    }

    fn symbol_at(&self, table: Option<&SymbolTable>, offset: u64) -> Result<Option<Record>> {
        match table.and_then(|table| Some((table, table.table.index_at(offset)?))) {
            Some((table, index)) => self.symbol_record(table, index),
            None => Ok(None),
        }
    }

    fn relocation_at(
        &self,
        table: Option<&RelocationTable>,
        offset: u64,
    ) -> Result<Option<Record>> {
        match table.and_then(|table| Some((table, table.table.index_at(offset)?))) {
            Some((table, index)) => self.relocation_record(table, index),
            None => Ok(None),
        }
    }

    fn note_at(&self, offset: u64) -> Result<Option<Record>> {
        let notes = self.notes(&mut Diagnostics::default());
        if let Some(note) = notes.iter().find(|note| note.span.contains(offset)) {
            return self.note_record(note).map(Some);
        }
        // A note that runs past its part ends the reading there: its header can still be shown.
        let Some((section, span, _)) = self
            .note_parts()
            .into_iter()
            .find(|(_, span, _)| span.contains(offset))
        else {
            return Ok(None);
        };
        let before = notes.iter().rev().find(|note| note.section == section);
        let start = before.map_or(span.offset, |note| note.span.end().next_multiple_of(4));
        let header = u64::from(tables::NOTE_HEADER.bytes);
        if offset < start || offset - start >= header {
            return Ok(None);
        }
        let bytes = self.source().read_up_to(start, header)?;
        Ok(Some(tables::NOTE_HEADER.read("broken note", &bytes, start)))
    }

    fn dynamic_at(&self, span: Span, offset: u64) -> Result<Option<Record>> {
        let class = self.header.class;
        let stride = class.choose(8, 16);
        let table = super::Table {
            offset: span.offset,
            count: span.size / stride,
            stride,
        };
        let Some(index) = table.index_at(offset) else {
            return Ok(None);
        };
        let layout = class.choose(&tables::ELF32_DYNAMIC, &tables::ELF64_DYNAMIC);
        let bytes = self.source().read(table.entry(index))?;
        let title = format!("dynamic entry {index}");
        Ok(Some(layout.read(title, &bytes, table.entry(index).offset)))
    }

    fn string_at(&self, span: Span, offset: u64) -> Result<Option<Record>> {
        // Strings longer than this are shown by their beginning.
        const LIMIT: u64 = 4096;
        let strings = Strings::open(self.source(), span)?;
        let Some(span) = strings.start_of(offset).and_then(|at| strings.span(at)) else {
            return Ok(None);
        };
        let size = span.size.min(LIMIT);
        let bytes = self.source().read(Span::new(span.offset, size))?;
        let mut record = Record::new("string", span, Some(tables::ELF64_HEADER.source));
        record.append_bytes("string", &bytes, 0, size as u32, Kind::Text);
        Ok(Some(record))
    }
}
