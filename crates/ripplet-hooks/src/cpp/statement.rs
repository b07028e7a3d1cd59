//! Emits statements.

use super::{Emitter, type_name};
use crate::ir::{Arm, Expression, LocalId, Range, Scalar, Statement, Type, Value};

impl Emitter<'_> {
    pub(super) fn block(&mut self, block: &[Statement]) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn line(&mut self, parts: &[&str]) {
        self.indent();
        parts.iter().for_each(|part| self.text.push_str(part));
        self.text.push('\n');
    }

    fn indent(&mut self) {
        // Deep nesting is legal; without a cap, indentation would be most of the text.
        (0..self.depth.min(20)).for_each(|_| self.text.push_str("    "));
    }

    fn inner(&mut self, block: &[Statement]) {
        self.depth += 1;
        self.block(block);
        self.depth -= 1;
    }

    fn text_of(&self, value: &Expression) -> String {
        let mut text = String::new();
        self.expression(value, &mut text);
        text
    }

    fn type_of(&self, local: LocalId) -> &'static str {
        type_name(self.function.locals[local.0].ty)
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Let { local, value } => {
                let (ty, name) = (self.type_of(*local), self.local(*local));
                match value {
                    Some(value) => self.line(&[ty, " ", &name, " = ", &self.text_of(value), ";"]),
                    None => self.line(&[ty, " ", &name, "{};"]),
                }
            }
            Statement::Set { local, value } => {
                self.line(&[&self.local(*local), " = ", &self.text_of(value), ";"]);
            }
            Statement::SetColumn { view, column, index, value } => {
                let of = match value.ty {
                    Type::Scalar(Scalar::F32) => "set_column_f32(",
                    _ => "set_column_u32(",
                };
                let index = index.as_ref().map_or("0u".to_owned(), |index| self.text_of(index));
                let slot = format!(", {}u, ", column.0);
                let value = self.text_of(value);
                self.line(&[of, &self.local(*view), &slot, &index, ", ", &value, ");"]);
            }
            Statement::Run(call) => self.line(&[&self.text_of(call), ";"]),
            Statement::If { condition, then, otherwise } => {
                self.line(&["if (", &self.text_of(condition), ") {"]);
                self.inner(then);
                if !otherwise.is_empty() {
                    self.line(&["} else {"]);
                    self.inner(otherwise);
                }
                self.line(&["}"]);
            }
            Statement::Match { on, arms, otherwise } => self.choice(on, arms, otherwise),
            Statement::For { counter, range, body } => self.turns(*counter, range, body),
            Statement::While { condition, body } => {
                self.line(&["while (", &self.text_of(condition), ") {"]);
                self.inner(body);
                self.line(&["}"]);
            }
            Statement::Break => self.line(&["break;"]),
            Statement::Continue => self.line(&["continue;"]),
            Statement::Return(None) => self.line(&["return;"]),
            Statement::Return(Some(value)) => self.line(&["return ", &self.text_of(value), ";"]),
        }
    }

    /// Emits a match as `else if` arms. A `switch` would not do: a `break` in it would not leave
    /// the loop.
    fn choice(&mut self, on: &Expression, arms: &[Arm], otherwise: &[Statement]) {
        let (ty, value) = (type_name(on.ty), self.text_of(on));
        self.line(&["{"]);
        self.depth += 1;
        self.line(&["const ", ty, " on = ", &value, ";"]);
        let mut opening = "if (";
        for arm in arms {
            let tests: Vec<_> = arm.values.iter().map(|ends| self.test(*ends)).collect();
            let test = if tests.is_empty() { "false".to_owned() } else { tests.join(" || ") };
            self.line(&[opening, &test, ") {"]);
            self.inner(&arm.block);
            opening = "} else if (";
        }
        self.line(&[if arms.is_empty() { "{" } else { "} else {" }]);
        self.inner(otherwise);
        self.line(&["}"]);
        self.depth -= 1;
        self.line(&["}"]);
    }

    fn test(&self, (first, last): (Value, Value)) -> String {
        let mut text = String::from("(on ");
        if first == last {
            text.push_str("== ");
            self.constant(first, &mut text);
        } else {
            text.push_str(">= ");
            self.constant(first, &mut text);
            text.push_str(" && on <= ");
            self.constant(last, &mut text);
        }
        text.push(')');
        text
    }

    fn turns(&mut self, counter: LocalId, range: &Range, body: &[Statement]) {
        let (ty, name) = (self.type_of(counter), self.local(counter));
        let (first, end) = (self.text_of(&range.first), self.text_of(&range.end));
        self.line(&["{"]);
        self.depth += 1;
        self.line(&[ty, " turn = ", &first, ";"]);
        self.line(&["const ", ty, " end = ", &end, ";"]);
        if range.inclusive {
            // The end may be the largest value of its type: step only if another iteration follows.
            self.line(&["bool more = turn <= end;"]);
            let step = "for (; more; more = turn < end, turn = more ? add(turn, (";
            self.line(&[step, ty, ")1) : turn) {"]);
        } else {
            self.line(&["for (; turn < end; ++turn) {"]);
        }
        self.depth += 1;
        self.line(&["const ", ty, " ", &name, " = turn;"]);
        self.block(body);
        self.depth -= 1;
        self.line(&["}"]);
        self.depth -= 1;
        self.line(&["}"]);
    }
}
