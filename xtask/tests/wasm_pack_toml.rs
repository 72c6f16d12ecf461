//! wasm-pack.toml is what the wasm build goes by: a changed file makes a changed package.
//!
//! `make test` runs this after the wasm build, whose compiled crate it shares.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
#[ignore = "needs the wasm tools: `make test` runs it"]
fn changed_settings_change_the_build() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let committed = fs::read_to_string(root.join("wasm-pack.toml")).unwrap();
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pkg");
    let _ = fs::remove_dir_all(&out);

    let change = |text: String, key: &str, value: &str| {
        let lines = text.lines().map(|line| match line.split_once(" = ") {
            Some((found, _)) if found == key => format!("{key} = {value}"),
            _ => line.to_string(),
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    let build = |name: &str, wasm_opt: &str| {
        let build = committed.split("[wasm-opt]").next().unwrap().to_string();
        let text = change(build, "out-dir", &format!("{out:?}"));
        let text = change(text, "out-name", &format!("{name:?}"));
        let text = format!("{text}\n[wasm-opt]\nflags = {wasm_opt}\n");
        let settings = out.with_extension("toml");
        fs::write(&settings, text).unwrap();
        let words = ["wasm", settings.to_str().unwrap()];
        assert!(
            Command::new(env!("CARGO_BIN_EXE_xtask"))
                .args(words)
                .status()
                .unwrap()
                .success()
        );
        fs::read(out.join(format!("{name}_bg.wasm"))).unwrap()
    };

    let plain = build("plain", "[]");
    let optimised = build("optimised", r#"["-O1"]"#);
    assert!(out.join("plain.d.ts").exists() && out.join("optimised.js").exists());
    assert!(
        optimised.len() < plain.len(),
        "{} bytes with wasm-opt, {} without",
        optimised.len(),
        plain.len()
    );
}
