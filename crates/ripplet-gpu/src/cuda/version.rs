//! Versions of CUDA.

use std::fmt;

/// A version of the driver's interface, or of NVRTC, such as 13.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Major version: 13 in 13.0.
    pub major: u32,
    /// Minor version: 0 in 13.0.
    pub minor: u32,
}

impl Version {
    /// Returns the version of the driver's number: 13020 is 13.2.
    pub(super) fn of_driver(number: i32) -> Version {
        let number = u32::try_from(number).unwrap_or(0);
        Version { major: number / 1000, minor: number % 1000 / 10 }
    }

    /// Whether a driver of this version runs machine code that an NVRTC made. Since CUDA 11, a
    /// driver runs code of all minor versions of its own major version, and of earlier ones.
    pub(super) fn runs_code_of(self, nvrtc: Version) -> bool {
        nvrtc.major <= self.major
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
