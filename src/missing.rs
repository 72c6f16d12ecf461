//! Kernels that a file has for some of its architectures and not for others: whoever runs it on the wrong GPU is told that there is no
//! kernel image, or no such kernel.

use crate::compatibility::{Answer, Compatibility};
use crate::index::Index;
use crate::order;
use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::runs::{AnyGpu, Offer, Offers};
use crate::span::Span;
use crate::survey::Survey;

/// Which of [`Offers::all`]: a bit each.
type Set = u128;

/// Which kernels there are in what code, once all members were opened.
pub struct Missing {
    offers: Offers,
    /// Everything that has a kernel: code for NVIDIA's GPUs, and for AMD's.
    families: [Set; 2],
    /// By the number of its name: where the kernel is.
    has: Vec<Set>,
    /// What instances of its template are in, its own number of one.
    templates: Vec<Set>,
    template_of: Vec<Option<u32>>,
    /// The kernels in the order in which they are listed.
    order: Vec<u32>,
    /// Where kernels are, and how many of them.
    sets: Vec<(Set, u64)>,
}

impl Missing {
    /// What `survey` has found in the code that is in `offers`.
    pub fn new(offers: Offers, survey: &Survey) -> Self {
        let mut has: Vec<Set> = vec![0; survey.kernel_names().len()];
        for (member, name) in survey.found() {
            if let Some(offer) = offers.of_member(member)
                && offers.all()[offer].has_kernels()
            {
                has[name as usize] |= 1 << offer;
            }
        }
        let mut known = Index::default();
        let mut templates: Vec<Set> = Vec::new();
        let template_of = survey.kernel_names().zip(&has).map(|(name, has)| {
            let number = known.add(template(name)?.as_bytes());
            if number == templates.len() {
                templates.push(0);
            }
            templates[number] |= has;
            Some(number as u32)
        });
        let template_of = template_of.collect();
        let all = has.iter().fold(0, |all, has| all | has);
        let nvidias = offers.all().iter().enumerate().fold(0, |set, (at, offer)| {
            set | Set::from(offer.is_for_nvidia()) << at
        });
        let mut known = Index::default();
        let mut sets = Vec::new();
        for has in has.iter().filter(|has| **has != 0) {
            let number = known.add(&has.to_le_bytes());
            if number == sets.len() {
                sets.push((*has, 0));
            }
            sets[number].1 += 1;
        }
        let mut missing = Self {
            sets,
            families: [all & nvidias, all & !nvidias],
            order: (0..has.len() as u32)
                .filter(|&i| has[i as usize] != 0)
                .collect(),
            offers,
            has,
            templates,
            template_of,
        };
        let mut order = std::mem::take(&mut missing.order);
        // What other instances of its template have was hardly left out on purpose; nor was one architecture of many.
        order::arrange(&mut order, |&kernel| {
            let lacks = missing.lacks(kernel).count_ones();
            u64::from(missing.others_have(kernel) == 0) << 32 | u64::from(lacks)
        });
        missing.order = order;
        missing
    }

    /// How many kernels were found in code that runs, on whatever GPU.
    pub fn kernel_count(&self) -> usize {
        self.order.len()
    }

    /// How many of them do not run on `gpu`.
    pub fn not_running(&self, gpu: AnyGpu) -> u64 {
        let gpu = self.on(gpu);
        let sets = self.sets.iter();
        let sets = sets.filter(|(has, _)| gpu.answer(*has) == Answer::No);
        sets.map(|(_, count)| count).sum()
    }

    fn on(&self, gpu: AnyGpu) -> OnGpu {
        let offers = self.offers.all().iter().map(|offer| offer.on(gpu));
        let mut found = OnGpu {
            gpu,
            offers: offers.collect(),
            is_served: false,
        };
        found.is_served = found.answer(self.families[0] | self.families[1]) != Answer::No;
        found
    }

    /// What it lacks of the families that it is for.
    fn lacks(&self, kernel: u32) -> Set {
        let has = self.has[kernel as usize];
        let mut families = self.families.iter().filter(|family| has & **family != 0);
        let all = families.next().copied().unwrap_or_default();
        families.fold(all, |all, family| all | family) & !has
    }

    /// What it lacks and other instances of its template are in.
    fn others_have(&self, kernel: u32) -> Set {
        let template = self.template_of[kernel as usize];
        template.map_or(0, |template| {
            self.templates[template as usize] & self.lacks(kernel)
        })
    }

    /// The targets of that code, each once, but for those of `without`.
    fn targets(&self, set: Set, without: Set) -> String {
        let of = |set: Set| {
            let offers = self.offers.all().iter().enumerate();
            offers.filter(move |(at, _)| set >> at & 1 == 1)
        };
        let mut targets: Vec<String> = Vec::new();
        for (_, offer) in of(set) {
            let target = offer.target();
            let is_known = |(_, known): (usize, &Offer)| known.target() == target;
            if !targets.contains(&target) && !of(without).any(is_known) {
                targets.push(target);
            }
        }
        targets.join(", ")
    }
}

/// What instances of a template have in common, if the name is of one: its mangled name before the arguments (Itanium C++ ABI, Mangling).
fn template(name: &str) -> Option<&str> {
    let mut at = name.strip_prefix("_Z").map(|_| 2)?;
    let bytes = name.as_bytes();
    if bytes.get(at) == Some(&b'N') {
        at += 1;
    }
    loop {
        let digits = bytes[at..].iter().take_while(|c| c.is_ascii_digit());
        let digits = digits.count();
        match bytes.get(at)? {
            b'I' if at > 3 => return name.get(..at),
            b'0'..=b'9' => {
                let length: usize = name.get(at..at + digits)?.parse().ok()?;
                at = at.checked_add(digits)?.checked_add(length)?;
            }
            // Internal linkage; the namespace std.
            b'L' => at += 1,
            b'S' if bytes.get(at + 1) == Some(&b't') => at += 2,
            _ => return None,
        }
        if at > bytes.len() {
            return None;
        }
    }
}

/// Kernels that are missing somewhere, those first that were hardly left out on purpose; with a GPU also those that do not run on it,
/// which come first. Empty until all members were opened: what was not found yet is not missing.
pub struct MissingList<'a> {
    missing: Option<&'a Missing>,
    survey: &'a Survey,
    rows: Vec<u32>,
    gpu: Option<OnGpu>,
    has_gpu: bool,
}

/// What runs on the GPU that is asked for.
struct OnGpu {
    gpu: AnyGpu,
    offers: Vec<Compatibility>,
    /// Whether any kernel does.
    is_served: bool,
}

impl OnGpu {
    /// The best answer for a kernel that is in `has`.
    fn runs(&self, has: Set) -> Option<&Compatibility> {
        let offers = self.offers.iter().enumerate();
        let offers = offers.filter(|(at, _)| has >> at & 1 == 1);
        offers.map(|(_, runs)| runs).min_by_key(|runs| runs.answer)
    }

    fn answer(&self, has: Set) -> Answer {
        self.runs(has).map_or(Answer::No, |runs| runs.answer)
    }
}

impl<'a> MissingList<'a> {
    /// Those of `missing`; with `gpu`, whether they run there.
    pub fn new(missing: Option<&'a Missing>, survey: &'a Survey, gpu: Option<AnyGpu>) -> Self {
        let mut list = Self {
            missing,
            survey,
            rows: Vec::new(),
            gpu: missing.and_then(|missing| Some(missing.on(gpu?))),
            has_gpu: gpu.is_some(),
        };
        let Some(missing) = missing else {
            return list;
        };
        let lacks = |kernel: &&u32| missing.lacks(**kernel) != 0;
        match &list.gpu {
            None => list.rows.extend(missing.order.iter().filter(lacks)),
            Some(gpu) => {
                for answer in [Answer::No, Answer::Depends, Answer::Jit, Answer::Yes] {
                    let kernels = missing.order.iter().filter(|kernel| {
                        gpu.answer(missing.has[**kernel as usize]) == answer
                            && (answer != Answer::Yes || lacks(kernel))
                    });
                    list.rows.extend(kernels);
                }
            }
        }
        list
    }
}

impl Table for MissingList<'_> {
    fn columns(&self) -> &[Column] {
        static COLUMNS: &[Column] = &[
            column("name", "Name", Unit::Text),
            column("has", "In code for", Unit::Text),
            column("lacks", "Missing for", Unit::Text),
            column(
                "others_have",
                "Other instances of the template are in",
                Unit::Text,
            ),
            hidden("lacking", "Missing for so many", Unit::Number),
            column("runs", "Runs", Unit::Word),
            column("reason", "Why", Unit::Text),
        ];
        let shown = if self.has_gpu {
            COLUMNS.len()
        } else {
            COLUMNS.len() - 2
        };
        &COLUMNS[..shown]
    }

    fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let kernel = usize::try_from(row).ok().and_then(|row| self.rows.get(row));
        let (Some(&kernel), Some(missing)) = (kernel, self.missing) else {
            return Cell::None;
        };
        let has = missing.has[kernel as usize];
        let lacks = missing.lacks(kernel);
        match key {
            "name" => self.survey.kernel_name(kernel.into()).into(),
            "has" => missing.targets(has, 0).into(),
            "lacks" => missing.targets(lacks, has).into(),
            "others_have" => missing.targets(missing.others_have(kernel), has).into(),
            "lacking" => lacks.count_ones().into(),
            "runs" => {
                let gpu = self.gpu.as_ref();
                gpu.map(|gpu| gpu.answer(has).word()).into()
            }
            "reason" => {
                let Some(gpu) = &self.gpu else {
                    return Cell::None;
                };
                match gpu.runs(has).filter(|runs| runs.answer != Answer::No) {
                    Some(runs) => runs.reason.as_str().into(),
                    None if gpu.is_served => {
                        "there is code for this GPU, and the kernel is not in it".into()
                    }
                    None => missing.offers.none_for(gpu.gpu).into(),
                }
            }
            _ => Cell::None,
        }
    }

    fn place(&self, _: u64) -> Option<Span> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_of_a_template_have_its_name() {
        // What llvm-cxxfilt 22 makes of them: scale<float>(float*), ns::scale<4, int>(), (anonymous namespace)::k<int>().
        for (name, expected) in [
            ("_Z5scaleIfEvPT_", Some("_Z5scale")),
            ("_ZN2ns5scaleILi4EiEEvv", Some("_ZN2ns5scale")),
            ("_ZN12_GLOBAL__N_11kIiEEvv", Some("_ZN12_GLOBAL__N_11k")),
            ("_Z5scalePf", None),
            ("vadd", None),
            ("_Z", None),
            ("_ZI", None),
            ("_Z9scaleI", None),
            ("_Z99999999999999999999scaleI", None),
            ("_Z18446744073709551615aI", None),
            ("_Z2éI", Some("_Z2é")),
            ("_Z1éI", None),
        ] {
            assert_eq!(template(name), expected, "{name}");
        }
    }
}
