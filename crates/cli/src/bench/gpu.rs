//! The timings of a GPU in `laneval bench`: six measures with labels transferred or resident, each
//! fold, and transfer rates.

use std::hint::black_box;
use std::time::Duration;

use laneval::gpu::{AdapterChoice, Gpu};
use laneval::internals::Engine;
use laneval::{Error, Scores};

use super::measure::{BenchRows, FOLD, SIX, Subject, TimedRow};
use super::report::BenchAdapter;
use super::round_robin::{BenchTask, RoundRobin};
use crate::cli_error::CliResult;

/// Opens a GPU for `laneval bench`, and checks its scores of six measures; returns the reason if
/// there is no GPU.
pub fn open(subject: &Subject, adapter: Option<&str>) -> CliResult<Result<Gpu, String>> {
    match open_and_evaluate(subject, adapter) {
        Ok((gpu, scores)) => subject.check("gpu", &scores).map(|()| Ok(gpu)),
        // Nobody asked for a GPU, so a machine without one has the rows of the CPU alone.
        Err(Error::Device(reason)) if adapter.is_none() => Ok(Err(reason)),
        Err(error) => Err(error.into()),
    }
}

/// Opens a GPU, and returns it with its scores of the six measures of `laneval bench`.
fn open_and_evaluate(subject: &Subject, adapter: Option<&str>) -> Result<(Gpu, Scores), Error> {
    let gpu = Gpu::open(adapter.map_or(AdapterChoice::Hardware, AdapterChoice::Named))?;
    let scores = subject.six.evaluate_on(&gpu, &subject.matrix)?;
    Ok((gpu, scores))
}

/// Describes an open GPU for the report of `laneval bench`: its name, backend, kind and driver.
pub fn adapter(gpu: &Gpu) -> BenchAdapter {
    let adapter = &gpu.device().adapter;
    BenchAdapter {
        name: adapter.name.clone(),
        backend: adapter.backend.clone(),
        kind: adapter.kind.to_owned(),
        driver: adapter.driver.clone(),
        timestamps: adapter.timestamps,
    }
}

/// Times the work of `laneval bench` on a GPU, and adds the rows to those of the CPU.
pub fn rows(
    gpu: &Gpu,
    subject: &Subject,
    turns: &RoundRobin,
    found: &mut BenchRows,
) -> CliResult<()> {
    let loaded = match gpu.load(&subject.matrix) {
        Ok(loaded) => Some(loaded),
        Err(Error::Device(reason)) => {
            found.notes.push(format!("the labels do not stay on the GPU: {reason}"));
            None
        }
        Err(error) => return Err(error.into()),
    };
    let mut works = vec![six(gpu, gpu, subject)];
    if let Some(loaded) = &loaded {
        subject
            .check("gpu, labels resident", &subject.six.evaluate_on(loaded, &subject.matrix)?)?;
        works.push(six(gpu, loaded, subject));
        let resident = subject.six.resident(loaded)?;
        subject.check_averages("gpu, averages only", &resident.averages()?)?;
        works.push(BenchTask::with_clock(move || {
            kernels(gpu, || resident.averages().map(|averages| _ = black_box(averages)))
        }));
        for at in 0..subject.folds.names().len() {
            works.push(BenchTask::with_clock(move || {
                kernels(gpu, || subject.folds.run(at, loaded, &subject.matrix))
            }));
        }
        // Last, because the time of sending labels is read from the last work.
        works
            .push(BenchTask::new(|| gpu.load(&subject.matrix).map(|loaded| _ = black_box(loaded))));
    }
    turns.run_all(&mut works)?;

    let bytes = subject.matrix.tile_bytes().len() as u64;
    let copied = gpu.copy()?;
    found.rows.push(moved("copy on the GPU", copied.bytes, copied.seconds));
    if let (Some(_), Some(up)) = (&loaded, works.last()) {
        let seconds = up.wall.as_secs_f64();
        found.rows.push(TimedRow::from_transfer("labels to the GPU", "gpu", bytes, seconds));
    }
    // One evaluation shows how many bytes its answers have; then only their transfer is timed.
    let before = gpu.timings().down;
    subject.six.evaluate_on(gpu, &subject.matrix)?;
    let down = gpu.timings().down - before;
    let answers = gpu.read_back(down)?;
    found.rows.push(moved("answers from the GPU", answers.bytes, answers.seconds));

    let device = bytes as f64 * copied.seconds / copied.bytes as f64;
    let mut timed = GpuBench { subject, cpu: found.rows.clone(), device, rows: &mut found.rows };
    timed.add(SIX, SIX, "gpu, end to end", &works[0]);
    if loaded.is_some() {
        timed.add(SIX, SIX, "gpu, labels resident", &works[1]);
        timed.add(SIX, SIX, "gpu, averages only", &works[2]);
        for (fold, work) in subject.folds.names().zip(&works[3..]) {
            timed.add(FOLD, fold, "gpu, labels resident", work);
        }
    }
    Ok(())
}

fn moved(what: &str, bytes: u64, seconds: f64) -> TimedRow {
    TimedRow::from_transfer(what, "gpu", bytes, seconds)
}

/// A collector of the rows of `laneval bench` on a GPU, with the CPU rows that they are compared
/// with.
struct GpuBench<'a> {
    subject: &'a Subject,
    cpu: Vec<TimedRow>,
    /// The seconds that the device would take to read all labels as fast as it copies.
    device: f64,
    rows: &'a mut Vec<TimedRow>,
}

impl GpuBench<'_> {
    /// Adds the row of a work that was timed on the GPU, and one of its kernels alone if the device
    /// times them.
    fn add(&mut self, group: &'static str, what: &str, engine: &str, work: &BenchTask<'_>) {
        // The last such row is that of the best level on all threads.
        let on_cpu = self.cpu.iter().rfind(|row| row.what == what).map(|row| row.seconds);
        let kernels = work.own.map(|time| (format!("{engine}: kernels"), time));
        for (engine, time) in [(engine.to_owned(), work.wall)].into_iter().chain(kernels) {
            let seconds = time.as_secs_f64();
            self.rows.push(TimedRow {
                bandwidth_share: Some(self.device / seconds),
                cpu_over_gpu: on_cpu.map(|on_cpu| on_cpu / seconds),
                ..TimedRow::new(self.subject, group, what, &engine, seconds)
            });
        }
    }
}

fn six<'a>(gpu: &'a Gpu, engine: &'a impl Engine, subject: &'a Subject) -> BenchTask<'a> {
    BenchTask::with_clock(move || {
        kernels(gpu, || {
            subject.six.evaluate_on(engine, &subject.matrix).map(|scores| _ = black_box(scores))
        })
    })
}

/// Runs `work` on a GPU, and returns the time that its kernels took, if the device reports it.
fn kernels(gpu: &Gpu, work: impl FnOnce() -> Result<(), Error>) -> Result<Option<Duration>, Error> {
    let before = gpu.timings().kernels;
    work()?;
    let spent = gpu.timings().kernels - before;
    Ok((!spent.is_zero()).then_some(spent))
}
