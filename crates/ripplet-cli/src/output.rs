//! Outputs. Their paths are checked before the work begins.

use crate::console::{self, Console};
use crate::failure::{Failure, unwritten};
use crate::interrupt;
use crate::standard_streams::{self, is_standard};
use ripplet::io::write::{
    Destination, TableParts, TableShape, TableWriter, Target, check_destination, whole_file,
};
use ripplet::io::{WriteError, check_on_disk};
use ripplet::swarm::SwarmError;
use serde::Serialize;
use std::fs;
use std::io::{Write, stdout};
use std::path::{Display, Path};

/// Returns the name of an input for messages: `standard input` for `-`.
pub fn named_input(path: &Path) -> Display<'_> {
    if is_standard(path) { Path::new("standard input").display() } else { path.display() }
}

/// Checks that a file can be written on a disk at `path`, and that `others` do not contain it.
pub fn check_place(path: &Path, others: &[&Path]) -> Result<(), Failure> {
    check_on_disk(path, "outputs of this kind")
        .map_err(|source| Failure::Place(WriteError { path: path.into(), source }))?;
    check_output(path, others)
}

/// Checks that a table can be written, as a file, an object, or in parts, and that `others` do not contain it.
pub fn check_table(target: Target<'_>, others: &[&Path]) -> Result<(), Failure> {
    match target.destination().is_in_parts() {
        true => TableParts::check(target).map_err(Failure::Place),
        false => check_output(target.path(), others),
    }
}

/// Checks that a file or an object can be written at `path`, and that `others` do not contain it.
pub fn check_output(path: &Path, others: &[&Path]) -> Result<(), Failure> {
    match Destination::of(path) {
        Destination::Standard => {
            return standard_streams::check_output().map_err(Failure::Print);
        }
        Destination::Folder(_) | Destination::Prefix(_) => return Err(of_folder(path, "names")),
        // A device or a pipe is written to as it is; its reader would take an opening without data for the
        // end. Otherwise a file is created and removed at once, and nothing else is touched.
        Destination::File(_) if fs::metadata(path).is_ok_and(|found| !is_replaced(&found)) => {}
        destination => check_destination(destination).map_err(Failure::Place)?,
    }
    // A file that a pattern stands for, or will once it is written, is one of its files.
    let is_in = |other: &Path| is_same_file(path, other) || ripplet::io::is_part_of(path, other);
    match others.iter().find(|other| is_in(other)) {
        None => Ok(()),
        Some(_) => Err(Failure::refused(
            format!("{} is named twice: one would replace the other", path.display()),
            "choose another name for the output",
        )),
    }
}

/// Refuses an output that is a folder, before its name is searched for a format.
pub fn check_not_folder(path: &Path) -> Result<(), Failure> {
    match path.is_dir() {
        true => Err(of_folder(path, "is")),
        false => Ok(()),
    }
}

fn of_folder(path: &Path, verb: &str) -> Failure {
    let sentence = format!("{} {verb} a folder, not a file", path.display());
    Failure::refused(sentence, "add the file's name")
}

/// Whether an output replaces what is there, or is refused.
fn is_replaced(found: &fs::Metadata) -> bool {
    found.is_file() || found.is_dir()
}

/// Refuses several outputs on standard output, which would be mixed.
pub fn check_alone<'a>(outputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    match outputs.into_iter().filter(|output| is_standard(output)).count() {
        0 | 1 => Ok(()),
        _ => Err(Failure::refused(
            "`-` is named for two outputs, and standard output can hold one",
            "name a file for the other",
        )),
    }
}

/// Begins a table; without a path, on standard output.
pub fn begin_table(
    target: Option<Target<'_>>,
    shape: TableShape<'_>,
    console: &Console,
) -> Result<TableWriter, SwarmError> {
    interrupt::check().map_err(|_| SwarmError::Cancelled)?;
    let target = target.unwrap_or(Target::new(Path::new("-"), None));
    if is_standard(target.path()) {
        console.close();
    }
    Ok(TableWriter::create(target, shape)?)
}

/// Records a finished output, or returns the error.
pub fn written<T>(result: Result<T, WriteError>) -> Result<T, Failure> {
    let value = result.map_err(unwritten)?;
    interrupt::has_written();
    Ok(value)
}

/// Prints a result to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    console::clear();
    standard_streams::check_output().map_err(Failure::Print)?;
    let mut out = stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::Print)
}

/// Writes JSON atomically.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    write_text(path, &json(value))
}

/// Writes a text atomically.
pub fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    written(whole_file(path, |out| out.write_all(text.as_bytes())))
}

/// Returns a value as indented JSON with a final newline.
pub fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("names are strings, values plain");
    text.push('\n');
    text
}

/// Whether two paths name one file, or will when it is written.
fn is_same_file(a: &Path, b: &Path) -> bool {
    if is_standard(a) || is_standard(b) {
        return false;
    }
    // A file that is not there yet has the name in its folder.
    let new = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Some(fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?.join(path.file_name()?))
    };
    let real = |path: &Path| fs::canonicalize(path).ok().or_else(|| new(path));
    a == b || real(a).is_some_and(|a| Some(a) == real(b))
}
