//! From the intermediate form to machine code, by way of Cranelift's.
//!
//! A function becomes blocks and values as it stands; what is done beside that:
//!
//! - **Parameters and lengths of columns are constants**: they are known when a program is
//!   compiled, and all that follows from them is computed then.
//! - **Calls are inlined** up to [`INLINED`], as calls cost more than most functions do. What is
//!   larger is compiled once and called. No function is recursive, so this ends.
//! - **Views are passed as scalars** (ids, labels, weights) and the address of the frame that has
//!   the rest; see `machine`.
//! - **Nothing can fail**: divisors that are not constants are guarded, indices compared.
//!
//! What the intermediate form promises is made so by `ripplet_hooks`, where programs are read: names
//! and types are checked there, loops bounded, and nesting limited, so that the recursion here is
//! limited too. An intermediate form that someone made up otherwise is found out by missing places,
//! by types of variables and by Cranelift's verifier, as [`JitError::Unsound`] or
//! [`JitError::Compiler`]; only that its loops end is taken on trust.

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

/// A program with all that is known of it before it runs.
pub(crate) struct Program<'a> {
    pub module: &'a ir::Module,
    /// The values of its parameters.
    pub parameters: Vec<ir::Value>,
    pub columns: Vec<Column>,
    sizes: Sizes,
}

/// Where a column's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub scalar: ir::Scalar,
    /// Values a vertex.
    pub len: u32,
    /// Where its values begin in a vertex's draft; only written columns are there.
    pub draft: Option<u64>,
}

impl<'a> Program<'a> {
    /// A program with these values of its parameters, each of its type.
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

/// Does something that recurses as deep as a program nests, on a stack for as deep as may be.
///
/// # Errors
/// What `compile` says; or that the code generator failed, or there is no memory for the stack.
pub(crate) fn with_stack<T: Send>(
    compile: impl FnOnce() -> Result<T, JitError> + Send,
) -> Result<T, JitError> {
    /// Programs nest some 1000 deep at most, and a level takes some KiB where nothing is optimized.
    const STACK: usize = 64 << 20;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, compile);
        let thread = thread.map_err(|error| JitError::Compiler(error.to_string()))?;
        let failed = |_| Err(JitError::Compiler("the code generator failed".into()));
        thread.join().unwrap_or_else(failed)
    })
}

/// A program on its way to machine code.
pub(crate) struct Compiler<'a> {
    program: Program<'a>,
    code: Code,
    /// Functions that are called, by their place in the module.
    called: Vec<Option<FuncId>>,
    context: Context,
    frontend: FunctionBuilderContext,
}

impl<'a> Compiler<'a> {
    /// A compiler that has compiled what is called, and no entry.
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

    /// Compiles a function that is called rather than inlined: its parameters are the scene's frame
    /// and its own, taken apart.
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
            let (scene, mut parts) = (parameters[0], &parameters[1..]);
            lowering.scene = Some(scene);
            let locals = function.locals.iter().take(function.parameters);
            let arguments = locals.map(|local| Operand::from_parts(local.ty, &mut parts));
            let arguments = arguments.collect::<Result<_, _>>()?;
            Ok(lowering.inline(id, arguments)?.parts())
        })?;
        Ok(declared)
    }

    /// Compiles an entry; `lower` gets its parameters and gives its result.
    pub fn entry<E: Entry>(
        &mut self,
        name: &str,
        lower: impl FnOnce(&mut Lowering<'_, 'a>, &[Value]) -> Result<Value, JitError>,
    ) -> Result<Declared<E>, JitError> {
        let (declared, signature) = self.code.declare::<E>(name)?;
        self.define(declared.id, signature, |lowering, parameters| {
            lowering.scene = parameters.first().copied();
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
            scene: None,
            activations: Vec::new(),
        };
        let results = lower(&mut lowering, &parameters)?;
        lowering.builder.ins().return_(&results);
        lowering.builder.finalize();
        self.code.module().define_function(id, &mut self.context)?;
        self.code.module().clear_context(&mut self.context);
        Ok(())
    }

    /// The code of all that was compiled, ready to run.
    pub fn finish(mut self) -> Result<Arc<Code>, JitError> {
        self.code.seal()?;
        Ok(Arc::new(self.code))
    }
}

/// A function on its way to machine code.
pub(crate) struct Lowering<'c, 'a> {
    program: &'c Program<'a>,
    module: &'c mut JITModule,
    called: &'c [Option<FuncId>],
    builder: FunctionBuilder<'c>,
    /// The address of the scene's frame; none where no view is.
    scene: Option<Value>,
    /// The functions that are open, each inlined into the one before.
    activations: Vec<Activation<'a>>,
}

/// A function while its body is lowered.
struct Activation<'a> {
    id: ir::FunctionId,
    function: &'a ir::Function,
    locals: Vec<Local>,
    /// Where control goes on after a return, with the parts of the result.
    exit: Block,
    loops: Vec<Loop>,
}

/// Where `continue` and `break` go.
#[derive(Clone, Copy)]
struct Loop {
    next: Block,
    end: Block,
}

/// Where a local's value is.
#[derive(Clone, Copy)]
enum Local {
    Scalar(Variable),
    Vote(Variable, Variable),
    View(Seen),
    /// A view before its argument is known.
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

/// A view: what of it is in values, and the address of the frame that has the rest.
#[derive(Clone, Copy)]
enum Seen {
    Vertex { id: Value, label: Value },
    VertexMut { id: Value, label: Value, frame: Value },
    Neighbor { id: Value, label: Value, weight: Value },
    Candidate { frame: Value },
}

/// How a scalar is kept.
fn type_of(scalar: ir::Scalar) -> Type {
    match scalar {
        ir::Scalar::U32 | ir::Scalar::I32 => I32,
        ir::Scalar::U64 | ir::Scalar::I64 => I64,
        ir::Scalar::F32 => F32,
        ir::Scalar::Bool => I8,
    }
}

/// How a value is passed to functions and given back.
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
    /// Its parts, as [`parts_of`] its type.
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

    /// The value whose parts come next.
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

    /// Another value of the same type, from its parts.
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
