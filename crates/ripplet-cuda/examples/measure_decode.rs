//! Measures what reading compressed lists costs on a GPU beside plain ones: `measure_decode web 22`, for web, social,
//! rmat, road. Prints a line of JSON for each way of reading: the least of ten launches of summing up neighbours, or
//! their labels, with lists of so many neighbours or more read by a whole warp.

mod families;

use ripplet_cuda::CudaDevice;
use ripplet_cuda::compressed::{DeviceLists, Lists};
use ripplet_cuda::device::Device;
use ripplet_graph::GraphBuilder;
use ripplet_graph::compressed::CompressedAdjacency;
use std::error::Error;

/// From which length on a warp reads a list.
const LONG_FROM: [u32; 6] = [0, 8, 16, 32, 64, 256];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let family = arguments.next().unwrap_or_else(|| "web".into());
    let scale: u32 = arguments.next().map_or(Ok(20), |text| text.parse())?;
    let graph = GraphBuilder::new().build(families::edges(&family, scale)?)?;
    let [shard] = graph.shards() else { return Err("a graph of one shard is measured".into()) };
    let plain = shard.out();
    let compressed = CompressedAdjacency::of(plain, 0)?;
    let labels: Vec<u32> = (0..graph.vertices()).collect();
    let device = CudaDevice::new(0)?;
    let lists = DeviceLists::new(&device, plain, &compressed, &labels)?;
    let sums = lists.sums(Lists::Plain, 32)?;
    let bytes = [4 * (u64::from(graph.vertices()) + 1 + graph.arcs()), compressed.bytes()];
    for with_labels in [false, true] {
        for (kind, bytes) in [Lists::Plain, Lists::Compressed].into_iter().zip(bytes) {
            for long_from in LONG_FROM {
                let differ = lists.sums(kind, long_from)? != sums;
                let mut seconds = f64::INFINITY;
                for _ in 0..10 {
                    seconds = seconds.min(lists.seconds(kind, long_from, with_labels)?);
                }
                println!(
                    "{{\"family\":\"{family}\",\"scale\":{scale},\"device\":\"{}\",\"arcs\":{},\
                     \"lists\":\"{kind:?}\",\"bytes\":{bytes},\"labels\":{with_labels},\
                     \"long_from\":{long_from},\"milliseconds\":{:.4},\"differ\":{differ}}}",
                    device.properties().name,
                    graph.arcs(),
                    1e3 * seconds
                );
            }
        }
    }
    Ok(())
}
