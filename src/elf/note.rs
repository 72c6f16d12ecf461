//! Notes: of `SHT_NOTE` sections, and of `PT_NOTE` segments where there are no sections.

use object::elf;

use super::{Dialect, Elf, tables};
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::record::{Names, text};
use crate::span::Span;

/// A note.
#[derive(Clone, Debug)]
pub struct Note {
    /// The section that it is in.
    pub section: Option<u32>,
    /// All of it, padding left out.
    pub span: Span,
    /// Who defines the type.
    pub owner: String,
    /// Bytes of the owner's name, its zero byte included.
    pub owner_size: u32,
    /// The type.
    pub kind: u32,
    /// What it says.
    pub content: Span,
}

/// Bytes of an owner's name that are read, at most.
const OWNER_LIMIT: u32 = 256;
/// Notes read of a file, at most.
const LIMIT: usize = 1 << 16;

/// Names of note types, by who defines them.
const TYPES: &[(&str, &Names)] = &[
    ("GNU", &tables::NOTE_TYPE_GNU),
    ("CORE", &tables::NOTE_TYPE_CORE),
    ("stapsdt", &tables::NOTE_TYPE_STAPSDT),
    ("LLVMOMPOFFLOAD", &tables::NOTE_TYPE_LLVM_OFFLOAD),
];

impl Note {
    /// The name of its type.
    pub fn kind_name(&self, dialect: &Dialect) -> Option<&'static str> {
        let mut types = TYPES.iter().chain(dialect.note_types);
        let (_, names) = types.find(|(owner, _)| *owner == self.owner)?;
        names.name(u64::from(self.kind))
    }
}

/// Where a note is, for findings.
pub fn place(elf: &Elf, section: Option<u32>) -> String {
    match section {
        Some(index) => format!("{}, note", elf.section_label(index)),
        None => "PT_NOTE segment, note".into(),
    }
}

impl Elf {
    /// The parts of the file that hold notes, each with its section and the notes' alignment.
    pub fn note_parts(&self) -> Vec<(Option<u32>, Span, u64)> {
        let sections = self.sections.iter().filter(|s| s.kind == elf::SHT_NOTE.0);
        let mut parts: Vec<_> = sections
            .map(|s| (Some(s.index), self.stored(s), s.align))
            .collect();
        if self.sections.is_empty() {
            let segments = self.segments.iter().filter(|s| s.kind == elf::PT_NOTE.0);
            parts.extend(segments.map(|s| (None, s.span().clamp(self.source().size()), s.align)));
        }
        parts
    }

    /// Reads the notes. A note that runs past its part is a finding, and ends the part; so is the first one of too many,
    /// and ends them all.
    pub fn notes(&self, findings: &mut Diagnostics) -> Vec<Note> {
        let mut notes = Vec::new();
        for (section, span, align) in self.note_parts() {
            let mut rest = span;
            while rest.size > 0 {
                if notes.len() == LIMIT {
                    findings.push(
                        Diagnostic::warning(Kind::Limit, "only the first notes are read")
                            .expected(format!("at most {LIMIT}"), "more")
                            .within(place(self, section))
                            .at(self.source().absolute(rest.offset)),
                    );
                    return notes;
                }
                match self.note(section, rest, align) {
                    Ok((note, next)) => {
                        notes.push(note);
                        rest = next;
                    }
                    Err(finding) => {
                        findings.push(*finding);
                        break;
                    }
                }
            }
        }
        notes
    }

    /// The note at the start of `rest`, and what follows it.
    fn note(
        &self,
        section: Option<u32>,
        rest: Span,
        align: u64,
    ) -> Result<(Note, Span), Box<Diagnostic>> {
        let finding = |message: &str, expected: String, found: String| {
            Box::new(
                Diagnostic::error(Kind::Format, message)
                    .expected(expected, found)
                    .within(place(self, section))
                    .at(self.source().absolute(rest.offset)),
            )
        };
        let mut head = [0; 12];
        if rest.size < 12 || self.source().read_into(rest.offset, &mut head).is_err() {
            let message = "the note's header is cut off";
            return Err(finding(message, "12 bytes".into(), rest.size.to_string()));
        }
        let word = |i: usize| u32::from_le_bytes([head[i], head[i + 1], head[i + 2], head[i + 3]]);
        let (owner_size, content_size, kind) = (word(0), word(4), word(8));
        // Notes are padded to 4 bytes, in sections of alignment 8 to 8.
        let pad = |at: u64| at.next_multiple_of(if align == 8 { 8 } else { 4 });
        let content_at = pad(12 + u64::from(owner_size));
        let end = content_at + u64::from(content_size);
        if end > rest.size {
            return Err(finding(
                "the note runs past the end of its section",
                format!("at most {} bytes", rest.size),
                format!("{end} (name {owner_size}, content {content_size})"),
            ));
        }
        let owner = self
            .source()
            .read_up_to(rest.offset + 12, u64::from(owner_size.min(OWNER_LIMIT)));
        let note = Note {
            section,
            span: Span::new(rest.offset, end),
            owner: text(&owner.unwrap_or_default()),
            owner_size,
            kind,
            content: Span::new(rest.offset + content_at, u64::from(content_size)),
        };
        let next = pad(end).min(rest.size);
        Ok((note, Span::new(rest.offset + next, rest.size - next)))
    }
}
