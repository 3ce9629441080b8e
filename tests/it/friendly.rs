//! Tests real terminals: narrow, without Unicode or without cursor control; and directories with limited permissions.
//!
//! Cases that need no terminal are in `tests/cli`: `nothing-there`, `no-accelerators`, `misspelt`, `backslashes`.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::cli::Place;
use crate::skipped::skip;

const MACHINE: &str =
    "resource \"aws_instance\" \"demo\" {\n  ami           = \"ami-1\"\n  instance_type = \"g5.12xlarge\"\n}\n";

/// Runs a program in a terminal with this many columns, prints the terminal's content, and exits with the program's
/// code.
const TERMINAL: &str = r#"
import fcntl, os, pty, struct, sys, termios
child, terminal = pty.fork()
if child == 0:
    sys.stdin.readline()
    os.execvp(sys.argv[2], sys.argv[2:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
settings = termios.tcgetattr(terminal)
settings[3] &= ~termios.ECHO
termios.tcsetattr(terminal, termios.TCSANOW, settings)
os.write(terminal, b"\n")
text = b""
while True:
    try:
        more = os.read(terminal, 65536)
    except OSError:
        break
    if not more:
        break
    text += more
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.stdout.buffer.write(text.replace(b"\r\n", b"\n"))
sys.exit(status)
"#;

/// Returns the content of a terminal; `None` without Python.
fn seen(place: &Place, columns: u16, environment: &[(&str, &str)], arguments: &[&str]) -> Option<String> {
    if !Command::new("python3").args(["-c", "import pty"]).output().is_ok_and(|it| it.status.success()) {
        skip("no python3 to be the terminal");
        return None;
    }
    let mut command = Command::new("python3");
    command.args(["-c", TERMINAL, &columns.to_string(), env!("CARGO_BIN_EXE_gpulint")]).args(arguments);
    for name in ["COLUMNS", "LC_ALL", "LC_CTYPE", "NO_COLOR"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8").envs(environment.iter().copied());
    let output = command.current_dir(place.directory()).output().unwrap();
    assert!(matches!(output.status.code(), Some(0..=3)), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

fn gpulint(place: &Place, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(arguments).current_dir(place.directory()).env("NO_COLOR", "1");
    command
}

fn said(output: &Output) -> String {
    [&*String::from_utf8_lossy(&output.stdout), &*String::from_utf8_lossy(&output.stderr)].concat()
}

const FIXED: [&str; 4] = ["--prices", "embedded", "--today", "2026-11-21"];

fn fixed<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &FIXED].concat()
}

#[test]
fn nothing_is_wider_than_a_narrow_terminal() {
    let place = Place::new();
    place.write("infra/production/main.tf", MACHINE);
    place.write("before/readme.tf", "");
    let all: [&[&str]; 8] = [
        &["check"],
        &["check", "-v"],
        &["cost"],
        &["plan"],
        &["diff", "--base-dir", "before", "infra"],
        &["what-if", "--on", "aws_instance.demo", "--set", "purchase=spot"],
        &["fit", "meta-llama/Llama-3.1-8B"],
        &["check", "nowhere"],
    ];
    for arguments in all {
        let arguments = if arguments[0] == "fit" { arguments.to_vec() } else { fixed(arguments) };
        for columns in [60, 80, 132] {
            let Some(text) = seen(&place, columns, &[("NO_COLOR", "1")], &arguments) else { return };
            let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > usize::from(columns)).collect();
            assert!(wide.is_empty() && text.len() > 20, "{arguments:?} in {columns}: {wide:#?}");
        }
    }
    // No text is lost if a table wraps.
    let narrow = seen(&place, 60, &[("NO_COLOR", "1")], &fixed(&["cost"])).unwrap();
    let wide = seen(&place, 200, &[("NO_COLOR", "1")], &fixed(&["cost"])).unwrap();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let sorted = |text: &str| {
        let mut words = words(text);
        words.sort();
        words
    };
    assert_eq!(sorted(&narrow), sorted(&wide));
    assert!(narrow.lines().count() > wide.lines().count());
}

#[test]
fn a_terminal_without_unicode_gets_none() {
    let place = Place::new();
    place.write("main.tf", MACHINE);
    for arguments in [&["check"][..], &["cost"], &["diff", "--base-dir", "before"], &["check", "nowhere"]] {
        place.write("before/readme.tf", "");
        let arguments = fixed(arguments);
        let Some(text) = seen(&place, 100, &[("LC_ALL", "C")], &arguments) else { return };
        assert!(text.is_ascii(), "{text}");
    }
    let usual = seen(&place, 100, &[], &fixed(&["check"])).unwrap();
    assert!(usual.contains('│') && usual.contains('⚠'), "{usual}");
    // A pipe gets the same output as before.
    let piped = gpulint(&place, &fixed(&["check"])).env("LC_ALL", "C").output().unwrap();
    assert!(said(&piped).contains('│'), "{}", said(&piped));
}

#[test]
fn a_typewriter_gets_no_drawing_no_colors_and_no_progress() {
    let place = Place::new();
    place.write("main.tf", MACHINE);
    let Some(text) = seen(&place, 100, &[("TERM", "dumb")], &fixed(&["check"])) else { return };
    assert!(!text.contains(['\u{1b}', '│', '─', '╭']), "{text}");
    assert!(text.contains("warning: missing-auto-shutdown") && text.contains("\n  at main.tf:1: "), "{text}");
    let able = seen(&place, 100, &[], &fixed(&["check"])).unwrap();
    assert!(able.contains("\u{1b}[1mGPU cost"), "{able}");
}

/// Creates a tree that takes the test build several seconds on this machine, and returns its number of files.
fn long(place: &Place, arguments: &[&str]) -> usize {
    let body: String = (0..60).map(|number| MACHINE.replace("demo", &format!("m{number}"))).collect();
    let (mut files, mut took) = (0, Duration::ZERO);
    while took < Duration::from_secs(3) && files < 3_200 {
        let wanted = (files * 2).max(100);
        for number in files..wanted {
            place.write(&format!("live/root-{number}/main.tf"), &body);
        }
        files = wanted;
        let began = Instant::now();
        let piped = gpulint(place, arguments).output().unwrap();
        took = began.elapsed();
        assert_eq!(String::from_utf8_lossy(&piped.stderr), "", "a pipe is told nothing of it");
    }
    files
}

#[test]
fn long_work_says_what_it_does_on_a_terminal_and_nowhere_else() {
    let place = Place::new();
    let arguments = fixed(&["check", "--quiet"]);
    let files = format!("{} files", long(&place, &arguments));
    let Some(text) = seen(&place, 70, &[("NO_COLOR", "1")], &arguments) else { return };
    let (progress, report) = text.rsplit_once("\r\u{1b}[K").unwrap_or_else(|| panic!("no progress: {text}"));
    assert!(report.starts_with("GPU cost "), "the line is gone before anything is printed: {report:?}");
    let lines: Vec<&str> = progress.split('\r').filter(|line| !line.is_empty()).collect();
    for line in &lines {
        let line = line.strip_suffix("\u{1b}[K").unwrap_or_else(|| panic!("{line:?} leaves something behind"));
        let is_known = line.starts_with("read ") || line.starts_with(&files);
        assert!(is_known && line.contains(&files) && line.chars().count() < 70, "{line:?}");
    }
    assert!(!lines[0].contains(", 0 s"), "nothing is said in the first second: {lines:?}");
    let typewriter = seen(&place, 70, &[("TERM", "dumb")], &arguments).unwrap();
    assert!(!typewriter.contains('\r') && !typewriter.contains('\u{1b}'), "{typewriter:?}");
}

/// Tests `gpulint | head -1`.
#[test]
fn whoever_stops_reading_is_told_nothing() {
    let place = Place::new();
    place.write("main.tf", MACHINE);
    for arguments in [
        &["check"][..],
        &["cost"],
        &["check", "--format", "json"],
        &["--help"],
        &["help", "diff"],
        &["rules", "list"],
        &["nope"],
    ] {
        let mut command = gpulint(&place, arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let expected = match arguments[0] {
            "check" => 1,
            "nope" => 2,
            _ => 0,
        };
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(expected), "{arguments:?}: {said}");
        assert_eq!(said.is_empty(), arguments[0] != "nope", "{arguments:?}: {said}");
    }
}

#[test]
fn without_a_home_everything_works_that_needs_none() {
    let place = Place::new();
    place.write("main.tf", MACHINE);
    for (arguments, code) in
        [(&["check"][..], 1), (&["cost"], 0), (&["plan"], 0), (&["catalog", "show"], 0), (&["price", "g5.12xlarge"], 0)]
    {
        let output = gpulint(&place, arguments).env_clear().output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", said(&output));
        assert!(output.stderr.is_empty(), "{arguments:?}: {}", said(&output));
    }
    let update = gpulint(&place, &["catalog", "update", "runpod"]).env_clear().output().unwrap();
    assert_eq!(update.status.code(), Some(2));
    assert!(said(&update).contains("GPULINT_CACHE_DIR"), "{}", said(&update));
}

#[test]
fn a_directory_that_may_only_be_read_is_read() {
    let place = Place::new();
    place.write("main.tf", MACHINE);
    let locked = |mode| fs::set_permissions(place.directory(), fs::Permissions::from_mode(mode)).unwrap();
    locked(0o555);
    if fs::write(place.directory().join("probe"), "").is_ok() {
        locked(0o755);
        fs::remove_file(place.directory().join("probe")).unwrap();
        return skip("whoever may do everything can write everywhere");
    }
    let check = gpulint(&place, &["check"]).output().unwrap();
    let told: Vec<(Option<i32>, String)> =
        [&["init"][..], &["baseline", "create"], &["cost", "--format", "json", "--output", "bill.json"]]
            .iter()
            .map(|arguments| gpulint(&place, arguments).output().unwrap())
            .map(|output| (output.status.code(), said(&output)))
            .collect();
    locked(0o755);
    assert_eq!(check.status.code(), Some(1), "{}", said(&check));
    for (code, said) in told {
        assert!(code == Some(2) && said.contains("cannot be written: Permission denied"), "{said}");
    }
}

/// Windows uses two characters at the end of lines, and edited files keep them.
#[test]
fn lines_that_end_as_on_windows_stay_so() {
    let place = Place::new();
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: { name: j }\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n        - name: c\n          image: a/b\n          resources: { limits: { nvidia.com/gpu: 1 } }\n";
    let crlf = |text: &str| text.replace('\n', "\r\n");
    for (file, text) in [("main.tf", MACHINE), ("job.yaml", job), ("gpulint.toml", "fail-on = \"error\"\n")] {
        place.write(file, text);
    }
    let arguments = fixed(&["check", "--format", "concise"]);
    let unix = gpulint(&place, &arguments).output().unwrap();
    for (file, text) in [("main.tf", MACHINE), ("job.yaml", job), ("gpulint.toml", "fail-on = \"error\"\n")] {
        place.write(file, &crlf(text));
    }
    let windows = gpulint(&place, &arguments).output().unwrap();
    assert_eq!((unix.status.code(), said(&unix)), (windows.status.code(), said(&windows)));
    let before = place.read("job.yaml");
    for arguments in [&["check", "--fix", "--unsafe-fixes"][..], &["check", "--add-ignore", "known"]] {
        let done = gpulint(&place, &fixed(arguments)).output().unwrap();
        assert!(matches!(done.status.code(), Some(0 | 1)), "{}", said(&done));
    }
    for file in ["main.tf", "job.yaml"] {
        let text = place.read(file);
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{file}: {text:?}");
    }
    assert!(place.read("main.tf").starts_with("# gpulint: ignore["), "{}", place.read("main.tf"));
    assert_ne!(place.read("job.yaml"), before, "a fix was written");
}
