//! Whatever the bytes are, a file opens: no panic, no endless loop, and the map covers all of it.
//!
//! CI runs a sample with a fixed seed; `make test-all` runs the sets whole.

mod common;

use common::Random;
use kernelscope::document::TABLES;
use kernelscope::extract::Extract;
use kernelscope::report::Report;
use kernelscope::{Document, Source};

/// Opens `bytes`, runs every check, reads every table, prints the report and asks for bytes here and
/// there; then every byte must be in exactly one leaf of the map.
fn exercise(what: &str, bytes: Vec<u8>, random: &mut Random) {
    let size = bytes.len() as u64;
    let mut document = Document::open(Source::memory(bytes));
    document.check_all();
    let mut next = 0;
    for leaf in document.leaves() {
        assert_eq!(
            leaf.span.offset, next,
            "{what}: the map has a gap or an overlap"
        );
        assert!(leaf.span.size > 0, "{what}: an empty leaf");
        next = leaf.span.end();
    }
    assert_eq!(next, size, "{what}: the map does not cover the file");
    // Those of one kernel, of one text and of one address are in no list of tables.
    let kernel = random.below(document.kernel_count().unwrap_or(0).max(1) as u64);
    let mut keys: Vec<String> = TABLES.iter().map(|(key, _)| (*key).into()).collect();
    let parts = [
        "code/0",
        "text/0",
        "lane/0",
        "patches/7f0000000000",
        "size",
        "size/0",
    ];
    keys.extend(parts.map(String::from));
    keys.push(format!("bank0/{kernel}"));
    for key in &keys {
        if let Some(table) = document.table(key) {
            let last = table.len().saturating_sub(1);
            for row in [0, last, last + 1] {
                table.place(row);
                for column in table.columns() {
                    table.cell(row, &column.key);
                }
            }
        }
    }
    for _ in 0..4 {
        document.locate(random.below(size.max(1) + 8));
        if let Some(record) = document.kernarg(kernel as usize) {
            record.gaps();
        }
        if let Some(bank) = document.bank0(kernel as usize) {
            bank.at(random.below(0x1_0010) as u32);
        }
    }
    // One of its members, and those that are code up to the first.
    let members = document.contents().members.len() as u64;
    if members > 0 {
        let index = random.below(members) as u32;
        let path = document.contents().path(index);
        assert_eq!(
            document.contents().find(&path),
            Some((index, None)),
            "{what}"
        );
        if let Ok(member) = document.open_member(index) {
            member.summary();
            let covered: u64 = member.leaves().iter().map(|leaf| leaf.span.size).sum();
            assert_eq!(covered, member.source().size(), "{what}: {path}");
        }
        document.survey(1);
        let mut files = Extract::all(&document, what);
        files.rest(&document);
        if let Some(file) = files.next(&document) {
            assert!(!file.name.contains(['/', '\\']), "{what}: {}", file.name);
        }
    }
    // Whatever headers say, what is stored adds up to the file.
    if let Some(table) = document.table("size") {
        assert_eq!(table.cell(0, "stored_size"), size.into(), "{what}");
    }
    let (held, loaded) = document.images();
    let windows = held.map(|image| (false, image.size)).into_iter();
    for (by_segments, size) in windows.chain(loaded.map(|image| (true, image.size))) {
        let mut window = [0; 64];
        let at = random.below(size.max(1));
        for base in [None, Some(u64::MAX - at)] {
            document
                .read_image(by_segments, base, at, &mut window)
                .expect("a window of an image");
        }
    }
    serde_json::to_writer(std::io::sink(), &Report(&document)).expect("a report");
}

#[test]
fn a_file_cut_off_anywhere_opens() {
    let mut random = Random(1);
    for path in common::all(common::EVERY) {
        let bytes = common::bytes(&path);
        let near = bytes.len().min(4096);
        let step = if common::whole() { 1 } else { 19 };
        let mut cuts: Vec<usize> = (0..near).step_by(step).collect();
        if bytes.len() > near {
            let count = if common::whole() { 200 } else { 20 };
            let beyond = (bytes.len() - near) as u64;
            cuts.extend((0..count).map(|_| near + random.below(beyond) as usize));
        }
        for cut in cuts {
            exercise(
                &format!("{path} cut at {cut}"),
                bytes[..cut].to_vec(),
                &mut random,
            );
        }
    }
}

#[test]
fn a_file_with_one_wrong_byte_opens() {
    let mut random = Random(2);
    let count = if common::whole() { 20_000 } else { 100 };
    for path in common::all(common::EVERY) {
        let bytes = common::bytes(&path);
        for _ in 0..count {
            let mut bytes = bytes.clone();
            let at = random.below(bytes.len() as u64) as usize;
            let value = random.below(256) as u8;
            bytes[at] = value;
            exercise(&format!("{path}, byte {at} = {value}"), bytes, &mut random);
        }
    }
}

/// The same of everything that describes a member.
#[test]
fn a_container_with_hostile_headers_opens() {
    let mut random = Random(4);
    for path in common::all(common::CONTAINERS) {
        let bytes = common::bytes(&path);
        let document = Document::open(Source::memory(bytes.clone()));
        let contents = document.contents();
        let headers = document.leaves().iter().filter(|leaf| {
            let is_of_member = matches!(leaf.part, kernelscope::elf::Part::Contained(_));
            is_of_member && contents.role(leaf.part) == kernelscope::elf::map::Role::Header
        });
        let step = if common::whole() { 1 } else { 7 };
        for leaf in headers {
            for at in (leaf.span.offset..leaf.span.end()).step_by(step) {
                for value in [0, 1, 0x7f, 0x80, 0xff] {
                    let mut bytes = bytes.clone();
                    bytes[at as usize] = value;
                    exercise(&format!("{path}, byte {at} = {value}"), bytes, &mut random);
                }
            }
        }
    }
}

/// Headers are a small part of a file, so most single bytes miss them: here every byte of the file
/// header, of the section headers and of the program headers takes the values that hurt most.
#[test]
fn a_file_with_hostile_headers_opens() {
    let mut random = Random(3);
    for path in common::all(common::DEVICE) {
        let bytes = common::bytes(&path);
        let document = Document::open(Source::memory(bytes.clone()));
        let Some(elf) = document.elf() else {
            continue;
        };
        let tables = elf.section_table.into_iter().chain(elf.segment_table);
        let spans: Vec<_> = tables
            .map(|t| t.span())
            .chain([elf.header.span()])
            .collect();
        let step = if common::whole() { 1 } else { 11 };
        for span in spans {
            for at in (span.offset..span.end()).step_by(step) {
                for value in [0, 1, 0x7f, 0x80, 0xff] {
                    let mut bytes = bytes.clone();
                    bytes[at as usize] = value;
                    exercise(&format!("{path}, byte {at} = {value}"), bytes, &mut random);
                }
            }
        }
    }
}
