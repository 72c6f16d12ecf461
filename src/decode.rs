//! Bytes that somebody has dumped of a launch: launch descriptors, pushbuffers, GPFIFO entries, AQL packets.
//!
//! Such bytes have no header that says what they are. What they can be read as is typed: `as=pushbuffer;class=C6C0`, the
//! same [`Inputs`] as a launch's; what is not typed is told from the bytes.

use serde::Serialize;

use crate::container::Format;
use crate::error::Diagnostics;
use crate::launch::{Choice, Input, InputKind, Inputs, Problem};
use crate::source::Source;

/// What was typed for a dump, and what is to be said of it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Decoded {
    /// What can be typed.
    pub inputs: Vec<Input>,
    /// What is to be said about what was typed.
    pub problems: Vec<Problem>,
}

/// A dump that is read as something.
pub struct Dumped {
    /// What can be typed for it.
    pub decoded: Decoded,
    /// What it is read as.
    pub format: Format,
}

/// What a dump can be read as: what is typed for it, and what people call it.
const FORMS: &[(&str, &str, Format)] = &[
    ("qmd", "Launch descriptor (QMD)", Format::Qmd),
    ("pushbuffer", "Pushbuffer", Format::Pushbuffer),
    ("gpfifo", "GPFIFO entries", Format::Gpfifo),
    ("aql", "AQL packets", Format::Aql),
];

impl Dumped {
    /// Reads `source` as `inputs` say.
    pub fn read(_source: &Source, inputs: &Inputs, _findings: &mut Diagnostics) -> Self {
        let asked = inputs.get("as").unwrap_or("auto");
        let form = FORMS.iter().find(|(key, ..)| *key == asked);
        let choices = FORMS.iter().map(|&(key, label, _)| Choice {
            key: key.into(),
            label: label.into(),
            unavailable: None,
        });
        let input = Input {
            key: "as".into(),
            label: "Read as".into(),
            group: "Decode",
            kind: InputKind::Choice,
            value: asked.into(),
            is_given: inputs.get("as").is_some(),
            choices: choices.collect(),
            note: String::new(),
            unavailable: None,
        };
        Self {
            decoded: Decoded {
                inputs: vec![input],
                problems: Vec::new(),
            },
            format: form.map_or(Format::Unknown, |&(.., format)| format),
        }
    }
}
