//! An opened file: what it is, what is in it, and the way from any byte to what is known of it.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use serde::Serialize;

use crate::across::AcrossList;
use crate::amdgpu::Directives;
use crate::bank::BankList;
use crate::compatibility::Gpu;
use crate::container::{Contents, Format, Opened, Unpacking, identify};
use crate::coredump::CoredumpList;
use crate::decode::{Decoded, Dumped};
use crate::device::Device;
use crate::elf::check::Check;
use crate::elf::map::{Leaf, Part, Role};
use crate::elf::note::Note;
use crate::elf::patch::Patches;
use crate::elf::{Elf, Image};
use crate::error::{Diagnostic, Diagnostics, Error, Kind, Result, Severity};
use crate::launch::{Inputs, Launch};
use crate::lists::{
    DiagnosticList, GpuList, ImageList, MapList, NoteList, RelocationList, SectionList,
    SegmentList, SymbolList,
};
use crate::members::{ArchList, MemberList};
use crate::missing::{Missing, MissingList};
use crate::nvidia::Code;
use crate::nvidia::bank0::Bank0;
use crate::occupancy::OccupancyAnswer;
use crate::patches::PatchList;
use crate::record::Record;
use crate::registered::{LauncherList, Launchers, Registered, WrapperList};
use crate::rows::{Progress, Table};
use crate::runs::{AnyGpu, Offer, Offers, Set};
use crate::size::{SizeList, Sizes};
use crate::source::Source;
use crate::span::Span;
use crate::survey::{FoundKernelList, Survey, SurveyProgress};
use crate::text::{LineList, Text, TextList};

/// An opened file. Opening reads headers; tables and contents are read when they are asked for.
pub struct Document {
    source: Source,
    format: Format,
    elf: Option<Elf>,
    device: Device,
    dumped: Option<Dumped>,
    notes: Vec<Note>,
    contents: Contents,
    survey: Survey,
    leaves: Vec<Leaf>,
    /// Text for people that is all of the file.
    texts: Vec<Text>,
    findings: Diagnostics,
    check: Check,
    is_checked: bool,
    patches: OnceCell<Patches>,
    registered: OnceCell<Registered>,
    /// What launches which kernel, by how many names of them were known.
    launchers: RefCell<Option<(usize, Rc<Launchers>)>>,
    sizes: OnceCell<Sizes>,
    /// What the survey has found to be missing.
    missing: OnceCell<Missing>,
}

/// A table that a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct TableInfo {
    /// What it is asked for by.
    pub key: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Its rows.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub count: u64,
}

/// What the findings come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Verdict {
    /// The worst finding's severity; `null` without findings.
    pub severity: Option<Severity>,
    /// In words.
    pub text: String,
    /// Whether all checks have run.
    pub is_complete: bool,
}

/// What is to be said of a file in one line, and what can be asked for next.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Summary {
    /// What it is.
    pub format: Format,
    /// What people call that.
    pub format_title: &'static str,
    /// Bytes.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub size: u64,
    /// What it runs on.
    pub target: Option<String>,
    /// Further words of identity: toolkit, code object version, executable or relocatable.
    pub facts: Vec<String>,
    /// What the findings come to.
    pub verdict: Verdict,
    /// The tables that it has.
    pub tables: Vec<TableInfo>,
    /// Whether it is known on which GPUs it runs: whether there is the table `gpus`.
    pub has_gpus: bool,
    /// Of a dump, what can be typed to have it read as something else.
    pub decoded: Option<Decoded>,
}

/// One of the parts that hold a byte.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct PartInfo {
    /// Its name.
    pub name: String,
    /// What its bytes are for.
    pub role: Role,
    /// Its bytes.
    pub span: Span,
    /// The bytes of the header that describes it.
    pub header: Option<Span>,
}

/// What is known of a byte.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Location {
    /// The byte.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub offset: u64,
    /// Its offset in the image, where a held section has it.
    #[serde(serialize_with = "crate::int::serialize_option")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int | null"))]
    pub image_offset: Option<u64>,
    /// The parts that claim it, the nearest first.
    pub parts: Vec<PartInfo>,
    /// The structures that hold it, one for each part that has any.
    pub records: Vec<Record>,
}

/// What is known of a byte of an image.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct ImageLocation {
    /// What the bytes around it belong to.
    pub name: String,
    /// These bytes, counted from the start of the image.
    pub span: Span,
    /// Where in the file it comes from; `null` for a zero that no byte of the file makes.
    #[serde(serialize_with = "crate::int::serialize_option")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int | null"))]
    pub file_offset: Option<u64>,
}

/// A member that is being opened, in steps, with those around it that have to be unpacked for it. It needs the file's [`Document`] no
/// longer.
pub struct Opening {
    next: Next,
    /// What its container says that it is.
    said: Format,
    /// The path from there on.
    rest: Option<Box<str>>,
    /// Packed bytes of what was unpacked on the way.
    done: u64,
    is_verified: bool,
}

enum Next {
    Member(Box<Unpacking>),
    Ready(Option<Box<Document>>),
}

impl Opening {
    /// Goes on until about `budget` bytes more are read or unpacked; the member, once it is open.
    ///
    /// # Errors
    /// If there is no such member, or it cannot be unpacked.
    pub fn step(&mut self, budget: u64) -> Result<Option<Document>> {
        let unpacking = match &mut self.next {
            Next::Ready(ready) => return Ok(ready.take().map(|ready| *ready)),
            Next::Member(unpacking) => unpacking,
        };
        let Some(opened) = unpacking.step(budget)? else {
            return Ok(None);
        };
        let document = Document::of_member(opened, self.said);
        let Some(rest) = self.rest.take() else {
            return Ok(Some(document));
        };
        let done = self.done + unpacking.progress().0;
        let is_verified = self.is_verified;
        *self = document.begin_path(&rest)?;
        self.done = done;
        if is_verified {
            self.verify();
        }
        Ok(None)
    }

    /// Holds members that are not packed against their checksums, too: all of them is read for that.
    pub fn verify(&mut self) {
        self.is_verified = true;
        if let Next::Member(unpacking) = &mut self.next {
            unpacking.verify();
        }
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// Those of [`Opening::step`].
    pub fn finish(mut self) -> Result<Document> {
        loop {
            if let Some(document) = self.step(u64::MAX)? {
                return Ok(document);
            }
        }
    }

    /// How many packed bytes are unpacked, and of how many as far as is known.
    pub fn progress(&self) -> Progress {
        let (done, total) = match &self.next {
            Next::Member(unpacking) => unpacking.progress(),
            Next::Ready(_) => (0, 0),
        };
        Progress {
            done: self.done + done,
            total: self.done + total,
            finished: false,
        }
    }
}

impl Document {
    /// Opens a file. Whatever the bytes are, it opens: what cannot be read is a finding.
    pub fn open(source: Source) -> Self {
        let mut findings = Diagnostics::default();
        let start = source.read_up_to(0, identify::START);
        let format = identify(&findings.take(start).unwrap_or_default());
        Self::open_as(format, source, findings)
    }

    /// Opens a file that is said to be of `format`, with what was found about it so far.
    fn open_as(format: Format, source: Source, mut findings: Diagnostics) -> Self {
        if format == Format::Unknown
            && let Some(dumped) = Dumped::recognise(&source, &mut findings)
        {
            return Self::of_dump(dumped, findings);
        }
        let mut elf = None;
        let mut notes = Vec::new();
        let mut device = Device::None;
        match format {
            Format::Cubin | Format::CudaCoredump | Format::Amdgpu | Format::Elf => {
                let dialect = Device::dialect(format);
                let opened = Elf::open(&source, dialect, &mut findings);
                elf = findings.take(opened);
                if let Some(elf) = &elf {
                    notes = elf.notes(&mut findings);
                    device = Device::open(format, elf, &mut findings);
                }
            }
            Format::Unknown if source.size() == 0 => findings
                .push(Diagnostic::error(Kind::Format, "the file is empty").at(source.absolute(0))),
            Format::Unknown => {
                findings.push(Diagnostic::error(Kind::Format, UNKNOWN).at(source.absolute(0)))
            }
            Format::Ptx => {}
            other if identify::is_container(other) => {}
            other => findings.push(
                Diagnostic::note(
                    Kind::Limit,
                    format!("recognised as {}, which is not taken apart", other.title()),
                )
                .at(source.absolute(0)),
            ),
        }
        let has_members = matches!(format, Format::Elf | Format::CudaCoredump);
        let host = elf.as_ref().filter(|_| has_members);
        let contents = Contents::open(&source, format, host, &mut findings);
        let leaves = Self::leaves_of(&contents, elf.as_ref());
        let whole = Span::new(0, source.size());
        let text = (format == Format::Ptx).then(|| Text::new("PTX", whole));
        Self {
            source,
            format,
            is_checked: elf.is_none(),
            elf,
            device,
            dumped: None,
            notes,
            contents,
            survey: Survey::default(),
            leaves,
            texts: text.into_iter().collect(),
            findings,
            check: Check::default(),
            patches: OnceCell::new(),
            registered: OnceCell::new(),
            launchers: RefCell::default(),
            sizes: OnceCell::new(),
            missing: OnceCell::new(),
        }
    }

    /// Opens bytes that somebody has dumped, as the options say: `as=pushbuffer;class=C6C0`. Whatever the bytes are, it opens.
    pub fn decode(source: Source, options: &str) -> Self {
        let mut findings = Diagnostics::default();
        let dumped = Dumped::read(source, &Inputs::read(options), &mut findings);
        Self::of_dump(dumped, findings)
    }

    fn of_dump(dumped: Dumped, findings: Diagnostics) -> Self {
        Self {
            source: dumped.source.clone(),
            format: dumped.format(),
            elf: None,
            device: Device::None,
            notes: Vec::new(),
            contents: Contents::default(),
            survey: Survey::default(),
            texts: Vec::new(),
            leaves: dumped.leaves(),
            dumped: Some(dumped),
            findings,
            check: Check::default(),
            is_checked: true,
            patches: OnceCell::new(),
            registered: OnceCell::new(),
            launchers: RefCell::default(),
            sizes: OnceCell::new(),
            missing: OnceCell::new(),
        }
    }

    /// Where its bytes come from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// What it is.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Its ELF structures, if it is an ELF file whose header can be read.
    pub fn elf(&self) -> Option<&Elf> {
        self.elf.as_ref()
    }

    /// What it is to a GPU.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What it is read as, if it is a dump.
    pub fn dumped(&self) -> Option<&Dumped> {
        self.dumped.as_ref()
    }

    /// The files that it holds.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Goes on opening the members that are code, for their kernels and for which of them are the same: until about `budget` bytes of
    /// them are read or unpacked, if of a part of one; a budget of 0 only tells how far it has come. Tables of members, architectures and
    /// kernels have what is known so far.
    pub fn survey(&mut self, budget: u64) -> SurveyProgress {
        let mut survey = std::mem::take(&mut self.survey);
        let mut findings = std::mem::take(&mut self.findings);
        let progress = survey.step(self, budget, &mut findings);
        self.survey = survey;
        self.findings = findings;
        self.sizes.take();
        self.missing.take();
        progress
    }

    /// Goes on looking through the file for GPU code that no header tells of: about `budget` bytes more. What is found are members
    /// behind those that are known, called by their offsets.
    pub fn carve(&mut self, budget: u64) -> Progress {
        let total = match self.dumped {
            // All of a dump is known.
            Some(_) => 0,
            None => self.source.size(),
        };
        let mut done = 0;
        if total > 0 {
            let is_all = self.elf.is_none();
            let (source, findings) = (&self.source, &mut self.findings);
            done = self
                .contents
                .carve(source, self.format, is_all, budget, findings);
            self.leaves = Self::leaves_of(&self.contents, self.elf.as_ref());
            self.sizes.take();
            // A file that has code in it may well be of a format of its own.
            if self.format == Format::Unknown && self.contents.has_code() {
                self.findings.note(UNKNOWN);
            }
        }
        Progress {
            done,
            total,
            finished: done >= total,
        }
    }

    fn leaves_of(contents: &Contents, elf: Option<&Elf>) -> Vec<Leaf> {
        match elf {
            Some(elf) => contents.within(&elf.map.leaves),
            None => contents.leaves().to_vec(),
        }
    }

    /// Where the kernel is that a cell of the table `across` is about: the path of its member, and its row in the member's kernels,
    /// which a PTX text does not have.
    pub fn found_kernel(&self, row: u64, column: &str) -> Option<(String, Option<u32>)> {
        let (member, row) = AcrossList::new(&self.survey).kernel(row, column)?;
        Some((self.survey.path(&self.contents, member), row))
    }

    /// Opens the member of that index: a file like any other. What lies in this one as it is keeps its offsets in what was dropped.
    ///
    /// # Errors
    /// If there is no such member, or it cannot be unpacked.
    pub fn open_member(&self, index: u32) -> Result<Self> {
        self.begin_member(index)?.finish()
    }

    /// Begins to open the member of that index.
    ///
    /// # Errors
    /// If there is no such member.
    pub fn begin_member(&self, index: u32) -> Result<Opening> {
        let unpacking = self.contents.begin(&self.source, index)?;
        let member = self.contents.members.get(index as usize);
        Ok(Opening {
            said: member.map_or(Format::Unknown, |member| member.format),
            next: Next::Member(Box::new(unpacking)),
            rest: None,
            done: 0,
            is_verified: false,
        })
    }

    /// Opens the member of that path, names from the outside in with `!/` between, also of members whose own members are known
    /// only when they are unpacked, and of code that nothing tells of, whether the file was looked through for it or not.
    ///
    /// # Errors
    /// If there is no such member, or it cannot be unpacked.
    pub fn open_path(&self, path: &str) -> Result<Self> {
        self.begin_path(path)?.finish()
    }

    /// Begins to open the member of that path.
    ///
    /// # Errors
    /// If there is no such member, as far as that is known already.
    pub fn begin_path(&self, path: &str) -> Result<Opening> {
        if let Some((index, rest)) = self.contents.find(path) {
            let rest = rest.map(Into::into);
            return Ok(Opening {
                rest,
                ..self.begin_member(index)?
            });
        }
        let (name, rest) = match path.split_once("!/") {
            Some((name, rest)) => (name, Some(rest)),
            None => (path, None),
        };
        let found = Contents::carved(&self.source, name);
        let (format, span) = found.ok_or_else(|| {
            let message = format!("there is no member {path:?}");
            Error::from(Diagnostic::error(Kind::Format, message))
        })?;
        let source = self.source.part(span)?;
        let member = Self::open_as(format, source, Diagnostics::default());
        match rest {
            Some(rest) => member.begin_path(rest),
            None => Ok(Opening {
                said: format,
                next: Next::Ready(Some(Box::new(member))),
                rest: None,
                done: 0,
                is_verified: false,
            }),
        }
    }

    /// The member with these bytes, which its container says to be of that format.
    fn of_member(opened: Opened, said: Format) -> Self {
        let mut findings = Diagnostics::default();
        if let Some(finding) = opened.finding {
            findings.push(finding);
        }
        let start = opened.source.read_up_to(0, identify::START);
        let found = identify(&findings.take(start).unwrap_or_default());
        // What has no magic is what its container says.
        let format = match found {
            Format::Unknown if !identify::has_magic(said) => said,
            found => found,
        };
        Self::open_as(format, opened.source, findings)
    }

    /// What it runs on.
    pub fn target(&self) -> Option<String> {
        self.device.target()
    }

    /// GPUs of the families that it has code for, and whether that runs on them; `None` where that is not known.
    pub fn gpu_list(&self) -> Option<GpuList> {
        let offers = match self.device.gpu_list() {
            Some(list) => return Some(list),
            None => self.offers(),
        };
        let gpus = offers.gpus().into_iter().map(|gpu| self.on(&offers, gpu));
        Some(GpuList(gpus.collect())).filter(|list| !list.0.is_empty())
    }

    /// Whether its code runs on the GPU that is asked for, by the family's own names or by a part of its product's name; `None` if
    /// there is no such GPU.
    pub fn runs_on(&self, asked: &str) -> Option<Gpu> {
        match self.device {
            Device::Cubin(_) | Device::CodeObject(_) => {
                // It has no code for GPUs of the other family.
                let other = || Some(Offers::default().on(AnyGpu::named(asked)?, Set::MAX));
                self.device.runs_on(asked).or_else(other)
            }
            _ => Some(self.on(&self.offers(), AnyGpu::named(asked)?)),
        }
    }

    fn on(&self, offers: &Offers, gpu: AnyGpu) -> Gpu {
        let mut found = offers.on(gpu, Set::MAX);
        if let Some(missing) = self.missing() {
            found.missing_kernels = Some(missing.not_running(gpu));
            found.libraries = missing.libraries(gpu);
        }
        found
    }

    /// Which code it is, or its members are.
    pub fn offers(&self) -> Offers {
        match self.format {
            Format::Ptx => Offers::of_ptx(&self.source),
            // What a core dump holds ran already.
            Format::CudaCoredump => Offers::default(),
            _ => Offers::of(&self.contents, &self.survey),
        }
    }

    /// Which of the members' kernels are in what code; `None` for a file that holds no others, and until all of them were opened.
    pub fn missing(&self) -> Option<&Missing> {
        self.contents.some()?;
        let is_known = self.survey.is_finished(self);
        is_known.then(|| {
            self.missing
                .get_or_init(|| Missing::new(self.offers(), self, &self.survey))
        })
    }

    fn missing_list(&self, gpu: Option<AnyGpu>) -> Option<MissingList<'_>> {
        self.contents.some()?;
        Some(MissingList::new(self.missing(), &self.survey, gpu))
    }

    /// What is wrong with how it is packed as a member, which is not what is wrong with itself; `around` is the path of what it lies in,
    /// with what stands before its name.
    pub(crate) fn packing(&self, around: &str) -> Vec<Diagnostic> {
        let packing = self.findings.iter().filter_map(|finding| {
            let path = finding.context.as_deref()?.strip_prefix("member ")?;
            let context = Some(format!("member {around}{path}"));
            Some(Diagnostic {
                context,
                ..finding.clone()
            })
        });
        packing.collect()
    }

    /// The findings so far.
    pub fn findings(&self) -> &Diagnostics {
        &self.findings
    }

    /// Where it begins in the file that was dropped: findings have their offsets from there.
    fn start(&self) -> u64 {
        self.source.absolute(0).unwrap_or(0)
    }

    /// The findings with offsets that count from this file's beginning, as its bytes are shown: it may be a member of another.
    pub fn findings_within(&self) -> Vec<Diagnostic> {
        let mut findings = self.findings.all();
        for finding in &mut findings {
            finding.offset = finding.offset.and_then(|at| at.checked_sub(self.start()));
        }
        findings
    }

    /// Goes on with the checks that read whole tables: about `budget` entries more.
    pub fn check(&mut self, budget: u64) -> Progress {
        let total = self.elf.as_ref().map_or(0, Check::total);
        if !self.is_checked
            && let Some(elf) = &self.elf
            && self.check.step(elf, budget, &mut self.findings)
        {
            self.device.check(elf, &mut self.findings);
            self.is_checked = true;
        }
        Progress {
            done: if self.is_checked {
                total
            } else {
                self.check.done()
            },
            total,
            finished: self.is_checked,
        }
    }

    /// Runs all checks.
    pub fn check_all(&mut self) {
        while !self.check(u64::MAX).finished {}
    }

    /// What the findings come to.
    pub fn verdict(&self) -> Verdict {
        let count = self.findings.len();
        let of = |severity| self.findings.iter().any(move |d| d.severity == severity);
        let loader = |d: &Diagnostic| d.kind == Kind::Loader && d.severity != Severity::Note;
        let error = |kind| {
            let mut findings = self.findings.iter();
            findings.any(move |d| d.kind == kind && d.severity == Severity::Error)
        };
        let severity = [Severity::Error, Severity::Warning, Severity::Note]
            .into_iter()
            .find(|&severity| of(severity));
        let refused = self.findings.iter().any(loader);
        let relocatable = self
            .elf
            .as_ref()
            .is_some_and(|elf| elf.header.is_relocatable());
        let is_device = self.device.is_code();
        // What a library in a wheel has is known once that was unpacked.
        let has_code = self.contents.has_code() || !self.survey.inner().is_empty();
        let state = match severity {
            _ if self.dumped.is_some() && error(Kind::Format) && self.format != Format::Unknown => {
                "damaged"
            }
            _ if self.format == Format::Unknown && has_code => "carries GPU code",
            _ if self.elf.is_none() && self.format == Format::Unknown => "not recognised",
            _ if self.elf.is_none() && self.contents.is_empty() && error(Kind::Format) => {
                "cannot be read"
            }
            _ if error(Kind::Format) => "damaged",
            _ if error(Kind::Limit) => "read in part",
            _ if is_device && relocatable => "must be linked first",
            _ if is_device && refused => "the reference loader refuses it",
            _ if is_device => "loads",
            _ if !matches!(self.device, Device::None) => "core dump",
            _ if has_code => "carries GPU code",
            _ if self.elf.is_some() => "well-formed",
            _ => "recognised",
        };
        let findings = match count {
            0 => "no findings".into(),
            1 => "1 finding".into(),
            count => format!("{count} findings"),
        };
        Verdict {
            severity,
            text: format!("{state} · {findings}"),
            is_complete: self.is_checked,
        }
    }

    /// Further words of identity: toolkit, code object version, executable or relocatable.
    pub fn facts(&self) -> Vec<String> {
        let mut facts = match (&self.device, &self.elf) {
            (Device::None, Some(elf)) => elf.facts(),
            (Device::None, None) => self.dumped.as_ref().map(Dumped::facts).unwrap_or_default(),
            (device, _) => device.facts(),
        };
        let inner = self.survey.inner().iter().map(|inner| &inner.member);
        facts.extend(self.contents.facts(inner));
        facts
    }

    /// What is to be said of it in one line, and what can be asked for next.
    pub fn summary(&self) -> Summary {
        let tables = TABLES.iter().filter_map(|&(key, title)| {
            let count = match key {
                "launchers" => self.launcher_list(self.survey.is_finished(self))?.len(),
                _ => self.table(key)?.len(),
            };
            let always = match key {
                "map" | "diagnostics" | "across" => true,
                // What is missing is known once the members are opened.
                "missing" => self.offers().all().iter().any(Offer::has_kernels),
                _ => false,
            };
            (count > 0 || always).then_some(TableInfo { key, title, count })
        });
        Summary {
            format: self.format,
            format_title: self.format.title(),
            size: self.source.size(),
            target: self.target(),
            facts: self.facts(),
            verdict: self.verdict(),
            tables: tables.collect(),
            has_gpus: matches!(self.device, Device::Cubin(_) | Device::CodeObject(_))
                || !self.offers().all().is_empty(),
            decoded: self.dumped.as_ref().map(|dumped| dumped.decoded.clone()),
        }
    }

    /// What the file registers with a runtime, if it is a host's.
    fn registered(&self, elf: &Elf) -> Option<&Registered> {
        let contents = self.contents.some()?;
        let read = || Registered::read(elf, contents);
        Some(self.registered.get_or_init(read))
    }

    /// What launches which kernel; `with_names` that were found since it was asked for last.
    fn launcher_list(&self, with_names: bool) -> Option<LauncherList<'_>> {
        let elf = self.elf.as_ref()?;
        let registered = self.registered(elf)?;
        let known = self.survey.kernel_names().len();
        let mut launchers = self.launchers.borrow_mut();
        let (_, launchers) = match launchers.take() {
            Some(last) if last.0 == known || !with_names => launchers.insert(last),
            _ => launchers.insert((known, Rc::new(registered.launchers(elf, &self.survey)))),
        };
        Some(LauncherList {
            launchers: launchers.clone(),
            survey: &self.survey,
        })
    }

    /// The table called `key`: one of [`TABLES`]; `gpus`, the GPUs that its code might run on; `size`, what takes how many bytes; or one
    /// of a part: `code/3` has the instructions of kernel 3, `attributes/3` its attributes, `text/0` the lines of the first text, `size/3`
    /// what is directly in row 3 of `size`, `missing/sm_90` kernels and whether they run on that GPU. `None` where the file cannot
    /// have it.
    pub fn table(&self, key: &str) -> Option<Box<dyn Table + '_>> {
        let elf = self.elf.as_ref();
        Some(match key {
            "archs" => Box::new(ArchList::new(self.contents.some()?, &self.survey)),
            "members" => Box::new(MemberList::new(
                self.contents.some()?,
                &self.survey,
                &self.source,
            )),
            "across" => {
                self.contents.members.iter().find(|m| Survey::is_asked(m))?;
                Box::new(AcrossList::new(&self.survey))
            }
            "all_kernels" => {
                self.contents.some()?;
                Box::new(FoundKernelList::new(self, &self.survey))
            }
            "wrappers" => Box::new(WrapperList {
                registered: self.registered(elf?)?,
                contents: &self.contents,
            }),
            "launchers" => Box::new(self.launcher_list(true)?),
            "missing" => Box::new(self.missing_list(None)?),
            "kernels" => self.device.kernel_list()?,
            "calls" => self.device.call_list(elf?)?,
            "sections" => Box::new(SectionList(elf?)),
            "segments" => Box::new(SegmentList(elf?)),
            "symbols" => Box::new(SymbolList::new(elf?)),
            "relocations" => Box::new(RelocationList::new(elf?, true)),
            "other_relocations" => Box::new(RelocationList::new(elf?, false)),
            "image" => Box::new(ImageList {
                elf: elf?,
                image: &elf?.image,
                by_segments: false,
            }),
            "load_image" => Box::new(ImageList {
                elf: elf?,
                image: elf?.load_image.as_ref()?,
                by_segments: true,
            }),
            "texts" => Box::new(TextList {
                source: &self.source,
                texts: Some(self.texts()).filter(|texts| !texts.is_empty())?,
            }),
            "metadata" => self.device.metadata_list()?,
            "printf" => self.device.printf_list()?,
            "notes" => Box::new(NoteList {
                elf: elf?,
                notes: &self.notes,
            }),
            "map" => Box::new(MapList(self)),
            "gpus" => Box::new(self.gpu_list()?),
            "size" => Box::new(self.size_list()?),
            "diagnostics" => Box::new(DiagnosticList {
                findings: self.findings.all(),
                start: self.start(),
            }),
            key if let Some(list) = self.coredump_list(key) => Box::new(list),
            key => {
                return match &self.dumped {
                    Some(dumped) => dumped.table(key),
                    None => self.table_of(key),
                };
            }
        })
    }

    /// What takes how many bytes, of files that have sections or members.
    fn size_list(&self) -> Option<SizeList<'_>> {
        if self.elf.is_none() {
            self.contents.some()?;
        }
        let sizes = self.sizes.get_or_init(|| Sizes::new(self, &self.survey));
        Some(SizeList::new(self, &self.survey, sizes))
    }

    /// A table of one kernel or text, or for one address: `code/3`, `patches/0x7f0000000000`.
    fn table_of(&self, key: &str) -> Option<Box<dyn Table + '_>> {
        let (table, of) = key.split_once('/')?;
        let index = of.parse().ok();
        Some(match table {
            // `across/8`: the 8 with the most registers.
            "across" => {
                let most = index.filter(|&most| most <= ACROSS_LIMIT)?;
                Box::new(AcrossList::first(&self.survey, most))
            }
            "missing" => Box::new(self.missing_list(Some(AnyGpu::named(of)?))?),
            "attributes" => return self.device.attribute_list(self.elf.as_ref()?, index?),
            "code" => return self.device.instruction_list(self.elf.as_ref()?, index?),
            "size" => Box::new(self.size_list()?.within(index? as u32)?),
            "text" => Box::new(LineList::new(&self.source, self.texts().get(index?)?)),
            "bank0" => Box::new(BankList {
                elf: self.elf()?,
                bank: self.bank0(index?)?,
            }),
            "patches" => Box::new(PatchList::new(self.elf()?, self.patches()?, address(of)?)),
            _ => return None,
        })
    }

    /// A table of a core dump: such as `lanes`, or `lane/3`, what there is of thread 3.
    fn coredump_list(&self, key: &str) -> Option<CoredumpList<'_>> {
        match (&self.device, &self.elf) {
            (Device::Coredump(dump), Some(elf)) => {
                CoredumpList::new(dump, elf, &self.contents, key)
            }
            _ => None,
        }
    }

    /// Constant bank 0 of the kernel of that index in the table of kernels; `None` where it has no such bank.
    pub fn bank0(&self, kernel: usize) -> Option<Bank0> {
        match (&self.device, &self.elf) {
            (Device::Cubin(cubin), Some(elf)) => {
                Some(Bank0::new(elf, cubin, cubin.kernels.get(kernel)?))
            }
            _ => None,
        }
    }

    /// The descriptor of the kernel of that index as text for LLVM's assembler; `None` where kernels have none.
    ///
    /// # Errors
    /// If its bytes cannot be read.
    pub fn directives(&self, kernel: usize) -> Result<Option<Directives>> {
        match (&self.device, &self.elf) {
            (Device::CodeObject(object), Some(elf)) => {
                let kernel = object.kernels.get(kernel);
                kernel
                    .map(|kernel| object.directives(elf, kernel))
                    .transpose()
            }
            _ => Ok(None),
        }
    }

    /// What a dispatch passes to the kernel of that index of a code object, argument by argument: a record that no file
    /// has the bytes of. `None` where kernels are passed no such segment.
    pub fn kernarg(&self, kernel: usize) -> Option<Record> {
        self.device.kernarg(kernel)
    }

    /// What a launch of the kernel of that index hands to the GPU, for what was typed: `grid=4096;block=256`.
    /// `None` where there is no such kernel, or nothing is known of its GPU.
    pub fn launch(&self, kernel: usize, inputs: &str) -> Option<Launch> {
        let elf = self.elf.as_ref()?;
        self.device.launch(elf, kernel, &Inputs::read(inputs))
    }

    /// How many blocks or workgroups of a launch of that kernel a unit of the GPU holds at once, for what was typed.
    pub fn occupancy(&self, kernel: usize, inputs: &str) -> Option<OccupancyAnswer> {
        self.device.occupancy(kernel, &Inputs::read(inputs))
    }

    /// Text for people that is in it: the source that it was made from.
    pub fn texts(&self) -> &[Text] {
        match self.texts.as_slice() {
            [] => self.device.texts(),
            texts => texts,
        }
    }

    /// The code of the kernel of that index, where its encoding is known.
    pub fn code(&self, kernel: usize) -> Option<Code<'_>> {
        self.device.code(self.elf.as_ref()?, kernel)
    }

    /// What a loader writes over the image; `None` where no such loader is known.
    pub fn patches(&self) -> Option<&Patches> {
        let elf = self.elf.as_ref().filter(|elf| elf.dialect.has_loader)?;
        Some(self.patches.get_or_init(|| Patches::read(elf)))
    }

    /// Fills `into` with the bytes of an image from `offset` on; with those of one that is loaded at `base`, if
    /// that is given and the loader is known.
    ///
    /// # Errors
    /// Those of [`Source::read_into`].
    pub fn read_image(
        &self,
        by_segments: bool,
        base: Option<u64>,
        offset: u64,
        into: &mut [u8],
    ) -> Result<()> {
        let (Some(elf), Some(image)) = (&self.elf, self.image(by_segments)) else {
            return Ok(());
        };
        image.read_into(&self.source, offset, into)?;
        // Patches count in one of the images.
        if let (Some(base), Some(patches)) = (base, self.patches())
            && std::ptr::eq(image, elf.main_image())
        {
            patches.apply(base, offset, into);
        }
        Ok(())
    }

    /// The leaves of the map: every byte of the file is in exactly one.
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// What people call the part that `leaf` is.
    pub fn label(&self, leaf: &Leaf) -> String {
        match (leaf.part, &self.elf, &self.dumped) {
            (Part::Contained(_), ..) => self.contents.label(leaf.part),
            (part, Some(elf), _) => elf.part_label(part),
            (_, _, Some(dumped)) => dumped.label(leaf.span.offset),
            (part, ..) => self.contents.label(part),
        }
    }

    /// What the bytes of `leaf` are for.
    pub fn role(&self, leaf: &Leaf) -> Role {
        match (leaf.part, &self.elf, &self.dumped) {
            (Part::Contained(_), ..) => self.contents.role(leaf.part),
            (part, Some(elf), _) => elf.part_role(part),
            (_, _, Some(dumped)) => dumped.role(leaf.span.offset),
            (part, ..) => self.contents.role(part),
        }
    }

    /// The images, by the reference ABI's rule and by the program headers.
    pub fn images(&self) -> (Option<&Image>, Option<&Image>) {
        (self.image(false), self.image(true))
    }

    /// The image by the program headers, or by the reference ABI's rule.
    pub fn image(&self, by_segments: bool) -> Option<&Image> {
        self.elf.as_ref()?.image_of(by_segments)
    }

    /// What is at `offset` of an image; `None` past its end.
    pub fn locate_in_image(&self, by_segments: bool, offset: u64) -> Option<ImageLocation> {
        let elf = self.elf.as_ref()?;
        let (part, span) = elf.image_part_at(by_segments, offset)?;
        let stored = elf.image_of(by_segments)?.stored_from(offset);
        Some(ImageLocation {
            name: elf.part_label(part),
            span,
            file_offset: stored.map(|span| span.offset),
        })
    }

    /// What is known of the byte at `offset`.
    pub fn locate(&self, offset: u64) -> Location {
        let mut location = Location {
            offset,
            image_offset: None,
            parts: Vec::new(),
            records: Vec::new(),
        };
        if let Some(dumped) = &self.dumped {
            (location.parts, location.records) = dumped.locate(offset);
            if !location.parts.is_empty() {
                return location;
            }
        }
        self.locate_contained(&mut location);
        let Some(elf) = &self.elf else {
            return location;
        };
        let mut parts = elf.map.parts_at(offset);
        parts.truncate(PARTS_LIMIT);
        let leaf = elf.map.leaf_at(offset);
        if parts.is_empty() {
            parts.extend(leaf.map(|leaf| leaf.part));
        }
        for part in parts {
            let (span, header) = self.extent(elf, part, leaf);
            location.parts.push(PartInfo {
                name: elf.part_label(part),
                role: elf.part_role(part),
                span,
                header,
            });
            let record = match self.device.record_in(elf, part, offset) {
                Ok(Some(record)) => Ok(Some(record)),
                _ => elf.record_in(part, offset),
            };
            if let Ok(Some(record)) = record {
                // Parts that lie in each other know of the same structure.
                let mut known = location.records.iter();
                if !known.any(|known| known.span == record.span && known.name == record.name) {
                    location.records.push(record);
                }
            }
            if let Part::Section(index) = part
                && let Some(piece) = elf.image.piece_of_section(index)
                && location.image_offset.is_none()
            {
                location.image_offset = Some(piece.offset + (offset - piece.stored.offset));
            }
        }
        location
    }

    /// What is known of a byte that is of a member, or of a structure that describes one.
    fn locate_contained(&self, location: &mut Location) {
        let contents = &self.contents;
        let mut parts = contents.parts_at(location.offset);
        parts.truncate(PARTS_LIMIT);
        let leaf = contents.leaf_at(location.offset);
        if parts.is_empty() && self.elf.is_none() {
            parts.extend(leaf.map(|leaf| leaf.part));
        }
        for part in parts {
            let span = leaf.map_or(Span::default(), |leaf| leaf.span);
            let (span, header) = contents.extent(part).unwrap_or((span, None));
            location.parts.push(PartInfo {
                name: contents.label(part),
                role: contents.role(part),
                span,
                header,
            });
            if let Ok(Some(record)) = contents.record(&self.source, part) {
                location.records.push(record);
            }
        }
    }

    /// The bytes of a part, and of the header that describes it.
    fn extent(&self, elf: &Elf, part: Part, leaf: Option<&Leaf>) -> (Span, Option<Span>) {
        let span = match part {
            Part::Header => elf.header.span(),
            Part::Sections => elf.section_table.map_or(Span::default(), |t| t.span()),
            Part::Segments => elf.segment_table.map_or(Span::default(), |t| t.span()),
            Part::Section(index) => {
                let section = elf.section(index);
                section.map_or(Span::default(), |s| elf.stored(s))
            }
            Part::Segment(index) => {
                let segment = elf.segments.get(index as usize);
                segment.map_or(Span::default(), |s| s.span().clamp(self.source.size()))
            }
            Part::Symbols(i) => {
                let table = elf.symbol_tables.get(i as usize);
                table.map_or(Span::default(), |t| t.table.span())
            }
            Part::Strings(i) => {
                let table = elf.symbol_tables.get(i as usize);
                table.map_or(Span::default(), |t| t.strings)
            }
            Part::Relocations(i) => {
                let table = elf.relocation_tables.get(i as usize);
                table.map_or(Span::default(), |t| t.table.span())
            }
            Part::Dumped | Part::Contained(_) | Part::Padding | Part::Unclaimed | Part::Unread => {
                leaf.map_or(Span::default(), |leaf| leaf.span)
            }
        };
        let header = match part {
            Part::Section(index) => elf.section_table.map(|t| t.entry(index.into())),
            Part::Segment(index) => elf.segment_table.map(|t| t.entry(index.into())),
            _ => None,
        };
        (span, header)
    }
}

/// An address in hexadecimal digits, with `0x` before them or not.
pub fn address(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let digits = digits.unwrap_or(text);
    let is_plain = digits.bytes().all(|c| c.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| is_plain)
}

/// What is said of a file that nothing tells the format of.
const UNKNOWN: &str = "no format that is known begins like this: expected an NVIDIA cubin, an AMD code object, another ELF file, or \
                       what these travel in";

/// Parts of a byte that are told, at most; a malformed file can claim it by every section.
const PARTS_LIMIT: usize = 16;

/// Kernels that a table `across/8` has, at most.
const ACROSS_LIMIT: usize = 1000;

/// The tables that files have, and what people call them, in the order in which they are shown.
pub const TABLES: &[(&str, &str)] = &[
    ("exceptions", "Exceptions"),
    ("lanes", "Threads"),
    ("frames", "Call stacks"),
    ("warps", "Warps"),
    ("ctas", "Blocks"),
    ("sms", "SMs"),
    ("grids", "Grids"),
    ("banks", "Constant banks"),
    ("modules", "Modules"),
    ("contexts", "Contexts"),
    ("devices", "Devices"),
    ("memory", "Memory"),
    ("archs", "Architectures"),
    ("members", "Members"),
    ("across", "Kernels across members"),
    ("all_kernels", "Kernels of all members"),
    ("wrappers", "Registered wrappers"),
    ("launchers", "Registered kernels"),
    ("missing", "Missing kernels"),
    ("kernels", "Kernels"),
    ("methods", "Methods"),
    ("qmds", "Launch descriptors"),
    ("launches", "Launches"),
    ("compare", "Comparison"),
    ("gpfifo", "GPFIFO entries"),
    ("packets", "Packets"),
    ("sections", "Sections"),
    ("segments", "Segments"),
    ("symbols", "Symbols"),
    ("calls", "Calls"),
    ("relocations", "Relocations"),
    ("other_relocations", "Other relocations"),
    ("image", "Image"),
    ("load_image", "Image by segments"),
    ("notes", "Notes"),
    ("metadata", "Metadata"),
    ("printf", "Calls of printf"),
    ("texts", "Text"),
    ("map", "Map"),
    ("diagnostics", "Findings"),
];
