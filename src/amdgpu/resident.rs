//! How many workgroups of a kernel a compute unit holds at once, for the launch and the GPU that are asked about.
//!
//! The kernel's own numbers and those of its GPU are in [`super::occupancy`], as LLVM counts them by SIMD; here it is the
//! compute unit, or the WGP, that is filled with whole workgroups.

use super::occupancy::{Needs, Room, has_wgp};
use super::registers::{Registers, Unit};
use super::target::Target;
use super::value::Value;
use super::{CodeObject, Kernel, Processor, runs, tables};
use crate::compatibility::Answer;
use crate::launch::{Ask, Choice, Form, Inputs, shown};
use crate::occupancy::{BESIDE, Chart, Fact, Limit, OccupancyAnswer};
use crate::order;
use crate::span::Span;

/// Work-items of a workgroup, at most.
pub(super) const WORKGROUP: u64 = super::aql::WORKGROUP;

const LLVM: &str = "LLVM 22, AMDGPU IsaInfo";

/// What the metadata says of a kernel's launches.
#[derive(Default)]
pub(super) struct Said {
    /// The workgroup that it must have, and the bytes that say so.
    pub required: Option<([u64; 3], Span)>,
    /// Whether the grid has to be a multiple of the workgroup.
    pub is_uniform: bool,
    /// Whether its stack has no size that is known.
    pub has_dynamic_stack: bool,
    /// Workgroups of the grid along each axis, at most.
    pub most: [Option<u64>; 3],
}

impl CodeObject {
    /// What the metadata says of launches of `kernel`.
    pub(super) fn said(&self, kernel: &Kernel) -> Said {
        let metadata = self.metadata.as_ref();
        let described = metadata.map(super::Metadata::by_kernel).unwrap_or_default();
        let Some(description) = described.get(kernel.name.as_bytes()) else {
            return Said::default();
        };
        let is_set = |key: &str| {
            let value = description.get(key, "");
            value.is_some_and(|value| value.flag() == Some(true) || value.number() == Some(1))
        };
        let most = |key: &str| description.get(key, "").and_then(Value::number);
        let required = description.size_of_workgroup();
        Said {
            // 0, 0, 0 stands for any.
            required: required
                .filter(|(_, sizes)| *sizes != [0; 3])
                .map(|(value, sizes)| (sizes, value.span)),
            is_uniform: is_set(".uniform_work_group_size"),
            has_dynamic_stack: is_set(".uses_dynamic_stack"),
            most: [
                most(".max_num_workgroups_x"),
                most(".max_num_workgroups_y"),
                most(".max_num_workgroups_z"),
            ],
        }
    }

    /// Asks for the GPU. Those that the code runs on come first; `None` if the table has none, which it has.
    pub(super) fn ask_gpu(&self, form: &mut Form<'_>) -> Option<&'static Processor> {
        let known = tables::PROCESSORS.iter();
        let known = known.filter(|known| !known.is_generic() && !known.descriptor.is_empty());
        let mut known: Vec<&'static Processor> = known.collect();
        let runs = |gpu: &Processor| self.processor.is_some_and(|own| own.runs_on(gpu.name));
        // gfx906 is before gfx1010.
        let rank = |gpu: &Processor| (!runs(gpu), gpu.name.len(), gpu.name);
        order::arrange_by(&mut known, |a, b| rank(a).cmp(&rank(b)));
        let choices = known.iter().map(|gpu| {
            let mut label = String::from(gpu.name);
            let names = units_of(gpu).map(|(name, _)| name);
            let products = tables::PRODUCTS.name(gpu.mach.into()).unwrap_or_default();
            let others = products.split(", ").filter(|name| !name.is_empty());
            let others = others.take(if units_of(gpu).next().is_some() { 0 } else { 2 });
            for (at, name) in names.chain(others).enumerate() {
                label.push_str(if at == 0 { " · " } else { ", " });
                label.push_str(name);
            }
            Choice {
                key: gpu.name.into(),
                label,
                unavailable: None,
            }
        });
        let choices = choices.collect();
        let find = |typed: &str| {
            let gpu = runs::gpu(typed)?.processor;
            known.iter().position(|known| known.name == gpu.name)
        };
        let ask = Ask {
            key: "gpu",
            label: "GPU",
            group: "GPU",
            note: "processor; those that the code runs on come first".into(),
        };
        let gpu = *known.get(form.choice(ask, choices, 0, find))?;
        if self.processor.is_none() {
            form.note("gpu", "the file names no processor that is known");
        } else if let Some(found) = self.runs_on(gpu.name).map(|gpu| gpu.runs) {
            match found.answer {
                Answer::Yes | Answer::Jit => {}
                Answer::No => {
                    let message = format!("the code does not run there: {}", found.reason);
                    form.note("gpu", message);
                }
                Answer::Depends => form.note("gpu", found.reason),
            }
        }
        Some(gpu)
    }

    /// How many workgroups of the kernel of that index a compute unit holds at once. The inputs are `gpu`, `units` (CUs of
    /// the GPU), `block`, `grid`, `shared` (dynamic LDS), `registers` (vector) and, where they count, `sgprs`.
    pub fn occupancy(&self, kernel: usize, inputs: &Inputs) -> Option<OccupancyAnswer> {
        let kernel = self.kernels.get(kernel)?;
        let said = self.said(kernel);
        let mut form = Form::new(inputs);
        let gpu = self.ask_gpu(&mut form)?;
        let units = ask_units(&mut form, gpu);
        let block = ask_block(&mut form, kernel, &said);
        let ask = Ask {
            key: "grid",
            label: "Grid",
            group: "Launch",
            note: "workgroups of the grid; with them it is worked out how often all compute units are filled".into(),
        };
        let grid = form.dimensions(ask, None);
        if grid.is_some_and(|grid| grid.contains(&0)) {
            form.error("grid", "a grid has one workgroup at least");
        }
        let fixed = kernel.group_segment.unwrap_or(0);
        let dynamic = ask_shared(&mut form, gpu, fixed);
        let asked = Asked::new(self, kernel, gpu, &mut form, product(block), fixed, dynamic)?;
        asked.check(&mut form);
        let has_scratch = check_scratch(&mut form, kernel, gpu);
        for (key, message) in [
            (
                "sgprs",
                "scalar registers suffice for all waves of this GPU",
            ),
            ("barriers", "only NVIDIA's GPUs are asked for it"),
        ] {
            let is_asked = form.inputs.iter().any(|input| input.key == key);
            if !is_asked && form.typed(key).is_some() {
                form.note(key, message);
            }
        }

        let room = asked.room()?;
        let held = asked.held();
        let least = held.least();
        let is_possible = least > 0 && has_scratch && !form.has_errors_beside(&BESIDE);
        let waves = asked.needs.waves_of(asked.needs.workgroup);
        let groups_of_gpu = |units: u64| f64::from(least) * units as f64 / asked.cus() as f64;
        let grid_waves = match (grid, units) {
            (Some(grid), Some(units @ 1..)) if is_possible && !form.has_errors_beside(&[]) => {
                Some(product(grid) as f64 / groups_of_gpu(units))
            }
            _ => None,
        };
        Some(OccupancyAnswer {
            unit: asked.unit(),
            group: "workgroup",
            wave: "wave",
            groups: is_possible.then_some(least),
            waves: is_possible.then(|| least * waves),
            most_waves: room.most * room.simds,
            limits: asked.limits(&held)?,
            grid_waves,
            charts: asked.charts(),
            facts: asked.facts()?,
            inputs: form.inputs,
            problems: form.problems,
        })
    }
}

/// Products of a processor with their compute units.
fn units_of(gpu: &Processor) -> impl Iterator<Item = (&'static str, u64)> {
    let products = tables::COMPUTE_UNITS.name(gpu.mach.into());
    let products = products.unwrap_or_default().split(", ");
    products.filter_map(|product| {
        let (name, units) = product.rsplit_once(' ')?;
        Some((name, units.parse().ok()?))
    })
}

/// Compute units of the product that `typed` names a part of: of the shortest name that has it, so that an RX 6800 is no
/// RX 6800 XT. Of a target ID the first product's count; `None` where the table has no number of a product.
fn units(gpu: &Processor, typed: Option<&str>) -> Option<u64> {
    let typed = typed.filter(|typed| Target::named(typed).is_none());
    let Some(typed) = typed.map(str::to_lowercase) else {
        return units_of(gpu).next().map(|(_, units)| units);
    };
    // LLVM calls some of them accelerators.
    let plain = |name: &'static str| name.trim_end_matches(" Accelerator");
    let products = runs::products(gpu).split(", ").map(plain);
    let names = units_of(gpu).map(|(name, _)| name).chain(products);
    let typed = typed.trim_end_matches(" accelerator");
    let names = names.filter(|name| name.to_lowercase().contains(typed));
    let product = names.min_by_key(|name| name.len());
    match product {
        Some(product) => units_of(gpu).find(|(name, _)| *name == product),
        // What was typed was no GPU; the one that counts is another one.
        None => units_of(gpu).next(),
    }
    .map(|(_, units)| units)
}

fn ask_units(form: &mut Form<'_>, gpu: &Processor) -> Option<u64> {
    let mut note = String::from("compute units of the GPU");
    for (name, units) in units_of(gpu) {
        note.push_str(&format!("; {name}: {units}"));
    }
    let ask = Ask {
        key: "units",
        label: "CUs",
        group: "GPU",
        note,
    };
    let default = units(gpu, form.typed("gpu"));
    let units = form.number(ask, default);
    if units == Some(0) {
        form.error("units", "a GPU has one compute unit at least");
    }
    units
}

/// Asks for the workgroup, and says what is wrong with it.
pub(super) fn ask_block(form: &mut Form<'_>, kernel: &Kernel, said: &Said) -> [u64; 3] {
    let most = kernel.max_threads.clamp(1, WORKGROUP);
    let required = said.required.map(|(sizes, _)| sizes);
    // 1024 is what compilers write where nothing is said.
    let default = match (required, most) {
        (Some(sizes), _) => sizes,
        (None, WORKGROUP) => [256, 1, 1],
        (None, most) => [most, 1, 1],
    };
    let note = match required {
        Some(_) => "work-items of a workgroup; the kernel must have these".into(),
        None => format!("work-items of a workgroup, {most} at most"),
    };
    let ask = Ask {
        key: "block",
        label: "Workgroup",
        group: "Launch",
        note,
    };
    let block = form.dimensions(ask, Some(default)).unwrap_or(default);
    let items = product(block);
    if items == 0 {
        form.error("block", "a workgroup has one work-item at least");
    } else if let Some(required) = required.filter(|required| *required != block) {
        let required = shown(required);
        form.error(
            "block",
            format!("the kernel must have workgroups of {required}"),
        );
    } else if items > most {
        form.error(
            "block",
            format!("a workgroup of the kernel has {most} work-items at most; these are {items}"),
        );
    }
    block
}

/// Asks for the LDS that the launch adds to `fixed` bytes, and says what is wrong with it.
pub(super) fn ask_shared(form: &mut Form<'_>, gpu: &Processor, fixed: u32) -> u64 {
    let ask = Ask {
        key: "shared",
        label: "Dynamic LDS",
        group: "Launch",
        note: "bytes of a workgroup, besides those that the kernel has".into(),
    };
    let dynamic = form.number(ask, Some(0)).unwrap_or(0);
    let (all, most) = (dynamic.saturating_add(fixed.into()), gpu.lds_limit());
    if u64::from(fixed) > most {
        form.error(
            "gpu",
            format!(
                "a workgroup can have {most} bytes of LDS on {}; the kernel has {fixed}",
                gpu.name
            ),
        );
    } else if all > most {
        form.error(
            "shared",
            format!(
                "a workgroup can have {most} bytes of LDS on {}; these are {all}",
                gpu.name
            ),
        );
    }
    dynamic
}

/// Whether waves of `kernel` have 32 lanes on `gpu`. Where it has none of the kernel's size they are of the one that it has.
pub(super) fn has_wave32(kernel: &Kernel, gpu: &Processor) -> bool {
    gpu.wave32 && (kernel.wave32.unwrap_or(gpu.wave_size == 32) || !gpu.wave64)
}

/// Says what is wrong with the scratch that `kernel` needs of `gpu`, and whether it has it.
pub(super) fn check_scratch(form: &mut Form<'_>, kernel: &Kernel, gpu: &Processor) -> bool {
    let lanes = if has_wave32(kernel, gpu) { 32 } else { 64 };
    let scratch = u64::from(kernel.private_segment.unwrap_or(0));
    let most = gpu.scratch_limit(lanes);
    if scratch > most {
        let message = format!(
            "a work-item needs {scratch} bytes of scratch; {} has {most} of waves of {lanes}",
            gpu.name
        );
        form.error("gpu", message);
    }
    scratch <= most
}

/// Asks for a number of registers; an error where the file does not say it and nothing is typed.
fn ask_registers(
    form: &mut Form<'_>,
    key: &'static str,
    label: &str,
    note: String,
    of_file: Option<u32>,
) -> u64 {
    let group = "Kernel";
    let ask = Ask {
        key,
        label,
        group,
        note,
    };
    let used = form.number(ask, of_file.map(u64::from));
    if used.is_none() {
        form.error(key, "the file does not say how many there are");
    }
    used.unwrap_or(0)
}

/// How many there are of three sizes.
pub(super) fn product(sizes: [u64; 3]) -> u64 {
    sizes.into_iter().fold(1, u64::saturating_mul)
}

/// LDS that is more than any processor has, and that can still be counted with.
const TOO_MUCH: u64 = 1 << 24;

/// A number as 32 bits; more than anything holds where it does not fit.
fn narrow(number: u64) -> u32 {
    number.min(TOO_MUCH) as u32
}

/// What is launched, on what.
struct Asked<'a> {
    gpu: &'static Processor,
    kernel: &'a Kernel,
    needs: Needs,
    /// Scalar registers of a wave, before they are rounded.
    sgprs: u32,
    fixed: u32,
    dynamic: u32,
}

/// Workgroups that each resource suffices for; `None` where it does not limit.
struct Held {
    vgprs: Option<u32>,
    sgprs: Option<u32>,
    lds: Option<u32>,
    waves: u32,
    workgroups: Option<u32>,
}

impl Held {
    fn least(&self) -> u32 {
        let all = [self.vgprs, self.sgprs, self.lds, self.workgroups];
        all.into_iter().flatten().fold(self.waves, u32::min)
    }
}

impl<'a> Asked<'a> {
    fn new(
        object: &CodeObject,
        kernel: &'a Kernel,
        gpu: &'static Processor,
        form: &mut Form<'_>,
        items: u64,
        fixed: u32,
        dynamic: u64,
    ) -> Option<Self> {
        let unit = Unit::of(gpu)?;
        let wave32 = has_wave32(kernel, gpu);
        // The words count as the processor has it that the code is for; where the file names none, as the GPU has it.
        let own = object
            .registers(kernel)
            .or_else(|| Registers::decode(gpu, kernel.rsrc1?, kernel.rsrc3, wave32));
        let vgprs_of_file = own.map(|own| own.vgprs).or(kernel.vgprs_used);
        // From gfx10 on descriptors do not count scalar registers, but metadata does.
        let is_counted = object
            .processor
            .and_then(Unit::of)
            .is_none_or(|unit| unit.sgprs > 0);
        let sgprs_of_file = own
            .filter(|_| is_counted)
            .map(|own| own.sgprs)
            .or(kernel.sgprs_used);
        let own = own.unwrap_or_default();
        let lane = format!(
            "of a lane, {} at most, accumulation registers included",
            vgprs(gpu)
        );
        let used = ask_registers(form, "registers", "Vector registers", lane, vgprs_of_file);
        let mut sgprs = sgprs_of_file.unwrap_or(0);
        if unit.sgprs > 0 {
            let wave = format!(
                "of a wave, {} at most, VCC and the like included",
                sgprs_of_wave(unit)
            );
            let used = ask_registers(form, "sgprs", "Scalar registers", wave, sgprs_of_file);
            sgprs = narrow(used);
        }
        let mut asked = Self {
            gpu,
            kernel,
            needs: Needs {
                registers: Registers {
                    allocated_sgprs: sgprs.next_multiple_of(unit.sgpr_granule),
                    ..own
                },
                used_vgprs: None,
                used_sgprs: None,
                wave32,
                wgp_mode: kernel.has_wgp_mode(),
                dynamic_vgprs: kernel.has_dynamic_vgprs(gpu),
                lds: 0,
                workgroup: narrow(items),
            },
            sgprs,
            fixed,
            dynamic: narrow(dynamic),
        };
        asked.needs = asked.with_vgprs(narrow(used));
        asked.needs = asked.with_lds(asked.dynamic);
        if kernel.wave32.is_some_and(|own| own != wave32) {
            let lanes = if wave32 { 32 } else { 64 };
            form.note(
                "gpu",
                format!("waves of {lanes} lanes count: it has no others"),
            );
        }
        Some(asked)
    }

    fn with_vgprs(&self, vgprs: u32) -> Needs {
        let unit = Unit::of(self.gpu);
        let granule = unit.map_or(1, |unit| {
            Unit::share(self.gpu, self.needs.wave32, unit.vgpr_granule)
        });
        let mut needs = self.needs;
        needs.registers.vgprs = vgprs;
        needs.registers.allocated_vgprs = vgprs.next_multiple_of(granule.max(1));
        needs
    }

    fn with_lds(&self, dynamic: u32) -> Needs {
        Needs {
            lds: narrow(u64::from(self.fixed) + u64::from(dynamic)),
            ..self.needs
        }
    }

    fn room(&self) -> Option<Room> {
        Room::of(self.gpu, &self.needs)
    }

    /// Compute units that hold workgroups together.
    fn cus(&self) -> u64 {
        match has_wgp(self.gpu) && self.needs.wgp_mode {
            true => 2,
            false => 1,
        }
    }

    fn unit(&self) -> &'static str {
        match self.cus() {
            2 => "WGP",
            _ => "CU",
        }
    }

    fn held(&self) -> Held {
        self.held_of(&self.needs)
    }

    /// Workgroups that a compute unit holds if they need `needs`.
    fn held_of(&self, needs: &Needs) -> Held {
        let waves = needs.waves_of(needs.workgroup).max(1);
        let Some(room) = Room::of(self.gpu, needs) else {
            return Held {
                vgprs: None,
                sgprs: None,
                lds: None,
                waves: 0,
                workgroups: None,
            };
        };
        let of_simds = |parts: u32| parts.saturating_mul(room.simds) / waves;
        let vgprs = match needs.registers.vgprs > vgprs(self.gpu) {
            true => 0,
            false => of_simds(room.vgprs.parts()),
        };
        let is_too_large = u64::from(needs.workgroup) > WORKGROUP;
        let is_too_much = u64::from(needs.lds) > self.gpu.lds_limit();
        let lds = if is_too_much { 0 } else { room.lds.parts() };
        Held {
            vgprs: (!needs.dynamic_vgprs).then_some(vgprs),
            sgprs: room.sgprs.as_ref().map(|sgprs| of_simds(sgprs.parts())),
            lds: (needs.lds > 0).then_some(lds),
            waves: match is_too_large {
                true => 0,
                false => room.most * room.simds / waves,
            },
            workgroups: (waves > 1).then_some(room.barriers),
        }
    }

    /// Says what is wrong with registers.
    fn check(&self, form: &mut Form<'_>) {
        let most = vgprs(self.gpu);
        let held = self.held();
        if self.needs.registers.vgprs > most && !self.needs.dynamic_vgprs {
            form.error(
                "registers",
                format!("a lane has {most} vector registers at most"),
            );
        } else if held.vgprs == Some(0) && u64::from(self.needs.workgroup) <= WORKGROUP {
            let waves = self.needs.waves_of(self.needs.workgroup);
            let room = self
                .room()
                .map_or(0, |room| room.vgprs.parts() * room.simds);
            form.error(
                "block",
                format!(
                    "a workgroup has {waves} waves; vector registers suffice for {room} at once"
                ),
            );
        }
        let unit = Unit::of(self.gpu).filter(|unit| unit.sgprs > 0);
        let most = unit.map_or(u32::MAX, sgprs_of_wave);
        if self.sgprs > most {
            form.error(
                "sgprs",
                format!("a wave has {most} scalar registers at most, VCC and the like included"),
            );
        } else if held.sgprs == Some(0) {
            form.error("sgprs", "they do not suffice for one workgroup");
        }
    }

    fn limits(&self, held: &Held) -> Option<Vec<Limit>> {
        let room = self.room()?;
        let least = held.least();
        let needs = &self.needs;
        let waves = needs.waves_of(needs.workgroup);
        let limit = |name, groups: Option<u32>, note| Limit {
            name,
            groups,
            is_limit: groups == Some(least),
            note,
        };
        let of_simd = |used: u32, total: u32, granule: u32, parts: u32| {
            format!(
                "{used} of a lane or wave, in steps of {granule}; a SIMD's {total} suffice for {parts} waves, {} SIMDs for {}, \
                 of which a workgroup has {waves}",
                room.simds,
                parts.saturating_mul(room.simds)
            )
        };
        let vgprs = match needs.dynamic_vgprs {
            true => "they are allocated as a wave runs".into(),
            false => of_simd(
                needs.registers.vgprs,
                room.vgprs.total,
                room.vgprs.granule,
                room.vgprs.parts(),
            ),
        };
        let mut limits = vec![limit("vector registers", held.vgprs, vgprs)];
        if let Some(sgprs) = &room.sgprs {
            let note = of_simd(
                needs.registers.allocated_sgprs,
                sgprs.total,
                sgprs.granule,
                sgprs.parts(),
            );
            limits.push(limit("scalar registers", held.sgprs, note));
        }
        limits.push(limit(
            "LDS",
            held.lds,
            format!(
                "{} bytes of the kernel + {} dynamic, in steps of {}: {} of {}",
                self.fixed, self.dynamic, room.lds.granule, room.lds.allocated, room.lds.total
            ),
        ));
        limits.push(limit(
            "waves",
            Some(held.waves),
            format!(
                "a workgroup of {} work-items has {waves}, {} SIMDs hold {} each",
                needs.workgroup, room.simds, room.most
            ),
        ));
        limits.push(limit(
            "workgroups",
            held.workgroups,
            match held.workgroups {
                Some(most) => format!("there are barriers for {most}"),
                None => "workgroups of one wave need no barrier".into(),
            },
        ));
        Some(limits)
    }

    fn charts(&self) -> Vec<Chart> {
        let most = self.kernel.max_threads.clamp(1, WORKGROUP);
        let resident = |needs: &Needs| match u64::from(needs.workgroup) > most {
            true => 0,
            false => self.held_of(needs).least() * needs.waves_of(needs.workgroup),
        };
        let lanes = if self.needs.wave32 { 32 } else { 64 };
        let blocks = (1..=WORKGROUP as u32 / lanes).map(|waves| waves * lanes);
        let limit = narrow(self.gpu.lds_limit());
        let room = limit.saturating_sub(self.fixed);
        // What a workgroup is given grows behind multiples of the granule: these, the ends, and where the launch is.
        let granule = Unit::of(self.gpu)
            .map_or(1024, |unit| unit.lds_granule)
            .max(1);
        let steps = (0..=limit / granule).map(|step| step * granule);
        let steps = steps.filter_map(|lds| lds.checked_sub(self.fixed));
        let mut shared: Vec<u32> = steps.chain([0, room, self.dynamic.min(room)]).collect();
        order::arrange(&mut shared, |bytes| u64::from(*bytes));
        shared.dedup();
        let block = |workgroup| Needs {
            workgroup,
            ..self.needs
        };
        let points = |values: &mut dyn Iterator<Item = u32>, with: &dyn Fn(u32) -> Needs| {
            values.map(|n| [n, resident(&with(n))]).collect()
        };
        vec![
            Chart {
                input: "block",
                label: "work-items of a workgroup",
                points: points(&mut { blocks }, &block),
                present: self.needs.workgroup,
            },
            Chart {
                input: "registers",
                label: "vector registers of a lane",
                points: points(&mut (1..=vgprs(self.gpu)), &|n| self.with_vgprs(n)),
                present: self.needs.registers.vgprs,
            },
            Chart {
                input: "shared",
                label: "bytes of dynamic LDS",
                points: points(&mut shared.into_iter(), &|n| self.with_lds(n)),
                present: self.dynamic,
            },
        ]
    }

    fn facts(&self) -> Option<Vec<Fact>> {
        let room = self.room()?;
        let fact = |name: &str, value: u64, source: &str| Fact {
            name: name.into(),
            value: value.to_string(),
            source: source.into(),
        };
        let lanes = if self.needs.wave32 { 32 } else { 64 };
        let mut facts = vec![
            fact(
                "lanes of a wave",
                lanes,
                match self.kernel.wave32 {
                    Some(own) if own == self.needs.wave32 => "the kernel's descriptor",
                    _ => "LLVM 22, features of the GPU",
                },
            ),
            fact("SIMDs of the unit", room.simds.into(), LLVM),
            fact("waves of a SIMD", room.most.into(), LLVM),
            fact(
                "vector registers of a SIMD, of a lane of this wave size",
                room.vgprs.total.into(),
                LLVM,
            ),
            fact(
                "vector registers are given in steps of",
                room.vgprs.granule.into(),
                LLVM,
            ),
            fact("vector registers of a lane", vgprs(self.gpu).into(), LLVM),
            fact("bytes of LDS of the unit", room.lds.total.into(), LLVM),
            fact("bytes of LDS of a workgroup", self.gpu.lds_limit(), LLVM),
            fact("LDS is given in steps of", room.lds.granule.into(), LLVM),
            fact("workgroups with barriers", room.barriers.into(), LLVM),
            fact(
                "bytes of LDS of the kernel",
                self.fixed.into(),
                "the kernel's descriptor",
            ),
        ];
        for (name, units) in units_of(self.gpu) {
            let name = format!("compute units of {name}");
            facts.push(fact(&name, units, "AMD's product specifications"));
        }
        if let Some(sgprs) = &room.sgprs {
            facts.push(fact("scalar registers of a SIMD", sgprs.total.into(), LLVM));
            let step = sgprs.granule.into();
            facts.push(fact("scalar registers are given in steps of", step, LLVM));
        }
        Some(facts)
    }
}

/// Vector registers that a lane can name: LLVM 22, `IsaInfo::getAddressableNumVGPRs`.
fn vgprs(gpu: &Processor) -> u32 {
    match gpu.descriptor {
        "gfx90a" => 512,
        "gfx125" => 1024,
        _ => 256,
    }
}

/// Scalar registers of a wave as descriptors count them, in steps of 8. From gfx8 on VCC, FLAT_SCRATCH and XNACK_MASK come
/// behind the 102 that have a number: LLVM 22, `IsaInfo::getAddressableNumSGPRs` and `getNumExtraSGPRs`.
fn sgprs_of_wave(unit: &Unit) -> u32 {
    const EXTRA: u32 = 6;
    match unit.sgprs_addressable {
        102 => (102 + EXTRA).next_multiple_of(8),
        all => all,
    }
}
