//! How long files take to open, and beside it what the vendors' dump tools take for the same files, in
//! one run. `make bench` runs it; nothing is asserted.
//!
//! Large files are not part of the project: name a folder of them by `KERNELSCOPE_BIG`, the dump tools by
//! `CUOBJDUMP` and `LLVM_READELF`. What is missing is left out, and said so.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cap::Cap;
use kernelscope::report::Report;
use kernelscope::rows::{Query, View};
use kernelscope::source::File;
use kernelscope::unpack::Compression;
use kernelscope::{Document, Source};

#[global_allocator]
static ALLOCATOR: Cap<std::alloc::System> = Cap::new(std::alloc::System, usize::MAX);

fn main() {
    println!("{:<44} {:>12}", "what", "median");
    sparse(); // first, since the allocator's peak is the whole program's
    cubin();
    symbols();
    let whole = &|path: &Path| {
        let mut document = open(path);
        document.check_all();
        serde_json::to_writer(std::io::sink(), &Report(&document)).expect("a report");
    };
    beside(
        "cub.sm_90.cubin",
        "whole report",
        whole,
        "CUOBJDUMP",
        &["-elf"],
    );
    beside(
        "cub.sm_90.cubin",
        "table of kernels",
        &kernels,
        "CUOBJDUMP",
        &["-res-usage"],
    );
    beside(
        "cub.gfx942.co",
        "whole report",
        whole,
        "LLVM_READELF",
        &["-a", "--notes"],
    );
    for name in ["thrust-cuda.so", "libcublas.so"] {
        beside(
            name,
            "unpack all members",
            &unpack,
            "CUOBJDUMP",
            &["-all", "-xelf", "all"],
        );
    }
}

/// Unpacks every member that is packed, one at a time, and says how fast.
fn unpack(path: &Path) {
    let document = open(path);
    let start = Instant::now();
    let mut bytes = [("lz4", Compression::Lz4, 0), ("zstd", Compression::Zstd, 0)];
    for (index, member) in (0..).zip(&document.contents().members) {
        for (_, compression, unpacked) in &mut bytes {
            if member.compression == *compression {
                let member = document.contents().open_member(document.source(), index);
                *unpacked += member.expect("a member").source.size();
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    for (word, _, unpacked) in bytes.iter().filter(|(_, _, unpacked)| *unpacked > 0) {
        let speed = *unpacked as f64 / seconds / 1e6;
        println!("  {word}: {unpacked} bytes unpacked, {speed:.0} MB/s");
    }
}

/// The median of several runs.
fn measure(what: &str, runs: usize, mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let median = times[runs / 2];
    println!("{what:<44} {:>9.3} ms", median.as_secs_f64() * 1e3);
    median
}

fn big(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("KERNELSCOPE_BIG")?;
    let path = Path::new(&folder).join(name);
    path.exists().then_some(path)
}

/// A fixture with code added up to 1 MB, as its kernel would have with more of it.
fn cubin() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/nvidia/cubin/multi.sm_120.13.5.nvcc-lineinfo.cubin");
    let mut bytes = std::fs::read(path).expect("the fixture");
    bytes.resize(1 << 20, 0);
    measure("open + summary, cubin of 1 MB", 101, || {
        let document = Document::open(Source::memory(bytes.clone()));
        black_box(document.summary());
    });
}

/// An ELF file of 200,000 symbols, made here.
fn many_symbols(count: u64) -> Vec<u8> {
    let mut strings = vec![0];
    let mut symbols = vec![0; 24];
    for i in 1..count {
        let name = strings.len() as u32;
        strings.extend(format!("_ZN6kernel{}E{i}\0", i * 7919 % count).bytes());
        symbols.extend(name.to_le_bytes());
        symbols.extend([0x12, 0, 0xf1, 0xff]); // a global function at an absolute value
        symbols.extend((i * 16).to_le_bytes());
        symbols.extend(16_u64.to_le_bytes());
    }
    let names = b"\0.symtab\0.strtab\0";
    let mut file = vec![0; 64];
    let at = |file: &mut Vec<u8>, bytes: &[u8]| {
        let at = file.len() as u64;
        file.extend(bytes);
        (at, bytes.len() as u64)
    };
    let symtab = at(&mut file, &symbols);
    let strtab = at(&mut file, &strings);
    let shstrtab = at(&mut file, names);
    let table = file.len() as u64;
    let mut header = |name: u32, kind: u32, span: (u64, u64), link: u32, entry: u64| {
        file.extend(name.to_le_bytes());
        file.extend(kind.to_le_bytes());
        for value in [0, 0, span.0, span.1] {
            file.extend(value.to_le_bytes());
        }
        file.extend(link.to_le_bytes());
        file.extend(0_u32.to_le_bytes());
        file.extend(1_u64.to_le_bytes());
        file.extend(entry.to_le_bytes());
    };
    header(0, 0, (0, 0), 0, 0);
    header(1, 2, symtab, 2, 24);
    header(9, 3, strtab, 0, 0);
    header(0, 3, shstrtab, 0, 0);
    file[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\0");
    file[16..24].copy_from_slice(&[1, 0, 62, 0, 1, 0, 0, 0]);
    file[40..48].copy_from_slice(&table.to_le_bytes());
    file[52..54].copy_from_slice(&64_u16.to_le_bytes());
    file[58..64].copy_from_slice(&[64, 0, 4, 0, 3, 0]);
    file
}

fn symbols() {
    let document = Document::open(Source::memory(many_symbols(200_000)));
    let window = |view: &View| {
        let table = document.table("symbols").expect("symbols");
        for row in 100_000..100_100 {
            let row = view.row(&*table, row).expect("a row");
            for column in table.columns() {
                black_box(table.cell(row, &column.key));
            }
        }
    };
    let all = View::new(Query::default());
    measure("window of 100 of 200,000 symbols", 101, || window(&all));
    for (what, sort, filter) in [
        ("sort 200,000 symbols by name", Some("name"), ""),
        ("sort 200,000 symbols by value", Some("value"), ""),
        (
            "filter 200,000 symbols by name:kernel77",
            None,
            "name:kernel77",
        ),
        (
            "filter 200,000 symbols by a word anywhere",
            None,
            "kernel77",
        ),
    ] {
        measure(what, 5, || {
            let mut view = View::new(Query {
                sort: sort.map(str::to_owned),
                filter: filter.into(),
                ..Query::default()
            });
            view.build(&*document.table("symbols").expect("symbols"));
            black_box(view);
        });
    }
}

fn open(path: &Path) -> Document {
    Document::open(Source::sliced(File::open(path).expect("the file")))
}

/// Every cell of the table of kernels.
fn kernels(path: &Path) {
    let document = open(path);
    let table = document.table("kernels").expect("kernels");
    for row in 0..table.len() {
        for column in table.columns() {
            black_box(table.cell(row, &column.key));
        }
    }
}

/// A large file by us and by the vendor's tool, with the ratio.
fn beside(name: &str, what: &str, run: &dyn Fn(&Path), tool: &str, arguments: &[&str]) {
    let Some(path) = big(name) else {
        println!("{name}: left out, KERNELSCOPE_BIG names no folder with it");
        return;
    };
    measure(&format!("open + summary, {name}"), 11, || {
        black_box(open(&path).summary());
    });
    let ours = measure(&format!("{what}, {name}"), 5, || run(&path));
    let Some(program) = std::env::var_os(tool) else {
        println!("{name}: {tool} is not set, nothing to compare with");
        return;
    };
    // What it extracts.
    let folder = std::env::temp_dir().join(format!("kernelscope-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let theirs = measure(
        &format!("{} {} of it", tool.to_lowercase(), arguments.join(" ")),
        3,
        || {
            let status = Command::new(&program)
                .current_dir(&folder)
                .args(arguments)
                .arg(&path)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            status.expect("the tool runs");
        },
    );
    std::fs::remove_dir_all(&folder).expect("the folder is removed");
    println!(
        "  they take {:.1} times as long",
        theirs.as_secs_f64() / ours.as_secs_f64()
    );
}

/// A sparse file of 1.5 GB in slices: time, and bytes read.
fn sparse() {
    let Some(path) = big("host-1.5g.so") else {
        println!("host-1.5g.so: left out, KERNELSCOPE_BIG names no folder with it");
        return;
    };
    let mut read = 0;
    measure("open + summary, sparse host of 1.5 GB", 11, || {
        let document = open(&path);
        black_box(document.summary());
        read = document.source().fetched();
    });
    let peak = ALLOCATOR.max_allocated();
    println!("  {read} bytes of it were read, at most {peak} bytes allocated");
}
