//! What is promised of cubins. Expected values are those that the vendor's tools print (`fixtures/facts.json`),
//! or follow from the reference ABI's rules for files made here.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::made::{Made, attribute, bank, code, info, make};
use kernelscope::elf::{Elf, Part, Section};
use kernelscope::error::{Diagnostics, Kind, Severity};
use kernelscope::nvidia::info::Entries;
use kernelscope::nvidia::{self, Cubin, Kernel};
use kernelscope::record::{Field, Raw, Record};
use kernelscope::rows::{Cell, Unit};
use kernelscope::source::Source;
use kernelscope::span::Span;
use serde_json::{Map, Value, json};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(directory().join("nvidia/cubin").join(name)).unwrap()
}

/// What the tools say of each cubin, by file.
fn facts() -> Map<String, Value> {
    common::facts("cubins")
}

struct File {
    elf: Elf,
    cubin: Cubin,
    findings: Diagnostics,
}

fn open(bytes: Vec<u8>) -> File {
    let mut findings = Diagnostics::default();
    let source = Source::memory(bytes);
    let elf = Elf::open(&source, |_| &nvidia::DIALECT, &mut findings).unwrap();
    let cubin = Cubin::open(&elf, &mut findings);
    File {
        elf,
        cubin,
        findings,
    }
}

impl File {
    fn section(&self, name: &str) -> &Section {
        let found = self.elf.section_named(name);
        found.unwrap_or_else(|| panic!("no section {name}"))
    }

    fn kernel(&self, name: &str) -> &Kernel {
        let mut kernels = self.cubin.kernels.iter();
        kernels
            .find(|kernel| kernel.name == name)
            .unwrap_or_else(|| panic!("no kernel {name}"))
    }

    /// The records of a section, one behind the other.
    fn records(&self, section: &Section) -> Vec<Record> {
        let span = self.elf.stored(section);
        let mut records = Vec::new();
        let mut at = span.offset;
        while at < span.end() {
            let own = self.cubin.record_in(&self.elf, section, at).unwrap();
            let record = own.or_else(|| {
                let part = Part::Section(section.index);
                self.elf.record_in(part, at).unwrap()
            });
            let Some(record) = record else { break };
            assert_eq!(
                record.span.offset, at,
                "{} in {}",
                record.name, section.name
            );
            at = record.span.end();
            records.push(record);
        }
        records
    }

    /// Findings of a kind whose message has `words`: offset and context.
    fn found(&self, kind: Kind, words: &str) -> Vec<(u64, String)> {
        let all = self.findings.iter();
        all.filter(|d| d.kind == kind && d.message.contains(words))
            .map(|d| (d.offset.unwrap(), d.context.clone().unwrap_or_default()))
            .collect()
    }

    fn check(mut self) -> Self {
        self.cubin.check(&self.elf, &mut self.findings);
        self
    }
}

/// Every fixture, with what the tools say of it.
fn fixtures() -> impl Iterator<Item = (String, File, Value)> {
    facts().into_iter().map(|(path, facts)| {
        let bytes = fs::read(directory().join(&path)).unwrap();
        (path, open(bytes), facts)
    })
}

#[test]
fn target_and_toolkit_are_the_tools() {
    for (path, file, facts) in fixtures() {
        let sm = facts["sm"].as_str().unwrap();
        // The tool does not tell an architecture of a family from others: the command line in the note does.
        let target = file.cubin.target.trim_end_matches('f');
        assert_eq!(target, format!("sm_{sm}"), "{path}");
        assert!(path.contains(&format!(".{}.", file.cubin.target)), "{path}");
        assert_eq!(file.cubin.toolkit.as_deref(), facts["toolkit"].as_str());
    }
    // The architecture of the PTX, which cuobjdump prints of the note and nvdisasm of e_flags.
    for (name, virtual_sm) in [
        ("vadd.sm_120.13.5.cubin", 50),
        ("vadd.sm_100a.12.8.cubin", 50),
        ("multi.sm_120.13.5.nvcc-lineinfo.cubin", 120),
        ("vadd.sm_35.11.8.cubin", 35),
        ("mma.sm_80.11.8.cubin", 80),
    ] {
        let file = open(fixture(name));
        assert_eq!(file.cubin.virtual_sm, Some(virtual_sm), "{name}");
    }
    let file = open(fixture("calls.sm_89.13.5.rdc.cubin"));
    let facts = file.cubin.facts();
    assert_eq!(facts, ["CUDA 13.5", "relocatable", "compute_50"]);
    assert_eq!(file.cubin.options.as_deref(), Some("-arch sm_89 -c"));
}

#[test]
fn a_family_target_is_told_by_the_command_line() {
    let name = "vadd.sm_120.13.5.cubin";
    assert_eq!(open(fixture(name)).cubin.target, "sm_120");
    // The note says "-arch sm_120 ", with room for a letter.
    let mut bytes = fixture(name);
    let words = b"-arch sm_120 ";
    let at = bytes.windows(words.len()).position(|w| w == words).unwrap();
    bytes[at + words.len() - 1] = b'f';
    let file = open(bytes);
    assert_eq!(file.cubin.target, "sm_120f");
    assert_eq!(file.cubin.variant, Some('f'));
}

#[test]
fn kernels_have_the_tools_figures() {
    let mut compared = 0;
    for (path, file, facts) in fixtures() {
        // The tool has no figures for some cubins of references to textures: "elf section not found".
        let functions = facts["functions"].as_object();
        let Some(functions) = functions.filter(|functions| !functions.is_empty()) else {
            assert!(
                ["texref", "textures", "samplers"]
                    .iter()
                    .any(|name| path.contains(name))
            );
            continue;
        };
        for (name, figures) in functions {
            let kernel = file.kernel(name);
            let banks: Map<String, Value> = kernel
                .banks
                .iter()
                .filter(|bank| {
                    figures["constant_bytes"]
                        .get(bank.index.to_string())
                        .is_some()
                })
                .map(|bank| (bank.index.to_string(), bank.bytes.into()))
                .collect();
            // What no bound is known of, the tool calls UNKNOWN.
            let stack = Some(kernel.stack_bytes).filter(|&bytes| bytes != u32::MAX);
            let mut ours = json!({
                "registers": kernel.registers,
                "stack_bytes": stack,
                "shared_bytes": kernel.shared_bytes,
                "local_bytes": kernel.local_bytes.unwrap_or(0),
                "constant_bytes": banks,
                "textures": kernel.textures,
                "surfaces": kernel.surfaces,
                "samplers": kernel.samplers,
            });
            // Of some device functions the tool prints 0 registers where the attribute has more.
            if !kernel.entry_point && figures["registers"] == 0 {
                ours["registers"] = 0.into();
            }
            // The tool counts what REL sections patch and not what RELA sections do, which newer toolkits write.
            let relocations = facts["relocations"].as_object().unwrap();
            let has_rela = relocations
                .keys()
                .any(|name| name.starts_with(".rela.") && name.contains(".sample"));
            if has_rela {
                for what in ["textures", "surfaces", "samplers"] {
                    assert_eq!(figures[what], 0, "{name} of {path}");
                    ours[what] = 0.into();
                }
            }
            assert_eq!(&ours, figures, "{name} of {path}");
            compared += 1;
        }
        assert_eq!(file.cubin.kernels.len(), functions.len(), "{path}");
    }
    assert!(compared > 150, "{compared} functions only");
}

#[test]
fn textures_surfaces_and_samplers_are_those_of_the_source() {
    // What own-src has in its kernels, however the toolkit patches them in.
    for (path, file, _) in fixtures() {
        let expected = match path.rsplit('/').next().unwrap().split('.').next().unwrap() {
            "textures" => (2, 1, 0),
            "samplers" => (1, 1, 1),
            "texref" => (1, 1, 0),
            _ => (0, 0, 0),
        };
        for kernel in &file.cubin.kernels {
            let found = (kernel.textures, kernel.surfaces, kernel.samplers);
            assert_eq!(found, expected, "{} of {path}", kernel.name);
        }
    }
}

#[test]
fn the_stack_of_calls_is_what_the_linker_makes_of_it() {
    let open = |name: &str| open(common::bytes(&format!("nvidia/own/{name}")));
    for gpu in ["sm_75", "sm_86", "sm_120"] {
        // nvlink writes the stack of a kernel with all it calls into the cubin that it makes.
        let parts = open(&format!("calls.{gpu}.13.5.c.cubin"));
        let linked = open(&format!("calls.{gpu}.13.5.nvlink.cubin"));
        for name in ["chain", "indirect", "recursive"] {
            let stack = parts.kernel(name).call_stack.unwrap();
            let theirs = linked.kernel(name).stack_bytes;
            let expected = Some(theirs).filter(|&bytes| bytes != u32::MAX);
            assert_eq!(stack.bytes, expected, "{name} for {gpu}");
            assert_eq!(stack.is_recursive, name == "recursive");
            assert_eq!(stack.is_indirect, name == "indirect");
            assert!(!stack.is_open, "{name} for {gpu}");
            assert_eq!(
                linked.kernel(name).call_stack,
                Some(stack),
                "{name} for {gpu}"
            );
        }
    }
    // `helper` calls a function of another file.
    let stack = open("link.sm_110a.13.5.c.cubin")
        .kernel("linked")
        .call_stack;
    assert!(stack.unwrap().is_open);
}

#[test]
fn calls_are_those_of_the_source() {
    let file = open(common::bytes("nvidia/own/calls.sm_86.13.5.c.cubin"));
    let callees = |name: &str| -> Vec<(String, &str, bool)> {
        let callees = file.cubin.callees(&file.elf, file.kernel(name), 9);
        callees
            .into_iter()
            .map(|callee| {
                (
                    callee.name,
                    callee.relation.words(),
                    callee.kernel.is_some(),
                )
            })
            .collect()
    };
    assert_eq!(callees("chain"), [("middle".into(), "calls", true)]);
    assert_eq!(callees("middle"), [("leaf".into(), "calls", true)]);
    assert_eq!(callees("recursive"), [("again".into(), "calls", true)]);
    assert_eq!(callees("again"), [("again".into(), "calls", true)]);
    assert_eq!(callees("leaf"), []);
    // A 32-bit number of a 32-bit number.
    assert_eq!(
        callees("indirect"),
        [
            ("#ii".into(), "calls by a pointer to", false),
            ("leaf".into(), "takes the address of", true),
            ("middle".into(), "takes the address of", true),
        ]
    );
    // Where whole programs are compiled the functions lie in the kernels that call them.
    let file = open(common::bytes("nvidia/own/calls.sm_89.13.5.cubin"));
    let inner = file.kernel("chain").inner_functions(&file.elf, 9);
    let names: Vec<_> = inner
        .iter()
        .map(|function| function.name.as_str())
        .collect();
    assert!(
        names.contains(&"$chain$middle") && names.contains(&"$chain$leaf"),
        "{names:?}"
    );
    assert!(file.cubin.kernels.iter().all(|kernel| kernel.entry_point));
}

#[test]
fn links_to_a_wrong_section_are_repaired_and_found() {
    // ptxas 12.0 links sections to the fifth, which holds attributes; the symbols are in the third.
    let file = open(common::bytes("nvidia/own/axpy.sm_90.12.0.cubin"));
    let found = file.found(Kind::Format, "linked to others than the symbol table");
    assert_eq!(found.len(), 1);
    assert!(found[0].1.contains(".nv.info"), "{}", found[0].1);
    assert_eq!(file.findings.iter().count(), 1, "{:?}", file.findings);
    // As the other toolkits' cubins of the source have it.
    assert!(file.kernel("axpy").registers > 0);
    let table = &file.elf.relocation_tables[0];
    let relocation = file.elf.relocations(table).unwrap().get(0).unwrap();
    assert_eq!(
        file.elf.symbol_name(table, &relocation).as_deref(),
        Some("axpy")
    );
}

/// What a fixture's findings come to, without their number.
fn verdict(path: &str) -> String {
    let text = common::open(path).verdict().text;
    text.split(" · ").next().unwrap().to_owned()
}

#[test]
fn a_loader_minds_only_the_links_of_relocations_of_its_image() {
    // Rig_elf looks a relocation's symbol up in the table that its section links to. The only one of the first file is of
    // .debug_frame, which is not in the image; the second one's are of a constant bank.
    assert_eq!(verdict("nvidia/own/axpy.sm_90.12.0.cubin"), "loads");
    let path = "nvidia/own/textures.sm_80.12.0.cubin";
    assert_eq!(verdict(path), "the reference loader refuses it");
    let document = common::open(path);
    let mut findings = document.findings().iter();
    let found = findings.find(|f| {
        f.message
            .starts_with("the section is linked to none in which")
    });
    let found = found.unwrap();
    assert_eq!(found.kind, Kind::Loader);
    let context = found.context.as_deref().unwrap();
    assert!(context.starts_with(".rel.nv.constant0.sample"), "{context}");
}

#[test]
fn a_loader_refuses_sections_that_share_bytes_on_purpose() {
    // readelf -S: .nv_debug_ptx_txt and .nv.merc.nv_debug_ptx_txt are both at 0x56d.
    let path = "nvidia/own/axpy.sm_121.13.5.lineinfo.cubin";
    assert_eq!(verdict(path), "the reference loader refuses it");
    let document = common::open(path);
    let mut findings = document.findings().iter();
    let shared = findings
        .find(|f| f.message.contains("share 693 bytes"))
        .unwrap();
    assert_eq!(
        (shared.kind, shared.severity),
        (Kind::Loader, Severity::Warning)
    );
    assert!(shared.message.ends_with("on purpose"), "{}", shared.message);
    assert_eq!(shared.offset, Some(0x56d));
    // A file that is still to be linked is not for a loader.
    let document = common::open("nvidia/own/cluster.sm_120.13.5.c.cubin");
    let mut findings = document.findings().iter();
    assert!(findings.all(|f| f.severity == Severity::Note));
    // Nothing else of a cubin of Mercury is in its way.
    assert_eq!(verdict("nvidia/cubin/vadd.sm_120.13.5.cubin"), "loads");
}

#[test]
fn the_header_says_whose_file_it_is_and_what_kind() {
    let name = "vadd.sm_120.13.5.cubin";
    let abi = |file: &File| {
        number(&file.elf.header_record().unwrap(), "EI_OSABI")
            .1
            .unwrap()
    };
    let file = open(fixture(name));
    assert!(
        abi(&file).starts_with("ELFOSABI_CUDA_V2 (e_flags"),
        "{}",
        abi(&file)
    );
    assert!(file.found(Kind::UnknownValue, "EI_OSABI").is_empty());
    let changed = |at: usize, value: &[u8]| {
        let mut bytes = fixture(name);
        bytes[at..at + value.len()].copy_from_slice(value);
        open(bytes)
    };
    for os_abi in [0, 0x34, 0x40, 0xff] {
        let found = changed(7, &[os_abi]).found(Kind::UnknownValue, "EI_OSABI");
        assert_eq!(found, [(7, "ELF header, EI_OSABI".into())], "{os_abi:#x}");
    }
    for (e_type, words) in [
        (1, "relocatable"),
        (2, "executable"),
        (4, "core dump"),
        (0xff00, "EWP file"),
        (0x1234, "type 0x1234"),
    ] {
        let facts = changed(16, &u16::to_le_bytes(e_type)).cubin.facts();
        assert_eq!(facts[1], words, "{e_type:#x}");
    }
}

#[test]
fn relocations_that_no_loader_applies_are_listed() {
    // Those of Mercury sections no tool prints: they are RELA entries of the section that sh_info names.
    let document = common::open("nvidia/own/calls.sm_120.13.5.c.cubin");
    let elf = document.elf().unwrap();
    let others = document.table("other_relocations").unwrap();
    let sections = elf.sections.iter().filter(|s| s.kind == 0x7000_0082);
    let mut row = 0;
    for section in sections {
        let bytes = elf.source().read(section.span()).unwrap();
        for entry in bytes.chunks_exact(24) {
            let word = |at: usize| u64::from_le_bytes(entry[at..at + 8].try_into().unwrap());
            let cell = |key| others.cell(row, key);
            assert_eq!(cell("section_name"), section.name.as_str().into());
            assert_eq!(cell("offset"), word(0).into());
            assert_eq!(cell("type_id"), (word(8) as u32).into());
            assert_eq!(cell("symbol"), ((word(8) >> 32) as u32).into());
            assert_eq!(cell("addend"), Some(i128::from(word(16) as i64)).into());
            assert_eq!(cell("target"), section.info.into());
            assert_eq!(cell("image_offset"), Cell::None);
            assert_ne!(cell("symbol_name"), Cell::None);
            row += 1;
        }
    }
    assert!(row > 20);
    assert_eq!(others.len(), row);
    // cuobjdump -elf: 0x80 branches.const_opt.0.20 R_CUDA_CONST_FIELD21_38 0xffffffffffff8000
    let document = common::open("nvidia/own/branches.sm_75.13.5.nvlink.preserve-relocs.cubin");
    let section = document.elf().unwrap();
    let section = section
        .section_named(".nv.resolvedrela.text.branches")
        .unwrap();
    let record = &document.locate(section.offset + 4 * 24).records[0];
    assert_eq!(number(record, "r_offset").0, 0x80);
    assert_eq!(
        number(record, "r_type").1.as_deref(),
        Some("R_CUDA_CONST_FIELD21_38")
    );
    assert_eq!(
        number(record, "r_sym").1.as_deref(),
        Some("branches.const_opt.0.20")
    );
    assert_eq!(record.field("r_addend").unwrap().value_text(), "-32768");
    // nvlink has applied them: they are not among what a loader writes.
    let patches = document.table("patches/0").unwrap();
    assert_eq!(
        patches.len(),
        6,
        "two of .rel.text.branches, four of .rela.text.branches"
    );
}

/// A fixture opened and checked after `change`, which is given the offset of `section` in it.
fn changed(path: &str, section: &str, change: impl FnOnce(&mut [u8], usize)) -> File {
    let mut bytes = common::bytes(path);
    let at = open(bytes.clone()).section(section).offset as usize;
    change(&mut bytes, at);
    open(bytes).check()
}

/// The one warning of the kind of `file` that has `words`: its offset, and what was expected and found.
fn warning(file: &File, words: &str) -> (u64, String, String) {
    let mut all = file.findings.iter().filter(|f| f.message.contains(words));
    let found = all
        .next()
        .unwrap_or_else(|| panic!("{words}: {:?}", file.findings));
    assert!(all.next().is_none(), "{words}: {:?}", file.findings);
    assert_eq!(
        (found.severity, found.kind),
        (Severity::Warning, Kind::Format)
    );
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    (
        found.offset.unwrap(),
        text(&found.expected),
        text(&found.found),
    )
}

#[test]
fn relocations_of_mercury_that_are_resolved_are_listed() {
    // nvlink 13.5 --preserve-relocs writes them as entries of 24 bytes, linked to .nv.merc.symtab, with the type
    // 0x70000088: those that the fixture has are made such.
    let path = "nvidia/own/calls.sm_120.13.5.c.cubin";
    let listed = |bytes: Vec<u8>| {
        let document = kernelscope::Document::open(Source::memory(bytes));
        document.table("other_relocations").unwrap().len()
    };
    let mut bytes = common::bytes(path);
    let before = listed(bytes.clone());
    let file = open(bytes.clone());
    let sections = file.elf.sections.iter().filter(|s| s.kind == 0x7000_0082);
    for section in sections {
        let at = section.header as usize + 4;
        bytes[at..at + 4].copy_from_slice(&0x7000_0088_u32.to_le_bytes());
    }
    assert_eq!(listed(bytes), before);
    assert!(before > 20);
}

#[test]
fn damage_that_no_loader_minds_is_found_where_it_is() {
    // An attribute of .nv.compat says to be 0xffff bytes long: the section is cut off there.
    let compat = "nvidia/own/axpy.sm_103f.13.5.cubin";
    let mut place = 0;
    let file = changed(compat, ".nv.compat", |bytes, at| {
        place = at as u64;
        bytes[at] = 4;
        bytes[at + 2..at + 4].fill(0xff);
    });
    let (at, _, size) = warning(&file, "runs past the end of its section");
    assert_eq!((at, size.as_str()), (place, "65539"), "a head of 4 bytes");
    let file = changed(compat, ".nv.merc.nv.info", |bytes, at| {
        place = at as u64;
        bytes[at] = 4;
        bytes[at + 2..at + 4].fill(0xff);
    });
    assert_eq!(warning(&file, "runs past the end of its section").0, place);
    // The strings of the note begin behind its head and name, at byte 24 of what it holds: 12 + 12 + 24.
    let file = changed(compat, ".note.nv.tkinfo", |bytes, at| {
        place = at as u64;
        bytes[at + 24 + 20..at + 24 + 24].copy_from_slice(&0x0fff_ffff_u32.to_le_bytes());
    });
    let (at, _, found) = warning(&file, "the string lies outside the note");
    assert_eq!((at, found.as_str()), (place + 44, "268435455"));
    let file = changed(compat, ".note.nv.cuinfo", |bytes, at| bytes[at + 24] = 9);
    assert_eq!(warning(&file, "the note has an unknown version").2, "9");
    let file = changed(compat, ".note.nv.cuinfo", |bytes, at| bytes[at + 8] = 0xe7);
    assert_eq!(warning(&file, "the note has an unknown type").2, "999");

    // nvlink's call graph: groups of pairs, each begun by 0 and a negative number.
    let calls = "nvidia/own/calls.sm_86.13.5.c.cubin";
    let pair = |bytes: &mut [u8], at: usize, numbers: [i32; 2]| {
        bytes[at..at + 4].copy_from_slice(&numbers[0].to_le_bytes());
        bytes[at + 4..at + 8].copy_from_slice(&numbers[1].to_le_bytes());
    };
    let file = changed(calls, ".nv.callgraph", |bytes, at| {
        place = at as u64;
        pair(bytes, at, [0, -5]);
    });
    let (at, _, found) = warning(&file, "the group is not known");
    assert_eq!((at, found.as_str()), (place, "-5"));
    let file = changed(calls, ".nv.callgraph", |bytes, at| pair(bytes, at, [0, 5]));
    assert_eq!(warning(&file, "the pair stands before any group").0, place);
    let file = changed(calls, ".nv.callgraph", |bytes, at| {
        pair(bytes, at + 8, [0, 5])
    });
    assert_eq!(warning(&file, "the pair is about no function").0, place + 8);
    let file = changed(calls, ".nv.prototype", |bytes, at| {
        place = at as u64;
        pair(bytes, at, [0xffff, 0x7fff_ffff]);
    });
    assert_eq!(
        warning(&file, "the prototype's function is missing").0,
        place
    );
    let outside = warning(&file, "the prototype lies outside the string table");
    assert_eq!(outside.0, place + 4);
    let action = "nvidia/own/axpy.sm_88.13.5.cubin";
    // Its entries follow 8 bytes that name the first one's type.
    let file = changed(action, ".nv.rel.action", |bytes, at| {
        place = at as u64 + 8;
        bytes[at + 8] = 0xee;
    });
    let (at, _, found) = warning(&file, "something unknown of its symbol");
    assert_eq!((at, found.as_str()), (place, "238"));
    let file = changed(action, ".nv.rel.action", |bytes, at| bytes[at] = 0xf0);
    assert_eq!(warning(&file, "an unknown type of relocation").0, place);
}

#[test]
fn parameters_past_the_end_of_their_bank_are_found() {
    // 16 bytes from 0x210 on end at 0x220.
    for (bytes, found) in [(0x220, 0), (0x21c, 1)] {
        let file = open(make(
            &[("k", 3, 0)],
            &[
                code("k", 16),
                info(".k", attribute(0x0a, &[0, 0x0010_0210])),
                bank("0.k", bytes),
            ],
        ));
        let found_here = file.found(Kind::Format, "past the end of constant bank 0");
        assert_eq!(found_here.len(), found);
        let attributes = file.section(".nv.info.k").offset;
        assert!(found_here.iter().all(|(offset, _)| *offset == attributes));
    }
}

#[test]
fn a_loader_minds_the_numbers_that_it_reads() {
    // Rig_elf reads every 64-bit field of section headers, that of index 0 as well, as an OCaml int, which ends at
    // 2^62 - 1, and symbols' values with their sign; of the header only e_shoff, and no program header.
    let path = "nvidia/cubin/vadd.sm_90.12.8.cubin";
    let bytes = common::bytes(path);
    let file = open(bytes.clone());
    let null = file.elf.sections[0].header as usize;
    let segment = file.elf.segments[0].header as usize;
    for (at, is_found) in [
        (null + 8, true),
        (null + 24, true),
        (null + 56, true),
        (24, false),           // e_entry
        (segment + 24, false), // p_paddr
    ] {
        let mut bytes = bytes.clone();
        bytes[at..at + 8].copy_from_slice(&(1_u64 << 63).to_le_bytes());
        let found = open(bytes).found(Kind::Loader, "greater than a loader accepts");
        assert_eq!(found.len(), usize::from(is_found), "{at:#x}");
        assert!(found.iter().all(|(offset, _)| *offset == at as u64));
    }
}

#[test]
fn implicit_addends_are_the_bits_that_the_types_patch() {
    // Lowest bit and number of bits, which the types' names say.
    let places = [
        ("R_CUDA_64", 0, 64),
        ("R_CUDA_G64", 0, 64),
        ("R_CUDA_FUNC_DESC_64", 0, 64),
        ("R_CUDA_32", 0, 32),
        ("R_CUDA_ABS32_20", 20, 32),
        ("R_CUDA_ABS32_LO_20", 20, 32),
        ("R_CUDA_ABS24_20", 20, 24),
        ("R_CUDA_ABS16_20", 20, 16),
        ("R_CUDA_ABS32_LO_32", 32, 32),
        ("R_CUDA_ABS32_HI_32", 32, 32),
        ("R_CUDA_ABS24_40", 40, 24),
        ("R_CUDA_FUNC_DESC32_LO_32", 32, 32),
    ];
    let mut compared = std::collections::BTreeSet::new();
    for path in common::all(&["nvidia/cubin", "nvidia/own"]) {
        let document = common::open(&path);
        let elf = document.elf().unwrap();
        let relocations = document.table("relocations").unwrap();
        for row in 0..relocations.len() {
            let text = |key| relocations.cell(row, key).text(Unit::Text).into_owned();
            let kind = text("type");
            let Some((name, lsb, width)) = places.iter().find(|(name, ..)| *name == kind) else {
                continue;
            };
            let number = |key| match relocations.cell(row, key) {
                Cell::Int(value) => value,
                other => panic!("{key} of {row} of {path}: {other:?}"),
            };
            let section = elf.section(number("section") as u32).unwrap();
            if section.kind != 9 {
                continue;
            }
            let target = elf.section(number("target") as u32).unwrap();
            let at = target.offset + number("offset") as u64;
            let word = elf
                .source()
                .read(kernelscope::span::Span::new(at, 8))
                .unwrap();
            let word = u64::from_le_bytes(word[..].try_into().unwrap());
            let expected = word >> lsb & (u64::MAX >> (64 - width));
            assert_eq!(number("addend"), expected.into(), "{kind} {row} of {path}");
            compared.insert(*name);
        }
    }
    assert!(compared.len() > 7, "{compared:?}");

    // Of the high half the reference ABI's loader adds the bits as they are. nvlink 13.5 puts those of other types in their
    // place: of 7 in the bits of R_CUDA_CONST_FIELD19_40 for a symbol at 0 it leaves 7, (0 + A) / 4.
    let path = "nvidia/own/calls.sm_75.13.5.c.cubin";
    let document = common::open(path);
    let elf = document.elf().unwrap();
    let code = elf.section_named(".text.indirect").unwrap().offset as usize;
    let entry = elf.section_named(".rel.text.indirect").unwrap().offset as usize;
    for (kind, lsb, field, addend) in [
        (0x38, 32, 5, 5),
        (0x39, 32, 5, 5),
        (0x47, 0, 5, 5 << 32),
        (0x40, 40, 7, 7 << 2),
        (0x4a, 40, 5, 5),
    ] {
        let mut bytes = common::bytes(path);
        let at = code + u64::from_le_bytes(bytes[entry..entry + 8].try_into().unwrap()) as usize;
        bytes[entry + 8..entry + 12].copy_from_slice(&u32::to_le_bytes(kind));
        bytes[at..at + 8].copy_from_slice(&(u64::from(field as u32) << lsb).to_le_bytes());
        let file = open(bytes);
        let mut tables = file.elf.relocation_tables.iter();
        let table = tables
            .find(|table| table.table.offset == entry as u64)
            .unwrap();
        let relocation = file.elf.relocations(table).unwrap().get(0).unwrap();
        assert_eq!(relocation.kind, kind);
        assert_eq!(
            file.elf.addend(table, &relocation),
            Some(addend),
            "{kind:#x}"
        );
    }
}

#[test]
fn bounds_of_the_block_and_the_cluster_are_the_sources() {
    for (path, file, _) in fixtures() {
        if path.contains("/bounds.") {
            assert_eq!(
                file.kernel("largest").max_threads,
                Some([128, 2, 1]),
                "{path}"
            );
            assert_eq!(
                file.kernel("required").required_threads,
                Some([32, 4, 2]),
                "{path}"
            );
            assert_eq!(file.kernel("registers").max_registers, Some(40), "{path}");
            // Four blocks of 256 threads leave 64 registers of 65,536 to each; nothing else is kept of the four.
            assert_eq!(file.kernel("largest").max_registers, Some(64), "{path}");
            let params = file.kernel("registers").params.as_ref().unwrap();
            let places: Vec<_> = params.iter().map(|p| (p.offset, p.size)).collect();
            assert_eq!(places, [(0, 8), (8, 16), (24, 1), (26, 2)], "{path}");
        }
        if path.contains("/cluster.") {
            assert_eq!(file.kernel("sized").cluster, Some([2, 2, 1]), "{path}");
            assert!(file.kernel("explicit").explicit_cluster, "{path}");
            assert_eq!(
                file.kernel("explicit").max_cluster_blocks,
                Some(8),
                "{path}"
            );
        }
        if path.contains("/large.") {
            let kernel = file.kernel("large");
            assert_eq!(kernel.params_bytes, 32_764, "{path}");
            let params = kernel.params.as_ref().unwrap();
            assert_eq!(
                (params[0].size, params[2].offset),
                (32_752, 32_760),
                "{path}"
            );
        }
        if path.contains("/tile.") {
            // The barriers are numbered 0 to 3. Static shared memory is 2048 + 516 bytes; from sm_100 on the
            // system's 1024 are in the kernel's section.
            let reserved = if file.cubin.sm >= 100 { 1024 } else { 0 };
            let kernel = file.kernel("tile");
            assert_eq!(kernel.barriers, 4, "{path}");
            assert_eq!(kernel.shared_bytes, 2564 + reserved, "{path}");
        }
    }
}

#[test]
fn entry_points_are_those_marked() {
    for (path, file, facts) in fixtures() {
        for symbol in facts["symbols"].as_array().unwrap() {
            let (name, kind) = (symbol[0].as_str().unwrap(), &symbol[3]);
            let mut kernels = file.cubin.kernels.iter();
            if let Some(kernel) = kernels.find(|k| kind == "FUNC" && k.name == name) {
                assert_eq!(
                    Some(kernel.entry_point),
                    symbol[5].as_bool(),
                    "{name} of {path}"
                );
                assert_eq!(Some(u64::from(kernel.section)), symbol[6].as_u64());
            }
        }
    }
}

#[test]
fn places_and_banks_follow_the_image() {
    // Sections one behind the other at multiples of 128: bank 2 of 8 bytes, three banks 0, three codes.
    let file = open(fixture("shmem.sm_75.12.8.cubin"));
    let both = file.kernel("_Z4bothPfi");
    let banks: Vec<_> = both
        .banks
        .iter()
        .map(|b| (b.index, b.offset, b.bytes))
        .collect();
    assert_eq!(banks, [(2, Some(0), 8), (0, Some(128), 364)]);
    assert_eq!((both.code_offset, both.code_bytes), (1280, 1152));
    assert_eq!((both.params_offset, both.params_bytes), (0x160, 12));
    // A section's barriers stand in its flags, 0x100006.
    assert_eq!(both.barriers, 1);
    // What .nv.constant3 holds is every kernel's; relocatable cubins' banks are not in the image.
    let file = open(fixture("consts.sm_90.13.0.rdc.cubin"));
    let banks: Vec<_> = file.kernel("_Z4polyPfi").banks.iter().collect();
    assert_eq!(banks.len(), 2);
    assert_eq!(
        (banks[0].index, banks[0].offset, banks[0].bytes),
        (3, None, 320)
    );
    assert_eq!(
        (banks[1].index, banks[1].offset, banks[1].bytes),
        (0, None, 540)
    );
}

#[test]
fn parameters_are_by_ordinal() {
    let file = open(fixture("consts.sm_35.11.8.cubin"));
    let kernel = file.kernel("_Z9structarg3BigscxPf4int2");
    let facts = &facts()["nvidia/cubin/consts.sm_35.11.8.cubin"];
    let section = format!(".nv.info.{}", kernel.name);
    let mut expected: Vec<_> = facts["attributes"][section.as_str()]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row[0] == "EIATTR_KPARAM_INFO")
        .map(|row| [&row[2]["Ordinal"], &row[2]["Offset"], &row[2]["Size"]].map(Value::as_u64))
        .collect();
    expected.sort();
    let params = kernel.params.as_ref().unwrap().iter();
    let ours: Vec<_> = params
        .map(|p| [p.ordinal, p.offset, p.size].map(|n| Some(n.into())))
        .collect();
    assert_eq!(ours.len(), 6);
    assert_eq!(ours, expected);
}

#[test]
fn the_largest_block_is_the_attributes() {
    let file = open(fixture("multi.sm_120.13.5.nvcc-lineinfo.cubin"));
    assert_eq!(file.kernel("_Z7boundedPih").max_threads, Some([1024, 1, 1]));
    assert_eq!(file.kernel("plain_name").max_threads, None);
}

/// The numbers of a value in the order in which they stand.
fn numbers(value: &Value, into: &mut Vec<u64>) {
    match value {
        Value::Number(number) => into.extend(number.as_u64()),
        Value::Array(values) => values.iter().for_each(|value| numbers(value, into)),
        Value::Object(fields) => fields.values().for_each(|value| numbers(value, into)),
        _ => {}
    }
}

#[test]
fn attributes_have_the_tools_names_formats_and_values() {
    let mut compared = 0;
    for (path, file, facts) in fixtures() {
        for kernel in &file.cubin.kernels {
            let section = format!(".nv.info.{}", kernel.name);
            let Some(rows) = facts["attributes"].get(section.as_str()) else {
                continue;
            };
            let ours: Vec<_> = kernel.attributes(&file.elf).iter().collect();
            let rows = rows.as_array().unwrap();
            assert_eq!(ours.len(), rows.len(), "{section} of {path}");
            for (attribute, row) in ours.iter().zip(rows) {
                let what = format!("{} of {section} of {path}", attribute.name);
                if row[0] != "unknown Attribute" {
                    assert_eq!(row[0], attribute.name, "{what}");
                }
                assert_eq!(row[1], format!("EIFMT_{}", attribute.format), "{what}");
                let value = serde_json::to_value(attribute).unwrap()["value"].take();
                match &row[2] {
                    // The tool prints the two halfwords as one number.
                    Value::Array(words) if attribute.name == "EIATTR_PARAM_CBANK" => {
                        assert_eq!(value["bank"], words[0]);
                        let place = words[1].as_u64().unwrap();
                        assert_eq!(value["offset"], place & 0xffff);
                        assert_eq!(value["size"], place >> 16);
                    }
                    Value::Array(expected) if expected.iter().all(Value::is_number) => {
                        let mut ours = Vec::new();
                        numbers(&value, &mut ours);
                        assert_eq!(&json!(ours), &json!(expected), "{what}");
                    }
                    Value::Object(fields) => {
                        for (name, expected) in fields.iter().filter(|(_, v)| v.is_number()) {
                            assert_eq!(&value[name.as_str()], expected, "{name} of {what}");
                        }
                    }
                    _ => {}
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "{compared} attributes only");
}

/// Whether a field is what the tool prints: a number, a name or a text; null where it knows no name.
fn says(field: &Field, expected: &Value) -> bool {
    let meaning = field.meaning.as_deref();
    match expected {
        Value::Null => matches!(meaning, None | Some("UNKNOWN")),
        Value::String(text) if field.kind == "text" => field.value_text() == *text,
        Value::String(name) => meaning.and_then(|m| m.split(" (").next()) == Some(name),
        Value::Number(number) if field.kind == "float" => {
            meaning.and_then(|m| m.parse().ok()) == number.as_f64()
        }
        expected => matches!(field.raw, Raw::Int(raw) if expected.as_u64() == Some(raw)),
    }
}

/// Holds an attribute's record against its row: name, format, value.
fn compare(record: &Record, row: &[Value], what: &str) {
    let what = format!("{} of {what}: {}", record.name, row[2]);
    if row[0] != "unknown Attribute" {
        assert_eq!(row[0], record.name, "{what}");
    }
    let format = record.field("format").unwrap().meaning.as_deref().unwrap();
    assert!(format.starts_with(row[1].as_str().unwrap()), "{what}");
    let is_value = |field: &&Field| match &format[..10] {
        "EIFMT_SVAL" => field.bits[1] >= 32 && field.kind != "reserved",
        "EIFMT_BVAL" => field.name == "byte",
        "EIFMT_HVAL" => field.name == "value",
        _ => false,
    };
    let fields: Vec<&Field> = record.fields.iter().filter(is_value).collect();
    let named = |name: &str| fields.iter().find(|field| field.name == name);
    match &row[2] {
        // The tool prints the two halfwords as one number, and no more of it.
        Value::Array(words) if row[0] == "EIATTR_PARAM_CBANK" => {
            let place = words[1].as_u64().unwrap();
            let expected = [words[0].clone(), json!(place & 0xffff), json!(place >> 16)];
            assert!(
                fields
                    .iter()
                    .zip(&expected)
                    .all(|(field, e)| says(field, e)),
                "{what}"
            );
        }
        Value::Array(rows) if rows.iter().any(Value::is_object) => {
            for (index, row) in rows.iter().enumerate() {
                for (name, expected) in row.as_object().unwrap() {
                    if let Value::Array(targets) = expected {
                        // The targets of a branch stand behind it, numbered by themselves.
                        let branch = format!("Number of targets({index})");
                        let at = fields
                            .iter()
                            .position(|field| field.name == branch)
                            .unwrap();
                        let ours = fields[at + 1..].iter().take(targets.len());
                        assert!(ours.zip(targets).all(|(field, e)| says(field, e)), "{what}");
                        continue;
                    }
                    let field = named(&format!("{name}({index})"));
                    let field = field.unwrap_or_else(|| panic!("no {name} in {what}"));
                    assert!(says(field, expected), "{name} of {what}");
                }
            }
            let last = format!("({})", rows.len());
            let more = fields
                .iter()
                .any(|f| f.name.ends_with(&last) && !f.name.starts_with("target"));
            assert!(!more, "{what}");
        }
        Value::Object(values) => {
            for (name, expected) in values {
                let field = named(name).unwrap_or_else(|| panic!("no {name} in {what}"));
                assert!(says(field, expected), "{name} of {what}");
            }
        }
        Value::Array(words) if fields.len() == 1 && words.len() > 1 => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            assert_eq!(
                fields[0].meaning.as_deref(),
                Some(&*words.join(" | ")),
                "{what}"
            );
        }
        // Of names that it does not have, the tool prints nothing.
        Value::Array(words) if words.is_empty() => {
            assert!(
                fields.iter().all(|field| says(field, &Value::Null)),
                "{what}"
            );
        }
        Value::Array(words) => {
            assert_eq!(fields.len(), words.len(), "{what}");
            assert!(
                fields.iter().zip(words).all(|(field, e)| says(field, e)),
                "{what}"
            );
        }
        other => panic!("{other} of {what}"),
    }
}

#[test]
fn attributes_say_what_the_tool_prints() {
    let mut compared = 0;
    for (path, file, facts) in fixtures() {
        for (section, rows) in facts["attributes"].as_object().unwrap() {
            let records = file.records(file.section(section));
            let rows = rows.as_array().unwrap();
            assert_eq!(records.len(), rows.len(), "{section} of {path}");
            for (record, row) in records.iter().zip(rows) {
                compare(
                    record,
                    row.as_array().unwrap(),
                    &format!("{section} of {path}"),
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "{compared} attributes only");
}

#[test]
fn attributes_that_no_fixture_has_say_what_the_tool_prints() {
    let facts = fs::read(directory().join("attributes.json")).unwrap();
    let facts: Value = serde_json::from_slice(&facts).unwrap();
    for row in facts["attributes"].as_array().unwrap() {
        let row = row.as_array().unwrap();
        let (section, digits) = (row[0].as_str().unwrap(), row[1].as_str().unwrap());
        let entry: Vec<u8> = (0..digits.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap())
            .collect();
        // The entry goes to the file's end, and becomes the section.
        let path = directory()
            .join("nvidia/own")
            .join(facts["files"][section].as_str().unwrap());
        let mut bytes = fs::read(path).unwrap();
        let index = open(bytes.clone()).section(section).index;
        let headers = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
        let header = headers as usize + index as usize * 64;
        let place = (bytes.len() as u64).next_multiple_of(8);
        bytes.resize(place as usize, 0);
        bytes[header + 24..header + 32].copy_from_slice(&place.to_le_bytes());
        bytes[header + 32..header + 40].copy_from_slice(&(entry.len() as u64).to_le_bytes());
        bytes.extend(&entry);
        let file = open(bytes);
        let records = file.records(file.section(section));
        assert_eq!(records.len(), 1, "{row:?}");
        assert!(records[0].gaps().is_empty(), "{row:?}");
        compare(&records[0], &row[2..], digits);
        // Code offsets lead to their bytes.
        let kernel = file
            .cubin
            .kernels
            .iter()
            .find(|k| section == format!(".nv.info.{}", k.name));
        let Some(kernel) = kernel else { continue };
        let code = file
            .elf
            .stored(file.section(&format!(".text.{}", kernel.name)));
        for field in &records[0].fields {
            let name = field
                .name
                .trim_end_matches(|c: char| c.is_ascii_digit() || "()".contains(c));
            if matches!(name, "offset" | "target") && record_is_of_code(&records[0]) {
                let Raw::Int(raw) = field.raw else { panic!() };
                assert_eq!(
                    field.target,
                    Some(Span::new(code.offset + raw, 1)),
                    "{row:?}"
                );
            }
        }
        let attribute = kernel.attributes(&file.elf).get(0).unwrap();
        assert_eq!(attribute.name, records[0].name);
    }
}

/// Whether the offsets in an attribute are of code.
fn record_is_of_code(record: &Record) -> bool {
    record.name.ends_with("_OFFSETS") || record.name == "EIATTR_ANNOTATIONS"
}

#[test]
fn records_cover_their_sections() {
    let mut covered = 0;
    for (path, file, facts) in fixtures() {
        for section in &file.elf.sections {
            let known = [
                ".nv.info",
                ".nv.compat",
                ".nv.callgraph",
                ".nv.prototype",
                ".nv.rel.action",
                ".nv.resolvedrela",
                ".nv.merc.nv.info",
                ".nv.merc.nv.callgraph",
                ".nv.merc.rela",
                ".nv.merc.symtab",
            ];
            if !known.iter().any(|name| section.name.starts_with(name)) {
                continue;
            }
            let records = file.records(section);
            let size: u64 = records.iter().map(|record| record.span.size).sum();
            assert_eq!(size, section.size, "{} of {path}", section.name);
            for record in &records {
                assert!(record.gaps().is_empty(), "{} of {path}", record.name);
            }
            if let Some(rows) = facts["attributes"].get(section.name.as_str()) {
                let rows = rows.as_array().unwrap();
                assert_eq!(records.len(), rows.len());
                for (record, row) in records.iter().zip(rows) {
                    assert!(
                        row[0] == "unknown Attribute" || row[0] == record.name.as_str(),
                        "{} of {path}",
                        record.name
                    );
                }
            }
            covered += 1;
        }
    }
    assert!(covered > 100, "{covered} sections only");
}

fn number(record: &Record, field: &str) -> (u64, Option<String>) {
    let field = record.field(field).unwrap();
    let Raw::Int(raw) = field.raw else {
        panic!("{} is no number", field.name)
    };
    (raw, field.meaning.clone())
}

#[test]
fn records_say_what_their_numbers_mean() {
    let file = open(fixture("calls.sm_89.13.5.rdc.cubin"));
    // cuobjdump: function: _Z6callerPfi(0xe) register count: 24
    let info = &file.records(file.section(".nv.info"))[0];
    let (symbol, name) = number(info, "function");
    assert_eq!((symbol, name.as_deref()), (14, Some("_Z6callerPfi")));
    assert_eq!(number(info, "register count").0, 24);
    let symtab = file.section(".symtab");
    let target = info.field("function").unwrap().target.unwrap();
    assert_eq!(target.offset, symtab.offset + 14 * 24);
    // <0,-1> <13,11> <14,13> <14,15>
    let calls = file.records(file.section(".nv.callgraph"));
    assert_eq!(calls.len(), 7);
    assert_eq!(number(&calls[1], "caller").1.as_deref(), Some("_Z3midfi"));
    assert_eq!(number(&calls[1], "callee").1.as_deref(), Some("_Z4leaff"));
    assert_eq!(calls[0].field("mark").unwrap().value_text(), "-1");
    // <11,6(#ii)> <13,1(#iii)>
    let prototypes = file.records(file.section(".nv.prototype"));
    assert_eq!(number(&prototypes[0], "prototype"), (6, Some("#ii".into())));
    assert_eq!(
        number(&prototypes[1], "prototype"),
        (1, Some("#iii".into()))
    );
    // Tool Version: Cuda compilation tools, release 13.5, V13.5.37
    let note = file.section(".note.nv.tkinfo");
    let note = file
        .cubin
        .record_in(&file.elf, note, note.offset)
        .unwrap()
        .unwrap();
    let version = number(&note, "tki_toolVersion").1.unwrap();
    assert_eq!(version, "Cuda compilation tools, release 13.5, V13.5.37");
    assert_eq!(
        number(&note, "tki_toolOptions").1.unwrap().trim(),
        "-arch sm_89 -c"
    );
    let note = file.section(".note.nv.cuinfo");
    let note = file
        .cubin
        .record_in(&file.elf, note, note.offset)
        .unwrap()
        .unwrap();
    assert_eq!(number(&note, "nv_note_cuinfo_virt_sm").0, 50);
    assert_eq!(number(&note, "nv_note_cuinfo_toolVersion").0, 135);
    // An exit at 0x180 of the code.
    let info = file.records(file.section(".nv.info._Z6callerPfi"));
    let exits = info
        .iter()
        .find(|r| r.name == "EIATTR_EXIT_INSTR_OFFSETS")
        .unwrap();
    let exit = exits.field("offset(0)").unwrap();
    let code = file.section(".text._Z6callerPfi");
    assert_eq!(exit.target.unwrap().offset, code.offset + 0x180);
}

#[test]
fn relocation_actions_are_the_tools() {
    let file = open(fixture("vadd.sm_80.11.8.cubin"));
    let records = file.records(file.section(".nv.rel.action"));
    // R_CUDA_ABS55_16_34 : EIVALUE_SYM_KIND_ADDR,2,2,8,16,10,47,34
    let base = number(&records[0], "Base Relocation").1.unwrap();
    assert!(base.starts_with("R_CUDA_ABS55_16_34"), "{base}");
    let fields = records[1].fields.iter().map(|field| field.value_text());
    let fields: Vec<_> = fields.collect();
    assert_eq!(fields, ["0", "2", "2", "8", "16", "10", "47", "34"]);
    // R_CUDA_G8_0 : EIVALUE_SYM_KIND_GADDR; R_CUDA_FUNC_DESC_8_0 : EIVALUE_SYM_KIND_FDESC
    for (name, kind) in [
        ("R_CUDA_G8_0", "EIVALUE_SYM_KIND_GADDR"),
        ("R_CUDA_FUNC_DESC_8_0", "EIVALUE_SYM_KIND_FDESC"),
    ] {
        let record = records.iter().find(|r| r.name.ends_with(name)).unwrap();
        assert!(number(record, "Symbol Kind").1.unwrap().starts_with(kind));
    }
}

#[test]
fn headers_of_code_and_flags_say_what_nvidia_keeps_there() {
    let file = open(fixture("shmem.sm_75.12.8.cubin"));
    let index = file.section(".text._Z4bothPfi").index;
    let record = file.elf.section_record(index).unwrap().unwrap();
    // sh_flags 0x100006, sh_info 0x14000000 + 16: nvdisasm prints 20 registers, 1 barrier.
    assert_eq!(number(&record, "SHF_BARRIERS").0, 1);
    assert_eq!(number(&record, "SHI_REGISTERS").0, 20);
    let header = file.elf.header_record().unwrap();
    assert_eq!(number(&header, "EF_CUDA_SM").0, 75);
    assert_eq!(number(&header, "e_version").1.as_deref(), Some("CUDA 12.8"));
    let header = open(fixture("vadd.sm_120.13.5.cubin"));
    let header = header.elf.header_record().unwrap();
    assert_eq!(
        number(&header, "cuinfo").1.as_deref(),
        Some(".note.nv.cuinfo")
    );
}

#[test]
fn what_no_loader_applies_is_found() {
    let found = |name: &str, words: &str| open(fixture(name)).check().found(Kind::Loader, words);
    assert!(found("vadd.sm_120.13.5.cubin", "").is_empty());
    // Six relocations each of the halves of an address, and two of a type of their own.
    assert_eq!(
        found("globals.sm_61.11.8.cubin", "R_CUDA_ABS32_LO_20 (6").len(),
        1
    );
    assert_eq!(found("globals.sm_61.11.8.cubin", "R_CUDA_G64").len(), 2);
    // printf's vprintf is the driver's.
    let symbol = found(
        "printf_k.sm_88.13.2.nvcc.cubin",
        "does not hold the relocation's symbol",
    );
    assert_eq!(symbol.len(), 1);
    assert!(symbol[0].1.contains(".rel.nv.constant4"));
}

#[test]
fn checks_in_steps_find_what_one_step_finds() {
    for (path, mut file, _) in fixtures() {
        let mut all = Diagnostics::default();
        file.cubin.check(&file.elf, &mut all);
        let mut check = nvidia::Check::default();
        file.findings = Diagnostics::default();
        while !check.step(&file.elf, 1, &mut file.findings) {}
        assert_eq!(check.done(), nvidia::Check::total(&file.elf), "{path}");
        assert_eq!(file.findings.all(), all.all(), "{path}");
    }
}

#[test]
fn the_last_attribute_wins_and_symbols_name_functions() {
    // Symbol 1 lies in the code of first, symbol 2 is named second and lies nowhere.
    let symbols = [("other", 3, 8), ("second", 0, 0), ("none", 0, 0)];
    let file = open(make(
        &symbols,
        &[
            code("first", 128),
            code("second", 256),
            info(
                "",
                [
                    attribute(0x2f, &[1, 10]),
                    attribute(0x2f, &[1, 20]),
                    attribute(0x12, &[2, 64]),
                    attribute(0x2f, &[3, 99]),
                    attribute(0x11, &[1, 32]),
                    attribute(0x23, &[2, 0xffff_ffff]),
                ]
                .concat(),
            ),
            info(".second", attribute(0x0a, &[0, 0x0010_0210])),
            bank("0.second", 20),
            bank("3", 8),
            bank("0.second", 28),
            bank("2.first", 4),
            bank("", 4),
            bank(".user", 4),
            bank("99999999999999999999", 4),
        ],
    ));
    let (first, second) = (file.kernel("first"), file.kernel("second"));
    assert_eq!((first.registers, first.stack_bytes), (20, 0));
    assert_eq!((first.frame_bytes, first.max_stack_bytes), (Some(32), None));
    assert_eq!((second.registers, second.stack_bytes), (0, 64));
    assert_eq!(second.max_stack_bytes, Some(u32::MAX));
    assert_eq!((second.params_offset, second.params_bytes), (0x210, 16));
    assert_eq!((first.params_offset, first.params_bytes), (0, 0));
    assert_eq!((first.code_offset, second.code_offset), (0, 128));
    assert!(first.entry_point && !second.entry_point);
    let banks = |kernel: &Kernel| -> Vec<_> {
        let banks = kernel.banks.iter();
        banks.map(|b| (b.index, b.offset, b.bytes)).collect()
    };
    // Codes end at 384; the banks follow at multiples of 128.
    assert_eq!(banks(second), [(0, Some(640), 28), (3, Some(512), 8)]);
    assert_eq!(banks(first), [(3, Some(512), 8), (2, Some(768), 4)]);
    assert_eq!(file.found(Kind::Limit, "constant bank").len(), 1);
}

#[test]
fn memory_that_is_not_initialised_takes_no_bytes_of_the_file() {
    // As relocatable cubins have it: a type of its own, and the offset of what follows.
    for kind in [8, 0x7000_0007, 0x7000_000a, 0x7000_0015] {
        let memory = |name: &str, size| Made {
            name: name.into(),
            kind,
            flags: 3,
            size: Some(size),
            ..Made::default()
        };
        let sections = [
            code("k", 16),
            memory(".nv.shared.k", 600),
            memory(".nv.global", 1 << 40),
            bank("0.k", 20),
        ];
        let file = open(make(&[("k", 3, 0)], &sections));
        let kernel = file.kernel("k");
        assert_eq!(kernel.shared_bytes, 600);
        assert_eq!(file.findings.iter().count(), 0, "{:?}", file.findings);
        assert!(file.elf.map.leaves.iter().all(|leaf| !leaf.is_shared));
    }
}

#[test]
fn an_attribute_past_its_section_is_found_where_it_is() {
    for (cut, name) in [(1, ""), (2, ""), (5, ""), (9, ""), (3, ".k")] {
        let mut bytes = attribute(0x2f, &[1, 10]);
        bytes.extend(attribute(0x2f, &[1, 20]));
        bytes.truncate(bytes.len() - cut);
        let size = bytes.len();
        let file = open(make(&[("k", 3, 0)], &[code("k", 16), info(name, bytes)]));
        let section = file.section(&format!(".nv.info{name}"));
        let found = file.found(Kind::Loader, "runs past the end of its section");
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].0,
            section.offset + 12,
            "{cut} of {size} bytes cut off"
        );
        assert!(found[0].1.contains(&section.name));
        let expected = if name.is_empty() { 10 } else { 0 };
        assert_eq!(file.kernel("k").registers, expected);
    }
}

#[test]
fn attributes_too_short_are_found() {
    for (id, name, is_found) in [
        (0x2f, "", true),
        (0x12, "", true),
        (0x0a, ".k", true),
        (0x37, ".k", false),
    ] {
        let bytes = [attribute(id, &[1]), attribute(0x0a, &[0, 0x0004_0160])].concat();
        let file = open(make(&[("k", 3, 0)], &[code("k", 16), info(name, bytes)]));
        let found = file.found(Kind::Loader, "too few bytes");
        assert_eq!(found.len(), usize::from(is_found), "{id:#x}");
        let kernel = file.kernel("k");
        assert_eq!((kernel.registers, kernel.stack_bytes), (0, 0));
        // What follows is still read.
        let expected = if name.is_empty() { 0 } else { 0x160 };
        assert_eq!(kernel.params_offset, expected);
    }
}

#[test]
fn odd_attributes_are_passed_over() {
    let bytes = [
        vec![7, 0x2f, 8, 0],         // no format
        vec![3, 0x2f, 8, 0],         // the value in the head
        attribute(0x2f, &[77, 3]),   // no such symbol
        attribute(0x45, &[0]),       // a parameter cut short
        attribute(0x05, &[1, 2]),    // a block cut short
        attribute(0x34, &[0, 0, 9]), // fewer targets than said
    ]
    .concat();
    let file = open(make(
        &[("k", 3, 0)],
        &[code("k", 16), info("", bytes.clone()), info(".k", bytes)],
    ));
    let kernel = file.kernel("k");
    assert_eq!(kernel.registers, 0);
    assert_eq!(kernel.max_threads, None);
    assert_eq!(kernel.params.as_ref().map(Vec::len), Some(0));
    let attributes = kernel.attributes(&file.elf);
    assert_eq!(attributes.len(), 6);
    assert_eq!(attributes.get(0).unwrap().format, "ERROR");
    assert_eq!(file.found(Kind::UnknownValue, "unknown format").len(), 2);
    assert_eq!(file.found(Kind::Format, "symbol is missing").len(), 1);
}

#[test]
fn functions_of_one_name_are_found() {
    let file = open(make(
        &[("k", 3, 0)],
        &[
            code("k", 16),
            code("k", 32),
            info("", attribute(0x2f, &[1, 9])),
        ],
    ));
    let registers: Vec<_> = file.cubin.kernels.iter().map(|k| k.registers).collect();
    assert_eq!(registers, [0, 9]);
    assert_eq!(file.found(Kind::Format, "the same name").len(), 1);
}

#[test]
fn cubins_cut_short_or_changed_are_read_without_panic() {
    // A small generator will do: the same bytes each time.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let read = |bytes: Vec<u8>| {
        let mut findings = Diagnostics::default();
        let source = Source::memory(bytes);
        let Ok(elf) = Elf::open(&source, |_| &nvidia::DIALECT, &mut findings) else {
            return;
        };
        let cubin = Cubin::open(&elf, &mut findings);
        cubin.check(&elf, &mut findings);
        for kernel in &cubin.kernels {
            let attributes = kernel.attributes(&elf);
            serde_json::to_string(&attributes).unwrap();
        }
        for section in &elf.sections {
            let span = elf.stored(section);
            for at in [span.offset, span.offset + span.size / 2] {
                let _ = cubin.record_in(&elf, section, at);
            }
            let _ = elf.section_record(section.index);
        }
    };
    // The whole set takes minutes.
    let is_whole = std::env::var_os("KERNELSCOPE_TEST_ALL").is_some();
    let (rounds, step) = if is_whole { (4000, 1) } else { (60, 5) };
    for path in facts().keys() {
        let bytes = fs::read(directory().join(path)).unwrap();
        for _ in 0..rounds {
            let mut changed = bytes.clone();
            for _ in 0..1 + random() % 4 {
                let at = random() as usize % changed.len();
                changed[at] = match random() % 4 {
                    0 => 0xff,
                    1 => 0,
                    _ => random() as u8,
                };
            }
            if random() % 4 == 0 {
                changed.truncate(random() as usize % changed.len());
            }
            read(changed);
        }
        // The attributes and the notes, byte by byte.
        let file = open(bytes.clone());
        let small = |s: &&Section| s.name.starts_with(".nv.info") || s.kind == 7;
        for section in file.elf.sections.iter().filter(small) {
            for at in (section.span().offset..section.span().end()).step_by(step) {
                let mut changed = bytes.clone();
                changed[at as usize] = 0xff;
                read(changed);
            }
        }
    }
}

/// How long it takes, the shortest of three times.
fn time(what: impl Fn()) -> Duration {
    let once = || {
        let start = Instant::now();
        what();
        start.elapsed()
    };
    once().min(once()).min(once())
}

#[test]
fn time_grows_with_the_file() {
    let many = |count: usize| {
        let names: Vec<String> = (0..count).map(|i| format!("kernel_{i}")).collect();
        let symbols: Vec<_> = names.iter().map(|name| (name.as_str(), 0, 0)).collect();
        let mut sections = Vec::new();
        let mut all = Vec::new();
        for (i, name) in names.iter().enumerate() {
            sections.push(code(name, 16));
            sections.push(bank(&format!("0.{name}"), 16));
            sections.push(info(
                &format!(".{name}"),
                attribute(0x0a, &[0, 0x0004_0160]),
            ));
            all.extend(attribute(0x2f, &[i as u32 + 1, i as u32]));
        }
        sections.push(info("", all));
        let bytes = make(&symbols, &sections);
        let file = open(bytes);
        assert_eq!(file.cubin.kernels.len(), count);
        let last = file.cubin.kernels.last().unwrap();
        assert_eq!(last.registers as usize, count - 1);
        assert_eq!(last.params_offset, 0x160);
        time(|| {
            Cubin::open(&file.elf, &mut Diagnostics::default());
        })
    };
    // Quadratic, the larger would take 400 times as long.
    let (small, large) = (many(2_000), many(40_000));
    let bound = Duration::from_millis(200) + small * 200;
    assert!(
        large < bound,
        "{small:?} for 2,000 kernels, {large:?} for 40,000"
    );
}

#[test]
fn sections_that_share_their_bytes_cost_no_more_than_the_file() {
    // 3,000 functions whose attributes are the same megabyte.
    let entries = attribute(0x17, &[0, 0, 0]).repeat(65_536);
    let mut sections = vec![code("0", 16), info(".0", entries)];
    for i in 1..3_000 {
        sections.push(code(&i.to_string(), 16));
        sections.push(Made {
            shares: Some(4),
            ..info(&format!(".{i}"), Vec::new())
        });
    }
    // Banks of every kernel.
    for i in 0..200 {
        sections.push(bank(&i.to_string(), 16));
    }
    let bytes = make(&[], &sections);
    let size = bytes.len() as u64;
    let file = open(bytes);
    let read: usize = file
        .cubin
        .kernels
        .iter()
        .filter_map(|k| k.params.as_ref())
        .map(Vec::len)
        .sum();
    assert!(
        read as u64 * 16 <= size,
        "{read} parameters of {size} bytes"
    );
    assert!(
        file.cubin
            .kernels
            .iter()
            .all(|kernel| kernel.banks.len() <= 32)
    );
    let listed: usize = file
        .cubin
        .kernels
        .iter()
        .map(|k| k.attributes(&file.elf).len())
        .sum();
    assert!(
        listed as u64 * 16 <= size,
        "{listed} attributes of {size} bytes"
    );
    assert!(!file.found(Kind::Limit, "longer than the file").is_empty());
}

#[test]
fn entries_are_read_across_pages() {
    // Values of 5 to 5,000 bytes, so that entries begin anywhere.
    let mut bytes = Vec::new();
    let mut expected = Vec::new();
    for i in 0..200_u16 {
        let size = 5 + i * 25;
        expected.push((bytes.len() as u64, size));
        bytes.extend([4, 0x36]);
        bytes.extend(size.to_le_bytes());
        bytes.extend(vec![i as u8; size.into()]);
    }
    let source = Source::memory(bytes);
    let span = kernelscope::span::Span::new(0, source.size());
    let entries: Vec<_> = Entries::new(&source, span).map(Result::unwrap).collect();
    let places: Vec<_> = entries.iter().map(|e| (e.offset, e.value)).collect();
    assert_eq!(places, expected);
    assert_eq!(entries[7].word(0), Some(0x0707_0707));
    assert_eq!(entries[7].payload().size, 180);
    let found = Entries::new(&source, span)
        .find(expected[150].0 + 99)
        .unwrap();
    assert_eq!(found.offset, expected[150].0);
}
