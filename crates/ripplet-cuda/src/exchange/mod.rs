//! How the devices of one process that share a run hear of one another.
//!
//! What they tell is written by kernels into letters, in the memory of whose letters they are
//! (`kernels/lp/exchange.cuh`); and where many vertices may change at once, into mirrors of them. There are three ways for
//! both to reach the others:
//!
//! | way | what happens | what it takes |
//! |---|---|---|
//! | [`Way::Direct`] | kernels read the others' memory, where the letters lie, and write the mirrors there | peer access between all devices; the host waits for nothing |
//! | [`Way::Carried`] | NCCL sends as many bytes as a letter has, or the mirror | a library; the host waits until it knows how many |
//! | [`Way::Copied`] | the driver copies as many bytes as a letter has, or the mirror | nothing; the host waits as well |
//!
//! The labels do not depend on the way.

mod meeting;

pub(crate) use meeting::{Ended, Meeting};

use crate::device::{DeviceError, Peer};
use std::fmt;

/// By which way letters reach other devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Kernels read them where they lie; mirrors, they write.
    Direct,
    /// NCCL sends them.
    Carried,
    /// The driver copies them.
    Copied,
}

impl Way {
    /// The name, as figures have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Way::Direct => "direct",
            Way::Carried => "nccl",
            Way::Copied => "copies",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A way that devices have, with what it takes.
pub(crate) enum Route<C> {
    Direct,
    Carried(C),
    Copied,
}

impl<C> Route<C> {
    /// The way it is.
    pub fn way(&self) -> Way {
        match self {
            Route::Direct => Way::Direct,
            Route::Carried(_) => Way::Carried,
            Route::Copied => Way::Copied,
        }
    }

    /// Whether letters are brought into the memory of who reads them.
    pub fn brings(&self) -> bool {
        !matches!(self, Route::Direct)
    }

    /// The way that was asked for, or the best that there is; and what a user should know of it.
    ///
    /// Direct is best: neither does the host wait in a phase, nor are letters copied. Where a carrier was asked
    /// for, or would be best, and there is none, the driver copies, which is noted.
    pub fn find<D: Peer<Carrier = C>>(
        devices: &[D],
        asked: Option<Way>,
    ) -> Result<(Route<C>, Option<String>), DeviceError> {
        let reach_all = reach_all(devices)?;
        match asked {
            Some(Way::Copied) => return Ok((Route::Copied, None)),
            None | Some(Way::Direct) if reach_all => return Ok((Route::Direct, None)),
            _ => {}
        }
        match D::carrier(devices) {
            Ok(carrier) => Ok((Route::Carried(carrier), None)),
            Err(why) => {
                let note = format!("GPUs exchange labels by copies of the driver: {why}");
                Ok((Route::Copied, Some(note)))
            }
        }
    }
}

/// Whether each device's kernels can read every other's memory. Where some can, the driver's copies between them
/// are quicker, too.
fn reach_all<D: Peer>(devices: &[D]) -> Result<bool, DeviceError> {
    let mut all = true;
    for (number, device) in devices.iter().enumerate() {
        for (other, peer) in devices.iter().enumerate() {
            all &= number == other || device.reach(peer)?;
        }
    }
    Ok(all)
}
