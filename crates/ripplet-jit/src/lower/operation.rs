//! Lowering of operations on scalars, with Rust's semantics.

use super::statement::scalar_of;
use super::{Lowering, type_of};
use crate::JitError;
use crate::machine::host;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, I8, I32, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlags, Type, Value};
use ripplet_hooks::ir::{self, Binary, Checked, ExpressionKind, Scalar, Unary};

/// The sign of a float.
const SIGN: i64 = 0x8000_0000;
/// All bits of a float except the sign.
const SIZE: i64 = 0x7fff_ffff;
/// The bits of infinity: those of finite floats are smaller.
const INFINITE: i64 = 0x7f80_0000;

impl Lowering<'_, '_> {
    pub(super) fn unary(
        &mut self,
        operation: Unary,
        scalar: Scalar,
        x: Value,
    ) -> Result<Value, JitError> {
        let is_float = scalar == Scalar::F32;
        let fits = match operation {
            Unary::Neg | Unary::Abs => scalar != Scalar::Bool,
            Unary::Not => !is_float,
            Unary::LeadingZeros | Unary::TrailingZeros | Unary::CountOnes => scalar.is_integer(),
            Unary::FromBits => scalar == Scalar::U32,
            _ => is_float,
        };
        if !fits {
            return Err(JitError::unsound(format!("{operation:?} of a {}", scalar.name())));
        }
        let ins = self.builder.ins();
        Ok(match operation {
            Unary::Neg if is_float => ins.fneg(x),
            Unary::Neg => ins.ineg(x),
            Unary::Not if scalar == Scalar::Bool => ins.bxor_imm(x, 1),
            Unary::Not => ins.bnot(x),
            Unary::Abs if is_float => ins.fabs(x),
            Unary::Abs if scalar.is_signed() => {
                let negated = ins.ineg(x);
                let is_negative = self.is_negative(x);
                self.builder.ins().select(is_negative, negated, x)
            }
            Unary::Abs => x,
            Unary::LeadingZeros => {
                let count = ins.clz(x);
                self.narrowed(count)
            }
            Unary::TrailingZeros => {
                let count = ins.ctz(x);
                self.narrowed(count)
            }
            Unary::CountOnes => {
                let count = ins.popcnt(x);
                self.narrowed(count)
            }
            Unary::Sqrt => ins.sqrt(x),
            Unary::Floor => ins.floor(x),
            Unary::Ceil => ins.ceil(x),
            Unary::Trunc => ins.trunc(x),
            Unary::IsNan => ins.fcmp(FloatCC::Unordered, x, x),
            Unary::IsFinite => {
                let bits = ins.bitcast(I32, MemFlags::new(), x);
                let size = self.builder.ins().band_imm(bits, SIZE);
                self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, size, INFINITE)
            }
            Unary::ToBits => ins.bitcast(I32, MemFlags::new(), x),
            Unary::FromBits => ins.bitcast(F32, MemFlags::new(), x),
        })
    }

    fn type_of(&self, x: Value) -> Type {
        self.builder.func.dfg.value_type(x)
    }

    fn narrowed(&mut self, x: Value) -> Value {
        if self.type_of(x) == I64 { self.builder.ins().ireduce(I32, x) } else { x }
    }

    fn is_negative(&mut self, x: Value) -> Value {
        self.builder.ins().icmp_imm(IntCC::SignedLessThan, x, 0)
    }

    pub(super) fn binary(
        &mut self,
        operation: Binary,
        left: &ir::Expression,
        right: &ir::Expression,
    ) -> Result<Value, JitError> {
        let (scalar, second) = (scalar_of(left)?, scalar_of(right)?);
        let by_u32 = matches!(
            operation,
            Binary::Shl | Binary::Shr | Binary::RotateLeft | Binary::RotateRight | Binary::Pow
        );
        if second != if by_u32 { Scalar::U32 } else { scalar } {
            return Err(JitError::unsound(format!("{operation:?} of two types")));
        }
        let exponent = match right.kind {
            ExpressionKind::Constant(ir::Value::U32(exponent)) => Some(exponent),
            _ => None,
        };
        let (a, b) = (self.scalar(left)?, self.scalar(right)?);
        match (operation, scalar) {
            (Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge, _) => {
                Ok(self.compared(operation, scalar, a, b))
            }
            (_, Scalar::F32) => self.of_floats(operation, a, b),
            (Binary::And, _) => Ok(self.builder.ins().band(a, b)),
            (Binary::Or, _) => Ok(self.builder.ins().bor(a, b)),
            (Binary::Xor, _) => Ok(self.builder.ins().bxor(a, b)),
            (_, Scalar::Bool) => Err(JitError::unsound(format!("{operation:?} of bools"))),
            (Binary::Pow, _) => Ok(self.power(a, b, exponent)),
            _ => self.of_integers(operation, scalar.is_signed(), a, b),
        }
    }

    fn compared(&mut self, operation: Binary, scalar: Scalar, a: Value, b: Value) -> Value {
        let float = match operation {
            Binary::Eq => FloatCC::Equal,
            Binary::Ne => FloatCC::NotEqual,
            Binary::Lt => FloatCC::LessThan,
            Binary::Le => FloatCC::LessThanOrEqual,
            Binary::Gt => FloatCC::GreaterThan,
            _ => FloatCC::GreaterThanOrEqual,
        };
        let signed = match operation {
            Binary::Eq => IntCC::Equal,
            Binary::Ne => IntCC::NotEqual,
            Binary::Lt => IntCC::SignedLessThan,
            Binary::Le => IntCC::SignedLessThanOrEqual,
            Binary::Gt => IntCC::SignedGreaterThan,
            _ => IntCC::SignedGreaterThanOrEqual,
        };
        match scalar {
            Scalar::F32 => self.builder.ins().fcmp(float, a, b),
            scalar if scalar.is_signed() => self.builder.ins().icmp(signed, a, b),
            _ => self.builder.ins().icmp(signed.unsigned(), a, b),
        }
    }

    fn of_floats(&mut self, operation: Binary, a: Value, b: Value) -> Result<Value, JitError> {
        let ins = self.builder.ins();
        Ok(match operation {
            Binary::Add => ins.fadd(a, b),
            Binary::Sub => ins.fsub(a, b),
            Binary::Mul => ins.fmul(a, b),
            Binary::Div => ins.fdiv(a, b),
            Binary::Min | Binary::Max => {
                // Not the processor's instructions, which differ if a value is NaN.
                let beats =
                    if operation == Binary::Min { FloatCC::LessThan } else { FloatCC::GreaterThan };
                let beats = ins.fcmp(beats, a, b);
                let alone = self.builder.ins().fcmp(FloatCC::Unordered, b, b);
                let first = self.builder.ins().bor(beats, alone);
                self.builder.ins().select(first, a, b)
            }
            Binary::CopySign => {
                let a = ins.bitcast(I32, MemFlags::new(), a);
                let b = self.builder.ins().bitcast(I32, MemFlags::new(), b);
                let (size, sign) =
                    (self.builder.ins().band_imm(a, SIZE), self.builder.ins().band_imm(b, SIGN));
                let bits = self.builder.ins().bor(size, sign);
                self.builder.ins().bitcast(F32, MemFlags::new(), bits)
            }
            _ => return Err(JitError::unsound(format!("{operation:?} of floats"))),
        })
    }

    fn of_integers(
        &mut self,
        operation: Binary,
        signed: bool,
        a: Value,
        b: Value,
    ) -> Result<Value, JitError> {
        let ins = self.builder.ins();
        Ok(match operation {
            Binary::Add => ins.iadd(a, b),
            Binary::Sub => ins.isub(a, b),
            Binary::Mul => ins.imul(a, b),
            Binary::Div | Binary::Rem => {
                let is_div = operation == Binary::Div;
                self.divided(is_div, signed, a, b).0
            }
            // These use only the low bits of the shift amount.
            Binary::Shl => ins.ishl(a, b),
            Binary::Shr if signed => ins.sshr(a, b),
            Binary::Shr => ins.ushr(a, b),
            Binary::RotateLeft => ins.rotl(a, b),
            Binary::RotateRight => ins.rotr(a, b),
            Binary::SaturatingAdd => {
                let (sum, is_over) = self.added(signed, a, b);
                let end = self.end_beyond(signed, true, a);
                self.builder.ins().select(is_over, end, sum)
            }
            Binary::SaturatingSub => {
                let (difference, is_over) = self.subtracted(signed, a, b);
                let end = self.end_beyond(signed, false, a);
                self.builder.ins().select(is_over, end, difference)
            }
            Binary::SaturatingMul => {
                let (product, is_over) = self.multiplied(signed, a, b);
                let signs = self.builder.ins().bxor(a, b);
                let end = self.end_beyond(signed, true, signs);
                self.builder.ins().select(is_over, end, product)
            }
            Binary::Min if signed => ins.smin(a, b),
            Binary::Min => ins.umin(a, b),
            Binary::Max if signed => ins.smax(a, b),
            Binary::Max => ins.umax(a, b),
            Binary::AbsDiff => {
                let less = if signed { IntCC::SignedLessThan } else { IntCC::UnsignedLessThan };
                let less = ins.icmp(less, a, b);
                let (up, down) = (self.builder.ins().isub(b, a), self.builder.ins().isub(a, b));
                self.builder.ins().select(less, up, down)
            }
            _ => return Err(JitError::unsound(format!("{operation:?} of integers"))),
        })
    }

    /// Returns the end of the range that a result exceeds: of signed integers, that on the side of
    /// `towards`; of unsigned ones, the upper or the lower.
    fn end_beyond(&mut self, signed: bool, upper: bool, towards: Value) -> Value {
        let ty = self.type_of(towards);
        match (signed, upper) {
            (true, _) => {
                // All bits become the sign, then all except the sign are flipped.
                let signs = self.builder.ins().sshr_imm(towards, i64::from(ty.bits()) - 1);
                let most = if ty == I64 { i64::MAX } else { i64::from(i32::MAX) };
                let most = self.builder.ins().iconst(ty, most);
                self.builder.ins().bxor(signs, most)
            }
            (false, true) => {
                let zero = self.builder.ins().iconst(ty, 0);
                self.builder.ins().bnot(zero)
            }
            (false, false) => self.builder.ins().iconst(ty, 0),
        }
    }

    /// Returns the wrapped sum, and whether it overflowed.
    fn added(&mut self, signed: bool, a: Value, b: Value) -> (Value, Value) {
        let sum = self.builder.ins().iadd(a, b);
        if !signed {
            return (sum, self.builder.ins().icmp(IntCC::UnsignedLessThan, sum, a));
        }
        let (from_a, from_b) = (self.builder.ins().bxor(a, sum), self.builder.ins().bxor(b, sum));
        let both = self.builder.ins().band(from_a, from_b);
        (sum, self.is_negative(both))
    }

    /// Returns the wrapped difference, and whether it overflowed.
    fn subtracted(&mut self, signed: bool, a: Value, b: Value) -> (Value, Value) {
        let difference = self.builder.ins().isub(a, b);
        if !signed {
            return (difference, self.builder.ins().icmp(IntCC::UnsignedLessThan, a, b));
        }
        let (from_b, from_a) =
            (self.builder.ins().bxor(a, b), self.builder.ins().bxor(a, difference));
        let both = self.builder.ins().band(from_b, from_a);
        (difference, self.is_negative(both))
    }

    /// Returns the wrapped product, and whether it overflowed.
    fn multiplied(&mut self, signed: bool, a: Value, b: Value) -> (Value, Value) {
        let product = self.builder.ins().imul(a, b);
        let is_over = if self.type_of(a) == I32 {
            let (wide_a, wide_b) = (self.extended(signed, a), self.extended(signed, b));
            let wide = self.builder.ins().imul(wide_a, wide_b);
            let cut = self.extended(signed, product);
            self.builder.ins().icmp(IntCC::NotEqual, wide, cut)
        } else if signed {
            let high = self.builder.ins().smulhi(a, b);
            let sign = self.builder.ins().sshr_imm(product, 63);
            self.builder.ins().icmp(IntCC::NotEqual, high, sign)
        } else {
            let high = self.builder.ins().umulhi(a, b);
            self.builder.ins().icmp_imm(IntCC::NotEqual, high, 0)
        };
        (product, is_over)
    }

    fn extended(&mut self, signed: bool, x: Value) -> Value {
        let ins = self.builder.ins();
        if signed { ins.sextend(I64, x) } else { ins.uextend(I64, x) }
    }

    /// Returns the quotient or remainder, and whether it is undefined. The emitted division never
    /// has divisor 0, nor -1 if signed. If the divisor is a constant, the comparisons are folded.
    fn divided(&mut self, is_div: bool, signed: bool, a: Value, b: Value) -> (Value, Value) {
        let ty = self.type_of(a);
        let one = self.builder.ins().iconst(ty, 1);
        let by_zero = self.builder.ins().icmp_imm(IntCC::Equal, b, 0);
        let safe = self.builder.ins().select(by_zero, one, b);
        if signed {
            return self.divided_signed(is_div, a, b, safe, by_zero);
        }
        let ins = self.builder.ins();
        let result = if is_div { ins.udiv(a, safe) } else { ins.urem(a, safe) };
        (result, by_zero)
    }

    /// Lowers [`Lowering::divided`] for signed integers by `b`; `safe` is `b`, or 1 if `b` is 0.
    ///
    /// The division instruction is also avoided for the least number as divisor: the quotient is 1
    /// for that number, and 0 for all others. Cranelift's rules for division by powers of two treat
    /// the least number as a positive one (0.123; `arithmetic.isle`).
    fn divided_signed(
        &mut self,
        is_div: bool,
        a: Value,
        b: Value,
        safe: Value,
        by_zero: Value,
    ) -> (Value, Value) {
        let ty = self.type_of(a);
        let mut constant =
            |of_i64, of_i32| self.builder.ins().iconst(ty, if ty == I64 { of_i64 } else { of_i32 });
        let (one, minus, least) =
            (constant(1, 1), constant(-1, 0xffff_ffff), constant(i64::MIN, SIGN));
        let mut is = |x, y| self.builder.ins().icmp(IntCC::Equal, x, y);
        let (by_minus, by_least, is_least) = (is(b, minus), is(b, least), is(a, least));
        let by_either = self.builder.ins().bor(by_minus, by_least);
        let safe = self.builder.ins().select(by_either, one, safe);
        let ins = self.builder.ins();
        let result = if is_div { ins.sdiv(a, safe) } else { ins.srem(a, safe) };
        // The remainder by -1 is 0, as by 1.
        let (by_minus_one, into_least) = match is_div {
            true => (self.builder.ins().ineg(a), self.builder.ins().uextend(ty, is_least)),
            false => {
                let zero = self.builder.ins().iconst(ty, 0);
                (result, self.builder.ins().select(is_least, zero, a))
            }
        };
        let result = self.builder.ins().select(by_minus, by_minus_one, result);
        let result = self.builder.ins().select(by_least, into_least, result);
        let is_over = self.builder.ins().band(is_least, by_minus);
        (result, self.builder.ins().bor(by_zero, is_over))
    }

    /// Lowers `checked_…`: returns the value, and whether it is undefined.
    pub(super) fn checked(
        &mut self,
        operation: Checked,
        scalar: Scalar,
        a: Value,
        b: Value,
    ) -> Result<(Value, Value), JitError> {
        let signed = scalar.is_signed();
        let wanted =
            if matches!(operation, Checked::Shl | Checked::Shr) { I32 } else { type_of(scalar) };
        if !scalar.is_integer() || self.type_of(b) != wanted {
            return Err(JitError::unsound(format!("checked {operation:?} of a {}", scalar.name())));
        }
        Ok(match operation {
            Checked::Add => self.added(signed, a, b),
            Checked::Sub => self.subtracted(signed, a, b),
            Checked::Mul => self.multiplied(signed, a, b),
            Checked::Div => self.divided(true, signed, a, b),
            Checked::Rem => self.divided(false, signed, a, b),
            Checked::Shl | Checked::Shr => {
                let ins = self.builder.ins();
                let shifted = match (operation, signed) {
                    (Checked::Shl, _) => ins.ishl(a, b),
                    (_, true) => ins.sshr(a, b),
                    (_, false) => ins.ushr(a, b),
                };
                let bits = i64::from(scalar.bits());
                let ins = self.builder.ins();
                (shifted, ins.icmp_imm(IntCC::UnsignedGreaterThanOrEqual, b, bits))
            }
        })
    }

    /// Lowers a to the power of b, wrapping; signed and unsigned integers have equal bits.
    fn power(&mut self, a: Value, b: Value, exponent: Option<u32>) -> Value {
        let ty = self.type_of(a);
        if let Some(exponent) = exponent {
            return self.power_of_constant(a, exponent);
        }
        let address = if ty == I64 { host::power_64_address() } else { host::power_32_address() };
        self.host(address, &[ty, I32], ty, &[a, b])
    }

    /// Lowers a power by squaring: at most 64 multiplications.
    fn power_of_constant(&mut self, a: Value, mut exponent: u32) -> Value {
        let ty = self.type_of(a);
        let (mut square, mut result) = (a, self.builder.ins().iconst(ty, 1));
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.builder.ins().imul(result, square);
            }
            square = self.builder.ins().imul(square, square);
            exponent >>= 1;
        }
        result
    }

    pub(super) fn cast(&mut self, from: Scalar, to: Scalar, x: Value) -> Result<Value, JitError> {
        let ty = type_of(to);
        let ins = self.builder.ins();
        Ok(match (from, to) {
            _ if from == to => x,
            (_, Scalar::Bool) | (Scalar::Bool, Scalar::F32) => {
                let (from, to) = (from.name(), to.name());
                return Err(JitError::unsound(format!("a cast of a {from} to a {to}")));
            }
            (Scalar::F32, _) if to.is_signed() => ins.fcvt_to_sint_sat(ty, x),
            (Scalar::F32, _) => ins.fcvt_to_uint_sat(ty, x),
            (_, Scalar::F32) if from.is_signed() => ins.fcvt_from_sint(F32, x),
            (_, Scalar::F32) => ins.fcvt_from_uint(F32, x),
            _ if type_of(from) == ty => x,
            _ if type_of(from).bits() > ty.bits() => ins.ireduce(ty, x),
            _ if from.is_signed() => ins.sextend(ty, x),
            _ => ins.uextend(ty, x),
        })
    }

    /// Returns the bits of a scalar, zero-extended to 64.
    pub(super) fn bits_of(&mut self, x: Value) -> Value {
        let x = match self.type_of(x) {
            F32 => self.builder.ins().bitcast(I32, MemFlags::new(), x),
            _ => x,
        };
        if self.type_of(x) == I64 { x } else { self.builder.ins().uextend(I64, x) }
    }

    /// Returns a scalar from its bits.
    pub(super) fn of_bits(&mut self, scalar: Scalar, bits: Value) -> Value {
        match type_of(scalar) {
            I64 => bits,
            F32 => {
                let low = self.builder.ins().ireduce(I32, bits);
                self.builder.ins().bitcast(F32, MemFlags::new(), low)
            }
            I8 => self.builder.ins().icmp_imm(IntCC::NotEqual, bits, 0),
            ty => self.builder.ins().ireduce(ty, bits),
        }
    }
}
