//! Optional parts of this crate, and the error for parts that a build lacks.

use crate::{Compression, Format};
use thiserror::Error;

/// Error for a part that this build lacks, because a cargo feature is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{what} is not part of this build: build ripplet with the cargo feature `{feature}`")]
pub struct NotBuiltIn {
    /// The part that is missing, as a subject of a sentence.
    what: &'static str,
    /// The cargo feature that adds it.
    feature: &'static str,
}

impl NotBuiltIn {
    /// Creates the error for a part, which is the subject of a sentence, with the cargo feature that adds it.
    pub const fn new(what: &'static str, feature: &'static str) -> NotBuiltIn {
        NotBuiltIn { what, feature }
    }

    /// Archives of graphs.
    #[cfg(not(feature = "archives"))]
    pub(crate) const ARCHIVES: NotBuiltIn =
        NotBuiltIn { what: "reading of .zip and .tar archives", feature: "archives" };

    /// Inputs in object storage.
    pub(crate) const OBJECT_STORAGE: NotBuiltIn =
        NotBuiltIn { what: "reading from object storage", feature: "object-storage" };

    /// Outputs in object storage.
    pub(crate) const OBJECT_OUTPUTS: NotBuiltIn =
        NotBuiltIn { what: "writing to object storage", feature: "object-storage" };

    /// Compression of texts by zstd.
    pub(crate) const ZSTD: NotBuiltIn = NotBuiltIn { what: "zstd compression", feature: "zstd" };

    /// Returns the cargo feature that adds the missing part.
    pub fn feature(&self) -> &'static str {
        self.feature
    }

    /// Returns an error if this build does not read a format.
    ///
    /// # Errors
    /// If a cargo feature adds its reader and is off.
    pub(crate) fn check_reader(format: Format) -> Result<(), NotBuiltIn> {
        let (columnar, graphml) = (cfg!(feature = "columnar"), cfg!(feature = "graphml"));
        let (is_built_in, what, feature) = match format {
            Format::Parquet => (columnar, "the format Parquet", "columnar"),
            Format::Arrow => (columnar, "the format Arrow IPC", "columnar"),
            Format::GraphMl => (graphml, "reading of GraphML", "graphml"),
            Format::Gexf => (graphml, "reading of GEXF", "graphml"),
            _ => return Ok(()),
        };
        if is_built_in { Ok(()) } else { Err(NotBuiltIn { what, feature }) }
    }

    /// Returns an error if this build does not write a format with a compression.
    ///
    /// # Errors
    /// If a cargo feature adds its writer and is off.
    pub(crate) fn check_writer(format: Format, compression: Compression) -> Result<(), NotBuiltIn> {
        if compression == Compression::Zstd && !cfg!(feature = "zstd") {
            return Err(NotBuiltIn::ZSTD);
        }
        match format {
            // Their writers need no feature.
            Format::GraphMl | Format::Gexf => Ok(()),
            format => NotBuiltIn::check_reader(format),
        }
    }
}
