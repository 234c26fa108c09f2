//! A service that logs its rankings: batches are evaluated as they come, in memory that does not
//! grow, and the summary of a day is merged with those of other days.
//!
//! `cargo run --release --example tour stream`

use laneval::arrays::{Rankings, Shape};
use laneval::labels::Codebook;
use laneval::{Evaluator, Stat, StatName, Summary};

const SHOWN: usize = 10;

/// Returns a batch of rankings as it is logged: 0 for a result that was skipped, 1 for a click, 2
/// for a purchase.
fn batch(number: usize) -> Vec<u8> {
    let clicks = |at: usize| match at.wrapping_mul(2_654_435_761) >> 7 & 31 {
        0 => 2,
        1..4 => 1,
        _ => 0,
    };
    (0..2_000 * SHOWN).map(|at| clicks(number * 1_000_003 + at)).collect()
}

fn day(batches: std::ops::Range<usize>) -> laneval::Result<Summary> {
    // The grades are given beforehand.
    let mut stream =
        Evaluator::new(["nDCG@10", "RR(rel=2)"])?.stream(&Codebook::new([0.0, 1.0, 2.0])?)?;
    for number in batches {
        stream.push(&Rankings::labels(&batch(number), Shape::dense(SHOWN))?)?;
    }
    stream.finish()
}

/// Evaluates, and prints.
pub fn main() -> laneval::Result<()> {
    let mut week = day(0..20)?;
    week.merge(&day(20..50)?)?;
    let scores = week.scores(&[Stat::Std])?;
    let run = &scores.runs[0];
    println!("{} rankings", run.queries);
    for (at, measure) in scores.measures.iter().enumerate() {
        let stat = |name| run.stat(at, name).unwrap_or(f64::NAN);
        println!(
            "{measure:10} {:.4}, standard deviation {:.4}",
            stat(StatName::Mean),
            stat(StatName::Std)
        );
    }
    Ok(())
}
