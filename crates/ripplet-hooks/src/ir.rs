//! The intermediate form of a program: what is left of its text once every name is resolved and
//! every type known.
//!
//! The C++ emitter and the just-in-time compiler both start here, so this form promises more than
//! Rust's syntax does:
//!
//! - **Expressions are pure and total.** No expression writes anything, loops for ever, or fails:
//!   integers wrap, a division has a divisor that is not 0 (nor -1 where the dividend is signed),
//!   shift amounts are masked, an index out of range reads 0. The parts of an expression may be
//!   evaluated in any order, more than once, or, where their value is not needed, not at all.
//!   One exception: a [`ExpressionKind::Call`] of a function with [`Function::effects`]. It only
//!   stands alone: as the value of a [`Statement::Let`] or [`Statement::Set`], or as a
//!   [`Statement::Run`].
//! - **Functions come before their callers** in [`Module::functions`], so none is recursive.
//! - **Locals are unique**: shadowing is resolved, and a local is set before it is read. The first
//!   locals of a function are its parameters.
//! - **Blocks end where control leaves them**: nothing follows a `return`, `break` or `continue`.
//!   A function that returns a value does so on every path: where [`falls_through`] says that its
//!   body may end, it ends in a [`Statement::Return`].
//!
//! Floats: every operation is rounded on its own (no fused multiply-add), and no operation may be
//! reordered. The bits of a NaN that an operation makes are not defined; everything else is.

/// A program: its parameters, columns and functions.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// The name of the program's struct: `Attenuated`.
    pub type_name: String,
    /// The program's name as users know it: `attenuated`.
    pub name: String,
    /// The scalars of the program's struct, in its order.
    pub parameters: Vec<Parameter>,
    /// The columns, in their order; a column's place here is its slot.
    pub columns: Vec<Column>,
    /// The type of a score: u64, i64 or f32.
    pub score: Scalar,
    /// The name of the schedule that it is made for, as in `Schedule::phased()`.
    pub schedule: Option<String>,
    /// Every function that a hook reaches, each before its callers.
    pub functions: Vec<Function>,
    /// Which of the functions are hooks and declarations.
    pub hooks: Hooks,
}

/// A scalar of the program's struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The field's name.
    pub name: String,
    /// Its type.
    pub scalar: Scalar,
}

/// A column: values for each vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The type of a value: u32 or f32.
    pub scalar: Scalar,
    /// How many values a vertex has.
    pub len: Len,
    /// The value where none is given; without it, the column must be given. Of the type `scalar`.
    pub default: Option<Value>,
    /// Whether a function sets it.
    pub written: bool,
}

/// How many values of a column a vertex has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Len {
    /// One, read without an index.
    One,
    /// So many as this parameter (of type u32) says, read by index.
    Parameter(ParameterId),
    /// This many, read by index.
    Fixed(u32),
}

/// The functions of [`Module::functions`] that the engine calls; where one is not written, the
/// default of the trait `Program` holds.
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
/// | `wake` | | u32: 0 `Disagreement`, 1 `Change`, 2 `Always` |
/// | `label_total` | | u32: 0 `None`, 1 `Members`, 2 `Volume` |
/// | `falls_with_total`, `follows_frequency`, `carries` | | bool |
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // The table above says what each is.
pub struct Hooks {
    pub pick_label: Option<FunctionId>,
    pub load_neighbor: Option<FunctionId>,
    /// Always written.
    pub label_score: FunctionId,
    pub carry: Option<FunctionId>,
    pub update_vertex: Option<FunctionId>,
    pub score_bound: Option<FunctionId>,
    pub wake: Option<FunctionId>,
    pub label_total: Option<FunctionId>,
    pub falls_with_total: Option<FunctionId>,
    pub follows_frequency: Option<FunctionId>,
    pub carries: Option<FunctionId>,
}

/// A place in [`Module::parameters`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ParameterId(pub usize);

/// A place in [`Module::columns`]: the slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ColumnId(pub usize);

/// A place in [`Module::functions`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub usize);

/// A place in [`Function::locals`].
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
    /// What a hook sees. Only parameters of functions have this type; a view is only handed on.
    View(View),
    /// Nothing: the result of a function that returns none.
    Unit,
}

/// The four views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// `Vertex`.
    Vertex,
    /// `&mut VertexMut`: reads of columns give what was set before. Only `update_vertex` has it.
    VertexMut,
    /// `Neighbor`.
    Neighbor,
    /// `Candidate`.
    Candidate,
}

/// A function. It may read the program's parameters, whether or not it was a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name; unique in the module.
    pub name: String,
    /// The first so many of `locals` are its parameters.
    pub parameters: usize,
    /// Every local.
    pub locals: Vec<Local>,
    /// What it returns: a scalar, a vote, or nothing. Never a view.
    pub result: Type,
    /// Whether it has a [`View::VertexMut`] among its parameters, and so may set columns.
    pub effects: bool,
    /// What it does.
    pub body: Block,
}

/// A parameter, a `let`, or a place for a value in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its name in the text; not unique.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// Statements, in their order.
pub type Block = Vec<Statement>;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// A local (a scalar or a vote) begins. Without a value it is set on every path before it is
    /// read. A `Let` in a loop is met once a turn.
    Let {
        /// The local; this is its only `Let`.
        local: LocalId,
        /// What it is at first.
        value: Option<Expression>,
    },
    /// A local gets another value.
    Set {
        /// The local: begun before, or a parameter.
        local: LocalId,
        /// Of the local's type.
        value: Expression,
    },
    /// A column of the vertex is set; out of range, nothing happens.
    SetColumn {
        /// A local of [`View::VertexMut`].
        view: LocalId,
        /// Which column.
        column: ColumnId,
        /// Which of its values (u32); none where [`Len::One`].
        index: Option<Expression>,
        /// Of the column's type.
        value: Expression,
    },
    /// A call for what it does: a function with effects, whose result, if any, is not needed.
    Run(Expression),
    /// One of two blocks.
    If {
        /// A bool.
        condition: Expression,
        /// Where it holds.
        then: Block,
        /// Where it does not.
        otherwise: Block,
    },
    /// The block of the first arm that has the value, or the last block.
    Match {
        /// The value: an integer.
        on: Expression,
        /// Tried in their order.
        arms: Vec<Arm>,
        /// Where no arm has it.
        otherwise: Block,
    },
    /// A loop over a range, which is known before the first turn; see [`Range`].
    For {
        /// Holds the number of the turn, from `first`; a new value each turn, never set inside.
        counter: LocalId,
        /// From where to where.
        range: Range,
        /// A turn.
        body: Block,
    },
    /// A loop that the checker has proved to end.
    While {
        /// A bool, looked at before each turn.
        condition: Expression,
        /// A turn.
        body: Block,
    },
    /// Leaves the innermost loop.
    Break,
    /// Begins the next turn of the innermost loop.
    Continue,
    /// Leaves the function, with a value unless its result is [`Type::Unit`].
    Return(Option<Expression>),
}

/// An arm of a match.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// Ranges of values, both ends inside; of the matched type.
    pub values: Vec<(Value, Value)>,
    /// What to do.
    pub block: Block,
}

/// The values that a counter takes: `first..end`, or `first..=end`.
///
/// Ends are of the counter's type, u32 or i32, and evaluated once. Empty where `end` is below
/// `first`, or equal to it and not inside.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The first value.
    pub first: Expression,
    /// The last value, or the one after it.
    pub end: Expression,
    /// Whether `end` is inside. (It may then be the largest value of its type.)
    pub inclusive: bool,
}

/// An expression and its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Its type.
    pub ty: Type,
}

/// What an expression is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// A constant.
    Constant(Value),
    /// The value of a local (a scalar or a vote; a view only as an argument of a call).
    Local(LocalId),
    /// A scalar of the program's struct.
    Parameter(ParameterId),
    /// Something that a view knows.
    Field {
        /// A local that is a view.
        view: LocalId,
        /// What; see [`Field`] for which view has it.
        field: Field,
    },
    /// 32 random bits for this view's id.
    Random {
        /// A vertex or a neighbour.
        view: LocalId,
        /// The stream, u32.
        stream: Box<Expression>,
    },
    /// A value of a column.
    Column {
        /// A vertex or a neighbour.
        view: LocalId,
        /// Which column.
        column: ColumnId,
        /// Which of its values (u32; out of range reads 0); none where [`Len::One`].
        index: Option<Box<Expression>>,
    },
    /// An operation on one value.
    Unary(Unary, Box<Expression>),
    /// An operation on two values; see [`Binary`] for their types.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// `left.checked_…(right).unwrap_or(otherwise)`.
    Checked {
        /// Which operation.
        operation: Checked,
        /// An integer.
        left: Box<Expression>,
        /// Of the same type; u32 for shifts.
        right: Box<Expression>,
        /// Of the type of `left`: the value where the operation has none.
        otherwise: Box<Expression>,
    },
    /// `as`, with Rust's meaning, between scalars: integers are cut or extended, a float is cut
    /// towards 0 and held at the ends of the integer's range (NaN is 0), an integer is rounded to
    /// the nearest float (ties to even), a bool is 0 or 1.
    Cast(Box<Expression>),
    /// `condition ? then : otherwise`; both sides are of the same type.
    Select {
        /// A bool.
        condition: Box<Expression>,
        /// Where it holds.
        then: Box<Expression>,
        /// Where it does not.
        otherwise: Box<Expression>,
    },
    /// A call of another function; a view among the arguments is an [`ExpressionKind::Local`].
    Call {
        /// Which function.
        function: FunctionId,
        /// Of its parameters' types.
        arguments: Vec<Expression>,
    },
    /// A vote from a label and a weight, both u32.
    Vote(Box<Expression>, Box<Expression>),
    /// The label (u32) of a vote.
    VoteLabel(Box<Expression>),
    /// The weight (u32) of a vote.
    VoteWeight(Box<Expression>),
    /// Whether the product of the first two is at least that of the last two; all u64, the
    /// products in 128 bits.
    ProductsGe(Box<[Expression; 4]>),
}

/// What a view knows of itself.
///
/// | | Vertex | VertexMut | Neighbor | Candidate | type |
/// |---|---|---|---|---|---|
/// | `Id`, `Degree`, `Round` | x | x | x | | u32 |
/// | `Label` | x | x | x | x | u32 |
/// | `Weight` | | | x | | u32 |
/// | `Carried` | | x | | | f32 |
/// | `Frequency`, `Cast` | | x | | x | u64 |
/// | `GrandTotal` | | | | x | u64 |
/// | `Total` | | | | x | u32 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The contract's own names.
pub enum Field {
    Id,
    Label,
    Degree,
    Round,
    Weight,
    Frequency,
    Cast,
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

/// Operations on one value. The result has the operand's type unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Minus: signed integers (wrapping), also `wrapping_neg` of any integer; floats (flips the sign).
    Neg,
    /// Every bit of an integer flipped; a bool negated.
    Not,
    /// Of a signed integer (wrapping: the smallest is its own), or of a float (clears the sign).
    Abs,
    /// Of an integer; a u32. Of 0: the number of bits.
    LeadingZeros,
    /// Of an integer; a u32. Of 0: the number of bits.
    TrailingZeros,
    /// Of an integer; a u32.
    CountOnes,
    /// Of a float, rounded to nearest; NaN below 0, -0 of -0.
    Sqrt,
    /// Of a float.
    Floor,
    /// Of a float.
    Ceil,
    /// Of a float, towards 0.
    Trunc,
    /// Of a float; a bool.
    IsNan,
    /// Of a float; a bool.
    IsFinite,
    /// Of a float; a u32.
    ToBits,
    /// Of a u32; a float.
    FromBits,
}

/// Operations on two values of one type, which is the result's too, unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// Integers (wrapping) and floats.
    Add,
    /// Integers (wrapping) and floats.
    Sub,
    /// Integers (wrapping) and floats.
    Mul,
    /// Floats; integers, towards 0, with a divisor that is never 0 (signed: never -1).
    Div,
    /// Integers: the rest of [`Binary::Div`], with the sign of the dividend; same divisors.
    Rem,
    /// Of the bits of integers; of bools.
    And,
    /// Of the bits of integers; of bools.
    Or,
    /// Of the bits of integers; of bools.
    Xor,
    /// An integer, by a u32 of which only the low 5 or 6 bits count.
    Shl,
    /// An integer, by a u32 of which only the low 5 or 6 bits count; signed: the sign moves in.
    Shr,
    /// An integer, by a u32, modulo the number of bits.
    RotateLeft,
    /// An integer, by a u32, modulo the number of bits.
    RotateRight,
    /// Integers, held at the ends of the range.
    SaturatingAdd,
    /// Integers, held at the ends of the range.
    SaturatingSub,
    /// Integers, held at the ends of the range.
    SaturatingMul,
    /// Integers; floats: `a < b || b is NaN ? a : b`. (Of 0 and -0 Rust itself may take the other.)
    Min,
    /// Integers; floats: `a > b || b is NaN ? a : b`. (Of 0 and -0 Rust itself may take the other.)
    Max,
    /// Integers: the distance, of the unsigned type of the same size.
    AbsDiff,
    /// An integer to the power of a u32, wrapping.
    Pow,
    /// Floats: the size of the first with the sign of the second.
    CopySign,
    /// Any scalars; a bool. Floats as in IEEE 754: nothing equals NaN.
    Eq,
    /// Any scalars; a bool: the opposite of [`Binary::Eq`].
    Ne,
    /// Any scalars (false < true); a bool.
    Lt,
    /// Any scalars; a bool.
    Le,
    /// Any scalars; a bool.
    Gt,
    /// Any scalars; a bool.
    Ge,
    /// `&&` of bools.
    LazyAnd,
    /// `||` of bools.
    LazyOr,
}

/// Operations on integers that may have no value: out of range, divided by 0, shifted too far.
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
    /// Its name in Rust.
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

    /// The scalar of this name.
    pub fn named(name: &str) -> Option<Scalar> {
        let all = [Scalar::U32, Scalar::I32, Scalar::U64, Scalar::I64, Scalar::F32, Scalar::Bool];
        all.into_iter().find(|scalar| scalar.name() == name)
    }

    /// Whether it is u32, i32, u64 or i64.
    pub fn is_integer(self) -> bool {
        !matches!(self, Scalar::F32 | Scalar::Bool)
    }

    /// Whether it is i32 or i64.
    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::I32 | Scalar::I64)
    }

    /// The number of bits of an integer or float; 1 for a bool.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::U64 | Scalar::I64 => 64,
            Scalar::Bool => 1,
            Scalar::U32 | Scalar::I32 | Scalar::F32 => 32,
        }
    }
}

impl Value {
    /// Its type.
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

/// Whether control can come to the end of a block.
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
