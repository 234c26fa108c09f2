//! Expected, best and worst values over the orders of equal scores: vectors, all orders of small
//! rankings, and changes that must not matter.

use laneval::View;
use laneval::labels::{Codebook, CutTieCount, RowTies, Tie};
use laneval::measure::{Average, Direction, MEASURES, Measure};
use laneval::parts::matrix::code::{FIRST_GRADE, NEGATIVE, NOT_IN_QRELS};
use laneval::parts::matrix::{Document, GradeHistograms};
use laneval::parts::reference::{Ranking, function};
use laneval::parts::ties::{
    Cuts, Expectation, Extreme, SegmentBuffers, Side, TieScratch, TieSegments, TiedRanking,
};
use rayon::prelude::*;

use crate::random::Random;
use crate::variants;

/// A ranking with groups.
#[derive(Debug, Clone)]
struct Case {
    book: Codebook,
    facts: GradeHistograms,
    labels: Vec<u8>,
    groups: Vec<Tie>,
    cut_off: Vec<CutTieCount>,
    view: View,
}

impl Case {
    /// Makes a ranking of groups, which are lists of codes. Lists with different codes are kept as
    /// tied groups.
    fn new(grades: &[f64], groups: &[Vec<u8>], unretrieved: &[u8], view: View) -> Self {
        let labels = groups.concat();
        let mut facts = GradeHistograms::new();
        facts.push(labels.iter().chain(unretrieved).copied().filter(|&code| code > NOT_IN_QRELS));
        let mut start = 0;
        let mut mixed = Vec::new();
        for group in groups {
            if group.iter().any(|&code| code != group[0]) {
                mixed.push(Tie { start, length: group.len() as u32 });
            }
            start += group.len() as u32;
        }
        let book = Codebook::new(grades.iter().copied()).unwrap();
        Case { book, facts, labels, groups: mixed, cut_off: Vec::new(), view }
    }

    fn cuts(&self) -> Cuts {
        Cuts {
            depth: self.view.depth.is_some() || !self.cut_off.is_empty(),
            judged_only: self.view.judged_only,
        }
    }

    fn ranking<'a>(&'a self, labels: &'a [u8]) -> Ranking<'a> {
        Ranking {
            labels,
            facts: self.facts.get(0),
            book: &self.book,
            exact: None,
            facets: None,
            spans: None,
            ties: &[],
        }
    }

    fn ties(&self) -> RowTies<'_> {
        RowTies { groups: &self.groups, cut: &self.cut_off }
    }

    fn of_row(&self, value: impl FnOnce(&mut TieSegments<'_>) -> f64) -> f64 {
        let pooled = self.labels.iter().zip(0..).filter(|(code, _)| **code > NOT_IN_QRELS);
        let documents: Vec<Document> =
            pooled.map(|(&code, rank)| Document { rank, code }).collect();
        let (depth, facts) = (self.labels.len() as u32, self.facts.get(0));
        let tied = TiedRanking {
            documents: &documents,
            depth,
            facts,
            book: &self.book,
            ties: self.ties(),
        };
        value(&mut TieSegments::new(&tied, self.view, SegmentBuffers::default()))
    }

    /// Returns the same ranking, joined at the depth of the view instead.
    fn joined_at_its_depth(&self) -> Self {
        let mut case = self.clone();
        let depth = self
            .view
            .depth
            .map_or(self.labels.len(), |depth| self.labels.len().min(depth as usize));
        case.view.depth = None;
        case.labels.truncate(depth);
        case.groups.retain(|group| (group.start as usize) < depth);
        if let Some(last) = case.groups.last_mut()
            && last.end() as usize > depth
        {
            let behind = &self.labels[depth..last.end() as usize];
            let count = |code: u8| behind.iter().filter(|&&label| label == code).count() as u32;
            let cut_off = (1..=255).map(|code| CutTieCount { row: 0, code, count: count(code) });
            case.cut_off = cut_off.filter(|cut| cut.count > 0).collect();
            last.length = depth as u32 - last.start;
        }
        case
    }

    /// Returns every ranking under the view, all equally likely.
    fn orders(&self) -> Vec<Vec<u8>> {
        assert!(self.cut_off.is_empty());
        let mut all = vec![self.labels.clone()];
        for group in &self.groups {
            let range = group.start as usize..group.end() as usize;
            let orders = permutations(&self.labels[range.clone()]);
            let placed = |labels: &Vec<u8>, order: &Vec<u8>| {
                let mut labels = labels.clone();
                labels[range.clone()].copy_from_slice(order);
                labels
            };
            all = all
                .iter()
                .flat_map(|labels| {
                    orders.iter().map(|order| placed(labels, order)).collect::<Vec<_>>()
                })
                .collect();
        }
        all.iter_mut().for_each(|labels| self.view.apply_to_row(labels));
        all
    }

    fn value(&self, measure: &Measure, labels: &[u8]) -> f64 {
        function(measure).unwrap()(measure, &self.ranking(labels))
    }

    fn expected(&self, measure: &Measure) -> Option<f64> {
        let expectation = Expectation::new(measure, &self.book, self.cuts()).ok()?;
        Some(self.of_row(|row| expectation.value(row, &mut TieScratch::default())))
    }

    fn extreme(&self, measure: &Measure, side: Side) -> Option<f64> {
        Some(match Extreme::new(measure, &self.book, side, self.cuts()).ok()? {
            Extreme::Order(key) => {
                let mut labels = self.labels.clone();
                for (at, group) in self.groups.iter().enumerate() {
                    let cut = if at + 1 == self.groups.len() { &self.cut_off[..] } else { &[] };
                    key.arrange(&mut labels[group.start as usize..group.end() as usize], cut);
                }
                self.view.apply_to_row(&mut labels);
                self.value(measure, &labels)
            }
            Extreme::Search(search) => {
                self.of_row(|row| search.value(row, &mut TieScratch::default()))
            }
        })
    }
}

/// Returns the distinct orders of some labels, each of which is equally likely.
fn permutations(labels: &[u8]) -> Vec<Vec<u8>> {
    let mut order = labels.to_vec();
    order.sort_unstable();
    let mut all = vec![order.clone()];
    while let Some(at) = (1..order.len()).rev().find(|&at| order[at - 1] < order[at]) {
        let next = (at..order.len()).rev().find(|&next| order[next] > order[at - 1]).unwrap();
        order.swap(at - 1, next);
        order[at..].reverse();
        all.push(order.clone());
    }
    all
}

/// Returns the mean over all orders. The bound of a geometric mean's terms is below the mean.
fn mean(case: &Case, measure: &Measure, orders: &[Vec<u8>]) -> f64 {
    let text = measure.to_string();
    let geometric = measure.definition().average == Average::Geometric;
    let plain = match measure.definition().name {
        "GMAP" => text.replacen("GMAP", "AP", 1),
        "GMBpref" => text.replacen("GMBpref", "Bpref", 1),
        _ => text,
    };
    let plain: Measure = plain.parse().unwrap();
    let sum: f64 = orders.iter().map(|labels| case.value(&plain, labels)).sum();
    let mean = sum / orders.len() as f64;
    if geometric { mean.max(0.00001) } else { mean }
}

fn best_and_worst(case: &Case, measure: &Measure, orders: &[Vec<u8>]) -> (f64, f64) {
    let values = orders.iter().map(|labels| case.value(measure, labels));
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(f64::NEG_INFINITY, f64::max);
    if measure.definition().better == Direction::Lower { (least, most) } else { (most, least) }
}

fn code(name: &str) -> u8 {
    match name {
        "u" => NOT_IN_QRELS,
        "n" => NEGATIVE,
        grade => FIRST_GRADE + grade.parse::<u8>().unwrap(),
    }
}

/// `[1 u][0] + 1 -M 4 -J`
fn case_of(text: &str) -> Case {
    let (text, judged_only) =
        text.strip_suffix("-J").map_or((text, false), |text| (text.trim(), true));
    let (text, depth) = text
        .split_once("-M ")
        .map_or((text, None), |(text, depth)| (text.trim(), depth.parse().ok()));
    let (groups, unretrieved) = text.split_once('+').unwrap_or((text, ""));
    let codes = |text: &str| text.split_whitespace().map(code).collect::<Vec<_>>();
    let groups: Vec<_> = groups.trim().trim_matches(['[', ']']).split("][").map(codes).collect();
    Case::new(&[0.0, 1.0, 2.0, 3.0], &groups, &codes(unretrieved), View { depth, judged_only })
}

/// Returns a fraction, or a decimal with the bound on its own rounding.
fn number(text: &str) -> (f64, f64) {
    if let Some((over, by)) = text.split_once('/') {
        return (over.parse::<f64>().unwrap() / by.parse::<f64>().unwrap(), 0.0);
    }
    let decimals = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let half = if decimals < 6 { 0.0 } else { 0.5001 * 10f64.powi(-(decimals as i32)) };
    (text.parse().unwrap(), half)
}

#[test]
fn vectors() {
    let text = include_str!("fixtures/ties.txt");
    let mut cases = std::collections::BTreeMap::new();
    let (mut compared, mut wrong) = (0, Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (name, rest) = line.split_once(' ').unwrap();
        let Some((measure, cell)) = rest.split_once(": ") else {
            cases.insert(name, case_of(rest));
            continue;
        };
        let (case, measure): (&Case, Measure) = (&cases[name], measure.parse().unwrap());
        let mut cell: Vec<&str> = cell.split(' ').collect();
        if cell.len() == 1 {
            cell = vec![cell[0]; 3];
        }
        let found = [
            case.expected(&measure),
            case.extreme(&measure, Side::Best),
            case.extreme(&measure, Side::Worst),
        ];
        for (what, (expected, found)) in
            ["mean", "best", "worst"].iter().zip(cell.iter().zip(found))
        {
            // A few additions of numbers below 1.
            let fine = match (*expected, found) {
                ("-", found) => found.is_none(),
                (expected, found) => {
                    let (expected, rounded) = number(expected);
                    let off = 4.0 * f64::EPSILON * expected.abs();
                    found.is_some_and(|found| (found - expected).abs() <= off + rounded)
                }
            };
            if !fine {
                wrong.push(format!("{what} of {line} is {found:?}"));
            }
            compared += usize::from(found.is_some());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(compared, 861);
}

/// Small rankings with groups: up to 7 documents, not too many orders, cut or not.
fn small(seed: u64, number: usize) -> Vec<Case> {
    let mut random = Random(seed);
    let mut cases = Vec::new();
    while cases.len() < number {
        let grades = [&[0.0, 1.0, 2.0, 3.0][..], &[0.0, 1.0], &[0.5, 1.0, 2.25], &[1.0, 9.0]]
            [random.below(4)];
        let codes = 2 + grades.len();
        let documents = 1 + random.below(7);
        let mut groups = vec![Vec::new()];
        for _ in 0..documents {
            if random.below(3) == 0 {
                groups.push(Vec::new());
            }
            groups.last_mut().unwrap().push(1 + random.below(codes) as u8);
        }
        groups.retain(|group| !group.is_empty());
        let unretrieved: Vec<u8> =
            (0..random.below(4)).map(|_| 2 + random.below(codes - 1) as u8).collect();
        let depth = (random.below(2) == 0).then(|| 1 + random.below(documents) as u32);
        let view = View { depth, judged_only: random.below(3) == 0 };
        let case = Case::new(grades, &groups, &unretrieved, view);
        if !case.groups.is_empty() && case.orders().len() <= 420 {
            cases.push(case);
        }
    }
    cases
}

fn all_measures() -> Vec<Measure> {
    variants::all().cloned().collect()
}

/// Every measure with every parameter, over all orders: every value that is offered is right.
#[test]
fn all_orders_of_small_rankings() {
    let measures = all_measures();
    let cases = small(1, 60);
    let cut_and_judged =
        cases.iter().filter(|case| case.cuts().depth && case.cuts().judged_only).count();
    assert!(cut_and_judged > 5, "{cut_and_judged}");
    let wrong: Vec<String> = cases
        .par_iter()
        .enumerate()
        .flat_map_iter(|(number, case)| {
            let orders = case.orders();
            // A quarter of the measures is tested for each ranking.
            let mut wrong = Vec::new();
            for measure in
                measures.iter().skip(number % 4).step_by(4).filter(|m| m.recipe(&case.book).is_ok())
            {
                let mut check = |what, expected: f64, found: Option<f64>| {
                    let Some(found) = found else { return };
                    let fine = (found - expected).abs() <= 1e-12 * (1.0 + expected.abs());
                    // Some users and tables give NaN.
                    if !fine && expected.is_finite() {
                        wrong.push(format!(
                            "{what} of {measure} is {found}, not {expected}: {case:?}"
                        ));
                    }
                };
                check("mean", mean(case, measure, &orders), case.expected(measure));
                let (best, worst) = best_and_worst(case, measure, &orders);
                check("best", best, case.extreme(measure, Side::Best));
                check("worst", worst, case.extreme(measure, Side::Worst));
            }
            wrong
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}

/// The value of a group is the mean, over its first document, of the value with that one in its
/// place: the closed forms agree with themselves at any size, cut or not.
#[test]
fn the_first_document_of_a_large_group_may_be_any_of_it() {
    let mut random = Random(3);
    let all = all_measures();
    let cuts =
        [(None, false), (Some(170), false), (Some(20), false), (None, true), (Some(170), true)];
    let cases: Vec<Case> = cuts
        .into_iter()
        .flat_map(|(depth, judged_only)| {
            [0.1, 0.9].map(|judged| (View { depth, judged_only }, judged))
        })
        .map(|(view, judged)| {
            let label = |random: &mut Random| {
                let unjudged = random.below(1000) as f64 >= judged * 1000.0;
                if unjudged {
                    1 + random.below(2) as u8
                } else {
                    FIRST_GRADE + random.below(4) as u8
                }
            };
            let groups = [3, 1, 300, 2].map(|len| (0..len).map(|_| label(&mut random)).collect());
            Case::new(&[0.0, 1.0, 2.0, 3.0], &groups, &[4, 5, 5, 6], view)
        })
        .collect();
    cases.par_iter().enumerate().for_each(|(number, case)| {
        let at = case.groups.iter().position(|group| group.length == 300).unwrap();
        let group = case.groups[at];
        let range = group.start as usize..group.end() as usize;
        for measure in all.iter().skip(number % 5).step_by(5) {
            let Some(expected) = case.expected(measure) else { continue };
            let mut mean = 0.0;
            for code in 1..=6u8 {
                let Some(place) =
                    case.labels[range.clone()].iter().position(|&label| label == code)
                else {
                    continue;
                };
                let count =
                    case.labels[range.clone()].iter().filter(|&&label| label == code).count();
                let mut first = case.clone();
                first.labels.swap(range.start, range.start + place);
                first.groups[at] = Tie { start: group.start + 1, length: group.length - 1 };
                mean += count as f64 / 300.0 * first.expected(measure).unwrap();
            }
            assert!(
                (mean - expected).abs() <= 1e-12 * (1.0 + expected.abs()),
                "{measure}: {expected} and {mean}, {:?}",
                case.view
            );
        }
    });
}

/// Longer rankings with some groups.
fn rankings(seed: u64, grouped: bool) -> Vec<Case> {
    let mut random = Random(seed);
    let view = |number: usize, random: &mut Random| View {
        depth: (number % 3 == 1).then(|| 1 + random.below(30) as u32),
        judged_only: number % 4 >= 2,
    };
    (0..24)
        .map(|number| {
            let groups: Vec<Vec<u8>> = (0..random.below(20))
                .map(|_| {
                    let len = if grouped { 1 + random.below(6) } else { 1 };
                    (0..len).map(|_| 1 + random.below(6) as u8).collect()
                })
                .collect();
            Case::new(&[0.0, 1.0, 2.0, 3.0], &groups, &[2, 3, 4, 4, 6], view(number, &mut random))
        })
        .collect()
}

#[test]
fn rankings_without_groups_have_the_bits_of_the_plain_formula() {
    let mut compared = 0;
    for case in rankings(5, false) {
        assert!(case.groups.is_empty());
        let mut labels = case.labels.clone();
        case.view.apply_to_row(&mut labels);
        for measure in all_measures() {
            if let Some(found) = case.expected(&measure) {
                let plain = case.value(&measure, &labels);
                assert_eq!(
                    found.to_bits(),
                    plain.to_bits(),
                    "{measure}: {found} and {plain}: {case:?}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

/// The part above the first group is a plain ranking.
#[test]
fn groups_below_the_cutoff_change_no_bit() {
    let groups: Vec<Vec<u8>> =
        [vec![vec![1], vec![4], vec![3], vec![1], vec![6], vec![2]], vec![vec![1, 5, 6, 3, 1]]]
            .concat();
    let case = Case::new(&[0.0, 1.0, 2.0, 3.0], &groups, &[5, 5], View::default());
    let mut compared = 0;
    for measure in all_measures().into_iter().filter(|m| m.rank().is_some_and(|k| k <= 6)) {
        let end =
            matches!(measure.choice("norm"), "retrieved") && measure.definition().name == "FallOut";
        if end || measure.choice("ideal") == "retrieved" {
            continue;
        }
        if let Some(found) = case.expected(&measure) {
            assert_eq!(found.to_bits(), case.value(&measure, &case.labels).to_bits(), "{measure}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

/// The order that a group happens to have changes no bit, nor whether its ranking was cut when it
/// was joined or is cut now.
#[test]
fn only_histograms_of_groups_matter() {
    let mut cut = 0;
    for case in rankings(9, true) {
        let mut reversed = case.clone();
        for group in &case.groups {
            reversed.labels[group.start as usize..group.end() as usize].reverse();
        }
        let joined = case.joined_at_its_depth();
        cut += usize::from(!joined.cut_off.is_empty());
        for measure in all_measures() {
            let values = |case: &Case| {
                let value = [
                    case.expected(&measure),
                    case.extreme(&measure, Side::Best),
                    case.extreme(&measure, Side::Worst),
                ];
                value.map(|value| value.map(f64::to_bits))
            };
            let found = values(&case);
            assert_eq!(values(&reversed), found, "{measure}: {case:?}");
            if joined.cuts() == case.cuts() {
                assert_eq!(values(&joined), found, "{measure}, cut when joined: {case:?}");
            }
        }
    }
    assert!(cut > 2, "{cut}");
}

/// A million documents of one score, ten thousand of them relevant: sums over them in plain floats
/// with compensation.
#[test]
fn a_group_of_a_million() {
    let (size, relevant) = (1_000_000usize, 10_000usize);
    let mut labels = vec![NOT_IN_QRELS; size];
    labels[..relevant].fill(FIRST_GRADE + 1);
    let case = Case::new(&[0.0, 1.0], &[labels], &[4], View::default());
    let share = relevant as f64 / size as f64;
    let sum = |term: &dyn Fn(f64) -> f64| {
        let (mut sum, mut lost) = (0.0f64, 0.0);
        for rank in 1..=size {
            let term = term(rank as f64) - lost;
            let next = sum + term;
            lost = (next - sum) - term;
            sum = next;
        }
        sum
    };
    let others = (relevant - 1) as f64 / (size - 1) as f64;
    let dcg = share * sum(&|rank| 1.0 / (rank + 1.0).log2());
    let judged = relevant as f64 + 1.0;
    let ideal: f64 = (1..=relevant + 1).map(|rank| 1.0 / ((rank + 1) as f64).log2()).sum();
    let mut chance = share;
    let mut first = 0.0;
    for rank in 1..=size - relevant {
        first += chance / rank as f64;
        chance *= (size - relevant + 1 - rank) as f64 / (size - rank) as f64;
    }
    for (name, expected) in [
        ("P@10", share),
        ("R@1000", 1000.0 * share / judged),
        ("NumRelRet", relevant as f64),
        ("DCG", dcg),
        ("nDCG", dcg / ideal),
        ("AP", share * sum(&|rank| (1.0 + (rank - 1.0) * others) / rank) / judged),
        ("RR", first),
        ("NERR8(depth=1000000)", first),
        ("Bpref", relevant as f64 / judged),
        ("Accuracy", 0.5),
        ("FallOut@500000", 0.5),
        ("Success@1000000", 1.0),
    ] {
        let found = case.expected(&name.parse().unwrap()).unwrap();
        assert!((found / expected - 1.0).abs() < 1e-12, "{name}: {found} and {expected}");
    }
}

/// Returns whether a measure needs judgments by facet.
fn over_groups(name: &str) -> bool {
    let row = MEASURES.iter().find(|row| row.name == name).unwrap();
    matches!(row.traits.input, laneval::measure::JudgmentNeeds::Facets(_))
}

#[test]
fn what_is_not_known_is_refused_by_name() {
    let book = Codebook::new([0.0, 1.0, 2.0]).unwrap();
    let refused = |average: bool, cuts: Cuts| {
        let is_refused = |name: &&str| {
            let name = if MEASURES
                .iter()
                .any(|row| row.name == *name && row.doc.contains("Interpolated precision:"))
            {
                format!("{name}@0.5")
            } else {
                (*name).to_owned()
            };
            let measure: Measure = name.parse().or_else(|_| format!("{name}@5").parse()).unwrap();
            if average {
                Expectation::new(&measure, &book, cuts).is_err()
            } else {
                Extreme::new(&measure, &book, Side::Best, cuts).is_err()
            }
        };
        // No order of equal scores is known to be best for measures over subtopics and preferences.
        let (refused, over_groups): (Vec<&str>, Vec<&str>) = MEASURES
            .iter()
            .map(|row| row.name)
            .filter(is_refused)
            .partition(|name| !over_groups(name));
        assert_eq!(
            over_groups.len(),
            MEASURES.iter().filter(|row| self::over_groups(row.name)).count()
        );
        refused
    };
    let none = Cuts::default();
    let depth = Cuts { depth: true, judged_only: false };
    let both = Cuts { depth: true, judged_only: true };
    for cuts in [none, depth, both] {
        assert_eq!(refused(true, cuts), ["IPrec", "IPrec11", "YAAP", "G", "INST"]);
    }
    assert_eq!(refused(false, none), ["G"]);
    assert_eq!(refused(false, depth), ["InfAP", "G"]);
    let fixed = ["IDCG", "NumQ", "NumRel"];
    let all = MEASURES
        .iter()
        .map(|row| row.name)
        .filter(|name| !fixed.contains(name) && !over_groups(name));
    assert_eq!(refused(false, both), all.collect::<Vec<_>>());

    let average = |name: &str, cuts| {
        Expectation::new(&name.parse().unwrap(), &book, cuts).err().map(|e| e.to_string())
    };
    let extreme = |name: &str, side, cuts| {
        Extreme::new(&name.parse().unwrap(), &book, side, cuts).err().map(|e| e.to_string())
    };
    for (found, expected) in [
        (
            average("INST", none),
            Some(
                "INST has no expected value over ties that can be computed; take --ties best, \
                 worst or docno-desc",
            ),
        ),
        (
            average("G", none),
            Some("G has no expected value over ties that can be computed; take --ties docno-desc"),
        ),
        (average("nDCG(ideal=retrieved)", none), None),
        (
            average("nDCG(ideal=retrieved)", depth),
            Some(
                "nDCG(ideal=retrieved) has no expected value over ties under -M that can be \
                 computed; take --ties docno-desc",
            ),
        ),
        (
            average("NERR9(gain=grade)", none),
            Some(
                "NERR9(gain=grade) has no expected value over ties that can be computed; take \
                 --ties best, worst or docno-desc",
            ),
        ),
        (
            extreme("G", Side::Best, none),
            Some("G: its best order cannot be found without trying all of them"),
        ),
        (
            extreme("INST(T=0.2)", Side::Worst, none),
            Some("INST(T=0.2): its worst order cannot be found without trying all of them"),
        ),
        (
            extreme("BPM(gain=grade)", Side::Best, none),
            Some("BPM(gain=grade): its best order cannot be found without trying all of them"),
        ),
        (
            extreme("nDCGrel(gain={-1:1})", Side::Best, none),
            Some("nDCGrel(gain={-1:1}): its best order cannot be found without trying all of them"),
        ),
        (
            extreme("InfAP", Side::Best, depth),
            Some("InfAP: its best order under -M cannot be found without trying all of them"),
        ),
        (
            extreme("AP", Side::Worst, both),
            Some(
                "AP: its worst order under -M and -J together cannot be found without trying all \
                 of them",
            ),
        ),
    ] {
        assert_eq!(found.as_deref(), expected);
    }
}

/// One evaluation of arranged groups serves all measures whose best order is the same.
#[test]
fn measures_of_the_same_best_order_share_it() {
    for grades in [&[0.0, 1.0, 2.0, 3.0][..], &[0.5, 1.0, 2.25], &[1.0]] {
        let book = Codebook::new(grades.iter().copied()).unwrap();
        for side in [Side::Best, Side::Worst] {
            let key = |name: &str| match Extreme::new(
                &name.parse().unwrap(),
                &book,
                side,
                Cuts::default(),
            ) {
                Ok(Extreme::Order(key)) => key,
                _ => panic!("{name} has no order"),
            };
            for name in
                ["nDCG@10", "RR", "P@10", "R@100", "nDCG(gain=exp2)", "RBP", "ERR@20", "NumRel"]
            {
                assert!(key(name) == key("AP"), "{name} of {grades:?}");
            }
            let table = format!("nDCG(gain={{{}:1,{}:9}})", grades[grades.len() - 1], grades[0]);
            assert!(grades.len() == 1 || key(&table) != key("AP"), "{table}");
        }
    }
}
