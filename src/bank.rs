//! Constant bank 0 of a kernel as a [`Table`].

use crate::elf::Elf;
use crate::nvidia::bank0::{Bank0, BankPart};
use crate::record;
use crate::rows::{Cell, Column, Table, Unit, column};
use crate::span::Span;

/// The parts of a kernel's constant bank 0.
pub struct BankList<'a> {
    /// The file.
    pub elf: &'a Elf,
    /// The bank.
    pub bank: Bank0,
}

/// Bytes of a part that are shown, at most.
const SHOWN: u64 = 16;

impl BankList<'_> {
    fn part(&self, row: u64) -> Option<&BankPart> {
        self.bank.parts.get(usize::try_from(row).ok()?)
    }

    /// The first bytes that the file has of a part; the driver writes its own anew for each launch.
    fn value(&self, part: &BankPart) -> Option<String> {
        let place = self.bank.place(part)?;
        let shown = Span::new(place.offset, place.size.min(SHOWN));
        let bytes = self.elf.source().read(shown).ok()?;
        let rest = if place.size > SHOWN { "…" } else { "" };
        Some(format!("{}{rest}", record::hex(&bytes)))
    }
}

impl Table for BankList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("offset", "Offset", Unit::Hex),
            column("size", "Size", Unit::Size),
            column("name", "Name", Unit::Word),
            column("what", "What it is", Unit::Word),
            column("note", "Meaning", Unit::Word),
            column("certainty", "Certainty", Unit::Word),
            column("source", "Says who", Unit::Word),
            column("value", "In the file", Unit::Word),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.bank.parts.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(part) = self.part(row) else {
            return Cell::None;
        };
        let word = |word: &'static str| match word {
            "" => Cell::None,
            word => word.into(),
        };
        match key {
            "offset" => part.offset.into(),
            "size" => part.size.into(),
            "name" => part.name.as_str().into(),
            "what" => part.what.word().into(),
            "note" => word(part.note),
            "certainty" => part.certainty.into(),
            "source" => word(part.source),
            "value" => self.value(part).into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.bank.place(self.part(row)?)
    }
}
