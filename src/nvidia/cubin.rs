//! A cubin as a whole: what it is for, what made it, and its kernels.

use std::rc::Rc;

use serde::Serialize;

use super::bank0::Bank0;
use super::callgraph::{Entry, Relation};
use super::note::{self, Notes};
use super::{
    Bank, CallGraph, Callee, Check, Code, Kernel, code, is_new, kernel, record, tables, unloaded,
};
use crate::elf::{Elf, Header, Section, Symbols};
use crate::error::{Diagnostic, Diagnostics, Kind, Result};
use crate::lines::{self, Function, Lines};
use crate::record::Record;
use crate::text::Text;

/// `EF_CUDA_ACCELERATORS` of the old layout and of the new one.
const ACCELERATORS: (u32, u32) = (0x800, 0x8);
/// The attribute of `.nv.compat` that says the same since CUDA 13.
const ACCELERATOR_TARGET: u8 = 9;
/// `sh_type` of `.nv.compat`: `SHT_CUDA_COMPAT_INFO`.
pub(super) const COMPAT: u32 = 0x7000_0086;

/// How names of sections with a function's constant bank 0 begin.
const BANK0: &str = ".nv.constant0.";

/// A cubin.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Cubin {
    /// The architecture that its code is for: `sm_90a`.
    pub target: String,
    /// The architecture's number: 90.
    pub sm: u32,
    /// Its letter: `a` for features of this architecture alone, `f` for those of its family.
    pub variant: Option<char>,
    /// The toolkit that made it: `13.5`.
    pub toolkit: Option<String>,
    /// The virtual architecture of the PTX that it was made from: 90 for `compute_90`.
    pub virtual_sm: Option<u32>,
    /// The command line of the tool that made it.
    pub options: Option<String>,
    /// Whether it is still to be linked.
    #[serde(skip)]
    pub is_relocatable: bool,
    /// What kind of file it is: `executable`, `relocatable`, `core dump`.
    pub file_type: String,
    /// Its kernels and device functions, in section order.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "NvidiaKernel[]"))]
    pub kernels: Vec<Kernel>,
    /// The PTX that its code was made from, where it is kept for debuggers.
    #[serde(skip)]
    pub texts: Vec<Text>,
    #[serde(skip)]
    lines: lines::Cache,
    /// Who calls whom.
    #[serde(skip)]
    pub calls: CallGraph,
}

/// The architecture that the flags say, and whether only that one runs the code.
fn architecture(header: &Header) -> (u32, bool) {
    let flags = header.e_flags;
    match is_new(header) {
        true => (flags >> 8 & 0xffff, flags & ACCELERATORS.1 != 0),
        false => (flags & 0xff, flags & ACCELERATORS.0 != 0),
    }
}

/// What a file runs on, as far as its header says it: cubins of a family are not told from those of its first architecture.
pub fn target_of(header: &Header) -> String {
    let (sm, has_accelerators) = architecture(header);
    format!("sm_{sm}{}", if has_accelerators { "a" } else { "" })
}

impl Cubin {
    /// Reads what `elf` says; its machine is [`super::EM_CUDA`].
    pub fn open(elf: &Elf, findings: &mut Diagnostics) -> Self {
        check_abi(elf, findings);
        let flags = elf.header.e_flags;
        let notes = Notes::read(elf, findings);
        let is_for_accelerators = is_accelerator_target(elf, findings);
        let (sm, mut has_accelerators) = architecture(&elf.header);
        let (virtual_sm, toolkit);
        if is_new(&elf.header) {
            virtual_sm = notes.virtual_sm;
            toolkit = notes.toolkit.clone();
            has_accelerators |= is_for_accelerators;
            check_note(elf, flags >> 24, findings);
        } else {
            virtual_sm = Some(flags >> 16 & 0xff);
            // 1 is the version of ELF itself.
            toolkit = Some(elf.header.e_version)
                .filter(|&version| version > 1)
                .map(super::toolkit);
        }
        let variant = if has_accelerators {
            Some('a')
        } else {
            // Nothing else tells cubins of a family from those of its first architecture.
            notes.targets(&format!("sm_{sm}f")).then_some('f')
        };
        let letter = variant.map(String::from).unwrap_or_default();
        let calls = CallGraph::read(elf, findings);
        Self {
            target: format!("sm_{sm}{letter}"),
            sm,
            variant,
            toolkit,
            virtual_sm,
            options: notes.options().map(Into::into),
            is_relocatable: elf.header.is_relocatable(),
            file_type: elf.header.type_words(elf.dialect),
            kernels: kernel::read(elf, &calls, findings),
            calls,
            texts: texts(elf),
            lines: lines::Cache::default(),
        }
    }

    /// What else there is to say of it in a word each: `CUDA 13.5`, `executable`, `compute_90`.
    pub fn facts(&self) -> Vec<String> {
        let mut facts = Vec::new();
        facts.extend(
            self.toolkit
                .as_ref()
                .map(|version| format!("CUDA {version}")),
        );
        facts.push(self.file_type.clone());
        facts.extend(self.virtual_sm.map(|number| format!("compute_{number}")));
        facts
    }

    /// What `kernel` calls and takes the address of, up to `most` of them.
    pub fn callees(&self, elf: &Elf, kernel: &Kernel, most: usize) -> Vec<Callee> {
        let symbols = self.calls.symbols(elf);
        let entries = kernel.symbol.into_iter().flat_map(|s| self.calls.of(s));
        let is_about_itself = |entry: &&Entry| entry.relation == Relation::AddressTaken;
        let callees = entries.filter(|entry| !is_about_itself(entry)).take(most);
        callees
            .map(|entry| Callee {
                name: CallGraph::callee(symbols.as_ref(), entry),
                relation: entry.relation,
                kernel: self.kernel_of(symbols.as_ref(), entry),
                place: entry.span(),
            })
            .collect()
    }

    /// The index of the kernel or device function that `entry` names second.
    fn kernel_of(&self, symbols: Option<&Symbols<'_>>, entry: &Entry) -> Option<u32> {
        if entry.relation.has_prototype() {
            return None;
        }
        let section = symbols?.get(entry.callee.into())?.section;
        let found = self
            .kernels
            .binary_search_by_key(&section, |kernel| kernel.section);
        let is_it = |&index: &usize| self.kernels[index].symbol == Some(entry.callee);
        found.ok().filter(is_it).map(|index| index as u32)
    }

    /// The record that holds the byte at `offset` in `section`, of those that NVIDIA defines: attributes,
    /// entries of the call graph, of prototypes and of relocation actions, notes, constant bank 0, and Mercury's tables.
    /// `None` for others: the ELF floor may know them.
    ///
    /// # Errors
    /// If its bytes cannot be read.
    pub fn record_in(&self, elf: &Elf, section: &Section, offset: u64) -> Result<Option<Record>> {
        if section.name.starts_with(kernel::CODE)
            && let Some(code) = Code::new(elf.source(), elf.stored(section), self.sm)
        {
            return code.record_at(&section.name, offset);
        }
        if let Some(name) = section.name.strip_prefix(BANK0) {
            let kernel = self.kernels.iter().find(|kernel| kernel.name == name);
            return Ok(kernel.and_then(|kernel| {
                // Of several sections of a name the last one counts.
                let is_bank = |bank: &Bank| bank.index == 0 && bank.section == section.index;
                kernel.banks.iter().find(|bank| is_bank(bank))?;
                Bank0::new(elf, self, kernel).record(name, elf, offset)
            }));
        }
        record::record_in(elf, &self.calls, section, offset)
    }

    /// The code of the kernel of that index; `None` where its encoding is not known.
    pub fn code<'a>(&self, elf: &'a Elf, kernel: usize) -> Option<Code<'a>> {
        Code::new(elf.source(), self.kernels.get(kernel)?.code, self.sm)
    }

    /// The lines of source and of PTX of the kernel of that index.
    pub fn lines(&self, elf: &Elf, kernel: usize) -> Option<Rc<Lines>> {
        let section = self.kernels.get(kernel)?.section;
        let function = match elf.section(section) {
            // A cubin of a core dump has the addresses that it was loaded at.
            Some(code) if lines::has_addresses(elf) => Function {
                section: 0,
                start: code.address,
                size: code.size,
            },
            _ => Function {
                section,
                start: 0,
                size: u64::MAX,
            },
        };
        Some(self.lines.get(elf, function))
    }

    /// Finds the relocations that a loader refuses, code that ends within an instruction, and line programs that cannot be
    /// read; what is wrong in tables that no loader reads. It reads all of them: [`Check`] does so in steps with the relocations.
    pub fn check(&self, elf: &Elf, findings: &mut Diagnostics) {
        Check::default().step(elf, u64::MAX, findings);
        let sections = self.kernels.iter().map(|kernel| kernel.section);
        for section in sections.filter_map(|index| elf.section(index)) {
            code::check(elf, section, self.sm, findings);
        }
        lines::check(elf, findings);
        unloaded::check(elf, findings);
    }
}

/// How names of sections begin that hold PTX text; a linker appends a number.
const PTX: &str = ".nv_debug_ptx_txt";

fn texts(elf: &Elf) -> Vec<Text> {
    let sections = elf.sections.iter();
    let sections = sections.filter(|section| section.name.starts_with(PTX));
    let texts = sections.map(|section| Text::new(section.name.as_str(), elf.stored(section)));
    texts.filter(|text| text.span.size > 0).collect()
}

/// Whether `.nv.compat` says that only this architecture runs the code.
fn is_accelerator_target(elf: &Elf, findings: &mut Diagnostics) -> bool {
    let mut found = false;
    if let Some(section) = elf.sections.iter().find(|s| s.kind == COMPAT) {
        unloaded::attributes(elf, section, findings, |entry| {
            found |= entry.id == ACCELERATOR_TARGET && entry.value & 0xff == 1;
        });
    }
    found
}

/// `EI_OSABI` says which layout the flags have; others than the two that are known are read as the old one.
fn check_abi(elf: &Elf, findings: &mut Diagnostics) {
    let os_abi = elf.header.os_abi;
    if tables::OS_ABI.get(os_abi.into()).is_some() {
        return;
    }
    findings.push(
        Diagnostic::warning(
            Kind::UnknownValue,
            "no toolkit is known to write this EI_OSABI; e_flags are read as with ELFOSABI_CUDA",
        )
        .expected("0x33 or 0x41", format!("0x{os_abi:x}"))
        .within("ELF header, EI_OSABI")
        .at(elf.source().absolute(7)),
    );
}

/// `e_flags` of the new layout names the section of the note with the virtual architecture.
fn check_note(elf: &Elf, index: u32, findings: &mut Diagnostics) {
    let named = elf.section(index);
    if named.is_some_and(|section| note::is_cuinfo(&section.name)) || elf.sections.is_empty() {
        return;
    }
    findings.push(
        Diagnostic::warning(
            Kind::Format,
            "e_flags names another section than that of the CUDA note",
        )
        .expected(
            "the index of .note.nv.cuinfo or .note.nv.cuver",
            format!("{index} ({})", elf.section_label(index)),
        )
        .within("ELF header, e_flags")
        .at(elf.source().absolute(48)),
    );
}
