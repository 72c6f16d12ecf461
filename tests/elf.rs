//! The ELF floor's promises, on files made for them by `fixtures/make_own.py` (which writes the numbers that
//! are expected here) and on real ones.

mod common;

use kernelscope::elf::Part;
use kernelscope::error::{Kind, Severity};
use kernelscope::record::Raw;
use kernelscope::span::Span;
use kernelscope::{Document, Source};
use serde_json::Value;

fn names(report: &Value) -> Vec<String> {
    let sections = report["sections"].as_array().expect("sections");
    let names = sections
        .iter()
        .map(|s| s["name"].as_str().unwrap_or_default());
    names.map(str::to_owned).collect()
}

fn messages(document: &Document) -> Vec<String> {
    document
        .findings()
        .all()
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn files_for_the_host_say_where_they_carry_gpu_code() {
    // Names and offsets as `readelf -SW` prints them.
    let hip = [
        (".hip_fatbin", 0x4000, "bundle header"),
        (".hipFatBinSegment", 0x1b040, "wrapper of a bundle"),
    ];
    let cuda = [
        ("__nv_relfatbin", 0x3b0, "fatbin header"),
        (".nvFatBinSegment", 0xba8, "fatbin wrapper"),
    ];
    for (path, expected) in [
        ("amdgpu/con/linked-twice.so", &hip[..]),
        (
            "amdgpu/con/newdriver-rdc.host.o",
            &[(".llvm.offloading", 0x8e0, "offload binary header")],
        ),
        ("nvidia/host/obj_liba_rdc.13.5.o", &cuda),
    ] {
        let document = common::open(path);
        for &(section, at, structure) in expected {
            let parts = document.locate(at).parts;
            assert_eq!(parts[0].name, structure, "{path}");
            assert!(parts.iter().any(|part| part.name == section), "{path}");
        }
        let verdict = document.verdict().text;
        assert!(verdict.starts_with("carries GPU code"), "{path}: {verdict}");
    }
    let device = common::open("nvidia/cubin/vadd.sm_90a.13.0.cubin");
    assert!(!device.verdict().text.contains("carries"));
}

#[test]
fn big_endian_files_are_refused_with_the_reason() {
    let document = common::open("own/big-endian.elf");
    let findings = document.findings().all();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].message.contains("big-endian"));
    assert_eq!(findings[0].offset, Some(5)); // EI_DATA
    assert!(document.elf().is_none());
    assert_eq!(document.leaves().len(), 1);
}

#[test]
fn counts_that_do_not_fit_the_header_stand_in_section_0() {
    let document = common::open("own/extended-numbering.elf");
    let elf = document.elf().expect("ELF");
    assert_eq!((elf.header.e_shnum, elf.header.e_shstrndx), (0, 0xffff));
    assert!(elf.sections.len() > 4);
    assert!(elf.section_named(".symtab_shndx").is_some());
    // One symbol's section is in .symtab_shndx: none is left with SHN_XINDEX.
    let report = common::report(&document);
    let symbols = report["symbols"].as_array().expect("symbols");
    assert!(
        symbols.iter().all(|s| s["section"] != 0xffff),
        "{symbols:?}"
    );

    let document = common::open("own/extended-segments.elf");
    let elf = document.elf().expect("ELF");
    assert_eq!(elf.header.e_phnum, 0xffff);
    assert_eq!(elf.segments.len() as u32, elf.sections[0].info);
}

#[test]
fn wider_section_headers_are_stepped_over() {
    let wide = common::report(&common::open("own/wide-section-headers.elf"));
    let plain = common::report(&common::open("own/extended-segments.elf"));
    assert_eq!(names(&wide), names(&plain));
}

#[test]
fn files_without_section_headers_have_segments_and_dynamic_symbols() {
    let document = common::open("own/segments-only.elf");
    let report = common::report(&document);
    assert_eq!(report["sections"].as_array().map(Vec::len), Some(0));
    assert_eq!(report["image"], Value::Null);
    assert!(
        !report["load_image"]["segments"]
            .as_array()
            .expect("segments")
            .is_empty()
    );

    // The same object with and without section headers: the dynamic symbols of the one are the .dynsym of
    // the other, apart from the table's section.
    let document = common::open("amdgpu/out/lds.gfx942.v5.nosections.co");
    let elf = document.elf().expect("ELF");
    assert!(elf.sections.is_empty());
    let table = document.table("symbols").expect("symbols");
    let names: Vec<String> = (0..table.len())
        .map(|row| {
            table
                .cell(row, "name")
                .text(kernelscope::rows::Unit::Text)
                .into_owned()
        })
        .collect();
    // `llvm-readelf --dyn-syms --use-dynamic` (22.1.8) lists these.
    assert!(names.iter().any(|name| name.ends_with(".kd")), "{names:?}");
    assert!(document.target().expect("a target").starts_with("gfx942"));
}

#[test]
fn sections_that_share_bytes_are_findings_and_are_still_shown() {
    let document = common::open("own/overlapping-sections.cubin");
    let shared: Vec<_> = document
        .leaves()
        .iter()
        .filter(|leaf| leaf.is_shared)
        .collect();
    assert_eq!(shared.len(), 1);
    // .text.second begins 64 bytes into .text.first.
    let elf = document.elf().expect("ELF");
    let first = elf.section_named(".text.first").expect("a section");
    let second = elf.section_named(".text.second").expect("a section");
    assert_eq!(second.offset, first.offset + 64);
    assert_eq!(shared[0].span.offset, second.offset);
    let finding = document
        .findings()
        .all()
        .into_iter()
        .find(|d| d.message.contains("share"));
    let finding = finding.expect("a finding");
    assert_eq!(
        (finding.severity, finding.kind),
        (Severity::Error, Kind::Loader)
    );
    assert_eq!(finding.offset, Some(second.offset));
    assert_eq!(document.table("kernels").expect("kernels").len(), 2);
}

#[test]
fn names_without_an_end_are_findings() {
    let document = common::open("own/unterminated-names.cubin");
    let all = messages(&document);
    let found = all
        .iter()
        .filter(|m| m.contains("no zero byte before the end"))
        .count();
    assert!(found >= 2, "{all:?}"); // a section's and a symbol's
    let intact = common::open("own/two-kernels.cubin");
    assert!(!intact.findings().has_errors(), "{:?}", messages(&intact));
}

/// Every entry of the four header tables and of symbol and relocation tables is a record that says where
/// it is, and every byte of it leads there.
#[test]
fn every_entry_is_a_record() {
    for path in common::all(common::DEVICE) {
        let document = common::open(&path);
        for (table, _) in kernelscope::document::TABLES {
            if !["sections", "segments", "symbols", "relocations", "notes"].contains(table) {
                continue;
            }
            let rows = document.table(table).expect("a table");
            for row in 0..rows.len() {
                let place = rows.place(row).expect("a place");
                for at in [place.offset, place.offset + place.size - 1] {
                    let location = document.locate(at);
                    let spans: Vec<Span> = location.records.iter().map(|r| r.span).collect();
                    let holds = spans.iter().any(|span| span.contains(at));
                    assert!(holds, "{path} {table} {row}: {spans:?} at {at}");
                }
            }
        }
    }
}

/// What a record says of its bits is what is in the file.
#[test]
fn raw_values_are_the_bits_of_the_file() {
    for path in common::all(common::DEVICE) {
        let bytes = common::bytes(&path);
        let document = common::open(&path);
        for leaf in document.leaves() {
            for record in document.locate(leaf.span.offset).records {
                let start = record.span.offset as usize;
                let content = &bytes[start..start + record.span.size as usize];
                for field in &record.fields {
                    let [msb, lsb] = field.bits;
                    assert!(u64::from(msb) < record.span.size * 8, "{path}: {record:?}");
                    let bit = |i: u32| content[(i / 8) as usize] >> (i % 8) & 1;
                    match &field.raw {
                        Raw::Int(raw) => {
                            let expected: u64 =
                                (lsb..=msb).map(|i| u64::from(bit(i)) << (i - lsb)).sum();
                            assert_eq!(*raw, expected, "{path}: {} {}", record.name, field.name);
                        }
                        Raw::Bytes(raw) => {
                            let first = (lsb / 8) as usize;
                            assert_eq!(**raw, content[first..first + raw.len()], "{path}");
                        }
                        Raw::None => panic!("{path}: {} has no bits", field.name),
                    }
                }
            }
        }
    }
}

/// Both images against the file: each piece's bytes are the section's or the segment's, the rest zeros.
#[test]
fn images_are_the_files_bytes_at_their_places() {
    for path in common::all(common::DEVICE) {
        let bytes = common::bytes(&path);
        let document = common::open(&path);
        let (held, loaded) = document.images();
        for image in held.into_iter().chain(loaded) {
            let mut expected = vec![0; image.end as usize];
            for piece in &image.pieces {
                let stored = &bytes[piece.stored.offset as usize..][..piece.stored.size as usize];
                let size = stored.len().min(piece.size as usize);
                expected[piece.offset as usize..][..size].copy_from_slice(&stored[..size]);
            }
            let mut read = vec![0xaa; image.end as usize];
            image
                .read_into(document.source(), 0, &mut read)
                .expect("the image");
            assert!(read == expected, "{path}");
            // Any window is the same bytes.
            for (at, size) in [
                (1, 7),
                (image.end / 2, 100),
                (image.end.saturating_sub(3), 3),
            ] {
                let end = (at + size).min(image.end);
                let mut window = vec![0xaa; end.saturating_sub(at) as usize];
                image
                    .read_into(document.source(), at, &mut window)
                    .expect("a window");
                assert!(
                    window == expected[at.min(end) as usize..end as usize],
                    "{path} at {at}"
                );
            }
        }
    }
}

/// Cubins lie at multiples of 128, and the size is rounded up to 4096 with 4096 more behind.
#[test]
fn images_of_cubins_end_with_a_page() {
    let document = common::open("nvidia/cubin/vadd.sm_90a.13.0.cubin");
    let (held, _) = document.images();
    let image = held.expect("an image");
    // .text has 512 bytes, .nv.constant0 556: 512 + 556 = 1068, rounded up 4096, and 4096.
    assert_eq!((image.end, image.size, image.align), (1068, 8192, 128));
    let places: Vec<_> = image.pieces.iter().map(|p| (p.offset, p.size)).collect();
    assert_eq!(places, [(0, 512), (512, 556)]);
}

#[test]
fn padding_is_zeros_and_the_rest_is_unclaimed() {
    let mut bytes = common::bytes("nvidia/cubin/vadd.sm_90a.13.0.cubin");
    let document = Document::open(Source::memory(bytes.clone()));
    let padding = document
        .leaves()
        .iter()
        .find(|l| l.part == Part::Padding)
        .expect("padding");
    bytes[padding.span.offset as usize] = 1;
    let changed = Document::open(Source::memory(bytes));
    let leaf = changed
        .leaves()
        .iter()
        .find(|l| l.span == padding.span)
        .expect("the leaf");
    assert_eq!(leaf.part, Part::Unclaimed);
}

/// A file of `count` section headers that all span all of it, of the type `kind`.
fn aliases(count: u32, kind: u32) -> Vec<u8> {
    let size = 64 + 64 * u64::from(count);
    let mut file = vec![0; 64];
    file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    file[16..24].copy_from_slice(&[1, 0, 190, 0, 1, 0, 0, 0]);
    file[40..48].copy_from_slice(&64_u64.to_le_bytes());
    file[52..54].copy_from_slice(&64_u16.to_le_bytes());
    file[58..60].copy_from_slice(&64_u16.to_le_bytes());
    file[60..62].copy_from_slice(&(count as u16).to_le_bytes());
    for i in 0..count {
        let mut header = [0; 64];
        header[4..8].copy_from_slice(&(if i == 0 { 0 } else { kind }).to_le_bytes());
        header[32..40].copy_from_slice(&size.to_le_bytes());
        header[56] = 24;
        file.extend(header);
    }
    file
}

/// Tables that name the same bytes again and again are gone through once: as many entries as the file can
/// hold.
#[test]
fn tables_are_together_no_longer_than_the_file() {
    for kind in [2, 4, 9, 11] {
        let bytes = aliases(300, kind);
        let size = bytes.len() as u64;
        let mut document = Document::open(Source::memory(bytes));
        assert!(document.check(0).total <= size / 16, "kind {kind}");
        document.check_all();
        let all = messages(&document);
        assert!(
            all.iter()
                .any(|m| m.contains("together longer than the file")),
            "{kind}"
        );
    }
}

#[test]
fn headers_that_are_nowhere_are_a_finding() {
    let mut bytes = common::bytes("nvidia/cubin/vadd.sm_90a.13.0.cubin");
    bytes[40..48].fill(0); // e_shoff
    let document = Document::open(Source::memory(bytes));
    let elf = document.elf().expect("ELF");
    assert!(elf.sections.is_empty());
    let all = messages(&document);
    assert!(
        all.iter()
            .any(|m| m.contains("the section headers are nowhere")),
        "{all:?}"
    );
}

/// Zeros between sections are padding although a segment has them too, up to any size that is read.
#[test]
fn zeros_between_parts_are_padding_of_any_size() {
    let mut bytes = common::bytes("own/two-kernels.cubin");
    let moved = bytes.len() as u64 + (1 << 20);
    let table = Document::open(Source::memory(bytes.clone()))
        .elf()
        .and_then(|e| e.section_table);
    let span = table.expect("a table").span();
    let headers = bytes[span.offset as usize..span.end() as usize].to_vec();
    bytes[span.offset as usize..span.end() as usize].fill(0);
    bytes.resize(moved as usize, 0);
    bytes.extend(headers);
    bytes[40..48].copy_from_slice(&moved.to_le_bytes()); // e_shoff
    let document = Document::open(Source::memory(bytes));
    let gap = document
        .leaves()
        .iter()
        .max_by_key(|leaf| leaf.span.size)
        .expect("a leaf");
    assert!(gap.span.size > 1 << 20);
    assert_eq!(gap.part, Part::Padding);
    let document = common::open("nvidia/cubin/vadd.sm_80.11.8.cubin");
    let named: Vec<_> = document.leaves().iter().map(|leaf| leaf.part).collect();
    assert!(
        !named.iter().any(|part| matches!(part, Part::Segment(_))),
        "{named:?}"
    );
}

#[test]
fn a_broken_note_shows_its_header() {
    let document = common::open("amdgpu/mal/note-descsz-too-big.co");
    let finding = document
        .findings()
        .all()
        .into_iter()
        .find(|d| d.message.contains("note runs"));
    let at = finding.expect("a finding").offset.expect("a place");
    let records = document.locate(at).records;
    assert_eq!(records.len(), 1);
    // MANIFEST.json: the note's descsz is 101475.
    assert_eq!(records[0].number("n_descsz"), 101_475);
}
