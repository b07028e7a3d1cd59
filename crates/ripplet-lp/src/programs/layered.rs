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
//! Memory: that of a run of [`Llp`](crate::programs::Llp), and 16 bytes a vertex. Determinism: that
//! of the schedule.
//!
//! Reference: Boldi, Rosa, Santini, Vigna, WWW 2011, section 4.

use super::llp::{Gamma, sweep};
use crate::{Executor, Observer, RunError, Settings};
use rayon::prelude::*;
use ripplet_graph::{Graph, VertexId};

/// The place of each vertex, from 0, by the labels that [`Llp`](crate::programs::Llp) finds at each
/// γ, one after the other.
///
/// # Errors
/// As [`Executor::run`], or where 16 bytes a vertex are refused.
pub fn layered_order(
    executor: &impl Executor,
    graph: &Graph,
    gammas: &[Gamma],
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Vec<VertexId>, RunError> {
    let vertices = graph.vertices();
    let refused = |_| RunError::OutOfMemory { bytes: 16 * u64::from(vertices) };
    let (mut places, mut keys): (Vec<VertexId>, Vec<(u64, VertexId)>) = (Vec::new(), Vec::new());
    places.try_reserve_exact(vertices as usize).map_err(refused)?;
    keys.try_reserve_exact(vertices as usize).map_err(refused)?;
    places.extend(0..vertices);
    sweep(executor, graph, gammas, settings, observer, |_, found| {
        let key = |(x, &label): (usize, &u32)| {
            // A vertex without a label stays for itself.
            let leader = places.get(label as usize).copied().unwrap_or(places[x]);
            (u64::from(leader) << 32 | u64::from(places[x]), x as VertexId)
        };
        keys.clear();
        keys.par_extend(found.labels.par_iter().enumerate().map(key));
        keys.par_sort_unstable();
        keys.iter().zip(0..).for_each(|(&(_, x), place)| places[x as usize] = place);
    })?;
    Ok(places)
}
