//! How many blocks a multiprocessor holds, how many workgroups a compute unit does. Expected values are what CUDA's own
//! calculator says (`fixtures/occupancy_nvidia.json`), LLVM's (`fixtures/occupancy.json`), or arithmetic shown here.

mod common;

use common::Random;
use kernelscope::Document;
use kernelscope::error::Severity;
use kernelscope::launch::Inputs;
use kernelscope::nvidia::occupancy::{Capability, Needs};
use kernelscope::nvidia::tables::CAPABILITIES;
use kernelscope::occupancy::OccupancyAnswer;
use serde_json::Value;

/// What counts on an Ada.
const ADA: &str = "gpu=sm_89;";

fn answer(document: &Document, kernel: usize, inputs: &str) -> OccupancyAnswer {
    document.occupancy(kernel, inputs).unwrap()
}

/// The inputs that an answer finds wrong.
fn wrong(answer: &OccupancyAnswer) -> Vec<&str> {
    let problems = answer.problems.iter();
    let errors = problems.filter(|problem| problem.severity == Severity::Error);
    errors.map(|problem| problem.input.as_str()).collect()
}

fn limit(answer: &OccupancyAnswer, name: &str) -> Option<u32> {
    let mut limits = answer.limits.iter();
    limits.find(|limit| limit.name == name).unwrap().groups
}

fn limiting(answer: &OccupancyAnswer) -> Vec<&str> {
    let limits = answer.limits.iter().filter(|limit| limit.is_limit);
    limits.map(|limit| limit.name).collect()
}

/// FNV-1a over the bytes of a value.
fn hash(hash: u64, value: u32) -> u64 {
    let bytes = value.to_le_bytes().into_iter();
    bytes.fold(hash, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

#[test]
fn blocks_of_every_capability_are_those_of_cudas_calculator() {
    let facts: Value =
        serde_json::from_slice(&common::bytes("occupancy_nvidia.json")).expect("facts");
    let gpus = facts["gpus"].as_array().unwrap();
    assert_eq!(gpus.len(), CAPABILITIES.len());
    for gpu in gpus {
        let number = |value: &Value| value.as_u64().unwrap() as u32;
        let capability = Capability::of(number(&gpu["sm"])).unwrap();
        let sm = capability.sm;
        for case in gpu["blocks"].as_array().unwrap() {
            let needs = Needs {
                threads: number(&case[0]),
                registers: number(&case[1]),
                shared: number(&case[2]),
                barriers: number(&case[3]),
            };
            let found = capability.held(&needs).least();
            assert_eq!(found, number(&case[4]), "sm_{sm}, {needs:?}");
        }
        // The same steps as in record_occupancy.c.
        let (mut all, mut cases) = (0xcbf2_9ce4_8422_2325, 0);
        for threads in (1..=1056).step_by(13) {
            for registers in (0..=255).step_by(5) {
                for shared in (0..=capability.block_shared + 3000).step_by(4093) {
                    let held = capability.held(&Needs {
                        threads,
                        registers,
                        shared,
                        barriers: (threads + registers) % 17,
                    });
                    for value in [
                        held.least(),
                        held.registers.unwrap_or(u32::MAX),
                        held.shared.unwrap_or(u32::MAX),
                        held.warps,
                        held.barriers.unwrap_or(u32::MAX),
                    ] {
                        all = hash(all, value);
                    }
                    cases += 1;
                }
            }
        }
        assert_eq!(u64::from(number(&gpu["cases"])), cases, "sm_{sm}");
        assert_eq!(
            format!("{all:016x}"),
            gpu["hash"].as_str().unwrap(),
            "sm_{sm}"
        );
    }
}

#[test]
fn vadd_fills_an_ada_with_six_blocks() {
    let document = common::open("nvidia/cubin/vadd.sm_80.11.8.cubin");
    let launch = "gpu=sm_89;registers=16;block=256;shared=0;grid=4096;units=128";
    let found = answer(&document, 0, launch);
    assert_eq!((found.groups, found.waves), (Some(6), Some(48)));
    assert_eq!(found.most_waves, 48);
    assert_eq!(
        (found.unit, found.group, found.wave),
        ("SM", "block", "warp")
    );
    // 16 × 32 = 512 registers a warp; 65536 / 512 = 128 warps, 8 of a block: 16 blocks.
    assert_eq!(limit(&found, "registers"), Some(16));
    // 1024 bytes are the driver's of every block; 100 KiB of them.
    assert_eq!(limit(&found, "shared memory"), Some(100));
    assert_eq!(limit(&found, "warps"), Some(6));
    assert_eq!(limit(&found, "blocks"), Some(24));
    assert_eq!(limiting(&found), ["warps"]);
    // 4096 blocks over 6 × 128.
    let waves = found.grid_waves.unwrap();
    assert!((waves - 16.0 / 3.0).abs() < 1e-12, "{waves}");
    assert!(found.problems.is_empty(), "{:?}", found.problems);
}

#[test]
fn charts_are_the_answers_for_other_inputs() {
    let document = common::open("nvidia/cubin/vadd.sm_80.11.8.cubin");
    for gpu in ["sm_61", "sm_75", "sm_89", "sm_120"] {
        let launch = format!("gpu={gpu};registers=40;block=192;shared=9000");
        let found = answer(&document, 0, &launch);
        let inputs: Vec<&str> = found.charts.iter().map(|chart| chart.input).collect();
        assert_eq!(inputs, ["block", "registers", "shared"]);
        let present: Vec<u32> = found.charts.iter().map(|chart| chart.present).collect();
        assert_eq!(present, [192, 40, 9000]);
        for chart in &found.charts {
            assert!(chart.points.is_sorted_by(|a, b| a[0] < b[0]));
            for [value, waves] in chart.points.iter().step_by(7) {
                let launch = format!("{launch};{}={value}", chart.input);
                let there = answer(&document, 0, &launch);
                assert_eq!(there.waves.unwrap_or(0), *waves, "{launch}");
            }
        }
        let ends = found.charts.iter().map(|chart| {
            let points = &chart.points;
            (points[0][0], points[points.len() - 1][0])
        });
        let most = match gpu {
            "sm_75" => 65536,
            "sm_61" => 49152,
            _ => 101_376,
        };
        let ends: Vec<(u32, u32)> = ends.collect();
        assert_eq!(ends, [(32, 1024), (1, 255), (0, most)], "{gpu}");
    }
}

#[test]
fn what_cannot_be_launched_is_said_at_its_input() {
    let document = common::open("nvidia/cubin/vadd.sm_80.11.8.cubin");
    // How many blocks an SM holds is nothing that the grid or the number of SMs changes.
    let beside = ["grid", "units", "gpu"];
    for (launch, expected) in [
        ("block=1024", vec![]),
        ("block=1025", vec!["block"]),
        ("block=0", vec!["block"]),
        ("block=1,1,64", vec![]),
        ("block=1,1,65", vec!["block"]),
        ("block=32,33", vec!["block"]),
        ("block=many", vec!["block"]),
        ("registers=255;block=256", vec![]),
        // 255 × 32 in steps of 256 are 8192, of 8 + 4 warps 98304.
        ("registers=255;block=257", vec!["block"]),
        ("registers=256;block=32", vec!["registers"]),
        // 99 KiB.
        ("shared=101376", vec![]),
        ("shared=101377", vec!["shared"]),
        ("grid=2147483647,65535,65535", vec![]),
        ("grid=2147483648", vec!["grid"]),
        ("grid=1,65536", vec!["grid"]),
        ("grid=0", vec!["grid"]),
        ("units=0", vec!["units"]),
        ("gpu=sm_1", vec!["gpu"]),
        // PTX ISA: a block has the barriers 0 to 15.
        ("barriers=16", vec![]),
        ("barriers=17", vec!["barriers"]),
        ("gpu=sm_53;registers=128;block=256", vec![]),
        ("gpu=sm_53;registers=129;block=256", vec!["block"]),
    ] {
        let found = answer(&document, 0, &format!("{ADA}{launch}"));
        assert_eq!(wrong(&found), expected, "{launch}");
        let is_beside = expected.iter().all(|input| beside.contains(input));
        assert_eq!(found.groups.is_some(), is_beside, "{launch}");
        if !expected.is_empty() {
            assert_eq!(found.grid_waves, None, "{launch}");
        }
    }
    // Without a GPU that there is the file's own counts, and that is said.
    let found = answer(&document, 0, "gpu=sm_99;grid=0");
    let own = answer(&document, 0, "");
    assert_eq!((found.groups, found.waves), (own.groups, own.waves));
    let message = &found.problems[0].message;
    assert!(message.starts_with("\"sm_99\" is none"), "{message}");
    assert!(message.ends_with("; sm_80 counts"), "{message}");
    // What is not typed counts as the cubin has it.
    let found = answer(&document, 0, "");
    let value = |key: &str| {
        let input = found.inputs.iter().find(|input| input.key == key).unwrap();
        (input.value.as_str(), input.is_given)
    };
    assert_eq!(value("gpu"), ("sm_80", false));
    assert_eq!(value("block"), ("256", false));
    assert_eq!(value("units"), ("108", false));
    assert_eq!(value("grid"), ("", false));
    assert_eq!(found.grid_waves, None);
    for name in ["sm_90a", "9.0", "sm_90"] {
        let found = answer(&document, 0, &format!("gpu={name}"));
        assert_eq!(found.inputs[0].value, "sm_90", "{name}");
        assert!(
            found
                .problems
                .iter()
                .any(|p| p.input == "gpu" && p.severity == Severity::Note)
        );
    }
}

/// The index of the kernel called `name`.
fn index(document: &Document, name: &str) -> usize {
    let table = document.table("kernels").unwrap();
    let is_it = |row: &u64| table.cell(*row, "name") == name.into();
    (0..table.len()).find(is_it).unwrap() as usize
}

#[test]
fn a_kernels_bounds_are_the_block_and_its_limit() {
    // .maxntid 128, 2, 1 and .reqntid 32, 4, 2 in the source.
    let document = common::open("nvidia/own/bounds.sm_90.13.5.cubin");
    let largest = index(&document, "largest");
    let found = answer(&document, largest, "");
    let block = |found: &OccupancyAnswer| {
        let mut inputs = found.inputs.iter();
        inputs
            .find(|input| input.key == "block")
            .unwrap()
            .value
            .clone()
    };
    assert_eq!(block(&found), "128,2");
    // 64 warps of an SM, 8 of a block.
    assert_eq!((found.groups, found.waves), (Some(8), Some(64)));
    assert_eq!(wrong(&answer(&document, largest, "block=256")), [""; 0]);
    assert_eq!(wrong(&answer(&document, largest, "block=257")), ["block"]);
    let beyond = found.charts[0]
        .points
        .iter()
        .filter(|[_, waves]| *waves == 0);
    assert_eq!(beyond.map(|[threads, _]| *threads).min(), Some(288));

    let required = index(&document, "required");
    let found = answer(&document, required, "");
    assert_eq!(block(&found), "32,4,2");
    assert_eq!(found.groups, Some(8));
    assert_eq!(wrong(&answer(&document, required, "block=256")), ["block"]);

    let document = common::open("nvidia/own/cluster.sm_90.11.8.cubin");
    let found = answer(&document, index(&document, "sized"), "");
    assert!(found.problems.iter().any(|p| p.message.contains("cluster")));
}

/// Of every processor and both wave sizes, as LLVM's `IsaInfo` says: waves by vector registers, workgroups by work-items.
#[test]
fn compute_units_hold_what_llvm_says() {
    let facts: Value = serde_json::from_slice(&common::bytes("occupancy.json")).expect("facts");
    let number = |value: &Value| value.as_u64().unwrap() as u32;
    let wave32 = common::open("amdgpu/own/axpy.gfx1030.v4.co");
    let wave64 = common::open("amdgpu/own/axpy.gfx1030.v5.wavefrontsize64.co");
    let mut compared = 0;
    for row in facts["isa"].as_array().unwrap() {
        let lanes = number(&row["wave"]);
        let document = if lanes == 32 { &wave32 } else { &wave64 };
        let names = row["processors"].as_array().unwrap().iter();
        let names = names.map(|name| name.as_str().unwrap());
        for name in names.filter(|name| !name.contains("generic")) {
            let steps = row["waves_by_vgprs"].as_array().unwrap();
            for [from, waves] in steps.iter().map(|step| [&step[0], &step[1]]) {
                let launch = format!("gpu={name};block={lanes};registers={from};sgprs=16");
                let found = answer(document, 0, &launch);
                assert_eq!(found.waves, Some(4 * number(waves)), "{launch}");
                assert_eq!(found.most_waves, 4 * number(&row["waves"]), "{launch}");
                compared += 1;
            }
            for (size, workgroups) in row["workgroups"].as_object().unwrap() {
                let launch = format!("gpu={name};block={size};registers=1;sgprs=16");
                let found = answer(document, 0, &launch);
                // The kernel's own bound does not count here.
                let least = found.limits.iter().filter_map(|limit| limit.groups).min();
                assert_eq!(least, Some(number(workgroups)), "{launch}");
            }
        }
    }
    assert!(compared > 500, "only {compared}");
}

#[test]
fn workgroups_fill_registers_and_lds() {
    // 256 VGPRs of waves of 64 lanes are given by 12: 264. A SIMD's 768 suffice for 2 waves, a WGP's four for 8. Workgroups of
    // 256 have 4 waves: 2. 64000 bytes of LDS, of 131072 of a WGP: 2.
    let document = common::open("amdgpu/out/lds.gfx1100.v5.wave64.co");
    let big = index(&document, "lds_big");
    let found = answer(&document, big, "block=256;grid=1000;units=96");
    assert_eq!(
        (found.unit, found.group, found.wave),
        ("WGP", "workgroup", "wave")
    );
    assert_eq!(
        (found.groups, found.waves, found.most_waves),
        (Some(2), Some(8), 64)
    );
    assert_eq!(limiting(&found), ["vector registers", "LDS"]);
    // 96 compute units are 48 WGPs.
    assert_eq!(found.grid_waves, Some(1000.0 / 96.0));
    // 64000 bytes are in steps of 512 already; 1536 more are 65536, of which there are 2, and no more can be had.
    let found = answer(&document, big, "block=256;shared=1536");
    assert_eq!((found.groups, wrong(&found)), (Some(2), vec![]));
    let found = answer(&document, big, "block=256;shared=1537");
    assert_eq!((found.groups, wrong(&found)), (None, vec!["shared"]));
    // The kernel's own are more than the 32768 of gfx600: that is the GPU's fault, whatever is added.
    let found = answer(&document, big, "gpu=gfx600;block=64;registers=16");
    assert!(wrong(&found).contains(&"gpu"), "{:?}", found.problems);
    assert!(!wrong(&found).contains(&"shared"));
    // 16 waves of a workgroup of 1024, but registers for 8.
    let found = answer(&document, big, "block=1024");
    assert_eq!(found.groups, None);
    assert!(wrong(&found).contains(&"block"), "{:?}", found.problems);

    // 264 of 512: one wave of a SIMD, four of a compute unit.
    let document = common::open("amdgpu/out/mfma.gfx942.v5.co");
    let many = index(&document, "mfma_many");
    let found = answer(&document, many, "block=64;grid=304");
    assert_eq!(
        (found.unit, found.groups, found.most_waves),
        ("CU", Some(4), 32)
    );
    assert_eq!(found.grid_waves, Some(0.25));
    for (launch, expected) in [
        ("block=64;registers=512", vec![]),
        ("block=64;registers=513", vec!["registers"]),
        ("block=0", vec!["block"]),
        ("block=64;shared=65536", vec![]),
        ("block=64;shared=65537", vec!["shared"]),
        ("gpu=gfx950;block=64;shared=163840", vec![]),
        ("gpu=gfx950;block=64;shared=163841", vec!["shared"]),
        ("block=64;grid=0", vec!["grid"]),
        ("block=64;units=0", vec!["units"]),
        ("block=64;gpu=gfx9999", vec!["gpu"]),
    ] {
        let found = answer(&document, many, launch);
        assert_eq!(wrong(&found), expected, "{launch}");
        let mut wrong = expected.iter();
        let is_beside = wrong.all(|input| ["gpu", "grid", "units"].contains(input));
        assert_eq!(found.groups.is_some(), is_beside, "{launch}");
    }
    let found = answer(&document, many, "gpu=gfx1100;block=64");
    assert!(
        found
            .problems
            .iter()
            .any(|p| p.message.contains("the code is for gfx942"))
    );
    for name in ["MI300X", "gfx942:xnack-"] {
        let found = answer(&document, many, &format!("gpu={name}"));
        assert_eq!(found.inputs[0].value, "gfx942", "{name}");
    }
}

#[test]
fn charts_of_compute_units_are_the_answers_for_other_inputs() {
    let document = common::open("amdgpu/own/axpy.gfx1030.v4.co");
    for gpu in ["gfx906", "gfx90a", "gfx1030", "gfx1201", "gfx1250"] {
        let launch = format!("gpu={gpu};registers=40;block=192;shared=9000");
        let found = answer(&document, 0, &launch);
        for chart in &found.charts {
            assert!(chart.points.is_sorted_by(|a, b| a[0] < b[0]));
            for [value, waves] in chart.points.iter().step_by(11) {
                let launch = format!("{launch};{}={value}", chart.input);
                let there = answer(&document, 0, &launch);
                assert_eq!(there.waves.unwrap_or(0), *waves, "{launch}");
            }
        }
    }
}

#[test]
fn no_inputs_make_any_kernel_panic() {
    let mut random = Random(23);
    let keys = [
        "gpu",
        "units",
        "block",
        "grid",
        "shared",
        "registers",
        "barriers",
        "sgprs",
        "wave",
        "x",
    ];
    let values = [
        "",
        "0",
        "1",
        "32",
        "1024",
        "4294967295",
        "18446744073709551615",
        "-1",
        "1,2,3",
        "0x",
        "65535,65535,65535",
        "sm_35",
        "sm_121",
        "gfx90a",
        "gfx1250",
        "\u{e9}",
        "9.0",
        ",,",
        "1e9",
    ];
    for path in common::all(&[
        "nvidia/cubin",
        "nvidia/own",
        "own",
        "amdgpu/linked",
        "amdgpu/own",
    ]) {
        let document = common::open(&path);
        for kernel in 0..4 {
            for _ in 0..4 {
                let mut inputs = Inputs::default();
                for key in keys {
                    inputs.set(key, values[random.below(values.len() as u64) as usize]);
                }
                let text: Vec<String> = inputs.iter().map(|(k, v)| format!("{k}={v}")).collect();
                if let Some(answer) = document.occupancy(kernel, &text.join(";")) {
                    assert!(
                        answer.waves.unwrap_or(0) <= answer.most_waves,
                        "{path}: {text:?}"
                    );
                    serde_json::to_string(&answer).unwrap();
                }
            }
        }
    }
}

/// A link has one text for a kernel's launch and its occupancy: what one of them is asked for is nothing to be told of in the
/// other. What neither knows is told of where something is made of it.
#[test]
fn a_launch_and_its_occupancy_are_told_by_one_text() {
    let of_nvidia = (
        "nvidia/own/vadd.sm_89.13.5.nvcc.cubin",
        "units=128;registers=16;barriers=1;",
        "version=03.00;profile=rig;cluster=1;program=0x7f0000100000;bank0=0x7f0000200000;chain=yes;\
         release0=0x7000300000:1;shared_window=0x1000000;set.SAMPLER_INDEX=1;arg3=i32:8;",
    );
    let of_amd = (
        "amdgpu/out/vadd.gfx906.v5.co",
        "units=60;registers=16;sgprs=16;",
        "profile=hsa;grid_items=256;object=0x7f0000100000;kernarg=0x7f0000200000;signal=0;\
         set.private_segment_size=0;",
    );
    for (path, of_occupancy, of_launch) in [of_nvidia, of_amd] {
        let document = common::open(path);
        let said = |text: &str| {
            let inputs = Inputs::read(text);
            let keys: Vec<String> = inputs.iter().map(|(key, _)| key.to_owned()).collect();
            let launch = document.launch(0, text).unwrap();
            let all = answer(&document, 0, text).problems.into_iter();
            let all = all.chain(launch.problems).map(|problem| problem.input);
            // What a driver does is a note of `profile` whatever was typed.
            all.filter(|key| keys.contains(key) && key != "profile")
                .collect::<Vec<_>>()
        };
        let both = format!("block=256;shared=0;{of_occupancy}{of_launch}");
        assert_eq!(said(&both), [""; 0], "{path}");
        assert_eq!(said("blocks=256"), ["blocks"], "{path}");
    }
}

/// Compute units by AMD's product specifications (`tables/amdgpu/product.toml`).
#[test]
fn compute_units_are_those_of_the_product_that_was_typed() {
    let document = common::open("amdgpu/own/axpy.gfx1030.v4.co");
    for (gpu, expected) in [
        ("MI300A", "228"),
        ("MI300X", "304"),
        ("RX 6800", "60"),
        ("rx 6800 xt", "72"),
        ("Radeon RX 6900 XT", "80"),
        ("RX 9070", "56"),
        ("RX 9070 XT", "64"),
        ("MI250", "104"),
        ("AMD Instinct MI250X Accelerator", "110"),
        ("MI60", "64"),
        ("RX 7900 XT", "84"),
        ("RX 7900 XTX", "96"),
        // The table has no number of these.
        ("RX 7900 GRE", ""),
        ("RX 9070 GRE", ""),
        // A processor alone: its first product's.
        ("gfx942", "304"),
        ("gfx1030", "80"),
    ] {
        let found = answer(&document, 0, &format!("gpu={gpu}"));
        let mut inputs = found.inputs.iter();
        let units = inputs.find(|input| input.key == "units").unwrap();
        assert_eq!(units.value, expected, "{gpu}");
    }
}

#[test]
fn an_unknown_processors_registers_are_read_for_the_gpu_that_is_chosen() {
    // The file is vadd.gfx906.v5.co with another processor in e_flags, and has the same descriptor.
    let known = common::open("amdgpu/out/vadd.gfx906.v5.co");
    let unknown = common::open("amdgpu/mal/hdr-mach-unknown.co");
    let of = |document: &Document, key: &str| {
        let found = answer(document, 0, "gpu=gfx906");
        let mut inputs = found.inputs.iter();
        let input = inputs.find(|input| input.key == key).unwrap();
        input.value.clone()
    };
    for key in ["registers", "sgprs"] {
        assert_ne!(of(&known, key), "0");
        assert_eq!(of(&unknown, key), of(&known, key), "{key}");
    }
}

#[test]
fn what_a_gpu_does_not_have_is_said_of_amds_too() {
    let document = common::open("amdgpu/out/vadd.gfx906.v5.co");
    for (launch, expected) in [
        // 102 that have a number, 6 of VCC and the like, by 8; gfx6 has 104 in all, gfx802 96 (LLVM 22, IsaInfo).
        ("gpu=gfx906;sgprs=112", &[][..]),
        ("gpu=gfx906;sgprs=113", &["sgprs"]),
        ("gpu=gfx600;sgprs=104", &[]),
        ("gpu=gfx600;sgprs=105", &["sgprs"]),
        ("gpu=gfx802;sgprs=96", &[]),
        ("gpu=gfx802;sgprs=97", &["sgprs"]),
    ] {
        assert_eq!(wrong(&answer(&document, 0, launch)), expected, "{launch}");
    }
    // Scratch: 131056 bytes of a lane of a wave of 64 (clang 22).
    let mut bytes = common::bytes("amdgpu/out/vadd.gfx906.v5.co");
    let kernelscope::device::Device::CodeObject(object) = document.device() else {
        unreachable!()
    };
    let at = object.kernels[0].descriptor_span.offset as usize + 4;
    for (scratch, expected) in [(131_056_u32, &[][..]), (131_057, &["gpu"])] {
        bytes[at..at + 4].copy_from_slice(&scratch.to_le_bytes());
        let document = Document::open(kernelscope::Source::memory(bytes.clone()));
        let found = answer(&document, 0, "gpu=gfx906");
        assert_eq!(wrong(&found), expected, "{scratch}");
        assert_eq!(found.groups.is_some(), expected.is_empty());
    }
    // A grid that cannot be keeps no workgroup from running.
    let found = answer(&document, 0, "gpu=gfx906;grid=0;units=0");
    assert_eq!(wrong(&found), ["units", "grid"]);
    assert!(found.groups.is_some() && found.grid_waves.is_none());
    // What does not count is a note: from gfx10 on all waves have all scalar registers, barriers are NVIDIA's.
    let found = answer(
        &document,
        0,
        "gpu=gfx1030;sgprs=8;barriers=2;object=0x40;arg0=1",
    );
    let mut problems: Vec<&str> = found.problems.iter().map(|p| p.input.as_str()).collect();
    problems.retain(|input| *input != "gpu");
    assert_eq!(problems, ["sgprs", "barriers"]);
    // The wave that counts on a GPU without the kernel's is the GPU's.
    let wave32 = common::open("amdgpu/own/axpy.gfx1030.v4.co");
    for (gpu, source) in [
        ("gfx1030", "the kernel's descriptor"),
        ("gfx906", "LLVM 22, features of the GPU"),
    ] {
        let found = answer(&wave32, 0, &format!("gpu={gpu}"));
        let mut facts = found.facts.iter();
        let lanes = facts.find(|fact| fact.name == "lanes of a wave").unwrap();
        assert_eq!(lanes.source, source, "{gpu}");
    }
}

/// 512 bytes of the kernel's own, LDS by 512: the ends of the steps, and where the launch is.
#[test]
fn the_chart_of_lds_has_the_launch_on_it() {
    let document = common::open("amdgpu/own/hidden.gfx90a.v5.co");
    let found = answer(&document, 0, "shared=700");
    let chart = found.charts.iter().find(|chart| chart.input == "shared");
    let chart = chart.unwrap();
    assert_eq!(chart.present, 700);
    let values: Vec<u32> = chart.points.iter().map(|point| point[0]).collect();
    assert_eq!(values[..5], [0, 512, 700, 1024, 1536]);
    assert_eq!(values.last(), Some(&65_024));
    let there = chart.points.iter().find(|point| point[0] == 700).unwrap();
    assert_eq!(Some(there[1]), found.waves);
}
