//! What the environment says about a launcher of ranks: `mpirun`, `mpiexec` or `srun`.

use std::env;
use std::str::FromStr;
use thiserror::Error;

/// The family of an MPI, by its binary interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// MPICH and what has its interface: Intel MPI, Cray MPICH, MVAPICH.
    Mpich,
    /// Open MPI.
    OpenMpi,
}

impl Family {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Family::Mpich => "MPICH",
            Family::OpenMpi => "Open MPI",
        }
    }
}

/// A launcher that started this process as one of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The variable by which it was found.
    pub variable: &'static str,
    /// The number of this process, from 0.
    pub rank: usize,
    /// The number of processes.
    pub size: usize,
    /// The number of this process among those on its host, from 0; `None` if the environment does not have it.
    pub rank_on_host: Option<usize>,
    /// The family of the launcher; `None` if it starts those of several, as `srun` does.
    pub family: Option<Family>,
}

/// Variables of a launcher: the rank, the number of ranks, one that must be there, too, and the family.
type Variables = (&'static str, &'static str, Option<&'static str>, Option<Family>);

/// Launchers, the more specific ones first: Open MPI's also sets those of PMIx, and Slurm's those of PMI.
const LAUNCHERS: [Variables; 4] = [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", None, Some(Family::OpenMpi)),
    // A batch script of Slurm has a rank and a number of tasks, too, but no step.
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", Some("SLURM_STEP_ID"), None),
    ("PMI_RANK", "PMI_SIZE", None, Some(Family::Mpich)),
    // Several MPIs read it; its number of ranks is not in the environment.
    ("PMIX_RANK", "", None, None),
];

/// Variables with the number of a process among those on its host: of Open MPI, Slurm and MPICH.
const RANK_ON_HOST: [&str; 3] = ["OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "MPI_LOCALRANKID"];

impl Launch {
    /// Returns the launcher of this process, if one started it.
    pub fn detect() -> Option<Launch> {
        Launch::of(|name| env::var(name).ok())
    }

    /// Returns the launcher by these variables.
    ///
    /// A rank that is no number, or not below the number of ranks, is no launcher's.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Launch> {
        let number = |name: &str| variable(name)?.trim().parse::<usize>().ok();
        let rank_on_host = RANK_ON_HOST.into_iter().find_map(number);
        LAUNCHERS.into_iter().find_map(|(rank_of, size_of, also, family)| {
            let rank = number(rank_of)?;
            let size = match size_of {
                // Unknown: at least this one.
                "" => rank.checked_add(1)?,
                name => number(name)?,
            };
            let is_whole = also.is_none_or(|name| variable(name).is_some());
            let launch = Launch { variable: rank_of, rank, size, rank_on_host, family };
            (rank < size && is_whole).then_some(launch)
        })
    }

    /// Returns the launcher of this process, if it may have started several.
    pub fn of_several() -> Option<Launch> {
        Launch::detect().filter(Launch::may_be_several)
    }

    /// Returns whether the launcher may have started several processes: it did, or the environment does not have their
    /// number.
    pub fn may_be_several(&self) -> bool {
        self.size > 1 || !self.knows_size()
    }

    /// Returns whether the environment has the number of ranks.
    pub fn knows_size(&self) -> bool {
        self.variable != "PMIX_RANK"
    }
}

/// A user's choice of the processes that share a run.
///
/// # Examples
/// ```
/// use ripplet_ranks::Sharing;
///
/// // Processes that no launcher started run alone.
/// let sharing: Sharing = "auto".parse()?;
/// if let Some(launch) = sharing.launch()? {
///     println!("rank {} of {}", launch.rank, launch.size);
/// }
/// assert!("two".parse::<Sharing>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// `none`: this process alone, although others may have been started.
    #[default]
    None,
    /// `auto`: the processes that a launcher of MPI started, if it may have started several.
    Auto,
    /// `mpi`: the processes that a launcher of MPI started.
    Mpi,
}

/// No launcher of MPI started this process, although [`Sharing::Mpi`] asks for one.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("no launcher of MPI started this process")]
pub struct NotLaunched;

/// A text that is no [`Sharing`].
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("expected none, auto or mpi, not {0}")]
pub struct BadSharing(String);

impl Sharing {
    /// Returns the launcher of the processes that share the run; `None` if this process runs alone.
    ///
    /// # Errors
    /// If the choice is [`Sharing::Mpi`], and no launcher started this process.
    pub fn launch(self) -> Result<Option<Launch>, NotLaunched> {
        match self {
            Sharing::None => Ok(None),
            Sharing::Auto => Ok(Launch::of_several()),
            Sharing::Mpi => Launch::detect().map(Some).ok_or(NotLaunched),
        }
    }
}

impl FromStr for Sharing {
    type Err = BadSharing;

    fn from_str(text: &str) -> Result<Sharing, BadSharing> {
        match text {
            "none" => Ok(Sharing::None),
            "auto" => Ok(Sharing::Auto),
            "mpi" => Ok(Sharing::Mpi),
            _ => Err(BadSharing(text.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<Launch> {
        Launch::of(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
        })
    }

    #[test]
    fn launchers_are_found_by_their_variables() {
        assert_eq!(of(&[]), None);
        let open =
            of(&[("PMIX_RANK", "1"), ("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4")]);
        let open = open.unwrap();
        assert_eq!((open.rank, open.size, open.family), (1, 4, Some(Family::OpenMpi)));
        let hydra = of(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")]).unwrap();
        assert_eq!((hydra.rank, hydra.size, hydra.family), (0, 2, Some(Family::Mpich)));
        let step = [("SLURM_PROCID", "3"), ("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_STEP_ID", "0")];
        assert_eq!(
            of(&step).map(|launch| (launch.rank, launch.size, launch.family)),
            Some((3, 8, None))
        );
        // srun with PMI-2 sets both: Slurm starts ranks of either family.
        let both = [&step[..], &[("PMI_RANK", "3"), ("PMI_SIZE", "8")]].concat();
        assert_eq!(of(&both).unwrap().variable, "SLURM_PROCID");
        let other = of(&[("PMIX_RANK", "5")]).unwrap();
        assert!(!other.knows_size() && other.rank == 5);
    }

    #[test]
    fn a_launcher_numbers_the_processes_of_a_host() {
        let hydra = [("PMI_RANK", "3"), ("PMI_SIZE", "4")];
        assert_eq!(of(&hydra).unwrap().rank_on_host, None);
        for name in RANK_ON_HOST {
            let on_host = |number| of(&[&hydra[..], &[(name, number)]].concat()).unwrap();
            assert_eq!(on_host("1").rank_on_host, Some(1), "{name}");
            assert_eq!(on_host("first").rank_on_host, None, "{name}");
        }
    }

    #[test]
    fn one_process_of_a_launcher_is_not_several() {
        let may_be_several = |variables: &[_]| of(variables).unwrap().may_be_several();
        assert!(!may_be_several(&[("PMI_RANK", "0"), ("PMI_SIZE", "1")]));
        assert!(may_be_several(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")]));
        // Its number of ranks is unknown.
        assert!(may_be_several(&[("PMIX_RANK", "0")]));
    }

    #[test]
    fn a_batch_script_of_slurm_is_no_rank_and_bad_numbers_are_none() {
        assert_eq!(of(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")]), None);
        for bad in ["", "-1", "x", "4", "99999999999999999999999"] {
            assert_eq!(of(&[("PMI_RANK", bad), ("PMI_SIZE", "4")]), None, "{bad}");
        }
        assert_eq!(of(&[("PMIX_RANK", &usize::MAX.to_string())]), None);
        assert_eq!(of(&[("PMI_RANK", "0")]), None);
    }
}
