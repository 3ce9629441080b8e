//! What a script or a pipeline hands over on a command line: variables for Terraform, values for a chart. Nobody reads them
//! here, so that a change of them is told:
//!
//! 1. the line is new or gone, in a script or in a pipeline;
//! 2. it sets a variable of Terraform (`TF_VAR_n`, `-var n=`) that a root with accelerators declares, or a value of a chart
//!    (`--set gpu.count=`) by a word that speaks of numbers or accelerators, or chooses files of either;
//! 3. something here has accelerators.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::Regex;

use super::{Session, discover};
use crate::Analysis;
use crate::inventory::Unjudged;
use crate::source::{Span, parent};

const CURE: &str = "`[[runs]]` in gpulint.toml says with which variables and values something is applied";
/// What values of charts speak of that matter.
const WORDS: [&str; 9] =
    ["replica", "gpu", "nvidia", "accelerator", "instance", "count", "limits", "requests", "parallel"];

pub(super) fn over(base: &Session, head: &Session, after: &Analysis, changed: &BTreeSet<&String>) -> Vec<Unjudged> {
    let scripts: Vec<&String> = changed.iter().copied().filter(|path| discover::is_script(path)).collect();
    if scripts.is_empty() || after.inventory.resources.is_empty() {
        return Vec::new();
    }
    let declared = declared(head, after);
    let mut told = Vec::new();
    for path in scripts {
        let text = |session: &Session| {
            let bytes = session.sources.tree().read(path).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (now, earlier) = (text(head), text(base));
        let Some((place, what)) = new_line(&now, &earlier, &declared) else {
            if let Some((_, what)) = new_line(&earlier, &now, &declared) {
                let reason = format!("it handed over {what} before, and does not any more");
                told.push(Unjudged::new(path.clone(), reason).with_cure(CURE));
            }
            continue;
        };
        let Ok(file) = head.sources.open(path) else { continue };
        let line = now.get(..place).map_or(0, |before| before.matches('\n').count()) + 1;
        let end = now.get(place..).and_then(|rest| rest.find('\n')).map_or(now.len(), |length| place + length);
        let reason = format!("line {line} hands over {what}, and nobody here reads it");
        told.push(Unjudged::new(path.clone(), reason).at(Span::new(file, place, end)).with_cure(CURE));
    }
    told
}

/// The first line that only one text has and that hands something over: its place, and what.
fn new_line(text: &str, other: &str, declared: &BTreeSet<String>) -> Option<(usize, String)> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    other.lines().for_each(|line| *left.entry(line.trim()).or_default() += 1);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if let Some(known) = left.get_mut(line.trim()).filter(|left| **left > 0) {
            *known -= 1;
            continue;
        }
        if line.trim_start().starts_with('#') {
            continue;
        }
        if let Some(what) = handed(line, declared) {
            return Some((start, what));
        }
    }
    None
}

fn handed(line: &str, declared: &BTreeSet<String>) -> Option<String> {
    let mut variables = VARIABLES.as_ref()?.captures_iter(line).filter_map(|found| found.get(1));
    if let Some(name) = variables.find(|name| declared.contains(name.as_str())) {
        return Some(format!("the variable `{}`", name.as_str()));
    }
    if let Some(found) = FILES.as_ref()?.captures(line) {
        return found.get(1).map(|name| format!("the file `{}`", name.as_str()));
    }
    let mut values = VALUES.as_ref()?.captures_iter(line).filter_map(|found| found.get(1));
    let speaks = |key: &str| WORDS.iter().any(|word| key.to_ascii_lowercase().contains(word));
    values.find(|key| speaks(key.as_str())).map(|key| format!("the value `{}`", key.as_str()))
}

/// The variables of the roots that something with accelerators stands in.
fn declared(head: &Session, after: &Analysis) -> BTreeSet<String> {
    let roots: BTreeSet<&str> = after.inventory.resources.iter().filter_map(|it| it.root.as_deref()).collect();
    let files = head.files.iter().filter(|path| discover::is_terraform(path) && roots.contains(parent(path)));
    let texts = files.filter_map(|path| head.sources.tree().read(path).ok());
    let names = |text: Vec<u8>| -> Vec<String> {
        let text = String::from_utf8_lossy(&text);
        let found = DECLARED.iter().flat_map(|it| it.captures_iter(&text)).filter_map(|it| it.get(1));
        found.map(|name| name.as_str().to_owned()).collect()
    };
    texts.flat_map(names).collect()
}

static DECLARED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"(?m)^\s*variable\s+"?([\w-]+)"?"#).ok());
static VARIABLES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?:\bTF_VAR_|\s--?var(?:\s+|=)["']?)([A-Za-z_][\w-]*)["']?\s*[:=]"#).ok());
static FILES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"\s--?var-file(?:\s+|=)["']?([^\s"']+)"#).ok());
static VALUES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\s--set(?:-string|-json)?(?:\s+|=)["']?([^\s"'=]+)="#).ok());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_over_is_seen_in_every_spelling() {
        let declared = BTreeSet::from(["n".to_owned()]);
        for (line, told) in [
            ("terraform apply -var n=8", Some("the variable `n`")),
            ("tofu plan -var='n=8'", Some("the variable `n`")),
            ("  TF_VAR_n: 8", Some("the variable `n`")),
            ("export TF_VAR_n=8", Some("the variable `n`")),
            ("terraform apply -var region=x", None),
            ("terraform apply -var-file=big.tfvars", Some("the file `big.tfvars`")),
            ("helm upgrade a ./c --set gpu.count=8", Some("the value `gpu.count`")),
            ("helm upgrade a ./c --set image.tag=8", None),
            ("variable n=8", None),
        ] {
            assert_eq!(handed(line, &declared).as_deref(), told, "{line}");
        }
    }
}
