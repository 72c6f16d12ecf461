//! What a dispatch of a code object's kernel hands to the GPU. Expected values are offsets of the HSA System Architecture
//! Specification, limits of `limits.json`'s sources (LLVM 22), or arithmetic shown here.

mod common;

use common::Random;
use kernelscope::amdgpu::aql;
use kernelscope::device::Device;
use kernelscope::error::{Diagnostics, Severity};
use kernelscope::launch::{Launch, Made, OriginKind};
use kernelscope::record::Value;
use kernelscope::{Document, Source};

/// A packet with numbers at offsets: offset, bytes, value.
fn packet(parts: &[(usize, usize, u64)]) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    for (at, size, value) in parts {
        bytes[*at..at + size].copy_from_slice(&value.to_le_bytes()[..*size]);
    }
    bytes
}

/// By the specification, 2.9.6: header, setup, workgroup sizes, reserved, grid sizes, segment sizes, kernel object, kernel
/// arguments, reserved, completion signal. The header is type 2, barrier, acquire and release of scope 1: 2 + 0x100 + 0x200 + 0x800.
fn dispatch() -> Vec<u8> {
    packet(&[
        (0, 2, 0xb02),
        (2, 2, 3),
        (4, 2, 64),
        (6, 2, 4),
        (8, 2, 2),
        (12, 4, 6400),
        (16, 4, 40),
        (20, 4, 2),
        (24, 4, 1024),
        (28, 4, 45792),
        (32, 8, 0x7f18_202d_b640),
        (40, 8, 0x7f18_2000_0010),
        (56, 8, 0x7f18_23bf_ef80),
    ])
}

fn findings(bytes: &[u8]) -> Vec<(Severity, String, u64)> {
    let mut findings = Diagnostics::default();
    aql::check(bytes, 0x1000, &mut findings);
    let found = findings.iter().map(|finding| {
        let context = finding.context.clone().unwrap_or_default();
        (finding.severity, context, finding.offset.unwrap())
    });
    found.collect()
}

#[test]
fn a_dispatch_packet_is_read_by_the_specifications_offsets() {
    let bytes = dispatch();
    let record = aql::record(&bytes, 0x1000);
    assert_eq!(record.name, "AQL packet KERNEL_DISPATCH");
    assert_eq!(record.layout, Some("hsa_kernel_dispatch_packet_t"));
    for (name, expected) in [
        ("type", 2),
        ("scacquire_fence_scope", 1),
        ("screlease_fence_scope", 1),
        ("dimensions", 3),
        ("workgroup_size_x", 64),
        ("workgroup_size_y", 4),
        ("workgroup_size_z", 2),
        ("grid_size_x", 6400),
        ("grid_size_y", 40),
        ("grid_size_z", 2),
        ("private_segment_size", 1024),
        ("group_segment_size", 45792),
        ("kernel_object", 0x7f18_202d_b640),
        ("kernarg_address", 0x7f18_2000_0010),
        ("completion_signal", 0x7f18_23bf_ef80),
    ] {
        assert_eq!(record.number(name), expected, "{name}");
    }
    assert_eq!(record.field("barrier").unwrap().value, Value::Flag(true));
    assert!(record.gaps().is_empty());
    assert_eq!(findings(&bytes), []);
    assert!(aql::detect(&bytes));
}

#[test]
fn every_kind_of_packet_has_its_layout() {
    for (parts, layout, field) in [
        (
            &[(0, 1, 3), (8, 8, 7)][..],
            "hsa_barrier_and_packet_t, hsa_barrier_or_packet_t",
            "dep_signal0",
        ),
        (
            &[(0, 1, 5), (40, 8, 7)],
            "hsa_barrier_and_packet_t, hsa_barrier_or_packet_t",
            "dep_signal4",
        ),
        (
            &[(0, 1, 4), (2, 2, 7)],
            "hsa_agent_dispatch_packet_t",
            "function",
        ),
        (
            &[(0, 1, 4), (40, 8, 7)],
            "hsa_agent_dispatch_packet_t",
            "arg3",
        ),
        (
            &[(0, 1, 0), (2, 1, 2), (24, 8, 7)],
            "hsa_amd_barrier_value_packet_t",
            "mask",
        ),
        (
            &[(0, 1, 0), (2, 2, 1), (20, 4, 7)],
            "amd_aql_pm4_ib",
            "dw_cnt_remain",
        ),
        (
            &[(0, 1, 0), (2, 1, 3)],
            "hsa_amd_vendor_packet_header_t",
            "",
        ),
        (
            &[(0, 1, 0), (2, 1, 9)],
            "hsa_amd_vendor_packet_header_t",
            "",
        ),
        (&[(0, 1, 1)], "AQL packet", ""),
        (&[(0, 1, 6)], "AQL packet", ""),
    ] {
        let bytes = packet(parts);
        let record = aql::record(&bytes, 0);
        assert_eq!(record.layout, Some(layout), "{parts:?}");
        assert!(record.gaps().is_empty(), "{layout}");
        if !field.is_empty() {
            assert_eq!(record.number(field), 7, "{layout}, {field}");
        }
    }
    // A queue: a packet, one that is not there yet.
    let mut queue = dispatch();
    queue.extend(packet(&[(0, 1, 1)]));
    assert!(aql::detect(&queue));
    assert!(!aql::detect(&packet(&[(0, 1, 1)])));
    assert!(!aql::detect(&[0; 64]));
    assert!(!aql::detect(&[]));
    assert!(!aql::detect(&dispatch()[..63]));
}

#[test]
fn what_is_wrong_with_a_packet_is_found_at_its_bytes() {
    use Severity::{Error, Warning};
    let base = dispatch();
    for (part, severity, name, at) in [
        ((0, 2, 0x2b02), Warning, "header_reserved", 1),
        // Both scopes 3.
        ((0, 2, 0x0f02), Warning, "scacquire_fence_scope", 1),
        ((2, 2, 0), Error, "dimensions", 2),
        ((2, 2, 7), Warning, "setup_reserved", 2),
        ((2, 2, 2), Error, "workgroup_size_z", 8),
        ((4, 2, 0), Error, "workgroup_size_x", 4),
        // 129 × 4 × 2 are 1032.
        ((4, 2, 129), Warning, "workgroup_size_x", 4),
        ((10, 2, 1), Warning, "reserved0", 10),
        ((12, 4, 0), Error, "grid_size_x", 12),
        // hsa.h: not smaller than the workgroup's 64 and 4.
        ((12, 4, 63), Error, "grid_size_x", 12),
        ((16, 4, 3), Error, "grid_size_y", 16),
        ((32, 8, 0), Error, "kernel_object", 32),
        ((40, 8, 8), Warning, "kernarg_address", 40),
        ((48, 8, 1 << 63), Warning, "reserved2", 48),
    ] {
        let mut bytes = base.clone();
        let (offset, size, value): (usize, usize, u64) = part;
        bytes[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
        let found = findings(&bytes);
        let found_name = format!("AQL packet KERNEL_DISPATCH, {name}");
        assert!(
            found.contains(&(severity, found_name.clone(), 0x1000 + at)),
            "{part:?}: {found:?}"
        );
        // What is wrong with a packet does not hide that it is one, but where nothing else says so.
        let is_shapeless = [
            "AQL packet KERNEL_DISPATCH, header_reserved",
            "AQL packet KERNEL_DISPATCH, dimensions",
            "AQL packet KERNEL_DISPATCH, setup_reserved",
            "AQL packet KERNEL_DISPATCH, workgroup_size_x",
            "AQL packet KERNEL_DISPATCH, grid_size_x",
        ];
        let is_zero = value == 0 && at != 32;
        let is_reserved = at == 1 && value == 0x2b02 || at == 2 && value == 7;
        let is_shapeless = is_shapeless.contains(&found_name.as_str()) && (is_zero || is_reserved);
        assert_eq!(aql::detect(&bytes), !is_shapeless, "{part:?}");
        // Nor does one in a queue hide the others.
        let queue = [base.as_slice(), &base, &bytes].concat();
        assert!(aql::detect(&queue), "{part:?}");
    }
    // What is said is the product: 64 × 32 are 2048.
    let mut bytes = base.clone();
    bytes[6] = 32;
    bytes[8] = 1;
    let mut found = Diagnostics::default();
    aql::check(&bytes, 0, &mut found);
    let texts: Vec<Option<String>> = found.iter().map(|finding| finding.found.clone()).collect();
    assert_eq!(texts, [Some("2048".into())]);
    // hsa_ext_amd.h names formats 1, 2 and 3 of vendor-specific packets.
    for (format, expected) in [(1, 0), (2, 0), (3, 0), (0, 1), (4, 1)] {
        let found = findings(&packet(&[(2, 1, format)]));
        assert_eq!(found.len(), expected, "{format}: {found:?}");
    }
    // 128 × 4 × 2 are 1024.
    let mut bytes = base.clone();
    bytes[4] = 128;
    assert_eq!(findings(&bytes), []);
    for size in 0..64 {
        let found = findings(&base[..size]);
        assert_eq!(found, [(Error, "AQL packet".into(), 0x1000)], "{size}");
    }
}

fn made<'a>(launch: &'a Launch, key: &str) -> &'a Made {
    launch.made.iter().find(|made| made.key == key).unwrap()
}

/// The inputs that are wrong, each once.
fn wrong(launch: &Launch) -> Vec<&str> {
    let problems = launch.problems.iter();
    let errors = problems.filter(|problem| problem.severity == Severity::Error);
    let mut inputs: Vec<&str> = errors.map(|problem| problem.input.as_str()).collect();
    inputs.dedup();
    inputs
}

fn notes(launch: &Launch) -> Vec<&str> {
    let problems = launch.problems.iter();
    let notes = problems.filter(|problem| problem.severity == Severity::Note);
    notes.map(|problem| problem.input.as_str()).collect()
}

/// Where the value of a field comes from, and whether it is open.
fn origin(made: &Made, name: &str) -> (OriginKind, bool, Option<u64>) {
    let mut fields = made.record.fields.iter().zip(&made.origins);
    let (_, origin) = fields.find(|(field, _)| field.name == name).unwrap();
    let place = origin.place.map(|place| place.offset);
    (origin.what, origin.is_open, place)
}

const VADD: &str = "amdgpu/out/vadd.gfx906.v5.co";

/// As ROCm logged a launch of a kernel such as this one: header 0x1502, setup 3, grid [1000192, 1, 1], workgroup [256, 1, 1], no
/// scratch, no LDS, the addresses, no completion signal.
#[test]
fn a_launch_by_hip_has_the_packet_that_rocm_logs() {
    let document = common::open(VADD);
    let inputs = "grid=3907;block=256;object=0x7f0823adc680;kernarg=0x7f0720a00000;signal=0";
    let launch = document.launch(0, inputs).unwrap();
    assert_eq!(wrong(&launch), [""; 0]);
    let found = made(&launch, "packet");
    let expected = packet(&[
        (0, 2, 0x1502),
        (2, 2, 3),
        (4, 2, 256),
        (6, 2, 1),
        (8, 2, 1),
        (12, 4, 1_000_192),
        (16, 4, 1),
        (20, 4, 1),
        (32, 8, 0x7f08_23ad_c680),
        (40, 8, 0x7f07_20a0_0000),
    ]);
    assert_eq!(found.bytes, expected);
    assert_eq!(found.record.layout, Some("hsa_kernel_dispatch_packet_t"));
    assert!(!found.record.is_stored);
    assert!(aql::detect(&found.bytes));
    // The descriptor's second word says the scratch of a work-item.
    let Device::CodeObject(object) = document.device() else {
        unreachable!()
    };
    let descriptor = object.kernels[0].descriptor_span.offset;
    let file = |at| (OriginKind::File, false, Some(descriptor + at));
    assert_eq!(origin(found, "private_segment_size"), file(4));
    assert_eq!(origin(found, "group_segment_size"), file(0));
    assert_eq!(
        origin(found, "grid_size_x"),
        (OriginKind::Launch, false, None)
    );
    assert_eq!(
        origin(found, "kernel_object"),
        (OriginKind::Slot, false, None)
    );
    assert_eq!(origin(found, "reserved2"), (OriginKind::Unset, false, None));

    // By HSA's own runtimes there is no barrier, and as many dimensions as there are.
    let launch = document.launch(0, "profile=hsa;grid=2,3;block=64").unwrap();
    let found = made(&launch, "packet");
    assert_eq!(found.bytes[..4], [0x02, 0x14, 2, 0]);
    for (name, input, bits) in [
        ("kernel_object", "object", [319, 256]),
        ("kernarg_address", "kernarg", [383, 320]),
        ("completion_signal", "signal", [511, 448]),
    ] {
        assert_eq!(
            origin(found, name),
            (OriginKind::Slot, true, None),
            "{name}"
        );
        let slot = found.slots.iter().find(|slot| slot.input == input).unwrap();
        assert_eq!(slot.value, None);
        assert_eq!(slot.parts[0].bits, bits);
    }
    assert_eq!(found.bytes[32..64], [0; 32]);
}

/// Offsets by `llvm-readelf --notes`; values by AMDGPUUsage: whole workgroups, their size, what is left.
#[test]
fn the_kernarg_segment_has_what_the_launch_determines() {
    let document = common::open(VADD);
    let inputs = "grid_items=1000;block=256;arg0=ptr:0x7f0000100000;arg1=0x7f0000200000;arg3=1000;profile=hsa";
    let launch = document.launch(0, inputs).unwrap();
    assert_eq!(wrong(&launch), [""; 0]);
    let found = made(&launch, "kernarg");
    let mut expected = vec![0; 288];
    for (at, size, value) in [
        (0, 8, 0x7f00_0010_0000_u64),
        (8, 8, 0x7f00_0020_0000),
        (24, 4, 1000),
        // 3 × 256 are 768, and 232 are left.
        (32, 4, 3),
        (36, 4, 1),
        (40, 4, 1),
        (44, 2, 256),
        (46, 2, 1),
        (48, 2, 1),
        (50, 2, 232),
        (96, 2, 1),
    ] {
        let at: usize = at;
        expected[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
    assert_eq!(found.bytes, expected);
    let slots: Vec<(&str, Option<&str>)> = found
        .slots
        .iter()
        .map(|slot| (slot.input.as_str(), slot.value.as_deref()))
        .collect();
    assert_eq!(
        slots,
        [
            ("arg0", Some("0x7f0000100000")),
            ("arg1", Some("0x7f0000200000")),
            ("arg2", None)
        ]
    );
    let what = |name| {
        let (what, is_open, place) = origin(found, name);
        assert_eq!(place.is_some(), what != OriginKind::Unset, "{name}");
        (what, is_open)
    };
    assert_eq!(what("argument 2"), (OriginKind::Slot, true));
    assert_eq!(what("argument 3"), (OriginKind::Launch, false));
    assert_eq!(what("hidden_block_count_x"), (OriginKind::Launch, false));
    assert_eq!(what("padding"), (OriginKind::Unset, false));
    // HIP's grids have three dimensions.
    let launch = document.launch(0, "grid=4;block=256").unwrap();
    let bytes = &made(&launch, "kernarg").bytes;
    assert_eq!((bytes[32], bytes[50], bytes[96]), (4, 0, 3));

    // What else there is: LDS that the launch adds, addresses that only the runtime knows.
    let document = common::open("amdgpu/own/hidden.gfx90a.v5.co");
    let inputs = "grid=2;block=64,2;shared=48;hidden.heap_v1=0x1000;hidden.global_offset_y=7";
    let launch = document.launch(0, inputs).unwrap();
    assert_eq!(wrong(&launch), [""; 0]);
    let found = made(&launch, "kernarg");
    let number = |name| found.record.number(name);
    assert_eq!(number("hidden_dynamic_lds_size"), 48);
    assert_eq!(number("hidden_heap_v1"), 0x1000);
    assert_eq!(number("hidden_global_offset_y"), 7);
    assert_eq!(number("hidden_group_size_y"), 2);
    assert_eq!(origin(found, "hidden_heap_v1").0, OriginKind::Slot);
    assert!(origin(found, "hidden_queue_ptr").1);
    // 512 bytes are the kernel's own.
    assert_eq!(
        made(&launch, "packet").record.number("group_segment_size"),
        560
    );
    assert!(found.record.gaps().is_empty());
}

#[test]
fn every_rule_holds_at_its_limit_and_not_past_it() {
    let none: [&str; 0] = [];
    for (path, inputs, expected) in [
        // .max_flat_workgroup_size 256.
        (VADD, "block=256", &none[..]),
        (VADD, "block=257", &["block"]),
        (VADD, "block=16,16", &none),
        (VADD, "block=16,16,2", &["block"]),
        (VADD, "block=0", &["block"]),
        (VADD, "block=70000", &["block"]),
        // Without metadata 1024.
        (
            "amdgpu/own/bare.gfx900.v4.nosections.co",
            "block=1024",
            &none,
        ),
        (
            "amdgpu/own/bare.gfx900.v4.nosections.co",
            "block=1025",
            &["block"],
        ),
        // 32 bits of work-items: 16777215 × 256 is 4294967040.
        (VADD, "block=256;grid=16777215", &none),
        (VADD, "block=256;grid=16777216", &["grid"]),
        (VADD, "block=1;grid_items=1,1,4294967295", &none),
        (VADD, "block=1;grid_items=1,1,4294967296", &["grid_items"]),
        (VADD, "grid=0", &["grid"]),
        (VADD, "grid_items=0", &["grid_items"]),
        // hsa.h: the grid must not be smaller than the workgroup.
        (VADD, "grid_items=64;block=64", &none),
        (VADD, "grid_items=63;block=64", &["grid_items"]),
        (VADD, "grid_items=64,1;block=32,2", &["grid_items"]),
        // LDS: 64 KiB of gfx906, of other GPUs as they have it.
        (VADD, "shared=65536", &none),
        (VADD, "shared=65537", &["shared"]),
        (VADD, "gpu=gfx600;shared=32768", &none),
        (VADD, "gpu=gfx600;shared=32769", &["shared"]),
        (VADD, "gpu=gfx950;shared=163840", &none),
        (VADD, "gpu=gfx950;shared=163841", &["shared"]),
        (VADD, "gpu=gfx1250;shared=327680", &none),
        (VADD, "gpu=gfx1250;shared=327681", &["shared"]),
        // Static LDS of 512 bytes counts: .max_num_workgroups 8, 4, 2; .reqd_workgroup_size 64, 2, 1.
        (
            "amdgpu/own/hidden.gfx90a.v5.co",
            "grid=1;shared=65024",
            &none,
        ),
        (
            "amdgpu/own/hidden.gfx90a.v5.co",
            "grid=1;shared=65025",
            &["shared"],
        ),
        ("amdgpu/own/hidden.gfx90a.v5.co", "grid=8,4,2", &none),
        ("amdgpu/own/hidden.gfx90a.v5.co", "grid=9,4,2", &["grid"]),
        ("amdgpu/own/hidden.gfx90a.v5.co", "grid=8,5,2", &["grid"]),
        ("amdgpu/own/hidden.gfx90a.v5.co", "grid=8,4,3", &["grid"]),
        ("amdgpu/own/hidden.gfx90a.v5.co", "block=64,2,1", &none),
        (
            "amdgpu/own/hidden.gfx90a.v5.co",
            "block=128,1,1",
            &["block"],
        ),
        // V2 has ReqdWorkGroupSize 64, 1, 1.
        ("amdgpu/own/code_v2.gfx803.v2.llvm14.co", "block=64", &none),
        (
            "amdgpu/own/code_v2.gfx803.v2.llvm14.co",
            "block=128",
            &["block"],
        ),
        // .uniform_work_group_size 1.
        (
            "amdgpu/own/names.gfx90a.v5.co",
            "grid_items=1024;block=256",
            &none,
        ),
        (
            "amdgpu/own/names.gfx90a.v5.co",
            "grid_items=1025;block=256",
            &["grid_items"],
        ),
        (VADD, "grid_items=1025;block=256", &none),
        // Addresses.
        (VADD, "object=0x40;kernarg=0x10;signal=0x40", &none),
        (
            VADD,
            "object=0x20;kernarg=0x8;signal=0x8",
            &["object", "kernarg", "signal"],
        ),
        (VADD, "object=here", &["object"]),
        // As reading a packet says it: there is no kernel.
        (VADD, "object=0", &["object"]),
        // Arguments.
        (VADD, "arg3=u32:4294967295", &none),
        (VADD, "arg3=u32:4294967296", &["arg3"]),
        (VADD, "arg3=u64:1", &["arg3"]),
        (
            VADD,
            "arg99=1;hidden.heap_v1=0",
            &["arg99", "hidden.heap_v1"],
        ),
        (VADD, "hidden.remainder_x=65535", &none),
        (VADD, "hidden.hidden_remainder_x=65535", &none),
        (
            VADD,
            "hidden.hidden_remainder_x=65536",
            &["hidden.hidden_remainder_x"],
        ),
        (VADD, "hidden.remainder_x=65536", &["hidden.remainder_x"]),
        // Fields.
        (VADD, "set.dimensions=3", &none),
        (VADD, "set.dimensions=4", &["set.dimensions"]),
        (VADD, "set.colour=1", &["set.colour"]),
        (VADD, "gpu=gfx1;profile=cuda", &["gpu", "profile"]),
    ] {
        let document = common::open(path);
        let launch = document.launch(0, inputs).unwrap();
        assert_eq!(wrong(&launch), expected, "{path}: {inputs}");
        assert_eq!(launch.made.len(), 2);
    }
}

/// Scratch of a work-item that clang 22 takes at most, by generation and wave (`limits.json`).
#[test]
fn scratch_is_what_a_wave_can_have() {
    for (path, gpu, limit) in [
        ("amdgpu/own/axpy.gfx906.v6.co", "gfx906", 131_056_u32),
        (
            "amdgpu/own/axpy.gfx1030.v5.wavefrontsize64.co",
            "gfx1030",
            131_056,
        ),
        ("amdgpu/own/axpy.gfx1030.v4.co", "gfx1030", 262_112),
        (
            "amdgpu/own/axpy.gfx1030.v5.wavefrontsize64.co",
            "gfx1100",
            131_068,
        ),
        ("amdgpu/own/axpy.gfx1100.v5.co", "gfx1100", 262_136),
        (
            "amdgpu/own/axpy.gfx1030.v5.wavefrontsize64.co",
            "gfx1201",
            1_048_572,
        ),
        ("amdgpu/own/axpy.gfx1250.v5.co", "gfx1250", 2_097_144),
    ] {
        let document = common::open(path);
        let Device::CodeObject(object) = document.device() else {
            unreachable!()
        };
        let at = object.kernels[0].descriptor_span.offset as usize + 4;
        for (scratch, expected) in [
            (limit - 1, &[][..]),
            (limit, &[]),
            (limit + 1, &["gpu"]),
            (u32::MAX, &["gpu"]),
        ] {
            let mut bytes = common::bytes(path);
            bytes[at..at + 4].copy_from_slice(&scratch.to_le_bytes());
            let document = Document::open(Source::memory(bytes));
            let launch = document.launch(0, &format!("gpu={gpu}")).unwrap();
            assert_eq!(wrong(&launch), expected, "{path} on {gpu}: {scratch}");
            let packet = made(&launch, "packet");
            assert_eq!(
                packet.record.number("private_segment_size"),
                u64::from(scratch)
            );
        }
    }
}

#[test]
fn what_is_worth_knowing_is_a_note() {
    let launch = |path: &str, inputs: &str| common::open(path).launch(0, inputs).unwrap();
    assert_eq!(notes(&launch(VADD, "")), [""; 0]);
    // Code for another GPU, XNACK that has to be off, a stack of no known size, two grids.
    assert_eq!(notes(&launch(VADD, "gpu=gfx1100")), ["gpu"]);
    let path = "amdgpu/own/axpy.gfx1010-xnack-.v5.co";
    assert_eq!(notes(&launch(path, "")), ["gpu"]);
    assert_eq!(
        notes(&launch("amdgpu/own/hidden.gfx90a.v5.co", "")),
        ["gpu"]
    );
    let inputs = "grid=4;grid_items=256";
    assert_eq!(notes(&launch(VADD, inputs)), ["grid"]);
    // What only launches of NVIDIA's have; the occupancy's inputs are in the same link and count there.
    let inputs =
        "cluster=2;chain=0x100;release0=0x8;version=05.00;barriers=2;units=60;registers=8;sgprs=8";
    assert_eq!(
        notes(&launch(VADD, inputs)),
        ["cluster", "chain", "release0", "version"]
    );
    // Reserved bits can be set, and are said.
    let found = launch(VADD, "set.header_reserved=1");
    assert_eq!(notes(&found), ["set.header_reserved"]);
    assert_eq!(notes(&launch(VADD, "set.header_reserved=0")), [""; 0]);
    // A field that is typed alone counts, whatever else says it.
    let found = launch(
        VADD,
        "set.scacquire_fence_scope=1;set.screlease_fence_scope=0x1",
    );
    let found = made(&found, "packet");
    assert_eq!(found.bytes[..2], [0x02, 0x0b]);
    assert_eq!(origin(found, "screlease_fence_scope").0, OriginKind::Set);
}

#[test]
fn no_inputs_make_any_kernel_panic() {
    let mut random = Random(61);
    let keys = [
        "gpu",
        "profile",
        "grid",
        "grid_items",
        "block",
        "shared",
        "object",
        "kernarg",
        "signal",
        "arg0",
        "arg1",
        "arg7",
        "hidden.block_count_x",
        "hidden.heap_v1",
        "set.type",
        "set.grid_size_x",
        "set.",
        "arg",
        "hidden.",
    ];
    let values = [
        "",
        "0",
        "1",
        "32",
        "1024",
        "4294967295",
        "4294967296",
        "18446744073709551615",
        "-1",
        "1,2,3",
        "0x",
        "65535,65535,65535",
        "gfx906",
        "gfx1250:xnack+",
        "MI300X",
        "hsa",
        "f32:1.5",
        "ptr:",
        "ptr:0xffffffffffffffff",
        "raw:00",
        "u8:256",
        "\u{e9}",
        ":",
        "f64:nan",
    ];
    let mut launches = 0;
    let folders = [
        "amdgpu/linked",
        "amdgpu/own",
        "amdgpu/out",
        "amdgpu/con",
        "amdgpu/mal",
    ];
    for path in common::all(&folders) {
        let document = common::open(&path);
        for kernel in 0..4 {
            for _ in 0..4 {
                let typed: Vec<String> = keys
                    .iter()
                    .map(|key| {
                        let value = values[random.below(values.len() as u64) as usize];
                        format!("{key}={value}")
                    })
                    .collect();
                let Some(launch) = document.launch(kernel, &typed.join(";")) else {
                    break;
                };
                launches += 1;
                serde_json::to_string(&launch).unwrap();
                for made in &launch.made {
                    assert_eq!(made.record.fields.len(), made.origins.len(), "{path}");
                    let open = made.origins.iter().filter(|origin| origin.is_open);
                    let slots = made.slots.iter().filter(|slot| slot.value.is_none());
                    assert_eq!(open.count(), slots.count(), "{path}: {typed:?}");
                    for part in made.slots.iter().flat_map(|slot| &slot.parts) {
                        assert!(part.bits[0] < made.bytes.len() as u32 * 8, "{path}");
                        assert!(made.record.field(&part.field).is_some(), "{path}");
                    }
                }
            }
        }
    }
    assert!(launches > 500, "only {launches}");
}

/// `.kernarg_segment_size` of vadd is 288, and the descriptor has it, too: without metadata that is all that is known.
#[test]
fn without_metadata_the_segment_is_one_slot() {
    for (path, size) in [
        ("amdgpu/out/nometa.gfx906.v5.co", None),
        ("amdgpu/own/bare.gfx1201.v5.co", None),
        ("amdgpu/own/bare.gfx900.v4.nosections.co", None::<usize>),
    ] {
        let document = common::open(path);
        let Device::CodeObject(object) = document.device() else {
            unreachable!()
        };
        let of_kernel = object.kernels[0].kernarg_size.unwrap() as usize;
        let size = size.unwrap_or(of_kernel);
        assert!(object.kernels[0].args.is_none() && size > 0, "{path}");
        let launch = document.launch(0, "").unwrap();
        let found = made(&launch, "kernarg");
        assert_eq!(found.bytes, vec![0; size]);
        assert_eq!(origin(found, "arguments"), (OriginKind::Slot, true, None));
        assert_eq!(found.slots.len(), 1);
        assert_eq!(found.slots[0].input, "arg0");
        assert_eq!(found.slots[0].parts[0].bits, [size as u32 * 8 - 1, 0]);

        let digits = "5a".repeat(size);
        let launch = document.launch(0, &format!("arg0=raw:{digits}")).unwrap();
        assert_eq!(wrong(&launch), [""; 0], "{path}");
        let found = made(&launch, "kernarg");
        assert_eq!(found.bytes, vec![0x5a; size]);
        assert_eq!(
            origin(found, "arguments"),
            (OriginKind::Launch, false, None)
        );
        let launch = document.launch(0, "arg0=raw:5a").unwrap();
        assert_eq!(wrong(&launch), ["arg0"], "{path}");
    }
}

#[test]
fn addresses_of_arguments_are_hexadecimal_as_all_others_are() {
    let document = common::open(VADD);
    for (text, expected) in [
        ("4096", 0x4096_u64),
        ("0x4096", 0x4096),
        ("ptr:4096", 0x4096),
        ("7f00", 0x7f00),
        ("u64:4096", 4096),
    ] {
        let launch = document.launch(0, &format!("arg0={text}")).unwrap();
        assert_eq!(wrong(&launch), [""; 0], "{text}");
        let bytes = &made(&launch, "kernarg").bytes;
        assert_eq!(bytes[..8], expected.to_le_bytes(), "{text}");
        let mut inputs = launch.inputs.iter();
        let input = inputs.find(|input| input.key == "arg0").unwrap();
        assert!(input.note.contains("hexadecimal"), "{}", input.note);
    }
}

#[test]
fn sources_say_who_says_it_and_not_more() {
    let document = common::open(VADD);
    let source = |inputs: &str, name: &str| {
        let launch = document.launch(0, inputs).unwrap();
        let found = made(&launch, "kernarg");
        let mut fields = found.record.fields.iter().zip(&found.origins);
        let (_, origin) = fields.find(|(field, _)| field.name == name).unwrap();
        (origin.what, origin.source.clone())
    };
    // HIP has three dimensions whatever the grid is. The metadata lists an argument, it has no value of it.
    assert_eq!(
        source("profile=hip", "hidden_grid_dims"),
        (
            OriginKind::Profile,
            "hip (ROCm's logs), listed in the metadata".into()
        )
    );
    assert_eq!(
        source("profile=hsa", "hidden_grid_dims"),
        (OriginKind::Launch, "grid, listed in the metadata".into())
    );
    assert_eq!(
        source("", "argument 3"),
        (OriginKind::Slot, "arg3, listed in the metadata".into())
    );
}

#[test]
fn a_slot_that_is_typed_as_a_field_is_not_open() {
    let document = common::open(VADD);
    let launch = document.launch(0, "set.kernel_object=0x1240").unwrap();
    let found = made(&launch, "packet");
    assert_eq!(found.bytes[32..34], [0x40, 0x12]);
    let slot = found.slots.iter().find(|slot| slot.input == "object");
    assert_eq!(slot.unwrap().value.as_deref(), Some("0x1240"));
    assert_eq!(
        origin(found, "kernel_object"),
        (OriginKind::Set, false, None)
    );
}

/// vadd's fourth argument has 4 bytes at 24: in a segment of 27 it lies outside.
#[test]
fn an_argument_outside_the_segment_is_said() {
    let mut bytes = common::bytes(VADD);
    let document = Document::open(Source::memory(bytes.clone()));
    let Device::CodeObject(object) = document.device() else {
        unreachable!()
    };
    let at = object.kernels[0].descriptor_span.offset as usize + 8;
    for (size, is_said) in [(27_u32, true), (28, false)] {
        bytes[at..at + 4].copy_from_slice(&size.to_le_bytes());
        let document = Document::open(Source::memory(bytes.clone()));
        let launch = document.launch(0, "arg3=1").unwrap();
        assert_eq!(wrong(&launch).contains(&"arg3"), is_said, "{size}");
        assert_eq!(made(&launch, "kernarg").bytes.len(), size as usize);
        assert!(wrong(&launch).contains(&"hidden.block_count_x"), "{size}");
    }
}

/// What the program makes can be read back though nobody has filled in its addresses, and so can an empty queue.
#[test]
fn a_dispatch_is_told_from_its_bytes() {
    use kernelscope::decode::{Contents, Dumped};
    use kernelscope::launch::Inputs;
    let launch = common::open(VADD).launch(0, "grid=16;block=256").unwrap();
    let bytes = made(&launch, "packet").bytes.clone();
    assert_eq!(bytes[32..40], [0; 8]);
    let read = |bytes: Vec<u8>, inputs: &str| {
        let mut findings = Diagnostics::default();
        let inputs = Inputs::read(inputs);
        let dumped = Dumped::read(Source::memory(bytes), &inputs, &mut findings);
        let messages = findings.iter().map(|finding| finding.message.to_string());
        (dumped, messages.collect::<Vec<_>>())
    };
    let (dumped, findings) = read(bytes, "");
    assert!(matches!(dumped.contents, Contents::Packets(1)));
    assert_eq!(findings, ["there is no kernel"]);
    let (dumped, findings) = read(Vec::new(), "as=aql");
    assert!(matches!(dumped.contents, Contents::Packets(0)));
    assert_eq!(findings, ["there is no packet"]);
}
