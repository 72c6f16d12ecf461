//! Kernelscope opens any GPU binary and shows all of it, down to the bit.

pub mod elf;
pub mod error;
pub mod export;
pub mod int;
pub mod lists;
pub mod record;
pub mod rows;
pub mod source;
pub mod span;
