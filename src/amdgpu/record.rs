//! The structures of code objects as records: descriptors, notes, values of the metadata.

use super::code_object::{CodeObject, stored};
use super::metadata::{Form, Metadata};
use super::registers::{Registers, Unit};
use super::schema::Step;
use super::tree::Walk;
use super::value::{Content, Value};
use super::{Kernel, msgpack, tables};
use crate::elf::note::Note;
use crate::elf::{self, Elf, Section};
use crate::error::Result;
use crate::record::{Kind, Layout, Record};
use crate::span::Span;

/// Bytes of a value that a record shows, at most.
const VALUE_LIMIT: u64 = 4096;

const METADATA_SOURCE: &str = "LLVM (Apache-2.0 WITH LLVM-exception), AMDGPUUsage of LLVM 22, \
                               Code Object Metadata; MessagePack specification";

impl CodeObject {
    /// The record that holds the byte at `offset` of `section`: a kernel's descriptor, a note, a
    /// value of the metadata. `None` where a code object has no structure of its own there.
    ///
    /// # Errors
    /// If its bytes cannot be read.
    pub fn record_in(&self, elf: &Elf, section: &Section, offset: u64) -> Result<Option<Record>> {
        match elf.stored(section).contains(offset) {
            true => self.record_at(elf, offset),
            false => Ok(None),
        }
    }

    /// The same, for files without section headers too.
    ///
    /// # Errors
    /// If its bytes cannot be read.
    pub fn record_at(&self, elf: &Elf, offset: u64) -> Result<Option<Record>> {
        if let Some(kernel) = self.kernel_at(offset) {
            return self.descriptor_record(elf, kernel).map(Some);
        }
        let Some(note) = self.notes.iter().find(|note| note.span.contains(offset)) else {
            return Ok(None);
        };
        match &self.metadata {
            Some(metadata) if metadata.span.contains(offset) => match metadata.form {
                Form::MessagePack => {
                    // What a mistake cut off belongs to no value.
                    let record = value_record(elf, metadata, offset)?;
                    Ok(Some(record).filter(|record| record.span.contains(offset)))
                }
                Form::Yaml => line_record(elf, metadata, offset).map(Some),
            },
            Some(metadata) if metadata.span == note.content => {
                metadata_note_record(elf, note).map(Some)
            }
            _ => note_record(elf, note),
        }
    }

    /// The kernel whose descriptor holds the byte at `offset` of the file.
    pub fn kernel_at(&self, offset: u64) -> Option<&Kernel> {
        let next = self
            .by_offset
            .partition_point(|&(start, _)| start <= offset);
        let &(_, index) = self.by_offset.get(next.checked_sub(1)?)?;
        let kernel = self.kernels.get(index as usize)?;
        kernel.descriptor_span.contains(offset).then_some(kernel)
    }

    /// The record of a kernel's descriptor; of code object V2 of its `amd_kernel_code_t`.
    ///
    /// # Errors
    /// If its bytes cannot be read.
    pub fn descriptor_record(&self, elf: &Elf, kernel: &Kernel) -> Result<Record> {
        let span = kernel.descriptor_span;
        let bytes = elf.source().read(span)?;
        let is_code = span.size > u64::from(tables::KERNEL_DESCRIPTOR.bytes);
        let layout = self.processor.and_then(|p| p.descriptor_layout());
        let (title, layout): (_, &Layout) = match layout {
            _ if is_code => (
                format!("amd_kernel_code_t {}", kernel.name),
                &tables::AMD_KERNEL_CODE,
            ),
            Some(layout) => (format!("kernel descriptor {}.kd", kernel.name), layout),
            None => (
                format!("kernel descriptor {}.kd", kernel.name),
                &tables::KERNEL_DESCRIPTOR,
            ),
        };
        let mut record = layout.read(title, &bytes, span.offset);
        if let Some(entry) = kernel.entry {
            let image = elf.main_image();
            let place = stored(image, Span::new(entry, 1));
            record.explain(
                "kernel_code_entry_byte_offset",
                format!(
                    "{} at 0x{:x}",
                    kernel.name,
                    image.address.saturating_add(entry)
                ),
                (place.size > 0).then_some(place),
            );
        }
        let unit = self.processor.and_then(Unit::of);
        if let (Some(unit), Some(registers)) = (unit, self.registers(kernel)) {
            let mut of = |field: &str, what: &str, counted: u32, allocated: u32| {
                let meaning = match counted == allocated {
                    true => format!("{counted} {what}"),
                    false => format!("{counted} {what}, {allocated} allocated"),
                };
                record.explain(field, meaning, None);
            };
            let Registers { vgprs, sgprs, .. } = registers;
            of(
                "GRANULATED_WORKITEM_VGPR_COUNT",
                "VGPRs",
                vgprs,
                registers.allocated_vgprs,
            );
            of(
                "GRANULATED_WAVEFRONT_SGPR_COUNT",
                "SGPRs",
                sgprs,
                registers.allocated_sgprs,
            );
            if let Some(offset) = registers.accum_offset {
                let agprs = registers.allocated_agprs.unwrap_or(0);
                let meaning = format!("AGPRs begin at v{offset}, {agprs} of them");
                record.explain("ACCUM_OFFSET", meaning, None);
            }
            // How large a step is depends on the processor and on the wave's size.
            record.set_value("GRANULATED_WORKITEM_VGPR_COUNT", vgprs.into());
            let lds = record.number("GRANULATED_LDS_SIZE") * u64::from(unit.lds_granule);
            record.set_value("GRANULATED_LDS_SIZE", lds);
        }
        for found in &kernel.non_zero {
            record.explain(found.field, "must be zero", None);
        }
        Ok(record)
    }
}

/// The record of the note that metadata is in, up to the metadata.
fn metadata_note_record(elf: &Elf, note: &Note) -> Result<Record> {
    let size = note.content.offset.saturating_sub(note.span.offset);
    let bytes = elf
        .source()
        .read_up_to(note.span.offset, size.min(VALUE_LIMIT))?;
    let title = format!("note {}", note.owner);
    let mut record = elf::tables::NOTE_HEADER.read(title, &bytes, note.span.offset);
    record.span.size = size;
    record.append_bytes("name", &bytes, 12, note.owner_size, Kind::Text);
    let name = note.kind_name(elf.dialect).unwrap_or_default();
    record.explain("n_type", name, None);
    record.explain("n_descsz", "bytes of metadata", Some(note.content));
    Ok(record)
}

/// The record of a note whose owner is AMD.
fn note_record(elf: &Elf, note: &Note) -> Result<Option<Record>> {
    let layout = match (note.owner.as_str(), note.kind) {
        ("AMD", 1) => Some(&tables::NOTE_CODE_OBJECT_VERSION),
        ("AMD", 2) => Some(&tables::NOTE_HSAIL),
        ("AMD", 3) => Some(&tables::NOTE_ISA_VERSION),
        ("AMD" | "AMDGPU", _) => None,
        _ => return Ok(None),
    };
    let mut record = elf.note_record(note)?;
    let content = elf
        .source()
        .read_up_to(note.content.offset, note.content.size.min(VALUE_LIMIT))?;
    if let Some(layout) = layout {
        // Alternatives of the note's content: they count from its first byte.
        let at = note.content.offset.saturating_sub(note.span.offset) as usize;
        let mut bytes = vec![0; at];
        bytes.extend_from_slice(&content);
        record.append_alternatives(layout, &bytes, "desc");
    }
    if note.owner == "AMD" && note.kind == 3 {
        // Behind the numbers are two names, each with its zero byte.
        let names = content.get(16..).unwrap_or_default();
        let names = String::from_utf8_lossy(names)
            .trim_end_matches('\0')
            .replace('\0', " ");
        record.explain("desc", names, None);
    }
    if note.owner == "AMD" && matches!(note.kind, 10 | 11) {
        record.explain("desc", crate::record::text(&content), None);
    }
    Ok(Some(record))
}

/// The record of the value in MessagePack that holds the byte at `offset`: of a scalar with its
/// key, of a map or a list its beginning.
fn value_record(elf: &Elf, metadata: &Metadata, offset: u64) -> Result<Record> {
    let Walk {
        key,
        value,
        step,
        path,
    } = Walk::new(metadata).to(offset);
    let start = key.map_or(value.span.offset, |key| key.span.offset);
    let format_of = |value: &Value| -> Result<u8> {
        let byte = elf.source().read_up_to(value.span.offset, 1)?;
        Ok(byte.first().copied().unwrap_or(0))
    };
    let shown = msgpack::head_size(format_of(value)?, value);
    let end = value.span.offset.saturating_add(shown);
    let span = Span::new(start, end.saturating_sub(start));
    let bytes = elf.source().read_up_to(start, span.size.min(VALUE_LIMIT))?;
    let mut record = Record::new(title(&path), span, Some(METADATA_SOURCE));
    let parts = [
        (["key format", "key"], key, u64::MAX),
        (["format", "value"], Some(value), shown),
    ];
    for (names, part, shown) in parts {
        let Some(part) = part else {
            continue;
        };
        let at = part.span.offset.saturating_sub(start);
        let rest = (bytes.len() as u64).saturating_sub(at);
        let size = part.span.size.min(shown).min(rest);
        let (kind, skip) = match part.content {
            Content::Text(_) => (Kind::Text, msgpack::text_at(format_of(part)?)),
            // A number of one byte is its own format.
            _ => (Kind::Bytes, u64::from(size > 1)),
        };
        let skip = skip.min(size);
        let (at, skip, size) = (at as u32, skip as u32, size as u32);
        record.append_bytes(names[0], &bytes, at, skip, Kind::Bytes);
        record.append_bytes(names[1], &bytes, at + skip, size - skip, kind);
        record.explain(names[1], part.label(), None);
    }
    annotate(&mut record, step, value);
    Ok(record)
}

/// The record of the line of YAML that holds the byte at `offset`.
fn line_record(elf: &Elf, metadata: &Metadata, offset: u64) -> Result<Record> {
    let first = metadata.span.offset.max(offset.saturating_sub(VALUE_LIMIT));
    let last = metadata.span.end().min(offset.saturating_add(VALUE_LIMIT));
    let window = elf.source().read_up_to(first, last.saturating_sub(first))?;
    let (before, after) = window.split_at(window.len().min(offset.saturating_sub(first) as usize));
    let begin = before
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    let end = after
        .iter()
        .position(|&byte| byte == b'\n')
        .map_or(after.len(), |at| at + 1);
    let line = window.get(begin..before.len() + end).unwrap_or_default();
    let span = Span::new(first + begin as u64, line.len() as u64);
    // Blanks and the dashes of items stand before what the line says.
    let blanks = line
        .iter()
        .enumerate()
        .take_while(|&(at, &byte)| byte == b' ' || byte == b'-' && line.get(at + 1) == Some(&b' '));
    let at = span.offset + blanks.count() as u64;
    let Walk {
        key,
        value,
        step,
        path,
    } = Walk::new(metadata).to(at);
    let key = key.filter(|key| key.span.offset == at);
    let is_said = key.is_some() || value.span.offset == at && value.span.within(span.end());
    if !is_said {
        let mut record = Record::new(title(""), span, Some(METADATA_SOURCE));
        record.append_bytes("line", line, 0, line.len() as u32, Kind::Text);
        return Ok(record);
    }
    let mut record = Record::new(title(&path), span, Some(METADATA_SOURCE));
    for (name, part) in [("key", key), ("value", Some(value))] {
        // The value of a key can be the block below it.
        if let Some(part) = part.filter(|part| part.span.within(span.end())) {
            let place = part.span.offset.saturating_sub(span.offset) as u32;
            record.append_bytes(name, line, place, part.span.size as u32, Kind::Text);
            record.explain(name, part.label(), None);
        }
    }
    annotate(&mut record, step, value);
    Ok(record)
}

/// Says what the last field of the record of a value is for.
fn annotate(record: &mut Record, step: Step, value: &Value) {
    let Some(field) = record.fields.last_mut() else {
        return;
    };
    field.note = step.note(value);
    if let Some(call) = step.printf(value) {
        field.meaning = Some(call.to_string());
    }
}

fn title(path: &str) -> String {
    format!("metadata {path}").trim_end().into()
}
