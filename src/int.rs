//! How 64-bit integers are handed out: as numbers up to 2^53, as decimal strings above, since
//! JavaScript and many JSON readers hold no more than 53 bits.

use serde::Serializer;

/// The largest integer that every reader of JSON holds exactly: 2^53.
pub const EXACT: u64 = 1 << 53;

/// Serializes `value` as a number where that is exact, else as a decimal string.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    if *value <= EXACT {
        serializer.serialize_u64(*value)
    } else {
        serializer.collect_str(value)
    }
}

/// The same for a value that may be missing.
///
/// # Errors
/// Those of the serializer.
pub fn serialize_option<S: Serializer>(
    value: &Option<u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serialize(value, serializer),
        None => serializer.serialize_none(),
    }
}

/// The same for a signed value.
///
/// # Errors
/// Those of the serializer.
pub fn serialize_signed<S: Serializer>(value: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.unsigned_abs() <= EXACT {
        serializer.serialize_i64(*value)
    } else {
        serializer.collect_str(value)
    }
}

/// The decimal digits of a little-endian unsigned integer of any length.
pub fn decimal(bytes: &[u8]) -> String {
    // Base 10^9, least significant digit first: each byte from the top multiplies by 256.
    const BASE: u64 = 1_000_000_000;
    let mut digits: Vec<u64> = vec![0];
    for &byte in bytes.iter().rev() {
        let mut carry = u64::from(byte);
        for digit in &mut digits {
            let next = *digit * 256 + carry;
            *digit = next % BASE;
            carry = next / BASE;
        }
        if carry != 0 {
            digits.push(carry);
        }
    }
    let mut text = digits.last().copied().unwrap_or(0).to_string();
    for digit in digits.iter().rev().skip(1) {
        text.push_str(&format!("{digit:09}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn decimal_of_any_length() {
        assert_eq!(decimal(&[]), "0");
        assert_eq!(decimal(&[0, 1]), "256");
        assert_eq!(decimal(&[0xff; 8]), u64::MAX.to_string());
        assert_eq!(decimal(&[0xff; 16]), u128::MAX.to_string());
        // 2^128 = 340282366920938463463374607431768211456
        let mut bytes = [0; 17];
        bytes[16] = 1;
        assert_eq!(decimal(&bytes), "340282366920938463463374607431768211456");
    }
}
