//! The call graph in `.nv.callgraph`: who calls whom, and how much stack that takes at worst.
//!
//! Its entries are pairs of numbers in groups. A pair of symbol 0 and a negative number begins a group and says
//! what its pairs are. No tool explains the groups: what they hold was observed on functions written to tell
//! them apart (`tests/fixtures/nvidia/own-src/calls.ptx.in`).

use serde::Serialize;

use super::record::{CALLGRAPH, MERCURY_CALLGRAPH};
use super::unloaded::Count;
use crate::elf::{Elf, Section, Symbols};
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::index::Index;
use crate::order;
use crate::span::Span;

/// Bytes of an entry.
const STRIDE: u64 = 8;

/// What an entry says of its two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The first function calls the second.
    Calls,
    /// Something takes the function's address; the second number is its prototype, an offset in the strings.
    AddressTaken,
    /// The function calls by a pointer, functions of that prototype.
    CallsByPointer,
    /// The first function takes the address of the second.
    TakesAddress,
    /// It is in a group that is not known.
    Unknown,
}

impl Relation {
    /// Of the pairs in the group that `mark` begins.
    pub(super) fn of(mark: i32) -> Self {
        match mark {
            -1 => Self::Calls,
            -2 => Self::AddressTaken,
            -3 => Self::CallsByPointer,
            -4 => Self::TakesAddress,
            _ => Self::Unknown,
        }
    }

    /// What it says, between the names of the two.
    pub fn words(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::AddressTaken => "can be called by a pointer to",
            Self::CallsByPointer => "calls by a pointer to",
            Self::TakesAddress => "takes the address of",
            Self::Unknown => "is in an unknown group with",
        }
    }

    /// Whether the second number is a prototype.
    pub fn has_prototype(self) -> bool {
        matches!(self, Self::AddressTaken | Self::CallsByPointer)
    }
}

/// The group that an entry of these two numbers begins; `None` for others.
pub(super) fn mark(caller: u32, callee: u32) -> Option<i32> {
    let callee = callee as i32;
    (caller == 0 && callee < 0).then_some(callee)
}

/// An entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Offset in the file.
    pub offset: u64,
    /// The symbol of the function that it is about.
    pub caller: u32,
    /// The symbol of another, or a prototype's offset in the strings.
    pub callee: u32,
    /// What it says of the two.
    pub relation: Relation,
}

impl Entry {
    /// Its bytes.
    pub fn span(&self) -> Span {
        Span::new(self.offset, STRIDE)
    }
}

/// The call graph of a cubin.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    /// Its entries in file order, without those that begin a group.
    pub entries: Vec<Entry>,
    /// The indices of its entries by caller.
    order: Vec<u32>,
    /// The section of the symbols that the entries name.
    symbols: u32,
    /// How many symbols there are, and how many bytes of strings: what the entries can name.
    limits: (u64, u64),
}

/// Stack that a thread needs for a function and those that it calls, at worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct CallStack {
    /// Bytes of the frames of the deepest chain of calls, as far as the file knows them; `None` with recursion.
    pub bytes: Option<u32>,
    /// A function calls itself, by itself or by others: nothing bounds the stack.
    pub is_recursive: bool,
    /// A function is called by a pointer: every function of its prototype counts whose address is taken.
    pub is_indirect: bool,
    /// A function is called of which the file does not say the frame: the stack is at least this.
    pub is_open: bool,
}

impl CallGraph {
    /// Reads the call graph of `elf`.
    pub(super) fn read(elf: &Elf, findings: &mut Diagnostics) -> Self {
        let mut graph = Self::default();
        // Sections of a malformed file can share their bytes.
        let mut room = elf.source().size();
        let is_graph = |s: &&Section| matches!(s.kind, CALLGRAPH | MERCURY_CALLGRAPH);
        for section in elf.sections.iter().filter(is_graph) {
            let span = elf.stored(section);
            let finding = |message: &str| {
                Diagnostic::warning(Kind::Format, message)
                    .within(format!("section {} {}", section.index, section.name))
                    .at(elf.source().absolute(span.offset))
            };
            let Some(rest) = room.checked_sub(span.size) else {
                findings.push(finding(
                    "the call graphs are together longer than the file; the rest is not read",
                ));
                break;
            };
            room = rest;
            let Some(bytes) = findings.take(elf.source().read(span)) else {
                continue;
            };
            if !span.size.is_multiple_of(STRIDE) {
                findings.push(finding("the call graph ends within an entry"));
            }
            // Mercury's graph is that of the code beside it, in symbols of its own.
            let is_ours = section.kind == CALLGRAPH;
            let table = elf.symbol_table_in(section.symbols);
            let limits = table.map_or((0, 0), |table| (table.table.count, table.strings.size));
            if is_ours {
                graph.symbols = section.symbols;
                graph.limits = limits;
            }
            let symbols = limits.0;
            let mut group = 0;
            let mut missing = 0;
            let (mut unknown, mut outside) = (Count::default(), Count::default());
            let (mut nobody, mut text) = (Count::default(), Count::default());
            for (i, pair) in bytes.chunks_exact(STRIDE as usize).enumerate() {
                let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| pair[at + i]));
                let (caller, callee) = (word(0), word(4));
                let offset = span.offset + i as u64 * STRIDE;
                if let Some(mark) = mark(caller, callee) {
                    group = mark;
                    if Relation::of(mark) == Relation::Unknown {
                        unknown.add(offset, mark.into());
                    }
                    continue;
                }
                if group == 0 {
                    outside.add(offset, callee.into());
                }
                if caller == 0 {
                    nobody.add(offset, 0);
                }
                let relation = Relation::of(group);
                if relation.has_prototype() && u64::from(callee) >= limits.1 {
                    text.add(offset + 4, callee.into());
                }
                let has_callee = matches!(relation, Relation::Calls | Relation::TakesAddress);
                missing += u64::from(
                    u64::from(caller) >= symbols || has_callee && u64::from(callee) >= symbols,
                );
                if is_ours {
                    graph.entries.push(Entry {
                        offset,
                        caller,
                        callee,
                        relation,
                    });
                }
            }
            for (count, message, expected) in [
                (unknown, "the group is not known", "-1 to -4".into()),
                (
                    outside,
                    "the pair stands before any group",
                    "a pair of 0 and a negative number".into(),
                ),
                (
                    nobody,
                    "the pair is about no function",
                    "a symbol from 1 on".into(),
                ),
                (
                    text,
                    "the prototype lies outside the string table",
                    format!("an offset below {}", limits.1),
                ),
            ] {
                count.give(elf, section, (message, expected), findings);
            }
            if missing > 0 {
                findings.push(
                    finding("the call graph names symbols that are missing").expected(
                        format!("indices below {symbols}"),
                        format!("{missing} above"),
                    ),
                );
            }
        }
        let entries = &graph.entries;
        graph.order = order::by_key(entries.len(), &|i| entries[i].caller.into());
        graph
    }

    /// The entry that begins at `offset` of the file.
    pub(super) fn at(&self, offset: u64) -> Option<&Entry> {
        let at = self.entries.partition_point(|entry| entry.offset < offset);
        self.entries.get(at).filter(|entry| entry.offset == offset)
    }

    /// The symbols that its entries name, open for reading.
    pub fn symbols<'a>(&self, elf: &'a Elf) -> Option<Symbols<'a>> {
        elf.symbols(elf.symbol_table_in(self.symbols)?).ok()
    }

    /// The name of the symbol of that index.
    pub fn name(symbols: Option<&Symbols<'_>>, index: u32) -> String {
        let symbol = symbols.and_then(|symbols| Some((symbols, symbols.get(index.into())?)));
        match symbol.map(|(symbols, symbol)| symbols.name(&symbol)) {
            Some(name) if !name.is_empty() => name,
            _ => format!("symbol {index}"),
        }
    }

    /// What the second number of `entry` is: a function's name, or a prototype.
    pub fn callee(symbols: Option<&Symbols<'_>>, entry: &Entry) -> String {
        if !entry.relation.has_prototype() {
            return Self::name(symbols, entry.callee);
        }
        let text = |symbols: &Symbols<'_>| symbols.strings.text(entry.callee.into()).into_owned();
        symbols.map(text).unwrap_or_default()
    }

    /// The entries that are about the function of symbol `caller`.
    pub(super) fn of(&self, caller: u32) -> impl Iterator<Item = &Entry> {
        let key = move |i: &u32| self.entries[*i as usize].caller;
        let start = self.order.partition_point(|i| key(i) < caller);
        self.order[start..]
            .iter()
            .take_while(move |i| key(i) == caller)
            .map(|&i| &self.entries[i as usize])
    }

    /// The stack of each function that calls another, by symbol. `frames` has the functions' own: symbol and
    /// bytes, of which the last one counts.
    pub(super) fn stacks(&self, frames: &[(u32, u32)]) -> Vec<(u32, CallStack)> {
        let mut walk = Walk::default();
        for entry in &self.entries {
            let Entry { caller, callee, .. } = *entry;
            let limit = match entry.relation.has_prototype() {
                true => self.limits.1,
                false => self.limits.0,
            };
            if u64::from(caller) >= self.limits.0 || u64::from(callee) >= limit {
                continue; // a finding says so
            }
            match entry.relation {
                Relation::Calls => walk.edge(function(caller), function(callee)),
                Relation::CallsByPointer => walk.edge(function(caller), prototype(callee)),
                // Whoever calls by a pointer of a prototype calls all that have it.
                Relation::AddressTaken => walk.edge(prototype(callee), function(caller)),
                _ => {}
            }
        }
        walk.nodes.resize(walk.index.len(), Node::default());
        for &(symbol, bytes) in frames {
            if let Some(node) = walk.index.get(&function(symbol)) {
                walk.nodes[node].frame = Some(bytes);
            }
        }
        walk.stacks();
        let mut stacks = Vec::new();
        for entry in &self.entries {
            if matches!(entry.relation, Relation::Calls | Relation::CallsByPointer)
                && let Some(node) = walk.index.get(&function(entry.caller))
            {
                stacks.push((entry.caller, walk.nodes[node].stack));
            }
        }
        order::arrange(&mut stacks, |(symbol, _)| (*symbol).into());
        stacks.dedup_by_key(|(symbol, _)| *symbol);
        stacks
    }
}

/// The key of a function's node.
fn function(symbol: u32) -> [u8; 8] {
    u64::from(symbol).to_le_bytes()
}

/// The key of a prototype's node, which stands for a call by a pointer to any function that has it.
fn prototype(string: u32) -> [u8; 8] {
    (u64::from(string) | 1 << 32).to_le_bytes()
}

#[derive(Clone, Copy, Default)]
struct Node {
    is_prototype: bool,
    frame: Option<u32>,
    stack: CallStack,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    New,
    /// What it calls is being walked: who meets it again is in a cycle.
    Open,
    Done,
}

#[derive(Default)]
struct Walk {
    index: Index,
    nodes: Vec<Node>,
    edges: Vec<(u32, u32)>,
}

impl Walk {
    fn edge(&mut self, from: [u8; 8], to: [u8; 8]) {
        let (a, b) = (self.index.add(&from), self.index.add(&to));
        self.nodes.resize(self.index.len(), Node::default());
        self.nodes[a].is_prototype = from[4] != 0;
        self.nodes[b].is_prototype = to[4] != 0;
        self.edges.push((a as u32, b as u32));
    }

    /// Walks what each node calls, depth first; the stack of the walk is a list, since calls can be nested as deep
    /// as the file is long.
    fn stacks(&mut self) {
        order::arrange(&mut self.edges, |(from, _)| (*from).into());
        for root in 0..self.nodes.len() as u32 {
            let mut open = Vec::new();
            self.enter(root, &mut open);
            while let Some((node, edge)) = open.last_mut() {
                let (node, at) = (*node, *edge);
                *edge += 1;
                match self.edges.get(at).filter(|(from, _)| *from == node) {
                    Some(&(_, to)) => match self.nodes[to as usize].state {
                        State::New => self.enter(to, &mut open),
                        State::Open => self.nodes[node as usize].stack.is_recursive = true,
                        State::Done => self.take(node, to),
                    },
                    None => {
                        open.pop();
                        self.leave(node);
                        if let Some(&(caller, _)) = open.last() {
                            self.take(caller, node);
                        }
                    }
                }
            }
        }
    }

    fn enter(&mut self, node: u32, open: &mut Vec<(u32, usize)>) {
        if self.nodes[node as usize].state == State::New {
            self.nodes[node as usize].state = State::Open;
            let first = self.edges.partition_point(|(from, _)| *from < node);
            open.push((node, first));
        }
    }

    /// Counts what `callee` needs for `caller`.
    fn take(&mut self, caller: u32, callee: u32) {
        let callee = self.nodes[callee as usize];
        let stack = &mut self.nodes[caller as usize].stack;
        stack.bytes = stack.bytes.max(callee.stack.bytes);
        stack.is_recursive |= callee.stack.is_recursive;
        stack.is_indirect |= callee.stack.is_indirect || callee.is_prototype;
        stack.is_open |= callee.stack.is_open;
    }

    fn leave(&mut self, node: u32) {
        let first = self.edges.partition_point(|(from, _)| *from < node);
        let is_leaf = self.edges.get(first).is_none_or(|(from, _)| *from != node);
        let node = &mut self.nodes[node as usize];
        node.state = State::Done;
        // A prototype that nothing here has is another file's.
        node.stack.is_open |= match node.is_prototype {
            true => is_leaf,
            false => node.frame.is_none(),
        };
        let below = node.stack.bytes.unwrap_or(0);
        let bytes = below.saturating_add(node.frame.unwrap_or(0));
        node.stack.bytes = (!node.stack.is_recursive).then_some(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(pairs: &[(u32, i32)], frames: &[(u32, u32)]) -> Vec<(u32, CallStack)> {
        let mut group = 0;
        let mut entries = Vec::new();
        for &(caller, callee) in pairs {
            let callee = callee as u32;
            match mark(caller, callee) {
                Some(mark) => group = mark,
                None => entries.push(Entry {
                    offset: 0,
                    caller,
                    callee,
                    relation: Relation::of(group),
                }),
            }
        }
        let graph = CallGraph {
            entries,
            order: Vec::new(),
            symbols: 0,
            limits: (u64::MAX, u64::MAX),
        };
        graph.stacks(frames)
    }

    const FRAMES: &[(u32, u32)] = &[(1, 8), (2, 16), (3, 32), (4, 64)];

    #[test]
    fn the_deepest_chain_counts() {
        // 1 calls 2 and 3; 2 calls 3 and 4: 8 + 16 + 64.
        let found = stacks(&[(0, -1), (1, 3), (1, 2), (2, 3), (2, 4)], FRAMES);
        let bytes: Vec<_> = found
            .iter()
            .map(|(symbol, stack)| (*symbol, stack.bytes))
            .collect();
        assert_eq!(bytes, [(1, Some(88)), (2, Some(80))]);
        assert!(
            found
                .iter()
                .all(|(_, s)| !s.is_recursive && !s.is_indirect && !s.is_open)
        );
    }

    #[test]
    fn recursion_bounds_nothing_and_reaches_callers() {
        // 2 and 3 call each other, 1 calls 2, 4 calls nobody of them.
        let found = stacks(&[(0, -1), (1, 2), (2, 3), (3, 2), (4, 5)], FRAMES);
        for (symbol, stack) in found {
            assert_eq!(stack.is_recursive, symbol != 4, "{symbol}");
            assert_eq!(stack.bytes.is_none(), symbol != 4);
        }
        let found = stacks(&[(0, -1), (1, 1)], FRAMES);
        assert!(found[0].1.is_recursive);
    }

    #[test]
    fn a_call_by_a_pointer_can_reach_all_of_its_prototype() {
        // 1 calls by a pointer of prototype 7; 2 and 4 have it, 3 has another. 2 calls 3: 8 + max(16 + 32, 64).
        let pairs = [
            (0, -1),
            (2, 3),
            (0, -2),
            (2, 7),
            (4, 7),
            (3, 9),
            (0, -3),
            (1, 7),
            (0, -4),
            (1, 2),
        ];
        let found = stacks(&pairs, FRAMES);
        let (_, stack) = found.iter().find(|(symbol, _)| *symbol == 1).unwrap();
        assert_eq!(stack.bytes, Some(72));
        assert!(stack.is_indirect && !stack.is_open);
        // No function here has the prototype.
        let found = stacks(&[(0, -3), (1, 7)], FRAMES);
        assert_eq!(found[0].1.bytes, Some(8));
        assert!(found[0].1.is_open);
    }

    #[test]
    fn a_function_of_another_file_leaves_it_open() {
        let found = stacks(&[(0, -1), (1, 9)], FRAMES);
        assert_eq!(found[0].1.bytes, Some(8));
        assert!(found[0].1.is_open && !found[0].1.is_indirect);
    }

    #[test]
    fn a_chain_as_long_as_a_file_is_walked() {
        let count = 200_000;
        let mut pairs = vec![(0, -1)];
        pairs.extend((1..count).map(|i| (i, i as i32 + 1)));
        let frames: Vec<_> = (1..=count).map(|i| (i, 1)).collect();
        let found = stacks(&pairs, &frames);
        assert_eq!(found[0].1.bytes, Some(count));
    }
}
