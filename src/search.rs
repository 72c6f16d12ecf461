//! Finding bytes in a file of any size, in steps.

use serde::Serialize;

use crate::error::{Diagnostic, Kind, Result};
use crate::source::Source;
use crate::span::Span;

/// What to find: bytes, some bits of which may be left open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Value and mask of each byte.
    bytes: Vec<(u8, u8)>,
    /// Which of them is looked for first: one that is whole, and rather not 0, which files are full of.
    anchor: Option<usize>,
}

/// Bytes of a pattern, at most.
const LIMIT: usize = 4096;

impl Pattern {
    /// Bytes of two hexadecimal digits, with `?` or `.` for a digit that may be any: `48 8b ?? f?`. Alone it
    /// stands for a whole byte. Between bytes there may be blanks, commas, `0x` and `\x`.
    ///
    /// # Errors
    /// If it is not that, or empty, or longer than 4096 bytes.
    pub fn hex(text: &str) -> Result<Self> {
        let text = text.to_ascii_lowercase();
        let text = text.replace("0x", " ").replace("\\x", " ");
        let mut bytes = Vec::new();
        for word in text.split(|c: char| c.is_whitespace() || c == ',') {
            let mut digits = Vec::new();
            for c in word.chars() {
                digits.push(match (c, c.to_digit(16)) {
                    ('?' | '.', _) => (0, 0),
                    (_, Some(value)) => (value as u8, 15),
                    (c, None) => {
                        return Err(refuse(&format!("{c:?} is not a hexadecimal digit or ?")));
                    }
                });
            }
            if let [(_, 0)] = digits[..] {
                digits.push((0, 0));
            }
            if digits.len() % 2 != 0 {
                return Err(refuse(&format!(
                    "the last byte of {word:?} has only one digit"
                )));
            }
            let pairs = digits.chunks_exact(2);
            bytes.extend(pairs.map(|p| (p[0].0 << 4 | p[1].0, p[0].1 << 4 | p[1].1)));
        }
        Self::new(bytes)
    }

    /// The bytes of `text` in UTF-8.
    ///
    /// # Errors
    /// If it is empty or longer than 4096 bytes.
    pub fn text(text: &str) -> Result<Self> {
        Self::new(text.bytes().map(|byte| (byte, 0xff)).collect())
    }

    fn new(bytes: Vec<(u8, u8)>) -> Result<Self> {
        if bytes.is_empty() {
            return Err(refuse("there is nothing to find"));
        }
        if bytes.len() > LIMIT {
            return Err(refuse(&format!("more than {LIMIT} bytes to find")));
        }
        let whole = |&(value, mask): &(u8, u8)| mask == 0xff && value != 0;
        let anchor = bytes.iter().position(whole);
        let anchor = anchor.or_else(|| bytes.iter().position(|&(_, mask)| mask == 0xff));
        Ok(Self { bytes, anchor })
    }

    /// Where the first match begins, or the last.
    fn find(&self, bytes: &[u8], is_backwards: bool) -> Option<usize> {
        let starts = (bytes.len() + 1).saturating_sub(self.bytes.len());
        let fits = |&at: &usize| {
            let mut pairs = bytes[at..].iter().zip(&self.bytes);
            pairs.all(|(byte, (value, mask))| byte & mask == *value)
        };
        let Some(anchor) = self.anchor.filter(|_| starts > 0) else {
            return match is_backwards {
                true => (0..starts).rev().find(fits),
                false => (0..starts).find(fits),
            };
        };
        let mut places = memchr::memchr_iter(self.bytes[anchor].0, &bytes[anchor..][..starts]);
        match is_backwards {
            true => places.rev().find(fits),
            false => places.find(fits),
        }
    }
}

fn refuse(message: &str) -> crate::error::Error {
    Diagnostic::error(Kind::Format, message)
        .within("search")
        .into()
}

/// A search under way.
#[derive(Clone, Debug)]
pub struct Search {
    pattern: Pattern,
    /// The first byte at which a match may begin; backwards the one behind the last.
    next: u64,
    is_backwards: bool,
}

/// What a step of a search gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Found {
    /// The match, if there is one; the search can go on from its first byte.
    pub span: Option<Span>,
    /// Where the next step begins.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub next: u64,
    /// Whether the end of the file is reached, or its beginning.
    pub finished: bool,
}

impl Search {
    /// A search for `pattern` from `start` on.
    pub fn new(pattern: Pattern, start: u64) -> Self {
        Self {
            pattern,
            next: start,
            is_backwards: false,
        }
    }

    /// A search for `pattern` towards the beginning: for what begins before `start`.
    pub fn backwards(pattern: Pattern, start: u64) -> Self {
        Self {
            is_backwards: true,
            ..Self::new(pattern, start)
        }
    }

    /// Goes on for about `budget` bytes, or to the next match.
    ///
    /// # Errors
    /// Those of [`Source::read`].
    pub fn step(&mut self, source: &Source, budget: u64) -> Result<Found> {
        const CHUNK: u64 = 1 << 20;
        let size = self.pattern.bytes.len() as u64;
        let mut budget = budget.max(1);
        let mut span = None;
        self.next = self.next.min(source.size());
        let mut left = self.left(source);
        while span.is_none() && left > 0 && budget > 0 {
            // Matches begin within the chunk and may end behind it.
            let starts = CHUNK.min(budget).min(left);
            let start = self.next - if self.is_backwards { starts } else { 0 };
            let bytes = source.read_up_to(start, starts + size - 1)?;
            let at = self.pattern.find(&bytes, self.is_backwards);
            span = at.map(|at| Span::new(start + at as u64, size));
            self.next = match (span, self.is_backwards) {
                (Some(span), true) => span.offset,
                (Some(span), false) => span.offset + 1,
                (None, true) => start,
                (None, false) => start + starts,
            };
            budget -= starts;
            left = self.left(source);
        }
        Ok(Found {
            span,
            next: self.next,
            finished: span.is_none() && left == 0,
        })
    }

    /// Bytes at which a match may still begin.
    fn left(&self, source: &Source) -> u64 {
        if self.is_backwards {
            self.next
        } else {
            source.size() - self.next
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pattern: Pattern, bytes: &[u8], budget: u64) -> Vec<u64> {
        let found = follow(Search::new(pattern.clone(), 0), bytes, budget);
        let mut backwards = follow(Search::backwards(pattern, u64::MAX), bytes, budget);
        backwards.reverse();
        assert_eq!(found, backwards);
        found
    }

    fn follow(mut search: Search, bytes: &[u8], budget: u64) -> Vec<u64> {
        let source = Source::memory(bytes);
        let mut found = Vec::new();
        loop {
            let step = search.step(&source, budget).unwrap();
            found.extend(step.span.map(|span| span.offset));
            if step.finished {
                return found;
            }
        }
    }

    #[test]
    fn finds_across_steps_and_chunks() {
        let mut bytes = vec![0; 1_200_000];
        // The second ends with a chunk of 1 MiB, the third begins with the next.
        let places = [0, 1_048_573, 1_048_576, 1_199_997];
        for at in places {
            bytes[at..at + 3].copy_from_slice(b"abc");
        }
        for budget in [1000, 262_144, u64::MAX] {
            for pattern in ["61 6? ?3", "6? 62 6?", "?1 6? 6?"] {
                let pattern = Pattern::hex(pattern).unwrap();
                assert_eq!(all(pattern, &bytes, budget), places.map(|at| at as u64));
            }
            let straddling = Pattern::hex("63 61 62 63 00 00").unwrap();
            assert_eq!(all(straddling, &bytes, budget), [1_048_575]);
        }
        assert_eq!(all(Pattern::text("aa").unwrap(), b"aaaa", 9), [0, 1, 2]);
        assert!(all(Pattern::text("abcd").unwrap(), b"abc", 9).is_empty());
        // What begins before 2, not what ends there.
        let before = Search::backwards(Pattern::text("aa").unwrap(), 2);
        assert_eq!(follow(before, b"aaaa", 9), [1, 0]);
    }

    #[test]
    fn says_what_is_wrong_with_a_pattern() {
        for bad in ["", "4", "4g", "zz", "0x", "48 8", "4?8"] {
            assert!(Pattern::hex(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_pattern_is_written_in_many_ways() {
        let plain = Pattern::hex("48 8b ?? f?").unwrap();
        for text in [
            "488B??F?",
            "48 8b ? f.",
            "0x48, 0x8b, .., 0xf?",
            "\\x48\\x8b ?? F?",
        ] {
            assert_eq!(Pattern::hex(text).unwrap(), plain, "{text}");
        }
    }
}
