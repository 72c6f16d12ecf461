//! The entries of `.nv.info`: attributes of the cubin, and in `.nv.info.<function>` of a function.
//! `.nv.compat` is coded alike.
//!
//! An entry is a byte for its format, a byte for the attribute, and a halfword: the value, or the number of
//! bytes that follow. Format and attributes as cuobjdump prints them, see `tables/nvidia/info.toml`.

use super::tables;
use crate::error::{Diagnostic, Kind, Result};
use crate::source::Source;
use crate::span::Span;

/// The format whose value is a byte in the entry's head.
pub const EIFMT_BVAL: u8 = 2;
/// The format whose value is a halfword in the entry's head.
pub const EIFMT_HVAL: u8 = 3;
/// The format whose value follows the entry's head.
pub const EIFMT_SVAL: u8 = 4;

/// Bytes of an entry's head.
const HEAD: u64 = 4;
/// Bytes of a value that come with its entry.
const START: usize = 12;
/// Bytes read at once.
const PAGE: u64 = 4096;

/// An entry, as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Offset in the file.
    pub offset: u64,
    /// The format: where the value is.
    pub format: u8,
    /// The attribute.
    pub id: u8,
    /// The value, or the number of bytes that follow.
    pub value: u16,
    start: [u8; START],
}

impl Entry {
    /// The bytes of its value behind its head; none where the head holds the value.
    pub fn payload(&self) -> Span {
        let size = match self.format {
            EIFMT_SVAL => self.value.into(),
            _ => 0,
        };
        Span::new(self.offset.saturating_add(HEAD), size)
    }

    /// All of its bytes.
    pub fn span(&self) -> Span {
        Span::new(self.offset, HEAD + self.payload().size)
    }

    /// The word of its format: `NVAL`, `BVAL`, `HVAL`, `SVAL`, or `ERROR` for one that has none.
    pub fn format_name(&self) -> &'static str {
        let name = tables::ATTRIBUTE_FORMAT.name(self.format.into());
        name.and_then(|name| name.strip_prefix("EIFMT_"))
            .unwrap_or("ERROR")
    }

    /// The 32-bit word of that number (0 to 2) behind its head.
    pub fn word(&self, index: usize) -> Option<u32> {
        let there = self.payload().size.min(START as u64) as usize;
        let word = self.start[..there].get(index * 4..index * 4 + 4)?;
        Some(u32::from_le_bytes(word.try_into().ok()?))
    }

    /// The first bytes of its value, up to 12.
    pub fn start(&self) -> &[u8] {
        &self.start[..self.payload().size.min(START as u64) as usize]
    }
}

/// The entries of a part of a file, in order. One that runs past the part's end is an error, and the last.
pub struct Entries<'a> {
    source: &'a Source,
    rest: Span,
    page: Vec<u8>,
    page_at: u64,
}

impl<'a> Entries<'a> {
    /// The entries in `span`, as far as it lies in the file.
    pub fn new(source: &'a Source, span: Span) -> Self {
        Self {
            source,
            rest: span.clamp(source.size()),
            page: Vec::new(),
            page_at: 0,
        }
    }

    /// The entry that holds the byte at `offset`.
    pub fn find(self, offset: u64) -> Option<Entry> {
        self.map_while(Result::ok)
            .take_while(|entry| entry.offset <= offset)
            .find(|entry| entry.span().contains(offset))
    }

    fn read(&mut self) -> Result<Entry> {
        let rest = std::mem::take(&mut self.rest); // an error ends it
        let cut_off = |size: u64| {
            Diagnostic::error(
                Kind::Loader,
                "the attribute runs past the end of its section",
            )
            .expected(format!("at most {} bytes", rest.size), size)
            .at(self.source.absolute(rest.offset))
        };
        if rest.size < HEAD {
            return Err(cut_off(HEAD).into());
        }
        let wanted = (HEAD + START as u64).min(rest.size);
        let at = rest.offset.checked_sub(self.page_at);
        let there = at.is_some_and(|at| at + wanted <= self.page.len() as u64);
        if !there {
            self.page.resize(PAGE.min(rest.size) as usize, 0);
            self.source.read_into(rest.offset, &mut self.page)?;
            self.page_at = rest.offset;
        }
        let at = (rest.offset - self.page_at) as usize;
        let bytes = &self.page[at..at + wanted as usize];
        let mut entry = Entry {
            offset: rest.offset,
            format: bytes[0],
            id: bytes[1],
            value: u16::from_le_bytes([bytes[2], bytes[3]]),
            start: [0; START],
        };
        entry.start[..bytes.len() - HEAD as usize].copy_from_slice(&bytes[HEAD as usize..]);
        let size = entry.span().size;
        if size > rest.size {
            return Err(cut_off(size).into());
        }
        self.rest = Span::new(rest.offset + size, rest.size - size);
        Ok(entry)
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.rest.size > 0).then(|| self.read())
    }
}
