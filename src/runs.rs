//! On which GPUs runs what a file holds: the best answer of its members, from what their headers say.

use crate::amdgpu::{self, Target};
use crate::compatibility::{Answer, Compatibility, Gpu, Served};
use crate::container::{Code, Contents, Format, Member};
use crate::index::Index;
use crate::nvidia::runs::{Architecture, Chip, unless_linked};
use crate::nvidia::{ptx, tables};
use crate::order;
use crate::source::Source;
use crate::survey::{INNER, Survey};

/// A GPU of any family.
#[derive(Clone, Copy, Debug)]
pub enum AnyGpu {
    /// One of NVIDIA's.
    Nvidia(&'static Chip),
    /// One of AMD's, in the modes that are said.
    Amd(Target),
}

impl AnyGpu {
    /// The GPU that is asked for by the family's own names, or by a part of what it is sold as that no other is sold as: `sm_90`,
    /// `8.9`, `gfx90a:xnack-`, `MI300X`.
    pub fn named(asked: &str) -> Option<Self> {
        let nvidia = Chip::named(asked).map(Self::Nvidia);
        nvidia.or_else(|| amdgpu::runs::gpu(asked).map(Self::Amd))
    }

    /// It with an answer.
    fn with(self, runs: Compatibility) -> Gpu {
        match self {
            Self::Nvidia(chip) => chip.with(runs),
            Self::Amd(gpu) => amdgpu::runs::with(gpu, runs),
        }
    }

    /// Whether code is for GPUs of its vendor.
    pub fn is_for(self, offer: &Offer) -> bool {
        matches!(self, Self::Nvidia(_)) == offer.is_for_nvidia()
    }
}

/// What code is for.
#[derive(Clone, Copy)]
enum For {
    Nvidia(Architecture),
    Amd(Target),
    /// Any of AMD's: SPIR-V for `amdgcnspirv`.
    AnyOfAmd,
}

/// What some of the members are: one kind of code for one architecture.
pub struct Offer {
    code: Code,
    target: For,
    /// What people call that kind of code.
    word: &'static str,
    /// Whether it is still to be linked.
    is_relocatable: bool,
    /// The path of the first member of it.
    path: Box<str>,
}

impl Offer {
    fn new(
        code: Code,
        format: Format,
        target: &str,
        is_relocatable: bool,
        path: String,
    ) -> Option<Self> {
        let nvidia = || Architecture::named(target).map(For::Nvidia);
        let amd = || Target::named(target).map(For::Amd);
        let target = match format {
            Format::Amdgpu => amd(),
            Format::Cubin | Format::Ptx | Format::Nvvm | Format::TileIr => nvidia(),
            Format::Spirv if target == "amdgcnspirv" => Some(For::AnyOfAmd),
            _ => amd().or_else(nvidia),
        }?;
        let word = match format {
            Format::Ptx => "PTX",
            Format::LlvmBitcode => "LLVM bitcode",
            Format::Nvvm => "NVVM",
            Format::TileIr => "Tile IR",
            Format::Spirv => "SPIR-V",
            _ => "machine code",
        };
        Some(Self {
            code,
            target,
            word,
            is_relocatable,
            path: path.into(),
        })
    }

    /// What it is for, as its kind of code calls it: `sm_86`, `compute_86`, `gfx90a:xnack-`.
    pub fn target(&self) -> String {
        match self.target {
            For::Nvidia(own) if self.code == Code::Machine => own.to_string(),
            For::Nvidia(own) => own.to_string().replacen("sm", "compute", 1),
            For::Amd(own) => own.to_string(),
            For::AnyOfAmd => "amdgcnspirv".into(),
        }
    }

    /// Whether it is for NVIDIA's GPUs.
    pub fn is_for_nvidia(&self) -> bool {
        matches!(self.target, For::Nvidia(_))
    }

    /// Whether it is what kernels are called in: machine code, or what is compiled to it at once.
    pub fn has_kernels(&self) -> bool {
        self.code != Code::Intermediate
    }

    /// Whether it is still to be linked.
    pub fn is_relocatable(&self) -> bool {
        self.is_relocatable
    }

    /// Whether it is PTX.
    pub fn is_text(&self) -> bool {
        self.code == Code::Ptx
    }

    /// Whether it runs on `gpu`, and why.
    pub fn on(&self, gpu: AnyGpu) -> Compatibility {
        self.on_if(gpu, self.is_relocatable)
    }

    fn on_if(&self, gpu: AnyGpu, is_relocatable: bool) -> Compatibility {
        match (self.target, gpu) {
            (For::Nvidia(own), AnyGpu::Nvidia(chip)) => match self.code {
                Code::Machine => unless_linked(own.of_machine_code(chip), is_relocatable),
                Code::Ptx => unless_linked(own.of_ptx(chip), is_relocatable),
                Code::Intermediate => own.of_intermediate(chip, self.word),
            },
            (For::Amd(own), AnyGpu::Amd(gpu)) => {
                let first = match self.code {
                    Code::Machine if is_relocatable => Some("it has to be linked first".into()),
                    Code::Machine => None,
                    _ => Some(format!(
                        "{}: it has to be compiled and linked first",
                        self.word
                    )),
                };
                amdgpu::runs::of_target(own, gpu, first)
            }
            (For::AnyOfAmd, AnyGpu::Amd(_)) => Compatibility {
                answer: Answer::Jit,
                reason: "the runtime compiles the SPIR-V".into(),
            },
            _ => Compatibility {
                answer: Answer::No,
                reason: "the code is for another vendor's GPUs".into(),
            },
        }
    }

    /// Where it is listed: machine code before PTX, both by architecture.
    fn rank(&self) -> u64 {
        let number = match self.target {
            For::Nvidia(own) => own.sm * 2 + u32::from(own.variant.is_some()),
            For::Amd(_) | For::AnyOfAmd => u32::MAX,
        };
        (self.code as u64) << 32 | u64::from(number)
    }

    /// Of code that runs as well as other that counts which is nearer to the GPU: the later one, a processor before those that
    /// stand for it.
    fn nearness(&self) -> u64 {
        match self.target {
            For::Amd(own) => u64::from(!own.processor.is_generic()),
            _ => self.rank(),
        }
    }
}

/// Kinds of code and architectures that are told apart in a file, at most.
pub const OFFER_LIMIT: usize = 128;

/// Which of [`Offers::all`]: a bit each.
pub type Set = u128;

/// Which code there is in a file.
#[derive(Default)]
pub struct Offers {
    all: Vec<Offer>,
    /// For each member the one that it is of, if it is of any: those of the file, then those that opening these told of.
    members: Vec<Option<u8>>,
    /// How many members the file has.
    of_file: usize,
}

impl Offers {
    /// Which code the members of a file are.
    pub fn of(contents: &Contents, survey: &Survey) -> Self {
        let mut offers = Self {
            of_file: contents.members.len(),
            ..Self::default()
        };
        let mut known = Index::default();
        let mut numbers: Vec<Option<u8>> = Vec::new();
        let of_file = (0..).zip(&contents.members);
        let inner = survey.inner().iter().map(|inner| &inner.member);
        for (index, member) in of_file.chain((INNER..).zip(inner)) {
            let mut number = None;
            if let (Some(code), Some(target)) = (member.code(), &member.target) {
                let is_relocatable = is_relocatable(member, survey, index);
                let word = member.format.word().as_bytes();
                let key = [word, &[u8::from(is_relocatable)], target.as_bytes()].concat();
                let at = known.add(&key);
                if at == numbers.len() {
                    let path = survey.path(contents, index);
                    let offer = Offer::new(code, member.format, target, is_relocatable, path);
                    let offer = offer.filter(|_| offers.all.len() < OFFER_LIMIT);
                    numbers.push(offer.as_ref().map(|_| offers.all.len() as u8));
                    offers.all.extend(offer);
                }
                number = numbers[at];
            }
            offers.members.push(number);
        }
        offers.arrange();
        offers
    }

    /// Puts machine code before PTX, both by architecture.
    fn arrange(&mut self) {
        let order = order::by_key(self.all.len(), &|at| self.all[at].rank());
        let mut places = vec![0; order.len()];
        for (place, &at) in order.iter().enumerate() {
            places[at as usize] = place as u8;
        }
        for number in self.members.iter_mut().flatten() {
            *number = places[usize::from(*number)];
        }
        order::arrange(&mut self.all, Offer::rank);
    }

    /// The code that a PTX text is.
    pub fn of_ptx(source: &Source) -> Self {
        let target = ptx::target(source).ok().flatten().unwrap_or_default();
        let offer = Offer::new(Code::Ptx, Format::Ptx, &target, false, String::new());
        Self {
            all: offer.into_iter().collect(),
            ..Self::default()
        }
    }

    /// The code: machine code before PTX, both by architecture.
    pub fn all(&self) -> &[Offer] {
        &self.all
    }

    /// Which of [`all`](Self::all) the member of that number is.
    pub fn of_member(&self, number: u32) -> Option<usize> {
        let inner = number.checked_sub(INNER);
        let at = inner.map_or(number as usize, |inner| self.of_file + inner as usize);
        self.members.get(at)?.map(usize::from)
    }

    /// The GPUs of the families that there is code for.
    pub fn gpus(&self) -> Vec<AnyGpu> {
        let mut gpus = Vec::new();
        if self.all.iter().any(Offer::is_for_nvidia) {
            gpus.extend(tables::CHIPS.iter().map(AnyGpu::Nvidia));
        }
        if !self.all.iter().all(Offer::is_for_nvidia) {
            gpus.extend(amdgpu::runs::gpus().into_iter().map(AnyGpu::Amd));
        }
        gpus
    }

    /// What runs, on the GPUs that `offer` is made for, as well as it does, or once it is compiled, whether linked or not; of PTX, which is
    /// for later ones, other PTX.
    pub fn covering(&self, offer: &Offer) -> Set {
        let gpu = match offer.target {
            For::Nvidia(own) => AnyGpu::named(&own.to_string()),
            For::Amd(own) => Some(AnyGpu::Amd(own)),
            For::AnyOfAmd => None,
        };
        let Some(gpu) = gpu else {
            return 0;
        };
        let worst = offer.on_if(gpu, false).answer.max(Answer::Jit);
        let is_as_good = |other: &Offer| {
            let is_later = !offer.is_text() || other.is_text();
            is_later && other.on_if(gpu, false).answer <= worst
        };
        self.set(|other| worst != Answer::No && is_as_good(other))
    }

    /// Those that are so.
    pub fn set(&self, is_in: impl Fn(&Offer) -> bool) -> Set {
        let all = self.all.iter().enumerate();
        all.fold(0, |set, (at, offer)| set | Set::from(is_in(offer)) << at)
    }

    fn of_set(&self, set: Set) -> impl Iterator<Item = &Offer> {
        let all = self.all.iter().enumerate();
        all.filter(move |(at, _)| set >> at & 1 == 1)
            .map(|(_, offer)| offer)
    }

    /// What those of `set` are for, each once.
    pub fn targets(&self, set: Set) -> Vec<String> {
        let mut targets: Vec<String> = Vec::new();
        for target in self.of_set(set).map(Offer::target) {
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        targets
    }

    /// The best answer of those `among` the code for `gpu`, and what gives it.
    pub fn on(&self, gpu: AnyGpu, among: Set) -> Gpu {
        let mut best: Option<(&Offer, Compatibility)> = None;
        for offer in self.of_set(among) {
            let runs = offer.on(gpu);
            let is_better = best.as_ref().is_none_or(|(known, best)| {
                let by_answer = runs.answer.cmp(&best.answer);
                by_answer
                    .then(known.nearness().cmp(&offer.nearness()))
                    .is_lt()
            });
            if is_better {
                best = Some((offer, runs));
            }
        }
        match best {
            Some((offer, runs)) if runs.answer != Answer::No => {
                let mut found = gpu.with(runs);
                found.served_by = (!self.members.is_empty()).then(|| Served {
                    by: format!("{} for {}", offer.word, offer.target()),
                    path: offer.path.clone(),
                });
                found
            }
            best => gpu.with(Compatibility {
                answer: Answer::No,
                reason: match best {
                    Some((_, runs)) if self.of_set(among).count() == 1 => runs.reason,
                    _ => self.none_for(gpu, among),
                },
            }),
        }
    }

    /// Why none of those `among` the code runs on `gpu`: what there is instead.
    pub fn none_for(&self, gpu: AnyGpu, among: Set) -> String {
        let targets = self.targets(among & self.set(|offer| gpu.is_for(offer)));
        let (told, rest) = targets.split_at(targets.len().min(TOLD));
        match (told, rest.len()) {
            ([], _) => "there is no code for GPUs of that family".into(),
            (told, 0) => format!("there is code for {} only", told.join(", ")),
            (told, rest) => format!("there is code for {} and {rest} more only", told.join(", ")),
        }
    }
}

/// Architectures that are told in a reason, at most.
const TOLD: usize = 16;

/// Whether the member is still to be linked: as headers say it, or once it was opened.
fn is_relocatable(member: &Member, survey: &Survey, index: u32) -> bool {
    let opened = survey.of(index).is_some_and(|found| found.is_relocatable);
    member.is_relocatable || opened
}
