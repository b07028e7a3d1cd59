//! Entries: functions around the hooks that the engine calls.

use super::{Lowering, Operand, Seen};
use crate::JitError;
use crate::machine::{
    ARGUMENT_BYTES, CarryMost, MOST_ARGUMENTS, VOTE_BYTES, VOTE_LABEL, VOTE_WEIGHT, list,
};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value};
use ripplet_hooks::ir;
use ripplet_lp::NO_LABEL;

impl Lowering<'_, '_> {
    /// Checks that a hook has this signature, and so the result that its entry expects.
    pub(crate) fn check(
        &self,
        hook: ir::FunctionId,
        parameters: &[ir::Type],
        result: ir::Type,
    ) -> Result<(), JitError> {
        let function = self.program.function(hook)?;
        let locals = function.locals.iter().take(function.parameters).map(|local| local.ty);
        let fits = locals.eq(parameters.iter().copied()) && function.result == result;
        let name = &function.name;
        fits.then_some(()).ok_or_else(|| JitError::unsound(format!("the signature of {name}")))
    }

    /// Lowers `pick_label` of a vertex; the default is the vertex's label.
    pub(crate) fn pick_label(
        &mut self,
        hook: Option<ir::FunctionId>,
        id: Value,
        label: Value,
    ) -> Result<Value, JitError> {
        let Some(hook) = hook else { return Ok(label) };
        self.check(hook, &[VERTEX], U32)?;
        self.inline(hook, vec![Operand::View(Seen::Vertex { id, label })])?.scalar()
    }

    /// Lowers `load_neighbor` of a vertex (id, label) and a neighbour (id, label, weight).
    pub(crate) fn load_neighbor(
        &mut self,
        hook: Option<ir::FunctionId>,
        v: [Value; 2],
        [id, label, weight]: [Value; 3],
    ) -> Result<(Value, Value), JitError> {
        let Some(hook) = hook else { return Ok((label, weight)) };
        self.check(hook, &[VERTEX, NEIGHBOR], ir::Type::Vote)?;
        let u = Seen::Neighbor { id, label, weight };
        self.inline(hook, vec![vertex(v), Operand::View(u)])?.vote()
    }

    /// Lowers [`Lowering::load_neighbor`], with the vote packed into one number.
    pub(crate) fn packed_vote(
        &mut self,
        hook: ir::FunctionId,
        v: [Value; 2],
        u: [Value; 3],
    ) -> Result<Value, JitError> {
        let (label, weight) = self.load_neighbor(Some(hook), v, u)?;
        Ok(self.packed(label, weight))
    }

    /// Lowers `load_neighbors`: the votes of the list in a frame.
    pub(crate) fn load_neighbors(
        &mut self,
        pick_label: Option<ir::FunctionId>,
        load_neighbor: Option<ir::FunctionId>,
        frame: Value,
        v: [Value; 2],
    ) -> Result<Value, JitError> {
        let zero = self.builder.ins().iconst(I32, 0);
        self.for_each_neighbor(frame, zero, |lowering, index, _| {
            let u = lowering.neighbor_in(frame, pick_label, index)?;
            let (label, weight) = lowering.load_neighbor(load_neighbor, v, u)?;
            let vote = lowering.vote_in(frame, index);
            lowering.builder.ins().store(MemFlags::trusted(), label, vote, VOTE_LABEL);
            lowering.builder.ins().store(MemFlags::trusted(), weight, vote, VOTE_WEIGHT);
            Ok(zero)
        })
    }

    /// Lowers `carry_most` of the list in a frame, which includes its votes; see [`CarryMost`].
    pub(crate) fn carry_most(
        &mut self,
        pick_label: Option<ir::FunctionId>,
        carry: ir::FunctionId,
        frame: Value,
        v: [Value; 2],
        label: Value,
    ) -> Result<Value, JitError> {
        let none = self.builder.ins().iconst(I64, CarryMost::NONE);
        self.for_each_neighbor(frame, none, |lowering, index, most| {
            let vote = lowering.vote_in(frame, index);
            let flags = MemFlags::trusted();
            let said = lowering.builder.ins().load(I32, flags, vote, VOTE_LABEL);
            let weight = lowering.builder.ins().load(I32, flags, vote, VOTE_WEIGHT);
            let agrees = lowering.builder.ins().icmp(IntCC::Equal, said, label);
            let has_weight = lowering.builder.ins().icmp_imm(IntCC::NotEqual, weight, 0);
            let counts = lowering.builder.ins().band(agrees, has_weight);
            let [carry_block, join] = std::array::from_fn(|_| lowering.builder.create_block());
            let result = lowering.builder.append_block_param(join, I64);
            lowering.builder.ins().brif(counts, carry_block, &[], join, &[most.into()]);
            lowering.begin(carry_block);
            let u = lowering.neighbor_in(frame, pick_label, index)?;
            let carried = lowering.carry(carry, v, u)?;
            let order = lowering.order_of(carried);
            let is_nan = lowering.builder.ins().fcmp(FloatCC::Unordered, carried, carried);
            let order = lowering.builder.ins().select(is_nan, none, order);
            let more = lowering.builder.ins().smax(most, order);
            lowering.jump(join, &[more]);
            lowering.begin(join);
            Ok(result)
        })
    }

    /// Maps a float to an integer in the order of `f32::total_cmp`: for negative floats, flips all
    /// bits except the sign.
    fn order_of(&mut self, x: Value) -> Value {
        let bits = self.builder.ins().bitcast(I32, MemFlags::new(), x);
        let signs = self.builder.ins().sshr_imm(bits, 31);
        let flipped = self.builder.ins().band_imm(signs, i64::from(i32::MAX));
        let order = self.builder.ins().bxor(bits, flipped);
        self.builder.ins().sextend(I64, order)
    }

    /// Returns the address of a vote of the list in a frame.
    fn vote_in(&mut self, frame: Value, index: Value) -> Value {
        let votes = self.load(frame, list::VOTES);
        let offset = self.builder.ins().imul_imm(index, VOTE_BYTES);
        self.builder.ins().iadd(votes, offset)
    }

    /// Returns a neighbour of the list in a frame: its id, its label from `pick_label`, and its
    /// weight.
    fn neighbor_in(
        &mut self,
        frame: Value,
        pick_label: Option<ir::FunctionId>,
        index: Value,
    ) -> Result<[Value; 3], JitError> {
        let [ids, weights, count, labels, vertices] =
            [list::IDS, list::WEIGHTS, list::COUNT, list::LABELS, list::VERTICES]
                .map(|place| self.load(frame, place));
        let id = self.load_at(I32, ids, index);
        let (zero, one) = (self.builder.ins().iconst(I64, 0), self.builder.ins().iconst(I32, 1));
        // Null has no values: if there are weights, each index has one.
        let has_weights = self.builder.ins().icmp_imm(IntCC::NotEqual, weights, 0);
        let weighted = self.builder.ins().select(has_weights, count, zero);
        let weight = self.load_below(I32, (weights, weighted), index, one);
        let none = self.builder.ins().iconst(I32, i64::from(NO_LABEL));
        let at = self.builder.ins().uextend(I64, id);
        let label = self.load_below(I32, (labels, vertices), at, none);
        Ok([id, self.pick_label(pick_label, id, label)?, weight])
    }

    /// Emits a loop over the list in a frame. `turn` maps the index and the value so far, initially
    /// `first`, to the next value; the result is the last value.
    fn for_each_neighbor(
        &mut self,
        frame: Value,
        first: Value,
        turn: impl FnOnce(&mut Self, Value, Value) -> Result<Value, JitError>,
    ) -> Result<Value, JitError> {
        let ty = self.builder.func.dfg.value_type(first);
        let count = self.load(frame, list::COUNT);
        let zero = self.builder.ins().iconst(I64, 0);
        let [next, inside, end] = std::array::from_fn(|_| self.builder.create_block());
        let index = self.builder.append_block_param(next, I64);
        let so_far = self.builder.append_block_param(next, ty);
        self.jump(next, &[zero, first]);

        self.builder.switch_to_block(next);
        let is_there = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, count);
        self.builder.ins().brif(is_there, inside, &[], end, &[]);
        self.begin(inside);
        let value = turn(self, index, so_far)?;
        let following = self.builder.ins().iadd_imm(index, 1);
        self.jump(next, &[following, value]);
        self.builder.seal_block(next);
        self.begin(end);
        Ok(so_far)
    }

    pub(crate) fn carry(
        &mut self,
        hook: ir::FunctionId,
        v: [Value; 2],
        [id, label, weight]: [Value; 3],
    ) -> Result<Value, JitError> {
        self.check(hook, &[VERTEX, NEIGHBOR], ir::Type::Scalar(ir::Scalar::F32))?;
        let u = Operand::View(Seen::Neighbor { id, label, weight });
        self.inline(hook, vec![vertex(v), u])?.scalar()
    }

    /// Lowers `label_score` of a vertex and the candidate in a frame; returns the score's bits.
    pub(crate) fn label_score(
        &mut self,
        hook: ir::FunctionId,
        frame: Value,
        v: [Value; 2],
    ) -> Result<Value, JitError> {
        let score = ir::Type::Scalar(self.program.module.score);
        self.check(hook, &[VERTEX, ir::Type::View(ir::View::Candidate)], score)?;
        let candidate = Operand::View(Seen::Candidate { frame });
        let score = self.inline(hook, vec![vertex(v), candidate])?.scalar()?;
        Ok(self.bits_of(score))
    }

    /// Lowers `update_vertex` of a vertex whose remaining fields are in a frame.
    pub(crate) fn update_vertex(
        &mut self,
        hook: ir::FunctionId,
        frame: Value,
        [id, label]: [Value; 2],
        winner: Value,
        score: Value,
    ) -> Result<Value, JitError> {
        let scalar = self.program.module.score;
        let view = ir::Type::View(ir::View::VertexMut);
        self.check(hook, &[view, U32, ir::Type::Scalar(scalar)], U32)?;
        let score = self.of_bits(scalar, score);
        let v = Operand::View(Seen::VertexMut { id, label, frame });
        self.inline(hook, vec![v, Operand::Scalar(winner), Operand::Scalar(score)])?.scalar()
    }

    /// Lowers `score_bound` of a frequency; returns the score's bits.
    pub(crate) fn score_bound(
        &mut self,
        hook: ir::FunctionId,
        frequency: Value,
    ) -> Result<Value, JitError> {
        let score = ir::Type::Scalar(self.program.module.score);
        self.check(hook, &[ir::Type::Scalar(ir::Scalar::U64)], score)?;
        self.context = None;
        let bound = self.inline(hook, vec![Operand::Scalar(frequency)])?.scalar()?;
        Ok(self.bits_of(bound))
    }

    /// Lowers a function without parameters; returns what it declares as a u32.
    pub(crate) fn declaration(
        &mut self,
        hook: ir::FunctionId,
        scalar: ir::Scalar,
    ) -> Result<Value, JitError> {
        self.check(hook, &[], ir::Type::Scalar(scalar))?;
        let said = self.inline(hook, Vec::new())?.scalar()?;
        let bits = self.bits_of(said);
        Ok(self.builder.ins().ireduce(I32, bits))
    }

    /// Lowers a function of scalars, whose bits are at `arguments`; returns the bits of its result.
    pub(crate) fn of_scalars(
        &mut self,
        function: ir::FunctionId,
        arguments: Value,
    ) -> Result<Value, JitError> {
        let lowered = self.program.function(function)?;
        self.context = None;
        let parameters = lowered.locals.iter().take(lowered.parameters);
        if lowered.parameters > MOST_ARGUMENTS {
            return Err(JitError::unsound(format!("{} has too many parameters", lowered.name)));
        }
        let mut operands = Vec::new();
        for (place, local) in parameters.enumerate() {
            let ir::Type::Scalar(scalar) = local.ty else {
                return Err(JitError::unsound(format!("{} is not of scalars", lowered.name)));
            };
            let offset = place as i32 * ARGUMENT_BYTES;
            let bits = self.builder.ins().load(I64, MemFlags::trusted(), arguments, offset);
            operands.push(Operand::Scalar(self.of_bits(scalar, bits)));
        }
        let result = self.inline(function, operands)?.scalar()?;
        Ok(self.bits_of(result))
    }
}

const VERTEX: ir::Type = ir::Type::View(ir::View::Vertex);
const NEIGHBOR: ir::Type = ir::Type::View(ir::View::Neighbor);
const U32: ir::Type = ir::Type::Scalar(ir::Scalar::U32);

fn vertex([id, label]: [Value; 2]) -> Operand {
    Operand::View(Seen::Vertex { id, label })
}
