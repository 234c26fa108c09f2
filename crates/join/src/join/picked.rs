//! A few queries alone, with their documents, which a join otherwise forgets.
//!
//! All lines are read as usual, but nothing of the other queries is kept: not even a document that
//! is twice in one of their rankings is noticed.

use std::borrow::Cow;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::doc_table::Shelf;
use super::picks::{Picked, PickedQuery, Picks, Retrieved};
use super::qrels::Qrels;
use super::rank::Ranker;
use super::run::{self, Joining, Results, RunRankings, check_ties, without_identical};
use super::sound::{finish, sound, stdin_once};
use crate::bytes::hash::Seed;
use crate::bytes::input::{Input, RunInput, run_names};
use crate::error::Result;
use crate::format::Form;
use crate::format::foreign::OtherFormat;
use crate::judged_by::JudgedBy;
use crate::lines::chunks::ChunkSize;
use crate::lines::diagnostics::RunProblems;
use crate::lines::shape::Role;
use crate::matrix::{StagedPiece, StagedRun};
use crate::record::by_query::{Scattered, each_query};
use crate::record::of_text::{RunReading, TakeSource, with_run};
use crate::record::packed::{Docnos, Record, score_of_key};
use crate::record::reader::Source;
use crate::settings::Join;
use crate::text::{Purpose, ToldText};

/// A run with some picked queries.
type PickedRun = (FoundRankings, (StagedRun, RunProblems));

/// The rankings of the picked queries of a run, each with the number of its query.
type FoundRankings = Vec<(u32, Vec<Retrieved>)>;

impl Join {
    /// Reads qrels and runs as [`Join::files`] does, and keeps these queries, with their documents.
    /// A run that comes as a stream is not held in memory.
    ///
    /// # Errors
    /// As [`Join::files`], except for documents that are twice in the ranking of another query.
    #[doc(hidden)]
    pub fn picked(&self, qrels: Input, runs: Vec<RunInput>, queries: &[Vec<u8>]) -> Result<Picked> {
        self.picked_in_chunks(qrels, runs, queries, ChunkSize::default())
    }

    fn picked_in_chunks(
        &self,
        qrels: Input,
        runs: Vec<RunInput>,
        queries: &[Vec<u8>],
        size: ChunkSize,
    ) -> Result<Picked> {
        if self.judged_by == Some(JudgedBy::Span) {
            return self.picked_passages(qrels, runs, queries);
        }
        self.check_units()?;
        let names = run_names(&runs)?;
        stdin_once(runs.iter().map(|run| &run.input).chain([&qrels]))?;
        let (qrels, form) = self.judgments_text(qrels)?;
        let partner = form.as_ref().ok().and_then(Form::partner);
        let runs = names.into_iter().zip(runs);
        let runs = runs.map(|(name, run)| {
            Ok((name, ToldText::open(self.read_settings(), run.input, Purpose::Run(partner))?))
        });
        let runs = runs.collect::<Result<Vec<_>>>()?;
        let swapped = runs.iter().find(|(_, text)| {
            text.form.as_ref().is_err_and(|other| *other == OtherFormat::Swapped)
        });
        let swapped = swapped.map(|(_, text)| &text.name[..]);
        let (qrels, problems) = self.qrels_of(&qrels, &form, swapped, size, Seed::random())?;
        let picks = Picks { ids: queries.to_vec(), judged: qrels.queries().len() as u32 };
        let joining = self.joining(&qrels);
        let of = RunReading { seed: qrels.seed(), size, watch: self.watch() };
        let read =
            |(name, ToldText { name: source, form, mut body }): (String, ToldText)| match form {
                Ok(form) => with_run(
                    &source,
                    &form,
                    &mut body,
                    of,
                    PickRun { name: &name, joining: &joining, picks: &picks },
                ),
                Err(foreign) => {
                    let lines = foreign.problems(Role::Run, &source);
                    Ok((
                        Vec::new(),
                        (StagedRun::default(), RunProblems { lines, ..RunProblems::default() }),
                    ))
                }
            };
        let read: Vec<PickedRun> = runs.into_par_iter().map(read).collect::<Result<_>>()?;
        let (mut found, staged): (Vec<_>, Vec<_>) = read.into_iter().unzip();
        let staged = sound(problems, staged, &qrels)?;
        let of_query = |id: &Vec<u8>| take_query(id, &qrels, &picks, &mut found);
        let queries = queries.iter().map(of_query).collect();
        Ok(Picked { queries, matrix: finish(qrels.into_matrix(self), staged)? })
    }
}

/// Takes the rankings of a picked query out of those that were found in each run.
fn take_query(id: &[u8], qrels: &Qrels, picks: &Picks, found: &mut [FoundRankings]) -> PickedQuery {
    let judged = qrels.query(id);
    let number = picks.number(id, judged);
    let of_run = |found: &mut FoundRankings| {
        let at = found.iter().position(|(query, _)| Some(*query) == number)?;
        Some(found.swap_remove(at).1)
    };
    let rankings = found.iter_mut().map(of_run).collect();
    PickedQuery { id: id.to_vec(), judged: judged.map(|query| qrels.documents(query)), rankings }
}

/// Reads the picked queries of a run called `name`.
struct PickRun<'a> {
    name: &'a str,
    joining: &'a Joining<'a>,
    picks: &'a Picks,
}

impl TakeSource for PickRun<'_> {
    type Output = PickedRun;

    fn take(self, source: &impl Source) -> Result<PickedRun> {
        read(source, self.name, self.joining, self.picks)
    }
}

/// Reads a run called `name`.
fn read(
    source: &impl Source,
    name: &str,
    joining: &Joining<'_>,
    picks: &Picks,
) -> Result<PickedRun> {
    let (qrels, count) = (joining.qrels, picks.judged as usize + picks.ids.len());
    check_ties(source.name(), source.order(), joining.rule.ties)?;
    joining.check_units(source.name(), source.order())?;
    let scattered = || Scattered::new(count).of(source.whole()).thinning(joining.may_thin());
    let worker = || (Results::new(joining).of(picks), scattered());
    let (mut read, scattered) = source.read(&AtomicBool::new(false), qrels.seed(), worker)?;
    read.findings.leave_out(scattered.iter().map(Scattered::dropped).sum());
    let ranking = || PickedRankings {
        rankings: RunRankings::new(joining, source.order()),
        plain: joining.ranker(joining.rule.clone(), false),
        picks,
        found: Vec::new(),
    };
    let rankings =
        each_query(scattered, source.whole(), joining.watch, ranking, PickedRankings::rank);
    let (found, rankings): (Vec<_>, Vec<_>) =
        rankings.into_iter().map(|ranking| (ranking.found, ranking.rankings)).unzip();
    Ok((found.concat(), run::finish(read, rankings, name, source, joining)))
}

/// The rankings of the picked queries by one worker.
struct PickedRankings<'a> {
    rankings: RunRankings<'a>,
    /// A ranker for the lists of documents; its findings about scores are not reported.
    plain: Ranker,
    picks: &'a Picks,
    found: Vec<(u32, Vec<Retrieved>)>,
}

impl PickedRankings<'_> {
    /// Ranks the results of a query, once for the matrix and once with their documents.
    fn rank(&mut self, records: &[Record], docnos: Docnos<'_>) {
        let PickedRankings { rankings, plain, picks, found } = self;
        let query = records[0].query;
        let unjudged = query.checked_sub(picks.judged).map(|place| &picks.ids[place as usize]);
        let (mut codes, mut exact_grades) = (Vec::new(), Vec::new());
        let dropped = rankings.drop_identical_ids;
        let id = match unjudged {
            Some(id) => {
                rankings.unite(id, records, docnos);
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
        let uniting = rankings.uniting.take();
        let (records, docnos) = match &uniting {
            Some(uniting) => (Cow::Borrowed(uniting.united()), uniting.docnos(&docnos)),
            None => (without_identical(id, records, docnos, dropped), docnos),
        };
        if unjudged.is_some() {
            let mut nothing = Shelf::default();
            let table = nothing.table(0, 0);
            let judged = (&nothing, table);
            plain.rank(id, &records, docnos, judged, (&mut codes, None), &mut rankings.findings);
            rankings.ranker.wrong_ranks.merge(std::mem::take(&mut plain.wrong_ranks));
        }
        let ordered =
            if codes.is_empty() { Vec::new() } else { plain.ordered(id, &records, docnos) };
        let tied = ordered.chunk_by(|one, next| one.key == next.key);
        let tied = tied.flat_map(|tied| std::iter::repeat_n(tied.len() as u32, tied.len()));
        let (book, mut exact) = (rankings.book(), exact_grades.into_iter());
        let documents =
            ordered.iter().zip(tied).zip(codes).map(|((record, tied), code)| Retrieved {
                docno: docnos.of(record).to_vec(),
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
    use crate::rule::Ties;

    fn input(name: &str, text: &str) -> Input {
        Input::Bytes { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
    }

    const QRELS: &str = "2 0 a 1\n2 0 b 0\n10 0 a -1\n1 0 c 3\n1 0 a 2\n";
    const RUN: &str = "2 Q0 a 1 2 t\n9 Q0 k 1 1 t\n1 Q0 a 3 1 t\n1 Q0 b 1 1 t\r\n2 Q0 z 2 2 t\n1 \
                       Q0 c 2 1 t\n9 Q0 a 4 1 u\n2 Q0 a 5 1 t\n";

    fn picked(run: &str, size: usize, ties: Ties) -> Result<Vec<PickedQuery>, String> {
        let join = Join { ties, ..Join::default() };
        let ids = ["1", "9", "3"].map(|id| id.as_bytes().to_vec());
        let runs = vec![RunInput::named("run", input("run", run))];
        let picked = join.picked_in_chunks(input("qrels", QRELS), runs, &ids, ChunkSize(size));
        picked.map(|picked| picked.queries).map_err(|error| error.to_string())
    }

    #[test]
    fn queries_are_picked_wherever_the_text_is_cut() {
        for (_, ties) in Ties::ALL {
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
        let again = picked(&format!("{RUN}1 Q0 c 9 9 t\n"), 1, Ties::default()).unwrap_err();
        assert_eq!(again, "run:9: docno 'c' occurs again for query '1', first on line 6");
    }
}
