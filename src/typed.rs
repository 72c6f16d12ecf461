//! Values that are typed for a parameter: `f32:1.5`, `u64:0x7f00`, `-3`, `raw:0011ff`.

use crate::launch::{address, number};

/// What a value is read as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Address,
    Unsigned,
    Signed,
    /// A floating-point number of so many bits of exponent and of fraction.
    Float(u32, u32),
}

/// The types that can be named, and their bytes.
const TYPES: &[(&str, usize, Kind)] = &[
    ("ptr", 8, Kind::Address),
    ("u8", 1, Kind::Unsigned),
    ("u16", 2, Kind::Unsigned),
    ("u32", 4, Kind::Unsigned),
    ("u64", 8, Kind::Unsigned),
    ("i8", 1, Kind::Signed),
    ("i16", 2, Kind::Signed),
    ("i32", 4, Kind::Signed),
    ("i64", 8, Kind::Signed),
    ("f16", 2, Kind::Float(5, 10)),
    ("bf16", 2, Kind::Float(8, 7)),
    ("f32", 4, Kind::Float(8, 23)),
    ("f64", 8, Kind::Float(11, 52)),
];

/// What can be typed, for the note of an input.
pub const NOTE: &str = "TYPE:VALUE with ptr, u8 to u64, i8 to i64, f16, bf16, f32, f64 (inf, nan; 0x… are their bits), several values with \
    commas between them; raw:HEX in the order of memory; without a type a whole number or, of 4 and 8 bytes, one with a point";

/// A value that is typed for a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    /// Its bytes, lowest first.
    pub bytes: Vec<u8>,
    /// What is worth knowing about it: that its type has no such number, and the nearest one counts.
    pub note: Option<String>,
}

/// The value that is typed for a parameter of `size` bytes: `TYPE:VALUE`, several of a type with commas between them, `raw:`
/// and hexadecimal digits in the order of memory, or a value alone. That is a whole number where there is one of `size`
/// bytes, or a floating-point number if it looks like one; else raw bytes.
///
/// # Errors
/// What would be right, in words: a type that there is, a value that it can have, `size` bytes in all.
pub fn typed(text: &str, size: usize) -> Result<Typed, String> {
    let mut note = None;
    let (name, values) = match text.split_once(':') {
        Some((name, values)) => (name.trim(), values.trim()),
        None => (untyped(text.trim(), size), text.trim()),
    };
    let bytes = if name == "raw" {
        raw(values)?
    } else {
        let known = TYPES.iter().find(|(known, ..)| *known == name);
        let Some(&(_, width, kind)) = known else {
            let names: Vec<&str> = TYPES.iter().map(|(name, ..)| *name).collect();
            return Err(format!(
                "{name:?} is no type; there are {} and raw",
                names.join(", ")
            ));
        };
        let mut bytes = Vec::new();
        for value in values.split(',') {
            let value = value.trim();
            let bits = bits(value, width, kind, name)?;
            note = note.or_else(|| rounded(value, kind, bits, name));
            bytes.extend_from_slice(&bits.to_le_bytes()[..width]);
        }
        bytes
    };
    match bytes.len() == size {
        true => Ok(Typed { bytes, note }),
        false => Err(format!(
            "the parameter has {size} bytes, {text:?} as {name} has {}",
            bytes.len()
        )),
    }
}

/// The type of a value without one.
fn untyped(value: &str, size: usize) -> &'static str {
    let is_whole = value
        .trim_start_matches('-')
        .chars()
        .all(|c| c.is_ascii_digit() || c == '_' || c == ',')
        || value.starts_with("0x");
    match (size, is_whole, value.contains('-')) {
        (8, false, _) => "f64",
        (4, false, _) => "f32",
        (8, _, true) => "i64",
        (4, _, true) => "i32",
        (2, _, true) => "i16",
        (1, _, true) => "i8",
        (8, ..) => "u64",
        (4, ..) => "u32",
        (2, ..) => "u16",
        (1, ..) => "u8",
        _ => "raw",
    }
}

fn raw(text: &str) -> Result<Vec<u8>, String> {
    let wrong = || format!("{text:?} are no pairs of hexadecimal digits such as 00ff");
    let digits = text.strip_prefix("0x").unwrap_or(text).chars();
    let digits = digits.filter(|c| !c.is_whitespace() && *c != '_');
    let digits: Option<Vec<u32>> = digits.map(|c| c.to_digit(16)).collect();
    let digits = digits.ok_or_else(wrong)?;
    if digits.len() % 2 != 0 {
        return Err(wrong());
    }
    let pairs = digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8);
    Ok(pairs.collect())
}

/// The bits of a value of `width` bytes.
fn bits(text: &str, width: usize, kind: Kind, name: &str) -> Result<u64, String> {
    let most = u64::MAX >> (64 - 8 * width);
    let unsigned = |value: u64| match value <= most {
        true => Ok(value),
        false => Err(format!(
            "{text} is more than {name} can be, which is {most}"
        )),
    };
    match kind {
        Kind::Address => unsigned(address(text)?),
        Kind::Unsigned => unsigned(number(text)?),
        Kind::Signed => {
            let (is_negative, digits) = match text.strip_prefix('-') {
                Some(digits) => (true, digits),
                None => (false, text),
            };
            let size = number(digits)?;
            // As many negative numbers as others: 0 is one of these.
            if size > most / 2 + u64::from(is_negative) {
                let (least, most) = (most / 2 + 1, most / 2);
                return Err(format!("{text} is not one of {name}'s -{least} to {most}"));
            }
            Ok(match is_negative {
                true => size.wrapping_neg() & most,
                false => size,
            })
        }
        Kind::Float(..) if text.starts_with("0x") => unsigned(number(text)?),
        Kind::Float(exponent, fraction) => {
            let wrong = || format!("{text:?} is no number such as 1.5, -2e-3, inf or nan");
            let bits = match width {
                // Both are rounded once: a double that is rounded again can be one step off.
                4 => text.parse::<f32>().map_err(|_| wrong())?.to_bits().into(),
                8 => text.parse::<f64>().map_err(|_| wrong())?.to_bits(),
                _ => narrow(text.parse().map_err(|_| wrong())?, exponent, fraction),
            };
            let infinity = ((1 << exponent) - 1) << fraction;
            // What is typed with digits is no infinity.
            if bits & most >> 1 == infinity && text.contains(|c: char| c.is_ascii_digit()) {
                return Err(format!("{text} does not fit into {name}"));
            }
            Ok(bits)
        }
    }
}

/// What `text` became where that shows: a whole number of which the type has none, or anything that is rounded to 0. Other
/// fractions are hardly ever those that are typed.
fn rounded(text: &str, kind: Kind, bits: u64, name: &str) -> Option<String> {
    let Kind::Float(exponent, fraction) = kind else {
        return None;
    };
    let size = bits & !(1 << (exponent + fraction));
    let digits = text.trim_start_matches(['+', '-']);
    let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
    if size == 0 && !digits.starts_with("0x") && mantissa.contains(|c| matches!(c, '1'..='9')) {
        return Some(format!("{text} is too near to 0 for {name}: it becomes 0"));
    }
    let whole: u64 = digits.parse().ok()?;
    // The number is (2^fraction + its bits) × 2^shift.
    let shift = (size >> fraction) as i64 - ((1 << (exponent - 1)) - 1) - i64::from(fraction);
    let parts = u128::from(size & ((1 << fraction) - 1) | 1 << fraction);
    let became = match shift {
        ..0 => parts.checked_shr(shift.unsigned_abs() as u32).unwrap_or(0),
        _ => parts << shift.min(64),
    };
    let sign = if text.starts_with('-') { "-" } else { "" };
    (whole != 0 && became != whole.into())
        .then(|| format!("{name} has no {text}: the nearest it has, {sign}{became}, counts"))
}

/// The bits of the floating-point number nearest to `value` that has so many bits of exponent and of fraction, the even one
/// of two that are as near; too large a number is infinite.
fn narrow(value: f64, exponent: u32, fraction: u32) -> u64 {
    let bits = value.to_bits();
    let sign = bits >> 63 << (exponent + fraction);
    let infinity = ((1 << exponent) - 1) << fraction;
    if value.is_nan() {
        return sign | infinity | 1 << (fraction - 1);
    }
    let bias = (1_i64 << (exponent - 1)) - 1;
    let power = (bits >> 52 & 0x7ff) as i64 - 1023 + bias;
    let whole = bits & ((1 << 52) - 1) | 1 << 52;
    // Below the least normal number the exponent stays and the fraction loses bits.
    let lost = (52 - i64::from(fraction)) + (1 - power).max(0);
    if lost > 54 {
        return sign;
    }
    let half = 1_u64 << (lost - 1);
    let kept = whole >> lost;
    let rest = whole & ((1 << lost) - 1);
    let is_up = rest > half || rest == half && kept & 1 == 1;
    // The leading one of a normal number adds 1 to the exponent, as does a fraction that is rounded up to the next power.
    let base = (power.max(1) as u64 - 1) << fraction;
    sign | (base + kept + u64::from(is_up)).min(infinity)
}

#[cfg(test)]
mod tests {
    use super::typed;

    #[test]
    fn values_are_the_bytes_of_their_types() {
        for (text, bytes) in [
            ("f32:1.5", &[0, 0, 0xc0, 0x3f][..]),
            ("1.5", &[0, 0, 0xc0, 0x3f]),
            ("f32:0x3fc00000", &[0, 0, 0xc0, 0x3f]),
            ("-1", &[0xff; 4]),
            ("7", &[7, 0, 0, 0]),
            ("1e3", &[0, 0, 0x7a, 0x44]), // 1000 = 0x447a0000
            ("ptr:7f0000001000", &[0, 0x10, 0, 0, 0, 0x7f, 0, 0]),
            ("u64:0x7f00", &[0, 0x7f, 0, 0, 0, 0, 0, 0]),
            ("f64:-2", &[0, 0, 0, 0, 0, 0, 0, 0xc0]),
            ("i8:-128", &[0x80]),
            ("u16:65535", &[0xff, 0xff]),
            ("f16:1", &[0x00, 0x3c]),
            ("bf16:1", &[0x80, 0x3f]),
            ("u16:1,2,3", &[1, 0, 2, 0, 3, 0]),
            ("raw:00 11_22", &[0x00, 0x11, 0x22]),
            ("001122", &[0x00, 0x11, 0x22]),
        ] {
            let found = typed(text, bytes.len()).expect(text);
            assert_eq!((&*found.bytes, found.note), (bytes, None), "{text}");
        }
    }

    #[test]
    fn halves_are_rounded_to_the_nearest_even() {
        // IEEE 754 binary16: 11 significant bits, the largest number 65504, the least 2^-24.
        for (text, bits) in [
            ("65504", 0x7bff),
            ("65519.99", 0x7bff),
            ("inf", 0x7c00),
            ("-inf", 0xfc00),
            ("nan", 0x7e00),
            ("2049", 0x6800),                   // half-way: 2048 is even
            ("2051", 0x6802),                   // half-way: 2052 is even
            ("6.103515625e-5", 0x0400),         // 2^-14, the least normal number
            ("5.9604644775390625e-8", 0x0001),  // 2^-24
            ("2.98023223876953125e-8", 0x0000), // 2^-25, half-way to 0
            ("2.98023224e-8", 0x0001),
            ("1e-300", 0x0000),
            ("-0", 0x8000),
        ] {
            let bytes = typed(&format!("f16:{text}"), 2).expect(text).bytes;
            assert_eq!(bytes, u16::to_le_bytes(bits), "{text}");
        }
        // bfloat16 is the upper half of binary32: 1 + 2^-8 is half-way between 1 and 1 + 2^-7.
        for (text, bits) in [
            ("1.00390625", 0x3f80),
            ("1.01171875", 0x3f82),
            ("3e38", 0x7f62),
        ] {
            let bytes = typed(&format!("bf16:{text}"), 2).expect(text).bytes;
            assert_eq!(bytes, u16::to_le_bytes(bits), "{text}");
        }
    }

    #[test]
    fn numbers_that_a_type_has_not_are_told() {
        // 24, 11, 8 and 53 significant bits; half-way cases are rounded to even.
        for (text, size, became) in [
            ("f32:16777217", 4, Some("16777216")),
            ("f32:-16777219", 4, Some("-16777220")),
            ("f32:16777216", 4, None),
            ("f16:2049", 2, Some("2048")),
            ("bf16:257", 2, Some("256")),
            ("f64:9007199254740993", 8, Some("9007199254740992")),
            ("f64:18446744073709551615", 8, Some("18446744073709551616")),
            ("f16:1e-300", 2, Some("becomes 0")),
            ("f32:1,16777217", 8, Some("16777216")),
            // That decimal fractions are rounded is no news.
            ("f32:0.1", 4, None),
            ("f32:0", 4, None),
            ("f32:-0.0", 4, None),
            ("f32:0e5", 4, None),
            ("f32:0x00000000", 4, None),
            ("u32:16777217", 4, None),
            ("f64:1", 8, None),
        ] {
            let note = typed(text, size).expect(text).note;
            assert_eq!(note.is_some(), became.is_some(), "{text}: {note:?}");
            let note = note.unwrap_or_default();
            assert!(note.contains(became.unwrap_or_default()), "{text}: {note}");
        }
    }

    #[test]
    fn what_does_not_fit_is_said() {
        // A kernel that is given an infinity for a large number computes something else: the largest numbers are
        // 3.4028235e38, 65504 and 1.7976931348623157e308, and half a step more is rounded up.
        for (text, size) in [
            ("f32:1e39", 4),
            ("f32:-3.4028236e38", 4),
            ("1e39", 4),
            ("f16:65520", 2),
            ("bf16:3.4e38", 2),
            ("f64:1e400", 8),
        ] {
            let message = typed(text, size).expect_err(text);
            assert!(message.contains("does not fit"), "{text}: {message}");
        }
        for (text, bits) in [
            ("f32:3.4028235e38", 0x7f7f_ffff_u32),
            ("f32:inf", 0x7f80_0000),
            ("f32:-Infinity", 0xff80_0000),
            ("nan", 0x7fc0_0000),
            ("f32:0x7f800000", 0x7f80_0000),
        ] {
            let found = typed(text, 4).expect(text);
            assert_eq!(found.bytes, bits.to_le_bytes(), "{text}");
        }
        for (text, size) in [
            ("f32:1.5", 8),
            ("u8:256", 1),
            ("i8:-129", 1),
            ("i8:128", 1),
            ("u32:-1", 4),
            ("u32:", 4),
            ("f32:one", 4),
            ("float:1", 4),
            ("raw:0", 1),
            ("raw:zz", 1),
            ("u16:1,2", 2),
            ("1.5", 2),
            ("", 4),
            ("é", 3),
        ] {
            assert!(typed(text, size).is_err(), "{text} of {size}");
        }
    }
}
