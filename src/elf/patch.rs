//! What a loader writes over the image for the address that it is loaded at.
//!
//! The reference ABI's loaders apply few types of relocations ([`Dialect::loaded`]). The others are a linker's or the
//! driver's; those whose bits and value are known ([`Dialect::relocation_bits`]) are applied here too, and marked so.
//! Patches are in file order, and a later one wins where they overlap. Nothing of the image is copied to apply them:
//! any window can be patched.

use super::symbol::{Place, Symbol};
use super::{Bits, Dialect, Elf, Image, Relocation, RelocationTable, Symbols};
use crate::order;
use crate::span::Span;

/// Relocations of the image that are read, at most.
pub const LIMIT: usize = 1 << 20;

/// How a relocation type writes its value: which of its bits go where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// The bits that the value is written to.
    bits: Bits,
    /// What the symbol counts as.
    of: Of,
    /// Whether the place is subtracted.
    is_from_place: bool,
    /// What is added besides.
    plus: i64,
    /// Lowest bit and number of bits that the bank's number is written to.
    bank: (u32, u32),
    /// Why it writes nothing as long as nobody else has a part in it; empty where it writes.
    left: &'static str,
}

/// What a relocation's symbol counts as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Of {
    /// Its address.
    #[default]
    Address,
    /// Its place in a constant bank.
    Bank,
    /// Its value as stored.
    Value,
    /// Nothing: the addend is an address in the linked file.
    Addend,
}

impl Form {
    /// The form of relocation type `kind`; `None` where nobody has seen what it writes.
    pub fn of(dialect: &Dialect, kind: u32) -> Option<Self> {
        let named = dialect.relocation_bits.get(kind.into())?;
        let mut form = Self::default();
        for (part, text) in form.bits.parts.iter_mut().zip(named.name.split(',')) {
            *part = pair(text);
        }
        let (words, left) = named.note.split_once("not: ").unwrap_or((named.note, ""));
        form.left = left;
        for word in words.split_ascii_whitespace() {
            match word {
                "bank" => form.of = Of::Bank,
                "value" => form.of = Of::Value,
                "addend" => form.of = Of::Addend,
                "-P" => form.is_from_place = true,
                word => match (word.strip_prefix(">>"), word.parse()) {
                    (Some(shift), _) => form.bits.shift = shift.parse().unwrap_or(0),
                    (None, Ok(plus)) => form.plus = plus,
                    (None, Err(_)) => form.bank = pair(word),
                },
            }
        }
        Some(form)
    }

    /// Whether it writes; types that do not are a linker's or the driver's to decide.
    pub fn writes(&self) -> bool {
        self.left.is_empty()
    }

    /// The bytes that it writes to, or would, counted from `r_offset`; none where that is not known.
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
pub(super) fn bits(dialect: &Dialect, kind: u32) -> Option<Bits> {
    let bits = Form::of(dialect, kind)?.bits;
    bits.bytes().some()?;
    let shift = if dialect.loaded.contains(&kind) {
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

/// Reasons why nobody applies a relocation that the checks of whole tables have findings for.
const PLACE: &str = "the image does not hold the place";
const SYMBOL: &str = "the image does not hold its symbol";

/// A relocation of the image, and what it writes.
#[derive(Clone, Copy, Debug)]
pub struct Patch {
    /// Its row in the list of relocations.
    pub row: u32,
    /// The offset in the image that it says; `None` where the image does not hold it.
    pub offset: Option<u64>,
    /// Its type.
    pub kind: u32,
    /// Who applies it.
    pub by: By,
    dialect: &'static Dialect,
    /// What it comes to in an image that is loaded at 0.
    constant: u64,
    /// Whether the image's address is added.
    is_moved: bool,
    /// The symbol's constant bank.
    bank: u32,
}

impl Patch {
    /// What is written, before its bits are distributed: what the type makes of S + A, modulo 2^64.
    pub fn value(&self, base: u64) -> u64 {
        let base = if self.is_moved { base } else { 0 };
        base.wrapping_add(self.constant)
    }

    fn form(&self) -> Option<Form> {
        Form::of(self.dialect, self.kind)
    }

    /// Whether it changes the image.
    pub fn is_applied(&self) -> bool {
        !matches!(self.by, By::Nobody(_))
    }

    /// The bytes of the image that it patches; of one that is not applied, where the bits are known.
    pub fn span(&self) -> Option<Span> {
        let bytes = self.form()?.bytes().some()?;
        Some(Span::new(
            self.offset?.checked_add(bytes.offset)?,
            bytes.size,
        ))
    }

    fn write(&self, base: u64, offset: u64, window: &mut [u8]) {
        if let (Some(form), Some(at)) = (self.form(), self.offset) {
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
        for table in &elf.relocation_tables {
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
        let symbols = elf.symbols_of(table);
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

/// Why nobody applies `relocation` although its type is one that a loader applies, where [`super::Check`] does not say it.
pub(crate) fn left(
    elf: &Elf,
    table: &RelocationTable,
    symbols: Option<&Symbols<'_>>,
    relocation: &Relocation,
) -> Option<&'static str> {
    match patch(elf, table, symbols, relocation, 0).by {
        By::Nobody(why) if why != PLACE && why != SYMBOL => Some(why),
        _ => None,
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
        dialect: elf.dialect,
        constant: 0,
        is_moved: false,
        bank: 0,
    };
    let dialect = elf.dialect;
    let is_loaded = dialect.loaded.contains(&relocation.kind)
        && (dialect.loads_implicit_addends || relocation.addend.is_some());
    patch.by = match apply(elf, table, symbols, relocation, &mut patch) {
        Err(why) => By::Nobody(why),
        Ok(()) if is_loaded => By::Loader,
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
    let form = Form::of(elf.dialect, relocation.kind);
    let form = form.ok_or("nobody has seen what this type writes")?;
    if !form.writes() {
        return Err(form.left);
    }
    let offset = patch.offset.ok_or(PLACE)?;
    let symbol = symbols.and_then(|symbols| symbols.get(relocation.symbol.into()));
    let image = elf.main_image();
    let symbol = match (form.of, symbol) {
        (Of::Addend, _) => {
            patch.is_moved = true;
            0_u64.wrapping_sub(image.address)
        }
        (_, None) => return Err("it has no symbol"),
        (Of::Bank, Some(symbol)) => {
            let (place, bank) = in_bank(elf, &symbol).ok_or("its symbol is in no constant bank")?;
            patch.bank = bank;
            place
        }
        (Of::Value, Some(symbol)) => symbol.value,
        (Of::Address, _) if relocation.symbol == 0 => return Err("it has no symbol"),
        (Of::Address, Some(symbol)) => {
            patch.is_moved = !form.is_from_place;
            match elf.place(&symbol) {
                Place::Image(offset) => offset,
                Place::Undefined => return Err("its symbol is not defined here"),
                Place::Absolute => return Err("its symbol is a plain number"),
                Place::Outside => return Err(SYMBOL),
            }
        }
    };
    let end = offset.checked_add(form.bytes().end());
    if end.is_none_or(|end| end > image.end) {
        return Err("it reaches past the end of the image");
    }
    let addend = elf.addend(table, relocation);
    let addend = addend.ok_or("its addend lies past its section's end")? as u64;
    let place = if form.is_from_place { offset } else { 0 };
    patch.constant = symbol
        .wrapping_add(addend)
        .wrapping_sub(place)
        .wrapping_add_signed(form.plus);
    Ok(())
}

/// Where `symbol` is in a constant bank, and the bank's number.
fn in_bank(elf: &Elf, symbol: &Symbol) -> Option<(u64, u32)> {
    let section = elf.section(symbol.section)?;
    let rest = section.name.strip_prefix(elf.dialect.banks?)?;
    let bank = rest.split('.').next()?.parse().ok()?;
    Some((symbol.value.wrapping_sub(elf.start_of(section)), bank))
}

impl Elf {
    /// The image in which offsets of symbols and patches count: by the sections, or where there are none by the
    /// segments.
    pub fn main_image(&self) -> &Image {
        match &self.load_image {
            Some(image) if self.sections.is_empty() => image,
            _ => &self.image,
        }
    }
}
