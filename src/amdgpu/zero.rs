//! Fields of a descriptor that must be zero. Compilers have set some of them, and the hardware took it.

use serde::Serialize;

use super::Processor;
use crate::record::{FieldLayout, Kind, Layout, bits};

/// A field that must be zero and is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct NonZero {
    /// The field's name.
    pub field: &'static str,
    /// Where in the file its first byte is.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub offset: u64,
    /// Its bits; of a field of more than 64 the first 64 that are not all zero.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub raw: u64,
}

/// Whether the field has to be zero in a file for `processor`: reserved ones do, and those whose note says so.
pub fn must_be_zero(field: &FieldLayout, processor: Option<&Processor>) -> bool {
    let is_architected = processor.is_some_and(|p| p.architected_flat_scratch);
    matches!(field.kind, Kind::Reserved)
        || field.note.ends_with("zero here")
        || is_architected
            && field
                .note
                .ends_with("zero where flat scratch is architected")
}

/// The bits of a descriptor that must be zero.
#[derive(Debug)]
pub struct Zeros {
    fields: Vec<&'static FieldLayout>,
    mask: Vec<u8>,
}

impl Zeros {
    /// Those of `layout` in a file for `processor`.
    pub fn new(layout: &'static Layout, processor: Option<&Processor>) -> Self {
        let fields = layout.fields().iter();
        let fields: Vec<_> = fields
            .filter(|field| field.alternative_of.is_empty() && must_be_zero(field, processor))
            .collect();
        let mut mask = vec![0; layout.bytes as usize];
        for bit in fields.iter().flat_map(|f| f.lsb..f.lsb + f.bits) {
            if let Some(byte) = mask.get_mut(bit as usize / 8) {
                *byte |= 1 << (bit % 8);
            }
        }
        Self { fields, mask }
    }

    /// The fields that are set in the descriptor `bytes`, which are at `offset` of the file.
    pub fn violated(&self, bytes: &[u8], offset: u64) -> Vec<NonZero> {
        // Nearly all descriptors have none: they are not taken apart.
        if self
            .mask
            .iter()
            .zip(bytes)
            .all(|(mask, byte)| mask & byte == 0)
        {
            return Vec::new();
        }
        let mut found = Vec::new();
        for field in &self.fields {
            let words = (field.lsb..field.lsb + field.bits).step_by(64);
            let end = field.lsb + field.bits;
            let set = words
                .filter_map(|lsb| bits(bytes, lsb, (end - lsb).min(64)))
                .find(|word| *word != 0);
            if let Some(raw) = set {
                found.push(NonZero {
                    field: &field.name,
                    offset: offset.saturating_add(u64::from(field.lsb / 8)),
                    raw,
                });
            }
        }
        found
    }
}
