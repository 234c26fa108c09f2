//! A run that is too large for memory: a search system passes its results batch by batch, and they
//! are evaluated as they come. Text from a pipe is read in the same way.
//!
//! `cargo run --release --example tour run_stream`

use laneval::columns::RunColumns;
use laneval::{Evaluator, Join, Qrels};

/// Returns the results of some queries, as a system gives them: the query, the document and the
/// score of each.
fn results(queries: std::ops::Range<u32>) -> (Vec<u32>, Vec<String>, Vec<f32>) {
    let ranks = queries.flat_map(|query| (0..100u32).map(move |rank| (query, rank)));
    let result = |(query, rank): (u32, u32)| {
        (query, (format!("d{}", query.wrapping_mul(7919) % 50 + rank), 1.0 / (rank + 1) as f32))
    };
    let (queries, (docs, scores)) = ranks.map(result).unzip();
    (queries, docs, scores)
}

/// Evaluates, and prints.
pub fn main() -> laneval::Result<()> {
    let judgments = (0..2_000u32).map(|query| (query.to_string(), format!("d{}", query % 60), 1.0));
    let qrels = Qrels::new(judgments)?;
    let evaluator = Evaluator::new(["RR", "R@20"])?;

    let mut stream = evaluator.run_stream(&Join::default(), &qrels, "columns")?;
    for first in (0..2_000).step_by(50) {
        let (queries, docs, scores) = results(first..first + 50);
        let docs: Vec<&str> = docs.iter().map(String::as_str).collect();
        stream.push(&RunColumns::scored(&queries, &docs, &scores))?;
    }
    let columns = stream.scores()?;

    // Any reader works: a pipe, a socket, standard input.
    let (queries, docs, scores) = results(0..2_000);
    let line = |at: usize| format!("{} Q0 {} 1 {} tag\n", queries[at], docs[at], scores[at]);
    let text: String = (0..queries.len()).map(line).collect();
    let mut stream = evaluator.run_stream(&Join::default(), &qrels, "text")?;
    stream.read(text.as_bytes())?;
    let text = stream.scores()?;

    for (at, measure) in columns.measures.iter().enumerate() {
        let [one, other] = [&columns, &text].map(|scores| scores.runs[0].average(at));
        assert_eq!(one, other);
        println!("{measure:5} {:.4}", one.unwrap_or(f64::NAN));
    }
    Ok(())
}
