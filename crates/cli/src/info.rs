//! `laneval info`: describes a label matrix, or judgments and runs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use laneval::error::printable;
use laneval::labels::{Codebook, RankingRule, TieCounts};
use laneval::lmx::{Description, Section};
use laneval::report::{Align, Grid, JsonText, ReportOptions};
use laneval::{Join, JudgedBy, LabelMatrix};
use rayon::prelude::*;
use serde::{Serialize, Serializer};

use super::choice::{NamedChoice, PlainFormat, groups, one_of, plain};
use super::chunks;
use super::formats::FormatOptions;
use super::inputs::{FileOptions, RunPath, bytes, named, recognise};
use super::judges;
use super::output::print_text;
use super::preview;
use super::stop::Stop;
use super::style::{say, shown, stdout_width, thousands};
use super::texts::both;
use super::threads::Threads;

const EXAMPLES: &str = "\
Examples:
  laneval info trec8.lmx
  laneval info trec8.lmx --verify --format json
  laneval info qrels.tsv
  laneval info qrels.txt bm25.run dense.run
  laneval info passages.jsonl --chunks chunks.csv";

const USAGE: &str = "laneval info [OPTIONS] <FILE.lmx>\n       laneval info [OPTIONS] \
                     <QRELS|RUN>\n       laneval info [OPTIONS] <QRELS> <RUN>...";

/// Describe and check a label matrix, or describe judgments and runs
///
/// Of judgments or a run alone, the recognised format, the first rows as they are read, and counts
/// are shown: queries, grades, depths, ties. A file that can be read neither as judgments nor as a
/// run is an error. Of judgments with runs, counts of each and what they have in common are shown:
/// how many of the first results are judged, and how many relevant documents each run retrieves.
#[derive(Debug, Args)]
#[command(override_usage = USAGE, after_help = EXAMPLES)]
pub struct Info {
    /// A file made by `laneval build`, or judgments or a run in any format, or judgments and runs;
    /// name=path gives a run a name
    #[arg(value_name = "FILES", required = true)]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    files: FileOptions,
    #[command(flatten)]
    formats: FormatOptions,
    /// Read judgments of several judges, as `query judge document grade`, and show how far the
    /// judges agree
    #[arg(long, value_name = "GROUP", value_parser = one_of(only_judges()))]
    judgments_by: Option<JudgedBy>,
    /// Of passages with their positions, show what this chunking of the documents does to them: a
    /// table or records of chunk, document, start and end
    #[arg(long, value_name = "FILE", help_heading = "Units")]
    chunks: Option<PathBuf>,
    /// Check every checksum and every label
    #[arg(long)]
    verify: bool,
    /// The format of the description
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = one_of(plain()))]
    format: PlainFormat,
}

/// Lists the groups whose agreement can be shown.
fn only_judges() -> Vec<NamedChoice<JudgedBy>> {
    groups().into_iter().filter(|&(_, by, _)| by == JudgedBy::Judge).collect()
}

impl Info {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        let (runs, paths) = named(&self.inputs);
        if let Some(chunks) = &self.chunks {
            return match &self.inputs[..] {
                [gold] if !self.verify && self.judgments_by.is_none() => {
                    chunks::print_facts((gold, chunks), &self.formats, self.format)
                }
                _ => Err(Stop::new(
                    "--chunks is for passages alone: give one file of them, without other options",
                )),
            };
        }
        Threads::default().install_for(bytes(&paths), || {
            match (paths.as_slice(), runs.as_slice()) {
                ([file], []) => self.describe(file),
                (_, runs) => self.describe_together(&paths, runs),
            }
        })
    }

    /// The settings by which texts are read.
    fn join(&self) -> Join {
        self.formats.of(Join { access: self.files.access(), ..Join::default() })
    }

    /// Describes judgments and runs.
    fn describe_together(&self, paths: &[PathBuf], runs: &[RunPath]) -> Result<(), Stop> {
        if let Some((at, _)) =
            recognise(paths)?.iter().enumerate().find(|(_, is_matrix)| **is_matrix)
        {
            let path = shown(&paths[at]);
            return Err(Stop::new(format!(
                "{path} is a label matrix, which is described alone: give one .lmx file, or QRELS \
                 RUN..."
            )));
        }
        if self.judgments_by.is_some() {
            return Err(Stop::new("--judgments-by is for judgments alone: give no run"));
        }
        self.check_verify(&paths[0])?;
        both::print_of(&self.join(), &paths[0], runs, self.format)?;
        self.formats.notes().iter().for_each(say);
        Ok(())
    }

    /// Refuses `--verify` of a text.
    fn check_verify(&self, path: &Path) -> Result<(), Stop> {
        if self.verify {
            Err(Stop::new(format!(
                "{} is not a .lmx file: --verify checks those only",
                shown(path)
            )))
        } else {
            Ok(())
        }
    }

    fn describe(&self, path: &PathBuf) -> Result<(), Stop> {
        if !recognise(std::slice::from_ref(path))?.contains(&true) {
            if self.judgments_by.is_some() {
                return judges::print_agreement(path, self.join(), self.format);
            }
            self.check_verify(path)?;
            return preview::print_of(path, &self.formats, &self.join(), self.format);
        }
        if self.judgments_by.is_some() {
            let path = shown(path);
            return Err(Stop::new(format!(
                "{path} is a .lmx file: --judgments-by is for judgments as text or tables"
            )));
        }
        if self.verify {
            LabelMatrix::verify_with(path, self.files.access())?;
        }
        let description = Description::read(path)?;
        let matrix = LabelMatrix::open(path, self.files.access())?;
        let contents = Contents::of((path, self.verify), &matrix, &description);
        print_text(self.format == PlainFormat::Table, |to| match self.format {
            PlainFormat::Json => {
                serde_json::to_writer_pretty(&mut *to, &contents)?;
                writeln!(to)
            }
            PlainFormat::Table => contents.write(to),
        })
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
    depth: Depths,
    labels: LabelDescription,
    padding_share: f64,
    runs: Vec<RunDescription>,
    sections: Vec<SizeDescription>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<bool>,
}

/// The depths of the rankings that have any result.
#[derive(Serialize)]
struct Depths {
    min: u32,
    median: u32,
    max: u32,
}

/// The judgments of the retrieved documents.
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
    fn of(
        (path, verified): (&Path, bool),
        matrix: &LabelMatrix,
        description: &Description,
    ) -> Self {
        let codes = count_codes(matrix);
        let section = |section: &Section| SizeDescription {
            section: name_of(section),
            bytes: section.length,
        };
        Contents {
            file: path.as_os_str().as_encoded_bytes().to_vec(),
            version: description.version,
            bytes: description.bytes,
            fingerprint: format!("{:032x}", matrix.fingerprint()),
            passage_grades: matrix.span_rows().map(|spans| spans.of.grades().to_vec()),
            ranking: matrix.rule(),
            queries: matrix.queries().len(),
            depth: Depths::of(matrix),
            labels: LabelDescription::of(&codes, matrix),
            padding_share: share(
                codes[usize::from(Codebook::PAST_END)],
                matrix.tile_bytes().len() as u64,
            ),
            runs: (0..matrix.runs().len()).map(|at| RunDescription::of(matrix, at)).collect(),
            sections: description.sections.iter().map(section).collect(),
            verified: verified.then_some(true),
        }
    }

    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut field = |name: &str, text: String| writeln!(to, "{name:<13}{text}");
        field("file", printable(&self.file))?;
        field("format", format!("version {}, {} bytes", self.version, thousands(self.bytes)))?;
        field("judgments", format!("fingerprint {}", self.fingerprint))?;
        if let Some(grades) = &self.passage_grades {
            let grades: Vec<String> = grades.iter().map(f64::to_string).collect();
            field("passages", format!("judged by span, with grades {}", grades.join(", ")))?;
        }
        let depth = self
            .ranking
            .depth
            .map_or("all ranks".into(), |depth| format!("the first {depth} ranks"));
        let dropped = if self.ranking.drop_identical_ids {
            ", without documents with the id of their query"
        } else {
            ""
        };
        field(
            "ranking",
            format!("ties {}, scores {}, {depth}{dropped}", self.ranking.ties, self.ranking.score),
        )?;
        if let Some(units) = &self.ranking.units {
            field("units", units.to_string())?;
        }
        field("queries", thousands(self.queries as u64))?;
        let Depths { min, median, max } = self.depth;
        field("depth", format!("min {min}, median {median}, max {max}"))?;
        let judged = format!(
            "{} retrieved, {:.1} % judged",
            thousands(self.labels.total),
            100.0 * self.labels.judged_share
        );
        field("labels", judged)?;
        field("padding", format!("{:.1} % of the tiles", 100.0 * self.padding_share))?;
        if self.verified == Some(true) {
            field("verified", "ok".to_owned())?;
        }
        let options = ReportOptions { width: stdout_width(), ..ReportOptions::default() };
        let grids = [
            Some(self.runs_grid()),
            self.ties_grid(),
            Some(self.labels_grid()),
            Some(self.sections_grid()),
        ];
        for grid in grids.into_iter().flatten() {
            writeln!(to)?;
            grid.write(&options, &mut &mut *to)?;
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
            grid.push(
                [printable(run.run.as_bytes())]
                    .into_iter()
                    .chain(numbers)
                    .chain(names)
                    .map(Into::into),
            );
        }
        grid
    }

    /// Makes the grid of ties, if the file has them.
    fn ties_grid(&self) -> Option<Grid> {
        let numbers =
            ["tied documents", "groups", "mixed", "largest"].map(|name| (name, Align::Right));
        let columns = [("run", Align::Left)].into_iter().chain(numbers);
        let mut grid = Grid::new(columns.map(|(name, align)| (name.to_owned(), align)));
        for run in &self.runs {
            let TieCounts { documents, groups, mixed, largest } = run.ties?;
            let numbers = [documents, groups, mixed, largest].map(thousands);
            grid.push([printable(run.run.as_bytes())].into_iter().chain(numbers).map(Into::into));
        }
        Some(grid)
    }

    fn labels_grid(&self) -> Grid {
        let columns = [("grade", Align::Left), ("labels", Align::Right), ("share", Align::Right)];
        let mut grid = Grid::new(columns.map(|(name, align)| (name.to_owned(), align)));
        let name = |of: &Grade| match of.to {
            Some(to) => format!("{} to {to}", of.grade),
            None => of.grade.to_string(),
        };
        let graded = self.labels.grades.iter().map(|grade| (name(grade), grade.labels));
        let others = [("negative", self.labels.negative), ("not judged", self.labels.unpooled)];
        for (name, count) in graded.chain(others.map(|(name, count)| (name.to_owned(), count))) {
            let share = format!("{:.1} %", 100.0 * share(count, self.labels.total));
            grid.push([name, thousands(count), share].map(Into::into));
        }
        grid
    }

    fn sections_grid(&self) -> Grid {
        let columns = [("section", Align::Left), ("bytes", Align::Right)];
        let mut grid = Grid::new(columns.map(|(name, align)| (name.to_owned(), align)));
        for section in &self.sections {
            grid.push([section.section.clone(), thousands(section.bytes)].map(Into::into));
        }
        grid
    }
}

impl Depths {
    fn of(matrix: &LabelMatrix) -> Self {
        let mut depths: Vec<u32> =
            matrix.depths().iter().copied().filter(|&depth| depth > 0).collect();
        depths.sort_unstable();
        let at = |at: usize| depths.get(at).copied().unwrap_or(0);
        Depths {
            min: at(0),
            median: at(depths.len().saturating_sub(1) / 2),
            max: at(depths.len().saturating_sub(1)),
        }
    }
}

impl LabelDescription {
    fn of(codes: &[u64; 256], matrix: &LabelMatrix) -> Self {
        let first = usize::from(Codebook::FIRST_GRADE);
        let coded = matrix.book().grades().iter().zip(&codes[first..]);
        let coded = coded.map(|(&grade, &labels)| Grade { grade, to: None, labels });
        let grades = matrix
            .exact()
            .map_or_else(|| coded.collect(), |exact| ranges(matrix, |row| exact.rows.of(row)));
        let total = codes[usize::from(Codebook::PAST_END) + 1..].iter().sum();
        LabelDescription {
            total,
            judged_share: share(codes[first..].iter().sum(), total),
            unpooled: codes[usize::from(Codebook::UNPOOLED)],
            negative: codes[usize::from(Codebook::NEGATIVE)],
            grades,
        }
    }
}

/// Counts the labels with exact grades in ten ranges of equal width, of which those without a label
/// are left out.
fn ranges<'m>(matrix: &LabelMatrix, exact: impl Fn(usize) -> &'m [f64]) -> Vec<Grade> {
    const RANGES: f64 = 10.0;
    let mut grades: Vec<f64> = (0..matrix.rows()).flat_map(exact).copied().collect();
    grades.par_sort_unstable_by(f64::total_cmp);
    let (least, largest) =
        (grades.first().copied().unwrap_or(0.0), grades.last().copied().unwrap_or(0.0));
    let range =
        |grade: f64| ((grade - least) / (largest - least) * RANGES).min(RANGES - 1.0).floor();
    let of_range =
        |of: &[f64]| Grade { grade: of[0], to: of.last().copied(), labels: of.len() as u64 };
    grades.chunk_by(|&one, &next| range(one) == range(next)).map(of_range).collect()
}

impl RunDescription {
    fn of(matrix: &LabelMatrix, at: usize) -> Self {
        let info = &matrix.runs()[at];
        let missing = matrix.run_depths(at).iter().filter(|&&depth| depth == 0).count();
        RunDescription {
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

/// Returns the name of a section, with its kind if this laneval skips it.
fn name_of(section: &Section) -> String {
    match section.name {
        "unknown" => format!("unknown (kind {})", section.kind),
        name => name.to_owned(),
    }
}

fn text<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    JsonText(bytes).serialize(serializer)
}

/// Counts the labels of each code, padding included.
fn count_codes(matrix: &LabelMatrix) -> [u64; 256] {
    let count = |bytes: &[u8]| {
        let mut counts = [0; 256];
        bytes.iter().for_each(|&code| counts[usize::from(code)] += 1);
        counts
    };
    let add = |a: [u64; 256], b: [u64; 256]| std::array::from_fn(|code| a[code] + b[code]);
    matrix.tile_bytes().par_chunks(1 << 20).map(count).reduce(|| [0; 256], add)
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
