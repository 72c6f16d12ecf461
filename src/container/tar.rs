//! Tar archives: ustar, with the long names of pax and of GNU tar.
//!
//! The layout is in `tables/container/tar.toml`, with its sources.

use super::Member;
use super::reader::{Read, Reader, Shape, TEXT_LIMIT};
use super::tables::TAR_HEADER;
use crate::elf::map::Role;
use crate::record;
use crate::span::Span;

const BLOCK: u64 = 512;

static HEADER_SHAPE: Shape = Shape {
    title: "tar header",
    role: Role::Header,
    read: Read::Layout(&TAR_HEADER),
};
static EXTENDED: Shape = Shape {
    title: "tar extended header",
    role: Role::Strings,
    read: Read::Nothing,
};

/// Reads the tar archive in the bytes of `span`.
pub(super) fn read(reader: &mut Reader<'_>, span: Span, parent: Option<u32>) {
    let mut at = span.offset;
    // What an extended header says of the next member.
    let (mut long_name, mut long_size) = (None, None);
    while at < span.end() {
        let header = Span::new(at, BLOCK);
        let bytes = reader.peek(header, BLOCK);
        if !header.within(span.end()) || (bytes.len() as u64) < BLOCK {
            reader.error(at, "tar header", "the archive ends within a header");
            return;
        }
        // Blocks of zeros are the end.
        if bytes.iter().all(|&byte| byte == 0) {
            return;
        }
        let sum: u64 = bytes.iter().map(|&byte| u64::from(byte)).sum();
        let own: u64 = bytes[148..156].iter().map(|&byte| u64::from(byte)).sum();
        let sum = sum - own + 8 * u64::from(b' ');
        if number(&bytes[148..156]) != Some(sum) {
            let message = format!("no header with the checksum {sum:o} is there");
            reader.error(at + 148, "tar header, chksum", message);
            return;
        }
        reader.structure(header, &HEADER_SHAPE);
        let Some(size) = long_size.take().or_else(|| number(&bytes[124..136])) else {
            reader.error(at + 124, "tar header, size", "the size is no octal number");
            return;
        };
        let data = Span::new(header.end(), size);
        if !data.within(span.end()) {
            let message = format!("a member of {size} bytes runs past the archive's end");
            reader.error(at + 124, "tar header, size", message);
        }
        let data = data.clamp(span.end());
        let padding = (BLOCK - data.size % BLOCK) % BLOCK;
        at = (data.end() + padding).min(span.end());
        match bytes[156] {
            b'x' => {
                reader.structure(data, &EXTENDED);
                let text = reader.peek(data, TEXT_LIMIT);
                long_name = pax(&text, b"path").map(record::text).or(long_name);
                long_size = pax(&text, b"size").and_then(decimal);
            }
            b'L' => {
                reader.structure(data, &EXTENDED);
                let text = reader.peek(data, TEXT_LIMIT);
                long_name = Some(record::text(until_nul(&text)));
            }
            b'g' | b'K' => reader.structure(data, &EXTENDED),
            b'0' | 0 | b'7' => {
                let name = long_name.take().unwrap_or_else(|| {
                    let name = record::text(until_nul(&bytes[..100]));
                    // GNU's header has other things where the prefix would be.
                    let is_ustar = &bytes[257..263] == b"ustar\0";
                    match until_nul(&bytes[345..500]) {
                        prefix if is_ustar && !prefix.is_empty() => {
                            format!("{}/{name}", record::text(prefix))
                        }
                        _ => name,
                    }
                });
                let mut member = Member::new(name, header, data);
                reader.identify(&mut member);
                if reader.member(parent, member).is_none() {
                    return;
                }
            }
            // Folders, links, devices.
            _ => long_name = None,
        }
    }
}

fn until_nul(field: &[u8]) -> &[u8] {
    let end = field.iter().position(|&byte| byte == 0);
    &field[..end.unwrap_or(field.len())]
}

/// An octal number that ends with a blank or a NUL; or a binary one of GNU tar, whose first bit is set.
fn number(field: &[u8]) -> Option<u64> {
    if field[0] & 0x80 != 0 {
        // Of 12 bytes the last 8 are enough; one of 8 has only 7 beside the bit.
        let (head, tail) = field.split_at(field.len().saturating_sub(8).max(1));
        let is_small = head[0] == 0x80 && head[1..].iter().all(|&byte| byte == 0);
        return is_small.then(|| tail.iter().fold(0, |all, &byte| all << 8 | u64::from(byte)));
    }
    let text = std::str::from_utf8(until_nul(field)).ok()?.trim();
    u64::from_str_radix(text, 8)
        .ok()
        .filter(|_| !text.starts_with('+'))
}

fn decimal(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The value of `key` in pax's records: `LENGTH KEY=VALUE` and a line feed each.
fn pax<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let mut rest = text;
    let mut found = None;
    while let Some(blank) = rest.iter().position(|&byte| byte == b' ') {
        let size = decimal(&rest[..blank]).and_then(|size| usize::try_from(size).ok())?;
        let record = rest.get(blank + 1..size)?;
        let value = record
            .strip_prefix(key)
            .and_then(|rest| rest.strip_prefix(b"="));
        found = value.and_then(|value| value.strip_suffix(b"\n")).or(found);
        rest = &rest[size..];
    }
    found
}
