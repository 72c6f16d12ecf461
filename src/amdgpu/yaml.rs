//! The part of YAML that LLVM writes as the metadata of code object V2: blocks of `key: value` and
//! `- value` by indentation, lists in brackets, plain and quoted scalars on one line.

use super::value::{Content, DEPTH, Reader, Tree, Value};
use crate::error::{Diagnostic, Kind};
use crate::source::Source;
use crate::span::Span;

/// The value that the text `bytes` says, which begins at `start` of the file. Where it is not the
/// YAML that is read here, what was read up to there and why not more.
pub fn read(source: &Source, bytes: &[u8], start: u64) -> Tree {
    let mut reader = Reader::new(source, bytes, start);
    let mut lines = lines(bytes);
    lines.reverse();
    let value = reader.block(&mut lines, 0, DEPTH);
    if let Some(line) = lines.last() {
        let message = "the metadata's indentation does not fit, or it is not the YAML of LLVM";
        reader.fail(line.from, Diagnostic::error(Kind::Loader, message));
    }
    reader.tree(value)
}

/// A line without its indentation and trailing blanks.
#[derive(Clone, Copy)]
struct Line {
    /// The column of its first character.
    column: usize,
    /// Where it begins and ends in the bytes.
    from: usize,
    to: usize,
}

/// The lines up to the end of the document that say something.
fn lines(bytes: &[u8]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in bytes.split(|&byte| byte == b'\n') {
        let blanks = line.iter().take_while(|&&byte| byte == b' ').count();
        let text = line.trim_ascii_end();
        if text == b"..." || text.first() == Some(&0) {
            break;
        }
        let is_empty = text.len() <= blanks || text.get(blanks) == Some(&b'#');
        if !is_empty && !text.starts_with(b"---") {
            lines.push(Line {
                column: blanks,
                from: at + blanks,
                to: at + text.len(),
            });
        }
        at += line.len() + 1;
    }
    lines
}

impl<'a> Reader<'a> {
    fn line(&self, line: Line) -> &'a [u8] {
        self.bytes.get(line.from..line.to).unwrap_or_default()
    }

    /// Reads a list or a map: the lines from `column` on. `lines` are those to come, the next last.
    fn block(&mut self, lines: &mut Vec<Line>, column: usize, depth: u32) -> Value {
        let from = lines.last().map_or(0, |line| line.from);
        let mut end = self.offset(from);
        let mut values = Vec::new();
        let mut entries = Vec::new();
        while let Some(&line) = lines.last()
            && line.column == column
            && self.error.is_none()
        {
            if depth == 0 {
                let message = "values lie too deep in each other";
                self.fail(line.from, Diagnostic::error(Kind::Limit, message));
                break;
            }
            let text = self.line(line);
            let is_item = text == b"-" || text.starts_with(b"- ");
            let has_begun = !(values.is_empty() && entries.is_empty());
            if has_begun && is_item != entries.is_empty() {
                break;
            }
            if is_item {
                lines.pop();
                let blanks = 1 + text[1..].iter().take_while(|&&byte| byte == b' ').count();
                let rest = Line {
                    column: column + blanks,
                    from: line.from + blanks,
                    to: line.to,
                };
                let value = if blanks >= text.len() {
                    self.nested(lines, column + 1, line.to, depth)
                } else if self.key_end(rest).is_some() {
                    // A block begins on the item's line.
                    lines.push(rest);
                    self.block(lines, rest.column, depth - 1)
                } else {
                    self.scalar(rest.from, rest.to, depth - 1)
                };
                end = value.span.end();
                values.push(value);
            } else {
                let Some(colon) = self.key_end(line) else {
                    let message = "expected a key and a colon";
                    self.fail(line.from, Diagnostic::error(Kind::Loader, message));
                    break;
                };
                lines.pop();
                let key = self.scalar(line.from, colon, 1);
                let rest = self.bytes.get(colon + 1..line.to).unwrap_or_default();
                let blanks = rest.iter().take_while(|&&byte| byte == b' ').count();
                let value = if blanks == rest.len() {
                    self.nested(lines, column, line.to, depth)
                } else {
                    self.scalar(colon + 1 + blanks, line.to, depth - 1)
                };
                end = value.span.end();
                entries.push((key, value));
            }
        }
        let content = if !values.is_empty() {
            Content::List(values.into())
        } else if !entries.is_empty() {
            Content::Map(entries.into())
        } else {
            Content::Nil
        };
        let start = self.offset(from);
        if self.error.is_some() {
            self.cut.push(start);
        }
        Value {
            span: Span::new(start, end.saturating_sub(start)),
            content,
        }
    }

    /// The value of a key or an item that has none on its own line, which ends at `at`.
    fn nested(&mut self, lines: &mut Vec<Line>, least: usize, at: usize, depth: u32) -> Value {
        match lines.last() {
            Some(line) if line.column > least || self.is_list_of_key(*line, least) => {
                self.block(lines, line.column, depth - 1)
            }
            _ => Value {
                span: self.span(at, at),
                content: Content::Nil,
            },
        }
    }

    /// The list of a key may stand in the key's own column.
    fn is_list_of_key(&self, line: Line, column: usize) -> bool {
        line.column == column && self.line(line).starts_with(b"- ")
    }

    /// Where the colon behind a key is: before a blank or the line's end, and not in quotes.
    fn key_end(&self, line: Line) -> Option<usize> {
        let text = self.line(line);
        if text.starts_with(b"[") {
            return None;
        }
        let skip = match text.first() {
            Some(&quote @ (b'\'' | b'"')) => closing(text, quote)? + 1,
            _ => 0,
        };
        let rest = text.get(skip..)?;
        let colon = rest
            .iter()
            .enumerate()
            .position(|(i, &byte)| byte == b':' && matches!(rest.get(i + 1), None | Some(b' ')))?;
        Some(line.from + skip + colon)
    }

    /// Reads what stands between `from` and `to` on one line.
    fn scalar(&mut self, from: usize, to: usize, depth: u32) -> Value {
        let mut value = Value {
            span: self.span(from, to),
            content: Content::Nil,
        };
        self.at = from;
        if !self.count() {
            return value;
        }
        let text = self
            .bytes
            .get(from..to)
            .unwrap_or_default()
            .trim_ascii_end();
        value.content = match text.first() {
            Some(&quote @ (b'\'' | b'"')) => match closing(text, quote) {
                Some(end) => {
                    Content::Text(unquoted(text.get(1..end).unwrap_or_default(), quote).into())
                }
                None => {
                    let message = "expected a closing quote";
                    self.fail(from, Diagnostic::error(Kind::Loader, message));
                    return value;
                }
            },
            Some(b'[') => return self.flow(from, to, depth),
            _ => self.plain(text),
        };
        value
    }

    /// A scalar without quotes: a number, a boolean, else a text.
    fn plain(&mut self, bytes: &[u8]) -> Content {
        let text = String::from_utf8_lossy(bytes);
        match &*text {
            "" | "~" | "null" => return Content::Nil,
            "true" => return Content::Flag(true),
            "false" => return Content::Flag(false),
            _ => {}
        }
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if digits(&text)
            && let Ok(number) = text.parse()
        {
            return Content::Unsigned(number);
        }
        if text.strip_prefix('-').is_some_and(digits)
            && let Ok(number) = text.parse()
        {
            return Content::Signed(number);
        }
        Content::Text(self.keep(bytes))
    }

    /// Reads a list in brackets.
    fn flow(&mut self, from: usize, to: usize, depth: u32) -> Value {
        let text = self
            .bytes
            .get(from..to)
            .unwrap_or_default()
            .trim_ascii_end();
        let mut values = Vec::new();
        let mut at = 1;
        if depth == 0 || text.last() != Some(&b']') {
            let message = "expected a list that ends on its line";
            self.fail(from, Diagnostic::error(Kind::Loader, message));
        } else {
            let end = text.len() - 1;
            while at < end && self.error.is_none() {
                let rest = text.get(at..end).unwrap_or_default();
                let blanks = rest.iter().take_while(|&&byte| byte == b' ').count();
                let rest = rest.get(blanks..).unwrap_or_default();
                if rest.is_empty() {
                    break;
                }
                let quoted = match rest.first() {
                    Some(&quote @ (b'\'' | b'"')) => closing(rest, quote).unwrap_or(rest.len()),
                    _ => 0,
                };
                let comma = rest.iter().skip(quoted).position(|&byte| byte == b',');
                let size = comma.map_or(rest.len(), |comma| quoted + comma);
                let size_of_item = rest.get(..size).unwrap_or_default().trim_ascii_end().len();
                let item = from + at + blanks;
                values.push(self.scalar(item, item + size_of_item, depth - 1));
                at += blanks + size + 1;
            }
        }
        Value {
            span: self.span(from, to),
            content: Content::List(values.into()),
        }
    }
}

/// Where the quote that closes the one at the start is.
fn closing(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' if quote == b'"' => at += 1,
            _ if byte == quote && quote == b'\'' && text.get(at + 1) == Some(&quote) => at += 1,
            _ if byte == quote => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The characters between quotes.
fn unquoted(text: &[u8], quote: u8) -> String {
    let text = String::from_utf8_lossy(text);
    if quote == b'\'' {
        return text.replace("''", "'");
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('0') => out.push('\0'),
            Some('e') => out.push('\u{1b}'),
            Some('x') => out.extend(code(&mut rest, 2)),
            Some('u') => out.extend(code(&mut rest, 4)),
            Some('U') => out.extend(code(&mut rest, 8)),
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

/// The character that so many hexadecimal digits stand for.
fn code(text: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let digits = text.as_str().get(..digits)?;
    let value = u32::from_str_radix(digits, 16).ok()?;
    text.by_ref().take(digits.len()).for_each(drop);
    char::from_u32(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Tree {
        read(&Source::memory(vec![0; 1 << 16]), text.as_bytes(), 100)
    }

    fn json(text: &str) -> serde_json::Value {
        let tree = parse(text);
        assert_eq!(tree.error, None, "{text}");
        serde_json::to_value(&tree.root).unwrap()
    }

    #[test]
    fn what_llvm_writes_is_read() {
        let text = "---\nVersion:         [ 1, 0 ]\nPrintf:\n  - '1:1:4:it''s %d\\n'\n  - \"2:0:\\\"q\\\"\\x41\"\n\
                    Kernels:\n  - Name:            k\n    Args:\n      - Size:            8\n        \
                    IsConst:         true\n      - Size:            4\n    Empty: []\n    Nothing:\n...\n";
        let expected = serde_json::json!({
            "Version": [1, 0],
            "Printf": ["1:1:4:it's %d\\n", "2:0:\"q\"A"],
            "Kernels": [{
                "Name": "k",
                "Args": [{ "Size": 8, "IsConst": true }, { "Size": 4 }],
                "Empty": [],
                "Nothing": null,
            }],
        });
        assert_eq!(json(text), expected);
    }

    #[test]
    fn scalars_are_what_they_look_like() {
        assert_eq!(
            json("a: -3\nb: '7'\nc: 1:2\nd: ~\ne: false\nf: 99999999999999999999\n"),
            serde_json::json!({
                "a": -3, "b": "7", "c": "1:2", "d": null, "e": false, "f": "99999999999999999999",
            })
        );
        assert_eq!(
            json("- 1\n- [ 'a, b', c ]\n"),
            serde_json::json!([1, ["a, b", "c"]])
        );
        // A list may stand in its key's own column.
        assert_eq!(
            json("k:\n- 1\n- 2\nl: 3\n"),
            serde_json::json!({ "k": [1, 2], "l": 3 })
        );
    }

    #[test]
    fn values_know_their_bytes() {
        let tree = parse("key:   value\n");
        assert_eq!(tree.root.get("key").unwrap().span, Span::new(107, 5));
        assert_eq!(tree.root.span, Span::new(100, 12));
    }

    #[test]
    fn mistakes_are_found_and_what_came_before_stands() {
        for text in [
            "a: 1\n   b: 2\n",
            "a: 1\nno key\n",
            "a: 1\nb: 'open\n",
            "a: 1\nb: [ 1, 2\n",
            "a: 1\n- 2\n",
        ] {
            let tree = parse(text);
            assert!(tree.error.is_some(), "{text}");
            assert_eq!(
                tree.root.get("a").and_then(Value::number),
                Some(1),
                "{text}"
            );
        }
    }

    #[test]
    fn hostile_text_ends() {
        let deep: String = (0..200)
            .map(|depth| format!("{}k:\n", " ".repeat(depth)))
            .collect();
        for text in [
            deep,
            "- ".repeat(10_000),
            "[".repeat(10_000),
            format!("a: {}", "[".repeat(10_000)),
            format!("a: {}]", "[1,".repeat(3_000)),
            "'".repeat(9_999),
            "\\".repeat(9_999),
            "a: \"\\u12".into(),
            ":\n".repeat(10_000),
            "-\n".repeat(10_000),
            "\u{e9}: \u{e9}\n- \u{e9}".into(),
        ] {
            parse(&text);
        }
    }
}
