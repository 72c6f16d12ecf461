//! The relocations that a loader of the reference ABI refuses. It applies three types; the others are a
//! linker's.
//!
//! That a relocation lies outside its section, or that its symbol lies in something that the image does not
//! hold, is found by the ELF floor's checks.

use super::tables;
use crate::elf::patch::Form;
use crate::elf::symbol::Place;
use crate::elf::{Elf, Relocation, RelocationTable, Symbols};
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::index::Map;
use crate::order;

/// Why a loader refuses a relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// It is of another type.
    Type(u32),
    /// Its symbol has no place in the image.
    Symbol,
    /// It patches bytes past the image's end.
    End,
    /// Its addend lies past its section's end.
    Addend,
}

impl Reason {
    /// What tells reasons apart, in the order in which they are reported.
    fn key(self) -> u64 {
        match self {
            Self::Type(kind) => kind.into(),
            Self::Symbol => 1 << 32,
            Self::End => 2 << 32,
            Self::Addend => 3 << 32,
        }
    }
}

/// Checks of the relocations, part of which are done. One finding stands for all relocations of a section
/// that are refused for the same reason.
#[derive(Clone, Debug, Default)]
pub struct Check {
    table: usize,
    entry: u64,
    done: u64,
    /// Of the table at hand, for each reason: how many, and the first one.
    refused: Map<(Reason, u64, u64)>,
}

impl Check {
    /// Relocations to check in all.
    pub fn total(elf: &Elf) -> u64 {
        let tables = elf.relocation_tables.iter();
        tables.map(|table| table.table.count).sum()
    }

    /// Relocations checked so far.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Checks up to `budget` relocations more; returns whether all are done.
    pub fn step(&mut self, elf: &Elf, budget: u64, findings: &mut Diagnostics) -> bool {
        let mut budget = budget;
        while let Some(table) = elf.relocation_tables.get(self.table) {
            let count = table.table.count;
            let end = self.entry.saturating_add(budget).min(count);
            if elf.is_of_image(table) {
                self.read(elf, table, end);
            }
            budget -= end - self.entry;
            self.done += end - self.entry;
            self.entry = end;
            if end < count {
                return false;
            }
            self.report(elf, table, findings);
            self.table += 1;
            self.entry = 0;
        }
        true
    }

    fn read(&mut self, elf: &Elf, table: &RelocationTable, end: u64) {
        let Ok(relocations) = elf.relocations(table) else {
            return;
        };
        let symbols = elf.symbol_table_in(table.symbols);
        let symbols = symbols.and_then(|table| elf.symbols(table).ok());
        for index in self.entry..end {
            let Some(relocation) = relocations.get(index) else {
                break;
            };
            if let Some(reason) = refusal(elf, table, symbols.as_ref(), &relocation) {
                let new = (reason, 0, index);
                self.refused.entry(&reason.key().to_le_bytes(), new).1 += 1;
            }
        }
    }

    fn report(&mut self, elf: &Elf, table: &RelocationTable, findings: &mut Diagnostics) {
        let mut refused = std::mem::take(&mut self.refused).into_values();
        order::arrange(&mut refused, |(reason, ..)| reason.key());
        for (reason, count, first) in refused {
            let finding = match reason {
                Reason::Type(kind) => {
                    let name = match tables::RELOCATION.name(kind.into()) {
                        Some(name) => format!("type {name}"),
                        None => format!("type 0x{kind:x}"),
                    };
                    elf.refused(format!(
                        "a loader does not apply relocations of {name} ({count} here)"
                    ))
                    .expected("R_CUDA_64, R_CUDA_ABS32_LO_32 or R_CUDA_ABS32_HI_32", name)
                }
                Reason::Symbol => elf.refused(format!(
                    "the image does not hold the relocation's symbol ({count} here)"
                )),
                Reason::End => Diagnostic::error(
                    Kind::Loader,
                    format!("the relocation patches bytes past the image's end ({count} here)"),
                ),
                Reason::Addend => Diagnostic::error(
                    Kind::Loader,
                    format!(
                        "the relocation's addend runs past the end of its section ({count} here)"
                    ),
                ),
            };
            let section = table.section.map(|index| elf.section_label(index));
            let entry = table.table.entry(first);
            findings.push(
                finding
                    .within(format!(
                        "{} relocation {first}",
                        section.unwrap_or_default()
                    ))
                    .at(elf.source().absolute(entry.offset)),
            );
        }
    }
}

fn refusal(
    elf: &Elf,
    table: &RelocationTable,
    symbols: Option<&Symbols<'_>>,
    relocation: &Relocation,
) -> Option<Reason> {
    let form = Form::of(elf.dialect, relocation.kind);
    let form = form.filter(|_| elf.dialect.loaded.contains(&relocation.kind));
    let Some(form) = form else {
        return Some(Reason::Type(relocation.kind));
    };
    let symbol = symbols.and_then(|symbols| symbols.get(relocation.symbol.into()));
    let place = symbol.map_or(Place::Undefined, |symbol| elf.place(&symbol));
    if matches!(place, Place::Undefined | Place::Absolute) {
        return Some(Reason::Symbol);
    }
    // Outside of its section it is another finding.
    let at = elf.patched(table, relocation)?;
    let reach = form.bytes().end();
    let past = |limit: u64, at: u64| at.checked_add(reach).is_none_or(|end| end > limit);
    if past(elf.image.end, at) {
        return Some(Reason::End);
    }
    if relocation.addend.is_none() {
        let piece = elf.image.piece_of_section(table.target?)?;
        return past(piece.offset.saturating_add(piece.stored.size), at).then_some(Reason::Addend);
    }
    None
}
