//! A launch that somebody prepares: what they have typed, what is wrong with it, and the structures that come of it.
//!
//! What a family of devices needs to be told is a list of [`Input`]s, so that the page's form, the terminal's options and a
//! link are the same text: `grid=4096;block=256;gpu=sm_89`. What it answers are structures that no file has: [`Made`], each
//! field with where its value comes from, each value that only run time knows a [`Slot`].

use serde::Serialize;

use crate::error::Severity;
use crate::record::{Kind, Record};
use crate::span::Span;

/// Keys that a kernel's occupancy alone is asked for. A launch and its occupancy are told by one text, so that these are none
/// that a launch does not know.
const OF_OCCUPANCY: &[&str] = &["units", "registers", "barriers", "sgprs"];

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

/// A form as it is read: each input is asked for in turn, with what counts where nothing was typed, and what is wrong with
/// what was typed becomes a [`Problem`] of that input.
pub struct Form<'a> {
    typed: &'a Inputs,
    /// What was asked for so far.
    pub inputs: Vec<Input>,
    /// What is to be said about it.
    pub problems: Vec<Problem>,
}

/// What an input is called.
pub struct Ask<'a> {
    /// What it is typed for.
    pub key: &'a str,
    /// What people call it.
    pub label: &'a str,
    /// The heading that it stands under.
    pub group: &'static str,
    /// What it is, its unit and range.
    pub note: String,
}

impl<'a> Form<'a> {
    /// A form for what was typed, nothing asked so far.
    pub fn new(typed: &'a Inputs) -> Self {
        Self {
            typed,
            inputs: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// What was typed for `key`.
    pub fn typed(&self, key: &str) -> Option<&'a str> {
        self.typed.get(key)
    }

    /// Asks for what `default` counts for where nothing was typed; hands out what was typed.
    pub fn ask(&mut self, ask: Ask<'_>, kind: InputKind, default: String) -> Option<&'a str> {
        let typed = self.typed.get(ask.key);
        self.inputs.push(Input {
            key: ask.key.into(),
            label: ask.label.into(),
            group: ask.group,
            kind,
            value: typed.map_or(default, Into::into),
            is_given: typed.is_some(),
            choices: Vec::new(),
            note: ask.note,
            unavailable: None,
        });
        typed
    }

    /// Asks for a number; `default` counts where none was typed that can be read.
    pub fn number(&mut self, ask: Ask<'_>, default: Option<u64>) -> Option<u64> {
        let key = ask.key.to_owned();
        let shown = default.map(|number| number.to_string());
        let typed = self.ask(ask, InputKind::Number, shown.unwrap_or_default());
        self.read(&key, typed, number).or(default)
    }

    /// Asks for the value of a field that is understood as `kind`: a number, or the name of a value that has one.
    pub fn field(&mut self, ask: Ask<'_>, kind: Option<Kind>) -> Option<u64> {
        let key = ask.key.to_owned();
        let typed = self.ask(ask, InputKind::Number, String::new());
        let kind = kind.unwrap_or(Kind::Hex);
        self.read(&key, typed, |typed| {
            if let Some(value) = kind.value_of(typed) {
                return Ok(value);
            }
            number(typed).map_err(|message| match kind.names() {
                names if names.is_empty() => message,
                names => format!("{message}; the names of its values are {}", list(&names)),
            })
        })
    }

    /// Reads what was typed for the parameter of `size` bytes that was asked for as `key`.
    pub fn value(&mut self, key: &str, typed: Option<&str>, size: usize) -> Option<Vec<u8>> {
        let value = self.read(key, typed, |typed| crate::typed::typed(typed, size))?;
        if let Some(note) = value.note {
            self.note(key, note);
        }
        Some(value.bytes)
    }

    /// Asks for up to three numbers.
    pub fn dimensions(&mut self, ask: Ask<'_>, default: Option<[u64; 3]>) -> Option<[u64; 3]> {
        let key = ask.key.to_owned();
        let shown = default.map(shown).unwrap_or_default();
        let typed = self.ask(ask, InputKind::Dimensions, shown);
        self.read(&key, typed, dimensions).or(default)
    }

    /// Asks for an address; `None` while it is open.
    pub fn address(&mut self, ask: Ask<'_>) -> Option<u64> {
        let key = ask.key.to_owned();
        let typed = self.ask(ask, InputKind::Address, String::new());
        self.read(&key, typed, address)
    }

    /// Asks for one of `choices`, by their keys or by other words that `find` knows; hands out its index. What was typed
    /// and is none of them is a problem, and `default` counts.
    pub fn choice(
        &mut self,
        ask: Ask<'_>,
        choices: Vec<Choice>,
        default: usize,
        find: impl Fn(&str) -> Option<usize>,
    ) -> usize {
        let key = ask.key.to_owned();
        let typed = self.ask(ask, InputKind::Choice, String::new());
        let by_key = |typed: &str| choices.iter().position(|choice| choice.key == typed);
        let found = typed.and_then(|typed| by_key(typed).or_else(|| find(typed)));
        if let (Some(typed), None) = (typed, found) {
            let can = choices.iter().filter(|choice| choice.unavailable.is_none());
            let keys: Vec<&str> = can.map(|choice| choice.key.as_str()).collect();
            let counts = choices.get(default).map_or("", |choice| &choice.key);
            let keys = list(&keys);
            self.error(
                &key,
                format!("{typed:?} is none of the choices, which are {keys}; {counts} counts"),
            );
        }
        let index = found.unwrap_or(default);
        if let (Some(input), Some(choice)) = (self.inputs.last_mut(), choices.get(index)) {
            input.value = choice.key.clone();
            input.choices = choices;
        }
        index
    }

    fn read<T>(
        &mut self,
        key: &str,
        typed: Option<&str>,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        match read(typed?) {
            Ok(value) => Some(value),
            Err(message) => {
                self.error(key, message);
                None
            }
        }
    }

    /// What was typed for keys that a launch is not asked for, nor its occupancy.
    pub fn unasked(&self) -> Vec<(&'a str, &'a str)> {
        let is_asked = |key: &str| self.inputs.iter().any(|input| input.key == key);
        let is_known = |key: &str| is_asked(key) || OF_OCCUPANCY.contains(&key);
        let typed = self.typed.iter();
        typed
            .filter(|(key, value)| !value.is_empty() && !is_known(key))
            .collect()
    }

    /// Says what is wrong with what was typed for `key`.
    pub fn error(&mut self, key: &str, message: impl Into<String>) {
        self.say(key, Severity::Error, message.into());
    }

    /// Whether something is wrong with what was typed so far for inputs that are none of `others`.
    pub fn has_errors_beside(&self, others: &[&str]) -> bool {
        let mut problems = self.problems.iter();
        problems.any(|problem| {
            problem.severity == Severity::Error && !others.contains(&problem.input.as_str())
        })
    }

    /// Says what is worth knowing about it.
    pub fn note(&mut self, key: &str, message: impl Into<String>) {
        self.say(key, Severity::Note, message.into());
    }

    fn say(&mut self, key: &str, severity: Severity, message: String) {
        self.problems.push(Problem {
            input: key.into(),
            severity,
            message,
        });
    }
}

/// A number, decimal or hexadecimal with `0x`; `_` between digits does not count.
///
/// # Errors
/// What would be right, in words.
pub fn number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = digits.map_or((text, 10), |digits| (digits, 16));
    parse(digits, radix).map_err(|why| match why {
        Misread::Digits => format!("{text:?} is no whole number such as 64 or 0x40"),
        why => why.say(text),
    })
}

/// An address in hexadecimal digits, with `0x` before them or not.
///
/// # Errors
/// What would be right, in words.
pub fn address(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    parse(digits.unwrap_or(text), 16).map_err(|why| match why {
        Misread::Digits => format!("{text:?} is no address such as 0x7f0000100000"),
        why => why.say(text),
    })
}

/// Why digits are no number.
enum Misread {
    Digits,
    Negative,
    TooLarge,
}

impl Misread {
    fn say(self, text: &str) -> String {
        let why = match self {
            Self::Negative => "is negative",
            _ => "is too large: a number has 64 bits at most",
        };
        format!("{text:?} {why}")
    }
}

fn parse(digits: &str, radix: u32) -> Result<u64, Misread> {
    let plain = digits.replace('_', "");
    let is_number =
        |digits: &str| !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    if plain.strip_prefix('-').is_some_and(is_number) {
        return Err(Misread::Negative);
    }
    if !is_number(&plain) {
        return Err(Misread::Digits);
    }
    u64::from_str_radix(&plain, radix).map_err(|_| Misread::TooLarge)
}

/// Names in a row, so many at most that a sentence is still read.
pub fn list(names: &[&str]) -> String {
    const MOST: usize = 12;
    let mut text = names[..names.len().min(MOST)].join(", ");
    if names.len() > MOST {
        text.push_str(&format!(" and {} more", names.len() - MOST));
    }
    text
}

/// Up to three numbers with a comma or an `x` between them; those left out are 1.
///
/// # Errors
/// What would be right, in words.
pub fn dimensions(text: &str) -> Result<[u64; 3], String> {
    let mut sizes = [1; 3];
    // The x of 0x is none that stands between numbers.
    let is_hexadecimal = text.contains("0x") || text.contains("0X");
    let between = |c: char| c == ',' || c == 'x' && !is_hexadecimal;
    for (at, part) in text.split(between).enumerate() {
        let Some(size) = sizes.get_mut(at) else {
            return Err(format!("{text:?} are more than three sizes"));
        };
        *size = number(part.trim())?;
    }
    Ok(sizes)
}

/// Three sizes as they are typed, those at the end that are 1 left out.
pub fn shown(sizes: [u64; 3]) -> String {
    let [x, y, z] = sizes;
    match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x},{y}"),
        _ => format!("{x},{y},{z}"),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes_are_read_as_they_are_typed() {
        assert_eq!(number("0x40"), Ok(64));
        assert_eq!(number("1_000"), Ok(1000));
        assert_eq!(number("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(address("7f00"), Ok(0x7f00));
        for (wrong, why) in [
            ("", "no whole number"),
            ("-1", "negative"),
            ("+1", "no whole number"),
            ("0x", "no whole number"),
            ("-0x10", "no whole number"),
            ("1.5", "no whole number"),
            ("1e3", "no whole number"),
            ("_", "no whole number"),
            ("18446744073709551616", "too large"),
            ("0x10000000000000000", "too large"),
        ] {
            let message = number(wrong).expect_err(wrong);
            assert!(message.contains(why), "{wrong}: {message}");
        }
        assert!(address("here").is_err_and(|why| why.contains("no address")));
        assert!(address("-7f00").is_err_and(|why| why.contains("negative")));
        assert_eq!(dimensions("4096"), Ok([4096, 1, 1]));
        assert_eq!(dimensions("8, 4,2"), Ok([8, 4, 2]));
        assert_eq!(dimensions("8x4"), Ok([8, 4, 1]));
        assert_eq!(dimensions("0x10,2"), Ok([16, 2, 1]));
        for wrong in ["", "1,2,3,4", "1,,2", "x", "é"] {
            assert!(dimensions(wrong).is_err(), "{wrong}");
        }
        for sizes in [[7, 1, 1], [7, 2, 1], [1, 1, 3]] {
            assert_eq!(dimensions(&shown(sizes)), Ok(sizes));
        }
    }

    #[test]
    fn fields_take_the_names_of_their_values() {
        static STATES: crate::record::Names =
            crate::record::Names::packed("0\tINDEPENDENTLY\t\n1\tVIA_HEADER_INDEX\t\n");
        let typed = Inputs::read("a=VIA_HEADER_INDEX;b=true;c=3;d=BY_NAME;e=TRUE");
        let mut form = Form::new(&typed);
        let mut ask = |key, kind| {
            let ask = Ask {
                key,
                label: key,
                group: "Fields",
                note: String::new(),
            };
            form.field(ask, kind)
        };
        let states = Some(Kind::Enum(&STATES));
        assert_eq!(ask("a", states), Some(1));
        assert_eq!(ask("b", Some(Kind::Flag)), Some(1));
        assert_eq!(ask("c", states), Some(3));
        assert_eq!(ask("d", states), None);
        assert_eq!(ask("e", Some(Kind::Count)), None);
        let messages: Vec<&str> = form.problems.iter().map(|p| p.message.as_str()).collect();
        assert!(messages[0].ends_with("INDEPENDENTLY, VIA_HEADER_INDEX"));
        assert_eq!(
            messages[1],
            "\"TRUE\" is no whole number such as 64 or 0x40"
        );
    }

    #[test]
    fn what_cannot_be_read_is_a_problem_of_its_input() {
        let typed = Inputs::read("a=12; b=twelve ;c=2;d=;d=5;e");
        let mut form = Form::new(&typed);
        let ask = |key| Ask {
            key,
            label: key,
            group: "Launch",
            note: String::new(),
        };
        assert_eq!(form.number(ask("a"), Some(1)), Some(12));
        assert_eq!(form.number(ask("b"), Some(7)), Some(7));
        let choices = ["1", "2"].map(|key| Choice {
            key: key.into(),
            label: key.into(),
            unavailable: None,
        });
        assert_eq!(form.choice(ask("c"), choices.to_vec(), 0, |_| None), 1);
        assert_eq!(form.choice(ask("d"), choices.to_vec(), 0, |_| None), 0);
        assert_eq!(form.address(ask("e")), None);
        let about: Vec<&str> = form.problems.iter().map(|p| p.input.as_str()).collect();
        assert_eq!(about, ["b", "d"]);
        // What can be typed is in the message: nobody has to look for it.
        assert!(form.problems[1].message.ends_with("1, 2; 1 counts"));
        assert_eq!(
            list(&["x"; 15]),
            format!("{} and 3 more", ["x"; 12].join(", "))
        );
        let given: Vec<bool> = form.inputs.iter().map(|input| input.is_given).collect();
        assert_eq!(given, [true, true, true, true, false]);
        assert_eq!(form.inputs[1].value, "twelve");
    }
}
