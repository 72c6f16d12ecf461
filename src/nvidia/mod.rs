//! NVIDIA's floor: cubins, the ELF files with the code of one GPU architecture.
//!
//! [`DIALECT`] is what cubins add to ELF. [`Cubin`] is what a cubin says as a whole, [`Kernel`] what it
//! says about a function; [`Attribute`] is one of the statements of `.nv.info` that most of it comes from.

pub mod attribute;
pub mod bank0;
pub mod callgraph;
pub mod check;
pub mod code;
pub mod coredump;
pub mod cubin;
pub mod gpfifo;
pub mod info;
pub mod kernel;
mod launch;
pub mod methods;
pub mod note;
pub mod occupancy;
pub mod ptx;
pub mod pushbuffer;
pub mod qmd;
mod record;
pub mod runs;
pub mod tables;
mod unloaded;

pub use attribute::{Attribute, Attributes};
pub use callgraph::{CallGraph, CallStack};
pub use check::Check;
pub use code::Code;
pub use coredump::Coredump;
pub use cubin::{Cubin, target_of};
pub use kernel::{Bank, Callee, InnerFunction, Kernel, Parameter};

use crate::elf::map::Role;
use crate::elf::{self, Dialect, Header, Section};
use crate::record::Layout;

/// `e_machine` of cubins.
pub const EM_CUDA: u16 = 190;

/// `EI_OSABI` of the layout that CUDA 13 writes for every GPU, and 12.8 and 12.9 from sm_100 on.
const OS_ABI_NEW: u8 = 0x41;

/// Code offsets of `.text` sections in the image are multiples of this.
const SECTION_ALIGN: u64 = 128;
/// Instruction prefetch reads past the code: the image is rounded up to pages, and one page follows.
const PAGE: u64 = 4096;

/// What cubins add to ELF.
pub static DIALECT: Dialect = Dialect {
    os_abis: &tables::OS_ABI,
    file_types: &tables::FILE_TYPE,
    section_types: &tables::SECTION_TYPE,
    no_bits: NO_BITS,
    linked_to_symbols: LINKED_TO_SYMBOLS,
    symbol_tables: SYMBOL_TABLES,
    relocation_tables: RELOCATION_TABLES,
    section_flags: &tables::SECTION_FLAGS,
    symbol_types: &tables::SYMBOL_TYPE,
    special_sections: &crate::elf::dialect::NO_NAMES,
    relocation_types: &tables::RELOCATION,
    note_types: &[("NVIDIA Corp", &tables::NOTE_TYPE)],
    flags: Some(flags),
    section: Some(section),
    other: Some(&tables::SYMBOL_OTHER),
    relocation_bits: &tables::RELOCATION_BITS,
    loaded: LOADED,
    loads_implicit_addends: true,
    banks: Some(".nv.constant"),
    roles: ROLES,
    version: Some(version),
    not_held: Some(".nv.shared."),
    // Mercury's copies of constants and data are those of the code beside them.
    shares: Some(".nv.merc."),
    image_alignment: SECTION_ALIGN,
    image_multiple: PAGE,
    image_tail: PAGE,
    // What the 49-bit virtual addresses of GPUs before Hopper reach, less the last page.
    image_limit: (1 << 49) - PAGE,
    has_loader: true,
};

/// `R_CUDA_64`, `R_CUDA_ABS32_LO_32`, `R_CUDA_ABS32_HI_32`. The bits that they write are whole bytes: 8 at `r_offset`,
/// 4 that lie 4 past it.
const LOADED: &[u32] = &[0x02, 0x38, 0x39];

/// Relocatable cubins have types of their own for memory that is not initialised: `SHT_CUDA_GLOBAL`,
/// `SHT_CUDA_LOCAL`, `SHT_CUDA_SHARED`, `SHT_CUDA_RESERVED_SHARED`. `sh_offset` is where the next section begins.
const NO_BITS: &[u32] = &[0x7000_0007, 0x7000_0009, 0x7000_000a, 0x7000_0015];

/// `SHT_RELA`, `SHT_REL`, and the sections with attributes, calls and prototypes.
const LINKED_TO_SYMBOLS: &[u32] = &[4, 9, record::INFO, record::CALLGRAPH, record::PROTOTYPE];

/// The symbol table of Mercury sections.
const SYMBOL_TABLES: &[u32] = &[0x7000_0085];

/// What nvlink has resolved and keeps (`SHT_CUDA_RESOLVED_RELA`), relocations of Mercury sections, and those of them that it
/// has resolved and keeps.
const RELOCATION_TABLES: &[u32] = &[0x7000_0003, 0x7000_0082, 0x7000_0088];

const ROLES: &[(&str, Role)] = &[
    (".nv.info", Role::Info),
    (".nv.compat", Role::Info),
    (".nv.callgraph", Role::Info),
    (".nv.prototype", Role::Info),
    (".nv.rel.action", Role::Info),
    (".nv.resolvedrela", Role::Symbols),
    (".nv.metadata", Role::Info),
    (".nv.uft", Role::Info),
    (".nv.uidx", Role::Info),
    (".nv.merc.nv.info", Role::Info),
    (".nv.merc.nv.callgraph", Role::Info),
    (".nv.merc.nv.prototype", Role::Info),
    (".nv.merc.symtab", Role::Symbols),
    (".nv.merc.rela", Role::Symbols),
    (".nv.merc.nv.resolvedrela", Role::Symbols),
    (".nv.merc.debug", Role::Debug),
    (".nv.merc.nv_debug", Role::Debug),
    (".nv.merc.text", Role::Code),
    (".nv.capmerc", Role::Code),
    (".nv", Role::Data), // constants, variables, and what Mercury keeps of them
    (".text", Role::Code),
    (".note", Role::Note),
    (".debug", Role::Debug),
];

/// Whether the header has the layout of CUDA 13. `EI_OSABI` decides; `EI_ABIVERSION` does not.
fn is_new(header: &Header) -> bool {
    header.os_abi == OS_ABI_NEW
}

fn flags(header: &Header) -> &'static Layout {
    if is_new(header) {
        &tables::E_FLAGS_41
    } else {
        &tables::E_FLAGS_33
    }
}

fn section(header: &Header, section: &Section) -> Option<&'static Layout> {
    let is_code = section.name.starts_with(kernel::CODE);
    (is_code && header.class == elf::Class::Elf64).then_some(&tables::TEXT_SECTION)
}

/// The toolkit stands in `e_version` of the old layout; the new one has the format's version there.
fn version(header: &Header) -> String {
    match header.e_version {
        1 => "EV_CURRENT".into(),
        version if !is_new(header) => format!("CUDA {}", toolkit(version)),
        version => format!("version {version}"),
    }
}

/// A toolkit's version, which is stored times ten.
fn toolkit(version: u32) -> String {
    format!("{}.{}", version / 10, version % 10)
}
