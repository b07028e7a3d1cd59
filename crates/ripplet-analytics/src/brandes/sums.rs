//! Sums of dependencies: per vertex, or per arc.
//!
//! ```text
//! vertex v     δ(v) = σ(v) · δ(v) / σ(v)
//! arc u → v    σ(u) · (1 + δ(v)) / σ(v) if the arc is on a shortest path from the source; else 0
//! ```

use super::rows::Rows;
use crate::pairwise::{EIGHT, sum_of};
use crate::search::Mask;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{OutOfMemory, VertexId, memory};

/// The elements that dependencies are summed for: vertices or arcs.
pub(crate) trait Target {
    /// The sums for as many sources at once as the mask has bits.
    type Sums<M: Mask>: Sums<M>;

    /// Returns the number of sums of a graph of `vertices` vertices and `arcs` arcs.
    fn count(vertices: u32, arcs: u64) -> u64;
}

/// One sum per vertex.
pub(crate) struct Vertices;
/// One sum per arc, in the order of the lists of incoming arcs. Of repeated arcs the first one has
/// it.
pub(crate) struct Arcs;

impl Target for Vertices {
    type Sums<M: Mask> = Through;

    fn count(vertices: u32, _: u64) -> u64 {
        u64::from(vertices)
    }
}

impl Target for Arcs {
    type Sums<M: Mask> = Along<M>;

    fn count(_: u32, arcs: u64) -> u64 {
        arcs
    }
}

/// The sums of a group of sources.
pub(crate) trait Sums<M: Mask>: Sized + Send + Sync {
    /// Returns the bytes of the sums of a graph of `vertices` vertices and `arcs` arcs.
    fn bytes(vertices: u32, arcs: u64) -> u64;

    /// Creates sums with room for `vertices` vertices and `arcs` arcs.
    fn new(vertices: u32, arcs: u64) -> Result<Self, OutOfMemory>;

    /// Sets the sums of a graph to 0, before a group of sources.
    fn clear<L: NeighborLists>(&mut self, behind: L);

    /// Marks an arc as being on shortest paths from some of the current sources: the arc at a place
    /// of a vertex's list of predecessors.
    fn mark(&mut self, vertex: VertexId, place: usize, sources: M);

    /// Adds the dependencies of the current sources.
    fn add_up<L: NeighborLists>(&mut self, behind: L, rows: Rows<'_>);

    /// Returns the sums of the group; longer than the graph needs if there was room for more.
    fn sums(&self) -> &[f64];
}

/// Sums per vertex.
pub(crate) struct Through {
    sums: Vec<f64>,
}

impl<M: Mask> Sums<M> for Through {
    fn bytes(vertices: u32, _: u64) -> u64 {
        8 * u64::from(vertices)
    }

    fn new(vertices: u32, _: u64) -> Result<Through, OutOfMemory> {
        Ok(Through { sums: memory::zeros(vertices as usize)? })
    }

    fn clear<L: NeighborLists>(&mut self, behind: L) {
        self.sums[..behind.vertices()].fill(0.0);
    }

    #[inline(always)]
    fn mark(&mut self, _: VertexId, _: usize, _: M) {}

    #[inline(always)]
    fn add_up<L: NeighborLists>(&mut self, _: L, Rows { row, path_counts, share, .. }: Rows<'_>) {
        let rows = path_counts.chunks_exact(row).zip(share.chunks_exact(row));
        for (sum, (path_counts, share)) in self.sums.iter_mut().zip(rows) {
            for (path_counts, share) in
                path_counts.chunks_exact(EIGHT).zip(share.chunks_exact(EIGHT))
            {
                *sum += sum_of(std::array::from_fn(|lane| path_counts[lane] * share[lane]));
            }
        }
    }

    fn sums(&self) -> &[f64] {
        &self.sums
    }
}

/// Sums per arc.
pub(crate) struct Along<M> {
    /// The sources for which each arc is on shortest paths; none between two searches.
    on: Vec<M>,
    sums: Vec<f64>,
    /// The begin of each vertex's list of predecessors.
    begins: Vec<u64>,
}

/// The longest row.
const LONGEST: usize = u64::LANES as usize;

impl<M: Mask> Sums<M> for Along<M> {
    fn bytes(vertices: u32, arcs: u64) -> u64 {
        (size_of::<M>() as u64 + 8) * arcs + 8 * u64::from(vertices)
    }

    fn new(vertices: u32, arcs: u64) -> Result<Along<M>, OutOfMemory> {
        let arcs = arcs as usize;
        Ok(Along {
            on: memory::filled(M::NONE, arcs)?,
            sums: memory::zeros(arcs)?,
            begins: memory::zeros(vertices as usize)?,
        })
    }

    fn clear<L: NeighborLists>(&mut self, behind: L) {
        self.sums[..behind.arcs() as usize].fill(0.0);
        let mut end = 0;
        for (vertex, begin) in self.begins[..behind.vertices()].iter_mut().enumerate() {
            *begin = end;
            end += u64::from(behind.degree_of(vertex));
        }
    }

    #[inline(always)]
    fn mark(&mut self, vertex: VertexId, place: usize, sources: M) {
        let on = &mut self.on[self.begins[vertex as usize] as usize + place];
        *on = *on | sources;
    }

    #[inline(always)]
    fn add_up<L: NeighborLists>(
        &mut self,
        behind: L,
        Rows { row, path_counts, inverse, share }: Rows<'_>,
    ) {
        let mut dependencies = [0.0; LONGEST];
        let mut arcs = self.on.iter_mut().zip(&mut self.sums);
        let rows = inverse.chunks_exact(row).zip(share.chunks_exact(row));
        for (vertex, (inverse, share)) in (0..behind.vertices()).zip(rows) {
            let numbers = dependencies.iter_mut().zip(inverse).zip(share);
            numbers.for_each(|((dependencies, inverse), share)| *dependencies = inverse + share);
            for (from, (on, sum)) in behind.each_of(vertex).zip(&mut arcs) {
                let sources = std::mem::replace(on, M::NONE);
                if sources != M::NONE {
                    let path_counts = &path_counts[from as usize * row..][..row];
                    add_along(sum, sources, path_counts, &dependencies[..row]);
                }
            }
        }
    }

    fn sums(&self) -> &[f64] {
        &self.sums
    }
}

/// Adds the dependency of an arc that is on shortest paths from some sources.
#[inline(always)]
fn add_along<M: Mask>(sum: &mut f64, sources: M, path_counts: &[f64], dependencies: &[f64]) {
    let sources: u64 = sources.into();
    let mut through = [0.0; LONGEST];
    for (lane, (through, (path_counts, dependencies))) in
        through.iter_mut().zip(path_counts.iter().zip(dependencies)).enumerate()
    {
        // A vertex without a path has dependencies NaN or infinity; masking the bits turns it into 0. A
        // branch would cost more than computing all lanes.
        let bits = 0u64.wrapping_sub(sources >> lane & 1);
        *through = f64::from_bits((path_counts * dependencies).to_bits() & bits);
    }
    let chunks = through[..path_counts.len()].as_chunks::<EIGHT>().0;
    chunks.iter().for_each(|&through| *sum += sum_of(through));
}
