//! What opening costs in memory: linear in what the file has, whatever the file claims.

mod common;

use cap::Cap;
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

/// Times the file's size that a file may cost. Findings are bounded by themselves.
const TIMES: usize = 24;
const FINDINGS: usize = 1 << 20;

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
    // Sections that all claim the whole file, as contents, symbols, relocations, notes, strings: tables of a
    // million entries each, if they were believed and kept.
    for kind in [1, 2, 3, 4, 7, 9, 11, 0x7000_0000] {
        let bytes = headers(4000, kind);
        println!("4000 sections of kind {kind:#x}");
        within(bytes.len() * TIMES + FINDINGS, || {
            let mut document = Document::open(Source::memory(bytes));
            document.check(10_000);
            document.summary();
        });
    }
}
