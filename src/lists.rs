//! The tables of an ELF file as [`Table`]s: what is in a row, once for the page, the terminal and the
//! report's JSON. Column keys are the names of `report.schema.json`.

use std::cell::OnceCell;

use crate::compatibility::{Answer, Gpu};
use crate::document::Document;
use crate::elf::note::Note;
use crate::elf::symbol::Place;
use crate::elf::{Elf, Image, RelocationTable, Relocations, SymbolTable, Symbols};
use crate::error::Diagnostic;
use crate::export;
use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::span::Span;

/// The section headers.
pub struct SectionList<'a>(pub &'a Elf);

impl Table for SectionList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("index", "#", Unit::Number),
            column("name", "Name", Unit::Text),
            hidden("type", "sh_type", Unit::Hex),
            column("type_name", "Type", Unit::Word),
            hidden("flags", "sh_flags", Unit::Hex),
            column("flag_names", "Flags", Unit::Word),
            column("address", "Address", Unit::Hex),
            column("offset", "Offset", Unit::Hex),
            column("size", "Size", Unit::Size),
            column("link", "Link", Unit::Number),
            column("info", "Info", Unit::Number),
            column("align", "Align", Unit::Number),
            hidden("entry_size", "Entry size", Unit::Size),
            column("image_offset", "Image", Unit::Hex),
            hidden("header_offset", "Header at", Unit::Hex),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.0.sections.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let elf = self.0;
        let Some(section) = elf.sections.get(row as usize) else {
            return Cell::None;
        };
        match key {
            "index" => section.index.into(),
            "name" => section.name.as_str().into(),
            "type" => section.kind.into(),
            "type_name" => match section.kind_name(elf.dialect) {
                Some(name) => name.into(),
                None => format!("0x{:x}", section.kind).into(),
            },
            "flags" => section.flags.into(),
            "flag_names" => section.flag_names(elf.dialect).into(),
            "address" => section.address.into(),
            "offset" => section.offset.into(),
            "size" => section.size.into(),
            "link" => section.link.into(),
            "info" => section.info.into(),
            "align" => section.align.into(),
            "entry_size" => section.entry_size.into(),
            "image_offset" => elf
                .image
                .piece_of_section(section.index)
                .map(|piece| piece.offset)
                .into(),
            "header_offset" => section.header.into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        Some(self.0.section_table?.entry(row))
    }

    fn target(&self, row: u64) -> Option<Span> {
        self.0.stored(self.0.sections.get(row as usize)?).some()
    }
}

/// The program headers.
pub struct SegmentList<'a>(pub &'a Elf);

impl Table for SegmentList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("index", "#", Unit::Number),
            hidden("type", "p_type", Unit::Hex),
            column("type_name", "Type", Unit::Word),
            hidden("flags", "p_flags", Unit::Hex),
            column("flag_names", "Flags", Unit::Word),
            column("offset", "Offset", Unit::Hex),
            column("virtual_address", "Address", Unit::Hex),
            hidden("physical_address", "Physical address", Unit::Hex),
            column("file_size", "File size", Unit::Size),
            column("memory_size", "Memory size", Unit::Size),
            column("align", "Align", Unit::Number),
            hidden("header_offset", "Header at", Unit::Hex),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.0.segments.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(segment) = self.0.segments.get(row as usize) else {
            return Cell::None;
        };
        match key {
            "index" => segment.index.into(),
            "type" => segment.kind.into(),
            "type_name" => segment.kind_name().into(),
            "flags" => segment.flags.into(),
            "flag_names" => segment.flag_names().into(),
            "offset" => segment.offset.into(),
            "virtual_address" => segment.virtual_address.into(),
            "physical_address" => segment.physical_address.into(),
            "file_size" => segment.file_size.into(),
            "memory_size" => segment.memory_size.into(),
            "align" => segment.align.into(),
            "header_offset" => segment.header.into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        Some(self.0.segment_table?.entry(row))
    }

    fn target(&self, row: u64) -> Option<Span> {
        let segment = self.0.segments.get(row as usize)?;
        segment.span().clamp(self.0.source().size()).some()
    }
}

/// Tables of a file that follow each other, as one. Each is read when its first row is asked for; of one
/// that cannot be read the rows are empty, and a finding says why.
struct Chain<'a, T, R> {
    /// The row behind the table's last one, the table, its rows once they are read.
    tables: Vec<(u64, &'a T, OnceCell<Option<R>>)>,
}

impl<'a, T, R> Chain<'a, T, R> {
    fn new(tables: impl Iterator<Item = &'a T>, count: fn(&T) -> u64) -> Self {
        let mut end = 0;
        let tables = tables.map(|table| {
            end += count(table);
            (end, table, OnceCell::new())
        });
        Self {
            tables: tables.collect(),
        }
    }

    fn len(&self) -> u64 {
        self.tables.last().map_or(0, |(end, ..)| *end)
    }

    /// The table that holds `row`, its rows, and which of them it is.
    fn entry(&self, row: u64, read: impl FnOnce(&'a T) -> Option<R>) -> Option<(&'a T, &R, u64)> {
        let at = self.tables.partition_point(|(end, ..)| *end <= row);
        let start = at.checked_sub(1).map_or(0, |before| self.tables[before].0);
        let (_, table, rows) = self.tables.get(at)?;
        let rows = rows.get_or_init(|| read(table)).as_ref()?;
        Some((table, rows, row - start))
    }
}

/// The symbols: of static tables, then of dynamic ones.
pub struct SymbolList<'a> {
    elf: &'a Elf,
    tables: Chain<'a, SymbolTable, Symbols<'a>>,
}

impl<'a> SymbolList<'a> {
    /// The symbols of `elf`.
    pub fn new(elf: &'a Elf) -> Self {
        Self {
            elf,
            tables: Chain::new(elf.symbol_tables.iter(), |table| table.table.count),
        }
    }

    fn entry(&self, row: u64) -> Option<(&SymbolTable, &Symbols<'a>, u64)> {
        self.tables.entry(row, |table| self.elf.symbols(table).ok())
    }
}

impl Table for SymbolList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            hidden("table", "Table", Unit::Number),
            column("table_name", "In", Unit::Text),
            column("index", "#", Unit::Number),
            column("name", "Name", Unit::Text),
            column("value", "Value", Unit::Hex),
            column("size", "Size", Unit::Size),
            column("type", "Type", Unit::Word),
            column("binding", "Binding", Unit::Word),
            column("other", "st_other", Unit::Hex),
            hidden("section", "st_shndx", Unit::Number),
            column("section_name", "Section", Unit::Text),
            column("image_offset", "Image", Unit::Hex),
            hidden("entry_offset", "Entry at", Unit::Hex),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.tables.len()
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some((table, symbols, index)) = self.entry(row) else {
            return Cell::None;
        };
        let Some(symbol) = symbols.get(index) else {
            return Cell::None;
        };
        match key {
            "table" => table.section.into(),
            "table_name" => match table.section {
                Some(section) => self.elf.section_label(section).into(),
                None => "dynamic table".into(),
            },
            "index" => index.into(),
            "name" => symbols.strings.text(symbol.name.into()).into(),
            "value" => symbol.value.into(),
            "size" => symbol.size.into(),
            "type" => match symbol.kind_name(self.elf.dialect) {
                Some(name) => name.into(),
                None => format!("0x{:x}", symbol.info & 15).into(),
            },
            "binding" => match symbol.binding_name() {
                Some(name) => name.into(),
                None => format!("0x{:x}", symbol.info >> 4).into(),
            },
            "other" => u32::from(symbol.other).into(),
            "section" => symbol.section.into(),
            "section_name" => self.elf.section_label(symbol.section).into(),
            "image_offset" => match self.elf.place(&symbol) {
                Place::Image(offset) => offset.into(),
                _ => Cell::None,
            },
            "entry_offset" => table.table.entry(index).offset.into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        let (table, _, index) = self.entry(row)?;
        Some(table.table.entry(index))
    }

    fn target(&self, row: u64) -> Option<Span> {
        let (_, symbols, index) = self.entry(row)?;
        self.elf.named_by(&symbols.get(index)?)
    }
}

/// The relocations of relocation sections, in section order, or those found elsewhere: without sections, and in
/// sections of the machine's own types.
pub struct RelocationList<'a> {
    elf: &'a Elf,
    tables: Chain<'a, RelocationTable, Relocations<'a>>,
}

impl<'a> RelocationList<'a> {
    /// The relocations of `elf`: of relocation sections if `in_sections`, else the others.
    pub fn new(elf: &'a Elf, in_sections: bool) -> Self {
        let tables = elf.relocation_tables.iter();
        let wanted = tables.filter(|table| table.section.is_some() == in_sections);
        let others = elf.other_relocation_tables.iter().filter(|_| !in_sections);
        Self {
            elf,
            tables: Chain::new(wanted.chain(others), |table| table.table.count),
        }
    }

    fn entry(&self, row: u64) -> Option<(&RelocationTable, &Relocations<'a>, u64)> {
        self.tables
            .entry(row, |table| self.elf.relocations(table).ok())
    }
}

impl Table for RelocationList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            hidden("section", "Section", Unit::Number),
            column("section_name", "In", Unit::Text),
            column("index", "#", Unit::Number),
            hidden("target", "Target", Unit::Number),
            column("target_name", "Patches", Unit::Text),
            column("offset", "Offset", Unit::Hex),
            column("type", "Type", Unit::Word),
            hidden("type_id", "Type number", Unit::Number),
            hidden("symbol", "Symbol number", Unit::Number),
            column("symbol_name", "Symbol", Unit::Text),
            column("addend", "Addend", Unit::Hex),
            column("writes", "Writes", Unit::Word),
            hidden("certainty", "Certainty", Unit::Word),
            column("image_offset", "Image", Unit::Hex),
            hidden("entry_offset", "Entry at", Unit::Hex),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.tables.len()
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some((table, relocations, index)) = self.entry(row) else {
            return Cell::None;
        };
        let Some(relocation) = relocations.get(index) else {
            return Cell::None;
        };
        match key {
            "section" => table.section.into(),
            "section_name" => table.section.map(|s| self.elf.section_label(s)).into(),
            "index" => index.into(),
            "target" => table.target.into(),
            "target_name" => table.target.map(|s| self.elf.section_label(s)).into(),
            "offset" => relocation.offset.into(),
            "type" => match relocation.kind_name(self.elf.dialect) {
                Some(name) => name.into(),
                None => format!("0x{:x}", relocation.kind).into(),
            },
            "type_id" => relocation.kind.into(),
            "symbol" => relocation.symbol.into(),
            "symbol_name" => self.elf.symbol_name(table, &relocation).into(),
            "addend" => self.elf.addend(table, &relocation).into(),
            "writes" => relocation
                .writes(self.elf.dialect)
                .map(|(what, _)| what)
                .into(),
            "certainty" => match relocation.writes(self.elf.dialect) {
                Some((_, true)) => "verified".into(),
                Some((_, false)) => "not verified".into(),
                None => "unknown".into(),
            },
            "image_offset" => self.elf.patched(table, &relocation).into(),
            "entry_offset" => table.table.entry(index).offset.into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        let (table, _, index) = self.entry(row)?;
        Some(table.table.entry(index))
    }

    fn target(&self, row: u64) -> Option<Span> {
        let (table, relocations, index) = self.entry(row)?;
        self.elf.patched_bytes(table, &relocations.get(index)?)
    }
}

/// The notes.
pub struct NoteList<'a> {
    /// The file.
    pub elf: &'a Elf,
    /// Its notes.
    pub notes: &'a [Note],
}

impl Table for NoteList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("section_name", "In", Unit::Text),
            column("owner", "Owner", Unit::Text),
            column("type", "Type", Unit::Hex),
            column("type_name", "Meaning", Unit::Word),
            column("offset", "Offset", Unit::Hex),
            column("size", "Content", Unit::Size),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.notes.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(note) = self.notes.get(row as usize) else {
            return Cell::None;
        };
        match key {
            "section_name" => note.section.map(|s| self.elf.section_label(s)).into(),
            "owner" => note.owner.as_str().into(),
            "type" => note.kind.into(),
            "type_name" => note.kind_name(self.elf.dialect).into(),
            "offset" => note.span.offset.into(),
            "size" => note.content.size.into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.notes.get(row as usize).map(|note| note.span)
    }

    fn target(&self, row: u64) -> Option<Span> {
        self.notes.get(row as usize)?.content.some()
    }
}

/// The pieces of an image.
pub struct ImageList<'a> {
    /// The file.
    pub elf: &'a Elf,
    /// The image.
    pub image: &'a Image,
    /// Whether its pieces are segments.
    pub by_segments: bool,
}

impl Table for ImageList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("owner", "#", Unit::Number),
            column("name", "Name", Unit::Text),
            column("offset", "Image offset", Unit::Hex),
            column("size", "Size", Unit::Size),
            column("file_offset", "File offset", Unit::Hex),
            column("file_size", "From the file", Unit::Size),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.image.pieces.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(piece) = self.image.pieces.get(row as usize) else {
            return Cell::None;
        };
        let from_file = piece.stored.size > 0;
        match key {
            "owner" => piece.owner.into(),
            "name" if self.by_segments => format!("segment {}", piece.owner).into(),
            "name" => self.elf.section_label(piece.owner).into(),
            "offset" => piece.offset.into(),
            "size" => piece.size.into(),
            "file_offset" => from_file.then_some(piece.stored.offset).into(),
            "file_size" => piece.stored.size.min(piece.size).into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        let piece = self.image.pieces.get(row as usize)?;
        (piece.stored.size > 0).then_some(piece.stored)
    }
}

/// The leaves of a file's map.
pub struct MapList<'a>(pub &'a Document);

impl Table for MapList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("offset", "Offset", Unit::Hex),
            column("size", "Size", Unit::Size),
            column("name", "Part", Unit::Text),
            column("role", "What it is", Unit::Word),
            column("shared", "Claimed twice", Unit::Word),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.0.leaves().len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(leaf) = self.0.leaves().get(row as usize) else {
            return Cell::None;
        };
        match key {
            "offset" => leaf.span.offset.into(),
            "size" => leaf.span.size.into(),
            "name" => self.0.label(leaf).into(),
            "role" => self.0.role(leaf).word().into(),
            "shared" => leaf.is_shared.into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.0.leaves().get(row as usize).map(|leaf| leaf.span)
    }
}

/// The findings.
pub struct DiagnosticList {
    /// The findings.
    pub findings: Vec<Diagnostic>,
    /// Where the file begins in the one that was dropped, from which their offsets count.
    pub start: u64,
}

impl Table for DiagnosticList {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("severity", "Severity", Unit::Word),
            column("kind", "Whose rule", Unit::Word),
            column("message", "Finding", Unit::Text),
            column("expected", "Expected", Unit::Text),
            column("found", "Found", Unit::Text),
            column("context", "Where", Unit::Text),
            column("offset", "Offset", Unit::Hex),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.findings.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(finding) = self.findings.get(row as usize) else {
            return Cell::None;
        };
        match key {
            "severity" => finding.severity.word().into(),
            "kind" => finding.kind.word().into(),
            "message" => finding.message.as_str().into(),
            "expected" => finding.expected.as_deref().into(),
            "found" => finding.found.as_deref().into(),
            "context" => finding.context.as_deref().into(),
            "offset" => finding.offset.into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        let finding = self.findings.get(row as usize)?;
        Some(Span::new(finding.offset?.checked_sub(self.start)?, 1))
    }
}

/// GPUs, and whether the file's code runs on them.
pub struct GpuList(pub Vec<Gpu>);

impl GpuList {
    /// Those on which it runs, be it under a condition.
    pub fn of_those_that_run(self) -> Self {
        let mut gpus = self.0;
        gpus.retain(|gpu| gpu.runs.answer != Answer::No);
        Self(gpus)
    }
}

impl Table for GpuList {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("gpu", "GPU", Unit::Word),
            column("runs", "Runs", Unit::Word),
            column("reason", "Why", Unit::Text),
            column("products", "Products", Unit::Text),
            column("served_by", "By", Unit::Text),
            column("missing_kernels", "Missing kernels", Unit::Number),
            hidden("path", "In", Unit::Text),
            hidden("libraries", "Libraries", Unit::Text),
        ];
        // What serves a GPU is a question where there are members.
        let is_served = self.0.iter().any(|gpu| gpu.served_by.is_some());
        &COLUMNS[..if is_served { COLUMNS.len() } else { 4 }]
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(gpu) = self.0.get(row as usize) else {
            return Cell::None;
        };
        match key {
            "gpu" => gpu.name.as_str().into(),
            "runs" => gpu.runs.answer.word().into(),
            "reason" => gpu.runs.reason.as_str().into(),
            "products" => gpu.products.into(),
            "served_by" => gpu
                .served_by
                .as_ref()
                .map(|served| served.by.as_str())
                .into(),
            "missing_kernels" => gpu.missing_kernels.into(),
            // A line each: what is in it has its path before the answer.
            "libraries" if !gpu.libraries.is_empty() => {
                let lines = gpu.libraries.iter().map(Gpu::to_string);
                lines.collect::<Vec<_>>().join("\n").into()
            }
            "path" => {
                let served = gpu.served_by.as_ref();
                served.map(|served| &*served.path).into()
            }
            _ => Cell::None,
        }
    }

    fn place(&self, _: u64) -> Option<Span> {
        None
    }
}

/// Characters that a column is widened to, at most: longer cells push the rest of their line aside.
const WIDTH_LIMIT: usize = 48;

/// Prints the shown columns of all rows of `table` as aligned text, their titles first. Rows are read
/// twice, for the widths and for printing, so that none are kept.
///
/// # Errors
/// Those of `out`.
pub fn print(table: &dyn Table, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    let columns: Vec<&Column> = table.columns().iter().filter(|c| c.is_shown).collect();
    let text = |row: u64, column: &Column| {
        export::visible(&table.cell(row, &column.key).text(column.unit)).into_owned()
    };
    let mut widths: Vec<usize> = columns.iter().map(|c| c.title.len()).collect();
    for row in 0..table.len() {
        for (width, column) in widths.iter_mut().zip(&columns) {
            let chars = text(row, column).chars().count();
            *width = (*width).max(chars.min(WIDTH_LIMIT));
        }
    }
    let mut line = |cells: &mut dyn Iterator<Item = String>| {
        let mut line = String::new();
        for ((cell, column), &width) in cells.zip(&columns).zip(&widths) {
            let is_number = column.unit.is_number();
            if is_number {
                line.push_str(&format!("{cell:>width$}  "));
            } else {
                line.push_str(&format!("{cell:<width$}  "));
            }
        }
        writeln!(out, "{}", line.trim_end())
    };
    line(&mut columns.iter().map(|c| c.title.clone().into_owned()))?;
    for row in 0..table.len() {
        line(&mut columns.iter().map(|column| text(row, column)))?;
    }
    Ok(())
}
