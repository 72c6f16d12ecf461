//! On which GPUs a code object runs: by the target ID's rules (AMDGPUUsage, Target ID, Generic Processors), and by
//! what its kernels ask for where processors of one kind differ.

use super::target::{Setting, Target};
use super::{CodeObject, Processor, tables};
use crate::compatibility::{Answer, Compatibility, Gpu};
use crate::order;

/// The GPUs that code objects are built for, each in all of its modes, by generation.
pub fn gpus() -> Vec<Target> {
    let modes = |has: bool| match has {
        true => &[Setting::Off, Setting::On][..],
        false => &[Setting::Unsupported],
    };
    let mut gpus = Vec::new();
    for processor in tables::PROCESSORS {
        if processor.is_generic() || processor.descriptor.is_empty() {
            continue;
        }
        for &sramecc in modes(processor.sramecc) {
            for &xnack in modes(processor.xnack) {
                gpus.push(Target {
                    processor,
                    xnack,
                    sramecc,
                });
            }
        }
    }
    // gfx906 is before gfx1010.
    let name = |gpu: &Target| gpu.processor.name;
    order::arrange_by(&mut gpus, |a, b| {
        (name(a).len(), name(a)).cmp(&(name(b).len(), name(b)))
    });
    gpus
}

/// What a processor is sold as.
pub(super) fn products(processor: &Processor) -> &'static str {
    let products = tables::PRODUCTS.name(processor.mach.into());
    products.unwrap_or_default()
}

/// The GPU that is asked for: by a target ID, whose modes can be left out, or by a part of what it is sold as that
/// no other processor is sold as.
pub fn gpu(asked: &str) -> Option<Target> {
    if let Some(target) = Target::named(asked) {
        return Some(target).filter(|target| !target.processor.is_generic());
    }
    let asked = asked.to_lowercase();
    let mut found = tables::PROCESSORS
        .iter()
        .filter(|processor| products(processor).to_lowercase().contains(&asked));
    let processor = found.next().filter(|_| !asked.is_empty())?;
    found.next().is_none().then(|| Target::of(processor))
}

/// Whether a feature that the code has to find set as `wanted` is.
fn feature(name: &str, wanted: Setting, gpu: Setting) -> Option<(Answer, String)> {
    let word = match wanted {
        Setting::On => "on",
        Setting::Off => "off",
        Setting::Any | Setting::Unsupported => return None,
    };
    let (answer, rest) = match (wanted, gpu) {
        (_, Setting::Any) => (Answer::Depends, ""),
        (Setting::On, Setting::Unsupported) => (Answer::No, ", which the GPU does not have"),
        (Setting::Off, Setting::Unsupported) => return None,
        _ if wanted == gpu => return None,
        _ => (Answer::No, ""),
    };
    Some((answer, format!("{name} has to be {word}{rest}")))
}

/// The GPU with an answer.
pub fn with(gpu: Target, runs: Compatibility) -> Gpu {
    Gpu {
        name: gpu.to_string(),
        products: products(gpu.processor),
        runs,
        served_by: None,
        missing_kernels: None,
        libraries: Vec::new(),
    }
}

/// Under which conditions code for `own` runs on `gpu`, or why it does not.
fn conditions(own: Target, gpu: Target) -> Result<Vec<String>, String> {
    let processor = own.processor;
    if !processor.runs_on(gpu.processor.name) {
        return Err(match processor.is_generic() {
            true => format!(
                "{} stands for {}",
                processor.name,
                processor.members.join(", ")
            ),
            false => format!("the code is for {}", processor.name),
        });
    }
    let mut conditions = Vec::new();
    let features = [
        feature("SRAMECC", own.sramecc, gpu.sramecc),
        feature("XNACK", own.xnack, gpu.xnack),
    ];
    for (answer, reason) in features.into_iter().flatten() {
        match answer {
            Answer::No => return Err(reason),
            _ => conditions.push(reason),
        }
    }
    Ok(conditions)
}

/// The answer that follows for code for `processor`.
fn answer(processor: &Processor, conditions: Result<Vec<String>, String>) -> Compatibility {
    let (answer, reason) = match conditions {
        Err(reason) => (Answer::No, reason),
        Ok(conditions) if !conditions.is_empty() => (Answer::Depends, conditions.join("; ")),
        Ok(_) => {
            let reason = match processor.is_generic() {
                true => format!("{} stands for it", processor.name),
                false => "the code is for it".into(),
            };
            (Answer::Yes, reason)
        }
    };
    Compatibility { answer, reason }
}

/// Whether code runs on `gpu` of which no more is known than what it is for, with what else has to happen first.
pub fn of_target(own: Target, gpu: Target, first: Option<String>) -> Compatibility {
    let mut conditions = conditions(own, gpu);
    if let Ok(conditions) = &mut conditions {
        conditions.extend(first);
    }
    answer(own.processor, conditions)
}

impl CodeObject {
    /// Every GPU in all of its modes, and whether the code runs there.
    pub fn gpus(&self) -> Vec<Gpu> {
        gpus().into_iter().map(|gpu| self.gpu(gpu)).collect()
    }

    /// Whether the code runs on the GPU that is asked for, by a target ID such as `gfx90a:xnack-` (of modes that are left
    /// out the answer says what they have to be), or by a part of its product's name. `None` if there is no such GPU.
    pub fn runs_on(&self, asked: &str) -> Option<Gpu> {
        gpu(asked).map(|gpu| self.gpu(gpu))
    }

    fn gpu(&self, gpu: Target) -> Gpu {
        with(gpu, self.compatibility(gpu))
    }

    fn compatibility(&self, gpu: Target) -> Compatibility {
        match self.settings {
            Some(own) => answer(own.processor, self.conditions(own, gpu)),
            None => Compatibility {
                answer: Answer::No,
                reason: "the file names no processor that is known".into(),
            },
        }
    }

    fn conditions(&self, own: Target, gpu: Target) -> Result<Vec<String>, String> {
        let mut conditions = conditions(own, gpu)?;
        if own.processor.is_generic() {
            match self.generic_version {
                None => return Err("generic processors need code object V6".into()),
                Some(0) => return Err("the generic processor has no version".into()),
                // LLVM 22 has all members from version 1 on.
                Some(_) => {}
            }
        }
        if self.is_relocatable {
            conditions.push("it has to be linked first".into());
        }
        if let Some(system) = self.system {
            conditions.push(format!("it is for {system}, not for HSA"));
        }
        let limit = gpu.processor.lds_limit();
        let mut kernels = self.kernels.iter();
        let lds = |bytes: Option<u32>| u64::from(bytes.unwrap_or(0));
        if let Some(kernel) = kernels.find(|kernel| lds(kernel.group_segment) > limit) {
            conditions.push(format!(
                "the GPU has {limit} bytes of LDS, kernel {} asks for {}",
                kernel.name,
                lds(kernel.group_segment)
            ));
        }
        Ok(conditions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_asked_for_by_their_target_id_or_their_product() {
        let name = |asked| gpu(asked).map(|gpu| gpu.to_string());
        assert_eq!(name("gfx942").as_deref(), Some("gfx942"));
        let full = "gfx90a:sramecc+:xnack-";
        assert_eq!(name(full).as_deref(), Some(full));
        // As rocminfo prints it.
        assert_eq!(
            name("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-").as_deref(),
            Some(full)
        );
        assert_eq!(name("gfx90a:xnack-:sramecc+").as_deref(), Some(full));
        assert_eq!(name("MI300X").as_deref(), Some("gfx942"));
        assert_eq!(name("radeon rx 7900 xtx").as_deref(), Some("gfx1100"));
        for none in [
            "",
            ":",
            "Radeon",
            "gfx9-generic",
            "gfx1030:xnack+",
            "gfx906:xnack",
            "gfx906:wave32+",
            "gfx906:xnack+:xnack-",
        ] {
            assert_eq!(name(none), None, "{none:?}");
        }
    }

    #[test]
    fn every_gpu_is_listed_in_its_modes() {
        let gpus: Vec<String> = gpus().iter().map(ToString::to_string).collect();
        // LLVM 22 has 47 processors of its target amdgcn that are not generic: 29 without a feature that can be
        // switched, 11 with XNACK, 7 with SRAMECC too.
        assert_eq!(gpus.len(), 29 + 11 * 2 + 7 * 4);
        assert_eq!(gpus.first().map(String::as_str), Some("gfx600"));
        assert_eq!(
            gpus.last().map(String::as_str),
            Some("gfx1251:sramecc+:xnack+")
        );
        for gpu in &gpus {
            assert_eq!(
                Target::named(gpu).map(|gpu| gpu.to_string()).as_ref(),
                Some(gpu)
            );
        }
    }

    #[test]
    fn a_feature_has_to_be_as_the_code_wants_it() {
        use Setting::{Any, Off, On, Unsupported};
        let answer = |wanted, gpu| feature("XNACK", wanted, gpu).map(|(answer, _)| answer);
        for gpu in [Any, Off, On, Unsupported] {
            assert_eq!(answer(Any, gpu), None);
            assert_eq!(answer(Unsupported, gpu), None);
        }
        for (wanted, other) in [(On, Off), (Off, On)] {
            assert_eq!(answer(wanted, wanted), None);
            assert_eq!(answer(wanted, other), Some(Answer::No));
            assert_eq!(answer(wanted, Any), Some(Answer::Depends));
        }
        assert_eq!(answer(On, Unsupported), Some(Answer::No));
        assert_eq!(answer(Off, Unsupported), None);
    }
}
