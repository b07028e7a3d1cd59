//! Lowering of functions and statements: locals become variables, control flow becomes blocks.

use super::{Activation, Local, Loop, Lowering, Operand, parts_of, type_of};
use crate::JitError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use ripplet_hooks::ir;

impl<'a> Lowering<'_, 'a> {
    /// Lowers a function's body in place and returns its result; lowering continues after it.
    pub(super) fn inline(
        &mut self,
        id: ir::FunctionId,
        arguments: Vec<Operand>,
    ) -> Result<Operand, JitError> {
        let function = self.program.function(id)?;
        if arguments.len() != function.parameters || function.locals.len() < function.parameters {
            return Err(JitError::unsound("a call has more or fewer arguments than parameters"));
        }
        let exit = self.builder.create_block();
        for &ty in parts_of(function.result) {
            self.builder.append_block_param(exit, ty);
        }
        let locals = function.locals.iter().map(|local| self.declare(local.ty)).collect();
        self.activations.push(Activation { id, function, locals, exit, loops: Vec::new() });
        for (place, argument) in arguments.into_iter().enumerate() {
            self.set(ir::LocalId(place), argument)?;
        }
        if self.block(&function.body)? {
            if function.result != ir::Type::Unit {
                return Err(JitError::unsound("a function ends without its result"));
            }
            self.builder.ins().jump(exit, &[]);
        }
        self.activations.pop();
        self.begin(exit);
        let parts = self.builder.block_params(exit).to_vec();
        Operand::from_parts(function.result, &mut &parts[..])
    }

    fn declare(&mut self, ty: ir::Type) -> Local {
        match ty {
            ir::Type::Scalar(scalar) => Local::Scalar(self.builder.declare_var(type_of(scalar))),
            ir::Type::Vote => {
                let u32 = type_of(ir::Scalar::U32);
                Local::Vote(self.builder.declare_var(u32), self.builder.declare_var(u32))
            }
            ir::Type::View(_) | ir::Type::Unit => Local::Unseen,
        }
    }

    /// Returns the function that is being lowered.
    pub(super) fn activation(&mut self) -> Result<&mut Activation<'a>, JitError> {
        self.activations.last_mut().ok_or_else(|| JitError::unsound("a statement in no function"))
    }

    pub(super) fn local(&mut self, id: ir::LocalId) -> Result<Local, JitError> {
        let local = self.activation()?.locals.get(id.0).copied();
        local.ok_or_else(|| JitError::unsound("no such local"))
    }

    fn set(&mut self, id: ir::LocalId, value: Operand) -> Result<(), JitError> {
        let mut define = |variable, value| {
            let defined = self.builder.try_def_var(variable, value);
            defined.map_err(|error| JitError::unsound(format!("a local's type: {error}")))
        };
        let local = self.activations.last().and_then(|activation| activation.locals.get(id.0));
        match (local.copied(), value) {
            (Some(Local::Scalar(variable)), Operand::Scalar(value)) => define(variable, value),
            (Some(Local::Vote(first, second)), Operand::Vote(label, weight)) => {
                define(first, label)?;
                define(second, weight)
            }
            (Some(Local::Unseen), Operand::View(seen)) => {
                self.activation()?.locals[id.0] = Local::View(seen);
                Ok(())
            }
            _ => Err(JitError::unsound("a local is set to a value of another type")),
        }
    }

    /// Lowers statements; returns whether control flow reaches their end.
    fn block(&mut self, block: &'a [ir::Statement]) -> Result<bool, JitError> {
        for (place, statement) in block.iter().enumerate() {
            if !self.statement(statement)? {
                let is_last = place + 1 == block.len();
                let followed = || JitError::unsound("a statement that control never comes to");
                return is_last.then_some(false).ok_or_else(followed);
            }
        }
        Ok(true)
    }

    fn statement(&mut self, statement: &'a ir::Statement) -> Result<bool, JitError> {
        match statement {
            ir::Statement::Let { value: None, .. } => {}
            ir::Statement::Let { local, value: Some(value) }
            | ir::Statement::Set { local, value } => {
                let value = self.operand(value)?;
                self.set(*local, value)?;
            }
            ir::Statement::SetColumn { view, column, index, value } => {
                self.set_column(*view, *column, index.as_ref(), value)?;
            }
            ir::Statement::Run(call) => drop(self.operand(call)?),
            ir::Statement::If { condition, then, otherwise } => {
                let condition = self.scalar(condition)?;
                return self.branch(condition, then, otherwise);
            }
            ir::Statement::Match { on, arms, otherwise } => {
                return self.matched(on, arms, otherwise);
            }
            ir::Statement::For { counter, range, body } => self.counted(*counter, range, body)?,
            ir::Statement::While { condition, body } => self.repeated(condition, body)?,
            ir::Statement::Break => return self.leave(|innermost| innermost.end),
            ir::Statement::Continue => return self.leave(|innermost| innermost.next),
            ir::Statement::Return(value) => {
                let parts = match value {
                    Some(value) => self.operand(value)?.parts(),
                    None => Vec::new(),
                };
                let activation = self.activation()?;
                let (exit, wanted) = (activation.exit, parts_of(activation.function.result));
                let types = parts.iter().map(|&part| self.builder.func.dfg.value_type(part));
                if !types.eq(wanted.iter().copied()) {
                    return Err(JitError::unsound("a function returns a value of another type"));
                }
                self.jump(exit, &parts);
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn leave(&mut self, to: impl FnOnce(Loop) -> Block) -> Result<bool, JitError> {
        let innermost = self.activation()?.loops.last().copied();
        let innermost = innermost.ok_or_else(|| JitError::unsound("no loop to leave"))?;
        self.jump(to(innermost), &[]);
        Ok(false)
    }

    pub(super) fn jump(&mut self, to: Block, arguments: &[Value]) {
        let arguments: Vec<BlockArg> = arguments.iter().map(|&value| value.into()).collect();
        self.builder.ins().jump(to, &arguments);
    }

    /// Switches to a block all of whose predecessors are known, and seals it.
    pub(super) fn begin(&mut self, block: Block) {
        self.builder.switch_to_block(block);
        self.builder.seal_block(block);
    }

    fn branch(
        &mut self,
        condition: Value,
        then: &'a [ir::Statement],
        otherwise: &'a [ir::Statement],
    ) -> Result<bool, JitError> {
        let mut join = None;
        let [yes, no] = [self.builder.create_block(), self.builder.create_block()];
        self.builder.ins().brif(condition, yes, &[], no, &[]);
        self.begin(yes);
        self.block_into(then, &mut join)?;
        self.begin(no);
        self.block_into(otherwise, &mut join)?;
        Ok(self.joined(join))
    }

    /// Lowers a block and, if control flow reaches its end, a jump to `join`, which is created on
    /// demand.
    fn block_into(
        &mut self,
        block: &'a [ir::Statement],
        join: &mut Option<Block>,
    ) -> Result<(), JitError> {
        if self.block(block)? {
            let join = *join.get_or_insert_with(|| self.builder.create_block());
            self.builder.ins().jump(join, &[]);
        }
        Ok(())
    }

    fn joined(&mut self, join: Option<Block>) -> bool {
        if let Some(join) = join {
            self.begin(join);
        }
        join.is_some()
    }

    fn matched(
        &mut self,
        on: &'a ir::Expression,
        arms: &'a [ir::Arm],
        otherwise: &'a [ir::Statement],
    ) -> Result<bool, JitError> {
        let scalar = scalar_of(on)?;
        let value = self.scalar(on)?;
        let mut join = None;
        for arm in arms {
            let has = self.is_any_of(scalar, value, &arm.values)?;
            let [yes, no] = [self.builder.create_block(), self.builder.create_block()];
            self.builder.ins().brif(has, yes, &[], no, &[]);
            self.begin(yes);
            self.block_into(&arm.block, &mut join)?;
            self.begin(no);
        }
        self.block_into(otherwise, &mut join)?;
        Ok(self.joined(join))
    }

    fn is_any_of(
        &mut self,
        scalar: ir::Scalar,
        value: Value,
        ranges: &[(ir::Value, ir::Value)],
    ) -> Result<Value, JitError> {
        let signed = scalar.is_signed();
        let (ge, le) = match signed {
            true => (IntCC::SignedGreaterThanOrEqual, IntCC::SignedLessThanOrEqual),
            false => (IntCC::UnsignedGreaterThanOrEqual, IntCC::UnsignedLessThanOrEqual),
        };
        let mut any = self.constant(ir::Value::Bool(false));
        for &(first, last) in ranges {
            if first.scalar() != scalar || last.scalar() != scalar || scalar == ir::Scalar::F32 {
                return Err(JitError::unsound("a match on a value of another type"));
            }
            let (low, high) = (self.constant(first), self.constant(last));
            let above = self.builder.ins().icmp(ge, value, low);
            let below = self.builder.ins().icmp(le, value, high);
            let inside = self.builder.ins().band(above, below);
            any = self.builder.ins().bor(any, inside);
        }
        Ok(any)
    }

    /// Lowers a loop over a range. The first iteration is tested before the loop, the others at its
    /// end, so that the counter cannot overflow.
    fn counted(
        &mut self,
        counter: ir::LocalId,
        range: &'a ir::Range,
        body: &'a [ir::Statement],
    ) -> Result<(), JitError> {
        let signed = scalar_of(&range.first)?.is_signed();
        let (first, end) = (self.scalar(&range.first)?, self.scalar(&range.end)?);
        let before = match (signed, range.inclusive) {
            (true, true) => IntCC::SignedLessThanOrEqual,
            (true, false) => IntCC::SignedLessThan,
            (false, true) => IntCC::UnsignedLessThanOrEqual,
            (false, false) => IntCC::UnsignedLessThan,
        };
        let turn = self.builder.create_block();
        let around = Loop { next: self.builder.create_block(), end: self.builder.create_block() };
        let is_any = self.builder.ins().icmp(before, first, end);
        self.set(counter, Operand::Scalar(first))?;
        self.builder.ins().brif(is_any, turn, &[], around.end, &[]);

        self.builder.switch_to_block(turn);
        self.turn(around, body)?;
        self.begin(around.next);
        let Local::Scalar(variable) = self.local(counter)? else {
            return Err(JitError::unsound("a counter that is no scalar"));
        };
        let now = self.builder.use_var(variable);
        let next = self.builder.ins().iadd_imm(now, 1);
        self.builder.def_var(variable, next);
        let compared = if range.inclusive { now } else { next };
        let is_last = self.builder.ins().icmp(IntCC::Equal, compared, end);
        self.builder.ins().brif(is_last, around.end, &[], turn, &[]);
        self.builder.seal_block(turn);
        self.begin(around.end);
        Ok(())
    }

    fn repeated(
        &mut self,
        condition: &'a ir::Expression,
        body: &'a [ir::Statement],
    ) -> Result<(), JitError> {
        let turn = self.builder.create_block();
        let around = Loop { next: self.builder.create_block(), end: self.builder.create_block() };
        self.builder.ins().jump(around.next, &[]);
        self.builder.switch_to_block(around.next);
        let condition = self.scalar(condition)?;
        self.builder.ins().brif(condition, turn, &[], around.end, &[]);
        self.begin(turn);
        self.turn(around, body)?;
        self.builder.seal_block(around.next);
        self.begin(around.end);
        Ok(())
    }

    /// Lowers the body of a loop.
    fn turn(&mut self, around: Loop, body: &'a [ir::Statement]) -> Result<(), JitError> {
        self.activation()?.loops.push(around);
        if self.block(body)? {
            self.builder.ins().jump(around.next, &[]);
        }
        self.activation()?.loops.pop();
        Ok(())
    }
}

/// Returns the type of a scalar expression.
pub(super) fn scalar_of(expression: &ir::Expression) -> Result<ir::Scalar, JitError> {
    match expression.ty {
        ir::Type::Scalar(scalar) => Ok(scalar),
        _ => Err(JitError::unsound("a scalar is wanted where there is none")),
    }
}
