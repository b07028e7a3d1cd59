//! The outline of a program's text: its struct, columns, constants and functions.

use crate::constant::read_constant;
use crate::error::{Diagnostic, Diagnostics};
use crate::ir::{Column, Len, Parameter, ParameterId, Scalar, Value};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

/// Functions that the macro writes (for a file: their defaults); a program cannot write them.
const WRITTEN_FOR_THE_USER: [&str; 3] = ["columns", "parameters", "device_source"];

/// Names of the views' own methods, which no column may have.
const TAKEN: [&str; 11] = [
    "degree",
    "round",
    "random",
    "carried",
    "frequency",
    "total_votes",
    "total",
    "context",
    "draft",
    "clone",
    "fmt",
];

/// Names with a meaning of their own in a program.
///
/// The text may define functions and constants with the names of those that hooks can call. Such a
/// name then refers to the text's own, as in Rust.
const BUILT_IN: [&str; 23] = [
    "Program",
    "Hints",
    "Vertex",
    "VertexMut",
    "Neighbor",
    "Candidate",
    "Vote",
    "Label",
    "LabelTotal",
    "Activation",
    "Schedule",
    "ColumnSpec",
    "ColumnKind",
    "DeviceSource",
    "Scalar",
    "NO_LABEL",
    "products_ge",
    "math",
    "exp2",
    "exp",
    "log2",
    "ln",
    "powf",
];

/// A function of the text.
#[derive(Clone, Copy)]
pub(crate) struct Definition<'a> {
    pub(crate) public: bool,
    pub(crate) attributes: &'a [syn::Attribute],
    pub(crate) signature: &'a syn::Signature,
    pub(crate) body: &'a syn::Block,
}

/// The functions and constants that a text defines.
#[derive(Default)]
pub(crate) struct Scope<'a> {
    /// Free functions, by name.
    pub(crate) functions: HashMap<String, Definition<'a>>,
    /// Methods of the program's struct, hooks included, by name.
    pub(crate) methods: HashMap<String, Definition<'a>>,
    pub(crate) constants: HashMap<String, Value>,
}

/// The outline of a program's text.
pub(crate) struct Outline<'a> {
    pub(crate) scope: Scope<'a>,
    pub(crate) type_name: String,
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) columns: Vec<Column>,
    pub(crate) score: Scalar,
    pub(crate) schedule: Option<String>,
    /// The program's impl, for the place of errors about missing functions.
    pub(crate) implementation: &'a syn::ItemImpl,
}

impl<'a> Scope<'a> {
    /// Reads the free functions and constants among these items.
    pub(crate) fn read(items: &'a [syn::Item], errors: &mut Diagnostics) -> Scope<'a> {
        let mut scope = Scope::default();
        for item in items {
            match item {
                syn::Item::Fn(item) => {
                    let definition = Definition {
                        public: matches!(item.vis, syn::Visibility::Public(_)),
                        attributes: &item.attrs,
                        signature: &item.sig,
                        body: &item.block,
                    };
                    define(&mut scope.functions, definition, errors);
                }
                syn::Item::Const(item) => scope.define_constant(item, errors),
                _ => {}
            }
        }
        scope
    }

    fn define_constant(&mut self, item: &'a syn::ItemConst, errors: &mut Diagnostics) {
        // A constant of another type is left to Rust: hooks cannot name it.
        let Some(scalar) = scalar_named(&item.ty) else { return };
        let value = match read_constant(&item.expr, scalar) {
            Ok(value) => value,
            Err(error) => return errors.push(error),
        };
        if self.constants.insert(item.ident.to_string(), value).is_some() {
            let message = format!("the constant {} is defined twice", item.ident);
            errors.push(Diagnostic::plain(item.ident.span(), message));
        }
    }
}

fn define<'a>(
    functions: &mut HashMap<String, Definition<'a>>,
    definition: Definition<'a>,
    errors: &mut Diagnostics,
) {
    let name = &definition.signature.ident;
    if functions.insert(name.to_string(), definition).is_some() {
        let message = format!("the function `{name}` is defined twice");
        errors.push(Diagnostic::plain(name.span(), message));
    }
}

impl<'a> Outline<'a> {
    /// Reads a program's items. Returns `None` if a missing part leaves nothing to check.
    pub(crate) fn read(items: &'a [syn::Item], errors: &mut Diagnostics) -> Option<Outline<'a>> {
        refuse_built_in_names(items, errors);
        let scope = Scope::read(items, errors);
        let implementation = find_implementation(items, errors)?;
        let ident = implemented_type(implementation, errors)?;
        let (parameters, columns) = read_structs(items, ident, errors)?;
        let type_name = ident.unraw().to_string();
        let mut outline = Outline {
            scope,
            name: snake_case(&type_name),
            type_name,
            parameters,
            columns,
            score: Scalar::U64,
            schedule: None,
            implementation,
        };
        outline.read_implementation(errors);
        outline.read_methods(items, ident, errors);
        Some(outline)
    }

    fn read_implementation(&mut self, errors: &mut Diagnostics) {
        let mut score = None;
        for item in &self.implementation.items {
            match item {
                syn::ImplItem::Type(item) if item.ident == "Score" => {
                    score = scalar_named(&item.ty);
                    if !matches!(score, Some(Scalar::U64 | Scalar::I64 | Scalar::F32)) {
                        score = Some(Scalar::U64);
                        let message = "a score cannot be of this type";
                        let help = "scores are u64, i64 or f32";
                        errors.push(Diagnostic::new(item.ty.span(), message, help));
                    }
                }
                syn::ImplItem::Fn(item) => self.read_declaration(item, errors),
                other => errors.push(Diagnostic::new(
                    other.span(),
                    "this does not belong in a program's impl",
                    "it holds `type Score` and the hooks",
                )),
            }
        }
        match score {
            Some(score) => self.score = score,
            None => errors.push(Diagnostic::new(
                self.implementation.self_ty.span(),
                "the program does not say what its scores are",
                "write `type Score = u64;` (or i64, f32) in its impl",
            )),
        }
    }

    /// Reads a function of the program's impl. `name` and `schedule` are evaluated here instead of
    /// translated.
    fn read_declaration(&mut self, item: &'a syn::ImplItemFn, errors: &mut Diagnostics) {
        let read = match item.sig.ident.to_string().as_str() {
            "name" => read_name(item).map(|name| self.name = name),
            "schedule" => read_schedule(item).map(|name| self.schedule = Some(name)),
            name if WRITTEN_FOR_THE_USER.contains(&name) => Err(Diagnostic::new(
                item.sig.ident.span(),
                format!("`{name}` is not written by hand"),
                "it follows from the struct, from `#[columns]` and from the hooks",
            )),
            _ => {
                let definition = Definition {
                    public: false,
                    attributes: &item.attrs,
                    signature: &item.sig,
                    body: &item.block,
                };
                define(&mut self.scope.methods, definition, errors);
                Ok(())
            }
        };
        read.unwrap_or_else(|error| errors.push(error));
    }

    /// Reads the functions of the struct's inherent impls.
    fn read_methods(
        &mut self,
        items: &'a [syn::Item],
        ident: &syn::Ident,
        errors: &mut Diagnostics,
    ) {
        for item in items {
            let syn::Item::Impl(own) = item else { continue };
            let of_it = single_name(&own.self_ty).is_some_and(|name| name == ident);
            if own.trait_.is_some() || !of_it {
                continue;
            }
            for item in &own.items {
                if let syn::ImplItem::Fn(item) = item {
                    let definition = Definition {
                        public: matches!(item.vis, syn::Visibility::Public(_)),
                        attributes: &item.attrs,
                        signature: &item.sig,
                        body: &item.block,
                    };
                    define(&mut self.scope.methods, definition, errors);
                }
            }
        }
    }
}

/// Rejects items that give another meaning to names that the translation knows.
fn refuse_built_in_names(items: &[syn::Item], errors: &mut Diagnostics) {
    for item in items {
        let name = match item {
            syn::Item::Struct(item) => &item.ident,
            syn::Item::Enum(item) => &item.ident,
            syn::Item::Type(item) => &item.ident,
            syn::Item::Trait(item) => &item.ident,
            syn::Item::Union(item) => &item.ident,
            syn::Item::Static(item) => &item.ident,
            syn::Item::Mod(item) => &item.ident,
            syn::Item::Use(item) => {
                refuse_imports(&item.tree, false, errors);
                continue;
            }
            _ => continue,
        };
        if is_built_in(name) {
            errors.push(means_something_else(name));
        }
    }
}

/// Rejects imports of built-in names from anywhere but the module `hooks`.
fn refuse_imports(tree: &syn::UseTree, of_hooks: bool, errors: &mut Diagnostics) {
    match tree {
        syn::UseTree::Path(path) => {
            let of_hooks = of_hooks || path.ident == "hooks";
            refuse_imports(&path.tree, of_hooks, errors);
        }
        syn::UseTree::Group(group) => {
            group.items.iter().for_each(|tree| refuse_imports(tree, of_hooks, errors));
        }
        syn::UseTree::Name(name) if !of_hooks && is_built_in(&name.ident) => {
            errors.push(means_something_else(&name.ident));
        }
        syn::UseTree::Rename(name) if is_built_in(&name.rename) => {
            errors.push(means_something_else(&name.rename));
        }
        _ => {}
    }
}

fn is_built_in(name: &syn::Ident) -> bool {
    BUILT_IN.iter().any(|taken| name == taken) || Scalar::named(&name.to_string()).is_some()
}

fn means_something_else(name: &syn::Ident) -> Diagnostic {
    let message = format!("`{name}` means something else in a program");
    Diagnostic::new(name.span(), message, "choose another name")
}

fn find_implementation<'a>(
    items: &'a [syn::Item],
    errors: &mut Diagnostics,
) -> Option<&'a syn::ItemImpl> {
    let mut found = items.iter().filter_map(|item| match item {
        syn::Item::Impl(item) => {
            let (_, path, _) = item.trait_.as_ref()?;
            (path.segments.last()?.ident == "Program").then_some(item)
        }
        _ => None,
    });
    let first = found.next();
    if let Some(second) = found.next() {
        let message = "a second program";
        errors.push(Diagnostic::new(second.self_ty.span(), message, "one module is one program"));
    }
    if first.is_none() {
        errors.push(Diagnostic::new(
            proc_macro2::Span::call_site(),
            "there is no program here",
            "write `pub struct Mine;` and `impl Program for Mine { … }`",
        ));
    }
    first
}

fn implemented_type<'a>(
    item: &'a syn::ItemImpl,
    errors: &mut Diagnostics,
) -> Option<&'a syn::Ident> {
    if let Some(generic) = item.generics.params.first() {
        let message = "a program is not generic";
        errors.push(Diagnostic::new(generic.span(), message, "give the program scalar parameters"));
    }
    let name = single_name(&item.self_ty);
    if name.is_none() {
        let message = "a program is a struct of this module";
        errors.push(Diagnostic::plain(item.self_ty.span(), message));
    }
    name
}

type Structs = (Vec<Parameter>, Vec<Column>);

fn read_structs(
    items: &[syn::Item],
    ident: &syn::Ident,
    errors: &mut Diagnostics,
) -> Option<Structs> {
    let structs = || {
        items.iter().filter_map(|item| match item {
            syn::Item::Struct(item) => Some(item),
            _ => None,
        })
    };
    let mut programs = structs().filter(|item| item.ident == *ident);
    let Some(program) = programs.next() else {
        let message = format!("there is no struct {ident} here");
        errors.push(Diagnostic::new(ident.span(), message, format!("write `pub struct {ident};`")));
        return None;
    };
    if let Some(twice) = programs.next() {
        let message = format!("the struct {ident} is defined twice");
        errors.push(Diagnostic::plain(twice.ident.span(), message));
    }
    let parameters = read_parameters(program, errors);
    let mut columns = Vec::new();
    for (number, item) in structs().filter(|item| is_columns(item)).enumerate() {
        if number > 0 {
            let message = "a second `#[columns]`";
            errors.push(Diagnostic::new(item.ident.span(), message, "put all columns into one"));
        }
        columns.extend(read_columns(item, &parameters, errors));
    }
    Some((parameters, columns))
}

/// Returns whether a struct is marked `#[columns]`.
pub(crate) fn is_columns(item: &syn::ItemStruct) -> bool {
    item.attrs.iter().any(|attribute| attribute.path().is_ident("columns"))
}

fn read_parameters(item: &syn::ItemStruct, errors: &mut Diagnostics) -> Vec<Parameter> {
    let help = "parameters are named scalars: `pub struct Mine { pub decay: f32 }`; scalars are \
        u32, i32, u64, i64, f32 and bool";
    if let syn::Fields::Unnamed(fields) = &item.fields {
        errors.push(Diagnostic::new(fields.span(), "parameters without names", help));
    }
    if let Some(generic) = item.generics.params.first() {
        errors.push(Diagnostic::new(generic.span(), "a program is not generic", help));
    }
    let named = item.fields.iter().filter_map(|field| Some((field.ident.as_ref()?, field)));
    let mut parameters = Vec::new();
    for (ident, field) in named {
        refuse_conditions(&field.attrs, errors);
        let name = ident.to_string();
        match scalar_named(&field.ty) {
            _ if name.starts_with("r#") => errors.push(raw_name(ident)),
            _ if parameters.iter().any(|known: &Parameter| known.name == name) => errors.push(
                Diagnostic::plain(ident.span(), format!("the parameter `{name}` is defined twice")),
            ),
            Some(scalar) => parameters.push(Parameter { name, scalar }),
            None => {
                errors.push(Diagnostic::new(
                    field.ty.span(),
                    "a parameter cannot be of this type",
                    help,
                ));
            }
        }
    }
    parameters
}

fn read_columns(
    item: &syn::ItemStruct,
    parameters: &[Parameter],
    errors: &mut Diagnostics,
) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for field in &item.fields {
        match read_column(field, parameters) {
            Ok(column) if columns.iter().any(|known| known.name == column.name) => {
                let message = format!("the column `{}` is defined twice", column.name);
                errors.push(Diagnostic::plain(field.span(), message));
            }
            Ok(column) => columns.push(column),
            Err(error) => errors.push(error),
        }
    }
    columns
}

fn read_column(field: &syn::Field, parameters: &[Parameter]) -> Result<Column, Diagnostic> {
    let help = "columns are named: `strength: f32` or, with `#[len(memory)]` or `#[len(3)]`, `heard: [u32]`";
    let ident = field.ident.as_ref();
    let ident = ident.ok_or_else(|| Diagnostic::new(field.span(), "a column has no name", help))?;
    let name = ident.to_string();
    if name.starts_with("r#") {
        return Err(raw_name(ident));
    }
    if TAKEN.contains(&name.as_str()) || name.starts_with("set_") || name.starts_with("column_") {
        let message = format!("a column cannot be called `{name}`: views have a method like that");
        return Err(Diagnostic::new(ident.span(), message, "choose another name"));
    }
    let (element, many) = match &field.ty {
        syn::Type::Slice(slice) => (&*slice.elem, true),
        ty => (ty, false),
    };
    let scalar = scalar_named(element).filter(|s| matches!(s, Scalar::U32 | Scalar::F32));
    let scalar = scalar.ok_or_else(|| {
        Diagnostic::new(
            field.ty.span(),
            "a column cannot be of this type",
            "u32 or f32, or [u32] or [f32]",
        )
    })?;
    let mut column = Column { name, scalar, len: Len::One, default: None, written: false };
    let mut len = None;
    for attribute in &field.attrs {
        if attribute.path().is_ident("default") {
            let value: syn::Expr = attribute.parse_args()?;
            column.default = Some(read_constant(&value, scalar)?);
        } else if attribute.path().is_ident("len") {
            len = Some(read_len(&attribute.parse_args()?, parameters)?);
        } else if !is_harmless(attribute) {
            let help =
                "columns have `#[default(VALUE)]` and `#[len(PARAMETER)]` or `#[len(NUMBER)]`";
            return Err(Diagnostic::new(attribute.span(), "an unknown attribute", help));
        }
    }
    column.len = match (len, many) {
        (None, false) => Len::One,
        (Some(len), true) => len,
        (None, true) => {
            let help = "write `#[len(PARAMETER)]` before it, with a u32 parameter of the program, or `#[len(NUMBER)]`";
            return Err(Diagnostic::new(ident.span(), "how many values has a vertex?", help));
        }
        (Some(_), false) => {
            let help = format!("write `[{}]`", scalar.name());
            return Err(Diagnostic::new(field.ty.span(), "a `len`, but one value", help));
        }
    };
    Ok(column)
}

fn raw_name(ident: &syn::Ident) -> Diagnostic {
    Diagnostic::new(ident.span(), "a keyword as a name", "choose another name")
}

fn read_len(value: &syn::Expr, parameters: &[Parameter]) -> Result<Len, Diagnostic> {
    let refused = || {
        let help = "a length is a u32 parameter of the program, or a number from 1";
        Diagnostic::new(value.span(), "this is not a length", help)
    };
    match value {
        syn::Expr::Path(path) => {
            let name = path.path.require_ident().map_err(|_| refused())?.unraw().to_string();
            let place = parameters
                .iter()
                .position(|known| known.name == name && known.scalar == Scalar::U32);
            place.map(|place| Len::Parameter(ParameterId(place))).ok_or_else(refused)
        }
        _ => match read_constant(value, Scalar::U32) {
            Ok(Value::U32(len @ 1..)) => Ok(Len::Fixed(len)),
            _ => Err(refused()),
        },
    }
}

/// Returns whether an attribute leaves a program's meaning unchanged.
pub(crate) fn is_harmless(attribute: &syn::Attribute) -> bool {
    let known = ["doc", "inline", "allow", "expect", "warn", "deny", "must_use"];
    let path = attribute.path();
    known.iter().any(|name| path.is_ident(name))
        || path.segments.first().is_some_and(|first| first.ident == "rustfmt")
}

/// Rejects attributes of a field or a body that may change its meaning: above all `#[cfg(…)]`.
pub(crate) fn refuse_conditions(attributes: &[syn::Attribute], errors: &mut Diagnostics) {
    for attribute in attributes.iter().filter(|attribute| !is_harmless(attribute)) {
        let help = "what is translated is the text as it stands: no `#[cfg]`, no macros";
        errors.push(Diagnostic::new(attribute.span(), "this attribute is not allowed here", help));
    }
}

fn single_name(ty: &syn::Type) -> Option<&syn::Ident> {
    match ty {
        syn::Type::Path(syn::TypePath { qself: None, path }) => path.get_ident(),
        _ => None,
    }
}

fn scalar_named(ty: &syn::Type) -> Option<Scalar> {
    let name = single_name(ty)?.to_string();
    if name == "Label" { Some(Scalar::U32) } else { Scalar::named(&name) }
}

/// Reads the name from `fn name(&self) -> &str { "mine" }`.
fn read_name(item: &syn::ImplItemFn) -> Result<String, Diagnostic> {
    match only_expression(&item.block) {
        Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(name), .. })) => Ok(name.value()),
        _ => Err(Diagnostic::new(
            item.block.span(),
            "a program's name is not computed",
            "write nothing but the name in quotes",
        )),
    }
}

/// Reads the schedule from `fn schedule(&self) -> Schedule { Schedule::phased() }`.
fn read_schedule(item: &syn::ImplItemFn) -> Result<String, Diagnostic> {
    let name = only_expression(&item.block).and_then(|value| {
        let syn::Expr::Call(call) = value else { return None };
        let syn::Expr::Path(path) = &*call.func else { return None };
        let mut names = path.path.segments.iter().map(|segment| &segment.ident);
        let of_schedule = call.args.is_empty() && names.next()? == "Schedule";
        let name = names.next().filter(|_| of_schedule)?;
        names.next().is_none().then(|| name.to_string())
    });
    name.ok_or_else(|| {
        let help = "write nothing but `Schedule::phased()`, `sync()`, `asynchronous()` or `cdlp()`";
        Diagnostic::new(item.block.span(), "a program's schedule is not computed", help)
    })
}

fn only_expression(block: &syn::Block) -> Option<&syn::Expr> {
    match &block.stmts[..] {
        [syn::Stmt::Expr(value, None)] => Some(value),
        _ => None,
    }
}

/// Converts `HopAttenuated` to `hop_attenuated`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
