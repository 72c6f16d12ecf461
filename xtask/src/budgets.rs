//! The size budgets: `budgets.toml` against what the release build made.

use crate::{Result, read, root};
use flate2::{Compression, write::GzEncoder};
use serde::Deserialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// `budgets.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Budgets {
    budget: Vec<Budget>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Budget {
    name: String,
    gzip_bytes: usize,
    folder: PathBuf,
    extensions: Vec<String>,
    except: Vec<String>,
}

/// Prints every budget with its figures; one that is exceeded, or that finds no file, is an error.
pub fn run() -> Result {
    let budgets: Budgets = toml::from_str(&read(&root().join("budgets.toml"))?)?;
    let mut broken = Vec::new();
    for budget in budgets.budget {
        let mut total = 0;
        let mut lines = Vec::new();
        for path in files(&budget)? {
            let size = gzip_size(&std::fs::read(&path)?)?;
            total += size;
            lines.push(format!(
                "  {size:>8}  {}",
                path.strip_prefix(root())?.display()
            ));
        }
        let share = total * 100 / budget.gzip_bytes;
        println!(
            "{}: {total} of {} bytes gzip ({share} %)",
            budget.name, budget.gzip_bytes
        );
        println!("{}", lines.join("\n"));
        if lines.is_empty() || total > budget.gzip_bytes {
            broken.push(budget.name);
        }
    }
    if broken.is_empty() {
        Ok(())
    } else {
        Err(format!("over budget, or nothing built: {}", broken.join(", ")).into())
    }
}

fn files(budget: &Budget) -> Result<Vec<PathBuf>> {
    let folder = root().join(&budget.folder);
    let mut all = Vec::new();
    walk(&folder, &mut all)?;
    all.retain(|path| {
        let below = path.strip_prefix(&folder).unwrap_or(path).to_string_lossy();
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        budget.extensions.iter().any(|known| *known == extension)
            && !budget.except.iter().any(|start| below.starts_with(start))
    });
    all.sort();
    Ok(all)
}

fn walk(folder: &Path, all: &mut Vec<PathBuf>) -> Result {
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, all)?
        } else {
            all.push(path)
        }
    }
    Ok(())
}

fn gzip_size(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}
