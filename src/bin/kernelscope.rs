//! The terminal's door.
fn main() {}
