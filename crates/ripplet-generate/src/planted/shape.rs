//! Communities and degrees of all vertices, drawn before any edge.

use super::Planted;
use crate::random::{PowerLaw, Stream};
use crate::{GenerateError, VERTICES_PER_STREAM};
use rayon::prelude::*;

/// The degree that a slot still has to spend, inside and outside of its community.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Degree {
    pub(super) inside: u32,
    pub(super) outside: u32,
}

/// Communities as ranges of slots, and the degrees of the slots. A slot is a vertex before ids are
/// permuted.
pub(super) struct Shape {
    /// Begin of each community, and after them the number of vertices.
    pub(super) starts: Vec<u32>,
    pub(super) degrees: Vec<Degree>,
}

impl Shape {
    pub(super) fn draw(planted: &Planted, vertices: u32) -> Result<Shape, GenerateError> {
        let starts = community_starts(planted, vertices);
        let drawn = draw_degrees(planted, vertices)?;
        let degrees = assign(planted, &starts, &drawn);
        let mut shape = Shape { starts, degrees };
        shape.split_degrees(planted);
        Ok(shape)
    }

    pub(super) fn community_of_slots(&self) -> Vec<u32> {
        let mut communities = Vec::with_capacity(self.degrees.len());
        for (community, bounds) in self.starts.windows(2).enumerate() {
            communities.resize(bounds[1] as usize, community as u32);
        }
        communities
    }

    /// Parts each slot's degree (all `outside` so far) into inside and outside, with an even sum
    /// inside each community.
    fn split_degrees(&mut self, planted: &Planted) {
        let mut rest = &mut self.degrees[..];
        let mut communities = Vec::with_capacity(self.starts.len());
        for bounds in self.starts.windows(2) {
            let size = (bounds[1] - bounds[0]) as usize;
            communities.push(rest.split_off_mut(..size).expect("starts end with the slots"));
        }
        communities.into_par_iter().enumerate().for_each(|(community, slots)| {
            let mut stream = Stream::new(planted.seed, "planted split", community as u64);
            let most = slots.len() as u32 - 1;
            let mut sum = 0u64;
            for slot in slots.iter_mut() {
                let exact = f64::from(slot.outside) * (1.0 - planted.mixing);
                let rounded = exact as u32 + u32::from(stream.chance(exact.fract()));
                slot.inside = rounded.min(most).min(slot.outside);
                slot.outside -= slot.inside;
                sum += u64::from(slot.inside);
            }
            if sum % 2 == 1 {
                let odd = slots.iter_mut().find(|slot| slot.inside > 0);
                let odd = odd.expect("an odd sum has a part above 0");
                (odd.inside, odd.outside) = (odd.inside - 1, odd.outside + 1);
            }
        });
    }
}

/// Draws sizes by their power law until all vertices are assigned. A remainder that is too small for a
/// community is distributed over the others.
fn community_starts(planted: &Planted, vertices: u32) -> Vec<u32> {
    let (min, max) = (planted.min_size, planted.max_size);
    let law = PowerLaw::new(f64::from(min.max(1)), f64::from(max) + 1.0, planted.size_exponent);
    let mut stream = Stream::new(planted.seed, "planted sizes", 0);
    let (mut sizes, mut left) = (Vec::new(), vertices);
    while left > 0 && (left >= min || sizes.is_empty()) {
        let size = (law.quantile(stream.unit()) as u32).clamp(min, max).min(left);
        sizes.push(size);
        left -= size;
    }
    let communities = sizes.len();
    for extra in 0..left as usize {
        sizes[extra % communities] += 1;
    }
    let mut starts = vec![0];
    starts.extend(sizes.iter().scan(0, |end, size| {
        *end += size;
        Some(*end)
    }));
    starts
}

/// Draws degrees by their power law that sum up to exactly twice the number of edges.
fn draw_degrees(planted: &Planted, vertices: u32) -> Result<Vec<u32>, GenerateError> {
    let ends = 2 * planted.edges;
    if ends == 0 {
        return Ok(vec![0; vertices as usize]);
    }
    let (average, high) = (ends as f64 / f64::from(vertices), f64::from(planted.max_degree));
    let law = PowerLaw::with_mean(average, high, planted.degree_exponent).ok_or_else(|| {
        let expected = format!(
            "at least the average degree, {average:.1}, and not so large that this average is out \
             of reach for the exponent {}",
            planted.degree_exponent
        );
        GenerateError::parameter("max_degree", planted.max_degree, expected)
    })?;
    // The shares of all ends in fixed point: sums of integers do not depend on the parts.
    let mut shares = vec![0u64; vertices as usize];
    shares.par_chunks_mut(VERTICES_PER_STREAM).enumerate().for_each(|(part, shares)| {
        let mut stream = Stream::new(planted.seed, "planted degrees", part as u64);
        shares.fill_with(|| (law.quantile(stream.unit()) * f64::from(1u32 << 20)) as u64 + 1);
    });
    let total: u64 = shares.par_iter().sum();
    let mut sum = 0u64;
    let mut up_to = 0u64;
    let degrees = shares.into_iter().map(|share| {
        sum += share;
        let next = (u128::from(sum) * u128::from(ends) / u128::from(total)) as u64;
        (next - std::mem::replace(&mut up_to, next)) as u32
    });
    Ok(degrees.collect())
}

/// Gives each slot one of the degrees (as `outside`): from the highest degree down, a random slot
/// among the communities that are large enough for it.
fn assign(planted: &Planted, starts: &[u32], drawn: &[u32]) -> Vec<Degree> {
    let mut vertices_with = vec![0u32; drawn.iter().max().map_or(0, |&d| d as usize) + 1];
    for &degree in drawn {
        vertices_with[degree as usize] += 1;
    }
    let size = |community: u32| starts[community as usize + 1] - starts[community as usize];
    let mut closed: Vec<u32> = (0..starts.len() as u32 - 1).collect();
    closed.sort_by_key(|&community| size(community));

    let mut stream = Stream::new(planted.seed, "planted assign", 0);
    let mut open: Vec<u32> = Vec::with_capacity(drawn.len());
    let mut degrees = vec![Degree::default(); drawn.len()];
    for (degree, &count) in vertices_with.iter().enumerate().rev() {
        let needed = ROOM * (1.0 - planted.mixing) * degree as f64;
        let fits = |community: u32| f64::from(size(community) - 1) >= needed;
        while let Some(community) = closed.pop_if(|&mut community| fits(community)) {
            open.extend(starts[community as usize]..starts[community as usize + 1]);
        }
        for _ in 0..count {
            if open.is_empty() {
                // Too few large communities: take the largest that is left.
                let community = closed.pop().expect("there are as many slots as degrees");
                open.extend(starts[community as usize]..starts[community as usize + 1]);
            }
            let slot = open.swap_remove(stream.below(open.len() as u64) as usize);
            degrees[slot as usize].outside = degree as u32;
        }
    }
    degrees
}

/// Members that a community should have for each neighbour that a vertex has inside. A hub joined
/// to most of its community leaves its other members no partners: at 1.25, one edge in a hundred
/// finds none and goes outside; at 2, one in a thousand.
const ROOM: f64 = 2.0;
