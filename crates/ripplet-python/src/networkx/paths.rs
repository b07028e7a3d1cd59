//! Shortest paths in the order of NetworkX: distances, betweenness of nodes and edges.
//!
//! Each source has a search of its own, with NetworkX's order of visits and additions, so that floats have NetworkX's
//! bits (as Python up to 3.11 adds them). Sources are searched on all threads; what they add to a node is added in
//! the order of the sources, so that results do not depend on the number of threads. Beside the graph, a thread needs
//! 45 bytes per node, 12 per arc for betweenness, and room for the sums of up to 16 sources.

use super::adjacency::{Adjacency, Dicts, Lists};
use crate::array::Array;
use crate::error::{Class, Failure};
use crate::graph::Graph;
use crate::job::Watch;
use crate::options::Options;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::prelude::*;
use ripplet::Observer;
use ripplet::analytics::{Lengths, apsp};
use ripplet::graph::{OutOfMemory, VertexId, memory};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No predecessor: the end of a list.
const NONE: u32 = u32::MAX;
/// Sources of a thread in a block, and the sums that they take at most.
const MOST_SOURCES: usize = 16;
const MOST_SUMS: usize = 1 << 21;

/// Returns the sums of the dependencies of these sources on each node; `endpoints` counts the ends of paths.
#[pyfunction]
pub fn dependencies(
    py: Python<'_>,
    graph: &Adjacency,
    sources: Vec<VertexId>,
    weighted: bool,
    endpoints: bool,
    options: Bound<'_, PyDict>,
) -> PyResult<Array> {
    let dicts = graph.0.clone();
    Options(options).start()?.run(py, move |watch| {
        let lists = Searched::new(&dicts, &sources, weighted, false)?;
        let sums = totals(lists, dicts.nodes() as usize, &sources, watch, |search, sums| {
            search.add_to_nodes(endpoints, sums);
        })?;
        Ok(Array::of(sums))
    })
}

/// Returns the ends of each edge in NetworkX's order, and the sums of the dependencies of these sources on it.
#[pyfunction]
pub fn edge_dependencies(
    py: Python<'_>,
    graph: &Adjacency,
    sources: Vec<VertexId>,
    weighted: bool,
    options: Bound<'_, PyDict>,
) -> PyResult<(Array, Array, Array)> {
    let dicts = graph.0.clone();
    Options(options).start()?.run(py, move |watch| {
        let lists = Searched::new(&dicts, &sources, weighted, false)?;
        let (from, to, edge_of) = edges(&dicts)?;
        let sums = totals(lists, from.len(), &sources, watch, |search, sums| {
            search.add_to_edges(&edge_of, sums);
        })?;
        Ok((Array::of(from), Array::of(to), Array::of(sums)))
    })
}

/// Returns for each source how many nodes it reaches, itself among them, the sum of the distances, and the largest;
/// `reverse` searches against the direction of arcs.
#[pyfunction]
pub fn extents(
    py: Python<'_>,
    graph: &Adjacency,
    sources: Vec<VertexId>,
    weighted: bool,
    reverse: bool,
    options: Bound<'_, PyDict>,
) -> PyResult<(Array, Array, Array)> {
    let dicts = graph.0.clone();
    Options(options).start()?.run(py, move |watch| {
        let lists = Searched::new(&dicts, &sources, weighted, reverse)?;
        let found: Result<Vec<(u64, f64, f64)>, Failure> = sources
            .par_iter()
            .map_init(Search::default, |search, &source| {
                go_on(watch)?;
                search.run(lists, source, f64::INFINITY, false)?;
                let lengths = search.order.iter().map(|&node| search.seen[node as usize]);
                let (sum, most) = lengths
                    .fold((0.0, 0.0), |(sum, most), length| (sum + length, f64::max(most, length)));
                Ok((search.order.len() as u64, sum, most))
            })
            .collect();
        let found = found?;
        Ok((
            Array::of(memory::collected(found.iter().map(|found| found.0))?),
            Array::of(memory::collected(found.iter().map(|found| found.1))?),
            Array::of(memory::collected(found.iter().map(|found| found.2))?),
        ))
    })
}

/// Returns for each node how many others it has a path to, the sum of their distances in arcs, and the largest.
#[pyfunction]
pub fn reach(
    py: Python<'_>,
    graph: &Graph,
    options: Bound<'_, PyDict>,
) -> PyResult<(Array, Array, Array)> {
    let stored = graph.stored.clone();
    Options(options).start()?.run(py, move |watch| {
        let found = apsp::reach(stored.view(), Lengths::Hops, watch);
        let found = found.map_err(|error| Failure::new(Class::Run, error))?;
        let far = |far: u128| u64::try_from(far).unwrap_or(u64::MAX);
        Ok((
            Array::of(memory::collected(found.iter().map(|found| found.reached))?),
            Array::of(memory::collected(found.iter().map(|found| far(found.far)))?),
            Array::of(memory::collected(found.iter().map(|found| found.farthest))?),
        ))
    })
}

/// Returns for each source a dictionary of distances by node, the nearest first.
///
/// A distance beyond `cutoff` is left out. Distances are integers if `integers`, but for the 0 of a source, which always
/// is one.
#[pyfunction]
#[pyo3(signature = (graph, nodes, sources, weighted, integers, cutoff, options))]
#[expect(clippy::too_many_arguments, reason = "called from one place, by position")]
pub fn distances<'py>(
    py: Python<'py>,
    graph: &Adjacency,
    nodes: &Bound<'py, PyList>,
    sources: Vec<VertexId>,
    weighted: bool,
    integers: bool,
    cutoff: f64,
    options: Bound<'py, PyDict>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let dicts = graph.0.clone();
    type Row = Vec<(VertexId, f64)>;
    let rows: Vec<Row> = Options(options).start()?.run(py, move |watch| {
        let lists = Searched::new(&dicts, &sources, weighted, false)?;
        let rows = sources.par_iter().map_init(Search::default, |search, &source| {
            go_on(watch)?;
            search.run(lists, source, cutoff, false)?;
            let lengths = search.order.iter().map(|&node| (node, search.seen[node as usize]));
            Ok::<Row, Failure>(memory::collected(lengths)?)
        });
        rows.collect()
    })?;
    let zero = 0u64.into_pyobject(py)?.into_any();
    let mut found = Vec::new();
    for row in rows {
        let dict = PyDict::new(py);
        for (at, (node, length)) in row.into_iter().enumerate() {
            let length = match (at, integers) {
                (0, _) => zero.clone(),
                (_, true) => (length as u64).into_pyobject(py)?.into_any(),
                (_, false) => length.into_pyobject(py)?.into_any(),
            };
            dict.set_item(nodes.get_item(node as usize)?, length)?;
        }
        found.push(dict);
    }
    Ok(found)
}

fn go_on(watch: &Watch) -> Result<(), Failure> {
    match watch.is_cancelled() {
        true => Err(Failure::new(Class::Run, "cancelled")),
        false => Ok(()),
    }
}

/// The ends of each edge, and the edge of each arc.
type Edges = (Vec<VertexId>, Vec<VertexId>, Vec<u32>);

fn edges(dicts: &Dicts) -> Result<Edges, Failure> {
    let (out, undirected) = (&dicts.out, dicts.incoming.is_none());
    let (mut from, mut to) = (Vec::new(), Vec::new());
    let mut edge_of = memory::filled(NONE, out.ends.len())?;
    // Arcs back to an earlier node, which belong to that node's edge.
    let mut keys: Vec<(u64, u32)> = Vec::new();
    let mut back: Vec<(u64, usize)> = Vec::new();
    let key = |a: VertexId, b: VertexId| u64::from(a) << 32 | u64::from(b);
    for node in 0..out.nodes() {
        for arc in out.arcs(node) {
            let end = out.ends[arc];
            if undirected && end < node {
                memory::push(&mut back, (key(end, node), arc))?;
                continue;
            }
            edge_of[arc] = from.len() as u32;
            if undirected {
                memory::push(&mut keys, (key(node, end), from.len() as u32))?;
            }
            memory::push(&mut from, node)?;
            memory::push(&mut to, end)?;
        }
    }
    keys.sort_unstable();
    for (key, arc) in back {
        let place = keys.binary_search_by_key(&key, |&(key, _)| key);
        let wrong = |_| Failure::input("an edge of the undirected graph has one direction only");
        edge_of[arc] = keys[place.map_err(wrong)?].1;
    }
    Ok((from, to, edge_of))
}

/// The lists that are searched.
#[derive(Clone, Copy)]
struct Searched<'a> {
    lists: &'a Lists,
    lengths: Option<&'a [f64]>,
}

impl<'a> Searched<'a> {
    fn new(
        dicts: &'a Dicts,
        sources: &[VertexId],
        weighted: bool,
        reverse: bool,
    ) -> Result<Searched<'a>, Failure> {
        let lists = if reverse { dicts.incoming() } else { &dicts.out };
        if sources.iter().any(|&source| source >= dicts.nodes()) {
            return Err(Failure::input("a source is no node"));
        }
        if lists.ends.len() >= NONE as usize {
            return Err(Failure::input("the graph has more than 4,294,967,294 arcs"));
        }
        let lengths = match weighted {
            false => None,
            true if dicts.least < 0.0 => return Err(Failure::input("a weight is negative")),
            true => {
                let missing = || Failure::input("the graph was converted without weights");
                Some(&lists.lengths.as_ref().ok_or_else(missing)?[..])
            }
        };
        Ok(Searched { lists, lengths })
    }
}

/// Returns the sums of what `add` finds for each source, added in the order of the sources.
fn totals(
    lists: Searched<'_>,
    size: usize,
    sources: &[VertexId],
    watch: &Watch,
    add: impl Fn(&mut Search, &mut [f64]) + Sync,
) -> Result<Vec<f64>, Failure> {
    let mut totals: Vec<f64> = memory::zeros(size)?;
    let threads = rayon::current_num_threads().max(1);
    let of_thread = (MOST_SUMS / size.max(1)).clamp(1, MOST_SOURCES);
    let mut threads: Vec<(Search, Vec<f64>)> = (0..threads.min(sources.len()))
        .map(|_| Ok((Search::default(), memory::zeros(size.saturating_mul(of_thread))?)))
        .collect::<Result<_, OutOfMemory>>()?;
    for block in sources.chunks((threads.len() * of_thread).max(1)) {
        // Sources are dealt in turn: the sums of source i are those of thread i / of_thread.
        let share = block.len().div_ceil(threads.len()).max(1);
        threads.par_iter_mut().zip(block.par_chunks(share)).with_max_len(1).try_for_each(
            |((search, sums), sources)| {
                for (&source, sums) in sources.iter().zip(sums.chunks_mut(size.max(1))) {
                    go_on(watch)?;
                    search.run(lists, source, f64::INFINITY, true)?;
                    sums.fill(0.0);
                    add(search, sums);
                }
                Ok::<_, Failure>(())
            },
        )?;
        let threads = &threads;
        totals.par_iter_mut().enumerate().with_min_len(1 << 12).for_each(|(at, total)| {
            for (of_thread, sources) in threads.iter().zip(block.chunks(share)) {
                let sums = (0..sources.len()).map(|source| of_thread.1[source * size + at]);
                sums.for_each(|sum| *total += sum);
            }
        });
    }
    Ok(totals)
}

/// A search from one source, with room for its paths.
#[derive(Default)]
struct Search {
    /// The distance of each node as far as it is known; NaN if it is not.
    seen: Vec<f64>,
    done: Vec<bool>,
    /// The nodes in the order in which they are reached.
    order: Vec<VertexId>,
    /// The nodes with a distance.
    touched: Vec<VertexId>,
    /// The number of shortest paths to each node.
    paths: Vec<f64>,
    delta: Vec<f64>,
    /// The first predecessor of each node, an index of `predecessors`.
    first: Vec<u32>,
    /// A predecessor, the arc from it, and the next one of the same node.
    predecessors: Vec<(VertexId, u32, u32)>,
    /// Nodes by distance, as the bits of a float that is not negative, then in the order of insertion.
    heap: BinaryHeap<Reverse<(u64, u64, VertexId, VertexId)>>,
}

impl Search {
    /// Searches from a source up to a distance; `count` counts the shortest paths.
    fn run(
        &mut self,
        lists: Searched<'_>,
        source: VertexId,
        cutoff: f64,
        count: bool,
    ) -> Result<(), Failure> {
        let nodes = lists.lists.nodes() as usize;
        if self.seen.len() != nodes {
            self.seen = memory::filled(f64::NAN, nodes)?;
            self.done = memory::filled(false, nodes)?;
            self.paths = memory::zeros(nodes)?;
            self.delta = memory::zeros(nodes)?;
            self.first = memory::filled(NONE, nodes)?;
            self.touched.clear();
        }
        for node in self.touched.drain(..) {
            let node = node as usize;
            (self.seen[node], self.done[node]) = (f64::NAN, false);
            (self.paths[node], self.first[node]) = (0.0, NONE);
        }
        self.order.clear();
        self.predecessors.clear();
        self.heap.clear();
        self.see(source, 0.0)?;
        self.paths[source as usize] = 1.0;
        match lists.lengths {
            None => self.by_hops(lists.lists, source, cutoff, count),
            Some(lengths) => self.by_weights(lists.lists, lengths, source, cutoff, count),
        }
    }

    fn see(&mut self, node: VertexId, distance: f64) -> Result<(), OutOfMemory> {
        let seen = &mut self.seen[node as usize];
        if seen.is_nan() {
            memory::push(&mut self.touched, node)?;
        }
        *seen = distance;
        Ok(())
    }

    fn follow(&mut self, to: VertexId, from: VertexId, arc: usize) -> Result<(), OutOfMemory> {
        let first = &mut self.first[to as usize];
        let place = self.predecessors.len() as u32;
        memory::push(&mut self.predecessors, (from, arc as u32, *first))?;
        *first = place;
        Ok(())
    }

    fn by_hops(
        &mut self,
        lists: &Lists,
        source: VertexId,
        cutoff: f64,
        count: bool,
    ) -> Result<(), Failure> {
        memory::push(&mut self.order, source)?;
        let mut at = 0;
        while let Some(&node) = self.order.get(at) {
            at += 1;
            let here = self.seen[node as usize];
            if here >= cutoff {
                break;
            }
            for arc in lists.arcs(node) {
                let to = lists.ends[arc];
                if self.seen[to as usize].is_nan() {
                    self.see(to, here + 1.0)?;
                    memory::push(&mut self.order, to)?;
                }
                if count && self.seen[to as usize] == here + 1.0 {
                    self.paths[to as usize] += self.paths[node as usize];
                    self.follow(to, node, arc)?;
                }
            }
        }
        Ok(())
    }

    fn by_weights(
        &mut self,
        lists: &Lists,
        lengths: &[f64],
        source: VertexId,
        cutoff: f64,
        count: bool,
    ) -> Result<(), Failure> {
        let mut inserted = 0;
        let mut put = |heap: &mut BinaryHeap<_>, distance: f64, node, from| {
            heap.try_reserve(1).map_err(|_| OutOfMemory::of::<u64>(heap.len()))?;
            heap.push(Reverse((distance.to_bits(), inserted, node, from)));
            inserted += 1;
            Ok::<_, Failure>(())
        };
        put(&mut self.heap, 0.0, source, source)?;
        while let Some(Reverse((bits, _, node, from))) = self.heap.pop() {
            if std::mem::replace(&mut self.done[node as usize], true) {
                continue;
            }
            let here = f64::from_bits(bits);
            // For the source, too, as NetworkX does.
            self.paths[node as usize] += self.paths[from as usize];
            memory::push(&mut self.order, node)?;
            for arc in lists.arcs(node) {
                let (to, through) = (lists.ends[arc], here + lengths[arc] + 0.0);
                if through > cutoff {
                    continue;
                }
                let seen = self.seen[to as usize];
                if !self.done[to as usize] && (seen.is_nan() || through < seen) {
                    self.see(to, through)?;
                    put(&mut self.heap, through, to, node)?;
                    self.paths[to as usize] = 0.0;
                    self.first[to as usize] = NONE;
                    if count {
                        self.follow(to, node, arc)?;
                    }
                } else if count && through == seen {
                    self.paths[to as usize] += self.paths[node as usize];
                    self.follow(to, node, arc)?;
                }
            }
        }
        Ok(())
    }

    /// Accumulates dependencies from the farthest node to the source, and calls `use_arc` with that on each arc.
    fn accumulate(&mut self, mut use_arc: impl FnMut(u32, f64)) {
        let Search { order, paths, delta, first, predecessors, .. } = self;
        order.iter().for_each(|&node| delta[node as usize] = 0.0);
        for &node in order.iter().rev() {
            let share = (1.0 + delta[node as usize]) / paths[node as usize];
            let mut next = first[node as usize];
            while let Some(&(from, arc, after)) = predecessors.get(next as usize) {
                let through = paths[from as usize] * share;
                use_arc(arc, through);
                delta[from as usize] += through;
                next = after;
            }
        }
    }

    fn add_to_nodes(&mut self, endpoints: bool, sums: &mut [f64]) {
        self.accumulate(|_, _| {});
        let others = self.order.len() as f64 - 1.0;
        for (at, &node) in self.order.iter().enumerate() {
            sums[node as usize] = match (at, endpoints) {
                (0, false) => 0.0,
                (0, true) => others,
                (_, false) => self.delta[node as usize],
                (_, true) => self.delta[node as usize] + 1.0,
            };
        }
    }

    fn add_to_edges(&mut self, edge_of: &[u32], sums: &mut [f64]) {
        self.accumulate(|arc, through| sums[edge_of[arc as usize] as usize] += through);
    }
}
