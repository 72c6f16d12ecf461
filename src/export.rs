//! Records as text: aligned columns, Markdown, a C struct, JSON.

use std::borrow::Cow;
use std::fmt::Write;

use crate::index::Index;
use crate::order;
use crate::record::{Field, Record};

/// A form in which a record can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Aligned columns: bits, name, value, meaning.
    Text,
    /// The report's JSON; browsers have a printer of their own.
    #[cfg(not(target_arch = "wasm32"))]
    Json,
    /// A table.
    Markdown,
    /// A packed C struct with the values as comments.
    C,
}

impl Form {
    /// The form called `name`: `text`, `json`, `markdown` or `c`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "text" => Self::Text,
            #[cfg(not(target_arch = "wasm32"))]
            "json" => Self::Json,
            "markdown" => Self::Markdown,
            "c" => Self::C,
            _ => return None,
        })
    }
}

/// Prints `record` in the form `form`.
pub fn print(record: &Record, form: Form) -> String {
    match form {
        Form::Text => text(record),
        #[cfg(not(target_arch = "wasm32"))]
        Form::Json => serde_json::to_string_pretty(record).unwrap_or_default(),
        Form::Markdown => markdown(record),
        Form::C => c(record),
    }
}

/// Lines of cells as columns of equal width, two spaces between them; `right` says which columns are
/// numbers, set against their right edge.
pub fn align(lines: &[Vec<String>], right: &[bool]) -> String {
    let mut widths = vec![0; lines.iter().map(Vec::len).max().unwrap_or(0)];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for line in lines {
        let start = out.len();
        for (i, cell) in line.iter().enumerate() {
            let pad = widths[i] - cell.chars().count();
            let right = right.get(i).copied().unwrap_or(false);
            if i > 0 {
                out.push_str("  ");
            }
            if right {
                out.extend(std::iter::repeat_n(' ', pad));
            }
            out.push_str(cell);
            if !right {
                out.extend(std::iter::repeat_n(' ', pad));
            }
        }
        out.truncate(start + out[start..].trim_end().len());
        out.push('\n');
    }
    out
}

/// `name` with what a terminal or an editor could mistake for a command made visible: control
/// characters, line ends, and marks that change the direction of writing.
pub fn visible(name: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
            || matches!(c, '\u{feff}' | '\u{61c}')
    };
    if !name.contains(is_hidden) {
        return name.into();
    }
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if is_hidden(c) {
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
        } else {
            out.push(c);
        }
    }
    out.into()
}

/// What a field says, and its bits beside it where these are another number.
pub fn value(field: &Field) -> String {
    if field.is_encoded() {
        format!("{} (raw {})", field.value_text(), field.raw_text())
    } else {
        field.value_text()
    }
}

fn meaning(field: &Field) -> &str {
    field.meaning.as_deref().unwrap_or(field.note)
}

/// Where the record is, in words.
fn span(record: &Record) -> String {
    let size = record.span.size;
    match record.is_stored {
        true => format!("{size} bytes at 0x{:x}", record.span.offset),
        false => format!("{size} bytes, written for each launch"),
    }
}

fn place(field: &Field) -> String {
    let [msb, lsb] = field.bits;
    format!("{msb}:{lsb}")
}

fn text(record: &Record) -> String {
    let mut out = format!("{}  {}\n", visible(&record.name), span(record));
    let mut lines: Vec<(u32, Vec<String>)> = record
        .fields
        .iter()
        .map(|field| {
            let name = match field.alternative_of {
                Some(_) => format!("  = {}", visible(&field.name)),
                None => visible(&field.name).into_owned(),
            };
            let cells = vec![
                format!("  +{}", field.bits[1] / 8),
                place(field),
                name,
                visible(&value(field)).into_owned(),
                visible(meaning(field)).into_owned(),
            ];
            (field.bits[1], cells)
        })
        .collect();
    for [msb, lsb] in record.gaps() {
        let cells = vec![
            format!("  +{}", lsb / 8),
            format!("{msb}:{lsb}"),
            "(unclaimed)".into(),
        ];
        lines.push((lsb, cells));
    }
    order::arrange(&mut lines, |(lsb, _)| u64::from(*lsb));
    let lines: Vec<Vec<String>> = lines.into_iter().map(|(_, cells)| cells).collect();
    out.push_str(&align(&lines, &[true, true, false, true]));
    if let Some(source) = record.source {
        let _ = writeln!(out, "  layout: {source}");
    }
    out
}

fn markdown(record: &Record) -> String {
    let cell = |text: &str| {
        visible(text)
            .replace('\\', "\\\\")
            .replace('|', "\\|")
            .replace('`', "\\`")
            .replace('<', "&lt;")
    };
    let mut out = format!(
        "**{}** ({})\n\n| Bits | Field | Value | Meaning |\n| ---: | --- | ---: | --- |\n",
        cell(&record.name),
        span(record)
    );
    for field in &record.fields {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            place(field),
            cell(&field.name),
            cell(&value(field)),
            cell(meaning(field))
        );
    }
    out
}

/// A C identifier made of `name`.
fn identifier(name: &str) -> String {
    let mut out: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, '_');
    }
    out
}

/// Fields that are whole bytes of a C integer stand as such; other fields stand as
/// packed bit-fields, lowest bit first (the order of GCC and Clang on little-endian machines).
fn c(record: &Record) -> String {
    let mut out = format!(
        "/* {}, {}; little-endian, no padding */\nstruct {} {{\n",
        comment(&record.name),
        span(record),
        identifier(record.layout.unwrap_or(&record.name))
    );
    let mut fields: Vec<(u32, u32, Option<&Field>)> = record
        .fields
        .iter()
        .filter(|field| field.alternative_of.is_none())
        .map(|field| (field.bits[1], field.bits[0] + 1, Some(field)))
        .chain(
            record
                .gaps()
                .into_iter()
                .map(|[msb, lsb]| (lsb, msb + 1, None)),
        )
        .collect();
    order::arrange(&mut fields, |(lsb, ..)| u64::from(*lsb));
    let mut names = Index::default();
    for (lsb, end, field) in fields {
        let mut name = field.map_or(format!("unclaimed_{lsb}"), |field| identifier(&field.name));
        // Members of one name, such as padding, go by their place.
        if names.get(name.as_bytes()).is_some() {
            let _ = write!(name, "_{lsb}");
        }
        names.add(name.as_bytes());
        let what = field.map_or(String::new(), |field| {
            let mut parts = vec![comment(&value(field)), comment(meaning(field))];
            parts.retain(|part| !part.is_empty());
            match parts.is_empty() {
                true => String::new(),
                false => format!(" /* {} */", parts.join(", ")),
            }
        });
        let bits = end - lsb;
        let declaration = match (lsb % 8, bits) {
            (0, 8 | 16 | 32 | 64) => format!("uint{bits}_t {name}"),
            (0, _) if bits % 8 == 0 => format!("uint8_t {name}[{}]", bits / 8),
            (_, 1..=32) => format!("uint32_t {name} : {bits}"),
            (_, 33..=64) => format!("uint64_t {name} : {bits}"),
            // No type of C has as many bits: a member for the first ones, bytes, and a member for the last ones.
            (within, _) => {
                let (head, tail) = ((8 - within) % 8, end % 8);
                let whole = (bits - head - tail) / 8;
                let mut members = Vec::new();
                if head > 0 {
                    members.push(format!("uint8_t {name}_head : {head}"));
                }
                members.push(format!("uint8_t {name}[{whole}]"));
                if tail > 0 {
                    members.push(format!("uint8_t {name}_tail : {tail}"));
                }
                members.join("; ")
            }
        };
        let _ = writeln!(out, "    {declaration};{what}");
    }
    out.push_str("} __attribute__((packed));\n");
    out
}

fn comment(text: &str) -> String {
    visible(text).replace("*/", "* /")
}
