//! MessagePack, as metadata notes have it from code object V3 on.
//!
//! Nothing is believed before it is checked: a count is held against the bytes that are left
//! before room is made for so many values, and depth and number of the values are bounded.

use super::value::{Content, DEPTH, Reader, Tree, Value};
use crate::error::{Diagnostic, Kind};
use crate::source::Source;

/// The value that `bytes` say, which begin at `start` of the file. Where they are malformed, what
/// was read up to there and why not more.
pub fn read(source: &Source, bytes: &[u8], start: u64) -> Tree {
    let mut reader = Reader::new(source, bytes, start);
    let value = reader.value(DEPTH);
    if reader.error.is_none() && reader.at < bytes.len() {
        reader.fail(
            reader.at,
            Diagnostic::error(Kind::Loader, "bytes follow the metadata's end in its note")
                .expected("none", bytes.len() - reader.at),
        );
    }
    reader.tree(value)
}

/// How long the format byte and what belongs to it is: of a scalar all of it.
pub fn head_size(format: u8, value: &Value) -> u64 {
    let length = match format {
        0xdc | 0xde => 2,
        0xdd | 0xdf => 4,
        0x80..=0x9f => 0,
        _ => return value.span.size,
    };
    value.span.size.min(1 + length)
}

/// Where the characters of a string begin, past its format byte and length.
pub fn text_at(format: u8) -> u64 {
    match format {
        0xd9 => 2,
        0xda => 3,
        0xdb => 5,
        _ => 1,
    }
}

impl<'a> Reader<'a> {
    /// Reads a value; nil where there is none.
    fn value(&mut self, depth: u32) -> Value {
        let from = self.at;
        let content = self.content(depth).unwrap_or(Content::Nil);
        if self.error.is_some() {
            self.cut.push(self.offset(from));
        }
        Value {
            span: self.span(from, self.at),
            content,
        }
    }

    fn content(&mut self, depth: u32) -> Option<Content> {
        let from = self.at;
        if !self.count() {
            return None;
        }
        if depth == 0 {
            let finding = Diagnostic::error(Kind::Limit, "values lie too deep in each other")
                .expected(format!("at most {DEPTH}"), "more");
            self.fail(from, finding);
            return None;
        }
        let format = self.big_endian(1)? as u8;
        match format {
            0x00..=0x7f => Some(Content::Unsigned(format.into())),
            0x80..=0x8f => self.map(u64::from(format & 15), from, depth),
            0x90..=0x9f => self.list(u64::from(format & 15), from, depth),
            0xa0..=0xbf => self.text(u64::from(format & 31)),
            0xc0 => Some(Content::Nil),
            0xc1 => {
                let message = "a value begins with a byte that MessagePack does not use";
                self.fail(
                    from,
                    Diagnostic::error(Kind::Loader, message).expected("another", "0xc1"),
                );
                None
            }
            0xc2 | 0xc3 => Some(Content::Flag(format == 0xc3)),
            0xc4..=0xc6 => {
                let size = self.big_endian(1 << (format - 0xc4))?;
                self.take(size).map(|bytes| Content::Bytes(bytes.into()))
            }
            0xc7..=0xc9 => {
                // The extension's type goes with its bytes.
                let size = self.big_endian(1 << (format - 0xc7))?;
                let bytes = self.take(size.saturating_add(1))?;
                Some(Content::Bytes(bytes.into()))
            }
            0xca => {
                let bits = self.big_endian(4)? as u32;
                Some(Content::Float(f32::from_bits(bits).into()))
            }
            0xcb => self
                .big_endian(8)
                .map(|bits| Content::Float(f64::from_bits(bits))),
            0xcc..=0xcf => self.big_endian(1 << (format - 0xcc)).map(Content::Unsigned),
            0xd0..=0xd3 => {
                let size = 1 << (format - 0xd0);
                let raw = self.big_endian(size)?;
                let unused = 64 - 8 * size as u32;
                Some(signed((raw << unused) as i64 >> unused))
            }
            0xd4..=0xd8 => {
                let bytes = self.take(1 + (1 << (format - 0xd4)))?;
                Some(Content::Bytes(bytes.into()))
            }
            0xd9..=0xdb => {
                let size = self.big_endian(1 << (format - 0xd9))?;
                self.text(size)
            }
            0xdc | 0xdd => {
                let count = self.big_endian(2 << (format - 0xdc))?;
                self.list(count, from, depth)
            }
            0xde | 0xdf => {
                let count = self.big_endian(2 << (format - 0xde))?;
                self.map(count, from, depth)
            }
            0xe0..=0xff => Some(signed(i64::from(format as i8))),
        }
    }

    fn list(&mut self, count: u64, from: usize, depth: u32) -> Option<Content> {
        let room = self.room(count, 1, "list", from)?;
        let mut values = Vec::with_capacity(room);
        for _ in 0..count {
            values.push(self.value(depth - 1));
            if self.error.is_some() {
                break;
            }
        }
        Some(Content::List(values.into()))
    }

    fn map(&mut self, count: u64, from: usize, depth: u32) -> Option<Content> {
        let room = self.room(count, 2, "map", from)?;
        let mut entries = Vec::with_capacity(room);
        for _ in 0..count {
            let key = self.value(depth - 1);
            if self.error.is_some() {
                break;
            }
            entries.push((key, self.value(depth - 1)));
            if self.error.is_some() {
                break;
            }
        }
        Some(Content::Map(entries.into()))
    }

    /// Holds a count against the bytes that are left, each entry taking `least` of them. Returns
    /// how much room to make at once.
    fn room(&mut self, count: u64, least: u64, what: &str, from: usize) -> Option<usize> {
        // Room for more is made when they have been seen to be there.
        const AT_ONCE: u64 = 1024;
        let left = self.bytes.len().saturating_sub(self.at) as u64;
        if count > left / least {
            let finding = Diagnostic::error(
                Kind::Loader,
                format!("a {what} runs past the end of its note"),
            )
            .expected(
                format!("at most {} entries in the {left} bytes left", left / least),
                count,
            );
            self.fail(from, finding);
            return None;
        }
        Some(count.min(AT_ONCE) as usize)
    }

    fn text(&mut self, size: u64) -> Option<Content> {
        let bytes = self.take(size)?;
        Some(Content::Text(self.keep(bytes)))
    }

    fn take(&mut self, size: u64) -> Option<&'a [u8]> {
        let left = self.bytes.len().saturating_sub(self.at) as u64;
        if size > left {
            let finding = Diagnostic::error(Kind::Loader, "a value runs past the end of its note")
                .expected(format!("at most {left} bytes"), size);
            self.fail(self.at, finding);
            return None;
        }
        let from = self.at;
        self.at += size as usize;
        self.bytes.get(from..self.at)
    }

    /// A big-endian number of up to 8 bytes.
    fn big_endian(&mut self, size: u64) -> Option<u64> {
        let bytes = self.take(size)?;
        Some(
            bytes
                .iter()
                .fold(0, |all, &byte| all << 8 | u64::from(byte)),
        )
    }
}

fn signed(number: i64) -> Content {
    u64::try_from(number).map_or(Content::Signed(number), Content::Unsigned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::span::Span;

    fn parse(bytes: &[u8]) -> (Value, Option<Error>) {
        let tree = read(&Source::memory(vec![0; 4096]), bytes, 100);
        (tree.root, tree.error)
    }

    fn json(bytes: &[u8]) -> String {
        let (value, error) = parse(bytes);
        assert_eq!(error, None);
        serde_json::to_string(&value).unwrap()
    }

    #[test]
    fn every_format_is_read() {
        // The encodings of the MessagePack specification.
        assert_eq!(json(&[0x7f]), "127");
        assert_eq!(json(&[0xff]), "-1");
        assert_eq!(json(&[0xc0]), "null");
        assert_eq!(json(&[0xc3]), "true");
        assert_eq!(json(&[0xcc, 200]), "200");
        assert_eq!(json(&[0xcd, 1, 0]), "256");
        assert_eq!(json(&[0xce, 0, 1, 0, 0]), "65536");
        assert_eq!(
            json(&[0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
            format!("\"{}\"", u64::MAX)
        );
        assert_eq!(json(&[0xd0, 0x80]), "-128");
        assert_eq!(json(&[0xd1, 0xff, 0x00]), "-256");
        assert_eq!(json(&[0xd2, 0, 0, 0, 5]), "5");
        assert_eq!(
            json(&[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0]),
            format!("\"{}\"", i64::MIN)
        );
        assert_eq!(json(&[0xca, 0x3f, 0x80, 0, 0]), "1.0");
        assert_eq!(json(&[0xcb, 0xbf, 0xe0, 0, 0, 0, 0, 0, 0]), "-0.5");
        assert_eq!(json(&[0xa2, b'h', b'i']), "\"hi\"");
        assert_eq!(json(&[0xd9, 2, b'h', b'i']), "\"hi\"");
        assert_eq!(json(&[0xda, 0, 1, b'x']), "\"x\"");
        assert_eq!(json(&[0xdb, 0, 0, 0, 1, b'x']), "\"x\"");
        assert_eq!(json(&[0xc4, 2, 0xab, 0xcd]), "\"abcd\"");
        assert_eq!(json(&[0xd4, 1, 0xcd]), "\"01cd\"");
        assert_eq!(json(&[0xc7, 1, 2, 0xcd]), "\"02cd\"");
        assert_eq!(json(&[0x92, 1, 0xa1, b'a']), "[1,\"a\"]");
        assert_eq!(json(&[0xdc, 0, 1, 7]), "[7]");
        assert_eq!(json(&[0xdd, 0, 0, 0, 1, 7]), "[7]");
        assert_eq!(json(&[0x82, 0xa1, b'k', 1, 5, 0x90]), "{\"k\":1,\"5\":[]}");
        assert_eq!(json(&[0xde, 0, 1, 0xa0, 0xc2]), "{\"\":false}");
        assert_eq!(json(&[0xdf, 0, 0, 0, 0]), "{}");
    }

    #[test]
    fn values_know_their_bytes() {
        let (value, _) = parse(&[0x81, 0xa1, b'k', 0x92, 1, 0xcd, 1, 0]);
        assert_eq!(value.span, Span::new(100, 8));
        let list = value.get("k").unwrap();
        assert_eq!(list.span, Span::new(103, 5));
        assert_eq!(list.list().unwrap()[1].span, Span::new(105, 3));
    }

    #[test]
    fn what_was_read_before_a_mistake_stands() {
        // A map of two entries, the second of which is cut off.
        let (value, error) = parse(&[0x82, 0xa1, b'a', 1, 0xa1, b'b', 0xcd, 1]);
        assert_eq!(value.get("a").and_then(Value::number), Some(1));
        let finding = error.unwrap().into_diagnostic();
        assert_eq!(finding.offset, Some(107));
        assert_eq!(finding.expected.as_deref(), Some("at most 1 bytes"));
    }

    #[test]
    fn counts_are_held_against_the_bytes() {
        for bytes in [
            &[0xdf, 0xff, 0xff, 0xff, 0xff, 0xa1, b'a', 1][..],
            &[0xdd, 0xff, 0xff, 0xff, 0xff, 0],
            &[0xdb, 0xff, 0xff, 0xff, 0xff, b'x'],
            &[0xc9, 0xff, 0xff, 0xff, 0xff, b'x'],
        ] {
            let (_, error) = parse(bytes);
            let finding = error.unwrap().into_diagnostic();
            assert_eq!(finding.kind, Kind::Loader);
        }
        // Lists in lists, deeper than any reader's stack.
        let (_, error) = parse(&vec![0x91; 100_000]);
        assert_eq!(error.unwrap().into_diagnostic().kind, Kind::Limit);
        // As many values as bytes.
        let mut bytes = vec![0xdd, 0, 1, 0, 0];
        bytes.resize(5 + (1 << 16), 0);
        let (_, error) = parse(&bytes);
        assert_eq!(error.unwrap().into_diagnostic().kind, Kind::Limit);
    }

    #[test]
    fn no_bytes_panic() {
        // All beginnings of two bytes, and pseudo-random bytes behind them.
        let mut state = 1_u32;
        for first in 0..=u8::MAX {
            for second in 0..=u8::MAX {
                let mut bytes = vec![first, second];
                for _ in 0..12 {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    bytes.push((state >> 24) as u8);
                }
                let (value, _) = parse(&bytes);
                assert!(value.span.size <= bytes.len() as u64);
            }
        }
    }
}
