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
        (Some(0), Some(_)) => &tables::AQL_VENDOR,
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

/// Whether `bytes` can be taken for packets: whole ones, of which those that look like packets are not fewer than those that do
/// not. Places of a queue where nothing is yet, or that are all zero, count for neither. What is wrong with a packet that
/// looks like one is [`check`]'s to find.
pub fn detect(bytes: &[u8]) -> bool {
    const INVALID: u8 = 1;
    let (mut packets, mut others) = (0_usize, 0_usize);
    for packet in bytes.chunks(SIZE) {
        match packet {
            [INVALID, ..] => {}
            packet if packet.iter().all(|byte| *byte == 0) => {}
            packet if is_plausible(packet) => packets += 1,
            _ => others += 1,
        }
    }
    bytes.len().is_multiple_of(SIZE) && packets > 0 && others <= packets
}

/// Whether `packet` looks like one: of a kind that is known, with reserved bits of its first 8 bytes that are zero, and if it
/// launches a kernel, sizes that a launch can have.
fn is_plausible(packet: &[u8]) -> bool {
    let layout = layout_of(packet);
    let is_known = [&tables::AQL_OTHER, &tables::AQL_VENDOR]
        .into_iter()
        .all(|other| !std::ptr::eq(layout, other));
    if !is_known {
        return false;
    }
    let record = record(packet, 0);
    let mut reserved = record.fields.iter();
    let is_clear = reserved.all(|field| {
        let is_reserved = field.kind == "reserved" && field.bits[0] < 64;
        !is_reserved || record.number(&field.name) == 0
    });
    let is_in = |name: &str, most: u64| (1..=most).contains(&record.number(name));
    let is_launch = packet.first() == Some(&KERNEL_DISPATCH);
    is_clear
        && (!is_launch
            || is_in("dimensions", 3)
                && WORKGROUP_SIZES.iter().all(|name| is_in(name, WORKGROUP))
                && GRID_SIZES.iter().all(|name| is_in(name, u32::MAX.into())))
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
    let mut find = |name: &str, message: &str, expected: &str, found: u64, severe: bool| {
        let Some(field) = record.field(name) else {
            return;
        };
        let finding = match severe {
            true => Diagnostic::error(Kind::Format, message),
            false => Diagnostic::warning(Kind::Format, message),
        };
        findings.push(
            finding
                .expected(expected, found)
                .within(format!("{}, {name}", record.name))
                .at(offset.saturating_add((field.bits[1] / 8).into())),
        );
    };
    let dimensions = record.number("dimensions");
    if dimensions == 0 {
        let message = "the grid has no dimensions";
        find("dimensions", message, "1 to 3", 0, true);
    }
    for names in [WORKGROUP_SIZES, GRID_SIZES] {
        for (axis, name) in names.into_iter().enumerate() {
            match record.number(name) {
                0 => find(name, "a size is 0", "1 at least", 0, true),
                size @ 2.. if axis as u64 >= dimensions.max(1) => {
                    let message = "a size along an axis that the grid does not have";
                    find(name, message, "1", size, true);
                }
                _ => {}
            }
        }
    }
    // hsa.h says of each size of the grid that it must not be smaller than the workgroup's.
    for (grid, workgroup) in GRID_SIZES.into_iter().zip(WORKGROUP_SIZES) {
        let (items, least) = (record.number(grid), record.number(workgroup));
        if (1..least).contains(&items) {
            let message = "the grid is smaller than a workgroup";
            find(grid, message, &format!("{least} at least"), items, true);
        }
    }
    let sizes = WORKGROUP_SIZES.map(|name| record.number(name));
    let items = sizes.into_iter().product();
    if items > WORKGROUP {
        let message = "the workgroup has more work-items than any device of AMD's takes";
        find("workgroup_size_x", message, "1024 in all", items, false);
    }
    if record.number("kernel_object") == 0 {
        let message = "there is no kernel";
        find("kernel_object", message, "an address", 0, true);
    }
    let address = record.number("kernarg_address");
    if !address.is_multiple_of(16) {
        let message = "the arguments are not aligned";
        find(
            "kernarg_address",
            message,
            "a multiple of 16",
            address,
            false,
        );
    }
}
