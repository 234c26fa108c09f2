//! The sentences and tables with which `laneval show` explains queries to people, for any output
//! format.

use laneval::error::printable;
use laneval::internals::{
    RankTerms, RankedDocument, ShownJudgment, ShownQuery, ShownRun, SumStep, Term, TermOrigin,
};
use laneval::measure::{Average, Measure};
use laneval::report::{Align, Cell, Grid};
use laneval::{ScoreType, TieBreak, TiedValue};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::explanation::{
    Explanation, differences, judgment as judgment_text, missed_relevant, relevant,
};
use crate::style::{comma_list, pluralize};
use laneval::options::TieRule;

/// The widths of an id in columns: the largest, and smaller ones for narrow terminals.
pub const ID_WIDTHS: [usize; 4] = [48, 24, 16, 12];

/// The mark of a document that shares its score only with documents that are not shown.
const LONE: char = '·';

/// A maker of the sentences and tables with which `laneval show` explains queries, in any format
/// for people.
#[derive(Clone, Copy)]
pub struct ExplanationParts<'a> {
    pub explanation: &'a Explanation,
    /// The number of ranks, missed documents and differences that are shown.
    pub top: usize,
    /// The number of decimals.
    pub precision: usize,
}

/// The layout of the table of a ranking in `laneval show`: width of ids, alignment, and origin of
/// terms.
#[derive(Debug, Clone, Copy)]
pub struct RankingGridOptions {
    /// Whether the origin of terms is shown.
    pub how: bool,
    /// The width of an id, in columns.
    pub width: usize,
    /// Whether scores end with blanks, so that their points are below each other.
    pub aligned: bool,
}

/// The table of a query's relevant documents whose ranks differ between runs, with its heading.
pub struct ShownDifferences {
    pub heading: &'static str,
    pub grid: Grid,
    /// The end of the list, if it is not complete.
    pub more: Option<String>,
}

impl ExplanationParts<'_> {
    /// Returns the heading of a query in `laneval show`: its id, with its text if there is one.
    pub fn heading(&self, query: &ShownQuery) -> String {
        let id = printable(&query.id);
        match self.explanation.titles.texts.get(&query.id) {
            Some(title) => format!("Query {id}: {}", printable(title.as_bytes())),
            None => format!("Query {id}"),
        }
    }

    /// Describes the judgments of a query in words: judged and relevant documents, or relevant
    /// positions of passages.
    pub fn judgments(&self, query: &ShownQuery) -> String {
        let Some(judged) = &query.judged else {
            return "not judged, so it has no values, and an evaluation leaves it out".to_owned();
        };
        if let Some(gold) = query.gold {
            return pluralize(gold, "gold position");
        }
        let relevant = relevant(query, self.explanation.rel);
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
        let grades =
            comma_list(grades.iter().map(|(grade, count)| format!("{count} of grade {grade}")));
        let among =
            format!("{}, {} relevant", pluralize(graded as u64, "judged document"), relevant.len());
        if grades.is_empty() { among } else { format!("{among} ({grades})") }
    }

    /// Formats the value of a query under a measure, with decimals unless it is a count.
    fn value(&self, value: f64, measure: &Measure) -> String {
        // Where nothing is relevant a query may have no value (no_relevant=skip), and then no
        // difference of values either.
        if value.is_nan() {
            return "none".to_owned();
        }
        let count = measure.definition().average == Average::Sum && value.fract() == 0.0;
        format!("{value:.*}", if count { 0 } else { self.precision })
    }

    /// Formats a number with decimals unless it is whole.
    fn number(&self, number: f64) -> String {
        let whole = number.fract() == 0.0 && number.abs() < 1e15;
        format!("{number:.*}", if whole { 0 } else { self.precision })
    }

    /// Makes the table of a query's values in all runs, with differences from the first run, if
    /// there are values.
    pub fn values(&self, query: &ShownQuery) -> Option<Grid> {
        let Explanation { shown, .. } = self.explanation;
        if query.judged.is_none() || shown.measures.is_empty() {
            return None;
        }
        let columns = shown.measures.iter().map(|measure| (measure.to_string(), Align::Right));
        let mut grid = Grid::new([("run".to_owned(), Align::Left)].into_iter().chain(columns));
        let mut named = shown.runs.iter().zip(&query.runs);
        for (name, run) in named.clone() {
            let values = run.values.iter().zip(&shown.measures);
            let values = values.map(|(&value, measure)| Cell::from(self.value(value, measure)));
            grid.push([printable(name.as_bytes()).into()].into_iter().chain(values));
        }
        let Some((first, of_first)) = named.next() else { return Some(grid) };
        for (name, run) in named {
            let name = format!("{} − {}", printable(name.as_bytes()), printable(first.as_bytes()));
            let deltas = run.values.iter().zip(&of_first.values).zip(&shown.measures);
            let deltas = deltas.map(|((value, of_first), measure)| {
                // A difference of −0 would show its sign, and is 0 after adding 0.
                let delta = value - of_first + 0.0;
                let sign = if delta > 0.0 { "+" } else { "" };
                Cell::from(format!("{sign}{}", self.value(delta, measure)))
            });
            grid.push([name.into()].into_iter().chain(deltas));
        }
        Some(grid)
    }

    /// Describes the ranking of a query in a run: its length, and how many relevant documents it
    /// has.
    pub fn ranking_sentence(&self, query: &ShownQuery, run: &ShownRun) -> String {
        let gold = query.gold.filter(|_| query.judged.is_some());
        let noun = if gold.is_some() { "passage" } else { "document" };
        let documents = pluralize(run.ranking.len() as u64, noun) + &self.evaluated_documents();
        match (run.present, query.judged.is_some(), gold) {
            (false, true, _) => {
                "the query is judged, but not in this run, and counts as an empty ranking"
                    .to_owned()
            }
            (false, false, _) => "the query is not in this run".to_owned(),
            (true, _, Some(gold)) => {
                let found = run.ranking.iter().map(|ranked| match ranked.judgment {
                    ShownJudgment::Gold { new, .. } => new,
                    _ => 0,
                });
                let found: u64 = found.sum();
                format!("{documents}, {found} of {}", pluralize(gold, "gold position"))
            }
            (true, true, None) => {
                let all = relevant(query, self.explanation.rel).len();
                let missed = missed_relevant(query, run, self.explanation.rel).len();
                format!("{documents}, {} of {all} relevant", all - missed)
            }
            (true, false, None) => documents,
        }
    }

    /// Describes the documents of a ranking that are evaluated: the first ranks (`-M`), or only
    /// judged ones (`-J`).
    fn evaluated_documents(&self) -> String {
        let view = self.explanation.view;
        let depth =
            view.depth.map(|depth| format!(" (of the first {depth} ranks)")).unwrap_or_default();
        let judged = if view.judged_only { " with a judgment" } else { "" };
        format!("{judged}{depth}")
    }

    /// Makes the table of a ranking: documents, scores, grades, and the terms that each rank adds
    /// to measures.
    pub fn ranking(&self, run: &ShownRun, look: RankingGridOptions) -> Grid {
        let marks = marks(&run.ranking);
        let shown = self.shown_ranks(run);
        let marked = shown.iter().any(|&at| marks[at] != ' ');
        let scores =
            shown.iter().map(|&at| score_text(run.ranking[at].score, self.explanation.score));
        let decimals =
            scores.map(|score| decimals(&score)).max().filter(|_| look.aligned).unwrap_or(0);
        ShownRanking { parts: self, run, marks: marked.then_some(&marks), look, decimals }
            .grid(&shown)
    }

    /// Explains the marks of equal scores that the table of a ranking has.
    pub fn marks_legend(&self, run: &ShownRun) -> Vec<String> {
        let marks = marks(&run.ranking);
        let marks: Vec<char> = self.shown_ranks(run).into_iter().map(|at| marks[at]).collect();
        let mut notes = Vec::new();
        if marks.iter().any(|&mark| mark != ' ' && mark != LONE) {
            notes.push(format!("┌│└ equal scores: {}", self.order()));
        }
        if marks.contains(&LONE) {
            let order = self.order();
            notes.push(format!(
                "{LONE} its score is also that of documents that are left out: {order}"
            ));
        }
        notes
    }

    /// Returns the reason why no measure has terms at ranks, if values are over all orders of equal
    /// scores.
    pub fn no_terms_note(&self) -> Option<String> {
        let TieRule::Value(tied) = self.explanation.ties else { return None };
        let which =
            if tied == TiedValue::Average { "expected".to_owned() } else { tied.to_string() };
        Some(format!("the {which} values over all orders of equal scores have no terms"))
    }

    /// Returns the measures that are no sum of terms over ranks, each with its formula.
    pub fn formulas(&self, run: &ShownRun) -> Vec<(&Measure, &'static str)> {
        let without = self
            .explanation
            .shown
            .measures
            .iter()
            .zip(&run.terms)
            .filter(|(_, terms)| terms.is_none());
        without.map(|(measure, _)| (measure, measure.definition().formula)).collect()
    }

    /// Describes the order in which a ranking lists documents of equal scores.
    fn order(&self) -> &'static str {
        match self.explanation.ties {
            TieRule::Order(TieBreak::DocnoAscending) => "ordered by document id, ascending",
            TieRule::Order(TieBreak::Input) => "in the order of the run file",
            TieRule::Order(TieBreak::Rank) => "ordered by the rank column of the run",
            TieRule::Order(_) => "ordered by document id, descending",
            TieRule::Value(_) | TieRule::Interval => "listed by document id, descending",
        }
    }

    /// Returns the ranks of a run to show, from 0: the first `top`, and those of relevant documents
    /// further down.
    fn shown_ranks(&self, run: &ShownRun) -> Vec<usize> {
        let ranks = run.ranking.iter().enumerate().filter(|(at, ranked)| {
            *at < self.top || ranked.judgment.is_relevant(self.explanation.rel)
        });
        ranks.map(|(at, _)| at).collect()
    }

    /// Returns a heading and the list of the relevant documents that a run lacks, if it lacks any.
    pub fn missed(&self, query: &ShownQuery, run: &ShownRun) -> Option<(String, String)> {
        let missed = missed_relevant(query, run, self.explanation.rel);
        if missed.is_empty() || !run.present {
            return None;
        }
        let documents =
            pluralize(relevant(query, self.explanation.rel).len() as u64, "relevant document");
        let heading = format!("missed: {} of {documents}, with their grades", missed.len());
        let shown = missed.iter().take(self.top);
        let shown = shown.map(|&(docno, grade)| format!("{} ({grade})", cut(docno, ID_WIDTHS[0])));
        let more = missed.len().saturating_sub(self.top);
        let more = (more > 0).then(|| format!("and {more} more (--top 0 shows all)"));
        Some((heading, comma_list(shown.chain(more))))
    }

    /// Makes the table of a query's relevant documents whose ranks differ between runs, or says
    /// that there is none. Without several runs or relevant documents there is nothing to say.
    pub fn differences(
        &self,
        query: &ShownQuery,
        width: usize,
    ) -> Option<Result<ShownDifferences, &'static str>> {
        if query.runs.len() < 2 || relevant(query, self.explanation.rel).is_empty() {
            return None;
        }
        let differences = differences(query, self.explanation.rel);
        if differences.is_empty() {
            return Some(Err("no relevant document stands at another rank in another run"));
        }
        let two = query.runs.len() == 2;
        let runs = self
            .explanation
            .shown
            .runs
            .iter()
            .map(|name| (printable(name.as_bytes()), Align::Right));
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

/// The ranking of a query in a run, to be made a table of `laneval show`.
struct ShownRanking<'a> {
    parts: &'a ExplanationParts<'a>,
    run: &'a ShownRun,
    marks: Option<&'a [char]>,
    look: RankingGridOptions,
    /// The digits of a score behind the point.
    decimals: usize,
}

impl ShownRanking<'_> {
    /// Makes the table of the ranks `shown` of a ranking, and below them the sums of their terms.
    fn grid(&self, shown: &[usize]) -> Grid {
        let measures = &self.parts.explanation.shown.measures;
        let summed: Vec<(&Measure, &RankTerms)> = measures
            .iter()
            .zip(&self.run.terms)
            .filter_map(|(measure, terms)| Some((measure, terms.as_ref()?)))
            .collect();
        let mut ranking = self.run.ranking.iter();
        let has_gold = ranking.any(|ranked| matches!(ranked.judgment, ShownJudgment::Gold { .. }));
        let grade = if has_gold { "gold" } else { "grade" };
        let columns = [("rank", Align::Right)]
            .into_iter()
            .chain(self.marks.map(|_| ("", Align::Left)))
            .chain([("document", Align::Left), ("score", Align::Right), (grade, Align::Right)])
            .map(|(name, align)| (name.to_owned(), align));
        let terms = summed.iter().map(|(measure, _)| (measure.to_string(), Align::Right));
        let mut grid = Grid::new(columns.chain(terms));
        let mut next = 0;
        for &at in shown {
            self.push_gap(next, at, &summed, &mut grid);
            self.push_rank(at, &summed, &mut grid);
            next = at + 1;
        }
        self.push_gap(next, self.run.ranking.len(), &summed, &mut grid);
        if !summed.is_empty() {
            let sums = summed.iter().map(|(_, terms)| self.amount(terms, terms.sum));
            self.push(&mut grid, "Σ", "", sums);
            if summed.iter().any(|(_, terms)| terms.last != SumStep::Sum) {
                let last = summed.iter().map(|(_, terms)| match terms.last {
                    SumStep::Sum => String::new(),
                    SumStep::Over(by) => format!("÷ {}", self.parts.number(by)),
                    SumStep::Times(by) => format!("× {}", self.parts.number(by)),
                });
                self.push(&mut grid, "", "", last);
            }
            let values = summed
                .iter()
                .map(|(measure, terms)| self.parts.value(terms.last.value(terms.sum), measure));
            self.push(&mut grid, "=", "", values);
        }
        grid
    }

    /// Adds a row to the table of a ranking that is not a rank, such as a sum of terms.
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

    /// Adds a row for the ranks that the table of a ranking leaves out, with the sum of their
    /// terms.
    fn push_gap(&self, from: usize, to: usize, summed: &[(&Measure, &RankTerms)], grid: &mut Grid) {
        if from == to {
            return;
        }
        let sums = summed.iter().map(|(_, terms)| {
            let hidden =
                terms.terms.iter().filter(|term| (from..to).contains(&(term.rank as usize - 1)));
            let hidden: Vec<f64> = hidden.map(|term| term.value).collect();
            if hidden.is_empty() { String::new() } else { self.amount(terms, hidden.iter().sum()) }
        });
        self.push(grid, "⋮", &pluralize((to - from) as u64, "rank"), sums);
    }

    fn push_rank(&self, at: usize, summed: &[(&Measure, &RankTerms)], grid: &mut Grid) {
        let RankedDocument { rank, docno, score, judgment, .. } = &self.run.ranking[at];
        let mark = self.marks.map(|marks| marks[at].to_string());
        // A rank without a term adds nothing, and its cell stays empty.
        let texts = summed.iter().map(|(_, terms)| {
            let found = terms.terms.binary_search_by_key(rank, |term| term.rank).ok();
            found.map(|found| self.term(terms, &terms.terms[found])).unwrap_or_default()
        });
        let score = score_text(*score, self.parts.explanation.score);
        let score =
            format!("{score}{}", " ".repeat(self.decimals.saturating_sub(decimals(&score))));
        let cells = [rank.to_string()].into_iter().chain(mark);
        let cells = cells.chain([cut(docno, self.look.width), score, grade_text(*judgment)]);
        grid.push(cells.chain(texts).map(Cell::from));
    }

    /// Formats a term of a measure or a sum of terms, as a whole number if all terms are counts.
    fn amount(&self, terms: &RankTerms, sum: f64) -> String {
        let counts = terms.terms.iter().all(|term| term.how == TermOrigin::One);
        if counts { sum.to_string() } else { format!("{sum:.*}", self.parts.precision) }
    }

    fn term(&self, terms: &RankTerms, term: &Term) -> String {
        let value = self.amount(terms, term.value);
        let how = match term.how {
            TermOrigin::One | TermOrigin::Formula => None,
            TermOrigin::Reciprocal => Some(format!("1/{}", term.rank)),
            TermOrigin::Precision(hits) => Some(format!("{hits}/{}", term.rank)),
            TermOrigin::Divided(gain, by) => Some(format!("{}/{}", brief(gain), brief(by))),
            // A product with 1 is the gain itself, which the value shows.
            TermOrigin::Multiplied(_, 1.0) => None,
            TermOrigin::Multiplied(gain, by) => Some(format!("{}·{}", brief(gain), brief(by))),
            TermOrigin::Stops { comes, stops, weight } => {
                Some(format!("{}·{}/{}", brief(comes), brief(stops), brief(weight)))
            }
        };
        match how.filter(|_| self.look.how) {
            Some(how) => format!("{how} = {value}"),
            None => value,
        }
    }
}

/// Returns a mark for each rank: a bracket along equal scores, or a dot if the others of that score
/// are not shown.
fn marks(ranking: &[RankedDocument]) -> Vec<char> {
    let marks = ranking.iter().enumerate().map(|(at, ranked)| {
        let before = at.checked_sub(1).and_then(|at| ranking.get(at));

        let [before, behind] = [before, ranking.get(at + 1)]
            .map(|other| other.is_some_and(|other| other.score == ranked.score && other.tied > 1));
        match (before, behind) {
            (false, true) => '┌',
            (true, true) => '│',
            (true, false) => '└',
            (false, false) if ranked.tied > 1 => LONE,
            (false, false) => ' ',
        }
    });
    marks.collect()
}

/// Shortens the id of a document to at most `width` columns, with `…` at the end.
fn cut(id: &[u8], width: usize) -> String {
    let id = printable(id);
    if id.width() <= width {
        return id;
    }
    // The letters stay below the width, because the dots take a column.
    let mut used = 0;
    let start = id.chars().take_while(|letter| {
        used += letter.width().unwrap_or(0);
        used < width
    });
    start.chain(['…']).collect()
}

/// Formats the grade of a document, or a dash for a document that the qrels do not name.
pub fn grade_text(judgment: ShownJudgment) -> String {
    match judgment {
        ShownJudgment::None => "–".to_owned(),
        ShownJudgment::Negative => "< 0".to_owned(),
        ShownJudgment::Grade(grade) => grade.to_string(),
        ShownJudgment::Gold { .. } => judgment_text(judgment).into_owned(),
    }
}

/// Formats the score of a document in the shortest form that reads back as the same number.
fn score_text(score: f64, precision: ScoreType) -> String {
    let large = score != 0.0 && !(1e-7..1e16).contains(&score.abs());
    match (precision, large) {
        (ScoreType::F32, true) => format!("{:e}", score as f32),
        (ScoreType::F32, false) => (score as f32).to_string(),
        (_, true) => format!("{score:e}"),
        (_, false) => score.to_string(),
    }
}

/// Returns the number of characters of a formatted number from its point or exponent on.
fn decimals(number: &str) -> usize {
    number.find(['.', 'e']).map_or(0, |point| number.len() - point)
}

/// Formats a number with at most three decimals, or with an exponent if it is very small or large.
fn brief(number: f64) -> String {
    if number != 0.0 && !(0.001..1e6).contains(&number.abs()) {
        return format!("{number:.1e}");
    }
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
