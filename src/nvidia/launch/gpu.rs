//! The GPU of a launch, and the version of the launch descriptor that goes to it.

use crate::launch::{Ask, Choice, Form};
use crate::nvidia::occupancy::Capability;
use crate::nvidia::qmd::Version;
use crate::nvidia::{Cubin, tables};

/// What launches on a GPU are described with: a row of [`tables::GPUS`], which says what each word is.
#[derive(Debug)]
pub struct Gpu {
    /// The number of its architecture.
    pub sm: u32,
    /// What people call the chips.
    pub name: &'static str,
    /// The compute class that launches go to: `C9C0 ADA_COMPUTE_A`; empty where no public source says.
    pub class: &'static str,
    /// Versions of the descriptor that can be made, the usual one first.
    pub versions: &'static str,
    /// Versions that the class's header defines and that no public driver is known to write.
    pub decoded: &'static str,
    /// KiB of shared memory that an SM can be set up with; empty where a descriptor does not say.
    pub carveouts: &'static str,
    /// `SASS_VERSION`; 0 where it is not known.
    pub sass: u32,
}

/// Bytes of shared memory that a block has at most on the GPUs before those that occupancy knows: CUDA C++ programming guide.
const SHARED_BEFORE_VOLTA: u64 = 48 << 10;

impl Gpu {
    /// Whether it runs the code of `cubin`: the same major version and no lower a minor one; `a`, this architecture alone.
    /// The families of `f` are the major versions.
    pub fn runs(&self, cubin: &Cubin) -> bool {
        match cubin.variant {
            Some('a') => self.sm == cubin.sm,
            _ => self.sm / 10 == cubin.sm / 10 && self.sm >= cubin.sm,
        }
    }

    /// KiB of shared memory that an SM can be set up with, increasing.
    pub fn carveouts(&self) -> impl DoubleEndedIterator<Item = u64> {
        self.carveouts.split(' ').filter_map(|kib| kib.parse().ok())
    }

    /// The carveout that holds `bytes`, no smaller than `least` KiB; the largest where none does. In KiB.
    pub fn carveout(&self, bytes: u64, least: u64) -> u64 {
        let mut fits = self.carveouts().filter(|kib| *kib >= least);
        let found = fits.find(|kib| kib << 10 >= bytes);
        found.or(self.carveouts().next_back()).unwrap_or(0)
    }

    /// Bytes of shared memory that a block can have, the driver's counted: occupancy's number.
    pub fn most_shared(&self) -> u64 {
        match Capability::of(self.sm) {
            Some(sm) => u64::from(sm.block_shared) + self.reserved_shared(),
            None => SHARED_BEFORE_VOLTA,
        }
    }

    /// The architecture whose descriptors and carveouts it is given: its own, unless no public source says.
    pub fn described_as(&self) -> u32 {
        match self.class {
            "" => 100,
            _ => self.sm,
        }
    }

    /// Bytes of every block's shared memory that the driver keeps.
    pub fn reserved_shared(&self) -> u64 {
        if self.sm >= 80 { 1024 } else { 0 }
    }

    /// Asks on which GPU `cubin` is launched: first those that run it, its own if nothing is typed.
    pub fn ask(form: &mut Form<'_>, cubin: &Cubin) -> &'static Self {
        let (runs, others): (Vec<&Self>, Vec<&Self>) =
            tables::GPUS.iter().partition(|gpu| gpu.runs(cubin));
        let gpus: Vec<&'static Self> = runs.into_iter().chain(others).collect();
        let choices = gpus.iter().map(|gpu| {
            let class = match gpu.class {
                "" => "compute class not known",
                class => class,
            };
            let hypothetical = match gpu.runs(cubin) {
                true => "",
                false => "; does not run this code",
            };
            Choice {
                key: format!("sm_{}", gpu.sm),
                label: format!("sm_{}: {}, {class}{hypothetical}", gpu.sm, gpu.name),
                unavailable: None,
            }
        });
        let choices = choices.collect();
        let ask = Ask {
            key: "gpu",
            label: "GPU",
            group: "GPU",
            note: "Its compute class says which launch descriptors there are".into(),
        };
        // As compute capability or with a letter, too: 8.9, sm_90a.
        let find = |typed: &str| {
            let number = typed.strip_prefix("sm_").unwrap_or(typed);
            let number = number.trim_end_matches(['a', 'f']).replace('.', "");
            let number: u32 = number.parse().ok()?;
            gpus.iter().position(|gpu| gpu.sm == number)
        };
        let own = gpus.iter().position(|gpu| gpu.sm == cubin.sm);
        // Of an architecture that no row is about, the one before it.
        let before = || gpus.iter().rposition(|gpu| gpu.sm < cubin.sm);
        let own = own.or_else(before).unwrap_or(0);
        let gpu = gpus[form.choice(ask, choices, own, find)];
        if !gpu.runs(cubin) {
            form.note(
                "gpu",
                format!(
                    "the code is for {0}, which sm_{1} does not run: this is what it would be handed for a kernel of such needs. Bank 0 is laid out for {0}, where that code reads it",
                    cubin.target, gpu.sm
                ),
            );
        }
        if gpu.class.is_empty() {
            form.note(
                "gpu",
                format!(
                    "no public source says what launches on sm_{} are described with: these are the descriptors and carveouts of sm_{}, up to {} KiB where an SM has {}",
                    gpu.sm,
                    gpu.described_as(),
                    gpu.carveouts().next_back().unwrap_or(0),
                    gpu.most_shared() >> 10
                ),
            );
        }
        gpu
    }

    /// Asks for the version of the descriptor.
    pub fn ask_version(&self, form: &mut Form<'_>) -> &'static Version {
        let can = self.versions.split(' ').map(|key| (key, true));
        let cannot = self.decoded.split(' ').filter(|key| !key.is_empty());
        let keys: Vec<_> = can.chain(cannot.map(|key| (key, false))).collect();
        let choices = keys.iter().map(|(key, can)| Choice {
            key: (*key).into(),
            label: format!("QMD {key}"),
            unavailable: (!can).then(|| {
                "no public driver is known to write it: it can be decoded, not made".into()
            }),
        });
        let ask = Ask {
            key: "version",
            label: "Version of the descriptor",
            group: "GPU",
            note: "Those that the header of the GPU's compute class defines, the usual one first"
                .into(),
        };
        // 3.0 is 03.00.
        let find = |typed: &str| {
            let number = |text: &str| text.parse::<u32>().ok();
            let (major, minor) = typed.split_once('.')?;
            let typed = (number(major)?, number(minor)?);
            keys.iter().position(|(key, _)| {
                let (major, minor) = key.split_once('.').unwrap_or_default();
                (number(major), number(minor)) == (Some(typed.0), Some(typed.1))
            })
        };
        let at = form.choice(ask, choices.collect(), 0, find);
        let mut chosen = keys[at];
        if !chosen.1 {
            form.error(
                "version",
                format!(
                    "no public driver is known to write QMD {}: it can be decoded, not made; this is {}",
                    chosen.0, keys[0].0
                ),
            );
            chosen = keys[0];
        }
        // The tables are checked against each other by a test.
        let found = Version::get(chosen.0);
        found.unwrap_or(&crate::nvidia::qmd::VERSIONS[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_of_a_gpu_is_one_that_there_is() {
        for gpu in tables::GPUS {
            let all = gpu.versions.split(' ').chain(gpu.decoded.split(' '));
            for key in all.filter(|key| !key.is_empty()) {
                assert!(Version::get(key).is_some(), "sm_{}: {key}", gpu.sm);
            }
        }
    }
}
