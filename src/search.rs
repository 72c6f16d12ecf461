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
}

/// Bytes of a pattern, at most.
const LIMIT: usize = 4096;

impl Pattern {
    /// Hexadecimal digits, `?` for one that may be any: `48 8b ?? f?`.
    ///
    /// # Errors
    /// If it is not that, or empty, or longer than 4096 bytes.
    pub fn hex(text: &str) -> Result<Self> {
        let mut digits = Vec::new();
        for c in text.chars().filter(|c| !c.is_whitespace()) {
            digits.push(match c {
                '?' => (0, 0),
                c => match c.to_digit(16) {
                    Some(value) => (value as u8, 15),
                    None => return Err(refuse(&format!("{c:?} is not a hexadecimal digit or ?"))),
                },
            });
        }
        if digits.len() % 2 != 0 {
            return Err(refuse("the last byte has only one digit"));
        }
        let pairs = digits.chunks_exact(2);
        let bytes = pairs.map(|p| (p[0].0 << 4 | p[1].0, p[0].1 << 4 | p[1].1));
        Self::new(bytes.collect())
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
        Ok(Self { bytes })
    }

    fn find(&self, bytes: &[u8]) -> Option<usize> {
        let fits = |at: &[u8]| {
            let pairs = at.iter().zip(&self.bytes);
            pairs
                .into_iter()
                .all(|(byte, (value, mask))| byte & mask == *value)
        };
        bytes.windows(self.bytes.len()).position(fits)
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
    next: u64,
}

/// What a step of a search gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Found {
    /// The match, if there is one; the search can go on behind its first byte.
    pub span: Option<Span>,
    /// Where the next step begins.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub next: u64,
    /// Whether the end of the file is reached.
    pub finished: bool,
}

impl Search {
    /// A search for `pattern` from `start` on.
    pub fn new(pattern: Pattern, start: u64) -> Self {
        Self {
            pattern,
            next: start,
        }
    }

    /// Goes on for about `budget` bytes, or to the next match.
    ///
    /// # Errors
    /// Those of [`Source::read`].
    pub fn step(&mut self, source: &Source, budget: u64) -> Result<Found> {
        const CHUNK: u64 = 256 << 10;
        let size = self.pattern.bytes.len() as u64;
        let stop = self.next.saturating_add(budget.max(1));
        let mut span = None;
        while self.next < stop && self.next < source.size() {
            // Matches begin within the chunk and may end behind it.
            let starts = CHUNK.min(stop - self.next);
            let bytes = source.read_up_to(self.next, starts + size - 1)?;
            if let Some(at) = self.pattern.find(&bytes) {
                let at = self.next + at as u64;
                span = Some(Span::new(at, size));
                self.next = at + 1;
                break;
            }
            self.next += starts;
        }
        Ok(Found {
            span,
            next: self.next,
            finished: span.is_none() && self.next >= source.size(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pattern: Pattern, bytes: &[u8], budget: u64) -> Vec<u64> {
        let source = Source::memory(bytes);
        let mut search = Search::new(pattern, 0);
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
        let mut bytes = vec![0; 600_000];
        for at in [0, 262_142, 262_145, 599_997] {
            bytes[at..at + 3].copy_from_slice(b"abc");
        }
        for budget in [1000, 262_144, u64::MAX] {
            let pattern = Pattern::hex("61 6? ?3").unwrap();
            assert_eq!(all(pattern, &bytes, budget), [0, 262_142, 262_145, 599_997]);
        }
        assert_eq!(all(Pattern::text("aa").unwrap(), b"aaaa", 9), [0, 1, 2]);
        assert!(all(Pattern::text("abcd").unwrap(), b"abc", 9).is_empty());
    }

    #[test]
    fn says_what_is_wrong_with_a_pattern() {
        for bad in ["", "4", "4g", "zz"] {
            assert!(Pattern::hex(bad).is_err(), "{bad}");
        }
    }
}
