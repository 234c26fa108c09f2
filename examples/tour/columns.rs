//! Evaluates data in memory: a log of rankings as columns, in the layouts of Arrow, without any
//! text.
//!
//! `cargo run --example tour columns`

use laneval::columns::{IdColumn, Integers, QrelsColumns, RunColumns};
use laneval::{Dialect, Evaluator, Join, Qrels};

/// Evaluates, and prints.
pub fn main() -> laneval::Result<()> {
    // The judgments: three searches, products by number, grades from 0 to 2.
    let searches = ["red shoes", "rain coat", "red shoes", "tent", "tent"];
    let judged =
        QrelsColumns::new(&searches, &[1001u32, 2002, 1003, 3001, 3002], &[2u8, 1, 0, 1, 2]);
    let qrels = Qrels::columns(&[judged], Dialect::Laneval)?;

    // The results: searches as codes of a dictionary, products as integers, scores as 32-bit
    // floats; two batches of a log. The second batch has a dictionary of its own, and continues the
    // search with which the first ends.
    let first = IdColumn::from(&["red shoes", "rain coat"]);
    let codes = IdColumn::Dictionary { codes: Integers::from(&[0u8, 0, 0, 1]), values: &first };
    let first = RunColumns::scored(codes, &[1001u32, 1002, 1003, 2001], &[0.9f32, 0.8, 0.7, 0.6]);
    let second = IdColumn::Utf8 { offsets: &[0, 9, 13], bytes: b"rain coattent" };
    let codes = IdColumn::Dictionary { codes: Integers::from(&[0u8, 1, 1]), values: &second };
    let second =
        RunColumns::scored(codes, &[2002u32, 3001, 3002], &[0.5f32, f32::NEG_INFINITY, 0.3]);

    // The same searches in another system that logged ranks and no scores.
    let ranked = RunColumns::ranked(
        &["tent", "tent", "rain coat"],
        IdColumn::Strs(&["3001", "3002", "2002"]),
        &[2u16, 1, 1],
    );

    let matrix =
        Join::default().columns(&qrels, &[("shop", &[first, second]), ("rival", &[ranked])])?;
    let scores = Evaluator::new(["nDCG@10", "RR", "R@2"])?.evaluate(&matrix)?;
    for run in ["shop", "rival"] {
        let average = |measure| scores.average(run, measure).unwrap_or_default();
        println!(
            "{run:<6} nDCG@10 {:.4}  RR {:.4}  R@2 {:.4}",
            average("nDCG@10"),
            average("RR"),
            average("R@2")
        );
    }
    assert_eq!(scores.average("shop", "RR"), Some((1.0 + 0.5 + 1.0) / 3.0));
    assert_eq!(scores.average("rival", "R@2"), Some(2.0 / 3.0));
    Ok(())
}
