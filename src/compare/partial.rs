//! Parts of a comparison: mergeable sums over some of the queries.
//!
//! Merging is associative and commutative to the bit, so parts in any number and any order give the
//! same comparison. A merge refuses parts that do not belong together, and names the setting to
//! change.
//!
//! # Parts that belong together
//!
//! ```text
//! the same runs in the same order        sums are kept by place, not by name
//! the same settings of the evaluation    as summaries check them: measures, queries, depth, ties,
//!                                        judgments' numbers
//! the same settings of the comparison    all thirteen of `settings`: each changes a number or
//!                                        which numbers there are
//! the same units                         whole numbers of 2⁻⁴⁰ and of 2⁻³⁹ do not add up
//! the same number of draws               sums are added draw by draw
//! no query in both                       the one thing that is forbidden to be the same
//! ```
//!
//! Two parts under a common seed have equal draws without exchanging data: the signs of a query
//! follow from its id and the seed (`philox`). Merged sums therefore equal the sums of a single
//! pass, to the bit.
//!
//! A merge first checks both parts, then makes copies in every step that can fail, and only then
//! changes the part. So a part that rejects a merge stays unchanged, and can merge the next part.

use super::comparison::Comparison;
use super::making::ComparedRuns;
use super::options::{ComparisonOptions, Correction, Interval, Permutations, Test};
use super::sums::RunSums;
use crate::error::{Error, Result, printable};
use crate::scores::Scores;
use crate::summary::{QueryPrint, Summary, counted_twice, differ};

/// The most queries of all parts together.
pub(super) const MOST: u64 = 1 << 40;

/// The part of a comparison over some queries.
///
/// ```
/// use laneval::compare::{ComparisonOptions, Partial};
/// use laneval::{Evaluator, Join, Qrels};
/// let evaluator = Evaluator::new(["AP"])?.with_per_query(true);
/// let part = |query: &str, grades: [f64; 2]| {
///     let qrels = Qrels::new([(query, "d1", grades[0]), (query, "d2", grades[1])])?;
///     let run = |first| [(query, "d1", first), (query, "d2", 0.5)];
///     let matrix = Join::default()
///         .rankings(&qrels, [("a".to_owned(), run(0.7)), ("b".to_owned(), run(0.2))])?;
///     let (scores, summary) = evaluator.evaluate_with_summary(&matrix)?;
///     Ok::<_, laneval::Error>(
///         Partial::of(&scores, &summary, None, &ComparisonOptions::default())?.1,
///     )
/// };
/// let mut all = part("q1", [1.0, 0.0])?;
/// all.merge(&part("q2", [0.0, 1.0])?)?;
/// all.merge(&part("q3", [0.0, 1.0])?)?;
/// let comparison = all.comparison()?;
/// assert_eq!((comparison.queries, comparison.differences[0].wins.wins), (3, 2));
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Partial {
    /// The summary of the evaluation of the runs, with its settings and its judgments.
    pub(super) summary: Summary,
    /// The summary of [`judged_measure`](super::judged_measure) of each measure, if it is known.
    pub(super) judged: Option<Summary>,
    /// The options of the comparison.
    pub(super) options: ComparisonOptions,
    /// The names of the runs, in their order.
    pub(super) runs: Vec<String>,
    /// The queries that count in all runs.
    pub(super) queries: QueryPrint,
    pub(super) sums: RunSums,
}

impl ComparisonOptions {
    /// Rejects options under which parts cannot be merged.
    ///
    /// # Errors
    /// An option that needs the differences of all queries at once: Wilcoxon's test, BCa intervals,
    /// the randomised HSD, [`Permutations::Auto`].
    pub fn check_partial(&self) -> Result<()> {
        let refused = |what: String, instead: &str| {
            let message = format!(
                "{what} needs the differences of all queries at once, so a part cannot have it: \
                 {instead}"
            );
            Err(Error::Unanswerable(message))
        };
        if self.test == Test::Wilcoxon {
            return refused(format!("the test {}", self.test), "take t, randomisation or sign");
        }
        if self.interval == Interval::Bca {
            return refused(format!("the interval {}", self.interval), "take t or bootstrap");
        }
        if self.correction == Correction::Rhsd {
            return refused(format!("the correction {}", self.correction), "take maxt or hsd");
        }
        if self.permutations == Permutations::Auto {
            return refused(
                "the number of permutations `auto`".to_owned(),
                "give a number, such as 99999",
            );
        }
        if self.permutations == Permutations::Exact {
            return refused(
                "the exact p of the randomisation test".to_owned(),
                "give a number of permutations",
            );
        }
        Ok(())
    }
}

impl Partial {
    /// Compares the runs of scores that have per-query values, and returns the comparison and the
    /// part. `summary` is the summary of the evaluation behind `scores`. `judged`, for the shares
    /// of judged documents, is the summary of an evaluation under the
    /// [`judged_measure`](super::judged_measure) of each measure.
    ///
    /// # Errors
    /// As [`Comparison::of`] and [`ComparisonOptions::check_partial`].
    pub fn of(
        scores: &Scores,
        summary: &Summary,
        judged: Option<&Summary>,
        options: &ComparisonOptions,
    ) -> Result<(Comparison, Partial)> {
        options.check_partial()?;
        let (mut comparison, sums) = Comparison::summed(scores, options, true, None)?;
        if let Some(judged) = judged {
            comparison.set_judged(&judged.scores(&[])?);
        }
        // The ids are kept once, in `queries`.
        let partial = Partial {
            summary: summary.clone().without_ids(),
            judged: judged.map(|judged| judged.clone().without_ids()),
            // The part drops the options of tests that need all differences at once. The largest
            // values are left out too: a merge compares the units derived from these values.
            options: ComparisonOptions {
                largest: Vec::new(),
                zeros: Default::default(),
                wilcoxon: Default::default(),
                ..options.clone()
            },
            runs: comparison.runs.iter().map(|run| run.name.clone()).collect(),
            queries: QueryPrint::of(comparison.query_ids().collect()),
            sums,
        };
        Ok((comparison, partial))
    }

    /// The comparison of all queries so far. The comparison lacks the values of queries, and every
    /// result that needs all differences at once, such as an exact p.
    /// # Errors
    /// Differences beyond the range of numbers of 64 bits.
    pub fn comparison(&self) -> Result<Comparison> {
        let of = ComparedRuns {
            measures: self.summary.measures(),
            names: &self.runs,
            query_set: self.summary.queries(),
        };
        let mut comparison = Comparison::made(of, &self.options, &self.sums, None, None)?;
        comparison.note_part();
        if let Some(judged) = &self.judged {
            comparison.set_judged(&judged.scores(&[])?);
        }
        Ok(comparison)
    }

    /// The summary of the evaluation of the runs.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Sets the source of the part, for messages.
    #[must_use]
    pub fn from_source(mut self, source: &str) -> Self {
        self.summary = self.summary.from_source(source);
        self.judged = self.judged.map(|judged| judged.from_source(source));
        self
    }

    /// Adds the part of further queries.
    ///
    /// # Errors
    /// Other runs, measures, settings, units or numbers of draws, and queries counted in both
    /// parts. [`Error::Merge`] names the setting to change. On an error, nothing is added.
    pub fn merge(&mut self, other: &Partial) -> Result<()> {
        self.check(other)?;
        let queries = self.queries.and(&other.queries).map_err(|common| {
            let first = |of: &Partial| of.summary.runs().next().map(|(.., run)| run.clone());
            match first(self).zip(first(other)) {
                Some((own, others)) => Error::Merge(counted_twice(&common, [&own, &others])),
                None => Error::Merge("some queries are counted twice".to_owned()),
            }
        })?;
        let mut summary = self.summary.clone();
        summary.merge(&other.summary)?;
        // Merge into a copy, because this last step may fail.
        let judged = match (&self.judged, &other.judged) {
            (Some(own), Some(others)) => {
                let mut judged = own.clone();
                judged.merge(others)?;
                Some(judged)
            }
            _ => None,
        };
        // Nothing fails from here on.
        self.sums.merge(&other.sums);
        (self.queries, self.summary, self.judged) = (queries, summary, judged);
        Ok(())
    }

    /// Rejects a part that does not belong to this part.
    fn check(&self, other: &Partial) -> Result<()> {
        let refused = |message: String| Err(Error::Merge(message));
        if let Some(message) = other_runs(&self.runs, &other.runs) {
            return refused(message);
        }
        self.summary.check(&other.summary)?;
        for (own, others) in settings(&self.options).iter().zip(settings(&other.options)) {
            if own.value != others.value {
                return refused(differ(own.name, &own.value, &others.value, own.option));
            }
        }
        if self.judged.is_some() != other.judged.is_some() {
            return refused(
                "one has the shares of judged documents and the other has not: give them in all, \
                 or in none"
                    .to_owned(),
            );
        }
        let measures =
            self.summary.measures().iter().zip(&self.sums.measures).zip(&other.sums.measures);
        for ((measure, own), others) in measures {
            let [here, there] = [own.unit, others.unit].map(|unit| unit.largest());
            if own.unit != others.unit {
                return refused(format!(
                    "{measure} has values up to {here} here and up to {there} there, which are \
                     rounded to other units: set --largest '{measure}={}' in all",
                    here.max(there)
                ));
            }
        }
        let draws = |of: &Partial| of.sums.draws().unwrap_or(0);
        if draws(self) != draws(other) {
            return refused(differ(
                "numbers of permutations",
                &draws(self),
                &draws(other),
                "--permutations",
            ));
        }
        if self.sums.queries + other.sums.queries > MOST {
            return refused(format!("there are more than {MOST} queries"));
        }
        Ok(())
    }
}

/// Describes the first difference between the runs of two parts, if any.
fn other_runs(own: &[String], others: &[String]) -> Option<String> {
    // The first place at which the lists differ, perhaps past the end of the shorter list.
    let place = (0..own.len().max(others.len())).find(|&at| own.get(at) != others.get(at))?;
    let [here, there] = [own, others].map(|runs| match runs.get(place) {
        Some(name) => printable(name.as_bytes()),
        None => "nothing".to_owned(),
    });
    let number = place + 1;
    Some(format!(
        "run {number} is {here} here and {there} there: compare the same runs in the same order, \
         named by name=path"
    ))
}

/// A setting that parts must have in common.
struct ComparisonSetting {
    /// The plural name of the setting, for messages.
    name: &'static str,
    /// Its value as text.
    value: String,
    /// The option that sets it.
    option: &'static str,
}

/// The settings of a comparison.
fn settings(of: &ComparisonOptions) -> [ComparisonSetting; 13] {
    let setting = |name, value, option| ComparisonSetting { name, value, option };
    let number =
        |number: Option<f64>| number.map_or("none".to_owned(), |number| number.to_string());
    let permutations = match of.permutations {
        Permutations::Fixed(draws) => draws.to_string(),
        Permutations::Affordable => "the default".to_owned(),
        Permutations::Auto => "auto".to_owned(),
        Permutations::Exact => "exact".to_owned(),
    };
    let baseline =
        of.baseline.as_ref().map_or("none".to_owned(), |name| printable(name.as_bytes()));
    [
        setting("baselines", baseline, "--baseline"),
        setting("tests", of.test.to_string(), "--test"),
        setting("alternatives", of.alternative.to_string(), "--alternative"),
        setting("levels of significance", of.alpha.to_string(), "--alpha"),
        setting("corrections", of.correction.to_string(), "--correction"),
        setting("families", of.family.to_string(), "--family"),
        setting("intervals", of.interval.to_string(), "--ci"),
        setting("numbers of permutations", permutations, "--permutations"),
        setting("seeds", format!("{:#x}", of.seed), "--seed"),
        setting("margins", number(of.margin), "--margin"),
        setting("differences to detect", number(of.power), "--power"),
        setting("largest ties", number(of.tie), "--tie"),
        setting(
            "analyses of variance",
            if of.anova { "some" } else { "none" }.to_owned(),
            "--anova",
        ),
    ]
}
