//! GPFIFO entries: where the pushbuffers are that a channel is to read, 8 bytes each.

use super::tables;
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::record::{Layout, Record, bits};
use crate::source::Source;
use crate::span::Span;

/// Bytes of an entry.
pub const SIZE: u64 = 8;

/// Entries of a GPFIFO.
pub struct Gpfifo {
    source: Source,
    span: Span,
    host: u16,
}

/// What an entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it is.
    pub offset: u64,
    /// The address of its pushbuffer, without what an entry before it may have said of the upper bits; of a control entry its operand.
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
        Self {
            source: source.clone(),
            span: Span::new(span.offset, size),
            host,
        }
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
                _ => field(0, 40) & !3,
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
    /// The entry as two words of 32 bits.
    pub fn words(&self) -> [u32; 2] {
        self.words
    }
}
