//! Workers on a GPU.

use super::columns::{columns_of_edges, columns_of_reach, columns_of_summaries};
use super::{Answer, Column, SwarmError, Worker};
use ripplet_analytics::PathAnalysis;
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::swarm::{DeviceSwarm, SwarmSeconds};
use ripplet_gpu::Device;
use ripplet_graph::batch::{BatchSlice, Subject};
use ripplet_graph::{Graph, Observer};
use ripplet_io::write::{self, ColumnData, Part};
use ripplet_lp::{Plan, RunError};

/// Answers on a device.
///
/// Two workers, each with its own [`Device`] on one GPU, keep it busy: one copies a part while
/// the other computes. A worker keeps device memory allocated for the largest part so far.
pub struct DeviceWorker<D: Device> {
    name: String,
    analysis: PathAnalysis,
    swarm: DeviceSwarm<D>,
    seconds: SwarmSeconds,
}

impl<D: Device> DeviceWorker<D> {
    /// Creates a worker on a device, with a name for reports: `cuda:0`.
    pub fn new(
        name: String,
        executor: DeviceExecutor<D>,
        analysis: PathAnalysis,
    ) -> DeviceWorker<D> {
        let (swarm, seconds) = (DeviceSwarm::new(executor), SwarmSeconds::default());
        DeviceWorker { name, analysis, swarm, seconds }
    }

    /// Returns the memory that the worker needs for these graphs at once, or for a single graph.
    ///
    /// # Errors
    /// If a single graph has more than 2³¹ arcs, or the host refuses memory.
    pub fn plan<'a>(&self, subject: impl Into<Subject<'a>>) -> Result<Plan, RunError> {
        self.swarm.plan(subject, self.analysis)
    }

    /// Returns the worker's time so far, by step.
    pub fn seconds(&self) -> SwarmSeconds {
        self.seconds
    }

    /// Returns the executor of the worker's device.
    pub fn executor(&self) -> &DeviceExecutor<D> {
        self.swarm.executor()
    }

    /// Analyses a single graph, and passes the rows and their columns to `take`: in several parts
    /// if they are pairs.
    ///
    /// # Errors
    /// If `take` fails, the observer cancels, memory is refused, or the device fails.
    pub fn answer_graph(
        &mut self,
        graph: &Graph,
        observer: &dyn Observer,
        mut take: impl FnMut(Part<'_>, &[ColumnData<'_>]) -> Result<(), SwarmError>,
    ) -> Result<(), SwarmError> {
        let of = write::Subject::Graph(graph.ids());
        if let PathAnalysis::Distances { lengths } = self.analysis {
            let hand_over =
                |sources, rows: &[f64]| take(Part::Pairs { of, sources }, &[ColumnData::F64(rows)]);
            let seconds = self.swarm.rows(graph, lengths, observer, hand_over)?;
            self.add(seconds);
            return Ok(());
        }
        let answer = self.answer_about(graph.into(), observer)?;
        let columns: Vec<_> = answer.columns().iter().map(Column::data).collect();
        take(answer.part(of), &columns)
    }

    /// Analyses each graph of a part, or a single graph; returns all pairs at once.
    pub(super) fn answer_about(
        &mut self,
        subject: Subject<'_>,
        observer: &dyn Observer,
    ) -> Result<Answer, SwarmError> {
        let swarm = &mut self.swarm;
        let (answer, seconds) = match (self.analysis, subject) {
            (PathAnalysis::Closeness { measure, normalized, lengths }, of) => {
                values(swarm.closeness(of, measure, normalized, lengths, observer)?)
            }
            (PathAnalysis::Betweenness { normalized, lengths }, of) => {
                values(swarm.betweenness(of, normalized, lengths, observer)?)
            }
            (PathAnalysis::EdgeBetweenness { normalized, lengths }, of) => {
                let found = swarm.edge_betweenness(of, normalized, lengths, observer)?;
                (columns_of_edges(found.0, of.view())?, found.1)
            }
            (PathAnalysis::Distances { lengths }, of) => {
                let (distances, seconds) = swarm.distances(of, lengths, observer)?;
                (Answer::Pairs(vec![Column::F64(distances)]), seconds)
            }
            (PathAnalysis::Reach { lengths }, of) => {
                let (reach, seconds) = swarm.reach(of, lengths, observer)?;
                (columns_of_reach(&reach, of.view(), lengths)?, seconds)
            }
            (PathAnalysis::Summary { lengths }, of) => {
                let (summaries, seconds) = swarm.summaries(of, lengths, observer)?;
                (columns_of_summaries(&summaries, of.view())?, seconds)
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
        observer: &dyn Observer,
    ) -> Result<Answer, SwarmError> {
        self.answer_about(part.into(), observer)
    }

    fn steps(&self) -> Vec<(&'static str, f64)> {
        let SwarmSeconds { kernels, upload, compute, download } = self.seconds;
        vec![("kernels", kernels), ("upload", upload), ("compute", compute), ("download", download)]
    }
}

fn values((values, seconds): (Vec<f64>, SwarmSeconds)) -> (Answer, SwarmSeconds) {
    (Answer::Vertices(vec![Column::F64(values)]), seconds)
}
