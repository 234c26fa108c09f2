//! The examples run, and their answers are what they assert.

#[path = "../examples/columns.rs"]
mod columns;
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
    let examples: [(&str, fn() -> laneval::Result<()>); 5] = [
        ("columns", columns::main),
        ("ids", ids::main),
        ("labels", labels::main),
        ("scores", scores::main),
        ("stream", stream::main),
    ];
    for (name, example) in examples {
        example().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
