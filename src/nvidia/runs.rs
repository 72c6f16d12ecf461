//! On which GPUs code of NVIDIA's runs.
//!
//! Sources: "CUDA C++ Programming Guide", Binary Compatibility, PTX Compatibility and Feature Set Compiler Targets. Which
//! architectures are of a family, and that sm_101 is what sm_110 was called before CUDA 13, follows from what ptxas 12.9 and 13.5
//! compile and nvlink 13.5 links.

use std::fmt;

use super::{Cubin, tables};
use crate::compatibility::{Answer, Compatibility, Gpu};

/// A GPU by its compute capability: a row of [`tables::CHIPS`], which says what each word is.
#[derive(Debug)]
pub struct Chip {
    /// The number of its architecture.
    pub sm: u32,
    /// Whether it is of the Tegra series.
    pub is_tegra: bool,
    /// What it is sold as; empty where no public source says it.
    pub products: &'static str,
}

/// What code is for: `sm_90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Architecture {
    /// Its number: 90.
    pub sm: u32,
    /// `a` for features of this architecture alone, `f` for those of its family.
    pub variant: Option<char>,
}

/// `sm_90a`.
impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.sm)?;
        self.variant
            .map_or(Ok(()), |variant| write!(f, "{variant}"))
    }
}

impl Architecture {
    /// The architecture of that name: `sm_90a`, `compute_90a`, `90a`, `9.0a`.
    pub fn named(name: &str) -> Option<Self> {
        let number = name.strip_prefix("sm_").or(name.strip_prefix("compute_"));
        let number = number.unwrap_or(name);
        let variant = number
            .chars()
            .next_back()
            .filter(|c| matches!(c, 'a' | 'f'));
        let digits = number.strip_suffix(['a', 'f']).unwrap_or(number);
        let (major, minor) = match digits.split_once('.') {
            Some((major, minor)) => (major, minor),
            None => digits.split_at_checked(digits.len().checked_sub(1)?)?,
        };
        let is_number = |text: &str, most| {
            (1..=most).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_digit())
        };
        if !is_number(major, 2) || !is_number(minor, 1) {
            return None;
        }
        let sm = major.parse::<u32>().ok()? * 10 + minor.parse::<u32>().ok()?;
        Some(Self { sm, variant })
    }

    /// The number since CUDA 13.
    fn number(self) -> u32 {
        match self.sm {
            101 => 110,
            sm => sm,
        }
    }

    /// Whether machine code for it runs on `chip`.
    fn runs_on(self, chip: &Chip) -> Answer {
        let (own, other) = (self.number(), chip.sm);
        let is_of_family = own / 10 == other / 10 && own <= other;
        match self.variant {
            _ if own == other => Answer::Yes,
            Some('a') => Answer::No,
            _ if !is_of_family => Answer::No,
            _ if chip.is_tegra || self.is_tegra() => Answer::Depends,
            _ => Answer::Yes,
        }
    }

    /// Whether the driver can compile PTX for it for `chip`.
    fn compiles_for(self, chip: &Chip) -> bool {
        let (own, other) = (self.number(), chip.sm);
        match self.variant {
            Some('a') => own == other,
            Some(_) => own / 10 == other / 10 && own <= other,
            None => self.sm <= other,
        }
    }

    fn is_tegra(self) -> bool {
        let number = self.number();
        let mut chips = tables::CHIPS.iter();
        chips.any(|chip| chip.sm == number && chip.is_tegra)
    }

    /// Whether machine code for it runs on `chip`, and why.
    pub fn of_machine_code(self, chip: &Chip) -> Compatibility {
        let answer = self.runs_on(chip);
        let reason = match answer {
            Answer::Yes if self.sm == chip.sm => "the code is for it".into(),
            Answer::Yes if self.number() == chip.sm => {
                format!("the code is for {self}, as it was called before CUDA 13")
            }
            Answer::Yes => match self.variant {
                None => format!("code for {self} runs on those of its major version from it on"),
                Some(_) => format!("the code is for the family of {self} from it on"),
            },
            Answer::Depends | Answer::Jit => format!(
                "the code is for {self}: between GPUs of the Tegra series and others NVIDIA does not promise it"
            ),
            Answer::No => match self.variant {
                Some('a') => format!("the code is for {self} alone"),
                Some(_) => format!("the code is for the family of {self} from it on"),
                None => format!(
                    "the code is for {self}, and runs on those of its major version from it on"
                ),
            },
        };
        Compatibility { answer, reason }
    }

    /// Whether PTX for it runs on `chip`, and why.
    pub fn of_ptx(self, chip: &Chip) -> Compatibility {
        let name = Ptx(self);
        let (answer, reason) = match self.compiles_for(chip) {
            true => (
                Answer::Jit,
                format!("the driver compiles the PTX for {name}"),
            ),
            false => (
                Answer::No,
                match self.variant {
                    Some('a') => format!("the PTX is for {name} alone"),
                    Some(_) => format!("the PTX is for the family of {name} from it on"),
                    None => format!("the PTX is for {name} and what came after it"),
                },
            ),
        };
        Compatibility { answer, reason }
    }

    /// Whether code between compilers for it, which is called `what`, runs on `chip` once it is compiled and linked, and why not before.
    pub fn of_intermediate(self, chip: &Chip, what: &str) -> Compatibility {
        match self.compiles_for(chip) {
            true => Compatibility {
                answer: Answer::Depends,
                reason: format!(
                    "{what} for {}: it has to be compiled and linked first",
                    Ptx(self)
                ),
            },
            false => Compatibility {
                answer: Answer::No,
                reason: format!("{what} for {}", Ptx(self)),
            },
        }
    }
}

/// An architecture that PTX is for: `compute_90a`.
struct Ptx(Architecture);

impl fmt::Display for Ptx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "compute_{}", self.0.sm)?;
        let variant = self.0.variant;
        variant.map_or(Ok(()), |variant| write!(f, "{variant}"))
    }
}

impl Chip {
    /// The GPU that is asked for: by its architecture, or by a part of what it is sold as that no other is sold as.
    pub fn named(asked: &str) -> Option<&'static Self> {
        if let Some(architecture) = Architecture::named(asked) {
            let number = architecture.number();
            return tables::CHIPS.iter().find(|chip| chip.sm == number);
        }
        let asked = asked.to_lowercase();
        // Whole words go before parts of them: T4, Jetson T4000.
        let words = format!(" {asked} ");
        let has_words = |chip: &&Self| {
            let products = chip.products.to_lowercase().replace(',', " ,");
            format!(" {products} ").contains(&words)
        };
        let has = |chip: &&Self| chip.products.to_lowercase().contains(&asked);
        let one = |is_it: &dyn Fn(&&'static Self) -> bool| {
            let mut found = tables::CHIPS.iter().filter(is_it);
            let chip = found.next().filter(|_| !asked.is_empty())?;
            found.next().is_none().then_some(chip)
        };
        one(&has_words).or_else(|| one(&has))
    }

    /// What it is asked for by: `sm_90`.
    pub fn name(&self) -> String {
        format!("sm_{}", self.sm)
    }

    /// It with an answer.
    pub fn with(&self, runs: Compatibility) -> Gpu {
        Gpu {
            name: self.name(),
            products: self.products,
            runs,
            served_by: None,
            missing_kernels: None,
            libraries: Vec::new(),
        }
    }
}

/// What cannot be loaded before it is linked does not run yet.
pub fn unless_linked(mut runs: Compatibility, is_relocatable: bool) -> Compatibility {
    if is_relocatable && runs.answer != Answer::No {
        runs.answer = Answer::Depends;
        runs.reason.push_str("; it has to be linked first");
    }
    runs
}

impl Cubin {
    /// Whether its code runs on `chip`.
    pub fn runs_on(&self, chip: &Chip) -> Gpu {
        let architecture = Architecture {
            sm: self.sm,
            variant: self.variant,
        };
        let runs = architecture.of_machine_code(chip);
        chip.with(unless_linked(runs, self.is_relocatable))
    }

    /// Every GPU, and whether its code runs there.
    pub fn gpus(&self) -> Vec<Gpu> {
        let chips = tables::CHIPS.iter();
        chips.map(|chip| self.runs_on(chip)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the GPUs for which `answer` holds.
    fn chips(answer: impl Fn(&Chip) -> bool) -> Vec<u32> {
        let chips = tables::CHIPS.iter().filter(|chip| answer(chip));
        chips.map(|chip| chip.sm).collect()
    }

    fn architecture(name: &str) -> Architecture {
        Architecture::named(name).expect(name)
    }

    #[test]
    fn architectures_have_names() {
        for (name, shown) in [
            ("sm_90a", "sm_90a"),
            ("compute_100f", "sm_100f"),
            ("86", "sm_86"),
            ("12.1", "sm_121"),
            ("9.0a", "sm_90a"),
        ] {
            assert_eq!(architecture(name).to_string(), shown);
        }
        for none in [
            "", "a", "sm_", "sm_9", "sm_9x", "sm_1000", "1.23", "é", "8.é", "gfx90a", "sm_90b",
        ] {
            assert_eq!(Architecture::named(none), None, "{none:?}");
        }
    }

    #[test]
    fn gpus_are_asked_for_by_their_architecture_or_their_product() {
        let sm = |asked| Chip::named(asked).map(|chip| chip.sm);
        assert_eq!(sm("sm_90a"), Some(90));
        assert_eq!(sm("8.9"), Some(89));
        assert_eq!(sm("sm_101"), Some(110));
        assert_eq!(sm("rtx 5090"), Some(120));
        assert_eq!(sm("H100"), Some(90));
        assert_eq!(sm("T4"), Some(75));
        assert_eq!(sm("t4000"), Some(110));
        for none in ["", "GeForce", "sm_99", "RTX"] {
            assert_eq!(sm(none), None, "{none:?}");
        }
    }

    #[test]
    fn chips_are_in_order() {
        assert!(tables::CHIPS.is_sorted_by_key(|chip| chip.sm));
    }

    #[test]
    fn machine_code_runs_within_a_major_version() {
        // Binary Compatibility: "a cubin object generated for compute capability X.y will only execute on devices of compute
        // capability X.z where z≥y"; "Binary compatibility is supported only for the desktop. It is not supported for Tegra."
        for (name, yes, depends) in [
            ("sm_50", &[50, 52][..], &[53][..]),
            ("sm_60", &[60, 61], &[62]),
            ("sm_61", &[61], &[62]),
            ("sm_70", &[70, 75], &[72]),
            ("sm_72", &[72], &[75]),
            ("sm_75", &[75], &[]),
            ("sm_80", &[80, 86, 88, 89], &[87]),
            ("sm_86", &[86, 88, 89], &[87]),
            ("sm_87", &[87], &[88, 89]),
            ("sm_89", &[89], &[]),
            ("sm_90", &[90], &[]),
            ("sm_120", &[120, 121], &[]),
            ("sm_121", &[121], &[]),
        ] {
            let of = |wanted| chips(|chip| architecture(name).runs_on(chip) == wanted);
            assert_eq!(of(Answer::Yes), yes, "{name}");
            assert_eq!(of(Answer::Depends), depends, "{name}");
        }
    }

    #[test]
    fn letters_limit_where_code_runs() {
        // Feature Set Compiler Targets: of compute_90a "is only compatible with devices of compute capability 9.0"; the families'
        // table has compute_100f with 10.0 and 10.3, compute_103f with 10.3, compute_110f with 11.0, compute_120f with 12.0 and
        // 12.1, compute_121f with 12.1. sm_107 is later than the table: nvlink 13.5 links code of sm_100f and sm_103f for it.
        for (name, runs) in [
            ("sm_90a", &[90][..]),
            ("sm_100a", &[100]),
            ("sm_103a", &[103]),
            ("sm_100f", &[100, 103, 107]),
            ("sm_103f", &[103, 107]),
            ("sm_110f", &[110]),
            ("sm_120a", &[120]),
            ("sm_120f", &[120, 121]),
            ("sm_121f", &[121]),
            // nvlink 13.5 -arch=sm_110a links what ptxas 12.9 made for sm_101, and refuses it for sm_100a and sm_103a.
            ("sm_101", &[110]),
            ("sm_101f", &[110]),
        ] {
            assert_eq!(
                chips(|chip| architecture(name).runs_on(chip) == Answer::Yes),
                runs,
                "{name}"
            );
        }
    }

    #[test]
    fn machine_code_runs_where_nvlink_links_it() {
        // nvlink 13.5 -arch=GPU of cubins that nvcc 13.5 -cubin -rdc=true made: those that do not end with "arch does not match target".
        // It links for GPUs of the Tegra series what the guide does not promise.
        let gpus = [75, 80, 86, 87, 88, 89, 90, 100, 103, 107, 110, 120, 121];
        for (name, linked) in [
            ("sm_75", &[75][..]),
            ("sm_80", &[80, 86, 87, 88, 89]),
            ("sm_86", &[86, 87, 88, 89]),
            ("sm_87", &[87, 88, 89]),
            ("sm_88", &[88, 89]),
            ("sm_89", &[89]),
            ("sm_90", &[90]),
            ("sm_90a", &[90]),
            ("sm_100", &[100, 103, 107]),
            ("sm_100a", &[100]),
            ("sm_100f", &[100, 103, 107]),
            ("sm_103", &[103, 107]),
            ("sm_103a", &[103]),
            ("sm_103f", &[103, 107]),
            ("sm_107f", &[107]),
            ("sm_110f", &[110]),
            ("sm_120", &[120, 121]),
            ("sm_120a", &[120]),
            ("sm_120f", &[120, 121]),
            ("sm_121", &[121]),
            ("sm_121f", &[121]),
        ] {
            let mut runs = chips(|chip| architecture(name).runs_on(chip) != Answer::No);
            runs.retain(|sm| gpus.contains(sm));
            assert_eq!(runs, linked, "{name}");
        }
    }

    #[test]
    fn ptx_is_compiled_where_ptxas_compiles_it() {
        // ptxas 13.5 and 12.9 -arch=GPU of a kernel with that .target; of a GPU with letters its sm_XYa.
        let later = [75, 80, 86, 87, 88, 89, 90, 100, 103, 107, 110, 120, 121];
        let all = [&[50, 52, 53, 60, 61, 62, 70, 72][..], &later].concat();
        for (name, compiled) in [
            ("sm_50", &all[..]),
            ("sm_53", &all[2..]),
            ("sm_72", &all[7..]),
            ("sm_75", &later),
            ("sm_87", &later[3..]),
            ("sm_90", &later[6..]),
            ("sm_90a", &[90]),
            ("sm_100", &later[7..]),
            ("sm_100a", &[100]),
            ("sm_100f", &[100, 103, 107]),
            ("sm_103", &later[8..]),
            ("sm_103f", &[103, 107]),
            ("sm_110", &[110, 120, 121]),
            ("sm_110a", &[110]),
            ("sm_110f", &[110]),
            ("sm_120", &[120, 121]),
            ("sm_120f", &[120, 121]),
            ("sm_121", &[121]),
            ("sm_121a", &[121]),
        ] {
            let runs = chips(|chip| architecture(name).of_ptx(chip).answer == Answer::Jit);
            assert_eq!(runs, compiled, "{name}");
        }
    }

    #[test]
    fn what_is_not_linked_does_not_run_as_it_is() {
        let chip = Chip::named("sm_86").expect("a GPU");
        let runs = |name| unless_linked(architecture(name).of_machine_code(chip), true);
        assert_eq!(runs("sm_80").answer, Answer::Depends);
        assert_eq!(runs("sm_90").answer, Answer::No);
        let between = |name| architecture(name).of_intermediate(chip, "NVVM").answer;
        assert_eq!(between("sm_80"), Answer::Depends);
        assert_eq!(between("sm_90"), Answer::No);
    }
}
