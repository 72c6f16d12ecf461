//! What opening a file reads of it.

mod common;

use std::cell::Cell;
use std::rc::Rc;

use kernelscope::source::ReadAt;
use kernelscope::span::Span;
use kernelscope::{Document, Source};

/// A file of which only some parts are not zeros.
struct Sparse {
    size: u64,
    parts: Vec<(u64, Vec<u8>)>,
    read: Rc<Cell<u64>>,
}

impl ReadAt for Sparse {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), String> {
        self.read.set(self.read.get() + into.len() as u64);
        into.fill(0);
        for (start, bytes) in &self.parts {
            for (i, byte) in into.iter_mut().enumerate() {
                let at = (offset + i as u64).checked_sub(*start);
                if let Some(value) = at.and_then(|at| bytes.get(at as usize)) {
                    *byte = *value;
                }
            }
        }
        Ok(())
    }
}

/// A cubin moved apart: its bytes at the start, its headers at the end of a file of 2 GiB.
#[test]
fn headers_of_a_2_gib_file_touch_kilobytes() {
    let bytes = common::bytes("nvidia/cubin/vadd.sm_90a.13.0.cubin");
    let opened = Document::open(Source::memory(bytes.clone()));
    let elf = opened.elf().unwrap();
    let table = elf.section_table.unwrap().span();
    let headers = bytes[table.offset as usize..table.end() as usize].to_vec();
    let size = 2 << 30;
    let place = size - headers.len() as u64;
    let mut start = bytes[..table.offset as usize].to_vec();
    start[40..48].copy_from_slice(&place.to_le_bytes()); // e_shoff
    start[32..40].fill(0); // e_phoff, and no program headers
    start[56..58].fill(0);
    let read = Rc::new(Cell::new(0));
    let sparse = Sparse {
        size,
        parts: vec![(0, start), (place, headers)],
        read: read.clone(),
    };
    let mut document = Document::open(Source::sliced(sparse));
    document.check_all();
    assert_eq!(document.target(), opened.target());
    assert_eq!(document.table("kernels").unwrap().len(), 1);
    let covered: u64 = document.leaves().iter().map(|leaf| leaf.span.size).sum();
    assert_eq!(covered, size);
    // A page or two of 64 KiB at both ends; the gap of nearly 2 GiB is not looked into.
    assert!(read.get() < 300 << 10, "{} bytes were read", read.get());
}

#[test]
fn slices_and_memory_give_the_same_report() {
    for path in common::all(common::EVERY) {
        let bytes = common::bytes(&path);
        let sparse = Sparse {
            size: bytes.len() as u64,
            parts: vec![(0, bytes.clone())],
            read: Rc::default(),
        };
        let mut sliced = Document::open(Source::sliced(sparse));
        sliced.check_all();
        let mut whole = Document::open(Source::memory(bytes));
        whole.check_all();
        assert_eq!(common::report(&sliced), common::report(&whole), "{path}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_a_finding() {
    struct Broken;
    impl ReadAt for Broken {
        fn size(&self) -> u64 {
            1000
        }
        fn read_at(&self, _: u64, _: &mut [u8]) -> Result<(), String> {
            Err("the disk is on fire".into())
        }
    }
    let document = Document::open(Source::sliced(Broken));
    let findings = document.findings().all();
    assert!(
        findings
            .iter()
            .any(|d| d.message.contains("the disk is on fire")),
        "{findings:?}"
    );
    assert!(document.source().read(Span::new(0, 4)).is_err());
}
