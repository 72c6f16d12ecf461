//! The kernels of a file as [`Table`]s, and one kernel with all that is known of it.

use serde::Serialize;

// TypeScript's declarations name the types of fields as they are written here.
use crate::amdgpu::Kernel as AmdgpuKernel;
use crate::device::Device;
use crate::document::Document;
use crate::elf::{Elf, Symbols};
use crate::nvidia::{self, Kernel as NvidiaKernel};
use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::span::Span;

/// The kernels of a cubin.
pub struct CubinKernelList<'a>(pub &'a [NvidiaKernel]);

impl Table for CubinKernelList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("name", "Name", Unit::Text),
            column("entry_point", "Kernel", Unit::Word),
            column("registers", "Registers", Unit::Number),
            column("stack_bytes", "Stack", Unit::Size),
            column("shared_bytes", "Shared", Unit::Size),
            column("local_bytes", "Local", Unit::Size),
            column("barriers", "Barriers", Unit::Number),
            column("params_bytes", "Parameters", Unit::Size),
            hidden("params_offset", "Parameters at", Unit::Hex),
            column("constant0_bytes", "Constant 0", Unit::Size),
            column("code_bytes", "Code", Unit::Size),
            column("code_offset", "Code in image", Unit::Hex),
            hidden("section", "Section", Unit::Number),
            hidden("call_stack", "Stack with calls", Unit::Size),
            hidden("max_registers", "Most registers", Unit::Number),
            hidden("textures", "Textures", Unit::Number),
            hidden("surfaces", "Surfaces", Unit::Number),
            hidden("samplers", "Samplers", Unit::Number),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(kernel) = self.0.get(row as usize) else {
            return Cell::None;
        };
        match key {
            "name" => kernel.name.as_str().into(),
            "entry_point" => kernel.entry_point.into(),
            "registers" => kernel.registers.into(),
            // With recursion nothing bounds it.
            "stack_bytes" if kernel.stack_bytes == u32::MAX => "unknown".into(),
            "stack_bytes" => kernel.stack_bytes.into(),
            "call_stack" => kernel.call_stack.and_then(|stack| stack.bytes).into(),
            "textures" => kernel.textures.into(),
            "surfaces" => kernel.surfaces.into(),
            "samplers" => kernel.samplers.into(),
            "max_registers" => kernel.max_registers.into(),
            "shared_bytes" => kernel.shared_bytes.into(),
            "local_bytes" => kernel.local_bytes.into(),
            "barriers" => kernel.barriers.into(),
            "params_bytes" => kernel.params_bytes.into(),
            "params_offset" => kernel.params_offset.into(),
            "constant0_bytes" => {
                let bank = kernel.banks.iter().find(|bank| bank.index == 0);
                bank.map_or(0, |bank| bank.bytes).into()
            }
            "code_bytes" => kernel.code_bytes.into(),
            "code_offset" => kernel.code_offset.into(),
            "section" => kernel.section.into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.0.get(row as usize).map(|kernel| kernel.code)
    }

    fn target(&self, row: u64) -> Option<Span> {
        self.0.get(row as usize)?.code.some()
    }
}

/// The kernels of a code object.
pub struct AmdgpuKernelList<'a>(pub &'a [AmdgpuKernel]);

impl Table for AmdgpuKernelList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("name", "Name", Unit::Text),
            column("vgprs_used", "VGPRs used", Unit::Number),
            column("vgprs", "VGPRs allocated", Unit::Number),
            column("sgprs_used", "SGPRs used", Unit::Number),
            column("sgprs", "SGPRs allocated", Unit::Number),
            column("agprs_used", "AGPRs used", Unit::Number),
            column("agprs", "AGPRs allocated", Unit::Number),
            column("occupancy", "Waves a SIMD", Unit::Number),
            column("limits", "Limited by", Unit::Word),
            column("group_segment", "LDS", Unit::Size),
            column("private_segment", "Scratch", Unit::Size),
            column("kernarg_size", "Kernarg", Unit::Size),
            column("max_threads", "Max threads", Unit::Number),
            column("wave_size", "Wave", Unit::Number),
            hidden("wave32", "Wave32", Unit::Word),
            column("vgpr_spills", "VGPR spills", Unit::Number),
            column("sgpr_spills", "SGPR spills", Unit::Number),
            hidden("accum_offset", "AGPRs begin at", Unit::Number),
            column("descriptor", "Descriptor in image", Unit::Hex),
            column("entry", "Entry in image", Unit::Hex),
            hidden("explicit_size", "Explicit arguments", Unit::Size),
            hidden("rsrc1", "RSRC1", Unit::Hex),
            hidden("rsrc2", "RSRC2", Unit::Hex),
            hidden("rsrc3", "RSRC3", Unit::Hex),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(kernel) = self.0.get(row as usize) else {
            return Cell::None;
        };
        match key {
            "name" => kernel.name.as_str().into(),
            "vgprs" => kernel.vgprs.into(),
            "sgprs" => kernel.sgprs.into(),
            "agprs" => kernel.agprs.into(),
            "vgprs_used" => kernel.vgprs_used.into(),
            "sgprs_used" => kernel.sgprs_used.into(),
            "agprs_used" => kernel.agprs_used.into(),
            "accum_offset" => kernel.accum_offset.into(),
            "vgpr_spills" => kernel.vgpr_spills.into(),
            "sgpr_spills" => kernel.sgpr_spills.into(),
            "wave_size" => kernel.wave_size.into(),
            "occupancy" => kernel.occupancy.as_ref().map(|o| o.waves).into(),
            "limits" => match &kernel.occupancy {
                Some(of) => {
                    let words = of.limits.iter().map(|&limit| match limit {
                        "workgroups" => format!("workgroups of {}", of.workgroup),
                        _ => limit.into(),
                    });
                    words.collect::<Vec<_>>().join(", ").into()
                }
                None => Cell::None,
            },
            "group_segment" => kernel.group_segment.into(),
            "private_segment" => kernel.private_segment.into(),
            "kernarg_size" => kernel.kernarg_size.into(),
            "max_threads" => kernel.max_threads.into(),
            "wave32" => kernel.wave32.into(),
            "descriptor" => kernel.descriptor.into(),
            "entry" => kernel.entry.into(),
            "explicit_size" => kernel.explicit_size.into(),
            "rsrc1" => kernel.rsrc1.into(),
            "rsrc2" => kernel.rsrc2.into(),
            "rsrc3" => kernel.rsrc3.into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.0
            .get(row as usize)
            .map(|kernel| kernel.descriptor_span)
    }

    fn target(&self, row: u64) -> Option<Span> {
        self.0.get(row as usize)?.code.some()
    }
}

/// The attributes of a cubin's kernel.
pub struct AttributeList<'a>(pub nvidia::Attributes<'a>);

impl Table for AttributeList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("name", "Attribute", Unit::Word),
            column("format", "Format", Unit::Word),
            column("text", "Value", Unit::Text),
            column("offset", "Offset", Unit::Hex),
            hidden("id", "Number", Unit::Hex),
            hidden("size", "Size", Unit::Size),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(attribute) = self.0.get(row as usize) else {
            return Cell::None;
        };
        match key {
            "name" => attribute.name.into(),
            "format" => attribute.format.into(),
            "text" => attribute.text.into(),
            "offset" => attribute.offset.into(),
            "id" => u32::from(attribute.id).into(),
            "size" => attribute.size.into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.0.entry(row as usize).map(|entry| entry.span())
    }
}

/// The call graph of a cubin.
pub struct CallList<'a> {
    graph: &'a nvidia::CallGraph,
    symbols: Option<Symbols<'a>>,
}

impl<'a> CallList<'a> {
    /// The calls of `cubin`.
    pub fn new(elf: &'a Elf, cubin: &'a nvidia::Cubin) -> Self {
        Self {
            graph: &cubin.calls,
            symbols: cubin.calls.symbols(elf),
        }
    }
}

impl Table for CallList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("caller", "Function", Unit::Text),
            column("relation", "What it does", Unit::Word),
            column("callee", "Other function, or prototype", Unit::Text),
            hidden("caller_symbol", "Symbol", Unit::Number),
            hidden("callee_symbol", "Other symbol", Unit::Number),
            column("offset", "Offset", Unit::Hex),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.graph.entries.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(entry) = self.graph.entries.get(row as usize) else {
            return Cell::None;
        };
        let symbols = self.symbols.as_ref();
        match key {
            "caller" => nvidia::CallGraph::name(symbols, entry.caller).into(),
            "relation" => entry.relation.words().into(),
            "callee" => nvidia::CallGraph::callee(symbols, entry).into(),
            "caller_symbol" => entry.caller.into(),
            "callee_symbol" if entry.relation.has_prototype() => Cell::None,
            "callee_symbol" => entry.callee.into(),
            "offset" => entry.offset.into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.graph
            .entries
            .get(row as usize)
            .map(|entry| entry.span())
    }
}

/// What a kernel calls and the functions that lie in it, handed out with it at most; the tables have the rest.
const NAMED_LIMIT: usize = 256;

/// A cubin's kernel with its surroundings.
#[derive(Debug, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct CubinKernel {
    /// The kernel.
    #[serde(flatten)]
    pub kernel: NvidiaKernel,
    /// What it calls, and what it takes the address of.
    pub callees: Vec<nvidia::Callee>,
    /// The device functions that lie in its code.
    pub inner_functions: Vec<nvidia::InnerFunction>,
}

/// A kernel with all that is known of it.
#[derive(Debug, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
#[serde(tag = "family", rename_all = "snake_case")]
pub enum KernelDetail {
    /// Of a cubin.
    Cubin(CubinKernel),
    /// Of a code object.
    Amdgpu(AmdgpuKernel),
}

impl Document {
    /// The kernel of that index in the table of kernels, with all that is known of it.
    pub fn kernel(&self, index: usize) -> Option<KernelDetail> {
        match self.device() {
            Device::None | Device::Coredump(_) => None,
            Device::Cubin(cubin) => {
                let kernel = cubin.kernels.get(index)?.clone();
                let elf = self.elf()?;
                Some(KernelDetail::Cubin(CubinKernel {
                    callees: cubin.callees(elf, &kernel, NAMED_LIMIT),
                    inner_functions: kernel.inner_functions(elf, NAMED_LIMIT),
                    kernel,
                }))
            }
            Device::CodeObject(object) => {
                Some(KernelDetail::Amdgpu(object.kernels.get(index)?.clone()))
            }
        }
    }

    /// How many kernels it has; `None` where it cannot have any.
    pub fn kernel_count(&self) -> Option<usize> {
        match self.device() {
            Device::None | Device::Coredump(_) => None,
            Device::Cubin(cubin) => Some(cubin.kernels.len()),
            Device::CodeObject(object) => Some(object.kernels.len()),
        }
    }
}
