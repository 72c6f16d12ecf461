//! A kernel's arguments, as its metadata lists them.

use serde::Serialize;

use super::metadata::Form;
use super::value::Value;
use crate::span::Span;

/// An argument of a kernel. Words are spelled as code object V3 and later spell them, also where
/// V2 has other spellings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct Argument {
    /// Its name in the source, where the compiler keeps it.
    pub name: Option<String>,
    /// The name of its type in the source.
    pub type_name: Option<String>,
    /// What is passed in it, such as `by_value`, `global_buffer`, `hidden_block_count_x`.
    pub kind: String,
    /// Where it lies in the kernarg segment. V2 does not say: laid out by size and alignment.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub offset: u64,
    /// Bytes.
    #[serde(serialize_with = "crate::int::serialize")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int"))]
    pub size: u64,
    /// The address space of what a pointer points to.
    pub address_space: Option<String>,
    /// How the source may access an image or a pipe.
    pub access: Option<String>,
    /// How the kernel does access it.
    pub actual_access: Option<String>,
    /// Bytes that what a pointer to dynamic LDS points to is aligned to.
    #[serde(serialize_with = "crate::int::serialize_option")]
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Int | null"))]
    pub pointee_align: Option<u64>,
    /// Whether it is qualified `const`.
    pub is_const: bool,
    /// Whether it is qualified `restrict`.
    pub is_restrict: bool,
    /// Whether it is qualified `volatile`.
    pub is_volatile: bool,
    /// Whether it is qualified `pipe`.
    pub is_pipe: bool,
    /// The bytes of the metadata that describe it.
    pub span: Span,
}

impl Argument {
    /// Whether the runtime passes it, not the program.
    pub fn is_hidden(&self) -> bool {
        self.kind.starts_with("hidden_")
    }

    /// The first byte behind it.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }

    /// Reads the argument that `value` describes; `next` is where the one before it ends. What is missing is 0.
    pub(super) fn read(value: &Value, form: Form, next: u64) -> Self {
        let keys = keys(form);
        let text = |key: &str| value.get(key).and_then(Value::text);
        let word = |key: &str| text(key).map(|word| spelled(word, form));
        let flag = |key: &str| value.get(key).and_then(Value::flag).unwrap_or(false);
        let number = |key: &str| value.get(key).and_then(Value::number).unwrap_or(0);
        let size = number(keys.size);
        let offset = if form == Form::MessagePack {
            number(keys.offset)
        } else {
            let align = number(keys.offset);
            next.checked_next_multiple_of(align.max(1)).unwrap_or(next)
        };
        // V2 writes what is not qualified as Default.
        let qualifier = |key: &str| word(key).filter(|word| word != "default");
        Self {
            name: text(keys.name).map(Into::into),
            type_name: text(keys.type_name).map(Into::into),
            kind: word(keys.kind).unwrap_or_default(),
            offset,
            size,
            address_space: word(keys.address_space),
            access: qualifier(keys.access),
            actual_access: qualifier(keys.actual_access),
            pointee_align: value.get(keys.pointee_align).and_then(Value::number),
            is_const: flag(keys.is_const),
            is_restrict: flag(keys.is_restrict),
            is_volatile: flag(keys.is_volatile),
            is_pipe: flag(keys.is_pipe),
            span: value.span,
        }
    }
}

/// The keys of an argument's properties. V2 has alignments instead of offsets.
struct Keys {
    name: &'static str,
    type_name: &'static str,
    kind: &'static str,
    offset: &'static str,
    size: &'static str,
    address_space: &'static str,
    access: &'static str,
    actual_access: &'static str,
    pointee_align: &'static str,
    is_const: &'static str,
    is_restrict: &'static str,
    is_volatile: &'static str,
    is_pipe: &'static str,
}

fn keys(form: Form) -> &'static Keys {
    match form {
        Form::MessagePack => &Keys {
            name: ".name",
            type_name: ".type_name",
            kind: ".value_kind",
            offset: ".offset",
            size: ".size",
            address_space: ".address_space",
            access: ".access",
            actual_access: ".actual_access",
            pointee_align: ".pointee_align",
            is_const: ".is_const",
            is_restrict: ".is_restrict",
            is_volatile: ".is_volatile",
            is_pipe: ".is_pipe",
        },
        Form::Yaml => &Keys {
            name: "Name",
            type_name: "TypeName",
            kind: "ValueKind",
            offset: "Align",
            size: "Size",
            address_space: "AddrSpaceQual",
            access: "AccQual",
            actual_access: "ActualAccQual",
            pointee_align: "PointeeAlign",
            is_const: "IsConst",
            is_restrict: "IsRestrict",
            is_volatile: "IsVolatile",
            is_pipe: "IsPipe",
        },
    }
}

/// A word of V2 as later versions spell it: `HiddenGlobalOffsetX` is `hidden_global_offset_x`.
pub(super) fn spelled(word: &str, form: Form) -> String {
    if form == Form::MessagePack {
        return word.into();
    }
    if word == "HiddenMultiGridSyncArg" {
        return "hidden_multigrid_sync_arg".into();
    }
    let mut out = String::with_capacity(word.len() + 4);
    for c in word.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
