//! The join of a few picked queries alone, which keeps the ids of their documents; a join otherwise
//! forgets them.
//!
//! All lines are read as usual, but nothing of the other queries is kept: not even a document that
//! is twice in one of their rankings is noticed.

use std::borrow::Cow;

use super::{
    doc_table::{DocArena, JudgedDocs},
    exclusion::{DroppedDocs, ExclusionCounts},
    picks::{Retrieved, tie_sizes},
    rank::{LabelBuffers, Ranker},
    run::{self, JoinContext, RunRankings, read_any_order},
};
use crate::error::Result;
use crate::lines::diagnostics::RunProblems;
use crate::matrix::{StagedPiece, StagedRun};
use crate::record::{
    layout::{Docnos, Record, score_of_key},
    reader::RowSource,
};

/// The rankings of the picked queries in one run, with the rows of labels and the problems of the
/// run.
pub type PickedRun = (FoundRankings, (StagedRun, RunProblems));

/// The rankings of the picked queries in one run, each with the number of its query.
pub type FoundRankings = Vec<(u32, Vec<Retrieved>)>;

/// Reads the picked queries of the run called `name`.
pub fn read(
    source: &impl RowSource,
    name: &str,
    joining: &JoinContext<'_>,
    picks: &[Vec<u8>],
) -> Result<PickedRun> {
    joining.check_ties(source.name(), source.order())?;
    joining.check_units(source.name(), source.order())?;
    // Few rows are kept, so the way for rows in any order costs little, and serves every input.
    let (read, rankings) = read_any_order(
        source,
        joining,
        || PickedRankings {
            rankings: RunRankings::new(joining, source.order()),
            plain: Ranker::new(joining.rule.clone(), false),
            picks,
            found: Vec::new(),
        },
        PickedRankings::rank,
    )?;
    let (found, rankings): (Vec<_>, Vec<_>) =
        rankings.into_iter().map(|ranking| (ranking.found, ranking.rankings)).unzip();
    Ok((found.concat(), run::finish(read, rankings, name, source, joining)))
}

/// One worker's rankings of the picked queries of a run, with and without document ids.
struct PickedRankings<'a> {
    rankings: RunRankings<'a>,
    /// A ranker for the lists of documents; its findings about scores are not reported.
    plain: Ranker,
    picks: &'a [Vec<u8>],
    found: Vec<(u32, Vec<Retrieved>)>,
}

impl PickedRankings<'_> {
    /// Ranks the results of a picked query: as a row of labels for the matrix, and as a list of
    /// documents.
    fn rank(&mut self, records: &[Record], docnos: Docnos<'_>) {
        let Self { rankings, plain, picks, found } = self;
        let query = records[0].query;
        let unjudged = query.checked_sub(rankings.qrels.queries().len() as u32);
        let unjudged = unjudged.map(|place| &picks[place as usize]);
        let (mut codes, mut exact_grades) = (Vec::new(), Vec::new());
        let join = rankings.join.clone();
        let id = match unjudged {
            Some(id) => {
                rankings.aggregate(id, records, docnos);
                id
            }
            None => {
                let StagedPiece { labels, exact, .. } = &rankings.staged;
                let first = (labels.len(), exact.len());
                rankings.rank(records, docnos);
                codes.extend_from_slice(&rankings.staged.labels[first.0..]);
                exact_grades.extend_from_slice(&rankings.staged.exact[first.1..]);
                rankings.id(query)
            }
        };
        // The merger is lent out, because its results are borrowed while the rankings change.
        let uniting = rankings.uniting.take();
        let (records, docnos) = match &uniting {
            Some(uniting) => (Cow::Borrowed(&uniting.united[..]), uniting.docnos(&docnos)),
            None => {
                // The ranking of a judged query has counted them.
                let mut counted = ExclusionCounts::default();
                let left = DroppedDocs::new(&join, id).without(records, docnos, &mut counted);
                (left, docnos)
            }
        };
        if unjudged.is_some() {
            let mut nothing = DocArena::default();
            let table = nothing.table(0);
            let judged = JudgedDocs { shelf: &nothing, table };
            let buffers = LabelBuffers { labels: &mut codes, keys: None };
            plain.rank(id, &records, docnos, judged, buffers, &mut rankings.findings);
            rankings.ranker.wrong_ranks.merge(std::mem::take(&mut plain.wrong_ranks));
        }
        let ordered =
            if codes.is_empty() { Vec::new() } else { plain.ordered(id, &records, docnos) };
        let tied = tie_sizes(&ordered, |record| record.key);
        let (book, mut exact) = (rankings.qrels.codebook(), exact_grades.into_iter());
        let documents =
            ordered.iter().zip(tied).zip(codes).map(|((record, tied), code)| Retrieved {
                docno: docnos.get(record).to_vec(),
                score: score_of_key(record.key),
                code,
                grade: book.grade(code).map(|grade| {
                    if book.is_exact() { grade } else { exact.next().unwrap_or(grade) }
                }),
                tied,
                span: None,
            });
        found.push((query, documents.collect()));
        rankings.uniting = uniting;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::input::RunInput;
    use crate::join::picks::PickedQuery;
    use crate::lines::chunks::ChunkSize;
    use crate::rule::TieBreak;
    use crate::settings::Join;
    use crate::test_support::input;

    const QRELS: &str = "2 0 a 1\n2 0 b 0\n10 0 a -1\n1 0 c 3\n1 0 a 2\n";
    const RUN: &str = "2 Q0 a 1 2 t\n9 Q0 k 1 1 t\n1 Q0 a 3 1 t\n1 Q0 b 1 1 t\r\n2 Q0 z 2 2 t\n1 \
                       Q0 c 2 1 t\n9 Q0 a 4 1 u\n2 Q0 a 5 1 t\n";

    fn picked(run: &str, size: usize, ties: TieBreak) -> Result<Vec<PickedQuery>, String> {
        let join = Join { ties, ..Join::default() };
        let ids = ["1", "9", "3"].map(|id| id.as_bytes().to_vec());
        let runs = vec![RunInput::named("run", input("run", run))];
        let picked = join.picked_in_chunks(input("qrels", QRELS), runs, &ids, ChunkSize(size));
        picked.map(|picked| picked.queries).map_err(|error| error.to_string())
    }

    #[test]
    fn queries_are_picked_wherever_the_text_is_cut() {
        for (_, ties) in TieBreak::ALL {
            let whole = picked(RUN, usize::MAX / 2, ties);
            let queries = whole.as_ref().unwrap();
            let found = queries.iter().map(|query| query.rankings[0].as_ref().map(Vec::len));
            // Query 2, in which a document is twice, was not asked for.
            assert_eq!(found.collect::<Vec<_>>(), [Some(3), Some(2), None]);
            assert_eq!(queries[0].judged, Some(vec![(b"a".to_vec(), 2.0), (b"c".to_vec(), 3.0)]));
            for text in [RUN.to_owned(), format!("{RUN}1 Q0 c 9 9 t\n"), format!("{RUN}x\n")] {
                let whole = picked(&text, usize::MAX / 2, ties);
                for size in 1..=text.len() {
                    assert_eq!(picked(&text, size, ties), whole, "{ties}, in chunks of {size}");
                }
            }
        }
        let again = picked(&format!("{RUN}1 Q0 c 9 9 t\n"), 1, TieBreak::default()).unwrap_err();
        assert_eq!(again, "run:9: docno 'c' occurs again for query '1', first on line 6");
    }
}
