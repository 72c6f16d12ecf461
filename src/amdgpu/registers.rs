//! How many registers a kernel's descriptor asks for.

use super::Processor;

/// Registers of a wavefront's lane or of the wavefront, as the hardware allocates them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// Vector registers, accumulation ones included where both are one file.
    pub vgprs: Option<u32>,
    /// Scalar registers.
    pub sgprs: Option<u32>,
    /// Accumulation registers, where they are the upper part of the vector registers.
    pub agprs: Option<u32>,
}

impl Registers {
    /// Decodes the register words of a kernel for `processor`. The words count in steps that
    /// depend on the generation, so these are upper bounds of what the code uses (LLVM 22,
    /// `IsaInfo::getVGPREncodingGranule` and `getSGPREncodingGranule`).
    pub fn decode(processor: &Processor, rsrc1: u32, rsrc3: Option<u32>, wave32: bool) -> Self {
        let vgpr_step = match processor.descriptor {
            "gfx6" | "gfx9" => 4,
            "gfx90a" => 8,
            "gfx10" | "gfx11" | "gfx120" if wave32 => 8,
            "gfx10" | "gfx11" | "gfx120" => 4,
            "gfx125" => 16,
            _ => return Self::default(),
        };
        let vgprs = ((rsrc1 & 63) + 1) * vgpr_step;
        let sgprs = match processor.descriptor {
            "gfx6" | "gfx9" | "gfx90a" => ((rsrc1 >> 6 & 15) + 1) * 8,
            // From gfx10 on all wavefronts have as many, whatever the field says.
            _ => 128,
        };
        // ACCUM_OFFSET: where in the one register file the accumulation registers begin.
        let agprs = match (processor.descriptor, rsrc3) {
            ("gfx90a", Some(rsrc3)) => Some(vgprs.saturating_sub(((rsrc3 & 63) + 1) * 4)),
            _ => None,
        };
        Self {
            vgprs: Some(vgprs),
            sgprs: Some(sgprs),
            agprs,
        }
    }
}
