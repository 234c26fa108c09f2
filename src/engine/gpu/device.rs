//! GPU adapters and open devices. A driver's refusal becomes an error and never a panic.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

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
    /// Whether the GPU is a program on the CPU.
    pub fn is_software(&self) -> bool {
        self.kind == SOFTWARE
    }
}

const SOFTWARE: &str = "software";

/// The choice of an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice<'a> {
    /// The most powerful adapter that is not software.
    #[default]
    Hardware,
    /// The adapter with this number in [`adapters`], or the first with this text in its name;
    /// software too.
    Named(&'a str),
}

/// Lists all adapters of this machine. Without a driver, the list is empty.
pub fn adapters() -> Vec<Adapter> {
    found().iter().map(describe).collect()
}

/// Returns the adapters of Vulkan, Metal and DirectX 12 in the order of wgpu; `WGPU_BACKEND`
/// restricts the backends.
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
        wgpu::DeviceType::DiscreteGpu => "discrete GPU",
        wgpu::DeviceType::IntegratedGpu => "integrated GPU",
        wgpu::DeviceType::VirtualGpu => "virtual GPU",
        wgpu::DeviceType::Cpu => SOFTWARE,
        wgpu::DeviceType::Other => "other",
    };
    let needed = wgpu::Limits::downlevel_defaults();
    let flags = adapter.get_downlevel_capabilities().flags;
    let unusable = if !flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS) {
        Some("it runs no compute shaders".to_owned())
    } else if limits.max_storage_buffers_per_shader_stage < STORAGE_BUFFERS {
        Some(format!(
            "a shader sees at most {} buffers, and {STORAGE_BUFFERS} are needed",
            limits.max_storage_buffers_per_shader_stage
        ))
    } else if limits.max_storage_buffer_binding_size < needed.max_storage_buffer_binding_size {
        Some(format!(
            "a shader sees at most {} bytes of a buffer",
            limits.max_storage_buffer_binding_size
        ))
    } else {
        None
    };
    Adapter {
        driver: [info.driver, info.driver_info].join(" ").trim().to_owned(),
        name: info.name,
        backend: info.backend.to_string(),
        kind,
        binding_bytes: limits.max_storage_buffer_binding_size,
        buffer_bytes: limits.max_buffer_size,
        timestamps: adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY),
        integers64: adapter.features().contains(wgpu::Features::SHADER_INT64),
        unusable,
    }
}

/// The number of storage buffers that the largest kernel sees.
const STORAGE_BUFFERS: u32 = 6;

/// The adapter of a choice.
fn choose(choice: Choice, found: Vec<wgpu::Adapter>) -> Result<(wgpu::Adapter, Adapter)> {
    let described: Vec<Adapter> = found.iter().map(describe).collect();
    let names: Vec<String> = described.iter().map(|adapter| adapter.name.clone()).collect();
    let seen = if names.is_empty() {
        "none was found".to_owned()
    } else {
        format!("found: {}", names.join(", "))
    };
    let at = match choice {
        Choice::Named(name) => {
            let number = name.parse().ok().filter(|&at: &usize| at < described.len());
            let wanted = name.to_lowercase();
            let by_name = || names.iter().position(|of| of.to_lowercase().contains(&wanted));
            let at = number.or_else(by_name);
            at.ok_or_else(|| Error::Device(format!("no GPU adapter is named `{name}`: {seen}")))?
        }
        Choice::Hardware => {
            let rank = |kind: &str| match kind {
                "discrete GPU" => Some(0),
                "integrated GPU" => Some(1),
                "virtual GPU" => Some(2),
                SOFTWARE => None,
                _ => Some(3),
            };
            let usable =
                described.iter().enumerate().filter(|(_, adapter)| adapter.unusable.is_none());
            let best = usable.filter_map(|(at, adapter)| Some((rank(adapter.kind)?, at))).min();
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
        None => found.into_iter().nth(at).map(|of| (of, adapter)).ok_or(Error::Device(seen)),
    }
}

/// An open device. Errors outside of a call are kept until a caller asks, and each pipeline is made
/// only once.
pub struct Device {
    /// The adapter of the device.
    pub adapter: Adapter,
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    failure: Arc<Mutex<Option<String>>>,
    pipelines: Mutex<HashMap<String, wgpu::ComputePipeline>>,
    pub(super) folds: wgpu::BindGroupLayout,
    pub(super) judged: wgpu::BindGroupLayout,
    pub(super) reduce: wgpu::BindGroupLayout,
}

impl Device {
    /// Opens a device of the chosen adapter.
    ///
    /// # Errors
    /// No adapter that fits the choice, an unusable adapter, or a refusal of the driver.
    pub fn open(choice: Choice) -> Result<Self> {
        let (found, adapter) = choose(choice, found())?;
        let (limits, wanted) =
            (found.limits(), wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::SHADER_INT64);
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("laneval"),
            required_features: found.features() & wanted,
            required_limits: wgpu::Limits {
                max_storage_buffer_binding_size: limits.max_storage_buffer_binding_size,
                max_buffer_size: limits.max_buffer_size,
                max_storage_buffers_per_shader_stage: STORAGE_BUFFERS,
                ..wgpu::Limits::downlevel_defaults()
            },
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) =
            pollster::block_on(found.request_device(&descriptor)).map_err(|error| {
                Error::Device(format!("{} cannot be opened: {error}", adapter.name))
            })?;
        Ok(Self::of(adapter, device, queue))
    }

    /// Takes a device that is open already.
    pub fn of(adapter: Adapter, device: wgpu::Device, queue: wgpu::Queue) -> Self {
        let failure = Arc::new(Mutex::new(None));
        let note = |failure: Arc<Mutex<Option<String>>>| {
            move |message: String| {
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
            }
        };
        let (uncaptured, lost) = (note(failure.clone()), note(failure.clone()));
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
        Device {
            adapter,
            device,
            queue,
            failure,
            pipelines: Mutex::default(),
            folds,
            judged,
            reduce,
        }
    }

    /// Makes the shaders use integers made of pairs of words, whether the device has those of 64
    /// bits or not.
    pub fn with_pairs(mut self) -> Self {
        self.adapter.integers64 = false;
        self
    }

    /// Makes the pipeline of a shader with one of the layouts.
    ///
    /// # Errors
    /// The driver refuses the shader.
    pub(super) fn pipeline(
        &self,
        source: &str,
        layout: &wgpu::BindGroupLayout,
    ) -> Result<wgpu::ComputePipeline> {
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
        self.check()?;
        pipelines.insert(source.to_owned(), pipeline.clone());
        Ok(pipeline)
    }

    /// Makes a buffer that is not mapped.
    pub(super) fn buffer(&self, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let size = size.max(16).next_multiple_of(16);
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    }

    /// Makes a buffer with these words for shaders to read.
    pub(super) fn words(&self, words: &[u32]) -> wgpu::Buffer {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let buffer = self.buffer(size_of_val(words) as u64, usage);
        self.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(words));
        buffer
    }

    /// Binds buffers to the bindings of a layout.
    pub(super) fn bind(
        &self,
        layout: &wgpu::BindGroupLayout,
        buffers: &[(u32, &wgpu::Buffer)],
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

    /// Submits commands; these buffers are mapped when the commands are done.
    ///
    /// # Errors
    /// Whatever has gone wrong on the device until then.
    pub(super) fn submit<'b>(
        &self,
        commands: wgpu::CommandEncoder,
        buffers: impl IntoIterator<Item = (&'b wgpu::Buffer, wgpu::MapMode)>,
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

    /// Waits until commands are done and their buffers mapped.
    ///
    /// # Errors
    /// As [`Device::submit`].
    pub(super) fn finish(
        &self,
        PendingCommands { submission, mapped, mappings }: PendingCommands,
    ) -> Result<()> {
        self.wait(submission)?;
        for _ in 0..mappings {
            let answer = mapped.recv().map_err(|error| self.failed(&error.to_string()))?;
            answer.map_err(|error| self.failed(&error.to_string()))?;
        }
        Ok(())
    }

    /// Waits until a submission is done.
    ///
    /// # Errors
    /// Whatever has gone wrong on the device until then.
    pub(super) fn wait(&self, submission: wgpu::SubmissionIndex) -> Result<()> {
        let timeout = Some(Duration::from_secs(600));
        let polled =
            self.device.poll(wgpu::PollType::Wait { submission_index: Some(submission), timeout });
        self.check()?;
        polled.map(drop).map_err(|error| self.failed(&error.to_string()))
    }

    /// Returns the error of the device, if one has occurred.
    pub(super) fn check(&self) -> Result<()> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.as_ref().map_or(Ok(()), |message| Err(self.failed(message)))
    }

    /// Makes an error of this device.
    pub(super) fn failed(&self, message: &str) -> Error {
        Error::Device(format!("{}: {}", self.adapter.name, message.trim()))
    }
}

/// Commands under way, with the buffers to map when the commands are done.
pub(super) struct PendingCommands {
    submission: wgpu::SubmissionIndex,
    mapped: mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
    mappings: usize,
}

/// The layout of a shader: binding 0 is a uniform, some of the others are written to.
fn layout(device: &wgpu::Device, bindings: &[u32], written: &[u32]) -> wgpu::BindGroupLayout {
    let entry = |&binding: &u32| wgpu::BindGroupLayoutEntry {
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
    };
    let entries: Vec<_> = bindings.iter().map(entry).collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &entries,
    })
}
