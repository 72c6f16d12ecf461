//! Constant bank 0 of a launch: the driver's words, then the kernel's parameters.
//!
//! Where the parameters begin is the kernel's own statement; what the driver puts before them depends on the
//! architecture, and is known as far as somebody has measured or reported it (`tables/nvidia/bank0.toml`).

use serde::Serialize;

use super::{Cubin, Kernel, tables};
use crate::elf::Elf;
use crate::order;
use crate::record::{Kind, Record};
use crate::span::Span;

/// A word of the driver.
#[derive(Debug, PartialEq, Eq)]
pub struct Word {
    /// The first architecture that has it there, by number.
    pub from: u32,
    /// The last one.
    pub to: u32,
    /// Offset in the bank.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// Its name: that of the special register where there is one. `NAME0..31` are words of that number.
    pub name: &'static str,
    /// What it is, in a few words.
    pub note: &'static str,
    /// Who reports it; empty if it was measured.
    pub reported: &'static str,
}

/// Bytes that a bank can have.
pub const SIZE: u32 = 0x1_0000;

/// Where the area of the device runtime begins at the least: words from there on are not the driver's own.
const RUNTIME: u32 = 0x1840;

/// Parts of a bank that are told, at most: parameters of a malformed file are as many as its bytes.
const PARTS_LIMIT: usize = 8192;

/// What a part of the bank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
#[serde(rename_all = "snake_case")]
pub enum BankUse {
    /// A word that the driver writes for each launch.
    Driver,
    /// A word that the device runtime uses, for launches from the device.
    Runtime,
    /// A parameter of the kernel.
    Parameter,
    /// Bytes between the parameters.
    Padding,
    /// Bytes that the file has behind the parameters.
    Beyond,
    /// Nobody says what is there.
    Unknown,
}

impl BankUse {
    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Self::Driver => "driver",
            Self::Runtime => "device runtime",
            Self::Parameter => "parameter",
            Self::Padding => "padding",
            Self::Beyond => "behind the parameters",
            Self::Unknown => "unknown",
        }
    }
}

/// A part of the bank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct BankPart {
    /// Offset in the bank.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// Its name; empty where nobody has given it one.
    pub name: String,
    /// What it is.
    pub what: BankUse,
    /// How that is known: `stated` by the file, `measured`, `reported` or `unknown`.
    pub certainty: &'static str,
    /// Who says so.
    pub source: &'static str,
    /// What it is, in a few more words.
    pub note: &'static str,
    /// Which parameter it is; `None` where it is none, or all of them that nothing tells apart.
    #[serde(skip)]
    pub ordinal: Option<u16>,
}

impl BankPart {
    /// A part without a name.
    fn new(offset: u32, size: u32, what: BankUse) -> Self {
        let (certainty, source) = match what {
            BankUse::Padding => ("stated", "EIATTR_KPARAM_INFO"),
            BankUse::Beyond => ("stated", "the size of the bank's section"),
            _ => ("unknown", ""),
        };
        Self {
            offset,
            size,
            name: String::new(),
            what,
            certainty,
            source,
            note: "",
            ordinal: None,
        }
    }

    fn of_word(word: &Word) -> Self {
        let what = match word.offset < RUNTIME {
            true => BankUse::Driver,
            false => BankUse::Runtime,
        };
        let (certainty, source) = match word.reported {
            "" => ("measured", "compiled PTX, read in its disassembly"),
            "captures" => ("reported", "captures of launches (tinygrad, GH200, GB10)"),
            _ => ("reported", "redplait/denvdis and its author's blog"),
        };
        Self {
            name: word.name.into(),
            certainty,
            source,
            note: word.note,
            ..Self::new(word.offset, word.size, what)
        }
    }

    fn stated(offset: u32, size: u32, name: String, source: &'static str) -> Self {
        Self {
            name,
            certainty: "stated",
            source,
            ..Self::new(offset, size, BankUse::Parameter)
        }
    }

    /// The first byte behind it.
    pub fn end(&self) -> u32 {
        self.offset.saturating_add(self.size)
    }
}

/// What is at an offset of the bank.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct BankPlace {
    /// The name there; of several words under one name, that of the word.
    pub name: String,
    /// The part that the offset lies in.
    pub part: BankPart,
    /// Offset in what `name` names.
    pub within: u32,
}

/// The bank of a kernel, part by part.
#[derive(Debug)]
pub struct Bank0 {
    /// Its parts by offset, without gaps, as far as anything is known.
    pub parts: Vec<BankPart>,
    /// The file's bytes of it, from its first byte on.
    pub stored: Span,
    /// Where its parameters begin and end; both 0 where nothing says.
    pub params: (u32, u32),
}

impl Bank0 {
    /// The bank 0 of `kernel`, which is one of `cubin`'s.
    pub fn new(elf: &Elf, cubin: &Cubin, kernel: &Kernel) -> Self {
        Self::on(elf, cubin.sm, kernel)
    }

    /// The bank 0 of `kernel` with the driver's words of the architecture `sm`.
    pub fn on(elf: &Elf, sm: u32, kernel: &Kernel) -> Self {
        let bank = kernel.banks.iter().find(|bank| bank.index == 0);
        let section = bank.and_then(|bank| elf.section(bank.section));
        let stored = section.map(|section| elf.stored(section));
        let stored = stored.unwrap_or_default().clamp(elf.source().size());
        let size = u32::try_from(stored.size).unwrap_or(SIZE).min(SIZE);
        let start = kernel.params_offset;
        let end = start.saturating_add(kernel.params_bytes).min(SIZE);
        let mut known: Vec<BankPart> = parameters(kernel, start, end);
        let words = tables::BANK0
            .iter()
            .filter(|word| (word.from..=word.to).contains(&sm));
        // The kernel's statement counts where a word and a parameter lie in the same bytes.
        let apart = |word: &&Word| word.offset >= end || word.offset + word.size <= start;
        known.extend(words.filter(apart).map(BankPart::of_word));
        order::arrange(&mut known, |part| part.offset.into());
        let mut parts: Vec<BankPart> = Vec::with_capacity(2 * known.len());
        // Without a statement about parameters nothing is behind them.
        let (first, last) = match end {
            0 => (SIZE, SIZE),
            end => (start, end),
        };
        let fill = |from: u32, to: u32, parts: &mut Vec<BankPart>| {
            for (from, to, what) in [
                (from, to.min(first), BankUse::Unknown),
                (from.max(first), to.min(last), BankUse::Padding),
                (from.max(last), to.min(size), BankUse::Beyond),
                (from.max(last).max(size), to, BankUse::Unknown),
            ] {
                if from < to {
                    parts.push(BankPart::new(from, to - from, what));
                }
            }
        };
        let mut next = 0;
        for part in known {
            // Parameters of a malformed file can overlap: the first one has the bytes.
            if part.offset < next {
                continue;
            }
            fill(next, part.offset, &mut parts);
            next = part.end();
            parts.push(part);
        }
        fill(next, size.max(next), &mut parts);
        // What lies between parameters is said by the attribute that says where they are.
        if let Some(first) = kernel.params.as_ref().and_then(|params| params.first()) {
            let gaps = parts.iter_mut().filter(|p| p.what == BankUse::Padding);
            gaps.for_each(|gap| gap.source = first.attribute);
        }
        Self {
            parts,
            stored,
            params: (start, end),
        }
    }

    /// What is at `offset`; `None` past the bank's end.
    pub fn at(&self, offset: u32) -> Option<BankPlace> {
        if offset >= SIZE {
            return None;
        }
        let at = self.parts.partition_point(|part| part.end() <= offset);
        let Some(part) = self.parts.get(at) else {
            let end = self.parts.last().map_or(0, BankPart::end);
            return Some(BankPlace {
                name: String::new(),
                part: BankPart::new(end, SIZE - end, BankUse::Unknown),
                within: offset - end,
            });
        };
        let within = offset - part.offset;
        // One of several words of a name.
        if let Some((first, _)) = part.name.split_once("..") {
            let letters = first.trim_end_matches(|c: char| c.is_ascii_digit());
            let number: u32 = first[letters.len()..].parse().unwrap_or(0);
            return Some(BankPlace {
                name: format!("{letters}{}", number + within / 4),
                part: part.clone(),
                within: within % 4,
            });
        }
        Some(BankPlace {
            name: part.name.clone(),
            part: part.clone(),
            within,
        })
    }

    /// The bytes of the file that `part` has there.
    pub fn place(&self, part: &BankPart) -> Option<Span> {
        let size = self.stored.size.checked_sub(part.offset.into())?;
        let offset = self.stored.offset + u64::from(part.offset);
        Span::new(offset, size.min(part.size.into())).some()
    }

    /// The part of the bank around `offset` of the file as a record: what is before the parameters, the
    /// parameters, or what is behind them.
    pub(super) fn record(&self, name: &str, elf: &Elf, offset: u64) -> Option<Record> {
        let at = u32::try_from(offset.checked_sub(self.stored.offset)?).ok()?;
        let size = u32::try_from(self.stored.size).ok()?.min(SIZE);
        let (start, end) = self.params;
        let (title, from, to) = match at {
            at if at < start => ("driver's part", 0, start),
            at if at < end => ("parameters", start, end),
            _ => ("rest", end, size),
        };
        let to = to.min(size);
        let span = Span::new(self.stored.offset + u64::from(from), (to - from).into());
        let bytes = elf.source().read(span).ok()?;
        let source = (from == 0).then_some(SOURCE);
        let title = format!("constant bank 0 of {name}: {title}");
        let mut record = Record::new(title, span, source);
        for part in &self.parts {
            let is_named = !part.name.is_empty();
            if !is_named || part.offset < from || part.end() > to {
                continue;
            }
            let kind = match part.size {
                1 | 2 | 4 | 8 => Kind::Hex,
                _ => Kind::Bytes,
            };
            record.append_bytes(&*part.name, &bytes, part.offset - from, part.size, kind);
            if let Some(field) = record.fields.last_mut() {
                field.note = part.note;
                if part.certainty == "reported" {
                    field.meaning = Some(format!("reported by {}", part.source));
                }
            }
        }
        Some(record)
    }
}

const SOURCE: &str =
    "Special registers of PTX, measured with the vendor's tools; others as reported publicly";

/// The parameters of `kernel`, which has them from `start` to `end`.
fn parameters(kernel: &Kernel, start: u32, end: u32) -> Vec<BankPart> {
    if start >= end {
        return Vec::new();
    }
    let Some(params) = &kernel.params else {
        let source = "EIATTR_PARAM_CBANK";
        return vec![BankPart::stated(
            start,
            end - start,
            "parameters".into(),
            source,
        )];
    };
    let params = params.iter().take(PARTS_LIMIT).filter_map(|parameter| {
        let offset = start + u32::from(parameter.offset);
        let size = u32::from(parameter.size);
        let fits = size > 0 && offset + size <= end;
        let name = format!("parameter {}", parameter.ordinal);
        fits.then(|| BankPart {
            ordinal: Some(parameter.ordinal),
            ..BankPart::stated(offset, size, name, parameter.attribute)
        })
    });
    params.collect()
}
