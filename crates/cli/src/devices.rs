//! `laneval devices`: lists the devices that can compute here, CPU and GPU adapters, and why others
//! cannot.

use std::io::Write;

use laneval::internals::{Cpu, Engine};

use super::{cli_error::CliResult, command_row::CommandRow, output::print_text, threads::Threads};

/// `laneval devices`.
pub const COMMAND: CommandRow = CommandRow {
    name: "devices",
    first: "List CPU features and GPUs",
    more: "`--adapter` takes the number or a part of the name of a GPU adapter. A software adapter \
        is a GPU that the CPU emulates: it serves tests, is slower than the CPU engine, and is \
        used only when named.",
    examples: &["laneval devices"],
    page: "gpu.md",
    run: |_| run(),
    ..CommandRow::NEW
};

/// Runs `laneval devices`: prints the CPU with its SIMD, and the GPU adapters.
fn run() -> CliResult<()> {
    Threads::default().install(|| {
        print_text(true, |to| {
            writeln!(to, "{}", Cpu::new().describe())?;
            gpus(to)
        })
    })
}

#[cfg(feature = "gpu")]
fn gpus(to: &mut dyn Write) -> std::io::Result<()> {
    use super::style::comma_list;
    use laneval::gpu::adapters;
    let found = adapters();
    if found.is_empty() {
        writeln!(to, "no GPU: neither Vulkan, Metal nor DirectX 12 has an adapter")?;
    }
    for (at, adapter) in found.iter().enumerate() {
        writeln!(to, "gpu {at}: {}", adapter.name)?;
        writeln!(to, "    kind      {}, by {}", adapter.kind, adapter.backend)?;
        writeln!(to, "    driver    {}", adapter.driver)?;
        let (binding, buffer) = (adapter.binding_bytes >> 20, adapter.buffer_bytes >> 20);
        writeln!(
            to,
            "    limits    buffers of {buffer} MiB, of which a shader sees {binding} MiB"
        )?;
        let features = [
            adapter.timestamps.then_some("timestamps (for `laneval bench`)"),
            adapter.integers64.then_some("integers of 64 bits"),
        ];
        let features = comma_list(features.into_iter().flatten());
        let features = if features.is_empty() { "none needed" } else { &features };
        writeln!(to, "    features  {features}")?;
        let usable = match &adapter.unusable {
            Some(why) => format!("no: {why}"),
            None if adapter.is_software() => "only when named, as it is software".to_owned(),
            None => "yes".to_owned(),
        };
        writeln!(to, "    usable    {usable}")?;
    }
    Ok(())
}

#[cfg(not(feature = "gpu"))]
fn gpus(to: &mut dyn Write) -> std::io::Result<()> {
    writeln!(to, "no GPU: laneval was built without its GPU engine (feature `gpu`)")
}
