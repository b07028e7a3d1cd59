//! Runs of programs from files, compiled with this crate: as `ripplet_lp` has those of its own, and for the
//! same reason.

use crate::JitProgram;
use ripplet_graph::GraphView;
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::{Executor, Observer, Outcome, RunError, Settings};

/// [`CpuExecutor`]'s [`Executor::run`], of programs with one type of scores.
type Run<S> = fn(
    &CpuExecutor,
    GraphView<'_>,
    &JitProgram<S>,
    &Settings,
    &mut dyn Observer,
) -> Result<Outcome, RunError>;

#[used]
static F32: Run<f32> =
    |executor, graph, program, settings, observer| executor.run(graph, program, settings, observer);
#[used]
static I64: Run<i64> =
    |executor, graph, program, settings, observer| executor.run(graph, program, settings, observer);
#[used]
static U64: Run<u64> =
    |executor, graph, program, settings, observer| executor.run(graph, program, settings, observer);
