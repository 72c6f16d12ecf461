//! Core dumps: what `make_coredump.py` put in, by the public header, is what we say. No driver's dump was at hand.

mod common;

use common::{bytes, fixture, open};
use kernelscope::error::Severity;
use kernelscope::rows::Cell;
use kernelscope::{Document, Source};
use serde_json::Value;

const SYNTHETIC: &str = "coredump/synthetic.cudacore";
const LIGHTWEIGHT: &str = "coredump/lightweight.cudacore";

fn facts(name: &str) -> Value {
    let mut facts: Value = serde_json::from_slice(&bytes("coredump.json")).expect("facts");
    facts[name.strip_prefix("coredump/").expect("a dump")].take()
}

/// The rows of a table as the report has them.
fn rows(document: &Document, key: &str) -> Vec<Value> {
    let table = document.table(key).unwrap_or_else(|| panic!("no {key}"));
    let rows = serde_json::to_value(kernelscope::rows::Rows(&*table)).expect("rows");
    rows.as_array().expect("a list").clone()
}

/// Whether `row` has what `expected` has, `null` for what is not there.
fn holds(row: &Value, expected: &[(&str, Value)]) {
    for (key, value) in expected {
        assert_eq!(&row[key], value, "{key} of {row}");
    }
}

#[test]
fn what_failed_is_told_to_the_line() {
    for path in [SYNTHETIC, LIGHTWEIGHT] {
        let document = open(path);
        assert_eq!(document.format().word(), "cuda_coredump");
        assert_eq!(document.target().as_deref(), Some("sm_90"));
        let facts = facts(path);
        let fault = &facts["exception"];
        let exceptions = rows(&document, "exceptions");
        assert_eq!(exceptions.len(), 1, "{path}");
        holds(
            &exceptions[0],
            &[
                ("exception", "WARP_ILLEGAL_ADDRESS".into()),
                ("function", fault["function"].clone()),
                ("offset", fault["offset"].clone()),
                ("pc", fault["pc"].clone()),
                ("file", fault["file"].clone()),
                ("line", fault["line"].clone()),
                ("device", 0.into()),
                ("sm", fault["sm"].clone()),
                ("block", fault["block"].clone()),
                ("warp", fault["warp"].clone()),
                ("lanes", fault["lanes"].clone()),
                ("thread", fault["thread"].clone()),
                ("kernel", "first".into()),
                ("grid", 7.into()),
            ],
        );
        // The row leads to the instruction: nvdisasm 13.5 prints LDG.E of it, whose opcode is 0x981.
        let table = document.table("exceptions").expect("exceptions");
        let code = table.target(0).expect("code");
        let word = document.source().read(code).expect("its bytes");
        assert_eq!(u16::from_le_bytes([word[0], word[1]]) & 0xfff, 0x981);
    }
}

#[test]
fn threads_are_where_they_were() {
    for path in [SYNTHETIC, LIGHTWEIGHT] {
        let document = open(path);
        let facts = facts(path);
        let expected = facts["lanes"].as_array().expect("lanes");
        let lanes = rows(&document, "lanes");
        assert_eq!(lanes.len(), expected.len());
        for (lane, expected) in lanes.iter().zip(expected) {
            for key in ["sm", "block", "warp", "lane", "thread", "pc"] {
                assert_eq!(lane[key], expected[key], "{key} of {lane}");
            }
            let failed = expected["exception"] != 0;
            assert_eq!(lane["exception"].is_null(), !failed);
        }
        // Valid lanes of the last warp are 0 to 3, active ones 0 and 1.
        let masks = |lane: &Value| (lane["valid"].clone(), lane["active"].clone());
        let last = &lanes[lanes.len() - 2];
        assert_eq!(masks(last), (true.into(), false.into()));
        assert_eq!(masks(&lanes[12]), (true.into(), true.into()));
        let state = &lanes[0]["state"];
        match path {
            SYNTHETIC => assert_eq!(state, "READY"),
            _ => assert!(state.is_null()),
        }
        let warps = rows(&document, "warps");
        holds(
            &warps[1],
            &[("valid", "0-31".into()), ("active", "0-7".into())],
        );
    }
}

#[test]
fn a_call_stack_leads_from_the_thread_outwards() {
    for path in [SYNTHETIC, LIGHTWEIGHT] {
        let document = open(path);
        let facts = facts(path);
        let expected = facts["frames"].as_array().expect("frames");
        let frames = rows(&document, "frames");
        assert_eq!(frames.len(), expected.len());
        for (frame, expected) in frames.iter().zip(expected) {
            for key in ["frame", "function", "offset", "pc", "line"] {
                assert_eq!(frame[key], expected[key], "{key} of {frame}");
            }
            assert_eq!(frame["lane"], 1);
            assert_eq!(frame["sm"], 5);
        }
    }
}

#[test]
fn modules_are_members() {
    let document = open(SYNTHETIC);
    let facts = facts(SYNTHETIC);
    let plain = document
        .open_path(".cudbg.elfimg.dev0.ctx0")
        .expect("the cubin");
    let cubin = facts["cubin"]["file"].as_str().expect("a path");
    let size = plain.source().size();
    let whole = kernelscope::span::Span::new(0, size);
    assert_eq!(plain.source().read(whole).expect("bytes"), bytes(cubin));
    // The other one has its addresses, and lines at them.
    let loaded = document
        .open_path(".cudbg.relfimg.dev0.ctx0")
        .expect("the relocated cubin");
    let sections = rows(&loaded, "sections");
    let first = sections
        .iter()
        .find(|row| row["name"] == ".text.first")
        .expect("code");
    assert_eq!(first["address"], facts["functions"]["first"]);
    let kernels = rows(&loaded, "kernels");
    let index = kernels
        .iter()
        .position(|kernel| kernel["name"] == "first")
        .expect("the kernel");
    let code = loaded.table(&format!("code/{index}")).expect("code");
    assert_eq!(code.cell(8, "line"), Cell::Int(6));
    let modules = rows(&document, "modules");
    holds(
        &modules[0],
        &[
            ("member", ".cudbg.relfimg.dev0.ctx0".into()),
            ("cubin", ".cudbg.elfimg.dev0.ctx0".into()),
        ],
    );
}

#[test]
fn memory_and_registers_are_where_they_belong() {
    let document = open(SYNTHETIC);
    // Thread 4 is lane 0 of the warp that failed, thread 13 the one with a call stack.
    for (thread, expected) in [
        (
            4,
            &[
                "registers",
                "predicates",
                "local memory",
                "uniform registers",
                "uniform predicates",
                "convergence barriers",
                "shared memory",
                "parameters",
                "constant banks",
            ][..],
        ),
        (
            13,
            &[
                "registers",
                "predicates",
                "local memory",
                "call stack",
                "uniform registers",
                "uniform predicates",
                "convergence barriers",
            ][..],
        ),
    ] {
        let parts = rows(&document, &format!("lane/{thread}"));
        let what: Vec<&str> = parts
            .iter()
            .filter_map(|part| part["what"].as_str())
            .collect();
        assert_eq!(what, expected);
        let at = parts[0]["file_offset"].as_u64().expect("registers");
        let location = document.locate(at + 4 * 20 + 1);
        let record = &location.records[0];
        assert_eq!(record.fields.len(), 24);
        assert_eq!(record.number("R20"), 0xa000_0014);
        assert!(record.gaps().is_empty());
        let at = parts[1]["file_offset"].as_u64().expect("predicates");
        assert_eq!(document.locate(at).records[0].number("P6"), 1);
    }
    assert!(document.table("lane/16").is_none());
    assert!(document.table("lane/x").is_none());
    let memory = rows(&document, "memory");
    let kinds: Vec<&str> = memory
        .iter()
        .filter_map(|row| row["memory"].as_str())
        .collect();
    assert_eq!(
        kinds,
        [
            "global memory",
            "managed memory",
            "shared memory",
            "local memory",
            "local memory",
            "parameters"
        ]
    );
    holds(
        &memory[0],
        &[
            ("address", 0x7f5e_9000_0000_u64.into()),
            ("size", 512.into()),
        ],
    );
    holds(&memory[4], &[("lane", 1.into()), ("sm", 5.into())]);
}

#[test]
fn every_byte_of_a_table_is_in_a_record() {
    // Sizes of the structures in the public header, as it is now and as its first version was.
    for (path, sizes) in [
        (SYNTHETIC, [88, 40, 8, 136, 40, 56, 64, 56, 24]),
        (LIGHTWEIGHT, [72, 40, 8, 104, 8, 24, 32, 48, 24]),
    ] {
        let document = open(path);
        let names = [
            ".cudbg.devtbl",
            ".cudbg.ctxtbl.dev0",
            ".cudbg.modtbl.dev0.ctx0",
            ".cudbg.gridtbl.dev0",
            ".cudbg.smtbl.dev0",
            ".cudbg.ctatbl.dev0.sm0",
            ".cudbg.wptbl.dev0.sm0.cta0",
            ".cudbg.lntbl.dev0.sm0.cta0.wp0",
            ".cudbg.bt.dev0.sm1.cta0.wp0.ln1",
        ];
        for (name, size) in names.into_iter().zip(sizes) {
            let elf = document.elf().expect("an ELF file");
            let span = elf.stored(elf.section_named(name).expect(name));
            for offset in span.offset..span.end() {
                let location = document.locate(offset);
                let record = &location.records[0];
                assert!(record.span.contains(offset), "{name} at {offset}");
                assert_eq!(record.span.size, size, "{name}");
                assert!(record.gaps().is_empty(), "{name}: {:?}", record.gaps());
            }
        }
    }
    // Names and addresses are told.
    let document = open(SYNTHETIC);
    let device = document.table("devices").and_then(|table| table.place(0));
    let record = &document.locate(device.expect("a device").offset).records[0];
    let meaning = |name: &str| record.field(name).and_then(|field| field.meaning.clone());
    assert_eq!(meaning("devName").as_deref(), Some("Synthetic H100"));
    let lane = document.table("lanes").and_then(|table| table.place(4));
    let record = &document.locate(lane.expect("a thread").offset).records[0];
    let meaning = |name: &str| record.field(name).and_then(|field| field.meaning.clone());
    assert_eq!(
        meaning("virtualPC").as_deref(),
        Some("first+0x80 (inline.cu:6)")
    );
}

#[test]
fn a_dump_says_that_none_was_at_hand() {
    let document = open(SYNTHETIC);
    let facts = document.facts();
    assert!(
        facts
            .iter()
            .any(|fact| fact.contains("no dump of a driver"))
    );
    assert!(facts.contains(&"driver 580.65".into()) && facts.contains(&"CUDA 13.1".into()));
    assert!(document.findings().is_empty(), "{:?}", document.findings());
}

/// A dump with a number of a section's header replaced: field at `at` of `size` bytes.
fn with_header(bytes: &[u8], section: usize, at: usize, size: usize, value: u64) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let headers = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    let at = headers + section * 64 + at;
    bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    bytes
}

/// Reads all that a dump can be asked for.
fn read_all(bytes: Vec<u8>) -> Document {
    let mut document = Document::open(Source::memory(bytes));
    document.check_all();
    let summary = document.summary();
    for info in &summary.tables {
        let table = document.table(info.key).expect("a table");
        for row in 0..table.len().min(200) {
            table.place(row);
            table.target(row);
            for column in table.columns() {
                table.cell(row, &column.key);
            }
        }
    }
    for lane in 0..20 {
        if let Some(table) = document.table(&format!("lane/{lane}")) {
            for row in 0..table.len() {
                if let Some(place) = table.place(row) {
                    document.locate(place.offset);
                }
            }
        }
    }
    document
}

#[test]
fn every_wrong_link_is_found_at_its_place() {
    let good = bytes(SYNTHETIC);
    let document = open(SYNTHETIC);
    let sections = document.elf().expect("an ELF file").sections.len();
    let root = [
        ".cudbg.meta",
        ".cudbg.devtbl",
        ".cudbg.global.0",
        ".cudbg.global.1",
    ];
    let mut found = 0;
    for section in 1..sections {
        let info = &document.elf().expect("an ELF file").sections[section];
        let is_child = info.name.starts_with(".cudbg") && !root.contains(&info.name.as_str());
        // sh_link: nothing, itself, a string table, a table of another kind, past the end.
        for link in [0, section, sections - 1, 1, sections, u32::MAX as usize] {
            let wrong = read_all(with_header(&good, section, 40, 4, link as u64));
            if is_child {
                let at = info.header + 40;
                let is_found = wrong
                    .findings()
                    .iter()
                    .any(|d| d.offset == Some(at) && d.severity == Severity::Error);
                assert!(is_found, "{}: sh_link {link}", info.name);
                found += 1;
            }
        }
        for value in [1_000_000, u64::from(u32::MAX)] {
            let wrong = read_all(with_header(&good, section, 44, 4, value));
            if is_child {
                let at = Some(info.header + 44);
                assert!(
                    wrong.findings().iter().any(|d| d.offset == at),
                    "{}",
                    info.name
                );
            }
        }
        for value in [0, 1, 7, 47, 4097, u64::MAX] {
            let wrong = read_all(with_header(&good, section, 56, 8, value));
            if info.entry_size > 0 {
                let at = Some(info.header + 56);
                let is_found = wrong.findings().iter().any(|d| d.offset == at);
                let is_known = info.name.contains("modtbl") || info.name.contains("smtbl");
                // 47 bytes are enough for what small entries had first.
                assert!(
                    is_found || value == 47 || is_known,
                    "{}: {value}",
                    info.name
                );
            }
        }
        for value in [1, info.size + 1, u64::from(u32::MAX), u64::MAX] {
            read_all(with_header(&good, section, 32, 8, value));
        }
        for kind in 0..25_u64 {
            read_all(with_header(&good, section, 4, 4, 0x8000_0000 + kind));
        }
        read_all(with_header(&good, section, 24, 8, 0));
    }
    assert!(found > 100);
}

#[test]
fn entries_of_a_newer_driver_have_gaps() {
    // Two threads' entries taken as one of twice the size.
    let good = bytes(SYNTHETIC);
    let document = open(SYNTHETIC);
    let elf = document.elf().expect("an ELF file");
    let section = elf
        .section_named(".cudbg.lntbl.dev0.sm0.cta0.wp0")
        .expect("threads");
    let wide = with_header(&good, section.index as usize, 56, 8, 112);
    let document = read_all(wide);
    assert_eq!(document.table("lanes").expect("threads").len(), 14);
    let record = &document.locate(section.offset + 100).records[0];
    assert_eq!(record.gaps(), [[112 * 8 - 1, 56 * 8]]);
}

#[test]
fn values_of_symbols_may_count_from_their_sections() {
    let mut dump = bytes(LIGHTWEIGHT);
    let document = open(LIGHTWEIGHT);
    let module = document
        .open_path(".cudbg.relfimg.dev0.ctx0")
        .expect("the relocated cubin");
    let elf = module.elf().expect("an ELF file");
    let table = &elf.symbol_tables[0];
    let symbols = elf.symbols(table).expect("symbols");
    let start = module.source().absolute(0).expect("a place");
    for symbol in symbols.iter().filter(|symbol| symbol.info & 15 == 2) {
        let section = elf.section(symbol.section).expect("code");
        let at = (start + table.table.entry(symbol.index).offset + 8) as usize;
        let value = symbol.value - section.address;
        dump[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    let changed = read_all(dump);
    for key in ["exceptions", "frames"] {
        assert_eq!(rows(&changed, key), rows(&document, key));
    }
}

#[cfg(feature = "cli")]
#[test]
fn the_terminal_reports_a_dump() {
    let out = common::kernelscope(&["report", &fixture(SYNTHETIC)]);
    assert!(out.status.success());
    let text = String::from_utf8(out.stdout).expect("text");
    assert!(text.contains("WARP_ILLEGAL_ADDRESS"), "{text}");
    let out = common::kernelscope(&["report", "--json", &fixture(SYNTHETIC)]);
    let report: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(report["coredump"]["exceptions"][0]["function"], "first");
    assert_eq!(report["coredump"]["devices"][0]["name"], "Synthetic H100");
}
