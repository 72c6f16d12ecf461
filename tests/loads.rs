//! What the reference ABI says a loader refuses of code objects, and what processors have: each rule by a file that
//! breaks it in one place, and where it can be by one that is just within it. The limits are those that clang 22 and
//! LLVM's tables of processors give.

mod common;

use kernelscope::compatibility::Answer;
use kernelscope::device::Device;
use kernelscope::document::Document;
use kernelscope::error::{Diagnostic, Kind, Severity};
use kernelscope::rows::Cell;
use kernelscope::source::Source;

fn open(bytes: Vec<u8>) -> Document {
    let mut document = Document::open(Source::memory(bytes));
    document.check_all();
    document
}

fn put(bytes: &mut [u8], at: u64, new: &[u8]) {
    bytes[at as usize..at as usize + new.len()].copy_from_slice(new);
}

/// A fixture with other bytes at places that are found in it.
fn changed(path: &str, change: impl FnOnce(&Document, &mut Vec<u8>)) -> Document {
    let mut bytes = common::bytes(&format!("amdgpu/{path}"));
    let document = open(bytes.clone());
    change(&document, &mut bytes);
    open(bytes)
}

/// Where the descriptor of the first kernel is.
fn descriptor(document: &Document) -> u64 {
    let Device::CodeObject(object) = document.device() else {
        panic!("no code object");
    };
    object.kernels[0].descriptor_span.offset
}

/// What a loader refuses: how bad, what is found, and where; the verdict says so, too, if it is anything.
fn refused(document: &Document) -> Vec<(Severity, String, u64)> {
    let loader = |finding: &&Diagnostic| finding.kind == Kind::Loader;
    let found: Vec<_> = document
        .findings()
        .iter()
        .filter(loader)
        .map(|finding| {
            let found = finding.found.clone().unwrap_or_default();
            (finding.severity, found, finding.offset.expect("a place"))
        })
        .collect();
    let text = document.verdict().text;
    let says_so = text.starts_with("the reference loader refuses it");
    assert_eq!(says_so, !found.is_empty(), "{text}: {found:?}");
    found
}

/// With `value` in the descriptor's 32 bits at `at`.
fn with_word(path: &str, at: u64, value: u32) -> Vec<(Severity, String)> {
    let mut place = 0;
    let document = changed(path, |document, bytes| {
        place = descriptor(document) + at;
        put(bytes, place, &value.to_le_bytes());
    });
    let found = refused(&document).into_iter();
    found
        .map(|(severity, found, at)| {
            assert_eq!(at, place, "{path}");
            (severity, found)
        })
        .collect()
}

#[test]
fn lds_is_what_the_generation_has() {
    // LLVM 22, IsaInfo::getAddressableLocalMemorySize; clang 22, "local memory exceeds limit".
    for (path, limit) in [
        ("own/full_gfx6.gfx600.v4.co", 32_768),
        ("own/full_gfx6.gfx701.v5.co", 65_536),
        ("own/full_gfx6.gfx803.v5.co", 65_536),
        ("own/axpy.gfx900.v4.co", 65_536),
        ("own/axpy.gfx942.v5.co", 65_536),
        ("own/axpy.gfx950-sramecc+.v5.co", 163_840),
        ("own/axpy.gfx1030.v4.co", 65_536),
        ("own/axpy.gfx1100.v5.co", 65_536),
        ("own/axpy.gfx1200.v5.co", 65_536),
        ("own/axpy.gfx1250.v5.co", 327_680),
    ] {
        // The reference ABI's limit of 511 × 512 bytes is less than what gfx1250 has.
        let within = match limit > 261_632 {
            true => vec![(Severity::Warning, limit.to_string())],
            false => vec![],
        };
        assert_eq!(with_word(path, 0, limit), within, "{path}");
        let past = limit + 1;
        let expected = [(Severity::Error, past.to_string())];
        assert_eq!(with_word(path, 0, past), expected, "{path}");
    }
    assert_eq!(with_word("own/axpy.gfx1250.v5.co", 0, 261_632), []);
    // Where no processor is known, that limit is the only one.
    for (bytes, findings) in [(261_632_u32, 1), (261_633, 2)] {
        let document = changed("mal/hdr-mach-unknown.co", |document, all| {
            put(all, descriptor(document), &bytes.to_le_bytes());
        });
        assert_eq!(refused(&document).len(), findings, "{bytes}");
    }
}

#[test]
fn scratch_is_what_a_wavefront_can_have() {
    // clang 22: "stack frame size (…) exceeds limit (…)"; what exceeds the limit of 64 lanes is a warning for 32.
    for (path, limit, of_wave64) in [
        ("own/axpy.gfx900.v4.co", 131_056, 131_056),
        ("own/axpy.gfx942.v5.co", 131_056, 131_056),
        ("own/axpy.gfx1030.v5.wavefrontsize64.co", 131_056, 131_056),
        ("own/axpy.gfx1030.v4.co", 262_112, 131_056),
        ("own/tile.gfx1100.v5.wavefrontsize64.co", 131_068, 131_068),
        ("own/axpy.gfx1100.v5.co", 262_136, 131_068),
        ("own/axpy.gfx1200.v5.co", 2_097_144, 1_048_572),
        ("own/axpy.gfx1250.v5.co", 2_097_144, 1_048_572),
    ] {
        assert_eq!(with_word(path, 4, of_wave64), [], "{path}");
        if limit > of_wave64 {
            let expected = [(Severity::Warning, limit.to_string())];
            assert_eq!(with_word(path, 4, limit), expected, "{path}");
        }
        let past = limit + 1;
        let expected = [(Severity::Error, past.to_string())];
        assert_eq!(with_word(path, 4, past), expected, "{path}");
    }
}

#[test]
fn a_target_that_a_loader_does_not_know_is_refused() {
    // e_flags is at 0x30, the ABI's version at 8.
    let vadd = |at, new: &[u8]| {
        refused(&changed("out/vadd.gfx906.v5.co", |_, all| {
            put(all, at, new)
        }))
    };
    let error = |found: &str| vec![(Severity::Error, found.to_owned(), 0x30)];
    assert_eq!(vadd(0x30, &[0xfe]), error("EF_AMDGPU_MACH 0xfe"));
    assert_eq!(vadd(0x30, &[0]), error("EF_AMDGPU_MACH 0x0"));
    assert_eq!(vadd(0x30, &[0x54]), error("V5"));
    let generic = |at, new: &[u8]| {
        refused(&changed("out/vadd.gfx11-generic.v6.co", |_, all| {
            put(all, at, new)
        }))
    };
    assert_eq!(generic(0x30, &[0x54]), []);
    assert_eq!(generic(0x33, &[0]), error("0"));
    assert_eq!(generic(8, &[3]), error("V5"));
    assert_eq!(generic(8, &[1]), error("V3"));
}

/// The relocation's entry, if its table has entries of that many bytes.
fn entry(document: &Document, row: u64) -> u64 {
    let table = document.table("relocations").expect("relocations");
    table.place(row).expect("a place").offset
}

#[test]
fn relocations_other_than_rel64_with_an_addend_are_refused() {
    // llvm-readelf: 14 dynamic relocations of 24 bytes in one section, 10 R_AMDGPU_RELATIVE64 and 4 R_AMDGPU_ABS64.
    const PATH: &str = "out/indirect.gfx90a.v5.co";
    const REL64: u32 = 5;
    let all_rel64 = |document: &Document, all: &mut Vec<u8>| {
        let symbol = entry(document, 10) as usize + 12;
        let symbol = symbol..symbol + 4;
        for row in 0..14 {
            put(all, entry(document, row) + 8, &REL64.to_le_bytes());
            // The symbol of a R_AMDGPU_ABS64: the others have none.
            all.copy_within(symbol.clone(), entry(document, row) as usize + 12);
        }
    };
    assert_eq!(refused(&changed(PATH, all_rel64)), []);
    // Each other kind that there is, and one that nobody knows.
    for (kind, name) in [
        (0_u32, "R_AMDGPU_NONE"),
        (3, "R_AMDGPU_ABS64"),
        (4, "R_AMDGPU_REL32"),
        (11, "R_AMDGPU_REL32_HI"),
        (13, "R_AMDGPU_RELATIVE64"),
        (99, "type 99"),
    ] {
        let mut place = 0;
        let document = changed(PATH, |document, all| {
            all_rel64(document, all);
            place = entry(document, 7);
            put(all, place + 8, &kind.to_le_bytes());
        });
        let expected = [(Severity::Warning, name.to_owned(), place)];
        assert_eq!(refused(&document), expected);
    }
    // No symbol; 8 bytes of which the image has 7, as .bss, the last section that llvm-readelf says it has, ends at 0x5d80;
    // a byte of .dynamic, which lies between held sections but is not held.
    for (at, value) in [(12, 0), (0, 0x5d79), (0, 0x3c60)] {
        let mut place = 0;
        let document = changed(PATH, |document, all| {
            all_rel64(document, all);
            place = entry(document, 7);
            put(all, place + at, &u32::to_le_bytes(value));
        });
        let found = refused(&document);
        let found: Vec<_> = found
            .iter()
            .map(|(severity, _, at)| (*severity, *at))
            .collect();
        assert_eq!(found, [(Severity::Warning, place)], "{value:#x}");
        let patches = document.patches().expect("patches");
        assert!(!patches.all()[7].is_applied());
    }
    // Addends in the patched bytes: SHT_REL, whose entries have 16 bytes. The size is that of two now.
    let document = changed(PATH, |document, all| {
        all_rel64(document, all);
        let elf = document.elf().expect("an ELF file");
        let section = elf.section_named(".rela.dyn").expect("the section");
        put(all, section.header + 4, &9_u32.to_le_bytes());
        put(all, section.header + 32, &16_u64.to_le_bytes());
        put(all, section.header + 56, &16_u64.to_le_bytes());
    });
    let found = refused(&document);
    let found: Vec<_> = found.iter().map(|(_, found, _)| found.as_str()).collect();
    assert_eq!(found, ["R_AMDGPU_REL64 without an addend of its own"]);
    // A relocation behind the image.
    let mut place = 0;
    let document = changed(PATH, |document, all| {
        all_rel64(document, all);
        place = entry(document, 7);
        put(all, place, &0xffff_f000_u64.to_le_bytes());
    });
    let found = refused(&document);
    assert!(
        !found.is_empty() && found.iter().all(|(.., at)| *at == place),
        "{found:?}"
    );
}

#[test]
fn what_a_kernel_names_lies_in_the_image() {
    // The symbol's value is 8 bytes into its entry; it is there twice, in .symtab and .dynsym.
    for value in [0_u64, 0x7f0, 1 << 20, u64::MAX] {
        let document = changed("out/vadd.gfx906.v5.co", |document, all| {
            let symbols = document.table("symbols").expect("symbols");
            for row in 0..symbols.len() {
                if symbols.cell(row, "name") == Cell::from("vadd.kd") {
                    let at = symbols.place(row).expect("a place").offset + 8;
                    put(all, at, &value.to_le_bytes());
                }
            }
        });
        let found = refused(&document);
        let is_error = found
            .iter()
            .all(|(severity, ..)| *severity == Severity::Error);
        assert!(is_error && !found.is_empty(), "{value:#x}: {found:?}");
    }
    // kernel_code_entry_byte_offset.
    for entry in [-0x1000, 0x10_0000, i64::MIN, i64::MAX] {
        let mut place = 0;
        let document = changed("out/vadd.gfx906.v5.co", |document, all| {
            place = descriptor(document) + 16;
            put(all, place, &entry.to_le_bytes());
        });
        let found = refused(&document);
        let found: Vec<_> = found
            .iter()
            .map(|(severity, _, at)| (*severity, *at))
            .collect();
        assert_eq!(found, [(Severity::Error, place)], "{entry:#x}");
    }
}

#[test]
fn an_image_of_more_than_48_bits_is_refused() {
    // The last section that is held, moved so that the image, which begins at its first one, ends just there or just behind it.
    for (past, is_refused) in [(0, false), (0x1000, true)] {
        let document = changed("out/indirect.gfx90a.v5.co", |document, all| {
            let elf = document.elf().expect("an ELF file");
            let last = elf.image.pieces.last().expect("a piece");
            let section = elf.section(last.owner).expect("a section");
            let end = (1_u64 << 48) + elf.image.address + past;
            let align = section.align.max(1);
            put(
                all,
                section.header + 16,
                &((end - section.size) / align * align).to_le_bytes(),
            );
        });
        let findings = document.findings();
        let mut limit = findings.iter().filter(|finding| {
            let expected = finding.expected.as_deref();
            expected == Some("at most 0x1000000000000") && finding.kind == Kind::Loader
        });
        assert_eq!(limit.next().is_some(), is_refused, "{findings:?}");
    }
}

#[test]
fn without_section_headers_the_segments_are_the_image() {
    // p_memsz of the last PT_LOAD: the image begins at address 0, and ends just there or just behind it.
    for (past, is_refused) in [(0, false), (4, true)] {
        let document = changed("out/indirect.gfx90a.v5.co", |document, all| {
            let segments = &document.elf().expect("an ELF file").segments;
            let last = segments.iter().rfind(|s| s.is_load()).expect("a segment");
            let size = (1_u64 << 48) + past - last.virtual_address;
            put(all, last.header + 40, &size.to_le_bytes());
            all[40..48].fill(0); // e_shoff
            all[58..64].fill(0); // e_shentsize, e_shnum, e_shstrndx
        });
        let elf = document.elf().expect("an ELF file");
        assert_eq!(elf.main_image().end, (1 << 48) + past);
        let limit = document.findings().iter().any(|finding| {
            let expected = finding.expected.as_deref();
            expected == Some("at most 0x1000000000000") && finding.kind == Kind::Loader
        });
        assert_eq!(limit, is_refused);
    }
}

#[test]
fn code_runs_on_its_processor_in_its_mode() {
    let answer = |document: &Document, gpu: &str| {
        let gpu = document
            .device()
            .runs_on(gpu)
            .unwrap_or_else(|| panic!("no GPU {gpu}"));
        (gpu.runs.answer, gpu.runs.reason)
    };
    let is = |path: &str, gpu: &str| answer(&changed(path, |_, _| {}), gpu);
    use Answer::{Depends, No, Yes};
    for (path, gpu, expected) in [
        ("out/vadd.gfx906.v5.co", "gfx906", Yes),
        ("out/vadd.gfx906.v5.co", "gfx906:sramecc-:xnack+", Yes),
        ("out/vadd.gfx906.v5.co", "gfx908", No),
        ("own/axpy.gfx90a-xnack+.v5.co", "gfx90a:xnack+", Yes),
        ("own/axpy.gfx90a-xnack+.v5.co", "gfx90a:xnack-", No),
        ("own/axpy.gfx90a-xnack+.v5.co", "gfx90a", Depends),
        (
            "own/axpy.gfx908-sramecc+-xnack-.v4.co",
            "gfx908:sramecc+:xnack-",
            Yes,
        ),
        (
            "own/axpy.gfx908-sramecc+-xnack-.v4.co",
            "gfx908:sramecc-:xnack-",
            No,
        ),
        (
            "own/axpy.gfx908-sramecc+-xnack-.v4.co",
            "gfx908:sramecc+",
            Depends,
        ),
        // V3 marks what has to be on; without the mark it has to be off.
        (
            "own/axpy.gfx1010-xnack+.v3.llvm13.co",
            "gfx1010:xnack+",
            Yes,
        ),
        ("own/axpy.gfx1010-xnack+.v3.llvm13.co", "gfx1010:xnack-", No),
        // V2's notes have another number with XNACK.
        ("out/vadd.gfx900.v2.llvm13.co", "gfx900:xnack+", Yes),
        ("out/vadd.gfx900.v2.llvm13.co", "gfx900:xnack-", No),
        ("own/axpy.gfx9-generic-xnack-.v6.co", "gfx90c:xnack-", Yes),
        ("own/axpy.gfx9-generic-xnack-.v6.co", "gfx90c:xnack+", No),
        ("own/axpy.gfx9-generic-xnack-.v6.co", "gfx908", No),
        ("own/axpy.gfx12-generic.v6.co", "RX 9070 GRE", Yes),
        ("own/axpy.gfx12-generic.v6.co", "gfx1250", No),
        ("out/relocs.gfx942.v5.o", "MI300X", Depends),
        ("own/mesa.gfx803.mesa.co", "gfx803", Depends),
        ("own/shader.gfx1030.pal.co", "gfx1030", Depends),
        ("mal/hdr-mach-unknown.co", "gfx906", No),
    ] {
        let found = is(path, gpu);
        assert_eq!(found.0, expected, "{path} on {gpu}: {}", found.1);
    }
    let generic =
        |at, new: &[u8]| changed("out/vadd.gfx11-generic.v6.co", |_, all| put(all, at, new));
    let why = (No, "generic processors need code object V6".to_owned());
    assert_eq!(answer(&generic(8, &[3]), "gfx1100"), why);
    let why = (No, "the generic processor has no version".to_owned());
    assert_eq!(answer(&generic(0x33, &[0]), "gfx1100"), why);
    // gfx950 has 160 KiB of LDS, gfx942 64: both run gfx9-4-generic's code.
    let lds = changed("own/names.gfx9-4-generic.v6.co", |document, all| {
        put(all, descriptor(document), &100_000_u32.to_le_bytes());
    });
    assert_eq!(answer(&lds, "gfx950").0, Yes);
    let (answer, reason) = answer(&lds, "gfx942");
    assert_eq!(answer, Depends);
    assert!(
        reason.contains("65536") && reason.contains("100000"),
        "{reason}"
    );
}

#[test]
fn code_runs_where_llvm_says_that_it_does() {
    // The file's own target, in whatever mode it leaves open, is the only processor that it runs on.
    for path in common::all(&["amdgpu/out", "amdgpu/own"]) {
        let document = common::open(&path);
        let Device::CodeObject(object) = document.device() else {
            continue;
        };
        let own = object.processor.expect("a processor");
        for gpu in document.device().gpu_list().expect("GPUs").0 {
            let name = gpu.name.split(':').next().expect("a name");
            let is_own = own.name == name || own.members.contains(&name);
            assert!(
                is_own || gpu.runs.answer == Answer::No,
                "{path} on {}",
                gpu.name
            );
        }
        let target = object.target.as_deref().expect("a target");
        if let Some(gpu) = document.device().runs_on(target) {
            assert_ne!(gpu.runs.answer, Answer::No, "{path}");
        }
    }
}
