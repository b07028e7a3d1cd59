//! One side of the transactions, buyers or items: arrivals, and the owners of a day's stubs.

use crate::random::{PowerLaw, Stream, derive};
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::splitmix::mix;
use std::ops::Range;

/// Buyers, or items. Members are numbered from 0 in the order of their arrival.
///
/// The stubs of a day are numbered, too: first one stub for each newcomer, then the stubs that are
/// assigned by weight. Lay the weights of all members end to end on a line. From a random offset of the
/// day on, every `gap`-th place of the line is a stub, owned by the member whose weight covers the place.
pub(super) struct Population {
    days: Vec<Day>,
    weights: Weights,
}

/// The stubs of a population on a day.
struct Day {
    /// Members that arrive.
    newcomers: Range<u32>,
    /// All stubs, including those of newcomers.
    stubs: u64,
    gap: Divisor,
    offset: u64,
}

/// The size of a population and of its days, before stubs are assigned.
pub(super) struct PopulationShape<'a> {
    /// Name, which selects the random stream.
    pub(super) name: &'a str,
    /// Members at the end of each day.
    pub(super) arrived: &'a [u32],
    /// Stubs of each day: at least one for each newcomer.
    pub(super) stubs: &'a [u64],
    /// Members at the end of all days that a graph can have: the weights depend on them.
    pub(super) at_last: u32,
    /// Exponent of the weights.
    pub(super) exponent: f64,
}

impl Population {
    pub(super) fn draw(shape: &PopulationShape<'_>, seed: u64) -> Result<Population, OutOfMemory> {
        let seed = derive(seed, shape.name);
        let weights = Weights::draw(shape.exponent, shape.at_last, seed)?;
        let mut before = 0;
        let day = |(day, (&arrived, &stubs)): (usize, (&u32, &u64))| {
            let newcomers = std::mem::replace(&mut before, arrived)..arrived;
            let shared = stubs - newcomers.len() as u64;
            // A member has a weight of 64 at least and, on no day, more than a few stubs on
            // average.
            let gap = weights.before(u64::from(arrived)) / shared.max(1);
            let offset = mix(seed ^ mix(day as u64)) % gap.max(1);
            Day { newcomers, stubs, gap: Divisor::new(gap.max(1)), offset }
        };
        let days = shape.arrived.iter().zip(shape.stubs).enumerate().map(day).collect();
        Ok(Population { days, weights })
    }

    /// Returns the number of members.
    pub(super) fn len(&self) -> u32 {
        self.days.last().map_or(0, |day| day.newcomers.end)
    }

    /// Returns the number of days.
    pub(super) fn days(&self) -> usize {
        self.days.len()
    }

    /// Returns the number of stubs of a day.
    pub(super) fn stubs(&self, day: usize) -> u64 {
        self.days[day].stubs
    }

    /// Returns the day on which a member arrives.
    pub(super) fn arrival(&self, member: u32) -> usize {
        self.days.partition_point(|day| day.newcomers.end <= member)
    }

    /// Returns the stub of a newcomer on the day of its arrival.
    #[inline]
    pub(super) fn newcomers_stub(&self, day: usize, member: u32) -> u64 {
        u64::from(member - self.days[day].newcomers.start)
    }

    /// Returns the sum of the weights of the members before this one.
    #[inline]
    pub(super) fn weight_before(&self, member: u32) -> u64 {
        self.weights.before(u64::from(member))
    }

    /// Returns the first stub assigned by weight to the member that has `weight_before` before it. The member's
    /// stubs end where those of the next member begin; a member that has not arrived has none.
    #[inline]
    pub(super) fn first(&self, day: usize, weight_before: u64) -> u64 {
        let day = &self.days[day];
        let newcomers = day.newcomers.len() as u64;
        let places = day.gap.divide(weight_before + (day.gap.by - 1 - day.offset)).0;
        (newcomers + places).min(day.stubs)
    }

    /// Returns the owner of a stub.
    #[inline]
    pub(super) fn owner(&self, day: usize, stub: u64) -> u32 {
        let day = &self.days[day];
        let newcomers = day.newcomers.len() as u64;
        match stub.checked_sub(newcomers) {
            None => day.newcomers.start + stub as u32,
            Some(place) => self.weights.at(day.offset + place * day.gap.by) as u32,
        }
    }

    /// Returns the number of stubs of the members before this one, over all days.
    pub(super) fn stubs_before(&self, member: u32) -> u64 {
        let weight = self.weight_before(member);
        let shared = |day: usize| self.first(day, weight) - self.days[day].newcomers.len() as u64;
        let newcomers = u64::from(member.min(self.len()));
        newcomers + (0..self.days()).map(shared).sum::<u64>()
    }
}

/// The weights of members: those of one block, repeated without end.
struct Weights {
    /// The sum of the weights before each member of a block, and at last of all. Exponents from 1.8
    /// on and 2¹⁶ members keep it below 2³².
    before: Vec<u32>,
    block: Divisor,
    /// 2^bits members in a block.
    bits: u32,
    /// For every 2^step-th place of a block, the member there.
    guide: Vec<u16>,
    step: u32,
}

/// The smallest weight: large enough that rounding to integers does not change the distribution.
const LEAST: f64 = 64.0;
/// The largest weight, in least ones: sums over a graph stay below 2⁶³.
const SPREAD: f64 = (1 << 20) as f64;
/// 2^bits weights at most: their sums stay in a core's cache.
const MOST_BITS: u32 = 16;
/// Least repetitions of each weight in a small population: otherwise one hub would be half of the graph.
const TURNS: u32 = 4;

impl Weights {
    fn draw(exponent: f64, members: u32, seed: u64) -> Result<Weights, OutOfMemory> {
        let bits = (members / TURNS).max(1).ilog2().min(MOST_BITS);
        let count = 1usize << bits;
        let spread = libm::pow(count as f64, 1.0 / (exponent - 1.0)).min(SPREAD);
        let law = PowerLaw::new(LEAST, LEAST * spread, exponent);
        let quantile = |rank: usize| law.quantile((rank as f64 + 0.5) / count as f64) as u32;
        let mut weights: Vec<u32> = memory::collected((0..count).map(quantile))?;
        Stream::new(seed, "weights", 0).shuffle(&mut weights);

        let mut before = memory::with_room(count + 1)?;
        let mut sum = 0u32;
        for weight in weights {
            before.push(sum);
            sum += weight;
        }
        before.push(sum);
        let step = (sum / (2 * count as u32)).max(1).ilog2();
        let cells = (sum >> step) as usize + 1;
        let mut guide = memory::with_room(cells)?;
        let mut member = 0;
        for cell in 0..cells as u32 {
            while member + 1 < count && before[member + 1] <= cell << step {
                member += 1;
            }
            guide.push(member as u16);
        }
        Ok(Weights { before, block: Divisor::new(u64::from(sum)), bits, guide, step })
    }

    /// Returns the sum of the weights of the members before this one.
    #[inline]
    fn before(&self, member: u64) -> u64 {
        let mask = (1 << self.bits) - 1;
        (member >> self.bits) * self.block.by + u64::from(self.before[(member & mask) as usize])
    }

    /// Returns the member whose weight covers a place.
    #[inline]
    fn at(&self, place: u64) -> u64 {
        let (block, rest) = self.block.divide(place);
        let mut member = self.guide[(rest >> self.step) as usize] as usize;
        while u64::from(self.before[member + 1]) <= rest {
            member += 1;
        }
        (block << self.bits) + member as u64
    }
}

/// Division by a fixed number, by a multiplication.
///
/// The quotient of n, below 2⁶³, is the high half of the product of n and the reciprocal, or one more
/// if the remainder is `by` or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Divisor {
    by: u64,
    /// (2⁶⁴ − 1) / `by`, rounded down.
    reciprocal: u64,
}

impl Divisor {
    fn new(by: u64) -> Divisor {
        Divisor { by, reciprocal: u64::MAX / by }
    }

    /// Returns quotient and remainder of a number below 2⁶³.
    #[inline]
    fn divide(self, number: u64) -> (u64, u64) {
        // The reciprocal is short by less than 1 / 2⁶³ of `number`: the quotient by 1 at most.
        let short = ((u128::from(number) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = number - short * self.by;
        if rest >= self.by { (short + 1, rest - self.by) } else { (short, rest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_is_exact() {
        let mut stream = Stream::new(3, "division", 0);
        for by in [1, 2, 3, 7, 64, 1000, 4_294_967_295, 1 << 40, (1 << 62) + 1] {
            let divisor = Divisor::new(by);
            let many = (0..10_000).map(|_| stream.bits() >> (1 + stream.below(63)));
            let edges = [0, 1, by - 1, by, by + 1, (1 << 63) - 1];
            for number in many.chain(edges) {
                assert_eq!(divisor.divide(number), (number / by, number % by), "{number} / {by}");
            }
        }
    }

    /// Each stub belongs to the member it is assigned to, and all stubs are assigned.
    #[test]
    fn stubs_and_owners_agree() {
        for (arrived, stubs) in [
            (&[1u32, 1, 2][..], &[1u64, 0, 4][..]),
            (&[1000, 1500, 1500, 2600], &[1900, 1100, 7, 5000]),
            (&[70_000, 70_001], &[70_000, 200_000]),
        ] {
            let at_last = *arrived.last().unwrap();
            let shape = PopulationShape { name: "test", arrived, stubs, at_last, exponent: 2.2 };
            let population = Population::draw(&shape, 5).unwrap();
            let mut owned = 0;
            for day in 0..arrived.len() {
                let mut next = population.days[day].newcomers.len() as u64;
                for member in 0..arrived[day] {
                    let end = population.first(day, population.weight_before(member + 1));
                    assert!((next..end).all(|stub| population.owner(day, stub) == member));
                    next = end;
                }
                assert_eq!(next, stubs[day], "day {day}");
                for member in population.days[day].newcomers.clone() {
                    assert_eq!(population.arrival(member), day);
                    assert_eq!(
                        population.owner(day, population.newcomers_stub(day, member)),
                        member
                    );
                }
                owned += next;
            }
            assert_eq!(population.stubs_before(at_last), owned);
            assert_eq!(population.stubs_before(0), 0);
        }
    }
}
