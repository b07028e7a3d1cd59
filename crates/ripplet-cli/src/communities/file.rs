//! A program from a file: its parameters, and the columns that it reads and writes.

use super::file_arguments::FileArguments;
use crate::console::Console;
use crate::failure::Failure;
use crate::message::counted;
use crate::output::written;
use ripplet::graph::VertexIds;
use ripplet::io::write::{ColumnData, VertexColumn, write_vertex_table};
use ripplet::io::{self, ReadOptions, ValueKind, VertexValues};
use ripplet::jit::{CompiledProgram, Parameters};
use ripplet::lp::{
    ColumnKind, ColumnSpec, ColumnValues, DynProgram, Outcome, ProgramInfo, Schedule, Settings,
};
use std::path::{Path, PathBuf};

/// A program from a file.
#[derive(Clone, Debug)]
pub struct FileJob {
    /// The program's name.
    pub name: String,
    /// The schedule that it is made for.
    pub schedule: Schedule,
    columns: Vec<ColumnSpec>,
    /// Whether frequent labels are enough for it.
    pub follows_frequency: bool,
    program: CompiledProgram,
    /// The table of input columns.
    pub table: Option<PathBuf>,
    /// The table of output columns.
    pub columns_out: Option<PathBuf>,
}

impl FileArguments {
    /// Reads and compiles the program of `--program-file`, if it is given.
    pub fn resolve(&self) -> Result<Option<FileJob>, Failure> {
        let Some(path) = &self.program_file else { return Ok(None) };
        check_name(path)?;
        let text = io::read_small_text(path, io::LARGEST_TEXT, "the text of a program")?;
        let module = ripplet::read_program(&path.display().to_string(), &text)?;
        let mut parameters = Parameters::new();
        for (at, (name, value)) in self.param.iter().enumerate() {
            if self.param[..at].iter().any(|(before, _)| before == name) {
                return Err(Failure::refused(
                    format!("--param gives {name} twice"),
                    "give each parameter once",
                ));
            }
            parameters = parameters.with_text(&module, name, value)?;
        }
        let program = CompiledProgram::compile(&module, &parameters)?;
        let table = self.vertex_table.clone();
        let ProgramInfo { name, schedule, columns, follows_frequency, .. } =
            Box::<dyn DynProgram>::from(program.clone()).info();
        Ok(Some(FileJob {
            name,
            schedule,
            columns,
            follows_frequency,
            program,
            table,
            columns_out: None,
        }))
    }
}

/// Refuses files that are programs in another language.
fn check_name(path: &Path) -> Result<(), Failure> {
    const OTHERS: [(&str, &str); 10] = [
        ("py", "Python"),
        ("ipynb", "a notebook"),
        ("cu", "CUDA"),
        ("c", "C"),
        ("cpp", "C++"),
        ("js", "JavaScript"),
        ("java", "Java"),
        ("r", "R"),
        ("jl", "Julia"),
        ("sql", "SQL"),
    ];
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let other = OTHERS.iter().find(|(name, _)| extension.eq_ignore_ascii_case(name));
    match other {
        None => Ok(()),
        Some((_, language)) => Err(Failure::refused(
            format!(
                "{} is {language} by its name: expected four hooks in a subset of Rust",
                path.display()
            ),
            "docs/your-own-variant.md has a program to begin with; its file is called .rs",
        )),
    }
}

/// The refusal of a table that has none of the columns that a program reads.
fn no_columns(path: &Path, wanted: &[(&str, ValueKind)]) -> Failure {
    let names: Vec<&str> = wanted.iter().map(|(name, _)| *name).collect();
    let path = path.display();
    if names.is_empty() {
        return Failure::refused(
            format!("the program reads no columns of a table, and {path} would be ignored"),
            "leave --vertex-table out, or declare columns in the program",
        );
    }
    Failure::refused(
        format!("{path} has none of the program's columns"),
        format!("the program reads: {}", names.join(", ")),
    )
}

/// The refusal of a table by a program whose columns all have several values per vertex, as `column` has.
fn only_arrays(path: &Path, column: &ColumnSpec) -> Failure {
    let ColumnSpec { name, len, .. } = column;
    Failure::refused(
        format!(
            "{} gives one value a vertex and column, but the program's column `{name}` has {len}",
            path.display()
        ),
        "leave --vertex-table out, and give such columns #[default(VALUE)] in the program",
    )
}

impl FileJob {
    /// Refuses `--columns-out` if the program writes no columns.
    pub fn check_columns_out(&self) -> Result<(), Failure> {
        match &self.columns_out {
            Some(path) if !self.columns.iter().any(|column| column.written) => {
                Err(Failure::refused(
                    format!(
                        "the program writes no columns, and {} would have none",
                        path.display()
                    ),
                    "leave --columns-out out, or set a column in update_vertex",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Returns a column that must be given.
    pub fn column_to_give(&self) -> Option<&str> {
        let to_give = self.columns.iter().find(|column| column.default.is_none());
        to_give.map(|column| &*column.name)
    }

    /// The program.
    pub fn program(&self) -> Box<dyn DynProgram> {
        self.program.clone().into()
    }

    /// The settings with the columns of the vertex table.
    pub fn fill(
        &self,
        mut settings: Settings,
        ids: &VertexIds,
        console: &Console,
    ) -> Result<Settings, Failure> {
        let Some(path) = &self.table else { return Ok(settings) };
        console.stage(format!("reading {}", path.display()));
        // A table has one value per vertex and column.
        let specs: Vec<&ColumnSpec> =
            self.columns.iter().filter(|column| column.len == 1).collect();
        let kind = |kind| match kind {
            ColumnKind::U32 => ValueKind::U32,
            ColumnKind::F32 => ValueKind::F32,
        };
        let wanted: Vec<(&str, ValueKind)> =
            specs.iter().map(|column| (column.name.as_ref(), kind(column.kind))).collect();
        if wanted.is_empty() {
            return Err(match self.columns.first() {
                Some(column) => only_arrays(path, column),
                None => no_columns(path, &wanted),
            });
        }
        let table = io::read_vertex_table(path, &ReadOptions::default(), ids, &wanted)?;
        if table.columns.iter().all(Option::is_none) {
            return Err(no_columns(path, &wanted));
        }
        if table.skipped > 0 {
            let rows = counted(table.skipped, "row", "rows");
            let are = if table.skipped == 1 { "is" } else { "are" };
            let path = path.display();
            console.note(&format!("{rows} of {path} {are} of no vertex of the graph: skipped"));
        }
        for (spec, values) in specs.iter().zip(table.columns) {
            let values = match values {
                Some(VertexValues::U32(values)) => ColumnValues::U32(values),
                Some(VertexValues::F32(values)) => ColumnValues::F32(values),
                None => continue,
            };
            settings.columns.insert(spec.name.to_string(), values);
        }
        Ok(settings)
    }

    /// Writes the columns that the program wrote, if a table is named for them.
    pub fn write_columns(&self, outcome: &Outcome, ids: &VertexIds) -> Result<(), Failure> {
        let Some(path) = &self.columns_out else { return Ok(()) };
        let columns = outcome.columns.iter().map(|column| VertexColumn {
            name: &column.name,
            len: column.len as usize,
            values: match &column.values {
                ColumnValues::U32(values) => ColumnData::U32(values),
                ColumnValues::F32(values) => ColumnData::F32(values),
            },
        });
        written(write_vertex_table(path, ids, &columns.collect::<Vec<_>>()))
    }
}
