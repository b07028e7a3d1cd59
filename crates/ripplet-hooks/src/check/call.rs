//! Function calls: functions of the program's text, methods of the program, and functions that
//! every hook can call.

use super::Checker;
use crate::ir::{Scalar, View};
use crate::tree::{Callee, Kind, Node};
use crate::types::Ty;
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;

type Arguments = Punctuated<syn::Expr, syn::Token![,]>;

impl<'a> Checker<'_, 'a> {
    pub(super) fn call(&mut self, call: &'a syn::ExprCall) -> Node {
        let span = call.func.span();
        let help = "functions are those of this module, of the program (`self.name(…)`) and of \
            docs/hooks.md";
        let syn::Expr::Path(path) = super::peel(&call.func) else {
            return self.refuse(span, "this is not a function's name", help);
        };
        let generic = path.path.segments.iter().any(|segment| !segment.arguments.is_none());
        let names: Vec<_> =
            path.path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        match names[..] {
            _ if generic || path.qself.is_some() => {
                self.refuse(span, "a generic call", "functions have no generic arguments")
            }
            [name] if self.local(name).is_some() => {
                let local = self.local(name).expect("just asked");
                if self.locals[local.0].ty == Ty::Refused {
                    return Node { kind: Kind::Refused, ty: Ty::Refused, span };
                }
                self.refuse(span, format!("`{name}` is a local, not a function"), help)
            }
            [name] => self.call_named(name, &call.args, span),
            ["math", name] => match self.shared.meet_mathematics(name) {
                Some(callee) => self.call_met(callee, &call.args, span),
                None => self.refuse(span, format!("there is no function `math::{name}`"), help),
            },
            ["Vote", "new"] => self.vote_new(&call.args, span),
            [ty, name] => match (Scalar::named(ty), name) {
                (Some(Scalar::F32), "from_bits") => self.float_of_bits(&call.args, span),
                (Some(scalar), "from") => self.convert(scalar, &call.args, span),
                _ => {
                    let message = format!("`{ty}::{name}` is not known here");
                    self.refuse(span, message, help)
                }
            },
            _ => self.refuse(span, "a path", "write the function's name alone"),
        }
    }

    fn call_named(&mut self, name: &str, arguments: &'a Arguments, span: Span) -> Node {
        if let Some(callee) = self.shared.meet(self.scope, false, name) {
            return self.call_met(callee, arguments, span);
        }
        if self.shared.scopes[self.scope].functions.contains_key(name) {
            // The error in the signature is already reported.
            return Node { kind: Kind::Refused, ty: Ty::Refused, span };
        }
        if name == "products_ge" {
            return self.products_ge(arguments, span);
        }
        match self.shared.meet_mathematics(name) {
            Some(callee) => self.call_met(callee, arguments, span),
            None => {
                let method = self.shared.scopes[self.scope].methods.contains_key(name);
                let help = if method {
                    format!("write `self.{name}(…)`")
                } else {
                    "functions stand beside the hooks: `fn name(u: Neighbor) -> u32 { … }`".into()
                };
                self.refuse(span, format!("there is no function `{name}`"), help)
            }
        }
    }

    /// Checks a call `self.name(…)`.
    pub(super) fn call_self(&mut self, call: &'a syn::ExprMethodCall) -> Node {
        let (name, span) = (call.method.unraw().to_string(), call.method.span());
        match self.shared.meet(self.scope, true, &name) {
            Some(callee) if self.shared.met[callee.0].signature.method => {
                self.call_met(callee, &call.args, span)
            }
            Some(_) => {
                let message = format!("`{name}` has no `self`");
                self.refuse(span, message, "give it `&self` as its first parameter")
            }
            None if self.shared.scopes[self.scope].methods.contains_key(&name) => {
                Node { kind: Kind::Refused, ty: Ty::Refused, span }
            }
            None => {
                let help = "a hook that is not written cannot be called";
                self.refuse(span, format!("the program has no function `{name}`"), help)
            }
        }
    }

    fn call_met(&mut self, callee: Callee, arguments: &'a Arguments, span: Span) -> Node {
        let signature = self.shared.met[callee.0].signature.clone();
        let Some(values) = self.arguments(arguments, &signature.parameters, span) else {
            return Node { kind: Kind::Refused, ty: Ty::Refused, span };
        };
        self.calls.push((callee, span));
        let mut seen = Vec::new();
        for value in &values {
            let handed = matches!(value.ty, Ty::View(View::VertexMut));
            if let (Kind::Local(view), true) = (&value.kind, handed) {
                if seen.contains(view) {
                    let help = "hand it on once";
                    return self.refuse(value.span, "the same vertex twice in one call", help);
                }
                seen.push(*view);
            }
        }
        let kind = Kind::Call { function: callee, arguments: values };
        Node { kind, ty: signature.result, span }
    }

    /// Checks arguments against these types. Returns `None` if their number is wrong.
    pub(super) fn arguments(
        &mut self,
        arguments: &'a Arguments,
        types: &[Ty],
        span: Span,
    ) -> Option<Vec<Node>> {
        let mut values: Vec<_> = arguments.iter().map(|value| self.expression(value)).collect();
        if values.len() != types.len() {
            let list: Vec<_> = types.iter().map(|ty| ty.name()).collect();
            let message = format!("this takes {} arguments, not {}", types.len(), values.len());
            self.refuse(span, message, format!("it takes ({})", list.join(", ")));
            return None;
        }
        values.iter_mut().zip(types).for_each(|(value, &ty)| self.expect(value, ty));
        Some(values)
    }

    fn products_ge(&mut self, arguments: &'a Arguments, span: Span) -> Node {
        let types = [Ty::Scalar(Scalar::U64); 4];
        let values = self.arguments(arguments, &types, span);
        match values.map(<[Node; 4]>::try_from) {
            Some(Ok(values)) => {
                let ty = Ty::Scalar(Scalar::Bool);
                Node { kind: Kind::ProductsGe(Box::new(values)), ty, span }
            }
            _ => Node { kind: Kind::Refused, ty: Ty::Refused, span },
        }
    }

    fn vote_new(&mut self, arguments: &'a Arguments, span: Span) -> Node {
        let values = self.arguments(arguments, &[Ty::Scalar(Scalar::U32); 2], span);
        match values.map(<[Node; 2]>::try_from) {
            Some(Ok(values)) => {
                let kind = Kind::Vote { parts: Box::new(values), weight_first: false };
                Node { kind, ty: Ty::Vote, span }
            }
            _ => Node { kind: Kind::Refused, ty: Ty::Refused, span },
        }
    }

    fn float_of_bits(&mut self, arguments: &'a Arguments, span: Span) -> Node {
        let values = self.arguments(arguments, &[Ty::Scalar(Scalar::U32)], span);
        match values.and_then(|mut values| values.pop()) {
            Some(bits) => {
                let kind = Kind::Unary(crate::ir::Unary::FromBits, Box::new(bits));
                Node { kind, ty: Ty::Scalar(Scalar::F32), span }
            }
            None => Node { kind: Kind::Refused, ty: Ty::Refused, span },
        }
    }

    fn convert(&mut self, scalar: Scalar, arguments: &'a Arguments, span: Span) -> Node {
        let mut values: Vec<_> = arguments.iter().map(|value| self.expression(value)).collect();
        match (values.pop(), values.is_empty()) {
            (Some(value), true) if value.ty.is_scalar() => {
                Node { kind: Kind::From(Box::new(value)), ty: Ty::Scalar(scalar), span }
            }
            (Some(Node { ty: Ty::Refused, .. }), true) => {
                Node { kind: Kind::Refused, ty: Ty::Refused, span }
            }
            _ => {
                let name = scalar.name();
                self.refuse(span, "one scalar is converted", format!("write `{name}::from(x)`"))
            }
        }
    }
}
