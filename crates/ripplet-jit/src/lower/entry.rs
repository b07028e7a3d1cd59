//! Entries: what the engine calls, around the hooks.

use super::{Lowering, Operand, Seen};
use crate::JitError;
use crate::machine::{ARGUMENT_BYTES, MOST_ARGUMENTS, VOTE_BYTES, VOTE_LABEL, VOTE_WEIGHT, list};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value};
use ripplet_hooks::ir;
use ripplet_lp::NO_LABEL;

impl Lowering<'_, '_> {
    /// Checks that a hook has this signature: then it gives what its entry is made for.
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

    /// `pick_label` of a vertex; its label where the program does not say.
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

    /// `load_neighbor` of a vertex (id, label) and a neighbour (id, label, weight).
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

    /// [`Lowering::load_neighbor`] as one number.
    pub(crate) fn packed_vote(
        &mut self,
        hook: ir::FunctionId,
        v: [Value; 2],
        u: [Value; 3],
    ) -> Result<Value, JitError> {
        let (label, weight) = self.load_neighbor(Some(hook), v, u)?;
        Ok(self.packed(label, weight))
    }

    /// `load_neighbors`: the votes of the list in a frame.
    pub(crate) fn load_neighbors(
        &mut self,
        pick_label: Option<ir::FunctionId>,
        load_neighbor: Option<ir::FunctionId>,
        frame: Value,
        v: [Value; 2],
    ) -> Result<Value, JitError> {
        let [ids, weights, votes, count, labels, vertices] =
            [list::IDS, list::WEIGHTS, list::VOTES, list::COUNT, list::LABELS, list::VERTICES]
                .map(|place| self.load(frame, place));
        let zero = self.builder.ins().iconst(I64, 0);
        let [next, turn, end] = std::array::from_fn(|_| self.builder.create_block());
        let index = self.builder.append_block_param(next, I64);
        self.jump(next, &[zero]);

        self.builder.switch_to_block(next);
        let is_there = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, count);
        self.builder.ins().brif(is_there, turn, &[], end, &[]);
        self.begin(turn);
        let id = self.load_at(I32, ids, index);
        let one = self.builder.ins().iconst(I32, 1);
        // Null has no values: where there are weights, each index has one.
        let has_weights = self.builder.ins().icmp_imm(IntCC::NotEqual, weights, 0);
        let weighted = self.builder.ins().select(has_weights, count, zero);
        let weight = self.load_below(I32, (weights, weighted), index, one);
        let none = self.builder.ins().iconst(I32, i64::from(NO_LABEL));
        let at = self.builder.ins().uextend(I64, id);
        let label = self.load_below(I32, (labels, vertices), at, none);
        let label = self.pick_label(pick_label, id, label)?;
        let (label, weight) = self.load_neighbor(load_neighbor, v, [id, label, weight])?;
        let offset = self.builder.ins().imul_imm(index, VOTE_BYTES);
        let vote = self.builder.ins().iadd(votes, offset);
        self.builder.ins().store(MemFlags::trusted(), label, vote, VOTE_LABEL);
        self.builder.ins().store(MemFlags::trusted(), weight, vote, VOTE_WEIGHT);
        let following = self.builder.ins().iadd_imm(index, 1);
        self.jump(next, &[following]);
        self.builder.seal_block(next);
        self.begin(end);
        Ok(self.builder.ins().iconst(I32, 0))
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

    /// `label_score` of a vertex and the candidate in a frame: the score's bits.
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
        Ok(self.to_bits(score))
    }

    /// `update_vertex` of a vertex that a frame has the rest of.
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
        let score = self.from_bits(scalar, score);
        let v = Operand::View(Seen::VertexMut { id, label, frame });
        self.inline(hook, vec![v, Operand::Scalar(winner), Operand::Scalar(score)])?.scalar()
    }

    /// `score_bound` of a frequency: the score's bits.
    pub(crate) fn score_bound(
        &mut self,
        hook: ir::FunctionId,
        frequency: Value,
    ) -> Result<Value, JitError> {
        let score = ir::Type::Scalar(self.program.module.score);
        self.check(hook, &[ir::Type::Scalar(ir::Scalar::U64)], score)?;
        self.scene = None;
        let bound = self.inline(hook, vec![Operand::Scalar(frequency)])?.scalar()?;
        Ok(self.to_bits(bound))
    }

    /// A function without parameters: what it declares, as a u32.
    pub(crate) fn declaration(
        &mut self,
        hook: ir::FunctionId,
        scalar: ir::Scalar,
    ) -> Result<Value, JitError> {
        self.check(hook, &[], ir::Type::Scalar(scalar))?;
        let said = self.inline(hook, Vec::new())?.scalar()?;
        let bits = self.to_bits(said);
        Ok(self.builder.ins().ireduce(I32, bits))
    }

    /// A function of scalars, given where their bits are; the bits of its result.
    pub(crate) fn of_scalars(
        &mut self,
        function: ir::FunctionId,
        arguments: Value,
    ) -> Result<Value, JitError> {
        let lowered = self.program.function(function)?;
        self.scene = None;
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
            operands.push(Operand::Scalar(self.from_bits(scalar, bits)));
        }
        let result = self.inline(function, operands)?.scalar()?;
        Ok(self.to_bits(result))
    }
}

const VERTEX: ir::Type = ir::Type::View(ir::View::Vertex);
const NEIGHBOR: ir::Type = ir::Type::View(ir::View::Neighbor);
const U32: ir::Type = ir::Type::Scalar(ir::Scalar::U32);

fn vertex([id, label]: [Value; 2]) -> Operand {
    Operand::View(Seen::Vertex { id, label })
}
