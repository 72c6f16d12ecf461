//! What a file holds, in a terminal.

use std::io::Write;
use std::path::Path;

use kernelscope::container::names;
use kernelscope::document::Document;
use kernelscope::lists;
use kernelscope::rows::{Cell, Column, Rows, Table, Unit, column};
use kernelscope::span::Span;
use serde::Serialize;

use crate::arguments::{Arguments, Failure};
use crate::{json, read, visible};

/// Members that lie in others which are known only when these are unpacked: so deep they are followed.
const DEPTH: u32 = 8;

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
            "kernelscope: {}: {} files hold no others",
            visible(&arguments.file),
            document.format().title()
        )?,
    }
    Ok(())
}

/// Opens all members that are code.
pub fn survey(document: &mut Document) {
    while !document.survey(u64::MAX).finished {}
}

/// Prints the kernels of all members.
pub fn kernels(
    document: &mut Document,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    survey(document);
    match document.table("all_kernels") {
        Some(table) if arguments.json => json(out, &Rows(&*table))?,
        Some(table) => lists::print(&*table, out)?,
        None => list(document, arguments, out)?,
    }
    Ok(())
}

/// The columns of the table of members that say how much there is of each.
const SIZES: &[Column] = &[
    column("target", "Architecture", Unit::Text),
    column("format", "Format", Unit::Word),
    column("stored_size", "Stored", Unit::Size),
    column("size", "Size", Unit::Size),
    column("compression", "Compression", Unit::Word),
    column("kernel_count", "Kernels", Unit::Number),
    column("path", "Path", Unit::Text),
    column("same_as", "Same bytes as", Unit::Text),
];

/// Some rows of a table, in an order of their own.
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
        match self.rows.get(row as usize) {
            Some(&row) => self.table.cell(row, key),
            None => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.table.place(*self.rows.get(row as usize)?)
    }
}

/// Prints how many bytes the code of each member takes, the largest first.
pub fn size(
    document: &mut Document,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    survey(document);
    let Some(table) = document.table("members") else {
        return list(document, arguments, out);
    };
    let members = &document.contents().members;
    let is_code = |row: &u64| members[*row as usize].code().is_some();
    let mut rows: Vec<u64> = (0..table.len()).filter(is_code).collect();
    rows.sort_by_key(|&row| std::cmp::Reverse(members[row as usize].span.size));
    let sizes = Sizes {
        table: &*table,
        rows,
    };
    match arguments.json {
        true => json(out, &Rows(&sizes))?,
        false => lists::print(&sizes, out)?,
    }
    Ok(())
}

/// A file that was written.
#[derive(Serialize)]
struct Written {
    path: String,
    file: String,
    size: u64,
}

/// Writes members as files.
pub fn extract(
    document: &Document,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<bool, Failure> {
    let Some(folder) = arguments.out.as_deref() else {
        return Err(Failure::Usage("extract: -o DIR is missing".into()));
    };
    if arguments.all == arguments.member.is_some() {
        return Err(Failure::Usage(
            "extract: say either --member PATH or --all".into(),
        ));
    }
    std::fs::create_dir_all(folder).map_err(|error| failure(folder, &error))?;
    let base = arguments.file.file_stem().unwrap_or_default();
    let base = base.to_string_lossy();
    let mut extraction = Extraction {
        folder,
        written: Vec::new(),
        has_errors: false,
    };
    match &arguments.member {
        Some(path) => extraction.one(document, path, &base)?,
        None => extraction.all(document, "", &base, 0)?,
    }
    if arguments.json {
        json(out, &extraction.written)?;
    } else {
        for written in &extraction.written {
            let line = format!("{}  {} bytes  {}", written.file, written.size, written.path);
            writeln!(out, "{}", kernelscope::export::visible(&line))?;
        }
    }
    Ok(extraction.has_errors)
}

fn failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Read(format!("{}: {error}", visible(path)))
}

struct Extraction<'a> {
    folder: &'a Path,
    written: Vec<Written>,
    has_errors: bool,
}

impl Extraction<'_> {
    /// Writes the member of that path.
    fn one(&mut self, document: &Document, path: &str, base: &str) -> Result<(), Failure> {
        let member = document.open_path(path).map_err(read)?;
        let name = match document.contents().find(path) {
            Some((index, None)) => document
                .contents()
                .file_names(base)
                .swap_remove(index as usize),
            _ => {
                let extension = names::extension(member.format());
                let dot = if extension.is_empty() { "" } else { "." };
                let stem = names::safe(&format!("{base}.{}", path.replace("!/", ".")));
                format!("{stem}{dot}{extension}")
            }
        };
        self.write(&member, path.into(), name)
    }

    /// Writes every member that holds no others that are known; of those that are unpacked to know them, these.
    fn all(
        &mut self,
        document: &Document,
        around: &str,
        base: &str,
        depth: u32,
    ) -> Result<(), Failure> {
        let contents = document.contents();
        let names = contents.file_names(base);
        for ((index, member), name) in (0..).zip(&contents.members).zip(names) {
            if member.children > 0 || member.span.size == 0 {
                continue;
            }
            let path = format!("{around}{}", contents.path(index));
            let opened = match document.open_member(index) {
                Ok(opened) => opened,
                Err(error) => {
                    self.has_errors = true;
                    let error = kernelscope::export::visible(&error.to_string()).into_owned();
                    let _ = writeln!(std::io::stderr(), "kernelscope: {error}");
                    continue;
                }
            };
            // What is wrong with the member itself is not wrong with how it is packed.
            for finding in opened.findings().iter() {
                if finding
                    .context
                    .as_deref()
                    .is_some_and(|at| at.starts_with("member "))
                {
                    self.has_errors = true;
                    let finding = kernelscope::export::visible(&finding.to_string()).into_owned();
                    let _ = writeln!(std::io::stderr(), "kernelscope: {finding}");
                }
            }
            if opened.contents().members.is_empty() || depth >= DEPTH {
                self.write(&opened, path, name)?;
            } else {
                let name = contents.path(index).replace("!/", ".");
                let base = names::safe(&format!("{base}.{name}"));
                self.all(&opened, &format!("{path}!/"), &base, depth + 1)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, member: &Document, path: String, name: String) -> Result<(), Failure> {
        let file = self.folder.join(&name);
        let source = member.source();
        let mut out = std::fs::File::create(&file).map_err(|error| failure(&file, &error))?;
        let mut at = 0;
        while at < source.size() {
            let size = (1 << 20).min(source.size() - at);
            let bytes = source.read(Span::new(at, size)).map_err(read)?;
            out.write_all(&bytes)
                .map_err(|error| failure(&file, &error))?;
            at += size;
        }
        self.written.push(Written {
            path,
            file: name,
            size: source.size(),
        });
        Ok(())
    }
}
