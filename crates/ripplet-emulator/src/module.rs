//! Modules of the emulator: compiled once a process, and loaded as often as they run at once.

use crate::fault::{FILE, Fault};
use crate::mutex::lock;
use libloading::Library;
use ripplet_gpu::{DeviceError, Launch, Source};
use std::collections::HashMap;
use std::ffi::{OsString, c_char, c_int, c_void};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

/// Header that kernels are compiled with.
const HEADER: &str = include_str!("emulator.hpp");
/// The code that runs kernels.
const FIBERS: &str = include_str!("fibers.cpp");

/// Compiler options. Floats are rounded after each operation, and frame pointers identify the
/// callers of a collective. Most programs run for less time than they take to compile, so there is
/// little optimisation.
const OPTIONS: [&str; 11] = [
    "-std=c++17",
    "-Og",
    "-g0",
    "-ffp-contract=off",
    "-fPIC",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-strict-aliasing",
    "-fno-omit-frame-pointer",
    "-fno-optimize-sibling-calls",
    "-DRIPPLET_EMULATOR=1",
];

/// No call of a collective may be duplicated: lanes that diverged before it would seem to be at
/// different calls. GCC has an option for this; for Clang, `emulator.hpp` has attributes.
const OPTIONS_OF_GCC: [&str; 1] = ["-fno-thread-jumps"];

/// Checks that the compiler inserts; `fibers.cpp` has the functions that they call. Null addresses
/// raise a signal, so they are not checked one by one.
const CHECKS: [&str; 2] = [
    "-fsanitize=alignment,bounds,shift-exponent,integer-divide-by-zero",
    "-fno-sanitize-recover=all",
];

/// A compiled program.
pub struct EmulatedModule {
    program: Arc<Program>,
}

impl EmulatedModule {
    /// Returns the compiler's warnings, or an empty text.
    #[must_use]
    pub fn warnings(&self) -> &str {
        &self.program.warnings
    }

    pub(super) fn load(source: &Source) -> Result<EmulatedModule, DeviceError> {
        type Slot = Arc<OnceLock<Result<Arc<Program>, DeviceError>>>;
        // Programs of one name. Comparing a few texts costs less than hashing one.
        type Texts = Vec<(String, Slot)>;
        static PROGRAMS: OnceLock<Mutex<HashMap<String, Texts>>> = OnceLock::new();

        let slot = {
            let mut programs = lock(PROGRAMS.get_or_init(Mutex::default));
            let of_name = programs.entry(source.name.clone()).or_default();
            let found = of_name.iter().position(|(text, _)| *text == source.text);
            let at = found.unwrap_or_else(|| {
                of_name.push((source.text.clone(), Slot::default()));
                of_name.len() - 1
            });
            Arc::clone(&of_name[at].1)
        };
        // The lock of the map is released, as others may compile other programs meanwhile.
        let program = slot.get_or_init(|| Program::compile(source).map(Arc::new)).clone()?;
        Ok(EmulatedModule { program })
    }

    /// Runs a kernel to its end.
    ///
    /// # Safety
    /// As for [`ripplet_gpu::Device::launch`].
    pub(super) unsafe fn run(
        &self,
        launch: &Launch,
        argument: &[u8],
        order: u64,
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.program.run(launch, argument, order) }
    }
}

struct Program {
    name: String,
    text: String,
    warnings: String,
    /// The shared library.
    bytes: Vec<u8>,
    /// Loaded copies that run no launch. A copy runs one launch at a time, as its state is in
    /// statics. No copy is ever unloaded, as signal handlers stay.
    idle: Mutex<Vec<Library>>,
}

/// A launch: `Launch` of `fibers.cpp`.
#[repr(C)]
struct Call {
    kernel: *const c_void,
    argument: *const c_void,
    blocks: u32,
    threads: u32,
    shared: u32,
    cooperative: u32,
    order: u64,
    stacks: *mut c_char,
    stack_count: u64,
}

/// Stacks for the threads of a launch, never returned to the system.
struct Stacks {
    first: *mut c_char,
    count: u64,
}

// SAFETY: the stacks have one owner, and a launch does not use them after it returns.
unsafe impl Send for Stacks {}

/// Stacks that no launch uses.
static IDLE_STACKS: Mutex<Vec<Stacks>> = Mutex::new(Vec::new());
/// The fewest stacks that are allocated at a time: for four blocks of 256 threads.
const STACKS: u64 = 1024;

type MakeStacks = unsafe extern "C" fn(u64) -> *mut c_char;

type Entry = unsafe extern "C" fn(*const Call, *mut Fault) -> c_int;

impl Program {
    fn compile(source: &Source) -> Result<Program, DeviceError> {
        let fibers = fibers()?;
        let folder = tempfile::tempdir().map_err(|error| at_files(&error))?;
        let path = |name: &str| folder.path().join(name);
        write(&path("emulator.hpp"), HEADER.as_bytes())?;
        // Clang would name the file by its path.
        let text = format!("#line 1 \"{FILE}\"\n{}", source.text);
        write(&path(FILE), text.as_bytes())?;
        write(&path("kernels.cpp"), b"#include \"emulator.hpp\"\n#include \"kernels\"\n")?;
        write(&path("fibers.o"), fibers)?;
        let mut options = vec!["-Wall", "-Wextra", "-Wno-unknown-pragmas"];
        options.extend(["-shared", "-nodefaultlibs"]);
        options.extend(CHECKS);
        let files = ["kernels.cpp", "fibers.o", "-o", "kernels.so", "-lc", "-lgcc"];
        let warnings = compile(folder.path(), &options, &files, &source.name)?;
        let bytes = fs::read(path("kernels.so")).map_err(|error| at_files(&error))?;
        let (name, text) = (source.name.clone(), source.text.clone());
        Ok(Program { name, text, warnings, bytes, idle: Mutex::default() })
    }

    /// # Safety
    /// The promise of [`ripplet_gpu::Device::launch`].
    unsafe fn run(&self, launch: &Launch, argument: &[u8], order: u64) -> Result<(), DeviceError> {
        let idle = lock(&self.idle).pop();
        let library = match idle {
            Some(library) => library,
            None => self.open()?,
        };
        // SAFETY: the caller's promise; no other thread uses this copy.
        let result = unsafe { self.run_in(&library, launch, argument, order) };
        lock(&self.idle).push(library);
        result
    }

    /// # Safety
    /// The promise of [`ripplet_gpu::Device::launch`], and no launch runs in `library`.
    unsafe fn run_in(
        &self,
        library: &Library,
        launch: &Launch,
        argument: &[u8],
        order: u64,
    ) -> Result<(), DeviceError> {
        let refused = |reason: String| DeviceError::Failed {
            what: format!("the launch of `{}`", launch.kernel),
            reason,
        };
        // SAFETY: a symbol of this name is a kernel, `void name(const void*)`, and only the library
        // calls it; the entry is that of `fibers.cpp`.
        let (kernel, entry) = unsafe {
            let kernel = library.get::<*const c_void>(launch.kernel.as_bytes()).map_err(|_| {
                refused(format!("the program {} has no kernel of this name", self.name))
            })?;
            let entry = library.get::<Entry>(b"ripplet_emulator_launch\0");
            (*kernel, *entry.map_err(|error| refused(error.to_string()))?)
        };
        let stacks = Self::borrow_stacks(library, launch).map_err(refused)?;
        // Aligned for any argument.
        let mut aligned = vec![0u128; argument.len().div_ceil(16).max(1)];
        bytemuck::cast_slice_mut(&mut aligned)[..argument.len()].copy_from_slice(argument);
        let call = Call {
            kernel,
            argument: aligned.as_ptr().cast(),
            blocks: launch.blocks,
            threads: launch.threads,
            shared: launch.shared,
            cooperative: launch.cooperative.into(),
            order,
            stacks: stacks.first,
            stack_count: stacks.count,
        };
        let mut fault = Fault::none();
        // SAFETY: both are as in `fibers.cpp` and outlive the call; the kernel's argument is the
        // caller's promise.
        let failed = unsafe { entry(&call, &mut fault) } != 0;
        lock(&IDLE_STACKS).push(stacks);
        if !failed {
            return Ok(());
        }
        Err(DeviceError::Failed {
            what: format!("kernel `{}` of {}", launch.kernel, self.name),
            // SAFETY: libraries are never unloaded.
            reason: unsafe { fault.sentence(&self.text) },
        })
    }

    /// Returns stacks for all resident threads of a launch.
    fn borrow_stacks(library: &Library, launch: &Launch) -> Result<Stacks, String> {
        let blocks = if launch.cooperative { launch.blocks } else { launch.blocks.min(4) };
        let count = (u64::from(blocks) * u64::from(launch.threads)).max(STACKS);
        let mut idle = lock(&IDLE_STACKS);
        if let Some(found) = idle.iter().position(|stacks| stacks.count >= count) {
            return Ok(idle.swap_remove(found));
        }
        drop(idle);
        // SAFETY: the function is that of `fibers.cpp`.
        let make = unsafe { library.get::<MakeStacks>(b"ripplet_emulator_stacks\0") };
        // SAFETY: as above; it has no preconditions.
        let first = unsafe { make.map_err(|error| error.to_string())?(count) };
        if first.is_null() {
            return Err("the host refused memory for the threads' stacks".to_owned());
        }
        Ok(Stacks { first, count })
    }

    /// Loads one more copy, from a file of its own: of the same file, the system would return the
    /// copy that is loaded.
    fn open(&self) -> Result<Library, DeviceError> {
        let folder = tempfile::tempdir().map_err(|error| at_files(&error))?;
        let path = folder.path().join("kernels.so");
        write(&path, &self.bytes)?;
        // SAFETY: the library has no initializers: kernels define functions, and the statics of
        // `fibers.cpp` begin as zeros.
        unsafe { Library::new(&path) }.map_err(|error| DeviceError::Failed {
            what: format!("loading the compiled kernels of {}", self.name),
            reason: error.to_string(),
        })
    }
}

/// Returns `fibers.cpp`, compiled once a process.
fn fibers() -> Result<&'static [u8], DeviceError> {
    static OBJECT: OnceLock<Result<Vec<u8>, DeviceError>> = OnceLock::new();
    let object = OBJECT.get_or_init(|| {
        let folder = tempfile::tempdir().map_err(|error| at_files(&error))?;
        write(&folder.path().join("emulator.hpp"), HEADER.as_bytes())?;
        write(&folder.path().join("fibers.cpp"), FIBERS.as_bytes())?;
        compile(folder.path(), &["-O2", "-c"], &["fibers.cpp", "-o", "fibers.o"], "fibers.cpp")?;
        fs::read(folder.path().join("fibers.o")).map_err(|error| at_files(&error))
    });
    object.as_deref().map_err(Clone::clone)
}

/// Runs the compiler in a folder; returns its warnings.
fn compile(
    folder: &Path,
    options: &[&str],
    files: &[&str],
    name: &str,
) -> Result<String, DeviceError> {
    let compiler = Compiler::found()?;
    let mut command = Command::new(&compiler.command);
    command.current_dir(folder).args(OPTIONS).args(options);
    if !compiler.is_clang {
        command.args(OPTIONS_OF_GCC);
    }
    let output = command.args(files).output().map_err(|error| compiler.refused(&error))?;
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        return Ok(log);
    }
    Err(DeviceError::Compile { name: name.to_owned(), log })
}

/// The system's C++ compiler.
struct Compiler {
    command: OsString,
    is_clang: bool,
}

impl Compiler {
    /// Returns `$CXX`, or `c++`; its version is read once a process.
    fn found() -> Result<&'static Compiler, DeviceError> {
        static COMPILER: OnceLock<Result<Compiler, DeviceError>> = OnceLock::new();
        let found = COMPILER.get_or_init(|| {
            let command = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
            let mut compiler = Compiler { command, is_clang: false };
            let version = Command::new(&compiler.command).arg("--version").output();
            let version = version.map_err(|error| compiler.refused(&error))?;
            compiler.is_clang = String::from_utf8_lossy(&version.stdout).contains("clang");
            Ok(compiler)
        });
        found.as_ref().map_err(Clone::clone)
    }

    fn refused(&self, error: &std::io::Error) -> DeviceError {
        DeviceError::Failed {
            what: "compiling kernels for the CPU".to_owned(),
            reason: format!(
                "{} does not run: {error}; install a C++ compiler, or name one in CXX",
                self.command.display()
            ),
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), DeviceError> {
    fs::write(path, bytes).map_err(|error| at_files(&error))
}

fn at_files(error: &std::io::Error) -> DeviceError {
    DeviceError::Failed {
        what: "keeping compiled kernels in the folder for temporary files".to_owned(),
        reason: error.to_string(),
    }
}
