//! Where things are: what rows are about, held against what independent tools say of the fixtures.

mod common;

use kernelscope::Document;
use kernelscope::elf::Part;
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
    // .text._Z3midfi begins at 3584 of the file, .debug_frame at 1320. The field of ABS32_HI_32 is bits 32 to 63; that of
    // ABS47_34 bits 34 to 80, which lie in bytes 4 to 10; 64 has 64 bits.
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
            Span::new(3584 + 864 + 4, 7),
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

fn resolve(document: &Document, expression: &str) -> Result<(u64, u64), String> {
    let target = document.resolve(expression);
    let target = target.map_err(|error| error.to_string())?;
    Ok((target.span.offset, target.span.size))
}

#[test]
fn expressions_lead_to_bytes() {
    // By facts.json: .text._Z4vaddPKfS0_Pfi has 512 bytes at 1664, its function is all of it; .nv.constant0 has 556 at 2176;
    // section 12 is the code. In the image the code is first, and the constants follow it.
    let document = common::open("nvidia/cubin/vadd.sm_90a.13.0.cubin");
    let code = ".text._Z4vaddPKfS0_Pfi";
    for (expression, expected) in [
        ("0x40", (0x40, 1)),
        (" 64 ", (64, 1)),
        ("40h", (0x40, 1)),
        ("0x40 + 4 - 1", (0x43, 1)),
        (code, (1664, 512)),
        ("[12]", (1664, 512)),
        ("_Z4vaddPKfS0_Pfi", (1664, 512)),
        ("_Z4vaddPKfS0_Pfi + 0x10", (1680, 1)),
        ("[12]+20h", (1696, 1)),
        ("[12]-4", (1660, 1)),
        ("image:0", (1664, 1)),
        ("image:0x200", (2176, 1)),
        ("image:0x180+0x10", (1664 + 0x190, 1)),
    ] {
        assert_eq!(resolve(&document, expression), Ok(expected), "{expression}");
    }
    assert_eq!(
        resolve(&document, &format!("{code}+0x1ff")),
        Ok((1664 + 0x1ff, 1))
    );
    assert_eq!(resolve(&document, &format!("{code}#1")), Ok((1664, 512)));
    let name = |expression: &str| document.resolve(expression).map(|target| target.name);
    assert_eq!(name("0x40"), Ok("offset 0x40".into()));
    assert_eq!(name("[12]-4"), Ok(format!("section {code} - 0x4")));
    assert_eq!(
        name("_Z4vaddPKfS0_Pfi"),
        Ok("kernel _Z4vaddPKfS0_Pfi".into())
    );

    for (expression, why) in [
        ("", "no section, kernel or symbol is called"),
        ("vadd", "no section, kernel or symbol is called \"vadd\""),
        ("vadd+4", "no section, kernel or symbol is called \"vadd\""),
        ("+4", "\"+4\" has no name or offset before its sign"),
        ("-1", "\"-1\" has no name or offset before its sign"),
        ("vadd+4", "is called \"vadd\", as \"vadd+4\" has it"),
        (
            "99999999",
            "past the end of the file: expected an offset below",
        ),
        ("0x0-1", "0x0-1 lies before the beginning of the file"),
        ("image:0-1", "0-1 lies before the beginning of the image"),
        ("[12]+0x200", "past the end of section .text"),
        ("[99]", "no section, kernel or symbol is called \"[99]\""),
        (
            ".nv.shared.reserved.0",
            "the file has no bytes of section .nv.shared.reserved.0",
        ),
        (
            ".nv.reservedSmem.offset0",
            "the file has no bytes of symbol",
        ),
        // The image ends with zeros: 512 and 556 bytes are 1068, rounded up to 4096, and 4096 more.
        ("image:1068", "a zero that no byte of the file makes"),
        ("image:8192", "past the end of the image"),
        ("image:code", "\"code\" is no offset in the image"),
    ] {
        let error = resolve(&document, expression).expect_err(expression);
        assert!(error.contains(why), "{expression}: {error}");
    }
    for path in [
        "own/big-endian.elf",
        "amdgpu/con/linked-twice.so",
        "own/segments-only.elf",
    ] {
        let document = common::open(path);
        assert_eq!(resolve(&document, "4"), Ok((4, 1)), "{path}");
        assert!(resolve(&document, "image:99999999").is_err(), "{path}");
    }
}

#[test]
fn the_longest_name_that_exists_counts() {
    // A symbol table of one file, whose names are made to look like sums: `a`, 16 bytes at 0x10 of .text, and `a+4`.
    let mut bytes = common::bytes("own/extended-numbering.elf");
    let document = common::open("own/extended-numbering.elf");
    let symbols = document.table("symbols").expect("symbols");
    let named: Vec<u64> = (0..symbols.len())
        .filter(|&row| symbols.target(row).is_some())
        .collect();
    let table = &document.elf().expect("ELF").symbol_tables[0];
    let [first, second] = [0, 1].map(|i| {
        table
            .table
            .entry(named.get(i).copied().unwrap_or(named[0]))
            .offset
    });
    let strings = table.strings.offset as usize;
    let (one, other) = (
        symbols.target(named[0]),
        symbols.target(*named.last().expect("a symbol")),
    );
    bytes[strings + 1..strings + 5].copy_from_slice(b"a+4\0");
    bytes[first as usize..][..4].copy_from_slice(&1_u32.to_le_bytes());
    assert!(second >= first);
    let changed = Document::open(kernelscope::Source::memory(bytes));
    let span = one.or(other).expect("bytes");
    assert_eq!(resolve(&changed, "a+4"), Ok((span.offset, span.size)));
    assert_eq!(resolve(&changed, "a+4+1-1"), Ok((span.offset, span.size)));
}

#[test]
fn names_are_suggested() {
    let document = common::open("nvidia/cubin/vadd.sm_90a.13.0.cubin");
    let suggest = |words: &str, most: usize, budget: u64| {
        let mut search = kernelscope::goto::Suggest::new(words, most);
        let mut steps = 0;
        while !search.step(&document, budget).finished {
            steps += 1;
        }
        assert!(steps < 100);
        let found = search.found();
        found
            .into_iter()
            .map(|found| (found.name, found.view))
            .collect::<Vec<_>>()
    };
    let pair = |name: &str, view: &str| (name.to_owned(), view.to_owned());
    let all = [
        pair("_Z4vaddPKfS0_Pfi", "kernels/0"),
        pair(".text._Z4vaddPKfS0_Pfi", "sections"),
        pair(".nv.info._Z4vaddPKfS0_Pfi", "sections"),
        pair(".nv.constant0._Z4vaddPKfS0_Pfi", "sections"),
    ];
    for budget in [1, 7, u64::MAX] {
        assert_eq!(suggest("VADD", 10, budget), all);
        assert_eq!(suggest("vadd", 2, budget), all[..2]);
    }
    assert_eq!(suggest("vadd info", 10, 100), all[2..3]);
    assert_eq!(
        suggest("reservedsmem", 10, 100)[0],
        pair(".nv.reservedSmem.offset0", "symbols")
    );
    assert_eq!(suggest("", 1, 100), all[..1]);
    assert!(suggest("nothing", 10, 100).is_empty());
    assert!(suggest("vadd", 0, 100).is_empty());
}

#[test]
fn images_are_covered_by_their_pieces_and_gaps() {
    for path in common::all(common::EVERY) {
        let document = common::open(&path);
        let Some(elf) = document.elf() else { continue };
        for by_segments in [false, true] {
            let Some(image) = elf
                .image_of(by_segments)
                .filter(|image| image.size < 1 << 40)
            else {
                continue;
            };
            let mut next = 0;
            for leaf in elf.image_leaves(by_segments) {
                assert_eq!(leaf.span.offset, next, "{path}");
                next = leaf.span.end();
                let (part, span) = elf
                    .image_part_at(by_segments, leaf.span.offset)
                    .expect("a part");
                assert_eq!(part, leaf.part, "{path}: 0x{:x}", leaf.span.offset);
                assert!(span.contains(leaf.span.offset), "{path}");
            }
            assert_eq!(next, image.size, "{path}");
        }
    }

    // The code, the constants behind it, and zeros up to the end of the page that follows: 512 + 556 = 1068.
    let document = common::open("nvidia/cubin/vadd.sm_90a.13.0.cubin");
    let elf = document.elf().expect("ELF");
    let spans: Vec<_> = elf
        .image_leaves(false)
        .iter()
        .map(|leaf| leaf.span)
        .collect();
    assert_eq!(
        spans,
        [
            Span::new(0, 512),
            Span::new(512, 556),
            Span::new(1068, 8192 - 1068)
        ]
    );
    let at = |offset: u64| document.locate_in_image(false, offset).expect("a location");
    assert_eq!(
        (at(700).name.as_str(), at(700).file_offset),
        (".nv.constant0._Z4vaddPKfS0_Pfi", Some(2176 + 188))
    );
    assert_eq!(
        (at(2000).name.as_str(), at(2000).file_offset),
        ("padding", None)
    );
    assert_eq!(at(2000).span, Span::new(1068, 8192 - 1068));
    assert!(document.locate_in_image(false, 8192).is_none());

    // All segments of a cubin have the address 0; of those loaded the last has 556 bytes, the longest other one 512.
    // Zeros up to whole pages follow.
    let shared: Vec<_> = elf
        .image_leaves(true)
        .iter()
        .map(|leaf| (leaf.span, leaf.part, leaf.is_shared))
        .collect();
    let last = Part::Segment(4);
    assert_eq!(
        shared,
        [
            (Span::new(0, 512), last, true),
            (Span::new(512, 44), last, false),
            (Span::new(556, 4096 - 556), Part::Padding, false)
        ]
    );
}
