//! Runs the command line and exits with its code.

use std::process::ExitCode;

// With musl's allocator, several threads are slower than one; with glibc's, a run over YAML takes 10% longer.
#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    gpulint::cli::main()
}
