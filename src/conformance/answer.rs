//! The answer of a tested implementation to one query of a conformance suite: a value, no value, or
//! a refusal.

use crate::error::printable;

/// The answer of a tested implementation to one query of a conformance suite.
#[derive(Debug, Clone, PartialEq)]
pub enum CaseAnswer {
    /// A value, with the number of its decimals if it was printed as a decimal number.
    Value(f64, Option<usize>),
    /// The query has no value, and would be in no average.
    NoValue,
    /// The case is refused, with the reason: it is no evidence.
    Refused(String),
}

/// Words for no value, in lower case.
const NOTHING: [&str; 5] = ["nan", "null", "none", "na", "-"];

impl CaseAnswer {
    /// Makes the answer to a query of a suite from an implementation's number; NaN is no value.
    pub fn from_value(value: f64) -> Self {
        if value.is_nan() {
            return Self::NoValue;
        }
        // Count the decimals of the shortest decimal number equal to `value`: a function that
        // rounds has few decimals.
        Self::Value(value, decimals(&value.to_string()))
    }

    /// Parses the answer to a query from the output of a program, whose last word is the number.
    /// Empty output means no value, and so do `nan` and `null`.
    pub fn parse(text: &str) -> Self {
        let Some(word) = text.split_whitespace().next_back() else { return Self::NoValue };
        // C's `printf` writes some NaN as `-nan`.
        let bare = word.trim_start_matches(['-', '+']).to_lowercase();
        if NOTHING.contains(&&bare[..]) || bare.is_empty() {
            return Self::NoValue;
        }
        match word.parse::<f64>() {
            Ok(value) => Self::Value(value, decimals(word)),
            Err(_) => {
                let word = printable(word.as_bytes());
                Self::Refused(format!("printed `{word}` last, where a number was expected"))
            }
        }
    }
}

/// Counts the decimals of a number in text; `None` for a number with an exponent.
fn decimals(text: &str) -> Option<usize> {
    let is_plain =
        !text.contains(['e', 'E']) && text.contains(|letter: char| letter.is_ascii_digit());
    is_plain.then(|| text.split_once('.').map_or(0, |(_, decimals)| decimals.len()))
}

#[cfg(test)]
mod tests {
    use super::CaseAnswer;

    #[test]
    fn the_last_word_counts() {
        let value = |value, decimals| CaseAnswer::Value(value, Some(decimals));
        for (text, expected) in [
            ("0.25\n", value(0.25, 2)),
            ("reading…\nndcg_cut_3\tq1\t0.2398\n\n", value(0.2398, 4)),
            ("1", value(1.0, 0)),
            ("-0.5", value(-0.5, 1)),
            ("1e-3", CaseAnswer::Value(0.001, None)),
            ("inf", CaseAnswer::Value(f64::INFINITY, None)),
            ("", CaseAnswer::NoValue),
            (" \n", CaseAnswer::NoValue),
            ("value: NaN\n", CaseAnswer::NoValue),
            ("-nan", CaseAnswer::NoValue),
            ("null", CaseAnswer::NoValue),
            ("None", CaseAnswer::NoValue),
        ] {
            assert_eq!(CaseAnswer::parse(text), expected, "{text}");
        }
        let CaseAnswer::Refused(why) = CaseAnswer::parse("0.5 done") else { panic!("no number") };
        assert_eq!(why, "printed `done` last, where a number was expected");
    }

    #[test]
    fn numbers_know_their_decimals() {
        assert_eq!(CaseAnswer::from_value(0.2398), CaseAnswer::Value(0.2398, Some(4)));
        assert_eq!(CaseAnswer::from_value(1.0 / 3.0), CaseAnswer::Value(1.0 / 3.0, Some(16)));
        assert_eq!(CaseAnswer::from_value(f64::NAN), CaseAnswer::NoValue);
    }
}
