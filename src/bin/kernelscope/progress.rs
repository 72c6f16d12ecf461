//! How far long work has come, in the last line of a terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Bytes that are worked through before the line is written again, about.
pub const STEP: u64 = 16 << 20;

/// Work that is shorter has no line.
const SHORT: Duration = Duration::from_millis(500);
/// The time from one line to the next, at least.
const PAUSE: Duration = Duration::from_millis(100);

/// Bytes as they stand in the line.
pub fn megabytes(bytes: u64) -> u64 {
    bytes / 1_000_000
}

/// The line: on stderr, if that is a terminal. It goes when the work is done.
pub struct Line {
    next: Instant,
    is_terminal: bool,
    is_shown: bool,
}

impl Line {
    /// None yet.
    pub fn new() -> Self {
        Self {
            next: Instant::now() + SHORT,
            is_terminal: std::io::stderr().is_terminal(),
            is_shown: false,
        }
    }

    /// Says how far the work has come.
    pub fn show(&mut self, how_far: impl FnOnce() -> String) {
        if !self.is_terminal || Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + PAUSE;
        self.is_shown = true;
        let mut to = std::io::stderr();
        let _ = write!(to, "\r\x1b[K{}", how_far());
        let _ = to.flush();
    }

    /// Takes it away, before something else is written.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.clear();
    }
}
