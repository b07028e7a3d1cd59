//! Measures drawing a market's shards on a GPU beside the host's cores: `measure_drawing DAYS [--scale F] [--shards N]
//! [--shard-arcs N] [--seed N] [--no-weights]`. Draws N shards (8, or all where there are fewer), evenly spread, first on the GPU
//! (once to warm up, once as it is used, once kernel by kernel), then on all cores, and compares them. Prints lines of JSON: a shard
//! each, and all together.

use ripplet_bench::{Arguments, Result};
use ripplet_cuda::device::Device;
use ripplet_cuda::generate::{DeviceMarket, Profile};
use ripplet_cuda::{CudaDevice, DeviceExecutor};
use ripplet_graph::generate::Transactions;
use serde_json::{Map, Value, json};
use std::time::Instant;

fn main() -> Result<()> {
    let arguments = Arguments::of_process();
    let days = arguments.words().first().ok_or("how many days?")?.parse()?;
    let scale = arguments.or("--scale", 1.0)?;
    let shards: usize = arguments.or("--shards", 8)?;
    let shard_arcs = arguments.or("--shard-arcs", 1 << 27)?;
    let seed = arguments.or("--seed", 1)?;
    let weighted = !arguments.has("--no-weights");

    let of = Transactions { weighted, seed, ..Transactions::new(days, scale) };
    let market = of.market()?;
    let ranges = market.shard_ranges(shard_arcs)?;
    let count = shards.clamp(1, ranges.len());
    let chosen: Vec<_> = (0..count).map(|at| ranges[at * ranges.len() / count].clone()).collect();
    let executor = DeviceExecutor::new(CudaDevice::new(0)?);
    let start = Instant::now();
    let mut drawn = DeviceMarket::new(&executor, &market)?;
    let compiling = start.elapsed().as_secs_f64();
    let start = Instant::now();
    drawn.make_room(&chosen)?;
    let reserving = start.elapsed().as_secs_f64();
    let (mut arcs, mut on_device, mut on_host) = (0, 0.0, 0.0);
    for range in chosen {
        let planned = drawn.plan(&range)?.total_device();
        drop(drawn.shard(range.clone(), &())?);
        let start = Instant::now();
        let shard = drawn.shard(range.clone(), &())?;
        let device_seconds = start.elapsed().as_secs_f64();
        let (profiled, Profile { steps, transfer }) = drawn.profile(range.clone())?;
        let start = Instant::now();
        let expected = market.shard(range.clone())?;
        let host_seconds = start.elapsed().as_secs_f64();
        if shard != expected || profiled != expected {
            return Err(format!("the GPU draws other lists than the CPU of {range:?}").into());
        }
        let here = shard.out().neighbors().len() as u64;
        let mut kernels = Map::new();
        for (kernel, seconds) in steps {
            let sum = kernels.get(kernel).and_then(Value::as_f64).unwrap_or(0.0) + seconds;
            kernels.insert(kernel.to_owned(), sum.into());
        }
        println!(
            "{}",
            json!({
                "first": range.start, "vertices": range.len(), "arcs": here, "planned": planned,
                "device_seconds": device_seconds, "host_seconds": host_seconds, "equal": true,
                "transfer_seconds": transfer, "kernel_seconds": kernels,
            })
        );
        arcs += here;
        on_device += device_seconds;
        on_host += host_seconds;
    }
    println!(
        "{}",
        json!({
            "days": days, "scale": scale, "seed": seed, "weighted": weighted, "shard_arcs": shard_arcs,
            "shards": ranges.len(), "drawn": count, "arcs": arcs,
            "device": executor.device().properties().name, "threads": rayon::current_num_threads(),
            "seconds_to_compile": compiling, "seconds_to_reserve": reserving,
            "device_seconds": on_device, "host_seconds": on_host,
            "device_arcs_a_second": arcs as f64 / on_device, "host_arcs_a_second": arcs as f64 / on_host,
        })
    );
    Ok(())
}
