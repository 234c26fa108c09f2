//! Synthetic judgments and runs made directly as a label matrix, without any text. The matrix
//! equals the matrix joined from the text.

use std::ops::Range;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::model::{Model, ModelDocuments, ModelResult, ModelScratch};
use super::text::DecimalText;
use crate::error::Result;
use crate::ids::{Ids, Unmatched};
use crate::matrix::code::NOT_IN_QRELS;
use crate::matrix::{
    Codebook, GradeHistograms, LabelMatrix, MatrixBuilder, RunInfo, StagedPiece, StagedRow,
    StagedRun,
};
use crate::rule::RankingRule;

/// The number of labels in a piece, roughly.
const LABELS: u32 = 1 << 20;

pub(super) fn build(model: &Model) -> Result<LabelMatrix> {
    let book = codebook(model)?;
    let each = (LABELS / model.shape.depth).max(1);
    let queries = model.shape.queries;
    let pieces: Vec<Range<u32>> = (0..queries)
        .step_by(each as usize)
        .map(|first| first..queries.min(first.saturating_add(each)))
        .collect();
    let pieces: Vec<QueryPiece> =
        pieces.into_par_iter().map(|queries| QueryPiece::new(model, &book, queries)).collect();

    let (mut ids, mut facts, mut fingerprint) = (Ids::default(), GradeHistograms::new(), 0u128);
    let mut runs: Vec<StagedRun> =
        model.shape.run_names().into_iter().map(|name| run(model, name)).collect();
    for piece in pieces {
        let mut judged = &piece.judged[..];
        for (query, count) in piece.queries.clone().zip(&piece.counts) {
            ids.push(DecimalText::new(model.id(query)).text());
            let codes;
            (codes, judged) = judged.split_at(*count);
            facts.push(codes.iter().copied());
        }
        let rows: Vec<StagedRow> =
            piece.queries.map(|query| StagedRow { query, depth: model.shape.depth }).collect();
        fingerprint = fingerprint.wrapping_add(piece.fingerprint);
        runs.iter_mut().zip(piece.labels).for_each(|(run, labels)| {
            run.pieces.push(StagedPiece { rows: rows.clone(), labels, ..StagedPiece::default() });
        });
    }
    let mut builder = MatrixBuilder::new(book, RankingRule::default(), fingerprint, ids, facts);
    runs.into_iter().for_each(|run| builder.push(run));
    builder.finish()
}

fn run(model: &Model, name: String) -> StagedRun {
    let info = RunInfo {
        tag: name.trim_end_matches(".txt").into(),
        name,
        source: String::new(),
        results: u64::from(model.shape.queries) * u64::from(model.shape.depth),
        ignored: Unmatched::default(),
        ..RunInfo::default()
    };
    StagedRun { info, ..StagedRun::default() }
}

/// Returns the codebook (grade of each label byte) of the grades that occur in the synthetic
/// judgments. Usually the first few queries have all of them.
fn codebook(model: &Model) -> Result<Codebook> {
    let (mut seen, mut scratch) = (vec![false; model.shape.grades.into()], ModelScratch::default());
    for query in 0..model.shape.queries {
        model.judge(query, &mut scratch);
        scratch.judgments.iter().for_each(|judgment| seen[usize::from(judgment.grade)] = true);
        if seen.iter().all(|&seen| seen) {
            break;
        }
    }
    Codebook::new((0..model.shape.grades).filter(|&grade| seen[usize::from(grade)]).map(f64::from))
}

/// The labels, judgments and fingerprint of some consecutive queries of a synthetic label matrix.
struct QueryPiece {
    queries: Range<u32>,
    /// The codes of the judged documents, query by query, and the number of judged documents of
    /// each query.
    judged: Vec<u8>,
    counts: Vec<usize>,
    /// The labels of each run.
    labels: Vec<Vec<u8>>,
    /// The piece's part of the fingerprint of the judgments.
    fingerprint: u128,
}

impl QueryPiece {
    fn new(model: &Model, book: &Codebook, queries: Range<u32>) -> Self {
        let size = queries.len() * model.shape.depth as usize;
        let mut piece = Self {
            queries: queries.clone(),
            judged: Vec::new(),
            counts: Vec::new(),
            labels: (0..model.shape.runs).map(|_| Vec::with_capacity(size)).collect(),
            fingerprint: 0,
        };
        let (mut scratch, mut codes) =
            (ModelScratch::default(), vec![NOT_IN_QRELS; model.retrieved() as usize]);
        for query in queries {
            piece.judge(model, book, query, &mut scratch);
            let first = piece.judged.len() - scratch.judgments.len();
            for (judgment, &code) in scratch.judgments.iter().zip(&piece.judged[first..]) {
                // `codes` has no place for a judged document that no run can retrieve.
                if let Some(at) = codes.get_mut(judgment.position as usize) {
                    *at = code;
                }
            }
            let documents = model.documents(query);
            for (run, labels) in (0..).zip(&mut piece.labels) {
                model.rank(query, run, &mut scratch.places);
                order_ties(&mut scratch.places, documents);
                labels.extend(scratch.places.iter().map(|place| codes[place.position as usize]));
            }
            // Reset only the judged positions for the next query, because runs retrieve many
            // positions and few of the positions are judged.
            for judgment in &scratch.judgments {
                if let Some(at) = codes.get_mut(judgment.position as usize) {
                    *at = NOT_IN_QRELS;
                }
            }
        }
        piece
    }

    /// Makes the judgments of a synthetic query, and adds them to the fingerprint as
    /// `Qrels::fingerprint` does.
    fn judge(&mut self, model: &Model, book: &Codebook, query: u32, scratch: &mut ModelScratch) {
        model.judge(query, scratch);
        let id = DecimalText::new(model.id(query));
        let mut hashed = Vec::with_capacity(64);
        for judgment in &scratch.judgments {
            let (docno, grade) = (DecimalText::new(judgment.document), f64::from(judgment.grade));
            hashed.clear();
            for (prefix, text) in [(&b""[..], id.text()), (b"d", docno.text())] {
                hashed.extend_from_slice(&((prefix.len() + text.len()) as u64).to_le_bytes());
                hashed.extend_from_slice(prefix);
                hashed.extend_from_slice(text);
            }
            hashed.extend_from_slice(&grade.to_le_bytes());
            self.fingerprint = self.fingerprint.wrapping_add(xxh3_128(&hashed));
            self.judged.extend(book.code(grade));
        }
        self.counts.push(scratch.judgments.len());
    }
}

/// Sorts documents of equal scores in a synthetic ranking as
/// [`TieBreak::DocnoDescending`](crate::rule::Ties) does.
fn order_ties(places: &mut [ModelResult], documents: ModelDocuments) {
    for tied in places.chunk_by_mut(|a, b| a.score == b.score).filter(|tied| tied.len() > 1) {
        // As text, because that is how docnos are compared: of d9 and d10, d9 is the larger.
        tied.sort_by(|a, b| {
            let [a, b] = [a, b].map(|place| DecimalText::new(documents.at(place.position)));
            b.text().cmp(a.text())
        });
    }
}
