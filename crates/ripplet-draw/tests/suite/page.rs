//! The page, opened in a real browser.

use crate::counting::graph;
use crate::svg::ring_of_cliques;
use ripplet_browser::{self as browser, Browser};
use ripplet_draw::{DrawOptions, draw, write_html};
use ripplet_graph::{Direction, EdgeTable, Graph, GraphBuilder, Names, VertexIds};
use serde_json::json;
use std::path::{Path, PathBuf};

/// If it is set, tests leave pictures of the pages there.
const PICTURES: &str = "RIPPLET_PAGE_PICTURES";

fn write(graph: &Graph, numbers: &[u32], options: &DrawOptions, folder: &Path) -> PathBuf {
    let path = folder.join("picture.html");
    write_html(&path, &draw(graph.into(), numbers, options).unwrap()).unwrap();
    path
}

fn opened(path: &Path) -> Option<Browser> {
    let mut page = browser::start()?;
    page.look(1200, 800, "light");
    page.open(path);
    Some(page)
}

fn keep_picture(page: &mut Browser, name: &str) {
    if let Some(folder) = std::env::var_os(PICTURES) {
        std::fs::write(Path::new(&folder).join(name), page.screenshot(false)).unwrap();
    }
}

fn circles(page: &mut Browser) -> u64 {
    page.value("document.querySelectorAll('#drawing .node').length").as_u64().unwrap()
}

#[test]
fn a_click_opens_a_community_and_a_key_leads_back() {
    let (vertices, edges, numbers) = ring_of_cliques(40);
    let graph = graph(vertices, &edges, Direction::Undirected, true);
    let folder = tempfile::tempdir().unwrap();
    let options = DrawOptions { title: "Forty cliques".into(), ..DrawOptions::default() };
    let path = write(&graph, &numbers, &options, folder.path());
    let Some(mut page) = opened(&path) else { return };
    assert_eq!(page.text("document.title"), "Forty cliques");
    assert_eq!(circles(&mut page), 40);
    keep_picture(&mut page, "all.png");
    // The largest community has nine members, each linked with all others.
    page.click("#drawing .node[data-at='0'] .shape");
    assert_eq!(page.text("document.getElementById('shown').textContent"), "Community 1");
    assert_eq!(circles(&mut page), 9);
    assert_eq!(page.value("document.querySelectorAll('#drawing .link').length"), json!(36));
    keep_picture(&mut page, "opened.png");
    page.click("#drawing .node[data-at='2'] .shape");
    assert!(
        page.text("document.getElementById('line').textContent")
            .ends_with("8 lines in this drawing")
    );
    page.press("Escape");
    page.press("Escape");
    assert_eq!(circles(&mut page), 40);
    assert_eq!(page.value("document.getElementById('back').hidden"), json!(true));
    page.open_at(&path, "community=3&open=yes");
    assert_eq!(page.text("document.getElementById('shown').textContent"), "Community 3");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn communities_are_called_by_their_names() {
    let (vertices, edges, numbers) = ring_of_cliques(12);
    let graph = graph(vertices, &edges, Direction::Undirected, false);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("picture.html");
    let names: Vec<String> = (0..vertices).map(|number| format!("team <{number}>")).collect();
    let picture = draw((&graph).into(), &numbers, &DrawOptions::default()).unwrap();
    let first = format!("team <{}>", picture.communities().communities[0].number);
    write_html(&path, &picture.with_names(&names)).unwrap();
    let Some(mut page) = opened(&path) else { return };
    page.press("j");
    assert_eq!(
        page.text("document.querySelector('#detail h2').textContent"),
        format!("Community {first}")
    );
    assert!(page.text("document.getElementById('line').textContent").contains(&first));
    page.press("Enter");
    assert_eq!(
        page.text("document.getElementById('shown').textContent"),
        format!("Community {first}")
    );
    let encoded = first.replace(' ', "+").replace('<', "%3C").replace('>', "%3E");
    let address = page.text("location.hash");
    assert!(address.contains(&format!("community={encoded}")), "{address}");
    page.open_at(&path, &format!("community={encoded}&open=yes"));
    assert_eq!(
        page.text("document.getElementById('shown').textContent"),
        format!("Community {first}")
    );
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn it_is_worked_by_keys_alone() {
    let (vertices, edges, numbers) = ring_of_cliques(12);
    let graph = graph(vertices, &edges, Direction::Undirected, false);
    let folder = tempfile::tempdir().unwrap();
    let path = write(&graph, &numbers, &DrawOptions::default(), folder.path());
    let Some(mut page) = opened(&path) else { return };
    page.press("j");
    page.press("j");
    page.press("k");
    let current = "document.querySelector('#list [aria-current=true] .size').textContent";
    assert_eq!(page.text(current), "9");
    page.press("Enter");
    assert_eq!(page.text("document.getElementById('shown').textContent"), "Community 1");
    page.press("g");
    page.press("n");
    assert_ne!(page.text("document.getElementById('line').textContent"), "");
    let before = page.text("document.querySelector('#drawing .node').getAttribute('transform')");
    page.press("+");
    let zoomed = page.text("document.querySelector('#drawing .node').getAttribute('transform')");
    assert_ne!(before, zoomed);
    page.press("0");
    let fitted = page.text("document.querySelector('#drawing .node').getAttribute('transform')");
    assert_eq!(before, fitted);
    page.press("Escape");
    page.press("Escape");
    assert_eq!(circles(&mut page), 12);
    page.press("/");
    page.type_text("no such member");
    assert_eq!(page.text("document.getElementById('listed').textContent"), "0 of 12");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn hostile_names_are_text_and_both_colour_schemes_differ() {
    let names =
        ["</script><img src=x onerror=alert(1)>", "\u{202e}evil", "&amp;", "a b", "ü", "日本"];
    let mut sorted: Vec<&str> = names.to_vec();
    sorted.sort_unstable();
    let ids = VertexIds::Names(Names::new(sorted.iter().copied()));
    let table = EdgeTable::new(ids, vec![0, 1, 2, 3, 4], vec![1, 2, 0, 4, 5]).unwrap();
    let graph = GraphBuilder::new().build(table).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = DrawOptions { title: "<b>names</b>".into(), ..DrawOptions::default() };
    let path = write(&graph, &[0, 0, 0, 3, 3, 3], &options, folder.path());
    let Some(mut page) = opened(&path) else { return };
    assert_eq!(page.text("document.getElementById('title').textContent"), "<b>names</b>");
    assert_eq!(page.value("document.querySelectorAll('img').length"), json!(0));
    let listed = page.text("document.getElementById('list').textContent");
    assert!(names.iter().all(|name| listed.contains(name)), "{listed}");
    let fill = "getComputedStyle(document.querySelector('#drawing .shape')).fill";
    let light = page.text(fill);
    page.look(1200, 800, "dark");
    assert_ne!(page.text(fill), light);
    keep_picture(&mut page, "dark.png");
    page.look(400, 800, "light");
    keep_picture(&mut page, "narrow.png");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn an_empty_graph_has_a_page() {
    let graph = graph(0, &Vec::new(), Direction::Undirected, false);
    let folder = tempfile::tempdir().unwrap();
    let path = write(&graph, &[], &DrawOptions::default(), folder.path());
    let Some(mut page) = opened(&path) else { return };
    assert_eq!(circles(&mut page), 0);
    for key in ["j", "Enter", "g", "n", "+", "Escape"] {
        page.press(key);
    }
    assert_eq!(page.complaints(), Vec::<String>::new());
}
