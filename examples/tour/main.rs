//! Rankings in memory, in six ways. `cargo run --example tour labels` shows one,
//! `cargo run --example tour` all.

mod columns;
mod ids;
mod labels;
mod run_stream;
mod scores;
mod stream;

/// An example, and its name.
type Example = (&'static str, fn() -> laneval::Result<()>);

const EXAMPLES: [Example; 6] = [
    ("columns", columns::main),
    ("ids", ids::main),
    ("labels", labels::main),
    ("run_stream", run_stream::main),
    ("scores", scores::main),
    ("stream", stream::main),
];

fn main() -> laneval::Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for word in &wanted {
        if EXAMPLES.iter().all(|(name, _)| name != word) {
            let names = EXAMPLES.map(|(name, _)| name).join(", ");
            eprintln!("no example is named {word:?}; there are {names}");
            std::process::exit(2);
        }
    }
    for (name, example) in EXAMPLES {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            example()?;
        }
    }
    Ok(())
}
