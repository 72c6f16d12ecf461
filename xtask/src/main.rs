//! The project's own build steps.
fn main() {}
