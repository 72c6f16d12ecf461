//! What a launch of a cubin's kernel hands to the GPU: the launch descriptor (QMD) and constant bank 0.
//!
//! What goes where is data (`tables/nvidia/launch.toml`): fields by what a launch has to say, and what the two profiles
//! write whatever the launch is. `rig` is what the project raven fixes for a launch like CUDA's; `cuda` what captures of
//! CUDA's launches show.

mod addresses;
mod bank;
mod draft;
mod gpu;
mod plan;
mod sizes;

pub use draft::{Constant, Place};
pub use gpu::Gpu;

use super::Cubin;
use crate::elf::Elf;
use crate::error::Severity;
use crate::launch::{Ask, Choice, Form, Inputs, Launch, Made};
use bank::Bank;
use draft::Draft;
use plan::Plan;

/// Constant banks of a launch, by the inputs that their addresses are typed for.
const BANKS: [&str; 8] = [
    "bank0", "bank1", "bank2", "bank3", "bank4", "bank5", "bank6", "bank7",
];
/// Releases of a launch, likewise.
const RELEASES: [&str; 2] = ["release0", "release1"];
const PROFILES: [&str; 2] = ["rig", "cuda"];
/// Inputs that a launch has no say without: where nobody types them something is assumed, and said to be.
const ASSUMED: [&str; 2] = ["grid", "block"];

fn multiple(value: u64, of: u64) -> u64 {
    value.div_ceil(of).saturating_mul(of)
}

impl Cubin {
    /// What a launch of the kernel of that index hands to the GPU; `None` where there is no such kernel.
    ///
    /// Inputs: `gpu`, `version` (of the descriptor), `profile` (`rig` or `cuda`), `grid`, `block`, `cluster` (blocks along
    /// x, y, z), `shared` (bytes of dynamic shared memory), `program`, `bank0` to `bank7` (addresses; `ADDRESS/BYTES` for a
    /// bank of the driver's own), `stack` (bytes of a thread's, where the kernel does not say), `chain` (the next descriptor's address), `release0`, `release1` (`ADDRESS:VALUE`, with
    /// `:stamped` behind it for a time stamp), `shared_window`, `local_window`, `qmd` (the descriptor's own address, where
    /// another one leads to it), `arg0` and so on (see [`crate::typed`]), `set.FIELD` (the value of one field).
    pub fn launch(&self, elf: &Elf, kernel: usize, inputs: &Inputs) -> Option<Launch> {
        let kernel = self.kernels.get(kernel)?;
        let mut form = Form::new(inputs);
        let gpu = Gpu::ask(&mut form, self);
        let version = gpu.ask_version(&mut form);
        let profile = ask_profile(&mut form);
        if !kernel.entry_point {
            let message =
                "it is not marked as a kernel but as a device function, which nothing launches";
            form.note("program", message);
        }
        let sizes = sizes::Sizes::ask(&mut form, kernel, gpu, version);
        let mut plan = Plan {
            elf,
            cubin: self,
            kernel,
            gpu,
            version,
            grid: sizes.grid,
            block: sizes.block,
            cluster: sizes.cluster,
            dynamic: sizes.dynamic,
            shared: sizes.shared,
            program: None,
            banks: Vec::new(),
            chain: None,
            releases: [None, None],
            shared_window: None,
            local_window: None,
            own_address: None,
            set: Vec::new(),
            assumed: ASSUMED.map(|key| (key, form.typed(key).is_none())),
            stack: None,
        };
        plan.ask_stack(&mut form, profile);
        plan.ask_addresses(&mut form, profile);
        let bank0 = Bank::ask(&mut form, &plan);
        plan.ask_fields(&mut form, inputs);
        refuse_others(&mut form);
        let draft = plan.describe(profile, &bank0);
        plan.compare(&mut form, profile, &bank0, &draft);
        let mut drafts = vec![draft];
        if Plan::has_head(version, profile) {
            drafts.insert(0, plan.head());
        }
        let is_wrong = |form: &Form<'_>, input: &str| {
            let mut problems = form.problems.iter();
            problems.any(|p| p.input == input && p.severity == Severity::Error)
        };
        // What is over a limit does not fit, either.
        for (input, message) in drafts.iter_mut().flat_map(|draft| draft.misfits.drain(..)) {
            if !is_wrong(&form, &input) {
                form.error(&input, message);
            }
        }
        let key = version.key;
        let mut made: Vec<Made> = Vec::new();
        for draft in drafts.into_iter().rev() {
            let (name, title) = match made.is_empty() {
                true => ("qmd", format!("QMD {key} of {}", kernel.name)),
                false => (
                    "qmd_null",
                    format!("QMD {key} ahead of it: a grid of nothing"),
                ),
            };
            made.insert(0, draft.made(name, title));
        }
        made.push(bank0.made(&plan, profile));
        Some(Launch {
            inputs: form.inputs,
            problems: form.problems,
            made,
        })
    }
}
fn ask_profile(form: &mut Form<'_>) -> &'static str {
    let labels = [
        "rig: what the project raven fixes",
        "cuda: as captures of CUDA show",
    ];
    let choices = PROFILES.iter().zip(labels).map(|(key, label)| Choice {
        key: (*key).into(),
        label: label.into(),
        unavailable: None,
    });
    let ask = Ask {
        key: "profile",
        label: "Driver",
        group: "GPU",
        note: "Whose fixed values, carveouts and local memory are written".into(),
    };
    PROFILES[form.choice(ask, choices.collect(), 0, |_| None)]
}
/// Says which of the inputs are none that such a launch has.
fn refuse_others(form: &mut Form<'_>) {
    for (key, _) in form.unasked() {
        if key.starts_with("release") {
            form.error(
                key,
                "a launch has two releases at most: release0 and release1",
            );
        } else if key.starts_with("bank") {
            form.error(key, "a launch has the constant banks 0 to 7");
        } else if key.starts_with("arg") {
            form.error(key, "the kernel has no such parameter");
        } else {
            form.note(key, "a launch of this kernel is not asked for it");
        }
    }
}
impl Plan<'_> {
    /// Asks for the values of the fields that some were typed for.
    fn ask_fields(&mut self, form: &mut Form<'_>, inputs: &Inputs) {
        for (key, value) in inputs.iter() {
            let Some(field) = key.strip_prefix("set.").filter(|_| !value.is_empty()) else {
                continue;
            };
            let ask = Ask {
                key,
                label: field,
                group: "Fields",
                note: "The value of this field of the descriptor, whatever the launch is".into(),
            };
            let kind = self.version.layout.field(field).map(|field| field.kind);
            let Some(value) = form.field(ask, kind) else {
                continue;
            };
            let (major, minor) = self.version.number();
            let is_other = [("major", major), ("minor", minor)]
                .iter()
                .any(|(what, own)| {
                    let parts = draft::parts(self.version, what, 0);
                    parts.is_some_and(|parts| parts[0].field == field) && value != *own
                });
            if is_other {
                let version = self.version.key;
                form.note(
                    key,
                    format!(
                        "the descriptor is laid out as QMD {version}; with this number nothing that reads it takes it for that version"
                    ),
                );
            }
            self.set.push((field.into(), value));
        }
    }
    /// Says what the other profile writes otherwise.
    fn compare(&self, form: &mut Form<'_>, profile: &str, bank0: &Bank, draft: &Draft) {
        let other = match profile {
            "rig" => "cuda",
            _ => "rig",
        };
        let differences = draft.differences(&self.describe(other, bank0));
        let differences = differences
            .iter()
            .map(|(field, own, its)| format!("{field} {its} instead of {own}"));
        let mut words: Vec<String> = differences.collect();
        if Self::has_head(self.version, other) {
            words.push("a descriptor of GRID_NULL ahead of it".into());
        }
        if profile == "rig" && bank0.has_more(self) {
            words.push("further words of bank 0".into());
        }
        if !words.is_empty() {
            form.note("profile", format!("{other} writes {}", words.join(", ")));
        }
        if profile == "cuda" && !matches!(self.version.key, "03.00" | "04.00" | "05.00") {
            form.note(
                "profile",
                format!(
                    "CUDA was captured with QMD 03.00, 04.00 and 05.00: that {} is written alike is assumed",
                    self.version.key
                ),
            );
        }
        let largest = self.gpu.carveouts().next_back();
        if let Some(kib) = largest.filter(|kib| profile == "rig" && *kib != 100) {
            form.note(
                "profile",
                format!(
                    "rig's own GPUs have 100 KiB of shared memory an SM: the carveouts are those of sm_{}, up to {kib}",
                    self.gpu.described_as()
                ),
            );
        }
    }
}
