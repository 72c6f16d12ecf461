//! Pushbuffers, GPFIFO entries and dumps of them. Words are put together here from the formats of NVIDIA's class headers
//! (`SEC_OP` in bits 31:29, `COUNT` or the data in 28:16, `SUBCHANNEL` in 15:13, `ADDRESS` / 4 in 11:0); methods, fields and names are held
//! against `fixtures/methods.json`, which has what the headers define.

mod common;

use kernelscope::container::Format;
use kernelscope::document::Document;
use kernelscope::nvidia::methods::Class;
use kernelscope::rows::{Cell, Unit};
use kernelscope::source::{ReadAt, Source};
use serde_json::Value;
use sha2::{Digest, Sha256};

const INC: u32 = 1;
const NON_INC: u32 = 3;
const IMMEDIATE: u32 = 4;
const ONE_INC: u32 = 5;

fn header(op: u32, count: u32, subchannel: u32, address: u32) -> u32 {
    op << 29 | count << 16 | subchannel << 13 | (address / 4)
}

/// A header and its data.
fn burst(op: u32, subchannel: u32, address: u32, data: &[u32]) -> Vec<u32> {
    let mut words = vec![header(op, data.len() as u32, subchannel, address)];
    words.extend(data);
    words
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect()
}

fn decode(words: &[u32], options: &str) -> Document {
    Document::decode(Source::memory(bytes(words)), options)
}

/// The rows of a table, the columns as people read them.
fn rows(document: &Document, table: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let Some(rows) = document.table(table) else {
        return Vec::new();
    };
    let text = |row, key: &str| {
        let unit = rows.columns().iter().find(|column| column.key == key);
        rows.cell(row, key)
            .text(unit.expect("a column").unit)
            .into_owned()
    };
    (0..rows.len())
        .map(|row| columns.iter().map(|key| text(row, key)).collect())
        .collect()
}

fn messages(document: &Document) -> Vec<(String, Option<u64>)> {
    let findings = document.findings().all();
    findings
        .into_iter()
        .map(|finding| (finding.message, finding.offset))
        .collect()
}

/// An encoded launch descriptor that an independent encoder made.
fn example(version: &str) -> Vec<u8> {
    let facts: Value = serde_json::from_slice(&common::bytes("qmd.json")).unwrap();
    let examples = facts["examples"].as_array().unwrap();
    let example = examples
        .iter()
        .find(|example| example["version"] == version)
        .unwrap();
    let digits = example["hex"].as_str().unwrap().as_bytes();
    let digit = |c: u8| (c as char).to_digit(16).unwrap() as u8;
    digits
        .chunks(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

#[test]
fn every_method_of_every_class_has_the_name_and_the_fields_of_its_header() {
    let facts: Value = serde_json::from_slice(&common::bytes("methods.json")).unwrap();
    let facts = facts.as_object().unwrap();
    assert_eq!(facts.len(), Class::all().len());
    for (key, expected) in facts {
        let class = Class::get(u16::from_str_radix(key, 16).unwrap()).expect(key);
        assert_eq!(expected["name"], class.name, "{key}");
        if let Some(methods) = expected["methods"].as_object() {
            // Of a header that has a part of the methods; the others are those of Ampere's host.
            for (at, name) in methods {
                let (method, index) = class
                    .method(u32::from_str_radix(at, 16).unwrap())
                    .expect(at);
                assert_eq!(*name, method.label(index), "{key} {at}");
            }
            continue;
        }
        let (mut text, mut count) = (String::new(), 0);
        for address in (0..0x4000).step_by(4) {
            let Some((method, index)) = class.method(address) else {
                continue;
            };
            count += 1;
            let fields = method.fields().map(|field| {
                let mut names: Vec<_> = field.names().collect();
                names.sort_unstable();
                let names = names.iter().map(|(value, name)| format!("{value}={name}"));
                let names = names.collect::<Vec<_>>().join(",");
                format!("{} {}:{} {names}", field.name, field.msb, field.lsb)
            });
            let mut line: Vec<_> = fields.collect();
            line.sort();
            line.insert(0, method.label(index));
            text.push_str(&format!("{address:04x} {}\n", line.join("; ")));
        }
        assert_eq!(expected["addresses"], count, "{key}");
        let digest = Sha256::digest(text.as_bytes());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(expected["sha256"], digest, "{key}");
    }
}

#[test]
fn bursts_go_where_their_headers_say() {
    let mut all = burst(INC, 1, 0x180, &[256, 1, 0x7f, 0x1234_5600]);
    all.extend(burst(NON_INC, 1, 0x1b4, &[1, 2]));
    all.extend(burst(ONE_INC, 1, 0x500, &[1, 2, 3]));
    // 0x1234 as 13 bits of data in the header
    all.push(header(IMMEDIATE, 0x1234, 1, 0x110));
    all.push(0);
    all.push(0);
    all.push(7 << 29);
    let document = decode(&all, "as=pushbuffer;class=C6C0");
    assert_eq!(document.format(), Format::Pushbuffer);
    assert_eq!(messages(&document), []);
    let found = rows(
        &document,
        "methods",
        &["offset", "address", "name", "value", "kind", "count"],
    );
    let expected = [
        [
            "0x4",
            "0x180",
            "LINE_LENGTH_IN",
            "0x100",
            "incrementing",
            "4",
        ],
        ["0x8", "0x184", "LINE_COUNT", "0x1", "incrementing", "4"],
        [
            "0xc",
            "0x188",
            "OFFSET_OUT_UPPER",
            "0x7f",
            "incrementing",
            "4",
        ],
        [
            "0x10",
            "0x18c",
            "OFFSET_OUT",
            "0x12345600",
            "incrementing",
            "4",
        ],
        [
            "0x18",
            "0x1b4",
            "LOAD_INLINE_DATA",
            "0x1",
            "non-incrementing",
            "2",
        ],
        [
            "0x1c",
            "0x1b4",
            "LOAD_INLINE_DATA",
            "0x2",
            "non-incrementing",
            "2",
        ],
        [
            "0x24",
            "0x500",
            "SET_FALCON00",
            "0x1",
            "increment once",
            "3",
        ],
        [
            "0x28",
            "0x504",
            "SET_FALCON01",
            "0x2",
            "increment once",
            "3",
        ],
        [
            "0x2c",
            "0x504",
            "SET_FALCON01",
            "0x3",
            "increment once",
            "3",
        ],
        ["0x30", "0x110", "WAIT_FOR_IDLE", "0x1234", "immediate", "0"],
        ["0x34", "", "", "", "nothing", "2"],
        ["0x3c", "", "", "", "end of segment", "0"],
    ];
    assert_eq!(found, expected);
    // The halves of an address are said as one: 0x7f << 32 | 0x12345600.
    let meanings = rows(&document, "methods", &["meaning"]);
    assert_eq!(meanings[3], ["= 0x7f12345600"]);
}

#[test]
fn classes_are_those_that_were_bound_or_chosen_and_low_methods_are_the_hosts() {
    let mut all = burst(INC, 4, 0, &[0xc7b5]);
    all.extend(burst(INC, 4, 0x300, &[0x182]));
    all.extend(burst(INC, 2, 0, &[0xc597]));
    all.extend(burst(INC, 2, 0x1b0, &[0]));
    all.extend(burst(INC, 1, 0x1b0, &[0x41]));
    all.extend(burst(INC, 4, 0x5c, &[0x1000, 0x7f]));
    let document = decode(&all, "as=pushbuffer");
    let found = rows(
        &document,
        "methods",
        &["subchannel", "class", "name", "meaning"],
    );
    let launch = "DATA_TRANSFER_TYPE NON_PIPELINED, FLUSH_ENABLE FALSE";
    assert_eq!(
        found[0],
        [
            "4",
            "C56F",
            "SET_OBJECT",
            "NVCLASS AMPERE_DMA_COPY_B, ENGINE 0"
        ]
    );
    assert_eq!(found[1][..3], ["4", "C7B5", "LAUNCH_DMA"]);
    // 0x182: DATA_TRANSFER_TYPE 1:0 = 2, SRC_MEMORY_LAYOUT 7 = 1, DST_MEMORY_LAYOUT 8 = 1
    assert!(found[1][3].starts_with(launch), "{}", found[1][3]);
    assert!(found[1][3].contains("SRC_MEMORY_LAYOUT PITCH, DST_MEMORY_LAYOUT PITCH"));
    // Nothing is known of graphics' methods: they keep their addresses.
    assert_eq!(found[2][..3], ["2", "C56F", "SET_OBJECT"]);
    assert_eq!(found[3], ["2", "C597", "", ""]);
    // The class of copies is one of Ampere's, so is that of the subchannel that has none.
    assert_eq!(found[4][1..3], ["C6C0", "LAUNCH_DMA"]);
    let chosen = decode(&all, "as=pushbuffer;class=c7c0;host=C76F");
    let found = rows(&chosen, "methods", &["class", "name", "meaning"]);
    assert_eq!(found[4][..2], ["C7C0", "LAUNCH_DMA"]);
    // 0x41: bits 0 and 6
    assert!(
        found[4][2].contains("DST_MEMORY_LAYOUT PITCH")
            && found[4][2].contains("SYSMEMBAR_DISABLE TRUE")
    );
    assert_eq!(found[5], ["C76F", "SEM_ADDR_LO", "OFFSET 0x400"]);
    assert_eq!(
        found[6],
        ["C76F", "SEM_ADDR_HI", "OFFSET 0x7f, = 0x7f00001000"]
    );
    let wrong = decode(&all, "as=pushbuffer;class=C5C1");
    let problems = &wrong.dumped().unwrap().decoded.problems;
    assert_eq!(problems[0].input, "class");
}

/// CUDA on Ada (`launch_sequences` of the recorded facts): one incrementing burst of 66 words from 0x318 on.
fn inline_descriptor() -> Vec<u32> {
    let mut data = vec![0x2, 0x0034_5678];
    data.extend(words(&example("03.00")));
    burst(INC, 1, 0x318, &data)
}

#[test]
fn an_inline_descriptor_is_opened_where_it_is_written() {
    let all = inline_descriptor();
    assert_eq!(all[0], 0x2042_20c6); // 1 << 29 | 66 << 16 | 1 << 13 | 0x318 / 4
    let document = decode(&all, "");
    assert_eq!(document.format(), Format::Pushbuffer);
    assert_eq!(messages(&document).len(), 0, "{:?}", messages(&document));
    // (2 << 32 | 0x345678) << 8
    let found = rows(
        &document,
        "qmds",
        &[
            "offset", "size", "version", "grid", "block", "address", "from",
        ],
    );
    assert_eq!(
        found,
        [[
            "0xc",
            "256",
            "03.00",
            "4096",
            "256",
            "0x20034567800",
            "inline descriptor"
        ]]
    );
    let names = rows(&document, "methods", &["name", "meaning"]);
    assert_eq!(names[1][0], "SET_INLINE_QMD_ADDRESS_B");
    assert_eq!(names[1][1], "= 0x20034567800");
    assert_eq!(names[2][0], "LOAD_INLINE_QMD_DATA(0)");
    assert_eq!(names[65][0], "LOAD_INLINE_QMD_DATA(63)");
    // Word 12 of the descriptor has the width of the grid: both structures hold its byte.
    let location = document.locate(0xc + 12 * 4);
    let names: Vec<_> = location
        .records
        .iter()
        .map(|record| record.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["LOAD_INLINE_QMD_DATA(12)", "launch descriptor 03.00"]
    );
    assert_eq!(location.records[0].number("V"), 4096);
    assert_eq!(location.records[1].number("CTA_RASTER_WIDTH"), 4096);
    assert_eq!(location.records[1].span.offset, 0xc);
    let parts: Vec<_> = location
        .parts
        .iter()
        .map(|part| part.name.as_str())
        .collect();
    assert_eq!(
        parts,
        [
            "launch descriptor 03.00",
            "burst 0: SET_INLINE_QMD_ADDRESS_A"
        ]
    );
    let map = rows(&document, "map", &["offset", "size", "name"]);
    assert_eq!(
        map,
        [
            ["0x0", "12", "burst 0: SET_INLINE_QMD_ADDRESS_A"],
            ["0xc", "256", "launch descriptor 03.00"]
        ]
    );
}

#[test]
fn a_descriptor_in_several_bursts_is_put_together() {
    let qmd = words(&example("03.00"));
    let mut all = burst(INC, 1, 0x318, &[0x2, 0x0034_5678]);
    all.extend(burst(INC, 1, 0x320, &qmd[..10]));
    all.extend(burst(NON_INC, 4, 0x400, &[1, 2, 3])); // another engine in between
    all.extend(burst(INC, 1, 0x320 + 40, &qmd[10..]));
    let document = decode(&all, "");
    let found = rows(
        &document,
        "qmds",
        &["offset", "version", "grid", "block", "pieces"],
    );
    assert_eq!(found, [["0x10", "03.00", "4096", "256", "2"]]);
    // Byte 48 of the descriptor: its word 12 is the third word of the second piece, behind 3 + 11 + 4 + 1 words.
    let location = document.locate(4 * (3 + 11 + 4 + 1 + 2));
    let record = &location.records[1];
    assert!(!record.is_stored);
    assert_eq!(record.number("CTA_RASTER_WIDTH"), 4096);
    // Words that are not in their order are none.
    let mut torn = burst(INC, 1, 0x318, &[0x2, 0x0034_5678]);
    torn.extend(burst(INC, 1, 0x324, &qmd));
    let document = decode(&torn, "as=pushbuffer");
    assert!(document.table("qmds").is_none());
    assert!(messages(&document)[0].0.contains("not in their order"));
}

/// CUDA on Hopper (`launch_sequences`): the address, the length, LAUNCH_DMA, inline data; then SEND_PCAS_A and SEND_SIGNALING_PCAS2_B = 0xa.
#[test]
fn inline_data_that_is_a_descriptor_is_opened_and_its_launch_found() {
    let qmd = example("04.00");
    let upload = |high: u32, low: u32, data: &[u32]| {
        let mut all = burst(INC, 1, 0x188, &[high, low]);
        all.extend(burst(INC, 1, 0x180, &[data.len() as u32 * 4, 1]));
        all.extend(burst(INC, 1, 0x1b0, &[0x41]));
        all.extend(burst(NON_INC, 1, 0x1b4, data));
        all
    };
    let mut all = upload(0x7f, 0x1000, &[7; 132]); // bank 0, 528 bytes
    all.extend(upload(0x7f, 0x2000, &[1, 2])); // 8 bytes of parameters
    all.extend(upload(0x7f, 0x3000, &words(&qmd)));
    all.extend(upload(0x7f, 0x4000, &[0]));
    all.extend(burst(INC, 1, 0x2b4, &[0x7f00_0030])); // 0x7f00003000 >> 8
    all.push(header(IMMEDIATE, 0xa, 1, 0x2c0));
    let document = decode(&all, "");
    let found = rows(
        &document,
        "qmds",
        &["version", "grid", "block", "address", "from"],
    );
    assert_eq!(
        found,
        [["04.00", "132", "384", "0x7f00003000", "inline data"]]
    );
    let launches = rows(
        &document,
        "launches",
        &["class", "name", "action", "address", "descriptor", "grid"],
    );
    // The version of the descriptor says that it is Hopper's class.
    let expected = [
        "CBC0",
        "SEND_SIGNALING_PCAS2_B",
        "PCAS_ACTION INVALIDATE_PREFETCH_COPY_SCHEDULE, SELECT 0, OFFSET_MINUS_ONE 0",
        "0x7f00003000",
        "0",
        "132",
    ];
    assert_eq!(launches, [expected]);
    assert_eq!(
        document.facts(),
        ["18 bursts", "1 launch descriptor", "1 launch"]
    );
    // In two bursts of inline data it is the same.
    let mut halves = burst(INC, 1, 0x188, &[0x7f, 0x3000]);
    halves.extend(burst(INC, 1, 0x180, &[384, 1]));
    halves.push(header(IMMEDIATE, 0x41, 1, 0x1b0));
    halves.extend(burst(NON_INC, 1, 0x1b4, &words(&qmd[..128])));
    halves.extend(burst(NON_INC, 1, 0x1b4, &words(&qmd[128..])));
    let document = decode(&halves, "");
    let found = rows(&document, "qmds", &["version", "address", "pieces"]);
    assert_eq!(found, [["04.00", "0x7f00003000", "2"]]);
}

/// mesa and tinygrad (`launch_sequences`) launch by the address alone; up to Turing by SEND_SIGNALING_PCAS_B.
#[test]
fn launches_without_a_descriptor_in_the_buffer_are_listed() {
    let mut all = burst(INC, 1, 0, &[0xc5c0]);
    all.extend(burst(INC, 1, 0x2b4, &[0x1234]));
    all.push(header(IMMEDIATE, 3, 1, 0x2bc));
    let document = decode(&all, "");
    let launches = rows(
        &document,
        "launches",
        &["class", "name", "action", "address", "descriptor"],
    );
    let action = "INVALIDATE TRUE, SCHEDULE TRUE";
    assert_eq!(
        launches,
        [["C5C0", "SEND_SIGNALING_PCAS_B", action, "0x123400", ""]]
    );
    let meaning = rows(&document, "methods", &["meaning"]);
    assert_eq!(meaning[1], ["= 0x123400"]); // QMD_ADDRESS_SHIFTED8
}

/// Before Fermi: address in bits 12:2, count in 28:18, opcode in 31:29 and 17:16.
#[test]
fn headers_before_fermi_are_read_as_those() {
    let old = |op: u32, tertiary: u32, count: u32, address: u32| {
        op << 29 | count << 18 | tertiary << 16 | 3 << 13 | address
    };
    let all = [
        old(0, 0, 2, 0x60),
        1,
        2, // incrementing
        old(2, 0, 2, 0x200),
        3,
        4, // non-incrementing
        old(0, 3, 0, 0x300),
        2,
        5,
        6,                   // double header: the count is the next word
        old(0, 1, 0, 0xff0), // subdevice mask
        old(3, 0, 0, 0x40),  // reserved
    ];
    let document = decode(&all, "as=pushbuffer;host=506F");
    let found = rows(
        &document,
        "methods",
        &["offset", "subchannel", "class", "address", "value", "kind"],
    );
    let expected = [
        ["0x4", "3", "506F", "0x60", "0x1", "incrementing"],
        ["0x8", "3", "506F", "0x64", "0x2", "incrementing"],
        ["0x10", "3", "C6C0", "0x200", "0x3", "non-incrementing"],
        ["0x14", "3", "C6C0", "0x200", "0x4", "non-incrementing"],
        ["0x20", "3", "C6C0", "0x300", "0x5", "non-incrementing"],
        ["0x24", "3", "C6C0", "0x300", "0x6", "non-incrementing"],
        ["0x28", "", "", "", "", "subdevice mask"],
        ["0x2c", "", "", "", "", "unknown"],
    ];
    assert_eq!(found, expected);
    assert_eq!(messages(&document)[0].1, Some(0x2c));
    // From Fermi on the old form is still understood.
    let document = decode(&[old(0, 0, 1, 0x60), 9], "as=pushbuffer;host=906F");
    let found = rows(&document, "methods", &["address", "value"]);
    assert_eq!(found, [["0x60", "0x9"]]);
    let record = &document.locate(0).records[0];
    assert_eq!(record.number("COUNT_OLD"), 1);
}

#[test]
fn gpfifo_entries_are_read_as_their_hosts_write_them() {
    // A pushbuffer at 0x7f_1234_5678 of 18 words: GET 31:2, GET_HI 7:0, PRIV 8, LEVEL 9, LENGTH 30:10, SYNC 31.
    let entry = [0x1234_5678, 1 << 31 | 18 << 10 | 1 << 9 | 1 << 8 | 0x7f];
    // A control entry: SET_PB_SEGMENT_EXTENDED_BASE, bits 56 to 40 in 24:8 of the operand.
    let control = [0x1_2345 << 8, 4];
    let all = [entry[0], entry[1], control[0], control[1]];
    let of = |host: &str| decode(&all, &format!("as=gpfifo;host={host}"));
    let document = of("906F");
    assert_eq!(document.format(), Format::Gpfifo);
    let found = rows(
        &document,
        "gpfifo",
        &["offset", "address", "length", "meaning"],
    );
    assert_eq!(
        found[0],
        [
            "0x0",
            "0x7f12345678",
            "18",
            "FETCH UNCONDITIONAL, PRIV KERNEL, LEVEL SUBROUTINE, SYNC WAIT"
        ]
    );
    assert_eq!(
        found[1][3],
        "OPCODE SET_PB_SEGMENT_EXTENDED_BASE, SYNC PROCEED"
    );
    let found = rows(&of("C46F"), "gpfifo", &["meaning"]);
    assert_eq!(
        found[0],
        ["FETCH UNCONDITIONAL, LEVEL SUBROUTINE, SYNC WAIT"]
    );
    let record = &of("C86F").locate(9).records[0];
    assert_eq!(record.number("PB_EXTENDED_BASE_OPERAND"), 0x1_2345);
    // Before Fermi the length has bit 31, too.
    let found = rows(&of("506F"), "gpfifo", &["length", "meaning"]);
    assert_eq!(found[0][0], (1 << 21 | 18).to_string());
    assert_eq!(
        found[0][1],
        "DISABLE NOT, NO_CONTEXT_SWITCH 0, PRIV KERNEL, LEVEL SUBROUTINE"
    );
    let cut = Document::decode(Source::memory(vec![0; 12]), "as=gpfifo");
    assert_eq!(
        messages(&cut),
        [("the GPFIFO ends within an entry".into(), Some(8))]
    );
}

#[test]
fn descriptors_are_told_by_themselves_and_compared() {
    let first = example("03.00");
    let mut second = first.clone();
    second[4 * 12] = 0x80; // grid 4096 -> 4224
    let both = [first.clone(), second].concat();
    let document = Document::decode(Source::memory(both.clone()), "");
    assert_eq!(document.format(), Format::Qmd);
    let found = rows(&document, "qmds", &["offset", "version", "grid"]);
    assert_eq!(
        found,
        [["0x0", "03.00", "4096"], ["0x100", "03.00", "4224"]]
    );
    let compared = rows(
        &document,
        "compare",
        &["field", "bits", "first", "second", "differs"],
    );
    let differs: Vec<_> = compared.into_iter().filter(|row| row[4] == "yes").collect();
    assert_eq!(
        differs,
        [["CTA_RASTER_WIDTH", "415:384", "4096", "4224", "yes"]]
    );
    // 512 bytes can be one of version 05.01.
    assert!(
        messages(&document)
            .iter()
            .any(|(message, _)| message.contains("05.01"))
    );
    let one = Document::decode(Source::memory(both), "version=05.01");
    assert_eq!(rows(&one, "qmds", &["version", "size"]), [["05.01", "512"]]);
    // Of two versions one behind the other.
    let mixed = [first.clone(), example("05.00"), example("04.00")].concat();
    let document = Document::decode(Source::memory(mixed), "as=qmd");
    let found = rows(&document, "qmds", &["offset", "version", "grid"]);
    assert_eq!(
        found,
        [
            ["0x0", "03.00", "4096"],
            ["0x100", "05.00", "128,64,2"],
            ["0x280", "04.00", "132"]
        ]
    );
    assert!(document.table("compare/1-2").is_some());
    assert!(document.table("compare/1-3").is_none());
    // A file that can be nothing else is one.
    let document = Document::open(Source::memory(first.clone()));
    assert_eq!(document.format(), Format::Qmd);
    assert_eq!(document.facts(), ["version 03.00", "grid 4096, block 256"]);
    let document = Document::open(Source::memory(vec![0; 256]));
    assert_eq!(document.format(), Format::Unknown);
    // Lengths that no version has.
    for size in [100, 300] {
        let bytes = first
            .iter()
            .copied()
            .chain(vec![0; 44])
            .take(size)
            .collect::<Vec<_>>();
        let document = Document::decode(Source::memory(bytes), "as=qmd");
        assert!(
            messages(&document)
                .iter()
                .any(|(message, _)| message.contains("wrong length"))
        );
    }
}

/// The form in which the article's shim prints a burst: words are counted from 1, the first two are the address.
#[test]
fn what_a_shim_prints_is_a_descriptor() {
    let data = &inline_descriptor()[1..];
    let mut text = String::from("Method burst at word 0\n");
    for (word, number) in data.iter().zip(1..) {
        text.push_str(&format!("  word {number:02}: 0x{word:08x}\n"));
    }
    let document = Document::open(Source::memory(text.into_bytes()));
    assert_eq!(document.format(), Format::Qmd);
    assert_eq!(document.source().size(), 256);
    let found = rows(&document, "qmds", &["version", "grid", "block", "address"]);
    assert_eq!(found, [["03.00", "4096", "256", "0x20034567800"]]);
    // Prose is no dump.
    let prose = "Word 12 has the width of the grid, 0x00001000, I think.\n".repeat(5);
    let document = Document::open(Source::memory(prose.into_bytes()));
    assert_eq!(document.format(), Format::Unknown);
    // A list of words of a pushbuffer, counted from 0.
    let mut text = String::new();
    for (word, number) in inline_descriptor().iter().zip(0..) {
        text.push_str(&format!("word {number}: 0x{word:08x}\n"));
    }
    let document = Document::decode(Source::memory(text.into_bytes()), "");
    assert_eq!(document.format(), Format::Pushbuffer);
    assert_eq!(
        rows(&document, "qmds", &["version", "grid"]),
        [["03.00", "4096"]]
    );
}

#[cfg(feature = "cli")]
#[test]
fn the_terminal_decodes_what_comes_through_a_pipe() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let run = |arguments: &[&str], input: &[u8]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kernelscope"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("kernelscope runs");
        // A command line that is wrong is refused before anything is read.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    let all = bytes(&inline_descriptor());
    let (code, out) = run(&["decode", "-", "--json"], &all);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, Some(0));
    assert_eq!(json["records"][0]["layout"], "QMD 03.00");
    assert_eq!(json["methods"].as_array().unwrap().len(), 66);
    assert_eq!(json["qmds"][0]["address"], 0x0200_3456_7800_u64);
    let (code, out) = run(
        &["decode", "-", "--as", "pushbuffer", "--class", "C7C1"],
        &all,
    );
    assert_eq!(code, Some(1));
    assert!(
        out.starts_with("error: class: \"C7C1\" is none of the choices"),
        "{out}"
    );
    let (code, out) = run(&["decode", "-", "--as", "pushbuffer"], &all[..40]);
    assert_eq!(code, Some(1));
    assert!(
        out.contains("data runs past the end of the pushbuffer"),
        "{out}"
    );
    assert_eq!(run(&["decode", "-", "--grid"], &all).0, Some(2));
    let path = std::env::temp_dir().join(format!("kernelscope-decode-{}", std::process::id()));
    let (first, mut second) = (example("03.00"), example("03.00"));
    second[48] = 0x80; // grid 4096 -> 4224
    std::fs::write(&path, &second).unwrap();
    let (code, out) = run(
        &["decode", "-", "--with", &path.display().to_string()],
        &first,
    );
    std::fs::remove_file(&path).unwrap();
    assert_eq!(code, Some(0));
    assert!(out.contains("1 of 202 fields differ"), "{out}");
}

#[test]
fn data_past_the_end_is_found_where_its_header_is() {
    let mut all = burst(INC, 1, 0x180, &[1]);
    all.extend([header(INC, 5, 1, 0x188), 1, 2]);
    let document = decode(&all, "as=pushbuffer");
    let message = "data runs past the end of the pushbuffer";
    assert_eq!(messages(&document), [(message.into(), Some(8))]);
    assert_eq!(
        document.findings().all()[0].expected.as_deref(),
        Some("5 words")
    );
    assert_eq!(document.table("methods").unwrap().len(), 3);
    assert!(document.verdict().text.starts_with("damaged"));
    let mut odd = bytes(&burst(INC, 1, 0x180, &[1]));
    odd.push(7);
    let document = Document::decode(Source::memory(odd), "as=pushbuffer");
    assert_eq!(messages(&document)[0].1, Some(8));
    // Reserved, and a bit that no header sets.
    let document = decode(&[6 << 29, header(INC, 0, 0, 0) | 1 << 12], "as=pushbuffer");
    let offsets: Vec<_> = messages(&document)
        .iter()
        .map(|(_, offset)| *offset)
        .collect();
    assert_eq!(offsets, [Some(0), Some(4)]);
}

fn exercise(document: &Document) {
    for key in [
        "methods", "qmds", "launches", "compare", "gpfifo", "packets", "map",
    ] {
        let Some(table) = document.table(key) else {
            continue;
        };
        for row in (0..table.len())
            .take(200)
            .chain([table.len().saturating_sub(1), table.len()])
        {
            for column in table.columns() {
                let _ = table.cell(row, &column.key).text(Unit::Text);
            }
            table.place(row);
            table.target(row);
        }
    }
    let size = document.source().size();
    let mut leaves = 0;
    for leaf in document.leaves() {
        assert_eq!(leaf.span.offset, leaves);
        leaves = leaf.span.end();
    }
    assert_eq!(leaves, size);
    for offset in [
        0,
        1,
        5,
        64,
        size / 2,
        size.saturating_sub(1),
        size,
        u64::MAX,
    ] {
        document.locate(offset);
    }
}

const FORMS: [&str; 6] = [
    "",
    "as=qmd",
    "as=pushbuffer",
    "as=pushbuffer;host=506F",
    "as=gpfifo",
    "as=aql",
];

#[test]
fn every_byte_may_be_wrong() {
    let mut all = bytes(&inline_descriptor());
    all.extend(bytes(&burst(NON_INC, 4, 0x400, &[1, 2, 3])));
    for at in 0..all.len() {
        for value in [0, 0x7f, 0xff, all[at] ^ 0x20] {
            let mut bytes = all.clone();
            bytes[at] = value;
            exercise(&Document::decode(
                Source::memory(bytes),
                FORMS[(at / 4) % 3],
            ));
        }
    }
    for end in 0..all.len() {
        exercise(&Document::decode(
            Source::memory(&all[..end]),
            FORMS[end % 6],
        ));
    }
}

#[test]
fn words_by_chance_are_read_to_their_end() {
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u32
    };
    for round in 0..600 {
        let count = (random() % 300) as usize;
        // Half of the words are headers that could be.
        let mut all: Vec<u32> = (0..count).map(|_| random()).collect();
        for word in &mut all {
            if random() % 2 == 0 {
                *word = *word & 0xe007_ffff & !0x1c00;
            }
        }
        for form in FORMS {
            let options = format!(
                "{form};version={}",
                if round % 2 == 0 { "03.00" } else { "auto" }
            );
            exercise(&decode(&all, &options));
        }
    }
}

/// A reader that makes up words: headers of one word each, and their data.
struct Endless(u64);

impl ReadAt for Endless {
    fn size(&self) -> u64 {
        self.0
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), String> {
        let pair = [header(INC, 1, 1, 0x500), 7];
        let pattern = bytes(&pair);
        for (at, byte) in (offset..).zip(into) {
            *byte = pattern[(at % 8) as usize];
        }
        Ok(())
    }
}

#[test]
fn a_large_pushbuffer_is_not_kept_in_memory() {
    let document = Document::decode(Source::sliced(Endless(64 << 20)), "as=pushbuffer");
    let table = document.table("methods").unwrap();
    assert_eq!(table.len(), 8 << 20);
    for row in [0, 1, 4_000_000, (8 << 20) - 1] {
        assert_eq!(table.place(row).unwrap().offset, row * 8 + 4);
        assert_eq!(table.cell(row, "value"), Cell::Int(7));
        assert_eq!(table.cell(row, "burst"), Cell::Int(row.into()));
    }
    // Too many bursts to be a part of the map each.
    assert_eq!(document.leaves().len(), (8 << 20) / 64);
    assert_eq!(
        document.locate(64 << 19).records[0].name,
        "SET_FALCON00, burst 4194304"
    );
}

/// Whoever chooses a class knows what the buffer is for: copies on subchannel 4 are a convention only.
#[test]
fn a_class_that_is_chosen_is_that_of_every_subchannel_without_one() {
    let all = burst(INC, 4, 0x300, &[0x182]);
    let class = |options: &str| rows(&decode(&all, options), "methods", &["class"]);
    assert_eq!(class("as=pushbuffer;class=C7B5"), [["C7B5"]]);
    assert_eq!(class("as=pushbuffer;class=C6C0"), [["C6C0"]]);
    assert_eq!(class("as=pushbuffer"), [["C6B5"]]);
    let note = |all: &[u32], options: &str| {
        let document = decode(all, options);
        let inputs = &document.dumped().unwrap().decoded.inputs;
        let class = inputs.iter().find(|input| input.key == "class");
        class.unwrap().note.clone()
    };
    let guess = "subchannel 4 is read as class C6B5, since copies go there by convention";
    assert!(note(&all, "as=pushbuffer").ends_with(guess));
    assert!(!note(&all, "as=pushbuffer;class=C6C0").contains("convention"));
    // Of another subchannel only if there is one.
    let mut bound = burst(INC, 1, 0, &[0xc5c0]);
    bound.extend(burst(INC, 1, 0x2b4, &[1]));
    assert_eq!(note(&bound, "as=pushbuffer"), "as SET_OBJECT says");
    bound.extend(burst(INC, 2, 0x2b4, &[1]));
    let other = "as SET_OBJECT says for another subchannel";
    assert_eq!(note(&bound, "as=pushbuffer"), other);
}

/// The value of two halves is that which the engine has when both are set: an upper half says nothing of the lower one that is
/// still there from the pair before it.
#[test]
fn halves_are_joined_where_the_second_of_them_is_set() {
    let mut all = burst(INC, 1, 0x188, &[1, 0x1000]);
    all.extend(burst(INC, 1, 0x188, &[2, 0x2000]));
    all.extend(burst(INC, 1, 0x188, &[3]));
    all.extend(burst(INC, 1, 0x18c, &[0x3000]));
    all.extend(burst(INC, 1, 0x188, &[4])); // the lower half stays
    let document = decode(&all, "as=pushbuffer;class=C6C0");
    let meanings = rows(&document, "methods", &["meaning"]);
    let wholes = meanings.iter().map(|row| match row[0].split_once("= ") {
        Some((_, whole)) => whole,
        None => "",
    });
    let wholes: Vec<_> = wholes.collect();
    let expected = [
        "",
        "0x100001000",
        "",
        "0x200002000",
        "",
        "0x300003000",
        "0x400003000",
    ];
    assert_eq!(wholes, expected);
}

/// CUDA on Ada (`launch_sequences`) launches by the last word of the descriptor; nothing else is sent.
#[test]
fn an_inline_descriptor_is_a_launch() {
    let columns = ["offset", "name", "action", "address", "descriptor", "grid"];
    let row = [
        "0x108", // 4 * (1 + 2 + 63)
        "LOAD_INLINE_QMD_DATA",
        "written with its descriptor",
        "0x20034567800",
        "0",
        "4096",
    ];
    let mut all = inline_descriptor();
    assert_eq!(rows(&decode(&all, ""), "launches", &columns), [row]);
    // Sent as well, it is launched once.
    all.extend(burst(INC, 1, 0x2b4, &[0x2_0034_5678_u64 as u32]));
    all.push(header(IMMEDIATE, 9, 1, 0x2c0));
    let found = rows(&decode(&all, ""), "launches", &["name"]);
    assert_eq!(found.len(), 2, "another address: bits 63:40 are not sent");
    let mut all = burst(INC, 1, 0x318, &[0, 0x5678]);
    all.extend(burst(INC, 1, 0x320, &words(&example("03.00"))));
    all.extend(burst(INC, 1, 0x2b4, &[0x5678]));
    all.push(header(IMMEDIATE, 9, 1, 0x2c0));
    let found = rows(&decode(&all, ""), "launches", &["name", "address"]);
    assert_eq!(found, [["SEND_SIGNALING_PCAS2_B", "0x567800"]]);
    // Without SEND_PCAS_A nobody says which descriptor it is.
    let document = decode(&[header(IMMEDIATE, 9, 1, 0x2c0)], "as=pushbuffer");
    let found = rows(&document, "launches", &["address", "descriptor"]);
    assert_eq!(found, [["", ""]]);
}

/// A dump that stops within the last burst has a chain of headers up to there.
#[test]
fn a_pushbuffer_that_is_cut_is_told_as_one() {
    let mut all = burst(INC, 1, 0x188, &[0x7f, 0x1000]);
    all.extend(inline_descriptor());
    all.truncate(40);
    let document = decode(&all, "");
    assert_eq!(document.format(), Format::Pushbuffer);
    let message = "data runs past the end of the pushbuffer";
    assert_eq!(messages(&document)[0], (message.into(), Some(12)));
    let document = decode(&all[3..], "");
    assert_eq!(document.format(), Format::Pushbuffer);
    // Where it is nothing that is known, how far it could be one: two bursts of 8 bytes each.
    let mut none = burst(INC, 1, 0x188, &[0x7f]);
    none.extend(burst(INC, 1, 0x188, &[0x7f]));
    none.extend([6 << 29; 9]);
    let document = decode(&none, "");
    assert_eq!(document.format(), Format::Unknown);
    let found = document.findings().all()[0].found.clone().unwrap();
    assert!(
        found.ends_with("headers of methods up to byte 16"),
        "{found}"
    );
}

/// Entries from Hopper on say bits 56:40 of the addresses behind them, in 24:8 of the operand of opcode 4.
#[test]
fn gpfifo_entries_have_the_extended_base_before_them_and_are_checked() {
    let plain = [0x1234_5678, 18 << 10 | 0x7f];
    let all = [
        plain,
        [0x1_2345 << 8, 4],
        plain,
        [0, 0],
        [0x2 << 8, 4],
        plain,
    ]
    .concat();
    let of = |host: &str| decode(&all, &format!("as=gpfifo;host={host}"));
    let addresses = |host: &str| {
        let found = rows(&of(host), "gpfifo", &["address"]);
        [0, 2, 5].map(|row: usize| found[row][0].clone())
    };
    // 0x12345 << 40 | 0x7f12345678; 2 << 40 | 0x7f12345678
    let expected = ["0x7f12345678", "0x123457f12345678", "0x27f12345678"];
    assert_eq!(addresses("C86F"), expected);
    assert_eq!(messages(&of("C86F")), []);
    // Hosts before that have no such opcode.
    assert_eq!(addresses("C56F"), ["0x7f12345678"; 3]);
    let message = "hosts before Hopper's have no extended base";
    let expected = [12, 36].map(|at| (message.to_owned(), Some(at)));
    assert_eq!(messages(&of("C56F")), expected);
    let has_base = |host: &str, offset| {
        let record = &of(host).locate(offset).records[0];
        record.field("PB_EXTENDED_BASE_OPERAND").is_some()
    };
    assert!(has_base("C86F", 8) && !has_base("C86F", 24) && !has_base("C56F", 8));
    // Bit 1 of the first word, bit 8 of the second one from Turing on, opcode 9.
    let odd = decode(&[2, 1 << 10 | 1 << 8, 0, 9], "as=gpfifo;host=C56F");
    let bits = "bits without a known meaning are set";
    let opcode = "no GPFIFO opcode has this number";
    let expected = [(bits, 0), (bits, 5), (opcode, 12)];
    let expected = expected.map(|(text, at)| (text.to_owned(), Some(at)));
    assert_eq!(messages(&odd), expected);
    for (form, text) in [
        ("as=gpfifo", "the GPFIFO has no entries"),
        ("as=pushbuffer", "the pushbuffer has no words"),
    ] {
        assert_eq!(messages(&decode(&[], form)), [(text.into(), Some(0))]);
    }
}
