//! What takes how many bytes of a file, as a tree: architectures, the members that are code for them, sections and kernels.
//!
//! What is stored adds up to the file's size exactly: the leaves of its map are counted, each at the member that has it or else at the
//! file itself. Members that are packed together have shares of what is stored, by what they unpack to. What is in a member is known once
//! the survey has opened it; of each the largest parts are kept.

use crate::container::{Code, Contents, Member};
use crate::document::Document;
use crate::elf::map::{Leaf, Part, Role};
use crate::index::{Index, Map};
use crate::members::share;
use crate::order;
use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::span::Span;
use crate::survey::{Survey, Surveyed};
use crate::unpack::Compression;

/// Parts of one role that are kept of a member; the others are one row.
const PARTS: usize = 256;
/// Parts that are kept of all members; of those that come later roles are told.
const PARTS_LIMIT: usize = 1 << 18;
/// A weight of what is packed together with others is not larger: what headers declare may be any number.
const WEIGHT: u64 = 1 << 48;

/// What a part is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Section,
    Kernel,
    Function,
    Other,
    /// So many that are too small, or too many, to be told one by one.
    Rest(u32),
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Section => "section",
            Self::Kernel => "kernel",
            Self::Function => "function",
            Self::Other => "part",
            Self::Rest(_) => "parts",
        }
    }
}

/// Bytes of a file that are no member: all of one name.
struct Piece {
    role: Role,
    kind: Kind,
    name: String,
    stored: u64,
    size: u64,
    first: Span,
}

/// The parts of a file that are no members; `member` hears of those that are.
fn pieces(document: &Document, member: &mut dyn FnMut(u32, u64)) -> Vec<Piece> {
    let table = document.table("kernels");
    let mut kernels: Vec<(Span, u64)> = Vec::new();
    if let Some(table) = &table {
        let spans = (0..table.len()).filter_map(|row| Some((table.target(row)?, row)));
        kernels.extend(spans);
        order::arrange(&mut kernels, |(span, _)| span.offset);
    }
    let mut kernels = kernels.iter().peekable();
    let mut found: Map<Piece> = Map::default();
    for leaf in document.leaves() {
        if let Some(index) = document.contents().member_of(leaf.part) {
            member(index, leaf.span.size);
            continue;
        }
        let mut add = |kind: Kind, name: String, span: Span| {
            let key = [
                &[document.role(leaf) as u8, kind.word().as_bytes()[0]],
                name.as_bytes(),
            ];
            let piece = found.entry(
                &key.concat(),
                Piece {
                    role: document.role(leaf),
                    kind,
                    name,
                    stored: 0,
                    size: 0,
                    first: span,
                },
            );
            piece.stored += span.size;
            piece.size += span.size;
        };
        let whole = |leaf: &Leaf, at: u64, end: u64| {
            let kind = match leaf.part {
                Part::Section(_) => Kind::Section,
                _ => Kind::Other,
            };
            (kind, document.label(leaf), Span::new(at, end - at))
        };
        let (mut at, end) = (leaf.span.offset, leaf.span.end());
        while let Some((span, row)) = kernels.next_if(|(span, _)| span.end() <= end).or_else(|| {
            kernels
                .peek()
                .copied()
                .filter(|(span, _)| span.offset < end)
        }) {
            let (from, to) = (span.offset.max(at), span.end().min(end));
            if from > at && from < end {
                let (kind, name, span) = whole(leaf, at, from);
                add(kind, name, span);
            }
            if to > from
                && let Some(table) = &table
            {
                let kind = match table.cell(*row, "entry_point") {
                    Cell::Bool(false) => Kind::Function,
                    _ => Kind::Kernel,
                };
                let name = table.cell(*row, "name").text(Unit::Text).into_owned();
                add(kind, name, Span::new(from, to - from));
            }
            at = to.max(at);
            // What reaches beyond the leaf goes on in the next one.
            if span.end() > end {
                break;
            }
        }
        if at < end {
            let (kind, name, span) = whole(leaf, at, end);
            add(kind, name, span);
        }
    }
    found.into_values()
}

/// A part of a member, as it is kept.
#[derive(Clone, Copy)]
struct Kept {
    role: Role,
    kind: Kind,
    name: u32,
    size: u64,
}

/// The parts of one member among those of all: from the one, up to the other.
pub type Parts = (u32, u32);

/// The parts of the members that were opened so far.
#[derive(Default)]
pub struct MemberParts {
    parts: Vec<Kept>,
    names: Index,
    texts: Vec<Box<str>>,
}

impl MemberParts {
    /// Keeps the parts of `member`, which is open: by role, the largest first.
    pub(crate) fn look(&mut self, member: &Document) -> Parts {
        let mut pieces = pieces(member, &mut |_, _| {});
        order::arrange(&mut pieces, |piece| u64::MAX - piece.size);
        order::arrange(&mut pieces, |piece| piece.role as u64);
        let start = self.parts.len();
        let most = if start < PARTS_LIMIT { PARTS } else { 0 };
        for of_role in pieces.chunk_by(|a, b| a.role == b.role) {
            let kept = &of_role[..of_role.len().min(most)];
            for piece in kept {
                let name = self.names.add(piece.name.as_bytes());
                if name == self.texts.len() {
                    self.texts.push(piece.name.as_str().into());
                }
                self.parts.push(Kept {
                    role: piece.role,
                    kind: piece.kind,
                    name: name as u32,
                    size: piece.size,
                });
            }
            let rest = &of_role[kept.len()..];
            if let Some(first) = rest.first() {
                self.parts.push(Kept {
                    role: first.role,
                    kind: Kind::Rest(rest.len() as u32),
                    name: 0,
                    size: rest.iter().map(|piece| piece.size).sum(),
                });
            }
        }
        (start as u32, self.parts.len() as u32)
    }

    /// Parts of a member, those of one role behind each other.
    fn of(&self, (start, end): Parts) -> &[Kept] {
        &self.parts[start as usize..end as usize]
    }
}

/// Divides a number in proportion to weights, so that the shares add up to it.
struct Division {
    whole: u64,
    weights: u128,
    seen: u128,
    given: u64,
}

impl Division {
    fn new(whole: u64, weights: u128) -> Self {
        Self {
            whole,
            weights,
            seen: 0,
            given: 0,
        }
    }

    fn next(&mut self, weight: u64) -> u64 {
        self.seen += u128::from(weight);
        let share = (u128::from(self.whole) * self.seen).checked_div(self.weights);
        let upto = share.unwrap_or_default() as u64;
        let share = upto - self.given;
        self.given = upto;
        share
    }
}

/// What a row is about.
#[derive(Clone, Copy)]
enum What {
    /// The whole file.
    File,
    /// Bytes of the file that are no members.
    Own,
    /// Members that are one kind of code for one architecture, of which one is this, by its number in the survey.
    Arch(u32),
    /// Members that are no code.
    Others,
    /// The member of that number.
    Member(u32),
    /// What a member that has to be unpacked has beside code: so many bytes.
    Rest(u64),
    Role(Role),
    /// A part of the file itself, by its number.
    Piece(u32),
    /// A part of a member.
    Part(Kept),
    /// What a member's container rounds it up by.
    Alignment,
}

struct Node {
    what: What,
    depth: u32,
    parent: Option<u32>,
    next: u32,
    stored: u64,
    /// `None` where it is not known yet.
    size: Option<u64>,
    /// `None` where it is not known, or not told.
    kernels: Option<u64>,
    wasted: u64,
    is_share: bool,
    /// Whether all of it that is code was opened.
    is_open: bool,
}

/// The tree.
pub struct Sizes {
    nodes: Vec<Node>,
    own: Vec<Piece>,
}

/// Members of one kind, with what is stored of them together.
struct Group {
    what: What,
    stored: u64,
    /// Their numbers, and what is stored of each.
    members: Vec<(u32, u64)>,
}

impl Group {
    /// Members that are to come, or none.
    fn new(what: What, stored: u64) -> Self {
        Self {
            what,
            stored,
            members: Vec::new(),
        }
    }

    /// Adds a member to those of its kind.
    fn add(groups: &mut Map<Self>, number: u32, member: &Member, stored: u64) {
        let target = member.target.as_deref().unwrap_or_default();
        let (key, what) = match member.code() {
            Some(code) => (
                [&[code as u8], target.as_bytes()].concat(),
                What::Arch(number),
            ),
            None => (vec![u8::MAX], What::Others),
        };
        let group = groups.entry(&key, Self::new(what, 0));
        group.stored += stored;
        group.members.push((number, stored));
    }
}

impl Sizes {
    /// What is known of `document` so far.
    pub fn new(document: &Document, survey: &Survey) -> Self {
        let members = &document.contents().members;
        let mut stored = vec![0; members.len()];
        let mut own = pieces(document, &mut |index, size| stored[index as usize] += size);
        let shares = divide(members, &mut stored, &mut own);
        order::arrange(&mut own, |piece| u64::MAX - piece.stored);
        let mut groups: Map<Group> = Map::default();
        for ((index, member), stored) in (0..).zip(members).zip(stored) {
            if member.children == 0 {
                Group::add(&mut groups, index, member, stored);
            }
        }
        let mut groups = groups.into_values();
        let mut tree = Tree {
            contents: document.contents(),
            survey,
            shares,
            nodes: Vec::new(),
            open: Vec::new(),
        };
        tree.open(What::File);
        if groups.is_empty() {
            tree.own(&own);
        } else if !own.is_empty() {
            let stored = own.iter().map(|piece| piece.stored).sum();
            groups.push(Group::new(What::Own, stored));
        }
        tree.groups(groups, &own);
        tree.close();
        Self {
            nodes: tree.nodes,
            own,
        }
    }
}

/// Gives each member of one that is packed its share of what is stored, and says which members have such shares. Bytes of containers that
/// are in no member of them go to `own`.
fn divide(members: &[Member], stored: &mut [u64], own: &mut Vec<Piece>) -> Vec<bool> {
    let mut shares = vec![false; members.len()];
    let is_packed = |member: &Member| member.compression != Compression::None;
    let around = |name: &str, stored, size| Piece {
        role: Role::Data,
        kind: Kind::Other,
        name: name.into(),
        stored,
        size,
        first: Span::default(),
    };
    let [mut plain, mut packed] = [0_u64; 2];
    let mut unpacked = 0_u64;
    for (index, member) in members.iter().enumerate() {
        if member.children == 0 {
            continue;
        }
        if !is_packed(member) {
            plain += stored[index];
            continue;
        }
        let inner = index + 1..member.next as usize;
        let inside = inner.filter(|&i| {
            members[i].base == Some(index as u32)
                && (members[i].children == 0 || is_packed(&members[i]))
        });
        let weight = |i: usize| members[i].span.size.min(WEIGHT);
        let sum: u128 = inside.clone().map(|i| u128::from(weight(i))).sum();
        let whole = u128::from(member.size().unwrap_or_default().min(WEIGHT));
        let rest = whole.saturating_sub(sum) as u64;
        let mut division = Division::new(stored[index], sum + u128::from(rest));
        for i in inside {
            stored[i] = division.next(weight(i));
            shares[i] = true;
        }
        packed += stored[index] - division.given;
        unpacked = unpacked.saturating_add(rest);
    }
    if plain > 0 {
        own.push(around("between members", plain, plain));
    }
    if packed > 0 || unpacked > 0 {
        own.push(around(
            "between members that are packed together",
            packed,
            unpacked,
        ));
    }
    shares
}

/// Rows as they are written.
struct Tree<'a> {
    contents: &'a Contents,
    survey: &'a Survey,
    /// Which members of the file have shares.
    shares: Vec<bool>,
    nodes: Vec<Node>,
    /// Those that are in each other at the end.
    open: Vec<u32>,
}

impl Tree<'_> {
    /// A row that others are in; what it comes to is theirs together, unless something else is written to it.
    fn open(&mut self, what: What) -> &mut Node {
        let index = self.nodes.len() as u32;
        self.nodes.push(Node {
            what,
            depth: self.open.len() as u32,
            parent: self.open.last().copied(),
            next: 0,
            stored: 0,
            size: Some(0),
            kernels: Some(0),
            wasted: 0,
            is_share: false,
            is_open: true,
        });
        self.open.push(index);
        &mut self.nodes[index as usize]
    }

    fn close(&mut self) {
        let Some(index) = self.open.pop() else {
            return;
        };
        let end = self.nodes.len() as u32;
        self.nodes[index as usize].next = end;
        let Some(&parent) = self.open.last() else {
            return;
        };
        let (before, from) = self.nodes.split_at_mut(index as usize);
        let (into, node) = (&mut before[parent as usize], &from[0]);
        let sum = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.saturating_add(b));
        into.stored += node.stored;
        into.size = sum(into.size, node.size);
        into.kernels = sum(into.kernels, node.kernels);
        into.wasted += node.wasted;
        into.is_share |= node.is_share;
        into.is_open &= node.is_open;
    }

    /// A row that nothing is in.
    fn leaf(&mut self, what: What, stored: u64, size: u64, is_share: bool, is_kernel: bool) {
        let node = self.open(what);
        (node.stored, node.size, node.is_share) = (stored, Some(size), is_share);
        node.kernels = Some(is_kernel.into());
        self.close();
    }

    /// The parts of the file itself, by what they are for.
    fn own(&mut self, pieces: &[Piece]) {
        let sum = |role: Role| {
            let of_role = pieces.iter().filter(move |piece| piece.role == role);
            of_role.map(|piece| piece.stored).sum::<u64>()
        };
        let mut roles: Vec<(Role, u64)> = Role::ALL.map(|role| (role, sum(role))).to_vec();
        order::arrange(&mut roles, |(_, stored)| u64::MAX - stored);
        for (role, _) in roles {
            let of_role = (0..).zip(pieces).filter(|(_, piece)| piece.role == role);
            let mut of_role = of_role.peekable();
            if of_role.peek().is_none() {
                continue;
            }
            self.open(What::Role(role));
            for (index, piece) in of_role {
                let is_kernel = piece.kind == Kind::Kernel;
                self.leaf(
                    What::Piece(index),
                    piece.stored,
                    piece.size,
                    false,
                    is_kernel,
                );
            }
            self.close();
        }
    }

    /// Groups, the largest first, and what is in them; `own` are parts of the file itself.
    fn groups(&mut self, mut groups: Vec<Group>, own: &[Piece]) {
        order::arrange(&mut groups, |group| u64::MAX - group.stored);
        for mut group in groups {
            if let What::Rest(size) = group.what {
                self.leaf(group.what, group.stored, size, true, false);
                continue;
            }
            self.open(group.what);
            if let What::Own = group.what {
                self.own(own);
            }
            order::arrange(&mut group.members, |(_, stored)| u64::MAX - stored);
            // Rows keep their numbers while members are opened: what is in them is told once those of an architecture all were.
            let mut numbers = group.members.iter().map(|(number, _)| *number);
            let is_seen = numbers.all(|number| self.survey.has_seen(number));
            for (number, stored) in group.members {
                self.member(number, stored, is_seen);
            }
            self.close();
        }
    }

    /// A member, and what is in it where `is_seen`.
    fn member(&mut self, number: u32, stored: u64, is_seen: bool) {
        let survey = self.survey;
        let Some((member, _)) = survey.member(self.contents, number) else {
            return;
        };
        let found = survey.of(number);
        let is_share = self.shares.get(number as usize).copied().unwrap_or(true);
        let row = self.nodes.len();
        self.open(What::Member(number));
        if is_seen && let Some(found) = found {
            let parts = survey.parts().of(found.parts);
            let is_packed = is_share || member.compression != Compression::None;
            let size = match member.is_padded {
                true => member.size(),
                false => found.size,
            };
            self.parts(parts, stored, size.unwrap_or_default(), is_packed);
            self.unpacked(number, stored, found.size.unwrap_or_default());
        }
        let has_rows = self.nodes.len() > row + 1;
        let node = &mut self.nodes[row];
        (node.stored, node.is_share) = (stored, is_share);
        if !has_rows {
            let size = || found.and_then(|found| found.size);
            node.size = member.size().or_else(size);
        }
        // Kernels are told of machine code alone.
        let kernels = |member: &Member, found: Option<Surveyed>| match member.code() {
            Some(Code::Machine) => found?.kernels.map(u64::from),
            _ => Some(0),
        };
        let hides = member.code().is_none() && Survey::is_asked(member);
        node.kernels = match found {
            None if hides => None,
            // What is in it that is packed is found with it.
            Some(_) if hides => {
                let within = survey.within(number).map(|(_, inner)| inner);
                within
                    .map(|inner| kernels(&inner.member, Some(inner.found)))
                    .sum()
            }
            found => kernels(member, found),
        };
        node.is_open = !Survey::is_asked(member) || survey.has_seen(number);
        if found.is_some_and(|found| found.same_as.is_some()) {
            node.wasted = stored;
        }
        self.close();
    }

    /// The parts of the member that is open: so much is stored of it, and it has `size` bytes with what it is rounded up by.
    fn parts(&mut self, parts: &[Kept], stored: u64, size: u64, is_packed: bool) {
        let sum = parts.iter().map(|part| part.size).sum();
        let alignment = size.saturating_sub(sum);
        // What is stored as it is has padding that it does not count.
        let padding = match is_packed {
            true => alignment,
            false => stored.saturating_sub(sum),
        };
        let mut division = Division::new(stored, u128::from(sum) + u128::from(padding));
        for of_role in parts.chunk_by(|a, b| a.role == b.role) {
            self.open(What::Role(of_role[0].role));
            for part in of_role {
                let stored = division.next(part.size);
                let is_kernel = part.kind == Kind::Kernel;
                self.leaf(What::Part(*part), stored, part.size, is_packed, is_kernel);
            }
            self.close();
        }
        if !parts.is_empty() && alignment.max(padding) > 0 {
            let stored = division.next(padding);
            self.leaf(What::Alignment, stored, alignment, is_packed, false);
        }
    }

    /// What unpacking the member that is open told of, which has `size` bytes then; of the same groups as what a file has.
    fn unpacked(&mut self, index: u32, stored: u64, size: u64) {
        let mut groups: Map<Group> = Map::default();
        let [mut stored_left, mut left] = [stored, size];
        for (number, inner) in self.survey.within(index) {
            // Of what overlaps no byte counts twice.
            let stored = share(inner.taken, size, stored).min(stored_left);
            stored_left -= stored;
            left = left.saturating_sub(inner.taken);
            Group::add(&mut groups, number, &inner.member, stored);
        }
        let mut groups = groups.into_values();
        if !groups.is_empty() && (left > 0 || stored_left > 0) {
            groups.push(Group::new(What::Rest(left), stored_left));
        }
        self.groups(groups, &[]);
    }
}

/// The tree as a table, or of one row those that are directly in it.
pub struct SizeList<'a> {
    document: &'a Document,
    survey: &'a Survey,
    sizes: &'a Sizes,
    /// The rows that are directly in one.
    within: Option<Vec<u32>>,
}

impl<'a> SizeList<'a> {
    /// All of the tree.
    pub fn new(document: &'a Document, survey: &'a Survey, sizes: &'a Sizes) -> Self {
        Self {
            document,
            survey,
            sizes,
            within: None,
        }
    }

    /// What is directly in row `row` of it.
    pub fn within(self, row: u32) -> Option<Self> {
        let of = self.sizes.nodes.get(row as usize)?;
        let mut within = Vec::new();
        let mut at = row + 1;
        while at < of.next {
            within.push(at);
            at = self.sizes.nodes[at as usize].next;
        }
        Some(Self {
            within: Some(within),
            ..self
        })
    }

    fn index(&self, row: u64) -> Option<u32> {
        match &self.within {
            Some(within) => within.get(row as usize).copied(),
            None => u32::try_from(row).ok(),
        }
    }

    fn node(&self, row: u64) -> Option<&Node> {
        self.sizes.nodes.get(self.index(row)? as usize)
    }

    /// The member of that number.
    fn of(&self, number: u32) -> Option<&Member> {
        let found = self.survey.member(self.document.contents(), number);
        found.map(|(member, _)| member)
    }

    fn name(&self, what: What) -> Cell<'_> {
        match what {
            What::File => self.document.format().title().into(),
            What::Own => "the file itself".into(),
            What::Rest(_) => "everything else".into(),
            What::Alignment => "alignment".into(),
            What::Arch(first) => self
                .of(first)
                .and_then(|member| member.target.as_deref())
                .unwrap_or("any architecture")
                .into(),
            What::Others => "other members".into(),
            What::Member(number) => {
                let contents = self.document.contents();
                self.survey.path(contents, number).into()
            }
            What::Role(role) => role.word().into(),
            What::Piece(index) => match self.sizes.own.get(index as usize) {
                Some(piece) => piece.name.as_str().into(),
                None => Cell::None,
            },
            What::Part(Kept {
                kind: Kind::Rest(count),
                ..
            }) => (count.to_string() + " more").into(),
            What::Part(part) => self
                .survey
                .parts()
                .texts
                .get(part.name as usize)
                .map(|name| &**name)
                .into(),
        }
    }

    /// The words for what a row is.
    fn what(&self, what: What) -> &'static str {
        match what {
            What::File => "file",
            What::Own | What::Others | What::Rest(_) | What::Role(_) => "",
            What::Arch(first) => self.of(first).and_then(Member::code).map_or("", Code::word),
            What::Member(number) => self.of(number).map_or("", |member| member.format.word()),
            What::Piece(index) => match self.sizes.own.get(index as usize) {
                Some(piece) => piece.kind.word(),
                None => "",
            },
            What::Part(part) => part.kind.word(),
            What::Alignment => Kind::Other.word(),
        }
    }

    fn role(&self, what: What) -> Option<Role> {
        Some(match what {
            What::Role(role) => role,
            What::Part(part) => part.role,
            What::Alignment => Role::Padding,
            What::Piece(index) => self.sizes.own.get(index as usize)?.role,
            What::Member(number) | What::Arch(number) => match self.of(number)?.code() {
                Some(Code::Machine) => Role::Code,
                Some(_) => Role::Info,
                None => Role::Data,
            },
            What::Others | What::Rest(_) => Role::Data,
            What::File | What::Own => return None,
        })
    }

    /// The names from the architecture on.
    fn path(&self, row: u32) -> String {
        let mut names = Vec::new();
        let mut at = Some(row);
        while let Some(node) = at.and_then(|at| self.sizes.nodes.get(at as usize)) {
            let mut name = self.name(node.what).text(Unit::Text).into_owned();
            if let What::Arch(_) = node.what {
                name = name + " " + self.what(node.what);
            }
            if node.parent.is_some() || names.is_empty() {
                names.push(name);
            }
            at = node.parent;
        }
        names.reverse();
        names.join(" › ")
    }

    /// The member that a row is, or is a part of.
    fn member(&self, mut node: &'a Node) -> Option<u32> {
        loop {
            match node.what {
                What::Member(number) => return Some(number),
                What::Role(_) | What::Part(_) | What::Alignment => {
                    node = self.sizes.nodes.get(node.parent? as usize)?;
                }
                _ => return None,
            }
        }
    }
}

impl Table for SizeList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("name", "Name", Unit::Text),
            column("what", "What", Unit::Word),
            column("stored_size", "Stored", Unit::Size),
            column("size", "Size", Unit::Size),
            column("percent", "Packed to %", Unit::Number),
            column("kernel_count", "Kernels", Unit::Number),
            column("wasted_bytes", "Stored again", Unit::Size),
            column("role", "For", Unit::Word),
            column("same_as", "Same bytes as", Unit::Text),
            hidden("is_share", "A share of what is packed together", Unit::Word),
            hidden("path", "Path", Unit::Text),
            hidden("member", "Member", Unit::Number),
            hidden("is_member", "Is a member", Unit::Word),
            hidden("is_open", "Was opened", Unit::Word),
            hidden("row", "Row", Unit::Number),
            hidden("depth", "Depth", Unit::Number),
            hidden("parent", "Row that it is in", Unit::Number),
            hidden("next", "Row behind it", Unit::Number),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        match &self.within {
            Some(within) => within.len() as u64,
            None => self.sizes.nodes.len() as u64,
        }
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let (Some(index), Some(node)) = (self.index(row), self.node(row)) else {
            return Cell::None;
        };
        match key {
            "name" => self.name(node.what),
            "what" => self.what(node.what).into(),
            "stored_size" => node.stored.into(),
            "size" => node.size.into(),
            // The whole percent below: 0 of what is packed to less than one.
            "percent" => match node.size {
                Some(size) if size > node.stored => {
                    (i128::from(node.stored) * 100 / i128::from(size)).into()
                }
                _ => Cell::None,
            },
            "kernel_count" => match node.what {
                What::Piece(_) | What::Part(_) => Cell::None,
                What::File => node.kernels.into(),
                what => {
                    let is_code = self.role(what) == Some(Role::Code);
                    let is_told = |count: &u64| *count > 0 || is_code;
                    node.kernels.filter(is_told).into()
                }
            },
            "wasted_bytes" => Some(node.wasted).filter(|&bytes| bytes > 0).into(),
            "same_as" => match node.what {
                What::Member(member) => {
                    let first = self.survey.of(member).and_then(|found| found.same_as);
                    let contents = self.document.contents();
                    first.map(|first| self.survey.path(contents, first)).into()
                }
                _ => Cell::None,
            },
            "role" => self.role(node.what).map(Role::word).into(),
            "is_share" => node.is_share.into(),
            "path" => self.path(index).into(),
            "member" => self.member(node).into(),
            "is_member" => matches!(node.what, What::Member(_)).into(),
            "is_open" => match node.what {
                What::File | What::Arch(_) | What::Member(_) => node.is_open.into(),
                _ => Cell::None,
            },
            "row" => index.into(),
            "depth" => node.depth.into(),
            "parent" => node.parent.into(),
            "next" => node.next.into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        match self.node(row)?.what {
            What::Member(number) => {
                let (_, outer) = self.survey.member(self.document.contents(), number)?;
                self.document.table("members")?.target(outer.into())
            }
            What::Piece(index) => self.sizes.own.get(index as usize)?.first.some(),
            _ => None,
        }
    }

    fn target(&self, row: u64) -> Option<Span> {
        self.place(row)
    }
}
