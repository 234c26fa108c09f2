use proptest::prelude::*;

use super::*;
use crate::cases::cases;

/// Returns the ratings of a table with a row for each judge and a column for each item, where NaN
/// is a missing rating.
fn from_table(table: &[Vec<f64>]) -> Vec<Rating> {
    let row = |(judge, row): (usize, &Vec<f64>)| {
        let rating = move |(item, &grade): (usize, &f64)| Rating {
            item: item as u32,
            judge: judge as u32,
            grade,
        };
        row.iter()
            .enumerate()
            .map(rating)
            .filter(|rating| !rating.grade.is_nan())
            .collect::<Vec<_>>()
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

/// Returns the agreement of items of which only the number of ratings with each grade is known, in
/// a row for each item.
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

/// Returns the agreement of two judges of whom the number of items for each pair of grades is
/// known.
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

/// The diagnoses of thirty patients of Fleiss 1971, with a row for each rating of a patient; the
/// raters are not known.
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
    // Observed distances: 0 + 2 + 0 + 2 + 1, 0 + 4 + 0 + 4 + 1. Expected: 5 grades of one judge
    // against 5 of the other.
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
    near(
        of_counts(&counts).fleiss,
        (1.0 / 11.0 - 12200.0 / 14400.0) / (1.0 - 12200.0 / 14400.0),
        1e-14,
    );
}

#[test]
fn pairs_are_left_out_with_many_judges() {
    let table = vec![vec![1.0, 2.0, 1.0]; MAX_PAIRED_JUDGES];
    let found = of_table(&table);
    assert_eq!((found.pairs.len(), found.pairs_left_out), (1225, false));
    let judges: Vec<[u32; 2]> = found.pairs.iter().map(|pair| pair.judges).collect();
    assert!(judges.is_sorted() && judges[0] == [0, 1] && judges[1224] == [48, 49]);
    let more = agreement(&from_table(&table), MAX_PAIRED_JUDGES + 1).unwrap();
    assert_eq!((more.pairs.len(), more.pairs_left_out, more.judges), (0, true, MAX_PAIRED_JUDGES));
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
    assert_eq!(
        (more.alpha_ordinal, more.alpha_interval),
        (found.alpha_ordinal, found.alpha_interval)
    );
    assert_eq!(more.pairs, found.pairs);
}

/// Returns the kappas of two judges from the definition: each item against itself, and each against
/// each other.
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
    let item =
        |item| table.iter().map(|row| row[item]).filter(|grade: &f64| !grade.is_nan()).collect();
    let items = (0..table[0].len()).map(item);
    items.filter(|grades: &Vec<f64>| grades.len() > 1).collect()
}

/// Returns Fleiss' kappa from the definition: the pairs of ratings of each item, and shares of
/// grades.
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

/// Returns Krippendorff's alpha from the definition: pairs of ratings of each item, and pairs of
/// any ratings.
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

/// Returns the ordinal metric from the definition: the numbers of ratings from one grade to the
/// other, less half those at the ends.
fn ordinal(all: &[f64], a: f64, b: f64) -> f64 {
    let (low, high) = (a.min(b), a.max(b));
    let count =
        |wanted: &dyn Fn(f64) -> bool| all.iter().filter(|&&grade| wanted(grade)).count() as f64;
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

/// Tables of two to six judges and up to fourteen items, with missing ratings; grades are integers,
/// or have fractions.
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
        for alpha in
            [found.alpha_nominal, found.alpha_ordinal, found.alpha_interval].into_iter().flatten()
        {
            prop_assert!(-1.0 < alpha && alpha <= 1.0, "{}", alpha);
        }
        prop_assert!(found.fleiss.is_none_or(|kappa| kappa <= 1.0));
        for pair in &found.pairs {
            for kappa in [pair.kappa, pair.kappa_linear, pair.kappa_quadratic].into_iter().flatten()
            {
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
