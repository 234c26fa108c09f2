//! The rows of a GPU: the six measures with labels sent up and resident, each fold, and the rates
//! at which bytes move.

use std::hint::black_box;
use std::time::Duration;

use laneval::Error;
use laneval::gpu::{Choice, Gpu};
use laneval::internals::Engine;

use super::measure::{BenchRows, FOLD, SIX, Subject, TimedRow};
use super::report::BenchAdapter;
use super::turns::{Turns, Work};
use crate::stop::Stop;

/// Opens an adapter, and has it evaluate the six measures for the first time; returns the reason if
/// that fails.
pub fn open(subject: &Subject, adapter: Option<&str>) -> Result<Result<Gpu, String>, Stop> {
    let first = || {
        let gpu = Gpu::open(adapter.map_or(Choice::Hardware, Choice::Named))?;
        let scores = subject.six.evaluate_on(&gpu, &subject.matrix)?;
        Ok((gpu, scores))
    };
    match first() {
        Ok((gpu, scores)) => subject.check("gpu", &scores).map(|()| Ok(gpu)),
        Err(Error::Device(reason)) if adapter.is_none() => Ok(Err(reason)),
        Err(error) => Err(error.into()),
    }
}

/// Describes the adapter of an open GPU.
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

/// Adds the rows of a GPU to those of the CPU.
pub fn rows(
    gpu: &Gpu,
    subject: &Subject,
    turns: &Turns,
    found: &mut BenchRows,
) -> Result<(), Stop> {
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
        let averages = move || resident.averages().map(|averages| _ = black_box(averages));
        works.push(Work::with_clock(move || kernels(gpu, &averages)));
        for at in 0..subject.folds.names().len() {
            let fold = move || subject.folds.run(at, loaded, &subject.matrix);
            works.push(Work::with_clock(move || kernels(gpu, fold)));
        }
        works.push(Work::new(|| gpu.load(&subject.matrix).map(|loaded| _ = black_box(loaded))));
    }
    turns.take(&mut works)?;

    let bytes = subject.matrix.tile_bytes().len() as u64;
    let copied = gpu.copy()?;
    found.rows.push(moved("copy on the GPU", copied.bytes, copied.seconds));
    if let (Some(_), Some(up)) = (&loaded, works.last()) {
        found.rows.push(TimedRow::moving("labels to the GPU", "gpu", bytes, up.wall.as_secs_f64()));
    }
    let before = gpu.spent().down;
    subject.six.evaluate_on(gpu, &subject.matrix)?;
    let down = gpu.spent().down - before;
    let answers = gpu.bring_back(down)?;
    found.rows.push(moved("answers from the GPU", answers.bytes, answers.seconds));

    let device = bytes as f64 * copied.seconds / copied.bytes as f64;
    let mut timed = Timed { subject, cpu: found.rows.clone(), device, rows: &mut found.rows };
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
    TimedRow::moving(what, "gpu", bytes, seconds)
}

/// A maker of rows of times on a GPU.
struct Timed<'a> {
    subject: &'a Subject,
    cpu: Vec<TimedRow>,
    /// The seconds that the device would take to read all labels as fast as it copies.
    device: f64,
    rows: &'a mut Vec<TimedRow>,
}

impl Timed<'_> {
    /// Adds a row of the whole work, and one of its kernels if the device can time them.
    fn add(&mut self, group: &'static str, what: &str, engine: &str, work: &Work<'_>) {
        // The last such row is that of the best level on all threads.
        let on_cpu = self.cpu.iter().rfind(|row| row.what == what).map(|row| row.seconds);
        let mut push = |engine: &str, time: Duration| {
            let seconds = time.as_secs_f64();
            let row = TimedRow::new(self.subject, group, what, engine, seconds);
            self.rows.push(TimedRow {
                bandwidth_share: Some(self.device / seconds),
                cpu_over_gpu: on_cpu.map(|on_cpu| on_cpu / seconds),
                ..row
            });
        };
        push(engine, work.wall);
        work.own.into_iter().for_each(|kernels| push(&format!("{engine}: kernels"), kernels));
    }
}

fn six<'a>(gpu: &'a Gpu, engine: &'a impl Engine, subject: &'a Subject) -> Work<'a> {
    let evaluate =
        || subject.six.evaluate_on(engine, &subject.matrix).map(|scores| _ = black_box(scores));
    Work::with_clock(move || kernels(gpu, evaluate))
}

/// Runs `work`, and returns the time in kernels, if the device reports it.
fn kernels(gpu: &Gpu, work: impl FnOnce() -> Result<(), Error>) -> Result<Option<Duration>, Error> {
    let before = gpu.spent().kernels;
    work()?;
    let spent = gpu.spent().kernels - before;
    Ok((!spent.is_zero()).then_some(spent))
}
