//! Lowering of the intermediate representation to Cranelift's, and so to machine code.
//!
//! A function maps directly to blocks and values. In addition:
//!
//! - **Parameters and lengths of columns are constants**: they are known at compile time, and
//!   Cranelift folds all that depends on them.
//! - **Calls are inlined** up to [`INLINED`], as calls cost more than most functions do. Larger
//!   functions are compiled once and called. No function is recursive, so this terminates.
//! - **Views are passed as scalars** (ids, labels, weights) and the address of the frame with the
//!   remaining fields; see `machine`.
//! - **Nothing can fail**: divisors that are not constants are guarded, indices are compared with
//!   lengths.
//!
//! `ripplet_hooks` guarantees the invariants of the intermediate representation when it reads a
//! program: names and types are checked, loops bounded, and nesting limited, which limits the
//! recursion here, too. An intermediate representation from elsewhere is rejected by missing
//! indices, by types of variables and by Cranelift's verifier, as [`JitError::Unsound`] or
//! [`JitError::Compiler`]. Only the termination of its loops is not checked.

mod entry;
mod expression;
mod operation;
mod size;
mod statement;
mod view;

pub(crate) use size::Sizes;

use crate::machine::{Code, Declared, Entry, MOST_COLUMNS};
use crate::{JitError, parameters};
use cranelift_codegen::Context;
use cranelift_codegen::ir::types::{F32, I8, I32, I64};
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, Signature, Type, Value};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module};
use ripplet_hooks::ir;
use ripplet_lp::Scalar;
use std::sync::Arc;

/// A program with all compile-time constants.
pub(crate) struct Program<'a> {
    pub module: &'a ir::Module,
    /// The values of its parameters.
    pub parameters: Vec<ir::Value>,
    pub columns: Vec<Column>,
    sizes: Sizes,
}

/// The layout of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub scalar: ir::Scalar,
    /// Values per vertex.
    pub len: u32,
    /// The begin of its values in a vertex's draft; `None` for read-only columns.
    pub draft: Option<u64>,
}

impl<'a> Program<'a> {
    /// Creates a program with these values of its parameters, each of the right type.
    pub fn new(module: &'a ir::Module, values: &[Scalar]) -> Result<Program<'a>, JitError> {
        let parameters: Vec<_> = values.iter().map(|&value| parameters::value_of(value)).collect();
        if module.columns.len() > MOST_COLUMNS {
            let (given, most) = (module.columns.len(), MOST_COLUMNS);
            return Err(JitError::Columns { given, most });
        }
        let mut columns = Vec::new();
        let mut draft = 0;
        for column in &module.columns {
            let len = match column.len {
                ir::Len::One => 1,
                ir::Len::Fixed(len) => len,
                ir::Len::Parameter(ir::ParameterId(id)) => match parameters.get(id) {
                    Some(&ir::Value::U32(len)) => len,
                    _ => return Err(JitError::unsound("a column's length is no u32 parameter")),
                },
            };
            let here = column.written.then_some(draft);
            draft += if column.written { u64::from(len) } else { 0 };
            columns.push(Column { scalar: column.scalar, len, draft: here });
        }
        Ok(Program { module, parameters, columns, sizes: Sizes::of(module)? })
    }

    fn function(&self, id: ir::FunctionId) -> Result<&'a ir::Function, JitError> {
        self.module.functions.get(id.0).ok_or_else(|| JitError::unsound("no such function"))
    }
}

/// Runs `compile`, which recurses as deeply as a program nests, on a thread with a sufficiently
/// large stack.
///
/// # Errors
/// The errors of `compile`; also if the code generator fails, or there is no memory for the stack.
pub(crate) fn with_stack<T: Send>(
    compile: impl FnOnce() -> Result<T, JitError> + Send,
) -> Result<T, JitError> {
    /// Programs nest at most about 1000 levels, and a level takes some KiB without optimization.
    const STACK: usize = 64 << 20;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, compile);
        let thread = thread.map_err(|error| JitError::Compiler(error.to_string()))?;
        let failed = |_| Err(JitError::Compiler("the code generator failed".into()));
        thread.join().unwrap_or_else(failed)
    })
}

/// A program during compilation.
pub(crate) struct Compiler<'a> {
    program: Program<'a>,
    code: Code,
    /// Functions that are called, by their index in the module.
    called: Vec<Option<FuncId>>,
    context: Context,
    frontend: FunctionBuilderContext,
}

impl<'a> Compiler<'a> {
    /// Creates a compiler, and compiles the functions that are called; entries follow.
    pub fn new(program: Program<'a>) -> Result<Compiler<'a>, JitError> {
        let mut compiler = Compiler {
            called: vec![None; program.module.functions.len()],
            program,
            code: Code::new()?,
            context: Context::new(),
            frontend: FunctionBuilderContext::new(),
        };
        for place in 0..compiler.called.len() {
            let id = ir::FunctionId(place);
            if compiler.program.sizes.is_called(id) {
                compiler.called[place] = Some(compiler.compile_called(id)?);
            }
        }
        Ok(compiler)
    }

    /// Compiles a function that is called rather than inlined: its parameters are the context's frame
    /// and its own, split into parts.
    fn compile_called(&mut self, id: ir::FunctionId) -> Result<FuncId, JitError> {
        let function = self.program.function(id)?;
        let mut signature = self.code.module().make_signature();
        signature.params.push(AbiParam::new(I64));
        for local in function.locals.iter().take(function.parameters) {
            signature.params.extend(parts_of(local.ty).iter().map(|&ty| AbiParam::new(ty)));
        }
        signature.returns.extend(parts_of(function.result).iter().map(|&ty| AbiParam::new(ty)));
        let name = format!("function {}", id.0);
        let declared = self.code.module().declare_function(&name, Linkage::Local, &signature)?;
        self.define(declared, signature, |lowering, parameters| {
            let (context, mut parts) = (parameters[0], &parameters[1..]);
            lowering.context = Some(context);
            let locals = function.locals.iter().take(function.parameters);
            let arguments = locals.map(|local| Operand::from_parts(local.ty, &mut parts));
            let arguments = arguments.collect::<Result<_, _>>()?;
            Ok(lowering.inline(id, arguments)?.parts())
        })?;
        Ok(declared)
    }

    /// Compiles an entry; `lower` maps its parameters to its result.
    pub fn entry<E: Entry>(
        &mut self,
        name: &str,
        lower: impl FnOnce(&mut Lowering<'_, 'a>, &[Value]) -> Result<Value, JitError>,
    ) -> Result<Declared<E>, JitError> {
        let (declared, signature) = self.code.declare::<E>(name)?;
        self.define(declared.id, signature, |lowering, parameters| {
            lowering.context = parameters.first().copied();
            Ok(vec![lower(lowering, parameters)?])
        })?;
        Ok(declared)
    }

    fn define(
        &mut self,
        id: FuncId,
        signature: Signature,
        lower: impl FnOnce(&mut Lowering<'_, 'a>, &[Value]) -> Result<Vec<Value>, JitError>,
    ) -> Result<(), JitError> {
        self.context.func.signature = signature;
        let mut builder = FunctionBuilder::new(&mut self.context.func, &mut self.frontend);
        let first = builder.create_block();
        builder.append_block_params_for_function_params(first);
        builder.switch_to_block(first);
        builder.seal_block(first);
        let parameters = builder.block_params(first).to_vec();
        let mut lowering = Lowering {
            program: &self.program,
            module: self.code.module(),
            called: &self.called,
            builder,
            context: None,
            activations: Vec::new(),
        };
        let results = lower(&mut lowering, &parameters)?;
        lowering.builder.ins().return_(&results);
        lowering.builder.finalize();
        self.code.module().define_function(id, &mut self.context)?;
        self.code.module().clear_context(&mut self.context);
        Ok(())
    }

    /// Returns the code of all compiled functions, ready to run.
    pub fn finish(mut self) -> Result<Arc<Code>, JitError> {
        self.code.seal()?;
        Ok(Arc::new(self.code))
    }
}

/// A function during lowering.
pub(crate) struct Lowering<'c, 'a> {
    program: &'c Program<'a>,
    module: &'c mut JITModule,
    called: &'c [Option<FuncId>],
    builder: FunctionBuilder<'c>,
    /// The address of the context's frame; `None` without views.
    context: Option<Value>,
    /// The stack of functions, each inlined into the one before.
    activations: Vec<Activation<'a>>,
}

/// A function while its body is lowered.
struct Activation<'a> {
    id: ir::FunctionId,
    function: &'a ir::Function,
    locals: Vec<Local>,
    /// The block after a return; its parameters are the parts of the result.
    exit: Block,
    loops: Vec<Loop>,
}

/// The targets of `continue` and `break`.
#[derive(Clone, Copy)]
struct Loop {
    next: Block,
    end: Block,
}

/// The place of a local's value.
#[derive(Clone, Copy)]
enum Local {
    Scalar(Variable),
    Vote(Variable, Variable),
    View(Seen),
    /// A view whose argument is not known yet.
    Unseen,
}

/// The value of an expression.
#[derive(Clone, Copy)]
enum Operand {
    Scalar(Value),
    /// Label and weight.
    Vote(Value, Value),
    View(Seen),
    Unit,
}

/// A view: its fields in values, and the address of the frame with the others.
#[derive(Clone, Copy)]
enum Seen {
    Vertex { id: Value, label: Value },
    VertexMut { id: Value, label: Value, frame: Value },
    Neighbor { id: Value, label: Value, weight: Value },
    Candidate { frame: Value },
}

/// Returns the Cranelift type of a scalar.
fn type_of(scalar: ir::Scalar) -> Type {
    match scalar {
        ir::Scalar::U32 | ir::Scalar::I32 => I32,
        ir::Scalar::U64 | ir::Scalar::I64 => I64,
        ir::Scalar::F32 => F32,
        ir::Scalar::Bool => I8,
    }
}

/// Returns the Cranelift types in which a value is passed and returned.
fn parts_of(ty: ir::Type) -> &'static [Type] {
    match ty {
        ir::Type::Scalar(ir::Scalar::U32 | ir::Scalar::I32) => &[I32],
        ir::Type::Scalar(ir::Scalar::U64 | ir::Scalar::I64) => &[I64],
        ir::Type::Scalar(ir::Scalar::F32) => &[F32],
        ir::Type::Scalar(ir::Scalar::Bool) => &[I8],
        ir::Type::Vote | ir::Type::View(ir::View::Vertex) => &[I32, I32],
        ir::Type::View(ir::View::VertexMut) => &[I32, I32, I64],
        ir::Type::View(ir::View::Neighbor) => &[I32, I32, I32],
        ir::Type::View(ir::View::Candidate) => &[I64],
        ir::Type::Unit => &[],
    }
}

impl Operand {
    /// Returns the parts of the value, with the types of [`parts_of`].
    fn parts(self) -> Vec<Value> {
        match self {
            Operand::Scalar(value) => vec![value],
            Operand::Vote(label, weight) => vec![label, weight],
            Operand::View(Seen::Vertex { id, label }) => vec![id, label],
            Operand::View(Seen::VertexMut { id, label, frame }) => vec![id, label, frame],
            Operand::View(Seen::Neighbor { id, label, weight }) => vec![id, label, weight],
            Operand::View(Seen::Candidate { frame }) => vec![frame],
            Operand::Unit => Vec::new(),
        }
    }

    /// Takes a value from the front of `parts`.
    fn from_parts(ty: ir::Type, parts: &mut &[Value]) -> Result<Operand, JitError> {
        let lacking = || JitError::unsound("a value lacks a part");
        let (own, rest) = parts.split_at_checked(parts_of(ty).len()).ok_or_else(lacking)?;
        *parts = rest;
        Ok(match (ty, own) {
            (ir::Type::Scalar(_), &[value]) => Operand::Scalar(value),
            (ir::Type::Vote, &[label, weight]) => Operand::Vote(label, weight),
            (ir::Type::View(ir::View::Vertex), &[id, label]) => {
                Operand::View(Seen::Vertex { id, label })
            }
            (ir::Type::View(ir::View::VertexMut), &[id, label, frame]) => {
                Operand::View(Seen::VertexMut { id, label, frame })
            }
            (ir::Type::View(ir::View::Neighbor), &[id, label, weight]) => {
                Operand::View(Seen::Neighbor { id, label, weight })
            }
            (ir::Type::View(ir::View::Candidate), &[frame]) => {
                Operand::View(Seen::Candidate { frame })
            }
            (ir::Type::Unit, []) => Operand::Unit,
            _ => return Err(lacking()),
        })
    }

    /// Returns another value of the same type, from its parts.
    fn like(self, parts: &[Value]) -> Result<Operand, JitError> {
        let ty = match self {
            Operand::Scalar(_) => return Ok(Operand::Scalar(parts[0])),
            Operand::Vote(..) => ir::Type::Vote,
            _ => return Err(JitError::unsound("a choice of what is no value")),
        };
        Operand::from_parts(ty, &mut { parts })
    }

    fn scalar(self) -> Result<Value, JitError> {
        match self {
            Operand::Scalar(value) => Ok(value),
            _ => Err(JitError::unsound("a scalar is wanted where there is none")),
        }
    }

    fn vote(self) -> Result<(Value, Value), JitError> {
        match self {
            Operand::Vote(label, weight) => Ok((label, weight)),
            _ => Err(JitError::unsound("a vote is wanted where there is none")),
        }
    }
}
