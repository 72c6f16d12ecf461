//! What a loader writes over an image, as a [`Table`].

use crate::elf::Elf;
use crate::elf::patch::{By, Patch, Patches};
use crate::lists::RelocationList;
use crate::record;
use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::span::Span;

/// The relocations of an image and what they write where it is loaded at an address.
pub struct PatchList<'a> {
    elf: &'a Elf,
    patches: &'a Patches,
    relocations: RelocationList<'a>,
    base: u64,
}

impl<'a> PatchList<'a> {
    /// The patches of the image of `elf`, which is loaded at `base`.
    pub fn new(elf: &'a Elf, patches: &'a Patches, base: u64) -> Self {
        Self {
            elf,
            patches,
            relocations: RelocationList::new(elf, !elf.sections.is_empty()),
            base,
        }
    }

    fn patch(&self, row: u64) -> Option<&Patch> {
        self.patches.all().get(usize::try_from(row).ok()?)
    }

    /// The bytes that a patch changes: as the file has them, and as it leaves them.
    fn bytes(&self, row: u64, is_after: bool) -> Option<String> {
        let patch = self.patch(row)?;
        let span = patch.span().filter(|_| !is_after || patch.is_applied())?;
        let image = self.elf.main_image();
        let span = span.clamp(image.end).some()?;
        let mut bytes = vec![0; span.size as usize];
        let source = self.elf.source();
        image.read_into(source, span.offset, &mut bytes).ok()?;
        if is_after {
            self.patches
                .apply_one(row as usize, self.base, span.offset, &mut bytes);
        }
        Some(record::hex(&bytes))
    }
}

impl Table for PatchList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("image_offset", "Image offset", Unit::Hex),
            column("size", "Size", Unit::Size),
            column("type", "Type", Unit::Word),
            column("symbol_name", "Symbol", Unit::Text),
            column("value", "Value", Unit::Hex),
            column("before", "Before", Unit::Word),
            column("after", "After", Unit::Word),
            column("applied_by", "Applied by", Unit::Word),
            column("remark", "Remark", Unit::Word),
            hidden("section_name", "Relocation in", Unit::Text),
            hidden("relocation", "Relocation", Unit::Number),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.patches.all().len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(patch) = self.patch(row) else {
            return Cell::None;
        };
        match key {
            "image_offset" => {
                let span = patch.span().map(|span| span.offset);
                span.or(patch.offset).into()
            }
            "size" => patch.span().map(|span| span.size).into(),
            "value" => patch.is_applied().then(|| patch.value(self.base)).into(),
            "before" => self.bytes(row, false).into(),
            "after" => self.bytes(row, true).into(),
            "applied_by" => match patch.by {
                By::Loader => "loader",
                By::Kernelscope => "Kernelscope",
                By::Nobody(_) => "nobody",
            }
            .into(),
            "remark" => match patch.by {
                By::Nobody(why) => why.into(),
                _ if self.patches.overwritten_by(row as usize).is_some() => {
                    "a later relocation writes over it".into()
                }
                By::Kernelscope => "the reference loader refuses it".into(),
                By::Loader => Cell::None,
            },
            "relocation" => patch.row.into(),
            key => self.relocations.cell(patch.row.into(), key),
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.relocations.place(self.patch(row)?.row.into())
    }

    fn target(&self, row: u64) -> Option<Span> {
        let patch = self.patch(row)?;
        let span = patch.span()?;
        let stored = self.elf.main_image().stored_from(span.offset)?;
        Some(Span::new(stored.offset, stored.size.min(span.size)))
    }
}
