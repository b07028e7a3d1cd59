//! Times the local clustering coefficient beside two plain methods of counting triangles, alternating.
//!
//! ```text
//! cargo run --release -p ripplet-bench --bin lcc -- [--scale S] [--turns N] [--threads N] [--directed] [--only NAME] [FILE…]
//! ```
//!
//! Generated graphs of 2^S vertices come first (`rmat`, `social`, `web`, `road`, `planted 0.3`), then the
//! files, which are any edge lists that ripplet reads. Columns, medians in milliseconds over the turns:
//!
//! - `rank`, `count`, `ripplet`: ripplet's two stages (from a graph to each edge once by rank; from there
//!   to the coefficients), and the whole run;
//! - `merge`: every pair of lists in step; `mark`: an array of all vertices in which one list is marked,
//!   and every other walked over. Both begin with the same lists, ready, and count triangles alone, in an
//!   array of all vertices a thread: compare them with `count`;
//! - `× merge`, `× mark`: how many times as long as `count` they take.
//!
//! `--directed` runs ripplet on the same edges as arcs; the two others still count plain triangles.

use rayon::prelude::*;
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_bench::{Case, Result};
use ripplet_generate::{Planted, Rmat, Road, Social, Web};
use ripplet_graph::Observer;
use ripplet_graph::{Direction, EdgeTable, Graph, GraphBuilder, VertexIds};
use std::time::Instant;

/// Ranks that a thread takes at a time in the plain methods.
const RANKS: usize = 64;

fn main() -> Result<()> {
    let (mut scale, mut turns, mut threads, mut directed) = (16, 5, 0, false);
    let (mut only, mut files) = (None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--scale" => scale = arguments.next().ok_or("--scale wants a number")?.parse()?,
            "--turns" => turns = arguments.next().ok_or("--turns wants a number")?.parse()?,
            "--threads" => threads = arguments.next().ok_or("--threads wants a number")?.parse()?,
            "--directed" => directed = true,
            "--only" => only = arguments.next(),
            file => files.push(file.to_owned()),
        }
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    println!("{} threads, {turns} turns, directed: {directed}", rayon::current_num_threads());
    println!(
        "{:14} {:>10} {:>12} | {:>8} {:>8} {:>8} | {:>8} {:>8} | {:>7} {:>7}",
        "ms",
        "edges",
        "triangles",
        "rank",
        "count",
        "ripplet",
        "merge",
        "mark",
        "× merge",
        "× mark"
    );
    let generate = |name: &str| -> Result<EdgeTable> {
        Ok(match name {
            "rmat" => Rmat::new(scale).generate()?,
            "social" => Social::new(scale).generate()?,
            "web" => Web::new(scale).generate()?,
            "road" => Road::new(scale).generate()?,
            _ => Planted::new(1 << scale, 10 << scale, 0.3).generate()?.edges,
        })
    };
    let names = ["rmat", "social", "web", "road", "planted 0.3"];
    for name in
        names.into_iter().filter(|&name| scale > 0 && only.as_deref().unwrap_or(name) == name)
    {
        report(name, generate(name)?, directed, turns)?;
    }
    for file in &files {
        let case = Case::read(file)?;
        report(&case.name, edges_of(&case.graph)?, directed, turns)?;
    }
    Ok(())
}

/// Returns the rows of an undirected graph, each edge once.
fn edges_of(graph: &Graph) -> Result<EdgeTable> {
    let (mut sources, mut targets) = (Vec::new(), Vec::new());
    for shard in graph.shards() {
        for (local, v) in shard.vertices().enumerate() {
            for &u in shard.out().of(local).iter().filter(|&&u| u < v) {
                sources.push(v);
                targets.push(u);
            }
        }
    }
    let ids = VertexIds::Consecutive { first: 0, count: graph.vertices() };
    Ok(EdgeTable::new(ids, sources, targets)?)
}

fn report(name: &str, edges: EdgeTable, directed: bool, turns: usize) -> Result<()> {
    let plain = GraphBuilder::new().build(edges.clone())?;
    let graph = match directed {
        true => GraphBuilder::new().direction(Direction::Directed).build(edges)?,
        false => plain.clone(),
    };
    let lists = Lists::of(&plain);
    let [mut ranking, mut counting, mut all, mut merging, mut marking] = [const { Vec::new() }; 5];
    let mut triangles = 0;
    for _ in 0..turns {
        let mut watch = Watch::default();
        let start = Instant::now();
        let found = Lcc::new(Definition::Ldbc).run(&graph, &mut watch)?;
        let end = Instant::now();
        let counted = watch.counting.ok_or("no stage is called `counting triangles`")?;
        ranking.push((counted - start).as_secs_f64());
        counting.push((end - counted).as_secs_f64());
        all.push((end - start).as_secs_f64());
        triangles = found.triangle_count;

        for (seconds, meet) in [(&mut merging, merge as Meet), (&mut marking, mark as Meet)] {
            let start = Instant::now();
            let counts = lists.count(meet);
            seconds.push(start.elapsed().as_secs_f64());
            assert_eq!(counts.iter().sum::<u64>(), 3 * triangles, "{name}");
        }
    }
    let [rank, count, all, merge, mark] = [ranking, counting, all, merging, marking].map(median);
    println!(
        "{name:14} {:10} {triangles:12} | {:8.1} {:8.1} {:8.1} | {:8.1} {:8.1} | {:7.2} {:7.2}",
        plain.edges(),
        rank,
        count,
        all,
        merge,
        mark,
        merge / count,
        mark / count
    );
    Ok(())
}

/// Returns the median, in milliseconds.
fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    1e3 * seconds[seconds.len() / 2]
}

/// When counting began.
#[derive(Default)]
struct Watch {
    counting: Option<Instant>,
}

impl Observer for Watch {
    fn on_stage(&mut self, name: &'static str) {
        if name == "counting triangles" {
            self.counting = Some(Instant::now());
        }
    }
}

/// Each edge at its end of lower degree, by rank: written apart from ripplet's.
struct Lists {
    begins: Vec<usize>,
    ranks: Vec<u32>,
}

/// Counts the triangles of list `a` of one rank, whose marks may be used and are left clear.
type Meet = fn(&Lists, usize, &mut Scratch);

struct Scratch {
    marks: Vec<bool>,
    counts: Vec<u64>,
}

impl Lists {
    fn of(graph: &Graph) -> Lists {
        let vertices = graph.vertices();
        let mut order: Vec<u32> = (0..vertices).collect();
        order.sort_by_key(|&v| std::cmp::Reverse(graph.degree(v)));
        let mut rank_of = vec![0u32; vertices as usize];
        order.iter().enumerate().for_each(|(rank, &v)| rank_of[v as usize] = rank as u32);
        let (mut begins, mut ranks) = (vec![0], Vec::new());
        for (rank, &v) in order.iter().enumerate() {
            let shard = graph.shard_of(v);
            let list = shard.out().of((v - shard.vertices().start) as usize);
            let start = ranks.len();
            ranks
                .extend(list.iter().map(|&u| rank_of[u as usize]).filter(|&u| (u as usize) < rank));
            ranks[start..].sort_unstable();
            begins.push(ranks.len());
        }
        Lists { begins, ranks }
    }

    fn list(&self, rank: usize) -> &[u32] {
        &self.ranks[self.begins[rank]..self.begins[rank + 1]]
    }

    fn count(&self, meet: Meet) -> Vec<u64> {
        let vertices = self.begins.len() - 1;
        let scratch = || {
            let (marks, counts) = (vec![false; vertices], vec![0; vertices]);
            std::sync::Mutex::new(Scratch { marks, counts })
        };
        let scratches: Vec<_> = (0..rayon::current_num_threads()).map(|_| scratch()).collect();
        (0..vertices.div_ceil(RANKS)).into_par_iter().with_max_len(1).for_each(|task| {
            let thread = rayon::current_thread_index().unwrap_or(0);
            let mut scratch = scratches[thread].lock().expect("no task panics");
            for rank in task * RANKS..vertices.min((task + 1) * RANKS) {
                meet(self, rank, &mut scratch);
            }
        });
        let mut counts = vec![0; vertices];
        for scratch in scratches {
            let scratch = scratch.into_inner().expect("no task panics");
            counts.iter_mut().zip(scratch.counts).for_each(|(sum, count)| *sum += count);
        }
        counts
    }
}

fn merge(lists: &Lists, rank: usize, scratch: &mut Scratch) {
    let a = lists.list(rank);
    for (place, &u) in a.iter().enumerate() {
        let (b, mut at_a, mut at_b, mut found) = (lists.list(u as usize), 0, 0, 0);
        while at_a < place && at_b < b.len() {
            let (x, y) = (a[at_a], b[at_b]);
            if x == y {
                scratch.counts[x as usize] += 1;
                found += 1;
            }
            at_a += usize::from(x <= y);
            at_b += usize::from(y <= x);
        }
        scratch.counts[u as usize] += found;
        scratch.counts[rank] += found;
    }
}

fn mark(lists: &Lists, rank: usize, scratch: &mut Scratch) {
    let a = lists.list(rank);
    a.iter().for_each(|&u| scratch.marks[u as usize] = true);
    for &u in a {
        let mut found = 0;
        for &w in lists.list(u as usize) {
            if scratch.marks[w as usize] {
                scratch.counts[w as usize] += 1;
                found += 1;
            }
        }
        scratch.counts[u as usize] += found;
        scratch.counts[rank] += found;
    }
    a.iter().for_each(|&u| scratch.marks[u as usize] = false);
}
