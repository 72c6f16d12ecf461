//! Mach-O: programs, libraries and object files of macOS, alone or for several machines in a universal file.
//!
//! Layouts are in `tables/container/macho.toml`, with their source.

use super::member::Member;
use super::reader::{Read, Reader, Shape, u32, u64};
use super::tables::{
    FAT_ARCH, FAT_ARCH_64, FAT_HEADER, MACH_CPU, MACH_HEADER, MACH_SECTION, MACH_SECTION_64,
    MACH_SEGMENT, MACH_SEGMENT_64,
};
use crate::elf::map::Role;
use crate::record::{self, Layout};
use crate::span::Span;

const MAGIC_64: &[u8] = b"\xcf\xfa\xed\xfe";
const FAT_MAGIC: &[u8] = b"\xca\xfe\xba\xbe";
const FAT_MAGIC_64: &[u8] = b"\xca\xfe\xba\xbf";
/// Load commands that are looked at, at most, and files in a universal file: classes of Java begin alike, with their version,
/// which is at least 45, where this number is.
const COMMAND_LIMIT: u64 = 1 << 16;
const FILE_LIMIT: u64 = 44;

/// What depends on whether addresses have 32 or 64 bits.
struct Class {
    header: u64,
    /// The load command of a segment.
    command: u64,
    segment: &'static Shape,
    /// Where its number of sections is.
    count: usize,
    section: &'static Shape,
    /// Where a section's size is, and its offset.
    place: fn(&[u8]) -> Span,
}

static HEADER: Shape = header("Mach-O header", &MACH_HEADER);
static FAT: Shape = header("universal header", &FAT_HEADER);
static ARCH: Shape = header("header of a universal file's part", &FAT_ARCH);
static ARCH_64: Shape = header("header of a universal file's part", &FAT_ARCH_64);
static SEGMENT: Shape = header("Mach-O segment", &MACH_SEGMENT);
static SEGMENT_64: Shape = header("Mach-O segment", &MACH_SEGMENT_64);
static SECTION: Shape = header("Mach-O section", &MACH_SECTION);
static SECTION_64: Shape = header("Mach-O section", &MACH_SECTION_64);

const fn header(title: &'static str, layout: &'static Layout) -> Shape {
    Shape {
        title,
        role: Role::Header,
        read: Read::Layout(layout),
    }
}

static CLASS_32: Class = Class {
    header: 28,
    command: 1,
    segment: &SEGMENT,
    count: 48,
    section: &SECTION,
    place: |section| Span::new(u32(section, 40), u32(section, 36)),
};
static CLASS_64: Class = Class {
    header: 32,
    command: 0x19,
    segment: &SEGMENT_64,
    count: 64,
    section: &SECTION_64,
    place: |section| Span::new(u32(section, 48), u64(section, 40)),
};

/// Whether a file that begins so is a universal file.
pub(super) fn is_universal(start: &[u8]) -> bool {
    let is_magic = start.starts_with(FAT_MAGIC) || start.starts_with(FAT_MAGIC_64);
    is_magic && (1..=FILE_LIMIT).contains(&big(start, 4, 4))
}

/// A number of `size` bytes at `at`, big-endian.
fn big(bytes: &[u8], at: usize, size: usize) -> u64 {
    let bytes = bytes.get(at..at + size).unwrap_or_default();
    bytes
        .iter()
        .fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

/// Reads the Mach-O file, or the universal file, in the bytes of `span`.
pub(super) fn read(reader: &mut Reader<'_>, span: Span, parent: Option<u32>) {
    let magic = reader.peek(span, 8);
    if is_universal(&magic) {
        universal(reader, span, parent);
    } else if magic.starts_with(MAGIC_64) {
        thin(reader, span, parent, &CLASS_64);
    } else {
        thin(reader, span, parent, &CLASS_32);
    }
}

/// Reads the files of a universal file.
fn universal(reader: &mut Reader<'_>, span: Span, parent: Option<u32>) {
    let head = reader.peek(span, 8);
    let is_64 = head.starts_with(FAT_MAGIC_64);
    let (shape, size, width) = match is_64 {
        true => (&ARCH_64, FAT_ARCH_64.bytes, 8),
        false => (&ARCH, FAT_ARCH.bytes, 4),
    };
    reader.structure(Span::new(span.offset, 8), &FAT);
    let count = big(&head, 4, 4);
    for i in 0..count {
        let header = Span::new(span.offset + 8 + i * u64::from(size), size.into());
        let bytes = reader.peek(header, header.size);
        if !header.within(span.end()) || (bytes.len() as u64) < header.size {
            let message = format!("{count} files run past the end of the file: {i} are there");
            reader.error(header.offset, "universal header, nfat_arch", message);
            return;
        }
        reader.structure(header, shape);
        let inner = Span::new(big(&bytes, 8, width), big(&bytes, 8 + width, width));
        if !inner.within(span.size) {
            let message = format!(
                "{} bytes at 0x{:x} run past the end of the file (0x{:x})",
                inner.size, inner.offset, span.size
            );
            reader.error(
                header.offset + 8,
                "universal header, offset and size",
                message,
            );
        }
        let inner = inner.clamp(span.size);
        let place = Span::new(span.offset + inner.offset, inner.size);
        let name = match MACH_CPU.name(big(&bytes, 0, 4)) {
            Some(name) => name.trim_start_matches("CPU_TYPE_").to_lowercase(),
            None => reader.number(parent),
        };
        let mut member = Member::new(name, header, place);
        reader.identify(&mut member);
        if reader.member(parent, member).is_none() {
            return;
        }
    }
}

/// Reads the sections of a Mach-O file.
fn thin(reader: &mut Reader<'_>, span: Span, parent: Option<u32>, class: &Class) {
    let header = Span::new(span.offset, class.header);
    let bytes = reader.peek(span, class.header);
    if (bytes.len() as u64) < class.header {
        reader.error(
            span.offset,
            "Mach-O header",
            "the file ends within the header",
        );
        return;
    }
    reader.structure(Span::new(span.offset, MACH_HEADER.bytes.into()), &HEADER);
    let (count, size) = (u32(&bytes, 16), u32(&bytes, 20));
    let commands = Span::new(header.end(), size);
    if !commands.within(span.end()) {
        let message = format!("{size} bytes of load commands run past the end of the file");
        reader.error(span.offset + 20, "Mach-O header, sizeofcmds", message);
    }
    let commands = commands.clamp(span.end());
    let mut at = commands.offset;
    for i in 0..count.min(COMMAND_LIMIT) {
        let rest = Span::new(at, commands.end() - at);
        let bytes = reader.peek(rest, 8);
        let size = u32(&bytes, 4);
        if bytes.len() < 8 || size < 8 || size > rest.size {
            let message = format!("{count} load commands are said to be there: {i} are");
            reader.error(at, "Mach-O load command", message);
            return;
        }
        let command = Span::new(at, size);
        if u32(&bytes, 0) == class.command {
            segment(reader, span, command, parent, class);
        }
        at = command.end();
    }
}

/// Reads the sections that the load command in the bytes of `command` tells of, of the file in those of `span`.
fn segment(reader: &mut Reader<'_>, span: Span, command: Span, parent: Option<u32>, class: &Class) {
    let sizes = |shape: &Shape| match shape.read {
        Read::Layout(layout) => u64::from(layout.bytes),
        _ => 0,
    };
    let header = Span::new(command.offset, sizes(class.segment));
    let bytes = reader.peek(command, header.size);
    if (bytes.len() as u64) < header.size {
        let message = "the load command ends within the header of the segment";
        reader.error(command.offset + 4, "Mach-O segment, cmdsize", message);
        return;
    }
    reader.structure(header, class.segment);
    let count = u32(&bytes, class.count);
    let mut at = header.end();
    for i in 0..count {
        let header = Span::new(at, sizes(class.section));
        let bytes = reader.peek(header, header.size);
        if !header.within(command.end()) || (bytes.len() as u64) < header.size {
            let message = format!("{count} sections run past the load command: {i} are there");
            reader.error(
                command.offset + class.count as u64,
                "Mach-O segment, nsects",
                message,
            );
            return;
        }
        reader.structure(header, class.section);
        at = header.end();
        let name = |at: usize| {
            let name = &bytes[at..at + 16];
            let end = name.iter().position(|&byte| byte == 0);
            record::text(&name[..end.unwrap_or(name.len())])
        };
        let place = (class.place)(&bytes);
        let place = Span::new(span.offset.saturating_add(place.offset), place.size);
        let name = [name(16), name(0)].join(",");
        reader.section(&name, false, header, place.clamp(span.end()), parent);
    }
}
