//! A code object: the target, the metadata and the kernels of a file.

use std::rc::Rc;

use super::initial::{Initial, Words};
use super::kernel::Hidden;
use super::metadata::{Description, Form};
use super::occupancy::{Needs, Occupancy};
use super::registers::Registers;
use super::target::{self, Target};
use super::value::Value;
use super::zero::Zeros;
use super::{
    Code, Kernel, Metadata, Processor, check, code, disagreement, kernarg, schema, tables,
};
use crate::elf::note::{self, Note};
use crate::elf::symbol::Place;
use crate::elf::{Class, Elf, Image, Symbol};
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::index::{self, Map};
use crate::lines;
use crate::order;
use crate::record::{bits, text};
use crate::span::Span;
use crate::text::Text;

/// What an ELF file for an AMD GPU says beyond ELF.
#[derive(Debug)]
pub struct CodeObject {
    /// The target ID as LLVM spells it, such as `gfx942:sramecc+:xnack-`.
    pub target: Option<String>,
    /// The processor of the target.
    pub processor: Option<&'static Processor>,
    /// How the target's features have to be set.
    pub settings: Option<Target>,
    /// The version of the code object, 2 to 6; `None` for other systems than HSA.
    pub version: Option<u32>,
    /// Which system the code is for, where that is not HSA.
    pub system: Option<&'static str>,
    /// The version of a generic processor; `None` for others and where the format has no place
    /// for it.
    pub generic_version: Option<u32>,
    /// The metadata of the first note that has some.
    pub metadata: Option<Metadata>,
    /// The kernels by name.
    pub kernels: Vec<Kernel>,
    /// The text of V2's metadata.
    pub texts: Vec<Text>,
    /// The file's notes.
    pub(super) notes: Vec<Note>,
    /// The kernels that have bytes in the file, by their place there: offset and index.
    pub(super) by_offset: Vec<(u64, u32)>,
    pub(super) is_relocatable: bool,
    code: code::Cache,
}

/// A kernel's symbol.
struct Found {
    /// The kernel's name.
    name: String,
    symbol: Symbol,
    /// Where the symbol's entry is in the file.
    entry: u64,
    /// Whether it names an `amd_kernel_code_t`.
    is_code: bool,
}

impl CodeObject {
    /// Reads what `elf` says beyond ELF. What is wrong becomes a finding, and the rest is read.
    pub fn open(elf: &Elf, findings: &mut Diagnostics) -> Self {
        let mut in_notes = Diagnostics::default();
        let notes = elf.notes(&mut in_notes);
        // Notes past the first so many are not lost to a loader.
        if let Some(first) = in_notes.iter().find(|finding| finding.kind != Kind::Limit) {
            // Whoever lists the notes says what is wrong with them; here is what comes of it.
            findings.push(Diagnostic {
                kind: Kind::Loader,
                message: "a loader does not find its way through the notes".into(),
                ..first.clone()
            });
        }
        let version = target::version(&elf.header);
        let settings = target_of(elf, version, &notes);
        let processor = settings.map(|settings| settings.processor);
        let mut object = Self {
            target: settings.map(|settings| settings.to_string()),
            processor,
            settings,
            version,
            system: target::system(&elf.header),
            generic_version: target::generic_version(&elf.header)
                .filter(|_| processor.is_some_and(Processor::is_generic)),
            metadata: None,
            kernels: Vec::new(),
            texts: Vec::new(),
            notes,
            by_offset: Vec::new(),
            is_relocatable: elf.header.is_relocatable(),
            code: code::Cache::default(),
        };
        check::target(&object, elf, findings);
        let notes = object.notes.iter();
        let mut with_metadata = notes.filter(|n| Metadata::form_of(n).is_some());
        let note = with_metadata.next();
        object.metadata = note.and_then(|note| Metadata::read(elf, note, findings));
        if let Some(second) = with_metadata.next() {
            findings.push(
                Diagnostic::warning(
                    Kind::Format,
                    "a second note has metadata, which is not read",
                )
                .expected("one note with metadata", 2 + with_metadata.count())
                .within(note::place(elf, second.section))
                .at(elf.source().absolute(second.span.offset)),
            );
        }
        let text = object.metadata.as_ref().filter(|m| m.form == Form::Yaml);
        object.texts = text
            .map(|text| Text::new("NT_AMD_HSA_METADATA", text.span))
            .into_iter()
            .collect();
        object.kernels = object.read_kernels(elf, findings);
        object.by_offset = (0..)
            .zip(&object.kernels)
            .filter(|(_, kernel)| kernel.descriptor_span.size > 0)
            .map(|(index, kernel)| (kernel.descriptor_span.offset, index))
            .collect();
        order::arrange(&mut object.by_offset, |(offset, _)| *offset);
        object
    }

    /// What it is, in words for a line about the file: `code object V5`, `xnack+`, `shared object`.
    pub fn facts(&self) -> Vec<String> {
        let mut facts = Vec::new();
        facts.extend(
            self.version
                .map(|version| format!("code object V{version}")),
        );
        facts.extend(self.system.map(|system| format!("for {system}")));
        facts.extend(self.settings.iter().flat_map(Target::features));
        facts.extend(self.generic_version.map(|v| format!("generic version {v}")));
        facts.push(
            if self.is_relocatable {
                "relocatable"
            } else {
                "shared object"
            }
            .into(),
        );
        facts
    }

    /// Checks what takes reading whole tables: whether a loader would apply the relocations, what the metadata should
    /// have, whether it says the same as symbols and descriptors do, and whether line programs can be read.
    pub fn check(&self, elf: &Elf, findings: &mut Diagnostics) {
        check::relocations(elf, findings);
        lines::check(elf, findings);
        if let Some(metadata) = &self.metadata {
            disagreement::check(self, elf, metadata, findings);
            // Metadata of PAL has other keys.
            if elf.header.os_abi != target::OS_ABI_PAL {
                schema::check(metadata, elf, self.version, findings);
            }
        }
        for kernel in &self.kernels {
            kernarg::check(elf, kernel, findings);
        }
    }

    /// The code of the kernel of that index, with what begins in it.
    pub fn code(&self, elf: &Elf, kernel: usize) -> Option<Rc<Code>> {
        Some(self.code.get(elf, self.kernels.get(kernel)?.code))
    }

    fn read_kernels(&self, elf: &Elf, findings: &mut Diagnostics) -> Vec<Kernel> {
        let found = self.find(elf, findings);
        let entries = match self.is_relocatable {
            true => entries_by_relocation(elf, &found),
            false => Vec::new(),
        };
        let described = self.metadata.as_ref().map(Metadata::by_kernel);
        let described = described.unwrap_or_default();
        let layout = self.processor.and_then(Processor::descriptor_layout);
        let layout = layout.unwrap_or(&tables::KERNEL_DESCRIPTOR);
        let zeros = Zeros::new(layout, self.processor);
        let zeros_of_code = Zeros::new(&tables::AMD_KERNEL_CODE, self.processor);
        let mut kernels = Vec::with_capacity(found.len());
        for (number, found) in found.iter().enumerate() {
            let description = described.get(found.name.as_bytes()).copied();
            let zeros = if found.is_code {
                &zeros_of_code
            } else {
                &zeros
            };
            let mut kernel = self.read_kernel(elf, found, description, zeros, findings);
            if let Some(&Some(entry)) = entries.get(number) {
                kernel.entry = Some(entry);
            }
            check::entry(elf, &kernel, findings);
            kernels.push(kernel);
        }
        check::non_zero(elf, &kernels, findings);
        find_code(elf, &mut kernels);
        kernels
    }

    /// The symbols that kernels go by, by name.
    fn find(&self, elf: &Elf, findings: &mut Diagnostics) -> Vec<Found> {
        let mut found = Map::default();
        for table in &elf.symbol_tables {
            let Some(symbols) = findings.take(elf.symbols(table)) else {
                continue;
            };
            // Together names are no longer than the file, unless many share one long string.
            let mut names = elf.source().size();
            for symbol in symbols.iter() {
                if symbol.section == 0 {
                    continue;
                }
                let name = symbols.strings.get(symbol.name.into()).unwrap_or_default();
                let Some(rest) = names.checked_sub(name.len() as u64) else {
                    findings.push(
                        Diagnostic::warning(Kind::Limit, "only the first symbols are searched for kernels: the names are longer than the file")
                            .within("symbols")
                            .at(elf.source().absolute(table.table.offset)),
                    );
                    break;
                };
                names = rest;
                let is_code = self.version == Some(2)
                    && tables::SYMBOL_TYPE
                        .get(u64::from(symbol.info & 15))
                        .is_some();
                let name = match name.strip_suffix(b".kd") {
                    _ if is_code => name,
                    Some(name) if elf.place(&symbol) != Place::Absolute => name,
                    _ => continue,
                };
                let name = String::from_utf8_lossy(name).into_owned();
                let key = name.clone();
                let new = Found {
                    name,
                    symbol,
                    entry: table.table.entry(symbol.index).offset,
                    is_code,
                };
                found.entry(key.as_bytes(), new);
            }
        }
        let mut found = found.into_values();
        order::arrange_by(&mut found, |a, b| a.name.cmp(&b.name));
        found
    }

    fn read_kernel(
        &self,
        elf: &Elf,
        found: &Found,
        description: Option<Description<'_>>,
        zeros: &Zeros,
        findings: &mut Diagnostics,
    ) -> Kernel {
        let size = if found.is_code { 256 } else { 64 };
        let image = elf.main_image();
        let mut bytes = [0; 256];
        let bytes = &mut bytes[..size as usize];
        let mut kernel = Kernel {
            name: found.name.clone(),
            descriptor: None,
            entry: None,
            group_segment: None,
            private_segment: None,
            kernarg_size: None,
            explicit_size: None,
            rsrc1: None,
            rsrc2: None,
            rsrc3: None,
            wave32: None,
            dispatch_ptr: None,
            private_segment_buffer: None,
            max_threads: 1024,
            wave_size: None,
            vgprs: None,
            sgprs: None,
            agprs: None,
            vgprs_used: None,
            sgprs_used: None,
            agprs_used: None,
            accum_offset: None,
            vgpr_spills: None,
            sgpr_spills: None,
            initial: Vec::new(),
            occupancy: None,
            non_zero: Vec::new(),
            hidden: Vec::new(),
            args: None,
            code: Span::default(),
            descriptor_span: Span::default(),
        };
        let place = match elf.place(&found.symbol) {
            Place::Image(offset) => Some(Span::new(offset, size)).filter(|s| s.within(image.end)),
            _ => None,
        };
        let is_read = match place {
            Some(place) => {
                kernel.descriptor = Some(place.offset);
                kernel.descriptor_span = stored(image, place);
                findings.take(image.read_into(elf.source(), place.offset, bytes))
            }
            None => {
                check::descriptor_outside(elf, &found.name, found.entry, findings);
                let span = outside(elf, &found.symbol, size);
                span.and_then(|span| {
                    kernel.descriptor_span = span;
                    elf.source().read_into(span.offset, bytes).ok()
                })
            }
        };
        if is_read.is_some() {
            self.read_descriptor(elf, &mut kernel, bytes, found.is_code, findings);
            kernel.non_zero = zeros.violated(bytes, kernel.descriptor_span.offset);
        }
        Self::read_description(&mut kernel, description);
        kernel.occupancy = self.waves(&kernel);
        check::kernel(elf, self.processor, &kernel, description, findings);
        kernel
    }

    /// Takes over what a descriptor says, or an `amd_kernel_code_t`.
    fn read_descriptor(
        &self,
        elf: &Elf,
        kernel: &mut Kernel,
        bytes: &[u8],
        is_code: bool,
        findings: &mut Diagnostics,
    ) {
        let number = |at: u32, size: u32| bits(bytes, at * 8, size * 8).unwrap_or(0);
        let word = |at: u32| number(at, 4) as u32;
        let properties = if is_code {
            word(56)
        } else {
            number(56, 2) as u32
        };
        if is_code {
            kernel.group_segment = Some(word(64));
            kernel.private_segment = Some(word(60));
            kernel.kernarg_size = Some(number(72, 8));
            kernel.rsrc1 = Some(word(48));
            kernel.rsrc2 = Some(word(52));
        } else {
            kernel.group_segment = Some(word(0));
            kernel.private_segment = Some(word(4));
            kernel.kernarg_size = Some(word(8).into());
            kernel.rsrc3 = Some(word(44));
            kernel.rsrc1 = Some(word(48));
            kernel.rsrc2 = Some(word(52));
        }
        kernel.private_segment_buffer = Some(properties & 1 != 0);
        kernel.dispatch_ptr = Some(properties & 2 != 0);
        kernel.wave32 = Some(properties & 1 << 10 != 0);
        kernel.wave_size = kernel.wave32.map(|wave32| if wave32 { 32 } else { 64 });
        if let (Some(processor), Some(rsrc2)) = (self.processor, kernel.rsrc2) {
            let words = Words {
                properties,
                rsrc2,
                preload: if is_code { 0 } else { number(58, 2) as u32 },
                is_v2: is_code,
            };
            let initial = Initial::decode(processor, words);
            check::user_sgprs(elf, kernel, processor, &initial, findings);
            kernel.initial = initial.registers;
        }
        if let Some(registers) = self.registers(kernel) {
            kernel.vgprs = Some(registers.allocated_vgprs);
            kernel.sgprs = Some(registers.allocated_sgprs);
            kernel.agprs = registers.allocated_agprs;
            kernel.accum_offset = registers.accum_offset;
        }
        let ahead = number(16, 8) as i64;
        let is_linked = !self.is_relocatable || ahead != 0;
        if let (Some(descriptor), true) = (kernel.descriptor, is_linked) {
            let entry = descriptor.checked_add_signed(ahead);
            kernel.entry = entry.filter(|&entry| entry < elf.main_image().end);
            if kernel.entry.is_none() {
                check::entry_outside(elf, kernel, ahead, findings);
            }
        }
    }

    /// The registers that the descriptor of `kernel` asks for.
    pub(super) fn registers(&self, kernel: &Kernel) -> Option<Registers> {
        let wave32 = kernel.wave32 == Some(true);
        Registers::decode(self.processor?, kernel.rsrc1?, kernel.rsrc3, wave32)
    }

    /// How many waves of `kernel` a SIMD holds.
    fn waves(&self, kernel: &Kernel) -> Option<Occupancy> {
        let processor = self.processor?;
        let needs = Needs {
            registers: self.registers(kernel)?,
            used_vgprs: kernel.vgprs_used,
            used_sgprs: kernel.sgprs_used,
            wave32: kernel.wave32 == Some(true),
            wgp_mode: kernel.has_wgp_mode(),
            dynamic_vgprs: kernel.has_dynamic_vgprs(processor),
            lds: kernel.group_segment.unwrap_or(0),
            workgroup: u32::try_from(kernel.max_threads).unwrap_or(u32::MAX),
        };
        Occupancy::of(processor, &needs)
    }

    /// Takes over what the metadata says.
    fn read_description(kernel: &mut Kernel, description: Option<Description<'_>>) {
        let mut kernarg_size = kernel.kernarg_size.unwrap_or(0);
        let Some(description) = description else {
            kernel.kernarg_size = Some(kernarg_size);
            kernel.explicit_size = Some(kernarg_size);
            return;
        };
        kernel.vgprs_used = description.count(".vgpr_count", "NumVGPRs");
        kernel.sgprs_used = description.count(".sgpr_count", "NumSGPRs");
        kernel.agprs_used = description.count(".agpr_count", "");
        kernel.vgpr_spills = description.count(".vgpr_spill_count", "NumSpilledVGPRs");
        kernel.sgpr_spills = description.count(".sgpr_spill_count", "NumSpilledSGPRs");
        let args = description.arguments();
        if kernarg_size == 0 {
            let of_metadata = description.kernarg_size().and_then(Value::number);
            kernarg_size = of_metadata.unwrap_or(0);
        }
        let max_threads = description.max_flat_workgroup_size();
        let max_threads = max_threads.and_then(Value::number);
        kernel.max_threads = max_threads.unwrap_or(1024);
        kernel.kernarg_size = Some(kernarg_size);
        let explicit = args.iter().filter(|argument| !argument.is_hidden());
        kernel.explicit_size = Some(explicit.map(|argument| argument.end()).max().unwrap_or(0));
        kernel.hidden = Hidden::of(&args);
        kernel.args = Some(args);
    }
}

/// The bytes in the file of what the image has at `place`; none unless they are there as a whole.
pub(super) fn stored(image: &Image, place: Span) -> Span {
    let pieces = image.pieces_in(place);
    let whole = pieces.into_iter().find_map(|piece| {
        let within = place.offset.checked_sub(piece.offset)?;
        let is_stored = Span::new(within, place.size).within(piece.stored.size);
        is_stored.then(|| Span::new(piece.stored.offset + within, place.size))
    });
    whole.unwrap_or_default()
}

/// The bytes in the file of `size` bytes that `symbol` names in a section that the image does not
/// hold.
fn outside(elf: &Elf, symbol: &Symbol, size: u64) -> Option<Span> {
    let section = elf.section(symbol.section)?;
    let within = Span::new(symbol.value.checked_sub(elf.start_of(section))?, size);
    let stored = elf.stored(section);
    let is_stored = within.within(stored.size);
    is_stored.then(|| Span::new(stored.offset + within.offset, size))
}

/// The target: of V2 by its notes, else by the file header.
fn target_of(elf: &Elf, version: Option<u32>, notes: &[Note]) -> Option<Target> {
    let of_header = Target::from_header(&elf.header);
    if version != Some(2) {
        return of_header;
    }
    let of_notes = notes
        .iter()
        .filter(|note| note.owner == "AMD")
        .find_map(|note| {
            let content = elf
                .source()
                .read_up_to(note.content.offset, note.content.size.min(64))
                .ok()?;
            match note.kind {
                3 => {
                    let number = |at: u32| bits(&content, at * 8, 32).map(|n| n as u32);
                    Target::from_isa_version([number(4)?, number(8)?, number(12)?])
                }
                11 => Target::from_isa_name(&text(&content)),
                _ => None,
            }
        });
    of_notes.or(of_header)
}

/// Gives each kernel its code. How long that is says the symbol whose bytes begin at the entry; in V2 at the
/// structure that stands before it.
fn find_code(elf: &Elf, kernels: &mut [Kernel]) {
    let start = |kernel: &Kernel| match kernel.descriptor_span.size {
        256 => kernel.descriptor,
        _ => kernel.entry,
    };
    let mut ends: Map<u64> = Map::default();
    for start in kernels.iter().filter_map(start) {
        ends.entry(&start.to_le_bytes(), 0);
    }
    for table in &elf.symbol_tables {
        let Ok(symbols) = elf.symbols(table) else {
            continue;
        };
        for symbol in symbols.iter() {
            if let Place::Image(offset) = elf.place(&symbol)
                && ends.get(&offset.to_le_bytes()).is_some()
            {
                let end = ends.entry(&offset.to_le_bytes(), 0);
                *end = offset.saturating_add(symbol.size).max(*end);
            }
        }
    }
    for kernel in kernels {
        let (Some(start), Some(entry)) = (start(kernel), kernel.entry) else {
            continue;
        };
        let end = ends.get(&start.to_le_bytes()).copied().unwrap_or(0);
        if let Some(rest) = elf.main_image().stored_from(entry) {
            let size = end.saturating_sub(entry).clamp(1, rest.size);
            kernel.code = Span::new(rest.offset, size);
        }
    }
}

/// The entry of each kernel of a file that is not linked yet, as far as it is known: where the
/// offset to the entry stands, a relocation says what it will be. Where there is none, the symbol
/// that has the kernel's name is the entry.
fn entries_by_relocation(elf: &Elf, found: &[Found]) -> Vec<Option<u64>> {
    const ENTRY_FIELD: u64 = 16;
    let mut wanted = Map::default();
    let mut names = Map::default();
    for (kernel, found) in found.iter().enumerate().filter(|(_, found)| !found.is_code) {
        let field = found.symbol.value.wrapping_add(ENTRY_FIELD);
        *wanted.entry(&index::pair(found.symbol.section.into(), field), kernel) = kernel;
        names.entry(found.name.as_bytes(), kernel);
    }
    let mut entries = vec![None; found.len()];
    let Some(table) = elf.symbol_tables.first() else {
        return entries;
    };
    let Ok(symbols) = elf.symbols(table) else {
        return entries;
    };
    let mut budget = elf.source().size();
    for symbol in symbols.iter().filter(|symbol| symbol.section != 0) {
        let name = symbols.strings.get(symbol.name.into()).unwrap_or_default();
        let Some(rest) = budget.checked_sub(name.len() as u64) else {
            break;
        };
        budget = rest;
        if let (Some(&kernel), Place::Image(offset)) = (names.get(name), elf.place(&symbol)) {
            entries[kernel].get_or_insert(offset);
        }
    }
    for table in &elf.relocation_tables {
        let (Some(target), Ok(relocations)) = (table.target, elf.relocations(table)) else {
            continue;
        };
        let Some(symbols) = elf.symbol_table_in(table.symbols) else {
            continue;
        };
        let Ok(symbols) = elf.symbols(symbols) else {
            continue;
        };
        for relocation in relocations.iter() {
            let field = index::pair(target.into(), relocation.offset);
            let Some(&kernel) = wanted.get(&field) else {
                continue;
            };
            let is_relative = matches!(relocation.kind, 4 | 5);
            let symbol = symbols.get(relocation.symbol.into());
            let place = symbol.map(|symbol| elf.place(&symbol));
            entries[kernel] = match (is_relative, place, elf.addend(table, &relocation)) {
                // The field is relative to itself, the entry to the descriptor.
                (true, Some(Place::Image(offset)), Some(addend)) => {
                    let entry = i128::from(offset) + addend - i128::from(ENTRY_FIELD);
                    let entry = u64::try_from(entry).ok();
                    entry.filter(|&entry| entry < elf.image.end)
                }
                _ => None,
            };
        }
    }
    entries
}

impl CodeObject {
    /// Offset in the file header of `e_flags`.
    pub(super) fn flags_at(elf: &Elf) -> u64 {
        match elf.header.class {
            Class::Elf32 => 36,
            Class::Elf64 => 48,
        }
    }
}
