//! Bytes that somebody has dumped of a launch: launch descriptors, pushbuffers, GPFIFO entries, AQL packets.
//!
//! Such bytes have no header that says what they are. What they can be read as is typed: `as=pushbuffer;class=C6C0`, the
//! same [`Inputs`] as a launch's; what is not typed is told from the bytes.

use serde::Serialize;

use crate::amdgpu::aql;
use crate::container::Format;
use crate::document::PartInfo;
use crate::dump::{self, ByteOrder, Dump};
use crate::elf::map::{Leaf, Part, Role};
use crate::error::{Diagnostic, Diagnostics, Kind, Severity};
use crate::launch::{Ask, Choice, Form, Input, Inputs, Problem, shown};
use crate::nvidia::gpfifo::{self, Gpfifo};
use crate::nvidia::methods::{Class, Engine};
use crate::nvidia::pushbuffer::{Burst, KEPT, Op, Pushbuffer, Reading, Upload};
use crate::nvidia::qmd::{self, Version};
use crate::order;
use crate::record::Record;
use crate::source::Source;
use crate::span::Span;

/// What was typed for a dump, and what is to be said of it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Decoded {
    /// What can be typed.
    pub inputs: Vec<Input>,
    /// What is to be said about what was typed.
    pub problems: Vec<Problem>,
}

/// A launch descriptor that a dump has.
pub struct Found {
    /// Its version.
    pub version: &'static Version,
    /// Where its bytes are, in their order: in a pushbuffer it may be written in pieces.
    pub runs: Vec<Span>,
    /// Where it is written to, if a pushbuffer says so.
    pub address: Option<u64>,
    /// How it was found.
    pub from: &'static str,
}

/// What a dump is read as.
pub enum Contents {
    /// Nothing that is known.
    Nothing,
    /// Launch descriptors, one behind the other.
    Descriptors,
    /// Methods.
    Pushbuffer(Box<Pushbuffer>),
    /// Where pushbuffers are.
    Gpfifo(Gpfifo),
    /// Packets of a queue, so many.
    Packets(u64),
}

/// A dump that is read as something.
pub struct Dumped {
    /// What can be typed for it.
    pub decoded: Decoded,
    /// What it is read as.
    pub contents: Contents,
    /// The launch descriptors in it.
    pub descriptors: Vec<Found>,
    /// Where the pieces of descriptors are, in their order, each with the descriptor's number.
    pieces: Vec<(Span, u32)>,
    /// The numbers of the descriptors by the address that they are written to.
    by_address: Vec<u32>,
    /// Its bytes: those of a text are what the text says.
    pub source: Source,
}

/// What a dump can be read as: what is typed for it, and what people call it.
const FORMS: &[(&str, &str)] = &[
    ("auto", "what it looks like"),
    ("qmd", "launch descriptor (QMD)"),
    ("pushbuffer", "pushbuffer"),
    ("gpfifo", "GPFIFO entries"),
    ("aql", "AQL packets"),
];

/// Bytes of a packet of a queue.
const PACKET: u64 = 64;
/// Bytes of launch descriptors in a dump, at most; what is behind them is not taken apart.
const DESCRIPTORS: u64 = 16 << 20;
/// Bytes at the beginning of a pushbuffer that are read first, to know what it is.
const SAMPLE: u64 = 1 << 20;
/// Bytes of a piece of a descriptor that is a part of the map, at least.
const PIECE: u64 = 16;
/// Launch descriptors and packets that are checked, at most.
const CHECKED: usize = 4096;
/// Bursts that are parts of the map each; of more, stretches of them are.
const LEAVES: u64 = 1 << 16;
/// The heading of all that can be typed.
const GROUP: &str = "Decode";

/// The class that runs launch descriptors of a version, from which what a pushbuffer is for follows where nothing else says it.
const CLASSES: &[(&str, u16)] = &[
    ("02.01", 0xc1c0),
    ("02.02", 0xc3c0),
    ("02.03", 0xc5c0),
    ("02.04", 0xc6c0),
    ("03.00", 0xc6c0),
    ("04.00", 0xcbc0),
    ("04.01", 0xcdc0),
    ("05.00", 0xcec0),
    ("05.01", 0xcec0),
];
/// What says the class where it is one that is bound.
const BOUND: &str = "as SET_OBJECT says";
/// The class where nothing at all says it.
const COMMON: u16 = 0xc6c0;

impl Dumped {
    /// Reads `source` as `inputs` say.
    ///
    /// What is wrong with it goes to `findings`.
    pub fn read(source: Source, inputs: &Inputs, findings: &mut Diagnostics) -> Self {
        let mut form = Form::new(inputs);
        let choices = FORMS.iter().map(|&(key, label)| choice(key, label));
        let asked = choose(
            &mut form,
            ask("as", "Read as", ""),
            choices.collect(),
            "auto",
        );
        let asked = FORMS
            .iter()
            .find(|(key, _)| *key == asked)
            .map_or("auto", |form| form.0);
        let (source, bursts) = unwrapped(source, &mut form, findings);
        let mut chained = None;
        let asked = match asked {
            "auto" if !bursts.is_empty() => "qmd",
            "auto" => {
                let told = recognised(&source);
                chained = told.err();
                told.unwrap_or_default()
            }
            asked => asked,
        };
        if let (Some(input), Some((_, label))) = (
            form.inputs
                .first_mut()
                .filter(|input| input.value == "auto"),
            FORMS.iter().find(|(key, _)| *key == asked),
        ) {
            input.note = format!("read as {label}");
        }
        let mut dumped = Self {
            decoded: Decoded {
                inputs: Vec::new(),
                problems: Vec::new(),
            },
            contents: Contents::Nothing,
            descriptors: Vec::new(),
            pieces: Vec::new(),
            by_address: Vec::new(),
            source,
        };
        match asked {
            "qmd" => {
                let sizes = bursts.iter().map(|burst| burst.bytes.len() as u64);
                let apart = match form.typed("lengths") {
                    Some(typed) => typed
                        .split(',')
                        .filter_map(|size| size.parse().ok())
                        .collect(),
                    None => sizes.collect::<Vec<u64>>(),
                };
                dumped.read_descriptors(&mut form, &apart, findings);
                let bursts = bursts.iter().filter(|burst| !burst.bytes.is_empty());
                let printed = dumped.descriptors.iter_mut().zip(bursts);
                printed.for_each(|(found, burst)| found.address = burst.address);
            }
            "pushbuffer" => dumped.read_pushbuffer(&mut form, findings),
            "gpfifo" => dumped.read_gpfifo(&mut form, findings),
            "aql" => dumped.read_packets(findings),
            _ => {
                findings.push(
                    Diagnostic::error(
                        Kind::Format,
                        "nothing of a launch looks like this; say what it is to be read as",
                    )
                    .expected(
                        "a launch descriptor of 256, 384 or 512 bytes with a version, headers of methods one behind the other, \
                         or AQL packets of 64 bytes",
                        format_args!(
                            "{} bytes, which are headers of methods up to byte {}",
                            dumped.source.size(),
                            chained.unwrap_or(0)
                        ),
                    )
                    .at(dumped.source.absolute(0)),
                );
            }
        }
        dumped.order();
        for found in dumped.descriptors.iter().take(CHECKED) {
            for mut finding in qmd::findings(found.version, &dumped.bytes_of(found), 0) {
                finding.offset = finding.offset.and_then(|offset| found.offset(offset));
                findings.push(finding);
            }
        }
        let count = match &dumped.contents {
            &Contents::Packets(count) => count,
            _ => dumped.descriptors.len() as u64,
        };
        if count > CHECKED as u64 {
            let text = format!("what is behind the first {CHECKED} is not checked");
            findings.push(Diagnostic::note(Kind::Limit, text));
        }
        dumped.decoded = Decoded {
            inputs: form.inputs,
            problems: form.problems,
        };
        dumped
    }

    /// Reads a file that no format has a name for, if it can be nothing else than a dump.
    pub fn recognise(source: &Source, findings: &mut Diagnostics) -> Option<Self> {
        let mut unheard = Diagnostics::default();
        let inputs = Inputs::default();
        let size = source.size();
        let is_descriptor = || said(source, Span::new(0, size)).is_some();
        if !(is_dump_as_text(source) || matches!(size, 256 | 384 | 512) && is_descriptor()) {
            return None;
        }
        let dumped = Self::read(source.clone(), &inputs, &mut unheard);
        if matches!(dumped.contents, Contents::Nothing) {
            return None;
        }
        unheard
            .all()
            .into_iter()
            .for_each(|finding| findings.push(finding));
        Some(dumped)
    }

    /// Reads launch descriptors; `apart` has how long each is of those that were dumped by themselves.
    fn read_descriptors(&mut self, form: &mut Form<'_>, apart: &[u64], findings: &mut Diagnostics) {
        let size = self.source.size();
        let bytes = self.source.read_up_to(0, DESCRIPTORS);
        let bytes = findings.take(bytes).unwrap_or_default();
        if size > DESCRIPTORS {
            let text =
                format!("launch descriptors behind the first {DESCRIPTORS} bytes are not read");
            findings
                .push(Diagnostic::error(Kind::Limit, text).at(self.source.absolute(DESCRIPTORS)));
        }
        let told = match apart {
            [_, _, ..] => self::apart(&bytes, apart),
            _ => sequence(&bytes),
        };
        let candidates = match told.first() {
            Some(&(version, span)) => match bytes.get(..span.size as usize) {
                Some(one) if exact(one).is_none() => qmd::detect(one),
                _ => vec![(version, "")],
            },
            None => qmd::detect(&bytes),
        };
        // Descriptors that were dumped apart are none of twice the length.
        let one = if apart.len() > 1 { &[] } else { &*bytes };
        let version = ask_version(form, &candidates, one, findings);
        let each = match version {
            Some(version) if apart.len() > 1 => {
                told.into_iter().map(|(_, span)| (version, span)).collect()
            }
            Some(version) => chunks(bytes.len(), version),
            None if told.is_empty() => match candidates.first() {
                Some((version, _)) => vec![(*version, Span::new(0, bytes.len() as u64))],
                None => Vec::new(),
            },
            None => told,
        };
        let found = each.into_iter().map(|(version, span)| Found {
            version,
            runs: vec![span],
            address: None,
            from: "dump",
        });
        self.descriptors = found.collect();
        self.contents = Contents::Descriptors;
    }

    fn read_pushbuffer(&mut self, form: &mut Form<'_>, findings: &mut Diagnostics) {
        let whole = Span::new(0, self.source.size());
        let typed_class = form.typed("class").and_then(class);
        let typed_host = form.typed("host").and_then(host);
        let reading = |number: u16| {
            let class = Class::get(number);
            let host = typed_host.unwrap_or_else(|| class.map_or(0, |class| class.host().number));
            Reading::new(host, number, typed_class.is_some())
        };
        let typed_version = form.typed("version").and_then(Version::get);
        let read = |span, class| {
            let mut findings = Diagnostics::default();
            let pushbuffer = Pushbuffer::read(&self.source, span, reading(class), &mut findings);
            (pushbuffer, findings)
        };
        // What is said within counts for what nothing is said of; mostly it is said at the beginning.
        let mut told =
            typed_class.map(|class| (class, "of subchannels that no SET_OBJECT gives a class"));
        if told.is_none() {
            told = self.class_within(&read(whole.clamp(SAMPLE), COMMON).0);
        }
        let known = told.map_or(COMMON, |(class, _)| class);
        let (mut pushbuffer, mut said) = read(whole, known);
        if told.is_none() {
            told = self.class_within(&pushbuffer);
            if let Some((class, _)) = told
                && class != known
            {
                (pushbuffer, said) = read(whole, class);
            }
        }
        let (used, note) =
            told.unwrap_or((COMMON, "nothing says which class it is; choose another one"));
        let mut note = note.to_owned();
        if note == BOUND && pushbuffer.unbound != 0 {
            note.push_str(" for another subchannel");
        }
        if typed_class.is_none() && pushbuffer.unbound & 1 << 4 != 0 {
            let copy = label(reading(used).copy);
            note.push_str(&format!(
                "; subchannel 4 is read as class {copy}, since copies go there by convention"
            ));
        }
        said.all()
            .into_iter()
            .for_each(|finding| findings.push(finding));
        let classes = Class::all()
            .iter()
            .filter(|class| class.engine() != Engine::Host);
        let classes: Vec<_> = classes.map(class_choice).collect();
        choose(form, ask("class", "Class", &note), classes, &label(used));
        self.ask_host(form, reading(used).host);
        for upload in &pushbuffer.uploads {
            let detected = self.version_of(upload);
            let fits = typed_version.filter(|version| version.bytes as u64 == upload.size());
            let version = fits.or(detected
                .filter(|(_, is_said)| *is_said || upload.is_inline)
                .map(|(version, _)| version));
            let Some(version) = version else {
                continue;
            };
            self.descriptors.push(Found {
                version,
                runs: upload.runs.clone(),
                address: Some(upload.address),
                from: match upload.is_inline {
                    true => "inline descriptor",
                    false => "inline data",
                },
            });
        }
        if !self.descriptors.is_empty() {
            let versions: Vec<_> = qmd::VERSIONS.iter().map(version_choice).collect();
            let version = self.descriptors[0].version.key;
            let note = "of launch descriptors that are as long";
            choose(form, ask("version", "Version", note), versions, version);
        }
        if pushbuffer.uploads.len() >= KEPT || pushbuffer.sent.len() >= KEPT {
            let text =
                format!("launch descriptors and launches behind the first {KEPT} are not listed");
            findings.push(Diagnostic::warning(Kind::Limit, text));
        }
        self.contents = Contents::Pushbuffer(Box::new(pushbuffer));
    }

    /// The class that something in a pushbuffer says, and what: one that is bound, or the version of a descriptor.
    fn class_within(&self, pushbuffer: &Pushbuffer) -> Option<(u16, &'static str)> {
        let of = |engine| move |class: &&'static Class| class.engine() == engine;
        let bound = |engine| {
            let mut bound = pushbuffer
                .bound
                .iter()
                .filter_map(|bound| Class::get(*bound));
            bound.find(of(engine))
        };
        if let Some(class) = bound(Engine::Compute) {
            return Some((class.number, BOUND));
        }
        if let Some(copy) = bound(Engine::Copy) {
            let mut classes = Class::all().iter().filter(of(Engine::Compute));
            let class = classes.find(|class| class.host().number == copy.host().number)?;
            return Some((
                class.number,
                "of the GPUs that have the class of copies that is bound",
            ));
        }
        let mut versions = pushbuffer
            .uploads
            .iter()
            .filter_map(|upload| self.version_of(upload));
        let (version, _) = versions.find(|(_, is_said)| *is_said)?;
        let (_, class) = CLASSES.iter().find(|(key, _)| *key == version.key)?;
        Some((*class, "by the version of a launch descriptor"))
    }

    /// The version that an upload says that it is of, or may be of, and whether it says it.
    fn version_of(&self, upload: &Upload) -> Option<(&'static Version, bool)> {
        let bytes = joined(&self.source, &upload.runs);
        match exact(&bytes) {
            Some(version) => Some((version, true)),
            None => Some((qmd::detect(&bytes).first()?.0, false)),
        }
    }

    fn read_gpfifo(&mut self, form: &mut Form<'_>, findings: &mut Diagnostics) {
        let host = self.ask_host(form, 0xc56f);
        let whole = Span::new(0, self.source.size());
        self.contents = Contents::Gpfifo(Gpfifo::read(&self.source, whole, host, findings));
    }

    /// Asks for the host; hands out the one that counts.
    fn ask_host(&self, form: &mut Form<'_>, default: u16) -> u16 {
        let mut choices: Vec<_> = HOSTS
            .iter()
            .map(|(number, name)| choice(&label(*number), name))
            .collect();
        let hosts = Class::all()
            .iter()
            .filter(|class| class.engine() == Engine::Host);
        choices.extend(hosts.map(class_choice));
        let note = "of methods below 0x100, and of the form of headers and of GPFIFO entries";
        let chosen = choose(form, ask("host", "Host", note), choices, &label(default));
        host(&chosen).unwrap_or(0)
    }

    fn read_packets(&mut self, findings: &mut Diagnostics) {
        let size = self.source.size();
        let count = size / PACKET;
        if size == 0 {
            findings.push(
                Diagnostic::error(Kind::Format, "there is no packet")
                    .expected("64 bytes each", "0 bytes")
                    .at(self.source.absolute(0)),
            );
        }
        if count * PACKET < size {
            findings.push(
                Diagnostic::error(Kind::Format, "the queue ends within a packet")
                    .expected("a multiple of 64 bytes", size)
                    .at(self.source.absolute(count * PACKET)),
            );
        }
        for index in 0..count.min(CHECKED as u64) {
            let span = Span::new(index * PACKET, PACKET);
            let Ok(bytes) = self.source.read(span) else {
                break;
            };
            aql::check(&bytes, span.offset, findings);
        }
        self.contents = Contents::Packets(count);
    }

    /// What it is.
    pub fn format(&self) -> Format {
        match self.contents {
            Contents::Nothing => Format::Unknown,
            Contents::Descriptors => Format::Qmd,
            Contents::Pushbuffer(_) => Format::Pushbuffer,
            Contents::Gpfifo(_) => Format::Gpfifo,
            Contents::Packets(_) => Format::Aql,
        }
    }

    /// Words of identity.
    pub fn facts(&self) -> Vec<String> {
        let mut facts = Vec::new();
        match &self.contents {
            Contents::Nothing => {}
            Contents::Descriptors => {
                if let Some(found) = self.descriptors.first() {
                    facts.push(format!("version {}", found.version.key));
                    let record = self.record_of(0);
                    if let (Some(grid), Some(block)) = (grid(&record), block(&record)) {
                        facts.push(format!("grid {grid}, block {block}"));
                    }
                }
                if self.descriptors.len() > 1 {
                    facts.push(format!("{} launch descriptors", self.descriptors.len()));
                }
            }
            Contents::Pushbuffer(pushbuffer) => {
                facts.push(counted(pushbuffer.bursts(), "burst"));
                let count = self.descriptors.len() as u64;
                if count > 0 {
                    facts.push(counted(count, "launch descriptor"));
                }
                if !pushbuffer.sent.is_empty() {
                    let count = pushbuffer.sent.len() as u64;
                    facts.push(match count {
                        1 => "1 launch".into(),
                        count => format!("{count} launches"),
                    });
                }
            }
            Contents::Gpfifo(gpfifo) => facts.push(match gpfifo.len() {
                1 => "1 entry".into(),
                count => format!("{count} entries"),
            }),
            Contents::Packets(count) => facts.push(counted(*count, "packet")),
        }
        facts
    }

    /// The leaves of its map.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut spans = Vec::new();
        match &self.contents {
            Contents::Nothing => {}
            Contents::Descriptors => {}
            Contents::Pushbuffer(pushbuffer) if pushbuffer.bursts() > LEAVES => {
                spans.extend(pushbuffer.stretches());
            }
            Contents::Pushbuffer(pushbuffer) => {
                for (index, _) in (0..).zip(pushbuffer.stretches()) {
                    spans.extend(pushbuffer.stretch(index).iter().map(Burst::span));
                }
            }
            Contents::Gpfifo(gpfifo) => {
                spans.push(Span::new(0, gpfifo.len() * gpfifo::SIZE));
            }
            Contents::Packets(count) => {
                spans.push(Span::new(0, count * PACKET));
            }
        }
        // Launch descriptors lie within what writes them.
        let inner = self.pieces.iter().map(|piece| piece.0);
        let inner = inner.filter(|run| run.size >= PIECE);
        let mut leaves = Vec::new();
        let mut at = 0;
        let mut inner = inner.peekable();
        let mut push = |end: u64, part: Part| {
            if end > at {
                leaves.push(Leaf {
                    span: Span::new(at, end - at),
                    part,
                    is_shared: false,
                });
                at = end;
            }
            at
        };
        for span in spans {
            let mut reached = push(span.offset, Part::Unclaimed);
            while let Some(run) = inner.next_if(|run| run.offset < span.end()) {
                if run.offset < reached {
                    continue;
                }
                push(run.offset, Part::Dumped);
                reached = push(run.end(), Part::Dumped);
            }
            push(span.end(), Part::Dumped);
        }
        for run in inner {
            push(run.offset, Part::Unclaimed);
            push(run.end(), Part::Dumped);
        }
        push(self.source.size(), Part::Unclaimed);
        leaves
    }

    /// Puts the pieces and the addresses of descriptors in order.
    fn order(&mut self) {
        for (found, index) in self.descriptors.iter().zip(0..) {
            let runs = found.runs.iter();
            self.pieces.extend(runs.map(|run| (*run, index)));
        }
        order::arrange(&mut self.pieces, |piece| piece.0.offset);
        let address = |index: usize| self.descriptors[index].address.unwrap_or(0);
        self.by_address = order::by_key(self.descriptors.len(), &address);
    }

    /// The launch descriptor that has the byte at `offset`, by its number.
    fn descriptor_at(&self, offset: u64) -> Option<usize> {
        let next = self
            .pieces
            .partition_point(|piece| piece.0.offset <= offset);
        let (span, index) = self.pieces.get(next.checked_sub(1)?)?;
        span.contains(offset).then_some(*index as usize)
    }

    /// The descriptor that is written to `address`, by its number: the last one before `offset`, else the first one behind it.
    pub fn descriptor_of(&self, address: u64, offset: u64) -> Option<usize> {
        let found = |index: &u32| &self.descriptors[*index as usize];
        let begins = |index: &u32| found(index).runs.first().map_or(0, |run| run.offset);
        let of = |index: &u32| found(index).address.unwrap_or(0);
        let first = self.by_address.partition_point(|index| of(index) < address);
        let those = self.by_address.get(first..)?;
        let those = &those[..those.partition_point(|index| of(index) == address)];
        let before = those.partition_point(|index| begins(index) <= offset);
        let index = those.get(before.saturating_sub(1))?;
        found(index).address.map(|_| *index as usize)
    }

    /// What the part at `offset` is called.
    pub fn label(&self, offset: u64) -> String {
        if let Some(index) = self.descriptor_at(offset) {
            return self.name_of(index);
        }
        match &self.contents {
            Contents::Pushbuffer(pushbuffer) => match pushbuffer.burst(offset) {
                Some(burst) => burst_label(pushbuffer, burst),
                None => UNCLAIMED.into(),
            },
            Contents::Gpfifo(gpfifo) if offset < gpfifo.len() * gpfifo::SIZE => {
                "GPFIFO entries".into()
            }
            Contents::Packets(count) if offset < count * PACKET => "AQL packets".into(),
            _ => UNCLAIMED.into(),
        }
    }

    /// What the bytes of the part at `offset` are for.
    pub fn role(&self, offset: u64) -> Role {
        match &self.contents {
            _ if self.descriptor_at(offset).is_some() => Role::Info,
            Contents::Pushbuffer(pushbuffer) if pushbuffer.burst(offset).is_some() => Role::Code,
            Contents::Gpfifo(gpfifo) if offset < gpfifo.len() * gpfifo::SIZE => Role::Data,
            Contents::Packets(count) if offset < count * PACKET => Role::Info,
            _ => Role::Unclaimed,
        }
    }

    /// The parts that hold the byte at `offset`, the nearest first, and the structures.
    pub fn locate(&self, offset: u64) -> (Vec<PartInfo>, Vec<Record>) {
        let (mut parts, mut records) = (Vec::new(), Vec::new());
        let part = |name: String, role, span, header| PartInfo {
            name,
            role,
            span,
            header,
        };
        let descriptor = self.descriptor_at(offset);
        if let Some(index) = descriptor {
            let runs = self.descriptors[index].runs.iter();
            let span = runs.copied().find(|run| run.contains(offset));
            parts.push(part(
                self.name_of(index),
                Role::Info,
                span.unwrap_or_default(),
                None,
            ));
        }
        match &self.contents {
            Contents::Pushbuffer(pushbuffer) => {
                if let Some(burst) = pushbuffer.burst(offset) {
                    let span = burst.span();
                    let header = match burst.op {
                        Op::Nothing => None,
                        _ => Some(Span::new(burst.offset, burst.data - burst.offset)),
                    };
                    let name = burst_label(pushbuffer, burst);
                    parts.push(part(name, Role::Code, span, header));
                }
                records.extend(pushbuffer.record(offset));
            }
            Contents::Gpfifo(gpfifo) => {
                if let Some(record) = gpfifo.record_at(offset) {
                    parts.push(part(record.name.clone(), Role::Data, record.span, None));
                    records.push(record);
                }
            }
            Contents::Packets(_) => {
                if let Some(record) = self.packet(offset / PACKET) {
                    parts.push(part(record.name.clone(), Role::Info, record.span, None));
                    records.push(record);
                }
            }
            Contents::Descriptors | Contents::Nothing => {}
        }
        records.extend(descriptor.map(|index| self.record_of(index)));
        (parts, records)
    }

    /// Packet `index` as a record.
    pub fn packet(&self, index: u64) -> Option<Record> {
        let Contents::Packets(count) = self.contents else {
            return None;
        };
        let span = Span::new(index.checked_mul(PACKET)?, PACKET);
        let bytes = self.source.read(span).ok().filter(|_| index < count)?;
        Some(aql::record(&bytes, span.offset))
    }

    /// What descriptor `index` is called.
    pub fn name_of(&self, index: usize) -> String {
        let version = self
            .descriptors
            .get(index)
            .map_or("", |found| found.version.key);
        match self.descriptors.len() {
            1 => format!("launch descriptor {version}"),
            _ => format!("launch descriptor {index}, {version}"),
        }
    }

    /// Its structures: descriptors, packets or entries. Words of pushbuffers are rows of a table.
    pub fn records(&self) -> Box<dyn Iterator<Item = Record> + '_> {
        match &self.contents {
            Contents::Gpfifo(gpfifo) => {
                Box::new((0..gpfifo.len()).filter_map(|index| gpfifo.record(index)))
            }
            &Contents::Packets(count) => {
                Box::new((0..count).filter_map(|index| self.packet(index)))
            }
            _ => Box::new((0..self.descriptors.len()).map(|index| self.record_of(index))),
        }
    }

    fn bytes_of(&self, found: &Found) -> Vec<u8> {
        joined(&self.source, &found.runs)
    }

    /// Descriptor `index` as a record; one that lies in pieces is one that no file has.
    pub fn record_of(&self, index: usize) -> Record {
        let name = self.name_of(index);
        let Some(found) = self.descriptors.get(index) else {
            return Record::new(name, Span::default(), None);
        };
        let bytes = self.bytes_of(found);
        match found.runs.as_slice() {
            [run] => qmd::record(found.version, name, &bytes, run.offset),
            _ => qmd::made(found.version, name, &bytes),
        }
    }
}

impl Found {
    /// Where byte `at` of it is in the dump.
    fn offset(&self, at: u64) -> Option<u64> {
        let mut begin = 0;
        for run in &self.runs {
            if at < begin + run.size {
                return Some(run.offset + (at - begin));
            }
            begin += run.size;
        }
        self.runs.first().map(|run| run.offset)
    }
}

/// What a part is called that nothing claims.
pub const UNCLAIMED: &str = "unclaimed";

/// Hosts whose methods are not listed, since their headers are in the form before Fermi.
const HOSTS: &[(u16, &str)] = &[
    (0x506f, "NV50_CHANNEL_GPFIFO"),
    (0x826f, "G82_CHANNEL_GPFIFO"),
    (0x866f, "GT21A_CHANNEL_GPFIFO"),
];

fn burst_label(pushbuffer: &Pushbuffer, burst: Burst) -> String {
    let number = burst.number;
    match pushbuffer
        .row(burst.row)
        .and_then(|word| pushbuffer.method(&word))
    {
        Some((method, index)) => format!("burst {number}: {}", method.label(index)),
        None => match burst.op {
            Op::Increment | Op::Same | Op::Once | Op::Immediate => {
                format!("burst {number}: 0x{:x}", burst.address)
            }
            op => format!("burst {number}: {}", op.word()),
        },
    }
}

fn ask<'a>(key: &'a str, label: &'a str, note: &str) -> Ask<'a> {
    Ask {
        key,
        label,
        group: GROUP,
        note: note.into(),
    }
}

/// Asks for one of `choices`, capital letters or not; hands out the key of the one that counts, `default` where none was typed.
fn choose(form: &mut Form<'_>, ask: Ask<'_>, choices: Vec<Choice>, default: &str) -> String {
    let keys: Vec<String> = choices.iter().map(|choice| choice.key.clone()).collect();
    let position = |typed: &str| keys.iter().position(|key| key.eq_ignore_ascii_case(typed));
    let default = position(default).unwrap_or(0);
    let chosen = form.choice(ask, choices, default, position);
    keys.get(chosen).cloned().unwrap_or_default()
}

fn choice(key: &str, label: &str) -> Choice {
    Choice {
        key: key.into(),
        label: label.into(),
        unavailable: None,
    }
}

fn version_choice(version: &Version) -> Choice {
    choice(version.key, version.key)
}

fn class_choice(class: &Class) -> Choice {
    choice(&label(class.number), class.name)
}

/// A class as it is typed.
pub fn label(class: u16) -> String {
    format!("{class:04X}")
}

fn class(text: &str) -> Option<u16> {
    let number = u16::from_str_radix(text, 16).ok()?;
    let class = Class::get(number)?;
    (class.engine() != Engine::Host).then_some(number)
}

fn host(text: &str) -> Option<u16> {
    let number = u16::from_str_radix(text, 16).ok()?;
    let is_known = Class::get(number).is_some_and(|class| class.engine() == Engine::Host);
    (is_known || HOSTS.iter().any(|(host, _)| *host == number)).then_some(number)
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// The bytes of `runs`, one behind the other.
fn joined(source: &Source, runs: &[Span]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for run in runs {
        bytes.extend(source.read(*run).unwrap_or_default());
    }
    bytes
}

/// The bytes that `source` has as text, if it is text; what bursts were printed of it.
fn unwrapped(
    source: Source,
    form: &mut Form<'_>,
    findings: &mut Diagnostics,
) -> (Source, Vec<dump::Burst>) {
    let text = text(&source);
    let choices = vec![
        choice("yes", "digits of bytes"),
        choice("no", "the bytes themselves"),
    ];
    let likely = if text.is_some() { "yes" } else { "no" };
    let note = match text {
        Some(_) => format!("up to {} MiB of text are read", dump::LIMIT >> 20),
        None => String::new(),
    };
    let is_text = choose(form, ask("text", "Text", &note), choices, likely) == "yes";
    let Some(text) = text.filter(|_| is_text) else {
        if is_text {
            form.error("text", "the bytes are no text");
        }
        return (source, Vec::new());
    };
    let typed = form.typed("numbering");
    let typed = typed
        .and_then(|typed| typed.parse().ok())
        .filter(|number| *number < 2);
    let typed_order = form.typed("order").and_then(ByteOrder::from_key);
    let Dump {
        bytes,
        numbering,
        order,
        bursts,
        findings: said,
        ..
    } = dump::read(&text, typed, typed_order);
    if let Some(numbering) = numbering {
        let choices = vec![choice("0", "from 0"), choice("1", "from 1")];
        let note = "the number of the first word of the list";
        choose(
            form,
            ask("numbering", "Words counted", note),
            choices,
            &numbering.to_string(),
        );
    }
    if let Some((order, reason)) = order {
        let choices = vec![
            choice("little", "the lowest byte last, as numbers are written"),
            choice("big", "as they are in memory"),
        ];
        choose(
            form,
            ask("order", "Bytes of a group", reason),
            choices,
            order.key(),
        );
    }
    said.all()
        .into_iter()
        .for_each(|finding| findings.push(finding));
    (Source::memory(bytes), bursts)
}

/// What `source` is as text, if it is text; of a long one a little more than is read of a dump, which says then that it is cut.
fn text(source: &Source) -> Option<String> {
    // Most files show at their beginning that they are none.
    let start = source.read_up_to(0, 1024).ok()?;
    if start.iter().any(|byte| matches!(byte, 0..=8)) {
        return None;
    }
    let mut bytes = source.read_up_to(0, dump::LIMIT as u64 + 4).ok()?;
    if bytes.len() > dump::LIMIT
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        // The last character is cut.
        bytes.truncate(error.valid_up_to());
    }
    if !dump::is_text(&bytes) {
        return None;
    }
    String::from_utf8(bytes).ok()
}

/// Whether `source` is text that is a dump as a whole.
fn is_dump_as_text(source: &Source) -> bool {
    // What is longer is only read where it is said to be a dump.
    let source = Some(source).filter(|source| source.size() <= dump::LIMIT as u64);
    let dump = source
        .and_then(text)
        .map(|text| dump::read(&text, None, None));
    dump.is_some_and(|dump| {
        let mut findings = dump.findings.iter();
        dump.form.is_some() && findings.all(|finding| finding.severity == Severity::Note)
    })
}

/// The version that `bytes` say they are of, if they are as long as that.
fn exact(bytes: &[u8]) -> Option<&'static Version> {
    let mut versions = qmd::VERSIONS.iter();
    versions.find(|version| version.bytes == bytes.len() && version.is_said(bytes, true))
}

fn said(source: &Source, span: Span) -> Option<&'static Version> {
    exact(&source.read(span).ok()?)
}

/// Descriptors one behind the other, each of which says its version; none where the bytes are no such sequence. Where all are of
/// one length that is it, else each is as long as it says.
fn sequence(bytes: &[u8]) -> Vec<(&'static Version, Span)> {
    for sizes in [&[512][..], &[384], &[256], &[384, 256, 512]] {
        let mut found = Vec::new();
        let mut rest = bytes;
        while let Some((version, behind)) = sizes.iter().find_map(|&size| {
            let (one, behind) = rest.split_at_checked(size)?;
            Some((exact(one)?, behind))
        }) {
            let start = (bytes.len() - rest.len()) as u64;
            found.push((version, Span::new(start, version.bytes as u64)));
            rest = behind;
        }
        if rest.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// Descriptors that are as long as `sizes` say, each of the version that it is likeliest of. An empty one is none.
fn apart(bytes: &[u8], sizes: &[u64]) -> Vec<(&'static Version, Span)> {
    let mut rest = bytes;
    let mut found = Vec::new();
    for &size in sizes {
        let start = (bytes.len() - rest.len()) as u64;
        let size = usize::try_from(size).unwrap_or(usize::MAX).min(rest.len());
        let (one, behind) = rest.split_at(size);
        rest = behind;
        let detected = || Some(qmd::detect(one).first()?.0);
        let version = exact(one).or_else(detected);
        found.extend(version.map(|version| (version, Span::new(start, size as u64))));
    }
    found
}

/// `size` bytes as descriptors of `version`; the last one may be cut.
fn chunks(size: usize, version: &'static Version) -> Vec<(&'static Version, Span)> {
    let starts = (0..size).step_by(version.bytes);
    let each = starts.map(|start| {
        let size = version.bytes.min(size - start);
        (version, Span::new(start as u64, size as u64))
    });
    each.collect()
}

/// Asks for the version; hands out what was typed. That the bytes do not tell it is a note.
fn ask_version(
    form: &mut Form<'_>,
    candidates: &[(&'static Version, &'static str)],
    bytes: &[u8],
    findings: &mut Diagnostics,
) -> Option<&'static Version> {
    let choices: Vec<_> = qmd::VERSIONS.iter().map(version_choice).collect();
    let likeliest = candidates.first().map(|(version, _)| version.key);
    let typed = form.typed("version").and_then(Version::get);
    let reason = candidates.first().map_or("", |(_, reason)| reason);
    let others = candidates.iter().skip(1).map(|(version, _)| version.key);
    let others: Vec<_> = others.collect();
    let note = match others.as_slice() {
        [] => reason.to_owned(),
        others => format!("{reason}; it may as well be {}", others.join(", ")),
    };
    choose(
        form,
        ask("version", "Version", &note),
        choices,
        likeliest.unwrap_or_default(),
    );
    if typed.is_none() && !others.is_empty() {
        findings.push(
            Diagnostic::warning(
                Kind::UnknownValue,
                "the version of the launch descriptor cannot be told",
            )
            .expected(
                "a version",
                format_args!("bytes that may be of {} versions", candidates.len()),
            )
            .at(0),
        );
    } else if typed.is_none() && bytes.len() == 512 && likeliest != Some("05.01") {
        findings.push(
            Diagnostic::note(
                Kind::UnknownValue,
                "512 bytes can be one launch descriptor of version 05.01, too",
            )
            .at(0),
        );
    }
    typed
}

/// What `source` is read as if nobody says it; else up to which byte it is headers of methods.
fn recognised(source: &Source) -> Result<&'static str, u64> {
    let size = source.size();
    let start = source.read_up_to(0, DESCRIPTORS).map_err(|_| 0_u64)?;
    if size <= DESCRIPTORS && aql::detect(&start) {
        return Ok("aql");
    }
    if !sequence(&start).is_empty() {
        return Ok("qmd");
    }
    let mut unheard = Diagnostics::default();
    let sample = Span::new(0, size).clamp(SAMPLE);
    let reading = Reading::new(0xc56f, COMMON, false);
    let pushbuffer = Pushbuffer::read(source, sample, reading, &mut unheard);
    // One header in eight may be damaged. Zeros and one header with too little behind it are no chain.
    let is_chain = pushbuffer.is_known && pushbuffer.odd() * 8 <= pushbuffer.bursts();
    let is_cut = pushbuffer.is_cut() && start.iter().take(4).all(|&byte| byte == 0);
    if is_chain && !is_cut {
        return Ok("pushbuffer");
    }
    match size {
        256 | 384 | 512 => Ok("qmd"),
        _ => Err(pushbuffer.chained()),
    }
}

/// The three sizes of the grid that a descriptor has.
pub fn grid(record: &Record) -> Option<String> {
    sizes(
        record,
        &[
            ["CTA_RASTER_WIDTH", "CTA_RASTER_HEIGHT", "CTA_RASTER_DEPTH"],
            ["GRID_WIDTH", "GRID_HEIGHT", "GRID_DEPTH"],
        ],
    )
}

/// The three sizes of a block.
pub fn block(record: &Record) -> Option<String> {
    sizes(
        record,
        &[[
            "CTA_THREAD_DIMENSION0",
            "CTA_THREAD_DIMENSION1",
            "CTA_THREAD_DIMENSION2",
        ]],
    )
}

fn sizes(record: &Record, names: &[[&str; 3]]) -> Option<String> {
    // Version 05.01 has them of sub-tasks.
    let found = names.iter().find_map(|names| {
        ["", "SUB_TASK_"].into_iter().find_map(|prefix| {
            let of = |name: &str| format!("{prefix}{name}");
            record.field(&of(names[0]))?;
            Some([0, 1, 2].map(|i| record.number(&of(names[i]))))
        })
    });
    found.map(shown)
}
