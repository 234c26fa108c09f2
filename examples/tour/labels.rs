//! A recommender's top ten: which of the ten items that each user was shown the user then took, and
//! how many items the user took in all.
//!
//! `cargo run --release --example tour labels`

use laneval::arrays::{Ideal, Rankings, Shape};
use laneval::{Evaluator, Stat, StatName};

const USERS: usize = 10_000;
const SHOWN: usize = 10;

/// Evaluates, and prints.
pub fn main() -> laneval::Result<()> {
    // The data of a program: one byte for each item shown, the best first, and one count for each
    // user.
    let mut random = 1u64;
    let mut next = move || {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize
    };
    let taken: Vec<bool> =
        (0..USERS * SHOWN).map(|at| next() % (8 + 2 * (at % SHOWN)) == 0).collect();
    let of_user =
        |user: usize| taken[user * SHOWN..][..SHOWN].iter().filter(|&&taken| taken).count();
    let in_all: Vec<u32> = (0..USERS).map(|user| (of_user(user) + next() % 4) as u32).collect();

    let rankings = Rankings::labels(taken.as_slice(), Shape::dense(SHOWN))?
        .with_ideal(Ideal::Relevant((&in_all).into()))?;
    let scores =
        Evaluator::new(["nDCG@10", "R@10", "RR"])?.with_stats([Stat::Ci95]).rankings(&rankings)?;

    let run = &scores.runs[0];
    println!("{} users", run.queries);
    for (at, measure) in scores.measures.iter().enumerate() {
        let stat = |name| run.stat(at, name).unwrap_or(f64::NAN);
        let (low, high) = (stat(StatName::Ci95Low), stat(StatName::Ci95High));
        println!("{measure:8} {:.4}  ({low:.4} to {high:.4})", stat(StatName::Mean));
    }
    Ok(())
}
