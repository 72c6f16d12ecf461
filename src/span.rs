//! A run of bytes in a file.

use serde::Serialize;

/// A run of bytes: `size` bytes from `offset` on. Nothing says that the file is that long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Span {
    /// First byte, counted from the start of the file.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub offset: u64,
    /// Bytes.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub size: u64,
}

impl Span {
    /// `size` bytes from `offset` on.
    pub const fn new(offset: u64, size: u64) -> Self {
        Self { offset, size }
    }

    /// The first byte behind it; `u64::MAX` where the sum would not fit.
    pub const fn end(self) -> u64 {
        self.offset.saturating_add(self.size)
    }

    /// Whether the byte at `offset` is one of it.
    pub const fn contains(self, offset: u64) -> bool {
        offset >= self.offset && offset - self.offset < self.size
    }

    /// The part of it that lies before `limit`.
    pub fn clamp(self, limit: u64) -> Self {
        let offset = self.offset.min(limit);
        Self::new(offset, self.end().min(limit) - offset)
    }

    /// It, unless it is empty.
    pub fn some(self) -> Option<Self> {
        (self.size > 0).then_some(self)
    }

    /// Whether it ends at or before `limit`, without overflow.
    pub fn within(self, limit: u64) -> bool {
        self.offset
            .checked_add(self.size)
            .is_some_and(|end| end <= limit)
    }
}
