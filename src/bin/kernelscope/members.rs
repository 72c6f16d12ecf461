//! What a file holds, in a terminal.

use std::io::Write;

use kernelscope::container::Member;
use kernelscope::document::Document;
use kernelscope::error::{Kind, Severity};
use kernelscope::lists::{self, GpuList};
use kernelscope::rows::{Cell, Column, Row, Rows, Table, Unit, column};
use kernelscope::runs::AnyGpu;
use kernelscope::span::Span;
use serde::Serialize;

use crate::arguments::{Arguments, Failure};
use crate::progress::{Line, STEP, megabytes};
use crate::{json, no_gpu, runs, visible};

/// Errors that are told beside what is listed, at most.
const ERRORS: usize = 10;

/// Says what was not looked at, since there is too much of it: numbers are of less then. And what is wrong, which the exit code tells.
pub fn complain(document: &Document) -> std::io::Result<()> {
    let mut errors = 0;
    for finding in document.findings().all() {
        let is_error = finding.severity == Severity::Error;
        errors += usize::from(is_error);
        if finding.kind != Kind::Limit && (!is_error || errors > ERRORS) {
            continue;
        }
        let line = kernelscope::export::visible(&finding.to_string()).into_owned();
        writeln!(std::io::stderr(), "kernelscope: {line}")?;
    }
    if errors > ERRORS {
        let more = errors - ERRORS;
        writeln!(
            std::io::stderr(),
            "kernelscope: {more} more errors are among the findings"
        )?;
    }
    Ok(())
}

/// Opens what is packed, where only that tells which code is in it: libraries in a wheel.
pub fn unpack(document: &mut Document) {
    let members = &document.contents().members;
    if members.iter().any(Member::is_unread) {
        survey(document);
    }
}

/// Prints the members: of a file that holds none, none.
pub fn list(
    document: &Document,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let table = document.table(match arguments.command.as_str() {
        "ls" => "members",
        command => command,
    });
    match table {
        Some(table) if arguments.json => json(out, &Rows(&*table))?,
        Some(table) => lists::print(&*table, out)?,
        None if arguments.json => json(out, &[(); 0])?,
        None => writeln!(
            std::io::stderr(),
            "kernelscope: {}: no members are known of it ({})",
            visible(&arguments.file),
            document.format().title()
        )?,
    }
    Ok(())
}

/// Opens all members that are code.
pub fn survey(document: &mut Document) {
    let mut line = Line::new();
    loop {
        let progress = document.survey(STEP);
        if progress.finished {
            return;
        }
        line.show(|| {
            let (members, of) = (progress.done, progress.total);
            let percent = 100.0 * progress.bytes as f64 / progress.total_bytes.max(1) as f64;
            format!("opened {members} of {of} members so far, {percent:.0} %")
        });
    }
}

/// Looks through all of the file for code that nothing tells of.
pub fn carve(document: &mut Document) {
    let mut line = Line::new();
    loop {
        let progress = document.carve(STEP);
        if progress.finished {
            return;
        }
        line.show(|| {
            let [bytes, of] = [progress.done, progress.total].map(megabytes);
            format!("searched {bytes} of {of} MB")
        });
    }
}

/// Prints the kernels of all members.
pub fn kernels(
    document: &mut Document,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    survey(document);
    let key = match arguments.across {
        true => "across",
        false => "all_kernels",
    };
    match document.table(key) {
        Some(table) if arguments.json => json(out, &Rows(&*table))?,
        Some(table) => lists::print(&*table, out)?,
        None => list(document, arguments, out)?,
    }
    Ok(())
}

/// Prints kernels that the file has for some of its architectures and not for others; with a GPU, whether they run there.
pub fn missing(
    document: &mut Document,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let key = match arguments.which.as_deref() {
        Some(asked) if AnyGpu::named(asked).is_none() => return Err(no_gpu(asked)),
        Some(asked) => format!("missing/{asked}"),
        None => "missing".into(),
    };
    survey(document);
    match document.table(&key) {
        Some(table) if arguments.json => json(out, &Rows(&*table))?,
        Some(table) => lists::print(&*table, out)?,
        None => list(document, arguments, out)?,
    }
    Ok(())
}

/// Whether a file runs on a GPU, and which of its kernels do not.
#[derive(Serialize)]
struct RunsOn<'a> {
    gpu: Row<'a>,
    /// Kernels of all members.
    kernels: u64,
    missing: Rows<'a>,
}

/// Prints whether the file runs on the GPU that is asked for, by what, and which of its kernels do not.
pub fn runs_on(
    document: &mut Document,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let asked = arguments.which.as_deref().unwrap_or_default();
    survey(document);
    let found = document.runs_on(asked).ok_or_else(|| no_gpu(asked))?;
    let table = document.table(&format!("missing/{asked}"));
    let (Some(known), Some(missing)) = (document.missing(), table) else {
        return runs(document, arguments, out);
    };
    let kernels = AnyGpu::named(asked).map_or(0, |gpu| known.kernel_count(gpu));
    let not_running = found.missing_kernels.unwrap_or_default();
    // Those that do not run there come first.
    let missing = First(missing, not_running);
    if arguments.json {
        let gpus = GpuList(vec![found]);
        let gpu = Row {
            table: &gpus,
            index: 0,
        };
        let missing = Rows(&missing);
        json(
            out,
            &RunsOn {
                gpu,
                kernels,
                missing,
            },
        )?;
        return Ok(());
    }
    let mut line = found.to_string();
    if let Some(served) = found.served_by {
        line.push_str(&format!("; by the {}, as in {}", served.by, served.path));
    }
    writeln!(out, "{}", kernelscope::export::visible(&line))?;
    for library in &found.libraries {
        writeln!(
            out,
            "  {}",
            kernelscope::export::visible(&library.to_string())
        )?;
    }
    writeln!(out, "{not_running} of {kernels} kernels do not run there")?;
    if not_running > 0 {
        writeln!(out)?;
        lists::print(&missing, out)?;
    }
    Ok(())
}

/// The first rows of a table.
struct First<'a>(Box<dyn Table + 'a>, u64);

impl Table for First<'_> {
    fn columns(&self) -> &[Column] {
        self.0.columns()
    }

    fn len(&self) -> u64 {
        self.1.min(self.0.len())
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        self.0.cell(row, key)
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.0.place(row)
    }
}

/// The columns of the tree of sizes in a terminal: names come last, since they are set in.
const SIZES: &[Column] = &[
    column("stored_size", "Stored", Unit::Size),
    column("size", "Size", Unit::Size),
    column("percent", "%", Unit::Number),
    column("kernel_count", "Kernels", Unit::Number),
    column("wasted_bytes", "Stored again", Unit::Size),
    column("what", "What", Unit::Word),
    column("name", "Name", Unit::Text),
    column("same_as", "Same bytes as", Unit::Text),
];

/// Some rows of a tree, those that are in one set in further.
struct Sizes<'a> {
    table: &'a dyn Table,
    rows: Vec<u64>,
}

impl Table for Sizes<'_> {
    fn columns(&self) -> &'static [Column] {
        SIZES
    }

    fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(&row) = self.rows.get(row as usize) else {
            return Cell::None;
        };
        let cell = self.table.cell(row, key);
        match (key, self.table.cell(row, "depth")) {
            ("name", Cell::Int(depth)) => {
                format!("{:1$}{2}", "", 2 * depth as usize, cell.text(Unit::Text)).into()
            }
            _ => cell,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.table.place(*self.rows.get(row as usize)?)
    }
}

/// Prints what takes how many bytes, as a tree; in a terminal as far as the members, unless all is asked for.
pub fn size(
    document: &mut Document,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    survey(document);
    let Some(table) = document.table("size") else {
        return list(document, arguments, out);
    };
    if arguments.json {
        json(out, &Rows(&*table))?;
        return Ok(());
    }
    let is_told = |row: &u64| {
        let is_within = table.cell(*row, "member") != Cell::None;
        arguments.all || !is_within || table.cell(*row, "is_member") == Cell::Bool(true)
    };
    let sizes = Sizes {
        rows: (0..table.len()).filter(is_told).collect(),
        table: &*table,
    };
    lists::print(&sizes, out)?;
    Ok(())
}
