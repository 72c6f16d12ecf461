//! A kernel: what its descriptor and its metadata say of it.

use serde::Serialize;

use super::Processor;
use super::argument::Argument;
use super::initial::InitialRegister;
use super::occupancy::Occupancy;
use super::zero::NonZero;
use crate::order;
use crate::span::Span;

/// A kernel of a code object. What the file does not give is `None`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object, rename = "AmdgpuKernel")
)] // in TypeScript, which knows no modules
pub struct Kernel {
    /// Its name: that of its descriptor's symbol without `.kd`.
    pub name: String,
    /// Offset in the image of its descriptor; of code object V2 of its `amd_kernel_code_t`.
    #[serde(serialize_with = "crate::int::serialize_option")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int | null"))]
    pub descriptor: Option<u64>,
    /// Offset in the image of its first instruction.
    #[serde(serialize_with = "crate::int::serialize_option")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int | null"))]
    pub entry: Option<u64>,
    /// Bytes of LDS of a workgroup, without what a dispatch adds.
    pub group_segment: Option<u32>,
    /// Bytes of scratch of a work-item.
    pub private_segment: Option<u32>,
    /// Bytes of the kernarg segment: the descriptor's, or where it has 0 the metadata's, or 0.
    #[serde(serialize_with = "crate::int::serialize_option")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int | null"))]
    pub kernarg_size: Option<u64>,
    /// Where the last argument that the program passes ends; all of the kernarg segment where the
    /// metadata does not describe the kernel.
    #[serde(serialize_with = "crate::int::serialize_option")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int | null"))]
    pub explicit_size: Option<u64>,
    /// COMPUTE_PGM_RSRC1: registers and floating-point modes.
    pub rsrc1: Option<u32>,
    /// COMPUTE_PGM_RSRC2: what is set up in registers, and exceptions.
    pub rsrc2: Option<u32>,
    /// COMPUTE_PGM_RSRC3; code object V2 has none.
    pub rsrc3: Option<u32>,
    /// Whether a wavefront has 32 lanes, not 64.
    pub wave32: Option<bool>,
    /// Whether it is given the address of its dispatch packet.
    pub dispatch_ptr: Option<bool>,
    /// Whether it is given a buffer descriptor of its scratch.
    pub private_segment_buffer: Option<bool>,
    /// Work-items that a workgroup can have: the metadata's, or 1024.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub max_threads: u64,
    /// Lanes of a wavefront.
    pub wave_size: Option<u32>,
    /// Vector registers allocated to a lane, accumulation ones included where both are one file.
    pub vgprs: Option<u32>,
    /// Scalar registers allocated to a wavefront.
    pub sgprs: Option<u32>,
    /// How many accumulation registers are allocated, which are part of the vector registers where both are
    /// one file.
    pub agprs: Option<u32>,
    /// Vector registers that the code uses by the metadata, accumulation ones included where both are one file.
    pub vgprs_used: Option<u32>,
    /// Scalar registers that the code uses by the metadata, those set aside for VCC and the like included.
    pub sgprs_used: Option<u32>,
    /// Accumulation registers that the code uses by the metadata.
    pub agprs_used: Option<u32>,
    /// Where in the one file of vector registers the accumulation registers begin.
    pub accum_offset: Option<u32>,
    /// Stores of vector registers to memory that the compiler had to add, by the metadata.
    pub vgpr_spills: Option<u32>,
    /// Those of scalar registers.
    pub sgpr_spills: Option<u32>,
    /// The registers that are set up before it starts, in order.
    pub initial: Vec<InitialRegister>,
    /// How many waves of it a SIMD holds at once; `None` where the processor is not known.
    pub occupancy: Option<Occupancy>,
    /// Fields of its descriptor that must be zero and are not.
    pub non_zero: Vec<NonZero>,
    /// The arguments that the runtime passes, by offset; places that nothing uses are left out.
    pub hidden: Vec<Hidden>,
    /// All arguments in the metadata's order; `None` where it does not describe the kernel.
    pub args: Option<Vec<Argument>>,
    /// The bytes in the file of its code: of the function that begins at the entry; one byte where no symbol
    /// says how long that is, none where the file does not have it.
    pub code: Span,
    /// The descriptor's bytes in the file; none where the image has them from no file.
    pub descriptor_span: Span,
}

impl Kernel {
    /// Whether the waves of a workgroup may be on both compute units of a WGP, where there are some.
    pub fn has_wgp_mode(&self) -> bool {
        self.rsrc1.unwrap_or(0) >> 29 & 1 != 0
    }

    /// Whether `processor` allocates vector registers as a wave of it runs.
    pub fn has_dynamic_vgprs(&self, processor: &Processor) -> bool {
        let bit = |word: Option<u32>, bit: u32| word.unwrap_or(0) >> bit & 1 != 0;
        match processor.descriptor {
            "gfx120" => bit(self.rsrc2, 6),
            "gfx125" => bit(self.rsrc3, 17),
            _ => false,
        }
    }
}

/// An argument that the runtime passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Hidden {
    /// What it is: the metadata's value kind, such as `hidden_block_count_x`.
    pub kind: String,
    /// Where it lies in the kernarg segment.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub offset: u64,
    /// Bytes.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub size: u64,
}

impl Hidden {
    /// Those of `arguments`, by offset.
    pub fn of(arguments: &[Argument]) -> Vec<Self> {
        let hidden = arguments.iter();
        let mut hidden: Vec<Self> = hidden
            .filter(|argument| argument.is_hidden() && argument.kind != "hidden_none")
            .map(|argument| Self {
                kind: argument.kind.clone(),
                offset: argument.offset,
                size: argument.size,
            })
            .collect();
        order::arrange(&mut hidden, |argument| argument.offset);
        hidden
    }
}
