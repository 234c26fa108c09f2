//! The examples run, and show what they say.

#[path = "../examples/ids.rs"]
mod ids;
#[path = "../examples/labels.rs"]
mod labels;
#[path = "../examples/scores.rs"]
mod scores;
#[path = "../examples/stream.rs"]
mod stream;

#[test]
fn they_run() {
    for (name, example) in [
        ("ids", ids::main as fn() -> laneval::Result<()>),
        ("labels", labels::main),
        ("scores", scores::main),
        ("stream", stream::main),
    ] {
        example().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
