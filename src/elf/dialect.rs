//! What a machine's ABI adds to ELF: names, and the few rules that differ. Data, so that this floor
//! need not know the machines above it.

use super::map::Role;
use super::{Header, Section, tables};
use crate::error::Kind;
use crate::record::{Layout, Names};

/// What a machine's ABI adds to ELF.
#[derive(Debug)]
pub struct Dialect {
    /// Names of `EI_OSABI` in the machine's files, where one number stands for several ABIs.
    pub os_abis: &'static Names,
    /// Names of `e_type` beyond the generic ones.
    pub file_types: &'static Names,
    /// Names of `sh_type` beyond the generic ones.
    pub section_types: &'static Names,
    /// Types of sections that have no bytes in the file, as `SHT_NOBITS`.
    pub no_bits: &'static [u32],
    /// Types of sections whose `sh_link` must be a symbol table, in files of tools that are known to get it wrong.
    pub linked_to_symbols: &'static [u32],
    /// Types of further sections with entries of `SHT_SYMTAB`, for which no loader looks.
    pub symbol_tables: &'static [u32],
    /// Types of further sections with entries of `SHT_RELA`, which no loader applies.
    pub relocation_tables: &'static [u32],
    /// Names of bits of `sh_flags` beyond the generic ones.
    pub section_flags: &'static Names,
    /// Names of symbol types beyond the generic ones.
    pub symbol_types: &'static Names,
    /// Names of special section indices beyond the generic ones.
    pub special_sections: &'static Names,
    /// Names of relocation types.
    pub relocation_types: &'static Names,
    /// Names of note types, by who defines them.
    pub note_types: &'static [(&'static str, &'static Names)],
    /// The parts of `e_flags`, which can depend on the rest of the header.
    pub flags: Option<fn(&Header) -> &'static Layout>,
    /// The layout of a section's header where some of its fields carry more than the format has them for.
    pub section: Option<fn(&Header, &Section) -> Option<&'static Layout>>,
    /// The parts of `st_other`.
    pub other: Option<&'static Layout>,
    /// How relocation types write, as far as that is known, in the words of [`super::patch::Form`]: an implicit addend
    /// lies in the same bits.
    pub relocation_bits: &'static Names,
    /// The relocation types that the reference ABI's loader applies.
    pub loaded: &'static [u32],
    /// Whether it takes addends from the patched bytes, where an entry has none.
    pub loads_implicit_addends: bool,
    /// The beginning of the names of sections that are constant banks; the bank's number follows.
    pub banks: Option<&'static str>,
    /// Roles of sections by the beginning of their names; the first that fits counts.
    pub roles: &'static [(&'static str, Role)],
    /// What `e_version` says where it carries something else than the format's version.
    pub version: Option<fn(&Header) -> String>,
    /// Sections whose names begin so are not held by the image.
    pub not_held: Option<&'static str>,
    /// Sections whose names begin so share bytes of the file with others on purpose; a loader refuses it all the same.
    pub shares: Option<&'static str>,
    /// The least alignment of sections that follow each other in the image.
    pub image_alignment: u64,
    /// The image's size is rounded up to a multiple of this …
    pub image_multiple: u64,
    /// … and this much is added.
    pub image_tail: u64,
    /// What a loader refuses images past; `u64::MAX` where nothing is known.
    pub image_limit: u64,
    /// Whether a device loader reads the file, which refuses more than the format does.
    pub has_loader: bool,
}

impl Dialect {
    /// Whose rule a mistake in the layout breaks: a device's loader refuses it, elsewhere it is the format's.
    pub fn rule(&self) -> Kind {
        if self.has_loader {
            Kind::Loader
        } else {
            Kind::Format
        }
    }
}

/// No names.
pub static NO_NAMES: Names = Names::packed("");

/// Plain ELF, as for machines that nothing is known of.
pub static GENERIC: Dialect = Dialect {
    os_abis: &NO_NAMES,
    file_types: &NO_NAMES,
    section_types: &NO_NAMES,
    no_bits: &[],
    linked_to_symbols: &[],
    symbol_tables: &[],
    relocation_tables: &[],
    section_flags: &NO_NAMES,
    symbol_types: &NO_NAMES,
    special_sections: &NO_NAMES,
    relocation_types: &NO_NAMES,
    note_types: &[],
    flags: None,
    section: None,
    other: None,
    relocation_bits: &NO_NAMES,
    loaded: &[],
    loads_implicit_addends: false,
    banks: None,
    roles: &[],
    version: None,
    not_held: None,
    shares: None,
    image_alignment: 1,
    image_multiple: 1,
    image_tail: 0,
    image_limit: u64::MAX,
    has_loader: false,
};

/// What the machine of a host's programs and libraries adds to ELF.
pub fn of_host(machine: u16) -> &'static Dialect {
    match machine {
        3 => &I386,
        62 => &X86_64,
        183 => &AARCH64,
        _ => &GENERIC,
    }
}

static I386: Dialect = Dialect {
    relocation_types: &tables::R_386,
    ..GENERIC
};

static X86_64: Dialect = Dialect {
    section_types: &tables::SECTION_TYPE_X86_64,
    section_flags: &tables::SECTION_FLAGS_X86_64,
    relocation_types: &tables::R_X86_64,
    ..GENERIC
};

static AARCH64: Dialect = Dialect {
    relocation_types: &tables::R_AARCH64,
    ..GENERIC
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_names_for_their_relocations() {
        // llvm-readelf 22 prints these of calls in objects of clang 22.
        let name = |machine, kind| of_host(machine).relocation_types.name(kind);
        assert_eq!(name(3, 4), Some("R_386_PLT32"));
        assert_eq!(name(62, 4), Some("R_X86_64_PLT32"));
        assert_eq!(name(183, 283), Some("R_AARCH64_CALL26"));
        assert_eq!(name(2, 1), None);
    }
}
