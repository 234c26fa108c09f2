//! A run: its lines are joined with the judgments, and ranked, to rows of labels.
//!
//! The first pass assumes that the lines of a query are together. If a query comes back later, the
//! run is read again for lines in any order.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use super::picks::Picks;
use super::qrels::Qrels;
use super::rank::Ranker;
use super::repairs::RetrievedSample;
use super::united::{Uniting, UnitsAsked, UnitsSeen};
use crate::bytes::interner::Interner;
use crate::error::{Error, Result, printable_path};
use crate::format::Recognised;
use crate::ids::Unmatched;
use crate::lines::diagnostics::{Finding, Findings, RunProblems, quoted, whole_file};
use crate::lines::dialect::Rules;
use crate::lines::layout::{Order, RankColumn, not_counted};
use crate::lines::options::OptionStyle;
use crate::lines::shape::Role;
use crate::matrix::code::MAX_GRADES;
use crate::matrix::{Above, Codebook, RunInfo, StagedPiece, StagedRow, StagedRun, StagedTies};
use crate::record::by_query::{Scattered, each_query};
use crate::record::packed::{ColumnRows, Docnos, Record, rank_of_key, score_of_key, sort_key};
use crate::record::reader::{Make, RowReader, Source, Together, WorkerResults};
use crate::repeats::Repeats;
use crate::rule::{RankingRule, ScoreType, Ties};
use crate::settings::Join;
use crate::units::rule::Units;
use crate::watch::{Watch, not_stopped};

/// The settings of a join that all workers share.
#[derive(Clone)]
pub struct Joining<'a> {
    pub qrels: &'a Qrels,
    pub rule: RankingRule,
    pub rules: Rules,
    /// Whether tied groups are kept.
    pub keep_ties: bool,
    /// Whether the rows are a part of a run, which need have no query of the qrels.
    pub part: bool,
    /// Whether there may be no rows at all.
    pub may_be_empty: bool,
    /// Whether documents are left out whose id is the id of their query.
    pub drop_identical_ids: bool,
    /// What is done with the units of results, if anything is.
    pub(crate) units: Option<Arc<UnitsAsked>>,
    /// The watch, through which a caller may stop the work.
    pub watch: Option<&'a Watch>,
    /// The list of recognised formats and notes.
    pub(crate) recognised: Option<Arc<Recognised>>,
}

impl Joining<'_> {
    /// Makes a ranker of a rule for what is made of results.
    pub(crate) fn ranker(&self, rule: RankingRule, late: bool) -> Ranker {
        match &self.units {
            Some(asked) => Ranker::of_units(asked, rule),
            None => Ranker::new(rule, late),
        }
    }

    /// Rejects results without scores, if the rule of repeated units computes scores.
    pub(crate) fn check_units(&self, name: &str, order: Order) -> Result<()> {
        let makes_scores = self.units.as_ref().is_some_and(|asked| asked.repeats.makes_scores());
        if !makes_scores || matches!(order, Order::Scores { .. }) {
            return Ok(());
        }
        Err(Error::Unanswerable(format!(
            "{}: has ranks and no scores that could be added: take --repeats first or blank",
            printable_path(name.as_ref())
        )))
    }

    /// Tells why hardly a document of a run is judged, if a change of ids would mend that.
    pub(crate) fn note_repair(&self, name: &str, sample: &RetrievedSample) {
        if let Some(recognised) = self.recognised.as_ref().filter(|_| !self.part)
            && let Some(what) = sample.repair(self.qrels)
        {
            recognised.doubt(name, what);
        }
    }

    /// Returns whether repeated results may be dropped, if there are many results. Where repeats
    /// matter only among the first results, none may be dropped before the first results are known.
    /// Where repeats are no error, each repeat may count.
    pub(crate) fn may_thin(&self) -> bool {
        let are_errors = self.units.as_ref().is_none_or(|asked| asked.repeats == Repeats::Error);
        are_errors && !self.rules.late_repeats
    }

    /// Rejects exact grades if tied groups are to be kept: where codes are classes of grades,
    /// labels do not tell the mixed groups.
    pub fn check_exact(&self) -> Result<()> {
        if !self.keep_ties || self.qrels.exact().is_none() {
            return Ok(());
        }
        Err(Error::Unanswerable(format!(
            "{} has more than {MAX_GRADES} distinct grades, over which the orders of equal scores \
             cannot be evaluated: round the grades, \
             or take the order of the ranking",
            printable_path(self.qrels.name().as_ref())
        )))
    }
}

/// Reads a run called `name`; returns the usable results and the problems.
pub(crate) fn read(
    source: &impl Source,
    name: &str,
    joining: Joining<'_>,
) -> Result<(StagedRun, RunProblems)> {
    let (qrels, seed, order) = (joining.qrels, joining.qrels.seed(), source.order());
    check_ties(source.name(), order, joining.rule.ties)?;
    joining.check_units(source.name(), order)?;
    joining.check_exact()?;
    let (met, back) = (QueriesMet::new(qrels.queries().len()), AtomicBool::new(false));
    let thinning = joining.may_thin();
    let worker = || {
        let rankings = FirstRankings { met: &met, rankings: RunRankings::new(&joining, order) };
        (Results::new(&joining), Together::new(rankings, &back).thinning(thinning))
    };
    let (mut read, grouped) = source.read(&back, seed, worker)?;
    if !back.load(Ordering::Relaxed) {
        read.findings.leave_out(grouped.iter().map(|keep| keep.dropped).sum());
        let rankings = grouped.into_iter().map(|keep| keep.make.rankings).collect();
        return Ok(finish(read, rankings, name, source, &joining));
    }
    let scattered = || Scattered::new(qrels.queries().len()).of(source.whole()).thinning(thinning);
    let worker = || (Results::new(&joining).anywhere(), scattered());
    let (mut read, scattered) = source.read(&AtomicBool::new(false), seed, worker)?;
    read.findings.leave_out(scattered.iter().map(Scattered::dropped).sum());
    let rankings = || RunRankings::new(&joining, order);
    let rankings =
        each_query(scattered, source.whole(), joining.watch, rankings, RunRankings::rank);
    not_stopped(joining.watch)?;
    Ok(finish(read, rankings, name, source, &joining))
}

/// Rejects results without ranks, if ranks are to order equal scores.
pub(crate) fn check_ties(name: &str, order: Order, ties: Ties) -> Result<()> {
    match (ties, order) {
        (Ties::Rank, Order::Scores { ranks: RankColumn::None } | Order::RankScores { .. }) => {
            Err(Error::Unanswerable(format!(
                "{} has no ranks beside its scores that could order equal ones: take other ties \
                 than `rank`",
                printable_path(name.as_ref())
            )))
        }
        _ => Ok(()),
    }
}

/// The state of a worker that reads the results of a run.
pub(crate) struct Results<'a> {
    qrels: &'a Qrels,
    rules: Rules,
    rule: RankingRule,
    /// The only queries whose rows are kept; `None` if these are all judged queries.
    picks: Option<&'a Picks>,
    /// The last judged query.
    last: Option<u32>,
    /// Whether queries come in any order, so that the next query cannot be guessed.
    anywhere: bool,
    /// The queries without judgments.
    ignored: Interner,
    /// The number of the last chunk with a tag, and the tag of its last line.
    pub tag: (u64, Vec<u8>),
}

impl<'a> Results<'a> {
    pub fn new(joining: &Joining<'a>) -> Self {
        let Joining { qrels, rules, .. } = *joining;
        let rule = joining.rule.clone();
        Results {
            qrels,
            rules,
            rule,
            picks: None,
            last: None,
            anywhere: false,
            ignored: Interner::new(qrels.seed()),
            tag: (0, Vec::new()),
        }
    }

    /// Expects the queries of rows in any order.
    pub fn anywhere(self) -> Self {
        Results { anywhere: true, ..self }
    }

    /// Restricts rows to the queries of `picks`.
    pub fn of(self, picks: &'a Picks) -> Self {
        Results { picks: Some(picks), ..self }
    }
}

impl RowReader<6> for Results<'_> {
    const ROLE: Role = Role::Run;

    fn rules(&self) -> Rules {
        self.rules
    }

    /// The sort key of a score.
    #[inline(always)]
    fn key(&self, score: f64) -> u64 {
        sort_key(score, self.rule.score)
    }

    fn reads_ranks(&self) -> bool {
        self.rule.ties == Ties::Rank
    }

    fn query(&mut self, text: &[u8], place: [usize; 2]) -> Option<u32> {
        let [start, end] = place;
        let query = if self.anywhere {
            self.qrels.query_in(text, place)
        } else {
            self.qrels.query_after(self.last, &text[start..end])
        };
        match query {
            Some(_) => self.last = query,
            None => drop(self.ignored.insert(&text[start..end])),
        }
        self.picks.map_or(query, |picks| picks.number(&text[start..end], query))
    }

    fn end_chunk(&mut self, chunk: u64, last: &[u8]) {
        self.tag = (chunk, last.to_vec());
    }
}

/// The set of queries of the qrels that a run has had so far.
struct QueriesMet(Vec<AtomicU64>);

impl QueriesMet {
    fn new(queries: usize) -> Self {
        QueriesMet((0..queries.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    /// Marks a query; returns `false` if it was marked before.
    fn first_time(&self, query: u32) -> bool {
        let bit = 1 << (query % 64);
        self.0[query as usize / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }
}

/// The rows of labels of a worker, with its ranker and buffers.
pub(crate) struct RunRankings<'a> {
    qrels: &'a Qrels,
    pub ranker: Ranker,
    pub staged: StagedPiece,
    pub findings: Findings,
    /// The codes and the keys of the named documents of the query at hand, if keys are kept.
    keys: Vec<(u8, u64)>,
    order: Order,
    pub drop_identical_ids: bool,
    /// The merger of results into units, if results are merged.
    pub uniting: Option<Uniting>,
    /// Whether equal scores are ordered by the rank column.
    by_rank_column: bool,
    /// Some ids, to tell why hardly any document is judged.
    pub sample: RetrievedSample,
}

impl<'a> RunRankings<'a> {
    pub fn new(joining: &Joining<'a>, order: Order) -> Self {
        let Joining { qrels, rules, keep_ties, drop_identical_ids, .. } = *joining;
        let rule = joining.rule.clone();
        // Ranks are no scores. As F32, they are not looked at for ties that only f32 would have
        // (see `seen`).
        let rule = match order {
            Order::Scores { .. } => rule,
            Order::Ranks | Order::RankScores { .. } => {
                RankingRule { score: ScoreType::F32, ..rule }
            }
        };
        let by_rank_column = rule.ties == Ties::Rank;
        let ranker = joining.ranker(rule, rules.late_repeats);
        let uniting = joining.units.clone();
        let uniting = uniting
            .map(|asked| Uniting::new(asked, &joining.rule, qrels.seed(), drop_identical_ids));
        let (staged, findings, keys) = Default::default();
        let ranker = ranker.keeping_ties(keep_ties && !by_rank_column);
        RunRankings {
            qrels,
            ranker,
            staged,
            findings,
            keys,
            order,
            drop_identical_ids,
            uniting,
            by_rank_column,
            sample: RetrievedSample::default(),
        }
    }

    /// Returns the meaning of the codes.
    pub fn book(&self) -> &'a Codebook {
        self.qrels.book()
    }

    /// Returns the id of the query `query` of the qrels.
    pub fn id(&self, query: u32) -> &'a [u8] {
        self.qrels.queries().get(query as usize)
    }

    /// Ranks the results of one query.
    pub fn rank(&mut self, records: &[Record], docnos: Docnos<'_>) {
        let query = records[0].query;
        let id = self.id(query);
        let findings = &mut self.findings;
        match self.order {
            Order::Scores { .. } => {}
            Order::Ranks => report_equal_ranks(id, records, docnos, rank_of_key, findings),
            Order::RankScores { counted: None } => {
                report_equal_ranks(id, records, docnos, |key| -score_of_key(key) as i64, findings);
            }
            Order::RankScores { counted: Some(options) } => {
                report_uncounted(records, docnos, options, findings);
            }
        }
        self.unite(id, records, docnos);
        let Some(uniting) = self.uniting.take() else {
            let records = &without_identical(id, records, docnos, self.drop_identical_ids);
            return self.label(query, records, docnos);
        };
        self.label(query, uniting.united(), uniting.docnos(&docnos));
        self.uniting = Some(uniting);
    }

    /// Merges the results of one query by unit, without ranking the results.
    pub fn unite(&mut self, query: &[u8], records: &[Record], docnos: Docnos<'_>) {
        let RunRankings { ranker, findings, uniting, by_rank_column, .. } = self;
        let Some(uniting) = uniting else { return };
        let ranked = by_rank_column.then(|| ranker.by_rank_column(query, records, docnos));
        uniting.unite(query, ranked.as_deref().unwrap_or(records), docnos, findings);
    }

    /// Labels the results of one query, and stages its row.
    fn label(&mut self, query: u32, records: &[Record], docnos: Docnos<'_>) {
        let (id, judged) = (self.id(query), self.qrels.judged(query));
        let RunRankings { ranker, staged, findings, sample, .. } = self;
        let StagedPiece { rows, labels, exact, numbers, .. } = staged;
        let first = labels.len();
        self.keys.clear();
        let keys = self.qrels.keeps_keys().then_some(&mut self.keys);
        let depth = ranker.rank(id, records, docnos, judged, (labels, keys), findings);
        let judged = self.keys.iter().filter(|(code, _)| Above::JUDGED.contains(*code));
        match self.qrels.facets() {
            // With facets, keys are the numbers of documents.
            Some(grouped) => {
                numbers.extend(self.keys.iter().map(|&(_, key)| key as u32));
                if self.qrels.exact().is_some() {
                    let grades = grouped.largest(query as usize);
                    exact.extend(judged.map(|&(_, key)| grades[key as usize]));
                }
            }
            None => exact.extend(judged.map(|&(_, key)| f64::from_bits(key))),
        }
        if sample.is_open() {
            sample.add(query, &labels[first..], |at| records[at], docnos);
        }
        rows.push(StagedRow { query, depth });
    }

    /// Ranks the results of a query that are together in the input, so that the order of their
    /// ranks is meaningful.
    pub fn rank_together(&mut self, records: &[Record], docnos: Docnos<'_>) {
        self.rank(records, docnos);
        if let Order::Scores { ranks } = self.order {
            self.ranker.seen.see_ranks(records.len(), |at| records[at], docnos, ranks);
        }
    }
}

impl RunRankings<'_> {
    /// Whether results may be ranked before they are records.
    fn takes_rows(&self) -> bool {
        matches!(self.order, Order::Scores { .. })
            && self.uniting.is_none()
            && !self.drop_identical_ids
            && !self.qrels.keeps_keys()
    }

    /// Does what `rank_together` does for rows of columns; returns `false`, and does nothing, if
    /// their records are needed.
    fn rank_rows(&mut self, rows: ColumnRows<'_>, docnos: Docnos<'_>) -> bool {
        let (judged, first) = (self.qrels.judged(rows.query), self.staged.labels.len());
        let Some(depth) = self.ranker.rank_rows(rows, docnos, judged, &mut self.staged.labels)
        else {
            return false;
        };
        self.staged.rows.push(StagedRow { query: rows.query, depth });
        if self.sample.is_open() {
            self.sample.add(rows.query, &self.staged.labels[first..], |at| rows.record(at), docnos);
        }
        if let Order::Scores { ranks } = self.order {
            self.ranker.seen.see_ranks(rows.keys.len(), |at| rows.record(at), docnos, ranks);
        }
        true
    }
}

/// The rows of labels of queries that no worker has met before.
struct FirstRankings<'a> {
    met: &'a QueriesMet,
    rankings: RunRankings<'a>,
}

impl Make for FirstRankings<'_> {
    fn take(&mut self, _: &[u8], records: &[Record], docnos: Docnos<'_>, _: u64) -> bool {
        let first = self.met.first_time(records[0].query);
        if first {
            self.rankings.rank_together(records, docnos);
        }
        first
    }

    fn takes_rows(&self) -> bool {
        self.rankings.takes_rows()
    }

    fn take_rows(&mut self, rows: ColumnRows<'_>, docnos: Docnos<'_>) -> Option<bool> {
        // If the query comes back, all is read again, and this ranking of a part of it is dropped.
        self.rankings.rank_rows(rows, docnos).then(|| self.met.first_time(rows.query))
    }
}

/// Reports results of a query with equal ranks.
fn report_equal_ranks(
    query: &[u8],
    records: &[Record],
    docnos: Docnos<'_>,
    rank_of_key: fn(u64) -> i64,
    findings: &mut Findings,
) {
    if records.is_sorted_by(|one, next| one.key < next.key) {
        return;
    }
    let mut order: Vec<&Record> = records.iter().collect();
    order.sort_by_key(|record| record.key);
    for same in order.chunk_by(|one, other| one.key == other.key) {
        for again in &same[1..] {
            findings.add(again.at, || {
                let (rank, query) = (rank_of_key(again.key), quoted(query));
                let message = format!("rank {rank} occurs again for query {query}, first on line");
                let (position, earlier) = (docnos.position(again), Some(docnos.position(same[0])));
                Finding { position, message, earlier }
            });
        }
    }
}

/// Reports the first result of a query whose rank, as a score, does not continue the count.
fn report_uncounted(
    records: &[Record],
    docnos: Docnos<'_>,
    options: OptionStyle,
    findings: &mut Findings,
) {
    let wrong =
        (1u64..).zip(records).find(|(rank, record)| score_of_key(record.key) != -(*rank as f64));
    if let Some((rank, record)) = wrong {
        findings.add(record.at, || {
            let found = (-score_of_key(record.key)).to_string();
            let message = not_counted(found.as_bytes(), Some(rank), options);
            Finding { position: docnos.position(record), message, earlier: None }
        });
    }
}

/// Returns the results of a query, without the document whose id is the query's if such documents
/// are to be `dropped`.
pub(crate) fn without_identical<'r>(
    query: &[u8],
    records: &'r [Record],
    docnos: Docnos<'_>,
    dropped: bool,
) -> Cow<'r, [Record]> {
    let is_identical =
        |record: &Record| record.length as usize == query.len() && docnos.of(record) == query;
    if !dropped || !records.iter().any(is_identical) {
        return Cow::Borrowed(records);
    }
    Cow::Owned(records.iter().filter(|record| !is_identical(record)).copied().collect())
}

/// Returns a count of queries in words: `1 query`, `2 queries` and so on.
fn count_of_queries(count: u64) -> String {
    format!("{count} quer{}", if count == 1 { "y" } else { "ies" })
}

/// Combines the rows that all workers have read and ranked.
pub(crate) fn finish(
    read: WorkerResults<Results<'_>>,
    rankings: Vec<RunRankings<'_>>,
    name: &str,
    source: &impl Source,
    joining: &Joining<'_>,
) -> (StagedRun, RunProblems) {
    let ignored = ignored(&read.rows);
    let lines = read.lines();
    let joined = read.rows.iter().any(|rows| rows.last.is_some());
    let tag = read.rows.into_iter().map(|rows| rows.tag).max().unwrap_or_default().1;
    let (name, path) = (name.to_owned(), source.name().to_owned());
    let info =
        RunInfo { name, tag, source: path, results: read.count, ignored, ..RunInfo::default() };
    let tied = joining.keep_ties.then(StagedTies::default);
    let mut run = StagedRun { info, tied, ..StagedRun::default() };
    let (mut findings, mut repeats) = (read.findings, Findings::default());
    let (mut units, mut sample) = (UnitsSeen::default(), RetrievedSample::default());
    for part in rankings {
        sample.merge(part.sample);
        part.uniting.into_iter().for_each(|uniting| units.merge(uniting.seen));
        run.info.seen.merge(part.ranker.seen);
        run.pieces.push(part.staged);
        run.tied.iter_mut().zip(part.ranker.tied).for_each(|(tied, part)| tied.merge(part));
        findings.merge(part.ranker.wrong_ranks);
        if joining.rules.late_repeats { &mut repeats } else { &mut findings }.merge(part.findings);
    }
    let line = |line| source.line(line);
    let mut problems = findings.into_problems(&run.info.source, line, &lines);
    run.info.units = units.counts;
    if problems.first.is_empty()
        && let Some(message) = nothing_in_it(&run.info, joined, joining, source.expected(Role::Run))
            .or_else(|| units_change_nothing(&units, joining))
    {
        problems = whole_file(&run.info.source, message);
    }
    joining.note_repair(&run.info.source, &sample);
    let repeats = repeats.into_problems(&run.info.source, line, &lines);
    (run, RunProblems { lines: problems, repeats })
}

/// Collects the queries without judgments that workers have met.
pub(crate) fn ignored(rows: &[Results<'_>]) -> Unmatched {
    let mut ignored: Vec<&[u8]> = rows.iter().flat_map(|rows| rows.ignored.ids().iter()).collect();
    ignored.par_sort_unstable();
    ignored.dedup();
    Unmatched::all(ignored)
}

/// Says that the rule of units would change nothing. Of a run that is only a part nobody knows.
pub(crate) fn units_change_nothing(seen: &UnitsSeen, joining: &Joining<'_>) -> Option<String> {
    let asked = joining.units.as_ref().filter(|_| !joining.part)?;
    seen.changes_nothing(&asked.units, "--units")
}

/// Says what is wrong with a run without results, or, if it is not `joined`, with a run that has to
/// have a query of the qrels and has none.
pub(crate) fn nothing_in_it(
    info: &RunInfo,
    joined: bool,
    joining: &Joining<'_>,
    expected: String,
) -> Option<String> {
    let there = joining.qrels.queries();
    if joining.part {
        return None;
    }
    if info.results == 0 && joining.may_be_empty {
        return None;
    }
    if info.results == 0 {
        return Some(format!("there is no result in it{expected}"));
    }
    if joined || joining.rules.unjudged_runs || there.is_empty() {
        return None;
    }
    info.ignored.ids.iter().next().map(|here| {
        format!(
            "no query of {} is in it: it has {} such as {}, the qrels have {} such as {}",
            printable_path(joining.qrels.name().as_ref()),
            count_of_queries(info.ignored.count),
            quoted(here),
            count_of_queries(there.len() as u64),
            quoted(there.get(0)),
        )
    })
}

impl Join {
    /// Checks that the lines of the qrels were read by the rules for lines of runs.
    pub(crate) fn check_dialect(&self, qrels: &Qrels) -> Result<()> {
        match qrels.dialect() {
            Some(dialect) if dialect != self.dialect => Err(Error::Unanswerable(format!(
                "{} was read as {dialect:?}, so runs cannot be joined with it as {:?}",
                printable_path(qrels.name().as_ref()),
                self.dialect
            ))),
            _ => Ok(()),
        }
    }

    pub(crate) fn joining<'a>(&'a self, qrels: &'a Qrels) -> Joining<'a> {
        let (rule, rules) = (self.rule(), self.dialect.rules());
        let (keep_ties, drop_identical_ids) = (self.keep_ties, self.drop_identical_ids);
        Joining {
            qrels,
            rule,
            rules,
            keep_ties,
            part: self.part,
            may_be_empty: self.part,
            drop_identical_ids,
            units: self.units_asked(),
            watch: self.watch(),
            recognised: self.recognised.clone(),
        }
    }

    /// What is done with the units of results, if anything is.
    pub(crate) fn units_asked(&self) -> Option<Arc<UnitsAsked>> {
        self.puts_together().then(|| {
            Arc::new(UnitsAsked {
                units: self.units.clone(),
                repeats: self.repeats(),
                rows: self.rows.map(|rows| rows.get() as usize),
            })
        })
    }

    /// Rejects options of units that contradict the order of ties.
    ///
    /// # Errors
    /// Sums in an order that the file lacks; blanks where every order of ties is wanted; a rule
    /// without text.
    pub(crate) fn check_units(&self) -> Result<()> {
        let repeats = self.repeats();
        let refused = |message: String| Err(Error::Unanswerable(message));
        self.units.check()?;
        if matches!(self.units, Units::Column(_))
            && self.runs_as.columns.as_ref().is_some_and(|columns| columns.ordered().is_some())
        {
            return refused(format!(
                "--units {} names a column, and the columns of the run are given in their order: \
                 give their names",
                self.units
            ));
        }
        if repeats.makes_scores() && matches!(self.ties, Ties::Input | Ties::Rank) {
            let ties = self.ties;
            return refused(format!(
                "--repeats {repeats} makes scores for which the input has no order: take --ties \
                 docno-desc or docno-asc, and not {ties}"
            ));
        }
        if repeats == Repeats::Blank && self.keep_ties {
            return refused(
                "--repeats blank has no expected value over ties that can be computed: take --ties \
                 docno-desc, or --repeats first"
                    .to_owned(),
            );
        }
        Ok(())
    }
}
