//! Facts: numbers that follow from the judgments of a query alone, for one query or for all.

use std::sync::Arc;

use rayon::prelude::*;

use super::ideal::IdealRanking;
use super::recall::RecallRule;
use crate::matrix::code::FIRST_GRADE;
use crate::matrix::{Above, ExactFacts, Facts, QueryFacts};
use crate::sort;

/// A number that follows from the judgments of a query alone.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// The number of documents of the qrels in the set.
    Count(Above),
    /// The smaller of R, the number of hits, and N, the number of judged documents that are no
    /// hits.
    Fewer {
        /// The codes of the hits.
        hits: Above,
        /// The codes of the judged documents.
        judged: Above,
    },
    /// The largest grade ≥ 0 of any judged document, 0 if there is none.
    MaxGrade(Arc<[f64]>),
    /// The number of hits that a level of recall needs.
    Hits {
        /// The codes of the hits.
        hits: Above,
        /// The rule that turns a level of recall into a number of hits.
        rule: RecallRule,
        /// The level of recall.
        recall: f64,
    },
    /// The discounted gain of the ideal order of the judged documents.
    Ideal(IdealRanking),
}

impl Fact {
    /// Computes the numbers of each fact for every query. One walk computes all ideals that differ
    /// only in the cutoff. Where codes are classes, `exact` are the exact grades of the queries.
    pub fn columns(of: &[Fact], facts: &Facts, exact: Option<&ExactFacts>) -> Vec<Vec<f64>> {
        let mut columns = vec![None; of.len()];
        for at in 0..of.len() {
            match &of[at] {
                _ if columns[at].is_some() => {}
                Fact::Ideal(first) => {
                    // nDCG at ten cutoffs needs ten ideals of one ranking. With ascending cutoffs,
                    // one walk passes all ten.
                    let mut alike: Vec<(usize, &IdealRanking)> = Vec::new();
                    for (at, fact) in of.iter().enumerate() {
                        match fact {
                            Fact::Ideal(ideal) if ideal.is_like(first) => alike.push((at, ideal)),
                            _ => {}
                        }
                    }
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

    /// Computes the fact for one query, without a table of discounts.
    pub fn of(&self, facts: QueryFacts<'_>) -> f64 {
        match self {
            Fact::Count(set) => facts.count(*set) as f64,
            Fact::MaxGrade(grades) => {
                let grade =
                    |code: u8| grades.get(usize::from(code.wrapping_sub(FIRST_GRADE))).copied();
                facts.iter().rev().find_map(|(code, _)| grade(code)).unwrap_or(0.0)
            }
            Fact::Fewer { hits, judged } => {
                let relevant = facts.count(*hits);
                relevant.min(facts.count(*judged) - relevant) as f64
            }
            Fact::Hits { hits, rule, recall } => rule.hits(*recall)(facts.count(*hits)) as f64,
            Fact::Ideal(ideal) => {
                let judged = |&(code, _): &(u8, u32)| Above::JUDGED.contains(code);
                ideal.of(&ideal.weights(0), facts.iter().filter(judged))
            }
        }
    }

    /// Computes the fact for every query.
    fn column(&self, facts: &Facts, exact: Option<&ExactFacts>) -> Vec<f64> {
        let queries = || (0..facts.len()).into_par_iter().map(|query| facts.of(query));
        let counted = |set: Above| {
            move |code: u8, count: u32| if set.contains(code) { u64::from(count) } else { 0 }
        };
        match (self, exact) {
            (Fact::Count(set), _) => facts.map_sums(counted(*set), |count| count as f64),
            (Fact::MaxGrade(_), Some(exact)) => {
                let highest = |query: usize| {
                    exact.of(query).iter().next_back().map_or(0.0, |(grade, _)| grade)
                };
                (0..exact.len()).map(highest).collect()
            }
            (Fact::MaxGrade(_) | Fact::Fewer { .. }, _) => {
                queries().map(|facts| self.of(facts)).collect()
            }
            (Fact::Hits { hits, rule, recall }, _) => {
                let needed = rule.hits(*recall);
                facts.map_sums(counted(*hits), |relevant| needed(relevant) as f64)
            }
            (Fact::Ideal(ideal), _) => {
                IdealRanking::columns(&[ideal], facts, exact).pop().unwrap_or_default()
            }
        }
    }
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
        let all = [ideal(7), end, other, ideal(1), ideal(20), ideal(3)].map(Fact::Ideal);
        let shallow = [ideal(5), ideal(2)].map(Fact::Ideal);
        for (of, facts) in [(&all[..], &few), (&all[..], &many), (&shallow[..], &many)] {
            let columns = Fact::columns(of, facts, None);
            assert_eq!(columns.len(), of.len());
            for (fact, column) in of.iter().zip(columns) {
                let Fact::Ideal(ideal) = fact else { unreachable!() };
                let weights = ideal.weights(100);
                for (query, sum) in column.iter().enumerate() {
                    let of_judged =
                        facts.of(query).iter().filter(|&(code, _)| Above::JUDGED.contains(code));
                    assert_eq!(
                        sum.to_bits(),
                        ideal.of(&weights, of_judged).to_bits(),
                        "{fact:?}, query {query}"
                    );
                }
            }
        }
        assert!(Fact::columns(&all, &Facts::new(), None).iter().all(Vec::is_empty));
    }

    #[test]
    fn no_cutoff_makes_a_large_table() {
        let few = ideal(u32::MAX - 1);
        let none = IdealRanking { gain: [0.0; 256].into(), ..few.clone() };
        for ideal in [few, none] {
            let facts = facts(100);
            let column = Fact::columns(&[Fact::Ideal(ideal.clone())], &facts, None).remove(0);
            let whole = IdealRanking { rank: None, ..ideal };
            assert_eq!(column, Fact::columns(&[Fact::Ideal(whole)], &facts, None).remove(0));
        }
    }

    #[test]
    fn facts_of_many_queries_are_those_of_each() {
        let facts = facts(10_000);
        for above in 0..8 {
            let counts = Fact::Count(Above(above)).column(&facts, None);
            let each = (0..facts.len()).map(|query| facts.of(query).count(Above(above)) as f64);
            assert!(counts.iter().copied().eq(each), "above {above}");
        }
        assert!(Fact::Count(Above::JUDGED).column(&Facts::new(), None).is_empty());
    }
}
