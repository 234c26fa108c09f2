//! The join of one run with the qrels: the results of each query are ranked, and become a row of
//! labels.
//!
//! The first pass assumes that the lines of a query are together. If a query comes back later, the
//! run is read again for lines in any order.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use rayon::prelude::*;

use super::{
    aggregate::{AggregateCounts, Aggregator},
    exclusion::{DroppedDocs, ExclusionCounts},
    qrels::Qrels,
    rank::{LabelBuffers, Ranker},
    repairs::RetrievedSample,
};
use crate::aggregation::Aggregation;
use crate::bytes::interner::Interner;
use crate::doc_ids::rule::DocIdRule;
use crate::error::{Problems, Result, printable_path};
use crate::ids::Unmatched;
use crate::lines::{
    diagnostics::{Diagnostics, RunProblems, pluralize, quoted, whole_file},
    dialect::Rules,
    layout::{RankColumn, SortBy, not_counted},
    options::OptionStyle,
    shape::Role,
};
use crate::matrix::{
    CodesAbove, RunInfo, StagedPiece, StagedRow, StagedRun, StagedTies, code::MAX_GRADES,
};
use crate::progress::check_stopped;
use crate::record::{
    any_order::{AnyOrder, BufferedInput, each_query},
    layout::{ColumnRows, Docnos, Record, rank_of_key, score_of_key, sort_key},
    reader::{BuildRanking, InOrder, RowReader, RowSource, WorkerResults},
};
use crate::rule::{RankingRule, ScoreType, TieBreak};
use crate::settings::Join;

/// The qrels and settings of a join of runs, which all worker threads share.
pub struct JoinContext<'a> {
    pub qrels: &'a Qrels,
    pub join: Arc<Join>,
    pub rule: RankingRule,
    pub rules: Rules,
    /// Whether there may be no rows at all.
    pub may_be_empty: bool,
    /// The only queries whose rows are kept; `None` if these are all judged queries.
    pub picks: Option<&'a [Vec<u8>]>,
}

impl JoinContext<'_> {
    /// Rejects a run without ranks beside its scores, if ranks are to order equal scores.
    pub fn check_ties(&self, name: &str, order: SortBy) -> Result<()> {
        let lacks_ranks =
            matches!(order, SortBy::Scores { ranks: RankColumn::None } | SortBy::RankScores { .. });
        reject_if!(
            lacks_ranks && self.join.ties == TieBreak::Rank,
            "{} has no ranks beside its scores that could order equal ones: take other ties than \
             `rank`",
            printable_path(name.as_ref())
        );
        Ok(())
    }

    /// Rejects a run with ranks and no scores, if the rule of units (`--aggregate`) computes
    /// scores.
    pub fn check_units(&self, name: &str, order: SortBy) -> Result<()> {
        reject_if!(
            self.join.aggregation().changes_scores() && !matches!(order, SortBy::Scores { .. }),
            "{}: has ranks and no scores that could be added: take --aggregate max or blank",
            printable_path(name.as_ref())
        );
        Ok(())
    }

    /// Notes for the user why hardly a document of a run is judged, if a change of document ids
    /// would mend that.
    pub fn note_repair(&self, name: &str, sample: &RetrievedSample) {
        if let Some(recognised) = self.join.recognised.as_ref().filter(|_| !self.join.part)
            && let Some(what) = sample.repair(self.qrels)
        {
            recognised.add_doubt(name, what);
        }
    }

    /// Notes for the user how many results of a run were excluded.
    pub fn note_excluded(&self, run: &str, counts: ExclusionCounts) {
        let Join { exclude, recognised, part, .. } = &*self.join;
        if let (Some(excluded), Some(recognised), false) = (exclude, recognised, part) {
            let relevant = || self.qrels.excluded_relevant(excluded);
            recognised.note_excluded(excluded.name(), run, counts, relevant);
        }
    }

    /// Returns whether a query's repeated documents may be dropped during reading, if it has many
    /// results. Where repeats matter only among the first results, none may be dropped before the
    /// first results are known. Where repeats are no error, each repeat may count.
    fn may_drop_duplicates(&self) -> bool {
        self.join.aggregation() == Aggregation::Error && !self.rules.late_repeats
    }
}

/// Reads a run called `name`, and joins it with the qrels; returns rows of labels and the problems.
pub fn read(
    source: &impl RowSource,
    name: &str,
    joining: &JoinContext<'_>,
) -> Result<(StagedRun, RunProblems)> {
    let (qrels, seed, order) = (joining.qrels, joining.qrels.seed(), source.order());
    joining.check_ties(source.name(), order)?;
    joining.check_units(source.name(), order)?;
    // Where codes are classes of grades, labels do not tell the mixed groups of equal scores.
    reject_if!(
        joining.join.keep_ties && qrels.exact().is_some(),
        "{} has more than {MAX_GRADES} distinct grades, over which the orders of equal scores \
         cannot be evaluated: round the grades, \
         or take the order of the ranking",
        printable_path(qrels.name().as_ref())
    );
    let words = qrels.queries().len().div_ceil(64);
    let seen: Vec<_> = (0..words).map(|_| AtomicU64::new(0)).collect();
    let back = AtomicBool::new(false);
    let thinning = joining.may_drop_duplicates();
    let (mut read, grouped) = source.read(&back, seed, || {
        let rankings = RunRankings { seen: &seen, ..RunRankings::new(joining, order) };
        (RunReader::new(joining), InOrder::new(rankings, &back, thinning))
    })?;
    if !back.load(Ordering::Relaxed) {
        read.findings.count_identical();
        let rankings = grouped.into_iter().map(|keep| keep.make).collect();
        return Ok(finish(read, rankings, name, source, joining));
    }
    let worker = || RunRankings::new(joining, order);
    let (read, rankings) = read_any_order(source, joining, worker, RunRankings::rank)?;
    check_stopped(joining.join.watch())?;
    Ok(finish(read, rankings, name, source, joining))
}

/// Reads the results of a run in any order, of the picked queries alone if there are picks, and
/// passes those of each query to `rank`, with a worker of its thread. Returns what the readers
/// found, and the workers.
pub fn read_any_order<'a, W: Send>(
    source: &impl RowSource,
    joining: &JoinContext<'a>,
    worker: impl Fn() -> W + Sync,
    rank: impl Fn(&mut W, &[Record], Docnos<'_>) + Sync,
) -> Result<(WorkerResults<RunReader<'a>>, Vec<W>)> {
    let JoinContext { qrels, picks, .. } = *joining;
    let queries = qrels.queries().len() + picks.map_or(0, <[_]>::len);
    let (mut read, scattered) = source.read(&AtomicBool::new(false), qrels.seed(), || {
        let reader = RunReader { anywhere: picks.is_none(), ..RunReader::new(joining) };
        let thinning = joining.may_drop_duplicates();
        (reader, AnyOrder::new(queries).with_input(source.whole(), thinning))
    })?;
    read.findings.count_identical();
    // Ranks lie in a text that is in memory, and are copied only where they order equal scores.
    let are_there =
        matches!(source.whole(), BufferedInput::Text(_)) || joining.rule.ties == TieBreak::Rank;
    let ranks = if are_there { source.order().ranks() } else { RankColumn::None };
    let from = (source.whole(), ranks);
    Ok((read, each_query(scattered, from, joining.join.watch(), worker, rank)))
}

/// The row reader of a worker that reads a run: it finds the judged query of each row.
pub struct RunReader<'a> {
    qrels: &'a Qrels,
    rules: Rules,
    rule: RankingRule,
    /// The only queries whose rows are kept; `None` if these are all judged queries.
    picks: Option<&'a [Vec<u8>]>,
    /// The last judged query.
    last: Option<u32>,
    /// Whether queries come in any order, so that the next query cannot be guessed.
    anywhere: bool,
    /// The queries without judgments.
    pub ignored: Interner,
    /// The number of the last chunk with a tag, and the tag of its last line.
    pub tag: (u64, Vec<u8>),
}

impl<'a> RunReader<'a> {
    pub fn new(joining: &JoinContext<'a>) -> Self {
        Self {
            qrels: joining.qrels,
            rules: joining.rules,
            rule: joining.rule.clone(),
            picks: joining.picks,
            last: None,
            anywhere: false,
            ignored: Interner::new(joining.qrels.seed()),
            tag: (0, Vec::new()),
        }
    }
}

impl RowReader for RunReader<'_> {
    const ROLE: Role = Role::Run;

    fn rules(&self) -> Rules {
        self.rules
    }

    /// Converts a score to the sort key of its record.
    #[inline(always)]
    fn key(&self, score: f64) -> u64 {
        sort_key(score, self.rule.score)
    }

    fn reads_ranks(&self) -> bool {
        self.rule.ties == TieBreak::Rank
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
            // `last` stays the last judged query, whose successor is still the best guess.
            None => drop(self.ignored.insert(&text[start..end])),
        }
        self.picks.map_or(query, |picks| self.qrels.pick(picks, &text[start..end]))
    }

    fn end_chunk(&mut self, chunk: u64, last: &[u8]) {
        self.tag = (chunk, last.to_vec());
    }
}

/// One worker's rankings of a run as rows of labels, with its ranker and buffers.
pub struct RunRankings<'a> {
    pub qrels: &'a Qrels,
    /// A bit for each query of the qrels, set if the run has had it so far; shared by all workers.
    /// Empty where nobody asks whether a query is new.
    seen: &'a [AtomicU64],
    pub ranker: Ranker,
    pub staged: StagedPiece,
    pub findings: Diagnostics,
    /// The codes and the keys of the named documents of the query at hand, if keys are kept.
    keys: Vec<(u8, u64)>,
    order: SortBy,
    pub join: Arc<Join>,
    /// The merger of results into units, if results are merged.
    pub uniting: Option<Aggregator>,
    pub excluded: ExclusionCounts,
    /// Some ids, to tell why hardly any document is judged.
    pub sample: RetrievedSample,
}

impl<'a> RunRankings<'a> {
    pub fn new(joining: &JoinContext<'a>, order: SortBy) -> Self {
        let (qrels, join, mut rule) = (joining.qrels, &joining.join, joining.rule.clone());
        if !matches!(order, SortBy::Scores { .. }) {
            // Ranks are no scores. As F32, they are not looked at for ties that only f32 would have
            // (see `score_checks`).
            rule.score = ScoreType::F32;
        }
        let ranker = Ranker::new(rule, joining.rules.late_repeats);
        Self {
            qrels,
            seen: &[],
            ranker: ranker.with_ties(join.keep_ties && join.ties != TieBreak::Rank),
            staged: StagedPiece::default(),
            findings: Diagnostics::default(),
            keys: Vec::new(),
            order,
            join: join.clone(),
            uniting: join.aggregates().then(|| Aggregator::new(join.clone(), qrels.seed())),
            excluded: ExclusionCounts::default(),
            sample: RetrievedSample::default(),
        }
    }

    /// Returns the id of the query of number `query` in the qrels.
    pub fn id(&self, query: u32) -> &'a [u8] {
        self.qrels.queries().get(query as usize)
    }

    /// Ranks the results of one query, merged by unit if asked for, and adds their row of labels.
    pub fn rank(&mut self, records: &[Record], docnos: Docnos<'_>) {
        let query = records[0].query;
        let id = self.id(query);
        let findings = &mut self.findings;
        match self.order {
            SortBy::Scores { .. } => {}
            SortBy::Ranks => report_equal_ranks(id, records, docnos, rank_of_key, findings),
            SortBy::RankScores { counted: None } => {
                report_equal_ranks(id, records, docnos, |key| -score_of_key(key) as i64, findings);
            }
            SortBy::RankScores { counted: Some(options) } => {
                report_uncounted(records, docnos, options, findings);
            }
        }
        self.aggregate(id, records, docnos);
        // The merger is lent out, because its results are borrowed while this method labels them.
        let Some(uniting) = self.uniting.take() else {
            let join = self.join.clone();
            let dropped = DroppedDocs::new(&join, id);
            let records = dropped.without(records, docnos, &mut self.excluded);
            return self.label(query, &records, docnos);
        };
        self.label(query, &uniting.united, uniting.docnos(&docnos));
        self.uniting = Some(uniting);
    }

    /// Merges the results of one query by unit, without ranking them.
    pub fn aggregate(&mut self, query: &[u8], records: &[Record], docnos: Docnos<'_>) {
        let Self { ranker, findings, uniting, join, excluded, .. } = self;
        let Some(uniting) = uniting else { return };
        let by_rank = join.ties == TieBreak::Rank;
        let ranked = by_rank.then(|| ranker.by_rank_column(query, records, docnos));
        uniting.aggregate(query, ranked.as_deref().unwrap_or(records), docnos, findings, excluded);
    }

    /// Ranks the results of one query, labels them by the qrels, and adds their row of labels.
    fn label(&mut self, query: u32, records: &[Record], docnos: Docnos<'_>) {
        let (id, judged) = (self.id(query), self.qrels.judged(query));
        let Self { ranker, staged, findings, sample, .. } = self;
        let StagedPiece { rows, labels, exact, numbers, .. } = staged;
        let first = labels.len();
        self.keys.clear();
        let keys = self.qrels.keeps_keys().then_some(&mut self.keys);
        let buffers = LabelBuffers { labels, keys };
        let depth = ranker.rank(id, records, docnos, judged, buffers, findings);
        let judged = self.keys.iter().filter(|(code, _)| CodesAbove::JUDGED.contains(*code));
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

    /// Ranks the results of a query whose lines are together in the input, and checks their rank
    /// column.
    pub fn rank_in_order(&mut self, records: &[Record], docnos: Docnos<'_>) {
        self.rank(records, docnos);
        let ranks = self.order.ranks();
        self.ranker.seen.record_ranks(records.len(), |at| records[at], docnos, ranks);
    }

    /// Marks a query of the qrels as met in the run; returns `false` if it was marked before.
    fn first_time(&self, query: u32) -> bool {
        // Relaxed: each bit decides alone, and no other memory depends on it.
        let bit = 1 << (query % 64);
        self.seen[query as usize / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }
}

/// Ranks the queries of a run that no worker has met before.
impl BuildRanking for RunRankings<'_> {
    fn take(&mut self, _: &[u8], records: &[Record], docnos: Docnos<'_>, _: u64) -> bool {
        let first = self.first_time(records[0].query);
        if first {
            self.rank_in_order(records, docnos);
        }
        first
    }

    fn takes_rows(&self) -> bool {
        matches!(self.order, SortBy::Scores { .. })
            && self.uniting.is_none()
            && !self.join.drop_identical_ids
            && self.join.exclude.is_none()
            && !self.qrels.keeps_keys()
    }

    /// Ranks a query's rows of columns as [`RunRankings::rank_in_order`], without records.
    fn take_rows(&mut self, rows: ColumnRows<'_>, docnos: Docnos<'_>) -> Option<bool> {
        let (judged, first) = (self.qrels.judged(rows.query), self.staged.labels.len());
        let depth = self.ranker.rank_rows(rows, docnos, judged, &mut self.staged.labels)?;
        self.staged.rows.push(StagedRow { query: rows.query, depth });
        if self.sample.is_open() {
            self.sample.add(rows.query, &self.staged.labels[first..], |at| rows.record(at), docnos);
        }
        let ranks = self.order.ranks();
        self.ranker.seen.record_ranks(rows.keys.len(), |at| rows.record(at), docnos, ranks);
        // If the query comes back, all is read again, and this ranking of a part of it is dropped.
        Some(self.first_time(rows.query))
    }
}

/// Reports results of one query with equal ranks, as problems.
fn report_equal_ranks(
    query: &[u8],
    records: &[Record],
    docnos: Docnos<'_>,
    rank_of_key: fn(u64) -> i64,
    findings: &mut Diagnostics,
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
                docnos.repeat(
                    again,
                    same[0],
                    format!("rank {rank} occurs again for query {query}, first on line"),
                )
            });
        }
    }
}

/// Reports the first result of a query whose rank, used as a score, does not continue the count 1,
/// 2, 3 … of ranks.
fn report_uncounted(
    records: &[Record],
    docnos: Docnos<'_>,
    options: OptionStyle,
    findings: &mut Diagnostics,
) {
    let wrong =
        (1u64..).zip(records).find(|(rank, record)| score_of_key(record.key) != -(*rank as f64));
    // Only the first: behind a wrong rank nearly all results would be wrong too.
    if let Some((rank, record)) = wrong {
        findings.add(record.at, || {
            let found = (-score_of_key(record.key)).to_string();
            docnos.problem(record, not_counted(found.as_bytes(), Some(rank), options))
        });
    }
}

/// Joins the rankings of all workers to one run; returns its rows of labels and the problems.
pub fn finish(
    read: WorkerResults<RunReader<'_>>,
    rankings: Vec<RunRankings<'_>>,
    name: &str,
    source: &impl RowSource,
    joining: &JoinContext<'_>,
) -> (StagedRun, RunProblems) {
    let ignored = unjudged(read.rows.iter().map(|rows| &rows.ignored));
    let lines = read.lines();
    let joined = read.rows.iter().any(|rows| rows.last.is_some());
    let tag = read.rows.into_iter().map(|rows| rows.tag).max().unwrap_or_default().1;
    let info = RunInfo {
        name: name.to_owned(),
        tag,
        source: source.name().to_owned(),
        results: read.count,
        ignored,
        ..RunInfo::default()
    };
    let tied = joining.join.keep_ties.then(StagedTies::default);
    let mut run = StagedRun { info, tied, ..StagedRun::default() };
    let (mut findings, mut repeats) = (read.findings, Diagnostics::default());
    let (mut units, mut sample) = (AggregateCounts::default(), RetrievedSample::default());
    let mut excluded = ExclusionCounts::default();
    for part in rankings {
        sample.merge(part.sample);
        part.uniting.into_iter().for_each(|uniting| units.merge(uniting.seen));
        excluded.extend(part.excluded);
        run.info.seen.merge(part.ranker.seen);
        run.pieces.push(part.staged);
        run.tied.iter_mut().zip(part.ranker.tied).for_each(|(tied, part)| tied.merge(part));
        findings.merge(part.ranker.wrong_ranks);
        if joining.rules.late_repeats { &mut repeats } else { &mut findings }.merge(part.findings);
    }
    let mut problems = findings.into_problems(&run.info.source, |line| source.line(line), &lines);
    run.info.units = units.counts;
    if problems.first.is_empty()
        && let Some(empty) =
            empty_run(&run.info, &units, joined, joining, source.expected(Role::Run))
    {
        problems = empty;
    }
    joining.note_repair(&run.info.source, &sample);
    joining.note_excluded(&run.info.name, excluded);
    let repeats = repeats.into_problems(&run.info.source, |line| source.line(line), &lines);
    (run, RunProblems { lines: problems, repeats })
}

/// Collects the queries of a run without judgments, which all workers have met, sorted by id.
pub fn unjudged<'r>(workers: impl IntoIterator<Item = &'r Interner>) -> Unmatched {
    let mut ignored: Vec<&[u8]> =
        workers.into_iter().flat_map(|queries| queries.ids().iter()).collect();
    ignored.par_sort_unstable();
    ignored.dedup();
    Unmatched::all(ignored)
}

/// Returns the problem of a run without results, or without a query of the qrels, or in which
/// the rule `--doc-id` would change nothing; else `None`. `joined` tells whether it has a query of
/// the qrels. Of a run that is only a part nobody knows.
pub fn empty_run(
    info: &RunInfo,
    units: &AggregateCounts,
    joined: bool,
    joining: &JoinContext<'_>,
    expected: String,
) -> Option<Problems> {
    let problem = |message| Some(whole_file(&info.source, message));
    let there = joining.qrels.queries();
    if joining.join.part || info.results == 0 && joining.may_be_empty {
        return None;
    }
    if info.results == 0 {
        return problem(format!("there is no result in it{expected}"));
    }
    let may_be_other = joined || joining.rules.unjudged_runs || there.is_empty();
    let Some(here) = info.ignored.ids.iter().next().filter(|_| !may_be_other) else {
        return units.unused_rule_message(&joining.join.units, "--doc-id").and_then(problem);
    };
    problem(format!(
        "no query of {} is in it: it has {} such as {}, the qrels have {} such as {}",
        printable_path(joining.qrels.name().as_ref()),
        pluralize(info.ignored.count as usize, "query"),
        quoted(here),
        pluralize(there.len(), "query"),
        quoted(there.get(0)),
    ))
}

impl Join {
    /// Rejects qrels that were read in another dialect than that of the join.
    pub(crate) fn check_dialect(&self, qrels: &Qrels) -> Result<()> {
        match qrels.dialect {
            Some(dialect) if dialect != self.dialect => reject!(
                "{} was read as {dialect:?}, so runs cannot be joined with it as {:?}",
                printable_path(qrels.name().as_ref()),
                self.dialect
            ),
            _ => Ok(()),
        }
    }

    /// Returns the qrels and the settings of the join for all workers.
    pub(crate) fn context<'a>(&self, qrels: &'a Qrels) -> JoinContext<'a> {
        JoinContext {
            qrels,
            join: Arc::new(self.clone()),
            rule: self.rule(),
            rules: self.dialect.rules(),
            may_be_empty: false,
            picks: None,
        }
    }

    /// Rejects a `--doc-id` or `--aggregate` that the columns or the order of ties do not allow.
    ///
    /// # Errors
    /// Sums in an order that the file lacks; blanks where every order of ties is wanted; a rule
    /// without text.
    pub(crate) fn check_units(&self) -> Result<()> {
        self.units.check()?;
        let (units, repeats, ties) = (&self.units, self.aggregation(), self.ties);
        let columns = self.runs_as.columns.as_ref();
        reject_if!(
            matches!(units, DocIdRule::Column(_))
                && columns.is_some_and(|columns| columns.ordered().is_some()),
            "--doc-id {units} names a column, and the columns of the run are given in their order: \
             give their names"
        );
        reject_if!(
            repeats.changes_scores() && matches!(ties, TieBreak::Input | TieBreak::Rank),
            "--aggregate {repeats} makes scores for which the input has no order: take --ties \
             docno-desc or docno-asc, and not {ties}"
        );
        reject_if!(
            repeats == Aggregation::Blank && self.keep_ties,
            "--aggregate blank has no expected value over ties that can be computed: take --ties \
             docno-desc, or --aggregate max"
        );
        Ok(())
    }
}
