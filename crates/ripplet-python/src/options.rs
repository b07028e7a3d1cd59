//! Keyword options, from the dictionary that the Python functions pass.

use crate::column::kind_of;
use crate::error::{Class, Failure};
use crate::job::Start;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use ripplet::graph::VertexId;
use ripplet::lp::cpu::MOST_THREADS;
use std::str::FromStr;

/// Options by name; those that are absent or `None` have their defaults.
pub struct Options<'py>(pub Bound<'py, PyDict>);

impl<'py> Options<'py> {
    /// Returns the value of an option as Python has it.
    pub fn any(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    fn value<T>(
        &self,
        name: &str,
        expected: &str,
        extract: impl FnOnce(&Bound<'py, PyAny>) -> Option<T>,
    ) -> PyResult<Option<T>> {
        let Some(value) = self.any(name)? else { return Ok(None) };
        match extract(&value) {
            Some(value) => Ok(Some(value)),
            None => {
                let shown =
                    value.repr().map_or_else(|_| kind_of(&value), |shown| shown.to_string());
                let shown: String = shown.chars().take(80).collect();
                // A number that is out of range, or something that is no number.
                let is_number = value.extract::<f64>().is_ok() && !value.is_instance_of::<PyBool>();
                let class = match is_number && expected.contains("number") {
                    true => Class::Input,
                    false => Class::Type,
                };
                Err(Failure::new(class, format!("{name}: expected {expected}, not {shown}")).into())
            }
        }
    }

    /// Returns the value of a flag; false if it is absent.
    pub fn flag(&self, name: &str) -> PyResult<bool> {
        Ok(self.choice(name)?.unwrap_or(false))
    }

    /// Returns the value of a flag, if it is given.
    pub fn choice(&self, name: &str) -> PyResult<Option<bool>> {
        self.value(name, "True or False", |value| value.extract().ok())
    }

    /// Returns a string.
    pub fn text(&self, name: &str) -> PyResult<Option<String>> {
        self.value(name, "a string", |value| value.extract().ok())
    }

    /// Returns a whole number from `least` on.
    pub fn count(&self, name: &str, least: u64) -> PyResult<Option<u64>> {
        let is_count = |value: &Bound<'py, PyAny>| {
            let count = value.extract().ok().filter(|_| !value.is_instance_of::<PyBool>());
            count.filter(|&count: &u64| count >= least)
        };
        self.value(name, &format!("a whole number, {least} or above"), is_count)
    }

    /// Returns a whole number of 32 bits from `least` on.
    pub fn count32(&self, name: &str, least: u32) -> PyResult<Option<u32>> {
        let count = self.count(name, least.into())?;
        let narrow = |count| {
            u32::try_from(count).map_err(|_| {
                Failure::input(format!("{name}: expected at most {}, not {count}", u32::MAX))
            })
        };
        Ok(count.map(narrow).transpose()?)
    }

    /// Returns a number.
    pub fn number(&self, name: &str) -> PyResult<Option<f64>> {
        self.value(name, "a number", |value| {
            value.extract().ok().filter(|_| !value.is_instance_of::<PyBool>())
        })
    }

    /// Returns vertices with a number each.
    pub fn weighted_vertices(&self, name: &str) -> PyResult<Option<Vec<(u32, f64)>>> {
        self.value(name, "pairs of a vertex and a number", |value| value.extract().ok())
    }

    /// Returns a value that is parsed from a string.
    pub fn parsed<T: FromStr<Err: std::fmt::Display>>(&self, name: &str) -> PyResult<Option<T>> {
        let parse = |text: String| {
            text.parse::<T>().map_err(|error| Failure::input(format!("{name}: {error}")))
        };
        Ok(self.text(name)?.map(parse).transpose()?)
    }

    /// Returns the number of threads; no more than the command takes.
    pub fn threads(&self) -> PyResult<Option<usize>> {
        let few = |threads: u64| match u16::try_from(threads) {
            Ok(threads) if threads <= MOST_THREADS => Ok(threads.into()),
            _ => Err(Failure::input(format!(
                "threads: expected at most {MOST_THREADS}, not {threads}"
            ))),
        };
        Ok(self.count("threads", 1)?.map(few).transpose()?)
    }

    /// Returns how a run starts.
    pub fn start(&self) -> PyResult<Start> {
        let threads = self.threads()?;
        Ok(Start { threads, progress: self.any("progress")?.map(Bound::unbind) })
    }
}

/// Returns vertices from an array of them.
pub fn vertices(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<VertexId>> {
    let buffer = pyo3::buffer::PyBuffer::<u32>::get(array)
        .map_err(|_| Failure::input(format!("{name}: expected vertices as integers of 32 bits")))?;
    buffer.to_vec(array.py())
}
