//! Expansion of `#[label_program]`: the module's own Rust, and the items derived from it.

use crate::cpp;
use crate::error::Diagnostic;
use crate::ir::{Column, Len, Module, Scalar, Value};
use crate::limits::check_tokens;
use crate::outline::is_columns;
use crate::program::translate;
use crate::signature::Hook;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::visit_mut::VisitMut;

/// Expands `#[label_program]` on a module.
///
/// The module stays as it is, with these changes:
///
/// - Functions get `#[inline]`.
/// - The struct of `#[columns]` becomes a trait of accessors on the views.
/// - The program's impl gets `name` and `columns`.
/// - The functions of the program's impl that belong to the trait `Hints` move to an impl of it,
///   which gets `has_columns`, `parameters`, `device_source`, if the program has no `carry`, a
///   `carries` that says so, and, if it leaves votes as they are, a `votes_for_own_label`.
///
/// The module must import the names that these need by `use …::hooks::*`.
///
/// Errors become `compile_error!` at the tokens that they are about. Of a refused module, only the
/// items that other code may name remain, so that rustc does not report the same errors again.
pub fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    if let Some(argument) = arguments.into_iter().next() {
        let message = "`#[label_program]` has no arguments";
        return compile_error(&Diagnostic::plain(argument.span(), message));
    }
    if let Err(error) = check_tokens(item.clone()) {
        return compile_error(&error);
    }
    let mut module: syn::ItemMod = match syn::parse2(item) {
        Ok(module) => module,
        Err(error) => {
            let help = "write `#[label_program] mod name { … }`, with the struct, its `impl \
                Program` and the functions inside";
            let message = "`#[label_program]` stands before a module";
            return compile_error(&Diagnostic::new(error.span(), message, help));
        }
    };
    let Some((_, items)) = &mut module.content else {
        let message = "the module's text must stand here, not in another file";
        return compile_error(&Diagnostic::plain(module.ident.span(), message));
    };
    match translate(items) {
        Ok(program) => {
            let columns = take_columns(items);
            inline(items);
            let hints = add_methods(items, &program);
            items.extend(hints);
            items.extend(accessors(columns, &program.columns));
            module.into_token_stream()
        }
        Err(errors) => {
            take_columns(items);
            items.iter_mut().for_each(|item| Emptied.visit_item_mut(item));
            let hints = replace_implementation(items);
            items.extend(hints);
            let errors = errors.iter().map(compile_error);
            quote! { #[allow(unused)] #module #(#errors)* }
        }
    }
}

fn compile_error(error: &Diagnostic) -> TokenStream {
    let help = error.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
    let message = format!("{}{help}", error.message);
    quote_spanned! { error.span => ::core::compile_error!(#message); }
}

/// Replaces the bodies of functions by `unimplemented!()`.
struct Emptied;

impl VisitMut for Emptied {
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        block.stmts = vec![syn::Stmt::Expr(syn::parse_quote!(::core::unimplemented!()), None)];
    }
}

/// Removes the struct of columns and returns its name.
fn take_columns(items: &mut Vec<syn::Item>) -> Option<Ident> {
    let of_columns = |item: &syn::Item| matches!(item, syn::Item::Struct(s) if is_columns(s));
    let place = items.iter().position(of_columns)?;
    match items.remove(place) {
        syn::Item::Struct(columns) => Some(columns.ident),
        _ => None,
    }
}

/// Returns the program's impl.
fn implementation(items: &mut [syn::Item]) -> Option<&mut syn::ItemImpl> {
    items.iter_mut().find_map(|item| match item {
        syn::Item::Impl(item) => {
            let (_, path, _) = item.trait_.as_ref()?;
            path.segments.last().is_some_and(|last| last.ident == "Program").then_some(item)
        }
        _ => None,
    })
}

/// Replaces the impl of a refused program by one that rustc accepts; returns an impl of `Hints`.
fn replace_implementation(items: &mut [syn::Item]) -> Option<syn::Item> {
    let implementation = implementation(items)?;
    implementation.items = vec![
        syn::parse_quote! { type Score = u64; },
        syn::parse_quote! { fn name(&self) -> &str { ::core::unimplemented!() } },
        syn::parse_quote! {
            fn label_score(&self, _: Vertex<'_>, _: Candidate<'_>) -> u64 {
                ::core::unimplemented!()
            }
        },
    ];
    Some(hints_beside(implementation, Vec::new()))
}

/// Returns an impl of `Hints` for the type of a program's impl.
fn hints_beside(program: &syn::ItemImpl, functions: Vec<syn::ImplItem>) -> syn::Item {
    let mut hints = syn::ItemImpl { attrs: Vec::new(), items: functions, ..program.clone() };
    let path = hints.trait_.as_mut().and_then(|(_, path, _)| path.segments.last_mut());
    if let Some(last) = path {
        last.ident = Ident::new("Hints", last.ident.span());
    }
    hints.into()
}

/// Returns whether a function of a program's impl belongs to the trait `Hints`.
fn is_hint(item: &syn::ImplItem) -> bool {
    let syn::ImplItem::Fn(function) = item else { return false };
    Hook::ALL.iter().any(|hook| hook.is_hint() && function.sig.ident == hook.name())
}

/// Adds `#[inline]`, so that rustc can inline the hooks and their callees into the engine's loops
/// in another crate.
fn inline(items: &mut [syn::Item]) {
    let inlined = |attributes: &mut Vec<syn::Attribute>| {
        if !attributes.iter().any(|attribute| attribute.path().is_ident("inline")) {
            attributes.push(syn::parse_quote! { #[inline] });
        }
    };
    for item in items.iter_mut() {
        if let syn::Item::Fn(function) = item {
            inlined(&mut function.attrs);
        }
    }
    for item in implementation(items).into_iter().flat_map(|found| &mut found.items) {
        if let syn::ImplItem::Fn(hook) = item {
            inlined(&mut hook.attrs);
        }
    }
}

/// Adds the methods that follow from the program's text; returns the impl of `Hints`.
fn add_methods(items: &mut [syn::Item], program: &Module) -> Option<syn::Item> {
    let implementation = implementation(items)?;
    let written = |name: &str| {
        let is_it =
            |item: &syn::ImplItem| matches!(item, syn::ImplItem::Fn(f) if f.sig.ident == name);
        implementation.items.iter().any(is_it)
    };
    let (name, source) = (&program.name, cpp::emit(program));
    let columns = program.columns.iter().map(|column| column_spec(column, program));
    let parameters = program.parameters.iter().map(|parameter| {
        let (kind, field) = (variant(parameter.scalar), format_ident!("{}", parameter.name));
        quote! { Scalar::#kind(self.#field) }
    });
    let mut added: Vec<syn::ImplItem> = vec![syn::parse_quote! {
        fn columns(&self) -> ::std::vec::Vec<ColumnSpec> { ::std::vec![#(#columns),*] }
    }];
    if !written("name") {
        added.push(syn::parse_quote! { fn name(&self) -> &str { #name } });
    }
    let mut hints: Vec<syn::ImplItem> = vec![
        syn::parse_quote! {
            fn parameters(&self) -> ::std::vec::Vec<Scalar> { ::std::vec![#(#parameters),*] }
        },
        syn::parse_quote! {
            fn device_source(&self) -> ::core::option::Option<DeviceSource> {
                ::core::option::Option::Some(DeviceSource {
                    text: ::std::borrow::Cow::Borrowed(#source),
                })
            }
        },
    ];
    if !written("carry") && !written("carries") {
        hints.push(syn::parse_quote! { #[inline] fn carries(&self) -> bool { false } });
    }
    let votes = ["pick_label", "load_neighbor", "votes_for_own_label"];
    if !votes.into_iter().any(written) {
        hints.push(syn::parse_quote! { #[inline] fn votes_for_own_label(&self) -> bool { true } });
    }
    if program.columns.is_empty() {
        hints.push(syn::parse_quote! { #[inline] fn has_columns(&self) -> bool { false } });
    }
    let (moved, kept): (Vec<_>, Vec<_>) =
        std::mem::take(&mut implementation.items).into_iter().partition(is_hint);
    implementation.items = kept;
    implementation.items.extend(added);
    hints.extend(moved);
    Some(hints_beside(implementation, hints))
}

fn column_spec(column: &Column, program: &Module) -> TokenStream {
    let (name, written, kind) = (&column.name, column.written, variant(column.scalar));
    let len = match column.len {
        Len::One => quote! { 1 },
        Len::Fixed(len) => quote! { #len },
        Len::Parameter(parameter) => {
            let field = format_ident!("{}", program.parameters[parameter.0].name);
            quote! { self.#field }
        }
    };
    let default = match column.default {
        Some(value) => {
            let value = scalar_value(value);
            quote! { ::core::option::Option::Some(#value) }
        }
        None => quote! { ::core::option::Option::None },
    };
    quote! {
        ColumnSpec {
            name: ::std::borrow::Cow::Borrowed(#name),
            kind: ColumnKind::#kind,
            len: #len,
            default: #default,
            written: #written,
        }
    }
}

fn variant(scalar: Scalar) -> Ident {
    let name = match scalar {
        Scalar::U32 => "U32",
        Scalar::I32 => "I32",
        Scalar::U64 => "U64",
        Scalar::I64 => "I64",
        Scalar::F32 => "F32",
        Scalar::Bool => "Bool",
    };
    Ident::new(name, Span::call_site())
}

fn scalar_value(value: Value) -> TokenStream {
    match value {
        Value::U32(number) => quote! { Scalar::U32(#number) },
        Value::I32(number) => quote! { Scalar::I32(#number) },
        Value::U64(number) => quote! { Scalar::U64(#number) },
        Value::I64(number) => quote! { Scalar::I64(#number) },
        Value::Bool(truth) => quote! { Scalar::Bool(#truth) },
        Value::F32(number) => {
            let bits = number.to_bits();
            quote! { Scalar::F32(f32::from_bits(#bits)) }
        }
    }
}

/// Returns the traits that give views a method for each column.
fn accessors(name: Option<Ident>, columns: &[Column]) -> Vec<syn::Item> {
    let Some(name) = name else { return Vec::new() };
    let name_mut = format_ident!("{name}Mut");
    let parts: Vec<_> =
        columns.iter().enumerate().map(|(slot, column)| Accessor::of(slot, column)).collect();
    let getters = parts.iter().map(|part| &part.getter);
    let setters = parts.iter().map(|part| &part.setter);
    let mut items: Vec<syn::Item> = vec![
        syn::parse_quote! { #[allow(dead_code, non_snake_case)] trait #name { #(#getters;)* } },
        syn::parse_quote! { #[allow(dead_code, non_snake_case)] trait #name_mut { #(#setters;)* } },
    ];
    for view in ["Vertex", "Neighbor", "VertexMut"] {
        let view = Ident::new(view, Span::call_site());
        let methods = parts.iter().map(|Accessor { getter, get, .. }| {
            quote! { #[inline] #getter { #get } }
        });
        items.push(syn::parse_quote! { impl #name for #view<'_> { #(#methods)* } });
    }
    let methods = parts.iter().map(|Accessor { setter, set, .. }| {
        quote! { #[inline] #setter { #set } }
    });
    items.push(syn::parse_quote! { impl #name_mut for VertexMut<'_> { #(#methods)* } });
    items
}

/// The getter and the setter of a column: signatures and bodies.
struct Accessor {
    getter: TokenStream,
    get: TokenStream,
    setter: TokenStream,
    set: TokenStream,
}

impl Accessor {
    fn of(slot: usize, column: &Column) -> Accessor {
        let ty = Ident::new(column.scalar.name(), Span::call_site());
        let (getter, setter) =
            (format_ident!("{}", column.name), format_ident!("set_{}", column.name));
        let (read, write) = (format_ident!("column_{ty}"), format_ident!("set_column_{ty}"));
        let (parameter, index) = match column.len {
            Len::One => (quote! {}, quote! { 0 }),
            Len::Parameter(_) | Len::Fixed(_) => (quote! { index: u32, }, quote! { index }),
        };
        Accessor {
            getter: quote! { fn #getter(&self, #parameter) -> #ty },
            get: quote! { self.#read(#slot, #index) },
            setter: quote! { fn #setter(&mut self, #parameter value: #ty) },
            set: quote! { self.#write(#slot, #index, value); },
        }
    }
}
