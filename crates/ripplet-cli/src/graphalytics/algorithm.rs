//! The algorithms: what each computes, and how its values are written and validated.

use super::properties::Properties;
use crate::console::Console;
use crate::failure::Failure;
use crate::output::written;
use clap::ValueEnum;
use ripplet::analytics::lcc::{Definition, Lcc};
use ripplet::device::AnyExecutor;
use ripplet::graph::{Graph, VertexId, VertexIds};
use ripplet::io::write::{ColumnData, Communities, Naming, VertexColumn};
use ripplet::io::{self, ReadOptions, WriteError, write};
use ripplet::lp::programs::Cdlp;
use ripplet::lp::{DeviceSeconds, DynProgram, Executor, Schedule, Settings, Stop};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Algorithm of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Algorithm {
    /// Community detection by label propagation
    Cdlp,
    /// The local clustering coefficient
    Lcc,
}

/// An algorithm with the parameters that the properties give it.
pub struct Task {
    pub algorithm: Algorithm,
    /// Rounds, if it has rounds.
    pub iterations: Option<u32>,
    /// The file NAME-SUFFIX beside the properties; `path` if it exists.
    pub reference: Reference,
}

/// The output to compare with.
pub struct Reference {
    pub name: String,
    pub path: Option<PathBuf>,
}

/// A value for each vertex.
#[derive(PartialEq)]
pub enum Values {
    Labels(Vec<VertexId>),
    Coefficients(Vec<f64>),
}

/// The largest relative difference from the reference (LDBC, section on validation).
const EPSILON: f64 = 1e-4;

/// The first vertex whose value differs from the reference's, and the number of such vertices.
pub struct Difference {
    pub vertices: usize,
    pub first: VertexId,
    pub found: String,
    pub wanted: String,
}

impl Algorithm {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Cdlp => "cdlp",
            Algorithm::Lcc => "lcc",
        }
    }

    /// Returns the rule by which the specification compares outputs.
    pub fn rule(self) -> &'static str {
        match self {
            Algorithm::Cdlp => "exact",
            Algorithm::Lcc => "epsilon",
        }
    }

    /// Refuses an output whose name implies no format, or whose format cannot hold the ids.
    pub fn check_output(self, path: &Path, ids: &VertexIds) -> Result<(), WriteError> {
        match self {
            Algorithm::Cdlp => write::check_communities(path, ids),
            Algorithm::Lcc => write::check_values(path, ids),
        }
    }
}

impl Task {
    /// Returns the task of an algorithm from the properties.
    pub fn of(algorithm: Algorithm, properties: &Properties) -> Result<Task, Failure> {
        let suffix = algorithm.name().to_ascii_uppercase();
        let reference = Reference {
            path: properties.reference(&suffix),
            name: format!("{}-{suffix}", properties.name()),
        };
        let iterations = match algorithm {
            Algorithm::Cdlp => Some(properties.number("cdlp.max-iterations")?),
            Algorithm::Lcc => None,
        };
        Ok(Task { algorithm, iterations, reference })
    }

    /// The values, and the seconds of the algorithm alone: without compiling, and moving to a GPU.
    pub fn compute(
        &self,
        graph: &Graph,
        executor: &AnyExecutor,
        console: &Console,
    ) -> Result<(Values, f64), Failure> {
        let start = Instant::now();
        let (values, DeviceSeconds { kernels, transfer }) = match self.algorithm {
            Algorithm::Cdlp => {
                let settings = Settings {
                    schedule: Schedule::cdlp(),
                    stop: Stop::after(self.iterations.unwrap_or(0)),
                    keep_disconnected: true,
                    ..Settings::default()
                };
                let program = Box::<dyn DynProgram>::from(Cdlp);
                let outcome = executor.run(graph, &*program, &settings, &mut console.watch())?;
                (Values::Labels(outcome.labels), outcome.device_seconds)
            }
            Algorithm::Lcc => {
                let lcc = Lcc::new(Definition::Ldbc);
                let (outcome, seconds) = executor.run_lcc(graph, lcc, &mut console.watch())?;
                (Values::Coefficients(outcome.coefficients), seconds)
            }
        };
        let seconds = start.elapsed().as_secs_f64() - kernels - transfer;
        Ok((values, seconds.max(0.0)))
    }

    /// Returns the reference output, if it exists.
    pub fn expected(&self, ids: &VertexIds, console: &Console) -> Result<Option<Values>, Failure> {
        let Some(path) = &self.reference.path else { return Ok(None) };
        console.stage(format!("reading {}", path.display()));
        let options = ReadOptions::default();
        Ok(Some(match self.algorithm {
            Algorithm::Cdlp => Values::Labels(io::read_labels(path, &options, ids)?),
            Algorithm::Lcc => Values::Coefficients(io::read_values(path, &options, ids)?),
        }))
    }
}

impl Values {
    /// Writes them, whole or not at all.
    pub fn write(&self, path: &Path, ids: &VertexIds) -> Result<(), Failure> {
        written(match self {
            Values::Labels(labels) => {
                let communities = Communities::of_all(labels);
                write::write_communities(path, ids, &communities, Naming::VertexId)
            }
            Values::Coefficients(values) => {
                let values = ColumnData::F64(values);
                write::write_values(path, ids, &[VertexColumn { name: "value", len: 1, values }])
            }
        })
    }

    /// Returns the first difference from the reference, by the rules of the specification.
    pub fn difference(&self, expected: &Values, ids: &VertexIds) -> Option<Difference> {
        match (self, expected) {
            (Values::Labels(found), Values::Labels(wanted)) => {
                let id = |label: &VertexId| ids.get(*label).to_string();
                difference(found, wanted, |found, wanted| found == wanted, id)
            }
            (Values::Coefficients(found), Values::Coefficients(wanted)) => {
                difference(found, wanted, |found, wanted| is_near(*found, *wanted), f64::to_string)
            }
            _ => unreachable!("a task's values are of one kind"),
        }
    }
}

fn is_near(found: f64, wanted: f64) -> bool {
    (wanted - found).abs() <= EPSILON * wanted.abs()
}

fn difference<T>(
    found: &[T],
    wanted: &[T],
    is_same: impl Fn(&T, &T) -> bool,
    shown: impl Fn(&T) -> String,
) -> Option<Difference> {
    let differs = |v: &usize| !is_same(&found[*v], &wanted[*v]);
    let first = (0..found.len()).find(differs)?;
    Some(Difference {
        vertices: (first..found.len()).filter(differs).count(),
        first: first as VertexId,
        found: shown(&found[first]),
        wanted: shown(&wanted[first]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_match_within_a_ten_thousandth_of_the_reference() {
        assert!(is_near(0.0, 0.0) && is_near(0.50004, 0.5) && is_near(0.49996, 0.5));
        assert!(!is_near(0.50006, 0.5) && !is_near(1e-300, 0.0) && !is_near(0.0, 1e-300));
    }
}
