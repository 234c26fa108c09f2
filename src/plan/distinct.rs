//! The planner's list of distinct values in the order of first addition, with lookup in constant
//! time.
//!
//! A list keeps the order, and a map of hashes beside the list finds a value. A thousand cutoffs of
//! ten measures ask for a few folds ten thousand times; comparing each fold with the whole list
//! would be quadratic, and a fold is a table of 256 numbers.
//!
//! Folds have floats, and floats have neither `Eq` nor `Hash`. So this file spells out hashing.
//! Invariant: values equal under `==` have equal hashes. Unequal values may share a hash, because a
//! hit is compared. A table with a NaN would equal no table, itself included, so each request would
//! add the table again: the repetition costs a fold and makes no value wrong.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use crate::fold::{CodeTable, Discount, ExactGains, Fold};
use crate::matrix::CodesAbove;
use crate::measure::{IdealRanking, QueryConstant, RecallRule};

/// A list of values without repetitions, such as the folds of a plan, found by hash.
pub(super) struct DistinctList<T> {
    list: Vec<T>,
    /// The indices of the values in the list, by hash.
    places: HashMap<u64, Vec<usize>>,
    state: RandomState,
    /// The number of comparisons of two values.
    #[cfg(test)]
    pub probes: usize,
}

impl<T> Default for DistinctList<T> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            places: HashMap::new(),
            state: RandomState::new(),
            #[cfg(test)]
            probes: 0,
        }
    }
}

impl<T: SameHash + PartialEq + Clone> DistinctList<T> {
    /// Returns the index of a value in the list without repetitions; adds a new value at the end.
    pub fn place(&mut self, thing: &T) -> usize {
        let mut hasher = self.state.build_hasher();
        thing.mix_into(&mut hasher);
        let places = self.places.entry(hasher.finish()).or_default();
        for &place in places.iter() {
            #[cfg(test)]
            (self.probes += 1);
            if self.list[place] == *thing {
                return place;
            }
        }
        places.push(self.list.len());
        self.list.push(thing.clone());
        self.list.len() - 1
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn list(&self) -> &[T] {
        &self.list
    }

    pub fn into_list(self) -> Vec<T> {
        self.list
    }
}

/// A value that is hashed so that equal values have equal hashes, floats included: 0 and −0 are
/// equal.
pub(super) trait SameHash {
    fn mix_into(&self, to: &mut impl Hasher);
}

fn float(number: f64, to: &mut impl Hasher) {
    // −0 + 0 is 0, so the two zeros, which are equal, have one hash.
    (number + 0.0).to_bits().hash(to);
}

fn table(table: &CodeTable, to: &mut impl Hasher) {
    table.iter().for_each(|&number| float(number, to));
    // The function's own numbers are left to the comparison.
    if let Some(ExactGains { gains, floor, unit }) = table.exact() {
        std::mem::discriminant(gains).hash(to);
        float(*floor, to);
        float(*unit, to);
    }
}

impl SameHash for usize {
    fn mix_into(&self, to: &mut impl Hasher) {
        self.hash(to);
    }
}

impl SameHash for (CodesAbove, RecallRule) {
    fn mix_into(&self, to: &mut impl Hasher) {
        (self.0, std::mem::discriminant(&self.1)).hash(to);
    }
}

impl SameHash for Discount {
    fn mix_into(&self, to: &mut impl Hasher) {
        std::mem::discriminant(self).hash(to);
        match *self {
            Self::None | Self::Log2 | Self::Rank => {}
            Self::LogFrom(number) | Self::Power(number) | Self::InverseSquare(number) => {
                float(number, to);
            }
        }
    }
}

impl SameHash for Fold {
    fn mix_into(&self, to: &mut impl Hasher) {
        std::mem::discriminant(self).hash(to);
        match self {
            Self::Count(hits)
            | Self::FirstRank(hits)
            | Self::PrecisionSum(hits)
            | Self::InferredSum(hits)
            | Self::PairSum(hits) => hits.hash(to),
            Self::WeightedSum { gain: code_table, discount }
            | Self::Cascade { stop: code_table, discount } => {
                table(code_table, to);
                discount.mix_into(to);
            }
            Self::PeakPrecision { hits, caps } => (hits, caps).hash(to),
            Self::PreferenceSum { hits, judged, cap, bound } => (hits, judged, cap, bound).hash(to),
            Self::Histogram => {}
        }
    }
}

impl SameHash for IdealRanking {
    fn mix_into(&self, to: &mut impl Hasher) {
        table(&self.gain, to);
        self.discount.mix_into(to);
        self.rank.hash(to);
    }
}

impl SameHash for QueryConstant {
    fn mix_into(&self, to: &mut impl Hasher) {
        std::mem::discriminant(self).hash(to);
        match self {
            Self::Count(set) => set.hash(to),
            Self::Fewer { hits, judged } => (hits, judged).hash(to),
            Self::MaxGrade(grades) => grades.iter().for_each(|&grade| float(grade, to)),
            Self::Hits { hits, rule, recall } => {
                (*hits, *rule).mix_into(to);
                float(*recall, to);
            }
            Self::Ideal(ideal) => ideal.mix_into(to),
        }
    }
}
