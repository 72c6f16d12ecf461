//! What can be wrong, and where.
//!
//! An [`Error`] ends the reading of one part; whoever reads the parts around it turns it into a
//! [`Diagnostic`] and goes on with the next. Both say what was expected, what was found, in which
//! structure, and at which offset of the file that was dropped.

use std::fmt;

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The file breaks its format, or a loader would refuse it.
    Error,
    /// Suspicious: most readers accept it, some will not.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// Its word in what is handed out.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Whose rule it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The format's.
    Format,
    /// A loader's: the file can be read, but a loader that follows the reference ABI refuses it.
    Loader,
    /// A bound of this program's or of the hardware's.
    Limit,
    /// A value that no public source names.
    UnknownValue,
}

impl Kind {
    /// Its word in what is handed out.
    pub fn word(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Loader => "loader",
            Self::Limit => "limit",
            Self::UnknownValue => "unknown_value",
        }
    }
}

/// One finding about a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Whose rule it is.
    pub kind: Kind,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What would have been right, where that can be said shortly.
    pub expected: Option<String>,
    /// What the file has instead.
    pub found: Option<String>,
    /// Where, in the file that was dropped or, of what was unpacked, in that; `None` where there is no place.
    #[serde(serialize_with = "crate::int::serialize_option")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int | null"))]
    pub offset: Option<u64>,
    /// Path of the structure and field, such as `section 3, sh_link`.
    pub context: Option<String>,
}

impl Diagnostic {
    /// How grave it is, 0 the most. That not all was looked at has to be known whatever else is wrong.
    fn weight(&self) -> usize {
        match (self.severity, self.kind) {
            (Severity::Error, _) | (_, Kind::Limit) => 0,
            (Severity::Warning, _) => 1,
            (Severity::Note, _) => 2,
        }
    }

    fn new(severity: Severity, kind: Kind, message: impl Into<String>) -> Self {
        Self {
            severity,
            kind,
            message: message.into(),
            expected: None,
            found: None,
            offset: None,
            context: None,
        }
    }

    /// An error.
    pub fn error(kind: Kind, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, kind, message)
    }

    /// A warning.
    pub fn warning(kind: Kind, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, kind, message)
    }

    /// A note.
    pub fn note(kind: Kind, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, kind, message)
    }

    /// Says where.
    #[must_use]
    pub fn at(mut self, offset: impl Into<Option<u64>>) -> Self {
        self.offset = offset.into();
        self
    }

    /// Says in which structure and field.
    #[must_use]
    pub fn within(mut self, context: impl Into<String>) -> Self {
        self.context = Some(context.into());
        self
    }

    /// Says what would have been right and what the file has.
    #[must_use]
    pub fn expected(self, expected: impl fmt::Display, found: impl fmt::Display) -> Self {
        self.with_expected(&expected, &found)
    }

    /// Not generic, so that it is compiled once.
    fn with_expected(mut self, expected: &dyn fmt::Display, found: &dyn fmt::Display) -> Self {
        self.expected = Some(expected.to_string());
        self.found = Some(found.to_string());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let (Some(expected), Some(found)) = (&self.expected, &self.found) {
            write!(f, ": expected {expected}, found {found}")?;
        }
        if let Some(context) = &self.context {
            write!(f, " ({context})")?;
        }
        match self.offset {
            Some(offset) => write!(f, " at 0x{offset:x}"),
            None => Ok(()),
        }
    }
}

/// Why a part could not be read. It is a [`Diagnostic`] of severity [`Severity::Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Diagnostic>);

/// What reading a part gives.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The finding that it is.
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.0
    }

    /// The finding that it is.
    pub fn into_diagnostic(self) -> Diagnostic {
        *self.0
    }

    /// Says in which structure and field, where nothing nearer has said so yet.
    #[must_use]
    pub fn within(mut self, context: impl FnOnce() -> String) -> Self {
        self.0.context.get_or_insert_with(context);
        self
    }
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(Box::new(diagnostic))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {}

/// The findings about a file, in the order in which they were met. Bounded: a file of nothing but
/// mistakes costs no more than [`Diagnostics::LIMIT`] of them, and the rest are counted. The gravest are kept.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    /// How many of the list have each weight, from the gravest on.
    weights: [usize; 3],
    more: u64,
}

impl Diagnostics {
    /// How many are kept.
    pub const LIMIT: usize = 1000;

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let weight = diagnostic.weight();
        if self.list.len() >= Self::LIMIT {
            self.more += 1;
            let lightest = self.weights.iter().rposition(|&count| count > 0);
            let Some(lightest) = lightest.filter(|&lightest| lightest > weight) else {
                return;
            };
            let last = self.list.iter().rposition(|kept| kept.weight() == lightest);
            self.list.remove(last.unwrap_or_default());
            self.weights[lightest] -= 1;
        }
        self.weights[weight] += 1;
        self.list.push(diagnostic);
    }

    /// Makes those with that message notes.
    pub fn note(&mut self, message: &str) {
        for known in self.list.iter_mut().filter(|d| d.message == message) {
            self.weights[known.weight()] -= 1;
            known.severity = Severity::Note;
            self.weights[known.weight()] += 1;
        }
    }

    /// Takes the value, or the error as a finding.
    pub fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result
            .map_err(|error| self.push(error.into_diagnostic()))
            .ok()
    }

    /// Those kept and, where there were more, a last one that says how many.
    pub fn all(&self) -> Vec<Diagnostic> {
        let mut all = self.list.clone();
        if self.more > 0 {
            all.push(Diagnostic::note(
                Kind::Limit,
                format!("{} more findings are not listed", self.more),
            ));
        }
        all
    }

    /// How many [`Diagnostics::all`] gives.
    pub fn len(&self) -> usize {
        self.list.len() + usize::from(self.more > 0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Those kept.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }
}
