//! Tests failures around a run: the reader exits, the disk is full, git is missing, the program is killed.
//!
//! No partly written file remains, no message is lost, and the exit code is one of the four.
#![cfg(unix)]

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use gpulint::source::{ReadError, SourceFiles, Tree, TreeEntry};

use crate::action::sandbox::{GIT_ENVIRONMENT, Sandbox, git, write};
use crate::skipped::skip;

const WASTE: &str = r#"resource "aws_eks_node_group" "train" {
  cluster_name   = "main"
  instance_types = ["p4d.24xlarge"]
  capacity_type  = "ON_DEMAND"
  labels         = { workload = "training" }
  scaling_config {
    min_size     = 1
    desired_size = 1
    max_size     = 1
  }
}
"#;

fn gpulint(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.current_dir(directory).envs(GIT_ENVIRONMENT).env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

fn place(name: &str) -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new(name);
    let directory = sandbox.path("work");
    fs::create_dir_all(&directory).unwrap();
    write(&directory, &[("main.tf", WASTE)]);
    (sandbox, directory)
}

fn told(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Returns the names in a directory, including hidden ones.
fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(directory).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_reader_who_leaves_is_no_failure() {
    let (_sandbox, directory) = place("pipe");
    let many: String = (0..400).map(|n| WASTE.replace("train", &format!("train{n}"))).collect();
    write(&directory, &[("main.tf", &many)]);
    for arguments in [&["check"][..], &["check", "--format", "json"], &["inspect"], &["cost"], &["facts"]] {
        let mut child =
            gpulint(&directory).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut start = [0; 16];
        child.stdout.take().unwrap().read_exact(&mut start).unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let code = child.wait().unwrap().code();
        assert!(matches!(code, Some(0 | 1)), "{arguments:?}: {code:?} {said}");
        assert_eq!(said, "", "{arguments:?}");
    }
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing_half_written() {
    let (_sandbox, directory) = place("full");
    if !Path::new("/dev/full").exists() {
        return skip("there is no /dev/full");
    }
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (code, said) = told(&gpulint(&directory).stdout(full).output().unwrap());
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("cannot write the report"), "{said}");
    let run = gpulint(&directory).args(["--format", "json", "--output", "/dev/full"]).output().unwrap();
    let (code, said) = told(&run);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`/dev/full` cannot be written"), "{said}");
    assert!(Path::new("/dev/full").exists(), "a device is not replaced by a file");

    // A limit on file size has the same effect as a full disk on an existing file.
    write(&directory, &[("report.json", "the earlier report\n")]);
    let program = env!("CARGO_BIN_EXE_gpulint");
    let limited = format!("ulimit -f 1; trap '' XFSZ; exec {program} --format json --output report.json");
    let run = Command::new("bash").args(["-c", &limited]).current_dir(&directory).output().unwrap();
    let (code, said) = told(&run);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`report.json` cannot be written"), "{said}");
    assert_eq!(fs::read_to_string(directory.join("report.json")).unwrap(), "the earlier report\n");
    assert_eq!(names(&directory), ["main.tf", "report.json"]);
}

#[test]
fn a_directory_that_may_not_be_written_is_told() {
    let (_sandbox, directory) = place("locked");
    let run = gpulint(&directory).args(["--format", "json", "--output", "no/such/directory/a.json"]).output().unwrap();
    let (code, said) = told(&run);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`no/such/directory/a.json` cannot be written"), "{said}");
}

#[test]
fn a_home_that_may_not_be_written_does_not_matter() {
    let (sandbox, directory) = place("home");
    let home = sandbox.path("home");
    fs::create_dir_all(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o555)).unwrap();
    for home in [home.as_path(), Path::new("/dev/null"), Path::new("/no/such/place"), Path::new("")] {
        let mut command = gpulint(&directory);
        command.env("HOME", home).env_remove("XDG_CACHE_HOME").env_remove("XDG_CONFIG_HOME");
        let (code, said) = told(&command.output().unwrap());
        assert_eq!((code, said.as_str()), (Some(1), ""), "{}", home.display());
    }
    let bare = gpulint(&directory).env_clear().output().unwrap();
    assert_eq!(told(&bare), (Some(1), String::new()), "an empty environment");
}

#[test]
fn no_git_is_told_where_git_is_needed() {
    let (sandbox, directory) = place("git");
    git(&directory, &["init", "--quiet", "--initial-branch=main"]);
    git(&directory, &["add", "--all"]);
    git(&directory, &["commit", "--quiet", "--message", "first"]);
    let nothing = sandbox.path("nothing");
    fs::create_dir_all(&nothing).unwrap();
    let run = |arguments: &[&str]| told(&gpulint(&directory).env("PATH", &nothing).args(arguments).output().unwrap());
    let (code, said) = run(&["check"]);
    assert_eq!((code, said.as_str()), (Some(1), ""), "a check needs no git");
    for arguments in [&["diff", "--base", "main"][..], &["check", "--policy-ref", "main"]] {
        let (code, said) = run(arguments);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("git cannot be started") && said.contains("help: install git"), "{said}");
    }
    // A git that fails without a useful message, and one that prints without end.
    for script in ["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho nonsense\n", "#!/bin/sh\nkill -9 $$\n"] {
        let broken = sandbox.path("broken");
        fs::create_dir_all(&broken).unwrap();
        fs::write(broken.join("git"), script).unwrap();
        fs::set_permissions(broken.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", broken.display());
        let mut command = gpulint(&directory);
        let (code, said) = told(&command.env("PATH", path).args(["diff", "--base", "main"]).output().unwrap());
        assert_eq!(code, Some(2), "{script}: {said}");
        assert!(said.starts_with("error: "), "{script}: {said}");
    }
}

#[test]
fn a_broken_repository_is_told() {
    let (_sandbox, directory) = place("broken");
    git(&directory, &["init", "--quiet", "--initial-branch=main"]);
    let diff = |base: &str| told(&gpulint(&directory).args(["diff", "--base", base]).output().unwrap());
    let (code, said) = diff("main");
    assert_eq!(code, Some(2), "no commit yet: {said}");
    git(&directory, &["add", "--all"]);
    git(&directory, &["commit", "--quiet", "--message", "first"]);
    let blob = git(&directory, &["rev-parse", "HEAD:main.tf"]);
    let object = directory.join(".git/objects").join(&blob[..2]).join(&blob[2..]);
    fs::remove_file(&object).unwrap();
    let main = fs::read_to_string(directory.join("main.tf")).unwrap();
    fs::write(directory.join("main.tf"), format!("{main}\n# changed\n")).unwrap();
    let (code, said) = diff("main");
    assert_eq!(code, Some(2), "an object that is gone must not make everything new: {said}");
    assert!(said.contains("main.tf"), "{said}");
    fs::write(directory.join(".git/HEAD"), "nonsense").unwrap();
    let (code, said) = diff("main");
    assert_eq!(code, Some(2), "{said}");
    let (code, _) = told(&gpulint(&directory).output().unwrap());
    assert_eq!(code, Some(1), "a check reads no objects");
}

#[test]
fn whoever_is_killed_leaves_the_earlier_report() {
    let (_sandbox, directory) = place("killed");
    let many: String = (0..3_000).map(|n| WASTE.replace("train", &format!("train{n}"))).collect();
    write(&directory, &[("main.tf", &many), ("report.json", "the earlier report\n")]);
    // If a run is killed at any point, the report is the earlier one or a complete new one.
    for round in 0..6 {
        let mut child = gpulint(&directory)
            .args(["--format", "json", "--output", "report.json"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let patience = Duration::from_millis(40 * round * round);
        while start.elapsed() < patience && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(5));
        }
        let _ = child.kill();
        child.wait().unwrap();
        let report = fs::read_to_string(directory.join("report.json")).unwrap();
        let is_whole = serde_json::from_str::<serde_json::Value>(&report).is_ok();
        assert!(is_whole || report == "the earlier report\n", "round {round}: {} bytes", report.len());
    }
}

#[test]
fn what_is_no_file_is_left_alone() {
    let (_sandbox, directory) = place("odd");
    write(&directory, &[("a/ok.tf", WASTE)]);
    std::os::unix::fs::symlink(".", directory.join("a/ring")).unwrap();
    std::os::unix::fs::symlink("ring.tf", directory.join("ring.tf")).unwrap();
    std::os::unix::fs::symlink("nowhere.tf", directory.join("broken.tf")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", directory.join("endless.tf")).unwrap();
    let pipe = Command::new("mkfifo").arg(directory.join("pipe.tf")).status();
    assert!(pipe.is_ok_and(|status| status.success()));
    fs::write(directory.join("latin.tf"), b"# caf\xe9\nlocals {}\n").unwrap();
    let odd = std::ffi::OsStr::new("odd\u{fffd}.tf");
    fs::write(directory.join(odd), "locals {}\n").unwrap();
    use std::os::unix::ffi::OsStrExt;
    fs::write(directory.join(std::ffi::OsStr::from_bytes(b"n\xe9.tf")), "locals {}\n").unwrap();
    fs::create_dir(directory.join("directory.tf")).unwrap();
    let output = gpulint(&directory).args(["--format", "json"]).output().unwrap();
    let (code, said) = told(&output);
    assert!(matches!(code, Some(0 | 1)), "{code:?} {said}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["findings"].as_array().unwrap().iter().any(|it| it["path"] == "a/ok.tf"));
    let skipped: Vec<&str> =
        report["skipped"].as_array().unwrap().iter().filter_map(|it| it["path"].as_str()).collect();
    assert!(skipped.iter().any(|path| path.contains("pipe.tf")), "{skipped:?}");
}

#[test]
fn a_name_that_is_no_text_hides_nothing_beside_others() {
    use std::os::unix::ffi::OsStrExt;
    let (_sandbox, directory) = place("names");
    let name = |bytes: &[u8]| directory.join(std::ffi::OsStr::from_bytes(bytes));
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: { name: odd }\nspec: { containers: [{ name: a, image: a, resources: { \
               limits: { nvidia.com/gpu: 8 } } }] }\n";
    write(&directory, &[("main.tf", "locals {}\n"), ("pod.yaml", "a: 1\n")]);
    fs::write(name(b"n\xe9.tf"), WASTE).unwrap();
    fs::write(name(b"p\xff.yaml"), pod).unwrap();
    let seen = |arguments: &[&str]| {
        let output = gpulint(&directory).args(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let now = seen(&["inspect", "."]);
    assert!(now.contains("Pod/odd") && now.contains("aws_eks_node_group"), "{now}");
    let git = |arguments: &[&str]| {
        let done = Command::new("git").arg("-C").arg(&directory).args(arguments).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "-A"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "a"]);
    fs::remove_file(name(b"n\xe9.tf")).unwrap();
    fs::remove_file(name(b"p\xff.yaml")).unwrap();
    // The files of the base that the change removed.
    let gone: serde_json::Value =
        serde_json::from_str(&seen(&["diff", "--base", "main", "--format", "json", "."])).unwrap();
    let text = gone.to_string();
    assert!(text.contains("Pod/odd") && text.contains("aws_eks_node_group"), "{text}");
}

#[test]
fn odd_locales_and_clocks_change_nothing() {
    let (_sandbox, directory) = place("locale");
    let run = |set: &[(&str, &str)]| {
        let output = gpulint(&directory).args(["--today", "2026-11-21"]).envs(set.iter().copied()).output().unwrap();
        (output.status.code(), output.stdout)
    };
    let usual = run(&[]);
    assert_eq!(usual.0, Some(1));
    for set in [("LC_ALL", "de_DE.UTF-8"), ("LC_ALL", "C"), ("LANG", "\u{1}nonsense"), ("TZ", "Pacific/Kiritimati")] {
        assert_eq!(run(&[set]), usual, "{set:?}");
    }
}

#[test]
fn what_a_killed_run_left_is_taken_away_by_a_later_one() {
    let (_sandbox, directory) = place("stale");
    let left = [".report.json.2147483646", ".report.json.4712", ".report.json.mine", ".other.json.2147483646"];
    for name in left {
        fs::write(directory.join(name), "half").unwrap();
    }
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(7_200);
    for name in [left[0], left[2], left[3]] {
        fs::File::options().write(true).open(directory.join(name)).unwrap().set_modified(long_ago).unwrap();
    }
    let run = gpulint(&directory).args(["--format", "json", "--output", "report.json"]).output().unwrap();
    assert_eq!(told(&run).0, Some(1));
    // Another run may be writing the recent file, and the other files are not from gpulint.
    assert_eq!(names(&directory), [left[3], left[1], left[2], "main.tf", "report.json"]);
}

#[test]
fn ctrl_c_ends_a_run_and_leaves_nothing_half_written() {
    use std::os::unix::process::ExitStatusExt;
    let (_sandbox, directory) = place("interrupt");
    // It takes much longer than a signal needs.
    let turns = "sum([for a in range(1000) : length([for b in range(1000) : length([for c in range(1000) : c])])])";
    let endless = format!("resource \"aws_instance\" \"b\" {{\n  count = {turns}\n}}\n");
    write(&directory, &[("main.tf", &endless), ("gpulint.toml", "[bounds]\nevaluation-steps = 1000000000\n")]);
    // A shell may start background processes with ignored signals, and this test may be one of them.
    let usual = gpulint(&directory);
    let mut listening = Command::new("env");
    listening.args(["--default-signal=INT".as_ref(), usual.get_program()]).current_dir(&directory);
    listening.args(["--format", "json", "--output", "report.json"]);
    let mut child = listening.spawn().unwrap();
    thread::sleep(Duration::from_millis(200));
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signal.success());
    assert_eq!(child.wait().unwrap().signal(), Some(2), "it ends by the signal, as whoever started it expects");
    assert_eq!(names(&directory), ["gpulint.toml", "main.tf"]);
}

#[test]
fn files_that_may_not_be_read_are_told() {
    let (_sandbox, directory) = place("locked-files");
    write(
        &directory,
        &[("locked.tf", "locals {}\n"), ("locked.yaml", "apiVersion: v1\nkind: Pod\n"), ("d/a.tf", WASTE)],
    );
    for name in ["locked.tf", "locked.yaml", "d"] {
        fs::set_permissions(directory.join(name), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let mut command = gpulint(&directory);
    // A home directory without access, as in a container that runs as another user.
    let home = directory.join("d");
    command.env("HOME", &home).env_remove("XDG_CACHE_HOME").env_remove("XDG_CONFIG_HOME");
    if fs::read(directory.join("locked.tf")).is_ok() {
        // This user may read everything, and `nobody` may not.
        command.uid(65_534).gid(65_534);
    }
    let Ok(run) = command.args(["--format", "json"]).output() else {
        return skip("nobody cannot be asked");
    };
    fs::set_permissions(directory.join("d"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(told(&run).0, Some(1), "{}", told(&run).1);
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let is_told = |it: &&serde_json::Value| it["rule"] == "unreadable" && it["path"] == "locked.tf";
    assert!(report["findings"].as_array().unwrap().iter().any(|it| is_told(&it)), "{report:#}");
    let skipped = |path: &str| serde_json::json!({ "path": path, "kind": "file", "reason": "permission denied" });
    let all = report["skipped"].as_array().unwrap();
    assert!(all.contains(&skipped("d")) && all.contains(&skipped("locked.yaml")), "{all:?}");
}

/// If the machine cannot start more threads, gpulint prints a message and exits with one of the four codes.
#[test]
fn a_machine_without_threads_is_told() {
    let (_sandbox, directory) = place("threads");
    for n in 0..600 {
        write(&directory, &[(&format!("d{n}/a.tf"), "locals {}\n")]);
    }
    let program = env!("CARGO_BIN_EXE_gpulint");
    let mut command = Command::new("bash");
    command.args(["-c", &format!("ulimit -u 1; exec {program}")]).current_dir(&directory).envs(GIT_ENVIRONMENT);
    // Limits do not apply to root.
    command.uid(65_533).gid(65_533);
    let Ok(run) = command.stdin(Stdio::null()).output() else {
        return skip("nobody else cannot be asked");
    };
    let (code, said) = told(&run);
    assert!(matches!(code, Some(1 | 2)), "{code:?} {said}");
    assert_eq!(code == Some(2), said.contains("the system cannot start another thread"), "{said}");
}

/// A tree that lists files which no longer exist.
struct Vanishing(Vec<&'static str>);

impl Tree for Vanishing {
    fn read(&self, _path: &str) -> Result<Vec<u8>, ReadError> {
        Err(ReadError::Missing)
    }

    fn list(&self, directory: &str) -> Vec<TreeEntry> {
        let here = self.0.iter().filter(|_| directory.is_empty());
        here.map(|name| TreeEntry { name: (*name).to_owned(), is_directory: false }).collect()
    }
}

#[test]
fn files_that_vanish_between_listing_and_reading_hide_nothing_and_break_nothing() {
    let names =
        vec!["main.tf", "a.tf.json", "terraform.tfvars", "pod.yaml", "plan.json", "Chart.yaml", "kustomization.yaml"];
    let paths: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let sources = SourceFiles::new(Vanishing(names));
    let analysis = gpulint::analyze(&sources, &paths, &crate::holds::SETTINGS);
    assert!(analysis.inventory.resources.is_empty());
    let said: Vec<&str> = analysis.inventory.diagnostics.iter().map(|it| it.message.as_str()).collect();
    assert!(said.contains(&"main.tf cannot be read: the file does not exist"), "{said:?}");
    assert!(sources.refused().iter().any(|(path, _)| path == "main.tf"), "whoever called is told");
}
