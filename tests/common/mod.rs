//! What the tests share: the fixtures.
#![allow(dead_code)] // each test file uses a part of it

pub mod made;

use std::path::{Path, PathBuf};

use kernelscope::device::Device;
use kernelscope::{Document, Source};

/// The folder of the fixtures.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The path of a fixture, as it is typed in a terminal.
pub fn fixture(path: &str) -> String {
    folder().join(path).display().to_string()
}

/// Runs the terminal's door to its end.
#[cfg(feature = "cli")]
pub fn kernelscope(arguments: &[&str]) -> std::process::Output {
    std::process::Command::new(env!("CARGO_BIN_EXE_kernelscope"))
        .args(arguments)
        .output()
        .expect("kernelscope runs")
}

/// The bytes of a fixture, by its path in the folder.
pub fn bytes(path: &str) -> Vec<u8> {
    let path = folder().join(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What independent tools say of the fixtures of a group, by path.
pub fn facts(group: &str) -> serde_json::Map<String, serde_json::Value> {
    let files = ["facts.json", "facts_nvidia.json", "facts_amdgpu.json"]
        .iter()
        .flat_map(|file| {
            let mut all: serde_json::Value = serde_json::from_slice(&bytes(file)).expect("facts");
            let group = all.get_mut(group).and_then(|group| group.as_object_mut());
            group.map(std::mem::take).unwrap_or_default()
        });
    files.collect()
}

/// A fixture opened, all checks run.
pub fn open(path: &str) -> Document {
    let mut document = Document::open(Source::memory(bytes(path)));
    document.check_all();
    document
}

/// The report of a document as JSON.
pub fn report(document: &Document) -> serde_json::Value {
    serde_json::to_value(kernelscope::report::Report(document)).expect("a report")
}

/// Whether the heavy sets are to be run whole (`make test-all`).
pub fn whole() -> bool {
    std::env::var_os("KERNELSCOPE_TEST_ALL").is_some()
}

/// The fixtures in `folders`, as paths in the fixtures' folder, sorted.
pub fn all(folders: &[&str]) -> Vec<String> {
    let mut paths = Vec::new();
    for part in folders {
        let dir = folder().join(part);
        let entries =
            std::fs::read_dir(&dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
        for entry in entries {
            let name = entry.expect("an entry").file_name();
            paths.push(format!("{part}/{}", name.to_string_lossy()));
        }
    }
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

/// The handed cubins and code objects.
pub const DEVICE: &[&str] = &["nvidia/cubin", "amdgpu/out"];
/// What others travel in.
pub const CONTAINERS: &[&str] = &["nvidia/fatbin", "nvidia/host", "amdgpu/con", "container"];
/// Every fixture.
pub const EVERY: &[&str] = &[
    "nvidia/cubin",
    "nvidia/own",
    "nvidia/fatbin",
    "nvidia/host",
    "amdgpu/out",
    "amdgpu/own",
    "amdgpu/linked",
    "amdgpu/con",
    "amdgpu/mal",
    "container",
    "coredump",
    "own",
];

/// Numbers that are spread well and the same in each run (SplitMix64 of Steele, Lea and Flood).
pub struct Random(pub u64);

impl Random {
    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// A code object whose line programs are one for the code of its first kernel, without the end of the sequence: `rows`.
/// The line is 1 and the address that of the kernel where they begin.
pub fn with_lines(rows: &[u8]) -> Vec<u8> {
    let path = "amdgpu/own/tile.gfx1250.v5.gdwarf-5.co";
    let document = open(path);
    let elf = document.elf().expect("an ELF file");
    let text = elf.section_named(".text").expect("code");
    let Device::CodeObject(object) = document.device() else {
        panic!("{path} is a code object");
    };
    let start = text.address + (object.kernels[0].code.offset - text.offset);
    // DWARF 2: instructions of 1 byte, lines from -1 on in 14 steps, 9 standard opcodes, no folder, one file.
    let mut header = vec![1, 1, 0xff, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0];
    header.extend(b"a.cl\0\0\0\0\0");
    let mut unit = vec![2, 0];
    unit.extend((header.len() as u32).to_le_bytes());
    unit.extend(header);
    unit.extend([0, 9, 2]); // DW_LNE_set_address
    unit.extend(start.to_le_bytes());
    unit.extend(rows);
    unit.extend([0, 1, 1]); // DW_LNE_end_sequence
    let mut bytes = bytes(path);
    let at = bytes.len() as u64;
    let size = unit.len() as u64 + 4;
    bytes.extend((unit.len() as u32).to_le_bytes());
    bytes.extend(unit);
    let section = elf.section_named(".debug_line").expect("line programs");
    let table = elf.section_table.expect("section headers").span();
    let place = (table.offset + 64 * u64::from(section.index)) as usize + 24;
    bytes[place..place + 8].copy_from_slice(&at.to_le_bytes());
    bytes[place + 8..place + 16].copy_from_slice(&size.to_le_bytes());
    bytes
}
