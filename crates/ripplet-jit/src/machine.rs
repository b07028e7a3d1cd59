//! Machine code and its inputs: the only `unsafe` part of this crate.
//!
//! Compiled hooks receive scalars in registers and the rest in *frames*: structs with a defined
//! layout (`repr(C)`) on the caller's stack, which hold pointers with the number of values behind
//! them. A [`Place`] gives the code generator (`lower`) the offset of a field in a frame. Generated
//! code follows a pointer of a frame only
//!
//! - below the count beside it, compared just before; or
//! - at the places `0..count` of a [`ListFrame`], in the loop that the generator emits.
//!
//! It writes only to the votes of a [`ListFrame`], if [`LoadNeighbors`] passes them for writing
//! ([`CarryMost`] passes them for reading), and to the draft of an [`UpdateFrame`]. A frame lives
//! until the call that it was made for returns, and the code retains nothing of it.
//!
//! Values of labels, totals and columns are atomics that other threads may write concurrently.
//! Aligned 32-bit reads are relaxed atomic reads on the processors that [`Code::new`] admits.

use crate::JitError;
use cranelift_codegen::ir::types::{F32, I32, I64};
use cranelift_codegen::ir::{AbiParam, Signature, Type};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use ripplet_lp::{Candidate, Context, Neighbor, NeighborList, Total, Vertex, VertexMut, Vote};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, offset_of};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// The most columns of a program from a file: the capacity of the frames of its hooks.
pub const MOST_COLUMNS: usize = 16;

/// The context of a round, common to all vertices.
#[repr(C)]
pub(crate) struct ContextFrame {
    /// The [`Context`], for [`degree`].
    context: *const c_void,
    /// `Clock::seed`.
    seed: u32,
    round: u32,
    /// Only the first ones are initialized, as many as the program has columns.
    columns: [MaybeUninit<ColumnFrame>; MOST_COLUMNS],
}

/// The values of a column.
#[repr(C)]
#[derive(Clone, Copy)]
struct ColumnFrame {
    values: *const AtomicU32,
    count: usize,
}

/// A [`NeighborList`] and its votes.
#[repr(C)]
pub(crate) struct ListFrame {
    ids: *const u32,
    /// Null if every weight is 1.
    weights: *const u32,
    /// One vote per id.
    votes: *mut Vote,
    /// The number of ids, weights and votes.
    count: usize,
    labels: *const AtomicU32,
    /// The number of labels.
    vertices: usize,
}

/// The fields of a [`Candidate`].
#[repr(C)]
pub(crate) struct CandidateFrame {
    frequency: u64,
    total_votes: u64,
    grand_total: u64,
    totals: *const AtomicU32,
    /// The number of totals.
    count: usize,
    label: u32,
    /// The total of labels that are not in `totals`.
    otherwise: u32,
}

/// The fields of a [`VertexMut`] except its vertex.
#[repr(C)]
pub(crate) struct UpdateFrame {
    frequency: u64,
    total_votes: u64,
    draft: *mut u32,
    /// The number of values in the draft.
    count: usize,
    carried: f32,
}

/// The offset and type of a frame's field.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub offset: i32,
    pub ty: Type,
}

/// Defines a place for each field of a frame.
macro_rules! places {
    ($module:ident, $frame:ty: $($name:ident $field:ident $ty:ident),+ $(,)?) => {
        pub(crate) mod $module {
            use super::*;
            $(pub(crate) const $name: Place =
                Place { offset: offset_of!($frame, $field) as i32, ty: $ty };)+
        }
    };
}

places!(context, ContextFrame: SCENE context I64, SEED seed I32, ROUND round I32);
places!(list, ListFrame: IDS ids I64, WEIGHTS weights I64, VOTES votes I64, COUNT count I64,
    LABELS labels I64, VERTICES vertices I64);
places!(candidate, CandidateFrame: FREQUENCY frequency I64, TOTAL_VOTES total_votes I64,
    GRAND_TOTAL grand_total I64, TOTALS totals I64, COUNT count I64, LABEL label I32,
    OTHERWISE otherwise I32);
places!(update, UpdateFrame: FREQUENCY frequency I64, TOTAL_VOTES total_votes I64, DRAFT draft I64,
    COUNT count I64, CARRIED carried F32);

/// Returns the places of a column's values and their count in a [`ContextFrame`]; `slot` must be
/// below [`MOST_COLUMNS`].
pub(crate) fn column_places(slot: usize) -> (Place, Place) {
    let first = offset_of!(ContextFrame, columns) + slot * size_of::<ColumnFrame>();
    let place = |field: usize| Place { offset: (first + field) as i32, ty: I64 };
    (place(offset_of!(ColumnFrame, values)), place(offset_of!(ColumnFrame, count)))
}

/// The offset of a [`Vote`]'s label.
pub(crate) const VOTE_LABEL: i32 = offset_of!(Vote, label) as i32;
/// The offset of a [`Vote`]'s weight.
pub(crate) const VOTE_WEIGHT: i32 = offset_of!(Vote, weight) as i32;
/// Bytes of a [`Vote`].
pub(crate) const VOTE_BYTES: i64 = size_of::<Vote>() as i64;

impl ContextFrame {
    #[inline]
    fn new(context: &Context<'_>, columns: usize) -> ContextFrame {
        let clock = context.clock();
        let mut frame = ContextFrame {
            context: std::ptr::from_ref(context).cast(),
            seed: clock.seed(),
            round: clock.round(),
            columns: [MaybeUninit::uninit(); MOST_COLUMNS],
        };
        for (slot, column) in frame.columns.iter_mut().enumerate().take(columns) {
            let values = context.column(slot);
            column.write(ColumnFrame { values: values.as_ptr(), count: values.len() });
        }
        frame
    }
}

impl ListFrame {
    /// Creates the frame of a list with `count` votes; its count is the least length of all arrays.
    #[inline]
    fn new(list: NeighborList<'_>, votes: *mut Vote, count: usize) -> ListFrame {
        let weights = list.weights.map_or(usize::MAX, <[u32]>::len);
        ListFrame {
            ids: list.ids.as_ptr(),
            weights: list.weights.map_or(std::ptr::null(), <[u32]>::as_ptr),
            votes,
            count: list.ids.len().min(count).min(weights),
            labels: list.labels.as_ptr(),
            vertices: list.labels.len(),
        }
    }
}

impl CandidateFrame {
    #[inline]
    fn new(candidate: &Candidate<'_>) -> CandidateFrame {
        let &Candidate { label, frequency, total_votes, grand_total, .. } = candidate;
        let (totals, otherwise): (&[AtomicU32], u32) = match candidate.total {
            Total::Kept(totals) => (totals, 0),
            Total::AtMost(most) => (&[], most),
        };
        let (totals, count) = (totals.as_ptr(), totals.len());
        CandidateFrame { frequency, total_votes, grand_total, totals, count, label, otherwise }
    }
}

/// Functions of the host program that compiled hooks call.
pub(crate) mod host {
    use super::*;

    /// Returns the address of [`degree`].
    pub fn degree_address() -> usize {
        degree as *const () as usize
    }

    /// Returns the address of [`power_32`].
    pub fn power_32_address() -> usize {
        power_32 as *const () as usize
    }

    /// Returns the address of [`power_64`].
    pub fn power_64_address() -> usize {
        power_64 as *const () as usize
    }

    /// Returns the degree of a vertex; 0 if there is no such vertex.
    ///
    /// # Safety
    /// `context` must be that of a [`ContextFrame`] whose call has not returned.
    unsafe extern "C" fn degree(context: *const c_void, v: u32) -> u32 {
        // SAFETY: `ContextFrame::new` made the pointer from a reference to a context, which outlives
        // the call that the frame is for.
        let context = unsafe { &*context.cast::<Context<'_>>() };
        if v < context.vertices() { context.degree(v) } else { 0 }
    }

    extern "C" fn power_32(base: u32, exponent: u32) -> u32 {
        base.wrapping_pow(exponent)
    }

    extern "C" fn power_64(base: u64, exponent: u32) -> u64 {
        base.wrapping_pow(exponent)
    }
}

/// Machine code in its own memory: written, then sealed against writing, freed on drop.
pub(crate) struct Code {
    /// `Some` until the code is dropped.
    module: Option<JITModule>,
}

// SAFETY: until it is sealed, code is moved between threads but not shared: `JITModule` is not
// bound to a thread (its raw pointers are to memory that it owns). Afterwards `&Code` reads only
// the addresses of functions, in memory that is not written until `drop`.
unsafe impl Send for Code {}
// SAFETY: as for `Send`.
unsafe impl Sync for Code {}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Code")
    }
}

impl Code {
    /// Allocates code for the current processor.
    ///
    /// # Errors
    /// On processors other than x86-64 and 64-bit ARM: the assumptions of this file on atomics, and
    /// of `lower` on how values are passed, hold for these two.
    pub fn new() -> Result<Code, JitError> {
        if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            return Err(JitError::Machine("it is neither x86-64 nor 64-bit ARM".into()));
        }
        let mut builder = JITBuilder::with_isa(target()?, default_libcall_names());
        // For processors without these instructions. The symbols are given here instead of being
        // looked up in the process, so that they exist however it is linked.
        builder.symbol("floorf", floor as *const u8);
        builder.symbol("ceilf", ceil as *const u8);
        builder.symbol("truncf", trunc as *const u8);
        Ok(Code { module: Some(JITModule::new(builder)) })
    }

    /// Returns the module to define functions in.
    pub fn module(&mut self) -> &mut JITModule {
        self.module.as_mut().expect("there until the code is dropped")
    }

    /// Makes the functions executable and read-only.
    pub fn seal(&mut self) -> Result<(), JitError> {
        Ok(self.module().finalize_definitions()?)
    }

    /// Returns the address of a function of sealed code.
    fn address(&self, function: FuncId) -> *const u8 {
        let module = self.module.as_ref().expect("there until the code is dropped");
        module.get_finalized_function(function)
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: functions are only called through `&Code`, so none runs, and none can be
            // called later.
            unsafe { module.free_memory() };
        }
    }
}

fn target() -> Result<OwnedTargetIsa, JitError> {
    let set = |flags: &mut settings::Builder, name, value| {
        flags.set(name, value).map_err(|error| JitError::Compiler(error.to_string()))
    };
    let mut flags = settings::builder();
    set(&mut flags, "opt_level", "speed")?;
    // Code and the functions that it calls may be further apart than a short jump reaches.
    set(&mut flags, "use_colocated_libcalls", "false")?;
    set(&mut flags, "is_pic", "false")?;
    let processor = cranelift_native::builder().map_err(|why| JitError::Machine(why.into()))?;
    let isa = processor.finish(settings::Flags::new(flags));
    isa.map_err(|error| JitError::Compiler(error.to_string()))
}

extern "C" fn floor(x: f32) -> f32 {
    x.floor()
}

extern "C" fn ceil(x: f32) -> f32 {
    x.ceil()
}

extern "C" fn trunc(x: f32) -> f32 {
    x.trunc()
}

/// A kind of compiled function: its parameters and result as the code generator sees them.
pub(crate) trait Entry: Sized {
    /// The types of its parameters; the first is the [`ContextFrame`] if there are any views.
    const PARAMETERS: &'static [Type];
    /// The type of its result.
    const RESULT: Type;
    /// Returns the entry of this function of sealed code, and keeps the code alive.
    fn of(code: &Arc<Code>, function: Declared<Self>) -> Self;
}

/// A function of some code, declared with the signature of `E`.
pub(crate) struct Declared<E> {
    pub id: FuncId,
    entry: PhantomData<E>,
}

impl Code {
    /// Declares a function that will be called as `E`.
    pub fn declare<E: Entry>(&mut self, name: &str) -> Result<(Declared<E>, Signature), JitError> {
        let mut signature = self.module().make_signature();
        signature.params.extend(E::PARAMETERS.iter().map(|&ty| AbiParam::new(ty)));
        signature.returns.push(AbiParam::new(E::RESULT));
        let id = self.module().declare_function(name, Linkage::Local, &signature)?;
        Ok((Declared { id, entry: PhantomData }, signature))
    }
}

/// Defines an entry: a pointer to compiled code, with the type of a Rust function.
macro_rules! entry {
    ($(#[$doc:meta])* $name:ident:
        ($($rust:ty => $clif:ident),*) -> $result:ty => $clif_result:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub(crate) struct $name {
            function: unsafe extern "C" fn($($rust),*) -> $result,
            /// Keeps the function's memory alive.
            _code: Arc<Code>,
        }

        impl Entry for $name {
            const PARAMETERS: &'static [Type] = &[$($clif),*];
            const RESULT: Type = $clif_result;

            fn of(code: &Arc<Code>, function: Declared<Self>) -> Self {
                let address = code.address(function.id);
                // SAFETY: the function was declared with `PARAMETERS` and `RESULT`, which match the
                // Rust types beside them; and an address of code is a function.
                let function = unsafe {
                    std::mem::transmute::<*const u8, unsafe extern "C" fn($($rust),*) -> $result>(
                        address,
                    )
                };
                $name { function, _code: Arc::clone(code) }
            }
        }
    };
}

entry!(
    /// `pick_label` of a vertex's id and label.
    PickLabel: (*const ContextFrame => I64, u32 => I32, u32 => I32) -> u32 => I32
);
entry!(
    /// `load_neighbor` of a vertex's id and label and a neighbour's id, label and weight. The
    /// vote's label is in the low half of the result.
    LoadNeighbor: (*const ContextFrame => I64, u32 => I32, u32 => I32, u32 => I32, u32 => I32,
        u32 => I32) -> u64 => I64
);
entry!(
    /// `load_neighbors` of a vertex's id and label; the result is meaningless.
    LoadNeighbors: (*const ContextFrame => I64, *const ListFrame => I64, u32 => I32, u32 => I32)
        -> u32 => I32
);
entry!(
    /// `carry`, with the parameters of [`LoadNeighbor`].
    Carry: (*const ContextFrame => I64, u32 => I32, u32 => I32, u32 => I32, u32 => I32, u32 => I32)
        -> f32 => F32
);
entry!(
    /// `carry_most` of a vertex's id and label and the winning label: an integer in the order of
    /// the carries; see [`CarryMost::NONE`].
    CarryMost: (*const ContextFrame => I64, *const ListFrame => I64, u32 => I32, u32 => I32,
        u32 => I32) -> i64 => I64
);
entry!(
    /// `label_score` of a vertex's id and label; returns the score's bits.
    LabelScore: (*const ContextFrame => I64, *const CandidateFrame => I64, u32 => I32, u32 => I32)
        -> u64 => I64
);
entry!(
    /// `update_vertex` of a vertex's id and label, the winning label and its score's bits.
    UpdateVertex: (*const ContextFrame => I64, *const UpdateFrame => I64, u32 => I32, u32 => I32,
        u32 => I32, u64 => I64) -> u32 => I32
);
entry!(
    /// `score_bound` of a frequency; returns the score's bits.
    ScoreBound: (u64 => I64) -> u64 => I64
);
entry!(
    /// A declaration: a `u32`, or a bool as 0 or 1.
    Declaration: () -> u32 => I32
);
entry!(
    /// A function of scalars, from the bits of its arguments to those of its result.
    OfScalars: (*const Arguments => I64) -> u64 => I64
);

/// The bits of the arguments of [`OfScalars`].
pub(crate) type Arguments = [u64; MOST_ARGUMENTS];
/// The most arguments of [`OfScalars`].
pub(crate) const MOST_ARGUMENTS: usize = 16;
/// The distance between arguments of [`OfScalars`], in bytes.
pub(crate) const ARGUMENT_BYTES: i32 = size_of::<u64>() as i32;

// In all calls below, the code exists, as each entry keeps it alive. It accesses the frames only as
// the head of this file says. The frames hold pointers and counts of slices that are borrowed until
// after the call. `columns` is the program's number of columns.

impl PickLabel {
    #[inline]
    pub fn call(&self, columns: usize, v: Vertex<'_>) -> u32 {
        let context = v.context();
        let frame = ContextFrame::new(&context, columns);
        // SAFETY: see above.
        unsafe { (self.function)(&frame, v.id, v.label) }
    }
}

impl LoadNeighbor {
    #[inline]
    pub fn call(&self, columns: usize, v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
        let context = v.context();
        let frame = ContextFrame::new(&context, columns);
        // SAFETY: see above.
        let vote = unsafe { (self.function)(&frame, v.id, v.label, u.id, u.label, u.weight) };
        Vote { label: vote as u32, weight: (vote >> 32) as u32 }
    }
}

impl LoadNeighbors {
    #[inline]
    pub fn call(&self, columns: usize, v: Vertex<'_>, list: NeighborList<'_>, votes: &mut [Vote]) {
        let context = v.context();
        let frame = ContextFrame::new(&context, columns);
        let list = ListFrame::new(list, votes.as_mut_ptr(), votes.len());
        // SAFETY: see above; the votes are borrowed alone.
        unsafe { (self.function)(&frame, &list, v.id, v.label) };
    }
}

impl CarryMost {
    /// The result if nothing was carried; all others are a carry's bits in the order of
    /// `f32::total_cmp`.
    pub const NONE: i64 = i64::MIN;

    #[inline]
    pub fn call(
        &self,
        columns: usize,
        v: Vertex<'_>,
        list: NeighborList<'_>,
        votes: &[Vote],
        label: u32,
    ) -> Option<f32> {
        let context = v.context();
        let frame = ContextFrame::new(&context, columns);
        let list = ListFrame::new(list, votes.as_ptr().cast_mut(), votes.len());
        // SAFETY: see above; this function only reads the votes.
        let most = unsafe { (self.function)(&frame, &list, v.id, v.label, label) };
        let order = i32::try_from(most).ok()?;
        // The map of bits to the order is its own inverse: see `Lowering::order_of`.
        Some(f32::from_bits((order ^ (order >> 31) & i32::MAX).cast_unsigned()))
    }
}

impl Carry {
    #[inline]
    pub fn call(&self, columns: usize, v: Vertex<'_>, u: Neighbor<'_>) -> f32 {
        let context = v.context();
        let frame = ContextFrame::new(&context, columns);
        // SAFETY: see above.
        unsafe { (self.function)(&frame, v.id, v.label, u.id, u.label, u.weight) }
    }
}

impl LabelScore {
    #[inline]
    pub fn call(&self, columns: usize, v: Vertex<'_>, candidate: Candidate<'_>) -> u64 {
        let context = v.context();
        let frame = ContextFrame::new(&context, columns);
        let candidate = CandidateFrame::new(&candidate);
        // SAFETY: see above.
        unsafe { (self.function)(&frame, &candidate, v.id, v.label) }
    }
}

impl UpdateVertex {
    #[inline]
    pub fn call(&self, columns: usize, v: &mut VertexMut<'_>, label: u32, score: u64) -> u32 {
        let context = v.context();
        let frame = ContextFrame::new(&context, columns);
        let (frequency, total_votes, carried) = (v.frequency(), v.total_votes(), v.carried());
        let (id, shown) = (v.id, v.label);
        let draft = v.draft();
        let (draft, count) = (draft.as_mut_ptr(), draft.len());
        let update = UpdateFrame { frequency, total_votes, draft, count, carried };
        // SAFETY: see above; `v` is borrowed exclusively, so that no other code accesses the draft.
        unsafe { (self.function)(&frame, &update, id, shown, label, score) }
    }
}

impl ScoreBound {
    #[inline]
    pub fn call(&self, frequency: u64) -> u64 {
        // SAFETY: see above.
        unsafe { (self.function)(frequency) }
    }
}

impl Declaration {
    pub fn call(&self) -> u32 {
        // SAFETY: see above.
        unsafe { (self.function)() }
    }
}

impl OfScalars {
    pub fn call(&self, arguments: &Arguments) -> u64 {
        // SAFETY: see above; `lower` refuses functions with more than `MOST_ARGUMENTS`.
        unsafe { (self.function)(arguments) }
    }
}

// Counts and addresses have 64 bits.
const _: () = assert!(usize::BITS == 64);
