//! CUDA fatbins: images for several architectures behind each other, each with a header.
//!
//! Layouts, kinds and flags are in `tables/container/fatbin.toml`, with their sources.

use super::member::MemberKind;
use super::reader::{Read, Reader, Shape, TEXT_LIMIT, u16, u32, u64};
use super::tables::{
    FATBIN_CONCATENATED, FATBIN_ENTRY, FATBIN_HEADER, FATBIN_IMAGE, FATBIN_KIND, FATBIN_OPTIONS,
    FATBIN_WRAPPER,
};
use super::{Format, Member, identify};
use crate::elf::map::Role;
use crate::error::{Diagnostic, Kind};
use crate::record::{self, Record};
use crate::span::Span;
use crate::unpack::Compression;

/// The magic of a fatbin, as its bytes.
pub const MAGIC: [u8; 4] = [0x50, 0xed, 0x55, 0xba];
/// The magic of the wrapper that a host program has of each, as its bytes.
pub const WRAPPER_MAGIC: [u8; 4] = [0xb1, 0x43, 0x62, 0x46];

/// Sections of object files whose code nvlink has to link.
const RELOCATABLE_SECTIONS: &[&str] = &["__nv_relfatbin", ".nv_relfatbin", "__nv_rel", ".nv_relf"];
/// Bytes that tell whether an ELF file is still to be linked.
const RELOCATABLE: u64 = 18;

const HEADER: u64 = 16;
const ENTRY: u64 = 64;

/// What kinds of entries there are, of those that are treated otherwise than the others.
mod kind {
    pub const PTX: u64 = 1;
    pub const ELF: u64 = 2;
    pub const CUBIN: u64 = 4;
    pub const NVVM: u64 = 8;
    pub const RELOCATABLE_PTX: u64 = 0x40;
    pub const TILE_IR: u64 = 0x80;
    pub const CONCATENATED: u64 = 0x100;
}

/// Flags of an entry.
mod flag {
    pub const DEBUG: u64 = 0x2;
    pub const LZ4: u64 = 0x2000;
    pub const ZSTD: u64 = 0x8000;
    /// Other ways to compress that cuobjdump has a name for.
    pub const COMPRESSED: u64 = 0x1000 | 0x4000;
    pub const OBFUSCATED: u64 = 0x1_0000;
    pub const SUFFIX_A: u64 = 0x10_0000;
    pub const SUFFIX_F: u64 = 0x20_0000;
    /// The options are a copy of `.nv.compat`.
    pub const COMPAT: u64 = 0x100_0000;
}

static HEADER_SHAPE: Shape = Shape {
    title: "fatbin header",
    role: Role::Header,
    read: Read::Layout(&FATBIN_HEADER),
};
static ENTRY_SHAPE: Shape = Shape {
    title: "fatbin entry",
    role: Role::Header,
    read: Read::By(entry_record),
};
/// The wrapper in a host program.
pub(super) static WRAPPER: Shape = Shape {
    title: "fatbin wrapper",
    role: Role::Info,
    read: Read::Layout(&FATBIN_WRAPPER),
};

/// Reads the fatbins in the bytes of `span`, which are `parent` or, of a host program, the section called `section`.
pub(super) fn read(
    reader: &mut Reader<'_>,
    span: Span,
    parent: Option<u32>,
    section: Option<&str>,
) {
    let mut at = span.offset;
    let mut count = 0_u64;
    while let Some(start) = reader.next(Span::new(at, span.end() - at), &[&MAGIC]) {
        let rest = Span::new(start, span.end() - start);
        let bytes = reader.peek(rest, HEADER);
        if (bytes.len() as u64) < HEADER {
            reader.error(start, "fatbin header", "the file ends within the header");
            return;
        }
        let header = u16(&bytes, 6);
        if u16(&bytes, 4) != 1 {
            let message = format!("version {}: only 1 is known", u16(&bytes, 4));
            let finding = Diagnostic::warning(Kind::UnknownValue, message);
            reader.report(start + 4, "fatbin header, version", finding);
        }
        if header < HEADER {
            let message = format!("a header of {header} bytes: expected {HEADER} at least");
            reader.error(start + 6, "fatbin header, header size", message);
            return;
        }
        let entries = Span::new(start.saturating_add(header), u64(&bytes, 8));
        let whole = Span::new(start, entries.end() - start);
        if !entries.within(span.end()) {
            let message = format!(
                "{} bytes of entries run past the end (0x{:x})",
                entries.size,
                span.end()
            );
            reader.error(start + 8, "fatbin header, size", message);
        }
        reader.structure(Span::new(start, header), &HEADER_SHAPE);
        let whole = whole.clamp(span.end());
        let entries = entries.clamp(span.end());
        // A file that is one fatbin has its entries; in a section, or behind each other, fatbins are members themselves.
        let is_alone = count == 0 && section.is_none() && whole.offset == span.offset;
        let is_followed = || {
            let rest = Span::new(whole.end(), span.end() - whole.end());
            reader.next(rest, &[&MAGIC]).is_some()
        };
        let parent = if is_alone && !is_followed() {
            parent
        } else {
            let name = reader.number(parent);
            let mut member = Member::new(name, Span::new(start, header), whole);
            member.format = Format::Fatbin;
            if let Some(section) = section {
                member.kind = MemberKind::Word(section.into());
            }
            match reader.list(parent, member) {
                Some(index) => Some(index),
                None => return,
            }
        };
        let is_relocatable = section.is_some_and(|section| RELOCATABLE_SECTIONS.contains(&section));
        read_entries(reader, entries, parent, is_relocatable);
        count += 1;
        at = whole.end().max(start + HEADER);
    }
    if count == 0 && section.is_none() {
        reader.error(span.offset, "fatbin", "no fatbin header is found");
    }
}

/// Reads the entries of a fatbin, whose code is still to be linked if `is_relocatable`.
fn read_entries(reader: &mut Reader<'_>, span: Span, parent: Option<u32>, is_relocatable: bool) {
    let mut at = span.offset;
    let mut number = 0;
    while at < span.end() {
        let context = |field: &str| format!("fatbin entry {number}{field}");
        let rest = Span::new(at, span.end() - at);
        let mut bytes = reader.peek(rest, ENTRY);
        if (bytes.len() as u64) < ENTRY {
            let message = "the fatbin ends within the header of an entry";
            reader.error(at, &context(""), message);
            return;
        }
        let header = Span::new(at, u32(&bytes, 4));
        if header.size < ENTRY || header.size > rest.size {
            let message = format!(
                "a header of {} bytes: expected from {ENTRY} to the {} that are left",
                header.size, rest.size
            );
            reader.error(at + 4, &context(", header size"), message);
            return;
        }
        bytes = reader.peek(rest, header.size.min(TEXT_LIMIT));
        let payload = Span::new(header.end(), u64(&bytes, 8));
        let is_cut = !payload.within(span.end());
        if is_cut {
            let message = format!(
                "a payload of {} bytes runs past the end of the fatbin (0x{:x})",
                payload.size,
                span.end()
            );
            reader.error(at + 8, &context(", payload size"), message);
        }
        let payload = payload.clamp(span.end());
        reader.structure(header, &ENTRY_SHAPE);
        let name = reader.number(parent);
        let mut member = describe(&bytes, Member::new(name, header, payload));
        member.is_relocatable |= is_relocatable;
        if member.compression != Compression::None {
            // What is stored ends before the padding.
            let packed = u32(&bytes, 16);
            if packed > payload.size && !is_cut {
                let message = format!("{packed} compressed bytes in a payload of {}", payload.size);
                reader.error(at + 16, &context(", compressed size"), message);
            }
            member.span.size = packed.min(payload.size);
        } else if reader.base.is_none()
            && let Ok(part) = reader.source.part(payload)
        {
            member.unpacked = Some(identify::length(member.format, &part));
            let start = part.read_up_to(0, RELOCATABLE).unwrap_or_default();
            member.is_relocatable |= identify::is_relocatable(member.format, &start);
        }
        check(reader, &bytes, at, &context(""));
        let kind = u16(&bytes, 0);
        let Some(index) = reader.list(parent, member) else {
            return;
        };
        if kind == kind::CONCATENATED {
            read_images(reader, &bytes, header, index);
        }
        at = payload.end();
        number += 1;
    }
}

/// What an entry's header says of its payload.
fn describe(bytes: &[u8], mut member: Member) -> Member {
    let (kind, flags) = (u16(bytes, 0), u64(bytes, 40));
    member.kind = MemberKind::Number(kind, FATBIN_KIND.name(kind).unwrap_or("unknown"));
    member.format = match kind {
        kind::PTX | kind::RELOCATABLE_PTX => Format::Ptx,
        kind::ELF | kind::CUBIN => Format::Cubin,
        kind::NVVM => Format::Nvvm,
        kind::TILE_IR => Format::TileIr,
        _ => Format::Unknown,
    };
    member.compression = if flags & flag::ZSTD != 0 {
        Compression::Zstd
    } else if flags & flag::LZ4 != 0 {
        Compression::Lz4
    } else if flags & flag::COMPRESSED != 0 {
        Compression::Unknown
    } else {
        Compression::None
    };
    if member.compression != Compression::None {
        member.unpacked = Some(u64(bytes, 56));
    }
    member.is_padded = true;
    member.is_relocatable = kind == kind::RELOCATABLE_PTX;
    member.is_obfuscated = flags & flag::OBFUSCATED != 0;
    let arch = u32(bytes, 28);
    if arch != 0 {
        member.target = Some(target(arch, flags).into());
    }
    let mut notes = Vec::new();
    let text = |span: Option<Span>| {
        let span = span?;
        let text = bytes.get(span.offset as usize..span.end() as usize)?;
        Some(record::text(text)).filter(|text| !text.is_empty())
    };
    if let Some(identifier) = text(identifier(bytes)) {
        notes.push(format!("identifier {identifier}"));
        member.identifier = Some(identifier.into());
    }
    if flags & flag::COMPAT == 0 && kind != kind::CONCATENATED {
        notes.extend(text(options(bytes)).map(|options| format!("options {}", options.trim())));
    }
    for (flag, word) in [
        (flag::DEBUG, "debug information"),
        (flag::OBFUSCATED, "obfuscated"),
    ] {
        if flags & flag != 0 {
            notes.push(word.into());
        }
    }
    member.note = notes.join("; ").into();
    member
}

/// An architecture as its number and the flags have it.
fn target(arch: u64, flags: u64) -> String {
    let suffix = match flags {
        flags if flags & flag::SUFFIX_A != 0 => "a",
        flags if flags & flag::SUFFIX_F != 0 => "f",
        _ => "",
    };
    format!("sm_{arch}{suffix}")
}

/// The identifier of an entry, counted from its header.
fn identifier(bytes: &[u8]) -> Option<Span> {
    let span = Span::new(u32(bytes, 32), u32(bytes, 36));
    (span.offset >= ENTRY && span.size > 0 && span.within(bytes.len() as u64)).then_some(span)
}

/// The beginning of an entry's options, counted from its header.
fn options_header(bytes: &[u8]) -> Option<Span> {
    let span = Span::new(u32(bytes, 20), 8);
    (span.offset >= ENTRY && span.within(bytes.len() as u64)).then_some(span)
}

/// The options of an entry, counted from its header.
fn options(bytes: &[u8]) -> Option<Span> {
    let at = options_header(bytes)?.offset as usize;
    let span = Span::new(u32(bytes, at), u32(bytes, at + 4));
    (span.offset >= ENTRY && span.size > 0 && span.within(bytes.len() as u64)).then_some(span)
}

/// Findings on what an entry's header says, which begins at `at`.
fn check(reader: &mut Reader<'_>, bytes: &[u8], at: u64, context: &str) {
    let size = bytes.len();
    let kind = u16(bytes, 0);
    if FATBIN_KIND.get(kind).is_none() {
        let message = format!("kind 0x{kind:x} is not known");
        let finding = Diagnostic::warning(Kind::UnknownValue, message);
        reader.report(at, context, finding);
    }
    if u32(bytes, 36) > 0 && identifier(bytes).is_none() {
        let message = format!("the identifier does not lie in the header of {size} bytes");
        reader.error(at + 32, context, message);
    }
    if u32(bytes, 20) > 0 && options_header(bytes).is_none() {
        let message = format!("the options do not lie in the header of {size} bytes");
        reader.error(at + 20, context, message);
    }
    if let Some(header) = options_header(bytes)
        && u16(bytes, 0) != kind::CONCATENATED
        && u32(bytes, header.offset as usize + 4) > 0
        && options(bytes).is_none()
    {
        let message = format!("the text of the options does not lie in the header of {size} bytes");
        reader.error(at + header.offset, context, message);
    }
}

/// Reads the headers of the images that are compressed as one in member `parent`, whose header is `bytes`.
fn read_images(reader: &mut Reader<'_>, bytes: &[u8], header: Span, parent: u32) {
    let Some(block) = options_header(bytes) else {
        return;
    };
    let first = block.offset as usize + 8;
    let Some(around) = reader.contents.members.get(parent as usize) else {
        return;
    };
    let (whole, compression) = (around.span, around.compression);
    let end = around.unpacked.unwrap_or(whole.size);
    for i in 0..u32(bytes, first - 8) {
        let at = (first as u64).saturating_add(i.saturating_mul(ENTRY));
        let Some(image) = usize::try_from(at)
            .ok()
            .and_then(|at| bytes.get(at..at.checked_add(ENTRY as usize)?))
        else {
            let message = "the headers of concatenated images run past the entry's header";
            reader.error(header.offset + block.offset, "fatbin entry, count", message);
            return;
        };
        let at = header.offset + at;
        let span = Span::new(u32(image, 4), u64(image, 8));
        if !span.within(end) {
            let message = format!(
                "an image of {} bytes at 0x{:x} runs past the {end} bytes of all",
                span.size, span.offset
            );
            reader.error(at + 4, "header of a concatenated image", message);
        }
        let span = span.clamp(end);
        let name = reader.number(Some(parent));
        let mut member = describe(image, Member::new(name, Span::new(at, ENTRY), span));
        // They are compressed together, if at all.
        member.compression = Compression::None;
        member.unpacked = Some(span.size);
        let base = reader.base;
        match compression {
            Compression::None => member.span.offset += whole.offset,
            _ => reader.base = Some(parent),
        }
        let added = reader.list(Some(parent), member);
        reader.base = base;
        if added.is_none() {
            return;
        }
    }
}

/// The header of an entry with what follows it: identifier, options, headers of concatenated images.
fn entry_record(bytes: &[u8], offset: u64) -> Record {
    let kind = u16(bytes, 0);
    let mut record = FATBIN_ENTRY.read(FATBIN_ENTRY.name, bytes, offset);
    record.span.size = bytes.len() as u64;
    let payload = Span::new(offset + u32(bytes, 4), u64(bytes, 8));
    record.explain("payload size", "", Some(payload));
    if let Some(span) = identifier(bytes) {
        let kind = record::Kind::Text;
        record.append_bytes(
            "identifier",
            bytes,
            span.offset as u32,
            span.size as u32,
            kind,
        );
        let target = Span::new(offset + span.offset, span.size);
        record.explain("identifier offset", "", Some(target));
    }
    if let Some(header) = options_header(bytes) {
        let at = header.offset as u32;
        if kind == kind::CONCATENATED {
            record.append(&FATBIN_CONCATENATED, bytes, at);
            for (i, image) in (at + 8..).step_by(ENTRY as usize).enumerate() {
                if image as usize + ENTRY as usize > bytes.len() {
                    break;
                }
                let known = record.fields.len();
                record.append(&FATBIN_IMAGE, bytes, image);
                for field in &mut record.fields[known..] {
                    field.name = format!("{}({i})", field.name);
                }
            }
        } else {
            record.append(&FATBIN_OPTIONS, bytes, at);
        }
        record.explain(
            "options offset",
            "",
            Some(Span::new(offset + header.offset, 8)),
        );
    }
    if kind != kind::CONCATENATED
        && let Some(span) = options(bytes)
    {
        let kind = match u64(bytes, 40) & flag::COMPAT {
            0 => record::Kind::Text,
            _ => record::Kind::Bytes,
        };
        record.append_bytes("options", bytes, span.offset as u32, span.size as u32, kind);
    }
    record
}
