//! A run that is read once, from text or from batches of columns, and ranked query by query.

use std::{
    io::Read,
    mem,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64},
    },
};

use super::ranking_sink::{NO_PLACE, RankingForwarder, RankingSink, flush, place_to_position};
use crate::columns::{CheckedColumns, PendingQuery, RunColumns};
use crate::error::{Error, Problems, Result};
use crate::format::RowLayout;
use crate::join::{
    aggregate::AggregateCounts,
    exclusion::ExclusionCounts,
    qrels::Qrels,
    repairs::RetrievedSample,
    run::{JoinContext, RunRankings, RunReader, empty_run, unjudged},
};
use crate::lines::{
    chunks::{ChunkSize, CutRule, last_query_end},
    diagnostics::{self, Diagnostics, whole_file},
    layout::SortBy,
    shape::Role,
};
use crate::matrix::{RunInfo, ScoreWarnings};
use crate::record::{
    columns::ColumnSource,
    reader::{InOrder, RowSource, TextSource},
};
use crate::settings::Join;
use crate::text::Purpose;

/// A run that is read once from text or columns. Each query is ranked, and its ranking is passed to
/// a sink, the taker of rankings of the worker.
pub struct StreamingRun<'q, T> {
    joining: JoinContext<'q>,
    /// What is known of the run so far: its names, the number of its results, its last tag.
    info: RunInfo,
    /// Whether ranks decide, and not scores; known once there are rows.
    by_rank: Option<bool>,
    /// Where each query of the qrels began, to find a query that comes back.
    places: Vec<AtomicU64>,
    /// The workers of all readings so far, between readings.
    workers: Vec<RankingWorker<'q, T>>,
    /// A function that makes the taker of rankings for a worker.
    make: Box<dyn Fn() -> T + Send + Sync + 'q>,
    /// The sizes of chunks of text.
    pub(super) size: ChunkSize,
    /// The numbers of chunks and lines so far; a row of columns counts as a line.
    chunks: u64,
    lines: u64,
    /// The format of the text, if it is text.
    form: RowLayout,
    is_text: bool,
    repeats: Problems,
    /// The rows of the last query of columns, which may continue in the next batch.
    pending: PendingQuery,
}

/// The state that a worker of a streamed run keeps from one text or batch of columns to the next:
/// its reader, its rankings that wait for the sink, and the sink.
type RankingWorker<'q, T> = (RunReader<'q>, RunRankings<'q>, T);

impl<'q, T: RankingSink> StreamingRun<'q, T> {
    /// Makes a streamed run called `name`, before any of its results have come. `source` is the
    /// name of its source in messages; `make` makes the taker of rankings for a worker.
    ///
    /// # Errors
    /// Qrels read in another dialect; settings of units that contradict the order of ties.
    pub fn new(
        join: &Join,
        qrels: &'q Qrels,
        name: &str,
        source: &str,
        make: impl Fn() -> T + Send + Sync + 'q,
    ) -> Result<Self> {
        join.check_dialect(qrels)?;
        join.check_units()?;
        let join = Join { watch: None, keep_ties: false, ..join.clone() };
        Ok(Self {
            joining: join.context(qrels),
            info: RunInfo {
                name: name.to_owned(),
                source: source.to_owned(),
                ..RunInfo::default()
            },
            by_rank: None,
            places: (0..qrels.queries().len()).map(|_| AtomicU64::new(NO_PLACE)).collect(),
            workers: Vec::new(),
            make: Box::new(make),
            size: ChunkSize::default(),
            chunks: 0,
            lines: 0,
            form: RowLayout::trec(),
            is_text: false,
            repeats: Problems::default(),
            pending: PendingQuery::default(),
        })
    }

    /// Recognises the format of a streamed run's text by its first bytes, `start`.
    ///
    /// # Errors
    /// A text that cannot be a run.
    pub fn detect_format(&mut self, start: &[u8]) -> Result<()> {
        let purpose = Purpose::Run(self.joining.qrels.aligned());
        let (settings, name) = (self.joining.join.read_settings(), &self.info.source);
        let detected = settings.detect(purpose, name, Some(start), None);
        self.form = detected.map_err(|other| other.problems(Role::Run, name))?;
        Ok(())
    }

    /// Returns the number of bytes at the start of a run text that are whole queries, if the lines
    /// of each query are together. `None` if the format has no lines, so that no end of a query is
    /// found in the text.
    pub fn complete_bytes(&self, text: &[u8]) -> Option<usize> {
        self.form.lines().map(|rule| last_query_end(text, rule))
    }

    /// Ranks the queries of a run text, read to its end; returns `None` if a taker of rankings
    /// wanted no more. The end of the text ends its last query too.
    ///
    /// # Errors
    /// An error of the reader; the problems of all lines; a query that comes back; ranks where
    /// scores are needed, or the reverse.
    pub fn text(&mut self, text: &mut (dyn Read + Send)) -> Result<Option<()>> {
        self.ranks(self.form.order())?;
        self.joining.check_ties(&self.info.source, self.form.order())?;
        self.is_text = true;
        if !self.end_pending()? {
            return Ok(None);
        }
        let (name, before) = (self.info.source.clone(), self.chunks);
        let form = mem::replace(&mut self.form, RowLayout::trec());
        let size = self.size;
        let blocks = form.blocks(Box::new(text), |rule| CutRule::between_queries(size, rule));
        let mut blocks = blocks.map_err(|error| Error::unreadable(&name, error))?;
        let went_on = self.read(&TextSource::passing(&name, &form, size, &mut *blocks));
        drop(blocks);
        // The next text continues the table of this text, so its first line is not a header.
        self.form = if self.chunks == before { form } else { form.without_header() };
        Ok(went_on?.then_some(()))
    }

    /// Ranks the queries of a batch of columns, except the last, which may continue in the next
    /// batch. Returns `None` if a taker of rankings wanted no more.
    ///
    /// # Errors
    /// Invalid columns; a query that comes back; ranks where scores are needed, or the reverse.
    pub fn columns(&mut self, records: &RunColumns<'_>) -> Result<Option<()>> {
        self.joining.join.check_in_memory(self.joining.qrels)?;
        let name = self.info.source.clone();
        // Messages count results through all batches. They cannot name rows of tables with lists:
        // for that the tables of earlier batches would be needed, and these are gone.
        let records = RunColumns { lists: None, ..*records };
        let batch = std::slice::from_ref(&records);
        let columns = CheckedColumns::from_run(&name, batch, self.joining.qrels.seed())
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
        let went_on = first == last || self.read(&source)?;
        self.pending.push(&columns, last..columns.rows());
        Ok(went_on.then_some(()))
    }

    /// Notes whether ranks or scores order the results of the run, and rejects a change between
    /// batches.
    fn ranks(&mut self, order: SortBy) -> Result<()> {
        self.joining.check_units(&self.info.source, order)?;
        let by_rank = !matches!(order, SortBy::Scores { .. });
        if *self.by_rank.get_or_insert(by_rank) == by_rank {
            return Ok(());
        }
        let message = "some batches have scores, and others ranks alone".to_owned();
        Err(whole_file(&self.info.source, message).into())
    }

    /// Shifts the line numbers of an error in a later batch, so that they count from the start of
    /// the run.
    fn later(&self, mut error: Error) -> Error {
        let before = self.lines + self.pending.rows();
        if let Error::Input(problems) = &mut error {
            // Line 0 stands for the whole input.
            let with_line = problems.first.iter_mut().filter(|problem| problem.line > 0);
            with_line.for_each(|problem| problem.line += before);
        }
        error
    }

    /// Ranks the last query of the batches of columns so far, which had to wait for its end.
    fn end_pending(&mut self) -> Result<bool> {
        let pending = mem::take(&mut self.pending);
        if pending.rows() == 0 {
            return Ok(true);
        }
        let (name, id) = (self.info.source.clone(), pending.query_text());
        let parts = pending.records(&id);
        let columns = CheckedColumns::from_run(&name, &parts, self.joining.qrels.seed())?;
        self.read(&ColumnSource::some(&columns, 0..columns.rows()))
    }

    /// Reads rows of the run, and ranks its queries; returns whether the takers of rankings want
    /// more.
    fn read(&mut self, source: &impl RowSource) -> Result<bool> {
        let before = self.lines;
        let (joining, order) = (&self.joining, source.order());
        let (places, chunks, make) = (&self.places, self.chunks, &self.make);
        let stop = AtomicBool::new(false);
        let spare = Mutex::new(mem::take(&mut self.workers));
        // Workers of the reading before are used again, with the rankings that they hold. So the
        // rankings of many small batches of columns are passed to a sink together.
        let (mut read, keeps) = source.read(&stop, joining.qrels.seed(), || {
            let spare = spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let (results, rankings, take) = spare.unwrap_or_else(|| {
                (RunReader::new(joining), RunRankings::new(joining, order), make())
            });
            let taking =
                RankingForwarder { places, chunks, rankings, take, back: None, refused: false };
            (results, InOrder::new(taking, &stop, false))
        })?;
        let lines = read.lines();
        let (mut back, mut went_on, mut tag) = (None::<(u64, u32)>, true, Default::default());
        let (mut findings, mut repeats) = (mem::take(&mut read.findings), Diagnostics::default());
        // Spare workers that this reading did not need stay, with the rankings they hold.
        let mut workers = spare.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (mut results, keep) in read.rows.into_iter().zip(keeps) {
            let RankingForwarder { mut rankings, take, back: came, refused, .. } = keep.make;
            went_on &= !refused && !take.is_stopped();
            back = back.into_iter().chain(came).min();
            tag = mem::take(&mut results.tag).max(tag);
            findings.merge(mem::take(&mut rankings.ranker.wrong_ranks));
            let repeated = mem::take(&mut rankings.findings);
            if joining.rules.late_repeats { &mut repeats } else { &mut findings }.merge(repeated);
            workers.push((results, rankings, take));
        }
        self.workers = workers;
        let file = &self.info.source;
        let line_of = |line: u64| source.line(before + line);
        if let Some((place, query)) = back {
            let line = line_of(place_to_position(place, self.chunks).in_all(&lines));
            let query = joining.qrels.queries().get(query as usize).to_vec();
            return Err(Error::QueryNotContiguous { file: file.clone(), line, query });
        }
        if !went_on {
            return Ok(false);
        }
        findings.into_problems(file, line_of, &lines).into_result(())?;
        let repeats = repeats.into_problems(file, line_of, &lines);
        self.repeats = diagnostics::join([mem::take(&mut self.repeats), repeats]);
        self.chunks += lines.len() as u64;
        self.lines += lines.iter().sum::<u64>();
        self.info.results += read.count;
        // The last tag of the run counts, and its last batch may have no tag.
        if !tag.1.is_empty() {
            self.info.tag = tag.1;
        }
        Ok(true)
    }

    /// Returns the number of results of the run so far.
    pub fn results(&self) -> u64 {
        self.info.results + self.pending.rows()
    }

    /// Returns the takers of rankings of all workers so far.
    pub fn sinks(&mut self) -> impl Iterator<Item = &mut T> {
        self.workers.iter_mut().map(|(.., take)| take)
    }

    /// Passes on the remaining rankings, and returns facts about the run; `None` if a taker wanted
    /// no more.
    ///
    /// # Errors
    /// The errors of [`Self::columns`], for the last query; a run without results, or without a
    /// query of the qrels; a rule of units that changes nothing; repeated documents.
    pub fn finish(&mut self) -> Result<Option<FinishedRun>> {
        if !self.end_pending()? {
            return Ok(None);
        }
        let (mut seen, mut units) = (ScoreWarnings::default(), AggregateCounts::default());
        let (mut sample, mut excluded) = (RetrievedSample::default(), ExclusionCounts::default());
        for (_, rankings, take) in &mut self.workers {
            if !flush(rankings, take) {
                return Ok(None);
            }
            seen.merge(rankings.ranker.seen);
            sample.merge(mem::take(&mut rankings.sample));
            excluded.append(&mut rankings.excluded);
            rankings.uniting.iter().for_each(|uniting| units.merge(uniting.seen.clone()));
        }
        let ignored = unjudged(self.workers.iter().map(|(results, ..)| &results.ignored));
        let seen = seen.beside(self.joining.qrels.codebook());
        let info = RunInfo { ignored, seen, units: units.counts, ..self.info.clone() };
        let places = self.places.iter_mut();
        let seen_queries: Vec<_> = places.map(|place| *place.get_mut() != NO_PLACE).collect();
        let expected = if self.is_text { self.form.expected(Role::Run) } else { String::new() };
        let joined = seen_queries.contains(&true);
        if let Some(empty) = empty_run(&info, &units, joined, &self.joining, expected) {
            return Err(empty.into());
        }
        self.joining.note_repair(&self.info.source, &sample);
        self.joining.note_excluded(&self.info.name, excluded);
        let evaluated =
            (0..).zip(&seen_queries).filter(|(_, is_seen)| **is_seen).map(|(query, _)| query);
        let repeats = mem::take(&mut self.repeats);
        let repeats = diagnostics::join([self.joining.qrels.repeats_in(evaluated), repeats]);
        if repeats.first.is_empty() {
            Ok(Some(FinishedRun { info, seen_queries }))
        } else {
            Err(Error::Duplicate(repeats))
        }
    }
}

/// The facts about a streamed run that was read to its end: counts, and which queries of the qrels
/// the run had.
pub struct FinishedRun {
    pub info: RunInfo,
    /// For each query of the qrels, whether the run had the query.
    pub seen_queries: Vec<bool>,
}
