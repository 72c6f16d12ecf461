//! What a launch of a cubin's kernel hands to the GPU, held against worked encodings of others (`qmd.json`), against the
//! rules of the reference ABI, and against the places that public drivers and headers name.

mod common;

use kernelscope::Document;
use kernelscope::error::Severity;
use kernelscope::launch::{Launch, Made, OriginKind};
use kernelscope::record::bits;

const VADD_80: &str = "nvidia/cubin/vadd.sm_80.11.8.cubin";
const VADD_90: &str = "nvidia/cubin/vadd.sm_90.12.8.cubin";
const VADD_120: &str = "nvidia/cubin/vadd.sm_120.13.5.cubin";
const SHARED_75: &str = "nvidia/cubin/shmem.sm_75.12.8.cubin";

fn launch(document: &Document, kernel: usize, inputs: &str) -> Launch {
    document.launch(kernel, inputs).expect("a launch")
}

fn made<'a>(launch: &'a Launch, key: &str) -> &'a Made {
    let found = launch.made.iter().find(|made| made.key == key);
    found.unwrap_or_else(|| panic!("{key}"))
}

fn word(made: &Made, index: usize) -> u32 {
    let bytes = &made.bytes[4 * index..4 * index + 4];
    u32::from_le_bytes(bytes.try_into().expect("a word"))
}

/// The value of the bits from `msb` down to `lsb`.
fn between(made: &Made, msb: u32, lsb: u32) -> u64 {
    bits(&made.bytes, lsb, msb - lsb + 1).expect("bits of the descriptor")
}

/// The inputs that something is wrong with.
fn errors(launch: &Launch) -> Vec<&str> {
    let errors = launch
        .problems
        .iter()
        .filter(|problem| problem.severity == Severity::Error);
    errors.map(|problem| problem.input.as_str()).collect()
}

fn notes(launch: &Launch) -> Vec<&str> {
    let notes = launch
        .problems
        .iter()
        .filter(|problem| problem.severity == Severity::Note);
    let notes = notes.filter(|problem| problem.input != "profile");
    notes.map(|problem| problem.input.as_str()).collect()
}

/// The bytes of a worked encoding.
fn example(name: &str) -> Vec<u8> {
    let all: serde_json::Value =
        serde_json::from_slice(&common::bytes("qmd.json")).expect("worked encodings");
    let mut examples = all["examples"].as_array().expect("examples").iter();
    let found = examples.find(|example| example["name"] == name);
    let hex = found.and_then(|found| found["hex"].as_str());
    let hex = hex.unwrap_or_else(|| panic!("{name}"));
    let pairs = hex.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).expect("hex"), 16);
    pairs.map(|pair| byte(pair).expect("hex")).collect()
}

/// The worked encodings are of kernels of their own and mix the values of drivers. What of the kernel, or of the driver, is
/// another than the fixture's and rig's is typed field by field; all the rest is to come out byte for byte.
#[test]
fn worked_encodings_come_out_byte_for_byte() {
    for (name, file, kernel, inputs) in [
        // Registers and code of another vadd; mesa's carveouts: 3 for 8 KiB, which holds the driver's 1 KiB.
        (
            "1 vadd<<<4096,256>>> sm_89 QMD 3.0 [fuller]",
            VADD_80,
            0,
            "gpu=sm_89;grid=4096;block=256;program=0x74167b272300;bank0=0x740000001000;\
             set.REGISTER_COUNT_V=16;set.PROGRAM_PREFETCH_SIZE=1;\
             set.MIN_SM_CONFIG_SHARED_MEM_SIZE=3;set.TARGET_SM_CONFIG_SHARED_MEM_SIZE=3",
        ),
        // The third kernel has 1024 bytes of shared memory, too. FOUR_WORDS is what a stamped release has.
        (
            "3 reduce sm_75 QMD 2.3 [fuller]",
            SHARED_75,
            2,
            "grid=640;block=512;program=7fcc00000800;bank0=7fcc10000000;release0=fc00001000:4660:stamped;\
             set.REGISTER_COUNT_V=24;set.PROGRAM_PREFETCH_SIZE=7",
        ),
        // What mesa leaves 0 is 0, its group is 31, its local memory the low one; no shared memory of the driver's.
        (
            "2 tiled matmul 2D sm_120 QMD 5.0 [minimal]",
            VADD_120,
            0,
            "grid=128,64,2;block=16,16;shared=36864;program=7f0012340a00;bank0=7f0000100000;bank3=7f0000200040/4032;\
             release0=7f00deadbee0:7:stamped;chain=1200000100;\
             set.QMD_GROUP_ID=31;set.SAMPLER_INDEX=0;set.CWD_MEMBAR_TYPE=0;set.BARRIER_COUNT=0;set.SASS_VERSION=0;\
             set.INVALIDATE_TEXTURE_HEADER_CACHE=0;set.INVALIDATE_TEXTURE_SAMPLER_CACHE=0;\
             set.INVALIDATE_TEXTURE_DATA_CACHE=0;set.INVALIDATE_SHADER_DATA_CACHE=0;\
             set.CONSTANT_BUFFER_INVALIDATE(0)=0;set.RELEASE_PAYLOAD64B(0)=0;\
             set.REGISTER_COUNT=96;set.CONSTANT_BUFFER_SIZE_SHIFTED4(0)=59;\
             set.SHARED_MEMORY_SIZE_SHIFTED7=288;set.MIN_SM_CONFIG_SHARED_MEM_SIZE=17;\
             set.SHADER_LOCAL_MEMORY_LOW_SIZE_SHIFTED4=4;set.SHADER_LOCAL_MEMORY_HIGH_SIZE_SHIFTED4=0;\
             set.PROGRAM_PREFETCH_SIZE=0;set.PROGRAM_PREFETCH_ADDR_LOWER_SHIFTED=0;\
             set.PROGRAM_PREFETCH_ADDR_UPPER_SHIFTED=0",
        ),
        (
            "4 gemm sm_90 QMD 4.0 [minimal]",
            VADD_90,
            0,
            "grid=132;block=384;shared=196608;program=7598fb7b9d00;bank0=7598fa280000;release0=7598fa000000:1:stamped;\
             set.QMD_GROUP_ID=0;set.QMD_TYPE=0;set.SAMPLER_INDEX=0;set.CWD_MEMBAR_TYPE=0;set.BARRIER_COUNT=0;\
             set.SASS_VERSION=0;set.INVALIDATE_TEXTURE_HEADER_CACHE=0;set.INVALIDATE_TEXTURE_SAMPLER_CACHE=0;\
             set.INVALIDATE_TEXTURE_DATA_CACHE=0;set.INVALIDATE_SHADER_DATA_CACHE=0;\
             set.CONSTANT_BUFFER_INVALIDATE(0)=0;set.RELEASE_PAYLOAD64B(0)=0;\
             set.REGISTER_COUNT=168;set.CONSTANT_BUFFER_SIZE_SHIFTED4(0)=41;\
             set.SHARED_MEMORY_SIZE=196608;set.MIN_SM_CONFIG_SHARED_MEM_SIZE=50;\
             set.TARGET_SM_CONFIG_SHARED_MEM_SIZE=50;set.SHADER_LOCAL_MEMORY_HIGH_SIZE=0;\
             set.PROGRAM_PREFETCH_SIZE=0;set.PROGRAM_PREFETCH_ADDR_LOWER_SHIFTED=0;\
             set.PROGRAM_PREFETCH_ADDR_UPPER_SHIFTED=0",
        ),
    ] {
        let launch = launch(&common::open(file), kernel, inputs);
        assert_eq!(errors(&launch), [""; 0], "{name}: {:?}", launch.problems);
        assert_eq!(made(&launch, "qmd").bytes, example(name), "{name}");
    }
}

/// Whatever is typed, something is made, and nothing panics: every cubin, every kernel of some, every GPU, both profiles.
#[test]
fn whatever_is_typed_something_is_made() {
    let mut random = common::Random(6);
    let gpus = [
        30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103,
        107, 110, 120, 121, 99,
    ];
    let keys = [
        "version",
        "grid",
        "block",
        "cluster",
        "shared",
        "program",
        "bank0",
        "bank1",
        "bank3",
        "bank7",
        "bank8",
        "chain",
        "release0",
        "release1",
        "release2",
        "shared_window",
        "local_window",
        "qmd",
        "arg0",
        "arg1",
        "arg2",
        "arg9",
        "set.QMD_GROUP_ID",
        "set.OUTER_PUT",
        "set.NOTHING",
        "registers",
    ];
    let values = [
        "",
        "0",
        "1",
        "1,2,3",
        "yes",
        "0xffffffffffffffff",
        "18446744073709551615",
        "65536,65536,65536",
        "7f00:1:stamped",
        "7f08:0x123456789:stamped",
        ":::",
        "f32:1.5",
        "ptr:",
        "raw:00",
        "01.07",
        "05.01",
        "3.0",
        "7f40/64",
        "7f40/99999999999",
        "-1",
        "é",
        "1024",
        "0x123456789ab",
        "4096x2",
    ];
    for path in common::all(&["nvidia/cubin", "nvidia/own"]) {
        let document = common::open(&path);
        let kernels = document.table("kernels").map_or(0, |table| table.len()) as usize;
        assert!(document.launch(kernels, "").is_none());
        for kernel in 0..kernels.min(3) {
            for round in 0..12 {
                let mut inputs = String::new();
                if round > 1 {
                    let gpu = gpus[random.below(gpus.len() as u64) as usize];
                    inputs = format!("gpu=sm_{gpu};profile={}", ["rig", "cuda"][round % 2]);
                    for _ in 0..random.below(8) {
                        let key = keys[random.below(keys.len() as u64) as usize];
                        let value = values[random.below(values.len() as u64) as usize];
                        inputs.push_str(&format!(";{key}={value}"));
                    }
                } else if round == 1 {
                    inputs = "profile=cuda".into();
                }
                let launch = launch(&document, kernel, &inputs);
                assert!(launch.made.len() >= 2, "{path} {inputs}");
                for made in &launch.made {
                    assert_eq!(
                        made.origins.len(),
                        made.record.fields.len(),
                        "{path} {inputs}"
                    );
                    assert_eq!(made.record.span.size, made.bytes.len() as u64);
                    // What nothing is written to is 0, and so is what is open.
                    for (field, origin) in made.record.fields.iter().zip(&made.origins) {
                        let [msb, lsb] = field.bits;
                        let is_zero = (lsb..=msb).all(|bit| bits(&made.bytes, bit, 1) == Some(0));
                        let is_none = origin.what == OriginKind::Unset || origin.is_open;
                        assert!(is_zero || !is_none, "{path} {inputs}: {}", field.name);
                    }
                    for slot in &made.slots {
                        let names = launch.inputs.iter().any(|input| input.key == slot.input);
                        assert!(names, "{path} {inputs}: {}", slot.input);
                    }
                }
            }
        }
    }
}

/// The walk-through article's launch, `<<<4096, 256>>>`: word 12 is the grid, the upper half of word 18 the block. Version 5.0 has
/// the grid at 1279:1248, which is word 39, and the block at 1103:1088, the lower half of word 34.
#[test]
fn a_launch_is_at_the_words_that_are_known() {
    let inputs = "grid=4096;block=256";
    let ada = launch(&common::open(VADD_80), 0, &format!("gpu=sm_89;{inputs}"));
    let qmd = made(&ada, "qmd");
    assert_eq!(qmd.bytes.len(), 256);
    assert_eq!(word(qmd, 12), 0x1000);
    assert_eq!(word(qmd, 18) >> 16, 256);
    let blackwell = launch(&common::open(VADD_120), 0, inputs);
    let qmd = made(&blackwell, "qmd");
    assert_eq!(qmd.bytes.len(), 384);
    assert_eq!(word(qmd, 39), 4096);
    assert_eq!(word(qmd, 34) & 0xffff, 256);
    assert_eq!(errors(&blackwell), [""; 0]);
    assert_eq!(notes(&blackwell), [""; 0]);
    // Version byte: bits 471:464 on 5.0, 583:576 before.
    assert_eq!(between(qmd, 471, 464), 0x50);
    assert_eq!(between(made(&ada, "qmd"), 583, 576), 0x30);
}
