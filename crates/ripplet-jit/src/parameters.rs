//! Values of a program's parameters, by name.

use crate::JitError;
use ripplet_hooks::ir;
use ripplet_lp::Scalar;
use std::collections::BTreeMap;

/// Values of a program's parameters, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    values: BTreeMap<String, Scalar>,
}

impl Parameters {
    /// Creates an empty set of values.
    pub fn new() -> Parameters {
        Parameters::default()
    }

    /// Returns these values with one added or replaced.
    pub fn with(mut self, name: &str, value: Scalar) -> Parameters {
        self.values.insert(name.to_owned(), value);
        self
    }

    /// Returns these values with one added, parsed like a Rust literal of the parameter's type:
    /// `7`, `-0.5`, `true`.
    ///
    /// # Errors
    /// If the module has no such parameter, or the text is not of its type.
    pub fn with_text(
        self,
        module: &ir::Module,
        name: &str,
        text: &str,
    ) -> Result<Parameters, JitError> {
        let parameter = module.parameters.iter().find(|parameter| parameter.name == name);
        let parameter = parameter.ok_or_else(|| unknown(module, name))?;
        let value = parsed(parameter.scalar, text.trim());
        let value = value.ok_or_else(|| {
            let given = format!("`{text}`");
            match is_number(parameter.scalar, text.trim()) {
                true => {
                    let (name, wanted) = (parameter.name.clone(), parameter.scalar.name());
                    JitError::ParameterRange { name, wanted, given }
                }
                false => JitError::parameter(parameter, given),
            }
        })?;
        Ok(self.with(name, value))
    }

    /// Returns the values in the order of the module's parameters, each of the right type.
    pub(crate) fn in_order(&self, module: &ir::Module) -> Result<Vec<Scalar>, JitError> {
        let known = |name: &&String| module.parameters.iter().any(|known| known.name == **name);
        if let Some(name) = self.values.keys().find(|name| !known(name)) {
            return Err(unknown(module, name));
        }
        let value = |parameter: &ir::Parameter| match self.values.get(&parameter.name) {
            Some(&value) if scalar_of(value) == parameter.scalar => Ok(value),
            Some(&value) => Err(JitError::parameter(parameter, written(value))),
            None => {
                let (name, wanted) = (parameter.name.clone(), parameter.scalar.name());
                Err(JitError::MissingParameter { name, wanted })
            }
        };
        module.parameters.iter().map(value).collect()
    }
}

fn unknown(module: &ir::Module, name: &str) -> JitError {
    let known = module.parameters.iter().map(|parameter| parameter.name.clone()).collect();
    JitError::UnknownParameter { name: name.to_owned(), known }
}

fn parsed(scalar: ir::Scalar, text: &str) -> Option<Scalar> {
    match scalar {
        ir::Scalar::U32 => text.parse().ok().map(Scalar::U32),
        ir::Scalar::I32 => text.parse().ok().map(Scalar::I32),
        ir::Scalar::U64 => text.parse().ok().map(Scalar::U64),
        ir::Scalar::I64 => text.parse().ok().map(Scalar::I64),
        ir::Scalar::F32 => {
            // A number beyond all floats of 32 bits becomes infinite.
            let is_meant = |value: &f32| !value.is_infinite() || !is_number(scalar, text);
            text.parse().ok().filter(is_meant).map(Scalar::F32)
        }
        ir::Scalar::Bool => text.parse().ok().map(Scalar::Bool),
    }
}

fn written(value: Scalar) -> String {
    let name = scalar_of(value).name();
    match value {
        Scalar::U32(value) => format!("{value}_{name}"),
        Scalar::I32(value) => format!("{value}_{name}"),
        Scalar::U64(value) => format!("{value}_{name}"),
        Scalar::I64(value) => format!("{value}_{name}"),
        Scalar::F32(value) => format!("{value}_{name}"),
        Scalar::Bool(value) => value.to_string(),
    }
}

/// Returns the type of a value.
pub(crate) fn scalar_of(value: Scalar) -> ir::Scalar {
    value_of(value).scalar()
}

/// Converts a value to the intermediate representation.
pub(crate) fn value_of(value: Scalar) -> ir::Value {
    match value {
        Scalar::U32(value) => ir::Value::U32(value),
        Scalar::I32(value) => ir::Value::I32(value),
        Scalar::U64(value) => ir::Value::U64(value),
        Scalar::I64(value) => ir::Value::I64(value),
        Scalar::F32(value) => ir::Value::F32(value),
        Scalar::Bool(value) => ir::Value::Bool(value),
    }
}

/// Converts a value of the intermediate representation to that of programs.
pub(crate) fn scalar_from(value: ir::Value) -> Scalar {
    match value {
        ir::Value::U32(value) => Scalar::U32(value),
        ir::Value::I32(value) => Scalar::I32(value),
        ir::Value::U64(value) => Scalar::U64(value),
        ir::Value::I64(value) => Scalar::I64(value),
        ir::Value::F32(value) => Scalar::F32(value),
        ir::Value::Bool(value) => Scalar::Bool(value),
    }
}

/// Whether a text is a finite number of a kind, whether its type holds it or not.
fn is_number(scalar: ir::Scalar, text: &str) -> bool {
    match scalar {
        ir::Scalar::F32 => {
            text.parse::<f64>().is_ok_and(|_| text.contains(|c: char| c.is_ascii_digit()))
        }
        ir::Scalar::Bool => false,
        _ => {
            let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        }
    }
}
