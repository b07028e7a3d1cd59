//! File formats, and their names and extensions.

use std::path::Path;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Fields split by blanks: `.txt`, `.el`; also `.edges`, `.edgelist`.
    EdgeList,
    /// Fields split by tabs: `.tsv`.
    Tsv,
    /// Fields split by commas: `.csv`.
    Csv,
    /// LDBC Graphalytics: `.e` with its `.v` beside it.
    Ldbc,
    /// MatrixMarket coordinate: `.mtx`.
    MatrixMarket,
    /// METIS: `.graph`, `.metis`.
    Metis,
    /// WebGraph's BV: `.graph` with its `.properties` beside it.
    Bv,
    /// GraphML: `.graphml`.
    GraphMl,
    /// GEXF: `.gexf`.
    Gexf,
    /// GML: `.gml`.
    Gml,
    /// Pajek: `.net`.
    Pajek,
    /// Node-link JSON, as D3 and NetworkX have it: `.json`.
    NodeLink,
    /// DOT, the language of Graphviz, which is written only: `.dot`, `.gv`.
    Dot,
    /// A JSON object a line: `.jsonl`, `.ndjson`. Tables are written so, and edges are read.
    JsonLines,
    /// Apache Parquet: `.parquet`.
    Parquet,
    /// Apache Arrow IPC, file or stream: `.arrow`, `.feather`, `.ipc`.
    Arrow,
    /// ripplet's own graph: `.rg`.
    Rg,
    /// ripplet's own format with compressed lists: `.rgz`.
    Rgz,
}

/// Start of the first line of an edge list whose fields are separated as in a `.tsv` and whose ids are names.
/// It is a comment, so that no other program reads it as an edge. The names of the columns follow, separated
/// by tabs.
pub(crate) const NAMED_TABS: &str = "# names: ";

/// Compression of a text file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Uncompressed.
    #[default]
    None,
    /// `.gz`.
    Gzip,
    /// `.zst`.
    Zstd,
}

const NAMES: [(Format, &str, &[&str]); 18] = [
    (Format::EdgeList, "edgelist", &["txt", "el", "edges", "edgelist", "wel"]),
    (Format::Tsv, "tsv", &["tsv"]),
    (Format::Csv, "csv", &["csv"]),
    (Format::Ldbc, "ldbc", &["e"]),
    (Format::MatrixMarket, "mtx", &["mtx"]),
    (Format::Metis, "metis", &["graph", "metis"]),
    (Format::Bv, "bv", &[]),
    (Format::GraphMl, "graphml", &["graphml"]),
    (Format::Gexf, "gexf", &["gexf"]),
    (Format::Gml, "gml", &["gml"]),
    (Format::Pajek, "pajek", &["net"]),
    (Format::NodeLink, "json", &["json"]),
    (Format::Dot, "dot", &["dot", "gv"]),
    (Format::JsonLines, "jsonl", &["jsonl", "ndjson"]),
    (Format::Parquet, "parquet", &["parquet", "pq"]),
    (Format::Arrow, "arrow", &["arrow", "feather", "ipc"]),
    (Format::Rg, "rg", &["rg"]),
    (Format::Rgz, "rgz", &["rgz"]),
];

impl Format {
    /// Returns format and compression by a file's extension, if it is known. A `.graph` file counts as METIS;
    /// [`crate::read_edges`] detects a BV graph by the files beside it.
    ///
    /// # Examples
    /// ```
    /// use ripplet_io::{Compression, Format};
    /// use std::path::Path;
    ///
    /// let found = Format::of_path(Path::new("payments.csv.gz"));
    /// assert_eq!(found, Some((Format::Csv, Compression::Gzip)));
    /// assert_eq!(Format::of_path(Path::new("payments.xlsx")), None);
    /// ```
    pub fn of_path(path: &Path) -> Option<(Format, Compression)> {
        let extension = |p: &Path| Some(p.extension()?.to_str()?.to_ascii_lowercase());
        let compression = match extension(path)?.as_str() {
            "gz" => Compression::Gzip,
            "zst" => Compression::Zstd,
            _ => Compression::None,
        };
        let inner = match compression {
            Compression::None => extension(path)?,
            _ => extension(Path::new(path.file_stem()?))?,
        };
        let of_extension = |&&(_, _, list): &&(_, _, &[&str])| list.contains(&inner.as_str());
        NAMES.iter().find(of_extension).map(|&(format, ..)| (format, compression))
    }

    /// Returns the format of a `--from` value: its name or an alias, in any case.
    pub fn of_name(name: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        let other = match name.as_str() {
            "txt" | "el" | "edges" => Some(Format::EdgeList),
            "ndjson" | "jsonlines" => Some(Format::JsonLines),
            _ => None,
        };
        let of_name = NAMES.iter().find(|(_, known, _)| *known == name);
        of_name.map(|&(format, ..)| format).or(other)
    }

    /// Returns the `--from` value of this format.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(format, ..)| *format == self).map_or("", |&(_, name, _)| name)
    }

    /// Returns the `--from` values of the formats that are read, for a message.
    pub fn names_read() -> String {
        Format::names_where(|format| format != Format::Dot)
    }

    /// Returns the `--to` values of the formats that are written, for a message.
    pub fn names_written() -> String {
        Format::names_where(|format| format != Format::Bv)
    }

    /// Returns the `--to` values of the formats of tables, for a message.
    pub fn names_of_tables() -> String {
        Format::names_where(Format::is_listing)
    }

    /// Returns the `--to` values of the formats that communities are written in, for a message: tables, and graphs with them.
    pub fn names_of_communities() -> String {
        Format::names_where(|format| format.is_listing() || format.holds_attributes())
    }

    /// Whether tables of vertices, communities and other results are written in the format.
    pub(crate) fn is_listing(self) -> bool {
        matches!(
            self,
            Format::EdgeList
                | Format::Tsv
                | Format::Csv
                | Format::JsonLines
                | Format::Parquet
                | Format::Arrow
        )
    }

    /// Whether a graph in this format has attributes of vertices: Pajek's networks have none.
    pub(crate) fn holds_attributes(self) -> bool {
        self.is_exchange() && self != Format::Pajek
    }

    fn names_where(is_listed: impl Fn(Format) -> bool) -> String {
        let listed = NAMES.iter().filter(|(format, ..)| is_listed(*format));
        listed.map(|&(_, name, _)| name).collect::<Vec<_>>().join(", ")
    }

    /// Whether a file's name is that of a spreadsheet, which is neither read nor written.
    pub fn is_spreadsheet(path: &Path) -> bool {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let known = ["xlsx", "xls", "xlsm", "xlsb", "ods"];
        extension.is_some_and(|found| known.iter().any(|known| found.eq_ignore_ascii_case(known)))
    }

    /// Whether the format is a table with its own separator: `.csv` or `.tsv`.
    pub fn is_delimited(self) -> bool {
        matches!(self, Format::Csv | Format::Tsv)
    }

    /// Whether the format is text, which may be compressed or come from standard input.
    pub fn is_text(self) -> bool {
        !matches!(self, Format::Bv | Format::Parquet | Format::Arrow) && !self.is_finished_graph()
    }

    /// Whether the format exchanges whole graphs between programs: vertices, edges, and attributes of both.
    pub fn is_exchange(self) -> bool {
        matches!(
            self,
            Format::GraphMl
                | Format::Gexf
                | Format::Gml
                | Format::Pajek
                | Format::NodeLink
                | Format::Dot
        )
    }

    /// Whether a file of this format is a built graph, which is opened instead of parsed.
    pub fn is_finished_graph(self) -> bool {
        matches!(self, Format::Rg | Format::Rgz)
    }
}
