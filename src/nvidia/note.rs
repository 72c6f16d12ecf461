//! NVIDIA's notes: what made the cubin, and of what.

use super::{tables, toolkit};
use crate::elf::Elf;
use crate::elf::note::Note;
use crate::error::{Diagnostic, Diagnostics, Kind as FindingKind, Result};
use crate::order;
use crate::record::{Kind, Layout, Raw, Record, text};
use crate::span::Span;

const OWNER: &str = "NVIDIA Corp";
/// Types of notes, see `tables/nvidia/elf.toml`.
const CUDA: u32 = 1000;
const TOOLKIT: u32 = 2000;

/// Bytes of a note that are read, at most.
const LIMIT: u64 = 64 << 10;
/// Notes of a cubin that are looked at, at most; linked ones may have one for each object.
const NOTES: usize = 256;

/// Whether a section of that name holds the note with the virtual architecture.
pub(super) fn is_cuinfo(name: &str) -> bool {
    matches!(name, ".note.nv.cuinfo" | ".note.nv.cuver")
}

fn is_ours(note: &Note) -> bool {
    note.owner == OWNER && matches!(note.kind, CUDA | TOOLKIT)
}

/// What the notes say.
#[derive(Default)]
pub(super) struct Notes {
    /// The virtual architecture of the PTX.
    pub virtual_sm: Option<u32>,
    /// The toolkit: `13.5`.
    pub toolkit: Option<String>,
    /// Command lines of the tools.
    options: Vec<String>,
}

impl Notes {
    /// Reads them; notes that cannot be read are the ELF floor's to report.
    pub fn read(elf: &Elf, findings: &mut Diagnostics) -> Self {
        let mut notes = Self::default();
        let all = elf.notes(&mut Diagnostics::default());
        let ours = all.iter().filter(|note| note.owner == OWNER);
        for note in ours.filter(|note| !is_ours(note)).take(NOTES) {
            let finding = Diagnostic::warning(FindingKind::Format, "the note has an unknown type");
            let finding = finding.expected(format!("{CUDA} or {TOOLKIT}"), note.kind);
            findings.push(
                finding
                    .within(OWNER)
                    .at(elf.source().absolute(note.span.offset)),
            );
        }
        for note in all.iter().filter(|note| is_ours(note)).take(NOTES) {
            let span = Span::new(note.content.offset, note.content.size.min(LIMIT));
            let Ok(bytes) = elf.source().read(span) else {
                continue;
            };
            match note.kind {
                CUDA => notes.take_cuda(&bytes),
                _ => notes.take_toolkit(&bytes),
            }
            check(elf, note, &bytes, findings);
        }
        notes
    }

    fn take_cuda(&mut self, bytes: &[u8]) {
        let halfword = |i: usize| {
            let bytes = bytes.get(i * 2..i * 2 + 2)?;
            Some(u32::from(u16::from_le_bytes(bytes.try_into().ok()?)))
        };
        self.virtual_sm = halfword(1);
        // Version 1 (.note.nv.cuver) leaves the toolkit to the other note.
        if halfword(0).is_some_and(|version| version >= 2) {
            self.toolkit = halfword(2).map(toolkit);
        }
    }

    fn take_toolkit(&mut self, bytes: &[u8]) {
        let record = tables::NOTE_TKINFO.read("", bytes, 0);
        // A small number is the note's version; CUDA 12 has the toolkit in its place.
        let version = record.number("tki_toolkitVersion") as u32;
        if version >= LEAST_TOOLKIT && self.toolkit.is_none() {
            self.toolkit = Some(toolkit(version));
        }
        let at = u64::from(tables::NOTE_TKINFO.bytes) + record.number("tki_toolOptions");
        if record.field("tki_toolOptions").is_some()
            && let Some(options) = usize::try_from(at).ok().and_then(|at| bytes.get(at..))
        {
            self.options.push(text(options));
        }
    }

    /// The command line of the first tool.
    pub fn options(&self) -> Option<&str> {
        let options = self.options.first()?.trim();
        (!options.is_empty()).then_some(options)
    }

    /// Whether a command line asks for the architecture `target`.
    pub fn targets(&self, target: &str) -> bool {
        self.options.iter().any(|options| {
            let mut words = options
                .split([' ', '=', ','])
                .filter(|word| !word.is_empty());
            let mut before = "";
            words.any(|word| {
                let is_target = matches!(before, "-arch" | "--gpu-name") && word == target;
                before = word;
                is_target
            })
        })
    }
}

/// Versions of the notes, see `tables/nvidia/elf.toml`.
const VERSIONS: [u32; 2] = [1, 2];
/// The least number that is a toolkit instead of a version.
const LEAST_TOOLKIT: u32 = 100;

/// Finds what no toolkit writes: notes cut short, of another version, and strings outside of them.
fn check(elf: &Elf, note: &Note, bytes: &[u8], findings: &mut Diagnostics) {
    let layout = layout(note);
    let mut push = |at: u64, field: &str, finding: Diagnostic| {
        let finding = finding.within(format!("{}, {field}", layout.name));
        findings.push(finding.at(elf.source().absolute(note.content.offset + at)));
    };
    if note.content.size < layout.bytes.into() {
        let finding = Diagnostic::warning(FindingKind::Format, "the note holds too few bytes");
        let finding = finding.expected(format!("at least {}", layout.bytes), note.content.size);
        return push(0, "desc", finding);
    }
    let record = layout.read("", bytes, 0);
    let Some(first) = layout.fields().first() else {
        return;
    };
    let version = record.number(&first.name) as u32;
    let is_toolkit = note.kind == TOOLKIT && version >= LEAST_TOOLKIT;
    if !is_toolkit && !VERSIONS.contains(&version) {
        let finding = Diagnostic::warning(FindingKind::Format, "the note has an unknown version");
        push(0, &first.name, finding.expected("1 or 2", version));
    }
    let room = note.content.size - u64::from(layout.bytes);
    for field in record.fields.iter().filter(|field| field.kind == "string") {
        let at = record.number(&field.name);
        if at >= room {
            let finding =
                Diagnostic::warning(FindingKind::Format, "the string lies outside the note");
            let finding = finding.expected(format!("an offset below {room}"), at);
            push(u64::from(field.bits[1] / 8), &field.name, finding);
        }
    }
}

/// The layout of what a note of NVIDIA's holds.
fn layout(note: &Note) -> &'static Layout {
    match (note.kind, note.content.size) {
        (TOOLKIT, _) => &tables::NOTE_TKINFO,
        (_, size) if size >= u64::from(tables::NOTE_CUVER.bytes) => &tables::NOTE_CUVER,
        _ => &tables::NOTE_CUINFO,
    }
}

/// The record of the note that holds the byte at `offset` of section `index`, if it is NVIDIA's.
pub(super) fn record_in(elf: &Elf, index: u32, offset: u64) -> Result<Option<Record>> {
    let notes = elf.notes(&mut Diagnostics::default());
    let found = notes
        .iter()
        .find(|note| note.section == Some(index) && note.span.contains(offset));
    let Some(note) = found.filter(|note| is_ours(note)) else {
        return Ok(None);
    };
    let mut record = elf.note_record(note)?;
    let span = Span::new(note.span.offset, note.span.size.min(LIMIT));
    let bytes = elf.source().read(span)?;
    let at = note.content.offset - note.span.offset;
    if at >= bytes.len() as u64 {
        return Ok(Some(record));
    }
    let at = at as u32;
    record.fields.retain(|field| field.name != "desc");
    let layout = layout(note);
    record.source = Some(layout.source);
    record.append(layout, &bytes, at);
    if note.kind == TOOLKIT {
        append_strings(&mut record, &bytes, at);
        let version = record.number("nv_note_tkinfo");
        let alternative = "tki_toolkitVersion";
        if version >= u64::from(LEAST_TOOLKIT) {
            record.explain(
                alternative,
                format!("CUDA {}", toolkit(version as u32)),
                None,
            );
        }
    } else {
        for (field, what) in [
            ("nv_note_cuinfo_virt_sm", "compute"),
            ("nv_note_cu_virt_smver", "compute"),
            ("nv_note_cuinfo_toolVersion", "CUDA"),
        ] {
            let number = record.number(field) as u32;
            let meaning = match what {
                "CUDA" => format!("CUDA {}", toolkit(number)),
                _ => format!("compute_{number}"),
            };
            record.explain(field, meaning, None);
        }
    }
    Ok(Some(record))
}

/// Explains the string offsets of the toolkit note whose content begins at byte `at`, and appends the
/// strings themselves.
fn append_strings(record: &mut Record, bytes: &[u8], at: u32) {
    let offset = record.span.offset;
    let mut strings: Vec<(u32, u32, String)> = Vec::new();
    for field in record.fields.iter_mut().filter(|f| f.kind == "string") {
        let Raw::Int(raw) = field.raw else { continue };
        let start = u64::from(at) + u64::from(tables::NOTE_TKINFO.bytes) + raw;
        let Some(rest) = usize::try_from(start).ok().and_then(|s| bytes.get(s..)) else {
            continue;
        };
        if rest.is_empty() {
            continue;
        }
        let end = rest.iter().position(|&byte| byte == 0);
        let size = end.map_or(rest.len(), |end| end + 1);
        field.meaning = Some(text(rest));
        field.target = Some(Span::new(offset + start, size as u64));
        strings.push((start as u32, size as u32, field.name.clone()));
    }
    order::arrange(&mut strings, |(start, ..)| u64::from(*start));
    let mut next = 0;
    for (start, size, name) in strings {
        // Strings that share bytes stand once.
        if start >= next {
            next = start + size;
            record.append_bytes(format!("{name} string"), bytes, start, size, Kind::Text);
        }
    }
}
