//! Separates variables that a program passes on from those that it only uses itself.

use regex::Regex;

use super::amounts::MESSAGE;
use super::change::{ChangedLine, ChangedText, lines};
use super::shell::CALLED;
use crate::source::static_regex;

/// Returns the names to which a line assigns a value. `--size=` in a manifest is an option of the container's program,
/// unless the manifest calls a deploy tool.
pub(super) fn assigned(text: &str, file: &ChangedText) -> Vec<String> {
    let has_options = file.is_yaml() && file.is.contains("apiVersion") && !CALLED.is_match(&file.is);
    let is_option = |at: usize| has_options && text.get(..at).is_some_and(|before| before.ends_with("--"));
    let found = ASSIGNED.captures_iter(text).filter_map(|it| it.iter().skip(1).flatten().next());
    found.filter(|it| !is_option(it.start())).map(|it| it.as_str().to_owned()).collect()
}

/// Returns true if a script in a YAML file sets a variable for itself: it uses the variable, and runs no program that
/// deploys or could read it.
pub(super) fn stays_inside(name: &str, line: ChangedLine, file: &ChangedText) -> bool {
    let sets = SET.captures(line.text).and_then(|it| it.get(1)).is_some_and(|it| it.as_str() == name);
    let forms = [format!("${name}"), format!("${{{name}")];
    let script = || script_around(file, line.number);
    file.is_yaml()
        && sets
        && script().is_some_and(|script| {
            let commands: Vec<&str> =
                script.lines().filter(|line| !line.trim_start().starts_with('#') && !MESSAGE.is_match(line)).collect();
            forms.iter().any(|form| script.contains(form.as_str())) && !passes_on(&commands.join("\n"))
        })
}

/// Returns true if a script may deploy something, or pass its variables on.
pub(super) fn passes_on(script: &str) -> bool {
    PASSES_ON.is_match(script)
}

/// Returns the script of a pipeline or task that contains a line.
fn script_around(file: &ChangedText, number: usize) -> Option<String> {
    let all: Vec<ChangedLine> = lines(&file.is).collect();
    let is_blank = |line: &ChangedLine| line.text.trim().is_empty();
    let mut own = all.get(number)?.indent();
    let mut start = None;
    for line in all.get(..number)?.iter().rev().filter(|line| !is_blank(line)) {
        if line.indent() < own {
            own = line.indent();
            if BLOCK.is_match(line.text) {
                start = Some(line.number);
                break;
            }
        }
    }
    let start = start?;
    let behind = all.get(start + 1..)?.iter().take_while(|line| is_blank(line) || line.indent() > own);
    Some(behind.map(|line| line.text).collect::<Vec<_>>().join("\n"))
}

static_regex!(
/// A name that is assigned a value.
pub(super) static ASSIGNED: Regex = r#"\b(?:ENV|ARG)\s+([A-Za-z_]\w*)[\s=]|\b([A-Za-z_]\w*)["']?\s*(?:[:?]?=|:\s)"#);
static_regex!(
/// The start of a script in a pipeline or task.
static BLOCK: Regex = r"^\s*(?:-\s+)?(?:run|setup|script|bash|inlineScript)\s*:\s*[|>][-+0-9]*\s*(?:#.*)?$");
static_regex!(
/// A variable that a shell sets.
static SET: Regex = r"^\s*(?:(?:export|local|readonly)\s+)?([A-Za-z_]\w*)=");
static_regex!(
/// Programs that deploy, that run other programs, or that write files for them.
static PASSES_ON: Regex = concat!(
        r"\b(?:terraform|tofu|terragrunt|kubectl|oc|helm|helmfile|kustomize|pulumi|cdk|aws|gcloud|az|oci|eksctl|nebius|doctl|ibmcloud|yc)\s",
        r"|(?m:^|[;&|(]|\b(?:then|do|else|sudo|time|env|nohup)\s)\s*(?:\w+=\S*\s+)*(?:sky|ray|sbatch|srun|salloc|modal|envsubst|docker|podman|make|just|task|source|eval|exec|xargs|node|npx?|npm|yarn|go|cargo|curl|ssh|tee)\s",
        r"|\b(?:ba|z|da)?sh\s|\bpython|\bansible|\btorchrun|\baccelerate|\bmpirun|\bdeepspeed|\bGITHUB_|\bTF_|::set-|##vso|<<",
        r"|[\w}]\.(?:sh|py|js|ts|rb|tfvars|ya?ml|json|env|conf)\b|(?m:^\s*\.\s)|(?:^|\s)\./",
    ));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_one_script_are_told_from_inputs() {
        for (text, is_inside) in [
            ("run: |\n  N=8\n  echo $N\n", true),
            ("- run: |\n    export N=${M}\n    seq 1 $((N))\n    awk -v n=$N a > b.txt\n", true),
            ("run: |\n  N=8\nother: |\n  echo $N\n", false),
            ("run: |\n  N=8\n  terraform apply -var n=$N\n", false),
            ("run: |\n  export N=8\n  echo $N\n  ./grow\n", false),
            ("run: |\n  N=8\n  echo $N\n  echo n=$N >> $GITHUB_ENV\n", false),
            ("run: |\n  N=8\n  echo Use the source of $N nodes\n", true),
            ("run: |\n  N=8\n  if a; then X=1 make $N; fi\n", false),
            ("run: |\n  N=8\n  cat > $X <<E\n  n: $N\n  E\n", false),
            ("env:\n  N: 8\nrun: |\n  echo $N\n", false),
            ("data: |\n  N=8\n  echo $N\n", false),
        ] {
            let file = ChangedText::changed_lines("a.yaml", "", text);
            let line = lines(text).find(|it| it.text.contains("N=") || it.text.contains("N:"));
            assert_eq!(line.is_some_and(|line| stays_inside("N", line, &file)), is_inside, "{text}");
        }
    }

    #[test]
    fn options_of_containers_are_no_variables() {
        let text = "  run --size=8 && size=8";
        let names = |is: &str| assigned(text, &ChangedText::changed_lines("a.yaml", "", is));
        assert_eq!(names("apiVersion: v1\nkind: Job"), ["size"]);
        assert_eq!(names("apiVersion: v1\nkind: Job\nargs: [kubectl]"), ["size", "size"]);
        assert_eq!(names("steps: []"), ["size", "size"]);
    }
}
