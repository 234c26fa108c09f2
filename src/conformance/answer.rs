//! The answer of an implementation to a case: a value, no value, or a refusal.

use crate::error::printable;

/// The answer of an implementation to a case.
#[derive(Debug, Clone, PartialEq)]
pub enum CaseAnswer {
    /// A value, with the number of its decimals if it was printed as a decimal number.
    Value(f64, Option<usize>),
    /// The query has no value, and would be in no average.
    LeftOut,
    /// The case is refused, with the reason: it is no evidence.
    Refused(String),
}

/// Words for no value, in lower case.
const NOTHING: [&str; 5] = ["nan", "null", "none", "na", "-"];

impl CaseAnswer {
    /// Makes an answer of a number; NaN is no value.
    pub fn of(value: f64) -> Self {
        if value.is_nan() {
            return CaseAnswer::LeftOut;
        }
        // Count the decimals of the shortest decimal number equal to `value`: a function that
        // rounds has few decimals.
        CaseAnswer::Value(value, decimals(&value.to_string()))
    }

    /// Parses the output of a program: the last line that is not empty ends in a number. Empty
    /// output means no value, and so do `nan` and `null`.
    pub fn of_text(text: &str) -> Self {
        let Some(word) = text.split_whitespace().next_back() else { return CaseAnswer::LeftOut };
        let bare = word.trim_start_matches(['-', '+']).to_lowercase();
        if NOTHING.contains(&&bare[..]) || bare.is_empty() {
            return CaseAnswer::LeftOut;
        }
        match word.parse::<f64>() {
            Ok(value) => CaseAnswer::Value(value, decimals(word)),
            Err(_) => {
                let word = printable(word.as_bytes());
                CaseAnswer::Refused(format!("printed `{word}` last, where a number was expected"))
            }
        }
    }
}

/// Counts the decimals of a number; one with an exponent has none to count.
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
            ("", CaseAnswer::LeftOut),
            (" \n", CaseAnswer::LeftOut),
            ("value: NaN\n", CaseAnswer::LeftOut),
            ("-nan", CaseAnswer::LeftOut),
            ("null", CaseAnswer::LeftOut),
            ("None", CaseAnswer::LeftOut),
        ] {
            assert_eq!(CaseAnswer::of_text(text), expected, "{text}");
        }
        let CaseAnswer::Refused(why) = CaseAnswer::of_text("0.5 done") else { panic!("no number") };
        assert_eq!(why, "printed `done` last, where a number was expected");
    }

    #[test]
    fn numbers_know_their_decimals() {
        assert_eq!(CaseAnswer::of(0.2398), CaseAnswer::Value(0.2398, Some(4)));
        assert_eq!(CaseAnswer::of(1.0 / 3.0), CaseAnswer::Value(1.0 / 3.0, Some(16)));
        assert_eq!(CaseAnswer::of(f64::NAN), CaseAnswer::LeftOut);
    }
}
