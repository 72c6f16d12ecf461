//! Dumps of what was handed to a GPU, in a terminal.

use std::io::Write;
use std::path::Path;

use kernelscope::container::Format;
use kernelscope::decode::{Contents, Dumped};
use kernelscope::document::Document;
use kernelscope::dumps::TABLES;
use kernelscope::error::Severity;
use kernelscope::export;
use kernelscope::lists;
use kernelscope::rows::{Rows, Table};
use kernelscope::source::Source;
use serde::Serializer;
use serde::ser::SerializeMap;

use crate::arguments::{Arguments, Failure};
use crate::visible;

/// Opens the dump; with a second one, both launch descriptors one behind the other.
pub fn open(arguments: &Arguments) -> Result<Document, Failure> {
    let document = Document::decode(crate::source(&arguments.file)?, &arguments.inputs);
    let Some(path) = &arguments.with else {
        return Ok(document);
    };
    let mut bytes = bytes(&document, &arguments.file)?;
    let second = Document::decode(crate::source(path)?, &arguments.inputs);
    bytes.extend(self::bytes(&second, path)?);
    // Where one ends and the other begins, no bytes say.
    let dumps = [&document, &second].map(Document::dumped);
    let found = dumps
        .into_iter()
        .flatten()
        .flat_map(|dumped| &dumped.descriptors);
    let lengths = found.map(|found| {
        found
            .runs
            .iter()
            .map(|run| run.size)
            .sum::<u64>()
            .to_string()
    });
    let lengths = lengths.collect::<Vec<_>>().join(",");
    Ok(Document::decode(
        Source::memory(bytes),
        &format!("{}as=qmd;text=no;lengths={lengths}", arguments.inputs),
    ))
}

fn bytes(document: &Document, path: &Path) -> Result<Vec<u8>, Failure> {
    let name = visible(path);
    if document.format() != Format::Qmd {
        return Err(Failure::Read(format!(
            "{name}: launch descriptors are compared, and this is none: {}",
            document.format().title()
        )));
    }
    let source = document.source();
    let bytes = source.read_up_to(0, source.size());
    bytes.map_err(|error| Failure::Read(format!("{name}: {error}")))
}

/// Prints what is in the dump; whether what was typed has errors.
pub fn print(
    document: &Document,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<bool, Failure> {
    let Some(dumped) = document.dumped() else {
        return Ok(false);
    };
    let problems = &dumped.decoded.problems;
    let has_errors = problems.iter().any(|p| p.severity == Severity::Error);
    if arguments.json {
        json(document, dumped, out)?;
        return Ok(has_errors);
    }
    for problem in problems {
        let severity = problem.severity.word();
        let line = format!("{severity}: {}: {}", problem.input, problem.message);
        writeln!(out, "{}", export::visible(&line))?;
    }
    let mut words = vec![document.format().title().to_owned()];
    words.extend(document.facts());
    writeln!(out, "{}", export::visible(&words.join(" · ")))?;
    for input in &dumped.decoded.inputs {
        if !input.note.is_empty() {
            let line = format!("{}: {} ({})", input.label, input.value, input.note);
            writeln!(out, "{}", export::visible(&line))?;
        }
    }
    crate::findings(document, out)?;
    for key in TABLES {
        // One descriptor is printed as a whole below.
        let Some(table) = document.table(key).filter(|table| !table.is_empty()) else {
            continue;
        };
        writeln!(out)?;
        match *key {
            "compare" => differences(&*table, out)?,
            _ => lists::print(&*table, out)?,
        }
    }
    if dumped.descriptors.len() != 2 || !matches!(dumped.contents, Contents::Descriptors) {
        for record in dumped.records() {
            writeln!(out, "\n{}", export::print(&record, arguments.form))?;
        }
    }
    Ok(has_errors)
}

/// The fields in which two descriptors differ.
fn differences(table: &dyn Table, out: &mut impl Write) -> std::io::Result<()> {
    let columns = table
        .columns()
        .iter()
        .filter(|column| column.is_shown && column.key != "differs");
    let columns: Vec<_> = columns.collect();
    let mut lines = vec![
        columns
            .iter()
            .map(|column| column.title.clone().into_owned())
            .collect(),
    ];
    for row in 0..table.len() {
        if table.cell(row, "differs") == true.into() {
            let cell = |column: &&kernelscope::rows::Column| {
                let text = table.cell(row, &column.key).text(column.unit).into_owned();
                export::visible(&text).into_owned()
            };
            lines.push(columns.iter().map(cell).collect());
        }
    }
    writeln!(out, "{} of {} fields differ", lines.len() - 1, table.len())?;
    if lines.len() > 1 {
        write!(out, "{}", export::align(&lines, &[]))?;
    }
    Ok(())
}

fn json(document: &Document, dumped: &Dumped, out: &mut impl Write) -> Result<(), Failure> {
    let broken = |error: serde_json::Error| Failure::Write(error.into());
    let mut serializer = serde_json::Serializer::new(&mut *out);
    let mut map = serializer.serialize_map(None).map_err(broken)?;
    let mut entries = || -> serde_json::Result<()> {
        map.serialize_entry("format", &document.format())?;
        map.serialize_entry("facts", &document.facts())?;
        map.serialize_entry("inputs", &dumped.decoded.inputs)?;
        map.serialize_entry("problems", &dumped.decoded.problems)?;
        map.serialize_entry("findings", &document.findings().all())?;
        map.serialize_entry("records", &Records(dumped))?;
        for key in TABLES {
            if let Some(table) = document.table(key) {
                map.serialize_entry(key, &Rows(&*table))?;
            }
        }
        Ok(())
    };
    entries().map_err(broken)?;
    map.end().map_err(broken)?;
    writeln!(out)?;
    Ok(())
}

/// The records, written as they are read.
struct Records<'a>(&'a Dumped);

impl serde::Serialize for Records<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.records())
    }
}
