//! Communities at many resolutions: sweeps, and profiles of a score.

use crate::analyses::{Planned, planned};
use crate::array::{Array, arrays_of};
use crate::communities::{Choices, Found};
use crate::graph::Graph;
use crate::options::Options;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ripplet::communities::{ProfileRange, columns_of_profile};
use ripplet::graph::memory;
use ripplet::lp::sweep::Sweep;
use std::time::Instant;

/// The gamma, the number of communities and the modularity of each layer.
type Layers = Vec<(f64, u64, f64)>;

/// Runs a sweep: returns the best communities, the layers, and the place of each vertex in the layered order.
#[pyfunction]
pub fn sweep(
    py: Python<'_>,
    graph: &Graph,
    halvings: u32,
    options: Bound<'_, PyDict>,
) -> PyResult<(Found, Layers, Array)> {
    let options = Options(options);
    let choices = Choices::of(&options)?;
    let stored = graph.stored.clone();
    options.start()?.wait(py, move |watch| {
        let begin = Instant::now();
        let sweep = Sweep::halved(halvings).with_order();
        let swept = choices.search(stored.view()).sweep_with(sweep, watch)?.into_communities()?;
        let found = Found::of(&stored, &swept.best, begin.elapsed().as_secs_f64())?;
        let layers = swept.layers.iter();
        let layers = layers.map(|of| (of.gamma, of.summary.communities, of.summary.modularity));
        Ok((found, layers.collect(), Array::of(swept.places)))
    })
}

/// Returns the memory that a sweep needs.
#[pyfunction]
pub fn plan_sweep(
    py: Python<'_>,
    graph: &Graph,
    halvings: u32,
    options: Bound<'_, PyDict>,
) -> PyResult<Planned> {
    let options = Options(options);
    let choices = Choices::of(&options)?;
    let stored = graph.stored.clone();
    options.start()?.run(py, move |_| {
        let plan = choices.search(stored.view()).plan_sweep(halvings)?;
        let device = if plan.total_device() > 0 { "gpu" } else { "cpu" };
        Ok(planned(&plan, device.into()))
    })
}

/// The partitions, the index of the chosen one, the runs, whether these ended the search, and columns with a row for each
/// partition.
type Profile = (Vec<Found>, usize, u32, bool, Vec<(&'static str, Array)>);

/// Returns the range of a profile, from its options.
fn range_of(options: &Options<'_>) -> PyResult<ProfileRange> {
    let default = ProfileRange::default();
    let (low, high) = (options.number("low")?, options.number("high")?);
    let range = low.zip(high).map(|(low, high)| low..=high);
    Ok(ProfileRange { range, runs: options.count32("runs", 2)?.unwrap_or(default.runs) })
}

/// Finds the best partitions over a range of resolutions.
#[pyfunction]
pub fn resolution_profile(
    py: Python<'_>,
    graph: &Graph,
    options: Bound<'_, PyDict>,
) -> PyResult<Profile> {
    let options = Options(options);
    let (choices, range) = (Choices::of(&options)?, range_of(&options)?);
    let stored = graph.stored.clone();
    options.start()?.wait(py, move |watch| {
        let begin = Instant::now();
        let search = choices.search(stored.view());
        let profiled = search.resolution_profile_with(&range, watch)?.into_communities()?;
        let seconds = begin.elapsed().as_secs_f64();
        let mut found = memory::with_room(profiled.partitions.len())?;
        for index in 0..profiled.partitions.len() {
            if index == profiled.chosen_at {
                found.push(Found::of(&stored, &profiled.chosen, seconds)?);
            } else if let Some(other) = profiled.communities(index)? {
                found.push(Found::of(&stored, &other, seconds)?);
            }
        }
        let figures = arrays_of(columns_of_profile(&profiled.partitions)?);
        Ok((found, profiled.chosen_at, profiled.runs, profiled.is_cut, figures))
    })
}

/// Returns the memory that a profile needs.
#[pyfunction]
pub fn plan_resolution_profile(
    py: Python<'_>,
    graph: &Graph,
    options: Bound<'_, PyDict>,
) -> PyResult<Planned> {
    let options = Options(options);
    let (choices, range) = (Choices::of(&options)?, range_of(&options)?);
    let stored = graph.stored.clone();
    options.start()?.run(py, move |_| {
        let plan = choices.search(stored.view()).plan_resolution_profile(&range)?;
        Ok(planned(&plan, "cpu".into()))
    })
}
