//! A launch as it is planned, and the launch descriptor as a profile writes it.

use super::bank::Bank;
use super::draft::{Draft, most, origin, parts};
use super::{BANKS, Gpu, RELEASES, multiple};
use crate::elf::Elf;
use crate::launch::{Ask, Form, Origin, OriginKind};
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
    /// Whether nobody typed grid and block.
    pub assumed: [(&'static str, bool); 2],
    /// Bytes of a thread's stack that were typed, where the kernel does not say.
    pub stack: Option<u64>,
}
impl Plan<'_> {
    /// The architecture whose words bank 0 has: the GPU's if it runs the code, which reads them where its own has them.
    pub fn bank_sm(&self) -> u32 {
        match self.gpu.runs(self.cubin) {
            true => self.gpu.sm,
            false => self.cubin.sm,
        }
    }

    /// What a value that follows from `input` comes from.
    pub fn source(&self, input: &str) -> String {
        match self.assumed.contains(&(input, true)) {
            true => format!("{input} (not given)"),
            false => input.into(),
        }
    }

    /// Whether nobody knows a stack that suffices: the kernel is recursive, or calls what the file does not say.
    fn has_unknown_stack(&self) -> bool {
        self.kernel.stack_bytes == u32::MAX
    }

    /// Asks for the stack where the kernel does not say how much it takes.
    pub fn ask_stack(&mut self, form: &mut Form<'_>, profile: &str) {
        if !self.has_unknown_stack() {
            return;
        }
        let assumed = (profile == "cuda").then_some(CUDA_STACK);
        let ask = Ask {
            key: "stack",
            label: "Stack",
            group: "Launch",
            note: "Bytes of a thread's stack, as cudaLimitStackSize: the kernel does not say how many it takes".into(),
        };
        let stack = form.number(ask, assumed);
        if form.typed("stack").is_some() {
            self.stack = stack;
            return;
        }
        let why = "the stack is unknown: EIATTR_MIN_STACK_SIZE is 0xffffffff, as of recursion";
        let message = match assumed {
            Some(bytes) => format!(
                "{why}; {bytes} bytes are what cudaLimitStackSize is unless the program sets it, which nothing here tells, nor whether they suffice"
            ),
            None => format!("{why}; how much local memory a thread has is open"),
        };
        form.note("stack", message);
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
        draft.replaced = self.set.iter().map(|(field, _)| field.clone()).collect();
        let of_profile =
            |source: &str| origin(OriginKind::Profile, format!("{profile} ({source})"));
        let of_launch = |source: &str| origin(OriginKind::Launch, self.source(source));
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
        let (sass, source) = match self.gpu.sass {
            _ if !is_rig && self.version.key == "04.00" => (0, of_profile("0 in captures of 4.0")),
            0 => (
                0,
                origin(
                    OriginKind::Unset,
                    format!("the SM version of sm_{} is not known", self.gpu.sm),
                ),
            ),
            sass => (
                sass,
                of_profile("tinygrad: the SM version that the GPU reports"),
            ),
        };
        draft.put("sass", 0, sass.into(), "gpu", source);
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
            (fixed, dynamic, 0) => format!("{dynamic} dynamic + {fixed} static"),
            (fixed, dynamic, reserved) => {
                format!("{reserved} of the driver + {dynamic} dynamic + {fixed} static")
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
                "as mesa, the smallest that holds the blocks that the warps of an SM allow",
            )
        };
        let of_profile = |source: &str| origin(OriginKind::Profile, format!("{profile}: {source}"));
        if largest > 0 {
            let source_of_least = match is_rig {
                true => source,
                false => "as mesa, the smallest that holds a block's",
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
        let local = |stack: u64| multiple(stack.saturating_add(LOCAL), 16);
        let stack = u64::from(kernel.stack_bytes);
        // The place of what the file says is put behind the words, so that they end in it.
        let is_unknown = self.has_unknown_stack();
        if is_unknown && (is_rig || self.stack.is_some()) {
            let name = "bytes of local memory: the stack, which the kernel does not say, + 576";
            draft.slot("local", 0, "stack", name.into(), self.stack.map(local));
        } else if !is_unknown && (is_rig || stack >= CUDA_STACK) {
            let source = Origin {
                place: kernel.stack_place,
                ..of_profile("576 + EIATTR_MIN_STACK_SIZE")
            };
            draft.put("local", 0, local(stack), "gpu", source);
        } else {
            let source = of_profile("576 + cudaLimitStackSize, which is 1024 unless it is set");
            draft.put("local", 0, local(CUDA_STACK), "gpu", source);
        }
        // Calls and returns have a stack of their own up to version 2.2.
        if draft.parts("crs", 0).is_some()
            && let Some(entry) = kernel.attribute(self.elf, kernel::CRS_STACK_SIZE)
            && let Some(bytes) = entry.word(0)
        {
            let source = "as mesa, the next multiple of 512 of EIATTR_CRS_STACK_SIZE";
            let source = self.file(source, Some(entry.span()));
            draft.put("crs", 0, multiple(bytes.into(), 512), "gpu", source);
        }
    }

    /// Blocks that the warps of an SM allow.
    fn resident_blocks(&self) -> u64 {
        let Some(sm) = Capability::of(self.gpu.sm) else {
            return 1;
        };
        let threads = self
            .block
            .iter()
            .fold(1_u64, |all, of| all.saturating_mul(*of));
        (u64::from(sm.warps) / threads.div_ceil(32).max(1)).max(1)
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
            let source = "whole units of 256 bytes, as many as fit, of the code";
            let source = self.file(source, Some(kernel.code));
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
            let name = "the next descriptor".into();
            self.chain(draft, "chain", name, chain, is_rig);
        }
    }

    /// Leads to another descriptor, which the GPU is to schedule, or, as CUDA has it, to count down what that waits for.
    fn chain(
        &self,
        draft: &mut Draft,
        input: &str,
        name: String,
        address: Option<u64>,
        is_rig: bool,
    ) {
        let of = |who: &str| origin(OriginKind::Launch, format!("{input} ({who})"));
        draft.put("chain.enable", 0, 1, input, of("tinygrad, captures"));
        // Before 2.4 a descriptor is a queue's or, as here, a grid's.
        draft.put("chain.type", 0, 1, input, of("mesa"));
        let (action, who) = match is_rig {
            true => (1, "rig, tinygrad: QMD_SCHEDULE"),
            false => (4, "captures: QMD_DECREMENT_DEPENDENCE"),
        };
        draft.put("chain.action", 0, action, input, of(who));
        draft.put("chain.prefetch", 0, 1, input, of("tinygrad, captures"));
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
        self.chain(&mut draft, "qmd", name, self.own_address, false);
        draft
    }

    /// Whether CUDA was seen to put a descriptor ahead of the real one.
    pub fn has_head(version: &Version, profile: &str) -> bool {
        profile == "cuda" && version.key == "04.00"
    }
}
