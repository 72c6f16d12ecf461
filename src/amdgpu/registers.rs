//! How many registers a kernel's descriptor asks for, and how many the hardware then allocates.

use super::{Processor, tables};

/// Registers and LDS of a compute unit, shared out among its waves: a row of [`tables::UNITS`], which says
/// what each number is.
#[derive(Debug)]
pub struct Unit {
    /// Names of the processors that have it, a space between.
    pub processors: &'static str,
    /// VGPRs that a lane could have if its wave had the SIMD to itself.
    pub vgprs: u32,
    /// VGPRs are allocated by so many.
    pub vgpr_granule: u32,
    /// The descriptor counts VGPRs by so many.
    pub vgpr_encoding: u32,
    /// SGPRs that the waves of a SIMD share; 0 where every wave has all.
    pub sgprs: u32,
    /// SGPRs are allocated by so many.
    pub sgpr_granule: u32,
    /// SGPRs that have a name.
    pub sgprs_addressable: u32,
    /// Waves that a SIMD holds at most.
    pub waves: u32,
    /// Bytes of LDS.
    pub lds: u32,
    /// LDS is allocated by so many bytes.
    pub lds_granule: u32,
}

/// SGPRs of every wave from gfx10 on, whatever the descriptor says.
const SGPRS_OF_ALL: u32 = 128;

/// The descriptor counts SGPRs by so many, wherever it does.
const SGPR_ENCODING: u32 = 8;

impl Unit {
    /// That of `processor`; `None` of those before gfx6.
    pub fn of(processor: &Processor) -> Option<&'static Self> {
        let has = |unit: &&Self| {
            unit.processors
                .split(' ')
                .any(|name| name == processor.name)
        };
        tables::UNITS.iter().find(has)
    }

    /// A number of VGPRs that the table has for the smallest wave, for a wave of 32 lanes or not: where waves
    /// can have 32, those of 64 have half as many.
    pub fn share(processor: &Processor, wave32: bool, number: u32) -> u32 {
        match processor.wave32 && !wave32 {
            true => number / 2,
            false => number,
        }
    }
}

/// Registers of a wavefront's lane or of the wavefront.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// Vector registers as the descriptor counts them, accumulation ones included where both are one file.
    pub vgprs: u32,
    /// Scalar registers as the descriptor counts them.
    pub sgprs: u32,
    /// Vector registers that are allocated.
    pub allocated_vgprs: u32,
    /// Scalar registers that are allocated.
    pub allocated_sgprs: u32,
    /// Accumulation registers that are allocated, where the processor has some.
    pub allocated_agprs: Option<u32>,
    /// Where in the one file the accumulation registers begin.
    pub accum_offset: Option<u32>,
}

impl Registers {
    /// Decodes the register words of a kernel for `processor`. The words count in steps, so these are upper
    /// bounds of what the code uses (LLVM 22, `IsaInfo::getVGPREncodingGranule`, `getVGPRAllocGranule` and
    /// those of SGPRs). `None` where the processor has no such words.
    pub fn decode(
        processor: &Processor,
        rsrc1: u32,
        rsrc3: Option<u32>,
        wave32: bool,
    ) -> Option<Self> {
        let unit = Unit::of(processor)?;
        let share = |number| Unit::share(processor, wave32, number);
        let vgprs = ((rsrc1 & 63) + 1) * share(unit.vgpr_encoding);
        let sgprs = match unit.sgprs {
            0 => SGPRS_OF_ALL,
            _ => ((rsrc1 >> 6 & 15) + 1) * SGPR_ENCODING,
        };
        let allocated_vgprs = vgprs.next_multiple_of(share(unit.vgpr_granule));
        let accum_offset = match (processor.descriptor, rsrc3) {
            ("gfx90a", Some(rsrc3)) => Some(((rsrc3 & 63) + 1) * 4),
            _ => None,
        };
        Some(Self {
            vgprs,
            sgprs,
            allocated_vgprs,
            allocated_sgprs: match unit.sgprs {
                0 => sgprs,
                _ => sgprs.next_multiple_of(unit.sgpr_granule),
            },
            allocated_agprs: match accum_offset {
                Some(offset) => Some(allocated_vgprs.saturating_sub(offset)),
                // A file of its own, of which as much is allocated.
                None => (processor.name == "gfx908").then_some(allocated_vgprs),
            },
            accum_offset,
        })
    }
}
