//! One file, compressed: gzip and Zstandard.
//!
//! Layouts are in `tables/container/stream.toml` and `zstd.toml`, with their source.

use super::reader::{Read, Reader, Shape, plain, u32};
use super::tables::{GZIP_HEADER, GZIP_TRAILER, ZSTD_FRAME, ZSTD_SKIPPED};
use super::{Format, Member};
use crate::elf::map::Role;
use crate::record::{self, Kind, Record};
use crate::span::Span;
use crate::unpack::{self, Compression};
use crate::zstd;

const TRAILER: u64 = 8;
/// Zeros between files that are packed one by one, at most: what aligns them.
const PADDING: u64 = 4096;
/// Bytes of the header of a frame that is skipped.
const SKIPPED: u64 = 8;
/// Bytes of a zstd file that are gone through from block to block for the sizes of its frames, at most; and blocks.
const WALK: u64 = 32 << 20;
const BLOCKS: u32 = 1 << 14;

static HEADER_SHAPE: Shape = Shape {
    title: "gzip header",
    role: Role::Header,
    read: Read::By(header_record),
};
static TRAILER_SHAPE: Shape = Shape {
    title: "gzip trailer",
    role: Role::Header,
    read: Read::Layout(&GZIP_TRAILER),
};
static FRAME_SHAPE: Shape = Shape {
    title: "zstd frame header",
    role: Role::Header,
    read: Read::By(frame_record),
};
static SKIPPED_SHAPE: Shape = Shape {
    title: "zstd skippable frame",
    role: Role::Header,
    read: Read::Layout(&ZSTD_SKIPPED),
};

/// Reads the compressed file in the bytes of `span`.
pub(super) fn read(reader: &mut Reader<'_>, format: Format, span: Span, parent: Option<u32>) {
    let mut rest = span;
    while rest.size > 0 {
        let member = match format {
            Format::Gzip => gzip(reader, rest, parent),
            _ => zstd(reader, rest, parent),
        };
        let Some(mut member) = member else {
            return;
        };
        let at = match format {
            // What is unpacked tells where it ends.
            Format::Gzip => span.end(),
            _ => member.span.end() + padding(reader, member.span.end(), span),
        };
        rest = Span::new(at, span.end() - at);
        reader.identify(&mut member);
        if reader.member(parent, member).is_none() {
            return;
        }
    }
}

/// Zeros at `at` of `span`, if a frame is behind them.
fn padding(reader: &Reader<'_>, at: u64, span: Span) -> u64 {
    let bytes = reader.peek(Span::new(at, span.end() - at), PADDING + 8);
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    match zstd::begins(&bytes[zeros..]) {
        true => zeros as u64,
        false => 0,
    }
}

fn gzip(reader: &mut Reader<'_>, span: Span, parent: Option<u32>) -> Option<Member> {
    let bytes = reader.peek(span, unpack::GZIP_HEADERS as u64);
    let Some((size, name)) = unpack::gzip_header(&bytes) else {
        reader.error(
            span.offset,
            "gzip header",
            "the file ends within the header",
        );
        return None;
    };
    // What is unpacked tells where it ends; there may be more behind it.
    let data = Span::new(span.offset + size, span.size - size);
    let trailer = Span::new(span.end().saturating_sub(TRAILER), TRAILER);
    if data.size < TRAILER {
        reader.error(
            trailer.offset,
            "gzip trailer",
            "the file ends before its checksum",
        );
        return None;
    }
    let head = Span::new(span.offset, size);
    reader.structure(head, &HEADER_SHAPE);
    reader.structure(trailer, &TRAILER_SHAPE);
    let end = reader.read(trailer)?;
    let name = match name {
        Some(name) if !name.is_empty() => record::text(&bytes[name.start..name.end]),
        _ => reader.number(parent),
    };
    let mut member = Member::new(name, head, data);
    member.compression = Compression::Deflate;
    // What is packed is hardly larger than what it unpacks to: then it is of another size, modulo 2^32, or there are several. Zeros
    // are the trailer of nothing, which takes two bytes, or what a file was filled up with.
    let size = u32(&end, 4);
    let is_filled = data.size > TRAILER + 2 && end.iter().all(|&byte| byte == 0);
    if !is_filled && size + size / 64 + 1024 >= data.size {
        member.unpacked = Some(size);
        member.note = "size as its trailer says, of several parts the last one's".into();
    } else {
        member.unpacked = None;
    }
    member.is_stream = true;
    Some(member)
}

fn header_record(bytes: &[u8], offset: u64) -> Record {
    let mut record = plain(&GZIP_HEADER, bytes, offset);
    record.span.size = bytes.len() as u64;
    if let Some((_, Some(name))) = unpack::gzip_header(bytes) {
        let size = (name.end - name.start) as u32;
        record.append_bytes("name", bytes, name.start as u32, size, Kind::Text);
    }
    record
}

fn zstd(reader: &mut Reader<'_>, span: Span, parent: Option<u32>) -> Option<Member> {
    let mut frames = 0;
    // What all of them unpack to, as far as they say it.
    let mut size = Some(0_u64);
    let mut header = Span::new(span.offset, 0);
    let mut at = span.offset;
    let mut is_all = true;
    let mut blocks = 0;
    while at < span.end() {
        let bytes = reader.peek(Span::new(at, span.end() - at), zstd::HEADER as u64);
        if let Some(skipped) = zstd::skipped(&bytes) {
            reader.structure(Span::new(at, SKIPPED), &SKIPPED_SHAPE);
            at = at.saturating_add(skipped);
            continue;
        }
        let Some(frame) = zstd::frame(&bytes) else {
            break;
        };
        let head = Span::new(at, frame.header as u64);
        reader.structure(head, &FRAME_SHAPE);
        frames += 1;
        if frames == 1 {
            header = head;
        }
        let sum = size.zip(frame.size);
        size = sum.map(|(size, more)| size.saturating_add(more));
        at = head.end();
        let end = frame_end(reader, span, at, &mut blocks);
        is_all = end.is_some();
        let Some(end) = end else {
            break;
        };
        at = end + zstd::CHECKSUM * u64::from(frame.has_checksum);
    }
    if frames == 0 {
        reader.error(span.offset, "zstd frame header", "the file ends within it");
        return None;
    }
    if at > span.end() {
        reader.error(span.end(), "zstd frame", "the file ends within the frame");
    }
    // Images of several compilations are aligned in a section, one behind the other.
    let is_followed = is_all && at < span.end() && padding(reader, at, span) > 0;
    let end = if is_followed { at } else { span.end() };
    let span = Span::new(span.offset, end - span.offset);
    let mut member = Member::new(reader.number(parent), header, span);
    member.compression = Compression::Zstd;
    member.unpacked = size.filter(|_| is_all || frames == 1);
    member.note = match (is_all, frames) {
        (true, 1) => "".into(),
        (true, frames) => format!("{frames} frames").into(),
        (false, 1) => "size as its first frame says, which may not be the only one".into(),
        (false, _) => "many frames".into(),
    };
    member.is_stream = true;
    Some(member)
}

/// The end of the last block of a frame whose first one is at `at`; `None` where that is too far to go.
fn frame_end(reader: &Reader<'_>, span: Span, mut at: u64, blocks: &mut u32) -> Option<u64> {
    loop {
        *blocks += 1;
        if *blocks > BLOCKS || at - span.offset > WALK {
            return None;
        }
        let bytes = reader.peek(Span::new(at, span.end().saturating_sub(at)), 3);
        let Some(block) = zstd::block(&bytes) else {
            // Cut off.
            return Some(span.end() + 1);
        };
        at += block.size;
        if block.is_last {
            return Some(at);
        }
    }
}

fn frame_record(bytes: &[u8], offset: u64) -> Record {
    let mut record = plain(&ZSTD_FRAME, bytes, offset);
    record.span.size = bytes.len() as u64;
    let mut at = ZSTD_FRAME.bytes;
    let [window, dictionary, content] = zstd::frame(bytes).map_or([0; 3], |frame| frame.fields);
    let fields = [
        ("Window_Descriptor", window, Kind::Hex),
        ("Dictionary_ID", dictionary, Kind::Hex),
        ("Frame_Content_Size", content, Kind::Size),
    ];
    for (name, size, kind) in fields {
        record.append_bytes(name, bytes, at, size as u32, kind);
        at += size as u32;
    }
    if content == 2 {
        record.explain("Frame_Content_Size", "and 256", None);
    }
    record
}
