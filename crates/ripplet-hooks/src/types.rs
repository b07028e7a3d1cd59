//! Type inference.

use crate::ir::{Scalar, Type, View};

/// A type, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    /// A number or a truth value.
    Scalar(Scalar),
    /// The type shared by integer literals that must be equal: i32 unless something else determines
    /// it.
    Integer(Unknown),
    /// The type shared by float literals that must be equal.
    Float(Unknown),
    Vote,
    View(View),
    Activation,
    LabelTotal,
    Unit,
    /// The type of an expression that control never leaves; it unifies with every type.
    Never,
    /// The type of a refused expression; it unifies with every type, so that an error is reported
    /// once.
    Refused,
}

/// An index into the table of [`Inference`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unknown(usize);

/// Union-find forest of the unknown types; a root is either unknown or a known type.
#[derive(Debug, Default)]
pub(crate) struct Inference(Vec<Option<Ty>>);

impl Inference {
    /// Returns the type of a new integer literal.
    pub(crate) fn integer(&mut self) -> Ty {
        self.0.push(None);
        Ty::Integer(Unknown(self.0.len() - 1))
    }

    /// Returns the type of a new float literal.
    pub(crate) fn float(&mut self) -> Ty {
        self.0.push(None);
        Ty::Float(Unknown(self.0.len() - 1))
    }

    /// Returns what is known of a type so far.
    pub(crate) fn resolve(&mut self, ty: Ty) -> Ty {
        let (mut last, mut path) = (ty, Vec::new());
        while let Ty::Integer(Unknown(place)) | Ty::Float(Unknown(place)) = last {
            let Some(next) = self.0[place] else { break };
            path.push(place);
            last = next;
        }
        path.into_iter().for_each(|place| self.0[place] = Some(last));
        last
    }

    /// Unifies two types and returns the result, or `None` if they cannot be equal.
    pub(crate) fn unify(&mut self, a: Ty, b: Ty) -> Option<Ty> {
        let (a, b) = (self.resolve(a), self.resolve(b));
        match (a, b) {
            _ if a == b => Some(a),
            (Ty::Refused, _) | (_, Ty::Refused) => Some(Ty::Refused),
            (Ty::Never, other) | (other, Ty::Never) => Some(other),
            (Ty::Integer(Unknown(place)), known @ (Ty::Scalar(_) | Ty::Integer(_)))
            | (known @ Ty::Scalar(_), Ty::Integer(Unknown(place)))
                if !matches!(known, Ty::Scalar(scalar) if !scalar.is_integer()) =>
            {
                self.0[place] = Some(known);
                Some(known)
            }
            (Ty::Float(Unknown(place)), known @ (Ty::Scalar(Scalar::F32) | Ty::Float(_)))
            | (known @ Ty::Scalar(Scalar::F32), Ty::Float(Unknown(place))) => {
                self.0[place] = Some(known);
                Some(known)
            }
            _ => None,
        }
    }

    /// Returns the final type of a value; an integer of unknown type is i32, as in rustc.
    ///
    /// Returns `None` for a float of unknown type (rustc's f64) and for a type without values.
    pub(crate) fn settle(&mut self, ty: Ty) -> Option<Type> {
        match self.resolve(ty) {
            Ty::Scalar(scalar) => Some(Type::Scalar(scalar)),
            Ty::Integer(_) => Some(Type::Scalar(Scalar::I32)),
            Ty::Activation | Ty::LabelTotal => Some(Type::Scalar(Scalar::U32)),
            Ty::Vote => Some(Type::Vote),
            Ty::View(view) => Some(Type::View(view)),
            Ty::Unit => Some(Type::Unit),
            Ty::Float(_) | Ty::Never | Ty::Refused => None,
        }
    }
}

impl Ty {
    /// Returns the name for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Ty::Scalar(scalar) => scalar.name(),
            Ty::Integer(_) => "an integer",
            Ty::Float(_) => "a float",
            Ty::Vote => "Vote",
            Ty::View(view) => view.name(),
            Ty::Activation => "Activation",
            Ty::LabelTotal => "LabelTotal",
            Ty::Unit => "()",
            Ty::Never => "!",
            Ty::Refused => "something refused",
        }
    }

    /// Returns whether the type is a bool, a number, or a number of unknown type.
    pub(crate) fn is_scalar(self) -> bool {
        matches!(self, Ty::Scalar(_) | Ty::Integer(_) | Ty::Float(_))
    }
}

impl View {
    /// Returns the name as written in a signature.
    pub(crate) fn name(self) -> &'static str {
        match self {
            View::Vertex => "Vertex",
            View::VertexMut => "&mut VertexMut",
            View::Neighbor => "Neighbor",
            View::Candidate => "Candidate",
        }
    }
}
