//! LLVM's offload binaries: images for devices, each with a map of strings that describe it, one behind the other.
//!
//! Layouts are in `tables/container/bundle.toml`, with their sources.

use super::member::MemberKind;
use super::reader::{Read, Reader, Shape, TEXT_LIMIT, u16, u32, u64};
use super::tables::{
    IMAGE_KIND, OFFLOAD_BINARY_ENTRY, OFFLOAD_BINARY_HEADER, OFFLOAD_BINARY_STRING, OFFLOAD_KIND,
};
use super::{Format, Member, identify};
use crate::elf::map::Role;
use crate::record;
use crate::span::Span;

/// What offload binaries begin with.
pub const MAGIC: &[u8] = b"\x10\xff\x10\xad";

const HEADER: u64 = 32;
const ENTRY: u64 = 40;
const STRING: u64 = 16;
/// Strings of an image that are read, at most.
const STRINGS_LIMIT: u64 = 256;

static HEADER_SHAPE: Shape = Shape {
    title: "offload binary header",
    role: Role::Header,
    read: Read::Layout(&OFFLOAD_BINARY_HEADER),
};
static ENTRY_SHAPE: Shape = Shape {
    title: "offload binary entry",
    role: Role::Header,
    read: Read::Layout(&OFFLOAD_BINARY_ENTRY),
};
static STRING_SHAPE: Shape = Shape {
    title: "offload binary string entry",
    role: Role::Header,
    read: Read::Layout(&OFFLOAD_BINARY_STRING),
};
static TEXT_SHAPE: Shape = Shape {
    title: "offload binary string",
    role: Role::Strings,
    read: Read::Nothing,
};

/// Reads the offload binaries in the bytes of `span`, which are `parent` or, of a host program, the section called `section`.
pub(super) fn read(
    reader: &mut Reader<'_>,
    span: Span,
    parent: Option<u32>,
    section: Option<&str>,
) {
    let mut at = span.offset;
    let mut count = 0_u64;
    while let Some(start) = reader.next(Span::new(at, span.end() - at), &[MAGIC]) {
        let rest = Span::new(start, span.end() - start);
        let bytes = reader.peek(rest, HEADER);
        if (bytes.len() as u64) < HEADER {
            reader.error(
                start,
                "offload binary header",
                "the file ends within the header",
            );
            return;
        }
        let size = u64(&bytes, 8);
        if size < HEADER || size > rest.size {
            let message = format!(
                "a size of {size} bytes: expected from {HEADER} to the {} that are there",
                rest.size
            );
            reader.error(start + 8, "offload binary header, Size", message);
        }
        reader.structure(Span::new(start, HEADER), &HEADER_SHAPE);
        let whole = Span::new(start, size.clamp(HEADER, rest.size));
        if read_image(reader, whole, u64(&bytes, 16), parent, section).is_none() {
            return;
        }
        count += 1;
        at = whole.end();
    }
    if count == 0 && section.is_none() {
        reader.error(
            span.offset,
            "offload binary",
            "no header of an offload binary is found",
        );
    }
}

/// Reads the entry `at` bytes into the binary that `whole` is.
fn read_image(
    reader: &mut Reader<'_>,
    whole: Span,
    at: u64,
    parent: Option<u32>,
    section: Option<&str>,
) -> Option<()> {
    let within = |offset: u64, size: u64| {
        let span = Span::new(offset, size);
        let place = Span::new(whole.offset.saturating_add(offset), size);
        span.within(whole.size).then_some(place)
    };
    let Some(header) = within(at, ENTRY) else {
        let message = format!(
            "the entry at 0x{at:x} runs past the binary's {} bytes",
            whole.size
        );
        reader.error(
            whole.offset + 16,
            "offload binary header, EntryOffset",
            message,
        );
        return Some(());
    };
    let entry = reader.read(header)?;
    reader.structure(header, &ENTRY_SHAPE);
    let image = Span::new(u64(&entry, 24), u64(&entry, 32));
    if within(image.offset, image.size).is_none() {
        let message = format!(
            "an image of {} bytes at 0x{:x} runs past the binary's {} bytes",
            image.size, image.offset, whole.size
        );
        reader.error(
            header.offset + 24,
            "offload binary entry, ImageOffset and ImageSize",
            message,
        );
    }
    let image = image.clamp(whole.size);
    let place = Span::new(whole.offset + image.offset, image.size);
    let name = reader.number(parent);
    let mut member = Member::new(name, header, place);
    let mut notes = Vec::new();
    let (strings, count) = (u64(&entry, 8), u64(&entry, 16));
    for i in 0..count.min(STRINGS_LIMIT) {
        let at = strings.saturating_add(i * STRING);
        let Some(pair) = within(at, STRING) else {
            let message = format!("{count} strings at 0x{strings:x} run past the binary's end");
            reader.error(
                header.offset + 8,
                "offload binary entry, StringOffset",
                message,
            );
            break;
        };
        reader.structure(pair, &STRING_SHAPE);
        let bytes = reader.read(pair)?;
        let mut text = |field: u64| {
            let at = u64(&bytes, field as usize);
            let Some(rest) = within(at, whole.size.saturating_sub(at)) else {
                let message = format!("a string at 0x{at:x} runs past the binary's end");
                reader.error(pair.offset + field, "offload binary string entry", message);
                return String::new();
            };
            let bytes = reader.peek(rest, TEXT_LIMIT);
            let size = bytes
                .iter()
                .position(|&byte| byte == 0)
                .unwrap_or(bytes.len());
            reader.structure(Span::new(rest.offset, size as u64 + 1), &TEXT_SHAPE);
            record::text(&bytes[..size])
        };
        let (key, value) = (text(0), text(8));
        if key == "arch" {
            member.target = (!value.is_empty()).then(|| value.into());
        } else {
            notes.push(format!("{key}={value}"));
        }
    }
    let (image, offload) = (u16(&entry, 0), u16(&entry, 2));
    member.format = match image {
        2 => Format::LlvmBitcode,
        3 => Format::Cubin,
        4 => Format::Fatbin,
        5 => Format::Ptx,
        6 => Format::Spirv,
        _ => identify::identify(&reader.peek(place, identify::START)),
    };
    let kinds = OFFLOAD_KIND.flags(offload).0.join(" ");
    if !kinds.is_empty() {
        notes.push(kinds);
    }
    if u32(&entry, 4) != 0 {
        notes.push(format!("flags 0x{:x}", u32(&entry, 4)));
    }
    if let Some(section) = section {
        notes.push(section.into());
    }
    member.kind = MemberKind::Number(image, IMAGE_KIND.name(image).unwrap_or("unknown"));
    member.note = notes.join("; ").into();
    reader.member(parent, member)?;
    Some(())
}
