//! An order of the vertices in which those near one another in the graph stand near one another.
//!
//! Layered label propagation's purpose: graphs in such an order compress well and are fast to walk.
//! Beginning with the vertices as they are numbered, each γ's labelling λ refines the order: vertex x
//! goes where the vertex λ(x) stood, and vertices of one label keep their order:
//!
//! ```text
//! x before y   where   (place(λ(x)), place(x)) < (place(λ(y)), place(y))
//! ```
//!
//! So the labelling that comes last rules, and those before it order its communities from within:
//! [`Gamma::halved`] goes from the finest to the coarsest.
//!
//! Memory: that of a run of [`Llp`](crate::programs::Llp), and 20 bytes a vertex. Determinism: that
//! of the schedule.
//!
//! Reference: Boldi, Rosa, Santini, Vigna, WWW 2011, section 4.

use super::llp::{Gamma, sweep};
use crate::{Executor, Label, Observer, RunError, Settings};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{GraphView, VertexId};

/// An order of vertices that labellings refine, one after the other.
#[derive(Debug)]
pub struct LayeredOrder {
    places: Vec<VertexId>,
    /// What the vertices are sorted by, and they.
    keys: Vec<(u64, VertexId)>,
}

impl LayeredOrder {
    /// The vertices as they are numbered.
    ///
    /// # Errors
    /// Where [`LayeredOrder::bytes_for`] them is refused.
    pub fn new(vertices: u32) -> Result<LayeredOrder, OutOfMemory> {
        let mut places = memory::with_room(vertices as usize)?;
        places.extend(0..vertices);
        Ok(LayeredOrder { places, keys: memory::with_room(vertices as usize)? })
    }

    /// Bytes that an order of so many vertices takes while it is refined.
    pub fn bytes_for(vertices: u32) -> u64 {
        (size_of::<VertexId>() + size_of::<(u64, VertexId)>()) as u64 * u64::from(vertices)
    }

    /// Puts vertices of one label together, in the order that they had; `labels` has one for each.
    pub fn refine(&mut self, labels: &[Label]) {
        let places = &self.places;
        let key = |(x, &label): (usize, &Label)| {
            // A vertex without a label stays for itself.
            let leader = places.get(label as usize).copied().unwrap_or(places[x]);
            (u64::from(leader) << 32 | u64::from(places[x]), x as VertexId)
        };
        self.keys.clear();
        self.keys.par_extend(labels.par_iter().take(places.len()).enumerate().map(key));
        self.keys.par_sort_unstable();
        let sorted = self.keys.iter().zip(0..);
        sorted.for_each(|(&(_, x), place)| self.places[x as usize] = place);
    }

    /// The place of each vertex, from 0.
    pub fn places(&self) -> &[VertexId] {
        &self.places
    }
}

/// The place of each vertex, from 0, by the labels that [`Llp`](crate::programs::Llp) finds at each
/// γ, one after the other.
///
/// # Errors
/// As [`Executor::run`], or where [`LayeredOrder::bytes_for`] the vertices is refused.
pub fn layered_order<'g>(
    executor: &dyn Executor,
    graph: impl Into<GraphView<'g>>,
    gammas: &[Gamma],
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Vec<VertexId>, RunError> {
    let graph = graph.into();
    let bytes = LayeredOrder::bytes_for(graph.vertices());
    let order = LayeredOrder::new(graph.vertices());
    let mut order = order.map_err(|_| RunError::OutOfMemory { bytes })?;
    sweep(executor, graph, gammas, settings, observer, |_, found| order.refine(&found.labels))?;
    Ok(order.places)
}
