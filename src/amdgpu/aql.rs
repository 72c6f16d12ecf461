//! AQL packets: what a queue of an HSA device holds, 64 bytes each. The layouts are data (`tables/amdgpu/aql.toml`).

use super::tables;
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::record::{Layout, Raw, Record};

/// Bytes of a packet.
pub const SIZE: usize = 64;

/// `HSA_PACKET_TYPE_KERNEL_DISPATCH`.
pub const KERNEL_DISPATCH: u8 = 2;

/// Work-items of a workgroup, on every device of AMD's.
pub(super) const WORKGROUP: u64 = 1024;

/// The layout of a packet: its header says what kind it is, that of AMD's own the byte behind it.
pub fn layout_of(bytes: &[u8]) -> &'static Layout {
    match (bytes.first(), bytes.get(2)) {
        (Some(&KERNEL_DISPATCH), _) => &tables::AQL_DISPATCH,
        (Some(3 | 5), _) => &tables::AQL_BARRIER,
        (Some(4), _) => &tables::AQL_AGENT,
        (Some(0), Some(1)) => &tables::AQL_PM4_IB,
        (Some(0), Some(2)) => &tables::AQL_BARRIER_VALUE,
        _ => &tables::AQL_OTHER,
    }
}

/// The packet of `bytes`, which begin at `offset` of the file. Where they are fewer than 64, the fields that are whole.
pub fn record(bytes: &[u8], offset: u64) -> Record {
    let kind = bytes.first().map(|&kind| kind.into());
    let kind = kind.and_then(|kind| tables::AQL_TYPE.name(kind));
    let title = match kind {
        Some(kind) => format!("AQL packet {kind}"),
        None => "AQL packet".into(),
    };
    layout_of(bytes).read(title, bytes, offset)
}

/// Whether `bytes` can be taken for packets: whole ones, each of a kind that is known or none yet, with nothing to be found
/// in any of them.
pub fn detect(bytes: &[u8]) -> bool {
    const INVALID: u8 = 1;
    let is_known = |packet: &[u8]| !std::ptr::eq(layout_of(packet), &tables::AQL_OTHER);
    let is_one = |packet: &[u8]| {
        let mut findings = Diagnostics::default();
        check(packet, 0, &mut findings);
        findings.is_empty() && (packet[0] == INVALID || is_known(packet))
    };
    let mut packets = bytes.chunks(SIZE);
    bytes.len().is_multiple_of(SIZE) && packets.clone().any(is_known) && packets.all(is_one)
}

/// Finds what no packet processor takes, and what it must not find, in the packet of `bytes`, which begin at `offset`.
pub fn check(bytes: &[u8], offset: u64, findings: &mut Diagnostics) {
    let record = record(bytes, offset);
    if bytes.len() < SIZE {
        findings.push(
            Diagnostic::error(Kind::Format, "the packet is cut short")
                .expected("64 bytes", bytes.len())
                .within("AQL packet")
                .at(offset),
        );
    }
    for field in &record.fields {
        let is_zero = match &field.raw {
            Raw::Int(value) => *value == 0,
            Raw::Bytes(bytes) => bytes.iter().all(|byte| *byte == 0),
            Raw::None => true,
        };
        let message = match field.kind {
            "reserved" if !is_zero => "reserved bits are set",
            // What has a name has a meaning.
            "enum" if field.meaning.is_none() => "the value is not known",
            _ => continue,
        };
        let kind = match field.kind {
            "enum" => Kind::UnknownValue,
            _ => Kind::Format,
        };
        findings.push(
            Diagnostic::warning(kind, message)
                .within(format!("{}, {}", record.name, field.name))
                .at(offset.saturating_add((field.bits[1] / 8).into())),
        );
    }
    if bytes.first() == Some(&KERNEL_DISPATCH) && bytes.len() >= SIZE {
        dispatch(&record, offset, findings);
    }
}

/// The fields of a size along x, y and z.
pub(super) const WORKGROUP_SIZES: [&str; 3] =
    ["workgroup_size_x", "workgroup_size_y", "workgroup_size_z"];
/// Those of the grid.
pub(super) const GRID_SIZES: [&str; 3] = ["grid_size_x", "grid_size_y", "grid_size_z"];

/// Finds what is wrong with a packet that launches a kernel.
fn dispatch(record: &Record, offset: u64, findings: &mut Diagnostics) {
    let mut find = |name: &str, message: &str, expected: &str, severe: bool| {
        let Some(field) = record.field(name) else {
            return;
        };
        let finding = match severe {
            true => Diagnostic::error(Kind::Format, message),
            false => Diagnostic::warning(Kind::Format, message),
        };
        findings.push(
            finding
                .expected(expected, field.value_text())
                .within(format!("{}, {name}", record.name))
                .at(offset.saturating_add((field.bits[1] / 8).into())),
        );
    };
    let dimensions = record.number("dimensions");
    if dimensions == 0 {
        find("dimensions", "the grid has no dimensions", "1 to 3", true);
    }
    for names in [WORKGROUP_SIZES, GRID_SIZES] {
        for (axis, name) in names.into_iter().enumerate() {
            match record.number(name) {
                0 => find(name, "a size is 0", "1 at least", true),
                2.. if axis as u64 >= dimensions.max(1) => {
                    let message = "a size along an axis that the grid does not have";
                    find(name, message, "1", true);
                }
                _ => {}
            }
        }
    }
    let sizes = WORKGROUP_SIZES.map(|name| record.number(name));
    if sizes.into_iter().product::<u64>() > WORKGROUP {
        let message = "the workgroup has more work-items than any device of AMD's takes";
        find("workgroup_size_x", message, "1024 in all", false);
    }
    if record.number("kernel_object") == 0 {
        find("kernel_object", "there is no kernel", "an address", true);
    }
    if !record.number("kernarg_address").is_multiple_of(16) {
        find(
            "kernarg_address",
            "the arguments are not aligned",
            "a multiple of 16",
            false,
        );
    }
}
