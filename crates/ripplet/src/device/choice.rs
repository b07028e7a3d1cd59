//! The choice of a device, and its text form.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Device that computes: the CPU, a GPU, or several GPUs that share the work.
///
/// The text forms are `auto`, `cpu`, `cuda` (which is `cuda:0`), `cuda:N` and `cuda:N,M,…`.
/// Results do not depend on the device, unless the schedule is not deterministic.
///
/// ```
/// use ripplet::Device;
///
/// let device: Device = "cuda:0,1".parse()?;
/// assert_eq!(device, Device::gpus([0, 1])?);
/// assert_eq!(device.to_string(), "cuda:0,1");
/// assert!("cuda:1,1".parse::<Device>().is_err());
/// # Ok::<(), ripplet::device::BadDevice>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Device(Choice);

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
enum Choice {
    #[default]
    Auto,
    Cpu,
    /// The numbers of GPUs: at least one, and no number twice.
    Cuda(Vec<usize>),
}

/// Error of a text or list that is no device.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum BadDevice {
    /// The text has none of the forms.
    #[error("expected auto, cpu, cuda, cuda:N or cuda:N,M,…")]
    Text,
    /// A GPU is listed twice.
    #[error("GPU {0} is named twice")]
    Twice(usize),
    /// The list has no GPU.
    #[error("no GPU is named")]
    NoGpu,
}

impl Device {
    /// Returns the choice of the first GPU if it works and the run fits its memory, and of the CPU
    /// otherwise. This is the default.
    pub const fn auto() -> Device {
        Device(Choice::Auto)
    }

    /// Returns the choice of the CPU.
    pub const fn cpu() -> Device {
        Device(Choice::Cpu)
    }

    /// Returns the choice of one GPU by its number, in the order of `ripplet devices`.
    pub fn cuda(number: usize) -> Device {
        Device(Choice::Cuda(vec![number]))
    }

    /// Returns the choice of several GPUs that share each run.
    ///
    /// # Errors
    /// If there is no number, or a number twice.
    pub fn gpus(numbers: impl IntoIterator<Item = usize>) -> Result<Device, BadDevice> {
        let numbers: Vec<usize> = numbers.into_iter().collect();
        if numbers.is_empty() {
            return Err(BadDevice::NoGpu);
        }
        match (1..numbers.len()).find(|&at| numbers[..at].contains(&numbers[at])) {
            Some(at) => Err(BadDevice::Twice(numbers[at])),
            None => Ok(Device(Choice::Cuda(numbers))),
        }
    }

    /// Returns whether the choice is `auto`, which allows the CPU to do what a GPU cannot.
    pub fn is_auto(&self) -> bool {
        self.0 == Choice::Auto
    }

    /// Returns whether the choice is the CPU.
    pub fn is_cpu(&self) -> bool {
        self.0 == Choice::Cpu
    }

    /// Returns the numbers of the GPUs to open: none for the CPU, the first GPU for `auto`.
    pub fn numbers(&self) -> &[usize] {
        match &self.0 {
            Choice::Cpu => &[],
            Choice::Auto => &[0],
            Choice::Cuda(numbers) => numbers,
        }
    }
}

impl FromStr for Device {
    type Err = BadDevice;

    fn from_str(text: &str) -> Result<Device, BadDevice> {
        let number = |text: &str| text.parse().ok().filter(|_| !text.starts_with('+'));
        match text {
            "auto" => Ok(Device::auto()),
            "cpu" => Ok(Device::cpu()),
            "cuda" => Ok(Device::cuda(0)),
            _ => {
                let list = text.strip_prefix("cuda:").ok_or(BadDevice::Text)?;
                let numbers: Option<Vec<usize>> = list.split(',').map(number).collect();
                Device::gpus(numbers.ok_or(BadDevice::Text)?)
            }
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Choice::Auto => f.write_str("auto"),
            Choice::Cpu => f.write_str("cpu"),
            Choice::Cuda(numbers) => write!(f, "cuda:{}", listed(numbers)),
        }
    }
}

/// Returns numbers with commas between them.
pub(super) fn listed(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    numbers.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_devices_and_texts_again() {
        for (text, shown) in
            [("auto", "auto"), ("cpu", "cpu"), ("cuda", "cuda:0"), ("cuda:3,0", "cuda:3,0")]
        {
            let device: Device = text.parse().unwrap();
            assert_eq!(device.to_string(), shown);
            assert_eq!(shown.parse(), Ok(device));
        }
        for bad in ["", "gpu", "cuda:", "cuda:-1", "cuda:+1", "cuda:1,", "CPU", "cuda:1.5"] {
            assert_eq!(bad.parse::<Device>(), Err(BadDevice::Text), "{bad}");
        }
        assert_eq!("cuda:1,2,1".parse::<Device>(), Err(BadDevice::Twice(1)));
        assert_eq!(Device::gpus([]), Err(BadDevice::NoGpu));
    }

    #[test]
    fn the_cpu_opens_no_gpu() {
        assert_eq!(Device::cpu().numbers(), &[] as &[usize]);
        assert_eq!(Device::auto().numbers(), [0]);
        assert_eq!(Device::cuda(2).numbers(), [2]);
        assert_eq!(Device::default(), Device::auto());
    }
}
