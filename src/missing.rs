//! Kernels that a file has for some of its architectures and not for others: whoever runs it on the wrong GPU is told that there is no
//! kernel image, or no such kernel. Kernels are told apart by what they are loaded with (`loaded.rs`): one of another fatbin does not help.

use std::rc::Rc;

use crate::compatibility::{Answer, Compatibility, Gpu};
use crate::document::Document;
use crate::index::{self, Index};
use crate::loaded::LoadedWith;
use crate::order;
use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::runs::{AnyGpu, Offer, Offers, Set};
use crate::span::Span;
use crate::survey::{INNER, Survey};

/// Which kernels there are in what code, once all members were opened.
pub struct Missing {
    offers: Offers,
    /// For each of the offers those that run where it does: what lacks it and has one of these does not miss it.
    covers: Vec<Set>,
    /// Those of them that are PTX.
    texts: Set,
    libraries: Vec<Library>,
    modules: Vec<Module>,
    kernels: Vec<Kernel>,
    /// What instances of a template are in, those of a library.
    templates: Vec<Set>,
    /// The kernels in the order in which they are listed.
    order: Vec<u32>,
    /// Where kernels are, and how many of them.
    sets: Vec<(Set, u64)>,
    /// Everything that has a kernel: code for NVIDIA's GPUs, and for AMD's.
    families: [Set; 2],
}

/// What is one for whoever uses it: a program, a library, a fatbin.
struct Library {
    path: Rc<str>,
    /// Everything in it.
    all: Set,
    /// Of that what has a kernel, for NVIDIA's GPUs and for AMD's.
    families: [Set; 2],
}

/// What code is loaded with: a fatbin, a bundle, or its library.
struct Module {
    path: Rc<str>,
    library: u32,
    /// Everything in it.
    all: Set,
}

/// A kernel of a module.
struct Kernel {
    name: u32,
    module: u32,
    /// Where it is.
    has: Set,
    /// Its template, by its number, if it is an instance of one.
    template: Option<u32>,
}

impl Missing {
    /// What `survey` has found in `document`, whose code is in `offers`.
    pub fn new(offers: Offers, document: &Document, survey: &Survey) -> Self {
        let covers = offers.all().iter().map(|offer| offers.covering(offer));
        let mut missing = Self {
            covers: covers.collect(),
            texts: offers.set(Offer::is_text),
            libraries: Vec::new(),
            modules: Vec::new(),
            kernels: Vec::new(),
            templates: Vec::new(),
            order: Vec::new(),
            sets: Vec::new(),
            families: [0; 2],
            offers,
        };
        let modules = missing.find_modules(document, survey);
        missing.find_kernels(survey, &modules);
        let mut known = Index::default();
        for kernel in &missing.kernels {
            let number = known.add(&kernel.has.to_le_bytes());
            if number == missing.sets.len() {
                missing.sets.push((kernel.has, 0));
            }
            missing.sets[number].1 += 1;
        }
        let mut order: Vec<u32> = (0..missing.kernels.len() as u32).collect();
        // What other instances of its template have was hardly left out on purpose; nor was one architecture of many.
        order::arrange(&mut order, |&kernel| {
            let kernel = &missing.kernels[kernel as usize];
            let lacks = missing.lacks(kernel).count_ones();
            u64::from(missing.others_have(kernel) == 0) << 32 | u64::from(lacks)
        });
        missing.order = order;
        missing
    }

    /// Finds what members are loaded with: for each that is code, by its number, the module.
    fn find_modules(&mut self, document: &Document, survey: &Survey) -> Vec<(u32, u32)> {
        let contents = document.contents();
        let file = LoadedWith::file(document.format());
        let of_file = (0..contents.members.len() as u32)
            .filter(|&index| contents.members[index as usize].code().is_some())
            .map(|index| (index, file.member(contents, "", index)));
        let inner = (INNER..).zip(survey.inner());
        let inner = inner.map(|(number, inner)| (number, inner.loaded.clone()));
        let (mut known_libraries, mut known) = (Index::default(), Index::default());
        let mut found = Vec::new();
        for (number, LoadedWith { library, module }) in of_file.chain(inner) {
            let library = library.unwrap_or_default();
            let module = module.unwrap_or_else(|| library.clone());
            let at = known_libraries.add(library.as_bytes());
            if at == self.libraries.len() {
                self.libraries.push(Library {
                    path: library,
                    all: 0,
                    families: [0; 2],
                });
            }
            let offer = self.offers.of_member(number);
            let offer = offer.map_or(0, |offer| 1 << offer);
            self.libraries[at].all |= offer;
            let key = [&(at as u32).to_le_bytes(), module.as_bytes()].concat();
            let number_of = known.add(&key);
            if number_of == self.modules.len() {
                self.modules.push(Module {
                    path: module,
                    library: at as u32,
                    all: 0,
                });
            }
            self.modules[number_of].all |= offer;
            found.push((number, number_of as u32));
        }
        found
    }

    fn find_kernels(&mut self, survey: &Survey, modules: &[(u32, u32)]) {
        let (mut known, mut known_templates) = (Index::default(), Index::default());
        for (member, name) in survey.found() {
            let Some(offer) = self.offers.of_member(member) else {
                continue;
            };
            let module = modules.binary_search_by_key(&member, |(number, _)| *number);
            let Ok(module) = module.map(|at| modules[at].1) else {
                continue;
            };
            if !self.offers.all()[offer].has_kernels() {
                continue;
            }
            let library = self.modules[module as usize].library;
            let at = known.add(&index::pair(name.into(), module.into()));
            if at == self.kernels.len() {
                let template = survey.kernel_name(name.into()).and_then(template);
                let template = template.map(|template| {
                    let key = [&library.to_le_bytes(), template.as_bytes()].concat();
                    known_templates.add(&key) as u32
                });
                self.kernels.push(Kernel {
                    name,
                    module,
                    has: 0,
                    template,
                });
            }
            self.kernels[at].has |= 1 << offer;
            let is_for_amd = usize::from(!self.offers.all()[offer].is_for_nvidia());
            self.families[is_for_amd] |= 1 << offer;
            self.libraries[library as usize].families[is_for_amd] |= 1 << offer;
        }
        // What was linked stands for what it was linked from.
        let relocatable = self.offers.set(Offer::is_relocatable);
        let (modules, libraries) = (&self.modules, &self.libraries);
        self.kernels.retain(|kernel| {
            let library = modules[kernel.module as usize].library;
            let [nvidia, amd] = libraries[library as usize].families;
            kernel.has & !relocatable != 0 || (nvidia | amd) & !relocatable == 0
        });
        self.templates = vec![0; known_templates.len()];
        for kernel in &self.kernels {
            if let Some(template) = kernel.template {
                self.templates[template as usize] |= kernel.has;
            }
        }
    }

    /// How many kernels were found in code for GPUs of the vendor of `gpu`; of a file that has none for these, in all.
    pub fn kernel_count(&self, gpu: AnyGpu) -> u64 {
        let of = self.family(gpu);
        let sets = self.sets.iter().filter(|(has, _)| has & of != 0);
        sets.map(|(_, count)| count).sum()
    }

    /// How many of them do not run on `gpu`.
    pub fn not_running(&self, gpu: AnyGpu) -> u64 {
        let of = self.family(gpu);
        let gpu = self.on(gpu);
        let sets = self.sets.iter();
        let sets = sets.filter(|(has, _)| has & of != 0 && gpu.answer(*has) == Answer::No);
        sets.map(|(_, count)| count).sum()
    }

    /// Of a file with several libraries that have code for GPUs of the vendor of `gpu`, each with its answer; else nothing.
    pub fn libraries(&self, gpu: AnyGpu) -> Vec<Gpu> {
        let of = self.family(gpu);
        let libraries = self.libraries.iter();
        let libraries = libraries.filter(|library| library.all & of != 0);
        let answers = libraries.map(|library| Gpu {
            name: library.path.to_string(),
            products: "",
            ..self.offers.on(gpu, library.all)
        });
        let answers: Vec<_> = answers.collect();
        if answers.len() > 1 {
            answers
        } else {
            Vec::new()
        }
    }

    /// The code for GPUs of its vendor; where there is none, all code.
    fn family(&self, gpu: AnyGpu) -> Set {
        match self.offers.set(|offer| gpu.is_for(offer)) {
            0 => Set::MAX,
            set => set,
        }
    }

    fn on(&self, gpu: AnyGpu) -> OnGpu {
        let offers = self.offers.all().iter().map(|offer| offer.on(gpu));
        let mut found = OnGpu {
            gpu,
            family: self.family(gpu),
            offers: offers.collect(),
        };
        found.family &= self.families[0] | self.families[1];
        found
    }

    fn library_of(&self, kernel: &Kernel) -> &Library {
        let module = &self.modules[kernel.module as usize];
        &self.libraries[module.library as usize]
    }

    /// What it lacks of the families of its library that it is for, and what nothing that it has runs in place of; of PTX what is loaded
    /// with it.
    fn lacks(&self, kernel: &Kernel) -> Set {
        let families = self.library_of(kernel).families.into_iter();
        let families = families.filter(|family| kernel.has & family != 0);
        let loaded = self.modules[kernel.module as usize].all | !self.texts;
        let mut lacks = families.fold(0, |all, family| all | family) & loaded & !kernel.has;
        for (at, covers) in self.covers.iter().enumerate() {
            if covers & kernel.has != 0 {
                lacks &= !(1 << at);
            }
        }
        lacks
    }

    /// What it lacks and other instances of its template are in.
    fn others_have(&self, kernel: &Kernel) -> Set {
        let template = kernel.template.map(|at| self.templates[at as usize]);
        template.unwrap_or_default() & self.lacks(kernel)
    }

    /// The targets of that code, each once, but for those of `without`.
    fn targets(&self, set: Set, without: Set) -> String {
        let known = self.offers.targets(without);
        let mut targets = self.offers.targets(set);
        targets.retain(|target| !known.contains(target));
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
    /// Code with kernels for GPUs of its vendor.
    family: Set,
    offers: Vec<Compatibility>,
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
        let kernel = |&number: &&u32| &missing.kernels[*number as usize];
        let lacks = |number: &&u32| missing.lacks(kernel(number)) != 0;
        match &list.gpu {
            None => list.rows.extend(missing.order.iter().filter(lacks)),
            Some(gpu) => {
                for answer in [Answer::No, Answer::Depends, Answer::Jit, Answer::Yes] {
                    let kernels = missing.order.iter().filter(|number| {
                        let has = kernel(number).has;
                        has & gpu.family != 0
                            && gpu.answer(has) == answer
                            && (answer != Answer::Yes || lacks(number))
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
            column("in", "In", Unit::Text),
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
        let kernel = &missing.kernels[kernel as usize];
        let has = kernel.has;
        let lacks = missing.lacks(kernel);
        match key {
            "name" => self.survey.kernel_name(kernel.name.into()).into(),
            "has" => missing.targets(has, 0).into(),
            "lacks" => missing.targets(lacks, has).into(),
            "others_have" => missing.targets(missing.others_have(kernel), has).into(),
            "in" => (&*missing.modules[kernel.module as usize].path).into(),
            "lacking" => lacks.count_ones().into(),
            "runs" => {
                let gpu = self.gpu.as_ref();
                gpu.map(|gpu| gpu.answer(has).word()).into()
            }
            "reason" => {
                let Some(gpu) = &self.gpu else {
                    return Cell::None;
                };
                let all = missing.library_of(kernel).all;
                match gpu.runs(has).filter(|runs| runs.answer != Answer::No) {
                    Some(runs) => runs.reason.as_str().into(),
                    None if gpu.answer(all) != Answer::No => {
                        "there is code for this GPU, and the kernel is not in it".into()
                    }
                    None => missing.offers.none_for(gpu.gpu, all).into(),
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
