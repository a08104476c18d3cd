//! The only module that knows backends: which devices there are, and what each is good for.
//!
//! `flex` is burn's CPU backend and the default without a GPU; `ndarray` is its predecessor,
//! deprecated upstream, selectable while it exists. `wgpu` (burn's WGSL path) and `cuda` are
//! compiled in by the features of those names. `auto` is the first GPU that answers, else `flex`, or
//! what its caller measures to be the fastest of those; where the system shows no GPU, `auto` asks no
//! driver, as it would take none in software.
//!
//! `wgpu` is Vulkan, Metal or DirectX 12. OpenGL is not among them: its drivers in software answer
//! a small sum, and then panic in the middle of work.

use std::sync::Arc;
#[cfg(feature = "wgpu")]
use std::sync::OnceLock;

use burn::tensor::Device;
#[cfg(any(feature = "ndarray", feature = "wgpu", feature = "cuda"))]
use burn::tensor::Tensor;
#[cfg(feature = "wgpu")]
use burn::tensor::wgpu::WgpuBackend;
pub use probity_run::device_name::{DeviceName, UnknownDevice};
#[cfg(any(feature = "wgpu", feature = "cuda"))]
use probity_run::guard::guarded;
#[cfg(any(feature = "ndarray", feature = "wgpu", feature = "cuda"))]
use probity_run::guard::guarded_with_threads;
#[cfg(feature = "wgpu")]
use probity_run::guard::silenced;
use thiserror::Error;

/// Why a device cannot be used.
#[derive(Debug, Error)]
pub enum DeviceError {
    /// The build lacks the backend.
    #[error("this build of probity has no '{device}' support; build it with --features {device}")]
    NotBuilt {
        /// The device asked for.
        device: DeviceName,
    },
    /// The backend is built in but no device answers.
    #[error("no {device} device answers on this machine ({problem}); use the device auto or flex")]
    NotAnswering {
        /// The device asked for.
        device: DeviceName,
        /// The message of the backend.
        problem: String,
    },
    /// The thread pool cannot be made.
    #[error("cannot start {threads} threads: {problem}")]
    Threads {
        /// The number of threads asked for.
        threads: usize,
        /// The message of the thread pool.
        problem: String,
    },
}

/// A device that answered.
#[derive(Debug, Clone)]
pub struct ComputeDevice {
    name: DeviceName,
    device: Device,
    /// Why it was chosen, where it was chosen among several.
    choice: Option<Arc<str>>,
}

impl ComputeDevice {
    /// The CPU device that every build has.
    pub fn flex() -> ComputeDevice {
        ComputeDevice {
            name: DeviceName::Flex,
            device: Device::flex(),
            choice: None,
        }
    }

    /// Opens the devices that `auto` may take: the GPUs that answer, and the CPU after them.
    pub fn candidates() -> Vec<ComputeDevice> {
        Self::gpus().chain([Self::flex()]).collect()
    }

    /// Opens one GPU after another that answers, but for drivers in software.
    fn gpus() -> impl Iterator<Item = ComputeDevice> {
        let gpus = [DeviceName::Cuda, DeviceName::Wgpu].into_iter();
        let gpus = gpus.filter(|_| has_gpu());
        let gpus = gpus.filter_map(|gpu| Self::open(gpu).ok());
        gpus.filter(|gpu| !gpu.is_software())
    }

    /// Opens the device called `name` and makes it compute something small.
    ///
    /// # Errors
    /// When the backend is not built in or no device answers.
    pub fn open(name: DeviceName) -> Result<ComputeDevice, DeviceError> {
        match name {
            DeviceName::Auto => Ok(Self::gpus().next().unwrap_or_else(Self::flex)),
            DeviceName::Flex => Ok(Self::flex()),
            #[cfg(feature = "ndarray")]
            #[allow(deprecated)] // selectable while upstream keeps it
            DeviceName::Ndarray => answering(name, || Ok(Device::ndarray())),
            #[cfg(feature = "wgpu")]
            DeviceName::Wgpu => answering(name, wgpu),
            #[cfg(feature = "cuda")]
            DeviceName::Cuda => answering(name, || Ok(Device::cuda(0))),
            #[cfg(not(all(feature = "ndarray", feature = "wgpu", feature = "cuda")))]
            device => Err(DeviceError::NotBuilt { device }),
        }
    }

    /// The name of the device; never `auto`.
    pub fn name(&self) -> DeviceName {
        self.name
    }

    /// The burn device.
    pub fn burn(&self) -> &Device {
        &self.device
    }

    /// Returns what the hardware calls itself, where the backend says so.
    pub fn hardware(&self) -> String {
        #[cfg(any(feature = "wgpu", feature = "cuda"))]
        if self.is_gpu()
            && let Ok(Some(identity)) = guarded(|| self.device.identity())
        {
            return identity.name;
        }
        "CPU".to_owned()
    }

    /// Returns this device with the reason why it was chosen among others.
    #[must_use]
    pub fn chosen_because(self, reason: String) -> ComputeDevice {
        ComputeDevice {
            choice: Some(reason.into()),
            ..self
        }
    }

    /// The reason why the device was chosen, where it was chosen among several.
    pub fn choice(&self) -> Option<&str> {
        self.choice.as_deref()
    }

    /// Returns what the hardware calls itself, and why it was chosen, where it was.
    pub fn description(&self) -> String {
        match &self.choice {
            Some(choice) => format!("{}; {choice}", self.hardware()),
            None => self.hardware(),
        }
    }

    /// Whether the device belongs to a GPU backend.
    pub fn is_gpu(&self) -> bool {
        matches!(self.name, DeviceName::Wgpu | DeviceName::Cuda)
    }

    /// Whether a GPU backend runs on the CPU after all (a software driver): right for tests, far
    /// slower than flex for work.
    fn is_software(&self) -> bool {
        let hardware = self.hardware().to_lowercase();
        ["llvmpipe", "lavapipe", "swiftshader", "softpipe"]
            .iter()
            .any(|software| hardware.contains(software))
    }

    /// The height of the tiles that batches of burn operations are cut into. The height is fixed
    /// for a device: it is part of what makes results independent of batch size. A CPU tile stays
    /// in the first-level cache; a GPU tile is worth its launch.
    pub fn tile_rows(&self) -> usize {
        if self.is_gpu() { 4096 } else { 128 }
    }
}

/// Whether the system shows a GPU that a driver could be for. Only Linux says so in files.
fn has_gpu() -> bool {
    let Some(files) = cfg!(target_os = "linux").then(|| std::fs::read_dir("/dev")) else {
        return true;
    };
    files.map_or(true, |files| {
        let names = files.flatten().map(|file| file.file_name());
        names
            .into_iter()
            .any(|name| is_gpu_file(&name.to_string_lossy()))
    })
}

/// Whether the file called `name` in `/dev` belongs to a GPU: the files of the kernel, NVIDIA, WSL,
/// AMD, and boards.
fn is_gpu_file(name: &str) -> bool {
    const GPUS: [&str; 8] = [
        "dri", "nvidia", "dxg", "kfd", "nvhost", "nvmap", "mali", "kgsl",
    ];
    GPUS.iter().any(|gpu| name.starts_with(gpu))
}

/// Returns the device that `make` gives, if it can compute. Backends report a missing driver by a
/// panic, which must not reach the user; its message becomes the error's.
#[cfg(any(feature = "ndarray", feature = "wgpu", feature = "cuda"))]
fn answering(
    name: DeviceName,
    make: impl FnOnce() -> Result<Device, String>,
) -> Result<ComputeDevice, DeviceError> {
    let answer = guarded_with_threads(|| {
        let device = make()?;
        let sum = Tensor::<1>::from_floats([1.0, 2.0], &device).sum();
        sum.try_into_data()
            .map_err(|error| error.to_string())
            .map(|_| device)
    });
    let problem = match answer {
        Ok(Ok(device)) => {
            return Ok(ComputeDevice {
                name,
                device,
                choice: None,
            });
        }
        Ok(Err(problem)) | Err(problem) => problem,
    };
    let first_line = problem.lines().next().unwrap_or_default().to_owned();
    Err(DeviceError::NotAnswering {
        device: name,
        problem: first_line,
    })
}

/// Opens the first adapter of Vulkan, Metal or DirectX 12. The adapter is opened once: the backend
/// keeps it, and opens none a second time.
#[cfg(feature = "wgpu")]
fn wgpu() -> Result<Device, String> {
    static OPENED: OnceLock<Result<Device, String>> = OnceLock::new();
    let open = || {
        let mut problems = Vec::new();
        for (name, api) in [
            ("Vulkan", WgpuBackend::Vulkan),
            ("Metal", WgpuBackend::Metal),
            ("DirectX 12", WgpuBackend::Dx12),
        ] {
            // Libraries that Vulkan loads print that there is no desktop.
            let opened = guarded(|| silenced(|| Device::wgpu_options().graphics_api(api).init()));
            match opened {
                Ok(Ok(device)) => return Ok(device),
                Ok(Err(problem)) => problems.push(format!("{name}: {problem}")),
                Err(panic) => problems.push(format!("{name}: {panic}")),
            }
        }
        Err(problems.join("; "))
    };
    OPENED.get_or_init(open).clone()
}

/// The number of threads that may always be asked for. The work is shared in a pool whose idle
/// threads look for work with each other: 256 take seconds to begin and to end on two cores, 1,024
/// a minute.
const THREADS: usize = 256;

/// The most threads that can be asked for: 256, or as many as the machine has cores where it has
/// more.
pub fn most_threads() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    cores.max(THREADS).min(u16::MAX.into())
}

/// Sets how many threads the CPU work uses; `None` leaves one a core. Results do not depend on it.
///
/// # Errors
/// When the pool cannot be started.
pub fn use_threads(threads: Option<usize>) -> Result<(), DeviceError> {
    if let Some(threads) = threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|error| DeviceError::Threads {
                threads,
                problem: error.to_string(),
            })?;
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Every device of this build that answers, flex first.
    pub(crate) fn answering_devices() -> Vec<ComputeDevice> {
        let names = DeviceName::ALL.into_iter();
        let named = names.filter(|&name| name != DeviceName::Auto);
        named
            .filter_map(|name| ComputeDevice::open(name).ok())
            .collect()
    }

    #[test]
    fn gpus_are_told_by_their_files() {
        for gpu in ["dri", "nvidia0", "nvidiactl", "dxg", "mali0"] {
            assert!(is_gpu_file(gpu), "{gpu}");
        }
        for other in ["null", "tty1", "drm_dp_aux0", "shm", "sda"] {
            assert!(!is_gpu_file(other), "{other}");
        }
    }

    #[test]
    fn flex_always_answers_and_auto_never_fails() {
        assert_eq!(
            ComputeDevice::open(DeviceName::Flex).unwrap().name(),
            DeviceName::Flex
        );
        assert_ne!(
            ComputeDevice::open(DeviceName::Auto).unwrap().name(),
            DeviceName::Auto
        );
    }
}
