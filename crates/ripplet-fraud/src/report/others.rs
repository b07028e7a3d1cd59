//! Searchable entities of a window, and their compact form in its part: in columns, each id without the prefix that it shares
//! with the one before. If they are sorted, that takes one or two bytes each.
//!
//! Older versions wrote a row for each entity, which is read as well.

use crate::output::KnownBadStatus;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Entity beside the listed members of clusters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OtherReport {
    /// Number of its kind.
    pub kind: u8,
    /// Its id.
    pub id: String,
    /// Its cluster, if it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Whether it has transactions.
    #[serde(default, skip_serializing_if = "Presence::is_active")]
    pub place: Presence,
    /// Time since when it is known bad, in microseconds since 1970 UTC, if the list has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
}

/// Whether an entity has transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Presence {
    /// It has transactions in the window.
    #[default]
    Active = 0,
    /// It has no transactions in the window.
    Idle = 1,
    /// No transaction up to the window's end names it.
    NeverSeen = 2,
}

impl Presence {
    fn is_active(&self) -> bool {
        *self == Presence::Active
    }
}

impl From<KnownBadStatus> for Presence {
    fn from(place: KnownBadStatus) -> Presence {
        match place {
            KnownBadStatus::Cluster(_) | KnownBadStatus::NoCluster => Presence::Active,
            KnownBadStatus::NoTransactions => Presence::Idle,
            KnownBadStatus::NeverSeen => Presence::NeverSeen,
        }
    }
}

/// Either form.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Others {
    Columns(Columns),
    Rows(Vec<OtherReport>),
}

/// Entities by cluster, kind and id.
#[derive(Default, Serialize, Deserialize)]
struct Columns {
    /// Clusters, each with the number of entities from it; `None` is no cluster.
    clusters: Vec<(Option<String>, u64)>,
    /// Kinds, each with the number of consecutive entities of it.
    kinds: Vec<(u8, u64)>,
    /// Bytes that each id shares with the id before.
    shared: Vec<u32>,
    /// The rest of each id.
    rest: Vec<String>,
}

/// Sorts entities so that consecutive ones have most in common: those in clusters first, then by kind; ids by length, so
/// that numbers follow one another.
pub(super) fn sort(others: &mut [OtherReport]) {
    fn key(other: &OtherReport) -> impl Ord + '_ {
        (other.cluster.is_none(), &other.cluster, other.kind, other.id.len(), &other.id)
    }
    others.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
}

/// Serializes the entities in their order.
pub(super) fn serialize<S: Serializer>(
    others: &[OtherReport],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let plain = |other: &OtherReport| other.place == Presence::Active && other.since.is_none();
    if !others.iter().all(plain) {
        return Others::Rows(others.to_vec()).serialize(serializer);
    }
    let mut columns = Columns::default();
    let mut before = "";
    for other in others {
        count(&mut columns.clusters, other.cluster.clone());
        count(&mut columns.kinds, other.kind);
        let shared = shared(before, &other.id);
        columns.shared.push(shared as u32);
        columns.rest.push(other.id[shared..].to_owned());
        before = &other.id;
    }
    Others::Columns(columns).serialize(serializer)
}

/// Reads either form.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<OtherReport>, D::Error> {
    match Others::deserialize(deserializer)? {
        Others::Rows(rows) => Ok(rows),
        Others::Columns(columns) => columns
            .rows()
            .ok_or_else(|| serde::de::Error::custom("the list of entities is damaged")),
    }
}

impl Columns {
    /// Returns the entities; `None` if columns contradict each other.
    fn rows(self) -> Option<Vec<OtherReport>> {
        let mut rows: Vec<OtherReport> = Vec::new();
        let mut clusters = self.clusters.into_iter();
        let mut kinds = self.kinds.into_iter();
        let (mut cluster, mut kind) = ((None, 0), (0, 0));
        if self.shared.len() != self.rest.len() {
            return None;
        }
        for (shared, rest) in self.shared.into_iter().zip(self.rest) {
            while cluster.1 == 0 {
                cluster = clusters.next()?;
            }
            while kind.1 == 0 {
                kind = kinds.next()?;
            }
            (cluster.1, kind.1) = (cluster.1 - 1, kind.1 - 1);
            let before = rows.last().map_or("", |other| &other.id);
            let id = format!("{}{rest}", before.get(..shared as usize)?);
            let cluster = cluster.0.clone();
            rows.push(OtherReport {
                kind: kind.0,
                id,
                cluster,
                place: Presence::Active,
                since: None,
            });
        }
        Some(rows)
    }
}

/// Counts one more of a value, in runs.
fn count<T: PartialEq>(runs: &mut Vec<(T, u64)>, value: T) {
    match runs.last_mut() {
        Some((last, count)) if *last == value => *count += 1,
        _ => runs.push((value, 1)),
    }
}

/// Returns the length of the longest common prefix in bytes, between characters.
fn shared(a: &str, b: &str) -> usize {
    let both = a.char_indices().zip(b.chars());
    let same = both.take_while(|((_, x), y)| x == y);
    same.last().map_or(0, |((at, c), _)| at + c.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Part(#[serde(with = "super")] Vec<OtherReport>);

    fn other(kind: u8, id: &str, cluster: Option<&str>) -> OtherReport {
        let cluster = cluster.map(Into::into);
        OtherReport { kind, id: id.into(), cluster, place: Presence::Active, since: None }
    }

    fn all(others: &[OtherReport]) -> Vec<(u8, String, Option<String>)> {
        others.iter().map(|o| (o.kind, o.id.clone(), o.cluster.clone())).collect()
    }

    #[test]
    fn entities_come_back_from_columns_and_from_rows() {
        let mut others = vec![
            other(1, "é1", None),
            other(1, "é12", None),
            other(0, "", None),
            other(0, "ê", Some("c1")),
            other(0, "ab", Some("c1")),
            other(1, "ab", Some("c2")),
            other(0, "100000", None),
            other(0, "100001", None),
        ];
        for _ in ["as they are", "sorted"] {
            let text = serde_json::to_string(&Part(others.clone())).unwrap();
            assert!(text.contains("\"shared\""), "{text}");
            let back: Part = serde_json::from_str(&text).unwrap();
            assert_eq!(all(&back.0), all(&others));
            sort(&mut others);
        }
        let ids: Vec<&str> = others.iter().map(|other| &*other.id).collect();
        assert_eq!(ids, ["ab", "ê", "ab", "", "100000", "100001", "é1", "é12"]);
        let rows = serde_json::to_string(&others).unwrap();
        let back: Part = serde_json::from_str(&rows).unwrap();
        assert_eq!(all(&back.0), all(&others));
    }

    #[test]
    fn damaged_columns_are_refused() {
        for text in [
            r#"{"clusters":[[null,1]],"kinds":[[0,1]],"shared":[3],"rest":["a"]}"#,
            r#"{"clusters":[[null,1]],"kinds":[],"shared":[0],"rest":["a"]}"#,
            r#"{"clusters":[[null,1]],"kinds":[[0,1]],"shared":[0,0],"rest":["a"]}"#,
            r#"{"clusters":[[null,2]],"kinds":[[0,2]],"shared":[0,1],"rest":["é","a"]}"#,
        ] {
            assert!(serde_json::from_str::<Part>(text).is_err(), "{text}");
        }
    }
}
