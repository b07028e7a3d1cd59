//! Sums over the edges of given communities, and the votes of NetworkX's label propagation.

use super::adjacency::{Adjacency, Dicts, Lists};
use crate::array::Array;
use crate::error::Failure;
use crate::graph::Graph;
use crate::job::Start;
use crate::options::Options;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use ripplet::graph::{
    EdgeTable, GraphBuilder, SelfLoops, VertexId, VertexIds, WeightScale, memory,
};
use std::ops::Range;

/// A node that is no member of a community.
const NO_PLACE: u32 = u32::MAX;

/// Returns for each community the weight of the edges inside, and the sums of its members' degrees out and in; and the
/// sum of the degrees (out) of all nodes.
///
/// `members` has the nodes of the communities one after the other, and `begins` the begin of each and the end of the
/// last. Numbers are added in the order of the members and of their dictionaries, as `networkx.community.modularity`
/// adds them (up to Python 3.11), whatever the number of threads. Without `weighted`, edges are counted. A loop counts
/// once inside, and twice in an undirected degree. Memory: 4 bytes a node beside the arguments.
///
/// # Errors
/// If the arrays are no communities of this graph, or the weights were not read.
#[pyfunction]
pub fn community_sums(
    py: Python<'_>,
    graph: &Adjacency,
    members: PyBuffer<VertexId>,
    begins: PyBuffer<u64>,
    weighted: bool,
    options: Bound<'_, PyDict>,
) -> PyResult<(Array, Array, Array, f64)> {
    let dicts = graph.0.clone();
    let (members, begins) = (members.to_vec(py)?, begins.to_vec(py)?);
    Options(options).start()?.run(py, move |_| {
        let places = places_of(&members, &begins, dicts.nodes())?;
        let out = Weighed::new(&dicts.out, weighted)?;
        let incoming = dicts.incoming.as_ref().map(|lists| Weighed::new(lists, weighted));
        let incoming = incoming.transpose()?;
        let sums = |community: &[u64]| {
            let range = community[0] as u32..community[1] as u32;
            let nodes = &members[range.start as usize..range.end as usize];
            let degrees = |lists: Weighed<'_>| -> f64 {
                nodes.iter().map(|&node| lists.degree(node, incoming.is_none())).sum()
            };
            let degree = degrees(out);
            let inner = inner_weight(out, nodes, range, &places, incoming.is_none());
            (inner, degree, incoming.map_or(degree, degrees))
        };
        let found: Vec<(f64, f64, f64)> = begins.par_windows(2).map(sums).collect();
        let all = (0..dicts.nodes()).map(|node| out.degree(node, incoming.is_none())).sum();
        let column = |of: fn(&(f64, f64, f64)) -> f64| {
            memory::collected(found.iter().map(of)).map(Array::of)
        };
        Ok((column(|sums| sums.0)?, column(|sums| sums.1)?, column(|sums| sums.2)?, all))
    })
}

/// Returns the place of each node among the members; [`NO_PLACE`] if it is none.
fn places_of(members: &[VertexId], begins: &[u64], nodes: u32) -> Result<Vec<u32>, Failure> {
    let wrong = || Failure::input("the arrays are no communities of this graph");
    let ascend = begins.windows(2).all(|pair| pair[0] <= pair[1]);
    let whole = begins.first() == Some(&0) && begins.last() == Some(&(members.len() as u64));
    if !ascend || !whole {
        return Err(wrong());
    }
    let mut places: Vec<u32> = memory::filled(NO_PLACE, nodes as usize)?;
    for (place, &node) in members.iter().enumerate() {
        match places.get_mut(node as usize) {
            // There are fewer members than nodes so far, so a place has 32 bits.
            Some(unknown) if *unknown == NO_PLACE => *unknown = place as u32,
            _ => return Err(wrong()),
        }
    }
    Ok(places)
}

/// Returns the weight of the edges between `nodes`, whose places are `range`; an undirected edge counts once.
fn inner_weight(
    lists: Weighed<'_>,
    nodes: &[VertexId],
    range: Range<u32>,
    places: &[u32],
    undirected: bool,
) -> f64 {
    let mut sum = 0.0;
    for (place, &node) in range.clone().zip(nodes) {
        // The edge to an earlier member was added there.
        let begin = if undirected { place } else { range.start };
        for arc in lists.lists.arcs(node) {
            if (begin..range.end).contains(&places[lists.lists.ends[arc] as usize]) {
                sum += lists.weight(arc);
            }
        }
    }
    sum
}

/// Lists with a weight for each arc: the sum of those of parallel edges, or their number.
#[derive(Clone, Copy)]
pub(super) struct Weighed<'a> {
    lists: &'a Lists,
    weights: Option<&'a [f64]>,
}

impl<'a> Weighed<'a> {
    /// Returns the lists with the weights that were read, or with numbers of edges.
    ///
    /// # Errors
    /// If no weights were read.
    pub(super) fn new(lists: &'a Lists, weighted: bool) -> Result<Weighed<'a>, Failure> {
        let missing = || Failure::input("the graph was converted without weights");
        let weights = lists.totals.as_deref().or(lists.lengths.as_deref());
        match weighted {
            false => Ok(Weighed { lists, weights: None }),
            true => Ok(Weighed { lists, weights: Some(weights.ok_or_else(missing)?) }),
        }
    }

    /// Returns the weight of an arc.
    #[inline]
    pub(super) fn weight(self, arc: usize) -> f64 {
        self.weights.map_or_else(|| self.lists.repeats(arc) as f64, |weights| weights[arc])
    }

    /// Returns the sum of a node's arcs; with `twice`, a loop counts twice.
    fn degree(self, node: VertexId, twice: bool) -> f64 {
        let arcs = self.lists.arcs(node);
        let sum: f64 = arcs.clone().map(|arc| self.weight(arc)).sum();
        let mut loops = arcs.filter(|&arc| twice && self.lists.ends[arc] == node);
        sum + loops.next().map_or(0.0, |arc| self.weight(arc))
    }
}

/// Returns the undirected graph whose weights are the votes between neighbours: 1, the number of parallel edges with
/// `parallel`, or the sum of their weights with `weighted`.
///
/// A directed edge is a vote for both ends, so that a reciprocal neighbour has two, and a loop is two for its node.
/// Without `exact`, weights are rounded as the command rounds them.
///
/// # Errors
/// `NotImplementedError` if rounding changes a weight: at all with `exact`, and otherwise by more than
/// [`NEGLIGIBLE`](ripplet::graph::WeightLoss::NEGLIGIBLE).
#[pyfunction]
pub fn vote_graph(
    py: Python<'_>,
    graph: &Adjacency,
    parallel: bool,
    weighted: bool,
    exact: bool,
) -> PyResult<Graph> {
    let dicts = graph.0.clone();
    match Start::default().run(py, move |_| votes(&dicts, parallel, weighted, exact))? {
        Some(graph) => Ok(graph.into()),
        None => Err(PyNotImplementedError::new_err(match exact {
            true => "some weights, or their sums, do not fit ripplet's integers of 32 bits exactly",
            false => {
                "some weights are too small beside the largest: integers of 32 bits do not hold both"
            }
        })),
    }
}

/// Returns the graph of the votes; none if a weight would change.
fn votes(
    dicts: &Dicts,
    parallel: bool,
    weighted: bool,
    exact: bool,
) -> Result<Option<ripplet::graph::Graph>, Failure> {
    let (out, directed) = (&dicts.out, dicts.incoming.is_some());
    let weighed = Weighed::new(out, weighted)?;
    let count = weighted || directed || parallel && out.repeats.is_some();
    let mut sources: Vec<VertexId> = memory::with_room(out.ends.len())?;
    let mut targets: Vec<VertexId> = memory::with_room(out.ends.len())?;
    let mut weights: Vec<f64> = memory::with_room(if count { out.ends.len() } else { 0 })?;
    for node in 0..out.nodes() {
        for arc in out.arcs(node).filter(|&arc| directed || node <= out.ends[arc]) {
            let end = out.ends[arc];
            sources.push(node);
            targets.push(end);
            if count {
                let weight = if weighted || parallel { weighed.weight(arc) } else { 1.0 };
                weights.push(if directed && node == end { 2.0 * weight } else { weight });
            }
        }
    }
    let scale = WeightScale::fitting(&weights);
    let holds = |&weight: &f64| scale.weight(scale.quantize(weight).into()) == weight;
    let are_held = match exact {
        true => weights.par_iter().all(holds),
        false => scale.loss(&weights).changed == 0,
    };
    if !are_held {
        return Ok(None);
    }
    let ids = VertexIds::Consecutive { first: 0, count: out.nodes() };
    let mut edges = EdgeTable::new(ids, sources, targets)?;
    if count {
        edges = edges.with_weights(weights)?;
    }
    let graph = GraphBuilder::new().self_loops(SelfLoops::Keep).build(edges)?;
    // Sums of reciprocal edges that do not fit make the unit coarser.
    Ok((!exact || !count || graph.weight_scale() == scale).then_some(graph))
}
