//! The shape of a social network: [`Web`] with its ids permuted, so that the order of ids holds no information.
//!
//! Code that is fast on `web` and slow here depends on locality. Memory: the table.

use crate::permutation::Permutation;
use crate::random::derive;
use crate::{GenerateError, Web, table};
use rayon::prelude::*;
use ripplet_graph::{EdgeTable, VertexId};

/// Parameters of a social graph: those of the [`Web`] that it permutes.
#[derive(Clone, Debug, PartialEq)]
pub struct Social {
    /// The graph before its ids are permuted; its seed draws the permutation too.
    pub web: Web,
}

impl Social {
    /// Returns the defaults of [`Web`] at the given scale.
    pub fn new(scale: u32) -> Social {
        Social { web: Web::new(scale) }
    }

    /// Returns the edges of the web, in its order, with permuted ids.
    ///
    /// # Errors
    /// The errors of [`Web::generate`].
    pub fn generate(&self) -> Result<EdgeTable, GenerateError> {
        let ordered = self.web.generate()?;
        let vertices = ordered.ids().len() as u32;
        let ids = self.ids(vertices);
        let mut columns = ordered.into_columns();
        for column in &mut columns {
            column
                .par_iter_mut()
                .for_each(|vertex| *vertex = ids.of(u64::from(*vertex)) as VertexId);
        }
        Ok(table(vertices, columns))
    }

    /// Returns the block of each vertex: the communities of the graph.
    ///
    /// # Errors
    /// The errors of [`Web::blocks`].
    pub fn blocks(&self) -> Result<Vec<u32>, GenerateError> {
        let ordered = self.web.blocks()?;
        let ids = self.ids(ordered.len() as u32);
        let mut blocks = vec![0; ordered.len()];
        for (vertex, block) in ordered.into_iter().enumerate() {
            blocks[ids.of(vertex as u64) as usize] = block;
        }
        Ok(blocks)
    }

    fn ids(&self, vertices: u32) -> Permutation {
        Permutation::new(u64::from(vertices), derive(self.web.seed, "social ids"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{degrees, on_any_pool};

    #[test]
    fn it_is_the_web_under_other_names() {
        let social = Social::new(13);
        let table = on_any_pool(|| social.generate().unwrap());
        let web = social.web.generate().unwrap();
        let sorted = |table: &EdgeTable| {
            let mut degrees = degrees(table);
            degrees.sort_unstable();
            degrees
        };
        assert_ne!(table, web);
        assert_eq!(sorted(&table), sorted(&web));

        let (blocks, ordered) = (social.blocks().unwrap(), social.web.blocks().unwrap());
        let rows = table.sources().iter().zip(table.targets());
        let web_rows = web.sources().iter().zip(web.targets());
        for ((s, t), (web_s, web_t)) in rows.zip(web_rows) {
            assert_eq!(blocks[*s as usize], ordered[*web_s as usize]);
            assert_eq!(blocks[*t as usize], ordered[*web_t as usize]);
        }
        let stays = blocks.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(stays < blocks.len() / 10, "ids reveal the block: {stays}");
    }

    #[test]
    fn extremes() {
        assert_eq!(Social::new(0).generate().unwrap().len(), 16);
        assert!(Social::new(40).generate().is_err());
        assert!(Social::new(40).blocks().is_err());
    }
}
