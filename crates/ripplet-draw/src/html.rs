//! The picture as a page: a click opens a community down to its members.

use crate::svg::headline;
use crate::{Circle, Picture};
use ripplet_io::WriteError;
use ripplet_page::Page;
use serde::Serialize;
use std::path::Path;

const STYLE: &str = include_str!("page/draw.css");
const BODY: &str = include_str!("page/draw.html");
/// One script of several files: functions and classes know one another, `start.js` begins.
const SCRIPT: [&str; 4] = [
    include_str!("page/scene.js"),
    include_str!("page/list.js"),
    include_str!("page/detail.js"),
    include_str!("page/start.js"),
];

/// Writes the picture as a self-contained HTML page atomically; `-` is standard output.
///
/// The page works without a network, with mouse, touch and keys, light and dark.
///
/// # Errors
/// If the operating system refuses; then no file is left behind.
pub fn write_html(path: &Path, picture: &Picture<'_>) -> Result<(), WriteError> {
    let page = Page { title: &picture.title, style: STYLE, body: BODY, scripts: &SCRIPT };
    page.write(path, &Data::of(picture))
}

/// Data for the page's script.
#[derive(Serialize)]
struct Data<'a> {
    title: &'a str,
    headline: String,
    notes: Vec<String>,
    communities: Vec<CommunityData<'a>>,
    /// `[a, b, weight]`, heaviest first.
    links: Vec<(u32, u32, f64)>,
}

#[derive(Serialize)]
struct CommunityData<'a> {
    /// The community's name.
    name: &'a str,
    size: u32,
    inner: f64,
    outer: f64,
    hue: u32,
    /// `[x, y, radius]`.
    circle: [f64; 3],
    /// The ids of the leading members.
    members: Vec<String>,
    /// `[x, y]` of each.
    places: Vec<[f64; 2]>,
    /// `[a, b, weight]` between them, heaviest first.
    edges: Vec<(u32, u32, f64)>,
    /// Number of pairs of them that have an edge.
    pairs: usize,
}

impl Data<'_> {
    fn of<'a>(picture: &'a Picture<'_>) -> Data<'a> {
        let links = picture.links.iter();
        Data {
            title: &picture.title,
            headline: headline(picture),
            notes: picture.notes(),
            communities: (0..picture.circles.len()).map(|at| community(picture, at)).collect(),
            links: links.map(|link| (link.a, link.b, picture.weight(link.weight))).collect(),
        }
    }
}

fn community<'a>(picture: &'a Picture<'_>, at: usize) -> CommunityData<'a> {
    let community = picture.communities.communities[at];
    let Circle { x, y, radius } = picture.circles[at];
    let members = &picture.members[at];
    let edges = members.edges.iter();
    CommunityData {
        name: &picture.called[at],
        size: community.size,
        inner: picture.weight(community.inner),
        outer: picture.weight(community.outer),
        hue: Picture::hue(at),
        circle: [x, y, radius].map(rounded),
        members: picture.names(at).collect(),
        places: picture.places[at].iter().map(|place| [place.x, place.y].map(rounded)).collect(),
        edges: edges.map(|&(a, b, weight)| (a, b, picture.weight(weight))).collect(),
        pairs: members.pairs,
    }
}

/// Rounds a coordinate to a hundredth of a unit: more is not visible.
fn rounded(length: f64) -> f64 {
    (100.0 * length).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_end_no_element() {
        assert!(SCRIPT.into_iter().chain([STYLE]).all(ripplet_page::ends_no_element));
    }
}
