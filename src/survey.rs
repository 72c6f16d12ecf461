//! What is known of members only once they are opened: their kernels, and which of them have the same bytes.
//!
//! Members are opened one by one, in steps, and freed again: what is kept of each is a few numbers and the names of its kernels, of
//! which those that members share are kept once.

use crate::container::Member;
use crate::document::Document;
use crate::error::Diagnostics;
use crate::index::Index;
use serde::Serialize;

use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::source::Source;
use crate::span::Span;

/// Kernels that are listed of all members together, at most.
const KERNEL_LIMIT: usize = 1 << 20;
/// Bytes that are read at once for a digest.
const CHUNK: u64 = 1 << 20;

/// What opening the members that are code has told so far.
#[derive(Default)]
pub struct Survey {
    /// The member that is opened next.
    next: u32,
    done: u64,
    bytes: u64,
    members: Vec<Option<Surveyed>>,
    digests: Index,
    /// For each digest the first member that has it.
    firsts: Vec<u32>,
    kernels: Vec<FoundKernel>,
    names: Index,
    texts: Vec<Box<str>>,
    /// How many kernels have each name.
    uses: Vec<u32>,
}

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
    /// Bytes that the members had that were opened, unpacked.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub bytes: u64,
    /// Bytes that those to be opened have in all, as their headers declare.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub total_bytes: u64,
    /// Whether nothing is left.
    pub finished: bool,
}

/// What opening a member has told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surveyed {
    /// Kernels; `None` of code that is not read for them, or could not be opened.
    pub kernels: Option<u32>,
    /// The first member that has the same bytes, if it is another.
    pub same_as: Option<u32>,
}

/// A kernel of a member.
struct FoundKernel {
    member: u32,
    /// Its row in the member's table of kernels.
    row: u32,
    name: u32,
    numbers: [Option<u32>; NUMBERS.len()],
}

/// What is kept of a kernel: what it is called here, and the columns of its own table that have it, for NVIDIA's and for AMD's.
const NUMBERS: &[(&str, [&str; 2])] = &[
    ("registers", ["registers", "vgprs_used"]),
    ("sgprs", ["", "sgprs_used"]),
    ("agprs", ["", "agprs_used"]),
    ("shared_bytes", ["shared_bytes", "group_segment"]),
    ("stack_bytes", ["stack_bytes", "private_segment"]),
    ("vgpr_spills", ["", "vgpr_spills"]),
    ("sgpr_spills", ["", "sgpr_spills"]),
    ("code_bytes", ["code_bytes", ""]),
];

impl Survey {
    /// What is known of member `index`.
    pub fn of(&self, index: u32) -> Option<Surveyed> {
        *self.members.get(index as usize)?
    }

    /// What the kernels that were found are called, each once.
    pub fn kernel_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.texts.iter().map(|name| &**name)
    }

    /// How many kernels of that name were found; `None` before there was any.
    pub fn kernels_called(&self, name: &str) -> Option<u32> {
        let found = self.names.get(name.as_bytes());
        match found {
            Some(number) => Some(self.uses[number]),
            None => (!self.texts.is_empty()).then_some(0),
        }
    }

    /// Opens the members of `document` that are code, until about `budget` bytes of them are read; none for a budget of 0.
    pub(crate) fn step(
        &mut self,
        document: &Document,
        budget: u64,
        findings: &mut Diagnostics,
    ) -> SurveyProgress {
        let members = &document.contents().members;
        let is_code = |member: &&Member| member.code().is_some();
        let (mut total, mut total_bytes) = (0, 0_u64);
        for member in members.iter().filter(is_code) {
            total += 1;
            total_bytes = total_bytes.saturating_add(size(member));
        }
        let mut budget = budget;
        while budget > 0
            && let Some(member) = members.get(self.next as usize)
        {
            let index = self.next;
            self.next += 1;
            let mut found = None;
            if is_code(&member) {
                let opened = document.open_member(index);
                found = Some(Surveyed::default());
                if let Some(opened) = findings.take(opened) {
                    found = Some(self.look(index, &opened));
                    budget = budget.saturating_sub(opened.source().size().max(1));
                }
                self.done += 1;
                self.bytes = self.bytes.saturating_add(size(member));
            }
            self.members.push(found);
        }
        SurveyProgress {
            done: self.done,
            total,
            bytes: self.bytes,
            total_bytes,
            finished: self.next as usize >= members.len(),
        }
    }

    fn look(&mut self, index: u32, member: &Document) -> Surveyed {
        let digest = digest(member.source());
        let number = digest.map(|digest| self.digests.add(&digest));
        let same_as = number.and_then(|number| {
            if number == self.firsts.len() {
                self.firsts.push(index);
            }
            Some(self.firsts[number]).filter(|&first| first != index)
        });
        let kernels = member
            .table("kernels")
            .map(|table| self.kernels(index, &*table));
        Surveyed { kernels, same_as }
    }

    /// Takes the kernels of a member. How many there are.
    fn kernels(&mut self, member: u32, table: &dyn Table) -> u32 {
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
            let name = table.cell(row, "name").text(Unit::Text).into_owned();
            let number = self.names.add(name.as_bytes());
            if number == self.texts.len() {
                self.texts.push(name.into());
                self.uses.push(0);
            }
            self.uses[number] += 1;
            let mut numbers = [None; NUMBERS.len()];
            for (into, (_, keys)) in numbers.iter_mut().zip(NUMBERS) {
                *into = keys.iter().find_map(|key| match table.cell(row, key) {
                    Cell::Int(value) => u32::try_from(value).ok(),
                    _ => None,
                });
            }
            self.kernels.push(FoundKernel {
                member,
                row: row as u32,
                name: number as u32,
                numbers,
            });
        }
        count
    }
}

/// Bytes of a member when it is opened, as far as its header says it.
fn size(member: &Member) -> u64 {
    member.size().unwrap_or(member.span.size)
}

/// The MD5 of a file's bytes: enough to tell which members are the same.
fn digest(source: &Source) -> Option<[u8; 16]> {
    let mut context = md5::Context::new();
    let mut at = 0;
    while at < source.size() {
        let window = Span::new(at, CHUNK).clamp(source.size());
        context.consume(source.read(window).ok()?);
        at = window.end();
    }
    Some(context.finalize().0)
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
        match key {
            "name" => (&*self.survey.texts[kernel.name as usize]).into(),
            "target" => {
                let member = contents.members.get(kernel.member as usize);
                member.and_then(|member| member.target.as_deref()).into()
            }
            "path" => contents.path(kernel.member).into(),
            "member" => kernel.member.into(),
            "kernel" => kernel.row.into(),
            key => match NUMBERS.iter().position(|(known, _)| *known == key) {
                Some(at) => kernel.numbers[at].into(),
                None => Cell::None,
            },
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        let kernel = self.survey.kernels.get(row as usize)?;
        self.document.table("members")?.place(kernel.member.into())
    }

    fn target(&self, row: u64) -> Option<Span> {
        let kernel = self.survey.kernels.get(row as usize)?;
        self.document.table("members")?.target(kernel.member.into())
    }
}
