//! Whatever the bytes are, they are read as any kind of dump, or as text that has one: no panic, no hang.
#![no_main]

use kernelscope::report::Report;
use kernelscope::{Document, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let forms = [
        "",
        "as=qmd",
        "as=pushbuffer",
        "as=pushbuffer;host=506F",
        "as=gpfifo",
        "as=aql",
        "text=yes",
    ];
    let Some((&first, bytes)) = bytes.split_first() else {
        return;
    };
    let options = forms[usize::from(first) % forms.len()];
    let document = Document::decode(Source::memory(bytes), options);
    serde_json::to_writer(std::io::sink(), &Report(&document)).expect("a report");
});
