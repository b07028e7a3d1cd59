//! Statements of the documents about the examples and the project.

use super::{document, root};
use crate::sandbox::Sandbox;

/// The text of a file of the repository.
fn text(name: &str) -> String {
    document(&root().join(name)).text
}

#[test]
fn the_molecules_are_the_same_in_three_formats() {
    let sandbox = Sandbox::new();
    let examples = root().join("examples");
    let mut tables = Vec::new();
    for (input, flags) in [("molecules", ""), ("MOLECULES", ""), ("molecules.csv", "--batch")] {
        let input = examples.join(input);
        sandbox.ok(&format!("apsp {} -o {} --rows graphs {flags}", input.display(), "graphs.csv"));
        // A data set's graphs have numbers: the order of the names.
        let table = sandbox.read("graphs.csv");
        let rows = table.lines().map(|line| line.split_once(',').unwrap().1.to_owned());
        tables.push(rows.collect::<Vec<_>>());
    }
    assert_eq!(tables[0].len(), 11, "{:?}", tables[0]);
    assert_eq!(tables[0], tables[1]);
    assert_eq!(tables[0], tables[2]);
}

#[test]
fn every_account_of_the_payments_has_a_group() {
    let sandbox = Sandbox::new();
    let graphs = root().join("examples/graphs");
    let (payments, groups) = (graphs.join("payments.csv"), graphs.join("groups.csv"));
    sandbox.ok(&format!("communities {} -o found.csv --weighted", payments.display()));
    let [payments, groups] = [payments, groups].map(|path| path.display().to_string());
    let judged = sandbox.ok(&format!("quality {payments} found.csv --weighted --truth {groups}"));
    let judged: serde_json::Value = serde_json::from_str(&judged).unwrap();
    let nmi = judged.to_string();
    assert!(nmi.contains("nmi"), "{nmi}");
    let table = text("examples/graphs/payments.csv");
    assert_eq!(table.lines().count(), 352);
}

#[test]
fn versions_are_those_of_the_manifest() {
    let manifest = text("Cargo.toml");
    let value = |key: &str| {
        let line = manifest.lines().find(|line| line.starts_with(key)).unwrap();
        line.split('"').nth(1).unwrap().to_owned()
    };
    let rust = format!("Rust {}", value("rust-version = "));
    assert!(text("README.md").contains(&rust), "README.md does not say {rust}");
    assert!(text("CONTRIBUTING.md").contains(&rust), "CONTRIBUTING.md does not say {rust}");
    let version = format!("\nversion: {}\n", value("version = "));
    assert!(text("CITATION.cff").contains(&version), "CITATION.cff has another version");
}

#[test]
fn the_rings_of_the_purchases_are_found_as_the_page_says() {
    let sandbox = Sandbox::new();
    let page = text("docs/transactions.md");
    let files = super::files_of("docs/transactions.md");
    let [(name, mapping)] = &files[..] else { panic!("{files:?}") };
    sandbox.write(name, mapping);
    sandbox.ok(
        "generate transactions --days 10 --scale 0.0001 -o purchases.csv --truth rings.csv --seeds known-buyers.csv",
    );
    sandbox.ok(
        "fraud run purchases.csv --mapping purchases.toml --known-bad known-buyers.csv --window 10d --output buyers \
         --device cpu",
    );
    let truth = sandbox.read("rings.csv");
    let in_rings: Vec<_> =
        truth.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    let run = ripplet::fraud::folder::RunFolder::open(&sandbox.path("buyers")).unwrap();
    let part = run.part(&run.finished().unwrap()[0]).unwrap();
    let report = serde_json::to_value(&part).unwrap();
    let clusters = report["listed"].as_array().unwrap();
    let of_cluster =
        |cluster: &serde_json::Value| cluster["evidence"]["members"].as_array().cloned();
    let listed = clusters.iter().filter_map(of_cluster).flatten();
    let members: Vec<_> = listed.filter(|member| member["outside"] == false).collect();
    let is_in_ring =
        |member: &serde_json::Value| in_rings.contains(&member["id"].as_str().unwrap());
    assert!(members.iter().all(is_in_ring));
    let found = format!("{} clusters of {} members", clusters.len(), members.len());
    assert!(page.contains(&found), "the page says something else than {found}");
    let all = format!("which has {}", in_rings.len());
    assert!(page.contains(&all), "the page does not say {all}");
}
