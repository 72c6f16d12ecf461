//! NVIDIA's structures in sections as records.

use super::attribute::{self, Coding, Context};
use super::callgraph::{self, CallGraph, Relation};
use super::cubin::COMPAT;
use super::info::Entries;
use super::kernel::{self, CODE};
use super::{note, tables};
use crate::elf::{Elf, Section, Strings};
use crate::error::Result;
use crate::record::{Layout, Record};
use crate::span::Span;

// Section types, see `tables/nvidia/elf.toml`.
pub(super) const INFO: u32 = 0x7000_0000;
pub(super) const CALLGRAPH: u32 = 0x7000_0001;
pub(super) const PROTOTYPE: u32 = 0x7000_0002;
pub(super) const RELOCATION_ACTION: u32 = 0x7000_000b;
pub(super) const MERCURY_INFO: u32 = 0x7000_0083;
pub(super) const MERCURY_CALLGRAPH: u32 = 0x7000_008a;
pub(super) const MERCURY_PROTOTYPE: u32 = 0x7000_008b;

/// The record that holds the byte at `offset` of `section`; `None` where this floor knows none.
pub(super) fn record_in(
    elf: &Elf,
    calls: &CallGraph,
    section: &Section,
    offset: u64,
) -> Result<Option<Record>> {
    match section.kind {
        INFO | MERCURY_INFO => attribute_at(elf, section, offset, Coding::Info),
        COMPAT => attribute_at(elf, section, offset, Coding::Compat),
        CALLGRAPH | MERCURY_CALLGRAPH => call_at(elf, calls, section, offset),
        PROTOTYPE | MERCURY_PROTOTYPE => {
            let found = entry_at(elf, section, offset, &tables::PROTOTYPE_ENTRY)?;
            Ok(found.map(|(_, mut record)| {
                explain(elf, section, &mut record);
                record
            }))
        }
        RELOCATION_ACTION => relocation_action(elf, section, offset),
        kind if kind == object::elf::SHT_NOTE.0 => note::record_in(elf, section.index, offset),
        _ => Ok(None),
    }
}

fn attribute_at(
    elf: &Elf,
    section: &Section,
    offset: u64,
    coding: Coding,
) -> Result<Option<Record>> {
    let span = elf.stored(section);
    let Some(entry) = Entries::new(elf.source(), span).find(offset) else {
        return Ok(None);
    };
    // The function whose attributes these are.
    let function = section
        .name
        .strip_prefix(kernel::INFO)
        .and_then(|n| n.strip_prefix('.'));
    let code = function.and_then(|name| {
        let mut sections = elf.sections.iter().rev();
        sections.find(|s| s.name.strip_prefix(CODE) == Some(name))
    });
    let code = code.map(|s| elf.stored(s)).unwrap_or_default();
    let context = Context::new(elf, section, code);
    attribute::record(&context, &entry, coding).map(Some)
}

/// The entry of `section`, a table of structures of `layout`, that holds the byte at `offset`, and its index.
fn entry_at(
    elf: &Elf,
    section: &Section,
    offset: u64,
    layout: &'static Layout,
) -> Result<Option<(u64, Record)>> {
    let span = elf.stored(section);
    let stride = u64::from(layout.bytes);
    if !span.contains(offset) {
        return Ok(None);
    }
    let index = (offset - span.offset) / stride;
    let entry = Span::new(span.offset + index * stride, stride).clamp(span.end());
    let bytes = elf.source().read(entry)?;
    let title = format!("{} {index}", section.name);
    Ok(Some((index, layout.read(title, &bytes, entry.offset))))
}

/// The entry of a call graph; `calls` knows which group those of `.nv.callgraph` are in.
fn call_at(elf: &Elf, calls: &CallGraph, section: &Section, offset: u64) -> Result<Option<Record>> {
    let Some((_, mut record)) = entry_at(elf, section, offset, &tables::CALLGRAPH_ENTRY)? else {
        return Ok(None);
    };
    explain(elf, section, &mut record);
    let (caller, callee) = (
        record.number("caller") as u32,
        record.number("callee") as u32,
    );
    if let Some(mark) = callgraph::mark(caller, callee) {
        let meaning = match Relation::of(mark) {
            Relation::Unknown => "begins a group that is not known".into(),
            group => format!(
                "of the pairs that follow the first {} the second",
                group.words()
            ),
        };
        record.explain("callee", meaning, None);
    } else if calls
        .at(record.span.offset)
        .is_some_and(|entry| entry.relation.has_prototype())
    {
        let strings = elf
            .symbol_table_in(section.symbols)
            .map(|table| table.strings);
        explain_string(elf, strings, &mut record, "callee");
    }
    Ok(Some(record))
}

/// Says what the symbols and strings of an entry of `section` are.
fn explain(elf: &Elf, section: &Section, record: &mut Record) {
    let context = Context::new(elf, section, Span::default());
    for field in &mut record.fields {
        context.explain(field, false);
    }
    let strings = elf
        .symbol_table_in(section.symbols)
        .map(|table| table.strings);
    explain_string(elf, strings, record, "prototype");
}

fn explain_string(elf: &Elf, strings: Option<Span>, record: &mut Record, field: &str) {
    let Some(Ok(strings)) = strings.map(|span| Strings::open(elf.source(), span)) else {
        return;
    };
    let at = record.number(field);
    record.explain(field, strings.text(at), strings.span(at));
}

/// `.nv.rel.action`: a header that names a relocation type, and an entry for it and for each type behind it.
fn relocation_action(elf: &Elf, section: &Section, offset: u64) -> Result<Option<Record>> {
    let span = elf.stored(section);
    let header = Span::new(span.offset, tables::REL_ACTION_HEADER.bytes.into());
    if header.contains(offset) && span.contains(offset) {
        let bytes = elf.source().read(header.clamp(span.end()))?;
        let title = tables::REL_ACTION_HEADER.name;
        return Ok(Some(tables::REL_ACTION_HEADER.read(
            title,
            &bytes,
            span.offset,
        )));
    }
    let Some((index, mut record)) = entry_at(elf, section, offset, &tables::REL_ACTION)? else {
        return Ok(None);
    };
    let base = elf.source().read_up_to(span.offset, 1)?;
    let base = base.first().copied().map_or(0, u64::from);
    if let Some(name) = tables::RELOCATION.name(base + index - 1) {
        record.name = format!("{} {name}", section.name);
    }
    Ok(Some(record))
}
