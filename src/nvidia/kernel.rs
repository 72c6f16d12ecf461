//! Kernels and device functions: one for each code section of the image.
//!
//! Sections name their function by the rest of their own name; the cubin's attributes name it by symbol.

use serde::Serialize;

use super::attribute::Attributes;
use super::callgraph::{CallGraph, CallStack, Relation};
use super::info::{EIFMT_SVAL, Entries, Entry};
use super::tables;
use crate::elf::symbol::Place;
use crate::elf::{Elf, Section, Symbol, Symbols};
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::index::Map;
use crate::order;
use crate::span::Span;

/// How names of code sections begin.
pub(super) const CODE: &str = ".text.";
pub(super) const SHARED: &str = ".nv.shared.";
const LOCAL: &str = ".nv.local.";
const CONSTANT: &str = ".nv.constant";
/// How names of sections with attributes begin.
pub(super) const INFO: &str = ".nv.info";

/// How names of shared memory begin that the system reserves, for all kernels.
const RESERVED_SHARED: &str = ".nv.shared.reserved.";

/// Symbol types of texture, sampler and surface references, see `tables/nvidia/elf.toml`.
const TEXTURE: u8 = 10;
const SAMPLER: u8 = 11;
const SURFACE: u8 = 12;

/// Constant banks that an instruction can name: its field has 5 bits.
const BANKS: u32 = 32;

/// Bit of `st_other` that marks kernels: `STO_CUDA_ENTRY`.
const STO_CUDA_ENTRY: u8 = 0x10;

// The attributes read here; `tables/nvidia/info.toml` says what they hold.
pub(super) const MAX_THREADS: u8 = 0x05;
const PARAM_CBANK: u8 = 0x0a;
const FRAME_SIZE: u8 = 0x11;
pub(super) const REQNTID: u8 = 0x10;
const MIN_STACK_SIZE: u8 = 0x12;
const MAXREG_COUNT: u8 = 0x1b;
pub(super) const CTA_PER_CLUSTER: u8 = 0x3d;
const EXPLICIT_CLUSTER: u8 = 0x3e;
const MAX_CLUSTER_RANK: u8 = 0x3f;
const RESERVED_SMEM_USED: u8 = 0x41;
const KPARAM_INFO: u8 = 0x17;
pub(super) const CRS_STACK_SIZE: u8 = 0x1e;
const MAX_STACK_SIZE: u8 = 0x23;
const REGCOUNT: u8 = 0x2f;
const KPARAM_INFO_V2: u8 = 0x45;
pub(super) const NUM_BARRIERS: u8 = 0x4c;

/// A kernel or a device function.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object, rename = "NvidiaKernel")
)] // in TypeScript, which knows no modules
pub struct Kernel {
    /// The name, as linked.
    pub name: String,
    /// Whether it can be launched: its symbol is marked `STO_CUDA_ENTRY`. Device functions are not.
    pub entry_point: bool,
    /// Index of its code section.
    pub section: u32,
    /// Offset of its code in the image.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub code_offset: u64,
    /// Bytes of its code.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub code_bytes: u64,
    /// Its code in the file.
    pub code: Span,
    /// 32-bit registers of a thread (`EIATTR_REGCOUNT`); 0 where nothing says.
    pub registers: u32,
    /// Bytes of stack that a thread needs at least (`EIATTR_MIN_STACK_SIZE`); 0 where nothing says.
    pub stack_bytes: u32,
    /// Bytes of its own stack frame (`EIATTR_FRAME_SIZE`).
    pub frame_bytes: Option<u32>,
    /// Bytes of stack that a thread needs at most (`EIATTR_MAX_STACK_SIZE`); 0xffffffff: not bounded.
    pub max_stack_bytes: Option<u32>,
    /// Bytes of static shared memory: the size of `.nv.shared.<name>`; 0 without.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub shared_bytes: u64,
    /// Bytes of shared memory that the system reserves of every block: the size of `.nv.shared.reserved.*`.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub reserved_shared_bytes: u64,
    /// Whether it uses what is reserved (`EIATTR_RESERVED_SMEM_USED`).
    pub uses_reserved_shared: bool,
    /// Bytes of local memory: the size of `.nv.local.<name>`.
    #[serde(serialize_with = "crate::int::serialize_option")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int | null"))]
    pub local_bytes: Option<u64>,
    /// Named barriers (`EIATTR_NUM_BARRIERS`, before CUDA 13 a field of `sh_flags`); 0 where nothing says.
    pub barriers: u32,
    /// The largest block along x, y and z (`EIATTR_MAX_THREADS`).
    pub max_threads: Option<[u32; 3]>,
    /// The block along x, y and z that it must be launched with (`EIATTR_REQNTID`).
    pub required_threads: Option<[u32; 3]>,
    /// The most registers that it may be given (`EIATTR_MAXREG_COUNT`); 255: no limit. A least number of blocks on a
    /// multiprocessor (`.minnctapersm`) is in no attribute: it is met by this alone.
    pub max_registers: Option<u32>,
    /// Blocks of a cluster along x, y and z (`EIATTR_CTA_PER_CLUSTER`).
    pub cluster: Option<[u32; 3]>,
    /// Whether it must be launched with a cluster (`EIATTR_EXPLICIT_CLUSTER`).
    pub explicit_cluster: bool,
    /// The most blocks of a cluster (`EIATTR_MAX_CLUSTER_RANK`).
    pub max_cluster_blocks: Option<u32>,
    /// Texture references that its code and its banks are patched with.
    pub textures: u32,
    /// Surface references, likewise.
    pub surfaces: u32,
    /// Sampler references, likewise.
    pub samplers: u32,
    /// Stack with that of the functions it calls; `None` where the call graph has no calls of it.
    pub call_stack: Option<CallStack>,
    /// Where its parameters begin in bank 0 (`EIATTR_PARAM_CBANK`), in bytes; 0 where nothing says.
    pub params_offset: u32,
    /// Bytes of its parameters; 0 where nothing says.
    pub params_bytes: u32,
    /// Its parameters by ordinal; `None` where nothing describes them.
    pub params: Option<Vec<Parameter>>,
    /// Its constant banks, in the order in which the file has them first.
    pub banks: Vec<Bank>,
    /// The offset in the file of the attribute that says where its parameters are.
    #[serde(skip)]
    params_place: u64,
    /// The attributes that say how many registers and how much stack it needs.
    #[serde(skip)]
    pub(super) registers_place: Option<Span>,
    #[serde(skip)]
    pub(super) stack_place: Option<Span>,
    /// Indices of the sections that hold its attributes.
    #[serde(skip)]
    info: Vec<u32>,
    /// Its symbol.
    #[serde(skip)]
    pub(super) symbol: Option<u32>,
    /// The symbols of other functions in its code section.
    #[serde(skip)]
    inner: Vec<u32>,
}

/// A function that another calls, or takes the address of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Callee {
    /// Its name; the prototype of functions called by a pointer.
    pub name: String,
    /// How it is called.
    pub relation: Relation,
    /// Its index among the kernels and device functions, if it is one of them.
    pub kernel: Option<u32>,
    /// The entry of the call graph that says so.
    pub place: Span,
}

/// A device function that has no section of its own: it lies in the code of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct InnerFunction {
    /// Its name.
    pub name: String,
    /// Its code in the file.
    pub code: Span,
}

/// A parameter of a kernel (`EIATTR_KPARAM_INFO`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Parameter {
    /// Which parameter, from 0.
    pub ordinal: u16,
    /// Offset in the parameters, in bytes.
    pub offset: u16,
    /// Bytes.
    pub size: u16,
    /// The memory that it points to, as the tools number it; 0 if not stated.
    pub space: u8,
    /// Power of two of the alignment of what it points to; 0 if not stated.
    pub log2_align: u8,
    /// The attribute that says so.
    pub place: Span,
    /// Its name: newer cubins have `EIATTR_KPARAM_INFO_V2`.
    #[serde(skip)]
    pub attribute: &'static str,
}

/// A constant bank of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Bank {
    /// Which bank.
    pub index: u32,
    /// Index of its section.
    pub section: u32,
    /// Offset in the image; `None` where the image does not hold it (relocatable cubins).
    #[serde(serialize_with = "crate::int::serialize_option")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int | null"))]
    pub offset: Option<u64>,
    /// Bytes.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub bytes: u64,
    /// Its bytes in the file.
    pub place: Span,
}

impl Kernel {
    fn new(elf: &Elf, section: &Section, name: &str, code_offset: u64) -> Self {
        Self {
            name: name.into(),
            entry_point: false,
            section: section.index,
            code_offset,
            code_bytes: section.size,
            code: elf.stored(section),
            registers: 0,
            stack_bytes: 0,
            frame_bytes: None,
            max_stack_bytes: None,
            shared_bytes: 0,
            reserved_shared_bytes: 0,
            uses_reserved_shared: false,
            local_bytes: None,
            // The new layout leaves these flags 0 and has an attribute, of kernels with a barrier.
            barriers: (section.flags >> 20) as u32 & 0x7f,
            max_threads: None,
            required_threads: None,
            max_registers: None,
            cluster: None,
            explicit_cluster: false,
            max_cluster_blocks: None,
            textures: 0,
            surfaces: 0,
            samplers: 0,
            call_stack: None,
            params_offset: 0,
            params_bytes: 0,
            params: None,
            banks: Vec::new(),
            params_place: 0,
            registers_place: None,
            stack_place: None,
            info: Vec::new(),
            symbol: None,
            inner: Vec::new(),
        }
    }

    /// Its attributes, those of `.nv.info.<name>`, in file order, read anew.
    pub fn attributes<'a>(&self, elf: &'a Elf) -> Attributes<'a> {
        Attributes::new(elf, &self.info, self.code)
    }

    /// The last of its own attributes that `id` names.
    pub(super) fn attribute(&self, elf: &Elf, id: u8) -> Option<Entry> {
        let attributes = self.attributes(elf);
        let mut entries = (0..attributes.len())
            .rev()
            .filter_map(|i| attributes.entry(i));
        entries.find(|entry| entry.id == id).copied()
    }

    /// The device functions that lie in its code, up to `most` of them.
    pub fn inner_functions(&self, elf: &Elf, most: usize) -> Vec<InnerFunction> {
        let tables = elf.symbol_tables.iter().filter(|table| !table.is_dynamic);
        let symbols = tables.take(1).find_map(|table| elf.symbols(table).ok());
        let functions = self.inner.iter().take(most).filter_map(|&index| {
            let symbols = symbols.as_ref()?;
            let symbol = symbols.get(index.into())?;
            Some(InnerFunction {
                name: symbols.name(&symbol),
                code: elf.named_by(&symbol)?,
            })
        });
        functions.collect()
    }

    /// Takes what an attribute of `.nv.info` says about it.
    fn take(&mut self, entry: &Entry, value: u32) {
        match entry.id {
            REGCOUNT => {
                self.registers = value;
                self.registers_place = Some(entry.span());
            }
            MIN_STACK_SIZE => {
                self.stack_bytes = value;
                self.stack_place = Some(entry.span());
            }
            FRAME_SIZE => self.frame_bytes = Some(value),
            MAX_STACK_SIZE => self.max_stack_bytes = Some(value),
            _ => {}
        }
    }

    /// Takes what an attribute of its own `.nv.info.<name>` says.
    fn take_own(&mut self, entry: &Entry) {
        match (entry.id, entry.format) {
            (PARAM_CBANK, EIFMT_SVAL) => {
                if let Some(place) = entry.word(1) {
                    self.params_place = entry.offset;
                    self.params_offset = place & 0xffff;
                    self.params_bytes = place >> 16;
                }
            }
            (MAX_THREADS, EIFMT_SVAL) => self.max_threads = three(entry).or(self.max_threads),
            (REQNTID, EIFMT_SVAL) => self.required_threads = three(entry).or(self.required_threads),
            (CTA_PER_CLUSTER, EIFMT_SVAL) => self.cluster = three(entry).or(self.cluster),
            (MAX_CLUSTER_RANK, EIFMT_SVAL) => self.max_cluster_blocks = entry.word(0),
            (EXPLICIT_CLUSTER, _) => self.explicit_cluster = true,
            (RESERVED_SMEM_USED, _) => self.uses_reserved_shared = true,
            (MAXREG_COUNT, format) if format != EIFMT_SVAL => {
                self.max_registers = Some(entry.value.into());
            }
            (KPARAM_INFO | KPARAM_INFO_V2, EIFMT_SVAL) => {
                self.params
                    .get_or_insert_default()
                    .extend(Parameter::read(entry));
            }
            (NUM_BARRIERS, format) if format != EIFMT_SVAL => {
                self.barriers = u32::from(entry.value & 0xff);
            }
            _ => {}
        }
    }
}

impl Parameter {
    fn read(entry: &Entry) -> Option<Self> {
        let layout = match entry.id {
            KPARAM_INFO => &tables::KPARAM_INFO,
            _ => &tables::KPARAM_INFO_V2,
        };
        let field = |name: &str| {
            let field = layout.fields().iter().find(|field| field.name == name)?;
            crate::record::bits(entry.start(), field.lsb, field.bits)
        };
        Some(Self {
            ordinal: field("Ordinal")? as u16,
            offset: field("Offset")? as u16,
            size: field("Size")? as u16,
            space: field("Space")? as u8,
            log2_align: field("Pointee's logAlignment")? as u8,
            place: entry.span(),
            attribute: tables::ATTRIBUTE.name(entry.id.into()).unwrap_or_default(),
        })
    }
}

/// Three words: along x, y and z.
fn three(entry: &Entry) -> Option<[u32; 3]> {
    Some([entry.word(0)?, entry.word(1)?, entry.word(2)?])
}

/// A bank while the sections are read: the first section and the last that give it.
#[derive(Clone, Copy)]
struct Given {
    index: u32,
    first: u32,
    last: u32,
}

fn give(banks: &mut Vec<Given>, index: u32, section: u32) {
    match banks.iter_mut().find(|bank| bank.index == index) {
        Some(bank) => bank.last = section,
        None => banks.push(Given {
            index,
            first: section,
            last: section,
        }),
    }
}

/// What `name` says of a constant bank: its index, and its function, or `None` for every function's.
/// Other sections of constants have no number behind `.nv.constant`.
fn bank_of(name: &str) -> Option<(u32, Option<&str>)> {
    let rest = name.strip_prefix(CONSTANT)?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (index, rest) = rest.split_at(digits);
    let owner = match rest.strip_prefix('.') {
        None if rest.is_empty() => None,
        None => return None,
        owner => owner,
    };
    // Only the digits are left to be wrong, by being too many.
    (digits > 0).then(|| (index.parse().unwrap_or(u32::MAX), owner))
}

struct Reading<'a> {
    elf: &'a Elf,
    kernels: Vec<Kernel>,
    /// The kernel of a name; the last one where several sections have it.
    by_name: Map<usize>,
    /// Banks of their own, by kernel.
    banks: Vec<Vec<Given>>,
    /// Banks of every kernel.
    shared_banks: Vec<Given>,
    /// Bytes of attributes that may still be read: sections of a malformed file can share theirs.
    info_room: u64,
    /// The same for the names of functions.
    name_room: u64,
    /// Stack frames by symbol.
    frames: Vec<(u32, u32)>,
    /// Symbols of textures, surfaces and samplers, and their types.
    references: Vec<(u32, u8)>,
    reserved_shared: u64,
}

/// The kernels and device functions of `elf`, in section order.
pub(super) fn read(elf: &Elf, calls: &CallGraph, findings: &mut Diagnostics) -> Vec<Kernel> {
    let mut reading = Reading {
        elf,
        kernels: Vec::new(),
        by_name: Map::default(),
        banks: Vec::new(),
        shared_banks: Vec::new(),
        info_room: elf.source().size(),
        name_room: elf.source().size().saturating_mul(4),
        frames: Vec::new(),
        references: Vec::new(),
        reserved_shared: 0,
    };
    reading.code(findings);
    reading.entry_points(findings);
    for section in &elf.sections {
        reading.section(section, findings);
    }
    reading.textures();
    reading.stacks(calls);
    let kernels = reading.finish();
    for kernel in &kernels {
        check_parameters(elf, kernel, findings);
    }
    kernels
}

impl<'a> Reading<'a> {
    fn code(&mut self, findings: &mut Diagnostics) {
        for section in &self.elf.sections {
            let Some(name) = section.name.strip_prefix(CODE) else {
                continue;
            };
            let Some(piece) = self.elf.image.piece_of_section(section.index) else {
                continue;
            };
            let number = self.kernels.len();
            let last = self.by_name.entry(name.as_bytes(), number);
            if std::mem::replace(last, number) != number {
                findings.push(
                    Diagnostic::warning(
                        Kind::Format,
                        "two functions have the same name; what is said of it is shown at the last",
                    )
                    .within(format!("section {} {}", section.index, section.name))
                    .at(self.elf.source().absolute(section.header)),
                );
            }
            self.kernels
                .push(Kernel::new(self.elf, section, name, piece.offset));
        }
        self.banks.resize(self.kernels.len(), Vec::new());
    }

    fn entry_points(&mut self, findings: &mut Diagnostics) {
        for table in self.elf.symbol_tables.iter().filter(|t| !t.is_dynamic) {
            let Some(symbols) = findings.take(self.elf.symbols(table)) else {
                continue;
            };
            for symbol in symbols.iter() {
                let kind = symbol.info & 15;
                if matches!(kind, TEXTURE | SAMPLER | SURFACE) {
                    self.references.push((symbol.index as u32, kind));
                }
                let is_function = kind == object::elf::STT_FUNC.0;
                let kernel = self.at_section(symbol.section).filter(|_| is_function);
                let Some(kernel) = kernel else { continue };
                let name = symbols.strings.get(symbol.name.into()).unwrap_or_default();
                let room = self.name_room.checked_sub(name.len() as u64);
                self.name_room = room.unwrap_or(0);
                let kernel = &mut self.kernels[kernel];
                kernel.entry_point |= symbol.other & STO_CUDA_ENTRY != 0;
                if room.is_some() && name == kernel.name.as_bytes() {
                    kernel.symbol = Some(symbol.index as u32);
                } else {
                    kernel.inner.push(symbol.index as u32);
                }
            }
        }
    }

    /// The kernel whose code is in section `index`.
    fn at_section(&self, index: u32) -> Option<usize> {
        self.kernels
            .binary_search_by_key(&index, |kernel| kernel.section)
            .ok()
    }

    fn section(&mut self, section: &'a Section, findings: &mut Diagnostics) {
        let name = section.name.as_str();
        let find = |name: &str| self.by_name.get(name.as_bytes()).copied();
        if let Some(kernel) = name.strip_prefix(SHARED).and_then(find) {
            self.kernels[kernel].shared_bytes = section.size;
        } else if name.starts_with(RESERVED_SHARED) {
            self.reserved_shared = self.reserved_shared.saturating_add(section.size);
        } else if let Some(kernel) = name.strip_prefix(LOCAL).and_then(find) {
            self.kernels[kernel].local_bytes = Some(section.size);
        } else if let Some((index, owner)) = bank_of(name) {
            if index >= BANKS {
                findings.push(
                    Diagnostic::warning(
                        Kind::Limit,
                        "no instruction can name the constant bank; it is not shown with kernels",
                    )
                    .expected(format!("below {BANKS}"), index)
                    .within(format!("section {} {name}", section.index))
                    .at(self.elf.source().absolute(section.header)),
                );
                return;
            }
            match owner {
                None => give(&mut self.shared_banks, index, section.index),
                Some(owner) => {
                    if let Some(kernel) = find(owner) {
                        give(&mut self.banks[kernel], index, section.index);
                    }
                }
            }
        } else if name == INFO {
            self.attributes(section, findings);
        } else if let Some(name) = name.strip_prefix(INFO).and_then(|n| n.strip_prefix('.')) {
            let kernel = find(name);
            self.own_attributes(section, kernel, findings);
        }
    }

    /// The entries of `section`; none where too many bytes were read already.
    fn entries(&mut self, section: &Section, findings: &mut Diagnostics) -> Option<Entries<'a>> {
        let span = self.elf.stored(section);
        let Some(room) = self.info_room.checked_sub(span.size) else {
            findings.push(
                Diagnostic::error(
                    Kind::Limit,
                    "the attributes are together longer than the file; the rest is not read",
                )
                .within(format!("section {} {}", section.index, section.name))
                .at(self.elf.source().absolute(section.header)),
            );
            return None;
        };
        self.info_room = room;
        Some(Entries::new(self.elf.source(), span))
    }

    /// Reads `.nv.info`, whose attributes name functions by symbol.
    fn attributes(&mut self, section: &Section, findings: &mut Diagnostics) {
        let Some(entries) = self.entries(section, findings) else {
            return;
        };
        let elf = self.elf;
        let symbols = elf
            .symbol_table_in(section.symbols)
            .and_then(|table| findings.take(elf.symbols(table)));
        for entry in entries {
            let Some(entry) = findings.take(entry.map_err(|e| e.within(|| label(section, None))))
            else {
                break;
            };
            check(elf, section, &entry, findings);
            let is_of_function = matches!(
                entry.id,
                REGCOUNT | MIN_STACK_SIZE | FRAME_SIZE | MAX_STACK_SIZE
            );
            if !is_of_function || entry.format != EIFMT_SVAL {
                continue;
            }
            let (Some(index), Some(value)) = (entry.word(0), entry.word(1)) else {
                continue;
            };
            if entry.id == FRAME_SIZE {
                self.frames.push((index, value));
            }
            let symbol = symbols.as_ref().and_then(|s| s.get(index.into()));
            let kernel = match (&symbols, symbol) {
                (Some(symbols), Some(symbol)) => self.function(symbols, &symbol),
                _ => {
                    findings.push(
                        Diagnostic::warning(Kind::Format, "the attribute's symbol is missing")
                            .expected(
                                format!(
                                    "an index below {}",
                                    symbols.as_ref().map_or(0, Symbols::len)
                                ),
                                index,
                            )
                            .within(label(section, Some(&entry)))
                            .at(elf.source().absolute(entry.offset)),
                    );
                    None
                }
            };
            if let Some(kernel) = kernel {
                self.kernels[kernel].take(&entry, value);
            }
        }
    }

    /// The kernel whose code section holds `symbol`, else the kernel of its name.
    fn function(&mut self, symbols: &Symbols<'_>, symbol: &Symbol) -> Option<usize> {
        let is_placed = matches!(self.elf.place(symbol), Place::Image(_));
        if let Some(kernel) = self.at_section(symbol.section).filter(|_| is_placed) {
            // Of several sections of a name the last one has what is said about it.
            let name = self.kernels[kernel].name.as_str();
            return self.by_name.get(name.as_bytes()).copied();
        }
        let name = symbols.strings.get(symbol.name.into()).ok()?;
        self.name_room = self.name_room.checked_sub(name.len() as u64)?;
        self.by_name.get(name).copied()
    }

    /// Reads `.nv.info.<name>`.
    fn own_attributes(
        &mut self,
        section: &Section,
        kernel: Option<usize>,
        findings: &mut Diagnostics,
    ) {
        let Some(entries) = self.entries(section, findings) else {
            return;
        };
        for entry in entries {
            let Some(entry) = findings.take(entry.map_err(|e| e.within(|| label(section, None))))
            else {
                break;
            };
            check(self.elf, section, &entry, findings);
            if let Some(kernel) = kernel {
                self.kernels[kernel].take_own(&entry);
            }
        }
        if let Some(kernel) = kernel {
            self.kernels[kernel].info.push(section.index);
        }
    }

    /// Counts the textures, surfaces and samplers that each kernel's code and banks are patched with.
    fn textures(&mut self) {
        if self.references.is_empty() {
            return; // as in most files: no relocation is read
        }
        order::arrange(&mut self.references, |(symbol, _)| (*symbol).into());
        let mut used: Vec<(u32, u32, u8)> = Vec::new();
        for table in &self.elf.relocation_tables {
            let target = table.target.and_then(|index| self.elf.section(index));
            let name = target.map_or("", |section| section.name.as_str());
            let owner = match name.strip_prefix(CODE) {
                Some(owner) => Some(owner),
                None => bank_of(name).and_then(|(_, owner)| owner),
            };
            let kernel = owner.and_then(|owner| self.by_name.get(owner.as_bytes()));
            let (Some(&kernel), Ok(relocations)) = (kernel, self.elf.relocations(table)) else {
                continue;
            };
            for relocation in relocations.iter() {
                let symbol = relocation.symbol;
                let at = self
                    .references
                    .partition_point(|(other, _)| *other < symbol);
                if let Some(&(_, kind)) = self.references.get(at).filter(|(s, _)| *s == symbol) {
                    used.push((kernel as u32, symbol, kind));
                }
            }
        }
        // One that is patched in at several places is one.
        order::arrange(&mut used, |(kernel, symbol, _)| {
            u64::from(*kernel) << 32 | u64::from(*symbol)
        });
        used.dedup();
        for (kernel, _, kind) in used {
            let kernel = &mut self.kernels[kernel as usize];
            match kind {
                TEXTURE => kernel.textures += 1,
                SAMPLER => kernel.samplers += 1,
                _ => kernel.surfaces += 1,
            }
        }
    }

    fn stacks(&mut self, calls: &CallGraph) {
        let stacks = calls.stacks(&self.frames);
        for kernel in &mut self.kernels {
            let Some(symbol) = kernel.symbol else {
                continue;
            };
            let at = stacks.partition_point(|(other, _)| *other < symbol);
            let found = stacks.get(at).filter(|(other, _)| *other == symbol);
            kernel.call_stack = found.map(|(_, stack)| *stack);
        }
    }

    fn finish(mut self) -> Vec<Kernel> {
        for (kernel, own) in self.kernels.iter_mut().zip(&mut self.banks) {
            for shared in &self.shared_banks {
                match own.iter_mut().find(|bank| bank.index == shared.index) {
                    Some(bank) => {
                        bank.first = bank.first.min(shared.first);
                        bank.last = bank.last.max(shared.last);
                    }
                    None => own.push(*shared),
                }
            }
            order::arrange(own, |bank| bank.first.into());
            let banks = own.iter().filter_map(|bank| {
                let piece = self.elf.image.piece_of_section(bank.last);
                Some(Bank {
                    index: bank.index,
                    section: bank.last,
                    offset: piece.map(|piece| piece.offset),
                    bytes: self.elf.section(bank.last)?.size,
                    place: self.elf.stored(self.elf.section(bank.last)?),
                })
            });
            kernel.banks = banks.collect();
            kernel.reserved_shared_bytes = self.reserved_shared;
            if let Some(params) = &mut kernel.params {
                order::arrange(params, |parameter| parameter.ordinal.into());
            }
        }
        self.kernels
    }
}

/// Finds parameters that lie outside the constant bank 0 that the cubin has for `kernel`.
fn check_parameters(elf: &Elf, kernel: &Kernel, findings: &mut Diagnostics) {
    let end = u64::from(kernel.params_offset) + u64::from(kernel.params_bytes);
    let Some(bank) = kernel.banks.iter().find(|bank| bank.index == 0) else {
        return;
    };
    if kernel.params_place > 0 && end > bank.bytes {
        findings.push(
            Diagnostic::warning(
                Kind::Format,
                "the parameters run past the end of constant bank 0",
            )
            .expected(format!("at most 0x{:x}", bank.bytes), format!("0x{end:x}"))
            .within(format!(
                "section {INFO}.{}, EIATTR_PARAM_CBANK",
                kernel.name
            ))
            .at(elf.source().absolute(kernel.params_place)),
        );
    }
}

fn label(section: &Section, entry: Option<&Entry>) -> String {
    let name = entry.and_then(|entry| tables::ATTRIBUTE.name(entry.id.into()));
    format!(
        "section {} {}, {}",
        section.index,
        section.name,
        name.unwrap_or("attribute")
    )
}

/// Finds entries that a loader refuses, or that nothing explains.
fn check(elf: &Elf, section: &Section, entry: &Entry, findings: &mut Diagnostics) {
    let finding = if !(1..=EIFMT_SVAL).contains(&entry.format) {
        Diagnostic::warning(Kind::UnknownValue, "the attribute has an unknown format")
            .expected("1 to 4", entry.format)
    } else if matches!(entry.id, REGCOUNT | MIN_STACK_SIZE | PARAM_CBANK)
        && entry.format == EIFMT_SVAL
        && entry.payload().size < 8
    {
        Diagnostic::error(Kind::Loader, "the attribute holds too few bytes")
            .expected("at least 8", entry.payload().size)
    } else {
        return;
    };
    findings.push(
        finding
            .within(label(section, Some(entry)))
            .at(elf.source().absolute(entry.offset)),
    );
}
