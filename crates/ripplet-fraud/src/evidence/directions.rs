//! Directions of a window's edges, and walks that follow them.
//!
//! A window's graph is undirected, and its days keep who paid whom. The weight of an edge is split between both
//! directions by their numbers of transactions, so that a walk with direction uses the weights of the mapping.
//! The walk from payers to payees and the one against it are computed in one pass a step.
//!
//! Memory: 4 bytes per arc, 8 more while they are counted; walks take 128 bytes per vertex, 40 of them for the
//! result. Determinism: counts are integers; sums follow a vertex's list.

use super::folds::{FOLDS, Folds, Parts};
use super::walks::{DAMPING, STEPS};
use crate::days::DayAdjacency;
use crate::ties::lists;
use rayon::prelude::*;
use ripplet_graph::{Graph, OutOfMemory, VertexId, as_atomic, memory};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 1 << 10;

/// Transactions in one parallel task.
const PAYMENTS_PER_TASK: usize = 1 << 14;

/// For each arc of a graph, the share of the pair's transactions that the neighbour paid.
#[derive(Debug, Default)]
pub struct Directions {
    /// First arc of each vertex, and the number of arcs.
    offsets: Vec<u64>,
    inward: Vec<f32>,
}

impl Directions {
    /// Returns the bytes that [`Directions::of`] and [`Directions::visits`] need.
    pub fn bytes(vertices: u64, arcs: u64) -> u64 {
        8 * vertices + 4 * arcs + (8 * arcs).max(128 * vertices)
    }

    /// Counts the transactions of each direction over days; a pair without any has a half.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn of(graph: &Graph, days: &[&DayAdjacency]) -> Result<Directions, OutOfMemory> {
        let vertices = graph.vertices();
        let mut offsets = memory::with_room::<u64>(vertices as usize + 1)?;
        let mut arcs = 0;
        for v in 0..vertices {
            offsets.push(arcs);
            arcs += lists(graph, v).0.len() as u64;
        }
        offsets.push(arcs);
        let mut received = memory::zeros::<u32>(arcs as usize)?;
        let mut paid = memory::zeros::<u32>(arcs as usize)?;
        let counters = (as_atomic(&mut received), as_atomic(&mut paid));
        let arc = |v: VertexId, u: VertexId| {
            if v >= vertices {
                return None;
            }
            let place = lists(graph, v).0.binary_search(&u).ok()?;
            Some(offsets[v as usize] as usize + place)
        };
        for day in days {
            let payments = &day.payments;
            let count = |range: Range<usize>| {
                let mut place = range.start;
                while place < range.end {
                    let (from, to) = payments.ends(place);
                    let begin = place;
                    while place < range.end && payments.ends(place) == (from, to) {
                        place += 1;
                    }
                    let count = (place - begin) as u32;
                    if let (Some(out), Some(back)) = (arc(from, to), arc(to, from)) {
                        counters.1[out].fetch_add(count, Relaxed);
                        counters.0[back].fetch_add(count, Relaxed);
                    }
                }
            };
            let end = payments.len();
            match end.div_ceil(PAYMENTS_PER_TASK) {
                // Many days are small.
                0 | 1 => count(0..end),
                tasks => (0..tasks).into_par_iter().for_each(|task| {
                    let begin = task * PAYMENTS_PER_TASK;
                    count(begin..end.min(begin + PAYMENTS_PER_TASK));
                }),
            }
        }
        let share = |(received, paid): (&u32, &u32)| match (*received, *paid) {
            (0, 0) => 0.5,
            (received, paid) => {
                (f64::from(received) / (f64::from(received) + f64::from(paid))) as f32
            }
        };
        let inward = memory::collected(received.iter().zip(&paid).map(share))?;
        Ok(Directions { offsets, inward })
    }

    /// Returns the share of each pair's transactions that the neighbour paid, in the order of the vertex's list.
    #[inline]
    fn inward(&self, v: VertexId) -> &[f32] {
        &self.inward[self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize]
    }

    /// Calls `each` with every neighbour except itself, the weight of what it paid to `v`, and of what `v` paid
    /// to it, in stored units.
    #[inline]
    fn each(&self, graph: &Graph, v: VertexId, mut each: impl FnMut(VertexId, f32, f32)) {
        let (partners, weights) = lists(graph, v);
        for (at, (&u, &inward)) in partners.iter().zip(self.inward(v)).enumerate() {
            if u != v {
                let weight = weights.map_or(1.0, |weights| weights[at] as f32);
                each(u, weight * inward, weight * (1.0 - inward));
            }
        }
    }

    /// Returns the visits of each vertex by walks from the known bad of each fold, along payments and against
    /// them; see [`visits`](super::visits).
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn visits(
        &self,
        graph: &Graph,
        folds: &Folds,
    ) -> Result<(Vec<Parts>, Vec<Parts>), OutOfMemory> {
        type Both = [Parts; 2];
        let vertices = graph.vertices() as usize;
        let none = [[0.0; FOLDS]; 2];
        let mut along = memory::filled([0.0; FOLDS], vertices)?;
        let mut against = memory::filled([0.0; FOLDS], vertices)?;
        if folds.known().is_empty() {
            return Ok((along, against));
        }
        let mut shares: Vec<Both> = memory::filled(none, vertices)?;
        for &(v, fold) in folds.known() {
            let fold = usize::from(fold);
            let begin = 1.0 - DAMPING;
            shares[v as usize][0][fold] = begin;
            shares[v as usize][1][fold] = begin;
            along[v as usize][fold] = begin;
            against[v as usize][fold] = begin;
        }
        let mut next: Vec<Both> = memory::filled(none, vertices)?;
        // What a vertex passes along a unit of weight that it paid, and that it received.
        let mut units = memory::filled([0.0_f32; 2], vertices)?;
        units.par_iter_mut().enumerate().with_min_len(VERTICES_PER_TASK).for_each(|(v, unit)| {
            let (mut received, mut paid) = (0.0_f64, 0.0_f64);
            self.each(graph, v as VertexId, |_, inward, outward| {
                received += f64::from(inward);
                paid += f64::from(outward);
            });
            let of = |all: f64| if all > 0.0 { DAMPING / all as f32 } else { 0.0 };
            *unit = [of(paid), of(received)];
        });
        for _ in 0..STEPS {
            let each = shares.par_iter_mut().zip(&units).with_min_len(VERTICES_PER_TASK);
            each.for_each(|(both, units)| {
                for (share, unit) in both.iter_mut().zip(units) {
                    share.iter_mut().for_each(|share| *share *= unit);
                }
            });
            let totals = along.par_iter_mut().zip(&mut against);
            let each = next.par_iter_mut().zip(totals).enumerate().with_min_len(VERTICES_PER_TASK);
            each.for_each(|(v, (next, (along, against)))| {
                let mut sums = none;
                self.each(graph, v as VertexId, |u, inward, outward| {
                    let both = &shares[u as usize];
                    for fold in 0..FOLDS {
                        sums[0][fold] += both[0][fold] * inward;
                        sums[1][fold] += both[1][fold] * outward;
                    }
                });
                along.iter_mut().zip(&sums[0]).for_each(|(total, sum)| *total += sum);
                against.iter_mut().zip(&sums[1]).for_each(|(total, sum)| *total += sum);
                *next = sums;
            });
            std::mem::swap(&mut shares, &mut next);
        }
        Ok((along, against))
    }
}
