//! Agreement between judges that graded the same items, where most items have grades of only some
//! judges.
//!
//! Three families of coefficients compare the disagreement that was observed with the disagreement
//! that is expected by chance. All are 1 − observed / expected: 1 where all judges agree, around 0
//! where they agree no more than by chance, and negative below that.
//!
//! - Cohen's kappa of each pair of judges, over the items that both graded ([`PairAgreement`]).
//! - Fleiss' kappa of all judges together ([`JudgeAgreement::fleiss`]).
//! - Krippendorff's alpha of all judges together, for grades without order, with an order, and with
//!   distances ([`JudgeAgreement::alpha_nominal`], [`JudgeAgreement::alpha_ordinal`],
//!   [`JudgeAgreement::alpha_interval`]).
//!
//! A coefficient is `None` where the expected disagreement is 0: where no item has two grades, or
//! where all grades that count are equal. Perfect agreement on a single grade is therefore `None`,
//! not 1: chance would agree as well.
//!
//! Results do not depend on the order of the ratings, nor on the numbers that the items and judges
//! have: grades are counted in integers, and floats are added in an order that only the grades
//! decide.
//!
//! The computed forms of the formulas:
//!
//! * *Kappa in integers.* With n common items, p_o = equal / n and p_e = Σ a(c) b(c) / n².
//!   Multiplied by n², (p_o − p_e) / (1 − p_e) is (n · equal − Σ a b) / (n² − Σ a b), two integers
//!   and one division, so that agreement at the level of chance is exactly 0.
//! * *Weighted kappa* is in units of items, 1 − n · Σ w · observed / Σ w · a · b. *Fleiss* is
//!   written as disagreement, 1 − (1 − P) / (1 − P_e), which needs only numbers of pairs that
//!   differ.
//! * *Distances without pairs.* Σ |x − y| and Σ (x − y)² over all pairs of n values would be n²
//!   terms. Where a point moves up the sorted values by s, with k values behind it, the sum of
//!   distances grows by s k, and that of squares by s (2 · sum of distances + s k), for (d + s)² =
//!   d² + 2 d s + s². So a pass is linear, and all terms are positive: nothing cancels.
//! * *Ordinal alpha* is interval alpha on other positions. Σ n(g) from c to k, less (n(c) + n(k)) /
//!   2, is the difference of the middles of the ranks that the grades k and c take. Twice the
//!   middle is an integer; the factor 4 of the squares cancels in the quotient.
//! * *Scale.* Coefficients are quotients of sums in one unit, so positions may be divided by their
//!   range, which is done where squares could overflow or vanish.
//!
//! What it costs: sorting the ratings twice, by judge and by item, and for each pair of judges one
//! walk down two sorted lists.

mod axis;
mod pairs;
mod rating;
mod report;
mod shared;

pub use pairs::MAX_PAIRED_JUDGES;
pub use rating::{Rating, RatingFault};
pub use report::{JudgeAgreement, PairAgreement};

use pairs::pairs;
use rating::{CodedRating, coded};
use shared::SharedItems;

/// Computes the agreement between judges from their `ratings`, in any order; each judge's number is
/// below `judges`.
///
/// The time is that of sorting the ratings, and, for up to [`MAX_PAIRED_JUDGES`] judges, of
/// reading each judge's ratings once for every other judge. The memory does not grow with the
/// number of pairs of grades.
///
/// # Errors
///
/// A [`RatingFault`] if a grade is not finite, a judge's number is not below `judges`, or a judge
/// rated an item twice. The kinds of faults are checked in this sequence. Among faults of a kind,
/// the lowest judge comes first, then the lowest item.
///
/// ```
/// # use laneval::judges::{Rating, agreement};
/// // Two judges grade four items, and disagree about the last.
/// let grades = [(0, [1.0, 1.0]), (1, [0.0, 0.0]), (2, [1.0, 1.0]), (3, [0.0, 1.0])];
/// let ratings: Vec<Rating> = grades
///     .iter()
///     .flat_map(|&(item, [a, b])| {
///         [Rating { item, judge: 0, grade: a }, Rating { item, judge: 1, grade: b }]
///     })
///     .collect();
/// let found = agreement(&ratings, 2)?;
/// assert_eq!((found.pairs[0].common, found.pairs[0].equal), (4, 3));
/// assert_eq!(found.pairs[0].kappa, Some(0.5));
/// # Ok::<(), laneval::judges::RatingFault>(())
/// ```
pub fn agreement(ratings: &[Rating], judges: usize) -> Result<JudgeAgreement, RatingFault> {
    let not_finite = first_fault(ratings, |rating| !rating.grade.is_finite());
    if let Some(&Rating { item, judge, grade }) = not_finite {
        return Err(RatingFault::NotFinite { item, judge, grade });
    }
    let no_judge = first_fault(ratings, |rating| rating.judge as usize >= judges);
    if let Some(&Rating { item, judge, .. }) = no_judge {
        return Err(RatingFault::NoSuchJudge { item, judge, judges });
    }
    let (mut coded, grades) = coded(ratings);

    coded.sort_unstable_by_key(|rating| (rating.judge, rating.item));
    let mut next = coded.windows(2);
    let twice = next.find(|pair| (pair[0].judge, pair[0].item) == (pair[1].judge, pair[1].item));
    if let Some(&[CodedRating { item, judge, .. }, ..]) = twice {
        return Err(RatingFault::Twice { item, judge });
    }
    let pairs_left_out = judges > MAX_PAIRED_JUDGES;
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

/// Returns the wrong rating of the lowest judge, and of the lowest item among that judge's.
fn first_fault(ratings: &[Rating], is_wrong: impl Fn(&Rating) -> bool) -> Option<&Rating> {
    let wrong = ratings.iter().filter(|rating| is_wrong(rating));
    wrong.min_by_key(|rating| (rating.judge, rating.item))
}

#[cfg(test)]
mod tests;
