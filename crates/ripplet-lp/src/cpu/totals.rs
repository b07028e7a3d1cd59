//! What the program wants kept for every label: members, or their summed degrees.

use super::lists::Lists;
use crate::hash::{Clock, Stream, mix};
use crate::{Label, LabelTotal};
use rayon::prelude::*;
use ripplet_graph::VertexId;
use std::collections::TryReserveError;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// The totals of all labels; empty where the program wants none.
pub(super) struct Totals {
    pub of_label: Vec<AtomicU32>,
    pub grand: u64,
    share: Share,
}

/// What a vertex adds to its label's total.
#[derive(Clone, Copy)]
enum Share {
    One,
    /// Its weighted degree in units of 2^shift, rounded by a hash.
    Strength {
        shift: u32,
        key: u32,
    },
}

impl Totals {
    /// The totals of these labels.
    pub fn new(
        kept: LabelTotal,
        lists: &Lists<'_>,
        labels: &[AtomicU32],
        seed: u64,
    ) -> Result<Totals, TryReserveError> {
        let vertices = 0..labels.len() as u32;
        let share = match kept {
            LabelTotal::None => {
                return Ok(Totals { of_label: Vec::new(), grand: 0, share: Share::One });
            }
            LabelTotal::Members => Share::One,
            LabelTotal::Volume => {
                let strengths = vertices.clone().into_par_iter().map(|v| lists.of(v).strength());
                Share::strength_of_all(strengths.sum(), seed)
            }
        };
        let mut of_label = Vec::new();
        of_label.try_reserve_exact(labels.len())?;
        of_label.par_extend(vertices.clone().into_par_iter().map(|_| AtomicU32::new(0)));
        let add = |v: VertexId| {
            let share = share.of(v, lists);
            of_label[labels[v as usize].load(Relaxed) as usize].fetch_add(share, Relaxed);
            u64::from(share)
        };
        let grand = vertices.into_par_iter().map(add).sum();
        Ok(Totals { of_label, grand, share })
    }

    /// Moves what `v` adds from one label to another.
    #[inline]
    pub fn shift(&self, v: VertexId, lists: &Lists<'_>, from: Label, to: Label) {
        if !self.of_label.is_empty() {
            let share = self.share.of(v, lists);
            self.of_label[from as usize].fetch_sub(share, Relaxed);
            self.of_label[to as usize].fetch_add(share, Relaxed);
        }
    }
}

impl Share {
    /// Exact while the sum of all degrees fits 32 bits; else half of that, as rounding may add.
    fn strength_of_all(sum: u64, seed: u64) -> Share {
        let shift = if sum <= u64::from(u32::MAX) { 0 } else { 33 - sum.leading_zeros() };
        Share::Strength { shift, key: Clock::new(seed, 0).key(Stream::Volume as u32) }
    }

    #[inline]
    fn of(self, v: VertexId, lists: &Lists<'_>) -> u32 {
        match self {
            Share::One => 1,
            Share::Strength { shift: 0, .. } => lists.of(v).strength() as u32,
            Share::Strength { shift, key } => {
                let dither = u64::from(mix(v ^ key)) & ((1 << shift) - 1);
                ((lists.of(v).strength() + dither) >> shift) as u32
            }
        }
    }
}
