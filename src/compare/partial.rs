//! Comparisons of runs over some of the queries, as mergeable sums.
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

use super::build::RunSet;
use super::comparison::Comparison;
use super::options::{ComparisonOptions, Correction, Interval, Permutations, Test};
use super::sums::RunSums;
use crate::error::{Error, Result, printable, unanswerable};
use crate::scores::Scores;
use crate::summary::{QueryFingerprint, Summary, differ, number_text, overlap_message};

/// The most queries of all parts together.
pub(super) const MAX_QUERIES: u64 = 1 << 40;

/// A comparison of runs over some of the queries, which merges with comparisons over other queries.
///
/// ```
/// use laneval::compare::{ComparisonOptions, PartialComparison};
/// use laneval::{Evaluator, Join, Qrels};
/// let evaluator = Evaluator::new(["AP"])?.with_per_query(true);
/// let part = |query: &str, grades: [f64; 2]| {
///     let qrels = Qrels::new([(query, "d1", grades[0]), (query, "d2", grades[1])])?;
///     let run = |first| [(query, "d1", first), (query, "d2", 0.5)];
///     let matrix = Join::default()
///         .rankings(&qrels, [("a".to_owned(), run(0.7)), ("b".to_owned(), run(0.2))])?;
///     let (scores, summary) = evaluator.evaluate_with_summary(&matrix)?;
///     Ok::<_, laneval::Error>(
///         PartialComparison::compare(&scores, &summary, None, &ComparisonOptions::default())?.1,
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
pub struct PartialComparison {
    /// The summary of the evaluation of the runs, with its settings and its judgments.
    pub(super) summary: Summary,
    /// The summary of [`judged_measure`](super::judged_measure) of each measure, if it is known.
    pub(super) judged: Option<Summary>,
    /// The options of the comparison.
    pub(super) options: ComparisonOptions,
    /// The names of the runs, in their order.
    pub(super) runs: Vec<String>,
    /// The queries that count in all runs.
    pub(super) queries: QueryFingerprint,
    pub(super) sums: RunSums,
}

impl ComparisonOptions {
    /// Rejects options under which comparisons over different queries cannot be merged.
    ///
    /// # Errors
    /// An option that needs the differences of all queries at once: Wilcoxon's test, BCa intervals,
    /// the randomised HSD, [`Permutations::Auto`].
    pub fn check_partial(&self) -> Result<()> {
        let (what, instead) = if self.test == Test::Wilcoxon {
            (format!("the test {}", self.test), "take t, randomisation or sign")
        } else if self.interval == Interval::Bca {
            (format!("the interval {}", self.interval), "take t or bootstrap")
        } else if self.correction == Correction::Rhsd {
            (format!("the correction {}", self.correction), "take maxt or hsd")
        } else if self.permutations == Permutations::Auto {
            ("the number of permutations `auto`".to_owned(), "give a number, such as 99999")
        } else if self.permutations == Permutations::Exact {
            ("the exact p of the randomisation test".to_owned(), "give a number of permutations")
        } else {
            return Ok(());
        };
        unanswerable(format!(
            "{what} needs the differences of all queries at once, so a part cannot have it: \
             {instead}"
        ))
    }
}

impl PartialComparison {
    /// Compares the runs of scores that have per-query values, and returns the comparison and its
    /// mergeable form. `summary` is the summary of the evaluation behind `scores`. `judged`, for
    /// the shares of judged documents, is the summary of an evaluation under the
    /// [`judged_measure`](super::judged_measure) of each measure.
    ///
    /// # Errors
    /// As [`Comparison::new`] and [`ComparisonOptions::check_partial`].
    pub fn compare(
        scores: &Scores,
        summary: &Summary,
        judged: Option<&Summary>,
        options: &ComparisonOptions,
    ) -> Result<(Comparison, Self)> {
        options.check_partial()?;
        let (mut comparison, sums) = Comparison::with_sums(scores, options, true, None)?;
        if let Some(judged) = judged {
            comparison.set_judged_share(&judged.scores(&[])?);
        }
        // The ids are kept once, in `queries`.
        let partial = Self {
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
            queries: QueryFingerprint::from_ids(comparison.query_ids().collect()),
            sums,
        };
        Ok((comparison, partial))
    }

    /// Returns the comparison over all queries that were merged so far. The comparison lacks the
    /// values of queries, and every result that needs all differences at once, such as an exact p.
    ///
    /// # Errors
    /// Differences beyond the range of numbers of 64 bits.
    pub fn comparison(&self) -> Result<Comparison> {
        let run_set = RunSet {
            measures: self.summary.measures(),
            names: &self.runs,
            query_set: self.summary.queries(),
        };
        let mut comparison = Comparison::from_sums(run_set, &self.options, &self.sums, None, None)?;
        comparison.note_part();
        if let Some(judged) = &self.judged {
            comparison.set_judged_share(&judged.scores(&[])?);
        }
        Ok(comparison)
    }

    /// Returns the summary of the evaluation of the compared runs, over the queries merged so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Sets the source of this comparison, such as its file, for messages about merges.
    #[must_use]
    pub fn from_source(mut self, source: &str) -> Self {
        self.summary = self.summary.from_source(source);
        self.judged = self.judged.map(|judged| judged.from_source(source));
        self
    }

    /// Adds the comparison of the same runs over further queries.
    ///
    /// # Errors
    /// Other runs, measures, settings, units or numbers of draws, and queries counted in both
    /// parts. [`Error::Merge`] names the setting to change. On an error, nothing is added.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.check(other)?;
        let queries = self.queries.and(&other.queries).map_err(|common| {
            // The queries are those of all runs, so any run names the sources of a part.
            match [&*self, other].map(|partial| partial.summary.runs().next()) {
                [Some((.., own)), Some((.., others))] => {
                    Error::Merge(overlap_message(&common, [own, others]))
                }
                _ => Error::Merge("some queries are counted twice".to_owned()),
            }
        })?;
        let mut summary = self.summary.clone();
        summary.merge(&other.summary)?;
        // Merge into a copy, because this last step may fail.
        let mut judged = self.judged.clone();
        if let (Some(judged), Some(others)) = (&mut judged, &other.judged) {
            judged.merge(others)?;
        }
        // Nothing fails from here on.
        self.sums.merge(&other.sums);
        (self.queries, self.summary, self.judged) = (queries, summary, judged);
        Ok(())
    }

    /// Rejects a comparison of other runs, measures, settings, units or draws, which cannot be
    /// merged into this one.
    fn check(&self, other: &Self) -> Result<()> {
        if let Some(message) = other_runs(&self.runs, &other.runs) {
            return refuse(message);
        }
        self.summary.check(&other.summary)?;
        for (own, others) in settings(&self.options).iter().zip(settings(&other.options)) {
            if own.value != others.value {
                return refuse(differ(own.name, &own.value, &others.value, own.option));
            }
        }
        if self.judged.is_some() != other.judged.is_some() {
            return refuse(
                "one has the shares of judged documents and the other has not: give them in all, \
                 or in none",
            );
        }
        let measures =
            self.summary.measures().iter().zip(&self.sums.measures).zip(&other.sums.measures);
        for ((measure, own), others) in measures {
            let [here, there] = [own.unit, others.unit].map(|unit| unit.largest());
            if own.unit != others.unit {
                return refuse(format!(
                    "{measure} has values up to {here} here and up to {there} there, which are \
                     rounded to other units: set --value-bound '{measure}={}' in all",
                    here.max(there)
                ));
            }
        }
        // Equal settings may give other draws: under `Default`, a part draws signs only if its
        // queries are few enough.
        let [own, others] = [self, other].map(|partial| partial.sums.draws().unwrap_or(0));
        if own != others {
            return refuse(differ("numbers of permutations", &own, &others, "--permutations"));
        }
        if self.sums.queries + other.sums.queries > MAX_QUERIES {
            return refuse(format!("there are more than {MAX_QUERIES} queries"));
        }
        Ok(())
    }
}

/// Returns [`Error::Merge`], the error of comparisons that cannot be merged.
fn refuse(message: impl Into<String>) -> Result<()> {
    Err(Error::Merge(message.into()))
}

/// Describes the first difference between the lists of runs of two comparisons to be merged, if
/// any.
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

/// A setting of comparisons over some of the queries that must be equal for a merge.
struct MergeSetting {
    /// The plural name of the setting, for messages.
    name: &'static str,
    /// Its value as text.
    value: String,
    /// The option that sets it.
    option: &'static str,
}

/// Returns the settings of a comparison that must be equal for a merge.
fn settings(options: &ComparisonOptions) -> [MergeSetting; 13] {
    let permutations = match options.permutations {
        Permutations::Fixed(draws) => draws.to_string(),
        Permutations::Default => "the default".to_owned(),
        Permutations::Auto => "auto".to_owned(),
        Permutations::Exact => "exact".to_owned(),
    };
    let baseline =
        options.baseline.as_ref().map_or("none".to_owned(), |name| printable(name.as_bytes()));
    [
        ("baselines", baseline, "--baseline"),
        ("tests", options.test.to_string(), "--test"),
        ("alternatives", options.alternative.to_string(), "--alternative"),
        ("levels of significance", options.alpha.to_string(), "--alpha"),
        ("corrections", options.correction.to_string(), "--correction"),
        ("families", options.family.to_string(), "--family"),
        ("intervals", options.interval.to_string(), "--ci"),
        ("numbers of permutations", permutations, "--permutations"),
        ("seeds", format!("{:#x}", options.seed), "--seed"),
        ("margins", number_text(options.margin), "--margin"),
        ("differences to detect", number_text(options.power), "--power"),
        ("largest ties", number_text(options.tie), "--tie-epsilon"),
        ("analyses of variance", if options.anova { "some" } else { "none" }.to_owned(), "--anova"),
    ]
    .map(|(name, value, option)| MergeSetting { name, value, option })
}
