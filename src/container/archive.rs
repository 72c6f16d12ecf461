//! Archives of `ar`: System V's with GNU's long names, and BSD's.
//!
//! Read here and not by a library, so that every header has its place and a bad one is a finding behind which nothing is lost. The
//! layout is in `tables/container/archive.toml`, with its source.

use super::Member;
use super::reader::{Read, Reader, Shape, TEXT_LIMIT};
use super::tables::{ARCHIVE_HEADER, ARCHIVE_MAGIC};
use crate::elf::map::Role;
use crate::error::{Diagnostic, Kind};
use crate::record;
use crate::span::Span;

const MAGIC: u64 = 8;
const THIN: &[u8] = b"!<thin>\n";
const HEADER: u64 = 60;
/// Bytes of long names that are read, at most.
const NAMES_LIMIT: u64 = 16 << 20;

static MAGIC_SHAPE: Shape = Shape {
    title: "ar magic",
    role: Role::Header,
    read: Read::Layout(&ARCHIVE_MAGIC),
};
static HEADER_SHAPE: Shape = Shape {
    title: "ar header",
    role: Role::Header,
    read: Read::Layout(&ARCHIVE_HEADER),
};
static INDEX: Shape = Shape {
    title: "ar symbol table",
    role: Role::Symbols,
    read: Read::Nothing,
};
static NAMES: Shape = Shape {
    title: "ar long names",
    role: Role::Strings,
    read: Read::Nothing,
};

/// Reads the archive in the bytes of `span`.
pub(super) fn read(reader: &mut Reader<'_>, span: Span, parent: Option<u32>) {
    reader.structure(
        Span::new(span.offset, MAGIC).clamp(span.end()),
        &MAGIC_SHAPE,
    );
    if reader.peek(span, MAGIC) == THIN {
        let finding = Diagnostic::error(
            Kind::Limit,
            "a thin archive: it names files that lie beside it and has none of their bytes; open those files",
        );
        reader.report(span.offset, "archive", finding);
        return;
    }
    let mut names = Vec::new();
    let mut at = span.offset + MAGIC;
    while at < span.end() {
        let header = Span::new(at, HEADER);
        let bytes = reader.peek(header, HEADER);
        if !header.within(span.end()) || (bytes.len() as u64) < HEADER {
            reader.error(
                at,
                "ar header",
                "the archive ends within the header of a member",
            );
            return;
        }
        if &bytes[58..] != b"`\n" {
            reader.error(
                at + 58,
                "ar header, ar_fmag",
                "no header of a member is there",
            );
            return;
        }
        reader.structure(header, &HEADER_SHAPE);
        let Some(size) = decimal(&bytes[48..58]) else {
            reader.error(
                at + 48,
                "ar header, ar_size",
                "the size is no decimal number",
            );
            return;
        };
        let data = Span::new(header.end(), size);
        if !data.within(span.end()) {
            let message = format!("a member of {size} bytes runs past the archive's end");
            reader.error(at + 48, "ar header, ar_size", message);
        }
        let data = data.clamp(span.end());
        at = data.end() + (data.end() - span.offset) % 2;
        let field = trimmed(&bytes[..16]);
        match field {
            b"/" | b"/SYM64/" => reader.structure(data, &INDEX),
            b"//" => {
                reader.structure(data, &NAMES);
                names = reader.peek(data, NAMES_LIMIT);
            }
            _ => {
                let (name, data) = name(reader, field, data, &names, header.offset);
                if name.starts_with("__.SYMDEF") {
                    reader.structure(data, &INDEX);
                    continue;
                }
                let name = match name.is_empty() {
                    true => reader.number(parent),
                    false => name,
                };
                let mut member = Member::new(name, header, data);
                reader.identify(&mut member);
                if reader.member(parent, member).is_none() {
                    return;
                }
            }
        }
    }
}

/// The name that `field` of a header says, and the bytes of the member without it.
fn name(
    reader: &mut Reader<'_>,
    field: &[u8],
    data: Span,
    names: &[u8],
    header: u64,
) -> (String, Span) {
    if let Some(size) = field.strip_prefix(b"#1/").and_then(decimal) {
        if size > data.size {
            reader.error(
                header,
                "ar header, ar_name",
                "the name is longer than the member",
            );
            return (String::new(), data);
        }
        let bytes = reader.peek(Span::new(data.offset, size), TEXT_LIMIT);
        let end = bytes
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(bytes.len());
        let rest = Span::new(data.offset + size, data.size - size);
        return (record::text(&bytes[..end]), rest);
    }
    if let Some(offset) = field.strip_prefix(b"/").and_then(decimal) {
        let rest = usize::try_from(offset).ok().and_then(|at| names.get(at..));
        let Some(rest) = rest.filter(|rest| !rest.is_empty()) else {
            reader.error(
                header,
                "ar header, ar_name",
                "the name lies outside the long names",
            );
            return (String::new(), data);
        };
        let end = rest
            .iter()
            .take(TEXT_LIMIT as usize)
            .position(|&byte| matches!(byte, b'\n' | 0));
        let name = &rest[..end.unwrap_or(rest.len().min(TEXT_LIMIT as usize))];
        return (record::text(name.strip_suffix(b"/").unwrap_or(name)), data);
    }
    (
        record::text(field.strip_suffix(b"/").unwrap_or(field)),
        data,
    )
}

/// `field` without the blanks behind it.
fn trimmed(field: &[u8]) -> &[u8] {
    field.trim_ascii_end()
}

/// A decimal number with blanks behind it.
fn decimal(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(trimmed(field)).ok()?;
    text.parse().ok().filter(|_| !text.starts_with('+'))
}
