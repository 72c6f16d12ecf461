//! How many waves of a kernel a SIMD holds at once, and what keeps it from holding more.

use serde::Serialize;

use super::Processor;
use super::registers::{Registers, Unit};

/// Waves of a kernel that a SIMD holds at once, workgroups having as many work-items as they may.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Occupancy {
    /// Waves of a SIMD: the least of what follows.
    pub waves: u32,
    /// Waves that a SIMD of this processor holds at most.
    pub most: u32,
    /// Waves that the vector registers suffice for; `None` where they are allocated as a wave runs.
    pub by_vgprs: Option<u32>,
    /// Waves that the scalar registers suffice for; `None` from gfx10 on, where they suffice for all.
    pub by_sgprs: Option<u32>,
    /// Waves that LDS suffices for; `None` where the file asks for none.
    pub by_lds: Option<u32>,
    /// Waves of as many workgroups as a compute unit holds.
    pub by_workgroups: u32,
    /// Work-items of a workgroup for which this holds.
    pub workgroup: u32,
    /// Workgroups of that size that a compute unit holds, or a WGP where two make one.
    pub workgroups: u32,
    /// What keeps a SIMD from holding more: `vgprs`, `sgprs`, `lds`, `workgroups`.
    pub limits: Vec<&'static str>,
    /// So many vector registers fewer would suffice for a wave more, where they are a limit.
    pub fewer_vgprs: Option<u32>,
    /// So many scalar registers fewer would.
    pub fewer_sgprs: Option<u32>,
    /// So many bytes of LDS fewer would suffice for another workgroup, where LDS is a limit.
    pub fewer_lds: Option<u32>,
}

/// What a kernel needs of a compute unit.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Its registers.
    pub registers: Registers,
    /// Vector registers that the code uses, where the metadata says so.
    pub used_vgprs: Option<u32>,
    /// Scalar registers that the code uses, where the metadata says so.
    pub used_sgprs: Option<u32>,
    /// Whether waves have 32 lanes.
    pub wave32: bool,
    /// Whether the waves of a workgroup may be on both compute units of a WGP.
    pub wgp_mode: bool,
    /// Whether vector registers are allocated as a wave runs.
    pub dynamic_vgprs: bool,
    /// Bytes of LDS.
    pub lds: u32,
    /// Work-items of a workgroup.
    pub workgroup: u32,
}

/// Workgroups of more than one wave that a compute unit has barriers for.
const BARRIERS: u32 = 16;
/// Work-items of a workgroup, at most.
const WORKGROUP: u32 = 1024;

impl Occupancy {
    /// Works it out by LLVM 22's rules (`IsaInfo::getNumWavesPerEUWithNumVGPRs`, `getMaxWorkGroupsPerCU`,
    /// `AMDGPUSubtarget::getOccupancyWithWorkGroupSizes`), but for LDS, which is counted as it is allocated.
    /// `None` for processors before gfx6.
    pub fn of(processor: &Processor, needs: &Needs) -> Option<Self> {
        let room = Room::of(processor, needs)?;
        let (most, simds) = (room.most, room.simds);
        let workgroup = needs.workgroup.clamp(1, WORKGROUP);
        let waves = needs.waves_of(workgroup);
        let waves_of = |workgroups: u32| {
            let all = workgroups.saturating_mul(waves);
            all.div_ceil(simds).clamp(1, most)
        };
        let held = room.workgroups(waves);
        let Room {
            vgprs,
            sgprs,
            lds: pool,
            ..
        } = room;
        let lds_groups = (needs.lds > 0).then(|| pool.shares(u32::MAX));
        let mut found = Self {
            waves: most,
            most,
            by_vgprs: (!needs.dynamic_vgprs).then(|| vgprs.shares(most)),
            by_sgprs: sgprs.as_ref().map(|sgprs| sgprs.shares(most)),
            by_lds: lds_groups.map(waves_of),
            by_workgroups: waves_of(held),
            workgroup,
            workgroups: held.min(lds_groups.unwrap_or(held)),
            limits: Vec::new(),
            fewer_vgprs: None,
            fewer_sgprs: None,
            fewer_lds: None,
        };
        let of = [
            ("vgprs", found.by_vgprs),
            ("sgprs", found.by_sgprs),
            ("lds", found.by_lds),
            ("workgroups", Some(found.by_workgroups)),
        ];
        let least = of.iter().filter_map(|(_, waves)| *waves).min();
        found.waves = least.unwrap_or(most);
        if found.waves < most {
            let limits = of.iter().filter(|(_, waves)| *waves == least);
            found.limits = limits.map(|(name, _)| *name).collect();
        }
        let limits = |name| found.limits.contains(&name);
        (found.fewer_vgprs, found.fewer_sgprs, found.fewer_lds) = (
            limits("vgprs").then(|| vgprs.fewer()).flatten(),
            sgprs
                .filter(|_| limits("sgprs"))
                .and_then(|sgprs| sgprs.fewer()),
            limits("lds").then(|| pool.fewer()).flatten(),
        );
        Some(found)
    }
}

/// What waves and workgroups share: a compute unit, or two of them that make a WGP.
pub(super) struct Room {
    /// Waves that a SIMD holds at most.
    pub most: u32,
    /// Its SIMDs.
    pub simds: u32,
    /// Workgroups of more than one wave that it has barriers for.
    pub barriers: u32,
    /// The vector registers of a SIMD, by wave.
    pub vgprs: Pool,
    /// The scalar registers of a SIMD, by wave; `None` where they suffice for all.
    pub sgprs: Option<Pool>,
    /// Its LDS, by workgroup.
    pub lds: Pool,
}

/// Whether two compute units of `processor` can work as one.
pub(super) fn has_wgp(processor: &Processor) -> bool {
    matches!(processor.descriptor, "gfx10" | "gfx11" | "gfx120")
}

impl Room {
    /// That of `processor`, shared out among what `needs` are; `None` for processors before gfx6.
    pub fn of(processor: &Processor, needs: &Needs) -> Option<Self> {
        let unit = Unit::of(processor)?;
        let share = |number| Unit::share(processor, needs.wave32, number);
        // Where two compute units make a WGP, the table has the WGP's LDS: each has half, and two of its SIMDs.
        let (simds, lds, barriers) = match (has_wgp(processor), needs.wgp_mode) {
            (true, true) => (4, unit.lds, 2 * BARRIERS),
            (true, false) => (2, unit.lds / 2, BARRIERS),
            (false, _) => (4, unit.lds, BARRIERS),
        };
        Some(Self {
            most: unit.waves,
            simds,
            barriers,
            vgprs: Pool {
                total: share(unit.vgprs),
                granule: share(unit.vgpr_granule),
                allocated: needs.registers.allocated_vgprs,
                used: needs.used_vgprs,
            },
            sgprs: (unit.sgprs > 0).then_some(Pool {
                total: unit.sgprs,
                granule: unit.sgpr_granule,
                allocated: needs.registers.allocated_sgprs,
                used: needs.used_sgprs,
            }),
            lds: Pool {
                total: lds,
                granule: unit.lds_granule,
                allocated: needs.lds.checked_next_multiple_of(unit.lds_granule)?,
                used: Some(needs.lds),
            },
        })
    }

    /// Workgroups of so many waves that there are places and barriers for.
    pub fn workgroups(&self, waves: u32) -> u32 {
        let places = self.most * self.simds;
        match waves {
            0 | 1 => places,
            _ => (places / waves).min(self.barriers),
        }
    }
}

impl Needs {
    /// Waves of a workgroup of so many work-items.
    pub fn waves_of(&self, work_items: u32) -> u32 {
        work_items.div_ceil(if self.wave32 { 32 } else { 64 })
    }
}

/// Something that is shared out in equal parts.
pub(super) struct Pool {
    pub total: u32,
    /// Parts are multiples of this.
    pub granule: u32,
    /// The size of a part.
    pub allocated: u32,
    /// How much of a part is used, where that is known.
    used: Option<u32>,
}

impl Pool {
    /// How many parts there really are.
    pub fn parts(&self) -> u32 {
        self.total / self.allocated.max(self.granule)
    }

    /// How many parts there are: one at least, though it may not suffice, and `most` at most.
    fn shares(&self, most: u32) -> u32 {
        self.parts().clamp(1, most)
    }

    /// How much less a part would have to use for there to be one more.
    fn fewer(&self) -> Option<u32> {
        let part = self.total / (self.shares(u32::MAX) + 1) / self.granule * self.granule;
        // Metadata that does not fit the descriptor is not to be counted with.
        let used = self
            .used
            .filter(|used| used.checked_next_multiple_of(self.granule) == Some(self.allocated));
        let fewer = used.unwrap_or(self.allocated).checked_sub(part)?;
        (part > 0 && fewer > 0).then_some(fewer)
    }
}
