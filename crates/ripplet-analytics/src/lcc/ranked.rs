//! Coefficients on ranks: lists go round, and each rank counts the triangles that begin at its own vertices.
//!
//! ```text
//! rank 0   own lists 0 │ 0 → 1 → 2     step 0 1 2: whose lists are there
//! rank 1   own lists 1 │ 1 → 2 → 0     each sends them on to the rank before
//! rank 2   own lists 2 │ 2 → 0 → 1
//! ```
//!
//! As in one process ([`enumerate`](super::enumerate)), vertices are ranked by degree, and each edge is kept once, at its end of lower degree: a
//! list of v holds the neighbours before v. Every triangle {v, u, w} is found once: by the rank of v, when the lists of u are
//! there, as a vertex w of both lists: v's is in a hash table, in which u's is looked up. Lists ascend by vertex here, so that those
//! of a rank are a range of each.

use super::counts::{Counts, Sum};
use super::definition::{Definition, Lcc};
use super::graph::Coefficients;
use super::neighbors::SimpleGraph;
use super::rule::{Arcs, Cycles, Plain, Rule, unpack};
use crate::run::go_on;
use crate::{AnalysisError, Plan, RankPart};
use rayon::prelude::*;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{
    Direction, GraphView, Observer, OutOfMemory, VertexId, dispatch_lists, memory, tasks,
};
use ripplet_ranks::{Comm, CommError, Received};
use std::cmp::Reverse;
use std::ops::Range;

/// Own vertices of a task.
const VERTICES_PER_TASK: usize = 1 << 8;
/// Slots of a table for each vertex of a list, before they are rounded up.
const SLOTS: usize = 4;

impl Lcc {
    /// Returns the memory that [`Lcc::run_on_ranks`] needs on a rank beside its graph, if other ranks have as many arcs.
    pub fn plan_on_ranks<'g>(&self, graph: impl Into<GraphView<'g>>, own: Range<VertexId>) -> Plan {
        let graph = graph.into();
        let directed = graph.direction() == Direction::Directed;
        let (vertices, owned) = (u64::from(graph.vertices()), own.len() as u64);
        // Of a directed graph, whose incoming arcs are not counted, as many as of any rank on average.
        let share = graph.arcs() / u64::from(graph.vertices()).max(1) * owned;
        let arcs = graph.arcs_of(own) + if directed { share } else { 0 };
        let lists = (if directed { 5 } else { 4 }) * arcs + 4 * owned;
        let counts = if self.triangles && directed { 16 } else { 8 } * vertices;
        let plan = Plan::default()
            .with("degrees", 4 * vertices)
            .with("each edge once, at its end of lower degree", lists)
            .with("lists of other ranks, in messages", 3 * lists)
            .with("sums, coefficients", counts)
            .with("messages of sums", 2 * counts);
        if self.triangles { plan.with("triangles", 8 * vertices) } else { plan }
    }

    /// Computes the coefficients together with other processes, each with the lists of its own vertices: the result of
    /// [`Lcc::run`], on each of them.
    ///
    /// Messages: the lists of each rank to each other one, 4 bytes per edge (directed: 5), and 8 bytes per vertex for each sum of
    /// triangles and each result.
    ///
    /// # Errors
    /// If the observer cancels, memory is refused, or a message fails.
    pub fn run_on_ranks<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        part: &mut RankPart<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Coefficients, AnalysisError> {
        let graph = graph.into();
        let directed = graph.direction() == Direction::Directed;
        dispatch_lists!(graph, (out, incoming) => {
            let graph = SimpleGraph::of(out, incoming, directed);
            match (directed, self.definition) {
                (false, _) => self.on_ranks::<Plain, _>(graph, part, observer),
                (true, Definition::Ldbc) => self.on_ranks::<Arcs, _>(graph, part, observer),
                (true, Definition::Fagiolo) => self.on_ranks::<Cycles, _>(graph, part, observer),
            }
        })
    }

    fn on_ranks<R: Rule, L: NeighborLists>(
        &self,
        graph: SimpleGraph<L>,
        part: &mut RankPart<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Coefficients, AnalysisError> {
        observer.on_stage("ranking vertices by degree");
        let vertices = graph.vertices();
        let mut degrees = memory::zeros::<u32>(vertices)?;
        tasks::try_for_each_chunk(&mut degrees[part.places()], VERTICES_PER_TASK, &|at, some| {
            go_on(&*observer)?;
            for (vertex, degree) in (part.own.start + at as u32..).zip(some) {
                *degree = graph.degrees(vertex).neighbors;
            }
            Ok::<_, AnalysisError>(())
        })?;
        part.gather("degrees", &mut degrees)?;
        let own = OwnLists::of(graph, part.own.clone(), &degrees)?;
        drop(degrees);
        observer.on_stage("counting triangles");
        let mut numerators = memory::zeros(vertices)?;
        let mut triangles = match R::DIRECTED && self.triangles {
            true => Some(memory::zeros(vertices)?),
            false => None,
        };
        let counts = Counts::new(&mut numerators, triangles.as_deref_mut());
        let found = own.count::<R>(&counts, part, &*observer)?;
        let sum = |a: u64, b: u64| a + b;
        let triangle_count = part.comm.all_reduce("triangles", found, sum)?;
        part.sum_up("sums of vertices", &mut numerators)?;
        if let Some(triangles) = &mut triangles {
            part.sum_up("triangles", triangles)?;
            part.gather("triangles", triangles)?;
        } else if self.triangles {
            let mut copied = memory::copied(&numerators)?;
            part.gather("triangles", &mut copied)?;
            triangles = Some(copied);
        }
        let first = part.own.start as usize;
        self.divide(graph, first, &mut numerators[part.places()], &*observer)?;
        part.gather("coefficients", &mut numerators)?;
        // The bits of 0.0 are those of 0.
        let coefficients = bytemuck::allocation::cast_vec(numerators);
        Ok(Coefficients { coefficients, triangles, triangle_count })
    }
}

impl RankPart<'_> {
    /// Adds up what all ranks have counted; each has the sums of its own vertices.
    fn sum_up(&mut self, purpose: &'static str, values: &mut [u64]) -> Result<(), AnalysisError> {
        let ends = self.comm.all_gather("vertices", &[self.own.start, self.own.end])?;
        let of_rank = |ends: &[VertexId]| match *ends {
            [begin, end] => values.get(begin as usize..end as usize).unwrap_or_default(),
            _ => &[],
        };
        let to: Vec<&[u64]> = ends.iter().map(of_rank).collect();
        let received = self.comm.all_to_all(purpose, &to)?;
        let (rank, own) = (self.comm.rank(), self.places());
        for (peer, some) in received.iter().enumerate().filter(|&(peer, _)| peer != rank) {
            if some.len() != own.len() {
                return Err(CommError::Foreign { peer, bytes: size_of_val(some) }.into());
            }
            let sums = values[own.clone()].iter_mut().zip(some);
            sums.for_each(|(sum, value)| *sum = sum.wrapping_add(*value));
        }
        Ok(())
    }
}

/// The neighbours of own vertices that come before these: those of higher degree and, of equal degree, of smaller id.
struct OwnLists {
    own: Range<VertexId>,
    lengths: Vec<u32>,
    /// Ascending in each list.
    neighbors: Vec<VertexId>,
    /// The arcs of each edge, 1 or 2; empty in an undirected graph.
    arcs: Vec<u8>,
}

/// The lists of a rank's vertices.
struct Lists<'l> {
    first: VertexId,
    begins: Vec<usize>,
    neighbors: &'l [VertexId],
    arcs: &'l [u8],
}

/// A list: neighbours, and the arcs of each edge in a directed graph.
#[derive(Clone, Copy)]
struct List<'l> {
    neighbors: &'l [VertexId],
    arcs: &'l [u8],
}

impl OwnLists {
    fn of<L: NeighborLists>(
        graph: SimpleGraph<L>,
        own: Range<VertexId>,
        degrees: &[u32],
    ) -> Result<OwnLists, AnalysisError> {
        let key = |vertex: VertexId| (degrees[vertex as usize], Reverse(vertex));
        let each = |vertex: VertexId, visit: &mut dyn FnMut(VertexId, bool)| {
            let own = key(vertex);
            graph.for_each_neighbor(vertex, |u, both| {
                if key(u) > own {
                    visit(u, both);
                }
            });
        };
        let length = |vertex: VertexId| {
            let mut length = 0;
            each(vertex, &mut |_, _| length += 1);
            length
        };
        let mut lengths: Vec<u32> = memory::with_room(own.len())?;
        lengths.par_extend(own.clone().into_par_iter().with_min_len(64).map(length));
        let all = lengths.iter().map(|&length| length as usize).sum();
        let mut neighbors = memory::zeros::<VertexId>(all)?;
        let mut arcs = memory::zeros::<u8>(if graph.is_directed() { all } else { 0 })?;
        // Each task has a piece of the arrays.
        let (mut pieces, mut rest, mut rest_arcs) = (Vec::new(), &mut neighbors[..], &mut arcs[..]);
        for (at, lengths) in lengths.chunks(VERTICES_PER_TASK).enumerate() {
            let size = lengths.iter().map(|&length| length as usize).sum();
            let (piece, others) = rest.split_at_mut(size);
            let (piece_arcs, others_arcs) = rest_arcs.split_at_mut(size.min(rest_arcs.len()));
            (rest, rest_arcs) = (others, others_arcs);
            let first = own.start + (at * VERTICES_PER_TASK) as u32;
            pieces.push((first..first + lengths.len() as u32, piece, piece_arcs));
        }
        pieces.into_par_iter().for_each(|(vertices, piece, piece_arcs)| {
            let mut next = 0;
            for vertex in vertices {
                each(vertex, &mut |u, both| {
                    piece[next] = u;
                    if let Some(arcs) = piece_arcs.get_mut(next) {
                        *arcs = 1 + u8::from(both);
                    }
                    next += 1;
                });
            }
        });
        Ok(OwnLists { own, lengths, neighbors, arcs })
    }

    fn view(&self) -> Result<Lists<'_>, AnalysisError> {
        let OwnLists { own, lengths, neighbors, arcs } = self;
        Ok(Lists::of(own.start, lengths, neighbors, arcs)?.unwrap_or(Lists::NONE))
    }

    /// Counts the triangles that begin at own vertices, by rule; returns their number.
    fn count<R: Rule>(
        &self,
        counts: &Counts<'_>,
        part: &mut RankPart<'_>,
        observer: &dyn Observer,
    ) -> Result<u64, AnalysisError> {
        let own = self.view()?;
        let mut found = count_with::<R>(&own, &own, counts, observer)?;
        let mut visiting = Visiting::begin(self, part.comm)?;
        for step in 1..part.comm.size() {
            observer.on_progress(step as f64 / part.comm.size() as f64);
            found += count_with::<R>(&own, &visiting.lists(part.comm)?, counts, observer)?;
            if step + 1 < part.comm.size() {
                visiting = visiting.sent_on(part.comm)?;
            }
        }
        Ok(found)
    }
}

/// The lists of another rank, as they came from the next one.
struct Visiting {
    /// The first vertex, and the length of each list.
    head: Received<u32>,
    neighbors: Received<VertexId>,
    arcs: Received<u8>,
}

impl Visiting {
    /// Sends the own lists to the rank before; returns those of the next one.
    fn begin(own: &OwnLists, comm: &mut Comm) -> Result<Visiting, AnalysisError> {
        let mut head = memory::with_room(1 + own.lengths.len())?;
        head.push(own.own.start);
        head.extend_from_slice(&own.lengths);
        Ok(Visiting {
            head: to_rank_before("lists", &head, comm)?,
            neighbors: to_rank_before("lists", &own.neighbors, comm)?,
            arcs: to_rank_before("lists", &own.arcs, comm)?,
        })
    }

    /// Sends them on to the rank before; returns what came from the next one.
    fn sent_on(self, comm: &mut Comm) -> Result<Visiting, CommError> {
        let from = next_rank(comm);
        Ok(Visiting {
            head: to_rank_before("lists", self.head.of(from), comm)?,
            neighbors: to_rank_before("lists", self.neighbors.of(from), comm)?,
            arcs: to_rank_before("lists", self.arcs.of(from), comm)?,
        })
    }

    fn lists(&self, comm: &Comm) -> Result<Lists<'_>, AnalysisError> {
        let peer = next_rank(comm);
        let (neighbors, arcs) = (self.neighbors.of(peer), self.arcs.of(peer));
        let foreign = CommError::Foreign { peer, bytes: size_of_val(neighbors) };
        let Some((&first, lengths)) = self.head.of(peer).split_first() else {
            return Err(foreign.into());
        };
        Lists::of(first, lengths, neighbors, arcs)?.ok_or(foreign.into())
    }
}

/// Returns the rank from which lists come.
fn next_rank(comm: &Comm) -> usize {
    (comm.rank() + 1) % comm.size()
}

/// Sends values to the rank before this one.
fn to_rank_before<T: bytemuck::Pod>(
    purpose: &'static str,
    values: &[T],
    comm: &mut Comm,
) -> Result<Received<T>, CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let before = (rank + size - 1) % size;
    let message = |to: usize| if to == before && size > 1 { values } else { &[] };
    let to: Vec<&[T]> = (0..size).map(message).collect();
    comm.all_to_all(purpose, &to)
}

impl<'l> Lists<'l> {
    const NONE: Lists<'static> = Lists { first: 0, begins: Vec::new(), neighbors: &[], arcs: &[] };

    /// The lists of these lengths; `None` if the arrays have others.
    fn of(
        first: VertexId,
        lengths: &[u32],
        neighbors: &'l [VertexId],
        arcs: &'l [u8],
    ) -> Result<Option<Lists<'l>>, AnalysisError> {
        let mut begins = memory::with_room(lengths.len() + 1)?;
        let mut end = 0;
        begins.push(end);
        begins.extend(lengths.iter().map(|&length| {
            end += length as usize;
            end
        }));
        let fits = end == neighbors.len() && (arcs.is_empty() || arcs.len() == end);
        Ok(fits.then_some(Lists { first, begins, neighbors, arcs }))
    }

    fn len(&self) -> usize {
        self.begins.len().saturating_sub(1)
    }

    /// Returns the list at a place.
    fn at(&self, place: usize) -> List<'l> {
        let range = self.begins[place]..self.begins[place + 1];
        let arcs = self.arcs.get(range.clone()).unwrap_or_default();
        List { neighbors: &self.neighbors[range], arcs }
    }

    /// Returns the places in an ascending list of the vertices that these lists are of.
    fn places_in(&self, list: &[VertexId]) -> Range<usize> {
        let end = u64::from(self.first) + self.len() as u64;
        let begin = list.partition_point(|&vertex| vertex < self.first);
        begin..begin + list[begin..].partition_point(|&vertex| u64::from(vertex) < end)
    }
}

impl List<'_> {
    /// Returns the arcs of the edge at a place, 1 or 2; of an undirected edge, which needs none, 1.
    #[inline]
    fn multiplicity(&self, place: usize) -> u64 {
        self.arcs.get(place).map_or(1, |&arcs| arcs.into())
    }
}

/// Counts the triangles {v, u, w} with v among own vertices and u among others; returns their number.
fn count_with<R: Rule>(
    own: &Lists<'_>,
    others: &Lists<'_>,
    counts: &Counts<'_>,
    observer: &dyn Observer,
) -> Result<u64, AnalysisError> {
    let tasks = (0..own.len().div_ceil(VERTICES_PER_TASK)).into_par_iter().with_max_len(1);
    let of_task = |workspace: &mut Workspace<R>, task: usize| {
        go_on(observer)?;
        let mut found = 0;
        for at in tasks::range_at(task, VERTICES_PER_TASK, own.len()) {
            let v = own.first + at as u32;
            found += workspace.count_at(v, own.at(at), others, counts)?;
        }
        Ok(found)
    };
    let workspace = || Workspace { tallies: Vec::new(), table: Table::default() };
    tasks.map_init(workspace, of_task).try_reduce(|| 0, |a, b| Ok(a + b))
}

/// What a thread keeps of one v.
struct Workspace<R: Rule> {
    /// What v's triangles add to each vertex of its list.
    tallies: Vec<R::Tally>,
    table: Table,
}

impl<R: Rule> Workspace<R> {
    /// Counts the triangles at v; returns their number.
    fn count_at(
        &mut self,
        v: VertexId,
        list: List<'_>,
        others: &Lists<'_>,
        counts: &Counts<'_>,
    ) -> Result<u64, AnalysisError> {
        let places = others.places_in(list.neighbors);
        if places.is_empty() || list.neighbors.len() < 2 {
            return Ok(0);
        }
        let Workspace { tallies, table } = self;
        tallies.clear();
        memory::reserve(tallies, list.neighbors.len())?;
        tallies.extend((0..list.neighbors.len()).map(|place| R::marked(list.multiplicity(place))));
        table.fill(list.neighbors)?;
        let (mut of_v, mut found) = (Sum::default(), 0);
        for place in places {
            let (u, vu) = (list.neighbors[place], list.multiplicity(place));
            let of_u = others.at((u - others.first) as usize);
            let (mut v_packed, mut u_packed, mut of_both) = (0, 0, 0);
            for (of_u_at, &w) in of_u.neighbors.iter().enumerate() {
                if let Some(at) = table.place_of(w) {
                    let uw = of_u.multiplicity(of_u_at);
                    let (to_v, to_u) = R::meet(&mut tallies[at], true, vu, uw);
                    (v_packed, u_packed) = (v_packed + to_v, u_packed + to_u);
                    of_both += 1;
                }
            }
            if of_both > 0 {
                let Sum { numerator, triangles } = unpack(v_packed);
                of_v.numerator += numerator;
                of_v.triangles += triangles;
                counts.add(u, unpack(u_packed));
                found += of_both;
            }
        }
        if found > 0 {
            counts.add(v, of_v);
            for (&w, &tally) in list.neighbors.iter().zip(&*tallies) {
                let packed = R::found(tally);
                if packed > 0 {
                    counts.add(w, unpack(packed));
                }
            }
        }
        Ok(found)
    }
}

/// The places of the vertices of a list, in a hash table with linear probing, at most a quarter full.
#[derive(Default)]
struct Table {
    /// The vertex in the high half, and in the low half its place from 1; 0 if the slot is free.
    slots: Vec<u64>,
    /// The high bits of a product that are a slot.
    bits: u32,
}

impl Table {
    /// Replaces the list by another one, of fewer than 2²³ vertices (see `oriented.rs`).
    fn fill(&mut self, list: &[VertexId]) -> Result<(), OutOfMemory> {
        self.bits = (SLOTS * list.len()).max(64).next_power_of_two().trailing_zeros();
        let size = 1 << self.bits;
        self.slots.clear();
        memory::reserve(&mut self.slots, size)?;
        self.slots.resize(size, 0);
        for (place, &vertex) in (1..).zip(list) {
            let mut slot = self.first_slot(vertex);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = u64::from(vertex) << 32 | place;
        }
        Ok(())
    }

    #[inline]
    fn first_slot(&self, vertex: VertexId) -> usize {
        (vertex.wrapping_mul(0x9E37_79B1) >> (u32::BITS - self.bits)) as usize
    }

    /// Returns the place of a vertex in the list, if it is there.
    #[inline]
    fn place_of(&self, vertex: VertexId) -> Option<usize> {
        let mut slot = self.first_slot(vertex);
        loop {
            let found = self.slots[slot];
            if found == 0 {
                return None;
            }
            if (found >> 32) as u32 == vertex {
                return Some(found as u32 as usize - 1);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }
}
