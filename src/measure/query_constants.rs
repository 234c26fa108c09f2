//! Facts of queries: numbers that follow from the judgments alone, such as the number of relevant
//! documents.

use std::sync::Arc;

use rayon::prelude::*;

use super::ideal::IdealRanking;
use super::recall::RecallRule;
use crate::matrix::code::FIRST_GRADE;
use crate::matrix::{CodesAbove, ExactHistograms, GradeHistogram, GradeHistograms};
use crate::sort;

/// A number that follows from the judgments of a query alone, such as the number of relevant
/// documents.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryConstant {
    /// The number of documents of the qrels in the set.
    Count(CodesAbove),
    /// The smaller of R, the number of hits, and N, the number of judged documents that are no
    /// hits.
    Fewer {
        /// The codes of the hits.
        hits: CodesAbove,
        /// The codes of the judged documents.
        judged: CodesAbove,
    },
    /// The largest grade ≥ 0 of any judged document, 0 if there is none.
    MaxGrade(Arc<[f64]>),
    /// The number of hits that a level of recall needs.
    Hits {
        /// The codes of the hits.
        hits: CodesAbove,
        /// The rule that turns a level of recall into a number of hits.
        rule: RecallRule,
        /// The level of recall.
        recall: f64,
    },
    /// The discounted gain of the ideal order of the judged documents.
    Ideal(IdealRanking),
}

impl QueryConstant {
    /// Computes each of some facts, such as the number of relevant documents, for every query of
    /// the qrels. One walk computes all ideals that differ only in the cutoff. Where codes are
    /// classes, `exact` are the exact grades of the queries.
    pub fn columns(
        wanted_facts: &[Self],
        facts: &GradeHistograms,
        exact: Option<&ExactHistograms>,
    ) -> Vec<Vec<f64>> {
        let mut columns = vec![None; wanted_facts.len()];
        for at in 0..wanted_facts.len() {
            match &wanted_facts[at] {
                _ if columns[at].is_some() => {}
                Self::Ideal(first) => {
                    // nDCG at ten cutoffs needs ten ideals of one ranking. With ascending cutoffs,
                    // one walk passes all ten.
                    let all = wanted_facts.iter().enumerate();
                    let alike = all.filter_map(|(at, fact)| match fact {
                        Self::Ideal(ideal) if ideal.is_like(first) => Some((at, ideal)),
                        _ => None,
                    });
                    let mut alike: Vec<(usize, &IdealRanking)> = alike.collect();
                    sort::by_number(&mut alike, |(_, ideal)| {
                        ideal.rank.map_or(f64::INFINITY, f64::from)
                    });
                    let ideals: Vec<&IdealRanking> =
                        alike.iter().map(|&(_, ideal)| ideal).collect();
                    for ((at, _), column) in
                        alike.into_iter().zip(IdealRanking::columns(&ideals, facts, exact))
                    {
                        columns[at] = Some(column);
                    }
                }
                fact => columns[at] = Some(fact.column(facts, exact)),
            }
        }
        columns.into_iter().flatten().collect()
    }

    /// Computes the fact for one query from the counts of its grades, without a table of discounts.
    pub fn value_for(&self, facts: GradeHistogram<'_>) -> f64 {
        match self {
            Self::Count(set) => facts.count(*set) as f64,
            Self::MaxGrade(grades) => {
                // Codes below the first grade wrap round to places behind the last grade.
                let mut codes = facts.iter().rev().map(|(code, _)| code.wrapping_sub(FIRST_GRADE));
                codes.find_map(|code| grades.get(usize::from(code)).copied()).unwrap_or(0.0)
            }
            Self::Fewer { hits, judged } => {
                let relevant = facts.count(*hits);
                relevant.min(facts.count(*judged) - relevant) as f64
            }
            Self::Hits { hits, rule, recall } => rule.hits(*recall)(facts.count(*hits)) as f64,
            Self::Ideal(ideal) => ideal.dcg(&ideal.weights(0), facts.judged()),
        }
    }

    /// Computes the fact for every query of the qrels.
    fn column(&self, facts: &GradeHistograms, exact: Option<&ExactHistograms>) -> Vec<f64> {
        match (self, exact) {
            (Self::Count(set), _) => facts.map_sums(count_in(*set), |count| count as f64),
            (Self::MaxGrade(_), Some(exact)) => (0..exact.len())
                .map(|query| exact.get(query).iter().next_back().map_or(0.0, |(grade, _)| grade))
                .collect(),
            (Self::MaxGrade(_) | Self::Fewer { .. }, _) => (0..facts.len())
                .into_par_iter()
                .map(|query| self.value_for(facts.get(query)))
                .collect(),
            (Self::Hits { hits, rule, recall }, _) => {
                let needed = rule.hits(*recall);
                facts.map_sums(count_in(*hits), |relevant| needed(relevant) as f64)
            }
            (Self::Ideal(ideal), _) => {
                IdealRanking::columns(&[ideal], facts, exact).pop().unwrap_or_default()
            }
        }
    }
}

/// Returns a function from a code and its number of documents to the number of those in a set of
/// codes.
fn count_in(set: CodesAbove) -> impl Fn(u8, u32) -> u64 + Sync {
    move |code, count| if set.contains(code) { u64::from(count) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::super::ideal::tests::{facts, ideal};
    use super::*;
    use crate::fold::Discount;

    #[test]
    fn ideals_at_many_cutoffs_are_those_at_each() {
        let (few, many) = (facts(40), facts(10_000));
        let other = IdealRanking { discount: Discount::Rank, ..ideal(20) };
        let end = IdealRanking { rank: None, ..ideal(0) };
        let all = [ideal(7), end, other, ideal(1), ideal(20), ideal(3)].map(QueryConstant::Ideal);
        let shallow = [ideal(5), ideal(2)].map(QueryConstant::Ideal);
        for (wanted_facts, facts) in [(&all[..], &few), (&all[..], &many), (&shallow[..], &many)] {
            let columns = QueryConstant::columns(wanted_facts, facts, None);
            assert_eq!(columns.len(), wanted_facts.len());
            for (fact, column) in wanted_facts.iter().zip(columns) {
                let QueryConstant::Ideal(ideal) = fact else { unreachable!() };
                let weights = ideal.weights(100);
                for (query, sum) in column.iter().enumerate() {
                    let of_judged = facts.get(query).judged();
                    assert_eq!(
                        sum.to_bits(),
                        ideal.dcg(&weights, of_judged).to_bits(),
                        "{fact:?}, query {query}"
                    );
                }
            }
        }
        assert!(
            QueryConstant::columns(&all, &GradeHistograms::new(), None).iter().all(Vec::is_empty)
        );
    }

    #[test]
    fn no_cutoff_makes_a_large_table() {
        let few = ideal(u32::MAX - 1);
        let none = IdealRanking { gain: [0.0; 256].into(), ..few.clone() };
        for ideal in [few, none] {
            let facts = facts(100);
            let column =
                QueryConstant::columns(&[QueryConstant::Ideal(ideal.clone())], &facts, None)
                    .remove(0);
            let whole = IdealRanking { rank: None, ..ideal };
            assert_eq!(
                column,
                QueryConstant::columns(&[QueryConstant::Ideal(whole)], &facts, None).remove(0)
            );
        }
    }

    #[test]
    fn facts_of_many_queries_are_those_of_each() {
        let facts = facts(10_000);
        for above in 0..8 {
            let counts = QueryConstant::Count(CodesAbove(above)).column(&facts, None);
            let each =
                (0..facts.len()).map(|query| facts.get(query).count(CodesAbove(above)) as f64);
            assert!(counts.iter().copied().eq(each), "above {above}");
        }
        assert!(
            QueryConstant::Count(CodesAbove::JUDGED)
                .column(&GradeHistograms::new(), None)
                .is_empty()
        );
    }
}
