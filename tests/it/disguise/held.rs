//! Checks that no generated pair passes silently. The program runs on many pairs at once, like in the Action.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{Choice, Files, NO_UTF_8, Pair};
use crate::action::sandbox::{GIT_ENVIRONMENT, Sandbox, git};

/// The number of pairs in one run, each in its own folder.
const TOGETHER: usize = 100;

/// A rule that reports everything with an accelerator.
const PAGE: &str = "---\nname: mine\ngroup: governance\nlayer: efficiency\nlevel: error\nrisk: low\nsince: 0.1.0\nprofile: essential\n\
                    untested: true\nwhen: \"true\"\nmessage: mine\n---\n# mine\n";

#[test]
fn no_disguise_passes_silently() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<usize>().ok());
    let (all, start) = (number("GPULINT_DISGUISES").unwrap_or(200), number("GPULINT_SEED").unwrap_or(1));
    let mut silent: Vec<String> = Vec::new();
    for first in (start..start + all).step_by(TOGETHER) {
        let seeds = first..(first + TOGETHER).min(start + all);
        silent.extend(silent_of(seeds.map(|seed| (seed, chosen(seed))).collect()));
    }
    assert!(
        silent.is_empty(),
        "of {all} pairs from GPULINT_SEED={start} on, {} passed:\n{}",
        silent.len(),
        silent.join("\n")
    );
}

fn chosen(seed: usize) -> Pair {
    Pair::choose(&mut Choice::seeded(seed as u64), &folder(seed))
}

fn folder(seed: usize) -> String {
    format!("p{seed}")
}

/// Returns the pairs without a message in a run, after checking each alone.
fn silent_of(pairs: Vec<(usize, Pair)>) -> Vec<String> {
    let told = told_of(&pairs);
    let suspect = pairs.into_iter().filter(|(seed, _)| !told.contains(&folder(*seed)));
    let is_silent = |(seed, pair): (usize, Pair)| {
        let name = format!("{seed}: {}", pair.disguises.join("; "));
        told_of(&[(seed, pair)]).is_empty().then_some(name)
    };
    suspect.filter_map(is_silent).collect()
}

/// Returns the folders for which a comparison with the base, under the base's settings, reports something that does not
/// pass.
fn told_of(pairs: &[(usize, Pair)]) -> BTreeSet<String> {
    let sandbox = Sandbox::new("disguises");
    let here = &sandbox.directory;
    git(here, &["init", "--quiet", "--initial-branch=main"]);
    let settings = [
        ("gpulint.toml".to_owned(), b"rules-dir = [\"policy\"]\n".to_vec()),
        ("policy/mine.md".to_owned(), PAGE.into()),
    ];
    put(here, &settings.to_vec());
    pairs.iter().for_each(|(seed, pair)| put(&here.join(folder(*seed)), &pair.base));
    commit(here);
    let base = git(here, &["rev-parse", "HEAD"]);
    for (seed, pair) in pairs {
        fs::remove_dir_all(here.join(folder(*seed))).unwrap();
        put(&here.join(folder(*seed)), &pair.head);
        for (path, target) in &pair.links {
            std::os::unix::fs::symlink(target, here.join(folder(*seed)).join(path)).unwrap();
        }
    }
    // The change also relaxes the rules, and has the name of its base.
    put(
        here,
        &vec![
            ("gpulint.toml".to_owned(), b"fail-on = \"error\"\nignore = [\"mine\"]\n".to_vec()),
            ("policy/mine.md".to_owned(), PAGE.replace("when: \"true\"", "when: \"false\"").into()),
            (format!("{base}/x.tf"), b"locals {}\n".to_vec()),
        ],
    );
    commit(here);
    for name in [&base, &base[..12], "main", "HEAD"] {
        git(here, &["update-ref", &format!("refs/tags/{name}"), "HEAD"]);
    }
    git(here, &["update-ref", &format!("refs/heads/{base}"), "HEAD"]);
    let arguments = ["diff", "--base", &base, "--policy-ref", &base, "--format", "json", "."];
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    let output = command.current_dir(here).envs(GIT_ENVIRONMENT).args(arguments).output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let list = |key: &str| said[key].as_array().cloned().unwrap_or_default();
    let text = |it: &Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
    let counts = |it: &&Value| it["level"] != "note" && it["confidence"] != "low";
    let new =
        [list("new"), list("grown")].iter().flatten().filter(counts).map(|it| text(it, "path")).collect::<Vec<_>>();
    let open =
        list("not_judged").iter().filter(|it| it["standing"] != "as before").map(|it| text(it, "path")).collect();
    let told: BTreeSet<String> =
        [new, open].concat().iter().filter_map(|it| it.split('/').next().map(str::to_owned)).collect();
    assert_eq!(output.status.code() != Some(0), !told.is_empty(), "the exit code says something else than the report");
    told
}

fn put(directory: &Path, files: &Files) {
    for (path, bytes) in files {
        let path = path.split(NO_UTF_8).map(str::as_bytes).collect::<Vec<_>>().join(&b"\xff"[..]);
        let path = directory.join(OsStr::from_bytes(&path));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Commits everything, including ignored files.
fn commit(directory: &Path) {
    git(directory, &["add", "--all", "--force"]);
    git(directory, &["commit", "--quiet", "--message", "state"]);
}
