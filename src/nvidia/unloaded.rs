//! What is wrong in sections that no loader reads: attributes of Mercury and of `.nv.compat`, prototypes, relocation actions.
//! All of it is a warning: the code is none the worse for it.

use super::info::{EIFMT_SVAL, Entries, Entry};
use super::record::{MERCURY_INFO, MERCURY_PROTOTYPE, PROTOTYPE, RELOCATION_ACTION};
use super::tables;
use crate::elf::{Elf, Section};
use crate::error::{Diagnostic, Diagnostics, Kind, Severity};
use crate::record::{Layout, bits};

/// Bytes of a relocation action that are the beginning of its section.
const HEADER: u64 = 8;

/// Checks the sections whose tables are not read when a cubin is opened.
pub(super) fn check(elf: &Elf, findings: &mut Diagnostics) {
    // Sections of a malformed file can share their bytes.
    let mut room = elf.source().size();
    for section in &elf.sections {
        let check = match section.kind {
            MERCURY_INFO => |elf: &Elf, section: &Section, findings: &mut Diagnostics| {
                attributes(elf, section, findings, |_| ());
            },
            PROTOTYPE | MERCURY_PROTOTYPE => prototypes,
            RELOCATION_ACTION => actions,
            _ => continue,
        };
        let Some(rest) = room.checked_sub(elf.stored(section).size) else {
            findings.push(
                Diagnostic::warning(
                    Kind::Limit,
                    "such sections are together longer than the file; the rest is not checked",
                )
                .within(label(section))
                .at(elf.source().absolute(section.header)),
            );
            return;
        };
        room = rest;
        check(elf, section, findings);
    }
}

/// Tells `each` of the attributes of `section`, with findings for those that are cut off or of no known format.
pub(super) fn attributes(
    elf: &Elf,
    section: &Section,
    findings: &mut Diagnostics,
    mut each: impl FnMut(&Entry),
) {
    for entry in Entries::new(elf.source(), elf.stored(section)) {
        match entry {
            Ok(entry) => {
                if !(1..=EIFMT_SVAL).contains(&entry.format) {
                    findings.push(
                        Diagnostic::warning(
                            Kind::UnknownValue,
                            "the attribute has an unknown format",
                        )
                        .expected("1 to 4", entry.format)
                        .within(label(section))
                        .at(elf.source().absolute(entry.offset)),
                    );
                }
                each(&entry);
            }
            Err(error) => {
                let finding = Diagnostic {
                    severity: Severity::Warning,
                    kind: Kind::Format,
                    ..error.into_diagnostic()
                };
                findings.push(finding.within(label(section)));
            }
        }
    }
}

fn label(section: &Section) -> String {
    format!("section {} {}", section.index, section.name)
}

/// How many entries of a table have the same thing wrong, and the first one: its offset and what it has.
#[derive(Default)]
pub(super) struct Count {
    first: Option<(u64, i64)>,
    more: u64,
}

impl Count {
    /// Counts an entry at `offset` that has `found`.
    pub(super) fn add(&mut self, offset: u64, found: i64) {
        match self.first {
            None => self.first = Some((offset, found)),
            Some(_) => self.more += 1,
        }
    }

    /// Reports them.
    pub(super) fn give(
        self,
        elf: &Elf,
        section: &Section,
        (message, expected): (&str, String),
        findings: &mut Diagnostics,
    ) {
        let Some((offset, found)) = self.first else {
            return;
        };
        let message = match self.more {
            0 => message.into(),
            more => format!("{message} (the first of {} here)", more + 1),
        };
        findings.push(
            Diagnostic::warning(Kind::Format, message)
                .expected(expected, found)
                .within(label(section))
                .at(elf.source().absolute(offset)),
        );
    }
}

/// Bytes that are read at once: a multiple of any table's entry here.
const CHUNK: u64 = 64 << 10;

/// Tells `each` of the entries of `layout` that `section` has from byte `start` on: their offset and bytes.
fn entries(
    elf: &Elf,
    section: &Section,
    (start, layout): (u64, &Layout),
    findings: &mut Diagnostics,
    mut each: impl FnMut(u64, &[u8]),
) {
    let span = elf.stored(section);
    let stride = u64::from(layout.bytes);
    let mut at = span.offset.saturating_add(start);
    while at < span.end() {
        let chunk = crate::span::Span::new(at, CHUNK).clamp(span.end());
        let Some(bytes) = findings.take(elf.source().read(chunk)) else {
            return;
        };
        for (entry, offset) in bytes.chunks_exact(stride as usize).zip(0..) {
            each(at + offset * stride, entry);
        }
        at += CHUNK;
    }
    if span.size < start || !(span.size - start).is_multiple_of(stride) {
        findings.push(
            Diagnostic::warning(Kind::Format, "the section ends within an entry")
                .expected(
                    format!("{start} and a multiple of {stride} bytes"),
                    span.size,
                )
                .within(label(section))
                .at(elf.source().absolute(span.offset)),
        );
    }
}

fn prototypes(elf: &Elf, section: &Section, findings: &mut Diagnostics) {
    let table = elf.symbol_table_in(section.symbols);
    let (symbols, strings) = table.map_or((0, 0), |t| (t.table.count, t.strings.size));
    let (mut symbol, mut string) = (Count::default(), Count::default());
    let layout = (0, &tables::PROTOTYPE_ENTRY);
    entries(elf, section, layout, findings, |offset, bytes| {
        let word = |at: u32| bits(bytes, at * 8, 32).unwrap_or(0);
        if word(0) >= symbols {
            symbol.add(offset, word(0) as i64);
        }
        if word(4) >= strings {
            string.add(offset + 4, word(4) as i64);
        }
    });
    let what = (
        "the prototype's function is missing",
        format!("an index below {symbols}"),
    );
    symbol.give(elf, section, what, findings);
    let what = (
        "the prototype lies outside the string table",
        format!("an offset below {strings}"),
    );
    string.give(elf, section, what, findings);
}

fn actions(elf: &Elf, section: &Section, findings: &mut Diagnostics) {
    let base = elf.source().read_up_to(elf.stored(section).offset, 1);
    let base = base.ok().and_then(|bytes| bytes.first().copied());
    let Some(base) = base.filter(|_| elf.stored(section).size > 0) else {
        return;
    };
    let (mut kind, mut name) = (Count::default(), Count::default());
    let layout = (HEADER, &tables::REL_ACTION);
    entries(elf, section, layout, findings, |offset, bytes| {
        let taken = bytes.first().copied().map_or(0, u64::from);
        if tables::SYMBOL_KIND.name(taken).is_none() {
            kind.add(offset, taken as i64);
        }
        let start = elf.stored(section).offset + HEADER;
        let number = u64::from(base) + (offset - start) / u64::from(tables::REL_ACTION.bytes);
        if tables::RELOCATION.name(number).is_none() {
            name.add(offset, number as i64);
        }
    });
    let what = (
        "the action takes something unknown of its symbol",
        "0 to 9".into(),
    );
    kind.give(elf, section, what, findings);
    let what = (
        "the action is for an unknown type of relocation",
        "a type that has a name".into(),
    );
    name.give(elf, section, what, findings);
}
