//! On which GPUs a file's code runs: one answer for every family of them, and why.

use std::fmt;

/// Whether code runs somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It does.
    Yes,
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
