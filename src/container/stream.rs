//! One file, compressed: gzip and Zstandard.
//!
//! Layouts are in `tables/container/stream.toml`, with their source.

use super::reader::{Read, Reader, Shape, TEXT_LIMIT, number, plain, u16, u32, u64};
use super::tables::{GZIP_HEADER, GZIP_TRAILER};
use super::{Format, Member};
use crate::elf::map::Role;
use crate::record::{self, Record};
use crate::span::Span;
use crate::unpack::{self, Compression};

const TRAILER: u64 = 8;

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

/// Reads the compressed file in the bytes of `span`.
pub(super) fn read(reader: &mut Reader<'_>, format: Format, span: Span, parent: Option<u32>) {
    let member = match format {
        Format::Gzip => gzip(reader, span, parent),
        _ => zstd(reader, span, parent),
    };
    if let Some(mut member) = member {
        reader.identify(&mut member);
        reader.member(parent, member);
    }
}

fn gzip(reader: &mut Reader<'_>, span: Span, parent: Option<u32>) -> Option<Member> {
    let bytes = reader.peek(span, TEXT_LIMIT);
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
    // What is packed is hardly larger than what it unpacks to: then it is of another size, modulo 2^32, or there are several.
    let size = u32(&end, 4);
    if size + size / 64 + 1024 >= data.size {
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
        record.append_bytes("name", bytes, name.start as u32, size, record::Kind::Text);
    }
    record
}

fn zstd(reader: &mut Reader<'_>, span: Span, parent: Option<u32>) -> Option<Member> {
    let bytes = reader.peek(span, 18);
    // RFC 8878, 3.1.1.1: the descriptor says which of the fields behind it there are, and how wide.
    let descriptor = *bytes.get(4)?;
    let is_single = descriptor & 0x20 != 0;
    let window = usize::from(!is_single);
    let at = 5 + window + [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size = match descriptor >> 6 {
        0 if is_single => Some(number::<1>(&bytes, at)),
        0 => None,
        1 => Some(u16(&bytes, at) + 256),
        2 => Some(u32(&bytes, at)),
        _ => Some(u64(&bytes, at)),
    };
    let name = reader.number(parent);
    let mut member = Member::new(name, Span::new(span.offset, span.size.min(18)), span);
    member.compression = Compression::Zstd;
    member.unpacked = size;
    member.is_stream = true;
    Some(member)
}
