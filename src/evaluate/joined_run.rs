//! Facts about joined runs, besides their labels, that results report: of the runs of a matrix, or
//! of a streamed run.

use crate::ids::Ids;
use crate::judged_by::FacetKind;
use crate::matrix::{Codebook, LabelMatrix, RunInfo, SharedJudgments};
use crate::rule::{IdealSource, RankingRule};

/// A source of facts about runs joined with judgments, without their labels: queries, rule and
/// codebook.
pub(super) trait JoinedRun {
    /// Returns the codebook of the joined runs: the grade of each label code.
    fn book(&self) -> &Codebook;

    /// Returns the rule by which the results of the joined runs were ranked.
    fn rule(&self) -> RankingRule;

    /// Returns the source of the joined queries' relevant documents and ideal rankings: judgments,
    /// or what was retrieved.
    fn ideal(&self) -> IdealSource;

    /// Returns a fingerprint of the relevance judgments of the joined runs.
    fn fingerprint(&self) -> u128;

    /// Returns the ids of the judged queries of the join, in bytewise order.
    fn queries(&self) -> &Ids;

    /// Returns the descriptions of the joined runs: names, tags and counts.
    fn runs(&self) -> &[RunInfo];

    /// Returns the kind of facet (judge, subtopic, preference or span), if judgments were read by
    /// facet.
    fn judged_by(&self) -> Option<FacetKind> {
        None
    }

    /// Returns the counts of queries that share their judged documents, like paraphrases. `None` if
    /// the join found no such groups, or did not look for them.
    fn shared_judgments(&self) -> Option<SharedJudgments> {
        None
    }

    /// Returns whether a joined run has results for a query, both given by index.
    fn has(&self, run: usize, query: usize) -> bool;
}

impl JoinedRun for &LabelMatrix {
    fn book(&self) -> &Codebook {
        LabelMatrix::codebook(self)
    }

    fn rule(&self) -> RankingRule {
        LabelMatrix::rule(self)
    }

    fn ideal(&self) -> IdealSource {
        LabelMatrix::ideal(self)
    }

    fn fingerprint(&self) -> u128 {
        LabelMatrix::fingerprint(self)
    }

    fn queries(&self) -> &Ids {
        LabelMatrix::queries(self)
    }

    fn runs(&self) -> &[RunInfo] {
        LabelMatrix::runs(self)
    }

    fn judged_by(&self) -> Option<FacetKind> {
        LabelMatrix::judged_by(self)
    }

    fn shared_judgments(&self) -> Option<SharedJudgments> {
        LabelMatrix::shared_judgments(self)
    }

    fn has(&self, run: usize, query: usize) -> bool {
        self.run_depths(run)[query] > 0
    }
}
