//! The measures of preferences, and their values, made of the shares that a ranking fulfils.

/// A measure of preferences, with the names and values of trec_eval.
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
    pub const ALL: [PreferenceCount; 14] = [
        PreferenceCount::Possible,
        PreferenceCount::Fulfilled,
        PreferenceCount::FulfilledRetrieved,
        PreferenceCount::Simple,
        PreferenceCount::Pair,
        PreferenceCount::Group,
        PreferenceCount::GroupBalanced,
        PreferenceCount::SimpleRetrieved,
        PreferenceCount::PairRetrieved,
        PreferenceCount::GroupRetrieved,
        PreferenceCount::GroupBalancedRetrieved,
        PreferenceCount::SimpleImplied,
        PreferenceCount::PairImplied,
        PreferenceCount::GroupImplied,
    ];

    /// The name of the measure in trec_eval.
    pub fn name(self) -> &'static str {
        match self {
            PreferenceCount::Possible => "prefs_num_prefs_poss",
            PreferenceCount::Fulfilled => "prefs_num_prefs_ful",
            PreferenceCount::FulfilledRetrieved => "prefs_num_prefs_ful_ret",
            PreferenceCount::Simple => "prefs_simp",
            PreferenceCount::Pair => "prefs_pair",
            PreferenceCount::Group => "prefs_avgjg",
            PreferenceCount::GroupBalanced => "prefs_avgjg_Rnonrel",
            PreferenceCount::SimpleRetrieved => "prefs_simp_ret",
            PreferenceCount::PairRetrieved => "prefs_pair_ret",
            PreferenceCount::GroupRetrieved => "prefs_avgjg_ret",
            PreferenceCount::GroupBalancedRetrieved => "prefs_avgjg_Rnonrel_ret",
            PreferenceCount::SimpleImplied => "prefs_simp_imp",
            PreferenceCount::PairImplied => "prefs_pair_imp",
            PreferenceCount::GroupImplied => "prefs_avgjg_imp",
        }
    }

    /// Whether the measure is a count: trec_eval prints counts without decimals, and sums counts
    /// over queries instead of averaging.
    pub fn is_count(self) -> bool {
        matches!(
            self,
            PreferenceCount::Possible
                | PreferenceCount::Fulfilled
                | PreferenceCount::FulfilledRetrieved
        )
    }
}

/// Fulfilled and possible preferences, or the like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Share {
    pub(super) fulfilled: u64,
    pub(super) possible: u64,
}

impl Share {
    /// The fulfilled part; 0 if nothing is possible.
    pub(super) fn part(self) -> f64 {
        if self.possible == 0 { 0.0 } else { self.fulfilled as f64 / self.possible as f64 }
    }

    pub(super) fn add(&mut self, other: Share) {
        self.fulfilled += other.fulfilled;
        self.possible += other.possible;
    }
}

/// Numbers of preferences between a document and a later document of a ranking: for the first
/// document over the second, and for the second over the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sides {
    pub(super) first: u64,
    pub(super) second: u64,
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

/// The sum of shares over pairs of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PairShares {
    pub(super) sum: f64,
    pub(super) pairs: u64,
}

impl PairShares {
    /// Adds a pair with the preferences of all groups.
    pub(super) fn add(&mut self, sides: Sides) {
        if sides.sum() > 0 {
            self.pairs += 1;
            self.sum += sides.first as f64 / sides.sum() as f64;
        }
    }

    /// The mean over the pairs; 0 without a pair.
    fn mean(self) -> f64 {
        if self.pairs == 0 { 0.0 } else { self.sum / self.pairs as f64 }
    }
}

/// What a ranking fulfils of the preferences of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Met {
    pub(super) groups: u64,
    /// All preferences, summed over groups.
    pub(super) all: Share,
    /// The preferences between retrieved documents, summed over groups.
    pub(super) retrieved: Share,
    /// The preferences with at least one retrieved document, summed over groups.
    pub(super) implied: Share,
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

impl Met {
    /// The value of a measure for the query.
    pub fn value(&self, measure: PreferenceCount) -> f64 {
        let mean = |sum: f64| {
            if sum > 0.0 {
                sum / self.groups as f64
            } else {
                // No group contributes, or a group has no possible preference.
                0.0
            }
        };
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
            PreferenceCount::Group => mean(self.group),
            PreferenceCount::GroupRetrieved => mean(self.group_retrieved),
            PreferenceCount::GroupImplied => mean(self.group_implied),
            PreferenceCount::GroupBalanced => mean(self.balanced),
            PreferenceCount::GroupBalancedRetrieved => mean(self.balanced_retrieved),
        }
    }
}
