//! On which GPUs files run, and which of their kernels are missing where: held against what cuobjdump lists.

mod common;

use kernelscope::compatibility::Answer;
use kernelscope::rows::{Table, Unit};
use kernelscope::{Document, Source};
use serde_json::Value;

/// A document all of whose members were opened.
fn surveyed(path: &str) -> Document {
    let mut document = common::open(path);
    while !document.survey(1 << 20).finished {}
    document
}

/// Whether a document runs on a GPU, by what, and why.
fn runs(document: &Document, gpu: &str) -> (Answer, String, String) {
    let gpu = document.runs_on(gpu).expect(gpu);
    let by = gpu.served_by.map(|served| served.by).unwrap_or_default();
    (gpu.runs.answer, by, gpu.runs.reason)
}

/// The rows of a table: these columns.
fn rows(table: &dyn Table, keys: &[&str]) -> Vec<String> {
    let row = |row| {
        let cells = keys
            .iter()
            .map(|key| table.cell(row, key).text(Unit::Text).into_owned());
        cells.collect::<Vec<_>>().join(" | ")
    };
    (0..table.len()).map(row).collect()
}

const PARTIAL: &str = "container/partial.fatbin";

#[test]
fn kernels_that_cuobjdump_does_not_list_for_an_architecture_are_missing_there() {
    let document = surveyed(PARTIAL);
    let facts: Value = serde_json::from_slice(&common::bytes("containers.json")).expect("facts");
    let kernels = facts[PARTIAL]["kernels"].as_object().expect("kernels");
    let target = |file: &str| match file {
        "partial.1.sm_80.cubin" => "sm_80",
        "partial.2.sm_90.cubin" => "sm_90",
        "partial.1.sm_90.ptx" => "compute_90",
        other => panic!("{other}"),
    };
    let has = |name: &str, of: &str| {
        let file = kernels.iter().find(|(file, _)| target(file) == of);
        file.expect(of)
            .1
            .as_array()
            .expect("names")
            .iter()
            .any(|known| known == name)
    };
    let mut missing = 0;
    let table = document.table("missing").expect("a table");
    for name in [
        "_Z4fillIdEvPT_S0_",
        "_Z4fillIfEvPT_S0_",
        "everywhere",
        "only_90",
    ] {
        let of = |wanted: bool| {
            let targets = ["sm_80", "compute_90", "sm_90"].iter();
            let targets = targets.filter(|of| has(name, of) == wanted);
            let mut targets: Vec<&str> = targets.copied().collect();
            targets.sort();
            targets
        };
        let row = (0..table.len()).find(|row| table.cell(*row, "name").text(Unit::Text) == name);
        assert_eq!(row.is_some(), !of(false).is_empty(), "{name}");
        let Some(row) = row else { continue };
        missing += 1;
        for (key, wanted) in [("has", true), ("lacks", false)] {
            let cell = table.cell(row, key);
            let cell = cell.text(Unit::Text);
            let mut targets: Vec<&str> = cell.split(", ").collect();
            targets.sort();
            assert_eq!(targets, of(wanted), "{name}: {key}");
        }
    }
    assert_eq!(table.len(), missing);
}

/// The table of kernels by their names says the same: where cuobjdump lists a kernel in PTX, and where it has registers.
#[test]
fn kernels_of_ptx_stand_beside_those_of_machine_code() {
    let document = surveyed(PARTIAL);
    let facts: Value = serde_json::from_slice(&common::bytes("containers.json")).expect("facts");
    let has = |file: &str, name: &str| {
        let names = facts[PARTIAL]["kernels"][file].as_array().expect("names");
        names.iter().any(|known| known == name)
    };
    let across = document.table("across").expect("a table");
    assert_eq!(across.len(), 4);
    for row in 0..across.len() {
        let cell = |key: &str| across.cell(row, key).text(Unit::Text).into_owned();
        let name = cell("name");
        let expected = has("partial.1.sm_90.ptx", &name);
        assert_eq!(
            cell("compute_90.ptx"),
            if expected { "PTX" } else { "" },
            "{name}"
        );
        for (arch, file) in [
            ("sm_80", "partial.1.sm_80.cubin"),
            ("sm_90", "partial.2.sm_90.cubin"),
        ] {
            let registers = cell(&format!("{arch}.registers"));
            assert_eq!(!registers.is_empty(), has(file, &name), "{name}: {arch}");
        }
        let found = document.found_kernel(row, "compute_90.ptx");
        assert_eq!(found, expected.then(|| ("1".into(), None)), "{name}");
    }
    let columns = across.columns().iter().rev();
    let last = columns.map(|column| &*column.title).next();
    assert_eq!(last, Some("compute_90"));
}

#[test]
fn what_other_instances_of_a_template_have_comes_first() {
    let document = surveyed(PARTIAL);
    let table = document.table("missing").expect("a table");
    assert_eq!(
        rows(&*table, &["name", "others_have"]),
        ["_Z4fillIdEvPT_S0_ | sm_90, compute_90", "only_90 | "]
    );
}

#[test]
fn each_kernel_has_its_answer_for_a_gpu() {
    let document = surveyed(PARTIAL);
    let of = |gpu: &str| {
        let table = document.table(&format!("missing/{gpu}")).expect("a table");
        rows(&*table, &["name", "runs"])
    };
    // fill<double> is only in the machine code for sm_80, only_90 not in it.
    assert_eq!(of("sm_90"), ["_Z4fillIdEvPT_S0_ | no", "only_90 | yes"]);
    assert_eq!(of("RTX A6000"), ["only_90 | no", "_Z4fillIdEvPT_S0_ | yes"]);
    let jit = [
        "_Z4fillIdEvPT_S0_ | no",
        "only_90 | jit",
        "everywhere | jit",
        "_Z4fillIfEvPT_S0_ | jit",
    ];
    let mut found = of("sm_120");
    assert_eq!(found.remove(0), jit[0]);
    found.sort();
    let mut expected = jit[1..].to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected);
    // Of the Tegra series nothing is promised.
    let tegra = of("Jetson AGX Orin");
    assert_eq!(tegra[0], "only_90 | no");
    assert!(tegra[1..].iter().all(|row| row.ends_with(" | depends")));
    let count = |gpu: &str| document.runs_on(gpu).expect("a GPU").missing_kernels;
    assert_eq!(
        ["sm_75", "sm_80", "sm_90", "gfx942"].map(count),
        [Some(4), Some(1), Some(1), Some(4)]
    );
    assert!(document.table("missing/sm_99").is_none());
    // Nothing is known to be missing before members are opened.
    assert_eq!(
        common::open(PARTIAL)
            .table("missing")
            .expect("a table")
            .len(),
        0
    );
    assert_eq!(
        common::open(PARTIAL)
            .runs_on("sm_90")
            .and_then(|gpu| gpu.missing_kernels),
        None
    );
}

#[test]
fn a_file_runs_where_the_best_of_its_members_does() {
    let document = common::open(PARTIAL);
    let (answer, by, _) = runs(&document, "sm_86");
    assert_eq!(
        (answer, by.as_str()),
        (Answer::Yes, "machine code for sm_80")
    );
    // Machine code goes before PTX, what is nearer to the GPU before what is farther.
    let (answer, by, _) = runs(&document, "sm_90");
    assert_eq!(
        (answer, by.as_str()),
        (Answer::Yes, "machine code for sm_90")
    );
    let (answer, by, reason) = runs(&document, "sm_120");
    assert_eq!((answer, by.as_str()), (Answer::Jit, "PTX for compute_90"));
    assert_eq!(reason, "the driver compiles the PTX for compute_90");
    let (answer, by, reason) = runs(&document, "T4");
    assert_eq!((answer, by.as_str()), (Answer::No, ""));
    assert_eq!(reason, "there is code for sm_80, sm_90, compute_90 only");
    let (answer, _, reason) = runs(&document, "gfx942");
    assert_eq!(answer, Answer::No);
    assert_eq!(reason, "there is no code for GPUs of that family");
}

#[test]
fn machine_code_that_cuobjdump_lists_runs_on_its_architecture() {
    let mut checked = 0;
    for (path, facts) in common::facts("fatbins") {
        let document = surveyed(&path);
        for entry in facts["entries"].as_array().expect("entries") {
            let (Some("elf"), Some(arch)) = (entry["kind"].as_str(), entry["arch"].as_str()) else {
                continue;
            };
            let (answer, by, reason) = runs(&document, arch);
            match answer {
                Answer::Yes => assert!(by.starts_with("machine code for "), "{path}: {by}"),
                Answer::Depends => assert!(
                    reason.ends_with("it has to be linked first"),
                    "{path}: {reason}"
                ),
                // PTX that is not relocatable beside relocatable machine code.
                other => assert_eq!(other, Answer::Jit, "{path}: {reason}"),
            }
            checked += 1;
        }
    }
    assert!(checked > 15, "{checked}");
}

/// A zip file of two fatbins: cuobjdump lists `fill<double>` of the first for sm_80 only; a second that has it for sm_90 is another library.
#[test]
fn a_kernel_of_another_library_does_not_help() {
    let partial = common::bytes(PARTIAL);
    // The machine code for sm_80 alone: sm_86 runs it, sm_90 does not.
    let mut other = partial.clone();
    let header = 16;
    let entry = |bytes: &[u8], at: usize| {
        let number = |at: usize, size: usize| {
            let mut all = [0; 8];
            all[..size].copy_from_slice(&bytes[at..at + size]);
            u64::from_le_bytes(all) as usize
        };
        // fatbin.json: header size at 4, padded payload size at 8.
        number(at + 4, 4) + number(at + 8, 8)
    };
    let first = entry(&other, header);
    other.truncate(header + first);
    other[8..16].copy_from_slice(&(first as u64).to_le_bytes());
    let sm_80_only = other;
    let files = [("a.fatbin", &partial), ("b.fatbin", &sm_80_only)];
    let mut zip = kernelscope::container::ZipWriter::default();
    let mut bytes = Vec::new();
    for (name, file) in files {
        let sum = kernelscope::unpack::crc32(0, file);
        bytes.extend(zip.add(name, file.len() as u64, sum));
        bytes.extend(file);
    }
    bytes.extend(zip.finish());
    let mut document = Document::open(Source::memory(bytes));
    while !document.survey(1 << 20).finished {}
    let on = |gpu: &str| document.runs_on(gpu).expect(gpu);
    let libraries = |gpu: &str| {
        let of = on(gpu).libraries.into_iter();
        of.map(|of| (of.name, of.runs.answer)).collect::<Vec<_>>()
    };
    let both = |a, b| vec![("a.fatbin".to_string(), a), ("b.fatbin".to_string(), b)];
    assert_eq!(libraries("sm_90"), both(Answer::Yes, Answer::No));
    assert_eq!(libraries("sm_86"), both(Answer::Yes, Answer::Yes));
    // cuobjdump: fill<double>, fill<float> and `everywhere` are in the code for sm_80; none of the second library's runs on sm_90.
    assert_eq!(on("sm_90").missing_kernels, Some(1 + 3));
    assert_eq!(on("sm_86").missing_kernels, Some(1));
    let table = document.table("missing/sm_90").expect("a table");
    let found = rows(&*table, &["in", "name", "runs"]);
    assert!(found.contains(&"a.fatbin | _Z4fillIdEvPT_S0_ | no".into()));
    assert!(found.contains(&"b.fatbin | _Z4fillIfEvPT_S0_ | no".into()));
    // Nothing is missing for architectures that a library has no code for.
    let missing = document.table("missing").expect("a table");
    assert!(
        rows(&*missing, &["in"])
            .iter()
            .all(|path| path == "a.fatbin")
    );
    // Of the same fatbin twice in one file, each is loaded for itself.
    let twice = [&partial[..], &sm_80_only].concat();
    let mut document = Document::open(Source::memory(twice));
    while !document.survey(1 << 20).finished {}
    let found = document.runs_on("sm_90").expect("sm_90");
    assert_eq!(
        (found.missing_kernels, found.libraries.len()),
        (Some(1 + 3), 0)
    );
}

/// What lacks an architecture and has code that runs there does not miss it.
#[test]
fn code_that_runs_on_an_architecture_stands_for_its_own() {
    // The machine code for sm_90 said to be for another architecture, which its entry has at 28 (fatbin.json).
    let lacks = |arch: u32| {
        let mut bytes = common::bytes(PARTIAL);
        let at = common::open(PARTIAL).contents().members[2].header.offset as usize + 28;
        assert_eq!(bytes[at..at + 4], 90_u32.to_le_bytes());
        bytes[at..at + 4].copy_from_slice(&arch.to_le_bytes());
        let mut document = Document::open(Source::memory(bytes));
        while !document.survey(1 << 20).finished {}
        let missing = document.table("missing").expect("a table");
        rows(&*missing, &["name", "lacks"])
    };
    // fill<double> is in the code for sm_80 alone, which runs on 8.6 as well and not on 9.0 (CUDA's guide, binary compatibility); only_90
    // is in the other. PTX for compute_90 is of no use for 8.0.
    let double = "_Z4fillIdEvPT_S0_";
    assert_eq!(
        lacks(86),
        [format!("{double} | compute_90"), "only_90 | sm_80".into()]
    );
    assert_eq!(
        lacks(90),
        [
            format!("{double} | sm_90, compute_90"),
            "only_90 | sm_80".into()
        ]
    );
}

#[test]
fn code_between_compilers_is_to_be_linked_first() {
    // NVVM for compute_90, relocatable cubins for sm_90a and sm_100f; no header says of the PTX for compute_120 that it is to be linked.
    let document = surveyed("container/kinds.fatbin");
    assert_eq!(runs(&document, "sm_120").0, Answer::Jit);
    for gpu in ["sm_90", "sm_100", "sm_103"] {
        let (answer, _, reason) = runs(&document, gpu);
        assert_eq!(answer, Answer::Depends, "{gpu}");
        assert!(reason.ends_with("linked first"), "{gpu}: {reason}");
    }
    assert_eq!(runs(&document, "sm_89").0, Answer::No);
    assert_eq!(
        runs(&common::open("container/stripped.o"), "sm_89").0,
        Answer::Depends
    );
}

#[test]
fn files_with_code_of_both_vendors_have_answers_for_both() {
    let document = surveyed("container/library.dll");
    assert_eq!(runs(&document, "gfx1100").0, Answer::Yes);
    assert_eq!(runs(&document, "gfx1030").0, Answer::No);
    assert_ne!(runs(&document, "sm_90").0, Answer::No);
    let gpus = document.gpu_list().expect("GPUs");
    let names: Vec<_> = gpus.0.iter().map(|gpu| gpu.name.as_str()).collect();
    assert!(names.contains(&"sm_121") && names.contains(&"gfx942:sramecc+:xnack-"));
    // A kernel for one vendor is not missing for the other. Each of its two fatbins has the kernel for other architectures;
    // that the second has no PTX is not said kernel by kernel.
    assert_eq!(
        rows(
            &*document.table("missing").expect("a table"),
            &["in", "has", "lacks"]
        ),
        [
            "1 | sm_90a, sm_100f, compute_120 | sm_80, sm_86",
            "2 | sm_80, sm_86 | sm_90a, sm_100f"
        ]
    );
    let of_amd = common::open("container/v2.hipfb");
    assert!(
        of_amd
            .gpu_list()
            .expect("GPUs")
            .0
            .iter()
            .all(|gpu| gpu.name.starts_with("gfx"))
    );
}

#[test]
fn cubins_and_texts_have_answers_of_their_own() {
    let answer = |path: &str, gpu: &str| runs(&common::open(path), gpu).0;
    assert_eq!(
        answer("nvidia/cubin/vadd.sm_90a.13.0.cubin", "sm_90"),
        Answer::Yes
    );
    assert_eq!(
        answer("nvidia/cubin/vadd.sm_90a.13.0.cubin", "sm_100"),
        Answer::No
    );
    let text = Document::open(Source::memory(
        &b".version 8.8\n.target sm_100f, debug\n.address_size 64\n.visible .entry k() { ret; }\n"
            [..],
    ));
    assert_eq!(runs(&text, "sm_103").0, Answer::Jit);
    assert_eq!(runs(&text, "sm_120").0, Answer::No);
    let text = Document::open(Source::memory(&b".version 8.8\n"[..]));
    assert!(text.gpu_list().is_none());
}
