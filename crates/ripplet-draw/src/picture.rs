//! The picture of a graph's communities, before it is written as SVG or HTML.

use crate::{Circle, CommunityGraph, DrawError, Link, Members, Spring, layout};
use rayon::prelude::*;
use ripplet_graph::{Direction, GraphView};

/// Options of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawOptions {
    /// Number of communities that are drawn, the largest first; at most [`DrawOptions::MOST_COMMUNITIES`].
    pub communities: usize,
    /// Number of members that an opened community shows; at most [`DrawOptions::MOST_MEMBERS`].
    pub members: usize,
    /// The picture's title.
    pub title: String,
}

impl DrawOptions {
    /// The largest number of communities: more cannot be distinguished.
    pub const MOST_COMMUNITIES: usize = 1000;
    /// The largest number of members of an opened community, for the same reason.
    pub const MOST_MEMBERS: usize = 500;

    fn check(&self) -> Result<(), DrawError> {
        let limits = [
            ("communities", self.communities, DrawOptions::MOST_COMMUNITIES),
            ("members of a community", self.members, DrawOptions::MOST_MEMBERS),
        ];
        match limits.into_iter().find(|&(_, asked, most)| asked > most) {
            Some((what, asked, most)) => Err(DrawError::TooMany { what, most, asked }),
            None => Ok(()),
        }
    }
}

impl Default for DrawOptions {
    /// 150 communities and 60 members of each: a page of about 1 MB.
    fn default() -> DrawOptions {
        DrawOptions { communities: 150, members: 60, title: "Communities".into() }
    }
}

/// Communities with their places, the edges between them, and their leading members.
///
/// Lengths are in units of the picture: all circles lie within about 1000 units from left to right.
#[derive(Clone, Debug)]
pub struct Picture<'a> {
    pub(crate) graph: GraphView<'a>,
    pub(crate) title: String,
    pub(crate) communities: CommunityGraph,
    /// A circle for each community, its area in proportion to the community's size.
    pub(crate) circles: Vec<Circle>,
    /// The drawn links, heaviest first.
    pub(crate) links: Vec<Link>,
    pub(crate) members: Vec<Members>,
    /// The name of each community, by default its rank by size, from 1.
    pub(crate) called: Vec<String>,
    /// A circle of equal size for each member.
    pub(crate) places: Vec<Vec<Circle>>,
}

/// Drawn links per drawn community: more would hide the circles.
const LINKS_PER_COMMUNITY: usize = 4;
/// The picture's extent from left to right.
const WIDTH: f64 = 1000.0;

/// Draws the communities of a graph.
///
/// `communities[v]` is the number of `v`'s community, below the number of vertices, or
/// [`crate::NO_COMMUNITY`].
///
/// # Errors
/// [`DrawError`].
pub fn draw<'a>(
    graph: GraphView<'a>,
    communities: &[u32],
    options: &DrawOptions,
) -> Result<Picture<'a>, DrawError> {
    options.check()?;
    let communities = CommunityGraph::new(graph, communities, options.communities)?;
    let members = Members::of_each(graph, &communities, options.members)?;
    let links = heaviest(&communities);
    let radii: Vec<f64> =
        communities.communities.iter().map(|community| f64::from(community.size).sqrt()).collect();
    let mut circles = layout(&radii, &springs(&communities));
    scale(&mut circles);
    let places = members.par_iter().map(places).collect();
    let title = options.title.clone();
    let called = (1..=circles.len()).map(|place| place.to_string()).collect();
    Ok(Picture { graph, title, communities, circles, links, members, called, places })
}

/// Returns the drawn links, heaviest first.
fn heaviest(communities: &CommunityGraph) -> Vec<Link> {
    let mut links = communities.links.clone();
    links.sort_by_key(|link| (std::cmp::Reverse(link.weight), link.a, link.b));
    links.truncate(LINKS_PER_COMMUNITY * communities.communities.len());
    links
}

/// Returns springs between linked communities; strong if the link is a large part of the weight that leaves the smaller one.
fn springs(communities: &CommunityGraph) -> Vec<Spring> {
    let outer = |at: u32| communities.communities[at as usize].outer as f64;
    let springs = communities.links.iter().map(|&Link { a, b, weight }| {
        let least = outer(a).min(outer(b)).max(1.0);
        Spring { a, b, strength: (weight as f64 / least).min(1.0) }
    });
    springs.collect()
}

/// Scales circles to the picture's width.
fn scale(circles: &mut [Circle]) {
    let left = circles.iter().map(|circle| circle.x - circle.radius).fold(f64::MAX, f64::min);
    let right = circles.iter().map(|circle| circle.x + circle.radius).fold(f64::MIN, f64::max);
    let factor = if circles.is_empty() { 1.0 } else { WIDTH / (right - left) };
    // One community alone is not drawn as large as the page.
    let factor = factor.min(WIDTH / 6.0 / circles.iter().map(|c| c.radius).fold(1e-9, f64::max));
    for circle in circles {
        circle.x *= factor;
        circle.y *= factor;
        circle.radius *= factor;
    }
}

/// Returns the circles of an opened community's members.
fn places(members: &Members) -> Vec<Circle> {
    let heaviest = members.edges.iter().map(|&(.., weight)| weight).max().unwrap_or(1) as f64;
    let springs: Vec<Spring> = members
        .edges
        .iter()
        .map(|&(a, b, weight)| {
            let share = weight as f64 / heaviest;
            Spring { a, b, strength: 0.1 + 0.3 * share.sqrt() }
        })
        .collect();
    layout(&vec![1.0; members.vertices.len()], &with_lonely(springs, members.vertices.len()))
}

/// Adds a spring to the leading member for each member without any: nothing else keeps
/// it near the others.
fn with_lonely(mut springs: Vec<Spring>, members: usize) -> Vec<Spring> {
    /// As strong as most edges.
    const STRENGTH: f64 = 0.3;
    let mut is_held = vec![false; members];
    for &Spring { a, b, .. } in &springs {
        (is_held[a as usize], is_held[b as usize]) = (true, true);
    }
    if !springs.is_empty() {
        let lonely = (0..).zip(is_held).filter(|&(at, is_held)| !is_held && at > 0);
        let to_leader = lonely.map(|(at, _)| Spring { a: 0, b: at, strength: STRENGTH });
        springs.extend(to_leader.collect::<Vec<_>>());
    }
    springs
}

impl Picture<'_> {
    /// Names communities: `names[c]` is the name of the community with number `c` in the input. A community without a
    /// name keeps its rank by size.
    pub fn with_names(mut self, names: &[String]) -> Self {
        for (called, community) in self.called.iter_mut().zip(&self.communities.communities) {
            if let Some(name) = names.get(community.number as usize) {
                called.clone_from(name);
            }
        }
        self
    }

    /// Returns the graph of communities of the picture.
    pub fn communities(&self) -> &CommunityGraph {
        &self.communities
    }

    /// Returns a circle for each drawn community.
    pub fn circles(&self) -> &[Circle] {
        &self.circles
    }

    /// Returns the leading members of each drawn community.
    pub fn members(&self) -> &[Members] {
        &self.members
    }

    /// Returns sentences about what the picture leaves out.
    pub fn notes(&self) -> Vec<String> {
        let CommunityGraph { communities, total, members_left_out, unassigned, links, .. } =
            &self.communities;
        let mut notes = Vec::new();
        let smaller = *total as usize - communities.len();
        if smaller > 0 {
            notes.push(format!(
                "{} smaller {} with {} {} not drawn.",
                grouped(smaller as u64),
                if smaller == 1 { "community" } else { "communities" },
                counted(*members_left_out, "member", "members"),
                if smaller == 1 { "is" } else { "are" },
            ));
        }
        if *unassigned > 0 {
            notes.push(format!(
                "{} in no community.",
                if *unassigned == 1 {
                    "1 vertex is".into()
                } else {
                    format!("{} vertices are", grouped(*unassigned))
                }
            ));
        }
        if self.links.len() < links.len() {
            notes.push(format!(
                "Of {} pairs of linked communities, the {} with the most edges have a line.",
                grouped(links.len() as u64),
                grouped(self.links.len() as u64)
            ));
        }
        if self.graph.direction() == Direction::Directed {
            notes.push("Edges count in both directions.".into());
        }
        notes
    }

    /// Returns the hue of a community in degrees: neighbouring ranks differ by the golden angle.
    pub(crate) fn hue(rank: usize) -> u32 {
        (rank as u64 * 137_508 / 1000 % 360) as u32
    }

    /// Returns the ids of a community's leading members.
    pub(crate) fn names(&self, community: usize) -> impl Iterator<Item = String> {
        let ids = self.graph.ids();
        self.members[community].vertices.iter().map(|&v| ids.get(v).to_string())
    }

    /// Converts a stored sum of weights into the real weight that is shown.
    pub(crate) fn weight(&self, stored: u64) -> f64 {
        let scale = self.graph.weight_scale();
        scale.rounded(scale.weight(stored))
    }
}

/// Formats a number with separators between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_without_lines_is_drawn_near_the_others() {
        let edges = vec![(0, 1, 1), (1, 2, 1), (0, 2, 1)];
        let members = Members { vertices: (0..4).collect(), edges, pairs: 3 };
        let distance =
            |places: &[Circle]| (places[3].x - places[0].x).hypot(places[3].y - places[0].y);
        let near = distance(&places(&members));
        let springs: Vec<Spring> =
            members.edges.iter().map(|&(a, b, _)| Spring { a, b, strength: 0.4 }).collect();
        let alone = distance(&layout(&[1.0; 4], &springs));
        assert!(near < 0.7 * alone, "{near} {alone}");
    }
}
