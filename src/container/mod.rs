//! What was dropped: identified by content. What containers hold is to come here: one module a
//! container format.

pub mod identify;

pub use identify::{Format, identify};
