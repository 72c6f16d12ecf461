//! Members as files of their own, or as one zip file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use kernelscope::container::{Unpacking, ZipWriter};
use kernelscope::document::Document;
use kernelscope::error::{Diagnostic, Error, Severity};
use kernelscope::export;
use kernelscope::extract::{Extract, Extracted, Step};
use kernelscope::source::Source;
use kernelscope::span::Span;
use kernelscope::unpack::crc32;
use serde::Serialize;

use crate::arguments::{Arguments, Failure};
use crate::progress::{Line, STEP, megabytes};
use crate::{json, read, visible};

/// Bytes that are copied at once.
const CHUNK: u64 = 1 << 20;

/// A file that was written.
#[derive(Serialize)]
struct Written {
    path: String,
    file: String,
    size: u64,
}

/// Why a member that is written as it is unpacked is not.
enum Unwritten {
    Refused(Error),
    Failure(Failure),
}

impl From<Error> for Unwritten {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// What has come of a member: the file, and what is wrong with it; without a file, why there is none.
struct Outcome {
    file: Option<Written>,
    finding: Option<Diagnostic>,
}

impl Outcome {
    fn refused(error: Error) -> Self {
        Self {
            file: None,
            finding: Some(error.into_diagnostic()),
        }
    }
}

/// Where members go.
enum Target<'a> {
    Folder(&'a Path),
    Zip(&'a Path, BufWriter<File>, ZipWriter),
}

/// Writes members as files. Says whether one of them could not be had, or is not what it should be.
pub fn write(
    document: &Document,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<bool, Failure> {
    let Some(path) = arguments.out.as_deref() else {
        return Err(Failure::Usage("extract: -o DIR is missing".into()));
    };
    if arguments.all == arguments.member.is_some() {
        return Err(Failure::Usage(
            "extract: say either --member PATH or --all".into(),
        ));
    }
    let base = arguments.file.file_stem().unwrap_or_default();
    let base = base.to_string_lossy();
    let (mut one, mut all) = match &arguments.member {
        Some(path) => (Some(document.extract(path, &base).map_err(read)?), None),
        None => (None, Some(Extract::all(document, &base))),
    };
    let mut target = Target::open(path)?;
    let mut written = Vec::new();
    let mut has_errors = false;
    let mut line = Line::new();
    while let Some(extracted) = match &mut all {
        Some(all) => next(all, document, written.len(), &mut line),
        None => one.take(),
    } {
        if !extracted.findings.is_empty() || extracted.opened.is_err() {
            line.clear();
        }
        for finding in &extracted.findings {
            has_errors |= finding.severity != Severity::Note;
            complain(finding);
        }
        let Outcome { file, finding } = target.write(extracted, &mut line)?;
        // Whoever asks for all goes on as if all were there: what is not written is an error, whatever the reason.
        has_errors |= file.is_none();
        if let Some(finding) = finding {
            has_errors |= finding.severity != Severity::Note;
            complain(&finding);
        }
        written.extend(file);
    }
    target.finish()?;
    line.clear();
    if arguments.json {
        json(out, &written)?;
    } else {
        for Written { path, file, size } in &written {
            let line = format!("{file}  {size} bytes  {path}");
            writeln!(out, "{}", export::visible(&line))?;
        }
    }
    Ok(has_errors)
}

/// The next member, behind so many that were written.
fn next(
    all: &mut Extract,
    document: &Document,
    written: usize,
    line: &mut Line,
) -> Option<Extracted> {
    loop {
        line.show(|| {
            let (left, bytes) = all.rest(document);
            let bytes = megabytes(bytes);
            format!("wrote {written} members; {left} more, {bytes} MB, are to come")
        });
        if let Step::Next(next) = all.step(document, STEP) {
            return next.map(|next| *next);
        }
    }
}

fn complain(finding: &Diagnostic) {
    let finding = finding.to_string();
    let _ = writeln!(
        std::io::stderr(),
        "kernelscope: {}",
        export::visible(&finding)
    );
}

fn failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Read(format!("{}: {error}", visible(path)))
}

impl<'a> Target<'a> {
    fn open(path: &'a Path) -> Result<Self, Failure> {
        let refuse = |error: std::io::Error| failure(path, &error);
        let extension = path.extension().unwrap_or_default();
        if extension.eq_ignore_ascii_case("zip") {
            let file = BufWriter::new(File::create(path).map_err(refuse)?);
            return Ok(Self::Zip(path, file, ZipWriter::default()));
        }
        std::fs::create_dir_all(path).map_err(refuse)?;
        Ok(Self::Folder(path))
    }

    /// Writes one file.
    fn write(&mut self, extracted: Extracted, line: &mut Line) -> Result<Outcome, Failure> {
        let Extracted {
            path,
            name,
            opened,
            large,
            ..
        } = extracted;
        if let (Some(large), Self::Folder(folder)) = (large, &*self) {
            return Self::write_large(large, folder, path, name, line);
        }
        let document = match opened {
            Ok(document) => document,
            Err(error) => return Ok(Outcome::refused(error)),
        };
        let source = document.source();
        match self {
            Self::Folder(folder) => {
                let place = folder.join(&name);
                let refuse = |error: std::io::Error| failure(&place, &error);
                let mut file = created(&place).map_err(refuse)?;
                each(source, |bytes| file.write_all(bytes).map_err(refuse))?;
            }
            Self::Zip(place, file, zip) => {
                let refuse = |error: std::io::Error| failure(place, &error);
                let mut sum = 0;
                each(source, |bytes| {
                    sum = crc32(sum, bytes);
                    Ok(())
                })?;
                let header = zip.add(&name, source.size(), sum);
                file.write_all(&header).map_err(refuse)?;
                each(source, |bytes| file.write_all(bytes).map_err(refuse))?;
            }
        }
        let file = Written {
            path,
            file: name,
            size: source.size(),
        };
        Ok(Outcome {
            file: Some(file),
            finding: None,
        })
    }

    /// Writes one that is too large to be opened as it is unpacked.
    fn write_large(
        large: Unpacking,
        folder: &Path,
        path: String,
        file: String,
        line: &mut Line,
    ) -> Result<Outcome, Failure> {
        let place = folder.join(&file);
        let refuse = |error: std::io::Error| failure(&place, &error);
        let mut to = created(&place).map_err(refuse)?;
        let mut size = 0;
        let written = large.hand_out(|bytes| {
            size += bytes.len() as u64;
            line.show(|| format!("wrote {} MB of {}", megabytes(size), export::visible(&file)));
            to.write_all(bytes)
                .map_err(|error| Unwritten::Failure(refuse(error)))
        });
        let wrong = match written {
            Ok((size, finding)) => {
                let file = Some(Written { path, file, size });
                return Ok(Outcome { file, finding });
            }
            Err(Unwritten::Refused(error)) => Ok(Outcome::refused(error)),
            Err(Unwritten::Failure(failure)) => Err(failure),
        };
        // A part of it is none.
        std::fs::remove_file(&place).map_err(refuse)?;
        wrong
    }

    fn finish(self) -> Result<(), Failure> {
        let Self::Zip(place, mut file, zip) = self else {
            return Ok(());
        };
        file.write_all(&zip.finish())
            .and_then(|()| file.flush())
            .map_err(|error| failure(place, &error))
    }
}

/// A new file at `path`. What is there is replaced and not written to: it may be a link to somewhere else.
fn created(path: &Path) -> std::io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::create_new(path)
}

/// Hands out the bytes in pieces.
fn each(
    source: &Source,
    mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut at = 0;
    while at < source.size() {
        let size = CHUNK.min(source.size() - at);
        take(&source.read(Span::new(at, size)).map_err(read)?)?;
        at += size;
    }
    Ok(())
}
