//! Pairing of stubs (ends of edges that are not joined yet) into rows.

use super::Planted;
use super::shape::{Degree, Shape};
use crate::GenerateError;
use crate::permutation::Permutation;
use crate::random::{Stream, derive};
use rayon::prelude::*;
use ripplet_graph::splitmix::mix;
use rustc_hash::FxHashSet;

/// Fills the columns with the edges between slots.
pub(super) fn pair_stubs(
    planted: &Planted,
    shape: &Shape,
    columns: &mut [Vec<u32>; 2],
) -> Result<(), GenerateError> {
    let left = pair_inside(planted, shape, columns);
    // With mixing 0 nothing may leave a community: an odd stub stays unpaired.
    if planted.mixing > 0.0 {
        pair_outside(planted, shape, outside_stubs(shape, &left)?, columns);
    }
    Ok(())
}

/// A row that could not be made.
const HOLE: u32 = u32::MAX;

/// Appends the edges inside communities; returns the stubs that found no partner.
fn pair_inside(planted: &Planted, shape: &Shape, columns: &mut [Vec<u32>; 2]) -> Vec<u32> {
    let counts: Vec<usize> = shape
        .starts
        .par_windows(2)
        .map(|bounds| {
            let slots = &shape.degrees[bounds[0] as usize..bounds[1] as usize];
            slots.iter().map(|degree| degree.inside as usize).sum::<usize>() / 2
        })
        .collect();
    let rows = counts.iter().sum();
    let [sources, targets] = columns;
    sources.resize(rows, HOLE);
    targets.resize(rows, HOLE);

    let (mut rest_sources, mut rest_targets) = (&mut sources[..], &mut targets[..]);
    let mut parts = Vec::with_capacity(counts.len());
    for count in counts {
        let sources = rest_sources.split_off_mut(..count).expect("counted");
        parts.push((sources, rest_targets.split_off_mut(..count).expect("counted")));
    }
    let left: Vec<Vec<u32>> = parts
        .into_par_iter()
        .enumerate()
        .map(|(community, (sources, targets))| {
            let first = shape.starts[community];
            let slots = first as usize..shape.starts[community + 1] as usize;
            let mut stream = Stream::new(planted.seed, "planted inside", community as u64);
            let left = pair_community(&mut stream, &shape.degrees[slots], sources, targets);
            let made = sources.len() - left.len() / 2;
            for end in sources[..made].iter_mut().chain(&mut targets[..made]) {
                *end += first;
            }
            left.into_iter().map(|stub| stub + first).collect()
        })
        .collect();
    let left = left.concat();
    if !left.is_empty() {
        sources.retain(|&end| end != HOLE);
        targets.retain(|&end| end != HOLE);
    }
    left
}

/// Pairs one community's inside stubs at random into distinct edges (numbered from 0), at the
/// front of the rows; returns the remaining stubs.
fn pair_community(
    stream: &mut Stream,
    degrees: &[Degree],
    sources: &mut [u32],
    targets: &mut [u32],
) -> Vec<u32> {
    let mut stubs = Vec::with_capacity(2 * sources.len());
    for (slot, degree) in degrees.iter().enumerate() {
        stubs.resize(stubs.len() + degree.inside as usize, slot as u32);
    }
    stream.shuffle(&mut stubs);
    let mut edges = DistinctEdges::new(sources, targets);
    let mut refused = Vec::new();
    for pair in stubs.chunks_exact(2) {
        if !edges.add(pair[0], pair[1]) {
            refused.push((pair[0], pair[1]));
        }
    }
    let mut left = Vec::new();
    for (a, b) in refused {
        if !edges.mend(stream, a, b) {
            left.extend([a, b]);
        }
    }
    left
}

/// Rows under construction, without loops and duplicates.
struct DistinctEdges<'a> {
    sources: &'a mut [u32],
    targets: &'a mut [u32],
    made: usize,
    seen: FxHashSet<u64>,
}

impl DistinctEdges<'_> {
    fn new<'a>(sources: &'a mut [u32], targets: &'a mut [u32]) -> DistinctEdges<'a> {
        let seen = FxHashSet::with_capacity_and_hasher(sources.len(), Default::default());
        DistinctEdges { sources, targets, made: 0, seen }
    }

    fn key(a: u32, b: u32) -> u64 {
        u64::from(a.min(b)) << 32 | u64::from(a.max(b))
    }

    /// Appends the edge, unless it is a loop or a duplicate.
    fn add(&mut self, a: u32, b: u32) -> bool {
        let new = a != b && self.seen.insert(Self::key(a, b));
        if new {
            (self.sources[self.made], self.targets[self.made]) = (a, b);
            self.made += 1;
        }
        new
    }

    /// Joins two stubs that cannot be joined to each other by opening another edge:
    /// `a b` and the edge `c–d` become `a–c` and `b–d`, which keeps every degree.
    fn mend(&mut self, stream: &mut Stream, a: u32, b: u32) -> bool {
        /// A dense community may have few edges that help; a full one none.
        const ATTEMPTS: u32 = 100;
        if self.made == 0 {
            return false;
        }
        for _ in 0..ATTEMPTS {
            let row = stream.below(self.made as u64) as usize;
            let (mut c, mut d) = (self.sources[row], self.targets[row]);
            if stream.chance(0.5) {
                std::mem::swap(&mut c, &mut d);
            }
            let (first, second) = (Self::key(a, c), Self::key(b, d));
            let fits = a != c && b != d && first != second;
            if fits && !self.seen.contains(&first) && !self.seen.contains(&second) {
                self.seen.remove(&Self::key(c, d));
                self.seen.insert(first);
                (self.sources[row], self.targets[row]) = (a, c);
                return self.add(b, d);
            }
        }
        false
    }
}

/// Returns the slots of all outside stubs, including those that found no partner inside.
fn outside_stubs(shape: &Shape, left: &[u32]) -> Result<Vec<u32>, GenerateError> {
    let ends = shape.degrees.iter().map(|degree| u64::from(degree.outside)).sum::<u64>();
    let count = ends as usize + left.len();
    let mut stubs = Vec::new();
    stubs.try_reserve_exact(count).map_err(|_| GenerateError::OutOfMemory {
        rows: count as u64 / 2,
        bytes: count as u64 * 4,
    })?;
    for (slot, degree) in shape.degrees.iter().enumerate() {
        stubs.resize(stubs.len() + degree.outside as usize, slot as u32);
    }
    stubs.extend(left);
    Ok(stubs)
}

/// Appends the edges between communities: pairs all stubs at random, repeats this for pairs within a
/// community while it helps, and then mends the remaining pairs one by one.
fn pair_outside(planted: &Planted, shape: &Shape, stubs: Vec<u32>, columns: &mut [Vec<u32>; 2]) {
    /// Of k equal communities 1/k of the pairs fail each time; few large ones keep failing.
    const ROUNDS: u64 = 8;
    let community_of = shape.community_of_slots();
    let base = columns[0].len();
    let mut stubs = stubs;
    for round in 0..ROUNDS {
        let seed = derive(planted.seed, "planted outside") ^ mix(round);
        let refused = pair_once(&stubs, seed, &community_of, columns);
        let few = refused.len() < 64 || refused.len() > stubs.len() / 2;
        stubs = refused;
        if few {
            break;
        }
    }
    let [sources, targets] = columns;
    let mut stream = Stream::new(planted.seed, "planted outside", 0);
    for pair in stubs.chunks_exact(2) {
        let (a, b) = (pair[0], pair[1]);
        let rows = (&mut sources[base..], &mut targets[base..]);
        let (a, b) = mend_outside(&mut stream, &community_of, rows, (a, b)).unwrap_or((a, b));
        if a != b {
            sources.push(a);
            targets.push(b);
        }
    }
}

/// Pairs the stubs at random and appends the rows between different communities; returns the
/// stubs of the other pairs, pair by pair.
fn pair_once(
    stubs: &[u32],
    seed: u64,
    community_of: &[u32],
    columns: &mut [Vec<u32>; 2],
) -> Vec<u32> {
    let order = Permutation::new(stubs.len() as u64, seed);
    let stub = |place: usize| stubs[order.of(place as u64) as usize];
    let [sources, targets] = columns;
    let base = sources.len();
    sources.resize(base + stubs.len() / 2, HOLE);
    targets.resize(base + stubs.len() / 2, HOLE);
    let rows = sources[base..].par_iter_mut().zip(&mut targets[base..]).enumerate();
    let refused: Vec<u32> = rows
        .flat_map_iter(|(pair, (source, target))| {
            let (a, b) = (stub(2 * pair), stub(2 * pair + 1));
            let refused = community_of[a as usize] == community_of[b as usize];
            if !refused {
                (*source, *target) = (a, b);
            }
            refused.then_some([a, b]).into_iter().flatten()
        })
        .collect();
    if !refused.is_empty() {
        close_holes(sources, base);
        close_holes(targets, base);
    }
    refused
}

/// Opens an outside edge `c–d` for two stubs of one community: it becomes `a–c`, and `b–d`, which
/// is returned, is still to be appended. `None` if no suitable edge was found.
fn mend_outside(
    stream: &mut Stream,
    community_of: &[u32],
    (sources, targets): (&mut [u32], &mut [u32]),
    (a, b): (u32, u32),
) -> Option<(u32, u32)> {
    const ATTEMPTS: u32 = 32;
    let apart = |x: u32, y: u32| community_of[x as usize] != community_of[y as usize];
    for _ in 0..if sources.is_empty() { 0 } else { ATTEMPTS } {
        let row = stream.below(sources.len() as u64) as usize;
        let (c, d) = (sources[row], targets[row]);
        if apart(a, c) && apart(b, d) {
            (sources[row], targets[row]) = (a, c);
            return Some((b, d));
        }
    }
    None
}

fn close_holes(column: &mut Vec<u32>, base: usize) {
    let mut kept = base;
    for at in base..column.len() {
        if column[at] != HOLE {
            column[kept] = column[at];
            kept += 1;
        }
    }
    column.truncate(kept);
}
