//! Distinct values in the order of first addition, with lookup in constant time.
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
use crate::matrix::Above;
use crate::measure::{Fact, IdealRanking, RecallRule};

/// A list without repetitions.
pub(super) struct Distinct<T> {
    list: Vec<T>,
    /// The indices of the values in the list, by hash.
    places: HashMap<u64, Vec<usize>>,
    state: RandomState,
    /// The number of comparisons of two values.
    #[cfg(test)]
    pub probes: usize,
}

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Distinct {
            list: Vec::new(),
            places: HashMap::new(),
            state: RandomState::new(),
            #[cfg(test)]
            probes: 0,
        }
    }
}

impl<T: SameHash + PartialEq + Clone> Distinct<T> {
    /// The index of a value in the list, at the end if the value is new.
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

/// A value whose equals have equal hashes, floats included: 0 and −0 are equal.
pub(super) trait SameHash {
    fn mix_into(&self, to: &mut impl Hasher);
}

fn float(number: f64, to: &mut impl Hasher) {
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

impl SameHash for (Above, RecallRule) {
    fn mix_into(&self, to: &mut impl Hasher) {
        (self.0, std::mem::discriminant(&self.1)).hash(to);
    }
}

impl SameHash for Discount {
    fn mix_into(&self, to: &mut impl Hasher) {
        std::mem::discriminant(self).hash(to);
        match *self {
            Discount::None | Discount::Log2 | Discount::Rank => {}
            Discount::LogFrom(number)
            | Discount::Power(number)
            | Discount::InverseSquare(number) => {
                float(number, to);
            }
        }
    }
}

impl SameHash for Fold {
    fn mix_into(&self, to: &mut impl Hasher) {
        std::mem::discriminant(self).hash(to);
        match self {
            Fold::Count(hits)
            | Fold::FirstRank(hits)
            | Fold::PrecisionSum(hits)
            | Fold::InferredSum(hits)
            | Fold::PairSum(hits) => hits.hash(to),
            Fold::WeightedSum { gain: of, discount } | Fold::Cascade { stop: of, discount } => {
                table(of, to);
                discount.mix_into(to);
            }
            Fold::PeakPrecision { hits, caps } => (hits, caps).hash(to),
            Fold::PreferenceSum { hits, judged, cap, bound } => (hits, judged, cap, bound).hash(to),
            Fold::Histogram => {}
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

impl SameHash for Fact {
    fn mix_into(&self, to: &mut impl Hasher) {
        std::mem::discriminant(self).hash(to);
        match self {
            Fact::Count(set) => set.hash(to),
            Fact::Fewer { hits, judged } => (hits, judged).hash(to),
            Fact::MaxGrade(grades) => grades.iter().for_each(|&grade| float(grade, to)),
            Fact::Hits { hits, rule, recall } => {
                (*hits, *rule).mix_into(to);
                float(*recall, to);
            }
            Fact::Ideal(ideal) => ideal.mix_into(to),
        }
    }
}
