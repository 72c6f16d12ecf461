//! Sections whose bytes are compressed (`SHF_COMPRESSED`).
//!
//! What they unpack to is bounded by what their header says, by whoever asks, and by what the densest format that is in
//! use can make of so many bytes: a header alone cannot ask for memory.

use object::LittleEndian;
use object::elf::{self, CompressionHeader32, CompressionHeader64};

use super::{Class, Elf, LE, Section, pod};
use crate::span::Span;
use crate::unpack::{Compression, Expected, unpack};

impl Section {
    /// Whether its bytes begin with a compression header.
    pub fn is_compressed(&self) -> bool {
        self.flags & elf::SHF_COMPRESSED.0 != 0
    }
}

impl Elf {
    /// The bytes of `section`, unpacked where they are compressed: `limit` of them at most.
    ///
    /// # Errors
    /// Why there are none, in words.
    pub fn unpack(&self, section: &Section, limit: u64) -> Result<Vec<u8>, &'static str> {
        let span = self.stored(section);
        let read = |span: Span| match span.size > limit {
            true => Err("the section is too long to be read"),
            false => self
                .source()
                .read(span)
                .map_err(|_| "the section cannot be read"),
        };
        if !section.is_compressed() {
            return read(span);
        }
        let bytes = read(span)?;
        let (kind, size, start) = match self.header.class {
            Class::Elf32 => pod(&bytes).map(|raw: CompressionHeader32<LittleEndian>| {
                let size = raw.ch_size.get(LE);
                (raw.ch_type.get(LE), u64::from(size), 12)
            }),
            Class::Elf64 => pod(&bytes).map(|raw: CompressionHeader64<LittleEndian>| {
                let size = raw.ch_size.get(LE);
                (raw.ch_type.get(LE), size, 24)
            }),
        }
        .ok_or("the section has no room for its compression header")?;
        let packed = bytes.get(start..).unwrap_or_default();
        if size > limit {
            return Err("the section is said to unpack to too many bytes");
        }
        let compression = match kind {
            elf::ELFCOMPRESS_ZLIB => Compression::Zlib,
            elf::ELFCOMPRESS_ZSTD => Compression::Zstd,
            _ => return Err("the section is compressed in a way that is not known"),
        };
        unpack(compression, packed, Expected::Declared(size))
            .map_err(|_| "the section cannot be unpacked to as many bytes as its header says")
    }
}
