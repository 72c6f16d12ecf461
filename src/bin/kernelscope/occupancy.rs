//! How many blocks or workgroups of a kernel run at once, in a terminal.

use std::io::Write;

use kernelscope::document::Document;
use kernelscope::error::Severity;
use kernelscope::export;
use kernelscope::occupancy::{Chart, OccupancyAnswer};

use crate::arguments::{Arguments, Failure};
use crate::launch;

/// Prints how many run at once of the launch that the command line gives; whether it has errors.
pub fn print(
    document: &Document,
    kernel: usize,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<bool, Failure> {
    let found = document.occupancy(kernel, &arguments.inputs);
    let answer = found.ok_or_else(|| {
        let format = document.format().title();
        Failure::Usage(format!(
            "occupancy: how many blocks of a kernel of {format} files run at once is not known"
        ))
    })?;
    let mut problems = answer.problems.iter();
    let has_errors = problems.any(|problem| problem.severity == Severity::Error);
    if arguments.json {
        crate::json(out, &answer)?;
        return Ok(has_errors);
    }
    for problem in &answer.problems {
        writeln!(out, "{}", launch::line(problem))?;
    }
    let typed = answer.inputs.iter().filter(|input| !input.value.is_empty());
    let typed = typed.map(|input| {
        let value = export::visible(&input.value).into_owned();
        format!("{} {value}", input.label)
    });
    writeln!(out, "{}", typed.collect::<Vec<_>>().join(" · "))?;
    writeln!(out, "{}\n", summary(&answer))?;
    limits(&answer, out)?;
    writeln!(out, "\n{}s that run at once", capital(answer.wave))?;
    for chart in &answer.charts {
        writeln!(out, "  by {}: {}", chart.label, steps(chart))?;
    }
    writeln!(out, "\nWhat went into it")?;
    let lines = answer.facts.iter().map(|fact| {
        vec![
            format!("  {}", fact.name),
            fact.value.clone(),
            fact.source.clone(),
        ]
    });
    let lines: Vec<Vec<String>> = lines.collect();
    write!(out, "{}", export::align(&lines, &[false, true]))?;
    Ok(has_errors)
}

/// `6 blocks, 48 of 48 warps (100 %) of an SM at once; warps limit; the grid fills all of them 5.33 times`.
fn summary(answer: &OccupancyAnswer) -> String {
    let (Some(groups), Some(waves)) = (answer.groups, answer.waves) else {
        // What was typed can be wrong in ways that say nothing about the kernel.
        let is_none = answer.limits.iter().any(|limit| limit.groups == Some(0));
        return match is_none {
            true => format!("No {} of it can run.", answer.group),
            false => format!(
                "How many {}s of it run at once is not worked out: something is wrong.",
                answer.group
            ),
        };
    };
    let s = if groups == 1 { "" } else { "s" };
    let (group, wave, unit) = (answer.group, answer.wave, answer.unit);
    let most = answer.most_waves;
    let percent = 100.0 * f64::from(waves) / f64::from(most.max(1));
    let article = if unit.starts_with(['S']) { "an" } else { "a" };
    let mut text = format!(
        "{groups} {group}{s}, {waves} of {most} {wave}s ({percent:.0} %) of {article} {unit} at once"
    );
    let limits = answer.limits.iter().filter(|limit| limit.is_limit);
    let limits: Vec<&str> = limits.map(|limit| limit.name).collect();
    text.push_str(&format!("; limited by {}", limits.join(" and ")));
    if let Some(times) = answer.grid_waves {
        text.push_str(&format!("; the grid fills all {unit}s {times:.2} times"));
    }
    text
}

fn limits(answer: &OccupancyAnswer, out: &mut impl Write) -> std::io::Result<()> {
    let mut lines = vec![vec![
        String::new(),
        "Limit".into(),
        format!("{}s", capital(answer.group)),
        "How that is counted".into(),
    ]];
    lines.extend(answer.limits.iter().map(|limit| {
        vec![
            if limit.is_limit { "*" } else { "" }.into(),
            limit.name.into(),
            limit
                .groups
                .map_or_else(|| "any".into(), |groups| groups.to_string()),
            limit.note.clone(),
        ]
    }));
    write!(
        out,
        "{}",
        export::align(&lines, &[false, false, true, false])
    )
}

/// Runs of values with as many waves: `1–40: 48, 41–48: 40`.
fn steps(chart: &Chart) -> String {
    let runs = chart.points.chunk_by(|a, b| a[1] == b[1]);
    let runs = runs.map(|run| {
        let [from, waves] = run[0];
        match run[run.len() - 1] {
            [to, _] if to > from => format!("{from}–{to}: {waves}"),
            _ => format!("{from}: {waves}"),
        }
    });
    runs.collect::<Vec<_>>().join(", ")
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
