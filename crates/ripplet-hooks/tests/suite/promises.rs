//! The guarantees of the intermediate representation, checked on programs of all kinds.

use crate::programs::scoring;
use crate::rust_side::{corners, program, random};
use ripplet_hooks::ir::{
    Binary, Block, Checked, Expression, ExpressionKind as Kind, Function, LocalId, Module, Scalar,
    Statement, Type, Unary, Value, View, falls_through,
};
use ripplet_hooks::read_program;
use std::collections::HashSet;

struct Reader<'a> {
    module: &'a Module,
    function: &'a Function,
    place: usize,
    /// Locals declared on the path to here, and locals that are certainly set.
    begun: HashSet<usize>,
    loops: usize,
}

const U32: Type = Type::Scalar(Scalar::U32);
const BOOL: Type = Type::Scalar(Scalar::Bool);

/// Checks a whole module.
fn check(module: &Module) {
    for (place, function) in module.functions.iter().enumerate() {
        let begun = (0..function.parameters).collect();
        let mut reader = Reader { module, function, place, begun, loops: 0 };
        reader.block(&function.body);
        if function.result != Type::Unit {
            assert!(!falls_through(&function.body), "{} may end without a value", function.name);
        }
        let views = function.locals[..function.parameters].iter();
        let effects = views.clone().any(|local| local.ty == Type::View(View::VertexMut));
        assert_eq!(function.effects, effects);
        for local in &function.locals[function.parameters..] {
            assert!(matches!(local.ty, Type::Scalar(_) | Type::Vote), "{local:?}");
        }
    }
}

impl Reader<'_> {
    fn ty(&self, local: LocalId) -> Type {
        self.function.locals[local.0].ty
    }

    fn block(&mut self, block: &Block) {
        let outside = self.begun.clone();
        for (place, statement) in block.iter().enumerate() {
            let leaves = !falls_through(std::slice::from_ref(statement));
            assert!(!leaves || place + 1 == block.len(), "something follows {statement:?}");
            self.statement(statement);
        }
        self.begun = outside;
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Let { local, value } => {
                if let Some(value) = value {
                    self.whole(value);
                    assert_eq!(value.ty, self.ty(*local));
                }
                assert!(self.begun.insert(local.0), "{local:?} begins twice");
            }
            Statement::Set { local, value } => {
                self.whole(value);
                assert!(self.begun.contains(&local.0));
                assert_eq!(value.ty, self.ty(*local));
            }
            Statement::SetColumn { view, column, index, value } => {
                assert_eq!(self.ty(*view), Type::View(View::VertexMut));
                let column = &self.module.columns[column.0];
                assert!(column.written);
                assert_eq!(value.ty, Type::Scalar(column.scalar));
                index.iter().for_each(|index| self.typed(index, U32));
                self.expression(value);
            }
            Statement::Run(call) => {
                assert!(matches!(&call.kind, Kind::Call { function, .. }
                    if self.module.functions[function.0].effects));
                self.whole(call);
            }
            Statement::If { condition, then, otherwise } => {
                self.typed(condition, BOOL);
                self.block(then);
                self.block(otherwise);
            }
            Statement::Match { on, arms, otherwise } => {
                self.expression(on);
                for arm in arms {
                    let typed = |value: &Value| Type::Scalar(value.scalar()) == on.ty;
                    assert!(arm.values.iter().all(|(first, last)| typed(first) && typed(last)));
                    self.block(&arm.block);
                }
                self.block(otherwise);
            }
            Statement::For { counter, range, body } => {
                assert!(matches!(self.ty(*counter), Type::Scalar(Scalar::U32 | Scalar::I32)));
                self.typed(&range.first, self.ty(*counter));
                self.typed(&range.end, self.ty(*counter));
                assert!(self.begun.insert(counter.0));
                self.turn(body);
                self.begun.remove(&counter.0);
            }
            Statement::While { condition, body } => {
                self.typed(condition, BOOL);
                self.turn(body);
            }
            Statement::Break | Statement::Continue => assert!(self.loops > 0),
            Statement::Return(None) => assert_eq!(self.function.result, Type::Unit),
            Statement::Return(Some(value)) => self.typed(value, self.function.result),
        }
    }

    fn turn(&mut self, body: &Block) {
        self.loops += 1;
        self.block(body);
        self.loops -= 1;
    }

    /// Checks a value that may be a call with effects.
    fn whole(&mut self, value: &Expression) {
        match &value.kind {
            Kind::Call { function, arguments } => self.call(function.0, arguments, value.ty),
            _ => self.expression(value),
        }
    }

    fn call(&self, callee: usize, arguments: &[Expression], ty: Type) {
        assert!(callee < self.place, "callees come first");
        let callee = &self.module.functions[callee];
        assert_eq!(callee.result, ty);
        assert_eq!(callee.parameters, arguments.len());
        for (argument, local) in arguments.iter().zip(&callee.locals) {
            assert_eq!(argument.ty, local.ty);
            assert!(!matches!(local.ty, Type::View(_)) || matches!(argument.kind, Kind::Local(_)));
            self.expression(argument);
        }
    }

    fn typed(&self, value: &Expression, ty: Type) {
        assert_eq!(value.ty, ty, "{value:?}");
        self.expression(value);
    }

    fn expression(&self, value: &Expression) {
        let ty = value.ty;
        match &value.kind {
            Kind::Constant(constant) => assert_eq!(Type::Scalar(constant.scalar()), ty),
            Kind::Local(local) => {
                assert!(self.begun.contains(&local.0), "{local:?} is read before it begins");
                assert_eq!(self.ty(*local), ty);
            }
            Kind::Parameter(parameter) => {
                assert_eq!(Type::Scalar(self.module.parameters[parameter.0].scalar), ty);
            }
            Kind::Field { view, .. } => assert!(matches!(self.ty(*view), Type::View(_))),
            Kind::Random { stream, .. } => self.typed(stream, U32),
            Kind::Column { column, index, .. } => {
                assert_eq!(Type::Scalar(self.module.columns[column.0].scalar), ty);
                index.iter().for_each(|index| self.typed(index, U32));
            }
            Kind::Unary(operation, operand) => {
                self.expression(operand);
                self.unary(*operation, operand.ty, ty);
            }
            Kind::Binary(operation, left, right) => {
                self.expression(left);
                self.expression(right);
                self.binary(*operation, [left, right], ty);
            }
            Kind::Checked { operation, left, right, otherwise } => {
                let shift = matches!(operation, Checked::Shl | Checked::Shr);
                self.typed(left, ty);
                self.typed(right, if shift { U32 } else { ty });
                self.typed(otherwise, ty);
            }
            Kind::Cast(operand) => {
                self.expression(operand);
                assert_ne!(operand.ty, ty);
                assert!(ty != BOOL && (ty, operand.ty) != (Type::Scalar(Scalar::F32), BOOL));
            }
            Kind::Select { condition, then, otherwise } => {
                self.typed(condition, BOOL);
                self.typed(then, ty);
                self.typed(otherwise, ty);
            }
            Kind::Call { function, arguments } => {
                assert!(!self.module.functions[function.0].effects, "an effect inside");
                self.call(function.0, arguments, ty);
            }
            Kind::Vote(label, weight) => {
                assert_eq!(ty, Type::Vote);
                self.typed(label, U32);
                self.typed(weight, U32);
            }
            Kind::VoteLabel(vote) | Kind::VoteWeight(vote) => {
                assert_eq!(ty, U32);
                self.typed(vote, Type::Vote);
            }
            Kind::ProductsGe(factors) => {
                assert_eq!(ty, BOOL);
                factors.iter().for_each(|factor| self.typed(factor, Type::Scalar(Scalar::U64)));
            }
        }
    }

    fn unary(&self, operation: Unary, operand: Type, result: Type) {
        let Type::Scalar(scalar) = operand else { panic!("{operation:?} of {operand:?}") };
        let float = scalar == Scalar::F32;
        let (fits, expected) = match operation {
            Unary::Neg => (scalar != Scalar::Bool, operand),
            Unary::Not => (!float, operand),
            Unary::Abs => (scalar.is_signed() || float, operand),
            Unary::LeadingZeros | Unary::TrailingZeros | Unary::CountOnes => {
                (scalar.is_integer(), U32)
            }
            Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Trunc => (float, operand),
            Unary::IsNan | Unary::IsFinite => (float, BOOL),
            Unary::ToBits => (float, U32),
            Unary::FromBits => (scalar == Scalar::U32, Type::Scalar(Scalar::F32)),
        };
        assert!(fits && expected == result, "{operation:?} of {operand:?} is {result:?}");
    }

    fn binary(&self, operation: Binary, [left, right]: [&Expression; 2], result: Type) {
        let Type::Scalar(scalar) = left.ty else { panic!("{operation:?} of {left:?}") };
        let by_amount = matches!(
            operation,
            Binary::Shl | Binary::Shr | Binary::RotateLeft | Binary::RotateRight | Binary::Pow
        );
        assert_eq!(right.ty, if by_amount { U32 } else { left.ty }, "{operation:?}");
        let expected = match operation {
            Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => BOOL,
            Binary::AbsDiff if scalar.bits() == 64 => Type::Scalar(Scalar::U64),
            Binary::AbsDiff => U32,
            _ => left.ty,
        };
        assert_eq!(result, expected, "{operation:?}");
        if matches!(operation, Binary::Div | Binary::Rem) && scalar.is_integer() {
            let never_zero = match &right.kind {
                Kind::Constant(Value::U32(n)) => *n != 0,
                Kind::Constant(Value::U64(n)) => *n != 0,
                Kind::Constant(Value::I32(n)) => *n != 0 && *n != -1,
                Kind::Constant(Value::I64(n)) => *n != 0 && *n != -1,
                Kind::Binary(Binary::Max, ..) | Kind::Local(_) => true,
                _ => false,
            };
            assert!(never_zero, "{right:?}");
        }
    }
}

#[test]
fn the_intermediate_form_keeps_its_promises() {
    for seed in 100..112 {
        check(&read_program("random.rs", &program(&random(seed))).unwrap());
    }
    check(&read_program("corners.rs", &program(&corners())).unwrap());
    for text in [include_str!("../programs/views.rs"), include_str!("../programs/attenuated.rs")] {
        check(&read_program("program.rs", text).unwrap());
    }
    for body in [
        "if v.id == 1 { return 2; } else { return 3; }",
        "let x = if v.id == 1 { return 2 } else { 3 }; x",
        "match v.id { 0 => return 1, 1 => { return 2; } _ => 3 }",
        "for i in 0..3 { if i == 1 { break; } else { continue; } } 1",
        "{ { return 1; } }",
        "1 + { if v.id == 1 { return 2; } 3 } + { return 4 }",
        "v.id == 1 && { return 2 }; 3",
        "return if v.id == 1 { 2 } else { return 3 };",
        "let mut i = 0; while i < 3 && { if v.id == 2 { return 1; } true } { i += 1; } 1",
    ] {
        match read_program("mine.rs", &scoring(body, "")) {
            Ok(module) => check(&module),
            Err(errors) => panic!("{body}\n{errors}"),
        }
    }
}
