//! The metadata of a code object as [`Table`]s: every key and item, and the calls of printf.

use crate::amdgpu::Metadata;
use crate::amdgpu::printf::Printf;
use crate::amdgpu::tree::Entry;
use crate::amdgpu::value::{Content, Value};
use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::span::Span;

/// The keys and items of metadata, those below one behind it.
pub struct MetadataList<'a>(pub &'a Metadata);

impl<'a> MetadataList<'a> {
    fn entry(&self, row: u64) -> Option<Entry<'a>> {
        self.0.rows().entry(self.0, row)
    }
}

/// A scalar; of a map how many entries it has, and the name that is one of them.
fn label(value: &Value) -> String {
    const NAMES: &[&str] = &[".name", "Name", ".value_kind", "ValueKind"];
    let mut label = value.label();
    if let Content::Map(_) = value.content
        && let Some(name) = NAMES.iter().find_map(|name| value.get(name)?.text())
    {
        label += ": ";
        label += name;
    }
    label
}

impl Table for MetadataList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("key", "Key", Unit::Text),
            column("value", "Value", Unit::Text),
            column("type", "Type", Unit::Word),
            column("note", "Meaning", Unit::Text),
            column("offset", "Offset", Unit::Hex),
            column("size", "Size", Unit::Size),
            hidden("path", "Path", Unit::Text),
            hidden("depth", "Depth", Unit::Number),
            hidden("parent", "Row that it is in", Unit::Number),
            hidden("next", "Row behind it", Unit::Number),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.0.rows().len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(entry) = self.entry(row) else {
            return Cell::None;
        };
        let value = entry.value;
        match key {
            "key" => match entry.key {
                Some(key) => key.label().into(),
                None => format!("[{}]", entry.nth).into(),
            },
            "value" => label(value).into(),
            "type" => value.kind().into(),
            "note" => match entry.step.printf(value) {
                Some(call) => call.to_string().into(),
                None => Some(entry.step.note(value))
                    .filter(|note| !note.is_empty())
                    .into(),
            },
            "offset" => entry.span().offset.into(),
            "size" => entry.span().size.into(),
            "path" => entry.path.into(),
            "depth" => entry.depth.into(),
            "parent" => entry.parent.into(),
            "next" => entry.next.into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.entry(row)?.span().some()
    }
}

/// The calls of printf that metadata lists.
pub struct PrintfList<'a>(pub &'a [Value]);

impl Table for PrintfList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("id", "Number", Unit::Text),
            column("sizes", "Bytes of arguments", Unit::Text),
            column("format", "Format", Unit::Text),
            hidden("text", "As it stands", Unit::Text),
            column("offset", "Offset", Unit::Hex),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(value) = self.0.get(row as usize) else {
            return Cell::None;
        };
        let call = value.text().and_then(Printf::parse);
        match key {
            "id" => call.map(|call| call.key()).into(),
            "sizes" => call.map(|call| call.sizes_text()).into(),
            "format" => call.map(|call| call.format).into(),
            "text" => value.label().into(),
            "offset" => value.span.offset.into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.0.get(row as usize)?.span.some()
    }
}
