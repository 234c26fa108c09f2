//! The rows of the CPU: reading only, the six measures, each fold.

use std::hint::black_box;

use laneval::EngineChoice;
use laneval::internals::Cpu;
use rayon::prelude::*;

use super::measure::{FOLD, MEMORY, SIX, Subject, TimedRow};
use super::turns::{Turns, Work};
use crate::stop::Stop;

/// The most labels over which the plain formulas are timed.
pub const PLAIN_LABELS: u64 = 200_000_000;

/// The group of a row, the work that is timed, and the engine.
type Name = (&'static str, String, String);

/// A number of bytes that no cache holds.
const BEYOND_CACHES: usize = 256 << 20;

/// Times the rows on as many threads as the current pool has; on one thread, also those of all
/// levels of SIMD and of the plain formulas.
pub fn rows(subject: &Subject, turns: &Turns) -> Result<Vec<TimedRow>, Stop> {
    let threads = rayon::current_num_threads();
    let matrix = &subject.matrix;
    let bytes = matrix.tile_bytes();
    let best = Cpu::new();
    let plain = &subject.six.clone().with_engine(EngineChoice::Reference);
    let mut names: Vec<Name> = vec![(MEMORY, "read labels".to_owned(), "cpu".to_owned())];
    let mut works = vec![Work::new(|| {
        read_all(bytes);
        Ok(())
    })];
    if threads == 1 && subject.labels <= PLAIN_LABELS {
        // Checked apart from being timed: comparing belongs to no row. It also warms the caches,
        // and maps the pages of a file.
        subject.check("reference", &plain.evaluate(matrix)?)?;
        names.push((SIX, SIX.to_owned(), "reference".to_owned()));
        works.push(Work::new(|| plain.evaluate(matrix).map(|scores| _ = black_box(scores))));
    }
    let levels = if threads == 1 { Cpu::levels() } else { vec![best] };
    for cpu in levels.into_iter().rev() {
        subject.check(&cpu.name(), &subject.six.evaluate_on(&cpu, matrix)?)?;
        names.push((SIX, SIX.to_owned(), cpu.name()));
        works.push(Work::new(move || {
            subject.six.evaluate_on(&cpu, matrix).map(|scores| _ = black_box(scores))
        }));
    }
    for (at, fold) in subject.folds.names().enumerate() {
        names.push((FOLD, fold.to_owned(), best.name()));
        works.push(Work::new(move || subject.folds.run(at, &best, matrix)));
    }
    turns.take(&mut works)?;
    let read = works[0].wall.as_secs_f64();
    let row = |((group, what, engine), work): (Name, &Work<'_>)| {
        let seconds = work.wall.as_secs_f64();
        match group {
            MEMORY => TimedRow::moving(&what, &engine, bytes.len() as u64, seconds),
            _ => TimedRow {
                bandwidth_share: Some(read / seconds),
                ..TimedRow::new(subject, group, &what, &engine, seconds)
            },
        }
    };
    let rows = names.into_iter().zip(&works).map(row);
    Ok(memory(bytes.len(), turns)?.into_iter().chain(rows).collect())
}

/// Times reading memory; `labels` is the number of bytes of the labels, which may lie in a cache.
fn memory(labels: usize, turns: &Turns) -> Result<Option<TimedRow>, Stop> {
    if labels >= BEYOND_CACHES {
        return Ok(None);
    }
    // The bytes are ones, for zeros would not be in memory until they are changed.
    let mut bytes = Vec::new();
    let refused =
        |_| Stop::new(format!("there are no {} MiB of memory to measure", BEYOND_CACHES >> 20));
    bytes.try_reserve_exact(BEYOND_CACHES).map_err(refused)?;
    bytes.resize(BEYOND_CACHES, 1);
    let mut work = [Work::new(|| {
        read_all(&bytes);
        Ok(())
    })];
    turns.take(&mut work)?;
    Ok(Some(TimedRow::moving(
        "read memory",
        "cpu",
        BEYOND_CACHES as u64,
        work[0].wall.as_secs_f64(),
    )))
}

/// Reads every label once.
fn read_all(labels: &[u8]) {
    const PIECE: usize = 1 << 20;
    let cpu = Cpu::new();
    // `black_box`, or the reads of a number that nobody looks at would be removed. Their xor needs
    // every byte.
    black_box(labels.par_chunks(PIECE).map(|labels| cpu.read(labels)).reduce(|| 0, |a, b| a ^ b));
}
