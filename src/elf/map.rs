//! What every byte of a file belongs to.
//!
//! Headers, tables and sections claim bytes; [`cover`] turns the claims into leaves that follow each
//! other without gaps from the first byte to the last. What nothing claims is a leaf too: `padding`
//! if it is zeros between parts, else `unclaimed`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use object::elf;
use serde::Serialize;

use super::{Elf, Image, Section};
use crate::error::{Diagnostic, Diagnostics};
use crate::order;
use crate::source::Source;
use crate::span::Span;

/// What a part of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The file's header.
    Header,
    /// The program headers.
    Segments,
    /// The section headers.
    Sections,
    /// The contents of the section of that index.
    Section(u32),
    /// A symbol table found without section headers, by its number.
    Symbols(u32),
    /// The strings of such a table.
    Strings(u32),
    /// Relocations found without section headers, by their number.
    Relocations(u32),
    /// The contents of the segment of that index, where no section has them.
    Segment(u32),
    /// A part of a dump, which knows which one it is.
    Dumped,
    /// A member of a container or a structure that describes one: the contents know which one it is.
    Contained(u32),
    /// Zeros that nothing claims.
    Padding,
    /// Other bytes that nothing claims.
    Unclaimed,
    /// Bytes that nothing claims, too many to be read to know whether they are zeros.
    Unread,
}

impl Part {
    fn is_segment(self) -> bool {
        matches!(self, Self::Segment(_))
    }
}

/// What the bytes of a part are for: what it is tinted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Headers of the format.
    Header,
    /// Names.
    Strings,
    /// Symbols and relocations.
    Symbols,
    /// What a loader is told about the code.
    Info,
    /// Notes.
    Note,
    /// Instructions.
    Code,
    /// Constants and data.
    Data,
    /// Debug information.
    Debug,
    /// Zeros that nothing claims.
    Padding,
    /// Other bytes that nothing claims.
    Unclaimed,
}

impl Role {
    /// All of them, as numbered in columns of numbers.
    pub const ALL: [Self; 10] = [
        Self::Header,
        Self::Strings,
        Self::Symbols,
        Self::Info,
        Self::Note,
        Self::Code,
        Self::Data,
        Self::Debug,
        Self::Padding,
        Self::Unclaimed,
    ];

    /// Its word in what is handed out.
    pub fn word(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Strings => "strings",
            Self::Symbols => "symbols",
            Self::Info => "info",
            Self::Note => "note",
            Self::Code => "code",
            Self::Data => "data",
            Self::Debug => "debug",
            Self::Padding => "padding",
            Self::Unclaimed => "unclaimed",
        }
    }
}

/// A leaf of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Its bytes.
    pub span: Span,
    /// What claims them; the first claimant where several do.
    pub part: Part,
    /// Whether several parts claim them.
    pub is_shared: bool,
}

/// The map of a file.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// The leaves by offset; their sizes sum up to the file's.
    pub leaves: Vec<Leaf>,
    /// The claims by offset, and how far those up to there reach.
    claims: Vec<(Span, Part, u64)>,
}

/// Bytes that are read for telling padding from other bytes, at most.
const GAP_LIMIT: u64 = 16 << 20;
/// Bytes that lie between sections for alignment, at most.
const ALIGNMENT: u64 = 64 << 10;

impl Map {
    /// The map of a file of `size` bytes, by what claims them.
    fn of(
        claims: Vec<(Span, Part)>,
        size: u64,
        counts: fn(Part) -> bool,
        settle: &mut dyn FnMut(&mut Leaf),
    ) -> Self {
        let by_offset = order::by_key(claims.len(), &|i| claims[i].0.offset);
        let mut map = Self::default();
        let mut reach = 0;
        for &i in &by_offset {
            let (span, part) = claims[i as usize];
            reach = span.end().max(reach);
            map.claims.push((span, part, reach));
        }
        map.leaves = sweep(&claims, &by_offset, size, counts, settle);
        map
    }

    /// The leaf that holds the byte at `offset`.
    pub fn leaf_at(&self, offset: u64) -> Option<&Leaf> {
        let next = self.leaves.partition_point(|l| l.span.offset <= offset);
        let leaf = self.leaves.get(next.checked_sub(1)?)?;
        leaf.span.contains(offset).then_some(leaf)
    }

    /// The parts that claim the byte at `offset`, segments last.
    pub fn parts_at(&self, offset: u64) -> Vec<Part> {
        let first = self.claims.partition_point(|c| c.2 <= offset);
        let mut parts: Vec<Part> = self.claims[first..]
            .iter()
            .take_while(|c| c.0.offset <= offset)
            .filter(|c| c.0.contains(offset))
            .map(|c| c.1)
            .collect();
        order::arrange(&mut parts, |part| part.is_segment().into());
        parts
    }
}

/// The map of a container: by `claims`, the first claimant of a byte first, since parts lie in each other there. Where `is_all` of the
/// file's map, what nothing claims is told from padding.
pub fn of_container(claims: Vec<(Span, Part)>, source: &Source, is_all: bool) -> Map {
    let mut gaps = GAP_LIMIT;
    Map::of(claims, source.size(), |_| false, &mut |leaf| {
        if leaf.part == Part::Unclaimed && is_all {
            leaf.part = gap(source, leaf.span, &mut gaps);
        }
    })
}

/// What claims bytes of `file`, the first claimant of a byte first.
fn claims(file: &Elf) -> Vec<(Span, Part)> {
    let mut claims = vec![(file.header.span(), Part::Header)];
    let table = |table: Option<super::Table>, part| table.map(|t| (t.span(), part));
    claims.extend(table(file.segment_table, Part::Segments));
    claims.extend(table(file.section_table, Part::Sections));
    let sections = file.sections.iter();
    claims.extend(sections.map(|s| (s.span(), Part::Section(s.index))));
    for (i, table) in (0..).zip(&file.symbol_tables) {
        if table.section.is_none() {
            claims.push((table.table.span(), Part::Symbols(i)));
            claims.push((table.strings, Part::Strings(i)));
        }
    }
    for (i, table) in (0..).zip(&file.relocation_tables) {
        if table.section.is_none() {
            claims.push((table.table.span(), Part::Relocations(i)));
        }
    }
    // Narrow segments (notes, the dynamic table) say more than those that are loaded.
    let segments = || {
        let all = file.segments.iter();
        all.filter(|s| s.kind != elf::PT_NULL.0 && s.kind != elf::PT_PHDR.0)
    };
    let narrow = segments().filter(|s| !s.is_load());
    let ordered = narrow.chain(segments().filter(|s| s.is_load()));
    claims.extend(ordered.map(|s| (s.span(), Part::Segment(s.index))));
    for claim in &mut claims {
        claim.0 = claim.0.clamp(file.source().size());
    }
    claims.retain(|claim| claim.0.size > 0);
    claims
}

/// The map of `file`.
pub(super) fn cover(file: &Elf, findings: &mut Diagnostics) -> Map {
    let mut gaps = GAP_LIMIT;
    let counts = |part: Part| !part.is_segment();
    let source = file.source();
    let map = Map::of(
        claims(file),
        source.size(),
        counts,
        &mut |leaf| match leaf.part {
            Part::Unclaimed => leaf.part = gap(source, leaf.span, &mut gaps),
            // Zeros between sections are padding, whichever segment has them too.
            Part::Segment(_) => {
                leaf.is_shared = false;
                if !file.sections.is_empty()
                    && leaf.span.size <= ALIGNMENT
                    && gap(source, leaf.span, &mut gaps) == Part::Padding
                {
                    leaf.part = Part::Padding;
                }
            }
            _ => {}
        },
    );
    for leaf in map.leaves.iter().filter(|leaf| leaf.is_shared) {
        let parts = map.parts_at(leaf.span.offset);
        let on_purpose = file.dialect.shares.is_some_and(|prefix| {
            let mut labels = parts.iter().map(|&part| file.part_label(part));
            labels.any(|label| label.starts_with(prefix))
        });
        let names: Vec<_> = parts
            .iter()
            .filter(|part| !part.is_segment())
            .take(4)
            .map(|&part| file.part_label(part))
            .collect();
        let message = format!(
            "{} share {} bytes of the file",
            names.join(" and "),
            leaf.span.size
        );
        let finding = if on_purpose {
            file.refused(format!("{message}; the vendor's tools do so on purpose"))
        } else {
            Diagnostic::error(file.dialect.rule(), message)
        };
        findings.push(
            finding
                .within("map")
                .at(file.source().absolute(leaf.span.offset)),
        );
    }
    map
}

/// The part of the file that is a piece of an image.
fn image_part(by_segments: bool, owner: u32) -> Part {
    if by_segments {
        Part::Segment(owner)
    } else {
        Part::Section(owner)
    }
}

/// Leaves of what `claims` claim of `size` bytes: from boundary to boundary, the first claimant of those that are
/// open has the bytes. Those that count are shared where there are several of them. `by_offset` is the order of
/// the claims by where they begin; `settle` has a last word on each run between two boundaries.
fn sweep(
    claims: &[(Span, Part)],
    by_offset: &[u32],
    size: u64,
    counts: fn(Part) -> bool,
    settle: &mut dyn FnMut(&mut Leaf),
) -> Vec<Leaf> {
    let mut leaves: Vec<Leaf> = Vec::new();
    let mut open: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    let mut counted: BinaryHeap<Reverse<u64>> = BinaryHeap::new(); // ends of those that count
    let claim = |i: u32| claims[i as usize];
    let mut starts = by_offset.iter().copied().peekable();
    let mut at = 0;
    while at < size {
        while let Some(i) = starts.next_if(|&i| claim(i).0.offset <= at) {
            open.push(Reverse(i));
            if counts(claim(i).1) {
                counted.push(Reverse(claim(i).0.end()));
            }
        }
        while open
            .peek()
            .is_some_and(|&Reverse(i)| claim(i).0.end() <= at)
        {
            open.pop();
        }
        while counted.peek().is_some_and(|&Reverse(end)| end <= at) {
            counted.pop();
        }
        let next_start = starts.peek().map_or(size, |&i| claim(i).0.offset);
        let next_end = counted.peek().map_or(size, |&Reverse(end)| end);
        let (part, end) = match open.peek() {
            Some(&Reverse(i)) => (claim(i).1, claim(i).0.end()),
            None => (Part::Unclaimed, size),
        };
        let mut leaf = Leaf {
            span: Span::new(at, next_start.min(next_end).min(end) - at),
            part,
            is_shared: counted.len() > 1,
        };
        settle(&mut leaf);
        at = leaf.span.end();
        match leaves.last_mut() {
            Some(last) if last.part == leaf.part && last.is_shared == leaf.is_shared => {
                last.span.size += leaf.span.size;
            }
            _ => leaves.push(leaf),
        }
    }
    leaves
}

/// What bytes are that nothing claims. Gaps too large are not read to know it.
fn gap(source: &Source, span: Span, budget: &mut u64) -> Part {
    if span.size > *budget {
        return Part::Unread;
    }
    *budget -= span.size;
    let mut page = [0; 4096];
    let mut at = span.offset;
    while at < span.end() {
        let size = (span.end() - at).min(page.len() as u64);
        let page = &mut page[..size as usize];
        if source.read_into(at, page).is_err() || page.iter().any(|&byte| byte != 0) {
            return Part::Unclaimed;
        }
        at += size;
    }
    Part::Padding
}

impl Elf {
    /// The image by the program headers, or by the sections.
    pub fn image_of(&self, by_segments: bool) -> Option<&Image> {
        if by_segments {
            self.load_image.as_ref()
        } else {
            Some(&self.image)
        }
    }

    /// What every byte of an image belongs to: its pieces, and the zeros between them. Offsets are the image's.
    pub fn image_leaves(&self, by_segments: bool) -> Vec<Leaf> {
        let Some(image) = self.image_of(by_segments) else {
            return Vec::new();
        };
        // The last piece is laid over the others.
        let pieces = image.pieces.iter().rev().filter(|piece| piece.size > 0);
        let claims: Vec<(Span, Part)> = pieces
            .map(|piece| {
                let span = Span::new(piece.offset, piece.size);
                (span, image_part(by_segments, piece.owner))
            })
            .collect();
        let by_offset = order::by_key(claims.len(), &|i| claims[i].0.offset);
        sweep(&claims, &by_offset, image.size, |_| true, &mut |leaf| {
            if leaf.part == Part::Unclaimed {
                leaf.part = Part::Padding;
            }
        })
    }

    /// What has the byte at `offset` of an image, and its bytes there.
    pub fn image_part_at(&self, by_segments: bool, offset: u64) -> Option<(Part, Span)> {
        let image = self.image_of(by_segments)?;
        if offset >= image.size {
            return None;
        }
        Some(match image.pieces_in(Span::new(offset, 1)).last() {
            Some(piece) => {
                let part = image_part(by_segments, piece.owner);
                (part, Span::new(piece.offset, piece.size))
            }
            None => (Part::Padding, image.gap_at(offset)),
        })
    }

    /// What people call `part`.
    pub fn part_label(&self, part: Part) -> String {
        match part {
            Part::Header => "ELF header".into(),
            Part::Segments => "program headers".into(),
            Part::Sections => "section headers".into(),
            Part::Section(index) => self.section_label(index).into_owned(),
            Part::Symbols(_) => "dynamic symbols".into(),
            Part::Strings(_) => "dynamic strings".into(),
            Part::Relocations(_) => "dynamic relocations".into(),
            Part::Segment(index) => {
                let kind = self
                    .segments
                    .get(index as usize)
                    .and_then(|s| s.kind_name());
                format!("segment {index} {}", kind.unwrap_or_default())
            }
            Part::Padding => "padding".into(),
            Part::Dumped | Part::Contained(_) | Part::Unclaimed => "unclaimed".into(),
            Part::Unread => "unclaimed (not read)".into(),
        }
    }

    /// What the bytes of `part` are for.
    pub fn part_role(&self, part: Part) -> Role {
        match part {
            Part::Header | Part::Segments | Part::Sections => Role::Header,
            Part::Symbols(_) | Part::Relocations(_) => Role::Symbols,
            Part::Strings(_) => Role::Strings,
            Part::Padding => Role::Padding,
            Part::Dumped | Part::Contained(_) | Part::Unclaimed | Part::Unread => Role::Unclaimed,
            Part::Segment(index) => {
                let segment = self.segments.get(index as usize);
                match segment.map(|s| elf::ProgramType(s.kind)) {
                    Some(elf::PT_NOTE) => Role::Note,
                    Some(elf::PT_DYNAMIC) => Role::Info,
                    _ if segment.is_some_and(|s| s.flags & elf::PF_X.0 != 0) => Role::Code,
                    _ => Role::Data,
                }
            }
            Part::Section(index) => {
                let section = self.section(index);
                section.map_or(Role::Data, |section| self.section_role(section))
            }
        }
    }

    fn section_role(&self, section: &Section) -> Role {
        let roles = self.dialect.roles;
        if let Some((_, role)) = roles.iter().find(|r| section.name.starts_with(r.0)) {
            return *role;
        }
        match elf::SectionType(section.kind) {
            elf::SHT_STRTAB => Role::Strings,
            elf::SHT_SYMTAB | elf::SHT_DYNSYM | elf::SHT_SYMTAB_SHNDX => Role::Symbols,
            elf::SHT_REL | elf::SHT_RELA | elf::SHT_RELR => Role::Symbols,
            elf::SHT_HASH | elf::SHT_GNU_HASH => Role::Symbols,
            elf::SHT_NOTE => Role::Note,
            elf::SHT_DYNAMIC | elf::SHT_GROUP => Role::Info,
            _ if section.name.starts_with(".debug") || section.name.starts_with(".zdebug") => {
                Role::Debug
            }
            _ if section.flags & elf::SHF_EXECINSTR.0 != 0 => Role::Code,
            _ => Role::Data,
        }
    }
}
