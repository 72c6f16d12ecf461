//! What a launch of a cubin's kernel hands to the GPU, held against worked encodings of others (`qmd.json`), against the
//! rules of the reference ABI, and against the places that public drivers and headers name.

mod common;

use kernelscope::Document;
use kernelscope::error::Severity;
use kernelscope::launch::{Launch, Made, Origin, OriginKind};
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

fn at(made: &Made, field: &str) -> usize {
    let fields = &made.record.fields;
    let found = fields.iter().position(|known| known.name == field);
    found.unwrap_or_else(|| panic!("{field}"))
}

/// The value of the field of that name.
fn number(made: &Made, field: &str) -> u64 {
    let [msb, lsb] = made.record.fields[at(made, field)].bits;
    between(made, msb, lsb)
}

fn origin<'a>(made: &'a Made, field: &str) -> &'a Origin {
    &made.origins[at(made, field)]
}

/// What is said of an input.
fn said<'a>(launch: &'a Launch, input: &str) -> Vec<&'a str> {
    let said = launch.problems.iter();
    let said = said.filter(|problem| problem.input == input);
    said.map(|problem| problem.message.as_str()).collect()
}

/// The index of the kernel of that name.
fn kernel(document: &Document, name: &str) -> usize {
    let kernels = document.table("kernels").expect("kernels");
    let is_it = |row: &u64| kernels.cell(*row, "name") == name.into();
    (0..kernels.len()).find(is_it).expect("a kernel") as usize
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

/// What a launch says, at the bits that public headers and drivers name for it, in every version that is made: `qmd_fill.md`'s table.
#[test]
fn each_version_has_a_launch_where_its_header_says() {
    // GPU, version; then bits as msb, lsb of: grid x, y, z; block x, y, z; registers; shared memory and its unit; bank 0's address
    // (two parts) and its shift; its size and that's unit; the first release's address and value (lower parts).
    type Bits = (u32, u32);
    let none = (0, 0);
    let rows: &[(&str, &str, [Bits; 14], [u32; 3])] = &[
        (
            "sm_30",
            "00.06",
            [
                (415, 384),
                (431, 416),
                (447, 432),
                (607, 592),
                (623, 608),
                (639, 624),
                (1503, 1496),
                (561, 544),
                (959, 928),
                (967, 960),
                (991, 975),
                (767, 736),
                (831, 800),
                none,
            ],
            [0, 0, 0],
        ),
        (
            "sm_52",
            "01.07",
            [
                (415, 384),
                (431, 416),
                (447, 432),
                (607, 592),
                (623, 608),
                (639, 624),
                (1503, 1496),
                (561, 544),
                (959, 928),
                (967, 960),
                (991, 975),
                (767, 736),
                (831, 800),
                (191, 160),
            ],
            [0, 0, 0],
        ),
        (
            "sm_61",
            "02.01",
            [
                (415, 384),
                (431, 416),
                (463, 448),
                (607, 592),
                (623, 608),
                (639, 624),
                (991, 984),
                (561, 544),
                (1055, 1024),
                (1072, 1056),
                (1087, 1075),
                (767, 736),
                (831, 800),
                (511, 480),
            ],
            [0, 0, 4],
        ),
        (
            "sm_70",
            "02.02",
            [
                (415, 384),
                (431, 416),
                (463, 448),
                (607, 592),
                (623, 608),
                (639, 624),
                (656, 648),
                (561, 544),
                (1055, 1024),
                (1072, 1056),
                (1087, 1075),
                (767, 736),
                (831, 800),
                (511, 480),
            ],
            [0, 0, 4],
        ),
        (
            "sm_75",
            "02.03",
            [
                (415, 384),
                (431, 416),
                (463, 448),
                (607, 592),
                (623, 608),
                (639, 624),
                (656, 648),
                (561, 544),
                (1055, 1024),
                (1072, 1056),
                (1087, 1075),
                (767, 736),
                (831, 800),
                (511, 480),
            ],
            [0, 0, 4],
        ),
        (
            "sm_89",
            "02.04",
            [
                (415, 384),
                (431, 416),
                (463, 448),
                (607, 592),
                (623, 608),
                (639, 624),
                (656, 648),
                (561, 544),
                (1055, 1024),
                (1072, 1056),
                (1087, 1075),
                (767, 736),
                (831, 800),
                (511, 480),
            ],
            [0, 0, 4],
        ),
        (
            "sm_86",
            "03.00",
            [
                (415, 384),
                (431, 416),
                (463, 448),
                (607, 592),
                (623, 608),
                (639, 624),
                (656, 648),
                (561, 544),
                (1055, 1024),
                (1072, 1056),
                (1087, 1075),
                (799, 768),
                (863, 832),
                (511, 480),
            ],
            [0, 0, 4],
        ),
        (
            "sm_90",
            "04.00",
            [
                (1055, 1024),
                (1071, 1056),
                (1103, 1088),
                (1167, 1152),
                (1183, 1168),
                (1199, 1184),
                (1208, 1200),
                (601, 584),
                (1567, 1536),
                (1586, 1568),
                (1599, 1587),
                (671, 640),
                (735, 704),
                (479, 448),
            ],
            [0, 6, 4],
        ),
        (
            "sm_120",
            "05.00",
            [
                (1279, 1248),
                (1295, 1280),
                (1327, 1312),
                (1103, 1088),
                (1119, 1104),
                (1127, 1120),
                (1136, 1128),
                (1162, 1152),
                (1375, 1344),
                (1394, 1376),
                (1407, 1395),
                (511, 480),
                (575, 544),
                (415, 384),
            ],
            [7, 6, 4],
        ),
    ];
    let document = common::open(VADD_80);
    for (gpu, version, places, [shared_shift, bank_shift, size_shift]) in rows {
        let chain = match places[13] == none {
            true => "",
            false => ";chain=4500000000",
        };
        let inputs = format!(
            "gpu={gpu};version={version};grid=70000,3,5;block=32,4,2;shared=1024;bank0=7f12345640;release0=ab12345678:0x9abcdef0{chain}"
        );
        let launch = launch(&document, 0, &inputs);
        assert_eq!(errors(&launch), [""; 0], "{version}: {:?}", launch.problems);
        let qmd = made(&launch, "qmd");
        // Registers of the fixture: 12 (EIATTR_REGCOUNT). Shared memory: 1024, and the driver's 1024 from sm_80 on.
        let number: u32 = gpu[3..].parse().expect("a number");
        let shared = if number >= 80 { 2048 } else { 1024 };
        let bank = 0x7f_1234_5640_u64 >> bank_shift;
        // 380 bytes, in units of 16, before 2.0 a multiple of 256.
        let size = if *size_shift == 4 { 24 } else { 512 };
        let values = [
            70000,
            3,
            5,
            32,
            4,
            2,
            12,
            shared >> shared_shift,
            bank & 0xffff_ffff,
            bank >> 32,
            size,
            0x1234_5678,
            0x9abc_def0,
            0x45_0000_0000 >> 8,
        ];
        for (at, ((msb, lsb), value)) in places.iter().zip(values).enumerate() {
            if (*msb, *lsb) != none {
                assert_eq!(between(qmd, *msb, *lsb), value, "{version}: row {at}");
            }
        }
    }
}

/// Which inputs are wrong with each value, and which have a note: at a limit, one over it.
#[test]
fn what_is_over_a_limit_is_an_error_of_its_input() {
    let vadd = common::open(VADD_80);
    let error = |inputs: &str, of: &[&str]| {
        let launch = launch(&vadd, 0, inputs);
        assert_eq!(errors(&launch), of, "{inputs}: {:?}", launch.problems);
    };
    let note = |inputs: &str, of: &[&str]| {
        let launch = launch(&vadd, 0, inputs);
        assert_eq!(errors(&launch), [""; 0], "{inputs}: {:?}", launch.problems);
        assert_eq!(notes(&launch), of, "{inputs}: {:?}", launch.problems);
    };
    for (key, good, bad) in [
        (
            "grid",
            &["1", "2147483647", "1,65535", "1,1,65535"][..],
            &[
                "0",
                "2147483648",
                "1,65536",
                "1,1,65536",
                "1,0",
                "1,2,3,4",
                "x",
            ][..],
        ),
        (
            "block",
            &["1024", "1,1024", "1,1,64", "16,64"],
            &["0", "1025", "1,1025", "1,1,65", "16,65", "-1"],
        ),
        // 100 KiB less the driver's 1 KiB.
        (
            "gpu=sm_86;shared",
            &["0", "101376"],
            &["101377", "18446744073709551615", "1.5"],
        ),
        // 164 KiB on sm_80, 48 KiB before Volta, where the driver has none.
        ("gpu=sm_80;shared", &["166912"], &["167040"]),
        ("gpu=sm_61;shared", &["49152"], &["49280"]),
        ("gpu=sm_70;shared", &["98304"], &["98432"]),
        ("gpu=sm_75;shared", &["65536"], &["65664"]),
        ("gpu=sm_90;shared", &["232448"], &["232576"]),
        (
            "bank0",
            &["40", "1ffffffffffc0"],
            &["8", "20", "2000000000000", "zz"],
        ),
        ("chain", &["100", "ffffffff00"], &["80", "10000000000"]),
        (
            "release0",
            &[
                "8",
                "fffffffff8:1",
                "10:1:stamped",
                "8:0xffffffffffffffff",
                "yes",
                "yes:5:stamped",
                "yes:stamped",
            ],
            &[
                "4",
                "10000000000:1",
                "8:1:stamped",
                "8:-1",
                "8:1:2",
                "10:1:stamped:3",
                "8:18446744073709551616",
            ],
        ),
        ("program", &["100", "1ffffffffff00"], &["2000000000000"]),
        (
            "arg3",
            &["7", "i32:-1", "f32:1.5", "raw:01020304"],
            &["f64:1", "u32:4294967296", "raw:01"],
        ),
        (
            "arg0",
            &["0x7f00", "ptr:7f00", "ptr:", "f32:1,2"],
            &["u32:1", "one"],
        ),
        ("set.QMD_GROUP_ID", &["63"], &["64", "none"]),
        (
            "version",
            &["03.00", "3.0", "2.4"],
            &["05.00", "01.06", "none"],
        ),
        (
            "gpu",
            &["sm_89", "8.9", "89", "sm_80a"],
            &["sm_20", "gfx90a"],
        ),
        ("profile", &["rig", "cuda"], &["mesa"]),
    ] {
        let (before, key) = key
            .rsplit_once(';')
            .map_or(("", key), |(before, key)| (before, key));
        for value in good {
            error(&format!("{before};{key}={value}"), &[]);
        }
        for value in bad {
            error(&format!("{before};{key}={value}"), &[key]);
        }
    }
    // Another bank than the kernel's, more banks and more releases than there are, another parameter.
    error("bank4=40", &["bank4"]);
    error("bank4=40/256", &[]);
    error("bank4=40/65536", &[]);
    error("bank4=40/65537", &["bank4"]);
    error("bank8=40", &["bank8"]);
    error("release1=8:1", &[]);
    error("release2=8:1", &["release2"]);
    error("arg4=1", &["arg4"]);
    error("set.QMD_GROUP=1", &["set.QMD_GROUP"]);
    // What a version cannot say.
    error("gpu=sm_75;release0=8:0xffffffff", &[]);
    error("gpu=sm_75;release0=8:0x100000000", &["release0"]);
    error("gpu=sm_30;chain=100", &["chain"]);
    error("gpu=sm_35;chain=100", &[]);
    error("cluster=1", &[]);
    error("cluster=2", &["cluster"]);
    error("gpu=sm_61;version=02.00", &["version"]);
    error("gpu=sm_30;version=01.06", &["version"]);
    error("gpu=sm_120;version=05.01", &["version"]);
    // From 4.0 on releases reach 57 bits, and so do banks and code.
    error(
        "gpu=sm_90;release0=1fffffffffffff8:1;program=1ffffffffffff00;bank0=1ffffffffffffc0",
        &[],
    );
    error("gpu=sm_90;release0=200000000000000:1", &["release0"]);
    error("gpu=sm_90;program=200000000000000", &["program"]);
    error("gpu=sm_90;bank0=200000000000000", &["bank0"]);
    // Notes: sm_80's cubin runs on sm_86.
    note("gpu=sm_86", &[]);
    note("program=80", &["program"]);
    note("program=100", &[]);
    note("shared=100", &["shared"]);
    note("shared=256", &[]);
    note("gpu=sm_75", &["gpu"]);
    note("signal=1", &["signal"]);
    let unavailable = |inputs: &str, key: &str| {
        let launch = launch(&vadd, 0, inputs);
        let found = launch.inputs.into_iter().find(|input| input.key == key);
        found.expect(key).unavailable.is_some()
    };
    assert!(unavailable("", "cluster") && !unavailable("gpu=sm_90", "cluster"));
    assert!(unavailable("gpu=sm_30", "chain") && !unavailable("gpu=sm_30;version=01.07", "chain"));
}

/// A kernel with that many registers: its REGISTER_COUNT is written into EIATTR_REGCOUNT of a fixture.
fn with_registers(registers: u32) -> Document {
    let document = common::open(VADD_80);
    let launch = launch(&document, 0, "");
    let qmd = made(&launch, "qmd");
    let field = qmd
        .record
        .fields
        .iter()
        .position(|field| field.name == "REGISTER_COUNT_V");
    let place = qmd.origins[field.expect("registers")]
        .place
        .expect("an attribute");
    let mut bytes = common::bytes(VADD_80);
    // Head, symbol, value: 4 bytes each.
    let at = place.offset as usize + 8;
    bytes[at..at + 4].copy_from_slice(&registers.to_le_bytes());
    Document::open(kernelscope::Source::memory(bytes))
}

/// 65,536 registers: a warp's are rounded up to 256, warps come by four.
#[test]
fn registers_limit_the_block() {
    for (registers, threads) in [
        (0, 1024),
        (64, 1024), // 2048 a warp: 32 warps
        (65, 896),  // 2304 a warp: 28.4, so 28 warps
        (72, 896),  // 2304
        (73, 768),  // 2560: 25.6, so 24
        (128, 512), // 4096: 16
        (129, 384), // 4352: 15.06, so 12
        (168, 384), // 5376: 12.2
        (255, 256), // 8192: 8
    ] {
        let document = with_registers(registers);
        for (block, of) in [(threads, &[][..]), (threads + 1, &["block"])] {
            let launch = launch(&document, 0, &format!("block={block}"));
            assert_eq!(errors(&launch), of, "{registers}: {:?}", launch.problems);
            assert_eq!(
                between(made(&launch, "qmd"), 656, 648),
                u64::from(registers)
            );
        }
    }
    assert_eq!(
        errors(&launch(&with_registers(256), 0, "block=32")),
        ["block"]
    );
}

/// RIG's carveouts and those of CUDA; what CUDA writes that rig does not.
#[test]
fn profiles_write_what_they_are_known_to_write() {
    let vadd = common::open(VADD_80);
    let carveouts = |inputs: &str| {
        let launch = launch(&vadd, 0, inputs);
        assert_eq!(errors(&launch), [""; 0], "{inputs}");
        let qmd = made(&launch, "qmd");
        // MIN 567:562, TARGET 662:657, MAX 574:569 of 3.0.
        [(567, 562), (662, 657), (574, 569)].map(|(msb, lsb)| between(qmd, msb, lsb))
    };
    // KiB / 4 + 1: 9 is 32, 17 is 64, 26 is 100, 42 is 164.
    assert_eq!(carveouts("gpu=sm_86"), [9, 9, 26]);
    assert_eq!(carveouts("gpu=sm_86;shared=128"), [26, 26, 26]);
    assert_eq!(carveouts("gpu=sm_80"), [9, 9, 42]);
    // 1 KiB: 8 KiB are the smallest; 48 warps of an SM are 6 blocks of 8 warps, 6 KiB.
    assert_eq!(carveouts("gpu=sm_86;profile=cuda;block=256"), [3, 3, 26]);
    // 1 + 8 KiB: 16 KiB; 6 blocks are 54 KiB, which 64 hold.
    assert_eq!(
        carveouts("gpu=sm_86;profile=cuda;block=256;shared=8192"),
        [5, 17, 26]
    );
    // 2 blocks of 24 warps with 20 KiB.
    assert_eq!(
        carveouts("gpu=sm_86;profile=cuda;block=768;shared=19456"),
        [9, 17, 26]
    );
    // Registers do not count: 255 of a thread leave room for one block of 8 warps, the 48 warps of an SM are 6 all the same.
    let many = launch(
        &with_registers(255),
        0,
        "gpu=sm_86;profile=cuda;block=256;shared=8192",
    );
    assert_eq!(between(made(&many, "qmd"), 662, 657), 17);
    // The static 1024 bytes of the third kernel on Turing: 32 KiB is the least there is, 64 the most.
    let shared = common::open(SHARED_75);
    for profile in ["rig", "cuda"] {
        let launch = launch(&shared, 2, &format!("profile={profile};block=256"));
        let qmd = made(&launch, "qmd");
        let places = [(568, 562), (663, 657), (575, 569), (561, 544)];
        assert_eq!(
            places.map(|(msb, lsb)| between(qmd, msb, lsb)),
            [9, 9, 17, 1024]
        );
    }

    // Local memory 1623:1600, barriers 767:763, group 133:128, call limit 378, sampler index 382, membar 369:368, global caching 134,
    // the four invalidates 189:186, that of the constants 191, of bank 0 1074, SASS version 1663:1656.
    let places = [
        (1623, 1600),
        (767, 763),
        (133, 128),
        (378, 378),
        (382, 382),
        (369, 368),
        (134, 134),
        (189, 186),
        (191, 191),
        (1074, 1074),
        (1663, 1656),
    ];
    for (profile, values) in [
        ("rig", [576, 1, 0x3f, 1, 1, 1, 1, 15, 0, 1, 0x86]),
        ("cuda", [0x640, 1, 0x3f, 1, 1, 1, 1, 15, 1, 0, 0x86]),
    ] {
        let launch = launch(&vadd, 0, &format!("gpu=sm_86;profile={profile}"));
        let qmd = made(&launch, "qmd");
        assert_eq!(
            places.map(|(msb, lsb)| between(qmd, msb, lsb)),
            values,
            "{profile}"
        );
        // What the other one writes otherwise is a note.
        let notes = launch
            .problems
            .iter()
            .filter(|problem| problem.input == "profile");
        let notes: String = notes.map(|problem| problem.message.as_str()).collect();
        assert!(
            notes.contains("SHADER_LOCAL_MEMORY_HIGH_SIZE"),
            "{profile}: {notes}"
        );
    }

    // On Hopper CUDA puts a grid of nothing ahead: QMD_TYPE 25:23 is 1, it leads to the real one (enable 368, action 371:369
    // QMD_DECREMENT_DEPENDENCE, pointer 479:448 >> 8); banks 1, 5 and 7 of its own; SASS_VERSION 543:536 was seen to be 0.
    let hopper = common::open(VADD_90);
    let cuda = launch(&hopper, 0, "profile=cuda;qmd=7f00000100");
    let keys: Vec<&str> = cuda.made.iter().map(|made| made.key.as_str()).collect();
    assert_eq!(keys, ["qmd_null", "qmd", "bank0"]);
    let head = made(&cuda, "qmd_null");
    let head = [(25, 23), (368, 368), (371, 369), (479, 448), (583, 576)]
        .map(|(msb, lsb)| between(head, msb, lsb));
    assert_eq!(head, [1, 1, 4, 0x7f00_0001, 0x40]);
    let qmd = made(&cuda, "qmd");
    let valid: Vec<u32> = (0..8)
        .filter(|bank| between(qmd, 416 + 4 * bank, 416 + 4 * bank) == 1)
        .collect();
    assert_eq!(valid, [0, 1, 5, 7]);
    assert_eq!(between(qmd, 543, 536), 0);
    let rig = launch(&hopper, 0, "");
    let keys: Vec<&str> = rig.made.iter().map(|made| made.key.as_str()).collect();
    assert_eq!(keys, ["qmd", "bank0"]);
    assert_eq!(between(made(&rig, "qmd"), 543, 536), 0x90);
}

/// Releases and the next descriptor, in the fields of each version.
#[test]
fn releases_and_chains_are_what_a_version_has_for_them() {
    let vadd = common::open(VADD_80);
    let values = |inputs: &str, places: &[(u32, u32)]| -> Vec<u64> {
        let launch = launch(&vadd, 0, inputs);
        assert_eq!(errors(&launch), [""; 0], "{inputs}");
        let qmd = made(&launch, "qmd");
        places
            .iter()
            .map(|(msb, lsb)| between(qmd, *msb, *lsb))
            .collect()
    };
    // 3.0: enable 823, size 831:830, 64 bits 829, payload 863:832 and 895:864; the second one 128 bits on.
    let places = [
        (823, 823),
        (831, 830),
        (829, 829),
        (863, 832),
        (895, 864),
        (951, 951),
        (959, 958),
        (957, 957),
    ];
    // TWO_WORDS is 2, FOUR_WORDS 0, ONE_WORD 1.
    assert_eq!(
        values("release0=8:0x500000006", &places),
        [1, 2, 1, 6, 5, 0, 0, 0]
    );
    assert_eq!(
        values("release0=10:7:stamped;release1=8:1", &places),
        [1, 0, 1, 7, 0, 1, 2, 1]
    );
    assert_eq!(
        values("profile=cuda;release0=8:7", &places),
        [1, 1, 0, 7, 0, 0, 0, 0]
    );
    assert_eq!(
        values("profile=cuda;release0=8:0x500000006", &places),
        [1, 2, 1, 6, 5, 0, 0, 0]
    );
    // Up to 2.4 the size has one bit, 799, and the enable of both is at 138 and 139.
    let places = [(138, 138), (139, 139), (799, 799), (895, 895)];
    assert_eq!(
        values("gpu=sm_75;release0=8:7;release1=10:7:stamped", &places),
        [1, 1, 1, 0]
    );
    // 4.0: enable 320 and 336, size 322:321 and 338:337, 64 bits 332 and 348.
    let places = [
        (320, 320),
        (322, 321),
        (332, 332),
        (336, 336),
        (338, 337),
        (348, 348),
    ];
    assert_eq!(
        values("gpu=sm_90;release0=8:7;release1=10:7:stamped", &places),
        [1, 2, 1, 1, 0, 1]
    );
    // Chains: 3.0 enable 512, action 515:513, prefetch 516; 2.3 enable 141, type 142; 5.0 enable 336, action 339:337, prefetch 340.
    assert_eq!(
        values("chain=100", &[(512, 512), (515, 513), (516, 516)]),
        [1, 1, 1]
    );
    assert_eq!(
        values("gpu=sm_75;chain=100", &[(141, 141), (142, 142), (511, 480)]),
        [1, 1, 1]
    );
    assert_eq!(
        values(
            "gpu=sm_120;chain=yes",
            &[(336, 336), (339, 337), (340, 340), (415, 384)]
        ),
        [1, 1, 1, 0]
    );

    // CUDA's captures count down what the next one waits for, QMD_DECREMENT_DEPENDENCE, 4 (`qmd_fill.json`); a version without
    // actions has a type, GRID, whoever writes it.
    let action = [
        ("", "DEPENDENT_QMD0_ACTION", 1, "tinygrad"),
        ("profile=cuda;", "DEPENDENT_QMD0_ACTION", 4, "captures"),
        (
            "profile=cuda;version=2.4;",
            "DEPENDENT_QMD0_ACTION",
            4,
            "captures",
        ),
        (
            "profile=cuda;gpu=sm_90;",
            "DEPENDENT_QMD_ACTION(0)",
            4,
            "captures",
        ),
        ("gpu=sm_90;", "DEPENDENT_QMD_ACTION(0)", 1, "tinygrad"),
        ("profile=cuda;gpu=sm_75;", "DEPENDENT_QMD_TYPE", 1, "mesa"),
        ("gpu=sm_75;", "DEPENDENT_QMD_TYPE", 1, "mesa"),
    ];
    for (inputs, field, value, source) in action {
        let launch = launch(&vadd, 0, &format!("{inputs}chain=100"));
        let qmd = made(&launch, "qmd");
        assert_eq!(number(qmd, field), value, "{inputs}");
        let said = &origin(qmd, field).source;
        assert!(said.contains(source), "{inputs}: {said}");
    }

    // What is open is said to be, and where it goes.
    let open = launch(&vadd, 0, "gpu=sm_120;chain=yes;release0=yes:9");
    let qmd = made(&open, "qmd");
    let slots: Vec<_> = qmd
        .slots
        .iter()
        .map(|slot| {
            let parts = slot.parts.iter().map(|part| (part.bits, part.shift));
            let parts: Vec<_> = parts.collect();
            (slot.input.as_str(), slot.value.as_deref(), parts)
        })
        .collect();
    assert_eq!(
        slots,
        [
            ("program", None, vec![([1055, 1024], 4), ([1076, 1056], 36)]),
            ("program", None, vec![([1919, 1888], 8), ([1936, 1920], 40)]),
            ("bank0", None, vec![([1375, 1344], 6), ([1394, 1376], 38)]),
            ("chain", None, vec![([415, 384], 8)]),
            ("release0", None, vec![([511, 480], 0), ([536, 512], 32)]),
            (
                "release0",
                Some("0x9"),
                vec![([575, 544], 0), ([607, 576], 32)]
            ),
        ]
    );
}

/// Every field says where its value comes from.
#[test]
fn fields_say_where_their_values_come_from() {
    let vadd = common::open(VADD_80);
    let launch = launch(
        &vadd,
        0,
        "gpu=sm_89;grid=7;program=100;set.QMD_SPARE_E=5;set.CTA_RASTER_DEPTH=2",
    );
    assert_eq!(errors(&launch), ["set.QMD_SPARE_E"]);
    let qmd = made(&launch, "qmd");
    let of = |name: &str| {
        let at = qmd
            .record
            .fields
            .iter()
            .position(|field| field.name == name);
        &qmd.origins[at.unwrap_or_else(|| panic!("{name}"))]
    };
    assert_eq!(of("CTA_RASTER_WIDTH").what, OriginKind::Launch);
    assert_eq!(of("CTA_RASTER_WIDTH").source, "grid");
    assert_eq!(of("CTA_RASTER_DEPTH").what, OriginKind::Set);
    assert_eq!(of("QMD_GROUP_ID").what, OriginKind::Profile);
    assert_eq!(of("OUTER_PUT").what, OriginKind::Unset);
    assert!(!of("PROGRAM_ADDRESS_LOWER").is_open);
    assert!(of("CONSTANT_BUFFER_ADDR_LOWER(0)").is_open);
    // EIATTR_REGCOUNT: format 4, attribute 0x2f, 8 bytes, symbol, 12 registers.
    let place = of("REGISTER_COUNT_V").place.expect("an attribute");
    let bytes = common::bytes(VADD_80);
    let bytes = &bytes[place.offset as usize..place.end() as usize];
    assert_eq!(
        (&bytes[..4], &bytes[8..]),
        (&[4, 0x2f, 8, 0][..], &[12, 0, 0, 0][..])
    );
}

/// The driver's words and the parameters, at the offsets that compiled PTX reads them at (`cbuf0.json`).
#[test]
fn bank_0_is_what_the_launch_determines() {
    let inputs = "grid=5,6,7;block=8,9,2;shared=256;shared_window=7f0001000000;local_window=7f0002000000;bank0=7f0000010000;\
        arg0=ptr:7f1234567890;arg1=u64:5;arg3=f32:1.5";
    // Words of 32 bits: index, value.
    let windows = [0x0100_0000, 0x7f00, 0x0200_0000, 0x7f00];
    let before_90 = |at: u32| {
        let values = [
            8, 9, 2, 5, 6, 7, windows[0], windows[1], windows[2], windows[3], 0xff_fdc0,
        ];
        (at..).zip(values).collect::<Vec<_>>()
    };
    let mut on_80 = before_90(0);
    on_80.extend([(16, 0x10000), (17, 0x7f00)]); // byte 64: where parameters are passed by address, bank 0
    let mut on_120: Vec<(u32, u32)> = (188..).zip(windows).collect();
    on_120.extend([
        (216, 8),
        (217, 9),
        (218, 2),
        (220, 5),
        (221, 6),
        (222, 7),
        (223, 0xff_fdc0),
    ]);
    on_120.extend([(210, 0x10380), (211, 0x7f00)]); // byte 840: bank 0 + 0x380
    // Before Volta the windows have 32 bits at words 0 and 1, on Pascal their upper halves stand at 64 and 65.
    let on_61 = vec![
        (0, 0x0100_0000),
        (1, 0x0200_0000),
        (2, 8),
        (3, 9),
        (4, 2),
        (5, 5),
        (6, 6),
        (7, 7),
        (8, 0xff_fdc0),
        (64, 0x7f00),
        (65, 0x7f00),
    ];
    let cuda_80 = [(11, 256), (69, 256)]; // dynamic at byte 44, all that is the kernel's at 276
    let cuda_120 = [
        (91, 256),
        (171, 256),
        (175, 1280),
        (168, 1),
        (176, 5),
        (219, 0),
    ];
    for (file, words, more, params, size) in [
        (VADD_80, on_80, &cuda_80[..], 0x160, 380),
        (VADD_120, on_120, &cuda_120[..], 0x380, 924),
        (
            VADD_90,
            before_90(0),
            &[(11, 256), (81, 1), (87, 5), (79, 1280)][..],
            0x210,
            556,
        ),
        (
            "nvidia/cubin/vadd.sm_61.12.4.cubin",
            on_61,
            &[(63, 256)][..],
            0x140,
            348,
        ),
    ] {
        let document = common::open(file);
        for profile in ["rig", "cuda"] {
            let launch = launch(&document, 0, &format!("profile={profile};{inputs}"));
            assert_eq!(errors(&launch), [""; 0], "{file}: {:?}", launch.problems);
            let bank = made(&launch, "bank0");
            assert_eq!(bank.bytes.len(), size, "{file}");
            for (at, value) in &words {
                assert_eq!(
                    word(bank, *at as usize),
                    *value,
                    "{file} {profile}: word {at}"
                );
            }
            for (at, value) in more {
                let value = if profile == "rig" { 0 } else { *value };
                assert_eq!(
                    word(bank, *at as usize),
                    value,
                    "{file} {profile}: word {at}"
                );
            }
            // Three pointers and a number; the third pointer is open.
            let at = params / 4;
            let values: Vec<u32> = (at..at + 7).map(|at| word(bank, at)).collect();
            assert_eq!(
                values,
                [0x3456_7890, 0x7f12, 5, 0, 0, 0, 0x3fc0_0000],
                "{file}"
            );
            let open: Vec<&str> = bank
                .slots
                .iter()
                .filter(|slot| slot.value.is_none())
                .map(|slot| slot.input.as_str())
                .collect();
            let open: Vec<&str> = open
                .into_iter()
                .filter(|input| !input.starts_with("bank"))
                .collect();
            assert_eq!(open, ["arg2"], "{file}");
        }
        // Bank 0 left out: nobody knows where parameters are, and the word is 0.
        let launch = launch(&document, 0, "");
        let bank = made(&launch, "bank0");
        let slots = bank.slots.iter().filter(|slot| slot.input == "bank0");
        assert!(slots.clone().all(|slot| slot.value.is_none()));
        assert_eq!(word(bank, 16), 0);
    }
}

/// Clusters: from 4.0 on, as the kernel was compiled for, grids a multiple of them.
#[test]
fn clusters_are_held_against_the_kernel_and_the_grid() {
    let document = common::open("nvidia/own/cluster.sm_90a.12.4.cubin");
    let kernels = document.table("kernels").expect("kernels");
    let kernel = |name: &str| {
        let is_it = |row: &u64| kernels.cell(*row, "name") == name.into();
        (0..kernels.len()).find(is_it).expect("a kernel") as usize
    };
    // .explicitcluster: one has to be typed; 8 blocks everywhere, 16 where that is asked for.
    let explicit = kernel("explicit");
    for (inputs, of) in [
        ("", &["cluster"][..]),
        ("cluster=1", &[]),
        ("grid=8;cluster=8", &[]),
        ("grid=9;cluster=9", &["cluster"]), // EIATTR_MAX_CLUSTER_RANK of it is 8
        ("grid=7;cluster=2", &["cluster"]),
        ("grid=8,3;cluster=2,3", &[]),
        ("grid=8,4;cluster=2,3", &["cluster"]),
        ("cluster=0", &["cluster"]),
        ("version=03.00", &[]),
    ] {
        let launch = launch(&document, explicit, inputs);
        let clusters: Vec<&str> = errors(&launch)
            .into_iter()
            .filter(|input| *input == "cluster")
            .collect();
        assert_eq!(clusters, of, "{inputs}: {:?}", launch.problems);
    }
    let vadd = common::open(VADD_90);
    for (blocks, of, noted) in [
        (8, &[][..], &[][..]),
        (16, &[], &["cluster"]),
        (17, &["cluster"], &[]),
    ] {
        let launch = launch(&vadd, 0, &format!("grid={blocks};cluster={blocks}"));
        assert_eq!(errors(&launch), of, "{blocks}: {:?}", launch.problems);
        assert_eq!(notes(&launch), noted, "{blocks}");
    }
    let of = launch(&document, explicit, "grid=8,2;cluster=4,2");
    let qmd = made(&of, "qmd");
    // GPC_CGA_WIDTH 2149:2144, HEIGHT 2157:2152, DEPTH 2165:2160; QMD_TYPE GRID_GPC_CGA is 3.
    let values = [(2149, 2144), (2157, 2152), (2165, 2160), (25, 23)]
        .map(|(msb, lsb)| between(qmd, msb, lsb));
    assert_eq!(values, [4, 2, 1, 3]);
    // .reqnctapercluster: what the kernel says counts without, and nothing else does.
    let sized = kernel("sized");
    let own = launch(&document, sized, "");
    assert_eq!(errors(&own), [""; 0], "{:?}", own.problems);
    let other = launch(&document, sized, "cluster=1;grid=12");
    assert_eq!(errors(&other), ["cluster"]);
}

/// `.maxntid 128, 2` is the product of both, `.reqntid 32, 4, 2` the only block there may be.
#[test]
fn a_block_is_what_the_kernel_allows() {
    let document = common::open("nvidia/own/bounds.sm_90.13.5.cubin");
    let kernels = document.table("kernels").expect("kernels");
    let kernel = |name: &str| {
        let is_it = |row: &u64| kernels.cell(*row, "name") == name.into();
        (0..kernels.len()).find(is_it).expect("a kernel") as usize
    };
    for (name, inputs, of) in [
        ("largest", "", &[][..]),
        ("largest", "block=256", &[]),
        ("largest", "block=257", &["block"]),
        ("largest", "block=1,4,64", &[]),
        ("largest", "block=1,5,64", &["block"]),
        ("required", "", &[]),
        ("required", "block=32,4,2", &[]),
        ("required", "block=256", &["block"]),
        ("required", "block=32,4", &["block"]),
    ] {
        let launch = launch(&document, kernel(name), inputs);
        assert_eq!(
            errors(&launch),
            of,
            "{name} {inputs}: {:?}",
            launch.problems
        );
    }
    let required = launch(&document, kernel("required"), "");
    let qmd = made(&required, "qmd");
    let block = [(1167, 1152), (1183, 1168), (1199, 1184)].map(|(msb, lsb)| between(qmd, msb, lsb));
    assert_eq!(block, [32, 4, 2]);

    // .param .u64, .align 8 .b8 [16], .u8, .u16: at 0, 8, 24 and 26 of the parameters, which begin at 0x210.
    let registers = kernel("registers");
    let typed = "arg0=ptr:7f00;arg1=f32:1,2,3,4;arg2=-2;arg3=bf16:1";
    let launch = launch(&document, registers, typed);
    assert_eq!(errors(&launch), [""; 0], "{:?}", launch.problems);
    let bank = made(&launch, "bank0");
    let words: Vec<u32> = (0x84..0x8b).map(|at| word(bank, at)).collect();
    // 1.0 is 0x3f800000, 2.0 0x40000000, 3.0 0x40400000, 4.0 0x40800000; -2 of 8 bits 0xfe; bfloat16 1.0 0x3f80.
    assert_eq!(
        words,
        [
            0x7f00,
            0,
            0x3f80_0000,
            0x4000_0000,
            0x4040_0000,
            0x4080_0000,
            0x3f80_00fe
        ]
    );
}

/// Stacks as cuobjdump 12.8 prints them: EIATTR_MIN_STACK_SIZE 0x100; EIATTR_CRS_STACK_SIZE 0x20, 0x600 and 0x20. Banks by their
/// sections' sizes: 464 and 320 bytes; a function that the file has no bank 0 for has one of 352.
#[test]
fn stacks_and_banks_are_what_the_file_says() {
    let document = common::open("nvidia/cubin/localstack.sm_86.11.8.cubin");
    for (profile, bytes) in [("rig", 256 + 576), ("cuda", 1024 + 576)] {
        let launch = launch(&document, 0, &format!("profile={profile}"));
        assert_eq!(between(made(&launch, "qmd"), 1623, 1600), bytes);
    }
    // Multiples of 512 (mesa), at 1527:1504 of 1.7.
    let document = common::open("nvidia/own/calls.sm_50.11.8.cubin");
    for (kernel, bytes) in [512, 1536, 512].into_iter().enumerate() {
        let launch = launch(&document, kernel, "");
        assert_eq!(between(made(&launch, "qmd"), 1527, 1504), bytes);
    }
    // Before 2.0 sizes are bytes, multiples of 256, at 991:975 and every 64 bits; the valid bits from 640 on.
    let document = common::open("nvidia/cubin/consts.sm_35.11.8.cubin");
    let of = launch(&document, 0, "bank3=1240");
    assert_eq!(errors(&of), [""; 0]);
    let qmd = made(&of, "qmd");
    assert_eq!(between(qmd, 647, 640), 0b1001);
    assert_eq!(between(qmd, 991, 975), 512);
    assert_eq!(between(qmd, 991 + 192, 975 + 192), 512);
    assert_eq!(between(qmd, 959 + 192, 928 + 192), 0x1240);
    let document = common::open("nvidia/cubin/calls.sm_89.13.5.rdc.cubin");
    let of = launch(&document, 0, "");
    assert_eq!(made(&of, "bank0").bytes.len(), 352);
    assert_eq!(between(made(&of, "qmd"), 1087, 1075), 352 / 16);
    assert!(notes(&of).contains(&"program"));
}

/// A stack of 0xffffffff bytes is none, but what recursion says: CUDA has the 0x640 of every capture, rig leaves it open, and either
/// can be told (1623:1600 of 3.0).
#[test]
fn an_unknown_stack_is_no_size() {
    let document = common::open("nvidia/own/calls.sm_89.13.5.cubin");
    let recursive = kernel(&document, "recursive");
    for (inputs, bytes, is_open) in [
        ("profile=cuda", 0x640, false),
        ("profile=rig", 0, true),
        ("stack=2048", 2048 + 576, false),
        ("profile=cuda;stack=2040", 2624, false), // 2616, a multiple of 16
        ("set.SHADER_LOCAL_MEMORY_HIGH_SIZE=4096", 4096, false),
    ] {
        let launch = launch(&document, recursive, inputs);
        assert_eq!(errors(&launch), [""; 0], "{inputs}: {:?}", launch.problems);
        let qmd = made(&launch, "qmd");
        assert_eq!(between(qmd, 1623, 1600), bytes, "{inputs}");
        let local = origin(qmd, "SHADER_LOCAL_MEMORY_HIGH_SIZE");
        assert_eq!(local.is_open, is_open, "{inputs}");
        let open = qmd.slots.iter().filter(|slot| slot.value.is_none());
        let is_slot = open.clone().any(|slot| slot.input == "stack");
        assert_eq!(is_slot, is_open, "{inputs}");
        let is_noted = said(&launch, "stack")
            .iter()
            .any(|said| said.contains("unknown"));
        assert_eq!(is_noted, !inputs.contains("stack"), "{inputs}");
    }
    let cuda = launch(&document, recursive, "profile=cuda");
    assert!(said(&cuda, "stack")[0].contains("cudaLimitStackSize"));
    let local = origin(made(&cuda, "qmd"), "SHADER_LOCAL_MEMORY_HIGH_SIZE");
    assert_eq!(local.what, OriginKind::Profile);
    // 24 bits of 3.0 do not hold that, and a field that is set is not judged by what it replaces.
    let over = "stack=4294967296";
    assert_eq!(errors(&launch(&document, recursive, over)), ["stack"]);
    let set = format!("{over};set.SHADER_LOCAL_MEMORY_HIGH_SIZE=64");
    assert_eq!(errors(&launch(&document, recursive, &set)), [""; 0]);
    // What is set of an address leaves its other part: 49 bits hold none of 50.
    let vadd = common::open(VADD_80);
    let set = launch(
        &vadd,
        0,
        "bank0=2000000000040;set.CONSTANT_BUFFER_ADDR_UPPER(0)=5",
    );
    assert_eq!(errors(&set), [""; 0], "{:?}", set.problems);
    let address =
        [(1055, 1024), (1072, 1056)].map(|(msb, lsb)| between(made(&set, "qmd"), msb, lsb));
    assert_eq!(address, [0x40, 5]);
}

/// Nobody has reported the driver's words of Kepler: that is said of its 0x140 bytes, and no profile is said to write more of them.
#[test]
fn what_nobody_knows_of_bank_0_is_a_part_of_it() {
    let document = common::open("nvidia/cubin/consts.sm_35.11.8.cubin");
    let kepler = launch(&document, 0, "");
    let bank = made(&kepler, "bank0");
    let first = &bank.record.fields[0];
    assert_eq!(first.bits, [0x140 * 8 - 1, 0]);
    assert!(first.name.contains("not known"), "{}", first.name);
    assert_eq!(bank.origins[0].what, OriginKind::Unset);
    assert!(bank.origins[0].source.contains("not known"));
    let writes_more = |launch: &Launch| said(launch, "profile").concat().contains("bank 0");
    assert!(!writes_more(&kepler));
    assert!(writes_more(&launch(&common::open(VADD_80), 0, "")));
}

/// sm_107: 334,848 bytes a block (CUDA programming guide 13.4, cuda_occupancy.h), and the driver's 1024. A descriptor says 11 bits of
/// 128 bytes, 262,016.
#[test]
fn shared_memory_has_one_limit() {
    let document = common::open("nvidia/own/axpy.sm_107.13.5.cubin");
    for (shared, of) in [
        (262_016 - 1024, &[][..]),
        (334_848, &["shared"]),
        (334_849, &["shared"]),
    ] {
        let launch = launch(&document, 0, &format!("shared={shared}"));
        assert_eq!(errors(&launch), of, "{shared}: {:?}", launch.problems);
        let is_over = said(&launch, "shared")
            .concat()
            .contains("335872 bytes of shared memory at most");
        assert_eq!(is_over, shared > 334_848, "{:?}", said(&launch, "shared"));
        // 228 KiB are sm_100's.
        let gpu = said(&launch, "gpu").concat();
        assert!(
            gpu.contains("sm_100, up to 228 KiB where an SM has 328"),
            "{gpu}"
        );
    }
}

/// Code of another generation reads bank 0 where its own has it, and the GPU is said not to.
#[test]
fn bank_0_is_laid_out_for_the_code() {
    let launch = launch(&common::open(SHARED_75), 0, "gpu=sm_120");
    assert_eq!(errors(&launch), [""; 0]);
    assert!(said(&launch, "gpu")[0].contains("Bank 0 is laid out for sm_75"));
    assert!(made(&launch, "bank0").bytes.len() < 896);
}

/// SASS_VERSION is the SM version of open-gpu-kernel-modules' ctrl2080gr.h without its second digit: 0x809 is 0x89, 0xa04 is 0xa4.
#[test]
fn the_sass_version_is_the_gpus() {
    let vadd = common::open(VADD_80);
    for (gpu, version) in [
        (35, 0x35),
        (53, 0x53),
        (62, 0x62),
        (75, 0x75),
        (88, 0x88),
        (89, 0x89),
        (90, 0x90),
        (100, 0xa0),
        (101, 0xa1),
        (103, 0xa3),
        (120, 0xa4),
        (121, 0xa4),
        (107, 0),
        (110, 0),
    ] {
        let launch = launch(&vadd, 0, &format!("gpu=sm_{gpu}"));
        let qmd = made(&launch, "qmd");
        assert_eq!(number(qmd, "SASS_VERSION"), version, "sm_{gpu}");
        let origin = origin(qmd, "SASS_VERSION");
        assert_eq!(
            origin.source.contains("not known"),
            version == 0,
            "sm_{gpu}"
        );
        assert_eq!(origin.what == OriginKind::Unset, version == 0, "sm_{gpu}");
    }
    // Captures that leave it 0 are of 4.0.
    for (inputs, version) in [("", 0), (";version=03.00", 0x90)] {
        let launch = launch(&vadd, 0, &format!("gpu=sm_90;profile=cuda{inputs}"));
        let qmd = made(&launch, "qmd");
        assert_eq!(number(qmd, "SASS_VERSION"), version);
        let source = &origin(qmd, "SASS_VERSION").source;
        assert_eq!(source.contains("captures"), version == 0, "{source}");
    }
}

/// Instructions are 16 bytes from Volta on, 8 before; sections of cubins are laid out at 128.
#[test]
fn a_program_is_where_code_can_be() {
    for (file, at, is_error, word) in [
        (VADD_80, "80", false, "multiples of 128"),
        (VADD_80, "40", false, "nor of 128"),
        (VADD_80, "48", true, "16 bytes"),
        (VADD_80, "1", true, "16 bytes"),
        (
            "nvidia/cubin/vadd.sm_61.12.4.cubin",
            "48",
            false,
            "nor of 128",
        ),
        ("nvidia/cubin/vadd.sm_61.12.4.cubin", "44", true, "8 bytes"),
    ] {
        let launch = launch(&common::open(file), 0, &format!("program={at}"));
        assert_eq!(!errors(&launch).is_empty(), is_error, "{at}");
        let said = said(&launch, "program");
        assert!(said.len() == 1 && said[0].contains(word), "{at}: {said:?}");
    }
}

/// What is assumed is not said to be typed; a number of another version, and a cluster that cannot be told, are said what they are.
#[test]
fn what_is_said_is_what_was_typed() {
    let vadd = common::open(VADD_80);
    let without = launch(&vadd, 0, "block=32");
    let qmd = made(&without, "qmd");
    assert_eq!(origin(qmd, "CTA_RASTER_WIDTH").source, "grid (not given)");
    assert_eq!(origin(qmd, "CTA_THREAD_DIMENSION0").source, "block");
    let bank = made(&without, "bank0");
    assert_eq!(origin(bank, "nctaid.x").source, "grid (not given)");
    assert_eq!(origin(bank, "ntid.x").source, "block");
    for (inputs, is_noted) in [
        ("set.QMD_MAJOR_VERSION=2", true),
        ("set.QMD_MAJOR_VERSION=3", false),
        ("set.QMD_VERSION=1", true),
        ("set.QMD_VERSION=0", false),
        ("gpu=sm_90;set.QMD_MINOR_VERSION=1", true),
        ("set.QMD_GROUP_ID=1", false),
    ] {
        let launch = launch(&vadd, 0, inputs);
        assert_eq!(errors(&launch), [""; 0]);
        let is_said = notes(&launch).iter().any(|input| input.starts_with("set."));
        assert_eq!(is_said, is_noted, "{inputs}");
    }
    let cluster = launch(&vadd, 0, "cluster=2");
    assert_eq!(
        said(&cluster, "cluster"),
        [
            "QMD 03.00 cannot describe a cluster; 04.00 is the first that can; this launch asks for one of 2"
        ]
    );
    // What the file says is what the words end in: its place is put behind them.
    let local = origin(qmd, "SHADER_LOCAL_MEMORY_HIGH_SIZE");
    assert!(local.source.ends_with("EIATTR_MIN_STACK_SIZE") && local.place.is_some());
    assert!(
        origin(qmd, "PROGRAM_PREFETCH_SIZE")
            .source
            .ends_with("of the code")
    );
}
