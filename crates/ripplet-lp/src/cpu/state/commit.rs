//! The commit of a choice, and the activation of neighbours.

use super::LpState;
use crate::cpu::active::Activated;
use crate::{Activation, Hints, Label};
use ripplet_graph::storage::{ListParts, Listed};
use ripplet_graph::{VertexId, dispatch_parts};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

impl<P: Hints> LpState<'_, P> {
    /// Changes the label of `v` to `next`; no other thread may change it meanwhile.
    #[inline]
    pub fn commit(&self, v: VertexId, next: Label) {
        let before = self.label(v);
        self.labels[v as usize].store(next, Relaxed);
        self.shift_total(v, before, next);
    }

    /// Moves the share of `v` between label totals.
    #[inline]
    pub fn shift_total(&self, v: VertexId, from: Label, to: Label) {
        self.totals.shift(v, &self.lists, from, to);
    }

    /// Moves the share of `v` between those of two label totals that are in `labels`. No other
    /// thread may change totals of these labels meanwhile.
    #[inline]
    pub fn shift_totals_of(&self, labels: Range<Label>, v: VertexId, from: Label, to: Label) {
        self.totals.shift_of(labels, v, &self.lists, from, to);
    }

    /// Activates the neighbours that must be updated after a change of `v`: of its label if
    /// `relabelled`, else only of its columns: adds them to `active`. `label` is the label of `v`.
    #[inline]
    pub fn activate_neighbors(
        &self,
        v: Listed<'_>,
        label: Label,
        relabelled: bool,
        active: Activated<'_>,
    ) {
        let activation = self.activation();
        if activation == Activation::Always
            || (activation == Activation::Disagreement && !relabelled)
        {
            return;
        }
        let visit = |neighbors: &[VertexId], _: Option<&[u32]>| match activation {
            Activation::Disagreement => self.activate_disagreeing(neighbors, label, active),
            Activation::Change | Activation::Always => active.insert_unless(neighbors, |_| false),
        };
        match v.only {
            Some(list) => list.each(visit),
            None => dispatch_parts!(&self.lists, v.vertex, parts => parts.each(visit)),
        }
    }

    /// Separate, so that its loop has its variables in registers.
    #[inline(never)]
    fn activate_disagreeing(&self, neighbors: &[VertexId], label: Label, active: Activated<'_>) {
        let labels = &*self.labels;
        let agrees = |u: VertexId| labels[u as usize].load(Relaxed) == label;
        active.insert_unless(neighbors, agrees);
    }
}
