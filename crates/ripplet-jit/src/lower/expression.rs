//! Lowering of expressions.

use super::size::is_cheap;
use super::statement::scalar_of;
use super::{Local, Lowering, Operand, type_of};
use crate::JitError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_module::Module;
use ripplet_hooks::ir::{self, ExpressionKind};

impl Lowering<'_, '_> {
    pub(super) fn scalar(&mut self, expression: &ir::Expression) -> Result<Value, JitError> {
        self.operand(expression)?.scalar()
    }

    fn vote(&mut self, expression: &ir::Expression) -> Result<(Value, Value), JitError> {
        self.operand(expression)?.vote()
    }

    pub(super) fn operand(&mut self, expression: &ir::Expression) -> Result<Operand, JitError> {
        let scalar = match &expression.kind {
            ExpressionKind::Local(local) => return self.value_of(*local),
            ExpressionKind::Call { function, arguments } => return self.call(*function, arguments),
            ExpressionKind::Vote(label, weight) => {
                return Ok(Operand::Vote(self.scalar(label)?, self.scalar(weight)?));
            }
            ExpressionKind::Select { condition, then, otherwise } => {
                return self.select(condition, then, otherwise);
            }
            ExpressionKind::Constant(value) => self.constant(*value),
            ExpressionKind::Parameter(ir::ParameterId(id)) => {
                let value = self.program.parameters.get(*id).copied();
                self.constant(value.ok_or_else(|| JitError::unsound("no such parameter"))?)
            }
            ExpressionKind::Field { view, field } => self.field(*view, *field)?,
            ExpressionKind::Random { view, stream } => self.random(*view, stream)?,
            ExpressionKind::Column { view, column, index } => {
                self.column(*view, *column, index.as_deref())?
            }
            ExpressionKind::Unary(operation, value) => {
                let (scalar, value) = (scalar_of(value)?, self.scalar(value)?);
                self.unary(*operation, scalar, value)?
            }
            ExpressionKind::Binary(ir::Binary::LazyAnd, left, right) => {
                self.lazy(left, right, false)?
            }
            ExpressionKind::Binary(ir::Binary::LazyOr, left, right) => {
                self.lazy(left, right, true)?
            }
            ExpressionKind::Binary(operation, left, right) => {
                self.binary(*operation, left, right)?
            }
            ExpressionKind::Checked { operation, left, right, otherwise } => {
                let scalar = scalar_of(left)?;
                let (left, right) = (self.scalar(left)?, self.scalar(right)?);
                let (value, is_none) = self.checked(*operation, scalar, left, right)?;
                let otherwise = self.scalar(otherwise)?;
                self.builder.ins().select(is_none, otherwise, value)
            }
            ExpressionKind::Cast(value) => {
                let (from, to) = (scalar_of(value)?, scalar_of(expression)?);
                let value = self.scalar(value)?;
                self.cast(from, to, value)?
            }
            ExpressionKind::VoteLabel(vote) => self.vote(vote)?.0,
            ExpressionKind::VoteWeight(vote) => self.vote(vote)?.1,
            ExpressionKind::ProductsGe(factors) => self.products_ge(factors)?,
        };
        Ok(Operand::Scalar(scalar))
    }

    fn value_of(&mut self, id: ir::LocalId) -> Result<Operand, JitError> {
        Ok(match self.local(id)? {
            Local::Scalar(variable) => Operand::Scalar(self.builder.use_var(variable)),
            Local::Vote(label, weight) => {
                Operand::Vote(self.builder.use_var(label), self.builder.use_var(weight))
            }
            Local::View(seen) => Operand::View(seen),
            Local::Unseen => return Err(JitError::unsound("a view that no argument gave")),
        })
    }

    pub(super) fn constant(&mut self, value: ir::Value) -> Value {
        let ty = type_of(value.scalar());
        let ins = self.builder.ins();
        match value {
            ir::Value::U32(value) => ins.iconst(ty, i64::from(value)),
            // As a u32: constants must not have bits beyond those of their type.
            ir::Value::I32(value) => ins.iconst(ty, i64::from(value.cast_unsigned())),
            ir::Value::U64(value) => ins.iconst(ty, value.cast_signed()),
            ir::Value::I64(value) => ins.iconst(ty, value),
            ir::Value::F32(value) => ins.f32const(value),
            ir::Value::Bool(value) => ins.iconst(ty, i64::from(value)),
        }
    }

    fn call(
        &mut self,
        callee: ir::FunctionId,
        arguments: &[ir::Expression],
    ) -> Result<Operand, JitError> {
        let arguments = arguments.iter().map(|argument| self.operand(argument));
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        let called = self.called.get(callee.0).copied();
        let called = called.ok_or_else(|| JitError::unsound("no such function"))?;
        match called {
            Some(id) if !self.inlines(callee)? => {
                let function = self.module.declare_func_in_func(id, self.builder.func);
                let context = match self.context {
                    Some(context) => context,
                    // The value is not used: without views, no context is needed.
                    None => self.builder.ins().iconst(I64, 0),
                };
                let parts = arguments.into_iter().flat_map(Operand::parts);
                let parts: Vec<_> = std::iter::once(context).chain(parts).collect();
                let call = self.builder.ins().call(function, &parts);
                let results = self.builder.inst_results(call).to_vec();
                Operand::from_parts(self.program.function(callee)?.result, &mut &results[..])
            }
            _ => self.inline(callee, arguments),
        }
    }

    /// Returns whether a call from the current function is inlined.
    fn inlines(&mut self, callee: ir::FunctionId) -> Result<bool, JitError> {
        let caller = self.activation()?.id;
        Ok(self.program.sizes.is_inlined(caller, callee))
    }

    /// Lowers `&&` and `||`: evaluates the right side unless the left one is already `decided`.
    fn lazy(
        &mut self,
        left: &ir::Expression,
        right: &ir::Expression,
        decided: bool,
    ) -> Result<Value, JitError> {
        let left = self.scalar(left)?;
        if is_cheap(right) {
            let right = self.scalar(right)?;
            let ins = self.builder.ins();
            return Ok(if decided { ins.bor(left, right) } else { ins.band(left, right) });
        }
        let [more, join] = [self.builder.create_block(), self.builder.create_block()];
        let ty = type_of(ir::Scalar::Bool);
        let result = self.builder.append_block_param(join, ty);
        let ins = self.builder.ins();
        match decided {
            true => ins.brif(left, join, &[left.into()], more, &[]),
            false => ins.brif(left, more, &[], join, &[left.into()]),
        };
        self.begin(more);
        let right = self.scalar(right)?;
        self.jump(join, &[right]);
        self.begin(join);
        Ok(result)
    }

    fn select(
        &mut self,
        condition: &ir::Expression,
        then: &ir::Expression,
        otherwise: &ir::Expression,
    ) -> Result<Operand, JitError> {
        let condition = self.scalar(condition)?;
        if is_cheap(then) && is_cheap(otherwise) {
            let (then, otherwise) = (self.operand(then)?, self.operand(otherwise)?);
            let pairs = then.parts().into_iter().zip(otherwise.parts());
            let choose = |(then, otherwise)| self.builder.ins().select(condition, then, otherwise);
            return then.like(&pairs.map(choose).collect::<Vec<_>>());
        }
        let [yes, no, join] = std::array::from_fn(|_| self.builder.create_block());
        self.builder.ins().brif(condition, yes, &[], no, &[]);
        self.begin(yes);
        let then = self.operand(then)?;
        let mut results = Vec::new();
        for &part in &then.parts() {
            let ty = self.builder.func.dfg.value_type(part);
            results.push(self.builder.append_block_param(join, ty));
        }
        self.jump(join, &then.parts());
        self.begin(no);
        let otherwise = self.operand(otherwise)?;
        self.jump(join, &otherwise.parts());
        self.begin(join);
        then.like(&results)
    }

    /// Lowers a · b ≥ c · d in 128 bits.
    fn products_ge(&mut self, factors: &[ir::Expression; 4]) -> Result<Value, JitError> {
        let mut values = [None; 4];
        for (value, factor) in values.iter_mut().zip(factors) {
            if scalar_of(factor)? != ir::Scalar::U64 {
                return Err(JitError::unsound("a factor that is no u64"));
            }
            *value = Some(self.scalar(factor)?);
        }
        let [Some(a), Some(b), Some(c), Some(d)] = values else {
            return Err(JitError::unsound("a product lacks a factor"));
        };
        let mut product = |x, y| (self.builder.ins().umulhi(x, y), self.builder.ins().imul(x, y));
        let ((high, low), (other_high, other_low)) = (product(a, b), product(c, d));
        let mut compare = |condition, x, y| self.builder.ins().icmp(condition, x, y);
        let above = compare(IntCC::UnsignedGreaterThan, high, other_high);
        let same = compare(IntCC::Equal, high, other_high);
        let low_ge = compare(IntCC::UnsignedGreaterThanOrEqual, low, other_low);
        let decided_low = self.builder.ins().band(same, low_ge);
        Ok(self.builder.ins().bor(above, decided_low))
    }

    /// Packs a vote into one number, with the label in the low half.
    pub(super) fn packed(&mut self, label: Value, weight: Value) -> Value {
        let (label, weight) =
            (self.builder.ins().uextend(I64, label), self.builder.ins().uextend(I64, weight));
        let high = self.builder.ins().ishl_imm(weight, i64::from(I32.bits()));
        self.builder.ins().bor(label, high)
    }
}
