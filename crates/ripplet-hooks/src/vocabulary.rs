//! The names of the language: the tables that the checker looks them up in, and a list of all
//! names.

use crate::constant::FLOAT_CONSTANTS;
use crate::ir::{Field, Scalar, View};
use crate::methods;
use crate::program::mathematics;
use crate::signature::Hook;

/// A field or method of a view.
struct ViewName {
    name: &'static str,
    views: &'static [View],
    field: Field,
    scalar: Scalar,
}

const VERTICES: &[View] = &[View::Vertex, View::VertexMut, View::Neighbor];
const ALL: &[View] = &[View::Vertex, View::VertexMut, View::Neighbor, View::Candidate];
const NEIGHBOR: &[View] = &[View::Neighbor];
const CANDIDATE: &[View] = &[View::Candidate];
const UPDATED: &[View] = &[View::VertexMut];

const fn view_name(
    name: &'static str,
    views: &'static [View],
    field: Field,
    scalar: Scalar,
) -> ViewName {
    ViewName { name, views, field, scalar }
}

/// The fields of the views, `v.name`.
const FIELDS: [ViewName; 6] = [
    view_name("id", VERTICES, Field::Id, Scalar::U32),
    view_name("label", ALL, Field::Label, Scalar::U32),
    view_name("weight", NEIGHBOR, Field::Weight, Scalar::U32),
    view_name("frequency", CANDIDATE, Field::Frequency, Scalar::U64),
    view_name("total_votes", CANDIDATE, Field::TotalVotes, Scalar::U64),
    view_name("grand_total", CANDIDATE, Field::GrandTotal, Scalar::U64),
];

/// The methods of the views without arguments, `v.name()`.
const METHODS: [ViewName; 6] = [
    view_name("degree", VERTICES, Field::Degree, Scalar::U32),
    view_name("round", VERTICES, Field::Round, Scalar::U32),
    view_name("carried", UPDATED, Field::Carried, Scalar::F32),
    view_name("frequency", UPDATED, Field::Frequency, Scalar::U64),
    view_name("total_votes", UPDATED, Field::TotalVotes, Scalar::U64),
    view_name("total", CANDIDATE, Field::Total, Scalar::U32),
];

/// The variants of `Activation`, in the order of their numbers.
pub(crate) const ACTIVATIONS: [&str; 3] = ["Disagreement", "Change", "Always"];

/// The variants of `LabelTotal`, in the order of their numbers.
pub(crate) const LABEL_TOTALS: [&str; 3] = ["None", "Members", "Volume"];

/// The schedules that a program can name.
const SCHEDULES: [&str; 4] = ["phased", "sync", "asynchronous", "cdlp"];

fn look_up(names: &[ViewName], view: View, name: &str) -> Option<(Field, Scalar)> {
    let found = names.iter().find(|known| known.name == name && known.views.contains(&view))?;
    Some((found.field, found.scalar))
}

/// Returns the field of a view by its name.
pub(crate) fn view_field(view: View, name: &str) -> Option<(Field, Scalar)> {
    look_up(&FIELDS, view, name)
}

/// Returns the method without arguments of a view by its name.
pub(crate) fn view_method(view: View, name: &str) -> Option<(Field, Scalar)> {
    look_up(&METHODS, view, name)
}

/// The kind of a name of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A function of the trait `Program` or `Hints`: a hook, a declaration or a promise.
    Hook,
    /// A type.
    Type,
    /// A field or a method of a view or of a vote.
    View,
    /// A value of `Activation`, `LabelTotal` or `Schedule`, or a constant such as `NO_LABEL`.
    Value,
    /// A function that every hook can call.
    Function,
    /// A method of integers or of `f32`.
    Method,
    /// A constant of a scalar type, such as `MAX`.
    Constant,
    /// An attribute of a program's text.
    Attribute,
}

/// Returns every name of the language of hooks as a program writes it: `v.total_votes()`, `Activation::Change`,
/// `pow`.
///
/// Names of views are written `Candidate.cast`, methods of views with brackets.
pub fn vocabulary() -> Vec<(Kind, String)> {
    let mut names = Vec::new();
    let mut add = |kind, new: &mut dyn Iterator<Item = String>| {
        names.extend(new.map(|name| (kind, name)));
    };
    let owned = |name: &&str| (*name).to_owned();
    add(Kind::Hook, &mut Hook::ALL.iter().map(|hook| hook.name().to_owned()));
    add(Kind::Hook, &mut ["name", "schedule"].iter().map(owned));
    let types =
        ["Program", "Score", "Label", "VertexId", "Vote", "Activation", "LabelTotal", "Schedule"];
    add(Kind::Type, &mut types.iter().map(owned));
    add(Kind::Type, &mut ALL.iter().map(|view| bare_name(*view).to_owned()));
    add(Kind::View, &mut names_of_views(&FIELDS, ""));
    add(Kind::View, &mut names_of_views(&METHODS, "()"));
    add(Kind::View, &mut VERTICES.iter().map(|view| format!("{}.random()", bare_name(*view))));
    add(Kind::View, &mut ["Vote.label", "Vote.weight"].iter().map(owned));
    add(Kind::Value, &mut ACTIVATIONS.iter().map(|name| format!("Activation::{name}")));
    add(Kind::Value, &mut LABEL_TOTALS.iter().map(|name| format!("LabelTotal::{name}")));
    add(Kind::Value, &mut SCHEDULES.iter().map(|name| format!("Schedule::{name}()")));
    add(Kind::Value, &mut ["NO_LABEL", "Vote::NONE"].iter().map(owned));
    add(Kind::Function, &mut ["products_ge", "Vote::new", "f32::from_bits"].iter().map(owned));
    add(Kind::Function, &mut mathematics().into_iter());
    let methods = methods::OF_INTEGERS.iter().chain(&methods::OF_SIGNED).chain(&methods::OF_FLOATS);
    add(Kind::Method, &mut methods.map(|(name, _)| (*name).to_owned()));
    add(Kind::Method, &mut methods::CHECKED.iter().map(|(name, _)| (*name).to_owned()));
    add(Kind::Constant, &mut ["MIN", "MAX", "BITS"].iter().map(owned));
    add(Kind::Constant, &mut FLOAT_CONSTANTS.iter().map(|(name, _)| (*name).to_owned()));
    add(Kind::Attribute, &mut ["label_program", "columns", "default", "len"].iter().map(owned));
    names.sort();
    names.dedup();
    names
}

/// Returns a view's name without `&mut`.
fn bare_name(view: View) -> &'static str {
    view.name().trim_start_matches("&mut ")
}

fn names_of_views<'a>(names: &'a [ViewName], call: &'a str) -> impl Iterator<Item = String> + 'a {
    names.iter().flat_map(move |known| {
        known.views.iter().map(move |view| format!("{}.{}{call}", bare_name(*view), known.name))
    })
}
