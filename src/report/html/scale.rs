//! Linear scales of SVG charts: from numbers to coordinates, with round ticks.
//!
//! Numbers, places and ticks are f64, so "on a tick" is never exact: 0.3/0.1 is 2.9999999999999996.
//! Wherever a number is divided by a step and rounded to a whole, a billionth of a step is added or
//! taken off first. Without it a scale up to 0.3 would lose its last tick, for 2.99… is rounded
//! down.
//!
//! A tick is a whole number times the step, and not the tick before plus the step: so errors do not
//! add up, and the tick at 0 is 0.

use std::fmt;

/// A coordinate in an SVG chart, written to a tenth of a unit.
#[derive(Debug, Clone, Copy)]
pub struct Coordinate(pub f64);

impl fmt::Display for Coordinate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Adding 0 turns -0 into 0.
        write!(f, "{}", (self.0 * 10.0).round() / 10.0 + 0.0)
    }
}

/// A linear scale of an SVG chart from numbers to coordinates, with evenly spaced ticks.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// The smallest and the largest number.
    pub numbers: [f64; 2],
    /// The places of `numbers` on the paper.
    places: [f64; 2],
    /// The distance from tick to tick.
    step: f64,
}

impl Scale {
    /// Makes a scale for numbers from `low` to `high` that begins and ends at one of about `ticks`
    /// round ticks.
    pub fn round(low: f64, high: f64, ticks: usize) -> Self {
        let [low, high] = apart(low, high);
        // Steps are 1, 2, 5, 10 …, each at most 2.5 times the step before, so the count of ticks
        // never falls far below `ticks`.
        let step = round_step((high - low) / ticks.max(1) as f64);
        // A number on a tick, except for rounding, needs no further tick.
        let [first, last] = [(low / step + 1e-9).floor(), (high / step - 1e-9).ceil()];
        Self { numbers: [first * step, last.max(first + 1.0) * step], places: [0.0, 1.0], step }
    }

    /// Makes a scale that covers exactly the numbers from `low` to `high`, with about `ticks`
    /// ticks.
    pub fn exact(low: f64, high: f64, ticks: usize) -> Self {
        let [low, high] = apart(low, high);
        Self {
            numbers: [low, high],
            places: [0.0, 1.0],
            step: round_step((high - low) / ticks.max(1) as f64),
        }
    }

    /// Cuts the scale at the least and largest possible number, where it goes further.
    pub fn bounded(self, [least, most]: [f64; 2]) -> Self {
        // The step divides 1, so the bounds 0 and 1 are multiples of the step: the scale still ends
        // on ticks.
        let [low, high] = [self.numbers[0].max(least), self.numbers[1].min(most)];
        if low < high { Self { numbers: [low, high], ..self } } else { self }
    }

    /// Sets the coordinates of the scale's ends to `from` and `to`.
    pub fn with_range(self, from: f64, to: f64) -> Self {
        Self { places: [from, to], ..self }
    }

    /// Limits the ticks of the scale to whole numbers.
    pub fn with_integer_ticks(self) -> Self {
        // For counts: a step of 0.5 would label halves of a query. Steps of 1 or more are whole
        // already.
        Self { step: self.step.max(1.0).ceil(), ..self }
    }

    /// Returns the coordinate of a number on the scale.
    pub fn at(&self, number: f64) -> f64 {
        let ([low, high], [from, to]) = (self.numbers, self.places);
        from + (number - low) / (high - low) * (to - from)
    }

    /// Returns the coordinate of a number, or of the scale's end if the number lies beyond it.
    pub fn clamped(&self, number: f64) -> f64 {
        self.at(number.clamp(self.numbers[0], self.numbers[1]))
    }

    /// Returns the numbers at the ticks of the scale, ascending.
    pub fn ticks(&self) -> Vec<f64> {
        let [first, last] = [
            (self.numbers[0] / self.step - 1e-9).ceil() as i64,
            (self.numbers[1] / self.step + 1e-9).floor() as i64,
        ];
        (first..=last).map(|tick| tick as f64 * self.step).collect()
    }

    /// Returns the number at a tick as text, with as many decimals as the step needs.
    pub fn label(&self, tick: f64) -> String {
        // As many decimals as the step has: 0.2 has one, 0.05 two. The factor lifts a step such as
        // 0.09999999999999999 onto its power of ten.
        let decimals = (-(self.step * 1.000_001).log10().floor()).max(0.0) as usize;
        let most = self.numbers[0].abs().max(self.numbers[1].abs());
        if decimals > 5 || most >= 1e7 {
            return if tick == 0.0 { "0".to_owned() } else { format!("{:e}", to_digits(tick, 6)) };
        }
        number(tick, decimals)
    }
}

/// Returns the smallest and the largest of some numbers, without undefined numbers.
pub fn extent(numbers: impl IntoIterator<Item = f64>) -> [f64; 2] {
    // `min` and `max` pass over undefined numbers.
    numbers
        .into_iter()
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], at| [low.min(at), high.max(at)])
}

/// Moves the ends of a scale apart if they are equal, because a scale needs a length above 0.
fn apart(low: f64, high: f64) -> [f64; 2] {
    let [low, high] = if low <= high { [low, high] } else { [high, low] };
    // Closer numbers differ only by rounding, and all ticks between them would have the same label.
    let enough = 1e-9 * low.abs().max(high.abs());
    if high - low > enough.max(f64::MIN_POSITIVE) {
        return [low, high];
    }
    let more = (0.1 * low.abs()).max(0.05);
    [low - more, high + more]
}

/// Returns a round distance between ticks of at least `step`: 1, 2 or 5 times a power of ten.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let times =
        [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * power >= step * (1.0 - 1e-9));
    // For a power below 1, divide by the inverse power, because the inverse is exact: 0.3 stays 0.3
    // instead of 0.30000000000000004.
    let times = times.unwrap_or(10.0);
    if power < 1.0 { times / (1.0 / power).round() } else { times * power }
}

fn to_digits(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

/// Returns a number as text with some decimals, and never `-0`.
pub fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let is_zero = !text.contains(|c: char| matches!(c, '1'..='9' | 'a'..='z'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// Returns a difference as text with some decimals and its sign; 0 has none.
pub fn signed(value: f64, decimals: usize) -> String {
    let text = number(value, decimals);
    let is_positive = value > 0.0 && text.contains(|c: char| matches!(c, '1'..='9'));
    if is_positive { format!("+{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let labels = |scale: Scale| -> Vec<String> {
            scale.ticks().into_iter().map(|tick| scale.label(tick)).collect()
        };
        assert_eq!(labels(Scale::round(0.0, 1.0, 5)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(
            labels(Scale::round(-0.021, 0.161, 4)),
            ["-0.05", "0.00", "0.05", "0.10", "0.15", "0.20"]
        );
        assert_eq!(labels(Scale::exact(1.0, 40.0, 4)), ["10", "20", "30", "40"]);
        assert_eq!(labels(Scale::round(0.0, 3.0, 10).with_integer_ticks()), ["0", "1", "2", "3"]);
        assert_eq!(labels(Scale::round(0.5, 0.5, 2)), ["0.45", "0.50", "0.55"]);
        assert_eq!(labels(Scale::round(0.0, 3e7, 2)), ["0", "2e7", "4e7"]);
        assert_eq!(labels(Scale::round(0.0, 2e-7, 2)), ["0", "1e-7", "2e-7"]);
    }

    #[test]
    fn scales_end_at_bounds() {
        let ends = |low: f64, high: f64| Scale::round(low, high, 5).bounded([0.0, 1.0]).numbers;
        assert!(Scale::round(0.3, 1.03, 5).numbers[1] > 1.1, "unbounded, it goes on to 1.2");
        assert_eq!(
            [ends(0.3, 1.03), ends(-0.02, 0.9), ends(1.0, 1.0)],
            [[0.2, 1.0], [0.0, 1.0], [0.9, 1.0]]
        );
        assert_eq!(Scale::round(2.0, 3.0, 2).bounded([0.0, 1.0]).numbers, [2.0, 3.0]);
    }

    #[test]
    fn numbers_have_places() {
        let scale = Scale::round(0.0, 10.0, 5).with_range(100.0, 300.0);
        assert_eq!([scale.at(0.0), scale.at(5.0), scale.at(10.0)], [100.0, 200.0, 300.0]);
        assert_eq!(scale.clamped(20.0), 300.0);
        assert_eq!(
            [Coordinate(1.04), Coordinate(-0.01), Coordinate(2.25)].map(|at| at.to_string()),
            ["1", "0", "2.3"]
        );
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(
            [number(-0.00001, 4), number(-0.5, 1), number(1e-9, 2)],
            ["0.0000", "-0.5", "0.00"]
        );
        assert_eq!(
            [signed(0.00001, 4), signed(0.5, 1), signed(-0.5, 1)],
            ["0.0000", "+0.5", "-0.5"]
        );
    }
}
