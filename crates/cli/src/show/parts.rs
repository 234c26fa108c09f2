//! Parts of an explanation for people, in any output format: sentences, and grids of values, ranks
//! and differences.

use laneval::error::printable;
use laneval::internals::{
    How, InRun, LastLine, RankTerms, RankedDocument, ShownJudgment, ShownQuery, Term,
};
use laneval::measure::{Average, Measure};
use laneval::report::{Align, Cell, Grid};
use laneval::{ScoreType, TiedValue, Ties};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::explained::{Explanation, differences, judgment as judgment_text, missed, relevant};
use crate::choice::TieRule;
use crate::style::counted;

/// The widths of an id in columns: the largest, and smaller ones for narrow terminals.
pub const ID_WIDTHS: [usize; 4] = [48, 24, 16, 12];

/// The mark of a document that shares its score only with documents that are not shown.
const LONE: char = '·';

/// The parts of an explanation.
#[derive(Clone, Copy)]
pub struct ExplanationParts<'a> {
    pub asked: &'a Explanation,
    /// The number of ranks, missed documents and differences that are shown.
    pub top: usize,
    /// The number of decimals.
    pub precision: usize,
}

/// The look of a ranking.
#[derive(Debug, Clone, Copy)]
pub struct RankingLook {
    /// Whether the origin of terms is shown.
    pub how: bool,
    /// The width of an id, in columns.
    pub width: usize,
    /// Whether scores end with blanks, so that their points are below each other.
    pub aligned: bool,
}

/// The relevant documents of a query at other ranks in other runs.
pub struct ShownDifferences {
    pub heading: &'static str,
    pub grid: Grid,
    /// The end of the list, if it is not complete.
    pub more: Option<String>,
}

/// What is said where the relevant documents stand at the same ranks.
pub const NO_DIFFERENCE: &str = "no relevant document stands at another rank in another run";

impl ExplanationParts<'_> {
    /// Names a query, with its text if there is one.
    pub fn heading(&self, query: &ShownQuery) -> String {
        let id = printable(&query.id);
        match self.asked.titles.get(&query.id) {
            Some(title) => format!("Query {id}: {}", printable(title.as_bytes())),
            None => format!("Query {id}"),
        }
    }

    /// Describes the judgments of the query.
    pub fn judgments(&self, query: &ShownQuery) -> String {
        let Some(judged) = &query.judged else {
            return "not judged, so it has no values, and an evaluation leaves it out".to_owned();
        };
        if let Some(gold) = query.gold {
            return counted(gold, "gold position");
        }
        let relevant = relevant(query, self.asked.rel);
        let graded = judged
            .iter()
            .filter(|(_, judgment)| matches!(judgment, ShownJudgment::Grade(_)))
            .count();
        let mut grades: Vec<(f64, u64)> = Vec::new();
        for &(_, grade) in &relevant {
            match grades.last_mut().filter(|(last, _)| *last == grade) {
                Some((_, count)) => *count += 1,
                None => grades.push((grade, 1)),
            }
        }
        let grades = grades.iter().map(|(grade, count)| format!("{count} of grade {grade}"));
        let grades = grades.collect::<Vec<_>>().join(", ");
        let among =
            format!("{}, {} relevant", counted(graded as u64, "judged document"), relevant.len());
        if grades.is_empty() { among } else { format!("{among} ({grades})") }
    }

    /// Writes a value, with decimals unless it is a count.
    fn value(&self, value: f64, measure: &Measure) -> String {
        // Where nothing is relevant a query may have no value (nothing=skip), and then no
        // difference of values either.
        if value.is_nan() {
            return "none".to_owned();
        }
        let count = measure.definition().average == Average::Sum && value.fract() == 0.0;
        format!("{value:.*}", if count { 0 } else { self.precision })
    }

    /// Writes a number, with decimals unless it is whole.
    fn number(&self, number: f64) -> String {
        let whole = number.fract() == 0.0 && number.abs() < 1e15;
        format!("{number:.*}", if whole { 0 } else { self.precision })
    }

    /// Makes the grid of the values of all runs, and their distances from the first run, if there
    /// are values.
    pub fn values(&self, query: &ShownQuery) -> Option<Grid> {
        let Explanation { shown, .. } = self.asked;
        if query.judged.is_none() || shown.measures.is_empty() {
            return None;
        }
        let columns = shown.measures.iter().map(|measure| (measure.to_string(), Align::Right));
        let mut grid = Grid::new([("run".to_owned(), Align::Left)].into_iter().chain(columns));
        let named = || shown.runs.iter().zip(&query.runs);
        for (name, run) in named() {
            let values = run.values.iter().zip(&shown.measures);
            let values = values.map(|(&value, measure)| Cell::from(self.value(value, measure)));
            grid.push([printable(name.as_bytes()).into()].into_iter().chain(values));
        }
        let Some((first, of_first)) = named().next() else { return Some(grid) };
        for (name, run) in named().skip(1) {
            let name = format!("{} − {}", printable(name.as_bytes()), printable(first.as_bytes()));
            let deltas = run.values.iter().zip(&of_first.values).zip(&shown.measures);
            let deltas = deltas.map(|((value, of_first), measure)| {
                let delta = value - of_first + 0.0;
                let sign = if delta > 0.0 { "+" } else { "" };
                Cell::from(format!("{sign}{}", self.value(delta, measure)))
            });
            grid.push([name.into()].into_iter().chain(deltas));
        }
        Some(grid)
    }

    /// Describes the ranking of a query in a run.
    pub fn ranking_said(&self, query: &ShownQuery, run: &InRun) -> String {
        let documents =
            || format!("{}{}", counted(run.ranking.len() as u64, "document"), self.kept());
        match (run.present, query.judged.is_some()) {
            (false, true) => {
                "the query is judged, but not in this run, and counts as an empty ranking"
                    .to_owned()
            }
            (false, false) => "the query is not in this run".to_owned(),
            (true, true) if query.gold.is_some() => {
                let new = |ranked: &RankedDocument| match ranked.judgment {
                    ShownJudgment::Gold { new, .. } => new,
                    _ => 0,
                };
                let found: u64 = run.ranking.iter().map(new).sum();
                let gold = counted(query.gold.unwrap_or(0), "gold position");
                format!(
                    "{}{}, {found} of {gold}",
                    counted(run.ranking.len() as u64, "passage"),
                    self.kept()
                )
            }
            (true, true) => {
                let (all, missed) = (
                    relevant(query, self.asked.rel).len(),
                    missed(query, run, self.asked.rel).len(),
                );
                format!("{}, {} of {all} relevant", documents(), all - missed)
            }
            (true, false) => documents(),
        }
    }

    /// Describes which documents of the rankings are evaluated.
    fn kept(&self) -> String {
        let view = self.asked.view;
        let depth =
            view.depth.map(|depth| format!(" (of the first {depth} ranks)")).unwrap_or_default();
        let judged = if view.judged_only { " with a judgment" } else { "" };
        format!("{judged}{depth}")
    }

    /// Makes the grid of a ranking with its terms.
    pub fn ranking(&self, run: &InRun, look: RankingLook) -> Grid {
        let marks = marks(&run.ranking);
        let shown = self.shown_ranks(run);
        let marked = shown.iter().any(|&at| marks[at] != ' ');
        let scores = shown.iter().map(|&at| score_text(run.ranking[at].score, self.asked.score));
        let decimals =
            scores.map(|score| decimals(&score)).max().filter(|_| look.aligned).unwrap_or(0);
        ShownRanking { parts: self, run, marks: marked.then_some(&marks), look, decimals }
            .grid(&shown)
    }

    /// Explains the marks of a ranking.
    pub fn marks_said(&self, run: &InRun) -> Vec<String> {
        let marks = marks(&run.ranking);
        let marks: Vec<char> = self.shown_ranks(run).into_iter().map(|at| marks[at]).collect();
        let mut said = Vec::new();
        if marks.iter().any(|&mark| mark != ' ' && mark != LONE) {
            said.push(format!("┌│└ equal scores: {}", self.order()));
        }
        if marks.contains(&LONE) {
            let order = self.order();
            said.push(format!(
                "{LONE} its score is also that of documents that are left out: {order}"
            ));
        }
        said
    }

    /// Says why no measure has terms, if so.
    pub fn no_terms_said(&self) -> Option<String> {
        let TieRule::Value(tied) = self.asked.ties else { return None };
        let which =
            if tied == TiedValue::Average { "expected".to_owned() } else { tied.to_string() };
        Some(format!("the {which} values over all orders of equal scores have no terms"))
    }

    /// Returns the measures without terms, with how they are computed.
    pub fn formulas(&self, run: &InRun) -> Vec<(&Measure, &'static str)> {
        let without =
            self.asked.shown.measures.iter().zip(&run.terms).filter(|(_, terms)| terms.is_none());
        without.map(|(measure, _)| (measure, measure.definition().formula)).collect()
    }

    /// Names the order of equal scores.
    fn order(&self) -> &'static str {
        match self.asked.ties {
            TieRule::Order(Ties::DocnoAscending) => "ordered by document id, ascending",
            TieRule::Order(Ties::Input) => "in the order of the run file",
            TieRule::Order(Ties::Rank) => "ordered by the rank column of the run",
            TieRule::Order(_) => "ordered by document id, descending",
            TieRule::Value(_) | TieRule::Interval => "listed by document id, descending",
        }
    }

    /// Returns the ranks to show, from 0: the first `top` ranks, and the ranks of relevant
    /// documents further down.
    fn shown_ranks(&self, run: &InRun) -> Vec<usize> {
        let relevant = |at: &usize| run.ranking[*at].judgment.is_relevant(self.asked.rel);
        (0..run.ranking.len()).filter(|at| *at < self.top || relevant(at)).collect()
    }

    /// Lists the relevant documents that a run lacks, under a heading.
    pub fn missed(&self, query: &ShownQuery, run: &InRun) -> Option<(String, String)> {
        let missed = missed(query, run, self.asked.rel);
        if missed.is_empty() || !run.present {
            return None;
        }
        let documents = counted(relevant(query, self.asked.rel).len() as u64, "relevant document");
        let heading = format!("missed: {} of {documents}, with their grades", missed.len());
        let shown = missed.iter().take(self.top);
        let shown = shown.map(|&(docno, grade)| format!("{} ({grade})", cut(docno, ID_WIDTHS[0])));
        let more = missed.len().saturating_sub(self.top);
        let more = (more > 0).then(|| format!("and {more} more (--top 0 shows all)"));
        Some((heading, shown.chain(more).collect::<Vec<_>>().join(", ")))
    }

    /// Makes the grid of the relevant documents that stand at other ranks in another run, or says
    /// that there is none. Without several runs or relevant documents there is nothing to say.
    pub fn differences(
        &self,
        query: &ShownQuery,
        width: usize,
    ) -> Option<Result<ShownDifferences, &'static str>> {
        if query.runs.len() < 2 || relevant(query, self.asked.rel).is_empty() {
            return None;
        }
        let differences = differences(query, self.asked.rel);
        if differences.is_empty() {
            return Some(Err(NO_DIFFERENCE));
        }
        let two = query.runs.len() == 2;
        let runs =
            self.asked.shown.runs.iter().map(|name| (printable(name.as_bytes()), Align::Right));
        let last = if two { "difference" } else { "spread" };
        let columns = [("document".to_owned(), Align::Left), ("grade".to_owned(), Align::Right)];
        let columns = columns.into_iter().chain(runs).chain([(last.to_owned(), Align::Right)]);
        let mut grid = Grid::new(columns);
        for difference in differences.iter().take(self.top) {
            let ranks = difference
                .ranks
                .iter()
                .map(|rank| rank.map_or("–".to_owned(), |rank| rank.to_string()));
            let by = match (two, &difference.ranks[..]) {
                (true, [Some(one), Some(other)]) => {
                    format!("{:+}", i64::from(*other) - i64::from(*one))
                }
                (false, ranks) if ranks.iter().all(Option::is_some) => {
                    difference.spread.to_string()
                }
                _ => String::new(),
            };
            let first = [cut(difference.docno, width), difference.grade.to_string()];
            grid.push(first.into_iter().chain(ranks).chain([by]).map(Cell::from));
        }
        let more = differences.len().saturating_sub(self.top);
        Some(Ok(ShownDifferences {
            heading: "relevant documents at other ranks, the largest differences first (–: missed)",
            grid,
            more: (more > 0).then(|| format!("… and {more} more (--top 0 shows all)")),
        }))
    }
}

/// A ranking that is written into a grid.
struct ShownRanking<'a> {
    parts: &'a ExplanationParts<'a>,
    run: &'a InRun,
    marks: Option<&'a [char]>,
    look: RankingLook,
    /// The digits of a score behind the point.
    decimals: usize,
}

impl ShownRanking<'_> {
    /// Makes a grid of the ranks `shown`, and below them the sums.
    fn grid(&self, shown: &[usize]) -> Grid {
        let measures = &self.parts.asked.shown.measures;
        let summed: Vec<(&Measure, &RankTerms)> = measures
            .iter()
            .zip(&self.run.terms)
            .filter_map(|(measure, terms)| Some((measure, terms.as_ref()?)))
            .collect();
        let left = |name: &str| (name.to_owned(), Align::Left);
        let right = |name: &str| (name.to_owned(), Align::Right);
        let columns = [right("rank")].into_iter().chain(self.marks.map(|_| left("")));
        let is_gold =
            |ranked: &RankedDocument| matches!(ranked.judgment, ShownJudgment::Gold { .. });
        let grade = if self.run.ranking.iter().any(is_gold) { "gold" } else { "grade" };
        let columns = columns.chain([left("document"), right("score"), right(grade)]);
        let columns = columns.chain(summed.iter().map(|(measure, _)| right(&measure.to_string())));
        let mut grid = Grid::new(columns);
        let mut next = 0;
        for &at in shown {
            self.push_gap(next, at, &summed, &mut grid);
            self.push_rank(at, &summed, &mut grid);
            next = at + 1;
        }
        self.push_gap(next, self.run.ranking.len(), &summed, &mut grid);
        if !summed.is_empty() {
            self.push(
                &mut grid,
                "Σ",
                "",
                summed.iter().map(|(_, terms)| self.amount(terms, terms.sum)),
            );
            let last = |(_, terms): &(&Measure, &RankTerms)| match terms.last {
                LastLine::Sum => String::new(),
                LastLine::Over(by) => format!("÷ {}", self.parts.number(by)),
                LastLine::Times(by) => format!("× {}", self.parts.number(by)),
            };
            if summed.iter().any(|(_, terms)| terms.last != LastLine::Sum) {
                self.push(&mut grid, "", "", summed.iter().map(last));
            }
            let value = |(measure, terms): &(&Measure, &RankTerms)| {
                self.parts.value(terms.last.value(terms.sum), measure)
            };
            self.push(&mut grid, "=", "", summed.iter().map(value));
        }
        grid
    }

    /// Adds a row that is not a rank.
    fn push(
        &self,
        grid: &mut Grid,
        rank: &str,
        document: &str,
        terms: impl Iterator<Item = String>,
    ) {
        let mark = self.marks.map(|_| String::new());
        let cells = [rank.to_owned()].into_iter().chain(mark);
        let cells = cells.chain([document.to_owned(), String::new(), String::new()]).chain(terms);
        grid.push(cells.map(Cell::from));
    }

    /// Adds a row for the ranks that are not shown, with the sum of their terms.
    fn push_gap(&self, from: usize, to: usize, summed: &[(&Measure, &RankTerms)], grid: &mut Grid) {
        if from == to {
            return;
        }
        let sum = |(_, terms): &(&Measure, &RankTerms)| {
            let hidden =
                terms.terms.iter().filter(|term| (from..to).contains(&(term.rank as usize - 1)));
            let hidden: Vec<f64> = hidden.map(|term| term.value).collect();
            if hidden.is_empty() { String::new() } else { self.amount(terms, hidden.iter().sum()) }
        };
        let ranks = counted((to - from) as u64, "rank");
        self.push(grid, "⋮", &ranks, summed.iter().map(sum));
    }

    fn push_rank(&self, at: usize, summed: &[(&Measure, &RankTerms)], grid: &mut Grid) {
        let RankedDocument { rank, docno, score, judgment, .. } = &self.run.ranking[at];
        let mark = self.marks.map(|marks| marks[at].to_string());
        let term = |(_, terms): &(&Measure, &RankTerms)| {
            let found = terms.terms.binary_search_by_key(rank, |term| term.rank).ok();
            found.map(|found| self.term(terms, &terms.terms[found])).unwrap_or_default()
        };
        let score = score_text(*score, self.parts.asked.score);
        let score =
            format!("{score}{}", " ".repeat(self.decimals.saturating_sub(decimals(&score))));
        let cells = [rank.to_string()].into_iter().chain(mark);
        let cells = cells.chain([cut(docno, self.look.width), score, grade_text(*judgment)]);
        grid.push(cells.chain(summed.iter().map(term)).map(Cell::from));
    }

    /// Writes a sum of terms, as a whole number if they are counts.
    fn amount(&self, terms: &RankTerms, sum: f64) -> String {
        let counts = terms.terms.iter().all(|term| term.how == How::One);
        if counts { sum.to_string() } else { format!("{sum:.*}", self.parts.precision) }
    }

    fn term(&self, terms: &RankTerms, term: &Term) -> String {
        let value = self.amount(terms, term.value);
        let how = match term.how {
            How::One | How::Formula => None,
            How::Reciprocal => Some(format!("1/{}", term.rank)),
            How::Precision(hits) => Some(format!("{hits}/{}", term.rank)),
            How::Divided(gain, by) => Some(format!("{}/{}", brief(gain), brief(by))),
            How::Multiplied(_, 1.0) => None,
            How::Multiplied(gain, by) => Some(format!("{}·{}", brief(gain), brief(by))),
            How::Stops { comes, stops, weight } => {
                Some(format!("{}·{}/{}", brief(comes), brief(stops), brief(weight)))
            }
        };
        match how.filter(|_| self.look.how) {
            Some(how) => format!("{how} = {value}"),
            None => value,
        }
    }
}

/// Marks documents of equal scores: a bracket along them, or a dot if the other documents with that
/// score are not shown.
fn marks(ranking: &[RankedDocument]) -> Vec<char> {
    let same = |one: usize, other: usize| {
        ranking.get(other).is_some_and(|other| other.score == ranking[one].score && other.tied > 1)
    };
    let mark = |at: usize| match (at > 0 && same(at, at - 1), same(at, at + 1)) {
        (false, true) => '┌',
        (true, true) => '│',
        (true, false) => '└',
        (false, false) if ranking[at].tied > 1 => LONE,
        (false, false) => ' ',
    };
    (0..ranking.len()).map(mark).collect()
}

/// Shortens an id to at most `width` columns.
fn cut(id: &[u8], width: usize) -> String {
    let id = printable(id);
    if id.width() <= width {
        return id;
    }
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used < width
    };
    id.chars().take_while(fits).chain(['…']).collect()
}

/// Writes a grade, or a dash for a document that the qrels do not name.
fn grade_text(judgment: ShownJudgment) -> String {
    match judgment {
        ShownJudgment::None => "–".to_owned(),
        ShownJudgment::Negative => "< 0".to_owned(),
        ShownJudgment::Grade(grade) => grade.to_string(),
        ShownJudgment::Gold { .. } => judgment_text(judgment).into_owned(),
    }
}

/// Writes a score in the shortest form that reads back as the same number.
fn score_text(score: f64, precision: ScoreType) -> String {
    let large = score != 0.0 && !(1e-7..1e16).contains(&score.abs());
    match (precision, large) {
        (ScoreType::F32, true) => format!("{:e}", score as f32),
        (ScoreType::F32, false) => (score as f32).to_string(),
        (_, true) => format!("{score:e}"),
        (_, false) => score.to_string(),
    }
}

/// Returns the columns of a number behind its last whole digit.
fn decimals(number: &str) -> usize {
    number.find(['.', 'e']).map_or(0, |point| number.len() - point)
}

/// Writes a number in a few digits.
fn brief(number: f64) -> String {
    if number != 0.0 && !(0.001..1e6).contains(&number.abs()) {
        return format!("{number:.1e}");
    }
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
