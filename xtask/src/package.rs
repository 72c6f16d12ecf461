//! What the npm package holds beside the module: the built `<kernel-scope>` element, from `dist/`.

use crate::{Result, root};
use std::fs;
use std::path::Path;

/// Copies the element's module and what it loads to `pkg/element/`, which `package.json` exports as `./element`.
pub fn run() -> Result {
    let (site, element) = (root().join("dist"), root().join("pkg/element"));
    if element.exists() {
        fs::remove_dir_all(&element)?;
    }
    copy_files(&site.join("assets"), &element.join("assets"))?;
    fs::copy(
        site.join("kernel-scope.js"),
        element.join("kernel-scope.js"),
    )?;
    fs::copy(
        site.join("THIRD-PARTY.txt"),
        root().join("pkg/THIRD-PARTY.txt"),
    )?;
    Ok(())
}

/// Copies the files of one folder.
fn copy_files(from: &Path, to: &Path) -> Result {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        fs::copy(
            &path,
            to.join(path.file_name().ok_or("a file without a name")?),
        )?;
    }
    Ok(())
}
