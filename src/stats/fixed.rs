//! Exact binary numbers in their written form, such as `-0x1a2bp-96`.

use std::fmt;
use std::str::FromStr;

/// An exact binary number, magnitude · 2^exponent, in its only form: equal numbers are equal in all
/// parts.
///
/// Its text is that of hexadecimal floats in C, without a point: `-0x1a2bp-96`, and `0x0p0` for
/// zero.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Fixed {
    negative: bool,
    exponent: i32,
    magnitude: Vec<u8>,
}

impl Fixed {
    /// Makes an exact number from its sign, exponent and magnitude; `magnitude` is the bytes of an
    /// integer, lowest first. `None` if the parts are not the number's one form: the magnitude is
    /// odd and its last byte is not 0; zero has no byte, no sign and the exponent 0.
    pub fn new(negative: bool, exponent: i32, magnitude: Vec<u8>) -> Option<Self> {
        let canonical = match (magnitude.first(), magnitude.last()) {
            (Some(first), Some(&last)) => first & 1 == 1 && last != 0,
            _ => !negative && exponent == 0,
        };
        canonical.then_some(Self { negative, exponent, magnitude })
    }

    /// Makes an exact number of any magnitude, in the only form of the number. `magnitude` may be
    /// even, and may end with zero bytes.
    pub(super) fn reduced(negative: bool, exponent: i32, mut magnitude: Vec<u8>) -> Self {
        let Some(lowest) = magnitude.iter().position(|&byte| byte != 0) else {
            return Self::default();
        };
        let zeros = magnitude[lowest].trailing_zeros();
        magnitude.drain(..lowest);
        for at in 0..magnitude.len() {
            let above = magnitude.get(at + 1).copied().unwrap_or_default();
            // The bits that a shift frees at the top are the lowest of the next byte.
            magnitude[at] = (u16::from_le_bytes([magnitude[at], above]) >> zeros) as u8;
        }
        while magnitude.last() == Some(&0) {
            magnitude.pop();
        }
        Self { negative, exponent: exponent + 8 * lowest as i32 + zeros as i32, magnitude }
    }

    /// Returns whether the number is below 0.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Returns the power of two that the magnitude is multiplied by.
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    /// Returns the bytes of the magnitude, lowest first: an odd integer, or none for zero.
    pub fn magnitude(&self) -> &[u8] {
        &self.magnitude
    }

    /// Returns the number of bits of the magnitude.
    pub(super) fn bits(&self) -> u64 {
        self.magnitude
            .last()
            .map_or(0, |last| 8 * self.magnitude.len() as u64 - u64::from(last.leading_zeros()))
    }
}

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.negative { "-0x" } else { "0x" })?;
        let mut bytes = self.magnitude.iter().rev();
        write!(f, "{:x}", bytes.next().unwrap_or(&0))?;
        bytes.try_for_each(|byte| write!(f, "{byte:02x}"))?;
        write!(f, "p{}", self.exponent)
    }
}

/// The error of parsing a text other than an exact number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected an exact number like -0x1a2bp-96: an odd integer of lower-case hexadecimal digits, \
     `p`, and a power of two (0x0p0 for zero)"
)]
pub struct ParseFixedError;

impl FromStr for Fixed {
    type Err = ParseFixedError;

    /// Parses an exact number from the text that `Display` writes, such as `-0x1a2bp-96`, and
    /// nothing else.
    fn from_str(text: &str) -> Result<Self, ParseFixedError> {
        // Upper-case digits, leading zeros and `p+3` parse too: only the round trip rejects them.
        parse(text).filter(|fixed| fixed.to_string() == text).ok_or(ParseFixedError)
    }
}

/// Parses an exact number from hexadecimal text, which may differ from the text that `Display`
/// writes.
fn parse(text: &str) -> Option<Fixed> {
    let unsigned = text.strip_prefix('-');
    let (digits, exponent) = unsigned.unwrap_or(text).strip_prefix("0x")?.split_once('p')?;
    let bytes = digits.as_bytes().rchunks(2).map(|digits| {
        digits
            .iter()
            .try_fold(0, |byte, &digit| Some(byte << 4 | char::from(digit).to_digit(16)? as u8))
    });
    let mut magnitude = bytes.collect::<Option<Vec<u8>>>()?;
    if magnitude == [0] {
        magnitude.clear();
    }
    Fixed::new(unsigned.is_some(), exponent.parse().ok()?, magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_of_numbers() {
        for (text, negative, exponent, magnitude) in [
            ("0x0p0", false, 0, &[][..]),
            ("0x1p0", false, 0, &[1]),
            ("-0x1a2bp-96", true, -96, &[0x2b, 0x1a]),
            ("0x1000001p-1074", false, -1074, &[1, 0, 0, 1]),
            ("0xffp2147483647", false, i32::MAX, &[0xff]),
            ("0x3p-2147483648", false, i32::MIN, &[3]),
        ] {
            let fixed = Fixed::new(negative, exponent, magnitude.to_vec()).unwrap();
            assert_eq!((fixed.to_string().as_str(), text.parse()), (text, Ok(fixed)));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "-",
            "0x",
            "p",
            "0xp0",
            "0x0",
            "0x1",
            "1p0",
            "0x1p",
            "0xp1",
            "-0x0p0",
            "0x0p1",
            "0x00p0",
            "0x01p0",
            "0x001p0",
            "0x2p0",
            "0x10p0",
            "0x1Ap0",
            "0xFp0",
            "0X1p0",
            "0x1P0",
            "+0x1p0",
            "0x1p+1",
            "0x1p01",
            "0x1p-0",
            "0x1p-01",
            " 0x1p0",
            "0x1p0 ",
            "0x1 p0",
            "0x1p0p0",
            "--0x1p0",
            "0x-1p0",
            "0x1.1p0",
            "0xgp0",
            "0x+1p0",
            "0x1p2147483648",
            "0x1p-2147483649",
            "0x1p1e1",
            "0x1p0x1",
            "0xép0",
            "0x1pé",
            "nan",
            "inf",
        ] {
            assert_eq!(text.parse::<Fixed>(), Err(ParseFixedError), "{text}");
        }
    }

    #[test]
    fn parts_that_are_not_the_one_form_are_refused() {
        for (negative, exponent, magnitude) in [
            (true, 0, &[][..]),
            (false, 1, &[]),
            (false, 0, &[0]),
            (false, 0, &[2]),
            (false, 0, &[1, 0]),
        ] {
            assert_eq!(Fixed::new(negative, exponent, magnitude.to_vec()), None);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            negative: bool,
            exponent in -5000..5000i32,
            bytes in proptest::collection::vec(0..=255u8, 0..20),
        ) {
            let fixed = Fixed::reduced(negative, exponent, bytes.clone());
            prop_assert_eq!(fixed.to_string().parse(), Ok(fixed.clone()));
            prop_assert_eq!(
                Fixed::new(fixed.negative, fixed.exponent, fixed.magnitude.clone()),
                Some(fixed.clone())
            );
            let zeros: Vec<u8> = [0, 0].into_iter().chain(bytes).chain([0]).collect();
            prop_assert_eq!(Fixed::reduced(negative, exponent - 16, zeros), fixed);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "-?(0x)?[0-9a-fA-Fp+-]{0,12}") {
            if let Ok(fixed) = text.parse::<Fixed>() {
                prop_assert_eq!(fixed.to_string(), text);
            }
        }
    }
}
