//! Emits CUDA C++17 from the intermediate representation.
//!
//! The emitted text is device code only: it has no host code and uses no standard library. It
//! depends on two headers, [`SCALAR`] (operations with Rust's meaning) and [`VIEWS`] (what hooks
//! see). It also depends on a struct `ripplet::Access`, which the engine defines between the
//! headers. Everything emitted is inside `namespace ripplet::program`, if the names of the
//! scalar operations hide those of C:
//!
//! - `struct Parameters { u64 words[…]; }`: the program's scalars in their order. Each is in the
//!   low bits of 8 bytes: f32 and signed types by their bits, bool as 0 or 1.
//! - `typedef … Score;`
//! - `pick_label`, `load_neighbor`, `label_score`, `score_bound`, `carry`, `update_vertex`: one
//!   function each. It takes `const Parameters&`, then the hook's parameters. If the program does
//!   not write the hook, the function does what the trait's default does.
//! - `constexpr bool has_pick_label` and so on: whether the program writes the hook.
//! - `constexpr bool votes_are_one`, `votes_are_arcs`: whether every vote weighs 1, or weighs 1 or
//!   what its arc weighs, as far as the text of `load_neighbor` shows.
//!
//! The text also compiles for the host with `-ffp-contract=off`; the tests run it there.

mod expression;
mod statement;

use crate::ir::{
    Block, Expression, ExpressionKind, Field, Function, FunctionId, LocalId, Module, Scalar,
    Statement, Type, Value, View,
};
use std::fmt::Write;

/// The text of `scalar.cuh`: the scalar types and their operations.
pub const SCALAR: &str = include_str!("scalar.cuh");

/// The text of `views.cuh`: vertex, neighbour, candidate, vote.
pub const VIEWS: &str = include_str!("views.cuh");

/// The hooks that a device calls, each with its parameters and the trait's default.
const DEVICE_HOOKS: [(&str, &str); 6] = [
    ("pick_label", "u32 pick_label(const Parameters&, Vertex v) { return v.label; }"),
    (
        "load_neighbor",
        "Vote load_neighbor(const Parameters&, Vertex, Neighbor u) { return Vote{u.label, u.weight}; }",
    ),
    ("label_score", ""),
    ("score_bound", "Score score_bound(const Parameters&, u64) { return HIGHEST; }"),
    ("carry", "f32 carry(const Parameters&, Vertex, Neighbor) { return 0.0f; }"),
    (
        "update_vertex",
        "u32 update_vertex(const Parameters&, VertexMut&, u32 label, Score) { return label; }",
    ),
];

/// Returns the program's text in CUDA C++17; the module's documentation describes it.
pub fn emit(module: &Module) -> String {
    let mut text = format!(
        "// The program {}, translated.\nnamespace ripplet {{\nnamespace program {{\n\n",
        {
            let name = module.name.chars();
            name.map(|c| if c.is_ascii_graphic() { c } else { '_' }).collect::<String>()
        }
    );
    let words = module.parameters.len().max(1);
    let (score, highest) = match module.score {
        Scalar::F32 => ("f32", "from_bits(0x7f800000u)"),
        Scalar::I64 => ("i64", "I64_MAX"),
        _ => ("u64", "U64_MAX"),
    };
    writeln!(text, "struct Parameters {{ u64 words[{words}]; }};").expect(INTO_A_STRING);
    writeln!(text, "typedef {score} Score;\n#define HIGHEST {highest}\n").expect(INTO_A_STRING);
    for (place, function) in module.functions.iter().enumerate() {
        Emitter { module, function, text: &mut text, depth: 1 }.function(FunctionId(place));
    }
    for (name, default) in DEVICE_HOOKS {
        let written = hook(module, name).is_some();
        writeln!(text, "constexpr bool has_{name} = {written};").expect(INTO_A_STRING);
        if !written && !default.is_empty() {
            writeln!(text, "RIPPLET_FN {default}").expect(INTO_A_STRING);
        }
    }
    for (name, holds) in
        [("votes_are_one", votes(module, false)), ("votes_are_arcs", votes(module, true))]
    {
        writeln!(text, "constexpr bool {name} = {holds};").expect(INTO_A_STRING);
    }
    text.push_str("\n#undef HIGHEST\n}  // namespace program\n}  // namespace ripplet\n");
    text
}

const INTO_A_STRING: &str = "writing into a string cannot fail";

fn hook(module: &Module, name: &str) -> Option<FunctionId> {
    let hooks = &module.hooks;
    match name {
        "pick_label" => hooks.pick_label,
        "load_neighbor" => hooks.load_neighbor,
        "label_score" => Some(hooks.label_score),
        "score_bound" => hooks.score_bound,
        "carry" => hooks.carry,
        "update_vertex" => hooks.update_vertex,
        _ => None,
    }
}

/// Returns whether every vote's weight is the constant 1. With `or_arc`, the weight may also be the
/// arc's.
fn votes(module: &Module, or_arc: bool) -> bool {
    let Some(FunctionId(place)) = module.hooks.load_neighbor else { return or_arc };
    let is_so = |returned: &Expression| match &returned.kind {
        ExpressionKind::Vote(_, weight) => match &weight.kind {
            ExpressionKind::Constant(value) => *value == Value::U32(1),
            ExpressionKind::Field { field: Field::Weight, .. } => or_arc,
            _ => false,
        },
        _ => false,
    };
    all_returned(&module.functions[place].body, &is_so)
}

/// Returns whether every `return` in a block satisfies `is_so`.
fn all_returned(block: &Block, is_so: &impl Fn(&Expression) -> bool) -> bool {
    block.iter().all(|statement| match statement {
        Statement::Return(value) => value.as_ref().is_some_and(is_so),
        Statement::If { then, otherwise, .. } => {
            all_returned(then, is_so) && all_returned(otherwise, is_so)
        }
        Statement::Match { arms, otherwise, .. } => {
            arms.iter().all(|arm| all_returned(&arm.block, is_so)) && all_returned(otherwise, is_so)
        }
        Statement::For { body, .. } | Statement::While { body, .. } => all_returned(body, is_so),
        _ => true,
    })
}

struct Emitter<'a> {
    module: &'a Module,
    function: &'a Function,
    text: &'a mut String,
    /// The nesting depth of the current block, for the indentation.
    depth: usize,
}

impl Emitter<'_> {
    fn function(&mut self, id: FunctionId) {
        let (result, name) = (type_name(self.function.result), function_name(self.module, id));
        let mut head = format!("RIPPLET_FN {result} {name}(const Parameters& self");
        for (place, local) in self.function.locals[..self.function.parameters].iter().enumerate() {
            let ty = type_name(local.ty);
            let by = if local.ty == Type::View(View::VertexMut) { "&" } else { "" };
            write!(head, ", {ty}{by} {}", self.local(LocalId(place))).expect(INTO_A_STRING);
        }
        self.text.push_str(&head);
        self.text.push_str(") {\n");
        self.block(&self.function.body);
        self.text.push_str("}\n\n");
    }

    /// Returns a local's name: the name in the text, made unique, in characters that every compiler
    /// accepts.
    fn local(&self, id: LocalId) -> String {
        format!("{}_{}", plain(&self.function.locals[id.0].name), id.0)
    }
}

/// Returns a hook's own name, or the name of another function made unique.
fn function_name(module: &Module, id: FunctionId) -> String {
    let hook = DEVICE_HOOKS.iter().find(|(name, _)| hook(module, name) == Some(id));
    match hook {
        Some((name, _)) => (*name).to_owned(),
        None => format!("f{}_{}", id.0, plain(&module.functions[id.0].name)),
    }
}

fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn scalar_name(scalar: Scalar) -> &'static str {
    scalar.name()
}

fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Scalar(scalar) => scalar_name(scalar),
        Type::Vote => "Vote",
        Type::View(View::Vertex) => "Vertex",
        Type::View(View::VertexMut) => "VertexMut",
        Type::View(View::Neighbor) => "Neighbor",
        Type::View(View::Candidate) => "Candidate",
        Type::Unit => "void",
    }
}
