//! AMD code objects: what an ELF file for an AMD GPU says beyond ELF.
//!
//! [`CodeObject::open`] reads the target, the metadata and the kernels of a file that
//! [`crate::elf::Elf`] has opened with [`DIALECT`].

pub mod aql;
pub mod argument;
mod check;
pub mod code;
pub mod code_object;
pub mod directives;
mod disagreement;
pub mod initial;
pub mod kernarg;
pub mod kernel;
mod launch;
pub mod metadata;
pub mod msgpack;
pub mod occupancy;
pub mod printf;
pub mod processor;
mod record;
pub mod registers;
mod resident;
pub mod runs;
pub mod schema;
pub mod tables;
pub mod target;
pub mod tree;
pub mod value;
mod yaml;
pub mod zero;

pub use code::Code;
pub use code_object::CodeObject;
pub use directives::Directives;
pub use kernel::Kernel;
pub use metadata::Metadata;
pub use occupancy::Occupancy;
pub use processor::Processor;
pub use target::Target;

use crate::elf::map::Role;
use crate::elf::{Dialect, Header, dialect};
use crate::record::Layout;

/// `e_machine` of code objects.
pub const EM_AMDGPU: u16 = 224;

/// What AMD's ABI adds to ELF.
pub static DIALECT: Dialect = Dialect {
    os_abis: &tables::OS_ABI,
    symbol_types: &tables::SYMBOL_TYPE,
    special_sections: &tables::SPECIAL_SECTION,
    relocation_types: &tables::RELOCATION,
    note_types: &[
        ("AMD", &tables::NOTE_TYPE_AMD),
        ("AMDGPU", &tables::NOTE_TYPE_AMDGPU),
    ],
    relocation_bits: &tables::RELOCATION_BITS,
    // `R_AMDGPU_REL64`.
    loaded: &[5],
    flags: Some(flags),
    roles: &[(".AMDGPU.", Role::Info)],
    image_multiple: 4,
    image_limit: 1 << 48,
    has_loader: true,
    ..dialect::GENERIC
};

/// The layout of `e_flags`. Files for other systems than HSA write them as V3 does, or later
/// versions, by the same ABI version: llvm-readelf 22 reads them so.
fn flags(header: &Header) -> &'static Layout {
    match (target::version(header), header.abi_version) {
        (Some(2), _) => &tables::E_FLAGS_V2,
        (_, 0 | 1) => &tables::E_FLAGS_V3,
        (_, 2 | 3) => &tables::E_FLAGS_V4,
        _ => &tables::E_FLAGS_V6,
    }
}
