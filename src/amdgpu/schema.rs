//! What the metadata of code objects for HSA should have, by version, and what differs from it.
//!
//! The keys are data (`tables/amdgpu/metadata.toml`). A mistake that many kernels make is one finding, at the first of
//! them.

use super::argument::spelled;
use super::metadata::{Form, Metadata};
use super::printf::Printf;
use super::value::{Content, Value};
use super::{kernarg, tables};
use crate::elf::Elf;
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::index::Map;
use crate::order;

/// A key that metadata can have.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    /// The map that has it.
    pub map: &'static str,
    /// How V3 and later spell it; empty where they have no such key.
    pub key: &'static str,
    /// The map that has it in V2, where that is another one.
    pub v2_map: &'static str,
    /// How V2 spells it; empty where it has no such key.
    pub v2: &'static str,
    /// What its value is.
    pub kind: &'static str,
    /// The first version that has it, of V3 and later.
    pub from: u32,
    /// The first version that must have it; 0 where none must.
    pub required: u32,
    /// What a loader does not take: `wrong`, a value of another kind; `missing`, no value, either; `both`, none of
    /// the keys that have this word.
    pub refused: &'static str,
    /// The values that are known, a `|` between; empty where any may be.
    pub words: &'static str,
    /// What it says, in a few words.
    pub note: &'static str,
}

impl Key {
    /// The map that has it, and its spelling there.
    fn in_form(&self, form: Form) -> (&'static str, &'static str) {
        match form {
            Form::MessagePack => (self.map, self.key),
            Form::Yaml if self.v2_map.is_empty() => (self.map, self.v2),
            Form::Yaml => (self.v2_map, self.v2),
        }
    }

    /// The map below it; nothing where its value is none.
    fn below(&self) -> &'static str {
        let map = self.kind.strip_prefix("maps ");
        map.or(self.kind.strip_prefix("map ")).unwrap_or_default()
    }

    /// What `value` should be, or the item of it that differs first, and that; `None` where it is right.
    fn differs<'a>(&self, value: &'a Value, form: Form) -> Option<(&'static str, &'a Value)> {
        let is_number = |value: &Value| value.number().is_some();
        let is_text = |value: &Value| value.text().is_some();
        let is_map = |value: &Value| value.entries().is_some();
        let is_empty = form == Form::Yaml && value.content == Content::Nil;
        let one = |fits: bool, expected| (!fits).then_some((expected, value));
        let list =
            |expected, of: &'static str, count: Option<usize>, fits: &dyn Fn(&Value) -> bool| {
                match value.list() {
                    Some(items) if count.is_none_or(|count| count == items.len()) => {
                        let other = items.iter().find(|item| !fits(item));
                        other.map(|item| (of, item))
                    }
                    _ => one(is_empty, expected),
                }
            };
        match self.kind {
            "string" | "value kind" => one(is_text(value), "a string"),
            "integer" => one(is_number(value), INTEGER),
            "power" => one(
                value.number().is_some_and(u64::is_power_of_two),
                "a power of two",
            ),
            "boolean" => one(matches!(value.content, Content::Flag(_)), "a boolean"),
            "bit" => one(value.flag().is_some(), "a boolean, or 1 or 0"),
            "printf" => list("a list of strings", "a string", None, &is_text),
            "version" | "2 integers" => list("a list of 2 integers", INTEGER, Some(2), &is_number),
            "3 integers" => list("a list of 3 integers", INTEGER, Some(3), &is_number),
            kind if kind.starts_with("maps ") => list("a list of maps", "a map", None, &is_map),
            _ => one(is_empty || is_map(value), "a map"),
        }
    }
}

const INTEGER: &str = "an integer from 0 on";

/// Where a walk from the root of metadata has come to, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    form: Form,
    /// The map that it has come to; that of the items where it is a list.
    map: &'static str,
    /// The key that it has come to, or whose list it has come to an item of.
    key: Option<&'static Key>,
    is_item: bool,
}

impl Step {
    /// The root.
    pub fn root(form: Form) -> Self {
        Self {
            form,
            map: "root",
            key: None,
            is_item: false,
        }
    }

    /// The value of a key of the map.
    pub fn key(self, key: &str) -> Self {
        let is_it = |known: &&Key| {
            let (map, spelling) = known.in_form(self.form);
            spelling == key && map == self.map
        };
        let key = tables::METADATA_KEYS.iter().find(is_it);
        Self {
            map: key.map_or("", Key::below),
            key,
            is_item: false,
            ..self
        }
    }

    /// An item of the list.
    pub fn item(self) -> Self {
        Self {
            is_item: true,
            ..self
        }
    }

    /// What `value` is for, which it has come to; nothing where that is not known.
    pub fn note(self, value: &Value) -> &'static str {
        match self.key {
            Some(key) if key.kind == "value kind" => {
                let word = value.text().map(|word| spelled(word, self.form));
                let kind = word.and_then(|word| kernarg::kind(&word));
                kind.map_or(key.note, |kind| kind.note)
            }
            Some(key) if !self.is_item => key.note,
            _ => "",
        }
    }

    /// The call of printf that `value` says, which it has come to.
    pub fn printf(self, value: &Value) -> Option<Printf> {
        let is_call = self.is_item && self.key.is_some_and(|key| key.kind == "printf");
        Printf::parse(value.text()?).filter(|_| is_call)
    }
}

/// Checks the metadata of a code object of that version, where it is known.
pub(super) fn check(
    metadata: &Metadata,
    elf: &Elf,
    code_object: Option<u32>,
    findings: &mut Diagnostics,
) {
    let form = metadata.form;
    let mut checker = Checker {
        metadata,
        elf,
        version: match form {
            Form::MessagePack => code_object.unwrap_or(6).max(3),
            Form::Yaml => 2,
        },
        is_known: code_object.is_some(),
        found: Map::default(),
        count: 0,
    };
    let root = &metadata.root;
    if root.entries().is_none() && !metadata.is_cut(root) {
        let message = "malformed metadata: it is not a map";
        checker.say(message, "", root, Place::default(), &|| {
            Diagnostic::error(Kind::Loader, message).expected("a map", root.kind())
        });
    }
    checker.map(root, Step::root(form), Place::default());
    for (mut finding, count) in checker.found.into_values() {
        if count > 1 {
            finding.message += &format!("; {} more like it", count - 1);
        }
        findings.push(finding);
    }
}

/// In which kernel's map and in which argument's.
#[derive(Clone, Copy, Default)]
struct Place<'a> {
    kernel: Option<(usize, &'a Value)>,
    argument: Option<usize>,
}

impl Place<'_> {
    fn label(&self, form: Form, key: &str) -> String {
        let mut label = match self.kernel {
            None => "metadata".into(),
            Some((index, value)) => match value.get(name_key(form)).and_then(Value::text) {
                Some(name) => format!("metadata, kernel {name}"),
                None => format!("metadata, kernel {index}"),
            },
        };
        if let Some(index) = self.argument {
            label += &format!(", argument {index}");
        }
        if !key.is_empty() {
            label += ", ";
            label += key;
        }
        label
    }
}

fn name_key(form: Form) -> &'static str {
    match form {
        Form::MessagePack => ".name",
        Form::Yaml => "Name",
    }
}

struct Checker<'a> {
    metadata: &'a Metadata,
    elf: &'a Elf,
    /// The version whose keys are expected.
    version: u32,
    /// Whether that is the code object's own.
    is_known: bool,
    /// The findings so far, each with how often it was met.
    found: Map<(Diagnostic, u64)>,
    count: usize,
}

impl<'a> Checker<'a> {
    /// Adds a finding about `value`, unless the same was found of that key.
    fn say(
        &mut self,
        message: &str,
        key: &str,
        value: &Value,
        place: Place<'_>,
        finding: &dyn Fn() -> Diagnostic,
    ) {
        let id = [message, key].join("\n");
        if self.found.get(id.as_bytes()).is_none() {
            if self.count == Diagnostics::LIMIT {
                return;
            }
            self.count += 1;
            let new = finding()
                .within(place.label(self.metadata.form, key))
                .at(self.elf.source().absolute(value.span.offset));
            self.found.entry(id.as_bytes(), (new, 1));
            return;
        }
        // It is there: the new value is not taken.
        let other = Diagnostic::note(Kind::Format, "");
        self.found.entry(id.as_bytes(), (other, 0)).1 += 1;
    }

    /// A mistake that a loader refuses, or does not.
    fn mistake(is_refused: bool, message: &str) -> Diagnostic {
        match is_refused {
            true => Diagnostic::error(Kind::Loader, format!("malformed metadata: {message}")),
            false => Diagnostic::warning(Kind::Format, message),
        }
    }

    fn map(&mut self, map: &'a Value, step: Step, place: Place<'a>) {
        let Some(entries) = map.entries() else {
            return;
        };
        self.repeated(entries, place);
        for (key, value) in entries {
            let next = key.text().map(|key| step.key(key));
            let known = next.and_then(|next| Some((next, next.key?)));
            match (key.text(), known) {
                (Some(_), Some((next, known))) => self.entry(map, key, value, next, known, place),
                _ => {
                    let message = "a key of the metadata is not known";
                    self.say(message, &key.label(), key, place, &|| {
                        Diagnostic::note(Kind::UnknownValue, message)
                    });
                    self.unknown(value, place);
                }
            }
        }
        if self.metadata.is_cut(map) {
            return;
        }
        for known in tables::METADATA_KEYS {
            let (of, key) = known.in_form(self.metadata.form);
            let is_required = known.required != 0 && known.required <= self.version;
            if of == step.map && !key.is_empty() && is_required && map.get(key).is_none() {
                let is_refused = match known.refused {
                    "both" => self.is_nameless(map),
                    refused => refused == "missing",
                };
                let message = "a key of the metadata is missing";
                self.say(message, key, map, place, &|| {
                    Self::mistake(is_refused, message)
                });
            }
        }
    }

    /// What is below a key that is not known, of which only whether keys come twice matters.
    fn unknown(&mut self, value: &'a Value, place: Place<'a>) {
        for item in value.list().unwrap_or_default() {
            self.unknown(item, place);
        }
        if let Some(entries) = value.entries() {
            self.repeated(entries, place);
            for (_, value) in entries {
                self.unknown(value, place);
            }
        }
    }

    /// Finds keys that come twice in one map: readers of both notations refuse all of such metadata.
    fn repeated(&mut self, entries: &'a [(Value, Value)], place: Place<'a>) {
        let id = |at: u32| {
            let key = &entries[at as usize].0;
            (key.text(), key.number())
        };
        let mut order: Vec<u32> = (0..entries.len() as u32).collect();
        order.retain(|&at| id(at) != (None, None));
        order::sort(&mut order, &|a, b| id(a).cmp(&id(b)));
        for pair in order.windows(2) {
            let &[first, second] = pair else { continue };
            if id(first) == id(second) {
                let key = &entries[second as usize].0;
                let message = "a key comes twice in a map";
                self.say(message, &key.label(), key, place, &|| {
                    Self::mistake(true, message)
                });
            }
        }
    }

    /// Whether the map of a kernel has none of its names.
    fn is_nameless(&self, map: &Value) -> bool {
        let form = self.metadata.form;
        let names = tables::METADATA_KEYS.iter().filter(|k| k.refused == "both");
        let mut names = names.map(|known| map.get(known.in_form(form).1));
        names.all(|name| name.and_then(Value::text).is_none())
    }

    /// An entry of a map whose key is known.
    fn entry(
        &mut self,
        map: &'a Value,
        key: &Value,
        value: &'a Value,
        step: Step,
        known: &'static Key,
        place: Place<'a>,
    ) {
        let form = self.metadata.form;
        let spelling = known.in_form(form).1;
        if form == Form::MessagePack && known.from > self.version {
            let message = "a key of the metadata is of later versions";
            let (from, version) = (known.from, self.version);
            self.say(message, spelling, key, place, &|| {
                Diagnostic::note(Kind::Format, message)
                    .expected(format!("V{from}"), format!("V{version}"))
            });
        }
        let is_cut = self.metadata.is_cut(value);
        if let Some((expected, other)) = known.differs(value, form)
            && !is_cut
        {
            let is_refused = match known.refused {
                "both" => self.is_nameless(map),
                refused => !refused.is_empty(),
            };
            let found = match known.kind {
                "power" if other.number().is_some() => other.label(),
                _ if other.list().is_some() => other.label(),
                _ if matches!(other.content, Content::Signed(_)) => other.label(),
                _ => other.kind().into(),
            };
            let message = "a value of the metadata is not what it should be";
            self.say(message, spelling, other, place, &|| {
                Self::mistake(is_refused, message).expected(expected, &found)
            });
        } else if !is_cut {
            self.words(value, known, spelling, place);
        }
        let items = value.list().unwrap_or(std::slice::from_ref(value));
        for (index, item) in items.iter().enumerate() {
            let place = match step.map {
                "kernel" => Place {
                    kernel: Some((index, item)),
                    argument: None,
                },
                "argument" => Place {
                    argument: Some(index),
                    ..place
                },
                _ => place,
            };
            self.map(item, step.item(), place);
        }
    }

    /// What a value of the right kind says.
    fn words(&mut self, value: &Value, known: &Key, spelling: &'static str, place: Place<'_>) {
        let form = self.metadata.form;
        match known.kind {
            "version" => {
                let minor = u64::from(self.version.clamp(3, 5)) - 3;
                let Some([major, found]) = value.list() else {
                    return;
                };
                let (major, found) = (major.number(), found.number());
                let text = |number: Option<u64>| number.unwrap_or(0);
                let message = if major != Some(1) {
                    "the metadata's version is not known"
                } else if self.is_known && found != Some(minor) {
                    "the metadata's version is not that of the code object's"
                } else {
                    return;
                };
                self.say(message, spelling, value, place, &|| {
                    let finding = match major {
                        Some(1) => Diagnostic::note(Kind::Format, message),
                        _ => Diagnostic::warning(Kind::UnknownValue, message),
                    };
                    finding.expected(
                        format!("1.{minor}"),
                        format!("{}.{}", text(major), text(found)),
                    )
                });
            }
            "printf" => {
                let calls = value.list().unwrap_or_default().iter();
                let is_none = |call: &&Value| Printf::parse(call.text().unwrap_or("")).is_none();
                for call in calls.filter(is_none) {
                    let message = "a call of printf cannot be taken apart";
                    self.say(message, spelling, call, place, &|| {
                        Diagnostic::warning(Kind::Format, message)
                            .expected("ID:N:S[0]:…:S[N-1]:format", call.label())
                    });
                }
            }
            _ => {
                let text = value.text().unwrap_or_default();
                let word = spelled(text, form);
                let is_known = match known.kind {
                    "value kind" => kernarg::kind(&word).is_some(),
                    _ => {
                        let mut words = known.words.split('|');
                        known.words.is_empty() || words.any(|w| w == text || w == word)
                    }
                };
                if !is_known {
                    let message = "a word of the metadata is not known";
                    self.say(message, text, value, place, &|| {
                        Diagnostic::note(Kind::UnknownValue, message)
                            .expected(format!("one that {spelling} is known to have"), text)
                    });
                }
            }
        }
    }
}
