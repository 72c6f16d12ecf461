//! What a loader makes of code objects, and their code: patches over their image, the image by segments, words with symbols
//! and lines of source. Expected values are what ld.lld wrote (`fixtures/links.json`), what llvm-readelf 22 and llvm-dwarfdump
//! 22 print (`fixtures/lines.json`), or arithmetic shown here.

mod common;

use kernelscope::Document;
use kernelscope::amdgpu::DIALECT;
use kernelscope::device::Device;
use kernelscope::elf::patch::{By, Form};
use kernelscope::error::{Diagnostic, Kind, Severity};
use kernelscope::record::{Raw, hex};
use kernelscope::rows::{Cell, Table};
use kernelscope::source::Source;
use serde_json::Value;

const EXECUTABLE: &str = "amdgpu/linked/executable.gfx942.v5.co";
const SHARED: &str = "amdgpu/linked/shared.gfx942.v5.co";
/// 14 dynamic relocations.
const INDIRECT: &str = "amdgpu/out/indirect.gfx90a.v5.co";

fn text(table: &dyn Table, row: u64, key: &str) -> String {
    let column = table.columns().iter().find(|column| column.key == key);
    table.cell(row, key).text(column.unwrap().unit).into_owned()
}

fn read(document: &Document, base: Option<u64>, offset: u64, size: usize) -> Vec<u8> {
    let by_segments = document.elf().unwrap().sections.is_empty();
    let mut bytes = vec![0; size];
    document
        .read_image(by_segments, base, offset, &mut bytes)
        .unwrap();
    bytes
}

#[test]
fn relocations_write_what_the_linker_writes_at_another_address() {
    let facts: Value = serde_json::from_slice(&common::bytes("links.json")).unwrap();
    let document = common::open(EXECUTABLE);
    let image = document.image(false).unwrap();
    // The linker's own address is 0x10000, where the first segment begins.
    let there = facts["base"].as_str().unwrap();
    let there = u64::from_str_radix(&there[2..], 16).unwrap() - 0x10000;
    let base = Some(image.address + there);
    let mut kinds = std::collections::BTreeSet::new();
    for word in facts["words"].as_array().unwrap() {
        let (address, kind) = (word[0].as_u64().unwrap(), word[1].as_str().unwrap());
        let expected = word[2].as_str().unwrap();
        let ours = read(&document, base, address - image.address, expected.len() / 2);
        assert_eq!(hex(&ours), expected, "{kind} at 0x{address:x}");
        kinds.insert(kind);
    }
    assert_eq!(kinds.len(), 9);
}

#[test]
fn at_its_own_address_an_image_is_what_the_linker_left() {
    for path in [EXECUTABLE, SHARED] {
        let document = common::open(path);
        let image = document.image(false).unwrap();
        let size = image.size as usize;
        let plain = read(&document, None, 0, size);
        assert_eq!(
            read(&document, Some(image.address), 0, size),
            plain,
            "{path}"
        );
        assert_ne!(read(&document, Some(1 << 40), 0, size), plain, "{path}");
        let table = document
            .table(&format!("patches/{:x}", image.address))
            .unwrap();
        let mut applied = 0;
        for row in 0..table.len() {
            if text(&*table, row, "applied_by") != "nobody" {
                assert_eq!(text(&*table, row, "before"), text(&*table, row, "after"));
                applied += 1;
            } else {
                assert!(text(&*table, row, "type").starts_with("R_AMDGPU_GOTPCREL32"));
                assert!(text(&*table, row, "remark").contains("global offset table"));
            }
        }
        // Of 17 and 18 two are of the table that the linker made.
        assert_eq!(
            (applied, table.len() - applied),
            (if path == SHARED { 16 } else { 15 }, 2)
        );
    }
}

#[test]
fn only_what_the_reference_loader_applies_is_said_to_be_its() {
    let document = common::open(EXECUTABLE);
    let table = document.table("patches/0").unwrap();
    for row in 0..table.len() {
        let is_loaded = text(&*table, row, "applied_by") == "loader";
        let kind = text(&*table, row, "type");
        assert_eq!(is_loaded, kind == "R_AMDGPU_REL64", "{kind}");
    }
}

/// ld.lld does not know them: the low and the high 32 bits of S + A.
#[test]
fn halves_of_addresses_are_written() {
    for (kind, expected) in [(1, 0x9abc_def0_u32), (2, 0x1234_5678)] {
        let form = Form::of(&DIALECT, kind).unwrap();
        let mut bytes = [0; 4];
        form.write(0x1234_5678_9abc_def0, 0, 0, &mut bytes);
        assert_eq!(u32::from_le_bytes(bytes), expected);
    }
}

/// What llvm-readelf -r prints of [`INDIRECT`]: where, and what a loader at 0 writes there. For `R_AMDGPU_RELATIVE64` that is
/// the addend, for `R_AMDGPU_ABS64` the symbol's value and the addend.
const DYNAMIC: &[(u64, u64)] = &[
    (0x3c30, 0x2c00),
    (0x3c48, 0x2c10),
    (0x4d18, 0x2400),
    (0x4d20, 0x240c),
    (0x4d28, 0x241c),
    (0x4d58, 0x1340),
    (0x4d60, 0x4d70),
    (0x4d68, 0x4d78),
    (0x4d70, 0x3c30),
    (0x4d78, 0x3c48),
    (0x3d08, 0x4d50),
    (0x3d10, 0x4d80),
    (0x4d50, 0x4d30 + 0xc),
    (0x3d00, 0x4d18),
];

#[test]
fn dynamic_relocations_are_applied_with_section_headers_and_without() {
    let mut bare = common::bytes(INDIRECT);
    bare[40..48].fill(0); // e_shoff
    bare[58..64].fill(0); // e_shentsize, e_shnum, e_shstrndx
    for (what, bytes) in [("sections", common::bytes(INDIRECT)), ("segments", bare)] {
        let document = Document::open(Source::memory(bytes));
        let elf = document.elf().unwrap();
        let image = elf.main_image();
        let patches = document.patches().unwrap();
        assert_eq!(patches.all().len(), DYNAMIC.len(), "{what}");
        assert!(
            patches
                .all()
                .iter()
                .all(|patch| patch.by == By::Kernelscope)
        );
        let base = 0x7f00_0000_0000;
        for &(address, value) in DYNAMIC {
            let ours = read(&document, Some(base), address - image.address, 8);
            let expected = (base + value - image.address).to_le_bytes();
            assert_eq!(ours, expected, "{what} at 0x{address:x}");
        }
        let table = document.table("patches/0").unwrap();
        assert_eq!(text(&*table, 10, "symbol_name"), "counter_ptr", "{what}");
        assert_eq!(table.cell(10, "size"), Cell::Int(8));
    }
}

/// The tags of a dynamic table that say where relocations are, how many bytes they have, and how many each.
const RELA: [u8; 3] = [7, 8, 9];
const REL: [u8; 3] = [17, 18, 19];
const RELR: [u8; 3] = [36, 35, 37];

/// [`INDIRECT`] with its dynamic relocations as `tags` say and a section type to go with them, with section headers or without.
fn with_relocations(tags: [u8; 3], kind: u8, is_bare: bool) -> (Vec<u8>, u64) {
    let mut all = common::bytes(INDIRECT);
    // llvm-readelf -S: .rela.dyn, section 6, at 0x1128; .dynamic at 0x1c50 of the file with 11 entries of 16 bytes.
    let header = 0x2620 + 6 * 64;
    all[header + 4] = kind;
    for entry in (0x1c50..0x1d00).step_by(16) {
        if let Some(i) = RELA.iter().position(|&tag| tag == all[entry]) {
            all[entry] = tags[i];
        }
    }
    if tags == REL {
        let count = DYNAMIC.len();
        for (i, &(address, _)) in DYNAMIC.iter().enumerate() {
            let from = 0x1128 + 24 * i;
            let addend: [u8; 8] = all[from + 16..from + 24].try_into().unwrap();
            // Data lies 0x3000 behind its place in the file, what is read-only once relocated 0x2000.
            let address = address as usize;
            let place = address - if address < 0x4000 { 0x2000 } else { 0x3000 };
            all[place..place + 8].copy_from_slice(&addend);
            all.copy_within(from..from + 16, 0x1128 + 16 * i);
        }
        let size = (16 * count as u64).to_le_bytes();
        all[header + 32..header + 40].copy_from_slice(&size);
        all[header + 56] = 16;
        for entry in (0x1c50..0x1d00).step_by(16) {
            if all[entry] == REL[1] {
                all[entry + 8..entry + 16].copy_from_slice(&size);
            }
        }
    }
    if is_bare {
        all[40..48].fill(0); // e_shoff
        all[58..64].fill(0); // e_shentsize, e_shnum, e_shstrndx
    }
    (all, header as u64)
}

#[test]
fn dynamic_relocations_have_their_addends_where_they_patch() {
    for is_bare in [false, true] {
        let (bytes, _) = with_relocations(REL, 9, is_bare);
        let document = Document::open(Source::memory(bytes));
        let patches = document.patches().unwrap();
        assert_eq!(patches.all().len(), DYNAMIC.len());
        let image = document.elf().unwrap().main_image();
        let base = 0x7f00_0000_0000;
        for &(address, value) in DYNAMIC {
            let ours = read(&document, Some(base), address - image.address, 8);
            let expected = (base + value - image.address).to_le_bytes();
            assert_eq!(ours, expected, "0x{address:x} {is_bare}");
        }
    }
}

#[test]
fn packed_relocations_are_a_finding() {
    for is_bare in [false, true] {
        let (bytes, header) = with_relocations(RELR, 19, is_bare);
        let document = Document::open(Source::memory(bytes));
        let findings = document.findings().iter();
        let packed = findings.filter(|finding| finding.message.starts_with("packed relative"));
        let packed: Vec<_> = packed.map(|f| (f.kind, f.severity, f.offset)).collect();
        let at = if is_bare { 0x1128 } else { header };
        assert_eq!(packed, [(Kind::Loader, Severity::Warning, Some(at))]);
    }
}

#[test]
fn images_are_whole_words() {
    for path in common::all(&["amdgpu/out", "amdgpu/own", "amdgpu/linked"]) {
        let document = common::open(&path);
        let image = document.image(false).unwrap();
        assert_eq!(image.size, image.end.div_ceil(4) * 4, "{path}");
        if let Some(image) = document.image(true) {
            assert_eq!(image.size, image.end.div_ceil(4) * 4, "{path}");
        }
    }
}

#[test]
fn segments_that_give_other_bytes_are_noted() {
    let notes = |bytes: Vec<u8>| {
        let document = Document::open(Source::memory(bytes));
        let findings = document.findings().all();
        let mut notes = findings
            .into_iter()
            .filter(|finding| finding.message.contains("copies segments"));
        let note = notes.next();
        assert!(notes.next().is_none());
        note
    };
    for path in common::all(&["amdgpu/out", "amdgpu/own", "amdgpu/linked"]) {
        assert_eq!(notes(common::bytes(&path)), None, "{path}");
    }
    // Without its first PT_LOAD, of kind 1: what .rodata has is loaded by nobody.
    let mut bytes = common::bytes(EXECUTABLE);
    let at = 64 + 56;
    assert_eq!(bytes[at], 1);
    bytes[at] = 0;
    let note = notes(bytes).unwrap();
    assert_eq!((note.kind, note.severity), (Kind::Loader, Severity::Note));
    assert!(note.context.unwrap().contains(".rodata"));
    // That segment from 16 bytes further in the file.
    let mut bytes = common::bytes(EXECUTABLE);
    bytes[at + 8] = 16;
    assert!(notes(bytes).is_some());
}

/// What llvm-dwarfdump says of a file: sequences of rows of address, line and file.
type Sequences = Vec<Vec<(u64, i64, String)>>;

/// The line at `address`: that of the last row of the sequence that is not behind it, as llvm-symbolizer has it; none where
/// that row says 0.
fn line_at(sequences: &Sequences, address: u64) -> Option<(i64, &str)> {
    let inside = |rows: &&Vec<(u64, i64, String)>| {
        let (first, last) = (rows.first().unwrap().0, rows.last().unwrap().0);
        (first..last).contains(&address)
    };
    let rows = sequences.iter().find(inside)?;
    let row = rows.iter().rfind(|row| row.0 <= address)?;
    (row.1 > 0).then_some((row.1, &row.2))
}

#[test]
fn lines_of_source_are_those_that_llvm_reads() {
    let facts: Value = serde_json::from_slice(&common::bytes("lines.json")).unwrap();
    let (mut files, mut told, mut begun) = (0, 0, 0);
    for (path, sequences) in facts["files"].as_object().unwrap() {
        let sequences: Sequences = serde_json::from_value(sequences.clone()).unwrap();
        let document = common::open(path);
        let elf = document.elf().unwrap();
        let Device::CodeObject(object) = document.device() else {
            panic!("{path}")
        };
        let text = elf.section_named(".text").unwrap();
        for (index, kernel) in object.kernels.iter().enumerate() {
            // Addresses are those of .text: in files that are not linked that begins at 0, and its sequences come first.
            let start = text.address + (kernel.code.offset - text.offset);
            let table = document.table(&format!("code/{index}")).unwrap();
            assert_eq!(table.len(), kernel.code.size / 4, "{path} {}", kernel.name);
            for row in 0..table.len() {
                let address = start + 4 * row;
                let expected = line_at(&sequences, address);
                let ours = match table.cell(row, "line") {
                    Cell::Int(line) => Some((line as i64, self::text(&*table, row, "file"))),
                    _ => None,
                };
                let ours = ours.as_ref().map(|(line, file)| (*line, file.as_str()));
                assert_eq!(ours, expected, "{path} at 0x{address:x}");
                let rows = sequences
                    .iter()
                    .find(|rows| rows[0].0 <= address && address < rows[rows.len() - 1].0);
                let begins = rows.is_some_and(|rows| rows.iter().any(|row| row.0 == address));
                assert_eq!(
                    table.cell(row, "begins") == "begins".into(),
                    begins,
                    "{path} at 0x{address:x}"
                );
                told += u64::from(expected.is_some());
                begun += u64::from(begins);
            }
        }
        files += 1;
    }
    assert!(
        files >= 13 && told > 3000 && begun > 800,
        "{files}, {told}, {begun}"
    );
}

/// The lines of the first two words of the kernel in `common::with_lines`, and the findings.
fn first_lines(rows: &[u8]) -> ([Cell<'static>; 2], Vec<Diagnostic>) {
    let mut document = Document::open(Source::memory(common::with_lines(rows)));
    document.check_all();
    let table = document.table("code/0").unwrap();
    let line = |row| match table.cell(row, "line") {
        Cell::Int(line) => Cell::Int(line),
        _ => Cell::None,
    };
    ([line(0), line(1)], document.findings().all())
}

#[test]
fn of_rows_at_one_address_the_last_one_counts() {
    // Special opcode 12 adds 1 to the line and nothing to the address: a million rows at one address. Then 4 bytes and 5
    // lines further a copy.
    let count = 1 << 20;
    let rows = [&vec![12; count][..], &[2, 4, 3, 5, 1]].concat();
    let last = 1 + count as i128;
    let (lines, findings) = first_lines(&rows);
    assert_eq!(lines, [Cell::Int(last), Cell::Int(last + 5)]);
    assert_eq!(findings, []);
    // A row of line 2, and at the same address one of line 0: advance_line by -2, copy.
    let (lines, findings) = first_lines(&[12, 3, 0x7e, 1, 2, 4, 3, 7, 1]);
    assert_eq!(lines, [Cell::None, Cell::Int(7)]);
    assert_eq!(findings, []);
}

#[test]
fn rows_of_lines_are_bounded() {
    // A copy, then special opcode 25, which adds 1 to the address and nothing to the line. The row that ends the sequence is
    // one more.
    let count = (1 << 22) + 1;
    let mut rows = vec![25; count];
    rows[0] = 1;
    let (lines, findings) = first_lines(&rows);
    assert_eq!(lines, [Cell::Int(1), Cell::Int(1)]);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(findings[0].kind, Kind::Limit);
    assert_eq!(findings[0].found, Some((count + 1).to_string()));
    assert!(
        findings[0]
            .context
            .as_ref()
            .unwrap()
            .contains(".debug_line")
    );
}

/// Names of files that cannot be unpacked, as llvm-dwarfdump warns of them, too.
#[test]
fn names_of_files_that_are_lost_are_found() {
    let path = "amdgpu/linked/tile.gfx1250.v5.gdwarf-5.zstd.co";
    let document = common::open(path);
    let section = document.elf().unwrap().section_named(".debug_line_str");
    let at = section.unwrap().offset;
    let mut bytes = common::bytes(path);
    bytes[at as usize] = 3; // ch_type
    let mut document = Document::open(Source::memory(bytes));
    document.check_all();
    let findings = document.findings().all();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(findings[0].offset, Some(at));
    assert!(
        findings[0]
            .message
            .ends_with("names of files in it are not told")
    );
}

#[test]
fn code_is_words_with_the_symbols_that_begin_in_them() {
    let document = common::open(EXECUTABLE);
    let table = document.table("code/0").unwrap();
    // s_getpc_b64 s[0:1] is SOP1 with operation 28 for s0: 0xbe801c00. Its symbol is the kernel.
    assert_eq!(text(&*table, 0, "words"), "be801c00");
    assert_eq!(text(&*table, 0, "symbol"), "links");
    assert_eq!(text(&*table, 1, "symbol"), "");
    // 3 times s_getpc and two of 8 bytes, s_branch, s_endpgm.
    assert_eq!(table.len(), 3 * 5 + 2);
    assert_eq!(text(&*table, 16, "words"), "bf810000");
    let place = table.place(16).unwrap();
    assert_eq!((place.offset, place.size), (0x300 + 64, 4));
    assert!(table.columns().iter().all(|column| column.key != "line"));
    assert_eq!(table.cell(17, "words"), Cell::None);
}

/// Compressed sections whose header is wrong: no lines, a finding at the section, and no memory.
#[test]
fn compressed_sections_are_not_believed() {
    for (path, form) in [
        ("amdgpu/linked/tile.gfx1250.v5.gdwarf-5.zstd.co", 2),
        ("amdgpu/linked/names.gfx1201.v5.gdwarf-4.gz-zlib.zlib.co", 1),
    ] {
        let bytes = common::bytes(path);
        let intact = common::open(path);
        let section = intact.elf().unwrap().section_named(".debug_line").unwrap();
        let at = section.offset as usize;
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes[..8].try_into().unwrap());
        assert_eq!(bytes[at], form);
        let size = number(&bytes[at + 8..]);
        let said = |change: &dyn Fn(&mut [u8])| {
            let mut bytes = bytes.clone();
            change(&mut bytes[at..at + section.size as usize]);
            let mut document = Document::open(Source::memory(bytes));
            document.check_all();
            let all = document.findings().all();
            let mut findings = all.into_iter().filter(|finding| {
                finding
                    .context
                    .as_deref()
                    .is_some_and(|at| at.contains(".debug_line"))
            });
            findings.next().map(|finding| {
                assert_eq!(finding.offset, Some(section.offset));
                assert_eq!(document.table("code/0").unwrap().columns().len(), 4);
                finding.message
            })
        };
        assert_eq!(said(&|_| {}), None);
        let records = intact.locate(section.offset + 8).records;
        assert_eq!(records[0].name, "compression header");
        let field = records[0]
            .fields
            .iter()
            .find(|field| field.name == "ch_size");
        assert_eq!(field.unwrap().raw, Raw::Int(size));
        for (wrong, why) in [
            (0, "as many bytes as its header says"),
            (size - 1, "as many bytes as its header says"),
            (size + 1, "as many bytes as its header says"),
            (1 << 27, "as many bytes as its header says"),
            (1 << 40, "too many bytes"),
            (u64::MAX, "too many bytes"),
        ] {
            let message = said(&|bytes| bytes[8..16].copy_from_slice(&wrong.to_le_bytes()));
            let message = message.unwrap();
            assert!(message.contains(why), "{path}, {wrong}: {message}");
        }
        let unknown = said(&|bytes| bytes[0] = 3).unwrap();
        assert!(unknown.contains("not known"), "{unknown}");
        let cut = said(&|bytes| {
            let half = bytes.len() / 2;
            bytes[half..].fill(0);
        });
        assert!(cut.is_some(), "{path}");
        assert!(said(&|bytes| bytes[24..].fill(0)).is_some());
    }
}
