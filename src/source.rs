//! Where bytes come from.
//!
//! A [`Source`] is memory, or something that reads slices ([`ReadAt`]: a file in the terminal, a
//! `Blob` in a worker). There are two ways in:
//!
//! - [`object::ReadRef`], for headers and tables: hands out borrows, so what is read through it
//!   stays in memory as long as the source. Sizes are checked first, and what may be held is bounded.
//! - [`Source::read`], for contents: copies, through a cache of a few pages that are reused.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use elsa::FrozenVec;
use object::ReadRef;

use crate::error::{Diagnostic, Error, Kind, Result};
use crate::index::{self, Index};
use crate::span::Span;

/// Something that reads slices of a file.
pub trait ReadAt {
    /// The file's size in bytes. It does not change.
    fn size(&self) -> u64;

    /// Fills `into` with the bytes from `offset` on. The range lies in the file.
    ///
    /// # Errors
    /// Why the bytes cannot be had, in words.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> std::result::Result<(), String>;
}

enum Bytes {
    Memory(Box<[u8]>),
    Sliced(Sliced),
}

struct Sliced {
    reader: Box<dyn ReadAt>,
    /// What was read through `ReadRef`, and its index by offset and size.
    held: FrozenVec<Box<[u8]>>,
    held_index: RefCell<Index>,
    held_bytes: Cell<u64>,
    pages: RefCell<Pages>,
    fetched: Cell<u64>,
}

/// Bytes to read: all of a file, or a part of it. Cloning is cheap and shares the caches.
#[derive(Clone)]
pub struct Source {
    bytes: Rc<Bytes>,
    window: Span,
    /// Where its first byte lies in the file that was dropped, if it lies there as it is.
    origin: Option<u64>,
}

/// Bytes that [`object::ReadRef`] may hold of one file, at most.
pub const HELD_LIMIT: u64 = 256 << 20;

impl Source {
    /// All of `bytes`.
    pub fn memory(bytes: impl Into<Box<[u8]>>) -> Self {
        let bytes = bytes.into();
        let size = bytes.len() as u64;
        Self::whole(Bytes::Memory(bytes), size)
    }

    /// What something in a file was unpacked to: no byte of it lies in the file.
    pub fn unpacked(bytes: impl Into<Box<[u8]>>) -> Self {
        Self {
            origin: None,
            ..Self::memory(bytes)
        }
    }

    /// All of what `reader` reads.
    pub fn sliced(reader: impl ReadAt + 'static) -> Self {
        let size = reader.size();
        let sliced = Sliced {
            reader: Box::new(reader),
            held: FrozenVec::new(),
            held_index: RefCell::default(),
            held_bytes: Cell::new(0),
            pages: RefCell::default(),
            fetched: Cell::new(0),
        };
        Self::whole(Bytes::Sliced(sliced), size)
    }

    fn whole(bytes: Bytes, size: u64) -> Self {
        Self {
            bytes: Rc::new(bytes),
            window: Span::new(0, size),
            origin: Some(0),
        }
    }

    /// The part of it that `span` names, as a source of its own that counts from 0.
    ///
    /// # Errors
    /// If `span` does not lie in it.
    pub fn part(&self, span: Span) -> Result<Self> {
        self.check(span)?;
        Ok(Self {
            bytes: self.bytes.clone(),
            window: Span::new(self.window.offset + span.offset, span.size),
            origin: self.origin.map(|origin| origin + span.offset),
        })
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.window.size
    }

    /// The offset in the file that was dropped; `None` if this is not a part of it.
    pub fn in_file(&self, offset: u64) -> Option<u64> {
        self.origin?.checked_add(offset)
    }

    /// The offset that findings have: in the file that was dropped or, where this is no part of it, in what was unpacked.
    pub fn absolute(&self, offset: u64) -> Option<u64> {
        match self.origin {
            Some(origin) => origin.checked_add(offset),
            None => self.window.offset.checked_add(offset),
        }
    }

    /// Bytes fetched from the reader so far; 0 for memory.
    pub fn fetched(&self) -> u64 {
        match &*self.bytes {
            Bytes::Memory(_) => 0,
            Bytes::Sliced(sliced) => sliced.fetched.get(),
        }
    }

    fn check(&self, span: Span) -> Result<()> {
        if span.within(self.size()) {
            return Ok(());
        }
        Err(self.error(
            span.offset,
            format!(
                "{} bytes at 0x{:x} run past the end of the file (0x{:x})",
                span.size,
                span.offset,
                self.size()
            ),
        ))
    }

    fn error(&self, offset: u64, message: String) -> Error {
        Diagnostic::error(Kind::Format, message)
            .at(self.absolute(offset))
            .into()
    }

    /// The bytes of `span`, kept in memory. For headers and tables.
    ///
    /// # Errors
    /// If `span` does not lie in the file, the reader fails, or too much would be held.
    pub fn hold(&self, span: Span) -> Result<&[u8]> {
        self.check(span)?;
        let offset = self.window.offset + span.offset;
        match &*self.bytes {
            Bytes::Memory(bytes) => Ok(&bytes[offset as usize..][..span.size as usize]),
            Bytes::Sliced(sliced) => sliced
                .hold(offset, span.size)
                .map_err(|why| self.error(span.offset, why)),
        }
    }

    /// Copies the bytes from `offset` on into `into`. For contents.
    ///
    /// # Errors
    /// If they do not lie in the file, or the reader fails.
    pub fn read_into(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        self.check(Span::new(offset, into.len() as u64))?;
        let start = self.window.offset + offset;
        match &*self.bytes {
            Bytes::Memory(bytes) => {
                into.copy_from_slice(&bytes[start as usize..][..into.len()]);
                Ok(())
            }
            Bytes::Sliced(sliced) => sliced
                .read(start, into)
                .map_err(|why| self.error(offset, why)),
        }
    }

    /// A copy of the bytes of `span`. The caller bounds its size.
    ///
    /// # Errors
    /// If they do not lie in the file, or the reader fails.
    pub fn read(&self, span: Span) -> Result<Vec<u8>> {
        self.check(span)?;
        let mut bytes = vec![0; span.size as usize];
        self.read_into(span.offset, &mut bytes)?;
        Ok(bytes)
    }

    /// Up to `size` bytes from `offset` on: fewer at the end of the file.
    ///
    /// # Errors
    /// If the reader fails.
    pub fn read_up_to(&self, offset: u64, size: u64) -> Result<Vec<u8>> {
        self.read(Span::new(offset, size).clamp(self.size()))
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("window", &self.window)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

impl<'a> ReadRef<'a> for &'a Source {
    fn len(self) -> std::result::Result<u64, ()> {
        Ok(self.size())
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> std::result::Result<&'a [u8], ()> {
        self.hold(Span::new(offset, size)).map_err(|_| ())
    }

    fn read_bytes_at_until(
        self,
        range: Range<u64>,
        delimiter: u8,
    ) -> std::result::Result<&'a [u8], ()> {
        let size = range.end.checked_sub(range.start).ok_or(())?;
        let bytes = self.read_bytes_at(range.start, size)?;
        let end = bytes.iter().position(|&b| b == delimiter).ok_or(())?;
        Ok(&bytes[..end])
    }
}

impl Sliced {
    fn fetch(&self, offset: u64, into: &mut [u8]) -> std::result::Result<(), String> {
        self.fetched.set(self.fetched.get() + into.len() as u64);
        self.reader.read_at(offset, into)
    }

    fn hold(&self, offset: u64, size: u64) -> std::result::Result<&[u8], String> {
        if size == 0 {
            return Ok(&[]);
        }
        let key = index::pair(offset, size);
        let number = self.held_index.borrow().get(&key);
        if let Some(bytes) = number.and_then(|number| self.held.get(number)) {
            return Ok(bytes);
        }
        // Tables of an honest file are smaller than the file; a malformed one can name the same
        // bytes again and again.
        let held = self.held_bytes.get().saturating_add(size);
        if held > HELD_LIMIT.min(self.reader.size().saturating_mul(2)) {
            return Err(format!(
                "{size} bytes more of tables would be kept than are allowed"
            ));
        }
        let mut bytes = vec![0; size as usize].into_boxed_slice();
        self.read(offset, &mut bytes)?;
        self.held_bytes.set(held);
        self.held_index.borrow_mut().add(&key);
        Ok(self.held.push_get(bytes))
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> std::result::Result<(), String> {
        // More than a page is read at once: each call of the reader costs, and pages that are asked for again stay.
        if into.len() as u64 > Pages::SIZE {
            return self.fetch(offset, into);
        }
        let mut pages = self.pages.borrow_mut();
        let mut done = 0;
        while done < into.len() {
            let at = offset + done as u64;
            let start = at / Pages::SIZE * Pages::SIZE;
            let skip = (at - start) as usize;
            let page = pages.get(start, |page| {
                let size = Pages::SIZE.min(self.reader.size() - start);
                page.resize(size as usize, 0);
                self.fetch(start, page)
            })?;
            let part = (into.len() - done).min(page.len() - skip);
            into[done..done + part].copy_from_slice(&page[skip..skip + part]);
            done += part;
        }
        Ok(())
    }
}

/// The pages read last, least recently used ones given up first.
#[derive(Default)]
struct Pages {
    /// Start, time of last use, bytes.
    pages: Vec<(u64, u64, Vec<u8>)>,
    clock: u64,
}

impl Pages {
    const SIZE: u64 = 64 << 10;
    const COUNT: usize = 64;

    fn get(
        &mut self,
        start: u64,
        fill: impl FnOnce(&mut Vec<u8>) -> std::result::Result<(), String>,
    ) -> std::result::Result<&[u8], String> {
        self.clock += 1;
        let slot = match self.pages.iter().position(|page| page.0 == start) {
            Some(slot) => slot,
            None => {
                let mut page = Vec::new();
                if self.pages.len() == Self::COUNT {
                    let oldest = (0..Self::COUNT).min_by_key(|&i| self.pages[i].1);
                    page = self.pages.swap_remove(oldest.unwrap_or(0)).2;
                }
                fill(&mut page)?;
                self.pages.push((start, 0, page));
                self.pages.len() - 1
            }
        };
        self.pages[slot].1 = self.clock;
        Ok(&self.pages[slot].2)
    }
}

/// The first size bytes of a file that is open for reading.
#[cfg(not(target_arch = "wasm32"))]
pub struct File {
    file: std::fs::File,
    size: u64,
}

#[cfg(not(target_arch = "wasm32"))]
impl File {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// Those of the operating system; a folder or a device is refused.
    pub fn open(path: &std::path::Path) -> std::io::Result<Self> {
        let file = std::fs::File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(std::io::Error::other("not a regular file"));
        }
        Ok(Self {
            file,
            size: metadata.len(),
        })
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl ReadAt for File {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> std::result::Result<(), String> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset))
            .and_then(|_| file.read_exact(into))
            .map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting(Vec<u8>);

    impl ReadAt for Counting {
        fn size(&self) -> u64 {
            self.0.len() as u64
        }
        fn read_at(&self, offset: u64, into: &mut [u8]) -> std::result::Result<(), String> {
            into.copy_from_slice(&self.0[offset as usize..][..into.len()]);
            Ok(())
        }
    }

    fn bytes(size: usize) -> Vec<u8> {
        (0..size).map(|i| (i * 7 + i / 251) as u8).collect()
    }

    #[test]
    fn slices_read_what_memory_reads() {
        let all = bytes(300_000);
        let source = Source::sliced(Counting(all.clone()));
        for (offset, size) in [
            (0, 1),
            (65_530, 20),
            (131_072, 65_536),
            (131_000, 65_536),
            (65_530, 65_537),
            (299_999, 1),
            (7, 200_000),
        ] {
            let span = Span::new(offset, size);
            let expected = &all[offset as usize..][..size as usize];
            assert_eq!(source.read(span).unwrap(), expected);
            assert_eq!(source.hold(span).unwrap(), expected);
        }
        assert!(source.read(Span::new(299_999, 2)).is_err());
        assert!(source.hold(Span::new(u64::MAX, 2)).is_err());
    }

    #[test]
    fn a_part_counts_from_zero_and_knows_its_place() {
        let source = Source::memory(bytes(100));
        let part = source.part(Span::new(10, 20)).unwrap();
        assert_eq!(part.size(), 20);
        assert_eq!(part.absolute(3), Some(13));
        assert_eq!(part.read(Span::new(0, 20)).unwrap(), bytes(100)[10..30]);
        assert!(part.read(Span::new(0, 21)).is_err());
        assert!(source.part(Span::new(90, 11)).is_err());
    }

    #[test]
    fn what_is_held_is_bounded() {
        let source = Source::sliced(Counting(bytes(1000)));
        let held = (0..1000).filter(|&i| source.hold(Span::new(i, 1000 - i)).is_ok());
        assert!(held.map(|i| 1000 - i).sum::<u64>() <= 2000);
    }

    #[test]
    fn the_page_cache_gives_up_pages() {
        let size = (Pages::COUNT as u64 + 10) * Pages::SIZE;
        let source = Source::sliced(Counting(vec![1; size as usize]));
        for page in 0..size / Pages::SIZE {
            source.read(Span::new(page * Pages::SIZE, 1)).unwrap();
        }
        let Bytes::Sliced(sliced) = &*source.bytes else {
            unreachable!()
        };
        assert_eq!(sliced.pages.borrow().pages.len(), Pages::COUNT);
        assert_eq!(source.fetched(), size);
    }
}
