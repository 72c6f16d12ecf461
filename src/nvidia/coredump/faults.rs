//! What failed: exceptions of threads, warps and SMs, those of a warp at one place together.

use super::{Coredump, section as s};
use crate::elf::Elf;

/// An exception.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The part, and the entry in it, that says so: of the first thread, or of the warp or SM where no thread does.
    pub at: (u32, u64),
    /// `CUDBGException_t`; `None` where only an address is told.
    pub exception: Option<u32>,
    /// The address of the code that failed.
    pub address: Option<u64>,
    /// The lanes of the warp that say the same, a bit each.
    pub lanes: u32,
}

/// Faults that are listed, at most.
const LIMIT: usize = 1 << 16;

/// All exceptions. Since driver r555 SMs say whether one of their warps failed; where one says so the others need not be
/// looked through.
pub(super) fn find(dump: &Coredump, elf: &Elf) -> Vec<Fault> {
    let mut sms = Vec::new();
    for row in 0..dump.entries(s::SM_TABLE) {
        let place = dump.row(s::SM_TABLE, row);
        let Some((part, index)) = place else { continue };
        let Some(sm) = dump.entry(elf, part, index) else {
            continue;
        };
        let exception = sm.number("exception").unwrap_or(0) as u32;
        let address = sm.number_if("errorPC", "errorPCValid");
        let fault = Fault {
            at: (part, index),
            exception: Some(exception).filter(|&exception| exception != 0),
            address,
            lanes: 0,
        };
        if fault.exception.is_some() || address.is_some() {
            sms.push(fault);
        }
    }
    let mut faults = Vec::new();
    if sms.is_empty() {
        for row in 0..dump.entries(s::WP_TABLE) {
            if let Some((part, index)) = dump.row(s::WP_TABLE, row) {
                of_warp(dump, elf, part, index, &mut faults);
            }
        }
    }
    for sm in sms {
        let before = faults.len();
        let (part, index) = sm.at;
        for (part, index) in below(dump, part, index, s::CTA_TABLE) {
            for (part, index) in below(dump, part, index, s::WP_TABLE) {
                of_warp(dump, elf, part, index, &mut faults);
            }
        }
        // Its warps may have gone before the dump was written.
        if faults.len() == before && faults.len() < LIMIT {
            faults.push(sm);
        }
    }
    faults
}

/// The entries of the tables of that type that belong to an entry.
fn below(
    dump: &Coredump,
    part: u32,
    index: u64,
    kind: u32,
) -> impl Iterator<Item = (u32, u64)> + '_ {
    let parts = dump.parts_in(part, index).iter();
    let parts = parts.filter(move |&&part| dump.parts[part as usize].kind.number == kind);
    parts.flat_map(|&part| (0..dump.parts[part as usize].count).map(move |index| (part, index)))
}

/// The exceptions of the threads of a warp, those that are the same together.
fn of_warp(dump: &Coredump, elf: &Elf, part: u32, index: u64, faults: &mut Vec<Fault>) {
    let Some(warp) = dump.entry(elf, part, index) else {
        return;
    };
    let address = warp.number_if("errorPC", "errorPCValid");
    let first = faults.len();
    for at in below(dump, part, index, s::LN_TABLE) {
        let Some(lane) = dump.entry(elf, at.0, at.1) else {
            continue;
        };
        let exception = lane.number("exception").unwrap_or(0) as u32;
        if exception == 0 {
            continue;
        }
        let address = address.or_else(|| lane.number("virtualPC"));
        let bit = lane
            .number("ln")
            .and_then(|ln| 1_u32.checked_shl(ln as u32));
        let bit = bit.unwrap_or(0);
        let mut same = faults[first..].iter_mut();
        if let Some(same) = same.find(|f| f.exception == Some(exception) && f.address == address) {
            same.lanes |= bit;
        } else if faults.len() < LIMIT {
            faults.push(Fault {
                at,
                exception: Some(exception),
                address,
                lanes: bit,
            });
        }
    }
    if faults.len() == first && address.is_some() && faults.len() < LIMIT {
        faults.push(Fault {
            at: (part, index),
            exception: None,
            address,
            lanes: 0,
        });
    }
}
