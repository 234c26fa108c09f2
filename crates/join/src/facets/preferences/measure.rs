//! The `prefs_*` measures of trec_eval, and their values from counts of the preferences that a
//! ranking fulfils.

/// A `prefs_*` measure of trec_eval: a count or a share of the preferences that a ranking fulfils.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

impl PreferenceCount {
    /// All measures, in the order of trec_eval's output.
    pub const ALL: [Self; 14] = [
        Self::Possible,
        Self::Fulfilled,
        Self::FulfilledRetrieved,
        Self::Simple,
        Self::Pair,
        Self::Group,
        Self::GroupBalanced,
        Self::SimpleRetrieved,
        Self::PairRetrieved,
        Self::GroupRetrieved,
        Self::GroupBalancedRetrieved,
        Self::SimpleImplied,
        Self::PairImplied,
        Self::GroupImplied,
    ];
}

/// A number of fulfilled preferences, and the number of possible preferences, or the like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct FulfilledShare {
    pub fulfilled: u64,
    pub possible: u64,
}

impl FulfilledShare {
    /// Returns the fulfilled part of the possible preferences; 0 if none is possible.
    pub(super) fn part(self) -> f64 {
        if self.possible == 0 { 0.0 } else { self.fulfilled as f64 / self.possible as f64 }
    }

    pub(super) fn add(&mut self, other: FulfilledShare) {
        self.fulfilled += other.fulfilled;
        self.possible += other.possible;
    }
}

/// Numbers of preferences between a document and a later document of a ranking: for the first
/// document over the second, and for the second over the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sides {
    pub first: u64,
    pub second: u64,
}

impl Sides {
    pub(super) fn sum(self) -> u64 {
        self.first + self.second
    }

    pub(super) fn add(&mut self, other: Sides) {
        self.first += other.first;
        self.second += other.second;
    }
}

/// The sum, over pairs of documents, of the share of preferences that agree with a ranking.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PairShares {
    pub sum: f64,
    pub pairs: u64,
}

impl PairShares {
    /// Adds a pair of documents with its preferences in all judgment groups, if there are any.
    pub(super) fn add(&mut self, sides: Sides) {
        if sides.sum() > 0 {
            self.pairs += 1;
            self.sum += sides.first as f64 / sides.sum() as f64;
        }
    }

    /// Returns the mean share over the pairs of documents; 0 without a pair.
    fn mean(self) -> f64 {
        if self.pairs == 0 { 0.0 } else { self.sum / self.pairs as f64 }
    }
}

/// Counts of the preferences of a query that a ranking fulfils, by the documents that were
/// retrieved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FulfilledCounts {
    pub(super) groups: u64,
    /// All preferences, summed over groups.
    pub(super) all: FulfilledShare,
    /// The preferences between retrieved documents, summed over groups.
    pub(super) retrieved: FulfilledShare,
    /// The preferences with at least one retrieved document, summed over groups.
    pub(super) implied: FulfilledShare,
    /// The sums over groups of the fulfilled part of the preferences.
    pub(super) group: f64,
    pub(super) group_retrieved: f64,
    pub(super) group_implied: f64,
    /// The sums over groups as above, not a number if a group has no possible preference.
    pub(super) balanced: f64,
    pub(super) balanced_retrieved: f64,
    pub(super) pair: PairShares,
    pub(super) pair_retrieved: PairShares,
    pub(super) pair_implied: PairShares,
}

impl FulfilledCounts {
    /// Returns the value of a preference measure for the query's ranking.
    pub fn value(&self, measure: PreferenceCount) -> f64 {
        match measure {
            PreferenceCount::Possible => self.all.possible as f64,
            PreferenceCount::Fulfilled => self.all.fulfilled as f64,
            PreferenceCount::FulfilledRetrieved => self.retrieved.fulfilled as f64,
            PreferenceCount::Simple => self.all.part(),
            PreferenceCount::SimpleRetrieved => self.retrieved.part(),
            PreferenceCount::SimpleImplied => self.implied.part(),
            PreferenceCount::Pair => self.pair.mean(),
            PreferenceCount::PairRetrieved => self.pair_retrieved.mean(),
            PreferenceCount::PairImplied => self.pair_implied.mean(),
            PreferenceCount::Group => self.mean(self.group),
            PreferenceCount::GroupRetrieved => self.mean(self.group_retrieved),
            PreferenceCount::GroupImplied => self.mean(self.group_implied),
            PreferenceCount::GroupBalanced => self.mean(self.balanced),
            PreferenceCount::GroupBalancedRetrieved => self.mean(self.balanced_retrieved),
        }
    }

    /// Returns the mean over judgment groups from the sum over them; 0 if the sum is not above 0.
    fn mean(&self, sum: f64) -> f64 {
        // The sum is 0 if no group contributes, and NaN if a group has no possible preference.
        if sum > 0.0 { sum / self.groups as f64 } else { 0.0 }
    }
}
