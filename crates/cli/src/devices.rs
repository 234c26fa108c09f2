//! `laneval devices`: the devices that can compute here, and why others cannot.

use std::io::Write;

use clap::Args;
use laneval::internals::{Cpu, Engine};

use super::output::print_text;
use super::stop::Stop;
use super::threads::Threads;

/// List what can compute: the CPU with its SIMD, and GPU adapters.
///
/// `--adapter` takes the number or a part of the name of an adapter. A software adapter is a GPU
/// that the CPU emulates: it serves tests, is slower than the CPU engine, and is used only when
/// named.
#[derive(Debug, Args)]
pub struct Devices {}

impl Devices {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        Threads::default().install(|| {
            print_text(true, |to| {
                writeln!(to, "{}", Cpu::new().describe())?;
                gpus(to)
            })
        })
    }
}

#[cfg(feature = "gpu")]
fn gpus(to: &mut dyn Write) -> std::io::Result<()> {
    use laneval::gpu::adapters;
    let found = adapters();
    if found.is_empty() {
        writeln!(to, "no GPU: neither Vulkan, Metal nor DirectX 12 has an adapter")?;
    }
    for (at, adapter) in found.iter().enumerate() {
        let mebibytes = |bytes: u64| format!("{} MiB", bytes >> 20);
        writeln!(to, "gpu {at}: {}", adapter.name)?;
        let mut tell = |what: &str, text: &str| writeln!(to, "    {what:<9} {text}");
        tell("kind", &format!("{}, by {}", adapter.kind, adapter.backend))?;
        tell("driver", &adapter.driver)?;
        let (binding, buffer) = (mebibytes(adapter.binding_bytes), mebibytes(adapter.buffer_bytes));
        tell("limits", &format!("buffers of {buffer}, of which a shader sees {binding}"))?;
        let features = [
            adapter.timestamps.then_some("timestamps (for `laneval bench`)"),
            adapter.integers64.then_some("integers of 64 bits"),
        ];
        let features: Vec<_> = features.into_iter().flatten().collect();
        tell(
            "features",
            if features.is_empty() { "none needed".to_owned() } else { features.join(", ") }
                .as_str(),
        )?;
        let usable = match &adapter.unusable {
            Some(why) => format!("no: {why}"),
            None if adapter.is_software() => "only when named, as it is software".to_owned(),
            None => "yes".to_owned(),
        };
        tell("usable", &usable)?;
    }
    Ok(())
}

#[cfg(not(feature = "gpu"))]
fn gpus(to: &mut dyn Write) -> std::io::Result<()> {
    writeln!(to, "no GPU: laneval was built without its GPU engine (feature `gpu`)")
}
