//! Runs of the programs that come with ripplet, compiled with this crate.
//!
//! The engine is generic over the program, so each crate that runs one would compile all of it once more.
//! Where little is optimized, rustc takes what a crate below has compiled: this, for whoever is above.

use super::CpuExecutor;
use crate::programs::{Cdlp, Llp, Lpa, Seeded, Slpa};
use crate::{Observer, Outcome, RunError, Settings};
use ripplet_graph::GraphView;

/// [`CpuExecutor::run_on`], of one program.
type Run<P> =
    fn(&CpuExecutor, GraphView<'_>, &P, &Settings, &mut dyn Observer) -> Result<Outcome, RunError>;

#[used]
static CDLP: Run<Cdlp> = CpuExecutor::run_on;
#[used]
static LLP: Run<Llp> = CpuExecutor::run_on;
#[used]
static LPA: Run<Lpa> = CpuExecutor::run_on;
#[used]
static SEEDED: Run<Seeded> = CpuExecutor::run_on;
#[used]
static SLPA: Run<Slpa> = CpuExecutor::run_on;
