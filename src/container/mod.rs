//! What was dropped, and what is inside: identified by content, one module a container format.
//!
//! [`Contents`] are what headers tell: members, and the structures that describe them. They are read when a file is opened, in few
//! slices; nothing is unpacked but the beginning of a compressed bundle, whose entries are told there. A member is opened when it is
//! asked for, and is then a file like any other.

pub mod archive;
pub mod bundle;
mod carve;
mod contents;
pub mod fatbin;
pub mod host;
pub mod identify;
mod macho;
pub mod member;
pub mod names;
pub mod offload;
mod reader;
pub mod stream;
pub mod tables;
pub mod tar;
pub mod zip;
mod zip_writer;

pub use contents::{Contents, Opened, Unpacking};
pub use identify::{Format, identify};
pub use member::{Checksum, Code, Member, MemberKind};
pub use zip_writer::ZipWriter;
