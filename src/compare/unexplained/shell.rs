//! Finds files whose content a shell passes as a value to a deploy tool: `terraform apply -var n=$(cat COUNT.md)`.

use std::collections::BTreeSet;

use regex::Regex;

use crate::source::static_regex;

/// Returns the files that a script or pipeline reads into a deployment, as it names them.
pub(super) fn values_from_files(text: &str) -> BTreeSet<String> {
    if !CALLED.is_match(text) {
        return BTreeSet::new();
    }
    let text = text.replace("\\\n", " ");
    let text = &*NAMES_READ.replace_all(&text, "");
    let mut found = BTreeSet::new();
    let used: Vec<&str> = text.lines().filter(|line| CALLED.is_match(line)).collect();
    for line in text.lines() {
        // A sourced file sets variables for all following lines.
        found.extend(SOURCED.captures_iter(line).filter_map(|it| it.get(1)).map(|it| it.as_str()));
        let is_used = |name: &str| used.iter().any(|line| line.contains(name));
        let becomes_argument =
            || ASSIGNED.captures(line).and_then(|it| it.get(1)).is_some_and(|it| is_used(it.as_str()));
        if CALLED.is_match(line) || HANDED.is_match(line) || becomes_argument() {
            for read in READ.captures_iter(line).filter_map(|it| it.iter().skip(1).flatten().next()) {
                found.extend(read.as_str().split(is_no_path).filter(|word| word.len() > 1));
            }
        }
    }
    found.into_iter().map(str::to_owned).collect()
}

/// Returns the commands of a script that call deploy tools, one a line.
pub(super) fn calling(text: &str) -> Option<String> {
    let text = text.replace("\\\n", " ");
    let text = NAMES_READ.replace_all(&text, "");
    let lines: Vec<&str> = text.lines().filter(|line| CALLED.is_match(line)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns the files whose content a command substitution inserts, as the script names them.
pub(super) fn inserted_files(text: &str) -> BTreeSet<String> {
    let text = text.replace("\\\n", " ");
    let text = NAMES_READ.replace_all(&text, "");
    let lines = text.lines().filter(|line| CALLED.is_match(line) || HANDED.is_match(line));
    let found = lines.flat_map(|line| INSERTED.captures_iter(line).filter_map(|it| it.iter().skip(1).flatten().next()));
    let words = found.flat_map(|it| it.as_str().split(is_no_path));
    words.filter(|word| word.contains('.') && word.len() > 2).map(str::to_owned).collect()
}

fn is_no_path(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || "._-/".contains(c))
}

static_regex!(
/// Lines of scripts and pipelines whose programs write files to deploy.
pub(super) static CALLED: Regex = r"--post-renderer|\b(?:terraform|tofu|terragrunt|kubectl|helm|kustomize)\b|\b(?:scale|grow|deploy|resize|provision)\w*\.(?:py|sh|js|ts|rb)\b");
static_regex!(
/// A file that sets variables for later commands.
static SOURCED: Regex = r#"(?:^|[;&|]|\brun:)\s*(?:-\s+)?(?:\.|source)\s+["']?([\w./-]+)"#);
static_regex!(
/// Files whose content a shell inserts into a command, reads, or copies.
static READ: Regex = r"\$\(([^()]*)\)|`([^`]*)`|[^<]<\s*([\w./-]+)|\b(?:cp|mv|install|ln|tee|envsubst)\s+([^;&|]*)");
static_regex!(
/// Files whose content becomes a part of a command.
static INSERTED: Regex = r"\$\(([^()]*)\)|`([^`]*)`");
static_regex!(
/// Versions and other names that a shell takes from a file.
static NAMES_READ: Regex = r#"(?i)\b[\w.-]*(?:tag|version|image|digest|sha|commit|branch)["']?\s*[:?]?=\s*["']?(?:\$\([^()]*\)|`[^`]*`)"#);
static_regex!(
/// Lines that pass a value to Terraform or a chart without calling a tool.
static HANDED: Regex = r"\bTF_VAR_|\.tfvars\b|\bvalues[\w.-]*\.ya?ml\b|GITHUB_ENV|TF_CLI_ARGS");
static_regex!(static ASSIGNED: Regex = r"\b([A-Za-z_]\w*)\s*[:?]?=");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_become_values_are_found() {
        for (text, name) in [
            ("terraform apply $(cat args.txt)", Some("args.txt")),
            ("\tterraform apply -var-file=prod.conf $$(cat args.txt)", Some("args.txt")),
            ("terraform apply -var n=$(<docs/COUNT.md)", Some("docs/COUNT.md")),
            ("terraform apply -var n=`head -1 LICENSE`", Some("LICENSE")),
            ("terraform apply -var n=$(wc -l < nodes.csv)", Some("nodes.csv")),
            ("kubectl scale deploy x --replicas=$(cat replicas.txt)", Some("replicas.txt")),
            (". ./settings.txt; terraform apply", Some("./settings.txt")),
            ("source settings.txt\nterraform apply", Some("settings.txt")),
            ("- run: source settings.txt\n- run: terraform apply", Some("settings.txt")),
            ("cp over.txt over.auto.tfvars\nterraform apply", Some("over.txt")),
            ("N=$(cat COUNT.md)\nterraform apply -var n=$N", Some("COUNT.md")),
            ("echo \"TF_VAR_n=$(head -1 LICENSE)\" >> $GITHUB_ENV\nterraform apply", Some("LICENSE")),
            ("terraform apply \\\n  -var n=$(jq .n fleet.txt)", Some("fleet.txt")),
            ("terraform apply -var n=$(jq .n fleet.txt)", Some("fleet.txt")),
            ("helm upgrade a b --set image.tag=$(cat args.txt)", None),
            ("VERSION=$(cat args.txt)\nhelm upgrade a b --set image.tag=$VERSION", None),
            ("body=$(cat CHANGELOG.md)\nterraform apply", None),
            ("terraform plan > plan.txt", None),
            ("terraform-docs md . > README.md\nterraform fmt", None),
            ("echo $(cat args.txt)", None),
        ] {
            let found = values_from_files(text);
            match name {
                Some(name) => assert!(found.contains(name), "{text}: {found:?}"),
                None => {
                    let documents = ["CHANGELOG.md", "plan.txt", "README.md", "args.txt"];
                    assert!(documents.iter().all(|it| !found.contains(*it)), "{text}: {found:?}");
                }
            }
        }
    }
}
