//! A learning-to-rank validation: the model's scores of all candidates and their grades, one query
//! behind the other.
//!
//! `cargo run --release --example tour scores`

use laneval::Evaluator;
use laneval::arrays::{Rankings, Shape};

/// Evaluates, and prints.
pub fn main() -> laneval::Result<()> {
    // The layout of LightGBM, XGBoost and LETOR files: sizes of the queries, then a grade and a
    // prediction for each candidate.
    let sizes = [5u32, 3, 4];
    let grades = [0u8, 2, 1, 0, 0, 1, 0, 0, 3, 0, 1, 2];
    let predictions = [0.1f32, 0.9, 0.4, 0.5, -0.3, 0.2, 0.6, 0.1, 1.9, 0.3, 0.4, 1.2];

    let rankings = Rankings::scores(&predictions, &grades, Shape::sizes(&sizes))?;
    let scores = Evaluator::new(["nDCG(gain=exp2)@3", "AP", "ERR"])?
        .with_per_query(true)
        .rankings(&rankings)?;

    for row in scores.rows() {
        let label = row
            .query
            .map_or("all".to_owned(), |query| format!("query {}", String::from_utf8_lossy(query)));
        println!("{label:8} {:18} {:.4}", row.measure.to_string(), row.value);
    }
    // Only the candidates are known, so ideal rankings are made of them.
    println!("ideal rankings are made of the {} documents", scores.runs[0].ideal);
    Ok(())
}
