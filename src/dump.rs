//! Dumps as text: bytes that were printed as digits, and bytes printed so.
//!
//! Words of several bytes are little-endian, as the machines are that print them. Whatever is not understood is a finding with the
//! line that it is in; bytes that were not printed are zeros and a finding.

use std::fmt::Write;
use std::ops::Range;

use crate::error::{Diagnostic, Diagnostics, Kind, Severity};

/// How much text is read, and how many bytes may come of it.
pub const LIMIT: usize = 16 << 20;

/// How bytes are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpForm {
    /// Lines of offset and digits, like xxd, `hexdump -C`, od and gdb print them, or digits alone.
    Hex,
    /// A C array, or numbers with commas between.
    C,
    /// `word 12: 0x00001000`, a line a word.
    Words,
}

/// What was printed of a burst of methods that streams a launch descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The line that begins it, from 1 on.
    pub line: u32,
    /// The method header, where it was printed.
    pub header: Option<u32>,
    /// The address that the descriptor is written to: the first two words, `SET_INLINE_QMD_ADDRESS_A` and `_B`.
    pub address: Option<u64>,
    /// The words that follow.
    pub bytes: Vec<u8>,
}

/// Bytes that were printed.
#[derive(Clone, Debug, Default)]
pub struct Dump {
    /// The bytes; of several bursts those of the first one.
    pub bytes: Vec<u8>,
    /// What they were printed as; `None` where no bytes were found.
    pub form: Option<DumpForm>,
    /// Which number the first word has, 0 or 1, where words are numbered.
    pub numbering: Option<u32>,
    /// The bursts, where that is what was printed.
    pub bursts: Vec<Burst>,
    /// What was not understood, and what was left out.
    pub findings: Diagnostics,
}

/// Whether `bytes` are text, so that they may be a dump.
pub fn is_text(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c);
    !bytes.is_empty() && !bytes.iter().any(is_control) && std::str::from_utf8(bytes).is_ok()
}

/// Reads the bytes that `text` has as digits. Where words are numbered, the first one has the number `numbering`, 0 or 1; `None` tells
/// from the numbers.
pub fn read(text: &str, numbering: Option<u32>) -> Dump {
    let mut reader = Reader {
        dump: Dump::default(),
        line: 0,
        at: 0,
    };
    let mut end = text.len().min(LIMIT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    if end == LIMIT {
        reader.say(
            Severity::Warning,
            "only the first 16 MiB of the text are read",
        );
    }
    if begins_with_digits(text) {
        reader.hex(text);
    } else if text.contains('{') {
        reader.c(text, Some('{'));
    } else if text.lines().any(|line| word(line).is_some()) {
        reader.words(text, numbering);
    } else if is_list(text) {
        reader.c(text, None);
    } else if is_list_in_brackets(text) {
        reader.c(text, Some('['));
    } else {
        reader.hex(text);
    }
    let mut dump = reader.dump;
    if dump.bytes.len() > LIMIT {
        dump.bytes.truncate(LIMIT);
    }
    if dump.bytes.is_empty() {
        dump.form = None;
        let nothing = "no bytes were found in the text";
        dump.findings
            .push(Diagnostic::error(Kind::Format, nothing).at(0));
    }
    dump
}

/// Prints `bytes`: a C array called `name`, words where they are whole ones, else lines of offset, digits and characters.
pub fn print(bytes: &[u8], form: DumpForm, name: &str) -> String {
    let mut out = String::new();
    let words = bytes.chunks(4).map(little);
    match form {
        DumpForm::Words if bytes.len().is_multiple_of(4) => {
            for (i, word) in words.enumerate() {
                let _ = writeln!(out, "word {i:02}: 0x{word:08x}");
            }
        }
        DumpForm::C if bytes.len().is_multiple_of(4) => {
            let _ = write!(
                out,
                "static const uint32_t {name}[{}] = {{",
                bytes.len() / 4
            );
            for (i, word) in words.enumerate() {
                if i % 4 == 0 {
                    let _ = write!(out, "\n    /* {i:3} */");
                }
                let _ = write!(out, " 0x{word:08x},");
            }
            out.push_str("\n};\n");
        }
        DumpForm::C => {
            let _ = write!(out, "static const uint8_t {name}[{}] = {{", bytes.len());
            for (i, byte) in bytes.iter().enumerate() {
                if i % 16 == 0 {
                    let _ = write!(out, "\n    /* {i:4} */");
                }
                let _ = write!(out, " 0x{byte:02x},");
            }
            out.push_str("\n};\n");
        }
        DumpForm::Words | DumpForm::Hex => {
            for (i, line) in bytes.chunks(16).enumerate() {
                let _ = write!(out, "{:08x}:", i * 16);
                for byte in line {
                    let _ = write!(out, " {byte:02x}");
                }
                out.extend(std::iter::repeat_n("   ", 16 - line.len()));
                out.push_str("  ");
                let shown = |byte: &u8| match byte {
                    b' '..=b'~' => char::from(*byte),
                    _ => '.',
                };
                out.extend(line.iter().map(shown));
                out.push('\n');
            }
        }
    }
    out
}

/// The number in bytes, the lowest first.
fn little(bytes: &[u8]) -> u64 {
    let from_highest = bytes.iter().rev();
    from_highest.fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// A number as it was printed.
#[derive(Clone, Copy)]
struct Number {
    value: u64,
    /// Its digits; 0 of a decimal number, whose width they do not say.
    digits: usize,
}

/// A number of a program: hexadecimal with `0x`, else decimal; a suffix such as `UL` does not count.
fn number(text: &str) -> Option<Number> {
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => Some(Number {
            value: hexadecimal(digits)?,
            digits: digits.len(),
        }),
        None => Some(Number {
            value: text.parse().ok().filter(|_| !text.starts_with('+'))?,
            digits: 0,
        }),
    }
}

/// The value of hexadecimal digits, 16 at most.
fn hexadecimal(digits: &str) -> Option<u64> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let value = u64::from_str_radix(digits, 16).ok();
    value.filter(|_| is_number)
}

/// Number and value of a numbered word in `line`, `word 12: 0x1000` or `qmd[12] = 0x1000`, whatever stands before it.
fn word(line: &str) -> Option<(u64, Number)> {
    let line = line.to_ascii_lowercase();
    let index = |(at, name): (usize, &str)| {
        let text = line[at + name.len()..].trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit());
        text.split_at(end.unwrap_or(text.len()))
    };
    let mut named = line.match_indices("word").map(index);
    let mut indexed = line.match_indices('[').filter_map(|found| {
        let (index, rest) = index(found);
        Some((index, rest.trim_start().strip_prefix(']')?))
    });
    named
        .find_map(numbered)
        .or_else(|| indexed.find_map(numbered))
}

/// Characters of a number that is written out, at most.
const LONGEST: usize = 48;

/// A word's number with the value that is assigned to it in `rest`.
fn numbered((index, rest): (&str, &str)) -> Option<(u64, Number)> {
    let index = index.parse().ok()?;
    let rest = rest.trim_start();
    let value = rest.trim_start_matches([':', '=', '-', '>']);
    if value.len() == rest.len() {
        return None;
    }
    let ends = |c: char| c.is_whitespace() || c == ',' || c == ';';
    let value = value.trim_start();
    let mut characters = value.char_indices().take(LONGEST);
    let value = match characters.find(|(_, c)| ends(*c)) {
        Some((end, _)) => &value[..end],
        None => Some(value).filter(|value| value.len() < LONGEST)?,
    };
    // Without 0x eight digits are hexadecimal, too.
    let bare = || hexadecimal(value).filter(|_| value.len() == 8);
    let number = number(value).filter(|value| value.digits > 0).or_else(|| {
        Some(Number {
            value: bare()?,
            digits: 8,
        })
    });
    Some((index, number?))
}

/// Whether `text` is nothing but numbers with commas between.
fn is_list(text: &str) -> bool {
    let parts = || text.split([',', ';']).flat_map(str::split_whitespace);
    text.contains(',') && parts().next().is_some() && parts().all(|part| number(part).is_some())
}

/// Whether numbers with commas between follow the last bracket, as other languages than C write a list.
fn is_list_in_brackets(text: &str) -> bool {
    let list = text.rsplit_once('[').map(|(_, list)| list.split(']'));
    list.and_then(|mut list| list.next()).is_some_and(is_list)
}

/// Whether the first line has an offset or characters beside its digits: what looks like a list may be characters then.
fn begins_with_digits(text: &str) -> bool {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.map(Digits::read).is_some_and(|line| {
        let is_offset = |text| offset(text, 16).is_some();
        line.all_digits().is_some()
            && (line.offset.is_some_and(is_offset) || !line.characters.is_empty())
    })
}

/// How many bytes a type of C has that is named in `text`.
fn width_of_type(text: &str) -> Option<usize> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let widths = words.filter_map(|word| match word {
        "uint8_t" | "int8_t" | "u8" | "char" | "NvU8" => Some(1),
        "uint16_t" | "int16_t" | "u16" | "short" | "NvU16" => Some(2),
        "uint32_t" | "int32_t" | "u32" | "NvU32" => Some(4),
        "uint64_t" | "int64_t" | "u64" | "long" | "NvU64" => Some(8),
        // What else is said counts more: unsigned char, long int.
        "unsigned" | "int" => Some(NO_WIDTH),
        _ => None,
    });
    let width = widths.min()?;
    Some(if width == NO_WIDTH { 4 } else { width })
}

/// Larger than each width.
const NO_WIDTH: usize = 9;

/// `text` without comments, as many characters as before, so that places stay.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('/') {
        let comment = &rest[start..];
        let end = match comment.as_bytes().get(1) {
            Some(b'*') => comment[2..].find("*/").map(|end| end + 4),
            Some(b'/') => comment.find('\n'),
            // A mark of another meaning stays.
            _ => Some(0),
        };
        let end = end.unwrap_or(comment.len());
        out.push_str(&rest[..start + usize::from(end == 0)]);
        let blank = |byte: u8| if byte == b'\n' { '\n' } else { ' ' };
        out.extend(comment[..end].bytes().map(blank));
        rest = &comment[end.max(1)..];
    }
    out.push_str(rest);
    out
}

/// A line of digits: what stands before them, the groups of digits, the characters behind them.
struct Digits<'a> {
    offset: Option<&'a str>,
    /// A colon ends the offset, so that it is one.
    is_marked: bool,
    groups: Vec<&'a str>,
    characters: &'a str,
}

impl<'a> Digits<'a> {
    fn read(line: &'a str) -> Self {
        let is_offset = |text: &str| {
            let mut words = text.split_whitespace().skip(1);
            words.next().is_none_or(|word| word.starts_with('<')) && words.next().is_none()
        };
        let marked = line.split_once(':').filter(|(offset, _)| is_offset(offset));
        let (offset, rest) = match marked {
            Some((offset, rest)) => (Some(offset.trim()), rest),
            None => (None, line),
        };
        // The characters that xxd prints stand two spaces behind the digits, those of the others between marks.
        let bar = rest.find('|').unwrap_or(rest.len());
        let of_others = match rest[..bar].split_once("  >") {
            Some((digits, _)) => Some((digits, &rest[digits.len() + 3..])),
            None => rest.split_once('|'),
        };
        let (mut digits, mut characters) = match of_others {
            Some(parts) if offset.is_none() => parts,
            _ => (rest, ""),
        };
        let lead = digits.len() - digits.trim_start().len();
        if let (Some(_), Some(at)) = (offset, digits[lead..].find("  ")) {
            let (first, second) = digits[lead..].split_at(at);
            // Some leave as much room between the halves of a line.
            let is_half = |text: &str| {
                let groups = text.split(' ').take(8);
                groups
                    .filter(|g| g.len() == 2 && hexadecimal(g).is_some())
                    .count()
                    == 8
            };
            if is_half(first) && is_half(&second[2..]) {
                let end = second[2..].find("  ").map_or(second.len(), |end| end + 2);
                digits = &digits[lead..lead + at + end];
            } else {
                digits = first;
                characters = second.get(2..).unwrap_or_default();
            }
        }
        Self {
            offset,
            is_marked: offset.is_some(),
            groups: digits
                .split([' ', '\t', ','])
                .filter(|g| !g.is_empty())
                .collect(),
            characters,
        }
    }

    /// The digits of the groups, where all are digits; and how many each has, where all have as many.
    fn all_digits(&self) -> Option<Option<usize>> {
        let mut lengths = self.groups.iter().map(|group| {
            let digits = group.strip_prefix("0x").unwrap_or(group);
            let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            (is_number && !digits.is_empty()).then_some(digits.len())
        });
        let first = lengths.next()??;
        let mut same = true;
        for length in lengths {
            same &= length? == first;
        }
        Some(same.then_some(first))
    }
}

struct Reader {
    dump: Dump,
    /// The line that is read, from 1 on, and where it begins.
    line: u32,
    at: usize,
}

impl Reader {
    fn say(&mut self, severity: Severity, message: &str) {
        let finding = match severity {
            Severity::Error => Diagnostic::error(Kind::Format, message),
            Severity::Warning => Diagnostic::warning(Kind::Format, message),
            Severity::Note => Diagnostic::note(Kind::Format, message),
        };
        let mut finding = finding.at(self.at as u64);
        if self.line > 0 {
            finding = finding.within(format!("line {}", self.line));
        }
        self.dump.findings.push(finding);
    }

    /// Goes on to the line at `at` of the text.
    fn enter(&mut self, at: usize) {
        self.line += 1;
        self.at = at;
    }

    fn push(&mut self, value: u64, width: usize) {
        self.dump.bytes.extend(&value.to_le_bytes()[..width]);
    }

    /// An array in brackets, of which the first one of C or the last one of other languages counts, or numbers with commas between.
    /// Their width is that of the type, or that of their digits.
    fn c(&mut self, text: &str, bracket: Option<char>) {
        self.dump.form = Some(DumpForm::C);
        let text = without_comments(text);
        let (open, close) = match bracket {
            Some('[') => (text.rfind('['), ']'),
            Some(bracket) => (text.find(bracket), '}'),
            None => (None, ' '),
        };
        let start = open.map_or(0, |at| at + 1);
        let list = &text[start..];
        let end = open.and_then(|_| list.find(close));
        let list = &list[..end.unwrap_or(list.len())];
        // The declaration goes back to the end of the statement before.
        let lines = text[..start].lines().rev();
        let mut declaration = lines.take_while(|line| !line.trim_end().ends_with([';', '}']));
        let numbers = || {
            list.split(|c: char| c == ',' || c.is_whitespace())
                .map(number)
        };
        let lengths = || numbers().flatten().map(|number| number.digits);
        let width = declaration.find_map(width_of_type).unwrap_or_else(|| {
            let (least, most) = (lengths().min(), lengths().max());
            match most.unwrap_or(0) {
                // Numbers of several lengths are words, as those without zeros ahead are.
                length @ (1 | 2 | 4) if least == most => length.div_ceil(2),
                9.. => 8,
                _ => 4,
            }
        });
        self.line = 1 + text[..start].matches('\n').count() as u32;
        for part in list.split_inclusive([',', '\n']) {
            self.at = part.as_ptr() as usize - text.as_ptr() as usize;
            for item in part.split(|c: char| c == ',' || c.is_whitespace()) {
                match number(item) {
                    None if item.is_empty() => {}
                    None => self.say(Severity::Warning, "not a number; left out"),
                    Some(number) if number.value > u64::MAX >> (64 - 8 * width) => {
                        self.say(
                            Severity::Warning,
                            "the number is too large for the array; cut off",
                        );
                        self.push(number.value, width);
                    }
                    Some(number) => self.push(number.value, width),
                }
            }
            self.line += u32::from(part.ends_with('\n'));
        }
        if start > 0 && end.is_none() {
            self.say(Severity::Warning, "the array does not end");
        }
        let rest = end.map_or("", |end| &text[start + end + 1..]);
        if rest.contains('{') {
            self.at = text.len() - rest.len();
            self.line = 1 + text[..self.at].matches('\n').count() as u32;
            self.say(
                Severity::Note,
                "there is another array behind the first one, which is not read",
            );
        }
    }

    /// Words with numbers, those of each burst by themselves.
    fn words(&mut self, text: &str, numbering: Option<u32>) {
        self.dump.form = Some(DumpForm::Words);
        let mut list = List::default();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            self.enter(at);
            at += line.len();
            let header = line.split_once("burst at word").map(|(_, rest)| {
                let header = rest.rsplit_once("0x").map(|(_, digits)| digits.trim());
                header
                    .and_then(hexadecimal)
                    .and_then(|h| u32::try_from(h).ok())
            });
            if let Some(header) = header {
                self.close(&mut list, numbering);
                list = List {
                    burst: Some(header),
                    line: self.line,
                    ..List::default()
                };
            } else if let Some((index, number)) = word(line) {
                if list.words.is_empty() && list.burst.is_none() {
                    list.line = self.line;
                }
                if number.value > u64::from(u32::MAX) {
                    self.say(Severity::Warning, "more than 32 bits of a word; cut off");
                }
                if index >= LIMIT as u64 / 4 {
                    self.say(
                        Severity::Warning,
                        "the number of the word is too large; left out",
                    );
                } else {
                    list.words.push(Word {
                        index: index as u32,
                        value: number.value as u32,
                        line: self.line,
                        at: self.at,
                    });
                }
            }
        }
        self.close(&mut list, numbering);
        let bursts = self.dump.bursts.len();
        if bursts > 1 {
            self.line = self.dump.bursts[1].line;
            self.say(
                Severity::Note,
                "there is another burst; the first one is read",
            );
        }
    }

    /// Puts the words of a list in their places.
    fn close(&mut self, list: &mut List, numbering: Option<u32>) {
        let Some(header) = list.burst.or((!list.words.is_empty()).then_some(None)) else {
            return;
        };
        let indices = || list.words.iter().map(|word| word.index);
        let (least, most) = (indices().min().unwrap_or(0), indices().max().unwrap_or(0));
        let base = numbering.unwrap_or(u32::from(least == 1)).min(least);
        let mut words: Vec<Option<u32>> =
            vec![None; (most - base + 1) as usize * usize::from(!list.words.is_empty())];
        let mut last = None;
        for word in &list.words {
            (self.line, self.at) = (word.line, word.at);
            let place = &mut words[(word.index - base) as usize];
            match place {
                Some(value) if *value == word.value => {
                    self.say(Severity::Note, "the word is there twice")
                }
                Some(_) => self.say(
                    Severity::Warning,
                    "another value of the word came before, which counts",
                ),
                None => {
                    *place = Some(word.value);
                    if last.is_some_and(|last| word.index < last) {
                        self.say(Severity::Note, "the word is out of order");
                    }
                }
            }
            last = Some(word.index);
        }
        (self.line, self.at) = (list.line, 0);
        let missing = words.iter().filter(|word| word.is_none()).count();
        if missing > 0 {
            let first = words.iter().position(Option::is_none).unwrap_or(0) as u32 + base;
            let message =
                format!("{missing} words are missing, the first is word {first}; they are zero");
            self.say(Severity::Warning, &message);
        }
        let words: Vec<u32> = words.into_iter().map(Option::unwrap_or_default).collect();
        let is_inline = |header: u32| header & 0xfff == SET_INLINE_QMD_ADDRESS_A;
        if let Some(count) = header.map(|header| header as usize >> 16 & 0x1fff)
            && count != words.len()
        {
            let message = format!("the burst has {count} words, {} are there", words.len());
            self.say(Severity::Warning, &message);
        }
        // Without a header, a descriptor's words with two more ahead are such a burst, too, if they are counted from 1.
        let has_address = match header {
            Some(header) => is_inline(header),
            None => base == 1 && matches!(words.len(), 66 | 98 | 130),
        };
        let (address, words) = match words.as_slice() {
            [upper, lower, words @ ..] if has_address => {
                // On Blackwell bit 30 says how long the descriptor is.
                let upper = u64::from(upper & 0x3fff_ffff);
                (Some((upper << 32 | u64::from(*lower)) << 8), words)
            }
            words => (None, words),
        };
        if address.is_some() {
            let message = "the first two words are the address that the descriptor is written to, not a part of it";
            self.say(Severity::Note, message);
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        if self.dump.bytes.is_empty() {
            self.dump.bytes.clone_from(&bytes);
            self.dump.numbering = Some(base);
        }
        if list.burst.is_some() || address.is_some() {
            self.dump.bursts.push(Burst {
                line: list.line,
                header,
                address,
                bytes,
            });
        }
        *list = List::default();
    }

    /// Lines of digits, with offsets or without.
    fn hex(&mut self, text: &str) {
        self.dump.form = Some(DumpForm::Hex);
        let text = text.replace("\\x", " ");
        let radix = self.radix(&text);
        let mut begin = None;
        let mut squeezed = None;
        let mut last = 0..0;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            self.enter(at);
            at += line.len();
            let line = line.trim();
            if is_remark(line) {
                continue;
            }
            if line == "*" {
                squeezed = Some(last.clone());
                continue;
            }
            let mut digits = Digits::read(line);
            if radix.is_some() && !digits.is_marked && !digits.groups.is_empty() {
                digits.offset = Some(digits.groups.remove(0));
            }
            let offset = digits.offset.map(|text| offset(text, radix.unwrap_or(16)));
            let width = digits.all_digits();
            if (width.is_none() && !digits.groups.is_empty())
                || offset == Some(None) && radix.is_some()
            {
                self.say(Severity::Note, "not digits; left out");
                continue;
            }
            if let Some(Some(offset)) = offset {
                let begin = *begin.get_or_insert(offset);
                self.go_to(offset.wrapping_sub(begin), squeezed.take());
            }
            if squeezed.take().is_some() && !digits.groups.is_empty() {
                let message = "lines before this one were left out, and no offset says how many";
                self.say(Severity::Warning, message);
            }
            let start = self.dump.bytes.len();
            self.line(&digits, width.flatten());
            last = start..self.dump.bytes.len();
        }
    }

    /// Goes to `place` bytes behind the first one: what lies between is left out or, after a `*`, like the line before.
    fn go_to(&mut self, place: u64, squeezed: Option<Range<usize>>) {
        let have = self.dump.bytes.len();
        let place = match usize::try_from(place) {
            Ok(place) if place <= LIMIT => place,
            _ => {
                return self.say(
                    Severity::Warning,
                    "the offset is too far from the first one; it does not count",
                );
            }
        };
        if place < have {
            self.say(
                Severity::Warning,
                "the offset is smaller than where the line before ends; it does not count",
            );
        } else if let (Some(line), true) = (squeezed, place > have) {
            let line = self.dump.bytes[line].to_vec();
            let repeated = line.iter().copied().cycle().take(place - have);
            self.dump.bytes.extend(repeated);
        } else if place > have {
            let message = format!(
                "{} bytes before this line are missing; they are zero",
                place - have
            );
            self.say(Severity::Warning, &message);
            self.dump.bytes.resize(place, 0);
        }
    }

    /// What the offsets of a dump are written in, told from how they go on; `None` where lines have none.
    fn radix(&self, text: &str) -> Option<u32> {
        let lines = text.lines().map(str::trim);
        let mut lines = lines.filter(|line| !is_remark(line)).take(1000).peekable();
        let first = Digits::read(lines.peek()?);
        if first.is_marked {
            return Some(16);
        }
        let mut before: Option<Digits<'_>> = None;
        for line in lines {
            let next = (line != "*").then(|| Digits::read(line));
            if let (Some(before), Some(next)) = (&before, &next)
                && let ([from, groups @ ..], [to, ..]) = (&*before.groups, &*next.groups)
            {
                let size: usize = groups.iter().map(|group| group.len() / 2).sum();
                let goes_on = |radix: &u32| {
                    let step = offset(to, *radix)?.checked_sub(offset(from, *radix)?)?;
                    (size > 0 && step == size as u64).then_some(*radix)
                };
                if let Some(radix) = [16, 8, 10].iter().find_map(goes_on) {
                    return Some(radix);
                }
            }
            before = next;
        }
        // Offsets have six digits or more, another number of them than what follows. Those of od have seven and are octal, those of
        // hexdump without options, which prints groups of four digits, are not.
        match first.groups.as_slice() {
            [offset, ..] if offset.starts_with("0x") => None,
            [offset, group, ..] if offset.len() >= 6 && offset.len() != group.len() => {
                Some(if offset.len() == 7 && group.len() != 4 {
                    8
                } else {
                    16
                })
            }
            _ => None,
        }
    }

    fn line(&mut self, digits: &Digits<'_>, width: Option<usize>) {
        let have = self.dump.bytes.len();
        let is_program = digits
            .groups
            .first()
            .is_some_and(|group| group.starts_with("0x"));
        let is_word = match width {
            Some(8 | 16) => true,
            Some(4) => !digits.is_marked,
            _ => false,
        };
        for group in &digits.groups {
            let digits = group.strip_prefix("0x").unwrap_or(group);
            if is_program || is_word && digits.len() <= 16 {
                match hexadecimal(digits) {
                    Some(value) => self.push(value, digits.len().next_power_of_two().max(2) / 2),
                    None => self.say(Severity::Warning, "more than 64 bits of a number; left out"),
                }
                continue;
            }
            if !digits.len().is_multiple_of(2) {
                self.say(
                    Severity::Warning,
                    "an odd number of digits; the last one is left out",
                );
            }
            let pairs = digits.as_bytes().chunks_exact(2);
            let bytes = pairs.filter_map(|pair| std::str::from_utf8(pair).ok());
            let bytes = bytes.filter_map(|pair| u8::from_str_radix(pair, 16).ok());
            self.dump.bytes.extend(bytes);
        }
        // The characters tell in which order the bytes of a group stand.
        let group = width.unwrap_or(0) / 2;
        if group > 1 && !is_program && digits.is_marked && !digits.characters.is_empty() {
            let line = &mut self.dump.bytes[have..];
            let turned: Vec<u8> = line
                .chunks(group)
                .flat_map(|g| g.iter().rev().copied())
                .collect();
            if differences(line, digits.characters) > differences(&turned, digits.characters) {
                line.copy_from_slice(&turned);
            }
        }
    }
}

/// Whether a line of a dump is none of it: empty, a comment, a command.
fn is_remark(line: &str) -> bool {
    line.is_empty() || line.starts_with(['#', '$'])
}

/// How many of `characters` are not those of `bytes`.
fn differences(bytes: &[u8], characters: &str) -> usize {
    let pairs = bytes.iter().zip(characters.bytes());
    pairs
        .filter(|(byte, character)| match byte {
            b' '..=b'~' => *byte != character,
            _ => *character != b'.',
        })
        .count()
}

/// An offset as it is printed at the beginning of a line: `00000010`, `0x7ffe0010 <qmd+16>`.
fn offset(text: &str, radix: u32) -> Option<u64> {
    let text = text.split_whitespace().next()?;
    let digits = text.strip_prefix("0x");
    let radix = if digits.is_some() { 16 } else { radix };
    u64::from_str_radix(digits.unwrap_or(text), radix).ok()
}

/// The method `SET_INLINE_QMD_ADDRESS_A` as a header has it: in words.
const SET_INLINE_QMD_ADDRESS_A: u32 = 0x318 / 4;

/// Numbered words that belong together.
#[derive(Default)]
struct List {
    /// The header of the burst that they are of, if they are.
    burst: Option<Option<u32>>,
    line: u32,
    words: Vec<Word>,
}

struct Word {
    index: u32,
    value: u32,
    line: u32,
    at: usize,
}
