//! Retrieval for questions: the passages that answer each question, and those that an index
//! returned, by their numbers.
//!
//! `cargo run --release --example tour ids`

use laneval::Evaluator;
use laneval::arrays::Rankings;

/// Evaluates, and prints.
pub fn main() -> laneval::Result<()> {
    let answers: [&[u64]; 4] = [&[1042], &[77, 78], &[9], &[500, 501, 502]];
    let returned = [[1042u64, 3, 8, 12], [5, 78, 6, 77], [1, 2, 3, 4], [501, 9, 500, 7]];

    let rankings = Rankings::ids(&answers, &returned)?;
    let scores = Evaluator::new(["Success@1", "R@4", "RR", "nDCG@4"])?.rankings(&rankings)?;
    for (measure, stats) in scores.measures.iter().zip(&scores.runs[0].stats) {
        println!("{measure:10} {:.4}", stats[0].1);
    }
    Ok(())
}
