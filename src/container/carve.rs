//! GPU code in files that do not say where it is: drivers keep hundreds of cubins in `.rodata`, other formats carry it in ways of their
//! own.
//!
//! The bytes between what is known already are looked through for the magics of cubins, code objects, fatbins, bundles and offload
//! binaries. A magic alone is nothing: what is listed has headers that hold together and say where it ends. It is done in steps, when it
//! is asked for.

use super::bundle;
use super::fatbin;
use super::identify::{self, Format};
use super::member::{Member, MemberKind};
use super::reader::{Reader, TEXT_LIMIT, u16, u32, u64};
use crate::source::Source;
use crate::span::Span;
use crate::unpack;

/// Bytes that are read at once.
const WINDOW: u64 = 1 << 20;
/// What magics are told by: so many bytes of each.
const PREFIX: usize = 4;
/// How these begin.
const PREFIXES: [[u8; PREFIX]; 5] = [
    *b"\x7fELF",
    fatbin::MAGIC,
    *b"__CL",
    *b"CCOB",
    *b"\x10\xff\x10\xad",
];
/// How far the next of them can be, by the byte that would be the last of one: the rule of Boyer, Moore and Horspool.
const SKIPS: [u8; 256] = {
    let mut skips = [PREFIX as u8; 256];
    let mut i = 0;
    while i < PREFIXES.len() {
        let mut at = 0;
        while at < PREFIX {
            let skip = (PREFIX - 1 - at) as u8;
            let byte = PREFIXES[i][at] as usize;
            if skip < skips[byte] {
                skips[byte] = skip;
            }
            at += 1;
        }
        i += 1;
    }
    skips
};

/// Entries of a bundle, and bytes of their IDs, at most.
const BUNDLE_ENTRIES: u64 = 1 << 12;
const ID_LIMIT: u64 = 1 << 10;
/// Kinds of images in offload binaries are numbers below this one.
const IMAGE_KINDS: u64 = 32;
/// What a packer may add to what it cannot make smaller.
const OVERHEAD: u64 = 4096;

/// What was found.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub format: Format,
    header: u64,
    /// Its bytes.
    pub span: Span,
    /// Bytes that are looked through no more.
    taken: u64,
}

/// Where the next magic begins in `bytes`, from `at` on.
fn next(bytes: &[u8], mut at: usize) -> Option<usize> {
    while let Some(last) = bytes.get(at + PREFIX - 1) {
        match SKIPS[usize::from(*last)] {
            0 => {
                if PREFIXES
                    .iter()
                    .any(|prefix| bytes[at..].starts_with(prefix))
                {
                    return Some(at);
                }
                at += 1;
            }
            skip => at += usize::from(skip),
        }
    }
    None
}

/// Looks through the bytes from `at` on, `budget` of them at most, that are of none of the spans in `known`: in order, apart from
/// each other. How far it came; the file's end where no more can be listed.
pub(super) fn step(reader: &mut Reader<'_>, known: &[Span], mut at: u64, budget: u64) -> u64 {
    let size = reader.source.size();
    let mut left = budget.max(1);
    let mut buffer = vec![0; WINDOW as usize + PREFIX - 1];
    while at < size && left > 0 {
        let behind = known.partition_point(|span| span.end() <= at);
        let limit = match known.get(behind) {
            Some(span) if span.offset <= at => {
                at = span.end();
                continue;
            }
            Some(span) => span.offset,
            None => size,
        };
        let starts = WINDOW.min(limit - at).min(left);
        let window = Span::new(at, starts + PREFIX as u64 - 1).clamp(limit);
        let bytes = &mut buffer[..window.size as usize];
        let read = reader.source.read_into(at, bytes);
        if reader.findings.take(read).is_none() {
            return size;
        }
        left -= starts;
        let mut inner = 0;
        while let Some(start) = next(bytes, inner) {
            let rest = Span::new(at + start as u64, limit - at - start as u64);
            inner = start + 1;
            let Some(found) = measure(reader, rest) else {
                if reader.say_if_spent() {
                    return size;
                }
                continue;
            };
            if !list(reader, found) {
                return size;
            }
            inner = start.saturating_add(found.taken as usize);
        }
        at += starts.max(inner as u64);
    }
    at.min(size)
}

/// Adds what was found as a member. Whether there may be more.
fn list(reader: &mut Reader<'_>, found: Found) -> bool {
    let header = Span::new(found.span.offset, found.header);
    let mut member = Member::new(name(found.span.offset), header, found.span);
    member.kind = MemberKind::Word("carved".into());
    member.format = found.format;
    reader.identify(&mut member);
    reader.member(None, member).is_some()
}

/// What a member is called that has no name and is in no container: the offset of its first byte.
fn name(offset: u64) -> String {
    format!("0x{offset:x}")
}

/// What a carved member of that name is, if it is in `source`.
pub(super) fn named(reader: &Reader<'_>, called: &str) -> Option<Found> {
    let offset = u64::from_str_radix(called.strip_prefix("0x")?, 16).ok()?;
    let rest = reader.source.size().checked_sub(offset)?;
    let found = (name(offset) == called).then(|| measure(reader, Span::new(offset, rest)));
    found.flatten()
}

/// What begins with `rest`, if it holds together.
fn measure(reader: &Reader<'_>, rest: Span) -> Option<Found> {
    let start = reader.peek(rest, bundle::MAGIC.len() as u64);
    let format = identify::identify(&reader.peek(rest, 64));
    let (header, size, taken) = match format {
        Format::Cubin | Format::Amdgpu => {
            let size = elf(reader, rest)?;
            (64, size, size)
        }
        Format::Fatbin if start.starts_with(&fatbin::MAGIC) => {
            let size = fatbin(reader, rest)?;
            (16, size, size)
        }
        Format::OffloadBundle if start.starts_with(bundle::COMPRESSED_MAGIC) => {
            compressed_bundle(reader, rest)?
        }
        Format::OffloadBundle => {
            let (header, size) = bundle(reader, rest)?;
            (header, size, size)
        }
        Format::OffloadBinary => {
            let size = offload_binary(reader, rest)?;
            (32, size, size)
        }
        _ => return None,
    };
    Some(Found {
        format,
        header,
        span: Span::new(rest.offset, size),
        taken,
    })
}

/// The first `size` bytes of `rest` from `at` on, all of them.
fn part(reader: &Reader<'_>, rest: Span, at: u64, size: u64) -> Option<Vec<u8>> {
    let span = Span::new(at, size).within(rest.size);
    let place = Span::new(rest.offset.checked_add(at)?, size);
    let bytes = span.then(|| reader.peek(place, size))?;
    (bytes.len() as u64 == size).then_some(bytes)
}

/// Bytes of the ELF file that `rest` begins with: up to the last of its sections, segments and headers.
fn elf(reader: &Reader<'_>, rest: Span) -> Option<u64> {
    const SHT_NULL: u64 = 0;
    const SHT_NOBITS: u64 = 8;
    let head = part(reader, rest, 0, 64)?;
    // 64 bits, little-endian, version 1; a header as long as it is.
    if !head.starts_with(b"\x7fELF\x02\x01\x01") || u16(&head, 52) != 64 {
        return None;
    }
    let mut end = 64;
    let mut reach = |span: Span| {
        end = span.end().max(end);
        span.within(rest.size).then_some(())
    };
    let (sections, mut count) = (u64(&head, 40), u16(&head, 60));
    if sections != 0 {
        if u16(&head, 58) != 64 || sections < 64 {
            return None;
        }
        let first = part(reader, rest, sections, 64)?;
        if u32(&first, 4) != SHT_NULL {
            return None;
        }
        // Section 0 has the number that the header has no room for.
        if count == 0 {
            count = u64(&first, 32).min(1 << 20);
        }
        let names = u16(&head, 62);
        if count < 2 || (names >= count && names != 0xffff) {
            return None;
        }
        let table = part(reader, rest, sections, count * 64)?;
        reach(Span::new(sections, count * 64))?;
        for section in table.chunks_exact(64) {
            let kind = u32(section, 4);
            let is_stored = kind != SHT_NULL && kind != SHT_NOBITS;
            if is_stored {
                reach(Span::new(u64(section, 24), u64(section, 32)))?;
            }
        }
    }
    let (segments, count) = (u64(&head, 32), u16(&head, 56));
    if segments != 0 && count > 0 {
        if u16(&head, 54) != 56 || segments < 64 {
            return None;
        }
        let table = part(reader, rest, segments, count * 56)?;
        reach(Span::new(segments, count * 56))?;
        for segment in table.chunks_exact(56) {
            reach(Span::new(u64(segment, 8), u64(segment, 32)))?;
        }
    }
    (end > 64).then_some(end)
}

/// Bytes of the fatbin that `rest` begins with, whose entries are as long together as its header says.
fn fatbin(reader: &Reader<'_>, rest: Span) -> Option<u64> {
    const HEADER: u64 = 16;
    const ENTRY: u64 = 64;
    let head = part(reader, rest, 0, HEADER)?;
    let end = HEADER.checked_add(u64(&head, 8))?;
    if u16(&head, 4) != 1 || u16(&head, 6) != HEADER || end <= HEADER || end > rest.size {
        return None;
    }
    let mut at = HEADER;
    while at < end {
        let entry = part(reader, rest, at, ENTRY)?;
        let header = u32(&entry, 4);
        if u16(&entry, 0) == 0 || !(ENTRY..=TEXT_LIMIT).contains(&header) {
            return None;
        }
        at = (at + header).checked_add(u64(&entry, 8))?;
        if at > end {
            return None;
        }
    }
    Some(end)
}

/// Bytes of the headers of the bundle that `rest` begins with, and of all of it.
fn bundle(reader: &Reader<'_>, rest: Span) -> Option<(u64, u64)> {
    let count = u64(&part(reader, rest, 0, 32)?, 24);
    if !(1..=BUNDLE_ENTRIES).contains(&count) {
        return None;
    }
    let (mut at, mut end) = (32, 32);
    let mut first = u64::MAX;
    for _ in 0..count {
        let entry = part(reader, rest, at, 24)?;
        let (place, id) = (Span::new(u64(&entry, 0), u64(&entry, 8)), u64(&entry, 16));
        if !(1..=ID_LIMIT).contains(&id) || !place.within(rest.size) {
            return None;
        }
        // A kind and a triple.
        let id = part(reader, rest, at + 24, id)?;
        if !id.contains(&b'-') || !id.iter().all(u8::is_ascii_graphic) {
            return None;
        }
        at += 24 + id.len() as u64;
        end = place.end().max(at).max(end);
        if place.size > 0 {
            first = place.offset.min(first);
        }
    }
    (first >= at).then_some((at, end))
}

/// Bytes of the header of the compressed bundle that `rest` begins with, of all of it, and of it those that are surely its own.
fn compressed_bundle(reader: &Reader<'_>, rest: Span) -> Option<(u64, u64, u64)> {
    let head = reader.peek(rest, 40);
    let (header, size, unpacked) = match u16(&head, 4) {
        1 => (20, None, u32(&head, 8)),
        2 => (24, Some(u32(&head, 8)), u32(&head, 12)),
        3 => (32, Some(u64(&head, 8)), u64(&head, 16)),
        _ => return None,
    };
    let (compression, is_begun) = match (u16(&head, 6), head.get(header as usize..)?) {
        // RFC 1950, 2.2: deflate, and a multiple of 31.
        (0, &[method, flags, ..]) => {
            let check = u32::from(method) << 8 | u32::from(flags);
            let is_deflate = method & 15 == 8 && check.is_multiple_of(31);
            (unpack::Compression::Zlib, is_deflate)
        }
        (1, packed) => (
            unpack::Compression::Zstd,
            packed.starts_with(b"\x28\xb5\x2f\xfd"),
        ),
        _ => return None,
    };
    // Version 1 does not say where it ends: before the next bundle at the latest. What is behind it is read by none who unpacks it.
    let whole = size.unwrap_or_else(|| {
        let most = unpacked.saturating_add(OVERHEAD).min(rest.size);
        let behind = Span::new(rest.offset + header, most.saturating_sub(header));
        let next = reader.next(behind, &[b"CCOB", b"__CLANG_OFFLOAD_BUNDLE__"]);
        next.map_or(most, |at| at - rest.offset)
    });
    let is_whole = whole > header
        && whole <= rest.size
        && unpacked > 0
        && unpack::is_plausible(compression, whole - header, unpacked);
    let taken = size.unwrap_or(header);
    (is_begun && is_whole).then_some((header, whole, taken))
}

/// Bytes of the offload binary that `rest` begins with.
fn offload_binary(reader: &Reader<'_>, rest: Span) -> Option<u64> {
    let head = part(reader, rest, 0, 32)?;
    let size = u64(&head, 8);
    if !(1..=2).contains(&u32(&head, 4)) || size > rest.size || u64(&head, 24) < 40 {
        return None;
    }
    let whole = Span::new(rest.offset, size);
    let entry = part(reader, whole, u64(&head, 16), 40)?;
    let strings = u64(&entry, 16).checked_mul(16)?;
    let is_within = |at: usize, size: u64| Span::new(u64(&entry, at), size).within(whole.size);
    let holds = u16(&entry, 0) < IMAGE_KINDS
        && is_within(8, strings)
        && is_within(24, u64(&entry, 32))
        && u64(&entry, 32) > 0;
    holds.then_some(size)
}

/// Spans that are looked through no more, of those in any order: in order, apart from each other.
pub(super) fn apart(mut spans: Vec<Span>, source: &Source) -> Vec<Span> {
    crate::order::arrange(&mut spans, |span| span.offset);
    let mut apart: Vec<Span> = Vec::new();
    for span in spans {
        let span = span.clamp(source.size());
        match apart.last_mut() {
            Some(last) if span.offset <= last.end() => {
                last.size = span.end().max(last.end()) - last.offset;
            }
            _ => apart.push(span),
        }
    }
    apart
}
