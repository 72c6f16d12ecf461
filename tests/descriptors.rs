//! What kernels of code objects need, as their descriptors say it: the text that llvm-mc turns into the same
//! bytes, the registers that are set up, fields that must be zero, and how many waves a SIMD holds.

mod common;

use std::collections::BTreeMap;

use kernelscope::amdgpu::occupancy::{Needs, Occupancy};
use kernelscope::amdgpu::registers::{Registers, Unit};
use kernelscope::amdgpu::zero::must_be_zero;
use kernelscope::amdgpu::{Kernel, Processor, tables};
use kernelscope::device::Device;
use kernelscope::error::{Diagnostic, Severity};
use kernelscope::record::Layout;
use kernelscope::{Document, Source};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn recorded(name: &str) -> Value {
    serde_json::from_slice(&common::bytes(name)).expect("JSON")
}

fn number(value: &Value) -> u32 {
    let number = value.as_u64().and_then(|n| n.try_into().ok());
    number.unwrap_or_else(|| panic!("no number: {value}"))
}

fn kernels(document: &Document) -> &[Kernel] {
    match document.device() {
        Device::CodeObject(object) => &object.kernels,
        _ => panic!("no code object"),
    }
}

fn kernel<'a>(document: &'a Document, name: &str) -> &'a Kernel {
    let mut all = kernels(document).iter();
    let found = all.find(|kernel| kernel.name == name);
    found.unwrap_or_else(|| panic!("no kernel {name}"))
}

/// A fixture with other bytes from `at` on.
fn changed(path: &str, at: usize, bytes: &[u8]) -> Document {
    let mut all = common::bytes(path);
    all[at..at + bytes.len()].copy_from_slice(bytes);
    let mut document = Document::open(Source::memory(all));
    document.check_all();
    document
}

/// The directives of a block with their numbers.
fn directives(text: &str) -> BTreeMap<&str, u64> {
    let lines = text.lines().filter_map(|line| {
        let (name, value) = line.strip_prefix("\t.amdhsa_")?.split_once(' ')?;
        Some((name, value.parse().ok()?))
    });
    lines.collect()
}

#[test]
fn blocks_are_those_that_llvm_mc_turned_into_the_files_bytes() {
    let (mut whole, mut in_part, mut none) = (0, 0, 0);
    for (path, expected) in recorded("directives.json")["files"]
        .as_object()
        .expect("files")
    {
        let document = common::open(path);
        for (index, kernel) in kernels(&document).iter().enumerate() {
            let expected = &expected[&kernel.name];
            let found = document.directives(index).expect("bytes").expect("a block");
            let missing: Vec<&str> = found.missing.iter().map(|one| one.field.as_str()).collect();
            let Some(digest) = expected["sha256"].as_str() else {
                assert_eq!(
                    expected["why"], found.missing[0].why,
                    "{path}: {}",
                    kernel.name
                );
                none += 1;
                continue;
            };
            let ours = Sha256::digest(found.text.as_bytes());
            let ours: String = ours.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(ours, digest, "{path}: {}\n{}", kernel.name, found.text);
            match expected["missing"].as_array() {
                Some(expected) => {
                    assert_eq!(*expected, missing, "{path}: {}", kernel.name);
                    in_part += 1;
                }
                None => {
                    assert!(missing.is_empty(), "{path}: {}: {missing:?}", kernel.name);
                    whole += 1;
                }
            }
        }
    }
    assert!(
        whole > 200 && in_part > 0 && none > 0,
        "{whole}, {in_part}, {none}"
    );
}

#[test]
fn blocks_say_what_objdump_says() {
    // llvm-objdump prints what does not assemble to the same bytes again: it does not know how XNACK is set, nor
    // counts the registers that are always set aside, and leaves out how many user SGPRs there are.
    let other = [
        "next_free_sgpr",
        "reserve_vcc",
        "reserve_flat_scratch",
        "reserve_xnack_mask",
        "user_sgpr_count",
    ];
    let mut compared = 0;
    for (path, facts) in common::facts("code_objects") {
        let Some(descriptors) = facts["descriptors"].as_object() else {
            continue;
        };
        let document = common::open(&path);
        for (name, printed) in descriptors {
            let Some(printed) = printed["directives"].as_object() else {
                continue;
            };
            let mut all = kernels(&document).iter();
            let index = all
                .position(|kernel| kernel.name == *name)
                .expect("the kernel");
            let found = document.directives(index).expect("bytes").expect("a block");
            let left_out: Vec<&str> = found.missing.iter().map(|one| one.field.as_str()).collect();
            let ours = directives(&found.text);
            for (directive, value) in printed {
                if other.contains(&directive.as_str()) {
                    continue;
                }
                let Some(ours) = ours.get(directive.as_str()) else {
                    // What llvm-mc would refuse is among what is not expressed.
                    assert!(!left_out.is_empty(), "{path}: {name}: {directive}");
                    continue;
                };
                assert_eq!(Some(*ours), value.as_u64(), "{path}: {name}: {directive}");
                compared += 1;
            }
        }
    }
    assert!(compared > 5000, "only {compared} directives were compared");
}

#[test]
fn names_that_no_assembler_takes_are_written_with_care() {
    // The kernel's name `vadd` in .dynstr and .strtab, and in the metadata.
    let mut bytes = common::bytes("amdgpu/out/vadd.gfx906.v5.co");
    for at in 0..bytes.len() - 7 {
        if &bytes[at..at + 7] == b"vadd.kd" {
            bytes[at..at + 4].copy_from_slice(b"a\"\n\x1b");
        }
    }
    let document = Document::open(Source::memory(bytes));
    let text = document
        .directives(0)
        .expect("bytes")
        .expect("a block")
        .text;
    assert!(text.contains("\n.amdhsa_kernel \"a___\"\n"), "{text}");
}

/// The bits of each register word that must be zero: the fields that `AMDHSAKernelDescriptor.h` of LLVM 22 calls
/// reserved, and those of which AMDGPUUsage says so (compute_pgm_rsrc3, 1, 2, kernel_code_properties).
const ZEROS: &[(&str, &Layout, [u64; 4])] = &[
    (
        "gfx803",
        &tables::KERNEL_DESCRIPTOR_GFX6,
        [0xffff_ffff, 0xff50_0c00, 0x80ff_e040, 0xf780],
    ),
    (
        "gfx906",
        &tables::KERNEL_DESCRIPTOR_GFX9,
        [0xffff_ffff, 0xfb50_0c00, 0x80ff_e040, 0xf780],
    ),
    (
        "gfx90a",
        &tables::KERNEL_DESCRIPTOR_GFX90A,
        [0xfffe_ffc0, 0xfb50_0c00, 0x80ff_e040, 0xf780],
    ),
    (
        "gfx1030",
        &tables::KERNEL_DESCRIPTOR_GFX10,
        [0xffff_fff0, 0x1b50_0fc0, 0x80ff_e040, 0xf380],
    ),
    (
        "gfx1100",
        &tables::KERNEL_DESCRIPTOR_GFX11,
        [0xffff_fc00, 0x1b50_0fc0, 0x80ff_e040, 0xf380 | 0x21],
    ),
    (
        "gfx1200",
        &tables::KERNEL_DESCRIPTOR_GFX120,
        [0xffff_d00f, 0x1bd0_0fc0, 0x80ff_e000, 0xf380 | 0x21],
    ),
    (
        "gfx1250",
        &tables::KERNEL_DESCRIPTOR_GFX125,
        [0xffc0_100f, 0x13d0_0fc0, 0x80ff_e000, 0xf380 | 0x21],
    ),
];

#[test]
fn registers_of_preloaded_arguments_are_counted_by_the_assembler() {
    // LLVM 19 counts only the SGPRs that the code uses. Of what is said, llvm-mc 22 takes 12 user SGPRs for used if arguments
    // are preloaded to them, and adds 6: 18 are 3 times 8, written as 2.
    for counted in [0, 1, 2] {
        let at = 3648 + 48;
        let document = changed(
            "amdgpu/own/preload.gfx942.v5.co",
            at,
            &[counted << 6, counted >> 2],
        );
        let front = document.directives(0).expect("bytes").expect("a block");
        let said = directives(&front.text)["next_free_sgpr"];
        assert_eq!(said, if counted < 2 { 12 } else { 18 });
        let missing: Vec<&str> = front.missing.iter().map(|m| m.field.as_str()).collect();
        let expected: &[&str] = match counted {
            2 => &[],
            _ => &["GRANULATED_WAVEFRONT_SGPR_COUNT"],
        };
        assert_eq!(missing, expected, "{counted}");
    }
}

#[test]
fn a_generic_version_of_another_processor_is_a_note() {
    // llvm-readelf 22 prints generic_v1 of such a file as well.
    let path = "amdgpu/out/vadd.gfx11-generic.v6.co";
    let is_generic = changed(path, 48, &[0x54, 0, 0, 1]);
    assert!(notes(&is_generic).is_empty());
    // EF_AMDGPU_MACH 0x41 is gfx1100.
    let is_not = changed(path, 48, &[0x41, 0, 0, 1]);
    let found = notes(&is_not);
    let found = found.iter().find(|note| note.offset == Some(48));
    assert_eq!(found.and_then(|note| note.found.as_deref()), Some("1"));
}

#[test]
fn fields_that_must_be_zero_are_those_of_llvm() {
    for (name, layout, expected) in ZEROS {
        let processor = Processor::named(name);
        let mut found = [0_u64; 4];
        for field in layout.fields() {
            if !field.alternative_of.is_empty() || !must_be_zero(field, processor) {
                continue;
            }
            for bit in field.lsb..field.lsb + field.bits {
                for (word, start) in [44 * 8, 48 * 8, 52 * 8, 56 * 8].into_iter().enumerate() {
                    let width = if word == 3 { 16 } else { 32 };
                    if (start..start + width).contains(&bit) {
                        found[word] |= 1 << (bit - start);
                    }
                }
            }
        }
        // Where flat scratch is architected, bits 0 and 5 of the properties have nothing to ask for.
        assert_eq!(found, *expected, "{name}: {found:x?}");
    }
}

fn notes(document: &Document) -> Vec<&Diagnostic> {
    let all = document.findings().iter();
    all.filter(|finding| finding.severity == Severity::Note)
        .collect()
}

#[test]
fn a_field_that_must_be_zero_is_a_note() {
    // llvm-objdump 22 on the three kernels of clang 19: "GRANULATED_WAVEFRONT_SGPR_COUNT reserved bits in range
    // (9:6) set, must be zero on gfx10+". 18 SGPRs are 3 times 8, written as 2.
    let document = common::open("amdgpu/out/spill.gfx1100.v5.llvm19.co");
    for kernel in kernels(&document) {
        let [found] = &kernel.non_zero[..] else {
            panic!("{:?}", kernel.non_zero);
        };
        assert_eq!(found.field, "GRANULATED_WAVEFRONT_SGPR_COUNT");
        assert_eq!(
            (found.raw, found.offset),
            (2, kernel.descriptor_span.offset + 48)
        );
    }
    let [note] = &notes(&document)[..] else {
        panic!("{:#?}", notes(&document));
    };
    assert_eq!(note.message, "3 descriptors set a field that must be zero");
    let first = kernels(&document)[0].descriptor_span.offset;
    assert_eq!(note.offset, Some(first + 48));

    // kernel_code_properties of vadd, at 0x8c0 + 56: bits 1 and 12 beside 0 and 3.
    let document = changed("amdgpu/out/vadd.gfx906.v5.co", 0x8f8, &[0x0b, 0x10]);
    let note = notes(&document)[0];
    assert_eq!(note.offset, Some(0x8f9));
    assert_eq!(note.found.as_deref(), Some("0x1"));
    let context = note.context.as_deref();
    assert_eq!(
        context,
        Some("kernel vadd, kernel_code_properties.RESERVED1")
    );
    // Bit 1 enables two user SGPRs more than USER_SGPR_COUNT has: 4 + 2 + 2, not 6.
    let mut all = document.findings().iter();
    let warning = all
        .find(|finding| finding.severity == Severity::Warning)
        .expect("a warning");
    assert_eq!(
        (warning.offset, warning.found.as_deref()),
        (Some(0x8f4), Some("6"))
    );
    assert_eq!(warning.expected.as_deref(), Some("8"));
    let text = document
        .directives(0)
        .expect("bytes")
        .expect("a block")
        .text;
    assert!(text.contains("; not expressed: USER_SGPR_COUNT = 0x6: fewer than are enabled\n"));
}

#[test]
fn registers_used_stand_beside_those_allocated() {
    // llvm-readelf --notes: .vgpr_count 24, .sgpr_count 18, .vgpr_spill_count 96. On gfx1100 waves of 32 lanes get
    // VGPRs by 24 (IsaInfo::getVGPRAllocGranule).
    let document = common::open("amdgpu/out/spill.gfx1100.v5.llvm19.co");
    let spill = kernel(&document, "spill24");
    assert_eq!((spill.vgprs_used, spill.vgprs), (Some(24), Some(24)));
    assert_eq!((spill.sgprs_used, spill.sgprs), (Some(18), Some(128)));
    assert_eq!((spill.vgpr_spills, spill.sgpr_spills), (Some(96), Some(0)));
    assert_eq!(spill.wave_size, Some(32));
    let few = kernel(&document, "maxgroups");
    assert_eq!((few.vgprs_used, few.vgprs), (Some(3), Some(24)));
    // .vgpr_count 146, .sgpr_count 24, .agpr_count 0; by llvm-objdump the descriptor asks for 264 VGPRs, AGPRs from
    // 148 on, and 104 SGPRs, which are allocated by 16: the compiler asks for more where it wants few waves.
    let document = common::open("amdgpu/out/mfma.gfx942.v5.co");
    let many = kernel(&document, "mfma_many");
    assert_eq!((many.vgprs_used, many.vgprs), (Some(146), Some(264)));
    assert_eq!((many.agprs_used, many.agprs), (Some(0), Some(264 - 148)));
    assert_eq!(many.accum_offset, Some(148));
    assert_eq!((many.sgprs_used, many.sgprs), (Some(24), Some(112)));
    // V2 has them in its YAML: NumVGPRs 8, NumSGPRs 11.
    let document = common::open("amdgpu/out/vadd.gfx900.v2.llvm13.co");
    let vadd = kernel(&document, "vadd");
    assert_eq!((vadd.vgprs_used, vadd.sgprs_used), (Some(8), Some(11)));
    assert_eq!(vadd.wave_size, Some(64));
}

/// What a kernel of `vgprs` and `sgprs` registers needs, which the descriptor counts as it does.
fn needs(processor: &Processor, wave32: bool, vgprs: u32, sgprs: u32) -> Needs {
    let unit = Unit::of(processor).expect("a unit");
    let step = Unit::share(processor, wave32, unit.vgpr_encoding);
    let sgpr_field = if unit.sgprs > 0 {
        sgprs.max(1).div_ceil(8) - 1
    } else {
        0
    };
    let rsrc1 = (vgprs.max(1).div_ceil(step) - 1) | sgpr_field << 6;
    Needs {
        registers: Registers::decode(processor, rsrc1, None, wave32).expect("registers"),
        used_vgprs: Some(vgprs),
        used_sgprs: Some(sgprs),
        wave32,
        wgp_mode: true,
        dynamic_vgprs: false,
        lds: 0,
        workgroup: 64,
    }
}

#[test]
fn waves_by_registers_are_those_of_llvm() {
    let mut compared = 0;
    for row in recorded("occupancy.json")["isa"].as_array().expect("rows") {
        for name in row["processors"].as_array().expect("names") {
            let processor = Processor::named(name.as_str().expect("a name")).expect("known");
            let wave32 = row["wave"] == 32;
            let of = |needs: &Needs| Occupancy::of(processor, needs).expect("known");
            // From so many VGPRs on there are so many waves.
            let steps = row["waves_by_vgprs"].as_array().expect("steps");
            let last = number(&steps[steps.len() - 1][0]);
            for vgprs in 1..=last {
                let step = steps.iter().rev().find(|step| number(&step[0]) <= vgprs);
                let expected = number(&step.expect("a step")[1]);
                let found = of(&needs(processor, wave32, vgprs, 8));
                assert_eq!(found.by_vgprs, Some(expected), "{name}: {vgprs} VGPRs");
                assert_eq!(Some(found.most), row["waves"].as_u64().map(|n| n as u32));
                // What is to be saved gives a wave more, and one register less does not.
                if let Some(fewer) = found.fewer_vgprs {
                    let with = |vgprs| of(&needs(processor, wave32, vgprs, 8)).by_vgprs;
                    assert!(
                        with(vgprs - fewer) > Some(expected),
                        "{name}: {vgprs} VGPRs"
                    );
                    assert_eq!(
                        with(vgprs - fewer + 1),
                        Some(expected),
                        "{name}: {vgprs} VGPRs"
                    );
                }
                compared += 1;
            }
            // So many SGPRs are the most for 1, 2, … waves.
            let most = row["max_sgprs_by_waves"].as_array().expect("numbers");
            for sgprs in 1..=number(&row["sgpr_addressable"]) {
                let waves = most.iter().rposition(|most| number(most) >= sgprs);
                let waves = waves.expect("one wave at least") as u32 + 1;
                match of(&needs(processor, wave32, 1, sgprs)).by_sgprs {
                    Some(found) => assert_eq!(found, waves, "{name}: {sgprs} SGPRs"),
                    None => assert_eq!(waves, number(&row["waves"]), "{name}: {sgprs} SGPRs"),
                }
            }
            // So many workgroups of so many work-items.
            for (size, workgroups) in row["workgroups"].as_object().expect("numbers") {
                let needs = Needs {
                    workgroup: size.parse().expect("a number"),
                    ..needs(processor, wave32, 1, 8)
                };
                assert_eq!(of(&needs).workgroups, number(workgroups), "{name}: {size}");
            }
        }
    }
    assert!(compared > 10_000, "only {compared}");
}

#[test]
fn occupancy_is_what_the_compiler_remarks() {
    let recorded = recorded("occupancy.json");
    let rows = recorded["kernels"].as_array().expect("rows");
    assert_eq!(rows.len(), 160);
    for row in rows {
        let text = |at: usize| row[at].as_str().expect("a string");
        let processor = Processor::named(text(0)).expect("known");
        let wave32 = processor.wave32 && !text(1).contains("wavefrontsize64");
        let needs = Needs {
            workgroup: number(&row[2]),
            lds: number(&row[3]),
            wgp_mode: !text(1).contains("cumode"),
            ..needs(processor, wave32, number(&row[4]), number(&row[5]))
        };
        let found = Occupancy::of(processor, &needs).expect("known");
        assert_eq!(found.waves, number(&row[6]), "{row}: {found:?}");
        assert_eq!(found.limits.is_empty(), found.waves == found.most, "{row}");
    }
}

#[test]
fn what_limits_a_kernel_is_said() {
    // lds_big has 64000 bytes of LDS in workgroups of 256, and asks for 256 VGPRs. A WGP of gfx1100 has 128 KiB of
    // LDS: 2 workgroups, of 4 waves of 64 lanes each, on 4 SIMDs. VGPRs are allocated by 12: 768 / 264 = 2.
    let document = common::open("amdgpu/out/lds.gfx1100.v5.wave64.co");
    let big = kernel(&document, "lds_big").occupancy.as_ref();
    let big = big.expect("known");
    assert_eq!((big.waves, big.most), (2, 16));
    assert_eq!((big.by_lds, big.by_vgprs), (Some(2), Some(2)));
    assert_eq!((big.workgroup, big.workgroups), (256, 2));
    assert_eq!(big.limits, ["vgprs", "lds"]);
    // A third needs 131072 / 3 = 43690, by 512 43520: 64000 − 43520 bytes fewer. 768 / 3 = 256, by 12 252 VGPRs.
    assert_eq!(
        (big.fewer_lds, big.fewer_vgprs),
        (Some(20480), Some(264 - 252))
    );
    // 264 VGPRs: 512 / 264 = 1 wave. For 2, 256 have to do.
    let document = common::open("amdgpu/out/mfma.gfx942.v5.co");
    let many = kernel(&document, "mfma_many").occupancy.as_ref();
    let many = many.expect("known");
    assert_eq!((many.waves, many.by_vgprs), (1, Some(1)));
    assert_eq!(many.limits, ["vgprs"]);
    assert_eq!(many.fewer_vgprs, Some(264 - 256));
    // gfx12 can allocate vector registers as a wave runs: bit 6 of COMPUTE_PGM_RSRC2.
    let document = common::open("amdgpu/out/dynvgpr.gfx1200.v5.bit6.co");
    let occupancy = kernels(&document)[0].occupancy.as_ref().expect("known");
    assert_eq!(occupancy.by_vgprs, None);
}

#[test]
fn granules_are_decoded_by_processor_and_wave() {
    let value = |path: &str, kernel: &str, field: &str| {
        let document = common::open(path);
        let place = self::kernel(&document, kernel).descriptor_span.offset;
        let location = document.locate(place);
        let record = location.records.first().expect("a record");
        record.field(field).expect("the field").value_text()
    };
    // llvm-objdump: next_free_vgpr 256 in waves of 64 lanes, whose field is 63; 24 in waves of 32, whose field is 2.
    let vgprs = "GRANULATED_WORKITEM_VGPR_COUNT";
    let path = "amdgpu/out/lds.gfx1100.v5.wave64.co";
    assert_eq!(value(path, "lds_big", vgprs), "256");
    let path = "amdgpu/out/spill.gfx1100.v5.llvm19.co";
    assert_eq!(value(path, "spill24", vgprs), "24");
}
