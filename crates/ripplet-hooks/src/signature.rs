//! Signatures: which types functions may have, and which signatures the hooks must have.

use crate::error::Diagnostic;
use crate::ir::{Scalar, View};
use crate::types::Ty;
use proc_macro2::Span;
use syn::spanned::Spanned;

/// Help text: the types allowed in a signature or a `let`.
const TYPES: &str = "types are u32, i32, u64, i64, f32, bool, Label and Vote; views are Vertex, \
    Neighbor, Candidate and &mut VertexMut";

/// The types of a function's parameters and result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Signature {
    /// Whether the function is called as `self.function(…)`.
    pub(crate) method: bool,
    /// The types of the parameters without `self`.
    pub(crate) parameters: Vec<Ty>,
    pub(crate) result: Ty,
}

impl Signature {
    /// Reads a signature.
    pub(crate) fn read(
        signature: &syn::Signature,
        score: Option<Scalar>,
    ) -> Result<Signature, Diagnostic> {
        refuse_modifiers(signature)?;
        let mut read = Signature { method: false, parameters: Vec::new(), result: Ty::Unit };
        for input in &signature.inputs {
            match input {
                syn::FnArg::Receiver(receiver) => {
                    let plain = receiver.colon_token.is_none();
                    if !plain || (receiver.mutability.is_some() && receiver.reference.is_some()) {
                        let help = "write `&self`: hooks read the program and never change it";
                        return Err(Diagnostic::new(receiver.span(), "unusual `self`", help));
                    }
                    read.method = true;
                }
                syn::FnArg::Typed(typed) => read.parameters.push(read_type(&typed.ty, score)?),
            }
        }
        if let syn::ReturnType::Type(_, ty) = &signature.output {
            read.result = read_type(ty, score)?;
            if matches!(read.result, Ty::View(_)) {
                let message = "a function cannot return a view";
                let help = "views are only handed on as arguments";
                return Err(Diagnostic::new(ty.span(), message, help));
            }
        }
        Ok(read)
    }
}

fn refuse_modifiers(signature: &syn::Signature) -> Result<(), Diagnostic> {
    let modifier = (signature.asyncness.map(|token| token.span()))
        .or(signature.unsafety.map(|token| token.span()))
        .or(signature.abi.as_ref().map(Spanned::span))
        .or(signature.variadic.as_ref().map(Spanned::span))
        .or(signature.generics.params.first().map(Spanned::span))
        .or(signature.generics.where_clause.as_ref().map(Spanned::span));
    let help = "hooks and the functions they call are plain: `fn name(v: Vertex, x: u32) -> u32`";
    modifier.map_or(Ok(()), |span| Err(Diagnostic::new(span, "this is not a plain function", help)))
}

/// Reads a type.
pub(crate) fn read_type(ty: &syn::Type, score: Option<Scalar>) -> Result<Ty, Diagnostic> {
    let refused = || Diagnostic::new(ty.span(), "this type is not known to hooks", TYPES);
    match ty {
        syn::Type::Paren(inner) => read_type(&inner.elem, score),
        syn::Type::Group(inner) => read_type(&inner.elem, score),
        syn::Type::Tuple(tuple) if tuple.elems.is_empty() => Ok(Ty::Unit),
        syn::Type::Reference(reference) if reference.mutability.is_some() => {
            let (name, _) = path_name(&reference.elem).ok_or_else(refused)?;
            (name == "VertexMut").then_some(Ty::View(View::VertexMut)).ok_or_else(refused)
        }
        _ => {
            let (name, of_self) = path_name(ty).ok_or_else(refused)?;
            if of_self {
                let score = score.filter(|_| name == "Score");
                return score.map(Ty::Scalar).ok_or_else(refused);
            }
            named(&name).ok_or_else(|| match name.as_str() {
                "f64" | "u8" | "u16" | "u128" | "usize" | "i8" | "i16" | "i128" | "isize" => {
                    Diagnostic::new(ty.span(), format!("hooks have no {name}"), TYPES)
                }
                "VertexMut" => Diagnostic::new(
                    ty.span(),
                    "a VertexMut is handed on by reference",
                    "write `&mut VertexMut`",
                ),
                _ => refused(),
            })
        }
    }
}

/// Returns a type's name, and whether it follows `Self::`.
fn path_name(ty: &syn::Type) -> Option<(String, bool)> {
    let syn::Type::Path(syn::TypePath { qself: None, path }) = ty else { return None };
    let plain = path.segments.iter().all(|segment| match &segment.arguments {
        syn::PathArguments::None => true,
        syn::PathArguments::AngleBracketed(generic) => {
            generic.args.iter().all(|a| matches!(a, syn::GenericArgument::Lifetime(_)))
        }
        syn::PathArguments::Parenthesized(_) => false,
    });
    let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    match &names[..] {
        _ if !plain || path.leading_colon.is_some() => None,
        [name] => Some((name.clone(), false)),
        [first, name] if first == "Self" => Some((name.clone(), true)),
        _ => None,
    }
}

fn named(name: &str) -> Option<Ty> {
    Some(match name {
        "Label" | "VertexId" => Ty::Scalar(Scalar::U32),
        "Vote" => Ty::Vote,
        "Activation" => Ty::Activation,
        "LabelTotal" => Ty::LabelTotal,
        "Vertex" => Ty::View(View::Vertex),
        "Neighbor" => Ty::View(View::Neighbor),
        "Candidate" => Ty::View(View::Candidate),
        _ => Ty::Scalar(Scalar::named(name)?),
    })
}

/// The functions of the traits `Program` and `Hints` that are translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Hook {
    PickLabel,
    LoadNeighbor,
    LabelScore,
    Carry,
    UpdateVertex,
    ScoreBound,
    Activation,
    LabelTotal,
    FallsWithTotal,
    FollowsFrequency,
    VotesForOwnLabel,
    Carries,
}

impl Hook {
    /// All hooks and declarations.
    pub(crate) const ALL: [Hook; 12] = [
        Hook::PickLabel,
        Hook::LoadNeighbor,
        Hook::LabelScore,
        Hook::Carry,
        Hook::UpdateVertex,
        Hook::ScoreBound,
        Hook::Activation,
        Hook::LabelTotal,
        Hook::FallsWithTotal,
        Hook::FollowsFrequency,
        Hook::VotesForOwnLabel,
        Hook::Carries,
    ];

    /// Returns the function's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Hook::PickLabel => "pick_label",
            Hook::LoadNeighbor => "load_neighbor",
            Hook::LabelScore => "label_score",
            Hook::Carry => "carry",
            Hook::UpdateVertex => "update_vertex",
            Hook::ScoreBound => "score_bound",
            Hook::Activation => "activation",
            Hook::LabelTotal => "label_total",
            Hook::FallsWithTotal => "falls_with_total",
            Hook::FollowsFrequency => "follows_frequency",
            Hook::VotesForOwnLabel => "votes_for_own_label",
            Hook::Carries => "carries",
        }
    }

    /// Returns whether the function belongs to the trait `Hints`, not to `Program`.
    pub(crate) fn is_hint(self) -> bool {
        match self {
            Hook::ScoreBound
            | Hook::FallsWithTotal
            | Hook::FollowsFrequency
            | Hook::VotesForOwnLabel
            | Hook::Carries => true,
            Hook::PickLabel
            | Hook::LoadNeighbor
            | Hook::LabelScore
            | Hook::Carry
            | Hook::UpdateVertex
            | Hook::Activation
            | Hook::LabelTotal => false,
        }
    }

    /// Returns the signature that the function must have.
    pub(crate) fn signature(self, score: Scalar) -> Signature {
        let vertex = Ty::View(View::Vertex);
        let pair = vec![vertex, Ty::View(View::Neighbor)];
        let (label, score) = (Ty::Scalar(Scalar::U32), Ty::Scalar(score));
        let (parameters, result) = match self {
            Hook::PickLabel => (vec![vertex], label),
            Hook::LoadNeighbor => (pair, Ty::Vote),
            Hook::LabelScore => (vec![vertex, Ty::View(View::Candidate)], score),
            Hook::Carry => (pair, Ty::Scalar(Scalar::F32)),
            Hook::UpdateVertex => (vec![Ty::View(View::VertexMut), label, score], label),
            Hook::ScoreBound => (vec![Ty::Scalar(Scalar::U64)], score),
            Hook::Activation => (Vec::new(), Ty::Activation),
            Hook::LabelTotal => (Vec::new(), Ty::LabelTotal),
            Hook::FallsWithTotal
            | Hook::FollowsFrequency
            | Hook::VotesForOwnLabel
            | Hook::Carries => (Vec::new(), Ty::Scalar(Scalar::Bool)),
        };
        Signature { method: true, parameters, result }
    }

    /// Rejects a signature that is not this hook's.
    pub(crate) fn check(
        self,
        found: &Signature,
        score: Scalar,
        span: Span,
    ) -> Result<(), Diagnostic> {
        let expected = self.signature(score);
        if *found == expected {
            return Ok(());
        }
        let parameters: Vec<_> = expected.parameters.iter().map(|ty| ty.name()).collect();
        let (name, result) = (self.name(), expected.result.name());
        let message = format!("`{name}` has other parameters or another result than this");
        let help = format!("it takes (&self, {}) and returns {result}", parameters.join(", "));
        Err(Diagnostic::new(span, message, help.replace("(&self, )", "(&self)")))
    }
}
