//! The examples run, and their assertions hold.

#[path = "../examples/columns.rs"]
mod columns;
#[path = "../examples/ids.rs"]
mod ids;
#[path = "../examples/labels.rs"]
mod labels;
#[path = "../examples/run_stream.rs"]
mod run_stream;
#[path = "../examples/scores.rs"]
mod scores;
#[path = "../examples/stream.rs"]
mod stream;

#[test]
fn they_run() {
    for example in [columns::main, ids::main, labels::main, run_stream::main, scores::main, stream::main] {
        example().unwrap();
    }
}
