//! Tests the fixes that a user chooses, by option or by answers in a terminal.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use crate::cli::Place;
use crate::skipped;

const OPTIONS: [&str; 6] = ["--unsafe-fixes", "--prices", "embedded", "--today", "2026-11-21", "--plain"];

/// Writes two configurations. In one, a pool on spot would make the other pool its fallback.
fn two_pools(place: &Place) {
    for name in ["a", "b"] {
        place.write(
            &format!("{name}/main.tf"),
            &format!(
                "resource \"aws_eks_node_group\" \"{name}\" {{\n  instance_types = [\"g5.xlarge\", \"g5.2xlarge\"]\n  capacity_type  = \"ON_DEMAND\"\n  \
                 labels         = {{ workload = \"training\" }}\n  scaling_config {{\n    min_size     = 1\n    max_size     = 4\n    desired_size = 1\n  }}\n}}\n"
            ),
        );
    }
}

fn run(place: &Place, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.arg("check").args(OPTIONS).args(more).current_dir(place.path()).env("NO_COLOR", "1").output().unwrap()
}

fn complaint(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

/// Returns which files request spot.
fn on_spot(place: &Place) -> Vec<&'static str> {
    ["a", "b"].into_iter().filter(|name| place.read(&format!("{name}/main.tf")).contains("\"SPOT\"")).collect()
}

#[test]
fn a_rule_and_an_address_choose_one_fix() {
    let place = Place::new();
    two_pools(&place);
    let done = run(&place, &["--fix", "--only", "on-demand-batch", "--address", "aws_eks_node_group.b"]);
    assert_eq!(on_spot(&place), ["b"], "{}", complaint(&done));
    assert!(complaint(&done).starts_with("1 finding fixed in 1 file"), "{}", complaint(&done));
    let done = run(&place, &["--fix", "--only", "purchase"]);
    assert_eq!(on_spot(&place), ["a", "b"], "{}", complaint(&done));
    assert!(place.read("a/main.tf").contains("min_size     = 1"), "another rule must not be fixed");
}

#[test]
fn an_unsafe_fix_that_was_chosen_names_the_missing_option() {
    let place = Place::new();
    two_pools(&place);
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args([
        "check",
        "--fix",
        "--address",
        "aws_eks_node_group.a",
        "--only",
        "on-demand-batch",
        "--today",
        "2026-11-21",
    ]);
    let done = command.args(["--prices", "embedded"]).current_dir(place.path()).output().unwrap();
    assert!(
        complaint(&done).contains(
            "on-demand-batch aws_eks_node_group.a: the fix changes how the workload runs: add --unsafe-fixes"
        ),
        "{}",
        complaint(&done)
    );
    assert!(on_spot(&place).is_empty());
}

#[test]
fn unknown_names_are_errors_with_the_nearest_name() {
    let place = Place::new();
    two_pools(&place);
    let cases = [
        (
            vec!["--fix", "--only", "on-demand-bath"],
            "there is no rule or group `on-demand-bath`",
            "did you mean `on-demand-batch`?",
        ),
        (vec!["--diff", "--only", "x\u{1b}[31m"], "there is no rule or group", "run `gpulint rules list`"),
        (
            vec!["--fix", "--only", "peak-hours-batch"],
            "`peak-hours-batch` does not run in this check",
            "add `--select peak-hours-batch`",
        ),
        (
            vec!["--fix", "--address", "aws_eks_node_group.c"],
            "no resource has the address `aws_eks_node_group.c`",
            "did you mean `aws_eks_node_group.a`?",
        ),
        (vec!["--fix", "--address", "a"], "no resource has the address `a`", "did you mean `aws_eks_node_group.a`?"),
        (
            vec!["--fix", "--address", "nothing_of_the_kind.x"],
            "no resource has the address",
            "pass an address that `gpulint check` or `gpulint cost` prints",
        ),
        (vec!["--address", "aws_eks_node_group.a"], "needs --fix or --diff", "add --fix"),
        (vec!["--fix", "--interactive"], "--interactive needs a terminal", "--only RULE"),
    ];
    for (options, message, help) in cases {
        let done = run(&place, &options);
        let said = complaint(&done);
        assert_eq!(done.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(message) && said.contains(help) && !said.contains('\u{1b}'), "{options:?}: {said}");
    }
    assert!(on_spot(&place).is_empty());
}

/// Returns the output of `check --fix --interactive` in a terminal, after these answers.
fn answered(place: &Place, answers: &str) -> Option<String> {
    let line = format!(
        "stty -echo; '{}' check --fix --interactive --only on-demand-batch {}",
        env!("CARGO_BIN_EXE_gpulint"),
        OPTIONS.join(" ")
    );
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", &line, "/dev/null"]).current_dir(place.path()).env("TERM", "dumb");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        skipped::skip("`script` of util-linux, which starts a terminal, is not installed");
        return None;
    };
    child.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
    Some(String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).replace("\r\n", "\n"))
}

#[cfg(target_os = "linux")]
#[test]
fn answers_in_a_terminal_choose_the_fixes() {
    let cases: [(&str, &[&str]); 7] = [
        ("y\nn\n", &["a"]),
        ("n\ny\n", &["b"]),
        ("a\n", &["a", "b"]),
        ("q\n", &[]),
        ("y\nq\n", &["a"]),
        ("d\ny\n", &["b"]),
        ("?\nnonsense\ny\ny\n", &["a", "b"]),
    ];
    for (answers, expected) in cases {
        let place = Place::new();
        two_pools(&place);
        let Some(said) = answered(&place, answers) else { return };
        assert_eq!(on_spot(&place), expected, "{answers:?}\n{said}");
        for part in [
            "on-demand-batch · aws_eks_node_group.a · a/main.tf:3",
            "saves ~$418",
            "unsafe fix",
            "-  capacity_type  = \"ON_DEMAND\"",
            "(1/2) Apply this fix [y,n,a,d,q,?]?",
        ] {
            let ascii = part.replace('·', ".");
            assert!(said.contains(part) || said.contains(&ascii), "{part}\n{said}");
        }
        assert_eq!(answers.contains('?'), said.contains("? - print this help"), "{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_hostile_file_sends_no_escape_to_the_terminal() {
    let place = Place::new();
    two_pools(&place);
    let text = place.read("a/main.tf");
    place.write("a/main.tf", &text.replace("\"ON_DEMAND\"", "\"ON_DEMAND\" # \u{1b}[2J\u{202e}\u{7}"));
    let Some(said) = answered(&place, "n\nn\n") else { return };
    assert!(said.contains("ON_DEMAND") && !said.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{said:?}");
}
