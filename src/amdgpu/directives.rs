//! A kernel's descriptor as text that LLVM's assembler turns into the same bytes.

use std::fmt::Write;

use serde::Serialize;

use super::initial::{Initial, Words};
use super::registers::{Registers, Unit};
use super::target::{Setting, Target};
use super::{CodeObject, Kernel, tables};
use crate::elf::Elf;
use crate::error::Result;
use crate::record::{Field, Raw, Record};

/// A directive of an `.amdhsa_kernel` block: a row of [`tables::DIRECTIVES`].
#[derive(Debug)]
pub struct Directive {
    /// Its name without `.amdhsa_`.
    pub name: &'static str,
    /// The field that it sets; empty where it only changes what another counts.
    pub field: &'static str,
    /// The descriptors that have it, a space between; empty for all that have the field.
    pub of: &'static str,
    /// What else it depends on: `absolute`, `architected`, `wave64`.
    pub only: &'static str,
}

/// A field that no directive sets to what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Inexpressible {
    /// The field's name.
    pub field: String,
    /// Its bits in hexadecimal.
    pub raw: String,
    /// Why not.
    pub why: &'static str,
}

/// A kernel's descriptor as an `.amdhsa_kernel` block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Directives {
    /// The text, which assembles by itself; how is its first line.
    pub text: String,
    /// What the text does not say. The entry's offset is not among it: the linker writes it.
    pub missing: Vec<Inexpressible>,
}

impl Inexpressible {
    fn new(field: &Field, why: &'static str) -> Self {
        Self {
            field: field.name.clone(),
            raw: field.raw_text(),
            why,
        }
    }
}

const NO_DIRECTIVE: &str = "there is no directive for it";

impl CodeObject {
    /// The descriptor of `kernel` as an `.amdhsa_kernel` block for llvm-mc 22.
    ///
    /// # Errors
    /// If its bytes cannot be read.
    pub fn directives(&self, elf: &Elf, kernel: &Kernel) -> Result<Directives> {
        let settings = self.settings.filter(|_| kernel.descriptor_span.size == 64);
        let unit = settings.and_then(|settings| Unit::of(settings.processor));
        let (Some(settings), Some(unit)) = (settings, unit) else {
            return Ok(Directives::none(kernel));
        };
        let layout = settings.processor.descriptor_layout();
        let layout = layout.unwrap_or(&tables::KERNEL_DESCRIPTOR);
        let bytes = elf.source().read(kernel.descriptor_span)?;
        let record = layout.read("", &bytes, 0);
        let number = |field| record.number(field) as u32;
        let registers = Registers::decode(
            settings.processor,
            number("compute_pgm_rsrc1"),
            Some(number("compute_pgm_rsrc3")),
            number("ENABLE_WAVEFRONT_SIZE32") != 0,
        );
        let block = Block {
            registers: registers.unwrap_or_default(),
            record,
            settings,
            unit,
        };
        Ok(block.write(&kernel.name, self.version))
    }
}

impl Directives {
    /// For what LLVM 22 has no block.
    fn none(kernel: &Kernel) -> Self {
        let (field, why) = match kernel.descriptor_span.size {
            256 => (
                "amd_kernel_code_t",
                "LLVM 22 does not write code objects of V2",
            ),
            64 => ("kernel_descriptor_t", "the processor is not known"),
            _ => ("kernel_descriptor_t", "the file does not have its bytes"),
        };
        Self {
            text: format!("; {field}: {why}\n"),
            missing: vec![Inexpressible {
                field: field.into(),
                raw: String::new(),
                why,
            }],
        }
    }
}

/// What a block is written from.
struct Block {
    record: Record,
    settings: Target,
    unit: &'static Unit,
    registers: Registers,
}

/// What stands behind a directive.
struct Argument {
    /// The number; `None` to leave the directive out.
    value: Option<u64>,
    /// Why that does not give the field its bits, if so.
    why: Option<&'static str>,
}

impl From<u64> for Argument {
    fn from(value: u64) -> Self {
        Self {
            value: Some(value),
            why: None,
        }
    }
}

impl Argument {
    /// The number, or, if llvm-mc would not take it, another one that it takes.
    fn unless(is_refused: bool, why: &'static str, value: u64, instead: Option<u64>) -> Self {
        Self {
            value: if is_refused { instead } else { Some(value) },
            why: is_refused.then_some(why),
        }
    }
}

impl Block {
    fn number(&self, field: &str) -> u64 {
        self.record.number(field)
    }

    fn has_wave32(&self) -> bool {
        self.number("ENABLE_WAVEFRONT_SIZE32") != 0
    }

    /// Whether XNACK's mask takes scalar registers: as the target says, or llvm-mc objects.
    fn has_xnack_mask(&self) -> bool {
        matches!(self.settings.xnack, Setting::On | Setting::Any)
    }

    /// Whether the kernel's descriptor and its target have the directive.
    fn has(&self, row: &Directive) -> bool {
        let processor = self.settings.processor;
        let is_architected = processor.architected_flat_scratch;
        let has_field = match row.name {
            "reserve_vcc" => true,
            "reserve_flat_scratch" => processor.generation != "gfx6",
            "reserve_xnack_mask" => !matches!(processor.generation, "gfx6" | "gfx7"),
            _ => self.record.field(row.field).is_some(),
        };
        let of_descriptor =
            row.of.is_empty() || row.of.split(' ').any(|name| name == processor.descriptor);
        let only = match row.only {
            "absolute" => !is_architected,
            "architected" => is_architected,
            "wave64" => !self.has_wave32(),
            _ => true,
        };
        has_field && of_descriptor && only
    }

    fn argument(&self, row: &Directive) -> Argument {
        let registers = &self.registers;
        match row.name {
            "accum_offset" => {
                let offset = registers.accum_offset.unwrap_or(0);
                let is_past = offset > registers.vgprs.next_multiple_of(4);
                Argument::unless(is_past, "past the vector registers", offset.into(), Some(4))
            }
            "next_free_vgpr" => u64::from(registers.vgprs).into(),
            "next_free_sgpr" => self.free_sgprs(),
            "reserve_vcc" | "reserve_flat_scratch" => u64::from(self.reserves()).into(),
            "reserve_xnack_mask" => u64::from(self.has_xnack_mask()).into(),
            "shared_vgpr_count" => {
                let shared = self.number(row.field);
                let both = shared * 2 + self.number("GRANULATED_WORKITEM_VGPR_COUNT");
                Argument::unless(both > 63, "more than a wave has", shared, None)
            }
            "user_sgpr_kernarg_preload_length" => self.preload(),
            "user_sgpr_count" => {
                let initial = self.initial();
                let is_less = initial.count < initial.enabled;
                let why = "fewer than are enabled";
                Argument::unless(is_less, why, initial.count.into(), None)
            }
            _ => self.number(row.field).into(),
        }
    }

    /// SGPRs that llvm-mc adds to the free ones, without and with VCC and FLAT_SCRATCH set aside
    /// (`IsaInfo::getNumExtraSGPRs`).
    fn extra_sgprs(&self, reserves: bool) -> u32 {
        let processor = self.settings.processor;
        match (processor.generation, reserves) {
            _ if processor.architected_flat_scratch => 6,
            // The directive that leaves out FLAT_SCRATCH begins with gfx7.
            ("gfx6", _) => 4,
            ("gfx7", true) => 4,
            ("gfx7", false) => 0,
            (_, true) => 6,
            (_, false) if self.has_xnack_mask() => 4,
            (_, false) => 0,
        }
    }

    /// Whether VCC and FLAT_SCRATCH are set aside: only where more registers are counted than have a name.
    fn reserves(&self) -> bool {
        let free = self.registers.sgprs.saturating_sub(self.extra_sgprs(false));
        self.unit.sgprs > 0 && free > self.unit.sgprs_addressable
    }

    /// What the block sets up in registers: without arguments, where it cannot say so.
    fn initial(&self) -> Initial {
        let words = Words {
            properties: self.number("kernel_code_properties") as u32,
            rsrc2: self.number("compute_pgm_rsrc2") as u32,
            preload: self.preload().value.unwrap_or(0) as u32,
            is_v2: false,
        };
        Initial::decode(self.settings.processor, words)
    }

    /// Words of arguments: they have to be in the kernarg segment, if its size is stated, and to fit in SGPRs.
    fn preload(&self) -> Argument {
        let length = self.number("KERNARG_PRELOAD_SPEC_LENGTH");
        let end = 4 * (length + self.number("KERNARG_PRELOAD_SPEC_OFFSET"));
        let size = self.number("kernarg_size");
        let is_outside = length > 0 && size > 0 && end > size;
        let user_sgprs = match self.settings.processor.descriptor {
            "gfx125" => 32,
            _ => 16,
        };
        let (is_refused, why) = match length > user_sgprs {
            true => (true, "more than there are user SGPRs"),
            false => (is_outside, "they end past the arguments"),
        };
        Argument::unless(is_refused, why, length, None)
    }

    /// User SGPRs where arguments are preloaded, else 0: llvm-mc takes at least as many for free ones.
    fn preloaded(&self) -> u32 {
        let initial = self.initial();
        match self.preload().value {
            None | Some(0) => 0,
            _ => initial.count.max(initial.enabled),
        }
    }

    fn free_sgprs(&self) -> Argument {
        let field = self.number("GRANULATED_WAVEFRONT_SGPR_COUNT");
        let named = self.unit.sgprs_addressable;
        if self.unit.sgprs == 0 {
            // The number is not encoded.
            return Argument::unless(field != 0, NO_DIRECTIVE, 8, Some(8));
        }
        let processor = self.settings.processor;
        let extra = self.extra_sgprs(self.reserves());
        let most = match processor.generation {
            // Here they have to have names together with those that are set aside.
            "gfx6" | "gfx7" => named - extra,
            _ => named,
        };
        let free = self.registers.sgprs.saturating_sub(extra).min(most);
        let loaded = self.preloaded();
        let (free, why) = match free < loaded {
            true => (
                loaded,
                "fewer than the user SGPRs of preloaded arguments take",
            ),
            false => (free, "more than the processor can address"),
        };
        let said = (free + extra).div_ceil(8).max(1) - 1;
        Argument::unless(
            field != u64::from(said),
            why,
            free.into(),
            Some(free.into()),
        )
    }

    fn write(&self, name: &str, version: Option<u32>) -> Directives {
        let mut lines = String::new();
        let mut said: Vec<&str> = Vec::new();
        let mut missing = Vec::new();
        for row in tables::DIRECTIVES.iter().filter(|row| self.has(row)) {
            let argument = self.argument(row);
            if let Some(value) = argument.value {
                let _ = writeln!(lines, "\t.amdhsa_{} {value}", row.name);
            }
            if let (Some(why), Some(field)) = (argument.why, self.record.field(row.field)) {
                missing.push(Inexpressible::new(field, why));
            }
            said.push(row.field);
        }
        for field in &self.record.fields {
            let is_set = match &field.raw {
                Raw::Int(raw) => *raw != 0,
                Raw::Bytes(bytes) => bytes.iter().any(|&byte| byte != 0),
                Raw::None => false,
            };
            // The entry's offset is the linker's; whole words are made of their fields.
            let is_open = field.alternative_of.is_none()
                && field.name != "kernel_code_entry_byte_offset"
                && !said.contains(&field.name.as_str());
            if is_set && is_open {
                missing.push(Inexpressible::new(field, NO_DIRECTIVE));
            }
        }
        Directives {
            text: self.around(name, version, &lines, &missing),
            missing,
        }
    }

    /// The block with what stands before it.
    fn around(
        &self,
        name: &str,
        version: Option<u32>,
        lines: &str,
        missing: &[Inexpressible],
    ) -> String {
        let processor = self.settings.processor;
        let mut text = format!(
            "; llvm-mc -triple=amdgcn-amd-amdhsa -mcpu={}",
            processor.name
        );
        let features = self.settings.features();
        if !features.is_empty() {
            // The assembler has the sign first.
            let features: Vec<String> = features
                .iter()
                .filter_map(|feature| {
                    let at = feature.len().checked_sub(1)?;
                    Some(format!("{}{}", feature.get(at..)?, feature.get(..at)?))
                })
                .collect();
            let _ = write!(text, " -mattr={}", features.join(","));
        }
        text.push_str(" -filetype=obj\n");
        text.push_str("; The offset of the entry is left to the linker.\n");
        for missing in missing {
            let Inexpressible { field, raw, why } = missing;
            let _ = writeln!(text, "; not expressed: {field} = {raw}: {why}");
        }
        // LLVM 22 writes V4 and later; descriptors of V3 are the same.
        let version = version.unwrap_or(5).max(4);
        let name = symbol(name);
        let _ = write!(
            text,
            "\t.amdgcn_target \"amdgcn-amd-amdhsa--{}\"\n\
             \t.amdhsa_code_object_version {version}\n\
             \t.section .rodata,\"a\",@progbits\n\
             \t.p2align 6\n\
             .amdhsa_kernel {name}\n{lines}.end_amdhsa_kernel\n",
            self.settings
        );
        text
    }
}

/// A symbol's name as the assembler takes it. It has no way to write quotation marks and control characters;
/// they become `_`.
fn symbol(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    if !name.is_empty()
        && name.chars().all(is_plain)
        && !name.starts_with(|c: char| c.is_ascii_digit())
    {
        return name.into();
    }
    let bad = |c: char| c.is_control() || matches!(c, '"' | '\\');
    let text: String = name.chars().map(|c| if bad(c) { '_' } else { c }).collect();
    format!("\"{text}\"")
}
