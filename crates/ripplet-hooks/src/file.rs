//! Program files: the text of a module with `#[label_program]`, read at run time.

use crate::error::{Diagnostic, ProgramErrors};
use crate::ir::Module;
use crate::limits::{LARGEST_FILE, check_tokens};
use crate::program::translate;
use proc_macro2::{Span, TokenStream};
use std::str::FromStr;

/// Stack size of the thread that parses, in bytes. The parser recurses; this is enough for the
/// deepest text that passes the limits.
const STACK: usize = 64 << 20;

/// Reads a program from a file's text.
///
/// The text is either the inside of a module or one module with `#[label_program]`. `path` is used
/// only in messages. [`LARGEST_FILE`] bounds memory and stack for every text.
///
/// # Errors
/// If the text is not a valid program: everything found wrong, with lines and columns.
pub fn read_program(path: &str, text: &str) -> Result<Module, ProgramErrors> {
    if text.len() > LARGEST_FILE {
        return Err(ProgramErrors::new(path, vec![too_large(text)]));
    }
    std::thread::scope(|scope| {
        let read = || {
            parse(text)
                .and_then(|items| translate(&items))
                .map_err(|found| ProgramErrors::new(path, found))
        };
        let builder = std::thread::Builder::new().stack_size(STACK);
        match builder.spawn_scoped(scope, read).map(|thread| thread.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => {
                let message = "there is no memory to read this program with";
                let nowhere = Diagnostic::plain(Span::call_site(), message);
                Err(ProgramErrors::new(path, vec![nowhere]))
            }
        }
    })
}

/// Checks that every bracket, quote and comment is opened and closed within the text.
///
/// Only such a text stays inside a function that it is put into.
///
/// # Errors
/// If a bracket, quote or comment has no partner (the error has its place), or if the text is
/// larger than [`LARGEST_FILE`].
pub fn check_balance(path: &str, text: &str) -> Result<(), ProgramErrors> {
    if text.len() > LARGEST_FILE {
        return Err(ProgramErrors::new(path, vec![too_large(text)]));
    }
    let tokens = TokenStream::from_str(text).map(drop);
    tokens.map_err(|error| ProgramErrors::new(path, vec![unbalanced(error.span())]))
}

fn too_large(text: &str) -> Diagnostic {
    let message = format!("a file of {} bytes", text.len());
    let help = format!("a program file has at most {LARGEST_FILE} bytes");
    Diagnostic::new(Span::call_site(), message, help)
}

fn unbalanced(span: Span) -> Diagnostic {
    Diagnostic::plain(span, "this is not Rust: a bracket or a quote does not match")
}

fn parse(text: &str) -> Result<Vec<syn::Item>, Vec<Diagnostic>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let tokens = TokenStream::from_str(text).map_err(|error| vec![unbalanced(error.span())])?;
    check_tokens(tokens.clone()).map_err(|error| vec![error])?;
    let file: syn::File = syn::parse2(tokens).map_err(|error| vec![error.into()])?;
    Ok(inside(file.items))
}

/// Returns the items of the module with `#[label_program]` if the file has such a module, else the
/// file's items.
fn inside(mut items: Vec<syn::Item>) -> Vec<syn::Item> {
    let marked = |item: &syn::Item| match item {
        syn::Item::Mod(module) => {
            let is_mark = |attribute: &syn::Attribute| {
                attribute.path().segments.last().is_some_and(|last| last.ident == "label_program")
            };
            module.content.is_some() && module.attrs.iter().any(is_mark)
        }
        _ => false,
    };
    match items.iter().position(marked).map(|place| items.swap_remove(place)) {
        Some(syn::Item::Mod(syn::ItemMod { content: Some((_, inner)), .. })) => inner,
        _ => items,
    }
}
