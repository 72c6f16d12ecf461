//! Constant bank 0 as a launch writes it: the driver's words as far as the launch determines them, then the parameters.

use std::ops::Range;

use super::BANKS;
use super::draft::origin;
use super::plan::Plan;
use crate::launch::{Ask, Form, InputKind, Made, Origin, OriginKind, Slot, SlotPart};
use crate::nvidia::bank0::{Bank0, BankPart, BankUse, SIZE};
use crate::record::{Kind, Record};

/// What a stack pointer begins with: in every capture and in every public driver.
const STACK: u64 = 0x00ff_fdc0;
/// Bytes of the bank of a kernel for which the file has none.
const WITHOUT: u32 = 352;
/// What is said of what nobody knows.
const UNKNOWN: &str = "what the driver writes is not known";
/// Words that the profile `rig` writes; beside them the address that parameters are passed by.
const RIG: &[&str] = &[
    "ntid",
    "nctaid",
    "shared_window",
    "local_window",
    "stack_ptr",
];

/// Bytes that the driver's part has at least: rig's words, and the address of the parameters where that is shown.
fn area(sm: u32) -> u32 {
    match sm {
        100.. => 896,
        80..=89 => 72,
        _ => 48,
    }
}

/// What is known of a driver's word.
enum Word {
    /// The launch says it.
    Number(u64),
    /// An address that is typed for an input, as far as it is known, plus so many bytes; the bits of it.
    Address(&'static str, Option<u64>, Range<u32>),
    /// Nothing.
    Unknown,
}

/// What was typed for a parameter.
struct Typed {
    key: String,
    offset: u32,
    /// The words as typed; `None` while it is open.
    text: Option<String>,
    bytes: Option<Vec<u8>>,
}

/// The bank and its parameters.
pub struct Bank {
    bank: Bank0,
    /// Its bytes.
    pub size: u32,
    typed: Vec<Typed>,
}

impl Bank {
    /// Asks for the parameters of the kernel of `plan`.
    pub fn ask(form: &mut Form<'_>, plan: &Plan<'_>) -> Self {
        let kernel = plan.kernel;
        let bank = Bank0::on(plan.elf, plan.bank_sm(), kernel);
        let stated = kernel.banks.iter().find(|bank| bank.index == 0);
        let stated = stated.map_or(WITHOUT.into(), |bank| bank.bytes);
        let params = u64::from(kernel.params_offset) + u64::from(kernel.params_bytes);
        let size = stated.max(params).max(area(plan.bank_sm()).into());
        if size > SIZE.into() {
            form.error(
                "bank0",
                format!("a bank has {SIZE} bytes at most, this one {size}"),
            );
        }
        let mut typed_ones = Vec::new();
        for part in bank
            .parts
            .iter()
            .filter(|part| part.what == BankUse::Parameter)
        {
            let key = format!("arg{}", part.ordinal.unwrap_or(0));
            let label = match part.ordinal {
                Some(ordinal) => format!("Parameter {ordinal}"),
                None => "Parameters".into(),
            };
            let ask = Ask {
                key: &key,
                label: &label,
                group: "Parameters",
                note: format!(
                    "{} bytes at 0x{:x} of bank 0. {}",
                    part.size,
                    part.offset,
                    crate::typed::NOTE
                ),
            };
            let text = form.ask(ask, InputKind::Text, String::new());
            // A pointer whose address is still to come: the type alone.
            let text = text.filter(|text| text.trim_end_matches(':') != "ptr");
            let bytes = form.value(&key, text, part.size as usize);
            typed_ones.push(Typed {
                key,
                offset: part.offset,
                text: text.map(Into::into),
                bytes,
            });
        }
        Self {
            bank,
            size: size.min(SIZE.into()) as u32,
            typed: typed_ones,
        }
    }

    /// The record and its bytes, with where each value comes from.
    pub fn made(&self, plan: &Plan<'_>, profile: &str) -> Made {
        let title = format!("Constant bank 0 of {}", plan.kernel.name);
        let mut bytes = vec![0; self.size as usize];
        let mut slots: Vec<Slot> = Vec::new();
        let parts = self.parts();
        let mut origins = Vec::with_capacity(parts.len());
        let mut kinds = Vec::with_capacity(parts.len());
        for part in &parts {
            let at = part.offset as usize;
            let place = &mut bytes[at..at + part.size as usize];
            let (origin, kind) = match part.what {
                BankUse::Parameter => self.parameter(part, place, &mut slots),
                _ => word(plan, profile, part, place, &mut slots),
            };
            origins.push(origin);
            kinds.push(kind);
        }
        let source =
            "The driver's words as measured with the vendor's tools or reported; RIG's rules";
        let mut record = Record::unwritten(title.clone(), self.size.into(), Some(source));
        for (part, kind) in parts.iter().zip(kinds) {
            record.append_bytes(&*part.name, &bytes, part.offset, part.size, kind);
            if let Some(field) = record.fields.last_mut() {
                field.note = part.note;
                let typed = self.typed(part);
                field.meaning = typed
                    .filter(|typed| part.what == BankUse::Parameter && typed.bytes.is_some())
                    .and_then(|typed| typed.text.clone());
            }
        }
        Made {
            key: "bank0".into(),
            title,
            record,
            bytes,
            origins,
            slots,
        }
    }

    /// Its parts: parameters, the driver's words, and what nobody knows the words of.
    fn parts(&self) -> Vec<BankPart> {
        let parts = self.bank.parts.iter().filter_map(|part| {
            let mut part = part.clone();
            if part.what == BankUse::Unknown && part.offset < self.size {
                part.size = part.size.min(self.size - part.offset);
                part.name = format!("not known, from 0x{:x}", part.offset);
            }
            (!part.name.is_empty() && part.end() <= self.size).then_some(part)
        });
        parts.collect()
    }

    /// Whether CUDA writes words that rig does not.
    pub fn has_more(&self, plan: &Plan<'_>) -> bool {
        let words = self.parts().into_iter();
        let mut words = words.filter(|part| part.what != BankUse::Parameter);
        words.any(|part| {
            !is_written(plan, "rig", &part.name) && !matches!(known(plan, &part), Word::Unknown)
        })
    }

    /// What was typed for a parameter. They are in the order of the bank.
    fn typed(&self, part: &BankPart) -> Option<&Typed> {
        let at = self
            .typed
            .binary_search_by_key(&part.offset, |typed| typed.offset);
        self.typed.get(at.ok()?)
    }

    /// Writes what was typed for a parameter.
    fn parameter(
        &self,
        part: &BankPart,
        place: &mut [u8],
        slots: &mut Vec<Slot>,
    ) -> (Origin, Kind) {
        let kind = kind(part.size);
        let Some(typed) = self.typed(part) else {
            return (origin(OriginKind::Unset, ""), kind);
        };
        let is_address = typed
            .text
            .as_ref()
            .is_some_and(|text| text.starts_with("ptr:"));
        if let Some(bytes) = &typed.bytes {
            place.copy_from_slice(bytes);
            if !is_address {
                return (origin(OriginKind::Launch, &typed.key), kind);
            }
        }
        slots.push(Slot {
            input: typed.key.clone(),
            name: part.name.clone(),
            value: typed.bytes.as_ref().map(|bytes| {
                let digits = bytes.iter().rev().map(|byte| format!("{byte:02x}"));
                let digits: String = digits.collect();
                format!("0x{}", digits.trim_start_matches('0'))
            }),
            parts: vec![of(part, 0)],
        });
        let mut origin = origin(OriginKind::Slot, &typed.key);
        origin.is_open = typed.bytes.is_none();
        (origin, kind)
    }
}

/// The bits of `part`, which have a value shifted to the right by `shift` bits.
fn of(part: &BankPart, shift: u32) -> SlotPart {
    SlotPart {
        field: part.name.clone(),
        bits: [part.end() * 8 - 1, part.offset * 8],
        shift,
    }
}

fn kind(size: u32) -> Kind {
    match size {
        1 | 2 | 4 | 8 => Kind::Hex,
        _ => Kind::Bytes,
    }
}

/// Writes a word of the driver.
fn word(
    plan: &Plan<'_>,
    profile: &str,
    part: &BankPart,
    place: &mut [u8],
    slots: &mut Vec<Slot>,
) -> (Origin, Kind) {
    let word = known(plan, part);
    if !is_written(plan, profile, &part.name) {
        let source = match word {
            Word::Unknown => UNKNOWN,
            _ => "rig leaves it 0; CUDA writes it",
        };
        return (origin(OriginKind::Unset, source), kind(part.size));
    }
    let width = place.len().min(8);
    match word {
        Word::Number(value) => {
            place[..width].copy_from_slice(&value.to_le_bytes()[..width]);
            let what = match part.name.as_str() {
                "stack_ptr" => origin(OriginKind::Profile, "the same in every capture"),
                "is_explicit_cluster" => origin(OriginKind::Launch, "cluster"),
                name => origin(OriginKind::Launch, plan.source(input(name))),
            };
            let kind = match part.name.as_str() {
                "stack_ptr" => Kind::Hex,
                _ => Kind::Unsigned,
            };
            (what, kind)
        }
        Word::Address(key, value, bits) => {
            let shifted = value.unwrap_or(0) >> bits.start;
            place[..width].copy_from_slice(&shifted.to_le_bytes()[..width]);
            slots.push(Slot {
                input: key.into(),
                name: match part.note {
                    "" => part.name.clone(),
                    note => note.into(),
                },
                value: value.map(|value| format!("0x{value:x}")),
                parts: vec![of(part, bits.start)],
            });
            let mut origin = origin(OriginKind::Slot, key);
            origin.is_open = value.is_none();
            (origin, Kind::Address)
        }
        Word::Unknown => (origin(OriginKind::Unset, UNKNOWN), kind(part.size)),
    }
}

/// The input that a word of that name follows from.
fn input(word: &str) -> &'static str {
    match word.split('.').next().unwrap_or_default() {
        "ntid" => "block",
        "nctaid" => "grid",
        "dynamic_smem_size" | "total_smem_size" | "aggr_smem_size" => "shared",
        "nclusterid" => "grid and cluster",
        _ => "cluster",
    }
}

/// Whether the profile writes the word of that name.
fn is_written(plan: &Plan<'_>, profile: &str, name: &str) -> bool {
    let passed_by = match plan.bank_sm() {
        100.. => name == "kparams_start",
        80..=89 => name == "cb0_ptr",
        _ => false,
    };
    profile != "rig" || passed_by || RIG.iter().any(|known| name.starts_with(known))
}

fn known(plan: &Plan<'_>, part: &BankPart) -> Word {
    let cluster = plan.cluster.unwrap_or([1; 3]);
    let params = plan.bank_address(0).map(|address| {
        let start = address.wrapping_add(plan.kernel.params_offset.into());
        (start, start.wrapping_add(plan.kernel.params_bytes.into()))
    });
    let (name, axis) = match part.name.split_once('.') {
        Some((name, axis)) => (name, axis),
        None => (part.name.as_str(), ""),
    };
    let axis = match axis {
        "y" => 1,
        "z" => 2,
        _ => 0,
    };
    Word::Number(match name {
        "ntid" => plan.block[axis],
        "nctaid" => plan.grid[axis],
        "cluster_nctaid" | "cluster_nctaid_2" => cluster[axis],
        "nclusterid" => plan.grid[axis].div_ceil(cluster[axis].max(1)),
        "cluster_nctarank" => cluster.iter().fold(1, |all, of| of.saturating_mul(all)),
        "is_explicit_cluster" => plan.cluster.is_some().into(),
        "stack_ptr" => STACK,
        "dynamic_smem_size" => plan.dynamic,
        "total_smem_size" => plan.user_shared(),
        "aggr_smem_size" => plan.shared,
        "shared_window" => return Word::Address("shared_window", plan.shared_window, 0..64),
        "shared_window_lo" => return Word::Address("shared_window", plan.shared_window, 0..32),
        "shared_window_hi" => return Word::Address("shared_window", plan.shared_window, 32..64),
        "local_window" => return Word::Address("local_window", plan.local_window, 0..64),
        "local_window_lo" => return Word::Address("local_window", plan.local_window, 0..32),
        "local_window_hi" => return Word::Address("local_window", plan.local_window, 32..64),
        "kparams_start" => return Word::Address("bank0", params.map(|(start, _)| start), 0..64),
        "kparams_end" if part.size == 8 => {
            return Word::Address("bank0", params.map(|(_, end)| end), 0..64);
        }
        name => {
            // The address of a bank that the launch does not have is nobody's to know.
            let has = |index: &usize| plan.banks.iter().any(|bank| bank.index as usize == *index);
            return match bank_of(name).filter(has) {
                Some(bank) => Word::Address(BANKS[bank], plan.bank_address(bank as u32), 0..64),
                None => Word::Unknown,
            };
        }
    })
}

/// The bank whose address a word called `cb3_ptr` has.
fn bank_of(name: &str) -> Option<usize> {
    let number = name.strip_prefix("cb")?.strip_suffix("_ptr")?;
    number.parse().ok().filter(|bank| *bank < BANKS.len())
}
