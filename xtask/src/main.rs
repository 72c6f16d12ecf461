//! The project's own build steps: `cargo xtask COMMAND`. One command a file; the Makefile calls them in order.

mod budgets;
mod licences;
mod tables;
mod wasm;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// A sub-command: its name, what `cargo xtask` says of it, and what runs with the words after the name.
type SubCommand = (&'static str, &'static str, fn(&[String]) -> Result);

const COMMANDS: &[SubCommand] = &[
    (
        "tables",
        "[--check]  turn tables/ into Rust, or tell whether that is done",
        tables_command,
    ),
    (
        "wasm",
        "[SETTINGS]  build the npm package as wasm-pack.toml says",
        wasm::run,
    ),
    (
        "budgets",
        "hold the built files against budgets.toml",
        budgets::run,
    ),
    (
        "licences",
        "hold every dependency's licence against the allowed ones",
        licences::run,
    ),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let command = words
        .first()
        .and_then(|name| COMMANDS.iter().find(|command| command.0 == name));
    let Some((name, _, run)) = command else {
        eprintln!("cargo xtask COMMAND, where COMMAND is one of");
        for (name, help, _) in COMMANDS {
            eprintln!("  {name} {help}");
        }
        return ExitCode::from(2);
    };
    match run(&words[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tables_command(words: &[String]) -> Result {
    Ok(tables::run(words.iter().any(|word| word == "--check"))?)
}

/// The project's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask/ is in the project")
        .to_path_buf()
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Runs a program to its end; anything but success is an error that shows the whole command.
fn execute(command: &mut Command) -> Result {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{status}: {command:?}").into()),
        Err(error) => Err(format!("{error}: {command:?}").into()),
    }
}
