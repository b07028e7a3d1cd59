//! Lowering of accesses to views: fields, columns, random bits.

use super::{Local, Lowering, Seen};
use crate::JitError;
use crate::machine::{self, Place, host};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlags, Signature, Type, Value};
use cranelift_codegen::isa::CallConv;
use ripplet_hooks::ir::{self, Field};

/// The first stream of programs; see `Clock::seed` in `ripplet_lp`.
const FIRST_STREAM: i64 = 16;

impl Lowering<'_, '_> {
    /// Loads a field of a frame. Frames are valid, aligned, and constant during a call.
    pub(super) fn load(&mut self, frame: Value, place: Place) -> Value {
        let flags = MemFlags::trusted().with_readonly().with_can_move();
        self.builder.ins().load(place.ty, flags, frame, place.offset)
    }

    /// Loads value `index` (i64, below the number of values) behind a pointer, in its current
    /// state.
    pub(super) fn load_at(&mut self, ty: Type, values: Value, index: Value) -> Value {
        let address = self.address_of(values, index);
        self.builder.ins().load(ty, MemFlags::trusted(), address, 0)
    }

    /// Returns the address of the 32-bit value `index` behind a pointer.
    fn address_of(&mut self, values: Value, index: Value) -> Value {
        let offset = self.builder.ins().imul_imm(index, i64::from(I32.bytes()));
        self.builder.ins().iadd(values, offset)
    }

    /// Loads value `index` (i64) behind a pointer; returns `otherwise` if it is out of bounds.
    pub(super) fn load_below(
        &mut self,
        ty: Type,
        (values, count): (Value, Value),
        index: Value,
        otherwise: Value,
    ) -> Value {
        let is_there = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, count);
        self.load_where(ty, is_there, values, index, otherwise)
    }

    /// Loads value `index` (i64) behind a pointer if `is_there`; else returns `otherwise`.
    fn load_where(
        &mut self,
        ty: Type,
        is_there: Value,
        values: Value,
        index: Value,
        otherwise: Value,
    ) -> Value {
        let [there, join] = [self.builder.create_block(), self.builder.create_block()];
        let value = self.builder.append_block_param(join, ty);
        self.builder.ins().brif(is_there, there, &[], join, &[otherwise.into()]);
        self.begin(there);
        let loaded = self.load_at(ty, values, index);
        self.jump(join, &[loaded]);
        self.begin(join);
        value
    }

    pub(super) fn seen(&mut self, view: ir::LocalId) -> Result<Seen, JitError> {
        match self.local(view)? {
            Local::View(seen) => Ok(seen),
            _ => Err(JitError::unsound("a view is wanted where there is none")),
        }
    }

    /// Returns the address of the context's frame.
    pub(super) fn context(&mut self) -> Result<Value, JitError> {
        self.context.ok_or_else(|| JitError::unsound("a view in a function that has none"))
    }

    pub(super) fn field(&mut self, view: ir::LocalId, field: Field) -> Result<Value, JitError> {
        use machine::{candidate, context, update};
        let seen = self.seen(view)?;
        Ok(match (field, seen) {
            (Field::Id, _) => self.id_of(seen)?,
            (Field::Label, Seen::Candidate { frame }) => self.load(frame, candidate::LABEL),
            (
                Field::Label,
                Seen::Vertex { label, .. }
                | Seen::VertexMut { label, .. }
                | Seen::Neighbor { label, .. },
            ) => label,
            (Field::Degree, _) => self.degree(seen)?,
            (Field::Round, _) => {
                let context = self.context()?;
                self.load(context, context::ROUND)
            }
            (Field::Weight, Seen::Neighbor { weight, .. }) => weight,
            (Field::Frequency, Seen::Candidate { frame }) => self.load(frame, candidate::FREQUENCY),
            (Field::Frequency, Seen::VertexMut { frame, .. }) => {
                self.load(frame, update::FREQUENCY)
            }
            (Field::TotalVotes, Seen::Candidate { frame }) => {
                self.load(frame, candidate::TOTAL_VOTES)
            }
            (Field::TotalVotes, Seen::VertexMut { frame, .. }) => {
                self.load(frame, update::TOTAL_VOTES)
            }
            (Field::GrandTotal, Seen::Candidate { frame }) => {
                self.load(frame, candidate::GRAND_TOTAL)
            }
            (Field::Total, Seen::Candidate { frame }) => self.total(frame),
            (Field::Carried, Seen::VertexMut { frame, .. }) => self.load(frame, update::CARRIED),
            _ => return Err(JitError::unsound("a view is asked for what it does not know")),
        })
    }

    fn id_of(&self, seen: Seen) -> Result<Value, JitError> {
        match seen {
            Seen::Vertex { id, .. } | Seen::VertexMut { id, .. } | Seen::Neighbor { id, .. } => {
                Ok(id)
            }
            Seen::Candidate { .. } => Err(JitError::unsound("a candidate has no id")),
        }
    }

    fn degree(&mut self, seen: Seen) -> Result<Value, JitError> {
        let (id, frame) = (self.id_of(seen)?, self.context()?);
        let context = self.load(frame, machine::context::SCENE);
        Ok(self.host(host::degree_address(), &[I64, I32], I32, &[context, id]))
    }

    fn total(&mut self, frame: Value) -> Value {
        use machine::candidate::{COUNT, LABEL, OTHERWISE, TOTALS};
        let [label, totals, count, otherwise] =
            [LABEL, TOTALS, COUNT, OTHERWISE].map(|place| self.load(frame, place));
        let label = self.builder.ins().uextend(I64, label);
        self.load_below(I32, (totals, count), label, otherwise)
    }

    /// Calls a function of the host program.
    pub(super) fn host(
        &mut self,
        address: usize,
        parameters: &[Type],
        result: Type,
        arguments: &[Value],
    ) -> Value {
        let mut signature = Signature::new(self.call_convention());
        signature.params.extend(parameters.iter().map(|&ty| AbiParam::new(ty)));
        signature.returns.push(AbiParam::new(result));
        let signature = self.builder.import_signature(signature);
        let address = self.builder.ins().iconst(I64, address as i64);
        let call = self.builder.ins().call_indirect(signature, address, arguments);
        self.builder.inst_results(call)[0]
    }

    fn call_convention(&self) -> CallConv {
        use cranelift_module::Module;
        self.module.target_config().default_call_conv
    }

    /// Lowers `mix` of `ripplet_lp`'s hash.
    fn mix(&mut self, mut x: Value) -> Value {
        let steps = [(16, Some(0x7feb_352d_i64)), (15, Some(0x846c_a68b)), (16, None)];
        for (shift, factor) in steps {
            let shifted = self.builder.ins().ushr_imm(x, shift);
            x = self.builder.ins().bxor(x, shifted);
            if let Some(factor) = factor {
                let factor = self.builder.ins().iconst(I32, factor);
                x = self.builder.ins().imul(x, factor);
            }
        }
        x
    }

    pub(super) fn random(
        &mut self,
        view: ir::LocalId,
        stream: &ir::Expression,
    ) -> Result<Value, JitError> {
        let seen = self.seen(view)?;
        let (id, frame) = (self.id_of(seen)?, self.context()?);
        let stream = self.scalar(stream)?;
        let stream = self.builder.ins().iadd_imm(stream, FIRST_STREAM);
        let mut key = self.mix(stream);
        for place in [machine::context::ROUND, machine::context::SEED] {
            let part = self.load(frame, place);
            key = self.builder.ins().bxor(part, key);
            key = self.mix(key);
        }
        let drawn = self.builder.ins().bxor(id, key);
        Ok(self.mix(drawn))
    }

    pub(super) fn column(
        &mut self,
        view: ir::LocalId,
        ir::ColumnId(slot): ir::ColumnId,
        index: Option<&ir::Expression>,
    ) -> Result<Value, JitError> {
        let column = *self.program.columns.get(slot).ok_or_else(no_column)?;
        let ty = super::type_of(column.scalar);
        let zero = match column.scalar {
            ir::Scalar::F32 => self.builder.ins().f32const(0.0),
            _ => self.builder.ins().iconst(ty, 0),
        };
        let seen = self.seen(view)?;
        let index = self.index(column.len, index)?;
        if column.len == 0 {
            return Ok(zero);
        }
        if let (Seen::VertexMut { frame, .. }, Some(first)) = (seen, column.draft) {
            let (at, is_there) = self.place_in_draft(frame, first, column.len, index)?;
            let draft = self.load(frame, machine::update::DRAFT);
            return Ok(self.load_where(ty, is_there, draft, at, zero));
        }
        let id = self.id_of(seen)?;
        let (values, count) = machine::column_places(slot);
        let context = self.context()?;
        let (values, count) = (self.load(context, values), self.load(context, count));
        let id = self.builder.ins().uextend(I64, id);
        let Some(index) = index else { return Ok(self.load_below(ty, (values, count), id, zero)) };
        // 32 bits times 32 bits plus 32 bits: no overflow.
        let first = self.builder.ins().imul_imm(id, i64::from(column.len));
        let at = self.builder.ins().iadd(first, index);
        let has = self.is_below(index, column.len);
        let in_values = self.builder.ins().icmp(IntCC::UnsignedLessThan, at, count);
        let is_there = self.builder.ins().band(has, in_values);
        Ok(self.load_where(ty, is_there, values, at, zero))
    }

    pub(super) fn set_column(
        &mut self,
        view: ir::LocalId,
        ir::ColumnId(slot): ir::ColumnId,
        index: Option<&ir::Expression>,
        value: &ir::Expression,
    ) -> Result<(), JitError> {
        let column = *self.program.columns.get(slot).ok_or_else(no_column)?;
        if value.ty != ir::Type::Scalar(column.scalar) {
            return Err(JitError::unsound("a column is set to a value of another type"));
        }
        let (Seen::VertexMut { frame, .. }, Some(first)) = (self.seen(view)?, column.draft) else {
            return Err(JitError::unsound("a column is set that cannot be"));
        };
        let index = self.index(column.len, index)?;
        let value = self.scalar(value)?;
        let (at, is_there) = self.place_in_draft(frame, first, column.len, index)?;
        let [there, join] = [self.builder.create_block(), self.builder.create_block()];
        self.builder.ins().brif(is_there, there, &[], join, &[]);
        self.begin(there);
        let draft = self.load(frame, machine::update::DRAFT);
        let address = self.address_of(draft, at);
        self.builder.ins().store(MemFlags::trusted(), value, address, 0);
        self.builder.ins().jump(join, &[]);
        self.begin(join);
        Ok(())
    }

    /// Returns the place of a column's value in the draft, and whether it exists.
    fn place_in_draft(
        &mut self,
        frame: Value,
        first: u64,
        len: u32,
        index: Option<Value>,
    ) -> Result<(Value, Value), JitError> {
        let index = match index {
            Some(index) => index,
            None => self.builder.ins().iconst(I64, 0),
        };
        let has = self.is_below(index, len);
        // About 2^32 values per column, and few columns: no overflow.
        let first = i64::try_from(first).map_err(|_| JitError::unsound("an endless draft"))?;
        let at = self.builder.ins().iadd_imm(index, first);
        let count = self.load(frame, machine::update::COUNT);
        let in_draft = self.builder.ins().icmp(IntCC::UnsignedLessThan, at, count);
        Ok((at, self.builder.ins().band(has, in_draft)))
    }

    fn is_below(&mut self, index: Value, len: u32) -> Value {
        self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, index, i64::from(len))
    }

    /// Returns an index as i64; `None` for a column of a single value.
    fn index(
        &mut self,
        len: u32,
        index: Option<&ir::Expression>,
    ) -> Result<Option<Value>, JitError> {
        let Some(index) = index else {
            let missing = || JitError::unsound("a column of several values without an index");
            return (len == 1).then_some(None).ok_or_else(missing);
        };
        if index.ty != ir::Type::Scalar(ir::Scalar::U32) {
            return Err(JitError::unsound("an index that is no u32"));
        }
        let index = self.scalar(index)?;
        Ok(Some(self.builder.ins().uextend(I64, index)))
    }
}

fn no_column() -> JitError {
    JitError::unsound("no such column")
}
