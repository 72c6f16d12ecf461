//! What the npm package holds beside the module: the built `<kernel-scope>` element, from `dist/`.

use crate::{Result, root};
use std::fs;
use std::path::Path;

/// Copies the site without its pages to `pkg/element/`, which `package.json` exports as `./element`.
pub fn run() -> Result {
    let (site, element) = (root().join("dist"), root().join("pkg/element"));
    if element.exists() {
        fs::remove_dir_all(&element)?;
    }
    copy(&site, &element)?;
    fs::rename(
        element.join("THIRD-PARTY.txt"),
        root().join("pkg/THIRD-PARTY.txt"),
    )?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target)?;
        } else if path.extension().is_none_or(|extension| extension != "html") {
            fs::copy(&path, target)?;
        }
    }
    Ok(())
}
