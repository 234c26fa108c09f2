//! The `prefs_*` measures of trec_eval, and their values from counts of the preferences that a
//! ranking fulfils.

/// A `prefs_*` measure of trec_eval: a count or a share of the preferences that a ranking fulfils.
#[derive(Clone, Copy, Debug)]
pub enum PreferenceCount {
    /// The number of preferences.
    Possible,
    /// The number of fulfilled preferences.
    Fulfilled,
    /// The number of fulfilled preferences between retrieved documents.
    FulfilledRetrieved,
    /// The fulfilled preferences divided by all preferences.
    Simple,
    /// The mean over pairs of documents of the share of groups that agree with the ranking.
    Pair,
    /// The mean over groups of the fulfilled part of the preferences.
    Group,
    /// As `Group`, with as many documents of level 0 as relevant ones in each group.
    GroupBalanced,
    /// As `Simple`, over pairs of retrieved documents.
    SimpleRetrieved,
    /// As `Pair`, over pairs of retrieved documents.
    PairRetrieved,
    /// As `Group`, over pairs of retrieved documents.
    GroupRetrieved,
    /// As `GroupBalanced`, over retrieved documents.
    GroupBalancedRetrieved,
    /// As `Simple`, over pairs with at least one retrieved document.
    SimpleImplied,
    /// As `Pair`, over pairs with at least one retrieved document.
    PairImplied,
    /// As `Group`, over pairs with at least one retrieved document.
    GroupImplied,
}

/// A number of fulfilled preferences, and the number of possible preferences, or the like.
#[derive(Clone, Copy, Default)]
pub struct FulfilledShare {
    pub fulfilled: u64,
    pub possible: u64,
}

impl FulfilledShare {
    /// Returns the fulfilled part of the possible preferences; 0 if none is possible.
    pub fn part(self) -> f64 {
        if self.possible == 0 { 0.0 } else { self.fulfilled as f64 / self.possible as f64 }
    }

    pub fn add(&mut self, other: FulfilledShare) {
        self.fulfilled += other.fulfilled;
        self.possible += other.possible;
    }
}

/// The sum, over pairs of documents, of the share of preferences that agree with a ranking.
#[derive(Clone, Copy, Default)]
pub struct PairShares {
    pub sum: f64,
    pub pairs: u64,
}

impl PairShares {
    /// Adds a pair of documents with its preferences in all judgment groups, if there are any.
    pub fn add(&mut self, share: FulfilledShare) {
        if share.possible > 0 {
            self.pairs += 1;
            self.sum += share.part();
        }
    }

    /// Returns the mean share over the pairs of documents; 0 without a pair.
    fn mean(self) -> f64 {
        if self.pairs == 0 { 0.0 } else { self.sum / self.pairs as f64 }
    }
}

/// The preferences that a ranking fulfils among some pairs of the documents of a query.
#[derive(Default)]
pub struct PairsFulfilled {
    /// The preferences, summed over groups.
    share: FulfilledShare,
    /// The sum over groups of the fulfilled part of the preferences.
    parts: f64,
    pub pairs: PairShares,
}

impl PairsFulfilled {
    /// Adds the preferences of a judgment group.
    pub fn add(&mut self, of_group: FulfilledShare) {
        self.share.add(of_group);
        self.parts += of_group.part();
    }
}

/// Counts of the preferences of a query that a ranking fulfils, by the documents that were
/// retrieved.
#[derive(Default)]
pub struct FulfilledCounts {
    pub(super) groups: u64,
    /// All preferences.
    pub(super) all: PairsFulfilled,
    /// The preferences between retrieved documents.
    pub(super) retrieved: PairsFulfilled,
    /// The preferences with at least one retrieved document.
    pub(super) implied: PairsFulfilled,
    /// The sums over groups of the fulfilled part of the preferences of a balanced group, not a
    /// number if a group has no possible preference.
    pub(super) balanced: f64,
    pub(super) balanced_retrieved: f64,
}

impl FulfilledCounts {
    /// Returns the value of a preference measure for the query's ranking.
    pub fn value(&self, measure: PreferenceCount) -> f64 {
        use PreferenceCount as Count;
        match measure {
            Count::Possible => self.all.share.possible as f64,
            Count::Fulfilled => self.all.share.fulfilled as f64,
            Count::FulfilledRetrieved => self.retrieved.share.fulfilled as f64,
            Count::Simple => self.all.share.part(),
            Count::SimpleRetrieved => self.retrieved.share.part(),
            Count::SimpleImplied => self.implied.share.part(),
            Count::Pair => self.all.pairs.mean(),
            Count::PairRetrieved => self.retrieved.pairs.mean(),
            Count::PairImplied => self.implied.pairs.mean(),
            Count::Group => self.mean(self.all.parts),
            Count::GroupRetrieved => self.mean(self.retrieved.parts),
            Count::GroupImplied => self.mean(self.implied.parts),
            Count::GroupBalanced => self.mean(self.balanced),
            Count::GroupBalancedRetrieved => self.mean(self.balanced_retrieved),
        }
    }

    /// Returns the mean over judgment groups from the sum over them; 0 if the sum is not above 0.
    fn mean(&self, sum: f64) -> f64 {
        // The sum is 0 if no group contributes, and NaN if a group has no possible preference.
        if sum > 0.0 { sum / self.groups as f64 } else { 0.0 }
    }
}
