//! Layered order: a vertex order in which vertices close to one another in the graph have close
//! places.
//!
//! This is the purpose of layered label propagation: graphs in such an order compress well and are
//! fast to traverse. Starting from the vertex ids, the labelling λ of each γ refines the order.
//! Vertex x moves to the place of vertex λ(x), and vertices of one label keep their order:
//!
//! ```text
//! x before y   if   (place(λ(x)), place(x)) < (place(λ(y)), place(y))
//! ```
//!
//! The last labelling therefore determines the order of communities, and earlier ones the order
//! within them: [`Gamma::halved`] goes from the finest to the coarsest.
//!
//! Memory: that of a run of [`Llp`](crate::programs::Llp), and 20 bytes per vertex. Determinism:
//! that of the schedule.
//!
//! Reference: Boldi, Rosa, Santini, Vigna, WWW 2011, section 4.

use super::llp::{Gamma, Llp};
use crate::{DynProgram, Executor, Label, RoundObserver, RunError, Settings};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::tasks::MIN_LEN;
use ripplet_graph::{GraphView, VertexId};

/// A vertex order that labellings refine, one after the other.
#[derive(Debug)]
pub struct LayeredOrder {
    places: Vec<VertexId>,
    /// Sort keys with their vertices.
    keys: Vec<(u64, VertexId)>,
}

impl LayeredOrder {
    /// Creates the order of the vertex ids.
    ///
    /// # Errors
    /// If [`LayeredOrder::bytes_for`] the vertices are refused.
    pub fn new(vertices: u32) -> Result<LayeredOrder, OutOfMemory> {
        let mut places = memory::with_room(vertices as usize)?;
        places.extend(0..vertices);
        Ok(LayeredOrder { places, keys: memory::with_room(vertices as usize)? })
    }

    /// Returns the bytes of an order of `vertices` vertices while it is refined.
    pub fn bytes_for(vertices: u32) -> u64 {
        (size_of::<VertexId>() + size_of::<(u64, VertexId)>()) as u64 * u64::from(vertices)
    }

    /// Moves vertices of one label together, in the order that they had; `labels` has one per
    /// vertex.
    pub fn refine(&mut self, labels: &[Label]) {
        let places = &self.places;
        let key = |(x, &label): (usize, &Label)| {
            // A vertex without a label is a community by itself.
            let leader = places.get(label as usize).copied().unwrap_or(places[x]);
            (u64::from(leader) << 32 | u64::from(places[x]), x as VertexId)
        };
        self.keys.clear();
        self.keys.par_extend(
            labels.par_iter().take(places.len()).enumerate().with_min_len(MIN_LEN).map(key),
        );
        self.keys.par_sort_unstable();
        let sorted = self.keys.iter().zip(0..);
        sorted.for_each(|(&(_, x), place)| self.places[x as usize] = place);
    }

    /// Converts into the place of each vertex, from 0.
    pub fn into_places(self) -> Vec<VertexId> {
        self.places
    }

    /// Returns the place of each vertex, from 0.
    pub fn places(&self) -> &[VertexId] {
        &self.places
    }
}

/// Returns the place of each vertex, from 0, by the labels of [`Llp`](crate::programs::Llp) at each
/// γ, one after the other.
///
/// # Errors
/// See [`Executor::run`]; also if [`LayeredOrder::bytes_for`] the vertices are refused.
pub fn layered_order<'g>(
    executor: &dyn Executor,
    graph: impl Into<GraphView<'g>>,
    gammas: &[Gamma],
    settings: &Settings,
    observer: &mut dyn RoundObserver,
) -> Result<Vec<VertexId>, RunError> {
    let graph = graph.into();
    let bytes = LayeredOrder::bytes_for(graph.vertices());
    let order = LayeredOrder::new(graph.vertices());
    let mut order = order.map_err(|_| RunError::OutOfMemory { bytes })?;
    for &gamma in gammas {
        let program = Box::<dyn DynProgram>::from(Llp::new(gamma));
        order.refine(&executor.run_on(graph, &*program, settings, observer)?.labels);
    }
    Ok(order.places)
}
