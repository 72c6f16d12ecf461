//! What a launch of a cubin's kernel hands to the GPU: the launch descriptor (QMD) and constant bank 0.

use super::Cubin;
use crate::elf::Elf;
use crate::launch::{Inputs, Launch};

impl Cubin {
    /// What a launch of the kernel of that index hands to the GPU.
    pub fn launch(&self, _elf: &Elf, _kernel: usize, _inputs: &Inputs) -> Option<Launch> {
        None
    }
}
