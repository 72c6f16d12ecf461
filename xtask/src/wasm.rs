//! The npm package in `pkg/`: reads `wasm-pack.toml`, drives wasm-pack and wasm-opt, completes `package.json`.

use crate::{Result, execute, read, root};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// `wasm-pack.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Settings {
    build: Build,
    wasm_opt: WasmOpt,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Build {
    profile: String,
    target: String,
    features: Vec<String>,
    out_dir: PathBuf,
    out_name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WasmOpt {
    flags: Vec<String>,
}

/// Builds the package as the settings file says.
pub fn run(path: &Path) -> Result {
    let settings = parse(&read(path)?).map_err(|error| format!("{}: {error}", path.display()))?;
    let out = root().join(&settings.build.out_dir);

    execute(
        Command::new("wasm-pack")
            .args(wasm_pack_arguments(&settings))
            .env("CARGO_ENCODED_RUSTFLAGS", remaps()?.join("\x1f"))
            .current_dir(root()),
    )?;
    let module = out.join(format!("{}_bg.wasm", settings.build.out_name));
    if !settings.wasm_opt.flags.is_empty() {
        let wasm_opt = root().join("node_modules/.bin/wasm-opt");
        execute(
            Command::new(wasm_opt)
                .args(&settings.wasm_opt.flags)
                .arg(&module)
                .arg("-o")
                .arg(&module),
        )?;
    }
    complete_package(&out, &settings.build.out_name)
}

fn parse(text: &str) -> Result<Settings> {
    Ok(toml::from_str(text)?)
}

fn wasm_pack_arguments(settings: &Settings) -> Vec<String> {
    let build = &settings.build;
    let out_dir = build.out_dir.to_string_lossy();
    // wasm-bindgen is the installed one, and wasm-opt is ours to run, with the flags of the settings.
    let mut words = vec![
        "--log-level",
        "error",
        "build",
        "--mode",
        "no-install",
        "--no-opt",
        "--profile",
        &build.profile,
        "--target",
        &build.target,
    ];
    words.extend([
        "--out-dir",
        &out_dir,
        "--out-name",
        &build.out_name,
        "--",
        "--locked",
    ]);
    let features = build.features.join(",");
    if !features.is_empty() {
        words.extend(["--features", &features]);
    }
    words.into_iter().map(String::from).collect()
}

/// Flags that keep the paths of the machine that builds out of the module, so that it is the same wherever it is built.
fn remaps() -> Result<Vec<String>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
        .ok_or("no home folder")?;
    let mut remaps = vec![format!(
        "--remap-path-prefix={}=kernelscope",
        root().display()
    )];
    for registry in std::fs::read_dir(home.join("registry/src"))
        .into_iter()
        .flatten()
    {
        remaps.push(format!(
            "--remap-path-prefix={}=crates",
            registry?.path().display()
        ));
    }
    Ok(remaps)
}

/// Makes wasm-pack's `package.json` that of a proper ES module package.
fn complete_package(out: &Path, name: &str) -> Result {
    let path = out.join("package.json");
    let mut package: Value = serde_json::from_str(&read(&path)?)?;
    package["type"] = json!("module");
    package["files"] = json!([
        "*.js",
        "*.ts",
        "*.wasm",
        "LICENSE-*",
        "THIRD-PARTY.txt",
        "element"
    ]);
    package["exports"] = Value::Null;
    let text = serde_json::to_string_pretty(&package)? + "\n";
    // As text, since in `exports` the order counts: types come first.
    let exports = format!(
        r#""exports": {{
    ".": {{ "types": "./{name}.d.ts", "default": "./{name}.js" }},
    "./{name}_bg.wasm": "./{name}_bg.wasm",
    "./element": "./element/kernel-scope.js",
    "./package.json": "./package.json"
  }}"#
    );
    std::fs::write(&path, text.replace(r#""exports": null"#, &exports))?;
    // wasm-pack's own would keep everything out of the published package.
    match std::fs::remove_file(out.join(".gitignore")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: &str = r#"
        [build]
        profile = "wasm"
        target = "web"
        features = []
        out-dir = "pkg"
        out-name = "kernelscope"
        [wasm-opt]
        flags = ["-Os"]
    "#;

    fn arguments(text: &str) -> String {
        wasm_pack_arguments(&parse(text).unwrap()).join(" ")
    }

    #[test]
    fn wasm_pack_is_driven_by_the_settings() {
        let words = "--log-level error build --mode no-install --no-opt --profile wasm --target web --out-dir pkg --out-name kernelscope -- --locked";
        assert_eq!(arguments(SETTINGS), words);
    }

    #[test]
    fn every_build_setting_reaches_wasm_pack() {
        for (from, to, expected) in [
            (r#"profile = "wasm""#, r#"profile = "dev""#, "--profile dev"),
            (
                r#"target = "web""#,
                r#"target = "nodejs""#,
                "--target nodejs",
            ),
            (
                "features = []",
                r#"features = ["one", "two"]"#,
                "--features one,two",
            ),
            (
                r#"out-dir = "pkg""#,
                r#"out-dir = "elsewhere""#,
                "--out-dir elsewhere",
            ),
            (
                r#"out-name = "kernelscope""#,
                r#"out-name = "renamed""#,
                "--out-name renamed",
            ),
        ] {
            assert!(!arguments(SETTINGS).contains(expected));
            assert!(
                arguments(&SETTINGS.replace(from, to)).contains(expected),
                "{to}"
            );
        }
    }

    #[test]
    fn an_unknown_setting_is_refused() {
        assert!(parse(&format!("{SETTINGS}\nlevel = 3")).is_err());
    }

    #[test]
    fn the_committed_settings_are_readable() {
        parse(&read(&root().join("wasm-pack.toml")).unwrap()).unwrap();
    }
}
