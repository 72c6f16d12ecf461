//! `cargo xtask web-fixtures`: writes target/web-fixtures.rs, which tests/web.rs includes: every fixture's
//! bytes, and the report that the terminal's door prints of it.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::{Result, root};

/// Where the terminal's door is when it is built as released.
const KERNELSCOPE: &str = "target/release/kernelscope";

pub fn run() -> Result {
    let root = root();
    let reports = root.join("target/web-fixtures");
    std::fs::create_dir_all(&reports)?;
    let mut list = String::from(
        "/// Of every fixture its path, its bytes and the report on it.\npub const FIXTURES: &[(&str, &[u8], &str)] = &[\n",
    );
    let mut files = Vec::new();
    for folder in [
        "nvidia/cubin",
        "nvidia/own",
        "nvidia/fatbin",
        "nvidia/host",
        "amdgpu/out",
        "amdgpu/own",
        "amdgpu/con",
        "amdgpu/mal",
        "container",
        "coredump",
        "own",
    ] {
        for entry in std::fs::read_dir(root.join("tests/fixtures").join(folder))? {
            files.push(entry?.path());
        }
    }
    files.sort();
    for file in &files {
        let output = Command::new(root.join(KERNELSCOPE))
            .arg("report")
            .arg(file)
            .arg("--json")
            .output()?;
        if !matches!(output.status.code(), Some(0 | 1)) {
            return Err(format!(
                "{}: {}",
                file.display(),
                String::from_utf8_lossy(&output.stderr)
            )
            .into());
        }
        let name = file
            .strip_prefix(root.join("tests/fixtures"))?
            .display()
            .to_string();
        let report = reports.join(name.replace('/', "-") + ".json");
        write_if_changed(&report, &output.stdout)?;
        writeln!(
            list,
            "    ({name:?}, include_bytes!({file:?}), include_str!({report:?})),"
        )?;
    }
    list.push_str("];\n");
    write_if_changed(&root.join("target/web-fixtures.rs"), list.as_bytes())
}

/// Keeps the time of a file that is as it should be, so that nothing is compiled anew for it.
fn write_if_changed(path: &Path, bytes: &[u8]) -> Result {
    if std::fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    Ok(std::fs::write(path, bytes)?)
}
