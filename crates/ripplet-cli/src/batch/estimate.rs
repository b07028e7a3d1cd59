//! The output of `--estimate` for a batch.

use super::Opened;
use crate::failure::Failure;
use crate::message::counted;
use crate::size::Size;
use crate::stats::{Need, needs};
use ripplet::graph::batch::BatchSlice;
use ripplet::swarm::Parts;
use serde::Serialize;
use std::fmt::Write;

/// The output of `--estimate`: the needs of the first part and of the concurrent ones.
#[derive(Serialize)]
pub struct Estimate<C> {
    #[serde(flatten)]
    choices: C,
    graphs: usize,
    vertices: u64,
    arcs: u64,
    plan: Vec<Need>,
    planned_host: u64,
    /// The sum over all GPUs.
    planned_device: u64,
}

/// The needs of a part in addition to its graphs.
#[derive(Default)]
pub struct PartNeeds {
    /// Bytes of the host by their purpose.
    pub host: Vec<(&'static str, u64)>,
    /// Bytes of all GPUs together.
    pub device: u64,
    /// Bytes of its answer.
    pub answer: u64,
}

impl Opened<'_> {
    /// Returns the needs of the first part and of the concurrent ones; `needs_of` returns those of the computation.
    pub fn estimate<C>(
        &mut self,
        choices: C,
        needs_of: impl FnOnce(BatchSlice<'_>) -> Result<PartNeeds, Failure>,
    ) -> Result<Estimate<C>, Failure> {
        let at_once = self.at_once;
        let part = self.parts().next_part()?;
        let (mut items, [mut vertices, mut arcs], mut graphs) = (Vec::new(), [0; 2], 0);
        let mut planned_device = 0;
        if let Some(part) = part {
            let slice = part.slice();
            let (purpose, copies) = match slice.len() < part.batch.len() {
                true => ("the batch", 1),
                false => ("parts in memory", at_once),
            };
            items.push((purpose, part.batch.bytes().saturating_mul(copies)));
            let PartNeeds { host, device, answer } = needs_of(slice)?;
            items.extend(host);
            items.push(("results to write", answer.saturating_mul(2)));
            planned_device = device;
            (graphs, vertices, arcs) = (slice.len(), slice.vertices(), slice.arcs());
        }
        let plan = needs(items);
        let planned_host = plan.iter().map(Need::bytes).fold(0, u64::saturating_add);
        Ok(Estimate { choices, graphs, vertices, arcs, plan, planned_host, planned_device })
    }
}

impl<C> Estimate<C> {
    /// The lines for a person.
    pub fn lines(&self) -> String {
        let Estimate { graphs, vertices, arcs, .. } = self;
        let mut text = format!(
            "of the first part: {}, {}, {}\n",
            counted(*graphs as u64, "graph", "graphs"),
            counted(*vertices, "vertex", "vertices"),
            counted(*arcs, "arc", "arcs")
        );
        for need in &self.plan {
            let _ = writeln!(text, "{need}");
        }
        let _ = writeln!(text, "{:<28}{:>12}", "total", Size(self.planned_host).to_string());
        if self.planned_device > 0 {
            let device = Size(self.planned_device).to_string();
            let _ = writeln!(text, "{:<28}{device:>12}", "GPU memory");
        }
        text
    }
}
