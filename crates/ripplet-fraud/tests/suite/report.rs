//! `report.html`, opened in a real browser.

use crate::browser;
use crate::market::{Found, market};
use ripplet_fraud::report::{
    Definitions, PageLimits, ReportBuilder, ReportLimits, Run, write_report,
};
use serde_json::json;
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
    }
}

fn written(folder: &Path, windows: &[Found], limits: ReportLimits, page: PageLimits) -> PathBuf {
    let mut builder = ReportBuilder::new(page);
    for found in windows.iter().rev() {
        builder.add(found.report(limits));
    }
    let path = folder.join("report.html");
    write_report(&path, &run(), &Definitions::default(), &builder).unwrap();
    path
}

/// Pictures for people, where `RIPPLET_SCREENSHOTS` names a folder.
#[test]
fn pictures() {
    let Some(folder) = std::env::var_os("RIPPLET_SCREENSHOTS").map(PathBuf::from) else { return };
    let Some(mut page) = browser::start() else { return };
    let path = written(&folder, &market(140, 42), ReportLimits::default(), PageLimits::default());
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
        std::fs::write(folder.join(format!("{name}.png")), shot).unwrap();
    }
    assert_eq!(page.complaints(), Vec::<String>::new());
    let _ = json!(null);
}
