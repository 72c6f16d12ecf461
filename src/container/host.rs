//! Programs, libraries and object files for hosts that carry GPU code in sections of their own.

use object::elf::{FileHeader32, FileHeader64, SHT_NOBITS, SectionType};
use object::read::elf::{FileHeader, SectionHeader};
use object::{LittleEndian, ReadRef};

use super::reader::{Read, Reader, Shape, u16, u32};
use super::tables::{PE_DOS_HEADER, PE_FILE_HEADER, PE_SECTION_HEADER};
use super::{Member, MemberKind, bundle, fatbin, offload};
use crate::elf::Elf;
use crate::elf::map::Role;
use crate::record;
use crate::span::Span;

/// What a section carries.
#[derive(Clone, Copy)]
enum Carries {
    Fatbins,
    FatbinWrappers,
    Bundles,
    BundleWrappers,
    OffloadBinaries,
}

/// Sections that carry GPU code. Names in a PE image have 8 bytes at most; those of Mach-O have their segment's before them, as in
/// LLVM's clang/lib/CodeGen/CGCUDANV.cpp and llvm/lib/Frontend/Offloading/OffloadWrapper.cpp.
const SECTIONS: &[(&str, Carries)] = &[
    (".nv_fatbin", Carries::Fatbins),
    (".cu_fatbin", Carries::Fatbins),
    ("__nv_relfatbin", Carries::Fatbins),
    (".nv_relfatbin", Carries::Fatbins),
    (".nv_fatb", Carries::Fatbins),
    ("__nv_rel", Carries::Fatbins),
    (".nv_relf", Carries::Fatbins),
    (".nvFatBinSegment", Carries::FatbinWrappers),
    (".nvFatBi", Carries::FatbinWrappers),
    (".hip_fatbin", Carries::Bundles),
    (".hip_fat", Carries::Bundles),
    (".hipFatBinSegment", Carries::BundleWrappers),
    (".hipFatB", Carries::BundleWrappers),
    (".llvm.offloading", Carries::OffloadBinaries),
    (".llvm.of", Carries::OffloadBinaries),
    ("__NV_CUDA,__nv_fatbin", Carries::Fatbins),
    ("__NV_CUDA,__nv_relfatbin", Carries::Fatbins),
    ("__NV_CUDA,__fatbin", Carries::FatbinWrappers),
    ("__HIP,__hip_fatbin", Carries::Bundles),
    ("__HIP,__fatbin", Carries::BundleWrappers),
];

/// What sections are called that are an entry of a bundle each: object files of clang for relocatable device code.
const BUNDLE_ENTRY: &str = "__CLANG_OFFLOAD_BUNDLE__";

/// How sections of core dumps are called that are a module each, as it was and with its addresses: `cudacoredump.h` of cuda-gdb.
const MODULES: &[(&str, &str)] = &[
    (".cudbg.elfimg.", "cubin"),
    (".cudbg.relfimg.", "relocated cubin"),
];

/// Bytes of wrappers.
const WRAPPER: u64 = 24;
/// `SHT_LLVM_OFFLOADING` of LLVM.
const SHT_LLVM_OFFLOADING: SectionType = SectionType(0x6fff_4c0b);
/// Sections of a member that are looked at, at most, and bytes of their names.
const SECTION_LIMIT: u64 = 1 << 16;
const NAMES_LIMIT: u64 = 4 << 20;

static DOS_HEADER: Shape = Shape {
    title: "DOS header",
    role: Role::Header,
    read: Read::Layout(&PE_DOS_HEADER),
};
static FILE_HEADER: Shape = Shape {
    title: "PE file header",
    role: Role::Header,
    read: Read::Layout(&PE_FILE_HEADER),
};
static SECTION_HEADER: Shape = Shape {
    title: "PE section header",
    role: Role::Header,
    read: Read::Layout(&PE_SECTION_HEADER),
};

impl Reader<'_> {
    /// Reads the sections of an ELF file that is open.
    pub fn sections_of(&mut self, elf: &Elf) {
        for section in &elf.sections {
            let header = elf
                .section_table
                .map(|table| table.entry(section.index.into()));
            let span = elf.stored(section);
            let is_offloading = section.kind == SHT_LLVM_OFFLOADING.0;
            self.section(
                &section.name,
                is_offloading,
                header.unwrap_or_default(),
                span,
                None,
            );
        }
    }

    /// Reads the section called `name`, whose bytes are `span`, if it carries GPU code.
    pub fn section(
        &mut self,
        name: &str,
        is_offloading: bool,
        header: Span,
        span: Span,
        parent: Option<u32>,
    ) {
        if let Some(id) = name.strip_prefix(BUNDLE_ENTRY) {
            let mut member = Member::new(id, header, span);
            bundle::describe(self, &mut member);
            self.member(parent, member);
            return;
        }
        if let Some((_, kind)) = MODULES.iter().find(|(start, _)| name.starts_with(start)) {
            let mut member = Member::new(name, header, span);
            member.kind = MemberKind::Word((*kind).into());
            self.identify(&mut member);
            self.member(parent, member);
            return;
        }
        let known = SECTIONS.iter().find(|(known, _)| *known == name);
        let carries = match known {
            Some((_, carries)) => *carries,
            None if is_offloading => Carries::OffloadBinaries,
            None => return,
        };
        match carries {
            Carries::Fatbins => fatbin::read(self, span, parent, Some(name)),
            Carries::Bundles => bundle::read(self, span, parent, Some(name)),
            Carries::OffloadBinaries => offload::read(self, span, parent, Some(name)),
            Carries::FatbinWrappers => self.wrappers(span, fatbin::WRAPPER_MAGIC, &fatbin::WRAPPER),
            Carries::BundleWrappers => self.wrappers(span, bundle::WRAPPER_MAGIC, &bundle::WRAPPER),
        }
    }

    /// Adds the wrappers in `span`: as far as they have their magic.
    fn wrappers(&mut self, span: Span, magic: [u8; 4], shape: &'static Shape) {
        let mut at = span.offset;
        while at.saturating_add(WRAPPER) <= span.end() {
            let wrapper = Span::new(at, WRAPPER);
            let found = self.peek(wrapper, 4);
            if found != magic {
                // What aligns the section's end.
                if found == [0; 4] {
                    return;
                }
                let expected = u32::from_le_bytes(magic);
                let message = format!("expected the magic 0x{expected:x} of a wrapper");
                self.error(at, "wrappers", message);
                return;
            }
            self.structure(wrapper, shape);
            at += WRAPPER;
        }
    }
}

/// Reads the sections of an ELF file that is a member: what its headers need and no more.
pub(super) fn elf(reader: &mut Reader<'_>, span: Span, parent: Option<u32>) {
    let ident = reader.peek(span, 6);
    // Big-endian files are for other hosts.
    if ident.get(5) != Some(&1) {
        return;
    }
    let sections = match ident.get(4) {
        Some(1) => elf_sections::<FileHeader32<LittleEndian>>(reader, span),
        _ => elf_sections::<FileHeader64<LittleEndian>>(reader, span),
    };
    let Some(sections) = sections else {
        reader.error(
            span.offset,
            "ELF file",
            "its section headers cannot be read",
        );
        return;
    };
    for section in sections {
        let place = Span::new(span.offset + section.span.offset, section.span.size);
        let header = Span::new(span.offset + section.header.offset, section.header.size);
        reader.section(&section.name, section.is_offloading, header, place, parent);
    }
}

/// A section of a member, in its own coordinates.
struct Section {
    name: String,
    is_offloading: bool,
    header: Span,
    span: Span,
}

/// The sections of the ELF file at `span` that have bytes; none where there are no section headers.
fn elf_sections<H: FileHeader<Endian = LittleEndian>>(
    reader: &Reader<'_>,
    span: Span,
) -> Option<Vec<Section>> {
    let part = |at: u64, size: u64| {
        let inner = Span::new(at, size);
        let place = Span::new(span.offset.checked_add(at)?, size);
        let is_there = inner.within(span.size) && size <= NAMES_LIMIT.max(SECTION_LIMIT * 64);
        let bytes = is_there.then(|| reader.peek(place, size))?;
        (bytes.len() as u64 == size).then_some(bytes)
    };
    let endian = LittleEndian;
    let header = part(0, size_of::<H>() as u64)?;
    let header: &H = header.as_slice().read_at(0).ok()?;
    let offset: u64 = header.e_shoff(endian).into();
    let size = u64::from(header.e_shentsize(endian));
    if offset == 0 {
        return Some(Vec::new());
    }
    if size != size_of::<H::SectionHeader>() as u64 {
        return None;
    }
    let first = part(offset, size)?;
    let first: &H::SectionHeader = first.as_slice().read_at(0).ok()?;
    // Section 0 has the numbers that the header has no room for.
    let count = match header.e_shnum(endian) {
        0 => first.sh_size(endian).into(),
        count => count.into(),
    };
    let names: u64 = match header.e_shstrndx(endian) {
        object::elf::SHN_XINDEX => first.sh_link(endian).into(),
        index => index.0.into(),
    };
    let count = count.min(SECTION_LIMIT);
    let table = part(offset, count.checked_mul(size)?)?;
    let headers: &[H::SectionHeader] = table.as_slice().read_slice_at(0, count as usize).ok()?;
    let names = headers.get(usize::try_from(names).ok()?)?;
    let names = part(names.sh_offset(endian).into(), names.sh_size(endian).into())?;
    let sections = (0..).zip(headers);
    let sections = sections.filter(|(_, section)| section.sh_type(endian) != SHT_NOBITS);
    let sections = sections.map(|(i, section)| {
        let name = names
            .get(section.sh_name(endian) as usize..)
            .unwrap_or_default();
        let end = name
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(name.len());
        let stored = Span::new(
            section.sh_offset(endian).into(),
            section.sh_size(endian).into(),
        );
        Section {
            name: record::text(&name[..end]),
            is_offloading: section.sh_type(endian) == SHT_LLVM_OFFLOADING,
            header: Span::new(offset + i * size, size),
            span: stored.clamp(span.size),
        }
    });
    Some(sections.collect())
}

/// Reads the sections of a PE image.
pub(super) fn pe(reader: &mut Reader<'_>, span: Span, parent: Option<u32>) {
    let dos = Span::new(span.offset, PE_DOS_HEADER.bytes.into());
    let bytes = reader.peek(span, dos.size);
    if (bytes.len() as u64) < dos.size {
        reader.error(span.offset, "DOS header", "the file ends within the header");
        return;
    }
    reader.structure(dos, &DOS_HEADER);
    let at = u32(&bytes, 60);
    let header = Span::new(span.offset.saturating_add(at), PE_FILE_HEADER.bytes.into());
    let bytes = reader.peek(header, header.size);
    if !header.within(span.end()) || !bytes.starts_with(b"PE\0\0") {
        let message = format!("no PE header at 0x{at:x}");
        reader.error(span.offset + 60, "DOS header, e_lfanew", message);
        return;
    }
    reader.structure(header, &FILE_HEADER);
    let count = u16(&bytes, 6);
    let mut at = header.end() + u16(&bytes, 20);
    for i in 0..count {
        let header = Span::new(at, PE_SECTION_HEADER.bytes.into());
        let bytes = reader.peek(header, header.size);
        if !header.within(span.end()) || (bytes.len() as u64) < header.size {
            let message = format!("{count} sections run past the end of the file: {i} are there");
            reader.error(at, "PE section headers", message);
            return;
        }
        reader.structure(header, &SECTION_HEADER);
        let name = &bytes[..8];
        let end = name
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(name.len());
        // What is in the file is rounded up; of what is in memory the rest is zeros.
        let size = u32(&bytes, 16).min(match u32(&bytes, 8) {
            0 => u64::MAX,
            size => size,
        });
        let place = Span::new(u32(&bytes, 20), size);
        let place = Span::new(span.offset + place.offset, place.size).clamp(span.end());
        reader.section(&record::text(&name[..end]), false, header, place, parent);
        at = header.end();
    }
}
