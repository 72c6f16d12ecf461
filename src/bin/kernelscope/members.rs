//! What a file holds, in a terminal.

use std::io::Write;

use kernelscope::document::Document;
use kernelscope::lists;
use kernelscope::rows::{Cell, Column, Rows, Table, Unit, column};
use kernelscope::span::Span;

use crate::arguments::{Arguments, Failure};
use crate::{json, visible};

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
