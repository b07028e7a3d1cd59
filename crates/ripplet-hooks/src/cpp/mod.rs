//! CUDA C++17 from the intermediate form.
//!
//! The text is device code alone: no host code, no standard library. It stands on two headers,
//! [`SCALAR`] (operations with Rust's meaning) and [`VIEWS`] (what hooks see), and on a struct
//! `ripplet::Access` that the engine defines between them. All of it is inside of
//! `namespace ripplet::program`, where the names of the scalar operations hide those of C:
//!
//! - `struct Parameters { u64 words[…]; }`: the program's scalars in their order, each in the low
//!   bits of 8 bytes (f32 by its bits, bool as 0 or 1, signed types by their bits);
//! - `typedef … Score;`
//! - `pick_label`, `load_neighbor`, `label_score`, `score_bound`, `carry`, `update_vertex`: each a
//!   function that takes `const Parameters&` and then what the hook takes, and does what the trait
//!   does where the program does not write it;
//! - `constexpr bool has_pick_label` and so on: whether the program writes it;
//! - `constexpr bool votes_are_one`, `votes_are_arcs`: whether every vote weighs 1, or 1 or what its arc
//!   does, as the text of `load_neighbor` shows.
//!
//! The same text compiles for the host (with `-ffp-contract=off`), where the tests run it.

mod expression;
mod statement;

use crate::ir::{
    Block, Expression, ExpressionKind, Field, Function, FunctionId, LocalId, Module, Scalar,
    Statement, Type, Value, View,
};
use std::fmt::Write;

/// `scalar.cuh`: the scalar types and their operations.
pub const SCALAR: &str = include_str!("scalar.cuh");

/// `views.cuh`: vertex, neighbour, candidate, vote.
pub const VIEWS: &str = include_str!("views.cuh");

/// Hooks that a device calls, with parameters and the trait's default.
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

/// The program's text in CUDA C++17; see the module.
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

/// Whether the weight of every vote is the constant 1, or where `or_arc`, that or the arc's.
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

/// Whether all that a block returns is so.
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
    /// How deep blocks are nested, for the indentation.
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

    /// A local's name: the text's, made unique, in letters that every compiler takes.
    fn local(&self, id: LocalId) -> String {
        format!("{}_{}", plain(&self.function.locals[id.0].name), id.0)
    }
}

/// A hook's name as it is; the name of another function made unique.
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
