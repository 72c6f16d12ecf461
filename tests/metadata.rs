//! What is promised of the metadata of code objects. Expected values are those that llvm-readelf prints
//! (`fixtures/facts_amdgpu.json`), the sources that the fixtures were compiled of, or follow from one change that is made
//! here.

mod common;

use common::made::{code_object, metadata, note};
use kernelscope::document::Document;
use kernelscope::error::{Diagnostic, Kind, Severity};
use kernelscope::record::Record;
use kernelscope::rows::{Cell, Table, Unit};
use kernelscope::source::Source;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

const VADD: &str = "amdgpu/out/vadd.gfx906.v5.co";
const EVERY: &str = "amdgpu/own/hidden.gfx90a.v5.co";

fn open(bytes: Vec<u8>) -> Document {
    let mut document = Document::open(Source::memory(bytes));
    document.check_all();
    document
}

/// The fixture with `to` in the place of `from`, both of one size, and where that is.
fn changed(path: &str, from: &[u8], to: &[u8]) -> (Document, u64) {
    let mut bytes = common::bytes(path);
    assert_eq!(from.len(), to.len());
    let at = bytes.windows(from.len()).position(|w| w == from);
    let at = at.unwrap_or_else(|| panic!("{path} has no {:?}", String::from_utf8_lossy(from)));
    bytes[at..at + to.len()].copy_from_slice(to);
    (open(bytes), at as u64)
}

/// What there is of findings, shortly.
fn findings(document: &Document) -> Vec<(Severity, Kind, Option<u64>, String)> {
    let findings = document.findings().iter();
    let short = |f: &Diagnostic| (f.severity, f.kind, f.offset, f.message.clone());
    findings.map(short).collect()
}

fn text(table: &dyn Table, row: u64, key: &str) -> String {
    table.cell(row, key).text(Unit::Text).into_owned()
}

fn number(table: &dyn Table, row: u64, key: &str) -> Option<u64> {
    match table.cell(row, key) {
        Cell::Int(number) => u64::try_from(number).ok(),
        _ => None,
    }
}

/// The rows from `row` up to `end` as JSON: an object where they have keys, else a list.
fn nested(table: &dyn Table, mut row: u64, end: u64) -> Value {
    let is_list = text(table, row, "key").starts_with('[');
    let (mut map, mut list) = (Map::new(), Vec::new());
    while row < end {
        let next = number(table, row, "next").expect("the row behind it");
        let label = text(table, row, "value");
        let value = match text(table, row, "type").as_str() {
            "map" if next == row + 1 => json!({}),
            "list" if next == row + 1 => json!([]),
            "map" | "list" => nested(table, row + 1, next),
            "integer" => label.parse::<i64>().expect("an integer").into(),
            "boolean" => (label == "true").into(),
            "string" => label.into(),
            other => panic!("{other}"),
        };
        if is_list {
            list.push(value);
        } else {
            map.insert(text(table, row, "key"), value);
        }
        row = next;
    }
    if is_list { list.into() } else { map.into() }
}

/// Put together again, the rows are all that llvm-readelf prints: by a digest of it as JSON whose keys are sorted.
#[test]
fn rows_are_what_readelf_prints() {
    let mut compared = 0;
    for (path, facts) in common::facts("code_objects") {
        let document = common::open(&path);
        let Some(table) = document.table("metadata") else {
            continue;
        };
        let table = &*table;
        for expected in facts["metadata_digests"].as_array().into_iter().flatten() {
            let digest = Sha256::digest(nested(table, 0, table.len()).to_string());
            let digest: String = digest[..8].iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(&json!(digest), expected, "{path}");
            compared += 1;
        }
        // Rows lie in the bytes of those that they are in, one behind the other, and their bytes lead to them.
        let mut last = 0;
        for row in 0..table.len() {
            let place = table.place(row).expect("a place");
            assert!(place.offset >= last, "{path}: row {row}");
            last = place.offset;
            if let Some(parent) = number(table, row, "parent") {
                let around = table.place(parent).expect("a place");
                assert!(place.end() <= around.end() && place.offset >= around.offset);
                assert_eq!(
                    number(table, parent, "depth").map(|depth| depth + 1),
                    number(table, row, "depth"),
                );
                let end = number(table, parent, "next").expect("the row behind it");
                assert!(parent < row && row < end, "{path}: row {row}");
            }
            let is_text = text(table, row, "type") != "map" && text(table, row, "type") != "list";
            if is_text && row % 7 == 0 {
                let location = document.locate(place.end() - 1);
                let path_of_row = format!("metadata {}", text(table, row, "path"));
                let mut records = location.records.iter();
                // Of YAML a line is a record, whose path is that of what stands first in it.
                let is_yaml = path.contains(".v2.");
                let found = records.any(|record| record.name == path_of_row);
                assert!(found || is_yaml, "{path}: {path_of_row}");
            }
        }
    }
    assert!(compared > 60, "{compared} only");
}

/// What compilers write is in order. `hidden.s` has another name than symbol, and a dynamic stack that its descriptor does not have.
#[test]
fn what_compilers_write_has_no_findings() {
    for path in common::all(&["amdgpu/out", "amdgpu/own"]) {
        let document = common::open(&path);
        let found: Vec<_> = document
            .findings()
            .iter()
            .filter(|f| f.kind != Kind::Loader)
            .map(|f| f.found.clone().unwrap_or_default())
            .collect();
        let of_metadata = match path.as_str() {
            EVERY => &["every(int*)", "1"][..],
            _ => &[],
        };
        let about = |f: &&Diagnostic| {
            let context = f.context.as_deref().unwrap_or_default();
            ["metadata", "argument", ".uses"]
                .iter()
                .any(|word| context.contains(word))
        };
        let ours = document.findings().iter().filter(about).count();
        assert_eq!(ours, of_metadata.len(), "{path}: {found:?}");
        assert!(of_metadata.iter().all(|of| found.contains(&(*of).into())));
    }
}

#[test]
fn what_differs_from_the_schema_is_found() {
    let note = |message: &str, kind, at| (Severity::Note, kind, Some(at), message.to_owned());
    let warning = |message: &str, at| {
        let message = message.to_owned();
        (Severity::Warning, Kind::Format, Some(at), message)
    };
    let error = |message: &str, at| {
        let message = format!("malformed metadata: {message}");
        (Severity::Error, Kind::Loader, Some(at), message)
    };
    const MISSING: &str = "a key of the metadata is missing";
    const UNKNOWN: &str = "a key of the metadata is not known";
    const OTHER: &str = "a value of the metadata is not what it should be";

    // The kernel's map begins where its first key does, a byte before `.args`.
    let (_, args) = changed(VADD, b"\xa5.args", b"\xa5.args");
    let kernel = args - 3;
    // A key of another name: the value is kept.
    let (document, at) = changed(VADD, b".wavefront_size", b".wavefront_sizf");
    assert_eq!(
        findings(&document),
        [
            note(UNKNOWN, Kind::UnknownValue, at - 1),
            warning(MISSING, kernel)
        ]
    );
    let table = document.table("metadata").expect("metadata");
    let row = (0..table.len()).find(|&row| text(&*table, row, "key") == ".wavefront_sizf");
    assert_eq!(text(&*table, row.expect("a row"), "value"), "64");
    // Not required: only not known.
    let (document, at) = changed(VADD, b".vgpr_spill_count", b".vgpr_spill_counu");
    assert_eq!(
        findings(&document),
        [note(UNKNOWN, Kind::UnknownValue, at - 1)]
    );

    // Values of other kinds, after their keys: nil for an integer, 63 for a power of two, -1 for a size.
    let (document, at) = changed(VADD, b".sgpr_spill_count\x00", b".sgpr_spill_count\xc0");
    assert_eq!(findings(&document), [warning(OTHER, at + 17)]);
    let (document, at) = changed(VADD, b".wavefront_size\x40", b".wavefront_size\x3f");
    let found = findings(&document);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found.contains(&warning(OTHER, at + 15)));
    let (document, at) = changed(VADD, b".size\x08", b".size\xff");
    assert_eq!(findings(&document)[0], error(OTHER, at + 5));
    let first = document.findings().all().swap_remove(0);
    assert_eq!(first.found.as_deref(), Some("-1"));
    // A key twice in one map: llvm-readelf prints such a note as bytes.
    let (document, at) = changed(VADD, b".vgpr_spill_count", b".sgpr_spill_count");
    let message = "a key comes twice in a map";
    assert_eq!(findings(&document), [error(message, at - 1)]);
    // A loader cannot do without the kind of an argument.
    let (document, _) = changed(VADD, b".value_kind", b".value_kinf");
    let found = findings(&document);
    assert!(
        found
            .iter()
            .any(|f| f.3 == error(MISSING, 0).3 && f.0 == Severity::Error),
        "{found:#?}"
    );

    // V5 has 1.2.
    let (document, at) = changed(
        VADD,
        b"amdhsa.version\x92\x01\x02",
        b"amdhsa.version\x92\x01\x01",
    );
    let message = "the metadata's version is not that of the code object's";
    assert_eq!(findings(&document), [note(message, Kind::Format, at + 14)]);
    let (document, at) = changed(
        VADD,
        b"amdhsa.version\x92\x01\x02",
        b"amdhsa.version\x92\x02\x00",
    );
    assert_eq!(findings(&document)[0].2, Some(at + 14));
    assert_eq!(findings(&document)[0].0, Severity::Warning);

    // Words.
    let message = "a word of the metadata is not known";
    let (document, at) = changed(VADD, b"OpenCL C", b"OpenCL D");
    assert_eq!(
        findings(&document),
        [note(message, Kind::UnknownValue, at - 1)]
    );
    let (document, at) = changed(VADD, b"\xa9read_only", b"\xa9read_onlz");
    assert_eq!(findings(&document), [note(message, Kind::UnknownValue, at)]);

    // V2, whose keys are others.
    const V2: &str = "amdgpu/out/vadd.gfx900.v2.llvm13.co";
    let (document, at) = changed(V2, b"IsXNACKEnabled", b"IsXNACKenabled");
    assert_eq!(findings(&document), [note(UNKNOWN, Kind::UnknownValue, at)]);
    let (document, _) = changed(V2, b"KernargSegmentSize:", b"KernargSegmentSizf:");
    let found: Vec<_> = findings(&document).into_iter().map(|f| f.3).collect();
    assert_eq!(found, [UNKNOWN, MISSING]);

    // Calls of printf: 1:2:8:8:… with one size too few.
    const PRINTF: &str = "amdgpu/out/printf.gfx906.v5.co";
    let (document, at) = changed(PRINTF, b"1:2:8:8:", b"1:9:8:8:");
    let message = "a call of printf cannot be taken apart";
    assert_eq!(findings(&document), [warning(message, at - 1)]);
}

/// Metadata of no kernels: of V5, and no more.
const NO_KERNELS: &[u8] = b"\x82\xaeamdhsa.kernels\x90\xaeamdhsa.version\x92\x01\x02";

/// llvm-readelf prints both of two notes with metadata; one is read.
#[test]
fn a_second_note_with_metadata_is_found() {
    let document = open(code_object(
        &[],
        &[metadata(NO_KERNELS), metadata(NO_KERNELS)],
    ));
    let second = &document.elf().expect("ELF").sections[4];
    let found = findings(&document);
    let found: Vec<_> = found.iter().filter(|f| f.3.contains("note")).collect();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((found[0].0, found[0].1), (Severity::Warning, Kind::Format));
    assert_eq!(found[0].2, Some(second.offset));
}

/// A note has 12 bytes, its owner's name 4 here: 65536 of them, and behind them that with the metadata.
#[test]
fn notes_behind_too_many_are_found() {
    let mut notes = note("A", 1, &[]);
    assert_eq!(notes.bytes.len(), 16);
    notes.bytes = notes.bytes.repeat(1 << 16);
    notes.bytes.extend(metadata(NO_KERNELS).bytes);
    let document = open(code_object(&[], &[notes]));
    let at = document.elf().expect("ELF").sections[3].offset + (16 << 16);
    let found = findings(&document);
    let found: Vec<_> = found.iter().filter(|f| f.1 == Kind::Limit).collect();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].2, Some(at));
}

/// A mistake that many kernels make is one finding.
#[test]
fn the_same_mistake_is_told_once() {
    let path = "amdgpu/own/many.gfx900.v4.co";
    let mut bytes = common::bytes(path);
    let key = b".wavefront_size";
    let places: Vec<usize> = (0..bytes.len() - key.len())
        .filter(|&at| &bytes[at..at + key.len()] == key)
        .collect();
    assert!(places.len() > 2);
    for at in &places {
        bytes[at + 1] = b'W';
    }
    let document = open(bytes);
    let more = format!("; {} more like it", places.len() - 1);
    let found = findings(&document);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found.iter().all(|f| f.3.ends_with(&more)), "{found:#?}");
}

#[test]
fn what_is_said_twice_must_agree() {
    const DIFFER: &str = "the metadata and the descriptor differ";
    let one = |document: &Document| -> (String, String) {
        let found: Vec<_> = document.findings().iter().collect();
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0].severity, Severity::Warning);
        let context = found[0].context.clone().unwrap_or_default();
        (found[0].message.clone(), context)
    };
    let differs = |context: &str| (DIFFER.to_owned(), format!("kernel vadd, {context}"));
    let (document, _) = changed(
        VADD,
        b".group_segment_fixed_size\x00",
        b".group_segment_fixed_size\x01",
    );
    assert_eq!(one(&document), differs(".group_segment_fixed_size"));
    let (document, _) = changed(
        VADD,
        b".private_segment_fixed_size\x00",
        b".private_segment_fixed_size\x04",
    );
    assert_eq!(one(&document), differs(".private_segment_fixed_size"));
    let (document, _) = changed(VADD, b".wavefront_size\x40", b".wavefront_size\x20");
    assert_eq!(one(&document), differs(".wavefront_size"));
    let (document, _) = changed(VADD, b".uses_dynamic_stack\xc2", b".uses_dynamic_stack\xc3");
    assert_eq!(one(&document), differs(".uses_dynamic_stack"));
    let (document, _) = changed(
        VADD,
        b".kernarg_segment_size\xcd\x01\x20",
        b".kernarg_segment_size\xcd\x01\x28",
    );
    assert_eq!(one(&document), differs(".kernarg_segment_size"));

    // 8 VGPRs are allocated: the field has 1, in steps of 4.
    let (document, at) = changed(VADD, b".vgpr_count", b".vgpr_count");
    assert!(document.findings().is_empty());
    let mut bytes = common::bytes(VADD);
    let table = document.table("kernels").expect("kernels");
    let allocated = number(&*table, 0, "vgprs").expect("VGPRs") as u8;
    for (count, fits) in [(allocated, true), (allocated + 1, false)] {
        bytes[at as usize + 11] = count;
        let document = open(bytes.clone());
        assert_eq!(document.findings().is_empty(), fits);
        if !fits {
            assert_eq!(one(&document).1, "kernel vadd, .vgpr_count");
        }
    }

    // Names: of the symbol table's `vadd.kd`, of `.symbol` and of `.name`.
    let messages = |document: &Document| -> Vec<String> {
        let findings = document.findings().iter();
        findings.map(|f| f.message.clone()).collect()
    };
    let (document, _) = changed(VADD, b"\xa7vadd.kd", b"\xa7wadd.kd");
    let found = messages(&document);
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(found[0].starts_with("the metadata's name and symbol differ"));
    assert!(found[1].starts_with("the metadata describes a kernel that the file does not define"));
    assert!(found[2].starts_with("the metadata does not describe the kernel"));
    let (document, _) = changed(VADD, b"\xa7vadd.kd", b"\xa7vadd_kd");
    assert!(
        messages(&document)[0].starts_with("the metadata's symbol is not that of a descriptor")
    );
    let (document, _) = changed(VADD, b".name\xa4vadd", b".name\xa4vadc");
    assert_eq!(messages(&document).len(), 1);
    // Two kernels of one name.
    const LDS: &str = "amdgpu/own/many.gfx900.v4.co";
    let document = common::open(LDS);
    let table = document.table("kernels").expect("kernels");
    let names: Vec<_> = (0..2).map(|row| text(&*table, row, "name")).collect();
    assert_eq!(names[0].len(), names[1].len());
    let symbol = |name: &str| [&[0xa0 + name.len() as u8 + 3], name.as_bytes(), b".kd"].concat();
    let (document, _) = changed(LDS, &symbol(&names[1]), &symbol(&names[0]));
    let found = messages(&document);
    assert!(
        found
            .iter()
            .any(|f| f.starts_with("the metadata describes the kernel twice")),
        "{found:#?}"
    );
    // A workgroup of 64 × 2 × 1 work-items where 128 are allowed.
    let (document, _) = changed(
        EVERY,
        b".reqd_workgroup_size\x93\x40\x02",
        b".reqd_workgroup_size\x93\x40\x03",
    );
    let found = messages(&document);
    assert!(
        found
            .iter()
            .any(|f| f.starts_with("the workgroup that the kernel must have"))
    );
}

fn kernarg(document: &Document, kernel: usize) -> Record {
    document.kernarg(kernel).expect("a kernarg segment")
}

/// The arguments are those that llvm-readelf prints, and with what lies between them they are the segment.
#[test]
fn a_kernarg_segment_has_its_arguments_and_no_gaps() {
    let mut kinds = std::collections::BTreeSet::new();
    for (path, facts) in common::facts("code_objects") {
        let document = common::open(&path);
        let Some(count) = document.kernel_count().filter(|_| !path.contains("/mal/")) else {
            continue;
        };
        let table = document.table("kernels").expect("kernels");
        for kernel in 0..count {
            let record = kernarg(&document, kernel);
            assert!(!record.is_stored);
            assert_eq!(
                Some(record.span.size),
                number(&*table, kernel as u64, "kernarg_size"),
            );
            assert!(record.gaps().is_empty(), "{path}: {:?}", record.gaps());
            let name = text(&*table, kernel as u64, "name");
            let described = facts["metadata"].as_array().into_iter().flatten();
            let mut described = described.filter(|k| k[".symbol"] == format!("{name}.kd").as_str());
            let Some(described) = described.next() else {
                continue;
            };
            for argument in described["arguments"].as_array().expect("arguments") {
                let [offset, size] = [0, 1].map(|i| argument[i].as_u64().expect("a number"));
                let bits = [(offset + size) * 8 - 1, offset * 8].map(|bit| bit as u32);
                let field = record.fields.iter().find(|field| field.bits == bits);
                let field = field.unwrap_or_else(|| panic!("{path}: {name}: {argument}"));
                let kind = argument[2].as_str().expect("a kind");
                kinds.insert(kind.to_owned());
                match kind.starts_with("hidden_") {
                    true => assert_eq!(field.name, kind),
                    false => assert!(field.meaning.as_deref().unwrap_or_default().contains(kind)),
                }
                assert!(!field.note.is_empty(), "{path}: {kind}");
                // It leads to the metadata that says it.
                let target = field.target.expect("the argument's map");
                let leads = document.locate(target.offset).records;
                assert!(
                    leads.iter().any(|r| r.name.contains(".args[")),
                    "{path}: {name}"
                );
            }
        }
    }
    // All of AMDGPUUsage's: 7 of the program's and 24 hidden ones.
    assert_eq!(kinds.len(), 31, "{kinds:?}");
}

#[test]
fn an_argument_is_told_whole() {
    // As hidden.s has it.
    let record = kernarg(&common::open(EVERY), 0);
    let field = record.field("g").expect("the argument g");
    let meaning = field.meaning.as_deref().unwrap_or_default();
    assert!(
        meaning.contains("restrict")
            && meaning.contains("int* · global_buffer · global · read_write · in fact write_only"),
        "{meaning}"
    );
    assert_eq!(field.kind, "address");
    // c is a char at 0, g is at 8: 7 bytes between them.
    assert_eq!(record.field("c").map(|field| field.bits), Some([7, 0]));
    assert_eq!(
        record.field("padding").map(|field| field.bits),
        Some([63, 8])
    );
    // Nothing describes this one.
    let record = kernarg(&common::open("amdgpu/out/nometa.gfx906.v5.co"), 0);
    assert_eq!(record.fields.len(), 1);
}

#[test]
fn arguments_that_share_bytes_are_found() {
    // The second argument of vadd, at 8, at 4.
    let (document, at) = changed(VADD, b".offset\x08", b".offset\x04");
    let found = findings(&document);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].3.starts_with("arguments share bytes"));
    assert!(found[0].2.is_some_and(|offset| offset < at));
    // hidden_block_count_x has 4 bytes.
    let (document, _) = changed(
        VADD,
        b".size\x04\xab.value_kind\xb4hidden_block_count_x",
        b".size\x02\xab.value_kind\xb4hidden_block_count_x",
    );
    let found = findings(&document);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].3.starts_with("a hidden argument has not the size"));
}

/// Calls are those of `print.cl`.
#[test]
fn calls_of_printf_are_taken_apart() {
    for name in [
        "print.gfx1151.v5.co",
        "print.gfx906.v4.co",
        "print.gfx900.v2.llvm13.co",
    ] {
        let document = common::open(&format!("amdgpu/own/{name}"));
        let table = document.table("printf").expect("calls");
        let rows = (0..table.len()).map(|row| {
            let cell = |key| text(&*table, row, key);
            (cell("sizes"), cell("format"))
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort();
        let expected = [
            ("", "no arguments\n"),
            ("4, 12, 4", "lane %u of \"%s\": %d%%\n"),
            ("8, 16", "\ttab, colon: and %f; %v4hlf \\ \n"),
        ];
        let expected = expected.map(|(sizes, format)| (sizes.to_owned(), format.to_owned()));
        assert_eq!(rows, expected, "{name}");
    }
}

/// The text of V2's metadata, by lines.
#[test]
fn yaml_is_a_text_too() {
    let document = common::open("amdgpu/out/vadd.gfx900.v2.llvm13.co");
    let table = document.table("text/0").expect("a text");
    assert_eq!(text(&*table, 0, "text"), "---");
    assert_eq!(text(&*table, 1, "text"), "Version:         [ 1, 0 ]");
    assert!(
        document
            .table("texts")
            .is_some_and(|texts| texts.len() == 1)
    );
    let document = common::open(VADD);
    assert!(document.table("texts").is_none_or(|texts| texts.is_empty()));
}
