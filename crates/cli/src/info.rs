//! `laneval info`: describes a label matrix, or judgments and runs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use laneval::error::printable;
use laneval::labels::{Codebook, RankingRule, TieCounts};
use laneval::lmx::{Description, Section};
use laneval::options::Given;
use laneval::report::{Align, Grid, JsonText};
use laneval::{Error, Join, LabelMatrix};
use rayon::prelude::*;
use serde::{Serialize, Serializer};

use super::{
    chunks,
    cli_error::{CliResult, fail},
    command_row::{Arguments, CommandRow, Inputs},
    formats::RecognisedFormats,
    inputs::{RunPath, bytes, find_matrices, named_runs},
    judges,
    output::{PlainFormat, make_grid, print_plain, write_grid},
    page::kept_ranks,
    preview,
    style::{comma_list, print_note, shown, thousands},
    text_stats::judgments::range_text,
    text_stats::pair_report,
    text_stats::spread::CountSpread,
    threads::Threads,
};

/// `laneval info`.
pub const COMMAND: CommandRow = CommandRow {
    name: "info",
    first: "Describe a label matrix, qrels or runs",
    more: "Of qrels or a run alone: the recognised format, the first rows as they are read, and \
        counts of queries, grades, depths, ties. Of qrels with runs: counts of each, how many of \
        the first results are judged, and how many relevant documents each run retrieves.",
    usage: &[
        "info [OPTIONS] <FILE.lmx>",
        "info [OPTIONS] <QRELS|RUN>",
        "info [OPTIONS] <QRELS> <RUN>...",
    ],
    inputs: Some(Inputs {
        name: "FILES",
        first: "A label matrix (.lmx), qrels, a run, or qrels and runs",
        more: "Qrels and runs are in any format; name=path gives a run a name.",
        count: (1, usize::MAX),
        is_last: false,
    }),
    examples: &[
        "laneval info trec8.lmx",
        "laneval info trec8.lmx --verify --format json",
        "laneval info qrels.tsv",
        "laneval info qrels.txt bm25.run dense.run",
        "laneval info passages.jsonl --chunks chunks.csv",
    ],
    page: "formats.md",
    run: |arguments| Info::new(arguments).run(),
    ..CommandRow::NEW
};

/// The command `laneval info`: its options, and its inputs.
#[derive(Debug)]
struct Info {
    given: Given,
    formats: RecognisedFormats,
    inputs: Vec<PathBuf>,
}

impl Info {
    /// Makes the command that a command line asks for.
    fn new(arguments: Arguments) -> Self {
        let Arguments { given, inputs, .. } = arguments;
        Self { formats: RecognisedFormats::default(), given, inputs }
    }

    /// Runs `laneval info`: describes a label matrix, or judgments and runs.
    fn run(self) -> CliResult<()> {
        let (runs, paths) = named_runs(&self.inputs);
        if self.given.is_given("chunks") {
            return match &self.inputs[..] {
                [gold] if !self.given.flag("verify") && !self.given.is_given("facet") => {
                    chunks::print_facts(&self.given, gold)
                }
                _ => fail(
                    "--chunks is for passages alone: give one file of them, without other options",
                ),
            };
        }
        Threads::default().install_for(bytes(&paths), || {
            match (paths.as_slice(), runs.as_slice()) {
                ([file], []) => self.describe(file),
                (_, runs) => self.describe_together(&paths, runs),
            }
        })
    }

    /// Returns the settings by which `laneval info` reads judgments and runs.
    fn join(&self) -> Result<Join, Error> {
        self.formats.join(&self.given)
    }

    /// Returns the format of the description.
    fn format(&self) -> Result<PlainFormat, Error> {
        self.given.required("format")
    }

    /// Describes judgments, runs, and what they have in common, for `laneval info`.
    fn describe_together(&self, paths: &[PathBuf], runs: &[RunPath]) -> CliResult<()> {
        if let Some(at) = find_matrices(paths)?.into_iter().position(|is_matrix| is_matrix) {
            return fail(format!(
                "{} is a label matrix, which is described alone: give one .lmx file, or QRELS \
                 RUN...",
                shown(&paths[at])
            ));
        }
        if self.given.is_given("facet") {
            return fail("--facet is for judgments alone: give no run");
        }
        self.check_verify(&paths[0])?;
        pair_report::print_pair(&self.join()?, &paths[0], runs, self.format()?)?;
        self.formats.notes().iter().for_each(print_note);
        Ok(())
    }

    /// Rejects `info --verify` for a file that is no label matrix.
    fn check_verify(&self, path: &Path) -> CliResult<()> {
        if self.given.flag("verify") {
            fail(format!("{} is not a .lmx file: --verify checks those only", shown(path)))
        } else {
            Ok(())
        }
    }

    fn describe(&self, path: &PathBuf) -> CliResult<()> {
        let by_judge = self.given.is_given("facet");
        if !find_matrices(std::slice::from_ref(path))?.contains(&true) {
            if by_judge {
                return judges::print_agreement(path, self.join()?, self.format()?);
            }
            self.check_verify(path)?;
            return preview::print_preview(path, &self.formats, &self.join()?, self.format()?);
        }
        if by_judge {
            return fail(format!(
                "{} is a .lmx file: --facet is for judgments as text or tables",
                shown(path)
            ));
        }
        let (verify, access) = (self.given.flag("verify"), self.given.access());
        if verify {
            LabelMatrix::verify_with(path, access)?;
        }
        let description = Description::read(path)?;
        let matrix = LabelMatrix::open(path, access)?;
        let contents = Contents::new(path, verify, &matrix, &description);
        print_plain(self.format()?, &contents, |to| contents.write(to))
    }
}

#[derive(Serialize)]
struct Contents {
    #[serde(serialize_with = "text")]
    file: Vec<u8>,
    version: u32,
    bytes: u64,
    fingerprint: String,
    /// The distinct grades of judged passages, if judgments are by span.
    #[serde(skip_serializing_if = "Option::is_none")]
    passage_grades: Option<Vec<f64>>,
    ranking: RankingRule,
    queries: usize,
    /// The depths of the rankings that have any documents.
    depth: CountSpread,
    labels: LabelDescription,
    padding_share: f64,
    runs: Vec<RunDescription>,
    sections: Vec<SizeDescription>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<bool>,
}

/// The labels of a matrix, counted for `laneval info`: judged, not judged, negative, and by grade.
#[derive(Serialize)]
struct LabelDescription {
    total: u64,
    judged_share: f64,
    unpooled: u64,
    negative: u64,
    grades: Vec<Grade>,
}

#[derive(Serialize)]
struct Grade {
    grade: f64,
    /// The largest grade, if these are several: there are too many distinct ones for a code each.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<f64>,
    labels: u64,
}

#[derive(Serialize)]
struct RunDescription {
    run: String,
    #[serde(serialize_with = "text")]
    tag: Vec<u8>,
    source: String,
    results: u64,
    queries: usize,
    missing: usize,
    ignored: u64,
    /// The counts of ties; left out if the file does not have them.
    #[serde(skip_serializing_if = "Option::is_none")]
    ties: Option<TieCounts>,
}

#[derive(Serialize)]
struct SizeDescription {
    section: String,
    bytes: u64,
}

impl Contents {
    fn new(path: &Path, verified: bool, matrix: &LabelMatrix, description: &Description) -> Self {
        let codes = count_codes(matrix);
        let sections = description
            .sections
            .iter()
            .map(|section| SizeDescription { section: name_of(section), bytes: section.length });
        let depths = matrix.depths().iter().filter(|&&depth| depth > 0).map(|&depth| depth.into());
        Self {
            file: path.as_os_str().as_encoded_bytes().to_vec(),
            version: description.version,
            bytes: description.bytes,
            fingerprint: format!("{:032x}", matrix.fingerprint()),
            passage_grades: matrix.span_rows().map(|spans| spans.gold_counts.grades().to_vec()),
            ranking: matrix.rule(),
            queries: matrix.queries().len(),
            depth: CountSpread::from_counts(depths.collect()),
            labels: LabelDescription::new(&codes, matrix),
            padding_share: share(
                codes[usize::from(Codebook::PAST_END)],
                matrix.tile_bytes().len() as u64,
            ),
            runs: (0..matrix.runs().len()).map(|at| RunDescription::new(matrix, at)).collect(),
            sections: sections.collect(),
            verified: verified.then_some(true),
        }
    }

    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "file         {}", printable(&self.file))?;
        writeln!(to, "format       version {}, {} bytes", self.version, thousands(self.bytes))?;
        writeln!(to, "judgments    fingerprint {}", self.fingerprint)?;
        if let Some(grades) = &self.passage_grades {
            writeln!(to, "passages     judged by span, with grades {}", comma_list(grades))?;
        }
        let RankingRule { ties, score, units, .. } = &self.ranking;
        let ranks = kept_ranks(&self.ranking);
        writeln!(to, "ranking      ties {ties}, scores {score}, {ranks}")?;
        if let Some(units) = units {
            writeln!(to, "units        {units}")?;
        }
        writeln!(to, "queries      {}", thousands(self.queries as u64))?;
        let CountSpread { min, median, max } = self.depth;
        writeln!(to, "depth        min {min}, median {median}, max {max}")?;
        let judged = 100.0 * self.labels.judged_share;
        let total = thousands(self.labels.total);
        writeln!(to, "labels       {total} retrieved, {judged:.1} % judged")?;
        writeln!(to, "padding      {:.1} % of the tiles", 100.0 * self.padding_share)?;
        if self.verified == Some(true) {
            writeln!(to, "verified     ok")?;
        }
        let grids = [
            Some(self.runs_grid()),
            self.ties_grid(),
            Some(self.labels_grid()),
            Some(self.sections_grid()),
        ];
        for grid in grids.into_iter().flatten() {
            writeln!(to)?;
            write_grid(&grid, to)?;
        }
        Ok(())
    }

    fn runs_grid(&self) -> Grid {
        let numbers = ["results", "queries", "missing", "ignored"].map(|name| (name, Align::Right));
        let columns = [("run", Align::Left)].into_iter().chain(numbers);
        let columns = columns.chain([("tag", Align::Left), ("source", Align::Left)]);
        let mut grid = Grid::new(columns.map(|(name, align)| (name.to_owned(), align)));
        for run in &self.runs {
            let numbers =
                [run.results, run.queries as u64, run.missing as u64, run.ignored].map(thousands);
            let names = [&run.tag[..], run.source.as_bytes()].map(printable);
            let name = [printable(run.run.as_bytes())].into_iter();
            grid.push(name.chain(numbers).chain(names).map(Into::into));
        }
        grid
    }

    /// Makes the table of equal scores in each run for `laneval info`, if the `.lmx` file knows its
    /// ties.
    fn ties_grid(&self) -> Option<Grid> {
        let mut grid = make_grid(&["run"], &["tied documents", "groups", "mixed", "largest"]);
        for run in &self.runs {
            let TieCounts { documents, groups, mixed, largest } = run.ties?;
            let numbers = [documents, groups, mixed, largest].map(thousands);
            grid.push([printable(run.run.as_bytes())].into_iter().chain(numbers).map(Into::into));
        }
        Some(grid)
    }

    fn labels_grid(&self) -> Grid {
        let mut grid = make_grid(&["grade"], &["labels", "share"]);
        let graded = self.labels.grades.iter();
        let graded = graded.map(|grade| (range_text(grade.grade, grade.to), grade.labels));
        let others = [("negative", self.labels.negative), ("not judged", self.labels.unpooled)];
        for (name, count) in graded.chain(others.map(|(name, count)| (name.to_owned(), count))) {
            let share = format!("{:.1} %", 100.0 * share(count, self.labels.total));
            grid.push([name, thousands(count), share].map(Into::into));
        }
        grid
    }

    fn sections_grid(&self) -> Grid {
        let mut grid = make_grid(&["section"], &["bytes"]);
        for section in &self.sections {
            grid.push([section.section.clone(), thousands(section.bytes)].map(Into::into));
        }
        grid
    }
}

impl LabelDescription {
    fn new(codes: &[u64; 256], matrix: &LabelMatrix) -> Self {
        let first = usize::from(Codebook::FIRST_GRADE);
        let coded = matrix.codebook().grades().iter().zip(&codes[first..]);
        let coded = coded.map(|(&grade, &labels)| Grade { grade, to: None, labels });
        let grades = matrix
            .exact()
            .map_or_else(|| coded.collect(), |exact| ranges(matrix, |row| exact.rows.row(row)));
        let total = codes[usize::from(Codebook::PAST_END) + 1..].iter().sum();
        Self {
            total,
            judged_share: share(codes[first..].iter().sum(), total),
            unpooled: codes[usize::from(Codebook::NOT_IN_QRELS)],
            negative: codes[usize::from(Codebook::NEGATIVE)],
            grades,
        }
    }
}

/// Counts the labels of a matrix by exact grade, in ten ranges of equal width; empty ranges are
/// left out.
fn ranges<'m>(matrix: &LabelMatrix, exact: impl Fn(usize) -> &'m [f64]) -> Vec<Grade> {
    const RANGES: f64 = 10.0;
    let mut grades: Vec<f64> = (0..matrix.rows()).flat_map(exact).copied().collect();
    grades.par_sort_unstable_by(f64::total_cmp);
    let (least, largest) =
        (grades.first().copied().unwrap_or(0.0), grades.last().copied().unwrap_or(0.0));
    let ranges = grades.chunk_by(|&one, &next| {
        let [one, next] = [one, next]
            .map(|grade| ((grade - least) / (largest - least) * RANGES).min(RANGES - 1.0).floor());
        one == next
    });
    let counted = ranges.map(|values| Grade {
        grade: values[0],
        to: values.last().copied(),
        labels: values.len() as u64,
    });
    counted.collect()
}

impl RunDescription {
    fn new(matrix: &LabelMatrix, at: usize) -> Self {
        let info = &matrix.runs()[at];
        let missing = matrix.run_depths(at).iter().filter(|&&depth| depth == 0).count();
        Self {
            run: info.name.clone(),
            tag: info.tag.clone(),
            source: info.source.clone(),
            results: info.results,
            queries: matrix.queries().len() - missing,
            missing,
            ignored: info.ignored.count,
            ties: matrix.tied_groups().map(|tied| tied.counts()[at]),
        }
    }
}

/// Returns the name of a section of a `.lmx` file, with its kind if this laneval skips the section.
fn name_of(section: &Section) -> String {
    match section.name {
        "unknown" => format!("unknown (kind {})", section.kind),
        name => name.to_owned(),
    }
}

fn text<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    JsonText(bytes).serialize(serializer)
}

/// Counts the labels of a matrix by code (the byte of a label), padding included.
fn count_codes(matrix: &LabelMatrix) -> [u64; 256] {
    let counted = matrix.tile_bytes().par_chunks(1 << 20).map(|bytes| {
        let mut counts = [0; 256];
        bytes.iter().for_each(|&code| counts[usize::from(code)] += 1);
        counts
    });
    counted.reduce(|| [0; 256], |one, other| std::array::from_fn(|code| one[code] + other[code]))
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
