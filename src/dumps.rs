//! What dumps hold as [`Table`]s: methods, launch descriptors, launches, GPFIFO entries, packets.

use crate::decode::{self, Contents, Dumped, label};
use crate::nvidia::gpfifo::{self, Gpfifo};
use crate::nvidia::methods::Class;
use crate::nvidia::pushbuffer::{Op, Pushbuffer, WORD, Word};
use crate::record::{Field, Raw, Record};
use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::span::Span;

/// The tables that only dumps have.
pub const TABLES: &[&str] = &[
    "methods", "qmds", "launches", "compare", "gpfifo", "packets",
];

impl Dumped {
    /// The table called `key`; `None` where a dump of this kind has none. `compare/2-5` compares these two launch descriptors.
    pub fn table(&self, key: &str) -> Option<Box<dyn Table + '_>> {
        Some(match (key, &self.contents) {
            ("methods", Contents::Pushbuffer(pushbuffer)) => Box::new(MethodList(pushbuffer)),
            ("launches", Contents::Pushbuffer(pushbuffer)) => Box::new(SentList {
                dumped: self,
                pushbuffer,
            }),
            ("gpfifo", Contents::Gpfifo(gpfifo)) => Box::new(GpfifoList(gpfifo)),
            ("packets", &Contents::Packets(count)) => Box::new(PacketList {
                dumped: self,
                count,
            }),
            ("qmds", _) if !self.descriptors.is_empty() => Box::new(DescriptorList(self)),
            (key, _) => {
                let (first, second) = match key.strip_prefix("compare")? {
                    "" => (0, 1),
                    pair => {
                        let (first, second) = pair.strip_prefix('/')?.split_once('-')?;
                        (first.parse().ok()?, second.parse().ok()?)
                    }
                };
                let count = self.descriptors.len();
                if first >= count || second >= count {
                    return None;
                }
                Box::new(Comparison::new(
                    self.record_of(first),
                    self.record_of(second),
                ))
            }
        })
    }
}

/// The words of a pushbuffer: what each of them sets.
struct MethodList<'a>(&'a Pushbuffer);

impl MethodList<'_> {
    fn cell_of(&self, word: &Word, key: &str) -> Cell<'static> {
        let sets = word.value.is_some() || word.burst.op == Op::Increment;
        match key {
            "offset" => word.offset.into(),
            "burst" => word.burst.number.into(),
            "kind" => word.burst.op.word().into(),
            "count" => word.burst.count.into(),
            "subchannel" => sets.then_some(u32::from(word.burst.subchannel)).into(),
            "class" => {
                let number = self.0.class_number(word);
                number.map(label).into()
            }
            "class_name" => self.0.class(word).map(|class| class.name).into(),
            "address" => sets.then_some(word.address).into(),
            "name" => {
                let method = self.0.method(word).filter(|_| sets);
                method.map(|(method, index)| method.label(index)).into()
            }
            "value" => word.value.into(),
            "meaning" => self.0.meaning(word).into(),
            "header" => word.burst.header.into(),
            "header_offset" => word.burst.offset.into(),
            _ => Cell::None,
        }
    }
}

impl Table for MethodList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("offset", "Offset", Unit::Hex),
            column("burst", "Burst", Unit::Number),
            column("subchannel", "Subchannel", Unit::Number),
            column("class", "Class", Unit::Word),
            hidden("class_name", "Class name", Unit::Word),
            column("address", "Method", Unit::Hex),
            column("name", "Name", Unit::Word),
            column("value", "Value", Unit::Hex),
            column("meaning", "Meaning", Unit::Word),
            column("kind", "Burst is", Unit::Word),
            column("count", "Words", Unit::Number),
            hidden("header", "Header", Unit::Hex),
            hidden("header_offset", "Header at", Unit::Hex),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.0.rows()
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        match self.0.row(row) {
            Some(word) => self.cell_of(&word, key),
            None => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        let word = self.0.row(row)?;
        Some(match word.burst.present {
            0 => word.burst.span(),
            _ => Span::new(word.offset, WORD),
        })
    }

    fn target(&self, row: u64) -> Option<Span> {
        Some(self.0.row(row)?.burst.span())
    }
}

/// The launch descriptors of a dump.
struct DescriptorList<'a>(&'a Dumped);

impl Table for DescriptorList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("index", "#", Unit::Number),
            column("offset", "Offset", Unit::Hex),
            column("size", "Size", Unit::Size),
            column("version", "Version", Unit::Word),
            column("grid", "Grid", Unit::Word),
            column("block", "Block", Unit::Word),
            column("address", "Written to", Unit::Hex),
            column("from", "Found in", Unit::Word),
            hidden("pieces", "Pieces", Unit::Number),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.0.descriptors.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(found) = self.0.descriptors.get(row as usize) else {
            return Cell::None;
        };
        match key {
            "index" => row.into(),
            "offset" => found.runs.first().map(|run| run.offset).into(),
            "size" => found.runs.iter().map(|run| run.size).sum::<u64>().into(),
            "version" => found.version.key.into(),
            "grid" => decode::grid(&self.0.record_of(row as usize)).into(),
            "block" => decode::block(&self.0.record_of(row as usize)).into(),
            "address" => found.address.into(),
            "from" => found.from.into(),
            "pieces" => (found.runs.len() as u64).into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.0.descriptors.get(row as usize)?.runs.first().copied()
    }
}

/// The launches of a pushbuffer.
struct SentList<'a> {
    dumped: &'a Dumped,
    pushbuffer: &'a Pushbuffer,
}

impl Table for SentList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("offset", "Offset", Unit::Hex),
            column("subchannel", "Subchannel", Unit::Number),
            column("class", "Class", Unit::Word),
            column("name", "Launched by", Unit::Word),
            column("action", "Action", Unit::Word),
            column("address", "Descriptor at", Unit::Hex),
            column("descriptor", "Descriptor", Unit::Number),
            column("grid", "Grid", Unit::Word),
            column("block", "Block", Unit::Word),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.pushbuffer.sent.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(sent) = self.pushbuffer.sent.get(row as usize) else {
            return Cell::None;
        };
        let method = || Class::get(sent.class)?.method(sent.method);
        let descriptor = || self.dumped.descriptor_of(sent.address?, sent.offset);
        let record = || Some(self.dumped.record_of(descriptor()?));
        match key {
            "offset" => sent.offset.into(),
            "subchannel" => u32::from(sent.subchannel).into(),
            "class" => label(sent.class).into(),
            "name" => method().map(|(method, _)| method.name).into(),
            "action" if sent.is_inline => "written with its descriptor".into(),
            "action" => {
                let said = method().map(|(method, _)| {
                    let fields = method.fields().map(|field| {
                        let value = field.get(sent.value);
                        match field.name(value) {
                            name if !name.is_empty() => format!("{} {name}", field.name),
                            _ => format!("{} {value}", field.name),
                        }
                    });
                    fields.collect::<Vec<_>>().join(", ")
                });
                said.into()
            }
            "address" => sent.address.into(),
            "descriptor" => descriptor().map(|index| index as u64).into(),
            "grid" => record().and_then(|record| decode::grid(&record)).into(),
            "block" => record().and_then(|record| decode::block(&record)).into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        let sent = self.pushbuffer.sent.get(row as usize)?;
        Some(Span::new(sent.offset, WORD))
    }

    fn target(&self, row: u64) -> Option<Span> {
        let sent = self.pushbuffer.sent.get(row as usize)?;
        let index = self.dumped.descriptor_of(sent.address?, sent.offset)?;
        self.dumped.descriptors.get(index)?.runs.first().copied()
    }
}

/// The entries of a GPFIFO.
struct GpfifoList<'a>(&'a Gpfifo);

impl Table for GpfifoList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("index", "#", Unit::Number),
            column("offset", "Offset", Unit::Hex),
            column("address", "Address or operand", Unit::Hex),
            column("length", "Words", Unit::Number),
            column("meaning", "Meaning", Unit::Word),
            hidden("entry0", "First word", Unit::Hex),
            hidden("entry1", "Second word", Unit::Hex),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.0.len()
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(entry) = self.0.entry(row) else {
            return Cell::None;
        };
        match key {
            "index" => row.into(),
            "offset" => entry.offset.into(),
            "address" => entry.address.into(),
            "length" => entry.length.into(),
            "meaning" => self.0.meaning(row).into(),
            "entry0" => entry.words()[0].into(),
            "entry1" => entry.words()[1].into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        (row < self.0.len()).then(|| Span::new(self.0.span(row).offset, gpfifo::SIZE))
    }
}

/// The packets of a queue.
struct PacketList<'a> {
    dumped: &'a Dumped,
    count: u64,
}

impl Table for PacketList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("index", "#", Unit::Number),
            column("offset", "Offset", Unit::Hex),
            column("type", "Type", Unit::Word),
            column("grid", "Grid", Unit::Word),
            column("workgroup", "Workgroup", Unit::Word),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.count
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(record) = self.dumped.packet(row) else {
            return Cell::None;
        };
        let sizes = |prefix: &str| {
            let of = |axis| format!("{prefix}_{axis}");
            record.field(&of("x"))?;
            Some(crate::launch::shown(
                ["x", "y", "z"].map(|axis| record.number(&of(axis))),
            ))
        };
        match key {
            "index" => row.into(),
            "offset" => record.span.offset.into(),
            "type" => record
                .field("type")
                .and_then(|field| field.meaning.clone())
                .into(),
            "grid" => sizes("grid_size").into(),
            "workgroup" => sizes("workgroup_size").into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        Some(self.dumped.packet(row)?.span)
    }
}

/// Two launch descriptors, field by field: those of the first one, then those that only the second one has.
struct Comparison {
    first: Record,
    second: Record,
    /// Of each row the fields by their index.
    rows: Vec<(Option<usize>, Option<usize>)>,
}

impl Comparison {
    fn new(first: Record, second: Record) -> Self {
        let named = |record: &Record, name: &str| {
            let mut fields = record.fields.iter();
            fields.position(|field| field.name == name)
        };
        // Bits that no field has are the same bits in one version only.
        let is_one_version = first.layout == second.layout;
        let is_field = |field: &Field| is_one_version || !field.name.starts_with("gap ");
        let of = |record: &Record| {
            let fields = record.fields.iter().enumerate();
            let fields = fields.filter(|(_, field)| is_field(field));
            fields
                .map(|(index, field)| (index, field.name.clone()))
                .collect()
        };
        let (of_first, of_second): (Vec<_>, Vec<_>) = (of(&first), of(&second));
        let mut rows: Vec<_> = of_first
            .iter()
            .map(|(index, name)| (Some(*index), named(&second, name)))
            .collect();
        for (index, name) in &of_second {
            if named(&first, name).is_none() {
                rows.push((None, Some(*index)));
            }
        }
        Self {
            first,
            second,
            rows,
        }
    }

    fn fields(&self, row: u64) -> Option<(Option<&Field>, Option<&Field>)> {
        let &(first, second) = self.rows.get(row as usize)?;
        Some((
            first.and_then(|index| self.first.fields.get(index)),
            second.and_then(|index| self.second.fields.get(index)),
        ))
    }
}

/// A value as people read it: what it means stands behind it.
fn said(field: &Field) -> String {
    match &field.meaning {
        Some(meaning) => format!("{} {meaning}", field.value_text()),
        None => field.value_text(),
    }
}

impl Table for Comparison {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("field", "Field", Unit::Word),
            column("bits", "Bits", Unit::Word),
            hidden("second_bits", "Bits in the second", Unit::Word),
            column("first", "First", Unit::Word),
            column("second", "Second", Unit::Word),
            column("differs", "Differs", Unit::Word),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some((first, second)) = self.fields(row) else {
            return Cell::None;
        };
        let bits = |field: Option<&Field>| {
            field.map(|field| {
                let [msb, lsb] = field.bits;
                format!("{msb}:{lsb}")
            })
        };
        match key {
            "field" => first.or(second).map(|field| field.name.as_str()).into(),
            "bits" => bits(first).into(),
            "second_bits" => bits(second).into(),
            "first" => first.map(said).into(),
            "second" => second.map(said).into(),
            "differs" => match (first, second) {
                (Some(first), Some(second)) => first.value != second.value,
                // What one version does not have at all is as if it were 0.
                (one, other) => one.or(other).is_some_and(|field| !is_zero(field)),
            }
            .into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        place(&self.first, self.fields(row)?.0?)
    }

    fn target(&self, row: u64) -> Option<Span> {
        place(&self.second, self.fields(row)?.1?)
    }
}

fn is_zero(field: &Field) -> bool {
    match &field.raw {
        Raw::Int(raw) => *raw == 0,
        Raw::Bytes(bytes) => bytes.iter().all(|&byte| byte == 0),
        Raw::None => true,
    }
}

/// The bytes of a field of a record that the dump has.
fn place(record: &Record, field: &Field) -> Option<Span> {
    let [msb, lsb] = field.bits;
    let first = u64::from(lsb / 8);
    record
        .is_stored
        .then(|| Span::new(record.span.offset + first, u64::from(msb / 8) + 1 - first))
}
