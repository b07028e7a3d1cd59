//! Reads transactions from a DuckDB file with a query, which the command `duckdb` runs.
//!
//! ```text
//! duckdb -readonly FILE -c "COPY (query) TO '/dev/stdout' (FORMAT csv, …)" ──pipe──▶ text rows ─▶ batches
//! ```
//!
//! DuckDB has no protocol, and its file format is for its own library. The command has the library of the version that
//! wrote the file, so the file is read by what made it. All values arrive as texts, each but null in quotes. Rows
//! stream through a pipe: memory is a few batches here, and what the query takes there.
//!
//! The file is opened for reading alone. A query that fails, at once or after some rows, is an error with DuckDB's
//! message.

use super::statement::statement;
use super::text;
use super::{Batches, Places, RawBatch, SourceError};
use ripplet_io::{Place, ReadError, check_plain};
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

/// Variable that names the command, if it is not `duckdb` in the search path.
const VARIABLE: &str = "RIPPLET_DUCKDB";
/// Most bytes of a message of the command that are kept.
const MOST_SAID: u64 = 1 << 16;

/// Returns the command: that of `RIPPLET_DUCKDB`, or `duckdb` of the search path.
pub fn program() -> PathBuf {
    let named = std::env::var_os(VARIABLE).filter(|named| !named.is_empty());
    named.unwrap_or_else(|| OsString::from("duckdb")).into()
}

/// Returns the name of a query in messages.
pub fn origin(file: &Path) -> String {
    format!("the query of {}", file.display())
}

/// Runs a query by the command `program`; batches have these columns in this order.
///
/// # Errors
/// If the file is no file, the command cannot be started, the query fails, or a column is missing.
pub fn open(
    program: &Path,
    file: &Path,
    query: &str,
    columns: &[&str],
) -> Result<Batches, SourceError> {
    // DuckDB creates no file when it only reads, but a folder or a pipe would be reported badly.
    std::fs::metadata(file).map_err(|error| ReadError::io(file, Place::File, error))?;
    check_plain(file)?;
    let query = statement(query);
    if query.is_empty() {
        return Err(refused(file, "the query is empty".into()));
    }
    // A line break ends a comment at the end of the query.
    let copy = format!("COPY ({query}\n) TO '/dev/stdout' (FORMAT csv, HEADER, FORCE_QUOTE *)");
    let mut child = Command::new(program)
        .args(["-readonly", "-batch", "-init", "/dev/null"])
        .arg(file)
        .args(["-c", &copy])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            let program = program.display();
            refused(
                file,
                format!(
                    "cannot start `{program}`: {error}. DuckDB's command reads the file: install it, or name it with \
                     {VARIABLE}"
                ),
            )
        })?;
    let said = child.stderr.take().map(|stderr| {
        std::thread::spawn(move || {
            let mut stderr = stderr;
            let mut said = Vec::new();
            let _ = stderr.by_ref().take(MOST_SAID).read_to_end(&mut said);
            // The command must not wait for a reader of the rest.
            let _ = io::copy(&mut stderr, &mut io::sink());
            String::from_utf8_lossy(&said).trim().replace('\n', " ")
        })
    });
    let rows = child.stdout.take();
    let Some(rows) = rows else { return Err(refused(file, "the command has no output".into())) };
    let output = Output { rows, child, said, is_over: false };
    let batches = text::stream(file, Box::new(output), columns)?;
    let mut first = 0;
    Ok(Box::new(batches.map(move |batch| {
        let RawBatch { columns, .. } = batch?;
        let places = Places::Rows(first);
        first += columns.num_rows() as u64;
        Ok(RawBatch { columns, places, trimmed: Vec::new() })
    })))
}

fn refused(file: &Path, why: String) -> SourceError {
    ReadError::content(file, Place::File, format!("DuckDB: {why}")).into()
}

/// Output of the command. Its end is an error if the command failed.
struct Output {
    rows: ChildStdout,
    child: Child,
    said: Option<JoinHandle<String>>,
    is_over: bool,
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.rows.read(buffer)?;
        if read > 0 || buffer.is_empty() || self.is_over {
            return Ok(read);
        }
        self.is_over = true;
        let status = self.child.wait()?;
        let said = self.said.take().and_then(|said| said.join().ok()).unwrap_or_default();
        match (status.success(), said.is_empty()) {
            (true, _) => Ok(0),
            (false, true) => {
                Err(io::Error::other(format!("DuckDB: the command ended with {status}")))
            }
            (false, false) => Err(io::Error::other(format!("DuckDB: {said}"))),
        }
    }
}

impl Drop for Output {
    /// Ends the command, if its rows are not wanted any more.
    fn drop(&mut self) {
        if !self.is_over {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
