//! The project's own build steps: `cargo xtask COMMAND`. One command a file; the Makefile calls them in order.

mod budgets;
mod licences;
mod notices;
mod package;
mod tables;
mod wasm;
mod web_fixtures;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const HELP: &str = "\
cargo xtask COMMAND, where COMMAND is one of
  tables [--check]  turn tables/ into Rust, or tell whether that is done
  wasm [SETTINGS]   build the npm package as wasm-pack.toml says
  web-fixtures      write what the tests in the browser are held against
  package           add the built element to the npm package
  licences          hold every dependency's licence against licences.toml
  notices           write the licence texts of what is shipped into the site
  budgets           hold the built files against budgets.toml";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["tables"] => tables::run(false).map_err(Into::into),
        ["tables", "--check"] => tables::run(true).map_err(Into::into),
        ["wasm"] => wasm::run(&root().join("wasm-pack.toml")),
        ["wasm", settings] => wasm::run(Path::new(settings)),
        ["web-fixtures"] => web_fixtures::run(),
        ["package"] => package::run(),
        ["licences"] => licences::run(),
        ["notices"] => notices::run(),
        ["budgets"] => budgets::run(),
        _ => Err(HELP.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
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
