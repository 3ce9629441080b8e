//! A progress line on a terminal.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::terminal::OutputStream;
use crate::catalog::grouped;
use crate::report::one_line;

/// The time after which progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// The interval between two updates.
const PAUSE: Duration = Duration::from_millis(250);

/// The assumed width of a terminal of unknown width.
const USUAL_COLUMNS: usize = 80;

/// Whether a progress line exists. A part of a longer task shows none of its own.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The number of files that were read, and the last one.
static READ: AtomicUsize = AtomicUsize::new(0);
static LAST: Mutex<String> = Mutex::new(String::new());

/// A progress line on a terminal. It disappears when this value is dropped.
pub(in crate::cli) struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    pub(in crate::cli) fn start(files: usize) -> Self {
        Self::saying(move || {
            reading(READ.load(Ordering::Relaxed), files, &LAST.lock().map(|it| it.clone()).unwrap_or_default())
        })
    }

    /// Shows the number of evaluated commits.
    pub(in crate::cli) fn over_commits(done: Arc<AtomicUsize>, all: usize) -> Self {
        Self::saying(move || (format!("{} of {all} commits", done.load(Ordering::Relaxed)), String::new()))
    }

    /// Shows the current task and its current item.
    fn saying(what: impl Fn() -> (String, String) + Send + 'static) -> Self {
        if !OutputStream::Errors.is_able() || IS_TAKEN.swap(true, Ordering::Relaxed) {
            return Progress { running: None };
        }
        READ.store(0, Ordering::Relaxed);
        let (stop, stopped) = mpsc::channel();
        let began = Instant::now();
        let thread = std::thread::spawn(move || {
            let mut pause = PATIENCE;
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(pause) {
                pause = PAUSE;
                let columns = OutputStream::Errors.columns().unwrap_or(USUAL_COLUMNS);
                let line = line(&what(), began.elapsed().as_secs(), columns);
                let _ = write!(io::stderr(), "\r{}\u{1b}[K", OutputStream::Errors.legible(&line));
                let _ = io::stderr().flush();
            }
            if pause == PAUSE {
                let _ = write!(io::stderr(), "\r\u{1b}[K");
            }
        });
        Progress { running: Some((stop, thread)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            let _ = thread.join();
            IS_TAKEN.store(false, Ordering::Relaxed);
        }
    }
}

/// Records that a file is being read. Without a progress line, this does nothing.
pub(super) fn is_reading(path: &str) {
    if !IS_TAKEN.load(Ordering::Relaxed) {
        return;
    }
    READ.fetch_add(1, Ordering::Relaxed);
    // If several threads read files, one name is enough.
    if let Ok(mut last) = LAST.try_lock() {
        last.clear();
        last.push_str(path);
    }
}

fn reading(read: usize, files: usize, last: &str) -> (String, String) {
    match read {
        0 => (format!("{} files", count(files)), String::new()),
        read if read < files => (format!("read {} of {} files", count(read), count(files)), one_line(last)),
        _ => (format!("read {} files, evaluating them", count(files)), String::new()),
    }
}

fn count(n: usize) -> String {
    grouped(u64::try_from(n).unwrap_or(u64::MAX))
}

/// Cuts a line to the width of the terminal, because a wrapped line could not be erased.
fn line((what, at): &(String, String), seconds: u64, columns: usize) -> String {
    let line = format!("{what}, {seconds} s");
    let room = columns.saturating_sub(line.chars().count() + 3);
    let length = at.chars().count();
    let at: String = at.chars().skip(length.saturating_sub(room)).collect();
    let line = if at.is_empty() || room < 8 { line } else { format!("{line}: {at}") };
    line.chars().take(columns.saturating_sub(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is_and_fits() {
        assert_eq!(line(&reading(0, 45_000, ""), 1, 80), "45,000 files, 1 s");
        assert_eq!(line(&reading(2, 3, "live/a\u{1b}[2J.tf"), 1, 80), "read 2 of 3 files, 1 s: live/a?[2J.tf");
        assert_eq!(line(&reading(9, 3, "a.tf"), 12, 80), "read 3 files, evaluating them, 12 s");
        assert_eq!(line(&reading(2, 3, "a/very/long/path/main.tf"), 1, 36), "read 2 of 3 files, 1 s: ath/main.tf");
        assert_eq!(line(&reading(2, 3, "main.tf"), 1, 10), "read 2 of");
    }
}
