//! Method calls on views, columns and scalars.

use super::{Checker, Seen, peel};
use crate::ir::{Binary, Checked, ColumnId, Len, Scalar, View};
use crate::methods::{Method, checked_named, method_of};
use crate::tree::{Kind, Node};
use crate::types::Ty;
use crate::vocabulary::view_method;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

impl<'a> Checker<'_, 'a> {
    pub(super) fn method_call(&mut self, call: &'a syn::ExprMethodCall) -> Node {
        let span = call.method.span();
        if let Some(generic) = &call.turbofish {
            return self.refuse(generic.span(), "a generic call", "leave out `::<…>`");
        }
        if self.is_self(&call.receiver) {
            return self.call_self(call);
        }
        if call.method == "unwrap_or" {
            return self.checked(call);
        }
        let receiver = self.expression(&call.receiver);
        match (&receiver.kind, self.inference.resolve(receiver.ty)) {
            (&Kind::Local(view), Ty::View(of)) => self.view_method((view, of), call),
            (_, Ty::Scalar(scalar)) => self.scalar_method(receiver, scalar, call),
            (_, Ty::Refused) => receiver,
            (_, Ty::Integer(_) | Ty::Float(_)) => {
                let help = "say it: `5_u32`, `1.0_f32`, or `let x: u64 = …`";
                self.refuse(receiver.span, "the type of this number is not known here", help)
            }
            (_, ty) => {
                let message = format!("{} has no methods", ty.name());
                self.refuse(span, message, "methods are for views and scalars")
            }
        }
    }

    fn view_method(&mut self, (view, of): Seen, call: &'a syn::ExprMethodCall) -> Node {
        let (name, span) = (call.method.unraw().to_string(), call.method.span());
        if let Some((field, scalar)) = view_method(of, &name) {
            if self.arguments(&call.args, &[], span).is_none() {
                return Node { kind: Kind::Refused, ty: Ty::Refused, span };
            }
            return Node { kind: Kind::Field { view, field }, ty: Ty::Scalar(scalar), span };
        }
        if name == "random" && of != View::Candidate {
            let values = self.arguments(&call.args, &[Ty::Scalar(Scalar::U32)], span);
            return match values.and_then(|mut values| values.pop()) {
                Some(stream) => {
                    let kind = Kind::Random { view, stream: Box::new(stream) };
                    Node { kind, ty: Ty::Scalar(Scalar::U32), span }
                }
                None => Node { kind: Kind::Refused, ty: Ty::Refused, span },
            };
        }
        if of != View::Candidate {
            if let Some(place) = self.column(&name) {
                return self.read_column(view, place, call);
            }
            if let Some(place) = name.strip_prefix("set_").and_then(|name| self.column(name)) {
                return self.set_column((view, of), place, call);
            }
        }
        let message = format!("{} has no method `{name}`", of.name());
        let columns: Vec<_> =
            self.shared.columns.iter().map(|column| format!("{}()", column.name)).collect();
        let mut help = methods_of(of).to_owned();
        if of != View::Candidate {
            help += &match columns.is_empty() {
                true => "; columns are declared by `#[columns] struct Columns { … }`".to_owned(),
                false => format!(", and the columns {}", columns.join(", ")),
            };
        }
        self.refuse(span, message, help)
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.shared.columns.iter().position(|column| column.name == name)
    }

    fn read_column(
        &mut self,
        view: crate::ir::LocalId,
        place: usize,
        call: &'a syn::ExprMethodCall,
    ) -> Node {
        let (span, column) = (call.method.span(), &self.shared.columns[place]);
        let (many, ty) = (column.len != Len::One, Ty::Scalar(column.scalar));
        let types = [Ty::Scalar(Scalar::U32)];
        let Some(mut values) = self.arguments(&call.args, &types[..usize::from(many)], span) else {
            return Node { kind: Kind::Refused, ty: Ty::Refused, span };
        };
        let kind =
            Kind::Column { view, column: ColumnId(place), index: values.pop().map(Box::new) };
        Node { kind, ty, span }
    }

    fn set_column(
        &mut self,
        (view, of): Seen,
        place: usize,
        call: &'a syn::ExprMethodCall,
    ) -> Node {
        let span = call.method.span();
        if of != View::VertexMut {
            let message = format!("{} is only read", of.name());
            let help = "only `update_vertex`, which has a &mut VertexMut, sets columns";
            return self.refuse(span, message, help);
        }
        let column = &mut self.shared.columns[place];
        column.written = true;
        let (many, ty) = (column.len != Len::One, Ty::Scalar(column.scalar));
        let types = [Ty::Scalar(Scalar::U32), ty];
        let Some(mut values) = self.arguments(&call.args, &types[usize::from(!many)..], span)
        else {
            return Node { kind: Kind::Refused, ty: Ty::Refused, span };
        };
        let value = Box::new(values.pop().expect("`arguments` gave one or two"));
        let index = values.pop().map(Box::new);
        let kind = Kind::SetColumn { view, column: ColumnId(place), index, value };
        Node { kind, ty: Ty::Unit, span }
    }

    /// Checks `a.checked_add(b).unwrap_or(c)`, the only use of `Option` in hooks.
    fn checked(&mut self, call: &'a syn::ExprMethodCall) -> Node {
        let help = "write `a.checked_add(b).unwrap_or(c)` (or sub, mul, div, rem, shl, shr)";
        let syn::Expr::MethodCall(inner) = peel(&call.receiver) else {
            return self.refuse(call.method.span(), "there is nothing to unwrap", help);
        };
        let name = inner.method.to_string();
        let Some(operation) = checked_named(&name) else {
            return self.refuse(call.method.span(), "there is nothing to unwrap", help);
        };
        let left = self.expression(&inner.receiver);
        let scalar = match self.inference.resolve(left.ty) {
            Ty::Scalar(scalar) if scalar.is_integer() => scalar,
            Ty::Refused => return left,
            Ty::Integer(_) => {
                let help = "say it: `5_u32`, or `let x: u64 = …`";
                return self.refuse(left.span, "the type of this number is not known here", help);
            }
            ty => {
                let message = format!("{} has no method `{name}`", ty.name());
                return self.refuse(inner.method.span(), message, "it is for integers");
            }
        };
        let shift = matches!(operation, Checked::Shl | Checked::Shr);
        let right = Ty::Scalar(if shift { Scalar::U32 } else { scalar });
        let span = inner.method.span();
        let right = self.arguments(&inner.args, &[right], span);
        let otherwise = self.arguments(&call.args, &[Ty::Scalar(scalar)], call.method.span());
        match (right.and_then(|mut v| v.pop()), otherwise.and_then(|mut v| v.pop())) {
            (Some(right), Some(otherwise)) => {
                let operands = Box::new([left, right, otherwise]);
                let ty = Ty::Scalar(scalar);
                Node { kind: Kind::Checked { operation, operands }, ty, span }
            }
            _ => Node { kind: Kind::Refused, ty: Ty::Refused, span },
        }
    }

    fn scalar_method(
        &mut self,
        receiver: Node,
        scalar: Scalar,
        call: &'a syn::ExprMethodCall,
    ) -> Node {
        let (name, span) = (call.method.to_string(), call.method.span());
        let Some(method) = method_of(scalar, &name) else {
            let message = format!("hooks have no method `{name}` of {}", scalar.name());
            return self.refuse(span, message, advice(scalar, &name));
        };
        let own = Ty::Scalar(scalar);
        let parameters = match method {
            Method::One(..) => vec![],
            Method::Same(_) | Method::Distance => vec![own],
            Method::Amount(_) => vec![Ty::Scalar(Scalar::U32)],
        };
        let Some(mut values) = self.arguments(&call.args, &parameters, span) else {
            return Node { kind: Kind::Refused, ty: Ty::Refused, span };
        };
        let (left, right) = (Box::new(receiver), values.pop().map(Box::new));
        let (kind, ty) = match (method, right) {
            (Method::One(operation, result), _) => {
                (Kind::Unary(operation, left), result.map_or(own, Ty::Scalar))
            }
            (Method::Distance, Some(right)) => {
                let unsigned = if scalar.bits() == 64 { Scalar::U64 } else { Scalar::U32 };
                (Kind::Method(Binary::AbsDiff, left, right), Ty::Scalar(unsigned))
            }
            (Method::Same(operation) | Method::Amount(operation), Some(right)) => {
                (Kind::Method(operation, left, right), own)
            }
            (_, None) => (Kind::Refused, Ty::Refused),
        };
        Node { kind, ty, span }
    }
}

/// Returns help text for a method that hooks do not have.
fn advice(scalar: Scalar, name: &str) -> String {
    match (scalar, name) {
        (Scalar::F32, "exp" | "exp2" | "ln" | "log2" | "powf") => {
            format!(
                "the standard `{name}` differs from machine to machine: write `{name}({})`, which \
                 hooks have of their own",
                if name == "powf" { "x, y" } else { "x" }
            )
        }
        (Scalar::F32, "powi" | "log10" | "log" | "exp_m1" | "ln_1p") => {
            "it differs from machine to machine: use `exp2(x)`, `log2(x)`, `exp(x)`, `ln(x)` or \
             `powf(x, y)`, which hooks have of their own"
                .into()
        }
        (Scalar::F32, "mul_add") => "write `a * b + c`: every operation is rounded".into(),
        (Scalar::F32, "round") => "write `(x + 0.5).floor()`".into(),
        (Scalar::F32, "clamp") | (_, "clamp") => "write `x.max(low).min(high)`".into(),
        (Scalar::F32, _) => "floats have sqrt abs floor ceil trunc min max copysign to_bits \
            is_nan is_finite"
            .into(),
        (Scalar::Bool, _) => "bools have operators only: ! & | ^ && || == !=".into(),
        (_, name) if checked_named(name).is_some() => {
            format!("put `.unwrap_or(…)` directly behind `{name}(…)`")
        }
        _ => "integers have wrapping_, saturating_ and checked_ add, sub, mul, and min max \
            abs_diff pow abs leading_zeros trailing_zeros count_ones rotate_left rotate_right"
            .into(),
    }
}

fn methods_of(view: View) -> &'static str {
    match view {
        View::Vertex | View::Neighbor => "it has degree(), round(), random(stream)",
        View::VertexMut => {
            "it has degree(), round(), random(stream), carried(), frequency(), total_votes()"
        }
        View::Candidate => "it has total()",
    }
}
