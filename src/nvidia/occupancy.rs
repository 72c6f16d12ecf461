//! How many blocks of a kernel an SM holds at once, by compute capability.
//!
//! The numbers are data (`tables/nvidia/occupancy.toml`). How registers and shared memory are allocated is what CUDA's own
//! calculator does (`cuda_occupancy.h` of CUDA 13.5): the SM set up to have as much shared memory as it can, caches of
//! Maxwell and Pascal not partitioned.

use super::{Cubin, Kernel, tables};
use crate::launch::{Ask, Choice, Form, Inputs, shown};
use crate::occupancy::{BESIDE, Chart, Fact, Limit, OccupancyAnswer};

/// What an SM shares out among its blocks: a row of [`tables::CAPABILITIES`], which says what each number is.
#[derive(Debug)]
pub struct Capability {
    /// The number of the architecture: 89 for compute capability 8.9.
    pub sm: u32,
    /// Blocks that an SM holds at most.
    pub blocks: u32,
    /// Warps that an SM holds at most.
    pub warps: u32,
    /// 32-bit registers of an SM.
    pub registers: u32,
    /// 32-bit registers that a block can have.
    pub block_registers: u32,
    /// Bytes of shared memory of an SM.
    pub shared: u32,
    /// Bytes of shared memory that a block can have.
    pub block_shared: u32,
    /// Shared memory is allocated by so many bytes.
    pub shared_unit: u32,
    /// Parts of an SM that have registers of their own.
    pub partitions: u32,
    /// Named barriers of an SM over its most blocks; 0 where they do not limit.
    pub barriers: u32,
    /// GPUs with their SMs: `A100 108, A30 56`.
    pub products: &'static str,
}

/// Threads of a warp.
pub const WARP: u32 = 32;
/// Threads of a block, along x and y and in all; along z there are fewer.
pub const BLOCK: u32 = 1024;
const BLOCK_Z: u64 = 64;
/// Registers of a thread.
const THREAD_REGISTERS: u32 = 255;
/// Named barriers of a block: PTX ISA, `bar` and `barrier`.
const BARRIERS: u32 = 16;
/// Registers are allocated to a warp by so many.
const REGISTER_UNIT: u32 = 256;
/// Bytes of shared memory that every block can have, and that a static array can.
const SHARED_PLAIN: u32 = 48 << 10;
/// What the driver keeps of every block's shared memory from 8.0 on.
const RESERVED: u32 = 1024;
/// Blocks of a grid along x, and along y and z.
const GRID: [u64; 3] = [0x7fff_ffff, 0xffff, 0xffff];

const GUIDE: &str = "CUDA C++ programming guide, technical specifications";
const CALCULATOR: &str = "cuda_occupancy.h of CUDA 13.5";

/// What a block needs of an SM.
#[derive(Clone, Copy, Debug, Default)]
pub struct Needs {
    /// Its threads.
    pub threads: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Its shared memory in bytes, static and dynamic, without the driver's.
    pub shared: u32,
    /// Its named barriers.
    pub barriers: u32,
}

/// Blocks that each resource of an SM suffices for; `None` where it does not limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Registers.
    pub registers: Option<u32>,
    /// Shared memory.
    pub shared: Option<u32>,
    /// Warps.
    pub warps: u32,
    /// Blocks.
    pub blocks: u32,
    /// Named barriers.
    pub barriers: Option<u32>,
}

impl Held {
    /// Blocks that an SM holds.
    pub fn least(&self) -> u32 {
        let all = [self.registers, self.shared, self.barriers];
        let least = all.into_iter().flatten().min();
        least.unwrap_or(u32::MAX).min(self.warps).min(self.blocks)
    }
}

impl Needs {
    /// Warps of a block.
    pub fn warps(&self) -> u32 {
        self.threads.div_ceil(WARP)
    }

    /// Registers that a warp is given.
    fn of_warp(&self) -> u32 {
        let registers = self.registers.saturating_mul(WARP);
        registers
            .div_ceil(REGISTER_UNIT)
            .saturating_mul(REGISTER_UNIT)
    }
}

impl Capability {
    /// That of the architecture's number.
    pub fn of(sm: u32) -> Option<&'static Self> {
        tables::CAPABILITIES.iter().find(|known| known.sm == sm)
    }

    /// Its number as people write it: `8.9`.
    pub fn version(&self) -> String {
        format!("{}.{}", self.sm / 10, self.sm % 10)
    }

    /// Bytes of a block's shared memory that the driver keeps.
    pub fn reserved(&self) -> u32 {
        match self.sm {
            80.. => RESERVED,
            _ => 0,
        }
    }

    /// GPUs with the numbers of their SMs.
    fn products(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let products = self.products.split(", ");
        products.filter_map(|product| {
            let (name, units) = product.rsplit_once(' ')?;
            Some((name, units.parse().ok()?))
        })
    }

    /// Shared memory that a block of `needs` is given.
    fn allocated(&self, needs: &Needs) -> u32 {
        let bytes = needs.shared.saturating_add(self.reserved());
        bytes
            .div_ceil(self.shared_unit)
            .saturating_mul(self.shared_unit)
    }

    /// Registers that the hardware compares with those that a block can have: as if each partition held as many warps of it.
    fn checked(&self, needs: &Needs) -> u32 {
        // What does not fit the other Pascals, which have four partitions, CUDA does not launch on GP100, either.
        let partitions = self.partitions.max(4);
        let warps = needs
            .warps()
            .div_ceil(partitions)
            .saturating_mul(partitions);
        needs.of_warp().saturating_mul(warps)
    }

    /// Warps that the registers of an SM suffice for; `needs` are some.
    fn register_warps(&self, needs: &Needs) -> u32 {
        self.registers / self.partitions / needs.of_warp() * self.partitions
    }

    /// Blocks that each resource suffices for: 0 where a block cannot be at all.
    pub fn held(&self, needs: &Needs) -> Held {
        let warps = needs.warps().max(1);
        let registers = match needs.registers {
            0 => None,
            1..=THREAD_REGISTERS if self.checked(needs) <= self.block_registers => {
                Some(self.register_warps(needs) / warps)
            }
            _ => Some(0),
        };
        let shared = match self.allocated(needs) {
            0 => None,
            bytes if bytes <= self.block_shared + self.reserved() => Some(self.shared / bytes),
            _ => Some(0),
        };
        let barriers = self.barriers * self.blocks;
        Held {
            registers,
            shared,
            warps: if needs.threads > BLOCK {
                0
            } else {
                self.warps / warps
            },
            blocks: self.blocks,
            barriers: (barriers > 0 && needs.barriers > 0).then(|| barriers / needs.barriers),
        }
    }

    /// Warps that an SM holds of blocks of `needs`.
    fn resident(&self, needs: &Needs) -> u32 {
        self.held(needs).least() * needs.warps()
    }
}

/// The index in the table that `sm_89`, `sm_90a` or `8.9` means.
fn named(text: &str) -> Option<usize> {
    let digits = match text.strip_prefix("sm_") {
        Some(digits) => digits.trim_end_matches(['a', 'f']).to_owned(),
        None => text.replacen('.', "", 1),
    };
    let sm: u32 = digits.parse().ok()?;
    tables::CAPABILITIES.iter().position(|known| known.sm == sm)
}

fn product(sizes: [u64; 3]) -> u64 {
    sizes.into_iter().fold(1, u64::saturating_mul)
}

/// A number as 32 bits, all ones where it does not fit: more than anything holds.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Kernel {
    /// The most threads of a block that it says it can have.
    pub fn block_limit(&self) -> u64 {
        let said = self.required_threads.or(self.max_threads);
        let threads = said.map(|sizes| product(sizes.map(u64::from)));
        threads.unwrap_or(BLOCK.into()).clamp(1, BLOCK.into())
    }
}

impl Cubin {
    /// How many blocks of the kernel of that index an SM holds at once. The inputs are `gpu`, `units` (SMs of the GPU),
    /// `block`, `registers`, `shared` (dynamic), `barriers` and `grid`.
    pub fn occupancy(&self, kernel: usize, inputs: &Inputs) -> Option<OccupancyAnswer> {
        let kernel = self.kernels.get(kernel)?;
        let mut form = Form::new(inputs);
        let capability = self.ask_gpu(&mut form);
        let units = ask_units(&mut form, capability);
        let (block, grid) = ask_launch(&mut form, kernel);
        let fixed = narrow(kernel.shared_bytes);
        let mut ask = |key, label, group, default: u32, note: &str| {
            let note = note.into();
            let ask = Ask {
                key,
                label,
                group,
                note,
            };
            narrow(form.number(ask, Some(default.into())).unwrap_or(0))
        };
        let dynamic = ask(
            "shared",
            "Dynamic shared memory",
            "Launch",
            0,
            "bytes of a block, besides those that the kernel has",
        );
        let registers = ask(
            "registers",
            "Registers",
            "Kernel",
            kernel.registers,
            "32-bit registers of a thread, 255 at most; 0: none that limit",
        );
        let barriers = ask(
            "barriers",
            "Barriers",
            "Kernel",
            kernel.barriers,
            "named barriers of a block, 16 at most; they limit from compute capability 9.0 on",
        );
        let needs = Needs {
            threads: narrow(product(block)),
            registers,
            shared: fixed.saturating_add(dynamic),
            barriers,
        };
        check(&mut form, capability, kernel, &needs, block);

        let held = capability.held(&needs);
        let least = held.least();
        let is_possible = least > 0 && !form.has_errors_beside(&BESIDE);
        let grid_waves = match (grid, units) {
            (Some(grid), Some(units @ 1..)) if is_possible && !form.has_errors_beside(&[]) => {
                Some(product(grid) as f64 / (u64::from(least) as f64 * units as f64))
            }
            _ => None,
        };
        Some(OccupancyAnswer {
            unit: "SM",
            group: "block",
            wave: "warp",
            groups: is_possible.then_some(least),
            waves: is_possible.then(|| least * needs.warps()),
            most_waves: capability.warps,
            limits: limits(capability, &needs, &held, fixed, dynamic),
            grid_waves,
            charts: charts(capability, kernel, &needs, fixed, dynamic),
            facts: facts(capability, kernel),
            inputs: form.inputs,
            problems: form.problems,
        })
    }

    fn ask_gpu(&self, form: &mut Form<'_>) -> &'static Capability {
        let known = tables::CAPABILITIES;
        let choices = known.iter().map(|capability| {
            let mut label = capability.version();
            for (at, (name, _)) in capability.products().enumerate() {
                label.push_str(if at == 0 { " · " } else { ", " });
                label.push_str(name);
            }
            Choice {
                key: format!("sm_{}", capability.sm),
                label,
                unavailable: None,
            }
        });
        let choices = choices.collect();
        let own = known.iter().rposition(|known| known.sm <= self.sm);
        let own = own.unwrap_or(0);
        let ask = Ask {
            key: "gpu",
            label: "GPU",
            group: "GPU",
            note: "compute capability".into(),
        };
        let gpu = &known[form.choice(ask, choices, own, named)];
        let is_same_major = gpu.sm / 10 == self.sm / 10;
        if form.typed("gpu").is_none() && gpu.sm != self.sm {
            let message = format!("sm_{} is not in the table; sm_{} counts", self.sm, gpu.sm);
            form.note("gpu", message);
        } else if gpu.sm != self.sm
            && (!is_same_major || gpu.sm < self.sm || self.variant == Some('a'))
        {
            form.note(
                "gpu",
                format!(
                    "code for {} does not run there; this is what its registers and shared memory come to",
                    self.target
                ),
            );
        }
        gpu
    }
}

fn ask_units(form: &mut Form<'_>, capability: &Capability) -> Option<u64> {
    let first = capability.products().next();
    let mut note = String::from("SMs of the GPU");
    for (name, units) in capability.products() {
        note.push_str(&format!("; {name}: {units}"));
    }
    let ask = Ask {
        key: "units",
        label: "SMs",
        group: "GPU",
        note,
    };
    let units = form.number(ask, first.map(|(_, units)| units));
    if units == Some(0) {
        form.error("units", "a GPU has one SM at least");
    }
    units
}

/// The block, and the grid where there is one.
fn ask_launch(form: &mut Form<'_>, kernel: &Kernel) -> ([u64; 3], Option<[u64; 3]>) {
    let said = kernel.required_threads.or(kernel.max_threads);
    let note = match (kernel.required_threads, kernel.max_threads) {
        (Some(_), _) => "threads of a block; the kernel must have these",
        (None, Some(_)) => "threads of a block; the kernel can have these at most",
        (None, None) => "threads of a block, 1024 at most",
    };
    let ask = Ask {
        key: "block",
        label: "Block",
        group: "Launch",
        note: note.into(),
    };
    let default = said.map_or([256, 1, 1], |sizes| sizes.map(u64::from));
    let block = form.dimensions(ask, Some(default)).unwrap_or(default);
    let ask = Ask {
        key: "grid",
        label: "Grid",
        group: "Launch",
        note: "blocks of the grid; with them it is worked out how often all SMs are filled".into(),
    };
    let grid = form.dimensions(ask, None);
    for (size, most) in grid.into_iter().flatten().zip(GRID) {
        if size == 0 || size > most {
            form.error("grid", format!("{size} is not between 1 and {most}"));
        }
    }
    (block, grid)
}

/// What is to be said about the block and what it needs.
fn check(
    form: &mut Form<'_>,
    capability: &Capability,
    kernel: &Kernel,
    needs: &Needs,
    block: [u64; 3],
) {
    let threads = product(block);
    let most = kernel.block_limit();
    let [x, y, z] = block;
    if threads == 0 {
        form.error("block", "a block has one thread at least");
    } else if x.max(y) > BLOCK.into() || z > BLOCK_Z || threads > BLOCK.into() {
        form.error(
            "block",
            format!("a block has {BLOCK} threads at most, along z {BLOCK_Z}; these are {threads}"),
        );
    } else if let Some(required) = kernel.required_threads
        && required.map(u64::from) != block
    {
        let required = shown(required.map(u64::from));
        form.error(
            "block",
            format!("the kernel must be launched with blocks of {required}"),
        );
    } else if threads > most {
        form.error(
            "block",
            format!("a block of the kernel has {most} threads at most"),
        );
    }
    let checked = capability.checked(needs);
    if needs.registers > THREAD_REGISTERS {
        form.error(
            "registers",
            format!("a thread has {THREAD_REGISTERS} registers at most"),
        );
    } else if threads <= BLOCK.into() && checked > capability.block_registers {
        form.error(
            "block",
            format!(
                "such a block would need {checked} registers; it can have {}",
                capability.block_registers
            ),
        );
    }
    if needs.barriers > BARRIERS {
        form.error(
            "barriers",
            format!(
                "a block has {BARRIERS} named barriers at most, here {}",
                needs.barriers
            ),
        );
    }
    let most = capability.block_shared;
    if needs.shared > most {
        form.error(
            "shared",
            format!(
                "a block can have {most} bytes of shared memory; these are {}",
                needs.shared
            ),
        );
    } else if needs.shared > SHARED_PLAIN {
        form.note(
            "shared",
            "more than 48 KiB of a block have to be asked for: cudaFuncAttributeMaxDynamicSharedMemorySize",
        );
    }
    if kernel.cluster.is_some_and(|sizes| sizes != [1, 1, 1]) || kernel.explicit_cluster {
        form.note(
            "block",
            "the blocks of a cluster have to find room together, which is not counted here",
        );
    }
}

fn limits(
    capability: &Capability,
    needs: &Needs,
    held: &Held,
    fixed: u32,
    dynamic: u32,
) -> Vec<Limit> {
    let least = held.least();
    let limit = |name, groups: Option<u32>, note| Limit {
        name,
        groups,
        is_limit: groups == Some(least),
        note,
    };
    let warps = needs.warps();
    let registers = match held.registers {
        None => "no registers are counted".into(),
        Some(0) => format!(
            "{} registers × {WARP} threads, in steps of {REGISTER_UNIT}: {} of a warp, {} of a block, which can have {}",
            needs.registers,
            needs.of_warp(),
            capability.checked(needs),
            capability.block_registers
        ),
        Some(_) => format!(
            "{} registers × {WARP} threads, in steps of {REGISTER_UNIT}: {} of a warp. Each of {} parts of the SM has {}; \
             together they suffice for {} warps, of which a block has {warps}",
            needs.registers,
            needs.of_warp(),
            capability.partitions,
            capability.registers / capability.partitions,
            capability.register_warps(needs)
        ),
    };
    let mut shared = format!("{fixed} bytes of the kernel + {dynamic} dynamic");
    if capability.reserved() > 0 {
        shared.push_str(&format!(" + {} of the driver", capability.reserved()));
    }
    shared.push_str(&format!(
        ", in steps of {}: {} of {}",
        capability.shared_unit,
        capability.allocated(needs),
        capability.shared
    ));
    let mut limits = vec![
        limit("registers", held.registers, registers),
        limit("shared memory", held.shared, shared),
        limit(
            "warps",
            Some(held.warps),
            format!(
                "a block of {} threads has {warps}, an SM holds {}",
                needs.threads, capability.warps
            ),
        ),
        limit(
            "blocks",
            Some(held.blocks),
            format!("an SM holds {} at most", capability.blocks),
        ),
    ];
    if capability.barriers > 0 {
        let all = capability.barriers * capability.blocks;
        let note = format!("a block has {}, an SM {all}", needs.barriers);
        limits.push(limit("barriers", held.barriers, note));
    }
    limits
}

fn charts(
    capability: &Capability,
    kernel: &Kernel,
    needs: &Needs,
    fixed: u32,
    dynamic: u32,
) -> Vec<Chart> {
    let most = narrow(kernel.block_limit());
    let with = |change: &dyn Fn(&mut Needs)| {
        let mut needs = *needs;
        change(&mut needs);
        match needs.threads <= most {
            true => capability.resident(&needs),
            false => 0,
        }
    };
    let blocks = (1..=BLOCK / WARP).map(|warps| warps * WARP);
    let registers = 1..=THREAD_REGISTERS;
    // Every KiB, and what is left of one behind the last of them.
    let room = capability.block_shared.saturating_sub(fixed);
    let shared = (0..=room / 1024).map(|kib| kib * 1024);
    let shared = shared.chain((!room.is_multiple_of(1024)).then_some(room));
    vec![
        Chart {
            input: "block",
            label: "threads of a block",
            points: blocks
                .map(|n| [n, with(&|needs| needs.threads = n)])
                .collect(),
            present: needs.threads,
        },
        Chart {
            input: "registers",
            label: "registers of a thread",
            points: registers
                .map(|n| [n, with(&|needs| needs.registers = n)])
                .collect(),
            present: needs.registers,
        },
        Chart {
            input: "shared",
            label: "bytes of dynamic shared memory",
            points: shared
                .map(|n| [n, with(&|needs| needs.shared = fixed.saturating_add(n))])
                .collect(),
            present: dynamic,
        },
    ]
}

fn facts(capability: &Capability, kernel: &Kernel) -> Vec<Fact> {
    let fact = |name: &str, value: u64, source: &str| Fact {
        name: name.into(),
        value: value.to_string(),
        source: source.into(),
    };
    let mut facts: Vec<Fact> = [
        ("warps of an SM", capability.warps, GUIDE),
        ("blocks of an SM", capability.blocks, GUIDE),
        ("registers of an SM", capability.registers, GUIDE),
        ("registers of a block", capability.block_registers, GUIDE),
        ("registers of a thread", THREAD_REGISTERS, GUIDE),
        (
            "parts of an SM with registers of their own",
            capability.partitions,
            CALCULATOR,
        ),
        (
            "registers are given to a warp in steps of",
            REGISTER_UNIT,
            CALCULATOR,
        ),
        ("bytes of shared memory of an SM", capability.shared, GUIDE),
        (
            "bytes of shared memory of a block",
            capability.block_shared,
            GUIDE,
        ),
        (
            "bytes of shared memory that the driver keeps of a block",
            capability.reserved(),
            GUIDE,
        ),
        (
            "shared memory is given in steps of",
            capability.shared_unit,
            CALCULATOR,
        ),
    ]
    .into_iter()
    .map(|(name, value, source)| fact(name, value.into(), source))
    .collect();
    if capability.barriers > 0 {
        let barriers = capability.barriers * capability.blocks;
        facts.push(fact("named barriers of an SM", barriers.into(), CALCULATOR));
    }
    let gpu = tables::GPUS.iter().find(|gpu| gpu.sm == capability.sm);
    if let Some(gpu) = gpu.filter(|gpu| !gpu.carveouts.is_empty()) {
        facts.push(Fact {
            name: "KiB of shared memory that an SM can be set up with; the most counts".into(),
            value: gpu.carveouts.into(),
            source: GUIDE.into(),
        });
    }
    for (name, units) in capability.products() {
        facts.push(fact(
            &format!("SMs of {name}"),
            units,
            "NVIDIA's data sheets",
        ));
    }
    let fixed = kernel.shared_bytes;
    facts.push(fact(
        "bytes of static shared memory of the kernel",
        fixed,
        ".nv.shared of the cubin",
    ));
    facts
}
