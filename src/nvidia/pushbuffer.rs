//! Pushbuffers: words that set methods of a GPU's engines.
//!
//! A header says which method is set, on which subchannel, how many words of data follow it, and where each of them goes.
//! Which engine a subchannel leads to, `SET_OBJECT` says by a class; methods below 0x100 are the host's, whatever the
//! subchannel. Headers before Fermi look otherwise than those after it.
//!
//! A pushbuffer is read once from its beginning. What is kept of that are marks, so that any of its words is found again by
//! reading some headers; and what it uploads that may be a launch descriptor, and the launches.

use std::cell::RefCell;

use super::methods::{Class, Engine, Method};
use super::tables;
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::order;
use crate::record::{Kind as FieldKind, Layout, Record};
use crate::source::Source;
use crate::span::Span;

/// Bytes of a word.
pub const WORD: u64 = 4;
/// A mark is kept for each so many bursts.
const STRETCH: u64 = 64;
/// Words of zero that are one burst, at most.
const ZEROS: u32 = 4096;
/// Uploads and launches that are kept of each, at most.
pub const KEPT: usize = 1 << 16;
/// Bytes of a launch descriptor, at most.
const LARGEST: u32 = 512;
/// Classes that are kept, at most.
const BOUND: usize = 64;
/// Rows between the halves of a value, at most.
const NEAR: u64 = 4;
/// Methods below this address are the host's.
const HOST: u32 = 0x100;

/// What a header does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Each word of data goes to the next address.
    Increment,
    /// Each word goes to the same address.
    Same,
    /// The first word goes to the address, all others to the next one.
    Once,
    /// The data is in the header.
    Immediate,
    /// What follows is for some GPUs of several.
    Mask,
    /// The segment ends.
    End,
    /// Words of zero, which do nothing.
    Nothing,
    /// No header that there is.
    Unknown,
}

impl Op {
    /// Its word in what is handed out.
    pub fn word(self) -> &'static str {
        match self {
            Self::Increment => "incrementing",
            Self::Same => "non-incrementing",
            Self::Once => "increment once",
            Self::Immediate => "immediate",
            Self::Mask => "subdevice mask",
            Self::End => "end of segment",
            Self::Nothing => "nothing",
            Self::Unknown => "unknown",
        }
    }
}

/// A header and the words of data behind it.
#[derive(Clone, Debug)]
pub struct Burst {
    /// Where the header is.
    pub offset: u64,
    /// The header.
    pub header: u32,
    /// What it does.
    pub op: Op,
    /// The subchannel.
    pub subchannel: u8,
    /// The address of the method, in bytes.
    pub address: u32,
    /// Words of data that the header says follow; of [`Op::Nothing`] all words of zero.
    pub count: u32,
    /// Words of data that are there.
    pub present: u32,
    /// Where the data begins.
    pub data: u64,
    /// Which burst it is.
    pub number: u64,
    /// The row of its first word.
    pub row: u64,
    /// The classes that the subchannels have when it begins; 0 where none is known.
    classes: [u16; 8],
}

impl Burst {
    /// Its bytes.
    pub fn span(&self) -> Span {
        let size = match self.op {
            Op::Nothing => u64::from(self.count) * WORD,
            _ => self.data - self.offset + u64::from(self.present) * WORD,
        };
        Span::new(self.offset, size)
    }

    /// Its rows: a word of data each, or one for the header.
    pub fn rows(&self) -> u64 {
        match self.op {
            Op::Nothing => 1,
            _ => u64::from(self.present).max(1),
        }
    }

    /// Where word `i` of its data goes.
    pub fn address_of(&self, i: u32) -> u32 {
        match self.op {
            Op::Increment => self.address.saturating_add(i.saturating_mul(4)),
            Op::Once => self.address + 4 * u32::from(i > 0),
            _ => self.address,
        }
    }

    /// Whether word `i` is set, as data or in the header.
    fn sets(&self, i: u32) -> bool {
        match self.op {
            Op::Increment | Op::Same | Op::Once => i < self.present,
            Op::Immediate => i == 0,
            _ => false,
        }
    }

    fn is_cut(&self) -> bool {
        self.present < self.count && self.op != Op::Nothing
    }
}

/// A word that is set, or a header without any.
pub struct Word {
    /// What it belongs to.
    pub burst: Burst,
    /// Which of its words it is.
    pub index: u32,
    /// Where it is: the data, or a header that has it.
    pub offset: u64,
    /// The value; `None` where the header sets nothing.
    pub value: Option<u32>,
    /// The address that is set, in bytes.
    pub address: u32,
}

/// A beginning of bursts.
#[derive(Clone, Copy)]
struct Mark {
    offset: u64,
    row: u64,
    classes: [u16; 8],
}

/// Bytes that a pushbuffer writes to memory.
#[derive(Clone, Debug)]
pub struct Upload {
    /// Where they are written to; 0 where that is not said.
    pub address: u64,
    /// Whether they are written as an inline launch descriptor, not as inline data.
    pub is_inline: bool,
    /// Where the words are, in their order.
    pub runs: Vec<Span>,
    /// The class of the subchannel.
    pub class: u16,
}

impl Upload {
    /// Bytes.
    pub fn size(&self) -> u64 {
        self.runs.iter().map(|run| run.size).sum()
    }
}

/// A launch: a launch descriptor is handed over by its address.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Where the word is that launches.
    pub offset: u64,
    /// The address of the launch descriptor; `None` where it is not said.
    pub address: Option<u64>,
    /// Whether the descriptor is written here and launched by that.
    pub is_inline: bool,
    /// The address of the method that launches.
    pub method: u32,
    /// The word.
    pub value: u32,
    /// The subchannel.
    pub subchannel: u8,
    /// The class of the subchannel.
    pub class: u16,
}

/// How a pushbuffer is read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Whether headers are those before Fermi.
    pub is_old: bool,
    /// The host whose methods are below 0x100; 0 if none is known.
    pub host: u16,
    /// The class of subchannels that no `SET_OBJECT` gives one; 0 if none is known.
    pub class: u16,
    /// The class of subchannel 4 in the same case: copies go there by convention, so that it is another one where the class
    /// of the others is not chosen.
    pub copy: u16,
}

/// A pushbuffer.
pub struct Pushbuffer {
    source: Source,
    span: Span,
    reading: Reading,
    marks: Vec<Mark>,
    rows: u64,
    bursts: u64,
    odd: u64,
    /// Whether its last burst runs past its end.
    is_cut: bool,
    /// Where the first burst is that is not as a driver writes it.
    chained: Option<u64>,
    /// The classes that `SET_OBJECT` gives to subchannels, each once.
    pub bound: Vec<u16>,
    /// The subchannels, a bit each, that engines' methods are set on and that no `SET_OBJECT` gives a class.
    pub unbound: u8,
    /// Whether a method that is known is set.
    pub is_known: bool,
    /// What it writes to memory that is as long as a launch descriptor.
    pub uploads: Vec<Upload>,
    /// The launches.
    pub sent: Vec<Sent>,
    last: RefCell<Option<Burst>>,
}

/// What is being written by a subchannel.
#[derive(Clone, Default)]
struct State {
    length: u32,
    lines: u32,
    high: u32,
    low: u32,
    qmd_high: Option<u32>,
    qmd_low: Option<u32>,
    /// The address that a launch is going to use.
    sent: Option<u64>,
    /// Inline data and an inline descriptor.
    data: Vec<Span>,
    data_size: u32,
    qmd: Vec<Span>,
    qmd_size: u32,
}

impl Pushbuffer {
    /// Reads the pushbuffer in `span` of `source`.
    ///
    /// What is wrong with it goes to `findings`.
    pub fn read(source: &Source, span: Span, reading: Reading, findings: &mut Diagnostics) -> Self {
        let mut pushbuffer = Self {
            source: source.clone(),
            span: Span::new(span.offset, span.size / WORD * WORD),
            reading,
            marks: Vec::new(),
            rows: 0,
            bursts: 0,
            odd: 0,
            is_cut: false,
            chained: None,
            bound: Vec::new(),
            unbound: 0,
            is_known: false,
            uploads: Vec::new(),
            sent: Vec::new(),
            last: RefCell::new(None),
        };
        pushbuffer.walk(findings);
        if span.size == 0 {
            findings.push(
                Diagnostic::error(Kind::Format, "the pushbuffer has no words")
                    .at(source.absolute(0)),
            );
        }
        if !span.size.is_multiple_of(WORD) {
            findings.push(
                Diagnostic::error(Kind::Format, "the pushbuffer ends within a word")
                    .expected("a multiple of 4 bytes", span.size)
                    .at(source.absolute(pushbuffer.span.end())),
            );
        }
        pushbuffer
    }

    fn walk(&mut self, findings: &mut Diagnostics) {
        let mut states = vec![State::default(); 8];
        let mut mark = Mark {
            offset: self.span.offset,
            row: 0,
            classes: [0; 8],
        };
        while let Some(burst) = self.burst_at(mark, self.bursts) {
            if self.bursts.is_multiple_of(STRETCH) {
                self.marks.push(mark);
            }
            self.check(&burst, findings);
            self.watch(&burst, &mut states, findings);
            let next = self.behind(&burst);
            if next.classes != mark.classes {
                let class = next.classes[usize::from(burst.subchannel)];
                if self.bound.len() < BOUND && !self.bound.contains(&class) {
                    self.bound.push(class);
                }
            }
            mark = next;
            self.rows = mark.row;
            self.bursts += 1;
        }
        if mark.offset < self.span.end() {
            // It ends early only where it can no longer be read.
            findings.take(self.source.read(Span::new(mark.offset, WORD)));
        }
        for (subchannel, state) in (0..).zip(&mut states) {
            let class = self.class_of(mark.classes, subchannel);
            self.finish_data(state, class);
            self.finish_qmd(state, subchannel, class);
        }
        order::arrange(&mut self.sent, |sent| sent.offset);
    }

    /// The burst that begins at `mark`; `None` at the end.
    fn burst_at(&self, mark: Mark, number: u64) -> Option<Burst> {
        let header = self.word(mark.offset)?;
        let field = |high: u32, low: u32| header >> low & (u32::MAX >> (31 - (high - low)));
        let sec_op = field(31, 29);
        let mut data = mark.offset + WORD;
        let (mut op, mut count, address) = if self.reading.is_old || is_tertiary(header) {
            let op = match (sec_op, field(17, 16)) {
                _ if header == 0 => Op::Nothing,
                _ if field(1, 0) != 0 => Op::Unknown,
                (0, 0) => Op::Increment,
                (0, 1) => Op::Mask,
                (0, 2) if !self.reading.is_old => Op::Mask,
                (0, 3) if self.reading.is_old => Op::Same,
                (0, 3) => Op::Mask,
                (2, 0) => Op::Same,
                _ => Op::Unknown,
            };
            (op, field(28, 18), field(12, 2) * 4)
        } else {
            let op = match sec_op {
                1 => Op::Increment,
                3 => Op::Same,
                4 => Op::Immediate,
                5 => Op::Once,
                7 => Op::End,
                _ => Op::Unknown,
            };
            (op, field(28, 16), field(11, 0) * 4)
        };
        if self.is_double(header) {
            match self.word(data) {
                Some(long) => count = long & 0xff_ffff,
                None => op = Op::Unknown,
            }
            data += WORD;
        }
        if op == Op::Nothing {
            // A buffer is often zeros behind its last header.
            count = 1;
            while count < ZEROS && self.word(data) == Some(0) {
                data += WORD;
                count += 1;
            }
            data = mark.offset + WORD;
        } else if !matches!(op, Op::Increment | Op::Same | Op::Once) {
            count = 0;
        }
        let end = self.span.end();
        let data = data.min(end);
        let room = u32::try_from((end - data) / WORD).unwrap_or(u32::MAX);
        Some(Burst {
            offset: mark.offset,
            header,
            op,
            subchannel: field(15, 13) as u8,
            address,
            count,
            present: if op == Op::Nothing {
                0
            } else {
                count.min(room)
            },
            data,
            number,
            row: mark.row,
            classes: mark.classes,
        })
    }

    /// Whether the header is one that another word belongs to.
    fn is_double(&self, header: u32) -> bool {
        self.reading.is_old && header & 0xe003_0003 == 0x0003_0000
    }

    /// What begins behind `burst`.
    fn behind(&self, burst: &Burst) -> Mark {
        let mut classes = burst.classes;
        if burst.address == 0 && burst.sets(0) {
            // SET_OBJECT; of several words to the same address the last one counts.
            let last = match burst.op {
                Op::Same => burst.present - 1,
                _ => 0,
            };
            if let Some(value) = self.value(burst, last) {
                classes[usize::from(burst.subchannel)] = value as u16;
            }
        }
        Mark {
            offset: burst.span().end(),
            row: burst.row + burst.rows(),
            classes,
        }
    }

    fn check(&mut self, burst: &Burst, findings: &mut Diagnostics) {
        if !self.is_known
            && let Some(word) = self.word_of(burst.clone(), 0)
        {
            self.is_known = word.value.is_some() && self.method(&word).is_some();
        }
        let subchannel = usize::from(burst.subchannel);
        if has_address(burst.op) && burst.address >= HOST && burst.classes[subchannel] == 0 {
            self.unbound |= 1 << subchannel;
        }
        let at = |offset| self.source.absolute(offset);
        let context = || format!("burst {}", burst.number);
        let mut is_odd = true;
        if burst.op == Op::Unknown {
            findings.push(
                Diagnostic::error(
                    Kind::Format,
                    "no method header has this form; what follows is read from the next word on",
                )
                .expected("a header", format_args!("0x{:08x}", burst.header))
                .at(at(burst.offset))
                .within(context()),
            );
        } else if burst.is_cut() {
            is_odd = false;
            self.is_cut = true;
            findings.push(
                Diagnostic::error(Kind::Format, "data runs past the end of the pushbuffer")
                    .expected(
                        format_args!("{} words", burst.count),
                        format_args!("{} words", burst.present),
                    )
                    .at(at(burst.offset))
                    .within(context()),
            );
        } else if !is_tertiary(burst.header)
            && !self.reading.is_old
            && has_address(burst.op)
            && burst.header & 0x1000 != 0
        {
            findings.push(
                Diagnostic::warning(Kind::UnknownValue, "bit 12 of a method header is set")
                    .at(at(burst.offset))
                    .within(context()),
            );
        } else {
            // Nothing from Fermi on writes headers in the old form.
            is_odd = !self.reading.is_old && burst.op != Op::Nothing && is_tertiary(burst.header);
        }
        self.odd += u64::from(is_odd);
        if is_odd {
            self.chained.get_or_insert(burst.offset);
        }
    }

    /// Looks for what is written to memory and for launches.
    fn watch(&mut self, burst: &Burst, states: &mut [State], findings: &mut Diagnostics) {
        let class = self.class_of(burst.classes, burst.subchannel);
        if !has_inline_data(class) {
            return;
        }
        let state = &mut states[usize::from(burst.subchannel)];
        if burst.op == Op::Same && burst.address == 0x1b4 {
            let span = Span::new(burst.data, u64::from(burst.present) * WORD);
            self.add_data(state, span, class);
            return;
        }
        // Bursts that meet none of the methods below are not read.
        let last = burst.address_of(burst.present.saturating_sub(1));
        if last < 0x180 || burst.address > 0x49c {
            return;
        }
        for i in 0..burst.rows() as u32 {
            let address = burst.address_of(i);
            if address > 0x49c || !burst.sets(i) {
                break;
            }
            let Some(value) = self.value(burst, i) else {
                break;
            };
            let offset = burst.data + u64::from(i) * WORD;
            let span = Span::new(offset, WORD);
            match address {
                0x180 => state.length = value,
                0x184 => state.lines = value,
                0x188 => state.high = value,
                0x18c => state.low = value,
                0x1b0 => {
                    self.finish_data(state, class);
                }
                0x1b4 if burst.op != Op::Immediate => self.add_data(state, span, class),
                0x2b4 => state.sent = Some(u64::from(value) << 8),
                0x2bc | 0x2c0 => {
                    self.finish_qmd(state, burst.subchannel, class);
                    // A descriptor that is written and then sent is launched by that.
                    if let Some(last) = self.sent.last()
                        && last.is_inline
                        && (last.subchannel, last.address) == (burst.subchannel, state.sent)
                    {
                        self.sent.pop();
                    }
                    let sent = Sent {
                        offset: match burst.op {
                            Op::Immediate => burst.offset,
                            _ => offset,
                        },
                        address: state.sent,
                        is_inline: false,
                        method: address,
                        value,
                        subchannel: burst.subchannel,
                        class,
                    };
                    if self.sent.len() < KEPT {
                        self.sent.push(sent);
                    }
                }
                0x318 | 0x31c => {
                    self.finish_qmd(state, burst.subchannel, class);
                    match address {
                        0x318 => state.qmd_high = Some(value),
                        _ => state.qmd_low = Some(value),
                    }
                }
                // Immediate data is not in memory as it is written.
                0x320..0x4a0 if burst.op != Op::Immediate && class & 0xff == 0xc0 => {
                    let at = address - 0x320;
                    if at != state.qmd_size {
                        self.finish_qmd(state, burst.subchannel, class);
                    }
                    if at == state.qmd_size {
                        append(&mut state.qmd, span);
                        state.qmd_size += 4;
                    } else {
                        findings.push(
                            Diagnostic::warning(
                                Kind::Format,
                                "words of an inline launch descriptor are not in their order",
                            )
                            .at(self.source.absolute(offset))
                            .expected("word 0", format_args!("word {}", at / 4)),
                        );
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// Goes on with inline data.
    fn add_data(&mut self, state: &mut State, span: Span, class: u16) {
        let size = u32::try_from(span.size).unwrap_or(u32::MAX);
        state.data_size = state.data_size.saturating_add(size);
        // What is larger is none, and need not be kept.
        if state.data_size <= LARGEST {
            append(&mut state.data, span);
        }
        let whole = u64::from(state.length) * u64::from(state.lines.max(1));
        if whole > 0 && u64::from(state.data_size) >= whole {
            self.finish_data(state, class);
        }
    }

    fn finish_data(&mut self, state: &mut State, class: u16) {
        let runs = std::mem::take(&mut state.data);
        let size = std::mem::take(&mut state.data_size);
        if matches!(size, 256 | 384 | 512) {
            self.keep(Upload {
                address: address(state.high & upper_bits(class, 0x188), state.low),
                is_inline: false,
                runs,
                class,
            });
        }
    }

    /// Keeps the inline descriptor that has been written, and that it is launched: its last word does that.
    fn finish_qmd(&mut self, state: &mut State, subchannel: u8, class: u16) {
        let runs = std::mem::take(&mut state.qmd);
        let size = std::mem::take(&mut state.qmd_size);
        if let Some(last) = runs.last()
            && size > 0
        {
            let high = state.qmd_high.map(|high| high & upper_bits(class, 0x318));
            let said = high.zip(state.qmd_low);
            let said = said.map(|(high, low)| address(high, low) << 8);
            // One that is cut launches nothing.
            if matches!(size, 256 | 384) && self.sent.len() < KEPT {
                let offset = last.end() - WORD;
                self.sent.push(Sent {
                    offset,
                    address: said,
                    is_inline: true,
                    method: 0x320 + size - 4,
                    value: self.word(offset).unwrap_or(0),
                    subchannel,
                    class,
                });
            }
            self.keep(Upload {
                address: said.unwrap_or(0),
                is_inline: true,
                runs,
                class,
            });
        }
    }

    fn keep(&mut self, upload: Upload) {
        if self.uploads.len() < KEPT {
            self.uploads.push(upload);
        }
    }

    fn word(&self, offset: u64) -> Option<u32> {
        if offset.checked_add(WORD)? > self.span.end() {
            return None;
        }
        let mut bytes = [0; 4];
        self.source.read_into(offset, &mut bytes).ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    fn value(&self, burst: &Burst, i: u32) -> Option<u32> {
        match burst.op {
            Op::Immediate => Some(burst.header >> 16 & 0x1fff),
            _ if burst.sets(i) => self.word(burst.data + u64::from(i) * WORD),
            _ => None,
        }
    }

    /// The class of a subchannel, said or by convention; 0 if none is known.
    fn class_of(&self, classes: [u16; 8], subchannel: u8) -> u16 {
        match classes[usize::from(subchannel & 7)] {
            0 if subchannel == 4 => self.reading.copy,
            0 => self.reading.class,
            class => class,
        }
    }

    /// Its words, a row each; a header that sets nothing has one, too.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Its bursts.
    pub fn bursts(&self) -> u64 {
        self.bursts
    }

    /// Whether its last burst runs past its end.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Up to which byte its words are headers and data as a driver writes them.
    pub fn chained(&self) -> u64 {
        self.chained.unwrap_or(self.span.end())
    }

    /// Bursts that are not as a driver writes them; one that only runs past the end is.
    pub fn odd(&self) -> u64 {
        self.odd
    }

    /// The first bursts of stretches of 64, as their bytes and rows.
    pub fn stretches(&self) -> impl Iterator<Item = Span> {
        let ends = self.marks.iter().skip(1).map(|mark| mark.offset);
        let ends = ends.chain([self.span.end()]);
        let starts = self.marks.iter().map(|mark| mark.offset);
        starts
            .zip(ends)
            .map(|(start, end)| Span::new(start, end - start))
    }

    /// The bursts of stretch `index`.
    pub fn stretch(&self, index: u64) -> Vec<Burst> {
        let mut bursts = Vec::new();
        let Some(&mark) = self.marks.get(index as usize) else {
            return bursts;
        };
        let mut mark = mark;
        let first = index * STRETCH;
        for number in first..(first + STRETCH).min(self.bursts) {
            let Some(burst) = self.burst_at(mark, number) else {
                break;
            };
            mark = self.behind(&burst);
            bursts.push(burst);
        }
        bursts
    }

    /// The burst of which `is_past` says no, and of the next one yes; `is_past` is asked for byte and row of beginnings.
    fn find(&self, is_past: &dyn Fn(u64, u64) -> bool) -> Option<Burst> {
        // Whoever reads rows reads one after the other: the burst is the last one or the one behind it.
        let mut from = None;
        if let Some(last) = &*self.last.borrow()
            && !is_past(last.offset, last.row)
        {
            from = Some(last.clone());
        }
        let next = self
            .marks
            .partition_point(|mark| !is_past(mark.offset, mark.row));
        let index = next.checked_sub(1)?;
        let first = index as u64 * STRETCH;
        let mut burst = match from {
            Some(burst) if burst.number >= first => burst,
            _ => self.burst_at(self.marks[index], first)?,
        };
        loop {
            let mark = self.behind(&burst);
            if is_past(mark.offset, mark.row) {
                break;
            }
            let Some(next) = self.burst_at(mark, burst.number + 1) else {
                break;
            };
            burst = next;
        }
        *self.last.borrow_mut() = Some(burst.clone());
        Some(burst)
    }

    /// The word of that row.
    pub fn row(&self, row: u64) -> Option<Word> {
        let burst = self.find(&|_, first| first > row)?;
        let index = u32::try_from(row.checked_sub(burst.row)?).ok()?;
        self.word_of(burst, index)
    }

    fn word_of(&self, burst: Burst, index: u32) -> Option<Word> {
        if u64::from(index) >= burst.rows() {
            return None;
        }
        let is_data = burst.present > 0;
        Some(Word {
            index,
            offset: match is_data {
                true => burst.data + u64::from(index) * WORD,
                false => burst.offset,
            },
            value: self.value(&burst, index),
            address: burst.address_of(index),
            burst,
        })
    }

    /// The burst that holds the byte at `offset`.
    pub fn burst(&self, offset: u64) -> Option<Burst> {
        let burst = self.find(&|begin, _| begin > offset)?;
        burst.span().contains(offset).then_some(burst)
    }

    /// The class whose methods a word sets; `None` if it is not known.
    pub fn class(&self, word: &Word) -> Option<&'static Class> {
        Class::get(self.class_number(word)?)
    }

    /// The number of that class.
    pub fn class_number(&self, word: &Word) -> Option<u16> {
        let burst = &word.burst;
        let number = match word.address < HOST {
            true => self.reading.host,
            false => self.class_of(burst.classes, burst.subchannel),
        };
        (number != 0 && has_address(burst.op)).then_some(number)
    }

    /// The method that a word sets, and which of its array.
    pub fn method(&self, word: &Word) -> Option<(&'static Method, u32)> {
        self.class(word)?.method(word.address)
    }

    /// What the word says: its fields, and the value of 64 bits that it completes.
    pub fn meaning(&self, word: &Word) -> Option<String> {
        let value = word.value?;
        let (method, _) = self.method(word)?;
        let mut parts = Vec::new();
        let mut known = 0_u32;
        let mut count = 0;
        for field in method.fields() {
            let number = field.get(value);
            known |= (u32::MAX >> (31 - (field.msb - field.lsb).min(31))) << field.lsb;
            count += 1;
            let is_whole = field.lsb == 0 && field.msb == 31;
            let said = match field.name(number) {
                name if !name.is_empty() => name,
                _ if matches!(field.name, "CLASS_ID" | "NVCLASS") => {
                    match Class::get(number as u16) {
                        Some(class) => class.name.into(),
                        None => format!("{number:04X}"),
                    }
                }
                _ if is_whole && count == 1 => continue,
                _ if number > 9 => format!("0x{number:x}"),
                _ => number.to_string(),
            };
            parts.push(format!("{} {said}", field.name));
        }
        if count > 0 && value & !known != 0 {
            parts.push(format!("0x{:x} in no field", value & !known));
        }
        if let Some(whole) = self.whole(word, method, value) {
            parts.push(format!("= 0x{whole:x}"));
        } else if method.half.is_none() && method.shift() > 0 {
            parts.push(format!("= 0x{:x}", u64::from(value) << method.shift()));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// The value of 64 bits that a word completes: the other half is set by one of the words before it. Drivers write the half at
    /// the lower address first; that one completes a value only where the other one is not about to be written anew.
    fn whole(&self, word: &Word, method: &Method, value: u32) -> Option<u64> {
        let half = method.half?;
        let other = word.address.checked_add_signed(half.other)?;
        let row = word.burst.row + u64::from(word.index);
        let set = |row| {
            let word_of_other = self.row(row).filter(|before| {
                before.burst.subchannel == word.burst.subchannel && before.address == other
            })?;
            let (method_of_other, _) = self.method(&word_of_other)?;
            let is_half = method_of_other.half?.other == -half.other;
            Some(method_of_other.part(word_of_other.value.filter(|_| is_half)?))
        };
        if half.other > 0 && (row + 1..row + 1 + NEAR).any(|row| set(row).is_some()) {
            return None;
        }
        let (mine, others) = (
            method.part(value),
            (row.saturating_sub(NEAR)..row).rev().find_map(set)?,
        );
        let whole = match half.is_high {
            true => mine << 32 | others,
            false => others << 32 | mine,
        };
        Some(whole << method.shift())
    }

    /// The structure that holds the byte at `offset`: a header, or a word of data with its method's fields.
    pub fn record(&self, offset: u64) -> Option<Record> {
        let burst = self.burst(offset)?;
        match offset.checked_sub(burst.data) {
            Some(behind) if burst.present > 0 => {
                let index = u32::try_from(behind / WORD).ok()?;
                Some(self.data_record(&self.word_of(burst, index)?))
            }
            _ => Some(self.header_record(burst, offset)),
        }
    }

    fn header_record(&self, burst: Burst, offset: u64) -> Record {
        let layout: &Layout = match burst.op {
            _ if self.reading.is_old => &tables::METHOD_OLD,
            Op::Immediate => &tables::METHOD_IMMEDIATE,
            _ if is_tertiary(burst.header) => &tables::METHOD_TERTIARY,
            _ => &tables::METHOD_HEADER,
        };
        let behind = (offset - burst.offset) / WORD;
        let name = format!("burst {}", burst.number);
        let (op, number, start) = (burst.op, burst.number, burst.offset);
        if op == Op::Nothing || (behind > 0 && self.is_double(burst.header)) {
            let at = burst.offset + behind * WORD;
            let bytes = self.word(at).unwrap_or(0).to_le_bytes();
            return match op {
                Op::Nothing => layout.read(format!("words of zero, burst {number}"), &bytes, at),
                _ => tables::METHOD_LONG_COUNT.read(name, &bytes, at),
            };
        }
        let bytes = burst.header.to_le_bytes();
        let mut record = layout.read(name, &bytes, start);
        let Some(word) = self.word_of(burst, 0) else {
            return record;
        };
        if let Some((method, index)) = self.method(&word).filter(|_| has_address(op)) {
            let label = method.label(index);
            for field in ["ADDRESS", "ADDRESS_OLD"] {
                record.explain(field, format!("0x{:x} {label}", word.address), None);
            }
            record.name = format!("{label}, burst {number}");
            if op == Op::Immediate {
                // The value has fewer bits than the method's word.
                self.append_fields(&mut record, method, &bytes, 16, 13, Some("IMMD_DATA"));
                if let Some(meaning) = self.meaning(&word) {
                    record.explain("IMMD_DATA", meaning, None);
                }
            }
        }
        record
    }

    fn data_record(&self, word: &Word) -> Record {
        let span = Span::new(word.offset, WORD);
        let bytes = word.value.unwrap_or(0).to_le_bytes();
        let Some((method, index)) = self.method(word) else {
            let name = format!("method 0x{:x}", word.address);
            let mut record = Record::new(name, span, None);
            record.append_bytes("value", &bytes, 0, 4, FieldKind::Hex);
            return record;
        };
        let mut record = Record::new(method.label(index), span, Some(SOURCE));
        self.append_fields(&mut record, method, &bytes, 0, 32, None);
        if record.fields.is_empty() {
            record.append_bytes("V", &bytes, 0, 4, FieldKind::Hex);
        }
        if let Some(value) = word.value
            && let Some(whole) = self.whole(word, method, value)
            && let Some(first) = record.fields.first().map(|field| field.name.clone())
        {
            record.explain(&first, format!("0x{whole:x}"), None);
        }
        record
    }

    /// The fields of a method's word, whose lowest `width` bits begin at bit `at` of `bytes`.
    fn append_fields(
        &self,
        record: &mut Record,
        method: &Method,
        bytes: &[u8],
        at: u32,
        width: u32,
        of: Option<&'static str>,
    ) {
        let mut claimed: Vec<(u32, u32, &'static str)> = Vec::new();
        for field in method.fields().filter(|field| field.lsb < width) {
            let msb = field.msb.min(width - 1);
            let kind = match field.is_named() {
                true => FieldKind::Unsigned,
                false => FieldKind::Hex,
            };
            let Some(made) =
                record.append_bits(field.name, bytes, at + field.lsb, msb - field.lsb + 1, kind)
            else {
                continue;
            };
            if field.is_named() {
                made.kind = "enum";
                let number = match made.raw {
                    crate::record::Raw::Int(raw) => raw as u32,
                    _ => 0,
                };
                let name = field.name(number);
                made.meaning = (!name.is_empty()).then_some(name);
            }
            // Some fields share bits: the first one has them.
            let other = claimed
                .iter()
                .find(|(m, l, _)| *l <= msb && field.lsb <= *m);
            made.alternative_of = of.or(other.map(|other| other.2)).map(Into::into);
            if other.is_none() {
                claimed.push((msb, field.lsb, field.name));
            }
        }
    }
}

/// Where methods are from.
const SOURCE: &str = "NVIDIA open-gpu-doc, class headers";

/// Whether a header is in the form that it had before Fermi.
fn is_tertiary(header: u32) -> bool {
    matches!(header >> 29, 0 | 2)
}

fn has_address(op: Op) -> bool {
    matches!(op, Op::Increment | Op::Same | Op::Once | Op::Immediate)
}

/// Whether classes of this number have the methods of inline data: compute, graphics, and inline to memory.
fn has_inline_data(class: u16) -> bool {
    matches!(class & 0xff, 0xc0 | 0x97 | 0x40)
}

/// The bits of an upper half that the method at `address` of `class` has; all of them where the class is not known.
fn upper_bits(class: u16, address: u32) -> u32 {
    let method = Class::get(class).and_then(|class| class.method(address));
    method.map_or(u32::MAX, |(method, _)| method.part(u32::MAX) as u32)
}

fn address(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Appends `span` to the last run where it goes on with it.
fn append(runs: &mut Vec<Span>, span: Span) {
    match runs.last_mut() {
        Some(last) if last.end() == span.offset => last.size += span.size,
        _ if span.size > 0 => runs.push(span),
        _ => {}
    }
}

impl Reading {
    /// How a pushbuffer is read of channels of the host `host` and for engines of the class `class`, which is that of all
    /// subchannels if it `is_chosen`.
    pub fn new(host: u16, class: u16, is_chosen: bool) -> Self {
        let copies = Class::all().iter();
        let mut copies = copies.filter(|copy| copy.engine() == Engine::Copy);
        let copy = copies.find(|copy| copy.host().number == host);
        Self {
            is_old: matches!(host, 0x506f | 0x826f | 0x866f),
            host,
            class,
            copy: match is_chosen {
                true => class,
                false => copy.map_or(0, |copy| copy.number),
            },
        }
    }
}
