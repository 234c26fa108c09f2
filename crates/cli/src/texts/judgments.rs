//! The contents of judgments: queries, grades, and how many documents are judged and relevant.

use std::io::{self, Write};

use laneval::labels::Codebook;
use laneval::report::{Align, Grid, ReportOptions};
use laneval::{Error, Input, Join, Qrels};
use serde::Serialize;

use super::field;
use super::spread::{CountSpread, NamedQueries};
use crate::style::{stdout_width, thousands};

/// The lowest grade of the relevant documents.
pub const RELEVANT: f64 = 1.0;

/// The most rows of a list of grades; more grades are counted in ranges of equal width.
const MOST_GRADES: usize = 20;

/// What judgments contain. All documents that they name count as judged, those with a negative
/// grade too.
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

/// The number of judgments with a grade.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GradeCount {
    pub grade: f64,
    /// The largest grade, if these are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
    pub judgments: u64,
}

/// Reads judgments and counts them.
pub fn read(join: &Join, input: Input) -> Result<JudgmentCounts, Error> {
    join.qrels(input).map(|qrels| JudgmentCounts::of(&qrels))
}

impl JudgmentCounts {
    /// Counts judgments.
    pub fn of(qrels: &Qrels) -> Self {
        let (facts, exact, book) = (qrels.facts(), qrels.exact(), qrels.book());
        let queries = qrels.queries().len();
        let (mut all, mut negative) = (Vec::new(), 0);
        let (mut judged, mut relevant) = (Vec::with_capacity(queries), Vec::with_capacity(queries));
        for query in 0..queries {
            let (mut of_query, mut good) = (0, 0);
            let mut add = |grade: f64, count: u64| {
                good += if grade >= RELEVANT { count } else { 0 };
                all.push((grade, count));
            };
            for (code, count) in facts.of(query).iter() {
                let count = u64::from(count);
                of_query += count;
                match book.grade(code).filter(|_| exact.is_none()) {
                    Some(grade) => add(grade, count),
                    None if code == Codebook::NEGATIVE => negative += count,
                    None => {}
                }
            }
            let exact = exact.iter().flat_map(|exact| exact.of(query).iter());
            exact.for_each(|(grade, count)| add(grade, count.into()));
            judged.push(of_query);
            relevant.push(good);
        }
        let nothing = qrels.queries().iter().zip(&relevant).filter(|&(_, &count)| count == 0);
        JudgmentCounts {
            queries: queries as u64,
            judgments: judged.iter().sum(),
            relevant: relevant.iter().sum(),
            nothing_relevant: NamedQueries::of(nothing.map(|(id, _)| id)),
            judged_per_query: CountSpread::of(judged),
            relevant_per_query: CountSpread::of(relevant),
            negative,
            grades: grades(all),
        }
    }

    /// Writes the counts for people.
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
        let columns =
            [("grade", Align::Left), ("judgments", Align::Right), ("share", Align::Right)];
        let mut grid = Grid::new(columns.map(|(name, align)| (name.to_owned(), align)));
        let name = |of: &GradeCount| match of.to {
            Some(to) => format!("{} to {to}", of.grade),
            None => of.grade.to_string(),
        };
        let graded = self.grades.iter().map(|of| (name(of), of.judgments));
        let negative = (self.negative > 0).then(|| ("negative".to_owned(), self.negative));
        for (name, count) in negative.into_iter().chain(graded) {
            let share = format!("{:.1} %", 100.0 * count as f64 / self.judgments as f64);
            grid.push([name, thousands(count), share].map(Into::into));
        }
        grid.write(
            &ReportOptions { width: stdout_width(), ..ReportOptions::default() },
            &mut &mut *to,
        )
    }
}

/// Adds up the counts of each grade, in ascending order; of many grades those of ranges of equal
/// width.
fn grades(mut all: Vec<(f64, u64)>) -> Vec<GradeCount> {
    const RANGES: f64 = 10.0;
    let count = |of: &[(f64, u64)]| of.iter().map(|(_, count)| count).sum();
    all.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let single = all.chunk_by(|one, next| one.0 == next.0);
    let single = single.map(|of| GradeCount { grade: of[0].0, to: None, judgments: count(of) });
    let single: Vec<GradeCount> = single.collect();
    let (Some(first), Some(last)) = (single.first(), single.last()) else { return single };
    if single.len() <= MOST_GRADES {
        return single;
    }
    // Halves, for the difference of huge grades may be infinite.
    let range = |grade: f64| {
        let share = (grade / 2.0 - first.grade / 2.0) / (last.grade / 2.0 - first.grade / 2.0);
        (share * RANGES).min(RANGES - 1.0).floor()
    };
    let alike = single.chunk_by(|one, next| range(one.grade) == range(next.grade));
    let ranges = alike.map(|of| GradeCount {
        grade: of[0].grade,
        to: of.last().filter(|_| of.len() > 1).map(|last| last.grade),
        judgments: of.iter().map(|one| one.judgments).sum(),
    });
    ranges.collect()
}
