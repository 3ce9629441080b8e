//! Tests packs from git: `rules vendor` copies them from real repositories, and `check` uses only the copies.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::action::sandbox::{GIT_ENVIRONMENT, Sandbox, git, write};
use crate::skipped::skip;

const PAGE: &str = r#"---
name: many-gpus
params: { most_gpus: 4 }
when: accelerator_count > params.most_gpus
at: [accelerator_count, machine]
message: "{gpus} cost {bill.monthly.expected | usd}/month"
untested: true
---
# many-gpus

Too many.
"#;
const FLOOR: &str = "[rules.many-gpus]\nlevel = \"error\"\nforbid = true\n";
const PRICES: &str = "provider,machine,region,on_demand_usd_per_hour\naws,p4d.24xlarge,us-east-1,1.00\n";
const MACHINE: &str = "provider \"aws\" {\n  region = \"us-east-1\"\n}\n\nresource \"aws_instance\" \"large\" {\n  instance_type = \"p4d.24xlarge\"\n}\n";

/// A repository with a pack, and one that uses it.
struct Both {
    sandbox: Sandbox,
    commit: String,
}

impl Both {
    fn new(name: &str) -> Both {
        let sandbox = Sandbox::new(name);
        let pack = sandbox.path("pack");
        fs::create_dir_all(&pack).unwrap();
        git(&pack, &["init", "--quiet", "--initial-branch=main"]);
        write(
            &pack,
            &[("many-gpus.md", PAGE), ("gpulint.toml", FLOOR), ("prices.csv", PRICES), ("docs/why.txt", "why\n")],
        );
        let commit = committed(&pack);
        // The requested commit is not the tip of a branch.
        write(&pack, &[("many-gpus.md", "not this one")]);
        committed(&pack);
        let user = sandbox.path("user");
        fs::create_dir_all(&user).unwrap();
        git(&user, &["init", "--quiet", "--initial-branch=main"]);
        write(&user, &[("main.tf", MACHINE)]);
        Both { sandbox, commit }
    }

    fn pack(&self) -> PathBuf {
        self.sandbox.path("pack")
    }

    fn user(&self) -> PathBuf {
        self.sandbox.path("user")
    }

    /// Writes the settings of the repository that uses the pack.
    fn settings(&self, commit: &str, more: &str) {
        let text = format!("[[packs]]\ngit = \"file://{}\"\ncommit = \"{commit}\"\n{more}", self.pack().display());
        write(&self.user(), &[("gpulint.toml", &text)]);
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        run(&mut gpulint(&self.user(), arguments))
    }

    /// Returns the checksum that `rules vendor` prints.
    fn sum(&self) -> String {
        let (code, said) = self.run(&["rules", "vendor"]);
        assert_eq!(code, Some(2), "{said}");
        let (_, rest) = said.split_once("sha256 = \"").expect(&said);
        rest.split_once('"').unwrap().0.to_owned()
    }

    /// Creates a repository with the vendored pack.
    fn vendored(name: &str) -> Both {
        let both = Both::new(name);
        both.settings(&both.commit, "");
        let sum = both.sum();
        both.settings(&both.commit, &format!("sha256 = \"{sum}\"\n"));
        let (code, said) = both.run(&["rules", "vendor"]);
        assert_eq!(code, Some(0), "{said}");
        both
    }
}

fn committed(repository: &Path) -> String {
    git(repository, &["add", "--all"]);
    git(repository, &["commit", "--quiet", "--message", "change"]);
    git(repository, &["rev-parse", "HEAD"])
}

fn gpulint(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.current_dir(directory).envs(GIT_ENVIRONMENT).env("NO_COLOR", "1").stdin(Stdio::null()).args(arguments);
    command
}

fn run(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), said)
}

const CHECK: [&str; 7] = ["check", "--today", "2026-11-21", "--prices", "cached", "--format", "concise"];

fn check(both: &Both) -> (Option<i32>, String) {
    both.run(&CHECK)
}

#[test]
fn a_pack_is_copied_once_and_used_without_git() {
    let both = Both::vendored("vendored");
    let copy = both.user().join(".gpulint/pack");
    assert_eq!(fs::read_to_string(copy.join("many-gpus.md")).unwrap(), PAGE);
    let lock = fs::read_to_string(both.user().join("gpulint.lock")).unwrap();
    assert!(lock.contains(&both.commit) && lock.contains("\"docs/why.txt\" = "), "{lock}");
    let (code, said) = run(gpulint(&both.user(), &CHECK).env("PATH", ""));
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("error[many-gpus] aws_instance.large: 8 A100-40GB cost $730/month"),
        "its page, level and price:\n{said}"
    );
    assert_eq!(both.run(&["rules", "vendor", "--check"]).0, Some(0));
    let (code, said) = run(gpulint(&both.user(), &["rules", "vendor"]).env("PATH", ""));
    assert_eq!(code, Some(0), "what is up to date is not fetched: {said}");
    assert_eq!(fs::read_to_string(both.user().join("gpulint.lock")).unwrap(), lock);
}

#[test]
fn the_sum_is_the_one_that_coreutils_tell() {
    let both = Both::vendored("sums");
    let line = "find . -type f -printf '%P\\n' | LC_ALL=C sort | xargs -d '\\n' sha256sum | sha256sum";
    let output = Command::new("sh").args(["-c", line]).current_dir(both.user().join(".gpulint/pack")).output().unwrap();
    if !output.status.success() || output.stdout.len() < 64 {
        return skip("these are no GNU coreutils and findutils");
    }
    let told = String::from_utf8_lossy(&output.stdout)[..64].to_owned();
    let settings = fs::read_to_string(both.user().join("gpulint.toml")).unwrap();
    assert!(settings.contains(&told), "{told}\n{settings}");
}

#[test]
fn a_floor_holds_for_a_copied_pack() {
    let both = Both::vendored("floor");
    let settings = fs::read_to_string(both.user().join("gpulint.toml")).unwrap();
    write(
        &both.user(),
        &[("gpulint.toml", &format!("ignore = [\"many-gpus\"]\n{settings}\n[rules.many-gpus]\nmost_gpus = 8\n"))],
    );
    let (code, said) = check(&both);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("error[many-gpus]"), "{said}");
    assert_eq!(said.matches("the pack forbids changes to `many-gpus`").count(), 2, "{said}");
}

#[test]
fn without_a_copy_nothing_is_checked() {
    let both = Both::new("missing");
    both.settings(&both.commit, &format!("sha256 = \"{}\"\n", "0".repeat(64)));
    let (code, said) = check(&both);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("is not copied to `.gpulint/pack` yet") && said.contains("run `gpulint rules vendor`"),
        "{said}"
    );
    assert_eq!(both.run(&["rules", "vendor", "--check"]).0, Some(1));
    // With a wrong checksum, no pack is copied.
    let (code, said) = both.run(&["rules", "vendor"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("but gpulint.toml sets 0000"), "{said}");
    assert!(!both.user().join(".gpulint").exists() && !both.user().join("gpulint.lock").exists());
}

#[test]
fn a_copy_that_was_changed_is_refused() {
    let both = Both::vendored("changed");
    let page = both.user().join(".gpulint/pack/many-gpus.md");
    let weaker = PAGE.replace("most_gpus: 4", "most_gpus: 400");
    for (change, what) in [
        (&(|| fs::write(&page, &weaker).unwrap()) as &dyn Fn(), "`many-gpus.md` was changed"),
        (&|| fs::remove_file(&page).unwrap(), "`many-gpus.md` is missing"),
        (&|| write(&both.user(), &[(".gpulint/pack/more.md", PAGE)]), "`more.md` was added"),
    ] {
        change();
        let (code, said) = check(&both);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(what), "{said}");
        assert_eq!(both.run(&["rules", "vendor", "--check"]).0, Some(1));
        let (code, said) = both.run(&["rules", "vendor"]);
        assert_eq!(code, Some(2), "somebody's work is not thrown away: {said}");
        let (code, said) = both.run(&["rules", "vendor", "--force"]);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(check(&both).0, Some(1));
    }
}

#[test]
fn another_commit_in_the_settings_wants_another_copy() {
    let both = Both::vendored("moved");
    write(&both.pack(), &[("many-gpus.md", &PAGE.replace("most_gpus: 4", "most_gpus: 8"))]);
    let commit = committed(&both.pack());
    let settings = fs::read_to_string(both.user().join("gpulint.toml")).unwrap();
    write(&both.user(), &[("gpulint.toml", &settings.replace(&both.commit, &commit))]);
    let (code, said) = check(&both);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("the copy in `.gpulint/pack` comes from") && said.contains(&both.commit), "{said}");
    let (code, said) = both.run(&["rules", "vendor"]);
    assert_eq!(code, Some(2), "the sum is still the old one: {said}");
    both.settings(&commit, "");
    let sum = both.sum();
    both.settings(&commit, &format!("sha256 = \"{sum}\"\n"));
    assert_eq!(both.run(&["rules", "vendor"]).0, Some(0));
    let (_, said) = check(&both);
    assert!(said.contains("missing-auto-shutdown") && !said.contains("many-gpus"), "{said}");
}

/// The contents that a pack may not have.
#[test]
fn only_plain_files_are_taken() {
    let both = Both::new("plain");
    let pack = both.pack();
    let try_it = |what: &str| {
        let commit = committed(&pack);
        both.settings(&commit, "");
        let (code, said) = both.run(&["rules", "vendor"]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(what), "{said}");
        assert!(!both.user().join(".gpulint").exists());
    };
    std::os::unix::fs::symlink("/etc/passwd", pack.join("secrets.md")).unwrap();
    try_it("`secrets.md` is a symbolic link");
    fs::remove_file(pack.join("secrets.md")).unwrap();
    git(&pack, &["update-index", "--add", "--cacheinfo", &format!("160000,{},module", both.commit)]);
    fs::create_dir_all(pack.join("module")).unwrap();
    try_it("`module` is a submodule");
    git(&pack, &["rm", "--quiet", "--cached", "module"]);
    write(&pack, &[("Many.md", "a"), ("many.md", "b")]);
    try_it("differ only in upper and lower case");
    fs::remove_file(pack.join("Many.md")).unwrap();
    write(&pack, &[("a\u{1b}[2Jb.md", "a")]);
    try_it("a\\u{1b}[2Jb.md");
    fs::remove_file(pack.join("a\u{1b}[2Jb.md")).unwrap();
    for number in 0..2_001 {
        fs::write(pack.join(format!("{number}.txt")), "").unwrap();
    }
    try_it("more than 2000 files");
}

#[test]
fn a_directory_of_a_larger_repository_is_a_pack() {
    let both = Both::new("directory");
    let inside = both.pack().join("rules/gpu");
    fs::create_dir_all(&inside).unwrap();
    write(&inside, &[("many-gpus.md", PAGE)]);
    std::os::unix::fs::symlink("/etc/passwd", both.pack().join("elsewhere")).unwrap();
    let commit = committed(&both.pack());
    both.settings(&commit, "directory = \"rules/gpu\"\npath = \"policy/bought\"\n");
    let sum = both.sum();
    both.settings(&commit, &format!("directory = \"rules/gpu\"\npath = \"policy/bought\"\nsha256 = \"{sum}\"\n"));
    let (code, said) = both.run(&["rules", "vendor"]);
    assert_eq!(code, Some(0), "{said}");
    let names: Vec<_> =
        fs::read_dir(both.user().join("policy/bought")).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, ["many-gpus.md"]);
    assert_eq!(check(&both).0, Some(1));
}

/// The requests that settings may not make.
#[test]
fn settings_that_reach_too_far_are_refused() {
    let both = Both::new("reach");
    write(&both.sandbox.path("elsewhere"), &[]);
    fs::create_dir_all(both.sandbox.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", both.user().join("link")).unwrap();
    fs::create_dir_all(both.user().join("src")).unwrap();
    write(&both.user(), &[("src/work.txt", "hours of it")]);
    let sum = format!("sha256 = \"{}\"\n", "0".repeat(64));
    for (commit, more, what) in [
        (both.commit.as_str(), "path = \"../elsewhere\"\n", "leads out of it"),
        (&both.commit, "path = \".\"\n", "below the file that names it"),
        (&both.commit, "path = \".git/hooks\"\n", "below the file that names it"),
        (&both.commit, "path = \"link/pack\"\n", "is not a directory"),
        (&both.commit, "path = \"src\"\n", "is not an unchanged copy"),
        (&both.commit, "directory = \"../..\"\n", "`directory` must be a directory"),
        ("main", "", "a full commit id of 40 hexadecimal digits"),
        ("0000000000000000000000000000000000000000", "", "has no commit"),
        ("--upload-pack=touch /tmp/x", "", "a full commit id of 40"),
    ] {
        both.settings(commit, &format!("{more}{sum}"));
        let (code, said) = both.run(&["rules", "vendor"]);
        assert_eq!(code, Some(2), "{more}: {said}");
        assert!(said.contains(what), "{more}: {said}");
    }
    assert_eq!(fs::read_to_string(both.user().join("src/work.txt")).unwrap(), "hours of it");
    assert!(fs::read_dir(both.sandbox.path("elsewhere")).unwrap().next().is_none());
    git(&both.pack(), &["tag", "--annotate", "--message", "tag", "v1", &both.commit]);
    let tag = git(&both.pack(), &["rev-parse", "v1"]);
    both.settings(&tag, &sum);
    let (code, said) = both.run(&["rules", "vendor"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("has no commit"), "a tag can be moved: {said}");
}

#[test]
fn a_hostile_lock_changes_nothing() {
    let both = Both::vendored("lock");
    let path = both.user().join("gpulint.lock");
    let lock = fs::read_to_string(&path).unwrap();
    let weaker = PAGE.replace("most_gpus: 4", "most_gpus: 400");
    let page = both.user().join(".gpulint/pack/many-gpus.md");
    // The lock matches the changed copy.
    fs::write(&page, &weaker).unwrap();
    let agreeing: String = lock
        .lines()
        .map(|line| match line.starts_with("\"many-gpus.md\"") {
            true => format!("\"many-gpus.md\" = \"{}\"\n", "0".repeat(64)),
            false => format!("{line}\n"),
        })
        .collect();
    fs::write(&path, agreeing).unwrap();
    assert_eq!(check(&both).0, Some(2), "the sum in gpulint.toml decides");
    fs::write(&page, PAGE).unwrap();
    assert_eq!(check(&both).0, Some(1), "the sums of a lock are for messages");
    for text in ["", "version = 99\n", "version = 1\n[[packs]]\npath = \"\u{1b}\"\n", "\u{0}", &"[".repeat(1 << 20)] {
        fs::write(&path, text).unwrap();
        let (code, said) = check(&both);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("gpulint.lock") && !said.contains('\u{1b}'), "{said}");
        let (code, said) = both.run(&["rules", "vendor", "--force"]);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(fs::read_to_string(&path).unwrap(), lock);
    }
}

/// A name that contains a line of the checksum list makes two files look like one.
#[test]
fn names_cannot_imitate_a_sum() {
    let both = Both::vendored("imitate");
    let copy = both.user().join(".gpulint/pack");
    let lock = fs::read_to_string(both.user().join("gpulint.lock")).unwrap();
    let line = lock.lines().find(|line| line.starts_with("\"many-gpus.md\"")).unwrap();
    let sum = line.rsplit('"').nth(1).unwrap().to_owned();
    // gpulint.toml sorts before many-gpus.md in the checksum list.
    fs::create_dir_all(copy.join(format!("gpulint.toml\n{sum}  many-gpus.md")).parent().unwrap()).unwrap();
    fs::rename(copy.join("gpulint.toml"), copy.join(format!("gpulint.toml\n{sum}  many-gpus.md"))).unwrap();
    fs::remove_file(copy.join("many-gpus.md")).unwrap();
    let (code, said) = check(&both);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("is invalid: the file name"), "{said}");
    assert!(!said.contains("many-gpus] "), "nothing was checked: {said}");
}

#[test]
fn a_lock_is_not_written_through_a_link() {
    let both = Both::vendored("link");
    let lock = both.user().join("gpulint.lock");
    let elsewhere = both.sandbox.path("elsewhere");
    fs::write(&elsewhere, "precious").unwrap();
    fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &lock).unwrap();
    let (code, said) = both.run(&["rules", "vendor", "--force"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("symbolic link `gpulint.lock`"), "{said}");
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
}

/// Ten nested trees, ten times each: 10^10 files in a pack of one kilobyte.
#[test]
fn a_tree_larger_than_any_disk_is_refused() {
    let both = Both::new("bomb");
    let pack = both.pack();
    let blob = git(&pack, &["rev-parse", "HEAD:gpulint.toml"]);
    let make = |lines: String| {
        let mut child = Command::new("git")
            .args(["mktree"])
            .current_dir(&pack)
            .envs(GIT_ENVIRONMENT)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), lines.as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap().trim().to_owned()
    };
    let mut tree = make((0..10).map(|n| format!("100644 blob {blob}\tf{n}\n")).collect());
    for _ in 0..9 {
        tree = make((0..10).map(|n| format!("040000 tree {tree}\td{n}\n")).collect());
    }
    let commit = git(&pack, &["commit-tree", "-m", "bomb", &tree]);
    git(&pack, &["update-ref", "refs/heads/bomb", &commit]);
    both.settings(&commit, "");
    let (code, said) = both.run(&["rules", "vendor"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("more than 256 MiB") || said.contains("too many files"), "{said}");
}

/// Git settings that start programs, and variables that a hook passes to its programs.
#[test]
fn nothing_but_the_fetch_is_run() {
    let both = Both::new("run");
    let ran = both.sandbox.path("ran");
    let hooks = both.sandbox.path("template/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["post-checkout", "reference-transaction", "post-merge"] {
        let file = hooks.join(hook);
        fs::write(&file, format!("#!/bin/sh\ntouch '{}'\n", ran.display())).unwrap();
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    both.settings(&both.commit, "");
    let mut command = gpulint(&both.user(), &["rules", "vendor"]);
    command.env("GIT_TEMPLATE_DIR", both.sandbox.path("template")).env("GIT_DIR", both.user().join(".git"));
    command.env("GIT_WORK_TREE", both.user()).env("GIT_INDEX_FILE", both.user().join(".git/index"));
    let (_, said) = run(&mut command);
    assert!(said.contains("sha256 = "), "{said}");
    assert!(!ran.exists());
    let told = git(&both.user(), &["for-each-ref"]) + &git(&both.user(), &["count-objects"]);
    assert_eq!(told, "0 objects, 0 kilobytes", "the repository itself gets no objects and no names");
}

#[test]
fn a_pull_request_cannot_bring_its_own_copy() {
    let both = Both::vendored("policy");
    let user = both.user();
    let base = committed(&user);
    write(
        &user,
        &[(".gpulint/pack/many-gpus.md", &PAGE.replace("most_gpus: 4", "most_gpus: 400")), ("gpulint.toml", "")],
    );
    let (code, said) = both.run(&[&CHECK[..], &["--policy-ref", &base]].concat());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("error[many-gpus]"), "{said}");
}

#[test]
fn names_of_packs_are_cleaned_before_a_terminal_sees_them() {
    let both = Both::new("hostile-path");
    for more in ["path = \"policy\\u001b[31m\\u202ex\"\n", "path = \"policy\"\ndirectory = \"a\\u001b]0;x\\u0007\"\n"] {
        both.settings(&both.commit, more);
        for arguments in [&["rules", "vendor"][..], &["rules", "vendor", "--check"], &["check"], &["config", "show"]] {
            let (_, said) = both.run(arguments);
            assert!(!said.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{arguments:?}: {said:?}");
        }
    }
}
