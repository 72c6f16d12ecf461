//! Records: every fixed structure of every format, read by one decoder.
//!
//! A [`Layout`] is data (see `tables/`): where each field's bits are and how they are to be
//! understood. [`Layout::read`] makes a [`Record`] of it, whose [`Field`]s carry their bits, raw
//! value, decoded value and meaning. Readers add what only they know (the string behind an offset,
//! the name behind a section index) with [`Record::explain`].

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::OnceLock;

use serde::{Serialize, Serializer};

use crate::int;
use crate::order;
use crate::span::Span;

/// Names of an enumeration's values, or of a set of flags. Tables of a thousand entries are smallest as
/// text, which is taken apart when the first name is asked for.
#[derive(Debug)]
pub struct Names {
    text: &'static str,
    entries: OnceLock<Vec<Named>>,
}

/// A value that has a name.
#[derive(Debug)]
pub struct Named {
    /// The value; for flags the bit or bits.
    pub value: u64,
    /// The name as the format spells it.
    pub name: &'static str,
    /// What it says, in a few words, or nothing.
    pub note: &'static str,
}

impl Names {
    /// Names from a line an entry, sorted by value: value in hexadecimal, name, note; a tab between.
    pub const fn packed(text: &'static str) -> Self {
        Self {
            text,
            entries: OnceLock::new(),
        }
    }

    /// The values that have a name, in increasing order.
    pub fn entries(&self) -> &[Named] {
        self.entries.get_or_init(|| {
            let lines = self.text.lines().map(|line| {
                let [value, name, note] = parts(line);
                let value = u64::from_str_radix(value, 16).unwrap_or(0);
                Named { value, name, note }
            });
            lines.collect()
        })
    }

    /// The entry of `value`.
    pub fn get(&self, value: u64) -> Option<&Named> {
        let entries = self.entries();
        let at = entries.partition_point(|entry| entry.value < value);
        entries.get(at).filter(|entry| entry.value == value)
    }

    /// The name of `value`.
    pub fn name(&self, value: u64) -> Option<&'static str> {
        self.get(value).map(|entry| entry.name)
    }

    /// The names of the flags set in `value`, and the bits that have none.
    pub fn flags(&self, value: u64) -> (Vec<&'static str>, u64) {
        let mut rest = value;
        let mut names = Vec::new();
        for entry in self.entries() {
            if entry.value != 0 && value & entry.value == entry.value {
                names.push(entry.name);
                rest &= !entry.value;
            }
        }
        (names, rest)
    }
}

/// The layout of a structure.
#[derive(Debug)]
pub struct Layout {
    /// The structure's name as its format spells it.
    pub name: &'static str,
    /// Bytes.
    pub bytes: u32,
    /// The public source of the layout.
    pub source: &'static str,
    names: &'static [&'static Names],
    text: &'static str,
    has_gaps: bool,
    fields: OnceLock<Vec<FieldLayout>>,
}

/// The parts of a line between tabs.
fn parts<const N: usize>(line: &'static str) -> [&'static str; N] {
    let mut parts = line.split('\t');
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// The layout of a field.
#[derive(Clone, Debug)]
pub struct FieldLayout {
    /// The field's name as the format spells it; one of many has its number behind it, `NAME(0)`.
    pub name: Cow<'static, str>,
    /// Its lowest bit, counted from the lowest bit of the record's first byte.
    pub lsb: u32,
    /// Its width in bits.
    pub bits: u32,
    /// How the bits are understood.
    pub kind: Kind,
    /// Unit and meaning, in a few words.
    pub note: &'static str,
    /// The name of the field whose bits this one reinterprets; empty for a field of its own.
    pub alternative_of: Cow<'static, str>,
}

/// How a field's bits are understood. Integers are little-endian.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A plain number.
    Unsigned,
    /// A number in two's complement.
    Signed,
    /// Bits whose number means nothing by itself.
    Hex,
    /// An address in a process or in GPU memory.
    Address,
    /// An offset in the file or in a part of it.
    Offset,
    /// A number of bytes.
    Size,
    /// A number of things.
    Count,
    /// One bit, set or not.
    Flag,
    /// One of the values named.
    Enum(&'static Names),
    /// Any of the bits named.
    Flags(&'static Names),
    /// An offset in a string table.
    String,
    /// The index of a section.
    Section,
    /// The index of a symbol.
    Symbol,
    /// Bytes of no further structure.
    Bytes,
    /// Characters.
    Text,
    /// Not used, or unknown.
    Reserved,
    /// A number encoded as so many steps: (raw + add) × multiply.
    Scaled {
        /// Size of a step.
        multiply: u32,
        /// Steps that a raw 0 stands for.
        add: u32,
    },
    /// A power of two: 1 << raw.
    Log2,
    /// A floating-point number of 64 bits.
    Float,
}

/// What a flag that is not set is called, and one that is.
const FLAG: [&str; 2] = ["FALSE", "TRUE"];

impl Kind {
    fn named(text: &str, names: &[&'static Names]) -> Self {
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        let index = || rest.parse().ok().and_then(|i: usize| names.get(i).copied());
        match word {
            "unsigned" => Self::Unsigned,
            "signed" => Self::Signed,
            "address" => Self::Address,
            "offset" => Self::Offset,
            "size" => Self::Size,
            "count" => Self::Count,
            "flag" => Self::Flag,
            "enum" => index().map_or(Self::Hex, Self::Enum),
            "flags" => index().map_or(Self::Hex, Self::Flags),
            "string" => Self::String,
            "section" => Self::Section,
            "symbol" => Self::Symbol,
            "bytes" => Self::Bytes,
            "text" => Self::Text,
            "reserved" => Self::Reserved,
            "scaled" => {
                let (multiply, add) = rest.split_once(',').unwrap_or((rest, "0"));
                Self::Scaled {
                    multiply: multiply.parse().unwrap_or(1),
                    add: add.parse().unwrap_or(0),
                }
            }
            "log2" => Self::Log2,
            "float" => Self::Float,
            _ => Self::Hex,
        }
    }

    /// The value that `text` names, if one of this kind has that name.
    pub fn value_of(self, text: &str) -> Option<u64> {
        match self {
            Self::Enum(names) | Self::Flags(names) => {
                let mut entries = names.entries().iter();
                let entry = entries.find(|entry| entry.name.eq_ignore_ascii_case(text))?;
                Some(entry.value)
            }
            Self::Flag => FLAG
                .iter()
                .position(|name| name.eq_ignore_ascii_case(text))
                .map(|value| value as u64),
            _ => None,
        }
    }

    /// The names that values of this kind have.
    pub fn names(self) -> Vec<&'static str> {
        match self {
            Self::Enum(names) | Self::Flags(names) => {
                names.entries().iter().map(|entry| entry.name).collect()
            }
            Self::Flag => FLAG.to_vec(),
            _ => Vec::new(),
        }
    }

    /// The kind's word in what is handed out.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unsigned => "unsigned",
            Self::Signed => "signed",
            Self::Hex => "hex",
            Self::Address => "address",
            Self::Offset => "offset",
            Self::Size => "size",
            Self::Count => "count",
            Self::Flag => "flag",
            Self::Enum(_) => "enum",
            Self::Flags(_) => "flags",
            Self::String => "string",
            Self::Section => "section",
            Self::Symbol => "symbol",
            Self::Bytes => "bytes",
            Self::Text => "text",
            Self::Reserved => "reserved",
            Self::Scaled { .. } => "scaled",
            Self::Log2 => "log2",
            Self::Float => "float",
        }
    }

    fn is_hex(self) -> bool {
        matches!(
            self,
            Self::Hex
                | Self::Address
                | Self::Offset
                | Self::Flags(_)
                | Self::Reserved
                | Self::Bytes
                | Self::Float
        )
    }
}

/// A field's bits as they are in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Raw {
    /// Up to 64 bits.
    Int(u64),
    /// A field of more than 64 bits, its lowest eight first.
    Bytes(Box<[u8]>),
    /// None: the field is of a structure that no file has.
    None,
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(value) => int::serialize(value, serializer),
            Self::Bytes(bytes) => serializer.serialize_str(&int::decimal(bytes)),
            Self::None => serializer.serialize_none(),
        }
    }
}

/// What the bits say once decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Unsigned(u64),
    /// A number in two's complement.
    Signed(i64),
    /// A single bit.
    Flag(bool),
    /// Names, characters, or bytes in hexadecimal digits.
    Text(String),
    /// Nothing: there are no bits.
    None,
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unsigned(value) => int::serialize(value, serializer),
            Self::Signed(value) => int::serialize_signed(value, serializer),
            Self::Flag(value) => serializer.serialize_bool(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::None => serializer.serialize_none(),
        }
    }
}

/// A field as read.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Field {
    /// The field's name.
    pub name: String,
    /// Its highest and its lowest bit, counted from the lowest bit of the record's first byte.
    pub bits: [u32; 2],
    /// The bits as they are in the file; `null` in a structure that no file has.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int | null"))]
    pub raw: Raw,
    /// What they say once decoded.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int | boolean | null"))]
    pub value: Value,
    /// What that means: a name, a string, a unit.
    pub meaning: Option<String>,
    /// How the bits are understood: the word of a [`Kind`].
    pub kind: &'static str,
    /// Unit and meaning of the field as such.
    pub note: &'static str,
    /// The name of the field whose bits this one reinterprets.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "string | null"))]
    pub alternative_of: Option<Cow<'static, str>>,
    /// The bytes that it refers to, in the same file.
    pub target: Option<Span>,
    #[serde(skip)]
    hex: bool,
}

/// A structure as read.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Record {
    /// The structure's name, and which one it is.
    pub name: String,
    /// Its bytes in the file; from 0 on where no file has it.
    pub span: Span,
    /// Whether a file has it. What each launch writes has a size and no bytes.
    pub is_stored: bool,
    /// The layout's name as its format spells it.
    pub layout: Option<&'static str>,
    /// The public source of its layout.
    pub source: Option<&'static str>,
    /// Its fields. Where the file ends early, those that are whole.
    pub fields: Vec<Field>,
}

impl Layout {
    /// A layout from a line a field, alternatives behind the fields that they reinterpret: name, lowest
    /// bit (nothing where the field before ends), bits, kind, note, alternative of, how many there are and
    /// how many bits apart; a tab between. The kind is its word, for `enum`, `flags` followed by `:` and
    /// the index in `names`, for `scaled` by `:multiply,add`.
    pub const fn packed(
        name: &'static str,
        bytes: u32,
        source: &'static str,
        names: &'static [&'static Names],
        text: &'static str,
    ) -> Self {
        Self {
            name,
            bytes,
            source,
            names,
            text,
            has_gaps: false,
            fields: OnceLock::new(),
        }
    }

    /// The same layout with its gaps, bits that no field has, as reserved fields: `gap 26`, which begins at bit 26.
    #[must_use]
    pub const fn with_gaps(mut self) -> Self {
        self.has_gaps = true;
        self
    }

    /// Its fields, alternatives behind the fields that they reinterpret.
    pub fn fields(&self) -> &[FieldLayout] {
        self.fields.get_or_init(|| {
            let mut fields = Vec::new();
            let mut next = 0;
            for line in self.text.lines() {
                let [name, lsb, bits, kind, note, of, repeat] = parts(line);
                let lsb = lsb.parse().unwrap_or(next);
                let bits = bits.parse().unwrap_or(1);
                next = lsb + bits;
                let repeat = repeat.split_once(',');
                let (count, stride) = repeat.unwrap_or(("1", "0"));
                let stride: u32 = stride.parse().unwrap_or(0);
                for i in 0..count.parse().unwrap_or(1) {
                    let numbered = |name: &'static str| match repeat {
                        Some(_) if !name.is_empty() => format!("{name}({i})").into(),
                        _ => name.into(),
                    };
                    fields.push(FieldLayout {
                        name: numbered(name),
                        lsb: lsb + i * stride,
                        bits,
                        kind: Kind::named(kind, self.names),
                        note,
                        alternative_of: numbered(of),
                    });
                }
            }
            if self.has_gaps {
                let claimed = |i: usize| [fields[i].lsb + fields[i].bits - 1, fields[i].lsb];
                let gaps = unclaimed(fields.len(), &claimed, self.bytes.saturating_mul(8));
                fields.extend(gaps.into_iter().map(|[msb, lsb]| FieldLayout {
                    name: format!("gap {lsb}").into(),
                    lsb,
                    bits: msb - lsb + 1,
                    kind: Kind::Reserved,
                    note: "no field has these bits",
                    alternative_of: "".into(),
                }));
                // Those of one array lie among those of others.
                order::arrange(&mut fields, |field| field.lsb.into());
            }
            fields
        })
    }

    /// The field called `name`.
    pub fn field(&self, name: &str) -> Option<&FieldLayout> {
        self.fields().iter().find(|field| field.name == name)
    }

    /// Writes `value` to the field called `name` of the structure in `bytes`; its other bits stay as they are.
    ///
    /// # Errors
    ///
    /// No such field, a field past the end of `bytes`, a value that has more bits than the field. Nothing is
    /// written then.
    pub fn write(&self, bytes: &mut [u8], name: &str, value: u64) -> Result<(), NotWritten> {
        let field = self.field(name).ok_or(NotWritten::NoField)?;
        let most = u64::MAX >> 64_u32.saturating_sub(field.bits);
        if value > most {
            return Err(NotWritten::TooLarge(most));
        }
        set_bits(bytes, field.lsb, field.bits, value).ok_or(NotWritten::PastEnd)
    }

    /// Reads the structure from `bytes`, which begin at `offset` of the file. Where they are fewer
    /// than the layout's, the fields that are whole are read.
    pub fn read(&self, name: impl Into<String>, bytes: &[u8], offset: u64) -> Record {
        let mut record = Record {
            name: name.into(),
            span: Span::new(offset, (bytes.len() as u64).min(u64::from(self.bytes))),
            is_stored: true,
            layout: Some(self.name),
            source: Some(self.source),
            fields: Vec::with_capacity(self.fields().len()),
        };
        record.append(self, bytes, 0);
        record
    }
}

/// Why a value was not written to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotWritten {
    /// The layout has no field of that name.
    NoField,
    /// The bytes end before the field does.
    PastEnd,
    /// The field holds no number larger than this one.
    TooLarge(u64),
}

impl std::fmt::Display for NotWritten {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoField => f.write_str("there is no such field"),
            Self::PastEnd => f.write_str("the bytes end before the field"),
            Self::TooLarge(most) => write!(f, "at most {most} (0x{most:x}) fits"),
        }
    }
}

impl std::error::Error for NotWritten {}

impl Record {
    /// A record without fields so far.
    pub fn new(name: impl Into<String>, span: Span, source: Option<&'static str>) -> Self {
        Self {
            name: name.into(),
            span,
            is_stored: true,
            layout: None,
            source,
            fields: Vec::new(),
        }
    }

    /// The structure of `layout` in `bytes` that no file has, such as what a launch writes.
    pub fn made(layout: &Layout, name: impl Into<String>, bytes: &[u8]) -> Self {
        Self {
            is_stored: false,
            ..layout.read(name, bytes, 0)
        }
    }

    /// A record of `size` bytes that no file has, without fields so far.
    pub fn unwritten(name: impl Into<String>, size: u64, source: Option<&'static str>) -> Self {
        Self {
            is_stored: false,
            ..Self::new(name, Span::new(0, size), source)
        }
    }

    /// Appends a field of `size` whole bytes, one at least, from byte `at` on, to a record that no file has.
    pub fn append_unwritten(&mut self, name: &str, at: u32, size: u32, kind: Kind) -> &mut Field {
        let lsb = at.saturating_mul(8);
        self.fields.push(Field {
            name: name.into(),
            bits: [
                lsb.saturating_add(size.saturating_mul(8)).saturating_sub(1),
                lsb,
            ],
            raw: Raw::None,
            value: Value::None,
            meaning: None,
            kind: kind.word(),
            note: "",
            alternative_of: None,
            target: None,
            hex: false,
        });
        let last = self.fields.len() - 1;
        &mut self.fields[last]
    }

    /// Appends the fields of `layout`, whose bytes begin `at` bytes into the record's `bytes`.
    pub fn append(&mut self, layout: &Layout, bytes: &[u8], at: u32) {
        let fields = layout.fields().iter();
        self.fields
            .extend(fields.filter_map(|field| field.read(bytes, at * 8)));
    }

    /// Appends the fields of `layout` as alternatives of the field called `of`.
    pub fn append_alternatives(&mut self, layout: &Layout, bytes: &[u8], of: &'static str) {
        let Some(lsb) = self.field(of).map(|field| field.bits[1]) else {
            return;
        };
        for field in layout.fields() {
            if let Some(mut field) = field.read(bytes, lsb) {
                field.alternative_of = Some(of.into());
                self.fields.push(field);
            }
        }
    }

    /// Appends a field of `size` whole bytes from byte `at` on, read as `kind`. Nothing is appended
    /// where `bytes` are too few.
    pub fn append_bytes(
        &mut self,
        name: impl Into<String>,
        bytes: &[u8],
        at: u32,
        size: u32,
        kind: Kind,
    ) {
        if size == 0 {
            return;
        }
        if let Some(mut field) = read(bytes, at * 8, size * 8, kind) {
            field.name = name.into();
            self.fields.push(field);
        }
    }

    /// Appends a field of the `width` bits (1 to 64) of `bytes` from bit `lsb` on, read as `kind`. Nothing is appended where
    /// `bytes` are too few.
    pub fn append_bits(
        &mut self,
        name: impl Into<String>,
        bytes: &[u8],
        lsb: u32,
        width: u32,
        kind: Kind,
    ) -> Option<&mut Field> {
        let mut field = read(bytes, lsb, width, kind)?;
        field.name = name.into();
        self.fields.push(field);
        self.fields.last_mut()
    }

    /// The field called `name`.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The number in the field called `name`; 0 where there is none.
    pub fn number(&self, name: &str) -> u64 {
        match self.field(name).map(|field| &field.raw) {
            Some(Raw::Int(value)) => *value,
            _ => 0,
        }
    }

    /// Says what the field called `name` means, and which bytes it refers to.
    pub fn explain(&mut self, name: &str, meaning: impl Into<String>, target: Option<Span>) {
        if let Some(field) = self.fields.iter_mut().find(|field| field.name == name) {
            let meaning = meaning.into();
            if !meaning.is_empty() {
                field.meaning = Some(meaning);
            }
            field.target = target;
        }
    }

    /// Says what the number in the field called `name` stands for, where the layout alone cannot say it.
    pub fn set_value(&mut self, name: &str, value: u64) {
        if let Some(field) = self.fields.iter_mut().find(|field| field.name == name) {
            field.value = Value::Unsigned(value);
        }
    }

    /// The bits that no field claims, as highest and lowest bit, ascending.
    pub fn gaps(&self) -> Vec<[u32; 2]> {
        let end = u32::try_from(self.span.size.saturating_mul(8)).unwrap_or(u32::MAX);
        unclaimed(self.fields.len(), &|i| self.fields[i].bits, end)
    }
}

/// The bits below `end` that none of `count` fields has, as highest and lowest bit, ascending; `claimed` says which bits a
/// field has.
fn unclaimed(count: usize, claimed: &dyn Fn(usize) -> [u32; 2], end: u32) -> Vec<[u32; 2]> {
    let mut gaps = Vec::new();
    let mut next = 0;
    for i in order::by_key(count, &|i| claimed(i)[1].into()) {
        let [msb, lsb] = claimed(i as usize);
        if lsb > next {
            gaps.push([lsb - 1, next]);
        }
        next = next.max(msb + 1);
    }
    if next < end {
        gaps.push([end - 1, next]);
    }
    gaps
}

impl FieldLayout {
    fn read(&self, bytes: &[u8], base: u32) -> Option<Field> {
        let mut field = read(bytes, base + self.lsb, self.bits, self.kind)?;
        field.name = self.name.to_string();
        field.note = self.note;
        field.alternative_of =
            (!self.alternative_of.is_empty()).then(|| self.alternative_of.clone());
        Some(field)
    }
}

/// The `width` bits (1 to 64) of `bytes` from bit `lsb` on; `None` where they are not all there.
pub fn bits(bytes: &[u8], lsb: u32, width: u32) -> Option<u64> {
    debug_assert!((1..=64).contains(&width));
    let first = (lsb / 8) as usize;
    let end = lsb.checked_add(width)?.div_ceil(8) as usize;
    let mut all = 0_u128;
    for (i, &byte) in bytes.get(first..end)?.iter().enumerate() {
        all |= u128::from(byte) << (8 * i);
    }
    Some((all >> (lsb % 8)) as u64 & (u64::MAX >> (64 - width)))
}

/// Writes the lowest `width` bits of `value`, zeros above its 64, to `bytes` from bit `lsb` on; `None`, and nothing is
/// written, where they are not all there.
fn set_bits(bytes: &mut [u8], lsb: u32, width: u32, value: u64) -> Option<()> {
    let end = lsb.checked_add(width)?;
    let first = (lsb / 8) as usize;
    let bytes = bytes.get_mut(first..end.div_ceil(8) as usize)?;
    for at in 0..width {
        let bit = lsb % 8 + at;
        let is_set = value.checked_shr(at).unwrap_or(0) & 1 != 0;
        let mask = 1 << (bit % 8);
        let byte = &mut bytes[(bit / 8) as usize];
        *byte = *byte & !mask | if is_set { mask } else { 0 };
    }
    Some(())
}

fn read(bytes: &[u8], lsb: u32, width: u32, kind: Kind) -> Option<Field> {
    let raw = if width <= 64 {
        Raw::Int(bits(bytes, lsb, width)?)
    } else {
        let starts = (0..width).step_by(8);
        let pieces = starts.map(|at| bits(bytes, lsb + at, (width - at).min(8)));
        Raw::Bytes(
            pieces
                .map(|piece| Some(piece? as u8))
                .collect::<Option<_>>()?,
        )
    };
    let (value, meaning) = decode(&raw, width, kind);
    Some(Field {
        name: String::new(),
        bits: [lsb + width - 1, lsb],
        raw,
        value,
        meaning,
        kind: kind.word(),
        note: "",
        alternative_of: None,
        target: None,
        hex: kind.is_hex(),
    })
}

fn decode(raw: &Raw, width: u32, kind: Kind) -> (Value, Option<String>) {
    let raw = match raw {
        Raw::Int(raw) => *raw,
        Raw::Bytes(bytes) => {
            let text = match kind {
                Kind::Text => text(bytes),
                _ => hex(bytes),
            };
            return (Value::Text(text), None);
        }
        Raw::None => return (Value::None, None),
    };
    let value = Value::Unsigned(raw);
    match kind {
        Kind::Signed => (
            Value::Signed((raw << (64 - width)) as i64 >> (64 - width)),
            None,
        ),
        Kind::Flag if width == 1 => (Value::Flag(raw != 0), None),
        Kind::Enum(names) => (value, names.get(raw).map(Named::meaning)),
        Kind::Flags(names) => (value, flags(names, raw)),
        Kind::Text | Kind::Bytes if width.is_multiple_of(8) => {
            let bytes = &raw.to_le_bytes()[..(width / 8) as usize];
            let text = match kind {
                Kind::Text => text(bytes),
                _ => hex(bytes),
            };
            (Value::Text(text), None)
        }
        Kind::Scaled { multiply, add } => (
            Value::Unsigned(
                raw.saturating_add(u64::from(add))
                    .saturating_mul(u64::from(multiply)),
            ),
            None,
        ),
        Kind::Log2 => match 1_u64.checked_shl(u32::try_from(raw).unwrap_or(64)) {
            Some(value) => (Value::Unsigned(value), None),
            None => (value, Some(format!("2^{raw}"))),
        },
        Kind::Float => (value, fixed(f64::from_bits(raw))),
        _ => (value, None),
    }
}

/// A number with six digits behind its point; `None` where it is so large that it has no such digits. The standard library's printer of such numbers is ten kilobytes of the browser's module.
fn fixed(number: f64) -> Option<String> {
    const MILLION: u64 = 1_000_000;
    let size = number.abs();
    if size.is_nan() || size >= (1_u64 << 53) as f64 {
        return None;
    }
    let mut whole = size as u64;
    let mut rest = ((size - whole as f64) * MILLION as f64).round_ties_even() as u64;
    if rest >= MILLION {
        whole += 1;
        rest -= MILLION;
    }
    let sign = if number < 0.0 { "-" } else { "" };
    Some(format!("{sign}{whole}.{rest:06}"))
}

impl Named {
    /// The name, and what there is to say of it.
    pub(crate) fn meaning(&self) -> String {
        if self.note.is_empty() {
            self.name.into()
        } else {
            format!("{} ({})", self.name, self.note)
        }
    }
}

fn flags(names: &Names, raw: u64) -> Option<String> {
    let (names, rest) = names.flags(raw);
    let mut text = names.join(" | ");
    if rest != 0 && !text.is_empty() {
        let _ = write!(text, " | 0x{rest:x}");
    }
    (!text.is_empty()).then_some(text)
}

/// Two hexadecimal digits a byte.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The characters before the first NUL.
pub fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

impl Field {
    /// The decoded value as people write it: hexadecimal where the number is an address, an offset
    /// or bits, else decimal.
    pub fn value_text(&self) -> String {
        match &self.value {
            Value::Unsigned(value) if self.hex => format!("0x{value:x}"),
            Value::Unsigned(value) => value.to_string(),
            Value::Signed(value) => value.to_string(),
            Value::Flag(value) => u8::from(*value).to_string(),
            Value::Text(value) => value.clone(),
            Value::None => String::new(),
        }
    }

    /// The bits as in the file, in hexadecimal.
    pub fn raw_text(&self) -> String {
        match &self.raw {
            Raw::Int(value) => format!("0x{value:x}"),
            Raw::Bytes(bytes) => hex(bytes),
            Raw::None => String::new(),
        }
    }

    /// Whether the decoded value is another number than the raw one.
    pub fn is_encoded(&self) -> bool {
        match (&self.raw, &self.value) {
            (Raw::Int(raw), Value::Unsigned(value)) => raw != value,
            (Raw::Int(_), Value::Signed(value)) => *value < 0,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static STATES: Names = Names::packed("0\tOFF\t\n5\tON\tat last\n");
    static LAYOUT: Layout = Layout::packed(
        "test",
        12,
        "this test",
        &[&STATES],
        "low\t0\t3\tenum:0\t\t\n\
         crossing\t28\t40\thex\t\t\n\
         granules\t68\t4\tscaled:8,1\t\t\n\
         signed\t72\t8\tsigned\t\t\n\
         log\t80\t8\tlog2\t\t\n",
    );

    #[test]
    fn numbers_with_a_point_have_six_digits_behind_it() {
        for (number, expected) in [
            (0.0, Some("0.000000")),
            (2.0, Some("2.000000")),
            (-0.125, Some("-0.125000")),
            (1.999_999_9, Some("2.000000")),
            (52_776_566_669_312.0, Some("52776566669312.000000")),
            (1e300, None),
            (f64::NAN, None),
            (f64::NEG_INFINITY, None),
        ] {
            assert_eq!(fixed(number).as_deref(), expected, "{number}");
        }
    }

    #[test]
    fn bits_cross_words_and_stop_at_the_end() {
        let bytes = [0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 0x01];
        assert_eq!(bits(&bytes, 0, 64), Some(0xfedc_ba98_7654_3210));
        assert_eq!(bits(&bytes, 4, 64), Some(0x1fed_cba9_8765_4321));
        assert_eq!(bits(&bytes, 28, 8), Some(0x87));
        assert_eq!(bits(&bytes, 71, 1), Some(0));
        assert_eq!(bits(&bytes, 72, 1), None);
        assert_eq!(bits(&bytes, u32::MAX, 2), None);
    }

    #[test]
    fn fields_decode_by_kind() {
        let mut bytes = [0; 12];
        bytes[0] = 5;
        bytes[3] = 0xa0;
        bytes[8] = 0x3c;
        bytes[9] = 0xfe;
        bytes[10] = 7;
        let record = LAYOUT.read("it", &bytes, 100);
        let of = |name: &str| record.field(name).unwrap();
        assert_eq!(of("low").meaning.as_deref(), Some("ON (at last)"));
        // bits 28..68: 0xa in the lowest four, 0xc (of byte 8) in the highest four
        assert_eq!(of("crossing").raw, Raw::Int(0xc0_0000_000a));
        // (3 + 1) × 8
        assert_eq!(of("granules").value, Value::Unsigned(32));
        assert_eq!(of("signed").value, Value::Signed(-2));
        assert_eq!(of("log").value, Value::Unsigned(128));
        assert_eq!(record.gaps(), [[27, 3], [95, 88]]);
        assert_eq!(record.span, Span::new(100, 12));
    }

    #[test]
    fn a_short_record_has_the_fields_that_are_whole() {
        let record = LAYOUT.read("it", &[0; 9], 0);
        let names: Vec<_> = record.fields.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["low", "crossing", "granules"]);
        assert_eq!(record.span.size, 9);
    }

    #[test]
    fn long_fields_are_bytes() {
        let bytes: Vec<u8> = (1..=16).collect();
        let mut record = Record::new("it", Span::new(0, 16), None);
        record.append_bytes("all", &bytes, 0, 16, Kind::Bytes);
        let json = serde_json::to_value(&record).unwrap();
        assert_eq!(
            json["fields"][0]["value"],
            "0102030405060708090a0b0c0d0e0f10"
        );
        let expected = u128::from_le_bytes(bytes.try_into().unwrap());
        assert_eq!(json["fields"][0]["raw"], expected.to_string());
        assert_eq!(json["fields"][0]["bits"], serde_json::json!([127, 0]));
    }
}
