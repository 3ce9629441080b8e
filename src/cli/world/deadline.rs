//! The time that a run may take: no text may keep a machine of a code host busy for hours.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::output;

/// Programs that were started get the time that is left, and a moment to be taken away.
const MOMENT: Duration = Duration::from_secs(1);

static END: OnceLock<Instant> = OnceLock::new();

/// Ends the process with exit code 2 when the time is over. Reports are written as a whole or not at all, so there is
/// nothing to take back. Only the first call of a process counts.
pub(in crate::cli) fn start(time: Duration) {
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
    // Without a thread the run is as long as it is.
    drop(std::thread::Builder::new().name("deadline".to_owned()).spawn(watch));
}

/// For a process that goes on from run to run: none of them ends it.
pub(in crate::cli) fn none() {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);
    if let Some(end) = Instant::now().checked_add(CENTURY) {
        let _ = END.set(end);
    }
}

/// What is left of it.
pub(in crate::cli) fn left() -> Duration {
    END.get().map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()))
}
