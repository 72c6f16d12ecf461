//! How large a launch is: grid, block, cluster, dynamic shared memory, each held against its limits.

use super::draft::parts;
use super::{Gpu, multiple};
use crate::launch::{Ask, Form, shown};
use crate::nvidia::qmd::Version;
use crate::nvidia::{Kernel, occupancy::Capability};

/// Blocks of a grid along x, y and z, at most.
const GRID: [u64; 3] = [0x7fff_ffff, 0xffff, 0xffff];
/// Threads of a block along x, y and z, at most.
const BLOCK: [u64; 3] = [1024, 1024, 64];
/// Threads of a block in all, at most.
const THREADS: u64 = 1024;
/// Registers that the threads of a block share; on some GPUs fewer.
const REGISTERS: u64 = 0x1_0000;
/// Registers of a thread, at most.
const THREAD_REGISTERS: u32 = 255;
/// Blocks of a cluster that every GPU with clusters runs, and that one can be asked for.
const CLUSTER: [u64; 2] = [8, 16];
/// Threads of a block where nothing is typed and the kernel allows it.
const USUAL: u64 = 256;

/// How large a launch is.
pub struct Sizes {
    pub grid: [u64; 3],
    pub block: [u64; 3],
    pub cluster: Option<[u64; 3]>,
    /// Bytes of dynamic shared memory.
    pub dynamic: u64,
    /// Bytes of a block's shared memory in all, as they are allocated.
    pub shared: u64,
}

fn product(sizes: [u64; 3]) -> u64 {
    sizes.into_iter().fold(1, u64::saturating_mul)
}

fn ask<'a>(key: &'a str, label: &'a str, note: String) -> Ask<'a> {
    Ask {
        key,
        label,
        group: "Launch",
        note,
    }
}

/// Threads of a block that the registers suffice for: those of a warp are a multiple of 256, its warps a multiple of 4.
fn most_threads(kernel: &Kernel, gpu: &Gpu) -> u64 {
    let all = Capability::of(gpu.sm).map_or(REGISTERS, |sm| sm.block_registers.into());
    let warp = multiple(u64::from(kernel.registers) * 32, 256);
    let warps = all.min(REGISTERS).checked_div(warp);
    warps.map_or(THREADS, |warps| (warps / 4 * 4 * 32).min(THREADS))
}

impl Sizes {
    /// Asks for the sizes of a launch of `kernel`.
    pub fn ask(form: &mut Form<'_>, kernel: &Kernel, gpu: &Gpu, version: &Version) -> Self {
        let note = "Blocks along x, y, z: 2147483647, 65535, 65535 at most";
        let grid = ask("grid", "Grid", note.into());
        let least = own_cluster(kernel).unwrap_or([1; 3]);
        let grid = form.dimensions(grid, Some(least)).unwrap_or(least);
        for (axis, (size, most)) in grid.into_iter().zip(GRID).enumerate() {
            within(form, "grid", axis, size, most);
        }
        let block = ask_block(form, kernel, gpu);
        let cluster = ask_cluster(form, kernel, version, grid);
        let (dynamic, shared) = ask_shared(form, kernel, gpu);
        Self {
            grid,
            block,
            cluster,
            dynamic,
            shared,
        }
    }
}

/// Whether a size lies between 1 and the most there can be.
fn within(form: &mut Form<'_>, key: &str, axis: usize, size: u64, most: u64) {
    if size == 0 || size > most {
        let axis = ["x", "y", "z"][axis];
        form.error(key, format!("{axis} is 1 to {most}, here {size}"));
    }
}

fn ask_block(form: &mut Form<'_>, kernel: &Kernel, gpu: &Gpu) -> [u64; 3] {
    let by_registers = most_threads(kernel, gpu);
    let stated = kernel
        .max_threads
        .map(|sizes| product(sizes.map(u64::from)));
    let usual = USUAL.min(by_registers).min(stated.unwrap_or(USUAL)).max(1);
    let required = kernel.required_threads.map(|sizes| sizes.map(u64::from));
    let mut note = String::from("Threads along x, y, z: 1024, 1024, 64 at most, ");
    let most = by_registers.min(stated.unwrap_or(THREADS));
    note.push_str(&format!("{most} in all"));
    if let Some(required) = required {
        note.push_str(&format!("; the kernel requires {}", shown(required)));
    }
    let block = ask("block", "Block", note);
    let usual = required.unwrap_or([usual, 1, 1]);
    let block = form.dimensions(block, Some(usual)).unwrap_or(usual);
    for (axis, (size, most)) in block.into_iter().zip(BLOCK).enumerate() {
        within(form, "block", axis, size, most);
    }
    let threads = product(block);
    if kernel.registers > THREAD_REGISTERS {
        form.error(
            "block",
            format!(
                "a thread has {THREAD_REGISTERS} registers at most, the kernel's {}",
                kernel.registers
            ),
        );
    } else if threads > THREADS && block.iter().zip(BLOCK).all(|(size, most)| *size <= most) {
        form.error(
            "block",
            format!("a block has {THREADS} threads at most, here {threads}"),
        );
    } else if threads > by_registers && threads <= THREADS {
        form.error(
            "block",
            format!(
                "with {} registers a thread a block has {by_registers} threads at most, here {threads}",
                kernel.registers
            ),
        );
    }
    if let Some(required) = required.filter(|required| *required != block) {
        form.error(
            "block",
            format!(
                "the kernel requires blocks of {} (EIATTR_REQNTID), here {}",
                shown(required),
                shown(block)
            ),
        );
    }
    if let Some(most) = stated.filter(|most| threads > *most) {
        form.error(
            "block",
            format!("the kernel allows {most} threads (EIATTR_MAX_THREADS), here {threads}"),
        );
    }
    block
}

/// The cluster that the kernel was compiled for.
fn own_cluster(kernel: &Kernel) -> Option<[u64; 3]> {
    let own = kernel.cluster.map(|sizes| sizes.map(u64::from));
    own.filter(|sizes| product(*sizes) > 0)
}

/// The cluster: what is typed, else the kernel's own; `None` where there is none.
fn ask_cluster(
    form: &mut Form<'_>,
    kernel: &Kernel,
    version: &Version,
    grid: [u64; 3],
) -> Option<[u64; 3]> {
    let own = own_cluster(kernel);
    let note = "Blocks of a cluster along x, y, z: 8 in all on every GPU that has them, 16 where that is asked for; \
        the grid a multiple of it";
    let typed = form.typed("cluster");
    let sizes = form.dimensions(ask("cluster", "Cluster", note.into()), own);
    if parts(version, "cluster.x", 0).is_none() {
        let version = version.key;
        let reason =
            format!("QMD {version} cannot describe a cluster; 04.00 is the first that can");
        if let Some(sizes) = sizes.filter(|sizes| *sizes != [1; 3]) {
            let whose = match typed {
                Some(_) => "this launch",
                None => "the kernel",
            };
            let sizes = shown(sizes);
            form.error(
                "cluster",
                format!("{reason}; {whose} asks for one of {sizes}"),
            );
        }
        if let Some(input) = form.inputs.last_mut() {
            input.unavailable = Some(reason);
        }
        return None;
    }
    let Some(sizes) = sizes else {
        if kernel.explicit_cluster {
            form.error(
                "cluster",
                "the kernel has to be launched with a cluster (EIATTR_EXPLICIT_CLUSTER)",
            );
        }
        return None;
    };
    let blocks = product(sizes);
    if blocks == 0 {
        form.error("cluster", "a cluster has 1 block at least along each axis");
        return None;
    }
    if let Some(own) = own.filter(|own| *own != sizes) {
        form.error(
            "cluster",
            format!(
                "the kernel was compiled for clusters of {} (EIATTR_CTA_PER_CLUSTER), here {}",
                shown(own),
                shown(sizes)
            ),
        );
    }
    let stated = kernel.max_cluster_blocks.map(u64::from);
    let most = stated.unwrap_or(CLUSTER[1]).min(CLUSTER[1]);
    if blocks > most {
        let whose = match stated {
            Some(stated) if stated < CLUSTER[1] => " of this kernel (EIATTR_MAX_CLUSTER_RANK)",
            _ => "",
        };
        form.error(
            "cluster",
            format!("a cluster{whose} has {most} blocks at most, here {blocks}"),
        );
    } else if blocks > CLUSTER[0] {
        form.note(
            "cluster",
            format!(
                "more than {} blocks have to be asked for; not every GPU has them",
                CLUSTER[0]
            ),
        );
    }
    for (axis, (grid, cluster)) in grid.into_iter().zip(sizes).enumerate() {
        if grid % cluster != 0 {
            let axis = ["x", "y", "z"][axis];
            form.error(
                "cluster",
                format!("{grid} blocks along {axis} are no multiple of the cluster's {cluster}"),
            );
        }
    }
    // One block is a cluster where the kernel says that it has one.
    (blocks > 1 || typed.is_some() || kernel.explicit_cluster || own.is_some()).then_some(sizes)
}

/// Dynamic shared memory, and all that a block has.
fn ask_shared(form: &mut Form<'_>, kernel: &Kernel, gpu: &Gpu) -> (u64, u64) {
    let reserved = gpu.reserved_shared();
    let fixed = kernel.shared_bytes.saturating_add(reserved);
    let most = gpu.most_shared().saturating_sub(fixed);
    let mut note = format!(
        "Bytes, {most} at most beside {} static ones",
        kernel.shared_bytes
    );
    if reserved > 0 {
        note.push_str(&format!(" and the driver's {reserved}"));
    }
    let shared = ask("shared", "Dynamic shared memory", note);
    let dynamic = form.number(shared, Some(0)).unwrap_or(0);
    let all = multiple(fixed.saturating_add(dynamic), 128);
    if all > gpu.most_shared() {
        let driver = match reserved {
            0 => String::new(),
            reserved => format!(" and the driver's {reserved}"),
        };
        form.error(
            "shared",
            format!(
                "a block on sm_{} has {} bytes of shared memory at most; {} static, {dynamic} dynamic{driver} are {all}",
                gpu.sm,
                gpu.most_shared(),
                kernel.shared_bytes
            ),
        );
    }
    if !dynamic.is_multiple_of(128) {
        form.note(
            "shared",
            format!("{dynamic} is no multiple of 128: the sum is rounded up to {all}"),
        );
    }
    (dynamic, all)
}
