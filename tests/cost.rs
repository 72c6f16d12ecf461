//! What opening costs in memory: linear in what the file has, whatever the file claims.

mod common;

use cap::Cap;
use common::made::{
    attribute, bank, code, code_object, code_object_of, info, make, metadata, note,
};
use kernelscope::source::ReadAt;
use kernelscope::{Document, Source};

#[global_allocator]
static ALLOCATOR: Cap<std::alloc::System> = Cap::new(std::alloc::System, usize::MAX);

/// Runs `run` with so many bytes to allocate. More of them end the program, and so the test: the limit is
/// the whole program's, which is why there is one test.
fn within(bytes: usize, run: impl FnOnce()) {
    let limit = ALLOCATOR.allocated() + bytes;
    ALLOCATOR
        .set_limit(limit)
        .expect("a limit above what is allocated");
    run();
    ALLOCATOR.set_limit(usize::MAX).expect("no limit");
}

/// An ELF file whose section headers (`count` of them, 64 bytes each) fill it, each with the name at 0 of
/// section 1, which is all of the file.
fn headers(count: u16, kind: u32) -> Vec<u8> {
    let mut file = vec![0; 64];
    file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    file[16..24].copy_from_slice(&[1, 0, 190, 0, 1, 0, 0, 0]);
    file[40..48].copy_from_slice(&64_u64.to_le_bytes());
    file[52..54].copy_from_slice(&64_u16.to_le_bytes());
    file[58..60].copy_from_slice(&64_u16.to_le_bytes());
    file[60..62].copy_from_slice(&count.to_le_bytes());
    file[62..64].copy_from_slice(&1_u16.to_le_bytes());
    let size = 64 + 64 * u64::from(count);
    for i in 0..count {
        let mut header = [0; 64];
        let kind = match i {
            0 => 0,
            1 => 3,
            _ => kind,
        };
        header[..4].copy_from_slice(&(u32::from(i) * 3).to_le_bytes());
        header[4..8].copy_from_slice(&u32::to_le_bytes(kind));
        header[8] = 2; // SHF_ALLOC
        header[32..40].copy_from_slice(&u64::to_le_bytes(size));
        header[40] = 1;
        header[44] = 2;
        header[48] = 1;
        header[56] = 24;
        file.extend(header);
    }
    file
}

/// A cubin of so many kernels, each with its code, parameters, a bank and attributes.
fn kernels(count: usize) -> Vec<u8> {
    let names: Vec<String> = (0..count).map(|i| format!("kernel_{i}")).collect();
    let mut symbols = Vec::new();
    let mut sections = Vec::new();
    let mut registers = Vec::new();
    for (i, name) in names.iter().enumerate() {
        symbols.push((name.as_str(), 3 + 3 * i as u16, 0));
        sections.push(code(name, 128));
        sections.push(bank(&format!("0.{name}"), 64));
        let own = [
            attribute(0x0a, &[0, 0x0004_0160]),
            attribute(0x17, &[0, 0, 0x0010_0000]),
        ];
        sections.push(info(&format!(".{name}"), own.concat()));
        registers.extend(attribute(0x2f, &[i as u32 + 1, 16 + i as u32 % 200]));
    }
    sections.push(info("", registers));
    make(&symbols, &sections)
}

/// Bytes read in slices, as a page reads a dropped file.
struct Slices(Vec<u8>);

impl ReadAt for Slices {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), String> {
        let at = offset as usize;
        into.copy_from_slice(&self.0[at..at + into.len()]);
        Ok(())
    }
}

/// Times the file's size that a file may cost. Findings are bounded by themselves.
const TIMES: usize = 24;
const FINDINGS: usize = 1 << 20;
/// The same of a file that is metadata alone, each value of one byte: the tree of as many values as may be read.
const METADATA_TIMES: usize = 40;

#[test]
fn a_file_costs_a_small_multiple_of_its_size() {
    for path in common::all(common::EVERY) {
        let bytes = common::bytes(&path);
        println!("{path}");
        within(bytes.len() * TIMES + FINDINGS, || {
            let mut document = Document::open(Source::memory(bytes));
            document.check_all();
            document.summary();
        });
    }
    // The table of kernels of many: bytes read and bytes kept grow as the file does.
    for count in [500, 5_000, 20_000] {
        let bytes = kernels(count);
        let size = bytes.len() as u64;
        println!("{count} kernels, {size} bytes");
        within(bytes.len() * TIMES + FINDINGS, || {
            let mut document = Document::open(Source::sliced(Slices(bytes)));
            document.check_all();
            let table = document.table("kernels").expect("kernels");
            assert_eq!(table.len(), count as u64);
            let last = count as u64 - 1;
            assert_eq!(
                table.cell(last, "registers"),
                (16 + last as u32 % 200).into()
            );
            assert_eq!(table.cell(last, "params_bytes"), 4_u32.into());
            let fetched = document.source().fetched();
            assert!(fetched <= 2 * size, "{fetched} of {size} bytes fetched");
        });
    }
    for count in [500, 5_000, 20_000] {
        let bytes = code_object_of(count);
        let size = bytes.len() as u64;
        println!("{count} kernels of a code object, {size} bytes");
        within(bytes.len() * TIMES + FINDINGS, || {
            let mut document = Document::open(Source::sliced(Slices(bytes)));
            document.check_all();
            let table = document.table("kernels").expect("kernels");
            assert_eq!(table.len(), count as u64);
            for row in [0, count as u64 - 1] {
                let entry = count as u64 * 64 + row * 256;
                assert_eq!(table.cell(row, "name"), format!("kernel_{row:06}").into());
                assert_eq!(table.cell(row, "entry"), Some(entry).into());
                assert_eq!(table.cell(row, "explicit_size"), Some(8 + row % 8).into());
            }
            let fetched = document.source().fetched();
            assert!(fetched <= 2 * size, "{fetched} of {size} bytes fetched");
        });
    }
    // Metadata of a megabyte that claims more than there is, or is nothing but structure: lists in lists, the largest
    // maps, lists and texts one behind the other, a million values, maps of one entry in each other.
    let megabyte = |unit: &[u8]| {
        unit.iter()
            .copied()
            .cycle()
            .take(1 << 20)
            .collect::<Vec<u8>>()
    };
    let count = [&[0xdd][..], &((1_u32 << 20) - 5).to_be_bytes()].concat();
    for message in [
        megabyte(&[0x91]),
        megabyte(&[0xdf, 0xff, 0xff, 0xff, 0xff]),
        megabyte(&[0xdd, 0xff, 0xff, 0xff, 0xff]),
        megabyte(&[0xdb, 0xff, 0xff, 0xff, 0xff]),
        megabyte(&[0x81, 0xa0]),
        megabyte(&[0xdd, 0x00, 0x0f, 0x00, 0x00]),
        [&count[..], &megabyte(&[0x80])].concat(),
        [&count[..], &megabyte(&[0x07])].concat(),
    ] {
        println!("metadata of {:x?}", &message[..10]);
        let sections = [metadata(&message)];
        let bytes = code_object(&[], &sections);
        within(bytes.len() * METADATA_TIMES + FINDINGS, || {
            let mut document = Document::open(Source::memory(bytes));
            document.check_all();
            document.summary();
            assert!(
                document
                    .findings()
                    .iter()
                    .any(|finding| finding.offset.is_some())
            );
        });
    }
    // The same as V2 has it, in YAML.
    let stairs = (0..1400).map(|depth| format!("{}a:\n", " ".repeat(depth)));
    for text in [
        megabyte(b"["),
        megabyte(b"{a: "),
        megabyte(b"- "),
        megabyte(b"a: 1\n"),
        megabyte(b"- 1\n"),
        megabyte(b"[1,"),
        megabyte(b"'"),
        megabyte(b"\"\\"),
        stairs.collect::<String>().into_bytes(),
    ] {
        println!("text of {:?}", String::from_utf8_lossy(&text[..10]));
        let bytes = code_object(&[], &[note("AMD", 10, &text)]);
        within(bytes.len() * METADATA_TIMES + FINDINGS, || {
            let mut document = Document::open(Source::memory(bytes));
            document.check_all();
            document.summary();
        });
    }
    // A million rows of lines at one address.
    let bytes = common::with_lines(&vec![12; 1 << 20]);
    within(bytes.len() * TIMES + FINDINGS, || {
        let mut document = Document::open(Source::memory(bytes));
        document.check_all();
        let table = document.table("code/0").expect("code");
        assert_eq!(table.cell(0, "line"), (1_u32 + (1 << 20)).into());
    });
    // Sections that all claim the whole file, as contents, symbols, relocations, notes, strings: tables of a
    // million entries each, if they were believed and kept.
    for kind in [1, 2, 3, 4, 7, 9, 11, 0x7000_0000, 0x7000_0001] {
        let bytes = headers(4000, kind);
        println!("4000 sections of kind {kind:#x}");
        within(bytes.len() * TIMES + FINDINGS, || {
            let mut document = Document::open(Source::memory(bytes));
            document.check(10_000);
            document.summary();
        });
    }
}
