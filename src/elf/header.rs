//! The file header, extended numbering included.

use object::elf::{FileHeader32, FileHeader64};
use object::read::elf::FileHeader;

use super::{Dialect, HEADER_LIMIT, LE, Table, pod, section, tables};
use crate::error::{Diagnostic, Diagnostics, Error, Kind, Result};
use crate::source::Source;
use crate::span::Span;

/// Whether addresses are 32 or 64 bits wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `ELFCLASS32`.
    Elf32,
    /// `ELFCLASS64`.
    Elf64,
}

impl Class {
    /// 32 or 64.
    pub fn bits(self) -> u32 {
        match self {
            Self::Elf32 => 32,
            Self::Elf64 => 64,
        }
    }

    /// `of_32` or `of_64`.
    pub(crate) fn choose<T>(self, of_32: T, of_64: T) -> T {
        match self {
            Self::Elf32 => of_32,
            Self::Elf64 => of_64,
        }
    }
}

/// The file header, as stored.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the fields are the format's own
pub struct Header {
    pub class: Class,
    pub os_abi: u8,
    pub abi_version: u8,
    pub e_type: u16,
    pub e_machine: u16,
    pub e_version: u32,
    pub e_entry: u64,
    pub e_phoff: u64,
    pub e_shoff: u64,
    pub e_flags: u32,
    pub e_ehsize: u16,
    pub e_phentsize: u16,
    pub e_phnum: u16,
    pub e_shentsize: u16,
    pub e_shnum: u16,
    pub e_shstrndx: u16,
}

/// Whether a file begins as ELF files do.
pub fn is_elf(start: &[u8]) -> bool {
    start.starts_with(b"\x7fELF")
}

fn refuse(source: &Source, at: u64, field: &str, message: &str) -> Error {
    Diagnostic::error(Kind::Format, message)
        .at(source.absolute(at))
        .within(format!("ELF header, {field}"))
        .into()
}

impl Header {
    /// Reads it.
    ///
    /// # Errors
    /// If there is no whole header of a 32- or 64-bit little-endian ELF file.
    pub fn read(source: &Source) -> Result<Self> {
        let ident = source.read_up_to(0, 16)?;
        if !is_elf(&ident) {
            return Err(refuse(source, 0, "EI_MAG", "not an ELF file"));
        }
        let class = match ident.get(4) {
            Some(1) => Class::Elf32,
            Some(2) => Class::Elf64,
            _ => {
                let found = ident.get(4).map_or("nothing".into(), u8::to_string);
                let message = format!("expected class 1 (32-bit) or 2 (64-bit), found {found}");
                return Err(refuse(source, 4, "EI_CLASS", &message));
            }
        };
        match ident.get(5) {
            Some(1) => {}
            Some(2) => {
                let message = "big-endian ELF files are not read: no GPU has them; expected \
                               data encoding 1 (little-endian), found 2";
                return Err(refuse(source, 5, "EI_DATA", message));
            }
            other => {
                let found = other.map_or("nothing".into(), u8::to_string);
                let message = format!("expected data encoding 1 (little-endian), found {found}");
                return Err(refuse(source, 5, "EI_DATA", &message));
            }
        }
        let size = class.choose(52, 64);
        let bytes = source.hold(Span::new(0, size)).map_err(|_| {
            let message = format!(
                "the ELF header is cut off: expected {size} bytes, found {}",
                source.size()
            );
            refuse(source, source.size(), "e_ident", &message)
        })?;
        let header = match class {
            Class::Elf32 => pod(bytes).map(|h: FileHeader32<_>| Self::from_raw(class, &h)),
            Class::Elf64 => pod(bytes).map(|h: FileHeader64<_>| Self::from_raw(class, &h)),
        };
        header.ok_or_else(|| refuse(source, 0, "e_ident", "the ELF header cannot be read"))
    }

    fn from_raw<H: FileHeader<Endian = object::LittleEndian>>(class: Class, raw: &H) -> Self {
        let ident = raw.e_ident();
        Self {
            class,
            os_abi: ident.os_abi.0,
            abi_version: ident.abi_version,
            e_type: raw.e_type(LE).0,
            e_machine: raw.e_machine(LE).0,
            e_version: raw.e_version(LE),
            e_entry: raw.e_entry(LE).into(),
            e_phoff: raw.e_phoff(LE).into(),
            e_shoff: raw.e_shoff(LE).into(),
            e_flags: raw.e_flags(LE).0,
            e_ehsize: raw.e_ehsize(LE),
            e_phentsize: raw.e_phentsize(LE),
            e_phnum: raw.e_phnum(LE),
            e_shentsize: raw.e_shentsize(LE),
            e_shnum: raw.e_shnum(LE),
            e_shstrndx: raw.e_shstrndx(LE).0,
        }
    }

    /// Its bytes.
    pub fn span(&self) -> Span {
        Span::new(0, self.class.choose(52, 64))
    }

    /// The name of the file's type.
    pub fn type_name(&self, dialect: &Dialect) -> Option<&'static str> {
        let value = u64::from(self.e_type);
        dialect
            .file_types
            .name(value)
            .or_else(|| tables::E_TYPE.name(value))
    }

    /// What kind of file it is in a word or two: `relocatable`, `core dump`.
    pub fn type_words(&self, dialect: &Dialect) -> String {
        let value = u64::from(self.e_type);
        let named = dialect.file_types.get(value);
        match named.or_else(|| tables::E_TYPE.get(value)) {
            // What the note says behind its first words is for the record.
            Some(named) => {
                let words = named.note.split([',', ':']).next();
                words.unwrap_or_default().into()
            }
            None => format!("type 0x{value:x}"),
        }
    }

    /// Whether section offsets stand for addresses in relocations: not linked yet.
    pub fn is_relocatable(&self) -> bool {
        self.e_type == object::elf::ET_REL.0
    }

    pub(super) fn check(&self, dialect: &Dialect, source: &Source, findings: &mut Diagnostics) {
        let at = |field: u64| source.absolute(field);
        if self.e_version != 1 && dialect.version.is_none() {
            findings.push(
                Diagnostic::warning(Kind::Format, "unusual version of ELF")
                    .expected(1, self.e_version)
                    .within("ELF header, e_version")
                    .at(at(20)),
            );
        }
        let size = self.span().size;
        if u64::from(self.e_ehsize) != size {
            findings.push(
                Diagnostic::warning(Kind::Format, "the header gives another size of itself")
                    .expected(size, self.e_ehsize)
                    .within("ELF header, e_ehsize")
                    .at(at(self.class.choose(40, 52))),
            );
        }
    }

    /// The section header table, the program header table, and the index of the section with the
    /// section names. Counts too large for the header's fields stand in section header 0.
    pub(super) fn tables(
        &self,
        source: &Source,
        findings: &mut Diagnostics,
    ) -> (Option<Table>, Option<Table>, u32) {
        let class = self.class;
        let mut sections = u64::from(self.e_shnum);
        let mut segments = u64::from(self.e_phnum);
        let mut names = u32::from(self.e_shstrndx);
        let first = Table {
            offset: self.e_shoff,
            count: 1,
            stride: class.choose(40, 64),
        };
        let extended = (self.e_shnum == 0 || names == 0xffff || self.e_phnum == 0xffff)
            && self.e_shoff != 0
            && first.span().within(source.size());
        if extended && let Some(zero) = section::read(source, class, Some(first), findings).first()
        {
            if self.e_shnum == 0 {
                sections = zero.size;
            }
            if names == 0xffff {
                names = zero.link;
            }
            if self.e_phnum == 0xffff {
                segments = u64::from(zero.info);
            }
        }
        let section_table = Self::table(
            source,
            Place {
                what: "section header",
                fields: class.choose((32, 46), (40, 58)),
                size: class.choose(40, 64),
            },
            (self.e_shoff, sections, self.e_shentsize),
            findings,
        );
        let segment_table = Self::table(
            source,
            Place {
                what: "program header",
                fields: class.choose((28, 42), (32, 54)),
                size: class.choose(32, 56),
            },
            (self.e_phoff, segments, self.e_phentsize),
            findings,
        );
        (section_table, segment_table, names)
    }

    fn table(
        source: &Source,
        place: Place,
        (offset, count, stride): (u64, u64, u16),
        findings: &mut Diagnostics,
    ) -> Option<Table> {
        let what = place.what;
        let stride = u64::from(stride);
        if count == 0 {
            return None;
        }
        if offset == 0 {
            findings.push(
                Diagnostic::error(Kind::Format, format!("the {what}s are nowhere"))
                    .expected(
                        "an offset behind the header",
                        format!("0, for {count} of them"),
                    )
                    .within(format!("ELF header, {what} table"))
                    .at(source.absolute(place.fields.0)),
            );
            return None;
        }
        if stride < place.size {
            findings.push(
                Diagnostic::error(Kind::Format, format!("{what}s are too short"))
                    .expected(format!("{} bytes", place.size), stride)
                    .within(format!("ELF header, {what} size"))
                    .at(source.absolute(place.fields.1)),
            );
            return None;
        }
        let there = source.size().saturating_sub(offset) / stride;
        if count > there {
            findings.push(
                Diagnostic::error(
                    Kind::Format,
                    format!("the {what} table runs past the end of the file"),
                )
                .expected(
                    format!("{count} entries of {stride} bytes at 0x{offset:x}"),
                    format!("room for {there}"),
                )
                .within(format!("ELF header, {what} table"))
                .at(source.absolute(place.fields.0)),
            );
        }
        let mut count = count.min(there);
        if count > HEADER_LIMIT {
            findings.push(
                Diagnostic::warning(Kind::Limit, format!("only the first {what}s are read"))
                    .expected(format!("at most {HEADER_LIMIT}"), count)
                    .at(source.absolute(place.fields.0)),
            );
            count = HEADER_LIMIT;
        }
        (count > 0).then_some(Table {
            offset,
            count,
            stride,
        })
    }
}

/// Where the header speaks of a table: offsets of the fields of its offset and its entry size.
struct Place {
    what: &'static str,
    fields: (u64, u64),
    size: u64,
}
