//! Handles tests that cannot run here. The harness counts them as passed, so each is reported at once and listed in a
//! file. `tests/skipped.rs` prints the list at the end of `cargo test`, and `.ci/run` at its own end.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Reports that the calling test, or a part of it, does not run, with the reason.
pub(crate) fn skip(why: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let thread = std::thread::current();
    let line = format!("{}: {why}\n", thread.name().unwrap_or("a test"));
    if !TOLD.lock().unwrap().insert(line.clone()) {
        return;
    }
    // This bypasses the harness's capture, so that the test does not look as if it ran.
    std::io::stderr().write_all(format!("SKIPPED {line}").as_bytes()).unwrap();
    let mut file = OpenOptions::new().create(true).append(true).open(list()).unwrap();
    file.write_all(line.as_bytes()).unwrap();
}

/// Returns the list of this run: `GPULINT_SKIPPED` names it, or the parent process distinguishes it from that of other
/// runs.
pub(crate) fn list() -> PathBuf {
    if let Some(named) = std::env::var_os("GPULINT_SKIPPED") {
        return Path::new(env!("CARGO_MANIFEST_DIR")).join(named);
    }
    #[cfg(unix)]
    let run = std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    let run = 0;
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("skipped-{run}.txt"))
}
