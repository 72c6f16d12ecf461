//! Attributes with their values: what the entries of `.nv.info` say, as values and as records.

use serde::{Serialize, Serializer};

use super::info::{EIFMT_BVAL, EIFMT_HVAL, EIFMT_SVAL, Entries, Entry};
use super::{tables, toolkit};
use crate::elf::{Elf, Section, SymbolTable, Symbols};
use crate::error::Result;
use crate::record::{self, Field, Kind, Layout, Names, Record};
use crate::source::Source;
use crate::span::Span;

/// An attribute of a function.
#[derive(Clone, Debug, Serialize)]
pub struct Attribute {
    /// Its number.
    pub id: u8,
    /// Its name (`EIATTR_REGCOUNT`), or its number where none is known.
    pub name: String,
    /// Where its value is: `NVAL` (none), `BVAL` (a byte), `HVAL` (a halfword) or `SVAL` (bytes behind it);
    /// `ERROR` for other formats.
    pub format: &'static str,
    /// Offset of its entry in the file.
    #[serde(serialize_with = "crate::int::serialize")]
    pub offset: u64,
    /// Bytes of its entry.
    pub size: u32,
    /// Its value.
    pub value: Value,
    /// Its value in words; empty where it has none.
    pub text: String,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The attribute being there says all.
    Nothing,
    /// A number.
    Number(u64),
    /// Bytes whose meaning is not known, in hexadecimal digits.
    Bytes(String),
    /// Characters.
    Text(String),
    /// Values in order.
    List(Vec<Value>),
    /// Values with names, in order.
    Fields(Vec<(String, Value)>),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => serializer.serialize_none(),
            Self::Number(value) => crate::int::serialize(value, serializer),
            Self::Bytes(text) | Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => serializer.collect_seq(values),
            Self::Fields(fields) => {
                serializer.collect_map(fields.iter().map(|(name, value)| (name, value)))
            }
        }
    }
}

/// The coding of a section's entries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    /// `.nv.info`.
    Info,
    /// `.nv.compat`.
    Compat,
}

impl Coding {
    fn names(self) -> &'static Names {
        match self {
            Self::Info => &tables::ATTRIBUTE,
            Self::Compat => &tables::COMPAT_ATTRIBUTE,
        }
    }

    fn head(self) -> &'static Layout {
        match self {
            Self::Info => &tables::ATTRIBUTE_HEADER,
            Self::Compat => &tables::COMPAT_ATTRIBUTE_HEADER,
        }
    }
}

/// What stands behind an entry's head.
enum Shape {
    /// One structure.
    One(&'static Layout),
    /// Structures of one layout, as many as fit.
    Many(&'static Layout),
    /// One word of that name.
    Word(&'static str, Kind),
    /// Words of that name, as many as fit.
    Words(&'static str, Kind),
    /// Indirect branches, each with words for its targets.
    Branches,
    /// Annotations, some with a text.
    Annotations,
    /// A word for the kind of instruction, and words for the places.
    Instructions,
}

/// The shape of what stands behind the head of `entry`; `None` where its attribute has no name.
fn shape(id: u8, coding: Coding) -> Option<Shape> {
    use Shape::{Annotations, Branches, Instructions, Many, One, Word, Words};
    // cuobjdump knows no more than words of most attributes.
    let plain = Words("word", Kind::Hex);
    if coding == Coding::Compat {
        return coding.names().name(id.into()).map(|_| plain);
    }
    Some(match id {
        0x05 => One(&tables::MAX_THREADS),
        0x09 => Many(&tables::SAMPLER_INIT),
        0x0a => One(&tables::PARAM_CBANK),
        0x0f => Words("extern", Kind::Symbol),
        0x10 => One(&tables::REQNTID),
        0x11 => One(&tables::FRAME_SIZE),
        0x12 => One(&tables::MIN_STACK_SIZE),
        0x17 => One(&tables::KPARAM_INFO),
        0x1a => One(&tables::QUERY_NUMATTRIB),
        0x1c | 0x1d | 0x25 | 0x27 | 0x28 | 0x2d | 0x31 | 0x46 | 0x47 | 0x57 | 0x59 | 0x65 => {
            Words("offset", Kind::Offset)
        }
        0x1e => Word("size", Kind::Size),
        0x23 => One(&tables::MAX_STACK_SIZE),
        0x26 => One(&tables::LOAD_CACHE_REQUEST),
        0x29 => Words("register", Kind::Hex),
        0x2e => Many(&tables::ATOM16_EMULATION),
        0x2f => One(&tables::REGCOUNT),
        0x32 => One(&tables::SHARED_SCRATCH),
        0x33 => One(&tables::STATISTICS),
        0x34 => Branches,
        0x36 => Word("mask", Kind::Hex),
        0x37 => Word("version", Kind::Unsigned),
        0x39 => Many(&tables::MBARRIER_INSTRUCTION),
        0x3a => Many(&tables::COROUTINE_RESUME),
        0x3b => One(&tables::SAM_REGION_STACK_SIZE),
        0x3c => Many(&tables::PER_REG_TARGET_PERF_STATS),
        0x3d => One(&tables::CTA_PER_CLUSTER),
        0x3f => Word("rank", Kind::Count),
        0x45 => One(&tables::KPARAM_INFO_V2),
        0x4f => Words("fragment", Kind::Enum(&tables::ENTRY_FRAGMENT)),
        0x55 => Annotations,
        0x5d => Many(&tables::SYSCALLS_FALLBACK),
        0x66 => Words("language", Kind::Enum(&tables::LANGUAGE)),
        0x6c => Instructions,
        _ => return coding.names().name(id.into()).map(|_| plain),
    })
}

/// Whether the attribute's fields of kind `offset` are places in the function's code.
fn is_of_code(id: u8) -> bool {
    matches!(
        id,
        0x1c | 0x1d
            | 0x25
            | 0x27
            | 0x28
            | 0x2d
            | 0x2e
            | 0x31
            | 0x34
            | 0x39
            | 0x3a
            | 0x46
            | 0x47
            | 0x55
            | 0x57
            | 0x59
            | 0x65
            | 0x6c
    )
}

/// How a value in the head is understood.
fn head_kind(id: u8) -> Kind {
    match id {
        0x49 => Kind::Enum(&tables::SHADER_TYPE),
        0x50 => Kind::Flags(&tables::SPARSE_MMA),
        0x58 => Kind::Enum(&tables::STUB_FUNCTION_KIND),
        0x5f => Kind::Hex,
        _ => Kind::Unsigned,
    }
}

/// A part of what stands behind an entry's head.
struct Part {
    /// Byte of the entry at which it begins.
    at: u32,
    what: What,
    /// Which of those of its name it is.
    index: Option<u32>,
}

enum What {
    Structure(&'static Layout),
    Word(&'static str, Kind),
    /// A word that belongs to the structure before it.
    Of(&'static str, Kind),
    /// A text of so many bytes that belongs to the structure before it.
    Text(u32),
}

/// Bytes of an entry's head.
const HEAD: u32 = 4;

fn parts(shape: &Shape, bytes: &[u8]) -> Vec<Part> {
    let size = bytes.len() as u32;
    let each = |step: u32, what: &dyn Fn() -> What, from: u32, to: u32, is_of_many: bool| {
        let count = to.saturating_sub(from) / step.max(1);
        let parts = (0..count).map(|i| Part {
            at: from + i * step,
            what: what(),
            index: is_of_many.then_some(i),
        });
        parts.collect::<Vec<_>>()
    };
    match *shape {
        Shape::One(layout) => vec![Part {
            at: HEAD,
            what: What::Structure(layout),
            index: None,
        }],
        Shape::Many(layout) => each(layout.bytes, &|| What::Structure(layout), HEAD, size, true),
        Shape::Word(name, kind) => each(4, &|| What::Word(name, kind), HEAD, 8.min(size), false),
        Shape::Words(name, kind) => each(4, &|| What::Word(name, kind), HEAD, size, true),
        Shape::Branches => {
            let layout = &tables::INDIRECT_BRANCH;
            let mut parts = Vec::new();
            let mut at = HEAD;
            let mut index = 0;
            while at + layout.bytes <= size {
                let count = record::bits(bytes, (at + 8) * 8, 32).unwrap_or(0);
                parts.push(Part {
                    at,
                    what: What::Structure(layout),
                    index: Some(index),
                });
                at += layout.bytes;
                let there = count.min(u64::from((size - at) / 4)) as u32;
                let end = at + there * 4;
                let target = || What::Of("target", Kind::Offset);
                parts.extend(each(4, &target, at, end, true));
                at = end;
                index += 1;
            }
            parts
        }
        Shape::Annotations => {
            let mut parts = Vec::new();
            let mut at = HEAD;
            let mut index = 0;
            loop {
                let (layout, has_text) = match record::bits(bytes, at * 8, 32) {
                    Some(2) => (&tables::INSTRUCTION_ANNOTATION, true),
                    Some(3) => (&tables::FUNCTION_ANNOTATION, true),
                    _ => (&tables::ANNOTATION, false),
                };
                let end = at + layout.bytes;
                if end > size {
                    break parts;
                }
                parts.push(Part {
                    at,
                    what: What::Structure(layout),
                    index: Some(index),
                });
                at = end;
                if has_text {
                    // The last word of what stands before a text is its size.
                    let text = record::bits(bytes, (at - 4) * 8, 32).unwrap_or(0);
                    let text = text.min((size - at).into()) as u32;
                    parts.push(Part {
                        at,
                        what: What::Text(text),
                        index: Some(index),
                    });
                    at = (at + text).next_multiple_of(4);
                }
                index += 1;
            }
        }
        Shape::Instructions => {
            let kind = || What::Word("kind", Kind::Enum(&tables::INSTRUCTION_KIND));
            let mut parts = each(4, &kind, HEAD, 8.min(size), false);
            let place = || What::Word("offset", Kind::Offset);
            parts.extend(each(4, &place, 8, size, true));
            parts
        }
    }
}

/// What an attribute's fields refer to.
pub(super) struct Context<'a> {
    elf: &'a Elf,
    symbols: Option<(&'a SymbolTable, Symbols<'a>)>,
    code: Span,
}

impl<'a> Context<'a> {
    /// For the attributes of `section`, of a function whose code in the file is `code`.
    pub(super) fn new(elf: &'a Elf, section: &Section, code: Span) -> Self {
        let table = elf.symbol_table_in(section.symbols);
        let symbols = table.and_then(|table| {
            let symbols = elf.symbols(table).ok()?;
            Some((table, symbols))
        });
        Self { elf, symbols, code }
    }

    /// Says what a field refers to: a symbol, or a place in the code.
    pub(super) fn explain(&self, field: &mut Field, is_of_code: bool) {
        let record::Raw::Int(raw) = field.raw else {
            return;
        };
        match (field.kind, &self.symbols) {
            ("symbol", Some((table, symbols))) if raw < symbols.len() => {
                let symbol = symbols.get(raw);
                let name = symbol.map(|symbol| match symbols.name(&symbol) {
                    name if name.is_empty() => self.elf.section_label(symbol.section).into_owned(),
                    name => name,
                });
                field.meaning = name.filter(|_| raw != 0);
                field.target = Some(table.table.entry(raw));
            }
            ("offset", _) if is_of_code && raw < self.code.size => {
                field.target = Some(Span::new(self.code.offset + raw, 1));
            }
            _ => {}
        }
    }
}

/// The bytes of `entry`.
fn bytes(source: &Source, entry: &Entry) -> Result<Vec<u8>> {
    source.read(entry.span())
}

fn name(entry: &Entry, coding: Coding) -> String {
    match coding.names().name(entry.id.into()) {
        Some(name) => name.into(),
        None => format!("0x{:x}", entry.id),
    }
}

/// The record of `entry`.
pub(super) fn record(context: &Context<'_>, entry: &Entry, coding: Coding) -> Result<Record> {
    let bytes = bytes(context.elf.source(), entry)?;
    let mut record = coding
        .head()
        .read(name(entry, coding), &bytes, entry.offset);
    record.span = entry.span();
    // Of the readings of the halfword, the one of the entry's format.
    let reading = match entry.format {
        EIFMT_BVAL => "byte",
        EIFMT_SVAL => "size",
        _ => "value",
    };
    record
        .fields
        .retain(|field| field.alternative_of.is_none() || field.name == reading);
    if entry.format == EIFMT_SVAL {
        // The halfword is nothing but the size then.
        record.fields.retain(|field| field.name != "value");
        record
            .fields
            .iter_mut()
            .for_each(|field| field.alternative_of = None);
    }
    if entry.format == EIFMT_SVAL {
        append(&mut record, context, entry, &bytes, coding);
    } else if coding == Coding::Info {
        let meaning = in_head(entry, &bytes).and_then(|field| field.meaning);
        record.explain(reading, meaning.unwrap_or_default(), None);
    } else if let (EIFMT_HVAL, Some(layout)) = (entry.format, version(entry.id)) {
        record.append_alternatives(layout, &bytes, "value");
        let parts = layout
            .fields()
            .iter()
            .map(|field| record.number(&field.name));
        let parts: Vec<String> = parts.map(|part| part.to_string()).collect();
        let meaning = match entry.value {
            u16::MAX if entry.id != DRIVER_VERSION => "UNKNOWN".into(),
            _ => parts.join("."),
        };
        record.explain("value", meaning, None);
    }
    Ok(record)
}

/// The attribute of `.nv.compat` that has the driver's version.
const DRIVER_VERSION: u8 = 10;

/// How the version in the halfword of an attribute of `.nv.compat` is coded; `None` where it is none.
fn version(id: u8) -> Option<&'static Layout> {
    match id {
        DRIVER_VERSION => Some(&tables::DRIVER_VERSION),
        14 | 15 => Some(&tables::FINALIZER_VERSION),
        _ => None,
    }
}

/// Appends what stands behind the head of `entry`.
fn append(record: &mut Record, context: &Context<'_>, entry: &Entry, bytes: &[u8], coding: Coding) {
    let parts = shape(entry.id, coding).map_or(Vec::new(), |shape| parts(&shape, bytes));
    let mut end = HEAD;
    for part in parts {
        let first = record.fields.len();
        match part.what {
            What::Structure(layout) => {
                record.append(layout, bytes, part.at);
                end = part.at + layout.bytes;
            }
            What::Word(name, kind) | What::Of(name, kind) => {
                record.append_bytes(name, bytes, part.at, 4, kind);
                end = part.at + 4;
            }
            What::Text(size) => {
                record.append_bytes("text", bytes, part.at, size, Kind::Text);
                let filled = (part.at + size).next_multiple_of(4).min(bytes.len() as u32);
                end = filled;
                let at = part.at + size;
                record.append_bytes("filling", bytes, at, filled - at, Kind::Reserved);
            }
        }
        for field in &mut record.fields[first..] {
            if let Some(index) = part.index {
                field.name = format!("{}({index})", field.name);
            }
            context.explain(field, coding == Coding::Info && is_of_code(entry.id));
            if (coding, entry.id) == (Coding::Info, 0x37)
                && let record::Raw::Int(version) = field.raw
            {
                field.meaning = Some(format!("CUDA {}", toolkit(version as u32)));
            }
        }
    }
    let rest = (bytes.len() as u32).saturating_sub(end);
    record.append_bytes("bytes", bytes, end, rest, Kind::Bytes);
}

/// The value in the head of `entry`, as a field; `None` where its format has none there.
fn in_head(entry: &Entry, bytes: &[u8]) -> Option<Field> {
    let size = match entry.format {
        EIFMT_BVAL => 1,
        EIFMT_HVAL => 2,
        _ => return None,
    };
    let mut record = Record::new("", entry.span(), None);
    record.append_bytes("value", bytes, 2, size, head_kind(entry.id));
    record.fields.pop()
}

fn value(entry: &Entry, bytes: &[u8]) -> Value {
    if entry.format != EIFMT_SVAL {
        return match in_head(entry, bytes).map(|field| field.raw) {
            Some(record::Raw::Int(raw)) => Value::Number(raw),
            _ => Value::Nothing,
        };
    }
    let unknown = || Value::Bytes(record::hex(&bytes[(HEAD as usize).min(bytes.len())..]));
    let Some(shape) = shape(entry.id, Coding::Info) else {
        return unknown();
    };
    let number = |at: u32| record::bits(bytes, at * 8, 32).unwrap_or(0);
    let mut values = Vec::new();
    for part in parts(&shape, bytes) {
        match part.what {
            What::Structure(layout) => {
                let start = (part.at as usize).min(bytes.len());
                let fields = layout.read("", &bytes[start..], 0).fields;
                let fields = fields.into_iter().filter_map(|field| match field.raw {
                    record::Raw::Int(raw) => Some((field.name, Value::Number(raw))),
                    record::Raw::Bytes(_) | record::Raw::None => None,
                });
                values.push(Value::Fields(fields.collect()));
            }
            What::Word(..) => values.push(Value::Number(number(part.at))),
            What::Of(name, _) => {
                let Some(Value::Fields(fields)) = values.last_mut() else {
                    continue;
                };
                match fields.last_mut() {
                    Some((_, Value::List(words))) => words.push(Value::Number(number(part.at))),
                    _ => fields.push((
                        format!("{name}s"),
                        Value::List(vec![Value::Number(number(part.at))]),
                    )),
                }
            }
            What::Text(size) => {
                if let Some(Value::Fields(fields)) = values.last_mut() {
                    let text = &bytes[part.at as usize..(part.at + size) as usize];
                    fields.push(("text".into(), Value::Text(record::text(text))));
                }
            }
        }
    }
    match shape {
        Shape::One(_) | Shape::Word(..) => values.pop().unwrap_or_else(unknown),
        _ => Value::List(values),
    }
}

/// Fields that are put in words, at most.
const TEXT_LIMIT: usize = 24;

/// The value of `entry` in words.
fn text(context: &Context<'_>, entry: &Entry, bytes: &[u8]) -> String {
    let mut record = Record::new("", entry.span(), None);
    if entry.format == EIFMT_SVAL {
        append(&mut record, context, entry, bytes, Coding::Info);
    } else {
        record.fields.extend(in_head(entry, bytes));
    }
    // Fields of words in a row go without their names.
    let is_plain = !matches!(
        shape(entry.id, Coding::Info),
        Some(Shape::One(_) | Shape::Many(_) | Shape::Branches | Shape::Annotations)
    );
    let fields = record
        .fields
        .iter()
        .filter(|field| field.kind != "reserved");
    let count = fields.clone().count();
    let mut words: Vec<String> = fields
        .take(TEXT_LIMIT)
        .map(|field| {
            let value = match &field.meaning {
                Some(meaning) => meaning.clone(),
                None => field.value_text(),
            };
            if is_plain {
                value
            } else {
                format!("{} {value}", field.name)
            }
        })
        .collect();
    if count > TEXT_LIMIT {
        words.push(format!("and {} more", count - TEXT_LIMIT));
    }
    words.join(", ")
}

/// The attributes of a function, read one by one. Entries behind one that runs past its section's end are left
/// out: reading the file has found that.
pub struct Attributes<'a> {
    entries: Vec<(u32, Entry)>,
    /// Of each section, by its place in the list of them.
    contexts: Vec<Context<'a>>,
}

impl<'a> Attributes<'a> {
    /// Those of `sections`, of a function whose code in the file is `code`.
    pub(super) fn new(elf: &'a Elf, sections: &[u32], code: Span) -> Self {
        let mut entries = Vec::new();
        let mut contexts = Vec::new();
        for section in sections.iter().filter_map(|&index| elf.section(index)) {
            let number = contexts.len() as u32;
            contexts.push(Context::new(elf, section, code));
            let all = Entries::new(elf.source(), elf.stored(section));
            entries.extend(all.map_while(Result::ok).map(|entry| (number, entry)));
        }
        Self { entries, contexts }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry of that index, as stored.
    pub fn entry(&self, index: usize) -> Option<&Entry> {
        self.entries.get(index).map(|(_, entry)| entry)
    }

    /// The attribute of that index; `None` where its bytes cannot be read.
    pub fn get(&self, index: usize) -> Option<Attribute> {
        let (context, entry) = self.entries.get(index)?;
        let context = &self.contexts[*context as usize];
        let bytes = bytes(context.elf.source(), entry).ok()?;
        Some(Attribute {
            id: entry.id,
            name: name(entry, Coding::Info),
            format: entry.format_name(),
            offset: entry.offset,
            size: entry.span().size as u32,
            value: value(entry, &bytes),
            text: text(context, entry, &bytes),
        })
    }

    /// All of them, in file order.
    pub fn iter(&self) -> impl Iterator<Item = Attribute> + '_ {
        (0..self.len()).map_while(|index| self.get(index))
    }
}

impl Serialize for Attributes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
