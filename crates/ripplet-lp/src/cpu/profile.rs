//! Time profile of a full iteration on the CPU: its parts, and lower bounds from reading alone.

use super::CpuExecutor;
use super::active::ActiveSet;
use super::state::Workspace;
use super::synchronous::SyncRounds;
use crate::profile::{Iteration, Measured, Part, Profile};
use crate::{DynProgram, Hints, RoundObserver, RunError, Schedule, Settings};
use rayon::prelude::*;
use ripplet_graph::storage::{ListParts, VertexLists};
use ripplet_graph::{GraphView, Observer, VertexId};
use std::hint::black_box;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// The degree classes: their names and largest degrees.
const CLASSES: [(&str, u64); 6] = [
    ("degree 0-4", 4),
    ("degree 5-16", 16),
    ("degree 17-64", 64),
    ("degree 65-512", 512),
    ("degree 513-4096", 4096),
    ("degree above 4096", u64::MAX),
];
/// The number of measurements of a lower bound; the smallest counts.
const TIMES: usize = 5;

/// The vertices of a degree class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Class {
    vertices: u64,
    arcs: u64,
}

impl CpuExecutor {
    /// Measures `iterations` full iterations of a program on a graph.
    ///
    /// In each iteration every vertex is active and all update synchronously, whatever the
    /// settings' order. Labels carry over to the next iteration. Each iteration is measured twice,
    /// as a whole and in parts, by two runs with equal draws.
    ///
    /// # Errors
    /// If the settings do not fit the graph, memory is refused, or the observer cancels.
    pub fn profile<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
        iterations: u32,
        observer: &mut dyn RoundObserver,
    ) -> Result<Profile, RunError> {
        let graph = graph.into();
        let mut settings = settings.clone();
        settings.schedule.order = Schedule::sync().order;
        let info = program.info();
        settings.check(graph.vertices(), &info)?;
        let planned = self.plan_of(graph, &info, &settings).algorithm_host();
        let refused = |_| RunError::OutOfMemory { bytes: planned };
        self.pool.install(|| {
            let begin = || program.begin_measured(graph, &settings).map_err(refused);
            let mut whole = begin()?;
            let (stream, gather) = whole.ceilings();
            let mut done = Vec::new();
            for index in 0..iterations {
                whole.activate_all();
                let start = Instant::now();
                let mut round = whole.round(index, observer)?;
                round.seconds = start.elapsed().as_secs_f64();
                observer.on_round(index as usize, &round);
                let seconds = round.seconds;
                done.push(Iteration { seconds, changed: round.changed, parts: Vec::new() });
            }
            drop(whole);
            let mut parts = begin()?;
            for (index, iteration) in (0..).zip(&mut done) {
                iteration.parts = parts.round_in_parts(index, observer)?;
            }
            let arcs = parts.arcs();
            Ok(Profile { arcs, stream, gather, iterations: done })
        })
    }
}

impl<P: Hints> Measured for SyncRounds<'_, P> {
    fn activate_all(&self) {
        self.state.active.insert_all(self.state.labels.len() as u32);
    }

    fn arcs(&self) -> u64 {
        classes(&self.state.lists, self.state.labels.len() as u32)
            .iter()
            .map(|class| class.arcs)
            .sum()
    }

    fn ceilings(&self) -> (f64, f64) {
        ceilings(&self.state.lists, &self.state.labels)
    }

    fn round_in_parts(
        &mut self,
        index: u32,
        observer: &dyn Observer,
    ) -> Result<Vec<Part>, RunError> {
        let vertices = self.state.labels.len() as u32;
        let classes = classes(&self.state.lists, vertices);
        let clock = self.state.begin_round(index);
        let all = Class {
            vertices: classes.iter().map(|class| class.vertices).sum(),
            arcs: classes.iter().map(|class| class.arcs).sum(),
        };
        let part = |name, Class { vertices, arcs }: Class, start: Instant| {
            let seconds = start.elapsed().as_secs_f64();
            Part { name, vertices, arcs, seconds }
        };
        let (mut parts, words) = (Vec::new(), self.state.active.words());
        self.state.active.clear();

        let start = Instant::now();
        ripplet_graph::tasks::for_each_range(words, Workspace::VERTICES, &|range| {
            self.keep_labels(range)
        });
        parts.push(part("copy labels", Class { arcs: 0, ..all }, start));
        for (place, class) in classes.into_iter().enumerate().filter(|(_, c)| c.vertices > 0) {
            activate_class(&self.state.lists, vertices, &self.state.active, place);
            let start = Instant::now();
            self.state.for_active_words(observer, |words, workspace| {
                self.choose_active(words, clock, workspace)
            })?;
            parts.push(part(CLASSES[place].0, class, start));
        }
        let start = Instant::now();
        self.commit();
        parts.push(part("commit labels, activate neighbours", all, start));
        Ok(parts)
    }
}

/// Returns the class of a degree.
fn class_of(degree: u64) -> usize {
    CLASSES.partition_point(|&(_, most)| most < degree)
}

/// Activates the vertices of a class.
fn activate_class(lists: &VertexLists<'_>, vertices: u32, active: &ActiveSet, class: usize) {
    let all = (0..vertices).into_par_iter();
    let members = all.filter(|&v| class_of(lists.of(v).degree()) == class);
    members.for_each(|v| active.insert(v));
}

/// Returns the number of vertices and arcs of each class.
fn classes(lists: &VertexLists<'_>, vertices: u32) -> [Class; CLASSES.len()] {
    let add = |mut classes: [Class; CLASSES.len()], degree: u64| {
        let class = &mut classes[class_of(degree)];
        *class = Class { vertices: class.vertices + 1, arcs: class.arcs + degree };
        classes
    };
    let both = |mut a: [Class; CLASSES.len()], b: [Class; CLASSES.len()]| {
        for (a, b) in a.iter_mut().zip(b) {
            *a = Class { vertices: a.vertices + b.vertices, arcs: a.arcs + b.arcs };
        }
        a
    };
    let degrees = (0..vertices).into_par_iter().map(|v| lists.of(v).degree());
    degrees.fold(Default::default, add).reduce(Default::default, both)
}

/// Returns the least seconds of reading all neighbours, and all neighbours' labels.
fn ceilings(lists: &VertexLists<'_>, labels: &[AtomicU32]) -> (f64, f64) {
    let vertices = labels.len() as u32;
    let stream = least(vertices, |vertices| read_neighbors(lists, vertices));
    // A graph that fits the cache is read faster without prefetching.
    let [near, far] = [false, true]
        .map(|ahead| least(vertices, |vertices| read_labels(lists, labels, vertices, ahead)));
    (stream, near.min(far))
}

/// Returns the least seconds of calling `read` for all vertices.
fn least(vertices: u32, read: impl Fn(&[u32]) -> u32 + Sync) -> f64 {
    const VERTICES: u32 = Workspace::VERTICES as u32;
    let all = || {
        let tasks = (0..vertices.div_ceil(VERTICES)).into_par_iter();
        let task = |task: u32| {
            let first = task * VERTICES;
            let part: [VertexId; Workspace::VERTICES] =
                std::array::from_fn(|index| first.wrapping_add(index as u32));
            read(&part[..(vertices - first).min(VERTICES) as usize])
        };
        tasks.map(task).reduce(|| 0, |a, b| a ^ b)
    };
    let seconds = (0..TIMES).map(|_| {
        let start = Instant::now();
        black_box(all());
        start.elapsed().as_secs_f64()
    });
    seconds.fold(f64::INFINITY, f64::min)
}

/// Reads the neighbours of some vertices and nothing else; the result depends on all of them.
#[inline]
fn read_neighbors(lists: &VertexLists<'_>, vertices: &[VertexId]) -> u32 {
    let mut read = 0;
    vertices.iter().for_each(|&v| {
        lists.of(v).each(|ids, _| read = ids.iter().fold(read, |read, &u| read ^ u));
    });
    read
}

/// Reads the labels of the neighbours of some vertices; prefetches like [`LpState::for_each`](super::state::LpState::for_each)
/// if `ahead`.
#[inline]
fn read_labels(
    lists: &VertexLists<'_>,
    labels: &[AtomicU32],
    vertices: &[VertexId],
    ahead: bool,
) -> u32 {
    let mut read = 0;
    let mut visit = |v: VertexId| {
        lists.of(v).each(|ids, _| {
            let label = |u: VertexId| labels[u as usize].load(Relaxed);
            read = ids.iter().fold(read, |read, &u| read ^ label(u));
        });
    };
    match ahead {
        true => lists.for_each_prefetched(vertices, Some(labels), |_, v| visit(v.vertex)),
        false => vertices.iter().for_each(|&v| visit(v)),
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::state::LpState;
    use crate::programs::Lpa;
    use crate::rounds::Rounds;
    use ripplet_generate::Social;
    use ripplet_graph::GraphBuilder;

    #[test]
    fn parts_move_labels_as_whole_rounds_do() {
        let graph = GraphBuilder::new().build(Social::new(11).generate().unwrap()).unwrap();
        let (program, settings) = (Lpa::default(), Settings::default());
        let begin = || {
            let state = LpState::new(GraphView::from(&graph), &program, &settings).unwrap();
            SyncRounds::new(state, 0).unwrap()
        };
        let (mut whole, mut parts) = (begin(), begin());
        for index in 0..3 {
            whole.state.active.insert_all(graph.vertices());
            whole.round(index, &()).unwrap();
            parts.round_in_parts(index, &()).unwrap();
            let labels = |rounds: &SyncRounds<'_, Lpa>| -> Vec<u32> {
                (0..graph.vertices()).map(|v| rounds.state.label(v)).collect()
            };
            assert_eq!(labels(&parts), labels(&whole), "iteration {index}");
        }
    }

    #[test]
    fn each_degree_has_one_class() {
        let places = [0, 1, 4, 5, 16, 17, 512, 513, 4096, 4097, u64::MAX].map(class_of);
        assert_eq!(places, [0, 0, 0, 1, 1, 2, 3, 4, 4, 5, 5]);
    }
}
