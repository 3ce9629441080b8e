//! Runs last in `cargo test`, and lists tests that were counted as passed but did not run. It has no harness, because
//! it tests nothing.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "this is a report, and one that cannot be made is a failure"
)]

#[path = "it/skipped.rs"]
#[allow(dead_code, reason = "here nothing is skipped")]
mod skipped;

fn main() {
    // Runners that request a list of tests get an empty list.
    if std::env::args().any(|it| it == "--list") {
        return;
    }
    let text = std::fs::read_to_string(skipped::list()).unwrap_or_default();
    let lines: std::collections::BTreeSet<&str> = text.lines().collect();
    println!(
        "\nskipped: {} (counted as passed above, and not run here; CONTRIBUTING.md says what they need)",
        lines.len()
    );
    for line in lines {
        println!("  {line}");
    }
    println!();
    // If the caller named the file, the caller reads it afterwards.
    if std::env::var_os("GPULINT_SKIPPED").is_none() {
        let _ = std::fs::remove_file(skipped::list());
    }
}
