//! What a loader writes over the image for the address that it is loaded at.
//!
//! The reference ABI's loader applies three types of relocations. The others are a linker's or the driver's; those
//! whose bits are known (`RELOCATION_BITS` in `tables/nvidia/relocation.toml`) are applied here too, and marked so.
//! Patches are in file order, and a later one wins where they overlap. Nothing of the image is copied to apply them:
//! any window can be patched.

use super::tables;
use crate::elf::symbol::Place;
use crate::elf::{Bits, Elf, Relocation, RelocationTable, Symbols};
use crate::order;
use crate::span::Span;

/// The types that the reference ABI's loader applies: `R_CUDA_64`, `R_CUDA_ABS32_LO_32`, `R_CUDA_ABS32_HI_32`.
/// The bits that they write are whole bytes: 8 at `r_offset`, 4 that lie 4 past it.
pub(super) const LOADED: [u32; 3] = [0x02, 0x38, 0x39];

/// Relocations of the image that are read, at most.
pub const LIMIT: usize = 1 << 20;

/// The beginning of constant banks' section names, and the types that those of relocatable cubins have.
const CONSTANT: &str = ".nv.constant";

/// How a relocation type writes its value: which of its bits go where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// The bits that the value is written to.
    bits: Bits,
    /// Whether the symbol's value is its place in a constant bank.
    in_bank: bool,
    /// Lowest bit and number of bits that the bank's number is written to.
    bank: (u32, u32),
    /// Whether a linker was seen to write so: else the type's name alone says it.
    is_seen: bool,
}

impl Form {
    /// The form of relocation type `kind`; `None` where nobody has seen what it writes.
    pub fn of(kind: u32) -> Option<Self> {
        Self::named(kind).filter(|form| form.is_seen)
    }

    fn named(kind: u32) -> Option<Self> {
        let named = tables::RELOCATION_BITS.get(kind.into())?;
        let mut form = Self {
            is_seen: true,
            ..Self::default()
        };
        for (part, text) in form.bits.parts.iter_mut().zip(named.name.split(',')) {
            *part = pair(text);
        }
        for word in named.note.split(' ') {
            match word.strip_prefix(">>") {
                Some(shift) => form.bits.shift = shift.parse().unwrap_or(0),
                None if word == "bank" => form.in_bank = true,
                None if word == "unseen" => form.is_seen = false,
                None if !word.is_empty() => form.bank = pair(word),
                None => {}
            }
        }
        Some(form)
    }

    /// The bytes that it writes to, counted from `r_offset`.
    pub fn bytes(&self) -> Span {
        let value = self.bits.bytes();
        match self.bank.1 {
            0 => value,
            _ => {
                let last = (self.bank.0 + self.bank.1).div_ceil(8).into();
                Span::new(value.offset, value.end().max(last) - value.offset)
            }
        }
    }

    /// Writes `value` and the bank's number to the bits of `window` that lie in it; `r_offset` is `at` bytes
    /// from its first byte.
    pub fn write(&self, value: u64, bank: u32, at: i64, window: &mut [u8]) {
        let mut value = value >> self.bits.shift;
        let last = (self.bank.0, self.bank.1, u64::from(bank));
        for (lsb, width) in self.bits.parts {
            set(window, at, lsb, width, value);
            value = value.checked_shr(width).unwrap_or(0);
        }
        set(window, at, last.0, last.1, last.2);
    }
}

/// Two numbers with a colon between.
fn pair(text: &str) -> (u32, u32) {
    let (a, b) = text.split_once(':').unwrap_or_default();
    (a.parse().unwrap_or(0), b.parse().unwrap_or(0))
}

fn set(window: &mut [u8], at: i64, lsb: u32, width: u32, value: u64) {
    for bit in 0..width {
        let place = lsb + bit;
        let index = at + i64::from(place / 8);
        let byte = usize::try_from(index).ok().and_then(|i| window.get_mut(i));
        if let Some(byte) = byte {
            let mask = 1 << (place % 8);
            *byte = *byte & !mask | if value >> bit & 1 != 0 { mask } else { 0 };
        }
    }
}

/// The bits in which an implicit addend of relocation type `kind` lies. The reference ABI's loader adds them as they
/// are. nvlink 13.5 puts them in their place first: in a `REL` entry of type `R_CUDA_CONST_FIELD19_40` the bits 7 are
/// the addend 28.
pub(super) fn bits(kind: u32) -> Option<Bits> {
    let bits = Form::named(kind)?.bits;
    let shift = if LOADED.contains(&kind) {
        0
    } else {
        bits.shift
    };
    Some(Bits { shift, ..bits })
}

/// Who applies a relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The reference ABI's loader.
    Loader,
    /// Kernelscope alone: that loader refuses it.
    Kernelscope,
    /// Nobody, for this reason.
    Nobody(&'static str),
}

/// A relocation of the image, and what it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Its row in the list of relocations.
    pub row: u32,
    /// The offset in the image that it says; `None` where the image does not hold it.
    pub offset: Option<u64>,
    /// Its type.
    pub kind: u32,
    /// Who applies it.
    pub by: By,
    /// The symbol's offset in the image, or in its bank.
    symbol: u64,
    /// Whether the image's address is added.
    is_relative: bool,
    /// The symbol's constant bank.
    bank: u32,
    addend: u64,
}

impl Patch {
    /// What is written, before its bits are distributed: S + A, modulo 2^64.
    pub fn value(&self, base: u64) -> u64 {
        let base = if self.is_relative { base } else { 0 };
        base.wrapping_add(self.symbol).wrapping_add(self.addend)
    }

    /// Whether it changes the image.
    pub fn is_applied(&self) -> bool {
        !matches!(self.by, By::Nobody(_))
    }

    /// The bytes of the image that it patches; of one that is not applied, where the bits are known.
    pub fn span(&self) -> Option<Span> {
        let bytes = Form::of(self.kind)?.bytes();
        Some(Span::new(
            self.offset?.checked_add(bytes.offset)?,
            bytes.size,
        ))
    }

    fn write(&self, base: u64, offset: u64, window: &mut [u8]) {
        if let (Some(form), Some(at)) = (Form::of(self.kind), self.offset) {
            let at = at.wrapping_sub(offset) as i64;
            form.write(self.value(base), self.bank, at, window);
        }
    }
}

/// The relocations of an image, in file order.
#[derive(Debug, Default)]
pub struct Patches {
    all: Vec<Patch>,
    /// Those that are applied, by offset.
    order: Vec<u32>,
    /// Of those that write the same bytes the last one, by these bytes.
    last: Vec<(Span, u32)>,
    /// Whether none was left out for being too many.
    pub is_complete: bool,
}

impl Patches {
    /// Reads the relocations of the image of `elf`.
    pub fn read(elf: &Elf) -> Self {
        let mut patches = Self {
            is_complete: true,
            ..Self::default()
        };
        let mut start = 0;
        // The list of relocations has those of sections; others are not known in cubins.
        for table in elf
            .relocation_tables
            .iter()
            .filter(|table| table.section.is_some())
        {
            if elf.is_of_image(table) {
                patches.read_table(elf, table, start);
            }
            start += table.table.count;
        }
        let all = &patches.all;
        let offset = |i: usize| match (all[i].is_applied(), all[i].offset) {
            (true, Some(offset)) => offset,
            _ => u64::MAX,
        };
        let mut order = order::by_key(all.len(), &offset);
        order.retain(|&i| all[i as usize].is_applied());
        let spans = order
            .iter()
            .filter_map(|&i| Some((all[i as usize].span()?, i)));
        let mut last: Vec<(Span, u32)> = spans.collect();
        order::arrange_by(&mut last, |(a, i), (b, j)| {
            (a.offset, a.size, j).cmp(&(b.offset, b.size, i))
        });
        last.dedup_by_key(|(span, _)| *span);
        patches.last = last;
        patches.order = order;
        patches
    }

    fn read_table(&mut self, elf: &Elf, table: &RelocationTable, start: u64) {
        let Ok(relocations) = elf.relocations(table) else {
            return;
        };
        let symbols = elf.symbol_table_in(table.symbols);
        let symbols = symbols.and_then(|table| elf.symbols(table).ok());
        for relocation in relocations.iter() {
            let row = u32::try_from(start + relocation.index);
            let (Ok(row), true) = (row, self.all.len() < LIMIT) else {
                self.is_complete = false;
                return;
            };
            self.all
                .push(patch(elf, table, symbols.as_ref(), &relocation, row));
        }
    }

    /// All of them, applied or not, in file order.
    pub fn all(&self) -> &[Patch] {
        &self.all
    }

    /// The applied ones that change bytes of `window` of the image, in file order.
    pub fn within(&self, window: Span) -> Vec<u32> {
        let offset = |i: &u32| self.all[*i as usize].offset.unwrap_or(u64::MAX);
        let first = window.offset.saturating_sub(Bits::REACH);
        let first = self.order.partition_point(|i| offset(i) < first);
        let near = self.order[first..]
            .iter()
            .take_while(|i| offset(i) < window.end());
        let reaches = |i: &&u32| {
            let span = self.all[**i as usize].span().unwrap_or_default();
            span.offset < window.end() && window.offset < span.end()
        };
        let mut found: Vec<u32> = near.filter(reaches).copied().collect();
        order::arrange(&mut found, |&i| i.into());
        found
    }

    /// Writes the patches for an image at `base` over `window`, the image's bytes from `offset` on.
    pub fn apply(&self, base: u64, offset: u64, window: &mut [u8]) {
        for i in self.within(Span::new(offset, window.len() as u64)) {
            self.all[i as usize].write(base, offset, window);
        }
    }

    /// Writes one of them alone.
    pub fn apply_one(&self, index: usize, base: u64, offset: u64, window: &mut [u8]) {
        if let Some(patch) = self.all.get(index).filter(|patch| patch.is_applied()) {
            patch.write(base, offset, window);
        }
    }

    /// The last of the later ones that write to bytes of the one at `index`.
    pub fn overwritten_by(&self, index: usize) -> Option<u32> {
        let patch = self.all.get(index).filter(|patch| patch.is_applied())?;
        let span = patch.span()?;
        let first = span.offset.saturating_sub(Bits::REACH);
        let first = self.last.partition_point(|(other, _)| other.offset < first);
        let near = self.last[first..].iter();
        let near = near.take_while(|(other, _)| other.offset < span.end());
        let near = near.filter(|(other, _)| other.end() > span.offset);
        let last = near.map(|&(_, i)| i).max()?;
        (last as usize > index).then_some(last)
    }
}

/// What `relocation` comes to.
fn patch(
    elf: &Elf,
    table: &RelocationTable,
    symbols: Option<&Symbols<'_>>,
    relocation: &Relocation,
    row: u32,
) -> Patch {
    let mut patch = Patch {
        row,
        offset: elf.patched(table, relocation),
        kind: relocation.kind,
        by: By::Nobody(""),
        symbol: 0,
        is_relative: false,
        bank: 0,
        addend: 0,
    };
    patch.by = match apply(elf, table, symbols, relocation, &mut patch) {
        Err(why) => By::Nobody(why),
        Ok(()) if LOADED.contains(&relocation.kind) => By::Loader,
        Ok(()) => By::Kernelscope,
    };
    patch
}

/// Fills in the value of `patch`, or says why there is none.
fn apply(
    elf: &Elf,
    table: &RelocationTable,
    symbols: Option<&Symbols<'_>>,
    relocation: &Relocation,
    patch: &mut Patch,
) -> Result<(), &'static str> {
    let form = Form::of(relocation.kind).ok_or("nobody has seen what this type writes")?;
    let offset = patch.offset.ok_or("the image does not hold the place")?;
    let symbol = symbols.and_then(|symbols| symbols.get(relocation.symbol.into()));
    let symbol = symbol.ok_or("it has no symbol")?;
    if form.in_bank {
        let section = elf.section(symbol.section);
        let bank = section.and_then(|section| bank_of(&section.name));
        let (section, bank) = section
            .zip(bank)
            .ok_or("its symbol is in no constant bank")?;
        let start = if elf.header.is_relocatable() {
            0
        } else {
            section.address
        };
        patch.symbol = symbol.value.wrapping_sub(start);
        patch.bank = bank;
    } else {
        patch.symbol = match elf.place(&symbol) {
            Place::Image(offset) => offset,
            Place::Undefined => return Err("its symbol is not defined here"),
            Place::Absolute => return Err("its symbol is a plain number"),
            Place::Outside => return Err("the image does not hold its symbol"),
        };
        patch.is_relative = true;
    }
    let bytes = form.bytes();
    let end = offset.checked_add(bytes.end());
    if end.is_none_or(|end| end > elf.image.end) {
        return Err("it reaches past the end of the image");
    }
    let addend = elf.addend(table, relocation);
    patch.addend = addend.ok_or("its addend lies past its section's end")? as u64;
    Ok(())
}

/// The number of the constant bank that a section of that name is, or is a part of.
fn bank_of(name: &str) -> Option<u32> {
    let rest = name.strip_prefix(CONSTANT)?;
    let digits = rest.split('.').next()?;
    digits.parse().ok()
}
