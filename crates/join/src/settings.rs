//! The settings of a join of runs with judgments: reading, ranking, facets and units.

use std::{num::NonZeroU32, sync::Arc};

use crate::aggregation::Aggregation;
use crate::bytes::mmap::FileAccess;
use crate::doc_ids::rule::DocIdRule;
use crate::excluded::ExcludedDocs;
use crate::format::{DetectedFormats, ReadOptions, tables::TableReader};
use crate::judged_by::FacetKind;
use crate::lines::dialect::Dialect;
use crate::progress::ProgressHandle;
use crate::rule::{AppliedAggregation, RankingRule, ScoreType, TieBreak};
use crate::text::ReadSettings;

/// The settings of a join, which makes a label matrix of runs and relevance judgments.
///
/// ```
/// use laneval::{Input, Join};
/// let text = |name: &str, text: &str| Input::Bytes { name: name.into(), bytes: text.into() };
/// let qrels = text("qrels", "q1 0 d1 1\nq1 0 d2 0\n");
/// let run = text("bm25", "q1 Q0 d9 1 2.5 tag\nq1 Q0 d1 2 1.5 tag\n");
/// let matrix = Join::default().files(qrels, [run])?;
/// assert_eq!(matrix.depths(), [2]);
/// // Not in the qrels; grade 1.
/// assert_eq!(matrix.tile(0).lane(0).take(2).collect::<Vec<_>>(), [1, 4]);
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Join {
    /// The dialect: how strictly lines are read.
    pub dialect: Dialect,
    /// The order of equal scores.
    pub ties: TieBreak,
    /// The type in which scores are compared.
    pub score: ScoreType,
    /// The number of first ranks of every ranking that are kept; all by default.
    pub depth: Option<NonZeroU32>,
    /// Whether to keep the groups of equal scores with different labels or one grade:
    /// [`LabelMatrix::tied_groups`](crate::matrix::LabelMatrix::tied_groups). Each group takes some
    /// memory.
    pub keep_ties: bool,
    /// Whether to look for queries with equal judged documents:
    /// [`LabelMatrix::shared_judgments`](crate::matrix::LabelMatrix::shared_judgments).
    pub shared_judgments: bool,
    /// Whether the rows are only a part of a run, such as a partition: a part may lack judgments or
    /// results, and its results may be of other queries than its judgments.
    pub part: bool,
    /// The way files are opened.
    pub access: FileAccess,
    /// The way judgments are read.
    pub qrels_as: ReadOptions,
    /// The way runs are read.
    pub runs_as: ReadOptions,
    /// The facets by which judgments are read, if a document may have several: the second field of
    /// TREC text, or a column of judges or subtopics. Preferences are read from TREC text, or given
    /// in memory.
    pub judged_by: Option<FacetKind>,
    /// The number of fields of lines of preferences, 4 or 5; by default that of the first line.
    pub preference_fields: Option<usize>,
    /// Whether to drop documents with the id of their query from rankings, before [`Join::depth`]
    /// counts, as BEIR does.
    pub drop_identical_ids: bool,
    /// The documents to leave out of the rankings of some queries, before [`Join::depth`] counts.
    /// With [`Join::units`] these are units. Judgments stay as they are.
    pub exclude: Option<Arc<ExcludedDocs>>,
    /// The units of the results, if documents are retrieved in pieces and judgments are of units.
    /// Equal scores are ordered by the ids of units.
    pub units: DocIdRule,
    /// The rule for several results of one unit. By default several results are an error, and with
    /// [`Join::units`] the best result stays.
    pub repeats: Option<Aggregation>,
    /// The number of best results of each query to keep before results are merged into units; all
    /// by default.
    pub rows: Option<NonZeroU32>,
    /// The units of the judgments, if pieces of documents are judged and documents are retrieved.
    /// The largest grade of a unit counts.
    pub qrels_units: DocIdRule,
    /// The reader of files of tables, such as Parquet; without a reader such files are errors.
    pub tables: Option<&'static dyn TableReader>,
    /// The list to which the recognised format of each text is added.
    pub recognised: Option<Arc<DetectedFormats>>,
    /// The watch of the progress of reading; it may stop reading between two chunks of some hundred
    /// kilobytes.
    pub watch: Option<Arc<ProgressHandle>>,
}

impl Join {
    /// Returns the settings by which the join reads its texts, judgments and runs.
    pub(crate) fn read_settings(&self) -> ReadSettings<'_> {
        ReadSettings {
            dialect: self.dialect,
            access: self.access,
            qrels_as: &self.qrels_as,
            runs_as: &self.runs_as,
            judged_by: self.judged_by,
            units: &self.units,
            qrels_units: &self.qrels_units,
            reads_ranks: self.ties == TieBreak::Rank,
            tables: self.tables,
            recognised: self.recognised.as_deref(),
            watch: self.watch.as_ref(),
        }
    }

    /// Returns the handle through which the join tells its progress and may be stopped.
    pub(crate) fn watch(&self) -> Option<&ProgressHandle> {
        self.watch.as_deref()
    }

    /// Returns the rule for several results of one unit (the document that chunks count for) in a
    /// run: as set, or the default.
    pub fn aggregation(&self) -> Aggregation {
        self.repeats.unwrap_or(if self.units.is_some_rule() {
            Aggregation::Max
        } else {
            Aggregation::Error
        })
    }

    /// Returns whether a run's results are merged into units, or cut to the best, before they are
    /// ranked.
    pub(crate) fn aggregates(&self) -> bool {
        self.units.is_some_rule() || self.aggregation() != Aggregation::Error || self.rows.is_some()
    }

    pub fn rule(&self) -> RankingRule {
        RankingRule {
            ties: self.ties,
            score: self.dialect.score(self.score),
            depth: self.depth.map(NonZeroU32::get),
            drop_identical_ids: self.drop_identical_ids,
            excluded: self.exclude.as_ref().map(|excluded| excluded.fingerprint().clone()),
            // The units of judgments are in the fingerprint of the merged judgments.
            units: self.aggregates().then(|| {
                Arc::new(AppliedAggregation {
                    units: self.units.to_string(),
                    repeats: self.aggregation(),
                    rows: self.rows.map(NonZeroU32::get),
                })
            }),
        }
    }
}
