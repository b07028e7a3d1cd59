//! Kernel arguments: the state of a run, and the phase that a launch belongs to.

use super::ranks::Ranks;
use super::state::{Column, LpState, Phase, Staged};
use super::tuning::Tuning;
use crate::lists::Copied;
use ripplet_graph::VertexId;
use ripplet_lp::{ProgramInfo, Round, Scalar, Schedule};
use std::ops::Range;

/// Number of distinct stamps of changes, from 1 on: those of a byte except 0. After this many
/// phases, the marks are cleared, and stamps repeat.
const STAMPS: u32 = 255;

/// If less than one vertex in `SPARSE` was visited in a round, most vertex blocks are inactive in
/// the next, and their stamps are read first (`bench/runs/2026-11-21-h200/11-grains`; `10-final`
/// there is without stamps).
const SPARSE: u64 = 4;

/// Argument of kernels that belong to no phase: `Run` in `best.cuh`.
pub(super) struct RunArgument(pub(super) Vec<u8>);

/// Argument of a phase's kernels: `Step` in `kernels.cuh`.
pub(super) struct StepArgument(pub(super) Vec<u8>);

/// Argument of kernels that exchange messages: `RankStep` in `exchange.cuh`.
pub(super) struct RankStepArgument(pub(super) Vec<u8>);

/// Argument of kernels that record where lists are: `Found` or `FoundStaged` in `kernels.cuh`.
pub(super) struct FoundArgument(pub(super) Vec<u8>);

/// A part of a phase: vertices that update together.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub vertices: Range<VertexId>,
    /// Number of the part in the phase.
    pub number: u32,
    /// Whether changed vertices activate no neighbours; vertices pull later.
    pub defers: bool,
    /// Whether members request their lists on demand.
    pub late: bool,
}

impl Part {
    /// Returns the only or first part of a phase.
    pub fn of(vertices: Range<VertexId>) -> Part {
        Part { vertices, number: 0, defers: false, late: false }
    }
}

/// The state of a run as kernels get it, and its place in the sequence of rounds and phases.
pub(super) struct Arguments {
    pub state: LpState,
    /// Bytes that follow `state`: columns and the program's parameters.
    tail: Vec<u8>,
    schedule: Schedule,
    tuning: Tuning,
    /// Whether the stamps of the previous phase are kept beside those of the current one.
    keeps_last_stamps: bool,
    /// Phases done over all rounds; and how many were done before this round, and before the last
    /// one.
    phases_done: u32,
    begun: [u32; 2],
    /// The index of the current phase in the round.
    phase: u32,
    /// Whether few vertices were visited in the last round, so that most vertex blocks are
    /// inactive.
    is_sparse: bool,
}

impl Arguments {
    /// Returns the arguments before the first round.
    pub fn new(
        state: LpState,
        columns: &[Column],
        program: &ProgramInfo,
        (schedule, tuning): (Schedule, Tuning),
        keeps_last_stamps: bool,
    ) -> Arguments {
        let tail = [bytemuck::cast_slice(columns), &parameters(program)[..]].concat();
        Arguments {
            state,
            tail,
            schedule,
            tuning,
            keeps_last_stamps,
            phases_done: 0,
            begun: [0; 2],
            phase: 0,
            is_sparse: false,
        }
    }

    /// Begins a round.
    pub fn begin_round(&mut self, index: u32) {
        self.state.round.index = index;
        self.begun = [self.phases_done, self.begun[0]];
        self.state.round.phases = match self.schedule.is_in_place() {
            true => self.tuning.async_phases(index, self.state.graph.vertices),
            false => self.schedule.phases(),
        };
    }

    /// Returns the number of phases of the round.
    pub fn phases(&self) -> u32 {
        self.state.round.phases
    }

    /// Begins a phase of the round.
    pub fn begin_phase(&mut self, phase: u32) {
        self.phase = phase;
    }

    /// Ends a phase.
    pub fn end_phase(&mut self) {
        self.phases_done = self.phases_done.wrapping_add(1);
    }

    /// Sets how the next round begins, by what all ranks visited in the last one.
    pub fn expect_after(&mut self, round: &Round) {
        self.is_sparse = round.visited < u64::from(self.state.graph.vertices) / SPARSE;
    }

    /// Returns the index of the current phase in the round.
    pub fn phase(&self) -> u32 {
        self.phase
    }

    /// Returns the number of phases before the current one, over all rounds.
    pub fn phases_done(&self) -> u32 {
        self.phases_done
    }

    /// Returns the parity of the current phase, which selects its counters.
    pub fn parity(&self) -> usize {
        self.phases_done as usize & 1
    }

    /// Whether stamps of changes repeat from the current phase on, so that they must be cleared.
    pub fn stamps_repeat(&self) -> bool {
        self.phases_done.is_multiple_of(STAMPS)
    }

    /// Returns the argument of kernels that belong to no phase.
    pub fn run(&self) -> RunArgument {
        RunArgument([bytemuck::bytes_of(&self.state), &self.tail].concat())
    }

    /// Returns the argument of kernels that belong to no phase, with another state.
    pub fn run_with(&self, state: &LpState) -> RunArgument {
        RunArgument([bytemuck::bytes_of(state), &self.tail].concat())
    }

    /// Returns the argument for a part of the current phase.
    pub fn step(&self, part: Part) -> StepArgument {
        self.step_of(self.phase, part)
    }

    /// Returns the argument for a part of another phase of the round, under the number of the
    /// current one.
    pub fn step_of(&self, phase: u32, part: Part) -> StepArgument {
        self.step_at(self.phase_at(phase, part, self.phases_done))
    }

    /// Returns the argument for some vertices of the previous phase, which was `phase` in its
    /// round.
    pub fn past_step(&self, phase: u32, vertices: Range<VertexId>) -> StepArgument {
        self.step_at(self.phase_at(phase, Part::of(vertices), self.phases_done.wrapping_sub(1)))
    }

    /// Returns the argument of kernels that exchange the current phase's messages.
    pub fn rank_step(&self, own: Range<VertexId>, ranks: &Ranks) -> RankStepArgument {
        let current = self.phase_at(self.phase, Part::of(own), self.phases_done);
        let state = self.state_at(&current);
        RankStepArgument(
            [
                bytemuck::bytes_of(&current),
                bytemuck::bytes_of(ranks),
                bytemuck::bytes_of(&state),
                &self.tail,
            ]
            .concat(),
        )
    }

    /// Returns the argument that records where lists copied by range are.
    pub fn found(&self, copied: &Copied) -> FoundArgument {
        FoundArgument([bytemuck::bytes_of(copied), &self.run().0].concat())
    }

    /// Returns the argument that records where lists copied by the host are.
    pub fn found_staged(&self, staged: &Staged) -> FoundArgument {
        FoundArgument([bytemuck::bytes_of(staged), &[0; 4], &self.run().0[..]].concat())
    }

    fn step_at(&self, current: Phase) -> StepArgument {
        let state = self.state_at(&current);
        StepArgument(
            [bytemuck::bytes_of(&current), bytemuck::bytes_of(&state), &self.tail].concat(),
        )
    }

    /// Returns the `LpState` for a phase, with the stamps of its parity.
    fn state_at(&self, current: &Phase) -> LpState {
        let mut state = self.state;
        if self.keeps_last_stamps && state.frontier.pull_threshold > 0 {
            let before = u64::from(current.parity) * u64::from(state.graph.vertices);
            state.frontier.changed = state.frontier.changed.plus(before);
        }
        state
    }

    fn phase_at(&self, phase: u32, part: Part, number: u32) -> Phase {
        let Part { vertices, number: part, defers, late } = part;
        Phase {
            index: phase,
            number,
            parity: number & 1,
            stamp: number % STAMPS + 1,
            since: self.begun[1],
            is_sparse: self.is_sparse.into(),
            takes_smaller_only: self.schedule.is_pick_less(self.state.round.index).into(),
            first: vertices.start,
            end: vertices.end,
            part,
            defers: defers.into(),
            late: late.into(),
        }
    }
}

/// Returns a program's parameters as the kernels have them: each in the low bits of 8 bytes.
fn parameters(program: &ProgramInfo) -> Vec<u8> {
    let word = |scalar: &Scalar| match *scalar {
        Scalar::U32(value) => u64::from(value),
        Scalar::I32(value) => u64::from(value as u32),
        Scalar::U64(value) => value,
        Scalar::I64(value) => value as u64,
        Scalar::F32(value) => u64::from(value.to_bits()),
        Scalar::Bool(value) => u64::from(value),
    };
    let mut words: Vec<u64> = program.parameters.iter().map(word).collect();
    words.resize(words.len().max(1), 0);
    bytemuck::cast_slice(&words).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ripplet_gpu::Address;
    use ripplet_lp::programs::Lpa;

    fn arguments(schedule: Schedule, keeps_last_stamps: bool) -> Arguments {
        let mut state = LpState::default();
        state.graph.vertices = 100;
        state.frontier.pull_threshold = 3;
        state.frontier.changed = Address(1000);
        let program = ProgramInfo::of(&Lpa::default());
        let order = (schedule, Tuning::default());
        Arguments::new(state, &[Column::default()], &program, order, keeps_last_stamps)
    }

    fn phase_of(step: &StepArgument) -> Phase {
        bytemuck::pod_read_unaligned(&step.0[..size_of::<Phase>()])
    }

    #[test]
    fn phases_are_counted_over_all_rounds() {
        let mut arguments = arguments(Schedule::phased_in(2), false);
        let mut seen = Vec::new();
        for round in 0..3 {
            arguments.begin_round(round);
            for phase in 0..arguments.phases() {
                arguments.begin_phase(phase);
                let current = phase_of(&arguments.step(Part::of(0..100)));
                seen.push([current.index, current.number, current.parity, current.since]);
                arguments.end_phase();
            }
        }
        let expected =
            [[0, 0, 0, 0], [1, 1, 1, 0], [0, 2, 0, 0], [1, 3, 1, 0], [0, 4, 0, 2], [1, 5, 1, 2]];
        assert_eq!(seen, expected);
    }

    #[test]
    fn stamps_repeat_after_all_of_them() {
        let mut arguments = arguments(Schedule::sync(), false);
        let stamp = |arguments: &Arguments| phase_of(&arguments.step(Part::of(0..100))).stamp;
        assert!(arguments.stamps_repeat() && stamp(&arguments) == 1);
        for phase in 1..STAMPS {
            arguments.end_phase();
            assert!(!arguments.stamps_repeat() && stamp(&arguments) == phase + 1);
        }
        arguments.end_phase();
        assert!(arguments.stamps_repeat() && stamp(&arguments) == 1);
    }

    #[test]
    fn a_past_step_has_the_stamps_of_its_phase() {
        let mut arguments = arguments(Schedule::sync(), true);
        let changed = |step: &StepArgument| {
            let state = &step.0[size_of::<Phase>()..][..size_of::<LpState>()];
            bytemuck::pod_read_unaligned::<LpState>(state).frontier.changed.0
        };
        let first = arguments.step(Part::of(0..100));
        arguments.end_phase();
        let second = arguments.step(Part::of(0..100));
        assert_eq!([changed(&first), changed(&second)], [1000, 1100]);
        let past = arguments.past_step(0, 0..100);
        assert_eq!((changed(&past), phase_of(&past).stamp), (1000, phase_of(&first).stamp));
    }
}
