//! Where words lead: an expression such as `.text.vadd+0x20` to bytes, a few letters to the names that have them.

use serde::Serialize;

use crate::document::Document;
use crate::error::{Diagnostic, Error, Kind, Result};
use crate::rows::{Cell, Progress, find, words};
use crate::span::Span;

/// Where an expression leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Target {
    /// The bytes: all that have the name, or one.
    pub span: Span,
    /// What the expression was taken for.
    pub name: String,
}

/// Numbers that may stand behind a name, at most: each is looked for as a part of the name first.
const TERMS: usize = 8;

impl Document {
    /// Where `expression` leads: `0x40`, `64` or `40h`, an offset in the file; `image:0x180`, an offset in the
    /// image; `file:0x1a40`, an offset in the file that was dropped, of which this may be a member; the name of a section, a kernel or a symbol, `NAME#2` for the second section of that name, `[12]`
    /// for the section of that index. Numbers may be added and taken away: `.text.vadd+0x20`. Names can have
    /// signs, too: the longest name that exists counts.
    ///
    /// # Errors
    /// If there is no such thing, the file has no bytes of it, or it lies past an end.
    pub fn resolve(&self, expression: &str) -> Result<Target> {
        let text = expression.trim();
        if let Some(offset) = text.strip_prefix("image:") {
            let written = offset.trim();
            let Some(offset) = sum(written) else {
                return Err(refuse(format!("{written:?} is no offset in the image")));
            };
            if offset < 0 {
                return Err(refuse(format!(
                    "{written} lies before the beginning of the image"
                )));
            }
            return self.resolve_in_image(offset);
        }
        if let Some(offset) = text.strip_prefix("file:") {
            return self.resolve_in_dropped(offset.trim());
        }
        if let Some(offset) = sum(text) {
            // What lies before the file has no number to be told by.
            let name = match offset < 0 {
                true => text.to_owned(),
                false => format!("offset 0x{offset:x}"),
            };
            return self.one_byte(offset, self.source().size(), "the file", name);
        }
        let (mut name, mut shift) = (text, 0_i128);
        for _ in 0..TERMS {
            if let Some((what, span)) = self.named(name)? {
                if shift == 0 {
                    return Ok(Target { span, name: what });
                }
                let end = match what.starts_with("section") {
                    true => span.end(),
                    false => self.source().size(),
                };
                let (sign, size) = (if shift < 0 { '-' } else { '+' }, shift.unsigned_abs());
                let whole = format!("{what} {sign} 0x{size:x}");
                return self.one_byte(i128::from(span.offset) + shift, end, &what, whole);
            }
            let Some((rest, term)) = last_term(name) else {
                break;
            };
            shift += term;
            name = rest.trim_end();
        }
        let within = match name {
            _ if name == text => String::new(),
            "" => {
                return Err(refuse(format!(
                    "{text:?} has no name or offset before its sign"
                )));
            }
            _ => format!(", as {text:?} has it"),
        };
        Err(refuse(format!(
            "no section, kernel or symbol is called {name:?}{within}"
        )))
    }

    /// The byte at `offset`, unless it lies past `end`, where `what` ends.
    fn one_byte(&self, offset: i128, end: u64, what: &str, name: String) -> Result<Target> {
        match u64::try_from(offset) {
            Ok(offset) if offset < end => Ok(Target {
                span: Span::new(offset, 1),
                name,
            }),
            Ok(offset) => Err(past(what, end, offset)),
            Err(_) => Err(refuse(format!(
                "{name} lies before the beginning of the file"
            ))),
        }
    }

    /// The byte that lies at `written` in the file that was dropped.
    fn resolve_in_dropped(&self, written: &str) -> Result<Target> {
        let offset = sum(written).and_then(|offset| u64::try_from(offset).ok());
        let offset =
            offset.ok_or_else(|| refuse(format!("{written:?} is no offset in the file")))?;
        let start = self.source().in_file(0);
        let start = start.ok_or_else(|| {
            refuse("what was unpacked lies nowhere in the file that was opened".into())
        })?;
        let name = format!("offset 0x{offset:x} of the file that was opened");
        let within = i128::from(offset) - i128::from(start);
        match within < 0 {
            true => Err(refuse(format!(
                "{name} lies before this member, which begins at 0x{start:x}"
            ))),
            false => self.one_byte(within, self.source().size(), "this member", name),
        }
    }

    fn resolve_in_image(&self, offset: i128) -> Result<Target> {
        // Without sections the only image is that of the segments.
        let elf = self
            .elf()
            .ok_or_else(|| refuse("this file has no image".into()))?;
        let by_segments = elf.sections.is_empty();
        let image = elf.image_of(by_segments);
        let image = image.ok_or_else(|| refuse("this file has no image".into()))?;
        let place = self.one_byte(
            offset,
            image.size,
            "the image",
            format!("image offset 0x{offset:x}"),
        )?;
        match image.stored_from(place.span.offset) {
            Some(stored) => Ok(Target {
                span: Span::new(stored.offset, 1),
                ..place
            }),
            None => Err(refuse(format!(
                "{} is a zero that no byte of the file makes",
                place.name
            ))),
        }
    }

    /// What is called `name`, and its bytes.
    fn named(&self, name: &str) -> Result<Option<(String, Span)>> {
        if name.is_empty() {
            return Ok(None);
        }
        let none = |what: &str| refuse(format!("the file has no bytes of {what}"));
        if let Some(elf) = self.elf() {
            let called = |name: &str, number: u64| {
                let mut sections = elf.sections.iter().filter(|section| section.name == name);
                sections.nth(usize::try_from(number).ok()?.checked_sub(1)?)
            };
            let index = name
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'));
            let by_index = || elf.sections.get(number(index?)? as usize);
            let by_number = || {
                let (name, at) = name.rsplit_once('#')?;
                called(name, number(at)?)
            };
            let section = called(name, 1).or_else(by_index).or_else(by_number);
            if let Some(section) = section {
                let what = format!("section {}", elf.section_label(section.index));
                let span = elf.stored(section).some().ok_or_else(|| none(&what))?;
                return Ok(Some((what, span)));
            }
        }
        // A symbol can stand in several tables, in some of them undefined.
        let mut without_bytes = None;
        for kind in [Named::Kernel, Named::Symbol] {
            let Some(table) = self.table(kind.table()) else {
                continue;
            };
            for row in 0..table.len() {
                if !matches!(table.cell(row, "name"), Cell::Text(text) if text == name) {
                    continue;
                }
                let what = format!("{} {name}", kind.word());
                match table.target(row) {
                    Some(span) => return Ok(Some((what, span))),
                    None => without_bytes = Some(what),
                }
            }
        }
        without_bytes.map_or(Ok(None), |what| Err(none(&what)))
    }
}

fn refuse(message: String) -> Error {
    Diagnostic::error(Kind::Format, message).into()
}

fn past(what: &str, end: u64, offset: u64) -> Error {
    Diagnostic::error(Kind::Format, format!("that is past the end of {what}"))
        .expected(
            format!("an offset below 0x{end:x}"),
            format!("0x{offset:x}"),
        )
        .into()
}

/// The number that `text` is: `0x40`, `64`, `40h`.
fn number(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let (digits, radix) = match (text.strip_prefix("0x"), text.strip_suffix('h')) {
        (Some(digits), _) => (digits, 16),
        // `h` alone, and `bach`, are names.
        (_, Some(digits)) if text.starts_with(|c: char| c.is_ascii_digit()) => (digits, 16),
        _ => (text.as_str(), 10),
    };
    // The parser takes a sign, too.
    let is_signed = digits.starts_with(['+', '-']);
    u64::from_str_radix(digits, radix)
        .ok()
        .filter(|_| !is_signed)
}

/// What stands before the last sign of `text`, and the number behind it with its sign.
fn last_term(text: &str) -> Option<(&str, i128)> {
    let at = text.rfind(['+', '-'])?;
    let size = i128::from(number(&text[at + 1..])?);
    let is_negative = text[at..].starts_with('-');
    Some((&text[..at], if is_negative { -size } else { size }))
}

/// The sum that `text` is, if it has nothing but numbers.
fn sum(text: &str) -> Option<i128> {
    let (mut rest, mut total) = (text, 0);
    loop {
        if let Some(first) = number(rest) {
            return Some(total + i128::from(first));
        }
        let (before, term) = last_term(rest)?;
        total += term;
        rest = before;
    }
}

/// What has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Kernel,
    Section,
    Symbol,
}

impl Named {
    /// In the order in which they are suggested, where nothing else decides.
    const ALL: [Self; 3] = [Self::Kernel, Self::Section, Self::Symbol];

    fn word(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Section => "section",
            Self::Symbol => "symbol",
        }
    }

    /// The table that lists them.
    fn table(self) -> &'static str {
        match self {
            Self::Kernel => "kernels",
            Self::Section => "sections",
            Self::Symbol => "symbols",
        }
    }
}

/// Something whose name has the words that were asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Suggestion {
    /// What it is: `kernel`, `section` or `symbol`.
    #[cfg_attr(
        target_arch = "wasm32",
        tsify(type = "'kernel' | 'section' | 'symbol'")
    )]
    pub kind: &'static str,
    /// Its name, long ones cut.
    pub name: String,
    /// Where it is shown: `kernels/3`, `sections`, `symbols`.
    pub view: String,
    /// Its bytes in the file.
    pub span: Option<Span>,
}

/// Characters of a suggested name, at most.
const NAME_LIMIT: usize = 1000;

/// A search for names under way.
#[derive(Clone, Debug)]
pub struct Suggest {
    words: Vec<String>,
    most: usize,
    /// The table that is gone through, of those in [`Named::ALL`], and its next row.
    at: (usize, u64),
    done: u64,
    /// The best so far, each with how well it fits: less is better.
    found: Vec<(u64, Suggestion)>,
}

impl Suggest {
    /// A search for the `most` names that fit `text` best: all of its words must occur in them, capital letters
    /// count for nothing. Names that begin so stand before those in which a word does, and these before others;
    /// among alike ones the shortest is first.
    pub fn new(text: &str, most: usize) -> Self {
        Self {
            words: words(text),
            most,
            at: (0, 0),
            done: 0,
            found: Vec::new(),
        }
    }

    /// The best so far.
    pub fn found(&self) -> Vec<Suggestion> {
        self.found.iter().map(|(_, found)| found.clone()).collect()
    }

    /// Goes on: about `budget` names more.
    pub fn step(&mut self, document: &Document, budget: u64) -> Progress {
        let mut budget = budget.max(1);
        while let Some(&kind) = Named::ALL.get(self.at.0) {
            let table = document.table(kind.table());
            let len = table.as_ref().map_or(0, |table| table.len());
            let stop = len.min(self.at.1.saturating_add(budget));
            for row in self.at.1..stop {
                if let Some(table) = &table
                    && let Cell::Text(name) = table.cell(row, "name")
                    && let Some(rank) = rank(&name, &self.words)
                    && self.has_room(rank)
                {
                    self.add(rank, kind, &name, row, table.target(row));
                }
            }
            self.done += stop - self.at.1;
            budget -= stop - self.at.1;
            self.at.1 = stop;
            if stop < len {
                break;
            }
            self.at = (self.at.0 + 1, 0);
        }
        let lengths = Named::ALL.map(|kind| document.table(kind.table()).map_or(0, |t| t.len()));
        Progress {
            done: self.done,
            total: lengths.iter().sum(),
            finished: self.at.0 == Named::ALL.len(),
        }
    }

    fn has_room(&self, rank: u64) -> bool {
        self.found.len() < self.most || self.found.last().is_some_and(|last| rank < last.0)
    }

    fn add(&mut self, rank: u64, kind: Named, name: &str, row: u64, span: Option<Span>) {
        // Kernels and sections have symbols, too, and a symbol can stand in two tables.
        let name: String = name.chars().take(NAME_LIMIT).collect();
        let start = |span: Option<Span>| span.map(|span| span.offset);
        let mut found = self.found.iter();
        if found.any(|(_, known)| known.name == name && start(known.span) == start(span)) {
            return;
        }
        let view = match kind {
            Named::Kernel => format!("kernels/{row}"),
            _ => kind.table().into(),
        };
        let suggestion = Suggestion {
            kind: kind.word(),
            name,
            view,
            span,
        };
        let at = self.found.partition_point(|known| known.0 <= rank);
        self.found.insert(at, (rank, suggestion));
        self.found.truncate(self.most);
    }
}

/// How well `name` fits `words`, which are in small letters: less is better. `None` unless it has all of them.
fn rank(name: &str, words: &[String]) -> Option<u64> {
    let name = name.as_bytes();
    if name.is_empty() {
        return None;
    }
    let mut worst = 0;
    for word in words {
        let mut at = find(name, word.as_bytes())?;
        let mut rank = 2;
        // A word begins where no letter stands before it: in `_Z4vaddPf`, `vadd` does.
        loop {
            if at == 0 {
                rank = 0;
            } else if !name[at - 1].is_ascii_alphabetic() {
                rank = rank.min(1);
            }
            match find(&name[at + 1..], word.as_bytes()) {
                Some(next) if rank > 1 => at += 1 + next,
                _ => break,
            }
        }
        worst = worst.max(rank);
    }
    // Without words everything fits alike, in the order of the file.
    let size = if words.is_empty() { 0 } else { name.len() };
    Some((worst << 32) + size as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_three_ways() {
        for (text, expected) in [
            ("64", Some(64)),
            ("0x40", Some(64)),
            ("0X40", Some(64)),
            ("40h", Some(64)),
            (" 0ffH ", Some(255)),
            ("ffh", None),
            ("h", None),
            ("+4", None),
            ("0x+4", None),
            ("", None),
            ("0x", None),
        ] {
            assert_eq!(number(text), expected, "{text:?}");
        }
    }

    #[test]
    fn numbers_add_up() {
        for (text, expected) in [
            ("0x40 + 4 - 2", Some(66)),
            ("1-2", Some(-1)),
            ("a+1", None),
            ("+1", None),
            ("1+", None),
        ] {
            assert_eq!(sum(text), expected, "{text:?}");
        }
        let most = u64::MAX.to_string();
        assert_eq!(
            sum(&format!("{most}+{most}")),
            Some(2 * i128::from(u64::MAX))
        );
    }

    #[test]
    fn beginnings_of_words_fit_better_than_what_is_within() {
        let words = |text: &str| crate::rows::words(text);
        let names = ["vadd", "vadd_f32", "_Z4vaddPf", "invadd", "other"];
        let ranks = names.map(|name| rank(name, &words("VADD")));
        assert!(ranks[..4].is_sorted() && ranks[0].is_some(), "{ranks:?}");
        assert_eq!(ranks[4], None);
        assert_eq!(rank("a_ab", &words("ab")), Some((1 << 32) + 4));
        assert_eq!(rank("xab_ab", &words("ab")), Some((1 << 32) + 6));
        assert_eq!(rank("vadd_f32", &words("f32 vadd")), Some((1 << 32) + 8));
        assert_eq!(rank("vadd", &words("")), Some(0));
        assert_eq!(rank("", &words("")), None);
    }
}
