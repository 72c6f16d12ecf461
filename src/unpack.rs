//! Unpacking: LZ4 blocks, Zstandard frames, deflate and zlib streams.
//!
//! What comes out is bounded by what the header beside the bytes declares, by what the densest data of each kind can make of so
//! many bytes, and by [`LIMIT`]: a header alone cannot ask for memory.

use std::ops::Range;

use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_PARSE_ZLIB_HEADER,
    TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};
use miniz_oxide::inflate::{
    DecompressError, TINFLStatus, decompress_to_vec_with_limit, decompress_to_vec_zlib_with_limit,
};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use serde::Serialize;

use crate::error::{Error, Severity};
use crate::source::Source;
use crate::zstd;

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

/// Whether so many packed bytes can unpack to `size`.
pub fn is_plausible(compression: Compression, packed: u64, size: u64) -> bool {
    size <= packed.saturating_mul(compression.densest())
}

/// How many bytes are to come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// So many, as is declared.
    Declared(u64),
    /// Nothing declares how many.
    Undeclared,
    /// Nothing declares how many of a compressed file: gzip members without the header of the first, or zstd frames, one behind the
    /// other, and perhaps other bytes behind them.
    Stream,
}

/// What is wrong with bytes that could be unpacked all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// How bad it is.
    pub severity: Severity,
    /// In words.
    pub why: &'static str,
    /// The packed byte that shows it.
    pub at: u64,
}

const MALFORMED: &str =
    "it cannot be unpacked: the compressed bytes are malformed, or more than is declared";
const MALFORMED_UNDECLARED: &str = "it cannot be unpacked: the compressed bytes are malformed";
const TOO_MUCH: &str = "it unpacks to more bytes than are unpacked at once";

/// Bytes that a block of zstd takes at most, with its header and the checksum behind it; the header of a frame takes less.
const BLOCK: usize = (128 << 10) + 3 + 4;
/// Bytes that deflate looks back at, at most.
const DEFLATE_WINDOW: usize = 32 << 10;
/// Bytes that the header of a gzip member takes at most, where it is read: what follows it, a name and a comment.
pub const GZIP_HEADERS: usize = 256 << 10;
/// What a gzip file begins with: RFC 1952, 2.3.1, with deflate as its method.
const GZIP_MAGIC: &[u8] = b"\x1f\x8b\x08";
/// Bytes that are made at once, about.
const ROOM: u64 = 1 << 20;

/// Bytes that are being unpacked, in steps. Packed bytes are read in pieces; what comes of them is kept until it is taken.
///
/// An LZ4 block is one step whatever it unpacks to, for what decodes it cannot stop in it.
pub struct Unpacker {
    compression: Compression,
    expected: Expected,
    input: Input,
    state: State,
    /// Bytes that may come out.
    most: u64,
    unpacked: Vec<u8>,
    /// Bytes that were taken out of `unpacked`.
    taken: u64,
    /// What the gzip member that is being unpacked comes to: bytes before it, and their CRC-32.
    member: (u64, u32),
    wrong: Option<Wrong>,
    /// Why it cannot go on, where it is known better than that bytes are malformed.
    refusal: Option<&'static str>,
    /// Whether a frame says that more will come out than may.
    is_too_much: bool,
}

enum State {
    /// What is next has not begun: a block of LZ4, a deflate stream, or a frame of zstd that has to be there.
    Begin,
    Deflate(Box<DecompressorOxide>),
    /// A frame, and how many bytes came out before it.
    Frame(Box<FrameDecoder>, u64),
    /// There may be more frames.
    Behind,
    /// Nothing of a compressed file is to come: there may be bytes behind it.
    Rest,
    Done,
}

impl Unpacker {
    /// Begins to unpack all of `packed`, to at most `limit` bytes.
    ///
    /// # Errors
    /// Why it cannot be, in words.
    pub fn new(
        compression: Compression,
        packed: Source,
        expected: Expected,
        limit: u64,
    ) -> Result<Self, &'static str> {
        use Compression::{Deflate, Lz4, Zlib, Zstd};
        if let Expected::Declared(size) = expected {
            if size > limit {
                return Err("it is declared to unpack to more bytes than are unpacked at once");
            }
            if !is_plausible(compression, packed.size(), size) {
                return Err("it is declared to unpack to more bytes than so few can make");
            }
        }
        match (compression, expected) {
            (Lz4 | Zstd | Zlib | Deflate, Expected::Declared(_))
            | (Zstd | Zlib | Deflate, Expected::Undeclared)
            | (Zstd | Deflate, Expected::Stream) => {}
            (_, Expected::Undeclared) => return Err("how much it unpacks to is not declared"),
            _ => return Err("how it is compressed is not known"),
        }
        let most = match expected {
            Expected::Declared(size) => size,
            _ => packed
                .size()
                .saturating_mul(compression.densest())
                .min(limit),
        };
        Ok(Self {
            compression,
            expected,
            input: Input::new(packed),
            state: State::Begin,
            most,
            unpacked: Vec::new(),
            taken: 0,
            member: (0, 0),
            wrong: None,
            refusal: None,
            is_too_much: false,
        })
    }

    /// Goes on until about `budget` bytes more are read or made. Whether that is all.
    ///
    /// # Errors
    /// Why it cannot be unpacked, in words; where it could not be read, [`Unpacker::unread`] says more.
    pub fn step(&mut self, budget: u64) -> Result<bool, &'static str> {
        let end = self.worked().saturating_add(budget.max(1));
        while !matches!(self.state, State::Done) {
            let left = end.saturating_sub(self.worked());
            if left == 0 {
                return Ok(false);
            }
            let gone_on = self.go_on(left.min(ROOM));
            let gone_on = gone_on.filter(|()| self.input.failed.is_none());
            if self.is_full() && (gone_on.is_none() || self.made() > self.most) {
                return Err(TOO_MUCH);
            }
            gone_on.ok_or(match (self.refusal, self.is_declared()) {
                (Some(why), _) => why,
                (None, true) => MALFORMED,
                (None, false) => MALFORMED_UNDECLARED,
            })?;
        }
        match self.expected {
            Expected::Declared(size) if self.made() != size => {
                Err("it unpacks to another number of bytes than is declared")
            }
            _ => Ok(true),
        }
    }

    /// All that is not taken yet of what it unpacks to.
    ///
    /// # Errors
    /// Those of [`Unpacker::step`], and what is wrong with it where that is an error.
    pub fn finish(mut self) -> Result<Vec<u8>, &'static str> {
        while !self.step(u64::MAX)? {}
        match self.wrong {
            Some(wrong) if wrong.severity == Severity::Error => Err(wrong.why),
            _ => Ok(self.unpacked),
        }
    }

    fn is_declared(&self) -> bool {
        matches!(self.expected, Expected::Declared(_))
    }

    /// Whether there is, or will be, as much as may come out of what does not declare how much that is.
    pub fn is_full(&self) -> bool {
        self.is_too_much || (!self.is_declared() && self.made() >= self.most)
    }

    /// Those of the unpacked bytes that were not taken, once it is done.
    pub fn into_unpacked(self) -> Vec<u8> {
        self.unpacked
    }

    /// Packed bytes that are unpacked, and of how many.
    pub fn progress(&self) -> (u64, u64) {
        let total = self.input.source.size();
        (total - self.input.left(), total)
    }

    /// Bytes that it has unpacked to so far.
    pub fn made(&self) -> u64 {
        self.taken + self.unpacked.len() as u64
    }

    /// Those of them that were not taken.
    pub fn unpacked(&self) -> &[u8] {
        &self.unpacked
    }

    /// Hands `into` the bytes that are not needed any more for what follows them, and gives them up.
    pub fn take<E>(&mut self, into: impl FnOnce(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let kept = match self.state {
            State::Deflate(_) => DEFLATE_WINDOW.min(self.unpacked.len()),
            _ => 0,
        };
        let gone = self.unpacked.len() - kept;
        into(&self.unpacked[..gone])?;
        self.unpacked.drain(..gone);
        self.taken += gone as u64;
        Ok(())
    }

    /// What is wrong with bytes that could be unpacked: the gravest.
    pub fn wrong(&self) -> Option<Wrong> {
        self.wrong
    }

    /// Says what is wrong `before` the packed byte that is next.
    fn say(&mut self, severity: Severity, why: &'static str, before: u64) {
        if self.wrong.is_none_or(|known| severity < known.severity) {
            let at = self.progress().0.saturating_sub(before);
            self.wrong = Some(Wrong { severity, why, at });
        }
    }

    /// Why packed bytes could not be read, if they could not.
    pub fn unread(&mut self) -> Option<Error> {
        self.input.failed.take()
    }

    fn worked(&self) -> u64 {
        self.made().saturating_add(self.progress().0)
    }

    /// Does a part of the work, for about `room` bytes.
    fn go_on(&mut self, room: u64) -> Option<()> {
        self.state = match std::mem::replace(&mut self.state, State::Done) {
            State::Begin => match self.compression {
                Compression::Lz4 => {
                    let all = usize::try_from(self.input.left()).ok()?;
                    self.unpacked = lz4(self.input.peek(all), self.most)?;
                    self.input.skip(all as u64)?;
                    State::Done
                }
                Compression::Zstd => match zstd::skipped(self.input.peek(8)) {
                    Some(size) => {
                        self.input.skip(size)?;
                        State::Begin
                    }
                    None => State::Frame(self.begin_frame()?, self.made()),
                },
                _ => {
                    self.member = (self.made(), 0);
                    State::Deflate(Box::default())
                }
            },
            State::Deflate(mut decoder) => match self.inflate(&mut decoder, room)? {
                false => State::Deflate(decoder),
                true if self.expected == Expected::Stream => self.trailer()?,
                true => State::Rest,
            },
            State::Frame(mut decoder, start) => {
                let block = BlockDecodingStrategy::UptoBlocks(1);
                self.input
                    .lend(|rest| decoder.decode_blocks(rest, block).ok())?;
                self.reserve(decoder.can_collect());
                decoder.collect_to_writer(&mut self.unpacked).ok()?;
                // 0 where the frame does not say it.
                let declared = decoder.content_size();
                let is_finished = decoder.is_finished();
                if is_finished
                    && let Some(sum) = decoder.get_checksum_from_data()
                    && decoder.get_calculated_checksum() != Some(sum)
                {
                    let why = "what it unpacks to does not have the checksum that its frame gives";
                    self.say(Severity::Error, why, zstd::CHECKSUM);
                }
                match is_finished {
                    true if declared != 0 && self.made() - start != declared => return None,
                    _ if self.made() > self.most => State::Done,
                    true => State::Behind,
                    false => State::Frame(decoder, start),
                }
            }
            State::Behind => {
                let next = self.input.peek(8);
                match zstd::skipped(next) {
                    Some(size) => {
                        self.input.skip(size)?;
                        State::Behind
                    }
                    None if next.starts_with(&zstd::MAGIC) => State::Begin,
                    None => State::Rest,
                }
            }
            // What a tape, or a disk, was filled up with is nobody's.
            State::Rest => {
                let rest = self.input.peek(1);
                let (size, is_zero) = (rest.len(), rest.iter().all(|&byte| byte == 0));
                match (size, is_zero) {
                    (0, _) => State::Done,
                    (_, true) => {
                        if self.expected == Expected::Stream {
                            let why = "zeros are behind the compressed data";
                            self.say(Severity::Note, why, 0);
                        }
                        self.input.at += size;
                        State::Rest
                    }
                    (_, false) => {
                        let why = "bytes behind the compressed data are not read";
                        self.say(Severity::Warning, why, 0);
                        State::Done
                    }
                }
            }
            State::Done => State::Done,
        };
        Some(())
    }

    /// Begins with the frame of zstd that is next. Its decoder makes room for the window that it asks for, which may be more than all of
    /// it can have: then it gets less.
    fn begin_frame(&mut self) -> Option<Box<FrameDecoder>> {
        let header = zstd::frame(self.input.peek(zstd::HEADER))?;
        let left = self.most.saturating_sub(self.made());
        if header.size.is_some_and(|size| size > left) {
            self.is_too_much = !self.is_declared();
            return None;
        }
        let most = self.most.clamp(WINDOW, LIMIT).next_power_of_two();
        self.refusal = match header {
            _ if header.is_reserved => Some("the reserved bit of its frame header is set"),
            _ if header.dictionary != 0 => {
                Some("it is packed with a dictionary, which is not in it")
            }
            _ if header.window > LIMIT && self.most > LIMIT => {
                Some("its window of more than 1 GiB is not made")
            }
            _ => None,
        };
        if self.refusal.is_some() {
            return None;
        }
        let mut decoder = Box::new(FrameDecoder::new());
        decoder.set_max_window_size(most);
        if header.window <= most {
            self.input.lend(|rest| decoder.init(rest).ok())?;
            return Some(decoder);
        }
        let mut bytes = self.input.peek(header.header)[..header.header].to_vec();
        // A power of two from 2^10 on, in the upper five bits; the eighths of it that are added are in the lower three.
        bytes[zstd::WINDOW] = (most.ilog2() as u8 - 10) << 3;
        decoder.init(&mut &*bytes).ok()?;
        self.input.skip(header.header as u64)?;
        Some(decoder)
    }

    /// Goes on with a deflate stream. Whether it ends there.
    fn inflate(&mut self, decoder: &mut DecompressorOxide, room: u64) -> Option<bool> {
        let from = self.unpacked.len();
        let room = room.min(self.most - self.made()) as usize;
        self.reserve(room);
        self.unpacked.resize(from + room, 0);
        let mut flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        if self.compression == Compression::Zlib {
            flags |= TINFL_FLAG_PARSE_ZLIB_HEADER;
        }
        self.input.peek(1);
        if !self.input.is_last() {
            flags |= TINFL_FLAG_HAS_MORE_INPUT;
        }
        let packed = &self.input.piece[self.input.at..];
        let (status, read, made) = decompress(decoder, packed, &mut self.unpacked, from, flags);
        self.input.at += read;
        self.unpacked.truncate(from + made);
        if self.expected == Expected::Stream {
            self.member.1 = crc32(self.member.1, &self.unpacked[from..]);
        }
        match status {
            TINFLStatus::Done => Some(true),
            TINFLStatus::HasMoreOutput if self.made() < self.most => Some(false),
            TINFLStatus::NeedsMoreInput if read + made > 0 => Some(false),
            _ => None,
        }
    }

    /// Reads what is behind the deflate stream of a gzip member, and what is next.
    fn trailer(&mut self) -> Option<State> {
        let (&sum, rest) = self.input.peek(8).split_first_chunk()?;
        let (&size, _) = rest.split_first_chunk()?;
        self.input.at += 8;
        let (start, found) = self.member;
        if u32::from_le_bytes(sum) != found {
            let why = "what it unpacks to does not have the CRC-32 that its trailer gives";
            self.say(Severity::Error, why, 8);
        } else if u32::from_le_bytes(size) != (self.made() - start) as u32 {
            let why = "it unpacks to another number of bytes than its trailer gives";
            self.say(Severity::Error, why, 4);
        }
        let behind = self.input.peek(GZIP_HEADERS);
        let next = behind
            .starts_with(GZIP_MAGIC)
            .then(|| gzip_header(behind))
            .flatten();
        let Some((size, _)) = next else {
            return Some(State::Rest);
        };
        self.input.skip(size)?;
        Some(State::Begin)
    }

    /// Makes room for `more` bytes; of what is declared not more than that.
    fn reserve(&mut self, more: usize) {
        let had = self.unpacked.capacity();
        let need = self.unpacked.len() + more;
        if need > had {
            let twice = (had as u64).max(self.input.source.size()).saturating_mul(2);
            // What has more is taken piece by piece.
            let want = match self.most > LIMIT {
                true => need,
                false => need.max(twice.min(self.most) as usize),
            };
            self.unpacked.reserve_exact(want - self.unpacked.len());
        }
    }
}

/// Packed bytes, of which a piece is in memory.
struct Input {
    source: Source,
    /// Where the bytes are that are read next.
    next: u64,
    piece: Vec<u8>,
    /// How many bytes of the piece are done with.
    at: usize,
    failed: Option<Error>,
}

impl Input {
    fn new(source: Source) -> Self {
        Self {
            source,
            next: 0,
            piece: Vec::new(),
            at: 0,
            failed: None,
        }
    }

    /// Bytes that are not done with.
    fn left(&self) -> u64 {
        (self.piece.len() - self.at) as u64 + self.source.size() - self.next
    }

    /// Whether the bytes that are there are the last ones.
    fn is_last(&self) -> bool {
        self.next == self.source.size()
    }

    /// The next bytes: `least` of them, or all that are left.
    fn peek(&mut self, least: usize) -> &[u8] {
        let there = self.piece.len() - self.at;
        if there < least && !self.is_last() {
            self.piece.drain(..self.at);
            self.at = 0;
            let more = ((least - there) as u64)
                .max(ROOM)
                .min(self.source.size() - self.next);
            self.piece.resize(there + more as usize, 0);
            match self.source.read_into(self.next, &mut self.piece[there..]) {
                Ok(()) => self.next += more,
                Err(error) => {
                    self.failed = Some(error);
                    self.piece.truncate(there);
                    self.next = self.source.size();
                }
            }
        }
        &self.piece[self.at..]
    }

    /// Leaves out so many bytes; `None` where there are fewer.
    fn skip(&mut self, size: u64) -> Option<()> {
        let beyond = size.saturating_sub((self.piece.len() - self.at) as u64);
        if beyond > self.source.size() - self.next {
            return None;
        }
        self.at += (size - beyond) as usize;
        self.next += beyond;
        Some(())
    }

    /// Has `by` read a block, or a header, from what is next.
    fn lend<T>(&mut self, by: impl FnOnce(&mut &[u8]) -> Option<T>) -> Option<T> {
        let mut rest = self.peek(BLOCK);
        let before = rest.len();
        let read = by(&mut rest);
        let after = rest.len();
        self.at += before - after;
        read
    }
}

/// What all of `packed` unpacks to.
///
/// # Errors
/// Why it does not, in words.
pub fn unpack(
    compression: Compression,
    packed: &[u8],
    expected: Expected,
) -> Result<Vec<u8>, &'static str> {
    Unpacker::new(compression, Source::memory(packed), expected, LIMIT)?.finish()
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
/// Frames that its beginning is looked for in: those before it are empty, or skipped.
const FRAMES: usize = 16;
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

/// What the first blocks unpack to of the first frame that is not empty.
fn zstd_beginning(mut packed: &[u8]) -> Option<Vec<u8>> {
    for _ in 0..FRAMES {
        let (start, size) = match zstd::skipped(packed) {
            Some(size) => (Vec::new(), size),
            None => frame_beginning(packed)?,
        };
        if !start.is_empty() {
            return Some(start);
        }
        packed = packed.get(usize::try_from(size).ok()?..)?;
    }
    None
}

/// What the first blocks of a frame unpack to, and the bytes that these take. A frame says how much its decoder is to remember, which
/// may be all of what it unpacks to; for its beginning that much is not needed. So they are made a frame of their own, with a small
/// window.
fn frame_beginning(packed: &[u8]) -> Option<(Vec<u8>, u64)> {
    let header = zstd::frame(packed)?;
    let blocks = packed.get(header.header..)?;
    // No dictionary, no size, no checksum; a window of 1 MiB.
    let mut frame = [&zstd::MAGIC[..], &[0, 10 << 3]].concat();
    let (mut at, mut last) = (0, None);
    let mut end = header.header as u64;
    for _ in 0..BLOCKS {
        let Some(block) = blocks.get(at..).and_then(zstd::block) else {
            break;
        };
        let next = at + block.size as usize;
        if next > blocks.len() {
            break;
        }
        last = Some(frame.len() + at);
        at = next;
        if block.is_last {
            end += zstd::CHECKSUM * u64::from(header.has_checksum);
            break;
        }
    }
    frame.extend(&blocks[..at]);
    frame[last?] |= 1;
    let start = unpack(Compression::Zstd, &frame, Expected::Undeclared).ok()?;
    Some((start, end + at as u64))
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
                assert!(
                    unpack(compression, &[0; 8], Expected::Declared(size)).is_err(),
                    "{size}"
                );
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
        let whole =
            unpack(Compression::Zstd, &frame, Expected::Declared(1 << 27)).expect("a whole frame");
        assert!(whole.iter().all(|&byte| byte == 7));
        assert!(unpack(Compression::Zstd, &frame, Expected::Declared((1 << 27) - 1)).is_err());
    }
}
