//! The staging area: the part of a device's memory that lists come to during a run.
//!
//! It has a region for each phase that is prefetched together, and one more. `fetched` has each
//! vertex's place in the area.

use super::super::device_run::DeviceRun;
use ripplet_gpu::{Device, DeviceError, Stream};
use ripplet_graph::VertexId;
use std::ops::Range;

/// Returns the own vertices of a part, as parts consist of whole blocks and shares may not.
pub fn within(part: &Range<VertexId>, own: &Range<VertexId>) -> Range<VertexId> {
    part.start.clamp(own.start, own.end)..part.end.clamp(own.start, own.end)
}

/// Empties the staging area.
pub fn clear<D: Device>(run: &DeviceRun<'_, D>) -> Result<(), DeviceError> {
    let Some(places) = run.layout.lists.streamed() else { return Ok(()) };
    run.memory.fill(&run.layout.lists.stage_use, 0)?;
    places.fetched.iter().try_for_each(|place| run.memory.fill(place, u8::MAX))
}

/// Marks the lists of a range as not fetched.
pub fn forget<D: Device>(
    run: &DeviceRun<'_, D>,
    stream: Stream,
    vertices: &Range<VertexId>,
) -> Result<(), DeviceError> {
    let Some(places) = run.layout.lists.streamed() else { return Ok(()) };
    let (start, length) = (4 * u64::from(vertices.start), 4 * vertices.len() as u64);
    let (device, memory) = (run.device(), &run.memory.memory);
    places
        .fetched
        .iter()
        .filter(|place| !place.is_empty())
        .try_for_each(|place| device.fill_on(stream, memory, place.start + start, length, u8::MAX))
}

/// Makes the region of phase number `current` the one that lists are fetched to.
pub fn use_region_of<D: Device>(run: &mut DeviceRun<'_, D>, current: u64) {
    let (base, region) = (run.memory.base(), run.layout.lists.region_of(current));
    run.layout.lists.at_region(&mut run.arguments.state.streamed, base, region);
}

/// Empties the region of phase number `current`: its lists are marked as not fetched.
pub fn forget_region_of<D: Device>(
    run: &mut DeviceRun<'_, D>,
    current: u32,
) -> Result<(), DeviceError> {
    let region = run.layout.lists.region_of(current.into());
    use_region_of(run, region);
    run.launches.forget(&run.arguments.run())?;
    run.memory.fill(&run.layout.lists.use_of(region), 0)
}
