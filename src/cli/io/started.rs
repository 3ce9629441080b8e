//! A started program. At its time limit, or when this value is dropped, it ends together with its own child processes.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// A program in its own process group, to which its child processes belong, too.
pub(in crate::cli) struct Started {
    pub(in crate::cli) child: Child,
}

impl Started {
    pub(in crate::cli) fn start(command: &mut Command) -> io::Result<Started> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        Ok(Started { child: command.spawn()? })
    }

    /// Waits until the program ends or the deadline is reached.
    pub(in crate::cli) fn wait_until(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        const LONGEST_PAUSE: Duration = Duration::from_millis(2);
        let mut pause = Duration::from_micros(50);
        loop {
            match self.child.try_wait()? {
                None if Instant::now() < deadline => std::thread::sleep(pause),
                ended => return Ok(ended),
            }
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Ends the process group, if it has not ended yet.
    pub(in crate::cli) fn end(&mut self) {
        #[cfg(unix)]
        let _ = rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::KILL,
        );
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reads a pipe to its end or to the limit, on another thread. A pipe that never ends is abandoned.
pub(in crate::cli) fn read(pipe: Option<impl Read + Send + 'static>, limit: u64) -> Receiver<Vec<u8>> {
    let (give, take) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            let _ = pipe.take(limit).read_to_end(&mut bytes);
        }
        let _ = give.send(bytes);
    });
    take
}
