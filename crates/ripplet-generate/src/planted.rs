//! A planted partition: communities whose sizes and whose vertices' degrees follow power laws.
//!
//! ```text
//! community sizes ─▶ degrees, high ones into communities that can hold them ─▶ each degree = inside + outside
//!   inside:  each community pairs its stubs, and mends pairs that are loops or there already
//!   outside: all stubs are paired; pairs within one community are torn and paired again
//! ```
//!
//! This is the model of Lancichinetti, Fortunato and Radicchi, built in time linear in the edges.
//! `mixing` is their μ: the share of a vertex's edges that leave its community. Ids are permuted,
//! so that they hold no information about communities.
//!
//! Memory: the table (8 bytes per edge), 16 bytes per vertex, and 4 bytes for each end of an edge
//! between communities. Time: linear. Reference: *Benchmark graphs for testing community
//! detection algorithms*, Physical Review E 78, 2008.

mod pairing;
mod shape;

use crate::permutation::Permutation;
use crate::random::derive;
use crate::{GenerateError, columns, table, vertex_count};
use rayon::prelude::*;
use ripplet_graph::{EdgeTable, VertexId};
use shape::Shape;

/// Parameters of a planted partition.
///
/// [`Planted::new`] chooses the rest for a size; each field may be changed afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Planted {
    /// Number of vertices.
    pub vertices: u64,
    /// Number of edges: the rows of the table. Self-loops do not occur, and duplicates only
    /// between communities, if two hubs are paired twice: a few in a thousand with 20,000 vertices,
    /// fewer in larger graphs.
    pub edges: u64,
    /// The share of edges that lead out of their community, from 0 to 1.
    pub mixing: f64,
    /// Exponent of the degrees' power law; by default 2, as in the paper.
    pub degree_exponent: f64,
    /// The largest degree (about: rounding may add a few); by default 15 times the average. The
    /// smallest degree follows from the average.
    pub max_degree: u32,
    /// Exponent of the community sizes' power law; by default 2.
    pub size_exponent: f64,
    /// The smallest community; by default 20, and never less than the average degree.
    pub min_size: u32,
    /// The largest community; by default 50 times the average degree.
    pub max_size: u32,
    /// Seed of the graph.
    pub seed: u64,
}

/// A planted partition: the graph's edges and the communities that were planted.
#[derive(Clone, Debug, PartialEq)]
pub struct PlantedGraph {
    /// The edges.
    pub edges: EdgeTable,
    /// The community of each vertex, numbered from 0.
    pub truth: Vec<u32>,
}

impl Planted {
    /// Returns the parameters for a size and mixing; the other fields have their defaults.
    pub fn new(vertices: u64, edges: u64, mixing: f64) -> Planted {
        let average = 2.0 * edges as f64 / vertices.max(1) as f64;
        let most = vertices.saturating_sub(1).min(u64::from(u32::MAX)) as u32;
        // Casts saturate: an absurd average is refused by `generate`, not here.
        let max_degree = ((15.0 * average).ceil() as u32).min(most);
        let whole = most.saturating_add(1);
        Planted {
            vertices,
            edges,
            mixing,
            degree_exponent: 2.0,
            max_degree,
            size_exponent: 2.0,
            min_size: (average.ceil() as u32).max(20).min(whole),
            max_size: ((50.0 * average).ceil() as u32).max(20).min(whole),
            seed: 1,
        }
    }

    /// Returns the edges and the planted communities.
    ///
    /// # Errors
    /// If a parameter is out of range, parameters contradict each other, or memory allocation fails.
    pub fn generate(&self) -> Result<PlantedGraph, GenerateError> {
        let vertices = vertex_count(self.vertices)?;
        self.check()?;
        let mut columns = columns(self.edges)?;
        let shape = Shape::draw(self, vertices)?;
        pairing::pair_stubs(self, &shape, &mut columns)?;

        let ids = Permutation::new(u64::from(vertices), derive(self.seed, "planted ids"));
        let id = |slot: u32| ids.of(u64::from(slot)) as VertexId;
        for column in &mut columns {
            column.par_iter_mut().for_each(|vertex| *vertex = id(*vertex));
        }
        let mut truth = vec![0; vertices as usize];
        for (slot, community) in shape.community_of_slots().into_iter().enumerate() {
            truth[id(slot as u32) as usize] = community;
        }
        Ok(PlantedGraph { edges: table(vertices, columns), truth })
    }

    fn check(&self) -> Result<(), GenerateError> {
        let room = self.vertices.saturating_mul(self.vertices.saturating_sub(1)) / 2;
        if self.edges > room {
            let (edges, vertices) = (self.edges, self.vertices);
            return Err(GenerateError::TooManyEdges { edges, vertices, room });
        }
        if !(0.0..=1.0).contains(&self.mixing) {
            return Err(GenerateError::parameter("mixing", self.mixing, "from 0 to 1"));
        }
        for (name, value) in
            [("degree_exponent", self.degree_exponent), ("size_exponent", self.size_exponent)]
        {
            if !(0.0..=10.0).contains(&value) {
                return Err(GenerateError::parameter(name, value, "from 0 to 10"));
            }
        }
        if u64::from(self.max_degree) > self.vertices.saturating_sub(1) {
            let expected = format!("below the number of vertices, {}", self.vertices);
            return Err(GenerateError::parameter("max_degree", self.max_degree, expected));
        }
        if self.vertices > 0 && (self.min_size == 0 || self.min_size > self.max_size) {
            let expected = format!("from 1 to max_size, {}", self.max_size);
            return Err(GenerateError::parameter("min_size", self.min_size, expected));
        }
        let inside = (1.0 - self.mixing) * f64::from(self.max_degree);
        if inside.ceil() >= f64::from(self.max_size) && u64::from(self.max_size) < self.vertices {
            let expected = format!(
                "above {inside:.0}, the neighbours that a vertex of degree {} has inside",
                self.max_degree
            );
            return Err(GenerateError::parameter("max_size", self.max_size, expected));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{degrees, on_any_pool};
    use std::collections::HashSet;

    /// Returns the share of distinct edges that lead out of their community.
    fn measured_mixing(graph: &PlantedGraph) -> f64 {
        let rows = graph.edges.sources().iter().zip(graph.edges.targets());
        let edges: HashSet<(u32, u32)> = rows.map(|(&s, &t)| (s.min(t), s.max(t))).collect();
        let truth = |v: u32| graph.truth[v as usize];
        let out = edges.iter().filter(|(s, t)| truth(*s) != truth(*t)).count();
        out as f64 / edges.len() as f64
    }

    #[test]
    fn edges_and_mixing_are_as_asked() {
        for mixing in [0.1, 0.3, 0.5, 0.8] {
            let planted = Planted::new(20_000, 200_000, mixing);
            let graph = on_any_pool(|| planted.generate().unwrap());
            assert_eq!(graph.edges.len(), 200_000);
            let measured = measured_mixing(&graph);
            assert!((measured - mixing).abs() < 0.01, "{mixing}: {measured}");
            let (sources, targets) = (graph.edges.sources(), graph.edges.targets());
            assert!(sources.iter().zip(targets).all(|(s, t)| s != t), "a loop");
            let distinct: HashSet<_> =
                sources.iter().zip(targets).map(|(s, t)| (s.min(t), s.max(t))).collect();
            assert!(distinct.len() > 199_000, "{} distinct edges", distinct.len());
            assert_ne!(graph, Planted { seed: 2, ..planted }.generate().unwrap());
        }
    }

    #[test]
    fn sizes_and_degrees_follow_their_laws() {
        let planted = Planted::new(100_000, 1_000_000, 0.3);
        let graph = planted.generate().unwrap();
        let mut degrees = degrees(&graph.edges);
        degrees.sort_unstable();
        let (least, most) = (degrees[0], degrees[degrees.len() - 1]);
        assert!((3..6).contains(&least) && (270..=305).contains(&most), "{least} to {most}");
        // On 4.75..300 with exponent 2 (mean 20), half lie below 2 / (1/4.75 + 1/300) = 9.35.
        assert!((9..=10).contains(&degrees[50_000]), "the median is {}", degrees[50_000]);

        let mut sizes = vec![0u32; *graph.truth.iter().max().unwrap() as usize + 1];
        graph.truth.iter().for_each(|&community| sizes[community as usize] += 1);
        let (min, max) = (*sizes.iter().min().unwrap(), *sizes.iter().max().unwrap());
        assert!((20..23).contains(&min) && (500..=1001).contains(&max), "{min} to {max}");
    }

    #[test]
    fn ids_do_not_tell_the_community() {
        let graph = Planted::new(10_000, 50_000, 0.2).generate().unwrap();
        let stays = graph.truth.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(stays < 300, "{stays} of 9999 neighbouring ids share a community");
        let near = |community| graph.truth[..5_000].iter().filter(|&&c| c == community).count();
        let first = near(graph.truth[0]) as f64;
        let all = graph.truth.iter().filter(|&&c| c == graph.truth[0]).count() as f64;
        assert!((first / all - 0.5).abs() < 0.35, "{first} of {all} lie in the first half");
    }

    #[test]
    fn extremes() {
        for (vertices, edges) in [(0, 0), (1, 0), (2, 1), (3, 3), (10, 45), (34, 78), (100, 1)] {
            for mixing in [0.0, 0.3, 1.0] {
                let graph = Planted::new(vertices, edges, mixing).generate().unwrap();
                assert_eq!(graph.truth.len() as u64, vertices);
                assert!(graph.edges.len() as u64 <= edges, "{vertices}, {edges}, {mixing}");
            }
        }
        let apart = Planted::new(5_000, 30_000, 0.0).generate().unwrap();
        assert_eq!(measured_mixing(&apart), 0.0);
        assert!(apart.edges.len() > 29_900, "{}", apart.edges.len());
        let random = Planted::new(5_000, 30_000, 1.0).generate().unwrap();
        assert_eq!((measured_mixing(&random), random.edges.len()), (1.0, 30_000));
        let halves = Planted { min_size: 500, max_size: 500, ..Planted::new(1_000, 9_000, 0.2) };
        let halves = halves.generate().unwrap();
        assert!((measured_mixing(&halves) - 0.2).abs() < 0.02, "{}", measured_mixing(&halves));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let good = Planted::new(1_000, 5_000, 0.3);
        let refused = |planted: Planted| planted.generate().unwrap_err().to_string();
        let huge = Planted::new(u64::MAX, u64::MAX, 0.3);
        assert!(refused(huge).starts_with("18446744073709551615 vertices asked for"));
        let full = Planted { edges: 499_501, ..good.clone() };
        assert!(refused(full).ends_with("room for 499500"));
        assert!(matches!(
            Planted::new(1 << 31, 1 << 60, 0.3).generate(),
            Err(GenerateError::OutOfMemory { .. })
        ));
        for (planted, parameter) in [
            (Planted { mixing: f64::NAN, ..good.clone() }, "mixing"),
            (Planted { mixing: 1.1, ..good.clone() }, "mixing"),
            (Planted { degree_exponent: -1.0, ..good.clone() }, "degree_exponent"),
            (Planted { size_exponent: f64::INFINITY, ..good.clone() }, "size_exponent"),
            (Planted { max_degree: 1_000, ..good.clone() }, "max_degree"),
            (Planted { max_degree: 5, ..good.clone() }, "max_degree"),
            (Planted { min_size: 0, ..good.clone() }, "min_size"),
            (Planted { min_size: 501, ..good.clone() }, "min_size"),
            (Planted { max_size: 60, ..good.clone() }, "max_size"),
        ] {
            let message = refused(planted);
            assert!(message.starts_with(parameter), "{message}");
        }
    }
}
