//! The judgments of a single judge: a matrix of the same rankings with the judge's labels.

use super::code::{Above, Codebook, NEGATIVE, UNPOOLED};
use super::exact::ExactFacts;
use super::facets::FacetJudgment;
use super::facts::Facts;
use super::label_matrix::{LabelMatrix, MatrixBuilder, StagedPiece, StagedRow, StagedRun};
use crate::error::Result;
use crate::ids::Ids;
use crate::judged_by::JudgedBy;

impl LabelMatrix {
    /// The names of the judges, in bytewise order; none if judgments were not read by judge.
    pub fn judges(&self) -> Ids {
        let by_judge = self.grouped.as_ref().filter(|grouped| grouped.of.by == JudgedBy::Judge);
        by_judge.map(|grouped| grouped.of.names.clone()).unwrap_or_default()
    }

    /// Makes the matrix of the same rankings over the judgments of a single judge: only the queries
    /// of the judge, with the judge's grades. `judge` is an index into [`LabelMatrix::judges`]. For
    /// several judges take [`LabelMatrix::judges_apart`].
    ///
    /// # Errors
    /// Too many queries, rows or labels for a matrix.
    pub fn of_judge(&self, judge: usize) -> Result<LabelMatrix> {
        self.judges_apart().matrix(judge)
    }

    /// Takes the judgments apart, judge by judge.
    pub fn judges_apart(&self) -> JudgesApart<'_> {
        JudgesApart::of(self)
    }
}

/// The judgments of a matrix, judge by judge. The judgments are sorted once, so the matrices of all
/// judges together take only the time of their rankings.
#[derive(Debug)]
pub struct JudgesApart<'m> {
    matrix: &'m LabelMatrix,
    /// The queries of each judge, ascending.
    judged: Vec<Vec<JudgeGrades>>,
    /// The tile and the lane of each row, if any.
    places: Vec<Option<(u32, u8)>>,
}

/// The grades of a judge for a query.
#[derive(Debug)]
struct JudgeGrades {
    query: usize,
    /// The numbers of the documents, ascending, with their grades.
    grades: Vec<(u32, f64)>,
}

impl JudgeGrades {
    fn grade(&self, document: u32) -> Option<f64> {
        let at = self.grades.binary_search_by_key(&document, |&(of, _)| of).ok()?;
        Some(self.grades[at].1)
    }

    fn all(&self) -> impl Iterator<Item = f64> {
        self.grades.iter().map(|&(_, grade)| grade)
    }
}

impl<'m> JudgesApart<'m> {
    fn of(matrix: &'m LabelMatrix) -> Self {
        let mut judged: Vec<Vec<JudgeGrades>> = Vec::new();
        if let Some(grouped) = &matrix.grouped {
            judged.resize_with(grouped.of.names.len(), Vec::new);
            for query in 0..matrix.queries.len() {
                let mut of: Vec<&FacetJudgment> = grouped.of.of(query).judgments.iter().collect();
                of.sort_by_key(|of| (of.group, of.document));
                for own in of.chunk_by(|one, next| one.group == next.group) {
                    let grades = own.iter().map(|of| (of.document, of.grade)).collect();
                    judged[own[0].group as usize].push(JudgeGrades { query, grades });
                }
            }
        }
        let mut places = vec![None; matrix.rows()];
        for tile in 0..matrix.packing.tiles.len() {
            for (lane, &row) in (0..).zip(matrix.tile_rows(tile)) {
                places[row as usize] = Some((tile as u32, lane));
            }
        }
        JudgesApart { matrix, judged, places }
    }

    /// Makes the matrix of a judge, as [`LabelMatrix::of_judge`].
    ///
    /// # Errors
    /// Too many queries, rows or labels for a matrix.
    pub fn matrix(&self, judge: usize) -> Result<LabelMatrix> {
        let of = self.matrix;
        let judged = self.judged.get(judge).map_or(&[][..], Vec::as_slice);
        let book = Codebook::new(judged.iter().flat_map(JudgeGrades::all))?;
        let code = |grade: f64| book.code(grade).unwrap_or(UNPOOLED);
        let (mut ids, mut facts) = (Ids::default(), Facts::new());
        let mut exact = (!book.is_exact()).then(ExactFacts::default);
        for judged in judged {
            ids.push(of.queries.get(judged.query));
            facts.push(judged.all().map(code));
            if let Some(exact) = &mut exact {
                exact.push(&mut judged.all().filter(|&grade| grade >= 0.0).collect::<Vec<_>>());
            }
        }
        let piece = |run: usize| self.piece(run, judged, &code, exact.is_some());
        let pieces: Vec<StagedPiece> = (0..of.runs.len()).map(piece).collect();
        let mut matrix =
            MatrixBuilder::new(book.clone(), of.rule.clone(), of.fingerprint, ids, facts)
                .with_exact(exact);
        for (info, piece) in of.runs.iter().zip(pieces) {
            matrix.push(StagedRun {
                info: info.clone(),
                pieces: vec![piece],
                ..StagedRun::default()
            });
        }
        matrix.finish()
    }

    /// The rankings of a run for the queries of a judge, with the judge's labels.
    fn piece(
        &self,
        run: usize,
        judged: &[JudgeGrades],
        code: &impl Fn(f64) -> u8,
        exact: bool,
    ) -> StagedPiece {
        let (of, mut piece) = (self.matrix, StagedPiece::default());
        let Some(grouped) = &of.grouped else { return piece };
        for (query, judged) in (0..).zip(judged) {
            let row = run * of.queries.len() + judged.query;
            let depth = of.depths[row];
            let mut numbers = grouped.rows.of(row).iter();
            let labels =
                self.places[row].map(|(tile, lane)| of.tile(tile as usize).lane(lane.into()));
            for label in labels.into_iter().flatten().take(depth as usize) {
                let number = Above::POOLED.contains(label).then(|| numbers.next()).flatten();
                let own = number.and_then(|&number| judged.grade(number));
                piece.labels.push(own.map_or(UNPOOLED, code));
                if exact {
                    piece.exact.extend(own.filter(|&grade| code(grade) > NEGATIVE));
                }
            }
            piece.rows.push(StagedRow { query, depth });
        }
        piece
    }
}
