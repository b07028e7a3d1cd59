//! Conversion of NetworkX's dictionaries of dictionaries.

use crate::array::{Array, Kind};
use crate::column::kind_of;
use crate::error::Failure;
use crate::graph::Graph;
use crate::job::Start;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyString};
use ripplet::graph::{
    Direction, EdgeTable, GraphBuilder, OutOfMemory, SelfLoops, VertexId, VertexIds, memory,
};
use std::ops::Range;
use std::sync::Arc;

/// The integers below are exact as floats, and so are their sums.
const EXACT: f64 = (1u64 << 53) as f64;
/// Nodes between two looks at signals.
const NODES_PER_LOOK: usize = 1 << 12;

/// The neighbours of each node in the order of a dictionary; parallel edges are one arc.
#[derive(Debug, Default)]
pub struct Lists {
    /// The begin of each node's arcs, and the end of the last.
    pub begins: Vec<u64>,
    pub ends: Vec<VertexId>,
    /// The number of parallel edges of each arc, in a multigraph.
    pub repeats: Option<Vec<u32>>,
    /// The weight of each arc, the least of parallel edges.
    pub lengths: Option<Vec<f64>>,
    /// The sum of the weights of parallel edges, in a multigraph.
    pub totals: Option<Vec<f64>>,
}

impl Lists {
    /// Returns the arcs of a node.
    #[inline]
    pub fn arcs(&self, node: VertexId) -> Range<usize> {
        self.begins[node as usize] as usize..self.begins[node as usize + 1] as usize
    }

    /// Returns the neighbours of a node.
    #[inline]
    pub fn of(&self, node: VertexId) -> &[VertexId] {
        &self.ends[self.arcs(node)]
    }

    /// Returns the number of edges of an arc.
    #[inline]
    pub fn repeats(&self, arc: usize) -> u64 {
        self.repeats.as_ref().map_or(1, |repeats| repeats[arc].into())
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> u32 {
        self.begins.len().saturating_sub(1) as u32
    }

    /// Refuses lists that are none: those of an unknown source.
    fn check(&self, nodes: u32) -> Result<(), Failure> {
        let arcs = self.ends.len();
        let ascend = self.begins.windows(2).all(|pair| pair[0] <= pair[1]);
        let bounds = self.begins.first() == Some(&0) && self.begins.last() == Some(&(arcs as u64));
        let same = |length: Option<usize>| length.is_none_or(|length| length == arcs);
        let lengths = [
            self.repeats.as_ref().map(Vec::len),
            self.lengths.as_ref().map(Vec::len),
            self.totals.as_ref().map(Vec::len),
        ];
        let are_nodes = self.ends.iter().all(|&end| end < nodes);
        let whole = self.begins.len() == nodes as usize + 1 && ascend && bounds && are_nodes;
        match whole && lengths.into_iter().all(same) {
            true => Ok(()),
            false => Err(Failure::input("the arrays are no graph")),
        }
    }
}

/// What the weights of a graph are, which decides the types of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// No weights were read.
    #[default]
    None,
    /// All are integers, and so are all their sums; their magnitudes add up to less than 2⁵³.
    Integers,
    /// All are floats.
    Floats,
    /// Some are integers, others are floats.
    Mixed,
}

impl Weights {
    const NAMES: [(&'static str, Weights); 4] = [
        ("none", Weights::None),
        ("integers", Weights::Integers),
        ("floats", Weights::Floats),
        ("mixed", Weights::Mixed),
    ];
}

/// A graph of NetworkX as arrays.
#[derive(Debug, Default)]
pub struct Dicts {
    pub out: Lists,
    /// The predecessors of each node, of a directed graph.
    pub incoming: Option<Lists>,
    pub weights: Weights,
    /// The least weight.
    pub least: f64,
}

impl Dicts {
    pub fn nodes(&self) -> u32 {
        self.out.nodes()
    }

    /// Returns the lists of incoming arcs: those of outgoing ones if the graph is undirected.
    pub fn incoming(&self) -> &Lists {
        self.incoming.as_ref().unwrap_or(&self.out)
    }
}

/// A graph of NetworkX as arrays, which does not change.
#[pyclass(frozen, module = "ripplet._native")]
pub struct Adjacency(pub Arc<Dicts>);

/// Converts the dictionaries of a graph: `adj` and, of a directed graph, `pred`, with the weights in an attribute.
///
/// `index` has the number of each node, its place in `nodes`.
#[pyfunction]
pub fn adjacency_of(
    nodes: &Bound<'_, PyList>,
    index: &Bound<'_, PyDict>,
    adj: &Bound<'_, PyAny>,
    pred: Option<&Bound<'_, PyAny>>,
    multigraph: bool,
    attribute: Option<&Bound<'_, PyAny>>,
) -> PyResult<Adjacency> {
    let mut reader = Reader::new(Some(Index::new(nodes, index)?), multigraph, attribute);
    let out = reader.lists(nodes, adj)?;
    let incoming = pred.map(|pred| reader.lists(nodes, pred)).transpose()?;
    let (weights, least) = reader.seen.weights()?;
    Ok(Adjacency(Arc::new(Dicts { out, incoming, weights, least })))
}

/// Returns why the weights in an attribute are no numbers that a conversion takes, if so; without `negative`, also why
/// some are below 0.
#[pyfunction]
pub fn refused_weights(
    adj: &Bound<'_, PyAny>,
    multigraph: bool,
    attribute: &Bound<'_, PyAny>,
    negative: bool,
) -> PyResult<Option<String>> {
    let mut reader = Reader::new(None, multigraph, Some(attribute));
    let dict = dict_of(adj)?;
    let read = reader.lists(&dict.keys(), dict.as_any()).and_then(|_| reader.seen.weights());
    match read {
        Ok((_, least)) if !negative && least < 0.0 => {
            Ok(Some(format!("the weight {least} is below 0")))
        }
        Ok(_) => Ok(None),
        Err(error) if error.is_instance_of::<PyNotImplementedError>(adj.py()) => {
            Ok(Some(error.value(adj.py()).to_string()))
        }
        Err(error) => Err(error),
    }
}

/// The numbers of nodes.
struct Index<'a, 'py> {
    of: &'a Bound<'py, PyDict>,
    quick: Quick<'py>,
    nodes: u32,
}

/// A lookup for nodes of one type; other objects, which may be equal to a node all the same, are looked up in the
/// dictionary.
enum Quick<'py> {
    /// Each node is its number.
    Same,
    /// All nodes are integers of 64 bits.
    Integers(Slots),
    /// All nodes are strings.
    Strings(Slots, Vec<Bound<'py, PyAny>>),
    /// Nodes of several types, or of another one.
    None,
}

/// A hash table of numbers with open addressing. It reads a third less memory than Python's: its entries have what
/// identifies a node.
struct Slots {
    /// At least half of them are empty.
    slots: Vec<Slot>,
    shift: u32,
}

#[derive(Clone, Copy)]
struct Slot {
    /// The integer, or the address of the string's object.
    word: u64,
    /// The upper half of the string's hash; 0 for integers.
    hash: u32,
    /// [`Slots::EMPTY`] if the slot is empty.
    number: u32,
}

impl Slots {
    const EMPTY: u32 = u32::MAX;

    fn with_room(nodes: usize) -> Result<Slots, Failure> {
        let bits = (2 * nodes as u64).max(2).next_power_of_two().ilog2();
        let empty = Slot { word: 0, hash: 0, number: Slots::EMPTY };
        let slots = memory::collected(std::iter::repeat_n(empty, 1 << bits))?;
        Ok(Slots { slots, shift: u64::BITS - bits })
    }

    /// Returns the place of the first slot that is empty or `is_it`, from the one of `key` on.
    #[inline]
    fn place<E>(
        &self,
        key: u64,
        mut is_it: impl FnMut(&Slot) -> Result<bool, E>,
    ) -> Result<usize, E> {
        // Fibonacci hashing: the upper bits of a product with 2⁶⁴ divided by the golden ratio.
        let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize;
        loop {
            let slot = &self.slots[at];
            if slot.number == Slots::EMPTY || is_it(slot)? {
                return Ok(at);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Adds a node that is none of those before it.
    fn add(&mut self, key: u64, slot: Slot) {
        let Ok(at) = self.place(key, |_| Ok::<bool, std::convert::Infallible>(false));
        self.slots[at] = slot;
    }

    fn number(&self, at: usize) -> Option<VertexId> {
        Some(self.slots[at].number).filter(|&number| number != Slots::EMPTY)
    }
}

impl<'py> Quick<'py> {
    fn of(nodes: &Bound<'py, PyList>) -> PyResult<Quick<'py>> {
        let same = nodes.iter().enumerate().all(|(at, node)| {
            node.is_exact_instance_of::<PyInt>() && node.extract::<usize>().is_ok_and(|n| n == at)
        });
        if same {
            return Ok(Quick::Same);
        }
        let mut slots = Slots::with_room(nodes.len())?;
        if nodes.iter().all(|node| node.is_exact_instance_of::<PyString>()) {
            let mut kept = memory::with_room(nodes.len()).map_err(Failure::from)?;
            for (number, node) in (0..).zip(nodes.iter()) {
                let hash = node.hash()? as u64;
                slots.add(hash, Slot { word: address(&node), hash: (hash >> 32) as u32, number });
                kept.push(node);
            }
            return Ok(Quick::Strings(slots, kept));
        }
        for (number, node) in (0..).zip(nodes.iter()) {
            let Some(integer) = integer(&node) else { return Ok(Quick::None) };
            slots.add(integer, Slot { word: integer, hash: 0, number });
        }
        Ok(Quick::Integers(slots))
    }

    /// Returns the number of a node that this lookup finds.
    fn get(&self, node: &Bound<'py, PyAny>, nodes: u32) -> PyResult<Option<VertexId>> {
        match self {
            Quick::Same => Ok(node.extract::<u32>().ok().filter(|&number| number < nodes)),
            Quick::Integers(slots) => {
                let Some(integer) = integer(node) else { return Ok(None) };
                let Ok(at) = slots.place(integer, |slot| {
                    Ok::<bool, std::convert::Infallible>(slot.word == integer)
                });
                Ok(slots.number(at))
            }
            Quick::Strings(slots, kept) => {
                if !node.is_exact_instance_of::<PyString>() {
                    return Ok(None);
                }
                let (hash, own) = (node.hash()? as u64, address(node));
                let at = slots.place(hash, |slot| {
                    if slot.word == own {
                        return Ok(true);
                    }
                    if slot.hash != (hash >> 32) as u32 {
                        return Ok(false);
                    }
                    kept.get(slot.number as usize).map_or(Ok(false), |kept| kept.eq(node))
                })?;
                Ok(slots.number(at))
            }
            Quick::None => Ok(None),
        }
    }
}

/// Returns an integer of 64 bits.
#[inline]
fn integer(node: &Bound<'_, PyAny>) -> Option<u64> {
    if !node.is_exact_instance_of::<PyInt>() {
        return None;
    }
    node.extract::<i64>().ok().map(|integer| integer as u64)
}

/// Returns the address of an object, which identifies it while it lives.
#[inline]
fn address(object: &Bound<'_, PyAny>) -> u64 {
    object.as_ptr() as u64
}

impl<'a, 'py> Index<'a, 'py> {
    fn new(nodes: &Bound<'py, PyList>, of: &'a Bound<'py, PyDict>) -> PyResult<Index<'a, 'py>> {
        let too_many = |_| Failure::input("a graph has at most 4,294,967,294 nodes");
        let count = u32::try_from(nodes.len()).map_err(too_many)?;
        Ok(Index { of, quick: Quick::of(nodes)?, nodes: count })
    }

    #[inline]
    fn get(&self, node: &Bound<'py, PyAny>) -> PyResult<VertexId> {
        if let Some(number) = self.quick.get(node, self.nodes)? {
            return Ok(number);
        }
        match self.of.get_item(node)? {
            Some(number) => Ok(number.extract::<u32>()?),
            None => Err(Failure::input(format!("the neighbour {node} is no node")).into()),
        }
    }
}

/// Weights that were read so far.
#[derive(Default)]
struct Seen {
    integers: bool,
    floats: bool,
    least: f64,
    /// The sum of their magnitudes.
    sum: f64,
}

impl Seen {
    /// Returns a weight as a float.
    fn number(&mut self, value: Option<&Bound<'_, PyAny>>) -> PyResult<f64> {
        let Some(value) = value else {
            return Ok(self.add(1.0, true));
        };
        if value.is_instance_of::<PyInt>() {
            return match value.extract::<i64>() {
                Ok(number) if number.unsigned_abs() < EXACT as u64 => {
                    Ok(self.add(number as f64, true))
                }
                _ => Err(refused(format!("the weight {value} is no exact float"))),
            };
        }
        if value.is_instance_of::<PyFloat>() {
            let number: f64 = value.extract()?;
            return match number.is_finite() {
                true => Ok(self.add(number, false)),
                false => Err(refused(format!("a weight is {number}"))),
            };
        }
        Err(refused(format!("a weight is of the type {}: no int or float", kind_of(value))))
    }

    fn add(&mut self, number: f64, integer: bool) -> f64 {
        match integer {
            true => self.integers = true,
            false => self.floats = true,
        }
        self.least = self.least.min(number);
        self.sum += number.abs();
        number
    }

    fn weights(&self) -> PyResult<(Weights, f64)> {
        let weights = match (self.integers, self.floats) {
            (false, false) => Weights::None,
            (true, false) if self.sum >= EXACT => {
                return Err(refused(
                    "sums of the weights, which are integers, are no exact floats",
                ));
            }
            (true, false) => Weights::Integers,
            (false, true) => Weights::Floats,
            (true, true) => Weights::Mixed,
        };
        Ok((weights, self.least))
    }
}

fn refused(reason: impl Into<String>) -> PyErr {
    PyNotImplementedError::new_err(reason.into())
}

/// Reads dictionaries of neighbours.
struct Reader<'a, 'py> {
    /// Without it only weights are read.
    index: Option<Index<'a, 'py>>,
    multigraph: bool,
    attribute: Option<&'a Bound<'py, PyAny>>,
    seen: Seen,
}

impl<'a, 'py> Reader<'a, 'py> {
    fn new(
        index: Option<Index<'a, 'py>>,
        multigraph: bool,
        attribute: Option<&'a Bound<'py, PyAny>>,
    ) -> Reader<'a, 'py> {
        let seen = Seen { least: f64::INFINITY, ..Seen::default() };
        Reader { index, multigraph, attribute, seen }
    }

    fn lists(&mut self, nodes: &Bound<'py, PyList>, adj: &Bound<'py, PyAny>) -> PyResult<Lists> {
        let dict = dict_of(adj)?;
        let (multi, weigh) = (self.multigraph, self.attribute.is_some());
        let mut lists = Lists {
            begins: memory::with_room(nodes.len() + 1).map_err(Failure::from)?,
            ends: Vec::new(),
            repeats: multi.then(Vec::new),
            lengths: weigh.then(Vec::new),
            totals: (multi && weigh).then(Vec::new),
        };
        lists.begins.push(0);
        for (at, node) in nodes.iter().enumerate() {
            if at % NODES_PER_LOOK == 0 {
                adj.py().check_signals()?;
            }
            let Some(neighbors) = dict.get_item(&node)? else {
                return Err(Failure::input(format!("the node {node} has no neighbours")).into());
            };
            self.row(&dict_of(&neighbors)?, &mut lists)?;
            memory::push(&mut lists.begins, lists.ends.len() as u64).map_err(Failure::from)?;
        }
        Ok(lists)
    }

    /// Appends the neighbours of a node.
    fn row(&mut self, neighbors: &Bound<'py, PyDict>, lists: &mut Lists) -> PyResult<()> {
        if let Some(index) = &self.index {
            memory::reserve(&mut lists.ends, neighbors.len()).map_err(Failure::from)?;
            for neighbor in neighbors.keys() {
                memory::push(&mut lists.ends, index.get(&neighbor)?).map_err(Failure::from)?;
            }
        }
        if !self.multigraph && self.attribute.is_none() {
            return Ok(());
        }
        for data in neighbors.values() {
            let kept = match self.multigraph {
                true => self.parallel(&dict_of(&data)?, lists)?,
                false => {
                    let weight = self.weight(&data)?;
                    keep(&mut lists.lengths, weight)
                }
            };
            kept.map_err(Failure::from)?;
        }
        if self.index.is_none() {
            // Only the weights matter, and were seen.
            lists.repeats.iter_mut().for_each(Vec::clear);
            lists.lengths.iter_mut().chain(&mut lists.totals).for_each(Vec::clear);
        } else if [lists.repeats.as_ref().map(Vec::len), lists.lengths.as_ref().map(Vec::len)]
            .into_iter()
            .flatten()
            .any(|length| length != lists.ends.len())
        {
            return Err(Failure::input("the graph changed while it was read").into());
        }
        Ok(())
    }

    /// Appends parallel edges, which have a dictionary of keys.
    fn parallel(
        &mut self,
        keys: &Bound<'py, PyDict>,
        lists: &mut Lists,
    ) -> PyResult<Result<(), OutOfMemory>> {
        let edges = keys.values();
        if let Err(error) = keep(&mut lists.repeats, u32::try_from(edges.len())?) {
            return Ok(Err(error));
        }
        if self.attribute.is_none() {
            return Ok(Ok(()));
        }
        let (mut least, mut total) = (f64::INFINITY, 0.0);
        for data in edges {
            let weight = self.weight(&data)?;
            (least, total) = (f64::min(least, weight), total + weight);
        }
        let kept = keep(&mut lists.lengths, least);
        Ok(kept.and_then(|()| keep(&mut lists.totals, total)))
    }

    fn weight(&mut self, data: &Bound<'py, PyAny>) -> PyResult<f64> {
        let Some(attribute) = self.attribute else { return Ok(1.0) };
        self.seen.number(dict_of(data)?.get_item(attribute)?.as_ref())
    }
}

fn keep<T>(to: &mut Option<Vec<T>>, value: T) -> Result<(), OutOfMemory> {
    to.as_mut().map_or(Ok(()), |to| memory::push(to, value))
}

/// Returns a dictionary, or that of a mapping such as a view of NetworkX.
fn dict_of<'py>(mapping: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    if let Ok(dict) = mapping.cast::<PyDict>() {
        return Ok(dict.clone());
    }
    let dict = mapping.py().get_type::<PyDict>().call1((mapping,))?;
    Ok(dict.cast_into()?)
}

#[pymethods]
impl Adjacency {
    /// The number of nodes.
    #[getter]
    fn nodes(&self) -> u32 {
        self.0.nodes()
    }

    /// What the weights are: `none`, `integers`, `floats` or `mixed`.
    #[getter]
    fn weights(&self) -> &'static str {
        let named = Weights::NAMES.iter().find(|(_, weights)| *weights == self.0.weights);
        named.map_or("none", |(name, _)| name)
    }

    /// The least weight; infinity without weights.
    #[getter]
    fn least(&self) -> f64 {
        self.0.least
    }

    /// The number of edges, with parallel ones and loops.
    #[getter]
    fn edges(&self) -> u64 {
        let out = &self.0.out;
        let all = |count: &dyn Fn(VertexId, usize) -> u64| -> u64 {
            let of_node = |node| out.arcs(node).map(|arc| count(node, arc)).sum::<u64>();
            (0..out.nodes()).map(of_node).sum()
        };
        match self.0.incoming {
            Some(_) => all(&|_, arc| out.repeats(arc)),
            None => all(&|node, arc| match out.ends[arc] < node {
                true => 0,
                false => out.repeats(arc),
            }),
        }
    }

    /// Returns the graph without weights, with loops, and with one edge for parallel ones.
    fn graph(&self, py: Python<'_>) -> PyResult<Graph> {
        let dicts = self.0.clone();
        Ok(Start::default().run(py, move |_| graph_of(&dicts))?.into())
    }

    /// Returns the arrays: of the outgoing arcs, and of the incoming ones of a directed graph.
    fn state(&self) -> (Arrays, Option<Arrays>, &'static str, f64) {
        let incoming = self.0.incoming.is_some().then(|| arrays(&self.0, Dicts::incoming));
        (arrays(&self.0, |dicts| &dicts.out), incoming, self.weights(), self.0.least)
    }

    /// Returns the graph of the arrays of a state.
    #[staticmethod]
    fn of_state(
        out: Buffers<'_>,
        incoming: Option<Buffers<'_>>,
        weights: &str,
        least: f64,
    ) -> PyResult<Adjacency> {
        let out = lists_of(out)?;
        let incoming = incoming.map(lists_of).transpose()?;
        let nodes = out.nodes();
        out.check(nodes)?;
        incoming.as_ref().map_or(Ok(()), |incoming| incoming.check(nodes))?;
        let named = Weights::NAMES.iter().find(|(name, _)| *name == weights);
        let &(_, weights) = named.ok_or_else(|| Failure::input("the arrays are no graph"))?;
        Ok(Adjacency(Arc::new(Dicts { out, incoming, weights, least })))
    }
}

/// Begins, ends, repeats, lengths and totals.
type Arrays = (Array, Array, Option<Array>, Option<Array>, Option<Array>);
type Buffers<'py> = (
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
);

fn arrays(dicts: &Arc<Dicts>, lists: fn(&Dicts) -> &Lists) -> Arrays {
    fn part<T: Kind>(
        dicts: &Arc<Dicts>,
        lists: fn(&Dicts) -> &Lists,
        of: fn(&Lists) -> &Option<Vec<T>>,
    ) -> Option<Array> {
        of(lists(dicts)).as_ref()?;
        Some(Array::within(dicts.clone(), move |dicts: &Arc<Dicts>| {
            of(lists(dicts)).as_ref().map_or(&[][..], |values| &values[..])
        }))
    }
    (
        Array::within(dicts.clone(), move |dicts: &Arc<Dicts>| &lists(dicts).begins[..]),
        Array::within(dicts.clone(), move |dicts: &Arc<Dicts>| &lists(dicts).ends[..]),
        part(dicts, lists, |lists| &lists.repeats),
        part(dicts, lists, |lists| &lists.lengths),
        part(dicts, lists, |lists| &lists.totals),
    )
}

fn lists_of((begins, ends, repeats, lengths, totals): Buffers<'_>) -> PyResult<Lists> {
    fn values<T: Element>(array: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
        PyBuffer::<T>::get(array)?.to_vec(array.py())
    }
    Ok(Lists {
        begins: values(&begins)?,
        ends: values(&ends)?,
        repeats: repeats.as_ref().map(values).transpose()?,
        lengths: lengths.as_ref().map(values).transpose()?,
        totals: totals.as_ref().map(values).transpose()?,
    })
}

fn graph_of(dicts: &Dicts) -> Result<ripplet::graph::Graph, Failure> {
    let (out, directed) = (&dicts.out, dicts.incoming.is_some());
    let mut sources: Vec<VertexId> = memory::with_room(out.ends.len())?;
    let mut targets: Vec<VertexId> = memory::with_room(out.ends.len())?;
    for node in 0..out.nodes() {
        for &end in out.of(node).iter().filter(|&&end| directed || node <= end) {
            sources.push(node);
            targets.push(end);
        }
    }
    let ids = VertexIds::Consecutive { first: 0, count: out.nodes() };
    let direction = match directed {
        true => Direction::Directed,
        false => Direction::Undirected,
    };
    let builder = GraphBuilder::new().direction(direction).self_loops(SelfLoops::Keep);
    Ok(builder.build(EdgeTable::new(ids, sources, targets)?)?)
}
