//! Fixtures are what their manifest says: tests that rest on them rest on known bytes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

#[derive(Deserialize)]
struct Entry {
    file: String,
    bytes: u64,
    sha256: String,
    what: String,
    recipe: String,
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn manifest() -> Vec<Entry> {
    let text = fs::read_to_string(directory().join("MANIFEST.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_fixture_has_the_recorded_bytes() {
    for entry in manifest() {
        let data = fs::read(directory().join(&entry.file)).unwrap();
        assert_eq!(data.len() as u64, entry.bytes, "size of {}", entry.file);
        let digest: String = Sha256::digest(&data)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(digest, entry.sha256, "SHA-256 of {}", entry.file);
        assert!(!entry.what.is_empty(), "what {} is for", entry.file);
        assert!(!entry.recipe.is_empty(), "how {} is made", entry.file);
    }
}

#[test]
fn every_file_is_in_the_manifest_once() {
    let mut listed = BTreeSet::new();
    for entry in manifest() {
        assert!(listed.insert(entry.file.clone()), "{} twice", entry.file);
    }
    let mut found = BTreeSet::new();
    for kind in [
        "nvidia/cubin",
        "nvidia/own",
        "nvidia/fatbin",
        "nvidia/host",
        "amdgpu/out",
        "amdgpu/own",
        "amdgpu/linked",
        "amdgpu/con",
        "amdgpu/mal",
        "container",
        "coredump",
        "host",
        "own",
    ] {
        for file in fs::read_dir(directory().join(kind)).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            found.insert(format!("{kind}/{name}"));
        }
    }
    assert_eq!(listed, found);
}

#[test]
fn facts_are_about_listed_files() {
    let listed: BTreeSet<String> = manifest().into_iter().map(|entry| entry.file).collect();
    let mut about = 0;
    for facts in ["facts.json", "facts_nvidia.json", "facts_amdgpu.json"] {
        let text = fs::read_to_string(directory().join(facts)).unwrap();
        let facts: serde_json::Value = serde_json::from_str(&text).unwrap();
        for (kind, files) in facts.as_object().unwrap() {
            for file in files.as_object().unwrap().keys() {
                assert!(listed.contains(file), "{kind}: {file}");
                about += 1;
            }
        }
    }
    assert!(about > 250, "facts about {about} files only");
}
