//! What a file holds as [`Table`]s: its members, and the architectures that their code is for.

use crate::container::{Code, Contents, Member, MemberKind};
use crate::index::Map;
use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::source::Source;
use crate::span::Span;
use crate::survey::Survey;
use crate::unpack::Compression;

/// The members, those in one behind it.
pub struct MemberList<'a> {
    contents: &'a Contents,
    survey: &'a Survey,
    source: &'a Source,
}

impl<'a> MemberList<'a> {
    /// The members of the file that `source` has the bytes of.
    pub fn new(contents: &'a Contents, survey: &'a Survey, source: &'a Source) -> Self {
        Self {
            contents,
            survey,
            source,
        }
    }

    fn member(&self, row: u64) -> Option<&'a Member> {
        self.contents.members.get(usize::try_from(row).ok()?)
    }
}

impl Table for MemberList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            hidden("index", "#", Unit::Number),
            column("path", "Path", Unit::Text),
            hidden("name", "Name", Unit::Text),
            hidden("identifier", "Identifier", Unit::Text),
            hidden("kind", "Kind number", Unit::Text),
            column("kind_name", "Kind", Unit::Text),
            column("format", "Format", Unit::Word),
            column("target", "Target", Unit::Text),
            column("offset", "Offset", Unit::Hex),
            column("stored_size", "Stored", Unit::Size),
            column("size", "Size", Unit::Size),
            column("compression", "Compression", Unit::Word),
            hidden("kernel_count", "Kernels", Unit::Number),
            hidden("same_as", "Same bytes as", Unit::Text),
            hidden("is_open", "Was opened", Unit::Word),
            column("note", "Note", Unit::Text),
            hidden("header_offset", "Header at", Unit::Hex),
            hidden("depth", "Depth", Unit::Number),
            hidden("parent", "Row that it is in", Unit::Number),
            hidden("next", "Row behind it", Unit::Number),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.contents.members.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(member) = self.member(row) else {
            return Cell::None;
        };
        let placed = |offset: u64| match member.base {
            None => self.source.in_file(offset).into(),
            Some(_) => Cell::None,
        };
        match key {
            "index" => row.into(),
            "path" => self.contents.path(row as u32).into(),
            "name" => (&*member.name).into(),
            "identifier" => member.identifier.as_deref().into(),
            "kind" => match &member.kind {
                MemberKind::None => Cell::None,
                MemberKind::Number(number, _) => (*number).into(),
                MemberKind::Word(word) => (&**word).into(),
            },
            "kind_name" => match &member.kind {
                MemberKind::None => Cell::None,
                MemberKind::Number(_, name) => (*name).into(),
                MemberKind::Word(word) => (&**word).into(),
            },
            "format" => member.format.word().into(),
            "target" => member.target.as_deref().into(),
            "offset" => placed(member.span.offset),
            "stored_size" => member.span.size.into(),
            "size" => {
                let found = || self.survey.of(row as u32)?.size;
                match member.is_stream {
                    // Only unpacking it tells how many parts there are.
                    true => found().or(member.size()).into(),
                    false => member.size().or_else(found).into(),
                }
            }
            "compression" => member.compression.word().into(),
            "kernel_count" => self
                .survey
                .of(row as u32)
                .and_then(|found| found.kernels)
                .into(),
            "same_as" => {
                let first = self.survey.of(row as u32).and_then(|found| found.same_as);
                first
                    .map(|first| self.survey.path(self.contents, first))
                    .into()
            }
            "is_open" => Survey::is_asked(member)
                .then(|| self.survey.of(row as u32).is_some())
                .into(),
            "note" => Some(&*member.note).filter(|note| !note.is_empty()).into(),
            "header_offset" => placed(member.header.offset),
            "depth" => member.depth.into(),
            "parent" => member.parent.into(),
            "next" => member.next.into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        let member = self.member(row).filter(|member| member.base.is_none())?;
        member.header.some()
    }

    fn target(&self, row: u64) -> Option<Span> {
        let member = self.member(row).filter(|member| member.base.is_none())?;
        member.span.some()
    }
}

/// What there is of one kind of code for one architecture.
struct Arch<'a> {
    /// The first member of it.
    first: &'a Member,
    count: u64,
    /// Of these, those that are known only since what they lie in was unpacked.
    inner: u64,
    stored: u64,
    /// `None` once the size of one is not known.
    unpacked: Option<u64>,
    /// `None` until all of its members were opened.
    kernels: Option<u64>,
    /// Of those that were opened.
    so_far: u64,
    /// Whether these were.
    is_open: bool,
    compressions: Vec<Compression>,
}

/// Architectures, and how much code of each kind there is for them: machine code first, then PTX, then other code.
pub struct ArchList<'a> {
    archs: Vec<(Code, Arch<'a>)>,
}

impl<'a> ArchList<'a> {
    /// The architectures of the members of a file, and of those that opening them has told of.
    pub fn new(contents: &'a Contents, survey: &'a Survey) -> Self {
        let mut archs: Map<(Code, Arch<'a>)> = Map::default();
        let members = (0..).zip(&contents.members);
        let members = members.map(|(index, member)| {
            let found = survey.of(index);
            (member, found, member.span.size, member.base, false)
        });
        let inner = survey.inner().iter().map(|inner| {
            let around = Some(inner.outer);
            (&inner.member, Some(inner.found), inner.taken, around, true)
        });
        for (member, found, taken_there, around, is_inner) in members.chain(inner) {
            let Some(code) = member.code() else {
                continue;
            };
            let target = member.target.as_deref().unwrap_or_default();
            let key = [&[code as u8], target.as_bytes()].concat();
            let new = Arch {
                first: member,
                count: 0,
                inner: 0,
                stored: 0,
                unpacked: Some(0),
                kernels: Some(0),
                so_far: 0,
                is_open: true,
                compressions: Vec::new(),
            };
            let (_, arch) = archs.entry(&key, (code, new));
            arch.count += 1;
            arch.inner += u64::from(is_inner);
            let size_of = |index: u32| survey.of(index)?.size;
            let (stored, outermost) = taken(contents, &size_of, taken_there, around);
            arch.stored = arch.stored.saturating_add(stored);
            let size = member.size().or(found.and_then(|found| found.size));
            let sum = arch.unpacked.zip(size);
            arch.unpacked = sum.map(|(sum, size)| sum.saturating_add(size));
            arch.is_open &= found.is_some() || !Survey::is_asked(member);
            let found = found.and_then(|found| found.kernels);
            arch.so_far += u64::from(found.unwrap_or(0));
            arch.kernels = arch
                .kernels
                .zip(found)
                .map(|(sum, found)| sum + u64::from(found));
            let compression = match member.compression {
                Compression::None => outermost,
                own => own,
            };
            if !arch.compressions.contains(&compression) {
                arch.compressions.push(compression);
            }
        }
        let mut archs = archs.into_values();
        crate::order::arrange_by(&mut archs, |a, b| {
            let target =
                |arch: &Arch<'a>| natural(arch.first.target.as_deref().unwrap_or_default());
            a.0.cmp(&b.0).then_with(|| target(&a.1).cmp(&target(&b.1)))
        });
        Self { archs }
    }

    fn arch(&self, row: u64) -> Option<&(Code, Arch<'_>)> {
        self.archs.get(usize::try_from(row).ok()?)
    }
}

/// What `part` of `whole` bytes takes of the `stored` ones that they are packed to: its share by size.
pub(crate) fn share(part: u64, whole: u64, stored: u64) -> u64 {
    let share = (u128::from(part) * u128::from(stored)).checked_div(whole.into());
    share.map_or(part, |share| u64::try_from(share).unwrap_or(u64::MAX))
}

/// The bytes of a file that `size` bytes take in what has to be unpacked for them (`around`), and how they are packed there. What
/// members have that no header tells the size of, `size_of` knows.
pub(crate) fn taken(
    contents: &Contents,
    size_of: &dyn Fn(u32) -> Option<u64>,
    size: u64,
    around: Option<u32>,
) -> (u64, Compression) {
    let (mut taken, mut compression) = (size, Compression::None);
    let mut at = around;
    while let Some(index) = at
        && let Some(around) = contents.members.get(index as usize)
    {
        // Of several parts only unpacking them tells how much they are.
        let found = size_of(index).filter(|_| around.is_stream);
        let whole = found.or(around.size()).or_else(|| size_of(index));
        taken = share(taken, whole.unwrap_or_default(), around.span.size);
        compression = around.compression;
        at = around.base;
    }
    (taken, compression)
}

/// What orders architectures, so that `sm_90` comes before `sm_100` and `gfx906` before `gfx1100`.
pub(crate) fn natural(target: &str) -> (usize, &str) {
    let nvidia = ["sm_", "compute_"];
    let nvidia = nvidia.iter().find_map(|kind| target.strip_prefix(kind));
    let number = nvidia.unwrap_or(target);
    let digits = number.find(|c: char| !c.is_ascii_alphanumeric());
    let digits = &number[..digits.unwrap_or(number.len())];
    // The letter behind the number of an SM is a variant of it; `gfx90a` is a number to the base of 16.
    let digits = match nvidia {
        Some(_) => digits.trim_end_matches(['a', 'f']),
        None => digits,
    };
    (digits.len(), target)
}

impl Table for ArchList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("target", "Architecture", Unit::Text),
            column("code", "Code", Unit::Word),
            column("count", "Members", Unit::Number),
            column("stored_size", "Stored", Unit::Size),
            column("size", "Size", Unit::Size),
            column("compression", "Compression", Unit::Word),
            column("kernel_count", "Kernels", Unit::Number),
            hidden("kernels_so_far", "Kernels so far", Unit::Number),
            hidden("inner_count", "In packed members", Unit::Number),
            hidden("is_open", "Was opened", Unit::Word),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.archs.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some((code, arch)) = self.arch(row) else {
            return Cell::None;
        };
        match key {
            "target" => arch.first.target.as_deref().into(),
            "code" => code.word().into(),
            "count" => arch.count.into(),
            "inner_count" => arch.inner.into(),
            "stored_size" => arch.stored.into(),
            "size" => arch.unpacked.into(),
            "kernel_count" => arch.kernels.into(),
            "kernels_so_far" => arch.so_far.into(),
            "is_open" => arch.is_open.into(),
            "compression" => {
                let words = arch
                    .compressions
                    .iter()
                    .map(|compression| compression.word());
                words.collect::<Vec<_>>().join(", ").into()
            }
            _ => Cell::None,
        }
    }

    fn place(&self, _: u64) -> Option<Span> {
        None
    }
}
