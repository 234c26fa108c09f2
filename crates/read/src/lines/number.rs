//! Fast parsing of the decimal numbers of scores and grades.
//!
//! Nearly every score has at most seven digits before its dot and at most eight behind it. The
//! digits before the dot are converted all at once, and so are the digits behind it, without a
//! branch for each digit. All digits together make an integer below 2⁵³. This integer divided by a
//! power of ten (exact up to 10²²) is the correctly rounded value. So this short way gives the same
//! bits as the full parser. The full parser reads all other numbers.
//!
//! The argument is Clinger's ("How to read floating point numbers accurately", 1990): 15 digits are
//! below 10¹⁵ < 2⁵³, so the integer is exact, 10⁸ is exact, and a division rounds the exact
//! quotient once, to the nearest number: the correct value. A product with 10⁻⁸ would round twice,
//! because 10⁻⁸ is not exact.
//!
//! Eight characters become a number in a register, as in fast_float's
//! `parse_eight_digits_unrolled`. The first character is the lowest byte:
//!
//! ```text
//! "37.085274 "     head: the 8 bytes from the start on; tail: the 8 bytes up to the end
//! head             3 7 . 0 8 5 2 7      the first dot is byte 2, so the whole part has 2 digits
//! first(head, 2)   0 0 0 0 0 0 3 7      shifted up: what stands behind the dot falls out, and
//!                                       zeros come in as leading digits
//! last(tail, 6)    0 0 0 8 5 2 7 4      masked: what stands before the fraction becomes zero
//! digits           10 · d + next        bytes 0, 2, 4 and 6 hold the values of two digits each
//!                  × 10⁶, × 100         of bytes 0 and 4, by one multiplication; × 10⁴ and × 1 of
//!                                       2 and 6 by another; the sums are in the upper half
//! ```
//!
//! So a score costs two loads, three multiplications for each part, one to join them, and a
//! division, and no loop over its characters. Both loads may reach into the neighbouring fields. If
//! the text begins or ends too near for a load, the full parser reads the field.

/// Powers of ten by exponent.
const POW10: [u32; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Returns the integer whose eight bytes are all `byte`.
const fn every(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Parses `text[start..end]` as a decimal grade or score: the short way, or else by the parser
/// `full`.
#[inline(always)]
pub fn decimal(
    text: &[u8],
    start: usize,
    end: usize,
    full: fn(&[u8]) -> Option<f64>,
) -> Option<f64> {
    match plain_decimal(text, start, end) {
        // The match is inlined, whereas `Option::or_else` stays a call.
        None => full(&text[start..end]),
        plain => plain,
    }
}

/// Parses a short decimal at `text[start..end]`, `digits` or `digits.digits`, perhaps after a
/// minus; else `None`.
#[inline(always)]
fn plain_decimal(text: &[u8], start: usize, end: usize) -> Option<f64> {
    let negative = *text.get(start)? == b'-';
    let start = start + usize::from(negative);
    let head = u64::from_le_bytes(*text.get(start..)?.first_chunk()?);
    let tail = u64::from_le_bytes(*text.get(..end)?.last_chunk()?);
    let (whole, fraction) = (dot_in(head), end.wrapping_sub(start));
    // Here `whole` is the number of bytes before the first dot, 8 if there is no dot among the
    // first eight bytes; `fraction` is still the length of the field. A dot at or behind the end
    // belongs to the next field. With `whole` = 8, a field of nine bytes or more takes the first
    // branch, where `first` refuses 8.
    let magnitude = if whole < fraction {
        // The number of digits behind the dot.
        let places = fraction - whole - 1;
        let (whole, fraction) = (first(head, whole)?, last(tail, places)?);
        // One branch for all characters, taken by scores in another notation alone.
        if not_digits(whole) | not_digits(fraction) != 0 {
            return None;
        }
        let digits = digits(whole) * u64::from(POW10[places]) + digits(fraction);
        // The digits go through `i64`, because the conversion of a signed integer is one
        // instruction.
        digits as i64 as f64 / f64::from(POW10[places])
    } else {
        // There is no dot, as in most grades: a division by 1 would take half of the time of a
        // grade.
        let whole = last(tail, fraction)?;
        if not_digits(whole) != 0 {
            return None;
        }
        digits(whole) as i64 as f64
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// Returns the index of the first dot among the eight bytes of a word; 8 if there is none.
#[inline(always)]
fn dot_in(bytes: u64) -> usize {
    let other = bytes ^ every(b'.');
    // Mark the zero bytes. A borrow may falsely mark bytes above the first zero byte, but none
    // below. So the lowest mark belongs to the first dot.
    let dots = other.wrapping_sub(every(1)) & !other & every(0x80);
    dots.trailing_zeros() as usize / 8
}

/// Returns the values of the first `length` (1 … 7) of eight ASCII digits, with zeros before them.
/// Each byte is the value of its digit.
#[inline(always)]
fn first(bytes: u64, length: usize) -> Option<u64> {
    if length.wrapping_sub(1) >= 7 {
        return None;
    }
    Some((bytes ^ every(b'0')) << (64 - 8 * length))
}

/// Returns the values of the last `length` (1 … 8) of eight ASCII digits, with zeros before them.
/// Each byte is the value of its digit.
#[inline(always)]
fn last(bytes: u64, length: usize) -> Option<u64> {
    if length.wrapping_sub(1) >= 8 {
        return None;
    }
    Some((bytes ^ every(b'0')) & (u64::MAX << (8 * (8 - length))))
}

/// Returns 0 if each of eight bytes is the value of a digit, 0 to 9, and another number if not.
#[inline(always)]
fn not_digits(digits: u64) -> u64 {
    // 0x76 lifts 10 and more to the top bit. From 0x8a on the sum carries out of its byte, but such
    // a byte has the top bit by itself.
    (digits.wrapping_add(every(0x76)) | digits) & every(0x80)
}

/// Converts the values of eight decimal digits, the first in the lowest byte, to their number.
#[inline(always)]
fn digits(digits: u64) -> u64 {
    // No carry reaches the result: a pair is below 100, and the lower half of either product is
    // below 2³².
    let pairs = (digits.wrapping_mul(10)).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    low.wrapping_add(high) >> 32
}

/// Parses a whole field as a finite decimal number; `None` if it is not one.
pub fn finite(field: &[u8]) -> Option<f64> {
    fast_float2::parse::<f64, _>(field).ok().filter(|value: &f64| value.is_finite())
}

/// Parses a whole field as a score: a finite decimal number, or an infinity in words. A number that
/// is too large for a float is none.
pub fn score(field: &[u8]) -> Option<f64> {
    let is_word = || !field.iter().any(u8::is_ascii_digit);
    fast_float2::parse::<f64, _>(field)
        .ok()
        .filter(|value: &f64| value.is_finite() || value.is_infinite() && is_word())
}

/// Parses the number at the start of a field as C's `atof` does, and so trec_eval; 0 if there is
/// none. The number may be decimal, hexadecimal or infinite. `None` if it is NaN.
pub fn prefix(field: &[u8]) -> Option<f64> {
    let (negative, digits) = signed(field);
    let magnitude = match digits {
        [b'0', b'x' | b'X', hexadecimal @ ..] => self::hexadecimal(hexadecimal),
        [b'0'..=b'9' | b'.', ..] => {
            fast_float2::parse_partial::<f64, _>(digits).map_or(0.0, |(value, _)| value)
        }
        _ if starts_with(digits, b"inf") => f64::INFINITY,
        _ if starts_with(digits, b"nan") => return None,
        _ => 0.0,
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// Parses the integer at the start of a field as C's `atol` does, and so trec_eval; 0 if there is
/// none. An integer beyond 64 bits becomes the nearest that 64 bits hold. The result is never
/// `None`, which other parsers of grades may return.
pub fn integer_prefix(field: &[u8]) -> Option<f64> {
    let (negative, digits) = signed(field);
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    // Saturating, as glibc's `atol`, which is `strtol`. Digits are added with their sign, for −2⁶³
    // has no positive twin.
    let sign = if negative { -1 } else { 1 };
    let value = digits.fold(0i64, |value, &digit| {
        value.saturating_mul(10).saturating_add(sign * i64::from(digit - b'0'))
    });
    Some(value as f64)
}

/// Returns whether a numeric field begins with a minus, and the field behind its sign.
fn signed(field: &[u8]) -> (bool, &[u8]) {
    match field {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, field),
    }
}

fn starts_with(field: &[u8], word: &[u8]) -> bool {
    field.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// Parses a hexadecimal float of C behind its `0x`, `digits[.digits][p exponent]`. The value is
/// rounded once, to nearest, ties to even.
fn hexadecimal(field: &[u8]) -> f64 {
    let (mut mantissa, mut exponent, mut sticky, mut dot) = (0u64, 0i64, false, false);
    let mut at = 0;
    while let Some(&byte) = field.get(at) {
        match (byte as char).to_digit(16) {
            _ if byte == b'.' && !dot => dot = true,
            // Take sixteen digits from the first nonzero digit. Of further digits, `sticky` records
            // only whether any is nonzero.
            Some(digit) if mantissa >> 60 == 0 => {
                mantissa = mantissa << 4 | u64::from(digit);
                exponent -= 4 * i64::from(dot);
            }
            Some(digit) => {
                sticky |= digit != 0;
                exponent += 4 * i64::from(!dot);
            }
            None => break,
        }
        at += 1;
    }
    if let Some([b'p' | b'P', power @ ..]) = field.get(at..) {
        exponent = exponent.saturating_add(integer_prefix(power).unwrap_or(0.0) as i64);
    }
    scaled(mantissa, sticky, exponent)
}

/// Returns mantissa · 2^exponent as a rounded float; `sticky` says that the exact number is a
/// little larger.
fn scaled(mantissa: u64, sticky: bool, exponent: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let shift = mantissa.leading_zeros();
    let (mantissa, exponent) = (mantissa << shift, exponent.saturating_sub(i64::from(shift)));
    if exponent > 1023 {
        return f64::INFINITY;
    }
    // The number of low bits of the 64 that a float of this size has no room for: 11, and more for
    // a subnormal number. A number that loses more than 64 is below half of the smallest float.
    let lost = (-1074 - exponent).max(11);
    if lost > 64 {
        return 0.0;
    }
    let lost = lost as u32;
    let significand = (u128::from(mantissa) >> lost) as u64;
    let rest = (u128::from(mantissa) << (128 - lost)) >> 64;
    let half = 1u128 << 63;
    // `rest` is the lost bits, as a fraction of 2⁶⁴. Rounding happens once, here, at the last bit
    // that a float of this size has. Rounding to 53 bits first would round a subnormal number
    // twice.
    let up = rest > half || (rest == half && (sticky || significand & 1 == 1));
    let significand = significand + u64::from(up);
    let unit = exponent + i64::from(lost);
    // Both powers are exact. Each product is exact, too, unless the product overflows.
    significand as f64 * 2f64.powi((unit / 2) as i32) * 2f64.powi((unit - unit / 2) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Parses the field in the middle of a text, the short way only.
    fn plain(field: &str) -> Option<f64> {
        let text = format!("9999999999999999{field} 99999999999999999");
        plain_decimal(text.as_bytes(), 16, 16 + field.len())
    }

    /// Returns the fields and the values of cases `field=value`.
    fn cases(all: &str) -> impl Iterator<Item = (&str, f64)> {
        let cases = all.split_whitespace().map(|case| case.split_once('=').unwrap());
        cases.map(|(field, value)| (field, value.parse().unwrap()))
    }

    fn std_finite(field: &str) -> Option<f64> {
        field.parse::<f64>().ok().filter(|v| v.is_finite())
    }

    #[test]
    fn short_fields_take_the_short_way() {
        let fields = "0 7 37.085274 -12.5 -0 -0.0 1234567.12345678 12345678 0.00000001";
        for field in fields.split(' ') {
            let value = plain(field).unwrap_or_else(|| panic!("{field} is plain"));
            assert_eq!(value.to_bits(), std_finite(field).unwrap().to_bits(), "{field}");
        }
    }

    #[test]
    fn everything_else_is_left_to_the_full_parser() {
        let odd =
            ["", "-", ".", "-.", "5.", ".5", "1.2.3", "1e5", "+1", "abc", "1:2", "--1", "1.-2"];
        for field in odd.into_iter().chain(["123456789", "12345678.5", "1.123456789"]) {
            assert_eq!(plain(field), None, "{field}");
        }
        assert_eq!(plain_decimal(b"1.5", 0, 3), None, "too little text around it");
    }

    #[test]
    fn numbers_that_are_not_finite_are_no_numbers() {
        for field in ["inf", "-inf", "nan", "infinity", "NaN", "1e999", "", "0x10", "1 ", "1_0"] {
            assert_eq!(finite(field.as_bytes()), None, "{field}");
        }
        assert_eq!(finite(b"+1.5e3"), Some(1500.0));
        for (field, expected) in cases("inf=inf -inf=-inf +Infinity=inf 1.5=1.5") {
            assert_eq!(score(field.as_bytes()), Some(expected), "{field}");
        }
        for field in ["nan", "-NaN", "1e999", "-1e999", "infinit", "in", "", "abc"] {
            assert_eq!(score(field.as_bytes()), None, "{field}");
        }
    }

    #[test]
    fn prefixes_are_those_of_c() {
        let value = |field: &str| prefix(field.as_bytes()).unwrap();
        // 5e-324 is the smallest number, and 1.7976931348623157e308 the largest.
        for (field, expected) in cases(
            "1.5=1.5 -2e3x=-2000 +.5.5=0.5 5.=5 1e=1 1e+=1 abc=0 =0 -=0 .=0 e5=0 --1=0
             1e999=inf -infinite=-inf INF=inf 0x=0 0x10=16 -0X1.8p1z=-3 0x.8=0.5
             0x1p-1074=5e-324 0x1p-1075=0 0x1.8p-1075=5e-324 0x1p1024=inf
             0x1.fffffffffffffp1023=1.7976931348623157e308 0x20000000000001=9007199254740992
             0x20000000000003=9007199254740996
             0x200000000000010000001=2417851639229258886283264 0x1p-99999999999999999999=0
             0x1p99999999999999999999=inf 0x1p9223372036854775807=inf
             0x.1p-9223372036854775808=0 0x100p9223372036854775807=inf 0x1p-8589932000=0
             -0x1p-8589932000=-0 0x1p-4294968000=0 0x1.8p-1138=0
             0xffffffffffffffffp-1138=5e-324 0xffffffffffffffffp-1139=0 0x1p8589932000=inf
             -0x1p99999999999=-inf 0x0p99999999999=0 0x0.0p-99999999999=0 1e-99999999999=0
             1e99999999999=inf 1e-99999999999999999999=0 0e99999999999=0",
        ) {
            assert_eq!(value(field).to_bits() << 1, expected.to_bits() << 1, "{field}");
            assert_eq!(value(field), expected, "{field}");
        }
        for field in ["nan", "-NaN", "nano"] {
            assert_eq!(prefix(field.as_bytes()), None, "{field}");
        }
        for (field, expected) in cases(
            "1.9=1 -1x=-1 +3=3 abc=0 =0 0x10=0 1e3=1 99999999999999999999=9223372036854775808
             -99999999999999999999=-9223372036854775808",
        ) {
            assert_eq!(integer_prefix(field.as_bytes()), Some(expected), "{field}");
        }
    }

    proptest! {
        #[test]
        fn prefixes_of_finite_numbers_are_those_numbers(
            field in "[-+]?[0-9]{1,12}(\\.[0-9]{0,12})?(e-?[0-9]{1,3})?",
        ) {
            let expected = field.parse::<f64>().unwrap();
            prop_assert_eq!(prefix(field.as_bytes()).map(f64::to_bits), Some(expected.to_bits()));
            let whole = plain(&field).map(|value| value.trunc() + 0.0);
            prop_assert!(whole.is_none_or(|whole| Some(whole) == integer_prefix(field.as_bytes())));
        }

        #[test]
        fn both_ways_give_the_bits_of_std(
            field in "[-+]?[0-9]{0,12}\\.?[0-9]{0,12}(e-?[0-9]{1,3})?|[-+.0-9einfa]{1,8}",
        ) {
            let expected = std_finite(&field).map(f64::to_bits);
            prop_assert_eq!(finite(field.as_bytes()).map(f64::to_bits), expected);
            if let Some(value) = plain(&field) {
                prop_assert_eq!(Some(value.to_bits()), expected);
            }
        }

        #[test]
        fn no_bytes_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..40),
            start in 0usize..40,
            end in 0usize..40,
        ) {
            let _ = plain_decimal(&bytes, start, end);
            let _ = finite(&bytes);
            let _ = (prefix(&bytes), integer_prefix(&bytes));
        }
    }
}
