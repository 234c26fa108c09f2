//! The examples run, and their assertions hold.

#[path = "../examples/tour/columns.rs"]
mod columns;
#[path = "../examples/tour/ids.rs"]
mod ids;
#[path = "../examples/tour/labels.rs"]
mod labels;
#[path = "../examples/tour/run_stream.rs"]
mod run_stream;
#[path = "../examples/tour/scores.rs"]
mod scores;
#[path = "../examples/tour/stream.rs"]
mod stream;

#[test]
fn they_run() {
    for example in
        [columns::main, ids::main, labels::main, run_stream::main, scores::main, stream::main]
    {
        example().unwrap();
    }
}
