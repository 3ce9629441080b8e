//! A line on a terminal while something takes long.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A run that takes longer says so.
const PATIENCE: Duration = Duration::from_millis(500);

/// There is one line: what is a part of something longer says nothing.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// A line on a terminal while something takes long; it is gone when this is dropped.
pub(in crate::cli) struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    pub(in crate::cli) fn start(files: usize) -> Self {
        Self::saying(move || format!("reading {files} files"))
    }

    /// So many commits of so many.
    pub(in crate::cli) fn over_commits(done: Arc<AtomicUsize>, all: usize) -> Self {
        Self::saying(move || format!("{} of {all} commits", done.load(Ordering::Relaxed)))
    }

    fn saying(what: impl Fn() -> String + Send + 'static) -> Self {
        if !io::stderr().is_terminal() || IS_TAKEN.swap(true, Ordering::Relaxed) {
            return Progress { running: None };
        }
        let (stop, stopped) = mpsc::channel();
        let began = Instant::now();
        let thread = std::thread::spawn(move || {
            let mut shown = false;
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(PATIENCE) {
                shown = true;
                let _ = write!(io::stderr(), "\r{}, {} s \u{1b}[K", what(), began.elapsed().as_secs());
                let _ = io::stderr().flush();
            }
            if shown {
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
