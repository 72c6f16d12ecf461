//! The licences of all dependencies, Rust and npm, against `licences.toml`.

use crate::{Result, read, root};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// `licences.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    product: Vec<String>,
    tools: Vec<String>,
}

/// What the project depends on.
pub struct Dependency {
    pub name: String,
    pub licence: String,
    /// Built into what is shipped, not only used to build or test it.
    pub shipped: bool,
    pub folder: PathBuf,
}

/// Names every dependency whose licence is not allowed where it is used.
pub fn run() -> Result {
    let allowed: Allowed = toml::from_str(&read(&root().join("licences.toml"))?)?;
    let tools = [allowed.product.clone(), allowed.tools].concat();
    let dependencies = dependencies()?;
    let mut refused = Vec::new();
    let mut counts = BTreeMap::<_, usize>::new();
    for Dependency {
        name,
        licence,
        shipped,
        ..
    } in &dependencies
    {
        let list = if *shipped { &allowed.product } else { &tools };
        if !satisfied(licence, list) {
            refused.push(format!(
                "\n  {name}: '{licence}'{}",
                if *shipped { "" } else { " (a tool)" }
            ));
        }
        *counts.entry((!shipped, licence)).or_default() += 1;
    }
    for ((tool, licence), count) in counts {
        println!(
            "{count:>4}  {licence}{}",
            if tool { "  (tools)" } else { "" }
        );
    }
    if refused.is_empty() {
        Ok(())
    } else {
        Err(format!("not allowed:{}", refused.concat()).into())
    }
}

/// Whether an SPDX expression can be met with the allowed licences. `/` is an old way to write `OR`.
fn satisfied(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    either(&mut words, allowed) && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn either(words: &mut Words, allowed: &[String]) -> bool {
    let mut met = both(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        met |= both(words, allowed);
    }
    met
}

fn both(words: &mut Words, allowed: &[String]) -> bool {
    let mut met = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut Words, allowed: &[String]) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let met = either(words, allowed);
        return words.next_if_eq(&")").is_some() && met;
    }
    let mut licence = words.next().unwrap_or_default().to_string();
    if words.next_if_eq(&"WITH").is_some() {
        licence = format!("{licence} WITH {}", words.next().unwrap_or_default());
    }
    allowed.contains(&licence)
}

/// Every crate and npm package.
pub fn dependencies() -> Result<Vec<Dependency>> {
    let mut all = crates()?;
    all.extend(npm_packages()?);
    Ok(all)
}

/// Every crate in Cargo.lock; shipped is what the `kernelscope` package reaches without dev-dependencies.
fn crates() -> Result<Vec<Dependency>> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version=1",
            "--locked",
            "--all-features",
        ])
        .current_dir(root())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = array(&metadata["packages"]);
    let ours = packages
        .iter()
        .find(|package| package["name"] == "kernelscope")
        .ok_or("no package kernelscope")?;

    let mut shipped = BTreeSet::new();
    let mut waiting = vec![text(&ours["id"])];
    while let Some(id) = waiting.pop() {
        if !shipped.insert(id) {
            continue;
        }
        let node = array(&metadata["resolve"]["nodes"])
            .iter()
            .find(|node| node["id"] == id)
            .ok_or("a crate that is not resolved")?;
        for dependency in array(&node["deps"]) {
            if array(&dependency["dep_kinds"])
                .iter()
                .any(|kind| kind["kind"] != "dev")
            {
                waiting.push(text(&dependency["pkg"]));
            }
        }
    }
    let others = packages
        .iter()
        .filter(|package| !package["source"].is_null());
    let describe = |package: &Value| Dependency {
        name: format!("{} {}", text(&package["name"]), text(&package["version"])),
        licence: text(&package["license"]).to_string(),
        shipped: shipped.contains(text(&package["id"])),
        folder: Path::new(text(&package["manifest_path"])).with_file_name(""),
    };
    Ok(others.map(describe).collect())
}

/// Every npm package in package-lock.json; shipped is what is not a development dependency.
fn npm_packages() -> Result<Vec<Dependency>> {
    let lock: Value = serde_json::from_str(&read(&root().join("package-lock.json"))?)?;
    let packages = lock["packages"]
        .as_object()
        .ok_or("package-lock.json has no packages")?;
    let others = packages.iter().filter(|(path, _)| !path.is_empty());
    let describe = |(path, package): (&String, &Value)| Dependency {
        name: format!(
            "{} {}",
            path.trim_start_matches("node_modules/"),
            text(&package["version"])
        ),
        licence: text(&package["license"]).to_string(),
        shipped: package["dev"] != true,
        folder: root().join(path),
    };
    Ok(others.map(describe).collect())
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::satisfied;

    #[test]
    fn an_expression_is_met_where_a_choice_of_allowed_licences_meets_it() {
        let allowed = ["MIT", "Apache-2.0", "Unicode-3.0"].map(String::from);
        for met in [
            "MIT",
            "MIT/GPL-3.0",
            "GPL-2.0 OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR MIT",
        ] {
            assert!(satisfied(met, &allowed), "{met}");
        }
        for unmet in [
            "",
            "GPL-3.0",
            "MIT AND GPL-2.0",
            "(MIT OR GPL-3.0) AND NCSA",
            "Apache-2.0 WITH LLVM-exception",
            "(MIT",
            "MIT MIT",
        ] {
            assert!(!satisfied(unmet, &allowed), "{unmet}");
        }
    }
}
