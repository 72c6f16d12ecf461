//! What a dispatch of a code object's kernel hands to the GPU: the AQL packet and the kernarg segment; and how many
//! workgroups of it run at once.

use super::CodeObject;
use crate::elf::Elf;
use crate::launch::{Inputs, Launch};
use crate::occupancy::OccupancyAnswer;

impl CodeObject {
    /// What a dispatch of the kernel of that index hands to the GPU.
    pub fn launch(&self, _elf: &Elf, _kernel: usize, _inputs: &Inputs) -> Option<Launch> {
        None
    }

    /// How many workgroups of the kernel of that index a compute unit holds at once.
    pub fn occupancy(&self, _kernel: usize, _inputs: &Inputs) -> Option<OccupancyAnswer> {
        None
    }
}
