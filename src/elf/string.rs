//! String tables.

use std::borrow::Cow;
use std::ffi::CStr;

use crate::error::{Diagnostic, Error, Kind, Result};
use crate::source::Source;
use crate::span::Span;

/// A string table: NUL-terminated strings, named by the offset of their first byte.
#[derive(Clone, Copy, Debug)]
pub struct Strings<'a> {
    source: &'a Source,
    bytes: &'a [u8],
    offset: u64,
}

/// Bytes of a name that are shown, at most.
pub const NAME_LIMIT: usize = 64 << 10;

impl<'a> Strings<'a> {
    /// The table in `span`, as far as it lies in the file.
    ///
    /// # Errors
    /// Those of [`Source::hold`].
    pub fn open(source: &'a Source, span: Span) -> Result<Self> {
        let span = span.clamp(source.size());
        Ok(Self {
            source,
            bytes: source.hold(span)?,
            offset: span.offset,
        })
    }

    /// The string at `at`, cut after [`NAME_LIMIT`] bytes.
    ///
    /// # Errors
    /// If `at` lies outside the table or the string has no end in it.
    pub fn get(&self, at: u64) -> Result<&'a [u8]> {
        // Offset 0 is the empty string, in a table without bytes too.
        let rest = match usize::try_from(at).ok().and_then(|at| self.bytes.get(at..)) {
            Some([]) | None if at == 0 => return Ok(&[]),
            Some([]) | None => {
                let finding =
                    Diagnostic::error(Kind::Format, "the name lies outside its string table");
                let limit = format!("an offset below 0x{:x}", self.bytes.len());
                return Err(self.at(at, finding.expected(limit, format!("0x{at:x}"))));
            }
            Some(rest) => rest,
        };
        let window = &rest[..rest.len().min(NAME_LIMIT)];
        // The standard library looks for zero bytes many at a time.
        match CStr::from_bytes_until_nul(window) {
            Ok(string) => Ok(string.to_bytes()),
            Err(_) if window.len() < rest.len() => Ok(window),
            Err(_) => {
                let finding = Diagnostic::error(
                    Kind::Format,
                    "the name has no zero byte before the end of the string table",
                );
                Err(self.at(at, finding))
            }
        }
    }

    /// The string at `at` as text; empty where it cannot be read.
    pub fn text(&self, at: u64) -> Cow<'a, str> {
        let bytes = self.get(at).unwrap_or_default();
        // Nearly all names are UTF-8, which is faster to see than to mend.
        match str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => String::from_utf8_lossy(bytes),
        }
    }

    /// The bytes of the string at `at`, its zero byte included.
    pub fn span(&self, at: u64) -> Option<Span> {
        let string = self.get(at).ok()?;
        Some(Span::new(self.offset + at, string.len() as u64 + 1).clamp(self.end()))
    }

    /// The start of the string that holds the byte at `offset` of the file.
    pub fn start_of(&self, offset: u64) -> Option<u64> {
        let at = usize::try_from(offset.checked_sub(self.offset)?).ok()?;
        let before = self.bytes.get(..at)?;
        let window = &before[before.len().saturating_sub(NAME_LIMIT)..];
        let back = window.iter().rev().position(|&b| b == 0);
        Some((at - back.unwrap_or(window.len())) as u64)
    }

    /// Whether its last byte is zero, as the format wants it.
    pub fn is_terminated(&self) -> bool {
        self.bytes.last().is_none_or(|&byte| byte == 0)
    }

    fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    fn at(&self, at: u64, finding: Diagnostic) -> Error {
        let place = self.offset.saturating_add(at).min(self.end());
        finding.at(self.source.absolute(place)).into()
    }
}
