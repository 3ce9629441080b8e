use std::process::ExitCode;

// The allocator of musl makes several threads slower than one.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    gpulint::cli::main()
}
