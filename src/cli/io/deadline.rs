//! The time limit of the process: no file must keep a CI machine busy for hours.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::output;

/// The time that is reserved to stop started programs.
const MOMENT: Duration = Duration::from_secs(1);

static END: OnceLock<Instant> = OnceLock::new();
static OWNS_PROCESS: OnceLock<()> = OnceLock::new();

/// Lets a time limit end this process. Only the program calls it: a library never ends the process that it is part of.
pub(in crate::cli) fn own_process() {
    let _ = OWNS_PROCESS.set(());
}

/// Ends the process with exit code 2 at the time limit. Reports are written completely or not at all, so there is
/// nothing to undo. Only the first call in a process counts.
pub(in crate::cli) fn start(time: Duration) {
    if OWNS_PROCESS.get().is_none() {
        return;
    }
    let Some(end) = Instant::now().checked_add(time) else { return };
    if END.set(end).is_err() {
        return;
    }
    let watch = move || {
        std::thread::sleep(time + MOMENT);
        output::complain(&format!(
            "error: the check did not finish within {} seconds, so there is no report\n  \
             help: check fewer files at once, or raise `bounds.seconds` in gpulint.toml",
            time.as_secs()
        ));
        std::process::exit(2);
    };
    // Without a thread, there is no time limit.
    drop(std::thread::Builder::new().name("deadline".to_owned()).spawn(watch));
}

/// Disables the time limit, for servers and --watch.
pub(in crate::cli) fn none() {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);
    if let Some(end) = Instant::now().checked_add(CENTURY) {
        let _ = END.set(end);
    }
}

/// Returns the remaining time.
pub(in crate::cli) fn left() -> Duration {
    END.get().map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()))
}
