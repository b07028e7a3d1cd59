//! Finds files of a crate that use each other in a circle.
//!
//! A file uses another one if it names something that the other declares, also by a re-export. What a module declares for
//! its own submodules (`mod.rs`, `lib.rs`) makes no circle with them, and neither do tests.

use crate::root;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// Keywords before the name of what is declared.
const DECLARE: [&str; 8] = ["const", "enum", "fn", "static", "struct", "trait", "type", "union"];

/// The path of a module, without the crate.
type Name = Vec<String>;

/// A file, and what it declares and names.
#[derive(Default)]
struct Module {
    declared: BTreeSet<String>,
    /// What it re-exports, by name.
    exported: BTreeMap<String, Name>,
    /// What it imports, by name: paths as they are written.
    imported: BTreeMap<String, Name>,
    /// The paths in it, as they are written.
    paths: BTreeSet<Name>,
}

/// The modules of a crate.
type Modules = BTreeMap<Name, Module>;

/// What each module uses of others: the other module, and one of the names.
type Uses = BTreeMap<Name, BTreeMap<Name, String>>;

/// Fails if files of a crate use each other in a circle.
pub fn circles() -> Result<(), String> {
    let crates = root().join("crates");
    let mut found = Vec::new();
    for folder in folders(&crates)? {
        let source = folder.join("src");
        let mut modules = Modules::new();
        read_folder(&source, &source, &mut modules)?;
        let uses = uses(&modules);
        if let Some(circle) = circle(&uses) {
            let file = |name: &Name| if name.is_empty() { "lib".into() } else { name.join("/") };
            let step = |pair: &[Name]| {
                format!(
                    "{} uses `{}` of {}",
                    file(&pair[0]),
                    uses[&pair[0]][&pair[1]],
                    file(&pair[1])
                )
            };
            let steps: Vec<String> = circle.windows(2).map(step).collect();
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            found.push(format!("{name}: {}", steps.join(", ")));
        }
    }
    match &found[..] {
        [] => Ok(()),
        found => Err(format!("files use each other in a circle:\n{}", found.join("\n"))),
    }
}

fn folders(of: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = of.read_dir().map_err(|error| format!("{}: {error}", of.display()))?;
    let mut all: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    all.sort();
    Ok(all)
}

fn read_folder(folder: &Path, source: &Path, modules: &mut Modules) -> Result<(), String> {
    for path in folders(folder)? {
        if path.is_dir() {
            read_folder(&path, source, modules)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            let tokens = text.parse::<TokenStream>();
            let tokens = tokens.map_err(|error| format!("{}: {error}", path.display()))?;
            let mut module = Module::default();
            module.read(tokens, true);
            modules.insert(name_of(&path, source), module);
        }
    }
    Ok(())
}

/// Returns the name of the module in a file.
fn name_of(path: &Path, source: &Path) -> Name {
    let inside = path.strip_prefix(source).unwrap_or(path).with_extension("");
    let mut name: Name = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if matches!(name.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        name.pop();
    }
    name
}

impl Module {
    /// Adds what the tokens declare, if they are those of the whole file, and name.
    fn read(&mut self, tokens: TokenStream, is_file: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let (mut at, mut is_public) = (0, false);
        while at < tokens.len() {
            if is_test(&tokens[at..]) {
                at += 2 + item_length(&tokens[at + 2..]);
                continue;
            }
            let word = word(&tokens[at]);
            match word.as_deref() {
                // No `use<…>` of a type.
                Some("use") if !is_punct(tokens.get(at + 1), '<') => {
                    let length = item_length(&tokens[at..]);
                    self.import(&tokens[at + 1..at + length - 1], is_public);
                    at += length;
                    is_public = false;
                    continue;
                }
                Some(keyword) if is_file && DECLARE.contains(&keyword) => {
                    self.declared.extend(tokens.get(at + 1).and_then(self::word));
                }
                _ => {}
            }
            // `pub`, or `pub(crate)`.
            let is_scope = matches!(&tokens[at], TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
            is_public = word.as_deref() == Some("pub") || is_public && is_scope;
            let path = path(&tokens[at..]);
            if let TokenTree::Group(group) = &tokens[at] {
                self.read(group.stream(), false);
            }
            at += (3 * path.len()).saturating_sub(2).max(1);
            if path.len() > 1 {
                self.paths.insert(path);
            }
        }
    }

    /// Adds the paths of a `use`.
    fn import(&mut self, tree: &[TokenTree], is_public: bool) {
        for (path, name) in expanded(tree, &[]) {
            let names = if is_public { &mut self.exported } else { &mut self.imported };
            names.insert(name, path.clone());
            self.paths.insert(path);
        }
    }
}

fn word(token: &TokenTree) -> Option<String> {
    match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    }
}

fn is_punct(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// Whether the tokens begin with `#[cfg(test)]`.
fn is_test(tokens: &[TokenTree]) -> bool {
    let attribute = tokens.get(1).map(ToString::to_string).unwrap_or_default();
    is_punct(tokens.first(), '#') && attribute.replace(' ', "") == "[cfg(test)]"
}

/// Returns the number of tokens up to the end of an item.
fn item_length(tokens: &[TokenTree]) -> usize {
    let is_last = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        token => is_punct(Some(token), ';'),
    };
    let before_last = tokens.iter().take_while(|token| !is_last(token)).enumerate();
    let is_use = before_last
        .filter(|(at, _)| !is_punct(tokens.get(at + 1), '<'))
        .any(|(_, token)| word(token).as_deref() == Some("use"));
    let is_end =
        |token: &TokenTree| if is_use { is_punct(Some(token), ';') } else { is_last(token) };
    tokens.iter().position(is_end).map_or(tokens.len(), |last| last + 1)
}

/// Returns the path that the tokens begin with: words with `::` between them.
fn path(tokens: &[TokenTree]) -> Name {
    let mut path = Name::new();
    for (at, token) in tokens.iter().enumerate() {
        match (at % 3, word(token)) {
            (0, Some(word)) => path.push(word),
            (1 | 2, None) if is_punct(Some(token), ':') => {}
            _ => break,
        }
    }
    path
}

/// Returns the paths of the tree of a `use`, and the name that each is imported by.
fn expanded(tree: &[TokenTree], before: &[String]) -> Vec<(Name, String)> {
    let mut own = before.to_vec();
    for (at, token) in tree.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                let parts = inside.split(|token| is_punct(Some(token), ','));
                return parts.flat_map(|part| expanded(part, &own)).collect();
            }
            TokenTree::Ident(word) if word == "as" => {
                let name = tree.get(at + 1).and_then(self::word);
                return vec![(own, name.unwrap_or_default())];
            }
            // `self` at the end is what is before it.
            TokenTree::Ident(word) if word == "self" && !own.is_empty() => {}
            TokenTree::Ident(word) => own.push(word.to_string()),
            _ => {}
        }
    }
    let name = own.last().cloned().unwrap_or_default();
    if own.len() > before.len() || !before.is_empty() && !tree.is_empty() {
        vec![(own, name)]
    } else {
        Vec::new()
    }
}

/// Returns a path in a module as one from the crate's root; `None` if it is of another crate.
fn from_root(path: &[String], of: &Name, modules: &Modules, deep: usize) -> Option<Name> {
    let first = path.first()?.as_str();
    match first {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([of, &path[1..]].concat()),
        "super" => {
            let supers = path.iter().take_while(|part| *part == "super").count();
            let base = &of[..of.len().checked_sub(supers)?];
            Some([base, &path[supers..]].concat())
        }
        _ => {
            let child = [of, &path[..1]].concat();
            if modules.contains_key(&child) {
                return Some([of, path].concat());
            }
            let imported =
                modules[of].imported.get(first).filter(|imported| imported[..] != path[..1]);
            let imported = from_root(imported.filter(|_| deep > 0)?, of, modules, deep - 1)?;
            Some([&imported, &path[1..]].concat())
        }
    }
}

/// Returns the module that declares what a path from the root names, and the name.
fn declaring(path: &[String], modules: &Modules, deep: usize) -> Option<(Name, String)> {
    let length = (0..=path.len()).rev().find(|&length| modules.contains_key(&path[..length]))?;
    let (of, name) = (path[..length].to_vec(), path.get(length)?);
    let module = &modules[&of];
    if module.declared.contains(name) {
        return Some((of, name.clone()));
    }
    // A submodule may name what this module imports and does not export.
    let named = module.exported.get(name).or_else(|| module.imported.get(name));
    let exported = from_root(named.filter(|_| deep > 0)?, &of, modules, 3)?;
    declaring(&exported, modules, deep - 1)
}

/// Returns what modules use of others, but for modules that they are in.
fn uses(modules: &Modules) -> Uses {
    let mut all = Uses::new();
    for (of, module) in modules {
        let paths = module.paths.iter().filter_map(|path| from_root(path, of, modules, 3));
        for (other, name) in paths.filter_map(|path| declaring(&path, modules, 6)) {
            if !of.starts_with(&other) {
                all.entry(of.clone()).or_default().insert(other, name);
            }
        }
    }
    all
}

/// Returns the shortest circle, with its first module at the end again.
fn circle(uses: &Uses) -> Option<Vec<Name>> {
    uses.keys().filter_map(|first| way_back(first, uses)).min_by_key(Vec::len)
}

/// Returns the fewest uses that lead from a module to itself.
fn way_back(first: &Name, uses: &Uses) -> Option<Vec<Name>> {
    let mut before: BTreeMap<&Name, &Name> = BTreeMap::new();
    let mut waiting = VecDeque::from([first]);
    while let Some(module) = waiting.pop_front() {
        for other in uses.get(module).into_iter().flat_map(BTreeMap::keys) {
            if other == first {
                let steps =
                    std::iter::successors(Some(module), |module| before.get(module).copied());
                let mut back: Vec<Name> = [first].into_iter().chain(steps).cloned().collect();
                back.reverse();
                return Some(back);
            }
            if !before.contains_key(other) {
                before.insert(other, module);
                waiting.push_back(other);
            }
        }
    }
    None
}
