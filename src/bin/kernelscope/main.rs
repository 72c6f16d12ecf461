//! The terminal's door.

mod arguments;
mod decode;
mod extract;
mod launch;
mod members;
mod occupancy;
mod progress;

use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use kernelscope::document::Document;
use kernelscope::error::Kind;
use kernelscope::export::{self, Form};
use kernelscope::lists::{self, GpuList};
use kernelscope::nvidia::code::{BarrierUse, Count};
use kernelscope::report::Report;
use kernelscope::rows::{Cell, Rows, Table, Unit};
use kernelscope::source::{File, Source};
use kernelscope::span::Span;

use arguments::{Arguments, Failure, arguments};

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        // Whoever read the output has seen enough.
        Err(Failure::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let message = match failure {
                Failure::Usage(why) => format!("{why}\nTry `kernelscope --help`."),
                Failure::Read(why) => why,
                Failure::Write(error) => format!("the output cannot be written: {error}"),
            };
            let _ = writeln!(io::stderr(), "kernelscope: {message}");
            ExitCode::from(2)
        }
    }
}

/// Where `--at` leads.
fn target(document: &Document, at: &str) -> Result<Span, Failure> {
    let target = document.resolve(at);
    let target = target.map_err(|error| Failure::Usage(format!("--at: {error}")))?;
    Ok(target.span)
}

/// Bytes of an image that are written, at most: a malformed file can ask for all there are.
const IMAGE_LIMIT: u64 = 1 << 32;

/// Bytes of a stream read to memory, at most; files are read in slices.
const INPUT_LIMIT: u64 = 1 << 30;

fn source(path: &Path) -> Result<Source, Failure> {
    let name = visible(path);
    let why = |error: io::Error| Failure::Read(format!("{name}: {error}"));
    // What comes through a pipe cannot be read in slices, nor what does not know its size, as in /proc.
    let stream: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else if std::fs::metadata(path).is_ok_and(|m| !m.is_dir() && (!m.is_file() || m.len() == 0)) {
        Box::new(std::fs::File::open(path).map_err(why)?)
    } else {
        return Ok(Source::sliced(File::open(path).map_err(why)?));
    };
    let mut bytes = Vec::new();
    stream
        .take(INPUT_LIMIT + 1)
        .read_to_end(&mut bytes)
        .map_err(why)?;
    if bytes.len() as u64 > INPUT_LIMIT {
        return Err(Failure::Read(format!(
            "{name}: a stream of more than {INPUT_LIMIT} bytes: give a file"
        )));
    }
    Ok(Source::memory(bytes))
}

/// The path as it can be shown in a terminal.
fn visible(path: &Path) -> String {
    export::visible(&path.to_string_lossy()).into_owned()
}

fn run() -> Result<ExitCode, Failure> {
    let Some(arguments) = arguments()? else {
        return Ok(ExitCode::SUCCESS);
    };
    let mut has_errors = false;
    let mut document = match arguments.command.as_str() {
        "decode" => decode::open(&arguments)?,
        _ => Document::open(source(&arguments.file)?),
    };
    if let Some(path) = &arguments.member
        && arguments.command != "extract"
    {
        document = document.open_path(path).map_err(read)?;
    }
    if arguments.carve {
        members::carve(&mut document);
    }
    // The exit code is the file's, whatever is asked of it.
    document.check_all();
    let mut out = BufWriter::new(io::stdout().lock());
    match arguments.command.as_str() {
        "report" => {
            if arguments.json {
                json(&mut out, &Report(&document))?;
            } else {
                report(&document, &mut out)?;
            }
        }
        "archs" if arguments.which.is_some() => {
            members::runs_on(&mut document, &arguments, &mut out)?;
        }
        "missing" => members::missing(&mut document, &arguments, &mut out)?,
        "archs" => {
            match arguments.all {
                true => members::survey(&mut document),
                false => members::unpack(&mut document),
            }
            members::list(&document, &arguments, &mut out)?;
        }
        "ls" | "members" => members::list(&document, &arguments, &mut out)?,
        "size" => members::size(&mut document, &arguments, &mut out)?,
        "launchers" if arguments.all => {
            members::survey(&mut document);
            members::list(&document, &arguments, &mut out)?;
        }
        "kernels" if arguments.all => members::kernels(&mut document, &arguments, &mut out)?,
        "extract" => has_errors = extract::write(&document, &arguments, &mut out)?,
        "hex" => hex(&document, &arguments, &mut out)?,
        "record" => record(&document, &arguments, &mut out)?,
        "code" => code(&document, &arguments, &mut out)?,
        "text" => text(&document, &arguments, &mut out)?,
        "directives" => directives(&document, &arguments, &mut out)?,
        "kernarg" => kernarg(&document, &arguments, &mut out)?,
        "decode" => has_errors = decode::print(&document, &arguments, &mut out)?,
        "runs" => {
            members::unpack(&mut document);
            runs(&document, &arguments, &mut out)?;
        }
        "qmd" | "dispatch" => {
            let kernel = kernel(&document, &arguments)? as usize;
            has_errors = launch::print(&document, kernel, &arguments, &mut out)?;
        }
        "occupancy" => {
            let kernel = kernel(&document, &arguments)? as usize;
            has_errors = occupancy::print(&document, kernel, &arguments, &mut out)?;
        }
        "image" if arguments.out.is_some() => image(&document, &arguments)?,
        "bank0" if arguments.offset.is_some() => bank0(&document, &arguments, &mut out)?,
        table => {
            let rows = match table {
                "bank0" => document.table(&format!("bank0/{}", kernel(&document, &arguments)?)),
                "lane" => lane(&document, &arguments)?,
                "patches" => document.table(&format!("patches/{:x}", arguments.base.unwrap_or(0))),
                "image" if arguments.segments => document.table("load_image"),
                table => document.table(table),
            };
            match rows {
                Some(rows) if arguments.json => json(&mut out, &Rows(&*rows))?,
                Some(_) if table == "diagnostics" => findings(&document, &mut out)?,
                Some(rows) if table == "metadata" => metadata(&*rows, &mut out)?,
                Some(rows) => lists::print(&*rows, &mut out)?,
                None if arguments.json => json(&mut out, &[(); 0])?,
                None => writeln!(
                    io::stderr(),
                    "kernelscope: {}: {} files have no {table}",
                    visible(&arguments.file),
                    document.format().title()
                )?,
            }
        }
    }
    out.flush()?;
    // What lists members says what it leaves out, and what is wrong; others have it in their findings.
    if matches!(
        arguments.command.as_str(),
        "ls" | "archs" | "kernels" | "missing" | "size" | "extract"
    ) {
        members::complain(&document)?;
    }
    Ok(if has_errors || document.findings().has_errors() {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

fn json(out: &mut impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

fn report(document: &Document, out: &mut impl Write) -> io::Result<()> {
    let summary = document.summary();
    let mut words = vec![summary.format_title.to_owned()];
    words.extend(summary.target);
    words.extend(summary.facts);
    words.push(format!("{} bytes", summary.size));
    writeln!(out, "{}", export::visible(&words.join(" · ")))?;
    writeln!(out, "{}", summary.verdict.text)?;
    for info in &summary.tables {
        if !matches!(
            info.key,
            "exceptions"
                | "frames"
                | "grids"
                | "devices"
                | "archs"
                | "members"
                | "kernels"
                | "sections"
                | "segments"
                | "image"
        ) {
            continue;
        }
        let Some(table) = document.table(info.key) else {
            continue;
        };
        if table.is_empty() {
            continue;
        }
        writeln!(out, "\n{}", info.title)?;
        lists::print(&*table, out)?;
    }
    if !document.findings().is_empty() {
        writeln!(out, "\nFindings")?;
        findings(document, out)?;
    }
    Ok(())
}

/// A line a finding: sentences do not stand well in columns.
fn findings(document: &Document, out: &mut impl Write) -> io::Result<()> {
    for finding in document.findings().all() {
        let kind = match finding.kind {
            Kind::Format => "",
            Kind::Loader => " (loader)",
            Kind::Limit => " (limit)",
            Kind::UnknownValue => " (unknown value)",
        };
        let line = format!("{}{kind}: {finding}", finding.severity.word());
        writeln!(out, "{}", export::visible(&line))?;
    }
    Ok(())
}

fn hex(document: &Document, arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let source = document.source();
    let target = match &arguments.at {
        Some(at) => target(document, at)?,
        None => Span::default(),
    };
    // A place is where to begin, a name says where to end, too.
    let whole = match target.size {
        0 | 1 => u64::MAX,
        size => size,
    };
    let at = target.offset;
    let span = Span::new(at, arguments.len.unwrap_or(whole)).clamp(source.size());
    if arguments.json {
        write!(out, "{{\"offset\":{at},\"bytes\":\"")?;
        let mut next = span.offset;
        while next < span.end() {
            let size = (64 << 10).min(span.end() - next);
            let bytes = source.read(Span::new(next, size)).map_err(read)?;
            out.write_all(kernelscope::record::hex(&bytes).as_bytes())?;
            next += size;
        }
        writeln!(out, "\"}}")?;
        return Ok(());
    }
    let mut start = span.offset;
    while start < span.end() {
        // Rows begin at multiples of 16 behind the first one.
        let size = (16 - start % 16).min(span.end() - start);
        let bytes = source.read(Span::new(start, size)).map_err(read)?;
        let skip = (start % 16) as usize;
        let mut line = format!("{:08x}", start - skip as u64);
        for i in 0..16_usize {
            if i % 8 == 0 {
                line.push(' ');
            }
            match i.checked_sub(skip).and_then(|i| bytes.get(i)) {
                Some(byte) => line.push_str(&format!(" {byte:02x}")),
                None => line.push_str("   "),
            }
        }
        line.push_str("  ");
        line.extend(std::iter::repeat_n(' ', skip));
        line.extend(bytes.iter().map(|&byte| match byte {
            0x20..=0x7e => char::from(byte),
            _ => '.',
        }));
        writeln!(out, "{line}")?;
        start += size;
    }
    Ok(())
}

/// The index of the kernel that the command line names.
fn kernel(document: &Document, arguments: &Arguments) -> Result<u64, Failure> {
    let which = arguments.which.as_deref().unwrap_or_default();
    let kernel = index_in(document, "kernels", which);
    kernel.ok_or_else(|| {
        let command = &arguments.command;
        let mut why = format!("{command}: there is no kernel {which:?}");
        let near = containing(document, "kernels", which);
        if !near.is_empty() {
            why.push_str(&format!("; names with it: {}", near.join(", ")));
        }
        Failure::Usage(why)
    })
}

/// What a core dump has of one of its threads; `None` of other files.
fn lane<'a>(
    document: &'a Document,
    arguments: &Arguments,
) -> Result<Option<Box<dyn Table + 'a>>, Failure> {
    let Some(lanes) = document.table("lanes") else {
        return Ok(None);
    };
    let which = arguments.which.as_deref().unwrap_or("0");
    let found = document.table(&format!("lane/{which}"));
    if found.is_none() {
        let there = match lanes.len() {
            0 => "the dump has none".into(),
            1 => "there is 0 only".into(),
            count => format!("there are 0 to {}", count - 1),
        };
        return Err(Failure::Usage(format!(
            "lane: there is no thread {which:?}: {there}"
        )));
    }
    Ok(found)
}

/// Names in a table that contain `word`, a few of them. Those of C++ are longer than what people call a kernel.
fn containing(document: &Document, key: &str, word: &str) -> Vec<String> {
    let table = document.table(key);
    let rows = table.as_ref().map_or(0, |table| table.len());
    let names = (0..rows).filter_map(|row| {
        let cell = table.as_ref()?.cell(row, "name");
        let name = cell.text(Unit::Text);
        let has_it = !word.is_empty() && name.contains(word);
        has_it.then(|| export::visible(&name).into_owned())
    });
    names.take(5).collect()
}

/// The descriptor of a kernel as text for LLVM's assembler.
fn directives(
    document: &Document,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let kernel = kernel(document, arguments)? as usize;
    let directives = document.directives(kernel).map_err(read)?;
    let directives = directives.ok_or_else(|| {
        Failure::Usage("directives: only kernels of code objects have some".into())
    })?;
    if arguments.json {
        json(out, &directives)?;
    } else {
        // Names in it have no control characters, but tabs are its own.
        for line in directives.text.lines() {
            let rest = line.trim_start_matches('\t');
            writeln!(
                out,
                "{}{}",
                &line[..line.len() - rest.len()],
                export::visible(rest)
            )?;
        }
    }
    Ok(())
}

/// What a dispatch passes to a kernel.
fn kernarg(
    document: &Document,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let kernel = kernel(document, arguments)? as usize;
    let record = document.kernarg(kernel).ok_or_else(|| {
        Failure::Usage("kernarg: only kernels of code objects have a kernarg segment".into())
    })?;
    if arguments.form == Form::Json {
        json(out, &record)?;
    } else {
        write!(out, "{}", export::print(&record, arguments.form))?;
    }
    Ok(())
}

/// The keys and items of metadata, those below one set in further.
fn metadata(rows: &dyn Table, out: &mut impl Write) -> io::Result<()> {
    for row in 0..rows.len() {
        let text = |key: &str, unit| rows.cell(row, key).text(unit).into_owned();
        let depth = match rows.cell(row, "depth") {
            Cell::Int(depth) => 2 * depth as usize,
            _ => 0,
        };
        let offset = rows.place(row).map_or(0, |place| place.offset);
        let line = format!("{}: {}", text("key", Unit::Text), text("value", Unit::Text));
        write!(out, "{offset:08x}  {:depth$}{}", "", export::visible(&line))?;
        match text("note", Unit::Text) {
            note if note.is_empty() => writeln!(out)?,
            note => writeln!(out, "  # {}", export::visible(&note))?,
        }
    }
    Ok(())
}

/// What is at an offset of constant bank 0.
fn bank0(document: &Document, arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let kernel = kernel(document, arguments)? as usize;
    let bank = document.bank0(kernel);
    let place = bank.and_then(|bank| bank.at(arguments.offset.unwrap_or(0)));
    let place = place.ok_or_else(|| Failure::Usage("only cubins have a constant bank 0".into()))?;
    if arguments.json {
        json(out, &place)?;
        return Ok(());
    }
    let part = &place.part;
    let name = match place.name.as_str() {
        "" => part.what.word(),
        name => name,
    };
    write!(out, "{name}")?;
    if place.within > 0 {
        write!(out, " + 0x{:x}", place.within)?;
    }
    write!(out, ": {}, {}", part.what.word(), part.certainty)?;
    if !part.source.is_empty() {
        write!(out, " by {}", part.source)?;
    }
    if !part.note.is_empty() {
        write!(out, "; {}", part.note)?;
    }
    writeln!(out)?;
    Ok(())
}

/// Writes the image's bytes to a file.
fn image(document: &Document, arguments: &Arguments) -> Result<(), Failure> {
    let path = arguments.out.as_deref().unwrap_or(Path::new(""));
    // Without section headers the segments are all there is.
    let elf = document.elf();
    let is_stripped = elf.is_some_and(|elf| elf.sections.is_empty());
    let by_segments = arguments.segments || is_stripped;
    let image = document.image(by_segments);
    let image = image.ok_or_else(|| Failure::Read("the file has no image".into()))?;
    if arguments.base.is_some() && document.patches().is_none() {
        return Err(Failure::Usage(
            "--base: what a loader writes is known of cubins and code objects only".into(),
        ));
    }
    if arguments.base.is_some() && by_segments != is_stripped {
        return Err(Failure::Usage(
            "--base: what a loader writes counts in the image by the sections, not in that of --segments".into(),
        ));
    }
    if image.size > IMAGE_LIMIT {
        return Err(Failure::Read(format!(
            "the image has {} bytes; at most {IMAGE_LIMIT} are written",
            image.size
        )));
    }
    let why = |error: io::Error| Failure::Read(format!("{}: {error}", visible(path)));
    let mut file = BufWriter::new(std::fs::File::create(path).map_err(why)?);
    let mut window = vec![0; 1 << 20];
    let mut next = 0;
    while next < image.size {
        let window = &mut window[..(1 << 20).min(image.size - next) as usize];
        document
            .read_image(by_segments, arguments.base, next, window)
            .map_err(read)?;
        file.write_all(window).map_err(why)?;
        next += window.len() as u64;
    }
    file.flush().map_err(why)
}

fn read(error: kernelscope::error::Error) -> Failure {
    Failure::Read(error.to_string())
}

fn record(document: &Document, arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let Some(at) = &arguments.at else {
        return Err(Failure::Usage("record: --at OFFSET is missing".into()));
    };
    let at = target(document, at)?.offset;
    let location = document.locate(at);
    if arguments.form == Form::Json {
        json(out, &location)?;
        return Ok(());
    }
    for part in &location.parts {
        writeln!(
            out,
            "0x{at:x} is byte 0x{:x} of {} ({} bytes at 0x{:x})",
            at - part.span.offset,
            export::visible(&part.name),
            part.span.size,
            part.span.offset
        )?;
    }
    if location.records.is_empty() {
        writeln!(out, "No structure is known there.")?;
    }
    for record in &location.records {
        write!(out, "\n{}", export::print(record, arguments.form))?;
    }
    Ok(())
}

/// The index that `which` names in the table called `key`: by a name, or by the number itself.
fn index_in(document: &Document, key: &str, which: &str) -> Option<u64> {
    let table = document.table(key)?;
    let is_it = |row: &u64| table.cell(*row, "name") == which.into();
    let named = (0..table.len()).find(is_it);
    named.or_else(|| which.parse().ok().filter(|index| *index < table.len()))
}

fn code(document: &Document, arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let kernel = kernel(document, arguments)?;
    let table = document.table(&format!("code/{kernel}"));
    let Some(table) = table else {
        return Err(Failure::Read(format!(
            "{}: how the code of this file is encoded is not known",
            visible(&arguments.file)
        )));
    };
    let Some(code) = document.code(kernel as usize) else {
        if arguments.json {
            write!(out, "{{\"words\":")?;
            serde_json::to_writer(&mut *out, &Rows(&*table)).map_err(io::Error::from)?;
            writeln!(out, "}}")?;
        } else {
            writeln!(out, "{} words; instructions are not decoded\n", table.len())?;
            lists::print(&*table, out)?;
        }
        return Ok(());
    };
    let mut count = Count::default();
    count.step(&code, u64::MAX).map_err(read)?;
    let found = count.found();
    if arguments.json {
        write!(out, "{{\"statistics\":")?;
        serde_json::to_writer(&mut *out, found).map_err(io::Error::from)?;
        write!(out, ",\"instructions\":")?;
        serde_json::to_writer(&mut *out, &Rows(&*table)).map_err(io::Error::from)?;
        writeln!(out, "}}")?;
        return Ok(());
    }
    if !found.is_verified {
        writeln!(
            out,
            "Where the fields are is reported by public sources only; it was not seen in a vendor's listing."
        )?;
    }
    write!(
        out,
        "{} instructions · {} cycles of stall",
        found.instructions, found.stall_cycles
    )?;
    if let (Some(waiting), Some(yields)) = (found.waiting, found.yields) {
        write!(
            out,
            " · {waiting} wait for a barrier · {yields} yield (the bit is 0)"
        )?;
    }
    writeln!(out)?;
    if let (Some(reused), Some(most)) = (found.reused, found.most_reused) {
        writeln!(
            out,
            "{reused} operands are kept for reuse, {most} at once at most"
        )?;
    }
    let stalls = found.stalls.iter().enumerate();
    let stalls = stalls.filter(|(_, count)| **count > 0);
    let mut stalls: Vec<String> = stalls
        .map(|(stall, count)| format!("{stall}: {count}"))
        .collect();
    let unsaid = found.instructions - found.stalls.iter().sum::<u32>();
    if unsaid > 0 {
        stalls.push(format!("not said: {unsaid}"));
    }
    writeln!(
        out,
        "Instructions by cycles of stall  {}",
        stalls.join(", ")
    )?;
    for (barrier, of) in found.barriers.iter().enumerate() {
        if *of != BarrierUse::default() {
            writeln!(
                out,
                "Barrier {barrier}  set {} times for a result (w), {} for operands (r), waited for {} times (x)",
                of.write, of.read, of.wait
            )?;
        }
    }
    for run in &found.stall_runs {
        writeln!(
            out,
            "{} cycles of stall in {} instructions from 0x{:x} of the file on",
            run.cycles, run.instructions, run.span.offset
        )?;
    }
    if !found.barriers.is_empty() {
        writeln!(
            out,
            "Barriers 0 to 5 beside a row: w, r as above; | pending; x waited for; W, R waited for and set again"
        )?;
    }
    writeln!(out)?;
    lists::print(&*table, out)?;
    Ok(())
}

/// Why nothing is said of the GPU that is asked for.
fn no_gpu(asked: &str) -> Failure {
    Failure::Usage(format!(
        "there is no GPU {asked:?}, or there are several; expected sm_90, 8.9, a target ID such as gfx90a:xnack- or a product such as MI300X"
    ))
}

/// Whether the code runs on a GPU, or on which it runs.
fn runs(document: &Document, arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let gpus = document.gpu_list().ok_or_else(|| {
        let format = document.format().title();
        Failure::Usage(format!(
            "runs: on which GPUs it runs is not known ({format})"
        ))
    })?;
    let gpus = match &arguments.which {
        Some(asked) => {
            let gpu = document.runs_on(asked).ok_or_else(|| no_gpu(asked))?;
            if !arguments.json {
                writeln!(out, "{}", export::visible(&gpu.to_string()))?;
                return Ok(());
            }
            GpuList(vec![gpu])
        }
        None => gpus.of_those_that_run(),
    };
    match arguments.json {
        true => json(out, &Rows(&gpus))?,
        false if gpus.0.is_empty() => writeln!(out, "It runs on no GPU that is known.")?,
        false => lists::print(&gpus, out)?,
    }
    Ok(())
}

fn text(document: &Document, arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let which = arguments.which.as_deref().unwrap_or("0");
    let table = index_in(document, "texts", which)
        .and_then(|index| document.table(&format!("text/{index}")))
        .ok_or_else(|| Failure::Usage(format!("text: there is no text {which:?}")))?;
    if arguments.json {
        json(out, &Rows(&*table))?;
        return Ok(());
    }
    for row in 0..table.len() {
        // Tabs are as they were meant.
        let cell = table.cell(row, "text");
        let cell = cell.text(Unit::Text);
        let parts: Vec<_> = cell.split('\t').map(export::visible).collect();
        writeln!(out, "{}", parts.join("\t"))?;
    }
    Ok(())
}
