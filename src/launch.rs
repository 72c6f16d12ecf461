//! A launch that somebody prepares: what they have typed, what is wrong with it, and the structures that come of it.
//!
//! What a family of devices needs to be told is a list of [`Input`]s, so that the page's form, the terminal's options and a
//! link are the same text: `grid=4096;block=256;gpu=sm_89`. What it answers are structures that no file has: [`Made`], each
//! field with where its value comes from, each value that only run time knows a [`Slot`].

use serde::Serialize;

use crate::error::Severity;
use crate::record::Record;
use crate::span::Span;

/// What has been typed: keys with their values, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs(Vec<(String, String)>);

impl Inputs {
    /// Reads `key=value;key=value`. Spaces around keys and values do not count; a key without `=` has the value of nothing,
    /// a key that comes twice its last value.
    pub fn read(text: &str) -> Self {
        let mut inputs = Self::default();
        for part in text.split(';') {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            if !key.trim().is_empty() {
                inputs.set(key.trim(), value.trim());
            }
        }
        inputs
    }

    /// Types `value` for `key`.
    pub fn set(&mut self, key: &str, value: &str) {
        match self.0.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value.into(),
            None => self.0.push((key.into(), value.into())),
        }
    }

    /// What was typed for `key`; `None` where nothing was.
    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == key);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// All keys with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

/// How an input is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    /// A number, decimal or hexadecimal with `0x`.
    Number,
    /// Up to three numbers, `X,Y,Z`; those left out are 1.
    Dimensions,
    /// One of the choices.
    Choice,
    /// An address in GPU memory, hexadecimal. Left empty, it is a slot.
    Address,
    /// Whatever the note says.
    Text,
}

/// One of the values that an input can have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Choice {
    /// What is typed.
    pub key: String,
    /// What people call it.
    pub label: String,
    /// Why it cannot be chosen; `null` where it can.
    pub unavailable: Option<String>,
}

/// Something that can be typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Input {
    /// What it is typed for.
    pub key: String,
    /// What people call it.
    pub label: String,
    /// The heading that it stands under: `GPU`, `Launch`, `Addresses`, `Parameters`.
    pub group: &'static str,
    /// How it is typed.
    pub kind: InputKind,
    /// What was typed, or what counts without.
    pub value: String,
    /// Whether it was typed.
    pub is_given: bool,
    /// The values that it can have, if it is one of them.
    pub choices: Vec<Choice>,
    /// What it is, its unit and range.
    pub note: String,
    /// Why it cannot be typed here; `null` where it can.
    pub unavailable: Option<String>,
}

/// Something to be said about an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Problem {
    /// The key of the input that caused it.
    pub input: String,
    /// An error: what is made is not what such a launch would have. A note: it is, and worth knowing.
    pub severity: Severity,
    /// What is wrong, what would be right.
    pub message: String,
}

/// Where the value of a field comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    /// The file says so: an attribute, a section, a descriptor.
    File,
    /// The launch: what was typed, or follows from it.
    Launch,
    /// What drivers are known to write.
    Profile,
    /// Only run time knows it; typed, or still open.
    Slot,
    /// Typed for this field alone.
    Set,
    /// Nothing is written here: the bits are 0.
    Unset,
}

/// Where the value of a field comes from, and who says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Origin {
    /// What kind of source that is.
    pub what: OriginKind,
    /// In words: `EIATTR_REGCOUNT`, `grid`, `cuda: captures of GH200`.
    pub source: String,
    /// The bytes of the file that say so.
    pub place: Option<Span>,
    /// Whether it is a slot that nobody has filled: its bits are 0 for want of a value.
    pub is_open: bool,
}

/// Bits of a slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct SlotPart {
    /// The field.
    pub field: String,
    /// Its highest and its lowest bit in the structure.
    pub bits: [u32; 2],
    /// The field has the value shifted to the right by so many bits, as far as it fits.
    pub shift: u32,
}

/// A value that only run time knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Slot {
    /// The key of the input that fills it.
    pub input: String,
    /// What it is.
    pub name: String,
    /// What was typed, in hexadecimal with `0x`; `null` while it is open.
    pub value: Option<String>,
    /// Where it is written.
    pub parts: Vec<SlotPart>,
}

/// A structure that comes of a launch.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Made {
    /// What it is asked for by: `qmd`, `qmd_null`, `bank0`, `packet`, `kernarg`.
    pub key: String,
    /// What people call it.
    pub title: String,
    /// Its fields. No file has it, yet it has values.
    pub record: Record,
    /// Its bytes, in hexadecimal digits.
    #[serde(serialize_with = "hexadecimal")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "string"))]
    pub bytes: Vec<u8>,
    /// Of each field, where its value comes from.
    pub origins: Vec<Origin>,
    /// What only run time knows.
    pub slots: Vec<Slot>,
}

fn hexadecimal<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&crate::record::hex(bytes))
}

/// What comes of a launch.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Launch {
    /// What can be typed.
    pub inputs: Vec<Input>,
    /// What is to be said about what was typed. Whatever they are, something is made.
    pub problems: Vec<Problem>,
    /// The structures, in the order in which the GPU meets them.
    pub made: Vec<Made>,
}
