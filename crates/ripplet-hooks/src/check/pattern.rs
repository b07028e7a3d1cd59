//! `match` on integers and bools.

use super::Checker;
use crate::constant::{associated, limits, read_literal};
use crate::ir::Scalar;
use crate::tree::{Arm, Kind, Literal, Node};
use crate::types::Ty;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

const PATTERNS: &str = "patterns are numbers, `true`, `false`, constants, ranges `1..=9`, several \
    with `|`, and `_`";

/// The most arms of a `match`. The emitter makes each arm an `else if`, and clang and nvcc nest at
/// most 256.
const MOST_ARMS: usize = 200;

impl<'a> Checker<'_, 'a> {
    pub(super) fn choice(&mut self, choice: &'a syn::ExprMatch) -> Node {
        self.refuse_attributes(&choice.attrs);
        if choice.arms.len() > MOST_ARMS {
            let message = format!("a match of {} arms", choice.arms.len());
            let help = format!("at most {MOST_ARMS} arms, or C++ compilers give up: use ranges");
            return self.refuse(choice.match_token.span, message, help);
        }
        let mut on = self.expression(&choice.expr);
        let mut arms = Vec::new();
        let mut ty = Ty::Never;
        for arm in &choice.arms {
            self.refuse_attributes(&arm.attrs);
            if let Some((guard, _)) = &arm.guard {
                self.refuse(guard.span, "a condition on an arm", "put an `if` into the arm");
            }
            let mut values = Vec::new();
            let takes_all = self.pattern(&arm.pat, &mut on, &mut values);
            let mut body = self.expression(&arm.body);
            ty = match self.inference.unify(ty, body.ty) {
                Some(ty) => ty,
                None => {
                    self.expect(&mut body, ty);
                    Ty::Refused
                }
            };
            arms.push(Arm { values, takes_all, body, span: arm.pat.span() });
        }
        let span = choice.match_token.span;
        match self.inference.resolve(on.ty) {
            Ty::Scalar(Scalar::F32) | Ty::Float(_) => {
                self.refuse(on.span, "a match on a float", "compare floats with `if`")
            }
            Ty::Refused => Node { kind: Kind::Refused, ty: Ty::Refused, span },
            Ty::Scalar(_) | Ty::Integer(_) => {
                Node { kind: Kind::Match { on: Box::new(on), arms }, ty, span }
            }
            other => {
                let message = format!("a match on {}", other.name());
                self.refuse(on.span, message, "`match` is for integers and bools")
            }
        }
    }

    /// Reads the values of a pattern and returns whether the pattern matches everything.
    fn pattern(
        &mut self,
        pattern: &'a syn::Pat,
        on: &mut Node,
        values: &mut Vec<(i128, i128)>,
    ) -> bool {
        match pattern {
            syn::Pat::Wild(_) => return true,
            syn::Pat::Paren(inner) => return self.pattern(&inner.pat, on, values),
            syn::Pat::Or(several) => {
                let mut all = false;
                for case in &several.cases {
                    all |= self.pattern(case, on, values);
                }
                return all;
            }
            syn::Pat::Range(range) => {
                let (Some(first), Some(end)) = (&range.start, &range.end) else {
                    self.refuse(range.span(), "a range without an end", PATTERNS);
                    return false;
                };
                let (first, end) = (self.pattern_value(first, on), self.pattern_value(end, on));
                if let (Some(first), Some(end)) = (first, end) {
                    let exclusive = matches!(range.limits, syn::RangeLimits::HalfOpen(_));
                    let last = end - i128::from(exclusive);
                    if last < first {
                        self.refuse(range.span(), "an empty range", PATTERNS);
                    }
                    values.push((first, last));
                }
            }
            syn::Pat::Lit(literal) => {
                if let Some(value) = self.value_of_literal(&literal.lit, on) {
                    values.push((value, value));
                }
            }
            syn::Pat::Ident(name)
                if name.subpat.is_none()
                    && name.by_ref.is_none()
                    && self.constant(&name.ident.unraw().to_string()).is_some() =>
            {
                let (literal, scalar) =
                    self.constant(&name.ident.unraw().to_string()).expect("just asked");
                let value = self.value_of_constant(literal, scalar, name.span(), on);
                values.extend(value.map(|value| (value, value)));
            }
            syn::Pat::Path(path) => {
                if let Some(value) = self.value_of_path(path, on) {
                    values.push((value, value));
                }
            }
            other => {
                self.refuse(other.span(), "this pattern", PATTERNS);
            }
        }
        false
    }

    /// Reads an end of a range: a number, its negative, or a constant.
    fn pattern_value(&mut self, value: &'a syn::Expr, on: &mut Node) -> Option<i128> {
        match super::peel(value) {
            syn::Expr::Lit(literal) => self.value_of_literal(&literal.lit, on),
            syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => {
                Some(-self.pattern_value(expr, on)?)
            }
            syn::Expr::Path(path) => self.value_of_path(path, on),
            other => {
                self.refuse(other.span(), "this pattern", PATTERNS);
                None
            }
        }
    }

    fn value_of_path(&mut self, path: &syn::ExprPath, on: &mut Node) -> Option<i128> {
        let names: Vec<_> =
            path.path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
        let known = match &names[..] {
            [name] => self.constant(name),
            [ty, name] => associated(ty, name),
            _ => None,
        };
        let Some((literal, scalar)) = known else {
            self.refuse(path.span(), "this is not a constant", PATTERNS);
            return None;
        };
        self.value_of_constant(literal, scalar, path.span(), on)
    }

    fn value_of_constant(
        &mut self,
        literal: Literal,
        scalar: Scalar,
        span: proc_macro2::Span,
        on: &mut Node,
    ) -> Option<i128> {
        if self.inference.unify(on.ty, Ty::Scalar(scalar)).is_none() {
            let found = self.inference.resolve(on.ty).name();
            let message = format!("{found} is matched, not {}", scalar.name());
            self.refuse(span, message, PATTERNS);
            return None;
        }
        match literal {
            Literal::Integer(value) => Some(value),
            Literal::Bool(value) => Some(value.into()),
            Literal::Float(_) => None,
        }
    }

    fn value_of_literal(&mut self, lit: &syn::Lit, on: &mut Node) -> Option<i128> {
        match read_literal(lit) {
            Ok((literal, Some(scalar))) => self.value_of_constant(literal, scalar, lit.span(), on),
            Ok((Literal::Integer(value), None)) => {
                let number = self.inference.integer();
                if self.inference.unify(on.ty, number).is_none() {
                    let found = self.inference.resolve(on.ty).name();
                    self.refuse(lit.span(), format!("{found} is matched, not a number"), PATTERNS);
                    return None;
                }
                Some(value)
            }
            Ok(_) => {
                self.refuse(lit.span(), "a float in a pattern", "compare floats with `if`");
                None
            }
            Err(error) => {
                self.error(error);
                None
            }
        }
    }
}

/// Returns whether these arms match both values of a bool without `_`.
pub(crate) fn take_all_bools(arms: &[Arm]) -> bool {
    (0..=1).all(|bit| {
        arms.iter().flat_map(|arm| &arm.values).any(|&(first, last)| first <= bit && bit <= last)
    })
}

/// Returns whether the value of a pattern is in the range of its type.
pub(crate) fn fits(value: i128, scalar: Scalar) -> bool {
    let (least, most) = limits(scalar);
    (least..=most).contains(&value)
}
