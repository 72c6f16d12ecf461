//! One number wrong: each field of each record of the vendors' own sections (attributes, call graph, prototypes, notes,
//! descriptors, relocations and their actions, control words) and each length, count and number of the metadata takes the values that
//! hurt most. The file opens, its report is written, and what the number is not about is still there.
//!
//! CI runs a sample; `make test-all` runs the set whole.

mod common;

use kernelscope::elf::Section;
use kernelscope::error::Severity;
use kernelscope::record::{Raw, Record};
use kernelscope::report::Report;
use kernelscope::{Document, Source};

/// What is damaged, and what stays.
struct Set {
    /// Fixtures that have all kinds of these sections between them.
    files: &'static [&'static str],
    /// How the names of the sections begin whose numbers are damaged: not those of headers and symbols, which other
    /// tests damage.
    sections: &'static [&'static str],
    /// What the table of kernels says whatever these sections say.
    cells: &'static [&'static str],
}

const NVIDIA: Set = Set {
    files: &[
        "nvidia/own/calls.sm_86.13.5.c.cubin",
        "nvidia/own/calls.sm_120.13.5.nvlink.cubin",
        "nvidia/own/link.sm_90a.12.4.c.cubin",
        "nvidia/own/samplers.sm_100.12.9.cubin",
        "nvidia/own/cluster.sm_100a.12.9.cubin",
        "nvidia/own/axpy.sm_50.11.8.cubin",
        "nvidia/own/print.sm_120.13.5.cubin",
        "nvidia/own/branches.sm_75.13.5.nvlink.preserve-relocs.cubin",
    ],
    sections: &[
        ".nv.info",
        ".nv.compat",
        ".nv.callgraph",
        ".nv.prototype",
        ".nv.rel.action",
        ".nv.resolvedrela",
        ".nv.merc",
        ".rel",
        ".note",
    ],
    cells: &["name", "code_bytes", "code_offset", "shared_bytes"],
};

/// Descriptors of every generation, both kinds of notes, relocations with and without addends.
const AMDGPU: Set = Set {
    files: &[
        "amdgpu/own/full_gfx6.gfx803.v5.co",
        "amdgpu/own/full_gfx9.gfx906.v4.co",
        "amdgpu/own/full_gfx940.gfx942-xnack+.v4.co",
        "amdgpu/own/full_gfx10.gfx1030.v5.co",
        "amdgpu/own/full_gfx11.gfx11-generic.v6.co",
        "amdgpu/own/full_gfx12.gfx1201.v5.co",
        "amdgpu/own/full_gfx1250.gfx1250.v5.co",
        "amdgpu/own/code_v2.gfx803.v2.llvm14.co",
        "amdgpu/own/axpy.gfx908-sramecc+-xnack-.v4.co",
        "amdgpu/own/shader.gfx1100.pal.co",
        "amdgpu/own/relocations.gfx1030.v5.o",
        "amdgpu/own/implicit.gfx90c.v5.o",
        "amdgpu/own/calls.gfx1010.v5.co",
    ],
    sections: &[".note", ".rodata", ".text", ".rel"],
    cells: &["name"],
};

/// How the names of sections with code begin.
const CODE: &str = ".text.";

/// What is shown of the code of each function: the rows of its table, and the text of their cells together.
fn listing(document: &Document) -> Vec<(u64, usize)> {
    let tables = (0..).map_while(|index| document.table(&format!("code/{index}")));
    let told = tables.map(|table| {
        let cells = (0..table.len()).flat_map(|row| {
            let columns = table.columns().iter();
            columns.map(move |column| (row, column))
        });
        let texts = cells.map(|(row, column)| table.cell(row, &column.key).text(column.unit).len());
        (table.len(), texts.sum())
    });
    told.collect()
}

/// The records of a section, one behind the other.
fn records(document: &Document, section: &Section) -> Vec<Record> {
    let span = section.span();
    let mut records = Vec::new();
    let mut at = span.offset;
    while at < span.end() {
        let found = document.locate(at).records;
        match found.into_iter().find(|record| record.span.offset == at) {
            Some(record) => {
                at = record.span.end();
                records.push(record);
            }
            None => at += 4, // code
        }
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

/// What the table of kernels says in these columns.
fn kernels(document: &Document, columns: &[&str]) -> Vec<Vec<String>> {
    let Some(kernels) = document.table("kernels") else {
        return Vec::new();
    };
    let row = |row| {
        let cells = columns.iter().map(|key| kernels.cell(row, key));
        cells.map(|cell| format!("{cell:?}")).collect()
    };
    (0..kernels.len()).map(row).collect()
}

#[test]
fn a_wrong_number_of_a_cubin_does_no_harm_beyond_itself() {
    damage(&NVIDIA);
}

#[test]
fn a_wrong_number_of_a_code_object_does_no_harm_beyond_itself() {
    damage(&AMDGPU);
}

#[test]
fn a_wrong_control_word_does_no_harm_beyond_itself() {
    // Instructions of a function that are damaged, besides the last one.
    let most = if common::whole() { 50 } else { 1 };
    let mut tried = 0;
    for path in NVIDIA.files {
        let bytes = common::bytes(path);
        let intact = common::open(path);
        let expected = listing(&intact);
        assert!(expected.iter().all(|(rows, text)| *rows > 0 && *text > 0));
        let elf = intact.elf().expect("ELF");
        let sections = elf.sections.iter().filter(|s| s.name.starts_with(CODE));
        // Functions are listed in section order.
        for (function, section) in sections.enumerate() {
            let check = |changed: Vec<u8>, what: &str| {
                let mut document = Document::open(Source::memory(changed));
                document.check_all();
                let found = listing(&document);
                for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    assert_eq!(found.0, expected.0, "{path}: {what}");
                    assert!(index == function || found == expected, "{path}: {what}");
                }
                assert_eq!(found.len(), expected.len(), "{path}: {what}");
                assert_eq!(
                    document.findings().all(),
                    intact.findings().all(),
                    "{path}: {what}"
                );
            };
            let span = section.span();
            for byte in [0, 0xff] {
                let mut changed = bytes.clone();
                changed[span.offset as usize..span.end() as usize].fill(byte);
                check(changed, &format!("{} is all {byte:#x}", section.name));
            }
            let records = records(&intact, section);
            for record in records.iter().take(most).chain(records.last()) {
                for field in &record.fields {
                    for value in [0, 1, span.size + 1, u64::MAX] {
                        let changed = with(&bytes, record.span.offset, field.bits, value);
                        let what = format!("{} of {} is {value:#x}", field.name, record.name);
                        check(changed, &what);
                        tried += 1;
                    }
                }
            }
        }
    }
    assert!(tried > 1000, "{tried} numbers only");
}

fn damage(set: &Set) {
    let step = if common::whole() { 1 } else { 5 };
    let mut number = 0;
    let mut tried = 0;
    for path in set.files {
        let bytes = common::bytes(path);
        let intact = common::open(path);
        let counts = |document: &Document, section: &Section| -> Vec<_> {
            // A pair of the call graph can become the beginning of a group, or stop being one.
            let is_graph = section.name.ends_with(".nv.callgraph");
            let kept = KEPT.iter().filter(|key| !is_graph || **key != "calls");
            kept.map(|key| document.table(key).map(|table| table.len()))
                .collect()
        };
        let expected_kernels = kernels(&intact, set.cells);
        for section in &intact.elf().expect("ELF").sections {
            let mut damaged = set.sections.iter();
            if !damaged.any(|name| section.name.starts_with(name)) {
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
                        let found = kernels(&document, set.cells);
                        assert_eq!(found, expected_kernels, "{what}");
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

/// A length, a count or a number of a value in MessagePack: where it is written and in how many bytes. Of the formats
/// that have it in their first byte, that byte is kept but for these bits.
#[derive(Debug)]
struct Head {
    at: usize,
    size: usize,
    mask: u8,
    /// Whether it says how much follows.
    is_extent: bool,
}

/// The heads of all values from `at` on, `count` values deep. The formats are those of the MessagePack specification.
fn heads(bytes: &[u8], at: &mut usize, found: &mut Vec<Head>) {
    let from = *at;
    let format = bytes[from];
    let mut head = |at, size, mask, is_extent| {
        found.push(Head {
            at,
            size,
            mask,
            is_extent,
        })
    };
    let number = |at: usize, size: usize| {
        bytes[at..at + size]
            .iter()
            .fold(0, |all, &byte| all << 8 | usize::from(byte))
    };
    let (size, skipped, inside) = match format {
        0x00..=0x7f => {
            head(from, 1, 0x7f, false);
            (1, 0, 0)
        }
        0x80..=0x9f => {
            head(from, 1, 0x0f, true);
            let each = if format < 0x90 { 2 } else { 1 };
            (1, 0, each * usize::from(format & 15))
        }
        0xa0..=0xbf => {
            head(from, 1, 0x1f, true);
            (1, usize::from(format & 31), 0)
        }
        0xc2 | 0xc3 => (1, 0, 0),
        0xcc..=0xcf => {
            let size = 1 << (format - 0xcc);
            head(from + 1, size, 0xff, false);
            (1 + size, 0, 0)
        }
        0xd9..=0xdb => {
            let size = 1 << (format - 0xd9);
            head(from + 1, size, 0xff, true);
            (1 + size, number(from + 1, size), 0)
        }
        0xdc..=0xdf => {
            let size = 2 << (format & 1);
            head(from + 1, size, 0xff, true);
            let each = if format >= 0xde { 2 } else { 1 };
            (1 + size, 0, each * number(from + 1, size))
        }
        _ => panic!("LLVM writes no {format:#x}"),
    };
    *at = from + size + skipped;
    for _ in 0..inside {
        heads(bytes, at, found);
    }
}

/// Where the metadata of a code object V3 and later is: the content of the note of 12 + 8 bytes before it.
fn metadata(document: &Document) -> (usize, usize) {
    let notes = document.elf().expect("ELF").note_parts();
    let place = notes.first().expect("a note").1;
    (place.offset as usize + 20, place.size as usize - 20)
}

/// Every length, count and number of the metadata; a length or count too large by one byte or by all has a finding
/// in the note.
#[test]
fn wrong_metadata_does_no_harm_beyond_itself() {
    let step = if common::whole() { 1 } else { 5 };
    let mut number = 0;
    let mut tried = 0;
    const CELLS: &[&str] = &[
        "name",
        "descriptor",
        "entry",
        "rsrc1",
        "rsrc2",
        "rsrc3",
        "wave32",
    ];
    for path in [
        "amdgpu/own/hidden.gfx90a.v5.co",
        "amdgpu/own/kinds.gfx906.v4.co",
        "amdgpu/own/print.gfx1151.v5.co",
        "amdgpu/own/tile.gfx908-xnack+.v3.gdwarf-4.llvm14.co",
        "amdgpu/own/tile.gfx1201.v5.nosections.co",
    ] {
        let bytes = common::bytes(path);
        let intact = common::open(path);
        let (start, size) = metadata(&intact);
        let mut found = Vec::new();
        let mut end = start;
        heads(&bytes, &mut end, &mut found);
        assert!(
            found.len() > 100 && end <= start + size && end + 4 > start + size,
            "{path}"
        );
        let counts = |document: &Document| -> Vec<_> {
            KEPT.iter()
                .map(|key| document.table(key).map(|table| table.len()))
                .collect()
        };
        let (expected, expected_kernels) = (counts(&intact), kernels(&intact, CELLS));
        for head in &found {
            let written = |value: u64| {
                let mut bytes = bytes.clone();
                let value = value.to_be_bytes();
                let into = &mut bytes[head.at..head.at + head.size];
                for (byte, new) in into.iter_mut().zip(&value[8 - head.size..]) {
                    *byte = *byte & !head.mask | new & head.mask;
                }
                bytes
            };
            let left = (start + size - head.at - head.size) as u64;
            let most = match head.size {
                1 => u64::from(head.mask),
                size => (1 << (8 * size)) - 1,
            };
            let case = |value: u64| (head.is_extent && value & most > left, written(value));
            let mut cases: Vec<_> = [0, 1, left, left + 1, u64::MAX].map(case).into();
            if head.is_extent {
                // A map, a list and a text of 2^32 - 1.
                for format in [0xdf, 0xdd, 0xdb] {
                    let mut bytes = bytes.clone();
                    let at = if head.mask == 0xff {
                        head.at - 1
                    } else {
                        head.at
                    };
                    let whole = [format, 0xff, 0xff, 0xff, 0xff];
                    let room = whole.len().min(start + size - at);
                    bytes[at..at + room].copy_from_slice(&whole[..room]);
                    cases.push((true, bytes));
                }
            } else {
                // The largest number there is.
                let mut bytes = bytes.clone();
                let at = if head.mask == 0xff {
                    head.at - 1
                } else {
                    head.at
                };
                let room = 9.min(start + size - at);
                bytes[at..at + room].copy_from_slice(&[&[0xcf][..], &[0xff; 8]].concat()[..room]);
                cases.push((false, bytes));
            }
            for (case, (is_past, changed)) in cases.into_iter().enumerate() {
                number += 1;
                if number % step != 0 {
                    continue;
                }
                let what = format!("{path}: {head:?}, case {case}");
                let mut document = Document::open(Source::memory(changed));
                document.check_all();
                assert_eq!(counts(&document), expected, "{what}");
                assert_eq!(kernels(&document, CELLS), expected_kernels, "{what}");
                if is_past {
                    let inside = start as u64..(start + size) as u64;
                    let mut errors = document
                        .findings()
                        .iter()
                        .filter(|f| f.severity == Severity::Error);
                    let is_placed = errors.any(|f| f.offset.is_some_and(|at| inside.contains(&at)));
                    assert!(is_placed, "{what}: {:#?}", document.findings());
                }
                document.locate(head.at as u64);
                serde_json::to_writer(std::io::sink(), &Report(&document)).expect(&what);
                tried += 1;
            }
        }
    }
    assert!(tried > 1000, "{tried} numbers only");
}

/// The same of V2, whose metadata is text: numbers become 0, 1 and nines; words and blanks become other ones.
#[test]
fn wrong_text_in_metadata_does_no_harm_beyond_itself() {
    let step = if common::whole() { 1 } else { 3 };
    let path = "amdgpu/own/code_v2.gfx803.v2.llvm14.co";
    let bytes = common::bytes(path);
    let expected = kernels(
        &common::open(path),
        &["name", "descriptor", "entry", "rsrc1"],
    );
    let begin = bytes
        .windows(4)
        .position(|w| w == b"---\n")
        .expect("a text");
    let end = bytes
        .windows(4)
        .position(|w| w == b"...\n")
        .expect("its end");
    for at in (begin..end).step_by(step) {
        for new in [
            b'0', b'9', b' ', b'\n', b'-', b':', b'[', b'{', b'\'', b'"', b'#', 0, 0xff,
        ] {
            let mut bytes = bytes.clone();
            bytes[at] = new;
            let mut document = Document::open(Source::memory(bytes));
            document.check_all();
            let found = kernels(&document, &["name", "descriptor", "entry", "rsrc1"]);
            assert_eq!(found, expected, "byte {at} is {new:#x}");
            serde_json::to_writer(std::io::sink(), &Report(&document)).expect("a report");
        }
    }
}
