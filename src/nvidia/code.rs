//! Code: instructions, and what each tells the scheduler.
//!
//! Nothing checks at run time whether a result is there: the assembler says with each instruction how long to stall, which
//! of six scoreboard barriers it sets, and which it waits for. From sm_70 on these 21 bits are the highest of the
//! instruction; before, a control word precedes three instructions; Kepler's precedes seven and says less.

use std::ops::RangeInclusive;

use serde::Serialize;

use super::tables;
use crate::elf::{Elf, Section};
use crate::error::{Diagnostic, Diagnostics, Kind, Result};
use crate::order;
use crate::record::{Layout, Record, bits};
use crate::rows::Progress;
use crate::source::Source;
use crate::span::Span;

/// How instructions are stored: in bundles of a control word and some instructions, or each by itself.
#[derive(Debug)]
pub struct Encoding {
    /// Bytes of a bundle.
    bundle: u64,
    /// Bytes of its control word.
    head: u64,
    /// Instructions of a bundle.
    count: u64,
    /// Bytes of an instruction.
    size: u64,
    /// Lowest bit and width of what is told as its operation.
    opcode: (u32, u32),
    /// Lowest bit of the guard; the bit that negates it is the third above.
    guard: u32,
    /// Operations that no predicate guards, whatever the field has.
    unguarded: &'static [RangeInclusive<u32>],
    layout: &'static Layout,
    /// What the control says of the instruction of that index.
    schedule: fn(&[u8], u64) -> Option<Schedule>,
    /// Whether the control says how long to stall, and nothing of barriers, yielding and reuse.
    only_stalls: bool,
    /// Whether the fields were seen in the vendor's listings; otherwise public sources alone say where they are.
    pub is_verified: bool,
}

static VOLTA: Encoding = Encoding {
    bundle: 16,
    head: 0,
    count: 1,
    size: 16,
    opcode: (0, 12),
    guard: 12,
    unguarded: &[],
    layout: &tables::INSTRUCTION,
    schedule: |bytes, _| bits(bytes, 105, 21).map(Schedule::new),
    only_stalls: false,
    is_verified: true,
};

static MAXWELL: Encoding = Encoding {
    bundle: 32,
    head: 8,
    count: 3,
    size: 8,
    opcode: (52, 12),
    guard: 16,
    // JCAL, PEXIT; CAL, PRET, PLONGJMP, SSY, PBK, PCNT, GETCRSPTR … SETLMEMBASE; RTT, SAM, RAM, IDE, BPT: nvdisasm 12.8 prints
    // no guard whatever the field has.
    unguarded: &[0xe22..=0xe23, 0xe26..=0xe2f, 0xe36..=0xe3a],
    layout: &tables::MAXWELL_BUNDLE,
    schedule: |bytes, index| bits(bytes, 21 * index as u32, 21).map(Schedule::new),
    only_stalls: false,
    is_verified: true,
};

static KEPLER: Encoding = Encoding {
    bundle: 64,
    head: 8,
    count: 7,
    size: 8,
    opcode: (54, 10),
    guard: 18,
    unguarded: &[],
    layout: &tables::KEPLER_BUNDLE,
    schedule: |bytes, index| {
        let byte = bits(bytes, 2 + 8 * index as u32, 8)?;
        Some(Schedule {
            // Of the others, 0x04 is reported to issue with the next and 0 to tell nothing.
            stall: (byte & 0x20 != 0).then_some(byte as u8 & 0x1f),
            ..Schedule::default()
        })
    },
    only_stalls: true,
    is_verified: false,
};

impl Encoding {
    /// That of the architecture; `None` where no public source tells it.
    pub fn of(sm: u32) -> Option<&'static Self> {
        match sm {
            35..=37 => Some(&KEPLER),
            50..=62 => Some(&MAXWELL),
            70.. => Some(&VOLTA),
            _ => None,
        }
    }
}

/// Scoreboard barriers of a warp.
pub const BARRIERS: u32 = 6;

/// What an instruction tells the scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Cycles to the next instruction of the warp; `None` where the control word gives no number.
    pub stall: Option<u8>,
    /// Whether the scheduler may prefer another warp: the bit is 0, as maxas and CuAssembler print Y.
    pub yields: bool,
    /// The barrier that is released when the result is written.
    pub write: Option<u8>,
    /// The barrier that is released when the operands are read.
    pub read: Option<u8>,
    /// The barriers that must be released first, a bit each.
    pub wait: u8,
    /// The operand slots whose register the next instruction may take from the reuse cache, a bit each.
    pub reuse: u8,
}

impl Schedule {
    fn new(bits: u64) -> Self {
        let field = |lsb: u32, width: u32| (bits >> lsb) as u8 & ((1 << width) - 1);
        let barrier = |lsb| Some(field(lsb, 3)).filter(|&barrier| barrier != 7);
        Self {
            stall: Some(field(0, 4)),
            yields: field(4, 1) == 0,
            write: barrier(5),
            read: barrier(8),
            wait: field(11, 6),
            reuse: field(17, 4),
        }
    }

    /// The barriers that it sets, a bit each.
    pub fn sets(self) -> u8 {
        let bit = |barrier: Option<u8>| barrier.map_or(0, |barrier| 1 << barrier);
        (bit(self.write) | bit(self.read)) & ((1 << BARRIERS) - 1)
    }

    /// The barriers that are set and not waited for yet, behind an instruction, from those before it.
    pub fn pending(self, before: u8) -> u8 {
        before & !self.wait | self.sets()
    }
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Offset in the code.
    pub offset: u64,
    /// Its 64-bit words; the second is 0 where it has one.
    pub words: [u64; 2],
    /// How many words it has.
    pub word_count: usize,
    /// Its operation, as far as this floor tells it.
    pub opcode: u32,
    /// The predicate that guards it, and whether it is done where that is false; 7 is always true. `None` for operations
    /// that no predicate guards.
    pub guard: Option<(u8, bool)>,
    /// What it tells the scheduler.
    pub schedule: Schedule,
}

/// The code of a function.
#[derive(Clone, Copy, Debug)]
pub struct Code<'a> {
    source: &'a Source,
    span: Span,
    /// How it is stored.
    pub encoding: &'static Encoding,
}

/// Bytes of code that are read at once.
const CHUNK: u64 = 16 << 10;

impl<'a> Code<'a> {
    /// The code in `span` of `source` for the architecture; `None` where its encoding is not known.
    pub fn new(source: &'a Source, span: Span, sm: u32) -> Option<Self> {
        Some(Self {
            source,
            span,
            encoding: Encoding::of(sm)?,
        })
    }

    /// How many instructions there are. Of one that is cut off nothing is told.
    pub fn len(&self) -> u64 {
        let encoding = self.encoding;
        let rest = self.span.size % encoding.bundle;
        self.span.size / encoding.bundle * encoding.count
            + rest.saturating_sub(encoding.head) / encoding.size
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The offset in the code of instruction `index`.
    fn offset(&self, index: u64) -> u64 {
        let encoding = self.encoding;
        index / encoding.count * encoding.bundle
            + encoding.head
            + index % encoding.count * encoding.size
    }

    /// The bytes of the file of instruction `index`.
    pub fn place(&self, index: u64) -> Option<Span> {
        let at = self.span.offset + self.offset(index);
        (index < self.len()).then(|| Span::new(at, self.encoding.size))
    }

    /// The bytes of the file of the control word of instruction `index`, where it has one.
    pub fn control(&self, index: u64) -> Option<Span> {
        let encoding = self.encoding;
        let at = self.span.offset + index / encoding.count * encoding.bundle;
        (encoding.head > 0 && index < self.len()).then(|| Span::new(at, encoding.head))
    }

    /// The bundle that holds byte `offset` of the code, as far as the code goes.
    fn bundle(&self, offset: u64) -> Span {
        let encoding = self.encoding;
        let start = self.span.offset + offset / encoding.bundle * encoding.bundle;
        Span::new(start, encoding.bundle).clamp(self.span.end())
    }

    /// Instruction `index`.
    pub fn get(&self, index: u64) -> Option<Instruction> {
        if index >= self.len() {
            return None;
        }
        let bytes = self.source.read(self.bundle(self.offset(index))).ok()?;
        self.decode(&bytes, index)
    }

    /// Instruction `index`, of its bundle's bytes.
    fn decode(&self, bundle: &[u8], index: u64) -> Option<Instruction> {
        let encoding = self.encoding;
        let nth = index % encoding.count;
        let at = (encoding.head + nth * encoding.size) as usize;
        let bytes = bundle.get(at..at + encoding.size as usize)?;
        let (lsb, width) = encoding.opcode;
        let opcode = bits(bytes, lsb, width)? as u32;
        let guard = bits(bytes, encoding.guard, 4)? as u8;
        let is_guarded = !encoding
            .unguarded
            .iter()
            .any(|range| range.contains(&opcode));
        Some(Instruction {
            offset: self.offset(index),
            words: [bits(bytes, 0, 64)?, bits(bytes, 64, 64).unwrap_or(0)],
            word_count: bytes.len() / 8,
            opcode,
            guard: is_guarded.then_some((guard & 7, guard & 8 != 0)),
            schedule: (encoding.schedule)(bundle, nth)?,
        })
    }

    /// Tells `each` of the instructions from `start` up to `end`, in their order.
    ///
    /// # Errors
    /// If their bytes cannot be read.
    pub fn each(
        &self,
        start: u64,
        end: u64,
        mut each: impl FnMut(u64, &Instruction),
    ) -> Result<()> {
        let encoding = self.encoding;
        let end = end.min(self.len());
        let mut index = start;
        while index < end {
            let first = self.bundle(self.offset(index));
            let chunk = Span::new(first.offset, CHUNK).clamp(self.span.end());
            let bytes = self.source.read(chunk)?;
            for bundle in bytes.chunks(encoding.bundle as usize) {
                let stop = (index / encoding.count + 1) * encoding.count;
                for index in index..stop.min(end) {
                    if let Some(instruction) = self.decode(bundle, index) {
                        each(index, &instruction);
                    }
                }
                index = stop;
            }
        }
        Ok(())
    }

    /// The barriers that are set before instruction `index` and not waited for yet, in the order of the code: branches are
    /// not followed. Looks back so far and no further.
    pub fn pending(&self, index: u64) -> u8 {
        let mut pending = 0;
        let _ = self.each(index.saturating_sub(LOOK_BACK), index, |_, instruction| {
            pending = instruction.schedule.pending(pending);
        });
        pending
    }

    /// The record of the instruction, or of the bundle, that holds the byte at `offset` of the file.
    ///
    /// # Errors
    /// If its bytes cannot be read.
    pub fn record_at(&self, name: &str, offset: u64) -> Result<Option<Record>> {
        if !self.span.contains(offset) {
            return Ok(None);
        }
        let bundle = self.bundle(offset - self.span.offset);
        let bytes = self.source.read(bundle)?;
        let at = bundle.offset - self.span.offset;
        let title = format!("{name} + 0x{at:x}");
        Ok(Some(self.encoding.layout.read(
            title,
            &bytes,
            bundle.offset,
        )))
    }
}

/// Instructions before one that are asked which barriers they have set.
const LOOK_BACK: u64 = 1024;

/// How often a scoreboard barrier is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct BarrierUse {
    /// Instructions that set it until their result is written.
    pub write: u32,
    /// Instructions that set it until their operands are read.
    pub read: u32,
    /// Instructions that wait for it.
    pub wait: u32,
}

/// Instructions in a row each of which stalls for more than one cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct StallRun {
    /// The first one.
    pub index: u32,
    /// How many.
    pub instructions: u32,
    /// Cycles that they stall for together.
    pub cycles: u32,
    /// Their bytes in the file.
    pub span: Span,
}

/// What the scheduling of a function comes to. Every instruction counts once: loops and branches are not followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct CodeStatistics {
    /// Instructions.
    pub instructions: u32,
    /// Whether the fields were seen in the vendor's listings; otherwise public sources alone say where they are.
    pub is_verified: bool,
    /// Cycles that they stall for together.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub stall_cycles: u64,
    /// How many stall for 0, 1, 2 … cycles. Of the others the control word does not say.
    pub stalls: Vec<u32>,
    /// Instructions that hint to yield; `None` where the architecture's control words say nothing but stalls, which
    /// goes for the next four as well.
    pub yields: Option<u32>,
    /// Instructions that wait for a barrier.
    pub waiting: Option<u32>,
    /// Instructions that keep an operand in the reuse cache.
    pub reusing: Option<u32>,
    /// Operands that are kept, all together.
    pub reused: Option<u32>,
    /// The most operands that are kept at once: an instruction's are there for the next one.
    pub most_reused: Option<u32>,
    /// How often each of the barriers is used; empty where the architecture has none.
    pub barriers: Vec<BarrierUse>,
    /// The runs of stalls of the most cycles, the longest first.
    pub stall_runs: Vec<StallRun>,
}

/// Runs of stalls that are told.
const RUNS: usize = 5;

/// The statistics of a function, part of which are counted.
#[derive(Debug)]
pub struct Count {
    next: u64,
    run: StallRun,
    found: CodeStatistics,
}

impl Default for Count {
    fn default() -> Self {
        Self {
            next: 0,
            run: StallRun::default(),
            found: CodeStatistics {
                instructions: 0,
                is_verified: false,
                stall_cycles: 0,
                stalls: vec![0; 16],
                yields: Some(0),
                waiting: Some(0),
                reusing: Some(0),
                reused: Some(0),
                most_reused: Some(0),
                barriers: vec![BarrierUse::default(); BARRIERS as usize],
                stall_runs: Vec::new(),
            },
        }
    }
}

impl Count {
    /// Counts up to `budget` instructions more.
    ///
    /// # Errors
    /// If their bytes cannot be read.
    pub fn step(&mut self, code: &Code<'_>, budget: u64) -> Result<Progress> {
        let total = code.len();
        let end = self.next.saturating_add(budget).min(total);
        self.found.is_verified = code.encoding.is_verified;
        if code.encoding.only_stalls {
            let found = &mut self.found;
            found.yields = None;
            found.waiting = None;
            found.reusing = None;
            found.reused = None;
            found.most_reused = None;
            found.barriers.clear();
        }
        code.each(self.next, end, |index, instruction| {
            self.add(code, index, instruction.schedule);
        })?;
        self.next = end;
        if end == total {
            self.end_run();
        }
        Ok(Progress {
            done: end,
            total,
            finished: end == total,
        })
    }

    /// What is counted so far.
    pub fn found(&self) -> &CodeStatistics {
        &self.found
    }

    fn add(&mut self, code: &Code<'_>, index: u64, schedule: Schedule) {
        let found = &mut self.found;
        found.instructions += 1;
        let cycles = schedule.stall.unwrap_or(0);
        if let Some(stall) = schedule.stall.map(usize::from) {
            if stall >= found.stalls.len() {
                found.stalls.resize(stall + 1, 0);
            }
            found.stalls[stall] += 1;
        }
        found.stall_cycles += u64::from(cycles);
        let kept = schedule.reuse.count_ones();
        let more = |sum: &mut Option<u32>, by: u32| *sum = sum.map(|sum| sum + by);
        more(&mut found.yields, schedule.yields.into());
        more(&mut found.waiting, (schedule.wait != 0).into());
        more(&mut found.reusing, (kept != 0).into());
        more(&mut found.reused, kept);
        found.most_reused = found.most_reused.map(|most| most.max(kept));
        for (barrier, counts) in found.barriers.iter_mut().enumerate() {
            let is = |set: Option<u8>| u32::from(set.map(usize::from) == Some(barrier));
            counts.write += is(schedule.write);
            counts.read += is(schedule.read);
            counts.wait += u32::from(schedule.wait >> barrier & 1);
        }
        if cycles < 2 {
            self.end_run();
            return;
        }
        let place = code.place(index).unwrap_or_default();
        if self.run.instructions == 0 {
            self.run.index = index as u32;
            self.run.span = place;
        }
        self.run.instructions += 1;
        self.run.cycles = self.run.cycles.saturating_add(cycles.into());
        self.run.span.size = place.end() - self.run.span.offset;
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run.instructions > 0 {
            let runs = &mut self.found.stall_runs;
            runs.push(run);
            order::arrange(runs, |run| u64::MAX - u64::from(run.cycles));
            runs.truncate(RUNS);
        }
    }
}

/// Finds code that ends within a bundle.
pub(super) fn check(elf: &Elf, section: &Section, sm: u32, findings: &mut Diagnostics) {
    let Some(encoding) = Encoding::of(sm) else {
        return;
    };
    let size = elf.stored(section).size;
    if !size.is_multiple_of(encoding.bundle) {
        findings.push(
            Diagnostic::warning(Kind::Format, "the code ends within an instruction")
                .expected(format!("a multiple of {} bytes", encoding.bundle), size)
                .within(format!(
                    "section {} {}, sh_size",
                    section.index, section.name
                ))
                .at(elf.source().absolute(section.header)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five instructions of a public walk-through of a vadd launch on sm_89 (fergusfinn, 2026): the upper words, and what its
    /// table says of them: stall, the yield bit, the barrier set, the barrier waited for.
    const EXAMPLE: [(u64, u8, bool, Option<u8>, u8); 5] = [
        (0x000e_a800_0c1e_1900, 4, true, Some(2), 0),
        (0x000e_a200_0c1e_1900, 1, true, Some(2), 0),
        (0x000f_e200_078e_0207, 1, true, None, 0),
        (0x004f_ca00_0000_0000, 5, false, None, 1 << 2),
        (0x000f_e200_0c10_1904, 1, true, None, 0),
    ];

    fn example() -> Source {
        let words = EXAMPLE
            .iter()
            .flat_map(|(word, ..)| [[0; 8], word.to_le_bytes()].concat());
        Source::memory(words.collect::<Vec<u8>>())
    }

    #[test]
    fn the_article_s_five_instructions_decode_to_its_table() {
        let source = example();
        let code = Code::new(&source, Span::new(0, 80), 89).unwrap();
        assert_eq!(code.len(), 5);
        for (index, &(word, stall, bit, write, wait)) in EXAMPLE.iter().enumerate() {
            let instruction = code.get(index as u64).unwrap();
            let expected = Schedule {
                stall: Some(stall),
                yields: !bit,
                write,
                read: None,
                wait,
                reuse: 0,
            };
            assert_eq!(instruction.schedule, expected, "{word:x}");
        }
        // Set by both loads, awaited by FADD.
        let pending: Vec<u8> = (0..=5).map(|index| code.pending(index)).collect();
        assert_eq!(pending, [0, 4, 4, 4, 0, 0]);
    }

    #[test]
    fn statistics_in_steps_of_any_size_are_alike() {
        let source = example();
        let code = Code::new(&source, Span::new(0, 80), 89).unwrap();
        for budget in [1, 2, 100] {
            let mut count = Count::default();
            while !count.step(&code, budget).unwrap().finished {}
            let found = count.found();
            assert_eq!((found.instructions, found.stall_cycles), (5, 12));
            assert_eq!(found.stalls[..6], [0, 3, 0, 0, 1, 1]);
            assert_eq!((found.waiting, found.yields), (Some(1), Some(1)));
            assert_eq!((found.barriers[2].write, found.barriers[2].wait), (2, 1));
            let runs: Vec<_> = found
                .stall_runs
                .iter()
                .map(|r| (r.index, r.cycles))
                .collect();
            assert_eq!(runs, [(3, 5), (0, 4)]);
        }
    }

    #[test]
    fn keplers_control_gives_a_number_with_bit_5_only() {
        // envytools' notes on scheduling data: 0x00 no information, 0x04 issued with the next, 0x20 | n for n cycles.
        let bytes = [0, 0x04, 0x20, 0x29, 0x3f, 0x04, 0x00];
        let word = bytes
            .iter()
            .rev()
            .fold(0_u64, |word, &byte| word << 8 | byte)
            << 2;
        let mut bundle = [0; 64];
        bundle[..8].copy_from_slice(&word.to_le_bytes());
        let source = Source::memory(bundle.to_vec());
        let code = Code::new(&source, Span::new(0, 64), 35).unwrap();
        let stalls = (0..7).map(|index| code.get(index).unwrap().schedule.stall);
        let expected = [None, None, Some(0), Some(9), Some(31), None, None];
        assert!(stalls.eq(expected));
        let mut count = Count::default();
        count.step(&code, u64::MAX).unwrap();
        let found = count.found();
        assert_eq!((found.stall_cycles, found.stalls.iter().sum()), (40, 3_u32));
    }

    #[test]
    fn control_that_only_stalls_has_no_sums_of_the_rest() {
        let source = Source::memory(vec![0xff; 128]);
        let code = Code::new(&source, Span::new(0, 128), 35).unwrap();
        let mut count = Count::default();
        count.step(&code, u64::MAX).unwrap();
        let found = count.found();
        // Two control words, each for 7 instructions that stall for 31 cycles.
        assert_eq!((found.instructions, found.stall_cycles), (14, 14 * 31));
        assert_eq!(
            (found.waiting, found.yields, found.reused),
            (None, None, None)
        );
        assert!(found.barriers.is_empty());
    }

    struct Zeros(u64);

    impl crate::source::ReadAt for Zeros {
        fn size(&self) -> u64 {
            self.0
        }
        fn read_at(&self, _: u64, into: &mut [u8]) -> std::result::Result<(), String> {
            into.fill(0);
            Ok(())
        }
    }

    #[test]
    fn only_what_is_looked_at_is_read() {
        let page = 64 << 10;
        let size = 160 * page; // 10 MiB
        for sm in [35, 52, 90] {
            let source = Source::sliced(Zeros(size));
            let code = Code::new(&source, Span::new(0, size), sm).unwrap();
            let middle = code.len() / 2;
            code.get(middle).unwrap();
            code.pending(middle);
            // An instruction and the thousand before it lie in two pages or, where they are longest, three.
            assert!(source.fetched() <= 3 * page, "{}", source.fetched());
            let mut count = Count::default();
            while !count.step(&code, 10_000).unwrap().finished {}
            assert_eq!(u64::from(count.found().instructions), code.len());
            assert!(source.fetched() <= size + 4 * page);
        }
    }

    #[test]
    fn code_that_is_cut_off_has_the_instructions_that_are_whole() {
        let source = Source::memory(vec![0xff; 256]);
        for size in 0..256 {
            let span = Span::new(0, size);
            for (sm, expected) in [
                (35, size / 64 * 7 + (size % 64).saturating_sub(8) / 8),
                (52, size / 32 * 3 + (size % 32).saturating_sub(8) / 8),
                (90, size / 16),
            ] {
                let code = Code::new(&source, span, sm).unwrap();
                assert_eq!(code.len(), expected);
                let mut seen = 0;
                code.each(0, u64::MAX, |index, instruction| {
                    assert_eq!(code.get(index).as_ref(), Some(instruction));
                    seen += 1;
                })
                .unwrap();
                assert_eq!(seen, expected);
                assert_eq!(code.get(expected), None);
                assert_eq!(code.record_at("", size).unwrap().map(|r| r.name), None);
                if size > 0 {
                    assert!(code.record_at("", size - 1).unwrap().is_some());
                }
            }
        }
    }
}
