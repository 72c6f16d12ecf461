//! Unpacking: LZ4 blocks, Zstandard frames, deflate and zlib streams.
//!
//! What comes out is bounded by what the header beside the bytes declares, by what the densest data of each kind can make of so
//! many bytes, and by [`LIMIT`]: a header alone cannot ask for memory.

use std::ops::Range;

use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};
use miniz_oxide::inflate::{
    DecompressError, TINFLStatus, decompress_to_vec_with_limit, decompress_to_vec_zlib_with_limit,
};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use serde::Serialize;

use crate::error::Severity;

/// How bytes are packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// As one LZ4 block, without a frame around it.
    Lz4,
    /// As Zstandard frames.
    Zstd,
    /// As a deflate stream with zlib's header and checksum.
    Zlib,
    /// As a bare deflate stream, as in zip and gzip.
    Deflate,
    /// In a way that is not known.
    Unknown,
}

impl Compression {
    /// Its word in what is handed out.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
            Self::Zlib => "zlib",
            Self::Deflate => "deflate",
            Self::Unknown => "unknown",
        }
    }

    /// Bytes that it makes of one, at most: a byte of an LZ4 length stands for 255, a block of zstd that repeats one byte is four
    /// bytes for 128 KiB, and deflate's longest match is 258 bytes for two bits.
    fn densest(self) -> u64 {
        match self {
            Self::None => u64::MAX,
            Self::Lz4 => 255,
            Self::Zstd => 1 << 15,
            Self::Zlib | Self::Deflate | Self::Unknown => 1032,
        }
    }
}

/// Bytes that are unpacked to, at most.
pub const LIMIT: u64 = 1 << 30;

/// A window that zstd may ask for whatever the size: the least that its specification wants decoders to have.
const WINDOW: u64 = 8 << 20;

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether so many packed bytes can unpack to `size`.
pub fn is_plausible(compression: Compression, packed: u64, size: u64) -> bool {
    size <= packed.saturating_mul(compression.densest())
}

/// What `packed` unpacks to, which is declared to be `size` bytes.
///
/// # Errors
/// Why it does not, in words.
pub fn unpack(compression: Compression, packed: &[u8], size: u64) -> Result<Vec<u8>, &'static str> {
    if size > LIMIT {
        return Err("it is declared to unpack to more bytes than are unpacked at once");
    }
    if !is_plausible(compression, packed.len() as u64, size) {
        return Err("it is declared to unpack to more bytes than so few can make");
    }
    let unpacked = match compression {
        Compression::None => Some(packed.to_vec()),
        Compression::Lz4 => lz4(packed, size),
        Compression::Zstd => zstd(packed, size),
        Compression::Zlib => inflate(packed, size),
        Compression::Deflate => decompress_to_vec_with_limit(packed, size as usize).ok(),
        Compression::Unknown => return Err("how it is compressed is not known"),
    };
    let unpacked = unpacked.ok_or(
        "it cannot be unpacked: the compressed bytes are malformed, or more than is declared",
    )?;
    match unpacked.len() as u64 == size {
        true => Ok(unpacked),
        false => Err("it unpacks to another number of bytes than is declared"),
    }
}

/// What `packed` unpacks to, whose size nothing declares: [`LIMIT`] bytes at most.
///
/// # Errors
/// Why it does not, in words.
pub fn unpack_all(compression: Compression, packed: &[u8]) -> Result<Vec<u8>, &'static str> {
    let most = (packed.len() as u64)
        .saturating_mul(compression.densest())
        .min(LIMIT);
    let unpacked = match compression {
        Compression::Zstd => zstd(packed, most),
        Compression::Deflate => decompress_to_vec_with_limit(packed, most as usize).ok(),
        Compression::Zlib => inflate(packed, most),
        _ => return Err("how much it unpacks to is not declared"),
    };
    let malformed = "it cannot be unpacked: the compressed bytes are malformed, or too many";
    unpacked
        .filter(|unpacked| unpacked.len() as u64 <= most)
        .ok_or(malformed)
}

/// What is wrong with bytes that could be unpacked all the same.
pub type Wrong = (Severity, &'static str);

/// What a compressed file unpacks to: gzip members without the header of the first, or zstd frames, one behind the other; and what
/// is wrong with it that does not keep it from being unpacked. [`LIMIT`] bytes at most.
///
/// # Errors
/// Why it does not, in words.
pub fn stream(
    compression: Compression,
    packed: &[u8],
) -> Result<(Vec<u8>, Option<Wrong>), &'static str> {
    let most = (packed.len() as u64)
        .saturating_mul(compression.densest())
        .min(LIMIT);
    let mut unpacked = Vec::new();
    let mut wrong = None;
    let mut rest = packed;
    let whole = match compression {
        Compression::Zstd => frames(&mut rest, most.max(WINDOW), most, &mut unpacked)
            .filter(|()| unpacked.len() as u64 <= most),
        Compression::Deflate => members(&mut rest, most, &mut unpacked, &mut wrong),
        _ => return Err("how it is compressed is not known"),
    };
    whole.ok_or("it cannot be unpacked: the compressed bytes are malformed, or too many")?;
    if !rest.is_empty() {
        wrong = wrong.or(Some((
            Severity::Warning,
            "bytes behind the compressed data are not read",
        )));
    }
    Ok((unpacked, wrong))
}

/// What a gzip file begins with: RFC 1952, 2.3.1, with deflate as its method.
const GZIP_MAGIC: &[u8] = b"\x1f\x8b\x08";

/// Unpacks the gzip members that `rest` begins with, the header of the first left out.
fn members(
    rest: &mut &[u8],
    most: u64,
    unpacked: &mut Vec<u8>,
    wrong: &mut Option<Wrong>,
) -> Option<()> {
    loop {
        let start = unpacked.len();
        let read = deflated(rest, most, unpacked)?;
        let (trailer, behind) = rest.get(read..)?.split_first_chunk::<8>()?;
        let number = |at: usize| {
            trailer[at..]
                .first_chunk()
                .map(|four| u32::from_le_bytes(*four))
        };
        let found = &unpacked[start..];
        if number(0) != Some(crc32(0, found)) {
            let why = "what it unpacks to does not have the CRC-32 that its trailer gives";
            *wrong = Some((Severity::Error, why));
        } else if number(4) != Some(found.len() as u32) {
            let why = "it unpacks to another number of bytes than its trailer gives";
            *wrong = Some((Severity::Error, why));
        }
        *rest = behind;
        let next = behind.starts_with(GZIP_MAGIC).then(|| gzip_header(behind));
        match next.flatten() {
            Some((size, _)) => *rest = behind.get(size as usize..)?,
            None => return Some(()),
        }
    }
}

/// Adds what the deflate stream unpacks to that `packed` begins with. How many bytes it has.
fn deflated(packed: &[u8], most: u64, unpacked: &mut Vec<u8>) -> Option<usize> {
    let start = unpacked.len();
    let most = (most as usize).checked_sub(start)?;
    let mut decoder = Box::<DecompressorOxide>::default();
    let (mut read, mut written) = (0, 0);
    let mut room = packed.len().saturating_mul(2).clamp(1 << 10, 1 << 20);
    loop {
        room = room.min(most);
        unpacked.resize(start + room, 0);
        let into = &mut unpacked[start..];
        let flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, taken, given) =
            decompress(&mut decoder, &packed[read..], into, written, flags);
        read += taken;
        written += given;
        match status {
            TINFLStatus::Done => {
                unpacked.truncate(start + written);
                return Some(read);
            }
            TINFLStatus::HasMoreOutput if room < most => room = room.saturating_mul(2),
            _ => return None,
        }
    }
}

/// The size of a gzip header, and where its name is: RFC 1952, 2.3.
pub fn gzip_header(bytes: &[u8]) -> Option<(u64, Option<Range<usize>>)> {
    const HEADER: usize = 10;
    const CHECKSUM: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let flags = *bytes.get(3)?;
    let mut at = HEADER;
    if flags & EXTRA != 0 {
        let size = bytes.get(at..)?.first_chunk()?;
        at += 2 + usize::from(u16::from_le_bytes(*size));
    }
    let text = |at: usize| {
        let size = bytes.get(at..)?.iter().position(|&byte| byte == 0)?;
        Some(at..at + size)
    };
    let mut name = None;
    if flags & NAME != 0 {
        let found = text(at)?;
        at = found.end + 1;
        name = Some(found);
    }
    if flags & COMMENT != 0 {
        at = text(at)?.end + 1;
    }
    if flags & CHECKSUM != 0 {
        at += 2;
    }
    (at <= bytes.len()).then_some((at as u64, name))
}

/// Blocks of zstd, of 128 KiB at most, that its beginning is made of.
const BLOCKS: u64 = 4;
/// Packed bytes that are enough for [`beginning`].
pub const BEGINNING: u64 = BLOCKS << 17;

/// The first bytes that `packed` unpacks to, which may be cut off: some hundred thousand at most. For a look at headers.
pub fn beginning(compression: Compression, packed: &[u8]) -> Vec<u8> {
    let cut =
        |result: Result<Vec<u8>, DecompressError>| result.unwrap_or_else(|error| error.output);
    let most = (BLOCKS << 17) as usize;
    match compression {
        Compression::Zlib => cut(decompress_to_vec_zlib_with_limit(packed, most)),
        Compression::Deflate => cut(decompress_to_vec_with_limit(packed, most)),
        Compression::Zstd => zstd_beginning(packed).unwrap_or_default(),
        Compression::None | Compression::Lz4 | Compression::Unknown => Vec::new(),
    }
}

fn lz4(packed: &[u8], size: u64) -> Option<Vec<u8>> {
    let mut unpacked = vec![0; size as usize];
    let written = lz4_flex::block::decompress_into(packed, &mut unpacked).ok()?;
    unpacked.truncate(written);
    Some(unpacked)
}

/// What zlib data unpack to; `None` where they are malformed, or more than `size` bytes.
pub fn inflate(packed: &[u8], size: u64) -> Option<Vec<u8>> {
    decompress_to_vec_zlib_with_limit(packed, size as usize).ok()
}

/// What zstd frames, one behind the other, unpack to; `None` where one is malformed. More than `size` bytes only by what is left of
/// a block.
pub fn zstd(packed: &[u8], size: u64) -> Option<Vec<u8>> {
    let mut rest = packed;
    let mut unpacked = Vec::new();
    frames(&mut rest, size.max(WINDOW), size, &mut unpacked)?;
    Some(unpacked)
}

/// Unpacks the frames that `rest` begins with, until there are more than `size` bytes in all.
fn frames(rest: &mut &[u8], window: u64, size: u64, unpacked: &mut Vec<u8>) -> Option<()> {
    loop {
        frame(rest, window, size, unpacked)?;
        if unpacked.len() as u64 > size {
            return Some(());
        }
        // RFC 8878, 3.1.2: frames that are skipped, with their size.
        while let Some(&[0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, d]) = rest.first_chunk() {
            let size = u32::from_le_bytes([a, b, c, d]) as usize;
            *rest = rest.get(8..)?.get(size..)?;
        }
        if !rest.starts_with(&ZSTD_MAGIC) {
            return Some(());
        }
    }
}

/// Unpacks the frame that `rest` begins with, until there are more than `size` bytes in all.
fn frame(rest: &mut &[u8], window: u64, size: u64, unpacked: &mut Vec<u8>) -> Option<()> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(window);
    decoder.init(&mut *rest).ok()?;
    // 0 where the frame does not say it.
    let (start, declared) = (unpacked.len(), decoder.content_size());
    while !decoder.is_finished() && unpacked.len() as u64 <= size {
        let block = BlockDecodingStrategy::UptoBlocks(1);
        decoder.decode_blocks(&mut *rest, block).ok()?;
        unpacked.extend(decoder.collect().unwrap_or_default());
    }
    let found = (unpacked.len() - start) as u64;
    (!decoder.is_finished() || declared == 0 || found == declared).then_some(())
}

/// What the first blocks of a frame unpack to. A frame says how much its decoder is to remember, which may be all of what it unpacks
/// to; for its beginning that much is not needed. So they are made a frame of their own, with a small window.
fn zstd_beginning(packed: &[u8]) -> Option<Vec<u8>> {
    // RFC 8878, 3.1.1.1: magic, descriptor, then a window unless it is a single segment, the dictionary's number, the size.
    let descriptor = *packed.strip_prefix(&ZSTD_MAGIC)?.first()?;
    let is_single = descriptor & 0x20 != 0;
    let window = usize::from(!is_single);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content = [usize::from(is_single), 2, 4, 8][usize::from(descriptor >> 6)];
    let blocks = packed.get(5 + window + dictionary + content..)?;
    // No dictionary, no size, no checksum; a window of 1 MiB.
    let mut frame = [&ZSTD_MAGIC[..], &[0, 10 << 3]].concat();
    let (mut at, mut last) = (0, None);
    // 3.1.1.2: a bit for the last block, two for its type, of which 1 repeats one byte, and its size.
    for _ in 0..BLOCKS {
        let Some(&[a, b, c]) = blocks.get(at..at + 3) else {
            break;
        };
        let header = u32::from_le_bytes([a, b, c, 0]);
        let size = match header >> 1 & 3 {
            1 => 1,
            _ => (header >> 3) as usize,
        };
        if blocks.len() - at - 3 < size {
            break;
        }
        last = Some(frame.len() + at);
        at += 3 + size;
        if header & 1 != 0 {
            break;
        }
    }
    frame.extend(&blocks[..at]);
    frame[last?] |= 1;
    zstd(&frame, BLOCKS << 17)
}

/// The CRC-32 of ISO 3309 (polynomial 0xedb88320, lowest bit first) of what came to `before` so far, 0 at first, and then of `bytes`.
pub fn crc32(before: u32, bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut i = 0;
        while i < 256 {
            let mut value = i as u32;
            let mut bit = 0;
            while bit < 8 {
                value = (value >> 1) ^ (0xedb8_8320 * (value & 1));
                bit += 1;
            }
            table[i] = value;
            i += 1;
        }
        table
    };
    let step = |sum: u32, byte: &u8| TABLE[usize::from(sum as u8 ^ byte)] ^ (sum >> 8);
    !bytes.iter().fold(!before, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_declares_more_than_can_be_is_refused_before_anything_is_unpacked() {
        for compression in [
            Compression::Lz4,
            Compression::Zstd,
            Compression::Zlib,
            Compression::Deflate,
        ] {
            for size in [1 << 20, LIMIT, LIMIT + 1, u64::MAX] {
                assert!(unpack(compression, &[0; 8], size).is_err(), "{size}");
            }
        }
    }

    #[test]
    fn a_block_that_repeats_a_byte_is_its_beginning_too() {
        // A frame of 2^27 bytes as one segment whose blocks of 128 KiB repeat a byte: RFC 8878 by hand.
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 8];
        for block in 0..1024_u32 {
            let header = u32::from(block == 1023) | 1 << 1 | (1 << 17) << 3;
            frame.extend(&header.to_le_bytes()[..3]);
            frame.push(7);
        }
        let start = beginning(Compression::Zstd, &frame);
        assert_eq!(start.len() as u64, BLOCKS << 17);
        assert!(start.iter().all(|&byte| byte == 7));
        // Cut off, it begins alike.
        assert_eq!(beginning(Compression::Zstd, &frame[..14]).len(), 1 << 17);
        assert!(beginning(Compression::Zstd, &frame[..12]).is_empty());
        let whole = unpack(Compression::Zstd, &frame, 1 << 27).expect("a whole frame");
        assert!(whole.iter().all(|&byte| byte == 7));
        assert!(unpack(Compression::Zstd, &frame, (1 << 27) - 1).is_err());
    }
}
