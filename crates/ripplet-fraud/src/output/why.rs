//! Explanation of a cluster: a sentence on why chance does not explain it, or that chance may.

use super::{Edge, WindowFindings, edges_among};
use crate::Cluster;
use crate::chance::{expected_text, one_in};
use crate::findings::BusiestPart;
use crate::ledger::Flow;
use crate::time::Timestamp;
use ripplet_graph::VertexId;

impl WindowFindings<'_> {
    /// Returns a sentence on what is unusual about a cluster: `5 transactions of user 7 → shop 3 on
    /// 2024-05-31, where 0.01 are expected in the whole window; chance alone: 1 in 1,000`. If chance explains
    /// the transactions of a cluster with known bad members, the sentence gives their number instead.
    pub(crate) fn why(self, cluster: &Cluster) -> String {
        let busiest = self.busiest_part(cluster);
        let busiest =
            busiest.unwrap_or_else(|| "no transactions among its members are known".into());
        let odds = one_in(cluster.chance);
        match (self.is_explained_by_chance(cluster), cluster.seeds) {
            (true, 0) => format!("{busiest}; chance alone: {odds}: noise"),
            (true, known) => {
                let are = if known == 1 { "is" } else { "are" };
                format!(
                    "{known} of its {} members {are} known bad; its transactions alone may be chance: {busiest}",
                    cluster.size
                )
            }
            (false, _) => format!("{busiest}; chance alone: {odds}"),
        }
    }

    /// Describes the busiest part of a cluster; `None` if no transactions are known.
    fn busiest_part(self, cluster: &Cluster) -> Option<String> {
        let BusiestPart { members, transactions, expected, pair } = &cluster.why;
        let mut edges = edges_among(&self.window.graph, members, self.ledger);
        if let Some(pair) = pair {
            let of_pair = |edge: &Edge| {
                let pairs = self.ledger.pairs(edge.source, edge.target);
                pairs.is_empty() || pairs.contains(&(*pair as u32))
            };
            edges.retain(of_pair);
        }
        let flows: Vec<(&Edge, Flow)> =
            edges.iter().filter_map(|edge| edge.flow.map(|flow| (edge, flow))).collect();
        let first = flows.iter().map(|(_, flow)| flow.first).min()?;
        let last = flows.iter().map(|(_, flow)| flow.last).max()?;
        let count = match transactions {
            1 => "1 transaction".into(),
            count => format!("{count} transactions"),
        };
        let name =
            |v: VertexId| format!("{} {}", self.entities.kind_name_of(v), self.entities.id_of(v));
        let who = match (&**members, &*flows) {
            (&[_, _], [(edge, _)]) => format!("{} → {}", name(edge.source), name(edge.target)),
            (&[one, other], _) => format!("between {} and {}", name(one), name(other)),
            (some, _) if some.len() < cluster.size as usize => {
                format!("among {} of its {} members", some.len(), cluster.size)
            }
            _ => format!("among its {} members", cluster.size),
        };
        let columns = pair.and_then(|pair| self.pairs.get(pair));
        let columns = columns.map_or(String::new(), |columns| format!(" ({columns})"));
        let (when, expected) = (days(first, last), expected_text(*expected));
        Some(format!(
            "{count} {who}{columns} {when}, where {expected} are expected in the whole window"
        ))
    }
}

/// Formats a range of days.
pub(super) fn days(first: Timestamp, last: Timestamp) -> String {
    let day = |at: Timestamp| {
        let begin = at.unit(crate::Span::DAY) * crate::Span::DAY.micros();
        Timestamp(begin).to_string()
    };
    match day(first) == day(last) {
        true => format!("on {}", day(first)),
        false => format!("from {} to {}", day(first), day(last)),
    }
}
