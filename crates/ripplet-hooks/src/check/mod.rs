//! Name resolution and type inference for the body of one function.
//!
//! Inference follows rustc's order and rules:
//!
//! - The operands of an operator have one type.
//! - An integer literal takes the type that its context requires.
//! - The type of a receiver must be known at a method call.
//!
//! Lowering checks what depends on all types being known: whether a literal fits, and whether a
//! type has an operator.

mod call;
mod method;
mod pattern;
mod value;

pub(crate) use pattern::{fits, take_all_bools};

use crate::error::{Diagnostic, Diagnostics};
use crate::ir::{Binary, Column, LocalId, Parameter, Scalar, View};
use crate::outline::{Definition, Scope, is_harmless};
use crate::signature::{Signature, read_type};
use crate::tree::{Callee, Kind, Local, Node};
use crate::types::{Inference, Ty};
use proc_macro2::Span;
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

/// A function reachable from a hook: the hook itself, or a function that a reachable function
/// calls.
#[derive(Clone)]
pub(crate) struct ReachableFunction<'a> {
    pub(crate) name: String,
    /// Index in [`Shared::scopes`] of the scope in which its names are resolved.
    pub(crate) scope: usize,
    pub(crate) definition: Definition<'a>,
    pub(crate) signature: Signature,
}

/// Index in [`Shared::scopes`] of the scope of `math.rs`.
pub(crate) const MATHEMATICS: usize = 1;

/// State that the checks of all functions of a program share.
pub(crate) struct Shared<'a> {
    /// The program's own scope, then the scopes whose functions every program can call.
    pub(crate) scopes: Vec<Scope<'a>>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) columns: Vec<Column>,
    pub(crate) score: Scalar,
    pub(crate) met: Vec<ReachableFunction<'a>>,
    pub(crate) known: HashMap<(usize, bool, String), Option<Callee>>,
    pub(crate) errors: Diagnostics,
}

/// The body of a function with names resolved.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) locals: Vec<Local>,
    pub(crate) root: Node,
    pub(crate) inference: Inference,
    /// The functions that it calls, with the places of the calls.
    pub(crate) calls: Vec<(Callee, Span)>,
}

pub(crate) struct Checker<'s, 'a> {
    shared: &'s mut Shared<'a>,
    scope: usize,
    method: bool,
    result: Ty,
    locals: Vec<Local>,
    /// The locals bound to each name; the innermost binding is last.
    names: HashMap<String, Vec<LocalId>>,
    /// The names bound in the open blocks, in the order of binding.
    brought: Vec<String>,
    inference: Inference,
    loops: usize,
    calls: Vec<(Callee, Span)>,
}

impl<'a> Shared<'a> {
    /// Returns the function of this name if the scope has one. The first call reads its signature.
    pub(crate) fn meet(&mut self, scope: usize, method: bool, name: &str) -> Option<Callee> {
        let key = (scope, method, name.to_owned());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let from = &self.scopes[scope];
        let definition = *if method { &from.methods } else { &from.functions }.get(name)?;
        let score = (scope == 0).then_some(self.score);
        let callee = match Signature::read(definition.signature, score) {
            Ok(signature) => {
                let name = name.to_owned();
                self.met.push(ReachableFunction { name, scope, definition, signature });
                Some(Callee(self.met.len() - 1))
            }
            Err(error) => {
                self.errors.push(error);
                None
            }
        };
        self.known.insert(key, callee);
        callee
    }
}

impl Shared<'_> {
    /// Returns the function of this name among those that every hook can call.
    pub(crate) fn meet_mathematics(&mut self, name: &str) -> Option<Callee> {
        let known = self.scopes.get(MATHEMATICS)?.functions.get(name)?;
        known.public.then(|| self.meet(MATHEMATICS, false, name)).flatten()
    }
}

/// Checks the body of a reachable function.
pub(crate) fn check_body(shared: &mut Shared<'_>, callee: Callee) -> Body {
    let met = shared.met[callee.0].clone();
    let mut checker = Checker {
        shared,
        scope: met.scope,
        method: met.signature.method,
        result: met.signature.result,
        locals: Vec::new(),
        names: HashMap::new(),
        brought: Vec::new(),
        inference: Inference::default(),
        loops: 0,
        calls: Vec::new(),
    };
    checker.refuse_attributes(met.definition.attributes);
    checker.parameters(&met);
    let mut root = checker.block(met.definition.body);
    if met.signature.result == Ty::Unit || !never_ends(&root) {
        checker.expect(&mut root, met.signature.result);
    }
    let Checker { locals, inference, calls, .. } = checker;
    Body { locals, root, inference, calls }
}

fn never_ends(node: &Node) -> bool {
    node.ty == Ty::Never
}

impl<'a> Checker<'_, 'a> {
    fn parameters(&mut self, met: &ReachableFunction<'a>) {
        let typed = met.definition.signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(typed),
            syn::FnArg::Receiver(_) => None,
        });
        let names_before = self.locals.len();
        for (typed, &ty) in typed.zip(&met.signature.parameters) {
            self.refuse_attributes(&typed.attrs);
            let (name, mutable) = self.binding(&typed.pat);
            if self.locals[names_before..].iter().any(|known| known.name == name && name != "_") {
                let message = format!("two parameters are called `{name}`");
                self.error(Diagnostic::plain(typed.pat.span(), message));
            }
            if mutable && matches!(ty, Ty::View(_)) {
                let message = "a view cannot be assigned to";
                self.error(Diagnostic::new(typed.pat.span(), message, "leave out `mut`"));
            }
            self.bring(name, ty, mutable);
        }
    }

    /// Reads a name and whether it is `mut`; a pattern of a parameter or a `let` can be nothing
    /// else.
    fn binding(&mut self, pattern: &syn::Pat) -> (String, bool) {
        match pattern {
            syn::Pat::Wild(_) => ("_".to_owned(), false),
            syn::Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                self.refuse_attributes(&name.attrs);
                let text = name.ident.unraw().to_string();
                if self.constant(&text).is_some() {
                    let message = format!("`{text}` is a constant");
                    self.error(Diagnostic::new(name.span(), message, "choose another name"));
                }
                (text, name.mutability.is_some())
            }
            other => {
                let help = "write a name, with `mut` before it if it changes, or `_`";
                self.error(Diagnostic::new(other.span(), "a pattern", help));
                ("_".to_owned(), false)
            }
        }
    }

    /// Adds a local and binds its name until the end of the block.
    fn bring(&mut self, name: String, ty: Ty, mutable: bool) -> LocalId {
        let local = LocalId(self.locals.len());
        self.locals.push(Local { name: name.clone(), ty, mutable });
        if name != "_" {
            self.names.entry(name.clone()).or_default().push(local);
            self.brought.push(name);
        }
        local
    }

    /// Removes the names bound since `brought` had the length `since`.
    fn forget(&mut self, since: usize) {
        for name in self.brought.drain(since..).rev() {
            self.names.get_mut(&name).and_then(Vec::pop);
        }
    }

    fn local(&self, name: &str) -> Option<LocalId> {
        self.names.get(name)?.last().copied()
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        self.shared.errors.push(diagnostic);
    }

    /// Reports an error and returns a node in place of the refused expression.
    fn refuse(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Node {
        self.error(Diagnostic::new(span, message, help));
        Node { kind: Kind::Refused, ty: Ty::Refused, span }
    }

    fn refuse_attributes(&mut self, attributes: &[syn::Attribute]) {
        crate::outline::refuse_conditions(attributes, &mut self.shared.errors);
    }

    /// Unifies a node's type with `ty`.
    fn expect(&mut self, node: &mut Node, ty: Ty) {
        match self.inference.unify(node.ty, ty) {
            Some(ty) => node.ty = ty,
            None => {
                let found = self.inference.resolve(node.ty);
                let message = format!("{} is needed here, not {}", ty.name(), found.name());
                // The value of a block is its last expression.
                let span = last_of(node).span;
                self.error(match ty {
                    Ty::Scalar(to) if found.is_scalar() && to != Scalar::Bool => {
                        Diagnostic::new(span, message, format!("convert it: `as {}`", to.name()))
                    }
                    _ => Diagnostic::plain(span, message),
                });
                node.ty = Ty::Refused;
            }
        }
    }

    /// Unifies the types of two nodes and returns the result.
    fn same(&mut self, left: &mut Node, right: &mut Node) -> Ty {
        match self.inference.unify(left.ty, right.ty) {
            Some(ty) => ty,
            None => {
                let (a, b) = (self.inference.resolve(left.ty), self.inference.resolve(right.ty));
                let message = format!("{} and {} do not go together", a.name(), b.name());
                let help = "convert one of them, as in `x as u64`";
                self.error(Diagnostic::new(right.span, message, help));
                Ty::Refused
            }
        }
    }

    fn block(&mut self, block: &'a syn::Block) -> Node {
        let names = self.brought.len();
        let (mut statements, mut tail) = (Vec::new(), None);
        for (place, statement) in block.stmts.iter().enumerate() {
            let last = place + 1 == block.stmts.len();
            match statement {
                syn::Stmt::Expr(value, None) if last => {
                    tail = Some(Box::new(self.expression(value)));
                }
                syn::Stmt::Expr(value, semicolon) => {
                    let mut node = self.expression(value);
                    if semicolon.is_none() {
                        self.expect(&mut node, Ty::Unit);
                    }
                    statements.push(node);
                }
                syn::Stmt::Local(local) => statements.push(self.bind(local)),
                syn::Stmt::Item(item) => {
                    let help = "put it beside the hooks: functions and constants of the module";
                    self.error(Diagnostic::new(item.span(), "an item inside a function", help));
                }
                syn::Stmt::Macro(call) => {
                    self.error(macro_call(call.mac.span()));
                }
            }
        }
        self.forget(names);
        let diverges = statements.iter().any(|node: &Node| node.ty == Ty::Never);
        let ty = match &tail {
            Some(tail) => tail.ty,
            None if diverges => Ty::Never,
            None => Ty::Unit,
        };
        Node { kind: Kind::Block { statements, tail }, ty, span: block.brace_token.span.join() }
    }

    fn bind(&mut self, local: &'a syn::Local) -> Node {
        self.refuse_attributes(&local.attrs);
        let (pattern, annotation) = match &local.pat {
            syn::Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        let score = (self.scope == 0).then_some(self.shared.score);
        let annotation = annotation.map(|ty| {
            read_type(ty, score).unwrap_or_else(|error| {
                self.error(error);
                Ty::Refused
            })
        });
        let Some(init) = local.init.as_ref().filter(|init| init.diverge.is_none()) else {
            let (name, mutable) = self.binding(pattern);
            self.bring(name, annotation.unwrap_or(Ty::Refused), mutable);
            let help = "write `let name = value;`";
            return self.refuse(local.span(), "this `let` is not a name and a value", help);
        };
        let mut value = self.expression(&init.expr);
        if let Some(ty) = annotation {
            self.expect(&mut value, ty);
        }
        let ty = annotation.unwrap_or(value.ty);
        if !matches!(ty, Ty::Scalar(_) | Ty::Integer(_) | Ty::Float(_) | Ty::Vote | Ty::Refused) {
            let (name, mutable) = self.binding(pattern);
            self.bring(name, Ty::Refused, mutable);
            let message = format!("a local cannot hold {}", ty.name());
            let help = "locals hold scalars and votes; views are only handed on as arguments";
            return self.refuse(value.span, message, help);
        }
        let (name, mutable) = self.binding(pattern);
        let local = self.bring(name, ty, mutable);
        let (span, ty) = (value.span, if value.ty == Ty::Never { Ty::Never } else { Ty::Unit });
        Node { kind: Kind::Let { local, value: Box::new(value) }, ty, span }
    }

    fn assign(
        &mut self,
        to: &'a syn::Expr,
        operator: Option<Binary>,
        value: &'a syn::Expr,
    ) -> Node {
        let mut value = self.expression(value);
        let target = match to {
            syn::Expr::Path(path) => path.path.get_ident().map(|ident| ident.unraw().to_string()),
            _ => None,
        };
        let Some(local) = target.and_then(|name| self.local(&name)) else {
            let help = "only `let mut` locals are assigned to; columns are set with `v.set_…(…)`";
            return self.refuse(to.span(), "this cannot be assigned to", help);
        };
        let Local { ref name, ty, mutable, .. } = self.locals[local.0];
        if !mutable {
            let message = format!("`{name}` does not change");
            let help = format!("write `let mut {name}`");
            return self.refuse(to.span(), message, help);
        }
        let shift = matches!(operator, Some(Binary::Shl | Binary::Shr));
        if !shift {
            self.expect(&mut value, ty);
        }
        let value = Box::new(value);
        let kind = match operator {
            Some(operator) => Kind::SetWith { local, operator, value },
            None => Kind::Set { local, value },
        };
        Node { kind, ty: Ty::Unit, span: to.span() }
    }

    fn branch(&mut self, branch: &'a syn::ExprIf) -> Node {
        self.refuse_attributes(&branch.attrs);
        if let syn::Expr::Let(pattern) = &*branch.cond {
            return self.refuse(pattern.span(), "`if let`", "compare values, or use `match`");
        }
        let mut condition = self.expression(&branch.cond);
        self.expect(&mut condition, Ty::Scalar(Scalar::Bool));
        let mut then = self.block(&branch.then_branch);
        let otherwise = branch.else_branch.as_ref().map(|(_, value)| self.expression(value));
        let (ty, otherwise) = match otherwise {
            Some(mut otherwise) => {
                let ty = self.same(&mut then, &mut otherwise);
                (ty, Some(Box::new(otherwise)))
            }
            None => {
                self.expect(&mut then, Ty::Unit);
                (Ty::Unit, None)
            }
        };
        let kind = Kind::If { condition: Box::new(condition), then: Box::new(then), otherwise };
        Node { kind, ty, span: branch.if_token.span }
    }

    fn for_loop(&mut self, turns: &'a syn::ExprForLoop) -> Node {
        self.refuse_attributes(&turns.attrs);
        self.refuse_label(turns.label.as_ref());
        let help = "write `for i in first..end` with u32 or i32 ends";
        let syn::Expr::Range(range) = peel(&turns.expr) else {
            return self.refuse(turns.expr.span(), "a `for` counts over a range", help);
        };
        let (Some(first), Some(end)) = (&range.start, &range.end) else {
            return self.refuse(range.span(), "this range has no end", help);
        };
        let (mut first, mut end) = (self.expression(first), self.expression(end));
        let ty = self.same(&mut first, &mut end);
        let names = self.brought.len();
        let (name, mutable) = self.binding(&turns.pat);
        if mutable {
            let message = "a counter does not change within a turn";
            self.error(Diagnostic::new(turns.pat.span(), message, "leave out `mut`"));
        }
        let counter = self.bring(name, ty, false);
        let body = self.turn(&turns.body);
        self.forget(names);
        let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
        let ends = Box::new([first, end]);
        let kind = Kind::For { counter, ends, inclusive, body: Box::new(body) };
        Node { kind, ty: Ty::Unit, span: turns.for_token.span }
    }

    fn while_loop(&mut self, turns: &'a syn::ExprWhile) -> Node {
        self.refuse_attributes(&turns.attrs);
        self.refuse_label(turns.label.as_ref());
        if let syn::Expr::Let(pattern) = &*turns.cond {
            return self.refuse(pattern.span(), "`while let`", "compare values");
        }
        // As in Rust, a condition can leave neither its own loop nor the loop around it.
        let loops = std::mem::take(&mut self.loops);
        let mut condition = self.expression(&turns.cond);
        self.loops = loops;
        self.expect(&mut condition, Ty::Scalar(Scalar::Bool));
        let body = self.turn(&turns.body);
        let kind = Kind::While { condition: Box::new(condition), body: Box::new(body) };
        Node { kind, ty: Ty::Unit, span: turns.while_token.span }
    }

    fn turn(&mut self, block: &'a syn::Block) -> Node {
        self.loops += 1;
        let mut body = self.block(block);
        self.loops -= 1;
        self.expect(&mut body, Ty::Unit);
        body
    }

    fn refuse_label(&mut self, label: Option<&syn::Label>) {
        if let Some(label) = label {
            let help = "`break` and `continue` are for the innermost loop";
            self.error(Diagnostic::new(label.span(), "a label", help));
        }
    }

    /// Checks `break` and `continue`.
    fn leave(&mut self, kind: Kind, span: Span, plain: bool) -> Node {
        if !plain {
            return self.refuse(span, "a label or a value", "write `break;` or `continue;`");
        }
        if self.loops == 0 {
            return self.refuse(span, "there is no loop to leave here", "use `return`");
        }
        Node { kind, ty: Ty::Never, span }
    }

    fn give_back(&mut self, value: &'a syn::ExprReturn) -> Node {
        let span = value.return_token.span;
        let value = value.expr.as_ref().map(|value| {
            let mut value = self.expression(value);
            let result = self.result;
            self.expect(&mut value, result);
            Box::new(value)
        });
        if value.is_none() && self.result != Ty::Unit {
            let message = format!("`return` without a value, but {} is needed", self.result.name());
            self.error(Diagnostic::plain(span, message));
        }
        Node { kind: Kind::Return(value), ty: Ty::Never, span }
    }
}

/// Returns the expression inside parentheses and invisible groups.
pub(crate) fn peel(value: &syn::Expr) -> &syn::Expr {
    match value {
        syn::Expr::Paren(inner) if inner.attrs.iter().all(is_harmless) => peel(&inner.expr),
        syn::Expr::Group(inner) => peel(&inner.expr),
        other => other,
    }
}

fn last_of(node: &Node) -> &Node {
    match &node.kind {
        Kind::Block { tail: Some(tail), .. } => last_of(tail),
        _ => node,
    }
}

fn macro_call(span: Span) -> Diagnostic {
    let help = "hooks have no macros: what is translated is the text as it stands";
    Diagnostic::new(span, "a macro is called", help)
}

/// A view that a name refers to: its local and its kind.
type Seen = (LocalId, View);
