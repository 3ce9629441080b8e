//! Tests that `git apply` accepts the patches of `check --diff`, and that they equal the edits of `check --fix`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use gpulint::rules::{BUILT_IN, examples, unmarked};

use crate::cli::Place;

const TODAY: &str = "2026-11-21";

fn git(directory: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(directory);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

/// Returns the exact output of `check` with all fixes.
fn check(directory: &Path, mode: &str, paths: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(["check", mode, "--unsafe-fixes", "--prices", "embedded", "--today", TODAY]);
    command.args(paths).current_dir(directory).output().unwrap()
}

/// Returns every file below a directory, except those of git.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap().map(|it| it.unwrap().path()) {
            match entry.symlink_metadata().unwrap() {
                data if data.is_dir() && !entry.ends_with(".git") => open.push(entry),
                data if data.is_file() => drop(found.insert(entry.clone(), fs::read(&entry).unwrap())),
                _ => {}
            }
        }
    }
    found
}

/// Applies the patch with git, takes it back, and compares the files with those of `--fix`. Returns the number of files
/// that change.
fn demand_accepted(root: &Path, from: &Path, paths: &[&str]) -> usize {
    let before = contents(root);
    let patch = check(from, "--diff", paths).stdout;
    let shown = String::from_utf8_lossy(&patch).into_owned();
    assert!(!patch.is_empty(), "{} has no fix", from.display());
    let tried = git(from, &["apply", "--check", "-"], &patch);
    assert!(tried.status.success(), "{}\n{shown}", String::from_utf8_lossy(&tried.stderr));
    git(from, &["apply", "--whitespace=nowarn", "-"], &patch);
    let patched = contents(root);
    let changed = patched.iter().filter(|(path, text)| before.get(*path) != Some(text)).count();
    assert_eq!(changed, shown.matches("diff --git ").count(), "git skipped a part\n{shown}");
    for (path, text) in &before {
        fs::write(path, text).unwrap();
    }
    check(from, "--fix", paths);
    let fixed = contents(root);
    for (path, text) in &before {
        fs::write(path, text).unwrap();
    }
    for (path, text) in &fixed {
        let by_git = patched.get(path).map(|text| String::from_utf8_lossy(text));
        assert_eq!(by_git, Some(String::from_utf8_lossy(text)), "{}", path.display());
    }
    changed
}

fn pool(name: &str) -> String {
    format!(
        "resource \"aws_eks_node_group\" \"{name}\" {{\n  cluster_name   = \"research\"\n  node_role_arn  = \"arn:aws:iam::123456789012:role/nodes\"\n  \
         subnet_ids     = [\"subnet-1\"]\n  instance_types = [\"g5.xlarge\", \"g5.2xlarge\"]\n  capacity_type  = \"ON_DEMAND\"\n  \
         labels         = {{ workload = \"training\" }}\n\n  scaling_config {{\n    min_size     = 1\n    max_size     = 4\n    desired_size = 1\n  }}\n}}\n"
    )
}

#[test]
fn git_accepts_patches_of_files_with_any_name_and_any_line_ends() {
    let place = Place::new();
    let names = [
        "main.tf",
        "with space/a b.tf",
        "a/main.tf",
        "b/a/main.tf",
        "a/a/b/main.tf",
        "größe/ü.tf",
        "日本/語.tf",
        "-dash/-x.tf",
        "quo\"te/x\"y.tf",
        "back\\slash/x.tf",
        "tab\tname/x.tf",
        "dev 2026-01-01 00:00:00/x.tf",
        "::error::x/main.tf",
    ];
    for (at, name) in names.iter().enumerate() {
        place.write(name, &pool(&format!("p{at}")));
    }
    place.write("dos/main.tf", &pool("dos").replace('\n', "\r\n"));
    place.write("mixed/main.tf", &pool("mixed").replacen("  subnet", "\r\n  subnet", 1).replacen("4\n", "4\r\n", 1));
    place.write("open/main.tf", pool("open").trim_end());
    place.write("dos-open/main.tf", pool("dosopen").replace('\n', "\r\n").trim_end());
    place.write("bom/main.tf", &format!("\u{feff}{}", pool("bom")));
    place.write("short/main.tf.json", "{\"resource\":{\"aws_eks_node_group\":{\"j\":{\"cluster_name\":\"c\",\"instance_types\":[\"g5.xlarge\",\"g5.2xlarge\"],\"capacity_type\":\"ON_DEMAND\",\"labels\":{\"workload\":\"training\"},\"scaling_config\":{\"min_size\":1,\"max_size\":4,\"desired_size\":1}}}}}");
    let root = place.path().canonicalize().unwrap();
    git(&root, &["init", "-q"], b"");
    let changed = demand_accepted(&root, &root, &[]);
    assert_eq!(changed, names.len() + 6);
    // In a directory whose name also begins a path of the patch, git must not confuse both.
    for directory in ["a", "b", "b/a", "a/a", "with space", "größe", "quo\"te"] {
        demand_accepted(&root, &root.join(directory), &[]);
    }
    demand_accepted(&root, &root.join("a"), &["main.tf"]);
}

/// Outside of a repository, git reads paths from the current directory.
#[test]
fn git_accepts_patches_outside_of_a_repository() {
    let place = Place::new();
    place.write("infra/a b/main.tf", &pool("a"));
    let root = place.path().canonicalize().unwrap();
    demand_accepted(&root, &root.join("infra"), &[]);
    demand_accepted(&root, &root, &["infra"]);
}

#[test]
fn files_outside_of_the_current_directory_are_named_with_their_repository() {
    let place = Place::new();
    place.write("infra/main.tf", &pool("a"));
    place.write("work/README.md", "");
    let root = place.path().canonicalize().unwrap();
    git(&root, &["init", "-q"], b"");
    let done = check(&root.join("work"), "--diff", &["../infra"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let note = format!("note: run `git apply` in `{}`", root.display());
    assert!(said.contains(&note), "{said}");
    assert!(git(&root, &["apply", "--check", "-"], &done.stdout).status.success());
}

/// A link is no second file: the patch names the file itself, and leaves links alone that lead out of the repository.
#[cfg(unix)]
#[test]
fn git_accepts_patches_beside_links() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place.write("real/main.tf", &pool("a"));
    let root = place.path().canonicalize().unwrap();
    symlink("real", root.join("linked")).unwrap();
    fs::create_dir_all(root.join("other")).unwrap();
    symlink("../real/main.tf", root.join("other/main.tf")).unwrap();
    git(&root, &["init", "-q"], b"");
    assert_eq!(demand_accepted(&root, &root, &[]), 1);
    demand_accepted(&root, &root, &["linked"]);
}

/// The examples of all rules with a fix, in every language.
#[test]
fn git_accepts_the_patch_of_every_example() {
    let place = Place::new();
    let mut count = 0;
    for (page, text) in BUILT_IN {
        let rule = page.trim_start_matches("rules/").trim_end_matches(".md");
        for example in examples(text).iter().filter(|it| !it.fixed.is_empty() && it.config.is_none()) {
            count += 1;
            for file in &example.files {
                place.write(&format!("{rule}/{count}/{}", file.path), &unmarked(&file.text));
            }
        }
    }
    let root = place.path().canonicalize().unwrap();
    git(&root, &["init", "-q"], b"");
    let changed = demand_accepted(&root, &root, &["--profile", "all", "."]);
    assert!(count > 30 && changed > 25, "{changed} files of {count} examples");
}
