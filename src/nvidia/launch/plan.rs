//! A launch as it is planned, and the launch descriptor as a profile writes it.

use super::bank::Bank;
use super::draft::{Draft, most, origin, parts};
use super::{BANKS, Gpu, RELEASES, multiple};
use crate::elf::Elf;
use crate::launch::{Origin, OriginKind};
use crate::nvidia::occupancy::Capability;
use crate::nvidia::qmd::Version;
use crate::nvidia::{Cubin, Kernel, kernel};
use crate::span::Span;

/// Bytes of local memory that rig and CUDA have beside the kernel's stack.
const LOCAL: u64 = 576;
/// The stack that CUDA gives a thread at the least, `cudaLimitStackSize`: with 576 bytes the 0x640 of every capture.
const CUDA_STACK: u64 = 1024;
/// A constant bank of a launch.
pub struct PlannedBank {
    pub index: u32,
    /// Where it is; `None` while it is open.
    pub address: Option<u64>,
    /// Its bytes; `None` of a bank of the driver's own that nobody has told the size of.
    pub bytes: Option<u64>,
    /// What says so.
    pub origin: Origin,
}

/// A release: what is written to memory when the launch is done.
pub struct Release {
    pub address: Option<u64>,
    pub value: Option<u64>,
    pub is_stamped: bool,
}

/// All that a launch is described by.
pub struct Plan<'a> {
    pub elf: &'a Elf,
    pub cubin: &'a Cubin,
    pub kernel: &'a Kernel,
    pub gpu: &'static Gpu,
    pub version: &'static Version,
    pub grid: [u64; 3],
    pub block: [u64; 3],
    /// `None` where the launch has no cluster.
    pub cluster: Option<[u64; 3]>,
    /// Bytes of dynamic shared memory.
    pub dynamic: u64,
    /// Bytes of a block's shared memory in all, the driver's too, as they are allocated.
    pub shared: u64,
    pub program: Option<u64>,
    pub banks: Vec<PlannedBank>,
    /// The address of the descriptor that follows, `None` in it while it is open; `None` where none follows.
    pub chain: Option<Option<u64>>,
    pub releases: [Option<Release>; 2],
    pub shared_window: Option<u64>,
    pub local_window: Option<u64>,
    /// The address of the descriptor itself, where another one leads to it.
    pub own_address: Option<u64>,
    /// Values of single fields, by the inputs that they are typed for.
    pub set: Vec<(String, u64)>,
}
impl Plan<'_> {
    /// The architecture whose words bank 0 has: the GPU's if it runs the code, which reads them where its own has them.
    pub fn bank_sm(&self) -> u32 {
        match self.gpu.runs(self.cubin) {
            true => self.gpu.sm,
            false => self.cubin.sm,
        }
    }

    pub fn bank_address(&self, index: u32) -> Option<u64> {
        let bank = self.banks.iter().find(|bank| bank.index == index);
        bank.and_then(|bank| bank.address)
    }

    /// Static and dynamic shared memory, as it is allocated: 128 bytes at a time, 256 before sm_80.
    pub fn user_shared(&self) -> u64 {
        let unit = if self.gpu.sm >= 80 { 128 } else { 256 };
        multiple(self.kernel.shared_bytes.saturating_add(self.dynamic), unit)
    }

    /// An origin in the file.
    pub fn file(&self, source: &str, place: Option<Span>) -> Origin {
        Origin {
            place,
            ..origin(OriginKind::File, source)
        }
    }

    /// The descriptor as the profile writes it.
    pub fn describe(&self, profile: &str, bank0: &Bank) -> Draft {
        let is_rig = profile == "rig";
        let kernel = self.kernel;
        let mut draft = Draft::new(self.version);
        let of_profile =
            |source: &str| origin(OriginKind::Profile, format!("{profile} ({source})"));
        let of_launch = |source: &str| origin(OriginKind::Launch, source);
        draft.constants(profile, |constant| match is_rig {
            true => constant.rig,
            false => constant.cuda,
        });
        let (kind, source) = match self.cluster {
            Some(_) => (3, of_launch("cluster: GRID_GPC_CGA")),
            None => (2, of_profile("mesa and captures of 5.0, captures of 4.0")),
        };
        draft.put("type", 0, kind, "cluster", source);
        for (axis, letter) in ["x", "y", "z"].iter().enumerate() {
            let mut put = |what: &str, value, input| {
                draft.put(
                    &format!("{what}.{letter}"),
                    0,
                    value,
                    input,
                    of_launch(input),
                );
            };
            put("grid", self.grid[axis], "grid");
            put("block", self.block[axis], "block");
            if let Some(cluster) = self.cluster {
                put("cluster", cluster[axis], "cluster");
            }
        }
        let registers = self.file("EIATTR_REGCOUNT", kernel.registers_place);
        draft.put("registers", 0, kernel.registers.into(), "block", registers);
        // One barrier is always there; rig knows of no others.
        match kernel.barriers {
            barriers @ 2.. if !is_rig => {
                let entry = kernel.attribute(self.elf, kernel::NUM_BARRIERS);
                let source = self.file("named barriers", entry.map(|entry| entry.span()));
                draft.put("barriers", 0, barriers.into(), "gpu", source);
            }
            _ => draft.put("barriers", 0, 1, "gpu", of_profile("tinygrad, captures")),
        }
        self.memory(&mut draft, profile);
        let sass = u64::from(self.gpu.sass);
        let source = format!("SASS_VERSION of sm_{}", self.gpu.sm);
        match is_rig || self.gpu.captures {
            true if sass > 0 => draft.put("sass", 0, sass, "gpu", of_profile(&source)),
            true => {}
            false => draft.put("sass", 0, 0, "gpu", of_profile("0 in captures of 4.0")),
        }
        self.addresses(&mut draft, is_rig, bank0);
        for (index, release) in self.releases.iter().enumerate() {
            if let Some(release) = release {
                self.release(&mut draft, index as u32, release, profile);
            }
        }
        for (field, value) in &self.set {
            draft.set(field, *value, &format!("set.{field}"));
        }
        draft
    }

    /// Shared and local memory, and how an SM is set up for it.
    fn memory(&self, draft: &mut Draft, profile: &str) {
        let is_rig = profile == "rig";
        let kernel = self.kernel;
        let reserved = self.gpu.reserved_shared();
        let source = match (kernel.shared_bytes, self.dynamic, reserved) {
            (fixed, 0, 0) => format!("{fixed} static"),
            (fixed, dynamic, 0) => format!("{fixed} static + {dynamic} dynamic"),
            (fixed, dynamic, reserved) => {
                format!("{fixed} static + {dynamic} dynamic + {reserved} of the driver")
            }
        };
        let name = format!("{}{}", kernel::SHARED, kernel.name);
        // The section has no bytes: its header says how large it is.
        let section = match kernel.shared_bytes {
            0 => None,
            _ => self.elf.section_named(&name),
        };
        let headers = self.elf.section_table;
        let place = section.and_then(|section| Some(headers?.entry(section.index.into())));
        let shared = Origin {
            place,
            ..origin(OriginKind::Launch, source)
        };
        draft.put("shared", 0, self.shared, "shared", shared);
        let code = |kib: u64| kib / 4 + 1;
        let largest = self.gpu.carveouts().next_back().unwrap_or(0);
        let (least, target, source) = if is_rig {
            // The smallest of 32, 64, 100 KiB, and so on where an SM has more.
            match self.dynamic {
                0 => {
                    let kib = self.gpu.carveout(self.shared, 32);
                    (kib, kib, "the smallest that holds a block's")
                }
                _ => (largest, largest, "the largest, for dynamic shared memory"),
            }
        } else {
            let all = self.shared.saturating_mul(self.resident_blocks());
            let least = self.gpu.carveout(self.shared, 0);
            (
                least,
                self.gpu.carveout(all, 0).max(least),
                "the smallest that holds the blocks that warps and registers of an SM allow",
            )
        };
        let of_profile = |source: &str| origin(OriginKind::Profile, format!("{profile}: {source}"));
        if largest > 0 {
            let source_of_least = match is_rig {
                true => source,
                false => "the smallest that holds a block's",
            };
            let mut put = |what, kib, source| {
                draft.put(what, 0, code(kib), "shared", of_profile(source));
            };
            put("carveout.min", least, source_of_least);
            put("carveout.target", target, source);
            put("carveout.max", largest, "the largest of the GPU");
        }
        let l1 = self.shared.div_ceil(16 << 10).clamp(1, 3);
        let source = "16, 32 or 48 KiB: the smallest that holds a block's, as mesa has it";
        draft.put("l1", 0, l1, "shared", of_profile(source));
        let stack = u64::from(kernel.stack_bytes);
        let (stack, source, place) = match is_rig || stack >= CUDA_STACK {
            true => (stack, "EIATTR_MIN_STACK_SIZE + 576", kernel.stack_place),
            false => (CUDA_STACK, "cudaLimitStackSize, 1024, + 576", None),
        };
        let local = multiple(stack + LOCAL, 16);
        let source = Origin {
            place,
            ..of_profile(source)
        };
        draft.put("local", 0, local, "gpu", source);
        // Calls and returns have a stack of their own up to version 2.2.
        if draft.parts("crs", 0).is_some()
            && let Some(entry) = kernel.attribute(self.elf, kernel::CRS_STACK_SIZE)
            && let Some(bytes) = entry.word(0)
        {
            let source = "EIATTR_CRS_STACK_SIZE, a multiple of 512 as mesa has it";
            let source = self.file(source, Some(entry.span()));
            draft.put("crs", 0, multiple(bytes.into(), 512), "gpu", source);
        }
    }

    /// Blocks that the warps of an SM allow, fewer if their registers do.
    fn resident_blocks(&self) -> u64 {
        let Some(sm) = Capability::of(self.gpu.sm) else {
            return 1;
        };
        let threads = self
            .block
            .iter()
            .fold(1_u64, |all, of| all.saturating_mul(*of));
        let registers = multiple(u64::from(self.kernel.registers) * 32, 256);
        let by_registers = u64::from(sm.registers).checked_div(registers);
        // Each of the four parts of an SM has registers of its own.
        let by_registers = by_registers.map_or(u64::MAX, |warps| warps / 4 * 4);
        let warps = by_registers.min(sm.warps.into());
        (warps / threads.div_ceil(32).max(1)).max(1)
    }

    /// What is only known at run time: code, banks, the next descriptor.
    fn addresses(&self, draft: &mut Draft, is_rig: bool, bank0: &Bank) {
        let kernel = self.kernel;
        let name = match draft.parts("program", 0) {
            Some(parts) if parts[0].field == "PROGRAM_OFFSET" => {
                format!("code of {}, from the program region's start", kernel.name)
            }
            _ => format!("code of {}", kernel.name),
        };
        draft.slot("program", 0, "program", name, self.program);
        let name = format!("code of {} that is fetched ahead", kernel.name);
        // What lies before a multiple of 256 is fetched, too.
        let prefetch = self.program.map(|program| program & !0xff);
        draft.slot("prefetch", 0, "program", name, prefetch);
        if let Some(parts) = draft.parts("prefetch.size", 0) {
            let size = (kernel.code_bytes & !0xff).min(most(&parts) & !0xff);
            let source = self.file("bytes of code / 256, as far as they fit", Some(kernel.code));
            draft.put("prefetch.size", 0, size, "program", source);
        }
        for bank in &self.banks {
            let (index, input) = (bank.index, BANKS[bank.index as usize]);
            let valid = Origin {
                source: format!("bank {index}: {}", bank.origin.source),
                ..bank.origin.clone()
            };
            draft.put("bank.valid", index, 1, input, valid);
            let name = format!("constant bank {index}");
            draft.slot("bank", index, input, name, bank.address);
            let bytes = match index {
                0 => Some(u64::from(bank0.size)),
                _ => bank.bytes,
            };
            // Sizes are in units of 16 bytes; before 2.0 in bytes, multiples of 256.
            let unit = match draft.parts("bank.size", index) {
                Some(parts) if parts[0].shift > 0 => 16,
                _ => 256,
            };
            match bytes {
                Some(bytes) => {
                    let bytes = multiple(bytes, unit);
                    draft.put("bank.size", index, bytes, input, bank.origin.clone());
                }
                None => {
                    let name = format!("bytes of constant bank {index}");
                    draft.slot("bank.size", index, input, name, None);
                }
            }
        }
        if let Some(chain) = self.chain {
            self.chain(
                draft,
                "chain",
                "the next descriptor".into(),
                chain,
                is_rig,
                1,
            );
        }
    }

    /// Leads to another descriptor, which the GPU is to do `action` with: 1, schedule it; 4, count down what it waits for.
    fn chain(
        &self,
        draft: &mut Draft,
        input: &str,
        name: String,
        address: Option<u64>,
        is_rig: bool,
        action: u64,
    ) {
        let source = match is_rig {
            true => "chain: as rig and tinygrad",
            false => "chain: as captures",
        };
        let of_launch = || origin(OriginKind::Launch, source);
        draft.put("chain.enable", 0, 1, input, of_launch());
        // Before 2.4 a descriptor is a queue's or, as here, a grid's.
        draft.put("chain.type", 0, 1, input, of_launch());
        draft.put("chain.action", 0, action, input, of_launch());
        draft.put("chain.prefetch", 0, 1, input, of_launch());
        draft.slot("chain", 0, input, name, address);
    }

    fn release(&self, draft: &mut Draft, index: u32, release: &Release, profile: &str) {
        let input = RELEASES[index as usize];
        let of_launch = || origin(OriginKind::Launch, input);
        draft.put("release.enable", index, 1, input, of_launch());
        let (mut size, mut wide) = match (self.has_wide_release(), release.is_stamped) {
            (_, true) => (0, 1),      // FOUR_WORDS
            (true, false) => (2, 1),  // TWO_WORDS
            (false, false) => (1, 0), // ONE_WORD
        };
        // CUDA's captures have values of 32 bits; those that are longer need what rig writes.
        let is_short = release.value.unwrap_or(0) <= u32::MAX.into();
        if profile != "rig" && is_short {
            wide = 0;
            size = if release.is_stamped { 0 } else { 1 };
        }
        draft.put("release.size", index, size, input, of_launch());
        draft.put("release.wide", index, wide, input, of_launch());
        let membar = origin(OriginKind::Profile, format!("{profile}: FE_NONE"));
        draft.put("release.membar", index, 0, input, membar);
        let name = format!("where release {index} writes");
        draft.slot("release", index, input, name, release.address);
        let name = format!("what release {index} writes");
        draft.slot("release.value", index, input, name, release.value);
    }

    /// Whether a release can write 64 bits.
    pub fn has_wide_release(&self) -> bool {
        parts(self.version, "release.wide", 0).is_some()
    }

    /// The descriptor that CUDA puts ahead of the real one on Hopper, as far as captures tell.
    pub fn head(&self) -> Draft {
        let mut draft = Draft::new(self.version);
        let captures = || origin(OriginKind::Profile, "cuda (captures of GH200 and H100)");
        draft.put("type", 0, 1, "profile", captures());
        draft.put("group", 0, 0x3f, "profile", captures());
        let name = "the descriptor that follows it".into();
        self.chain(&mut draft, "qmd", name, self.own_address, false, 4);
        draft
    }

    /// Whether CUDA was seen to put a descriptor ahead of the real one.
    pub fn has_head(version: &Version, profile: &str) -> bool {
        profile == "cuda" && version.key == "04.00"
    }
}
