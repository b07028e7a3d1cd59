//! Compares codes of neighbour lists: bits per arc, and the decoding speed of one thread.
//!
//! ```text
//! cargo run --release -p ripplet-bench --bin codes -- [--scale S] [--turns N] [FILE…] > codes.jsonl
//! ```
//!
//! `threshold` is the degree below which a list is plain, `least_interval` the shortest interval or run, 0 for none.
//! Sizes are of the lists alone, with the degrees if the code stores them in the list. Only `compressed`,
//! the form of `ripplet_graph`, includes everything that is needed to find a list. The graphs are simple.
//!
//! Generated graphs of 2^S vertices come first, then the files, which are any edge lists that ripplet reads.
//! The benchmark generates `crawl` itself: sites whose pages all link to the site's first pages, as menus do.

mod bits;
mod bv;
mod groups;
mod intervals;
mod planes;
mod published;

use bits::Code;
use groups::{Groups, best_widths, classed};
use intervals::Parts;
use planes::Planes;
use published::Published;
use ripplet_bench::{Case, Result, generated};
use ripplet_graph::compressed::CompressedAdjacency;
use ripplet_graph::{EdgeTable, GraphBuilder, Neighbors, VertexIds};
use serde_json::json;
use std::hint::black_box;
use std::time::Instant;

const THRESHOLDS: [usize; 6] = [0, 2, 4, 8, 16, 32];
const LEAST: [usize; 5] = [0, 2, 3, 4, 8];

fn main() -> Result<()> {
    let (mut scale, mut turns, mut files) = (18, 5, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--scale" => scale = arguments.next().ok_or("--scale wants a number")?.parse()?,
            "--turns" => turns = arguments.next().ok_or("--turns wants a number")?.parse()?,
            file => files.push(file.to_owned()),
        }
    }
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let mut cases = Vec::new();
    if scale > 0 {
        generated(scale, &mut cases)?;
        cases.push(Case { name: "crawl".into(), graph: crawl(scale)?, truth: None });
    }
    for file in &files {
        cases.push(Case::read(file)?);
    }
    for case in cases {
        let report = Report { name: &case.name, lists: case.graph.shards()[0].out() };
        report.sizes();
        report.speeds(turns);
    }
    Ok(())
}

/// Sites of 64 to 127 pages: each page links to the site's first 12, 6 pages near it, and 2 anywhere.
fn crawl(scale: u32) -> Result<ripplet_graph::Graph> {
    let (vertices, mut state) = (1u32 << scale, 1u64);
    let mut below = |bound: u32| {
        // SplitMix64 (Steele, Lea and Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % u64::from(bound)) as u32
    };
    let (mut sources, mut targets, mut first) = (Vec::new(), Vec::new(), 0);
    while first < vertices {
        let end = (first + 64 + below(64)).min(vertices);
        for v in first..end {
            let menu = first..end.min(first + 12);
            let near: Vec<u32> = (0..6).map(|_| first + below(end - first)).collect();
            let far = [below(vertices), below(vertices)];
            let links = menu.chain(near).chain(far).filter(|&u| u != v);
            let before = targets.len();
            targets.extend(links);
            sources.resize(sources.len() + targets.len() - before, v);
        }
        first = end;
    }
    let ids = VertexIds::Consecutive { first: 0, count: vertices };
    Ok(GraphBuilder::new().build(EdgeTable::new(ids, sources, targets)?)?)
}

struct Report<'a> {
    name: &'a str,
    lists: Neighbors<'a>,
}

impl Report<'_> {
    fn arcs(&self) -> f64 {
        self.lists.neighbors().len() as f64
    }

    fn size(&self, code: &str, threshold: usize, least: usize, bits: u64, more: serde_json::Value) {
        let mut line = json!({
            "kind": "size", "graph": self.name, "code": code, "threshold": threshold,
            "least_interval": least, "vertices": self.lists.offsets().len() - 1,
            "arcs": self.lists.neighbors().len(),
            "bits_an_arc": bits as f64 / self.arcs(), "ratio": 32.0 * self.arcs() / bits as f64,
        });
        if let (Some(line), serde_json::Value::Object(more)) = (line.as_object_mut(), more) {
            line.extend(more);
        }
        println!("{line}");
    }

    fn sizes(&self) {
        for window in [0, 7] {
            let bits = bv::bits(self.lists, window);
            let offsets = bv::offset_bits(self.lists, bits) / self.arcs();
            let more = json!({ "window": window, "offset_bits_an_arc": offsets });
            self.size("bv", 0, 4, bits, more);
        }
        let compressed = self.compressed();
        let bits = 8 * compressed.bytes();
        let more = json!({ "form": format!("{:?}", compressed.code()) });
        self.size("compressed", 0, 3, bits, more);
        for (least, threshold) in variants() {
            for k in 1..=4 {
                let code = Published { code: Code(k), least_interval: least, threshold };
                let bits = code.encode(self.lists).bits;
                self.size(&format!("cgr zeta{k}"), threshold, least, bits, json!({}));
            }
            self.groups(least, threshold);
            for planes in [1, 2, 3] {
                let size = Planes { planes, least_run: least, threshold }.size(self.lists);
                let more = json!({ "widths": size.widths, "tokens": size.tokens });
                self.size(&format!("planes {planes}"), threshold, least, size.bits, more);
            }
        }
    }

    fn compressed(&self) -> CompressedAdjacency {
        CompressedAdjacency::of(self.lists, 0).expect("there is memory")
    }

    /// Groups of bytes, of nibbles, and of the four best widths for the graph.
    fn groups(&self, least: usize, threshold: usize) {
        let (mut lengths, mut bits) = ([0u64; 33], 0);
        let (mut parts, mut values) = (Parts::default(), Vec::new());
        for v in 0..self.lists.offsets().len() - 1 {
            let list = self.lists.of(v);
            if list.len() < threshold {
                bits += 8 + 32 * list.len() as u64;
                continue;
            }
            parts.cut(list, least);
            groups::values(v as u32, list.len(), &parts, least, &mut values);
            values.iter().for_each(|value| lengths[32 - value.leading_zeros() as usize] += 1);
        }
        bits += 2 * lengths.iter().sum::<u64>();
        let bytes = bits + classed(&lengths, &[8, 16, 24, 32]);
        let nibbles = bits + classed(&lengths, &[4, 8, 16, 32]);
        let (best, widths) = best_widths(&lengths, 4);
        self.size("byte groups", threshold, least, bytes, json!({}));
        self.size("nibble groups", threshold, least, nibbles, json!({}));
        self.size("best groups", threshold, least, bits + best, json!({ "widths": widths }));
    }

    fn speeds(&self, turns: usize) {
        let expected: u64 = self.lists.neighbors().iter().map(|&u| u64::from(u)).sum();
        let speed = |code: &str, threshold: usize, sum: &dyn Fn() -> u64| {
            let mut seconds: Vec<f64> = (0..turns)
                .map(|_| {
                    let start = Instant::now();
                    assert_eq!(sum(), expected, "{} {code}", self.name);
                    start.elapsed().as_secs_f64()
                })
                .collect();
            seconds.sort_by(f64::total_cmp);
            let rate = |seconds: f64| self.arcs() / seconds;
            println!(
                "{}",
                json!({
                    "kind": "decode", "graph": self.name, "code": code, "threshold": threshold, "turns": turns,
                    "arcs_a_second": rate(seconds[turns / 2]),
                    "least": rate(seconds[turns - 1]), "most": rate(seconds[0]),
                })
            );
        };
        let vertices = self.lists.offsets().len() - 1;
        speed("plain", 0, &|| {
            (0..vertices).map(|v| self.lists.of(v).iter().map(|&u| u64::from(u)).sum::<u64>()).sum()
        });
        let compressed = self.compressed();
        speed("compressed", 0, &|| {
            let lists = compressed.view();
            (0..vertices).map(|v| lists.of(v).map(u64::from).sum::<u64>()).sum()
        });
        speed("encode compressed", 0, &|| {
            black_box(self.compressed());
            expected
        });
        for threshold in [0, 32] {
            for k in [1, 3] {
                let code = Published { code: Code(k), least_interval: 4, threshold };
                let stream = code.encode(self.lists);
                speed(&format!("cgr zeta{k}"), threshold, &|| code.sum(&stream));
            }
            let groups = Groups { least_interval: 4, threshold };
            let stream = groups.encode(self.lists);
            speed("byte groups", threshold, &|| groups.sum(&stream));
        }
    }
}

fn variants() -> impl Iterator<Item = (usize, usize)> {
    let least = LEAST.into_iter().map(|least| (least, 0));
    least.chain(THRESHOLDS[1..].iter().map(|&threshold| (4, threshold)))
}
