//! A sentence that says why a cluster is no chance, or that it may be.

use super::{WindowFindings, edges_among};
use crate::Cluster;
use crate::chance::{Why, expected_text, one_in};
use crate::time::Timestamp;
use ripplet_graph::VertexId;

impl WindowFindings<'_> {
    /// Says what is unusual about a cluster: `5 transactions of user 7 → shop 3 on 2024-05-31, where 0.01 are expected;
    /// chance alone: 1 in 1,000`.
    pub(crate) fn why(self, cluster: &Cluster) -> String {
        let Why { members, transactions, expected } = &cluster.why;
        let edges = edges_among(&self.window.graph, members, self.ledger);
        let flows = || edges.iter().filter_map(|edge| edge.flow.map(|flow| (edge, flow)));
        let (first, last) =
            (flows().map(|(_, flow)| flow.first).min(), flows().map(|(_, flow)| flow.last).max());
        let noise = if self.is_noise(cluster) { ": noise" } else { "" };
        let odds = format!("chance alone: {}{noise}", one_in(cluster.chance));
        let (Some(first), Some(last)) = (first, last) else {
            return format!("no transactions among its members are known; {odds}");
        };
        let count = match transactions {
            1 => "1 transaction".into(),
            count => format!("{count} transactions"),
        };
        let name =
            |v: VertexId| format!("{} {}", self.entities.kind_name_of(v), self.entities.id_of(v));
        let mut paying = flows().map(|(edge, _)| edge);
        let who = match (&**members, paying.next(), paying.next()) {
            (&[_, _], Some(edge), None) => {
                format!("{} → {}", name(edge.source), name(edge.target))
            }
            (&[one, other], ..) => format!("between {} and {}", name(one), name(other)),
            (some, ..) if some.len() < cluster.size as usize => {
                format!("among {} of its {} members", some.len(), cluster.size)
            }
            _ => format!("among its {} members", cluster.size),
        };
        let (when, expected) = (days(first, last), expected_text(*expected));
        format!("{count} {who} {when}, where {expected} are expected; {odds}")
    }
}

/// When something was, in days.
fn days(first: Timestamp, last: Timestamp) -> String {
    let day = |at: Timestamp| {
        let begin = at.unit(crate::Span::DAY) * crate::Span::DAY.micros();
        Timestamp(begin).to_string()
    };
    match day(first) == day(last) {
        true => format!("on {}", day(first)),
        false => format!("from {} to {}", day(first), day(last)),
    }
}
