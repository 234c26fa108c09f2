//! The origin of the numbers of a page, and its curves.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use laneval::compare::Comparison;
use laneval::report::html::{self, Context, ReadFile, TopDocuments};
use laneval::{Evaluator, JudgedBy, Known, LabelMatrix, Scores, Stat};
use xxhash_rust::xxh3::Xxh3Default;

use super::asked::EvaluationOptions;
use super::evaluation::scores;
use super::inputs::EvaluationInputs;
use super::lost_queries;
use super::stop::Stop;
use super::style::shown;
use super::titles::Titles;

/// The deepest rank of curves.
const DEEPEST: u32 = 100;
/// The most names in a title.
const NAMED: usize = 3;
/// The most bytes of the names in a title.
const LONGEST: usize = 60;

/// The origin of the numbers of a page.
#[derive(Default)]
pub struct PageOrigin {
    /// The title that was asked for.
    title: Option<String>,
    command: Option<String>,
    inputs: Vec<ReadFile>,
    ranking_rule: Option<String>,
    settings: Vec<(String, String)>,
    curves: Option<Scores>,
    documents: Vec<TopDocuments>,
    titles: Titles,
}

impl PageOrigin {
    /// Takes the command, and the files that it reads. They are read once more for their
    /// fingerprints.
    pub fn of(words: &[OsString], inputs: &EvaluationInputs) -> Result<Self, Stop> {
        let inputs = match inputs {
            EvaluationInputs::Text(qrels, runs) => {
                let runs = runs.iter().map(|run| source("run", &run.path));
                [source("judgments", qrels)].into_iter().chain(runs).collect::<Result<_, _>>()?
            }
            EvaluationInputs::Matrices(paths) => {
                paths.iter().map(|path| source("label matrix", path)).collect::<Result<_, _>>()?
            }
        };
        let words: Option<Vec<&str>> = words.iter().skip(1).map(|word| word.to_str()).collect();
        let command =
            words.and_then(|words| shlex::try_join(["laneval"].into_iter().chain(words)).ok());
        Ok(PageOrigin { command, inputs, ..PageOrigin::default() })
    }

    /// Takes a title, if one was asked for.
    pub fn titled(self, title: Option<&str>) -> Self {
        PageOrigin { title: title.map(str::to_owned), ..self }
    }

    /// Takes texts of queries.
    pub fn with_titles(self, titles: Titles) -> Self {
        PageOrigin { titles, ..self }
    }

    /// Adds a file that is read beside the inputs.
    pub fn with_file(mut self, kind: &str, path: &Path) -> Result<Self, Stop> {
        self.inputs.push(source(kind, path)?);
        Ok(self)
    }

    /// Adds settings: the name and the value of each.
    pub fn with_settings(mut self, settings: impl IntoIterator<Item = (String, String)>) -> Self {
        self.settings.extend(settings);
        self
    }

    /// Adds the facts that label matrices have, and curves: precision at levels of recall, nDCG
    /// over ranks, unless they are asked for already.
    pub fn with_matrices(
        mut self,
        asked: &EvaluationOptions,
        evaluator: &Evaluator,
        matrices: &[LabelMatrix],
    ) -> Result<Self, Stop> {
        let Some(first) = matrices.first() else { return Ok(self) };
        let rule = first.rule();
        let depth =
            rule.depth.map_or("all ranks".to_owned(), |depth| format!("the first {depth} ranks"));
        let dropped = if rule.drop_identical_ids {
            ", without documents with the id of their query"
        } else {
            ""
        };
        let units = rule.units.as_ref().map_or(String::new(), |units| format!(", {units}"));
        self.ranking_rule = Some(format!(
            "scores compared as {}, equal ones {}, {depth}{dropped}{units}",
            rule.score, rule.ties
        ));
        let mut set = |what: &str, value: String| self.settings.push((what.to_owned(), value));
        if evaluator.view().judged_only {
            set("documents", "only those with a judgment".to_owned());
        }
        if evaluator.known() != Known::Judged {
            set("relevant documents", evaluator.known().to_string());
        }
        set("fingerprint of the judgments", format!("{:032x}", first.fingerprint()));
        let deepest = matrices.iter().flat_map(LabelMatrix::depths).max().map_or(0, |&depth| depth);
        let ndcg = format!("nDCG@1..{}", deepest.min(DEEPEST));
        let mut names = vec!["IPrec@[0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1]".to_owned()];
        names.extend((deepest > 2).then_some(ndcg));
        // Curves are of graded documents, which preferences and passages have not.
        if matches!(first.judged_by(), Some(JudgedBy::Preference | JudgedBy::Span)) {
            names.clear();
        }
        let there = html::curves(evaluator.measures());
        names.retain(|name| {
            name.split_once('@').is_none_or(|(of, _)| !there.iter().any(|there| there == of))
        });
        if !names.is_empty() {
            let evaluator = evaluator.clone().with_measures(asked.measures_of(&names)?);
            let evaluator =
                evaluator.with_per_query(false).with_stats([Stat::Average]).with_groups(None);
            self.curves = Some(scores(&evaluator, matrices)?);
        }
        Ok(self)
    }

    /// Adds the first documents of the queries that a run lost most, where the inputs have
    /// documents.
    pub fn with_documents(
        mut self,
        comparison: &Comparison,
        inputs: &EvaluationInputs,
        asked: &EvaluationOptions,
        evaluator: &Evaluator,
    ) -> Self {
        self.documents = lost_queries::documents(comparison, inputs, asked, evaluator);
        self
    }

    /// Returns the context of a page, under a title if none was asked for.
    pub fn context<'a>(&'a self, title: &'a str) -> Context<'a> {
        let mut context = Context::new(self.title.as_deref().unwrap_or(title));
        context.command = self.command.as_deref();
        context.inputs = &self.inputs;
        context.ranking_rule = self.ranking_rule.as_deref();
        context.settings = &self.settings;
        context.curves = self.curves.as_ref();
        context.documents = &self.documents;
        context.titles = &self.titles;
        context
    }
}

/// Returns the title of the page of a comparison.
pub fn title(of: &Comparison) -> String {
    format!("{} compared", names(of.runs.iter().map(|run| &run.name[..])))
}

/// Returns the names of runs for a title: all of them, or their number.
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

/// Returns a file with its fingerprint.
fn source(kind: &str, path: &Path) -> Result<ReadFile, Stop> {
    let fingerprint = fingerprint(path).map_err(|e| Stop::new(format!("{}: {e}", shown(path))))?;
    Ok(ReadFile { kind: kind.to_owned(), name: shown(path), fingerprint })
}

/// Returns XXH3 of 128 bits over the bytes of a regular file, in hexadecimal digits as `xxhsum -H2`
/// prints them.
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
