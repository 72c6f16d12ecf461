//! The licence texts of what is built into the site and the npm package: `dist/THIRD-PARTY.txt`.

use crate::licences::{Dependency, dependencies};
use crate::{Result, root};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Writes each text once, after the names of all to which it belongs.
pub fn run() -> Result {
    let mut texts = BTreeMap::<String, Vec<String>>::new();
    for Dependency {
        name,
        licence,
        folder,
        ..
    } in dependencies()?.into_iter().filter(|one| one.shipped)
    {
        let text = licence_text(&folder)?;
        let text = text.unwrap_or("(The package carries no licence text.)".into());
        texts
            .entry(text)
            .or_default()
            .push(format!("{name} ({licence})"));
    }
    let mut notices = String::from(
        "Kernelscope is licensed MIT OR Apache-2.0. It contains the Rust standard library (MIT OR Apache-2.0) and what follows.\n",
    );
    for (text, names) in texts {
        write!(
            notices,
            "\n{}\n{}\n\n{}\n",
            "-".repeat(80),
            names.join("\n"),
            text.trim()
        )?;
    }
    Ok(fs::write(root().join("dist/THIRD-PARTY.txt"), notices)?)
}

/// The text that a package carries; where it carries several to choose from, the MIT licence.
fn licence_text(folder: &Path) -> Result<Option<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let upper = name.to_uppercase();
        if upper.starts_with("LICENSE")
            || upper.starts_with("LICENCE")
            || upper.starts_with("COPYING")
        {
            names.push((!upper.contains("MIT"), name));
        }
    }
    names.sort();
    let first = names
        .first()
        .map(|(_, name)| fs::read_to_string(folder.join(name)));
    Ok(first.transpose()?)
}
