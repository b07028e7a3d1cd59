//! Measures many small graphs on a GPU: `measure_swarm 1000000 [--question
//! closeness|harmonic|summaries|reach|betweenness] [--vertices 1024] [--directed] [--part 20000000]
//! [--repeat 3] [--split 4] [--check] [--profile]`.
//!
//! The graphs are those of SwarmGraph's benchmark II (`generate::Swarm`), or with `--vertices` rings of
//! so many with random chords. They are asked part by part, of about `--part` edges each. Prints a line
//! of JSON for each question: where the seconds of all parts went. `--check` compares all values with
//! the CPU's, `--profile` prints a line for each size of team, and `--split` is `Tuning::split_over`.
//! `--repeat` asks each part so often and counts the fastest, and `--question` asks one question alone,
//! as `ncu` has it easier then.

use ripplet_analytics::Lengths;
use ripplet_analytics::apsp::reach_of_batch;
use ripplet_analytics::betweenness::betweenness_of_batch;
use ripplet_analytics::closeness::{Closeness, closeness_of_batch};
use ripplet_cuda::device::Device;
use ripplet_cuda::swarm::{DeviceSwarm, Question, Step, SwarmSeconds, Tuning};
use ripplet_cuda::{CudaDevice, DeviceExecutor};
use ripplet_graph::Direction;
use ripplet_graph::batch::{BatchBuilder, BatchRows, BatchSlice, BatchTable, GraphBatch, Members};
use ripplet_graph::generate::Swarm;
use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

const QUESTIONS: [(&str, Question); 5] = [
    ("closeness", Question::Closeness { measure: Closeness::Reciprocal, normalized: false }),
    ("harmonic", Question::Closeness { measure: Closeness::Harmonic, normalized: false }),
    ("summaries", Question::Summaries),
    ("reach", Question::Reach),
    ("betweenness", Question::Betweenness { normalized: false }),
];

/// What is measured, as the command line has it.
struct Options {
    graphs: u64,
    question: Option<String>,
    vertices: Option<u32>,
    directed: bool,
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
                "--check" => options.check = true,
                "--profile" => options.profile = true,
                number => options.graphs = number.parse()?,
            }
        }
        Ok(options)
    }

    fn questions(&self) -> Vec<(&'static str, Question)> {
        let asked = |name: &str| self.question.as_deref().is_none_or(|asked| asked == name);
        QUESTIONS.into_iter().filter(|(name, _)| asked(name)).collect()
    }

    /// The graphs, part by part.
    fn parts(&self) -> Result<Vec<Part>, Box<dyn Error>> {
        if let Some(vertices) = self.vertices {
            let each = (self.part / (6 * u64::from(vertices))).max(1);
            let firsts = (0..self.graphs).step_by(each as usize);
            let part = |first| Part::Alike {
                graphs: each.min(self.graphs - first) as u32,
                vertices,
                directed: self.directed,
            };
            return Ok(firsts.map(part).collect());
        }
        let swarm = Swarm::new(self.graphs);
        Ok(swarm.parts(self.part)?.map(|graphs| Part::OfSwarm(self.graphs, graphs)).collect())
    }
}

/// What a part is made of.
enum Part {
    OfSwarm(u64, std::ops::Range<u64>),
    Alike { graphs: u32, vertices: u32, directed: bool },
}

impl Part {
    fn generate(&self) -> Result<GraphBatch, Box<dyn Error>> {
        match self {
            Part::OfSwarm(all, graphs) => Ok(Swarm::new(*all).generate_part(graphs.clone())?),
            Part::Alike { graphs, vertices, directed } => rings(*graphs, *vertices, *directed),
        }
    }
}

/// Rings with five random chords a vertex.
fn rings(graphs: u32, vertices: u32, directed: bool) -> Result<GraphBatch, Box<dyn Error>> {
    let mut rows = BatchRows::default();
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
            }
        }
    }
    let members = Members::of_sizes((0..graphs).map(|_| vertices))?;
    let direction = if directed { Direction::Directed } else { Direction::Undirected };
    Ok(BatchBuilder::new().direction(direction).build(BatchTable::new(members, rows)?)?)
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
    question: Question,
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
    question: Question,
) -> Result<SwarmSeconds, Box<dyn Error>> {
    Ok(match question {
        Question::Closeness { measure, normalized } => {
            swarm.closeness(graphs, measure, normalized, &())?.1
        }
        Question::Betweenness { normalized } => swarm.betweenness(graphs, normalized, &())?.1,
        Question::Summaries => swarm.summaries(graphs, &())?.1,
        Question::Reach => swarm.reach(graphs, &())?.1,
    })
}

/// How many values differ from the CPU's.
fn check(
    swarm: &mut DeviceSwarm<CudaDevice>,
    graphs: BatchSlice<'_>,
    question: Question,
) -> Result<usize, Box<dyn Error>> {
    let (found, expected) = match question {
        Question::Closeness { measure, normalized } => (
            swarm.closeness(graphs, measure, normalized, &())?.0,
            closeness_of_batch(graphs, measure, normalized, Lengths::Hops, &mut ())?,
        ),
        Question::Betweenness { normalized } => (
            swarm.betweenness(graphs, normalized, &())?.0,
            betweenness_of_batch(graphs, normalized, Lengths::Hops, &mut ())?,
        ),
        Question::Reach => {
            let found = swarm.reach(graphs, &())?.0;
            let expected = reach_of_batch(graphs, Lengths::Hops, &mut ())?;
            let differ = found.iter().zip(&expected).filter(|(found, expected)| {
                let (far, farthest) = (u128::from(found.far), u64::from(found.farthest));
                (u64::from(found.reached), far, farthest)
                    != (expected.reached, expected.far, expected.farthest)
            });
            return Ok(differ.count());
        }
        Question::Summaries => {
            let found = swarm.summaries(graphs, &())?.0;
            let expected = reach_of_batch(graphs, Lengths::Hops, &mut ())?;
            let mut rest = &expected[..];
            let differ = graphs.graphs().zip(&found).filter(|(graph, found)| {
                let (mine, others) = rest.split_at(graph.vertices() as usize);
                rest = others;
                let sum: u128 = mine.iter().map(|vertex| vertex.far).sum();
                let largest = mine.iter().map(|vertex| vertex.farthest).max();
                let smallest = mine.iter().map(|vertex| vertex.farthest).min();
                let expected = (sum, largest.unwrap_or(0), smallest.unwrap_or(0));
                let (diameter, radius) = (u64::from(found.diameter), u64::from(found.radius));
                (u128::from(found.sum), diameter, radius) != expected
            });
            return Ok(differ.count());
        }
    };
    Ok(found.iter().zip(&expected).filter(|(a, b)| a.to_bits() != b.to_bits()).count())
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
