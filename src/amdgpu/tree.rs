//! Metadata as rows: each key and each item of a list is one, those below it follow it.

use super::metadata::Metadata;
use super::schema::Step;
use super::value::{Content, DEPTH, Value};
use crate::span::Span;

/// Where each row is in the tree. Rows are found from the root, so that nothing of the tree is kept twice.
#[derive(Clone, Debug, Default)]
pub struct Rows(Vec<Row>);

#[derive(Clone, Debug)]
struct Row {
    /// The row of the map or list that it is in; [`NONE`] for the root.
    parent: u32,
    /// Which entry or item of it.
    nth: u32,
    /// The row that follows those below it.
    next: u32,
}

const NONE: u32 = u32::MAX;

/// A row.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// How many maps and lists it lies in, the root apart.
    pub depth: u32,
    /// The row of the map or list that it lies in; `None` for those of the root.
    pub parent: Option<u32>,
    /// The row that follows those below it.
    pub next: u32,
    /// Its key; `None` for an item of a list.
    pub key: Option<&'a Value>,
    /// Which item of the list it is.
    pub nth: u32,
    /// Its value.
    pub value: &'a Value,
    /// What is known of it.
    pub step: Step,
    /// The keys and items that lead to it: `amdhsa.kernels[0].args`.
    pub path: String,
}

impl Entry<'_> {
    /// The bytes of its key and its value.
    pub fn span(&self) -> Span {
        let value = self.value.span;
        let start = self.key.map_or(value.offset, |key| key.span.offset);
        Span::new(start, value.end().saturating_sub(start))
    }
}

impl Rows {
    /// The rows of `root`: as many as it has values at most, which the reader bounds.
    pub(super) fn of(root: &Value) -> Self {
        let mut rows = Vec::new();
        add(&mut rows, root, NONE, DEPTH);
        Self(rows)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The row of that number of `metadata`, whose rows these are.
    pub fn entry<'a>(&self, metadata: &'a Metadata, row: u64) -> Option<Entry<'a>> {
        let row = self.0.get(usize::try_from(row).ok()?)?;
        let mut way = vec![row.nth];
        let mut parent = row.parent;
        while let Some(above) = self.0.get(parent as usize) {
            way.push(above.nth);
            parent = above.parent;
        }
        let mut walk = Walk::new(metadata);
        for &nth in way.iter().rev() {
            walk.child(nth as usize)?;
        }
        Some(Entry {
            depth: way.len() as u32 - 1,
            parent: (row.parent != NONE).then_some(row.parent),
            next: row.next,
            key: walk.key,
            nth: row.nth,
            value: walk.value,
            step: walk.step,
            path: walk.path,
        })
    }
}

fn add(rows: &mut Vec<Row>, value: &Value, parent: u32, depth: u32) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    let mut child = |nth: usize, value: &Value| {
        let at = rows.len();
        rows.push(Row {
            parent,
            nth: nth as u32,
            next: 0,
        });
        add(rows, value, at as u32, depth);
        let next = rows.len() as u32;
        if let Some(row) = rows.get_mut(at) {
            row.next = next;
        }
    };
    match &value.content {
        Content::Map(entries) => {
            let values = entries.iter().enumerate();
            values.for_each(|(nth, (_, value))| child(nth, value));
        }
        Content::List(values) => {
            let values = values.iter().enumerate();
            values.for_each(|(nth, value)| child(nth, value));
        }
        _ => {}
    }
}

/// A way down a tree.
pub(super) struct Walk<'a> {
    pub key: Option<&'a Value>,
    pub value: &'a Value,
    pub step: Step,
    pub path: String,
}

impl<'a> Walk<'a> {
    /// At the root of `metadata`.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            key: None,
            value: &metadata.root,
            step: Step::root(metadata.form),
            path: String::new(),
        }
    }

    /// Goes to an entry or an item of the value; `None` where there is none of that number.
    pub fn child(&mut self, nth: usize) -> Option<()> {
        match &self.value.content {
            Content::Map(entries) => {
                let (key, value) = entries.get(nth)?;
                let label = key.label();
                if !self.path.is_empty() && !self.path.ends_with('.') && !label.starts_with('.') {
                    self.path.push('.');
                }
                self.path.push_str(&label);
                self.step = self.step.key(&label);
                (self.key, self.value) = (Some(key), value);
            }
            Content::List(values) => {
                let value = values.get(nth)?;
                self.path.push_str(&format!("[{nth}]"));
                self.step = self.step.item();
                (self.key, self.value) = (None, value);
            }
            _ => return None,
        }
        Some(())
    }

    /// Goes to the innermost value that holds the byte at `offset` of the file.
    pub fn to(mut self, offset: u64) -> Self {
        loop {
            let (next, holds) = match &self.value.content {
                Content::Map(entries) => {
                    let next = entries.partition_point(|(key, _)| key.span.offset <= offset);
                    let entry = next.checked_sub(1).and_then(|at| entries.get(at));
                    let holds = entry.is_some_and(|(key, value)| {
                        key.span.contains(offset) || value.span.contains(offset)
                    });
                    (next, holds)
                }
                Content::List(values) => {
                    let next = values.partition_point(|value| value.span.offset <= offset);
                    let value = next.checked_sub(1).and_then(|at| values.get(at));
                    (next, value.is_some_and(|value| value.span.contains(offset)))
                }
                _ => return self,
            };
            if !holds || self.child(next - 1).is_none() {
                return self;
            }
            if self.key.is_some_and(|key| key.span.contains(offset)) {
                return self;
            }
        }
    }
}
