//! Clang's offload bundles: code objects and what else belongs to a host file, each with an ID; also compressed (`CCOB`).
//!
//! Layouts are in `tables/container/bundle.toml`, with their sources.

use super::member::{Checksum, MemberKind};
use super::reader::{Read, Reader, Shape, TEXT_LIMIT, plain, u16, u64};
use super::tables::{
    BUNDLE_ENTRY, BUNDLE_HEADER, COMPRESSED_BUNDLE_V1, COMPRESSED_BUNDLE_V2, COMPRESSED_BUNDLE_V3,
    HIP_FATBIN_WRAPPER,
};
use super::{Format, Member};
use crate::elf::map::Role;
use crate::error::{Diagnostic, Kind};
use crate::record::{self, Layout, Record};
use crate::span::Span;
use crate::unpack::Compression;

/// What bundles begin with.
pub const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// What compressed bundles begin with.
pub const COMPRESSED_MAGIC: &[u8] = b"CCOB";
/// The magic of the wrapper that a host program has of each, as its bytes.
pub const WRAPPER_MAGIC: [u8; 4] = *b"FPIH";

const HEADER: u64 = 32;
const ENTRY: u64 = 24;

static HEADER_SHAPE: Shape = Shape {
    title: "bundle header",
    role: Role::Header,
    read: Read::Layout(&BUNDLE_HEADER),
};
static ENTRY_SHAPE: Shape = Shape {
    title: "bundle entry",
    role: Role::Header,
    read: Read::By(entry_record),
};
static COMPRESSED: Shape = Shape {
    title: "header of a compressed bundle",
    role: Role::Header,
    read: Read::By(|bytes, offset| match compressed_layout(bytes) {
        Some(layout) => plain(layout, bytes, offset),
        None => plain(&COMPRESSED_BUNDLE_V1, bytes, offset),
    }),
};
/// The wrapper in a host program.
pub(super) static WRAPPER: Shape = Shape {
    title: "wrapper of a bundle",
    role: Role::Info,
    read: Read::Layout(&HIP_FATBIN_WRAPPER),
};

/// Reads the bundles in the bytes of `span`, which are `parent` or, of a host program, the section called `section`.
pub(super) fn read(
    reader: &mut Reader<'_>,
    span: Span,
    parent: Option<u32>,
    section: Option<&str>,
) {
    const MAGICS: &[&[u8]] = &[MAGIC, COMPRESSED_MAGIC];
    let mut at = span.offset;
    let mut count = 0_u64;
    while let Some(start) = reader.next(Span::new(at, span.end() - at), MAGICS) {
        let rest = Span::new(start, span.end() - start);
        let magic = reader.peek(rest, COMPRESSED_MAGIC.len() as u64);
        let end = if magic == COMPRESSED_MAGIC {
            read_compressed(reader, rest, parent, section)
        } else {
            read_bundle(reader, rest, parent, section, count == 0)
        };
        let Some(end) = end else {
            return;
        };
        count += 1;
        at = end.max(start + MAGICS[1].len() as u64).min(span.end());
    }
    if count == 0 && section.is_none() {
        reader.error(
            span.offset,
            "offload bundle",
            "no header of a bundle is found",
        );
    }
}

/// The member that a bundle is.
fn member_of(
    reader: &mut Reader<'_>,
    parent: Option<u32>,
    section: Option<&str>,
    header: Span,
    span: Span,
) -> Member {
    let name = reader.number(parent);
    let mut member = Member::new(name, header, span);
    member.format = Format::OffloadBundle;
    if let Some(section) = section {
        member.kind = MemberKind::Word(section.into());
    }
    member
}

/// An entry as its header has it.
struct Entry {
    header: Span,
    id: String,
    span: Span,
}

/// Reads the bundle that `span` begins with. Where it ends; `None` if nothing more can be listed.
fn read_bundle(
    reader: &mut Reader<'_>,
    span: Span,
    parent: Option<u32>,
    section: Option<&str>,
    is_first: bool,
) -> Option<u64> {
    let start = span.offset;
    let bytes = reader.peek(span, HEADER);
    if (bytes.len() as u64) < HEADER {
        reader.error(start, "bundle header", "the file ends within the header");
        return Some(span.end());
    }
    reader.structure(Span::new(start, HEADER), &HEADER_SHAPE);
    let entries = read_entries(reader, span, u64(&bytes, 24));
    let headers = entries
        .last()
        .map_or(start + HEADER, |entry| entry.header.end());
    let ends = entries.iter().map(|entry| entry.span.end());
    let end = ends.max().unwrap_or(headers).max(headers).min(span.end());
    let is_alone = is_first
        && section.is_none()
        && reader
            .next(Span::new(end, span.end() - end), &[MAGIC, COMPRESSED_MAGIC])
            .is_none();
    let parent = if is_alone {
        parent
    } else {
        let header = Span::new(start, headers - start);
        let bundle = Span::new(start, end - start);
        let member = member_of(reader, parent, section, header, bundle);
        Some(reader.list(parent, member)?)
    };
    for entry in entries {
        let mut member = Member::new(entry.id, entry.header, entry.span);
        describe(reader, &mut member);
        reader.member(parent, member)?;
    }
    Some(end)
}

/// Reads the headers of `count` entries of the bundle that `span` begins with.
fn read_entries(reader: &mut Reader<'_>, span: Span, count: u64) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut at = span.offset + HEADER;
    for i in 0..count {
        let context = |field: &str| format!("bundle entry {i}{field}");
        let rest = Span::new(at, span.end().saturating_sub(at));
        let bytes = reader.peek(rest, ENTRY);
        let id = Span::new(at.saturating_add(ENTRY), u64(&bytes, 16));
        if (bytes.len() as u64) < ENTRY || !id.within(span.end()) {
            if reader.base.is_some() && at < reader.end && rest.end() > reader.source.size() {
                let finding = Diagnostic::note(
                    Kind::Limit,
                    "the bundle's entries are listed when it is opened",
                );
                reader.report(at, &context(""), finding);
            } else {
                let message =
                    format!("the bundle ends within its headers: {count} entries, {i} are there");
                reader.error(at, &context(""), message);
            }
            break;
        }
        let text = reader.peek(id, TEXT_LIMIT);
        let header = Span::new(at, ENTRY + id.size);
        reader.structure(header, &ENTRY_SHAPE);
        let place = Span::new(span.offset.saturating_add(u64(&bytes, 0)), u64(&bytes, 8));
        if !place.within(span.end()) {
            let message = format!(
                "{} bytes at 0x{:x} of the bundle run past the end (0x{:x})",
                place.size,
                u64(&bytes, 0),
                span.size
            );
            reader.error(at, &context(", offset and size"), message);
        }
        entries.push(Entry {
            header,
            id: record::text(&text),
            span: place.clamp(span.end()),
        });
        at = header.end();
    }
    entries
}

/// What an ID says, and the first bytes.
pub(super) fn describe(reader: &mut Reader<'_>, member: &mut Member) {
    let id = member.name.to_string();
    let (kind, triple) = id.split_once('-').unwrap_or((&id, ""));
    member.kind = MemberKind::Word(kind.into());
    // The triple has four parts, the last of which may be left out or empty; the rest is the target ID, which may end with a dash.
    let parts: Vec<&str> = triple.splitn(5, '-').collect();
    let target = parts.get(4).or_else(|| {
        let last = parts.get(3);
        last.filter(|part| part.starts_with("gfx") || part.starts_with("sm_"))
    });
    member.target = target
        .filter(|target| !target.is_empty())
        .map(|&target| target.into());
    reader.identify(member);
    let is_there = reader.source.size() >= member.span.offset.saturating_add(64);
    if !is_there && member.span.size > 0 && parts[0].starts_with("amdgcn") {
        member.format = Format::Amdgpu;
    }
}

/// The layout of a compressed bundle's header, by its version.
fn compressed_layout(bytes: &[u8]) -> Option<&'static Layout> {
    match u16(bytes, 4) {
        1 => Some(&COMPRESSED_BUNDLE_V1),
        2 => Some(&COMPRESSED_BUNDLE_V2),
        3 => Some(&COMPRESSED_BUNDLE_V3),
        _ => None,
    }
}

/// Reads the compressed bundle that `span` begins with. Where it ends; `None` if nothing more can be listed.
fn read_compressed(
    reader: &mut Reader<'_>,
    span: Span,
    parent: Option<u32>,
    section: Option<&str>,
) -> Option<u64> {
    let start = span.offset;
    let context = "header of a compressed bundle";
    let bytes = reader.peek(span, u64::from(COMPRESSED_BUNDLE_V3.bytes));
    let Some(layout) = compressed_layout(&bytes) else {
        let message = format!("version {}: expected 1, 2 or 3", u16(&bytes, 4));
        reader.error(start + 4, context, message);
        return Some(start + 8);
    };
    let header = Span::new(start, layout.bytes.into());
    if (bytes.len() as u64) < header.size {
        reader.error(start, context, "the file ends within the header");
        return Some(span.end());
    }
    let record = layout.read("", &bytes, start);
    let size = match record.field("file size") {
        Some(_) => record.number("file size"),
        // Version 1 says how long it is by its end.
        None => {
            let behind = Span::new(header.end(), span.end() - header.end());
            let next = reader.next(
                behind,
                &[MAGIC, b"CCOB\x01\0", b"CCOB\x02\0", b"CCOB\x03\0"],
            );
            next.unwrap_or(span.end()) - start
        }
    };
    if size < header.size || size > span.size {
        let message = format!(
            "a size of {size} bytes: expected from {} to the {} that are there",
            header.size, span.size
        );
        reader.error(start + 8, &format!("{context}, file size"), message);
    }
    let whole = Span::new(start, size.clamp(header.size, span.size));
    reader.structure(header, &COMPRESSED);
    let packed = Span::new(header.end(), whole.end() - header.end());
    let mut member = member_of(reader, parent, section, header, packed);
    member.compression = match record.number("method") {
        0 => Compression::Zlib,
        1 => Compression::Zstd,
        method => {
            let message = format!("method {method}: expected 0 (zlib) or 1 (zstd)");
            reader.error(start + 6, &format!("{context}, method"), message);
            Compression::Unknown
        }
    };
    member.unpacked = Some(record.number("uncompressed size"));
    member.checksum = Some(Checksum::Md5(record.number("hash")));
    member.note = layout.name.into();
    reader.member(parent, member)?;
    Some(whole.end())
}

/// An entry's header with its ID.
fn entry_record(bytes: &[u8], offset: u64) -> Record {
    let mut record = BUNDLE_ENTRY.read(BUNDLE_ENTRY.name, bytes, offset);
    record.span.size = bytes.len() as u64;
    let size = bytes.len().saturating_sub(ENTRY as usize) as u32;
    record.append_bytes("ID", bytes, ENTRY as u32, size, record::Kind::Text);
    record
}
