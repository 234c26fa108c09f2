//! Grades of judges as points on an axis, and sums of distances between them, for coefficients of
//! agreement.

/// Returns the positions of sorted `grades` on an axis where the lowest is at 0.
///
/// The positions are differences of grades, unless squares of these could overflow or vanish; then
/// the highest is at 1. The coefficients do not depend on the unit of the axis.
pub fn positions(grades: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
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

/// Sums of distances, plain and squared, from a moving point on an axis of grades to the ratings
/// that are not after the point. The point only moves forward.
///
/// All terms are positive, so nothing cancels. Sums of integers below 2⁵³ are exact.
#[derive(Default)]
pub struct Distances {
    point: f64,
    /// The number of ratings; those that are added have their grade at the point.
    pub count: f64,
    /// The sum of the distances.
    pub linear: f64,
    /// The sum of the squared distances.
    pub square: f64,
}

impl Distances {
    /// Moves the point on the axis of grades forward to `point`, and updates the sums of distances.
    pub fn advance(&mut self, point: f64) {
        let step = point - self.point;
        self.square += step * (2.0 * self.linear + step * self.count);
        self.linear += step * self.count;
        self.point = point;
    }
}

/// Returns the sum of squared distances over all pairs of ratings, each pair once, from positions
/// in ascending order and the number of ratings at each.
pub fn squared_distances(counts: impl Iterator<Item = (f64, f64)>) -> f64 {
    let mut before = Distances::default();
    let mut sum = 0.0;
    for (position, count) in counts {
        before.advance(position);
        sum += count * before.square;
        before.count += count;
    }
    sum
}
