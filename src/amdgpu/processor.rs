//! The processors that LLVM knows.

use super::tables;
use crate::record::Layout;

/// A processor, or a generic one that stands for several.
#[derive(Debug, PartialEq, Eq)]
pub struct Processor {
    /// `EF_AMDGPU_MACH` of `e_flags`.
    pub mach: u32,
    /// LLVM's name, such as `gfx942`.
    pub name: &'static str,
    /// The generation of its instruction set: `gfx9`; `r600` for all that came before.
    pub generation: &'static str,
    /// Which kernel descriptor it has, by the processor that introduced it; empty for `r600`.
    pub descriptor: &'static str,
    /// Whether code is built for XNACK being on, off or any.
    pub xnack: bool,
    /// Whether code is built for SRAMECC being on, off or any.
    pub sramecc: bool,
    /// Whether a wavefront can have 32 lanes.
    pub wave32: bool,
    /// Whether a wavefront can have 64 lanes.
    pub wave64: bool,
    /// Lanes of a wavefront if nothing is said.
    pub wave_size: u32,
    /// Whether the hardware itself sets up scratch for flat addresses.
    pub architected_flat_scratch: bool,
    /// Whether the three work-item IDs come in one register.
    pub packed_work_item_ids: bool,
    /// Whether arguments can be loaded to registers before a kernel starts.
    pub kernarg_preload: bool,
    /// The generic processor whose code it runs; empty if none.
    pub generic: &'static str,
    /// Of a generic processor: those that run its code.
    pub members: &'static [&'static str],
}

impl Processor {
    /// The processor of an `EF_AMDGPU_MACH` value.
    pub fn by_mach(mach: u32) -> Option<&'static Self> {
        let at = tables::PROCESSORS.binary_search_by_key(&mach, |p| p.mach);
        at.ok().and_then(|at| tables::PROCESSORS.get(at))
    }

    /// The processor that LLVM calls `name`.
    pub fn named(name: &str) -> Option<&'static Self> {
        tables::PROCESSORS.iter().find(|p| p.name == name)
    }

    /// Whether it stands for several.
    pub fn is_generic(&self) -> bool {
        !self.members.is_empty()
    }

    /// Whether its code runs on `gpu`.
    pub fn runs_on(&self, gpu: &str) -> bool {
        self.name == gpu || self.members.contains(&gpu)
    }

    /// The layout of its kernel descriptors.
    pub fn descriptor_layout(&self) -> Option<&'static Layout> {
        Some(match self.descriptor {
            "gfx6" => &tables::KERNEL_DESCRIPTOR_GFX6,
            "gfx9" => &tables::KERNEL_DESCRIPTOR_GFX9,
            "gfx90a" => &tables::KERNEL_DESCRIPTOR_GFX90A,
            "gfx10" => &tables::KERNEL_DESCRIPTOR_GFX10,
            "gfx11" => &tables::KERNEL_DESCRIPTOR_GFX11,
            "gfx120" => &tables::KERNEL_DESCRIPTOR_GFX120,
            "gfx125" => &tables::KERNEL_DESCRIPTOR_GFX125,
            _ => return None,
        })
    }

    /// Bytes of LDS that a workgroup can have: LLVM 22, `IsaInfo::getAddressableLocalMemorySize`.
    pub fn lds_limit(&self) -> u64 {
        match (self.generation, self.name, self.descriptor) {
            ("gfx6", ..) => 32 << 10,
            (_, "gfx950", _) => 160 << 10,
            (.., "gfx125") => 320 << 10,
            _ => 64 << 10,
        }
    }

    /// Bytes of scratch that a lane of a wavefront of `lanes` can have: what WAVESIZE of
    /// COMPUTE_TMPRING_SIZE can say for a wave, shared out (LLVM 22, limit of the stack frame).
    pub fn scratch_limit(&self, lanes: u64) -> u64 {
        let of_wave: u64 = match self.generation {
            "gfx11" => ((1 << 15) - 1) * 256,
            "gfx12" => ((1 << 18) - 1) * 256,
            _ => ((1 << 13) - 1) * 1024,
        };
        of_wave / lanes.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_found_by_number_and_by_name() {
        for pair in tables::PROCESSORS.windows(2) {
            assert!(pair[0].mach < pair[1].mach);
        }
        for processor in tables::PROCESSORS {
            assert_eq!(Processor::by_mach(processor.mach), Some(processor));
            assert_eq!(Processor::named(processor.name), Some(processor));
            let has_layout = processor.descriptor_layout().is_some();
            assert_eq!(has_layout, processor.generation != "r600");
            for member in processor.members {
                assert_eq!(Processor::named(member).unwrap().generic, processor.name);
            }
        }
        assert_eq!(Processor::by_mach(0), None);
        assert_eq!(Processor::by_mach(0xfe), None);
    }

    #[test]
    fn generic_code_runs_on_its_members() {
        let generic = Processor::named("gfx11-generic").unwrap();
        assert!(generic.is_generic() && generic.runs_on("gfx1151"));
        assert!(!generic.runs_on("gfx1030"));
        let gpu = Processor::named("gfx906").unwrap();
        assert!(gpu.runs_on("gfx906") && !gpu.runs_on("gfx908"));
    }

    #[test]
    fn scratch_limits_are_those_of_clang() {
        // clang 22: "stack frame size (…) exceeds limit (…)"
        let limit = |name, lanes| Processor::named(name).unwrap().scratch_limit(lanes);
        assert_eq!(limit("gfx906", 64), 131_056);
        assert_eq!(limit("gfx1030", 64), 131_056);
        assert_eq!(limit("gfx1030", 32), 262_112);
        assert_eq!(limit("gfx1100", 64), 131_068);
        assert_eq!(limit("gfx1100", 32), 262_136);
        assert_eq!(limit("gfx1201", 64), 1_048_572);
        assert_eq!(limit("gfx1250", 32), 2_097_144);
    }
}
