//! The expected value of a measure over the orders of tied documents in a ranking.
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
//! possible number, and the results are weighted: `TieSegments::mean`.

use super::{
    Cuts,
    first_hit::FirstHit,
    folds::{self, FoldTables, GivenHits, GrowingSum, PrefixHits},
    selected::SelectedTies,
    support::no_mean_reason,
    tie_segments::{SegmentBuffers, SegmentPrefix, TieSegments},
    walks,
};
use crate::error::{Error, Result};
use crate::fold::{Fold, Weights};
use crate::matrix::{Codebook, CodesAbove, GradeHistogram};
use crate::measure::{
    Average, ExpectationRule, IdealRanking, LastStep, Measure, QueryConstant, ReadCutoff, Recipe,
    RecipeInput,
};

/// Memory for values over tie orders, used again from ranking to ranking.
#[derive(Default)]
pub struct TieScratch {
    pub(super) tables: FoldTables,
    pub(super) groups: SelectedTies,
    pub(super) pieces: SegmentBuffers,
}

/// The way in which the expected value of a measure over tie orders is computed.
pub struct Expectation {
    form: ExpectedForm,
    /// Whether the value of a query is bounded from below, after the expectation is taken.
    geometric: bool,
}

enum ExpectedForm {
    /// The last step, applied to the expectations of its numbers.
    Linear { reads: Vec<LastStepInput>, last: LastStep },
    /// The last step for each number of hits in the group at which reading stops.
    GivenHits { reads: Vec<LastStepInput>, last: LastStep, hits: CodesAbove, place: ReadCutoff },
    /// 1 divided by the rank of the first hit.
    Reciprocal { hits: CodesAbove, most: f64 },
    /// A closed form of the measure.
    Own(walks::ClosedForm),
    /// The value of any order, because all orders have the same value.
    Any,
}

/// A number, such as the value of a fold, that the last step of a measure's formula reads.
struct LastStepInput {
    read: RecipeInput,
    /// The discounts of the first ranks of an ideal ranking.
    weights: Option<Weights>,
}

impl LastStepInput {
    fn new(read: &RecipeInput) -> Self {
        // The expectation of a measure is made before reading any ranking, so the depth of ideal
        // rankings is unknown.
        /// The number of ranks with a stored weight. The weights of deeper ranks are computed
        /// singly.
        const DEPTH: usize = 1 << 10;
        let weights = match read {
            RecipeInput::Fact(QueryConstant::Ideal(ideal))
            | RecipeInput::RetrievedIdeal(ideal)
            | RecipeInput::TruncatedIdeal(ideal) => Some(ideal.weights(DEPTH)),
            _ => None,
        };
        Self { read: read.clone(), weights }
    }

    /// Returns the discounted gain of the first `ranks` ranks of an ideal ranking.
    fn ideal(
        &self,
        ideal: &IdealRanking,
        ranks: u32,
        counts: impl DoubleEndedIterator<Item = (u8, u32)> + Clone,
    ) -> f64 {
        self.weights.as_ref().map_or(0.0, |weights| ideal.dcg_at(ranks, weights, counts))
    }
}

/// Returns the number of ranks of a ranking that are read down to a cutoff.
fn ranks(place: &ReadCutoff, facts: GradeHistogram<'_>) -> usize {
    match place {
        ReadCutoff::Rank(rank) => *rank as usize,
        ReadCutoff::End => usize::MAX,
        ReadCutoff::PerQuery(fact) => fact.value_for(facts) as u32 as usize,
    }
}

impl Expectation {
    /// Chooses the way to compute a measure's expected value over tie orders, for rankings that may
    /// be cut.
    ///
    /// # Errors
    /// A measure without an expected value in closed form, or whose parameters do not fit the
    /// grades.
    pub fn new(measure: &Measure, book: &Codebook, cuts: Cuts) -> Result<Self> {
        let definition = measure.definition();
        let recipe = measure.recipe(book)?;
        let declared = (definition.traits.expected)(measure);
        let form = match (declared, recipe) {
            // Documents of equal scores count together, and without a cut all of the documents are
            // known.
            _ if measure.needs_ties() => (!cuts.depth).then_some(ExpectedForm::Any),
            (ExpectationRule::None, _) | (_, Recipe::Facets(_)) => None,
            (_, Recipe::Walk { .. }) => walks::form(measure, book).map(ExpectedForm::Own),
            (declared, Recipe::Folds { reads, last }) => {
                ExpectedForm::choose(declared, &reads, last, cuts)
            }
        };
        let form = form.ok_or_else(|| {
            let whole = Cuts { depth: false, ..cuts };
            let only_cut = cuts.depth && Self::new(measure, book, whole).is_ok();
            Error::Unanswerable(no_mean_reason(measure, cuts, only_cut))
        })?;
        Ok(Self { form, geometric: definition.average == Average::Geometric })
    }

    /// Returns whether the measure's value is the same in every order of tied documents.
    pub fn is_fixed(&self) -> bool {
        match &self.form {
            ExpectedForm::Any => true,
            ExpectedForm::Linear { reads, .. } => {
                reads.iter().all(|number| matches!(number.read, RecipeInput::Fact(_)))
            }
            _ => false,
        }
    }

    /// Returns whether the measure's expected value follows by its last step from the expected
    /// columns, unless the number of documents of a tie group is chance.
    pub fn is_linear(&self) -> bool {
        matches!(self.form, ExpectedForm::Linear { .. })
    }

    /// Returns the first hit whose reciprocal rank is the measure's value, if the value is one.
    /// `column` has its rank in one order.
    pub fn first_hit(&self, column: usize) -> Option<FirstHit> {
        match self.form {
            ExpectedForm::Reciprocal { hits, most } => {
                Some(FirstHit { hits, most: most as u32, column })
            }
            _ => None,
        }
    }

    /// Returns the expected value of the measure over the tie orders of a ranking.
    pub fn value(&self, row: &mut TieSegments<'_>, scratch: &mut TieScratch) -> f64 {
        if self.geometric
            && row.is_uncertain()
            && let ExpectedForm::Linear { reads, last } = &self.form
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
    reads: &[LastStepInput],
    row: &TieSegments<'_>,
    numbers: &mut [f64],
    tables: &mut FoldTables,
) {
    numbers.iter_mut().zip(reads).for_each(|(number, read)| *number = read.expected(row, tables));
}

fn finish(last: &LastStep, numbers: &[f64]) -> f64 {
    /// A bound on the numbers that a last step reads.
    const MOST: usize = 16;
    let mut columns: [&[f64]; MOST] = [&[]; MOST];
    columns.iter_mut().zip(numbers.chunks(1)).for_each(|(column, number)| *column = number);
    let mut value = [0.0];
    last.finish(&columns[..numbers.len()], &mut value);
    value[0]
}

impl ExpectedForm {
    /// Chooses the way to the expectation of a measure's last step, if the numbers that the step
    /// reads have an expectation.
    fn choose(
        declared: ExpectationRule,
        reads: &[RecipeInput],
        last: LastStep,
        cuts: Cuts,
    ) -> Option<Self> {
        if let (LastStep::Reciprocal { most }, [RecipeInput::Fold(Fold::FirstRank(hits), _)]) =
            (&last, reads)
        {
            return Some(Self::Reciprocal { hits: *hits, most: *most });
        }
        if !reads.iter().all(|read| has_expectation(read, cuts)) {
            return None;
        }
        let numbers = reads.iter().map(LastStepInput::new).collect();
        if declared == ExpectationRule::Linear {
            return Some(Self::Linear { reads: numbers, last });
        }
        // The given hits are the hits of the deepest count. Invariant: a fold with a shallower end
        // is a count, or ends above the cut group, because no recipe has another fold. A precision
        // sum with its end inside the group would need the split of the given hits at this end, and
        // gives NaN below.
        let counts = reads.iter().filter_map(|read| match read {
            RecipeInput::Fold(Fold::Count(set), place) if *set != CodesAbove::RETRIEVED => {
                Some((*set, place.clone()))
            }
            _ => None,
        });
        let (hits, place) = counts.max_by_key(|(_, place)| match place {
            ReadCutoff::Rank(rank) => u64::from(*rank),
            _ => u64::MAX,
        })?;
        let known = reads.iter().all(|read| match read {
            RecipeInput::Fold(Fold::Count(set), _) => [hits, CodesAbove::RETRIEVED].contains(set),
            RecipeInput::Fold(Fold::PrecisionSum(set) | Fold::PairSum(set), _) => *set == hits,
            RecipeInput::Fold(Fold::WeightedSum { .. }, _) | RecipeInput::Fact(_) => true,
            _ => false,
        });
        known.then_some(Self::GivenHits { reads: numbers, last, hits, place })
    }

    fn value(&self, row: &TieSegments<'_>, tables: &mut FoldTables) -> f64 {
        match self {
            Self::Linear { reads, last } => {
                let mut numbers = std::mem::take(&mut tables.numbers);
                numbers.resize(reads.len(), 0.0);
                read_all(reads, row, &mut numbers, tables);
                let value = finish(last, &numbers);
                tables.numbers = numbers;
                value
            }
            Self::GivenHits { reads, last, hits, place } => {
                given_hits(reads, last, *hits, ranks(place, row.facts), row, tables)
            }
            Self::Reciprocal { hits, most } => {
                let ranks = if most.is_finite() { *most as usize } else { usize::MAX };
                folds::first_hit(row, ranks, *hits, |index| 1.0 / (index + 1) as f64)
            }
            Self::Own(form) => form(row, tables),
            // Pieces do not say which documents have equal scores, so the value of the ranking's
            // own order is used instead.
            Self::Any => f64::NAN,
        }
    }
}

/// Returns whether a number that a measure reads has an expectation over tie orders that this
/// module computes.
fn has_expectation(read: &RecipeInput, cuts: Cuts) -> bool {
    match read {
        RecipeInput::Fold(fold, _) => matches!(
            fold,
            Fold::Count(_)
                | Fold::PrecisionSum(_)
                | Fold::WeightedSum { .. }
                | Fold::Cascade { .. }
                | Fold::InferredSum(_)
                | Fold::PairSum(_)
        ),
        RecipeInput::Preference { .. } | RecipeInput::Fact(_) | RecipeInput::TruncatedIdeal(_) => {
            true
        }
        // A group of ties does not change the set of retrieved documents, unless a cut splits the
        // group.
        RecipeInput::RetrievedIdeal(_) => !cuts.depth,
        RecipeInput::Peak { .. } => false,
    }
}

impl LastStepInput {
    fn expected(&self, row: &TieSegments<'_>, tables: &mut FoldTables) -> f64 {
        match &self.read {
            RecipeInput::Fold(fold, place) => {
                fold_expectation(fold, ranks(place, row.facts), row, tables)
            }
            RecipeInput::Preference { hits, judged } => {
                folds::preference(row, [*hits, *judged], &mut tables.chances)
            }
            RecipeInput::Fact(QueryConstant::Ideal(ideal)) => {
                self.ideal(ideal, u32::MAX, row.facts.judged())
            }
            RecipeInput::Fact(fact) => fact.value_for(row.facts),
            RecipeInput::RetrievedIdeal(ideal) => {
                self.ideal(ideal, u32::MAX, row.retrieved().into_iter())
            }
            RecipeInput::TruncatedIdeal(ideal) => {
                self.ideal(ideal, row.depth as u32, row.facts.judged())
            }
            RecipeInput::Peak { .. } => f64::NAN,
        }
    }
}

/// Returns the expected value of a fold over the first ranks of a ranking with tied documents.
pub fn fold_expectation(
    fold: &Fold,
    ranks: usize,
    row: &TieSegments<'_>,
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

/// Adds the read ranks of one tie group or stretch of a ranking to a fold's expected sum; `given`
/// is the number of hits there, if it is known.
fn step(
    fold: &Fold,
    state: &mut GrowingSum,
    part: SegmentPrefix<'_>,
    given: Option<GivenHits>,
    tables: &mut FoldTables,
) {
    let (sum, sums) = (&mut state.sum, &mut tables.sums);
    let inside = |set: &CodesAbove| hits_inside(part, *set, given);
    match fold {
        Fold::Count(set) => *sum += inside(set).expected(part.read),
        Fold::PrecisionSum(set) => folds::precision_sum(state, part, inside(set), sums),
        Fold::PairSum(set) => folds::pair_sum(state, part, inside(set)),
        Fold::WeightedSum { gain, discount } => match given {
            Some(given) => folds::weighted_sum_given(sum, part, given, gain, *discount, sums),
            None => folds::weighted_sum(sum, part, gain, *discount, sums),
        },
        _ => state.sum = f64::NAN,
    }
}

/// Returns the numbers of documents and hits of a tie group or stretch, or of its read ranks alone
/// if their number of hits is given.
fn hits_inside(part: SegmentPrefix<'_>, set: CodesAbove, given: Option<GivenHits>) -> PrefixHits {
    match given {
        Some(GivenHits { hits, .. }) => {
            // Every document that is read is retrieved, whatever the number of hits.
            let hits = if set == CodesAbove::RETRIEVED { part.read } else { hits };
            PrefixHits { size: part.read, hits }
        }
        None => PrefixHits::new(part, set),
    }
}

/// Returns the expectation of a measure's last step over the number of hits in the tie group at
/// which reading stops.
fn given_hits(
    reads: &[LastStepInput],
    last: &LastStep,
    hits: CodesAbove,
    deepest: usize,
    row: &TieSegments<'_>,
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
    let before: Vec<_> = reads
        .iter()
        .map(|number| {
            let mut state = GrowingSum::default();
            match &number.read {
                RecipeInput::Fold(fold, place) => row
                    .parts(ranks(place, row.facts))
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
        let given = GivenHits { set: hits, hits: found as usize };
        for ((number, read), before) in numbers.iter_mut().zip(reads).zip(&before) {
            let mut state = *before;
            if let RecipeInput::Fold(fold, place) = &read.read
                && let read @ 1.. = ranks(place, row.facts).saturating_sub(cut.above)
            {
                add_cut_tie(fold, &mut state, cut, read, given, tables);
            }
            *number = state.sum;
        }
        mean += chance * finish(last, &numbers);
    }
    tables.chances = chances;
    mean
}

/// Adds to a fold the first `read` ranks of a tie that the depth cuts, given the number of hits
/// among its retrieved documents.
fn add_cut_tie(
    fold: &Fold,
    state: &mut GrowingSum,
    cut: SegmentPrefix<'_>,
    read: usize,
    given: GivenHits,
    tables: &mut FoldTables,
) {
    if read >= cut.read {
        step(fold, state, cut, Some(given), tables);
    } else if let Fold::Count(set) = fold {
        // The tie is read above its end, and all of its documents are known to be there.
        let is_any = *set == CodesAbove::RETRIEVED;
        let share = if is_any { 1.0 } else { given.hits as f64 / cut.read as f64 };
        state.sum += read as f64 * share;
    } else {
        state.sum = f64::NAN;
    }
}
