//! A GPU that answers.

use super::analysis::{columns_of_reach, columns_of_summaries};
use super::{Analysis, Answer, Column, SwarmError, SwarmObserver, Worker};
use ripplet_analytics::apsp::{self, GraphSummary};
use ripplet_analytics::{Lengths, Observer};
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::device::Device;
use ripplet_cuda::swarm::{self as cuda, DeviceSwarm, Question, SwarmSeconds};
use ripplet_graph::batch::BatchSlice;
use ripplet_graph::{Direction, Graph, OutOfMemory, WeightScale, memory};
use ripplet_lp::{Plan, RunError};
use thiserror::Error;

/// Answers on a device. Two of them, each with a device of its own on one GPU, keep it busy: one moves a part
/// while the other computes.
///
/// It keeps memory of the device for the largest part that it had.
pub struct DeviceWorker<D: Device> {
    name: String,
    question: Question,
    swarm: DeviceSwarm<D>,
    seconds: SwarmSeconds,
}

/// What no device answers so far.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum NotOnDevice {
    /// Weights as lengths.
    #[error("weights as lengths are for the CPU so far")]
    Weights,
    /// A row for each pair.
    #[error("distances pair by pair are for the CPU so far; what they come to is not")]
    Pairs,
    /// An analysis.
    #[error("there is no kernel for {0} so far: they are for the CPU")]
    NoKernel(&'static str),
}

impl Analysis {
    /// The same as a device is asked it.
    ///
    /// # Errors
    /// Where no device answers it.
    pub fn question(self) -> Result<Question, NotOnDevice> {
        match self {
            Analysis::Closeness { measure, normalized, lengths: Lengths::Hops } => {
                Ok(Question::Closeness { measure, normalized })
            }
            Analysis::Betweenness { normalized, lengths: Lengths::Hops } => {
                Ok(Question::Betweenness { normalized })
            }
            Analysis::Reach { lengths: Lengths::Hops } => Ok(Question::Reach),
            Analysis::Summary { lengths: Lengths::Hops } => Ok(Question::Summaries),
            Analysis::EdgeBetweenness { .. } => Err(NotOnDevice::NoKernel("values of edges")),
            Analysis::Components => Err(NotOnDevice::NoKernel("components")),
            Analysis::PageRank(_) => Err(NotOnDevice::NoKernel("PageRank's values")),
            Analysis::Lcc(_) => Err(NotOnDevice::NoKernel("clustering coefficients of a batch")),
            Analysis::Distances { .. } => Err(NotOnDevice::Pairs),
            _ => Err(NotOnDevice::Weights),
        }
    }
}

impl<D: Device> DeviceWorker<D> {
    /// A worker on a device, which is called by a name in reports: `cuda:0`.
    pub fn new(name: String, executor: DeviceExecutor<D>, question: Question) -> DeviceWorker<D> {
        let (swarm, seconds) = (DeviceSwarm::new(executor), SwarmSeconds::default());
        DeviceWorker { name, question, swarm, seconds }
    }

    /// The memory that it will need for these graphs at once.
    ///
    /// # Errors
    /// Where the host refuses memory.
    pub fn plan(&self, graphs: BatchSlice<'_>) -> Result<Plan, OutOfMemory> {
        self.swarm.plan(graphs, self.question)
    }

    /// The memory that it will need for a graph alone.
    ///
    /// # Errors
    /// Where the graph has more than 2³¹ arcs, or the host refuses memory.
    pub fn plan_of_graph(&self, graph: &Graph) -> Result<Plan, RunError> {
        self.swarm.plan_of_graph(graph, self.question)
    }

    /// What its seconds were made of so far.
    pub fn seconds(&self) -> SwarmSeconds {
        self.seconds
    }

    /// Whose device it is.
    pub fn executor(&self) -> &DeviceExecutor<D> {
        self.swarm.executor()
    }

    /// Answers what is asked of a graph alone.
    ///
    /// # Errors
    /// Where the observer cancels, memory is refused, or the device fails.
    pub fn answer_graph(
        &mut self,
        graph: &Graph,
        observer: &dyn Observer,
    ) -> Result<Answer, SwarmError> {
        let swarm = &mut self.swarm;
        let (answer, seconds) = match self.question {
            Question::Closeness { measure, normalized } => {
                values(swarm.closeness_of_graph(graph, measure, normalized, observer)?)
            }
            Question::Betweenness { normalized } => {
                values(swarm.betweenness_of_graph(graph, normalized, observer)?)
            }
            Question::Reach => {
                let (reach, seconds) = swarm.reach_of_graph(graph, observer)?;
                (of_reach(&reach)?, seconds)
            }
            Question::Summaries => {
                let (reach, seconds) = swarm.reach_of_graph(graph, observer)?;
                let summary = summed_up(&reach, graph.direction());
                (columns_of_summaries(&[summary], Column::U64(vec![graph.edges()]))?, seconds)
            }
        };
        self.add(seconds);
        Ok(answer)
    }

    /// Answers what is asked of each graph of a part.
    pub(super) fn answer_batch(
        &mut self,
        graphs: BatchSlice<'_>,
        observer: &dyn Observer,
    ) -> Result<Answer, SwarmError> {
        let swarm = &mut self.swarm;
        let (answer, seconds) = match self.question {
            Question::Closeness { measure, normalized } => {
                values(swarm.closeness(graphs, measure, normalized, observer)?)
            }
            Question::Betweenness { normalized } => {
                values(swarm.betweenness(graphs, normalized, observer)?)
            }
            Question::Reach => {
                let (reach, seconds) = swarm.reach(graphs, observer)?;
                (of_reach(&reach)?, seconds)
            }
            Question::Summaries => {
                let (summaries, seconds) = swarm.summaries(graphs, observer)?;
                let direction = graphs.batch().direction();
                let of_graphs = graphs.graphs().zip(&summaries);
                let summaries = of_graphs.map(|(graph, found)| GraphSummary {
                    vertices: graph.vertices(),
                    pairs: found.pairs,
                    sum: found.sum.into(),
                    diameter: found.diameter.into(),
                    radius: found.radius.into(),
                    direction,
                    scale: WeightScale::ONE,
                });
                let summaries = memory::collected(summaries)?;
                let edges = graphs.edges_of_each()?;
                (columns_of_summaries(&summaries, Column::U64(edges))?, seconds)
            }
        };
        self.add(seconds);
        Ok(answer)
    }

    fn add(&mut self, SwarmSeconds { kernels, upload, compute, download }: SwarmSeconds) {
        self.seconds.kernels += kernels;
        self.seconds.upload += upload;
        self.seconds.compute += compute;
        self.seconds.download += download;
    }
}

impl<D> Worker for DeviceWorker<D>
where
    D: Device + Send,
    D::Module: Send,
    D::Memory: Send,
{
    fn name(&self) -> String {
        self.name.clone()
    }

    fn answer(
        &mut self,
        part: BatchSlice<'_>,
        observer: &dyn SwarmObserver,
    ) -> Result<Answer, SwarmError> {
        self.answer_batch(part, &super::worker::Watched(observer))
    }

    fn steps(&self) -> Vec<(&'static str, f64)> {
        let SwarmSeconds { kernels, upload, compute, download } = self.seconds;
        vec![("kernels", kernels), ("upload", upload), ("compute", compute), ("download", download)]
    }
}

fn values((values, seconds): (Vec<f64>, SwarmSeconds)) -> (Answer, SwarmSeconds) {
    (Answer::Vertices(vec![Column::F64(values)]), seconds)
}

fn of_reach(reach: &[cuda::Reach]) -> Result<Answer, SwarmError> {
    let reach = memory::collected(reach.iter().map(|found| apsp::Reach {
        reached: found.reached.into(),
        far: found.far.into(),
        farthest: found.farthest.into(),
    }))?;
    // Whatever the graph, an arc is an arc.
    columns_of_reach(&reach, std::iter::once((reach.len(), WeightScale::ONE)))
}

/// What the distances of all vertices of a graph come to.
fn summed_up(reach: &[cuda::Reach], direction: Direction) -> GraphSummary {
    let farthest = || reach.iter().map(|reach| u64::from(reach.farthest));
    GraphSummary {
        vertices: reach.len() as u32,
        pairs: reach.iter().map(|reach| u64::from(reach.reached)).sum(),
        sum: reach.iter().map(|reach| u128::from(reach.far)).sum(),
        diameter: farthest().max().unwrap_or(0),
        radius: farthest().min().unwrap_or(0),
        direction,
        scale: WeightScale::ONE,
    }
}
