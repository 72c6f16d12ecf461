//! Zip files, which wheels are, too: what the directory at the end says, Zip64 included.
//!
//! Two hundred lines here are less in the browser's module than a library, which would not give the places of its headers.
//! Layouts are in `tables/container/zip.toml`, with their source.

use super::Member;
use super::member::Checksum;
use super::reader::{Claim, Read, Reader, Shape, plain, u16, u32, u64};
use super::tables::{ZIP_CENTRAL, ZIP_END, ZIP_LOCAL, ZIP64_END, ZIP64_LOCATOR};
use crate::elf::map::Role;
use crate::error::{Diagnostic, Kind};
use crate::record::{self, Layout, Record};
use crate::span::Span;
use crate::unpack::Compression;

const END: u64 = 22;
const LOCATOR: u64 = 20;
const END64: u64 = 56;
const CENTRAL: u64 = 46;
const LOCAL: u64 = 30;
/// The longest comment behind the last record.
const COMMENT: u64 = 0xffff;
/// Bytes of a directory that are read at once.
const WINDOW: u64 = 1 << 20;

static END_SHAPE: Shape = Shape {
    title: "zip end of directory",
    role: Role::Header,
    read: Read::Layout(&ZIP_END),
};
static LOCATOR_SHAPE: Shape = Shape {
    title: "zip64 locator",
    role: Role::Header,
    read: Read::Layout(&ZIP64_LOCATOR),
};
static END64_SHAPE: Shape = Shape {
    title: "zip64 end of directory",
    role: Role::Header,
    read: Read::Layout(&ZIP64_END),
};
static CENTRAL_SHAPE: Shape = Shape {
    title: "zip directory entry",
    role: Role::Header,
    read: Read::By(|bytes, offset| named(&ZIP_CENTRAL, bytes, offset)),
};
static LOCAL_SHAPE: Shape = Shape {
    title: "zip local header",
    role: Role::Header,
    read: Read::By(|bytes, offset| named(&ZIP_LOCAL, bytes, offset)),
};

/// A header with the name that follows it.
fn named(layout: &'static Layout, bytes: &[u8], offset: u64) -> Record {
    let mut record = plain(layout, bytes, offset);
    record.span.size = bytes.len() as u64;
    let size = record.number("name length") as u32;
    record.append_bytes("name", bytes, layout.bytes, size, record::Kind::Text);
    let extra = record.number("extra length") as u32;
    record.append_bytes(
        "extra",
        bytes,
        layout.bytes + size,
        extra,
        record::Kind::Bytes,
    );
    record
}

/// Where the directory is, counted from the file's start.
struct Directory {
    span: Span,
    count: u64,
    /// What is added to offsets: bytes before the zip file's own.
    shift: u64,
}

/// Reads the zip file in the bytes of `span`.
pub(super) fn read(reader: &mut Reader<'_>, span: Span, parent: Option<u32>) {
    let Some(directory) = directory(reader, span) else {
        return;
    };
    let mut claims = vec![Claim {
        span: directory.span,
        header: directory.span.offset,
        member: None,
    }];
    read_entries(reader, span, parent, &directory, &mut claims);
    reader.check_overlaps(claims);
}

/// Reads what the directory lists, and adds the bytes that each entry has, with its local header.
fn read_entries(
    reader: &mut Reader<'_>,
    span: Span,
    parent: Option<u32>,
    directory: &Directory,
    claims: &mut Vec<Claim>,
) {
    let mut at = directory.span.offset;
    let mut window = (at, Vec::new());
    for i in 0..directory.count {
        let rest = Span::new(at, directory.span.end() - at);
        // Names are long at most 64 KiB, as are the two fields behind them.
        let need = (CENTRAL + 3 * COMMENT).min(rest.size);
        if at + need > window.0 + window.1.len() as u64 {
            window = (at, reader.peek(rest, WINDOW.max(need)));
        }
        let bytes = &window.1[(at - window.0) as usize..];
        let size = CENTRAL + u16(bytes, 28) + u16(bytes, 30) + u16(bytes, 32);
        if (bytes.len() as u64) < CENTRAL || !bytes.starts_with(b"PK\x01\x02") || size > rest.size {
            let message = format!(
                "{} entries are said to be in the directory: {i} are there",
                directory.count
            );
            reader.error(at, "zip directory entry", message);
            return;
        }
        let bytes = bytes[..size as usize].to_vec();
        let header = Span::new(at, size);
        reader.structure(header, &CENTRAL_SHAPE);
        at = header.end();
        let read = read_entry(reader, span, parent, &bytes, header, directory.shift);
        let Some(claim) = read else {
            return;
        };
        claims.extend(claim);
    }
}

/// Finds the directory by the last record.
fn directory(reader: &mut Reader<'_>, span: Span) -> Option<Directory> {
    let size = span.size.min(END + COMMENT);
    let last = Span::new(span.end() - size, size);
    let bytes = reader.peek(last, size);
    let starts = (0..bytes.len().saturating_sub(END as usize - 1)).rev();
    let mut starts = starts.filter(|&at| bytes[at..].starts_with(b"PK\x05\x06"));
    let Some(found) = starts.next() else {
        let message = "the end of the directory is missing: the file is cut off, or no zip file";
        reader.error(last.offset, "zip end of directory", message);
        return None;
    };
    let end = &bytes[found..];
    let place = Span::new(last.offset + found as u64, END);
    reader.structure(place, &END_SHAPE);
    let (mut count, mut size, mut offset) = (u16(end, 10), u32(end, 12), u32(end, 16));
    let mut before = place.offset;
    if count == 0xffff || size == 0xffff_ffff || offset == 0xffff_ffff {
        let locator = Span::new(place.offset.saturating_sub(LOCATOR), LOCATOR);
        let bytes = reader.peek(locator, LOCATOR);
        if locator.offset >= span.offset && bytes.starts_with(b"PK\x06\x07") {
            reader.structure(locator, &LOCATOR_SHAPE);
            let record = Span::new(span.offset.saturating_add(u64(&bytes, 8)), END64);
            let bytes = reader.peek(record, END64);
            if !record.within(locator.offset) || !bytes.starts_with(b"PK\x06\x06") {
                let message = format!("no Zip64 record at 0x{:x}", record.offset);
                reader.error(locator.offset + 8, "zip64 locator", message);
                return None;
            }
            reader.structure(record, &END64_SHAPE);
            (count, size, offset) = (u64(&bytes, 32), u64(&bytes, 40), u64(&bytes, 48));
            before = record.offset;
        }
    }
    // The directory ends where its last record begins, whatever stands before the file's first byte.
    let start = before
        .checked_sub(size)
        .filter(|&start| start >= span.offset);
    let shift = start.and_then(|start| start.checked_sub(span.offset.saturating_add(offset)));
    let (Some(start), Some(shift)) = (start, shift) else {
        let message = format!("a directory of {size} bytes at 0x{offset:x} does not end before it");
        reader.error(place.offset + 12, "zip end of directory", message);
        return None;
    };
    Some(Directory {
        span: Span::new(start, size),
        count,
        shift: span.offset + shift,
    })
}

/// Reads an entry of the directory, whose header is `bytes`. The bytes that it has; `None` where there are too many members.
fn read_entry(
    reader: &mut Reader<'_>,
    span: Span,
    parent: Option<u32>,
    bytes: &[u8],
    header: Span,
    shift: u64,
) -> Option<Option<Claim>> {
    let (name_size, extra_size) = (u16(bytes, 28) as usize, u16(bytes, 30) as usize);
    let name = &bytes[CENTRAL as usize..][..name_size];
    if name.ends_with(b"/") {
        return Some(None);
    }
    let (mut packed, mut unpacked, mut offset) = (u32(bytes, 20), u32(bytes, 24), u32(bytes, 42));
    // Zip64: what does not fit, in this order.
    let mut extra = &bytes[CENTRAL as usize + name_size..][..extra_size];
    while extra.len() >= 4 {
        let size = (u16(extra, 2) as usize).min(extra.len() - 4);
        let field = &extra[4..4 + size];
        if u16(extra, 0) == 1 {
            let mut at = 0;
            for value in [&mut unpacked, &mut packed, &mut offset] {
                if *value == 0xffff_ffff && at + 8 <= field.len() {
                    *value = u64(field, at);
                    at += 8;
                }
            }
        }
        extra = &extra[4 + size..];
    }
    let name = record::text(name);
    let local = Span::new(shift.saturating_add(offset), LOCAL);
    let head = reader.peek(local, LOCAL);
    if !local.within(span.end()) || !head.starts_with(b"PK\x03\x04") {
        let message = format!("no local header of {name} at 0x{:x}", local.offset);
        reader.error(header.offset + 42, "zip directory entry", message);
        return Some(None);
    }
    let local = Span::new(local.offset, LOCAL + u16(&head, 26) + u16(&head, 28));
    reader.structure(local.clamp(span.end()), &LOCAL_SHAPE);
    let data = Span::new(local.end(), packed);
    if !data.within(span.end()) {
        let message = format!("{packed} bytes of {name} run past the file's end");
        reader.error(header.offset + 20, "zip directory entry", message);
    }
    let mut member = Member::new(name, header, data.clamp(span.end()));
    let (flags, method) = (u16(bytes, 8), u16(bytes, 10));
    member.compression = match method {
        0 => Compression::None,
        8 => Compression::Deflate,
        93 => Compression::Zstd,
        _ => Compression::Unknown,
    };
    if flags & 1 != 0 {
        member.compression = Compression::Unknown;
        member.note = "encrypted".into();
        let finding = Diagnostic::warning(Kind::Limit, "an encrypted member is not read");
        reader.report(header.offset + 8, "zip directory entry, flags", finding);
    }
    member.unpacked = Some(unpacked);
    member.checksum = Some(Checksum::Crc32(u32(bytes, 16) as u32));
    if member.compression == Compression::None && unpacked != packed {
        let message = format!("{packed} bytes are stored as they are, and said to be {unpacked}");
        reader.error(header.offset + 20, "zip directory entry, sizes", message);
        member.unpacked = Some(member.span.size);
    }
    let claim = Span::new(local.offset, data.end() - local.offset).clamp(span.end());
    reader.identify(&mut member);
    let index = reader.member(parent, member)?;
    Some(Some(Claim {
        span: claim,
        header: header.offset,
        member: Some(index),
    }))
}
