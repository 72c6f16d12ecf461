//! Section headers.

use object::LittleEndian;
use object::elf::{self, SectionHeader32, SectionHeader64};
use object::read::elf::SectionHeader;

use super::{Class, Dialect, Elf, LE, Strings, Table, headers, pod, tables};
use crate::error::{Diagnostic, Diagnostics, Kind, Severity};
use crate::source::Source;
use crate::span::Span;

/// A section header, as stored, with its name.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the fields are the format's own
pub struct Section {
    pub index: u32,
    /// Offset of the header in the file.
    pub header: u64,
    /// The name; empty where it cannot be read.
    pub name: String,
    pub name_offset: u32,
    pub kind: u32,
    pub flags: u64,
    pub address: u64,
    pub offset: u64,
    pub size: u64,
    pub link: u32,
    /// Index of the symbol table that it goes by: `sh_link`, or the file's only one where that names another section.
    pub symbols: u32,
    pub info: u32,
    pub align: u64,
    pub entry_size: u64,
    /// Whether its type is one of the machine's that have no bytes in the file.
    pub(super) no_bits: bool,
}

impl Section {
    fn from_raw<S: SectionHeader<Endian = LittleEndian>>(raw: &S, index: u32, at: u64) -> Self {
        Self {
            index,
            header: at,
            name: String::new(),
            name_offset: raw.sh_name(LE),
            kind: raw.sh_type(LE).0,
            flags: raw.sh_flags(LE).0,
            address: raw.sh_addr(LE).into(),
            offset: raw.sh_offset(LE).into(),
            size: raw.sh_size(LE).into(),
            link: raw.sh_link(LE),
            symbols: raw.sh_link(LE),
            info: raw.sh_info(LE),
            align: raw.sh_addralign(LE).into(),
            entry_size: raw.sh_entsize(LE).into(),
            no_bits: false,
        }
    }

    /// Whether it has bytes in the file.
    pub fn is_stored(&self) -> bool {
        self.kind != elf::SHT_NOBITS.0 && self.kind != elf::SHT_NULL.0 && !self.no_bits
    }

    /// Whether the program has it in memory.
    pub fn is_allocated(&self) -> bool {
        self.flags & elf::SHF_ALLOC.0 != 0
    }

    /// Its bytes in the file, as the header has them; empty where it has none.
    pub fn span(&self) -> Span {
        Span::new(self.offset, if self.is_stored() { self.size } else { 0 })
    }

    /// Whether it has relocations, whoever applies them.
    pub fn is_relocations(&self, dialect: &Dialect) -> bool {
        matches!(elf::SectionType(self.kind), elf::SHT_REL | elf::SHT_RELA)
            || dialect.relocation_tables.contains(&self.kind)
    }

    /// The name of its type.
    pub fn kind_name(&self, dialect: &Dialect) -> Option<&'static str> {
        let value = u64::from(self.kind);
        dialect
            .section_types
            .name(value)
            .or_else(|| tables::SECTION_TYPE.name(value))
    }

    /// The names of its flags.
    pub fn flag_names(&self, dialect: &Dialect) -> String {
        let (mut names, rest) = tables::SECTION_FLAGS.flags(self.flags);
        let (more, rest) = dialect.section_flags.flags(rest);
        names.extend(more);
        let mut text = names.join(" | ");
        if rest != 0 {
            let bar = if text.is_empty() { "" } else { " | " };
            text.push_str(&format!("{bar}0x{rest:x}"));
        }
        text
    }
}

pub(super) fn read(
    source: &Source,
    class: Class,
    table: Option<Table>,
    findings: &mut Diagnostics,
) -> Vec<Section> {
    headers(source, table, findings, |bytes, index, at| match class {
        Class::Elf32 => {
            pod(bytes).map(|raw: SectionHeader32<_>| Section::from_raw(&raw, index, at))
        }
        Class::Elf64 => {
            pod(bytes).map(|raw: SectionHeader64<_>| Section::from_raw(&raw, index, at))
        }
    })
}

/// Reads the names from section `names`. Together they may be as long as the file: a malformed one
/// can name every section by the same long string.
pub(super) fn name(
    source: &Source,
    sections: &mut [Section],
    names: u32,
    findings: &mut Diagnostics,
) {
    if sections.is_empty() {
        return;
    }
    let Some(table) = sections.get(names as usize) else {
        findings.push(
            Diagnostic::error(
                Kind::Format,
                "the section with the section names is missing",
            )
            .expected(format!("an index below {}", sections.len()), names)
            .within("ELF header, e_shstrndx"),
        );
        return;
    };
    if names == 0 {
        return; // SHN_UNDEF: sections have no names
    }
    if table.kind != elf::SHT_STRTAB.0 {
        findings.push(
            Diagnostic::warning(
                Kind::Format,
                "the section names are in a section of another type",
            )
            .expected("SHT_STRTAB (3)", table.kind)
            .within(format!("section {names}, sh_type"))
            .at(source.absolute(table.header + 4)),
        );
    }
    let span = table.span();
    let Some(strings) = findings.take(Strings::open(source, span)) else {
        return;
    };
    let mut room = source.size();
    for section in sections {
        let name = strings.get(u64::from(section.name_offset));
        let name =
            name.map_err(|error| error.within(|| format!("section {}, sh_name", section.index)));
        let Some(name) = findings.take(name) else {
            continue;
        };
        let Some(rest) = room.checked_sub(name.len() as u64) else {
            findings.push(
                Diagnostic::error(
                    Kind::Loader,
                    "the section names are together longer than the file; the rest is not shown",
                )
                .within(format!("section {}, sh_name", section.index))
                .at(source.absolute(section.header)),
            );
            return;
        };
        room = rest;
        section.name = String::from_utf8_lossy(name).into_owned();
    }
}

/// Finds the symbol table of sections that are linked to something else: ptxas 12.0 writes such cubins. Only one
/// can be meant where the file has no other. A loader goes by the link only for relocations of its image, which the
/// checks of these find.
pub(super) fn repair(
    source: &Source,
    sections: &mut [Section],
    class: Class,
    dialect: &Dialect,
    findings: &mut Diagnostics,
) {
    let mut tables = sections.iter().filter(|s| s.kind == elf::SHT_SYMTAB.0);
    let (Some(only), None) = (tables.next(), tables.next()) else {
        return;
    };
    let (only, name) = (only.index, only.name.clone());
    let mut wrong: Option<(u32, u64)> = None;
    for i in 0..sections.len() {
        let section = &sections[i];
        if !dialect.linked_to_symbols.contains(&section.kind) {
            continue;
        }
        let linked = sections.get(section.link as usize);
        let fits = |s: &Section| s.kind == elf::SHT_SYMTAB.0 || s.kind == elf::SHT_DYNSYM.0;
        if !linked.is_some_and(fits) {
            sections[i].symbols = only;
            wrong.get_or_insert((i as u32, 0)).1 += 1;
        }
    }
    if let Some((first, count)) = wrong {
        let section = &sections[first as usize];
        findings.push(
            Diagnostic::warning(
                Kind::Format,
                format!(
                    "sections are linked to others than the symbol table, which is taken ({count} of them)"
                ),
            )
            .expected(format!("{only} ({name})"), section.link)
            .within(format!("section {first} {}, sh_link", section.name))
            .at(source.absolute(section.header + class.choose(24, 40))),
        );
    }
}

/// What section `link` of a section of type `kind` must be.
fn link_rule(kind: u32) -> Option<&'static [elf::SectionType]> {
    const STRINGS: &[elf::SectionType] = &[elf::SHT_STRTAB];
    const SYMBOLS: &[elf::SectionType] = &[elf::SHT_SYMTAB, elf::SHT_DYNSYM];
    match elf::SectionType(kind) {
        elf::SHT_SYMTAB | elf::SHT_DYNSYM | elf::SHT_DYNAMIC => Some(STRINGS),
        elf::SHT_REL | elf::SHT_RELA | elf::SHT_HASH | elf::SHT_GNU_HASH | elf::SHT_GROUP => {
            Some(SYMBOLS)
        }
        _ => None,
    }
}

/// Bytes of an entry of a section of type `kind`; `None` where it is not a table of the format.
fn entry_size(kind: u32, class: Class, dialect: &Dialect) -> Option<u64> {
    let kind = match kind {
        kind if dialect.symbol_tables.contains(&kind) => elf::SHT_SYMTAB.0,
        kind if dialect.relocation_tables.contains(&kind) => elf::SHT_RELA.0,
        kind => kind,
    };
    match elf::SectionType(kind) {
        elf::SHT_SYMTAB | elf::SHT_DYNSYM => Some(class.choose(16, 24)),
        elf::SHT_REL => Some(class.choose(8, 16)),
        elf::SHT_RELA => Some(class.choose(12, 24)),
        elf::SHT_DYNAMIC => Some(class.choose(8, 16)),
        _ => None,
    }
}

/// The reference ABI's loader keeps numbers in 63 bits, one of which is the sign.
pub(super) const NUMBER_LIMIT: u64 = (1 << 62) - 1;

/// What is said of a number that a loader cannot hold.
pub(super) fn too_great(value: u64) -> Diagnostic {
    Diagnostic::error(Kind::Loader, "the number is greater than a loader accepts").expected(
        format!("at most 0x{NUMBER_LIMIT:x}"),
        format!("0x{value:x}"),
    )
}

pub(super) fn check(
    source: &Source,
    sections: &[Section],
    class: Class,
    dialect: &Dialect,
    findings: &mut Diagnostics,
) {
    let names: u32 = sections.len() as u32;
    // Where in the header the fields are, for pointing at them.
    let (at_offset, at_link, at_info, at_align, at_entry) =
        class.choose((16, 24, 28, 32, 36), (24, 40, 44, 48, 56));
    for section in sections {
        let label = |field: &str| {
            if section.name.is_empty() {
                format!("section {}, {field}", section.index)
            } else {
                format!("section {} {}, {field}", section.index, section.name)
            }
        };
        let at = |field: u64| source.absolute(section.header + field);
        // It reads all of a header, those of no section as well.
        if dialect.has_loader {
            for (field, value, place) in [
                ("sh_flags", section.flags, 8),
                ("sh_addr", section.address, 16),
                ("sh_offset", section.offset, 24),
                ("sh_size", section.size, 32),
                ("sh_addralign", section.align, 48),
                ("sh_entsize", section.entry_size, 56),
            ] {
                if value > NUMBER_LIMIT {
                    findings.push(too_great(value).within(label(field)).at(at(place)));
                }
            }
        }
        if section.kind == elf::SHT_NULL.0 {
            continue;
        }
        if !section.span().within(source.size()) {
            findings.push(
                Diagnostic::error(
                    Kind::Format,
                    "the section's bytes run past the end of the file",
                )
                .expected(
                    format!("at most 0x{:x}", source.size()),
                    format!("0x{:x} + 0x{:x}", section.offset, section.size),
                )
                .within(label("sh_offset"))
                .at(at(at_offset)),
            );
        }
        if section.align > 1 && !section.align.is_power_of_two() {
            findings.push(
                Diagnostic::error(Kind::Format, "the alignment is not a power of two")
                    .expected("a power of two", section.align)
                    .within(label("sh_addralign"))
                    .at(at(at_align)),
            );
        } else if section.align > 1 && section.address % section.align != 0 {
            findings.push(
                Diagnostic::error(
                    dialect.rule(),
                    "the address is not a multiple of the alignment",
                )
                .expected(
                    format!("a multiple of {}", section.align),
                    format!("0x{:x}", section.address),
                )
                .within(label("sh_addr"))
                .at(at(class.choose(12, 16))),
            );
        }
        if section.symbols != section.link {
            // Repaired, and found.
        } else if let Some(kinds) = link_rule(section.kind) {
            let linked = sections.get(section.link as usize);
            let fits = linked.is_some_and(|s| kinds.iter().any(|kind| kind.0 == s.kind));
            // Relocations without symbols need no table; a stripped file has none.
            let may_be_none = section.link == 0 && kinds.len() > 1;
            if !fits && !may_be_none {
                let found = linked.map_or("no such section".into(), |s| {
                    s.kind_name(dialect)
                        .map_or(format!("type 0x{:x}", s.kind), str::to_owned)
                });
                let wanted: Vec<_> = kinds
                    .iter()
                    .filter_map(|kind| tables::SECTION_TYPE.name(u64::from(kind.0)))
                    .collect();
                findings.push(
                    Diagnostic::error(Kind::Format, "the section is linked to a wrong one")
                        .expected(wanted.join(" or "), format!("{found} ({})", section.link))
                        .within(label("sh_link"))
                        .at(at(at_link)),
                );
            }
        } else if section.link >= names {
            findings.push(
                Diagnostic::warning(Kind::Format, "the section is linked to one that is missing")
                    .expected(format!("an index below {names}"), section.link)
                    .within(label("sh_link"))
                    .at(at(at_link)),
            );
        }
        if section.is_relocations(dialect) && section.info >= names {
            findings.push(
                Diagnostic::error(Kind::Format, "the section to be relocated is missing")
                    .expected(format!("an index below {names}"), section.info)
                    .within(label("sh_info"))
                    .at(at(at_info)),
            );
        }
        if let Some(size) = entry_size(section.kind, class, dialect) {
            if section.entry_size != size {
                findings.push(Diagnostic {
                    severity: if section.entry_size == 0 {
                        Severity::Warning
                    } else {
                        Severity::Error
                    },
                    ..Diagnostic::error(Kind::Format, "the entries' size is not the format's")
                        .expected(size, section.entry_size)
                        .within(label("sh_entsize"))
                        .at(at(at_entry))
                });
            }
            if section.is_stored() && section.size % size != 0 {
                findings.push(
                    Diagnostic::warning(Kind::Format, "the table ends within an entry")
                        .expected(format!("a multiple of {size}"), section.size)
                        .within(label("sh_size"))
                        .at(at(class.choose(20, 32))),
                );
            }
        }
    }
}

impl Elf {
    /// What `section` begins at for symbols and relocations: these count from it in files that are not linked yet, and are
    /// addresses in others.
    pub fn start_of(&self, section: &Section) -> u64 {
        match self.header.is_relocatable() {
            true => 0,
            false => section.address,
        }
    }

    /// The bytes of `section` that lie in the file.
    pub fn stored(&self, section: &Section) -> Span {
        section.span().clamp(self.source().size())
    }

    /// The bytes of `section` in the file from its byte `within` on; `None` where there are none.
    pub fn stored_from(&self, section: &Section, within: u64) -> Option<Span> {
        let stored = self.stored(section);
        let size = stored.size.checked_sub(within)?;
        Span::new(stored.offset + within, size).some()
    }

    /// The entries of `section`, by the format's own entry size, that lie in the file. Tables are together
    /// no longer than the file, of whose bytes `room` are left: a malformed one can name the same bytes as
    /// a table many thousand times, and each would be gone through.
    pub(super) fn table_in(
        &self,
        section: &Section,
        room: &mut u64,
        findings: &mut Diagnostics,
    ) -> Option<Table> {
        let stride = entry_size(section.kind, self.header.class, self.dialect)?;
        let span = self.stored(section);
        let size = span.size.min(*room);
        if size < span.size {
            findings.push(
                Diagnostic::error(
                    Kind::Format,
                    "the tables are together longer than the file; this one is not read whole",
                )
                .expected(format!("at most {room} bytes more"), span.size)
                .within(format!("section {}, sh_size", section.index))
                .at(self.source().absolute(section.header)),
            );
        }
        *room -= size;
        Some(Table {
            offset: span.offset,
            count: size / stride,
            stride,
        })
    }
}
