//! Tests that cannot run here. The harness counts them as passed, so each is said at once and counted in a file;
//! `tests/skipped.rs` tells all of them at the end of `cargo test`, and `.ci/run` at its own end.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Says that the test which calls this does not run, or a part of it does not, and why.
pub(crate) fn skip(why: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let thread = std::thread::current();
    let line = format!("{}: {why}\n", thread.name().unwrap_or("a test"));
    if !TOLD.lock().unwrap().insert(line.clone()) {
        return;
    }
    // Written past the capture of the harness: nobody may take this for a test that ran.
    std::io::stderr().write_all(format!("SKIPPED {line}").as_bytes()).unwrap();
    let mut file = OpenOptions::new().create(true).append(true).open(list()).unwrap();
    file.write_all(line.as_bytes()).unwrap();
}

/// The file of this run: `GPULINT_SKIPPED` names it, or whoever started the test programs tells it from that of other runs.
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
