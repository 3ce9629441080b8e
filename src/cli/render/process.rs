//! Starts rendering programs without network access, and ends them if they exceed their limits.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::workspace::RenderDirectory;
use crate::cli::io::programs;
use crate::cli::io::started::{Started, read};

/// The pause between two checks of a running program.
const GLANCE: Duration = Duration::from_millis(20);
/// The memory limit. The largest public charts need a fifth of it, but a loop in a template takes gigabytes within
/// seconds.
const MOST_MEMORY_KIB: u64 = 1 << 20;
/// The most bytes of error output that are read.
const MOST_COMPLAINTS: u64 = 64 << 10;
/// The most characters of an error that are reported.
const LONGEST_COMPLAINT: usize = 200;

/// A rendering program.
pub(super) struct RenderProgram {
    name: &'static str,
    path: PathBuf,
}

impl RenderProgram {
    /// Returns the first of these programs that is installed.
    pub(super) fn find(names: &[&'static str], repository: &Path) -> Option<RenderProgram> {
        names.iter().find_map(|name| Some(RenderProgram { name, path: programs::find(name, repository)? }))
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// Returns the program's output. gpulint kills the program at the time limit, or if it prints too much.
    pub(super) fn run(
        &self,
        workspace: &RenderDirectory,
        arguments: &[String],
        time_limit: Duration,
        most_bytes: u64,
    ) -> Result<String, String> {
        let mut started = Started::start(&mut self.command(workspace, arguments)).map_err(|error| error.to_string())?;
        let output = read(started.child.stdout.take(), most_bytes + 1);
        let complaints = read(started.child.stderr.take(), MOST_COMPLAINTS);
        let finished = wait(&mut started, &output, time_limit, most_bytes);
        // This also kills the program's child processes.
        started.end();
        let status = started.child.wait().map_err(|error| error.to_string())?;
        let text = finished?;
        if !status.success() {
            let complaints = complaints.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
            return Err(complaint(&complaints, workspace));
        }
        String::from_utf8(text).map_err(|_| "its output is not UTF-8".to_owned())
    }

    /// Removes the user's environment, other programs, configuration and clusters. Network access goes to a proxy
    /// that does not exist.
    fn command(&self, workspace: &RenderDirectory, arguments: &[String]) -> Command {
        const NOWHERE: &str = "http://127.0.0.1:9";
        let home = workspace.home();
        let mut command = Command::new(&self.path);
        command.args(arguments).current_dir(workspace.tree()).env_clear();
        for name in [
            "HOME",
            "TMPDIR",
            "XDG_CACHE_HOME",
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "HELM_CACHE_HOME",
            "HELM_CONFIG_HOME",
            "HELM_DATA_HOME",
            "HELM_PLUGINS",
            "KUSTOMIZE_PLUGIN_HOME",
        ] {
            command.env(name, &home);
        }
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"] {
            command.env(name, NOWHERE);
        }
        // Windows does not start programs that use sockets without this variable.
        if let Some(root) = std::env::var_os("SystemRoot") {
            command.env("SystemRoot", root);
        }
        command.env("KUBECONFIG", if cfg!(windows) { "NUL" } else { "/dev/null" }).env("PATH", "");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

fn wait(
    started: &mut Started,
    output: &Receiver<Vec<u8>>,
    time_limit: Duration,
    most_bytes: u64,
) -> Result<Vec<u8>, String> {
    let too_long = || format!("it took longer than {} seconds", time_limit.as_secs());
    let deadline = Instant::now() + time_limit;
    let text = loop {
        match output.recv_timeout(GLANCE.min(time_limit)) {
            Ok(text) => break text,
            Err(_) if Instant::now() > deadline => return Err(too_long()),
            Err(_) if resident_kib(started.child.id()).is_some_and(|it| it > MOST_MEMORY_KIB) => {
                return Err(format!("it took more than {} MiB of memory", MOST_MEMORY_KIB >> 10));
            }
            Err(_) => {}
        }
    };
    if text.len() as u64 > most_bytes {
        return Err(format!("it printed more than {} MiB", most_bytes >> 20));
    }
    // The program closed its output, so it should end soon.
    let ended = started.wait_until(deadline).map_err(|error| error.to_string())?;
    ended.map(|_| text).ok_or_else(too_long)
}

/// Returns the memory of a process, if the system reports it.
fn resident_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().trim_end_matches(" kB").parse().ok()
}

/// Returns the line with the error, without the names of temporary directories.
fn complaint(bytes: &[u8], workspace: &RenderDirectory) -> String {
    let text = String::from_utf8_lossy(bytes).replace(&*workspace.tree().to_string_lossy(), "");
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let telling = lines().find(|line| line.to_ascii_lowercase().starts_with("error")).or_else(|| lines().next_back());
    let line = telling.unwrap_or("it failed without a message");
    let line = line.trim_start_matches("Error: ").trim_start_matches("error: ");
    line.chars().take(LONGEST_COMPLAINT).collect()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, time_limit: Duration, most_bytes: u64) -> Result<String, String> {
        let workspace = RenderDirectory::new().unwrap();
        let program = RenderProgram::find(&["sh"], &workspace.tree()).unwrap();
        program.run(&workspace, &["-c".to_owned(), script.to_owned()], time_limit, most_bytes)
    }

    const LONG: Duration = Duration::from_secs(120);

    #[test]
    fn a_program_gets_a_directory_of_its_own_and_no_environment() {
        let said = shell(
            "echo \"$PATH|$USER|$KUBECONFIG|$CARGO_MANIFEST_DIR\"; test -d \"$HOME\" && echo home; pwd",
            LONG,
            4096,
        );
        let said = said.unwrap();
        let mut lines = said.lines();
        assert_eq!(lines.next(), Some("||/dev/null|"));
        assert_eq!(lines.next(), Some("home"));
        assert!(lines.next().unwrap().ends_with("/tree"), "{said}");
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        let short = Duration::from_millis(100);
        assert_eq!(shell("while :; do :; done", short, 4096).unwrap_err(), "it took longer than 0 seconds");
        assert_eq!(shell("exec >&-; while :; do :; done", short, 4096).unwrap_err(), "it took longer than 0 seconds");
    }

    #[test]
    fn what_a_program_started_ends_with_it() {
        for (script, ends_well) in [
            ("(while :; do :; done) & echo $! >&2; exec >&-; while :; do :; done", false),
            ("(exec >&- 2>&-; while :; do :; done) & echo $!", true),
        ] {
            let trace = RenderDirectory::new().unwrap();
            let record = trace.tree().join("process");
            let script = script.replace(">&2", &format!(">{}", record.display()));
            let said = shell(&script, Duration::from_millis(500), 4096);
            assert_eq!(said.is_ok(), ends_well, "{said:?}");
            let process = said.unwrap_or_else(|_| std::fs::read_to_string(&record).unwrap());
            // The process is running unless it is gone or is a zombie.
            let is_running = || {
                let state = std::fs::read_to_string(format!("/proc/{}/stat", process.trim())).unwrap_or_default();
                state.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['R', 'S']))
            };
            let until = Instant::now() + LONG;
            while is_running() && Instant::now() < until {
                std::thread::sleep(GLANCE);
            }
            assert!(!is_running(), "{process}");
        }
    }

    #[test]
    fn a_program_that_prints_without_end_is_killed() {
        let said = shell("while :; do echo 0123456789; done", LONG, 1 << 20);
        assert_eq!(said.unwrap_err(), "it printed more than 1 MiB");
    }

    #[test]
    fn what_a_program_complains_is_told() {
        assert_eq!(
            shell("echo warning; echo Error: no such chart >&2; exit 3", LONG, 4096).unwrap_err(),
            "no such chart"
        );
        assert_eq!(shell("exit 1", LONG, 4096).unwrap_err(), "it failed without a message");
    }
}
