//! The timings of the CPU in `laneval bench`: reading the labels, six measures together, and each
//! fold alone. A fold is a computation over the ranks of every ranking, such as a count of hits.

use std::hint::black_box;

use laneval::EngineChoice;
use laneval::internals::Cpu;
use rayon::prelude::*;

use super::measure::{FOLD, MEMORY, SIX, Subject, TimedRow};
use super::round_robin::{BenchTask, RoundRobin};
use crate::cli_error::{CliError, CliResult};

/// The most labels over which the plain formulas are timed. The plain formulas are the reference
/// engine, which would take too long over more labels.
pub const PLAIN_LABELS: u64 = 200_000_000;

/// The key of a row of `laneval bench`: its group, the work that is timed, and the engine.
type BenchRowKey = (&'static str, String, String);

/// A number of bytes that the caches of a usual processor do not hold: 256 MiB.
const BEYOND_CACHES: usize = 256 << 20;

/// Times the CPU's work in `laneval bench` on the current thread pool, and returns a row for each
/// work. On one thread, every SIMD level and the plain formulas are timed too.
pub fn rows(subject: &Subject, turns: &RoundRobin) -> CliResult<Vec<TimedRow>> {
    let threads = rayon::current_num_threads();
    let matrix = &subject.matrix;
    let bytes = matrix.tile_bytes();
    let best = Cpu::new();
    let plain = &subject.six.clone().with_engine(EngineChoice::Reference);
    let mut names: Vec<BenchRowKey> = vec![(MEMORY, "read labels".to_owned(), "cpu".to_owned())];
    let mut works = vec![BenchTask::new(|| {
        read_all(bytes);
        Ok(())
    })];
    if threads == 1 && subject.labels <= PLAIN_LABELS {
        // The scores are checked here and not in the timed closure, because no row may include
        // the time of the check. The evaluation here also maps the pages of a file into memory.
        subject.check("reference", &plain.evaluate(matrix)?)?;
        names.push((SIX, SIX.to_owned(), "reference".to_owned()));
        works.push(BenchTask::new(|| plain.evaluate(matrix).map(|scores| _ = black_box(scores))));
    }

    let levels = if threads == 1 { Cpu::levels() } else { vec![best] };
    for cpu in levels.into_iter().rev() {
        subject.check(&cpu.name(), &subject.six.evaluate_on(&cpu, matrix)?)?;
        names.push((SIX, SIX.to_owned(), cpu.name()));
        works.push(BenchTask::new(move || {
            subject.six.evaluate_on(&cpu, matrix).map(|scores| _ = black_box(scores))
        }));
    }
    for (at, fold) in subject.folds.names().enumerate() {
        names.push((FOLD, fold.to_owned(), best.name()));
        works.push(BenchTask::new(move || subject.folds.run(at, &best, matrix)));
    }
    turns.run_all(&mut works)?;
    let read = works[0].wall.as_secs_f64();
    let mut rows = Vec::from_iter(memory(bytes.len(), turns)?);
    for ((group, what, engine), work) in names.into_iter().zip(&works) {
        let seconds = work.wall.as_secs_f64();
        rows.push(match group {
            MEMORY => TimedRow::from_transfer(&what, &engine, bytes.len() as u64, seconds),
            _ => TimedRow {
                bandwidth_share: Some(read / seconds),
                ..TimedRow::new(subject, group, &what, &engine, seconds)
            },
        });
    }
    Ok(rows)
}

/// Times reading 256 MiB of memory, which caches usually do not hold. Returns `None` if the labels
/// are as large: then reading the labels already times the memory. `labels` is their size in bytes.
fn memory(labels: usize, turns: &RoundRobin) -> CliResult<Option<TimedRow>> {
    if labels >= BEYOND_CACHES {
        return Ok(None);
    }
    // The bytes are ones: memory that is asked for as zeros may take no place until it is changed,
    // and reading such memory would be too fast.
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(BEYOND_CACHES).map_err(|_| {
        CliError::new(format!("there are no {} MiB of memory to measure", BEYOND_CACHES >> 20))
    })?;
    bytes.resize(BEYOND_CACHES, 1);
    let mut work = [BenchTask::new(|| {
        read_all(&bytes);
        Ok(())
    })];
    turns.run_all(&mut work)?;
    Ok(Some(TimedRow::from_transfer(
        "read memory",
        "cpu",
        BEYOND_CACHES as u64,
        work[0].wall.as_secs_f64(),
    )))
}

/// Reads the labels once on all threads, without computing a measure, to time the memory.
fn read_all(labels: &[u8]) {
    const PIECE: usize = 1 << 20;
    let cpu = Cpu::new();
    // `Cpu::read` returns a number that depends on all vectors of the labels. `black_box` uses the
    // number: otherwise the compiler would remove the reads.
    black_box(labels.par_chunks(PIECE).map(|labels| cpu.read(labels)).reduce(|| 0, |a, b| a ^ b));
}
