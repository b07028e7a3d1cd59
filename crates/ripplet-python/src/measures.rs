//! Measures and pictures of given communities.

use crate::array::Array;
use crate::error::{Class, Failure};
use crate::graph::Graph;
use crate::job::Start;
use crate::options::Options;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ripplet::draw::{DrawOptions, draw, write_html, write_svg};
use ripplet::graph::{Direction, memory};
use ripplet::lp::quality::{Cover, agreement, overlap_agreement, per_community};
use std::fs;

/// Returns how far two partitions of the same vertices agree, as JSON; `u32::MAX` is no community.
#[pyfunction]
pub fn agree(py: Python<'_>, mine: Vec<u32>, other: Vec<u32>) -> PyResult<String> {
    Start::default().run(py, move |_| {
        let found = agreement(&mine, &other)?;
        serde_json::to_string(&found).map_err(Failure::input)
    })
}

/// Memberships of a cover: the number of vertices and of communities, vertices and communities of the rows.
type CoverRows = (u32, u32, Vec<u32>, Vec<u32>);

fn cover_of((vertices, communities, members, of): CoverRows) -> Result<Cover, Failure> {
    let are_known =
        members.iter().all(|&vertex| vertex < vertices) && of.iter().all(|&at| at < communities);
    match are_known && members.len() == of.len() {
        true => Ok(Cover::new(vertices, communities, members.into_iter().zip(of))?),
        false => Err(Failure::input("the memberships are not those of this graph")),
    }
}

/// Returns how far two covers of the same vertices agree, as JSON.
#[pyfunction]
pub fn agree_overlapping(py: Python<'_>, mine: CoverRows, other: CoverRows) -> PyResult<String> {
    Start::default().run(py, move |_| {
        let found = overlap_agreement(&cover_of(mine)?, &cover_of(other)?)?;
        serde_json::to_string(&found).map_err(Failure::input)
    })
}

/// Returns the figures of each community, by name.
#[pyfunction]
pub fn figures(
    py: Python<'_>,
    graph: &Graph,
    cover: CoverRows,
    resolution: f64,
) -> PyResult<Vec<(&'static str, Array)>> {
    let stored = graph.stored.clone();
    Start::default().run(py, move |_| {
        let graph = stored.view();
        let (all, scale) =
            (per_community(graph, &cover_of(cover)?, resolution)?, graph.weight_scale());
        let floats = |of: fn(&ripplet::lp::quality::CommunityQuality) -> f64| {
            memory::collected(all.iter().map(of)).map(Array::of)
        };
        let weights = |of: fn(&ripplet::lp::quality::CommunityQuality) -> f64| {
            memory::collected(all.iter().map(|figures| scale.rounded(of(figures)))).map(Array::of)
        };
        Ok(vec![
            ("size", Array::of(memory::collected(all.iter().map(|f| f.size))?)),
            ("inner_edges", Array::of(memory::collected(all.iter().map(|f| f.inner_edges))?)),
            ("outer_edges", Array::of(memory::collected(all.iter().map(|f| f.outer_edges))?)),
            ("inner_weight", weights(|f| f.inner_weight)?),
            ("outer_weight", weights(|f| f.outer_weight)?),
            ("conductance", floats(|f| f.conductance)?),
            ("density", floats(|f| f.density)?),
            ("modularity", floats(|f| f.modularity)?),
            ("triangle_participation", floats(|f| f.triangle_participation)?),
            ("connected", Array::of(memory::collected(all.iter().map(|f| f.connected))?)),
        ])
    })
}

/// Returns a picture of communities, given by a number for each vertex and their names: SVG, or a page.
#[pyfunction]
pub fn picture(
    py: Python<'_>,
    graph: &Graph,
    numbers: Vec<u32>,
    names: Vec<String>,
    options: Bound<'_, PyDict>,
) -> PyResult<String> {
    let options = Options(options);
    let default = DrawOptions::default();
    let is_page = options.flag("html")?;
    let chosen = DrawOptions {
        communities: options
            .count("largest", 1)?
            .map_or(default.communities, |count| count as usize),
        members: options.count("members", 0)?.map_or(default.members, |count| count as usize),
        title: options.text("title")?.unwrap_or(default.title),
    };
    // The writers make a whole file or none.
    let folder = options.text("folder")?.unwrap_or_default();
    let path =
        std::path::Path::new(&folder).join(if is_page { "picture.html" } else { "picture.svg" });
    let stored = graph.stored.clone();
    options.start()?.run(py, move |_| {
        let picture =
            draw(stored.view(), &numbers, &chosen).map_err(Failure::input)?.with_names(&names);
        match is_page {
            true => write_html(&path, &picture)?,
            false => write_svg(&path, &picture)?,
        }
        fs::read_to_string(&path).map_err(|error| Failure::new(Class::File, error))
    })
}

/// Returns the ends and the weight of each edge; of an undirected one the smaller vertex first.
#[pyfunction]
pub fn edges(py: Python<'_>, graph: &Graph) -> PyResult<(Array, Array, Option<Array>)> {
    let stored = graph.stored.clone();
    Start::default().run(py, move |_| {
        let plain = stored.view().to_plain()?;
        let undirected = plain.direction() == Direction::Undirected;
        let room = usize::try_from(plain.edges()).unwrap_or(0);
        let (mut sources, mut targets) = (memory::with_room(room)?, memory::with_room(room)?);
        let mut weights: Vec<f64> = memory::with_room(if plain.is_weighted() { room } else { 0 })?;
        let scale = plain.weight_scale();
        for shard in plain.shards() {
            let out = shard.out();
            for (local, vertex) in shard.vertices().enumerate() {
                let of_vertex = out.weights_of(local);
                for (at, &to) in out.of(local).iter().enumerate() {
                    if undirected && to < vertex {
                        continue;
                    }
                    memory::push(&mut sources, vertex)?;
                    memory::push(&mut targets, to)?;
                    if let Some(&weight) = of_vertex.and_then(|weights| weights.get(at)) {
                        memory::push(&mut weights, scale.weight(weight.into()))?;
                    }
                }
            }
        }
        let weights = plain.is_weighted().then(|| Array::of(weights));
        Ok((Array::of(sources), Array::of(targets), weights))
    })
}

/// Returns a planted partition: a graph, and the community of each vertex.
#[pyfunction]
pub fn planted(py: Python<'_>, options: Bound<'_, PyDict>) -> PyResult<(Graph, Array)> {
    let options = Options(options);
    let vertices = options.count("vertices", 1)?.unwrap_or(100_000);
    let edges = options.count("edges", 0)?.unwrap_or(vertices.saturating_mul(10));
    let mut shape =
        ripplet::generate::Planted::new(vertices, edges, options.number("mixing")?.unwrap_or(0.3));
    let fields = [
        ("degree_exponent", &mut shape.degree_exponent),
        ("size_exponent", &mut shape.size_exponent),
    ];
    for (name, field) in fields {
        if let Some(value) = options.number(name)? {
            *field = value;
        }
    }
    let fields = [
        ("max_degree", &mut shape.max_degree),
        ("min_size", &mut shape.min_size),
        ("max_size", &mut shape.max_size),
    ];
    for (name, field) in fields {
        if let Some(value) = options.count32(name, 1)? {
            *field = value;
        }
    }
    shape.seed = options.count("seed", 0)?.unwrap_or(1);
    options.start()?.run(py, move |watch| {
        watch.stage("generating");
        let made = shape.generate().map_err(Failure::input)?;
        let graph = ripplet::graph::GraphBuilder::new().build(made.edges)?;
        Ok((Graph::from(graph), Array::of(made.truth)))
    })
}

/// A GPU: its number, model, architecture, bytes of memory, and its free bytes or why it cannot be used.
type Gpu = (usize, String, (u32, u32), u64, Option<u64>, Option<String>);

/// GPUs, the driver's version of CUDA, NVRTC's version, and why there is no GPU.
type Gpus = (Vec<Gpu>, Option<String>, Option<String>, Option<String>);

/// Returns the GPUs of the host, the driver's version of CUDA, and NVRTC's version or why there is none; or why there
/// is no GPU.
#[pyfunction]
pub fn gpus(py: Python<'_>) -> PyResult<Gpus> {
    let listed = py.detach(ripplet::device::gpus);
    Ok(match listed {
        // Kernels are compiled without a GPU, too.
        Err(reason) => {
            let nvrtc = py.detach(ripplet_gpu::nvrtc::available);
            (Vec::new(), None, nvrtc.ok().map(|version| version.to_string()), Some(reason))
        }
        Ok(list) => {
            let gpu = |gpu: ripplet::device::GpuInfo| {
                let (free, reason) = match gpu.free_memory {
                    Ok(bytes) => (Some(bytes), None),
                    Err(reason) => (None, Some(reason)),
                };
                (gpu.number, gpu.name, gpu.architecture, gpu.memory, free, reason)
            };
            (list.gpus.into_iter().map(gpu).collect(), list.driver, list.nvrtc.ok(), None)
        }
    })
}
