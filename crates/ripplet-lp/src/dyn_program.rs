//! Type-erased programs: chosen at run time, not at compile time of the caller.

use crate::profile::Measured;
use crate::promise::{CheckError, Checked};
use crate::ranks::{CpuRank, RankStart};
use crate::rounds::Rounds;
use crate::{ProgramInfo, Settings};
use ripplet_graph::{GraphView, Observer, OutOfMemory};

/// A [`Program`](crate::Program) as a trait object, which an [`Executor`](crate::Executor) takes.
///
/// Every program with [`Hints`](crate::Hints) implements it: a reference to a program coerces. The crate that contains the
/// coercion compiles the engine's loops for that program. The programs that come with ripplet
/// convert into `Box<dyn DynProgram>`, with loops compiled in this crate.
///
/// ```
/// use ripplet_lp::DynProgram;
/// use ripplet_lp::programs::{Cdlp, Lpa};
///
/// let named = |name: &str| -> Box<dyn DynProgram> {
///     if name == "cdlp" { Cdlp.into() } else { Lpa::default().into() }
/// };
/// assert_eq!(named("cdlp").info().name, "cdlp");
/// ```
pub trait DynProgram: Send + Sync {
    /// Returns the declarations of the program.
    fn info(&self) -> ProgramInfo;

    /// Returns the state before the first round of a run on the CPU; rounds run on rayon's current
    /// pool.
    ///
    /// # Errors
    /// If memory is refused.
    #[doc(hidden)]
    fn begin<'a>(
        &'a self,
        graph: GraphView<'a>,
        settings: &Settings,
    ) -> Result<Box<dyn Rounds + 'a>, OutOfMemory>;

    /// Returns the state before full rounds that are measured in parts.
    ///
    /// # Errors
    /// If memory is refused.
    #[doc(hidden)]
    fn begin_measured<'a>(
        &'a self,
        graph: GraphView<'a>,
        settings: &Settings,
    ) -> Result<Box<dyn Measured + 'a>, OutOfMemory>;

    /// Tests the program's promises; see [`check_program`](crate::check::check_program), which
    /// checks the settings first.
    ///
    /// # Errors
    /// With the first broken promise, or if memory is refused.
    #[doc(hidden)]
    fn check(
        &self,
        graph: GraphView<'_>,
        settings: &Settings,
        sample: u32,
        observer: &dyn Observer,
    ) -> Result<Checked, CheckError>;

    /// Returns the state of a rank before the first round of a run on the CPU.
    ///
    /// # Errors
    /// If memory is refused.
    #[doc(hidden)]
    fn begin_rank<'a>(
        &'a self,
        graph: GraphView<'a>,
        settings: &Settings,
        start: RankStart,
    ) -> Result<Box<dyn CpuRank + 'a>, OutOfMemory>;
}
