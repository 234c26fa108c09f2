//! Counts for a ranking whose results are spans: for each result, the positions that no earlier
//! result had, and the gold positions among them.
//!
//! *Gold* is the judged passages. Where they overlap, the largest grade counts. So the gold of a
//! document is cut into segments, each with one grade:
//!
//! ```text
//! gold      ├───── grade 1 ─────┤                 ├─ 1 ─┤
//!                  ├─ grade 2 ─┤
//! segments  ├─ 1 ──┼──── 2 ────┼1┤                ├─ 1 ─┤
//! ```
//!
//! So each gold position is in one segment, and gold of at least a grade is the segments of this
//! grade and of higher grades. The positions of earlier results are kept by document, as spans that
//! neither overlap nor touch. A new result meets some of these spans; the gaps between the spans
//! are the new positions of the result, and gold is looked up for each gap. The result and the
//! spans met then become a single span, so each kept span is removed at most once. A result costs a
//! search among the spans and a search among the segments. Each removed span costs two more such
//! searches, and each segment in a gap costs one step.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::{gold::GoldSpan, position::Span};

/// The gold spans (judged passages) of a query, as document positions with their largest grade.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GoldPositions {
    /// By document: segments in order, which do not overlap.
    docs: HashMap<Vec<u8>, Vec<Segment>>,
    /// The number of distinct grades.
    grades: usize,
}

/// A stretch of positions in a document over which the largest grade of gold spans is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    start: u64,
    end: u64,
    /// The index of the grade among the distinct grades, ascending.
    grade: usize,
}

impl GoldPositions {
    /// Makes the gold positions of a query from its gold spans, sorted by document, start and end.
    /// `grades` are distinct and ascending, and contain every grade of the spans.
    pub fn from_spans(spans: &[GoldSpan], grades: &[f64]) -> Self {
        let mut docs = HashMap::new();
        for of_doc in spans.chunk_by(|one, next| one.doc == next.doc) {
            let mut segments = Segments::default();
            for gold in of_doc {
                segments.advance(gold.span.start());
                let grade = grades.partition_point(|&grade| grade < gold.grade);
                segments.open.push((grade, gold.span.end()));
            }
            segments.advance(u64::MAX);
            docs.insert(of_doc[0].doc.clone(), segments.found);
        }
        Self { docs, grades: grades.len() }
    }

    /// Counts a query's gold positions of at least each grade; `None` for a count of 2⁶⁴ or more.
    pub fn lengths(&self) -> Option<Vec<u64>> {
        let mut lengths = vec![0u64; self.grades];
        for segment in self.docs.values().flatten() {
            let of_grade = &mut lengths[segment.grade];
            *of_grade = of_grade.checked_add(segment.end - segment.start)?;
        }
        for at in (1..lengths.len()).rev() {
            lengths[at - 1] = lengths[at - 1].checked_add(lengths[at])?;
        }
        Some(lengths)
    }
}

/// The stretches of equal gold grade in one document up to a position, built from spans that come
/// by start.
#[derive(Default)]
struct Segments {
    found: Vec<Segment>,
    /// The spans that have begun, as the index of the grade and the end; the largest grade is on
    /// top. A span that has ended stays in the heap until it comes to the top.
    open: BinaryHeap<(usize, u64)>,
    /// The position up to which stretches were built.
    at: u64,
}

impl Segments {
    /// Builds the stretches of equal gold grade from position `at` up to `to`, the next position at
    /// which a span begins.
    fn advance(&mut self, to: u64) {
        while self.at < to {
            let Some(&(grade, end)) = self.open.peek() else { break };
            let (start, until) = (self.at, end.min(to));
            if start < until {
                match self.found.last_mut() {
                    Some(last) if last.end == start && last.grade == grade => last.end = until,
                    _ => self.found.push(Segment { start, end: until, grade }),
                }
                self.at = until;
            }
            if end <= to {
                self.open.pop();
            }
        }
        self.at = self.at.max(to);
    }
}

/// The document positions that the results of a ranking have covered so far.
#[derive(Debug, Clone, Default)]
pub struct CoveredSpans<'d> {
    /// By document: the ends of spans by their starts. They neither overlap nor touch.
    docs: HashMap<&'d [u8], BTreeMap<u64, u64>>,
}

impl<'d> CoveredSpans<'d> {
    /// Adds the next result, a span of a document, to the positions covered by a ranking. Returns
    /// the number of positions that no earlier result covered. For each grade, also returns the
    /// number of new positions with gold of at least the grade.
    pub fn add(&mut self, doc: &'d [u8], span: Span, gold: &GoldPositions) -> (u64, Vec<u64>) {
        let segments = gold.docs.get(doc).map_or(&[][..], Vec::as_slice);
        let covered = self.docs.entry(doc).or_default();
        let (mut new, mut of_grade) = (0, vec![0u64; gold.grades]);
        let (mut start, mut end, mut from) = (span.start(), span.end(), span.start());
        if let Some((&before, &to)) = covered.range(..=start).next_back()
            && to >= start
        {
            (start, end, from) = (before, end.max(to), to);
        }
        // A span that only touches the result is merged too, so that spans never touch.
        while let Some((&next, &to)) = covered.range(span.start() + 1..=span.end()).next() {
            new += add_gap(segments, from, next, &mut of_grade);
            (end, from) = (end.max(to), from.max(to));
            covered.remove(&next);
        }
        new += add_gap(segments, from, span.end(), &mut of_grade);
        covered.insert(start, end);
        for at in (1..of_grade.len()).rev() {
            of_grade[at - 1] += of_grade[at];
        }
        (new, of_grade)
    }
}

/// Adds the gold positions from `start` to before `end`, newly covered by a result, to the counts
/// of their grades. Returns the number of all positions in the gap: 0 if `end` is not after
/// `start`.
fn add_gap(segments: &[Segment], start: u64, end: u64, of_grade: &mut [u64]) -> u64 {
    // An earlier result may reach beyond the end of the new result.
    if start >= end {
        return 0;
    }
    let first = segments.partition_point(|segment| segment.end <= start);
    for segment in segments[first..].iter().take_while(|segment| segment.start < end) {
        of_grade[segment.grade] += segment.end.min(end) - segment.start.max(start);
    }
    end - start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::cases;
    use crate::spans::position::LAST;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn gold_of(spans: &[(u8, u64, u64, u8)]) -> (Vec<GoldSpan>, Vec<f64>) {
        let gold = |&(doc, start, end, grade): &(u8, u64, u64, u8)| GoldSpan {
            query: b"q".to_vec(),
            doc: vec![doc],
            span: Span::new(start, end).unwrap(),
            grade: f64::from(grade),
        };
        let mut all: Vec<GoldSpan> = spans.iter().map(gold).collect();
        all.sort_by(|a, b| (&a.doc, a.span).cmp(&(&b.doc, b.span)));
        let mut grades: Vec<f64> = all.iter().map(|gold_span| gold_span.grade).collect();
        grades.sort_by(f64::total_cmp);
        grades.dedup();
        (all, grades)
    }

    fn spans(most: usize) -> impl Strategy<Value = Vec<(u8, u64, u64, u8)>> {
        let one = (0..3u8, 0..60u64, 1..30u64, 0..4u8);
        prop::collection::vec(
            one.prop_map(|(doc, start, length, grade)| {
                (doc, start, (start + length).min(60), grade)
            }),
            0..most,
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(300)))]

        /// The counts are compared with those of plain sets of positions.
        #[test]
        fn positions_are_counted_once(gold in spans(8), results in spans(12)) {
            let (all, grades) = gold_of(&gold);
            let set = |least: f64| -> HashSet<(u8, u64)> {
                let relevant = gold.iter().filter(|(.., grade)| f64::from(*grade) >= least);
                relevant
                    .flat_map(|&(doc, start, end, _)| (start..end).map(move |at| (doc, at)))
                    .collect()
            };
            let sets: Vec<HashSet<(u8, u64)>> = grades.iter().map(|&grade| set(grade)).collect();
            let positions = GoldPositions::from_spans(&all, &grades);
            let sizes: Vec<u64> = sets.iter().map(|set| set.len() as u64).collect();
            prop_assert_eq!(positions.lengths().unwrap(), sizes);
            let (mut covered, mut seen) = (CoveredSpans::default(), HashSet::new());
            let docs: Vec<Vec<u8>> = results.iter().map(|&(doc, ..)| vec![doc]).collect();
            for (doc, &(doc_id, start, end, _)) in docs.iter().zip(&results) {
                let own: Vec<(u8, u64)> =
                    (start..end).map(|at| (doc_id, at)).filter(|at| !seen.contains(at)).collect();
                let expected: Vec<u64> = sets
                    .iter()
                    .map(|set| own.iter().filter(|at| set.contains(at)).count() as u64)
                    .collect();
                let found = covered.add(doc, Span::new(start, end).unwrap(), &positions);
                prop_assert_eq!(found, (own.len() as u64, expected));
                seen.extend(own);
            }
        }
    }

    #[test]
    fn the_largest_spans_are_counted() {
        let whole = Span::new(0, LAST).unwrap();
        let (gold, grades) = gold_of(&[b'a', b'b', b'c'].map(|doc| (doc, 0, LAST, 1)));
        let two = GoldPositions::from_spans(&gold[..2], &grades);
        assert_eq!(two.lengths(), Some(vec![2 * LAST]));
        assert_eq!(GoldPositions::from_spans(&gold, &grades).lengths(), None);
        let mut covered = CoveredSpans::default();
        let middle = Span::new(LAST / 2, LAST / 2 + 10).unwrap();
        assert_eq!(covered.add(b"a", middle, &two), (10, vec![10]));
        assert_eq!(covered.add(b"a", whole, &two), (LAST - 10, vec![LAST - 10]));
        assert_eq!(covered.add(b"a", whole, &two), (0, vec![0]));
    }
}
