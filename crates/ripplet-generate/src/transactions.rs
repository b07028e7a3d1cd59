//! Transactions between buyers and items over days, with rings of fraud.
//!
//! ```text
//! day 1   buyers  0 0 1 2 2 2 3     a transaction joins a stub of a buyer to a stub of an item;
//!                 ╲ │ ╳ │ ╱ ╲ │     the permutation of the day, whose inverse is known, pairs stubs
//!         items   4 4 4 4 5 5 6
//! day 2   the same, with new buyers and items numbered after the others
//! ```
//!
//! **Sizes.** Vertices and transactions of the first `days` days are those of Table 8 of Ye et al.
//! (*Large-scale Graph Label Propagation on GPUs*, IEEE TKDE 2023), straight lines between its
//! columns, times `scale`: 460 M and 1.7 G for 10 days, 1010 M and 11.6 G for 100. An edge is a
//! pair with at least one transaction: edges are a little fewer than transactions, and noticeably fewer in small
//! graphs, if pairs of hubs repeat.
//!
//! **Days.** No vertex leaves. On the day of its arrival, a vertex has one transaction. All other stubs of
//! a day are assigned to the vertices present, by weights that follow power laws (`buyer_exponent`,
//! `item_exponent`): an active vertex is active every day. Weights repeat every 2¹⁶ vertices, in random
//! order, which bounds the largest. A graph of fewer days is the beginning of one of more days, except for
//! the numbers of its items.
//!
//! **Rings.** In each stretch of buyers, and of the items that arrived with them, some vertices form a ring.
//! In the ten days after all of them have arrived, each of its 8 to 24 buyers buys each of its 3 to 6 items
//! with probability 0.3 per day. Their other transactions, drawn as those of all vertices, hide the ring.
//!
//! **Independent lists.** The list of a vertex is computed from its number alone: the stubs of a vertex and
//! the owner of a stub take constant time, and no edge list exists. Memory: at most 1.5 MB of tables, and the
//! shard that is drawn. Time for a vertex: proportional to its arcs and the days since its arrival.
//!
//! **Ids.** Buyers come first, then items, each by their arrival. The graph is undirected and has
//! no loops; an edge's weight is the number of its transactions.

mod graph;
mod population;
mod rings;
mod sales;

pub use graph::TransactionGraph;
pub use sales::{Sales, SalesPart};

use crate::GenerateError;
use ripplet_graph::MAX_VERTICES;

/// Parameters of a graph of transactions.
///
/// ```
/// use ripplet_generate::Transactions;
///
/// let transactions = Transactions::new(10, 1e-5).prepare()?;
/// let graph = transactions.graph()?;
/// assert_eq!((graph.vertices(), transactions.buyers()), (4600, 2760));
/// # Ok::<(), ripplet_generate::GenerateError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Transactions {
    /// Number of days, from 1 to 100.
    pub days: u32,
    /// The share of the paper's sizes: 1 for as many vertices and transactions.
    pub scale: f64,
    /// Exponent of the power law of purchases per buyer, from 1.8 to 10; by default 2.5.
    pub buyer_exponent: f64,
    /// Exponent of the power law of purchases per item; by default 2.2.
    pub item_exponent: f64,
    /// The share of buyers that are in a ring, from 0 to 0.5; by default 0.01.
    pub ring_share: f64,
    /// Whether the graph has weights, 4 bytes per arc: the number of an edge's transactions.
    pub weighted: bool,
    /// Seed of the random streams.
    pub seed: u64,
}

/// The last days of the paper's table.
const MOST_DAYS: u32 = 100;
/// Smallest scale: the first day has 209 vertices.
const LEAST_SCALE: f64 = 1e-6;
/// Millions of vertices of 10, 20, … 100 days, in the paper's Table 8.
const VERTICES: [f64; 10] = [460., 630., 700., 770., 820., 880., 920., 970., 990., 1010.];
/// Edges of the same days, in units of 10^9.
const EDGES: [f64; 10] = [1.7, 3.0, 4.3, 5.5, 6.7, 7.9, 9.0, 10.1, 11.0, 11.6];
/// Vertices of the first days grow by this power of the days, as from the 10th to the 100th.
const GROWTH: f64 = 0.342;
/// Share of vertices that are buyers. The paper does not give it.
const BUYERS: f64 = 0.6;

impl Transactions {
    /// Returns the parameters for `days` days at a share of the paper's sizes, with the defaults noted at the fields.
    pub fn new(days: u32, scale: f64) -> Transactions {
        Transactions {
            days,
            scale,
            buyer_exponent: 2.5,
            item_exponent: 2.2,
            ring_share: 0.01,
            weighted: true,
            seed: 1,
        }
    }

    /// Returns the number of vertices, and of transactions without those of the rings.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn size(&self) -> Result<(u64, u64), GenerateError> {
        self.check()?;
        let [buyers, items] = self.arrived(self.days);
        Ok((u64::from(buyers) + u64::from(items), self.sold(self.days)))
    }

    /// Returns the numbers of buyers and items at the end of a day.
    fn arrived(&self, day: u32) -> [u32; 2] {
        let all = match day {
            0..10 => VERTICES[0] * libm::pow(f64::from(day) / 10.0, GROWTH),
            _ => between(&VERTICES, day),
        };
        let all = all * 1e6 * self.scale;
        // Casts saturate; `check` has refused what does not fit.
        let buyers = libm::round(all * BUYERS) as u32;
        [buyers, libm::round(all) as u32 - buyers]
    }

    /// Returns the number of transactions until the end of a day.
    fn sold(&self, day: u32) -> u64 {
        let all = match day {
            0..10 => EDGES[0] * f64::from(day) / 10.0,
            _ => between(&EDGES, day),
        };
        libm::round(all * 1e9 * self.scale) as u64
    }

    fn check(&self) -> Result<(), GenerateError> {
        if !(1..=MOST_DAYS).contains(&self.days) {
            return Err(GenerateError::parameter(
                "days",
                self.days,
                format!("from 1 to {MOST_DAYS}"),
            ));
        }
        if !(self.scale >= LEAST_SCALE && self.scale.is_finite()) {
            let expected = format!("{LEAST_SCALE} or more");
            return Err(GenerateError::parameter("scale", self.scale, expected));
        }
        let vertices = VERTICES[9] * 1e6 * self.scale;
        if vertices > f64::from(MAX_VERTICES) {
            return Err(GenerateError::TooManyVertices { vertices: vertices as u64 });
        }
        for (name, exponent) in
            [("buyer_exponent", self.buyer_exponent), ("item_exponent", self.item_exponent)]
        {
            if !(1.8..=10.0).contains(&exponent) {
                return Err(GenerateError::parameter(name, exponent, "from 1.8 to 10"));
            }
        }
        if !(0.0..=0.5).contains(&self.ring_share) {
            return Err(GenerateError::parameter("ring_share", self.ring_share, "from 0 to 0.5"));
        }
        Ok(())
    }
}

/// Interpolates linearly between the values of 10, 20, … 100 days.
fn between(table: &[f64; 10], day: u32) -> f64 {
    let (ten, rest) = (day / 10, f64::from(day % 10) / 10.0);
    let here = table[ten as usize - 1];
    let next = table.get(ten as usize).copied().unwrap_or(here);
    here + (next - here) * rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on_any_pool;
    use ripplet_graph::{Graph, MAX_SHARD_ARCS};
    use std::collections::HashMap;

    fn graph(of: &Transactions) -> Graph {
        of.prepare().unwrap().graph().unwrap()
    }

    fn list(graph: &Graph, vertex: u32) -> (Vec<u32>, Vec<u32>) {
        let shard = graph.shard_of(vertex);
        let local = (vertex - shard.vertices().start) as usize;
        (shard.out().of(local).to_vec(), shard.out().weights_of(local).unwrap().to_vec())
    }

    /// Returns the number of transactions of a graph, by its weights.
    fn count_transactions(graph: &Graph) -> u64 {
        let weights = graph.shards().iter().flat_map(|shard| shard.out().weights().unwrap());
        weights.map(|&weight| u64::from(weight)).sum::<u64>() / 2
    }

    #[test]
    fn lists_agree_from_both_ends_on_any_pool() {
        for days in [1, 10, 37, 100] {
            let of = Transactions { seed: u64::from(days), ..Transactions::new(days, 1e-5) };
            let graph = on_any_pool(|| graph(&of));
            let buyers = of.prepare().unwrap().buyers();
            for buyer in 0..buyers {
                let (items, times) = list(&graph, buyer);
                assert!(!items.is_empty() && items.is_sorted_by(|a, b| a < b), "{buyer}");
                for (&item, &times) in items.iter().zip(&times) {
                    assert!(item >= buyers && times > 0, "{buyer} buys {item}");
                    let (back, again) = list(&graph, item);
                    let at = back.binary_search(&buyer).expect("the item knows its buyer");
                    assert_eq!(again[at], times);
                }
            }
            let of_items: usize = (buyers..graph.vertices()).map(|v| list(&graph, v).0.len()).sum();
            assert_eq!(graph.arcs(), 2 * of_items as u64, "{days} days");
            assert_ne!(graph, self::graph(&Transactions { seed: 0, ..of }));
        }
    }

    #[test]
    fn shards_are_parts_of_the_same_graph() {
        let of = Transactions::new(30, 2e-5);
        let (transactions, whole) = (of.prepare().unwrap(), graph(&of));
        for arcs in [1, 1000, 12_345] {
            let mut next = 0;
            for range in transactions.shard_ranges(arcs).unwrap() {
                assert_eq!(range.start, next);
                next = range.end;
                let shard = transactions.shard(range.clone()).unwrap();
                let out = shard.out();
                let fits = out.neighbors().len() as u64 <= arcs || range.len() == 1;
                assert!(fits, "{} arcs in {range:?}", out.neighbors().len());
                for (local, vertex) in range.enumerate() {
                    let (neighbors, weights) = list(&whole, vertex);
                    assert_eq!(out.of(local), neighbors, "vertex {vertex}");
                    assert_eq!(out.weights_of(local).unwrap(), weights, "vertex {vertex}");
                }
            }
            assert_eq!(next, transactions.vertices());
        }
        let empty = transactions.shard(5..5).unwrap();
        assert_eq!((empty.out().neighbors().len(), empty.out().offsets()), (0, &[0][..]));
        let plain = Transactions { weighted: false, ..of }.prepare().unwrap().graph().unwrap();
        assert!(!plain.is_weighted());
        assert_eq!(plain.shards()[0].out().neighbors(), whole.shards()[0].out().neighbors());
        let beyond = transactions.vertices() - 1..transactions.vertices() + 1;
        assert!(matches!(transactions.shard(beyond), Err(GenerateError::Parameter { .. })));
    }

    /// Table 8: 460 M vertices and 1.7 G edges of 10 days, 1010 M and 11.6 G of 100.
    #[test]
    fn sizes_are_in_the_papers_proportions() {
        for (days, vertices, edges) in
            [(10, 46_000, 170_000), (20, 63_000, 300_000), (100, 101_000, 1_160_000)]
        {
            let of = Transactions::new(days, 1e-4);
            let graph = graph(&of);
            assert_eq!(of.size().unwrap(), (u64::from(vertices), edges));
            assert_eq!(graph.vertices(), vertices);
            // Transactions of rings, and those that round the first day up.
            let more = count_transactions(&graph) as f64 / edges as f64 - 1.0;
            assert!((0.0..0.04).contains(&more), "{days} days: {more} more transactions");
            let fewer = 1.0 - graph.edges() as f64 / count_transactions(&graph) as f64;
            assert!((0.0..0.15).contains(&fewer), "{days} days: {fewer} fewer edges");
        }
        assert_eq!(Transactions::new(10, 1.0).size(), Ok((460_000_000, 1_700_000_000)));
        assert_eq!(Transactions::new(100, 1.0).size(), Ok((1_010_000_000, 11_600_000_000)));
    }

    /// Lists come from both ends' stubs, rows from the buyers' alone.
    #[test]
    fn the_sales_add_up_to_the_graph() {
        let transactions = Transactions::new(14, 1e-5).prepare().unwrap();
        let graph = transactions.graph().unwrap();
        let mut times: HashMap<(u32, u32), u32> = HashMap::new();
        let mut prices: HashMap<u32, f64> = HashMap::new();
        let mut last = 1;
        for part in transactions.sales_parts() {
            assert!((last..=last + 1).contains(&part.day));
            last = part.day;
            let sales = on_any_pool(|| transactions.sales(&part).unwrap());
            let columns = (sales.buyers.len(), sales.items.len());
            assert_eq!(columns, (sales.amounts.len(), sales.amounts.len()));
            for (row, &item) in sales.items.iter().enumerate() {
                *times.entry((sales.buyers[row], item)).or_default() += 1;
                let price = *prices.entry(item).or_insert(sales.amounts[row]);
                assert!(price == sales.amounts[row] && (1.0..=10_000.0).contains(&price));
            }
        }
        assert_eq!((last, times.len() as u64), (14, graph.edges()));
        for (&(buyer, item), &times) in &times {
            let (items, weights) = list(&graph, buyer);
            assert_eq!(weights[items.binary_search(&item).unwrap()], times);
        }
    }

    #[test]
    fn a_longer_graph_begins_with_the_shorter() {
        let sales = |days| {
            let transactions = Transactions::new(days, 1e-5).prepare().unwrap();
            let mut of_days = vec![HashMap::new(); days as usize];
            for part in transactions.sales_parts() {
                let sales = transactions.sales(&part).unwrap();
                for (&buyer, &item) in sales.buyers.iter().zip(&sales.items) {
                    *of_days[part.day as usize - 1]
                        .entry((buyer, item - transactions.buyers()))
                        .or_insert(0) += 1;
                }
            }
            of_days
        };
        assert!(sales(25)[..12] == sales(12)[..]);
    }

    /// Of a power law with exponent γ, a share proportional to x^(1 − γ) lies above x.
    #[test]
    fn tails_follow_the_exponents() {
        for (buyer_exponent, item_exponent) in [(2.5, 2.2), (3.0, 2.0)] {
            let of = Transactions { buyer_exponent, item_exponent, ..Transactions::new(100, 2e-4) };
            let of = Transactions { ring_share: 0.0, ..of };
            let (transactions, graph) = (of.prepare().unwrap(), graph(&of));
            let buyers = transactions.buyers();
            for (range, exponent) in
                [(0..buyers, buyer_exponent), (buyers..graph.vertices(), item_exponent)]
            {
                // Vertices that were present on most days: the average of the others is lower.
                let early = range.start..range.start + (range.end - range.start) / 5;
                let mut times: Vec<u32> =
                    early.map(|vertex| list(&graph, vertex).1.iter().sum()).collect();
                times.sort_unstable_by(|a, b| b.cmp(a));
                let at = |share: f64| f64::from(times[(share * times.len() as f64) as usize]);
                let (rare, common) = (0.002f64, 0.1);
                let slope = (common / rare).ln() / (at(rare) / at(common)).ln();
                assert!((slope - (exponent - 1.0)).abs() < 0.15, "{exponent}: {slope}");
            }
        }
    }

    #[test]
    fn rings_are_dense_and_hidden_among_others() {
        let of = Transactions { ring_share: 0.05, ..Transactions::new(40, 1e-4) };
        let (transactions, graph) = (of.prepare().unwrap(), graph(&of));
        let buyers = transactions.buyers();
        let (mut members, mut pairs, mut edges, mut times, mut outside) = (0, 0, 0, 0, 0u32);
        for ring in 0..transactions.rings() {
            let ring: Vec<u32> = transactions.ring(ring).collect();
            let split = ring.partition_point(|&vertex| vertex < buyers);
            let (own, items) = ring.split_at(split);
            assert!((8..=24).contains(&own.len()) && (3..=6).contains(&items.len()), "{ring:?}");
            members += own.len();
            pairs += own.len() * items.len();
            for &buyer in own {
                for (item, weight) in std::iter::zip(list(&graph, buyer).0, list(&graph, buyer).1) {
                    match items.contains(&item) {
                        true => (edges, times) = (edges + 1, times + weight),
                        false => outside += weight,
                    }
                }
            }
        }
        let share = members as f64 / f64::from(buyers);
        assert!((share - 0.05).abs() < 0.005, "{share} of the buyers");
        // Ten days with a probability of 0.3; the last rings have begun a moment ago.
        let density = f64::from(edges) / pairs as f64;
        assert!((0.85..1.0).contains(&density), "{density} of the pairs");
        let mean = f64::from(times) / f64::from(edges);
        assert!((2.5..3.5).contains(&mean), "{mean} transactions a pair");
        assert!(outside > times / 10, "{outside} others beside {times}");
        assert_eq!(transactions.ring(transactions.rings()).count(), 0);
        let known = |share| {
            (0..transactions.rings()).map(|r| transactions.known(r, share).count()).sum::<usize>()
        };
        assert_eq!((known(0.0), known(1.0)), (0, members));
        assert!((known(0.2) as f64 / members as f64 - 0.2).abs() < 0.05, "{}", known(0.2));
        let honest = Transactions { ring_share: 0.0, ..of }.prepare().unwrap();
        assert_eq!(honest.rings(), 0);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let good = Transactions::new(10, 1e-5);
        for (bad, parameter) in [
            (Transactions { days: 0, ..good.clone() }, "days is 0"),
            (Transactions { days: 101, ..good.clone() }, "days is 101"),
            (Transactions { scale: 0.0, ..good.clone() }, "scale is 0"),
            (Transactions { scale: -1.0, ..good.clone() }, "scale is -1"),
            (Transactions { scale: f64::NAN, ..good.clone() }, "scale is NaN"),
            (Transactions { scale: f64::INFINITY, ..good.clone() }, "scale is inf"),
            (Transactions { buyer_exponent: 1.0, ..good.clone() }, "buyer_exponent is 1"),
            (Transactions { item_exponent: f64::NAN, ..good.clone() }, "item_exponent is NaN"),
            (Transactions { ring_share: 0.6, ..good.clone() }, "ring_share is 0.6"),
            (Transactions { ring_share: -0.1, ..good.clone() }, "ring_share is -0.1"),
            (Transactions { scale: 5.0, ..good.clone() }, "5050000000 vertices asked for"),
        ] {
            let message = bad.prepare().err().unwrap().to_string();
            assert!(message.starts_with(parameter), "{message}");
        }
    }

    #[test]
    fn extremes() {
        for (days, scale, exponent, ring_share) in
            [(1, 1e-6, 1.8, 0.5), (100, 1e-6, 10.0, 0.5), (2, 3e-6, 1.8, 0.0)]
        {
            let exponents = (exponent, exponent);
            let (buyer_exponent, item_exponent) = exponents;
            let of = Transactions::new(days, scale);
            let graph = graph(&Transactions { buyer_exponent, item_exponent, ring_share, ..of });
            assert!(count_transactions(&graph) >= u64::from(graph.vertices() / 2), "{days} days");
        }
        // The paper's own sizes, and more: some lists from anywhere.
        for (days, scale) in [(10, 1.0), (100, 1.0), (100, 4.2)] {
            let transactions = Transactions::new(days, scale).prepare().unwrap();
            let vertices = transactions.vertices();
            for first in [0, transactions.buyers() - 100, transactions.buyers(), vertices - 20] {
                let shard = transactions.shard(first..first + 20).unwrap();
                let out = shard.out();
                for local in 0..20 {
                    let vertex = first + local as u32;
                    for &other in out.of(local) {
                        let back = transactions.shard(other..other + 1).unwrap();
                        assert!(back.out().of(0).contains(&vertex), "{vertex}, {other}");
                    }
                }
            }
            let ranges = transactions.shard_ranges(MAX_SHARD_ARCS).unwrap();
            assert!(ranges.len() as f64 >= 2.0 * 1.7 * scale / 2.2, "{} shards", ranges.len());
        }
    }
}
