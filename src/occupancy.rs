//! How many blocks or workgroups of a kernel a multiprocessor or compute unit holds at once, and what limits that: the answer
//! that every family of devices gives.

use serde::Serialize;

use crate::launch::{Input, Problem};

/// Inputs that the answer for one multiprocessor or compute unit does not depend on: what is wrong with them is said, and the
/// answer given. Of a GPU that is none, another one counts, which is said, too.
pub(crate) const BESIDE: [&str; 3] = ["gpu", "grid", "units"];

/// A number that went into the answer, and who says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Fact {
    /// What it is: `registers of an SM`.
    pub name: String,
    /// Its value, with its unit.
    pub value: String,
    /// Who says so.
    pub source: String,
}

/// One of the resources that groups share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Limit {
    /// What it is: `registers`, `shared memory`, `warps`, `blocks`.
    pub name: &'static str,
    /// Groups that it suffices for; `null` where it does not limit.
    pub groups: Option<u32>,
    /// Whether it is what keeps the unit from holding more.
    pub is_limit: bool,
    /// How that was counted.
    pub note: String,
}

/// Occupancy against one of the inputs, the others as they are.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Chart {
    /// The key of the input on the horizontal axis: `block`, `registers`, `shared`.
    pub input: &'static str,
    /// What people call it, with its unit.
    pub label: &'static str,
    /// Its values, increasing, and the waves or warps that the unit then holds.
    pub points: Vec<[u32; 2]>,
    /// Where the launch is.
    pub present: u32,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct OccupancyAnswer {
    /// What can be typed.
    pub inputs: Vec<Input>,
    /// What is to be said about what was typed.
    pub problems: Vec<Problem>,
    /// What people call the unit that holds groups: `SM`, `CU`, `WGP`.
    pub unit: &'static str,
    /// What a group is called: `block`, `workgroup`.
    pub group: &'static str,
    /// What a wave is called: `warp`, `wave`.
    pub wave: &'static str,
    /// Groups that a unit holds at once; `null` where such a launch is impossible.
    pub groups: Option<u32>,
    /// Warps or waves that it then holds.
    pub waves: Option<u32>,
    /// Warps or waves that it holds at most.
    pub most_waves: u32,
    /// What limits.
    pub limits: Vec<Limit>,
    /// How often all units of the GPU are filled: groups of the grid over those that they hold at once.
    pub grid_waves: Option<f64>,
    /// Occupancy against block size, registers, shared memory.
    pub charts: Vec<Chart>,
    /// The numbers that went into it.
    pub facts: Vec<Fact>,
}
