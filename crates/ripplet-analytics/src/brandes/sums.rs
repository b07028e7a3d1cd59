//! What shortest ways are summed up for: vertices that they lead through, or arcs that they lead along.
//!
//! ```text
//! through v        ways(v) · share(v)
//! along u → v      ways(u) · passed(v) where the arc is on shortest ways from the source; else 0
//! ```

use crate::eights::{EIGHT, sum_of};
use crate::lists::Lists;
use crate::search::Mask;
use ripplet_graph::{OutOfMemory, memory};

/// A kind of sums.
pub(crate) trait Target {
    /// The sums where so many sources are searched from at once.
    type Sums<M: Mask>: Sums<M>;

    /// How many sums there are in a graph of so many vertices and arcs.
    fn count(vertices: u32, arcs: u64) -> u64;
}

/// One for each vertex.
pub(crate) struct Vertices;
/// One for each arc, in the order of the lists that say where a search comes to a vertex from: those of
/// incoming arcs. Of repeated arcs the first has it.
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

/// What was found from a group of sources, of as many at a time as a mask has.
pub(crate) trait Sums<M: Mask>: Sized + Send + Sync {
    /// Bytes of those of a graph of so many vertices and arcs.
    fn bytes(vertices: u32, arcs: u64) -> u64;

    /// With room for so many vertices and arcs or more.
    fn new(vertices: u32, arcs: u64) -> Result<Self, OutOfMemory>;

    /// Begins a group of sources of a graph.
    fn clear<L: Lists>(&mut self, behind: L);

    /// An arc, whose place among all is told where it is asked for, is on shortest ways from some of the
    /// sources that are searched from.
    fn mark(&mut self, arc: impl FnOnce() -> usize, sources: M);

    /// Adds what the shortest ways from these sources come to.
    fn add_up<L: Lists>(&mut self, behind: L, rows: Rows<'_>);

    /// What all sources of the group came to; more where there was room for more.
    fn sums(&self) -> &[f64];
}

/// Of each vertex a row, which has a number for each source: some eights, 0 where there is no such source.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    /// The numbers of a row.
    pub row: usize,
    /// How many shortest ways there are from each source; 0 where there are none.
    pub ways: &'a [f64],
    /// 1 over it.
    pub inverse: &'a [f64],
    /// What the vertices ahead pass on; 0 at the source.
    pub share: &'a [f64],
}

/// What leads through each vertex.
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

    fn clear<L: Lists>(&mut self, behind: L) {
        self.sums[..behind.vertices() as usize].fill(0.0);
    }

    #[inline(always)]
    fn mark(&mut self, _: impl FnOnce() -> usize, _: M) {}

    #[inline(always)]
    fn add_up<L: Lists>(&mut self, _: L, Rows { row, ways, share, .. }: Rows<'_>) {
        let rows = ways.chunks_exact(row).zip(share.chunks_exact(row));
        for (sum, (ways, share)) in self.sums.iter_mut().zip(rows) {
            for (ways, share) in ways.chunks_exact(EIGHT).zip(share.chunks_exact(EIGHT)) {
                *sum += sum_of(std::array::from_fn(|lane| ways[lane] * share[lane]));
            }
        }
    }

    fn sums(&self) -> &[f64] {
        &self.sums
    }
}

/// What leads along each arc.
pub(crate) struct Along<M> {
    /// The sources from which it is on shortest ways; none between two searches.
    on: Vec<M>,
    sums: Vec<f64>,
}

/// The most numbers of a row.
const LONGEST: usize = u64::LANES as usize;

impl<M: Mask> Sums<M> for Along<M> {
    fn bytes(_: u32, arcs: u64) -> u64 {
        (size_of::<M>() as u64 + 8) * arcs
    }

    fn new(_: u32, arcs: u64) -> Result<Along<M>, OutOfMemory> {
        let arcs = arcs as usize;
        Ok(Along { on: memory::filled(M::NONE, arcs)?, sums: memory::zeros(arcs)? })
    }

    fn clear<L: Lists>(&mut self, behind: L) {
        self.sums[..behind.arcs() as usize].fill(0.0);
    }

    #[inline(always)]
    fn mark(&mut self, arc: impl FnOnce() -> usize, sources: M) {
        let on = &mut self.on[arc()];
        *on = *on | sources;
    }

    #[inline(always)]
    fn add_up<L: Lists>(&mut self, behind: L, Rows { row, ways, inverse, share }: Rows<'_>) {
        let mut passed = [0.0; LONGEST];
        let mut arcs = self.on.iter_mut().zip(&mut self.sums);
        let rows = inverse.chunks_exact(row).zip(share.chunks_exact(row));
        for (vertex, (inverse, share)) in (0..behind.vertices()).zip(rows) {
            let numbers = passed.iter_mut().zip(inverse).zip(share);
            numbers.for_each(|((passed, inverse), share)| *passed = inverse + share);
            for (&from, (on, sum)) in behind.of(vertex).iter().zip(&mut arcs) {
                let sources = std::mem::replace(on, M::NONE);
                if sources != M::NONE {
                    let ways = &ways[from as usize * row..][..row];
                    add_along(sum, sources, ways, &passed[..row]);
                }
            }
        }
    }

    fn sums(&self) -> &[f64] {
        &self.sums
    }
}

/// Adds what leads along an arc that is on shortest ways from some sources.
#[inline(always)]
fn add_along<M: Mask>(sum: &mut f64, sources: M, ways: &[f64], passed: &[f64]) {
    let sources: u64 = sources.into();
    let mut through = [0.0; LONGEST];
    for (lane, (through, (ways, passed))) in
        through.iter_mut().zip(ways.iter().zip(passed)).enumerate()
    {
        // What a vertex without a way has passed on is no number, and 0 the number without a bit. To ask would
        // take longer than to compute all.
        let bits = 0u64.wrapping_sub(sources >> lane & 1);
        *through = f64::from_bits((ways * passed).to_bits() & bits);
    }
    let eights = through[..ways.len()].as_chunks::<EIGHT>().0;
    eights.iter().for_each(|&through| *sum += sum_of(through));
}
