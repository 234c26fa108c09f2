//! The file format of mergeable comparisons over some queries: first bytes, a version, a checksum,
//! and the fields in postcard's format.
//!
//! Sums of whole numbers take most of the room: one a draw for each measure and run. All bytes are
//! checked when they are read.
//!
//! A checksum finds accidental changes of bytes. A checksum misses bytes made on purpose, or by a
//! version with a fault. So the reader here checks every assumption of later code: lists must be as
//! long as the runs, pairs and draws require, and sums no larger than as many values can have. With
//! these checks no addition of merged parts overflows: up to 2⁴⁰ queries of 2⁴⁰ units are below
//! 2⁸⁰, and the squares of differences below 2⁴⁰ · 2⁸².

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::anova::Spread;
use super::bootstrap::{RESAMPLES, Resamples};
use super::options::{ComparisonOptions, Correction, Interval, Permutations};
use super::paired::WinCounts;
use super::pairs::{baseline, count_of_pairs};
use super::partial::{MAX_QUERIES, PartialComparison};
use super::randomised::DrawSums;
use super::sums::{MeasureSums, PairSums, RunSums};
use super::unit::Unit;
use crate::atomic_file;
use crate::error::{Error, Result};
use crate::measure::NoRelevant;
use crate::stats::{ExactSum, Moments};
use crate::summary::frame::{self, Magic, frame, open, wrong};
use crate::summary::stored::{self, StoredQueries, StoredSummary};
use crate::summary::{QueryFingerprint, Summary};

/// The first bytes of a part of a comparison.
const MAGIC: &Magic = b"laneval\0compare\n";

/// An input file of `laneval merge`: the summary of an evaluation, or a comparison over some of the
/// queries.
#[derive(Debug, Clone, PartialEq)]
pub enum Shard {
    /// The summary of an evaluation.
    Scores(Summary),
    /// A part of a comparison.
    Comparison(Box<PartialComparison>),
}

impl Shard {
    /// Reads an input file of `laneval merge`, whose content tells its kind.
    ///
    /// # Errors
    /// As [`Summary::read`] and [`PartialComparison::read`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = frame::read(path, &[stored::MAGIC, MAGIC])?;
        let shard = if bytes.starts_with(MAGIC) {
            PartialComparison::from_bytes(&bytes).map(|partial| Self::Comparison(Box::new(partial)))
        } else {
            Summary::from_file(&bytes).map(Self::Scores)
        };
        shard.map_err(|error| frame::in_file(path, error))
    }
}

impl PartialComparison {
    /// Encodes the mergeable comparison as bytes, which [`PartialComparison::from_bytes`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        frame(MAGIC, &StoredPart::new(self))
    }

    /// Decodes a mergeable comparison from bytes written by this version of laneval, or an older
    /// version.
    ///
    /// # Errors
    /// [`Error::Summary`]: bytes of something else, of a newer version, cut off or changed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        open::<StoredPart<'_>>(MAGIC, "a part of a comparison", bytes)?.partial()
    }

    /// Reads a mergeable comparison from a file.
    ///
    /// # Errors
    /// A file that cannot be read, or as [`PartialComparison::from_bytes`], with its name.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_bytes(&frame::read(path, &[MAGIC])?).map_err(|error| frame::in_file(path, error))
    }

    /// Writes the mergeable comparison to a file. The file first has a temporary name in the same
    /// folder, so `path` never names half a file.
    ///
    /// # Errors
    /// The error of the system.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let bytes = self.to_bytes();
        atomic_file::write(path, |to| to.write_all(&bytes))
            .map_err(|error| Error::io(path, "write", error))
    }
}

/// The stored fields of a comparison over some of the queries.
#[derive(Serialize, Deserialize)]
struct StoredPart<'a> {
    summary: StoredSummary,
    judged: Option<StoredSummary>,
    options: StoredOptions,
    runs: Vec<String>,
    queries: StoredQueries,
    filled: Vec<u64>,
    measures: Vec<StoredPartMeasure>,
    drawn: Cow<'a, Option<Vec<DrawSums>>>,
    resamples: Cow<'a, Option<Resamples>>,
}

#[derive(Serialize, Deserialize)]
struct StoredOptions {
    baseline: Option<String>,
    test: String,
    alternative: String,
    alpha: f64,
    correction: String,
    family: String,
    interval: String,
    permutations: Option<u32>,
    seed: u64,
    margin: Option<f64>,
    power: Option<f64>,
    tie: Option<f64>,
    anova: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredPartMeasure {
    /// The number of queries without a value.
    skipped: u64,
    unit: i32,
    runs: Vec<String>,
    pairs: Vec<StoredPair>,
    spread: Option<StoredSpread>,
}

#[derive(Serialize, Deserialize)]
struct StoredPair {
    deltas: StoredMoments,
    sum: i128,
    squares: i128,
    above: u64,
    below: u64,
    wins: u64,
    ties: u64,
    losses: u64,
}

#[derive(Serialize, Deserialize)]
struct StoredSpread {
    queries: StoredMoments,
    rest: Vec<StoredMoments>,
}

/// The stored moments of as many values as there are queries.
#[derive(Serialize, Deserialize)]
struct StoredMoments {
    sum: String,
    squares: String,
    range: Option<[f64; 2]>,
}

impl<'a> StoredPart<'a> {
    fn new(partial: &'a PartialComparison) -> Self {
        let sums = &partial.sums;
        Self {
            summary: StoredSummary::new(&partial.summary),
            judged: partial.judged.as_ref().map(StoredSummary::new),
            options: StoredOptions::new(&partial.options),
            runs: partial.runs.clone(),
            queries: StoredQueries::new(&partial.queries),
            filled: sums.filled.clone(),
            measures: sums
                .measures
                .iter()
                .map(|measured| StoredPartMeasure::new(measured, sums.queries))
                .collect(),
            drawn: Cow::Borrowed(&sums.drawn),
            resamples: Cow::Borrowed(&sums.resamples),
        }
    }

    /// Makes the mergeable comparison from its stored fields, and rejects fields that contradict
    /// each other.
    fn partial(self) -> Result<PartialComparison> {
        let summary = self.summary.summary()?;
        let judged = self.judged.map(StoredSummary::summary).transpose()?;
        let options = self.options.options()?;
        let queries = self.queries.print()?;
        check_runs(&self.runs, &[Some(&summary), judged.as_ref()], &queries)?;
        let pairs = count_of_pairs(
            self.runs.len(),
            baseline(&options, &self.runs).map_err(wrong)?.is_some(),
        );
        let shape =
            PartShape { queries: queries.count(), runs: self.runs.len(), pairs, options: &options };
        let names = summary.measures();
        if names.is_empty()
            || names.len() != self.measures.len()
            || self.filled.len() != self.runs.len()
        {
            return Err(wrong("its sums are not of its runs and measures"));
        }
        if self.filled.iter().any(|&filled| filled > shape.queries) {
            return Err(contradiction());
        }
        let skipping =
            names.iter().filter(|measure| measure.no_relevant() == NoRelevant::Skip).count();
        let measures = self.measures.into_iter().zip(names).map(|(part, measure)| {
            let may_skip = part.skipped == 0 || measure.no_relevant() == NoRelevant::Skip;
            let queries = shape
                .queries
                .checked_sub(part.skipped)
                .filter(|_| may_skip)
                .ok_or_else(contradiction)?;
            part.sums(&PartShape { queries, ..shape })
                .ok_or_else(|| wrong(format!("the sums of {measure} contradict each other")))
        });
        let measures = measures.collect::<Result<Vec<MeasureSums>>>()?;
        let series = measures.len() * self.runs.len();
        let drawn = self.drawn.into_owned().map(|drawn| shape.drawn(drawn, series)).transpose()?;
        let resamples = self.resamples.into_owned();
        if resamples.is_some() != (options.interval != Interval::T)
            || resamples
                .as_ref()
                .is_some_and(|samples| !shape.has_resamples(samples, series + skipping))
        {
            return Err(wrong("its resamples contradict each other"));
        }
        let sums =
            RunSums { queries: shape.queries, filled: self.filled, measures, drawn, resamples };
        Ok(PartialComparison { summary, judged, options, runs: self.runs, queries, sums })
    }
}

fn contradiction() -> Error {
    wrong("its counts contradict each other")
}

/// Rejects a stored comparison whose runs are not those of its summaries, or that counts more
/// queries than the summaries.
fn check_runs(
    runs: &[String],
    summaries: &[Option<&Summary>],
    queries: &QueryFingerprint,
) -> Result<()> {
    let mut names: Vec<&str> = runs.iter().map(String::as_str).collect();
    names.sort_unstable();
    if names.len() < 2 || names.windows(2).any(|two| two[0] == two[1]) {
        return Err(wrong("its runs are not two or more of different names"));
    }
    for summary in summaries.iter().flatten() {
        // Names of a summary are distinct, so as many known names are all names.
        let known = summary.runs().all(|(name, group, run)| {
            group.is_none() && names.binary_search(&name).is_ok() && run.count() >= queries.count()
        });
        if summary.runs().count() != names.len() || !known {
            return Err(wrong("its runs are not those of its summary"));
        }
    }
    if (1..=MAX_QUERIES).contains(&queries.count()) { Ok(()) } else { Err(contradiction()) }
}

/// The numbers of queries, runs and pairs that the sums of a stored comparison must fit.
struct PartShape<'a> {
    queries: u64,
    runs: usize,
    pairs: usize,
    options: &'a ComparisonOptions,
}

impl PartShape<'_> {
    /// Returns the largest sum of whole numbers, of values or of differences of two.
    // Cannot overflow: there are at most 2⁴⁰ queries, and at most 82 bits are asked for.
    fn most(&self, bits: u32) -> i128 {
        i128::from(self.queries) << bits
    }

    /// Checks the stored sums under random signs, and returns them in the form in which equal sums
    /// are equal.
    fn drawn(&self, drawn: Vec<DrawSums>, series: usize) -> Result<Vec<DrawSums>> {
        let draws = drawn.first().map_or(0, DrawSums::len);
        let draws_match = match self.options.permutations {
            Permutations::Fixed(count) => count as usize == draws,
            _ => draws == super::options::DRAWS as usize,
        };
        let most = self.most(Unit::BITS);
        let fit = drawn.iter().all(|sums| {
            sums.len() == draws
                && (0..draws).all(|draw| sums.get(draw).unsigned_abs() <= most as u128)
        });
        if drawn.len() != series || !draws_match || !fit {
            return Err(wrong("its sums under random signs contradict each other"));
        }
        // Bytes may say "wide" of sums that are narrow. All equal sums take a single form, so that
        // parts compare and are written alike.
        Ok(drawn.into_iter().map(DrawSums::narrowest).collect())
    }

    fn has_resamples(&self, resamples: &Resamples, series: usize) -> bool {
        let all = RESAMPLES as usize;
        // The bound: a resample takes no query more than 64 times. The number 64 is wide, because a
        // weight is 12 at most. With the bound, `taken` times a value stays far below 2¹²⁷.
        let taken = resamples.taken.iter().all(|&taken| taken <= self.queries * 64);
        resamples.taken.len() == all
            && taken
            && resamples.sums.len() == series
            && resamples.sums.iter().all(|sums| {
                let mut pairs = sums.iter().zip(&resamples.taken);
                sums.len() == all
                    && pairs
                        .all(|(sum, &taken)| sum.unsigned_abs() <= u128::from(taken) << Unit::BITS)
            })
    }
}

impl StoredOptions {
    fn new(options: &ComparisonOptions) -> Self {
        Self {
            baseline: options.baseline.clone(),
            test: options.test.to_string(),
            alternative: options.alternative.to_string(),
            alpha: options.alpha,
            correction: options.correction.to_string(),
            family: options.family.to_string(),
            interval: options.interval.to_string(),
            permutations: match options.permutations {
                Permutations::Fixed(draws) => Some(draws),
                Permutations::Default | Permutations::Auto | Permutations::Exact => None,
            },
            seed: options.seed,
            margin: options.margin,
            power: options.power,
            tie: options.tie,
            anova: options.anova,
        }
    }

    fn options(self) -> Result<ComparisonOptions> {
        let options = ComparisonOptions {
            baseline: self.baseline,
            test: self.test.parse().map_err(wrong)?,
            alternative: self.alternative.parse().map_err(wrong)?,
            alpha: self.alpha,
            correction: self.correction.parse().map_err(wrong)?,
            family: self.family.parse().map_err(wrong)?,
            interval: self.interval.parse().map_err(wrong)?,
            permutations: self.permutations.map_or(Permutations::Default, Permutations::Fixed),
            seed: self.seed,
            margin: self.margin,
            power: self.power,
            tie: self.tie,
            anova: self.anova,
            ..ComparisonOptions::default()
        };
        options.check().and_then(|()| options.check_partial()).map_err(wrong)?;
        Ok(options)
    }
}

impl StoredPartMeasure {
    /// Makes the stored fields of the sums under a measure; `queries` is the number in the whole
    /// comparison.
    fn new(sums: &MeasureSums, queries: u64) -> Self {
        Self {
            skipped: queries - sums.queries,
            unit: sums.unit.exponent(),
            runs: sums.runs.iter().map(|sum| sum.to_parts().to_string()).collect(),
            pairs: sums.pairs.iter().map(StoredPair::new).collect(),
            spread: sums.spread.as_ref().map(|spread| StoredSpread {
                queries: StoredMoments::new(&spread.queries),
                rest: spread.rest.iter().map(StoredMoments::new).collect(),
            }),
        }
    }

    /// Decodes the stored sums under a measure; `None` for malformed sums, or for sums that do not
    /// fit `shape`.
    fn sums(self, shape: &PartShape<'_>) -> Option<MeasureSums> {
        let wants_spread = shape.options.anova || shape.options.correction == Correction::Hsd;
        if self.runs.len() != shape.runs
            || self.pairs.len() != shape.pairs
            || self.spread.is_some() != wants_spread
        {
            return None;
        }
        let runs = self.runs.iter().map(|text| ExactSum::from_parts(&text.parse().ok()?));
        Some(MeasureSums {
            queries: shape.queries,
            unit: Unit::from_exponent(self.unit)?,
            runs: runs.collect::<Option<_>>()?,
            pairs: self.pairs.into_iter().map(|pair| pair.sums(shape)).collect::<Option<_>>()?,
            spread: match self.spread {
                None => None,
                Some(spread) => Some(Spread {
                    queries: spread.queries.moments(shape.queries)?,
                    rest: spread
                        .rest
                        .iter()
                        .map(|rest| rest.moments(shape.queries))
                        .collect::<Option<Vec<Moments>>>()
                        .filter(|rest| rest.len() == shape.runs)?,
                }),
            },
        })
    }
}

impl StoredPair {
    fn new(sums: &PairSums) -> Self {
        Self {
            deltas: StoredMoments::new(&sums.deltas),
            sum: sums.sum,
            squares: sums.squares,
            above: sums.above,
            below: sums.below,
            wins: sums.wins.wins as u64,
            ties: sums.wins.ties as u64,
            losses: sums.wins.losses as u64,
        }
    }

    fn sums(self, shape: &PartShape<'_>) -> Option<PairSums> {
        let decided = self.wins.checked_add(self.losses)?;
        let counts = self.above.checked_add(self.below)? <= shape.queries
            && decided.checked_add(self.ties)? == shape.queries;
        let whole = self.sum.unsigned_abs() <= shape.most(Unit::BITS + 1) as u128
            && (0..=shape.most(2 * (Unit::BITS + 1))).contains(&self.squares);
        (counts && whole).then_some(())?;
        Some(PairSums {
            deltas: self.deltas.moments(shape.queries)?,
            sum: self.sum,
            squares: self.squares,
            above: self.above,
            below: self.below,
            wins: WinCounts {
                wins: self.wins as usize,
                ties: self.ties as usize,
                losses: self.losses as usize,
            },
        })
    }
}

impl StoredMoments {
    fn new(moments: &Moments) -> Self {
        Self {
            sum: moments.sum().to_parts().to_string(),
            squares: moments.squares().to_parts().to_string(),
            range: moments.range(),
        }
    }

    /// Decodes the stored moments of `count` values; `None` if no finite values have these moments.
    fn moments(&self, count: u64) -> Option<Moments> {
        stored::parse_moments(count, &self.sum, &self.squares, self.range)
    }
}
