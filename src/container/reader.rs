//! What readers of container formats share: where they read, and what they report.

use super::contents::{Contents, Piece, What};
use super::{
    Format, Member, archive, bundle, fatbin, host, identify, macho, offload, stream, tar, zip,
};
use crate::elf::map::Role;
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::order;
use crate::record::{Layout, Record};
use crate::source::Source;
use crate::span::Span;
use crate::unpack::{self, Compression};

/// A kind of structure in containers.
pub struct Shape {
    /// What people call it.
    pub title: &'static str,
    /// What its bytes are for.
    pub role: Role,
    /// How it is read.
    pub read: Read,
}

/// How a structure is read.
pub enum Read {
    /// It has none: bytes without fields.
    Nothing,
    /// By its layout alone.
    Layout(&'static Layout),
    /// From its bytes, which begin at that offset of the file.
    By(fn(&[u8], u64) -> Record),
}

/// Members of a file that are listed, at most.
pub(super) const MEMBER_LIMIT: usize = 1 << 16;
/// Members that lie in each other and are looked into, at most.
pub(super) const DEPTH_LIMIT: u32 = 6;
/// Bytes that are looked through for the next structure of a run, at most: what aligns them is less.
const SCAN_LIMIT: u64 = 1 << 20;
/// Bytes of a structure's name or text that are read, at most.
pub(super) const TEXT_LIMIT: u64 = 64 << 10;

/// Bytes of a container that a member says are its own.
pub(super) struct Claim {
    pub span: Span,
    /// Where the header is that says so.
    pub header: u64,
    /// That member; `None` of the directory that lists them.
    pub member: Option<u32>,
}

/// Reads what is in a file, or in what a member of it unpacks to.
pub(super) struct Reader<'a> {
    /// What spans count in. Of what a member unpacks to it may be only the beginning.
    pub source: Source,
    /// That member.
    pub base: Option<u32>,
    /// Where the bytes end of which `source` may be the beginning.
    pub end: u64,
    pub contents: &'a mut Contents,
    pub findings: &'a mut Diagnostics,
}

impl Reader<'_> {
    /// The bytes of `span`; a finding where they are not there.
    pub fn read(&mut self, span: Span) -> Option<Vec<u8>> {
        if !self.spend(span.size) {
            return None;
        }
        let read = self.source.read(span);
        self.findings.take(read)
    }

    /// The first bytes of `span`, `size` at most; those that are there.
    pub fn peek(&self, span: Span, size: u64) -> Vec<u8> {
        let span = Span::new(span.offset, size.min(span.size)).clamp(self.source.size());
        match self.spend(span.size) {
            true => self.source.read(span).unwrap_or_default(),
            false => Vec::new(),
        }
    }

    /// Whether so many bytes more may be looked at.
    fn spend(&self, bytes: u64) -> bool {
        let budget = &self.contents.budget;
        let left = budget.get().saturating_sub(bytes.max(1));
        budget.set(left);
        left > 0
    }

    /// Says what `member` is and what it runs on by the first of its bytes, where its container does not say it.
    pub fn identify(&self, member: &mut Member) {
        let start = match member.compression {
            Compression::None => self.peek(member.span, identify::START),
            compression => {
                // Of a block of zstd no part can be read.
                let enough = match compression {
                    Compression::Zstd => unpack::BEGINNING,
                    _ => 2 * identify::START,
                };
                let start = unpack::beginning(compression, &self.peek(member.span, enough));
                self.spend(start.len() as u64);
                start
            }
        };
        member.format = identify::identify(&start);
        if member.target.is_none() {
            let target = identify::target(member.format, &start);
            member.target = target.map(Into::into);
        }
        member.is_relocatable = identify::is_relocatable(member.format, &start);
    }

    /// Reports an error at `offset`, in the structure or field called `context`.
    pub fn error(&mut self, offset: u64, context: &str, message: impl Into<String>) {
        self.report(offset, context, Diagnostic::error(Kind::Format, message));
    }

    /// Reports `finding` at `offset`.
    pub fn report(&mut self, offset: u64, context: &str, finding: Diagnostic) {
        // What cannot be read because too much was read is not wrong.
        if self.say_if_spent() {
            return;
        }
        let finding = match self.base {
            // What is unpacked has no place in the file; what it is unpacked from has.
            Some(base) => {
                let (at, inside) = self.contents.place(base);
                let path = self.contents.path(base);
                finding
                    .at(at)
                    .within(format!("inside {path} at 0x{offset:x}{inside}: {context}"))
            }
            None => finding.at(self.source.absolute(offset)).within(context),
        };
        self.findings.push(finding);
    }

    /// Says, once, that too much was looked at, if so.
    pub fn say_if_spent(&mut self) -> bool {
        let is_spent = self.contents.budget.get() == 0;
        if is_spent && !self.contents.is_spent {
            self.contents.is_spent = true;
            let message = "looking for members takes too long: headers refer to the same bytes again and again";
            self.findings.push(Diagnostic::error(Kind::Limit, message));
        }
        is_spent
    }

    /// Adds a structure that the bytes of `span` are.
    pub fn structure(&mut self, span: Span, shape: &'static Shape) {
        self.piece(span, What::Structure(shape));
    }

    fn piece(&mut self, span: Span, what: What) {
        let span = span.clamp(self.source.size());
        // What is unpacked has no place in the file.
        if self.base.is_none() && span.size > 0 {
            self.contents.pieces.push(Piece { span, what });
        }
    }

    /// What the next member of `parent` is called, if it has no name: its number.
    pub fn number(&mut self, parent: Option<u32>) -> String {
        self.children(parent).to_string()
    }

    /// How many members are directly in `parent`.
    fn children(&mut self, parent: Option<u32>) -> &mut u32 {
        let parent = parent.and_then(|parent| self.contents.members.get_mut(parent as usize));
        match parent {
            Some(parent) => &mut parent.children,
            None => &mut self.contents.top,
        }
    }

    /// Adds a member of `parent`, and looks into it. Its index; `None` where there are too many already.
    pub fn member(&mut self, parent: Option<u32>, member: Member) -> Option<u32> {
        let index = self.list(parent, member)?;
        self.look_into(index);
        Some(index)
    }

    /// Adds a member of `parent`, without a look into it.
    pub fn list(&mut self, parent: Option<u32>, mut member: Member) -> Option<u32> {
        let index = self.contents.members.len();
        if index >= MEMBER_LIMIT {
            if index == MEMBER_LIMIT && !self.findings.iter().any(|f| f.message == TOO_MANY) {
                let finding = Diagnostic::error(Kind::Limit, TOO_MANY);
                self.report(member.header.offset, "members", finding);
            }
            return None;
        }
        *self.children(parent) += 1;
        if let Some(size) = member.unpacked
            && !unpack::is_plausible(member.compression, member.span.size, size)
        {
            let packed = member.span.size;
            if !member.is_stream {
                let message = format!("{packed} compressed bytes are declared to unpack to {size}");
                self.error(member.header.offset, "member", message);
            } else {
                let message = format!(
                    "{packed} compressed bytes are said to unpack to {size}: they are cut off, several parts, or have others behind them"
                );
                let finding = Diagnostic::warning(Kind::Format, message);
                self.report(member.header.offset, "member", finding);
                // What stands at the end of several, or of other bytes, is nobody's size.
                member.unpacked = None;
                member.note = "".into();
            }
        }
        if member.is_too_large() {
            let size = member.unpacked.unwrap_or_default();
            let can_be = match member.is_only_extracted() {
                true => ", but in a terminal it can be extracted to a folder",
                false => "",
            };
            let message = format!(
                "it is declared to unpack to {size} bytes: what has more than 1 GiB is not opened{can_be}"
            );
            let finding = Diagnostic::warning(Kind::Limit, message);
            self.report(member.header.offset, "member", finding);
        }
        let around = parent.and_then(|parent| self.contents.members.get(parent as usize));
        member.depth = around.map_or(0, |parent| parent.depth + 1);
        member.parent = parent;
        member.base = self.base;
        self.piece(member.span, What::Member(index as u32));
        self.contents.members.push(member);
        Some(index as u32)
    }

    fn look_into(&mut self, index: u32) {
        let Some(member) = self.contents.members.get(index as usize) else {
            return;
        };
        let (span, format, compression) = (member.span, member.format, member.compression);
        if !identify::is_container(format) {
            return;
        }
        if member.depth >= DEPTH_LIMIT {
            let finding = Diagnostic::note(
                Kind::Limit,
                "members that lie this deep in each other are looked into when they are opened",
            );
            self.report(span.offset, "members", finding);
            return;
        }
        match compression {
            Compression::None => self.inside(format, span, Some(index)),
            // A bundle tells its entries where it begins.
            compression if format == Format::OffloadBundle => {
                let end = member.unpacked.unwrap_or(u64::MAX);
                let packed = self.peek(span, unpack::BEGINNING);
                let beginning = unpack::beginning(compression, &packed);
                self.spend(beginning.len() as u64);
                if beginning.is_empty() {
                    self.error(
                        span.offset,
                        "compressed bundle",
                        "the compressed bytes are malformed from the first on",
                    );
                    return;
                }
                let mut inner = Reader {
                    source: Source::unpacked(beginning),
                    base: Some(index),
                    end,
                    contents: self.contents,
                    findings: self.findings,
                };
                inner.inside(format, Span::new(0, end), Some(index));
            }
            _ => {}
        }
    }

    /// Reads the members of a container of `format`, which has the bytes of `span` and is the member `parent`.
    pub fn inside(&mut self, format: Format, span: Span, parent: Option<u32>) {
        let first = self.contents.members.len();
        self.read_inside(format, span, parent);
        // A zip file's have headers of their own, which count as well.
        if format != Format::Zip {
            let members = (first..).zip(&self.contents.members[first..]);
            let claims = members.filter(|(_, member)| member.parent == parent);
            let claims = claims.map(|(index, member)| Claim {
                span: member.span,
                header: member.header.offset,
                member: Some(index as u32),
            });
            self.check_overlaps(claims.collect());
        }
    }

    fn read_inside(&mut self, format: Format, span: Span, parent: Option<u32>) {
        match format {
            Format::Fatbin => fatbin::read(self, span, parent, None),
            Format::OffloadBundle => bundle::read(self, span, parent, None),
            Format::OffloadBinary => offload::read(self, span, parent, None),
            Format::Archive => archive::read(self, span, parent),
            Format::Zip => zip::read(self, span, parent),
            Format::Tar => tar::read(self, span, parent),
            Format::Gzip | Format::Zstd => stream::read(self, format, span, parent),
            Format::Elf | Format::CudaCoredump => host::elf(self, span, parent),
            Format::Pe => host::pe(self, span, parent),
            Format::Macho => macho::read(self, span, parent),
            _ => {}
        }
    }

    /// Reports those that share bytes: headers can say so of what they do not lie in front of.
    pub fn check_overlaps(&mut self, mut claims: Vec<Claim>) {
        claims.retain(|claim| claim.span.size > 0);
        order::arrange(&mut claims, |claim| claim.span.offset);
        let members = &self.contents.members;
        let name = |claim: &Claim| match claim.member {
            Some(index) => &*members[index as usize].name,
            None => "the directory",
        };
        let mut last: Option<&Claim> = None;
        let mut count = 0;
        let mut found = Vec::new();
        for claim in &claims {
            if let Some(last) = last
                && claim.span.offset < last.span.end()
            {
                count += 1;
                if count <= OVERLAPS {
                    let message = format!("{} and {} share bytes", name(last), name(claim));
                    found.push((claim.header, message));
                }
            }
            if last.is_none_or(|last| last.span.end() < claim.span.end()) {
                last = Some(claim);
            }
        }
        if count > OVERLAPS {
            let message = format!("{} more share bytes with others", count - OVERLAPS);
            found.push((found[0].0, message));
        }
        for (at, message) in found {
            self.error(at, "member, offset and size", message);
        }
    }

    /// Where one of `magics` is next in `span`, but not farther than alignment takes it; and whether something else than zeros is
    /// before it.
    pub fn next(&self, span: Span, magics: &[&[u8]]) -> Option<u64> {
        let longest = magics.iter().map(|magic| magic.len()).max().unwrap_or(0) as u64;
        let limit = span.end().min(span.offset.saturating_add(SCAN_LIMIT));
        let mut at = span.offset;
        while at < limit {
            // Most often it is near: of many in a row each would cost a large window.
            let size = if at == span.offset { 256 } else { 64 << 10 };
            let window = Span::new(at, size + longest).clamp(span.end());
            let bytes = self.peek(window, window.size);
            let starts = bytes.len().min(size as usize);
            let found = (0..starts).find(|&i| magics.iter().any(|m| bytes[i..].starts_with(m)));
            if let Some(found) = found {
                return Some(at + found as u64);
            }
            if starts == 0 {
                return None;
            }
            at += starts as u64;
        }
        None
    }
}

/// Members of one container that are named because they share bytes, at most; then it is said how many more there are.
const OVERLAPS: usize = 10;

const TOO_MANY: &str = "there are more members than are listed";

/// Reads a structure that is a layout and nothing else.
pub(super) fn plain(layout: &'static Layout, bytes: &[u8], offset: u64) -> Record {
    layout.read(layout.name, bytes, offset)
}

/// A number of `N` bytes at `at`, little-endian; 0 where it is not all there.
pub(super) fn number<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    let mut all = [0; 8];
    if let Some(part) = at.checked_add(N).and_then(|end| bytes.get(at..end)) {
        all[..N].copy_from_slice(part);
    }
    u64::from_le_bytes(all)
}

pub(super) fn u16(bytes: &[u8], at: usize) -> u64 {
    number::<2>(bytes, at)
}

pub(super) fn u32(bytes: &[u8], at: usize) -> u64 {
    number::<4>(bytes, at)
}

pub(super) fn u64(bytes: &[u8], at: usize) -> u64 {
    number::<8>(bytes, at)
}
