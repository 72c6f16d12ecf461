//! What a loader that follows the reference ABI refuses, and what is not known.

use super::initial::Initial;
use super::metadata::Description;
use super::{CodeObject, Kernel, Processor, tables, target};
use crate::elf::{Elf, patch};
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::index::Map;
use crate::order;

/// The relocation that a loader applies: S + A − P, 64 bits, with an addend of its own.
const R_AMDGPU_REL64: u32 = 5;

/// Bytes of LDS that the descriptor's own field can count: 9 bits of 512 bytes.
const LDS_LIMIT: u64 = 511 * 512;

/// The processor and the versions.
pub(super) fn target(object: &CodeObject, elf: &Elf, findings: &mut Diagnostics) {
    let header = &elf.header;
    let at_flags = elf.source().absolute(CodeObject::flags_at(elf));
    let is_hsa = header.os_abi == 64;
    if is_hsa && object.version.is_none() {
        findings.push(
            Diagnostic::warning(Kind::UnknownValue, "the code object's version is not known")
                .expected("an ABI version of 0 to 4", header.abi_version)
                .within("ELF header, EI_ABIVERSION")
                .at(elf.source().absolute(8)),
        );
    }
    let mach = target::mach(header);
    let Some(processor) = object.processor else {
        if mach != 0 {
            findings.push(
                Diagnostic::warning(Kind::UnknownValue, "the processor is not known")
                    .expected(
                        "a value that LLVM 22 names",
                        format!("EF_AMDGPU_MACH 0x{mach:x}"),
                    )
                    .within("ELF header, e_flags")
                    .at(at_flags),
            );
        }
        findings.push(
            Diagnostic::error(
                Kind::Loader,
                "a loader cannot tell which processor the code is for",
            )
            .expected("a known processor", format!("EF_AMDGPU_MACH 0x{mach:x}"))
            .within("ELF header, e_flags")
            .at(at_flags),
        );
        return;
    };
    if !processor.is_generic() {
        if let Some(version @ 1..) = target::generic_version(header) {
            let message = "a processor that is not generic has a generic version";
            findings.push(
                Diagnostic::note(Kind::Format, message)
                    .expected(0, version)
                    .within("ELF header, e_flags")
                    .at(at_flags),
            );
        }
        return;
    }
    let finding = match (object.version, object.generic_version) {
        (_, Some(0)) => Diagnostic::error(Kind::Loader, "the generic processor has no version")
            .expected("a version from 1 on", 0),
        (Some(version), None) => {
            Diagnostic::error(Kind::Loader, "generic processors need code object V6")
                .expected("V6", format!("V{version}"))
        }
        _ => return,
    };
    findings.push(finding.within("ELF header, e_flags").at(at_flags));
}

/// A kernel's symbol lies where the image has nothing, or too little.
pub(super) fn descriptor_outside(elf: &Elf, name: &str, at: u64, findings: &mut Diagnostics) {
    findings.push(
        Diagnostic::error(
            Kind::Loader,
            "the kernel's descriptor lies outside the image",
        )
        .within(format!("kernel {name}, descriptor"))
        .at(elf.source().absolute(at)),
    );
}

/// A kernel would begin where the image has nothing.
pub(super) fn entry_outside(elf: &Elf, kernel: &Kernel, ahead: i64, findings: &mut Diagnostics) {
    let end = elf.main_image().end;
    let descriptor = kernel.descriptor.unwrap_or(0);
    let sign = if ahead < 0 { '-' } else { '+' };
    findings.push(
        Diagnostic::error(Kind::Loader, "the kernel's entry lies outside the image")
            .expected(
                format!("an offset in the image below 0x{end:x}"),
                format!("0x{descriptor:x} {sign} 0x{:x}", ahead.unsigned_abs()),
            )
            .within(format!(
                "kernel {}, kernel_code_entry_byte_offset",
                kernel.name
            ))
            .at(field(elf, kernel, 16)),
    );
}

/// Where a kernel begins: the hardware wants it aligned, and in files that are not linked yet the
/// image has to hold what will be linked to.
pub(super) fn entry(elf: &Elf, kernel: &Kernel, findings: &mut Diagnostics) {
    const ALIGN: u64 = 256;
    let (Some(descriptor), base) = (kernel.descriptor, elf.main_image().address) else {
        return;
    };
    let label = || format!("kernel {}, kernel_code_entry_byte_offset", kernel.name);
    let at = field(elf, kernel, 16);
    let finding = match kernel.entry {
        None if elf.header.is_relocatable() => {
            let message = "the image does not hold the kernel's entry";
            Diagnostic::error(Kind::Loader, message)
        }
        Some(entry) if base.wrapping_add(entry) % ALIGN != 0 => {
            Diagnostic::warning(Kind::Format, "the kernel's entry is not aligned").expected(
                format!("a multiple of {ALIGN}"),
                format!("0x{:x}", base.wrapping_add(entry)),
            )
        }
        _ => {
            return check_descriptor_alignment(
                elf,
                kernel,
                base.wrapping_add(descriptor),
                findings,
            );
        }
    };
    findings.push(finding.within(label()).at(at));
}

fn check_descriptor_alignment(
    elf: &Elf,
    kernel: &Kernel,
    address: u64,
    findings: &mut Diagnostics,
) {
    const ALIGN: u64 = 64;
    if !address.is_multiple_of(ALIGN) {
        findings.push(
            Diagnostic::warning(Kind::Format, "the kernel's descriptor is not aligned")
                .expected(format!("a multiple of {ALIGN}"), format!("0x{address:x}"))
                .within(format!("kernel {}, descriptor", kernel.name))
                .at(field(elf, kernel, 0)),
        );
    }
}

/// Fields of descriptors that must be zero and are not. Compilers write some of them all the time: each field is
/// one note, at the first descriptor, and each kernel has its own list.
pub(super) fn non_zero(elf: &Elf, kernels: &[Kernel], findings: &mut Diagnostics) {
    let mut first = Map::default();
    for (index, kernel) in (0_u64..).zip(kernels) {
        for (field, found) in (0_usize..).zip(&kernel.non_zero) {
            first.entry(found.field.as_bytes(), (index, field, 0_u64)).2 += 1;
        }
    }
    let mut first = first.into_values();
    order::arrange(&mut first, |(index, ..)| *index);
    for (index, field, count) in first {
        let Some(kernel) = kernels.get(index as usize) else {
            continue;
        };
        let Some(found) = kernel.non_zero.get(field) else {
            continue;
        };
        let message = match count {
            1 => "a field of the descriptor that must be zero is set".into(),
            _ => format!("{count} descriptors set a field that must be zero"),
        };
        findings.push(
            Diagnostic::note(Kind::Format, message)
                .expected(0, format!("0x{:x}", found.raw))
                .within(format!("kernel {}, {}", kernel.name, found.field))
                .at(elf.source().absolute(found.offset)),
        );
    }
}

/// What is set up in scalar registers against how many are counted.
pub(super) fn user_sgprs(
    elf: &Elf,
    kernel: &Kernel,
    processor: &Processor,
    initial: &Initial,
    findings: &mut Diagnostics,
) {
    // LLVM pads to 16 with those of the system what some processors of gfx11 would not set up else.
    let is_padded = processor.descriptor == "gfx11" && initial.count + initial.system == 16;
    let finding = if initial.count < initial.enabled {
        let message = "fewer user SGPRs are counted than are enabled";
        Diagnostic::warning(Kind::Format, message)
    } else if initial.count > initial.enabled && !is_padded {
        let message = "more user SGPRs are counted than are enabled: the last are not set up";
        Diagnostic::note(Kind::Format, message)
    } else {
        return;
    };
    findings.push(
        finding
            .expected(initial.enabled, initial.count)
            .within(format!("kernel {}, USER_SGPR_COUNT", kernel.name))
            .at(field(elf, kernel, 52)),
    );
}

/// Where the field `at` bytes into the kernel's descriptor is.
fn field(elf: &Elf, kernel: &Kernel, at: u64) -> Option<u64> {
    let span = kernel.descriptor_span;
    (span.size > 0).then(|| elf.source().absolute(span.offset + at))?
}

/// The sizes that a kernel asks for, and its arguments.
pub(super) fn kernel(
    elf: &Elf,
    processor: Option<&Processor>,
    kernel: &Kernel,
    description: Option<Description<'_>>,
    findings: &mut Diagnostics,
) {
    let label = |what: &str| format!("kernel {}, {what}", kernel.name);
    let is_code = kernel.descriptor_span.size == 256;
    let (lds_at, scratch_at) = if is_code { (64, 60) } else { (0, 4) };
    let lds = u64::from(kernel.group_segment.unwrap_or(0));
    let reference = || format!("at most {LDS_LIMIT} bytes, which is 511 × 512");
    let finding = match processor.map(Processor::lds_limit) {
        Some(limit) if lds > limit => Some((
            Diagnostic::error(
                Kind::Loader,
                "the kernel asks for more LDS than the processor has",
            ),
            format!("at most {limit} bytes"),
        )),
        // The reference ABI knows no processor that has more.
        Some(_) if lds > LDS_LIMIT => Some((
            Diagnostic::warning(
                Kind::Loader,
                "the kernel asks for more LDS than the reference ABI grants; the processor has it",
            ),
            reference(),
        )),
        None if lds > LDS_LIMIT => Some((
            Diagnostic::error(
                Kind::Loader,
                "the kernel asks for more LDS than the reference ABI grants",
            ),
            reference(),
        )),
        _ => None,
    };
    if let Some((finding, expected)) = finding {
        findings.push(
            finding
                .expected(expected, lds)
                .within(label("group_segment_fixed_size"))
                .at(field(elf, kernel, lds_at)),
        );
    }
    let scratch = u64::from(kernel.private_segment.unwrap_or(0));
    if let Some(processor) = processor {
        let of_wave64 = processor.scratch_limit(64);
        let lanes = if kernel.wave32 == Some(true) { 32 } else { 64 };
        let limit = processor.scratch_limit(lanes);
        let finding = if scratch > limit {
            Some((
                limit,
                Diagnostic::error(
                    Kind::Loader,
                    "the kernel asks for more scratch than a wavefront can have",
                ),
            ))
        } else if scratch > of_wave64 {
            Some((
                of_wave64,
                Diagnostic::warning(
                    Kind::Loader,
                    "the kernel asks for more scratch than the reference ABI grants, which counts with wavefronts of 64 lanes",
                ),
            ))
        } else {
            None
        };
        if let Some((limit, finding)) = finding {
            findings.push(
                finding
                    .expected(format!("at most {limit} bytes a lane"), scratch)
                    .within(label("private_segment_fixed_size"))
                    .at(field(elf, kernel, scratch_at)),
            );
        }
    }
    let bound = description.and_then(|d| d.max_flat_workgroup_size());
    if !(1..=1024).contains(&kernel.max_threads) {
        findings.push(
            Diagnostic::error(
                Kind::Loader,
                "the bound of the workgroup's size is out of range",
            )
            .expected("1 to 1024", kernel.max_threads)
            .within(label("max_flat_workgroup_size"))
            .at(bound.and_then(|value| elf.source().absolute(value.span.offset))),
        );
    }
    let size = kernel.kernarg_size.unwrap_or(0);
    for argument in kernel.args.iter().flatten() {
        if argument.end() > size {
            findings.push(
                Diagnostic::error(
                    Kind::Loader,
                    "the argument lies outside the kernarg segment",
                )
                .expected(
                    format!("an end of at most {size}"),
                    format!("{} + {}", argument.offset, argument.size),
                )
                .within(label(&argument.kind))
                .at(elf.source().absolute(argument.span.offset)),
            );
        }
    }
}

/// The relocations of the image: a loader applies one kind of them. Each other kind is one finding
/// for each table, at its first relocation.
pub(super) fn relocations(elf: &Elf, findings: &mut Diagnostics) {
    for table in elf.relocation_tables.iter().filter(|t| elf.is_of_image(t)) {
        let Some(relocations) = findings.take(elf.relocations(table)) else {
            continue;
        };
        let symbols = elf.symbols_of(table);
        let symbols = symbols.and_then(|table| elf.symbols(table).ok());
        let mut refused = Map::default();
        let mut left = Map::default();
        for relocation in relocations.iter() {
            let kind = relocation.kind;
            if kind != R_AMDGPU_REL64 || relocation.addend.is_none() {
                let new = (kind, relocation.index, 0_u64);
                refused.entry(&kind.to_le_bytes(), new).2 += 1;
            } else if let Some(why) = patch::left(elf, table, symbols.as_ref(), &relocation) {
                let new = (why, relocation.index, 0_u64);
                left.entry(why.as_bytes(), new).2 += 1;
            }
        }
        let mut refused = refused.into_values();
        order::arrange(&mut refused, |(kind, ..)| (*kind).into());
        let section = table.section.map(|index| elf.section_label(index));
        let section = section.unwrap_or_else(|| "dynamic relocations".into());
        for (kind, first, count) in refused {
            let name = tables::RELOCATION.name(kind.into());
            let name = name.map_or(format!("type {kind}"), Into::into);
            let addend = if table.has_addends {
                ""
            } else {
                " without an addend of its own"
            };
            let message = match count {
                1 => "a relocation is not of the kind that a loader applies".into(),
                _ => format!("{count} relocations are not of the kind that a loader applies"),
            };
            findings.push(
                elf.refused(message)
                    .expected("R_AMDGPU_REL64 with an addend", format!("{name}{addend}"))
                    .within(format!("{section} relocation {first}, r_info"))
                    .at(elf.source().absolute(table.table.entry(first).offset)),
            );
        }
        let mut left = left.into_values();
        order::arrange(&mut left, |&(_, first, _)| first);
        for (why, first, count) in left {
            let message = match count {
                1 => format!("a loader cannot apply a relocation: {why}"),
                _ => format!("a loader cannot apply {count} relocations: of the first, {why}"),
            };
            findings.push(
                elf.refused(message)
                    .within(format!("{section} relocation {first}"))
                    .at(elf.source().absolute(table.table.entry(first).offset)),
            );
        }
    }
}
