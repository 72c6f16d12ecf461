//! The image that a loader lays out in memory: described, not copied.
//!
//! Two rules stand side by side. By the reference ABI's, held sections are placed at their addresses
//! or, where all addresses are zero, one behind the other; by the program headers, PT_LOAD segments
//! are placed at theirs.

use object::elf;

use super::{Dialect, Elf, Section};
use crate::error::{Diagnostic, Diagnostics, Kind, Result};
use crate::order;
use crate::source::Source;
use crate::span::Span;

/// A piece of an image: a section, or a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Index of the section or segment.
    pub owner: u32,
    /// Offset in the image.
    pub offset: u64,
    /// Bytes in the image.
    pub size: u64,
    /// Its bytes in the file, from its first byte on; zeros follow up to `size`.
    pub stored: Span,
}

/// An image, laid out.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// The address that offset 0 has in a linked file.
    pub address: u64,
    /// Where the last piece ends.
    pub end: u64,
    /// Bytes to reserve: the end, rounded up as the machine's ABI wants it.
    pub size: u64,
    /// Alignment to reserve them at.
    pub align: u64,
    /// Whether the pieces lie at addresses of their own.
    pub has_addresses: bool,
    /// The pieces: sections in section order, or segments in segment order.
    pub pieces: Vec<Piece>,
    /// Indices of `pieces` by offset, and how far the pieces up to there reach.
    order: Vec<(u32, u64)>,
    /// `pieces` index of each section, by section index.
    by_owner: Vec<u32>,
}

/// What fits in a signed 64-bit number.
const SIGNED_LIMIT: u64 = i64::MAX as u64;
const NONE: u32 = u32::MAX;

impl Image {
    /// The piece of the section (or segment) `index`.
    pub fn piece_of_section(&self, index: u32) -> Option<&Piece> {
        self.pieces
            .get(*self.by_owner.get(index as usize)? as usize)
    }

    /// The pieces that reach into `window`, in the order in which they are laid.
    pub fn pieces_in(&self, window: Span) -> Vec<&Piece> {
        let first = self
            .order
            .partition_point(|&(_, reach)| reach <= window.offset);
        let found: Vec<u32> = self.order[first..]
            .iter()
            .map(|&(i, _)| i)
            .take_while(|&i| self.pieces[i as usize].offset < window.end())
            .filter(|&i| {
                let piece = &self.pieces[i as usize];
                piece.size > 0 && piece.offset + piece.size > window.offset
            })
            .collect();
        let laid = order::by_key(found.len(), &|i| found[i].into());
        let pieces = laid.iter().map(|&i| found[i as usize]);
        pieces.map(|i| &self.pieces[i as usize]).collect()
    }

    /// The bytes of the file that make the image from `offset` on, to the end of their piece; `None` where
    /// it has zeros that no byte of the file makes.
    pub fn stored_from(&self, offset: u64) -> Option<Span> {
        // Of pieces that share bytes the last one is laid over the others.
        let pieces = self.pieces_in(Span::new(offset, 1));
        pieces.into_iter().rev().find_map(|piece| {
            let within = offset - piece.offset;
            let size = piece.stored.size.min(piece.size).checked_sub(within)?;
            Span::new(piece.stored.offset + within, size).some()
        })
    }

    /// Whether a piece has the byte at `offset`.
    pub fn holds(&self, offset: u64) -> bool {
        let pieces = &self.pieces;
        let next = self
            .order
            .partition_point(|&(i, _)| pieces[i as usize].offset <= offset);
        self.order[..next]
            .last()
            .is_some_and(|&(_, reach)| reach > offset)
    }

    /// The bytes around `offset` that no piece has.
    pub fn gap_at(&self, offset: u64) -> Span {
        let next = self
            .order
            .partition_point(|&(i, _)| self.pieces[i as usize].offset <= offset);
        let (before, behind) = self.order.split_at(next);
        let start = before.last().map_or(0, |&(_, reach)| reach);
        let mut behind = behind.iter().map(|&(i, _)| &self.pieces[i as usize]);
        let end = behind.find(|piece| piece.size > 0);
        let end = end.map_or(self.size, |piece| piece.offset);
        Span::new(start, end - start)
    }

    /// Fills `into` with the image's bytes from `offset` on; zeros where no piece has any.
    ///
    /// # Errors
    /// Those of [`Source::read_into`].
    pub fn read_into(&self, source: &Source, offset: u64, into: &mut [u8]) -> Result<()> {
        into.fill(0);
        let window = Span::new(offset, into.len() as u64);
        for piece in self.pieces_in(window) {
            let stored = Span::new(piece.offset, piece.stored.size.min(piece.size));
            let start = stored.offset.max(window.offset);
            let end = stored.end().min(window.end());
            if start < end {
                let place = piece.stored.offset + (start - piece.offset);
                let part = (start - offset) as usize..(end - offset) as usize;
                source.read_into(place, &mut into[part])?;
            }
        }
        Ok(())
    }

    fn add(&mut self, piece: Piece) {
        let owner = piece.owner as usize;
        if self.by_owner.len() <= owner {
            self.by_owner.resize(owner + 1, NONE);
        }
        self.by_owner[owner] = self.pieces.len() as u32;
        self.end = self.end.max(piece.offset + piece.size);
        self.pieces.push(piece);
    }

    /// Says how many bytes to reserve: up to the end, in whole units of the machine's ABI, and `tail` more.
    fn reserve(&mut self, dialect: &Dialect, tail: u64) {
        self.size = self
            .end
            .checked_next_multiple_of(dialect.image_multiple)
            .and_then(|size| size.checked_add(tail))
            .unwrap_or(self.end);
    }

    /// Sorts the pieces for reading; pairs of neighbours that share bytes are given to `shared`.
    fn finish(&mut self, mut shared: impl FnMut(&Piece, &Piece)) {
        let order = order::by_key(self.pieces.len(), &|i| self.pieces[i].offset);
        let mut reach = 0;
        let mut farthest: Option<u32> = None;
        for i in order {
            let piece = self.pieces[i as usize];
            if let Some(before) = farthest
                && piece.size > 0
                && piece.offset < reach
            {
                shared(&self.pieces[before as usize], &piece);
            }
            if piece.offset + piece.size > reach {
                reach = piece.offset + piece.size;
                farthest = Some(i);
            }
            self.order.push((i, reach));
        }
    }
}

impl Elf {
    /// Whether the image holds `section`: allocated, with contents or zeros, not thread-local zeros,
    /// and not kept in memory of another kind.
    pub fn is_held(&self, section: &Section) -> bool {
        let kind = elf::SectionType(section.kind);
        let elsewhere = self.dialect.not_held;
        section.is_allocated()
            && matches!(kind, elf::SHT_PROGBITS | elf::SHT_NOBITS)
            && !(kind == elf::SHT_NOBITS && section.flags & elf::SHF_TLS.0 != 0)
            && !elsewhere.is_some_and(|prefix| section.name.starts_with(prefix))
    }
}

/// Programs for the host can have parts at the end of the address space; for a device they are too far.
fn too_large(dialect: &Dialect, what: &str) -> Diagnostic {
    let message = format!("the image would be too large for this {what}, which is left out");
    if dialect.has_loader {
        Diagnostic::error(Kind::Loader, message)
    } else {
        Diagnostic::note(Kind::Limit, message)
    }
}

/// The image by the reference ABI's rule.
pub(super) fn by_sections(file: &Elf, findings: &mut Diagnostics) -> Image {
    let dialect = file.dialect;
    let source = file.source();
    // An alignment that is no power of two is reported where the headers are checked.
    let align_of = |section: &Section| match section.align {
        align if align.is_power_of_two() => align,
        _ => 1,
    };
    let held = || file.sections.iter().filter(|section| file.is_held(section));
    let has_addresses = held().any(|section| section.address != 0);
    let largest = held().map(align_of).max().unwrap_or(1);
    let mut image = Image {
        has_addresses,
        align: largest,
        ..Image::default()
    };
    if has_addresses {
        let lowest = held().map(|section| section.address).min().unwrap_or(0);
        image.address = lowest / largest * largest;
    } else {
        image.align = largest.max(dialect.image_alignment);
    }
    let mut next = 0_u64;
    for section in held() {
        let offset = if has_addresses {
            section.address.checked_sub(image.address)
        } else {
            next.checked_next_multiple_of(align_of(section).max(dialect.image_alignment))
        };
        let end = offset.and_then(|offset| offset.checked_add(section.size));
        let (Some(offset), Some(end)) = (offset, end.filter(|&end| end <= SIGNED_LIMIT)) else {
            findings.push(
                too_large(dialect, "section")
                    .expected(
                        format!("an end of at most 0x{SIGNED_LIMIT:x}"),
                        format!("address 0x{:x}, size 0x{:x}", section.address, section.size),
                    )
                    .within(format!("section {} {}", section.index, section.name))
                    .at(source.absolute(section.header)),
            );
            continue;
        };
        image.add(Piece {
            owner: section.index,
            offset,
            size: section.size,
            stored: file.stored(section),
        });
        next = end;
    }
    let name = |piece: &Piece| file.section_label(piece.owner);
    image.finish(|a, b| {
        findings.push(
            Diagnostic::error(
                dialect.rule(),
                format!(
                    "sections {} and {} share bytes of the image",
                    name(a),
                    name(b)
                ),
            )
            .within(format!("section {}, sh_addr", b.owner))
            .at(file
                .section(b.owner)
                .and_then(|s| source.absolute(s.header))),
        );
    });
    image.reserve(dialect, dialect.image_tail);
    limit(dialect, &image, findings);
    image
}

/// Refuses an image that is larger than a loader accepts.
fn limit(dialect: &Dialect, image: &Image, findings: &mut Diagnostics) {
    if image.end > dialect.image_limit {
        findings.push(
            Diagnostic::error(Kind::Loader, "the image is larger than a loader accepts")
                .expected(
                    format!("at most 0x{:x}", dialect.image_limit),
                    format!("0x{:x}", image.end),
                )
                .within("image"),
        );
    }
}

/// Segments of files that are looked through for each section; compilers write about six.
const SEGMENTS: usize = 64;

/// Notes that segments give a section of the image other bytes than it has itself: whoever copies segments has
/// another image.
pub(super) fn compare(file: &Elf, findings: &mut Diagnostics) {
    let loaded = file.load_image.as_ref();
    let loaded = loaded.filter(|image| image.pieces.len() <= SEGMENTS);
    let (Some(loaded), true) = (loaded, file.image.has_addresses) else {
        return;
    };
    let mut first: Option<(&Section, &str)> = None;
    let mut count = 0;
    for piece in file.image.pieces.iter().filter(|piece| piece.size > 0) {
        let Some(section) = file.section(piece.owner) else {
            continue;
        };
        let ahead = section.address.checked_sub(loaded.address);
        let there = ahead.map(|offset| Span::new(offset, piece.size));
        let segments = there.map(|span| loaded.pieces_in(span)).unwrap_or_default();
        // Of segments that share bytes the last one is laid over the others.
        let has_all = |segment: &&&Piece| {
            let within = ahead.and_then(|offset| offset.checked_sub(segment.offset));
            within.is_some_and(|within| Span::new(within, piece.size).within(segment.size))
        };
        let wrong = match segments.last().filter(has_all) {
            None => "a segment with all of it",
            Some(segment) => {
                let within = section.address - loaded.address - segment.offset;
                let stored = segment.stored.size.saturating_sub(within).min(piece.size);
                let is_same = stored == piece.stored.size.min(piece.size)
                    && (stored == 0 || segment.stored.offset + within == piece.stored.offset);
                if is_same {
                    continue;
                }
                "a segment of the same bytes"
            }
        };
        first.get_or_insert((section, wrong));
        count += 1;
    }
    if let Some((section, wrong)) = first {
        let message = match count {
            1 => "a loader that copies segments has something else where this section is".into(),
            _ => format!(
                "a loader that copies segments has something else where {count} sections are"
            ),
        };
        let name = &section.name;
        findings.push(
            Diagnostic::note(Kind::Loader, message)
                .expected(wrong, format!("address 0x{:x}", section.address))
                .within(format!("section {} {name}, sh_addr", section.index))
                .at(file.source().absolute(section.header)),
        );
    }
}

/// The image by the program headers.
pub(super) fn by_segments(file: &Elf, findings: &mut Diagnostics) -> Option<Image> {
    let loads = || file.segments.iter().filter(|s| s.is_load());
    let lowest = loads().map(|s| s.virtual_address).min()?;
    let align = loads()
        .map(|s| s.align)
        .filter(|a| a.is_power_of_two())
        .max();
    let mut image = Image {
        has_addresses: true,
        align: align.unwrap_or(1),
        ..Image::default()
    };
    image.address = lowest / image.align * image.align;
    for segment in loads() {
        let offset = segment.virtual_address - image.address;
        if offset
            .checked_add(segment.memory_size)
            .is_none_or(|end| end > SIGNED_LIMIT)
        {
            findings.push(
                too_large(file.dialect, "segment")
                    .within(format!("segment {}", segment.index))
                    .at(file.source().absolute(segment.header)),
            );
            continue;
        }
        image.add(Piece {
            owner: segment.index,
            offset,
            size: segment.memory_size,
            stored: segment.span().clamp(file.source().size()),
        });
    }
    image.finish(|_, _| {});
    image.reserve(file.dialect, 0);
    // With section headers it is not what a loader of the reference ABI lays out.
    if file.sections.is_empty() {
        limit(file.dialect, &image, findings);
    }
    Some(image)
}
