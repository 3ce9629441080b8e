//! Tests how installed bytes are verified, and what a release contains about itself.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::sandbox::{GIT_ENVIRONMENT, Sandbox, git};
use super::{archive, release, target};
use crate::skipped::skip;

const PROJECT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns a checkout of the project at the commit that a release tags, created by the script of the workflow.
fn sealed(sandbox: &Sandbox) -> PathBuf {
    let source = sources(sandbox);
    let seal = run(&source, "seal.sh", &[sandbox.path("release/SHA256SUMS").to_str().unwrap()], &[]);
    assert!(seal.status.success(), "{}", said(&seal));
    let tag = concat!("v", env!("CARGO_PKG_VERSION"));
    assert_eq!(git(&source, &["tag", "--points-at", "HEAD"]), tag);
    let checkout = sandbox.path("checkout");
    git(
        &sandbox.directory,
        &["clone", "--quiet", "--branch", tag, source.to_str().unwrap(), checkout.to_str().unwrap()],
    );
    checkout
}

/// Returns a repository of the sources that an installation uses.
fn sources(sandbox: &Sandbox) -> PathBuf {
    let source = sandbox.path("source");
    fs::create_dir_all(source.join("packaging")).unwrap();
    for file in ["Cargo.toml", "packaging/install.sh", "packaging/seal.sh"] {
        fs::copy(Path::new(PROJECT).join(file), source.join(file)).unwrap();
    }
    git(&source, &["init", "--quiet", "--initial-branch=main"]);
    git(&source, &["add", "--all"]);
    git(&source, &["commit", "--quiet", "--message", "sources"]);
    source
}

fn run(source: &Path, script: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new("bash");
    command.arg(source.join("packaging").join(script)).args(arguments).envs(GIT_ENVIRONMENT);
    for name in ["GPULINT_CHECKSUMS", "GPULINT_REPOSITORY", "GITHUB_PATH", "RUNNER_TEMP"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied()).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Installs from the release of the sandbox, and returns whether the program exists afterwards.
fn installed(sandbox: &Sandbox, source: &Path, environment: &[(&str, &str)]) -> (Output, bool) {
    let place = sandbox.path("installed");
    let _ = fs::remove_dir_all(&place);
    let from = format!("file://{}", sandbox.path("release").display());
    let mut all = vec![("GPULINT_DOWNLOAD", from.as_str()), ("GPULINT_INSTALL", place.to_str().unwrap())];
    all.extend(environment);
    (run(source, "install.sh", &[], &all), place.join("gpulint").exists())
}

/// Replaces the release by other bytes, with a matching list of checksums.
fn replace_release(sandbox: &Sandbox) {
    let other = Sandbox::new("replaced");
    let name = archive();
    let directory = name.strip_suffix(".tar.gz").unwrap();
    let program = other.path(directory).join("gpulint");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(&program, "#!/bin/sh\necho 'this runs with your token'\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let release = sandbox.path("release");
    let mut pack = Command::new("tar");
    pack.arg("-czf").arg(release.join(&name)).arg("-C").arg(&other.directory).arg(directory);
    assert!(pack.status().unwrap().success());
    let sums =
        format!("cd '{}' && (sha256sum *.tar.gz || shasum -a 256 *.tar.gz) 2>/dev/null >SHA256SUMS", release.display());
    assert!(Command::new("bash").args(["-c", &sums]).status().unwrap().success());
}

/// Returns the programs that an installation needs, optionally with a `gh` that exits with this code.
pub(super) fn tools(sandbox: &Sandbox, gh: Option<i32>) -> String {
    let tools = sandbox.path("tools");
    let _ = fs::remove_dir_all(&tools);
    fs::create_dir_all(&tools).unwrap();
    let needed = "awk basename bash cat chmod cp curl cut dirname env find gzip id mkdir mktemp mv rm sed sh sha256sum shasum tar tr uname";
    for name in needed.split(' ') {
        let found =
            std::env::split_paths(&std::env::var_os("PATH").unwrap()).map(|it| it.join(name)).find(|it| it.is_file());
        if let Some(found) = found {
            std::os::unix::fs::symlink(found, tools.join(name)).unwrap();
        }
    }
    if let Some(code) = gh {
        let script = format!("#!/bin/sh\necho gh \"$@\" >&2\nexit {code}\n");
        fs::write(tools.join("gh"), script).unwrap();
        fs::set_permissions(tools.join("gh"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    tools.to_str().unwrap().to_owned()
}

#[test]
fn the_commit_that_a_release_tags_pins_its_bytes() {
    let sandbox = Sandbox::new("sealed");
    release(&sandbox);
    let checkout = sealed(&sandbox);
    let (run, there) = installed(&sandbox, &checkout, &[]);
    assert!(run.status.success() && there, "{}", said(&run));

    replace_release(&sandbox);
    let (run, there) = installed(&sandbox, &checkout, &[("GPULINT_REPOSITORY", "acme/gpulint")]);
    assert_eq!((run.status.code(), there), (Some(2), false), "{}", said(&run));
    assert!(said(&run).contains("does not have the checksum that"), "{}", said(&run));

    // An existing tag is not created again.
    let again = super::supply::run(&checkout, "seal.sh", &[sandbox.path("release/SHA256SUMS").to_str().unwrap()], &[]);
    assert_eq!(again.status.code(), Some(2));
}

/// Returns the sorted names of the files in a directory.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_sums_of_a_release_list_every_file() {
    let sandbox = Sandbox::new("sums");
    let directory = sandbox.path("release");
    fs::create_dir_all(&directory).unwrap();
    let wheel = format!("gpulint-{}-py3-none-win_amd64.whl", env!("CARGO_PKG_VERSION"));
    let extension = format!("gpulint-vscode-{}-linux-x64.vsix", env!("CARGO_PKG_VERSION"));
    for made_before in [&wheel, &extension] {
        fs::write(directory.join(made_before), made_before).unwrap();
    }
    release(&sandbox);
    let sums = fs::read_to_string(directory.join("SHA256SUMS")).unwrap();
    let mut listed: Vec<&str> = sums.lines().map(|line| &line[66..]).collect();
    let archive = archive();
    for file in [archive.as_str(), &wheel, &extension, "install.sh", "gpulint.rb", "Containerfile", "gpulint.cdx.json"]
    {
        assert!(listed.contains(&file), "{file} is not in:\n{sums}");
    }
    listed.push("SHA256SUMS");
    listed.sort_unstable();
    assert_eq!(listed, names(&directory));
    let check = "(sha256sum --check SHA256SUMS || shasum -a 256 --check SHA256SUMS) >&2";
    let check = Command::new("bash").args(["-c", check]).current_dir(&directory).output().unwrap();
    assert!(check.status.success(), "{}", said(&check));

    // A file that is missing in the list or in the directory, or has another checksum, is not sealed.
    let source = sources(&sandbox);
    let list = directory.join("SHA256SUMS");
    let sealed = || run(&source, "seal.sh", &[list.to_str().unwrap()], &[]);
    let refused = |words: &str| {
        let seal = sealed();
        assert_eq!(seal.status.code(), Some(2), "{}", said(&seal));
        assert!(said(&seal).contains(words), "{}", said(&seal));
    };
    fs::write(directory.join("more.sh"), "echo more\n").unwrap();
    refused("does not list the files in its directory: more.sh");
    fs::remove_file(directory.join("more.sh")).unwrap();
    let installer = fs::read(directory.join("install.sh")).unwrap();
    fs::remove_file(directory.join("install.sh")).unwrap();
    refused("does not list the files in its directory: install.sh");
    fs::write(directory.join("install.sh"), [&installer[..], b"\n"].concat()).unwrap();
    refused("lists a checksum that its file does not have");
    fs::write(directory.join("install.sh"), installer).unwrap();
    assert!(sealed().status.success());
}

#[test]
fn a_release_that_this_commit_does_not_know_needs_an_attestation() {
    let sandbox = Sandbox::new("attested");
    release(&sandbox);
    let source = sources(&sandbox);
    let path = tools(&sandbox, Some(0));
    let known = [("GPULINT_REPOSITORY", "acme/gpulint"), ("PATH", path.as_str())];
    let (run, there) = installed(&sandbox, &source, &known);
    assert!(run.status.success() && there, "{}", said(&run));
    let asked = said(&run);
    let asked = asked.lines().find(|line| line.starts_with("gh ")).unwrap();
    assert!(asked.contains(&format!("/{}", archive())), "{asked}");
    assert!(
        asked.contains("--repo acme/gpulint --signer-workflow acme/gpulint/.github/workflows/release.yml"),
        "{asked}"
    );

    tools(&sandbox, Some(1));
    let (run, there) = installed(&sandbox, &source, &known);
    assert_eq!((run.status.code(), there), (Some(2), false), "{}", said(&run));
    assert!(said(&run).contains("has no attestation"), "{}", said(&run));
}

/// Creates a `gh` that knows one attestation, of a run on this ref, and compares the arguments with it.
fn attested_on(sandbox: &Sandbox, at: &str) {
    let script = format!(
        "#!/bin/sh\necho gh \"$@\" >&2\nwanted=\nwhile [ $# -gt 0 ]; do\n  [ \"$1\" = --source-ref ] && wanted=$2\n  shift\ndone\n\
         [ -z \"$wanted\" ] || [ \"$wanted\" = {at} ]\n"
    );
    let gh = sandbox.path("tools/gh");
    fs::write(&gh, script).unwrap();
    fs::set_permissions(gh, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn an_attestation_of_another_branch_is_refused() {
    let sandbox = Sandbox::new("branch");
    release(&sandbox);
    let source = sources(&sandbox);
    let path = tools(&sandbox, Some(0));
    let known = [("GPULINT_REPOSITORY", "acme/gpulint"), ("PATH", path.as_str())];
    for (at, is_taken) in [
        ("refs/heads/main", true),
        ("refs/heads/change", false),
        ("refs/tags/main", false),
        ("refs/pull/7/merge", false),
    ] {
        attested_on(&sandbox, at);
        let (run, there) = installed(&sandbox, &source, &known);
        assert_eq!((run.status.success(), there), (is_taken, is_taken), "{at}: {}", said(&run));
        assert!(said(&run).contains("--deny-self-hosted-runners"), "{}", said(&run));
    }
}

/// An attestation verifies bytes and not their name: an earlier release is not installed as a later one.
#[test]
fn an_attested_archive_of_another_version_is_not_installed() {
    let sandbox = Sandbox::new("renamed");
    release(&sandbox);
    let source = sources(&sandbox);
    let path = tools(&sandbox, Some(0));
    let later = archive().replace(env!("CARGO_PKG_VERSION"), "99.0.0");
    let later = sandbox.path("release").join(later);
    fs::copy(sandbox.path("release").join(archive()), &later).unwrap();
    let known = [("GPULINT_REPOSITORY", "acme/gpulint"), ("PATH", path.as_str()), ("GPULINT_VERSION", "99.0.0")];
    for words in ["does not contain this version", "cannot be unpacked"] {
        let (run, there) = installed(&sandbox, &source, &known);
        assert_eq!((run.status.code(), there), (Some(2), false), "{}", said(&run));
        assert!(said(&run).contains(words), "{}", said(&run));
        fs::write(&later, "no archive").unwrap();
    }
}

#[test]
fn a_release_that_nothing_vouches_for_is_not_installed() {
    let sandbox = Sandbox::new("unvouched");
    release(&sandbox);
    let source = sources(&sandbox);
    let path = tools(&sandbox, None);
    // There is no `gh`, or there is a `gh` but no repository for the attestation.
    let (run, there) = installed(&sandbox, &source, &[("GPULINT_REPOSITORY", "acme/gpulint"), ("PATH", &path)]);
    assert_eq!((run.status.code(), there), (Some(2), false), "{}", said(&run));
    assert!(said(&run).contains("cannot be verified"), "{}", said(&run));
    tools(&sandbox, Some(0));
    let (run, there) = installed(&sandbox, &source, &[("PATH", &path)]);
    assert_eq!((run.status.code(), there), (Some(2), false), "{}", said(&run));
    // A list next to the file does not verify it, and neither does a list without the file.
    let other = sandbox.path("other.txt");
    fs::write(&other, format!("{}  another.tar.gz\n", "0".repeat(64))).unwrap();
    let (run, there) = installed(&sandbox, &source, &[("GPULINT_CHECKSUMS", other.to_str().unwrap())]);
    assert_eq!((run.status.code(), there), (Some(2), false), "{}", said(&run));
}

#[test]
fn packing_twice_makes_the_same_bytes() {
    let tar = Command::new("tar").arg("--version").output().unwrap();
    if !String::from_utf8_lossy(&tar.stdout).contains("GNU") {
        return skip("releases are packed by GNU tar");
    }
    let sums = ["one", "another"].map(|name| {
        let sandbox = Sandbox::new(name);
        release(&sandbox);
        fs::read_to_string(sandbox.path("release/SHA256SUMS")).unwrap()
    });
    assert_eq!(sums[0], sums[1]);
}

/// Runs `licences.py` on the crates of this machine's target, with a policy.
fn licences(out: &Path, policy: &Path) -> Option<Output> {
    let python = Command::new("python3").args(["-c", "import tomllib"]).output();
    if !python.is_ok_and(|it| it.status.success()) {
        skip("no python3 with tomllib");
        return None;
    }
    let host = target().replace("-musl", "-gnu");
    let mut command = Command::new("python3");
    command.arg(format!("{PROJECT}/packaging/licences.py")).arg(out).args(["--target", &host, "--offline", "--policy"]);
    Some(command.arg(policy).output().unwrap())
}

#[test]
fn every_crate_is_in_the_licences_and_the_bill_of_materials() {
    let sandbox = Sandbox::new("licences");
    let out = sandbox.path("licences");
    let policy = Path::new(PROJECT).join("packaging/licences.toml");
    let Some(run) = licences(&out, &policy) else { return };
    assert!(run.status.success(), "{}", said(&run));
    let text = fs::read_to_string(out.join("LICENCES.txt")).unwrap();
    let bill: Value = serde_json::from_str(&fs::read_to_string(out.join("gpulint.cdx.json")).unwrap()).unwrap();
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    // Cargo itself lists the linked crates.
    let mut tree = Command::new("cargo");
    tree.args(["tree", "--offline", "--locked", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"]);
    let tree = tree.current_dir(PROJECT).output().unwrap();
    assert!(tree.status.success(), "{}", said(&tree));
    let tree = String::from_utf8(tree.stdout).unwrap();
    let linked: BTreeSet<String> = tree
        .lines()
        .filter_map(|line| line.split_once(" v"))
        .map(|(name, rest)| format!("pkg:cargo/{name}@{}", rest.split(' ').next().unwrap()))
        .filter(|purl| !purl.starts_with("pkg:cargo/gpulint@"))
        .collect();
    let parts = bill["components"].as_array().unwrap();
    let listed = parts.iter().filter_map(|part| part["purl"].as_str()).map(str::to_owned);
    assert_eq!(listed.collect::<BTreeSet<_>>(), linked);
    for part in parts.iter().filter(|part| part["purl"].is_string()) {
        let name = format!("{} {}", part["name"].as_str().unwrap(), part["version"].as_str().unwrap());
        assert!(text.contains(&format!("\n{name}: ")), "{name}");
        assert!(text.lines().any(|line| line.starts_with(&format!("{name} "))), "{name} has no text");
        assert_eq!(part["hashes"][0]["content"].as_str().map(str::len), Some(64), "{name}");
    }
    let refused = sandbox.path("policy.toml");
    fs::write(&refused, fs::read_to_string(policy).unwrap().replace("    \"Unicode-3.0\",\n", "")).unwrap();
    let run = licences(&sandbox.path("refused"), &refused).unwrap();
    assert_eq!(run.status.code(), Some(1));
    assert!(said(&run).contains("`(MIT OR Apache-2.0) AND Unicode-3.0` is not among the allowed"), "{}", said(&run));
    assert!(!sandbox.path("refused").exists());
}

/// Runs the workflow step that updates the recipes when the release commit is known.
#[test]
fn recipes_are_pinned_to_the_commit_of_a_release() {
    let sandbox = Sandbox::new("pinned");
    let source = sandbox.path("source");
    for directory in ["docs/ci", "packaging"] {
        fs::create_dir_all(source.join(directory)).unwrap();
    }
    let mut pages: Vec<String> =
        names(&Path::new(PROJECT).join("docs/ci")).iter().map(|name| format!("docs/ci/{name}")).collect();
    pages.extend(["README.md", "docs/budgets.md"].map(str::to_owned));
    for file in pages.iter().map(String::as_str).chain(["Cargo.toml", "packaging/pin.sh"]) {
        fs::copy(Path::new(PROJECT).join(file), source.join(file)).unwrap();
    }
    let text = || pages.iter().map(|page| fs::read_to_string(source.join(page)).unwrap()).collect::<String>();
    let pin = |arguments: &[&str]| run(&source, "pin.sh", arguments, &[]);
    assert!(pin(&[]).status.success());
    let before = text();
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let pinned = pin(&[commit]);
    assert!(pinned.status.success(), "{}", said(&pinned));
    let version = env!("CARGO_PKG_VERSION");
    for (placeholder, hash) in [
        (
            format!("uses: gpulint/gpulint@<commit of the release> # v{version}\n"),
            format!("uses: gpulint/gpulint@{commit} # v{version}\n"),
        ),
        (
            format!("rev: <commit of the release> # frozen: v{version}\n"),
            format!("rev: {commit} # frozen: v{version}\n"),
        ),
    ] {
        let count = before.matches(&placeholder).count();
        assert!(count > 1 && text().matches(&hash).count() == count, "{placeholder}");
        assert!(!text().contains(&placeholder), "{placeholder}");
    }
    assert!(pin(&[]).status.success());
    assert!(text() == before, "nothing else has changed");
    for wrong in ["main", "v0.1.0", "0123456", "0123456789abcdef0123456789abcdef0123456g"] {
        assert_eq!(pin(&[wrong]).status.code(), Some(2), "{wrong}");
    }
    assert!(text() == before);
}

/// Files that name the version and no commit: `pin.sh` writes the version of `Cargo.toml` into each of them.
#[test]
fn every_package_has_the_version_of_the_program() {
    let sandbox = Sandbox::new("versions");
    let source = sandbox.path("source");
    let files = [
        "docs/budgets.md",
        "docs/editors.md",
        "editors/zed/Cargo.toml",
        "editors/zed/extension.toml",
        "fleet/gpulint_fleet/__init__.py",
        "fleet/manifests/Dockerfile",
        "fleet/manifests/github-actions.yml",
        "fleet/manifests/indexed-job.yaml",
        "fleet/manifests/rayjob-of-a-night.yaml",
        "fleet/manifests/rayjob.yaml",
        "fleet/pyproject.toml",
    ];
    let version = env!("CARGO_PKG_VERSION");
    let here = |file: &str| fs::read_to_string(Path::new(PROJECT).join(file)).unwrap();
    for directory in files.iter().chain(&["packaging/pin.sh"]).map(|file| Path::new(file).parent().unwrap()) {
        fs::create_dir_all(source.join(directory)).unwrap();
    }
    fs::write(source.join("Cargo.toml"), here("Cargo.toml").replace(version, "77.0.1")).unwrap();
    fs::copy(Path::new(PROJECT).join("packaging/pin.sh"), source.join("packaging/pin.sh")).unwrap();
    for file in files {
        fs::write(source.join(file), here(file)).unwrap();
    }
    assert!(run(&source, "pin.sh", &[], &[]).status.success());
    for file in files {
        let pinned = fs::read_to_string(source.join(file)).unwrap();
        assert!(pinned.contains("77.0.1"), "pin.sh does not write the version of {file}");
        assert!(pinned.replace("77.0.1", version) == here(file), "{file} has another version, or pin.sh writes more");
    }
}

#[test]
fn the_container_is_pinned_and_trusts_one_place() {
    let text = fs::read_to_string(Path::new(PROJECT).join("packaging/Containerfile")).unwrap();
    for line in text.lines().filter(|line| line.starts_with("FROM ")) {
        let (_, digest) = line.split_once("@sha256:").unwrap_or_else(|| panic!("{line} names no digest"));
        assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
    }
    let trusted: Vec<&str> =
        text.lines().filter_map(|line| line.split_once("safe.directory ")).map(|(_, it)| it).collect();
    assert_eq!(trusted, ["/work"]);
    assert!(text.contains("\nWORKDIR /work\n"));
}
