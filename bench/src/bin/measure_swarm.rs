//! Measures many small graphs on a GPU: `measure_swarm 1000000 [--question
//! closeness|harmonic|summaries|reach|betweenness|edges|distances] [--vertices 1024] [--directed] [--weights]
//! [--part 20000000] [--repeat 3] [--split 4] [--check] [--profile]`.
//!
//! The graphs are those of SwarmGraph's benchmark II (`generate::Swarm`). With `--vertices N` they are rings of
//! N vertices with random chords; `--weights` adds weights from 1 to 16, which are lengths. With `--input BATCH`
//! they are those of a folder, a TU data set or a `.swarm`, undirected. A part has about `--part` edges.
//!
//! Prints a line of JSON for each measure: the seconds of each stage, over all parts. `--check` compares all
//! values with the CPU's, `--profile` prints a line for each size of team, and `--split` is `Tuning::split_over`.
//! `--repeat N` runs each part N times and takes the fastest. `--question` runs one measure alone, for `ncu`.

use ripplet::analytics::Lengths;
use ripplet::analytics::PathAnalysis;
use ripplet::analytics::apsp::{distances_of_batch, reach_of_batch, summary_of_batch};
use ripplet::analytics::betweenness::betweenness_of_batch;
use ripplet::analytics::closeness::{Closeness, closeness_of_batch};
use ripplet::analytics::edge_betweenness::edge_betweenness_of_batch;
use ripplet::cuda::DeviceExecutor;
use ripplet::cuda::swarm::{DeviceSwarm, Step, SwarmSeconds, Tuning};
use ripplet::generate::Swarm;
use ripplet::gpu::{CudaDevice, Device};
use ripplet::graph::batch::{BatchBuilder, BatchRows, BatchSlice, BatchTable, GraphBatch, Members};
use ripplet::graph::{Direction, Duplicates};
use ripplet::io::batch::{BatchOptions, BatchPart, BatchReader};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

/// Returns all measures except the distances of all pairs, whose number is quadratic: these run only if named.
fn questions(lengths: Lengths) -> [(&'static str, PathAnalysis); 7] {
    let closeness = |measure| PathAnalysis::Closeness { measure, normalized: false, lengths };
    [
        ("closeness", closeness(Closeness::Reciprocal)),
        ("harmonic", closeness(Closeness::Harmonic)),
        ("summaries", PathAnalysis::Summary { lengths }),
        ("reach", PathAnalysis::Reach { lengths }),
        ("betweenness", PathAnalysis::Betweenness { normalized: false, lengths }),
        ("edges", PathAnalysis::EdgeBetweenness { normalized: false, lengths }),
        ("distances", PathAnalysis::Distances { lengths }),
    ]
}

/// The options of the command line.
struct Options {
    graphs: u64,
    question: Option<String>,
    vertices: Option<u32>,
    directed: bool,
    weights: bool,
    input: Option<PathBuf>,
    part: u64,
    repeat: u32,
    split: u64,
    check: bool,
    profile: bool,
}

impl Options {
    fn parse() -> Result<Options, Box<dyn Error>> {
        let mut options = Options {
            graphs: 100_000,
            question: None,
            vertices: None,
            directed: false,
            weights: false,
            input: None,
            part: 20_000_000,
            repeat: 1,
            split: Tuning::default().split_over,
            check: false,
            profile: false,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--question" => options.question = Some(value()?),
                "--vertices" => options.vertices = Some(value()?.parse()?),
                "--part" => options.part = value()?.parse()?,
                "--repeat" => options.repeat = value()?.parse()?,
                "--split" => options.split = value()?.parse()?,
                "--directed" => options.directed = true,
                "--input" => options.input = Some(value()?.into()),
                "--weights" => options.weights = true,
                "--check" => options.check = true,
                "--profile" => options.profile = true,
                number => options.graphs = number.parse()?,
            }
        }
        Ok(options)
    }

    fn questions(&self) -> Vec<(&'static str, PathAnalysis)> {
        let lengths = if self.weights { Lengths::Weights } else { Lengths::Hops };
        let asked = |name: &str| match &self.question {
            Some(asked) => asked == name,
            None => name != "distances",
        };
        questions(lengths).into_iter().filter(|(name, _)| asked(name)).collect()
    }

    /// Returns the graphs, part by part.
    fn parts(&self) -> Result<Vec<Part>, Box<dyn Error>> {
        if let Some(input) = &self.input {
            let mut reader = BatchReader::open(input, &BatchOptions::default())?;
            let read = std::iter::from_fn(|| reader.next_part().transpose());
            return Ok(read.map(|part| part.map(Part::Read)).collect::<Result<_, _>>()?);
        }
        if let Some(vertices) = self.vertices {
            let each = (self.part / (6 * u64::from(vertices))).max(1);
            let firsts = (0..self.graphs).step_by(each as usize);
            let part = |first| Part::Alike {
                graphs: each.min(self.graphs - first) as u32,
                vertices,
                directed: self.directed,
                weights: self.weights,
            };
            return Ok(firsts.map(part).collect());
        }
        let swarm = Swarm::new(self.graphs);
        Ok(swarm.parts(self.part)?.map(|graphs| Part::OfSwarm(self.graphs, graphs)).collect())
    }
}

/// Where the graphs of a part come from.
enum Part {
    Read(BatchPart),
    OfSwarm(u64, std::ops::Range<u64>),
    Alike { graphs: u32, vertices: u32, directed: bool, weights: bool },
}

impl Part {
    fn generate(&self) -> Result<GraphBatch, Box<dyn Error>> {
        match self {
            Part::Read(part) => Ok(part.slice().to_batch()?),
            Part::OfSwarm(all, graphs) => Ok(Swarm::new(*all).generate_part(graphs.clone())?),
            Part::Alike { graphs, vertices, directed, weights } => {
                rings(*graphs, *vertices, *directed, *weights)
            }
        }
    }
}

/// Rings with five random chords a vertex.
fn rings(
    graphs: u32,
    vertices: u32,
    directed: bool,
    weighted: bool,
) -> Result<GraphBatch, Box<dyn Error>> {
    let mut rows = BatchRows::default();
    let mut weights = Vec::new();
    let mut state = 1_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((state >> 33) % u64::from(vertices)) as u32
    };
    for graph in 0..graphs {
        for vertex in 0..vertices {
            let chords = [0; 5].map(|_| draw());
            for target in chords.into_iter().chain([(vertex + 1) % vertices]) {
                rows.graphs.push(graph);
                rows.sources.push(vertex);
                rows.targets.push(target);
                weights.push(f64::from((vertex * 7 + target * 13) % 16 + 1));
            }
        }
    }
    rows.weights = weighted.then_some(weights);
    let members = Members::of_sizes((0..graphs).map(|_| vertices))?;
    let direction = if directed { Direction::Directed } else { Direction::Undirected };
    let builder = BatchBuilder::new().direction(direction).duplicates(Duplicates::Least);
    Ok(builder.build(BatchTable::new(members, rows)?)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse()?;
    let tuning = Tuning { split_over: options.split, ..Tuning::default() };
    let executor = DeviceExecutor::new(CudaDevice::new(0)?);
    let mut swarm = DeviceSwarm::new(executor).with_tuning(tuning);
    let name = swarm.executor().device().properties().name.clone();
    let mut all = Totals::default();
    let mut totals: BTreeMap<&str, Totals> = BTreeMap::new();
    for part in options.parts()? {
        let start = Instant::now();
        let batch = part.generate()?;
        all.make += start.elapsed().as_secs_f64();
        all.graphs += batch.len();
        all.vertices += batch.vertices();
        all.arcs += batch.arcs();
        for (name, question) in options.questions() {
            let total = totals.entry(name).or_default();
            let seconds = fastest(&mut swarm, batch.all(), question, options.repeat)?;
            total.add(seconds);
            if options.check {
                total.differ += check(&mut swarm, batch.all(), question)?;
            }
            if options.profile {
                profile(name, &swarm.profile(batch.all(), question)?);
            }
        }
    }
    for (question, total) in &totals {
        let SwarmSeconds { kernels, upload, compute, download } = total.seconds;
        println!(
            "{{\"question\":\"{question}\",\"device\":\"{name}\",\"graphs\":{},\"vertices\":{},\
             \"arcs\":{},\"parts\":{},\"generate\":{:.3},\"kernels\":{kernels:.3},\
             \"upload\":{upload:.4},\"compute\":{compute:.4},\"download\":{download:.4},\
             \"differ\":{}}}",
            all.graphs, all.vertices, all.arcs, total.parts, all.make, total.differ
        );
    }
    Ok(())
}

#[derive(Default)]
struct Totals {
    graphs: usize,
    vertices: u64,
    arcs: u64,
    parts: u32,
    make: f64,
    seconds: SwarmSeconds,
    differ: usize,
}

impl Totals {
    fn add(&mut self, more: SwarmSeconds) {
        self.parts += 1;
        self.seconds.kernels += more.kernels;
        self.seconds.upload += more.upload;
        self.seconds.compute += more.compute;
        self.seconds.download += more.download;
    }
}

fn fastest(
    swarm: &mut DeviceSwarm<CudaDevice>,
    graphs: BatchSlice<'_>,
    question: PathAnalysis,
    repeat: u32,
) -> Result<SwarmSeconds, Box<dyn Error>> {
    let mut best = ask(swarm, graphs, question)?;
    for _ in 1..repeat {
        let seconds = ask(swarm, graphs, question)?;
        if seconds.compute < best.compute {
            best = SwarmSeconds { kernels: best.kernels, ..seconds };
        }
    }
    Ok(best)
}

fn ask(
    swarm: &mut DeviceSwarm<CudaDevice>,
    graphs: BatchSlice<'_>,
    question: PathAnalysis,
) -> Result<SwarmSeconds, Box<dyn Error>> {
    Ok(match question {
        PathAnalysis::Closeness { measure, normalized, lengths } => {
            swarm.closeness(graphs, measure, normalized, lengths, &())?.1
        }
        PathAnalysis::Betweenness { normalized, lengths } => {
            swarm.betweenness(graphs, normalized, lengths, &())?.1
        }
        PathAnalysis::EdgeBetweenness { normalized, lengths } => {
            swarm.edge_betweenness(graphs, normalized, lengths, &())?.1
        }
        PathAnalysis::Distances { lengths } => swarm.distances(graphs, lengths, &())?.1,
        PathAnalysis::Summary { lengths } => swarm.summaries(graphs, lengths, &())?.1,
        PathAnalysis::Reach { lengths } => swarm.reach(graphs, lengths, &())?.1,
    })
}

/// Returns the number of values that differ from the CPU's.
fn check(
    swarm: &mut DeviceSwarm<CudaDevice>,
    graphs: BatchSlice<'_>,
    question: PathAnalysis,
) -> Result<usize, Box<dyn Error>> {
    fn differ<T: PartialEq>(found: &[T], expected: &[T]) -> usize {
        found.iter().zip(expected).filter(|(a, b)| a != b).count()
    }
    Ok(match question {
        PathAnalysis::Closeness { measure, normalized, lengths } => differ(
            &swarm.closeness(graphs, measure, normalized, lengths, &())?.0,
            &closeness_of_batch(graphs, measure, normalized, lengths, &mut ())?,
        ),
        PathAnalysis::Betweenness { normalized, lengths } => differ(
            &swarm.betweenness(graphs, normalized, lengths, &())?.0,
            &betweenness_of_batch(graphs, normalized, lengths, &mut ())?,
        ),
        PathAnalysis::EdgeBetweenness { normalized, lengths } => differ(
            &swarm.edge_betweenness(graphs, normalized, lengths, &())?.0.values,
            &edge_betweenness_of_batch(graphs, normalized, lengths, &mut ())?.values,
        ),
        PathAnalysis::Distances { lengths } => differ(
            &swarm.distances(graphs, lengths, &())?.0,
            &distances_of_batch(graphs, lengths, &mut ())?,
        ),
        PathAnalysis::Reach { lengths } => differ(
            &swarm.reach(graphs, lengths, &())?.0,
            &reach_of_batch(graphs, lengths, &mut ())?,
        ),
        PathAnalysis::Summary { lengths } => differ(
            &swarm.summaries(graphs, lengths, &())?.0,
            &summary_of_batch(graphs, lengths, &mut ())?,
        ),
    })
}

fn profile(question: &str, steps: &[Step]) {
    for Step { kernel, threads, shared, resident, items, seconds } in steps {
        println!(
            "{{\"question\":\"{question}\",\"kernel\":\"{kernel}\",\"threads\":{threads},\
             \"shared\":{shared},\"resident\":{resident},\"items\":{items},\
             \"milliseconds\":{:.3}}}",
            1e3 * seconds
        );
    }
}
