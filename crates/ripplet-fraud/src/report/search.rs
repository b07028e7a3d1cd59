//! Search index of a page: for each window the members of clusters, and all other entities as a bit set.

use serde::{Serialize, Serializer};

/// Searchable entities of a window.
#[derive(Debug, Default, Serialize)]
pub(super) struct SearchColumns {
    /// Ids of clusters.
    cluster: Vec<String>,
    /// Members of each cluster.
    members: Vec<Vec<u32>>,
    /// Entities in no cluster.
    others: EntitySet,
    /// Number of searchable entities.
    #[serde(skip)]
    pub count: u64,
}

impl SearchColumns {
    /// Adds an entity and its cluster; entities of one cluster are consecutive.
    pub fn push(&mut self, entity: u32, cluster: Option<&String>) {
        self.count += 1;
        let Some(cluster) = cluster else { return self.others.insert(entity) };
        if self.cluster.last() != Some(cluster) {
            self.cluster.push(cluster.clone());
            self.members.push(Vec::new());
        }
        self.members.last_mut().into_iter().for_each(|members| members.push(entity));
    }
}

/// Set of entities, encoded as six bits a character.
#[derive(Debug, Default)]
pub(super) struct EntitySet(Vec<u8>);

/// Characters of six bits, the lowest first; none is escaped on a page.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BITS: usize = 6;

impl EntitySet {
    /// Returns the size in bytes of a set of entities below a number.
    pub fn bytes_for(entities: usize) -> u64 {
        entities.div_ceil(BITS) as u64
    }

    fn insert(&mut self, entity: u32) {
        let (place, bit) = (entity as usize / BITS, entity as usize % BITS);
        if self.0.len() <= place {
            self.0.resize(place + 1, 0);
        }
        self.0[place] |= 1 << bit;
    }
}

impl Serialize for EntitySet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digits = self.0.iter().map(|&bits| char::from(DIGITS[usize::from(bits)]));
        serializer.serialize_str(&digits.collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_six_entities_to_a_character() {
        let mut set = EntitySet::default();
        [0, 5, 6, 13].into_iter().for_each(|entity| set.insert(entity));
        // 100001, 1, 10 from the lowest bit on.
        assert_eq!(serde_json::to_string(&set).unwrap(), "\"hBC\"");
    }
}
