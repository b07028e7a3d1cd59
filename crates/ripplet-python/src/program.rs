//! Programs in the language of hooks: read, asked, and compiled with parameters.

use crate::array::Array;
use crate::error::Failure;
use crate::graph::Graph;
use crate::job::Start;
use crate::options::Options;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use ripplet::graph::VertexIds;
use ripplet::io::{ReadOptions, ValueKind, VertexValues, read_vertex_table};
use ripplet::jit::{CompiledProgram, Parameters};
use ripplet::lp::check::{BrokenPromise, Promise};
use ripplet::lp::{ColumnValues, DynProgram, Settings};
use ripplet_hooks::ir::{Len, Module};
use std::path::PathBuf;

/// A program that was read and checked.
#[pyclass(frozen, module = "ripplet._native")]
pub struct Program(Module);

/// An error of a text: the line and the column from 1, the number of characters, the sentence, and help.
type Place = (usize, usize, usize, String, Option<String>);

/// Reads a program; `name` is used in messages. The second value has the errors, and is empty exactly if there is a
/// program.
#[pyfunction]
pub fn read_program(
    py: Python<'_>,
    name: String,
    text: String,
) -> PyResult<(Option<Program>, Vec<Place>)> {
    Start::default().wait(py, move |_| {
        Ok(match ripplet::read_program(&name, &text) {
            Ok(module) => (Some(Program(module)), Vec::new()),
            Err(found) => {
                let place = |error: ripplet_hooks::ProgramError| {
                    (error.line, error.column, error.width, error.message, error.help)
                };
                (None, found.errors.into_iter().map(place).collect())
            }
        })
    })
}

#[pymethods]
impl Program {
    /// The program's name: that of its struct in snake case, unless it has another.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The name of the schedule that it is made for.
    #[getter]
    fn schedule(&self) -> Option<&str> {
        self.0.schedule.as_deref()
    }

    /// Names and types of the parameters.
    #[getter]
    fn parameters(&self) -> Vec<(&str, &'static str)> {
        self.0.parameters.iter().map(|given| (&*given.name, given.scalar.name())).collect()
    }

    /// Names and types of the columns, whether each has a single value, must be given, and is written.
    #[getter]
    fn columns(&self) -> Vec<(&str, &'static str, bool, bool, bool)> {
        let row = |column: &'_ ripplet_hooks::ir::Column| {
            (column.len == Len::One, column.default.is_none(), column.written)
        };
        let rows = self.0.columns.iter().map(|column| {
            let (single, needed, written) = row(column);
            (&*column.name, column.scalar.name(), single, needed, written)
        });
        rows.collect()
    }
}

/// A program with values of its parameters and columns.
#[derive(Clone)]
pub struct Own {
    program: CompiledProgram,
    columns: Vec<(String, ColumnValues)>,
    check: bool,
}

impl Own {
    /// Returns the program of the options `own`, `param`, `columns` and `check_program`, if there is one.
    pub fn of(options: &Options<'_>) -> PyResult<Option<Own>> {
        let Some(own) = options.any("own")? else { return Ok(None) };
        let module = &own.cast::<Program>()?.get().0;
        let mut parameters = Parameters::new();
        if let Some(given) = options.any("param")? {
            for (name, value) in given.cast::<PyDict>()?.iter() {
                let (name, value): (String, String) = (name.extract()?, value.extract()?);
                parameters = parameters.with_text(module, &name, &value).map_err(Failure::input)?;
            }
        }
        let program = CompiledProgram::compile(module, &parameters).map_err(Failure::input)?;
        let mut columns = Vec::new();
        if let Some(given) = options.any("columns")? {
            for row in given.cast::<PyList>()?.iter() {
                let row = row.cast::<PyTuple>()?;
                let (name, values) = (row.get_item(0)?.extract()?, row.get_item(1)?);
                columns.push((name, column_values(&values)?));
            }
        }
        Ok(Some(Own { program, columns, check: options.flag("check_program")? }))
    }

    /// The program.
    pub fn boxed(&self) -> Box<dyn DynProgram> {
        self.program.clone().into()
    }

    /// Returns a column without a default, which each graph needs.
    pub fn column_to_give(&self) -> Option<String> {
        let columns = self.boxed().info().columns;
        let to_give = columns.into_iter().find(|column| column.default.is_none());
        to_give.map(|column| column.name.to_string())
    }

    /// Adds the values of its columns to settings.
    pub fn fill(&self, settings: &mut Settings) {
        settings.columns.extend(self.columns.iter().cloned());
    }

    /// Returns whether the program's promises are tested on a sample of the graph.
    pub fn is_checked(&self) -> bool {
        self.check
    }
}

/// Returns the error of a program that breaks a promise at vertices of these ids.
pub fn broken_promise(broken: &BrokenPromise, ids: &VertexIds) -> Failure {
    let sentence = broken.describe(|vertex| ids.get(vertex).to_string());
    let meaning = broken.promise.meaning();
    let help = match broken.promise {
        Promise::Pure(_) => "write it as a function of its arguments",
        _ => "leave the promise out, or mend the hooks",
    };
    Failure::input(format!("{sentence}; by its promise, {meaning}: {help}"))
}

fn column_values(values: &Bound<'_, PyAny>) -> PyResult<ColumnValues> {
    let py = values.py();
    if let Ok(buffer) = pyo3::buffer::PyBuffer::<u32>::get(values) {
        return Ok(ColumnValues::U32(buffer.to_vec(py)?));
    }
    Ok(ColumnValues::F32(pyo3::buffer::PyBuffer::<f32>::get(values)?.to_vec(py)?))
}

/// Columns by name, and the number of rows that are no vertices.
type VertexColumns = (Vec<(String, Array)>, u64);

/// Reads columns of a vertex table from a file; `wanted` are their names and types.
#[pyfunction]
pub fn vertex_table(
    py: Python<'_>,
    graph: &Graph,
    path: PathBuf,
    wanted: Vec<(String, String)>,
) -> PyResult<VertexColumns> {
    let stored = graph.stored.clone();
    Start::default().run(py, move |watch| {
        watch.stage("reading the columns");
        let kind = |kind: &str| if kind == "u32" { ValueKind::U32 } else { ValueKind::F32 };
        let names: Vec<(&str, ValueKind)> =
            wanted.iter().map(|(name, scalar)| (&**name, kind(scalar))).collect();
        let ids = stored.view().ids();
        let table = read_vertex_table(&path, &ReadOptions::default(), ids, &names)?;
        let found = table.columns.into_iter().zip(&wanted).filter_map(|(values, (name, _))| {
            Some(match values? {
                VertexValues::U32(values) => (name.clone(), Array::of(values)),
                VertexValues::F32(values) => (name.clone(), Array::of(values)),
            })
        });
        Ok((found.collect(), table.skipped))
    })
}

/// Columns that a program wrote: name, values per vertex, and values.
pub type Written = Vec<(String, u32, Array)>;

/// Returns the columns that a run wrote.
pub fn written(columns: &[ripplet::lp::Column]) -> Result<Written, Failure> {
    let mut all = Vec::new();
    for column in columns {
        let values = match &column.values {
            ColumnValues::U32(values) => Array::of(ripplet::graph::memory::copied(values)?),
            ColumnValues::F32(values) => Array::of(ripplet::graph::memory::copied(values)?),
        };
        all.push((column.name.to_string(), column.len, values));
    }
    Ok(all)
}
