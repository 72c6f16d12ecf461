//! One number wrong: each field of each record of NVIDIA's own sections (attributes, call graph, prototypes, notes,
//! relocations and their actions) takes the values that hurt most. The file opens, its report is written, and what
//! the number is not about is still there.
//!
//! CI runs a sample; `make test-all` runs the set whole.

mod common;

use kernelscope::elf::Section;
use kernelscope::record::{Raw, Record};
use kernelscope::report::Report;
use kernelscope::{Document, Source};

/// Fixtures that have all kinds of these sections between them.
const FILES: &[&str] = &[
    "nvidia/own/calls.sm_86.13.5.c.cubin",
    "nvidia/own/calls.sm_120.13.5.nvlink.cubin",
    "nvidia/own/link.sm_90a.12.4.c.cubin",
    "nvidia/own/samplers.sm_100.12.9.cubin",
    "nvidia/own/cluster.sm_100a.12.9.cubin",
    "nvidia/own/axpy.sm_50.11.8.cubin",
    "nvidia/own/print.sm_120.13.5.cubin",
];

/// Whether the section's numbers are damaged: not those of headers and symbols, which other tests damage.
fn is_ours(section: &Section) -> bool {
    let names = [
        ".nv.info",
        ".nv.compat",
        ".nv.callgraph",
        ".nv.prototype",
        ".nv.rel.action",
        ".nv.merc",
        ".rel",
        ".note",
    ];
    names.iter().any(|name| section.name.starts_with(name))
}

/// The records of a section, one behind the other.
fn records(document: &Document, section: &Section) -> Vec<Record> {
    let span = section.span();
    let mut records = Vec::new();
    let mut at = span.offset;
    while at < span.end() {
        let found = document.locate(at).records;
        let Some(record) = found.into_iter().find(|record| record.span.offset == at) else {
            break;
        };
        at = record.span.end();
        records.push(record);
    }
    records
}

/// `bytes` with `value` in the bits `msb` to `lsb` from byte `at` on.
fn with(bytes: &[u8], at: u64, [msb, lsb]: [u32; 2], value: u64) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for bit in lsb..=msb {
        let byte = &mut bytes[at as usize + (bit / 8) as usize];
        let mask = 1 << (bit % 8);
        match value.checked_shr(bit - lsb).unwrap_or(0) & 1 {
            0 => *byte &= !mask,
            _ => *byte |= mask,
        }
    }
    bytes
}

/// Tables that a wrong number in these sections leaves as long as they were.
const KEPT: &[&str] = &[
    "kernels",
    "sections",
    "segments",
    "symbols",
    "relocations",
    "calls",
    "image",
];

#[test]
fn a_wrong_number_does_no_harm_beyond_itself() {
    let step = if common::whole() { 1 } else { 5 };
    let mut number = 0;
    let mut tried = 0;
    for path in FILES {
        let bytes = common::bytes(path);
        let intact = common::open(path);
        let counts = |document: &Document, section: &Section| -> Vec<_> {
            // A pair of the call graph can become the beginning of a group, or stop being one.
            let is_graph = section.name.ends_with(".nv.callgraph");
            let kept = KEPT.iter().filter(|key| !is_graph || **key != "calls");
            kept.map(|key| document.table(key).map(|table| table.len()))
                .collect()
        };
        let code = |document: &Document| -> Vec<_> {
            let kernels = document.table("kernels").expect("kernels");
            let rows = (0..kernels.len()).map(|row| {
                let cells = ["name", "code_bytes", "code_offset", "shared_bytes"];
                cells.map(|key| format!("{:?}", kernels.cell(row, key)))
            });
            rows.collect()
        };
        let expected_code = code(&intact);
        for section in &intact.elf().expect("ELF").sections {
            if !is_ours(section) {
                continue;
            }
            let expected = counts(&intact, section);
            for record in records(&intact, section) {
                for field in &record.fields {
                    if !matches!(field.raw, Raw::Int(_)) {
                        continue;
                    }
                    let beyond = [section.size + 1, bytes.len() as u64, section.size - 1];
                    for value in [0, 1, u64::MAX].into_iter().chain(beyond) {
                        number += 1;
                        if number % step != 0 {
                            continue;
                        }
                        let what =
                            format!("{path}: {} of {} is {value:#x}", field.name, record.name);
                        let changed = with(&bytes, record.span.offset, field.bits, value);
                        let mut document = Document::open(Source::memory(changed));
                        document.check_all();
                        assert_eq!(counts(&document, section), expected, "{what}");
                        assert_eq!(code(&document), expected_code, "{what}");
                        document.locate(record.span.offset);
                        serde_json::to_writer(std::io::sink(), &Report(&document)).expect(&what);
                        tried += 1;
                    }
                }
            }
        }
    }
    assert!(tried > 1000, "{tried} numbers only");
}
