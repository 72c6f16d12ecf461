//! What host code registers with a GPU's runtime is tied to the kernels on the device, held against readelf and cuobjdump (host.json).

mod common;

use std::collections::{BTreeMap, BTreeSet};

use kernelscope::rows::{Cell, Rows};
use kernelscope::{Document, Source};
use serde_json::{Value, json};

fn rows(document: &Document, table: &str) -> Vec<Value> {
    let table = document.table(table).expect("a table");
    let rows = serde_json::to_value(Rows(&*table)).expect("rows");
    rows.as_array().expect("rows").clone()
}

fn facts() -> BTreeMap<String, Value> {
    serde_json::from_slice(&common::bytes("host.json")).expect("facts")
}

fn surveyed(path: &str) -> Document {
    let mut document = common::open(path);
    while !document.survey(u64::MAX).finished {}
    document
}

fn text(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap_or_default().to_owned()
}

#[test]
fn every_kernel_is_tied_to_its_function_and_its_stub() {
    for (path, facts) in facts() {
        for document in [common::open(&path), surveyed(&path)] {
            let launchers = rows(&document, "launchers");
            let names: BTreeSet<String> = launchers.iter().map(|row| text(row, "kernel")).collect();
            assert_eq!(names.len(), launchers.len(), "{path}: each kernel once");
            if let Some(kernels) = facts["kernels"].as_array() {
                let kernels = kernels
                    .iter()
                    .map(|name| name.as_str().expect("a name").to_owned());
                assert_eq!(names, kernels.collect(), "{path}");
            }
            for row in &launchers {
                for (symbol, is_stub) in [("host", false), ("stub", true)] {
                    let name = text(row, symbol);
                    assert_eq!(name.contains("__device_stub__"), is_stub, "{path}: {row}");
                    assert!(facts["symbols"][&name].is_object(), "{path}: {name}");
                }
                let host = &facts["symbols"][text(row, "host")];
                assert_eq!(row["address"], host["value"], "{path}: {row}");
                assert_eq!(row["size"], host["size"], "{path}: {row}");
                // In HIP it is a pointer to the function.
                let kind = if path.starts_with("amdgpu") {
                    "handle"
                } else {
                    "function"
                };
                assert_eq!(row["host_kind"], kind, "{path}");
            }
            // Every stub is told with a kernel.
            let stubs: BTreeSet<String> = launchers.iter().map(|row| text(row, "stub")).collect();
            let symbols = facts["symbols"].as_object().expect("symbols").keys();
            let functions = symbols.filter(|name| {
                let is_variable = name.starts_with("_ZZ") || name.starts_with("_ZGV");
                name.contains("__device_stub__") && !is_variable
            });
            assert_eq!(stubs, functions.cloned().collect(), "{path}");
            let mut calls: Vec<u64> = Vec::new();
            calls.extend(
                launchers
                    .iter()
                    .filter_map(|row| row["call_offset"].as_u64()),
            );
            calls.sort_unstable();
            assert_eq!(json!(calls), facts["calls"], "{path}");
        }
    }
}

#[test]
fn how_many_members_have_a_kernel_is_known_once_they_are_opened() {
    // Of two architectures each: cuobjdump -res-usage names each kernel for both.
    let path = "nvidia/host/exe_two_arch.13.5";
    for row in rows(&common::open(path), "launchers") {
        assert_eq!(row["found"], Value::Null);
    }
    for row in rows(&surveyed(path), "launchers") {
        assert_eq!(row["found"], 2, "{row}");
    }
    // The bundle for three targets has these, that for two others.
    for row in rows(&surveyed("amdgpu/con/linked-twice.so"), "launchers") {
        let is_second = ["plain2", "scale2"]
            .iter()
            .any(|name| text(&row, "kernel").contains(name));
        assert_eq!(row["found"], if is_second { 2 } else { 3 }, "{row}");
    }
}

#[test]
fn summaries_count_what_is_registered() {
    let counts = |document: &Document| {
        let tables = document.summary().tables;
        ["wrappers", "launchers"].map(|key| {
            let told = tables.iter().find(|table| table.key == key);
            told.map_or(0, |table| table.count)
        })
    };
    let rows = |document: &Document| {
        let of = |key: &str| document.table(key).map_or(0, |table| table.len());
        ["wrappers", "launchers"].map(of)
    };
    let mut grown = 0;
    for (path, _) in facts() {
        let mut document = common::open(&path);
        let first = counts(&document);
        assert_eq!(first, rows(&document), "{path}");
        // Until the survey has finished, counts are those of the rows that were asked for last.
        while !document.survey(1).finished {
            assert_eq!(counts(&document), first, "{path}");
        }
        assert_eq!(counts(&document), rows(&document), "{path}");
        assert_eq!(rows(&document), rows(&surveyed(&path)), "{path}");
        grown += u32::from(counts(&document) != first);
    }
    // Of these each kernel has a stub, so that none is known by its name alone.
    assert_eq!(grown, 0);
    // Where stubs are called something else, kernels are known once members have told their names: those of the program's facts.
    let path = "nvidia/host/exe_two_arch.13.5";
    let mut bytes = common::bytes(path);
    let stub = b"__device_stub__";
    for at in 0..bytes.len() - stub.len() {
        if bytes[at..].starts_with(stub) {
            bytes[at] = b'x';
        }
    }
    let mut document = Document::open(Source::memory(bytes));
    assert_eq!(counts(&document)[1], 0);
    while !document.survey(1).finished {}
    let kernels = facts()[path]["kernels"].as_array().map(Vec::len);
    assert_eq!(Some(counts(&document)[1] as usize), kernels);
}

#[test]
fn wrappers_lead_to_what_they_wrap() {
    let wrappers = |path: &str| rows(&common::open(path), "wrappers");
    let told = |path: &str, keys: &[&str]| -> Vec<Vec<Value>> {
        let row = |row: Value| keys.iter().map(|key| row[key].clone()).collect();
        wrappers(path).into_iter().map(row).collect()
    };
    // readelf -rW: R_X86_64_RELATIVE at 0x1c048 and 0x1c060, addends 0x4000 and 0xb000; .hipFatBinSegment lies 0x1000 lower in the file.
    assert_eq!(
        told(
            "amdgpu/con/linked-twice.so",
            &["offset", "kind", "path", "wraps_offset", "told_by"]
        ),
        [
            [
                json!(0x1b040),
                json!("HIP"),
                json!("0"),
                json!(0x4000),
                json!("relocation")
            ],
            [
                json!(0x1b058),
                json!("HIP"),
                json!("1"),
                json!(0xb000),
                json!("relocation")
            ],
        ]
    );
    // readelf -p __nv_module_id and -sW: what nvcc calls the module, and the constructor that refers to the wrapper.
    let module = "_fe3bc3ed_12_launchers_cu_47ece782";
    assert_eq!(
        told(
            "host/launchers.rdc.o",
            &["kind", "symbol", "path", "referrers", "module"]
        ),
        [[
            json!("CUDA"),
            json!(format!("__fatbinwrap{module}")),
            json!("0"),
            json!("_ZL24__sti____cudaRegisterAllv"),
            json!(module)
        ]]
    );
    assert_eq!(
        told("host/launchers.o", &["symbol", "path", "module"]),
        [[json!("_ZL15__fatDeviceText"), json!("0"), Value::Null]]
    );
    assert_eq!(
        told("amdgpu/con/one.host.o", &["symbol", "path", "referrers"]),
        [[
            json!("__hip_fatbin_wrapper"),
            json!("0"),
            json!("__hip_module_ctor")
        ]]
    );
    // Without symbols and relocations nothing leads on, which is not wrong.
    let stripped = common::open("container/stripped.o");
    assert_eq!(rows(&stripped, "wrappers")[0]["path"], Value::Null);
    assert!(rows(&stripped, "launchers").is_empty());
}

#[test]
fn a_cubin_registers_nothing() {
    let document = common::open("nvidia/cubin/consts.sm_90.13.0.rdc.cubin");
    assert!(document.table("launchers").is_none());
}

#[test]
fn damaged_symbols_and_relocations_are_gone_past() {
    let bytes = common::bytes("host/launchers.rdc.o");
    // The symbols, their names and the relocations lie there (readelf -SW).
    for at in (0x1be8..0x39a0).step_by(5) {
        for value in [0, 0x7f, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            let document = Document::open(Source::memory(bytes));
            if let Some(table) = document.table("launchers") {
                assert!(table.len() < 100);
                for row in 0..table.len() {
                    assert_ne!(table.cell(row, "kernel"), Cell::None);
                    table.place(row);
                    table.target(row);
                }
            }
            if let Some(table) = document.table("wrappers") {
                assert!(table.len() <= 1);
                table.target(0);
            }
        }
    }
}
