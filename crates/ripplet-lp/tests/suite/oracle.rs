//! The definition of label propagation, performed literally: slow, sequential, obviously right.
//!
//! Shares nothing with the engine but the input: it has its own graph, its own hashes, its own
//! arithmetic. What the engines must agree on is written here once more, in other words.

use std::collections::{BTreeMap, BTreeSet};

/// For each vertex, its neighbours with weights; with both directions' arcs where directed.
pub type Lists = Vec<Vec<(u32, u64)>>;

#[derive(Clone, Copy, Debug)]
pub enum Variant {
    /// Resolution in steps of 1/65536; 0 is no guard.
    Lpa {
        resolution: u64,
    },
    Cdlp,
}

#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub variant: Variant,
    /// Phases a round; 1 is synchronous.
    pub phases: u32,
    pub smallest_wins_ties: bool,
    pub seed: u64,
    pub max_rounds: u32,
    /// The share of changed vertices at which to stop.
    pub tolerance: f64,
}

pub struct Result {
    pub labels: Vec<u32>,
    /// Changed vertices of each round.
    pub changed: Vec<u64>,
}

/// lowbias32.
fn scramble(x: u32) -> u32 {
    let m = 1u64 << 32;
    let times = |a: u32, b: u64| (u64::from(a) * b % m) as u32;
    let a = times(x ^ (x / 65536), 2146121005);
    let b = times(a ^ (a / 32768), 2221713035);
    b ^ (b / 65536)
}

fn draw(seed: u64, round: u32, stream: u32, x: u32) -> u32 {
    let seed = scramble((seed % (1 << 32)) as u32 ^ scramble((seed / (1 << 32)) as u32));
    scramble(x ^ scramble(seed ^ scramble(round ^ scramble(stream))))
}

pub fn run(lists: &Lists, initial: Option<&[u32]>, rules: Rules) -> Result {
    let n = lists.len();
    let mut labels: Vec<u32> = match initial {
        Some(labels) => labels.to_vec(),
        None => (0..n as u32).collect(),
    };
    let strength: Vec<u64> = lists.iter().map(|list| list.iter().map(|(_, w)| w).sum()).collect();
    let share = shares(&strength, rules.seed);
    let mut active: BTreeSet<u32> = (0..n as u32).collect();
    let mut changed = Vec::new();
    for round in 0..rules.max_rounds {
        let mut changes = 0;
        let phases = rules.phases as usize;
        let units = units(phases, draw(rules.seed, round, 1, u32::MAX));
        for phase in 0..phases {
            let turn: Vec<u32> = active
                .iter()
                .copied()
                .filter(|&v| {
                    // The hand of v's block, once per phase one further, points to v's unit.
                    let place = v as usize % (8 * phases);
                    let drawn = u64::from(draw(rules.seed, round, 1, v / (8 * rules.phases)));
                    let start = (drawn * phases as u64 / (1 << 32)) as usize;
                    units[(start + phase) % phases].contains(&place)
                })
                .collect();
            let mut volume: BTreeMap<u32, u128> = BTreeMap::new();
            for v in 0..n {
                *volume.entry(labels[v]).or_default() += u128::from(share[v]);
            }
            let new: Vec<u32> =
                turn.iter().map(|&v| choose(v, lists, &labels, &volume, round, rules)).collect();
            turn.iter().for_each(|v| assert!(active.remove(v)));
            let moved: Vec<(u32, u32)> = turn
                .into_iter()
                .zip(new)
                .filter(|&(v, label)| labels[v as usize] != label)
                .collect();
            moved.iter().for_each(|&(v, label)| labels[v as usize] = label);
            for &(v, label) in &moved {
                let neighbors = lists[v as usize].iter().map(|(u, _)| *u);
                active.extend(neighbors.filter(|&u| labels[u as usize] != label));
            }
            changes += moved.len() as u64;
        }
        changed.push(changes);
        if changes as f64 <= (rules.tolerance * n as f64).floor() {
            break;
        }
    }
    Result { labels, changed }
}

/// The units of a block, in the order of their turns: places within the block.
fn units(phases: usize, drawn: u32) -> Vec<Vec<usize>> {
    let mut stride = [2, 4, 8][(u64::from(drawn) * 3 / (1 << 32)) as usize];
    while !phases.is_multiple_of(stride) {
        stride /= 2;
    }
    // The block's stretches of 8 s places, each dealt to s units like cards.
    let mut units = vec![Vec::new(); phases];
    for place in 0..8 * phases {
        units[place / (8 * stride) * stride + place % stride].push(place);
    }
    units
}

/// What each vertex adds to its label's volume: its strength, in units of 2^s where all do not
/// fit 32 bits.
fn shares(strength: &[u64], seed: u64) -> Vec<u64> {
    let all: u64 = strength.iter().sum();
    let mut unit = 1u64;
    if all >= 1 << 32 {
        while all / unit >= 1 << 31 {
            unit *= 2;
        }
    }
    let rounded = |(v, s): (usize, &u64)| {
        (s + if unit > 1 { u64::from(draw(seed, 0, 3, v as u32)) % unit } else { 0 }) / unit
    };
    strength.iter().enumerate().map(rounded).collect()
}

fn choose(
    v: u32,
    lists: &Lists,
    labels: &[u32],
    volume: &BTreeMap<u32, u128>,
    round: u32,
    rules: Rules,
) -> u32 {
    let own = labels[v as usize];
    let mut votes: BTreeMap<u32, u64> = BTreeMap::new();
    for &(u, weight) in &lists[v as usize] {
        let weight = if matches!(rules.variant, Variant::Cdlp) { 1 } else { weight };
        *votes.entry(labels[u as usize]).or_default() += weight;
    }
    let cast: u64 = votes.values().sum();
    let everything: u128 = volume.values().sum();
    let mut best: Option<(u64, u32, u32)> = None;
    for (label, frequency) in votes {
        let guarded = match rules.variant {
            Variant::Cdlp | Variant::Lpa { resolution: 0 } => false,
            Variant::Lpa { resolution } => {
                let observed = u128::from(frequency) * everything * 65536;
                let by_chance = u128::from(resolution) * u128::from(cast) * volume[&label];
                label != own && observed < by_chance
            }
        };
        if guarded || frequency == 0 {
            continue;
        }
        let rank = if rules.smallest_wins_ties {
            label
        } else {
            // The same draw for the vertex, mixed with the label.
            scramble(label ^ draw(rules.seed, round, 2, v))
        };
        let better = match best {
            None => true,
            Some((most, first, _)) => frequency > most || (frequency == most && rank < first),
        };
        if better {
            best = Some((frequency, rank, label));
        }
    }
    best.map_or(own, |(_, _, label)| label)
}

/// Each connected part of each community, named by its smallest vertex.
pub fn split(lists: &Lists, labels: &[u32]) -> Vec<u32> {
    let n = labels.len();
    let mut near: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); n];
    for v in 0..n {
        for &(u, _) in &lists[v] {
            near[v].insert(u);
            near[u as usize].insert(v as u32);
        }
    }
    let mut name = vec![u32::MAX; n];
    for v in 0..n {
        if name[v] != u32::MAX {
            continue;
        }
        let mut todo = vec![v as u32];
        while let Some(x) = todo.pop() {
            if name[x as usize] == u32::MAX && labels[x as usize] == labels[v] {
                name[x as usize] = v as u32;
                todo.extend(&near[x as usize]);
            }
        }
    }
    name
}
