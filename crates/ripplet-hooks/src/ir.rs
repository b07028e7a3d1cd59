//! The intermediate representation of a program: every name is resolved and every type known.
//!
//! The C++ emitter and the just-in-time compiler both start here, so this representation guarantees
//! more than Rust's syntax does:
//!
//! - **Expressions are pure and total.** No expression writes anything, loops forever, or fails:
//!   integers wrap, a divisor is never 0 (nor -1 if the dividend is signed), shift amounts are
//!   masked, an index out of range reads 0. The parts of an expression may be evaluated in any
//!   order, more than once, or, if their value is not needed, never. The one exception is an
//!   [`ExpressionKind::Call`] of a function with [`Function::effects`]. It occurs only alone: as
//!   the value of a [`Statement::Let`] or [`Statement::Set`], or as a [`Statement::Run`].
//! - **Functions precede their callers** in [`Module::functions`], so none is recursive.
//! - **Locals are unique**: shadowing is resolved, and a local is set before it is read. The first
//!   locals of a function are its parameters.
//! - **Blocks end where control leaves them**: nothing follows a `return`, `break` or `continue`. A
//!   function that returns a value does so on every path: if [`falls_through`] is true of its body,
//!   the body ends in a [`Statement::Return`].
//!
//! Floats: every operation is rounded on its own (no fused multiply-add), and no operation may be
//! reordered. The bits of a NaN that an operation produces are not defined; everything else is.

/// A program: its parameters, columns and functions.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// The name of the program's struct, such as `Attenuated`.
    pub type_name: String,
    /// The program's name as users know it, such as `attenuated`.
    pub name: String,
    /// The scalars of the program's struct, in its order.
    pub parameters: Vec<Parameter>,
    /// The columns in their order; a column's index here is its slot.
    pub columns: Vec<Column>,
    /// The type of a score: u64, i64 or f32.
    pub score: Scalar,
    /// The name of the schedule that the program is made for, as in `Schedule::phased()`.
    pub schedule: Option<String>,
    /// Every function that a hook reaches, each before its callers.
    pub functions: Vec<Function>,
    /// The functions that are hooks and declarations.
    pub hooks: Hooks,
}

/// A scalar of the program's struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The field's name.
    pub name: String,
    /// The field's type.
    pub scalar: Scalar,
}

/// A column: one or more values per vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The column's name.
    pub name: String,
    /// The type of a value: u32 or f32.
    pub scalar: Scalar,
    /// The number of values per vertex.
    pub len: Len,
    /// The default value, of the type `scalar`. Without it, the caller must supply the column.
    pub default: Option<Value>,
    /// Whether a function sets the column.
    pub written: bool,
}

/// The number of values that a column has per vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Len {
    /// One value, read without an index.
    One,
    /// As many values as this parameter (of type u32) says, read by index.
    Parameter(ParameterId),
    /// This many values, read by index.
    Fixed(u32),
}

/// The functions of [`Module::functions`] that the engine calls.
///
/// If the program does not write one, the default of the trait `Program` or `Hints` applies.
///
/// Signatures (see [`View`]; `Score` is [`Module::score`]):
///
/// | hook | parameters | result |
/// |---|---|---|
/// | `pick_label` | Vertex | u32 |
/// | `load_neighbor` | Vertex, Neighbor | Vote |
/// | `label_score` | Vertex, Candidate | Score |
/// | `carry` | Vertex, Neighbor | f32 |
/// | `update_vertex` | VertexMut, u32 (label), Score | u32 |
/// | `score_bound` | u64 | Score |
/// | `activation` | | u32: 0 `Disagreement`, 1 `Change`, 2 `Always` |
/// | `label_total` | | u32: 0 `None`, 1 `Members`, 2 `Volume` |
/// | `falls_with_total`, `follows_frequency`, `votes_for_own_label`, `carries` | | bool |
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // The table above describes each.
pub struct Hooks {
    pub pick_label: Option<FunctionId>,
    pub load_neighbor: Option<FunctionId>,
    /// Every program writes this one.
    pub label_score: FunctionId,
    pub carry: Option<FunctionId>,
    pub update_vertex: Option<FunctionId>,
    pub score_bound: Option<FunctionId>,
    pub activation: Option<FunctionId>,
    pub label_total: Option<FunctionId>,
    pub falls_with_total: Option<FunctionId>,
    pub follows_frequency: Option<FunctionId>,
    pub votes_for_own_label: Option<FunctionId>,
    pub carries: Option<FunctionId>,
}

/// An index into [`Module::parameters`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ParameterId(pub usize);

/// An index into [`Module::columns`]: the slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ColumnId(pub usize);

/// An index into [`Module::functions`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub usize);

/// An index into [`Function::locals`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LocalId(pub usize);

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Rust's own names.
pub enum Scalar {
    U32,
    I32,
    U64,
    I64,
    F32,
    Bool,
}

/// The type of a local or of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A number or a truth value.
    Scalar(Scalar),
    /// A label and a weight, both u32.
    Vote,
    /// A view. Only parameters of functions have this type; a function can only pass a view on.
    View(View),
    /// No value: the result of a function that returns nothing.
    Unit,
}

/// The four views that hooks take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// `Vertex`.
    Vertex,
    /// `&mut VertexMut`: reading a column returns what was set before. Only `update_vertex` has it.
    VertexMut,
    /// `Neighbor`.
    Neighbor,
    /// `Candidate`.
    Candidate,
}

/// A function. It may read the program's parameters, whether it was a method or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The function's name, unique in the module.
    pub name: String,
    /// The number of parameters, which are the first of `locals`.
    pub parameters: usize,
    /// All locals, parameters included.
    pub locals: Vec<Local>,
    /// The type of the result: a scalar, a vote, or nothing. Never a view.
    pub result: Type,
    /// Whether a [`View::VertexMut`] is among the parameters, so that the function may set columns.
    pub effects: bool,
    /// The body.
    pub body: Block,
}

/// A local: a parameter, a `let`, or a temporary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// The name in the text; not unique.
    pub name: String,
    /// The local's type.
    pub ty: Type,
}

/// A sequence of statements.
pub type Block = Vec<Statement>;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Declares a local (a scalar or a vote). A local without a value is set on every path before
    /// it is read. A `Let` in a loop executes once per iteration.
    Let {
        /// The local; this is its only `Let`.
        local: LocalId,
        /// The initial value.
        value: Option<Expression>,
    },
    /// Assigns another value to a local.
    Set {
        /// The local: declared before, or a parameter.
        local: LocalId,
        /// The value, of the local's type.
        value: Expression,
    },
    /// Sets a column of the vertex. An index out of range has no effect.
    SetColumn {
        /// A local of [`View::VertexMut`].
        view: LocalId,
        /// The column.
        column: ColumnId,
        /// The index of the value (u32); `None` for [`Len::One`].
        index: Option<Expression>,
        /// The value, of the column's type.
        value: Expression,
    },
    /// Calls a function with effects; its result, if any, is not used.
    Run(Expression),
    /// Executes one of two blocks.
    If {
        /// The condition, a bool.
        condition: Expression,
        /// The block if the condition holds.
        then: Block,
        /// The block if it does not.
        otherwise: Block,
    },
    /// Executes the block of the first arm that contains the value, or `otherwise`.
    Match {
        /// The value: an integer.
        on: Expression,
        /// The arms, tried in their order.
        arms: Vec<Arm>,
        /// The block if no arm contains the value.
        otherwise: Block,
    },
    /// A loop over a range that is known before the first iteration; see [`Range`].
    For {
        /// The counter, from `first`; new in each iteration, never set in the body.
        counter: LocalId,
        /// The range of the counter.
        range: Range,
        /// The body.
        body: Block,
    },
    /// A loop that the checker has proved to end.
    While {
        /// The condition, a bool, evaluated before each iteration.
        condition: Expression,
        /// The body.
        body: Block,
    },
    /// Leaves the innermost loop.
    Break,
    /// Begins the next iteration of the innermost loop.
    Continue,
    /// Leaves the function, with a value unless its result is [`Type::Unit`].
    Return(Option<Expression>),
}

/// An arm of a match.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// Ranges of values of the matched type, both ends included.
    pub values: Vec<(Value, Value)>,
    /// The block to execute.
    pub block: Block,
}

/// The range of a loop's counter: `first..end`, or `first..=end`.
///
/// Both ends have the counter's type, u32 or i32, and are evaluated once. The range is empty if
/// `end` is below `first`, or equal to it and not included.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The first value.
    pub first: Expression,
    /// The last value, or the value after it.
    pub end: Expression,
    /// Whether `end` is included. It may then be the largest value of its type.
    pub inclusive: bool,
}

/// An expression and its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// The operation or value.
    pub kind: ExpressionKind,
    /// The type of the result.
    pub ty: Type,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// A constant.
    Constant(Value),
    /// The value of a local (a scalar or a vote; a view only as an argument of a call).
    Local(LocalId),
    /// A scalar of the program's struct.
    Parameter(ParameterId),
    /// A field of a view.
    Field {
        /// A local that is a view.
        view: LocalId,
        /// The field; [`Field`] lists which view has it.
        field: Field,
    },
    /// 32 random bits for the id of a view.
    Random {
        /// A local that is a vertex or a neighbour.
        view: LocalId,
        /// The stream, u32.
        stream: Box<Expression>,
    },
    /// A value of a column.
    Column {
        /// A local that is a vertex or a neighbour.
        view: LocalId,
        /// The column.
        column: ColumnId,
        /// The index of the value (u32; out of range reads 0); `None` for [`Len::One`].
        index: Option<Box<Expression>>,
    },
    /// An operation on one value.
    Unary(Unary, Box<Expression>),
    /// An operation on two values; see [`Binary`] for their types.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// `left.checked_…(right).unwrap_or(otherwise)`.
    Checked {
        /// The operation.
        operation: Checked,
        /// The left operand, an integer.
        left: Box<Expression>,
        /// The right operand, of the same type; u32 for shifts.
        right: Box<Expression>,
        /// The value, of the type of `left`, if the operation has no result.
        otherwise: Box<Expression>,
    },
    /// A cast `as` between scalars, with Rust's meaning:
    ///
    /// - An integer is truncated or extended.
    /// - A float is rounded towards 0 and clamped to the integer's range; NaN becomes 0.
    /// - An integer becomes the nearest float (ties to even).
    /// - A bool becomes 0 or 1.
    Cast(Box<Expression>),
    /// `condition ? then : otherwise`; both sides have the same type.
    Select {
        /// The condition, a bool.
        condition: Box<Expression>,
        /// The value if the condition holds.
        then: Box<Expression>,
        /// The value if it does not.
        otherwise: Box<Expression>,
    },
    /// A call of another function; a view among the arguments is an [`ExpressionKind::Local`].
    Call {
        /// The function.
        function: FunctionId,
        /// The arguments, of the parameters' types.
        arguments: Vec<Expression>,
    },
    /// A vote from a label and a weight, both u32.
    Vote(Box<Expression>, Box<Expression>),
    /// The label (u32) of a vote.
    VoteLabel(Box<Expression>),
    /// The weight (u32) of a vote.
    VoteWeight(Box<Expression>),
    /// Whether the product of the first two is at least that of the last two. All are u64; the
    /// products have 128 bits.
    ProductsGe(Box<[Expression; 4]>),
}

/// The fields of the views, with the views that have them and their types.
///
/// | | Vertex | VertexMut | Neighbor | Candidate | type |
/// |---|---|---|---|---|---|
/// | `Id`, `Degree`, `Round` | x | x | x | | u32 |
/// | `Label` | x | x | x | x | u32 |
/// | `Weight` | | | x | | u32 |
/// | `Carried` | | x | | | f32 |
/// | `Frequency`, `TotalVotes` | | x | | x | u64 |
/// | `GrandTotal` | | | | x | u64 |
/// | `Total` | | | | x | u32 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Named as in the trait's contract.
pub enum Field {
    Id,
    Label,
    Degree,
    Round,
    Weight,
    Frequency,
    TotalVotes,
    GrandTotal,
    Total,
    Carried,
}

/// A scalar value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // Rust's own names.
pub enum Value {
    U32(u32),
    I32(i32),
    U64(u64),
    I64(i64),
    F32(f32),
    Bool(bool),
}

/// Operations on one value. The result has the operand's type unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Negation. Signed integers wrap, `wrapping_neg` of any integer included; floats flip the
    /// sign.
    Neg,
    /// Bitwise complement of an integer; negation of a bool.
    Not,
    /// Absolute value of a signed integer (wrapping: the smallest stays itself) or of a float
    /// (clears the sign).
    Abs,
    /// The number of leading zeros of an integer, a u32; for 0, the number of bits.
    LeadingZeros,
    /// The number of trailing zeros of an integer, a u32; for 0, the number of bits.
    TrailingZeros,
    /// The number of ones in an integer, a u32.
    CountOnes,
    /// Square root of a float, rounded to nearest; NaN below 0, -0 for -0.
    Sqrt,
    /// The largest whole number not above a float.
    Floor,
    /// The smallest whole number not below a float.
    Ceil,
    /// A float rounded towards 0.
    Trunc,
    /// Whether a float is NaN; a bool.
    IsNan,
    /// Whether a float is finite; a bool.
    IsFinite,
    /// The bits of a float, a u32.
    ToBits,
    /// The float with the bits of a u32.
    FromBits,
}

/// Operations on two values of one type, which is also the result's type unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// Sum of integers (wrapping) or floats.
    Add,
    /// Difference of integers (wrapping) or floats.
    Sub,
    /// Product of integers (wrapping) or floats.
    Mul,
    /// Quotient of floats, or of integers, rounded towards 0. An integer divisor is never 0
    /// (signed: never -1).
    Div,
    /// Remainder of [`Binary::Div`] of integers, with the sign of the dividend; the divisor is as
    /// there.
    Rem,
    /// Bitwise and of integers; and of bools.
    And,
    /// Bitwise or of integers; or of bools.
    Or,
    /// Bitwise exclusive or of integers; exclusive or of bools.
    Xor,
    /// Left shift of an integer by a u32, of which only the low 5 or 6 bits count.
    Shl,
    /// Right shift of an integer by a u32, of which only the low 5 or 6 bits count; signed: the
    /// sign is shifted in.
    Shr,
    /// Left rotation of an integer by a u32, modulo the number of bits.
    RotateLeft,
    /// Right rotation of an integer by a u32, modulo the number of bits.
    RotateRight,
    /// Sum of integers, clamped to the range of the type.
    SaturatingAdd,
    /// Difference of integers, clamped to the range of the type.
    SaturatingSub,
    /// Product of integers, clamped to the range of the type.
    SaturatingMul,
    /// The smaller integer; of floats, `a < b || b is NaN ? a : b`. (Of 0 and -0, Rust itself may
    /// return the other.)
    Min,
    /// The larger integer; of floats, `a > b || b is NaN ? a : b`. (Of 0 and -0, Rust itself may
    /// return the other.)
    Max,
    /// Absolute difference of integers, of the unsigned type of the same size.
    AbsDiff,
    /// An integer to the power of a u32, wrapping.
    Pow,
    /// The float with the magnitude of the first and the sign of the second.
    CopySign,
    /// Equality of any scalars, a bool. Floats compare as in IEEE 754: nothing equals NaN.
    Eq,
    /// Inequality of any scalars, a bool: the opposite of [`Binary::Eq`].
    Ne,
    /// Less than, of any scalars (false < true); a bool.
    Lt,
    /// Less than or equal, of any scalars; a bool.
    Le,
    /// Greater than, of any scalars; a bool.
    Gt,
    /// Greater than or equal, of any scalars; a bool.
    Ge,
    /// `&&` of bools.
    LazyAnd,
    /// `||` of bools.
    LazyOr,
}

/// Operations on integers that may have no result: out of range, division by 0, or too large a
/// shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Rust's own names, after `checked_`.
pub enum Checked {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
}

impl Scalar {
    /// Returns the operation's name in Rust.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::U32 => "u32",
            Scalar::I32 => "i32",
            Scalar::U64 => "u64",
            Scalar::I64 => "i64",
            Scalar::F32 => "f32",
            Scalar::Bool => "bool",
        }
    }

    /// Returns the scalar type of this name.
    pub fn named(name: &str) -> Option<Scalar> {
        let all = [Scalar::U32, Scalar::I32, Scalar::U64, Scalar::I64, Scalar::F32, Scalar::Bool];
        all.into_iter().find(|scalar| scalar.name() == name)
    }

    /// Returns whether the type is u32, i32, u64 or i64.
    pub fn is_integer(self) -> bool {
        !matches!(self, Scalar::F32 | Scalar::Bool)
    }

    /// Returns whether the type is i32 or i64.
    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::I32 | Scalar::I64)
    }

    /// Returns the number of bits of an integer or float; 1 for a bool.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::U64 | Scalar::I64 => 64,
            Scalar::Bool => 1,
            Scalar::U32 | Scalar::I32 | Scalar::F32 => 32,
        }
    }
}

impl Value {
    /// Returns the value's type.
    pub fn scalar(self) -> Scalar {
        match self {
            Value::U32(_) => Scalar::U32,
            Value::I32(_) => Scalar::I32,
            Value::U64(_) => Scalar::U64,
            Value::I64(_) => Scalar::I64,
            Value::F32(_) => Scalar::F32,
            Value::Bool(_) => Scalar::Bool,
        }
    }
}

/// Returns whether control can reach the end of a block.
pub fn falls_through(block: &[Statement]) -> bool {
    match block.last() {
        Some(Statement::Return(_) | Statement::Break | Statement::Continue) => false,
        Some(Statement::If { then, otherwise, .. }) => {
            falls_through(then) || falls_through(otherwise)
        }
        Some(Statement::Match { arms, otherwise, .. }) => {
            arms.iter().any(|arm| falls_through(&arm.block)) || falls_through(otherwise)
        }
        _ => true,
    }
}
