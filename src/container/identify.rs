//! What a file is, by its content and never by its name.

use object::elf::FileHeader64;
use object::{LittleEndian, U16, U64};
use serde::Serialize;

use super::macho;
use crate::amdgpu;
use crate::elf::Header;
use crate::elf::header::is_elf;
use crate::nvidia;
use crate::source::Source;
use crate::span::Span;
use crate::zstd;

const LE: LittleEndian = LittleEndian;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the names say it
pub enum Format {
    Cubin,
    CudaCoredump,
    Amdgpu,
    Elf,
    Pe,
    Macho,
    Fatbin,
    OffloadBundle,
    OffloadBinary,
    Archive,
    Zip,
    Tar,
    Gzip,
    Zstd,
    Ptx,
    LlvmBitcode,
    Nvvm,
    TileIr,
    Spirv,
    Qmd,
    Pushbuffer,
    Gpfifo,
    Aql,
    Unknown,
}

impl Format {
    /// Its word in what is handed out.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cubin => "cubin",
            Self::CudaCoredump => "cuda_coredump",
            Self::Amdgpu => "amdgpu",
            Self::Elf => "elf",
            Self::Pe => "pe",
            Self::Macho => "macho",
            Self::Fatbin => "fatbin",
            Self::OffloadBundle => "offload_bundle",
            Self::OffloadBinary => "offload_binary",
            Self::Archive => "archive",
            Self::Zip => "zip",
            Self::Tar => "tar",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Ptx => "ptx",
            Self::LlvmBitcode => "llvm_bitcode",
            Self::Nvvm => "nvvm",
            Self::TileIr => "tile_ir",
            Self::Spirv => "spirv",
            Self::Qmd => "qmd",
            Self::Pushbuffer => "pushbuffer",
            Self::Gpfifo => "gpfifo",
            Self::Aql => "aql",
            Self::Unknown => "unknown",
        }
    }

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Cubin => "NVIDIA cubin",
            Self::CudaCoredump => "CUDA core dump",
            Self::Amdgpu => "AMD code object",
            Self::Elf => "ELF",
            Self::Pe => "PE program or library",
            Self::Macho => "Mach-O program or library",
            Self::Fatbin => "CUDA fatbin",
            Self::OffloadBundle => "Clang offload bundle",
            Self::OffloadBinary => "LLVM offload binary",
            Self::Archive => "archive",
            Self::Zip => "zip package or wheel",
            Self::Tar => "tar archive",
            Self::Gzip => "gzip file",
            Self::Zstd => "zstd file",
            Self::Ptx => "PTX",
            Self::LlvmBitcode => "LLVM bitcode",
            Self::Nvvm => "NVVM for link-time optimisation",
            Self::TileIr => "CUDA Tile IR",
            Self::Spirv => "SPIR-V module",
            Self::Qmd => "NVIDIA launch descriptor (QMD)",
            Self::Pushbuffer => "NVIDIA pushbuffer",
            Self::Gpfifo => "NVIDIA GPFIFO entries",
            Self::Aql => "AQL packets",
            Self::Unknown => "unknown format",
        }
    }
}

/// First bytes of formats, from their public descriptions; longer ones first where one begins as
/// another.
const MAGICS: &[(&[u8], Format)] = &[
    (b"__CLANG_OFFLOAD_BUNDLE__", Format::OffloadBundle),
    (b"CCOB", Format::OffloadBundle),
    (b"\x10\xff\x10\xad", Format::OffloadBinary),
    (b"\x50\xed\x55\xba", Format::Fatbin),
    (b"\xb1\x43\x62\x46", Format::Fatbin),
    (b"!<arch>\n", Format::Archive),
    (b"!<thin>\n", Format::Archive),
    (b"PK\x03\x04", Format::Zip),
    (b"PK\x05\x06", Format::Zip),
    (b"\x1f\x8b\x08", Format::Gzip),
    (b"BC\xc0\xde", Format::LlvmBitcode),
    (b"\x03\x02\x23\x07", Format::Spirv),
    (b"\xcf\xfa\xed\xfe", Format::Macho),
    (b"\xce\xfa\xed\xfe", Format::Macho),
    (b"MZ", Format::Pe),
];

/// Where the magic of a tar archive is.
const TAR_MAGIC: std::ops::Range<usize> = 257..262;

/// Bytes that [`identify`] looks at.
pub const START: u64 = 1024;

/// What a file is that begins with `start`.
pub fn identify(start: &[u8]) -> Format {
    if is_elf(start) {
        let number = |at: usize| {
            let bytes = start.get(at..at + 2)?;
            Some(u16::from_le_bytes([bytes[0], bytes[1]]))
        };
        return match number(18) {
            Some(nvidia::EM_CUDA) if number(16) == Some(nvidia::coredump::ET_CORE) => {
                Format::CudaCoredump
            }
            Some(nvidia::EM_CUDA) => Format::Cubin,
            Some(amdgpu::EM_AMDGPU) => Format::Amdgpu,
            _ => Format::Elf,
        };
    }
    let magic = MAGICS.iter().find(|(magic, _)| start.starts_with(magic));
    match magic {
        Some((_, format)) => *format,
        None if zstd::begins(start) => Format::Zstd,
        None if macho::is_universal(start) => Format::Macho,
        None if start.get(TAR_MAGIC) == Some(b"ustar") => Format::Tar,
        None if is_ptx(start) => Format::Ptx,
        None => Format::Unknown,
    }
}

/// Whether `.version` is the first that is not a comment: "PTX ISA", PTX Module Directives.
fn is_ptx(start: &[u8]) -> bool {
    let mut rest = start.trim_ascii_start();
    while let Some(after) = rest.strip_prefix(b"//") {
        let Some(end) = after.iter().position(|&byte| byte == b'\n') else {
            return false;
        };
        rest = after[end..].trim_ascii_start();
    }
    rest.starts_with(b".version ") || rest.starts_with(b".version\t")
}

/// Whether files of `format` hold others.
pub fn is_container(format: Format) -> bool {
    use Format::*;
    matches!(
        format,
        Fatbin
            | OffloadBundle
            | OffloadBinary
            | Archive
            | Zip
            | Tar
            | Gzip
            | Zstd
            | Elf
            | CudaCoredump
            | Pe
            | Macho
    )
}

/// Whether the first bytes of a file of `format` tell that it is one.
pub fn has_magic(format: Format) -> bool {
    !matches!(format, Format::Ptx | Format::Nvvm | Format::TileIr)
}

/// What a file of `format` that begins with `start` runs on, as far as its header says it.
pub fn target(format: Format, start: &[u8]) -> Option<String> {
    let header = || Header::read(&Source::memory(start)).ok();
    match format {
        Format::Cubin => Some(nvidia::target_of(&header()?)),
        Format::Amdgpu => Some(amdgpu::Target::from_header(&header()?)?.to_string()),
        _ => None,
    }
}

/// Whether a file of `format` that begins with `start` is GPU code that is still to be linked.
pub fn is_relocatable(format: Format, start: &[u8]) -> bool {
    // e_type: ET_REL.
    matches!(format, Format::Cubin | Format::Amdgpu) && start.get(16..18) == Some(&[1, 0])
}

/// How long a file of `format` is that `source` has the bytes of, perhaps with padding behind it. Cubins end with their program
/// headers; PTX is text, whose NUL is not a part of it.
pub fn length(format: Format, source: &Source) -> u64 {
    let size = source.size();
    match format {
        Format::Cubin | Format::Amdgpu => {
            let header = source.read_up_to(0, 64).unwrap_or_default();
            let Ok(raw) = object::pod::from_bytes::<FileHeader64<LittleEndian>>(&header) else {
                return size;
            };
            let raw = raw.0;
            let end =
                |at: U64<LittleEndian>, entry: U16<LittleEndian>, count: U16<LittleEndian>| {
                    let table = u64::from(entry.get(LE)) * u64::from(count.get(LE));
                    at.get(LE).saturating_add(table)
                };
            let sections = end(raw.e_shoff, raw.e_shentsize, raw.e_shnum);
            let segments = end(raw.e_phoff, raw.e_phentsize, raw.e_phnum);
            let end = sections.max(segments);
            // Padding takes a file to a multiple of 8; whatever else follows is a part of it.
            if end < size && size - end < 8 {
                end
            } else {
                size
            }
        }
        Format::Ptx => {
            let last = Span::new(size.saturating_sub(16), size.min(16));
            let last = source.read(last).unwrap_or_default();
            let nuls = last.iter().rev().take_while(|&&byte| byte == 0).count();
            size - nuls as u64
        }
        _ => size,
    }
}
