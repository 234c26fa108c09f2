//! The run that passes.

use std::io::Read;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use super::starts::{QueryStarts, of_place};
use super::taking::{TakeRankings, TakingRankings, hand_on};
use crate::columns::{CheckedColumns, PendingQuery, Records};
use crate::error::{Error, Problems, Result};
use crate::format::Form;
use crate::join::qrels::Qrels;
use crate::join::repairs::RetrievedSample;
use crate::join::run::{
    Joining, Results, RunRankings, check_ties, ignored, nothing_in_it, units_change_nothing,
};
use crate::join::united::UnitsSeen;
use crate::lines::chunks::{ChunkSize, complete};
use crate::lines::diagnostics;
use crate::lines::diagnostics::{Findings, whole_file};
use crate::lines::layout::Order;
use crate::lines::shape::Role;
use crate::matrix::{RunInfo, ScoresSeen};
use crate::record::columns::ColumnSource;
use crate::record::reader::{Source, TextSource, Together};
use crate::settings::Join;
use crate::text::Purpose;

/// A run that is read once, query by query, from text or columns.
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
    /// The sizes of chunks of text.
    pub(super) size: ChunkSize,
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

impl<'q, T> RankingWorker<'q, T> {
    /// Makes a worker without results, with a taker of rankings from `make`.
    fn new(joining: &Joining<'q>, order: Order, make: impl FnOnce() -> T) -> Self {
        RankingWorker {
            results: Results::new(joining),
            rankings: RunRankings::new(joining, order),
            take: make(),
        }
    }
}

impl<'q, T: TakeRankings> PassingRun<'q, T> {
    /// Makes a run called `name`, of a source with its own name in messages, before any of it has
    /// come; `make` makes the taker of rankings for a worker.
    ///
    /// # Errors
    /// Qrels read in another dialect.
    pub fn new(
        join: &Join,
        qrels: &'q Qrels,
        (name, source): (&str, &str),
        make: impl Fn() -> T + Send + Sync + 'q,
    ) -> Result<Self> {
        join.check_dialect(qrels)?;
        join.check_units()?;
        let Joining { rule, rules, drop_identical_ids, units, recognised, .. } =
            join.joining(qrels);
        let joining = Joining {
            qrels,
            rule,
            rules,
            keep_ties: false,
            part: join.part,
            may_be_empty: join.part,
            drop_identical_ids,
            units,
            watch: None,
            recognised,
        };
        let places = QueryStarts::new(qrels.queries().len());
        Ok(PassingRun {
            join: Join { watch: None, ..join.clone() },
            joining,
            name: name.to_owned(),
            source: source.to_owned(),
            by_rank: None,
            places,
            workers: Vec::new(),
            make: Box::new(make),
            size: ChunkSize::default(),
            chunks: 0,
            lines: 0,
            results: 0,
            tag: Vec::new(),
            form: Form::trec(),
            is_text: false,
            repeats: Problems::default(),
            pending: PendingQuery::default(),
        })
    }

    /// Recognises the format of text that starts with `start`.
    ///
    /// # Errors
    /// A text that cannot be a run.
    pub fn tell(&mut self, start: &[u8]) -> Result<()> {
        let purpose = Purpose::Run(self.joining.qrels.partner());
        let told = self.join.read_settings().tell(purpose, &self.source, Some(start), None);
        self.form = told.map_err(|other| Error::Input(other.problems(Role::Run, &self.source)))?;
        Ok(())
    }

    /// Returns how many bytes of a text that continues are whole queries, as far as their lines are
    /// together; `None` if rows are made of the text.
    pub fn complete(&self, text: &[u8]) -> Option<usize> {
        self.form.made().is_none().then(|| complete(text, self.form.table()))
    }

    /// Reads text to its end, which ends its last query too; returns `None` if a taker wanted no
    /// more.
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
        let went_on =
            self.read(&TextSource::passing(&name, &form, self.size, &mut *rows), self.lines);
        drop(rows);
        // The next text continues the table of this text, so its first line is not a header.
        self.form = if self.chunks == before { form } else { form.without_header() };
        Ok(went_on?.then_some(()))
    }

    /// Reads a batch of columns except for its last query, which may continue in the next batch;
    /// returns `None` if a taker wanted no more.
    ///
    /// # Errors
    /// Invalid columns; a query that comes back.
    pub fn columns(&mut self, records: &Records<'_>) -> Result<Option<()>> {
        self.join.check_ties_in_memory()?;
        let name = self.source.clone();
        // Rows are counted through all batches, as results and not as rows of tables that may have
        // lists: the tables of earlier batches are gone.
        let records = Records { lists: None, ..*records };
        let batch = std::slice::from_ref(&records);
        let columns = CheckedColumns::of_run(&name, batch, self.joining.qrels.seed())
            .map_err(|e| self.later(e))?;
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
        self.joining.check_units(&self.source, order)?;
        let by_rank = !matches!(order, Order::Scores { .. });
        if *self.by_rank.get_or_insert(by_rank) == by_rank {
            return Ok(());
        }
        let message = "some batches have scores, and others ranks alone".to_owned();
        Err(Error::Input(whole_file(&self.source, message)))
    }

    /// Adapts an error of a later batch to the run: its lines count from the start of the run.
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
        let (joining, order) = (&self.joining, source.order());
        let (places, chunks, make) = (&self.places, self.chunks, &self.make);
        let stop = AtomicBool::new(false);
        let spare = Mutex::new(std::mem::take(&mut self.workers));
        let worker = || {
            let spare = spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let RankingWorker { results, rankings, take } =
                spare.unwrap_or_else(|| RankingWorker::new(joining, order, make));
            let taking =
                TakingRankings { places, chunks, rankings, take, back: None, refused: false };
            (results, Together::new(taking, &stop))
        };
        // Workers of the reading before are used again, with their rankings: a batch of columns
        // need not be a block.
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
        self.repeats = diagnostics::join([
            std::mem::take(&mut self.repeats),
            repeats.into_problems(file, line, &lines),
        ]);
        self.count(&lines, read.count, tag.1);
        Ok(true)
    }

    /// Counts chunks with these numbers of lines, and results of which the last has this tag.
    fn count(&mut self, lines: &[u64], results: u64, tag: Vec<u8>) {
        self.chunks += lines.len() as u64;
        self.lines += lines.iter().sum::<u64>();
        self.results += results;
        // The last tag counts, and the last batch may have none.
        if !tag.is_empty() {
            self.tag = tag;
        }
    }

    /// Returns the number of results.
    pub fn results(&self) -> u64 {
        self.results + self.pending.rows()
    }

    /// Returns the takers of rankings so far.
    pub fn takers(&mut self) -> impl Iterator<Item = &mut T> {
        self.workers.iter_mut().map(|worker| &mut worker.take)
    }

    /// Passes on the remaining rankings, and returns facts about the run; `None` if a taker wanted
    /// no more.
    ///
    /// # Errors
    /// As for more rows; no result at all; no query of the qrels.
    pub fn finish(&mut self) -> Result<Option<Passed>> {
        if !self.end_pending()? {
            return Ok(None);
        }
        let (mut seen, mut units) = (ScoresSeen::default(), UnitsSeen::default());
        let mut sample = RetrievedSample::default();
        for RankingWorker { rankings, take, .. } in &mut self.workers {
            if !hand_on(rankings, take) {
                return Ok(None);
            }
            seen.merge(rankings.ranker.seen);
            sample.merge(std::mem::take(&mut rankings.sample));
            rankings.uniting.iter().for_each(|uniting| units.merge(uniting.seen.clone()));
        }
        let (results, takers): (Vec<_>, Vec<_>) = std::mem::take(&mut self.workers)
            .into_iter()
            .map(|worker| (worker.results, (worker.rankings, worker.take)))
            .unzip();
        let ignored = ignored(&results);
        let parts = results.into_iter().zip(takers);
        self.workers = parts
            .map(|(results, (rankings, take))| RankingWorker { results, rankings, take })
            .collect();
        let (name, source, tag) = (self.name.clone(), self.source.clone(), self.tag.clone());
        let seen = seen.beside(self.joining.qrels.book());
        let info = RunInfo {
            name,
            tag,
            source,
            results: self.results,
            ignored,
            seen,
            units: units.counts,
        };
        let met = self.places.met();
        let expected = if self.is_text { self.form.expected(Role::Run) } else { String::new() };
        if let Some(message) = nothing_in_it(&info, met.contains(&true), &self.joining, expected)
            .or_else(|| units_change_nothing(&units, &self.joining))
        {
            return Err(Error::Input(whole_file(&self.source, message)));
        }
        self.joining.note_repair(&self.source, &sample);
        let evaluated = (0..).zip(&met).filter(|(_, met)| **met).map(|(query, _)| query);
        let repeats = std::mem::take(&mut self.repeats);
        let repeats = diagnostics::join([self.joining.qrels.repeats_in(evaluated), repeats]);
        if repeats.first.is_empty() {
            Ok(Some(Passed { info, met }))
        } else {
            Err(Error::Repeated(repeats))
        }
    }
}

/// A completely read run.
pub struct Passed {
    pub info: RunInfo,
    /// Whether the run had each query of the qrels.
    pub met: Vec<bool>,
}
