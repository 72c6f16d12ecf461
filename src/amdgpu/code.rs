//! What stands beside the code of a kernel: the symbols and the lines of source that begin in it. Its instructions are
//! not decoded.

use std::cell::RefCell;
use std::rc::Rc;

use crate::elf::{Elf, Symbol};
use crate::lines::{self, Function, Lines};
use crate::order;
use crate::span::Span;

/// Symbols of one place that are named, at most.
const NAMED: usize = 8;

/// The code of a kernel.
#[derive(Debug)]
pub struct Code {
    /// Its bytes in the file.
    pub span: Span,
    /// The lines of source.
    pub lines: Lines,
    /// The symbols, by offset.
    labels: Vec<Label>,
}

/// A symbol in the code.
#[derive(Debug)]
struct Label {
    /// Where in the code it is.
    offset: u64,
    /// Index of its table.
    table: u32,
    symbol: Symbol,
}

impl Code {
    fn read(elf: &Elf, span: Span) -> Self {
        let mut labels = Vec::new();
        for (number, table) in (0..).zip(&elf.symbol_tables) {
            let Ok(symbols) = elf.symbols(table) else {
                continue;
            };
            labels.extend(symbols.iter().filter_map(|symbol| {
                let offset = elf.named_by(&symbol)?.offset.checked_sub(span.offset)?;
                let is_here = symbol.name != 0 && offset < span.size;
                is_here.then_some(Label {
                    offset,
                    table: number,
                    symbol,
                })
            }));
        }
        order::arrange(&mut labels, |label| label.offset);
        Self {
            span,
            lines: Lines::read(elf, function(elf, span)),
            labels,
        }
    }

    /// The symbols that begin in the bytes of `part` of the code, each once; 8 at most.
    pub fn names(&self, elf: &Elf, part: Span) -> Vec<String> {
        let first = self
            .labels
            .partition_point(|label| label.offset < part.offset);
        let mut names = Vec::new();
        let here = self.labels[first..].iter();
        // Most are in two tables.
        for label in here
            .take(2 * NAMED)
            .take_while(|label| part.contains(label.offset))
        {
            let table = elf.symbol_tables.get(label.table as usize);
            let symbols = table.and_then(|table| elf.symbols(table).ok());
            let name = symbols.map(|symbols| symbols.name(&label.symbol));
            names.extend(name.filter(|name| !names.contains(name)));
        }
        names.truncate(NAMED);
        names
    }
}

/// What line programs call the code at `code`.
fn function(elf: &Elf, code: Span) -> Function {
    let mut sections = elf.sections.iter();
    let is_it = |section: &&_| elf.is_held(section) && elf.stored(section).contains(code.offset);
    let Some(section) = sections.find(is_it) else {
        return Function::default();
    };
    let within = code.offset - elf.stored(section).offset;
    let (section, start) = match lines::has_addresses(elf) {
        true => (0, section.address.wrapping_add(within)),
        false => (section.index, within),
    };
    Function {
        section,
        start,
        size: code.size,
    }
}

/// The code of the kernel that was asked for last: a table of it is looked at window by window.
#[derive(Debug, Default)]
pub(super) struct Cache(RefCell<Option<Rc<Code>>>);

impl Cache {
    /// The code at `span`.
    pub fn get(&self, elf: &Elf, span: Span) -> Rc<Code> {
        let mut kept = self.0.borrow_mut();
        match &*kept {
            Some(code) if code.span == span => code.clone(),
            _ => {
                let code = Rc::new(Code::read(elf, span));
                *kept = Some(code.clone());
                code
            }
        }
    }
}
