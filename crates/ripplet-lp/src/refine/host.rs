//! The steps of a refinement on the CPU, by a team of threads.

use super::checkpoint::{activate, active_words};
use super::contract::{Contraction, named_by_smallest};
use super::finished;
use super::input::LISTS_PER_TASK;
use super::level::{ArcArrays, Level, LevelGraph, READ_PER_TASK};
use super::moves::{MoveRound, Moves};
use super::partition::Partition;
use super::phases::{Phases, Workers};
use super::score::{Gain, Mass, Sums};
use super::steps::{Counts, Figures, RefineSteps, Rule, Saved};
use super::subdivide::Subdivision;
use crate::team::ThreadTeam;
use crate::{Label, RunError};
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{Observer, VertexId, as_atomic};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// The steps on an input and the graphs that are contracted from it.
pub(super) struct HostSteps<'a, L> {
    input: &'a L,
    work: Workspace<'a>,
}

/// What the steps on all levels share. It does not depend on the type of the input, so that the steps on contracted
/// graphs are compiled once.
struct Workspace<'a> {
    workers: Workers<'a>,
    /// The phases of the current round, of any level.
    phases: Phases,
    /// The parts of the current subdivision, of any level.
    parts: Partition,
    /// The founder of the part of finished vertices in it, if there are some.
    finished: Option<VertexId>,
    /// The arcs of contracted graphs.
    arrays: &'a ArcArrays,
    /// The labels of the best partition of the input.
    best: Vec<Label>,
}

/// The graph of a level.
pub(super) enum HostGraph<'a, M> {
    Input,
    Contracted(LevelGraph<'a, M>),
}

/// A contracted graph.
pub(super) struct HostContraction<'a, M> {
    pub map: Contraction,
    pub graph: HostGraph<'a, M>,
    pub partition: Partition,
    /// The communities of its vertices to begin with.
    begin: Vec<VertexId>,
    /// The length of the arc arrays before its lists.
    below: u64,
}

/// Performs work on a level, whatever its type is.
macro_rules! on_level {
    ($steps:expr, $graph:expr, $level:ident => $work:expr) => {
        match $graph {
            HostGraph::Input => {
                let $level = $steps.input;
                $work
            }
            HostGraph::Contracted($level) => $work,
        }
    };
}

impl<'a, L: Level> HostSteps<'a, L> {
    /// Allocates what the levels of an input share; `best` are the labels to begin with.
    pub fn new(
        team: &'a ThreadTeam,
        input: &'a L,
        arrays: &'a ArcArrays,
        best: Vec<Label>,
    ) -> Result<HostSteps<'a, L>, OutOfMemory> {
        let vertices = input.vertices() as usize;
        let work = Workspace {
            workers: Workers::new(team, vertices)?,
            phases: Phases::new(vertices)?,
            parts: Partition::new(team, memory::zeros(vertices)?, input)?,
            finished: None,
            arrays,
            best,
        };
        Ok(HostSteps { input, work })
    }
}

impl<'a> Workspace<'a> {
    fn move_round<G: Level>(
        &mut self,
        level: &G,
        partition: &Partition,
        rule: Rule,
        keeps_active: bool,
        observer: &dyn Observer,
    ) -> Result<Counts, RunError> {
        match rule.fits_64_under::<G::Null>() {
            true => self.moves_in::<G, i64>(level, partition, rule, keeps_active, observer),
            false => self.moves_in::<G, i128>(level, partition, rule, keeps_active, observer),
        }
    }

    fn moves_in<G: Level, T: Gain>(
        &mut self,
        level: &G,
        partition: &Partition,
        rule: Rule,
        keeps_active: bool,
        observer: &dyn Observer,
    ) -> Result<Counts, RunError> {
        let Workspace { phases, workers, .. } = self;
        let (workers, factors) = (&*workers, rule.factors.in_type::<T>());
        phases.begin_level(level.vertices(), rule.figures.arcs);
        let round = MoveRound { level, partition, workers, observer, keeps_active };
        Moves { round, factors }.perform(phases, rule.draw)
    }

    fn subdivide<G: Level>(
        &mut self,
        level: &G,
        communities: &Partition,
        rule: Rule,
        observer: &dyn Observer,
    ) -> Result<Counts, RunError> {
        let mut counts = match rule.fits_64_under::<G::Null>() {
            true => self.subdivide_in::<G, i64>(level, communities, rule, observer),
            false => self.subdivide_in::<G, i128>(level, communities, rule, observer),
        }?;
        self.finished = None;
        if counts.changed > 0 {
            let (team, parts) = (self.workers.team, &self.parts);
            let (first, count) = finished::unite(team, level, communities, parts);
            self.finished = first;
            counts.changed += count.saturating_sub(1);
        }
        Ok(counts)
    }

    fn subdivide_in<G: Level, T: Gain>(
        &mut self,
        level: &G,
        communities: &Partition,
        rule: Rule,
        observer: &dyn Observer,
    ) -> Result<Counts, RunError> {
        let Workspace { phases, workers, parts, .. } = self;
        let (workers, parts, factors) = (&*workers, &*parts, rule.factors.in_type::<T>());
        parts.separate(workers.team, level);
        phases.begin_level(level.vertices(), rule.figures.arcs);
        Subdivision { level, communities, parts, factors, workers, observer }
            .round(phases, rule.draw)
    }

    fn contract<G: Level>(
        &self,
        level: &G,
        communities: &Partition,
        observer: &dyn Observer,
    ) -> Result<Option<HostContraction<'a, G::Null>>, RunError> {
        let Workspace { arrays, parts, workers, finished, .. } = self;
        let team = workers.team;
        let map = Contraction::new(team, level.vertices(), parts, *finished).map_err(refused)?;
        let below = arrays.len();
        let Some(graph) = map.graph(arrays, level, parts, workers, observer)? else {
            arrays.truncate(below);
            return Ok(None);
        };
        let begin = map.lifted(team, communities).map_err(refused)?;
        let own = memory::copied(&begin).map_err(refused)?;
        let partition = communities.contracted(team, own, &graph, &map.vertex_of);
        let partition = partition.map_err(refused)?;
        let graph = HostGraph::Contracted(graph);
        Ok(Some(HostContraction { map, graph, partition, begin, below }))
    }

    fn lower<G: Level>(
        &self,
        level: &G,
        partition: &Partition,
        contraction: &HostContraction<'_, G::Null>,
    ) -> Result<u64, OutOfMemory> {
        let HostContraction { map, partition: coarse, begin, .. } = contraction;
        let (Contraction { vertex_of, founders, .. }, finished) = (map, map.finished_part());
        let (team, count) = (self.workers.team, founders.len());
        // Vertices without mass may be in the community of a finished vertex, which leaves them.
        let leaves = match (&contraction.graph, finished) {
            (HostGraph::Contracted(graph), Some(part)) => {
                Some((coarse.label(part), graph.mass(part)))
            }
            _ => None,
        };
        // The same names as before the cycle, so that vertices have moved only if their name has
        // changed.
        let names = named_by_smallest(team, count, count, |vertex| coarse.label(vertex))?;
        team.ranges(vertex_of.len(), READ_PER_TASK, |range| {
            for v in range {
                if finished == Some(vertex_of[v]) {
                    finished::part::<G::Null>(partition, v as Label, level.mass(v as VertexId));
                    continue;
                }
                let label = founders[names[vertex_of[v] as usize] as usize];
                partition.labels[v].store(label, Relaxed);
                partition.set_mass::<G::Null>(v as Label, Mass::default());
            }
        });
        team.ranges(count, READ_PER_TASK, |range| {
            let is_first = |&vertex: &usize| names[vertex] as usize == vertex;
            let is_open = |&vertex: &usize| finished != Some(vertex as VertexId);
            for vertex in range.filter(is_first).filter(is_open) {
                let label = coarse.label(vertex as VertexId);
                let mass = coarse.mass::<G::Null>(label);
                let mass = match leaves {
                    Some((of, leaving)) if of == label => mass.without(leaving),
                    _ => mass,
                };
                partition.set_mass::<G::Null>(founders[vertex], mass);
            }
        });
        if let Some(sizes) = &partition.sizes {
            sizes.sum_up(team, &partition.labels);
        }
        Ok(team.sum(vertex_of.len(), READ_PER_TASK / 16, |range| {
            let has_moved = |v: &usize| {
                let part = vertex_of[*v] as usize;
                names[part] != begin[part]
            };
            let moved = range.filter(has_moved).map(|v| v as VertexId);
            moved.map(|v| activate_at_border(level, partition, v)).sum()
        }))
    }

    fn keep(&mut self, partition: &Partition) -> bool {
        let vertices = self.best.len();
        let best = as_atomic(&mut self.best);
        let changed = self.workers.team.sum(vertices, READ_PER_TASK, |range| {
            let labels = best[range.clone()].iter().zip(&partition.labels[range]);
            let changes = labels.map(|(best, label)| {
                let label = label.load(Relaxed);
                u64::from(best.swap(label, Relaxed) != label)
            });
            changes.sum()
        });
        changed == 0
    }
}

impl<'a, L: Level> RefineSteps for HostSteps<'a, L> {
    type Graph = HostGraph<'a, L::Null>;
    type Partition = Partition;
    type Contraction = HostContraction<'a, L::Null>;

    fn figures(&mut self, graph: &HostGraph<'a, L::Null>) -> Result<Figures, RunError> {
        Ok(on_level!(self, graph, level => figures(self.work.workers.team, level)))
    }

    fn move_round(
        &mut self,
        graph: &HostGraph<'a, L::Null>,
        partition: &Partition,
        rule: Rule,
        keeps_active: bool,
        observer: &dyn Observer,
    ) -> Result<Counts, RunError> {
        on_level!(self, graph, level => {
            self.work.move_round(level, partition, rule, keeps_active, observer)
        })
    }

    fn is_singletons(&mut self, partition: &Partition) -> Result<bool, RunError> {
        Ok(partition.is_singletons())
    }

    fn subdivide(
        &mut self,
        graph: &HostGraph<'a, L::Null>,
        communities: &Partition,
        rule: Rule,
        observer: &dyn Observer,
    ) -> Result<Counts, RunError> {
        on_level!(self, graph, level => self.work.subdivide(level, communities, rule, observer))
    }

    fn contract(
        &mut self,
        graph: &HostGraph<'a, L::Null>,
        communities: &Partition,
        observer: &dyn Observer,
    ) -> Result<Option<HostContraction<'a, L::Null>>, RunError> {
        on_level!(self, graph, level => self.work.contract(level, communities, observer))
    }

    fn contracted<'c>(
        contraction: &'c HostContraction<'a, L::Null>,
    ) -> (&'c HostGraph<'a, L::Null>, &'c Partition) {
        (&contraction.graph, &contraction.partition)
    }

    fn lower(
        &mut self,
        graph: &HostGraph<'a, L::Null>,
        partition: &Partition,
        contraction: HostContraction<'a, L::Null>,
    ) -> Result<u64, RunError> {
        let read = on_level!(self, graph, level => self.work.lower(level, partition, &contraction));
        self.work.arrays.truncate(contraction.below);
        read.map_err(refused)
    }

    fn sums(
        &mut self,
        graph: &HostGraph<'a, L::Null>,
        partition: &Partition,
    ) -> Result<Sums, RunError> {
        Ok(on_level!(self, graph, level => sums(self.work.workers.team, level, partition)))
    }

    fn activate_all(&mut self, partition: &Partition) -> Result<(), RunError> {
        let vertices = partition.labels.len() as VertexId;
        (0..vertices).for_each(|v| partition.activate(v));
        Ok(())
    }

    fn keep(&mut self, partition: &Partition) -> Result<bool, RunError> {
        Ok(self.work.keep(partition))
    }

    fn state(&mut self, partition: &Partition) -> Result<Saved<'_>, RunError> {
        let active = active_words(self.work.workers.team, partition)?;
        Ok((Cow::Borrowed(&self.work.best), active))
    }

    fn activate(&mut self, partition: &Partition, active: &[u64]) -> Result<(), RunError> {
        activate(partition, active);
        Ok(())
    }

    fn best(self) -> Result<Vec<Label>, RunError> {
        Ok(self.work.best)
    }
}

/// Returns the figures of a level.
fn figures<G: Level>(team: &ThreadTeam, level: &G) -> Figures {
    let masses = level.masses();
    let largest_and_total = |range: Range<usize>| {
        let masses = &masses[range];
        (masses.iter().copied().max().unwrap_or(0), masses.iter().sum::<u64>())
    };
    let (largest_mass, total_mass) =
        team.reduce(masses.len(), READ_PER_TASK, largest_and_total, |a, b| {
            (a.0.max(b.0), a.1 + b.1)
        });
    let arcs = team.sum(masses.len(), READ_PER_TASK, |range| {
        range.map(|v| u64::from(level.degree(v as VertexId))).sum()
    });
    let (vertices, largest_weight) = (level.vertices(), level.largest_weight());
    Figures { vertices, arcs, largest_weight, largest_mass, total_mass }
}

/// Returns the sums of a partition, without self-loops.
pub(super) fn sums<G: Level>(team: &ThreadTeam, level: &G, partition: &Partition) -> Sums {
    let vertices = partition.labels.len();
    let square = |label: usize| partition.mass::<G::Null>(label as Label).square();
    let squares = |range: Range<usize>| range.map(square).sum::<u128>();
    let squares = team.reduce(vertices, READ_PER_TASK, squares, |a, b| a + b);
    if partition.is_singletons() {
        return Sums { inner: 0, squares };
    }
    let inner = team.sum(vertices, LISTS_PER_TASK, |range| {
        let weight = |v: VertexId| {
            let own = partition.label(v);
            let weights = level.arcs(v).map(|(u, w)| if partition.label(u) == own { w } else { 0 });
            weights.sum::<u64>()
        };
        range.map(|v| weight(v as VertexId)).sum()
    });
    Sums { inner, squares }
}

/// Activates a moved vertex and its neighbours in other communities, if there are any; returns the
/// arcs read.
fn activate_at_border<G: Level>(level: &G, partition: &Partition, v: VertexId) -> u64 {
    let (own, mut is_border) = (partition.label(v), false);
    for (u, _) in level.arcs(v) {
        if partition.label(u) != own {
            is_border = true;
            partition.activate(u);
        }
    }
    if is_border {
        partition.activate(v);
    }
    u64::from(level.degree(v))
}

fn refused(error: OutOfMemory) -> RunError {
    RunError::Array(error)
}
