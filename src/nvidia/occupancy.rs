//! How many blocks of a kernel an SM holds at once.

use super::Cubin;
use crate::launch::Inputs;
use crate::occupancy::OccupancyAnswer;

impl Cubin {
    /// How many blocks of the kernel of that index an SM holds at once.
    pub fn occupancy(&self, _kernel: usize, _inputs: &Inputs) -> Option<OccupancyAnswer> {
        None
    }
}
