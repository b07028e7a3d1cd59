//! `report.html`, opened in a real browser.

use crate::synthetic::{DAY, Found, synthetic_windows};
use ripplet_browser::{self as browser, Browser};
use ripplet_fraud::findings::BusiestPart;
use ripplet_fraud::folder::ScoreRecord;
use ripplet_fraud::model::{Check, CheckedFold};
use ripplet_fraud::report::{
    EdgeReport, EntityReport, Evidence, ExplanationReport, FlowReport, ListStatus, OtherReport,
    PageLimits, Presence, ReportBuilder, ReportLimits, Run, TransactionReport, WindowReport,
    write_report,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn run() -> Run {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Run {
        title: "Card payments, spring 2026".into(),
        facts: vec![
            pair("Window", "30d, every 1d"),
            pair("Program", "seeded, phased"),
            pair("Weight", "ln(1.0 + amount) * powf(0.5, age / 7.0)"),
            pair("ripplet", "0.1.0"),
        ],
        inputs: vec![pair("payments/day=2026-03-01.parquet", "52,114 rows, sha256 3f0a…")],
        notes: vec!["3 rows had no time and were skipped, as asked.".into()],
        folder: "rings of spring".into(),
    }
}

fn page_of(reports: Vec<WindowReport>, run: &Run, limits: PageLimits, path: &Path) {
    let mut builder = ReportBuilder::new(limits);
    for report in reports.into_iter().rev() {
        builder.add(report);
    }
    write_report(path, run, &builder).unwrap();
}

fn reports(windows: &[Found]) -> Vec<WindowReport> {
    windows.iter().map(|found| found.report(ReportLimits::default())).collect()
}

/// A page of a few windows in a browser, if one is installed.
fn opened(windows: &[Found], folder: &Path) -> Option<Browser> {
    let path = folder.join("report.html");
    page_of(reports(windows), &run(), PageLimits::default(), &path);
    let mut page = browser::start()?;
    page.look(1440, 900, "light");
    page.open(&path);
    Some(page)
}

/// The texts of a table's column, as far as its rows are drawn.
fn column(page: &mut Browser, table: &str, place: u32) -> Vec<String> {
    let cells = page.value(&format!(
        "[...document.querySelectorAll('{table} tbody tr[data-key] td:nth-child({place})')]\
         .map((cell) => cell.textContent)"
    ));
    serde_json::from_value(cells).unwrap()
}

/// The ids of clusters, as far as their rows are drawn.
fn listed(page: &mut Browser) -> Vec<String> {
    let ids = page.value(
        "[...document.querySelectorAll('#ranking tbody tr[data-key]')].map((row) => row.dataset.key)",
    );
    serde_json::from_value(ids).unwrap()
}

const NOTHING: Vec<String> = Vec::new();

/// Whether a run's report opens in a browser, where there is one, and shows its windows and a cluster.
pub fn opens(report: &Path, windows: usize) {
    let Some(mut page) = browser::start() else { return };
    page.look(1440, 900, "light");
    page.open(report);
    let which = page.text("document.getElementById('which').textContent");
    assert_eq!(
        which,
        match windows {
            1 => "Window 0000".to_owned(),
            _ => format!("Window {:04} of 0000 to {:04}", windows - 1, windows - 1),
        }
    );
    assert!(!listed(&mut page).is_empty());
    let drawn = page.value("document.querySelectorAll('#graph .vertex').length");
    let rows = column(&mut page, "#members", 1);
    assert!(drawn.as_u64().unwrap() >= rows.len() as u64 && rows.len() > 1);
    assert_eq!(page.complaints(), NOTHING);
}

#[test]
fn the_evidence_of_a_window_is_what_is_in_its_findings() {
    let windows = synthetic_windows(40, 8);
    let found = windows.last().unwrap();
    let report = found.report(ReportLimits::default());
    assert_eq!(report.clusters, found.findings.clusters.len() as u64);
    assert_eq!(
        report.events.iter().sum::<u64>(),
        report.clusters + found.findings.ended.len() as u64
    );
    let mut outsiders = 0;
    for (listed, cluster) in report.listed.iter().zip(&found.findings.clusters) {
        assert_eq!((listed.id.clone(), listed.rank), (cluster.id.to_string(), cluster.rank));
        let Evidence { members, edges, members_total, edges_total } = &listed.evidence;
        let expected: Vec<_> =
            found.findings.members.iter().filter(|member| member.cluster == cluster.id).collect();
        let mut own: Vec<_> = members.iter().filter(|m| !m.outside).map(|m| m.id.clone()).collect();
        let mut ids: Vec<_> =
            expected.iter().map(|m| found.entities.id_of(m.vertex).to_owned()).collect();
        own.sort();
        ids.sort();
        assert_eq!(own, ids);
        assert_eq!(*members_total, expected.len() as u64);
        assert_eq!(*edges_total, edges.len() as u64);
        // Edges of members, whatever their order, and those to known bad ones outside.
        let name = |place: u32| members[place as usize].id.clone();
        let inside = |place: u32| !members[place as usize].outside;
        let mut among: Vec<_> = edges
            .iter()
            .filter(|edge| inside(edge.source) && inside(edge.target))
            .map(|edge| (name(edge.source), name(edge.target), edge.count, edge.amount, edge.first))
            .collect();
        let mut plain: Vec<_> = found
            .edges_of(cluster.id)
            .iter()
            .map(|edge| {
                let name = |vertex| found.entities.id_of(vertex).to_owned();
                let flow = edge.flow.unwrap();
                let units = flow.amount.map(|amount| amount.units);
                (name(edge.source), name(edge.target), Some(flow.count), units, Some(flow.first.0))
            })
            .collect();
        among.sort();
        plain.sort();
        assert_eq!(among, plain, "{}", listed.id);
        assert!(edges.windows(2).all(|pair| pair[0].weight >= pair[1].weight));
        outsiders += members.len() - own.len();
    }
    assert!(outsiders > 0, "no cluster transfers with known bad ones elsewhere");
}

#[test]
fn limits_keep_known_bad_members_and_heavy_edges() {
    let windows = synthetic_windows(20, 2);
    let limits =
        ReportLimits { clusters: 5, members: 4, edges: 3, outsiders: 0, ..ReportLimits::default() };
    let report = windows[1].report(limits);
    assert_eq!(report.listed.len(), 5);
    for cluster in &report.listed {
        let Evidence { members, edges, members_total, .. } = &cluster.evidence;
        assert!(
            members.len() == 4 && edges.len() <= 3 && *members_total == u64::from(cluster.size)
        );
        let bad = members
            .iter()
            .take_while(|m| m.standing == ripplet_fraud::report::ListStatus::KnownBad);
        assert_eq!(bad.count(), (cluster.known as usize).min(4));
    }
}

#[test]
fn a_window_s_part_comes_back_from_its_file_and_gives_the_same_page() {
    let folder = tempfile::tempdir().unwrap();
    let parts = reports(&synthetic_windows(12, 3));
    let [one, other] = ["one.html", "other.html"].map(|name| folder.path().join(name));
    let again: Vec<WindowReport> = parts
        .iter()
        .map(|part| serde_json::from_str(&serde_json::to_string(part).unwrap()).unwrap())
        .collect();
    page_of(parts, &run(), PageLimits::default(), &one);
    page_of(again, &run(), PageLimits::default(), &other);
    assert!(fs::read(one).unwrap() == fs::read(other).unwrap());
}

#[test]
fn the_page_asks_for_nothing_and_names_no_place_to_ask() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    page_of(reports(&synthetic_windows(6, 2)), &run(), PageLimits::default(), &path);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("default-src 'none'"));
    let places = text.replace("http://www.w3.org/2000/svg", "");
    assert!(!places.contains("http:") && !places.contains("https:") && !places.contains("url("));
    assert!(!text.contains(" src=") && !text.contains("<link"));
}

#[test]
fn a_ranking_sorts_and_a_click_chooses_a_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let windows = synthetic_windows(40, 6);
    let Some(mut page) = opened(&windows, folder.path()) else { return };
    let findings = &windows.last().unwrap().findings;
    let ranked: Vec<String> = findings.clusters.iter().map(|c| c.id.to_string()).collect();
    let shown = listed(&mut page);
    assert!(shown.len() >= 15, "{shown:?}");
    assert_eq!(shown, ranked[..shown.len()]);
    assert_eq!(page.text("document.getElementById('cluster-id').textContent"), ranked[0]);

    // Large ones first, then small ones first; equals stay in the order of their ranks.
    for (clicks, way) in [(1, "descending"), (2, "ascending")] {
        page.click("#ranking th[data-key=size] button");
        let mut by_size: Vec<_> = findings.clusters.iter().collect();
        by_size.sort_by_key(|c| if clicks == 1 { u32::MAX - c.size } else { c.size });
        let by_size: Vec<String> = by_size.iter().map(|c| c.id.to_string()).collect();
        page.value("document.getElementById('ranking').scrollTop = 0");
        page.wait_for(&format!(
            "document.querySelector('#ranking tbody tr[data-key]').dataset.key === '{}'",
            by_size[0]
        ));
        let shown = listed(&mut page);
        assert_eq!(shown, by_size[..shown.len()]);
        let sorted =
            "document.querySelector('#ranking th[data-key=size]').getAttribute('aria-sort')";
        assert_eq!(page.text(sorted), way);
    }

    let chosen = listed(&mut page)[3].clone();
    page.click(&format!("#ranking tr[data-key={chosen}] td:nth-child(5)"));
    assert_eq!(page.text("document.getElementById('cluster-id').textContent"), chosen);
    let cluster = findings.clusters.iter().find(|c| c.id.to_string() == chosen).unwrap();
    let members = findings.members.iter().filter(|member| member.cluster == cluster.id).count();
    let drawn = page.value("document.querySelectorAll('#graph .vertex:not(.outside)').length");
    assert_eq!(drawn, json!(members));
    let lines = page.value(
        "document.querySelectorAll('#graph .vertex:not(.outside)').length > 0 && \
                            document.querySelectorAll('#graph line').length",
    );
    assert!(lines.as_u64().unwrap() >= windows.last().unwrap().edges_of(cluster.id).len() as u64);
    let score =
        page.text("document.querySelector('#scores .score:nth-child(2) .value').textContent");
    assert_eq!(score, format!("{:.3}", cluster.density as f32));

    // The tables of evidence sort as well.
    page.click("#tab-edges");
    page.click("#edges th[data-key=amount] button");
    let amounts: Vec<f64> = column(&mut page, "#edges", 6)
        .iter()
        .map(|text| text.replace(',', "").parse().unwrap())
        .collect();
    assert!(!amounts.is_empty() && amounts.is_sorted_by(|a, b| a >= b), "{amounts:?}");
    assert_eq!(page.complaints(), NOTHING);
}

#[test]
fn a_drawing_pans_zooms_and_is_clicked() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut page) = opened(&synthetic_windows(20, 3), folder.path()) else { return };
    let place = "(() => { const box = document.querySelector('#graph .vertex .shape')\
                 .getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()";
    let at = |value: serde_json::Value| (value[0].as_f64().unwrap(), value[1].as_f64().unwrap());
    let near = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 1.0 && (a.1 - b.1).abs() < 1.0;
    let (x, y) = page.middle_of("#graph");
    let before = at(page.value(place));
    // From a corner, where nothing is drawn.
    let corner = (x - 280.0, y + 120.0);
    page.drag(corner, (corner.0 + 60.0, corner.1 - 25.0));
    let panned = at(page.value(place));
    assert!(near(panned, (before.0 + 60.0, before.1 - 25.0)), "{before:?} became {panned:?}");

    // The point under the wheel keeps its place.
    page.wheel(panned, -300.0);
    page.wait_for("document.querySelectorAll('#graph .vertex').length > 0");
    let zoomed = at(page.value(place));
    assert!(near(zoomed, panned), "{panned:?} became {zoomed:?}");
    page.wheel((panned.0 + 50.0, panned.1), -300.0);
    let zoomed = at(page.value(place));
    assert!(zoomed.0 < panned.0 - 20.0, "{panned:?} became {zoomed:?}");

    page.click("#zoom-fit");
    assert!(near(at(page.value(place)), before));

    // A click chooses a vertex, in the drawing and in the table; one beside it chooses none.
    page.mouse("mousePressed", before.0, before.1);
    page.mouse("mouseReleased", before.0, before.1);
    let chosen = page.text("document.querySelector('#graph .chosen').dataset.vertex");
    let row = "document.querySelector('#members tr[aria-selected=true]').dataset.key";
    assert_eq!(page.text(row), chosen);
    let name =
        page.text("document.querySelector('#members tr[aria-selected=true] td').textContent");
    assert!(page.text("document.getElementById('vertex-line').textContent").contains(&name));
    // Its transactions are listed; one of them is marked with both its ends.
    let all = page.value("document.querySelectorAll('#graph line').length");
    page.click("#tab-edges");
    let ends = [1, 3].map(|place| column(&mut page, "#edges", place));
    assert!(!ends[0].is_empty() && (ends[0].len() as u64) < all.as_u64().unwrap());
    assert!(ends[0].iter().zip(&ends[1]).all(|(one, other)| one == &name || other == &name));
    page.click("#edges tbody tr[data-key] td");
    let marked = "[document.querySelectorAll('#graph .vertex.near').length, \
                  document.querySelectorAll('#graph line.near').length]";
    assert_eq!(page.value(marked), json!([2, 1]));
    page.click("#tab-members");
    page.press("Escape");
    page.mouse("mousePressed", corner.0, corner.1);
    page.mouse("mouseReleased", corner.0, corner.1);
    assert_eq!(page.value("document.querySelector('#graph .chosen')"), json!(null));

    // With keys.
    page.value("document.getElementById('graph').focus()");
    page.press("n");
    assert_ne!(page.value("document.querySelector('#graph .chosen')"), json!(null));
    page.press("ArrowRight");
    assert!(near(at(page.value(place)), (before.0 - 40.0, before.1)));
    page.press("+");
    page.press("0");
    assert!(near(at(page.value(place)), before));

    // A cluster has the same picture each time.
    let picture = "[...document.querySelectorAll('#graph .vertex')]\
                   .map((vertex) => vertex.getAttribute('transform')).join()";
    page.press("Escape");
    let first = page.text(picture);
    page.press("j");
    assert_ne!(page.text(picture), first);
    page.press("k");
    assert_eq!(page.text(picture), first);
    assert_eq!(page.complaints(), NOTHING);
}

#[test]
fn windows_searches_filters_and_keys() {
    let folder = tempfile::tempdir().unwrap();
    let windows = synthetic_windows(40, 6);
    let Some(mut page) = opened(&windows, folder.path()) else { return };
    let count = "document.getElementById('listed').textContent";
    let cluster = "document.getElementById('cluster-id').textContent";
    for at in [2, 5, 0] {
        page.click(&format!("#timeline [data-window='{at}'] .hit"));
        let found = &windows[at];
        let clusters = found.findings.clusters.len();
        assert!(page.text(count).starts_with(&format!("{clusters} of {clusters} clusters")));
        let died = page.text("document.querySelector('#legend li:last-child b').textContent");
        assert_eq!(died, found.findings.ended.len().to_string());
        assert!(page.text("location.hash").contains(&format!("window={at:04}")));
    }
    page.value("document.getElementById('timeline').focus()");
    page.press("End");
    assert_eq!(
        page.text("document.getElementById('which').textContent"),
        "Window 0005 of 0000 to 0005"
    );
    page.press("[");
    assert_eq!(
        page.text("document.getElementById('which').textContent"),
        "Window 0004 of 0000 to 0005"
    );
    page.press("]");

    // A member's id finds its cluster, and is chosen in it.
    let found = windows.last().unwrap();
    let member = found.findings.members.last().unwrap();
    let id = found.entities.id_of(member.vertex).to_owned();
    page.press("/");
    page.type_text(&id.to_uppercase());
    assert_eq!(listed(&mut page), [member.cluster.to_string()]);
    page.press("Enter");
    assert_eq!(page.text(cluster), member.cluster.to_string());
    assert!(page.text("document.getElementById('vertex-line').textContent").contains(&id));
    page.press("/");
    page.press("Escape");

    // Events and sizes.
    let clusters = &found.findings.clusters;
    let born = clusters.iter().filter(|c| c.fate == ripplet_fraud::ClusterEvent::Born).count();
    let choose = "(() => { const list = document.getElementById('event'); list.value = '0'; \
                  list.dispatchEvent(new Event('change')); })()";
    page.value(choose);
    assert!(page.text(count).starts_with(&format!("{born} of ")));
    page.value(&choose.replace("'0'", "''"));
    page.value("document.getElementById('least').focus()");
    page.type_text("20");
    let large = clusters.iter().filter(|c| c.size >= 20).count();
    assert!(large > 0 && large < clusters.len());
    assert!(page.text(count).starts_with(&format!("{large} of ")));
    page.value(
        "(() => { const least = document.getElementById('least'); least.value = ''; \
                least.dispatchEvent(new Event('input')); })()",
    );

    // A table is walked with keys, and its end comes into view.
    page.value("document.getElementById('ranking').focus()");
    page.press("Home");
    page.press("ArrowDown");
    assert_eq!(page.text(cluster), clusters[1].id.to_string());
    page.press("End");
    let last = clusters.last().unwrap().id.to_string();
    assert_eq!(page.text(cluster), last);
    let below = format!(
        "(() => {{ const row = document.querySelector('#ranking tr[data-key={last}]')\
         .getBoundingClientRect(); const list = document.getElementById('ranking')\
         .getBoundingClientRect(); return row.bottom <= list.bottom + 1 && row.top >= list.top; }})()"
    );
    assert_eq!(page.value(&below), json!(true));

    // An address leads to a cluster; it stays chosen in other windows that have it.
    let path = folder.path().join("report.html");
    page.open_at(&path, &format!("window=5&cluster={last}"));
    assert_eq!(page.text(cluster), last);
    assert_eq!(page.value(&below), json!(true));
    page.click("#tab-history");
    let lives =
        windows.iter().filter(|w| w.findings.clusters.iter().any(|c| c.id.to_string() == last));
    let rows = page.value("document.querySelectorAll('#history tbody tr').length");
    assert_eq!(rows, json!(lives.count()));

    // Light, dark, printed.
    let paper = "getComputedStyle(document.body).backgroundColor";
    let light = page.text(paper);
    page.look(1440, 900, "dark");
    assert_ne!(page.text(paper), light);
    page.click("#theme");
    assert_eq!(page.text(paper), light);
    assert!(page.print().starts_with(b"%PDF"));
    assert_eq!(page.text(cluster), last);
    page.click("#open-about");
    assert!(
        page.text("document.getElementById('about').innerText").contains("powf(0.5, age / 7.0)")
    );
    assert_eq!(page.complaints(), NOTHING);
}

#[test]
fn ids_are_text_whatever_is_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let hostile = [
        "</script><img src=x onerror=\"window.broken=1\">",
        "<!--<script>",
        "<b>bold</b>&amp;",
        "'\"`${window.broken=1}",
        "\u{202e}right to left\u{2028}\u{0}",
        "__proto__",
    ];
    let mut parts = reports(&synthetic_windows(9, 2));
    for part in &mut parts {
        part.kinds[0] = hostile[0].into();
        for cluster in &mut part.listed {
            cluster.id = format!("{}{}", hostile[0], cluster.id);
            cluster.parents = hostile.map(String::from).into();
            for (member, name) in cluster.evidence.members.iter_mut().zip(hostile.iter().cycle()) {
                member.id = format!("{name}{}", member.id);
            }
        }
    }
    let first = parts[1].listed[0].clone();
    let run = Run { title: hostile[0].into(), notes: vec![hostile[0].into()], ..run() };
    page_of(parts, &run, PageLimits::default(), &path);
    let Some(mut page) = browser::start() else { return };
    page.look(1440, 900, "light");
    page.open(&path);
    assert_eq!(page.text("document.title"), hostile[0]);
    assert_eq!(page.text("document.querySelector('h1').textContent"), hostile[0]);
    assert_eq!(page.text("document.getElementById('cluster-id').textContent"), first.id);
    let mut shown = column(&mut page, "#members", 1);
    let mut ids: Vec<String> = first.evidence.members.iter().map(|m| m.id.clone()).collect();
    shown.sort();
    ids.sort();
    assert!(!shown.is_empty() && shown.iter().all(|id| ids.contains(id)), "{shown:?}");
    for tab in ["edges", "transactions", "scores", "history"] {
        page.click(&format!("#tab-{tab}"));
    }
    page.click("#open-about");
    assert_eq!(
        page.value("window.broken === undefined && document.images.length === 0"),
        json!(true)
    );
    assert_eq!(page.complaints(), NOTHING);

    // Even an injected script would not run, and could send no request.
    let smuggled = "(() => { const script = document.createElement('script'); \
                    script.textContent = 'window.broken = 1'; document.body.append(script); \
                    return window.broken === undefined; })()";
    assert_eq!(page.value(smuggled), json!(true));
    let request = "fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')";
    assert_eq!(page.text(request), "refused");
    let messages = page.complaints();
    assert!(messages.iter().all(|line| line.contains("Content Security Policy")), "{messages:?}");
}

#[test]
fn ten_thousand_clusters_stay_usable_and_the_file_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let found = &synthetic_windows(10_000, 1)[0];
    assert_eq!(found.findings.clusters.len(), 10_000);
    let limits = PageLimits { bytes: 12 << 20 };
    page_of(reports(std::slice::from_ref(found)), &run(), limits, &path);
    let size = fs::metadata(&path).unwrap().len();
    assert!(size < limits.bytes + (256 << 10), "{size} bytes");
    // There are no scores of entities, which may take a quarter.
    assert!(size > limits.bytes / 5 * 2, "{size} bytes: the bound is not used");
    let Some(mut page) = browser::start() else { return };
    page.look(1440, 900, "light");
    page.open(&path);
    let notice = page.text("document.getElementById('notice').textContent");
    assert!(notice.contains("below 12 MiB") && notice.contains("of 10,000 rows"), "{notice}");
    let rows = "document.querySelectorAll('#ranking tbody tr[data-key]').length";
    assert!(page.value(rows).as_u64().unwrap() < 100);
    page.value("document.getElementById('ranking').focus()");
    page.press("End");
    let last = found.findings.clusters.last().unwrap().id.to_string();
    assert_eq!(page.text("document.getElementById('cluster-id').textContent"), last);
    assert_eq!(page.value("document.getElementById('no-detail').hidden"), json!(false));
    assert!(page.value(rows).as_u64().unwrap() < 100);
    // A sort, and a search through all ids, take no longer than a hand notices; a busy machine is given time.
    let timed = "(() => { const begin = performance.now(); \
                 document.querySelector('#ranking th[data-key=size] button').click(); \
                 const search = document.getElementById('search'); search.value = 'shop-00'; \
                 search.dispatchEvent(new Event('input')); return performance.now() - begin; })()";
    let took = page.value(timed).as_f64().unwrap();
    assert!(took < 2000.0, "{took} ms");
    assert_eq!(page.complaints(), NOTHING);
}

#[test]
fn nothing_found_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let [none, empty] = ["none.html", "empty.html"].map(|name| folder.path().join(name));
    page_of(Vec::new(), &run(), PageLimits::default(), &none);
    let mut parts = reports(&synthetic_windows(3, 1));
    parts[0].listed.clear();
    (parts[0].clusters, parts[0].too_large) = (0, 2);
    page_of(parts, &run(), PageLimits::default(), &empty);
    let Some(mut page) = browser::start() else { return };
    page.look(1440, 900, "light");
    page.open(&none);
    assert_eq!(page.value("document.getElementById('empty').hidden"), json!(false));
    page.open(&empty);
    let said = page.text("document.querySelector('#ranking tbody').textContent");
    assert_eq!(said, "No clusters were found in this window.");
    assert_eq!(
        page.text("document.getElementById('listed').textContent"),
        "0 of 0 clusters; 2 groups with too many members left out (--max-size)"
    );
    assert_eq!(page.value("document.getElementById('no-cluster').hidden"), json!(false));
    assert_eq!(page.complaints(), NOTHING);
}

/// Payers and payees in the table, in the picture, and in the saved file; and the payments of an edge.
#[test]
fn the_direction_and_the_single_transactions_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let windows = synthetic_windows(20, 3);
    let Some(mut page) = opened(&windows, folder.path()) else { return };
    let found = windows.last().unwrap();
    let cluster = found.findings.clusters[0].id;
    let edges = found.edges_of(cluster);
    page.click("#tab-edges");
    let [from, to, counts, amounts] = [1, 3, 5, 6].map(|place| column(&mut page, "#edges", place));
    let all = page.text("document.querySelector('#tab-edges small').textContent");
    let among = edges.len().to_string();
    assert!(all == among || all.starts_with(&format!("{among} + ")), "{all}: those outside apart");
    let name = |vertex| found.entities.id_of(vertex).to_owned();
    let mut checked = 0;
    for row in 0..from.len() {
        let edge = edges
            .iter()
            .find(|e| (name(e.source), name(e.target)) == (from[row].clone(), to[row].clone()));
        let Some(edge) = edge else { continue };
        let flow = edge.flow.unwrap();
        let amount = amounts[row].replace(',', "");
        assert_eq!(
            (counts[row].clone(), amount),
            (flow.count.to_string(), flow.amount.unwrap().to_string())
        );
        checked += 1;
    }
    assert!(checked > 3, "{from:?} {to:?}");
    let arrows = "[...document.querySelectorAll('#graph .head')].filter((head) => head.getAttribute('d')).length";
    assert_eq!(page.value(arrows), page.value("document.querySelectorAll('#graph line').length"));
    // An arrow points at who is paid: it is nearer to that end.
    let nearer = "(() => { const line = document.querySelector('#graph line'); \
        const place = document.querySelector('#graph .head').getAttribute('transform').match(/-?[0-9.]+/g).map(Number); \
        const far = (x, y) => Math.hypot(place[0] - line.getAttribute(x), place[1] - line.getAttribute(y)); \
        return far('x2', 'y2') < far('x1', 'y1'); })()";
    assert_eq!(page.value(nearer), json!(true));

    // Those behind an edge, the newest first.
    page.click("#edges tbody tr[data-key] td");
    page.click("#tab-transactions");
    let edge = edges
        .iter()
        .find(|e| (name(e.source), name(e.target)) == (from[0].clone(), to[0].clone()))
        .unwrap();
    let singles = column(&mut page, "#transactions", 6);
    let newest = ripplet_fraud::ledger::Ledger::newest(found, edge.source, edge.target, 100);
    let expected: Vec<String> =
        newest.iter().map(|payment| payment.amount.unwrap().to_string()).collect();
    assert_eq!(singles.iter().map(|text| text.replace(',', "")).collect::<Vec<_>>(), expected);
    assert_eq!(column(&mut page, "#transactions", 2), vec![from[0].clone(); expected.len()]);

    // The saved file has all digits, and the payer.
    page.click("#tab-edges");
    let text = page.text(SAVED);
    let heads = "source,source_kind,target,target_kind,count,amount,weight,first,last,outside\n";
    assert!(text.starts_with(heads), "{text}");
    let flow = edge.flow.unwrap();
    let [from_kind, to_kind] = [edge.source, edge.target].map(|v| found.entities.kind_name_of(v));
    let (count, amount) = (flow.count, flow.amount.unwrap());
    let line = format!("{},{from_kind},{},{to_kind},{count},{amount},", from[0], to[0]);
    assert!(text.lines().any(|other| other.starts_with(&line)), "{line} in {text}");
    assert_eq!(page.complaints(), NOTHING);
}

/// Saves the table that is shown, and returns what the file would hold.
const SAVED: &str = "(() => { let text = null; const real = URL.createObjectURL; const blob = Blob; \
    window.Blob = class extends blob { constructor(parts, options) { super(parts, options); text = parts.join(''); } }; \
    document.getElementById('save').click(); window.Blob = blob; URL.createObjectURL = real; return text; })()";

#[test]
fn a_sentence_says_why() {
    let mut windows = synthetic_windows(20, 1);
    let found = &mut windows[0];
    let id = found.findings.clusters[0].id;
    let edges = found.edges_of(id);
    let back = |e: &&ripplet_fraud::output::Edge| found.flows.contains_key(&(e.target, e.source));
    let one_way = edges.iter().find(|e| !back(e) && e.flow.unwrap().count > 1).unwrap();
    let both_ways = edges.iter().find(back).unwrap();
    let name = |v| format!("{} {}", found.entities.kind_name_of(v), found.entities.id_of(v));
    let flow = one_way.flow.unwrap();
    let (source, target) = (name(one_way.source), name(one_way.target));
    let days = match flow.first == flow.last {
        true => format!("on {}", flow.first),
        false => format!("from {} to {}", flow.first, flow.last),
    };
    let two =
        |e: &ripplet_fraud::output::Edge| vec![e.source.min(e.target), e.source.max(e.target)];
    let between = two(both_ways).into_iter().map(name).collect::<Vec<_>>().join(" and ");
    let parts = [two(one_way), two(both_ways), two(one_way).repeat(0)];
    let linked = (one_way.source, one_way.target);
    let size = found.findings.clusters[0].size;
    let why = |found: &mut Found, members: &[u32], chance: f64, seeds: u32, pair: Option<usize>| {
        let cluster = &mut found.findings.clusters[0];
        (cluster.chance, cluster.seeds) = (chance, seeds);
        cluster.why =
            BusiestPart { members: members.to_vec(), transactions: 5, expected: 0.0123, pair };
        found.report(ReportLimits::default()).listed[0].why.clone()
    };
    let [one, two, none] = parts;
    let busiest = format!(
        "5 transactions {source} → {target} {days}, where 0.012 are expected in the whole window"
    );
    // Clusters that chance does not explain have the sentence with and without known bad members.
    for seeds in [0, 2] {
        assert_eq!(
            why(found, &one, 0.001, seeds, None),
            format!("{busiest}; chance alone: 1 in 1,000")
        );
    }
    let said = why(found, &two, 0.3, 0, None);
    assert!(said.starts_with(&format!("5 transactions between {between} ")), "{said}");
    assert!(said.ends_with("chance alone: 1 in 3: noise"), "{said}");
    assert!(why(found, &none, 1.0, 0, None).contains("noise"));
    // A known bad member is evidence of another kind.
    for (seeds, are) in [(1, "is"), (2, "are")] {
        assert_eq!(
            why(found, &one, 0.3, seeds, None),
            format!(
                "{seeds} of its {size} members {are} known bad; its transactions alone may be chance: {busiest}"
            )
        );
    }
    let said = why(found, &none, 1.0, 2, None);
    assert!(said.contains("known bad") && !said.contains("noise"), "{said}");
    // Of several pairs of columns, that which is counted is named, and its edges are examined alone.
    found.pairs = ["buyer → shop", "buyer → device"].map(String::from).to_vec();
    found.linked.insert(linked, vec![1]);
    let said = why(found, &one, 0.001, 0, Some(1));
    let begin = format!("5 transactions {source} → {target} (buyer → device) {days}, ");
    assert!(said.starts_with(&begin), "{said}");
}

/// A cluster that chance explains is called so, and has no colours; and it can be left out.
#[test]
fn noise_is_not_coloured() {
    let folder = tempfile::tempdir().unwrap();
    let mut windows = synthetic_windows(20, 1);
    // Some clusters without a known bad member.
    let Found { findings, known_bad, .. } = &mut windows[0];
    for cluster in findings.clusters.iter_mut().step_by(2) {
        let members = findings.members.iter_mut().filter(|member| member.cluster == cluster.id);
        members.for_each(|member| {
            member.known_bad = false;
            known_bad.vertices.retain(|&vertex| vertex != member.vertex);
        });
        cluster.seeds = 0;
    }
    let Some(mut page) = opened(&windows, folder.path()) else { return };
    let clusters = &windows[0].findings.clusters;
    let (noise, others): (Vec<_>, Vec<_>) =
        clusters.iter().partition(|c| c.chance > 0.05 && c.seeds == 0);
    let busy = others.iter().find(|c| c.chance <= 0.05).unwrap();
    let known = others.iter().find(|c| c.chance > 0.05).expect("one that is known bad alone");
    // By rank, noise last.
    let ranked: Vec<String> = others.iter().chain(&noise).map(|c| c.id.to_string()).collect();
    assert_eq!(listed(&mut page), ranked);
    let worst = noise.first().unwrap();
    for (cluster, is_noise) in [(worst, true), (busy, false), (known, false)] {
        page.value(&format!(
            "location.hash = ''; document.querySelector('#ranking tr[data-key={}]').click()",
            cluster.id
        ));
        assert_eq!(
            page.text("document.getElementById('cluster-id').textContent"),
            cluster.id.to_string()
        );
        let why = page.text("document.getElementById('why').textContent");
        assert_eq!(why.ends_with("noise"), is_noise, "{why}");
        let of_chance = cluster.id != known.id;
        assert_eq!(why.contains("chance alone: "), of_chance, "{why}");
        assert_eq!(why.contains("members are known bad; "), !of_chance && known.seeds > 1, "{why}");
        let line = page.text("document.getElementById('cluster-line').textContent");
        assert_eq!(line.starts_with("noise"), is_noise, "{line}");
        // One colour for all, or those of the scores.
        let colours = page.value(
            "new Set([...document.querySelectorAll('#graph .vertex:not(.outside) .shape')]\
            .map((shape) => getComputedStyle(shape).fill)).size",
        );
        assert_eq!(colours == json!(1), is_noise, "{colours}");
    }
    page.click("#without-noise");
    let shown = listed(&mut page);
    let expected: Vec<String> = others.iter().map(|cluster| cluster.id.to_string()).collect();
    assert_eq!(shown, expected);
    let odds = column(&mut page, "#ranking", 4);
    assert_eq!(odds.len(), others.len());
    for (text, cluster) in odds.iter().zip(&others) {
        assert!(text.starts_with("1 in ") || cluster.seeds > 0, "{odds:?}");
    }
    assert_eq!(page.complaints(), NOTHING);
}

/// A score has its colour whatever the others of its window are, and nothing is said of known bad where there are none.
#[test]
fn colours_mean_the_same_without_known_bad() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let mut parts = reports(&synthetic_windows(5, 1));
    parts[0].known_bad = 0;
    parts[0].known.clear();
    let clusters = parts[0].listed.iter_mut();
    let members = clusters.flat_map(|cluster| cluster.evidence.members.iter_mut());
    for (place, member) in members.enumerate() {
        member.score = Some(-8.5 - 0.001 * (place % 7) as f64);
        (member.standing, member.share, member.distance) = (ListStatus::Unknown, None, None);
    }
    page_of(parts, &run(), PageLimits::default(), &path);
    let Some(mut page) = browser::start() else { return };
    page.look(1440, 900, "light");
    page.open(&path);
    let heat = "[...new Set([...document.querySelectorAll('#graph .shape')]\
                .map((shape) => shape.style.getPropertyValue('--heat')))].join()";
    assert_eq!(page.text(heat), "23%");
    let heads = "[...document.querySelectorAll('#members thead th')].map((head) => head.textContent.trim()).join()";
    assert_eq!(page.text(heads), "Entity,Kind,Score");
    let key = page.text("document.getElementById('kinds').textContent");
    assert!(key.contains("0.00 or more") && !key.contains("known bad"), "{key}");
    assert_eq!(page.complaints(), NOTHING);
}

/// Also of other windows than the chosen one, of no cluster, and known bad or not.
#[test]
fn search_finds_everybody_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let mut windows = synthetic_windows(20, 4);
    // A cluster is dissolved in the last window: its members transact, and are in no cluster.
    let last = windows.last_mut().unwrap();
    let gone = last.findings.clusters.pop().unwrap().id;
    let (left, members): (Vec<_>, Vec<_>) =
        last.findings.members.drain(..).partition(|member| member.cluster != gone);
    last.findings.members = left;
    let known = members.iter().find(|member| member.known_bad).unwrap().vertex;
    let unknown = members.iter().find(|member| !member.known_bad).unwrap().vertex;
    let Some(mut page) = opened(&windows, folder.path()) else { return };
    let name = |vertex| windows[0].entities.id_of(vertex).to_owned();
    for (vertex, bad) in [(known, true), (unknown, false)] {
        page.value(&format!(
            "(() => {{ const search = document.getElementById('search'); search.value = '{}'; \
            search.dispatchEvent(new Event('input')); }})()",
            name(vertex)
        ));
        let found = page.text("document.querySelector('#found li').textContent");
        assert!(found.starts_with(&name(vertex)), "{found}");
        assert_eq!(found.contains("known bad"), bad, "{found}");
        let days = windows[3].window.range;
        assert!(found.contains(&format!("window of {days}: in no cluster")), "{found}");
        for (at, found_in) in windows.iter().enumerate().take(3) {
            let member = found_in.findings.members.iter().find(|member| member.vertex == vertex);
            let Some(member) = member else { continue };
            assert!(found.contains(&member.cluster.to_string()), "{at}: {found}");
        }
    }
    // A click leads to the cluster in its window.
    page.click("#found button:nth-of-type(2)");
    let (window, cluster) = (
        page.text("document.getElementById('which').textContent"),
        page.text("document.getElementById('cluster-id').textContent"),
    );
    assert!(
        window != "Window 0003 of 0000 to 0003" && cluster.starts_with('c'),
        "{window} {cluster}"
    );
    page.value(
        "(() => { const search = document.getElementById('search'); search.value = 'unknown-id'; \
        search.dispatchEvent(new Event('input')); })()",
    );
    assert!(
        page.text("document.getElementById('found').textContent")
            .starts_with("No entity of any window")
    );
    assert_eq!(page.complaints(), NOTHING);
}

#[test]
fn all_known_bad_are_listed_with_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut windows = synthetic_windows(12, 2);
    let last = windows.last_mut().unwrap();
    let idle = (0..last.entities.len()).find(|&v| last.window.graph.degree(v) == 0).unwrap();
    last.known_bad.vertices.push(idle);
    last.known_bad.vertices.sort_unstable();
    // And entries that hold at the end of no window.
    let day = |day: i64| Some(ripplet_fraud::Timestamp(last.window.range.until.0 + day * DAY));
    let entry = |id: &str, from, until| ripplet_fraud::seeds::ListEntry {
        kind: ripplet_fraud::KindId(0),
        id: id.into(),
        from,
        until,
    };
    let noon = "2026-01-05T12:30:07".parse().ok();
    let list = [
        entry("a ghost", day(-3), None),
        entry("a ghost", noon, None),
        entry("later", day(2), None),
        entry("earlier", None, day(-2)),
        entry("void", day(1), day(-1)),
        entry(
            "between",
            Some(ripplet_fraud::Timestamp(day(-1).unwrap().0 + 1)),
            day(0).map(|end| ripplet_fraud::Timestamp(end.0 - 2)),
        ),
    ];
    let unheld = [
        ("later", "known bad only from 2026-02-03 on, after the last window"),
        ("void", "never known bad: its end (2026-01-31) is not after its beginning (2026-02-02)"),
        ("earlier", "known bad only until 2026-01-30, before the first window ends"),
        (
            "between",
            "known bad only from 2026-01-31 00:00:00.000001 to 2026-01-31 23:59:59.999998, when no window ends",
        ),
    ];
    last.listed_bad = list.to_vec();
    let never = ["a ghost", "z"].map(|id| (ripplet_fraud::KindId(0), id.to_owned()));
    last.known_bad.unseen = never.to_vec();
    let gone = last.findings.clusters.pop().unwrap().id;
    last.findings.members.retain(|member| member.cluster != gone);
    let expected: Vec<(String, String)> = last
        .known_bad
        .vertices
        .iter()
        .map(|&vertex| {
            let member = last.findings.members.iter().find(|member| member.vertex == vertex);
            let place = match member {
                Some(member) => member.cluster.to_string(),
                None if vertex == idle => "no transactions in this window".into(),
                None => "in no cluster".into(),
            };
            (last.entities.id_of(vertex).to_owned(), place)
        })
        .collect();
    assert!(expected.iter().any(|(_, place)| place == "in no cluster"));
    let never = never.map(|(_, id)| (id, "in no transaction so far".to_owned()));
    let expected: Vec<_> = expected.into_iter().chain(never).collect();
    let path = folder.path().join("known_bad.csv");
    last.with(|of| ripplet_fraud::output::write_known_bad(&path, of).unwrap());
    let table = fs::read_to_string(path).unwrap();
    assert!(table.contains(",a ghost,never seen,\n") && table.ends_with(",z,never seen,\n"));
    assert_eq!(table.lines().count(), 1 + expected.len());
    let Some(mut page) = opened(&windows, folder.path()) else { return };
    page.click("#open-known");
    let ids = column(&mut page, "#known-list", 1);
    let places = column(&mut page, "#known-list", 3);
    let since = column(&mut page, "#known-list", 4);
    let ghost = ids.iter().position(|id| id == "a ghost").unwrap();
    assert_eq!(since[ghost], "2026-01-05 12:30:07");
    let mut shown: Vec<_> = ids.into_iter().zip(places).collect();
    // The rows at the end are drawn when they are in view.
    page.value(
        "(() => { const list = document.getElementById('known-list'); list.scrollTop = list.scrollHeight; \
         list.dispatchEvent(new Event('scroll')); })()",
    );
    let [ids, places] = [1, 3].map(|place| column(&mut page, "#known-list", place));
    shown.extend(ids.into_iter().zip(places));
    page.value(
        "(() => { const list = document.getElementById('known-list'); list.scrollTop = 0; \
         list.dispatchEvent(new Event('scroll')); })()",
    );
    let mut expected = expected;
    expected.extend(unheld.iter().map(|&(id, why)| (id.to_owned(), why.to_owned())));
    shown.sort();
    shown.dedup();
    expected.sort();
    assert_eq!(shown, expected);
    let line = page.text("document.getElementById('known-line').textContent");
    let further = "2 are in no transaction so far. 4 further entries of the list hold in no window of this run.";
    assert!(line.ends_with(further), "{line}");
    let all = expected.len() - unheld.len();
    assert!(line.contains(&format!(" of {all} are in a cluster")), "{line}");
    // The header counts the same.
    let figure = page.text("document.querySelector('#figures div:nth-child(3)').textContent");
    assert_eq!(figure, format!("Known bad{all}"));
    page.click("#known-list tbody tr[data-key] td");
    assert_eq!(page.value("document.getElementById('known').open"), json!(false));
    // The search has them, too.
    let found = searched(&mut page, "a ghost");
    let since = "known bad since 2026-01-05 12:30:07";
    let days = windows[1].window.range;
    assert_eq!(found, [format!("a ghost user {since} window of {days}: in no transaction so far")]);
    for (id, why) in unheld {
        assert_eq!(searched(&mut page, id), [format!("{id} user {why} ")]);
        enter(&mut page, id);
        let remark = page.text("document.getElementById('remark').textContent");
        assert_eq!(remark, format!("user {id}: {why}"));
    }
    assert_eq!(page.complaints(), NOTHING);
}

/// Results of a search.
fn searched(page: &mut Browser, text: &str) -> Vec<String> {
    page.value(&format!(
        "(() => {{ const search = document.getElementById('search'); search.value = '{text}'; \
        search.dispatchEvent(new Event('input')); }})()"
    ));
    let lines =
        page.value("[...document.querySelectorAll('#found li')].map((line) => line.textContent)");
    serde_json::from_value(lines).unwrap()
}

/// Two entities with one id differ by their kind, in the tables and in what is saved of them.
#[test]
fn tables_have_the_kinds_of_entities() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let mut parts = reports(&synthetic_windows(6, 1));
    let evidence = &mut parts[0].listed[0].evidence;
    let edge = evidence.edges.iter().find(|edge| {
        let kind = |place: u32| evidence.members[place as usize].kind;
        kind(edge.source) != kind(edge.target)
    });
    let (source, target) = edge.map(|edge| (edge.source, edge.target)).unwrap();
    for place in [source, target] {
        evidence.members[place as usize].id = "5".into();
    }
    let kinds = parts[0].kinds.clone();
    let kind = |place: u32| {
        kinds[usize::from(parts[0].listed[0].evidence.members[place as usize].kind)].clone()
    };
    let expected = ["5".to_owned(), kind(source), "5".to_owned(), kind(target)];
    page_of(parts.clone(), &run(), PageLimits::default(), &path);
    let Some(mut page) = browser::start() else { return };
    page.look(1440, 900, "light");
    page.open(&path);
    for (tab, first) in [("edges", 1), ("transactions", 2)] {
        page.click(&format!("#tab-{tab}"));
        let table = format!("#{tab}");
        let columns = [0, 1, 2, 3].map(|place| column(&mut page, &table, first + place));
        // The rows that are drawn may have the two in other pairs.
        let mut seen = 0;
        for end in [0, 2] {
            let ids = columns[end].iter().zip(&columns[end + 1]);
            for (_, kind) in ids.filter(|(id, _)| *id == "5") {
                assert!([&expected[1], &expected[3]].contains(&kind), "{columns:?}");
                seen += 1;
            }
        }
        assert!(seen > 0, "{columns:?}");
        let text = page.text(SAVED);
        let line = expected.join(",");
        assert!(text.lines().any(|other| other.contains(&line)), "{line} in {text}");
    }
    // The file has them also where the run has one kind, and the table has no need of them.
    for part in &mut parts {
        part.kinds.truncate(1);
        let members = part.listed.iter_mut().flat_map(|cluster| &mut cluster.evidence.members);
        members.for_each(|member| member.kind = 0);
        part.others.iter_mut().chain(&mut part.known).for_each(|other| other.kind = 0);
    }
    page_of(parts, &run(), PageLimits::default(), &path);
    page.open(&path);
    page.click("#tab-transactions");
    let heads = page.text("document.querySelector('#transactions thead').textContent");
    assert_eq!(heads, "TimeFromToAmountOutside");
    assert!(
        page.text(SAVED).starts_with("time,source,source_kind,target,target_kind,amount,outside\n")
    );
    assert_eq!(page.complaints(), NOTHING);
}

/// The tip of an arrow is outside the payee's shape and ring, close to them, and nothing is drawn above it.
#[test]
fn arrows_end_at_the_rim_of_who_is_paid() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut page) = opened(&synthetic_windows(20, 1), folder.path()) else { return };
    let places = "(() => { \
        const numbers = (element) => element.getAttribute('transform').match(/-?[0-9.]+/g).map(Number); \
        const nodes = [...document.querySelectorAll('#graph .vertex')].map((node) => ({ node, at: numbers(node) })); \
        const heads = [...document.querySelectorAll('#graph .head')]; \
        return [...document.querySelectorAll('#graph line')].map((line, place) => { \
          const [x, y] = ['x2', 'y2'].map((name) => Number(line.getAttribute(name))); \
          const { node } = nodes.find(({ at }) => at[0] === x && at[1] === y); \
          const tip = numbers(heads[place]); \
          const far = Math.hypot(tip[0] - x, tip[1] - y); \
          const inside = (share) => [...node.querySelectorAll('.shape, .ring')].some((shape) => \
            shape.isPointInFill(new DOMPoint((tip[0] - x) * share, (tip[1] - y) * share))); \
          return [inside(1), inside((far - 3) / far)]; \
        }); })()";
    for _ in 0..3 {
        let places = page.value(places);
        let places = places.as_array().unwrap();
        assert!(
            places.len() > 10 && places.iter().all(|place| *place == json!([false, true])),
            "{places:?}"
        );
        page.press("j");
    }
    let last = "document.querySelector('#graph svg').lastElementChild.getAttribute('class')";
    assert_eq!(page.text(last), "heads");
    assert_eq!(page.complaints(), NOTHING);
}

/// Types into the search, and chooses the first result.
fn enter(page: &mut Browser, text: &str) {
    page.press("/");
    page.press("Escape");
    page.press("/");
    page.type_text(text);
    page.press("Enter");
}

#[test]
fn a_search_leads_to_other_windows_by_keys_and_clicks() {
    let folder = tempfile::tempdir().unwrap();
    let mut windows = synthetic_windows(20, 4);
    // A cluster is dissolved in the last window, and all along one of another is known bad in the last window alone.
    let last = windows.last_mut().unwrap();
    let gone = last.findings.clusters.pop().unwrap().id;
    let (left, members): (Vec<_>, Vec<_>) =
        last.findings.members.drain(..).partition(|member| member.cluster != gone);
    last.findings.members = left;
    let always = |windows: &[Found], vertex, cluster| {
        windows.iter().take(3).all(|found| {
            found.findings.members.iter().any(|m| m.vertex == vertex && m.cluster == cluster)
        })
    };
    let lonely = members.iter().find(|m| !m.known_bad && always(&windows, m.vertex, gone));
    let lonely = lonely.expect("who was in the cluster before").vertex;
    let known = &windows[3].findings.members;
    let known = known.iter().find(|m| m.known_bad && always(&windows, m.vertex, m.cluster));
    let known = known.expect("who was in its cluster before").clone();
    for found in &mut windows[..3] {
        found.known_bad.vertices.retain(|&vertex| vertex != known.vertex);
    }
    let name = |vertex| windows[0].entities.id_of(vertex).to_owned();
    let kind = windows[0].entities.kind_name_of(lonely);
    let (lonely, known_name) = (name(lonely), name(known.vertex));
    let Some(mut page) = opened(&windows, folder.path()) else { return };
    let which = "document.getElementById('which').textContent";
    let cluster = "document.getElementById('cluster-id').textContent";
    let line = "document.getElementById('vertex-line').textContent";

    enter(&mut page, &lonely);
    assert_eq!(
        (page.text(which), page.text(cluster)),
        ("Window 0002 of 0000 to 0003".into(), gone.to_string())
    );
    assert!(page.text(line).contains(&lonely));

    // An entity in no cluster is named as such.
    page.click("#found button");
    assert_eq!(page.text(which), "Window 0003 of 0000 to 0003");
    let last_days = page.text("document.getElementById('range').textContent");
    let said = format!("{kind} {lonely}: in no cluster (window of {last_days})");
    let visible = "(() => { const { hidden, textContent, offsetHeight } = document.getElementById('remark'); \
                   return hidden || offsetHeight === 0 ? '' : textContent; })()";
    assert_eq!(page.text(visible), said);
    let sentence = page.text("document.getElementById('no-cluster').textContent");
    assert_eq!(sentence, said);
    assert_eq!(page.value("document.getElementById('no-cluster').hidden"), json!(false));

    // The cluster is found by its id in the windows that have it.
    let lines = searched(&mut page, &gone.to_string());
    let first = windows.iter().position(|w| w.findings.clusters.iter().any(|c| c.id == gone));
    let ends = |at: usize| windows[at].window.range.until.as_last();
    let (first, third) = (ends(first.unwrap()), ends(2));
    assert_eq!(lines[0], format!("{gone} cluster windows ending {first} to {third}"));
    enter(&mut page, &gone.to_string());
    assert_eq!(
        (page.text(which), page.text(cluster)),
        ("Window 0002 of 0000 to 0003".into(), gone.to_string())
    );

    // That something became known splits no stretch: it is said beside it.
    let lines = searched(&mut page, &known_name);
    let known_in = format!(" known bad in the window of {} ", windows[3].window.range);
    let (begin, rest) = lines[0].split_once(&*known_in).expect("since when");
    assert!(begin.starts_with(&known_name), "{lines:?}");
    assert_eq!(
        rest,
        format!("windows ending {} to {}: {}", ends(0), ends(3), known.cluster),
        "{lines:?}"
    );
    assert_eq!(page.complaints(), NOTHING);
}

/// An entity that is not there for a while has a stretch for that.
#[test]
fn a_search_has_no_gaps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let mut parts = reports(&synthetic_windows(6, 3));
    let mut members = parts[0].listed[0].evidence.members.iter();
    let member = members.find(|m| !m.outside && m.standing == ListStatus::Unknown).unwrap().clone();
    let same = |id: &str, kind: u8| id == member.id && kind == member.kind;
    for part in &mut parts {
        for cluster in &mut part.listed {
            let members = cluster.evidence.members.iter_mut();
            members.filter(|m| same(&m.id, m.kind)).for_each(|m| m.outside = true);
        }
    }
    for at in [0, 2] {
        parts[at].others.push(OtherReport {
            kind: member.kind,
            id: member.id.clone(),
            cluster: None,
            place: Presence::Active,
            since: None,
        });
    }
    parts[1].entities -= 1;
    page_of(parts, &run(), PageLimits::default(), &path);
    let Some(mut page) = browser::start() else { return };
    page.look(1440, 900, "light");
    page.open(&path);
    let line = &searched(&mut page, &member.id)[0];
    let ends = |words: &str| line.contains(words);
    assert!(line.matches("window of ").count() == 3 && line.matches("in no cluster").count() == 2);
    assert!(
        ends("in no cluster, window of ") && ends(": no transactions in this window, window of ")
    );
    assert_eq!(page.complaints(), NOTHING);
}

/// Counts in two places name the counted things.
#[test]
fn counts_of_members_agree() {
    let folder = tempfile::tempdir().unwrap();
    let windows = synthetic_windows(40, 8);
    let report = windows.last().unwrap().report(ReportLimits::default());
    let outside = |cluster: &ripplet_fraud::report::ClusterReport| {
        cluster.evidence.members.iter().filter(|member| member.outside).count()
    };
    let cluster = report.listed.iter().find(|cluster| outside(cluster) > 0).unwrap();
    let Some(mut page) = opened(&windows, folder.path()) else { return };
    let path = folder.path().join("report.html");
    page.open_at(&path, &format!("window=7&cluster={}", cluster.id));
    let line = page.text("document.getElementById('cluster-line').textContent");
    assert!(line.contains(&format!(" {} members, ", cluster.size)), "{line}");
    let tab = page.text("document.getElementById('tab-members').textContent");
    assert_eq!(tab, format!("Members {} + {} outside", cluster.size, outside(cluster)));
    // The file says who is no member, in the page's word for it.
    let saved = page.text(SAVED);
    let rows = |is: &str| saved.lines().filter(|line| line.contains(&format!(",{is},"))).count();
    assert!(saved.starts_with("id,kind,member,standing,"), "{saved}");
    assert_eq!((rows("yes"), rows("no")), (cluster.size as usize, outside(cluster)), "{saved}");
    let badges = page.text("document.querySelector('#members').textContent");
    assert!(badges.contains("outside") && !badges.contains("not a member"), "{badges}");
    // Edges and transactions with those outside are counted apart, and marked.
    let members = &cluster.evidence.members;
    let edges = &cluster.evidence.edges;
    let is_outside = |vertex: u32| members[vertex as usize].outside;
    let is_beside = |edge: &&EdgeReport| is_outside(edge.source) || is_outside(edge.target);
    let beside: Vec<_> = edges.iter().filter(is_beside).collect();
    assert!(!beside.is_empty());
    let among = edges.len() - beside.len();
    let tab = page.text("document.getElementById('tab-edges').textContent");
    let title = "Who paid whom";
    assert_eq!(tab, format!("{title} {among} + {} with entities outside", beside.len()));
    let tab = page.text("document.getElementById('tab-transactions').textContent");
    assert!(tab.contains(" + ") && tab.ends_with("with entities outside"), "{tab}");
    page.click("#tab-edges");
    let saved = page.text(SAVED);
    let marked = saved.lines().filter(|line| line.ends_with(",payer") || line.ends_with(",payee"));
    assert_eq!(marked.count(), beside.len(), "{saved}");
    assert_eq!(page.complaints(), NOTHING);
}

/// Each tab saves what it shows.
#[test]
fn every_tab_saves_its_own_table() {
    let folder = tempfile::tempdir().unwrap();
    let windows = synthetic_windows(20, 3);
    let Some(mut page) = opened(&windows, folder.path()) else { return };
    page.click("#tab-scores");
    let saved = page.text(SAVED);
    assert!(saved.starts_with("score,value,share_of_clusters_below,meaning,formula\nscore,"));
    for line in ["\ndensity,", "\nconductance,", "\nchance,"] {
        assert!(saved.contains(line), "{line} in {saved}");
    }
    page.click("#tab-history");
    let shown = page.value("document.querySelectorAll('#history tbody tr').length");
    let saved = page.text(SAVED);
    assert!(saved.starts_with("from,until,event,rank,score,size,known_bad,parents\n20"), "{saved}");
    assert_eq!(saved.lines().count() as u64, 1 + shown.as_u64().unwrap(), "{saved}");
    assert_eq!(page.complaints(), NOTHING);
}

/// Only what a spreadsheet would run is changed in a saved file.
#[test]
fn saved_ids_are_changed_only_if_they_would_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let ids = [
        ("-5", "-5"),
        ("+49170", "+49170"),
        ("-1.50", "-1.50"),
        ("=1+1", "'=1+1"),
        ("-5+cmd", "'-5+cmd"),
        ("@sum", "'@sum"),
        ("=1,2", "\"'=1,2\""),
    ];
    let mut parts = reports(&synthetic_windows(12, 1));
    for (cluster, (id, _)) in parts[0].listed.iter_mut().zip(ids) {
        cluster.evidence.members[0].id = id.into();
    }
    let clusters: Vec<String> = parts[0].listed.iter().map(|cluster| cluster.id.clone()).collect();
    page_of(parts, &run(), PageLimits::default(), &path);
    let Some(mut page) = browser::start() else { return };
    page.look(1440, 900, "light");
    let mut checked = 0;
    for (cluster, (_, saved)) in clusters.iter().zip(ids) {
        page.open_at(&path, &format!("window=0&cluster={cluster}"));
        let text = page.text(SAVED);
        assert!(text.lines().any(|line| line.starts_with(&format!("{saved},"))), "{saved}: {text}");
        checked += 1;
    }
    assert_eq!(checked, ids.len());
}

/// A row of the data that links three is a transaction once for each pair of columns, and so is listed once.
#[test]
fn a_transaction_of_several_pairs_is_listed_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut windows = synthetic_windows(20, 2);
    for found in &mut windows {
        found.pairs = ["buyer → shop", "buyer → device"].map(String::from).to_vec();
        let kind_of = |vertex| found.entities.kind_name_of(vertex) == "device";
        let pair = |&(a, b): &(u32, u32)| ((a, b), vec![u32::from(kind_of(a) || kind_of(b))]);
        found.linked = found.flows.keys().map(pair).collect();
    }
    let Some(mut page) = opened(&windows, folder.path()) else { return };
    let found = windows.last().unwrap();
    let edges = found.report(ReportLimits::default()).listed[0].evidence.edges.clone();
    let count = |pair: u32| -> u64 {
        edges.iter().filter(|edge| edge.pairs == [pair]).filter_map(|edge| edge.count).sum()
    };
    assert!(count(0) > 0 && count(1) > 0);
    page.click("#tab-edges");
    let pairs: std::collections::BTreeSet<String> =
        column(&mut page, "#edges", 5).into_iter().collect();
    assert!(pairs.iter().eq(["buyer → device", "buyer → shop"]), "{pairs:?}");
    assert_eq!(page.value("document.getElementById('pair').hidden"), json!(true));
    page.click("#tab-transactions");
    assert_eq!(page.value("document.getElementById('pair').hidden"), json!(false));
    let tab = "document.querySelector('#tab-transactions small').textContent";
    for (value, name, expected) in [
        (None, "buyer → shop", count(0)),
        (Some("1"), "buyer → device", count(1)),
        (Some("-1"), "", count(0) + count(1)),
    ] {
        if let Some(value) = value {
            page.value(&format!(
                "(() => {{ const pair = document.getElementById('pair'); pair.value = '{value}'; \
                 pair.dispatchEvent(new Event('change')); }})()"
            ));
        }
        // Those with entities outside are counted apart.
        let counts = page.text(tab).replace(" with entities outside", "");
        let counts: u64 = counts.split(" + ").map(|count| count.parse::<u64>().unwrap()).sum();
        assert_eq!(counts, expected, "{value:?}");
        let names = column(&mut page, "#transactions", 6);
        assert!(!names.is_empty() && (name.is_empty() || names.iter().all(|other| other == name)));
    }
    let saved = page.text(SAVED);
    assert!(
        saved.starts_with("time,source,source_kind,target,target_kind,columns,amount,outside\n"),
        "{saved}"
    );
    assert_eq!(page.complaints(), NOTHING);
}

/// Times are written as finely as the data has them.
#[test]
fn times_have_what_the_data_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let Some(mut page) = browser::start() else { return };
    page.look(1440, 900, "light");
    for (micros, shown, saved) in [
        (0, "2026-01-08", "2026-01-08T00:00:00Z"),
        (45_000_000 * 60, "2026-01-08 00:45", "2026-01-08T00:45:00Z"),
        (45_000_000, "2026-01-08 00:00:45", "2026-01-08T00:00:45Z"),
        (45_120_000, "2026-01-08 00:00:45.120", "2026-01-08T00:00:45.120Z"),
        (45_120_007, "2026-01-08 00:00:45.120007", "2026-01-08T00:00:45.120007Z"),
    ] {
        let mut parts = reports(&synthetic_windows(3, 1));
        let from = parts[0].from;
        for (place, edge) in parts[0].listed[0].evidence.edges.iter_mut().enumerate() {
            let day = from + 7 * DAY;
            edge.newest = vec![(if place == 0 { day + micros } else { day }, None)];
            edge.last = edge.newest.first().map(|newest| newest.0);
        }
        page_of(parts, &run(), PageLimits::default(), &path);
        page.open(&path);
        for (tab, place) in [("edges", 9), ("transactions", 1)] {
            page.click(&format!("#tab-{tab}"));
            let times = column(&mut page, &format!("#{tab}"), place);
            assert!(times.iter().any(|time| time == shown), "{shown} in {times:?}");
            // All of a column alike.
            assert!(times.iter().all(|time| time.len() == shown.len()), "{times:?}");
            let text = page.text(SAVED);
            assert!(text.contains(saved), "{saved} in {text}");
        }
    }
    assert_eq!(page.complaints(), NOTHING);
}

/// Entities without room on the page are counted by window, with the command that finds them.
#[test]
fn what_the_search_leaves_out_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let mut windows = synthetic_windows(20, 3);
    // Those of the first window who are left out of the clusters that are listed.
    windows[0].findings.clusters.truncate(1);
    let first = windows[0].findings.clusters[0].id;
    windows[0].findings.members.retain(|member| member.cluster == first);
    let size = windows[0].findings.members.len() as u64;
    let few = ReportLimits { others: 3, known: 2, ..ReportLimits::default() };
    let mut parts = reports(&windows);
    let whole = parts[0].entities;
    parts[0] = windows[0].report(few);
    let known = parts[0].known_bad;
    let members = parts[0].listed.iter().flat_map(|cluster| &cluster.evidence.members);
    let members = members.filter(|member| !member.outside).map(|member| member.id.clone());
    let others = parts[0].others.iter().chain(&parts[0].known).map(|other| other.id.clone());
    let parts_of_first: Vec<String> = members.chain(others).collect();
    page_of(parts, &run(), PageLimits::default(), &path);
    let Some(mut page) = browser::start() else { return };
    page.look(1440, 900, "light");
    page.open(&path);
    let left = whole - size - 3;
    let notice = page.text("document.getElementById('notice').textContent");
    let command = "“ripplet fraud find ID 'rings of spring'”";
    let searched_not = format!("lacks {left} of {whole} entities of the window of ");
    for part in
        [&*searched_not, command, &format!("lack {} of {known} known bad entities of", known - 2)]
    {
        assert!(notice.contains(part), "{part} in {notice}");
    }
    // That a window has an entity not is known of those alone that are searched in full.
    let later = windows[2].findings.members.first().unwrap().vertex;
    let lines = searched(&mut page, windows[2].entities.id_of(later));
    let in_first = parts_of_first.iter().any(|id| id == windows[2].entities.id_of(later));
    let marked = lines[0].contains("(1 other window not searched in full)");
    assert_eq!(marked, !in_first, "{lines:?}");
    let found = searched(&mut page, "unknown-id");
    page.click("#timeline [data-window='0'] .hit");
    let range = page.text("document.getElementById('range').textContent");
    let said = format!(
        "Not searched, as this file is to stay small: {left} of {whole} entities of the window of {range}. {command} finds every entity."
    );
    assert_eq!(found, ["No entity of any window in this file has such an id.", &said]);
    let notes = page.text("document.getElementById('notes').textContent");
    assert!(
        notes.contains(&format!(
            "Not searched: {left} of {whole} entities of the window of {range}."
        ))
    );
    page.click("#open-known");
    let line = page.text("document.getElementById('known-line').textContent");
    assert!(line.contains(&format!("This file lists 2 of {known};")), "{line}");
    assert_eq!(page.complaints(), NOTHING);
}

/// An entity that is in many windows is named once, and costs a bit of each.
#[test]
fn the_search_of_many_windows_is_small() {
    let folder = tempfile::tempdir().unwrap();
    let size = |windows: usize| {
        let mut found = synthetic_windows(400, 1).remove(0);
        // In no cluster.
        found.findings.clusters.clear();
        found.findings.members.clear();
        found.known_bad.vertices.clear();
        let part = found.report(ReportLimits::default());
        let path = folder.path().join("report.html");
        page_of(vec![part.clone(); windows], &run(), PageLimits::default(), &path);
        (fs::metadata(path).unwrap().len(), part.entities)
    };
    let ((few, entities), (many, _)) = (size(1), size(21));
    let of_window = (many - few) / 20;
    assert!(entities > 5000 && of_window < entities / 5 + 4000, "{entities}: {of_window}");
}

/// Windows as large as those of `examples/fraud` (15 clusters, 15,600 entities): 1,000 of them take less than 50 MB, as
/// the page and as the parts that the run folder keeps. The size of few windows says that of many: a part has its own
/// bytes, and a page beside them the ids of all entities, once.
#[test]
fn a_thousand_windows_take_less_than_50_mb() {
    const ENTITIES: usize = 15_600;
    const WINDOWS: u64 = 12;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let windows = synthetic_windows(60, WINDOWS as usize);
    let parts: Vec<WindowReport> = reports(&windows)
        .into_iter()
        .map(|mut part| {
            // Others than in the window before, in no order that helps.
            let id = |at: usize| (at * 7919 + part.index as usize) % 30_011 + 100_000;
            let other = |at| OtherReport {
                kind: 0,
                id: id(at).to_string(),
                cluster: None,
                place: Presence::Active,
                since: None,
            };
            part.others = (0..ENTITIES).map(other).collect();
            part.others.sort_by(|a, b| a.id.cmp(&b.id));
            part.listed.truncate(15);
            part.clusters = 15;
            scored(&mut part, 0.4);
            part
        })
        .collect();
    assert!(parts.iter().all(|part| part.listed.len() == 15));
    let gzipped = |part: &WindowReport| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        serde_json::to_writer(&mut encoder, part).unwrap();
        encoder.finish().unwrap().len() as u64
    };
    let kept: u64 = parts.iter().map(gzipped).sum::<u64>() / WINDOWS;
    let size = |parts: &[WindowReport]| {
        page_of(parts.to_vec(), &run(), PageLimits::default(), &path);
        fs::metadata(&path).unwrap().len()
    };
    let (one, all) = (size(&parts[WINDOWS as usize - 1..]), size(&parts));
    let of_window = (all - one) / (WINDOWS - 1);
    let page = one + 999 * of_window;
    assert!(page < 50_000_000, "{page} bytes: {of_window} a window");
    assert!(1000 * kept < 50_000_000, "{kept} bytes a window");
    // Nothing was left out for that.
    let Some(mut browser) = browser::start() else { return };
    browser.look(1440, 900, "light");
    browser.open(&path);
    assert_eq!(browser.text("document.getElementById('notice').textContent"), "");
    assert!(column(&mut browser, "#members", 1).len() > 1);
    assert_eq!(browser.complaints(), NOTHING);
}

/// Gives a window's part scores: some of its entities are listed with reasons, and the check says how good they are.
fn scored(part: &mut WindowReport, average_precision: f64) {
    let others: Vec<(u8, String, Option<String>)> = part
        .listed
        .iter()
        .flat_map(|cluster| {
            let unknown = cluster.evidence.members.iter();
            let unknown = unknown.filter(|m| !m.outside && m.standing == ListStatus::Unknown);
            unknown.map(|m| (m.kind, m.id.clone(), Some(cluster.id.clone())))
        })
        .take(30)
        .chain(part.others.iter().take(70).map(|other| (other.kind, other.id.clone(), None)))
        .collect();
    let between = others.last().map(|(kind, id, _)| (*kind, id.clone())).unwrap();
    let bad = part.known.first().map(|known| (known.kind, known.id.clone())).unwrap();
    let explanation = |id: &(u8, String, Option<String>)| ExplanationReport {
        reasons: vec![
            (
                "pagerank".into(),
                2.25,
                "0.31 % of walks from the known bad are at it (typical: 0.002 %)".into(),
            ),
            ("fan_in".into(), 1.5, "34 different payers on one day (typical: 1)".into()),
            ("burst".into(), 0.4, "<b>1.2</b> burstiness (typical: 0.1)".into()),
        ],
        names: vec![(id.0, id.1.clone()), between.clone(), bad.clone()],
        path: vec![0, 1, 2],
        along_ties: true,
        flows: vec![
            FlowReport {
                ends: (0, 1),
                count: Some(3),
                amount: Some(123_456),
                times: Some((part.from, part.from + 2 * DAY)),
            },
            FlowReport {
                ends: (2, 1),
                count: Some(1),
                amount: Some(500),
                times: Some((part.from + DAY, part.from + DAY)),
            },
        ],
        transactions: vec![TransactionReport {
            ends: (0, 1),
            time: part.from + 2 * DAY,
            amount: Some(99_999),
        }],
    };
    part.scored = others
        .iter()
        .zip(1..)
        .map(|(of, rank)| EntityReport {
            kind: of.0,
            id: of.1.clone(),
            score: 0.9 / rank as f32,
            rank,
            cluster: of.2.clone(),
            standing: ListStatus::Unknown,
            explanation: explanation(of),
        })
        .collect();
    for cluster in &mut part.listed {
        cluster.explanation = explanation(&(0, cluster.evidence.members[0].id.clone(), None));
        for member in &mut cluster.evidence.members {
            member.entity_score = Some((0.25, 7));
        }
    }
    let mut fold = CheckedFold::default();
    (fold.known_bad, fold.precision_at_100, fold.base_rate) = (20, 0.75, 0.02);
    let check = Check {
        average_precision,
        precision_at_100: 0.15,
        base_rate: 0.02,
        chance: 0.02,
        chance_deviation: 0.002,
        auc: if average_precision > 0.1 { 0.8 } else { 0.5 },
        auc_deviation: 0.03,
        known_bad: 100,
        evidence: BTreeMap::from([("pagerank".into(), 0.3), ("fan_in".into(), 0.1)]),
        evidence_found_at_100: BTreeMap::from([("pagerank".into(), 85.0)]),
        evidence_error: BTreeMap::from([("pagerank".into(), 0.01)]),
        folds: vec![fold; 5],
    };
    part.scores = Some(ScoreRecord {
        entities: part.entities,
        learnt: true,
        known_bad: 100,
        others: 1000,
        check: Some(check),
    });
}

#[test]
fn entities_are_listed_with_reasons_paths_and_a_check() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let mut windows = synthetic_windows(20, 4);
    for found in &mut windows {
        // The others are in no cluster.
        found.findings.clusters.truncate(8);
        let ids: Vec<_> = found.findings.clusters.iter().map(|cluster| cluster.id).collect();
        found.findings.members.retain(|member| ids.contains(&member.cluster));
    }
    let mut parts = reports(&windows);
    scored(&mut parts[1], 0.02);
    scored(&mut parts[2], 0.2);
    scored(&mut parts[3], 0.4);
    let (all, last) = (parts.clone(), parts[3].clone());
    page_of(parts, &run(), PageLimits::default(), &path);
    let Some(mut page) = browser::start() else { return };
    page.look(1440, 900, "light");
    page.open(&path);
    let text = |page: &mut Browser, id: &str| {
        page.text(&format!("document.getElementById('{id}').textContent"))
    };
    // A cluster has its reasons, and its path in a tab.
    assert!(
        text(&mut page, "cluster-reasons")
            .contains("34 different payers on one day (typical: 1)+1.5")
    );
    page.click("#tab-path");
    let first = &last.listed[0].explanation;
    let chain = text(&mut page, "path");
    for (_, name) in &first.names {
        assert!(chain.contains(&**name), "{name} in {chain}");
    }
    assert!(
        chain.contains("2 hops, each a tie beyond chance") && chain.contains("1,234.56"),
        "{chain}"
    );
    assert!(page.value("document.querySelector('#path .is-bad') !== null").as_bool().unwrap());

    page.click("#list-entities");
    let ids: Vec<String> = last.scored.iter().map(|entity| entity.id.clone()).collect();
    let shown = column(&mut page, "#entities", 2);
    assert!(shown.len() > 10);
    assert!(shown.iter().zip(&ids).all(|(shown, id)| shown.ends_with(&**id)), "{shown:?}");
    let total = format!("{} of {} entities", ids.len(), last.entities);
    assert!(text(&mut page, "listed").starts_with(&total), "{}", text(&mut page, "listed"));
    assert!(
        text(&mut page, "entity-line").contains("Rank 1 of"),
        "{}",
        text(&mut page, "entity-line")
    );
    assert!(text(&mut page, "entity-reasons").contains("<b>1.2</b> burstiness"), "as text");
    assert!(page.value("document.querySelector('#entity-reasons b') === null").as_bool().unwrap());
    // Keys walk the list; the address leads back.
    page.press("j");
    assert!(text(&mut page, "entity-line").contains("Rank 2 of"));
    let fragment = page.text("location.hash.slice(1)");
    page.open_at(&path, &fragment);
    assert!(text(&mut page, "entity-line").contains("Rank 2 of"), "{fragment}");
    assert!(text(&mut page, "entity-id").ends_with(&*ids[1]));
    // To its cluster, and back by the search, which also finds those in no cluster.
    let cluster = last.scored[1].cluster.clone().unwrap();
    page.click("#entity-line .link");
    assert_eq!(text(&mut page, "cluster-id"), cluster);
    assert!(page.value("document.getElementById('entities').hidden").as_bool().unwrap());
    let is_member = |id: &str| {
        let clusters = all.iter().flat_map(|part| &part.listed);
        clusters.flat_map(|cluster| &cluster.evidence.members).any(|member| member.id == id)
    };
    let alone = last.scored.iter().find(|entity| !is_member(&entity.id)).unwrap();
    enter(&mut page, &alone.id);
    assert!(text(&mut page, "entity-id").ends_with(&*alone.id));
    assert!(text(&mut page, "entity-line").contains("in no cluster"));

    // The check of a window whose scores are better than chance and each evidence, of one with a better evidence, and of
    // one that is no better than chance.
    assert!(page.value("document.getElementById('at-chance').hidden").as_bool().unwrap());
    page.click("#open-check");
    let words = text(&mut page, "check-words");
    assert!(
        words.contains("Average precision is 0.400, and that of a random ranking 0.020; the AUC is 0.80, and that of a random ranking 0.5. Among the first 100 of all parts are 75 of 100 that were held out."),
        "{words}"
    );
    let rows = page.value(
        "[...document.querySelectorAll('#check-table tbody tr')].map((row) => row.textContent)",
    );
    assert_eq!(
        rows,
        json!([
            "score0.40075 of 100",
            "pagerank0.30085 of 100",
            "fan_in0.100",
            "a random ranking0.020"
        ])
    );
    page.press("Escape");
    page.value("document.getElementById('check').close()");
    page.press("[");
    let warning = text(&mut page, "at-chance");
    assert!(warning.starts_with("One evidence alone ranks clearly better"), "{warning}");
    assert!(
        warning.contains("pagerank has an average precision of 0.300, and the scores have 0.200"),
        "{warning}"
    );
    assert!(warning.contains("ORDER BY \"pagerank\" DESC NULLS LAST"), "{warning}");
    assert!(!warning.contains("--model none"), "{warning}");
    assert!(!page.value("document.getElementById('at-chance').hidden").as_bool().unwrap());
    page.press("[");
    let warning = text(&mut page, "at-chance");
    assert!(warning.starts_with("The scores rank no better than chance"), "{warning}");
    assert!(warning.contains("pagerank alone has 0.300"), "{warning}");
    assert!(!page.value("document.getElementById('at-chance').hidden").as_bool().unwrap());
    // A window without scores says so.
    page.press("[");
    page.click("#open-check");
    assert_eq!(text(&mut page, "check-words"), "No entity of this window has a score.");
    assert_eq!(page.complaints(), NOTHING);
}

#[test]
fn a_run_without_a_model_lists_clusters_alone() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut page) = opened(&synthetic_windows(12, 2), folder.path()) else { return };
    for id in ["lists", "open-check", "tab-path", "cluster-reasons", "at-chance"] {
        assert!(
            page.value(&format!("document.getElementById('{id}').hidden")).as_bool().unwrap(),
            "{id}"
        );
    }
    assert!(!page.value("document.getElementById('clusters-title').hidden").as_bool().unwrap());
    assert_eq!(page.complaints(), NOTHING);
}

/// Pictures for people, where `RIPPLET_SCREENSHOTS` names a folder.
#[test]
fn pictures() {
    let Some(folder) = std::env::var_os("RIPPLET_SCREENSHOTS").map(PathBuf::from) else { return };
    let Some(mut page) = browser::start() else { return };
    let path = folder.join("report.html");
    page_of(reports(&synthetic_windows(140, 42)), &run(), PageLimits::default(), &path);
    for (name, width, height, scheme) in [
        ("light", 1440, 900, "light"),
        ("dark", 1440, 900, "dark"),
        ("wide", 1920, 1080, "light"),
        ("small", 1100, 700, "light"),
        ("tablet", 820, 1180, "light"),
        ("phone", 390, 844, "dark"),
    ] {
        page.look(width, height, scheme);
        page.open(&path);
        let shot = page.screenshot(width < 900);
        fs::write(folder.join(format!("{name}.png")), shot).unwrap();
    }
    assert_eq!(page.complaints(), NOTHING);
}
