//! Stored summaries as bytes and as JSON, with the same fields: the bytes are compact and have a
//! checksum, and the JSON is for other programs.
//!
//! ```text
//! bytes   "laneval\0summary\n"  schema, u32  xxh3-64 of the rest, u64
//!         the fields, in postcard's format; numbers little-endian
//! JSON    one object, with `"schema"`
//! ```
//!
//! Bytes and JSON have separate schema numbers. A new field needs a new schema of the bytes; the
//! JSON needs a new schema only if a field is removed or changes its meaning. [`StoredSummary`] has
//! the fields of schema 1 of both formats. Summaries of every release stay readable:
//! `tests/fixtures` has summaries of each schema.
//!
//! Exact sums are text, a whole hexadecimal number and a power of two: `0x5p-3` is 5/8. All input
//! is checked, even if laneval wrote it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::frame::{self, Magic, frame, open, unknown_schema_error, wrong};
use super::queries::{KnownQueries, QueryFingerprint};
use super::{GradeBounds, RunSummary, Summary};
use crate::atomic_file;
use crate::error::{Error, Result};
use crate::ids::{Ids, Unmatched};
use crate::matrix::{DuplicateCounts, ScoreWarnings, View};
use crate::measure::{Average, Measure, NoRelevant};
use crate::rule::RankingRule;
use crate::scores::{self, EvaluationSettings, JsonText};
use crate::stats::{ExactSum, Moments};

/// The first bytes of a summary.
pub(crate) const MAGIC: &Magic = b"laneval\0summary\n";

/// The schema of written JSON, equal to the schema of the JSON of scores.
const JSON_SCHEMA: u32 = scores::SCHEMA;

// Bytes and JSON share the field `schema`, so the two numbers must be equal.
const _: () = assert!(JSON_SCHEMA == frame::SCHEMA);

impl Summary {
    /// Encodes the summary as bytes for [`Summary::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        frame(MAGIC, &StoredSummary::new(self))
    }

    /// Encodes the summary as a JSON object for [`Summary::from_json`].
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(&StoredSummary::new(self))
            .unwrap_or_else(|error| unreachable!("{error}"))
    }

    /// Reads a summary from bytes, written by this version of laneval or an older version.
    ///
    /// # Errors
    /// [`Error::Summary`]: bytes of something else, of a newer version, cut off or changed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        open::<StoredSummary>(MAGIC, "a summary", bytes)?.summary()
    }

    /// Reads a summary from JSON, written by this version of laneval or an older version.
    ///
    /// # Errors
    /// [`Error::Summary`]: JSON of something else, or of a newer version.
    pub fn from_json(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Schema {
            schema: u32,
        }
        // The schema alone comes first: a newer one may have fields that fail as unknown.
        match serde_json::from_str::<Schema>(text).map_err(wrong)?.schema {
            JSON_SCHEMA => serde_json::from_str::<StoredSummary>(text).map_err(wrong)?.summary(),
            other => Err(unknown_schema_error(other, JSON_SCHEMA)),
        }
    }

    /// Reads a summary from a file of bytes or of JSON. Its content tells which.
    ///
    /// # Errors
    /// A file that cannot be read, or as [`Summary::from_bytes`], with its name.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_file(&frame::read(path, &[MAGIC])?).map_err(|error| frame::in_file(path, error))
    }

    /// Decodes a summary from the content of a file, which is bytes or JSON.
    pub(crate) fn from_file(bytes: &[u8]) -> Result<Self> {
        if frame::is_json(bytes) {
            str::from_utf8(bytes).map_err(wrong).and_then(Self::from_json)
        } else {
            Self::from_bytes(bytes)
        }
    }

    /// Writes the summary to a file, as bytes. A temporary file in the same folder receives the
    /// bytes first, so `path` never names half a file.
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

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        StoredSummary::new(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Summary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        StoredSummary::deserialize(deserializer)?.summary().map_err(serde::de::Error::custom)
    }
}

/// The stored fields of a summary, in schema 1 of bytes and in schema 1 of JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredSummary {
    schema: u32,
    /// The version of laneval that wrote the summary.
    laneval: String,
    measures: Vec<String>,
    query_set: String,
    depth: Option<u32>,
    judged_only: bool,
    tied: String,
    /// Sets of queries, to which the runs refer.
    queries: Vec<StoredQueries>,
    runs: Vec<StoredRun>,
    /// The relevant documents known to measures.
    relevant_from: String,
}

/// A set of queries in a stored summary: ids, hashes, a sum of hashes, or a number alone.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum StoredQueries {
    Ids(Vec<StoredId>),
    Hashes { sum: HexFingerprint, hashes: Vec<Hash> },
    Sum { count: u64, sum: HexFingerprint },
    Unnamed { count: u64 },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredRun {
    run: String,
    group: Option<String>,
    place: u64,
    tag: StoredId,
    sources: Vec<String>,
    parts: u64,
    rule: RankingRule,
    ideal: String,
    /// The fingerprints of the judgments.
    qrels: Vec<HexFingerprint>,
    /// Sets of judged queries: the sums of their hashes, and their numbers of queries.
    judged: Vec<(HexFingerprint, u64)>,
    /// The index of the set of queries that count.
    queries: usize,
    empty: u64,
    missing: StoredUnmatched,
    ignored: StoredUnmatched,
    seen: ScoreWarnings,
    grades: GradeBounds,
    measures: Vec<StoredMeasure>,
    unit_counts: DuplicateCounts,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredUnmatched {
    count: u64,
    ids: Vec<StoredId>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredMeasure {
    /// The number that a parameter `auto` became.
    auto: Option<f64>,
    sum: String,
    squares: String,
    range: Option<[f64; 2]>,
    /// The sum of the logarithms, for geometric means.
    logarithms: Option<String>,
    /// The number of queries without a value.
    skipped: u64,
}

/// The bytes of an id in a stored summary, written as text.
pub(crate) struct StoredId(Vec<u8>);

impl Serialize for StoredId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        JsonText(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StoredId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // Accept only the text that this module writes for an id. With two texts for one id, a
        // query could occur twice.
        let bytes = JsonText::bytes(&text).filter(|bytes| JsonText(bytes).get() == text);
        bytes
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not the text of an id")))
    }
}

/// A 64-bit hash of a query id in a stored summary, hexadecimal in text.
pub(crate) struct Hash(u64);

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(&format_args!("{:016x}", self.0))
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            u64::from_str_radix(&text, 16).map(Self).map_err(serde::de::Error::custom)
        } else {
            u64::deserialize(deserializer).map(Self)
        }
    }
}

/// A 128-bit fingerprint of judgments or queries in a stored summary, hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HexFingerprint(u128);

impl Serialize for HexFingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:032x}", self.0))
    }
}

impl<'de> Deserialize<'de> for HexFingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16).map(Self).map_err(serde::de::Error::custom)
    }
}

impl StoredSummary {
    /// Makes the stored fields of a summary.
    pub fn new(summary: &Summary) -> Self {
        let mut sets: Vec<&Arc<QueryFingerprint>> = Vec::new();
        let runs = summary.runs.iter().map(|((name, group), run)| {
            // Compare pointers first, at no cost: most runs of a summary share one set. Sets of
            // millions are compared only if the pointers differ.
            let known =
                sets.iter().position(|set| Arc::ptr_eq(set, &run.queries) || **set == run.queries);
            let queries = known.unwrap_or_else(|| {
                sets.push(&run.queries);
                sets.len() - 1
            });
            StoredRun::new(name, group, run, queries, &summary.measures)
        });
        let runs = runs.collect();
        let settings = summary.settings;
        Self {
            schema: JSON_SCHEMA,
            laneval: env!("CARGO_PKG_VERSION").to_owned(),
            measures: summary.measures.iter().map(ToString::to_string).collect(),
            query_set: settings.queries.to_string(),
            depth: settings.view.depth,
            judged_only: settings.view.judged_only,
            tied: settings.tied.to_string(),
            queries: sets.into_iter().map(|set| StoredQueries::new(set)).collect(),
            runs,
            relevant_from: settings.relevant_from.to_string(),
        }
    }

    /// Makes the summary from its stored fields, and rejects fields that contradict each other or
    /// another schema.
    pub fn summary(self) -> Result<Summary> {
        if self.schema != JSON_SCHEMA {
            return Err(unknown_schema_error(self.schema, JSON_SCHEMA));
        }
        // Before names are parsed: a newer laneval's measure would be "unknown", and the reason is
        // the version.
        check_writer(&self.laneval)?;
        let measures = self.measures.iter().map(|name| name.parse::<Measure>().map_err(wrong));
        let measures = measures.collect::<Result<Vec<_>>>()?;
        let queries = self.query_set.parse().map_err(wrong)?;
        let sets = self
            .queries
            .into_iter()
            .map(|set| set.print().map(Arc::new))
            .collect::<Result<Vec<_>>>()?;
        let mut runs = BTreeMap::new();
        for run in self.runs {
            let (name, group) = (run.run.clone(), run.group.clone());
            let summary = run
                .summary(&measures, &sets)
                .map_err(|message| wrong(format!("{name}: {message}")))?;
            if runs.insert((name.clone(), group), summary).is_some() {
                return Err(wrong(format!("{name}: it occurs twice")));
            }
        }
        let view = View { depth: self.depth, judged_only: self.judged_only };
        let tied = self.tied.parse().map_err(wrong)?;
        let relevant_from = self.relevant_from.parse().map_err(wrong)?;
        let settings = EvaluationSettings { queries, view, relevant_from, tied };
        Ok(Summary { measures, settings, runs })
    }
}

/// Rejects a stored summary that a newer version of laneval wrote.
///
/// Names and values have not changed since older versions. If a version corrects the value of a
/// measure, the callers of this function must read older summaries under the name of the old value.
/// Otherwise old and new values would merge.
fn check_writer(version: &str) -> Result<()> {
    let this = env!("CARGO_PKG_VERSION");
    match (numbers(version), numbers(this)) {
        (Some(theirs), Some(ours)) if theirs <= ours => Ok(()),
        (Some(_), _) => Err(wrong(format!(
            "it was written by laneval {version}, and this is {this}: read it with that version or \
             a newer one"
        ))),
        (None, _) => Err(wrong("it does not say which version of laneval wrote it")),
    }
}

/// Parses the three numbers of a version of laneval, without a pre-release suffix such as `-rc.1`.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let (release, _) = version.split_once(['-', '+']).unwrap_or((version, ""));
    let numbers =
        release.split('.').map(|number| number.parse().ok()).collect::<Option<Vec<u64>>>()?;
    numbers.try_into().ok()
}

impl StoredQueries {
    /// Makes the stored fields of a set of queries.
    pub fn new(print: &QueryFingerprint) -> Self {
        match &print.known {
            KnownQueries::Ids(ids) => {
                Self::Ids(ids.iter().map(|id| StoredId(id.to_vec())).collect())
            }
            KnownQueries::Hashes(hashes) => Self::Hashes {
                sum: HexFingerprint(print.sum),
                hashes: hashes.iter().map(|&hash| Hash(hash)).collect(),
            },
            KnownQueries::Sum => Self::Sum { count: print.count, sum: HexFingerprint(print.sum) },
            KnownQueries::Unnamed => Self::Unnamed { count: print.count },
        }
    }

    /// Makes the set of queries from its stored fields, and rejects ids or hashes out of order.
    pub fn print(self) -> Result<QueryFingerprint> {
        match self {
            Self::Ids(ids) => {
                let ids = ids_of(ids);
                if !ids.are_ascending() {
                    return Err(wrong("the ids of its queries are not distinct and ascending"));
                }
                Ok(QueryFingerprint::from_ids(ids))
            }
            Self::Hashes { sum: HexFingerprint(sum), hashes } => {
                let hashes: Vec<u64> = hashes.into_iter().map(|Hash(hash)| hash).collect();
                QueryFingerprint::from_hashes(sum, hashes).ok_or_else(|| {
                    wrong("the hashes of its queries are not ascending, or their sum is another")
                })
            }
            Self::Sum { count, sum: HexFingerprint(sum) } => {
                Ok(QueryFingerprint { count, sum, known: KnownQueries::Sum })
            }
            Self::Unnamed { count } => Ok(QueryFingerprint::unnamed(count)),
        }
    }
}

impl StoredRun {
    fn new(
        name: &str,
        group: &Option<String>,
        run: &RunSummary,
        queries: usize,
        measures: &[Measure],
    ) -> Self {
        Self {
            run: name.to_owned(),
            group: group.clone(),
            place: run.place,
            tag: StoredId(run.tag.clone()),
            sources: run.sources.iter().cloned().collect(),
            parts: run.parts,
            rule: run.rule.clone(),
            ideal: run.ideal.to_string(),
            qrels: run.fingerprints.iter().map(|&print| HexFingerprint(print)).collect(),
            judged: run.judged.iter().map(|(&sum, &count)| (HexFingerprint(sum), count)).collect(),
            queries,
            empty: run.empty,
            missing: StoredUnmatched::new(&run.missing),
            ignored: StoredUnmatched::new(&run.ignored),
            seen: run.seen,
            grades: run.grades,
            measures: measures
                .iter()
                .enumerate()
                .map(|(at, measure)| StoredMeasure::new(run, at, measure))
                .collect(),
            unit_counts: run.units,
        }
    }

    fn summary(
        self,
        measures: &[Measure],
        sets: &[Arc<QueryFingerprint>],
    ) -> Result<RunSummary, String> {
        let queries = sets.get(self.queries).ok_or("a set of queries is missing")?.clone();
        if self.measures.len() != measures.len() {
            return Err(format!(
                "{} measures where {} were expected",
                self.measures.len(),
                measures.len()
            ));
        }
        if self.parts == 0 || self.empty > queries.count() {
            return Err("its counts contradict each other".to_owned());
        }
        let taken: Vec<Option<f64>> = self.measures.iter().map(|stored| stored.auto).collect();
        let mut grades = self.grades.numbers().into_iter().chain(taken.iter().flatten().copied());
        if !grades.all(f64::is_finite) {
            return Err("a grade is not finite".to_owned());
        }
        let (mut sums, mut moments, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        for (stored, measure) in self.measures.into_iter().zip(measures) {
            let without = stored.skipped;
            let may_skip = measure.no_relevant() == NoRelevant::Skip;
            let counted = queries.count().checked_sub(without).filter(|_| may_skip || without == 0);
            let counted = counted.ok_or_else(|| format!("{without} queries have no {measure}"))?;
            let (sum, of_measure) = stored
                .sums(counted, measure)
                .ok_or_else(|| format!("the sums of {measure} are none"))?;
            skipped.push(without);
            sums.push(sum);
            moments.push(of_measure);
        }
        Ok(RunSummary {
            place: self.place,
            tag: self.tag.0,
            sources: self.sources.into_iter().collect(),
            parts: self.parts,
            rule: self.rule,
            fingerprints: self.qrels.into_iter().map(|print| print.0).collect(),
            judged: self.judged.into_iter().map(|(sum, count)| (sum.0, count)).collect(),
            queries,
            empty: self.empty,
            missing: self.missing.unmatched()?,
            ignored: self.ignored.unmatched()?,
            seen: self.seen,
            units: self.unit_counts,
            grades: self.grades,
            taken,
            sums,
            moments,
            skipped: if skipped.iter().all(|&count| count == 0) { Vec::new() } else { skipped },
            ideal: self.ideal.parse().map_err(|error: Error| error.to_string())?,
        })
    }
}

impl StoredMeasure {
    /// Makes the stored fields of a run's results under a measure, by the measure's index.
    fn new(run: &RunSummary, at: usize, measure: &Measure) -> Self {
        let moments = &run.moments[at];
        let geometric = measure.definition().average == Average::Geometric;
        Self {
            auto: run.taken[at],
            sum: moments.sum().to_parts().to_string(),
            squares: moments.squares().to_parts().to_string(),
            range: moments.range(),
            logarithms: geometric.then(|| run.sums[at].to_parts().to_string()),
            skipped: run.skipped(at),
        }
    }

    /// Decodes the sum of averaged terms and the moments of `count` queries under a measure; `None`
    /// if a field is no finite number, or the fields contradict each other.
    fn sums(self, count: u64, measure: &Measure) -> Option<(ExactSum, Moments)> {
        let moments = parse_moments(count, &self.sum, &self.squares, self.range)?;
        let sum = match (measure.definition().average, &self.logarithms) {
            (Average::Geometric, Some(text)) => ExactSum::from_parts(&text.parse().ok()?)?,
            (Average::Mean | Average::Sum, None) => moments.sum().clone(),
            _ => return None,
        };
        Some((sum, moments))
    }
}

impl StoredUnmatched {
    fn new(queries: &Unmatched) -> Self {
        Self {
            count: queries.count,
            ids: queries.ids.iter().map(|id| StoredId(id.to_vec())).collect(),
        }
    }

    fn unmatched(self) -> Result<Unmatched, String> {
        let ids = ids_of(self.ids);
        // Several shards may have ignored the same query.
        if ids.iter().is_sorted() && ids.len() as u64 <= self.count {
            Ok(Unmatched { count: self.count, ids })
        } else {
            Err("the ids of queries that only one side has are not ascending".to_owned())
        }
    }
}

/// Parses the stored moments of `count` values; `None` if no finite values have these moments.
pub(crate) fn parse_moments(
    count: u64,
    sum: &str,
    squares: &str,
    range: Option<[f64; 2]>,
) -> Option<Moments> {
    let moments = Moments::from_parts(count, &sum.parse().ok()?, &squares.parse().ok()?, range)?;
    moments.is_finite().then_some(moments)
}

fn ids_of(ids: Vec<StoredId>) -> Ids {
    ids.iter().map(|StoredId(id)| id.as_slice()).collect()
}
