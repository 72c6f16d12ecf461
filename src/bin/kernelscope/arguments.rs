//! The command line: what it asks for, and why it cannot be had.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use kernelscope::export::Form;
use kernelscope::nvidia;
use lexopt::prelude::*;

const USAGE: &str = "\
Usage: kernelscope COMMAND FILE [WHICH] [OPTIONS]

Shows what is in a GPU binary. FILE is a path, or - for standard input.

Commands:
  ls             what it holds: the members of fatbins, bundles, host programs, archives and packages, to any depth
  archs          for which architectures it has machine code, PTX and other code, and how many bytes; what is packed is
                 opened for it; with --all how many kernels each has; with --gpu GPU whether it runs there, by which code, and
                 which kernels do not
  missing        kernels that it has for some of its architectures and not for others; with --gpu GPU whether they run there
  extract        writes members as files: extract FILE --member PATH -o DIR, or --all of them that hold no others;
                 with -o OUT.zip to one zip file
  size           what takes how many bytes: architectures, their members, sections and kernels, the largest first, and
                 which members are the same; in text as far as the members, with --all to the end
  report         what it is, its kernels, sections and findings
  kernels        its kernels and what each needs; with --all those of all members, with --all --across a row a name and columns
                 for each architecture
  wrappers       host programs: the wrappers of fatbins and bundles that they register with a runtime
  launchers      host programs: which of their functions launch which kernels, as symbols and relocations tell; with --all
                 also those that only the names of kernels in members tell
  sections, segments, symbols, relocations, other_relocations, notes, texts, printf, load_image, map, diagnostics
                 one table
  exceptions, lanes, frames, warps, ctas, sms, grids, banks, modules, contexts, devices, memory
                 core dumps: one table
  lane           core dumps: what there is of one thread, with its offset: lane FILE N, by its number in the table of lanes
  metadata       code objects: the metadata as a tree, with the offset of each key
  kernarg        code objects: what a dispatch passes to a kernel, argument by argument: kernarg FILE KERNEL
  image          the image, and what lies where in it; with -o OUT its bytes, with --base as a loader leaves them there
  patches        cubins and code objects: what a loader writes over the image, at --base (default 0)
  bank0          constant bank 0 of a kernel, or what is at OFFSET of it: bank0 FILE KERNEL [OFFSET], as 0x210 or
                 c[0x0][0x210]
  directives     code objects: the descriptor of a kernel as an .amdhsa_kernel block for llvm-mc: directives FILE KERNEL
  code           instructions and what they tell the scheduler, of a kernel: code FILE KERNEL, by its name or its number
                 in the table of kernels; of code objects words, where symbols and lines of source begin in them
  qmd            cubins: what a launch hands to the GPU, the launch descriptor (QMD) and constant bank 0:
                 qmd FILE --kernel KERNEL --grid X,Y,Z --block X,Y,Z
  dispatch       code objects: the same, the AQL packet and the kernarg segment
  occupancy      how many blocks or workgroups of a kernel run at once, and what limits them:
                 occupancy FILE --kernel KERNEL --block N --gpu sm_89
  decode         dumped bytes, or text that has them: launch descriptors (QMD), pushbuffers, GPFIFO entries, AQL packets
  runs           whether the code runs on a GPU (yes, jit: once the driver has compiled it, depends, no), and why:
                 runs FILE [GPU], by sm_90 or 9.0, a target ID such as gfx90a:xnack- or a product's name such as MI300X;
                 without one, the GPUs on which it runs
  text           the source that is kept in it, such as PTX: text FILE [N], by its number in the table of texts
  hex            bytes: --at OFFSET (default 0), --len N (default: to the end)
  record         the structures that hold a byte: --at OFFSET

Options:
  --json         JSON instead of aligned text (report: the contract of report.schema.json)
  --form FORM    for record and kernarg: text (default), json, markdown, c
  --at OFFSET    an offset in the file, decimal or 0x hexadecimal; image:OFFSET; of a member also file:OFFSET, in FILE;
                 or the name of a section, a kernel or a symbol, whose bytes hex then shows: .text.vadd, .text.vadd+0x20
  --base ADDRESS for image and patches: where the image is loaded, decimal or 0x hexadecimal
  --segments     for image: as whoever copies PT_LOAD segments has it, which is the only image without section headers
  --member PATH  the member of that path, as ls lists it, instead of FILE itself: names from the outside in, !/ between
  --all          for extract, kernels, launchers and archs: every member; for size: what is in them, too
  --across       for kernels --all: a row a name, with what it needs on each architecture
  --carve        looks through the whole file for GPU code that no header tells of, too: its members are called by their offsets
  --gpu GPU      for archs and missing: as for runs
  -o OUT         for image: the file to write its bytes to, all of them, with the zeros that are to be reserved; for
                 extract the folder, which is made, or a zip file
  --len N        a number of bytes, decimal or 0x hexadecimal

Options of qmd and dispatch (--json lists all that can be given, with their ranges):
  --kernel NAME  the kernel, by its name or its number in the table of kernels
  --grid X,Y,Z, --block X,Y,Z, --cluster X,Y,Z, --shared BYTES (dynamic),
  --stack BYTES (of a thread, where the kernel does not say)
  --gpu GPU, --qmd-version V, --profile rig|cuda (dispatch: hip|hsa)
  --program, --shared-window, --local-window, --object, --kernarg, --signal ADDRESS
  --bank0 … --bank7 ADDRESS[/BYTES]  BYTES of a bank that is not the kernel's but the driver's own
  --chain ADDRESS|yes, --release0, --release1 ADDRESS:VALUE[:stamped]|yes  yes: there is one, what only run time knows is open
  --qmd ADDRESS  of the descriptor itself, where another one goes ahead of it (Hopper, profile cuda)
  --arg N=TYPE:VALUE  the value of parameter N, such as 3=f32:1.5: ptr, u8 to u64, i8 to i64, f16, bf16, f32, f64, several
                 values with commas between them; raw:HEX; a number without a type is as long as the parameter; can be repeated
  --set FIELD=VALUE, --hidden KIND=VALUE  the value of one field, as a number or by its name (SAMPLER_INDEX=INDEPENDENTLY,
                 TRUE, FALSE), of one hidden argument; can be repeated
  --part PART    which of the structures --hex and -o are about: qmd (default), qmd_null, bank0; packet (default), kernarg
  --grid-items X,Y,Z  dispatch: the grid in work-items, where the last workgroups are partial ones
  --hex          its 32-bit words; with -o OUT its bytes are written to a file; what is open is 0 in them, and said on stderr

Who says what a driver writes:
  rig            what the project raven fixes for a launch like CUDA's
  cuda           captures of CUDA's launches on Ada, GH200, H100, GB203 and GB10
  tinygrad, mesa NAK  drivers whose source (both MIT) says so
  hip, hsa       logs of ROCm; ROCR-Runtime and LLVM's offload runtime

Options of occupancy (--json lists all that can be given, and has the charts whole):
  --kernel, --gpu, --block, --grid, --shared  as above
  --units N      SMs or compute units of the GPU; with a grid it is said how often it fills all of them
  --registers N, --sgprs N, --barriers N  instead of the kernel's own

Options of decode (--json lists what can be given):
  --as FORM      what it is read as: qmd, pushbuffer, gpfifo, aql; without, what it looks like
  --class CLASS  the class of subchannels that no SET_OBJECT gives one, such as C6C0; --host CLASS that of the host
  --qmd-version V  the version of launch descriptors, such as 03.00
  --numbering N  whether words are counted from 0 or from 1 in a list of words; --text yes|no whether it is text
  --order ORDER  in which order the bytes of groups such as 3c00007f are printed: little as a number, big as in memory
  --with FILE    a second launch descriptor, with which the first one is compared

  -h, --help     this text
  -V, --version  the version

Exit codes: 0 the file was opened, 1 it was and errors were found in it or in the launch, 2 it could not be read or the
command line is wrong.
";

/// What the command line asks for.
pub struct Arguments {
    pub command: String,
    pub file: PathBuf,
    /// Which kernel, or which text.
    pub which: Option<String>,
    pub json: bool,
    pub form: Form,
    pub at: Option<String>,
    pub len: Option<u64>,
    pub base: Option<u64>,
    pub out: Option<PathBuf>,
    pub segments: bool,
    pub offset: Option<u32>,
    /// What is typed for a launch: `key=value;key=value`.
    pub inputs: String,
    pub hex: bool,
    pub member: Option<String>,
    pub all: bool,
    pub across: bool,
    pub carve: bool,
    pub part: Option<String>,
    /// A second dump to compare with.
    pub with: Option<PathBuf>,
}

/// Commands that make something of a launch.
const LAUNCHES: &[&str] = &["qmd", "dispatch"];
/// Commands that are about members, and those that tell of a file as a whole.
const CARVING: &[&str] = &["ls", "archs", "extract", "kernels", "size", "report", "map"];
/// Commands whose kernel is an option.
const OF_KERNEL: &[&str] = &["qmd", "dispatch", "occupancy"];
/// Commands that are told by inputs what to do.
const TYPED: &[&str] = &["qmd", "dispatch", "occupancy", "decode"];

/// Commands that may be about one GPU.
const OF_GPU: &[&str] = &["archs", "missing", "qmd", "dispatch", "occupancy", "decode"];

/// Options whose value is typed for the key of that name.
const INPUTS: &[&str] = &[
    "profile",
    "grid",
    "block",
    "cluster",
    "shared",
    "stack",
    "program",
    "bank0",
    "bank1",
    "bank2",
    "bank3",
    "bank4",
    "bank5",
    "bank6",
    "bank7",
    "chain",
    "qmd",
    "release0",
    "release1",
    "shared-window",
    "local-window",
    "object",
    "kernarg",
    "signal",
    "grid-items",
    "units",
    "registers",
    "sgprs",
    "barriers",
    "as",
    "class",
    "host",
    "numbering",
    "order",
    "text",
];

/// Options of the form `NAME=VALUE`, and what the key begins with that the value is typed for.
const PAIRS: &[(&str, &str)] = &[("arg", "arg"), ("set", "set."), ("hidden", "hidden.")];

/// Whether the option `name` is typed for a launch.
fn is_input(name: &str) -> bool {
    name == "qmd-version" || INPUTS.contains(&name) || PAIRS.iter().any(|(pair, _)| *pair == name)
}

/// The key that the option `name` is typed for, and the value.
fn input(name: &str, value: &str) -> Result<(String, String), Failure> {
    let Some((_, prefix)) = PAIRS.iter().find(|(pair, _)| *pair == name) else {
        let key = match name {
            // --version is the program's.
            "qmd-version" => "version".into(),
            name => name.replace('-', "_"),
        };
        return Ok((key, value.into()));
    };
    let (key, value) = value
        .split_once('=')
        .ok_or_else(|| Failure::Usage(format!("--{name}: expected NAME=VALUE, found {value:?}")))?;
    Ok((format!("{prefix}{}", key.trim()), value.into()))
}

/// Why nothing can be shown; exit code 2.
pub enum Failure {
    Usage(String),
    Read(String),
    Write(io::Error),
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// Reads the command line; `None` where it only asked for what is printed already.
pub fn arguments() -> Result<Option<Arguments>, Failure> {
    let mut parser = lexopt::Parser::from_env();
    let mut words: Vec<OsString> = Vec::new();
    let (mut json, mut form, mut at, mut len) = (false, None, None, None);
    let (mut base, mut out, mut segments) = (None, None, false);
    let (mut member, mut all, mut across, mut carve) = (None, false, false, false);
    let (mut inputs, mut named, mut hex, mut part) = (String::new(), None, false, None);
    let (mut with, mut gpu) = (None, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => {
                io::stdout().write_all(USAGE.as_bytes())?;
                return Ok(None);
            }
            Short('V') | Long("version") => {
                writeln!(io::stdout(), "kernelscope {}", env!("CARGO_PKG_VERSION"))?;
                return Ok(None);
            }
            Long("json") => json = true,
            Long("form") => {
                let name = parser.value()?.string()?;
                form = Some(Form::named(&name).ok_or_else(|| {
                    Failure::Usage(format!(
                        "--form: expected text, json, markdown or c, found {name:?}"
                    ))
                })?);
            }
            Long("at") => at = Some(parser.value()?.string()?),
            Long("base") => base = Some(number("--base", &parser.value()?.string()?)?),
            Short('o') => out = Some(PathBuf::from(parser.value()?)),
            Long("segments") => segments = true,
            Long("len") => len = Some(number("--len", &parser.value()?.string()?)?),
            Long("kernel") => named = Some(parser.value()?.string()?),
            Long("hex") => hex = true,
            Long("with") => with = Some(PathBuf::from(parser.value()?)),
            Long("member") => member = Some(parser.value()?.string()?),
            Long("all") => all = true,
            Long("across") => across = true,
            Long("carve") => carve = true,
            Long("gpu") => gpu = Some(parser.value()?.string()?),
            Long("part") => part = Some(parser.value()?.string()?),
            Value(word) => words.push(word),
            Long(name) if is_input(name) => {
                let name = name.to_owned();
                let value = parser.value()?.string()?;
                let (key, value) = input(&name, &value)?;
                inputs.push_str(&format!("{key}={value};"));
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let mut words = words.into_iter();
    let command = words
        .next()
        .ok_or_else(|| Failure::Usage("no command is given".into()))?;
    let command = command.string()?;
    let is_typed = TYPED.contains(&command.as_str());
    if let Some(gpu) = gpu.as_ref().filter(|_| is_typed) {
        inputs.push_str(&format!("gpu={gpu};"));
    }
    let is_table = kernelscope::document::TABLES
        .iter()
        .any(|(key, _)| *key == command);
    let others = [
        "ls",
        "extract",
        "size",
        "report",
        "hex",
        "record",
        "code",
        "text",
        "lane",
        "patches",
        "bank0",
        "directives",
        "kernarg",
        "runs",
        "qmd",
        "dispatch",
        "occupancy",
        "decode",
    ];
    if !is_table && !others.contains(&command.as_str()) {
        return Err(Failure::Usage(format!("there is no command {command:?}")));
    }
    for (option, is_given, takers) in [
        ("--at", at.is_some(), &["hex", "record"][..]),
        ("--len", len.is_some(), &["hex"]),
        ("--form", form.is_some(), &["record", "kernarg"]),
        ("--base", base.is_some(), &["image", "patches"]),
        (
            "-o",
            out.is_some(),
            &["image", "qmd", "dispatch", "extract"],
        ),
        (
            "--all",
            all,
            &["archs", "extract", "kernels", "launchers", "size"],
        ),
        ("--across", across, &["kernels"]),
        ("--carve", carve, CARVING),
        ("--hex", hex, LAUNCHES),
        ("--part", part.is_some(), LAUNCHES),
        ("--kernel", named.is_some(), OF_KERNEL),
        ("what a launch is given", !inputs.is_empty(), TYPED),
        ("--with", with.is_some(), &["decode"]),
        ("--gpu", gpu.is_some(), OF_GPU),
        ("--segments", segments, &["image"]),
    ] {
        if is_given && !takers.contains(&command.as_str()) {
            return Err(Failure::Usage(format!(
                "{option} is for {}",
                takers.join(" and ")
            )));
        }
    }
    if across && !all {
        return Err(Failure::Usage("--across goes with --all".into()));
    }
    if json && form.is_some_and(|form| form != Form::Json) {
        return Err(Failure::Usage(
            "--json and --form say different things".into(),
        ));
    }
    let file = words
        .next()
        .ok_or_else(|| Failure::Usage(format!("{command}: no file is given")))?;
    let which = match command.as_str() {
        "code" | "text" | "bank0" | "directives" | "kernarg" | "lane" | "runs" => {
            words.next().map(|word| word.string()).transpose()?
        }
        "archs" | "missing" => gpu,
        command if OF_KERNEL.contains(&command) => named,
        _ => None,
    };
    let is_of_kernel = ["code", "bank0", "directives", "kernarg"].contains(&command.as_str())
        || OF_KERNEL.contains(&command.as_str());
    if is_of_kernel && which.is_none() {
        return Err(Failure::Usage(format!("{command}: no kernel is given")));
    }
    if command == "image" && base.is_some() && out.is_none() {
        return Err(Failure::Usage(
            "image: --base is for the bytes that -o OUT writes".into(),
        ));
    }
    let mut offset = None;
    if command == "bank0"
        && let Some(text) = words.next()
    {
        offset = Some(bank_offset(&text.string()?)?);
    }
    if let Some(word) = words.next() {
        return Err(Failure::Usage(format!("{word:?} is one argument too many")));
    }
    Ok(Some(Arguments {
        command,
        file: file.into(),
        which,
        json,
        form: form.unwrap_or(if json { Form::Json } else { Form::Text }),
        at,
        len,
        base,
        out,
        segments,
        offset,
        inputs,
        hex,
        member,
        all,
        across,
        carve,
        part,
        with,
    }))
}

/// An offset in constant bank 0: a number, or an operand as disassemblers write it, `c[0x0][0x210]`.
fn bank_offset(text: &str) -> Result<u32, Failure> {
    let inner = text
        .strip_prefix("c[0x0][")
        .and_then(|rest| rest.strip_suffix(']'));
    let offset = number("bank0", inner.unwrap_or(text))?;
    let past = || Failure::Usage(format!("bank0: a bank has 0x10000 bytes, found {text:?}"));
    u32::try_from(offset)
        .ok()
        .filter(|&offset| offset < nvidia::bank0::SIZE)
        .ok_or_else(past)
}

/// A number, decimal or hexadecimal with `0x`.
pub fn number(option: &str, text: &str) -> Result<u64, Failure> {
    let parsed = kernelscope::launch::number(text);
    parsed.map_err(|why| Failure::Usage(format!("{option}: {why}")))
}
