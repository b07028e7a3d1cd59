//! The shape of a web crawl: blocks of consecutive ids, and hubs that vertices of all blocks link to.
//!
//! Each vertex draws `edge_factor` links: a share `inside` of them to other vertices of its block
//! (a site), the rest to vertices anywhere, chosen by a power law over a random ranking, so that
//! few hubs attract many. Links repeat in small blocks; the graph builder merges them.
//!
//! Memory: the table, and 4 bytes per block. Truth: [`Web::blocks`].

use crate::permutation::Permutation;
use crate::random::{PowerLaw, Stream, derive};
use crate::{GenerateError, VERTICES_PER_STREAM, columns, scaled, table};
use rayon::prelude::*;
use ripplet_graph::{EdgeTable, VertexId};
use std::ops::Range;

/// Parameters of a web-like graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Web {
    /// 2^scale vertices; at most 31.
    pub scale: u32,
    /// Links that each vertex draws: 16.
    pub edge_factor: u32,
    /// The share of a vertex's links that stay in its block: 0.75.
    pub inside: f64,
    /// The smallest block: 16 vertices. Only the last one may be smaller.
    pub min_block: u32,
    /// The largest block: 2048 vertices.
    pub max_block: u32,
    /// Exponent of the block sizes' power law: 2.
    pub block_exponent: f64,
    /// Exponent of the power law of the links that a vertex receives from other blocks: 2.1, as
    /// for pages of the web (Broder et al., *Graph structure in the Web*, 2000).
    pub hub_exponent: f64,
    /// Seed of the graph.
    pub seed: u64,
}

impl Web {
    /// Returns the defaults noted at the fields, at the given scale.
    pub fn new(scale: u32) -> Web {
        Web {
            scale,
            edge_factor: 16,
            inside: 0.75,
            min_block: 16,
            max_block: 2048,
            block_exponent: 2.0,
            hub_exponent: 2.1,
            seed: 1,
        }
    }

    /// Returns the edges: `edge_factor` rows for each vertex, in the order of the vertices.
    ///
    /// # Errors
    /// If a parameter is out of range or memory allocation fails.
    pub fn generate(&self) -> Result<EdgeTable, GenerateError> {
        let (vertices, rows) = scaled(self.scale, self.edge_factor)?;
        let starts = self.starts(vertices)?;
        let hubs = Hubs::new(vertices, self.hub_exponent, self.seed);
        let mut columns = columns(rows)?;
        for column in &mut columns {
            column.resize(rows as usize, 0);
        }
        let links = self.edge_factor as usize;
        let rows_per_stream = (VERTICES_PER_STREAM * links).max(1);
        let [sources, targets] = &mut columns;
        let parts = sources.par_chunks_mut(rows_per_stream);
        let parts = parts.zip(targets.par_chunks_mut(rows_per_stream)).enumerate();
        parts.for_each(|(part, (sources, targets))| {
            let mut stream = Stream::new(self.seed, "web", part as u64);
            let first = (part * VERTICES_PER_STREAM) as u32;
            let mut block = starts.partition_point(|&start| start <= first) - 1;
            let lists = sources.chunks_mut(links).zip(targets.chunks_mut(links));
            for (vertex, (sources, targets)) in (first..).zip(lists) {
                block += usize::from(starts[block + 1] <= vertex);
                let members = starts[block]..starts[block + 1];
                sources.fill(vertex);
                for target in targets {
                    *target = self.link(&mut stream, vertex, &members, &hubs);
                }
            }
        });
        Ok(table(vertices, columns))
    }

    /// Returns the block of each vertex, numbered from 0: the communities of the graph.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn blocks(&self) -> Result<Vec<u32>, GenerateError> {
        let (vertices, _) = scaled(self.scale, self.edge_factor)?;
        let mut blocks = Vec::with_capacity(vertices as usize);
        for (block, bounds) in self.starts(vertices)?.windows(2).enumerate() {
            blocks.resize(bounds[1] as usize, block as u32);
        }
        Ok(blocks)
    }

    #[inline]
    fn link(
        &self,
        stream: &mut Stream,
        vertex: VertexId,
        members: &Range<VertexId>,
        hubs: &Hubs,
    ) -> VertexId {
        if members.len() > 1 && stream.chance(self.inside) {
            // One of the others: skip the vertex itself.
            let other = members.start + stream.below(members.len() as u64 - 1) as u32;
            return other + u32::from(other >= vertex);
        }
        hubs.draw(stream)
    }

    /// Returns the begin of each block, and after them the number of vertices.
    fn starts(&self, vertices: u32) -> Result<Vec<VertexId>, GenerateError> {
        self.check()?;
        let sizes = PowerLaw::new(
            f64::from(self.min_block),
            f64::from(self.max_block) + 1.0,
            self.block_exponent,
        );
        let mut stream = Stream::new(self.seed, "web blocks", 0);
        let mut starts = vec![0];
        let mut end = 0u32;
        while end < vertices {
            let size = (sizes.quantile(stream.unit()) as u32).clamp(self.min_block, self.max_block);
            end += size.min(vertices - end);
            starts.push(end);
        }
        Ok(starts)
    }

    fn check(&self) -> Result<(), GenerateError> {
        if !(0.0..=1.0).contains(&self.inside) {
            return Err(GenerateError::parameter("inside", self.inside, "from 0 to 1"));
        }
        if self.min_block == 0 || self.min_block > self.max_block {
            let expected = format!("from 1 to max_block, {}", self.max_block);
            return Err(GenerateError::parameter("min_block", self.min_block, expected));
        }
        if !(0.0..=10.0).contains(&self.block_exponent) {
            let value = self.block_exponent;
            return Err(GenerateError::parameter("block_exponent", value, "from 0 to 10"));
        }
        if !(1.1..=10.0).contains(&self.hub_exponent) {
            let value = self.hub_exponent;
            return Err(GenerateError::parameter("hub_exponent", value, "from 1.1 to 10"));
        }
        Ok(())
    }
}

/// All vertices in a random ranking; rank r is drawn with probability about r^(−1/(exponent−1)),
/// which gives the numbers of draws a power law with the exponent.
struct Hubs {
    ranks: PowerLaw,
    ranking: Permutation,
    last: u64,
}

impl Hubs {
    fn new(vertices: u32, exponent: f64, seed: u64) -> Hubs {
        let ranks = PowerLaw::new(1.0, f64::from(vertices) + 1.0, 1.0 / (exponent - 1.0));
        let ranking = Permutation::new(u64::from(vertices), derive(seed, "web hubs"));
        Hubs { ranks, ranking, last: u64::from(vertices) - 1 }
    }

    #[inline]
    fn draw(&self, stream: &mut Stream) -> VertexId {
        let rank = self.ranks.quantile(stream.unit()) as u64 - 1;
        self.ranking.of(rank.min(self.last)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{degrees, on_any_pool};

    #[test]
    fn three_quarters_stay_in_blocks_and_hubs_get_the_rest() {
        let web = Web::new(14);
        let table = on_any_pool(|| web.generate().unwrap());
        let blocks = web.blocks().unwrap();
        assert_eq!((table.len(), blocks.len()), (16 << 14, 1 << 14));
        assert!(blocks.windows(2).all(|pair| pair[1] == pair[0] || pair[1] == pair[0] + 1));

        let rows = table.sources().iter().zip(table.targets());
        let inside = rows.filter(|(s, t)| blocks[**s as usize] == blocks[**t as usize]).count();
        let share = inside as f64 / table.len() as f64;
        assert!((share - 0.75).abs() < 0.02, "{share}");

        let mut degrees = degrees(&table);
        degrees.sort_unstable_by(|a, b| b.cmp(a));
        assert!(degrees[0] > 1000, "a hub: {}", degrees[0]);
        assert!((25..35).contains(&degrees[1 << 13]), "the median: {}", degrees[1 << 13]);
    }

    #[test]
    fn block_sizes_follow_their_law() {
        let web = Web::new(20);
        let starts = web.starts(1 << 20).unwrap();
        let sizes: Vec<u32> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (last, whole) = sizes.split_last().unwrap();
        assert!(*last <= 2048 && whole.iter().all(|size| (16..=2048).contains(size)));
        // P(size < 32) of a law with exponent 2 on 16..2049 is (1 − 16/32) / (1 − 16/2049) = .504.
        let small = whole.iter().filter(|&&size| size < 32).count() as f64 / whole.len() as f64;
        assert!((small - 0.504).abs() < 0.02, "{small}");
        assert!(whole.iter().any(|&size| size > 1000));
    }

    #[test]
    fn extremes() {
        let one = Web::new(0);
        assert_eq!(one.generate().unwrap().len(), 16, "loops of the only vertex");
        assert_eq!(one.blocks().unwrap(), [0]);
        assert!(Web { edge_factor: 0, ..Web::new(5) }.generate().unwrap().is_empty());
        let lonely = Web { min_block: 1, max_block: 1, ..Web::new(6) };
        assert_eq!(lonely.generate().unwrap().len(), 16 << 6);
        let whole = Web { min_block: u32::MAX, max_block: u32::MAX, ..Web::new(6) };
        assert!(whole.blocks().unwrap().iter().all(|&block| block == 0));
        for inside in [0.0, 1.0] {
            assert_eq!(Web { inside, ..Web::new(6) }.generate().unwrap().len(), 16 << 6);
        }
        for bad in [
            Web { inside: f64::NAN, ..Web::new(5) },
            Web { inside: -0.1, ..Web::new(5) },
            Web { min_block: 0, ..Web::new(5) },
            Web { min_block: 9, max_block: 8, ..Web::new(5) },
            Web { block_exponent: f64::INFINITY, ..Web::new(5) },
            Web { hub_exponent: 1.0, ..Web::new(5) },
            Web::new(40),
        ] {
            assert!(matches!(bad.generate(), Err(GenerateError::Parameter { .. })), "{bad:?}");
            assert!(matches!(bad.blocks(), Err(GenerateError::Parameter { .. })), "{bad:?}");
        }
        let absurd = Web { edge_factor: u32::MAX, ..Web::new(31) };
        assert!(matches!(absurd.generate(), Err(GenerateError::OutOfMemory { .. })));
    }
}
