//! Steps: which collective of a run a message belongs to.

use std::fmt;

/// A kind of collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Collective {
    /// A message from each rank to each rank.
    AllToAll = 1,
    /// One message of each rank to all.
    AllGather = 2,
    /// A combination of values of all ranks.
    AllReduce = 3,
    /// A point that no rank passes before all have reached it.
    Barrier = 4,
}

impl Collective {
    /// Returns the kind of a number.
    pub(crate) fn of(number: u32) -> Option<Collective> {
        use Collective::{AllGather, AllReduce, AllToAll, Barrier};
        [AllToAll, AllGather, AllReduce, Barrier].into_iter().find(|&kind| kind as u32 == number)
    }
}

/// The place of a collective in a run: its number, kind, and what it is for.
///
/// Every message carries it, and a receiver compares it with its own: ranks that call collectives
/// in different order, or with other types, get [`CommError::OutOfStep`](crate::CommError::OutOfStep) instead of each other's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of collectives before it.
    pub number: u64,
    /// The kind.
    pub collective: Collective,
    /// A short name of its purpose, padded with zeros.
    pub purpose: [u8; Step::PURPOSE],
    /// The bytes of a value.
    pub value_bytes: u32,
}

impl Step {
    /// The most bytes of a purpose.
    pub const PURPOSE: usize = 16;

    /// Creates a step; a longer purpose is cut.
    pub fn new(number: u64, collective: Collective, purpose: &str, value_bytes: usize) -> Step {
        let mut short = [0; Step::PURPOSE];
        short.iter_mut().zip(purpose.bytes()).for_each(|(to, from)| *to = from);
        Step {
            number,
            collective,
            purpose: short,
            value_bytes: u32::try_from(value_bytes).unwrap_or(u32::MAX),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.collective {
            Collective::AllToAll => "all-to-all",
            Collective::AllGather => "all-gather",
            Collective::AllReduce => "all-reduce",
            Collective::Barrier => "barrier",
        };
        let purpose: Vec<u8> = self.purpose.iter().copied().take_while(|&byte| byte > 0).collect();
        let purpose = String::from_utf8_lossy(&purpose);
        let purpose = purpose.replace(|character: char| character.is_control(), "?");
        write!(f, "{kind} {} ({purpose}, {} bytes a value)", self.number, self.value_bytes)
    }
}
