//! Checks that the library and the command build with subsets of their cargo features.

use crate::{USAGE, cargo, root};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;

/// Packages whose features a user chooses.
const PACKAGES: [&str; 2] = ["ripplet", "ripplet-cli"];

/// Features that only stand for others.
const ALIASES: [&str; 2] = ["default", "full"];

/// The features of a package: what each turns on in the same package.
type Features = BTreeMap<String, BTreeSet<String>>;

/// Checks all subsets of at most two features of each package; with `--quick`, that of none.
pub fn features(arguments: &[String]) -> Result<(), String> {
    let is_quick = match arguments {
        [] => false,
        [option] if option == "--quick" => true,
        [unknown, ..] => return Err(format!("features knows no {unknown}\n{USAGE}")),
    };
    let metadata = metadata()?;
    let mut checked = 0;
    for package in PACKAGES {
        let features = features_of(&metadata, package)?;
        let subsets = if is_quick { vec![vec![]] } else { subsets(&features) };
        for subset in &subsets {
            check(package, &subset.join(","))?;
        }
        checked += subsets.len();
    }
    if !is_quick {
        test_refusals()?;
    }
    println!("{checked} subsets of features build without a warning");
    Ok(())
}

/// Returns the subsets of at most two features that turn on different sets, the smaller first.
fn subsets(features: &Features) -> Vec<Vec<&str>> {
    let names: Vec<&str> = features.keys().map(String::as_str).collect();
    let pairs = (0..names.len())
        .flat_map(|a| (a + 1..names.len()).map(move |b| (a, b)))
        .map(|(a, b)| vec![names[a], names[b]]);
    let singles = names.iter().map(|&name| vec![name]);
    let mut seen = BTreeSet::new();
    [vec![]]
        .into_iter()
        .chain(singles)
        .chain(pairs)
        .filter(|of| seen.insert(closure(features, of)))
        .collect()
}

/// Returns the features that a subset turns on, itself included.
fn closure(features: &Features, subset: &[&str]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut open: Vec<&str> = subset.to_vec();
    while let Some(name) = open.pop() {
        if all.insert(name.to_owned()) {
            open.extend(features.get(name).into_iter().flatten().map(String::as_str));
        }
    }
    all
}

/// Checks a package with a list of features; a warning is an error.
fn check(package: &str, features: &str) -> Result<(), String> {
    println!("checking {package} with the features [{features}]");
    let mut cargo = cargo();
    cargo.args(["check", "--quiet", "--locked", "--package", package]);
    cargo.args(["--no-default-features", "--features", features]);
    let output =
        cargo.current_dir(root()).output().map_err(|error| format!("{cargo:?}: {error}"))?;
    // A cached warning is printed again, so that nothing is hidden by an earlier check.
    let messages = String::from_utf8_lossy(&output.stderr);
    if output.status.success() && !messages.contains("warning:") {
        return Ok(());
    }
    Err(format!("{messages}\n{package} does not build with the features [{features}] alone"))
}

/// Runs the tests of the library with its default features: each absent format is refused by its name.
fn test_refusals() -> Result<(), String> {
    let mut cargo = cargo();
    cargo.args(["test", "--quiet", "--locked", "--package", "ripplet", "--test", "suite"]);
    crate::run(&mut cargo)
}

/// Returns what cargo knows of the workspace.
fn metadata() -> Result<serde_json::Value, String> {
    let mut cargo = cargo();
    cargo.args(["metadata", "--no-deps", "--format-version", "1"]);
    let output = cargo.current_dir(root()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{cargo:?}: {error}"))?;
    serde_json::from_slice(&output.stdout).map_err(|error| format!("{cargo:?}: {error}"))
}

/// Returns the features of a package without [`ALIASES`].
fn features_of(metadata: &serde_json::Value, package: &str) -> Result<Features, String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let found = packages
        .filter(|found| found["name"] == package)
        .find_map(|found| found["features"].as_object());
    let found = found.ok_or_else(|| format!("cargo knows no package {package}"))?;
    let own = |list: &serde_json::Value| {
        let names = list.as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
        names.filter(|name| found.contains_key(*name)).map(str::to_owned).collect()
    };
    let listed = found.iter().filter(|(name, _)| !ALIASES.contains(&name.as_str()));
    Ok(listed.map(|(name, list)| (name.clone(), own(list))).collect())
}
