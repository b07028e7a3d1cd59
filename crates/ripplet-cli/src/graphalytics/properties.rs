//! LDBC's properties file: which files a graph is, and the parameters of each algorithm.
//!
//! ```text
//! # comment
//! graph.NAME.vertex-file = NAME.v
//! graph.NAME.edge-file = NAME.e
//! graph.NAME.directed = true
//! graph.NAME.cdlp.max-iterations = 10
//! ```

use crate::failure::Failure;
use ripplet::graph::Direction;
use ripplet::io::{LARGEST_TEXT, Place, ReadError, read_small_text};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A file of keys and values, and the graph that it describes.
pub struct Properties {
    path: PathBuf,
    values: BTreeMap<String, Value>,
    name: String,
}

struct Value {
    text: String,
    line: u64,
}

impl Properties {
    /// Reads a properties file.
    pub fn read(path: &Path) -> Result<Properties, Failure> {
        let text = read_small_text(path, LARGEST_TEXT, "the properties of a graph")?;
        let mut values = BTreeMap::new();
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.trim();
            if text.is_empty() || text.starts_with(['#', '!']) {
                continue;
            }
            let Some((key, value)) = text.split_once(['=', ':']) else {
                let sentence = format!("expected `key = value`, not `{}`", shortened(text));
                return Err(ReadError::content(path, Place::Line(line), sentence).into());
            };
            values.insert(key.trim().into(), Value { text: value.trim().into(), line });
        }
        let name = name_of(&values).ok_or_else(|| {
            let sentence = "expected a key `graph.NAME.vertex-file`, but there is none";
            ReadError::content(path, Place::File, sentence)
        })?;
        Ok(Properties { path: path.into(), values, name })
    }

    /// The graph's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file of a key, in the same folder.
    pub fn file(&self, key: &str) -> Result<PathBuf, Failure> {
        let value = self.required(key, "a file's name")?;
        Ok(self.beside(&value.text))
    }

    /// Returns the reference output of an algorithm, if it exists.
    pub fn reference(&self, suffix: &str) -> Option<PathBuf> {
        let path = self.beside(&format!("{}-{suffix}", self.name));
        path.is_file().then_some(path)
    }

    /// Returns whether edges are directed.
    pub fn direction(&self) -> Result<Direction, Failure> {
        let value = self.required("directed", "true or false")?;
        match value.text.to_ascii_lowercase().as_str() {
            "true" => Ok(Direction::Directed),
            "false" => Ok(Direction::Undirected),
            _ => Err(self.unlike(value, "directed", "true or false")),
        }
    }

    /// Returns a required number.
    pub fn number(&self, key: &str) -> Result<u32, Failure> {
        let expected = "a whole number below 2^32";
        let value = self.required(key, expected)?;
        value.text.parse().map_err(|_| self.unlike(value, key, expected))
    }

    /// Returns an optional count and its line.
    pub fn count(&self, key: &str) -> Result<Option<(u64, u64)>, Failure> {
        let Some(value) = self.values.get(&self.key(key)) else { return Ok(None) };
        let count = value.text.parse();
        let count = count.map_err(|_| self.unlike(value, key, "a whole number"))?;
        Ok(Some((count, value.line)))
    }

    /// An error about a line of this file.
    pub fn error(&self, line: u64, sentence: String) -> Failure {
        ReadError::content(&self.path, Place::Line(line), sentence).into()
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(name)
    }

    fn key(&self, key: &str) -> String {
        format!("graph.{}.{key}", self.name)
    }

    fn required(&self, key: &str, expected: &str) -> Result<&Value, Failure> {
        let key = self.key(key);
        self.values.get(&key).ok_or_else(|| {
            let sentence = format!("the key `{key}` is missing: expected {expected}");
            ReadError::content(&self.path, Place::File, sentence).into()
        })
    }

    fn unlike(&self, value: &Value, key: &str, expected: &str) -> Failure {
        let (key, text) = (self.key(key), shortened(&value.text));
        self.error(value.line, format!("`{key}` is `{text}`: expected {expected}"))
    }
}

/// The name that the first vertex file belongs to.
fn name_of(values: &BTreeMap<String, Value>) -> Option<String> {
    let name = |key: &str| Some(key.strip_prefix("graph.")?.strip_suffix(".vertex-file")?.into());
    values.keys().find_map(|key| name(key))
}

/// Shortens a value for a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", text[..end].escape_debug()),
        None => text.escape_debug().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Properties, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.properties");
        std::fs::write(&path, text).unwrap();
        Properties::read(&path).map_err(|failure| failure.to_string())
    }

    #[test]
    fn values_are_read() {
        let text = "# a\n! b\n graph.a-1.5.vertex-file = a.v\ngraph.a-1.5.directed: True\n\
                    graph.a-1.5.cdlp.max-iterations=7\ngraph.a-1.5.meta.edges = 9\n";
        let properties = read(text).unwrap();
        assert_eq!(properties.name(), "a-1.5");
        assert!(properties.file("vertex-file").unwrap().ends_with("a.v"));
        assert_eq!(properties.direction().unwrap(), Direction::Directed);
        assert_eq!(properties.number("cdlp.max-iterations").unwrap(), 7);
        assert_eq!(properties.count("meta.edges").unwrap(), Some((9, 6)));
        assert_eq!(properties.count("meta.vertices").unwrap(), None);
        let missing = properties.file("edge-file").unwrap_err().to_string();
        assert!(missing.contains("`graph.a-1.5.edge-file` is missing"), "{missing}");
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let error = read("# a\nnonsense\n").err().unwrap();
        assert!(error.contains(".properties:2: expected `key = value`"), "{error}");
        assert!(read("a = b\n").err().unwrap().contains("graph.NAME.vertex-file"));
        let odd = read("graph.a.vertex-file = a.v\ngraph.a.directed = perhaps\n").unwrap();
        let error = odd.direction().unwrap_err().to_string();
        assert!(error.contains(".properties:2: `graph.a.directed` is `perhaps`"), "{error}");
    }
}
