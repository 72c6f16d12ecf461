//! What a launch or a dispatch hands to the GPU, in a terminal.

use std::io::Write;

use kernelscope::document::Document;
use kernelscope::error::Severity;
use kernelscope::export;
use kernelscope::launch::{Launch, Made, OriginKind, Problem};

use crate::arguments::{Arguments, Failure};
use crate::visible;

/// Prints what comes of the launch that the command line gives; whether it has errors.
pub fn print(
    document: &Document,
    kernel: usize,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<bool, Failure> {
    let command = arguments.command.as_str();
    let launch = document.launch(kernel, &arguments.inputs).ok_or_else(|| {
        let format = document.format().title();
        Failure::Usage(format!(
            "{command}: what a launch of a kernel of {format} files hands to a GPU is not known"
        ))
    })?;
    let has_errors = launch.problems.iter().any(is_error);
    if arguments.json {
        crate::json(out, &launch)?;
        return Ok(has_errors);
    }
    if arguments.hex || arguments.out.is_some() {
        let made = part(&launch, arguments)?;
        match &arguments.out {
            Some(path) => std::fs::write(path, &made.bytes)
                .map_err(|error| Failure::Read(format!("{}: {error}", visible(path))))?,
            None => words(made, out)?,
        }
        beside(&launch, made);
        return Ok(has_errors);
    }
    for problem in &launch.problems {
        writeln!(out, "{}", line(problem))?;
    }
    for made in &launch.made {
        writeln!(
            out,
            "\n{}  {} bytes",
            export::visible(&made.title),
            made.bytes.len()
        )?;
        fields(made, out)?;
        slots(made, out)?;
    }
    Ok(has_errors)
}

fn is_error(problem: &Problem) -> bool {
    problem.severity == Severity::Error
}

pub fn line(problem: &Problem) -> String {
    let severity = problem.severity.word();
    let line = format!("{severity}: {}: {}", problem.input, problem.message);
    export::visible(&line).into_owned()
}

/// The structure that `--part` names; without, the one that the GPU is handed first of all that count.
fn part<'a>(launch: &'a Launch, arguments: &Arguments) -> Result<&'a Made, Failure> {
    let asked = arguments.part.as_deref();
    let mut made = launch.made.iter();
    let found = match asked {
        Some(key) => made.find(|made| made.key == key),
        None => made.find(|made| matches!(made.key.as_str(), "qmd" | "packet")),
    };
    found.ok_or_else(|| {
        let keys: Vec<&str> = launch.made.iter().map(|made| made.key.as_str()).collect();
        let asked = asked.unwrap_or_default();
        Failure::Usage(format!(
            "--part: there is no {asked:?}, but {}",
            keys.join(", ")
        ))
    })
}

/// What is printed are words and nothing else; what is wrong with them, and what they do not say, is said beside it.
fn beside(launch: &Launch, made: &Made) {
    let problems = launch.problems.iter();
    let problems = problems.filter(|problem| problem.severity != Severity::Note);
    let mut lines: Vec<String> = problems.map(line).collect();
    let open = made.slots.iter().filter(|slot| slot.value.is_none());
    lines.extend(open.map(|slot| {
        let parts = slot.parts.iter().map(|part| place(made, part.bits));
        let parts = parts.collect::<Vec<_>>().join(" and ");
        let bits = if is_of_bytes(made) { "" } else { "bits " };
        let line = format!(
            "open: {}, {}, {bits}{parts}: written as 0",
            slot.input, slot.name
        );
        export::visible(&line).into_owned()
    }));
    let mut others = launch.made.iter();
    if made.key == "qmd" && others.any(|other| other.key == "qmd_null") {
        lines.push("note: a second descriptor goes ahead of this one: --part qmd_null".into());
    }
    for line in lines {
        let _ = writeln!(std::io::stderr(), "kernelscope: {line}");
    }
}

/// Whether the fields of it are whole bytes, which code reads by their offset.
fn is_of_bytes(made: &Made) -> bool {
    matches!(made.key.as_str(), "bank0" | "kernarg")
}

/// Where a field is, as whoever reads it writes that: operands of bank 0 as disassemblers do, offsets from the address of the
/// kernarg segment, else bits.
fn place(made: &Made, [msb, lsb]: [u32; 2]) -> String {
    match made.key.as_str() {
        "bank0" => format!("c[0x0][0x{:x}]", lsb / 8),
        "kernarg" => format!("+0x{:x}", lsb / 8),
        _ => format!("{msb}:{lsb}"),
    }
}

/// Four words a line behind the offset of the first.
fn words(made: &Made, out: &mut impl Write) -> std::io::Result<()> {
    for (row, bytes) in made.bytes.chunks(16).enumerate() {
        write!(out, "{:04x}:", 16 * row)?;
        for word in bytes.chunks(4) {
            write!(out, " ")?;
            for byte in word.iter().rev() {
                write!(out, "{byte:02x}")?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The fields that something was written to; how many others there are.
fn fields(made: &Made, out: &mut impl Write) -> std::io::Result<()> {
    let mut lines = Vec::new();
    let mut unset = 0;
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (field, origin) in made.record.fields.iter().zip(&made.origins) {
        let [msb, lsb] = field.bits;
        let at = place(made, field.bits);
        if origin.what == OriginKind::Unset {
            let name = export::visible(&field.name);
            let known = reasons
                .iter_mut()
                .find(|(reason, _)| *reason == origin.source);
            match known {
                _ if origin.source.is_empty() => unset += 1,
                Some((_, names)) => names.push(format!("{name} ({at})")),
                None => reasons.push((&origin.source, vec![format!("{name} ({at})")])),
            }
            continue;
        }
        let source = match &origin.place {
            Some(place) => format!("{} at 0x{:x}", origin.source, place.offset),
            None => origin.source.clone(),
        };
        let mut cells = vec![format!("  {at}")];
        if is_of_bytes(made) {
            cells.push(format!("{} bytes", (msb - lsb + 1) / 8));
        }
        cells.extend([
            match field.alternative_of {
                Some(_) => format!("  = {}", export::visible(&field.name)),
                None => export::visible(&field.name).into_owned(),
            },
            match origin.is_open {
                true => "(open)".into(),
                false => export::visible(&export::value(field)).into_owned(),
            },
            export::visible(field.meaning.as_deref().unwrap_or_default()).into_owned(),
            export::visible(&source).into_owned(),
        ]);
        lines.push(cells);
    }
    let right: &[bool] = match is_of_bytes(made) {
        true => &[false, true, false, true],
        false => &[true, false, true],
    };
    write!(out, "{}", export::align(&lines, right))?;
    for (reason, names) in reasons {
        writeln!(out, "  {reason}: {}", names.join(", "))?;
    }
    if unset > 0 {
        writeln!(
            out,
            "  nothing is written to {unset} other fields: their bits are 0"
        )?;
    }
    Ok(())
}

/// What only run time knows, and where it goes.
fn slots(made: &Made, out: &mut impl Write) -> std::io::Result<()> {
    if made.slots.is_empty() {
        return Ok(());
    }
    writeln!(out, "  Known at run time only:")?;
    let mut lines = Vec::new();
    for slot in &made.slots {
        let parts = slot.parts.iter().map(|part| {
            let place = place(made, part.bits);
            match part.shift {
                0 => place,
                shift => format!("{place} (>> {shift})"),
            }
        });
        lines.push(vec![
            format!("    {}", slot.input),
            export::visible(&slot.name).into_owned(),
            slot.value.clone().unwrap_or_else(|| "(open)".into()),
            parts.collect::<Vec<_>>().join(", "),
        ]);
    }
    write!(out, "{}", export::align(&lines, &[]))
}
