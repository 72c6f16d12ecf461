//! What a launch or a dispatch hands to the GPU, in a terminal.

use std::io::Write;

use kernelscope::document::Document;
use kernelscope::error::Severity;
use kernelscope::export;
use kernelscope::launch::{Launch, Made, OriginKind, Problem, Slot};

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
        // What is printed are words and nothing else; what is wrong with them is said beside it.
        for problem in &launch.problems {
            let _ = writeln!(std::io::stderr(), "kernelscope: {}", line(problem));
        }
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
        slots(&made.slots, out)?;
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
        if origin.what == OriginKind::Unset {
            let name = export::visible(&field.name);
            let known = reasons
                .iter_mut()
                .find(|(reason, _)| *reason == origin.source);
            match known {
                _ if origin.source.is_empty() => unset += 1,
                Some((_, names)) => names.push(format!("{name} ({msb}:{lsb})")),
                None => reasons.push((&origin.source, vec![format!("{name} ({msb}:{lsb})")])),
            }
            continue;
        }
        let source = match &origin.place {
            Some(place) => format!("{} at 0x{:x}", origin.source, place.offset),
            None => origin.source.clone(),
        };
        lines.push(vec![
            format!("  {msb}:{lsb}"),
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
    }
    write!(out, "{}", export::align(&lines, &[true, false, true]))?;
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
fn slots(slots: &[Slot], out: &mut impl Write) -> std::io::Result<()> {
    if slots.is_empty() {
        return Ok(());
    }
    writeln!(out, "  Known at run time only:")?;
    let mut lines = Vec::new();
    for slot in slots {
        let parts = slot.parts.iter().map(|part| {
            let [msb, lsb] = part.bits;
            match part.shift {
                0 => format!("{msb}:{lsb}"),
                shift => format!("{msb}:{lsb} (>> {shift})"),
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
