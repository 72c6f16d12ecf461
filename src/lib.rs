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
// Stands in for wasm.rs until that is wired: then this line and the file go.
#[cfg(target_arch = "wasm32")]
#[path = "wasm_stub.rs"]
pub mod wasm;
