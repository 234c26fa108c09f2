//! The options of an evaluation, apart from what happens with its scores: measures, rankings,
//! queries, engine.

use std::collections::HashSet;

use laneval::labels::{Ids, RankingRule, SettingDifference};
use laneval::measure::{Defaults, Measure, parse_list};
use laneval::options::{Given, grade};
use laneval::report::Note;
use laneval::text::KeyedValues;
use laneval::{Error, Evaluator, FacetKind, Groups, LabelMatrix, Stat, TieBreak};

use super::{
    cli_error::{CliError, CliResult},
    inputs::{EvaluationInputs, RankingOptions},
    queries,
    style::{comma_list, print_line, shown},
    threads::Threads,
};

/// The measures that are computed without `-m` where judgments are by span.
const DEFAULT_OF_PASSAGES: [&str; 3] = ["SpanR", "SpanP", "SpanIoU"];

/// Returns the requested names of measures; where judgments are by span, measures of passages
/// replace the default ones.
pub fn default_measures(given: &Given, by: Option<FacetKind>) -> Vec<&str> {
    if by == Some(FacetKind::Span) && !given.is_given("measure") {
        DEFAULT_OF_PASSAGES.to_vec()
    } else {
        given.texts("measure")
    }
}

/// Parses the names of measures to a list without duplicates; all wrong names are reported
/// together. A library (`--as`) reads them as its own, and has some of the usual measures in the
/// place of all.
pub fn parse_measures(given: &Given, names: &[&str]) -> CliResult<Vec<Measure>> {
    let defaults = Defaults { rel: given.parsed("rel", grade)? };
    match given.profile()? {
        Some(profile) if !given.is_given("measure") => Ok(profile.usual_measures(defaults)),
        Some(profile) => listed(names, |name| profile.measures(name, defaults)),
        None => listed(names, |name| parse_list(name, defaults)),
    }
}

/// Collects the measures that names mean, each once; all wrong names are reported together.
fn listed(
    names: &[&str],
    parse: impl Fn(&str) -> Result<Vec<Measure>, Error>,
) -> CliResult<Vec<Measure>> {
    let (mut measures, mut wrong, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for name in names {
        match parse(name) {
            Ok(list) => {
                measures.extend(list.into_iter().filter(|measure| seen.insert(measure.clone())))
            }
            Err(Error::Measures(all)) => wrong.extend(all.iter().map(ToString::to_string)),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    if wrong.is_empty() { Ok(measures) } else { Err(CliError::Failed(wrong)) }
}

/// Returns each statistic that `--stat` asks for once, in the order asked for.
pub fn stats(given: &Given) -> CliResult<Vec<Stat>> {
    let mut stats = Vec::new();
    for name in given.texts("stat") {
        let stat: Stat = name.parse()?;
        if !stats.contains(&stat) {
            stats.push(stat);
        }
    }
    Ok(stats)
}

/// The options of an evaluation, with what its measures need.
#[derive(Debug)]
pub struct EvaluationOptions {
    pub ranking: RankingOptions,
    /// The measures of a stored baseline, which are taken if none were asked for.
    stored_measures: Option<Vec<String>>,
}

impl EvaluationOptions {
    /// Makes the options that a command line gives.
    pub fn new(given: Given) -> Self {
        Self { ranking: RankingOptions::new(given), stored_measures: None }
    }

    /// Returns the options that were given.
    pub fn given(&self) -> &Given {
        &self.ranking.given
    }

    /// Returns whether `-m help` was given, which asks for the list of measures.
    pub fn is_help(&self) -> bool {
        self.given().texts("measure").contains(&"help")
    }

    /// Returns whether the scores of each judge are asked for (`--judges each`).
    pub fn has_each_judge(&self) -> bool {
        self.given().text("judges") == Some("each")
    }

    /// Takes the measures that `source` returns, if any, unless the user asked for measures by
    /// `-m`.
    pub fn take_measures(&mut self, source: impl FnOnce() -> Option<Vec<String>>) {
        if !self.given().is_given("measure") {
            self.stored_measures = source();
        }
    }

    /// Parses the measures that `-m` asks for, or the default ones.
    pub fn requested_measures(&self) -> CliResult<Vec<Measure>> {
        let stored = self.stored_measures.iter().flatten().map(String::as_str);
        let mut names: Vec<&str> = stored.collect();
        if names.is_empty() {
            names = default_measures(self.given(), self.ranking.facet()?);
        }
        self.over_judges(parse_measures(self.given(), &names)?)
    }

    /// Parses measures by laneval's own names, with the lowest relevant grade of `--rel`.
    pub fn parse_measures(&self, names: &[&str]) -> CliResult<Vec<Measure>> {
        let defaults = Defaults { rel: self.given().parsed("rel", grade)? };
        self.over_judges(listed(names, |name| parse_list(name, defaults))?)
    }

    /// Makes measures of grades combine the judges of a query as `--judges` says; each judge has
    /// scores of its own with `each`.
    fn over_judges(&self, measures: Vec<Measure>) -> CliResult<Vec<Measure>> {
        if self.has_each_judge() { Ok(measures) } else { Ok(self.given().over_judges(measures)?) }
    }

    /// Takes the options of the library that `--as` names, and reads judgments by judge, subtopic
    /// or span as measures need.
    pub fn apply_library(&mut self) -> CliResult<()> {
        self.ranking.given.apply_profile()?;
        let measures = self.requested_measures()?;
        if self.given().is_given("judges") {
            self.ranking.read_judges();
        }
        self.ranking.read_facets_for(&measures)
    }

    /// Reads the ids of the queries that count from the file of `--only-queries`, if it was given.
    pub fn read_query_filter(&self) -> CliResult<Option<Ids>> {
        self.given().path("only-queries").map(queries::only).transpose()
    }

    /// Reads the groups of queries that `--group-by` asks for: from the file of this name, or where
    /// there is none, by the key of the judgments of this name.
    pub fn read_groups(&self, inputs: &EvaluationInputs) -> CliResult<Option<Groups>> {
        let Some(path) = self.given().path("group-by") else { return Ok(None) };
        let is_file = std::fs::metadata(path).is_ok_and(|file| !file.is_dir());
        // Only a name without a folder may be that of a file and that of a key.
        let key = path.to_str().filter(|_| !is_file || path.file_name() == Some(path.as_os_str()));
        let (values, place) = match (inputs, key) {
            (EvaluationInputs::Text(qrels, _), Some(key)) => {
                (self.ranking.rule()?.query_values(qrels, key), shown(qrels))
            }
            (EvaluationInputs::Text(qrels, _), None) => (Ok(KeyedValues::default()), shown(qrels)),
            _ => (Ok(KeyedValues::default()), "a label matrix".to_owned()),
        };
        match values {
            // The join says what is wrong with the judgments.
            Err(_) if is_file => queries::groups(path).map(Some),
            values => queries::groups_by(path, is_file, values?, &place).map(Some),
        }
    }

    /// Makes the evaluator that these options describe, over all queries: those of
    /// `--only-queries` come later.
    pub fn evaluator(&self) -> CliResult<Evaluator> {
        Ok(self.given().evaluator(self.requested_measures()?)?)
    }

    /// Returns the pool of threads that `--threads` asks for.
    pub fn threads(&self) -> CliResult<Threads> {
        Threads::new(self.given())
    }

    /// Returns notes on label matrices built by other ranking rules, and on inputs whose format is
    /// doubtful. The values of a matrix differ from those of the text if the matrix keeps only the
    /// first ranks or has another ranking rule, and the format of a text may be recognised wrongly.
    /// The user has to know.
    pub fn rule_notes(&self, inputs: &EvaluationInputs, matrices: &[LabelMatrix]) -> Vec<Note> {
        let of_libraries = self.library_notes(matrices.first().map(LabelMatrix::rule));
        let EvaluationInputs::Matrices(paths) = inputs else {
            return self.ranking.formats.notes().into_iter().chain(of_libraries).collect();
        };
        let depths = paths.iter().zip(matrices).filter_map(|(path, matrix)| {
            let depth = matrix.rule().depth.filter(|_| !self.given().is_given("depth"))?;
            Some(Note::Note(format!(
                "{}: keeps only the first {depth} ranks of each ranking",
                shown(path)
            )))
        });
        let first = matrices.first().map(|matrix| self.effective_rule(matrix));
        let other = paths.iter().zip(matrices).find_map(|(path, matrix)| {
            let differences = first.as_ref()?.differences(&self.effective_rule(matrix));
            Some((path, differences.into_iter().next()?))
        });
        let differs = other.map(|(path, SettingDifference { option, values: [one, other], .. })| {
            Note::Warning(format!(
                "{} and {} were ranked under different rules ({option}: {one} and {other}): their \
                 scores differ for that reason too",
                shown(&paths[0]),
                shown(path)
            ))
        });
        depths.chain(differs).chain(of_libraries).collect()
    }

    /// Returns the ranking rule of a label matrix, without its tie order if values are over all
    /// orders.
    fn effective_rule(&self, matrix: &LabelMatrix) -> RankingRule {
        let rule = matrix.rule();
        // For values over all orders of equal scores, the order in which a matrix has them does not
        // matter.
        let ties = if self.ranking.needs_ties() { TieBreak::default() } else { rule.ties };
        RankingRule { ties, ..rule }
    }

    /// Prints on stderr the formats that the judgments and runs were recognised as.
    pub fn print_detected(&self) {
        self.ranking.formats.describe_detected().iter().for_each(print_line);
    }

    /// Returns notes on measures with a library's prefix, as in `trec:recall`, whose rankings are
    /// not the library's.
    pub fn library_notes(&self, rule: Option<RankingRule>) -> Vec<Note> {
        let options = self.ranking.effective();
        options
            .with_matrix_rule(rule, self.ranking.needs_ties())
            .notes(&self.given().texts("measure"))
    }

    /// Notes the measures that `--rel` does not change: they use gains, no relevance, or their own
    /// level.
    pub fn rel_note(&self, measures: &[Measure]) -> Option<Note> {
        self.given().text("rel")?;
        let others = measures.iter().filter(|measure| {
            // A measure with gains has a level too, which is used only where they are binary.
            !measure.definition().params.iter().any(|param| {
                param.name == "rel" && (param.default == "1" || measure.choice("gain") == "binary")
            })
        });
        let others = comma_list(others);
        (!others.is_empty()).then(|| Note::Note(format!("--rel changes nothing in {others}")))
    }
}
