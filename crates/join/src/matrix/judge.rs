//! Splitting of a label matrix by judge: a matrix of the same rankings with the grades of one judge
//! alone.

use super::{
    Codebook, CodesAbove, ExactHistograms, GradeHistograms, LabelMatrix, MatrixBuilder,
    StagedPiece, StagedRow, StagedRun,
    code::{NEGATIVE, NOT_IN_QRELS},
};
use crate::error::Result;
use crate::ids::Ids;
use crate::judged_by::FacetKind;

impl LabelMatrix {
    /// Returns the names of the judges (assessors), in bytewise order; none if judgments were not
    /// read by judge.
    pub fn judges(&self) -> Ids {
        let by_judge =
            self.grouped.as_ref().filter(|grouped| grouped.facets.by == FacetKind::Judge);
        by_judge.map(|grouped| grouped.facets.names.clone()).unwrap_or_default()
    }

    /// Makes the matrix of the same rankings with the grades of a single judge, over the queries of
    /// that judge. `judge` is an index into [`LabelMatrix::judges`]. For several judges take
    /// [`LabelMatrix::split_by_judge`].
    ///
    /// # Errors
    /// Too many queries, rows or labels for a matrix.
    pub fn for_judge(&self, judge: usize) -> Result<LabelMatrix> {
        self.split_by_judge().matrix(judge)
    }

    /// Sorts the judgments of the matrix by judge, so that a matrix for each judge can be made.
    pub fn split_by_judge(&self) -> JudgeSplit<'_> {
        let mut judged = Vec::new();
        if let Some(grouped) = &self.grouped {
            judged.resize_with(grouped.facets.names.len(), Vec::<JudgeGrades>::new);
            for query in 0..self.queries.len() {
                let mut judgments: Vec<_> = grouped.facets.get(query).judgments.iter().collect();
                judgments.sort_by_key(|judgment| (judgment.group, judgment.document));
                for own in judgments.chunk_by(|one, next| one.group == next.group) {
                    let grades =
                        own.iter().map(|judgment| (judgment.document, judgment.grade)).collect();
                    judged[own[0].group as usize].push(JudgeGrades { query, grades });
                }
            }
        }
        JudgeSplit { matrix: self, judged, places: self.batch().places() }
    }
}

/// The judgments of a label matrix sorted by judge, from which the matrix of each judge is made.
/// The judgments are sorted once, so the matrices of all judges together take only the time of
/// their rankings.
#[derive(Debug)]
pub struct JudgeSplit<'m> {
    matrix: &'m LabelMatrix,
    /// The queries of each judge, ascending.
    judged: Vec<Vec<JudgeGrades>>,
    /// The tile and the lane of each row, if any.
    places: Vec<Option<(u32, u8)>>,
}

/// The grades that one judge gave to the documents of one query.
#[derive(Debug)]
struct JudgeGrades {
    query: usize,
    /// The numbers of the documents, ascending, with their grades.
    grades: Vec<(u32, f64)>,
}

impl JudgeGrades {
    fn grade(&self, document: u32) -> Option<f64> {
        let at = self.grades.binary_search_by_key(&document, |&(key, _)| key).ok()?;
        Some(self.grades[at].1)
    }

    fn all(&self) -> impl Iterator<Item = f64> {
        self.grades.iter().map(|&(_, grade)| grade)
    }
}

impl JudgeSplit<'_> {
    /// Makes the label matrix of a single judge, as [`LabelMatrix::for_judge`].
    ///
    /// # Errors
    /// Too many queries, rows or labels for a matrix.
    pub fn matrix(&self, judge: usize) -> Result<LabelMatrix> {
        let source = self.matrix;
        let judged = self.judged.get(judge).map_or(&[][..], Vec::as_slice);
        let book = Codebook::new(judged.iter().flat_map(JudgeGrades::all))?;
        let (mut ids, mut facts) = (Ids::default(), GradeHistograms::new());
        let mut exact = (!book.is_exact()).then(ExactHistograms::default);
        for judged in judged {
            ids.push(source.queries.get(judged.query));
            facts.push(judged.all().map(|grade| book.code(grade).unwrap_or(NOT_IN_QRELS)));
            if let Some(exact) = &mut exact {
                exact.push(&mut judged.all().filter(|&grade| grade >= 0.0).collect::<Vec<_>>());
            }
        }
        let (rule, fingerprint) = (source.rule.clone(), source.fingerprint);
        let mut matrix = MatrixBuilder::new(book.clone(), rule, fingerprint, ids, facts);
        matrix.exact = exact;
        for (run, info) in source.runs.iter().enumerate() {
            let pieces = vec![self.piece(run, judged, &book)];
            matrix.push(StagedRun { info: info.clone(), pieces, tied: None });
        }
        matrix.finish()
    }

    /// Returns the rankings of a run for the queries of one judge, labelled by that judge's grades.
    fn piece(&self, run: usize, judged: &[JudgeGrades], book: &Codebook) -> StagedPiece {
        let (source, mut piece) = (self.matrix, StagedPiece::default());
        let Some(grouped) = &source.grouped else { return piece };
        for (query, judged) in (0..).zip(judged) {
            let row = run * source.queries.len() + judged.query;
            let depth = source.depths[row];
            let mut numbers = grouped.rows.row(row).iter();
            let labels =
                self.places[row].map(|(tile, lane)| source.tile(tile as usize).lane(lane.into()));
            for label in labels.into_iter().flatten().take(depth as usize) {
                // Numbers are of named documents alone, and the other ranks must not use one up.
                let number = CodesAbove::IN_QRELS.contains(label).then(|| numbers.next()).flatten();
                let own = number.and_then(|&number| judged.grade(number));
                let code = own.and_then(|grade| book.code(grade)).unwrap_or(NOT_IN_QRELS);
                piece.labels.push(code);
                if !book.is_exact() && code > NEGATIVE {
                    piece.exact.extend(own);
                }
            }
            piece.rows.push(StagedRow { query, depth });
        }
        piece
    }
}
