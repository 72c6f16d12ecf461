//! What only run time knows, as far as it is typed: where code, banks, releases and further descriptors are.

use super::draft::{origin, parts};
use super::plan::{Plan, PlannedBank, Release};
use super::{BANKS, RELEASES};
use crate::launch::{Ask, Form, InputKind, OriginKind, address, number};

/// Banks that CUDA binds beside the kernel's, where that was captured: from Hopper on.
const OWN_BANKS: [u32; 3] = [1, 5, 7];

impl Plan<'_> {
    pub fn ask_addresses(&mut self, form: &mut Form<'_>, profile: &str) {
        let version = self.version;
        let ask = |key, label, note: &str| Ask {
            key,
            label,
            group: "Addresses",
            note: note.into(),
        };
        let is_offset = parts(version, "program", 0)
            .is_some_and(|parts| parts.len() == 1 && parts[0].field == "PROGRAM_OFFSET");
        let note = match is_offset {
            true => "Offset of the code from the start of the program region; a multiple of 256",
            false => "Where the code is in GPU memory; a multiple of 256",
        };
        self.program = form.address(ask("program", "Code", note));
        self.judge_program(form);
        self.ask_banks(form, profile);
        let note = "Address of the descriptor that is launched when this one is done; a multiple of 256. yes: one that run time knows";
        let typed = form.ask(
            ask("chain", "Next descriptor", note),
            InputKind::Text,
            String::new(),
        );
        self.chain = typed.map(|typed| match typed {
            "yes" => None,
            typed => address(typed)
                .map_err(|message| form.error("chain", message))
                .ok(),
        });
        if parts(version, "chain", 0).is_none() {
            let reason = format!("QMD {} has no field that leads to another one", version.key);
            refuse(form, "chain", reason);
            self.chain = None;
        }
        for (index, key) in RELEASES.into_iter().enumerate() {
            let label = ["First release", "Second release"][index];
            let bits = match self.has_wide_release() {
                true => "64 bits",
                false => "32 bits (64 from QMD 03.00 on)",
            };
            let note = format!(
                "ADDRESS:VALUE, what is written when the launch is done: {bits} at a multiple of 8; with :stamped behind it a time stamp, too, 8 bytes on, at a multiple of 16; yes: what run time knows"
            );
            let typed = form.ask(ask(key, label, &note), InputKind::Text, String::new());
            self.releases[index] = typed.and_then(|typed| self.read_release(form, key, typed));
        }
        if Self::has_head(version, profile) {
            let note = "Address of the descriptor itself, which the one ahead of it has; a multiple of 256";
            self.own_address = form.address(ask("qmd", "The descriptor", note));
        }
        let note = "Where shared memory is among generic addresses; in bank 0";
        self.shared_window = form.address(ask("shared_window", "Shared memory window", note));
        let note = "Where local memory is among generic addresses; in bank 0";
        self.local_window = form.address(ask("local_window", "Local memory window", note));
    }

    /// Says what is to be said of where the code is.
    fn judge_program(&self, form: &mut Form<'_>) {
        let Some(program) = self.program.filter(|program| program % 256 != 0) else {
            return;
        };
        let unit = if self.cubin.sm >= 70 { 16 } else { 8 };
        if program % unit != 0 {
            let target = &self.cubin.target;
            let message = format!(
                "0x{program:x} is no multiple of {unit}: instructions of {target} are {unit} bytes at multiples of it"
            );
            form.error("program", message);
            return;
        }
        let message = match program % 128 {
            0 => {
                "which rig asks for; sections of cubins are laid out at multiples of 128, and such programs are run"
            }
            _ => {
                "which rig asks for, nor of 128, which cubins lay code out at: no public driver is known to run a program there"
            }
        };
        form.note(
            "program",
            format!("0x{program:x} is no multiple of 256, {message}"),
        );
    }

    fn ask_banks(&mut self, form: &mut Form<'_>, profile: &str) {
        let has_own = profile == "cuda" && self.version.number().0 >= 4;
        for (key, index) in BANKS.into_iter().zip(0..) {
            let kernels = self.kernel.banks.iter().find(|bank| bank.index == index);
            let is_kernels = kernels.is_some() || index == 0;
            let is_drivers = has_own && OWN_BANKS.contains(&index) && !is_kernels;
            if !is_kernels && !is_drivers && form.typed(key).is_none() {
                continue;
            }
            let label = format!("Constant bank {index}");
            let ask = |note: &str| Ask {
                key,
                label: &label,
                group: "Addresses",
                note: note.into(),
            };
            let (mut address, mut bytes) = (None, None);
            if is_kernels {
                address = form.address(ask("Where it is in GPU memory; a multiple of 64"));
                bytes = kernels.map(|bank| bank.bytes);
            } else {
                let note =
                    "ADDRESS/BYTES of a bank of the driver's own; the address a multiple of 64";
                let typed = form.ask(ask(note), InputKind::Text, String::new());
                match typed.map(|typed| (typed.split_once('/'), typed)) {
                    None => {}
                    Some((Some((at, size)), _)) => match (address_of(at), number(size.trim())) {
                        (Ok(at), Ok(size)) => (address, bytes) = (at, Some(size)),
                        (Err(message), _) | (_, Err(message)) => form.error(key, message),
                    },
                    Some((None, typed)) if is_drivers => match address_of(typed) {
                        Ok(at) => address = at,
                        Err(message) => form.error(key, message),
                    },
                    Some((None, _)) => {
                        form.error(
                            key,
                            format!(
                                "the kernel has no constant bank {index}; a bank of the driver's own is typed with its size, ADDRESS/BYTES"
                            ),
                        );
                        continue;
                    }
                }
            }
            if let Some(size) = bytes.filter(|size| *size > 0x1_0000) {
                form.error(
                    key,
                    format!("a bank has 65536 bytes at most, this one {size}"),
                );
                bytes = Some(0x1_0000);
            }
            let misaligned = address.filter(|address| address % 64 != 0);
            if let Some(address) = misaligned {
                form.error(
                    key,
                    format!("0x{address:x} is no multiple of 64, as banks have to be"),
                );
            }
            let origin = match kernels {
                Some(bank) => {
                    let section = self.elf.section_label(bank.section);
                    self.file(&section, Some(bank.place))
                }
                None if index == 0 => origin(OriginKind::Profile, "a bank 0 that the file has not"),
                None if is_drivers => origin(OriginKind::Profile, "cuda: captures from 4.0 on"),
                None => origin(OriginKind::Launch, key),
            };
            self.banks.push(PlannedBank {
                index,
                address,
                bytes,
                origin,
            });
        }
        let others = self.kernel.banks.iter().filter(|bank| bank.index > 7);
        for bank in others {
            form.note(
                "bank0",
                format!(
                    "the file has a constant bank {} for the kernel; a descriptor has 0 to 7",
                    bank.index
                ),
            );
        }
    }

    /// Reads `ADDRESS:VALUE:stamped`; what is left empty is open.
    fn read_release(&self, form: &mut Form<'_>, key: &str, typed: &str) -> Option<Release> {
        let mut words = typed.split(':').map(str::trim);
        let at = words.next().unwrap_or_default();
        let mut value = words.next().unwrap_or_default();
        let mut last = words.next();
        if value == "stamped" && last.is_none() {
            (value, last) = ("", Some("stamped"));
        }
        let is_stamped = last == Some("stamped");
        let rest = last.filter(|word| *word != "stamped").or(words.next());
        if let Some(word) = rest {
            form.error(
                key,
                format!("{word:?}: expected ADDRESS:VALUE or ADDRESS:VALUE:stamped"),
            );
        }
        let mut read = |result: Result<Option<u64>, String>| {
            result.unwrap_or_else(|message| {
                form.error(key, message);
                None
            })
        };
        let address = read(match at {
            "yes" => Ok(None),
            at => address_of(at),
        });
        let value = read(match value {
            "" => Ok(None),
            value => number(value).map(Some),
        });
        let (unit, why) = match is_stamped {
            true => (16, "a release with a time stamp"),
            false => (8, "a release"),
        };
        let misaligned = address.filter(|address| address % unit != 0);
        if let Some(address) = misaligned {
            form.error(
                key,
                format!("0x{address:x} is no multiple of {unit}, as {why} has to be at"),
            );
        }
        Some(Release {
            address,
            value,
            is_stamped,
        })
    }
}

/// Says that what was asked for last cannot be typed here, and that it was.
fn refuse(form: &mut Form<'_>, key: &str, reason: String) {
    if form.typed(key).is_some() {
        form.error(key, reason.clone());
    }
    if let Some(input) = form.inputs.last_mut() {
        input.unavailable = Some(reason);
    }
}
/// An address, or nothing while it is open.
fn address_of(text: &str) -> Result<Option<u64>, String> {
    match text.trim() {
        "" => Ok(None),
        text => address(text).map(Some),
    }
}
