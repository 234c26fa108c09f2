//! The contents of judgments, counted for `laneval info`: queries, grades, judged and relevant
//! documents.

use std::io::{self, Write};

use laneval::labels::Codebook;

use laneval::{Error, Input, Join, Qrels};
use serde::Serialize;

use super::field;
use super::spread::{CountSpread, NamedQueries};
use crate::output::{make_grid, write_grid};
use crate::style::thousands;

/// The lowest grade of the relevant documents.
pub const RELEVANT: f64 = 1.0;

/// The most rows of a list of grades; more grades are counted in ranges of equal width.
const MOST_GRADES: usize = 20;

/// Counts of a file of judgments for `laneval info`: queries, grades, judged and relevant
/// documents. All documents that the judgments name count as judged, those with a negative grade
/// too.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgmentCounts {
    pub queries: u64,
    pub judgments: u64,
    pub relevant: u64,
    /// The number of judged and of relevant documents of a query.
    pub judged_per_query: CountSpread,
    pub relevant_per_query: CountSpread,
    /// The queries without a relevant document.
    pub nothing_relevant: NamedQueries,
    /// The number of judgments with a negative grade: pooled, and not judged.
    pub negative: u64,
    pub grades: Vec<GradeCount>,
}

/// The number of judgments with a grade, or with a grade in a range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GradeCount {
    pub grade: f64,
    /// The largest grade, if these are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
    pub judgments: u64,
}

/// Reads a file of judgments, and counts its queries, grades and relevant documents.
pub fn read(join: &Join, input: Input) -> Result<JudgmentCounts, Error> {
    join.qrels(input).map(|qrels| JudgmentCounts::count(&qrels))
}

impl JudgmentCounts {
    /// Counts the queries, grades, and judged and relevant documents of judgments.
    pub fn count(qrels: &Qrels) -> Self {
        let (facts, exact, book) = (qrels.facts(), qrels.exact(), qrels.codebook());
        let queries = qrels.queries().len();
        let (mut all, mut negative) = (Vec::new(), 0);
        let (mut judged, mut relevant) = (Vec::with_capacity(queries), Vec::with_capacity(queries));
        for query in 0..queries {
            let (mut of_query, first) = (0, all.len());
            for (code, count) in facts.get(query).iter() {
                let count = u64::from(count);
                of_query += count;
                // Exact grades, where there are any, say more than the codes, which are of ranges.
                match book.grade(code).filter(|_| exact.is_none()) {
                    Some(grade) => all.push((grade, count)),
                    None if code == Codebook::NEGATIVE => negative += count,
                    None => {}
                }
            }
            let exact = exact.iter().flat_map(|exact| exact.get(query).iter());
            all.extend(exact.map(|(grade, count)| (grade, u64::from(count))));
            judged.push(of_query);
            let good = all[first..].iter().filter(|(grade, _)| *grade >= RELEVANT);
            relevant.push(good.map(|(_, count)| count).sum());
        }
        let nothing = qrels.queries().iter().zip(&relevant).filter(|&(_, &count)| count == 0);
        Self {
            queries: queries as u64,
            judgments: judged.iter().sum(),
            relevant: relevant.iter().sum(),
            nothing_relevant: NamedQueries::from_ids(nothing.map(|(id, _)| id)),
            judged_per_query: CountSpread::from_counts(judged),
            relevant_per_query: CountSpread::from_counts(relevant),
            negative,
            grades: grades(all),
        }
    }

    /// Writes the counts of judgments as text for people.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        field(to, "queries", &thousands(self.queries))?;
        field(
            to,
            "judgments",
            &format!("{}: {}", thousands(self.judgments), self.judged_per_query),
        )?;
        field(
            to,
            "relevant",
            &format!("{}: {}", thousands(self.relevant), self.relevant_per_query),
        )?;
        field(to, "none relevant", &self.nothing_relevant.to_string())?;
        writeln!(to)?;
        let mut grid = make_grid(&["grade"], &["judgments", "share"]);
        let graded = self.grades.iter();
        let graded = graded.map(|count| (range_text(count.grade, count.to), count.judgments));
        let negative = (self.negative > 0).then(|| ("negative".to_owned(), self.negative));
        for (name, count) in negative.into_iter().chain(graded) {
            let share = format!("{:.1} %", 100.0 * count as f64 / self.judgments as f64);
            grid.push([name, thousands(count), share].map(Into::into));
        }
        write_grid(&grid, to)
    }
}

/// Formats a grade, or a range of grades as in `0 to 3`.
pub fn range_text(grade: f64, to: Option<f64>) -> String {
    to.map_or(grade.to_string(), |to| format!("{grade} to {to}"))
}

/// Sums the numbers of judgments of equal grades, in ascending order; many grades are put into
/// ranges of equal width.
fn grades(mut all: Vec<(f64, u64)>) -> Vec<GradeCount> {
    const RANGES: f64 = 10.0;
    all.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let single = all.chunk_by(|one, next| one.0 == next.0);
    let single = single.map(|pairs| GradeCount {
        grade: pairs[0].0,
        to: None,
        judgments: pairs.iter().map(|(_, count)| count).sum(),
    });
    let single: Vec<GradeCount> = single.collect();
    let (Some(first), Some(last)) = (single.first(), single.last()) else { return single };
    if single.len() <= MOST_GRADES {
        return single;
    }
    let alike = single.chunk_by(|one, next| {
        let [one, next] = [one.grade, next.grade].map(|grade| {
            // Halves, for the difference of huge grades may be infinite.
            let share = (grade / 2.0 - first.grade / 2.0) / (last.grade / 2.0 - first.grade / 2.0);
            (share * RANGES).min(RANGES - 1.0).floor()
        });
        one == next
    });
    let ranges = alike.map(|group| GradeCount {
        grade: group[0].grade,
        to: group.last().filter(|_| group.len() > 1).map(|last| last.grade),
        judgments: group.iter().map(|one| one.judgments).sum(),
    });
    ranges.collect()
}
