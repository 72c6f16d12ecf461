//! A launch descriptor as it is written: fields by what a launch has to say, and where each value comes from.

use crate::launch::{Made, Origin, OriginKind, Slot, SlotPart};
use crate::nvidia::qmd::{self, Version};
use crate::nvidia::tables;
use crate::record::{Field, NotWritten, bits};

/// Fields of a launch descriptor by what a launch has to say: a row of [`tables::PLACES`].
#[derive(Debug)]
pub struct Place {
    /// What it is.
    pub what: &'static str,
    /// The fields, by version.
    pub fields: &'static str,
}

/// What profiles write whatever the launch is: a row of [`tables::CONSTANTS`].
#[derive(Debug)]
pub struct Constant {
    /// The field.
    pub field: &'static str,
    /// What the profile `rig` writes.
    pub rig: u64,
    /// What the profile `cuda` writes.
    pub cuda: u64,
    /// Who writes it.
    pub source: &'static str,
}

/// Something that is wrong with what was typed for an input.
pub type Misfit = (String, String);

/// A descriptor that is being written.
pub struct Draft {
    version: &'static Version,
    pub bytes: Vec<u8>,
    origins: Vec<(String, Origin)>,
    slots: Vec<Slot>,
    /// What did not fit, by input.
    pub misfits: Vec<Misfit>,
    /// Fields that somebody typed a value for: nothing else that is written to them is judged.
    pub replaced: Vec<String>,
}

/// An origin that no bytes of the file say.
pub fn origin(what: OriginKind, source: impl Into<String>) -> Origin {
    Origin {
        what,
        source: source.into(),
        place: None,
        is_open: false,
    }
}

/// The fields of `version` that say `what` of the bank or release `number`: their bits, the lowest first.
pub fn parts(version: &Version, what: &str, number: u32) -> Option<Vec<SlotPart>> {
    let place = tables::PLACES.iter().find(|place| place.what == what)?;
    let number = number.to_string();
    place.fields.split(' ').find_map(|fields| {
        let (fields, shift) = fields.split_once(':').unwrap_or((fields, "0"));
        let mut shift = shift.parse().unwrap_or(0);
        let parts = fields.split('+').map(|name| {
            let name = name.replace('#', &number);
            let field = version.layout.field(&name)?;
            let part = SlotPart {
                field: name,
                bits: [field.lsb + field.bits - 1, field.lsb],
                shift,
            };
            shift += field.bits;
            Some(part)
        });
        parts.collect()
    })
}

/// The largest value that `parts` hold.
pub fn most(parts: &[SlotPart]) -> u64 {
    let Some(last) = parts.last() else { return 0 };
    let end = last.shift + last.bits[0] - last.bits[1] + 1;
    u64::MAX >> 64_u32.saturating_sub(end)
}

impl Draft {
    /// A descriptor of zeros, but for its version.
    pub fn new(version: &'static Version) -> Self {
        let mut draft = Self {
            version,
            bytes: vec![0; version.bytes],
            origins: Vec::new(),
            slots: Vec::new(),
            misfits: Vec::new(),
            replaced: Vec::new(),
        };
        let (major, minor) = version.number();
        let source = || origin(OriginKind::Launch, "version of the descriptor");
        draft.put("major", 0, major, "version", source());
        draft.put("minor", 0, minor, "version", source());
        draft
    }

    /// The fields that say `what`, if the version has any.
    pub fn parts(&self, what: &str, number: u32) -> Option<Vec<SlotPart>> {
        parts(self.version, what, number)
    }

    /// Writes `value` to the fields that say `what`, if the version has any. If it does not fit, nothing is written, and
    /// `input` is what is wrong.
    pub fn put(&mut self, what: &str, number: u32, value: u64, input: &str, origin: Origin) {
        if let Some(parts) = self.parts(what, number) {
            self.write(&parts, value, input, &origin);
        }
    }

    /// Writes what only run time knows; bits are left 0 while `value` is open.
    pub fn slot(&mut self, what: &str, number: u32, input: &str, name: String, value: Option<u64>) {
        let Some(parts) = self.parts(what, number) else {
            return;
        };
        let mut origin = origin(OriginKind::Slot, input);
        origin.is_open = value.is_none();
        self.write(&parts, value.unwrap_or(0), input, &origin);
        self.slots.push(Slot {
            input: input.into(),
            name,
            value: value.map(|value| format!("0x{value:x}")),
            parts,
        });
    }

    fn write(&mut self, parts: &[SlotPart], value: u64, input: &str, origin: &Origin) {
        let shift = parts.first().map_or(0, |part| part.shift);
        let is_aligned = value & ((1 << shift) - 1) == 0;
        let fits = value <= most(parts);
        let is_replaced = |part: &SlotPart| self.replaced.contains(&part.field);
        let is_wrong = (!fits || !is_aligned) && !parts.iter().any(is_replaced);
        if is_wrong {
            let names: Vec<&str> = parts.iter().map(|part| part.field.as_str()).collect();
            let names = names.join(" and ");
            let message = match fits {
                false => format!(
                    "0x{value:x} is too large: {names} can say 0x{:x} at most",
                    most(parts)
                ),
                true => format!(
                    "0x{value:x} is no multiple of {}: {names} cannot say the lower bits",
                    1 << shift
                ),
            };
            // What follows from the same address is not said again.
            if self.misfits.iter().all(|(known, _)| known != input) {
                self.misfits.push((input.into(), message));
            }
        }
        for part in parts {
            if !is_wrong {
                let [msb, lsb] = part.bits;
                let mask = u64::MAX >> (63 - (msb - lsb));
                let value = value >> part.shift & mask;
                let written = self
                    .version
                    .layout
                    .write(&mut self.bytes, &part.field, value);
                debug_assert!(written.is_ok(), "{}", part.field);
            }
            self.say(&part.field, origin.clone());
        }
    }

    /// Says where the value of a field comes from; what was said before does not count.
    fn say(&mut self, field: &str, origin: Origin) {
        match self.origins.iter_mut().find(|(known, _)| known == field) {
            Some((_, old)) => *old = origin,
            None => self.origins.push((field.into(), origin)),
        }
    }

    /// Writes what the profile called `profile` always writes.
    pub fn constants(&mut self, profile: &str, value: impl Fn(&Constant) -> u64) {
        for constant in tables::CONSTANTS {
            let value = value(constant);
            let written = self
                .version
                .layout
                .write(&mut self.bytes, constant.field, value);
            if written.is_ok() {
                let source = format!("{profile} ({})", constant.source);
                self.say(constant.field, origin(OriginKind::Profile, source));
            }
        }
    }

    /// Writes `value` to the field called `name`, which somebody has typed.
    pub fn set(&mut self, name: &str, value: u64, input: &str) {
        match self.version.layout.write(&mut self.bytes, name, value) {
            Ok(()) => {
                self.say(name, origin(OriginKind::Set, input));
                // Nothing is open of what has a value.
                for slot in &mut self.slots {
                    slot.parts.retain(|part| part.field != name);
                }
                self.slots.retain(|slot| !slot.parts.is_empty());
            }
            Err(NotWritten::NoField) => {
                let near = self.near(name);
                let version = self.version.key;
                let message = format!("QMD {version} has no field {name:?}; there are {near}");
                self.misfits.push((input.into(), message));
            }
            Err(error) => self
                .misfits
                .push((input.into(), format!("{name}: {error}"))),
        }
    }

    /// The names of fields that are nearest to `name`.
    fn near(&self, name: &str) -> String {
        let asked: String = name.chars().take(64).collect();
        let asked = asked.to_ascii_uppercase();
        let fields = self.version.layout.fields().iter();
        let mut names: Vec<(usize, &str)> = fields
            .map(|field| (distance(&asked, &field.name), &*field.name))
            .collect();
        crate::order::arrange(&mut names, |(distance, _)| *distance as u64);
        let near = names.iter().take(3).map(|(_, name)| *name);
        near.collect::<Vec<_>>().join(", ")
    }

    /// The fields whose bits another draft of the version has otherwise: name, its value, the other's.
    pub fn differences(&self, other: &Self) -> Vec<(String, u64, u64)> {
        let fields = self.version.layout.fields().iter();
        let fields = fields.filter(|field| field.alternative_of.is_empty() && field.bits <= 64);
        fields
            .filter_map(|field| {
                let own = bits(&self.bytes, field.lsb, field.bits)?;
                let its = bits(&other.bytes, field.lsb, field.bits)?;
                (own != its).then(|| (field.name.to_string(), own, its))
            })
            .collect()
    }

    /// What comes of it.
    pub fn made(self, key: &str, title: String) -> Made {
        let record = qmd::made(self.version, title.clone(), &self.bytes);
        let of = |name: &str| {
            let found = self.origins.iter().find(|(known, _)| known == name);
            found.map(|(_, origin)| origin.clone())
        };
        // A field and its alternatives have the same bits.
        let through = |name: &str| {
            let mut others = record.fields.iter();
            let is_it = |field: &&Field| field.alternative_of.as_deref() == Some(name);
            of(&others
                .find(|field| is_it(field) && of(&field.name).is_some())?
                .name)
        };
        let origins = record.fields.iter().map(|field| {
            of(&field.name)
                .or_else(|| of(field.alternative_of.as_deref()?))
                .or_else(|| through(&field.name))
                .unwrap_or_else(|| origin(OriginKind::Unset, ""))
        });
        let origins = origins.collect();
        Made {
            key: key.into(),
            title,
            origins,
            record,
            bytes: self.bytes,
            slots: self.slots,
        }
    }
}

/// How many letters of `a` have to be put in, left out or changed for `b`.
fn distance(a: &str, b: &str) -> usize {
    let b = b.as_bytes();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.bytes().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let change = corner + usize::from(letter != *other);
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
