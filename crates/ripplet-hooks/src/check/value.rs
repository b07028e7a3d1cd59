//! Expressions: literals, names, operators, casts, fields.

use super::{Checker, macro_call, peel};
use crate::constant::{NO_LABEL, associated, read_literal};
use crate::ir::{Binary, ParameterId, Scalar, Unary, Value, View};
use crate::signature::read_type;
use crate::tree::{Kind, Literal, Node};
use crate::types::Ty;
use crate::vocabulary::{ACTIVATIONS, LABEL_TOTALS, view_field};
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

impl<'a> Checker<'_, 'a> {
    pub(super) fn expression(&mut self, value: &'a syn::Expr) -> Node {
        match value {
            syn::Expr::Lit(literal) => self.literal(&literal.lit),
            syn::Expr::Path(path) => self.path(path),
            syn::Expr::Paren(inner) => self.expression(&inner.expr),
            syn::Expr::Group(inner) => self.expression(&inner.expr),
            syn::Expr::Unary(unary) => self.unary(unary),
            syn::Expr::Binary(binary) => self.binary(binary),
            syn::Expr::Assign(assign) => self.assign(&assign.left, None, &assign.right),
            syn::Expr::Cast(cast) => self.cast(cast),
            syn::Expr::Field(field) => self.field(field),
            syn::Expr::Struct(literal) => self.vote_literal(literal),
            syn::Expr::Call(call) => self.call(call),
            syn::Expr::MethodCall(call) => self.method_call(call),
            _ => self.control(value),
        }
    }

    fn control(&mut self, value: &'a syn::Expr) -> Node {
        match value {
            syn::Expr::Block(block) if block.label.is_none() => {
                self.refuse_attributes(&block.attrs);
                self.block(&block.block)
            }
            syn::Expr::If(branch) => self.branch(branch),
            syn::Expr::Match(choice) => self.choice(choice),
            syn::Expr::ForLoop(turns) => self.for_loop(turns),
            syn::Expr::While(turns) => self.while_loop(turns),
            syn::Expr::Break(leave) => {
                let plain = leave.label.is_none() && leave.expr.is_none();
                self.leave(Kind::Break, leave.span(), plain)
            }
            syn::Expr::Continue(leave) => {
                self.leave(Kind::Continue, leave.span(), leave.label.is_none())
            }
            syn::Expr::Return(value) => self.give_back(value),
            other => self.refused_expression(other),
        }
    }

    fn refused_expression(&mut self, value: &'a syn::Expr) -> Node {
        let (message, help) = match value {
            syn::Expr::Loop(_) => (
                "`loop` may never end",
                "write `for _ in 0..1000 { if done { break; } … }`, with the most turns you need",
            ),
            syn::Expr::Closure(_) => ("a closure", "write a function beside the hooks"),
            syn::Expr::Reference(_) => {
                ("a reference", "scalars and views are handed on as they are")
            }
            syn::Expr::Index(_) => ("an index", "columns of many values are read with `v.name(i)`"),
            syn::Expr::Macro(call) => {
                self.error(macro_call(call.span()));
                return Node { kind: Kind::Refused, ty: Ty::Refused, span: call.span() };
            }
            syn::Expr::Tuple(_) | syn::Expr::Array(_) | syn::Expr::Repeat(_) => {
                ("several values in one", "hooks have scalars and votes: use several locals")
            }
            syn::Expr::Range(_) => ("a range", "ranges stand in `for i in a..b` and in `match`"),
            syn::Expr::Unsafe(_) => ("`unsafe`", "hooks have no need of it"),
            syn::Expr::Try(_) => ("`?`", "hooks cannot fail: use `unwrap_or`"),
            _ => (
                "hooks have no expression like this",
                "docs/hooks.md lists the statements, operators and functions that hooks have",
            ),
        };
        self.refuse(value.span(), message, help)
    }

    pub(super) fn literal(&mut self, lit: &syn::Lit) -> Node {
        match read_literal(lit) {
            Ok((literal, suffix)) => self.literal_of(literal, suffix, lit.span()),
            Err(error) => {
                self.error(error);
                Node { kind: Kind::Refused, ty: Ty::Refused, span: lit.span() }
            }
        }
    }

    fn literal_of(&mut self, literal: Literal, scalar: Option<Scalar>, span: Span) -> Node {
        let ty = match (scalar, &literal) {
            (Some(scalar), _) => Ty::Scalar(scalar),
            (None, Literal::Float(_)) => self.inference.float(),
            (None, _) => self.inference.integer(),
        };
        Node { kind: Kind::Literal(literal), ty, span }
    }

    /// Returns a constant of the text, or `NO_LABEL`.
    pub(super) fn constant(&self, name: &str) -> Option<(Literal, Scalar)> {
        match self.shared.scopes[self.scope].constants.get(name) {
            Some(&value) => {
                let literal = match value {
                    Value::U32(value) => Literal::Integer(value.into()),
                    Value::I32(value) => Literal::Integer(value.into()),
                    Value::U64(value) => Literal::Integer(value.into()),
                    Value::I64(value) => Literal::Integer(value.into()),
                    Value::F32(value) => Literal::Float(value),
                    Value::Bool(value) => Literal::Bool(value),
                };
                Some((literal, value.scalar()))
            }
            None if name == NO_LABEL => Some((Literal::Integer(u32::MAX.into()), Scalar::U32)),
            None => None,
        }
    }

    fn path(&mut self, path: &'a syn::ExprPath) -> Node {
        let span = path.span();
        let names: Vec<_> =
            path.path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        match names[..] {
            ["self"] => {
                self.refuse(span, "the program as a whole", "read its parameters: `self.x`")
            }
            [name] => {
                if let Some(local) = self.local(name) {
                    return Node { kind: Kind::Local(local), ty: self.locals[local.0].ty, span };
                }
                match self.constant(name) {
                    Some((literal, scalar)) => self.literal_of(literal, Some(scalar), span),
                    None => self.refuse(
                        span,
                        format!("`{name}` is not known here"),
                        "names are locals, parameters, and constants of the module: \
                         `const NAME: u32 = 3;`",
                    ),
                }
            }
            ["Vote", "NONE"] => {
                let number = |number: u32| {
                    let kind = Kind::Literal(Literal::Integer(number.into()));
                    Node { kind, ty: Ty::Scalar(Scalar::U32), span }
                };
                let parts = Box::new([number(u32::MAX), number(0)]);
                let kind = Kind::Vote { parts, weight_first: false };
                Node { kind, ty: Ty::Vote, span }
            }
            [ty, name] => {
                if let Some((literal, scalar)) = associated(ty, name) {
                    return self.literal_of(literal, Some(scalar), span);
                }
                match declared(ty, name) {
                    Some((ty, number)) => {
                        Node { kind: Kind::Literal(Literal::Integer(number)), ty, span }
                    }
                    None => {
                        let help = format!(
                            "constants are u32::MAX, f32::INFINITY and the like, Vote::NONE, {} and {}",
                            variants("Activation", &ACTIVATIONS),
                            variants("LabelTotal", &LABEL_TOTALS)
                        );
                        self.refuse(span, format!("`{ty}::{name}` is not known here"), help)
                    }
                }
            }
            _ => self.refuse(span, "a path", "write the last name alone"),
        }
    }

    fn unary(&mut self, unary: &'a syn::ExprUnary) -> Node {
        let operand = self.expression(&unary.expr);
        let kind: fn(Box<Node>) -> Kind = match unary.op {
            syn::UnOp::Neg(_) => Kind::Minus,
            syn::UnOp::Not(_) => |operand| Kind::Unary(Unary::Not, operand),
            _ => {
                let help = "scalars and views are values: leave out `*`";
                return self.refuse(unary.span(), "there is nothing to look behind", help);
            }
        };
        let ty = operand.ty;
        if !ty.is_scalar() && !matches!(ty, Ty::Refused | Ty::Never) {
            return self.refuse(unary.span(), format!("{} is not a number", ty.name()), OPERANDS);
        }
        let span = unary.op.span();
        Node { kind: kind(Box::new(operand)), ty, span }
    }

    fn binary(&mut self, binary: &'a syn::ExprBinary) -> Node {
        let (operator, assigns) = operator(&binary.op);
        let Some(operator) = operator else {
            return self.refuse(binary.op.span(), "hooks have no such operator", OPERANDS);
        };
        if assigns {
            return self.assign(&binary.left, Some(operator), &binary.right);
        }
        let (mut left, mut right) = (self.expression(&binary.left), self.expression(&binary.right));
        let span = binary.op.span();
        for side in [&left, &right] {
            if !side.ty.is_scalar() && !matches!(side.ty, Ty::Refused | Ty::Never) {
                let message = format!("{} has no operators", side.ty.name());
                return self.refuse(side.span, message, OPERANDS);
            }
        }
        let bool = Ty::Scalar(Scalar::Bool);
        let ty = match operator {
            Binary::Shl | Binary::Shr => left.ty,
            Binary::LazyAnd | Binary::LazyOr => {
                self.expect(&mut left, bool);
                self.expect(&mut right, bool);
                bool
            }
            Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => {
                self.same(&mut left, &mut right);
                bool
            }
            _ => self.same(&mut left, &mut right),
        };
        Node { kind: Kind::Binary(operator, Box::new(left), Box::new(right)), ty, span }
    }

    fn cast(&mut self, cast: &'a syn::ExprCast) -> Node {
        let score = (self.scope == 0).then_some(self.shared.score);
        let ty = match read_type(&cast.ty, score) {
            Ok(ty @ Ty::Scalar(_)) => ty,
            Ok(ty) => {
                let message = format!("nothing is converted to {}", ty.name());
                return self.refuse(cast.ty.span(), message, "`as` is for scalars");
            }
            Err(error) => {
                self.error(error);
                Ty::Refused
            }
        };
        let value = self.expression(&cast.expr);
        if !value.ty.is_scalar() && !matches!(value.ty, Ty::Refused | Ty::Never) {
            let message = format!("{} is not converted", value.ty.name());
            return self.refuse(value.span, message, "`as` is for scalars");
        }
        // As in rustc, a literal takes the type that it is cast to if it can have that type.
        let takes = match (ty, value.ty) {
            (Ty::Scalar(scalar), Ty::Integer(_)) => scalar.is_integer(),
            (Ty::Scalar(scalar), Ty::Float(_)) => scalar == Scalar::F32,
            _ => false,
        };
        if takes && is_literal(peel(&cast.expr)) {
            self.inference.unify(value.ty, ty);
        }
        Node { kind: Kind::Cast(Box::new(value)), ty, span: cast.span() }
    }

    fn field(&mut self, field: &'a syn::ExprField) -> Node {
        let span = field.member.span();
        let syn::Member::Named(ident) = &field.member else {
            return self.refuse(span, "hooks have no tuples", "views and votes have named fields");
        };
        let name = ident.unraw().to_string();
        if self.is_self(&field.base) {
            return self.parameter(&name, span);
        }
        let base = self.expression(&field.base);
        match (&base.kind, self.inference.resolve(base.ty)) {
            (&Kind::Local(view), Ty::View(of)) => match view_field(of, &name) {
                Some((known, scalar)) => {
                    Node { kind: Kind::Field { view, field: known }, ty: Ty::Scalar(scalar), span }
                }
                None => {
                    let column = self.shared.columns.iter().any(|column| column.name == name);
                    let message = format!("{} has no field `{name}`", of.name());
                    let help =
                        if column { format!("write `{name}()`") } else { fields_of(of).to_owned() };
                    self.refuse(span, message, help)
                }
            },
            (_, Ty::Vote) => {
                let kind = match name.as_str() {
                    "label" => Kind::VoteLabel(Box::new(base)),
                    "weight" => Kind::VoteWeight(Box::new(base)),
                    _ => {
                        let help = "a vote has `label` and `weight`";
                        return self.refuse(span, format!("a vote has no field `{name}`"), help);
                    }
                };
                Node { kind, ty: Ty::Scalar(Scalar::U32), span }
            }
            (_, Ty::Refused) => base,
            (_, ty) => self.refuse(
                span,
                format!("{} has no fields", ty.name()),
                "fields are for views, votes and the program (`self`)",
            ),
        }
    }

    fn parameter(&mut self, name: &str, span: Span) -> Node {
        let place = self.shared.parameters.iter().position(|known| known.name == name);
        match place {
            Some(place) => {
                let ty = Ty::Scalar(self.shared.parameters[place].scalar);
                Node { kind: Kind::Parameter(ParameterId(place)), ty, span }
            }
            None => {
                let known: Vec<_> =
                    self.shared.parameters.iter().map(|known| known.name.as_str()).collect();
                let help = match &known[..] {
                    [] => "it has none: write them into its struct".to_owned(),
                    known => format!("it has {}", known.join(", ")),
                };
                self.refuse(span, format!("the program has no parameter `{name}`"), help)
            }
        }
    }

    /// Returns whether this expression is `self` in a function with a receiver.
    pub(super) fn is_self(&self, value: &syn::Expr) -> bool {
        match peel(value) {
            syn::Expr::Path(path) => self.method && path.path.is_ident("self"),
            _ => false,
        }
    }

    fn vote_literal(&mut self, literal: &'a syn::ExprStruct) -> Node {
        let help = "write `Vote { label, weight }`";
        let whole = literal.rest.is_none() && literal.qself.is_none();
        if !literal.path.is_ident("Vote") || !whole {
            return self.refuse(literal.span(), "this is not a vote", help);
        }
        let (mut label, mut weight) = (None, None);
        for field in &literal.fields {
            self.refuse_attributes(&field.attrs);
            let mut value = self.expression(&field.expr);
            self.expect(&mut value, Ty::Scalar(Scalar::U32));
            let place = match &field.member {
                syn::Member::Named(name) if name == "label" => &mut label,
                syn::Member::Named(name) if name == "weight" => &mut weight,
                _ => return self.refuse(field.member.span(), "a vote has no such field", help),
            };
            if place.replace(value).is_some() {
                return self.refuse(field.member.span(), "this is given twice", help);
            }
        }
        match (label, weight) {
            (Some(label), Some(weight)) => {
                let weight_first = matches!(
                    literal.fields.first().map(|field| &field.member),
                    Some(syn::Member::Named(name)) if name == "weight"
                );
                let kind = Kind::Vote { parts: Box::new([label, weight]), weight_first };
                Node { kind, ty: Ty::Vote, span: literal.span() }
            }
            _ => self.refuse(literal.span(), "a vote needs a label and a weight", help),
        }
    }
}

const OPERANDS: &str = "operators are for scalars: + - * / % & | ^ << >> ! == != < <= > >= && ||";

/// Returns whether this expression is a literal or its negative, which takes the type that it is
/// cast to.
fn is_literal(value: &syn::Expr) -> bool {
    match value {
        syn::Expr::Lit(_) => true,
        syn::Expr::Unary(unary) => is_literal(peel(&unary.expr)),
        _ => false,
    }
}

/// Returns the variants of a type, for a sentence.
fn variants(ty: &str, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{ty}::{name}")).collect();
    names.join(", ")
}

fn declared(ty: &str, name: &str) -> Option<(Ty, i128)> {
    let (ty, names) = match ty {
        "Activation" => (Ty::Activation, ACTIVATIONS),
        "LabelTotal" => (Ty::LabelTotal, LABEL_TOTALS),
        _ => return None,
    };
    let number = names.iter().position(|known| *known == name)?;
    Some((ty, number as i128))
}

fn operator(op: &syn::BinOp) -> (Option<Binary>, bool) {
    use syn::BinOp as Op;
    let operator = match op {
        Op::Add(_) | Op::AddAssign(_) => Binary::Add,
        Op::Sub(_) | Op::SubAssign(_) => Binary::Sub,
        Op::Mul(_) | Op::MulAssign(_) => Binary::Mul,
        Op::Div(_) | Op::DivAssign(_) => Binary::Div,
        Op::Rem(_) | Op::RemAssign(_) => Binary::Rem,
        Op::BitAnd(_) | Op::BitAndAssign(_) => Binary::And,
        Op::BitOr(_) | Op::BitOrAssign(_) => Binary::Or,
        Op::BitXor(_) | Op::BitXorAssign(_) => Binary::Xor,
        Op::Shl(_) | Op::ShlAssign(_) => Binary::Shl,
        Op::Shr(_) | Op::ShrAssign(_) => Binary::Shr,
        Op::Eq(_) => Binary::Eq,
        Op::Ne(_) => Binary::Ne,
        Op::Lt(_) => Binary::Lt,
        Op::Le(_) => Binary::Le,
        Op::Gt(_) => Binary::Gt,
        Op::Ge(_) => Binary::Ge,
        Op::And(_) => Binary::LazyAnd,
        Op::Or(_) => Binary::LazyOr,
        _ => return (None, false),
    };
    let assigns = matches!(
        op,
        Op::AddAssign(_)
            | Op::SubAssign(_)
            | Op::MulAssign(_)
            | Op::DivAssign(_)
            | Op::RemAssign(_)
            | Op::BitAndAssign(_)
            | Op::BitOrAssign(_)
            | Op::BitXorAssign(_)
            | Op::ShlAssign(_)
            | Op::ShrAssign(_)
    );
    (Some(operator), assigns)
}

fn fields_of(view: View) -> &'static str {
    match view {
        View::Vertex | View::VertexMut => "it has the fields id and label",
        View::Neighbor => "it has the fields id, label and weight",
        View::Candidate => "it has the fields label, frequency, total_votes and grand_total",
    }
}
