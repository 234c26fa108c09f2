//! What scores say of a run besides its values: of rankings that lie in a matrix, or that went by.

use crate::label::{Codebook, IdealOf, Ids, LabelMatrix, RankingRule, RunInfo};

/// Runs joined with judgments, without their labels.
pub(super) trait Joined {
    /// What the codes mean.
    fn book(&self) -> &Codebook;

    /// How the rankings were made.
    fn rule(&self) -> RankingRule;

    /// What the number of relevant documents and ideal rankings are made of.
    fn ideal(&self) -> IdealOf;

    /// A fingerprint of the judgments.
    fn fingerprint(&self) -> u128;

    /// The judged queries, in bytewise order.
    fn queries(&self) -> &Ids;

    /// The runs.
    fn runs(&self) -> &[RunInfo];

    /// Has a run a query?
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

    fn has(&self, run: usize, query: usize) -> bool {
        self.run_depths(run)[query] > 0
    }
}
