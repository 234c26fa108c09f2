//! The inputs of a command: TREC text that is joined, or label matrices as files. Their content
//! decides which of the two they are.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use laneval::error::{Problem, Problems, printable};
use laneval::labels::{FileAccess, RankingRule, RunInfo};
use laneval::lmx::Description;
use laneval::measure::facets_needed;
use laneval::{
    Error, Input, Join, JudgedBy, Known, LabelMatrix, Measure, RunInput, ScoreType, Ties, Watch,
};

use super::as_library::{AsLibrary, OptionsHeld};
use super::choice::{NamedChoice, TieRule, groups, one_of, scores, ties};
use super::formats::FormatOptions;
use super::progress::{Progress, WorkAmount};
use super::stop::Stop;
use super::style::{error, shown};
use super::units::UnitOptions;

/// The options that say how files are opened.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct FileOptions {
    /// Read files into memory first, instead of mapping them
    ///
    /// If another program shortens a mapped file, laneval ends with an error (exit code 2). If it
    /// rewrites the file in place, values may be wrong. With this option a change matters only
    /// until the file is read, at the start.
    #[arg(long, help_heading = "Input")]
    no_mmap: bool,
}

impl FileOptions {
    /// Returns whether files are mapped or read.
    pub fn access(self) -> FileAccess {
        if self.no_mmap { FileAccess::Read } else { FileAccess::Mapped }
    }
}

/// The source of the names of runs that have no name of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameBy {
    Path,
    Stem,
    Tag,
}

fn name_by() -> Vec<NamedChoice<NameBy>> {
    vec![
        ("path", NameBy::Path, "the end of the path, as long as it must be to tell the runs apart"),
        ("stem", NameBy::Stem, "the name of the file without folders and extensions"),
        (
            "tag",
            NameBy::Tag,
            "the tag in the last column of the run; a run without a tag is named by its path",
        ),
    ]
}

/// The option that says how runs are named.
#[derive(Debug, Clone, Copy, Args)]
pub struct NameOptions {
    /// The names of runs that are not named by name=path
    #[arg(
        long = "names", value_name = "HOW", default_value = "path",
        value_parser = one_of(name_by())
    )]
    #[arg(id = "names_by", help_heading = "Input")]
    by: NameBy,
}

impl NameOptions {
    /// The naming by paths.
    pub const PATH: NameOptions = NameOptions { by: NameBy::Path };

    /// Returns whether the name of a run is known only after reading it.
    pub fn needs_tags(self) -> bool {
        self.by == NameBy::Tag
    }

    /// Gives the runs of a matrix their names; runs of `given` that have a name keep it.
    pub fn name(self, matrix: LabelMatrix, given: &[RunPath]) -> Result<LabelMatrix, Error> {
        if self.by == NameBy::Path {
            return Ok(matrix);
        }
        let name = |(at, run): (usize, &RunInfo)| {
            let name = match self.by {
                _ if given.get(at).is_some_and(|run| run.name.is_some()) => String::new(),
                NameBy::Path => String::new(),
                NameBy::Stem => {
                    stem(Path::new(if run.source.is_empty() { &run.name } else { &run.source }))
                }
                NameBy::Tag => String::from_utf8_lossy(&run.tag).into_owned(),
            };
            if name.is_empty() { run.name.clone() } else { name }
        };
        let names: Vec<String> = matrix.runs().iter().enumerate().map(name).collect();
        matrix.with_run_names(names)
    }
}

/// Returns the name of a file without folders, without the extension of compression, and without
/// its own extension.
pub fn stem(path: &Path) -> String {
    let plain = match path.extension() {
        Some(last) if ["gz", "zst"].iter().any(|one| last.eq_ignore_ascii_case(one)) => {
            path.with_extension("")
        }
        _ => path.to_owned(),
    };
    let stem = plain.file_stem().filter(|stem| *stem != "-");
    stem.map_or("stdin".into(), |stem| stem.to_string_lossy().into_owned())
}

/// The options that say how scores become rankings.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Ranking")]
pub struct RankingOptions {
    /// The rule for equal scores [default: docno-desc]
    #[arg(long, value_name = "RULE", value_parser = one_of(ties()), hide_default_value = true)]
    pub ties: Option<TieRule>,
    /// The type in which scores are compared [default: f64]
    #[arg(long, value_name = "TYPE", value_parser = one_of(scores()))]
    pub score: Option<ScoreType>,
    /// Keep only the first N ranks; this comes before -J
    #[arg(short = 'M', long, value_name = "N", value_parser = rank, allow_negative_numbers = true)]
    pub depth: Option<NonZeroU32>,
    /// Drop documents from the rankings whose id is that of their query, as BEIR does; this comes
    /// before -M
    #[arg(long)]
    pub drop_identical_ids: bool,
    /// The meaning of the second field of judgments, where a document has several judgments
    /// [default: what the measures need]
    #[arg(long, value_name = "GROUP", value_parser = one_of(groups()), help_heading = "Input")]
    judgments_by: Option<JudgedBy>,
    /// The groups that measures and other options need.
    #[arg(skip)]
    needed_groups: Option<JudgedBy>,
    /// Whether measures need to know which documents have equal scores.
    #[arg(skip)]
    needed_ties: bool,
    /// Whether to look for queries that have the same judged documents.
    #[arg(skip)]
    shared_judgments: bool,
    #[command(flatten)]
    pub library: AsLibrary,
    #[command(flatten)]
    pub units: UnitOptions,
    #[command(flatten)]
    pub formats: FormatOptions,
}

/// Reads a number of ranks.
fn rank(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| "a number of ranks, 1 or more, was expected".to_owned())
}

impl RankingOptions {
    /// Makes the default ranking, of inputs in these formats.
    pub fn of(formats: FormatOptions) -> Self {
        RankingOptions { formats, ..RankingOptions::default() }
    }

    /// Returns a copy of the options that also looks for queries with equal judged documents.
    pub fn with_shared_judgments(&self) -> Self {
        RankingOptions { shared_judgments: true, ..self.clone() }
    }

    /// Joins runs to judgments. Runs without a name get the shortest distinguishing names. With
    /// `keep_ties` the matrix knows which documents of equal scores have different labels.
    pub fn join(
        &self,
        (qrels, runs): (&Path, &[RunPath]),
        (files, naming): (FileOptions, NameOptions),
        keep_ties: bool,
        watch: Option<Arc<Watch>>,
    ) -> Result<LabelMatrix, Error> {
        let join =
            Join { keep_ties, shared_judgments: self.shared_judgments, watch, ..self.rule(files)? };
        let matrix = join.files(Input::from(qrels.to_owned()), runs.iter().map(RunPath::input))?;
        naming.name(matrix, runs)
    }

    /// Joins runs to judgments with numbered documents, of which pools are made.
    pub fn join_numbered(
        &self,
        (qrels, runs): (&Path, &[RunPath]),
        (files, naming): (FileOptions, NameOptions),
        watch: Option<Arc<Watch>>,
    ) -> Result<LabelMatrix, Error> {
        let join = Join { watch, ..self.rule(files)? };
        let qrels = join.qrels(Input::from(qrels.to_owned()))?.numbered()?;
        naming.name(join.runs(&qrels, runs.iter().map(RunPath::input))?, runs)
    }

    /// Takes the ranking of the library that was asked for, if it has one. Options that were given
    /// have to agree.
    pub fn settle(&mut self) -> Result<(), Stop> {
        self.library.settle("ties", &mut self.ties, &ties())?;
        self.library.settle("score", &mut self.score, &scores())
    }

    /// Returns the options that hold, as words.
    pub fn held(&self, known: Known, rel: f64) -> OptionsHeld {
        let ties = self.ties.unwrap_or(TieRule::Order(Ties::default())).name();
        OptionsHeld {
            ties,
            score: self.score.unwrap_or_default().to_string(),
            known: known.to_string(),
            rel,
        }
    }

    /// Reads judgments by the groups that measures need, unless others were asked for, and keeps
    /// ties if measures need them.
    pub fn read_for(&mut self, measures: &[Measure]) -> Result<(), Stop> {
        self.needed_groups = self.needed_groups.or(facets_needed(measures)?);
        self.needed_ties |= measures.iter().any(Measure::needs_ties);
        Ok(())
    }

    /// Reads judgments by judge, unless others were asked for.
    pub fn read_judges(&mut self) {
        self.needed_groups = Some(JudgedBy::Judge);
    }

    /// Returns the facets by which judgments are read.
    pub fn groups(&self) -> Option<JudgedBy> {
        self.judgments_by.or(self.needed_groups)
    }

    /// Returns the settings of joins.
    ///
    /// # Errors
    /// The file of a map of units cannot be read, or is none.
    pub fn rule(&self, files: FileOptions) -> Result<Join, Error> {
        self.units.of(self.formats.of(Join {
            ties: self.order().unwrap_or_default(),
            score: self.score.unwrap_or_default(),
            depth: self.depth,
            access: files.access(),
            drop_identical_ids: self.drop_identical_ids,
            judged_by: self.groups(),
            ..Join::default()
        }))
    }

    /// Returns the order of equal scores, if one was asked for.
    fn order(&self) -> Option<Ties> {
        self.ties.and_then(TieRule::order)
    }

    /// Returns whether ties have to be known: which documents have equal scores.
    pub fn needs_ties(&self) -> bool {
        matches!(self.ties, Some(TieRule::Value(_) | TieRule::Interval))
    }

    /// Returns whether a matrix has to know its ties: for values over all orders of equal scores,
    /// or for a measure.
    pub fn keeps_ties(&self) -> bool {
        self.needs_ties() || self.needed_ties
    }

    /// Opens a label matrix, and checks that it was built by the rules that are asked for now.
    fn open(&self, path: &Path, files: FileOptions) -> Result<LabelMatrix, Stop> {
        let matrix = LabelMatrix::open(path, files.access())?;
        if self.keeps_ties() && matrix.tied_groups().is_none() {
            let path = shown(path);
            return Err(Stop::new(format!(
                "{path} does not know its ties: build it again with --keep-ties"
            )));
        }
        if self.drop_identical_ids && !matrix.rule().drop_identical_ids {
            let path = shown(path);
            return Err(Stop::new(format!(
                "{path} has no documents that --drop-identical-ids could drop: build it again with \
                 this option"
            )));
        }
        if self.units.are_of_qrels() {
            let path = shown(path);
            return Err(Stop::new(format!(
                "{path} has no judgments that --qrels-units could put together: build it again \
                 with this option"
            )));
        }
        if let Some(by) = self.judgments_by.filter(|&by| matrix.judged_by() != Some(by)) {
            let built = match matrix.judged_by() {
                Some(by) => format!("with --judgments-by {by}"),
                None => "without --judgments-by".to_owned(),
            };
            let conflict = built_otherwise(&built, &format!("--judgments-by {by}"));
            return Err(Stop::new(format!("{}: {conflict}", shown(path))));
        }
        match self.conflict(&matrix.rule())? {
            Some(conflict) => Err(Stop::new(format!("{}: {conflict}", shown(path)))),
            None => Ok(matrix),
        }
    }

    fn conflict(&self, built: &RankingRule) -> Result<Option<String>, Error> {
        if let Some((built, asked)) = self.units.conflict(&built.of_units())? {
            return Ok(Some(built_otherwise(&built, &asked)));
        }
        Ok(self.other_order(built))
    }

    /// Returns what to say of an order, a type of scores or a depth that a matrix was not built
    /// with.
    fn other_order(&self, built: &RankingRule) -> Option<String> {
        let differs = |option: &str, built: &str, asked: &str| {
            built_otherwise(&format!("with {option} {built}"), &format!("{option} {asked}"))
        };
        if let Some(asked) = self.order().filter(|&asked| asked != built.ties) {
            return Some(differs("--ties", &built.ties.to_string(), &asked.to_string()));
        }
        if let Some(asked) = self.score.filter(|&asked| asked != built.score) {
            return Some(differs("--score", &built.score.to_string(), &asked.to_string()));
        }
        let (asked, built) = (self.depth?.get(), built.depth?);
        (asked > built).then(|| differs("-M", &built.to_string(), &asked.to_string()))
    }
}

/// Returns the message for a matrix that was `built` with options that contradict the `asked`
/// options.
fn built_otherwise(built: &str, asked: &str) -> String {
    format!(
        "was built {built}, so {asked} cannot be answered from it: build it again from the text"
    )
}

/// A run as the command line names it: `path`, or `name=path`.
#[derive(Debug, Clone)]
pub struct RunPath {
    name: Option<String>,
    pub path: PathBuf,
}

impl RunPath {
    /// Reads the run of an argument. If a file has the whole argument as its name, the run is that
    /// file.
    pub fn of(argument: &Path) -> Self {
        let text = argument.to_str().filter(|_| !argument.exists());
        match text.and_then(|text| text.split_once('=')) {
            Some((name, path)) if !name.is_empty() && !path.is_empty() => {
                RunPath { name: Some(name.to_owned()), path: path.into() }
            }
            _ => RunPath { name: None, path: argument.to_owned() },
        }
    }

    /// Returns the name of the run, or its path.
    pub fn shown(&self) -> String {
        self.name.clone().unwrap_or_else(|| shown(&self.path))
    }

    /// Returns the input of the run.
    pub fn input(&self) -> RunInput {
        match &self.name {
            Some(name) => RunInput::named(name, self.path.clone()),
            None => self.path.clone().into(),
        }
    }
}

/// The inputs of an evaluation.
pub enum EvaluationInputs {
    /// Judgments, and runs.
    Text(PathBuf, Vec<RunPath>),
    /// `.lmx` files.
    Matrices(Vec<PathBuf>),
}

impl EvaluationInputs {
    /// Decides between text and matrices. The first argument is a path, the others may be names
    /// with paths.
    pub fn of(arguments: &[PathBuf]) -> Result<Self, Stop> {
        let (runs, paths) = named(arguments);
        let matrix = recognise(&paths)?;
        let of_kind =
            |kind: bool| paths.iter().zip(&matrix).find(|&(_, &is)| is == kind).map(|(p, _)| p);
        let name = runs.iter().find_map(|run| run.name.as_ref());
        match (of_kind(true), of_kind(false), paths.as_slice()) {
            (None, _, [qrels, _, ..]) => Ok(EvaluationInputs::Text(qrels.clone(), runs)),
            (Some(matrix), None, _) if name.is_some() => Err(Stop::new(format!(
                "{} is a label matrix, whose runs have their names already: give it without a name",
                shown(matrix)
            ))),
            (Some(_), None, _) => Ok(EvaluationInputs::Matrices(paths)),
            (Some(matrix), Some(text), _) => Err(Stop::new(format!(
                "{} is a label matrix and {} is not: give either QRELS RUN... or .lmx files",
                shown(matrix),
                shown(text)
            ))),
            (None, Some(only), _) if is_stdin(only) => {
                Err(Stop::new("stdin alone is not enough: give QRELS RUN..., one of them as `-`"))
            }
            (None, Some(only), _) => Err(Stop::new(format!(
                "{} is not a .lmx file, and judgments alone have no scores: give QRELS RUN...",
                shown(only)
            ))),
            (None, None, _) => {
                Err(Stop::new("nothing to evaluate: give QRELS RUN..., or .lmx files"))
            }
        }
    }

    /// Returns the paths of the runs, if the inputs are text.
    pub fn run_paths(&self) -> Vec<&Path> {
        match self {
            EvaluationInputs::Text(_, runs) => runs.iter().map(|run| run.path.as_path()).collect(),
            EvaluationInputs::Matrices(_) => Vec::new(),
        }
    }

    /// Returns the size of the files in bytes, unless one of them is a stream.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            EvaluationInputs::Text(qrels, runs) => {
                bytes([qrels].into_iter().chain(runs.iter().map(|run| &run.path)))
            }
            EvaluationInputs::Matrices(paths) => bytes(paths),
        }
    }

    /// Returns the matrices to evaluate, one after the other. On a terminal it shows the progress
    /// of reading, unless `quiet`.
    pub fn load(
        &self,
        ranking: &RankingOptions,
        (files, naming): (FileOptions, NameOptions),
        quiet: bool,
    ) -> Result<Vec<LabelMatrix>, Stop> {
        match self {
            EvaluationInputs::Text(qrels, runs) => {
                let progress = Progress::start("reading", WorkAmount::of(self.bytes()), quiet);
                Ok(vec![ranking.join(
                    (qrels, runs),
                    (files, naming),
                    ranking.keeps_ties(),
                    progress.watch(),
                )?])
            }
            EvaluationInputs::Matrices(paths) => {
                let open = |path: &PathBuf| Ok(naming.name(ranking.open(path, files)?, &[])?);
                let matrices = paths.iter().map(open).collect::<Result<Vec<_>, Stop>>()?;
                comparable(paths, &matrices)?;
                Ok(matrices)
            }
        }
    }
}

/// Computes a result of each matrix, one after the other, and appends the later ones to the first.
pub fn of_all<T>(
    matrices: &[LabelMatrix],
    mut of: impl FnMut(&LabelMatrix) -> Result<T, Error>,
    append: impl Fn(&mut T, T) -> Result<(), Error>,
) -> Result<T, Error> {
    let (first, others) = matrices
        .split_first()
        .ok_or_else(|| Error::Unanswerable("nothing to evaluate".to_owned()))?;
    let mut all = of(first)?;
    for matrix in others {
        append(&mut all, of(matrix)?)?;
    }
    Ok(all)
}

/// Returns the runs among arguments, the first of which is not a run, and the paths of all
/// arguments.
pub fn named(arguments: &[PathBuf]) -> (Vec<RunPath>, Vec<PathBuf>) {
    let runs: Vec<RunPath> =
        arguments.iter().skip(1).map(|argument| RunPath::of(argument)).collect();
    let paths = arguments.iter().take(1).chain(runs.iter().map(|run| &run.path)).cloned().collect();
    (runs, paths)
}

/// The message for a mapped file that cannot be read any more.
pub fn unreadable(file: &str) -> String {
    let message = format!(
        "{file}: cannot be read any more: it became shorter after it was opened, or its disk \
         failed; --no-mmap reads files into memory first\n"
    );
    error(message)
}

/// Returns the size of some files in bytes, unless one of them is a stream.
pub fn bytes<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Option<u64> {
    let size =
        |path| std::fs::metadata(path).ok().filter(|file| file.is_file()).map(|file| file.len());
    paths.into_iter().map(size).sum()
}

/// Finds which of the paths are label matrices. Files that cannot be opened are reported together.
pub fn recognise(paths: &[PathBuf]) -> Result<Vec<bool>, Stop> {
    if paths.iter().filter(|path| is_stdin(path)).count() > 1 {
        return Err(Stop::new("`-` is given twice, but stdin can be read only once"));
    }
    let mut problems = Problems::default();
    let mut matrix = Vec::new();
    for path in paths {
        match starts_as_matrix(path) {
            Ok(is) => matrix.push(is),
            Err(e) if problems.first.len() < Problems::LIMIT => problems.first.push(Problem {
                file: path.display().to_string(),
                line: 0,
                message: format!("cannot open: {e}"),
            }),
            Err(_) => problems.more += 1,
        }
    }
    if problems.first.is_empty() { Ok(matrix) } else { Err(Error::Input(problems).into()) }
}

/// Reads the first bytes of a file. Pipes are not read, because the bytes would be lost: they count
/// as text.
fn starts_as_matrix(path: &Path) -> std::io::Result<bool> {
    if is_stdin(path) {
        return Ok(false);
    }
    let kind = std::fs::metadata(path)?;
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

/// Checks that runs of several files have the same judgments, and different names.
fn comparable(paths: &[PathBuf], matrices: &[LabelMatrix]) -> Result<(), Stop> {
    let mut named: HashMap<&str, &Path> = HashMap::new();
    for (path, matrix) in paths.iter().zip(matrices) {
        if matrix.fingerprint() != matrices[0].fingerprint() {
            return Err(Stop::new(format!(
                "{} and {} were built from different judgments, so their scores cannot be compared",
                shown(&paths[0]),
                shown(path)
            )));
        }
        for run in matrix.runs() {
            if let Some(other) = named.insert(&run.name, path) {
                return Err(Stop::new(format!(
                    "a run `{}` is in {} and in {}: build them together, or rename one",
                    printable(run.name.as_bytes()),
                    shown(other),
                    shown(path)
                )));
            }
        }
    }
    Ok(())
}
