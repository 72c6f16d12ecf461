//! What a file is, by its content and never by its name.

use serde::Serialize;

use crate::amdgpu;
use crate::elf::header::is_elf;
use crate::nvidia;

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
    Amdgpu,
    Elf,
    Pe,
    Macho,
    Fatbin,
    OffloadBundle,
    OffloadBinary,
    Archive,
    Zip,
    Gzip,
    Zstd,
    LlvmBitcode,
    Spirv,
    Qmd,
    Pushbuffer,
    Gpfifo,
    Aql,
    Unknown,
}

impl Format {
    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Cubin => "NVIDIA cubin",
            Self::Amdgpu => "AMD code object",
            Self::Elf => "ELF",
            Self::Pe => "PE program or library",
            Self::Macho => "Mach-O program or library",
            Self::Fatbin => "CUDA fatbin",
            Self::OffloadBundle => "Clang offload bundle",
            Self::OffloadBinary => "LLVM offload binary",
            Self::Archive => "archive",
            Self::Zip => "zip package or wheel",
            Self::Gzip => "gzip file",
            Self::Zstd => "zstd file",
            Self::LlvmBitcode => "LLVM bitcode",
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
    (b"\x1f\x8b\x08", Format::Gzip),
    (b"\x28\xb5\x2f\xfd", Format::Zstd),
    (b"BC\xc0\xde", Format::LlvmBitcode),
    (b"\x03\x02\x23\x07", Format::Spirv),
    (b"\xcf\xfa\xed\xfe", Format::Macho),
    (b"\xce\xfa\xed\xfe", Format::Macho),
    (b"MZ", Format::Pe),
];

/// Bytes that [`identify`] looks at.
pub const START: u64 = 64;

/// What a file is that begins with `start`.
pub fn identify(start: &[u8]) -> Format {
    if is_elf(start) {
        return match start.get(18..20).map(|m| u16::from_le_bytes([m[0], m[1]])) {
            Some(nvidia::EM_CUDA) => Format::Cubin,
            Some(amdgpu::EM_AMDGPU) => Format::Amdgpu,
            _ => Format::Elf,
        };
    }
    let magic = MAGICS.iter().find(|(magic, _)| start.starts_with(magic));
    magic.map_or(Format::Unknown, |(_, format)| *format)
}
