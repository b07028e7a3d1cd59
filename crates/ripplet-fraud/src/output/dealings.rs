//! What two entities dealt in a window, looked up in its days.

use super::Dealings;
use crate::Timestamp;
use crate::days::Run;
use ripplet_graph::VertexId;

/// Tells what was dealt between two vertices in some days, which ascend and are given with the instants where they
/// begin. `unit_value` is what the smallest unit of an amount is worth, as in
/// [`Sliding::new`](crate::window::Sliding::new).
///
/// A question takes two binary searches a day. The first and the last dealing are told to the day.
pub fn dealings_in<'a>(
    days: &[(Timestamp, &'a Run)],
    unit_value: f64,
) -> impl Fn(VertexId, VertexId) -> Option<Dealings> + Sync + use<'a> {
    let days = days.to_vec();
    move |source, target| {
        let (mut found, mut units) = (None::<Dealings>, None::<u64>);
        for &(day, run) in &days {
            let arcs = run.arcs_of(source);
            let Ok(place) = run.neighbors[arcs.clone()].binary_search(&target) else { continue };
            let arc = arcs.start + place;
            let count = u64::from(run.counts[arc]);
            if let Some(amount) = run.amounts.get(arc) {
                units = Some(units.unwrap_or(0).saturating_add(*amount));
            }
            let before =
                found.unwrap_or(Dealings { count: 0, amount: None, first: day, last: day });
            found = Some(Dealings { count: before.count + count, last: day, ..before });
        }
        let amount = units.map(|units| units as f64 * unit_value);
        found.map(|found| Dealings { amount, ..found })
    }
}
