//! What is known of members only once they are opened: their kernels, which of them have the same bytes, and what lies in those that
//! have to be unpacked for it.
//!
//! Members are opened one by one, in steps, and freed again: what is kept of each is a few numbers and the names of its kernels, of
//! which those that members share are kept once. What has members that only unpacking it tells (a library in a wheel) stays open while
//! these are opened, and what lies in that in turn: a chain of them is open at a time, and nothing beside it.

use serde::Serialize;

use crate::container::{Contents, Format, Member};
use crate::document::{Document, Opening};
use crate::error::{Diagnostic, Diagnostics, Kind, Result};
use crate::index::Index;
use crate::loaded::LoadedWith;
use crate::members::{share, taken};
use crate::nvidia::ptx;
use crate::rows::{Cell, Column, Progress, Table, Unit, column, hidden};
use crate::size::{MemberParts, Parts};
use crate::source::Source;
use crate::span::Span;
use crate::unpack::{self, Compression};

/// Kernels that are listed of all members together, at most; and as many of texts.
const KERNEL_LIMIT: usize = 1 << 20;
/// Architectures that kernels are set side by side for, at most, in machine code; and as many in PTX.
pub const ARCH_LIMIT: usize = 64;
/// Members of members that have to be unpacked for it: as many are opened, at most.
const INNER_LIMIT: usize = 1 << 16;
/// Bytes that all packed members that are opened unpack to together, those in them included, at most.
const UNPACKED_LIMIT: u64 = 1 << 36;
/// Members that are open in each other, at most.
const LEVELS: usize = 6;
/// Bytes that are read at once for a digest.
const CHUNK: u64 = 1 << 20;
/// The number of the first member that only opening another told of.
pub(crate) const INNER: u32 = 1 << 31;
/// No number, or no index.
const NONE: u32 = u32::MAX;

/// What opening the members has told so far. Members have numbers: those of the file their index, those that opening told of begin
/// behind all that a file can have.
#[derive(Default)]
pub struct Survey {
    /// The member of the file that is opened next.
    next: u32,
    /// The member that is being opened.
    work: Option<Work>,
    /// Members that are open because others are in them, each in the one before.
    levels: Vec<Level>,
    progress: Option<SurveyProgress>,
    /// Bytes of progress that the member that is being opened has made.
    under_way: u64,
    members: Vec<Option<Surveyed>>,
    inner: Vec<Inner>,
    /// Members of members that were opened; and the bytes that these and all that were packed had.
    spent: (usize, u64),
    /// Members of the file that are counted: looking through it for code finds more.
    counted: usize,
    /// By the MD5 of bytes, which is enough to tell which are the same.
    digests: Index,
    /// For each digest the first member that has it.
    firsts: Vec<u32>,
    kernels: Vec<FoundKernel>,
    entries: Vec<Entry>,
    /// What PTX texts are for, `compute_90`; and for each name which of them have a kernel of it, a bit each.
    texts_for: Index,
    text_targets: Vec<Box<str>>,
    in_texts: Vec<u64>,
    names: Index,
    texts: Vec<Box<str>>,
    /// How many kernels of machine code have each name.
    uses: Vec<u32>,
    archs: Index,
    targets: Vec<Box<str>>,
    /// For each name the first architecture that has such a kernel, and the last.
    chains: Vec<[u32; 2]>,
    in_archs: Vec<InArch>,
    said: [bool; 4],
    parts: MemberParts,
}

/// A member that is being opened, or looked at.
enum Work {
    Opening(Opening),
    /// Its digest is made: as far as the bytes before that offset.
    Digest(Box<Document>, md5::Context, u64),
}

/// A member that is open because others are in it.
struct Level {
    document: Document,
    /// Its path, with what is before the name of a member of it.
    around: Box<str>,
    /// The member of the file that it lies in, or is.
    outer: u32,
    /// The bytes that it takes of what that one unpacks to.
    taken: u64,
    next: u32,
    /// What its members are loaded with, as far as that is not in it.
    loaded: LoadedWith,
    /// Bytes that those in it have that are to be opened, as their headers declare.
    declared: u64,
    /// Bytes of progress that these are in all, and those of them that are left.
    counts: u64,
    left: u64,
}

/// Code that only unpacking a member told of.
pub struct Inner {
    /// As the headers around it describe it, in what was unpacked.
    pub member: Member,
    /// Its path from the file on.
    pub path: Box<str>,
    /// What it is loaded with.
    pub loaded: LoadedWith,
    /// The member of the file that it lies in.
    pub outer: u32,
    /// The bytes that it takes of what that one unpacks to; where it is packed again, its share of these.
    pub taken: u64,
    /// What opening it has told.
    pub found: Surveyed,
}

/// The kernels of one name for one architecture, as one: of several the larger numbers.
pub struct InArch {
    /// The architecture, by its number.
    pub arch: u32,
    /// How many there are.
    pub count: u32,
    /// The first of those that need the most registers, by its number.
    pub first: u32,
    numbers: Numbers,
    /// The next architecture that has a kernel of the name.
    next: u32,
}

type Numbers = [u32; NUMBERS.len()];

/// How far a survey has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct SurveyProgress {
    /// Members that were opened.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub done: u64,
    /// Members that are to be opened in all, as far as is known.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub total: u64,
    /// Bytes of `total_bytes` that are done, which never become fewer. What has members that only unpacking it tells counts half when it is
    /// unpacked, and these count the other half.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub bytes: u64,
    /// Bytes that those of the file that are to be opened have in all, unpacked, as their headers declare.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub total_bytes: u64,
    /// Members of the file that are to be opened to know what code is in them at all: they are packed.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub unread: u64,
    /// Whether nothing is left.
    pub finished: bool,
}

/// What opening a member has told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surveyed {
    /// Kernels, also of members in it; `None` of what is not read for them, or could not be opened.
    pub kernels: Option<u32>,
    /// Whether it is code that is still to be linked.
    pub is_relocatable: bool,
    /// The number of the first member that has the same bytes, if it is another.
    pub same_as: Option<u32>,
    /// Bytes that it had.
    pub size: Option<u64>,
    /// What of it takes how many bytes.
    pub(crate) parts: Parts,
}

/// A kernel of a PTX text: its member, the number of its name, and of what the text is for.
struct Entry {
    member: u32,
    name: u32,
    text: u32,
}

/// A kernel of a member.
struct FoundKernel {
    member: u32,
    /// Its row in the member's table of kernels.
    row: u32,
    name: u32,
    numbers: Numbers,
}

/// What is kept of a kernel: what it is called here, by people, and the columns of its own table that have it, for NVIDIA's and for
/// AMD's.
pub const NUMBERS: &[(&str, &str, [&str; 2])] = &[
    ("registers", "registers", ["registers", "vgprs_used"]),
    ("sgprs", "SGPRs", ["", "sgprs_used"]),
    ("agprs", "AGPRs", ["", "agprs_used"]),
    ("shared_bytes", "shared", ["shared_bytes", "group_segment"]),
    ("stack_bytes", "stack", ["stack_bytes", "private_segment"]),
    ("vgpr_spills", "VGPR spills", ["", "vgpr_spills"]),
    ("sgpr_spills", "SGPR spills", ["", "sgpr_spills"]),
    ("code_bytes", "code", ["code_bytes", ""]),
];

/// Whether only unpacking the member tells what is in it, or nobody has looked.
fn hides(member: &Member) -> bool {
    member.span.size > 0 && member.is_unread()
}

/// Whether there is more in the member than headers tell.
fn tells(member: &Member) -> bool {
    member.code().is_some() || hides(member)
}

impl Survey {
    /// What is known of the member of that number.
    pub fn of(&self, number: u32) -> Option<Surveyed> {
        match self.inner_of(number) {
            Some(inner) => Some(inner.found),
            None => *self.members.get(number as usize)?,
        }
    }

    /// Whether opening the member tells something of it: what is declared to be too large is not opened.
    pub fn is_asked(member: &Member) -> bool {
        tells(member) && (!member.is_too_large() || member.is_size_guessed())
    }

    /// Code that only unpacking members told of.
    pub fn inner(&self) -> &[Inner] {
        &self.inner
    }

    fn inner_of(&self, number: u32) -> Option<&Inner> {
        self.inner.get(number.checked_sub(INNER)? as usize)
    }

    /// The path of the member of that number.
    pub fn path(&self, contents: &Contents, number: u32) -> String {
        match self.inner_of(number) {
            Some(inner) => inner.path.to_string(),
            None => contents.path(number),
        }
    }

    /// The member of that number, and the one of the file that it lies in or is.
    pub fn member<'a>(&'a self, contents: &'a Contents, number: u32) -> Option<(&'a Member, u32)> {
        match self.inner_of(number) {
            Some(inner) => Some((&inner.member, inner.outer)),
            None => Some((contents.members.get(number as usize)?, number)),
        }
    }

    /// Architectures that kernels were found for, in the order in which they were.
    pub fn archs(&self) -> &[Box<str>] {
        &self.targets
    }

    /// What the PTX texts are for that kernels were found in, `compute_90`, in the order in which they were.
    pub fn text_targets(&self) -> &[Box<str>] {
        &self.text_targets
    }

    /// Whether a PTX text for that of [`text_targets`](Self::text_targets) has a kernel of the name.
    pub fn is_in_text(&self, name: u64, text: usize) -> bool {
        let texts = usize::try_from(name)
            .ok()
            .and_then(|name| self.in_texts.get(name));
        texts.is_some_and(|texts| texts >> text & 1 == 1)
    }

    /// The first PTX text, as a member's number, that has a kernel of the name; of those for one target, or of all.
    pub fn text_with(&self, name: u64, text: Option<usize>) -> Option<u32> {
        let is_it = |entry: &&Entry| {
            u64::from(entry.name) == name && text.is_none_or(|text| entry.text as usize == text)
        };
        self.entries.iter().find(is_it).map(|entry| entry.member)
    }

    /// Whether all members of `document` that are code were opened.
    pub fn is_finished(&self, document: &Document) -> bool {
        self.next as usize >= document.contents().members.len()
    }

    /// What the kernels that were found are called, each once.
    pub fn kernel_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.texts.iter().map(|name| &**name)
    }

    /// The name of that number.
    pub fn kernel_name(&self, name: u64) -> Option<&str> {
        Some(self.texts.get(usize::try_from(name).ok()?)?)
    }

    /// How many kernels of that name were found in machine code; `None` before there was any.
    pub fn kernels_called(&self, name: &str) -> Option<u32> {
        let found = self.names.get(name.as_bytes());
        match found {
            Some(number) => Some(self.uses[number]),
            None => (!self.texts.is_empty()).then_some(0),
        }
    }

    /// What there is of a name, an architecture after the other.
    pub fn of_name(&self, name: u64) -> impl Iterator<Item = &InArch> {
        let first = usize::try_from(name)
            .ok()
            .and_then(|name| self.chains.get(name));
        let mut at = first.map_or(NONE, |chain| chain[0]);
        std::iter::from_fn(move || {
            let found = self.in_archs.get(at as usize)?;
            at = found.next;
            Some(found)
        })
    }

    /// The member that has the kernel of that number, and its row in the member's table of kernels.
    pub fn place_of(&self, kernel: u32) -> Option<(u32, u32)> {
        let kernel = self.kernels.get(kernel as usize)?;
        Some((kernel.member, kernel.row))
    }

    /// Whether the member of that number was looked at, and all that is in it, whatever came of it.
    pub(crate) fn has_seen(&self, number: u32) -> bool {
        let is_open = self
            .levels
            .first()
            .is_some_and(|level| level.outer == number);
        number >= INNER || (!is_open && number < self.next)
    }

    /// Code that only unpacking member `index` of the file told of, by its numbers.
    pub(crate) fn within(&self, index: u32) -> impl Iterator<Item = (u32, &Inner)> {
        // Members are opened in their order.
        let from = self.inner.partition_point(|inner| inner.outer < index);
        let within = (INNER + from as u32..).zip(&self.inner[from..]);
        within.take_while(move |(_, inner)| inner.outer == index)
    }

    /// What takes how many bytes of each.
    pub(crate) fn parts(&self) -> &MemberParts {
        &self.parts
    }

    /// The kernels that were found in machine code and in PTX: their member, and the number of their name.
    pub(crate) fn found(&self) -> impl Iterator<Item = (u32, u32)> {
        let kernels = self.kernels.iter();
        let kernels = kernels.map(|kernel| (kernel.member, kernel.name));
        let entries = self.entries.iter();
        kernels.chain(entries.map(|entry| (entry.member, entry.name)))
    }

    /// Opens members of `document`, until about `budget` bytes of them are read or unpacked; none for a budget of 0.
    pub(crate) fn step(
        &mut self,
        document: &Document,
        budget: u64,
        findings: &mut Diagnostics,
    ) -> SurveyProgress {
        let mut budget = budget;
        let counted = std::mem::replace(&mut self.counted, document.contents().members.len());
        self.expect(document, counted);
        while budget > 0 {
            let mut level = self.levels.pop();
            let (of, index) = match &level {
                Some(level) => (&level.document, level.next),
                None => (document, self.next),
            };
            let is_there = (index as usize) < of.contents().members.len();
            if !is_there && level.is_none() {
                break;
            }
            if !is_there {
                let left = level.map_or(0, |level| level.left);
                self.add_bytes(left);
                continue;
            }
            let weight = weight(of, index, level.as_ref());
            if level.is_none() && self.members.len() <= index as usize {
                self.members.push(None);
            }
            let (read, deeper) = self.open(of, index, level.as_ref(), weight, budget, findings);
            if self.work.is_none() {
                match &mut level {
                    Some(level) => {
                        level.next += 1;
                        level.left = level.left.saturating_sub(weight);
                    }
                    None => self.next += 1,
                }
            }
            self.levels.extend(level);
            self.levels.extend(deeper);
            budget = budget.saturating_sub(read);
        }
        let mut progress = self.progress.unwrap_or_default();
        progress.finished =
            self.levels.is_empty() && self.next as usize >= document.contents().members.len();
        progress.bytes = progress.bytes.saturating_add(self.under_way);
        progress
    }

    /// Counts what is to be opened of the file, from a member on.
    fn expect(&mut self, document: &Document, from: usize) {
        let (count, bytes) = expected(document, from);
        let members = document.contents().members.iter().skip(from);
        let unread = members.filter(|member| hides(member) && Self::is_asked(member));
        let progress = self.progress.get_or_insert_default();
        progress.total += count;
        progress.unread += unread.count() as u64;
        progress.total_bytes = progress.total_bytes.saturating_add(bytes);
    }

    fn add_bytes(&mut self, bytes: u64) {
        let progress = self.progress.get_or_insert_default();
        progress.bytes = progress.bytes.saturating_add(bytes);
    }

    /// Goes on with a member of `document`, which is the file or, `within` it, what is open, for about `budget` bytes. Bytes that were
    /// read; and what is to stay open, where others are in it. There is `work` where it is not done; `weight` is what it is of progress.
    fn open(
        &mut self,
        document: &Document,
        index: u32,
        within: Option<&Level>,
        weight: u64,
        budget: u64,
        findings: &mut Diagnostics,
    ) -> (u64, Option<Level>) {
        let contents = document.contents();
        let Some(member) = contents
            .members
            .get(index as usize)
            .filter(|member| tells(member))
        else {
            return (0, None);
        };
        let outer = within.map_or(index, |level| level.outer);
        let around = within.map_or("", |level| &level.around);
        let path = || format!("{around}{}", contents.path(index));
        let loaded = || {
            let file = || LoadedWith::file(document.format());
            let around_it = within.map_or_else(file, |level| level.loaded.clone());
            around_it.member(contents, around, index)
        };
        let taken_of = |level: &Level| {
            let (taken, _) = taken(contents, &|_| None, member.span.size, member.base);
            share(taken, level.document.source().size(), level.taken)
        };
        let work = match self.work.take() {
            Some(work) => Some(Ok(work)),
            None if self.may_open(member, within.is_some(), &path, findings) => {
                Some(document.begin_member(index).map(Work::Opening))
            }
            None => None,
        };
        let declared = size(member);
        let mut found = Surveyed::default();
        let mut deeper = None;
        let mut read = 1;
        let done = work
            .map(|work| work.and_then(|work| self.work(work, member, weight, budget, &mut read)));
        match done {
            None => {}
            Some(Ok(None)) => return (read, None),
            Some(Ok(Some((opened, digest)))) => {
                let had = opened.source().size();
                found.size = Some(had);
                // Of what is not declared, or is not true.
                self.spent.1 = self.spent.1.saturating_add(had.saturating_sub(declared));
                for finding in opened.packing(around) {
                    // That of a bundle is that of all of its entries.
                    if !findings.iter().any(|known| *known == finding) {
                        findings.push(finding);
                    }
                }
                if member.code().is_some() {
                    let number = match within {
                        None => index,
                        Some(_) => INNER + self.inner.len() as u32,
                    };
                    self.look(number, member, &opened, digest, &mut found);
                    if opened.elf().is_some() {
                        found.parts = self.parts.look(&opened);
                    }
                } else if !opened.contents().members.is_empty() {
                    let (count, declared) = expected(&opened, 0);
                    self.progress.get_or_insert_default().total += count;
                    // What comes to nothing in it is done with it.
                    let counts = if declared == 0 { 0 } else { weight / 2 };
                    deeper = Some(Level {
                        taken: within.map_or(opened.source().size(), taken_of),
                        document: opened,
                        around: format!("{}!/", path()).into(),
                        outer,
                        next: 0,
                        loaded: loaded(),
                        declared,
                        counts,
                        left: counts,
                    });
                }
            }
            Some(Err(error)) => {
                let mut finding = error.into_diagnostic();
                if within.is_some() {
                    finding.context = Some(format!("member {}", path()));
                }
                findings.push(finding);
            }
        }
        self.under_way = 0;
        self.progress.get_or_insert_default().done += u64::from(Self::is_asked(member));
        self.add_bytes(weight - deeper.as_ref().map_or(0, |level| level.counts));
        if let Some(level) = within.filter(|_| member.code().is_some()) {
            self.add_kernels(outer, found.kernels);
            self.inner.push(Inner {
                member: member.clone(),
                path: path().into(),
                loaded: loaded(),
                outer,
                taken: taken_of(level),
                found,
            });
        } else if within.is_none()
            && let Some(of) = self.members.get_mut(index as usize)
        {
            *of = Some(found);
        }
        (read, deeper)
    }

    /// Goes on with opening a member and, where it is code, with its digest; says how many bytes were read. Both, once that is done.
    fn work(
        &mut self,
        work: Work,
        member: &Member,
        weight: u64,
        budget: u64,
        read: &mut u64,
    ) -> Result<Option<(Document, Option<[u8; 16]>)>> {
        // What was unpacked is gone through once more, for its digest or for what is in it.
        let is_packed = member.compression != Compression::None || member.code().is_none();
        let half = if is_packed { 0.5 } else { 0.0 };
        let before = self.under_way;
        // What holds it may have to be unpacked first, which is not foreseen.
        let under_way = |from: f64, done: u64, total: u64| {
            let share = from + (1.0 - half) * done as f64 / total.max(1) as f64;
            before.max((weight as f64 * share.min(1.0)) as u64)
        };
        let (document, mut context, mut at) = match work {
            Work::Opening(mut opening) => match opening.step(budget)? {
                Some(document) if member.code().is_none() => {
                    *read = document.source().size().clamp(1, budget);
                    return Ok(Some((document, None)));
                }
                Some(document) => (Box::new(document), md5::Context::new(), 0),
                None => {
                    let Progress { done, total, .. } = opening.progress();
                    self.under_way = under_way(0.0, done, total);
                    self.work = Some(Work::Opening(opening));
                    *read = budget;
                    return Ok(None);
                }
            },
            Work::Digest(document, context, at) => (document, context, at),
        };
        let size = document.source().size();
        let end = at.saturating_add(budget).min(size);
        *read = (end - at).max(1);
        while at < end {
            let window = Span::new(at, CHUNK.min(end - at));
            let Ok(bytes) = document.source().read(window) else {
                return Ok(Some((*document, None)));
            };
            context.consume(bytes);
            at = window.end();
        }
        if at < size {
            self.under_way = under_way(half, at, size);
            self.work = Some(Work::Digest(document, context, at));
            return Ok(None);
        }
        Ok(Some((*document, Some(context.finalize().0))))
    }

    /// Whether a member may be opened in those that are open. Says why not.
    fn may_open(
        &mut self,
        member: &Member,
        is_inner: bool,
        path: &dyn Fn() -> String,
        findings: &mut Diagnostics,
    ) -> bool {
        let mut open = self
            .levels
            .iter()
            .map(|level| level.document.source().size());
        let (at_once, (count, bytes)) = (open.by_ref().sum::<u64>(), self.spent);
        let is_unpacked = is_inner || member.compression != Compression::None;
        let whys = [
            (
                member.code().is_none() && self.levels.len() + usize::from(is_inner) >= LEVELS,
                "members that are packed in each other this deep are not opened for what they hold",
            ),
            (
                is_inner && at_once.saturating_add(size(member)) > unpack::LIMIT,
                "members that lie in each other are not opened where they unpack to too many bytes together",
            ),
            (
                is_inner && count >= INNER_LIMIT,
                "there are more members in packed ones than are opened for their kernels",
            ),
            (
                is_unpacked && bytes >= UNPACKED_LIMIT,
                "packed members unpack to more bytes together than are opened for their kernels",
            ),
        ];
        // That is a finding already.
        if !Self::is_asked(member) {
            return false;
        }
        for (said, (is_so, why)) in self.said.iter_mut().zip(whys) {
            if !is_so {
                continue;
            }
            if !*said {
                *said = true;
                let finding = Diagnostic::note(Kind::Limit, why);
                findings.push(finding.within(format!("member {}", path())));
            }
            return false;
        }
        if is_unpacked {
            let count = count + usize::from(is_inner);
            self.spent = (count, bytes.saturating_add(size(member)));
        }
        true
    }

    fn look(
        &mut self,
        number: u32,
        member: &Member,
        opened: &Document,
        digest: Option<[u8; 16]>,
        found: &mut Surveyed,
    ) {
        if let Some(digest) = digest {
            let of = self.digests.add(&digest);
            if of == self.firsts.len() {
                self.firsts.push(number);
            }
            found.same_as = Some(self.firsts[of]).filter(|&first| first != number);
        }
        found.is_relocatable = opened.elf().is_some_and(|elf| elf.header.is_relocatable());
        let target = member.target.as_deref().unwrap_or_default();
        if opened.format() == Format::Ptx {
            found.kernels = self.entries(number, target, opened.source());
        } else if let Some(table) = opened.table("kernels") {
            found.kernels = Some(self.kernels(number, target, &*table));
        }
    }

    /// Counts the kernels of a member for the one that it lies in.
    fn add_kernels(&mut self, outer: u32, kernels: Option<u32>) {
        if let (Some(Some(of)), Some(kernels)) = (self.members.get_mut(outer as usize), kernels) {
            of.kernels = Some(of.kernels.unwrap_or(0).saturating_add(kernels));
        }
    }

    /// Takes the kernels of a member. How many there are.
    fn kernels(&mut self, member: u32, target: &str, table: &dyn Table) -> u32 {
        let mut arch = None;
        let mut count = 0;
        for row in 0..table.len() {
            // Functions that kernels call are listed with them.
            if table.cell(row, "entry_point") == Cell::Bool(false) {
                continue;
            }
            count += 1;
            if self.kernels.len() >= KERNEL_LIMIT {
                continue;
            }
            let cell = table.cell(row, "name");
            let name = self.name(&cell.text(Unit::Text));
            self.uses[name as usize] += 1;
            let mut numbers = [NONE; NUMBERS.len()];
            for (into, (_, _, keys)) in numbers.iter_mut().zip(NUMBERS) {
                let found = keys.iter().find_map(|key| match table.cell(row, key) {
                    Cell::Int(value) => u32::try_from(value).ok(),
                    _ => None,
                });
                *into = found.unwrap_or(NONE);
            }
            let kernel = self.kernels.len() as u32;
            self.kernels.push(FoundKernel {
                member,
                row: row as u32,
                name,
                numbers,
            });
            let arch =
                *arch.get_or_insert_with(|| number_of(target, &mut self.archs, &mut self.targets));
            if let Some(arch) = arch {
                self.set_beside(name as usize, arch, kernel, numbers);
            }
        }
        count
    }

    /// Adds a kernel to those of its name.
    fn set_beside(&mut self, name: usize, arch: u32, kernel: u32, numbers: Numbers) {
        let [first, last] = self.chains[name];
        let mut at = first;
        while let Some(of) = self.in_archs.get_mut(at as usize) {
            if of.arch == arch {
                of.count += 1;
                // NUMBERS begins with registers.
                if numbers[0] != NONE && (of.numbers[0] == NONE || numbers[0] > of.numbers[0]) {
                    of.first = kernel;
                }
                for (most, number) in of.numbers.iter_mut().zip(numbers) {
                    if *most == NONE || (number != NONE && number > *most) {
                        *most = number;
                    }
                }
                return;
            }
            at = of.next;
        }
        let new = self.in_archs.len() as u32;
        match self.in_archs.get_mut(last as usize) {
            Some(last) => last.next = new,
            None => self.chains[name][0] = new,
        }
        self.chains[name][1] = new;
        self.in_archs.push(InArch {
            arch,
            count: 1,
            first: kernel,
            numbers,
            next: NONE,
        });
    }

    /// Takes the kernels of a PTX text. How many there are.
    fn entries(&mut self, member: u32, target: &str, source: &Source) -> Option<u32> {
        let mut count = 0;
        // Where nothing around it says what it is for, the text does.
        let own = || ptx::target(source).ok().flatten();
        let target = match target {
            "" => own().unwrap_or_else(|| "PTX".into()),
            target => target.into(),
        };
        let target = target.replacen("sm_", "compute_", 1);
        let text = number_of(&target, &mut self.texts_for, &mut self.text_targets);
        let text = text.unwrap_or(NONE);
        let read = ptx::entries(source, &mut |name| {
            count += 1;
            if self.entries.len() < KERNEL_LIMIT {
                let name = self.name(name);
                self.in_texts[name as usize] |= 1_u64.checked_shl(text).unwrap_or(0);
                self.entries.push(Entry { member, name, text });
            }
        });
        read.ok().map(|()| count)
    }

    /// The number of a kernel's name.
    fn name(&mut self, name: &str) -> u32 {
        let number = self.names.add(name.as_bytes());
        if number == self.texts.len() {
            self.texts.push(name.into());
            self.uses.push(0);
            self.chains.push([NONE; 2]);
            self.in_texts.push(0);
        }
        number as u32
    }
}

/// The number of what code is for; `None` where there are too many.
fn number_of(target: &str, known: &mut Index, targets: &mut Vec<Box<str>>) -> Option<u32> {
    if targets.len() >= ARCH_LIMIT {
        return known.get(target.as_bytes()).map(|number| number as u32);
    }
    let number = known.add(target.as_bytes());
    if number == targets.len() {
        targets.push(target.into());
    }
    Some(number as u32)
}

impl InArch {
    /// The number called `key` ([`NUMBERS`]); the largest, where there are several kernels.
    pub fn number(&self, key: &str) -> Option<u32> {
        let at = NUMBERS.iter().position(|(known, ..)| *known == key)?;
        some(self.numbers[at])
    }
}

fn some(number: u32) -> Option<u32> {
    (number != NONE).then_some(number)
}

/// How many members of `document` are to be opened, from one on, and how many bytes these have, as far as their headers say it.
fn expected(document: &Document, from: usize) -> (u64, u64) {
    let members = document.contents().members.iter().skip(from);
    let asked = members.filter(|member| Survey::is_asked(member));
    asked.fold((0, 0), |(count, bytes), member| {
        (count + 1, bytes.saturating_add(size(member)))
    })
}

/// Bytes of progress that the member of `document` at `index` is, which is in a level or in the file; none where it is not opened.
fn weight(document: &Document, index: u32, within: Option<&Level>) -> u64 {
    let member = document.contents().members.get(index as usize);
    let asked = member.filter(|member| Survey::is_asked(member));
    asked.map_or(0, |member| match within {
        Some(level) => share(size(member), level.declared, level.counts),
        None => size(member),
    })
}

/// Bytes of a member when it is opened, as far as its header says it.
fn size(member: &Member) -> u64 {
    member.size().unwrap_or(member.span.size)
}

/// The kernels of all members that were opened so far.
pub struct FoundKernelList<'a> {
    document: &'a Document,
    survey: &'a Survey,
}

impl<'a> FoundKernelList<'a> {
    /// Those that `survey` has found in `document`.
    pub fn new(document: &'a Document, survey: &'a Survey) -> Self {
        Self { document, survey }
    }
}

impl Table for FoundKernelList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("name", "Name", Unit::Text),
            column("target", "Architecture", Unit::Text),
            column("registers", "Registers", Unit::Number),
            column("sgprs", "SGPRs", Unit::Number),
            column("agprs", "AGPRs", Unit::Number),
            column("shared_bytes", "Shared", Unit::Size),
            column("stack_bytes", "Stack", Unit::Size),
            column("vgpr_spills", "VGPR spills", Unit::Number),
            column("sgpr_spills", "SGPR spills", Unit::Number),
            column("code_bytes", "Code", Unit::Size),
            column("path", "In", Unit::Text),
            hidden("same_as", "Member with the same bytes", Unit::Text),
            hidden("member", "Member", Unit::Number),
            hidden("kernel", "Kernel number", Unit::Number),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.survey.kernels.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(kernel) = self.survey.kernels.get(row as usize) else {
            return Cell::None;
        };
        let contents = self.document.contents();
        let survey = self.survey;
        match key {
            "name" => (&*survey.texts[kernel.name as usize]).into(),
            "target" => {
                let member = survey.member(contents, kernel.member);
                let target = member.and_then(|(member, _)| member.target.as_deref());
                target.into()
            }
            "path" => survey.path(contents, kernel.member).into(),
            "same_as" => {
                let found = match survey.inner_of(kernel.member) {
                    Some(inner) => Some(inner.found),
                    None => survey.of(kernel.member),
                };
                let first = found.and_then(|found| found.same_as);
                first.map(|first| survey.path(contents, first)).into()
            }
            "member" => kernel.member.into(),
            "kernel" => kernel.row.into(),
            key => match NUMBERS.iter().position(|(known, ..)| *known == key) {
                Some(at) => some(kernel.numbers[at]).into(),
                None => Cell::None,
            },
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        let kernel = self.survey.kernels.get(row as usize)?;
        let (_, outer) = self
            .survey
            .member(self.document.contents(), kernel.member)?;
        self.document.table("members")?.place(outer.into())
    }

    fn target(&self, row: u64) -> Option<Span> {
        let kernel = self.survey.kernels.get(row as usize)?;
        let (_, outer) = self
            .survey
            .member(self.document.contents(), kernel.member)?;
        self.document.table("members")?.target(outer.into())
    }
}
