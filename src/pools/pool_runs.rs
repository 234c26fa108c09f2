//! The judged documents in the rankings of each run, with their ranks: the data of a pool analysis.

use std::sync::Arc;

use crate::error::{Result, unanswerable};
use crate::ids::Ids;
use crate::matrix::{CodesAbove, Facets, LabelMatrix, Ragged, RunInfo};
use crate::rule::RankingRule;

/// A judged document in a ranking: its rank, and its number among the judged documents of the
/// query.
#[derive(Debug, Clone, Copy, Default)]
pub struct PoolHit {
    /// The rank, from 0.
    pub rank: u32,
    /// The number of the document among those of its query.
    pub number: u32,
}

/// The judged documents that runs retrieve, at their ranks, with the depth of each ranking. The
/// memory is eight bytes for each retrieved judged document.
#[derive(Debug)]
pub struct PoolHits {
    pub rule: RankingRule,
    pub fingerprint: u128,
    pub queries: Ids,
    pub runs: Vec<RunInfo>,
    /// The judgments, and where the documents of each query are among all.
    pub facets: Arc<Facets>,
    /// The grade of each document of all queries.
    pub grades: Vec<f64>,
    /// The number of results of each row, `[run][query]`.
    pub depths: Vec<u32>,
    /// The judged documents of each row, in rank order.
    pub rows: Ragged<PoolHit>,
}

impl PoolHits {
    /// Extracts the judged documents of each ranking from a label matrix joined with numbered
    /// judgments.
    pub fn from_matrix(matrix: LabelMatrix) -> Result<Self> {
        let numbered = matrix.facet_rows().filter(|_| matrix.judges().len() == 1);
        let Some(numbered) = numbered else {
            return unanswerable(
                "the matrix holds no documents, of which pools are made: join the runs with \
                 `Qrels::numbered`",
            );
        };
        let mut places = vec![None; matrix.rows()];
        for tile in 0..matrix.packing().tiles.len() {
            for (lane, &row) in matrix.tile_rows(tile).iter().enumerate() {
                places[row as usize] = Some((tile, lane));
            }
        }
        let (mut rows, mut found) = (Ragged::default(), Vec::new());
        for (row, place) in places.into_iter().enumerate() {
            // All lanes of a tile have the length of its longest ranking, so the own depth of the
            // row ends the ranks.
            let labels = place.map(|(tile, lane)| matrix.tile(tile).lane(lane));
            let named = labels.into_iter().flatten().zip(0..matrix.depths()[row]);
            let named = named
                .filter(|&(label, _)| CodesAbove::IN_QRELS.contains(label))
                .map(|(_, rank)| rank);
            let numbers = numbered.rows.row(row).iter();
            found.clear();
            found.extend(named.zip(numbers).map(|(rank, &number)| PoolHit { rank, number }));
            rows.push(&found);
        }
        Ok(Self {
            rule: matrix.rule(),
            fingerprint: matrix.fingerprint(),
            queries: matrix.queries().clone(),
            runs: matrix.runs().to_vec(),
            facets: numbered.facets.clone(),
            grades: (0..matrix.queries().len())
                .flat_map(|query| numbered.facets.largest(query))
                .collect(),
            depths: matrix.depths().to_vec(),
            rows,
        })
    }

    /// Returns the index, in `rows` and `depths`, of a run's ranking for a query.
    pub fn row(&self, run: usize, query: usize) -> usize {
        run * self.queries.len() + query
    }

    /// Returns the number of judged documents of all queries.
    pub fn judged(&self) -> usize {
        self.grades.len()
    }

    /// Calls `take` with the index of each judged document that a run retrieves among its first
    /// `depth`.
    pub fn each_within(&self, run: usize, depth: u32, mut take: impl FnMut(usize)) {
        for query in 0..self.queries.len() {
            let first = self.facets.documents(query).start;
            let row = self.rows.row(self.row(run, query));
            row.iter()
                .take_while(|found| found.rank < depth)
                .for_each(|found| take(first + found.number as usize));
        }
    }

    /// Returns the rank down to which every retrieved document of a run is judged, in each of its
    /// queries. Rankings that are judged to their ends say nothing, unless all are.
    pub fn judged_depth(&self, run: usize) -> u32 {
        let rows = (0..self.queries.len()).map(|query| {
            let row = self.row(run, query);
            let judged =
                (0..).zip(self.rows.row(row)).take_while(|(rank, found)| *rank == found.rank);
            (judged.count() as u32, self.depths[row])
        });
        let rows: Vec<(u32, u32)> = rows.filter(|(_, depth)| *depth > 0).collect();
        let ended = rows.iter().filter(|(to, depth)| to < depth).map(|(to, _)| *to).min();
        ended.or_else(|| rows.iter().map(|(to, _)| *to).max()).unwrap_or(0)
    }
}
