//! Text in a file, by lines.
//!
//! Lines end with a line feed or a NUL. Where each begins is found again from marks that are set while the text is read
//! through once, so that a window of a long text costs little and nothing of it is kept.

use std::cell::{Cell, OnceCell};

use crate::error::Result;
use crate::rows::{Cell as Value, Column, Table, Unit, column};
use crate::source::Source;
use crate::span::Span;

/// A text.
#[derive(Clone, Debug)]
pub struct Text {
    /// What it is called.
    pub name: String,
    /// Its bytes in the file.
    pub span: Span,
    marks: OnceCell<Marks>,
}

/// Beginnings of lines, about as far apart as [`APART`].
#[derive(Clone, Debug, Default)]
struct Marks {
    /// Which line, counted from 0, and where it begins.
    lines: Vec<(u64, u64)>,
    count: u64,
}

const APART: u64 = 4 << 10;
/// Bytes that are read at once.
const CHUNK: u64 = 4 << 10;
/// Bytes of a line that are shown, at most.
const LINE_LIMIT: u64 = 64 << 10;

fn ends(byte: u8) -> bool {
    matches!(byte, 0 | b'\n')
}

impl Text {
    /// The text in the bytes of `span`.
    pub fn new(name: impl Into<String>, span: Span) -> Self {
        Self {
            name: name.into(),
            span,
            marks: OnceCell::new(),
        }
    }

    fn marks(&self, source: &Source) -> &Marks {
        // Of bytes that cannot be read there are no lines: whoever reads them says why.
        self.marks
            .get_or_init(|| self.read(source).unwrap_or_default())
    }

    fn read(&self, source: &Source) -> Result<Marks> {
        let (mut lines, mut count) = (vec![(0, self.span.offset)], 0);
        let mut last = self.span.offset;
        let (mut at, mut marked) = (self.span.offset, self.span.offset);
        while at < self.span.end() {
            let bytes = source.read(Span::new(at, CHUNK).clamp(self.span.end()))?;
            for (i, _) in bytes.iter().enumerate().filter(|(_, byte)| ends(**byte)) {
                count += 1;
                last = at + i as u64 + 1;
                if last - marked >= APART {
                    lines.push((count, last));
                    marked = last;
                }
            }
            at += bytes.len() as u64;
        }
        // What follows the last end of a line is one, unless it is nothing.
        count += u64::from(last < self.span.end());
        Ok(Marks { lines, count })
    }

    /// How many lines it has. Reads it through when it is asked for the first time.
    pub fn lines(&self, source: &Source) -> u64 {
        self.marks(source).count
    }

    /// The bytes of the line that begins at `start`, without its end.
    fn line_from(&self, source: &Source, start: u64) -> Result<Span> {
        let mut at = start;
        while at < self.span.end() {
            let bytes = source.read(Span::new(at, CHUNK).clamp(self.span.end()))?;
            if let Some(end) = bytes.iter().position(|&byte| ends(byte)) {
                return Ok(Span::new(start, at + end as u64 - start));
            }
            at += bytes.len() as u64;
        }
        Ok(Span::new(start, self.span.end().saturating_sub(start)))
    }
}

/// The lines of a text as a table.
pub struct LineList<'a> {
    source: &'a Source,
    text: &'a Text,
    /// The line that was asked for last, and where it is: the next one begins behind it.
    last: Cell<Option<(u64, Span)>>,
}

impl<'a> LineList<'a> {
    /// The lines of `text`.
    pub fn new(source: &'a Source, text: &'a Text) -> Self {
        Self {
            source,
            text,
            last: Cell::new(None),
        }
    }

    fn line(&self, row: u64) -> Option<Span> {
        let marks = self.text.marks(self.source);
        if row >= marks.count {
            return None;
        }
        let mark = marks.lines.partition_point(|(line, _)| *line <= row);
        let (mut line, mut start) = *marks.lines.get(mark.checked_sub(1)?)?;
        match self.last.get() {
            Some((last, span)) if last == row => return Some(span),
            Some((last, span)) if last < row && last >= line => {
                (line, start) = (last + 1, span.end() + 1);
            }
            _ => {}
        }
        loop {
            let span = self.text.line_from(self.source, start).ok()?;
            if line == row {
                self.last.set(Some((row, span)));
                return Some(span);
            }
            (line, start) = (line + 1, span.end() + 1);
        }
    }
}

impl Table for LineList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("line", "Line", Unit::Number),
            column("text", "Text", Unit::Text),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.text.lines(self.source)
    }

    fn cell(&self, row: u64, key: &str) -> Value<'_> {
        let Some(line) = self.line(row) else {
            return Value::None;
        };
        match key {
            "line" => (row + 1).into(),
            "text" => {
                let shown = Span::new(line.offset, line.size.min(LINE_LIMIT));
                match self.source.read(shown) {
                    Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
                    Err(_) => Value::None,
                }
            }
            _ => Value::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.line(row)?.some()
    }
}

/// The texts of a file as a table.
pub struct TextList<'a> {
    /// The file.
    pub source: &'a Source,
    /// Its texts.
    pub texts: &'a [Text],
}

impl Table for TextList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("name", "Name", Unit::Text),
            column("lines", "Lines", Unit::Number),
            column("offset", "Offset", Unit::Hex),
            column("size", "Size", Unit::Size),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.texts.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Value<'_> {
        let Some(text) = self.texts.get(row as usize) else {
            return Value::None;
        };
        match key {
            "name" => text.name.as_str().into(),
            "lines" => text.lines(self.source).into(),
            "offset" => text.span.offset.into(),
            "size" => text.span.size.into(),
            _ => Value::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        Some(self.texts.get(row as usize)?.span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8], rows: impl Iterator<Item = u64>) -> Vec<String> {
        let source = Source::memory(bytes);
        let text = Text::new("", Span::new(0, bytes.len() as u64));
        let list = LineList::new(&source, &text);
        let cell = |row| list.cell(row, "text").text(Unit::Text).into_owned();
        rows.map(cell).collect()
    }

    #[test]
    fn lines_end_with_a_nul_or_a_line_feed() {
        assert_eq!(lines(b"a\0\0b\nc", 0..5), ["a", "", "b", "c", ""]);
        assert_eq!(lines(b"a\0", 0..2), ["a", ""]);
        assert_eq!(lines(b"", 0..1), [""]);
        let count = |bytes: &[u8]| {
            let span = Span::new(0, bytes.len() as u64);
            Text::new("", span).lines(&Source::memory(bytes))
        };
        assert_eq!(
            [count(b""), count(b"\0"), count(b"a"), count(b"a\0b")],
            [0, 1, 1, 2]
        );
    }

    #[test]
    fn lines_of_a_long_text_are_found_in_any_order() {
        let expected: Vec<String> = (0..3000)
            .map(|i| format!("{i}").repeat(i % 50))
            .chain(["x".repeat(20_000)])
            .chain((0..100).map(|i| i.to_string()))
            .collect();
        let bytes = expected.join("\0").into_bytes();
        let count = expected.len() as u64;
        assert_eq!(lines(&bytes, 0..count), expected);
        let mut backwards = lines(&bytes, (0..count).rev());
        backwards.reverse();
        assert_eq!(backwards, expected);
        let some = |i: u64| i * 7919 % count;
        let found = lines(&bytes, (0..500).map(some));
        let wanted: Vec<_> = (0..500)
            .map(|i| expected[some(i) as usize].clone())
            .collect();
        assert_eq!(found, wanted);
    }
}
