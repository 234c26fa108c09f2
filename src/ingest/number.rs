//! Decimal numbers as they stand in scores and grades.
//!
//! Nearly every score is plain digits with at most one dot and at most 16 bytes: those are converted eight digits at a time,
//! without a branch a digit. Where the digits make an integer of at most 53 bits, that integer divided by a power of ten (exact
//! up to 10²²) is the correctly rounded value, so the short way gives the same bits as a full parser, which does the rest.

/// Powers of ten by exponent, all exact.
const POW10: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The longest field that the short way takes.
const SHORT: usize = 16;

/// A byte repeated in every place.
const fn every(byte: u8) -> u128 {
    u128::from_ne_bytes([byte; 16])
}

/// The value of `text[start..end]` if it is `digits[.digits]`, perhaps after a minus, and short; else `None`, whatever it is.
#[inline(always)]
pub(super) fn plain_decimal(text: &[u8], start: usize, end: usize) -> Option<f64> {
    let negative = *text.get(start)? == b'-';
    let start = start + usize::from(negative);
    let length = end.wrapping_sub(start);
    if length.wrapping_sub(1) >= SHORT {
        return None;
    }
    let magnitude = short_decimal(window(text, end)?, length)?;
    Some(if negative { -magnitude } else { magnitude })
}

/// The 16 bytes before `end`.
#[inline(always)]
fn window(text: &[u8], end: usize) -> Option<u128> {
    let bytes = text.get(end.checked_sub(SHORT)?..end)?;
    Some(u128::from_le_bytes(bytes.try_into().ok()?))
}

/// The last `length` (1 … 16) bytes of `window` as a number. The last character is the highest byte.
#[inline(always)]
fn short_decimal(window: u128, length: usize) -> Option<f64> {
    let field = u128::MAX << (8 * (SHORT - length));
    let digits = (window ^ every(b'0')) & field; // a digit is its value, a dot is b'.' ^ b'0', all before the field is 0
    let other = digits ^ every(b'.' ^ b'0');
    let dots = other.wrapping_sub(every(1)) & !other & every(0x80); // the lowest bit set is that of the first dot
    let (digits, fraction) = if dots == 0 {
        (digits, 0)
    } else {
        let dot = dots.trailing_zeros() & !7; // the dot's lowest bit
        let before = digits & !(u128::MAX << dot);
        let after = digits & ((u128::MAX << dot) << 8);
        (before << 8 | after, 15 - dot as usize / 8)
    };
    let all_digits = ((digits.wrapping_add(every(0x76))) | digits) & every(0x80) == 0;
    let mantissa = eight_digits(digits as u64) * 100_000_000 + eight_digits((digits >> 64) as u64);
    let lone_dot = dots != 0 && length == 1;
    if !all_digits || mantissa > 1 << 53 || lone_dot {
        return None;
    }
    Some(mantissa as f64 / POW10[fraction & 15])
}

/// The number that eight digits make; the first is the lowest byte.
#[inline(always)]
fn eight_digits(digits: u64) -> u64 {
    let pairs = (digits.wrapping_mul(10)).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    low.wrapping_add(high) >> 32
}

/// The value of the whole field, if it is a finite decimal number.
pub(super) fn finite(field: &[u8]) -> Option<f64> {
    fast_float2::parse::<f64, _>(field).ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The field in the middle of a text.
    fn plain(field: &str) -> Option<f64> {
        let text = format!("9999999999999999{field} 99999999999999999");
        plain_decimal(text.as_bytes(), 16, 16 + field.len())
    }

    fn std_finite(field: &str) -> Option<f64> {
        field.parse::<f64>().ok().filter(|v| v.is_finite())
    }

    #[test]
    fn short_fields_take_the_short_way() {
        for field in ["0", "7", "37.085274", "-12.5", "5.", ".5", "-0", "9007199254740992", "0.00000000000001"] {
            let value = plain(field).unwrap_or_else(|| panic!("{field} is plain"));
            assert_eq!(value.to_bits(), std_finite(field).unwrap().to_bits(), "{field}");
        }
    }

    #[test]
    fn everything_else_is_left_to_the_full_parser() {
        for field in ["", "-", ".", "-.", "1.2.3", "1e5", "+1", "abc", "9007199254740993", "12345678901234567", "1:2"] {
            assert_eq!(plain(field), None, "{field}");
        }
        assert_eq!(plain_decimal(b"1.5", 0, 3), None, "nothing before it");
    }

    #[test]
    fn numbers_that_are_not_finite_are_no_numbers() {
        for field in ["inf", "-inf", "nan", "infinity", "NaN", "1e999", "", "0x10", "1 ", "1_0"] {
            assert_eq!(finite(field.as_bytes()), None, "{field}");
        }
        assert_eq!(finite(b"+1.5e3"), Some(1500.0));
    }

    proptest! {
        #[test]
        fn both_ways_give_the_bits_of_std(field in "[-+]?[0-9]{0,12}\\.?[0-9]{0,12}(e-?[0-9]{1,3})?|[-+.0-9einfa]{1,8}") {
            let expected = std_finite(&field).map(f64::to_bits);
            prop_assert_eq!(finite(field.as_bytes()).map(f64::to_bits), expected);
            if let Some(value) = plain(&field) {
                prop_assert_eq!(Some(value.to_bits()), expected);
            }
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..40), start in 0usize..40, end in 0usize..40) {
            let _ = plain_decimal(&bytes, start, end);
            let _ = finite(&bytes);
        }
    }
}
