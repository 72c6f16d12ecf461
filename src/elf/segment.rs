//! Program headers.

use object::LittleEndian;
use object::elf::{self, ProgramHeader32, ProgramHeader64};
use object::read::elf::ProgramHeader;

use super::{Class, LE, Table, headers, pod, tables};
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::source::Source;
use crate::span::Span;

/// A program header, as stored.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the fields are the format's own
pub struct Segment {
    pub index: u32,
    /// Offset of the header in the file.
    pub header: u64,
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub virtual_address: u64,
    pub physical_address: u64,
    pub file_size: u64,
    pub memory_size: u64,
    pub align: u64,
}

impl Segment {
    fn from_raw<P: ProgramHeader<Endian = LittleEndian>>(raw: &P, index: u32, at: u64) -> Self {
        Self {
            index,
            header: at,
            kind: raw.p_type(LE).0,
            flags: raw.p_flags(LE).0,
            offset: raw.p_offset(LE).into(),
            virtual_address: raw.p_vaddr(LE).into(),
            physical_address: raw.p_paddr(LE).into(),
            file_size: raw.p_filesz(LE).into(),
            memory_size: raw.p_memsz(LE).into(),
            align: raw.p_align(LE).into(),
        }
    }

    /// Whether a loader copies it to memory.
    pub fn is_load(&self) -> bool {
        self.kind == elf::PT_LOAD.0
    }

    /// Its bytes in the file, as the header has them.
    pub fn span(&self) -> Span {
        Span::new(self.offset, self.file_size)
    }

    /// The names of its flags.
    pub fn flag_names(&self) -> String {
        tables::SEGMENT_FLAGS.flags(self.flags.into()).0.join(" | ")
    }

    /// The name of its type.
    pub fn kind_name(&self) -> Option<&'static str> {
        tables::SEGMENT_TYPE.name(u64::from(self.kind))
    }
}

pub(super) fn read(
    source: &Source,
    class: Class,
    table: Option<Table>,
    findings: &mut Diagnostics,
) -> Vec<Segment> {
    headers(source, table, findings, |bytes, index, at| match class {
        Class::Elf32 => {
            pod(bytes).map(|raw: ProgramHeader32<_>| Segment::from_raw(&raw, index, at))
        }
        Class::Elf64 => {
            pod(bytes).map(|raw: ProgramHeader64<_>| Segment::from_raw(&raw, index, at))
        }
    })
}

pub(super) fn check(source: &Source, segments: &[Segment], findings: &mut Diagnostics) {
    for segment in segments {
        let label = |field: &str| format!("segment {}, {field}", segment.index);
        let at = source.absolute(segment.header);
        if segment.kind == elf::PT_NULL.0 {
            continue;
        }
        if !segment.span().within(source.size()) {
            findings.push(
                Diagnostic::error(
                    Kind::Format,
                    "the segment's bytes run past the end of the file",
                )
                .expected(
                    format!("at most 0x{:x}", source.size()),
                    format!("0x{:x} + 0x{:x}", segment.offset, segment.file_size),
                )
                .within(label("p_offset"))
                .at(at),
            );
        }
        if !segment.is_load() {
            continue;
        }
        if segment.file_size > segment.memory_size {
            findings.push(
                Diagnostic::error(
                    Kind::Format,
                    "the segment has more bytes in the file than in memory",
                )
                .expected(
                    format!("at most 0x{:x}", segment.memory_size),
                    format!("0x{:x}", segment.file_size),
                )
                .within(label("p_filesz"))
                .at(at),
            );
        }
        if segment.align > 1 && !segment.align.is_power_of_two() {
            findings.push(
                Diagnostic::error(Kind::Format, "the alignment is not a power of two")
                    .expected("a power of two", segment.align)
                    .within(label("p_align"))
                    .at(at),
            );
        } else if segment.align > 1
            && segment.virtual_address != 0
            && segment.virtual_address % segment.align != segment.offset % segment.align
        {
            findings.push(
                Diagnostic::warning(
                    Kind::Format,
                    "address and file offset differ modulo the alignment",
                )
                .expected(
                    format!("0x{:x}", segment.virtual_address % segment.align),
                    format!("0x{:x}", segment.offset % segment.align),
                )
                .within(label("p_offset"))
                .at(at),
            );
        }
    }
}
