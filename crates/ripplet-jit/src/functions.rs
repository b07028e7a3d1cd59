//! Compiled single functions, for tests of the generated code.

use crate::lower::{self, Compiler};
use crate::machine::{Declared, Entry, MOST_ARGUMENTS, OfScalars};
use crate::parameters::scalar_of;
use crate::{JitError, Parameters};
use ripplet_hooks::ir;
use ripplet_lp::Scalar;

/// The functions of a module that take only scalars (at most 16) and return a scalar.
///
/// For tests of what hooks compute, one function at a time; a run needs
/// [`CompiledProgram`](crate::CompiledProgram).
#[derive(Debug)]
pub struct Functions {
    functions: Vec<Function>,
}

#[derive(Debug)]
struct Function {
    name: String,
    parameters: Vec<ir::Scalar>,
    result: ir::Scalar,
    entry: OfScalars,
}

impl Functions {
    /// Compiles the functions, with these values of the program's parameters.
    ///
    /// # Errors
    /// See [`CompiledProgram::compile`](crate::CompiledProgram::compile).
    pub fn compile(module: &ir::Module, parameters: &Parameters) -> Result<Functions, JitError> {
        let values = parameters.in_order(module)?;
        let program = lower::Program::new(module, &values)?;
        let functions = lower::with_stack(|| {
            let mut compiler = Compiler::new(program)?;
            let mut declared: Vec<(&ir::Function, _, _, Declared<OfScalars>)> = Vec::new();
            for (place, function) in module.functions.iter().enumerate() {
                let Some((parameters, result)) = scalars_of(function) else { continue };
                let entry = compiler.entry(&format!("entry {place}"), |lowering, parameters| {
                    lowering.of_scalars(ir::FunctionId(place), parameters[0])
                })?;
                declared.push((function, parameters, result, entry));
            }
            let code = compiler.finish()?;
            let function = |(function, parameters, result, entry): (&ir::Function, _, _, _)| {
                let name = function.name.clone();
                Function { name, parameters, result, entry: OfScalars::of(&code, entry) }
            };
            Ok(declared.into_iter().map(function).collect())
        })?;
        Ok(Functions { functions })
    }

    /// Yields the functions' names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|function| &*function.name)
    }

    /// Calls a function with these arguments; returns `None` if there is no such function, or the
    /// arguments have the wrong types.
    pub fn call(&self, name: &str, arguments: &[Scalar]) -> Option<Scalar> {
        let function = self.functions.iter().find(|function| function.name == name)?;
        let types = arguments.iter().map(|&argument| scalar_of(argument));
        if !types.eq(function.parameters.iter().copied()) {
            return None;
        }
        let mut bits = [0; MOST_ARGUMENTS];
        for (bits, &argument) in bits.iter_mut().zip(arguments) {
            *bits = match argument {
                Scalar::U32(value) => u64::from(value),
                Scalar::I32(value) => u64::from(value.cast_unsigned()),
                Scalar::U64(value) => value,
                Scalar::I64(value) => value.cast_unsigned(),
                Scalar::F32(value) => u64::from(value.to_bits()),
                Scalar::Bool(value) => u64::from(value),
            };
        }
        let result = function.entry.call(&bits);
        Some(match function.result {
            ir::Scalar::U32 => Scalar::U32(result as u32),
            ir::Scalar::I32 => Scalar::I32((result as u32).cast_signed()),
            ir::Scalar::U64 => Scalar::U64(result),
            ir::Scalar::I64 => Scalar::I64(result.cast_signed()),
            ir::Scalar::F32 => Scalar::F32(f32::from_bits(result as u32)),
            ir::Scalar::Bool => Scalar::Bool(result != 0),
        })
    }
}

fn scalars_of(function: &ir::Function) -> Option<(Vec<ir::Scalar>, ir::Scalar)> {
    let scalar = |ty| match ty {
        ir::Type::Scalar(scalar) => Some(scalar),
        _ => None,
    };
    let parameters = function.locals.iter().take(function.parameters);
    let parameters = parameters.map(|local| scalar(local.ty)).collect::<Option<Vec<_>>>()?;
    (parameters.len() <= MOST_ARGUMENTS).then_some((parameters, scalar(function.result)?))
}
