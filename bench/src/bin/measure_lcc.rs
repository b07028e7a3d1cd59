//! Measures the clustering coefficient on a GPU: `measure_lcc rmat 22 [--check] [--directed]`, for web,
//! social, rmat, road.
//!
//! Prints the times of whole runs with the graph on the GPU, and of each step alone. `--check` compares the
//! coefficients with the CPU's.

use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::lcc::{DeviceLcc, Profile};
use ripplet_gpu::CudaDevice;
use ripplet_graph::Observer;
use ripplet_graph::{Direction, GraphBuilder};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let family = arguments.first().map_or("rmat", String::as_str);
    let scale: u32 = arguments.get(1).map_or(Ok(20), |text| text.parse())?;
    let start = Instant::now();
    let direction = if has("--directed") { Direction::Directed } else { Direction::Undirected };
    let graph =
        GraphBuilder::new().direction(direction).build(ripplet_bench::family(family, scale)?)?;
    println!(
        "# {family} {scale}, {direction:?}: {} vertices, {} arcs, largest degree {}, made in {:.1} s",
        graph.vertices(),
        graph.arcs(),
        graph.max_degree(),
        start.elapsed().as_secs_f64()
    );
    let executor = DeviceExecutor::new(CudaDevice::new(0)?);
    let (on_gpu, lcc) = (DeviceLcc::new(&executor), Lcc::new(Definition::Ldbc));
    let own = on_gpu.plan(&graph, lcc).algorithm_device();
    println!(
        "{own} bytes beside the graph, {:.2} of the arcs'",
        own as f64 / graph.arcs() as f64 / 4.0
    );
    let mut last = None;
    for _ in 0..5 {
        let mut watch = Watch::default();
        let (found, seconds) = on_gpu.run(&graph, lcc, &mut watch)?;
        println!(
            "run: {:.3} ms, and {:.1} ms moving",
            watch.milliseconds(),
            seconds.transfer * 1e3
        );
        last = Some(found);
    }
    let found = last.ok_or("no run")?;
    println!("{} triangles, mean {:.6}", found.triangle_count, found.mean());
    // The first run also compiles and allocates.
    on_gpu.profile(&graph)?;
    let Profile { steps, .. } = on_gpu.profile(&graph)?;
    for (name, seconds) in &steps {
        println!("    {name:28} {:.3} ms", seconds * 1e3);
    }
    let counting = steps.iter().filter(|(name, _)| {
        let counting = ["few", "middle", "slice"].map(|class| format!("ripplet_count_{class}"));
        counting.contains(&(*name).to_owned()) || *name == "ripplet_set_bits"
    });
    let counting: f64 = counting.map(|(_, seconds)| seconds).sum();
    let all: f64 = steps.iter().map(|(_, seconds)| seconds).sum();
    println!("all steps {:.3} ms, counting {:.3} ms", all * 1e3, counting * 1e3);
    if has("--check") {
        let start = Instant::now();
        let expected = lcc.run(&graph, &mut ())?;
        let differ = expected.coefficients.iter().zip(&found.coefficients);
        let differ = differ.filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        println!(
            "{differ} coefficients differ from the CPU's, triangles {}; CPU {:.0} ms",
            if expected.triangle_count == found.triangle_count { "equal" } else { "differ" },
            start.elapsed().as_secs_f64() * 1e3
        );
    }
    Ok(())
}

/// Start times of the algorithm's stages.
#[derive(Default)]
struct Watch {
    listing: Option<Instant>,
    moving: Option<Instant>,
}

impl Watch {
    fn milliseconds(&self) -> f64 {
        match (self.listing, self.moving) {
            (Some(start), Some(end)) => (end - start).as_secs_f64() * 1e3,
            _ => f64::NAN,
        }
    }
}

impl Observer for Watch {
    fn on_stage(&mut self, name: &'static str) {
        match name {
            "listing each edge once" => self.listing = Some(Instant::now()),
            "moving the coefficients from the device" => self.moving = Some(Instant::now()),
            _ => {}
        }
    }
}
