//! Members as files, one after the other: what the terminal's `extract` writes, and what a page saves.
//!
//! One member is open at a time, besides those that had to be unpacked to know what is in them.

use crate::container::{Member, Unpacking, names};
use crate::document::{Document, Opening};
use crate::error::{Diagnostic, Error, Kind, Result};
use crate::index::Index;

/// Members that lie in others which are known only when these are unpacked: so deep they are followed.
const DEPTH: usize = 8;

/// A member that is to be a file.
pub struct Extracted {
    /// The names from the outside in.
    pub path: String,
    /// What the file is to be called: like no other one of the same extraction.
    pub name: String,
    /// The member, or why it cannot be had.
    pub opened: Result<Document>,
    /// Of one that is too large to be opened: its bytes, to be handed out one after the other.
    pub large: Option<Unpacking>,
    /// What is wrong with how it, and what it lies in, is packed.
    pub findings: Vec<Diagnostic>,
}

/// What a step of an extraction has come to.
pub enum Step {
    /// The next member is not open yet.
    Working,
    /// The next member; nothing behind the last one.
    Next(Option<Box<Extracted>>),
}

/// What there still is to extract.
pub struct Extract {
    levels: Vec<Level>,
    /// The member that is being opened, by its index.
    opening: Option<(u32, Opening)>,
    /// Whether members are taken apart which are unpacked to know what is in them.
    is_deep: bool,
    known: Index,
    findings: Vec<Diagnostic>,
}

/// Members of one document.
struct Level {
    /// What they lie in; `None` for the file itself.
    document: Option<Document>,
    /// The path of that, with what stands before the next name.
    around: String,
    base: String,
    names: Vec<String>,
    rows: std::vec::IntoIter<u32>,
}

impl Extract {
    /// Every member that holds no others; those of members that have to be unpacked to know them as well. `base` is what the file
    /// itself is called.
    pub fn all(document: &Document, base: &str) -> Self {
        Self::new(document, base, leaves(document), true)
    }

    /// The members of these rows of the table of members. Those that hold others of them are left out.
    pub fn of(document: &Document, base: &str, mut rows: Vec<u32>) -> Self {
        let members = &document.contents().members;
        crate::order::sort(&mut rows, &|a, b| a.cmp(&b));
        rows.dedup();
        rows.retain(|&row| (row as usize) < members.len());
        let holds = |at: usize| {
            let next = members[rows[at] as usize].next;
            rows.get(at + 1).is_some_and(|&row| row < next)
        };
        let left = (0..rows.len()).filter(|&at| !holds(at));
        let left = left.map(|at| rows[at]).collect();
        Self::new(document, base, left, false)
    }

    fn new(document: &Document, base: &str, rows: Vec<u32>, is_deep: bool) -> Self {
        let names = document.contents().file_names(base);
        Self {
            levels: vec![Level {
                document: None,
                around: String::new(),
                base: base.into(),
                names,
                rows: rows.into_iter(),
            }],
            opening: None,
            is_deep,
            known: Index::default(),
            findings: Vec::new(),
        }
    }

    /// Members that are still to come, and how many bytes of them headers tell; of what is in others that have to be unpacked,
    /// these.
    pub fn rest(&self, document: &Document) -> (u64, u64) {
        let mut rest = (0, 0);
        for level in &self.levels {
            let outer = level.document.as_ref().unwrap_or(document);
            for &row in level.rows.as_slice() {
                let member = &outer.contents().members[row as usize];
                let size = member.size().unwrap_or(member.span.size);
                rest = (rest.0 + 1, size.saturating_add(rest.1));
            }
        }
        rest
    }

    /// The next one of `file`.
    pub fn next(&mut self, file: &Document) -> Option<Extracted> {
        loop {
            if let Step::Next(next) = self.step(file, u64::MAX) {
                return next.map(|next| *next);
            }
        }
    }

    /// Goes on opening the next one of `file`, until about `budget` bytes more are read or unpacked.
    pub fn step(&mut self, file: &Document, budget: u64) -> Step {
        loop {
            let depth = self.levels.len();
            let Some(level) = self.levels.last_mut() else {
                return Step::Next(None);
            };
            let outer = level.document.as_ref().unwrap_or(file);
            let (index, opened) = match self.opening.take() {
                Some((index, mut opening)) => match opening.step(budget) {
                    Ok(None) => {
                        self.opening = Some((index, opening));
                        return Step::Working;
                    }
                    Ok(Some(document)) => (index, Ok(document)),
                    Err(error) => (index, Err(error)),
                },
                None => {
                    let Some(index) = level.rows.next() else {
                        self.levels.pop();
                        continue;
                    };
                    let member = outer.contents().members.get(index as usize);
                    if member.is_some_and(Member::is_only_extracted)
                        && let Ok(unpacking) = outer.contents().begin_large(outer.source(), index)
                    {
                        let name = level.names.get_mut(index as usize).map(std::mem::take);
                        let path = format!("{}{}", level.around, outer.contents().path(index));
                        return Step::Next(Some(Box::new(Extracted {
                            name: self.unique(name.unwrap_or_default()),
                            path,
                            opened: Err(unpacking.refusal()),
                            large: Some(unpacking),
                            findings: std::mem::take(&mut self.findings),
                        })));
                    }
                    match outer.begin_member(index) {
                        Ok(mut opening) => {
                            opening.verify();
                            self.opening = Some((index, opening));
                            continue;
                        }
                        Err(error) => (index, Err(error)),
                    }
                }
            };
            let inner = outer.contents().path(index);
            let path = format!("{}{inner}", level.around);
            let large = outer.large(index, &opened);
            // It is said by what it lies in, which does not know what that lies in.
            let opened = opened.map_err(|error| {
                let mut finding = error.into_diagnostic();
                if !level.around.is_empty() {
                    finding.context = Some(format!("member {path}"));
                }
                Error::from(finding)
            });
            if let Ok(member) = &opened {
                self.findings.append(&mut member.packing(&level.around));
            }
            match opened {
                Ok(member)
                    if self.is_deep && depth <= DEPTH && !member.contents().members.is_empty() =>
                {
                    let inner = inner.replace("!/", ".");
                    let base = names::safe(&format!("{}.{inner}", level.base));
                    self.levels.push(Level {
                        around: format!("{path}!/"),
                        names: member.contents().file_names(&base),
                        base,
                        rows: leaves(&member).into_iter(),
                        document: Some(member),
                    });
                }
                opened => {
                    let name = level.names.get_mut(index as usize).map(std::mem::take);
                    return Step::Next(Some(Box::new(Extracted {
                        name: self.unique(name.unwrap_or_default()),
                        path,
                        opened,
                        large,
                        findings: std::mem::take(&mut self.findings),
                    })));
                }
            }
        }
    }

    /// `name`, or where another file is called so, if only with other capitals, with a number before it.
    fn unique(&mut self, mut name: String) -> String {
        let small = |name: &str| name.to_ascii_lowercase().into_bytes();
        while self.known.get(&small(&name)).is_some() {
            name = format!("{}.{name}", self.known.len());
        }
        self.known.add(&small(&name));
        name
    }
}

/// The members that hold no others and have bytes.
fn leaves(document: &Document) -> Vec<u32> {
    let members = (0..).zip(&document.contents().members);
    let leaves = members.filter(|(_, member)| member.children == 0 && member.span.size > 0);
    leaves.map(|(row, _)| row).collect()
}

impl Document {
    /// The member of that path as a file, of a file that is called `base`.
    ///
    /// # Errors
    /// If there is no such member, or it cannot be unpacked.
    pub fn extract(&self, path: &str, base: &str) -> Result<Extracted> {
        if let Some((index, None)) = self.contents().find(path)
            && self.contents().members[index as usize].is_only_extracted()
        {
            let unpacking = self.contents().begin_large(self.source(), index)?;
            return Ok(self.extract_large(index, unpacking, path, base));
        }
        let opened = self.begin_path(path).and_then(|mut opening| {
            opening.verify();
            opening.finish()
        });
        if let Some((index, None)) = self.contents().find(path)
            && let Some(unpacking) = self.large(index, &opened)
        {
            return Ok(self.extract_large(index, unpacking, path, base));
        }
        let member = opened?;
        Ok(Extracted {
            path: path.into(),
            name: self.file_name(path, base, &member),
            findings: member.packing(""),
            opened: Ok(member),
            large: None,
        })
    }

    fn extract_large(&self, index: u32, unpacking: Unpacking, path: &str, base: &str) -> Extracted {
        Extracted {
            path: path.into(),
            name: self.contents().file_names(base).swap_remove(index as usize),
            findings: Vec::new(),
            opened: Err(unpacking.refusal()),
            large: Some(unpacking),
        }
    }

    /// The bytes of a member, to be handed out one after the other, where opening it has shown that there are too many.
    fn large(&self, index: u32, opened: &Result<Document>) -> Option<Unpacking> {
        let refused = opened.as_ref().err()?.diagnostic();
        let member = self.contents().members.get(index as usize)?;
        let is_declared = member.unpacked.is_some() && !member.is_stream;
        if refused.kind != Kind::Limit || is_declared {
            return None;
        }
        self.contents().begin_large(self.source(), index).ok()
    }

    /// What a file of the member of that path is to be called, of a file that is called `base`.
    pub fn file_name(&self, path: &str, base: &str, member: &Document) -> String {
        match self.contents().find(path) {
            Some((index, None)) => self.contents().file_names(base).swap_remove(index as usize),
            // It is known only since what it lies in is open.
            _ => {
                let extension = names::extension(member.format());
                let dot = if extension.is_empty() { "" } else { "." };
                let stem = names::safe(&format!("{base}.{}", path.replace("!/", ".")));
                format!("{stem}{dot}{extension}")
            }
        }
    }
}
