//! What the terminal's door promises: exit codes, messages, output that can be cut off.
#![cfg(feature = "cli")]

mod common;

use std::io::Read;
use std::process::{Command, Stdio};

use common::{fixture, kernelscope};

const SAYS: &str = "amdgpu/own/print.gfx1151.v5.co";
const VADD: &str = "nvidia/cubin/vadd.sm_90a.13.0.cubin";

#[test]
fn exit_codes_tell_what_happened() {
    let good = fixture(VADD);
    let code_object = fixture("amdgpu/out/vadd.gfx906.v5.co");
    let broken = fixture("amdgpu/mal/note-descsz-too-big.co");
    assert_eq!(kernelscope(&["report", &good]).status.code(), Some(0));
    assert_eq!(
        kernelscope(&["report", &broken, "--json"]).status.code(),
        Some(1)
    );
    for bad in [
        &["report", "/no/such/file"][..],
        &["report", &fixture("nvidia")], // a folder
        &["report"],
        &["rapport", &good],
        &["report", &good, "--jsom"],
        &["report", &good, &good],
        &["hex", &good, "--at", "many"],
        &["hex", &good, "--at", "+5"],
        &["report", &good, "--at", "5"],
        &["sections", &good, "--form", "json"],
        &["record", &good, "--at", "5", "--json", "--form", "c"],
        &["hex", &good, "--at", "99999999"],
        &["record", &good],
        &["record", &good, "--at", "99999999"],
        &["record", &good, "--at", "0", "--form", "pdf"],
        &["runs", &fixture("own/elf32.elf")],
        &["runs", &good, "sm_99"],
        &["archs", &good, "--gpu", "GeForce"],
        &["members", &good, "--gpu", "sm_90"],
        &["lane", &fixture("coredump/synthetic.cudacore"), "70"],
        &["runs", &code_object, "gfx90"],
        &["runs", &code_object, "gfx906", "gfx908"],
        &["bank0", &good],
        &["bank0", &good, "nothing"],
        &["bank0", &good, "0", "0x10000"],
        &["bank0", &good, "0", "c[0x3][0x10]"],
        &["kernarg", &good, "0"],
        &["kernarg", &fixture(SAYS)],
        &["kernarg", &fixture(SAYS), "nothing"],
        &["metadata", &fixture(SAYS), "--form", "c"],
        &["qmd", &good],
        &["qmd", &good, "--kernel", "nothing"],
        &["qmd", &good, "--kernel", "0", "--set", "QMD_GROUP_ID"],
        &["qmd", &good, "--kernel", "0", "--hex", "--part", "packet"],
        &["qmd", &good, "--kernel", "0", "--at", "5"],
        &["report", &good, "--grid", "5"],
        &["image", &good, "--base", "0x1000"],
        &["patches", &good, "--base", "here"],
        &["patches", &good, "-o", "file"],
        &["image", &good, "-o", "/no/such/folder/file"],
        &["sections", &good, "--segments"],
        &[
            "image",
            &code_object,
            "--segments",
            "--base",
            "0",
            "-o",
            "/no/such/folder/file",
        ],
        &[],
    ] {
        let output = kernelscope(bad);
        assert_eq!(output.status.code(), Some(2), "{bad:?}");
        assert!(output.stdout.is_empty(), "{bad:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            message.starts_with("kernelscope: ") && message.len() > 20,
            "{bad:?}: {message}"
        );
    }
}

#[test]
fn whether_code_runs_is_said_of_one_gpu_and_of_all() {
    let file = fixture("amdgpu/own/axpy.gfx90a-xnack+.v5.co");
    let said = |arguments: &[&str]| {
        let output = kernelscope(&[&["runs", &file], arguments].concat());
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).expect("text")
    };
    let line = said(&["MI250X"]);
    assert!(line.starts_with("gfx90a (AMD Instinct MI210"), "{line}");
    assert!(line.ends_with("): depends, XNACK has to be on\n"), "{line}");
    let json = said(&["gfx90a:xnack-", "--json"]);
    assert!(
        json.starts_with(r#"[{"gpu":"gfx90a:xnack-","runs":"no","reason":"XNACK has to be on""#)
    );
    // SRAMECC may be on or off.
    let all: Vec<String> = said(&[]).lines().skip(1).map(str::to_owned).collect();
    assert_eq!(all.len(), 2);
    assert!(all[0].starts_with("gfx90a:sramecc-:xnack+  yes"), "{all:?}");
}

#[test]
fn which_kernels_do_not_run_on_a_gpu_is_said_with_the_answer() {
    let file = fixture("container/partial.fatbin");
    let said = |arguments: &[&str]| {
        let output = kernelscope(arguments);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).expect("text")
    };
    // The code is for sm_80, sm_90 and compute_90 (partial.cu).
    let text = said(&["archs", &file, "--gpu", "H100"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "sm_90 (NVIDIA H100, NVIDIA H200, NVIDIA GH200): yes, the code is for it; by the machine code for sm_90, as in 2"
    );
    assert_eq!(lines[1], "1 of 4 kernels do not run there");
    assert!(lines[4].starts_with("_Z4fillIdEvPT_S0_"), "{text}");
    let json = said(&["archs", &file, "--gpu", "12.0", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["gpu"]["runs"], "jit");
    assert_eq!(json["gpu"]["served_by"], "PTX for compute_90");
    assert_eq!(json["kernels"], 4);
    assert_eq!(json["gpu"]["missing_kernels"], 1);
    assert_eq!(json["missing"][0]["runs"], "no");
    let text = said(&["missing", &file]);
    assert_eq!(text.lines().count(), 3, "{text}");
    // only_90 is in the code for sm_90 and in the PTX, fill<double> in that for sm_80 alone.
    let text = said(&["kernels", &file, "--all", "--across"]);
    let line = |start: &str| {
        text.lines()
            .find(|line| line.starts_with(start))
            .expect("a line")
    };
    assert!(line("Name").ends_with("compute_90"), "{text}");
    assert!(line("only_90 ").ends_with("PTX"), "{text}");
    assert!(!line("_Z4fillIdEvPT_S0_ ").contains("PTX"), "{text}");
    // A file that is code itself has an answer and no members.
    let text = said(&["archs", &fixture(VADD), "--gpu", "sm_90"]);
    assert_eq!(
        text,
        "sm_90 (NVIDIA H100, NVIDIA H200, NVIDIA GH200): yes, the code is for it\n"
    );
}

#[test]
fn a_thread_that_is_not_there_is_named_with_those_that_are() {
    // coredump/facts.json: 16 lanes.
    let output = kernelscope(&["lane", &fixture("coredump/synthetic.cudacore"), "70"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("there is no thread \"70\": there are 0 to 15"),
        "{message}"
    );
}

#[test]
fn the_exit_code_is_the_files() {
    let broken = fixture("amdgpu/mal/kd-entry-far.co");
    for command in ["report", "sections", "symbols", "diagnostics", "map", "hex"] {
        assert_eq!(
            kernelscope(&[command, &broken]).status.code(),
            Some(1),
            "{command}"
        );
    }
}

#[test]
fn paths_are_shown_without_their_control_characters() {
    let output = kernelscope(&["report", "no\u{1b}[31msuch file"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("no\\u{1b}[31msuch file"), "{message:?}");
}

#[test]
fn hex_as_json_is_whole() {
    let path = env!("CARGO_BIN_EXE_kernelscope");
    let output = kernelscope(&["hex", path, "--json"]);
    let hex: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let size = std::fs::metadata(path).unwrap().len() as usize;
    assert_eq!(hex["bytes"].as_str().unwrap().len(), 2 * size);
}

#[test]
fn hex_prints_the_bytes() {
    let output = kernelscope(&["hex", &fixture(VADD), "--at", "0x3", "--len", "15"]);
    // 7f 45 4c 46, class 2, little-endian, version 1, OSABI 0x41, ABI 8, padding, e_type 2, e_machine
    // 190: the ELF header as `readelf -h` reads it.
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "00000000           46 02 01 01 41  08 00 00 00 00 00 00 00     F...A........\n\
         00000010  02 00                                             ..\n"
    );
}

#[test]
fn records_print_in_every_form() {
    let print = |form: &str| {
        let arguments = ["record", &fixture(VADD), "--at", "0x12", "--form", form];
        let output = kernelscope(&arguments);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(print("text").contains("EM_CUDA"));
    assert!(
        print("markdown").contains("| e\\_machine | 190 |")
            || print("markdown").contains("| e_machine | 190 |")
    );
    assert!(print("c").contains("uint16_t e_machine; /* 190, EM_CUDA"));
    assert!(print("c").contains("struct Elf64_Ehdr {"));
    let json: serde_json::Value = serde_json::from_str(&print("json")).unwrap();
    let fields = json["records"][0]["fields"].as_array().unwrap();
    let machine = fields
        .iter()
        .find(|field| field["name"] == "e_machine")
        .unwrap();
    assert_eq!(machine["raw"], 190);
    assert_eq!(machine["bits"], serde_json::json!([159, 144])); // bytes 18 and 19
}

#[test]
fn tables_are_lists_in_json() {
    for (table, count) in [
        ("sections", 15),
        ("symbols", 10),
        ("relocations", 1),
        ("kernels", 1),
    ] {
        let output = kernelscope(&[table, &fixture(VADD), "--json"]);
        let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        // `readelf -S -s -r` of the fixture counts so many.
        assert_eq!(rows.as_array().unwrap().len(), count, "{table}");
    }
    let output = kernelscope(&["diagnostics", &fixture("amdgpu/mal/note-descsz-too-big.co")]);
    assert!(String::from_utf8(output.stdout).unwrap().contains("note"));
}

#[test]
fn standard_input_is_a_file_too() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kernelscope"))
        .args(["report", "-", "--json"])
        .stdin(std::fs::File::open(fixture(VADD)).unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut text = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["target"], "sm_90a");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_reader_that_stops_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kernelscope"))
        .args(["hex", env!("CARGO_BIN_EXE_kernelscope")]) // megabytes of output
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut start = [0; 64];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut start)
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}

#[test]
fn the_image_of_segments_is_written_beside_section_headers() {
    // llvm-readelf -l: the first PT_LOAD has the file's bytes from 0 on at address 0, where the header lies, too; the last one
    // ends at 0x5d80.
    let path = fixture("amdgpu/out/indirect.gfx90a.v5.co");
    let out = std::env::temp_dir().join(format!("kernelscope-{}.segments", std::process::id()));
    let name = out.display().to_string();
    let output = kernelscope(&["image", &path, "--segments", "-o", &name]);
    let written = std::fs::read(&out).expect("the image");
    std::fs::remove_file(&out).expect("the image is removed");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(written.len(), 0x5d80);
    let file = std::fs::read(&path).expect("the file");
    assert_eq!(written[..0x1280], file[..0x1280]);
    let table = |arguments: &[&str]| kernelscope(arguments).stdout;
    assert_eq!(
        table(&["image", &path, "--segments"]),
        table(&["load_image", &path])
    );
}

#[test]
fn an_image_is_written_as_a_loader_leaves_it() {
    let good = fixture("nvidia/cubin/fnptr.sm_86.13.5.nvcc-G.cubin");
    let out = std::env::temp_dir().join(format!("kernelscope-{}.image", std::process::id()));
    let path = out.display().to_string();
    let written = |more: &[&str]| {
        let arguments = [&["image", &good, "-o", &path], more].concat();
        assert_eq!(kernelscope(&arguments).status.code(), Some(0));
        std::fs::read(&out).unwrap()
    };
    let plain = written(&[]);
    let patched = written(&["--base", "0x7f0000000000"]);
    std::fs::remove_file(&out).unwrap();
    // The code ends at 0x1118: two pages, and one more.
    assert_eq!((plain.len(), patched.len()), (0x3000, 0x3000));
    // R_CUDA_64 at 0x1100 names the function at 0xe00 of the image.
    assert_eq!(plain[0x1100..0x1108], [0; 8]);
    assert_eq!(patched[0x1100..0x1108], 0x7f00_0000_0e00_u64.to_le_bytes());
    let same = plain.iter().zip(&patched).filter(|(a, b)| a == b).count();
    // Seven patches: three of 8 bytes, four of 4.
    assert!(same >= plain.len() - 3 * 8 - 4 * 4);
}

#[test]
fn an_operand_is_answered() {
    let good = fixture(VADD);
    let answer = |operand: &str| {
        let output = kernelscope(&["bank0", &good, "0", operand]);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(answer("c[0x0][0x210]").starts_with("parameter 0: parameter, stated by"));
    assert!(answer("0x29").starts_with("stack_ptr + 0x1: driver, measured"));
    let table = kernelscope(&["bank0", &good, "0", "--json"]);
    let rows: serde_json::Value = serde_json::from_slice(&table.stdout).unwrap();
    assert_eq!(rows[0]["name"], "ntid.x");
}

#[test]
fn a_descriptor_is_printed_for_an_assembler() {
    let file = fixture("amdgpu/out/vadd.gfx906.v5.co");
    let output = kernelscope(&["directives", &file, "vadd"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    // llvm-objdump: kernarg_size 288.
    assert!(text.contains("\n.amdhsa_kernel vadd\n"), "{text}");
    assert!(text.contains("\n\t.amdhsa_kernarg_size 288\n"), "{text}");
    let output = kernelscope(&["directives", &file, "0", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["text"], text);
    assert_eq!(json["missing"], serde_json::json!([]));
    for wrong in [&["directives", &file][..], &["directives", &file, "7"]] {
        assert_eq!(kernelscope(wrong).status.code(), Some(2));
    }
    let cubin = kernelscope(&["directives", &fixture(VADD), "0"]);
    assert_eq!(cubin.status.code(), Some(2));
}

#[test]
fn what_a_dispatch_passes_is_printed() {
    let says = fixture(SAYS);
    let print = |arguments: &[&str]| {
        let output = kernelscope(arguments);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    // says(__global const int *, double): arguments of 8 bytes at 0 and 8, the hidden ones from 16 on.
    let text = print(&["kernarg", &says, "says"]);
    assert!(text.starts_with("kernarg segment of says  272 bytes, written for each launch\n"));
    assert!(text.contains("argument 1                double · by_value"));
    let c = print(&["kernarg", &says, "0", "--form", "c"]);
    assert!(c.contains("uint64_t argument_0; /* const int*"));
    assert!(c.contains("uint32_t hidden_block_count_x; /* workgroups along x"));
    let json: serde_json::Value =
        serde_json::from_str(&print(&["kernarg", &says, "0", "--json"])).unwrap();
    assert_eq!(json["is_stored"], false);
    assert_eq!(json["fields"][1]["bits"], serde_json::json!([127, 64]));
    assert_eq!(json["fields"][1]["raw"], serde_json::Value::Null);

    let tree = print(&["metadata", &says]);
    assert!(tree.contains("\n000002c5        [2]: map of 3: hidden_block_count_x\n"));
    assert!(tree.contains("\n0000028e          .offset: 8  # place in the kernarg segment\n"));
}

#[test]
fn a_launch_is_printed_as_text_words_json_and_bytes() {
    let vadd = fixture("nvidia/cubin/vadd.sm_80.11.8.cubin");
    let launch = [
        "qmd",
        &vadd,
        "--kernel",
        "0",
        "--gpu",
        "sm_89",
        "--grid",
        "4096",
        "--block",
        "256",
        "--program",
        "0x7f0000000100",
        "--arg",
        "3=u32:7",
        "--set",
        "QMD_GROUP_ID=5",
    ];
    let run = |more: &[&str]| {
        let output = kernelscope(&[&launch[..], more].concat());
        (
            output.status.code(),
            String::from_utf8(output.stdout).expect("text"),
        )
    };
    let (code, text) = run(&[]);
    assert_eq!(code, Some(0));
    for line in [
        "QMD 03.00 of _Z4vaddPKfS0_Pfi  256 bytes",
        "Constant bank 0 of _Z4vaddPKfS0_Pfi  380 bytes",
        "  Known at run time only:",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}: {text}");
    }
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text.lines().map(words).collect();
    for line in [
        "415:384 CTA_RASTER_WIDTH 4096 grid",
        "133:128 QMD_GROUP_ID 0x5 set.QMD_GROUP_ID",
        "program code of _Z4vaddPKfS0_Pfi 0x7f0000000100 1567:1536, 1584:1568 (>> 32)",
        "bank0 constant bank 0 (open) 1055:1024, 1072:1056 (>> 32)",
        // Parameters begin at 0x160 of bank 0; three pointers are before it.
        "c[0x0][0x178] 4 bytes parameter 3 0x7 u32:7 arg3",
        "arg0 parameter 0 (open) c[0x0][0x160]",
    ] {
        assert!(lines.iter().any(|known| known == line), "{line}: {text}");
    }
    // Words 12 to 15 and 16 to 19, as the article on this launch shows 12 and 18.
    let (_, hex) = run(&["--hex"]);
    let line = |start: &str| {
        hex.lines()
            .find(|line| line.starts_with(start))
            .expect("a line")
            .to_owned()
    };
    assert!(
        line("0030:").starts_with("0030: 00001000 00000001 00000001"),
        "{hex}"
    );
    assert_eq!(line("0040:").split(' ').nth(3), Some("01000030"), "{hex}");
    assert_eq!(hex.lines().count(), 16);
    let (_, json) = run(&["--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let keys: Vec<&str> = json["made"]
        .as_array()
        .expect("made")
        .iter()
        .filter_map(|made| made["key"].as_str())
        .collect();
    assert_eq!(keys, ["qmd", "bank0"]);
    // The same bytes in a file.
    let out = std::env::temp_dir().join(format!("kernelscope-qmd-{}", std::process::id()));
    let path = out.display().to_string();
    let (code, text) = run(&["-o", &path, "--part", "bank0"]);
    let bytes = std::fs::read(&out).expect("bytes");
    std::fs::remove_file(&out).expect("removed");
    assert_eq!((code, text.as_str(), bytes.len()), (Some(0), "", 380));
    assert_eq!(json["made"][1]["bytes"].as_str().map(str::len), Some(760));
    assert_eq!(&bytes[376..], [7, 0, 0, 0]);
    // What is wrong with a launch counts as what is wrong with a file does.
    let (code, text) = run(&["--shared", "1000000"]);
    assert_eq!(code, Some(1));
    assert!(text.starts_with("error: shared: "), "{text}");
}

#[test]
fn how_many_run_at_once_is_printed() {
    let vadd = fixture("nvidia/cubin/vadd.sm_80.11.8.cubin");
    let of = |more: &[&str]| {
        let all = [
            &["occupancy", &vadd, "--kernel", "0", "--gpu", "sm_89"],
            more,
        ]
        .concat();
        let output = kernelscope(&all);
        let text = String::from_utf8(output.stdout).expect("text");
        (output.status.code(), text)
    };
    let launch = ["--block", "256", "--registers", "16", "--grid", "4096"];
    let (code, text) = of(&[&launch[..], &["--units", "128"]].concat());
    assert_eq!(code, Some(0));
    // 48 warps / 8; 4096 / (6 × 128).
    let line = "6 blocks, 48 of 48 warps (100 %) of an SM at once; limited by warps; the grid fills all SMs 5.33 times";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("\n*  warps "), "{text}");
    let (code, text) = of(&["--block", "1025"]);
    assert_eq!(code, Some(1));
    assert!(text.starts_with("error: block: "), "{text}");
    let (code, text) = of(&["--json"]);
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((code, json["groups"].as_u64()), (Some(0), Some(6)));
    assert_eq!(kernelscope(&["occupancy", &vadd]).status.code(), Some(2));
    let hex = ["occupancy", &vadd, "--kernel", "0", "--hex"];
    assert_eq!(kernelscope(&hex).status.code(), Some(2));
}

#[test]
fn what_a_dispatch_hands_to_the_gpu_is_printed() {
    let vadd = fixture("amdgpu/out/vadd.gfx906.v5.co");
    let launch = [
        "dispatch", &vadd, "--kernel", "vadd", "--grid", "3907", "--block", "256",
    ];
    let output = kernelscope(&[&launch[..], &["--object", "0x7f0823adc680", "--hex"]].concat());
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).expect("text");
    // Header 0x1502, setup 3; 256 × 1 × 1; 3907 × 256 = 0xf4300 work-items.
    let first = "0000: 00031502 00010100 00000001 000f4300\n0010: 00000001 00000001 00000000 00000000\n0020: 23adc680 00007f08";
    assert!(text.starts_with(first), "{text}");
    let output = kernelscope(&[&launch[..], &["--arg", "3=u64:1"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).expect("text");
    // Three pointers of 8 bytes are ahead of the size.
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    assert!(
        lines.iter().any(|line| line.starts_with("+0x18 ")),
        "{text}"
    );
    // One bit of the header by a name instead of a number, and what names there are.
    let set = |value: &str| {
        let set = format!("type={value}");
        let output = kernelscope(&[&launch[..], &["--set", &set, "--hex"]].concat());
        let error = String::from_utf8(output.stderr).expect("text");
        (String::from_utf8(output.stdout).expect("text"), error)
    };
    // HSA: a barrier-AND packet is 3.
    assert!(set("BARRIER_AND").0.starts_with("0000: 00031503"));
    assert!(set("BARRIER").1.contains("BARRIER_AND, "));
}

/// What a command says on stdout and stderr, and its exit code.
fn said(arguments: &[&str]) -> (Option<i32>, String, Vec<String>) {
    let output = kernelscope(arguments);
    let error = String::from_utf8(output.stderr).expect("text");
    (
        output.status.code(),
        String::from_utf8(output.stdout).expect("text"),
        error.lines().map(str::to_owned).collect(),
    )
}

#[test]
fn words_say_beside_them_what_they_leave_open() {
    // Whoever writes words to a GPU has to know which of them are 0 for want of an address.
    let vadd = fixture("nvidia/cubin/vadd.sm_80.11.8.cubin");
    let launch = ["qmd", &vadd, "--kernel", "0", "--gpu", "sm_89", "--hex"];
    let (code, _, errors) = said(&launch);
    assert_eq!(code, Some(0));
    assert_eq!(
        errors,
        [
            "kernelscope: open: program, code of _Z4vaddPKfS0_Pfi, bits 1567:1536 and 1584:1568: written as 0",
            "kernelscope: open: program, code of _Z4vaddPKfS0_Pfi that is fetched ahead, bits 287:256 and 1640:1632: written as 0",
            "kernelscope: open: bank0, constant bank 0, bits 1055:1024 and 1072:1056: written as 0",
        ]
    );
    // Nothing is open, nothing is said: a note on what other drivers do is not about these words.
    let more = ["--program", "0x100000", "--bank0", "0x200000"];
    let (code, _, errors) = said(&[&launch[..], &more].concat());
    assert_eq!((code, errors.len()), (Some(0), 0), "{errors:?}");
    let (code, _, errors) = said(&[&launch[..], &more, &["--block", "0"]].concat());
    assert_eq!((code, errors.len()), (Some(1), 1), "{errors:?}");
    assert!(errors[0].starts_with("kernelscope: error: block: "));
    let (_, _, errors) = said(&[&launch[..], &["--part", "bank0"]].concat());
    let line = "kernelscope: open: arg0, parameter 0, c[0x0][0x160]: written as 0";
    assert!(errors.iter().any(|known| known == line), "{errors:?}");
    // The same of a file.
    let out = std::env::temp_dir().join(format!("kernelscope-open-{}", std::process::id()));
    let path = out.display().to_string();
    let (_, _, errors) = said(&["qmd", &vadd, "--kernel", "0", "-o", &path]);
    std::fs::remove_file(&out).expect("removed");
    assert!(errors[0].starts_with("kernelscope: open: program, "));
    let file = fixture("amdgpu/out/vadd.gfx906.v5.co");
    let (_, _, errors) = said(&["dispatch", &file, "--kernel", "vadd", "--hex"]);
    // HSA: kernel_object is at bytes 32 to 39.
    let line = "kernelscope: open: object, Kernel object, bits 319:256: written as 0";
    assert!(errors.iter().any(|known| known == line), "{errors:?}");
}

#[test]
fn the_descriptor_ahead_of_hoppers_is_told_and_led_to_the_real_one() {
    let vadd = fixture(VADD);
    let launch = [
        "qmd",
        &vadd,
        "--kernel",
        "0",
        "--profile",
        "cuda",
        "--hex",
        "--qmd",
        "0x7f00000100",
    ];
    let (code, _, errors) = said(&launch);
    assert_eq!(code, Some(0));
    let line = "kernelscope: note: a second descriptor goes ahead of this one: --part qmd_null";
    assert!(errors.iter().any(|known| known == line), "{errors:?}");
    let (code, text, errors) = said(&[&launch[..], &["--part", "qmd_null"]].concat());
    assert_eq!((code, errors.len()), (Some(0), 0), "{errors:?}");
    // DEPENDENT_QMD0_POINTER is word 14 of 04.00 (479:448), shifted by 8.
    let row = text.lines().find(|line| line.starts_with("0030: "));
    assert_eq!(row.and_then(|row| row.split(' ').nth(3)), Some("7f000001"));
}

#[test]
fn what_cannot_be_typed_says_what_can() {
    let vadd = fixture("nvidia/cubin/vadd.sm_80.11.8.cubin");
    let launch = ["qmd", &vadd, "--kernel", "0", "--gpu", "sm_89"];
    for (more, expected) in [
        // An infinity that nobody has typed.
        (
            ["--arg", "3=f32:1e39"],
            "error: arg3: 1e39 does not fit into f32",
        ),
        (["--block", "-1"], "error: block: \"-1\" is negative"),
        (
            ["--block", "1e3"],
            "error: block: \"1e3\" is no whole number",
        ),
        (
            ["--shared", "99999999999999999999"],
            "error: shared: \"99999999999999999999\" is too large",
        ),
        (
            ["--profile", "nvidia"],
            "error: profile: \"nvidia\" is none of the choices, which are rig, cuda; rig counts",
        ),
        (
            ["--set", "SAMPLER_INDEX=HEADER"],
            "error: set.SAMPLER_INDEX: \"HEADER\" is no whole number such as 64 or 0x40; the names of its values are INDEPENDENTLY, VIA_HEADER_INDEX",
        ),
    ] {
        let (code, text, _) = said(&[&launch[..], &more].concat());
        assert_eq!(code, Some(1), "{more:?}");
        assert!(
            text.lines().any(|line| line.starts_with(expected)),
            "{text}"
        );
    }
    for (more, expected) in [
        (
            ["--arg", "3=f32:16777217"],
            "note: arg3: f32 has no 16777217: the nearest it has, 16777216, counts",
        ),
        // 382: what rig and CUDA set.
        (["--set", "SAMPLER_INDEX=INDEPENDENTLY"], "382:382 "),
    ] {
        let (code, text, _) = said(&[&launch[..], &more].concat());
        assert_eq!(code, Some(0), "{more:?}");
        let line = text
            .lines()
            .find(|line| line.trim_start().starts_with(expected));
        let line = line.unwrap_or_else(|| panic!("{text}"));
        assert_eq!(line.contains("INDEPENDENTLY"), expected.contains("382"));
    }
    // Names are exact; those that contain what was typed are told.
    for command in ["code", "bank0"] {
        let (code, _, errors) = said(&[command, &vadd, "vadd"]);
        assert_eq!(code, Some(2));
        assert_eq!(
            errors[0],
            format!(
                "kernelscope: {command}: there is no kernel \"vadd\"; names with it: _Z4vaddPKfS0_Pfi"
            )
        );
    }
    let (code, _, errors) = said(&["qmd", &vadd, "--kernel", "vsub"]);
    assert_eq!((code, errors[0].contains("names with")), (Some(2), false));
}
