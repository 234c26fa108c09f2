//! The judgments of one judge alone: a matrix of the same rankings with that judge's labels.

use super::code::{Above, Codebook, NEGATIVE, UNPOOLED};
use super::exact::ExactFacts;
use super::facts::Facts;
use super::groups::GroupedBy;
use super::matrix::{Ids, LabelMatrix, MatrixBuilder, StagedPiece, StagedRow, StagedRun};
use crate::error::Result;

impl LabelMatrix {
    /// The names of the judges, in bytewise order; none if judgments were not read by judge.
    pub fn judges(&self) -> Ids {
        let by_judge = self.grouped.as_ref().filter(|grouped| grouped.of.by == GroupedBy::Judge);
        by_judge.map(|grouped| grouped.of.names.clone()).unwrap_or_default()
    }

    /// Makes the matrix of the same rankings over the judgments of one judge alone: of the queries that the judge has judged, with the
    /// judge's grades. `judge` is an index of [`LabelMatrix::judges`].
    ///
    /// # Errors
    /// What matrices refuse: too many queries, rows or labels.
    pub fn of_judge(&self, judge: usize) -> Result<LabelMatrix> {
        let Some(grouped) = &self.grouped else {
            let (ids, facts) = (Ids::default(), Facts::new());
            return MatrixBuilder::new(Codebook::default(), self.rule, self.fingerprint, ids, facts).finish();
        };
        // The grade of each document of each query that the judge has judged; NaN without one.
        let of_query = |query: usize| {
            let judged = grouped.of.of(query);
            let own = || judged.judgments.iter().filter(|of| of.group as usize == judge);
            own().next()?;
            let mut grades = vec![f64::NAN; judged.documents as usize];
            own().for_each(|of| grades[of.document as usize] = of.grade);
            Some((query, grades))
        };
        let judged: Vec<(usize, Vec<f64>)> = (0..self.queries.len()).filter_map(of_query).collect();
        let all = || judged.iter().flat_map(|(_, grades)| grades).copied().filter(|grade| !grade.is_nan());
        let book = Codebook::new(all())?;
        let code = |grade: f64| book.code(grade).unwrap_or(UNPOOLED);
        let (mut ids, mut facts) = (Ids::default(), Facts::new());
        let mut exact = (!book.is_exact()).then(ExactFacts::default);
        for (query, grades) in &judged {
            ids.push(self.queries.get(*query));
            let graded = || grades.iter().copied().filter(|grade| !grade.is_nan());
            facts.push(graded().map(code));
            if let Some(exact) = &mut exact {
                exact.push(&mut graded().filter(|&grade| grade >= 0.0).collect::<Vec<_>>());
            }
        }
        let mut places = vec![None; self.queries.len()];
        judged.iter().enumerate().for_each(|(place, (query, _))| places[*query] = Some(place));
        let mut pieces: Vec<StagedPiece> = self.runs.iter().map(|_| StagedPiece::default()).collect();
        for at in 0..self.packing.tiles.len() {
            let tile = self.tile(at);
            for (lane, &row) in self.tile_rows(at).iter().enumerate() {
                let (row, queries) = (row as usize, self.queries.len());
                let Some(place) = places[row % queries] else { continue };
                let (piece, grades) = (&mut pieces[row / queries], &judged[place].1);
                let mut numbers = grouped.rows.of(row).iter();
                let depth = self.depths[row];
                for label in tile.lane(lane).take(depth as usize) {
                    let number = Above::POOLED.contains(label).then(|| numbers.next()).flatten();
                    let grade = number.and_then(|&number| grades.get(number as usize)).copied();
                    let own = grade.filter(|grade| !grade.is_nan());
                    piece.labels.push(own.map_or(UNPOOLED, code));
                    if exact.is_some() {
                        piece.exact.extend(own.filter(|&grade| code(grade) > NEGATIVE));
                    }
                }
                piece.rows.push(StagedRow { query: place as u32, depth });
            }
        }
        let mut matrix = MatrixBuilder::new(book, self.rule, self.fingerprint, ids, facts).with_exact(exact);
        for (info, piece) in self.runs.iter().zip(pieces) {
            matrix.push(StagedRun { info: info.clone(), pieces: vec![piece], ..StagedRun::default() });
        }
        matrix.finish()
    }
}
