//! The program: hands over to the command line and exits with its code.

use std::process::ExitCode;

// The allocator of musl makes several threads slower than one; that of glibc costs a tenth of a run over YAML.
#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    gpulint::cli::main()
}
