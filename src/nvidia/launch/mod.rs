//! What a launch of a cubin's kernel hands to the GPU: the launch descriptor (QMD) and constant bank 0.
//!
//! What goes where is data (`tables/nvidia/launch.toml`): fields by what a launch has to say, and what the two profiles
//! write whatever the launch is. `rig` is what the project raven fixes for a launch like CUDA's; `cuda` what captures of
//! CUDA's launches show.

mod bank;
mod draft;
mod gpu;
mod sizes;

pub use draft::{Constant, Place};
pub use gpu::Gpu;

use super::occupancy::Capability;
use super::qmd::Version;
use super::{Cubin, Kernel, kernel};
use crate::elf::Elf;
use crate::error::Severity;
use crate::launch::{
    Ask, Choice, Form, InputKind, Inputs, Launch, Made, Origin, OriginKind, address, number,
};
use crate::span::Span;
use bank::Bank;
use draft::{Draft, most, origin, parts};

/// Constant banks of a launch, by the inputs that their addresses are typed for.
const BANKS: [&str; 8] = [
    "bank0", "bank1", "bank2", "bank3", "bank4", "bank5", "bank6", "bank7",
];
/// Releases of a launch, likewise.
const RELEASES: [&str; 2] = ["release0", "release1"];
/// Banks that CUDA binds beside the kernel's, where that was captured: from Hopper on.
const OWN_BANKS: [u32; 3] = [1, 5, 7];

const PROFILES: [&str; 2] = ["rig", "cuda"];

/// Bytes of local memory that rig and CUDA have beside the kernel's stack.
const LOCAL: u64 = 576;
/// The stack that CUDA gives a thread at the least, `cudaLimitStackSize`: with 576 bytes the 0x640 of every capture.
const CUDA_STACK: u64 = 1024;

/// A constant bank of a launch.
struct PlannedBank {
    index: u32,
    /// Where it is; `None` while it is open.
    address: Option<u64>,
    /// Its bytes; `None` of a bank of the driver's own that nobody has told the size of.
    bytes: Option<u64>,
    /// What says so.
    origin: Origin,
}

/// A release: what is written to memory when the launch is done.
struct Release {
    address: Option<u64>,
    value: Option<u64>,
    is_stamped: bool,
}

/// All that a launch is described by.
pub(crate) struct Plan<'a> {
    elf: &'a Elf,
    cubin: &'a Cubin,
    kernel: &'a Kernel,
    gpu: &'static Gpu,
    version: &'static Version,
    grid: [u64; 3],
    block: [u64; 3],
    /// `None` where the launch has no cluster.
    cluster: Option<[u64; 3]>,
    /// Bytes of dynamic shared memory.
    dynamic: u64,
    /// Bytes of a block's shared memory in all, the driver's too, as they are allocated.
    shared: u64,
    program: Option<u64>,
    banks: Vec<PlannedBank>,
    /// The address of the descriptor that follows, `None` in it while it is open; `None` where none follows.
    chain: Option<Option<u64>>,
    releases: [Option<Release>; 2],
    shared_window: Option<u64>,
    local_window: Option<u64>,
    /// The address of the descriptor itself, where another one leads to it.
    own_address: Option<u64>,
    /// Values of single fields, by the inputs that they are typed for.
    set: Vec<(String, u64)>,
}

fn multiple(value: u64, of: u64) -> u64 {
    value.div_ceil(of).saturating_mul(of)
}

impl Plan<'_> {
    /// The architecture whose words bank 0 has: the GPU's if it runs the code, which reads them where its own has them.
    fn bank_sm(&self) -> u32 {
        match self.gpu.runs(self.cubin) {
            true => self.gpu.sm,
            false => self.cubin.sm,
        }
    }

    fn bank_address(&self, index: u32) -> Option<u64> {
        let bank = self.banks.iter().find(|bank| bank.index == index);
        bank.and_then(|bank| bank.address)
    }

    /// Static and dynamic shared memory, as it is allocated: 128 bytes at a time, 256 before sm_80.
    fn user_shared(&self) -> u64 {
        let unit = if self.gpu.sm >= 80 { 128 } else { 256 };
        multiple(self.kernel.shared_bytes.saturating_add(self.dynamic), unit)
    }

    /// An origin in the file.
    fn file(&self, source: &str, place: Option<Span>) -> Origin {
        Origin {
            place,
            ..origin(OriginKind::File, source)
        }
    }

    /// The descriptor as the profile writes it.
    fn describe(&self, profile: &str, bank0: &Bank) -> Draft {
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
    fn has_wide_release(&self) -> bool {
        parts(self.version, "release.wide", 0).is_some()
    }

    /// The descriptor that CUDA puts ahead of the real one on Hopper, as far as captures tell.
    fn head(&self) -> Draft {
        let mut draft = Draft::new(self.version);
        let captures = || origin(OriginKind::Profile, "cuda (captures of GH200 and H100)");
        draft.put("type", 0, 1, "profile", captures());
        draft.put("group", 0, 0x3f, "profile", captures());
        let name = "the descriptor that follows it".into();
        self.chain(&mut draft, "qmd", name, self.own_address, false, 4);
        draft
    }

    /// Whether CUDA was seen to put a descriptor ahead of the real one.
    fn has_head(version: &Version, profile: &str) -> bool {
        profile == "cuda" && version.key == "04.00"
    }
}

impl Cubin {
    /// What a launch of the kernel of that index hands to the GPU; `None` where there is no such kernel.
    ///
    /// Inputs: `gpu`, `version` (of the descriptor), `profile` (`rig` or `cuda`), `grid`, `block`, `cluster` (blocks along
    /// x, y, z), `shared` (bytes of dynamic shared memory), `program`, `bank0` to `bank7` (addresses; `ADDRESS/BYTES` for a
    /// bank of the driver's own), `chain` (the next descriptor's address), `release0`, `release1` (`ADDRESS:VALUE`, with
    /// `:stamped` behind it for a time stamp), `shared_window`, `local_window`, `qmd` (the descriptor's own address, where
    /// another one leads to it), `arg0` and so on (see [`crate::typed`]), `set.FIELD` (the value of one field).
    pub fn launch(&self, elf: &Elf, kernel: usize, inputs: &Inputs) -> Option<Launch> {
        let kernel = self.kernels.get(kernel)?;
        let mut form = Form::new(inputs);
        let gpu = Gpu::ask(&mut form, self);
        let version = gpu.ask_version(&mut form);
        let profile = ask_profile(&mut form);
        if !kernel.entry_point {
            let message =
                "it is not marked as a kernel but as a device function, which nothing launches";
            form.note("program", message);
        }
        let sizes = sizes::Sizes::ask(&mut form, kernel, gpu, version);
        let mut plan = Plan {
            elf,
            cubin: self,
            kernel,
            gpu,
            version,
            grid: sizes.grid,
            block: sizes.block,
            cluster: sizes.cluster,
            dynamic: sizes.dynamic,
            shared: sizes.shared,
            program: None,
            banks: Vec::new(),
            chain: None,
            releases: [None, None],
            shared_window: None,
            local_window: None,
            own_address: None,
            set: Vec::new(),
        };
        plan.ask_addresses(&mut form, profile);
        let bank0 = Bank::ask(&mut form, &plan);
        plan.ask_fields(&mut form, inputs);
        refuse_others(&mut form, inputs);
        let draft = plan.describe(profile, &bank0);
        plan.compare(&mut form, profile, &bank0, &draft);
        let mut drafts = vec![draft];
        if Plan::has_head(version, profile) {
            drafts.insert(0, plan.head());
        }
        let is_wrong = |form: &Form<'_>, input: &str| {
            let mut problems = form.problems.iter();
            problems.any(|p| p.input == input && p.severity == Severity::Error)
        };
        // What is over a limit does not fit, either.
        for (input, message) in drafts.iter_mut().flat_map(|draft| draft.misfits.drain(..)) {
            if !is_wrong(&form, &input) {
                form.error(&input, message);
            }
        }
        let key = version.key;
        let mut made: Vec<Made> = Vec::new();
        for draft in drafts.into_iter().rev() {
            let (name, title) = match made.is_empty() {
                true => ("qmd", format!("QMD {key} of {}", kernel.name)),
                false => (
                    "qmd_null",
                    format!("QMD {key} ahead of it: a grid of nothing"),
                ),
            };
            made.insert(0, draft.made(name, title));
        }
        made.push(bank0.made(&plan, profile));
        Some(Launch {
            inputs: form.inputs,
            problems: form.problems,
            made,
        })
    }
}

fn ask_profile(form: &mut Form<'_>) -> &'static str {
    let labels = [
        "rig: what the project raven fixes",
        "cuda: as captures of CUDA show",
    ];
    let choices = PROFILES.iter().zip(labels).map(|(key, label)| Choice {
        key: (*key).into(),
        label: label.into(),
        unavailable: None,
    });
    let ask = Ask {
        key: "profile",
        label: "Driver",
        group: "GPU",
        note: "Whose fixed values, carveouts and local memory are written".into(),
    };
    PROFILES[form.choice(ask, choices.collect(), 0, |_| None)]
}

/// Says that what was asked for last cannot be typed here, and that it was.
fn refuse(form: &mut Form<'_>, key: &str, reason: String) {
    if form.typed(key).is_some() {
        form.error(key, reason.clone());
    }
    if let Some(input) = form.inputs.last_mut() {
        input.unavailable = Some(reason);
    }
}

/// Says which of the inputs are none that such a launch has.
fn refuse_others(form: &mut Form<'_>, inputs: &Inputs) {
    for (key, value) in inputs.iter() {
        if value.is_empty() || form.inputs.iter().any(|input| input.key == key) {
            continue;
        }
        if key.starts_with("release") {
            form.error(
                key,
                "a launch has two releases at most: release0 and release1",
            );
        } else if key.starts_with("bank") {
            form.error(key, "a launch has the constant banks 0 to 7");
        } else if key.starts_with("arg") {
            form.error(key, "the kernel has no such parameter");
        } else {
            form.note(key, "a launch of this kernel is not asked for it");
        }
    }
}

impl Plan<'_> {
    fn ask_addresses(&mut self, form: &mut Form<'_>, profile: &str) {
        let version = self.version;
        let ask = |key, label, note: &str| Ask {
            key,
            label,
            group: "Addresses",
            note: note.into(),
        };
        let is_offset = parts(version, "program", 0)
            .is_some_and(|parts| parts.len() == 1 && parts[0].field == "PROGRAM_OFFSET");
        let note = match is_offset {
            true => "Offset of the code from the start of the program region; a multiple of 256",
            false => "Where the code is in GPU memory; a multiple of 256",
        };
        self.program = form.address(ask("program", "Code", note));
        if let Some(program) = self.program.filter(|program| program % 256 != 0) {
            form.note(
                "program",
                format!(
                    "0x{program:x} is no multiple of 256, which rig asks for; sections of cubins are laid out at multiples of 128, and such programs are run"
                ),
            );
        }
        self.ask_banks(form, profile);
        let note = "Address of the descriptor that is launched when this one is done; a multiple of 256. yes: one that run time knows";
        let typed = form.ask(
            ask("chain", "Next descriptor", note),
            InputKind::Text,
            String::new(),
        );
        self.chain = typed.map(|typed| match typed {
            "yes" => None,
            typed => address(typed)
                .map_err(|message| form.error("chain", message))
                .ok(),
        });
        if parts(version, "chain", 0).is_none() {
            let reason = format!("QMD {} has no field that leads to another one", version.key);
            refuse(form, "chain", reason);
            self.chain = None;
        }
        for (index, key) in RELEASES.into_iter().enumerate() {
            let label = ["First release", "Second release"][index];
            let bits = if self.has_wide_release() { 64 } else { 32 };
            let note = format!(
                "ADDRESS:VALUE, what is written when the launch is done: {bits} bits at a multiple of 8; with :stamped behind it a time stamp, too, 8 bytes on, at a multiple of 16; yes: what run time knows"
            );
            let typed = form.ask(ask(key, label, &note), InputKind::Text, String::new());
            self.releases[index] = typed.and_then(|typed| self.read_release(form, key, typed));
        }
        if Self::has_head(version, profile) {
            let note = "Address of the descriptor itself, which the one ahead of it has; a multiple of 256";
            self.own_address = form.address(ask("qmd", "The descriptor", note));
        }
        let note = "Where shared memory is among generic addresses; in bank 0";
        self.shared_window = form.address(ask("shared_window", "Shared memory window", note));
        let note = "Where local memory is among generic addresses; in bank 0";
        self.local_window = form.address(ask("local_window", "Local memory window", note));
    }

    fn ask_banks(&mut self, form: &mut Form<'_>, profile: &str) {
        let has_own = profile == "cuda" && self.version.number().0 >= 4;
        for (key, index) in BANKS.into_iter().zip(0..) {
            let kernels = self.kernel.banks.iter().find(|bank| bank.index == index);
            let is_kernels = kernels.is_some() || index == 0;
            let is_drivers = has_own && OWN_BANKS.contains(&index) && !is_kernels;
            if !is_kernels && !is_drivers && form.typed(key).is_none() {
                continue;
            }
            let label = format!("Constant bank {index}");
            let ask = |note: &str| Ask {
                key,
                label: &label,
                group: "Addresses",
                note: note.into(),
            };
            let (mut address, mut bytes) = (None, None);
            if is_kernels {
                address = form.address(ask("Where it is in GPU memory; a multiple of 64"));
                bytes = kernels.map(|bank| bank.bytes);
            } else {
                let note =
                    "ADDRESS/BYTES of a bank of the driver's own; the address a multiple of 64";
                let typed = form.ask(ask(note), InputKind::Text, String::new());
                match typed.map(|typed| (typed.split_once('/'), typed)) {
                    None => {}
                    Some((Some((at, size)), _)) => match (address_of(at), number(size.trim())) {
                        (Ok(at), Ok(size)) => (address, bytes) = (at, Some(size)),
                        (Err(message), _) | (_, Err(message)) => form.error(key, message),
                    },
                    Some((None, typed)) if is_drivers => match address_of(typed) {
                        Ok(at) => address = at,
                        Err(message) => form.error(key, message),
                    },
                    Some((None, _)) => {
                        form.error(
                            key,
                            format!(
                                "the kernel has no constant bank {index}; a bank of the driver's own is typed with its size, ADDRESS/BYTES"
                            ),
                        );
                        continue;
                    }
                }
            }
            if let Some(size) = bytes.filter(|size| *size > 0x1_0000) {
                form.error(
                    key,
                    format!("a bank has 65536 bytes at most, this one {size}"),
                );
                bytes = Some(0x1_0000);
            }
            let misaligned = address.filter(|address| address % 64 != 0);
            if let Some(address) = misaligned {
                form.error(
                    key,
                    format!("0x{address:x} is no multiple of 64, as banks have to be"),
                );
            }
            let origin = match kernels {
                Some(bank) => {
                    let section = self.elf.section_label(bank.section);
                    self.file(&section, Some(bank.place))
                }
                None if index == 0 => origin(OriginKind::Profile, "a bank 0 that the file has not"),
                None if is_drivers => origin(OriginKind::Profile, "cuda: captures from 4.0 on"),
                None => origin(OriginKind::Launch, key),
            };
            self.banks.push(PlannedBank {
                index,
                address,
                bytes,
                origin,
            });
        }
        let others = self.kernel.banks.iter().filter(|bank| bank.index > 7);
        for bank in others {
            form.note(
                "bank0",
                format!(
                    "the file has a constant bank {} for the kernel; a descriptor has 0 to 7",
                    bank.index
                ),
            );
        }
    }

    /// Reads `ADDRESS:VALUE:stamped`; what is left empty is open.
    fn read_release(&self, form: &mut Form<'_>, key: &str, typed: &str) -> Option<Release> {
        let mut words = typed.split(':').map(str::trim);
        let at = words.next().unwrap_or_default();
        let mut value = words.next().unwrap_or_default();
        let mut last = words.next();
        if value == "stamped" && last.is_none() {
            (value, last) = ("", Some("stamped"));
        }
        let is_stamped = last == Some("stamped");
        let rest = last.filter(|word| *word != "stamped").or(words.next());
        if let Some(word) = rest {
            form.error(
                key,
                format!("{word:?}: expected ADDRESS:VALUE or ADDRESS:VALUE:stamped"),
            );
        }
        let mut read = |result: Result<Option<u64>, String>| {
            result.unwrap_or_else(|message| {
                form.error(key, message);
                None
            })
        };
        let address = read(match at {
            "yes" => Ok(None),
            at => address_of(at),
        });
        let value = read(match value {
            "" => Ok(None),
            value => number(value).map(Some),
        });
        let (unit, why) = match is_stamped {
            true => (16, "a release with a time stamp"),
            false => (8, "a release"),
        };
        let misaligned = address.filter(|address| address % unit != 0);
        if let Some(address) = misaligned {
            form.error(
                key,
                format!("0x{address:x} is no multiple of {unit}, as {why} has to be at"),
            );
        }
        Some(Release {
            address,
            value,
            is_stamped,
        })
    }

    /// Asks for the values of the fields that some were typed for.
    fn ask_fields(&mut self, form: &mut Form<'_>, inputs: &Inputs) {
        for (key, value) in inputs.iter() {
            let Some(field) = key.strip_prefix("set.").filter(|_| !value.is_empty()) else {
                continue;
            };
            let ask = Ask {
                key,
                label: field,
                group: "Fields",
                note: "The value of this field of the descriptor, whatever the launch is".into(),
            };
            if let Some(value) = form.number(ask, None) {
                self.set.push((field.into(), value));
            }
        }
    }

    /// Says what the other profile writes otherwise.
    fn compare(&self, form: &mut Form<'_>, profile: &str, bank0: &Bank, draft: &Draft) {
        let other = match profile {
            "rig" => "cuda",
            _ => "rig",
        };
        let differences = draft.differences(&self.describe(other, bank0));
        let differences = differences
            .iter()
            .map(|(field, own, its)| format!("{field} {its} instead of {own}"));
        let mut words: Vec<String> = differences.collect();
        if Self::has_head(self.version, other) {
            words.push("a descriptor of GRID_NULL ahead of it".into());
        }
        if profile == "rig" {
            words.push("further words of bank 0".into());
        }
        if !words.is_empty() {
            form.note("profile", format!("{other} writes {}", words.join(", ")));
        }
        if profile == "cuda" && !matches!(self.version.key, "03.00" | "04.00" | "05.00") {
            form.note(
                "profile",
                format!(
                    "CUDA was captured with QMD 03.00, 04.00 and 05.00: that {} is written alike is assumed",
                    self.version.key
                ),
            );
        }
        let largest = self.gpu.carveouts().next_back();
        if let Some(kib) = largest.filter(|kib| profile == "rig" && *kib != 100) {
            form.note(
                "profile",
                format!(
                    "rig's own GPUs have 100 KiB of shared memory an SM, sm_{} has {kib}: its carveouts are counted with",
                    self.gpu.sm
                ),
            );
        }
    }
}

/// An address, or nothing while it is open.
fn address_of(text: &str) -> Result<Option<u64>, String> {
    match text.trim() {
        "" => Ok(None),
        text => address(text).map(Some),
    }
}
