//! Dumps as text: bytes that were printed as digits, and bytes printed so.
//!
//! Words of several bytes are little-endian, as the machines are that print them, if nothing says that their bytes stand in order.
//! Whatever is not understood is a finding with the
//! line that it is in; bytes that were not printed are zeros and a finding.

use std::cmp::Ordering;
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

/// In which order the bytes of a group of digits stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The lowest byte last, as a number is written.
    Little,
    /// As they are in memory, like xxd prints groups without `-e`.
    Big,
}

impl ByteOrder {
    /// As it is typed.
    pub fn key(self) -> &'static str {
        match self {
            Self::Little => "little",
            Self::Big => "big",
        }
    }

    /// The order that is typed as `key`.
    pub fn from_key(key: &str) -> Option<Self> {
        [Self::Little, Self::Big]
            .into_iter()
            .find(|order| order.key().eq_ignore_ascii_case(key))
    }
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
    /// The bytes; those of bursts one behind the other.
    pub bytes: Vec<u8>,
    /// What they were printed as; `None` where no bytes were found.
    pub form: Option<DumpForm>,
    /// Which number the first word has, 0 or 1, where words are numbered.
    pub numbering: Option<u32>,
    /// In which order the bytes of groups stand, and what says it, where groups have several bytes.
    pub order: Option<(ByteOrder, &'static str)>,
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
/// from the numbers. `order` is that of the bytes in groups of digits; `None` tells from the characters beside them.
pub fn read(text: &str, numbering: Option<u32>, order: Option<ByteOrder>) -> Dump {
    let mut reader = Reader {
        dump: Dump::default(),
        line: 0,
        at: 0,
    };
    let mut end = text.len().min(LIMIT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let is_cut = end < text.len();
    let text = &text[..end];
    if is_cut {
        reader.say(
            Severity::Warning,
            "only the first 16 MiB of the text are read",
        );
    }
    if is_counted(text) {
        reader.words(text, numbering, counted);
    } else if begins_with_digits(text) {
        reader.hex(text, order);
    } else if has_string(text) {
        reader.strings(text);
    } else if text.contains('{') {
        reader.c(text, Some('{'));
    } else if text.lines().any(|line| word(line).is_some()) {
        reader.words(text, numbering, word);
    } else if is_list(text) {
        reader.c(text, None);
    } else if is_list_in_brackets(text) {
        reader.c(text, Some('['));
    } else {
        reader.hex(text, order);
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

/// Number and value of a line that has nothing else: `12: 0x1000`.
fn counted(line: &str) -> Option<(u64, Number)> {
    let line = line.trim().trim_end_matches([',', ';']);
    let parts = line.split_at(line.find(|c: char| !c.is_ascii_digit())?);
    let mut values = parts
        .1
        .trim_start_matches([':', ' ', '\t'])
        .split_whitespace();
    let is_alone = values.next().is_some() && values.next().is_none();
    numbered(parts).filter(|_| is_alone && parts.1.trim_start().starts_with(':'))
}

/// Whether the lines of `text` are counted words: each has the next number and one value, and values are longer than the bytes
/// that lines with offsets would have at such steps.
fn is_counted(text: &str) -> bool {
    let lines = text.lines().map(str::trim).filter(|line| !is_remark(line));
    let (mut last, mut is_long, mut count) = (None, false, 0);
    for line in lines {
        let Some((index, number)) = counted(line) else {
            return false;
        };
        if number.value > u64::from(u32::MAX)
            || last.is_some_and(|last: u64| last.checked_add(1) != Some(index))
        {
            return false;
        }
        is_long |= number.digits > 2;
        last = Some(index);
        count += 1;
    }
    count > 1 && is_long
}

/// Whether `text` has a string in quotes with bytes as escapes, as C and Python write them.
fn has_string(text: &str) -> bool {
    let escape = |(at, _): (usize, &str)| {
        let next = text.as_bytes().get(at + 1);
        next.is_some_and(|next| matches!(next, b'x' | b'0'..=b'7'))
    };
    let first = text.match_indices('\\').find(|found| escape(*found));
    first.is_some_and(|(at, _)| text[..at].contains(['"', '\'']))
}

/// Where an escape that begins at `at` of `text` ends, and the byte that it is.
fn escaped(text: &[u8], at: usize) -> Option<(usize, u8)> {
    let digits = |from: usize, most: usize, radix: u32| {
        let digits = text[from.min(text.len())..].iter().take(most);
        let digits = digits.map_while(|&byte| char::from(byte).to_digit(radix));
        digits.fold((from, 0), |(end, value), digit| {
            (end + 1, value * radix + digit)
        })
    };
    let byte = match *text.get(at + 1)? {
        b'x' => {
            // More digits would be of a number that no byte has; Python and printf write two.
            let (end, value) = digits(at + 2, 2, 16);
            return (end > at + 2).then_some((end, value as u8));
        }
        b'0'..=b'7' => {
            let (end, value) = digits(at + 1, 3, 8);
            return Some((end, u8::try_from(value).ok()?));
        }
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'v' => 11,
        b'f' => 12,
        b'e' => 27,
        byte @ (b'"' | b'\'' | b'\\' | b'?') => byte,
        _ => return None,
    };
    Some((at + 2, byte))
}

/// How many elements the array has whose declaration `text` is: `uint32_t qmd[64] =`.
fn declared(text: &str) -> Option<u64> {
    let text = text.trim_end();
    let text = text.strip_suffix('=').unwrap_or(text).trim_end();
    let (_, count) = text.strip_suffix(']')?.rsplit_once('[')?;
    Some(number(count.trim())?.value)
}

/// The index that an element of an array names, `[12] = 0x1000`, and what follows it.
fn designated(item: &str) -> Option<(u64, &str)> {
    let (index, rest) = item.trim_start().strip_prefix('[')?.split_once(']')?;
    Some((
        number(index.trim())?.value,
        rest.trim_start().strip_prefix('=')?,
    ))
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

    /// A line of a dump whose offsets are in `radix`, if lines have offsets.
    fn behind_offset(line: &'a str, radix: Option<u32>) -> Self {
        let mut digits = Self::read(line);
        if radix.is_some() && !digits.is_marked && !digits.groups.is_empty() {
            digits.offset = Some(digits.groups.remove(0));
        }
        digits
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
            let parts = list.split([',', '\n']);
            let values = parts.map(|part| designated(part).map_or(part, |(_, rest)| rest));
            values.flat_map(str::split_whitespace).map(number)
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
        let mut place = 0;
        for part in list.split_inclusive([',', '\n']) {
            self.at = part.as_ptr() as usize - text.as_ptr() as usize;
            let mut values = part;
            if let Some((index, rest)) = designated(part) {
                values = rest;
                match usize::try_from(index).ok().filter(|i| *i < LIMIT / width) {
                    Some(index) => place = index * width,
                    None => {
                        self.say(
                            Severity::Warning,
                            "the index is too large; it does not count",
                        );
                    }
                }
            }
            for item in values.split(|c: char| c == ',' || c.is_whitespace()) {
                let Some(number) = number(item) else {
                    if !item.is_empty() {
                        self.say(Severity::Warning, "not a number; left out");
                    }
                    continue;
                };
                if number.value > u64::MAX >> (64 - 8 * width) {
                    self.say(
                        Severity::Warning,
                        "the number is too large for the array; cut off",
                    );
                }
                // An element that is named again has the later value, and one that is never named is zero.
                let end = place + width;
                let have = self.dump.bytes.len();
                self.dump.bytes.resize(have.max(end), 0);
                self.dump.bytes[place..end].copy_from_slice(&number.value.to_le_bytes()[..width]);
                place = end;
            }
            self.line += u32::from(part.ends_with('\n'));
        }
        if start > 0 && end.is_none() {
            self.say(Severity::Warning, "the array does not end");
        } else if let (Some('{'), Some(at)) = (bracket, open)
            && let Some(count) = declared(&text[..at])
            && let Some(size) = usize::try_from(count)
                .ok()
                .and_then(|n| n.checked_mul(width))
            && (self.dump.bytes.len() + 1..=LIMIT).contains(&size)
        {
            let message = format!("the array has {count} elements; those without a value are zero");
            self.say(Severity::Note, &message);
            self.dump.bytes.resize(size, 0);
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
    fn words(
        &mut self,
        text: &str,
        numbering: Option<u32>,
        word: impl Fn(&str) -> Option<(u64, Number)>,
    ) {
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
                let here = (self.line, self.at);
                self.close(&mut list, numbering);
                (self.line, self.at) = here;
                list = List {
                    burst: Some(header),
                    line: self.line,
                    at: self.at,
                    ..List::default()
                };
            } else if let Some((index, number)) = word(line) {
                if list.words.is_empty() && list.burst.is_none() {
                    (list.line, list.at) = (self.line, self.at);
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
        if self.dump.bursts.len() > 1 {
            let bytes = self.dump.bursts.iter().map(|burst| &*burst.bytes);
            self.dump.bytes = bytes.collect::<Vec<_>>().concat();
        }
    }

    /// Puts the words of a list in their places.
    fn close(&mut self, list: &mut List, numbering: Option<u32>) {
        let Some(header) = list.burst.or((!list.words.is_empty()).then_some(None)) else {
            return;
        };
        let is_inline = |header: u32| header & 0xfff == SET_INLINE_QMD_ADDRESS_A;
        let indices = || list.words.iter().map(|word| word.index);
        let (least, most) = (indices().min().unwrap_or(0), indices().max().unwrap_or(0));
        // The two words of the address may have been left out of a burst, whose first word is 1.
        let is_without_address = least == 3
            && numbering != Some(0)
            && match header {
                Some(header) => is_inline(header),
                None => matches!(most, 66 | 98 | 130),
            };
        let base = match numbering {
            _ if is_without_address => least,
            numbering => numbering.unwrap_or(u32::from(least == 1)).min(least),
        };
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
        (self.line, self.at) = (list.line, list.at);
        let missing = words.iter().filter(|word| word.is_none()).count();
        if missing > 0 {
            let first = words.iter().position(Option::is_none).unwrap_or(0) as u32 + base;
            let message =
                format!("{missing} words are missing, the first is word {first}; they are zero");
            self.say(Severity::Warning, &message);
        }
        let words: Vec<u32> = words.into_iter().map(Option::unwrap_or_default).collect();
        if let Some(count) = header.map(|header| header as usize >> 16 & 0x1fff)
            && count != words.len()
        {
            let message = format!("the burst has {count} words, {} are there", words.len());
            self.say(Severity::Warning, &message);
        }
        // Without a header, a descriptor's words with two more ahead are such a burst, too, if they are counted from 1.
        let has_address = match header {
            Some(header) => is_inline(header) && !is_without_address,
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
        if is_without_address {
            let message = "counted from 1; the first two words, the address that the descriptor is written to, are not there";
            self.say(Severity::Note, message);
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let is_burst = list.burst.is_some() || has_address || is_without_address;
        match self.dump.bursts.last() {
            Some(_) => self.say(
                Severity::Note,
                "another burst, which is a descriptor of its own",
            ),
            None if is_burst && !self.dump.bytes.is_empty() => self.say(
                Severity::Warning,
                "the words ahead of this burst are of none; left out",
            ),
            None => {}
        }
        if self.dump.bursts.is_empty() {
            self.dump.bytes.clone_from(&bytes);
            self.dump.numbering = Some(if is_without_address { 1 } else { base });
        }
        if is_burst {
            self.dump.bursts.push(Burst {
                line: list.line,
                header,
                address,
                bytes,
            });
        }
        *list = List::default();
    }

    /// Strings in quotes, one behind the other to the end of the statement.
    fn strings(&mut self, text: &str) {
        self.dump.form = Some(DumpForm::C);
        let bytes = text.as_bytes();
        self.line = 1;
        let (mut at, mut quote, mut begin) = (0, None, 0);
        while let Some(&byte) = bytes.get(at) {
            self.at = at;
            self.line += u32::from(byte == b'\n');
            at += 1;
            match quote {
                None if matches!(byte, b'"' | b'\'') => {
                    (quote, begin) = (Some(byte), self.dump.bytes.len());
                }
                None if byte == b';' && !self.dump.bytes.is_empty() => break,
                None => {}
                Some(mark) if byte == mark => {
                    quote = None;
                    // As gdb prints an array of which many elements are the same, or too many.
                    let rest = text[at..].trim_start();
                    if let Some(times) = rest.strip_prefix("<repeats ") {
                        let end = times.find(|c: char| !c.is_ascii_digit());
                        let times = times[..end.unwrap_or(times.len())].parse::<usize>();
                        let piece = self.dump.bytes.split_off(begin);
                        let size = times.unwrap_or(1).saturating_mul(piece.len());
                        let size = size.min(LIMIT.saturating_sub(begin));
                        self.dump.bytes.extend(piece.iter().cycle().take(size));
                    } else if rest.starts_with("...") {
                        self.say(
                            Severity::Warning,
                            "the string is cut off where it was printed",
                        );
                    }
                }
                Some(_) if byte == b'\\' => {
                    if let Some((end, byte)) = escaped(bytes, at - 1) {
                        self.dump.bytes.push(byte);
                        at = end;
                    } else if bytes
                        .get(at)
                        .is_some_and(|next| !matches!(next, b'\n' | b'\r'))
                    {
                        self.say(Severity::Warning, "an escape that is none of C's; left out");
                        at += 1;
                    }
                }
                Some(_) => self.dump.bytes.push(byte),
            }
        }
        if quote.is_some() {
            self.say(Severity::Warning, "the string does not end");
        }
        if let Some(next) = text.get(at..).and_then(|rest| rest.find('"')) {
            self.line += text[at..at + next].matches('\n').count() as u32;
            self.at = at + next;
            self.say(
                Severity::Note,
                "there is another string behind the statement, which is not read",
            );
        }
    }

    /// In which order the bytes of the groups of digits stand. One line whose characters tell it is enough for all, since nothing
    /// prints lines of both kinds.
    fn order(&mut self, text: &str, radix: Option<u32>, typed: Option<ByteOrder>) -> ByteOrder {
        let mut longest = 0;
        let (mut is_even, mut is_marked, mut is_same) = (true, false, true);
        let mut votes = [0_u32; 2];
        let mut odd = None;
        let mut at = 0;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            let begin = at;
            at += line.len();
            // Blanks at the end may be characters.
            let line = line.trim_end_matches(['\n', '\r']).trim_start();
            let digits = Digits::behind_offset(line, radix);
            let is_program = |group: &&str| group.starts_with("0x");
            if is_remark(line)
                || digits.all_digits().is_none()
                || digits.groups.iter().any(is_program)
            {
                continue;
            }
            is_marked |= digits.is_marked;
            let Some((last, groups)) = digits.groups.split_last() else {
                continue;
            };
            let widest = last.len().max(longest);
            is_even &= longest == 0 || widest == longest;
            longest = groups
                .iter()
                .map(|group| group.len())
                .fold(widest, usize::max);
            is_even &= groups.iter().all(|group| group.len() == longest);
            let in_order: Vec<_> = digits
                .groups
                .iter()
                .flat_map(|group| pairs(group))
                .collect();
            let turned: Vec<_> = digits
                .groups
                .iter()
                .flat_map(|group| pairs(group).rev())
                .collect();
            is_same &= in_order == turned;
            // Those of a line that is not full stand farther behind, below the others.
            let mut characters = digits.characters;
            if let Some(ahead) = characters.len().checked_sub(in_order.len())
                && let Some((blanks, rest)) = characters.split_at_checked(ahead)
                && blanks.trim_start().is_empty()
            {
                characters = rest;
            }
            if characters.is_empty() {
                continue;
            }
            let order =
                match differences(&in_order, characters).cmp(&differences(&turned, characters)) {
                    Ordering::Less => 0,
                    Ordering::Greater => 1,
                    Ordering::Equal => continue,
                };
            votes[order] += 1;
            if odd.is_none() && votes[1 - order] > 0 {
                odd = Some((number, begin));
            }
        }
        let is_number = is_even && (matches!(longest, 8 | 16) || longest == 4 && !is_marked);
        let usual = if is_number {
            ByteOrder::Little
        } else {
            ByteOrder::Big
        };
        let told = match votes[0].cmp(&votes[1]) {
            Ordering::Less => Some(ByteOrder::Little),
            Ordering::Greater => Some(ByteOrder::Big),
            Ordering::Equal => None,
        };
        let (order, reason) = match (typed, told) {
            (Some(order), _) => (order, ""),
            (None, Some(order)) => (order, "as the characters beside the digits say"),
            (None, None) => (
                usual,
                "nothing tells it; choose the other one if values look wrong",
            ),
        };
        if longest > 2 && !is_same {
            self.dump.order = Some((order, reason));
            if let (None, Some((line, at))) = (typed, odd) {
                (self.line, self.at) = (line, at);
                let message = format!(
                    "from this line on characters say different orders of the bytes in a group; {}-endian is taken",
                    order.key()
                );
                self.say(Severity::Warning, &message);
            } else if typed.is_none() && told.is_none() && is_marked && is_number {
                (self.line, self.at) = (0, 0);
                let message = "nothing tells in which order the bytes of a group of digits stand; little-endian is taken";
                self.say(Severity::Note, message);
            }
        }
        (self.line, self.at) = (0, 0);
        order
    }

    /// Lines of digits, with offsets or without.
    fn hex(&mut self, text: &str, order: Option<ByteOrder>) {
        self.dump.form = Some(DumpForm::Hex);
        let text = text.replace("\\x", " ");
        let radix = self.radix(&text);
        let order = self.order(&text, radix, order);
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
            let digits = Digits::behind_offset(line, radix);
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
            self.line(&digits, order);
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

    fn line(&mut self, digits: &Digits<'_>, order: ByteOrder) {
        let mut groups = digits.groups.iter();
        let is_program = groups.next().is_some_and(|group| group.starts_with("0x"));
        for group in &digits.groups {
            let digits = group.strip_prefix("0x").unwrap_or(group);
            if is_program {
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
            match order {
                ByteOrder::Big => self.dump.bytes.extend(pairs(digits)),
                ByteOrder::Little => self.dump.bytes.extend(pairs(digits).rev()),
            }
        }
    }
}

/// The bytes that pairs of digits are.
fn pairs(digits: &str) -> impl DoubleEndedIterator<Item = u8> + '_ {
    let pairs = digits.as_bytes().chunks_exact(2);
    let pairs = pairs.filter_map(|pair| std::str::from_utf8(pair).ok());
    pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok())
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
    at: usize,
    words: Vec<Word>,
}

struct Word {
    index: u32,
    value: u32,
    line: u32,
    at: usize,
}
