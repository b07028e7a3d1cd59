//! Translation of a program's items to the intermediate representation.

use crate::check::{Body, MATHEMATICS, ReachableFunction, Shared, check_body};
use crate::error::{Diagnostic, Diagnostics};
use crate::ir::{Function, FunctionId, Hooks, Module, View};
use crate::lower::{Functions, lower};
use crate::outline::{Outline, Scope};
use crate::signature::Hook;
use crate::tree::Callee;
use crate::types::Ty;
use std::collections::HashMap;

/// The functions that every hook can call, as a text in the language of hooks.
const MATHEMATICS_TEXT: &str = include_str!("math.rs");

fn mathematics_items() -> Vec<syn::Item> {
    let file = syn::parse_str::<syn::File>(MATHEMATICS_TEXT);
    file.expect("math.rs is compiled as Rust, too").items
}

/// Returns the names of the functions that every hook can call.
pub(crate) fn mathematics() -> Vec<String> {
    let public = mathematics_items().into_iter().filter_map(|item| match item {
        syn::Item::Fn(item) if matches!(item.vis, syn::Visibility::Public(_)) => {
            Some(item.sig.ident.to_string())
        }
        _ => None,
    });
    public.collect()
}

/// Checks and translates the items of a program's module or file.
///
/// Items that no hook reaches are left to Rust and not checked.
///
/// # Errors
/// If the items are not a valid program: everything found wrong, at most 20 errors, each at its
/// token.
pub fn translate(items: &[syn::Item]) -> Result<Module, Vec<Diagnostic>> {
    let mathematics = mathematics_items();
    let mut errors = Diagnostics::default();
    let Some(outline) = Outline::read(items, &mut errors) else {
        return Err(errors.into_vec());
    };
    let program = Scope::read(&mathematics, &mut errors);
    let mut shared = Shared {
        scopes: vec![outline.scope, program],
        parameters: outline.parameters,
        columns: outline.columns,
        score: outline.score,
        met: Vec::new(),
        known: HashMap::new(),
        errors,
    };
    debug_assert_eq!(shared.scopes.len(), MATHEMATICS + 1);
    let hooks = meet_hooks(&mut shared, outline.implementation);
    let mut bodies = Vec::new();
    while bodies.len() < shared.met.len() {
        let body = check_body(&mut shared, Callee(bodies.len()));
        bodies.push(body);
    }
    let order = order(&bodies, &shared.met, &mut shared.errors);
    if !shared.errors.is_empty() {
        return Err(shared.errors.into_vec());
    }
    let (functions, places) = lower_all(bodies, &order, &mut shared);
    if !shared.errors.is_empty() {
        return Err(shared.errors.into_vec());
    }
    Ok(Module {
        type_name: outline.type_name,
        name: outline.name,
        parameters: shared.parameters,
        columns: shared.columns,
        score: shared.score,
        schedule: outline.schedule,
        functions,
        hooks: place_hooks(&hooks, &places),
    })
}

/// Checks the signatures of the hooks that the program writes, and marks them as reachable.
fn meet_hooks(shared: &mut Shared<'_>, implementation: &syn::ItemImpl) -> HashMap<Hook, Callee> {
    let mut hooks = HashMap::new();
    for item in &implementation.items {
        let syn::ImplItem::Fn(item) = item else { continue };
        let name = item.sig.ident.to_string();
        if matches!(name.as_str(), "name" | "schedule" | "columns" | "parameters" | "device_source")
        {
            continue;
        }
        let Some(&hook) = Hook::ALL.iter().find(|hook| hook.name() == name) else {
            let hooks = Hook::ALL.iter().map(|hook| hook.name());
            let names: Vec<_> = hooks.chain(["name", "schedule"]).collect();
            let message = format!("a program has no function `{name}`");
            let help = format!(
                "its hooks and declarations are {}; other functions stand outside of this impl",
                names.join(", ")
            );
            shared.errors.push(Diagnostic::new(item.sig.ident.span(), message, help));
            continue;
        };
        let Some(callee) = shared.meet(0, true, &name) else { continue };
        let signature = &shared.met[callee.0].signature;
        match hook.check(signature, shared.score, item.sig.ident.span()) {
            Ok(()) => drop(hooks.insert(hook, callee)),
            Err(error) => shared.errors.push(error),
        }
    }
    let written =
        |item: &syn::ImplItem| matches!(item, syn::ImplItem::Fn(f) if f.sig.ident == "label_score");
    if !implementation.items.iter().any(written) {
        let span = syn::spanned::Spanned::span(&implementation.self_ty);
        let help = "write `fn label_score(&self, v: Vertex, c: Candidate) -> Self::Score`";
        shared.errors.push(Diagnostic::new(span, "the program does not score labels", help));
    }
    hooks
}

/// Returns the functions with callees before callers. Reports recursion as an error.
fn order(bodies: &[Body], met: &[ReachableFunction<'_>], errors: &mut Diagnostics) -> Vec<usize> {
    let mut waits: Vec<usize> = bodies.iter().map(|body| body.calls.len()).collect();
    let mut callers = vec![Vec::new(); bodies.len()];
    for (caller, body) in bodies.iter().enumerate() {
        body.calls.iter().for_each(|(callee, _)| callers[callee.0].push(caller));
    }
    let mut order: Vec<usize> = (0..bodies.len()).filter(|&f| waits[f] == 0).collect();
    let mut done = 0;
    while let Some(&function) = order.get(done) {
        done += 1;
        for &caller in &callers[function] {
            waits[caller] -= 1;
            if waits[caller] == 0 {
                order.push(caller);
            }
        }
    }
    if let Some(function) = on_a_cycle(bodies, &waits) {
        let waiting = |call: &&(Callee, _)| waits[call.0.0] > 0;
        let call = bodies[function].calls.iter().find(waiting);
        if let Some((callee, span)) = call {
            let message = format!("`{}` calls itself, if not directly", met[callee.0].name);
            let help = "hooks have no recursion: use a loop";
            errors.push(Diagnostic::new(*span, message, help));
        }
    }
    order
}

/// Returns a function on a cycle of calls, among the functions not yet ordered.
fn on_a_cycle(bodies: &[Body], waits: &[usize]) -> Option<usize> {
    let waiting = |function: &usize| waits[*function] > 0;
    let mut at = (0..bodies.len()).find(waiting)?;
    // Every unordered function calls another unordered one: after `bodies.len()` steps, the walk is
    // on a cycle.
    for _ in 0..bodies.len() {
        at = bodies[at].calls.iter().map(|(callee, _)| callee.0).find(waiting)?;
    }
    Some(at)
}

type Lowered = (Vec<Function>, Vec<(FunctionId, bool)>);

fn lower_all(bodies: Vec<Body>, order: &[usize], shared: &mut Shared<'_>) -> Lowered {
    let mut places = vec![(FunctionId(0), false); bodies.len()];
    for (place, &function) in order.iter().enumerate() {
        let effects =
            shared.met[function].signature.parameters.contains(&Ty::View(View::VertexMut));
        places[function] = (FunctionId(place), effects);
    }
    let mut bodies: Vec<_> = bodies.into_iter().map(Some).collect();
    let names = unique_names(&shared.met);
    let known = Functions { places: &places };
    let functions = order.iter().map(|&function| {
        let body = bodies[function].take().expect("each function stands once in the order");
        let name = names[function].as_str();
        lower((name, &shared.met[function].signature), body, &known, &mut shared.errors)
    });
    (functions.collect(), places)
}

/// Returns each function's own name, with a number appended to duplicates.
fn unique_names(met: &[ReachableFunction<'_>]) -> Vec<String> {
    let mut used = HashMap::new();
    met.iter()
        .map(|met| {
            let count = used.entry(met.name.clone()).and_modify(|count| *count += 1).or_insert(0);
            if *count == 0 { met.name.clone() } else { format!("{}#{count}", met.name) }
        })
        .collect()
}

fn place_hooks(hooks: &HashMap<Hook, Callee>, places: &[(FunctionId, bool)]) -> Hooks {
    let place = |hook: Hook| hooks.get(&hook).map(|callee| places[callee.0].0);
    Hooks {
        pick_label: place(Hook::PickLabel),
        load_neighbor: place(Hook::LoadNeighbor),
        label_score: place(Hook::LabelScore).unwrap_or_default(),
        carry: place(Hook::Carry),
        update_vertex: place(Hook::UpdateVertex),
        score_bound: place(Hook::ScoreBound),
        activation: place(Hook::Activation),
        label_total: place(Hook::LabelTotal),
        falls_with_total: place(Hook::FallsWithTotal),
        follows_frequency: place(Hook::FollowsFrequency),
        votes_for_own_label: place(Hook::VotesForOwnLabel),
        carries: place(Hook::Carries),
    }
}
