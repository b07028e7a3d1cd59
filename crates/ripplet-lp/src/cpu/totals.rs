//! Label totals: the number of members of every label, or their summed degrees.

use crate::ranks::RankTotals;
use crate::views::Total;
use crate::volume::VolumeUnit;
use crate::{Label, LabelTotal};
use rayon::prelude::*;
use ripplet_graph::VertexId;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::storage::VertexLists;
use ripplet_graph::tasks::MIN_LEN;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// The totals of all labels; empty if the program needs none.
pub(super) struct Totals {
    of_label: Vec<AtomicU32>,
    /// The sum over all vertices, including those without a label.
    pub grand: u64,
    /// An upper bound of every total, past and present.
    most: AtomicU32,
    share: Share,
}

/// The contribution of a vertex to its label's total.
enum Share {
    One,
    /// The weighted degree.
    Volume(VolumeUnit),
    /// A value for each vertex, on a rank, which has not the lists of all.
    Given(Vec<u32>),
    /// None: totals are [set](Totals::set).
    Elsewhere,
}

impl Totals {
    /// Computes the totals of these labels, or zeros if they are set later.
    pub fn new(
        kept: LabelTotal,
        lists: &VertexLists<'_>,
        labels: &[AtomicU32],
        seed: u64,
        on_rank: RankTotals,
    ) -> Result<Totals, OutOfMemory> {
        let given = match on_rank {
            RankTotals::OfAll { volumes } => volumes,
            RankTotals::Set { grand } if kept != LabelTotal::None => {
                let of_label = memory::collected(labels.iter().map(|_| AtomicU32::new(0)))?;
                let (most, share) = (AtomicU32::new(0), Share::Elsewhere);
                return Ok(Totals { of_label, grand, most, share });
            }
            RankTotals::Set { .. } => None,
        };
        let share = match kept {
            LabelTotal::None => {
                let (of_label, most) = (Vec::new(), AtomicU32::new(0));
                return Ok(Totals { of_label, grand: 0, most, share: Share::One });
            }
            LabelTotal::Members => Share::One,
            LabelTotal::Volume => match given {
                Some(given) => Share::Given(given),
                None => Share::Volume(VolumeUnit::for_all(lists.strength(), seed)),
            },
        };
        let is_own = |(v, label): (usize, &AtomicU32)| label.load(Relaxed) as usize == v;
        if labels.par_iter().enumerate().with_min_len(MIN_LEN).all(is_own) {
            let share_of = |v: usize| AtomicU32::new(share.of(v as VertexId, lists));
            let mut of_label: Vec<AtomicU32> = memory::with_room(labels.len())?;
            let vertices = (0..labels.len()).into_par_iter().with_min_len(MIN_LEN);
            of_label.par_extend(vertices.map(share_of));
            let totals =
                || of_label.par_iter().with_min_len(MIN_LEN).map(|total| total.load(Relaxed));
            let (grand, most) = (totals().map(u64::from).sum(), totals().max().unwrap_or(0));
            return Ok(Totals { of_label, grand, most: AtomicU32::new(most), share });
        }
        let mut of_label = memory::with_room(labels.len())?;
        of_label.par_extend(labels.par_iter().with_min_len(MIN_LEN).map(|_| AtomicU32::new(0)));
        let add = |(v, label): (usize, &AtomicU32)| {
            let share = share.of(v as VertexId, lists);
            if let Some(total) = of_label.get(label.load(Relaxed) as usize) {
                total.fetch_add(share, Relaxed);
            }
            u64::from(share)
        };
        let grand = labels.par_iter().enumerate().with_min_len(MIN_LEN).map(add).sum();
        let most = of_label
            .par_iter()
            .with_min_len(MIN_LEN)
            .map(|total| total.load(Relaxed))
            .max()
            .unwrap_or(0);
        Ok(Totals { of_label, grand, most: AtomicU32::new(most), share })
    }

    /// Returns access to each candidate's own total.
    #[inline]
    pub fn kept(&self) -> Total<'_> {
        Total::Kept(&self.of_label)
    }

    /// Returns the upper bound of every candidate's total, which needs no memory access.
    #[inline]
    pub fn at_most(&self) -> Total<'_> {
        Total::AtMost(self.most.load(Relaxed))
    }

    /// Sets the total of a label, which is a vertex.
    pub fn set(&self, label: Label, total: u32) {
        self.of_label[label as usize].store(total, Relaxed);
        self.most.fetch_max(total, Relaxed);
    }

    /// Moves the contribution of `v` from one label to another.
    #[inline]
    pub fn shift(&self, v: VertexId, lists: &VertexLists<'_>, from: Label, to: Label) {
        if self.of_label.is_empty() || matches!(self.share, Share::Elsewhere) {
            return;
        }
        let share = self.share.of(v, lists);
        // A vertex without a label is in no total.
        if let Some(total) = self.of_label.get(from as usize) {
            total.fetch_sub(share, Relaxed);
        }
        if let Some(total) = self.of_label.get(to as usize) {
            let total = total.fetch_add(share, Relaxed).wrapping_add(share);
            if total > self.most.load(Relaxed) {
                self.most.fetch_max(total, Relaxed);
            }
        }
    }
}

impl Totals {
    /// Moves the contribution of `v` between those of two labels that are in `labels`, whose totals
    /// no other thread changes meanwhile: without the cost of atomic sums, and without moving their
    /// cache lines between threads.
    #[inline]
    pub fn shift_of(
        &self,
        labels: Range<Label>,
        v: VertexId,
        lists: &VertexLists<'_>,
        from: Label,
        to: Label,
    ) {
        let (leaves, joins) = (labels.contains(&from), labels.contains(&to));
        if !(leaves | joins) {
            return;
        }
        let share = self.share.of(v, lists);
        if leaves {
            let total = &self.of_label[from as usize];
            total.store(total.load(Relaxed).wrapping_sub(share), Relaxed);
        }
        if joins {
            let total = &self.of_label[to as usize];
            let sum = total.load(Relaxed).wrapping_add(share);
            total.store(sum, Relaxed);
            if sum > self.most.load(Relaxed) {
                self.most.fetch_max(sum, Relaxed);
            }
        }
    }

    /// Returns the number of labels whose totals change with the vertices' labels.
    pub fn labels(&self) -> u32 {
        match self.share {
            Share::Elsewhere => 0,
            Share::One | Share::Volume(_) | Share::Given(_) => self.of_label.len() as u32,
        }
    }
}

impl Share {
    #[inline]
    fn of(&self, v: VertexId, lists: &VertexLists<'_>) -> u32 {
        match self {
            Share::One => 1,
            Share::Volume(unit) => unit.share(v, lists.strength_of(v)),
            Share::Given(of_vertices) => of_vertices.get(v as usize).copied().unwrap_or(0),
            Share::Elsewhere => 0,
        }
    }
}
