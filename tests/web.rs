//! What the browser's door promises, in a dedicated worker of a headless Chromium: `make test` runs it.
#![cfg(target_arch = "wasm32")]

use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn the_module_tells_its_version() {
    assert_eq!(kernelscope::wasm::version(), env!("CARGO_PKG_VERSION"));
}
