//! The command on a GPU: the same numbers as on the CPU.

use laneval::gpu::{AdapterChoice, Gpu};
use libtest_mimic::{Arguments, Failed, Trial};

/// Returns the test; it is ignored where there is no adapter.
pub fn trials(arguments: &Arguments) -> Vec<Trial> {
    let required = std::env::var_os("LANEVAL_REQUIRE_ADAPTER").is_some();
    let adapter = if arguments.list { Err("not looked for".to_owned()) } else { adapter() };
    let ignored = adapter.is_err() && !required;
    let run = move || the_command_computes_on_a_named_adapter(&adapter?);
    vec![
        Trial::test("adapter::the_command_computes_on_a_named_adapter", run)
            .with_ignored_flag(ignored),
    ]
}

/// Returns the name of the adapter.
fn adapter() -> Result<String, String> {
    let named = std::env::var("LANEVAL_ADAPTER").ok();
    let gpu = Gpu::open(AdapterChoice::Named(named.as_deref().unwrap_or("0")))
        .map_err(|error| error.to_string())?;
    Ok(gpu.device().adapter.name.clone())
}

/// Returns the command: `eval` says the same numbers as on the CPU, `bench` has the rows of the
/// adapter.
fn the_command_computes_on_a_named_adapter(name: &str) -> Result<(), Failed> {
    let run = |arguments: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_laneval"));
        command
            .args(arguments.split(' '))
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        if !arguments.contains("--engine cpu") {
            command.args(["--adapter", name]);
        }
        let output = command.output().expect("the command runs");
        assert!(
            output.status.success(),
            "{arguments}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let eval = "eval examples/data/demo.qrels examples/data/demo-bm25.run -m AP -m nDCG -m RR -m \
                P@10 -m Compat --format table";
    assert_eq!(run(&format!("{eval} --engine gpu")), run(&format!("{eval} --engine cpu")));
    let explained = run(&format!("{eval} --engine gpu --explain"));
    for expected in [
        "engine: gpu (",
        "PrecisionSum: in units of 2^-",
        "off by at most",
        "FirstRank: exact",
        "on the CPU, in f64",
    ] {
        assert!(explained.contains(expected), "{expected}: {explained}");
    }
    let bench = "bench --query-count 100 --results 50 --seconds 0";
    let text = run(bench);
    for expected in [
        "copy on the GPU",
        "labels to the GPU",
        "gpu, labels resident",
        "gpu, averages only",
        "CPU ÷ GPU",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&run(&format!("{bench} --format json"))).expect("JSON");
    assert!(json["adapter"]["name"].is_string() && json["no_adapter"].is_null(), "{json}");
    let rows = json["rows"].as_array().expect("rows");
    let resident: Vec<_> =
        rows.iter().filter(|row| row["engine"] == "gpu, labels resident").collect();
    assert_eq!(resident.len(), 11);
    assert!(
        resident.iter().all(|row| row["cpu_over_gpu"].as_f64().is_some_and(|ratio| ratio > 0.0))
    );
    Ok(())
}
