//! The kernels of a file as [`Table`]s, and one kernel with all that is known of it.

use serde::Serialize;

use crate::amdgpu;
use crate::device::Device;
use crate::document::Document;
use crate::nvidia;
use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::span::Span;

/// The kernels of a cubin.
pub struct CubinKernelList<'a>(pub &'a [nvidia::Kernel]);

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
            "stack_bytes" => kernel.stack_bytes.into(),
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
pub struct AmdgpuKernelList<'a>(pub &'a [amdgpu::Kernel]);

impl Table for AmdgpuKernelList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("name", "Name", Unit::Text),
            column("vgprs", "VGPRs allocated", Unit::Number),
            column("sgprs", "SGPRs allocated", Unit::Number),
            column("agprs", "AGPRs allocated", Unit::Number),
            column("group_segment", "LDS", Unit::Size),
            column("private_segment", "Scratch", Unit::Size),
            column("kernarg_size", "Kernarg", Unit::Size),
            column("max_threads", "Max threads", Unit::Number),
            column("wave32", "Wave32", Unit::Word),
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

/// A cubin's kernel with its attributes.
#[derive(Debug, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct CubinKernel {
    /// The kernel.
    #[serde(flatten)]
    pub kernel: nvidia::Kernel,
    /// The attributes of `.nv.info.<name>`, in file order.
    pub attributes: Vec<nvidia::Attribute>,
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
    Amdgpu(amdgpu::Kernel),
}

impl Document {
    /// The kernel of that index in the table of kernels, with all that is known of it.
    pub fn kernel(&self, index: usize) -> Option<KernelDetail> {
        match self.device() {
            Device::None => None,
            Device::Cubin(cubin) => {
                let kernel = cubin.kernels.get(index)?.clone();
                let attributes = kernel.attributes(self.elf()?);
                Some(KernelDetail::Cubin(CubinKernel { kernel, attributes }))
            }
            Device::CodeObject(object) => {
                Some(KernelDetail::Amdgpu(object.kernels.get(index)?.clone()))
            }
        }
    }

    /// How many kernels it has; `None` where it cannot have any.
    pub fn kernel_count(&self) -> Option<usize> {
        match self.device() {
            Device::None => None,
            Device::Cubin(cubin) => Some(cubin.kernels.len()),
            Device::CodeObject(object) => Some(object.kernels.len()),
        }
    }
}
