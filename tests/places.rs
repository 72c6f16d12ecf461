//! Where things are: what rows are about, held against what independent tools say of the fixtures.

mod common;

use kernelscope::Document;
use kernelscope::span::Span;
use serde_json::Value;

fn facts() -> Value {
    let text = common::bytes("facts.json");
    serde_json::from_slice(&text).expect("facts.json")
}

/// The row of `table` whose cells in the columns `keys` are `values`.
fn row(document: &Document, table: &str, keys: &[&str], values: &[Value]) -> u64 {
    let rows = document.table(table).expect("the table");
    let cell = |row: u64, key: &str| serde_json::to_value(rows.cell(row, key)).expect("a cell");
    let fits = |&row: &u64| {
        keys.iter()
            .zip(values)
            .all(|(key, value)| cell(row, key) == *value)
    };
    (0..rows.len())
        .find(fits)
        .unwrap_or_else(|| panic!("{table}: {values:?}"))
}

fn target(document: &Document, table: &str, row: u64) -> Option<Span> {
    document.table(table).expect("the table").target(row)
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

/// The files of `kind` in facts.json, opened.
fn each(facts: &Value, kind: &str, mut check: impl FnMut(&str, &Value, &Document)) {
    for (path, fact) in facts[kind].as_object().expect("files") {
        check(path, fact, &common::open(path));
    }
}

#[test]
fn sections_lead_to_their_contents() {
    let facts = facts();
    for kind in ["cubins", "code_objects"] {
        each(&facts, kind, |path, fact, document| {
            for (index, section) in fact["sections"]
                .as_array()
                .expect("sections")
                .iter()
                .enumerate()
            {
                let [name, r#type] = [0, 1].map(|i| section[i].as_str().unwrap_or_default());
                let span = Span::new(number(&section[3]), number(&section[4]));
                // Types of memory that is not initialised have no bytes: CUDA_GLOBAL, _LOCAL, _SHARED, _RESERVED_SHARED.
                let no_bits = [
                    "NULL",
                    "NOBITS",
                    "LOPROC+0x7",
                    "LOPROC+0x9",
                    "LOPROC+0xa",
                    "LOPROC+0x15",
                ];
                let is_stored = !no_bits.contains(&r#type) && span.size > 0;
                let expected = is_stored.then_some(span);
                assert_eq!(
                    target(document, "sections", index as u64),
                    expected,
                    "{path}: {name}"
                );
            }
        });
    }
}

#[test]
fn symbols_lead_to_what_they_name() {
    let facts = facts();
    let mut count = 0;
    each(&facts, "cubins", |path, fact, document| {
        for (index, symbol) in fact["symbols"]
            .as_array()
            .expect("symbols")
            .iter()
            .enumerate()
        {
            // Functions: their values count from the start of their section, whose address is 0.
            let Some(section) = fact["sections"].get(number(&symbol[6]) as usize) else {
                continue;
            };
            if symbol[3] != "FUNC" || number(&symbol[6]) == 0 || number(&symbol[2]) == 0 {
                continue;
            }
            assert_eq!(number(&section[2]), 0, "{path}: an address");
            let expected = Span::new(number(&section[3]) + number(&symbol[1]), number(&symbol[2]));
            assert_eq!(
                target(document, "symbols", index as u64),
                Some(expected),
                "{path}: {symbol}"
            );
            count += 1;
        }
    });
    assert!(count > 30, "{count}");
}

#[test]
fn kernels_lead_to_their_code() {
    let facts = facts();
    let mut count = 0;
    each(&facts, "code_objects", |path, fact, document| {
        // V2 has no symbol of the code alone.
        // Files that are wrong on purpose have entries that lead elsewhere.
        if path.starts_with("amdgpu/mal") {
            return;
        }
        let Some(kernels) = fact["descriptors"]
            .as_object()
            .filter(|_| !path.contains(".v2."))
        else {
            return;
        };
        for name in kernels.keys() {
            let tables = fact["symbols"].as_object().expect("symbol tables").values();
            let mut symbols = tables.flat_map(|table| table.as_array().expect("symbols"));
            let Some(symbol) = symbols.find(|s| s[0] == **name && s[3] == "FUNC") else {
                continue;
            };
            let Some(section) = symbol[6]
                .as_str()
                .and_then(|index| index.parse::<usize>().ok())
            else {
                continue;
            };
            let section = &fact["sections"][section];
            let start = if fact["type"] == "REL" {
                0
            } else {
                number(&section[2])
            };
            let place = number(&section[3]) + number(&symbol[1]) - start;
            let row = row(document, "kernels", &["name"], &[name.as_str().into()]);
            let expected = Some(Span::new(place, number(&symbol[2])));
            assert_eq!(target(document, "kernels", row), expected, "{path}: {name}");
            count += 1;
        }
    });
    assert!(count > 10, "{count}");

    // Of V2 the symbol has 504 bytes from the beginning of .text on, which stands at 7168; the first 256 are the
    // kernel's amd_kernel_code_t.
    let document = common::open("amdgpu/out/args.gfx803.v2.llvm13.co");
    let all_args = row(&document, "kernels", &["name"], &["all_args".into()]);
    let code = Span::new(7168 + 256, 504 - 256);
    assert_eq!(target(&document, "kernels", all_args), Some(code));

    // The functions of a cubin are as long as their symbols say.
    each(&facts, "cubins", |path, fact, document| {
        for symbol in fact["symbols"].as_array().expect("symbols") {
            if symbol[3] == "FUNC" && symbol[5] == true {
                let kernel = row(document, "kernels", &["name"], &[symbol[0].clone()]);
                let size = target(document, "kernels", kernel).map(|span| span.size);
                assert_eq!(size, symbol[2].as_u64(), "{path}: {symbol}");
            }
        }
    });
}

#[test]
fn relocations_lead_to_the_bytes_that_they_patch() {
    let document = common::open("nvidia/cubin/calls.sm_89.13.5.rdc.cubin");
    // .text._Z3midfi begins at 3584 of the file, .debug_frame at 1320. The field of ABS32_HI_32 is bits 32 to 63; ABS47_34 is
    // some bits of an instruction, shown by its first 8 bytes; 64 has 64 bits.
    for (section, offset, kind, expected) in [
        (
            ".rela.text._Z3midfi",
            832,
            "R_CUDA_ABS32_HI_32",
            Span::new(3584 + 832 + 4, 4),
        ),
        (
            ".rel.text._Z3midfi",
            864,
            "R_CUDA_ABS47_34",
            Span::new(3584 + 864, 8),
        ),
        (
            ".rel.debug_frame",
            340,
            "R_CUDA_64",
            Span::new(1320 + 340, 8),
        ),
    ] {
        let row = row(
            &document,
            "relocations",
            &["section_name", "offset", "type"],
            &[section.into(), offset.into(), kind.into()],
        );
        assert_eq!(
            target(&document, "relocations", row),
            Some(expected),
            "{kind}"
        );
    }

    // Dynamic relocations have addresses; the segment that holds them says where in the file they are.
    let path = "amdgpu/out/indirect.gfx90a.v5.co";
    let document = common::open(path);
    let facts = facts();
    let fact = &facts["code_objects"][path];
    for relocation in fact["relocations"][".rela.dyn"]
        .as_array()
        .expect("relocations")
    {
        let address = number(&relocation[0]);
        let segments = fact["segments"].as_array().expect("segments").iter();
        let mut loads = segments.filter(|s| s[0] == "LOAD");
        let place = loads.find_map(|s| {
            let within = address.checked_sub(number(&s[2]))?;
            (within < number(&s[3])).then(|| number(&s[1]) + within)
        });
        let row = row(&document, "relocations", &["offset"], &[address.into()]);
        let expected = place.map(|place| Span::new(place, 8));
        assert_eq!(
            target(&document, "relocations", row),
            expected,
            "0x{address:x}"
        );
    }
}
