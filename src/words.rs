//! The code of a function as a [`Table`] of 32-bit words: for GPUs whose instructions are not decoded here.
//!
//! Instructions of AMD's GPUs are one word long or more. Where each begins only a decoder knows, so no row is said to be
//! one; rows say where symbols and lines of source begin.

use std::rc::Rc;

use crate::amdgpu::Code;
use crate::elf::Elf;
use crate::lines::name;
use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::span::Span;

/// Bytes of a word.
const WORD: u64 = 4;

/// The words of a function of a code object.
pub struct WordList<'a> {
    elf: &'a Elf,
    code: Rc<Code>,
}

impl<'a> WordList<'a> {
    /// The words of `code`.
    pub fn new(elf: &'a Elf, code: Rc<Code>) -> Self {
        Self { elf, code }
    }

    fn word(&self, row: u64) -> Option<Span> {
        let code = self.code.span;
        let offset = row.checked_mul(WORD).filter(|at| *at < code.size)?;
        Some(Span::new(
            code.offset + offset,
            WORD.min(code.size - offset),
        ))
    }

    /// The word as a number; where the code ends within it, as many digits as there are.
    fn digits(&self, span: Span) -> Option<String> {
        let bytes = self.elf.source().read(span).ok()?;
        let digits = bytes.iter().rev().map(|byte| format!("{byte:02x}"));
        Some(digits.collect())
    }
}

/// Columns that there always are; those behind them are about lines.
const WORDS: usize = 4;

const COLUMNS: &[Column] = &[
    column("offset", "Offset", Unit::Hex),
    hidden("file_offset", "In the file", Unit::Hex),
    column("words", "Word", Unit::Word),
    column("symbol", "Symbol", Unit::Text),
    column("file", "File", Unit::Text),
    column("line", "Line", Unit::Number),
    column("begins", "Line begins", Unit::Word),
    hidden("path", "Path", Unit::Text),
];

impl Table for WordList<'_> {
    fn columns(&self) -> &'static [Column] {
        match self.code.lines.has_source() {
            true => COLUMNS,
            false => &COLUMNS[..WORDS],
        }
    }

    fn len(&self) -> u64 {
        self.code.span.size.div_ceil(WORD)
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(span) = self.word(row) else {
            return Cell::None;
        };
        let offset = row * WORD;
        let line = || self.code.lines.source_at(offset).next();
        match key {
            "offset" => offset.into(),
            "file_offset" => span.offset.into(),
            "words" => self.digits(span).into(),
            "symbol" => {
                let names = self.code.names(self.elf, Span::new(offset, WORD));
                (!names.is_empty()).then(|| names.join(", ")).into()
            }
            "file" => line().map(|line| name(line.file)).into(),
            "path" => line().map(|line| line.file).into(),
            "line" => line().map(|line| line.line).into(),
            "begins" => self
                .code
                .lines
                .begins_in(offset, WORD)
                .then_some("begins")
                .into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.word(row)
    }
}
