//! Refinement against a sequential implementation of its definition that shares no code with it,
//! and the promises that hold for every result.

use crate::definitions::{Edges, table};
use proptest::prelude::*;
use ripplet_generate::Planted;
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{
    Direction, Duplicates, EdgeTable, Graph, GraphBuilder, Observer, SelfLoops, VertexIds,
};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::quality::Quality;
use ripplet_lp::refine::{Objective, RefineError, RefineOptions, Refined, Resolution, refine};
use ripplet_lp::{NO_LABEL, RoundObserver, RunError};
use std::collections::BTreeSet;

fn graph(vertices: u32, edges: &Edges, weighted: bool) -> Graph {
    graph_of(Direction::Undirected, vertices, edges, weighted)
}

fn graph_of(direction: Direction, vertices: u32, edges: &Edges, weighted: bool) -> Graph {
    let builder = GraphBuilder::new().self_loops(SelfLoops::Keep).duplicates(Duplicates::Keep);
    let builder = builder.direction(direction).shard_arcs(200);
    builder.build(table(vertices, edges, weighted)).unwrap()
}

/// The definition, step by step, on maps.
mod oracle {
    use crate::definitions::mix;
    use std::collections::{BTreeMap, BTreeSet};

    /// What a vertex or a community weighs: its arcs of both directions, and those out less those in.
    #[derive(Clone, Copy, Default, PartialEq)]
    struct Mass(i128, i128);

    impl Mass {
        fn plus(&mut self, other: Mass) {
            *self = Mass(self.0 + other.0, self.1 + other.1);
        }

        fn minus(self, other: Mass) -> Mass {
            Mass(self.0 - other.0, self.1 - other.1)
        }

        fn times(self, other: Mass) -> i128 {
            self.0 * other.0 - self.1 * other.1
        }
    }

    /// A graph of a level: the weight to each neighbour, and the mass, of each vertex.
    #[derive(Clone, Default)]
    struct Level {
        arcs: Vec<BTreeMap<u32, i128>>,
        mass: Vec<Mass>,
    }

    pub struct Oracle {
        pub seed: u64,
        pub attraction: i128,
        pub repulsion: i128,
        step: u32,
        scanned: u64,
        /// The vertices and the arcs that contracted graphs may still have, together.
        room: (usize, u64),
    }

    /// The input: stored arcs of each vertex, of a directed graph those of both lists, loops included.
    pub type Lists = Vec<Vec<(u32, u64)>>;

    pub struct Setting {
        /// What each vertex's arcs out weigh more than those in, in a directed graph.
        pub imbalances: Option<Vec<i128>>,
        pub seed: u64,
        pub cpm: bool,
        pub auto: bool,
        pub num: i128,
        pub den: i128,
        pub initial: Option<Vec<u32>>,
    }

    /// A loop has two ends; a directed one is in both lists.
    fn strength(v: usize, list: &[(u32, u64)], directed: bool) -> i128 {
        let ends = |u: u32| if u as usize == v && !directed { 2 } else { 1 };
        list.iter().map(|&(u, w)| i128::from(w) * ends(u)).sum()
    }

    /// Returns a label for each vertex, the smallest vertex of its community.
    pub fn refine(lists: &Lists, setting: &Setting) -> Vec<u32> {
        let n = lists.len();
        let imbalance = |v: usize| setting.imbalances.as_ref().map_or(0, |all| all[v]);
        let strength = |v, list: &[_]| strength(v, list, setting.imbalances.is_some());
        let mut input = Level { arcs: vec![BTreeMap::new(); n], mass: Vec::new() };
        for (v, list) in lists.iter().enumerate() {
            let chance = Mass(strength(v, list), imbalance(v));
            input.mass.push(if setting.cpm { Mass(1, 0) } else { chance });
            for &(u, w) in list.iter().filter(|&&(u, w)| u as usize != v && w > 0) {
                *input.arcs[v].entry(u).or_default() += i128::from(w);
            }
        }
        let total: i128 = lists.iter().enumerate().map(|(v, list)| strength(v, list)).sum();
        let (mut num, mut den) = (setting.num, setting.den);
        let stored: u64 = lists.iter().map(|list| list.len() as u64).sum();
        let mut oracle = Oracle {
            seed: setting.seed,
            attraction: 0,
            repulsion: 0,
            step: 0,
            scanned: 0,
            room: (n, 2 * stored),
        };
        let mut labels: Vec<u32> = (0..n as u32).collect();
        if let Some(initial) = &setting.initial {
            let mut first = BTreeMap::new();
            for v in (0..n).filter(|&v| initial[v] != u32::MAX) {
                labels[v] = *first.entry(initial[v]).or_insert(v as u32);
            }
        }
        let mut best = labels.clone();
        let mut active = vec![true; n];
        let iterations = if setting.auto { 3 } else { 2 };
        for iteration in 0..iterations {
            oracle.attraction = if setting.cpm { den } else { den * total };
            oracle.repulsion = num;
            let before = oracle.scanned;
            oracle.cycle(&input, lists, &mut labels, &mut active, 0);
            let sums = |labels: &[u32]| {
                let mut inner = 0;
                let mut masses: BTreeMap<u32, Mass> = BTreeMap::new();
                for (v, list) in lists.iter().enumerate() {
                    masses.entry(labels[v]).or_default().plus(input.mass[v]);
                    let inside = list.iter().filter(|arc| labels[arc.0 as usize] == labels[v]);
                    inner += strength(v, &inside.copied().collect::<Vec<_>>());
                }
                (inner, masses.values().map(|mass| mass.times(*mass)).sum::<i128>())
            };
            let score = |labels: &[u32]| {
                let (inner, squares) = sums(labels);
                oracle.attraction * inner - oracle.repulsion * squares
            };
            if score(&labels) < score(&best) {
                break;
            }
            let unchanged = best == labels;
            best = labels.clone();
            let mut estimated = false;
            if setting.auto && iteration + 1 < iterations {
                let (inner, squares) = sums(&labels);
                let (inner, squares) = (inner as f64, squares as f64);
                let total = total as f64;
                let (f, s) = (inner / total, squares / total / total);
                let (within, between) = (f / s, (1.0 - f) / (1.0 - s));
                let gamma = (within - between) / (within.ln() - between.ln());
                if between > 0.0 && within > between && gamma.is_finite() {
                    // Ten significant bits.
                    let scale = 2f64.powi(9 - gamma.log2().floor() as i32);
                    let (mut a, mut b) = ((gamma * scale).round() as i128, scale as i128);
                    while a % 2 == 0 && b % 2 == 0 {
                        (a, b) = (a / 2, b / 2);
                    }
                    estimated = (a, b) != (num, den);
                    (num, den) = (a, b);
                }
            }
            if estimated {
                active = vec![true; n];
            } else if unchanged {
                break;
            }
            let last = oracle.scanned - before;
            let next = if iteration == 0 { last / 2 } else { last };
            // Estimates are always taken.
            if !setting.auto && oracle.scanned + next + stored > 28 * stored {
                break;
            }
        }
        connected_parts(&input.arcs, lists, &best)
    }

    /// Flooding within communities.
    fn connected_parts(arcs: &[BTreeMap<u32, i128>], lists: &Lists, labels: &[u32]) -> Vec<u32> {
        let mut parts = vec![u32::MAX; arcs.len()];
        for v in 0..arcs.len() {
            let mut stack = vec![v as u32];
            while let Some(u) = stack.pop() {
                if parts[u as usize] == u32::MAX {
                    parts[u as usize] = v as u32;
                    let list = lists[u as usize].iter().map(|arc| arc.0);
                    stack.extend(list.filter(|&w| labels[w as usize] == labels[v]));
                }
            }
        }
        parts
    }

    impl Oracle {
        fn key(&mut self, stream: u32) -> u32 {
            let seed = mix(self.seed as u32 ^ mix((self.seed >> 32) as u32));
            self.step += 1;
            mix(seed ^ mix((self.step - 1) ^ mix(stream)))
        }

        fn phase(v: u32, key: u32) -> u64 {
            (u64::from(mix(v ^ key)) * 8) >> 32
        }

        fn cycle(
            &mut self,
            level: &Level,
            lists: &Lists,
            labels: &mut Vec<u32>,
            active: &mut [bool],
            depth: u32,
        ) {
            let n = level.arcs.len();
            // Arcs count as the input stores them, loops and repeated ones too.
            let degree = |v: usize| match depth {
                0 => lists[v].len() as u64,
                _ => level.arcs[v].len() as u64,
            };
            self.moves(level, &degree, labels, active, depth, (3, 100));
            if labels.iter().enumerate().all(|(v, &label)| v as u32 == label) {
                return;
            }
            let mut parts = self.subdivide(level, &degree, labels);
            if (0..n).all(|v| parts[v] == v as u32) {
                return;
            }
            // What has no arcs and is alone in its community becomes one vertex above, and is apart below.
            let mut community = vec![Mass::default(); n];
            (0..n).for_each(|v| community[labels[v] as usize].plus(level.mass[v]));
            let is_alone = |v: usize| community[labels[v] as usize].0 == level.mass[v].0;
            let finished: Vec<usize> = (0..n).filter(|&v| degree(v) == 0 && is_alone(v)).collect();
            finished.iter().for_each(|&v| parts[v] = finished[0] as u32);
            let founders: Vec<u32> = (0..n as u32).filter(|&v| parts[v as usize] == v).collect();
            let count = founders.len();
            if count > self.room.0 {
                return;
            }
            self.scanned += (0..n).map(degree).sum::<u64>();
            let number = |v: usize| founders.binary_search(&parts[v]).unwrap() as u32;
            let vertex_of: Vec<u32> = (0..n).map(number).collect();
            let mut coarse = Level {
                arcs: vec![BTreeMap::new(); founders.len()],
                mass: vec![Mass::default(); founders.len()],
            };
            for v in 0..n {
                let x = vertex_of[v];
                coarse.mass[x as usize].plus(level.mass[v]);
                for (&u, &w) in &level.arcs[v] {
                    if vertex_of[u as usize] != x {
                        *coarse.arcs[x as usize].entry(vertex_of[u as usize]).or_default() += w;
                    }
                }
            }
            let arcs: u64 = coarse.arcs.iter().map(|list| list.len() as u64).sum();
            if arcs > self.room.1 {
                return;
            }
            self.room = (self.room.0 - count, self.room.1 - arcs);
            let mut smallest = BTreeMap::new();
            let begin: Vec<u32> = (0..founders.len() as u32)
                .map(|x| *smallest.entry(labels[founders[x as usize] as usize]).or_insert(x))
                .collect();
            let mut above = begin.clone();
            let mut all = vec![true; founders.len()];
            self.cycle(&coarse, lists, &mut above, &mut all, depth + 1);
            self.room = (self.room.0 + count, self.room.1 + arcs);
            let mut smallest = BTreeMap::new();
            for (x, label) in above.iter_mut().enumerate() {
                *label = *smallest.entry(*label).or_insert(x as u32);
            }
            *labels = vertex_of.iter().map(|&x| founders[above[x as usize] as usize]).collect();
            finished.iter().for_each(|&v| labels[v] = v as u32);
            for v in 0..n {
                let x = vertex_of[v] as usize;
                if above[x] == begin[x] {
                    continue;
                }
                self.scanned += degree(v);
                for &u in level.arcs[v].keys() {
                    if labels[u as usize] != labels[v] {
                        active[u as usize] = true;
                        active[v] = true;
                    }
                }
            }
            let limits = if depth == 0 { (2, 200) } else { (1, 100) };
            self.moves(level, &degree, labels, active, depth, limits);
        }

        fn moves(
            &mut self,
            level: &Level,
            degree: &dyn Fn(usize) -> u64,
            labels: &mut [u32],
            active: &mut [bool],
            depth: u32,
            (rounds, settled): (u32, usize),
        ) {
            let n = labels.len();
            let mut keeps_active =
                depth == 0 && labels.iter().enumerate().all(|(v, &label)| v as u32 == label);
            for _ in 0..rounds {
                let key = self.key(8);
                // Who becomes active in this round waits for the next one.
                let scheduled = active.to_vec();
                let mut moved = 0;
                for phase in 0..8 {
                    let mut total = vec![Mass::default(); n];
                    (0..n).for_each(|v| total[labels[v] as usize].plus(level.mass[v]));
                    let mut choices = Vec::new();
                    let members = (0..n as u32)
                        .filter(|&v| scheduled[v as usize] && Self::phase(v, key) == phase);
                    for v in members {
                        active[v as usize] = keeps_active;
                        self.scanned += degree(v as usize);
                        let (own, mass) = (labels[v as usize], level.mass[v as usize]);
                        let mut weight: BTreeMap<u32, i128> = BTreeMap::from([(own, 0)]);
                        for (&u, &w) in &level.arcs[v as usize] {
                            *weight.entry(labels[u as usize]).or_default() += w;
                        }
                        let gain = |label: u32| {
                            let mine = if label == own { mass } else { Mass::default() };
                            let others = total[label as usize].minus(mine);
                            self.attraction * weight[&label] - self.repulsion * mass.times(others)
                        };
                        let hash = |label: u32| mix(label ^ mix(v ^ mix(key)));
                        // Larger is better: the gain, the own label, the smaller hash.
                        let rank = |label: u32| {
                            (gain(label), label == own, std::cmp::Reverse(hash(label)))
                        };
                        let mut best = *weight.keys().max_by_key(|&&label| rank(label)).unwrap();
                        let is_free = total[v as usize].0 == 0;
                        if gain(best) < 0 && total[own as usize].0 > mass.0 && is_free {
                            best = v;
                        }
                        if best != own {
                            choices.push((v, best));
                        }
                    }
                    choices.iter().for_each(|&(v, label)| labels[v as usize] = label);
                    for &(v, label) in choices.iter().filter(|_| !keeps_active) {
                        self.scanned += degree(v as usize);
                        for &u in level.arcs[v as usize].keys() {
                            active[u as usize] |= labels[u as usize] != label;
                        }
                    }
                    moved += choices.len();
                }
                keeps_active = false;
                if moved * settled <= n {
                    return;
                }
            }
        }

        fn subdivide(
            &mut self,
            level: &Level,
            degree: &dyn Fn(usize) -> u64,
            labels: &[u32],
        ) -> Vec<u32> {
            let n = labels.len();
            let key = self.key(9);
            let mut community = vec![Mass::default(); n];
            (0..n).for_each(|v| community[labels[v] as usize].plus(level.mass[v]));
            let mut parts: Vec<u32> = (0..n as u32).collect();
            for phase in 0..8 {
                let mut total = vec![Mass::default(); n];
                (0..n).for_each(|v| total[parts[v] as usize].plus(level.mass[v]));
                let mut joins = Vec::new();
                for v in (0..n as u32).filter(|&v| Self::phase(v, key) == phase) {
                    let (at, mass) = (v as usize, level.mass[v as usize]);
                    let others = community[labels[at] as usize].minus(mass);
                    if parts[at] != v || total[at].0 != mass.0 || others.0 == 0 {
                        continue;
                    }
                    self.scanned += degree(at);
                    let mut weight: BTreeMap<u32, i128> = BTreeMap::new();
                    for (&u, &w) in &level.arcs[at] {
                        if labels[u as usize] == labels[at] {
                            *weight.entry(parts[u as usize]).or_default() += w;
                        }
                    }
                    let own: i128 = weight.values().sum();
                    if self.attraction * own < self.repulsion * mass.times(others) {
                        continue;
                    }
                    let gain = |part: u32| {
                        self.attraction * weight[&part]
                            - self.repulsion * mass.times(total[part as usize])
                    };
                    let is_allowed = |part: u32| {
                        let joined = total[part as usize].0 > level.mass[part as usize].0;
                        (joined || Self::phase(part, key) != phase) && gain(part) >= 0
                    };
                    let hash = |part: u32| mix(part ^ mix(v ^ mix(key)));
                    let allowed = weight.keys().copied().filter(|&part| is_allowed(part));
                    let best =
                        allowed.max_by_key(|&part| (gain(part), std::cmp::Reverse(hash(part))));
                    joins.extend(best.map(|part| (at, part)));
                }
                joins.iter().for_each(|&(v, part)| parts[v] = part);
            }
            parts
        }
    }

    /// Returns the communities that have several connected parts.
    pub fn disconnected(lists: &Lists, labels: &[u32]) -> usize {
        let arcs = vec![BTreeMap::new(); lists.len()];
        let parts = connected_parts(&arcs, lists, labels);
        let pairs: BTreeSet<(u32, u32)> =
            labels.iter().copied().zip(parts.iter().copied()).collect();
        pairs.len() - labels.iter().collect::<BTreeSet<_>>().len()
    }
}

fn lists(graph: &Graph) -> oracle::Lists {
    use ripplet_graph::storage::NeighborLists;
    let of = |v: u32| {
        let (shard, mut list) = (graph.shard_of(v), Vec::new());
        for lists in [Some(shard.out()), shard.incoming()].into_iter().flatten() {
            let local = (v - shard.vertices().start) as usize;
            lists.for_each_arc(local, |u, w| list.push((u, w)));
        }
        list
    };
    (0..graph.vertices()).map(of).collect()
}

/// Returns what the arcs out of each vertex of a directed graph weigh more than those in.
fn imbalances(graph: &Graph) -> Option<Vec<i128>> {
    use ripplet_graph::storage::NeighborLists;
    let of = |v: u32| {
        let shard = graph.shard_of(v);
        let local = (v - shard.vertices().start) as usize;
        let (out, incoming) = (shard.out(), shard.incoming().unwrap());
        i128::from(out.strength_of(local)) - i128::from(incoming.strength_of(local))
    };
    let is_directed = graph.direction() == Direction::Directed;
    is_directed.then(|| (0..graph.vertices()).map(of).collect())
}

/// Runs on several numbers of threads and both storages; the results must be equal.
fn run(graph: &Graph, options: &RefineOptions) -> Result<Refined, RefineError> {
    let on = |threads| CpuExecutor::new(Some(threads)).unwrap();
    let without_seconds = |found: Refined| {
        let mut found = found;
        found.rounds.iter_mut().for_each(|round| round.round.seconds = 0.0);
        found
    };
    let of = |threads| on(threads).install(|| refine(graph, options, &mut ()).map(without_seconds));
    let found = of(1);
    for threads in [2, 4, 5] {
        assert_eq!(of(threads), found);
    }
    let compressed = CompressedGraph::of(graph.clone()).unwrap();
    assert_eq!(refine(&compressed, options, &mut ()).map(without_seconds), found);
    found
}

fn check(graph: &Graph, objective: Objective, seed: u64, initial: Option<Vec<u32>>) -> Refined {
    let options = RefineOptions { seed, initial, ..RefineOptions::new(objective) };
    let found = run(graph, &options).unwrap();
    let lists = lists(graph);
    let (cpm, auto, (num, den)) = match objective {
        Objective::Modularity(Resolution::Auto) => (false, true, (1, 1)),
        Objective::Modularity(Resolution::Fixed(gamma)) => (false, false, fraction(gamma)),
        Objective::Cpm(gamma) => (true, false, fraction(gamma)),
    };
    let imbalances = imbalances(graph);
    // Of a directed graph, γ is a density of ordered pairs.
    let num = if cpm && imbalances.is_some() { 2 * num } else { num };
    let initial = options.initial.clone();
    let setting = oracle::Setting { imbalances, seed, cpm, auto, num, den, initial };
    assert_eq!(found.labels, oracle::refine(&lists, &setting));
    assert_eq!(oracle::disconnected(&lists, &found.labels), 0);
    for (v, &label) in found.labels.iter().enumerate() {
        assert!(label as usize <= v && found.labels[label as usize] == label);
    }
    if let Objective::Modularity(Resolution::Fixed(gamma)) = objective {
        let own: Vec<u32> = (0..graph.vertices()).collect();
        let begin = options.initial.unwrap_or(own);
        let begin: Vec<u32> = begin
            .iter()
            .zip(graph.vertices()..)
            .map(|(&label, alone)| if label == NO_LABEL { alone } else { label })
            .collect();
        let of = |labels: &[u32]| Quality::at_resolution(graph, labels, gamma).unwrap().modularity;
        assert!(of(&found.labels) >= of(&begin) - 1e-12);
    }
    found
}

/// The resolutions of these tests as fractions.
fn fraction(gamma: f64) -> (i128, i128) {
    let den = [1.0, 2.0, 10.0, 20.0, 1e9].into_iter().find(|den| (gamma * den).fract() == 0.0);
    let den = den.unwrap();
    ((gamma * den) as i128, den as i128)
}

fn modularity(gamma: f64) -> Objective {
    Objective::Modularity(Resolution::Fixed(gamma))
}

/// All objectives of these tests.
const OBJECTIVES: [Objective; 5] = [
    Objective::Modularity(Resolution::Fixed(1.0)),
    Objective::Modularity(Resolution::Fixed(2.5)),
    Objective::Modularity(Resolution::Auto),
    Objective::Cpm(0.5),
    Objective::Cpm(0.05),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn labels_are_those_of_the_definition(
        edges in prop::collection::vec((0u32..60, 0u32..60, 0u32..9), 0..240),
        weighted: bool,
        directed: bool,
        seed: u64,
        begin in prop::option::of(prop::collection::vec(
            prop_oneof![0u32..12, Just(NO_LABEL)], 60)),
        far: bool,
    ) {
        let direction = if directed { Direction::Directed } else { Direction::Undirected };
        let graph = graph_of(direction, 60, &edges, weighted);
        // Labels need not be vertices.
        let begin = begin.map(|labels| {
            let moved = |label| if far && label != NO_LABEL { label + 1000 } else { label };
            labels.into_iter().map(moved).collect::<Vec<_>>()
        });
        for objective in OBJECTIVES {
            check(&graph, objective, seed, begin.clone());
        }
    }

    #[test]
    fn clustered_graphs_agree_on_several_levels(
        inner in prop::collection::vec((0u32..40, 0u32..10, 0u32..10), 400..900),
        outer in prop::collection::vec((0u32..400, 0u32..400), 0..300),
        directed: bool,
        seed: u64,
    ) {
        let inner = inner.iter().map(|&(c, a, b)| (10 * c + a, 10 * c + b, 1));
        let edges = inner.chain(outer.iter().map(|&(a, b)| (a, b, 1))).collect();
        let direction = if directed { Direction::Directed } else { Direction::Undirected };
        let graph = graph_of(direction, 400, &edges, false);
        let found = check(&graph, modularity(1.0), seed, None);
        prop_assert!(found.rounds.iter().any(|round| round.level > 0));
        check(&graph, Objective::Modularity(Resolution::Auto), seed, None);
    }
}

#[test]
fn special_graphs() {
    let star: Edges = (1..50).map(|v| (0, v, 1)).collect();
    let clique: Edges = (0..20).flat_map(|a| (0..a).map(move |b| (a, b, 1))).collect();
    let bipartite: Edges = (0..9).flat_map(|a| (9..20).map(move |b| (a, b, 1))).collect();
    let at = |x: u32, y: u32| 12 * x + y;
    let grid: Edges = (0..12)
        .flat_map(|x| {
            (0..11).flat_map(move |y| [(at(x, y), at(x, y + 1), 1), (at(y, x), at(y + 1, x), 1)])
        })
        .collect();
    let pairs: Edges = (0..1000).map(|v| (2 * v, 2 * v + 1, 1)).collect();
    let ring: Edges = (0..30)
        .flat_map(|c| {
            let inner = (0..5).flat_map(move |a| (0..a).map(move |b| (5 * c + a, 5 * c + b, 1)));
            inner.chain([(5 * c, (5 * c + 6) % 150, 1)])
        })
        .collect();
    for (vertices, edges) in [
        (0, vec![]),
        (1, vec![]),
        (1, vec![(0, 0, 1)]),
        (5, vec![]),
        (2, vec![(0, 1, 1)]),
        (50, star),
        (20, clique),
        (20, bipartite),
        (144, grid),
        (2000, pairs),
        (150, ring.clone()),
    ] {
        let graph = graph(vertices, &edges, false);
        for objective in [
            modularity(1.0),
            modularity(0.5),
            modularity(1e9),
            modularity(1e-9),
            Objective::Modularity(Resolution::Auto),
            Objective::Cpm(0.5),
            Objective::Cpm(1e9),
        ] {
            check(&graph, objective, 7, None);
        }
    }
    // A ring of 30 cliques: γ = 1 merges neighbours, the estimate does not.
    let graph = graph(150, &ring, false);
    let count =
        |objective| check(&graph, objective, 0, None).labels.iter().collect::<BTreeSet<_>>().len();
    assert!(count(modularity(1.0)) < 30);
    assert_eq!(count(Objective::Modularity(Resolution::Auto)), 30);
    assert_eq!(count(Objective::Cpm(0.5)), 30);
}

#[test]
fn large_weights_are_exact() {
    let heavy = |weight: u32| -> Edges {
        let inner = |c: u32| {
            (0..6u32).flat_map(move |a| (0..a).map(move |b| (6 * c + a, 6 * c + b, weight)))
        };
        (0..9).flat_map(|c| inner(c).chain([(6 * c, (6 * c + 7) % 54, weight / 2)])).collect()
    };
    let labels = |weight: u32| {
        let graph = graph(54, &heavy(weight), true);
        check(&graph, modularity(1.0), 3, None).labels
    };
    // The sum of weights exceeds 2³², so that gains need 128 bits.
    assert_eq!(labels(u32::MAX - 1), labels(2));
}

#[test]
fn bad_input_is_refused() {
    let edges = vec![(0, 1, 1), (1, 2, 1)];
    let graph = graph(3, &edges, false);
    let of = |objective| refine(&graph, &RefineOptions::new(objective), &mut ());
    for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e10, 1e-10] {
        for objective in [modularity(gamma), Objective::Cpm(gamma)] {
            assert!(matches!(of(objective), Err(RefineError::Resolution { .. })), "{gamma}");
        }
    }
    let mut options = RefineOptions::new(modularity(1.0));
    options.initial = Some(vec![0; 2]);
    assert_eq!(
        refine(&graph, &options, &mut ()),
        Err(RefineError::Length { labels: 2, vertices: 3 })
    );
}

#[test]
fn observers_cancel() {
    struct Cancels;
    impl Observer for Cancels {
        fn is_cancelled(&self) -> bool {
            true
        }
    }
    impl RoundObserver for Cancels {}
    let graph = graph(3, &vec![(0, 1, 1), (1, 2, 1)], false);
    let options = RefineOptions::new(modularity(1.0));
    assert_eq!(refine(&graph, &options, &mut Cancels), Err(RefineError::Run(RunError::Cancelled)));
}

/// Groups that share two thirds of their edges with others: the first iteration alone reads the arcs more
/// than 18 times, after which no further one of the same resolution begins.
#[test]
fn an_estimated_resolution_is_that_of_the_communities() {
    let planted = Planted { max_degree: 40, max_size: 100, ..Planted::new(10_000, 100_000, 0.65) };
    let graph = GraphBuilder::new().build(planted.generate().unwrap().edges).unwrap();
    let first = RefineOptions { iterations: 1, ..RefineOptions::new(modularity(1.0)) };
    let first = refine(&graph, &first, &mut ()).unwrap();
    assert!(first.scanned > 18 * graph.arcs());

    let found =
        refine(&graph, &RefineOptions::new(Objective::Modularity(Resolution::Auto)), &mut ())
            .unwrap();
    assert!(found.iterations == 3 && found.resolution > 2.0, "{found:?}");
    // Some 250 were planted; at resolution 1 they are merged.
    let count = |labels: &[u32]| labels.iter().collect::<BTreeSet<_>>().len();
    assert!(count(&first.labels) < 80 && count(&found.labels) > 150);

    // At the resolution that is said, no other communities of the run are better.
    let score = |labels: &[u32]| {
        Quality::at_resolution(&graph, labels, found.resolution).unwrap().modularity
    };
    assert!(score(&found.labels) > score(&first.labels));
}

#[test]
fn weights_scale_the_resolution_of_the_potts_model() {
    // Weights in quarters: the density inside the triangles is 1.25, between them 0.25 / 9.
    let ids = VertexIds::Consecutive { first: 0, count: 6 };
    let edges = EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3]).unwrap();
    let weights = vec![1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 0.25];
    let graph = GraphBuilder::new().build(edges.with_weights(weights).unwrap()).unwrap();
    let labels = |gamma| {
        let options = RefineOptions::new(Objective::Cpm(gamma));
        refine(&graph, &options, &mut ()).unwrap().labels
    };
    assert_eq!(labels(1.2), [0, 0, 0, 3, 3, 3]);
    assert_eq!(labels(1.3), [0, 1, 2, 3, 4, 5]);
    assert_eq!(labels(0.02), [0; 6]);
}

/// Weights as far from the resolution as scores can be exact give the same communities as weights near it; beyond
/// that, they are refused.
#[test]
fn weights_far_from_the_resolution_are_exact_or_refused() {
    let found = |weight: f64, gamma: f64| {
        let ids = VertexIds::Consecutive { first: 0, count: 6 };
        let edges = EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5], vec![1, 2, 0, 4, 5, 3]).unwrap();
        let edges = edges.with_weights(vec![weight; 6]).unwrap();
        let graph = GraphBuilder::new().build(edges).unwrap();
        let options = RefineOptions::new(Objective::Cpm(gamma));
        refine(&graph, &options, &mut ()).map(|refined| refined.labels)
    };
    let (together, apart) = ([0, 0, 0, 3, 3, 3], [0, 1, 2, 3, 4, 5]);
    for (weight, gamma, expected) in [
        (1e-3, 0.9e-3, together),
        (1e-3, 1.0, apart),
        (1.5e-8, 1e-8, together),
        (1.5e-8, 2e-8, apart),
        (1.5e8, 1e8, together),
        (1.5e8, 2e8, apart),
    ] {
        assert_eq!(found(weight, gamma).unwrap(), expected, "{weight} at {gamma}");
    }
    for (weight, gamma) in
        [(1e-12, 1.0), (1e-20, 1.0), (1e-300, 1e9), (1e23, 1.0), (1e23, 512.0), (1e298, 1e-9)]
    {
        let refused = found(weight, gamma).expect_err("too far apart");
        assert!(matches!(refused, RefineError::Scale { .. }), "{weight} at {gamma}: {refused}");
        assert!(refused.to_string().contains("multiply all weights"), "{refused}");
    }
}

/// Vertices without edges and small components cost other vertices no quality, though contracted graphs have them.
#[test]
fn isolated_vertices_and_small_components_take_no_room() {
    let planted = Planted::new(2000, 12_000, 0.3).generate().unwrap().edges;
    let own: Edges =
        planted.sources().iter().zip(planted.targets()).map(|(&u, &v)| (u, v, 1)).collect();
    let refined = |vertices: u32, edges: &Edges| {
        let graph = graph(vertices, edges, false);
        let found = run(&graph, &RefineOptions::new(modularity(1.0))).unwrap();
        (Quality::at_resolution(&graph, &found.labels, 1.0).unwrap().modularity, found)
    };
    let (alone, found) = refined(2000, &own);
    let levels = |found: &Refined| found.rounds.iter().map(|round| round.level).max().unwrap();
    for isolated in [2000, 20_000] {
        let (quality, beside) = refined(2000 + isolated, &own);
        assert!(quality > alone - 0.003, "{quality} instead of {alone}");
        assert!((2000..2000 + isolated).all(|v| beside.labels[v as usize] == v));
        assert!(levels(&beside) + 1 >= levels(&found));
    }
    // A pair adds 1 to the edges, and finds itself.
    let pairs = (0..1500).map(|pair| (2000 + 2 * pair, 2001 + 2 * pair, 1));
    let (_, beside) = refined(5000, &own.iter().copied().chain(pairs).collect());
    assert!((2000..5000).all(|v| beside.labels[v as usize] == v & !1));
    let communities = |labels: &[u32]| labels.iter().collect::<BTreeSet<_>>().len();
    let (of_pairs, of_own) =
        (communities(&beside.labels[2000..]), communities(&beside.labels[..2000]));
    assert_eq!(of_pairs, 1500);
    assert!(of_own <= communities(&found.labels) * 2, "{of_own} communities");
    assert!(levels(&beside) + 1 >= levels(&found));
}
