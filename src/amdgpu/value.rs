//! Metadata as a tree: maps, lists and scalars, each with its bytes in the file.

use std::rc::Rc;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::error::{Diagnostic, Error, Kind};
use crate::int;
use crate::record;
use crate::source::Source;
use crate::span::Span;

/// A value, and the bytes that say it.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its bytes in the file.
    pub span: Span,
    /// What it is.
    pub content: Content,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Nothing.
    Nil,
    /// True or false.
    Flag(bool),
    /// A number from 0 on.
    Unsigned(u64),
    /// A number below 0.
    Signed(i64),
    /// A floating-point number.
    Float(f64),
    /// Characters.
    Text(Rc<str>),
    /// Bytes of no further structure.
    Bytes(Box<[u8]>),
    /// Values in order.
    List(Box<[Value]>),
    /// Keys with their values, in the file's order.
    Map(Box<[(Value, Value)]>),
}

impl Value {
    /// The value of the key `key` of a map; the first where a malformed one has several.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let entries = self.entries()?;
        let entry = entries.iter().find(|(k, _)| k.text() == Some(key));
        entry.map(|(_, value)| value)
    }

    /// The entries of a map.
    pub fn entries(&self) -> Option<&[(Self, Self)]> {
        match &self.content {
            Content::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The values of a list.
    pub fn list(&self) -> Option<&[Self]> {
        match &self.content {
            Content::List(values) => Some(values),
            _ => None,
        }
    }

    /// The characters of a text.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A number from 0 on.
    pub fn number(&self) -> Option<u64> {
        match self.content {
            Content::Unsigned(number) => Some(number),
            _ => None,
        }
    }

    /// Whether it is true. Some writers have 1 for it.
    pub fn flag(&self) -> Option<bool> {
        match self.content {
            Content::Flag(flag) => Some(flag),
            Content::Unsigned(number) => Some(number != 0),
            _ => None,
        }
    }

    /// What it is, in a word.
    pub fn kind(&self) -> &'static str {
        match self.content {
            Content::Nil => "nil",
            Content::Flag(_) => "boolean",
            Content::Unsigned(_) | Content::Signed(_) => "integer",
            Content::Float(_) => "float",
            Content::Text(_) => "string",
            Content::Bytes(_) => "bytes",
            Content::List(_) => "list",
            Content::Map(_) => "map",
        }
    }

    /// A scalar as people write it; of others how many values they have.
    pub fn label(&self) -> String {
        match &self.content {
            Content::Nil => "nil".into(),
            Content::Flag(flag) => flag.to_string(),
            Content::Unsigned(number) => number.to_string(),
            Content::Signed(number) => number.to_string(),
            // Printing floating-point numbers is large code, and the ABI has none.
            Content::Float(number) => format!("floating-point 0x{:x}", number.to_bits()),
            Content::Text(text) => text.to_string(),
            Content::Bytes(bytes) => record::hex(bytes),
            Content::List(values) => format!("list of {}", values.len()),
            Content::Map(entries) => format!("map of {}", entries.len()),
        }
    }
}

/// As nested JSON; keys that are not texts stand by their labels.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.content {
            Content::Nil => serializer.serialize_none(),
            Content::Flag(flag) => serializer.serialize_bool(*flag),
            Content::Unsigned(number) => int::serialize(number, serializer),
            Content::Signed(number) => int::serialize_signed(number, serializer),
            Content::Float(number) => serializer.serialize_f64(*number),
            Content::Text(text) => serializer.serialize_str(text),
            Content::Bytes(bytes) => serializer.serialize_str(&record::hex(bytes)),
            Content::List(values) => {
                let mut list = serializer.serialize_seq(Some(values.len()))?;
                for value in values {
                    list.serialize_element(value)?;
                }
                list.end()
            }
            Content::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    match key.text() {
                        Some(key) => map.serialize_entry(key, value)?,
                        None => map.serialize_entry(&key.label(), value)?,
                    }
                }
                map.end()
            }
        }
    }
}

/// What bytes say, read as a value.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The value. Where the bytes are malformed, what they say up to there.
    pub root: Value,
    /// Where in the file the values begin that a mistake cut off.
    pub cut: Vec<u64>,
    /// The mistake that ended the reading.
    pub error: Option<Error>,
}

/// Bytes being read as values, with what both notations share: the bounds, and where a mistake is.
pub(super) struct Reader<'a> {
    source: &'a Source,
    pub bytes: &'a [u8],
    /// Where the bytes begin in the file.
    start: u64,
    /// The next byte to read.
    pub at: usize,
    /// Values that may still be read.
    values: u64,
    /// Short texts read before, each where [`Reader::keep`] looks for it.
    kept: Vec<Option<Rc<str>>>,
    /// The first mistake. The reading ends there, and what was read up to it stands.
    pub error: Option<Error>,
    /// Where the values begin that it cut off.
    pub cut: Vec<u64>,
}

/// How deep values may lie in each other. LLVM's metadata goes to 5.
pub(super) const DEPTH: u32 = 32;

impl<'a> Reader<'a> {
    /// Reads `bytes`, which begin at `start` of the file.
    pub fn new(source: &'a Source, bytes: &'a [u8], start: u64) -> Self {
        // A value costs forty times the byte that it takes at least. Metadata as LLVM writes it has
        // four bytes or more for each, and of ten thousand kernels two million values.
        let values = (bytes.len() as u64 / 4 + 4096).min(1 << 22);
        Self {
            source,
            bytes,
            start,
            at: 0,
            values,
            kept: vec![None; 256],
            error: None,
            cut: Vec::new(),
        }
    }

    /// The value that was read, with what went wrong.
    pub fn tree(self, root: Value) -> Tree {
        Tree {
            root,
            cut: self.cut,
            error: self.error,
        }
    }

    /// The place in the file of the byte at `at`.
    pub fn offset(&self, at: usize) -> u64 {
        self.start.saturating_add(at as u64)
    }

    /// The place in the file of the bytes from `from` to `to`.
    pub fn span(&self, from: usize, to: usize) -> Span {
        Span::new(self.offset(from), to.saturating_sub(from) as u64)
    }

    /// `bytes` as text. The same keys and words come for every kernel and argument, so short ones
    /// are shared with what was read before.
    pub fn keep(&mut self, bytes: &[u8]) -> Rc<str> {
        const SHORT: usize = 32;
        let text = String::from_utf8_lossy(bytes);
        if text.len() > SHORT {
            return text.into();
        }
        let mix = |all: usize, &byte: &u8| all.wrapping_mul(31).wrapping_add(byte.into());
        let at = bytes.iter().fold(0, mix) % self.kept.len().max(1);
        match self.kept.get_mut(at) {
            Some(Some(kept)) if **kept == *text => kept.clone(),
            Some(place) => place.insert(text.into()).clone(),
            None => text.into(),
        }
    }

    /// Counts a value; a malformed file may have too many.
    pub fn count(&mut self) -> bool {
        match self.values.checked_sub(1) {
            Some(rest) => self.values = rest,
            None => self.fail(
                self.at,
                Diagnostic::error(
                    Kind::Limit,
                    "too many values for so few bytes: the rest is not read",
                ),
            ),
        }
        self.error.is_none()
    }

    /// Ends the reading at the byte at `at`.
    pub fn fail(&mut self, at: usize, finding: Diagnostic) {
        let place = self.source.absolute(self.offset(at));
        let finding = finding.at(place).within("metadata");
        self.error.get_or_insert_with(|| finding.into());
    }
}
