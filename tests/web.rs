//! What the browser's door promises, in a dedicated worker of a headless Chromium: `make test` runs it.
#![cfg(target_arch = "wasm32")]

use js_sys::{Array, JSON, Reflect, Uint8Array};
use kernelscope::wasm::Handle;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::Blob;

wasm_bindgen_test_configure!(run_in_dedicated_worker);

// Written by `cargo xtask web-fixtures`: FIXTURES has each fixture's name, bytes and native report.
include!("../target/web-fixtures.rs");

fn blob(bytes: &[u8]) -> Blob {
    let parts = Array::of1(&Uint8Array::from(bytes));
    Blob::new_with_u8_array_sequence(&parts).expect("a blob")
}

fn fixture(name: &str) -> &'static [u8] {
    let found = FIXTURES.iter().find(|(path, ..)| path.ends_with(name));
    found.expect("a fixture").1
}

fn get(object: &JsValue, key: &str) -> JsValue {
    Reflect::get(object, &key.into()).expect("a property")
}

#[wasm_bindgen_test]
fn every_fixture_gives_the_native_report() {
    assert!(FIXTURES.len() > 50);
    for (name, bytes, expected) in FIXTURES {
        // Both reports through the browser's own reader and printer, so that only contents count.
        let expected = JSON::parse(expected).expect("native JSON");
        let expected = String::from(JSON::stringify(&expected).expect("a text"));
        for mut handle in [
            Handle::from_blob(blob(bytes)).expect("a handle"),
            Handle::from_bytes(bytes.to_vec()),
        ] {
            let report = handle.report().expect("a report");
            assert!(
                report == expected,
                "{name}: the report differs from the native one"
            );
        }
    }
}

#[wasm_bindgen_test]
fn windows_are_sorted_and_filtered() {
    let mut handle = Handle::from_bytes(fixture("calls.sm_89.13.5.rdc.cubin").to_vec());
    handle
        .query("symbols", Some("value".into()), true, "type:func".into())
        .expect("a query");
    loop {
        let progress = handle.prepare("symbols", 1).expect("a step");
        if get(&progress.into(), "finished") == true {
            break;
        }
    }
    let window: JsValue = handle.rows("symbols", 0, 100).expect("rows").into();
    let columns = handle.columns("symbols").expect("columns");
    let columns: Vec<JsValue> = columns.into_iter().map(JsValue::from).collect();
    let column = |key: &str| {
        columns
            .iter()
            .position(|c| get(c, "key") == *key)
            .expect("a column")
    };
    let rows: Array = get(&window, "rows").unchecked_into();
    let cells = |key: &str| -> Vec<JsValue> {
        let index = column(key) as u32;
        rows.iter()
            .map(|row| row.unchecked_into::<Array>().get(index))
            .collect()
    };
    // `readelf -s` lists as many functions: a kernel, two device functions, and one to be linked.
    assert_eq!(rows.length(), 4);
    assert!(cells("type").iter().all(|kind| *kind == *"STT_FUNC"));
    assert!(
        handle
            .query("no such table", None, false, String::new())
            .is_err()
    );
}

#[wasm_bindgen_test]
fn bytes_records_and_the_map_agree() {
    let bytes = fixture("vadd.sm_90a.13.0.cubin");
    let handle = Handle::from_blob(blob(bytes)).expect("a handle");
    let window = handle.bytes(16.0, 8.0).expect("bytes").to_vec();
    assert_eq!(window, bytes[16..24]);
    assert_eq!(
        handle
            .bytes(bytes.len() as f64 - 2.0, 100.0)
            .expect("bytes")
            .length(),
        2
    );
    let location: JsValue = handle.locate(18.0).expect("a location").into();
    let records: Array = get(&location, "records").unchecked_into();
    let fields: Array = get(&records.get(0), "fields").unchecked_into();
    let machine = fields
        .iter()
        .find(|field| get(field, "name") == *"e_machine");
    // Bytes 18 and 19 of an ELF file; 190 is EM_CUDA.
    assert_eq!(get(&machine.expect("e_machine"), "raw"), 190);
    let map = handle.map();
    let sizes: f64 = map.size.to_vec().iter().sum();
    assert_eq!(sizes, bytes.len() as f64);
    assert_eq!(map.offset.length(), map.role.length());
}

#[wasm_bindgen_test]
fn search_goes_on_in_steps() {
    let mut bytes = vec![0; 1 << 20];
    bytes[900_000..900_004].copy_from_slice(b"\x01\x02\x03\x04");
    let mut handle = Handle::from_blob(blob(&bytes)).expect("a handle");
    handle
        .search("01 ?? 03", true, 0.0, false)
        .expect("a search");
    let mut steps = 0;
    let span = loop {
        let found: JsValue = handle.search_step(65_536.0).expect("a step").into();
        let span = get(&found, "span");
        assert!(get(&found, "finished") == false);
        steps += 1;
        if !span.is_null() {
            break span;
        }
    };
    assert_eq!(get(&span, "offset"), 900_000);
    assert!(steps > 1);
    assert!(handle.search("0x", true, 0.0, false).is_err());
}

#[wasm_bindgen_test]
fn images_come_in_windows() {
    let handle = Handle::from_bytes(fixture("vadd.sm_90a.13.0.cubin").to_vec());
    let image: JsValue = handle
        .image(false)
        .expect("no error")
        .expect("an image")
        .into();
    // .text has 512 bytes at 0, .nv.constant0 556 at 512; 1068 rounded up to 4096, and 4096 more.
    assert_eq!(get(&image, "size"), 8192);
    let code = handle
        .image_bytes(false, 0.0, 512.0, None)
        .expect("bytes")
        .to_vec();
    assert_eq!(code, fixture("vadd.sm_90a.13.0.cubin")[0x680..0x880]);
    assert!(
        handle
            .image_bytes(false, 1068.0, 9999.0, None)
            .expect("bytes")
            .to_vec()
            .iter()
            .all(|b| *b == 0)
    );
}

#[wasm_bindgen_test]
fn what_is_no_file_for_it_opens_too() {
    for bytes in [&b""[..], b"MZ", b"\x7fELF", b"hello"] {
        let mut handle = Handle::from_blob(blob(bytes)).expect("a handle");
        let summary: JsValue = handle.summary().expect("a summary").into();
        assert_eq!(get(&summary, "size"), bytes.len() as f64);
        handle.report().expect("a report");
    }
}
