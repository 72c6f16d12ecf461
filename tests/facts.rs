//! Every fixture's headers, symbols and relocations against what independent tools print of them
//! (`fixtures/facts.json`; its columns are explained in `fixtures/record_facts.py`).

mod common;

use serde_json::Value;

/// The fixtures that the tools and we both read: with the facts of each.
fn each(mut check: impl FnMut(&str, &Value, Value)) {
    let mut count = 0;
    for group in ["cubins", "code_objects", "own"] {
        for (path, facts) in common::facts(group) {
            if facts.get("sections").is_none()
                || path.ends_with("big-endian.elf")
                || path.contains("/mal/")
            {
                continue; // refused by the tools, or by us, or broken: each goes on in its own way
            }
            let report = common::report(&common::open(&path));
            check(&path, &facts, report);
            count += 1;
        }
    }
    assert!(count > 40, "only {count} fixtures have facts");
}

fn rows<'a>(value: &'a Value, what: &str) -> &'a Vec<Value> {
    value
        .as_array()
        .unwrap_or_else(|| panic!("{what} is not a list: {value}"))
}

#[test]
fn headers_are_as_readelf_reads_them() {
    each(|path, facts, report| {
        let header = &report["elf"]["header"];
        assert_eq!(header["os_abi"], facts["osabi"], "{path}");
        assert_eq!(header["abi_version"], facts["abi_version"], "{path}");
        assert_eq!(header["flags"], facts["flags"], "{path}");
        let name = header["type_name"].as_str().unwrap_or_default();
        assert_eq!(name.trim_start_matches("ET_"), facts["type"], "{path}");
    });
}

#[test]
fn sections_are_as_readelf_reads_them() {
    each(|path, facts, report| {
        let ours = rows(&report["sections"], path);
        let theirs = rows(&facts["sections"], path);
        assert_eq!(ours.len(), theirs.len(), "{path}");
        for (ours, theirs) in ours.iter().zip(theirs) {
            let columns = [
                "name",
                "",
                "address",
                "offset",
                "size",
                "entry_size",
                "",
                "link",
                "info",
                "align",
            ];
            for (column, value) in columns.iter().zip(rows(theirs, path)) {
                if !column.is_empty() {
                    assert_eq!(&ours[*column], value, "{path}: {column} of {ours}");
                }
            }
            let kind = theirs[1].as_str().unwrap_or_default();
            let name = ours["type_name"].as_str().unwrap_or_default();
            // Types of the machine are printed as numbers by readelf; cuobjdump names them.
            let machine = theirs[10].as_str();
            let expected = if kind.starts_with("LOPROC") {
                machine
            } else {
                Some(kind)
            };
            if let Some(expected) = expected.filter(|kind| !kind.contains(['+', ':', ' '])) {
                assert_eq!(name.trim_start_matches("SHT_"), expected, "{path}: {ours}");
            }
        }
    });
}

#[test]
fn segments_are_as_readelf_reads_them() {
    each(|path, facts, report| {
        let ours = rows(&report["segments"], path);
        let theirs = rows(&facts["segments"], path);
        assert_eq!(ours.len(), theirs.len(), "{path}");
        for (ours, theirs) in ours.iter().zip(theirs) {
            let columns = ["offset", "virtual_address", "file_size", "memory_size"];
            for (column, value) in columns.iter().zip(&rows(theirs, path)[1..]) {
                assert_eq!(&ours[*column], value, "{path}: {column} of {ours}");
            }
            assert_eq!(ours["align"], theirs[6], "{path}: {ours}");
            let name = ours["type_name"].as_str().unwrap_or_default();
            let name = name.trim_start_matches("PT_");
            assert_eq!(Value::from(name), theirs[0], "{path}: {ours}");
        }
    });
}

#[test]
fn symbols_are_as_readelf_reads_them() {
    each(|path, facts, report| {
        let ours = rows(&report["symbols"], path);
        let of = |table: &str| -> Vec<&Value> {
            let sections = rows(&report["sections"], path);
            let index = sections.iter().position(|s| s["name"] == table);
            let index = index.map(Value::from).unwrap_or_default();
            ours.iter()
                .filter(|symbol| symbol["table"] == index)
                .collect()
        };
        let tables: Vec<(String, Vec<Value>)> = match &facts["symbols"] {
            Value::Array(rows) => vec![(".symtab".into(), rows.clone())],
            Value::Object(tables) => {
                let rows = |value: &Value| value.as_array().cloned().unwrap_or_default();
                tables
                    .iter()
                    .map(|(name, value)| (name.clone(), rows(value)))
                    .collect()
            }
            other => panic!("{path}: {other}"),
        };
        for (table, theirs) in tables {
            let ours = of(&table);
            assert_eq!(ours.len(), theirs.len(), "{path} {table}");
            for (ours, theirs) in ours.iter().zip(&theirs) {
                assert_eq!(ours["value"], theirs[1], "{path} {table}: {ours}");
                assert_eq!(ours["size"], theirs[2], "{path} {table}: {ours}");
                // readelf cuts long names off, and prints sections' names for their symbols.
                let kind = theirs[3].as_str().unwrap_or_default();
                if kind != "SECTION" {
                    assert_eq!(ours["name"], theirs[0], "{path} {table}: {ours}");
                }
                let binding = ours["binding"].as_str().unwrap_or_default();
                assert_eq!(
                    binding.trim_start_matches("STB_"),
                    theirs[4],
                    "{path}: {ours}"
                );
                let name = ours["type"].as_str().unwrap_or_default();
                assert_eq!(
                    name.trim_start_matches("STT_"),
                    kind,
                    "{path} {table}: {ours}"
                );
                let section = &theirs[6];
                if let Some(index) = section.as_str().and_then(|s| s.parse::<u64>().ok()) {
                    assert_eq!(ours["section"], index, "{path} {table}: {ours}");
                } else if section.is_u64() {
                    assert_eq!(&ours["section"], section, "{path} {table}: {ours}");
                }
            }
        }
    });
}

#[test]
fn notes_are_as_readelf_reads_them() {
    each(|path, facts, report| {
        let Some(theirs) = facts["notes"].as_array() else {
            return; // of cubins the notes are not recorded
        };
        let ours = rows(&report["notes"], path);
        assert_eq!(ours.len(), theirs.len(), "{path}");
        for (ours, theirs) in ours.iter().zip(theirs) {
            assert_eq!(ours["owner"], theirs[0], "{path}: {ours}");
            assert_eq!(ours["type_name"], theirs[1], "{path}: {ours}");
            if let Some(size) = theirs.get(2) {
                assert_eq!(&ours["size"], size, "{path}: {ours}");
            }
        }
    });
}

#[test]
fn relocations_are_as_the_tools_read_them() {
    each(|path, facts, report| {
        let sections = rows(&report["sections"], path);
        let others = report["other_relocations"].as_array().into_iter().flatten();
        // Those of Mercury sections no tool prints.
        let others = others.filter(|r| {
            let name = r["section_name"].as_str().unwrap_or_default();
            !name.is_empty() && !name.starts_with(".nv.merc.")
        });
        let ours: Vec<_> = rows(&report["relocations"], path)
            .iter()
            .chain(others)
            .collect();
        let theirs = facts["relocations"].as_object().expect("relocations");
        let mut count = 0;
        for (section, theirs) in theirs {
            let index = sections.iter().position(|s| s["name"] == section.as_str());
            let index = index.unwrap_or_else(|| panic!("{path}: no section {section}"));
            let ours: Vec<_> = ours.iter().filter(|r| r["section"] == index).collect();
            let theirs = rows(theirs, path);
            if ours.is_empty() && section.contains(".merc") {
                continue; // not a relocation section by its type
            }
            assert_eq!(ours.len(), theirs.len(), "{path} {section}");
            count += ours.len();
            // The vendor's tool prints the entries in an order of its own.
            let key = |offset: &Value, kind: &Value| (offset.as_u64(), kind.to_string());
            let mut ours = ours;
            let mut theirs: Vec<_> = theirs.iter().collect();
            ours.sort_by_key(|r| key(&r["offset"], &r["type"]));
            theirs.sort_by_key(|r| key(&r[0], &r[1]));
            for (ours, theirs) in ours.iter().zip(theirs) {
                assert_eq!(ours["offset"], theirs[0], "{path} {section}: {ours}");
                let name = theirs[1].as_str().unwrap_or_default();
                if name == "Unknown" {
                    let number = ours["type_id"].as_u64().map(|id| format!("{id:#x}"));
                    assert_eq!(ours["type"].as_str(), number.as_deref(), "{path}: {ours}");
                } else if !name.starts_with("R_386") {
                    // The names of i386, which no GPU's host is any more, are left out.
                    assert_eq!(ours["type"], name, "{path} {section}: {ours}");
                }
                if !theirs[2].is_null() {
                    let name = ours["symbol_name"].as_str().unwrap_or_default();
                    assert_eq!(Value::from(name), theirs[2], "{path} {section}: {ours}");
                }
                if !theirs[3].is_null() {
                    assert_eq!(ours["addend"], theirs[3], "{path} {section}: {ours}");
                }
            }
        }
        assert_eq!(
            count,
            ours.len(),
            "{path}: relocations that the tools do not list"
        );
    });
}
