//! The origin of the numbers on an HTML page (command, files, settings), and the curves of the
//! page.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use laneval::compare::Comparison;
use laneval::labels::RankingRule;
use laneval::report::html::{self, PageContext, ReadFile, TopDocuments};
use laneval::text::QueryTexts;
use laneval::{Evaluator, FacetKind, LabelMatrix, Scores, Stat, View};
use xxhash_rust::xxh3::Xxh3Default;

use super::{
    cli_error::{CliError, CliResult},
    evaluation_options::EvaluationOptions,
    inputs::EvaluationInputs,
    lost_queries,
    scores::scores,
    style::shown,
};

/// The deepest rank of curves.
const DEEPEST: u32 = 100;
/// The most names in a title.
const NAMED: usize = 3;
/// The most bytes of the names in a title.
const LONGEST: usize = 60;

/// The origin of the numbers on an HTML page: command, files read, settings; also curves and texts
/// of queries.
#[derive(Default)]
pub struct PageProvenance {
    /// The title that was asked for.
    title: Option<String>,
    command: Option<String>,
    inputs: Vec<ReadFile>,
    ranking_rule: Option<String>,
    settings: Vec<(String, String)>,
    curves: Option<Scores>,
    documents: Vec<TopDocuments>,
    titles: QueryTexts,
}

impl PageProvenance {
    /// Makes the origin of an HTML page from the command line and the files that it reads. The
    /// files are read once more for their fingerprints.
    pub fn new(words: &[OsString], inputs: &EvaluationInputs) -> CliResult<Self> {
        let inputs = match inputs {
            EvaluationInputs::Text(qrels, runs) => {
                let runs = runs.iter().map(|run| source("run", &run.path));
                [source("judgments", qrels)].into_iter().chain(runs).collect::<CliResult<_>>()?
            }
            EvaluationInputs::Matrices(paths) => {
                paths.iter().map(|path| source("label matrix", path)).collect::<CliResult<_>>()?
            }
        };
        let words: Option<Vec<&str>> = words.iter().skip(1).map(|word| word.to_str()).collect();
        let command =
            words.and_then(|words| shlex::try_join(["laneval"].into_iter().chain(words)).ok());
        Ok(Self { command, inputs, ..Self::default() })
    }

    /// Sets the title of the HTML page, if the user gave one.
    pub fn with_title(self, title: Option<&str>) -> Self {
        Self { title: title.map(str::to_owned), ..self }
    }

    /// Sets the texts of queries that the HTML page shows.
    pub fn with_query_texts(self, titles: QueryTexts) -> Self {
        Self { titles, ..self }
    }

    /// Adds a further file that the command read, with its fingerprint, to the origin of an HTML
    /// page.
    pub fn with_file(mut self, kind: &str, path: &Path) -> CliResult<Self> {
        self.inputs.push(source(kind, path)?);
        Ok(self)
    }

    /// Adds settings, each a name and a value, to the origin of an HTML page.
    pub fn with_settings(mut self, settings: impl IntoIterator<Item = (String, String)>) -> Self {
        self.settings.extend(settings);
        self
    }

    /// Adds to an HTML page the ranking rule of label matrices, and curves of precision and nDCG
    /// that were not requested.
    pub fn with_matrices(
        mut self,
        options: &EvaluationOptions,
        evaluator: &Evaluator,
        matrices: &[LabelMatrix],
    ) -> CliResult<Self> {
        let Some(first) = matrices.first() else { return Ok(self) };
        let rule = first.rule();
        let units = rule.units.as_ref().map_or(String::new(), |units| format!(", {units}"));
        self.ranking_rule = Some(format!(
            "scores compared as {}, equal ones {}, {}{units}",
            rule.score,
            rule.ties,
            kept_ranks(&rule)
        ));
        let relevant_from = evaluator.relevant_from().to_string();
        let view = view_settings(evaluator.view(), &relevant_from);
        let print = ("fingerprint of the judgments", format!("{:032x}", first.fingerprint()));
        let settings = view.chain([print]);
        self.settings.extend(settings.map(|(what, value)| (what.to_owned(), value)));
        let deepest = matrices.iter().flat_map(LabelMatrix::depths).max().map_or(0, |&depth| depth);
        let ndcg = format!("nDCG@1..{}", deepest.min(DEEPEST));
        let mut names = vec!["IPrec@[0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1]"];
        // A curve has three points or more.
        names.extend((deepest > 2).then_some(&ndcg[..]));
        // Curves are of graded documents, which preferences and passages have not.
        if matches!(first.judged_by(), Some(FacetKind::Preference | FacetKind::Span)) {
            names.clear();
        }
        let there = html::curves(evaluator.measures());
        // A curve that the measures make already would be drawn twice.
        names.retain(|name| {
            name.split_once('@').is_none_or(|(base, _)| !there.iter().any(|there| there == base))
        });
        if !names.is_empty() {
            let evaluator = evaluator.clone().with_measures(options.parse_measures(&names)?);
            let evaluator =
                evaluator.with_per_query(false).with_stats([Stat::Average]).with_groups(None);
            self.curves = Some(scores(&evaluator, matrices)?);
        }
        Ok(self)
    }

    /// Adds to an HTML page the top documents of the queries on which a run lost most, where the
    /// inputs have documents.
    pub fn with_documents(
        mut self,
        comparison: &Comparison,
        inputs: &EvaluationInputs,
        options: &EvaluationOptions,
        evaluator: &Evaluator,
    ) -> Self {
        self.documents = lost_queries::documents(comparison, inputs, options, evaluator);
        self
    }

    /// Returns the context of an HTML page: origin, curves and documents, under `title` if the user
    /// gave none.
    pub fn context<'a>(&'a self, title: &'a str) -> PageContext<'a> {
        let mut context = PageContext::new(self.title.as_deref().unwrap_or(title));
        context.command = self.command.as_deref();
        context.inputs = &self.inputs;
        context.ranking_rule = self.ranking_rule.as_deref();
        context.settings = &self.settings;
        context.curves = self.curves.as_ref();
        context.documents = &self.documents;
        context.titles = &self.titles.texts;
        context
    }
}

/// Describes the ranks that a ranking rule keeps, as in `the first 100 ranks`.
pub fn kept_ranks(rule: &RankingRule) -> String {
    let depth =
        rule.depth.map_or("all ranks".to_owned(), |depth| format!("the first {depth} ranks"));
    let dropped =
        if rule.drop_identical_ids { ", without documents with the id of their query" } else { "" };
    let excluded = if rule.excluded.is_some() { ", without excluded documents" } else { "" };
    format!("{depth}{dropped}{excluded}")
}

/// Returns settings for an HTML page where `-J` or `--relevant-from` change the documents that
/// count.
pub fn view_settings(
    view: View,
    relevant_from: &str,
) -> impl Iterator<Item = (&'static str, String)> {
    let judged = view.judged_only.then(|| ("documents", "only those with a judgment".to_owned()));
    let other = (relevant_from != "judged").then(|| relevant_from.to_owned());
    judged.into_iter().chain(other.map(|word| ("relevant documents", word)))
}

/// Returns the title of the HTML page of a comparison, with the names of the runs.
pub fn title(comparison: &Comparison) -> String {
    format!("{} compared", names(comparison.runs.iter().map(|run| &run.name[..])))
}

/// Returns the names of runs for the title of a page: all of them, or their number.
pub fn names<'a>(runs: impl Iterator<Item = &'a str>) -> String {
    let runs: Vec<&str> = runs.collect();
    match runs.as_slice() {
        [] => "no runs".to_owned(),
        [run] => (*run).to_owned(),
        [.., _]
            if runs.len() > NAMED || runs.iter().map(|run| run.len()).sum::<usize>() > LONGEST =>
        {
            format!("{} runs", runs.len())
        }
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Returns the entry for a file that the command read on an HTML page: its kind, name and
/// fingerprint.
fn source(kind: &str, path: &Path) -> CliResult<ReadFile> {
    let fingerprint = fingerprint(path).map_err(|error| CliError::for_path(path, error))?;
    Ok(ReadFile { kind: kind.to_owned(), name: shown(path), fingerprint })
}

/// Returns the 128-bit XXH3 hash of a regular file, in hexadecimal digits as `xxhsum -H2` prints
/// them.
fn fingerprint(path: &Path) -> io::Result<Option<String>> {
    // A pipe can be read only once, and not for this.
    if !std::fs::metadata(path).is_ok_and(|file| file.is_file()) {
        return Ok(None);
    }
    let (mut file, mut hash, mut bytes) = (File::open(path)?, Xxh3Default::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut bytes) {
            Ok(0) => return Ok(Some(format!("{:032x}", hash.digest128()))),
            Ok(read) => hash.update(&bytes[..read]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}
