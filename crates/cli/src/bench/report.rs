//! The report: a table for people, or one JSON document.

use std::io::{self, Write};

use laneval::report::{Align, Grid, ReportOptions};
use serde::Serialize;

use super::measure::{BenchRows, FOLD, MEASURES, MEMORY, SIX, Subject, TimedRow};
use crate::style::{counted, stdout_width, thousands};
use crate::wrapped::wrap;

/// All that was measured, and the machine.
#[derive(Serialize)]
pub struct Report {
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

/// A GPU, as its driver describes it.
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
    /// Describes this machine, as far as Linux does.
    fn here() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            lines.find(|(of, _)| of.trim() == name).map(|(_, value)| value.trim().to_owned())
        };
        let kibibytes = field(&read("/proc/meminfo"), "MemTotal");
        let kibibytes = kibibytes.and_then(|text| text.trim_end_matches(" kB").parse::<u64>().ok());
        let release = read("/proc/sys/kernel/osrelease");
        Machine {
            cpu: field(&read("/proc/cpuinfo"), "model name")
                .unwrap_or_else(|| "unknown".to_owned()),
            arch: std::env::consts::ARCH,
            os: format!("{} {}", std::env::consts::OS, release.trim()).trim_end().to_owned(),
            threads: rayon::current_num_threads(),
            memory_bytes: kibibytes.map(|kibibytes| kibibytes << 10),
        }
    }
}

/// A column of numbers: its heading, and a function that writes the text of a row.
type NumberColumn<'a> = (String, Box<dyn Fn(&TimedRow) -> String + 'a>);

impl Report {
    /// Makes a report of the rows of a subject, and of the adapter or the reason why there is none.
    pub fn new(subject: &Subject, adapter: Result<BenchAdapter, String>, found: BenchRows) -> Self {
        let matrix = &subject.matrix;
        let relevant = matrix.book().at_least(1.0);
        let relevant =
            matrix.tile_bytes().iter().filter(|&&label| relevant.contains(label)).count();
        let (adapter, no_adapter) = match adapter {
            Ok(adapter) => (Some(adapter), None),
            Err(reason) => (None, Some(reason)),
        };
        Report {
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

    /// Writes one JSON document.
    pub fn write_json(&self, to: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *to, self)?;
        writeln!(to)
    }

    /// Writes tables, as wide as the terminal if they go there.
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
        let mut field = |name: &str, text: String| writeln!(to, "{name:<9}{text}");
        let Machine { cpu, arch, os, threads, memory_bytes } = &self.machine;
        let memory = memory_bytes.map_or(String::new(), |bytes| format!(", {} GiB", bytes >> 30));
        field("laneval", format!("{}, {arch}, {os}", self.laneval))?;
        field("cpu", format!("{cpu}, {}{memory}", counted(*threads as u64, "thread")))?;
        let none = self.no_adapter.as_deref().unwrap_or_default();
        let gpu = self.adapter.as_ref().map_or(format!("none: {none}"), |adapter| {
            let BenchAdapter { name, backend, kind, driver, .. } = adapter;
            format!("{name}, {kind}, by {backend}, {driver}")
        });
        field("gpu", gpu)?;
        let runs = if self.runs == 1 { String::new() } else { format!("{} runs × ", self.runs) };
        let (queries, labels) = (thousands(self.queries as u64), thousands(self.labels));
        let relevant = 100.0 * self.density;
        let depth = self.depth;
        field(
            "labels",
            format!(
                "{labels}, {relevant:.1} % relevant: {runs}{queries} queries, up to {depth} deep"
            ),
        )
    }

    /// Says in sentences which engine is fastest, and why.
    fn verdict(&self) -> Vec<String> {
        let is_gpu = |row: &&TimedRow| row.engine.starts_with("gpu");
        let six = || self.group(SIX);
        let cpus = six().filter(|row| !is_gpu(row) && row.engine != "reference");
        let Some(cpu) = cpus.min_by(|one, other| one.seconds.total_cmp(&other.seconds)) else {
            return Vec::new();
        };
        let name = format!("{} on {}", cpu.engine, counted(cpu.threads as u64, "thread"));
        let plain = six().find(|row| row.engine == "reference" && row.threads == 1);
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

    /// Compares the GPU with the fastest engine on the CPU in a sentence, if there is one.
    fn gpu_verdict(&self, cpu: &TimedRow) -> Option<String> {
        let gpu = |engine: &str| self.group(SIX).find(|row| row.engine == engine);
        let adapter = self.adapter.as_ref()?;
        let (all, resident) = (gpu("gpu, end to end")?, gpu("gpu, labels resident")?);
        let compared = |row: &TimedRow| {
            if row.seconds < cpu.seconds {
                format!("{} times as fast as the CPU", short(cpu.seconds / row.seconds))
            } else {
                format!("{} times slower than the CPU", short(row.seconds / cpu.seconds))
            }
        };
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
            compared(all),
            compared(resident)
        ))
    }

    fn group<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a TimedRow> {
        self.rows.iter().filter(move |row| row.group == group)
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

    /// Makes a grid of the rows of a group, one below the other.
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

    /// Makes a grid of the folds, one below the other, with a column for each engine.
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
            let threads = format!("{engine}, {}", counted(*threads as u64, "thread"));
            let name = if gpu { engine.replace(", labels resident", "") } else { threads };
            let share = (if gpu { "of copying" } else { "of reading" }).to_owned();
            headings.extend([(name, Align::Right), (share, Align::Right)]);
            headings.extend(gpu.then(|| ("CPU ÷ GPU".to_owned(), Align::Right)));
        }
        let mut grid = Grid::new(headings);
        let of = |(engine, threads)| {
            self.group(FOLD)
                .filter(move |row| (row.engine.as_str(), row.threads) == (engine, threads))
        };
        for name in engines.first().into_iter().flat_map(|&first| of(first)).map(|row| &row.what) {
            let mut cells = vec![name.clone()];
            for &(engine, threads) in &engines {
                let row = of((engine, threads)).find(|row| row.what == *name);
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

/// Writes a rate without insignificant digits.
fn short(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.1}") } else { thousands(rate.round() as u64) }
}
