//! Kernelscope opens any GPU binary and shows all of it, down to the bit.
//!
//! Start at [`Document::open`], which takes a [`Source`] of bytes and never fails: what cannot be read
//! is a finding. From there:
//!
//! | what | where |
//! | --- | --- |
//! | bytes: memory, or a file read in slices | [`source`] |
//! | what can be wrong, and where | [`error`] |
//! | structures as data: layouts, fields, their printed forms | [`record`], [`export`] |
//! | ELF: headers, symbols, relocations, notes, images, the map | [`elf`] |
//! | lines of source beside code | [`lines`] |
//! | what cubins and code objects are to their GPUs | [`nvidia`], [`amdgpu`] |
//! | on which GPUs code runs | [`compatibility`] |
//! | what a launch of a kernel hands to the GPU; how many blocks run at once | [`launch`], [`typed`], [`occupancy`] |
//! | what was dropped; what bytes that somebody has dumped are; such bytes as text | [`container`], [`decode`], [`dump`] |
//! | LZ4, Zstandard and deflate | [`unpack`], [`zstd`] |
//! | tables, sorted, filtered and served in windows | [`rows`], [`lists`], [`dumps`], [`coredump`], [`members`], [`survey`], [`across`], [`size`], [`kernels`], [`bank`], [`patches`], [`metadata`] |
//! | where an expression leads, names that fit some words | [`goto`] |
//! | everything as one JSON object | [`report`] |
//!
//! Three doors serve the same model: this API, the `kernelscope` program (feature `cli`), and
//! [`wasm`](https://rustwasm.github.io/wasm-bindgen/) for browsers.

pub mod across;
pub mod amdgpu;
pub mod bank;
pub mod compatibility;
pub mod container;
pub mod coredump;
pub mod decode;
pub mod device;
pub mod document;
pub mod dump;
pub mod dumps;
pub mod elf;
pub mod error;
pub mod export;
pub mod extract;
pub mod goto;
mod index;
mod instructions;
pub mod int;
pub mod kernels;
pub mod launch;
pub mod lines;
pub mod lists;
pub mod loaded;
pub mod members;
pub mod metadata;
pub mod missing;
pub mod nvidia;
pub mod occupancy;
mod order;
pub mod patches;
pub mod record;
pub mod registered;
pub mod report;
pub mod rows;
pub mod runs;
pub mod search;
pub mod size;
pub mod source;
pub mod span;
pub mod survey;
pub mod text;
pub mod typed;
pub mod unpack;
#[cfg(target_arch = "wasm32")]
pub mod wasm;
mod words;
pub mod zstd;

pub use document::Document;
pub use source::Source;
