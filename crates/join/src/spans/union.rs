//! Unions of the spans of one document, in which each position counts once.

use super::position::Span;

/// The union of spans of one document: spans that neither overlap nor touch, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpanUnion(Vec<(u64, u64)>);

impl SpanUnion {
    /// Makes the union of spans of one document, which come by their start.
    pub fn from_sorted(spans: impl Iterator<Item = Span>) -> Self {
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for span in spans {
            match merged.last_mut() {
                Some(last) if span.start() <= last.1 => last.1 = last.1.max(span.end()),
                _ => merged.push((span.start(), span.end())),
            }
        }
        Self(merged)
    }

    /// Returns the number of positions in the union of spans.
    pub fn length(&self) -> u128 {
        self.0.iter().map(|(start, end)| u128::from(end - start)).sum()
    }

    /// Returns the number of positions that two unions of spans have in common.
    pub fn shared(&self, other: &Self) -> u128 {
        let (mut sum, mut others) = (0, other.0.iter().peekable());
        for &(start, end) in &self.0 {
            // The last overlapping span of `other` may overlap our next span too, so the loop stays
            // at the span.
            while let Some(&&(from, to)) = others.peek() {
                sum += u128::from(end.min(to).saturating_sub(start.max(from)));
                if to >= end {
                    break;
                }
                others.next();
            }
        }
        sum
    }
}
