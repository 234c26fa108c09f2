//! Cohen's kappa of each pair of judges.

use std::collections::BTreeMap;

use super::{
    axis::{Distances, positions},
    rating::CodedRating,
    report::PairAgreement,
};

/// The largest number of judges for which each pair is compared.
pub const MAX_PAIRED_JUDGES: usize = 50;

/// Computes the agreement of each pair of `judges` judges; the ratings `coded` are sorted by judge
/// and item.
pub fn pairs(coded: &[CodedRating], judges: usize, grades: &[f64]) -> Vec<PairAgreement> {
    let columns = (0..judges).map(|judge| {
        let [start, end] = [judge, judge + 1]
            .map(|judge| coded.partition_point(|rating| (rating.judge as usize) < judge));
        &coded[start..end]
    });
    let columns: Vec<_> = columns.collect();
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

/// Collects into `common` the codes that two judges gave to each item that both graded; `first` and
/// `second` are their ratings, sorted by item.
fn common_items(first: &[CodedRating], second: &[CodedRating], common: &mut Vec<[usize; 2]>) {
    common.clear();
    let mut second = second.iter().peekable();
    for a in first {
        while second.next_if(|b| b.item < a.item).is_some() {}
        if let Some(b) = second.next_if(|b| b.item == a.item) {
            common.push([a.code, b.code]);
        }
    }
}

/// Computes the agreement of two `judges`, with Cohen's kappa, from the codes of the grades that
/// they gave to their `common` items.
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
        before[0].count += a;
        before[1].count += b;
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
