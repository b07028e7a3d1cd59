//! Links between the pages, and the index.

use super::{Document, document, pages_of, root, user_pages};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A page's text without its blocks and inline code.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if !fenced {
            // Every second part is in backquotes.
            prose.extend(line.split('`').step_by(2));
            prose.push('\n');
        }
    }
    prose
}

/// The targets of `[text](target)` and `![text](target)`.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    targets.map(str::to_owned).collect()
}

/// The names by which a page's headings are linked to, as GitHub makes them.
fn anchors(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut names = Vec::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let Some(heading) = line.strip_prefix('#').filter(|_| !fenced) else { continue };
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        names.push(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
    }
    names
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The links of a page that lead nowhere.
fn broken_links(page: &Document) -> Vec<String> {
    let folder = root().join(&page.name).parent().unwrap().to_owned();
    let inside = links(&page.text).into_iter().filter(|link| !link.contains("://"));
    let broken = inside.filter(|link| {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let path = match file {
            "" => root().join(&page.name),
            file => plain(&folder.join(file)),
        };
        let has_anchor = || {
            let text = fs::read_to_string(&path).unwrap_or_default();
            anchors(&text).iter().any(|name| name == anchor)
        };
        !path.exists() || !(anchor.is_empty() || has_anchor())
    });
    broken.map(|link| format!("{}: {link}", page.name)).collect()
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let mut pages = user_pages();
    pages.extend(pages_of("."));
    pages.extend(pages_of("docs/adr"));
    pages.push(document(&root().join("bench/README.md")));
    let count: usize = pages.iter().map(|page| links(&page.text).len()).sum();
    assert!(count > 200, "{count} links");
    let broken: Vec<_> = pages.iter().flat_map(broken_links).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_link_to_nowhere_is_found() {
    let text = "# A (b) c\n[x](gpu.md) [y](nowhere.md) [z](#a-b-c) [w](#none) `[v](none)` [u](gpu.md#nothing)";
    let page = Document { name: "docs/p.md".into(), text: text.into() };
    // The page is not a file: its own anchors are not found either.
    let broken = ["nowhere.md", "#a-b-c", "#none", "gpu.md#nothing"];
    assert_eq!(broken_links(&page), broken.map(|link| format!("docs/p.md: {link}")));
    assert_eq!(anchors(text), ["a-b-c"]);
}

#[test]
fn the_index_has_every_page() {
    let index = document(&root().join("docs/README.md"));
    let linked = links(&index.text);
    for page in pages_of("docs") {
        let file = page.name.strip_prefix("docs/").unwrap().to_owned();
        assert!(file == "README.md" || linked.contains(&file), "docs/README.md lacks {file}");
        let title = page.text.lines().next().unwrap_or_default();
        assert!(title.starts_with("# "), "{} begins with `{title}`", page.name);
    }
    let readme = document(&root().join("README.md"));
    assert!(links(&readme.text).contains(&"docs/README.md".to_owned()));
}
