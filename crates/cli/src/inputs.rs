//! The inputs of a command: judgments and runs that are joined, or label matrices (`.lmx`). Their
//! content decides which of the two they are.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use laneval::error::{Problems, printable};
use laneval::labels::{RankingRule, SettingDifference};
use laneval::lmx::Description;
use laneval::measure::facets_needed;
use laneval::options::{Given, TieRule};
use laneval::{Error, FacetKind, Input, Join, LabelMatrix, Measure, ProgressHandle, RunInput};

use super::{
    cli_error::{CliError, CliResult, fail},
    formats::RecognisedFormats,
    library_notes::EffectiveOptions,
    progress::{Progress, WorkAmount},
    side_file,
    style::{error, shown},
};

/// The paragraph of help about judgments and runs as inputs.
pub const TEXTS: &str = "`-` is stdin, and name=path gives a run a name. Files are TREC text, TSV, \
    CSV, JSON or LETOR, plain or compressed (see docs/formats.md).";

/// The value of `--name-by`, the source of a run's name: its path, its file's stem, or its tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunNameSource {
    Path,
    Stem,
    Tag,
}

impl RunNameSource {
    /// Returns whether runs are named by their tags (`--name-by tag`), which are known only after
    /// reading.
    pub fn needs_tags(self) -> bool {
        self == Self::Tag
    }

    /// Names the runs of a label matrix as `--name-by` says; runs of `given` that have a name keep
    /// it.
    pub fn name(self, matrix: LabelMatrix, given: &[RunPath]) -> Result<LabelMatrix, Error> {
        if self == Self::Path {
            return Ok(matrix);
        }
        let names = matrix.runs().iter().enumerate().map(|(at, run)| {
            if given.get(at).is_some_and(|run| run.name.is_some()) {
                return run.name.clone();
            }
            let name = match self {
                // The runs that `laneval gen` makes have no source.
                Self::Stem => {
                    stem(Path::new(if run.source.is_empty() { &run.name } else { &run.source }))
                }
                Self::Tag => String::from_utf8_lossy(&run.tag).into_owned(),
                Self::Path => String::new(),
            };
            if name.is_empty() { run.name.clone() } else { name }
        });
        let names: Vec<String> = names.collect();
        matrix.with_run_names(names)
    }
}

/// Returns a path without its last extension, if that is one of `extensions`.
pub fn without_extension(path: &Path, extensions: &[&str]) -> PathBuf {
    match path.extension() {
        Some(last) if extensions.iter().any(|one| last.eq_ignore_ascii_case(one)) => {
            path.with_extension("")
        }
        _ => path.to_owned(),
    }
}

/// Returns the name of a file without folders, without the extension of compression, and without
/// its own extension.
pub fn stem(path: &Path) -> String {
    let plain = without_extension(path, &["gz", "zst"]);
    let stem = plain.file_stem().filter(|stem| *stem != "-");
    stem.map_or("stdin".into(), |stem| stem.to_string_lossy().into_owned())
}

/// The options of rankings and evaluation, and what measures need besides.
#[derive(Debug, Clone, Default)]
pub struct RankingOptions {
    pub given: Given,
    /// The facet that measures and other options need.
    needed_facet: Option<FacetKind>,
    /// Whether measures need to know which documents have equal scores.
    needs_measured_ties: bool,
    /// Whether to look for queries that have the same judged documents.
    shared_judgments: bool,
    pub formats: RecognisedFormats,
}

impl RankingOptions {
    /// Makes the options of rankings that a command line gives.
    pub fn new(given: Given) -> Self {
        Self { given, ..Self::default() }
    }

    /// Returns a copy of the options under which a join also looks for queries with equal judged
    /// documents.
    pub fn with_shared_judgments(&self) -> Self {
        Self { shared_judgments: true, ..self.clone() }
    }

    /// Joins runs to judgments under these options, and returns the label matrix. Runs without a
    /// name get the shortest distinguishing names. With `keep_ties` the matrix knows which
    /// documents of equal scores have different labels.
    pub fn join(
        &self,
        qrels: &Path,
        runs: &[RunPath],
        keep_ties: bool,
        watch: Option<Arc<ProgressHandle>>,
    ) -> Result<LabelMatrix, Error> {
        let join =
            Join { keep_ties, shared_judgments: self.shared_judgments, watch, ..self.rule()? };
        let matrix = join.files(Input::from(qrels.to_owned()), runs.iter().map(RunPath::input))?;
        self.naming().name(matrix, runs)
    }

    /// Joins runs to judgments with numbered documents, as `laneval pools` needs, and returns the
    /// label matrix.
    pub fn join_numbered(
        &self,
        qrels: &Path,
        runs: &[RunPath],
        watch: Option<Arc<ProgressHandle>>,
    ) -> Result<LabelMatrix, Error> {
        let join = Join { watch, ..self.rule()? };
        let qrels = join.qrels(Input::from(qrels.to_owned()))?.numbered()?;
        self.naming().name(join.runs(&qrels, runs.iter().map(RunPath::input))?, runs)
    }

    /// Returns the source of the names of runs (`--name-by`).
    pub fn naming(&self) -> RunNameSource {
        match self.given.text("name-by") {
            Some("stem") => RunNameSource::Stem,
            Some("tag") => RunNameSource::Tag,
            _ => RunNameSource::Path,
        }
    }

    /// Returns the options in effect as words: tie rule, score type, relevant documents, lowest
    /// relevant grade.
    pub fn effective(&self) -> EffectiveOptions {
        let word = |id, default: &str| self.given.text(id).unwrap_or(default).to_owned();
        EffectiveOptions {
            ties: word("ties", "docno-desc"),
            score_type: word("score-type", "f64"),
            relevant_from: word("relevant-from", "judged"),
            rel: self.given.level(),
        }
    }

    /// Sets that judgments are read by judge, subtopic or span as these measures need, unless
    /// others were asked for. Ties are kept if measures need them.
    pub fn read_facets_for(&mut self, measures: &[Measure]) -> CliResult<()> {
        self.needed_facet = self.needed_facet.or(facets_needed(measures)?);
        self.needs_measured_ties |= measures.iter().any(Measure::needs_ties);
        Ok(())
    }

    /// Sets that judgments are read by judge, unless `--facet` asks for something else.
    pub fn read_judges(&mut self) {
        self.needed_facet = Some(FacetKind::Judge);
    }

    /// Returns the facet by which judgments are read: judge, subtopic, preference level or span, if
    /// by any.
    pub fn facet(&self) -> Result<Option<FacetKind>, Error> {
        Ok(self.given.value("facet")?.or(self.needed_facet))
    }

    /// Returns the settings of a join of runs to judgments that these options ask for.
    ///
    /// # Errors
    /// The file of a map of documents cannot be read, or is none.
    pub fn rule(&self) -> Result<Join, Error> {
        Ok(Join { judged_by: self.facet()?, ..self.formats.join(&self.given)? })
    }

    /// Returns whether `--ties` asks for values over all orders of equal scores, so that ties must
    /// be known.
    pub fn needs_ties(&self) -> bool {
        self.given.tie_rule().is_ok_and(TieRule::needs_ties)
    }

    /// Returns whether a label matrix has to know its ties: for values over all orders of equal
    /// scores, or for a measure.
    pub fn keeps_ties(&self) -> bool {
        self.needs_ties() || self.needs_measured_ties
    }

    /// Opens a label matrix, and rejects one that was built by other ranking rules than these
    /// options.
    fn open(&self, path: &Path) -> CliResult<LabelMatrix> {
        let matrix = LabelMatrix::open(path, self.given.access())?;
        if self.keeps_ties() && matrix.tied_groups().is_none() {
            return Err(missing_ties_error(path));
        }
        let lacking = if self.given.flag("drop-identical-ids") && !matrix.rule().drop_identical_ids
        {
            Some("documents that --drop-identical-ids could drop")
        } else if self.given.is_given("exclude") && matrix.rule().excluded.is_none() {
            Some("documents that --exclude could leave out")
        } else if self.given.is_given("qrels-doc-id") {
            Some("judgments that --qrels-doc-id could put together")
        } else {
            None
        };
        if let Some(lacking) = lacking {
            return fail(format!(
                "{} has no {lacking}: build it again with this option",
                shown(path)
            ));
        }
        let by: Option<FacetKind> = self.given.value("facet")?;
        if let Some(by) = by.filter(|&by| matrix.judged_by() != Some(by)) {
            let built = match matrix.judged_by() {
                Some(by) => format!("with --facet {by}"),
                None => "without --facet".to_owned(),
            };
            let conflict = built_otherwise(&built, &format!("--facet {by}"));
            return Err(CliError::for_path(path, conflict));
        }
        match self.conflict(&matrix.rule())? {
            Some(conflict) => Err(CliError::for_path(path, conflict)),
            None => Ok(matrix),
        }
    }

    /// Returns the message on the first option that a label matrix was not built with. An option
    /// that was not given takes what the matrix was built with.
    fn conflict(&self, built: &RankingRule) -> Result<Option<String>, Error> {
        let requested = self.rule()?.rule();
        let differs = built.differences(&requested).into_iter().find(|difference| {
            let is_order = difference.option == "--ties" && self.needs_ties();
            let id = difference.option.strip_prefix("--");
            id.is_some_and(|id| self.given.is_given(id)) && !is_order
        });
        if let Some(SettingDifference { option, values: [built, requested], .. }) = differs {
            let built = match built.as_str() {
                _ if option == "--exclude" => {
                    return Ok(Some(built_otherwise("with other excluded documents", option)));
                }
                "none" => format!("without {option}"),
                _ => format!("with {option} {built}"),
            };
            return Ok(Some(built_otherwise(&built, &format!("{option} {requested}"))));
        }
        // Fewer ranks than a matrix has are taken from it; more are not in it.
        Ok(match (requested.depth, built.depth) {
            (Some(depth), Some(built)) if depth > built => {
                Some(built_otherwise(&format!("with -M {built}"), &format!("-M {depth}")))
            }
            _ => None,
        })
    }
}

/// Makes the error for a label matrix that was built without its ties, where a command needs ties.
pub fn missing_ties_error(path: &Path) -> CliError {
    let path = shown(path);
    CliError::new(format!("{path} does not know its ties: build it again with --keep-ties"))
}

/// Returns the message for a label matrix that was `built` with options that contradict the
/// `requested` options.
fn built_otherwise(built: &str, requested: &str) -> String {
    format!(
        "was built {built}, so {requested} cannot be answered from it: build it again from the text"
    )
}

/// A run as the command line names it: `path`, or `name=path`.
#[derive(Debug, Clone)]
pub struct RunPath {
    name: Option<String>,
    pub path: PathBuf,
}

impl RunPath {
    /// Parses a run of the command line, `path` or `name=path`. If a file has the whole argument as
    /// its name, the run is that file.
    pub fn parse(argument: &Path) -> Self {
        let text = argument.to_str().filter(|_| !argument.exists());
        match text.and_then(|text| text.split_once('=')) {
            Some((name, path)) if !name.is_empty() && !path.is_empty() => {
                Self { name: Some(name.to_owned()), path: path.into() }
            }
            _ => Self { name: None, path: argument.to_owned() },
        }
    }

    /// Returns the name that the user gave the run, or else its path.
    pub fn display_name(&self) -> String {
        self.name.clone().unwrap_or_else(|| shown(&self.path))
    }

    /// Returns the input from which a join reads this run, with the name that the user gave it.
    pub fn input(&self) -> RunInput {
        match &self.name {
            Some(name) => RunInput::named(name, self.path.clone()),
            None => self.path.clone().into(),
        }
    }
}

/// The inputs of an evaluation: judgments and runs as text, or label matrices (`.lmx`).
pub enum EvaluationInputs {
    /// Judgments, and runs.
    Text(PathBuf, Vec<RunPath>),
    /// `.lmx` files.
    Matrices(Vec<PathBuf>),
}

impl EvaluationInputs {
    /// Decides whether the arguments are judgments and runs or label matrices; rejects a mixture.
    /// The first argument is a path, the others may be names with paths.
    pub fn from_args(arguments: &[PathBuf]) -> CliResult<Self> {
        let (runs, paths) = named_runs(arguments);
        let matrix = find_matrices(&paths)?;
        let [first_matrix, first_text] =
            [true, false].map(|kind| matrix.iter().position(|&is| is == kind).map(|at| &paths[at]));
        let name = runs.iter().find_map(|run| run.name.as_ref());
        match (first_matrix, first_text, paths.as_slice()) {
            (None, _, [qrels, _, ..]) => Ok(Self::Text(qrels.clone(), runs)),
            (Some(matrix), None, _) if name.is_some() => fail(format!(
                "{} is a label matrix, whose runs have their names already: give it without a name",
                shown(matrix)
            )),
            (Some(_), None, _) => Ok(Self::Matrices(paths)),
            (Some(matrix), Some(text), _) => fail(format!(
                "{} is a label matrix and {} is not: give either QRELS RUN... or .lmx files",
                shown(matrix),
                shown(text)
            )),
            (None, Some(only), _) if is_stdin(only) => {
                fail("stdin alone is not enough: give QRELS RUN..., one of them as `-`")
            }
            (None, Some(only), _) => fail(format!(
                "{} is not a .lmx file, and judgments alone have no scores: give QRELS RUN...",
                shown(only)
            )),
            (None, None, _) => fail("nothing to evaluate: give QRELS RUN..., or .lmx files"),
        }
    }

    /// Returns the paths of the runs; none if the inputs are label matrices.
    pub fn run_paths(&self) -> Vec<&Path> {
        match self {
            Self::Text(_, runs) => runs.iter().map(|run| run.path.as_path()).collect(),
            Self::Matrices(_) => Vec::new(),
        }
    }

    /// Returns the total size of the input files in bytes; `None` if one of them is a stream.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Self::Text(qrels, runs) => {
                bytes([qrels].into_iter().chain(runs.iter().map(|run| &run.path)))
            }
            Self::Matrices(paths) => bytes(paths),
        }
    }

    /// Returns the label matrices to evaluate, joined from text or opened as files. On a terminal
    /// it shows the progress of reading, unless `--quiet` is given.
    pub fn load(&self, ranking: &RankingOptions) -> CliResult<Vec<LabelMatrix>> {
        let quiet = ranking.given.flag("quiet");
        match self {
            Self::Text(qrels, runs) => {
                let progress =
                    Progress::start("reading", WorkAmount::from_bytes(self.bytes()), quiet);
                Ok(vec![ranking.join(qrels, runs, ranking.keeps_ties(), progress.watch())?])
            }
            Self::Matrices(paths) => {
                let naming = ranking.naming();
                let matrices = paths
                    .iter()
                    .map(|path| Ok(naming.name(ranking.open(path)?, &[])?))
                    .collect::<CliResult<Vec<_>>>()?;
                // Names are compared last, because --name-by may make them equal.
                comparable(paths, &matrices)?;
                Ok(matrices)
            }
        }
    }
}

/// Computes a result of each label matrix, and appends the later results to the first.
pub fn map_matrices<T>(
    matrices: &[LabelMatrix],
    mut evaluate: impl FnMut(&LabelMatrix) -> Result<T, Error>,
    append: impl Fn(&mut T, T) -> Result<(), Error>,
) -> Result<T, Error> {
    let (first, others) = matrices
        .split_first()
        .ok_or_else(|| Error::Unanswerable("nothing to evaluate".to_owned()))?;
    let mut all = evaluate(first)?;
    for matrix in others {
        append(&mut all, evaluate(matrix)?)?;
    }
    Ok(all)
}

/// Parses all arguments but the first as runs; returns the runs, and the paths of all arguments.
pub fn named_runs(arguments: &[PathBuf]) -> (Vec<RunPath>, Vec<PathBuf>) {
    let runs: Vec<RunPath> =
        arguments.iter().skip(1).map(|argument| RunPath::parse(argument)).collect();
    let paths = arguments.iter().take(1).chain(runs.iter().map(|run| &run.path)).cloned().collect();
    (runs, paths)
}

/// Returns the error message for a memory-mapped file that cannot be read any more.
pub fn lost_mapping_message(file: &str) -> String {
    let message = format!(
        "{file}: cannot be read any more: it became shorter after it was opened, or its disk \
         failed; --no-mmap reads files into memory first\n"
    );
    error(message)
}

/// Returns the total size of some files in bytes; `None` if one of them is a stream.
pub fn bytes<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Option<u64> {
    let sizes = paths.into_iter().map(|path| {
        std::fs::metadata(path).ok().filter(|file| file.is_file()).map(|file| file.len())
    });
    sizes.sum()
}

/// Returns for each path whether the file is a label matrix (`.lmx`). Files that cannot be opened
/// are reported together.
pub fn find_matrices(paths: &[PathBuf]) -> CliResult<Vec<bool>> {
    if paths.iter().filter(|path| is_stdin(path)).count() > 1 {
        return fail("`-` is given twice, but stdin can be read only once");
    }
    let mut problems = Problems::default();
    let mut matrix = Vec::new();
    for path in paths {
        match starts_as_matrix(path) {
            Ok(is) => matrix.push(is),
            Err(error) => {
                side_file::add_problem(&mut problems, path, 0, format!("cannot open: {error}"));
            }
        }
    }
    Ok(problems.into_result(matrix)?)
}

/// Returns whether the first bytes of a file are those of a label matrix (`.lmx`). Pipes are not
/// read, because the bytes would be lost: they count as text.
fn starts_as_matrix(path: &Path) -> std::io::Result<bool> {
    if is_stdin(path) {
        return Ok(false);
    }
    let kind = std::fs::metadata(path)?;
    // A folder of Parquet or Arrow files that is one table can be read again, as a file can.
    if kind.is_dir() && !Input::from(path).is_stream() {
        return Ok(false);
    }
    if kind.is_dir() {
        /// The judgments in the folder of a BEIR data set, or in its folder of judgments.
        const BEIR: [&str; 2] = ["qrels/test.tsv", "test.tsv"];
        let inside = BEIR.iter().map(|file| path.join(file)).find(|path| path.is_file());
        let instead =
            inside.map_or(String::new(), |file| format!(": did you mean {}?", shown(&file)));
        return Err(std::io::Error::new(
            std::io::ErrorKind::IsADirectory,
            format!("it is a directory{instead}"),
        ));
    }
    if !kind.is_file() {
        return Ok(false);
    }
    let mut start = Vec::new();
    File::open(path)?.take(8).read_to_end(&mut start)?;
    Ok(Description::recognises(&start))
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Rejects label matrices whose judgments differ, or two of whose runs have one name.
fn comparable(paths: &[PathBuf], matrices: &[LabelMatrix]) -> CliResult<()> {
    let mut named: HashMap<&str, &Path> = HashMap::new();
    for (path, matrix) in paths.iter().zip(matrices) {
        if matrix.fingerprint() != matrices[0].fingerprint() {
            return fail(format!(
                "{} and {} were built from different judgments, so their scores cannot be compared",
                shown(&paths[0]),
                shown(path)
            ));
        }
        for run in matrix.runs() {
            if let Some(other) = named.insert(&run.name, path) {
                return fail(format!(
                    "a run `{}` is in {} and in {}: build them together, or rename one",
                    printable(run.name.as_bytes()),
                    shown(other),
                    shown(path)
                ));
            }
        }
    }
    Ok(())
}
