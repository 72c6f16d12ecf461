//! The kernarg segment: what a dispatch passes to a kernel.
//!
//! No file has it. Each dispatch writes one: the program its arguments, the runtime the hidden ones.

use super::argument::Argument;
use super::{Kernel, tables};
use crate::elf::Elf;
use crate::error::{self, Diagnostic, Diagnostics};
use crate::order;
use crate::record::{Field, Kind, Record};

/// What is passed in an argument.
#[derive(Debug, PartialEq, Eq)]
pub struct ValueKind {
    /// The metadata's `.value_kind`.
    pub word: &'static str,
    /// Bytes that the runtime writes; 0 where it depends.
    pub size: u32,
    /// Whether it is an address.
    pub is_address: bool,
    /// What it is, in a few words.
    pub note: &'static str,
}

/// What is known of the value kind `word`, spelled as V3 and later do.
pub fn kind(word: &str) -> Option<&'static ValueKind> {
    tables::VALUE_KINDS.iter().find(|kind| kind.word == word)
}

/// Fields of a segment that are told, at most: arguments of a malformed file are as many as its bytes.
const FIELDS_LIMIT: usize = 8192;
/// Bytes of a segment that a record can number the bits of.
const SIZE_LIMIT: u64 = u32::MAX as u64 / 8;

/// What the first hidden argument is aligned to.
const HIDDEN_ALIGN: u64 = 8;

const SOURCE: &str = "the kernel's metadata; LLVM (Apache-2.0 WITH LLVM-exception), AMDGPUUsage of LLVM 22, Kernel \
                      Argument Metadata Map";

/// The arguments of `kernel` by offset, with their numbers; without metadata there are none.
fn by_offset(kernel: &Kernel) -> impl Iterator<Item = (u32, &Argument)> {
    let arguments = kernel.args.as_deref().unwrap_or_default();
    let order = order::by_key(arguments.len(), &|i| arguments[i].offset);
    order
        .into_iter()
        .map(|number| (number, &arguments[number as usize]))
}

/// A run of bytes of a segment: an argument, or what lies between.
pub(super) struct Place {
    /// The argument's name, its kind where it is hidden; `padding`, `not used`.
    pub name: String,
    /// Offset in the segment.
    pub at: u32,
    /// Bytes, one at least.
    pub size: u32,
    /// How they are understood.
    pub kind: Kind,
    /// What it is, in a few words.
    pub note: &'static str,
    /// The argument's number in the metadata.
    pub argument: Option<usize>,
}

/// Bytes of the segment of `kernel`, as far as bits of them can be numbered.
pub(super) fn size(kernel: &Kernel) -> u64 {
    kernel.kernarg_size.unwrap_or(0).min(SIZE_LIMIT)
}

/// The kernarg segment of `kernel` in order, without gaps: arguments that lie outside are left out.
pub(super) fn places(kernel: &Kernel) -> Vec<Place> {
    let size = size(kernel);
    let mut places = Vec::new();
    if kernel.args.is_none() {
        let note = "no metadata says what they are";
        add(&mut places, "arguments".into(), 0, size, Kind::Bytes, note);
        return places;
    }
    let hidden = by_offset(kernel).find(|(_, argument)| argument.is_hidden());
    // Those that the kernel does not read are not listed: their room begins behind the program's arguments.
    let end = kernel.explicit_size.unwrap_or(0).min(size);
    let end = end.next_multiple_of(HIDDEN_ALIGN);
    let hidden = hidden.map_or(end, |(_, argument)| argument.offset.min(end));
    let mut next = 0;
    for (number, argument) in by_offset(kernel) {
        if places.len() >= FIELDS_LIMIT {
            return places;
        }
        if argument.size == 0 || argument.end() > size {
            continue;
        }
        fill(&mut places, next, argument.offset, hidden);
        next = argument.end().max(next);
        let name = match &argument.name {
            _ if argument.is_hidden() => argument.kind.clone(),
            Some(name) => name.clone(),
            None => format!("argument {number}"),
        };
        let known = kind(&argument.kind);
        let kind = match known {
            Some(known) if known.is_address => Kind::Address,
            Some(known) if known.size > 0 => Kind::Unsigned,
            _ => Kind::Bytes,
        };
        let note = known.map_or("", |known| known.note);
        add(
            &mut places,
            name,
            argument.offset,
            argument.size,
            kind,
            note,
        );
        if let Some(place) = places.last_mut() {
            place.argument = Some(number as usize);
        }
    }
    fill(&mut places, next, size, hidden);
    places
}

/// The kernarg segment of `kernel` as a record, whose fields no file has.
pub fn record(kernel: &Kernel) -> Record {
    let title = format!("kernarg segment of {}", kernel.name);
    let mut record = Record::unwritten(title, size(kernel), Some(SOURCE));
    for place in places(kernel) {
        let field = record.append_unwritten(&place.name, place.at, place.size, place.kind);
        explain(field, &place, kernel);
    }
    record
}

/// The segment of `kernel` that begins with `bytes`, as a record: its places, as far as the bytes go.
pub(super) fn written(kernel: &Kernel, places: &[Place], bytes: &[u8]) -> Record {
    let title = format!("kernarg segment of {}", kernel.name);
    let mut record = Record::unwritten(title, bytes.len() as u64, Some(SOURCE));
    for place in places {
        // What the program passes by value is a number where it can be one.
        let kind = match (place.kind, place.argument, place.size) {
            (Kind::Bytes, Some(_), 1 | 2 | 4 | 8) => Kind::Hex,
            (kind, ..) => kind,
        };
        record.append_bytes(&*place.name, bytes, place.at, place.size, kind);
        if let Some(field) = record.fields.last_mut() {
            explain(field, place, kernel);
        }
    }
    record
}

fn explain(field: &mut Field, place: &Place, kernel: &Kernel) {
    field.note = place.note;
    let arguments = kernel.args.as_deref().unwrap_or_default();
    if let Some(argument) = place.argument.and_then(|number| arguments.get(number)) {
        field.meaning = meaning(argument);
        field.target = argument.span.some();
    }
}

/// Tells of the bytes from `from` to `to`, which no argument has; hidden arguments begin at `hidden`.
fn fill(places: &mut Vec<Place>, from: u64, to: u64, hidden: u64) {
    let unread = "hidden arguments that the kernel does not read, or nothing";
    for (name, note, from, to) in [
        ("padding", "", from, to.min(hidden)),
        ("not used", unread, from.max(hidden), to),
    ] {
        let size = to.saturating_sub(from);
        add(places, name.into(), from, size, Kind::Reserved, note);
    }
}

/// Appends a place; none of no bytes.
fn add(places: &mut Vec<Place>, name: String, at: u64, size: u64, kind: Kind, note: &'static str) {
    if size > 0 {
        places.push(Place {
            name,
            at: at as u32,
            size: size as u32,
            kind,
            note,
            argument: None,
        });
    }
}

/// What the metadata says of an argument of the program's, in words.
fn meaning(argument: &Argument) -> Option<String> {
    if argument.is_hidden() {
        return None;
    }
    let qualifiers = [
        (argument.is_const, "const"),
        (argument.is_restrict, "restrict"),
        (argument.is_volatile, "volatile"),
        (argument.is_pipe, "pipe"),
    ];
    let words = qualifiers.iter().filter(|(is_so, _)| *is_so);
    let mut words: Vec<&str> = words.map(|(_, word)| *word).collect();
    words.extend(argument.type_name.as_deref());
    let mut parts = vec![words.join(" "), argument.kind.clone()];
    parts.extend(argument.address_space.clone());
    parts.extend(argument.access.clone());
    let actual = argument.actual_access.as_ref();
    parts.extend(actual.map(|access| format!("in fact {access}")));
    let align = argument.pointee_align;
    parts.extend(align.map(|align| format!("to data aligned to {align}")));
    parts.retain(|part| !part.is_empty());
    Some(parts.join(" · "))
}

/// Arguments that share bytes, and hidden ones that have not the size that the runtime writes.
pub(super) fn check(elf: &Elf, kernel: &Kernel, findings: &mut Diagnostics) {
    let mut before: Option<&Argument> = None;
    for (_, argument) in by_offset(kernel) {
        let at = elf.source().absolute(argument.span.offset);
        let label = || {
            let name = argument.name.as_deref().unwrap_or(&argument.kind);
            format!("kernel {}, argument {name}", kernel.name)
        };
        if let Some(before) = before
            && argument.offset < before.end()
            && argument.size > 0
        {
            let message = "arguments share bytes of the kernarg segment";
            findings.push(
                Diagnostic::warning(error::Kind::Format, message)
                    .expected(
                        format!("an offset from {} on", before.end()),
                        argument.offset,
                    )
                    .within(label())
                    .at(at),
            );
        }
        if before.is_none_or(|before| argument.end() > before.end()) {
            before = Some(argument);
        }
        let size = kind(&argument.kind).map_or(0, |kind| u64::from(kind.size));
        if size > 0 && size != argument.size {
            let message = "a hidden argument has not the size that the runtime writes";
            findings.push(
                Diagnostic::warning(error::Kind::Format, message)
                    .expected(size, argument.size)
                    .within(label())
                    .at(at),
            );
        }
    }
}
