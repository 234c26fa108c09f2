//! The expected value of a measure over the orders of a row.
//!
//! A measure applies a last step to numbers from folds. The way to the expectation depends on how
//! the order of documents changes these numbers:
//!
//! * **Linear.** If the last step is linear in every number that depends on the order, E f(X) = f(E
//!   X): the last step takes the expectations of the folds instead of their values. Numbers of the
//!   judgments alone (R, an ideal DCG) may enter in any way, for no order changes them. nDCG is an
//!   example.
//! * **Given hits.** Accuracy, FallOut and AP(norm=hits) divide by a number of hits down to a
//!   cutoff. This number varies only if a group with both hits and non-hits lies across the cutoff,
//!   and then follows a hypergeometric law. *Given* the number of hits, the rest is linear again:
//!   all orders of the given hits and non-hits in the group are equally likely. So the last step
//!   finishes each of the few possible numbers separately, and the mean is taken over the results.
//! * **Reciprocal.** 1/r of the first hit's rank r is no linear function, but r has a distribution
//!   that is easily listed.
//! * **Own.** Walks have closed forms.
//! * **Any.** A measure that counts documents of equal scores together has one value for all
//!   orders.
//!
//! A cut that drops documents (`-M`, a depth, a judged-only view over a cut group) makes the
//! *number* of documents of the last piece chance as well. Then each way is taken once for each
//! possible number, and the results are weighted: `RankingPieces::mean`.

use super::first_hit::FirstHit;
use super::folds::{self, FoldTables, GrowingSum, Inside};
use super::heeded::HeededTies;
use super::known::refused_mean;
use super::row::{Pieces, RankingPieces, ReadPiece};
use super::{Cuts, walks};
use crate::error::{Error, Result};
use crate::fold::{Fold, Weights};
use crate::matrix::{Above, Codebook, QueryFacts};
use crate::measure::{Average, Expected, Fact, IdealRanking, Last, Measure, Place, Read, Recipe};

/// Memory that is used again from row to row.
#[derive(Debug, Default)]
pub struct TieScratch {
    pub(super) tables: FoldTables,
    pub(super) groups: HeededTies,
    pub(super) pieces: Pieces,
}

/// The way in which the expected value of a measure is computed.
pub struct Expectation {
    form: ExpectedForm,
    /// Whether the value of a query is bounded from below, after the expectation is taken.
    geometric: bool,
}

enum ExpectedForm {
    /// The last step, applied to the expectations of its numbers.
    Linear { reads: Vec<NumberOfLast>, last: Last },
    /// The last step for each number of hits in the group at which reading stops.
    GivenHits { reads: Vec<NumberOfLast>, last: Last, hits: Above, place: Place },
    /// 1 divided by the rank of the first hit.
    Reciprocal { hits: Above, most: f64 },
    /// A closed form of the measure.
    Own(walks::ClosedForm),
    /// The value of any order, because all orders have the same value.
    Any,
}

/// A number that the last step reads.
struct NumberOfLast {
    read: Read,
    /// The discounts of the first ranks of an ideal ranking.
    weights: Option<Weights>,
}

impl NumberOfLast {
    fn new(read: &Read) -> Self {
        // The expectation of a measure is made before reading any ranking, so the depth of ideal
        // rankings is unknown.
        /// The number of ranks with a stored weight. The weights of deeper ranks are computed
        /// singly.
        const DEPTH: usize = 1 << 10;
        let weights = match read {
            Read::Fact(Fact::Ideal(ideal))
            | Read::RetrievedIdeal(ideal)
            | Read::ReturnedIdeal(ideal) => Some(ideal.weights(DEPTH)),
            _ => None,
        };
        NumberOfLast { read: read.clone(), weights }
    }

    fn ideal(
        &self,
        ideal: &IdealRanking,
        counts: impl DoubleEndedIterator<Item = (u8, u32)> + Clone,
    ) -> f64 {
        self.weights.as_ref().map_or(0.0, |weights| ideal.of(weights, counts))
    }
}

/// The number of ranks that are read at a place.
fn ranks(place: &Place, facts: QueryFacts<'_>) -> usize {
    match place {
        Place::Rank(rank) => *rank as usize,
        Place::End => usize::MAX,
        Place::PerQuery(fact) => fact.of(facts) as u32 as usize,
    }
}

impl Expectation {
    /// Makes the expectation of a measure, for rankings that may be cut.
    ///
    /// # Errors
    /// A measure without an expected value in closed form, or whose parameters do not fit the
    /// grades.
    pub fn of(measure: &Measure, book: &Codebook, cuts: Cuts) -> Result<Self> {
        let definition = measure.definition();
        let recipe = measure.recipe(book)?;
        let declared = (definition.traits.expected)(measure);
        let form = match (declared, recipe) {
            // Documents of equal scores count together, and without a cut all of the documents are
            // known.
            _ if measure.needs_ties() => (!cuts.depth).then_some(ExpectedForm::Any),
            (Expected::None, _) | (_, Recipe::Groups(_)) => None,
            (_, Recipe::Walk { .. }) => walks::form(measure, book).map(ExpectedForm::Own),
            (declared, Recipe::Folds { reads, last }) => {
                ExpectedForm::of_reads(declared, &reads, last, cuts)
            }
        };
        let form = form.ok_or_else(|| {
            let whole = Cuts { depth: false, ..cuts };
            let only_cut = cuts.depth && Expectation::of(measure, book, whole).is_ok();
            Error::Unanswerable(refused_mean(measure, cuts, only_cut))
        })?;
        Ok(Expectation { form, geometric: definition.average == Average::Geometric })
    }

    /// Whether its value is the same in every order.
    pub fn is_fixed(&self) -> bool {
        match &self.form {
            ExpectedForm::Any => true,
            ExpectedForm::Linear { reads, .. } => {
                reads.iter().all(|number| matches!(number.read, Read::Fact(_)))
            }
            _ => false,
        }
    }

    /// Whether its value is the last step of the expectations of the columns that it reads, unless
    /// the number of documents of a group is chance.
    pub fn is_linear(&self) -> bool {
        matches!(self.form, ExpectedForm::Linear { .. })
    }

    /// The first hit whose reciprocal rank is the value, if the value is one. `column` has its rank
    /// in one order.
    pub fn first_hit(&self, column: usize) -> Option<FirstHit> {
        match self.form {
            ExpectedForm::Reciprocal { hits, most } => {
                Some(FirstHit { hits, most: most as u32, column })
            }
            _ => None,
        }
    }

    /// The expected value of a row.
    pub fn of_row(&self, row: &mut RankingPieces<'_>, scratch: &mut TieScratch) -> f64 {
        if let (ExpectedForm::Linear { reads, last }, true) =
            (&self.form, self.geometric && row.is_uncertain())
        {
            // The bound is below the expectation, so the numbers are averaged and not the values.
            let mut numbers = vec![0.0; reads.len()];
            row.mean(&mut numbers, |row, numbers| {
                read_all(reads, row, numbers, &mut scratch.tables)
            });
            return finish(last, &numbers);
        }
        let mut value = [0.0];
        row.mean(&mut value, |row, value| value[0] = self.form.value(row, &mut scratch.tables));
        value[0]
    }
}

fn read_all(
    reads: &[NumberOfLast],
    row: &RankingPieces<'_>,
    numbers: &mut [f64],
    tables: &mut FoldTables,
) {
    numbers.iter_mut().zip(reads).for_each(|(number, read)| *number = read.expected(row, tables));
}

fn finish(last: &Last, numbers: &[f64]) -> f64 {
    /// A bound on the numbers that a last step reads.
    const MOST: usize = 16;
    let mut columns: [&[f64]; MOST] = [&[]; MOST];
    columns
        .iter_mut()
        .zip(numbers)
        .for_each(|(column, number)| *column = std::slice::from_ref(number));
    let mut value = [0.0];
    last.finish(&columns[..numbers.len()], &mut value);
    value[0]
}

impl ExpectedForm {
    /// Chooses the form of a last step, if the numbers that it reads have an expectation.
    fn of_reads(declared: Expected, reads: &[Read], last: Last, cuts: Cuts) -> Option<Self> {
        if let (Last::Reciprocal { most }, [Read::Fold(Fold::FirstRank(hits), _)]) = (&last, reads)
        {
            return Some(ExpectedForm::Reciprocal { hits: *hits, most: *most });
        }
        if !reads.iter().all(|read| has_expectation(read, cuts)) {
            return None;
        }
        let numbers = reads.iter().map(NumberOfLast::new).collect();
        if declared == Expected::Linear {
            return Some(ExpectedForm::Linear { reads: numbers, last });
        }
        // The given hits are the hits of the deepest count. Invariant: a fold with a shallower end
        // is a count, or ends above the cut group, because no recipe has another fold. A precision
        // sum with its end inside the group would need the split of the given hits at this end, and
        // gives NaN below.
        let counts = reads.iter().filter_map(|read| match read {
            Read::Fold(Fold::Count(set), place) if *set != Above::RETRIEVED => {
                Some((*set, place.clone()))
            }
            _ => None,
        });
        let deepest = |(_, place): &(Above, Place)| match place {
            Place::Rank(rank) => u64::from(*rank),
            _ => u64::MAX,
        };
        let (hits, place) = counts.max_by_key(deepest)?;
        let known = reads.iter().all(|read| match read {
            Read::Fold(Fold::Count(set), _) => [hits, Above::RETRIEVED].contains(set),
            Read::Fold(Fold::PrecisionSum(set) | Fold::PairSum(set), _) => *set == hits,
            Read::Fold(Fold::WeightedSum { .. }, _) | Read::Fact(_) => true,
            _ => false,
        });
        known.then_some(ExpectedForm::GivenHits { reads: numbers, last, hits, place })
    }

    fn value(&self, row: &RankingPieces<'_>, tables: &mut FoldTables) -> f64 {
        match self {
            ExpectedForm::Linear { reads, last } => {
                let mut numbers = std::mem::take(&mut tables.numbers);
                numbers.resize(reads.len(), 0.0);
                read_all(reads, row, &mut numbers, tables);
                let value = finish(last, &numbers);
                tables.numbers = numbers;
                value
            }
            ExpectedForm::GivenHits { reads, last, hits, place } => {
                given_hits(reads, last, *hits, ranks(place, row.facts), row, tables)
            }
            ExpectedForm::Reciprocal { hits, most } => {
                let ranks = if most.is_finite() { *most as usize } else { usize::MAX };
                folds::first_hit(row, ranks, *hits, |index| 1.0 / (index + 1) as f64)
            }
            ExpectedForm::Own(form) => form(row, tables),
            // Pieces do not say which documents have equal scores, so the value of the ranking's
            // own order is used instead.
            ExpectedForm::Any => f64::NAN,
        }
    }
}

/// Whether a number has an expectation that this module computes.
fn has_expectation(read: &Read, cuts: Cuts) -> bool {
    match read {
        Read::Fold(fold, _) => match fold {
            Fold::Count(_)
            | Fold::PrecisionSum(_)
            | Fold::WeightedSum { .. }
            | Fold::Cascade { .. }
            | Fold::InferredSum(_)
            | Fold::PairSum(_) => true,
            Fold::FirstRank(_)
            | Fold::PeakPrecision { .. }
            | Fold::PreferenceSum { .. }
            | Fold::Histogram => false,
        },
        Read::Preference { .. } | Read::Fact(_) | Read::ReturnedIdeal(_) => true,
        // A group of ties does not change the set of retrieved documents, unless a cut splits the
        // group.
        Read::RetrievedIdeal(_) => !cuts.depth,
        Read::Peak { .. } => false,
    }
}

impl NumberOfLast {
    fn expected(&self, row: &RankingPieces<'_>, tables: &mut FoldTables) -> f64 {
        match &self.read {
            Read::Fold(fold, place) => of_fold(fold, ranks(place, row.facts), row, tables),
            Read::Preference { hits, judged } => {
                folds::preference(row, [*hits, *judged], &mut tables.chances)
            }
            Read::Fact(Fact::Ideal(ideal)) => {
                let judged = |&(code, _): &(u8, u32)| Above::JUDGED.contains(code);
                self.ideal(ideal, row.facts.iter().filter(judged))
            }
            Read::Fact(fact) => fact.of(row.facts),
            Read::RetrievedIdeal(ideal) => self.ideal(ideal, row.retrieved().into_iter()),
            Read::ReturnedIdeal(ideal) => {
                let judged = row.facts.iter().filter(|&(code, _)| Above::JUDGED.contains(code));
                let of = |weights| ideal.of_first(row.depth as u32, weights, judged);
                self.weights.as_ref().map_or(0.0, of)
            }
            Read::Peak { .. } => f64::NAN,
        }
    }
}

/// The expectation of a fold over the first ranks of a row.
pub(super) fn of_fold(
    fold: &Fold,
    ranks: usize,
    row: &RankingPieces<'_>,
    tables: &mut FoldTables,
) -> f64 {
    match fold {
        Fold::Cascade { stop, discount } => folds::cascade(row, ranks, stop, *discount, tables),
        Fold::InferredSum(hits) => folds::inferred_sum(row, *hits, &mut tables.chances),
        Fold::PreferenceSum { hits, judged, .. } => {
            folds::preference(row, [*hits, *judged], &mut tables.chances)
        }
        fold => {
            let mut state = GrowingSum::default();
            row.parts(ranks).for_each(|part| step(fold, &mut state, part, None, tables));
            state.sum
        }
    }
}

/// Adds a part to a sum that grows rank by rank; `given` is the number of hits in the part that is
/// read, if it is known.
fn step(
    fold: &Fold,
    state: &mut GrowingSum,
    part: ReadPiece<'_>,
    given: Option<(Above, usize)>,
    tables: &mut FoldTables,
) {
    let inside = |set: Above| match given {
        Some((_, hits)) => {
            let hits = if set == Above::RETRIEVED { part.read } else { hits };
            Inside { size: part.read, hits }
        }
        None => Inside::of(part, set),
    };
    match fold {
        Fold::Count(set) => folds::count(state, part, inside(*set)),
        Fold::PrecisionSum(set) => {
            folds::precision_sum(state, part, inside(*set), &mut tables.sums)
        }
        Fold::PairSum(set) => folds::pair_sum(state, part, inside(*set)),
        Fold::WeightedSum { gain, discount } => match given {
            Some(given) => {
                folds::weighted_sum_given(
                    &mut state.sum,
                    part,
                    given,
                    gain,
                    *discount,
                    &mut tables.sums,
                );
            }
            None => folds::weighted_sum(&mut state.sum, part, gain, *discount, &mut tables.sums),
        },
        _ => state.sum = f64::NAN,
    }
}

/// The expectation of a last step over the number of hits in the group at which reading stops.
fn given_hits(
    reads: &[NumberOfLast],
    last: &Last,
    hits: Above,
    deepest: usize,
    row: &RankingPieces<'_>,
    tables: &mut FoldTables,
) -> f64 {
    let cut = row.parts(deepest).last().filter(|part| {
        let found = part.count(hits);
        !part.is_whole() && found > 0 && found < part.size
    });
    let mut numbers = vec![0.0; reads.len()];
    let Some(cut) = cut else {
        read_all(reads, row, &mut numbers, tables);
        return finish(last, &numbers);
    };
    // Everything above the cut group is the same for each number of hits: its state is kept, and
    // only the last step of the walk repeated. The part before the group is added once.
    let limit = |place: &Place| ranks(place, row.facts);
    let before: Vec<GrowingSum> = reads
        .iter()
        .map(|number| {
            let mut state = GrowingSum::default();
            match &number.read {
                Read::Fold(fold, place) => row
                    .parts(limit(place))
                    .take_while(|part| part.above < cut.above)
                    .for_each(|part| step(fold, &mut state, part, None, tables)),
                _ => state.sum = number.expected(row, tables),
            }
            state
        })
        .collect();
    let mut chances = std::mem::take(&mut tables.chances);
    chances.fill(cut.size as u64, cut.count(hits) as u64, cut.read as u64);
    let mut mean = 0.0;
    for (found, chance) in chances.iter() {
        for ((number, read), before) in numbers.iter_mut().zip(reads).zip(&before) {
            let mut state = *before;
            if let Read::Fold(fold, place) = &read.read
                && limit(place) > cut.above
            {
                let given = Some((hits, found as usize));
                if limit(place) - cut.above >= cut.read {
                    step(fold, &mut state, cut, given, tables);
                } else if let Fold::Count(set) = fold {
                    // The group is read above its end, and all of its documents are known to be
                    // there.
                    let read = (limit(place) - cut.above) as f64;
                    let share =
                        if *set == Above::RETRIEVED { 1.0 } else { found as f64 / cut.read as f64 };
                    state.sum += read * share;
                } else {
                    state.sum = f64::NAN;
                }
            }
            *number = state.sum;
        }
        mean += chance * finish(last, &numbers);
    }
    tables.chances = chances;
    mean
}
