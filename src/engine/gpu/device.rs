//! GPU adapters of this machine and open GPU devices, through wgpu. A driver's refusal becomes an
//! error and never a panic.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use wgpu::{
    BindGroupLayout, Buffer, BufferUsages, CommandEncoder, ComputePipeline, DeviceType, Features,
    Limits,
};

use super::sources::with_native_integers;
use crate::error::{Error, Result};

/// A GPU, or a program that acts as a GPU, as described by its driver.
#[derive(Debug, Clone)]
pub struct Adapter {
    /// The name, such as `NVIDIA H100` or `llvmpipe (LLVM 15.0.6, 256 bits)`.
    pub name: String,
    /// `vulkan`, `metal` or `dx12`.
    pub backend: String,
    /// `discrete GPU`, `integrated GPU`, `virtual GPU`, `software` or `other`.
    pub kind: &'static str,
    /// The driver and its version.
    pub driver: String,
    /// The largest buffer that a shader can see, in bytes.
    pub binding_bytes: u64,
    /// The largest buffer, in bytes.
    pub buffer_bytes: u64,
    /// Whether kernel times can be measured.
    pub timestamps: bool,
    /// Whether shaders have integers of 64 bits.
    pub integers64: bool,
    /// The reason why the adapter is unusable; `None` if laneval can use the adapter.
    pub unusable: Option<String>,
}

impl Adapter {
    /// Returns whether the GPU is a program on the CPU.
    pub fn is_software(&self) -> bool {
        self.kind == SOFTWARE
    }

    /// Returns the order of preference of the adapter by its kind, 0 for a discrete GPU; `None` for
    /// software.
    fn rank(&self) -> Option<u8> {
        match self.kind {
            "discrete GPU" => Some(0),
            "integrated GPU" => Some(1),
            "virtual GPU" => Some(2),
            SOFTWARE => None,
            _ => Some(3),
        }
    }
}

const SOFTWARE: &str = "software";

/// The choice of a GPU adapter: the most powerful hardware, or an adapter by number or name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AdapterChoice<'a> {
    /// The most powerful adapter that is not software.
    #[default]
    Hardware,
    /// The adapter with this number in [`adapters`], or the first with this text in its name;
    /// software too.
    Named(&'a str),
}

/// Lists all GPU adapters of this machine. Without a driver, the list is empty.
pub fn adapters() -> Vec<Adapter> {
    found().iter().map(describe).collect()
}

/// Returns the wgpu adapters of this machine (Vulkan, Metal, DirectX 12), in the order of wgpu;
/// `WGPU_BACKEND` restricts the backends.
fn found() -> Vec<wgpu::Adapter> {
    let backends = wgpu::Backends::PRIMARY.with_env();
    let descriptor = wgpu::InstanceDescriptor {
        backends,
        ..wgpu::InstanceDescriptor::new_without_display_handle_from_env()
    };
    pollster::block_on(wgpu::Instance::new(descriptor).enumerate_adapters(backends))
}

fn describe(adapter: &wgpu::Adapter) -> Adapter {
    let (info, limits) = (adapter.get_info(), adapter.limits());
    let kind = match info.device_type {
        DeviceType::DiscreteGpu => "discrete GPU",
        DeviceType::IntegratedGpu => "integrated GPU",
        DeviceType::VirtualGpu => "virtual GPU",
        DeviceType::Cpu => SOFTWARE,
        DeviceType::Other => "other",
    };
    let needed = Limits::downlevel_defaults().max_storage_buffer_binding_size;
    let binding_bytes = limits.max_storage_buffer_binding_size;
    let buffers = limits.max_storage_buffers_per_shader_stage;
    let flags = adapter.get_downlevel_capabilities().flags;
    let unusable = if !flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS) {
        Some("it runs no compute shaders".to_owned())
    } else if buffers < STORAGE_BUFFERS {
        Some(format!("a shader sees at most {buffers} buffers, and {STORAGE_BUFFERS} are needed"))
    } else if binding_bytes < needed {
        Some(format!("a shader sees at most {binding_bytes} bytes of a buffer"))
    } else {
        None
    };
    Adapter {
        driver: [info.driver, info.driver_info].join(" ").trim().to_owned(),
        name: info.name,
        backend: info.backend.to_string(),
        kind,
        binding_bytes,
        buffer_bytes: limits.max_buffer_size,
        timestamps: adapter.features().contains(Features::TIMESTAMP_QUERY),
        integers64: adapter.features().contains(Features::SHADER_INT64),
        unusable,
    }
}

/// The number of storage buffers that the largest kernel sees.
const STORAGE_BUFFERS: u32 = 6;

/// Returns the GPU adapter that a choice selects among those found, or an error with the reason.
fn choose(choice: AdapterChoice, found: Vec<wgpu::Adapter>) -> Result<(wgpu::Adapter, Adapter)> {
    let described: Vec<Adapter> = found.iter().map(describe).collect();
    let names: Vec<String> = described.iter().map(|adapter| adapter.name.clone()).collect();
    let seen = if names.is_empty() {
        "none was found".to_owned()
    } else {
        format!("found: {}", names.join(", "))
    };
    let at = match choice {
        AdapterChoice::Named(name) => {
            let number = name.parse().ok().filter(|&at: &usize| at < described.len());
            let at = number.or_else(|| {
                let wanted = name.to_lowercase();
                names.iter().position(|candidate| candidate.to_lowercase().contains(&wanted))
            });
            at.ok_or_else(|| Error::Device(format!("no GPU adapter is named `{name}`: {seen}")))?
        }
        AdapterChoice::Hardware => {
            let usable =
                described.iter().enumerate().filter(|(_, adapter)| adapter.unusable.is_none());
            // Pairs are compared by rank first, so equal adapters keep the driver's order.
            let best = usable.filter_map(|(at, adapter)| Some((adapter.rank()?, at))).min();
            let hint = if described.iter().any(Adapter::is_software) {
                "; software adapters are used only when named by --adapter"
            } else {
                ""
            };
            best.ok_or_else(|| Error::Device(format!("there is no GPU to use ({seen}{hint})")))?.1
        }
    };
    let adapter = described[at].clone();
    match &adapter.unusable {
        Some(why) => Err(Error::Device(format!("{} cannot be used: {why}", adapter.name))),
        None => {
            found.into_iter().nth(at).map(|handle| (handle, adapter)).ok_or(Error::Device(seen))
        }
    }
}

/// An open GPU device, with its queue, its compiled pipelines and its first failure. Errors outside
/// of a call are kept until a caller asks, and each pipeline is made only once.
pub struct Device {
    /// The adapter of the device.
    pub adapter: Adapter,
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    failure: Arc<Mutex<Option<String>>>,
    pipelines: Mutex<HashMap<String, ComputePipeline>>,
    pub(super) folds: BindGroupLayout,
    pub(super) judged: BindGroupLayout,
    pub(super) reduce: BindGroupLayout,
}

impl Device {
    /// Opens a GPU device of the chosen adapter.
    ///
    /// # Errors
    /// No adapter that fits the choice, an unusable adapter, or a refusal of the driver.
    pub fn open(choice: AdapterChoice) -> Result<Self> {
        let (found, adapter) = choose(choice, found())?;
        let (limits, wanted) = (found.limits(), Features::TIMESTAMP_QUERY | Features::SHADER_INT64);
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("laneval"),
            required_features: found.features() & wanted,
            required_limits: Limits {
                max_storage_buffer_binding_size: limits.max_storage_buffer_binding_size,
                max_buffer_size: limits.max_buffer_size,
                max_storage_buffers_per_shader_stage: STORAGE_BUFFERS,
                ..Limits::downlevel_defaults()
            },
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) =
            pollster::block_on(found.request_device(&descriptor)).map_err(|error| {
                Error::Device(format!("{} cannot be opened: {error}", adapter.name))
            })?;
        Ok(Self::from_open(adapter, device, queue))
    }

    /// Wraps a wgpu device and its queue that are open already.
    pub fn from_open(adapter: Adapter, device: wgpu::Device, queue: wgpu::Queue) -> Self {
        let failure = Arc::new(Mutex::new(None));
        let (uncaptured, lost) = (note_in(&failure), note_in(&failure));
        device
            .on_uncaptured_error(Arc::new(move |error: wgpu::Error| uncaptured(error.to_string())));
        device.set_device_lost_callback(move |reason, message| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                lost(format!("the device was lost: {message}"));
            }
        });
        let folds = layout(&device, &[0, 1, 2, 3, 4, 5, 6], &[6]);
        let judged = layout(&device, &[0, 1, 2, 7], &[7]);
        let reduce = layout(&device, &[0, 1, 2, 3, 4], &[4]);
        Self { adapter, device, queue, failure, pipelines: Mutex::default(), folds, judged, reduce }
    }

    /// Makes the shaders use 64-bit integers made of pairs of words, even if the device has native
    /// ones.
    pub fn with_pairs(mut self) -> Self {
        self.adapter.integers64 = false;
        self
    }

    /// Compiles a shader into a compute pipeline with one of the layouts, or returns the pipeline
    /// compiled earlier.
    ///
    /// # Errors
    /// The driver refuses the shader.
    pub(super) fn pipeline(
        &self,
        source: &str,
        layout: &BindGroupLayout,
    ) -> Result<ComputePipeline> {
        // The lock is held while a shader is compiled, so that no shader is compiled twice.
        let mut pipelines = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = pipelines.get(source) {
            return Ok(pipeline.clone());
        }
        let native = self.adapter.integers64.then(|| with_native_integers(source));
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(native.as_deref().unwrap_or(source).into()),
        });
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(layout)],
            immediate_size: 0,
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        // The check comes first: a refused pipeline must not be found by a later call.
        self.check()?;
        pipelines.insert(source.to_owned(), pipeline.clone());
        Ok(pipeline)
    }

    /// Makes an encoder for commands to the GPU.
    pub(super) fn encoder(&self) -> CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }

    /// Makes a GPU buffer of at least `size` bytes that is not mapped into host memory.
    pub(super) fn buffer(&self, size: u64, usage: BufferUsages) -> Buffer {
        // A binding of no bytes is an error, and a program without inputs has an empty buffer.
        let size = size.max(16).next_multiple_of(16);
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    }

    /// Makes a GPU buffer that holds the given words, for shaders to read.
    pub(super) fn words(&self, words: &[u32]) -> Buffer {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let buffer = self.buffer(size_of_val(words) as u64, usage);
        self.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(words));
        buffer
    }

    /// Makes a bind group that binds GPU buffers to the numbered bindings of a layout.
    pub(super) fn bind(
        &self,
        layout: &BindGroupLayout,
        buffers: &[(u32, &Buffer)],
    ) -> wgpu::BindGroup {
        let entries = buffers.iter().map(|&(binding, buffer)| wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        });
        let entries: Vec<_> = entries.collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout,
            entries: &entries,
        })
    }

    /// Submits commands to the GPU; the given buffers are mapped when the commands are done.
    ///
    /// # Errors
    /// Whatever has gone wrong on the device until then.
    pub(super) fn submit<'b>(
        &self,
        commands: CommandEncoder,
        buffers: impl IntoIterator<Item = (&'b Buffer, wgpu::MapMode)>,
    ) -> Result<PendingCommands> {
        let (send, mapped) = mpsc::channel();
        let mut mappings = 0;
        for (buffer, mode) in buffers {
            let send = send.clone();
            // The receiver is gone only if the work was given up.
            commands.map_buffer_on_submit(buffer, mode, .., move |answer| drop(send.send(answer)));
            mappings += 1;
        }
        let submission = self.queue.submit([commands.finish()]);
        self.check()?;
        Ok(PendingCommands { submission, mapped, mappings })
    }

    /// Waits until submitted GPU commands are done and their buffers mapped.
    ///
    /// # Errors
    /// As [`Device::submit`].
    pub(super) fn finish(
        &self,
        PendingCommands { submission, mapped, mappings }: PendingCommands,
    ) -> Result<()> {
        self.wait(submission)?;
        for _ in 0..mappings {
            let answer = mapped.recv().map_err(|error| self.failed(error))?;
            answer.map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    /// Waits until a submission to the GPU is done.
    ///
    /// # Errors
    /// Whatever has gone wrong on the device until then.
    pub(super) fn wait(&self, submission: wgpu::SubmissionIndex) -> Result<()> {
        let timeout = Some(Duration::from_secs(600));
        let polled =
            self.device.poll(wgpu::PollType::Wait { submission_index: Some(submission), timeout });
        self.check()?;
        polled.map(drop).map_err(|error| self.failed(error))
    }

    /// Returns an error if the GPU device has failed since it was opened.
    pub(super) fn check(&self) -> Result<()> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.as_ref().map_or(Ok(()), |message| Err(self.failed(message)))
    }

    /// Makes an error with the name of the GPU adapter and a cause.
    pub(super) fn failed(&self, cause: impl Display) -> Error {
        Error::Device(format!("{}: {}", self.adapter.name, cause.to_string().trim()))
    }
}

/// Returns a callback that stores a message as the failure of a GPU device, unless one is stored
/// already.
fn note_in(failure: &Arc<Mutex<Option<String>>>) -> impl Fn(String) + use<> {
    let failure = failure.clone();
    // The first failure is kept, because later failures mostly follow from the first.
    move |message| {
        failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
    }
}

/// GPU commands under way, with the buffers to map when the commands are done.
pub(super) struct PendingCommands {
    submission: wgpu::SubmissionIndex,
    mapped: mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
    mappings: usize,
}

/// Returns the bind group layout of a shader: binding 0 is a uniform, the others are storage
/// buffers, some of which are written to.
fn layout(device: &wgpu::Device, bindings: &[u32], written: &[u32]) -> BindGroupLayout {
    let entries = bindings.iter().map(|&binding| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: match binding {
                0 => wgpu::BufferBindingType::Uniform,
                binding => {
                    wgpu::BufferBindingType::Storage { read_only: !written.contains(&binding) }
                }
            },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    });
    let entries: Vec<_> = entries.collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &entries,
    })
}
