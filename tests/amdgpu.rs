//! What is promised of code objects. Expected values are those that LLVM's tools print (`fixtures/facts.json`), or
//! follow from the reference ABI's rules for files that are changed here in one place.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::Random;
use kernelscope::amdgpu::registers::Registers;
use kernelscope::amdgpu::{self, CodeObject, Kernel};
use kernelscope::elf::Elf;
use kernelscope::error::{Diagnostic, Diagnostics, Kind, Severity};
use kernelscope::record::{Raw, Record};
use kernelscope::source::Source;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

struct File {
    elf: Elf,
    object: CodeObject,
    findings: Diagnostics,
}

fn open(bytes: Vec<u8>) -> File {
    let mut findings = Diagnostics::default();
    let source = Source::memory(bytes);
    let elf = Elf::open(&source, |_| &amdgpu::DIALECT, &mut findings).expect("an ELF header");
    let object = CodeObject::open(&elf, &mut findings);
    object.check(&elf, &mut findings);
    File {
        elf,
        object,
        findings,
    }
}

fn fixture(name: &str) -> Vec<u8> {
    common::bytes(&format!("amdgpu/out/{name}"))
}

/// A fixture with other bytes from `at` on.
fn changed(name: &str, at: usize, bytes: &[u8]) -> File {
    let mut all = fixture(name);
    all[at..at + bytes.len()].copy_from_slice(bytes);
    open(all)
}

impl File {
    fn kernel(&self, name: &str) -> &Kernel {
        let mut kernels = self.object.kernels.iter();
        let found = kernels.find(|kernel| kernel.name == name);
        found.unwrap_or_else(|| panic!("no kernel {name}"))
    }

    /// The only finding of that kind.
    fn finding(&self, kind: Kind) -> &Diagnostic {
        let found: Vec<_> = self.findings.iter().filter(|f| f.kind == kind).collect();
        assert_eq!(found.len(), 1, "{found:#?}");
        found[0]
    }

    fn record_at(&self, offset: u64) -> Record {
        let record = self.object.record_at(&self.elf, offset).expect("bytes");
        record.unwrap_or_else(|| panic!("no record at {offset:#x}"))
    }
}

/// What the tools say of each code object, by file.
fn facts() -> Map<String, Value> {
    common::facts("code_objects")
}

/// Each code object that is whole, with what the tools say of it.
fn each(mut check: impl FnMut(&str, &Value, &File)) {
    let mut count = 0;
    for (path, facts) in facts() {
        if !path.starts_with("amdgpu/mal/") {
            check(&path, &facts, &open(common::bytes(&path)));
            count += 1;
        }
    }
    assert_eq!(count, 25 + 108);
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

/// Where the symbol `name` is, from the table that llvm-readelf prints.
fn symbol(facts: &Value, name: &str) -> Option<(u64, usize)> {
    let tables = facts["symbols"].as_object()?;
    let rows = tables
        .values()
        .flat_map(|rows| rows.as_array().into_iter().flatten());
    let mut found = rows.filter(|row| row[0] == name && row[6] != "UND");
    let row = found.next()?;
    Some((number(&row[1]), row[6].as_str()?.parse().ok()?))
}

/// The fixtures have what the ABI has: processors of every generation and all generic ones, every version, every state of
/// both features, every type of relocation and every kind of argument (AMDGPUUsage of LLVM 22, and of code object V2).
#[test]
fn fixtures_have_what_the_abi_has() {
    let mut seen = BTreeSet::new();
    each(|path, facts, _| {
        let flags = facts["flag_names"].as_array().into_iter().flatten();
        seen.extend(flags.filter_map(Value::as_str).map(str::to_owned));
        if facts["osabi"] == 64 {
            seen.insert(format!("V{}", number(&facts["abi_version"]) + 2));
        }
        let tables = facts["relocations"].as_object().into_iter().flatten();
        let rows = tables.flat_map(|(_, rows)| rows.as_array().into_iter().flatten());
        seen.extend(rows.filter_map(|row| row[1].as_str()).map(str::to_owned));
        for kernel in facts["metadata"].as_array().expect("metadata") {
            let arguments = kernel["arguments"].as_array().into_iter().flatten();
            seen.extend(
                arguments
                    .filter_map(|row| row[2].as_str())
                    .map(str::to_owned),
            );
        }
        let sections = facts["sections"].as_array().into_iter().flatten();
        seen.extend(
            sections
                .filter_map(|row| row[6].as_str())
                .filter(|flags| flags.contains('C'))
                .map(str::to_owned),
        );
        if path.ends_with(".nosections.co") {
            seen.insert("no sections".into());
        }
    });
    let expected = "gfx600 gfx701 gfx803 gfx900 gfx906 gfx908 gfx90a gfx942 gfx950 gfx1010 gfx1030 gfx1100 gfx1151 gfx1200 gfx1201 gfx1250 \
        gfx9-generic gfx9-4-generic gfx10-1-generic gfx10-3-generic gfx11-generic gfx12-generic generic_v1 \
        V2 V3 V4 V5 V6 xnack xnack+ xnack- sramecc sramecc+ sramecc- C \
        R_AMDGPU_NONE R_AMDGPU_ABS32_LO R_AMDGPU_ABS32_HI R_AMDGPU_ABS64 R_AMDGPU_REL32 R_AMDGPU_REL64 R_AMDGPU_ABS32 R_AMDGPU_GOTPCREL \
        R_AMDGPU_GOTPCREL32_LO R_AMDGPU_GOTPCREL32_HI R_AMDGPU_REL32_LO R_AMDGPU_REL32_HI R_AMDGPU_RELATIVE64 R_AMDGPU_REL16 \
        by_value global_buffer dynamic_shared_pointer sampler image pipe queue \
        hidden_global_offset_x hidden_global_offset_y hidden_global_offset_z hidden_none hidden_printf_buffer hidden_hostcall_buffer \
        hidden_default_queue hidden_completion_action hidden_multigrid_sync_arg hidden_block_count_x hidden_block_count_y \
        hidden_block_count_z hidden_group_size_x hidden_group_size_y hidden_group_size_z hidden_remainder_x hidden_remainder_y \
        hidden_remainder_z hidden_grid_dims hidden_heap_v1 hidden_dynamic_lds_size hidden_private_base hidden_shared_base hidden_queue_ptr \
        ByValue GlobalBuffer DynamicSharedPointer Sampler Image Pipe Queue HiddenGlobalOffsetX HiddenGlobalOffsetY HiddenGlobalOffsetZ \
        HiddenNone HiddenPrintfBuffer HiddenHostcallBuffer HiddenDefaultQueue HiddenCompletionAction HiddenMultiGridSyncArg";
    let missing: Vec<_> = expected
        .split_whitespace()
        .filter(|&word| !seen.contains(word))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(seen.contains("no sections"));
}

/// What compilers and assemblers write is no error.
#[test]
fn files_that_are_in_order_have_no_errors() {
    each(|path, _, file| {
        let errors = file
            .findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error);
        assert_eq!(errors.count(), 0, "{path}: {:#?}", file.findings);
    });
}

#[test]
fn targets_are_spelled_as_llvm_spells_them() {
    each(|path, facts, file| {
        let target = file.object.target.as_deref().expect("a target");
        // V4 and later have it in their metadata.
        if let Some(triple) = facts["target"].as_str() {
            assert_eq!(format!("amdgcn-amd-amdhsa--{target}"), triple, "{path}");
        }
        let flags = facts["flag_names"].as_array().expect("flags");
        assert_eq!(Value::from(target.split(':').next()), flags[0], "{path}");
        assert_eq!(
            file.object.processor.map(|p| p.name),
            flags[0].as_str(),
            "{path}"
        );
        for flag in flags[1..].iter().filter_map(Value::as_str) {
            let word = format!(":{flag}");
            match flag {
                "generic_v1" => assert_eq!(file.object.generic_version, Some(1), "{path}"),
                // Up to V3 there is one bit, which says that it is on; then the names alone mean any.
                "xnack" | "sramecc" if file.object.version < Some(4) => {
                    assert!(target.contains(&format!("{word}+")), "{path}: {target}");
                }
                "xnack" | "sramecc" => assert!(!target.contains(&word), "{path}: {target}"),
                _ => assert!(target.contains(&word), "{path}: {target}"),
            }
        }
        // Only HSA has versions.
        let version = number(&facts["abi_version"]) as u32 + 2;
        let expected = (facts["osabi"] == 64).then_some(version);
        assert_eq!(file.object.version, expected, "{path}");
    });
    let words = |name: &str| open(fixture(name)).object.facts();
    assert_eq!(
        words("vadd.gfx906.v5.co"),
        ["code object V5", "shared object"]
    );
    assert_eq!(
        words("fullkd.gfx90a-sramecc+-xnack-.v5.o"),
        ["code object V5", "sramecc+", "xnack-", "relocatable"]
    );
    assert_eq!(
        words("vadd.gfx11-generic.v6.co"),
        ["code object V6", "generic version 1", "shared object"]
    );
}

#[test]
fn kernels_are_where_the_symbols_are() {
    each(|path, facts, file| {
        let names: Vec<_> = file
            .object
            .kernels
            .iter()
            .map(|k| k.name.as_str())
            .collect();
        assert!(names.is_sorted(), "{path}: {names:?}");
        for kernel in &file.object.kernels {
            let is_code = file.object.version == Some(2);
            let descriptor = match is_code {
                true => kernel.name.clone(),
                false => format!("{}.kd", kernel.name),
            };
            let Some((value, section)) = symbol(facts, &descriptor) else {
                // llvm-readelf lists no symbols of a file without section headers.
                assert!(path.contains("nosections"), "{path}: {}", kernel.name);
                continue;
            };
            let linked = facts["type"] == "DYN";
            let header = &facts["sections"][section];
            let start = if linked { number(&header[2]) } else { 0 };
            let place = number(&header[3]) + value - start;
            assert_eq!(
                kernel.descriptor_span.offset, place,
                "{path}: {}",
                kernel.name
            );
            if linked {
                let base = file.elf.image.address;
                assert_eq!(
                    kernel.descriptor,
                    Some(value - base),
                    "{path}: {}",
                    kernel.name
                );
                let (entry, _) = symbol(facts, &kernel.name).expect("the kernel's code");
                let ahead = if is_code { 256 } else { 0 };
                let expected = Some(entry + ahead - base);
                assert_eq!(kernel.entry, expected, "{path}: {}", kernel.name);
            }
        }
    });
    // Not linked yet: .text is the image's first section, and both kernels are at its beginning.
    assert_eq!(
        open(fixture("relocs.gfx942.v5.o")).kernel("rel").entry,
        Some(0)
    );
    let full = open(fixture("fullkd.gfx90a-sramecc+-xnack-.v5.o"));
    assert_eq!(full.kernel("full").entry, Some(0));
}

#[test]
fn a_file_without_section_headers_has_its_kernels() {
    let bare = open(fixture("lds.gfx942.v5.nosections.co"));
    let names: Vec<_> = bare
        .object
        .kernels
        .iter()
        .map(|k| k.name.as_str())
        .collect();
    let described: Vec<Value> = {
        let facts = facts();
        let kernels = &facts["amdgpu/out/lds.gfx942.v5.nosections.co"]["metadata"];
        let names = kernels.as_array().expect("kernels").iter();
        names.map(|kernel| kernel[".name"].clone()).collect()
    };
    assert_eq!(names.len(), described.len());
    for kernel in &bare.object.kernels {
        assert!(described.contains(&json!(kernel.name)));
        assert_eq!(kernel.descriptor_span.size, 64);
        assert!(kernel.entry.is_some_and(|entry| entry % 256 == 0));
        let record = bare.record_at(kernel.descriptor_span.offset + 16);
        assert_eq!(record.name, format!("kernel descriptor {}.kd", kernel.name));
    }
}

/// The fields of a descriptor by the directives that llvm-objdump prints for them.
const DIRECTIVES: &[(&str, &str)] = &[
    ("group_segment_fixed_size", "group_segment_fixed_size"),
    ("private_segment_fixed_size", "private_segment_fixed_size"),
    ("kernarg_size", "kernarg_size"),
    ("float_round_mode_32", "FLOAT_ROUND_MODE_32"),
    ("float_round_mode_16_64", "FLOAT_ROUND_MODE_16_64"),
    ("float_denorm_mode_32", "FLOAT_DENORM_MODE_32"),
    ("float_denorm_mode_16_64", "FLOAT_DENORM_MODE_16_64"),
    ("dx10_clamp", "ENABLE_DX10_CLAMP"),
    ("ieee_mode", "ENABLE_IEEE_MODE"),
    ("round_robin_scheduling", "ENABLE_WG_RR_EN"),
    ("fp16_overflow", "FP16_OVFL"),
    ("workgroup_processor_mode", "WGP_MODE"),
    ("memory_ordered", "MEM_ORDERED"),
    ("forward_progress", "FWD_PROGRESS"),
    (
        "system_sgpr_private_segment_wavefront_offset",
        "ENABLE_PRIVATE_SEGMENT",
    ),
    ("enable_private_segment", "ENABLE_PRIVATE_SEGMENT"),
    ("system_sgpr_workgroup_id_x", "ENABLE_SGPR_WORKGROUP_ID_X"),
    ("system_sgpr_workgroup_id_y", "ENABLE_SGPR_WORKGROUP_ID_Y"),
    ("system_sgpr_workgroup_id_z", "ENABLE_SGPR_WORKGROUP_ID_Z"),
    ("system_sgpr_workgroup_info", "ENABLE_SGPR_WORKGROUP_INFO"),
    ("system_vgpr_workitem_id", "ENABLE_VGPR_WORKITEM_ID"),
    (
        "exception_fp_ieee_invalid_op",
        "ENABLE_EXCEPTION_IEEE_754_FP_INVALID_OPERATION",
    ),
    (
        "exception_fp_denorm_src",
        "ENABLE_EXCEPTION_FP_DENORMAL_SOURCE",
    ),
    (
        "exception_fp_ieee_div_zero",
        "ENABLE_EXCEPTION_IEEE_754_FP_DIVISION_BY_ZERO",
    ),
    (
        "exception_fp_ieee_overflow",
        "ENABLE_EXCEPTION_IEEE_754_FP_OVERFLOW",
    ),
    (
        "exception_fp_ieee_underflow",
        "ENABLE_EXCEPTION_IEEE_754_FP_UNDERFLOW",
    ),
    (
        "exception_fp_ieee_inexact",
        "ENABLE_EXCEPTION_IEEE_754_FP_INEXACT",
    ),
    (
        "exception_int_div_zero",
        "ENABLE_EXCEPTION_INT_DIVIDE_BY_ZERO",
    ),
    (
        "user_sgpr_private_segment_buffer",
        "ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER",
    ),
    ("user_sgpr_dispatch_ptr", "ENABLE_SGPR_DISPATCH_PTR"),
    ("user_sgpr_queue_ptr", "ENABLE_SGPR_QUEUE_PTR"),
    (
        "user_sgpr_kernarg_segment_ptr",
        "ENABLE_SGPR_KERNARG_SEGMENT_PTR",
    ),
    ("user_sgpr_dispatch_id", "ENABLE_SGPR_DISPATCH_ID"),
    (
        "user_sgpr_flat_scratch_init",
        "ENABLE_SGPR_FLAT_SCRATCH_INIT",
    ),
    (
        "user_sgpr_private_segment_size",
        "ENABLE_SGPR_PRIVATE_SEGMENT_SIZE",
    ),
    ("wavefront_size32", "ENABLE_WAVEFRONT_SIZE32"),
    ("uses_dynamic_stack", "USES_DYNAMIC_STACK"),
    ("tg_split", "TG_SPLIT"),
    ("shared_vgpr_count", "SHARED_VGPR_COUNT"),
    ("inst_pref_size", "INST_PREF_SIZE"),
    ("named_barrier_count", "NAMED_BAR_CNT"),
    (
        "user_sgpr_kernarg_preload_length",
        "KERNARG_PRELOAD_SPEC_LENGTH",
    ),
    (
        "user_sgpr_kernarg_preload_offset",
        "KERNARG_PRELOAD_SPEC_OFFSET",
    ),
];

/// What llvm-objdump works out from several fields, or has no field for.
const DERIVED: &[&str] = &[
    "accum_offset",
    "next_free_vgpr",
    "next_free_sgpr",
    "reserve_vcc",
    "reserve_flat_scratch",
    "reserve_xnack_mask",
];

#[test]
fn descriptors_are_as_objdump_reads_them() {
    let mut compared = 0;
    each(|path, facts, file| {
        let Some(descriptors) = facts["descriptors"].as_object() else {
            return;
        };
        for (name, printed) in descriptors {
            let kernel = file.kernel(name);
            let record = file.record_at(kernel.descriptor_span.offset);
            assert_eq!(record.span, kernel.descriptor_span, "{path}: {name}");
            let raw = |field: &str| match record.field(field).map(|field| &field.raw) {
                Some(Raw::Int(raw)) => *raw,
                other => panic!("{path}: {name}: {field} is {other:?}"),
            };
            let fields: BTreeMap<_, _> = DIRECTIVES.iter().copied().collect();
            for (directive, value) in printed["directives"].as_object().into_iter().flatten() {
                if let Some(field) = fields.get(directive.as_str()) {
                    assert_eq!(raw(field), number(value), "{path}: {name}: {directive}");
                    compared += 1;
                } else {
                    assert!(DERIVED.contains(&directive.as_str()), "{path}: {directive}");
                }
            }
            for (field, value) in printed["comments"].as_object().into_iter().flatten() {
                assert_eq!(raw(field), number(value), "{path}: {name}: {field}");
                compared += 1;
            }
            let Some(directives) = printed["directives"].as_object() else {
                continue;
            };
            let said = |key: &str| directives.get(key).map(number);
            let kernel_says = |what: Option<u32>| what.map(u64::from);
            assert_eq!(
                kernel_says(kernel.group_segment),
                said("group_segment_fixed_size")
            );
            assert_eq!(
                kernel_says(kernel.private_segment),
                said("private_segment_fixed_size")
            );
            let counted = Registers::decode(
                file.object.processor.expect("known"),
                kernel.rsrc1.expect("a word"),
                kernel.rsrc3,
                kernel.wave32 == Some(true),
            );
            let counted = counted.expect("register words");
            assert_eq!(
                kernel_says(Some(counted.vgprs)),
                said("next_free_vgpr"),
                "{path}: {name}"
            );
            if let Some(offset) = said("accum_offset") {
                let agprs = said("next_free_vgpr").map(|vgprs| vgprs.saturating_sub(offset));
                assert_eq!(kernel_says(kernel.agprs), agprs, "{path}: {name}");
            }
            if path.contains(".gfx9") {
                assert_eq!(
                    kernel_says(Some(counted.sgprs)),
                    said("next_free_sgpr"),
                    "{path}: {name}"
                );
            }
            let flag = |key: &str| Some(said(key).unwrap_or(0) == 1);
            assert_eq!(kernel.wave32, flag("wavefront_size32"), "{path}: {name}");
            assert_eq!(
                kernel.dispatch_ptr,
                flag("user_sgpr_dispatch_ptr"),
                "{path}: {name}"
            );
            let buffer = flag("user_sgpr_private_segment_buffer");
            assert_eq!(kernel.private_segment_buffer, buffer, "{path}: {name}");
        }
    });
    assert!(compared > 1500, "only {compared} fields were compared");
}

/// Fields of `amd_kernel_code_t` by the names that the assembler has for several of them at once, from the lowest bits
/// on, with each one's width.
const JOINED: &[(&str, &[(&str, u32)])] = &[
    (
        "float_mode",
        &[
            ("FLOAT_ROUND_MODE_32", 2),
            ("FLOAT_ROUND_MODE_16_64", 2),
            ("FLOAT_DENORM_MODE_32", 2),
            ("FLOAT_DENORM_MODE_16_64", 2),
        ],
    ),
    (
        "enable_exception_msb",
        &[
            ("ENABLE_EXCEPTION_ADDRESS_WATCH", 1),
            ("ENABLE_EXCEPTION_MEMORY", 1),
        ],
    ),
    (
        "enable_exception",
        &[
            ("ENABLE_EXCEPTION_IEEE_754_FP_INVALID_OPERATION", 1),
            ("ENABLE_EXCEPTION_FP_DENORMAL_SOURCE", 1),
            ("ENABLE_EXCEPTION_IEEE_754_FP_DIVISION_BY_ZERO", 1),
            ("ENABLE_EXCEPTION_IEEE_754_FP_OVERFLOW", 1),
            ("ENABLE_EXCEPTION_IEEE_754_FP_UNDERFLOW", 1),
            ("ENABLE_EXCEPTION_IEEE_754_FP_INEXACT", 1),
            ("ENABLE_EXCEPTION_INT_DIVIDE_BY_ZERO", 1),
        ],
    ),
    (
        "enable_sgpr_private_segment_wave_byte_offset",
        &[("ENABLE_PRIVATE_SEGMENT", 1)],
    ),
    (
        "amd_code_version_major",
        &[("amd_kernel_code_version_major", 32)],
    ),
    (
        "amd_code_version_minor",
        &[("amd_kernel_code_version_minor", 32)],
    ),
];

/// What llvm-objdump does not list: V2's, and the descriptors of gfx6 and gfx7.
#[test]
fn descriptors_are_as_they_were_assembled() {
    let mut compared = 0;
    each(|path, facts, file| {
        for (name, told) in facts["assembled"].as_object().into_iter().flatten() {
            let kernel = file.kernel(name);
            let record = file.record_at(kernel.descriptor_span.offset);
            let fields: BTreeMap<_, _> = DIRECTIVES.iter().copied().collect();
            for (key, value) in told.as_object().into_iter().flatten() {
                let what = format!("{path}: {name}: {key}");
                let joined = JOINED.iter().find(|(joined, _)| joined == key);
                let upper = key.to_uppercase();
                let ours = if let Some((_, parts)) = joined {
                    let bits = parts.iter().rev();
                    bits.fold(0, |all, (part, bits)| all << bits | record.number(part))
                } else if let Some(field) = fields.get(key.as_str()) {
                    record.number(field)
                } else if record.field(key).is_some() {
                    record.number(key)
                } else if record.field(&upper).is_some() {
                    record.number(&upper)
                } else {
                    // Of gfx10 only, or worked out from several fields.
                    let is_newer = [
                        "enable_wgp_mode",
                        "enable_mem_ordered",
                        "enable_fwd_progress",
                    ];
                    let is_known = is_newer.contains(&key.as_str()) && *value == 0;
                    assert!(is_known || DERIVED.contains(&key.as_str()), "{what}");
                    continue;
                };
                assert_eq!(ours, number(value), "{what}");
                compared += 1;
            }
        }
    });
    assert!(compared > 1000, "only {compared} fields were compared");
}

#[test]
fn kernels_are_as_their_metadata_describes_them() {
    each(|path, facts, file| {
        let described = facts["metadata"].as_array().expect("metadata");
        for described in described {
            let of = |key: &str, v2: &str| {
                let value = described.get(key).or(described.get(v2));
                value.unwrap_or_else(|| panic!("{path}: no {key}"))
            };
            let name = of(".symbol", "SymbolName").as_str().expect("a name");
            let name = name.trim_end_matches(".kd").trim_end_matches("@kd");
            let kernel = file.kernel(name);
            let size = number(of(".kernarg_segment_size", "KernargSegmentSize"));
            assert_eq!(kernel.kernarg_size, Some(size), "{path}: {name}");
            let bound = number(of(".max_flat_workgroup_size", "MaxFlatWorkGroupSize"));
            assert_eq!(kernel.max_threads, bound, "{path}: {name}");

            let printed = described["arguments"].as_array().expect("arguments");
            let args = kernel.args.as_ref().expect("arguments");
            assert_eq!(args.len(), printed.len(), "{path}: {name}");
            let mut hidden = Vec::new();
            let mut explicit = 0;
            for (argument, printed) in args.iter().zip(printed) {
                assert_eq!(argument.size, number(&printed[1]), "{path}: {name}");
                if let Some(offset) = printed[0].as_u64() {
                    assert_eq!(argument.offset, offset, "{path}: {name}");
                    assert_eq!(argument.kind, printed[2], "{path}: {name}");
                    let kind = argument.kind.as_str();
                    if kind.starts_with("hidden_") && kind != "hidden_none" {
                        hidden.push((offset, kind.to_owned(), argument.size));
                    } else if !kind.starts_with("hidden_") {
                        explicit = explicit.max(offset + argument.size);
                    }
                }
            }
            if file.object.version != Some(2) {
                hidden.sort();
                let ours = kernel.hidden.iter();
                let ours: Vec<_> = ours.map(|h| (h.offset, h.kind.clone(), h.size)).collect();
                assert_eq!(ours, hidden, "{path}: {name}");
                assert_eq!(kernel.explicit_size, Some(explicit), "{path}: {name}");
            }
        }
    });
    // Not described: all of the kernarg segment is the program's.
    let bare = open(fixture("nometa.gfx906.v5.co"));
    let bare = bare.kernel("bare");
    assert_eq!(bare.explicit_size, bare.kernarg_size);
    assert_eq!((bare.max_threads, &bare.args), (1024, &None));
}

#[test]
fn metadata_is_nested_json_with_the_keys_of_the_note() {
    let file = open(fixture("vadd.gfx906.v5.co"));
    let metadata = serde_json::to_value(&file.object.metadata).expect("JSON");
    // As llvm-readelf prints it.
    assert_eq!(metadata["amdhsa.target"], "amdgcn-amd-amdhsa--gfx906");
    assert_eq!(metadata["amdhsa.version"], json!([1, 2]));
    let kernel = &metadata["amdhsa.kernels"][0];
    assert_eq!(
        kernel[".args"][1],
        json!({
            ".actual_access": "read_only",
            ".address_space": "global",
            ".is_const": true,
            ".is_restrict": true,
            ".offset": 8,
            ".size": 8,
            ".type_name": "float*",
            ".value_kind": "global_buffer",
        })
    );
    assert_eq!(kernel[".language"], "OpenCL C");
    assert_eq!(kernel[".language_version"], json!([2, 0]));
    assert_eq!(kernel[".uses_dynamic_stack"], false);
    assert_eq!(kernel[".wavefront_size"], 64);
    // Every scalar of every kernel, against what llvm-readelf prints.
    each(|path, facts, file| {
        let metadata = serde_json::to_value(&file.object.metadata).expect("JSON");
        let kernels = metadata.get("amdhsa.kernels").or(metadata.get("Kernels"));
        let kernels = kernels
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let printed = facts["metadata"].as_array().expect("metadata");
        assert_eq!(kernels.len(), printed.len(), "{path}");
        for (kernel, printed) in kernels.iter().zip(printed) {
            for (key, value) in printed.as_object().expect("a kernel") {
                // V2 has them in groups; lists are compared as parts of the whole below.
                let groups =
                    ["CodeProps", "Attrs", "DebugProps"].map(|group| kernel[group].get(key));
                let ours = kernel.get(key).or(groups.into_iter().flatten().next());
                let is_list = value.as_str().is_some_and(|value| value.starts_with("[ "));
                if key != "arguments" && !is_list {
                    assert_eq!(ours, Some(value), "{path}: {key}");
                }
            }
        }
    });
}

/// The whole of it: every key and value of every note that llvm-readelf prints as YAML, by a digest of it as JSON whose
/// keys are sorted.
#[test]
fn metadata_is_what_readelf_prints_to_the_last_key() {
    let mut compared = 0;
    each(|path, facts, file| {
        for expected in facts["metadata_digests"].as_array().into_iter().flatten() {
            let metadata = serde_json::to_value(&file.object.metadata).expect("JSON");
            let digest = Sha256::digest(metadata.to_string());
            let digest: String = digest[..8]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            assert_eq!(&json!(digest), expected, "{path}: {metadata:#}");
            compared += 1;
        }
    });
    assert!(compared > 60, "{compared} only");
}

#[test]
fn code_object_v2_is_read_by_its_notes() {
    // llvm-readelf: ISA version 9:0:1, which stands for gfx900 with XNACK on; symbol vadd at 0x1c00, in .text at 0xc00
    // of the file.
    let file = open(fixture("vadd.gfx900.v2.llvm13.co"));
    assert_eq!(file.object.target.as_deref(), Some("gfx900:xnack+"));
    let kernel = file.kernel("vadd");
    assert_eq!(kernel.descriptor_span.offset, 0xc00);
    assert_eq!(kernel.descriptor_span.size, 256);
    // llvm-readelf: KernargSegmentSize 88, three pointers and a uint, hidden arguments of 8 bytes each.
    assert_eq!(kernel.kernarg_size, Some(88));
    assert_eq!(kernel.explicit_size, Some(28));
    let hidden: Vec<_> = kernel
        .hidden
        .iter()
        .map(|h| (h.kind.as_str(), h.offset))
        .collect();
    let expected = [
        ("hidden_global_offset_x", 32),
        ("hidden_global_offset_y", 40),
        ("hidden_global_offset_z", 48),
        ("hidden_multigrid_sync_arg", 80),
    ];
    assert_eq!(hidden, expected);
    // 8 VGPRs and 11 SGPRs by the metadata, in steps of 4 and 8.
    assert_eq!(
        (kernel.vgprs, kernel.sgprs, kernel.rsrc3),
        (Some(8), Some(16), None)
    );

    let record = file.record_at(0xc00);
    assert_eq!(record.name, "amd_kernel_code_t vadd");
    // llvm-objdump prints its bytes: 01 00 00 00 02 00 00 00 01 00 09 00 …
    assert_eq!(record.number("amd_kernel_code_version_major"), 1);
    assert_eq!(record.number("amd_kernel_code_version_minor"), 2);
    assert_eq!(record.number("amd_machine_version_major"), 9);
    assert_eq!(record.number("kernel_code_entry_byte_offset"), 256);
    let note = file.record_at(0x200);
    let kind = note.field("n_type").and_then(|field| field.meaning.clone());
    assert_eq!(kind.as_deref(), Some("NT_AMD_HSA_CODE_OBJECT_VERSION"));
    assert_eq!(
        (note.number("major_version"), note.number("minor_version")),
        (2, 1)
    );
    // A line of the metadata.
    let line = file.record_at(0x2b0);
    assert_eq!(line.name, "metadata Kernels[0].Name");
}

#[test]
fn every_byte_of_the_metadata_is_in_a_record() {
    for name in [
        "vadd.gfx906.v5.co",
        "args.gfx803.v2.llvm13.co",
        "printf.gfx906.v5.co",
    ] {
        let file = open(fixture(name));
        let span = file.object.metadata.as_ref().expect("metadata").span;
        let mut at = span.offset;
        while at < span.end() {
            let record = file.record_at(at);
            assert!(
                record.span.contains(at),
                "{name}: {} at {at:#x}",
                record.name
            );
            at = record.span.end().max(at + 1);
        }
    }
    // llvm-readelf: the offset of the second argument is 8; `xxd` finds its key at 0x2f5.
    let record = open(fixture("vadd.gfx906.v5.co")).record_at(0x2fd);
    assert_eq!(record.name, "metadata amdhsa.kernels[0].args[1].offset");
    let value = record.field("value").expect("a value");
    assert_eq!(
        (value.meaning.as_deref(), &value.raw),
        (Some("8"), &Raw::Int(8))
    );
}

#[test]
fn a_byte_leads_to_its_record() {
    // llvm-readelf: .note at 0x200, its content at 0x214, .rodata at 0x8c0, .text at 0x900.
    let document = common::open("amdgpu/out/vadd.gfx906.v5.co");
    let names = |offset| -> Vec<String> {
        let location = document.locate(offset);
        location
            .records
            .into_iter()
            .map(|record| record.name)
            .collect()
    };
    assert_eq!(names(0x200), ["note AMDGPU"]);
    assert_eq!(names(0x215), ["metadata amdhsa.kernels"]);
    assert_eq!(names(0x8c0), ["kernel descriptor vadd.kd"]);
    assert_eq!(names(0x8ff), ["kernel descriptor vadd.kd"]);
    // Without section headers the segments lead there: PT_NOTE at 0x200, and the kernels' descriptors.
    let document = common::open("amdgpu/out/lds.gfx942.v5.nosections.co");
    let bare = open(fixture("lds.gfx942.v5.nosections.co"));
    for kernel in &bare.object.kernels {
        let location = document.locate(kernel.descriptor_span.offset);
        let names: Vec<_> = location.records.iter().map(|record| &record.name).collect();
        assert_eq!(names, [&format!("kernel descriptor {}.kd", kernel.name)]);
    }
    let note = bare.elf.note_parts()[0].1;
    assert_eq!(document.locate(note.offset).records[0].name, "note AMDGPU");
    assert_eq!(document.locate(note.offset).records.len(), 1);
}

#[test]
fn what_is_wrong_in_one_place_is_one_finding() {
    let open = |name: &str| open(common::bytes(&format!("amdgpu/mal/{name}")));
    let place = |finding: &Diagnostic| (finding.severity, finding.offset);

    // EF_AMDGPU_MACH 0xfe: no processor of LLVM's. The kernel is read all the same.
    let file = open("hdr-mach-unknown.co");
    assert_eq!(
        place(file.finding(Kind::UnknownValue)),
        (Severity::Warning, Some(0x30))
    );
    assert_eq!(
        place(file.finding(Kind::Loader)),
        (Severity::Error, Some(0x30))
    );
    let kernel = file.kernel("vadd");
    assert_eq!((kernel.kernarg_size, kernel.vgprs), (Some(288), None));
    assert_eq!(file.object.target, None);
    assert_eq!(
        file.record_at(kernel.descriptor_span.offset)
            .number("kernarg_size"),
        288
    );

    // kernel_code_entry_byte_offset, 16 bytes into the descriptor at 0x8c0.
    let file = open("kd-entry-far.co");
    assert_eq!(
        place(file.finding(Kind::Loader)),
        (Severity::Error, Some(0x8d0))
    );
    assert_eq!(file.kernel("vadd").entry, None);
    // The image begins at 0x800: .rodata at 0x8c0 is its first section, .text is aligned to 256.
    assert_eq!(file.kernel("vadd").descriptor, Some(0x8c0 - 0x800));
    assert_eq!(file.kernel("vadd").hidden.len(), 13);

    // n_descsz of the note at 0x200.
    let file = open("note-descsz-too-big.co");
    assert_eq!(
        place(file.finding(Kind::Loader)),
        (Severity::Error, Some(0x200))
    );
    assert!(file.object.metadata.is_none());
    assert_eq!(file.kernel("vadd").kernarg_size, Some(288));

    // A map of 2^32 − 1 entries at the start of the metadata at 0x214.
    let file = open("note-msgpack-huge-map.co");
    assert_eq!(
        place(file.finding(Kind::Loader)),
        (Severity::Error, Some(0x214))
    );
    let found = file.finding(Kind::Loader).found.as_deref();
    assert_eq!(found, Some("4294967295"));
    assert_eq!(file.kernel("vadd").kernarg_size, Some(288));

    // The first 200 bytes: only the header is left.
    let file = open("cut-00200.co");
    assert!(file.findings.has_errors());
    assert_eq!(file.object.target.as_deref(), Some("gfx906"));
}

#[test]
fn what_a_loader_refuses_is_found() {
    let refused = |file: &File| -> (Severity, Option<u64>, Option<String>) {
        let finding = file.finding(Kind::Loader);
        (finding.severity, finding.offset, finding.found.clone())
    };
    // The descriptor of vadd.gfx906.v5.co is at 0x8c0, its metadata at 0x214.
    const VADD: &str = "vadd.gfx906.v5.co";
    let error = |offset, found: &str| (Severity::Error, Some(offset), Some(found.to_owned()));

    let lds = changed(VADD, 0x8c0, &261_633_u32.to_le_bytes());
    assert_eq!(refused(&lds), error(0x8c0, "261633"));
    let lds = changed(VADD, 0x8c0, &65_537_u32.to_le_bytes());
    assert_eq!(refused(&lds), error(0x8c0, "65537"));
    let lds = changed(VADD, 0x8c0, &65_536_u32.to_le_bytes());
    assert!(!lds.findings.has_errors());

    let scratch = changed(VADD, 0x8c4, &131_057_u32.to_le_bytes());
    assert_eq!(refused(&scratch), error(0x8c4, "131057"));
    let scratch = changed(VADD, 0x8c4, &131_056_u32.to_le_bytes());
    assert!(!scratch.findings.has_errors());
    // Wavefronts of 32 lanes can have twice as much; the descriptor of saxpy.gfx1151.v5.co is at 0x1140.
    let facts = facts();
    let saxpy = &facts["amdgpu/out/saxpy.gfx1151.v5.co"];
    let (address, _) = symbol(saxpy, "saxpy.kd").expect("a descriptor");
    let at = address as usize + 4;
    let scratch = changed("saxpy.gfx1151.v5.co", at, &131_069_u32.to_le_bytes());
    assert_eq!(refused(&scratch).0, Severity::Warning);
    let scratch = changed("saxpy.gfx1151.v5.co", at, &262_137_u32.to_le_bytes());
    assert_eq!(refused(&scratch).0, Severity::Error);

    // .max_flat_workgroup_size is 0xcd 0x01 0x00 in the metadata.
    let bytes = fixture(VADD);
    let key = b".max_flat_workgroup_size\xcd\x01\x00";
    let at = bytes
        .windows(key.len())
        .position(|w| w == key)
        .expect("the key")
        + key.len()
        - 2;
    let bound = changed(VADD, at, &[4, 1]);
    assert_eq!(refused(&bound), error(at as u64 - 1, "1025"));
    assert_eq!(bound.kernel("vadd").max_threads, 1025);
    let bound = changed(VADD, at, &[0, 0]);
    assert_eq!(refused(&bound), error(at as u64 - 1, "0"));

    // The kernarg segment has 288 bytes; the arguments end at 98.
    let kernarg = changed(VADD, 0x8c8, &97_u32.to_le_bytes());
    let finding = kernarg.finding(Kind::Loader);
    assert_eq!(finding.found.as_deref(), Some("96 + 2"));

    // The entry before the image, and behind it.
    let entry = changed(VADD, 0x8d0, &(-0x1000_i64).to_le_bytes());
    assert_eq!(refused(&entry).1, Some(0x8d0));
    let entry = changed(VADD, 0x8d0, &i64::MIN.to_le_bytes());
    assert_eq!(refused(&entry).1, Some(0x8d0));

    // A generic processor: of version 0, and in code object V5.
    const GENERIC: &str = "vadd.gfx11-generic.v6.co";
    assert!(!open(fixture(GENERIC)).findings.has_errors());
    assert_eq!(refused(&changed(GENERIC, 0x33, &[0])), error(0x30, "0"));
    assert_eq!(refused(&changed(GENERIC, 8, &[3])), error(0x30, "V5"));

    // Relocations other than R_AMDGPU_REL64: one finding for each kind in each section (llvm-readelf lists them).
    let dynamic = open(fixture("indirect.gfx90a.v5.co"));
    let found: Vec<_> = dynamic
        .findings
        .iter()
        .map(|f| (f.kind, f.found.clone()))
        .collect();
    let expected = ["R_AMDGPU_ABS64", "R_AMDGPU_RELATIVE64"];
    let expected: Vec<_> = expected
        .iter()
        .map(|&kind| (Kind::Loader, Some(kind.into())))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn malformed_metadata_is_found_and_the_rest_is_read() {
    let bytes = fixture("vadd.gfx906.v5.co");
    let find = |text: &[u8]| {
        bytes
            .windows(text.len())
            .position(|w| w == text)
            .expect("the text")
    };
    // The list of arguments becomes a number of four bytes, which swallows what follows.
    for (key, name) in [(&b".args\xdc"[..], "arguments"), (b".size\x08", "size")] {
        let at = find(key) + key.len() - 1;
        for value in [0xc1, 0xce, 0xdd, 0xff] {
            let file = changed("vadd.gfx906.v5.co", at, &[value]);
            let mut loader = file.findings.iter().filter(|f| f.kind == Kind::Loader);
            assert!(loader.next().is_some(), "{name} {value:#x}");
            assert_eq!(
                file.kernel("vadd").rsrc1,
                Some(0x00af_0041),
                "{name} {value:#x}"
            );
        }
    }
    // A symbol that the file does not define.
    let at = find(b"\xa7vadd.kd") + 1;
    let file = changed("vadd.gfx906.v5.co", at, b"w");
    let mut found = file.findings.iter();
    assert!(found.any(|f| f.context.as_deref() == Some("metadata, kernel wadd")));
    assert_eq!(file.kernel("vadd").args, None);
    // Another target than the file header's.
    let at = find(b"--gfx906") + 7;
    let finding = changed("vadd.gfx906.v5.co", at, b"8");
    let finding = finding.finding(Kind::Format);
    assert_eq!(finding.found.as_deref(), Some("amdgcn-amd-amdhsa--gfx908"));
}

#[test]
fn any_bytes_in_notes_and_descriptors_open() {
    let mut random = Random(0x616d_6467_7075);
    for (name, rounds) in [
        ("vadd.gfx906.v5.co", 2),
        ("vadd.gfx900.v2.llvm13.co", 2),
        ("fullkd.gfx90a-sramecc+-xnack-.v5.o", 2),
        ("lds.gfx942.v5.nosections.co", 1),
    ] {
        let bytes = fixture(name);
        let rounds = if common::whole() { 256 } else { rounds };
        for at in 0..bytes.len() {
            for _ in 0..rounds {
                let mut bytes = bytes.clone();
                let count = 1 + random.below(3);
                for _ in 0..count {
                    let at = (at as u64 + random.below(8)).min(bytes.len() as u64 - 1);
                    bytes[at as usize] = random.below(256) as u8;
                }
                let mut findings = Diagnostics::default();
                let source = Source::memory(bytes);
                let Ok(elf) = Elf::open(&source, |_| &amdgpu::DIALECT, &mut findings) else {
                    continue;
                };
                let object = CodeObject::open(&elf, &mut findings);
                object.check(&elf, &mut findings);
                object.facts();
                let at = random.below(source.size());
                if let Ok(Some(record)) = object.record_at(&elf, at) {
                    assert!(
                        record.span.contains(at),
                        "{name}: {} at {at:#x}",
                        record.name
                    );
                }
            }
        }
    }
}
