//! Turns `tables/<floor>/*.toml` into `src/<floor>/tables.rs`.
//!
//! A table is data with a public source: names for values, the layout of a fixed structure, or rows of a struct.
//! Everything is checked here, once, so that the code which reads the tables need not doubt them: fields lie inside
//! their structure and do not overlap unless one is an alternative of the other, values are sorted and unique,
//! references resolve.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::{Table, Value};

/// Where tables are kept; each floor has its own generated file.
const FLOORS: &[&str] = &["elf", "nvidia", "amdgpu", "container"];

/// The floor below the others: its names may be used there, as `elf.NAME`.
const BELOW: &str = "elf";

/// One TOML file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The public source of everything in the file that does not state its own.
    source: String,
    #[serde(default)]
    names: Vec<Names>,
    #[serde(default)]
    terms: Vec<Terms>,
    #[serde(default)]
    layout: Vec<Layout>,
    #[serde(default)]
    list: Vec<List>,
}

/// Names for the values of a field, or for its bits.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    name: String,
    about: String,
    source: Option<String>,
    entries: Vec<(u64, String, String)>,
}

/// What fields of a name are in all layouts that have them: name, kind, note.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Terms {
    name: String,
    entries: Vec<(String, String, String)>,
}

/// A structure of fixed size.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Layout {
    name: String,
    /// The name that is shown; that of the static if left out.
    title: Option<String>,
    about: String,
    source: Option<String>,
    bytes: u32,
    /// The terms that say what fields are which do not say so themselves.
    terms: Option<String>,
    /// Whether bits of no field are shown as fields, too.
    #[serde(default)]
    gaps: bool,
    fields: Vec<Field>,
}

/// One field of a structure: `at` is a byte offset; its width is `bytes`, or a range of `bits` counted from `at`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Field {
    name: String,
    #[serde(default)]
    at: u32,
    bytes: Option<u32>,
    /// Highest and lowest bit, both included.
    bits: Option<(u32, u32)>,
    /// The terms' if left out.
    kind: Option<String>,
    note: Option<String>,
    #[serde(default)]
    alternative_of: String,
    /// How many there are of it, and how many bits apart: the place is that of the first one.
    count: Option<u32>,
    stride: Option<u32>,
}

impl Field {
    /// How many there are and how many bits apart; `None` for a single one.
    fn repeat(&self) -> Result<Option<(u32, u32)>, String> {
        match (self.count, self.stride) {
            (None, None) => Ok(None),
            (Some(count), Some(stride)) if count > 0 && stride > 0 => Ok(Some((count, stride))),
            _ => Err(format!("{}: say both count and stride", self.name)),
        }
    }

    /// Lowest bit in the structure, and width in bits.
    fn place(&self) -> Result<(u32, u32), String> {
        match (self.bytes, self.bits) {
            (Some(bytes), None) if bytes > 0 => Ok((self.at * 8, bytes * 8)),
            (None, Some((high, low))) if high >= low => Ok((self.at * 8 + low, high - low + 1)),
            _ => Err(format!(
                "{}: say either bytes = n or bits = [high, low]",
                self.name
            )),
        }
    }
}

/// Rows of a struct that the floor defines.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    name: String,
    about: String,
    source: Option<String>,
    /// The struct's path, `crate::…`.
    r#type: String,
    /// Values of the fields that a row leaves out.
    #[serde(default)]
    defaults: Table,
    rows: Vec<Table>,
}

/// Writes the generated files, or, with `check`, fails where one differs from what the tables say.
pub fn run(check: bool) -> Result<(), String> {
    let root = root();
    let mut stale = Vec::new();
    let below = read(&root.join("tables").join(BELOW))?;
    for floor in FLOORS {
        let files = read(&root.join("tables").join(floor))?;
        let text = generate(floor, &files, if *floor == BELOW { &[] } else { &below })?;
        let path = root.join("src").join(floor).join("tables.rs");
        let old = fs::read_to_string(&path).unwrap_or_default();
        if old == text {
            continue;
        }
        if check {
            stale.push(format!("src/{floor}/tables.rs"));
        } else {
            fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
            println!("wrote src/{floor}/tables.rs");
        }
    }
    if stale.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "{} out of date: run `cargo xtask tables`",
            stale.join(", ")
        ))
    }
}

/// The workspace's root: this crate stands one directory below it.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask has a parent directory")
        .to_path_buf()
}

/// All TOML files of a floor in name order.
fn read(directory: &Path) -> Result<Vec<(String, File)>, String> {
    let entries = fs::read_dir(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|e| format!("{}: {e}", directory.display()))?
            .path();
        if path.extension().is_some_and(|x| x == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let file = toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        files.push((name, file));
    }
    Ok(files)
}

/// The Rust text of a floor; `below` is what the floor below it has.
fn generate(
    floor: &str,
    files: &[(String, File)],
    below: &[(String, File)],
) -> Result<String, String> {
    let in_floor = |file: &str, error: String| format!("tables/{floor}/{file}: {error}");
    let mut statics = BTreeSet::new();
    let mut names = BTreeMap::new();
    let terms = files.iter().flat_map(|(_, tables)| &tables.terms);
    let terms: BTreeMap<&str, &Terms> = terms.map(|t| (t.name.as_str(), t)).collect();
    for table in below.iter().flat_map(|(_, tables)| &tables.names) {
        names.insert(format!("{BELOW}.{}", table.name), table);
    }
    for (file, tables) in files {
        let titles = tables.names.iter().map(|t| &t.name);
        let titles = titles
            .chain(tables.layout.iter().map(|t| &t.name))
            .chain(tables.list.iter().map(|t| &t.name));
        for title in titles {
            if !is_static_name(title) {
                return Err(in_floor(
                    file,
                    format!("{title} is not the name of a static"),
                ));
            }
            if !statics.insert(title.as_str()) {
                return Err(in_floor(file, format!("{title} is there twice")));
            }
        }
        for table in &tables.names {
            check_names(table).map_err(|e| in_floor(file, e))?;
            names.insert(table.name.clone(), table);
        }
    }

    let mut body = String::new();
    let mut types = BTreeSet::new();
    for (file, tables) in files {
        writeln!(body, "\n// {file}").unwrap();
        for table in &tables.names {
            write_names(&mut body, table, &tables.source);
        }
        for layout in &tables.layout {
            let fields = check_layout(layout, &names, &terms)
                .map_err(|e| in_floor(file, format!("{}: {e}", layout.name)))?;
            write_layout(&mut body, layout, &fields, &tables.source);
        }
        for list in &tables.list {
            write_list(&mut body, list, &tables.source)
                .map_err(|e| in_floor(file, format!("{}: {e}", list.name)))?;
            types.insert(list.r#type.as_str());
        }
    }

    let any_names = files.iter().any(|(_, tables)| !tables.names.is_empty());
    let any_layout = files.iter().any(|(_, tables)| !tables.layout.is_empty());
    let mut text = String::new();
    writeln!(
        text,
        "// Generated by `cargo xtask tables` from tables/{floor}/; do not edit."
    )
    .unwrap();
    writeln!(
        text,
        "\n//! Names and layouts as data; `tables/{floor}/` holds them with their sources.\n\n// A table may be there before its first reader.\n#![allow(dead_code)]\n"
    )
    .unwrap();
    let mut uses: BTreeSet<String> = types.into_iter().map(String::from).collect();
    if body.contains("&below::") {
        uses.insert(format!("crate::{BELOW}::tables as below"));
    }
    for path in uses {
        writeln!(text, "use {path};").unwrap();
    }
    match (any_names, any_layout) {
        (true, true) => text.push_str("use crate::record::{Layout, Names};\n"),
        (true, false) => text.push_str("use crate::record::Names;\n"),
        (false, true) => text.push_str("use crate::record::Layout;\n"),
        (false, false) => {}
    }
    text.push_str(&body);
    Ok(text)
}

/// True for `UPPER_CASE_1`.
fn is_static_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn check_names(table: &Names) -> Result<(), String> {
    if table.entries.is_empty() {
        return Err(format!("{}: no entries", table.name));
    }
    for pair in table.entries.windows(2) {
        if pair[0].0 >= pair[1].0 {
            return Err(format!(
                "{}: {} and {} are not in increasing order",
                table.name, pair[0].1, pair[1].1
            ));
        }
    }
    match table.entries.iter().find(|(_, name, _)| name.is_empty()) {
        Some((value, ..)) => Err(format!("{}: value {value:#x} has no name", table.name)),
        None => Ok(()),
    }
}

/// A field that has been checked: its place, how often it is there, what it is.
struct Checked<'a> {
    field: &'a Field,
    lsb: u32,
    bits: u32,
    repeat: Option<(u32, u32)>,
    kind: String,
    note: &'a str,
}

impl Checked<'_> {
    /// The lowest bit of each.
    fn places(&self) -> impl Iterator<Item = u32> {
        let (count, stride) = self.repeat.unwrap_or((1, 0));
        let lsb = self.lsb;
        (0..count).map(move |i| lsb + i * stride)
    }

    /// Whether each shares bits with its counterpart in `other`.
    fn meets(&self, other: &Self) -> bool {
        self.places().count() == other.places().count()
            && self
                .places()
                .zip(other.places())
                .all(|(a, b)| a < b + other.bits && b < a + self.bits)
    }
}

fn check_layout<'a>(
    layout: &'a Layout,
    names: &BTreeMap<String, &Names>,
    terms: &'a BTreeMap<&str, &Terms>,
) -> Result<Vec<Checked<'a>>, String> {
    let terms = match layout.terms.as_deref() {
        None => &[][..],
        Some(name) => match terms.get(name) {
            Some(terms) => &terms.entries,
            None => return Err(format!("no terms {name}")),
        },
    };
    let mut checked: Vec<Checked<'a>> = Vec::new();
    for field in &layout.fields {
        let (lsb, bits) = field.place()?;
        let repeat = field.repeat()?;
        let (count, stride) = repeat.unwrap_or((1, 0));
        if lsb + (count - 1) * stride + bits > layout.bytes * 8 {
            return Err(format!(
                "{} ends past the structure's {} bytes",
                field.name, layout.bytes
            ));
        }
        let term = terms.iter().find(|(name, ..)| *name == field.name);
        let word = field
            .kind
            .as_deref()
            .or(term.map(|(_, kind, _)| kind.as_str()));
        let Some(word) = word else {
            return Err(format!("{}: no kind", field.name));
        };
        let note = field
            .note
            .as_deref()
            .or(term.map(|(.., note)| note.as_str()));
        let kind = kind(&field.name, word, bits, names)?;
        if checked.iter().any(|other| other.field.name == field.name) {
            return Err(format!("{} is there twice", field.name));
        }
        checked.push(Checked {
            field,
            lsb,
            bits,
            repeat,
            kind,
            note: note.unwrap_or_default(),
        });
    }
    for field in &checked {
        let primary = &field.field.alternative_of;
        if primary.is_empty() {
            continue;
        }
        match checked.iter().find(|other| other.field.name == *primary) {
            None => {
                return Err(format!(
                    "{}: no field {primary} to be an alternative of",
                    field.field.name
                ));
            }
            Some(other) if !other.field.alternative_of.is_empty() => {
                return Err(format!(
                    "{}: {primary} is itself an alternative",
                    field.field.name
                ));
            }
            Some(other) if !field.meets(other) => {
                return Err(format!(
                    "{}: shares no bit with {primary}",
                    field.field.name
                ));
            }
            Some(_) => {}
        }
    }
    let mut primary: Vec<(u32, &Checked)> = checked
        .iter()
        .filter(|f| f.field.alternative_of.is_empty())
        .flat_map(|f| f.places().map(move |lsb| (lsb, f)))
        .collect();
    primary.sort_by_key(|(lsb, _)| *lsb);
    for pair in primary.windows(2) {
        let [(lsb, field), (next, other)] = [pair[0], pair[1]];
        if lsb + field.bits > next {
            return Err(format!(
                "{} and {} overlap",
                field.field.name, other.field.name
            ));
        }
    }
    Ok(checked)
}

/// The field's kind as a Rust expression.
fn kind(
    field: &str,
    kind: &str,
    bits: u32,
    names: &BTreeMap<String, &Names>,
) -> Result<String, String> {
    let (word, argument) = match kind.split_once(':') {
        Some((word, argument)) => (word, Some(argument)),
        None => (kind, None),
    };
    let wide = matches!(word, "bytes" | "text" | "reserved");
    if bits > 64 && !wide {
        return Err(format!("{}: {bits} bits are too wide for {word}", field));
    }
    let plain = [
        "unsigned", "signed", "hex", "address", "offset", "size", "count", "string", "section",
        "symbol", "bytes", "text", "reserved", "log2", "float",
    ];
    if word == "flag" && bits != 1 {
        return Err(format!("{}: a flag has one bit", field));
    }
    match (word, argument) {
        (_, None) if word == "flag" || plain.contains(&word) => Ok(word.into()),
        ("enum" | "flags", Some(table)) => {
            let Some(entries) = names.get(table) else {
                return Err(format!("{}: no names {table}", field));
            };
            let limit = if bits == 64 {
                u64::MAX
            } else {
                (1 << bits) - 1
            };
            let path = table.replace(&format!("{BELOW}."), "below::");
            if word == "enum" {
                return Ok(format!("enum:&{path}"));
            }
            match entries
                .entries
                .iter()
                .find(|(value, ..)| *value == 0 || *value > limit)
            {
                Some((value, name, _)) => {
                    Err(format!("{}: {name} ({value:#x}) is no flag of it", field))
                }
                None => Ok(format!("flags:&{path}")),
            }
        }
        ("scaled", Some(argument)) => {
            let numbers = argument.split_once(',').and_then(|(multiply, add)| {
                Some((
                    multiply.trim().parse::<u32>().ok()?,
                    add.trim().parse::<u32>().ok()?,
                ))
            });
            let Some((multiply, add)) = numbers else {
                return Err(format!("{}: write scaled:multiply,add", field));
            };
            Ok(format!("scaled:{multiply},{add}"))
        }
        _ => Err(format!("{field}: unknown kind {kind}")),
    }
}

/// The documentation of a static: what it is, in one line, and where that comes from.
fn write_about(out: &mut String, about: &str, source: &str) {
    writeln!(out, "\n/// {}.", about.trim_end_matches('.')).unwrap();
    writeln!(out, "// Source: {source}\n#[rustfmt::skip]").unwrap();
}

/// A line of a packed table, in a string literal that goes on with the next one.
fn write_line(out: &mut String, cells: &[&str]) {
    let line = cells.join("\t");
    let literal = format!("{line:?}");
    writeln!(out, "{}\\n\\", &literal[1..literal.len() - 1]).unwrap();
}

fn write_names(out: &mut String, table: &Names, source: &str) {
    write_about(out, &table.about, table.source.as_deref().unwrap_or(source));
    writeln!(out, "pub static {}: Names = Names::packed(\"\\", table.name).unwrap();
    for (value, name, note) in &table.entries {
        write_line(out, &[&format!("{value:x}"), name, note]);
    }
    out.push_str("\");\n");
}

fn write_layout(out: &mut String, layout: &Layout, fields: &[Checked], source: &str) {
    let source = layout.source.as_deref().unwrap_or(source);
    write_about(out, &layout.about, source);
    let title = layout.title.as_deref().unwrap_or(&layout.name);
    // Kinds that name a table refer to it by its place in this list.
    let mut names: Vec<&str> = Vec::new();
    let mut lines = String::new();
    let mut next = 0;
    for Checked {
        field,
        lsb,
        bits,
        repeat,
        kind,
        note,
    } in fields
    {
        let kind = match kind.split_once('&') {
            None => kind.clone(),
            Some((word, table)) => {
                let known = names.iter().position(|name| *name == table);
                let index = known.unwrap_or_else(|| {
                    names.push(table);
                    names.len() - 1
                });
                format!("{word}{index}")
            }
        };
        // Lines are alike in layouts that are alike where they do not say what follows from the line before.
        let lsb_text = if *lsb == next {
            String::new()
        } else {
            lsb.to_string()
        };
        next = lsb + bits;
        let repeat = repeat.map(|(count, stride)| format!("{count},{stride}"));
        let bits = bits.to_string();
        let mut cells = vec![field.name.as_str(), &lsb_text, &bits, &kind, note];
        cells.push(&field.alternative_of);
        cells.extend(repeat.as_deref());
        while cells.last().is_some_and(|cell| cell.is_empty()) {
            cells.pop();
        }
        write_line(&mut lines, &cells);
    }
    let names: Vec<String> = names.iter().map(|name| format!("&{name}")).collect();
    writeln!(
        out,
        "pub static {}: Layout = Layout::packed({title:?}, {}, {source:?}, &[{}], \"\\",
        layout.name,
        layout.bytes,
        names.join(", ")
    )
    .unwrap();
    out.push_str(&lines);
    out.push_str(if layout.gaps {
        "\").with_gaps();\n"
    } else {
        "\");\n"
    });
}

fn write_list(out: &mut String, list: &List, source: &str) -> Result<(), String> {
    let Some((_, name)) = list.r#type.rsplit_once("::") else {
        return Err(format!("{} is not a path", list.r#type));
    };
    write_about(out, &list.about, list.source.as_deref().unwrap_or(source));
    writeln!(out, "pub static {}: &[{name}] = &[", list.name).unwrap();
    let mut first: Option<Vec<String>> = None;
    for row in &list.rows {
        let mut values = list.defaults.clone();
        values.extend(row.clone());
        let keys: Vec<String> = values.keys().cloned().collect();
        match &first {
            Some(first) if *first != keys => {
                return Err(format!("a row has {keys:?}, the first has {first:?}"));
            }
            Some(_) => {}
            None => first = Some(keys),
        }
        let mut fields = Vec::new();
        for (key, value) in &values {
            fields.push(format!("{key}: {}", literal(value)?));
        }
        writeln!(out, "    {name} {{ {} }},", fields.join(", ")).unwrap();
    }
    out.push_str("];\n");
    Ok(())
}

/// A TOML value as a Rust literal.
fn literal(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(format!("{text:?}")),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Boolean(truth) => Ok(truth.to_string()),
        Value::Array(items) => {
            let items: Result<Vec<String>, String> = items.iter().map(literal).collect();
            Ok(format!("&[{}]", items?.join(", ")))
        }
        Value::Float(_) | Value::Datetime(_) | Value::Table(_) => {
            Err(format!("{value:?} has no form in a list"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generate_one(text: &str) -> Result<String, String> {
        generate(
            "test",
            &[("one.toml".into(), toml::from_str(text).unwrap())],
            &[],
        )
    }

    fn layout(fields: &str) -> Result<String, String> {
        generate_one(&format!(
            "source = 's'\n[[layout]]\nname = 'A'\nabout = 'a'\nbytes = 4\nfields = [{fields}]\n"
        ))
    }

    #[test]
    fn a_field_past_the_end_is_refused() {
        assert!(layout("{ name = 'a', at = 2, bytes = 2, kind = 'hex' }").is_ok());
        let error = layout("{ name = 'a', at = 3, bytes = 2, kind = 'hex' }").unwrap_err();
        assert!(error.contains("ends past"), "{error}");
    }

    #[test]
    fn overlap_is_refused_unless_it_is_an_alternative() {
        let word = "{ name = 'a', at = 0, bytes = 4, kind = 'hex' }";
        let error = layout(&format!(
            "{word}, {{ name = 'b', at = 1, bits = [3, 2], kind = 'hex' }}"
        ))
        .unwrap_err();
        assert!(error.contains("overlap"), "{error}");
        let text = layout(&format!(
            "{word}, {{ name = 'b', at = 1, bits = [3, 2], kind = 'hex', alternative_of = 'a' }}"
        ))
        .unwrap();
        assert!(text.contains("b\\t10\\t2\\thex\\t\\ta\\n"), "{text}");
        let error =
            layout("{ name = 'b', at = 1, bits = [3, 2], kind = 'hex', alternative_of = 'z' }")
                .unwrap_err();
        assert!(error.contains("no field z"), "{error}");
    }

    #[test]
    fn fields_that_are_many_are_checked_one_by_one() {
        let many = "{ name = 'a', bits = [3, 0], count = 4, stride = 8, kind = 'hex' }";
        let text = layout(many).unwrap();
        assert!(text.contains("a\\t\\t4\\thex\\t\\t\\t4,8\\n"), "{text}");
        let text = layout(&format!(
            "{many}, {{ name = 'b', bits = [7, 4], count = 4, stride = 8, kind = 'hex' }}"
        ));
        assert!(text.unwrap().contains("b\\t\\t4\\thex"));
        let error = layout(&format!(
            "{many}, {{ name = 'b', bits = [17, 15], kind = 'hex' }}"
        ))
        .unwrap_err();
        assert!(error.contains("overlap"), "{error}");
        let error = layout("{ name = 'a', bits = [3, 0], count = 5, stride = 8, kind = 'hex' }")
            .unwrap_err();
        assert!(error.contains("ends past"), "{error}");
        assert!(layout("{ name = 'a', bits = [3, 0], count = 4, kind = 'hex' }").is_err());
    }

    #[test]
    fn what_fields_are_may_stand_in_terms() {
        let with = |fields: &str| {
            generate_one(&format!(
                "source = 's'\n[[terms]]\nname = 'T'\nentries = [['a', 'count', 'of it']]\n[[layout]]\nname = 'A'\n\
                 about = 'a'\nbytes = 4\nterms = 'T'\ngaps = true\nfields = [{fields}]\n"
            ))
        };
        let text = with("{ name = 'a', bits = [3, 0] }").unwrap();
        assert!(text.contains("a\\t\\t4\\tcount\\tof it\\n"), "{text}");
        assert!(text.contains("with_gaps()"), "{text}");
        let text = with("{ name = 'a', bits = [3, 0], kind = 'hex' }").unwrap();
        assert!(text.contains("a\\t\\t4\\thex\\tof it\\n"), "{text}");
        let error = with("{ name = 'b', bits = [3, 0] }").unwrap_err();
        assert!(error.contains("no kind"), "{error}");
    }

    #[test]
    fn values_are_sorted_and_unique() {
        let names = |entries: &str| {
            generate_one(&format!(
                "source = 's'\n[[names]]\nname = 'N'\nabout = 'n'\nentries = [{entries}]\n"
            ))
        };
        assert!(names("[1, 'a', ''], [2, 'b', '']").is_ok());
        assert!(names("[2, 'a', ''], [2, 'b', '']").is_err());
        assert!(names("[3, 'a', ''], [2, 'b', '']").is_err());
    }

    #[test]
    fn unknown_names_and_kinds_are_refused() {
        assert!(layout("{ name = 'a', at = 0, bytes = 4, kind = 'enum:N' }").is_err());
        assert!(layout("{ name = 'a', at = 0, bytes = 4, kind = 'colour' }").is_err());
        assert!(layout("{ name = 'a', at = 0, bytes = 4, kind = 'flag' }").is_err());
        assert!(layout("{ name = 'a', at = 0, bytes = 4, kind = 'scaled:8,1' }").is_ok());
    }
}
