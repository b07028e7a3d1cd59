//! Prints the CUDA C++ of a program file: `cargo run -p ripplet-hooks --example translate FILE`.

fn main() -> std::process::ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("which program file?");
        return 2.into();
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{path}: {error}");
            return 2.into();
        }
    };
    match ripplet_hooks::read_program(&path, &text) {
        Ok(module) => {
            println!("{}", ripplet_hooks::cpp::emit(&module));
            0.into()
        }
        Err(errors) => {
            eprintln!("{errors}");
            2.into()
        }
    }
}
