//! What a dispatch of a code object's kernel hands to the GPU: the AQL packet and the kernarg segment.

use super::CodeObject;
use crate::elf::Elf;
use crate::launch::{Inputs, Launch};

impl CodeObject {
    /// What a dispatch of the kernel of that index hands to the GPU.
    pub fn launch(&self, _elf: &Elf, _kernel: usize, _inputs: &Inputs) -> Option<Launch> {
        None
    }
}
