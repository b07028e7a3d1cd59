//! Open outputs: atomic files, objects of a store, and standard output.

use super::{AtomicFile, Destination, refused};
use crate::WriteError;
use crate::address::check_output_address;
#[cfg(feature = "object-storage")]
use crate::object::{ObjectParts, PartsUpload, Upload};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file or an object atomically through `write`; `-` is standard output.
///
/// # Errors
/// If `write` fails, or the operating system or the server refuses; no partial output remains.
pub fn whole_file(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<(), WriteError> {
    let mut out = Output::create(path)?;
    write(&mut out).map_err(|source| WriteError { path: path.into(), source })?;
    out.finish()
}

/// Checks that a file or an object can be written, before there is anything to write. A file is created and removed, and an
/// upload begun and aborted; what exists there is not touched. Standard output is not checked.
///
/// # Errors
/// If the folder or the bucket does not exist, it is not writable, or the destination is in parts.
pub fn check_destination(destination: Destination<'_>) -> Result<(), WriteError> {
    match destination {
        Destination::Standard => Ok(()),
        Destination::File(path) => AtomicFile::create(path).map(drop),
        Destination::Object(address) => {
            check_output_address(address)?;
            #[cfg(feature = "object-storage")]
            return Upload::check(address)
                .map_err(|source| WriteError { path: address.into(), source });
            #[cfg(not(feature = "object-storage"))]
            unreachable!("this build writes no address")
        }
        Destination::Folder(path) | Destination::Prefix(path) => Err(in_parts(path)),
    }
}

/// Returns the refusal of a folder in place of a file.
fn in_parts(path: &Path) -> WriteError {
    let sentence = "this names a folder, and the output is one file: add the file's name";
    WriteError { path: path.into(), source: refused(sentence) }
}

/// Atomic file, object of a store, or standard output.
#[derive(Debug)]
pub(crate) enum Output {
    Standard(BufWriter<io::Stdout>),
    File(AtomicFile),
    #[cfg(feature = "object-storage")]
    Object(Box<Upload>),
    #[cfg(feature = "object-storage")]
    Parts(Box<PartsUpload>),
}

impl Output {
    /// Creates the output that will be at `path`.
    pub(crate) fn create(path: &Path) -> Result<Output, WriteError> {
        match Destination::of(path) {
            Destination::Standard => Ok(Output::Standard(BufWriter::new(io::stdout()))),
            Destination::File(path) => AtomicFile::create(path).map(Output::File),
            Destination::Object(address) => {
                check_output_address(address)?;
                #[cfg(feature = "object-storage")]
                return Upload::create(address)
                    .map(|upload| Output::Object(Box::new(upload)))
                    .map_err(|source| WriteError { path: address.into(), source });
                #[cfg(not(feature = "object-storage"))]
                unreachable!("this build writes no address")
            }
            Destination::Folder(path) | Destination::Prefix(path) => Err(in_parts(path)),
        }
    }

    /// Creates an output of many objects: the parts in a folder, and an index of this text, which is written last.
    #[cfg(feature = "object-storage")]
    pub(crate) fn in_parts(
        index: &Path,
        folder: &Path,
        text: fn(&ObjectParts) -> String,
    ) -> Result<Output, WriteError> {
        check_output_address(index)?;
        let made = PartsUpload::create(index, folder, text);
        let named = |source| WriteError { path: index.into(), source };
        made.map(|upload| Output::Parts(Box::new(upload))).map_err(named)
    }

    /// Returns what the names of the parts of such an output begin with.
    #[cfg(feature = "object-storage")]
    pub(crate) fn name_of_parts(&self) -> Option<&str> {
        match self {
            Output::Parts(upload) => Some(upload.name()),
            _ => None,
        }
    }

    /// Writes all bytes to the disk or to the server, so that what is left to do is small. The output does not appear yet.
    pub(crate) fn settle(&mut self) -> Result<(), WriteError> {
        match self {
            Output::Standard(out) => out.flush().map_err(of_standard),
            Output::File(file) => file.settle(),
            #[cfg(feature = "object-storage")]
            Output::Object(upload) => upload.settle().map_err(|source| upload.error(source)),
            #[cfg(feature = "object-storage")]
            Output::Parts(upload) => upload.settle().map_err(|source| upload.error(source)),
        }
    }

    /// Makes the output appear.
    pub(crate) fn finish(self) -> Result<(), WriteError> {
        match self {
            Output::Standard(mut out) => out.flush().map_err(of_standard),
            Output::File(file) => file.commit(),
            #[cfg(feature = "object-storage")]
            Output::Object(mut upload) => upload.commit().map_err(|source| upload.error(source)),
            #[cfg(feature = "object-storage")]
            Output::Parts(mut upload) => upload.commit().map_err(|source| upload.error(source)),
        }
    }
}

fn of_standard(source: io::Error) -> WriteError {
    WriteError { path: "-".into(), source }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Standard(out) => out.write(bytes),
            Output::File(file) => file.write(bytes),
            #[cfg(feature = "object-storage")]
            Output::Object(upload) => upload.write(bytes),
            #[cfg(feature = "object-storage")]
            Output::Parts(upload) => upload.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Standard(out) => out.flush(),
            Output::File(file) => file.flush(),
            // A part of an upload has a least size.
            #[cfg(feature = "object-storage")]
            Output::Object(_) | Output::Parts(_) => Ok(()),
        }
    }
}
