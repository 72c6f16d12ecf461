//! What a launch adds to a cubin: patches over its image, and the words of constant bank 0. Expected values are what
//! nvlink wrote and nvdisasm printed (`fixtures/patches.json`, `fixtures/bank0.json`), or arithmetic shown here.

mod common;

use std::fs;

use common::Random;
use kernelscope::Document;
use kernelscope::elf::patch::{By, Form, Patches};
use kernelscope::nvidia::DIALECT;
use kernelscope::nvidia::bank0::{BankUse, Word};
use kernelscope::nvidia::tables::BANK0;
use kernelscope::rows::{Cell, Table};
use kernelscope::source::Source;
use kernelscope::span::Span;
use serde_json::Value;

fn facts(name: &str) -> Value {
    let text = fs::read_to_string(common::folder().join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A number in hexadecimal digits with `0x` before them.
fn hex(value: &Value) -> u128 {
    let text = value.as_str().unwrap();
    u128::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap()
}

fn cubins() -> impl Iterator<Item = (String, Document)> {
    let paths = common::all(&["nvidia/cubin"]).into_iter();
    paths.map(|path| (path.clone(), common::open(&path)))
}

fn text(table: &dyn Table, row: u64, key: &str) -> String {
    let column = table.columns().iter().find(|column| column.key == key);
    table.cell(row, key).text(column.unwrap().unit).into_owned()
}

fn number(table: &dyn Table, row: u64, key: &str) -> Option<u64> {
    match table.cell(row, key) {
        Cell::Int(value) => u64::try_from(value).ok(),
        _ => None,
    }
}

#[test]
fn relocation_types_write_what_nvlink_writes() {
    let facts = facts("patches.json");
    let before = hex(&facts["before"]);
    let bank = facts["bank"].as_u64().unwrap() as u32;
    let mut forms = 0;
    for (kind, effects) in facts["types"].as_object().unwrap() {
        // Those that do not write are of the linker's choice: what it clears with a symbol that it leaves out, a YIELD.
        let form = Form::of(&DIALECT, kind.parse().unwrap()).unwrap();
        if !form.writes() {
            assert!(["68", "69", "72", "73"].contains(&kind.as_str()), "{kind}");
            continue;
        }
        forms += 1;
        for effect in effects.as_array().unwrap() {
            let mut bytes = before.to_le_bytes();
            form.write(hex(&effect[0]) as u64, bank, 0, &mut bytes);
            let after = u128::from_le_bytes(bytes);
            assert_eq!(after, hex(&effect[1]), "type {kind}, value {}", effect[0]);
            // The bytes said to be patched are those that can change.
            let span = form.bytes();
            let changed = before ^ after;
            let mask = ((1_u128 << (8 * span.size)) - 1) << (8 * span.offset);
            assert_eq!(changed & !mask, 0, "type {kind}");
        }
    }
    assert!(forms >= 60, "only {forms} types are known");
}

#[test]
fn patches_of_an_object_are_what_nvlink_leaves_in_the_executable() {
    let facts = facts("patches.json");
    for (path, links) in facts["links"].as_object().unwrap() {
        let document = common::open(path);
        let elf = document.elf().unwrap();
        let mut checked = 0;
        for link in links.as_array().unwrap() {
            let section = elf.section_named(link[0].as_str().unwrap()).unwrap();
            let piece = elf.image.piece_of_section(section.index).unwrap();
            let mut bytes = [0; 16];
            let at = piece.offset + link[1].as_u64().unwrap();
            document.read_image(false, Some(0), at, &mut bytes).unwrap();
            let ours = kernelscope::record::hex(&bytes);
            assert_eq!(ours, link[3].as_str().unwrap(), "{path} at {}", link[1]);
            checked += 1;
        }
        assert!(checked >= 10, "{path}");
    }
}

#[test]
fn addresses_in_shared_memory_are_written_as_nvlink_writes_them() {
    let facts = facts("patches.json");
    for (path, links) in facts["shared"].as_object().unwrap() {
        let document = common::open(path);
        let elf = document.elf().unwrap();
        let links = links.as_array().unwrap();
        assert!(links.len() >= 6, "{path}");
        for link in links {
            let section = elf.section_named(link[0].as_str().unwrap()).unwrap();
            let piece = elf.image.piece_of_section(section.index).unwrap();
            let mut bytes = [0; 16];
            let at = piece.offset + link[1].as_u64().unwrap();
            document.read_image(false, None, at, &mut bytes).unwrap();
            let form = Form::of(&DIALECT, link[2].as_u64().unwrap() as u32).unwrap();
            form.write(hex(&link[3]) as u64, 0, 0, &mut bytes);
            let ours = kernelscope::record::hex(&bytes);
            assert_eq!(ours, link[4].as_str().unwrap(), "{path} at {}", link[1]);
        }
    }
}

/// The reference ABI's rule: R_CUDA_64 writes S + A to the 8 bytes at its offset, the halves of an address to the
/// 4 bytes 4 past theirs, modulo 2^64; S is the base and the symbol's offset in the image; addends that are not
/// stated are the bytes' own.
#[test]
fn what_the_reference_loader_writes_is_its_rule() {
    let mut checked = 0;
    for (path, document) in cubins() {
        for base in [0, 0x7f12_3456_7800, u64::MAX - 0x1000] {
            let table = document.table(&format!("patches/{base:x}")).unwrap();
            let relocations = document.table("relocations").unwrap();
            let symbols = document.table("symbols").unwrap();
            let (image, _) = document.images();
            let mut bytes = vec![0; image.unwrap().size as usize];
            image
                .unwrap()
                .read_into(document.source(), 0, &mut bytes)
                .unwrap();
            for row in 0..table.len() {
                let kind = text(&*table, row, "type");
                let (skip, size, shift) = match kind.as_str() {
                    "R_CUDA_64" => (0, 8, 0),
                    "R_CUDA_ABS32_LO_32" => (4, 4, 0),
                    "R_CUDA_ABS32_HI_32" => (4, 4, 32),
                    _ => {
                        assert_ne!(text(&*table, row, "applied_by"), "loader", "{path}: {kind}");
                        continue;
                    }
                };
                let relocation = number(&*table, row, "relocation").unwrap();
                let symbol = number(&*relocations, relocation, "symbol").unwrap();
                let Some(place) = number(&*symbols, symbol, "image_offset") else {
                    assert_eq!(text(&*table, row, "applied_by"), "nobody", "{path}");
                    continue;
                };
                let at = number(&*relocations, relocation, "image_offset").unwrap() as usize + skip;
                assert_eq!(number(&*table, row, "image_offset"), Some(at as u64));
                let stored = &bytes[at..at + size];
                let has_addend = text(&*relocations, relocation, "section_name").contains("rela");
                let addend = match relocations.cell(relocation, "addend") {
                    Cell::Int(value) if has_addend => value as u64,
                    _ => stored
                        .iter()
                        .rev()
                        .fold(0, |sum, &b| sum << 8 | u64::from(b)),
                };
                let value = base.wrapping_add(place).wrapping_add(addend);
                let written = &(value >> shift).to_le_bytes()[..size];
                assert_eq!(
                    text(&*table, row, "after"),
                    kernelscope::record::hex(written),
                    "{path}, patch {row}"
                );
                assert_eq!(
                    text(&*table, row, "before"),
                    kernelscope::record::hex(stored)
                );
                assert_eq!(text(&*table, row, "applied_by"), "loader");
                checked += 1;
            }
        }
    }
    assert!(checked > 60, "only {checked} patches");
}

#[test]
fn any_window_of_a_patched_image_is_that_of_the_whole() {
    let mut random = Random(7);
    for (path, document) in cubins() {
        let size = document.image(false).unwrap().size;
        let base = Some(0x7fff_0000_0000);
        let mut whole = vec![0; size as usize];
        document.read_image(false, base, 0, &mut whole).unwrap();
        for _ in 0..200 {
            let at = random.below(size);
            let mut window = vec![0; random.below(40).min(size - at) as usize];
            document.read_image(false, base, at, &mut window).unwrap();
            assert_eq!(
                window,
                whole[at as usize..][..window.len()],
                "{path} at {at}"
            );
        }
        // Where no patch is, the image is the file's.
        let mut plain = vec![0; size as usize];
        document.read_image(false, None, 0, &mut plain).unwrap();
        let patches = document.patches().unwrap();
        for (at, (patched, plain)) in whole.iter().zip(&plain).enumerate() {
            if patched != plain {
                let here = patches.within(kernelscope::span::Span::new(at as u64, 1));
                assert!(!here.is_empty(), "{path}: byte {at} is changed by no patch");
            }
        }
    }
}

#[test]
fn images_are_whole_pages_and_one_more() {
    for (path, document) in cubins() {
        let image = document.image(false).unwrap();
        assert_eq!(image.size, image.end.div_ceil(4096) * 4096 + 4096, "{path}");
        assert_eq!(image.align % 128, 0, "{path}");
    }
}

/// An object for sm_90 with one code section of 64 bytes, and relocations without addends of it.
fn object(relocations: &[(u64, u32)]) -> Vec<u8> {
    let mut bytes = common::bytes("own/two-kernels.cubin");
    // Appended: the entries, and section headers with one more, which has them.
    let word = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
    };
    let table = word(&bytes, 40);
    let count = usize::from(bytes[60]);
    let mut headers = bytes[table..table + 64 * count].to_vec();
    let document = Document::open(Source::memory(bytes.clone()));
    let elf = document.elf().unwrap();
    let code = elf.section_named(".text.first").unwrap().index;
    let symbols = elf.sections.iter().find(|s| s.kind == 2).unwrap().index;
    let at = bytes.len();
    for (offset, kind) in relocations {
        bytes.extend(offset.to_le_bytes());
        bytes.extend((1_u64 << 32 | u64::from(*kind)).to_le_bytes());
    }
    let mut header = [0; 64];
    header[4..8].copy_from_slice(&9_u32.to_le_bytes());
    header[24..32].copy_from_slice(&(at as u64).to_le_bytes());
    header[32..40].copy_from_slice(&(16 * relocations.len() as u64).to_le_bytes());
    header[40..44].copy_from_slice(&symbols.to_le_bytes());
    header[44..48].copy_from_slice(&code.to_le_bytes());
    header[48..56].copy_from_slice(&8_u64.to_le_bytes());
    header[56..64].copy_from_slice(&16_u64.to_le_bytes());
    headers.extend(header);
    let table = bytes.len() as u64;
    bytes.extend(headers);
    bytes[40..48].copy_from_slice(&table.to_le_bytes());
    bytes[60] += 1;
    bytes
}

#[test]
fn later_patches_win_and_windows_see_them_so() {
    // Two of 8 bytes that share the middle ones.
    let document = Document::open(Source::memory(object(&[(0, 2), (4, 2)])));
    let patches = document.patches().unwrap();
    assert_eq!(patches.all().len(), 2);
    assert!(patches.all().iter().all(|patch| patch.by == By::Loader));
    assert_eq!(patches.overwritten_by(0), Some(1));
    assert_eq!(patches.overwritten_by(1), None);
    let (first, second) = (patches.all()[0], patches.all()[1]);
    let start = first.offset.unwrap();
    let base = 0x1234_5678_9abc_def0;
    let mut expected = [0; 12];
    expected[..8].copy_from_slice(&first.value(base).to_le_bytes());
    expected[4..].copy_from_slice(&second.value(base).to_le_bytes());
    let mut bytes = [0; 12];
    document
        .read_image(false, Some(base), start, &mut bytes)
        .unwrap();
    assert_eq!(bytes, expected);
}

#[test]
fn patches_that_cannot_be_are_listed_with_the_reason() {
    let reason = |offset: u64, kind: u32| {
        let document = Document::open(Source::memory(object(&[(offset, kind)])));
        let patches = Patches::read(document.elf().unwrap());
        match patches.all()[0].by {
            By::Nobody(why) => why,
            by => panic!("{by:?}"),
        }
    };
    assert!(reason(0, 0x43).contains("nobody has seen"));
    // What others have a say in: descriptors and headers are the driver's, clearing is a linker's.
    assert!(reason(0, 0x3e).contains("the driver makes the descriptors"));
    assert!(reason(0, 0x06).contains("the driver numbers the headers"));
    assert!(reason(0, 0x44).contains("YIELD"));
    assert!(reason(0, 0x49).contains("a linker leaves its symbol out"));
    assert!(reason(u64::MAX, 2).contains("does not hold the place"));
    assert!(reason(0, 0x42).contains("no constant bank"));
    // Where the bits are is known of some all the same: 4 bytes that lie 4 past the place.
    let document = Document::open(Source::memory(object(&[(0, 0x3e), (0, 0x06), (0, 0x13)])));
    let patches = document.patches().unwrap();
    let at = patches.all()[2].offset.unwrap();
    let span = |index: usize| patches.all()[index].span();
    assert_eq!(span(0), Some(Span::new(at + 4, 4)));
    assert_eq!(span(1), None);
    assert!(!patches.all()[0].is_applied());
    // Slots are the symbol's value, wherever the image is.
    assert_eq!(patches.all()[2].by, By::Kernelscope);
    assert_eq!(patches.all()[2].value(0), patches.all()[2].value(1 << 40));
    // The addend would lie behind the section.
    let document = Document::open(Source::memory(object(&[(0, 2)])));
    let size = document
        .elf()
        .unwrap()
        .section_named(".text.first")
        .unwrap()
        .size;
    assert!(reason(size - 4, 2).contains("addend"));
}

#[test]
fn special_registers_are_where_nvdisasm_shows_them() {
    let facts = facts("bank0.json");
    let mut checked = 0;
    for (target, words) in facts["words"].as_object().unwrap() {
        let sm: u32 = target[3..].parse().unwrap();
        for (register, offset) in words.as_object().unwrap() {
            let offset = offset.as_u64().unwrap() as u32;
            let here = |word: &&Word| {
                (word.from..=word.to).contains(&sm)
                    && word.offset <= offset
                    && offset < word.offset + word.size
            };
            let word = BANK0.iter().find(here);
            let word = word.unwrap_or_else(|| panic!("{target}: nothing at 0x{offset:x}"));
            assert_eq!(word.reported, "", "{target} {register}");
            match (word.name.split_once(".."), register.strip_prefix("envreg")) {
                (Some((first, last)), Some(wanted)) => {
                    let first: u32 = first["envreg".len()..].parse().unwrap();
                    let here = first + (offset - word.offset) / 4;
                    assert_eq!(here.to_string(), wanted, "{target}");
                    assert!(here <= last.parse().unwrap());
                }
                // Below sm_60 windows lie in the low 4 GiB; from there on their high halves follow later.
                _ => assert_eq!(word.name.trim_end_matches("_lo"), register, "{target}"),
            }
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked}");
}

#[test]
fn words_of_a_generation_do_not_overlap() {
    for sm in 50..=121 {
        let mut words: Vec<&Word> = BANK0
            .iter()
            .filter(|word| (word.from..=word.to).contains(&sm))
            .collect();
        words.sort_by_key(|word| word.offset);
        for pair in words.windows(2) {
            assert!(
                pair[0].offset + pair[0].size <= pair[1].offset,
                "sm_{sm}: {} and {}",
                pair[0].name,
                pair[1].name
            );
        }
    }
}

#[test]
fn banks_have_the_kernels_parameters_where_the_kernel_says() {
    for (path, document) in cubins() {
        for (index, kernel) in common::report(&document)["kernels"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
        {
            let bank = document.bank0(index).unwrap();
            let mut next = 0;
            for part in &bank.parts {
                assert_eq!(part.offset, next, "{path}: a gap or an overlap");
                assert!(part.size > 0);
                next = part.end();
            }
            let start = kernel["params_offset"].as_u64().unwrap() as u32;
            for parameter in kernel["params"].as_array().into_iter().flatten() {
                let offset = start + parameter["offset"].as_u64().unwrap() as u32;
                let size = parameter["size"].as_u64().unwrap() as u32;
                let place = bank.at(offset).unwrap();
                assert_eq!(place.part.what, BankUse::Parameter, "{path}");
                assert_eq!(place.name, format!("parameter {}", parameter["ordinal"]));
                assert_eq!(
                    (place.part.offset, place.part.size),
                    (offset, size),
                    "{path}"
                );
                assert_eq!(bank.at(offset + size - 1).unwrap().within, size - 1);
            }
        }
    }
}

#[test]
fn any_operand_has_an_answer() {
    let document = common::open("nvidia/cubin/vadd.sm_90.12.8.cubin");
    let bank = document.bank0(0).unwrap();
    let at = |offset| {
        let place = bank.at(offset).unwrap();
        (place.name, place.within, place.part.certainty)
    };
    // Parameters of vadd begin at 0x210 (cuobjdump: EIATTR_PARAM_CBANK 0x210, four of 8, 8, 8 and 4 bytes).
    assert_eq!(at(0x210), ("parameter 0".into(), 0, "stated"));
    assert_eq!(at(0x22a), ("parameter 3".into(), 2, "stated"));
    assert_eq!(at(0x4c), ("envreg3".into(), 0, "measured"));
    assert_eq!(at(0x1864), ("entry_addr".into(), 4, "reported"));
    assert_eq!(at(0x22c), (String::new(), 0, "unknown"));
    assert_eq!(at(0xffff).2, "unknown");
    assert!(bank.at(0x1_0000).is_none());
}

#[test]
fn a_byte_of_the_bank_leads_to_its_word() {
    let document = common::open("nvidia/cubin/vadd.sm_90.12.8.cubin");
    let bank = document.bank0(0).unwrap();
    let record = |at: u64| {
        let location = document.locate(bank.stored.offset + at);
        let names = location.records.iter().flat_map(|record| &record.fields);
        let here = names.filter(|field| u64::from(field.bits[1] / 8) == at % 0x210);
        here.map(|field| field.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(record(0x28), ["stack_ptr"]);
    assert_eq!(record(0x218), ["parameter 1"]);
}

#[test]
fn where_parameters_begin_is_the_kernels_own_statement() {
    // ptxas 13.5 puts 16 KiB of parameters for sm_87 at 0x1a80, behind the area of the device runtime.
    let mut bytes = common::bytes("nvidia/cubin/vadd.sm_80.11.8.cubin");
    let head = [4, 0x0a, 8, 0];
    let at = bytes
        .windows(12)
        .position(|w| w[..4] == head && w[8..10] == [0x60, 1]);
    let at = at.expect("EIATTR_PARAM_CBANK with 0x160") + 8;
    bytes[at..at + 2].copy_from_slice(&0x1a80_u16.to_le_bytes());
    let document = Document::open(Source::memory(bytes));
    let bank = document.bank0(0).unwrap();
    assert_eq!(bank.at(0x1a80).unwrap().name, "parameter 0");
    assert_eq!(bank.at(0x1860).unwrap().part.what, BankUse::Runtime);
    // What the file has of the bank ends before its parameters.
    assert_eq!(bank.at(0x160).unwrap().part.what, BankUse::Unknown);
    assert!(bank.place(&bank.at(0x1a80).unwrap().part).is_none());
}

/// Each row would look at all others if it looked for what is written over it one by one.
#[test]
fn patches_that_are_all_in_one_place_are_read_in_linear_time() {
    let many = 200_000;
    let relocations: Vec<(u64, u32)> = (0..many).map(|_| (0, 2)).collect();
    let document = Document::open(Source::memory(object(&relocations)));
    let table = document.table("patches/1000").unwrap();
    assert_eq!(table.len(), many);
    for row in 0..many {
        for column in table.columns() {
            table.cell(row, &column.key);
        }
    }
    assert!(text(&*table, 0, "remark").contains("writes over it"));
    assert_eq!(text(&*table, many - 1, "remark"), "");
}
