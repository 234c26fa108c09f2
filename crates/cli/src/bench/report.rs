//! The report of `laneval bench`: tables and sentences for people, or one JSON document.

use std::io::{self, Write};

use laneval::report::{Align, Grid, ReportOptions};
use serde::Serialize;

use super::measure::{BenchRows, FOLD, MEASURES, MEMORY, SIX, Subject, TimedRow};
use crate::style::{pluralize, stdout_width, thousands};
use crate::wrapped::wrap;

/// The report of `laneval bench`: the timed rows, with the machine and the data that they are of.
#[derive(Serialize)]
pub struct BenchReport {
    laneval: &'static str,
    machine: Machine,
    adapter: Option<BenchAdapter>,
    /// The reason why there is no adapter.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_adapter: Option<String>,
    queries: usize,
    runs: usize,
    depth: u32,
    density: f64,
    labels: u64,
    bytes: u64,
    measures: [&'static str; 6],
    notes: Vec<String>,
    rows: Vec<TimedRow>,
}

#[derive(Serialize)]
struct Machine {
    cpu: String,
    arch: &'static str,
    os: String,
    threads: usize,
    memory_bytes: Option<u64>,
}

/// A GPU in the report of `laneval bench`, as its driver describes it.
#[derive(Serialize)]
pub struct BenchAdapter {
    pub name: String,
    pub backend: String,
    pub kind: String,
    pub driver: String,
    /// Whether kernels can be timed.
    pub timestamps: bool,
}

impl Machine {
    /// Describes this machine for `laneval bench`, as far as Linux's `/proc` says: processor,
    /// system, threads, memory.
    fn here() -> Self {
        let kibibytes = read_field("/proc/meminfo", "MemTotal");
        let kibibytes = kibibytes.and_then(|text| text.trim_end_matches(" kB").parse::<u64>().ok());
        let release = read_text("/proc/sys/kernel/osrelease");
        Self {
            cpu: read_field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned()),
            arch: std::env::consts::ARCH,
            os: format!("{} {}", std::env::consts::OS, release.trim()).trim_end().to_owned(),
            threads: rayon::current_num_threads(),
            memory_bytes: kibibytes.map(|kibibytes| kibibytes << 10),
        }
    }
}

/// Returns the text of a file of the operating system, such as `/proc/cpuinfo`; empty where there
/// is none.
fn read_text(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Returns the value of the first line `name: value` of a file such as `/proc/cpuinfo`, if there is
/// one.
fn read_field(path: &str, name: &str) -> Option<String> {
    let text = read_text(path);
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
}

/// A column of numbers in a table of `laneval bench`: its heading, and the function that formats a
/// row's number.
type NumberColumn<'a> = (String, Box<dyn Fn(&TimedRow) -> String + 'a>);

impl BenchReport {
    /// Makes the report of `laneval bench` from the timed rows, and from the GPU or the reason why
    /// there is none.
    pub fn new(subject: &Subject, adapter: Result<BenchAdapter, String>, found: BenchRows) -> Self {
        let matrix = &subject.matrix;
        let relevant = matrix.codebook().at_least(1.0);
        let relevant =
            matrix.tile_bytes().iter().filter(|&&label| relevant.contains(label)).count();
        let (adapter, no_adapter) = match adapter {
            Ok(adapter) => (Some(adapter), None),
            Err(reason) => (None, Some(reason)),
        };
        Self {
            laneval: env!("CARGO_PKG_VERSION"),
            machine: Machine::here(),
            adapter,
            no_adapter,
            queries: matrix.queries().len(),
            runs: matrix.runs().len(),
            depth: matrix.depths().iter().copied().max().unwrap_or(0),
            density: relevant as f64 / subject.labels as f64,
            labels: subject.labels,
            bytes: matrix.tile_bytes().len() as u64,
            measures: MEASURES,
            notes: found.notes,
            rows: found.rows,
        }
    }

    /// Writes the report of `laneval bench` as tables, fitted to the width of the terminal if they
    /// go there.
    pub fn write_table(&self, terminal: bool, to: &mut dyn Write) -> io::Result<()> {
        self.write_heading(to)?;
        let width = if terminal { stdout_width() } else { None };
        let options = ReportOptions { width, ..ReportOptions::default() };
        for grid in [self.memory(), self.six(), self.folds()] {
            writeln!(to)?;
            grid.write(&options, &mut &mut *to)?;
        }
        writeln!(to)?;
        writeln!(
            to,
            "six measures: {}. The best of three runs or more, in turns.",
            MEASURES.join(", ")
        )?;
        writeln!(
            to,
            "of bandwidth: of reading the labels with as many threads, on a GPU of copying there, \
             both ways counted."
        )?;
        writeln!(to, "FirstRank stops at its hit, and so may be faster than reading.")?;
        for sentence in self.verdict() {
            writeln!(to, "\n{}", wrap(&sentence, width.unwrap_or(110).min(110), 0))?;
        }
        self.notes.iter().try_for_each(|note| writeln!(to, "{note}"))
    }

    fn write_heading(&self, to: &mut dyn Write) -> io::Result<()> {
        let Machine { cpu, arch, os, threads, memory_bytes } = &self.machine;
        let memory = memory_bytes.map_or(String::new(), |bytes| format!(", {} GiB", bytes >> 30));
        writeln!(to, "laneval  {}, {arch}, {os}", self.laneval)?;
        writeln!(to, "cpu      {cpu}, {}{memory}", pluralize(*threads as u64, "thread"))?;
        let none = self.no_adapter.as_deref().unwrap_or_default();
        let gpu = self.adapter.as_ref().map_or(format!("none: {none}"), |adapter| {
            let BenchAdapter { name, backend, kind, driver, .. } = adapter;
            format!("{name}, {kind}, by {backend}, {driver}")
        });
        writeln!(to, "gpu      {gpu}")?;
        let runs = if self.runs == 1 { String::new() } else { format!("{} runs × ", self.runs) };
        let (queries, labels) = (thousands(self.queries as u64), thousands(self.labels));
        let relevant = 100.0 * self.density;
        let depth = self.depth;
        writeln!(
            to,
            "labels   {labels}, {relevant:.1} % relevant: {runs}{queries} queries, up to {depth} \
             deep"
        )
    }

    /// Returns sentences for `laneval bench` that name the fastest engine, and say why it is
    /// fastest.
    fn verdict(&self) -> Vec<String> {
        let cpus = self
            .group(SIX)
            .filter(|row| !row.engine.starts_with("gpu") && row.engine != "reference");
        let Some(cpu) = cpus.min_by(|one, other| one.seconds.total_cmp(&other.seconds)) else {
            return Vec::new();
        };
        let name = format!("{} on {}", cpu.engine, pluralize(cpu.threads as u64, "thread"));
        let plain = self.group(SIX).find(|row| row.engine == "reference" && row.threads == 1);
        let than_plain = plain.map_or(String::new(), |plain| {
            format!(
                ", {} times as fast as the plain formulas on one",
                short(plain.seconds / cpu.seconds)
            )
        });
        let limit = match cpu.bandwidth_share {
            Some(share) if share > 0.7 => {
                " It takes little longer than merely reading the labels: memory is the limit."
                    .to_owned()
            }
            Some(share) => format!(
                " Merely reading the labels would be {} times as fast: computing is the limit, not \
                 memory.",
                short(1.0 / share)
            ),
            None => String::new(),
        };
        let mut sentences = vec![format!("CPU: {name} is the fastest{than_plain}.{limit}")];
        sentences.extend(self.gpu_verdict(cpu));
        sentences
    }

    /// Returns a sentence that compares the GPU with the fastest engine on the CPU, if a GPU was
    /// timed.
    fn gpu_verdict(&self, cpu: &TimedRow) -> Option<String> {
        let adapter = self.adapter.as_ref()?;
        let [all, resident] = ["gpu, end to end", "gpu, labels resident"]
            .map(|engine| self.group(SIX).find(|row| row.engine == engine));
        let (all, resident) = (all?, resident?);
        let moved = self.group(MEMORY).find(|row| row.what == "labels to the GPU");
        let why = match moved {
            _ if adapter.kind == "software" => {
                "It is not a GPU, but software that emulates one on the CPU, for tests.".to_owned()
            }
            Some(moved) if all.seconds >= cpu.seconds && moved.seconds > 0.3 * all.seconds => {
                format!(
                    "Moving the labels to it takes {} of {} ms, so it pays only where they stay \
                     there.",
                    milliseconds(moved),
                    milliseconds(all)
                )
            }
            _ if resident.seconds < cpu.seconds => {
                "It reads its memory faster than the CPU reads its own; the more labels, the more \
                 that counts."
                    .to_owned()
            }
            _ => "There is too little work at a time to fill it.".to_owned(),
        };
        Some(format!(
            "GPU: with the labels in the memory of the CPU it is {}, with the labels in its own \
             {}. {why}",
            compare_speed(all, cpu),
            compare_speed(resident, cpu)
        ))
    }

    fn group<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a TimedRow> {
        self.rows.iter().filter(move |row| row.group == group)
    }

    /// Returns the timed rows of all folds (passes over the ranks) by one engine on this number of
    /// threads.
    fn engine_folds<'a>(
        &'a self,
        engine: &'a str,
        threads: usize,
    ) -> impl Iterator<Item = &'a TimedRow> {
        self.group(FOLD).filter(move |row| row.engine == engine && row.threads == threads)
    }

    fn memory(&self) -> Grid {
        let numbers = [
            number("MB", |row| format!("{:.1}", row.bytes as f64 / 1e6)),
            number("ms", milliseconds),
            number("GB/s", |row| gigabytes(row.bytes_per_second)),
        ];
        self.grid(MEMORY, |row| row.what.clone(), numbers.into())
    }

    fn six(&self) -> Grid {
        let mut numbers = vec![
            number("ms", milliseconds),
            number("M labels/s", |row| millions(row.labels_per_second)),
            number("k queries/s", |row| {
                row.queries_per_second.map_or(NONE.into(), |rate| short(rate / 1e3))
            }),
            number("GB/s", |row| gigabytes(row.bytes_per_second)),
            number("of bandwidth", |row| percent(row.bandwidth_share)),
        ];
        if self.adapter.is_some() {
            numbers.push(number("CPU ÷ GPU", |row| times(row.cpu_over_gpu)));
        }
        self.grid(SIX, |row| row.engine.clone(), numbers)
    }

    /// Makes the table of one group of rows of `laneval bench`, with these columns of numbers.
    fn grid(
        &self,
        group: &str,
        name: impl Fn(&TimedRow) -> String,
        numbers: Vec<NumberColumn>,
    ) -> Grid {
        let headings = numbers.iter().map(|(heading, _)| (heading.clone(), Align::Right));
        let first = [(group.to_owned(), Align::Left), ("threads".to_owned(), Align::Right)];
        let mut grid = Grid::new(first.into_iter().chain(headings));
        for row in self.group(group) {
            let threads = if row.engine.starts_with("gpu") {
                NONE.to_owned()
            } else {
                row.threads.to_string()
            };
            let first = [name(row), threads];
            let cells = numbers.iter().map(|(_, text)| text(row));
            grid.push(first.into_iter().chain(cells).map(Into::into));
        }
        grid
    }

    /// Makes the table of the folds (passes over the ranks) in `laneval bench`: a row for each
    /// fold, a column for each engine.
    fn folds(&self) -> Grid {
        let mut engines: Vec<(&str, usize)> = Vec::new();
        for row in self.group(FOLD) {
            if !engines.contains(&(row.engine.as_str(), row.threads)) {
                engines.push((&row.engine, row.threads));
            }
        }
        // If kernels are timed, the times that include the transfer of results are in the JSON
        // only.
        if engines.iter().any(|(engine, _)| engine.ends_with(": kernels")) {
            engines
                .retain(|(engine, _)| !engine.starts_with("gpu") || engine.ends_with(": kernels"));
        }
        let mut headings = vec![("fold, M labels/s".to_owned(), Align::Left)];
        for (engine, threads) in &engines {
            let gpu = engine.starts_with("gpu");
            let threads = format!("{engine}, {}", pluralize(*threads as u64, "thread"));
            let name = if gpu { engine.replace(", labels resident", "") } else { threads };
            let share = (if gpu { "of copying" } else { "of reading" }).to_owned();
            headings.extend([(name, Align::Right), (share, Align::Right)]);
            headings.extend(gpu.then(|| ("CPU ÷ GPU".to_owned(), Align::Right)));
        }
        let mut grid = Grid::new(headings);
        // The first engine has all folds, as every engine has: its rows name them.
        let first = engines.first();
        for TimedRow { what: name, .. } in
            first.into_iter().flat_map(|&(engine, threads)| self.engine_folds(engine, threads))
        {
            let mut cells = vec![name.clone()];
            for &(engine, threads) in &engines {
                let row = self.engine_folds(engine, threads).find(|row| row.what == *name);
                cells.push(millions(row.and_then(|row| row.labels_per_second)));
                cells.push(percent(row.and_then(|row| row.bandwidth_share)));
                if engine.starts_with("gpu") {
                    cells.push(times(row.and_then(|row| row.cpu_over_gpu)));
                }
            }
            grid.push(cells.into_iter().map(Into::into));
        }
        grid
    }
}

const NONE: &str = "–";

/// Returns words that compare the time of a GPU with that of the CPU, as in `2.5 times as fast as
/// the CPU`.
fn compare_speed(gpu: &TimedRow, cpu: &TimedRow) -> String {
    if gpu.seconds < cpu.seconds {
        format!("{} times as fast as the CPU", short(cpu.seconds / gpu.seconds))
    } else {
        format!("{} times slower than the CPU", short(gpu.seconds / cpu.seconds))
    }
}

fn number<'a>(heading: &str, text: impl Fn(&TimedRow) -> String + 'a) -> NumberColumn<'a> {
    (heading.to_owned(), Box::new(text))
}

fn milliseconds(row: &TimedRow) -> String {
    format!("{:.3}", row.seconds * 1e3)
}

fn gigabytes(rate: f64) -> String {
    format!("{:.2}", rate / 1e9)
}

fn millions(rate: Option<f64>) -> String {
    rate.map_or(NONE.to_owned(), |rate| short(rate / 1e6))
}

fn percent(share: Option<f64>) -> String {
    share.map_or(NONE.to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or(NONE.to_owned(), |ratio| format!("{ratio:.2}"))
}

/// Formats a rate with one decimal below 10, and from there on as a whole number.
fn short(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.1}") } else { thousands(rate.round() as u64) }
}
