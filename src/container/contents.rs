//! The members of a file, and which bytes of it describe them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::member::Sum;
use super::reader::{Read, Reader, Shape, plain};
use super::{Code, Format, Member, bundle, carve, fatbin, identify};
use crate::elf::Elf;
use crate::elf::map::{self, Leaf, Map, Part, Role};
use crate::error::{Diagnostic, Diagnostics, Error, Kind, Result, Severity};
use crate::index::Index;
use crate::order;
use crate::record::Record;
use crate::source::Source;
use crate::span::Span;
use crate::unpack::{self, Compression, Expected, Unpacker};

/// What a file holds.
#[derive(Default)]
pub struct Contents {
    /// The members, those of one behind it.
    pub members: Vec<Member>,
    /// How many of them are in no other.
    pub(super) top: u32,
    pub(super) pieces: Vec<Piece>,
    /// Bytes that may still be looked at for headers.
    pub(super) budget: Cell<u64>,
    /// Whether it is said that there are none left.
    pub(super) is_spent: bool,
    /// How many of the pieces are in order: those behind them were found later.
    arranged: usize,
    map: Map,
    /// Where the file begins for findings.
    start: u64,
    /// How far the file was looked through for code that nothing tells of.
    carved: u64,
    /// The unpacked bytes of the member whose members were asked for last.
    unpacked: Kept,
}

type Kept = Rc<RefCell<Option<(u32, Opened)>>>;

/// Bytes of the file that are a member, or describe one.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub span: Span,
    pub what: What,
}

#[derive(Clone, Copy)]
pub(super) enum What {
    Structure(&'static Shape),
    Member(u32),
}

/// The bytes of a member.
pub struct Opened {
    /// Its bytes, unpacked, without the padding of its container.
    pub source: Source,
    /// What is wrong with them.
    pub finding: Option<Diagnostic>,
}

/// The bytes of a member that are made ready in steps, those of members first that have to be unpacked for it. It needs nothing of the
/// file's [`Contents`] any more.
pub struct Unpacking {
    /// Bytes that the member may unpack to.
    limit: u64,
    /// Whether a member that is not packed is held against its checksum, too.
    is_verified: bool,
    /// What the last of `links` lies in, and what is wrong with that.
    base: (Source, Option<Diagnostic>),
    /// The member, behind it the one that it lies in, and so on.
    links: Vec<Link>,
    kept: Kept,
    /// Packed bytes of links that are done, and of all.
    progress: (u64, u64),
}

struct Link {
    index: u32,
    member: Member,
    /// Where findings have it.
    offset: Option<u64>,
    context: String,
    work: Option<(Unpacker, Sum)>,
    /// What is not packed, and how far it is held against its checksum.
    check: Option<(Sum, u64)>,
}

impl Link {
    fn refuse(&self, why: &str) -> Diagnostic {
        self.refuse_at(why, 0)
    }

    /// Of the byte at `at` of what is stored.
    fn refuse_at(&self, why: &str, at: u64) -> Diagnostic {
        let offset = self.offset.and_then(|offset| offset.checked_add(at));
        Diagnostic::error(Kind::Format, why)
            .at(offset)
            .within(self.context.clone())
    }

    /// Whether that much is too little for it.
    fn is_refused(&self, limit: u64) -> bool {
        limit == unpack::LIMIT && self.member.is_only_extracted()
    }

    fn refuse_large(&self) -> Diagnostic {
        Diagnostic {
            kind: Kind::Limit,
            ..self.refuse(TOO_LARGE)
        }
    }

    fn refuse_packed(&self, why: &str, at: u64, limit: u64) -> Diagnostic {
        match self.member.is_obfuscated {
            true => Diagnostic {
                severity: Severity::Warning,
                ..self.refuse("it is obfuscated: only the toolkit can read it")
            },
            // The header has told why already.
            false if self.is_refused(limit) => self.refuse_large(),
            false => self.refuse_at(why, at),
        }
    }

    /// What is wrong where its bytes do not come to the checksum that its header gives.
    fn hold(&self, sum: Sum, what: &str) -> Option<Diagnostic> {
        let word = self.member.checksum?.word();
        (!sum.matches()).then(|| {
            self.refuse(&format!(
                "{what} does not have the {word} that its header gives"
            ))
        })
    }

    /// Its bytes as they are stored in `base`.
    fn stored(&self, base: &Source) -> Result<Source> {
        let stored = base.part(self.member.span);
        Ok(stored.map_err(|_| self.refuse("what it lies in ends before it"))?)
    }

    fn begin(&self, stored: Source, limit: u64) -> Result<(Unpacker, Sum)> {
        let member = &self.member;
        // All of an LZ4 block is in memory at once.
        let limit = match member.compression {
            Compression::Lz4 => unpack::LIMIT,
            _ => limit,
        };
        if stored.size() > limit {
            return Err(match member.compression {
                Compression::Lz4 => self.refuse("it is too large to be unpacked"),
                _ => self.refuse_large(),
            }
            .into());
        }
        let expected = match member.unpacked {
            _ if member.is_stream => Expected::Stream,
            Some(size) => Expected::Declared(size),
            None => Expected::Undeclared,
        };
        if self.is_refused(limit) && !member.is_size_guessed() {
            return Err(self.refuse_large().into());
        }
        let unpacker = Unpacker::new(member.compression, stored, expected, limit)
            .map_err(|why| self.refuse_packed(why, 0, limit))?;
        Ok((unpacker, Sum::new(member.checksum)))
    }
}

impl Unpacking {
    /// Goes on until about `budget` bytes more are read or made; the member, once it is there.
    ///
    /// # Errors
    /// If it is not there, or cannot be unpacked.
    pub fn step(&mut self, budget: u64) -> Result<Option<Opened>> {
        let missing = || Diagnostic::error(Kind::Format, "there is no such member");
        let is_inner = self.links.len() > 1;
        let link = self.links.last_mut().ok_or_else(missing)?;
        let mut source;
        // What is wrong with what it lies in is wrong with it.
        let mut finding = self.base.1.clone();
        if link.member.compression == Compression::None {
            source = link.stored(&self.base.0)?;
            if self.is_verified && link.member.checksum.is_some() {
                let (mut sum, mut at) = match link.check.take() {
                    Some(check) => check,
                    None => (Sum::new(link.member.checksum), 0),
                };
                let end = at.saturating_add(budget.max(1)).min(source.size());
                while at < end {
                    let bytes = source.read_up_to(at, PIECE.min(end - at))?;
                    sum.add(&bytes);
                    at += bytes.len() as u64;
                }
                if at < source.size() {
                    link.check = Some((sum, at));
                    return Ok(None);
                }
                finding = link.hold(sum, "it").or(finding);
            }
        } else {
            let limit = if is_inner { unpack::LIMIT } else { self.limit };
            let mut work = match link.work.take() {
                Some(work) => work,
                None => {
                    if is_inner {
                        // What is kept is given up first.
                        self.kept.replace(None);
                    }
                    link.begin(link.stored(&self.base.0)?, limit)?
                }
            };
            let (unpacker, sum) = &mut work;
            let before = unpacker.unpacked().len();
            let is_done = unpacker
                .step(budget)
                .map_err(|why| match unpacker.unread() {
                    Some(unread) => unread,
                    None if unpacker.is_full() && limit == unpack::LIMIT => {
                        link.refuse_large().into()
                    }
                    None => link.refuse_packed(why, unpacker.progress().0, limit).into(),
                })?;
            sum.add(&unpacker.unpacked()[before..]);
            if !is_done {
                link.work = Some(work);
                return Ok(None);
            }
            let (unpacker, sum) = work;
            self.progress.0 += link.member.span.size;
            if let Some(wrong) = unpacker.wrong() {
                finding = Some(Diagnostic {
                    severity: wrong.severity,
                    ..link.refuse_at(wrong.why, wrong.at)
                });
            }
            finding = link.hold(sum, "what it unpacks to").or(finding);
            source = Source::unpacked(unpacker.into_unpacked());
        }
        // Of what was handed out in part the end alone is no file.
        if link.member.is_padded && self.limit == unpack::LIMIT {
            let size = identify::length(link.member.format, &source);
            source = source.part(Span::new(0, size))?;
        }
        let index = link.index;
        self.links.pop();
        if self.links.is_empty() {
            return Ok(Some(Opened { source, finding }));
        }
        self.base = (source.clone(), finding.clone());
        self.kept.replace(Some((index, Opened { source, finding })));
        Ok(None)
    }

    /// Holds a member that is not packed against its checksum, too: all of it is read for that.
    pub fn verify(&mut self) {
        self.is_verified = true;
    }

    /// Unpacks all of it, and hands `take` the bytes piece by piece: they are not kept. How many there were, and what is wrong with them.
    ///
    /// # Errors
    /// Those of [`Unpacking::step`] and of `take`.
    pub fn hand_out<E: From<Error>>(
        mut self,
        mut take: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(u64, Option<Diagnostic>), E> {
        let mut size = 0;
        loop {
            if let Some(Opened { source, finding }) = self.step(PIECE)? {
                let mut at = 0;
                while at < source.size() {
                    let bytes = source.read_up_to(at, PIECE)?;
                    take(&bytes)?;
                    at += bytes.len() as u64;
                }
                return Ok((size + at, finding));
            }
            if let [link] = &mut *self.links
                && let Some((unpacker, _)) = &mut link.work
            {
                unpacker.take(|bytes| {
                    size += bytes.len() as u64;
                    take(bytes)
                })?;
            }
        }
    }

    /// Why a member that is too large is not opened.
    pub fn refusal(&self) -> Error {
        let refusal = self.links.first().map(Link::refuse_large);
        refusal
            .unwrap_or_else(|| Diagnostic::error(Kind::Limit, TOO_LARGE))
            .into()
    }

    /// Packed bytes that are unpacked, and of how many.
    pub fn progress(&self) -> (u64, u64) {
        let (done, total) = self.progress;
        let work = self.links.last().and_then(|link| link.work.as_ref());
        let more = work.map_or(0, |(unpacker, _)| unpacker.progress().0);
        (done + more, total)
    }
}

/// Bytes that are looked at for headers, and twice the file: those of an honest file are read once.
const LOOKED: u64 = 256 << 20;

/// Why a member that is only extracted is not opened.
const TOO_LARGE: &str = "it unpacks to more than 1 GiB: it is not opened, but in a terminal it can be extracted to a folder";

/// Bytes that are unpacked before they are handed out.
const PIECE: u64 = 1 << 20;

/// What packed members unpack to is so many times what they take at most: more is said.
const BOMB: u64 = 1000;

/// Architectures that are told in a line, at most.
const TOLD: usize = 12;

/// A file of a single text or blob has one part.
static TEXT: Shape = Shape {
    title: "text",
    role: Role::Data,
    read: Read::Nothing,
};

impl Contents {
    /// What the headers in `source` tell, which is a file of `format`; with its sections, if it is an ELF file for a host.
    pub fn open(
        source: &Source,
        format: Format,
        elf: Option<&Elf>,
        findings: &mut Diagnostics,
    ) -> Self {
        let whole = Span::new(0, source.size());
        let mut contents = Self {
            budget: Cell::new(LOOKED.saturating_add(whole.size.saturating_mul(2))),
            start: source.absolute(0).unwrap_or_default(),
            ..Self::default()
        };
        let mut reader = Reader {
            source: source.clone(),
            base: None,
            end: whole.size,
            contents: &mut contents,
            findings,
        };
        match elf {
            Some(elf) => reader.sections_of(elf),
            None if format == Format::Ptx => reader.structure(whole, &TEXT),
            // An ELF file that could not be opened: why is a finding already.
            None if matches!(format, Format::Elf | Format::CudaCoredump) => {}
            None => reader.inside(format, whole, None),
        }
        reader.say_if_spent();
        contents.finish(source, elf.is_none());
        contents.say_if_bomb(source, findings);
        contents
    }

    /// Says so where what is packed in `source` is declared to unpack to as much as only what is made for it does.
    fn say_if_bomb(&self, source: &Source, findings: &mut Diagnostics) {
        let (mut packed, mut unpacked) = (0_u64, 0_u64);
        for member in &self.members {
            let (stored, size) = (member.span.size, member.unpacked.unwrap_or_default());
            let is_packed = member.base.is_none() && member.compression != Compression::None;
            if is_packed && unpack::is_plausible(member.compression, stored, size) {
                packed = packed.saturating_add(stored);
                unpacked = unpacked.saturating_add(size);
            }
        }
        // Members may share bytes.
        packed = packed.min(source.size());
        if unpacked > unpack::LIMIT && unpacked / BOMB > packed {
            let message = format!(
                "its members are declared to unpack to {unpacked} bytes, more than {BOMB} times what they take, as decompression bombs do"
            );
            let finding = Diagnostic::warning(Kind::Limit, message);
            findings.push(finding.at(source.absolute(0)));
        }
    }

    fn finish(&mut self, source: &Source, is_all: bool) {
        // Those that are in others have their bytes; of the same bytes the inner one was read later.
        self.pieces[self.arranged..].reverse();
        self.pieces.rotate_left(self.arranged);
        self.arranged = self.pieces.len();
        order::arrange(&mut self.pieces, |piece| piece.span.size);
        let claims = (0..).zip(&self.pieces);
        let claims = claims.map(|(i, piece)| (piece.span, Part::Contained(i)));
        self.map = map::of_container(claims.collect(), source, is_all);
        // What is behind a member and all in it: known from the end on.
        let mut behind = vec![self.members.len() as u32];
        for i in (0..self.members.len()).rev() {
            let depth = self.members[i].depth as usize;
            // A member that is followed by shallower ones ends where the nearest of these begins.
            behind.truncate(depth + 1);
            let next = behind.last().copied().unwrap_or_default();
            self.members[i].next = next;
            behind.resize(depth + 1, next);
            behind[depth] = i as u32;
        }
        self.make_names_unique();
    }

    /// Goes on looking through a file for code that nothing tells of: about `budget` bytes more. What is found are members behind
    /// the others. How far it came. Whether all of the file is a container `is_all` says, as when it was opened.
    pub(crate) fn carve(
        &mut self,
        source: &Source,
        format: Format,
        is_all: bool,
        budget: u64,
        findings: &mut Diagnostics,
    ) -> u64 {
        let size = source.size();
        if self.carved == 0 {
            self.budget
                .set(LOOKED.saturating_add(size.saturating_mul(2)));
            self.is_spent = false;
            // What all of the file is it is known to be.
            self.carved = u64::from(Code::of(format).is_some()).min(size);
        }
        if self.carved < size {
            let known = carve::apart(self.known(), source);
            let count = self.members.len();
            let from = self.carved;
            let mut reader = Reader {
                source: source.clone(),
                base: None,
                end: size,
                contents: self,
                findings,
            };
            self.carved = carve::step(&mut reader, &known, from, budget);
            if self.members.len() > count {
                self.finish(source, is_all);
            }
        }
        self.carved
    }

    /// Bytes that are known to be GPU code, what it travels in, headers, or packed. In a library that is stored in an archive there may
    /// still be code that nothing tells of.
    fn known(&self) -> Vec<Span> {
        let is_known = |piece: &&Piece| match piece.what {
            What::Structure(_) => true,
            What::Member(index) => self.members.get(index as usize).is_some_and(|member| {
                use Format::{Fatbin, OffloadBinary, OffloadBundle};
                let is_carrier = matches!(member.format, Fatbin | OffloadBinary | OffloadBundle);
                is_carrier || member.compression != Compression::None || member.code().is_some()
            }),
        };
        self.pieces
            .iter()
            .filter(is_known)
            .map(|piece| piece.span)
            .collect()
    }

    /// The code in `source` that nothing tells of and that is called so: a look at its bytes and no others.
    pub(crate) fn carved(source: &Source, name: &str) -> Option<(Format, Span)> {
        let mut contents = Self {
            budget: Cell::new(LOOKED),
            ..Self::default()
        };
        let reader = Reader {
            source: source.clone(),
            base: None,
            end: source.size(),
            contents: &mut contents,
            findings: &mut Diagnostics::default(),
        };
        let found = carve::named(&reader, name)?;
        Some((found.format, found.span))
    }

    /// Members of the same name in one container get the number of the member behind it.
    fn make_names_unique(&mut self) {
        let mut known = Index::default();
        for i in 0..self.members.len() {
            let member = &self.members[i];
            let parent = member.parent.map_or(u32::MAX, |parent| parent);
            let key = |name: &str| [&parent.to_le_bytes(), name.as_bytes()].concat();
            let mut name = member.name.clone();
            while known.get(&key(&name)).is_some() {
                name = format!("{name}#{i}").into();
            }
            known.add(&key(&name));
            self.members[i].name = name;
        }
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.pieces.is_empty()
    }

    /// It, unless nothing is in it.
    pub fn some(&self) -> Option<&Self> {
        (!self.members.is_empty()).then_some(self)
    }

    /// How all of the file is packed, if that is all that it is.
    pub fn compression(&self) -> Option<Compression> {
        match self.members.first() {
            Some(first) if self.top == 1 && first.compression != Compression::None => {
                Some(first.compression)
            }
            _ => None,
        }
    }

    /// Whether one of its members is code for a GPU.
    pub fn has_code(&self) -> bool {
        self.members.iter().any(|member| member.code().is_some())
    }

    /// What is to be said of the code that it has, and of what lies `within` its members: for which architectures there is machine code,
    /// for which PTX and other code.
    pub fn facts<'a>(&'a self, within: impl Iterator<Item = &'a Member> + Clone) -> Vec<String> {
        let mut facts = Vec::new();
        for code in [Code::Machine, Code::Ptx, Code::Intermediate] {
            let members = self
                .members
                .iter()
                .chain(within.clone())
                .filter(|member| member.code() == Some(code));
            let mut targets: Vec<&str> = Vec::new();
            for target in members.filter_map(|member| member.target.as_deref()) {
                if targets.len() <= TOLD && !targets.contains(&target) {
                    targets.push(target);
                }
            }
            if targets.len() > TOLD {
                targets[TOLD] = "…";
            }
            if !targets.is_empty() {
                facts.push(format!("{} for {}", code.word(), targets.join(", ")));
            }
        }
        facts
    }

    /// The wrappers of what a host registers, and whose they are.
    pub fn wrappers(&self) -> impl Iterator<Item = (Span, &'static str)> {
        self.pieces.iter().filter_map(|piece| match piece.what {
            What::Structure(shape) if std::ptr::eq(shape, &fatbin::WRAPPER) => {
                Some((piece.span, "CUDA"))
            }
            What::Structure(shape) if std::ptr::eq(shape, &bundle::WRAPPER) => {
                Some((piece.span, "HIP"))
            }
            _ => None,
        })
    }

    /// The outermost member whose bytes begin at `offset` of the file.
    pub fn member_at(&self, offset: u64) -> Option<u32> {
        let begins = |member: &Member| member.base.is_none() && member.span.offset == offset;
        self.members.iter().position(begins).map(|at| at as u32)
    }

    /// The names from the outside in.
    pub fn path(&self, index: u32) -> String {
        let mut names = Vec::new();
        let mut at = Some(index);
        while let Some(member) = at.and_then(|at| self.members.get(at as usize)) {
            names.push(&*member.name);
            at = member.parent;
        }
        names.reverse();
        names.join("!/")
    }

    /// The member of that path, or the nearest one around it that has a path; with the rest of the path.
    pub fn find<'a>(&self, path: &'a str) -> Option<(u32, Option<&'a str>)> {
        let mut at = 0;
        let mut found = None;
        let mut rest = Some(path);
        while let Some(member) = self.members.get(at as usize) {
            if let Some(remaining) = rest
                && let Some(after) = remaining.strip_prefix(&*member.name)
                && (after.is_empty() || after.starts_with("!/"))
            {
                found = Some(at);
                rest = after.strip_prefix("!/");
                if rest.is_none() {
                    break;
                }
                // Those in it are looked through next.
                let end = member.next;
                at += 1;
                if at >= end {
                    break;
                }
                continue;
            }
            let parent = member.parent;
            at = member.next;
            // Behind the last one in it there is nothing more of it.
            if self
                .members
                .get(at as usize)
                .is_none_or(|next| next.parent != parent)
            {
                break;
            }
        }
        found.map(|found| (found, rest))
    }

    /// The bytes of member `index` of `file`.
    ///
    /// # Errors
    /// If they are not there, or cannot be unpacked.
    pub fn open_member(&self, file: &Source, index: u32) -> Result<Opened> {
        let mut unpacking = self.begin(file, index)?;
        loop {
            if let Some(opened) = unpacking.step(u64::MAX)? {
                return Ok(opened);
            }
        }
    }

    /// Begins to get at the bytes of member `index` of `file`.
    ///
    /// # Errors
    /// If there is no such member.
    pub fn begin(&self, file: &Source, index: u32) -> Result<Unpacking> {
        self.begin_with(file, index, unpack::LIMIT)
    }

    /// Begins to get at the bytes of member `index` of `file` that is too large to be opened, for [`Unpacking::hand_out`].
    ///
    /// # Errors
    /// If there is no such member.
    pub fn begin_large(&self, file: &Source, index: u32) -> Result<Unpacking> {
        let member = self.members.get(index as usize);
        let declared = member
            .filter(|member| !member.is_stream)
            .and_then(|member| member.unpacked);
        self.begin_with(file, index, declared.unwrap_or(u64::MAX).max(unpack::LIMIT))
    }

    fn begin_with(&self, file: &Source, index: u32, limit: u64) -> Result<Unpacking> {
        let mut unpacking = Unpacking {
            limit,
            is_verified: false,
            base: (file.clone(), None),
            links: Vec::new(),
            kept: self.unpacked.clone(),
            progress: (0, 0),
        };
        let mut next = Some(index);
        while let Some(index) = next {
            if !unpacking.links.is_empty()
                && let Some((known, opened)) = &*self.unpacked.borrow()
                && *known == index
            {
                unpacking.base = (opened.source.clone(), opened.finding.clone());
                break;
            }
            let Some(member) = self.members.get(index as usize) else {
                return Err(Diagnostic::error(Kind::Format, "there is no such member").into());
            };
            let (offset, inside) = self.place(index);
            if member.compression != Compression::None {
                unpacking.progress.1 += member.span.size;
            }
            unpacking.links.push(Link {
                index,
                member: member.clone(),
                offset,
                context: format!("member {}{inside}", self.path(index)),
                work: None,
                check: None,
            });
            next = member.base;
        }
        Ok(unpacking)
    }

    /// Where the bytes of member `index` begin for findings; and of one that has to be unpacked for it, where it lies in what that
    /// unpacks to, in words.
    pub(super) fn place(&self, index: u32) -> (Option<u64>, String) {
        let of = |index: u32| self.members.get(index as usize);
        let mut at = of(index).map_or(0, |member| member.span.offset);
        let mut inside = String::new();
        let mut base = of(index).and_then(|member| member.base);
        while let Some((around, member)) = base.and_then(|base| Some((base, of(base)?))) {
            inside = format!(", inside {} at 0x{at:x}{inside}", self.path(around));
            at = member.span.offset;
            base = member.base;
        }
        (self.start.checked_add(at), inside)
    }

    /// The leaves of a file that is nothing but a container.
    pub fn leaves(&self) -> &[Leaf] {
        &self.map.leaves
    }

    /// `leaves` of a file whose sections hold these contents, taken apart.
    pub fn within(&self, leaves: &[Leaf]) -> Vec<Leaf> {
        let mut inner = self
            .map
            .leaves
            .iter()
            .filter(|leaf| matches!(leaf.part, Part::Contained(_)));
        let mut next = inner.next();
        let mut all = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            let mut at = leaf.span.offset;
            let outer = |at: u64, end: u64| Leaf {
                span: Span::new(at, end - at),
                ..*leaf
            };
            while let Some(contained) = next.filter(|inner| inner.span.offset < leaf.span.end()) {
                let start = contained.span.offset.max(at);
                let end = contained.span.end().min(leaf.span.end());
                if start > at {
                    all.push(outer(at, start));
                }
                if end > start {
                    all.push(Leaf {
                        span: Span::new(start, end - start),
                        ..*contained
                    });
                }
                at = end.max(at);
                if contained.span.end() > leaf.span.end() {
                    break;
                }
                next = inner.next();
            }
            if at < leaf.span.end() {
                all.push(outer(at, leaf.span.end()));
            }
        }
        all
    }

    /// What claims the byte at `offset`, the nearest first.
    pub fn parts_at(&self, offset: u64) -> Vec<Part> {
        let mut parts = self.map.parts_at(offset);
        order::arrange(&mut parts, |part| match part {
            Part::Contained(i) => (*i).into(),
            _ => u64::MAX,
        });
        parts
    }

    /// The leaf that holds the byte at `offset`.
    pub fn leaf_at(&self, offset: u64) -> Option<&Leaf> {
        self.map.leaf_at(offset)
    }

    /// What people call a part.
    pub fn label(&self, part: Part) -> String {
        match part {
            Part::Contained(i) => match self.pieces.get(i as usize).map(|piece| piece.what) {
                Some(What::Structure(shape)) => shape.title.into(),
                Some(What::Member(member)) => self.path(member),
                None => String::new(),
            },
            Part::Padding => "padding".into(),
            Part::Unread => "unclaimed (not read)".into(),
            _ => "unclaimed".into(),
        }
    }

    /// The member that a part is.
    pub(crate) fn member_of(&self, part: Part) -> Option<u32> {
        let Part::Contained(i) = part else {
            return None;
        };
        match self.pieces.get(i as usize)?.what {
            What::Member(member) => Some(member),
            What::Structure(_) => None,
        }
    }

    /// What the bytes of a part are for.
    pub fn role(&self, part: Part) -> Role {
        match part {
            Part::Contained(i) => match self.pieces.get(i as usize).map(|piece| piece.what) {
                Some(What::Structure(shape)) => shape.role,
                Some(What::Member(member)) => {
                    let member = self.members.get(member as usize);
                    match member.and_then(Member::code) {
                        Some(Code::Machine) => Role::Code,
                        _ => Role::Data,
                    }
                }
                None => Role::Unclaimed,
            },
            Part::Padding => Role::Padding,
            _ => Role::Unclaimed,
        }
    }

    /// The bytes of a part, and of the header that describes it.
    pub fn extent(&self, part: Part) -> Option<(Span, Option<Span>)> {
        let Part::Contained(i) = part else {
            return None;
        };
        let piece = self.pieces.get(i as usize)?;
        let header = match piece.what {
            What::Structure(_) => None,
            What::Member(member) => self.members.get(member as usize).map(|m| m.header),
        };
        Some((piece.span, header))
    }

    /// The structure that a part is.
    ///
    /// # Errors
    /// If its bytes cannot be read.
    pub fn record(&self, source: &Source, part: Part) -> Result<Option<Record>> {
        let Part::Contained(i) = part else {
            return Ok(None);
        };
        let Some(Piece {
            span,
            what: What::Structure(shape),
        }) = self.pieces.get(i as usize)
        else {
            return Ok(None);
        };
        let read = |by: &dyn Fn(&[u8], u64) -> Record| -> Result<Option<Record>> {
            Ok(Some(by(&source.read(*span)?, span.offset)))
        };
        match shape.read {
            Read::Nothing => Ok(None),
            Read::Layout(layout) => read(&|bytes, offset| plain(layout, bytes, offset)),
            Read::By(by) => read(&by),
        }
    }
}
