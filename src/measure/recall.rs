//! The number of relevant documents that a level of recall needs (hits), by the rules of trec_eval
//! and of textbooks.

/// The rule that turns a level of recall x into a number of hits, of R relevant documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecallRule {
    /// ⌊x·R + 0.9⌋, as trec_eval 9.
    V9,
    /// x·R rounded, halves away from zero, as trec_eval 10.
    V10,
    /// The fewest hits h with h / R ≥ x, without any rounding, as in textbooks. x is the shortest
    /// decimal that reads as the f64: 0.7 is 7/10.
    Exact,
}

impl RecallRule {
    // Three answers to how many hits a level of recall is. trec_eval 9 adds 0.9 to x·R and
    // truncates (m_iprec_at_recall.c), which is nearly a ceiling but takes x·R = 2.05 as 2; its
    // version 10 rounds to the nearest, so 2.4 is 2. Textbooks want the fewest hits with h/R ≥ x,
    // and there x·R in floats fails: 0.07·100 is 7.000000000000001, whose ceiling is 8. So the
    // level is read as the written decimal, digits over a power of ten, and the ceiling is a
    // division of whole numbers.
    /// Returns the function from a number of relevant documents to the number of hits that recall
    /// `recall` needs.
    pub fn hits(self, recall: f64) -> impl Fn(u64) -> u64 {
        let exact = (self == Self::Exact).then(|| decimal(recall));
        move |relevant| match (self, exact) {
            (_, Some((digits, places))) => match 10u128.checked_pow(places) {
                Some(unit) => (u128::from(digits) * u128::from(relevant)).div_ceil(unit) as u64,
                // 10^places exceeds 2^128, and the product is below 2^121 (17 digits are below
                // 2^57): any share of a hit is one hit.
                None => u64::from(digits > 0 && relevant > 0),
            },
            (Self::V10, _) => (recall * relevant as f64).round() as u64,
            _ => (recall * relevant as f64 + 0.9) as u64,
        }
    }
}

/// Splits the shortest decimal of `number`, from 0 to 1, into its digits and the number of decimal
/// places. It parses as `number`, and has 17 digits at most.
fn decimal(number: f64) -> (u64, u32) {
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let places = fraction.len() as i32 - exponent.parse::<i32>().unwrap_or(0);
    (format!("{whole}{fraction}").parse().unwrap_or(0), places.max(0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_levels_of_recall_are_fractions() {
        let fewest = |over: u64, by: u64, relevant: u64| (over * relevant).div_ceil(by);
        for hundredth in 0..=100u64 {
            // The level of recall is written in decimal: 0.7, not seven times 0.1.
            let recall = format!("{}.{:02}", hundredth / 100, hundredth % 100).parse().unwrap();
            let needed = RecallRule::Exact.hits(recall);
            let most = if hundredth % 10 == 0 { 3000 } else { 300 };
            for relevant in 0..most {
                let expected = fewest(hundredth, 100, relevant);
                assert_eq!(needed(relevant), expected, "{recall} of {relevant}");
            }
        }
        for (recall, relevant, expected) in [
            (0.05, 21, 2),
            (0.1 + 0.2, 10, 4),
            (1.0 / 3.0, 3, 1),
            (2.0 / 3.0, 3, 2),
            (f64::MIN_POSITIVE, 1 << 28, 1),
            (f64::MIN_POSITIVE, 0, 0),
            (1.0, u64::MAX, u64::MAX),
            (0.123_456_789_012_345_68, 10_000_000_000_000_000, 1_234_567_890_123_457),
        ] {
            assert_eq!(
                RecallRule::Exact.hits(recall)(relevant),
                expected,
                "{recall} of {relevant}"
            );
        }
        assert_eq!(RecallRule::V9.hits(0.7)(3), 2);
        assert_eq!(RecallRule::V10.hits(0.7)(3), 2);
    }
}
