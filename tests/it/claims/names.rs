//! Names in code font exist somewhere in the project, and versions are those of this release.

use std::collections::HashSet;
use std::fs;

use super::{demand_none, files, pages, read, spans};
use crate::fences;

/// The folders and files in which a name can be defined or used. Pages are not among them.
const SOURCES: [&str; 14] = [
    "src",
    "tests",
    "build",
    "fleet",
    "packaging",
    "pricing",
    "schema",
    ".ci",
    ".github",
    "editors",
    "fuzz",
    "benches",
    "rules",
    "examples",
];
const FILES: [&str; 7] =
    ["build.rs", "action.yml", "Cargo.toml", "Cargo.lock", "clippy.toml", "deny.toml", ".pre-commit-hooks.yaml"];

/// Names that the project does not contain: of other programs, of the reader's own files, and of earlier code.
const FOREIGN: &str = include_str!("foreign_names.txt");

/// Returns a name in the form in which names are compared: `max-age` and `max_age` are the same.
fn plain(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

/// Returns the names in a string: letters, digits, `_` and `-`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let words = text.split(move |c| !is_part(c)).map(|name| name.trim_matches(['-', '_']));
    words.filter(|name| name.len() > 2 && name.starts_with(|c: char| !c.is_ascii_digit()))
}

/// Returns every name of the project's sources.
fn known() -> HashSet<String> {
    let paths = SOURCES.into_iter().flat_map(files);
    let texts = paths.filter(|path| !path.ends_with("README.md") && !path.ends_with("foreign_names.txt")).map(|path| {
        let path_itself = path.to_string_lossy().into_owned();
        path_itself + "\n" + &String::from_utf8_lossy(&fs::read(path).unwrap())
    });
    let mut known = HashSet::new();
    for text in texts.chain(FILES.into_iter().map(read)) {
        known.extend(names(&text).map(plain));
    }
    known
}

#[test]
fn every_name_in_code_exists() {
    let known = known();
    let foreign: HashSet<&str> = FOREIGN.lines().filter(|line| !line.starts_with('#')).collect();
    let mut unused = foreign.clone();
    let mut wrong = Vec::new();
    for page in pages() {
        // Names in the files that a page shows are the reader's.
        let shown: HashSet<String> =
            fences::read(&page.text).iter().flat_map(|it| names(&it.text).map(plain)).collect();
        // Other tests check the filters of `cargo test`.
        for (line, code) in spans(&page.text).into_iter().filter(|(_, code)| !code.contains("cargo test")) {
            for name in names(&code).filter(|it| !known.contains(&plain(it)) && !shown.contains(&plain(it))) {
                unused.remove(name);
                if !foreign.contains(name) {
                    wrong.push(format!("{}:{line}: `{name}` in `{code}`", page.path));
                }
            }
        }
    }
    demand_none(&wrong, "names that the project does not contain");
    assert!(unused.is_empty(), "tests/it/claims/foreign_names.txt lists names that no page needs: {unused:?}");
}

/// The code that CONTRIBUTING.md shows as an example is in the sources, line by line.
#[test]
fn examples_for_contributors_are_code_of_the_project() {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let texts = ["src", "rules", "pricing"].into_iter().flat_map(files).map(|path| fs::read(path).unwrap());
    let sources: String = texts.map(|bytes| flat(&String::from_utf8_lossy(&bytes)) + "\n").collect();
    let page = read("CONTRIBUTING.md");
    let blocks = fences::read(&page);
    let lines: Vec<String> =
        blocks.iter().flat_map(|it| it.text.lines()).map(flat).filter(|it| it.len() > 15).collect();
    assert!(lines.len() > 20, "{} lines", lines.len());
    let wrong: Vec<String> = lines.into_iter().filter(|line| !sources.contains(line.as_str())).collect();
    demand_none(&wrong, "lines of CONTRIBUTING.md that the sources do not contain");
}

/// The parts of pages before and after the version of a release.
const VERSIONS: [(&str, char); 7] = [
    ("gpulint/gpulint@v", ' '),
    ("<commit of the release> # v", '\n'),
    (" # frozen: v", '\n'),
    ("gpulint==", ' '),
    ("/releases/download/v", '/'),
    ("refs/tags/v", '\n'),
    ("gpulint-vscode-", '-'),
];

#[test]
fn every_version_on_a_page_is_that_of_this_release() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        for (before, after) in VERSIONS {
            for named in page.text.split(before).skip(1) {
                let version = named.split([after, '\n', ']', '`']).next().unwrap();
                count += 1;
                if version != env!("CARGO_PKG_VERSION") && version != "VERSION" {
                    wrong.push(format!("{}: {before}{version}", page.path));
                }
            }
        }
    }
    assert!(count > 20, "only {count} versions");
    demand_none(&wrong, "versions of another release");
}

/// Returns the languages that gpulint reads, as its help names them.
fn languages() -> String {
    let help = super::options::printed(&["--help"]);
    let line = help.lines().find_map(|line| line.strip_prefix("Reads ")).unwrap();
    line.trim_end_matches('.').to_owned()
}

#[test]
fn first_pages_name_every_language_that_is_read() {
    let languages = languages();
    assert!(read("book.toml").contains(&languages), "book.toml does not contain: {languages}");
    for path in ["README.md", "docs/README.md", "docs/reads.md", "docs/assistants.md", "editors/vscode/README.md"] {
        let text = read(path);
        for language in languages.split([',', ' ', '/']).filter(|it| it.len() > 3) {
            assert!(text.contains(language), "{path} does not name {language}");
        }
    }
}

/// Entries of `kinds.toml` for files without an API group, with their names on the page; an empty name is internal.
const FORMATS: [(&str, &str); 16] = [
    ("azureml", "Azure ML"),
    ("cluster-toolkit", "Cluster Toolkit"),
    ("databricks", "Databricks bundles"),
    ("dstack", "dstack"),
    ("helm", "Helm charts"),
    ("helmfile", "Helmfile"),
    ("kfp", "compiled pipelines of Kubeflow"),
    ("openshift-install", "`install-config.yaml`"),
    ("parallelcluster", "AWS ParallelCluster"),
    ("skaffold", "Skaffold"),
    ("skypilot", "SkyPilot"),
    ("slurm", "Slurm"),
    ("states", "Step Functions"),
    ("terraform", ""),
    ("values", ""),
    ("vertex", "Vertex AI"),
];

#[test]
fn the_page_names_every_format_that_is_read() {
    let page = read("docs/reads.md");
    let (page, _) = page.split_once("## What it does not read").unwrap();
    let table: toml::Table = read("src/kubernetes/rows/kinds.toml").parse().unwrap();
    let kinds = table["kind"].as_array().unwrap();
    let groups = |kind: &toml::Value| -> Vec<String> {
        let all = kind.get("groups").and_then(toml::Value::as_array).into_iter().flatten();
        all.map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    let of_kubernetes = ["", "apps", "autoscaling", "batch", "extensions", "policy"];
    let is_of_a_cluster = |group: &String| group.contains('.') || of_kubernetes.contains(&group.as_str());
    let others: HashSet<String> = kinds.iter().flat_map(groups).filter(|it| !is_of_a_cluster(it)).collect();
    for group in others {
        let (_, name) =
            FORMATS.iter().find(|(it, _)| *it == group).unwrap_or_else(|| panic!("name the group `{group}`"));
        assert!(page.contains(name), "docs/reads.md does not name {name}");
    }
    let count = kinds.iter().filter(|it| groups(it).iter().any(is_of_a_cluster)).count();
    assert!(count > 150 && page.contains("more than 150 kinds of Kubernetes"), "{count} kinds");
}
