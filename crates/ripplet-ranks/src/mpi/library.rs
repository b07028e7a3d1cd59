//! Where an MPI library is found, and which interface it has.

use super::functions::{Calls, Interface, find};
use super::{LIBRARY, OpenError};
use crate::{Family, Launch};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY, RTLD_LOCAL, RTLD_NOW};
use std::env;
use std::error::Error;
use std::ffi::c_void;
use std::fs;
use std::iter::successors;
use std::path::{Path, PathBuf};

/// The file names of an interface's library.
#[cfg(not(target_vendor = "apple"))]
const NAMES: [(Interface, &str); 3] = [
    (Interface::Mpich, "libmpi.so.12"),
    (Interface::Standard, "libmpi_abi.so.1"),
    (Interface::OpenMpi, "libmpi.so.40"),
];
#[cfg(target_vendor = "apple")]
const NAMES: [(Interface, &str); 3] = [
    (Interface::Mpich, "libmpi.12.dylib"),
    (Interface::Standard, "libmpi_abi.1.dylib"),
    (Interface::OpenMpi, "libmpi.40.dylib"),
];

/// How the names of programs begin that start ranks: of MPICH, and of Open MPI and its run-time environment.
const LAUNCHERS: [&str; 7] =
    ["hydra_pmi_proxy", "mpiexec", "mpirun", "prted", "prterun", "orted", "orterun"];
/// The most programs between a launcher and this process, such as scripts and shells.
const PARENTS: usize = 16;

/// An opened library.
pub(super) struct Opened {
    pub calls: Box<dyn Calls>,
    /// Its path or name.
    pub name: String,
    pub family: Family,
}

/// Opens the library of this name, or the one of the launcher.
pub(super) fn open(launch: &Launch, asked: Option<&Path>) -> Result<Opened, OpenError> {
    let asked = asked
        .map(Path::to_owned)
        .or_else(|| env::var_os(LIBRARY).filter(|path| !path.is_empty()).map(PathBuf::from));
    if let Some(path) = asked.or_else(loaded) {
        return open_path(&path);
    }
    let tried = candidates(launch);
    let mut found = tried.iter().filter(|(_, path)| can_open(path));
    let Some((interface, path)) = found.next() else {
        let tried = NAMES.map(|(_, name)| name.to_owned()).into();
        return Err(OpenError::NotFound { tried });
    };
    if launch.family.is_none() {
        let family = |interface: Interface| interface == Interface::OpenMpi;
        if let Some((_, other)) = found.find(|(other, _)| family(*other) != family(*interface)) {
            let found = [path, other].map(|path| path.display().to_string());
            return Err(OpenError::Several { found, launcher: launch.variable });
        }
    }
    load(path, *interface)
}

/// Returns the MPI that this process has loaded already, such as that of mpi4py.
fn loaded() -> Option<PathBuf> {
    // The file of the system that lists them; without it, none is known.
    let mapped = fs::read_to_string("/proc/self/maps").ok()?;
    let paths = mapped.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    paths.into_iter().find(|path| interface_of(path).is_some()).map(Path::to_owned)
}

/// Opens a library by its path.
fn open_path(path: &Path) -> Result<Opened, OpenError> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match interface_of(&real) {
        Some(interface) => load(path, interface),
        None => Err(OpenError::NotKnown { library: path.display().to_string() }),
    }
}

/// Returns the interface that the name of a library says.
fn interface_of(path: &Path) -> Option<Interface> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is = |known: &str| {
        // A library may have more numbers at its end: libmpi.so.12.3.1.
        name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    NAMES.iter().find(|(_, known)| is(known)).map(|&(interface, _)| interface)
}

/// Returns the libraries to try, the launcher's family first, each first beside the launcher.
fn candidates(launch: &Launch) -> Vec<(Interface, PathBuf)> {
    let mut names = NAMES.to_vec();
    if launch.family == Some(Family::OpenMpi) {
        names.rotate_right(1);
    }
    let folders = folders();
    let mut all = Vec::new();
    for (interface, name) in names {
        let beside = folders.iter().map(|folder| folder.join(name));
        // A bare name is searched for by the system.
        let each = beside.filter(|path| path.is_file()).chain([PathBuf::from(name)]);
        all.extend(each.map(|path| (interface, path)));
    }
    all
}

/// Returns the folders of libraries of the launcher: what it says, beside the program that started this process, or beside the
/// `mpirun` of the search path.
fn folders() -> Vec<PathBuf> {
    let said = ["OPAL_PREFIX", "PMIX_PREFIX"].into_iter().filter_map(env::var_os);
    let path = env::var_os("PATH").unwrap_or_default();
    let searched = env::split_paths(&path).map(|folder| folder.join("mpirun"));
    let searched = searched.filter(|launcher| launcher.is_file());
    let beside = starters().chain(searched).filter_map(|launcher| {
        let launcher = launcher.canonicalize().ok()?;
        Some(launcher.parent()?.parent()?.to_owned())
    });
    let prefixes = said.map(PathBuf::from).chain(beside);
    prefixes.flat_map(|prefix| ["lib", "lib64"].map(|lib| prefix.join(lib))).collect()
}

/// Returns the launchers among the processes that started this one: it may have been started by its full path, which no variable
/// has. Where the system does not list processes, there are none.
fn starters() -> impl Iterator<Item = PathBuf> {
    let parents = successors(Some("self".to_owned()), |process| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        parent_in(&stat).map(str::to_owned)
    });
    let programs = parents.skip(1).take(PARENTS);
    let programs =
        programs.filter_map(|process| fs::read_link(format!("/proc/{process}/exe")).ok());
    programs.filter(|program| {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        LAUNCHERS.iter().any(|launcher| name.starts_with(launcher))
    })
}

/// Returns the parent's number in the text of `/proc/PROCESS/stat`: the second field behind the name, which is in parentheses
/// and may contain any of them.
fn parent_in(stat: &str) -> Option<&str> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    behind_name.split_ascii_whitespace().nth(1).filter(|parent| *parent != "0")
}

/// Returns whether the system can open a library, which stays open: to close and open an MPI again is not what they are
/// tested with.
fn can_open(path: &Path) -> bool {
    // SAFETY: the initializers of an MPI library do no harm.
    unsafe { Library::open(Some(path), RTLD_LAZY | RTLD_LOCAL) }.map(std::mem::forget).is_ok()
}

fn load(path: &Path, interface: Interface) -> Result<Opened, OpenError> {
    let name = path.display().to_string();
    // Open MPI's components find its functions in the global scope.
    // SAFETY: the initializers of an MPI library do no harm.
    let library =
        unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }.map_err(|error| {
            // The system's explanation is the error's cause.
            let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            OpenError::NotOpened { library: name.clone(), reason }
        })?;
    // SAFETY: only whether there is such an object is asked.
    let is_open_mpi = unsafe { library.get::<*mut c_void>(b"ompi_mpi_comm_world") }.is_ok();
    if is_open_mpi != (interface == Interface::OpenMpi) {
        return Err(OpenError::NotKnown { library: name });
    }
    // SAFETY: the name is that of this interface, and what distinguishes Open MPI from the others agrees; the library is
    // never unloaded, as its handle is forgotten below.
    let calls = unsafe { find(&library, interface) }
        .map_err(|function| OpenError::NoFunction { library: name.clone(), function })?;
    std::mem::forget(library);
    let family = match interface {
        Interface::Mpich => Family::Mpich,
        Interface::OpenMpi => Family::OpenMpi,
        Interface::Standard if calls.version().starts_with("Open MPI") => Family::OpenMpi,
        Interface::Standard => Family::Mpich,
    };
    Ok(Opened { calls, name, family })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_without_a_known_name_is_refused_before_it_is_opened() {
        for path in ["/lib/libc.so.6", "libmpi.so", "libmpi.so.120", "/nowhere/libmpi_abi.so.2", ""]
        {
            let error = open_path(Path::new(path)).err();
            assert_eq!(error, Some(OpenError::NotKnown { library: path.into() }), "{path}");
        }
        let missing = open_path(Path::new("/nowhere/libmpi.so.12.1.8")).err();
        assert!(matches!(missing, Some(OpenError::NotOpened { .. })), "{missing:?}");
    }

    #[test]
    fn a_parent_is_found_behind_any_name_of_a_program() {
        assert_eq!(parent_in("41 (mpirun) S 17 41 41 0 -1"), Some("17"));
        assert_eq!(parent_in("41 (a) S 3 (b) R 17 41"), Some("17"));
        for none in ["", "41 (init) S 0 1 1", "41 (mpirun)", "41 mpirun S 17"] {
            assert_eq!(parent_in(none), None, "{none}");
        }
    }

    #[test]
    fn the_launchers_family_is_tried_first() {
        let with =
            |family| Launch { variable: "PMI_RANK", rank: 0, size: 1, rank_on_host: None, family };
        let first = |family| candidates(&with(family))[0].0;
        assert_eq!(first(Some(Family::OpenMpi)), Interface::OpenMpi);
        assert_eq!(first(Some(Family::Mpich)), Interface::Mpich);
        assert!(candidates(&with(None)).len() >= NAMES.len());
    }
}
