//! Windows over big tables: sort, filter and slice happen here, and only the rows that are looked at
//! are handed out.
//!
//! A [`Table`] names its columns and answers for one cell. A [`View`] is an order of some of its rows;
//! it is built in steps, since sorting a million symbols takes longer than a page may stand still.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::int;
use crate::order;
use crate::span::Span;

/// How the numbers of a column are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// In decimal.
    Number,
    /// In hexadecimal.
    Hex,
    /// Bytes, in decimal.
    Size,
    /// A word of the program's own.
    Word,
    /// Text that comes from the file.
    Text,
}

impl Unit {
    /// Whether the column has numbers.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Number | Self::Hex | Self::Size)
    }
}

/// A column of a table. What it is called may be known only from the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Column {
    /// Its name in JSON and in filters.
    pub key: Cow<'static, str>,
    /// Its name for people.
    pub title: Cow<'static, str>,
    /// How its numbers are written.
    pub unit: Unit,
    /// Whether it is shown unless asked otherwise.
    pub is_shown: bool,
}

/// A column that is shown.
pub const fn column(key: &'static str, title: &'static str, unit: Unit) -> Column {
    Column {
        key: Cow::Borrowed(key),
        title: Cow::Borrowed(title),
        unit,
        is_shown: true,
    }
}

/// A column that is shown only if it is asked for.
pub const fn hidden(key: &'static str, title: &'static str, unit: Unit) -> Column {
    let mut column = column(key, title, unit);
    column.is_shown = false;
    column
}

/// What a row has in a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// Nothing.
    None,
    /// Yes or no.
    Bool(bool),
    /// A number.
    Int(i128),
    /// Words.
    Text(Cow<'a, str>),
}

impl From<bool> for Cell<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u32> for Cell<'_> {
    fn from(value: u32) -> Self {
        Self::Int(value.into())
    }
}

impl From<u64> for Cell<'_> {
    fn from(value: u64) -> Self {
        Self::Int(value.into())
    }
}

impl From<i128> for Cell<'_> {
    fn from(value: i128) -> Self {
        Self::Int(value)
    }
}

impl From<String> for Cell<'_> {
    fn from(value: String) -> Self {
        Self::Text(value.into())
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value.into())
    }
}

impl<'a> From<Cow<'a, str>> for Cell<'a> {
    fn from(value: Cow<'a, str>) -> Self {
        Self::Text(value)
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

impl Cell<'_> {
    /// As people write it, in a column of `unit`.
    pub fn text(&self, unit: Unit) -> Cow<'_, str> {
        match self {
            Self::None => "".into(),
            Self::Bool(value) => if *value { "yes" } else { "no" }.into(),
            Self::Int(value) if unit == Unit::Hex && *value < 0 => {
                format!("-0x{:x}", value.unsigned_abs()).into()
            }
            Self::Int(value) if unit == Unit::Hex => format!("0x{value:x}").into(),
            Self::Int(value) => value.to_string().into(),
            Self::Text(value) => value.as_ref().into(),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::Bool(_) => 1,
            Self::Int(_) => 2,
            Self::Text(_) => 3,
        }
    }
}

impl Ord for Cell<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Cell<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_none(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => match i64::try_from(*value) {
                Ok(value) => int::serialize_signed(&value, serializer),
                Err(_) => serializer.collect_str(value),
            },
            Self::Text(value) => serializer.serialize_str(value),
        }
    }
}

/// A table of a file.
pub trait Table {
    /// Its columns.
    fn columns(&self) -> &[Column];

    /// Its rows.
    fn len(&self) -> u64;

    /// What row `row` has in the column `key`. Rows past the end have nothing.
    fn cell(&self, row: u64, key: &str) -> Cell<'_>;

    /// The bytes of the file that the row is read from.
    fn place(&self, row: u64) -> Option<Span>;

    /// The bytes of the file that the row is about, where these are others: what a header describes, what
    /// a symbol names, what a relocation patches. At least one byte.
    fn target(&self, _row: u64) -> Option<Span> {
        None
    }

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A row as a JSON object.
pub struct Row<'a> {
    /// The row's table.
    pub table: &'a dyn Table,
    /// Its index there.
    pub index: u64,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = self.table.columns();
        let mut map = serializer.serialize_map(Some(columns.len()))?;
        for column in columns {
            let cell = self.table.cell(self.index, &column.key);
            map.serialize_entry(&column.key, &cell)?;
        }
        map.end()
    }
}

/// All rows of a table as a JSON list.
pub struct Rows<'a>(pub &'a dyn Table);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let table = self.0;
        serializer.collect_seq((0..table.len()).map(|index| Row { table, index }))
    }
}

/// Which rows, in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The column to sort by; the table's own order without one.
    pub sort: Option<String>,
    /// Whether the greatest come first.
    pub descending: bool,
    /// Words, all of which must occur in a row: anywhere, or as `column:value` in that column.
    /// Capital letters count for nothing. A word in double quotes may have blanks.
    pub filter: String,
}

/// The words of a filter, each with the columns that can have it.
struct Filter<'a> {
    terms: Vec<(Vec<&'a Column>, String)>,
}

impl<'a> Filter<'a> {
    fn new(text: &str, columns: &'a [Column]) -> Self {
        let term = |word: String| {
            let named = word.split_once(':').and_then(|(key, value)| {
                let mut columns = columns.iter();
                let column = columns.find(|c| {
                    c.key.eq_ignore_ascii_case(key) || c.title.eq_ignore_ascii_case(key)
                })?;
                Some((vec![column], value.to_owned()))
            });
            let (mut columns, word) = named.unwrap_or_else(|| (columns.iter().collect(), word));
            columns.retain(|column| !column.unit.is_number() || may_be_number(&word));
            (columns, word)
        };
        Self {
            terms: words(text).into_iter().map(term).collect(),
        }
    }

    fn accepts(&self, table: &dyn Table, row: u64) -> bool {
        let has = |column: &Column, word: &str| {
            let cell = table.cell(row, &column.key);
            find(cell.text(column.unit).as_bytes(), word.as_bytes()).is_some()
                || (column.unit == Unit::Hex && cell.text(Unit::Number) == word)
        };
        let mut terms = self.terms.iter();
        terms.all(|(columns, word)| columns.iter().any(|&column| has(column, word)))
    }
}

/// Whether `word` can occur in a number as it is written: most words cannot, and numbers need not be
/// written out then.
fn may_be_number(word: &str) -> bool {
    word.bytes()
        .all(|c| c.is_ascii_hexdigit() || c == b'x' || c == b'-')
}

/// The words of `text` in small letters, quoted ones whole.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(String::new()),
            c => {
                if let Some(word) = words.last_mut() {
                    word.push(c.to_ascii_lowercase());
                }
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Where `text` contains `word`, which is in small letters; capital letters of ASCII are taken as small ones:
/// names in files have no others.
pub(crate) fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    let Some((first, rest)) = word.split_first() else {
        return Some(0);
    };
    let starts = text.len().checked_sub(rest.len())?;
    let same = |(a, b): (&u8, &u8)| a.to_ascii_lowercase() == *b;
    // Most places differ in the first letter already.
    let mut places = text[..starts].iter().zip(0..);
    let found = places
        .find(|&(letter, at)| same((letter, first)) && text[at + 1..].iter().zip(rest).all(same));
    found.map(|(_, at)| at)
}

/// A number for each cell that is not greater where the cell is less: most comparisons end there, without a
/// look at the text. Texts begin to differ behind what all of them begin with.
fn keys(cells: &[Cell<'_>]) -> Vec<u64> {
    let mut texts = cells.iter().filter_map(|cell| match cell {
        Cell::Text(text) => Some(text.as_bytes()),
        _ => None,
    });
    let first = texts.next();
    let mut common = first.map_or(0, <[u8]>::len);
    for text in texts {
        let pairs = first.unwrap_or_default()[..common].iter().zip(text);
        common = pairs.take_while(|(a, b)| a == b).count();
    }
    let key = |cell: &Cell<'_>| match cell {
        Cell::Text(text) => {
            let mut key = [0; 8];
            let rest = &text.as_bytes()[common..];
            let size = rest.len().min(8);
            key[..size].copy_from_slice(&rest[..size]);
            u64::from_be_bytes(key)
        }
        // Numbers among texts come first.
        Cell::Int(_) if first.is_some() => 0,
        Cell::Int(value) => (*value).clamp(0, u64::MAX.into()) as u64,
        Cell::Bool(_) | Cell::None => 0,
    };
    cells.iter().map(key).collect()
}

/// How far long work has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Progress {
    /// Done so far, in steps of the work's own.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub done: u64,
    /// To be done in all.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub total: u64,
    /// Whether nothing is left.
    pub finished: bool,
}

/// An order of some rows of a table, complete or being built.
pub struct View {
    query: Query,
    rows: Vec<u32>,
    stage: Stage,
    done: u64,
}

enum Stage {
    /// Every row is in it, in the table's order; nothing is stored.
    All,
    /// Rows up to here are filtered.
    Filter(u64),
    /// Runs of so many rows are in order; merged from this one on.
    Merge {
        run: usize,
        at: usize,
    },
    Done,
}

/// Rows that are sorted at once.
const RUN: usize = 1 << 16;
/// Rows of a view, at most: indices are kept in 32 bits.
const LIMIT: u64 = u32::MAX as u64;

impl View {
    /// A view that answers `query` once it is built.
    pub fn new(query: Query) -> Self {
        let whole = query.sort.is_none() && words(&query.filter).is_empty() && !query.descending;
        Self {
            query,
            rows: Vec::new(),
            done: 0,
            stage: if whole { Stage::All } else { Stage::Filter(0) },
        }
    }

    /// What it answers.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Builds it all.
    pub fn build(&mut self, table: &dyn Table) {
        while !self.step(table, u64::MAX).finished {}
    }

    /// Goes on building: filters or sorts about `budget` rows more.
    pub fn step(&mut self, table: &dyn Table, budget: u64) -> Progress {
        let mut budget = budget.max(1);
        let filter = Filter::new(&self.query.filter, table.columns());
        let end = table.len().min(LIMIT);
        while budget > 0 {
            match &mut self.stage {
                Stage::All | Stage::Done => break,
                Stage::Filter(next) => {
                    let stop = end.min(next.saturating_add(budget));
                    budget -= stop - *next;
                    self.done += stop - *next;
                    for row in *next..stop {
                        if filter.terms.is_empty() || filter.accepts(table, row) {
                            self.rows.push(row as u32);
                        }
                    }
                    *next = stop;
                    if stop < end {
                        break;
                    }
                    self.stage = match self.query.sort {
                        Some(_) => Stage::Merge { run: 0, at: 0 },
                        None => Stage::Done,
                    };
                    if self.query.sort.is_none() && self.query.descending {
                        self.rows.reverse();
                    }
                }
                Stage::Merge { .. } => {
                    let rows = self.merge(table);
                    self.done += rows;
                    // An empty view is sorted at once.
                    budget = budget.saturating_sub(rows.max(1));
                }
            }
        }
        self.progress(table)
    }

    fn progress(&self, table: &dyn Table) -> Progress {
        // Filtering looks at each row once; sorting does, and each doubling of the runs does.
        let len = table.len().min(LIMIT);
        let passes = match self.query.sort {
            Some(_) => 2 + u64::from((len / RUN as u64).max(1).next_power_of_two().ilog2()),
            None => 1,
        };
        let total = (len * passes).max(self.done);
        let finished = matches!(self.stage, Stage::All | Stage::Done);
        Progress {
            done: if finished { total } else { self.done },
            total,
            finished,
        }
    }

    /// Sorts the next run, or merges the next pair of runs; returns how many rows that were.
    fn merge(&mut self, table: &dyn Table) -> u64 {
        let Stage::Merge { run, at } = self.stage else {
            return 0;
        };
        let key = self.query.sort.clone().unwrap_or_default();
        let descending = self.query.descending;
        let len = self.rows.len();
        let width = if run == 0 { RUN } else { 2 * run };
        let end = len.min(at + width);
        let part = &mut self.rows[at..end];
        let cells: Vec<Cell<'_>> = part
            .iter()
            .map(|&row| table.cell(row.into(), &key))
            .collect();
        // Equal rows keep the table's order, in both directions. Runs in order are found by the sort and
        // merged, so a pass over a pair is linear.
        let keys = keys(&cells);
        let mut order: Vec<u32> = (0..part.len() as u32).collect();
        order::sort(&mut order, &|a, b| {
            let near = keys[a as usize].cmp(&keys[b as usize]);
            let compared = near.then_with(|| cells[a as usize].cmp(&cells[b as usize]));
            if descending {
                compared.reverse()
            } else {
                compared
            }
        });
        let sorted: Vec<u32> = order.iter().map(|&i| part[i as usize]).collect();
        part.copy_from_slice(&sorted);
        self.stage = if end < len {
            Stage::Merge { run, at: end }
        } else if width < len {
            Stage::Merge { run: width, at: 0 }
        } else {
            Stage::Done
        };
        (end - at) as u64
    }

    /// How many rows it has; of the table, until it is built.
    pub fn len(&self, table: &dyn Table) -> u64 {
        match self.stage {
            Stage::All => table.len(),
            _ => self.rows.len() as u64,
        }
    }

    /// The table's index of the view's row `row`.
    pub fn row(&self, table: &dyn Table, row: u64) -> Option<u64> {
        match self.stage {
            Stage::All => (row < table.len()).then_some(row),
            _ => self.rows.get(usize::try_from(row).ok()?).map(|&r| r.into()),
        }
    }

    /// Where the table's row `index` stands in the view.
    pub fn position(&self, table: &dyn Table, index: u64) -> Option<u64> {
        match self.stage {
            Stage::All => (index < table.len()).then_some(index),
            _ => {
                let at = self.rows.iter().position(|&row| u64::from(row) == index);
                at.map(|at| at as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbers(Vec<u64>);

    impl Table for Numbers {
        fn columns(&self) -> &'static [Column] {
            const COLUMNS: &[Column] = &[
                column("value", "Value", Unit::Number),
                column("text", "Text", Unit::Text),
            ];
            COLUMNS
        }
        fn len(&self) -> u64 {
            self.0.len() as u64
        }
        fn cell(&self, row: u64, key: &str) -> Cell<'_> {
            let value = self.0[row as usize];
            match key {
                "value" => value.into(),
                _ => format!("Number {value}").into(),
            }
        }
        fn place(&self, _: u64) -> Option<Span> {
            None
        }
    }

    fn numbers(count: u64) -> Numbers {
        Numbers((0..count).map(|i| i * 7919 % 10_007).collect())
    }

    fn values(table: &Numbers, query: Query, budget: u64) -> Vec<u64> {
        let mut view = View::new(query);
        let mut steps = 0;
        let mut last = 0;
        loop {
            let progress = view.step(table, budget);
            assert!(
                progress.done >= last && progress.done <= progress.total,
                "{progress:?}"
            );
            last = progress.done;
            if progress.finished {
                break;
            }
            steps += 1;
            assert!(steps < 100_000);
        }
        (0..view.len(table))
            .map(|row| table.0[view.row(table, row).unwrap() as usize])
            .collect()
    }

    #[test]
    fn steps_of_any_size_sort_alike() {
        let table = numbers(300_000);
        let mut expected = table.0.clone();
        expected.sort_unstable();
        let query = Query {
            sort: Some("value".into()),
            ..Query::default()
        };
        for budget in [10_000, 70_000, u64::MAX] {
            assert_eq!(values(&table, query.clone(), budget), expected);
        }
        expected.reverse();
        let query = Query {
            descending: true,
            ..query
        };
        assert_eq!(values(&table, query, 50_000), expected);
    }

    #[test]
    fn keys_never_contradict_the_order() {
        let text = |text: &str| Cell::Text(text.to_owned().into());
        for mut cells in [
            vec![
                text("_Zb"),
                text("_Z"),
                text("_Za\0"),
                text("_Za"),
                text("_Zabcdefghi"),
                Cell::None,
            ],
            vec![
                Cell::Int(-5),
                Cell::Int(0),
                Cell::Int(1 << 70),
                Cell::Int(7),
                Cell::None,
            ],
            vec![
                text("b"),
                Cell::Int(9),
                Cell::Bool(true),
                Cell::None,
                text(""),
            ],
        ] {
            cells.sort();
            let keys = keys(&cells);
            assert!(keys.is_sorted(), "{cells:?}: {keys:?}");
        }
    }

    #[test]
    fn filters_take_words_and_columns() {
        let table = numbers(100);
        let filter = |text: &str| {
            let query = Query {
                filter: text.into(),
                ..Query::default()
            };
            values(&table, query, 7)
        };
        let expected: Vec<_> = table
            .0
            .iter()
            .copied()
            .filter(|v| v.to_string().contains("79"))
            .collect();
        assert!(!expected.is_empty());
        assert_eq!(filter("79"), expected);
        assert_eq!(filter("number 79"), expected);
        assert_eq!(filter("value:79"), expected);
        assert_eq!(filter("text:\"NUMBER 0\""), [0]);
        assert!(filter("nothing").is_empty());
        assert_eq!(filter("  ").len(), 100);
    }
}
