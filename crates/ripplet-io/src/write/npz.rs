//! Writes NumPy's `.npz`: named arrays, each an `.npy` in a `.zip`, which `numpy.load` opens.
//!
//! An `.npy` is a magic, a version, a header as a Python literal, and the values in little endian
//! (<https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>). Values are streamed, so an
//! array need not be in memory. The bytes depend on the values alone: they include no time stamps.
//!
//! Memory: some hundred kilobytes.

use super::refused;
use crate::WriteError;
use crate::output::AtomicFile;
use std::io::{self, BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Element type of an array.
pub trait Element: Copy {
    /// NumPy's description of the type.
    const DESCRIPTION: &'static str;
    /// Writes the bytes in little endian.
    fn write_to(self, out: &mut impl Write) -> io::Result<()>;
}

macro_rules! elements {
    ($($kind:ty, $description:literal;)*) => {$(
        impl Element for $kind {
            const DESCRIPTION: &'static str = $description;

            fn write_to(self, out: &mut impl Write) -> io::Result<()> {
                out.write_all(&self.to_le_bytes())
            }
        }
    )*};
}

elements! {
    u8, "|u1";
    i8, "|i1";
    i32, "<i4";
    u32, "<u4";
    i64, "<i8";
    u64, "<u8";
    f32, "<f4";
    f64, "<f8";
}

impl Element for bool {
    const DESCRIPTION: &'static str = "|b1";

    fn write_to(self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&[u8::from(self)])
    }
}

/// Writer of named arrays, which appears atomically when it is finished.
///
/// # Examples
/// ```
/// use ripplet_io::write::NpzWriter;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("arrays.npz");
/// let mut arrays = NpzWriter::create(&path)?;
/// arrays.array("edge_index", &[2, 2], [0i64, 1, 1, 0])?;
/// arrays.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NpzWriter {
    path: PathBuf,
    /// `None` after an error: the archive is incomplete then.
    zip: Option<ZipWriter<Archive>>,
}

impl NpzWriter {
    /// Creates a file that will be `path`.
    ///
    /// # Errors
    /// If the operating system refuses, or the path is a pipe: an archive needs a seekable file.
    pub fn create(path: &Path) -> Result<NpzWriter, WriteError> {
        let file = AtomicFile::create(path)?;
        if file.is_in_order_only() {
            let source = refused("an .npz cannot be written to a pipe or device: name a file");
            return Err(WriteError { path: path.into(), source });
        }
        Ok(NpzWriter { path: path.into(), zip: Some(ZipWriter::new(Archive::of(file))) })
    }

    /// Adds an array. After an error, further arrays are rejected.
    ///
    /// # Errors
    /// If the number of values differs from the shape, or the operating system refuses.
    pub fn array<T: Element>(
        &mut self,
        name: &str,
        shape: &[u64],
        values: impl IntoIterator<Item = T>,
    ) -> Result<(), WriteError> {
        self.entry(name, T::DESCRIPTION, shape, |out| {
            let mut count = 0u64;
            for value in values {
                value.write_to(out)?;
                count += 1;
            }
            Ok(count)
        })
    }

    /// Adds an array of texts, each padded to the longest: for small arrays.
    ///
    /// # Errors
    /// See [`NpzWriter::array`].
    pub fn texts(&mut self, name: &str, texts: &[&str]) -> Result<(), WriteError> {
        let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
        let description = format!("<U{longest}");
        self.entry(name, &description, &[texts.len() as u64], |out| {
            for text in texts {
                let padding = longest - text.chars().count();
                let letters = text.chars().map(u32::from).chain(std::iter::repeat_n(0, padding));
                letters.into_iter().try_for_each(|letter| letter.write_to(out))?;
            }
            Ok(texts.len() as u64)
        })
    }

    fn entry(
        &mut self,
        name: &str,
        description: &str,
        shape: &[u64],
        write: impl FnOnce(&mut BufWriter<&mut ZipWriter<Archive>>) -> io::Result<u64>,
    ) -> Result<(), WriteError> {
        let taken = self.zip.take().ok_or_else(|| refused("an error ended this file"));
        let written = taken.and_then(|mut zip| {
            // As numpy.savez: uncompressed, with 64-bit sizes.
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Stored)
                .last_modified_time(zip::DateTime::default())
                .large_file(true);
            zip.start_file(format!("{name}.npy"), options).map_err(from_zip)?;
            let mut out = BufWriter::with_capacity(1 << 18, &mut zip);
            out.write_all(&header(description, shape))?;
            let count = write(&mut out)?;
            out.flush()?;
            drop(out);
            let expected: u64 = shape.iter().product();
            if count != expected {
                return Err(refused(format!("`{name}` has {count} values for {expected}")));
            }
            Ok(zip)
        });
        let refuse = |source| WriteError { path: self.path.clone(), source };
        self.zip = Some(written.map_err(refuse)?);
        Ok(())
    }

    /// Completes the file, which then appears.
    ///
    /// # Errors
    /// If the operating system refuses, or an earlier call failed; no partial file remains.
    pub fn finish(mut self) -> Result<(), WriteError> {
        let refuse = |source| WriteError { path: self.path.clone(), source };
        let zip = self.zip.take().ok_or_else(|| refuse(refused("an error ended this file")))?;
        zip.finish().map_err(|error| refuse(from_zip(error)))?.file.commit()
    }
}

/// File that ignores writes after its first error: a dropped [`ZipWriter`] still closes its archive, and
/// would print its failure to standard error.
struct Archive {
    file: AtomicFile,
    given_up: bool,
    /// Position of the next byte.
    at: u64,
}

impl Archive {
    fn of(file: AtomicFile) -> Archive {
        Archive { file, given_up: false, at: 0 }
    }

    /// Records a permanent failure of the file.
    fn noted<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        let again = |error: &io::Error| error.kind() == ErrorKind::Interrupted;
        self.given_up = outcome.as_ref().is_err_and(|error| !again(error));
        outcome
    }
}

impl Write for Archive {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = match self.given_up {
            true => bytes.len(),
            false => {
                let written = self.file.write(bytes);
                self.noted(written)?
            }
        };
        self.at += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.given_up {
            return Ok(());
        }
        let flushed = self.file.flush();
        self.noted(flushed)
    }
}

impl Seek for Archive {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match (self.given_up, to) {
            (false, _) => {
                let sought = self.file.seek(to);
                self.noted(sought)?
            }
            (true, SeekFrom::Start(at)) => at,
            (true, SeekFrom::Current(by) | SeekFrom::End(by)) => self.at.saturating_add_signed(by),
        };
        Ok(self.at)
    }
}

/// Returns the header before the values, padded so that these begin at a multiple of 64.
fn header(description: &str, shape: &[u64]) -> Vec<u8> {
    const ALIGNED: usize = 64;
    const BEFORE: usize = 10;
    let sizes: String = shape.iter().map(|size| format!("{size},")).collect();
    let mut text =
        format!("{{'descr': '{description}', 'fortran_order': False, 'shape': ({sizes}), }}");
    let padding = (BEFORE + text.len() + 1).next_multiple_of(ALIGNED) - (BEFORE + text.len() + 1);
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    // Version 1.0 has two bytes for the length, which no shape and description here exceeds.
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    [b"\x93NUMPY\x01\x00", &length.to_le_bytes()[..], text.as_bytes()].concat()
}

/// Returns the operating system's error if there is one, so that its kind is not lost.
fn from_zip(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(error) => error,
        other => io::Error::other(other),
    }
}
