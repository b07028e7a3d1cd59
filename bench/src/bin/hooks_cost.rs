//! Measures the cost of hooks: `lpa` through the hooks beside the same loop written by hand without them.
//!
//! ```text
//! cargo run --release -p ripplet-bench --bin hooks_cost -- [--vertices N] [--edges N] [--repeat N]
//!     [--only engine|hand|lean]
//! ```
//!
//! The loop by hand is the engine's `async` schedule for `Lpa::default()` on one thread, if it
//! is deterministic: the same steps on the same arrays, but no program, views, or columns. `hand`
//! takes every graph that the engine takes, in shards, directed or weighted, and votes for no
//! label. `lean` is the same text compiled for less: one shard, undirected, unweighted, all vertices
//! labelled. Both must give the engine's labels.
//!
//! The three alternate, each on its own thread. A line has the CPU seconds of a repetition (Linux
//! only; they are meaningful on a busy machine, too) and the engine's ratios to the others. With
//! `--only`, one of them runs `--repeat` times without timing, to count instructions. These are the
//! count of two repetitions less the count of one:
//!
//! ```text
//! valgrind --tool=callgrind hooks_cost --only hand --repeat 2
//! ```

use rayon::{ThreadPool, ThreadPoolBuilder};
use ripplet_generate::Planted;
use ripplet_graph::{Graph, GraphBuilder};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::Lpa;
use ripplet_lp::{Executor, Schedule, Settings};
use std::error::Error;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let (mut vertices, mut edges, mut repeat, mut only) = (200_000, 2_000_000, 15, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument} wants a value"))?;
        match argument.as_str() {
            "--vertices" => vertices = value.parse()?,
            "--edges" => edges = value.parse()?,
            "--repeat" => repeat = value.parse()?,
            "--only" => only = Some(value),
            other => return Err(format!("no option {other}").into()),
        }
    }
    let planted = Planted::new(vertices, edges, 0.3).generate()?;
    let runs = Runs::new(GraphBuilder::new().build(planted.edges)?)?;
    match only.as_deref() {
        None => runs.compare(repeat),
        Some("engine") => (0..repeat).try_for_each(|_| runs.engine().map(drop)),
        Some("hand") => (0..repeat).try_for_each(|_| runs.hand().map(drop)),
        Some("lean") => (0..repeat).try_for_each(|_| runs.lean().map(drop)),
        Some(other) => Err(format!("--only engine, hand or lean, not {other}").into()),
    }
}

/// The graph and what runs on it.
struct Runs {
    graph: Graph,
    executor: CpuExecutor,
    pool: ThreadPool,
}

impl Runs {
    fn new(graph: Graph) -> Result<Runs> {
        let pool = ThreadPoolBuilder::new().num_threads(1).build()?;
        Ok(Runs { graph, executor: CpuExecutor::new(Some(1))?, pool })
    }

    fn engine(&self) -> Result<Vec<u32>> {
        let schedule = Schedule::asynchronous();
        let settings = Settings { schedule, keep_disconnected: true, ..Settings::default() };
        Ok(self.executor.run(&self.graph, &Lpa::default(), &settings, &mut ())?.labels)
    }

    fn hand(&self) -> Result<Vec<u32>> {
        Ok(self.pool.install(|| by_hand::propagate::<true>(&self.graph)))
    }

    fn lean(&self) -> Result<Vec<u32>> {
        Ok(self.pool.install(|| by_hand::propagate::<false>(&self.graph)))
    }

    fn compare(&self, turns: usize) -> Result<()> {
        println!("{} vertices, {} arcs, one thread", self.graph.vertices(), self.graph.arcs());
        println!("engine s  hand s    lean s    engine/hand  engine/lean");
        let expected = self.engine()?;
        let (mut to_hand, mut to_lean) = (Vec::new(), Vec::new());
        for turn in 0..turns {
            let mut seconds = [0.0; 3];
            // The order rotates, so that each runs after each other one equally often.
            for which in (0..3).map(|step| (turn + step) % 3) {
                let (labels, spent) = timed(|| match which {
                    0 => self.engine(),
                    1 => self.hand(),
                    _ => self.lean(),
                })?;
                assert!(labels == expected, "this is another loop: its labels differ");
                seconds[which] = spent;
            }
            let [engine, hand, lean] = seconds;
            to_hand.push(engine / hand);
            to_lean.push(engine / lean);
            let ratios = format!("{:.4}       {:.4}", engine / hand, engine / lean);
            println!("{engine:.5}   {hand:.5}   {lean:.5}   {ratios}");
        }
        println!("median: engine/hand {}, engine/lean {}", spread(to_hand), spread(to_lean));
        Ok(())
    }
}

/// Returns the median with the smallest and the largest.
fn spread(mut ratios: Vec<f64>) -> String {
    ratios.sort_by(f64::total_cmp);
    match &*ratios {
        [] => "none".into(),
        [least, .., most] => format!("{:.4} [{least:.4} … {most:.4}]", ratios[ratios.len() / 2]),
        [only] => format!("{only:.4}"),
    }
}

/// Returns the result of `run` and its CPU seconds.
fn timed<T>(run: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let before = cpu_seconds()?;
    let given = run()?;
    Ok((given, cpu_seconds()? - before))
}

/// Seconds that this process's threads ran. The kernel writes them down when a thread stops to
/// run, so they are exact for those that wait: all but this one, which does not work.
fn cpu_seconds() -> Result<f64> {
    let mut nanoseconds = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let times = std::fs::read_to_string(task?.path().join("schedstat"))?;
        nanoseconds += times.split_whitespace().next().unwrap_or("0").parse::<u64>()?;
    }
    Ok(nanoseconds as f64 / 1e9)
}

/// Label propagation with the guard, `async` on one thread, at seed 0: [`ripplet_lp::cpu`] and
/// [`Lpa`] without hooks. Functions are `GENERAL` or for one shard, undirected, unweighted, labelled.
mod by_hand {
    use ripplet_graph::{Graph, Neighbors};
    use std::ops::Range;
    use std::sync::atomic::Ordering::Relaxed;
    use std::sync::atomic::{AtomicU32, AtomicU64};

    const MAX_ROUNDS: u32 = 30;
    /// Words of the active set that are worked on at a time.
    const WORDS: usize = 8;
    /// Vertices that each step of fetching is ahead of the next.
    const AHEAD: usize = 8;
    const LABELS_AHEAD: usize = 64;
    /// Neighbours in a cache line.
    const LINE: usize = 16;

    const NO_LABEL: u32 = u32::MAX;

    /// The lists of the vertices from `first` to `end`.
    struct Part<'a> {
        first: u32,
        end: u32,
        out: Neighbors<'a>,
        incoming: Option<Neighbors<'a>>,
    }

    /// The state of a run; all arrays but `parts` and `active` have one value per vertex or label.
    struct State<'a, const GENERAL: bool> {
        parts: Vec<Part<'a>>,
        labels: Vec<AtomicU32>,
        active: Vec<AtomicU64>,
        /// The summed degrees of each label's members, and of all vertices.
        totals: Vec<AtomicU32>,
        grand_total: u64,
        /// No total exceeds this.
        most: AtomicU32,
    }

    /// The votes of one vertex, and a hash table of their sums: slots of another number are free.
    struct Votes {
        /// Labels with weights.
        ballots: Vec<(u32, u32)>,
        count: usize,
        sums: Vec<u64>,
        /// Number and label, sum.
        slots: Vec<(u64, u64)>,
        number: u32,
    }

    /// Sum of the votes, and the largest sum of a label.
    struct Count {
        total_votes: u64,
        top: u64,
    }

    const NOTHING: Count = Count { total_votes: 0, top: 0 };

    /// Returns the label of each vertex in the end.
    pub fn propagate<const GENERAL: bool>(graph: &Graph) -> Vec<u32> {
        let state = begin::<GENERAL>(graph);
        let mut votes = room_for(graph.max_degree() as usize);
        let mut taken = Vec::new();
        for round in 0..MAX_ROUNDS {
            let key = mix(mix(mix(0)) ^ mix(round ^ mix(2)));
            let mut changed = 0;
            for first in (0..state.active.len()).step_by(WORDS) {
                take(&state.active, first..(first + WORDS).min(state.active.len()), &mut taken);
                changed += update(&state, &taken, key, &mut votes);
            }
            if changed <= u64::from(graph.vertices()) / 1000 {
                break;
            }
        }
        state.labels.into_iter().map(AtomicU32::into_inner).collect()
    }

    fn begin<const GENERAL: bool>(graph: &Graph) -> State<'_, GENERAL> {
        let vertices = graph.vertices();
        let parts = graph.shards().iter().map(|shard| {
            let (vertices, out, incoming) = (shard.vertices(), shard.out(), shard.incoming());
            Part { first: vertices.start, end: vertices.end, out, incoming }
        });
        let active = (0..vertices.div_ceil(64)).map(|word| match vertices - 64 * word {
            rest if rest < 64 => AtomicU64::new((1 << rest) - 1),
            _ => AtomicU64::new(u64::MAX),
        });
        let mut state = State {
            parts: parts.collect(),
            labels: (0..vertices).map(AtomicU32::new).collect(),
            active: active.collect(),
            totals: Vec::new(),
            grand_total: 0,
            most: AtomicU32::new(0),
        };
        state.totals = (0..vertices).map(|v| AtomicU32::new(strength(&state, v))).collect();
        let totals = || state.totals.iter().map(|total| total.load(Relaxed));
        state.grand_total = totals().map(u64::from).sum();
        state.most.store(totals().max().unwrap_or(0), Relaxed);
        state
    }

    fn room_for(degree: usize) -> Votes {
        let room = degree.next_power_of_two().max(64);
        Votes {
            ballots: vec![(0, 0); room],
            count: 0,
            sums: vec![0; room],
            slots: vec![(0, 0); slots_for(room)],
            number: 0,
        }
    }

    /// Moves the active vertices of some words into `taken`.
    fn take(active: &[AtomicU64], words: Range<usize>, taken: &mut Vec<u32>) {
        taken.clear();
        for word in words {
            if active[word].load(Relaxed) != 0 {
                let mut bits = active[word].swap(0, Relaxed);
                while bits != 0 {
                    taken.push(word as u32 * 64 + bits.trailing_zeros());
                    bits &= bits - 1;
                }
            }
        }
    }

    /// Updates vertices, one after the other, and says how many changed.
    fn update<const GENERAL: bool>(
        state: &State<'_, GENERAL>,
        vertices: &[u32],
        key: u32,
        votes: &mut Votes,
    ) -> u64 {
        vertices.iter().take(3 * AHEAD).for_each(|&v| fetch_offsets(state, v));
        vertices.iter().take(2 * AHEAD).for_each(|&v| fetch_neighbors(state, v));
        vertices.iter().take(AHEAD).for_each(|&v| fetch_labels(state, v));
        let mut changed = 0;
        for (index, &v) in vertices.iter().enumerate() {
            vertices.get(index + 3 * AHEAD).inspect(|v| fetch_offsets(state, **v));
            vertices.get(index + 2 * AHEAD).inspect(|v| fetch_neighbors(state, **v));
            vertices.get(index + AHEAD).inspect(|v| fetch_labels(state, **v));
            let label = choose(state, v, key, votes);
            if label != state.labels[v as usize].load(Relaxed) {
                changed += 1;
                commit(state, v, label);
                wake(state, v, label);
            }
        }
        changed
    }

    /// Returns the label that `v` has from now on.
    fn choose<const GENERAL: bool>(
        state: &State<'_, GENERAL>,
        v: u32,
        key: u32,
        votes: &mut Votes,
    ) -> u32 {
        let own = state.labels[v as usize].load(Relaxed);
        collect(state, v, votes);
        let Count { total_votes, top } = count_one::<GENERAL>(votes, own);
        if top > total_votes - top {
            return own;
        }
        let Count { total_votes, top } = count(votes);
        if top == 0 {
            return own;
        }
        let key = mix(v ^ key);
        let leaders = votes.ballots[..votes.count].iter().zip(&votes.sums);
        let leaders = leaders.filter(|(_, sum)| **sum == top).map(|(ballot, _)| ballot.0);
        let leader = leaders.min_by_key(|&label| mix(label ^ key)).unwrap_or(own);
        let at_most = state.most.load(Relaxed);
        if leader == own
            || exceeds_chance(state, top, total_votes, at_most)
            || exceeds_chance(state, top, total_votes, state.totals[leader as usize].load(Relaxed))
        {
            return leader;
        }
        best_of_all(state, votes, own, total_votes, key)
    }

    /// Writes down the votes of `v`'s neighbours.
    #[inline]
    fn collect<const GENERAL: bool>(state: &State<'_, GENERAL>, v: u32, votes: &mut Votes) {
        votes.count = 0;
        each(state, v, |neighbors, weights| {
            let ballots = &mut votes.ballots[votes.count..votes.count + neighbors.len()];
            let label = |u: u32| state.labels[u as usize].load(Relaxed);
            match weights {
                None => ballots.iter_mut().zip(neighbors).for_each(|(b, &u)| *b = (label(u), 1)),
                Some(weights) => {
                    let arcs = neighbors.iter().zip(weights);
                    ballots.iter_mut().zip(arcs).for_each(|(b, (&u, &w))| *b = (label(u), w));
                }
            }
            votes.count += neighbors.len();
        });
    }

    /// Returns the votes for one label as if it were the top; most vertices keep theirs by that.
    #[inline]
    fn count_one<const GENERAL: bool>(votes: &mut Votes, label: u32) -> Count {
        let mut silent = false;
        let count = votes.ballots[..votes.count].iter().fold(NOTHING, |count, ballot| {
            let weight = u64::from(ballot.1);
            let own = if ballot.0 == label { weight } else { 0 };
            silent |= GENERAL && ballot.0 == NO_LABEL;
            Count { total_votes: count.total_votes + weight, top: count.top + own }
        });
        if !silent {
            return count;
        }
        let silent = votes.ballots[..votes.count].iter_mut().filter(|ballot| ballot.0 == NO_LABEL);
        silent.for_each(|ballot| ballot.1 = 0);
        votes.ballots[..votes.count].iter().fold(NOTHING, |count, ballot| {
            let own = if ballot.0 == label { ballot.1 } else { 0 };
            Count {
                total_votes: count.total_votes + u64::from(ballot.1),
                top: count.top + u64::from(own),
            }
        })
    }

    /// Returns the votes for each label.
    #[inline]
    fn count(votes: &mut Votes) -> Count {
        votes.number += 1;
        let used = slots_for(votes.count).min(votes.slots.len());
        let slots = &mut votes.slots[..used];
        let mut count = NOTHING;
        for (&(label, weight), running) in votes.ballots[..votes.count].iter().zip(&mut votes.sums)
        {
            let (slot, tag) = (find(slots, votes.number, label), tag(votes.number, label));
            let sum = if slot.0 == tag { slot.1 } else { 0 } + u64::from(weight);
            *slot = (tag, sum);
            *running = sum;
            count.total_votes += u64::from(weight);
            count.top = count.top.max(sum);
        }
        count
    }

    /// Returns the slot of a label, or a free one.
    #[inline]
    fn find(slots: &mut [(u64, u64)], number: u32, label: u32) -> &mut (u64, u64) {
        let mask = slots.len() - 1;
        let spread = label.wrapping_mul(0x9e37_79b9);
        let mut at = ((u64::from(spread) * slots.len() as u64) >> 32) as usize;
        loop {
            let held = slots[at & mask].0;
            if (held == tag(number, label)) | (held >> 32 != u64::from(number)) {
                return &mut slots[at & mask];
            }
            at += 1;
        }
    }

    /// Returns the best label where the leader may not be taken.
    #[cold]
    fn best_of_all<const GENERAL: bool>(
        state: &State<'_, GENERAL>,
        votes: &mut Votes,
        own: u32,
        total_votes: u64,
        key: u32,
    ) -> u32 {
        let used = slots_for(votes.count).min(votes.slots.len());
        let (mut best, mut best_sum, mut best_rank) = (own, 0, u32::MAX);
        for &(label, _) in &votes.ballots[..votes.count] {
            let sum = find(&mut votes.slots[..used], votes.number, label).1;
            let rank = mix(label ^ key);
            if (sum, !rank) <= (best_sum, !best_rank) {
                continue;
            }
            let total = || state.totals[label as usize].load(Relaxed);
            if label == own || exceeds_chance(state, sum, total_votes, total()) {
                (best, best_sum, best_rank) = (label, sum, rank);
            }
        }
        best
    }

    /// Returns the guard, at resolution 1.
    #[inline]
    fn exceeds_chance<const GENERAL: bool>(
        state: &State<'_, GENERAL>,
        frequency: u64,
        total_votes: u64,
        total: u32,
    ) -> bool {
        let expected = u64::from(total) << 16;
        u128::from(frequency) * u128::from(state.grand_total << 16)
            >= u128::from(total_votes) * u128::from(expected)
    }

    /// Moves `v`, with its degree, to a label.
    #[inline]
    fn commit<const GENERAL: bool>(state: &State<'_, GENERAL>, v: u32, next: u32) {
        let before = state.labels[v as usize].load(Relaxed);
        state.labels[v as usize].store(next, Relaxed);
        let degree = strength(state, v);
        state.totals[before as usize].fetch_sub(degree, Relaxed);
        let total = state.totals[next as usize].fetch_add(degree, Relaxed).wrapping_add(degree);
        if total > state.most.load(Relaxed) {
            state.most.fetch_max(total, Relaxed);
        }
    }

    /// Activates the neighbours of `v` that have another label.
    #[inline]
    fn wake<const GENERAL: bool>(state: &State<'_, GENERAL>, v: u32, label: u32) {
        each(state, v, |neighbors, _| {
            for &u in neighbors {
                let word = &state.active[u as usize / 64];
                let is_active = word.load(Relaxed) >> (u % 64) & 1 == 1;
                if !is_active && state.labels[u as usize].load(Relaxed) != label {
                    word.fetch_or(1 << (u % 64), Relaxed);
                }
            }
        });
    }

    /// Where the lists of `v` are.
    #[inline]
    fn place<'s, 'a, const GENERAL: bool>(
        state: &'s State<'a, GENERAL>,
        v: u32,
    ) -> (&'s Part<'a>, usize) {
        match &*state.parts {
            [part] => (part, (v - part.first) as usize),
            parts if GENERAL => {
                let part = &parts[parts.partition_point(|part| part.end <= v)];
                (part, (v - part.first) as usize)
            }
            _ => panic!("one shard is wanted here"),
        }
    }

    /// Calls `visit` with each list of `v` and its weights.
    #[inline]
    fn each<'a, const GENERAL: bool>(
        state: &State<'a, GENERAL>,
        v: u32,
        mut visit: impl FnMut(&'a [u32], Option<&'a [u32]>),
    ) {
        let (part, local) = place(state, v);
        let weights = |lists: &Neighbors<'a>| lists.weights_of(local).filter(|_| GENERAL);
        visit(part.out.of(local), weights(&part.out));
        if let Some(incoming) = part.incoming.as_ref().filter(|_| GENERAL) {
            visit(incoming.of(local), weights(incoming));
        }
    }

    /// Returns the summed weights of the arcs of `v`.
    #[inline]
    fn strength<const GENERAL: bool>(state: &State<'_, GENERAL>, v: u32) -> u32 {
        let (part, local) = place(state, v);
        if GENERAL && part.out.weights().is_some() {
            return weighted_strength(part, local);
        }
        let incoming = part.incoming.as_ref().filter(|_| GENERAL);
        part.out.degree(local) + incoming.map_or(0, |lists| lists.degree(local))
    }

    #[inline(never)]
    fn weighted_strength(part: &Part<'_>, local: usize) -> u32 {
        let lists = [Some(part.out), part.incoming].into_iter().flatten();
        lists.filter_map(|lists| lists.weights_of(local)).flatten().sum()
    }

    #[inline]
    fn fetch_offsets<const GENERAL: bool>(state: &State<'_, GENERAL>, v: u32) {
        let (part, local) = place(state, v);
        fetch(part.out.offsets(), local);
        if let Some(incoming) = part.incoming.as_ref().filter(|_| GENERAL) {
            fetch(incoming.offsets(), local);
        }
    }

    #[inline]
    fn fetch_neighbors<const GENERAL: bool>(state: &State<'_, GENERAL>, v: u32) {
        each(state, v, |neighbors, weights| {
            for at in (0..neighbors.len().min(LABELS_AHEAD)).step_by(LINE) {
                fetch(neighbors, at);
                weights.inspect(|weights| fetch(weights, at));
            }
        });
    }

    #[inline]
    fn fetch_labels<const GENERAL: bool>(state: &State<'_, GENERAL>, v: u32) {
        each(state, v, |neighbors, _| {
            let neighbors = neighbors.iter().take(LABELS_AHEAD);
            neighbors.for_each(|&u| fetch(&state.labels, u as usize));
        });
        fetch(&state.labels, v as usize);
    }

    /// Asks for a value's cache line.
    #[inline]
    fn fetch<T>(values: &[T], index: usize) {
        #[cfg(target_arch = "x86_64")]
        if let Some(value) = values.get(index) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch reads nothing and never faults; the pointer is a live reference's.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (values, index);
    }

    #[inline]
    fn tag(number: u32, label: u32) -> u64 {
        u64::from(number) << 32 | u64::from(label)
    }

    #[inline]
    fn slots_for(votes: usize) -> usize {
        (3 * votes).next_power_of_two()
    }

    /// `lowbias32` by C. Wellons (2018).
    #[inline]
    const fn mix(mut x: u32) -> u32 {
        x ^= x >> 16;
        x = x.wrapping_mul(0x7feb_352d);
        x ^= x >> 15;
        x = x.wrapping_mul(0x846c_a68b);
        x ^ (x >> 16)
    }
}
