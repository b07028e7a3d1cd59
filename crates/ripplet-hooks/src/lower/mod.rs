//! Lowering: from the checked tree to the intermediate representation, with control flow taken out
//! of expressions.
//!
//! In Rust, an expression may contain an `if`, a block or a `return`; in the intermediate
//! representation it may not. Lowering therefore puts the statements of an expression before it.
//! Rust evaluates from left to right, so values already evaluated to the left are kept in locals.

mod operation;

use crate::bounds::{self, Counters};
use crate::check::{Body, fits, take_all_bools};
use crate::constant::value_of;
use crate::error::{Diagnostic, Diagnostics};
use crate::ir::{
    Arm, Block, Checked, Expression, ExpressionKind, Function, FunctionId, Local, LocalId, Range,
    Scalar, Statement, Type, Value, View,
};
use crate::signature::Signature;
use crate::tree::{self, Callee, Kind, Literal, Node};
use crate::types::{Inference, Ty};
use proc_macro2::Span;
use std::collections::HashSet;

/// The functions of a module, as far as the lowering of a caller needs them.
pub(crate) struct Functions<'a> {
    /// For each function in the order of discovery: its place in the module, and whether it has
    /// effects.
    pub(crate) places: &'a [(FunctionId, bool)],
}

struct Lowerer<'a> {
    functions: &'a Functions<'a>,
    errors: &'a mut Diagnostics,
    inference: Inference,
    /// The locals of the text; temporaries follow them in `locals`.
    named: Vec<tree::Local>,
    integers: Vec<Option<Scalar>>,
    locals: Vec<Local>,
    /// Locals that never change and are never 0 or -1.
    divisors: HashSet<LocalId>,
    block: Block,
}

/// A value, or `None` if control never reaches it.
type Lowered = Option<Expression>;

/// Lowers a checked function.
pub(crate) fn lower(
    (name, signature): (&str, &Signature),
    body: Body,
    functions: &Functions<'_>,
    errors: &mut Diagnostics,
) -> Function {
    let Body { locals: named, root, inference, .. } = body;
    let mut lowerer = Lowerer {
        functions,
        errors,
        inference,
        named,
        integers: Vec::new(),
        locals: Vec::new(),
        divisors: HashSet::new(),
        block: Vec::new(),
    };
    lowerer.settle_locals();
    let result = lowerer.inference.settle(signature.result).unwrap_or(Type::Unit);
    if result == Type::Unit {
        lowerer.discard(&root);
    } else if let Some(value) = lowerer.value(&root) {
        lowerer.block.push(Statement::Return(Some(value)));
    }
    Function {
        name: name.to_owned(),
        parameters: signature.parameters.len(),
        locals: lowerer.locals,
        result,
        effects: signature.parameters.contains(&Ty::View(View::VertexMut)),
        body: lowerer.block,
    }
}

impl Lowerer<'_> {
    fn settle_locals(&mut self) {
        for local in &self.named {
            let ty = self.inference.settle(local.ty);
            let ty = ty.unwrap_or(Type::Scalar(Scalar::I32));
            self.integers.push(match ty {
                Type::Scalar(scalar) if scalar.is_integer() => Some(scalar),
                _ => None,
            });
            self.locals.push(Local { name: local.name.clone(), ty });
        }
    }

    fn ty(&mut self, node: &Node) -> Type {
        match self.inference.settle(node.ty) {
            Some(ty) => ty,
            None => {
                // Every such type begins with a literal.
                let literal = matches!(node.kind, Kind::Literal(_));
                if let (Ty::Float(_), true) = (self.inference.resolve(node.ty), literal) {
                    self.errors.push(unknown_float(node.span));
                }
                Type::Scalar(Scalar::F32)
            }
        }
    }

    fn scalar(&mut self, node: &Node) -> Scalar {
        match self.ty(node) {
            Type::Scalar(scalar) => scalar,
            _ => Scalar::I32,
        }
    }

    /// Adds a temporary and returns it.
    fn place(&mut self, ty: Type) -> LocalId {
        self.locals.push(Local { name: "between".to_owned(), ty });
        LocalId(self.locals.len() - 1)
    }

    fn local(&self, local: LocalId) -> Expression {
        Expression { kind: ExpressionKind::Local(local), ty: self.locals[local.0].ty }
    }

    /// Lowers into a block of its own and returns the block.
    fn aside<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        let outside = std::mem::take(&mut self.block);
        let result = lower(self);
        (std::mem::replace(&mut self.block, outside), result)
    }

    /// Lowers several values in their order.
    fn values<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>) -> Option<Vec<Expression>> {
        let mut values: Vec<Expression> = Vec::new();
        let mut kept = 0;
        for node in nodes {
            let before = self.block.len();
            let value = self.value(node)?;
            if self.block.len() > before {
                // Values to the left are evaluated before the statements of this one.
                let after = self.block.split_off(before);
                for value in &mut values[kept..] {
                    if !self.is_stable(value) {
                        let local = self.place(value.ty);
                        let left = std::mem::replace(value, self.local(local));
                        self.block.push(Statement::Let { local, value: Some(left) });
                    }
                }
                kept = values.len();
                self.block.extend(after);
            }
            values.push(value);
        }
        Some(values)
    }

    /// Returns whether no statement can change the value.
    fn is_stable(&self, value: &Expression) -> bool {
        match value.kind {
            ExpressionKind::Constant(_) | ExpressionKind::Parameter(_) => true,
            ExpressionKind::Local(local) => self.named.get(local.0).is_none_or(|l| !l.mutable),
            _ => false,
        }
    }

    fn value(&mut self, node: &Node) -> Lowered {
        let ty = node.ty;
        match &node.kind {
            Kind::Block { statements, tail } => {
                if !self.statements(statements) {
                    return None;
                }
                self.value(tail.as_deref()?)
            }
            Kind::If { condition, then, otherwise } => {
                self.value_of_if(node, condition, [then, otherwise.as_deref()?])
            }
            Kind::Match { on, arms } => self.value_of_match(node, on, arms),
            Kind::Call { function, arguments } => self.call(node, *function, arguments),
            _ if ty == Ty::Never || ty == Ty::Unit => {
                self.statement(node);
                None
            }
            _ => self.operation(node),
        }
    }

    fn value_of_if(&mut self, node: &Node, condition: &Node, sides: [&Node; 2]) -> Lowered {
        let condition = self.value(condition)?;
        let (then_block, then) = self.aside(|this| this.value(sides[0]));
        let (else_block, otherwise) = self.aside(|this| this.value(sides[1]));
        if let (Some(then), Some(otherwise), true, true) =
            (&then, &otherwise, then_block.is_empty(), else_block.is_empty())
        {
            let kind = ExpressionKind::Select {
                condition: Box::new(condition),
                then: Box::new(then.clone()),
                otherwise: Box::new(otherwise.clone()),
            };
            return Some(Expression { ty: then.ty, kind });
        }
        let any = then.is_some() || otherwise.is_some();
        let ty = self.ty(node);
        let place = any.then(|| self.begin(ty));
        let then = set_at_end(then_block, place, then);
        let otherwise = set_at_end(else_block, place, otherwise);
        self.block.push(Statement::If { condition, then, otherwise });
        place.map(|place| self.local(place))
    }

    /// Declares a temporary that is set later.
    fn begin(&mut self, ty: Type) -> LocalId {
        let local = self.place(ty);
        self.block.push(Statement::Let { local, value: None });
        local
    }

    fn value_of_match(&mut self, node: &Node, on: &Node, arms: &[tree::Arm]) -> Lowered {
        let (scalar, on) = (self.scalar(on), self.value(on)?);
        let blocks: Vec<_> =
            arms.iter().map(|arm| self.aside(|this| this.value(&arm.body))).collect();
        let any = blocks.iter().any(|(_, value)| value.is_some());
        let ty = self.ty(node);
        let place = any.then(|| self.begin(ty));
        let blocks =
            blocks.into_iter().map(|(block, value)| set_at_end(block, place, value)).collect();
        self.choose((scalar, on), arms, blocks, node.span);
        place.map(|place| self.local(place))
    }

    /// Emits a match with lowered arms.
    fn choose(
        &mut self,
        (scalar, on): (Scalar, Expression),
        arms: &[tree::Arm],
        blocks: Vec<Block>,
        span: Span,
    ) {
        let is_bool = scalar == Scalar::Bool;
        let numbers = if is_bool { Scalar::U32 } else { scalar };
        let on = if is_bool {
            Expression { kind: ExpressionKind::Cast(Box::new(on)), ty: Type::Scalar(numbers) }
        } else {
            on
        };
        let mut all = is_bool && take_all_bools(arms);
        let (mut lowered, mut otherwise) = (Vec::new(), None);
        for (arm, block) in arms.iter().zip(blocks) {
            for &(first, last) in &arm.values {
                if !(fits(first, numbers) && fits(last, numbers)) {
                    let message = format!("this is not a value of type {}", scalar.name());
                    self.errors.push(Diagnostic::plain(arm.span, message));
                }
            }
            if otherwise.is_some() {
                continue;
            }
            if arm.takes_all {
                all = true;
                otherwise = Some(block);
            } else {
                let value = |number| value_of(&Literal::Integer(number), numbers);
                let ends = arm.values.iter().filter_map(|&(a, b)| Some((value(a)?, value(b)?)));
                lowered.push(Arm { values: ends.collect(), block });
            }
        }
        if !all {
            let message = "this match does not say what happens with all other values";
            self.errors.push(Diagnostic::new(span, message, "add an arm `_ => …`"));
        }
        let otherwise = otherwise.or_else(|| lowered.pop().map(|arm| arm.block));
        let otherwise = otherwise.unwrap_or_default();
        self.block.push(Statement::Match { on, arms: lowered, otherwise });
    }

    fn call(&mut self, node: &Node, function: Callee, arguments: &[Node]) -> Lowered {
        let (function, effects) = self.functions.places[function.0];
        let ty = self.ty(node);
        let arguments = self.values(arguments)?;
        let call = Expression { kind: ExpressionKind::Call { function, arguments }, ty };
        if ty == Type::Unit {
            if effects {
                self.block.push(Statement::Run(call));
            }
            return None;
        }
        if !effects {
            return Some(call);
        }
        let local = self.place(ty);
        self.block.push(Statement::Let { local, value: Some(call) });
        Some(self.local(local))
    }

    /// Lowers statements and returns whether control reaches their end.
    fn statements(&mut self, statements: &[Node]) -> bool {
        statements.iter().all(|statement| self.statement(statement))
    }

    /// Lowers a node for its effects only, and returns whether control reaches its end.
    fn discard(&mut self, node: &Node) -> bool {
        match &node.kind {
            Kind::Block { statements, tail } => {
                self.statements(statements) && tail.as_deref().is_none_or(|t| self.discard(t))
            }
            Kind::If { condition, then, otherwise } => {
                let Some(condition) = self.value(condition) else { return false };
                let (then, then_ends) = self.aside(|this| this.discard(then));
                let (otherwise, else_ends) =
                    self.aside(|this| otherwise.as_deref().is_none_or(|o| this.discard(o)));
                self.block.push(Statement::If { condition, then, otherwise });
                then_ends || else_ends
            }
            Kind::Match { on, arms } => {
                let scalar = self.scalar(on);
                let Some(on) = self.value(on) else { return false };
                let (blocks, ends): (Vec<_>, Vec<_>) =
                    arms.iter().map(|arm| self.aside(|this| this.discard(&arm.body))).unzip();
                self.choose((scalar, on), arms, blocks, node.span);
                ends.contains(&true)
            }
            Kind::Call { function, .. } if self.functions.places[function.0].1 => {
                let before = self.block.len();
                let ends = self.value(node).is_some() || node.ty == Ty::Unit;
                // The call's result is not needed.
                if let Some(Statement::Let { value: Some(call), .. }) = self.block[before..].last()
                    && matches!(call.kind, ExpressionKind::Call { .. })
                {
                    let call = call.clone();
                    self.block.pop();
                    self.block.push(Statement::Run(call));
                }
                ends
            }
            _ if node.ty == Ty::Unit || node.ty == Ty::Never => self.statement(node),
            _ => self.value(node).is_some(),
        }
    }

    /// Lowers a statement and returns whether control reaches its end.
    fn statement(&mut self, node: &Node) -> bool {
        match &node.kind {
            Kind::Let { local, value } => self.begin_named(*local, value),
            Kind::Set { local, value } => {
                let Some(value) = self.value(value) else { return false };
                self.block.push(Statement::Set { local: *local, value });
                true
            }
            Kind::SetWith { local, operator, value } => {
                // As in Rust: the right side is evaluated first, then the local is read.
                let Some(right) = self.value(value) else { return false };
                let left = self.local(*local);
                let value = self.checked_binary(*operator, left, right, [node.span, value.span]);
                self.block.push(Statement::Set { local: *local, value });
                true
            }
            Kind::SetColumn { view, column, index, value } => {
                let parts = index.as_deref().into_iter().chain([&**value]);
                let Some(mut parts) = self.values(parts) else { return false };
                let Some(value) = parts.pop() else { return false };
                let (view, column, index) = (*view, *column, parts.pop());
                self.block.push(Statement::SetColumn { view, column, index, value });
                true
            }
            Kind::For { .. } | Kind::While { .. } => self.turns(node),
            Kind::Break => self.leave(Statement::Break),
            Kind::Continue => self.leave(Statement::Continue),
            Kind::Return(value) => {
                let value = match value {
                    None => None,
                    Some(node) if node.ty == Ty::Unit => {
                        if !self.discard(node) {
                            return false;
                        }
                        None
                    }
                    Some(node) => match self.value(node) {
                        None => return false,
                        value => value,
                    },
                };
                self.leave(Statement::Return(value))
            }
            Kind::Refused => true,
            _ => {
                // For example, an operator with an operand that control never leaves.
                if matches!(
                    node.kind,
                    Kind::Block { .. } | Kind::If { .. } | Kind::Match { .. } | Kind::Call { .. }
                ) || (node.ty != Ty::Unit && node.ty != Ty::Never)
                {
                    self.discard(node)
                } else {
                    self.operation(node).is_some()
                }
            }
        }
    }

    fn leave(&mut self, how: Statement) -> bool {
        self.block.push(how);
        false
    }

    fn begin_named(&mut self, local: LocalId, value: &Node) -> bool {
        let Some(value) = self.value(value) else { return false };
        if !self.named[local.0].mutable && self.is_divisor(&value) {
            self.divisors.insert(local);
        }
        self.block.push(Statement::Let { local, value: Some(value) });
        true
    }

    fn turns(&mut self, node: &Node) -> bool {
        match &node.kind {
            Kind::For { counter, ends, inclusive, body } => {
                if !matches!(self.locals[counter.0].ty, Type::Scalar(Scalar::U32 | Scalar::I32)) {
                    let help = "count in u32 or i32, and convert inside";
                    let message = "this loop could turn longer than anyone waits";
                    self.errors.push(Diagnostic::new(ends[1].span, message, help));
                }
                let Some(mut ends) = self.values(&**ends) else { return false };
                let (Some(end), Some(first)) = (ends.pop(), ends.pop()) else { return false };
                let (body, _) = self.aside(|this| this.discard(body));
                let range = Range { first, end, inclusive: *inclusive };
                self.block.push(Statement::For { counter: *counter, range, body });
            }
            Kind::While { condition, body } => {
                let counters = Counters { locals: &self.named, integers: &self.integers };
                if !counters.end(condition, body) {
                    let message = "this loop may never end";
                    self.errors.push(Diagnostic::new(node.span, message, bounds::HELP));
                }
                let (before, condition) = self.aside(|this| this.value(condition));
                let Some(condition) = condition else {
                    self.block.extend(before);
                    return false;
                };
                self.while_turns(before, condition, body);
            }
            _ => {}
        }
        true
    }

    /// Lowers a `while` loop. If the condition needs statements, each iteration begins with them.
    fn while_turns(&mut self, before: Block, condition: Expression, body: &Node) {
        let (body, _) = self.aside(|this| this.discard(body));
        if before.is_empty() {
            return self.block.push(Statement::While { condition, body });
        }
        let mut turn = before;
        let then = Vec::new();
        turn.push(Statement::If { condition, then, otherwise: vec![Statement::Break] });
        turn.extend(body);
        let kind = ExpressionKind::Constant(Value::Bool(true));
        let condition = Expression { kind, ty: Type::Scalar(Scalar::Bool) };
        self.block.push(Statement::While { condition, body: turn });
    }

    fn checked(&mut self, operation: Checked, operands: &[Node; 3]) -> Lowered {
        let mut values = self.values(operands)?.into_iter();
        let (left, right, otherwise) = (values.next()?, values.next()?, values.next()?);
        let ty = left.ty;
        let (left, right) = (Box::new(left), Box::new(right));
        let otherwise = Box::new(otherwise);
        Some(Expression { kind: ExpressionKind::Checked { operation, left, right, otherwise }, ty })
    }
}

/// Returns a block that sets a temporary to its value if control reaches the block's end.
fn set_at_end(mut block: Block, place: Option<LocalId>, value: Lowered) -> Block {
    if let (Some(local), Some(value)) = (place, value) {
        block.push(Statement::Set { local, value });
    }
    block
}

fn unknown_float(span: Span) -> Diagnostic {
    let help = "Rust takes it for an f64, which hooks do not have: write `1.5_f32` or `: f32`";
    Diagnostic::new(span, "the type of this float is not known", help)
}
