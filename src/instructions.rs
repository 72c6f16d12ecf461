//! The instructions of a function as a [`Table`].

use std::cell::Cell as Kept;
use std::rc::Rc;
use std::sync::OnceLock;

use crate::lines::{Lines, name};
use crate::nvidia::code::{BARRIERS, Code, Instruction};
use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::span::Span;

/// The instructions of a function of a cubin.
pub struct InstructionList<'a> {
    code: Code<'a>,
    lines: Rc<Lines>,
    /// The instruction that was asked for last: most columns of a row are asked for together.
    last: Kept<Option<(u64, Instruction)>>,
    /// Barriers pending before an instruction; those before the next one follow from it.
    pending: Kept<Option<(u64, u8)>>,
}

const COLUMNS: &[Column] = &[
    column("offset", "Offset", Unit::Hex),
    hidden("file_offset", "In the file", Unit::Hex),
    column("file", "File", Unit::Text),
    column("line", "Line", Unit::Number),
    column("stall", "Stall", Unit::Number),
    column("yield", "Yield", Unit::Word),
    column("write", "Write", Unit::Number),
    column("read", "Read", Unit::Number),
    column("wait", "Wait", Unit::Word),
    column("reuse", "Reuse", Unit::Word),
    column("barriers", "Barriers", Unit::Word),
    column("guard", "Guard", Unit::Word),
    column("opcode", "Opcode", Unit::Hex),
    column("words", "Words", Unit::Word),
    column("ptx_line", "PTX line", Unit::Number),
    column("inlined_at", "Inlined at", Unit::Text),
    hidden("path", "Path", Unit::Text),
];

/// The columns, with those of source and of PTX only where there are such lines.
fn columns(has_source: bool, has_ptx: bool) -> &'static [Column] {
    static SETS: [OnceLock<Vec<Column>>; 4] = [const { OnceLock::new() }; 4];
    let is_there = |column: &&Column| match &*column.key {
        "file" | "line" | "inlined_at" | "path" => has_source,
        "ptx_line" => has_ptx,
        _ => true,
    };
    let set = usize::from(has_source) + 2 * usize::from(has_ptx);
    SETS[set].get_or_init(|| COLUMNS.iter().filter(is_there).cloned().collect())
}

impl<'a> InstructionList<'a> {
    /// The instructions of `code`, whose lines are `lines`.
    pub fn new(code: Code<'a>, lines: Rc<Lines>) -> Self {
        Self {
            code,
            lines,
            last: Kept::new(None),
            pending: Kept::new(None),
        }
    }

    fn get(&self, row: u64) -> Option<Instruction> {
        if let Some((last, instruction)) = self.last.get()
            && last == row
        {
            return Some(instruction);
        }
        let instruction = self.code.get(row)?;
        self.last.set(Some((row, instruction)));
        Some(instruction)
    }

    fn pending(&self, row: u64) -> u8 {
        let pending = match self.pending.get() {
            Some((before, pending)) if before == row => pending,
            Some((before, pending)) if before + 1 == row => {
                let instruction = self.code.get(before);
                instruction.map_or(0, |instruction| instruction.schedule.pending(pending))
            }
            _ => self.code.pending(row),
        };
        self.pending.set(Some((row, pending)));
        pending
    }

    /// A character for each barrier: `w` and `r` where it is set until the result is written or the operands are read, `|`
    /// while it is pending, `x` where it is waited for, `W` and `R` where that is and it is set again, `.` where nothing is.
    fn lanes(&self, row: u64, instruction: &Instruction) -> String {
        let pending = self.pending(row);
        let schedule = instruction.schedule;
        let lane = |barrier: u32| {
            let is = |bits: u8| bits >> barrier & 1 != 0;
            let sets = |set: Option<u8>| set.map(u32::from) == Some(barrier);
            let waits = is(schedule.wait);
            match (sets(schedule.write), sets(schedule.read)) {
                (true, _) => {
                    if waits {
                        'W'
                    } else {
                        'w'
                    }
                }
                (_, true) => {
                    if waits {
                        'R'
                    } else {
                        'r'
                    }
                }
                _ if waits => 'x',
                _ if is(pending) => '|',
                _ => '.',
            }
        };
        (0..BARRIERS).map(lane).collect()
    }
}

/// A digit for each bit that is set, `-` for the others.
fn digits(bits: u8, count: u32) -> String {
    let digit = |bit: u32| match bits >> bit & 1 {
        0 => '-',
        _ => char::from_digit(bit, 10).unwrap_or('-'),
    };
    (0..count).map(digit).collect()
}

impl Table for InstructionList<'_> {
    fn columns(&self) -> &'static [Column] {
        columns(self.lines.has_source(), self.lines.has_ptx())
    }

    fn len(&self) -> u64 {
        self.code.len()
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(instruction) = self.get(row) else {
            return Cell::None;
        };
        let schedule = instruction.schedule;
        let mut source = self.lines.source_at(instruction.offset);
        match key {
            "ptx_line" => self.lines.ptx_at(instruction.offset).into(),
            "file" => source.next().map(|line| name(line.file)).into(),
            "path" => source.next().map(|line| line.file).into(),
            "line" => source.next().map(|line| line.line).into(),
            "inlined_at" => {
                let places = source.skip(1);
                let places = places.map(|line| format!("{}:{}", name(line.file), line.line));
                let places: Vec<String> = places.collect();
                (!places.is_empty()).then(|| places.join(", ")).into()
            }
            "offset" => instruction.offset.into(),
            "file_offset" => self.code.place(row).map(|place| place.offset).into(),
            "words" => {
                let [first, second] = instruction.words;
                match instruction.word_count {
                    1 => format!("{first:016x}"),
                    _ => format!("{first:016x} {second:016x}"),
                }
                .into()
            }
            "opcode" => instruction.opcode.into(),
            "guard" => match instruction.guard {
                None | Some((7, false)) => Cell::None,
                Some((7, true)) => "@!PT".into(),
                Some((guard, false)) => format!("@P{guard}").into(),
                Some((guard, true)) => format!("@!P{guard}").into(),
            },
            "stall" => schedule.stall.map(u32::from).into(),
            "yield" => schedule.yields.then_some("Y").into(),
            "write" => schedule.write.map(u32::from).into(),
            "read" => schedule.read.map(u32::from).into(),
            "wait" => (schedule.wait != 0)
                .then(|| digits(schedule.wait, BARRIERS))
                .into(),
            "reuse" => (schedule.reuse != 0)
                .then(|| digits(schedule.reuse, 4))
                .into(),
            "barriers" => self.lanes(row, &instruction).into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.code.place(row)
    }

    fn target(&self, row: u64) -> Option<Span> {
        self.code.control(row)
    }
}
