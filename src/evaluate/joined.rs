//! What scores tell about a run besides its values, for rankings in a matrix and for rankings that
//! were streamed.

use crate::ids::Ids;
use crate::judged_by::JudgedBy;
use crate::matrix::{Codebook, LabelMatrix, RunInfo, SharedJudgments};
use crate::rule::{IdealOf, RankingRule};

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

    /// What facets of judgments are, if judgments were read by facet.
    fn judged_by(&self) -> Option<JudgedBy> {
        None
    }

    /// The groups that the queries look like by their judged documents, if it was looked for.
    fn shared_judgments(&self) -> Option<SharedJudgments> {
        None
    }

    /// Whether a run has a query.
    fn has(&self, run: usize, query: usize) -> bool;
}

impl Joined for &LabelMatrix {
    fn book(&self) -> &Codebook {
        LabelMatrix::book(self)
    }

    fn rule(&self) -> RankingRule {
        LabelMatrix::rule(self)
    }

    fn ideal(&self) -> IdealOf {
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

    fn judged_by(&self) -> Option<JudgedBy> {
        LabelMatrix::judged_by(self)
    }

    fn shared_judgments(&self) -> Option<SharedJudgments> {
        LabelMatrix::shared_judgments(self)
    }

    fn has(&self, run: usize, query: usize) -> bool {
        self.run_depths(run)[query] > 0
    }
}
