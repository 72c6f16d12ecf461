//! On which GPUs a file's code runs: one answer for every family of them, and why.

use std::fmt;

/// Whether code runs somewhere, the best answer first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// It does.
    Yes,
    /// It does once the driver has compiled it.
    Jit,
    /// It does under a condition that the reason names.
    Depends,
    /// It does not.
    No,
}

impl Answer {
    /// Its word in what is handed out.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Jit => "jit",
            Self::Depends => "depends",
            Self::No => "no",
        }
    }
}

/// An answer, and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compatibility {
    /// Whether it runs.
    pub answer: Answer,
    /// Why, or under which condition.
    pub reason: String,
}

/// A GPU, and whether the file's code runs on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// What it is asked for by, with the modes that it is in: `gfx90a:sramecc+:xnack-`.
    pub name: String,
    /// What it is sold as; empty where no public source says it.
    pub products: &'static str,
    /// Whether the code runs there.
    pub runs: Compatibility,
    /// Of a file that holds others, what the answer is about.
    pub served_by: Option<Served>,
    /// Of such a file, how many of its kernels do not run there, once that is known.
    pub missing_kernels: Option<u64>,
    /// Of a file with several libraries, the answer of each, which has its path in place of a name; once that is known.
    pub libraries: Vec<Gpu>,
}

/// The code among a file's members that runs on a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// What code it is: `machine code for sm_86`, `PTX for compute_90`.
    pub by: String,
    /// The path of the first member that is such code.
    pub path: Box<str>,
}

/// The answer in a line.
impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.products.is_empty() {
            write!(f, " ({})", self.products)?;
        }
        write!(f, ": {}, {}", self.runs.answer.word(), self.runs.reason)
    }
}
