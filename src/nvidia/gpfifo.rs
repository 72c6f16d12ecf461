//! GPFIFO entries: where the pushbuffers are that a channel is to read, 8 bytes each.

use super::tables;
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::record::{Kind as FieldKind, Layout, Record, bits};
use crate::source::Source;
use crate::span::Span;

/// Bytes of an entry.
pub const SIZE: u64 = 8;

/// Entries of a GPFIFO.
pub struct Gpfifo {
    source: Source,
    span: Span,
    host: u16,
    /// The entries from which on addresses have other upper bits, and these.
    bases: Vec<(u64, u64)>,
}

/// The opcode of control entries that has the upper bits of the addresses that follow, and the first host that has it.
const EXTENDED_BASE: u32 = 4;
const EXTENDING: u16 = 0xc86f;
/// Entries that say these bits that are kept, at most.
const KEPT: usize = 1 << 16;

/// What an entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it is.
    pub offset: u64,
    /// The address of its pushbuffer, with the upper bits that an entry before it has said; of a control entry its operand.
    pub address: u64,
    /// Words of the pushbuffer; 0 of a control entry.
    pub length: u32,
    /// The entry's bytes as two words.
    words: [u32; 2],
}

impl Gpfifo {
    /// The entries in `span` of `source`, of a channel of the host `host`.
    ///
    /// What is wrong with them goes to `findings`.
    pub fn read(source: &Source, span: Span, host: u16, findings: &mut Diagnostics) -> Self {
        let size = span.size / SIZE * SIZE;
        if size < span.size {
            findings.push(
                Diagnostic::error(Kind::Format, "the GPFIFO ends within an entry")
                    .expected("a multiple of 8 bytes", span.size)
                    .at(source.absolute(span.offset + size)),
            );
        }
        if span.size == 0 {
            findings.push(
                Diagnostic::error(Kind::Format, "the GPFIFO has no entries").at(source.absolute(0)),
            );
        }
        let mut gpfifo = Self {
            source: source.clone(),
            span: Span::new(span.offset, size),
            host,
            bases: Vec::new(),
        };
        gpfifo.walk(findings);
        gpfifo
    }

    /// Checks the entries, and keeps what some say for those behind them.
    fn walk(&mut self, findings: &mut Diagnostics) {
        for index in 0..self.len() {
            let (Some(entry), Some(bytes)) = (self.entry(index), self.bytes(index)) else {
                break;
            };
            let mut warn = |message: &str, expected: &str, found: u32, at: u64| {
                findings.push(
                    Diagnostic::warning(Kind::UnknownValue, message)
                        .expected(expected, format_args!("0x{found:x}"))
                        .at(self.source.absolute(entry.offset + at))
                        .within(format!("GPFIFO entry {index}")),
                );
            };
            for field in self.layout(entry).fields() {
                let value = bits(&bytes, field.lsb, field.bits).unwrap_or(0) as u32;
                if matches!(field.kind, FieldKind::Reserved) && value != 0 {
                    let at = u64::from(field.lsb / 8);
                    warn("bits without a known meaning are set", "0", value, at);
                }
            }
            match entry.opcode().filter(|_| !self.is_old()) {
                Some(opcode) if opcode > EXTENDED_BASE => {
                    warn("no GPFIFO opcode has this number", "0 to 4", opcode, 4);
                }
                Some(EXTENDED_BASE) if self.host < EXTENDING => {
                    warn(
                        "hosts before Hopper's have no extended base",
                        "0 to 3",
                        EXTENDED_BASE,
                        4,
                    );
                }
                Some(EXTENDED_BASE) if self.bases.len() < KEPT => {
                    let base = bits(&bytes, 8, 17).unwrap_or(0);
                    self.bases.push((index, base << 40));
                }
                Some(EXTENDED_BASE) if self.bases.len() == KEPT => {
                    let text = format!("extended bases behind the first {KEPT} are not counted in");
                    findings.push(Diagnostic::warning(Kind::Limit, text));
                    break;
                }
                _ => {}
            }
        }
    }

    /// The upper bits of addresses of entry `index`.
    fn base(&self, index: u64) -> u64 {
        let next = self.bases.partition_point(|base| base.0 < index);
        let last = next.checked_sub(1).and_then(|last| self.bases.get(last));
        last.map_or(0, |base| base.1)
    }

    /// How many entries there are.
    pub fn len(&self) -> u64 {
        self.span.size / SIZE
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of entry `index`.
    pub fn span(&self, index: u64) -> Span {
        Span::new(self.span.offset + index * SIZE, SIZE)
    }

    fn bytes(&self, index: u64) -> Option<[u8; 8]> {
        let mut bytes = [0; 8];
        let offset = self.span(index).offset;
        self.source.read_into(offset, &mut bytes).ok()?;
        Some(bytes)
    }

    /// Entry `index`.
    pub fn entry(&self, index: u64) -> Option<Entry> {
        if index >= self.len() {
            return None;
        }
        let bytes = self.bytes(index)?;
        let field = |lsb, width| bits(&bytes, lsb, width).unwrap_or(0);
        let length = field(42, if self.is_old() { 22 } else { 21 });
        Some(Entry {
            offset: self.span(index).offset,
            address: match length {
                0 if !self.is_old() => field(0, 32),
                _ => field(0, 40) & !3 | self.base(index),
            },
            length: length as u32,
            words: [field(0, 32) as u32, field(32, 32) as u32],
        })
    }

    /// Whether its channels are those before Fermi, which have no control entries.
    fn is_old(&self) -> bool {
        matches!(self.host, 0x506f | 0x826f | 0x866f)
    }

    fn layout(&self, entry: Entry) -> &'static Layout {
        match self.host {
            _ if self.is_old() => &tables::GP_ENTRY_OLD,
            _ if entry.length == 0 => &tables::GP_CONTROL,
            // Hosts up to Volta's say who may read a pushbuffer.
            host if host < 0xc46f => &tables::GP_ENTRY_PRIV,
            _ => &tables::GP_ENTRY,
        }
    }

    /// Entry `index` as a record.
    pub fn record(&self, index: u64) -> Option<Record> {
        let entry = self.entry(index)?;
        let bytes = self.bytes(index)?;
        let name = format!("GPFIFO entry {index}");
        let mut record = self.layout(entry).read(name, &bytes, entry.offset);
        if entry.opcode() != Some(EXTENDED_BASE) || self.host < EXTENDING {
            let fields = &mut record.fields;
            fields.retain(|field| field.name != "PB_EXTENDED_BASE_OPERAND");
        }
        record.explain("GET", format!("0x{:x}", entry.address), None);
        if entry.length > 0 {
            record.explain("LENGTH", format!("{} words", entry.length), None);
        }
        Some(record)
    }

    /// What the entry does beside naming a pushbuffer, in the words of its fields.
    pub fn meaning(&self, index: u64) -> Option<String> {
        let record = self.record(index)?;
        let fields = record.fields.iter().filter(|field| {
            field.alternative_of.is_none() && matches!(field.kind, "enum" | "flag")
        });
        let words = fields.map(|field| match &field.meaning {
            // What a name says stands in brackets behind it.
            Some(meaning) => {
                let name = meaning.split(" (").next().unwrap_or_default();
                format!("{} {name}", field.name)
            }
            None => format!("{} {}", field.name, field.value_text()),
        });
        Some(words.collect::<Vec<_>>().join(", "))
    }

    /// The record that holds the byte at `offset`.
    pub fn record_at(&self, offset: u64) -> Option<Record> {
        self.record(offset.checked_sub(self.span.offset)? / SIZE)
    }
}

impl Entry {
    /// What a control entry does; `None` of one that names a pushbuffer.
    fn opcode(&self) -> Option<u32> {
        (self.length == 0).then_some(self.words[1] & 0xff)
    }

    /// The entry as two words of 32 bits.
    pub fn words(&self) -> [u32; 2] {
        self.words
    }
}
