//! A run that is read once: its queries are ranked one by one as they come, and their rankings passed on.
//!
//! The rows of a query must be together, for its rankings are gone when other queries come. A query that comes back is noticed.
//!
//! ```text
//! text ──► blocks of whole queries ──► whichever worker is free
//!            worker 0   q1 ─ met before? no ─ ranked ─► labels of q1, q2 … ─ 2²⁰ labels or 2¹⁴ rankings ─► its taker: a block
//!            worker 1   q3 ─ …                                                                             is evaluated, and forgotten
//!          places[q]    chunk · line where q began, or none: one number a judged query, shared by all workers
//! ```
//!
//! *Who takes a query.* The reader that cuts the next block under a lock; the others rank theirs meanwhile (see `chunks`). A block ends
//! where a query begins, so one worker has all rows of a query, unless these are not together.
//!
//! *Who ranks it.* The machine that reads files too, with one more condition before a ranking is made: that its query was never met. What a
//! worker holds is a block of text, the records of one query, and labels until they are enough for a block of the engine; what all of them
//! hold is 8 bytes for each judged query. So memory does not grow with the run.
//!
//! *Who notices one that comes back.* `fetch_min` puts the earlier place and returns the one before, so the second to come, whoever that
//! is, knows both, and reports the later of them. Let a query begin at a < b < c. Whichever of a and b is met second reports b: if it is b,
//! the least place so far is a; if it is a, the least is b, and b is the later of both. Reports of c do no harm, for the least of all
//! reports is named. Blocks are handed out in order, and what was handed out is worked on also after a stop, so nothing before the named
//! place is unread: the message is the same for any number of threads.
//!
//! *Columns* come in batches that end anywhere. The last query of a batch waits, copied, until another begins or the run ends; the rest is
//! read where it lies. Chunks are numbered through all batches, so that places stay in the order of the run.

use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::qrels::Qrels;
use super::run::{Joining, Results, RunRankings, check_ties, ignored, nothing_in_it};
use crate::error::{Error, Problems, Result};
use crate::ingest::columns::{CheckedColumns, PendingQuery, Records};
use crate::ingest::format::Form;
use crate::ingest::lines::chunks::{ChunkSize, complete};
use crate::ingest::lines::diagnostics;
use crate::ingest::lines::diagnostics::{Findings, Position, whole_file};
use crate::ingest::lines::layout::Order;
use crate::ingest::lines::shape::Role;
use crate::ingest::record::columns::ColumnSource;
use crate::ingest::record::packed::{Docnos, Record};
use crate::ingest::record::reader::{Make, Source, TextSource, Together};
use crate::ingest::settings::Join;
use crate::ingest::text::Purpose;
use crate::label::{RunInfo, ScoresSeen, StagedPiece};

/// The most labels of rankings that are passed on together.
const LABELS: usize = 1 << 20;
/// The most rankings that are passed on together.
const ROWS: usize = 1 << 14;

/// A taker of rankings, which keeps what it needs of them.
pub trait TakeRankings: Send {
    /// Takes some rankings; returns `false` if it wants no more.
    fn take(&mut self, rankings: &StagedPiece) -> bool;

    /// Returns whether no more rankings are wanted.
    fn is_stopped(&self) -> bool;
}

/// A run that is read once.
pub struct PassingRun<'q, T> {
    join: Join,
    joining: Joining<'q>,
    name: String,
    /// The name of the source in messages.
    source: String,
    /// Whether ranks decide, and not scores; known once there are rows.
    by_rank: Option<bool>,
    places: QueryStarts,
    workers: Vec<RankingWorker<'q, T>>,
    /// A function that makes the taker of rankings for a worker.
    make: Box<dyn Fn() -> T + Send + Sync + 'q>,
    /// The sizes in which text is cut.
    size: ChunkSize,
    /// The numbers of chunks, lines and results so far.
    chunks: u64,
    lines: u64,
    results: u64,
    tag: Vec<u8>,
    /// The format of the text, if it is text.
    form: Form,
    is_text: bool,
    repeats: Problems,
    /// The rows of the last query of columns, which may continue in the next batch.
    pending: PendingQuery,
}

/// The state that a worker keeps from chunk to chunk.
struct RankingWorker<'q, T> {
    results: Results<'q>,
    rankings: RunRankings<'q>,
    take: T,
}

impl<'q, T: TakeRankings> PassingRun<'q, T> {
    /// Makes a run called `name`, of a source with its own name in messages, before any of it has come; `make` makes the taker of rankings
    /// for a worker.
    ///
    /// # Errors
    /// Qrels that were read in another dialect.
    pub fn new(
        join: &Join,
        qrels: &'q Qrels,
        (name, source): (&str, &str),
        make: impl Fn() -> T + Send + Sync + 'q,
    ) -> Result<Self> {
        join.check_dialect(qrels)?;
        let Joining { rule, rules, drop_identical_ids, .. } = join.joining(qrels);
        let joining = Joining {
            qrels,
            rule,
            rules,
            keep_ties: false,
            part: join.part,
            may_be_empty: join.part,
            drop_identical_ids,
            watch: None,
        };
        let places = QueryStarts::new(qrels.queries().len());
        let (by_rank, chunks, lines, results, workers) = Default::default();
        let (tag, is_text, repeats, pending) = Default::default();
        let (name, source) = (name.to_owned(), source.to_owned());
        Ok(PassingRun {
            join: Join { watch: None, ..join.clone() },
            joining,
            name,
            source,
            by_rank,
            places,
            workers,
            make: Box::new(make),
            size: ChunkSize::default(),
            chunks,
            lines,
            results,
            tag,
            form: Form::trec(),
            is_text,
            repeats,
            pending,
        })
    }

    /// Recognises the format of text that starts with `start`.
    ///
    /// # Errors
    /// A text that cannot be a run.
    pub fn tell(&mut self, start: &[u8]) -> Result<()> {
        let purpose = Purpose::Run(self.joining.qrels.partner());
        let told = self.join.tell(purpose, &self.source, Some(start), None);
        self.form = told.map_err(|other| Error::Input(other.problems(Role::Run, &self.source)))?;
        Ok(())
    }

    /// Returns how many bytes of a text that continues are whole queries, as far as their lines are together; `None` if rows are made of
    /// the text.
    pub fn complete(&self, text: &[u8]) -> Option<usize> {
        self.form.made().is_none().then(|| complete(text, self.form.table()))
    }

    /// Reads text to its end, which ends its last query too; returns `None` if a taker wanted no more.
    ///
    /// # Errors
    /// An error of the reader; the problems of all lines; a query that comes back.
    pub fn text(&mut self, text: &mut (dyn Read + Send)) -> Result<Option<()>> {
        self.ranks(self.form.order())?;
        check_ties(&self.source, self.form.order(), self.joining.rule.ties)?;
        self.is_text = true;
        if !self.end_pending()? {
            return Ok(None);
        }
        let (name, form) = (self.source.clone(), std::mem::replace(&mut self.form, Form::trec()));
        let before = self.chunks;
        let rows = form.rows(Box::new(text));
        let mut rows = rows.map_err(|error| Error::io(name.as_ref(), "read", error))?;
        let went_on = self.read(&TextSource::passing(&name, &form, self.size, &mut *rows), self.lines);
        drop(rows);
        // The next text goes on in the table that this one began: its first line is no header.
        self.form = if self.chunks == before { form } else { form.without_header() };
        Ok(went_on?.then_some(()))
    }

    /// Reads a batch of columns except for its last query, which may continue in the next batch; returns `None` if a taker wanted no more.
    ///
    /// # Errors
    /// What is wrong with the columns; a query that comes back.
    pub fn columns(&mut self, records: &Records<'_>) -> Result<Option<()>> {
        self.join.check_ties_in_memory()?;
        let name = self.source.clone();
        let batch = std::slice::from_ref(records);
        let columns =
            CheckedColumns::of_run(&name, batch, self.joining.qrels.seed()).map_err(|e| self.later(e))?;
        if columns.rows() == 0 {
            return Ok(Some(()));
        }
        let order = columns.order();
        self.ranks(order)?;
        let first = columns.first_rows_of(self.pending.query());
        self.pending.push(&columns, 0..first);
        if first == columns.rows() {
            return Ok(Some(()));
        }
        if !self.end_pending()? {
            return Ok(None);
        }
        let last = columns.last_query();
        let source = ColumnSource::some(&columns, first..last);
        let went_on = first == last || self.read(&source, self.lines)?;
        self.pending.push(&columns, last..columns.rows());
        Ok(went_on.then_some(()))
    }

    /// Notes whether ranks or scores decide.
    fn ranks(&mut self, order: Order) -> Result<()> {
        let by_rank = !matches!(order, Order::Scores { .. });
        if *self.by_rank.get_or_insert(by_rank) == by_rank {
            return Ok(());
        }
        let message = "some batches have scores, and others ranks alone".to_owned();
        Err(Error::Input(whole_file(&self.source, message)))
    }

    /// Adapts an error of a batch, of which other batches came before: its lines count from the start of the run.
    fn later(&self, error: Error) -> Error {
        let before = self.lines + self.pending.rows();
        match error {
            Error::Input(mut problems) => {
                problems.first.iter_mut().filter(|of| of.line > 0).for_each(|of| of.line += before);
                Error::Input(problems)
            }
            other => other,
        }
    }

    /// Ranks the last query of the columns so far.
    fn end_pending(&mut self) -> Result<bool> {
        let pending = std::mem::take(&mut self.pending);
        if pending.rows() == 0 {
            return Ok(true);
        }
        let (name, id) = (self.source.clone(), pending.query_text());
        let parts = pending.records(&id);
        let columns = CheckedColumns::of_run(&name, &parts, self.joining.qrels.seed())?;
        self.read(&ColumnSource::some(&columns, 0..columns.rows()), self.lines)
    }

    /// Reads rows; `before` is the number of lines before them.
    fn read(&mut self, source: &impl Source, before: u64) -> Result<bool> {
        let (joining, order) = (self.joining, source.order());
        let (places, chunks, make) = (&self.places, self.chunks, &self.make);
        let stop = AtomicBool::new(false);
        let spare = Mutex::new(std::mem::take(&mut self.workers));
        let worker = || {
            let spare = spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let RankingWorker { results, rankings, take } = spare.unwrap_or_else(|| RankingWorker {
                results: Results::new(joining),
                rankings: RunRankings::new(joining, order),
                take: make(),
            });
            (
                results,
                Together::new(
                    TakingRankings { places, chunks, rankings, take, back: None, refused: false },
                    &stop,
                ),
            )
        };
        // Workers of the reading before are used again, with their rankings: a batch of columns need not be a block.
        let (mut read, keeps) = source.read(&stop, joining.qrels.seed(), worker)?;
        let lines = read.lines();
        let (mut back, mut went_on, mut tag) = (None::<(u64, u32)>, true, Default::default());
        let (mut findings, mut repeats) = (std::mem::take(&mut read.findings), Findings::default());
        let mut workers = spare.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (mut results, keep) in read.rows.into_iter().zip(keeps) {
            let TakingRankings { mut rankings, take, back: came, refused, .. } = keep.make;
            went_on &= !refused && !take.is_stopped();
            back = back.into_iter().chain(came).min();
            tag = std::mem::take(&mut results.tag).max(tag);
            findings.merge(std::mem::take(&mut rankings.ranker.wrong_ranks));
            let repeated = std::mem::take(&mut rankings.findings);
            if joining.rules.late_repeats { &mut repeats } else { &mut findings }.merge(repeated);
            workers.push(RankingWorker { results, rankings, take });
        }
        self.workers = workers;
        let file = &self.source;
        if let Some((place, query)) = back {
            let line = source.line(before + of_place(place, self.chunks).in_all(&lines));
            let query = joining.qrels.queries().get(query as usize).to_vec();
            return Err(Error::CameBack { file: file.clone(), line, query });
        }
        if !went_on {
            return Ok(false);
        }
        let line = |line| source.line(before + line);
        let problems = findings.into_problems(file, line, &lines);
        if !problems.first.is_empty() {
            return Err(Error::Input(problems));
        }
        self.repeats =
            diagnostics::join([std::mem::take(&mut self.repeats), repeats.into_problems(file, line, &lines)]);
        self.chunks += lines.len() as u64;
        self.lines += lines.iter().sum::<u64>();
        self.results += read.count;
        // The last tag counts, and the last batch may have none.
        if !tag.1.is_empty() {
            self.tag = tag.1;
        }
        Ok(true)
    }

    /// Returns the number of results.
    pub fn results(&self) -> u64 {
        self.results + self.pending.rows()
    }

    /// Returns the takers of rankings so far.
    pub fn takers(&mut self) -> impl Iterator<Item = &mut T> {
        self.workers.iter_mut().map(|worker| &mut worker.take)
    }

    /// Passes on the remaining rankings, and returns facts about the run; `None` if a taker wanted no more.
    ///
    /// # Errors
    /// As for more rows; no result at all; no query of the qrels.
    pub fn finish(&mut self) -> Result<Option<Passed>> {
        if !self.end_pending()? {
            return Ok(None);
        }
        let mut seen = ScoresSeen::default();
        for RankingWorker { rankings, take, .. } in &mut self.workers {
            if !hand_on(rankings, take) {
                return Ok(None);
            }
            seen.merge(rankings.ranker.seen);
        }
        let (results, takers): (Vec<_>, Vec<_>) = std::mem::take(&mut self.workers)
            .into_iter()
            .map(|worker| (worker.results, (worker.rankings, worker.take)))
            .unzip();
        let ignored = ignored(&results);
        let parts = results.into_iter().zip(takers);
        self.workers =
            parts.map(|(results, (rankings, take))| RankingWorker { results, rankings, take }).collect();
        let (name, source, tag) = (self.name.clone(), self.source.clone(), self.tag.clone());
        let info = RunInfo { name, tag, source, results: self.results, ignored, seen };
        let met = self.places.met();
        let expected = match self.is_text {
            true => self.form.expected(Role::Run),
            false => String::new(),
        };
        if let Some(message) = nothing_in_it(&info, met.contains(&true), self.joining, expected) {
            return Err(Error::Input(whole_file(&self.source, message)));
        }
        let evaluated = (0..).zip(&met).filter(|(_, met)| **met).map(|(query, _)| query);
        let repeats = std::mem::take(&mut self.repeats);
        let repeats = diagnostics::join([self.joining.qrels.repeats_in(evaluated), repeats]);
        if repeats.first.is_empty() { Ok(Some(Passed { info, met })) } else { Err(Error::Repeated(repeats)) }
    }
}

/// A run that was read to its end.
pub struct Passed {
    pub info: RunInfo,
    /// Whether the run had each query of the qrels.
    pub met: Vec<bool>,
}

/// Passes on the rankings that there are; returns `false` if no more are wanted.
fn hand_on(rankings: &mut RunRankings<'_>, take: &mut impl TakeRankings) -> bool {
    let staged = &mut rankings.staged;
    // Cleared and not dropped: the next rankings have the room.
    let wanted = staged.rows.is_empty() || take.take(staged);
    staged.rows.clear();
    staged.labels.clear();
    staged.exact.clear();
    staged.numbers.clear();
    wanted
}

/// The places where each query of the qrels begins, by chunk and line, as far as is known yet.
struct QueryStarts(Vec<AtomicU64>);

/// The value for no place.
const NONE: u64 = u64::MAX;
/// The bits of a line in a place; the chunk is above them.
const LINE_BITS: u32 = 32;

/// Makes a place. Places are in the order of the input.
fn place(chunk: u64, line: u64) -> u64 {
    // Saturating: a line too large makes a wrong number in a message, where overflow would make another chunk.
    chunk << LINE_BITS | line.min((1 << LINE_BITS) - 1)
}

/// Returns the position of a place in a source before which there were `chunks` chunks.
fn of_place(place: u64, chunks: u64) -> Position {
    Position { chunk: (place >> LINE_BITS) - chunks, line: place & ((1 << LINE_BITS) - 1) }
}

impl QueryStarts {
    fn new(queries: usize) -> Self {
        QueryStarts((0..queries).map(|_| AtomicU64::new(NONE)).collect())
    }

    /// Notes that a query begins at `here`. If it began somewhere else before, returns the later of both places, which is where it comes
    /// back.
    fn meet(&self, query: u32, here: u64) -> Option<u64> {
        // Relaxed is enough: all operations on one place are in one order for all threads, and no other memory hangs on it.
        let before = self.0[query as usize].fetch_min(here, Ordering::Relaxed);
        (before != NONE).then(|| before.max(here))
    }

    /// Returns which queries have come.
    fn met(&self) -> Vec<bool> {
        self.0.iter().map(|place| place.load(Ordering::Relaxed) != NONE).collect()
    }
}

/// The ranking of queries, whose rankings are passed on.
struct TakingRankings<'m, 'q, T> {
    places: &'m QueryStarts,
    /// The number of chunks before this source.
    chunks: u64,
    rankings: RunRankings<'q>,
    take: T,
    /// The place of the first query that comes back, and its number.
    back: Option<(u64, u32)>,
    refused: bool,
}

impl<T: TakeRankings> Make for TakingRankings<'_, '_, T> {
    fn take(&mut self, _: &[u8], records: &[Record], docnos: Docnos<'_>, line: u64) -> bool {
        let query = records[0].query;
        let here = place(self.chunks + records[0].chunk(), line);
        if let Some(back) = self.places.meet(query, here) {
            self.back = self.back.into_iter().chain([(back, query)]).min();
            return false;
        }
        self.rankings.rank_together(records, docnos);
        let StagedPiece { rows, labels, .. } = &self.rankings.staged;
        if labels.len() >= LABELS || rows.len() >= ROWS {
            self.refused |= !hand_on(&mut self.rankings, &mut self.take);
        }
        !self.refused
    }

    fn is_stopped(&self) -> bool {
        self.take.is_stopped()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::ingest::Input;
    use crate::ingest::RunInput;
    use crate::ingest::columns::Text;
    use crate::label::Ties;

    type Rankings = BTreeMap<u32, Vec<u8>>;

    /// A taker that keeps all rankings.
    struct KeepAll(Arc<Mutex<Rankings>>);

    impl TakeRankings for KeepAll {
        fn take(&mut self, StagedPiece { rows, labels, .. }: &StagedPiece) -> bool {
            let mut all = self.0.lock().unwrap();
            let mut rest = &labels[..];
            for row in rows {
                let (of_query, after) = rest.split_at(row.depth as usize);
                assert!(all.insert(row.query, of_query.to_vec()).is_none());
                rest = after;
            }
            rest.is_empty()
        }

        fn is_stopped(&self) -> bool {
            false
        }
    }

    /// Returns the rankings of the texts that are fed, and facts about the run; or the error.
    fn passed(
        join: Join,
        qrels: &Qrels,
        size: usize,
        feed: impl Fn(&mut PassingRun<'_, KeepAll>) -> Result<Option<()>>,
    ) -> Result<(Rankings, RunInfo), String> {
        let all = Arc::new(Mutex::new(Rankings::new()));
        let make = || KeepAll(all.clone());
        let mut run = PassingRun::new(&join, qrels, ("mine", "mine"), make).unwrap();
        run.size = ChunkSize(size);
        let fed = feed(&mut run).and_then(|_| run.finish());
        drop(run);
        let Passed { info, met } = fed.map_err(|error| error.to_string())?.unwrap();
        let rankings = Arc::into_inner(all).unwrap().into_inner().unwrap();
        assert!(rankings.keys().copied().eq((0..).zip(met).filter(|(_, met)| *met).map(|(query, _)| query)));
        Ok((rankings, info))
    }

    /// Returns the same for the whole text at once.
    fn whole(join: Join, qrels: &Qrels, run: &str) -> Result<(Rankings, RunInfo), String> {
        let input = RunInput::named("mine", Input::Bytes { name: "mine".into(), bytes: run.into() });
        let matrix = join.runs(qrels, [input]).map_err(|error| error.to_string())?;
        let mut rankings = Rankings::new();
        for tile in 0..matrix.packing().tiles.len() {
            for (lane, &row) in matrix.tile_rows(tile).iter().enumerate() {
                let depth = matrix.depths()[row as usize] as usize;
                rankings.insert(row, matrix.tile(tile).lane(lane).take(depth).collect());
            }
        }
        Ok((rankings, matrix.runs()[0].clone()))
    }

    fn qrels() -> Qrels {
        let judged = [("2", "a", 1.0), ("2", "b", 0.0), ("10", "a", -1.0), ("1", "c", 3.0), ("1", "a", 2.0)];
        Qrels::new(judged).unwrap()
    }

    const GROUPED: &str = "2 Q0 a 1 2 t\n2 Q0 b 2 1 t\n# 1\n\n1 Q0 a 3 1 t\n1 Q0 b 1 1 t\r\n# 1\n1 Q0 c 2 1 t\n9 Q0 a 1 1 u\n8 Q0 a 1 1 u\n9 Q0 b 1 1 v";

    #[test]
    fn text_that_goes_by_is_ranked_as_the_whole_text_wherever_it_is_cut() {
        let qrels = qrels();
        for (_, ties) in Ties::ALL {
            let join = Join { ties, ..Join::default() };
            let wrong = format!("{GROUPED}\nx\n10 Q0 a 1 1 t\n10 Q0 a 1 1 t\n");
            for text in [GROUPED, "9 Q0 a 1 1 t\n", "", "# nothing\n", &wrong] {
                let expected = whole(join.clone(), &qrels, text);
                for size in 1..=text.len() + 1 {
                    let read = passed(join.clone(), &qrels, size, |run| run.text(&mut text.as_bytes()));
                    assert_eq!(read, expected, "{ties} {size}");
                }
            }
        }
    }

    #[test]
    fn a_query_that_comes_back_is_named_with_its_line_wherever_the_text_is_cut() {
        let qrels = qrels();
        // Query 9 is not judged; query 10 comes back as well, but later.
        let again = "\n10 Q0 a 1 1 t\n2 Q0 c 1 1 t\n10 Q0 b 1 1 t\n1 Q0 d 1 1 t\n2 Q0 d 1 1 t\n";
        let text = [GROUPED, again].concat();
        let line = text.lines().count() - 3;
        for size in 1..=text.len() {
            let error =
                passed(Join::default(), &qrels, size, |run| run.text(&mut text.as_bytes())).unwrap_err();
            assert!(
                error.starts_with(&format!("mine:{line}: query 2 comes back, but its earlier results")),
                "{size} {error}"
            );
            let parts = |run: &mut PassingRun<'_, KeepAll>| {
                run.text(&mut GROUPED.as_bytes())?;
                run.text(&mut &again.as_bytes()[1..])
            };
            let error = passed(Join::default(), &qrels, size, parts).unwrap_err();
            assert!(error.starts_with(&format!("mine:{line}: query 2 comes back")), "{size} {error}");
        }
    }

    /// A result, to be written as text and as columns.
    type Row = (&'static str, &'static str, i64, f64);

    const ROWS: &[Row] = &[
        ("2", "x", 1, 9.5),
        ("2", "a", 2, 9.5),
        ("2", "b", 3, 1.0),
        ("7", "b", 1, 1.0),
        ("1", "a", 1, 4.0),
        ("1", "c", 2, 5.0),
        ("1", "y", 3, 4.0),
        ("1", "z", 4, 4.0),
        ("10", "a", 1, f64::INFINITY),
    ];

    /// Passes rows in batches, each of which begins where the one before ends.
    fn push(
        rows: &[Row],
        ends: &[usize],
        shape: impl Fn(usize) -> (bool, bool),
        run: &mut PassingRun<'_, KeepAll>,
    ) -> Result<Option<()>> {
        let mut start = 0;
        for (number, &end) in ends.iter().enumerate() {
            let rows = &rows[start..end];
            start = end;
            let (queries, docs): (Vec<&str>, Vec<&str>) = rows.iter().map(|row| (row.0, row.1)).unzip();
            let (ranks, scores): (Vec<i64>, Vec<f64>) = rows.iter().map(|row| (row.2, row.3)).unzip();
            let (scored, ranked) = shape(number);
            let records = Records {
                query: Text::from(&queries),
                doc: Text::from(&docs),
                score: scored.then_some((&scores).into()),
                rank: ranked.then_some((&ranks).into()),
            };
            run.columns(&records)?;
        }
        Ok(Some(()))
    }

    #[test]
    fn columns_that_go_by_are_ranked_as_the_whole_columns_wherever_batches_end() {
        let (qrels, join, count) = (qrels(), Join::default(), ROWS.len());
        for (scored, ranked) in [(true, false), (true, true), (false, true)] {
            let all = |run: &mut PassingRun<'_, KeepAll>| push(ROWS, &[count], |_| (scored, ranked), run);
            let expected = passed(join.clone(), &qrels, 1, all).unwrap();
            assert_eq!(expected.0.len(), 3);
            for cuts in 0..1u32 << (count - 1) {
                let ends: Vec<usize> =
                    (1..count).filter(|end| cuts >> (end - 1) & 1 == 1).chain([count, count]).collect();
                let cut = |run: &mut PassingRun<'_, KeepAll>| push(ROWS, &ends, |_| (scored, ranked), run);
                assert_eq!(passed(join.clone(), &qrels, 1, cut).unwrap(), expected, "{ends:?}");
                let mixed = |run: &mut PassingRun<'_, KeepAll>| {
                    push(ROWS, &ends, |number| (true, number % 2 == 0), run)
                };
                if scored {
                    assert_eq!(passed(join.clone(), &qrels, 1, mixed).unwrap().0, expected.0, "{ends:?}");
                }
            }
        }
        let text: String = ROWS
            .iter()
            .map(|(query, doc, rank, score)| format!("{query} 0 {doc} {rank} {score} t\n"))
            .collect();
        let expected = whole(join.clone(), &qrels, &text.replace("inf", "1e300")).unwrap();
        let all = |run: &mut PassingRun<'_, KeepAll>| push(ROWS, &[4, count], |_| (true, true), run);
        let (rankings, info) = passed(join.clone(), &qrels, 1, all).unwrap();
        assert_eq!(
            (rankings, info.seen, info.results, info.ignored),
            (expected.0, expected.1.seen, expected.1.results, expected.1.ignored)
        );
    }

    #[test]
    fn what_is_wrong_with_columns_is_said_by_row_of_all_batches() {
        let (qrels, join) = (qrels(), Join::default());
        for ends in [&[10, 11][..], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], &[8, 11], &[11], &[2, 10, 11]] {
            let wrong = |at: usize, row: Row| {
                let mut rows = ROWS.to_vec();
                rows.insert(at, row);
                rows.push(("12", "a", 1, 1.0));
                let fed = |run: &mut PassingRun<'_, KeepAll>| push(&rows, ends, |_| (true, false), run);
                passed(join.clone(), &qrels, 1, fed).unwrap_err()
            };
            let again = wrong(7, ("1", "c", 9, 1.0));
            assert_eq!(again, "mine:8: docno 'c' occurs again for query '1', first on line 6", "{ends:?}");
            assert_eq!(wrong(8, ("1", "k", 9, f64::NAN)), "mine:9: score NaN is not a number", "{ends:?}");
            let back = wrong(9, ("2", "k", 9, 1.0));
            assert!(back.starts_with("mine:10: query 2 comes back"), "{back} {ends:?}");
        }
        let other =
            |run: &mut PassingRun<'_, KeepAll>| push(ROWS, &[2, 9], |number| (number == 0, number == 1), run);
        let error = passed(join.clone(), &qrels, 1, other).unwrap_err();
        assert_eq!(error, "mine: some batches have scores, and others ranks alone");
        let rank = Join { ties: Ties::Rank, ..join };
        let error = passed(rank, &qrels, 1, |run| push(ROWS, &[9], |_| (true, true), run)).unwrap_err();
        assert!(error.starts_with("rankings in memory have no rank column"), "{error}");
    }
}
