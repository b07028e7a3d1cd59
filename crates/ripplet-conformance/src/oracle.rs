//! Oracle: the definition of label propagation, evaluated literally; slow, sequential, obviously
//! right.
//!
//! It shares nothing with the engine but the input: its graph, hashes and arithmetic are its own.
//! It restates independently what the engines must agree on.

use std::collections::{BTreeMap, BTreeSet};

/// The neighbours of each vertex with weights; arcs of both directions if directed.
pub type Lists = Vec<Vec<(u32, u64)>>;

/// The label of a vertex without a label.
pub const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Variant {
    /// Guard in steps of 1/65536; 0 means no guard.
    Lpa {
        guard: u64,
    },
    Cdlp,
    /// γ in steps of 1/65536.
    Llp {
        gamma: i128,
    },
    Slpa {
        memory: usize,
    },
    Seeded {
        attenuation: f32,
    },
    /// The program of `probe.rs`, which uses everything that hooks offer.
    Probe {
        activation: Activation,
        total: Total,
    },
    /// The program of `ripplet-fraud`, which the suite of `ripplet` runs.
    #[allow(dead_code, reason = "made there alone")]
    Suspicion {
        attenuation: f32,
    },
}

/// How votes are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Counting {
    Exact,
    Sketch {
        /// Slots of a Misra-Gries sketch; `None` for one slot by Boyer and Moore.
        slots: Option<usize>,
        /// Whether candidates' votes are recounted.
        twice: bool,
        /// Whether each 128 arcs have a sketch of their own.
        in_parts: bool,
        /// Whether votes are taken from a randomly drawn one on.
        drawn: bool,
    },
}

/// The vertices that a change activates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    Disagreement,
    Change,
    Always,
}

/// The total that is kept for each label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Total {
    Nothing,
    Members,
    Volume,
}

#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub variant: Variant,
    pub counting: Counting,
    /// Phases per round; 1 is synchronous.
    pub phases: u32,
    pub smallest_wins_ties: bool,
    pub seed: u64,
    pub max_rounds: u32,
    /// The share of changed vertices at which the run stops.
    pub tolerance: f64,
}

/// The labels, and for each vertex the bits of each column's values.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub labels: Vec<u32>,
    pub columns: BTreeMap<&'static str, Vec<Vec<u32>>>,
}

/// Counts of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub changed: u64,
    pub visited: u64,
    pub scanned: u64,
    pub nan_scores: u64,
}

pub struct Result {
    pub state: State,
    pub rounds: Vec<Counts>,
}

impl State {
    /// Returns the state in which every vertex has its own label and the columns have their initial
    /// values.
    pub fn new(vertices: u32, variant: Variant) -> State {
        let column = |values: &[u32]| vec![values.to_vec(); vertices as usize];
        let one = 1.0f32.to_bits();
        let columns = match variant {
            Variant::Lpa { .. } | Variant::Cdlp | Variant::Llp { .. } => vec![],
            Variant::Slpa { memory } => {
                vec![("heard", column(&vec![0; memory])), ("cumulative", column(&vec![0; memory]))]
            }
            Variant::Seeded { .. } => vec![("fixed", column(&[0])), ("strength", column(&[one]))],
            Variant::Probe { .. } => {
                let (tint, gain) = (column(&[7, 7, 7]), column(&[one]));
                vec![("tint", tint), ("pull", column(&[one])), ("gain", gain)]
            }
            Variant::Suspicion { .. } => {
                ["fixed", "strength", "share"].map(|name| (name, column(&[0]))).into()
            }
        };
        State { labels: (0..vertices).collect(), columns: columns.into_iter().collect() }
    }

    fn value(&self, column: &str, v: u32, index: usize) -> u32 {
        self.columns[column][v as usize].get(index).copied().unwrap_or(0)
    }

    fn number(&self, column: &str, v: u32) -> f32 {
        f32::from_bits(self.value(column, v, 0))
    }

    fn set(&mut self, column: &str, v: u32, index: usize, value: u32) {
        let values = &mut self.columns.get_mut(column).unwrap()[v as usize];
        if index < values.len() {
            values[index] = value;
        }
    }
}

/// Hashes by lowbias32.
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

/// The graph and rules of a run, and values derived from them.
struct World<'a> {
    lists: &'a Lists,
    rules: Rules,
    share: Vec<u64>,
    unit: u64,
    /// The sum of what all vertices contribute to totals.
    everything: u128,
}

pub fn run(lists: &Lists, start: State, rules: Rules) -> Result {
    let n = lists.len();
    let strength: Vec<u64> = lists.iter().map(|list| list.iter().map(|(_, w)| w).sum()).collect();
    let (share, unit) = (shares(&strength, rules.seed), vote_unit(lists));
    let mut world = World { lists, rules, share, unit, everything: 0 };
    world.everything = (0..n).map(|v| world.part(v)).sum();
    let mut state = start;
    let mut active: BTreeSet<u32> = (0..n as u32).collect();
    let mut rounds = Vec::new();
    for round in 0..rules.max_rounds {
        let mut counts = Counts::default();
        let phases = rules.phases as usize;
        let units = units(phases, draw(rules.seed, round, 1, u32::MAX), round);
        for phase in 0..phases {
            let is_at_turn = |&v: &u32| {
                // The schedule of v's block starts at a drawn unit and advances by one unit per
                // phase.
                let place = v as usize % (8 * phases);
                let drawn = u64::from(draw(rules.seed, round, 1, v / (8 * rules.phases)));
                let start = (drawn * phases as u64 / (1 << 32)) as usize;
                rules.phases == 1 || units[(start + phase) % phases].contains(&place)
            };
            let turn: Vec<u32> = active.iter().copied().filter(is_at_turn).collect();
            turn.iter().for_each(|v| assert!(active.remove(v)));
            let before = state.clone();
            let totals = world.totals(&before);
            for &v in &turn {
                counts.visited += 1;
                counts.scanned += lists[v as usize].len() as u64;
                counts.nan_scores +=
                    u64::from(world.choose(v, round, &before, &totals, &mut state));
            }
            for v in turn {
                let relabelled = before.labels[v as usize] != state.labels[v as usize];
                let rewritten = |column: &str| {
                    before.columns[column][v as usize] != state.columns[column][v as usize]
                };
                let rewritten = state.columns.keys().any(|column| rewritten(column));
                counts.changed += u64::from(relabelled || rewritten);
                let label = state.labels[v as usize];
                let is_activated = |u: &u32| match world.activation() {
                    Activation::Always => false,
                    Activation::Change => relabelled || rewritten,
                    Activation::Disagreement => relabelled && state.labels[*u as usize] != label,
                };
                active.extend(lists[v as usize].iter().map(|(u, _)| *u).filter(is_activated));
            }
        }
        if world.activation() == Activation::Always {
            active = (0..n as u32).collect();
        }
        rounds.push(counts);
        if counts.changed as f64 <= (rules.tolerance * n as f64).floor() {
            break;
        }
    }
    Result { state, rounds }
}

/// A slot: a label and its weight.
type Slot = Option<(u32, u64)>;

/// Returns the slots of a vertex's sketch after all votes.
fn sketch(
    said: &[(u32, u32, u64)],
    is_counted: impl Fn(&(u32, u32, u64)) -> bool,
    counting: Counting,
) -> Vec<(u32, u64)> {
    let Counting::Sketch { slots, in_parts, .. } = counting else { return Vec::new() };
    let parts = said.chunks(if in_parts { 128 } else { usize::MAX });
    let mut sketches: Vec<Vec<Slot>> = parts
        .map(|part| {
            let mut sketch = vec![None; slots.unwrap_or(1)];
            let votes = part.iter().filter(|vote| is_counted(vote));
            votes.for_each(|&(_, label, weight)| take(&mut sketch, slots.is_none(), label, weight));
            sketch
        })
        .collect();
    while sketches.len() > 1 {
        let merge = |pair: &[Vec<Slot>]| match pair {
            [left, right] if slots.is_none() => {
                let weight = |sketch: &[Slot]| sketch[0].map_or(0, |(_, weight)| weight);
                if weight(right) > weight(left) { right.clone() } else { left.clone() }
            }
            [left, right] => {
                let mut sketch = left.clone();
                right.iter().flatten().for_each(|&(l, weight)| take(&mut sketch, false, l, weight));
                sketch
            }
            other => other[0].clone(),
        };
        sketches = sketches.chunks(2).map(merge).collect();
    }
    sketches.concat().into_iter().flatten().collect()
}

/// Adds a vote to a sketch.
fn take(sketch: &mut [Slot], by_majority: bool, label: u32, mut weight: u64) {
    if let Some((_, sum)) = sketch.iter_mut().flatten().find(|(other, _)| *other == label) {
        *sum += weight;
        return;
    }
    if by_majority {
        sketch[0] = match sketch[0] {
            Some((other, sum)) if sum > weight => Some((other, sum - weight)),
            _ => Some((label, weight)),
        };
        return;
    }
    if sketch.iter().all(Option::is_some) {
        let least = sketch.iter().flatten().map(|(_, sum)| *sum).min().unwrap();
        let loss = weight.min(least);
        weight -= loss;
        for slot in sketch.iter_mut() {
            *slot = slot.map(|(other, sum)| (other, sum - loss)).filter(|(_, sum)| *sum > 0);
        }
    }
    if weight > 0 {
        *sketch.iter_mut().find(|slot| slot.is_none()).unwrap() = Some((label, weight));
    }
}

/// The score of a label.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Score {
    Whole(i128),
    Real(f32),
}

impl World<'_> {
    fn activation(&self) -> Activation {
        match self.rules.variant {
            Variant::Lpa { .. } | Variant::Cdlp => Activation::Disagreement,
            Variant::Llp { .. } | Variant::Seeded { .. } | Variant::Suspicion { .. } => {
                Activation::Change
            }
            Variant::Slpa { .. } => Activation::Always,
            Variant::Probe { activation, .. } => activation,
        }
    }

    fn total(&self) -> Total {
        match self.rules.variant {
            Variant::Lpa { .. } => Total::Volume,
            Variant::Llp { .. } => Total::Members,
            Variant::Probe { total, .. } => total,
            Variant::Cdlp | Variant::Slpa { .. } => Total::Nothing,
            Variant::Seeded { .. } | Variant::Suspicion { .. } => Total::Nothing,
        }
    }

    fn part(&self, v: usize) -> u128 {
        match self.total() {
            Total::Nothing => 0,
            Total::Members => 1,
            Total::Volume => u128::from(self.share[v]),
        }
    }

    /// Returns the sum of the members' contributions for each label.
    fn totals(&self, state: &State) -> BTreeMap<u32, u128> {
        let mut totals = BTreeMap::new();
        for (v, &label) in state.labels.iter().enumerate().filter(|(_, label)| **label != NONE) {
            *totals.entry(label).or_default() += self.part(v);
        }
        totals
    }

    fn random(&self, v: u32, round: u32, stream: u32) -> u32 {
        draw(self.rules.seed, round, 16u32.wrapping_add(stream), v)
    }

    /// Returns the label that `u` shows to its neighbours.
    fn shown(&self, u: u32, round: u32, state: &State) -> u32 {
        let hides = matches!(self.rules.variant, Variant::Probe { .. })
            && self.random(u, round, 1).is_multiple_of(8);
        if hides { NONE } else { state.labels[u as usize] }
    }

    /// Returns the vote of `u` for `v` along an arc of this weight.
    fn vote(&self, v: u32, u: u32, weight: u64, round: u32, state: &State) -> (u32, u64) {
        let label = self.shown(u, round, state);
        match self.rules.variant {
            Variant::Lpa { .. } => (label, weight),
            Variant::Cdlp | Variant::Llp { .. } => (label, 1),
            Variant::Slpa { memory } => {
                let known = memory_of(u, memory, state);
                let all: u64 = known.iter().map(|&(_, count)| u64::from(count)).sum();
                let lot = u64::from(self.random(u, round, v)) * all / (1 << 32);
                // The memory as a row of `all` labels, of which label number `lot` is spoken.
                let mut row = known
                    .iter()
                    .flat_map(|&(label, count)| std::iter::repeat_n(label, count as usize));
                (row.nth(lot as usize).unwrap_or(label), weight)
            }
            Variant::Seeded { .. } => {
                let strength = f64::from(state.number("strength", u));
                let steps = (strength * 65536.0).floor() as u64;
                (label, (weight * self.unit * steps).div_ceil(65536))
            }
            Variant::Suspicion { .. } => {
                let passed = state.number("strength", u) * state.number("share", u);
                // Steps of 2⁻²⁴, in 32 bits.
                let steps = f64::from(passed * weight as f32) * 16777216.0;
                (label, (steps.floor() as u64).min(u32::MAX.into()))
            }
            Variant::Probe { .. } => {
                if self.random(u, round, 2).is_multiple_of(5) {
                    return (label, 0);
                }
                let label = if u % 16 == 3 { u32::MAX - 7 } else { label };
                let tint = u64::from(state.value("tint", u, v as usize % 4)) % 8;
                (label, weight % 1000 + tint)
            }
        }
    }

    /// Returns a label's score, or `None` if the vertex may not adopt the label.
    fn score(
        &self,
        v: u32,
        label: u32,
        frequency: u64,
        total_votes: u64,
        state: &State,
        totals: &BTreeMap<u32, u128>,
    ) -> Option<Score> {
        let total = totals.get(&label).copied().unwrap_or(0);
        let everything = self.everything;
        match self.rules.variant {
            Variant::Lpa { guard } if label != state.labels[v as usize] => {
                let observed = u128::from(frequency) * everything * 65536;
                let by_chance = u128::from(guard) * u128::from(total_votes) * total;
                (observed >= by_chance).then_some(Score::Whole(frequency.into()))
            }
            Variant::Lpa { .. } | Variant::Cdlp | Variant::Slpa { .. } => {
                Some(Score::Whole(frequency.into()))
            }
            Variant::Seeded { .. } | Variant::Suspicion { .. } => {
                Some(Score::Whole(frequency.into()))
            }
            Variant::Llp { gamma } => {
                let (k, v) = (i128::from(frequency), total as i128);
                Some(Score::Whole(65536 * k - gamma * (v - k)))
            }
            Variant::Probe { .. } if label % 11 == 5 => Some(Score::Real(f32::NAN)),
            Variant::Probe { .. } => {
                let gained = frequency as f32 * state.number("pull", v);
                let lost = total as f32 * 0.5;
                let share = total_votes as f32 / (everything as f32 + 1.0);
                Some(Score::Real(gained - lost + share))
            }
        }
    }

    /// Updates `v` in `after` from the state `before`. Returns whether a score was NaN.
    fn choose(
        &self,
        v: u32,
        round: u32,
        before: &State,
        totals: &BTreeMap<u32, u128>,
        after: &mut State,
    ) -> bool {
        let mut said: Vec<(u32, u32, u64)> = self.lists[v as usize]
            .iter()
            .map(|&(u, weight)| (u, self.vote(v, u, weight, round, before)))
            .map(|(u, (label, weight))| (u, label, weight))
            .collect();
        let is_counted = |&(_, label, weight): &(u32, u32, u64)| label != NONE && weight > 0;
        let mut turned = said.clone();
        if let Counting::Sketch { drawn: true, .. } = self.rules.counting {
            let drawn = u64::from(draw(self.rules.seed, round, 4, v));
            turned.rotate_left((drawn * said.len() as u64 / (1 << 32)) as usize);
        }
        let candidates = sketch(&turned, is_counted, self.rules.counting);
        said.retain(is_counted);
        let mut votes: BTreeMap<u32, u64> = BTreeMap::new();
        said.iter().for_each(|&(_, label, weight)| *votes.entry(label).or_default() += weight);
        let total_votes = votes.values().sum();
        if let Counting::Sketch { twice, .. } = self.rules.counting {
            let own = before.labels[v as usize];
            let is_candidate =
                |label: &u32| candidates.iter().any(|(candidate, _)| candidate == label);
            votes.retain(|label, _| is_candidate(label) || (twice && *label == own));
            if !twice {
                votes.extend(candidates);
            }
        }
        let (mut best, mut nan): (Option<(Score, u32, u32)>, bool) = (None, false);
        for (&label, &frequency) in &votes {
            let Some(score) = self.score(v, label, frequency, total_votes, before, totals) else {
                continue;
            };
            if matches!(score, Score::Real(real) if real.is_nan()) {
                nan = true;
                continue;
            }
            let rank = match self.rules.smallest_wins_ties {
                true => label,
                // The same draw for the vertex, mixed with the label.
                false => scramble(label ^ draw(self.rules.seed, round, 2, v)),
            };
            let better = match best {
                None => true,
                Some((most, first, _)) => score > most || (score == most && rank < first),
            };
            if better {
                best = Some((score, rank, label));
            }
        }
        if let Some((score, _, label)) = best {
            let voters = said.iter().filter(|(_, other, _)| *other == label);
            let carries = voters.filter_map(|&(u, _, _)| self.carry(u, before));
            let carried = carries.max_by(f32::total_cmp).unwrap_or(0.0);
            let won = Won { label, score, frequency: votes[&label], total_votes, carried };
            let label = self.update(v, round, won, after);
            let exists = (label as usize) < self.lists.len();
            after.labels[v as usize] = if exists { label } else { NONE };
        }
        nan
    }

    /// Returns the value that a voter carries to its neighbour.
    fn carry(&self, u: u32, state: &State) -> Option<f32> {
        match self.rules.variant {
            Variant::Seeded { .. } => Some(state.number("strength", u)),
            Variant::Probe { .. } if u.is_multiple_of(4) => None,
            Variant::Probe { .. } => {
                let sign = if u.is_multiple_of(2) { -1.0 } else { 1.0 };
                Some(sign * state.number("gain", u))
            }
            _ => Some(0.0),
        }
    }

    /// Writes the columns of `v`, which are unchanged so far in this phase, and returns its next
    /// label.
    fn update(&self, v: u32, round: u32, won: Won, state: &mut State) -> u32 {
        match self.rules.variant {
            Variant::Lpa { .. } | Variant::Cdlp | Variant::Llp { .. } => won.label,
            Variant::Slpa { memory } => remember(v, won.label, memory, state),
            Variant::Seeded { attenuation } => {
                if state.value("fixed", v, 0) == 1 {
                    return state.labels[v as usize];
                }
                state.set("strength", v, 0, (won.carried * attenuation).to_bits());
                won.label
            }
            Variant::Suspicion { attenuation } => {
                if state.value("fixed", v, 0) == 1 {
                    return state.labels[v as usize];
                }
                let received = won.total_votes as f32 / 16777216.0;
                let now = f32::min(received * attenuation, 1.0);
                let before = state.number("strength", v);
                let is_small = f32::abs(now - before) <= before / 64.0;
                if now < 1.0 / 65536.0 {
                    state.set("strength", v, 0, 0);
                    return NONE;
                }
                if !is_small || won.label != state.labels[v as usize] {
                    state.set("strength", v, 0, now.to_bits());
                }
                won.label
            }
            Variant::Probe { .. } => {
                let Score::Real(score) = won.score else { panic!("a probe's scores are reals") };
                state.set("gain", v, 0, (won.carried * 0.5 + 1.0).to_bits());
                let tint = state.value("tint", v, 0).wrapping_add(won.frequency as u32);
                state.set("tint", v, round as usize % 4, tint);
                state.set("tint", v, 1, score.to_bits() % 16);
                match won.label % 13 {
                    7 => NONE,
                    8 => u32::MAX - 9,
                    _ => won.label,
                }
            }
        }
    }
}

/// The winning label of a vertex.
struct Won {
    label: u32,
    score: Score,
    frequency: u64,
    /// Total votes.
    total_votes: u64,
    carried: f32,
}

/// Adds a label to the memory, which is a list of labels with their numbers of occurrences.
fn remember(v: u32, label: u32, memory: usize, state: &mut State) -> u32 {
    let mut known = memory_of(v, memory, state);
    if known.is_empty() && state.labels[v as usize] != NONE {
        known.push((state.labels[v as usize], 1));
    }
    let at = match known.iter().position(|(other, _)| *other == label) {
        Some(at) => at,
        None if known.len() < memory => {
            known.push((label, 0));
            known.len() - 1
        }
        None => memory - 1,
    };
    let count = known[at].1;
    let first = known.iter().position(|&(_, other)| other == count).unwrap();
    known.swap(first, at);
    known[first] = (label, count + 1);
    for i in 0..memory {
        if let Some(&(label, _)) = known.get(i) {
            state.set("heard", v, i, label);
        }
        let sum = known.iter().take(i + 1).map(|(_, count)| count).sum();
        state.set("cumulative", v, i, sum);
    }
    known[0].0
}

/// Returns the labels in a vertex's memory, with their counts.
fn memory_of(v: u32, memory: usize, state: &State) -> Vec<(u32, u32)> {
    let sum = |i: usize| state.value("cumulative", v, i);
    let count = |i: usize| if i == 0 { sum(0) } else { sum(i) - sum(i - 1) };
    let known = (0..memory).map(|i| (state.value("heard", v, i), count(i)));
    known.filter(|&(_, count)| count > 0).collect()
}

/// Returns the factor that keeps weak votes distinct: the largest power of two with which
/// everything fits.
fn vote_unit(lists: &Lists) -> u64 {
    let weights = || lists.iter().flatten().map(|(_, weight)| u128::from(*weight));
    let (largest, all) = (weights().max().unwrap_or(0), weights().sum::<u128>());
    let fits = |unit: u128| largest * unit < 1 << 32 && all * unit < 1 << 62;
    let mut unit = 1;
    while unit < 65536 && fits(2 * unit) {
        unit *= 2;
    }
    unit as u64
}

/// Returns the units of a block in the order of their updates, as places within the block.
fn units(phases: usize, drawn: u32, round: u32) -> Vec<Vec<usize>> {
    let mut stride = match round {
        20.. if round & 3 == 0 => 1,
        _ => [2, 4, 8][(u64::from(drawn) * 3 / (1 << 32)) as usize],
    };
    while !phases.is_multiple_of(stride) {
        stride /= 2;
    }
    // Each stretch of 8 s places of the block is dealt round-robin to s units.
    let mut units = vec![Vec::new(); phases];
    for place in 0..8 * phases {
        units[place / (8 * stride) * stride + place % stride].push(place);
    }
    units
}

/// Returns each vertex's contribution to its label's volume: its strength, in units of 2^s if the
/// sum does not fit 32 bits.
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

/// Splits communities into connected components and labels each by its smallest vertex; vertices
/// without a label stay without one.
pub fn split(lists: &Lists, labels: &[u32]) -> Vec<u32> {
    let n = labels.len();
    let mut near: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); n];
    for v in 0..n {
        for &(u, _) in &lists[v] {
            near[v].insert(u);
            near[u as usize].insert(v as u32);
        }
    }
    let mut name = vec![NONE; n];
    for v in 0..n {
        if labels[v] == NONE || name[v] != NONE {
            continue;
        }
        let mut todo = vec![v as u32];
        while let Some(x) = todo.pop() {
            if name[x as usize] == NONE && labels[x as usize] == labels[v] {
                name[x as usize] = v as u32;
                todo.extend(&near[x as usize]);
            }
        }
    }
    name
}
