//! Tests the permissions of the workflows, what they install, and who must approve.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::skipped::skip;

const PROJECT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the workflows as parsed YAML.
fn workflows() -> Vec<(String, Value)> {
    let directory = Path::new(PROJECT).join(".github/workflows");
    let files = fs::read_dir(directory).unwrap().map(|it| it.unwrap().path());
    files
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), serde_saphyr::from_str(&text).unwrap())
        })
        .collect()
}

fn permission<'v>(job: &'v Value, workflow: &'v Value, name: &str) -> Option<&'v str> {
    let of = |it: &'v Value| match &it["permissions"] {
        Value::String(all) => Some(all.strip_suffix("-all").unwrap_or(all)),
        named => named[name].as_str(),
    };
    if job["permissions"].is_null() { of(workflow) } else { of(job) }
}

#[test]
fn nothing_unpinned_runs_where_there_is_a_token_that_writes() {
    let fetching = [
        "pipx",
        "uvx",
        "npx",
        "npm i",
        "npm install",
        "cargo install",
        "go install",
        "go run",
        "curl",
        "wget",
        "rustup",
        "apt-get",
        "brew",
        "gem install",
        "docker",
    ];
    let mut held = 0;
    for (name, workflow) in workflows() {
        for (title, job) in workflow["jobs"].as_object().unwrap() {
            for step in job["steps"].as_array().unwrap() {
                let uses = step["uses"].as_str().filter(|uses| !uses.starts_with("./"));
                let commit = uses.map(|uses| uses.split_once('@').unwrap().1);
                let pinned = |commit: &str| commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
                assert!(commit.is_none_or(pinned), "{name} {title}: {uses:?}");
            }
            let writes = ["id-token", "contents", "attestations", "packages"];
            if !writes.iter().any(|it| permission(job, &workflow, it) == Some("write")) {
                continue;
            }
            held += 1;
            for step in job["steps"].as_array().unwrap() {
                let run = step["run"].as_str().unwrap_or_default();
                let found = fetching.iter().find(|it| run.contains(**it));
                assert_eq!(found, None, "{name} {title} fetches a program beside a token that writes: {run}");
                for line in run.lines().filter(|line| line.replace('"', "").contains("pip install")) {
                    assert!(line.contains("--require-hashes"), "{name} {title}: {line}");
                }
            }
        }
    }
    assert!(held >= 2, "the jobs that release and publish hold such a token");
    let pinned = fs::read_to_string(Path::new(PROJECT).join("packaging/publish.txt")).unwrap();
    assert!(pinned.contains("--hash=sha256:"));
}

/// Returns each job of each workflow: its name in messages, the job, and its workflow.
fn jobs() -> Vec<(String, Value, Value)> {
    let mut all = Vec::new();
    for (name, workflow) in workflows() {
        for (title, job) in workflow["jobs"].as_object().unwrap() {
            all.push((format!("{name} {title}"), job.clone(), workflow.clone()));
        }
    }
    assert!(all.len() > 12, "{} jobs", all.len());
    all
}

fn steps(job: &Value) -> &[Value] {
    job["steps"].as_array().unwrap()
}

#[test]
fn every_job_says_its_permissions_and_ends() {
    for (name, job, workflow) in jobs() {
        assert_eq!(workflow["permissions"], serde_json::json!({}), "{name}: nothing is allowed unless a job says so");
        assert!(job["permissions"].is_object(), "{name} says no permissions");
        assert!(job["timeout-minutes"].is_u64() && workflow["concurrency"]["group"].is_string(), "{name}");
        for step in steps(&job) {
            assert!(!step["run"].as_str().unwrap_or_default().contains("${{"), "{name}: an expression in a script");
            if step["uses"].as_str().is_some_and(|uses| uses.starts_with("actions/checkout@")) {
                assert_eq!(step["with"]["persist-credentials"], false, "{name}");
            }
        }
    }
}

#[test]
fn every_secret_and_every_identity_is_in_an_environment() {
    let mut environments = BTreeSet::new();
    for (name, job, workflow) in jobs() {
        let mut outside = workflow;
        outside.as_object_mut().unwrap().remove("jobs");
        assert!(!outside.to_string().contains("secrets."), "{name}: every job of the workflow has its secrets");
        if job.to_string().contains("secrets.") || job["permissions"]["id-token"] == "write" {
            let environment = job["environment"].as_str().or(job["environment"]["name"].as_str());
            environments.insert(environment.unwrap_or_else(|| panic!("{name} has no environment")).to_owned());
        }
    }
    assert_eq!(
        environments,
        BTreeSet::from(["github-pages", "prices", "pypi", "release", "vendors"].map(str::to_owned))
    );
    // The rules of an environment are not in a file, so a page documents them.
    let page = fs::read_to_string(Path::new(PROJECT).join("CONTRIBUTING.md")).unwrap();
    for environment in environments {
        assert!(page.contains(&format!("| `{environment}` |")), "CONTRIBUTING.md does not describe {environment}");
    }
}

/// Checks that each package of the file has the hashes of its files.
fn assert_hashed(file: &str) {
    let text = fs::read_to_string(Path::new(PROJECT).join(file)).unwrap();
    let text = text.replace("\\\n", " ");
    let packages: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(!packages.is_empty(), "{file}");
    for package in packages {
        assert!(package.contains("==") && package.contains(" --hash=sha256:"), "{file}: {package}");
    }
}

/// `pip` compares hashes, and `npm ci` compares those of its lock file. `cargo` and `go` compare the hash at
/// publication.
#[test]
fn workflows_install_nothing_by_its_name_alone() {
    assert_hashed("tests/editors/requirements.txt");
    let mut files = BTreeSet::new();
    for (name, job, _) in jobs() {
        for line in steps(&job).iter().flat_map(|step| step["run"].as_str().unwrap_or_default().lines()) {
            let line = line.replace('"', "");
            for word in ["pipx", "npx", "uvx", "npm install", "npm i ", "npm pack", "gem install", "@latest"] {
                assert!(!line.contains(word), "{name}: {line}");
            }
            if line.contains("pip install") && !line.contains("--no-index") {
                assert!(line.contains("--require-hashes --only-binary :all:"), "{name}: {line}");
                let (_, file) = line.split_once("--requirement ").unwrap_or_else(|| panic!("{name}: {line}"));
                files.insert(file.to_owned());
            }
            for (word, wanted) in [
                ("cargo install", "--locked"),
                ("cargo install", "@"),
                ("go install", "@"),
                ("npm ci", "--ignore-scripts"),
            ] {
                assert!(!line.contains(word) || line.contains(wanted), "{name}: {line}");
            }
        }
    }
    assert!(files.len() > 2, "{files:?}");
    files.iter().for_each(|file| assert_hashed(file));
}

/// The steps that sign and publish use the packed files: by the number of the upload, and by the checksum of their
/// list.
#[test]
fn nothing_comes_between_packing_and_publishing() {
    let known = ["checkout", "upload-artifact", "download-artifact", "attest-build-provenance"];
    let mut publish = 0;
    for (name, job, _) in jobs().iter().filter(|(name, ..)| name.starts_with("release.yml ")) {
        for step in steps(job) {
            let Some(uses) = step["uses"].as_str() else { continue };
            let action = uses.split('@').next().unwrap().trim_start_matches("actions/");
            assert!(known.contains(&action), "{name}: {uses} may restore a cache, or run what nobody looked at");
            if action == "download-artifact" && step["with"]["path"] == "dist" {
                assert_eq!(step["with"]["artifact-ids"], "${{ needs.pack.outputs.artifact }}", "{name}");
            }
        }
        if job["permissions"]["id-token"] == "write" {
            publish += 1;
            let compares = |step: &Value| {
                step["env"]["SUMS"] == "${{ needs.pack.outputs.sums }}"
                    && step["run"].as_str().is_some_and(|run| run.matches("sha256sum --check").count() == 2)
            };
            assert!(steps(job).iter().any(compares), "{name} does not compare what it publishes");
        }
    }
    assert_eq!(publish, 2);
}

/// Returns the names of the files in `packaging` that a text names.
fn packaging_files(text: &str) -> BTreeSet<String> {
    let named = text.split("packaging/").skip(1);
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    named.map(|rest| rest.chars().take_while(|letter| is_part(*letter)).collect()).collect()
}

/// A maintainer can try each script of the release on one machine.
#[test]
fn the_rehearsal_runs_every_script_of_a_release() {
    let rehearsal = packaging_files(&fs::read_to_string(Path::new(PROJECT).join("packaging/rehearse.sh")).unwrap());
    let mut named = BTreeSet::new();
    for (name, job, _) in jobs().iter().filter(|(name, ..)| name.starts_with("release.yml ")) {
        for run in steps(job).iter().filter_map(|step| step["run"].as_str()) {
            named.extend(packaging_files(run));
            // The list of checksums names each file that is there when `pack.sh` runs.
            if let Some(pack) = run.find("packaging/pack.sh") {
                for before in ["wheel.py", "fleet.py", "vscode.py"] {
                    assert!(
                        run[..pack].contains(&format!("packaging/{before}")),
                        "{name}: {before} runs after pack.sh"
                    );
                }
            }
        }
    }
    // The rehearsal publishes nothing.
    assert!(named.remove("publish.txt") && named.len() > 7, "{named:?}");
    assert!(named.is_subset(&rehearsal), "{:?}", named.difference(&rehearsal).collect::<Vec<_>>());
}

#[test]
fn dependabot_reads_every_manifest() {
    let listed = Command::new("git").args(["ls-files"]).current_dir(PROJECT).output();
    let Some(listed) = listed.ok().filter(|it| it.status.success()) else { return skip("this is no clone") };
    let text = fs::read_to_string(Path::new(PROJECT).join(".github/dependabot.yml")).unwrap();
    let settings: Value = serde_saphyr::from_str(&text).unwrap();
    let updates = settings["updates"].as_array().unwrap();
    for update in updates {
        assert!(update["cooldown"]["default-days"].as_u64().is_some_and(|days| days >= 7), "{update}");
    }
    let mut count = 0;
    for file in String::from_utf8(listed.stdout).unwrap().lines() {
        let (directory, name) = file.rsplit_once('/').unwrap_or(("", file));
        let has_hashes = || fs::read_to_string(Path::new(PROJECT).join(file)).unwrap().contains("--hash=sha256:");
        let ecosystem = match name {
            "Cargo.toml" => "cargo",
            "package.json" => "npm",
            "pyproject.toml" => "pip",
            "Dockerfile" | "Containerfile" => "docker",
            "action.yml" => "github-actions",
            "build.gradle" | "build.gradle.kts" => "gradle",
            "go.mod" => "gomod",
            _ if name.ends_with(".txt") && has_hashes() => "pip",
            _ => continue,
        };
        count += 1;
        let directory = Value::from(format!("/{directory}"));
        let reads = |update: &&Value| update["directories"].as_array().is_some_and(|all| all.contains(&directory));
        let found = updates.iter().filter(|update| update["package-ecosystem"] == ecosystem).find(reads);
        assert!(found.is_some(), "no update of {ecosystem} reads {file}");
    }
    assert!(count >= 12, "only {count} manifests");
}

#[test]
fn owners_guard_releases_and_policy() {
    let text = fs::read_to_string(Path::new(PROJECT).join(".github/CODEOWNERS")).unwrap();
    let rules = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let owned: Vec<&str> = rules
        .map(|line| {
            let (path, owners) = line.split_once(' ').unwrap();
            assert!(owners.trim_start().starts_with('@'), "{line}");
            let place = path.trim_start_matches('/').split('*').next().unwrap();
            assert!(Path::new(PROJECT).join(place).exists(), "{path} leads nowhere");
            path
        })
        .collect();
    for path in ["/.github/", "/packaging/", "/action.yml", "/Cargo.lock", "/build.rs", "/src/decide/", "/SECURITY.md"]
    {
        assert!(owned.contains(&path), "{path} has no owner");
    }
}
