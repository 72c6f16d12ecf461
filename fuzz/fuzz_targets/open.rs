//! Whatever the bytes are, they open and are reported on: no panic, no hang, no memory out of proportion.
#![no_main]

use kernelscope::report::Report;
use kernelscope::{Document, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut document = Document::open(Source::memory(bytes));
    document.check_all();
    let covered = document.leaves().iter().fold(0, |next, leaf| {
        assert_eq!(leaf.span.offset, next, "the map has a gap or an overlap");
        leaf.span.end()
    });
    assert_eq!(
        covered,
        bytes.len() as u64,
        "the map does not cover the file"
    );
    serde_json::to_writer(std::io::sink(), &Report(&document)).expect("a report");
});
