//! What a dispatch of a code object's kernel hands to the GPU. Expected values are offsets of the HSA System Architecture
//! Specification, limits of `limits.json`'s sources (LLVM 22), or arithmetic shown here.

mod common;

use kernelscope::amdgpu::aql;
use kernelscope::error::{Diagnostics, Severity};
use kernelscope::record::Value;

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
        ((32, 8, 0), Error, "kernel_object", 32),
        ((40, 8, 8), Warning, "kernarg_address", 40),
        ((48, 8, 1 << 63), Warning, "reserved2", 48),
    ] {
        let mut bytes = base.clone();
        let (offset, size, value): (usize, usize, u64) = part;
        bytes[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
        let found = findings(&bytes);
        let name = format!("AQL packet KERNEL_DISPATCH, {name}");
        assert!(
            found.contains(&(severity, name, 0x1000 + at)),
            "{part:?}: {found:?}"
        );
        assert!(!aql::detect(&bytes), "{part:?}");
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
