//! Agreement between judges that graded the same items, where most items have grades of only some judges.
//!
//! Three families of coefficients compare the disagreement that was observed with the disagreement that is expected by chance. All
//! are 1 − observed / expected: 1 where all judges agree, around 0 where they agree no more than by chance, and negative below that.
//!
//! - Cohen's kappa of each pair of judges, over the items that both graded ([`PairAgreement`]).
//! - Fleiss' kappa of all judges together ([`JudgeAgreement::fleiss`]).
//! - Krippendorff's alpha of all judges together, for grades without order, with an order, and with distances
//!   ([`JudgeAgreement::alpha_nominal`], [`JudgeAgreement::alpha_ordinal`], [`JudgeAgreement::alpha_interval`]).
//!
//! A coefficient is `None` where the expected disagreement is 0: where no item has two grades, or where all grades that count are
//! equal. Perfect agreement on a single grade is therefore `None`, not 1: chance would agree as well.
//!
//! Results do not depend on the order of the ratings, nor on the numbers that the items and judges have: grades are counted in
//! integers, and floats are added in an order that only the grades decide.
//!
//! How the formulas become what is computed:
//!
//! * *Kappa in integers.* With n common items, p_o = equal / n and p_e = Σ a(c) b(c) / n². Multiplied by n², (p_o − p_e) / (1 − p_e) is
//!   (n · equal − Σ a b) / (n² − Σ a b), two integers and one division, so that agreement at the level of chance is exactly 0.
//! * *Weighted kappa* is in units of items, 1 − n · Σ w · observed / Σ w · a · b. *Fleiss* is written as disagreement,
//!   1 − (1 − P) / (1 − P_e), which needs only numbers of pairs that differ.
//! * *Distances without pairs.* Σ |x − y| and Σ (x − y)² over all pairs of n values would be n² terms. Where a point moves up the sorted
//!   values by s, with k values behind it, the sum of distances grows by s k, and that of squares by s (2 · sum of distances + s k), for
//!   (d + s)² = d² + 2 d s + s². So a pass is linear, and all terms are positive: nothing cancels.
//! * *Ordinal alpha* is interval alpha on other positions. Σ n(g) from c to k, less (n(c) + n(k)) / 2, is the difference of the middles of
//!   the ranks that the grades k and c take. Twice the middle is an integer; the factor 4 of the squares cancels in the quotient.
//! * *Scale.* Coefficients are quotients of sums in one unit, so positions may be divided by their range, which is done where squares could
//!   overflow or vanish.
//!
//! What it costs: sorting the ratings twice, by judge and by item, and for each pair of judges one walk down two sorted lists.

use std::collections::BTreeMap;
use std::fmt;

/// The largest number of judges for which each pair is compared.
pub const MOST_PAIRED_JUDGES: usize = 50;

/// One rating: the numbers of an item and a judge, and the grade that the judge gave to the item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    /// The number of the item, such as a document of a query.
    pub item: u32,
    /// The number of the judge, from 0.
    pub judge: u32,
    /// The grade: a finite number. The two zeros are the same grade.
    pub grade: f64,
}

/// A fault of a rating.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RatingFault {
    /// A grade is infinite or not a number.
    NotFinite {
        /// The number of the item.
        item: u32,
        /// The number of the judge.
        judge: u32,
        /// The grade.
        grade: f64,
    },
    /// A judge's number is not below the number of judges.
    NoSuchJudge {
        /// The number of the item.
        item: u32,
        /// The number of the judge.
        judge: u32,
        /// The number of judges.
        judges: usize,
    },
    /// A judge graded an item twice.
    Twice {
        /// The number of the item.
        item: u32,
        /// The number of the judge.
        judge: u32,
    },
}

impl fmt::Display for RatingFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite { item, judge, grade } => {
                write!(out, "item {item}, judge {judge}: the grade is {grade}, expected a finite number")
            }
            Self::NoSuchJudge { item, judge, judges } => {
                write!(out, "item {item}: the judge is {judge}, expected a number below {judges}")
            }
            Self::Twice { item, judge } => {
                write!(out, "item {item}, judge {judge}: rated twice, expected at most one rating")
            }
        }
    }
}

impl std::error::Error for RatingFault {}

/// Agreement between two judges over the items that both graded.
///
/// A kappa is `None` where the judges have no item in common, and where all their grades of common items are equal.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PairAgreement {
    /// The numbers of the two judges, the lower first.
    pub judges: [u32; 2],
    /// The number of items that both graded.
    pub common: usize,
    /// The number of these items to which both gave the same grade.
    pub equal: usize,
    /// Cohen's kappa without weights, where any two different grades disagree alike; from −1 to 1 (Cohen 1960, "A coefficient of
    /// agreement for nominal scales").
    ///
    /// (p_o − p_e) / (1 − p_e), where p_o is the share of equal grades, and p_e the sum over the grades of the product of the shares
    /// with which the two judges use the grade.
    pub kappa: Option<f64>,
    /// Cohen's kappa with linear weights; from −1 to 1 (Cohen 1968, "Weighted kappa: nominal scale agreement with provision for
    /// scaled disagreement or partial credit").
    ///
    /// 1 − Σ w(g, h) o(g, h) / Σ w(g, h) e(g, h), where o(g, h) is the share of items with the grade g of the first judge and h of the
    /// second, e(g, h) is the product of the shares with which the first judge uses g and the second uses h, and the weight
    /// w(g, h) is |g − h|, in units of the grades. Implementations whose weights are differences between the positions in the list of
    /// grades in use give the same where these grades are evenly spaced, such as 0, 1, 2. They give another value where the two
    /// judges leave out a grade between others.
    pub kappa_linear: Option<f64>,
    /// Cohen's kappa with quadratic weights, as [`kappa_linear`](Self::kappa_linear) with w(g, h) = (g − h)²; from −1 to 1.
    pub kappa_quadratic: Option<f64>,
}

impl PairAgreement {
    /// The share of the common items to which both judges gave the same grade, from 0 to 1; `None` without common items.
    pub fn share_equal(&self) -> Option<f64> {
        (self.common > 0).then(|| self.equal as f64 / self.common as f64)
    }
}

/// Agreement between judges: counts, and the coefficients of pairs and of all judges.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct JudgeAgreement {
    /// The number of ratings.
    pub ratings: usize,
    /// The number of judges with at least one rating.
    pub judges: usize,
    /// The number of items with at least one rating.
    pub items: usize,
    /// The number of items with at least two ratings. Only these count in Fleiss' kappa and in Krippendorff's alpha.
    pub shared_items: usize,
    /// The number of ratings of items with at least two ratings.
    pub shared_ratings: usize,
    /// All pairs of judges, (0, 1), (0, 2) … (1, 2) …, also those without common items; empty if
    /// [`pairs_left_out`](Self::pairs_left_out).
    pub pairs: Vec<PairAgreement>,
    /// A sign that there are more than [`MOST_PAIRED_JUDGES`] judges, and pairs are not compared.
    pub pairs_left_out: bool,
    /// Fleiss' kappa (Fleiss 1971, "Measuring nominal scale agreement among many raters"), over the items with at least two ratings.
    ///
    /// (P − P_e) / (1 − P_e). P is the mean over the items of the share of equal grades among the n (n − 1) ordered pairs of an
    /// item's n ratings, and P_e is the sum of the squared shares of the grades among all ratings of these items. Fleiss has the same
    /// number n of ratings for every item; the value is then between −1/(n − 1) and 1. With unequal numbers, each item has the same
    /// part in P, and each rating the same part in P_e; the value is at most 1, and can be below −1.
    ///
    /// `None` where no item has two ratings, and where all grades of these items are equal.
    pub fleiss: Option<f64>,
    /// Krippendorff's alpha with the nominal metric, where any two different grades disagree alike; above −1, at most 1
    /// (Krippendorff 2011, "Computing Krippendorff's alpha-reliability").
    ///
    /// 1 − (n − 1) Σ o(c, k) δ²(c, k) / Σ n(c) n(k) δ²(c, k), over the items with at least two ratings. The coincidence o(c, k) is the
    /// sum over the items of the number of ordered pairs of ratings with the grades c and k, divided by the item's number of ratings
    /// less 1; n(c) is the number of ratings with the grade c, and n is the number of all ratings of these items. The metric
    /// δ²(c, k) is 1 for different grades.
    ///
    /// `None` where no item has two ratings, and where all grades of these items are equal.
    pub alpha_nominal: Option<f64>,
    /// Krippendorff's alpha with the ordinal metric: as [`alpha_nominal`](Self::alpha_nominal), where δ(c, k) is the sum of n(g) over
    /// the grades g from c to k, less (n(c) + n(k)) / 2. Only the order of the grades counts.
    pub alpha_ordinal: Option<f64>,
    /// Krippendorff's alpha with the interval metric: as [`alpha_nominal`](Self::alpha_nominal), where δ(c, k) is c − k.
    pub alpha_interval: Option<f64>,
}

/// Computes the agreement between judges from their `ratings`, in any order; each judge's number is below `judges`.
///
/// The time is that of sorting the ratings, and, for up to [`MOST_PAIRED_JUDGES`] judges, of reading each judge's ratings once for
/// every other judge. The memory does not grow with the number of pairs of grades.
///
/// # Errors
///
/// A [`RatingFault`] if a grade is not finite, a judge's number is not below `judges`, or a judge rated an item twice. Faults are
/// looked for in this sequence. Of several faults of one kind, it is the one of the lowest judge, and of this judge's lowest item.
///
/// ```
/// # use laneval::judges::{Rating, agreement};
/// // Two judges grade four items, and disagree about the last.
/// let grades = [(0, [1.0, 1.0]), (1, [0.0, 0.0]), (2, [1.0, 1.0]), (3, [0.0, 1.0])];
/// let ratings: Vec<Rating> = grades
///     .iter()
///     .flat_map(|&(item, [a, b])| [Rating { item, judge: 0, grade: a }, Rating { item, judge: 1, grade: b }])
///     .collect();
/// let found = agreement(&ratings, 2)?;
/// assert_eq!((found.pairs[0].common, found.pairs[0].equal), (4, 3));
/// assert_eq!(found.pairs[0].kappa, Some(0.5));
/// # Ok::<(), laneval::judges::RatingFault>(())
/// ```
pub fn agreement(ratings: &[Rating], judges: usize) -> Result<JudgeAgreement, RatingFault> {
    let first = |wrong: &dyn Fn(&&Rating) -> bool| {
        ratings.iter().filter(wrong).min_by_key(|rating| (rating.judge, rating.item)).copied()
    };
    if let Some(Rating { item, judge, grade }) = first(&|rating| !rating.grade.is_finite()) {
        return Err(RatingFault::NotFinite { item, judge, grade });
    }
    if let Some(Rating { item, judge, .. }) = first(&|rating| rating.judge as usize >= judges) {
        return Err(RatingFault::NoSuchJudge { item, judge, judges });
    }
    let (mut coded, grades) = coded(ratings);

    coded.sort_unstable_by_key(|rating| (rating.judge, rating.item));
    let same = |a: &Coded, b: &Coded| (a.judge, a.item) == (b.judge, b.item);
    if let Some(&[Coded { item, judge, .. }, ..]) = coded.chunk_by(same).find(|same| same.len() > 1) {
        return Err(RatingFault::Twice { item, judge });
    }
    let pairs_left_out = judges > MOST_PAIRED_JUDGES;
    let pairs = if pairs_left_out { Vec::new() } else { pairs(&coded, judges, &grades) };
    let judges = coded.chunk_by(|a, b| a.judge == b.judge).count();

    coded.sort_unstable_by_key(|rating| (rating.item, rating.code));
    let items = coded.chunk_by(|a, b| a.item == b.item).count();
    let shared = SharedItems::new(&coded, &grades);
    Ok(JudgeAgreement {
        ratings: ratings.len(),
        judges,
        items,
        shared_items: shared.items(),
        shared_ratings: shared.ratings,
        pairs,
        pairs_left_out,
        fleiss: shared.fleiss(),
        alpha_nominal: shared.alpha_nominal(),
        alpha_ordinal: shared.alpha_at(&shared.middle_ranks()),
        alpha_interval: shared.alpha_at(&shared.positions()),
    })
}

/// A rating whose grade is replaced by its position in the sorted list of grades.
#[derive(Debug, Clone, Copy)]
struct Coded {
    item: u32,
    judge: u32,
    code: usize,
}

/// Returns the `ratings` with codes, and the sorted list of different grades. The grades are finite.
fn coded(ratings: &[Rating]) -> (Vec<Coded>, Vec<f64>) {
    let mut grades: Vec<f64> = ratings.iter().map(|rating| rating.grade).collect();
    grades.sort_unstable_by(f64::total_cmp);
    // The two zeros are equal, and of them the first is kept.
    grades.dedup();
    let code = |grade: f64| grades.partition_point(|&lower| lower < grade);
    let coded = ratings.iter().map(|&Rating { item, judge, grade }| Coded { item, judge, code: code(grade) });
    (coded.collect(), grades)
}

/// Returns the positions of sorted `grades` on an axis where the lowest is at 0.
///
/// The positions are differences of grades, unless squares of these could overflow or vanish; then the highest is at 1. The
/// coefficients do not depend on the unit of the axis.
fn positions(grades: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let (Some(lowest), Some(highest)) = (grades.clone().next(), grades.clone().last()) else {
        return Vec::new();
    };
    let range = highest - lowest;
    if range == 0.0 || (1e-60..=1e60).contains(&range) {
        grades.map(|grade| grade - lowest).collect()
    } else if range.is_finite() {
        grades.map(|grade| (grade - lowest) / range).collect()
    } else {
        // The range of two huge grades of different signs overflows; half of it does not.
        let half_range = highest / 2.0 - lowest / 2.0;
        grades.map(|grade| (grade / 2.0 - lowest / 2.0) / half_range).collect()
    }
}

/// Sums of distances from a point on an axis to ratings that are not after it. The point only moves forward.
///
/// All terms are positive, so that there is no cancellation, and sums of integers below 2⁵³ are exact.
#[derive(Debug, Default)]
struct Distances {
    point: f64,
    /// The number of ratings.
    count: f64,
    /// The sum of the distances.
    linear: f64,
    /// The sum of the squared distances.
    square: f64,
}

impl Distances {
    /// Moves the point forward to `point`.
    fn advance(&mut self, point: f64) {
        let step = point - self.point;
        self.square += step * (2.0 * self.linear + step * self.count);
        self.linear += step * self.count;
        self.point = point;
    }

    /// Adds `count` ratings at the point.
    fn add(&mut self, count: f64) {
        self.count += count;
    }
}

/// Returns the sum of squared distances over all pairs of ratings, each pair once, from positions in ascending order and the number
/// of ratings at each.
fn squared_distances(counts: impl Iterator<Item = (f64, f64)>) -> f64 {
    let mut before = Distances::default();
    let mut sum = 0.0;
    for (position, count) in counts {
        before.advance(position);
        sum += count * before.square;
        before.add(count);
    }
    sum
}

/// Counts of the items with at least two ratings.
struct SharedItems<'a> {
    /// All ratings, sorted by item and code.
    coded: &'a [Coded],
    /// The sorted list of grades.
    grades: &'a [f64],
    /// The number of ratings of these items.
    ratings: usize,
    /// The number of ratings of these items with each grade.
    totals: Vec<usize>,
    /// Items and their ordered pairs of different grades, both by the number of ratings of an item.
    sizes: BTreeMap<usize, (usize, u128)>,
}

impl<'a> SharedItems<'a> {
    /// Counts the ratings of `coded`, which are sorted by item and code.
    fn new(coded: &'a [Coded], grades: &'a [f64]) -> Self {
        let mut totals = vec![0; grades.len()];
        let mut sizes: BTreeMap<usize, (usize, u128)> = BTreeMap::new();
        for item in shared_items(coded) {
            let (items, different) = sizes.entry(item.len()).or_default();
            *items += 1;
            for (code, count) in runs(item) {
                totals[code] += count;
                // In 128 bits: ratings are fewer than 2⁶⁴, whose square fits.
                *different += count as u128 * (item.len() - count) as u128;
            }
        }
        Self { coded, grades, ratings: totals.iter().sum(), totals, sizes }
    }

    /// The number of these items.
    fn items(&self) -> usize {
        self.sizes.values().map(|(items, _)| items).sum()
    }

    /// The number of ordered pairs of different grades among all ratings of these items, from any items; `None` if it is 0.
    fn different_pairs(&self) -> Option<f64> {
        let count = |&count: &usize| count as u128 * (self.ratings - count) as u128;
        let pairs: u128 = self.totals.iter().map(count).sum();
        (pairs > 0).then_some(pairs as f64)
    }

    /// Computes Fleiss' kappa.
    fn fleiss(&self) -> Option<f64> {
        let expected = self.different_pairs()? / (self.ratings as u128).pow(2) as f64;
        let share = |(&size, &(_, different)): (&usize, &(usize, u128))| {
            different as f64 / (size as u128 * (size - 1) as u128) as f64
        };
        let observed = self.sizes.iter().map(share).sum::<f64>() / self.items() as f64;
        Some(1.0 - observed / expected)
    }

    /// Computes Krippendorff's alpha with the nominal metric.
    fn alpha_nominal(&self) -> Option<f64> {
        let expected = self.different_pairs()?;
        let observed = self.sizes.iter().map(|(&size, &(_, different))| different as f64 / (size - 1) as f64);
        Some(self.alpha(observed.sum(), expected))
    }

    /// Computes Krippendorff's alpha where the disagreement of two grades is the squared distance between their `positions`, one for
    /// each grade. Positions of grades that these items do not have are not used.
    fn alpha_at(&self, positions: &[f64]) -> Option<f64> {
        self.different_pairs()?;
        let counts = positions.iter().zip(&self.totals).filter(|&(_, &count)| count > 0);
        let expected = squared_distances(counts.map(|(&position, &count)| (position, count as f64)));
        let within = |item: &[Coded]| {
            squared_distances(runs(item).map(|(code, count)| (positions[code], count as f64)))
        };
        // Sorted sums do not depend on the numbers of the items. Of items with equally many ratings, the sum is divided once.
        let mut items: Vec<(usize, f64)> =
            shared_items(self.coded).map(|item| (item.len(), within(item))).collect();
        items.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let observed = items
            .chunk_by(|a, b| a.0 == b.0)
            .map(|items| items.iter().map(|(_, squares)| squares).sum::<f64>() / (items[0].0 - 1) as f64);
        Some(self.alpha(observed.sum(), expected))
    }

    /// Returns 1 − (n − 1) · `observed` / `expected`, where n is the number of ratings of these items.
    fn alpha(&self, observed: f64, expected: f64) -> f64 {
        1.0 - (self.ratings - 1) as f64 * observed / expected
    }

    /// The grades' ranks among the ratings of these items: twice the middle of the ranks that a grade takes. The distance between two
    /// is twice that of the ordinal metric.
    fn middle_ranks(&self) -> Vec<f64> {
        let mut before = 0u128;
        let rank = |&count: &usize| {
            let middle = 2 * before + count as u128;
            before += count as u128;
            middle as f64
        };
        self.totals.iter().map(rank).collect()
    }

    /// The positions of the grades of these items; grades of other items are at 0.
    fn positions(&self) -> Vec<f64> {
        let used = || (0..self.grades.len()).filter(|&code| self.totals[code] > 0);
        let mut all = vec![0.0; self.grades.len()];
        for (code, position) in used().zip(positions(used().map(|code| self.grades[code]))) {
            all[code] = position;
        }
        all
    }
}

/// Returns the ratings of each item with at least two; `coded` is sorted by item.
fn shared_items(coded: &[Coded]) -> impl Iterator<Item = &[Coded]> {
    coded.chunk_by(|a, b| a.item == b.item).filter(|item| item.len() > 1)
}

/// Returns the different codes of an `item`'s ratings, which are sorted by code, and the number of ratings with each.
fn runs(item: &[Coded]) -> impl Iterator<Item = (usize, usize)> {
    item.chunk_by(|a, b| a.code == b.code).map(|run| (run[0].code, run.len()))
}

/// Compares all pairs of `judges` judges; `coded` is sorted by judge and item.
fn pairs(coded: &[Coded], judges: usize, grades: &[f64]) -> Vec<PairAgreement> {
    let start = |judge: usize| coded.partition_point(|rating| (rating.judge as usize) < judge);
    let columns: Vec<&[Coded]> = (0..judges).map(|judge| &coded[start(judge)..start(judge + 1)]).collect();
    let mut pairs = Vec::with_capacity(judges * judges.saturating_sub(1) / 2);
    let mut common = Vec::new();
    for first in 0..judges {
        for second in first + 1..judges {
            common_items(columns[first], columns[second], &mut common);
            pairs.push(pair([first as u32, second as u32], &mut common, grades));
        }
    }
    pairs
}

/// Collects into `common` the codes that two judges gave to each item that both graded; `first` and `second` are their ratings, sorted
/// by item.
fn common_items(first: &[Coded], second: &[Coded], common: &mut Vec<[usize; 2]>) {
    common.clear();
    let mut second = second.iter().peekable();
    for a in first {
        while second.next_if(|b| b.item < a.item).is_some() {}
        if let Some(b) = second.next_if(|b| b.item == a.item) {
            common.push([a.code, b.code]);
        }
    }
}

/// Compares two `judges` by the codes that they gave to each of their `common` items.
fn pair(judges: [u32; 2], common: &mut [[usize; 2]], grades: &[f64]) -> PairAgreement {
    // How often each of the two judges used each grade.
    let mut used: BTreeMap<usize, [usize; 2]> = BTreeMap::new();
    for &[a, b] in &*common {
        used.entry(a).or_default()[0] += 1;
        used.entry(b).or_default()[1] += 1;
    }
    let equal = common.iter().filter(|[a, b]| a == b).count();
    let mut found = PairAgreement {
        judges,
        common: common.len(),
        equal,
        kappa: None,
        kappa_linear: None,
        kappa_quadratic: None,
    };
    if used.len() < 2 {
        return found;
    }
    // Integers: the number of items, squared, times 1 − p_e and times p_o − p_e.
    let items = common.len() as i128;
    let chance: i128 = used.values().map(|&[a, b]| a as i128 * b as i128).sum();
    found.kappa = Some((items * equal as i128 - chance) as f64 / (items * items - chance) as f64);

    let positions = positions(used.keys().map(|&code| grades[code]));
    let (mut expected_linear, mut expected_square) = (0.0, 0.0);
    let mut before = [Distances::default(), Distances::default()];
    for (&position, counts) in positions.iter().zip(used.values()) {
        let [a, b] = counts.map(|count| count as f64);
        before.iter_mut().for_each(|before| before.advance(position));
        expected_linear += b * before[0].linear + a * before[1].linear;
        expected_square += b * before[0].square + a * before[1].square;
        before[0].add(a);
        before[1].add(b);
    }
    // Equal pairs of grades are brought together, whichever judge gave the lower.
    common.iter_mut().for_each(|codes| codes.sort_unstable());
    common.sort_unstable();
    let places: BTreeMap<usize, f64> = used.keys().copied().zip(positions).collect();
    let (mut observed_linear, mut observed_square) = (0.0, 0.0);
    for cell in common.chunk_by(|a, b| a == b) {
        let [low, high] = cell[0];
        let distance = places[&high] - places[&low];
        observed_linear += cell.len() as f64 * distance;
        observed_square += cell.len() as f64 * distance * distance;
    }
    found.kappa_linear = Some(1.0 - items as f64 * observed_linear / expected_linear);
    found.kappa_quadratic = Some(1.0 - items as f64 * observed_square / expected_square);
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cases::cases;

    /// Returns the ratings of a table with a row for each judge and a column for each item, where NaN is a missing rating.
    fn from_table(table: &[Vec<f64>]) -> Vec<Rating> {
        let row = |(judge, row): (usize, &Vec<f64>)| {
            let rating =
                move |(item, &grade): (usize, &f64)| Rating { item: item as u32, judge: judge as u32, grade };
            row.iter().enumerate().map(rating).filter(|rating| !rating.grade.is_nan()).collect::<Vec<_>>()
        };
        table.iter().enumerate().flat_map(row).collect()
    }

    /// Returns the agreement of a table with a row for each judge.
    fn of_table(table: &[Vec<f64>]) -> JudgeAgreement {
        agreement(&from_table(table), table.len()).unwrap()
    }

    /// Returns the ratings of a text with a row for each judge, where a dot is a missing rating.
    fn of_text(text: &str) -> JudgeAgreement {
        let number = |word: &str| if word == "." { f64::NAN } else { word.parse().unwrap() };
        let table: Vec<Vec<f64>> =
            text.lines().map(|line| line.split_whitespace().map(number).collect()).collect();
        of_table(&table)
    }

    /// Returns the agreement of items of which only the number of ratings with each grade is known, in a row for each item.
    fn of_counts(table: &[&[usize]]) -> JudgeAgreement {
        let mut ratings = Vec::new();
        for (item, counts) in table.iter().enumerate() {
            let grades =
                counts.iter().enumerate().flat_map(|(grade, &count)| std::iter::repeat_n(grade, count));
            ratings.extend(grades.zip(0..).map(|(grade, judge)| Rating {
                item: item as u32,
                judge,
                grade: grade as f64,
            }));
        }
        agreement(&ratings, 100).unwrap()
    }

    /// Returns the agreement of two judges of whom the number of items for each pair of grades is known.
    fn of_cells(cells: &[&[usize]]) -> PairAgreement {
        let mut table = vec![Vec::new(), Vec::new()];
        for (first, row) in cells.iter().enumerate() {
            for (second, &count) in row.iter().enumerate() {
                table[0].extend(std::iter::repeat_n(first as f64, count));
                table[1].extend(std::iter::repeat_n(second as f64, count));
            }
        }
        of_table(&table).pairs.remove(0)
    }

    #[track_caller]
    fn near(value: Option<f64>, expected: f64, within: f64) {
        let value = value.expect("a value");
        assert!((value - expected).abs() <= within, "{value} is not {expected}");
    }

    /// An example of Krippendorff 2011: four observers, twelve units, missing values.
    const KRIPPENDORFF: &str = "1 2 3 3 2 1 4 1 2 . . .
                                1 2 3 3 2 2 4 1 2 5 . 3
                                . 3 3 3 2 3 4 2 2 5 1 .
                                1 2 3 3 2 4 4 1 2 5 1 .";

    #[test]
    fn alpha_of_four_observers_is_as_published() {
        let found = of_text(KRIPPENDORFF);
        near(found.alpha_nominal, 0.743, 0.0005);
        near(found.alpha_ordinal, 0.815, 0.0005);
        near(found.alpha_interval, 0.849, 0.0005);
        assert_eq!((found.ratings, found.judges, found.items), (41, 4, 12));
        // The last unit has one value.
        assert_eq!((found.shared_items, found.shared_ratings), (11, 40));
    }

    #[test]
    fn alpha_of_two_observers_is_as_published() {
        let binary = of_text("0 1 0 0 0 0 0 0 1 0\n1 1 1 0 0 1 0 0 0 0");
        near(binary.alpha_nominal, 0.095, 0.0005);
        // The letters a to e as 1 to 5.
        let letters = of_text("1 1 2 2 4 3 3 3 5 4 4 1\n2 1 2 2 2 3 3 3 5 4 4 4");
        near(letters.alpha_nominal, 0.692, 0.0005);
    }

    #[test]
    fn fleiss_of_fourteen_raters_is_as_published() {
        let found = of_counts(&[
            &[0, 0, 0, 0, 14],
            &[0, 2, 6, 4, 2],
            &[0, 0, 3, 5, 6],
            &[0, 3, 9, 2, 0],
            &[2, 2, 8, 1, 1],
            &[7, 7, 0, 0, 0],
            &[3, 2, 6, 3, 0],
            &[2, 5, 3, 2, 2],
            &[6, 5, 2, 1, 0],
            &[0, 2, 2, 3, 7],
        ]);
        near(found.fleiss, 0.210, 0.0005);
        assert_eq!((found.ratings, found.judges, found.shared_items), (140, 14, 10));
    }

    /// The diagnoses of thirty patients of Fleiss 1971, with a row for each rating of a patient; the raters are not known.
    const DIAGNOSES: &str = "4 2 2 5 2 1 3 1 1 5 1 1 2 1 2 3 1 1 2 1 5 2 2 1 1 2 1 2 1 5
                             4 2 3 5 2 1 3 1 1 5 4 2 2 4 2 3 1 1 2 3 5 4 2 1 4 2 1 2 3 5
                             4 2 3 5 2 3 3 3 4 5 4 4 2 4 4 3 1 1 4 3 5 4 4 4 4 2 1 4 3 5
                             4 5 3 5 4 3 3 3 4 5 4 4 3 4 4 3 4 1 4 5 5 4 5 4 4 2 1 4 3 5
                             4 5 3 5 4 3 5 3 4 5 4 4 3 4 4 3 5 1 4 5 5 4 5 4 4 2 5 4 3 5
                             4 5 5 5 4 3 5 4 4 5 4 4 3 4 5 5 5 2 4 5 5 4 5 4 5 4 5 4 3 5";

    #[test]
    fn fleiss_of_diagnoses_is_as_published() {
        let found = of_text(DIAGNOSES);
        near(found.fleiss, 0.430, 0.0005);
    }

    #[test]
    fn cohens_kappa_is_as_published() {
        // The table of 200 cases of Cohen 1968.
        let found = of_cells(&[&[88, 14, 18], &[10, 40, 10], &[2, 6, 12]]);
        assert_eq!((found.common, found.equal), (200, 140));
        near(found.kappa, 0.492, 0.0005);
        // The numbers of cases one grade and two grades apart, as observed and as expected.
        let (one, two): (f64, f64) = (14.0 + 10.0 + 10.0 + 6.0, 18.0 + 2.0);
        let apart_one = (120.0 * 60.0 + 60.0 * 100.0 + 60.0 * 40.0 + 20.0 * 60.0) / 200.0;
        let apart_two = (120.0 * 40.0 + 20.0 * 100.0) / 200.0;
        near(found.kappa_linear, 1.0 - (one + 2.0 * two) / (apart_one + 2.0 * apart_two), 1e-15);
        near(found.kappa_quadratic, 1.0 - (one + 4.0 * two) / (apart_one + 4.0 * apart_two), 1e-15);
        // Fifty proposals with two grades.
        assert_eq!(of_cells(&[&[20, 5], &[10, 15]]).kappa, Some(0.4));
    }

    #[test]
    fn numbers_without_agreement_beyond_chance_are_exactly_0() {
        let found = of_cells(&[&[1, 1, 1], &[1, 1, 1], &[1, 1, 1]]);
        assert_eq!([found.kappa, found.kappa_linear, found.kappa_quadratic], [Some(0.0); 3]);
        assert_eq!(found.share_equal(), Some(1.0 / 3.0));
    }

    #[test]
    fn weights_are_differences_of_grades_not_of_their_positions() {
        let with_gap = of_text("0 1 3 3 0\n0 3 3 1 1").pairs.remove(0);
        let without_gap = of_text("0 1 2 2 0\n0 2 2 1 1").pairs.remove(0);
        assert_eq!(with_gap.kappa, without_gap.kappa);
        // Observed distances: 0 + 2 + 0 + 2 + 1, 0 + 4 + 0 + 4 + 1. Expected: 5 grades of one judge against 5 of the other.
        let expected =
            (2.0 * 1.0 * 2.0 + 2.0 * 3.0 * 2.0 + 1.0 + 2.0 * 2.0 + 2.0 * 3.0 + 2.0 * 2.0 * 2.0) / 5.0;
        near(with_gap.kappa_linear, 1.0 - 5.0 / expected, 1e-15);
        assert_ne!(with_gap.kappa_linear, without_gap.kappa_linear);
        assert_ne!(with_gap.kappa_quadratic, without_gap.kappa_quadratic);
    }

    #[test]
    fn values_without_expected_disagreement_are_none() {
        let nothing = agreement(&[], 0).unwrap();
        assert_eq!((nothing.items, nothing.judges, nothing.pairs.len()), (0, 0, 0));
        for text in ["1 1 1\n1 1 1", "1 2 . .\n. . 1 2", "1 1 2\n1 1 ."] {
            let found = of_text(text);
            assert_eq!(
                [found.fleiss, found.alpha_nominal, found.alpha_ordinal, found.alpha_interval],
                [None; 4]
            );
            let pair = &found.pairs[0];
            assert_eq!([pair.kappa, pair.kappa_linear, pair.kappa_quadratic], [None; 3], "{text}");
        }
        assert_eq!(of_text("1 2 . .\n. . 1 2").pairs[0].share_equal(), None);
        assert_eq!(of_text("1 1 2\n1 1 .").pairs[0].share_equal(), Some(1.0));
        // Each judge has one grade, but not the same: the disagreement is as expected.
        let pair = of_text("1 1\n2 2").pairs.remove(0);
        assert_eq!([pair.kappa, pair.kappa_linear, pair.kappa_quadratic], [Some(0.0); 3]);
    }

    #[test]
    fn zeros_are_the_same_grade() {
        assert_eq!(of_text("0 1\n-0 1"), of_text("0 1\n0 1"));
    }

    #[test]
    fn fleiss_of_unequal_numbers_can_be_below_minus_one() {
        let mut counts: Vec<&[usize]> = vec![&[100, 0]];
        counts.extend([&[1, 1][..]; 10]);
        near(of_counts(&counts).fleiss, (1.0 / 11.0 - 12200.0 / 14400.0) / (1.0 - 12200.0 / 14400.0), 1e-14);
    }

    #[test]
    fn pairs_are_left_out_with_many_judges() {
        let table = vec![vec![1.0, 2.0, 1.0]; MOST_PAIRED_JUDGES];
        let found = of_table(&table);
        assert_eq!((found.pairs.len(), found.pairs_left_out), (1225, false));
        let judges: Vec<[u32; 2]> = found.pairs.iter().map(|pair| pair.judges).collect();
        assert!(judges.is_sorted() && judges[0] == [0, 1] && judges[1224] == [48, 49]);
        let more = agreement(&from_table(&table), MOST_PAIRED_JUDGES + 1).unwrap();
        assert_eq!((more.pairs.len(), more.pairs_left_out, more.judges), (0, true, MOST_PAIRED_JUDGES));
        assert_eq!((more.fleiss, more.alpha_interval), (Some(1.0), Some(1.0)));
        // The number of judges takes no memory.
        assert_eq!(agreement(&from_table(&table), usize::MAX).unwrap(), more);
    }

    #[test]
    fn faults_name_item_and_judge() {
        let rating = |item, judge, grade| Rating { item, judge, grade };
        let message = |ratings: &[Rating]| agreement(ratings, 2).unwrap_err().to_string();
        let twice = [rating(7, 1, 0.0), rating(3, 1, 1.0), rating(7, 1, 0.0), rating(3, 1, 1.0)];
        assert_eq!(message(&twice), "item 3, judge 1: rated twice, expected at most one rating");
        let no_judge = [rating(7, 1, 0.0), rating(7, 1, 0.0), rating(9, 2, 0.0), rating(8, 2, 0.0)];
        assert_eq!(message(&no_judge), "item 8: the judge is 2, expected a number below 2");
        let not_finite = [rating(8, 2, 0.0), rating(5, 1, f64::INFINITY), rating(6, 0, f64::NAN)];
        assert_eq!(message(&not_finite), "item 6, judge 0: the grade is NaN, expected a finite number");
    }

    #[test]
    fn grades_near_the_limits_of_floats_give_what_small_ones_give() {
        let text = |grades: [f64; 3]| {
            let [a, b, c] = grades;
            of_table(&[vec![a, b, c, a, a], vec![a, b, b, c, f64::NAN], vec![b, b, c, c, f64::NAN]])
        };
        let plain = text([-1.0, 0.0, 1.0]);
        for unit in [f64::MAX, 1e200, 1e-200, 5e-324] {
            assert_eq!(text([-unit, 0.0, unit]), plain, "{unit}");
        }
    }

    #[test]
    fn grades_of_items_with_one_rating_do_not_count_for_all_judges() {
        let found = of_text("1 2 1 . .\n1 2 2 . .");
        let more = of_text("1 2 1 1e300 -3\n1 2 2 . .");
        assert_eq!((more.items, more.shared_items), (5, 3));
        assert_eq!((more.fleiss, more.alpha_nominal), (found.fleiss, found.alpha_nominal));
        assert_eq!((more.alpha_ordinal, more.alpha_interval), (found.alpha_ordinal, found.alpha_interval));
        assert_eq!(more.pairs, found.pairs);
    }

    /// Returns the kappas of two judges from the definition: each item against itself, and each against each other.
    fn plain_pair(first: &[f64], second: &[f64]) -> (usize, usize, [Option<f64>; 3]) {
        let common: Vec<(f64, f64)> = std::iter::zip(first, second)
            .map(|(&a, &b)| (a, b))
            .filter(|(a, b)| !a.is_nan() && !b.is_nan())
            .collect();
        let weights: [fn(f64, f64) -> f64; 3] =
            [|a, b| f64::from(a != b), |a, b| (a - b).abs(), |a, b| (a - b).powi(2)];
        let kappas = weights.map(|weight| {
            let observed: f64 = common.iter().map(|&(a, b)| weight(a, b)).sum();
            let expected: f64 =
                common.iter().flat_map(|&(a, _)| common.iter().map(move |&(_, b)| weight(a, b))).sum();
            (expected > 0.0).then(|| 1.0 - common.len() as f64 * observed / expected)
        });
        (common.len(), common.iter().filter(|(a, b)| a == b).count(), kappas)
    }

    /// Returns the grades of each item with at least two.
    fn plain_items(table: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let item = |item| table.iter().map(|row| row[item]).filter(|grade: &f64| !grade.is_nan()).collect();
        let items = (0..table[0].len()).map(item);
        items.filter(|grades: &Vec<f64>| grades.len() > 1).collect()
    }

    /// Returns Fleiss' kappa from the definition: the pairs of ratings of each item, and shares of grades.
    fn plain_fleiss(items: &[Vec<f64>]) -> Option<f64> {
        let all: Vec<f64> = items.concat();
        let share =
            |grade: f64| all.iter().filter(|&&other| other == grade).count() as f64 / all.len() as f64;
        // Each rating with a grade of share p adds p / n, and together they add p².
        let by_chance = all.iter().map(|&grade| share(grade) / all.len() as f64).sum::<f64>();
        let mut agreeing = 0.0;
        for grades in items {
            let (mut equal, mut pairs) = (0.0, 0.0);
            for i in 0..grades.len() {
                for j in (0..grades.len()).filter(|&j| j != i) {
                    equal += f64::from(grades[i] == grades[j]);
                    pairs += 1.0;
                }
            }
            agreeing += equal / pairs / items.len() as f64;
        }
        let different = all.iter().any(|&grade| grade != all[0]);
        different.then(|| (agreeing - by_chance) / (1.0 - by_chance))
    }

    /// Returns Krippendorff's alpha from the definition: pairs of ratings of each item, and pairs of any ratings.
    fn plain_alpha(items: &[Vec<f64>], metric: impl Fn(f64, f64) -> f64) -> Option<f64> {
        let all: Vec<f64> = items.concat();
        let observed: f64 = items
            .iter()
            .map(|grades| {
                let pairs = grades.iter().flat_map(|&a| grades.iter().map(move |&b| (a, b)));
                pairs.map(|(a, b)| metric(a, b)).sum::<f64>() / (grades.len() - 1) as f64
            })
            .sum();
        let pairs = all.iter().flat_map(|&a| all.iter().map(move |&b| (a, b)));
        let expected: f64 = pairs.map(|(a, b)| metric(a, b)).sum();
        (expected > 0.0).then(|| 1.0 - (all.len() - 1) as f64 * observed / expected)
    }

    /// Returns the ordinal metric from the definition: the numbers of ratings from one grade to the other, less half those at the ends.
    fn ordinal(all: &[f64], a: f64, b: f64) -> f64 {
        let (low, high) = (a.min(b), a.max(b));
        let count = |wanted: &dyn Fn(f64) -> bool| all.iter().filter(|&&grade| wanted(grade)).count() as f64;
        let ends = (count(&|grade| grade == a) + count(&|grade| grade == b)) / 2.0;
        (count(&|grade| low <= grade && grade <= high) - ends).powi(2)
    }

    #[track_caller]
    fn same(value: Option<f64>, expected: Option<f64>) {
        match (value, expected) {
            // The difference is relative to the quotient of the disagreements.
            (Some(a), Some(b)) => {
                assert!((a - b).abs() <= 1e-12 * (1.0 - b).abs().max(1.0), "{a} is not {b}")
            }
            _ => assert_eq!(value, expected),
        }
    }

    /// Tables of two to six judges and up to fourteen items, with missing ratings; grades are integers, or have fractions.
    fn tables() -> impl Strategy<Value = Vec<Vec<f64>>> {
        let integer = (-1..5i32).prop_map(f64::from);
        let grade = prop_oneof![integer.clone(), (-30..30i32).prop_map(|grade| f64::from(grade) / 7.0)];
        let tables = |grade: BoxedStrategy<f64>| {
            (2..7usize, 0..15usize, 0.0..0.9f64).prop_flat_map(move |(judges, items, missing)| {
                let cell = (grade.clone(), 0.0..1.0f64)
                    .prop_map(move |(grade, draw)| if draw < missing { f64::NAN } else { grade });
                prop::collection::vec(prop::collection::vec(cell, items), judges)
            })
        };
        prop_oneof![
            tables(integer.boxed()),
            tables((0..2i32).prop_map(f64::from).boxed()),
            tables(grade.boxed())
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: cases(2000), ..ProptestConfig::default() })]

        #[test]
        fn values_are_those_of_the_definitions(table in tables()) {
            let found = of_table(&table);
            let items = plain_items(&table);
            let all = items.concat();
            same(found.fleiss, plain_fleiss(&items));
            same(found.alpha_nominal, plain_alpha(&items, |a, b| f64::from(a != b)));
            same(found.alpha_ordinal, plain_alpha(&items, |a, b| ordinal(&all, a, b)));
            same(found.alpha_interval, plain_alpha(&items, |a, b| (a - b).powi(2)));
            prop_assert_eq!((found.shared_items, found.shared_ratings), (items.len(), all.len()));
            prop_assert_eq!(found.pairs.len(), table.len() * (table.len() - 1) / 2);
            for pair in &found.pairs {
                let [first, second] = pair.judges.map(|judge| &table[judge as usize]);
                let (common, equal, kappas) = plain_pair(first, second);
                prop_assert_eq!((pair.common, pair.equal), (common, equal));
                same(pair.kappa, kappas[0]);
                same(pair.kappa_linear, kappas[1]);
                same(pair.kappa_quadratic, kappas[2]);
            }
        }

        #[test]
        fn values_are_in_their_ranges(table in tables()) {
            let found = of_table(&table);
            for alpha in [found.alpha_nominal, found.alpha_ordinal, found.alpha_interval].into_iter().flatten() {
                prop_assert!(-1.0 < alpha && alpha <= 1.0, "{}", alpha);
            }
            prop_assert!(found.fleiss.is_none_or(|kappa| kappa <= 1.0));
            for pair in &found.pairs {
                for kappa in [pair.kappa, pair.kappa_linear, pair.kappa_quadratic].into_iter().flatten() {
                    prop_assert!((-1.0 - 1e-15..=1.0).contains(&kappa), "{}", kappa);
                }
            }
        }

        #[test]
        fn values_do_not_depend_on_order_and_numbers(
            (ratings, shuffled) in tables().prop_map(|table| from_table(&table))
                .prop_flat_map(|ratings| (Just(ratings.clone()), Just(ratings).prop_shuffle())),
        ) {
            let found = agreement(&ratings, 6).unwrap();
            prop_assert_eq!(&agreement(&shuffled, 6).unwrap(), &found);
            let renumbered: Vec<Rating> = shuffled
                .iter()
                .map(|rating| Rating {
                    item: rating.item.wrapping_mul(2_654_435_761).wrapping_sub(1),
                    judge: 5 - rating.judge,
                    grade: rating.grade,
                })
                .collect();
            let mut other = agreement(&renumbered, 6).unwrap();
            for pair in &mut other.pairs {
                pair.judges = [5 - pair.judges[1], 5 - pair.judges[0]];
            }
            other.pairs.sort_by_key(|pair| pair.judges);
            prop_assert_eq!(&other, &found);
        }
    }
}
