//! What containers hold.

use super::Format;
use super::identify::is_container;
use super::reader::DEPTH_LIMIT;
use crate::span::Span;
use crate::unpack::{Compression, LIMIT, crc32, is_plausible};

/// A file in a file, as the headers around it describe it.
#[derive(Clone, Debug)]
pub struct Member {
    /// What it is called in its container: its name, or its number where it has none. Unique there.
    pub name: Box<str>,
    /// How many members it is in.
    pub depth: u32,
    /// The member that it is in.
    pub parent: Option<u32>,
    /// The index of the member behind it and behind all that are in it.
    pub next: u32,
    /// The container's own word for what it is.
    pub kind: MemberKind,
    /// What it is.
    pub format: Format,
    /// What it runs on: `sm_90a`, `gfx90a:xnack+`.
    pub target: Option<Box<str>>,
    /// The member whose unpacked bytes `span` and `header` count in; `None` where they count in the file itself.
    pub base: Option<u32>,
    /// Its bytes as they are stored.
    pub span: Span,
    /// The header that describes it.
    pub header: Span,
    /// Bytes that it unpacks to, as its header declares; where it is not packed its bytes without padding. `None` where no header
    /// says it.
    pub unpacked: Option<u64>,
    /// How it is packed.
    pub compression: Compression,
    /// What unpacking can be held against.
    pub checksum: Option<Checksum>,
    /// What else the container says of it, such as options.
    pub note: Box<str>,
    /// A name that is not its own alone: the identifier of a fatbin's entry.
    pub identifier: Option<Box<str>>,
    /// Whether its container rounds it up, with zeros behind it.
    pub is_padded: bool,
    /// Whether it is all of a compressed file, of which there may be several one behind the other.
    pub is_stream: bool,
    /// How many members are directly in it.
    pub children: u32,
    /// Whether it is code that is still to be linked, as far as headers say it.
    pub is_relocatable: bool,
    /// Whether only the toolkit that wrote it can read it.
    pub is_obfuscated: bool,
}

/// The container's own word for what a member is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MemberKind {
    /// It has none.
    #[default]
    None,
    /// A number, and its name where it has one.
    Number(u64, &'static str),
    /// A word: the kind of a bundle's entry, the section of a fatbin.
    Word(Box<str>),
}

/// What the bytes of a member come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// The first 8 bytes of the MD5 of the unpacked bytes, as a number.
    Md5(u64),
    /// The CRC-32 of the unpacked bytes (ISO 3309, as in gzip and zip).
    Crc32(u32),
}

/// What code a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// Instructions of a GPU.
    Machine,
    /// PTX, which the driver compiles.
    Ptx,
    /// Another language between compilers: NVVM or LLVM bitcode, Tile IR, SPIR-V.
    Intermediate,
}

impl Code {
    /// Its words in what is handed out.
    pub fn word(self) -> &'static str {
        match self {
            Self::Machine => "machine code",
            Self::Ptx => "PTX",
            Self::Intermediate => "IR",
        }
    }
}

impl Member {
    /// A member of these bytes; the rest as if nothing more were known.
    pub(super) fn new(name: impl Into<Box<str>>, header: Span, span: Span) -> Self {
        Self {
            name: name.into(),
            depth: 0,
            parent: None,
            next: 0,
            kind: MemberKind::None,
            format: Format::Unknown,
            target: None,
            base: None,
            span,
            header,
            unpacked: Some(span.size),
            compression: Compression::None,
            checksum: None,
            note: "".into(),
            identifier: None,
            is_padded: false,
            is_stream: false,
            children: 0,
            is_relocatable: false,
            is_obfuscated: false,
        }
    }

    /// Bytes when it is opened. Packed PTX ends with a NUL, which is not a part of the text.
    pub fn size(&self) -> Option<u64> {
        let is_packed = self.compression != Compression::None;
        let nul = u64::from(is_packed && self.format == Format::Ptx);
        self.unpacked.map(|size| size.saturating_sub(nul))
    }

    /// Whether it may have members that nobody has looked for: it is packed, or lies too deep in others.
    pub fn is_unread(&self) -> bool {
        let is_looked_into = self.compression == Compression::None && self.depth < DEPTH_LIMIT;
        is_container(self.format) && self.children == 0 && !is_looked_into
    }

    /// Whether the size that it is said to have may be another's: what a gzip file ends with.
    pub fn is_size_guessed(&self) -> bool {
        self.is_stream && self.compression == Compression::Deflate
    }

    /// Whether it is declared to unpack to more than is opened, and may well do so.
    pub fn is_too_large(&self) -> bool {
        let can_be = |size| is_plausible(self.compression, self.span.size, size);
        let size = self.unpacked.filter(|&size| size > LIMIT && can_be(size));
        self.compression != Compression::None && size.is_some()
    }

    /// Whether it is too large to be opened, but can be extracted: an LZ4 block is unpacked at once, or not at all.
    pub fn is_only_extracted(&self) -> bool {
        self.is_too_large() && self.compression != Compression::Lz4
    }

    /// What code it is, if it is for a GPU.
    pub fn code(&self) -> Option<Code> {
        Code::of(self.format)
    }
}

impl Code {
    /// What code files of `format` are, if they are for a GPU.
    pub fn of(format: Format) -> Option<Self> {
        Some(match format {
            Format::Cubin | Format::Amdgpu => Self::Machine,
            Format::Ptx => Self::Ptx,
            Format::LlvmBitcode | Format::Nvvm | Format::TileIr | Format::Spirv => {
                Self::Intermediate
            }
            _ => return None,
        })
    }
}

impl Checksum {
    /// What it is called.
    pub fn word(self) -> &'static str {
        match self {
            Self::Md5(_) => "hash",
            Self::Crc32(_) => "CRC-32",
        }
    }
}

/// A checksum that is being held against bytes, one piece after the other.
pub(super) enum Sum {
    None,
    Md5(Box<md5::Context>, u64),
    Crc32(u32, u32),
}

impl Sum {
    pub fn new(checksum: Option<Checksum>) -> Self {
        match checksum {
            None => Self::None,
            Some(Checksum::Md5(hash)) => Self::Md5(Box::new(md5::Context::new()), hash),
            Some(Checksum::Crc32(sum)) => Self::Crc32(0, sum),
        }
    }

    pub fn add(&mut self, bytes: &[u8]) {
        match self {
            Self::None => {}
            Self::Md5(context, _) => context.consume(bytes),
            Self::Crc32(found, _) => *found = crc32(*found, bytes),
        }
    }

    /// Whether what was added comes to it.
    pub fn matches(self) -> bool {
        match self {
            Self::None => true,
            Self::Md5(context, hash) => {
                context.finalize().0.first_chunk() == Some(&hash.to_le_bytes())
            }
            Self::Crc32(found, sum) => found == sum,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_their_standards() {
        // RFC 1321, A.5; the check value of CRC-32/ISO-HDLC.
        let hash = u64::from_le_bytes([0x90, 0x01, 0x50, 0x98, 0x3c, 0xd2, 0x4f, 0xb0]);
        let matches = |checksum, pieces: [&[u8]; 2]| {
            let mut sum = Sum::new(Some(checksum));
            for piece in pieces {
                sum.add(piece);
            }
            sum.matches()
        };
        assert!(matches(Checksum::Md5(hash), [b"a", b"bc"]));
        assert!(!matches(Checksum::Md5(hash), [b"a", b"bd"]));
        assert!(matches(Checksum::Crc32(0xcbf4_3926), [b"1234", b"56789"]));
    }
}
