//! What a dispatch of a code object's kernel hands to the GPU: the AQL packet and the kernarg segment.

use super::aql::{GRID_SIZES, SIZE, WORKGROUP_SIZES};
use super::argument::Argument;
use super::kernarg::{self, Place};
use super::resident::{Said, ask_block, ask_shared, check_scratch, product};
use super::{CodeObject, Kernel, Processor, tables};
use crate::elf::Elf;
use crate::error::Diagnostics;
use crate::launch::{
    Ask, Choice, Form, InputKind, Inputs, Launch, Made, Origin, OriginKind, Slot, SlotPart,
};
use crate::record::Record;
use crate::span::Span;

/// Bytes of a kernarg segment that are written; the rest of a larger one is not shown.
const SEGMENT: u64 = 64 << 10;

/// What a runtime writes whatever the launch is.
struct Profile {
    key: &'static str,
    label: &'static str,
    source: &'static str,
    barrier: u64,
    /// The scope of both fences.
    fences: u64,
    /// Dimensions of every grid; 0: as many as it has.
    dimensions: u64,
}

const PROFILES: &[Profile] = &[
    Profile {
        key: "hip",
        label: "HIP",
        source: "hip (ROCm's logs)",
        barrier: 1,
        fences: 2,
        dimensions: 3,
    },
    Profile {
        key: "hsa",
        label: "HSA",
        source: "hsa (ROCR-Runtime, LLVM's offload runtime)",
        barrier: 0,
        fences: 2,
        dimensions: 0,
    },
];

/// What somebody dispatches.
struct Dispatch<'a> {
    kernel: &'a Kernel,
    said: Said,
    profile: &'static Profile,
    block: [u64; 3],
    /// Work-items of the grid.
    items: [u64; 3],
    /// The inputs that they follow from.
    items_from: &'static str,
    /// Bytes of dynamic LDS.
    dynamic: u64,
}

fn origin(what: OriginKind, source: &str, place: Option<Span>) -> Origin {
    Origin {
        what,
        source: source.into(),
        place,
        is_open: false,
    }
}

/// A value that only run time knows, and what it is said of it.
fn slot(input: &str, name: &str, value: Option<u64>, field: &str, bits: [u32; 2]) -> Slot {
    Slot {
        input: input.into(),
        name: name.into(),
        value: value.map(|value| format!("0x{value:x}")),
        parts: vec![SlotPart {
            field: field.into(),
            bits,
            shift: 0,
        }],
    }
}

impl CodeObject {
    /// What a dispatch of the kernel of that index hands to the GPU. The inputs are `gpu`, `profile` (hip or hsa), `grid` in
    /// workgroups or `grid_items` in work-items, `block`, `shared` (dynamic LDS), `object`, `kernarg`, `signal`, `arg0` and so
    /// on by the metadata's order, `hidden.KIND`, `set.FIELD`.
    pub fn launch(&self, _elf: &Elf, kernel: usize, inputs: &Inputs) -> Option<Launch> {
        let kernel = self.kernels.get(kernel)?;
        let mut form = Form::new(inputs);
        let gpu = self.ask_gpu(&mut form)?;
        let dispatch = Dispatch::ask(&mut form, self.said(kernel), kernel, gpu);
        dispatch.check(&mut form, gpu);
        let packet = dispatch.packet(&mut form, inputs);
        let kernarg = dispatch.kernarg(&mut form);
        Some(Launch {
            inputs: form.inputs,
            problems: form.problems,
            made: vec![packet, kernarg],
        })
    }
}

impl<'a> Dispatch<'a> {
    fn ask(form: &mut Form<'_>, said: Said, kernel: &'a Kernel, gpu: &Processor) -> Self {
        let choices = PROFILES.iter().map(|profile| Choice {
            key: profile.key.into(),
            label: profile.label.into(),
            unavailable: None,
        });
        let choices = choices.collect();
        let ask = |key, label, group, note: &str| Ask {
            key,
            label,
            group,
            note: note.into(),
        };
        let runtime = ask(
            "profile",
            "Runtime",
            "GPU",
            "whose header and setup: hip 0x1502 and 3, as ROCm's logs have it (0xb02, fences of the device alone, where others follow); \
             hsa 0x1402 and the grid's dimensions",
        );
        let profile = &PROFILES[form.choice(runtime, choices, 0, |_| None)];
        let grid = ask(
            "grid",
            "Grid",
            "Launch",
            "workgroups, as HIP counts; the packet has work-items",
        );
        let grid = form.dimensions(grid, Some([1; 3])).unwrap_or([1; 3]);
        let block = ask_block(form, kernel, &said);
        let items = ask(
            "grid_items",
            "Grid in work-items",
            "Launch",
            "instead of the grid, as OpenCL counts: the last workgroups can be partial ones",
        );
        let items = form.dimensions(items, None);
        if items.is_some() && form.typed("grid").is_some() {
            form.note("grid", "grid_items counts, not the grid");
        }
        let whole = [0, 1, 2].map(|axis: usize| grid[axis].saturating_mul(block[axis]));
        let dynamic = ask_shared(form, gpu, kernel.group_segment.unwrap_or(0));
        Self {
            kernel,
            said,
            profile,
            block,
            items: items.unwrap_or(whole),
            items_from: match items {
                Some(_) => "grid_items",
                None => "grid",
            },
            dynamic,
        }
    }

    /// Dimensions of the grid.
    fn dimensions(&self) -> u64 {
        let used = match self.items {
            [_, 0 | 1, 0 | 1] if self.block[1..] == [1, 1] => 1,
            [_, _, 0 | 1] if self.block[2] == 1 => 2,
            _ => 3,
        };
        self.profile.dimensions.max(used)
    }

    /// Whole workgroups along an axis, and the work-items of the partial one.
    fn groups(&self, axis: usize) -> (u64, u64) {
        let (items, size) = (self.items[axis], self.block[axis].max(1));
        (items / size, items % size)
    }

    /// LDS of a workgroup.
    fn lds(&self) -> u64 {
        let fixed = u64::from(self.kernel.group_segment.unwrap_or(0));
        self.dynamic.saturating_add(fixed)
    }

    /// Says what is wrong with the grid, and with what the kernel needs of the GPU.
    fn check(&self, form: &mut Form<'_>, gpu: &Processor) {
        for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
            let items = self.items[axis];
            if items == 0 && self.block[axis] > 0 {
                form.error(
                    self.items_from,
                    format!("the grid has nothing along {letter}"),
                );
            } else if items > u32::MAX.into() {
                let message = format!(
                    "{items} work-items along {letter} are more than the packet's 32 bits hold"
                );
                form.error(self.items_from, message);
            } else if (1..self.block[axis]).contains(&items) {
                // hsa.h says so of each size of the grid.
                let message = format!(
                    "the grid has {items} work-items along {letter}, fewer than a workgroup, which has {}",
                    self.block[axis]
                );
                form.error(self.items_from, message);
            }
            let (whole, rest) = self.groups(axis);
            if rest > 0 && self.said.is_uniform {
                let message = format!(
                    "{rest} work-items are left along {letter}: the kernel was built for whole workgroups"
                );
                form.error(self.items_from, message);
            }
            let groups = whole.saturating_add((rest > 0).into());
            if let Some(most) = self.said.most[axis].filter(|most| groups > *most) {
                let message = format!(
                    "the kernel takes {most} workgroups along {letter} at most; these are {groups}"
                );
                form.error(self.items_from, message);
            }
        }
        check_scratch(form, self.kernel, gpu);
        if self.said.has_dynamic_stack {
            form.note(
                "gpu",
                "the kernel's stack has no size that is known: runtimes make private_segment_size larger",
            );
        }
        if product(self.block) > 0 && self.kernel.descriptor_span.size == 0 {
            form.note(
                "gpu",
                "the file does not have the kernel's descriptor: its sizes are 0",
            );
        }
    }

    /// The bytes of the descriptor from `at` on that say a size.
    fn descriptor(&self, at: [u64; 2]) -> Option<Span> {
        let span = self.kernel.descriptor_span;
        // Code object V2 has an amd_kernel_code_t there.
        let at = match span.size {
            0 => return None,
            256 => at[1],
            _ => at[0],
        };
        Some(Span::new(span.offset + at, 4))
    }

    fn packet(&self, form: &mut Form<'_>, inputs: &Inputs) -> Made {
        let mut packet = Packet {
            bytes: vec![0; SIZE],
            origins: Vec::new(),
            slots: Vec::new(),
        };
        let profile = || origin(OriginKind::Profile, self.profile.source, None);
        let of_launch = |source| origin(OriginKind::Launch, source, None);
        let specified = origin(OriginKind::Profile, "HSA: a kernel dispatch", None);
        packet.put(
            form,
            "type",
            super::aql::KERNEL_DISPATCH.into(),
            "",
            specified,
        );
        packet.put(form, "barrier", self.profile.barrier, "", profile());
        for fence in ["scacquire_fence_scope", "screlease_fence_scope"] {
            packet.put(form, fence, self.profile.fences, "", profile());
        }
        let dimensions = match self.profile.dimensions {
            0 => of_launch(self.items_from),
            _ => profile(),
        };
        packet.put(form, "dimensions", self.dimensions(), "", dimensions);
        for (axis, name) in WORKGROUP_SIZES.into_iter().enumerate() {
            packet.put(form, name, self.block[axis], "block", of_launch("block"));
        }
        let source = match self.items_from {
            "grid" => "grid × block",
            other => other,
        };
        for (axis, name) in GRID_SIZES.into_iter().enumerate() {
            // That it does not fit is said already.
            let items = self.items[axis].min(u32::MAX.into());
            packet.put(form, name, items, self.items_from, of_launch(source));
        }
        let scratch = self.kernel.private_segment.unwrap_or(0).into();
        let of_file = |source, at| origin(OriginKind::File, source, self.descriptor(at));
        let source = of_file("the kernel's descriptor", [4, 60]);
        packet.put(form, "private_segment_size", scratch, "gpu", source);
        let source = match self.dynamic {
            0 => of_file("the kernel's descriptor", [0, 64]),
            _ => Origin {
                place: self.descriptor([0, 64]),
                ..of_launch("shared + the kernel's descriptor")
            },
        };
        packet.put(form, "group_segment_size", self.lds(), "shared", source);
        for (field, key, label, note, align) in [
            (
                "kernel_object",
                "object",
                "Kernel object",
                "address of the kernel's descriptor once it is loaded",
                64,
            ),
            (
                "kernarg_address",
                "kernarg",
                "Kernarg segment",
                "address of the arguments",
                16,
            ),
            (
                "completion_signal",
                "signal",
                "Completion signal",
                "handle of the signal that is counted down at the end; 0 for none",
                64,
            ),
        ] {
            let ask = Ask {
                key,
                label,
                group: "Addresses",
                note: format!("{note}, a multiple of {align}"),
            };
            let value = form.address(ask);
            if value.is_some_and(|value| !value.is_multiple_of(align)) {
                form.error(key, format!("it is no multiple of {align}"));
            } else if field == "kernel_object" && value == Some(0) {
                form.error(key, "there is no kernel at 0");
            }
            packet.slot(form, field, key, label, value);
        }
        for (key, text) in inputs.iter() {
            let Some(field) = key.strip_prefix("set.").filter(|_| !text.is_empty()) else {
                continue;
            };
            let ask = Ask {
                key,
                label: field,
                group: "Fields",
                note: "the value of this field alone".into(),
            };
            let kind = tables::AQL_DISPATCH.field(field).map(|field| field.kind);
            if let Some(value) = form.field(ask, kind) {
                packet.put(form, field, value, key, origin(OriginKind::Set, key, None));
                // A value that only run time knows is known then.
                let slots = packet.slots.iter_mut();
                let slots = slots.filter(|slot| slot.parts.iter().any(|part| part.field == field));
                slots.for_each(|slot| slot.value = Some(format!("0x{value:x}")));
            }
        }
        packet.check(form);
        packet.made()
    }

    /// What a hidden argument has by the launch, and who says so.
    fn hidden(&self, kind: &str) -> Option<(u64, OriginKind, &'static str)> {
        let (name, axis) = kind.strip_prefix("hidden_")?.rsplit_once('_')?;
        let axis = match axis {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            _ => 3,
        };
        let (value, source) = match (name, axis) {
            ("block_count", 0..=2) => (self.groups(axis).0, self.items_from),
            ("group_size", 0..=2) => (self.block[axis], "block"),
            ("remainder", 0..=2) => (self.groups(axis).1, self.items_from),
            ("global_offset", 0..=2) => (0, "a grid that begins at 0"),
            ("grid", 3) if kind == "hidden_grid_dims" => match self.profile.dimensions {
                0 => (self.dimensions(), self.items_from),
                _ => return Some((self.dimensions(), OriginKind::Profile, self.profile.source)),
            },
            ("dynamic_lds", 3) => (self.dynamic, "shared"),
            _ => return None,
        };
        Some((value, OriginKind::Launch, source))
    }

    fn kernarg(&self, form: &mut Form<'_>) -> Made {
        let kernel = self.kernel;
        let size = kernarg::size(kernel);
        if size > SEGMENT {
            let message = format!("the kernarg segment has {size} bytes; {SEGMENT} are shown");
            form.note("kernarg", message);
        }
        let mut bytes = vec![0; size.min(SEGMENT) as usize];
        let mut places = kernarg::places(kernel);
        if kernel.args.is_none() {
            // One place, of all that is shown.
            let places = places.iter_mut();
            places.for_each(|place| place.size = place.size.min(SEGMENT as u32));
        }
        for (number, argument) in (0..).zip(kernel.args.iter().flatten()) {
            if argument.size > 0 && argument.end() > size {
                let message = format!(
                    "{} bytes at 0x{:x} lie outside the kernarg segment, which has {size}",
                    argument.size, argument.offset
                );
                form.error(&key(number, argument, form), message);
            }
        }
        places.retain(|place| u64::from(place.at) + u64::from(place.size) <= SEGMENT);
        let mut slots = Vec::new();
        let mut origins = Vec::with_capacity(places.len());
        let mut texts = Vec::with_capacity(places.len());
        for place in &places {
            let at = place.at as usize;
            let room = &mut bytes[at..at + place.size as usize];
            let (origin, text) = self.argument(form, place, room, &mut slots);
            origins.push(origin);
            texts.push(text);
        }
        let mut record = kernarg::written(kernel, &places, &bytes);
        for (field, text) in record.fields.iter_mut().zip(texts) {
            let said = field.meaning.take();
            let parts = said.into_iter().chain(text).collect::<Vec<_>>();
            field.meaning = (!parts.is_empty()).then(|| parts.join(" · "));
        }
        let said: Vec<String> = form
            .problems
            .iter()
            .map(|problem| problem.input.clone())
            .collect();
        for (key, _) in form.unasked() {
            if said.iter().any(|said| said == key) {
                // Of an argument outside the segment.
            } else if key.starts_with("arg") || key.starts_with("hidden.") {
                form.error(key, "the kernel has no such argument");
            } else {
                form.note(key, "a dispatch of this kernel is not asked for it");
            }
        }
        Made {
            key: "kernarg".into(),
            title: record.name.clone(),
            record,
            bytes,
            origins,
            slots,
        }
    }

    /// Writes what lies at `place`, and says where it comes from, and what was typed.
    fn argument(
        &self,
        form: &mut Form<'_>,
        place: &Place,
        room: &mut [u8],
        slots: &mut Vec<Slot>,
    ) -> (Origin, Option<String>) {
        let arguments = self.kernel.args.as_deref().unwrap_or_default();
        let argument = place.argument.and_then(|number| arguments.get(number));
        let argument = argument.zip(place.argument);
        // Without metadata all of the segment is one place, whatever lies there.
        let is_all = self.kernel.args.is_none();
        if argument.is_none() && !is_all {
            return (origin(OriginKind::Unset, "", None), None);
        }
        let place_in_file = argument.and_then(|(argument, _)| argument.span.some());
        let kind = argument.map_or("", |(argument, _)| argument.kind.as_str());
        if kind == "hidden_none" {
            return (origin(OriginKind::Unset, "", place_in_file), None);
        }
        let is_hidden = argument.is_some_and(|(argument, _)| argument.is_hidden());
        let is_pointer = kernarg::kind(kind).is_some_and(|kind| kind.is_address);
        let known = is_hidden.then(|| self.hidden(kind)).flatten();
        let key = match argument {
            Some((argument, number)) => key(number, argument, form),
            None => "arg0".into(),
        };
        // The metadata lists an argument, it does not have its value.
        let listed = |what, source: &str| match place_in_file {
            Some(_) => origin(
                what,
                &format!("{source}, listed in the metadata"),
                place_in_file,
            ),
            None => origin(what, source, None),
        };
        let is_digits = is_pointer && place.size == 8;
        let note = match (is_hidden, is_digits) {
            _ if is_all => "raw:HEX in the order of memory, all of them",
            (true, false) => place.note,
            (true, true) => "an address, hexadecimal with 0x or without",
            (false, true) => {
                "an address, hexadecimal with 0x or without; else TYPE:VALUE, such as u64:4096"
            }
            (false, false) => crate::typed::NOTE,
        };
        let ask = Ask {
            key: &key,
            label: &place.name,
            group: if is_hidden {
                "Hidden arguments"
            } else {
                "Parameters"
            },
            note: format!("{} bytes at 0x{:x}. {note}", place.size, place.at),
        };
        let shown = known.map(|(value, ..)| value.to_string());
        let text = form.ask(ask, InputKind::Text, shown.unwrap_or_default());
        // A pointer whose address is still to come: the type alone.
        let text = text.filter(|text| text.trim_end_matches(':') != "ptr");
        let given = match text {
            Some(digits) if is_digits && !digits.contains(':') => {
                form.value(&key, Some(&format!("ptr:{digits}")), room.len())
            }
            text => form.value(&key, text, room.len()),
        };
        let said = given.is_some().then(|| text.unwrap_or_default().to_owned());
        if let Some(bytes) = &given {
            room.copy_from_slice(bytes);
        } else if let Some((value, what, source)) = known {
            let width = room.len().min(8);
            room[..width].copy_from_slice(&value.to_le_bytes()[..width]);
            if width < 8 && value >> (8 * width) != 0 {
                let message = format!("{}: {value} does not fit into {width} bytes", place.name);
                form.error(source, message);
            }
            return (listed(what, source), None);
        }
        let is_address = is_pointer || text.is_some_and(|text| text.starts_with("ptr:"));
        if given.is_some() && !is_address {
            return (listed(OriginKind::Launch, &key), said);
        }
        let lsb = place.at * 8;
        slots.push(Slot {
            value: given.as_deref().map(hexadecimal),
            ..slot(
                &key,
                &place.name,
                None,
                &place.name,
                [lsb + place.size * 8 - 1, lsb],
            )
        });
        let origin = Origin {
            is_open: given.is_none(),
            ..listed(OriginKind::Slot, &key)
        };
        (origin, said)
    }
}

/// What an argument is typed for: `arg0`, or by its kind, of which the metadata's own word can be typed too.
fn key(number: usize, argument: &Argument, form: &Form<'_>) -> String {
    if !argument.is_hidden() {
        return format!("arg{number}");
    }
    let whole = format!("hidden.{}", argument.kind);
    match form.typed(&whole) {
        Some(_) => whole,
        None => format!("hidden.{}", argument.kind.trim_start_matches("hidden_")),
    }
}

/// Bytes, the lowest first, as a number.
fn hexadecimal(bytes: &[u8]) -> String {
    let bytes: Vec<u8> = bytes.iter().rev().copied().collect();
    let digits = crate::record::hex(&bytes);
    let digits = digits.trim_start_matches('0');
    format!("0x{}", if digits.is_empty() { "0" } else { digits })
}

/// A packet that is being written.
struct Packet {
    bytes: Vec<u8>,
    origins: Vec<(String, Origin)>,
    slots: Vec<Slot>,
}

impl Packet {
    /// Writes `value` to the field called `name`; where it does not fit, `input` is what is wrong.
    fn put(&mut self, form: &mut Form<'_>, name: &str, value: u64, input: &str, origin: Origin) {
        match tables::AQL_DISPATCH.write(&mut self.bytes, name, value) {
            Ok(()) => {
                self.origins.retain(|(known, _)| known != name);
                self.origins.push((name.into(), origin));
            }
            Err(error) => form.error(input, format!("{name}: {error}")),
        }
    }

    /// Writes what only run time knows; bits are left 0 while `value` is open.
    fn slot(
        &mut self,
        form: &mut Form<'_>,
        name: &str,
        input: &str,
        label: &str,
        value: Option<u64>,
    ) {
        let origin = Origin {
            is_open: value.is_none(),
            ..origin(OriginKind::Slot, input, None)
        };
        self.put(form, name, value.unwrap_or(0), input, origin);
        if let Some(field) = tables::AQL_DISPATCH.field(name) {
            let bits = [field.lsb + field.bits - 1, field.lsb];
            self.slots.push(slot(input, label, value, name, bits));
        }
    }

    /// Says of fields that were typed alone what would be found in the packet if somebody dumped it.
    fn check(&self, form: &mut Form<'_>) {
        let mut findings = Diagnostics::default();
        super::aql::check(&self.bytes, 0, &mut findings);
        for finding in findings.iter() {
            let context = finding.context.as_deref().unwrap_or_default();
            let field = context.rsplit(", ").next().unwrap_or_default();
            let key = format!("set.{field}");
            if form.typed(&key).is_some() {
                form.note(&key, finding.message.clone());
            }
        }
    }

    fn made(self) -> Made {
        let title = "AQL packet";
        let record = Record::made(&tables::AQL_DISPATCH, title, &self.bytes);
        let origins = record.fields.iter().map(|field| {
            let mut all = self.origins.iter();
            let found = all.find(|(known, _)| *known == field.name);
            found.map_or_else(
                || origin(OriginKind::Unset, "", None),
                |(_, origin)| origin.clone(),
            )
        });
        Made {
            key: "packet".into(),
            title: title.into(),
            origins: origins.collect(),
            record,
            bytes: self.bytes,
            slots: self.slots,
        }
    }
}
