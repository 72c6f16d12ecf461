//! The checks that read whole tables: every name, index and offset of symbols and relocations.
//!
//! They cost as much as the tables are long, so they are not part of opening a file, and run in
//! steps: [`Check::step`] does so many entries and can be called again.

use object::elf;

use super::section::{NUMBER_LIMIT, too_great};
use super::symbol::Place;
use super::{Elf, RelocationTable, Section, Strings};
use crate::error::{Diagnostic, Diagnostics, Kind};

/// Checks of a file, part of which are done.
#[derive(Clone, Debug, Default)]
pub struct Check {
    table: usize,
    entry: u64,
    done: u64,
    names: u64,
    tally: Tally,
}

/// Findings of a table: one stands for all entries with the same thing wrong, and says how many they are.
#[derive(Clone, Debug, Default)]
struct Tally(Vec<(Diagnostic, u64)>);

impl Tally {
    fn push(&mut self, finding: Diagnostic) {
        let same = self
            .0
            .iter_mut()
            .find(|(first, _)| first.message == finding.message);
        match same {
            Some((_, count)) => *count += 1,
            None => self.0.push((finding, 1)),
        }
    }

    fn give(&mut self, findings: &mut Diagnostics) {
        for (mut finding, count) in self.0.drain(..) {
            if count > 1 {
                finding
                    .message
                    .push_str(&format!(" (the first of {count} here)"));
            }
            findings.push(finding);
        }
    }
}

/// All tables of relocations: those that a loader applies, then those of the machine's own section types.
fn relocation_tables(file: &Elf) -> impl Iterator<Item = &RelocationTable> {
    let all = [&file.relocation_tables, &file.other_relocation_tables];
    all.into_iter().flatten()
}

impl Check {
    /// Entries to check in all.
    pub fn total(file: &Elf) -> u64 {
        let symbols = file.symbol_tables.iter().map(|t| t.table.count);
        let relocations = relocation_tables(file).map(|t| t.table.count);
        symbols.chain(relocations).sum()
    }

    /// Entries checked so far.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Checks up to `budget` entries more; returns whether all are done.
    pub fn step(&mut self, file: &Elf, budget: u64, findings: &mut Diagnostics) -> bool {
        let mut budget = budget;
        let tables = file.symbol_tables.len() + relocation_tables(file).count();
        while self.table < tables {
            let relocations = self.table.checked_sub(file.symbol_tables.len());
            let (count, checked) = match relocations {
                None => self.symbols(file, budget, findings),
                Some(table) => self.relocations(file, table, budget, findings),
            };
            self.entry += checked;
            self.done += checked;
            budget -= checked;
            if self.entry < count {
                return false;
            }
            self.tally.give(findings);
            self.table += 1;
            self.entry = 0;
        }
        true
    }

    /// Returns the table's entries, and how many were checked.
    fn symbols(&mut self, file: &Elf, budget: u64, findings: &mut Diagnostics) -> (u64, u64) {
        let table = &file.symbol_tables[self.table];
        let Some(symbols) = findings.take(file.symbols(table)) else {
            return (0, 0);
        };
        if self.entry == 0 {
            check_strings(file, table.section, &symbols.strings, findings);
        }
        let end = symbols.len().min(self.entry.saturating_add(budget));
        for index in self.entry..end {
            let Some(symbol) = symbols.get(index) else {
                break;
            };
            let entry = table.table.entry(index);
            let label = |field: &str| {
                let section = table.section.map(|s| file.section_label(s));
                format!("{} symbol {index}, {field}", section.unwrap_or_default())
            };
            match symbols.strings.get(symbol.name.into()) {
                Ok(name) => {
                    let before = self.names;
                    self.names += name.len() as u64;
                    let limit = file.source().size();
                    if file.dialect.has_loader && before <= limit && self.names > limit {
                        self.tally.push(
                            Diagnostic::error(
                                Kind::Loader,
                                "the symbols' names are together longer than the file",
                            )
                            .within(label("st_name"))
                            .at(file.source().absolute(entry.offset)),
                        );
                    }
                }
                Err(error) => {
                    let finding = error.within(|| label("st_name")).into_diagnostic();
                    self.tally.push(finding);
                }
            }
            // A loader reads it with its sign, and no size.
            let distance = symbol.value.cast_signed().unsigned_abs();
            if file.dialect.has_loader && distance > NUMBER_LIMIT {
                let at = file.source().absolute(entry.offset + 8);
                let finding = too_great(symbol.value).within(label("st_value"));
                self.tally.push(finding.at(at));
            }
            let special = symbol.section >= u32::from(elf::SHN_LORESERVE);
            let missing = symbol.section as usize >= file.sections.len();
            if !file.sections.is_empty() && !special && missing {
                self.tally.push(
                    Diagnostic::error(Kind::Format, "the symbol's section is missing")
                        .expected(
                            format!("an index below {}", file.sections.len()),
                            symbol.section,
                        )
                        .within(label("st_shndx"))
                        .at(file.source().absolute(entry.offset)),
                );
            }
        }
        (symbols.len(), end.saturating_sub(self.entry))
    }

    fn relocations(
        &mut self,
        file: &Elf,
        table: usize,
        budget: u64,
        findings: &mut Diagnostics,
    ) -> (u64, u64) {
        let Some(table) = relocation_tables(file).nth(table) else {
            return (0, 0);
        };
        let Some(relocations) = findings.take(file.relocations(table)) else {
            return (0, 0);
        };
        let symbols = file.symbols_of(table);
        let symbols = symbols.and_then(|t| Some((t, file.symbols(t).ok()?)));
        let count = symbols.as_ref().map_or(1, |(t, _)| t.table.count.max(1));
        let target = table.target.and_then(|index| file.section(index));
        let is_of_image = file.is_of_image(table) && file.dialect.has_loader;
        let section = table.section.and_then(|index| file.section(index));
        let is_own = section.is_some_and(|section| {
            let own = file.dialect.relocation_tables;
            own.contains(&section.kind)
        });
        // What no loader applies harms nobody but who looks at it.
        let finding = if is_own {
            Diagnostic::warning
        } else {
            Diagnostic::error
        };
        let is_repaired = section.is_some_and(|section| section.symbols != section.link);
        let end = relocations.len().min(self.entry.saturating_add(budget));
        for index in self.entry..end {
            let Some(relocation) = relocations.get(index) else {
                break;
            };
            let at = file.source().absolute(table.table.entry(index).offset);
            let label = |field: &str| {
                let section = table.section.map(|s| file.section_label(s));
                format!(
                    "{} relocation {index}, {field}",
                    section.unwrap_or_default()
                )
            };
            let addend = relocation.addend.map_or(0, i64::unsigned_abs);
            for (field, value) in [("r_offset", relocation.offset), ("r_addend", addend)] {
                if is_of_image && value > NUMBER_LIMIT {
                    self.tally
                        .push(too_great(value).within(label(field)).at(at));
                }
            }
            if u64::from(relocation.symbol) >= count {
                self.tally.push(
                    finding(Kind::Format, "the relocation's symbol is missing")
                        .expected(format!("an index below {count}"), relocation.symbol)
                        .within(label("r_info"))
                        .at(at),
                );
            }
            if is_of_image && is_repaired && relocation.symbol != 0 {
                self.tally.push(
                    file.refused(
                        "the section is linked to none in which a loader finds the symbol",
                    )
                    .within(label("r_info"))
                    .at(at),
                );
            }
            // Offsets in a compressed section count in what it is unpacked to, as do those in Mercury's code, which is
            // of a machine's own type.
            let is_unpacked =
                |s: &&Section| s.is_compressed() || is_own && s.kind >= elf::SHT_LOPROC;
            if let Some(section) = target.filter(|section| !is_unpacked(section)) {
                let start = file.start_of(section);
                let within = relocation.offset.checked_sub(start);
                if within.is_none_or(|within| within >= section.size) {
                    let kind = if is_of_image {
                        Kind::Loader
                    } else {
                        Kind::Format
                    };
                    self.tally.push(
                        finding(kind, "the relocation lies outside its section")
                            .expected(
                                format!(
                                    "0x{start:x} to 0x{:x}",
                                    start.saturating_add(section.size)
                                ),
                                format!("0x{:x}", relocation.offset),
                            )
                            .within(label("r_offset"))
                            .at(at),
                    );
                    continue;
                }
                let in_file = section.kind != elf::SHT_NOBITS.0;
                if is_of_image && relocation.addend.is_none() && !in_file {
                    self.tally.push(
                        Diagnostic::error(
                            Kind::Loader,
                            "the relocation's addend lies in bytes that the file does not have",
                        )
                        .within(label("r_offset"))
                        .at(at),
                    );
                }
            }
            if is_of_image && file.patched(table, &relocation).is_none() {
                self.tally.push(
                    file.refused("the relocation patches memory that the image does not hold")
                        .within(label("r_offset"))
                        .at(at),
                );
            }
            let place = symbols
                .as_ref()
                .and_then(|(_, symbols)| symbols.get(relocation.symbol.into()))
                .filter(|_| relocation.symbol != 0)
                .map(|symbol| file.place(&symbol));
            if is_of_image && place == Some(Place::Outside) {
                self.tally.push(
                    file.refused(
                        "the relocation's symbol lies in something that the image does not hold",
                    )
                    .within(label("r_info"))
                    .at(at),
                );
            }
        }
        (relocations.len(), end.saturating_sub(self.entry))
    }
}

fn check_strings(
    file: &Elf,
    section: Option<u32>,
    strings: &Strings<'_>,
    findings: &mut Diagnostics,
) {
    if !strings.is_terminated() {
        let section = section.map(|s| file.section_label(s)).unwrap_or_default();
        findings.push(
            Diagnostic::warning(
                Kind::Format,
                "the string table does not end with a zero byte",
            )
            .within(format!("strings of {section}")),
        );
    }
}
