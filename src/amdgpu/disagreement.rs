//! What the metadata says against what the symbols and the descriptors say.

use super::metadata::{Description, Metadata};
use super::value::Value;
use super::{CodeObject, Kernel};
use crate::elf::Elf;
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::index::Map;

/// Checks the metadata of `object` against the file.
pub(super) fn check(
    object: &CodeObject,
    elf: &Elf,
    metadata: &Metadata,
    findings: &mut Diagnostics,
) {
    let at = |value: &Value| elf.source().absolute(value.span.offset);
    if let (Some(target), Some(value)) = (&object.target, metadata.root.get("amdhsa.target"))
        && let Some(text) = value.text()
        && text
            .strip_suffix(target.as_str())
            .is_none_or(|rest| !rest.ends_with('-'))
    {
        findings.push(
            Diagnostic::warning(
                Kind::Format,
                "the metadata is for another target than the file header says",
            )
            .expected(target, text)
            .within("metadata, amdhsa.target")
            .at(at(value)),
        );
    }
    let mut described = Map::default();
    for description in metadata.kernels() {
        let Some(name) = description.name() else {
            continue;
        };
        let mut say = |finding: Diagnostic| {
            let within = format!("metadata, kernel {name}");
            findings.push(finding.within(within).at(at(description.value)));
        };
        let count = described.entry(name.as_bytes(), 0);
        *count += 1;
        if *count > 1 {
            say(Diagnostic::warning(
                Kind::Format,
                "the metadata describes the kernel twice; the first description counts",
            ));
            continue;
        }
        names(description, &mut say);
        let found = object
            .kernels
            .binary_search_by(|kernel| kernel.name.as_str().cmp(name));
        match found.ok().and_then(|index| object.kernels.get(index)) {
            Some(found) => kernel(elf, found, description, findings),
            None => say(Diagnostic::warning(
                Kind::Format,
                "the metadata describes a kernel that the file does not define",
            )),
        }
    }
    // What a mistake cut off may have described it.
    if metadata.is_whole() {
        for kernel in object.kernels.iter().filter(|kernel| kernel.args.is_none()) {
            let span = kernel.descriptor_span;
            findings.push(
                Diagnostic::warning(
                    Kind::Format,
                    "the metadata does not describe the kernel: a runtime that goes by it does not find it",
                )
                .within(format!("kernel {}", kernel.name))
                .at((span.size > 0).then(|| elf.source().absolute(span.offset)).flatten()),
            );
        }
    }
}

/// The two names that the metadata has of a kernel.
fn names(description: Description<'_>, say: &mut dyn FnMut(Diagnostic)) {
    let Some(symbol) = description.symbol() else {
        return;
    };
    let suffix = description.suffix();
    let Some(name) = symbol.strip_suffix(suffix) else {
        say(Diagnostic::warning(
            Kind::Format,
            "the metadata's symbol is not that of a descriptor",
        )
        .expected(format!("a name with {suffix} behind it"), symbol));
        return;
    };
    if let Some(of_source) = description.source_name().filter(|&other| other != name) {
        say(Diagnostic::warning(
            Kind::Format,
            "the metadata's name and symbol differ: a loader that goes by the name finds no such kernel",
        )
        .expected(name, of_source));
    }
}

/// What is said twice of a kernel: in its metadata and in its descriptor.
fn kernel(elf: &Elf, kernel: &Kernel, description: Description<'_>, findings: &mut Diagnostics) {
    let mut say = |what: &str, value: &Value, message: &str, expected: String, found: u64| {
        findings.push(
            Diagnostic::warning(Kind::Format, message)
                .expected(expected, found)
                .within(format!("kernel {}, {what}", kernel.name))
                .at(elf.source().absolute(value.span.offset)),
        );
    };
    let is_dynamic = properties(elf, kernel).map(|properties| properties >> 11 & 1);
    // Bit 29 is another field before gfx10, whose metadata does not have the key.
    let whole_processor = kernel.rsrc1.map(|rsrc1| u64::from(rsrc1 >> 29 & 1));
    for (key, v2, descriptor) in [
        (
            ".kernarg_segment_size",
            "KernargSegmentSize",
            kernel.kernarg_size,
        ),
        (
            ".group_segment_fixed_size",
            "GroupSegmentFixedSize",
            kernel.group_segment.map(u64::from),
        ),
        (
            ".private_segment_fixed_size",
            "PrivateSegmentFixedSize",
            kernel.private_segment.map(u64::from),
        ),
        (
            ".wavefront_size",
            "WavefrontSize",
            kernel.wave_size.map(u64::from),
        ),
        (".uses_dynamic_stack", "", is_dynamic),
        (".workgroup_processor_mode", "", whole_processor),
    ] {
        if let (Some(value), Some(descriptor)) = (description.of_code(key, v2), descriptor)
            && let Some(found) = value.number().or(value.flag().map(u64::from))
            && found != descriptor
        {
            let message = "the metadata and the descriptor differ";
            let expected = format!("{descriptor} as in the descriptor");
            say(key, value, message, expected, found);
        }
    }
    for (key, v2, allocated) in [
        (".vgpr_count", "NumVGPRs", kernel.vgprs),
        (".sgpr_count", "NumSGPRs", kernel.sgprs),
        // Where accumulation registers are a file of their own, it is as large as the other one.
        (".agpr_count", "", kernel.agprs.or(kernel.vgprs)),
    ] {
        if let (Some(value), Some(allocated)) = (description.of_code(key, v2), allocated)
            && let Some(found) = value.number()
            && found > u64::from(allocated)
        {
            let message = "the metadata counts more registers than the descriptor allocates";
            say(key, value, message, format!("at most {allocated}"), found);
        }
    }
    let size = description.size_of_workgroup();
    if let Some((value, [x, y, z])) = size
        && let product = x.saturating_mul(y).saturating_mul(z)
        && product > kernel.max_threads
    {
        say(
            ".reqd_workgroup_size",
            value,
            "the workgroup that the kernel must have is larger than it can have",
            format!("at most {} work-items", kernel.max_threads),
            product,
        );
    }
}

/// The properties in a descriptor; V2 has others there.
fn properties(elf: &Elf, kernel: &Kernel) -> Option<u64> {
    const AT: u64 = 56;
    let mut bytes = [0; 2];
    let span = kernel.descriptor_span;
    let read = elf.source().read_into(span.offset + AT, &mut bytes);
    (span.size == 64 && read.is_ok()).then(|| u16::from_le_bytes(bytes).into())
}
