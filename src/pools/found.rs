//! The judged documents in rankings, at their ranks: all that a pool keeps of runs.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::ids::Ids;
use crate::matrix::{Above, Facets, LabelMatrix, Ragged, RunInfo};
use crate::rule::RankingRule;

/// A judged document in a ranking.
#[derive(Debug, Clone, Copy, Default)]
pub struct FoundDocument {
    /// The rank, from 0.
    pub rank: u32,
    /// The number of the document among those of its query.
    pub number: u32,
}

/// Runs as far as judgments reach: eight bytes for each judged document that they retrieve, and a
/// depth for each ranking.
#[derive(Debug)]
pub struct FoundDocuments {
    pub rule: RankingRule,
    pub fingerprint: u128,
    pub queries: Ids,
    pub runs: Vec<RunInfo>,
    /// The judgments, and where the documents of each query are among all.
    pub of: Arc<Facets>,
    /// The grade of each document of all queries.
    pub grades: Vec<f64>,
    /// The number of results of each row, `[run][query]`.
    pub depths: Vec<u32>,
    /// The judged documents of each row, in rank order.
    pub rows: Ragged<FoundDocument>,
}

impl FoundDocuments {
    /// Takes the judged documents of a matrix, whose labels are not needed any more.
    pub fn of(matrix: LabelMatrix) -> Result<Self> {
        let numbered = matrix.facet_rows().filter(|_| matrix.judges().len() == 1);
        let Some(numbered) = numbered else {
            return Err(Error::Unanswerable(
                "the matrix holds no documents, of which pools are made: join the runs with \
                 `Qrels::numbered`"
                    .to_owned(),
            ));
        };
        let mut places = vec![None; matrix.rows()];
        for tile in 0..matrix.packing().tiles.len() {
            for (lane, &row) in matrix.tile_rows(tile).iter().enumerate() {
                places[row as usize] = Some((tile, lane));
            }
        }
        let (mut rows, mut found) = (Ragged::default(), Vec::new());
        for (row, place) in places.into_iter().enumerate() {
            let labels = place.map(|(tile, lane)| matrix.tile(tile).lane(lane));
            let named = labels.into_iter().flatten().zip(0..matrix.depths()[row]);
            let named =
                named.filter(|&(label, _)| Above::POOLED.contains(label)).map(|(_, rank)| rank);
            let numbers = numbered.rows.of(row).iter();
            found.clear();
            found.extend(named.zip(numbers).map(|(rank, &number)| FoundDocument { rank, number }));
            rows.push(&found);
        }
        Ok(FoundDocuments {
            rule: matrix.rule(),
            fingerprint: matrix.fingerprint(),
            queries: matrix.queries().clone(),
            runs: matrix.runs().to_vec(),
            of: numbered.of.clone(),
            grades: (0..matrix.queries().len())
                .flat_map(|query| numbered.of.largest(query))
                .collect(),
            depths: matrix.depths().to_vec(),
            rows,
        })
    }

    /// The row of a query in a run.
    pub fn row(&self, run: usize, query: usize) -> usize {
        run * self.queries.len() + query
    }

    /// The number of judged documents of all queries.
    pub fn judged(&self) -> usize {
        self.grades.len()
    }

    /// Calls `take` with the place among all judged documents of those that a run has among its
    /// first `depth`.
    pub fn each_within(&self, run: usize, depth: u32, mut take: impl FnMut(usize)) {
        for query in 0..self.queries.len() {
            let first = self.of.documents(query).start;
            let row = self.rows.of(self.row(run, query));
            row.iter()
                .take_while(|found| found.rank < depth)
                .for_each(|found| take(first + found.number as usize));
        }
    }

    /// The depth down to which all documents of a run are judged, in each of its queries. Rankings
    /// that are judged to their ends say nothing, unless all are.
    pub fn judged_to(&self, run: usize) -> u32 {
        let to = |query: usize| {
            let row = self.row(run, query);
            let first_without =
                (0..).zip(self.rows.of(row)).take_while(|(rank, found)| *rank == found.rank);
            (first_without.count() as u32, self.depths[row])
        };
        let rows: Vec<(u32, u32)> =
            (0..self.queries.len()).map(to).filter(|(_, depth)| *depth > 0).collect();
        let ended = rows.iter().filter(|(to, depth)| to < depth).map(|(to, _)| *to).min();
        ended.or_else(|| rows.iter().map(|(to, _)| *to).max()).unwrap_or(0)
    }
}
