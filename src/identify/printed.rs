//! A reported number as it was printed, such as `0.4561` or `45.61%`, with the precision of its
//! digits.

use std::fmt;

use crate::measure::Range;

/// The way in which a reported number was printed: rounded, rounded after f32, or cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PrintRounding {
    /// Rounded to the digits shown.
    Rounded,
    /// Rounded, after it was computed with numbers of 32 bits.
    RoundedF32,
    /// Cut behind the digits shown.
    Truncated,
}

impl PrintRounding {
    /// Every way, with its name.
    pub const ALL: [(&'static str, Self); 3] =
        [("rounded", Self::Rounded), ("f32", Self::RoundedF32), ("cut", Self::Truncated)];
}

impl fmt::Display for PrintRounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::ALL.iter().find(|(_, printed)| printed == self);
        f.pad(named.map_or("", |(name, _)| name))
    }
}

/// The numbers from which a number above 1 is taken for a percentage, where values are shares.
const LEAST_PERCENT: f64 = 2.0;

/// A reported number with its value, and half a unit of its last digit as tolerance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PrintedNumber {
    /// The number as given.
    pub text: String,
    /// The value of the number; a percentage becomes a share.
    pub value: f64,
    /// Half a unit of its last digit.
    pub half: f64,
}

impl PrintedNumber {
    /// Parses a reported number with `digits` exact decimals; `None` means all decimals that the
    /// number shows. `name` names the measure of the number in messages.
    ///
    /// # Errors
    /// A text other than a number; a number without decimals where decimals are `needed`; a number
    /// outside the range of its measure.
    pub fn read(
        text: &str,
        name: &str,
        digits: Option<u8>,
        range: Range,
        needed: bool,
    ) -> Result<Self, String> {
        let plain = text.trim();
        let (number, percent) = match plain.strip_suffix('%') {
            Some(number) => (number.trim_end(), true),
            None => (plain, false),
        };
        // `parse` also takes words such as `inf` and `nan`.
        let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || b".+-eE".contains(&byte));
        let value = number.parse::<f64>().ok().filter(|value| is_plain && value.is_finite());
        let Some(value) = value else {
            return Err(format!(
                "'{text}' is not a number such as 0.4561, nDCG@10=0.4561 or 45.6%"
            ));
        };
        let shown = decimals(number);
        let decimals = digits.map_or(shown, i32::from);
        if decimals < 1 && !percent && needed {
            return Err(format!(
                "'{text}' has no decimals: any perfect measure gives it; give --query-values or \
                 more digits"
            ));
        }
        let (least, most) = range.bounds();
        let is_share = (least, most) == (0.0, 1.0);
        let percent = percent || is_share && (LEAST_PERCENT..=100.0).contains(&value);
        let unit = if percent { 100.0 } else { 1.0 };
        let (value, half) = (value / unit, 0.5 * 10f64.powi(-decimals) / unit);
        let wrong = if value > most + half {
            let sum = if is_share { " and no percent: is it a sum (DCG)?" } else { "" };
            format!("above the range {range}{sum}")
        } else if value < least - half {
            format!("below the range {range}")
        } else {
            return Ok(Self { text: plain.to_owned(), value, half });
        };
        Err(match name {
            "" => format!("{text}: {wrong}"),
            _ => format!("{name}={text}: {wrong}"),
        })
    }

    /// Returns the error within which a value prints as the reported number.
    pub fn tolerance(&self) -> f64 {
        self.half.max(slack(self.value))
    }

    /// Returns the way in which a computed mean prints as this number: rounded, rounded after f32,
    /// or cut; `None` if it does not. `queries` is the number of averaged queries.
    pub fn fits(&self, value: f64, queries: f64) -> Option<PrintRounding> {
        let (off, slack) = ((value - self.value).abs(), slack(value));
        if off <= self.half + slack {
            return Some(PrintRounding::Rounded);
        }
        // The errors of single additions point either way, so their sum grows with the square root
        // of the number of queries.
        if off <= self.half + value.abs() * f64::from(f32::EPSILON) * queries.sqrt() {
            return Some(PrintRounding::RoundedF32);
        }
        let cut = value.abs() - self.value.abs();
        (cut >= 0.0 && cut < 2.0 * self.half - slack && value * self.value >= 0.0)
            .then_some(PrintRounding::Truncated)
    }
}

/// Returns the rounding error that another order of addition may cause in a sum of some thousand
/// values.
fn slack(value: f64) -> f64 {
    1e-13 * value.abs().max(1e-3)
}

/// Returns the number of decimals of a number in text, less its exponent.
fn decimals(number: &str) -> i32 {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let behind = mantissa.split_once('.').map_or(0, |(_, behind)| behind.len() as i32);
    behind - exponent.parse::<i32>().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> PrintedNumber {
        PrintedNumber::read(text, "nDCG@10", None, Range::SHARE, true).unwrap()
    }

    #[test]
    fn digits_are_the_tolerance() {
        for (text, value, half) in [
            ("0.4561", 0.4561, 0.00005),
            ("0.45610", 0.4561, 0.000005),
            ("45.61", 0.4561, 0.00005),
            ("45%", 0.45, 0.005),
            ("1.0", 1.0, 0.05),
            ("4.561e-1", 0.4561, 0.00005),
        ] {
            let number = read(text);
            assert!(
                (number.value - value).abs() < 1e-15 && (number.half - half).abs() < 1e-15,
                "{text}"
            );
        }
        let number = PrintedNumber::read("0.4561", "", Some(2), Range::SHARE, true).unwrap();
        assert_eq!(number.half, 0.005);
    }

    #[test]
    fn ends_are_included_and_other_ways_are_named() {
        let number = read("0.4561");
        for (value, printed) in [
            (0.45605, Some(PrintRounding::Rounded)),
            (0.45615, Some(PrintRounding::Rounded)),
            (0.456_150_1, Some(PrintRounding::RoundedF32)),
            (0.45619, Some(PrintRounding::Truncated)),
            (0.4562, None),
            (0.45604, None),
        ] {
            assert_eq!(number.fits(value, 100.0), printed, "{value}");
        }
    }

    #[test]
    fn what_is_no_number_says_why() {
        let error = |text: &str| {
            PrintedNumber::read(text, "nDCG@10", None, Range::SHARE, true).unwrap_err()
        };
        assert_eq!(
            error("0.4561x"),
            "'0.4561x' is not a number such as 0.4561, nDCG@10=0.4561 or 45.6%"
        );
        assert_eq!(
            error("1"),
            "'1' has no decimals: any perfect measure gives it; give --query-values or more digits"
        );
        assert_eq!(
            error("1.3"),
            "nDCG@10=1.3: above the range 0 to 1 and no percent: is it a sum (DCG)?"
        );
        assert!(error("-0.3").starts_with("nDCG@10=-0.3: below the range 0 to 1"));
        for text in ["", "nan", "inf", "0.3.1", "e", "1e999"] {
            assert!(error(text).contains("is not a number"), "{text}");
        }
    }
}
