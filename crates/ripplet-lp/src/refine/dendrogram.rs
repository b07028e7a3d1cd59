//! The dendrogram of communities: pairs of them join until one is left.
//!
//! Two communities join at the resolution at which that leaves the score as it is, below which it raises it:
//!
//! ```text
//! resolution(a, b) = weight between a and b / (mass of a · mass of b)        · total mass, for modularity
//! ```
//!
//! Each merge takes the pair of the highest resolution, of equals the one with the smallest numbers. What
//! two communities form is no nearer to a third than the nearer of both was, so resolutions never rise from
//! one merge to the next: a cut at a resolution leaves exactly the communities whose merges would lower the
//! score. Communities without any edge between them join at resolution 0, those of the smallest mass
//! first.
//!
//! # Algorithm
//! Each pair with edges belongs to the one of both with more neighbours, which has its pairs in a heap; a heap over
//! all communities has the first pair of each. A mass that has grown lowers the resolution of a pair, so
//! that entries that are out of date are upper bounds, and are corrected when they are first. A merge moves the
//! neighbours of the one with fewer neighbours to the other.
//!
//! # Complexity
//! O(e log² e) for e pairs of communities with edges, beside corrections, and one pass over the graph. One
//! thread. Memory: see [`dendrogram_bytes`].
//!
//! # References
//! Bonald, Charpentier, Galland, Hollocou, *Hierarchical graph clustering using node pair sampling*, 2018:
//! the distance, and why it does not fall.

use super::contract::Contraction;
use super::envelope::product;
use super::host::sums;
use super::input::{Input, OnInput, on_input};
use super::level::{ArcArrays, Level, LevelGraph};
use super::options::{Objective, RefineError, RefineOptions};
use super::partition::Partition;
use super::phases::Workers;
use super::run::{initial, plan};
use super::score::NullModel;
use crate::hash::mix;
use crate::team::{ThreadTeam, with_whole_pool};
use crate::{Label, NO_LABEL, RoundObserver, RunError};
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{Direction, GraphView};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// Merges between two polls of the observer.
const MERGES_PER_POLL: usize = 256;

/// Two clusters that join. Clusters are numbered: first the communities, then one for each merge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merge {
    /// The smaller number.
    pub left: u32,
    /// The larger number.
    pub right: u32,
    /// The resolution below which the merge raises the score; 0 without edges between both.
    pub resolution: f64,
    /// The communities in both.
    pub communities: u32,
    /// The vertices in both.
    pub vertices: u32,
    /// The part of all weight that is inside clusters after the merge; 0 without weight.
    pub inner: f64,
}

impl Merge {
    /// Returns the distance at which both join in a linkage: the inverse of the resolution, infinite without edges
    /// between both.
    pub fn distance(&self) -> f64 {
        1.0 / self.resolution
    }
}

/// Returns the merges of communities, until one cluster is left: as many as communities, less 1.
///
/// The communities are numbered from 0 in the order of their labels; a vertex without a label is a
/// community behind those. The resolution of the objective does not matter.
///
/// Merges are the same bytes for any number of threads and either kind of lists.
///
/// # Errors
/// See [`RefineError`]; the number of labels must be that of the vertices, and the graph undirected.
///
/// # Examples
/// Three triangles in a row, two of them joined by two edges:
///
/// ```
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
/// use ripplet_lp::refine::{Objective, dendrogram};
///
/// let ids = VertexIds::Consecutive { first: 0, count: 9 };
/// let sources = vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 2, 1, 5];
/// let targets = vec![1, 2, 0, 4, 5, 3, 7, 8, 6, 3, 4, 6];
/// let graph = GraphBuilder::new().build(EdgeTable::new(ids, sources, targets)?)?;
///
/// let labels = [0, 0, 0, 3, 3, 3, 6, 6, 6];
/// let merges = dendrogram(&graph, Objective::Cpm(1.0), &labels, &mut ())?;
/// let pairs: Vec<_> = merges.iter().map(|merge| (merge.left, merge.right)).collect();
/// assert_eq!(pairs, [(0, 1), (2, 3)]);
/// assert_eq!(merges[0].resolution, 2.0 / 9.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn dendrogram<'g>(
    graph: impl Into<GraphView<'g>>,
    objective: Objective,
    labels: &[Label],
    observer: &mut dyn RoundObserver,
) -> Result<Vec<Merge>, RefineError> {
    dendrogram_in(graph.into(), objective, labels, observer)
}

fn dendrogram_in(
    graph: GraphView<'_>,
    objective: Objective,
    labels: &[Label],
    observer: &mut dyn RoundObserver,
) -> Result<Vec<Merge>, RefineError> {
    if labels.len() != graph.vertices() as usize {
        return Err(RefineError::Length { labels: labels.len(), vertices: graph.vertices() });
    }
    objective.check()?;
    if graph.direction() == Direction::Directed {
        return Err(RefineError::DirectedDendrogram);
    }
    observer.on_stage("joining communities");
    let work = Work { labels, observer: &*observer };
    on_input(graph, objective, work).map_err(|error| {
        error.planned(|| {
            let threads = rayon::current_num_threads();
            let (vertices, arcs) = (graph.vertices().into(), graph.arcs());
            let plan = plan(graph, &RefineOptions::new(objective), threads);
            plan.with("a dendrogram", dendrogram_bytes(vertices, arcs))
        })
    })
}

/// Returns a bound of the bytes of a dendrogram of `communities` with `arcs` between them, counted from
/// both ends. The sums over the graph come beside: a refinement on the same threads takes more.
pub fn dendrogram_bytes(communities: u64, arcs: u64) -> u64 {
    let of_community = size_of::<Cluster>() + 2 * size_of::<First>() + size_of::<Merge>();
    // Maps are filled between a half and seven eighths, and small ones less; pairs that no longer count may take
    // as much as those that do. By the graph, 37 to 68 % of the bound are used (tests/memory.rs).
    let of_arc = 3 * (size_of::<(u32, Tie)>() + 1) + 2 * size_of::<Pair>();
    let of_communities = communities.saturating_mul(of_community as u64);
    of_communities.saturating_add(arcs.saturating_mul(of_arc as u64))
}

struct Work<'a> {
    labels: &'a [Label],
    observer: &'a dyn RoundObserver,
}

impl OnInput for Work<'_> {
    type Found = Vec<Merge>;

    fn perform<L: Level>(self, input: Input, level: &L) -> Result<Vec<Merge>, RefineError> {
        let begun = with_whole_pool(|team| self.begin(team, &input, level))?;
        // A contracted graph never has more arcs than its input.
        let Some((mut clusters, inside)) = begun else { return Ok(Vec::new()) };
        let total = input.total as f64;
        let scale = input.objective.unit * if input.objective.is_cpm { 1.0 } else { total };
        let mut inner = input.loops + inside;
        let mut merges: Vec<Merge> = memory::with_room(clusters.all.len().saturating_sub(1))?;
        while let Some(joined) = clusters.join()? {
            inner += 2 * joined.weight;
            merges.push(Merge {
                left: joined.ids[0],
                right: joined.ids[1],
                resolution: match joined.weight {
                    0 => 0.0,
                    weight => scale * (weight as f64 / joined.product as f64),
                },
                communities: joined.communities,
                vertices: joined.vertices,
                inner: if total > 0.0 { inner as f64 / total } else { 0.0 },
            });
            if merges.len().is_multiple_of(MERGES_PER_POLL) && self.observer.is_cancelled() {
                return Err(RunError::Cancelled.into());
            }
        }
        Ok(merges)
    }
}

impl Work<'_> {
    /// Returns the communities, and the weight inside them without self-loops; `None` if the arcs between
    /// them have no space.
    fn begin<L: Level>(
        &self,
        team: &ThreadTeam,
        input: &Input,
        level: &L,
    ) -> Result<Option<(Clusters, u64)>, RefineError> {
        let named = initial(team, Some(self.labels), level.vertices())?;
        let partition = Partition::new(team, named, level)?;
        let inside = sums(team, level, &partition).inner;
        let contraction = Contraction::new(team, level.vertices(), &partition, None)?;
        let arrays = ArcArrays::new(input.arcs)?;
        let workers = Workers::new(team, contraction.founders.len())?;
        let graph = contraction.graph(&arrays, level, &partition, &workers, self.observer)?;
        let Some(graph) = graph else { return Ok(None) };
        let numbers = numbers(&contraction.founders, self.labels)?;
        let mut clusters = Clusters::new(&graph, &numbers)?;
        for &vertex in &contraction.vertex_of {
            clusters.all[vertex as usize].vertices += 1;
        }
        Ok(Some((clusters, inside)))
    }
}

/// Returns the number of each community, in the order of labels.
fn numbers(founders: &[u32], labels: &[Label]) -> Result<Vec<u32>, OutOfMemory> {
    let mut order: Vec<u32> = memory::collected(0..founders.len() as u32)?;
    let rank = |&community: &u32| {
        let founder = founders[community as usize];
        let label = labels[founder as usize];
        (label == NO_LABEL, label, founder)
    };
    order.sort_unstable_by_key(rank);
    let mut numbers = memory::zeros(founders.len())?;
    for (number, &community) in (0..).zip(&order) {
        numbers[community as usize] = number;
    }
    Ok(numbers)
}

/// The edges between two clusters.
#[derive(Clone, Copy, Debug)]
struct Tie {
    weight: u64,
    /// The stamp of the only entry in a heap that counts.
    stamp: u64,
}

/// A hasher of small numbers.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    fn write_u32(&mut self, value: u32) {
        let low = mix(value ^ self.0 as u32);
        self.0 = u64::from(mix(low)) << 32 | u64::from(low);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type Neighbors = HashMap<u32, Tie, BuildHasherDefault<Mixed>>;

/// A cluster. One that has joined another has no neighbours.
#[derive(Default)]
struct Cluster {
    id: u32,
    mass: u64,
    communities: u32,
    vertices: u32,
    neighbors: Neighbors,
    /// The pairs that belong to this cluster.
    pairs: BinaryHeap<Pair>,
    /// The number of its entries among the first pairs of all: only the last one counts.
    version: u32,
    is_joined: bool,
}

/// A pair in the heap of one of its clusters: the higher the weight over the other's mass, the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    weight: u64,
    /// The other cluster: its mass, its id and its place.
    mass: u64,
    id: u32,
    other: u32,
    stamp: u64,
}

impl Ord for Pair {
    fn cmp(&self, other: &Pair) -> Ordering {
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        let key = product(self.weight, other.mass).cmp(&product(other.weight, self.mass));
        key.then(other.id.cmp(&self.id)).then(self.stamp.cmp(&other.stamp))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Pair) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The first pair of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct First {
    weight: u64,
    /// The product of both masses.
    product: u128,
    /// Both ids, the smaller first.
    ids: [u32; 2],
    cluster: u32,
    version: u32,
}

impl Ord for First {
    fn cmp(&self, other: &First) -> Ordering {
        let key = product(self.weight.into(), other.product)
            .cmp(&product(other.weight.into(), self.product));
        let place = (self.cluster, self.version).cmp(&(other.cluster, other.version));
        key.then(other.ids.cmp(&self.ids)).then(place)
    }
}

impl PartialOrd for First {
    fn partial_cmp(&self, other: &First) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Two clusters that have joined.
struct Joined {
    ids: [u32; 2],
    weight: u64,
    product: u128,
    communities: u32,
    vertices: u32,
}

/// All clusters.
struct Clusters {
    all: Vec<Cluster>,
    firsts: BinaryHeap<First>,
    /// Clusters without neighbours, by mass; filled when no pair has edges any more.
    apart: Option<BinaryHeap<Reverse<(u64, u32, u32)>>>,
    next_id: u32,
    stamps: u64,
}

impl Clusters {
    fn new<M: NullModel>(
        graph: &LevelGraph<'_, M>,
        numbers: &[u32],
    ) -> Result<Clusters, OutOfMemory> {
        let count = graph.vertices();
        let mut all = memory::with_room(count as usize)?;
        for v in 0..count {
            let mut neighbors = Neighbors::default();
            reserve_in(&mut neighbors, graph.degree(v) as usize)?;
            let (id, mass) = (numbers[v as usize], graph.mass(v).sum);
            all.push(Cluster { id, mass, communities: 1, neighbors, ..Cluster::default() });
        }
        let firsts = BinaryHeap::new();
        let mut clusters = Clusters { all, firsts, apart: None, next_id: count, stamps: 0 };
        for v in 0..count {
            for (u, weight) in graph.arcs(v).filter(|&(u, _)| u > v) {
                clusters.tie(v, u, weight)?;
            }
        }
        for v in 0..count {
            let mut neighbors = graph.arcs(v).filter(|&(u, _)| u > v);
            neighbors.try_for_each(|(u, _)| clusters.enter(v, u))?;
        }
        for v in 0..count {
            clusters.announce(v)?;
        }
        Ok(clusters)
    }

    /// Sets the weight between two clusters.
    fn tie(&mut self, a: u32, b: u32, weight: u64) -> Result<(), OutOfMemory> {
        let tie = Tie { weight, stamp: self.stamps };
        self.stamps += 1;
        for (one, other) in [(a, b), (b, a)] {
            let neighbors = &mut self.all[one as usize].neighbors;
            reserve_in(neighbors, 1)?;
            neighbors.insert(other, tie);
        }
        Ok(())
    }

    /// Enters a pair into the heap of the cluster that it belongs to.
    fn enter(&mut self, a: u32, b: u32) -> Result<(), OutOfMemory> {
        let degree = |cluster: u32| self.all[cluster as usize].neighbors.len();
        let (owner, other) = if degree(a) >= degree(b) { (a, b) } else { (b, a) };
        let Some(&Tie { weight, stamp }) = self.all[owner as usize].neighbors.get(&other) else {
            return Ok(());
        };
        let &Cluster { mass, id, .. } = &self.all[other as usize];
        let pair = Pair { weight, mass, id, other, stamp };
        let Cluster { neighbors, pairs, .. } = &mut self.all[owner as usize];
        let is_first = pairs.peek().is_none_or(|first| pair > *first);
        reserve_heap(pairs, |pair| {
            neighbors.get(&pair.other).is_some_and(|tie| tie.stamp == pair.stamp)
        })?;
        pairs.push(pair);
        if is_first && self.all[owner as usize].version > 0 {
            self.announce(owner)?;
        }
        Ok(())
    }

    /// Returns the first pair of a cluster, after correcting those that are out of date.
    fn first_of(&mut self, cluster: u32) -> Option<Pair> {
        loop {
            let pair = *self.all[cluster as usize].pairs.peek()?;
            let &Cluster { mass, id, .. } = &self.all[pair.other as usize];
            let Cluster { neighbors, pairs, .. } = &mut self.all[cluster as usize];
            let counts = neighbors.get(&pair.other).is_some_and(|tie| tie.stamp == pair.stamp);
            match counts {
                true if id == pair.id => return Some(pair),
                true => {
                    if let Some(mut first) = pairs.peek_mut() {
                        *first = Pair { mass, id, ..pair };
                    }
                }
                false => _ = pairs.pop(),
            }
        }
    }

    /// Enters the first pair of a cluster among those of all, in place of an earlier one.
    fn announce(&mut self, cluster: u32) -> Result<(), OutOfMemory> {
        let first = self.first_of(cluster);
        self.all[cluster as usize].version += 1;
        let Some(pair) = first else { return Ok(()) };
        let Clusters { all, firsts, .. } = self;
        reserve_heap(firsts, |first| all[first.cluster as usize].version == first.version)?;
        let own = &all[cluster as usize];
        self.firsts.push(First {
            weight: pair.weight,
            product: u128::from(own.mass) * u128::from(pair.mass),
            ids: [own.id.min(pair.id), own.id.max(pair.id)],
            cluster,
            version: own.version,
        });
        Ok(())
    }

    /// Joins the next two clusters; `None` if one is left.
    fn join(&mut self) -> Result<Option<Joined>, OutOfMemory> {
        while let Some(first) = self.firsts.pop() {
            let (cluster, own) = (first.cluster, &self.all[first.cluster as usize]);
            if own.version != first.version {
                continue;
            }
            let own = own.id;
            let pair = self.first_of(cluster);
            match pair.filter(|pair| first.ids == [own.min(pair.id), own.max(pair.id)]) {
                Some(pair) => {
                    return self.unite(cluster, pair.other, pair.weight).map(Some);
                }
                None => self.announce(cluster)?,
            }
        }
        self.join_apart()
    }

    /// Joins the two clusters of the smallest mass, of those without edges between them.
    fn join_apart(&mut self) -> Result<Option<Joined>, OutOfMemory> {
        if self.apart.is_none() {
            let left = self.all.iter().enumerate().filter(|(_, cluster)| !cluster.is_joined);
            let left = left.map(|(at, cluster)| Reverse((cluster.mass, cluster.id, at as u32)));
            let mut apart = memory::with_room(left.clone().count())?;
            apart.extend(left);
            self.apart = Some(apart.into());
        }
        let Some(apart) = &mut self.apart else { return Ok(None) };
        let two = apart.pop().and_then(|Reverse(one)| Some([one.2, apart.pop()?.0.2]));
        let Some([one, other]) = two else { return Ok(None) };
        let joined = self.unite(one, other, 0)?;
        let Cluster { mass, id, .. } = self.all[one as usize];
        if let Some(apart) = &mut self.apart {
            // There is room: two have left.
            apart.push(Reverse((mass, id, one)));
        }
        Ok(Some(joined))
    }

    /// Makes one cluster of two; at equal degrees in the place of the first.
    fn unite(&mut self, a: u32, b: u32, weight: u64) -> Result<Joined, OutOfMemory> {
        let degree = |cluster: u32| self.all[cluster as usize].neighbors.len();
        let (large, small) = if degree(a) >= degree(b) { (a, b) } else { (b, a) };
        let Cluster { id, mass, communities, vertices, neighbors, version, .. } =
            std::mem::take(&mut self.all[small as usize]);
        let gone = &mut self.all[small as usize];
        (gone.is_joined, gone.version) = (true, version + 1);
        let own = &mut self.all[large as usize];
        let joined = Joined {
            ids: [own.id.min(id), own.id.max(id)],
            weight,
            product: u128::from(own.mass) * u128::from(mass),
            communities: own.communities + communities,
            vertices: own.vertices + vertices,
        };
        own.neighbors.remove(&small);
        (own.id, own.mass) = (self.next_id, own.mass + mass);
        (own.communities, own.vertices) = (joined.communities, joined.vertices);
        self.next_id += 1;
        for (&other, tie) in neighbors.iter().filter(|(other, _)| **other != large) {
            self.all[other as usize].neighbors.remove(&small);
            let before = self.all[large as usize].neighbors.get(&other);
            let weight = tie.weight + before.map_or(0, |tie| tie.weight);
            self.tie(large, other, weight)?;
        }
        for &other in neighbors.keys().filter(|other| **other != large) {
            self.enter(large, other)?;
        }
        self.announce(large)?;
        Ok(joined)
    }
}

fn reserve_in(neighbors: &mut Neighbors, more: usize) -> Result<(), OutOfMemory> {
    let wanted = neighbors.len() + more;
    neighbors.try_reserve(more).map_err(|_| OutOfMemory::of::<(u32, Tie)>(wanted))
}

/// Makes room for an entry: first those leave that no longer count.
fn reserve_heap<T: Ord>(
    heap: &mut BinaryHeap<T>,
    counts: impl FnMut(&T) -> bool,
) -> Result<(), OutOfMemory> {
    let capacity = heap.capacity();
    if heap.len() < capacity {
        return Ok(());
    }
    heap.retain(counts);
    // With less room to spare, entries would leave too often.
    if heap.len() <= capacity / 4 * 3 && capacity > 0 {
        return Ok(());
    }
    let more = heap.len() / 2 + 1;
    heap.try_reserve_exact(more).map_err(|_| OutOfMemory::of::<T>(heap.len() + more))
}
