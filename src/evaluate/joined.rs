//! What scores tell about a run besides its values, for rankings in a matrix and for rankings that were streamed.

use crate::label::{Codebook, IdealOf, Ids, JudgedBy, LabelMatrix, RankingRule, RunInfo};

/// Runs joined with judgments, without their labels.
pub(super) trait Joined {
    /// The meaning of the codes.
    fn book(&self) -> &Codebook;

    /// The rule by which the rankings were made.
    fn rule(&self) -> RankingRule;

    /// The source of the number of relevant documents and of ideal rankings.
    fn ideal(&self) -> IdealOf;

    /// A fingerprint of the judgments.
    fn fingerprint(&self) -> u128;

    /// The judged queries, in bytewise order.
    fn queries(&self) -> &Ids;

    /// The runs.
    fn runs(&self) -> &[RunInfo];

    /// The meaning of groups of judgments, if judgments were read by group.
    fn judged_by(&self) -> Option<JudgedBy> {
        None
    }

    /// Whether a run has a query.
    fn has(&self, run: usize, query: usize) -> bool;
}

impl Joined for LabelMatrix {
    fn book(&self) -> &Codebook {
        self.book()
    }

    fn rule(&self) -> RankingRule {
        self.rule()
    }

    fn ideal(&self) -> IdealOf {
        self.ideal()
    }

    fn fingerprint(&self) -> u128 {
        self.fingerprint()
    }

    fn queries(&self) -> &Ids {
        self.queries()
    }

    fn runs(&self) -> &[RunInfo] {
        self.runs()
    }

    fn judged_by(&self) -> Option<JudgedBy> {
        self.judged_by()
    }

    fn has(&self, run: usize, query: usize) -> bool {
        self.run_depths(run)[query] > 0
    }
}
