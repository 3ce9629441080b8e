//! Finds the machines that a file only compares, selects or refuses: nodes of a `DaemonSet`, `NotIn` lists,
//! preconditions, and lookup tables of programs.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use regex::Regex;

use super::accelerator_lines::AcceleratorSearch;
use super::change::{ChangedLine, ChangedText, FileRole, lines};
use super::changed_files::ChangedFiles;
use super::own_variables::passes_on;
use super::program_inputs::end_of;
use super::words::LAUNCHERS;
use crate::front_ends::files;
use crate::source::{parent, static_regex};

/// Returns the lines of a file that only name machines without a request.
pub(super) fn idle_lines(changed: &ChangedFiles, file: &ChangedText) -> BTreeSet<usize> {
    let mut idle: BTreeSet<usize> = allowing(&file.is).collect();
    if file.is_yaml() {
        idle.extend(selecting(&file.is));
    } else if files::is_terraform(file.path) && file.path.ends_with(".tf") {
        idle.extend(comparing(changed, file));
    } else if file.role == FileRole::Code && !LAUNCHERS.is_match(&file.is) {
        idle.extend(tables(&file.is, &AcceleratorSearch::of(changed.head, file)));
    }
    idle
}

/// Returns the lines of lists that values are checked against: those that a parameter can have, and those that a
/// policy compares with the machine of a request.
fn allowing(text: &str) -> impl Iterator<Item = usize> {
    line_numbers(text, ALLOWED.find_iter(text).map(|list| list.range()))
}

/// Returns the lines of a manifest on which pods select nodes without requesting any: each node runs one pod of a
/// `DaemonSet` anyway. In values of an unknown kind, this is only true for the affinity to nodes.
pub(super) fn selecting(text: &str) -> BTreeSet<usize> {
    let all: Vec<ChangedLine> = lines(text).collect();
    let mut idle = BTreeSet::new();
    for document in all.split(|line| line.text.starts_with("---")) {
        let kinds: Vec<&str> =
            document.iter().filter_map(|line| Some(KIND.captures(line.text)?.get(1)?.as_str())).collect();
        let keys: &[&str] = match kinds.as_slice() {
            [] => &["nodeAffinity"],
            ["DaemonSet"] => &["nodeAffinity", "nodeSelector", "tolerations"],
            _ => &[],
        };
        for (at, line) in document.iter().enumerate() {
            let key = KEY.captures(line.text).and_then(|it| it.get(1));
            if key.is_some_and(|key| keys.contains(&key.as_str())) {
                idle.extend(below(document, at).filter_map(|at| document.get(at)).map(|line| line.number));
            }
            if REFUSED.is_match(line.text) {
                idle.extend(mapping(document, at).filter_map(|at| document.get(at)).map(|line| line.number));
            }
        }
    }
    idle
}

/// Returns the column at which the key of a line begins, after the dash of an item.
fn column(line: &ChangedLine) -> usize {
    line.text.len() - line.text.trim_start_matches([' ', '-']).len()
}

fn is_item(line: &ChangedLine) -> bool {
    line.text.trim_start().starts_with('-')
}

fn is_blank(line: &ChangedLine) -> bool {
    let text = line.text.trim_start();
    text.is_empty() || text.starts_with('#')
}

/// Returns the lines of a key and its value.
fn below(document: &[ChangedLine], at: usize) -> Range<usize> {
    let own = document.get(at).map_or(0, column);
    let more = document.iter().skip(at + 1);
    let count = more.take_while(|line| is_blank(line) || line.indent() > own || line.indent() == own && is_item(line));
    at..at + 1 + count.count()
}

/// Returns the lines of the mapping that contains a key.
fn mapping(document: &[ChangedLine], at: usize) -> Range<usize> {
    let own = document.get(at).map_or(0, column);
    // The first key of a mapping in a list is behind a dash.
    let is_start = |line: &ChangedLine| is_item(line) && column(line) == own && line.indent() < own;
    let mut start = at;
    while start > 0 && !document.get(start).is_none_or(is_start) {
        match document.get(start - 1) {
            Some(line) if is_blank(line) || column(line) >= own => start -= 1,
            _ => break,
        }
    }
    let is_inside = |line: &&ChangedLine| is_blank(line) || line.indent() >= own;
    start..at + 1 + document.iter().skip(at + 1).take_while(is_inside).count()
}

/// Returns the lines of Terraform code that compare a value with a list of machines, for a check or a precondition.
fn comparing(changed: &ChangedFiles, file: &ChangedText) -> BTreeSet<usize> {
    let mut of_folder: Option<String> = None;
    let compared = COMPARED.captures_iter(&file.is).filter_map(|found| {
        let (whole, name) = (found.get(0)?, found.get(1)?.as_str());
        let code = of_folder.get_or_insert_with(|| code_beside(changed, file));
        (!code.contains(&format!("local.{name}")) && !code.contains("local[")).then(|| whole.range())
    });
    let checks = line_numbers(&file.is, checks(&file.is).into_iter());
    checks.chain(line_numbers(&file.is, compared)).collect()
}

/// Returns the code of a module without its checks.
fn code_beside(changed: &ChangedFiles, file: &ChangedText) -> String {
    let folder = parent(file.path);
    let beside = changed.head.files.iter().filter(|path| parent(path) == folder && files::is_terraform(path));
    let mut code = String::new();
    for text in beside.filter_map(|path| changed.head.text(path)) {
        code.push_str(&without(&text, checks(&text)));
    }
    code
}

fn without(text: &str, ranges: Vec<Range<usize>>) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for range in ranges.into_iter().rev() {
        if text.get(range.clone()).is_some() {
            text.to_mut().replace_range(range, "");
        }
    }
    text
}

/// Returns the blocks that only check values: conditions, and resources that create nothing and only print.
fn checks(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for start in CHECKS.find_iter(text).map(|it| it.start()) {
        if found.last().is_some_and(|last| last.end > start) {
            continue;
        }
        let rest = text.get(start..).unwrap_or_default();
        let block = start..start + end_of(rest);
        let inside = text.get(block.clone()).unwrap_or_default();
        if !(inside.trim_start().starts_with("resource") && passes_on(inside)) {
            found.push(block);
        }
    }
    found
}

/// Returns the line numbers of ranges, which follow each other.
fn line_numbers(text: &str, ranges: impl Iterator<Item = Range<usize>>) -> impl Iterator<Item = usize> {
    let (mut at, mut line) = (0, 0);
    let mut lines_until = move |end: usize| {
        line += text.as_bytes().get(at..end).map_or(0, |part| memchr::memchr_iter(b'\n', part).count());
        at = end;
        line
    };
    ranges.flat_map(move |range| lines_until(range.start)..lines_until(range.end) + 1)
}

/// Returns the lines of lookup tables: many different machines in a row, each with a string as its key.
fn tables(text: &str, asking: &AcceleratorSearch) -> BTreeSet<usize> {
    let mut idle = BTreeSet::new();
    let (mut rows, mut machines) = (Vec::new(), BTreeSet::new());
    let end = ChangedLine { number: usize::MAX, start: 0, text: "}" };
    for line in lines(text).chain([end]) {
        let row = ROW.captures(line.text).and_then(|it| it.get(1)).map(|it| it.as_str());
        match row.filter(|name| asking.is_machine(name)) {
            Some(name) => {
                rows.push(line.number);
                machines.insert(name.to_owned());
            }
            None if line.text.trim().is_empty() || line.text.trim_start().starts_with(['/', '#']) || row.is_some() => {}
            None => {
                if machines.len() >= FEWEST_ROWS && machines.len() * 2 > rows.len() {
                    idle.extend(rows.iter().copied());
                }
                rows.clear();
                machines.clear();
            }
        }
    }
    idle
}

/// A table with fewer machines may be a fleet.
const FEWEST_ROWS: usize = 6;

static_regex!(static KIND: Regex = r#"^\s*(?:-\s+)?["']?kind["']?\s*:\s*["']?(\w+)"#);
static_regex!(static KEY: Regex = r#"^\s*(?:-\s+)?["']?(\w+)["']?\s*:"#);
static_regex!(
/// An operator that refuses the values of its list.
static REFUSED: Regex = r#"^\s*(?:-\s+)?["']?operator["']?\s*:\s*["']?NotIn\b"#);
static_regex!(
/// A list of allowed values of a parameter in Bicep, Azure or CloudFormation templates, or the machines of a condition
/// of a policy.
static ALLOWED: Regex = r#"(?:@allowed\(|["']?[aA]llowedValues["']?\s*:|["']?ec2:InstanceType["']?\s*[:=])\s*\[[^\]]*\]"#);
static_regex!(
/// A local value that is the result of a comparison with a list.
static COMPARED: Regex = r"(?m)^\s*(\w+)\s*=\s*!?contains\(\s*\[[^\]]*\]\s*,\s*[\w.]+\s*\)[ \t]*$");
static_regex!(
/// Blocks that check values.
static CHECKS: Regex = r#"(?m)^[ \t]*(?:(?:validation|precondition|postcondition|assert)\s*\{|check\s+"\w+"\s*\{|resource\s+"(?:null_resource|terraform_data)"\s+"\w+"\s*\{)"#);
static_regex!(
/// A row of a table from names to machines.
static ROW: Regex = r#"^\s*["'][^"']+["']\s*[:=]>?\s*["']([\w.-]+)["'],?\s*(?://.*|#.*)?$"#);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_allowed_values_request_nothing() {
        let bicep = "@allowed([\n  'Standard_NC24ads_A100_v4'\n  'Standard_NC6s_v3'\n])\nparam size string = 'Standard_NC6s_v3'\n";
        assert_eq!(allowing(bicep).collect::<Vec<_>>(), [0, 1, 2, 3]);
        let two = "a:\n  AllowedValues: [p5.48xlarge]\nb:\n  Type: p5.48xlarge\n  \"ec2:InstanceType\" = [\"p5.*\"]\n";
        assert_eq!(allowing(two).collect::<Vec<_>>(), [1, 4]);
    }

    #[test]
    fn only_nodes_of_daemon_sets_and_refused_machines_are_selected() {
        let list =
            |kind: &str, key: &str| format!("{kind}spec:\n  {key}:\n    values:\n    - p5.48xlarge\n  replicas: 1\n");
        for (text, line, is_idle) in [
            (list("kind: DaemonSet\n", "nodeAffinity"), 4, true),
            (list("kind: DaemonSet\n", "nodeSelector"), 4, true),
            (list("kind: DaemonSet\n", "nodeAffinity"), 5, false),
            (list("kind: DaemonSet\n", "resources"), 4, false),
            (list("kind: NodePool\n", "nodeAffinity"), 4, false),
            (list("", "nodeAffinity"), 3, true),
            (list("", "nodeSelector"), 3, false),
            (list("kind: A\n---\nkind: DaemonSet\n", "nodeAffinity"), 6, true),
            ("kind: NodePool\n- key: t\n  operator: NotIn\n  values:\n  - p5.48xlarge\n".to_owned(), 4, true),
            ("kind: NodePool\n- key: t\n  values: [p5.48xlarge]\n  operator: NotIn\n".to_owned(), 2, true),
            ("kind: NodePool\n- key: t\n  operator: In\n  values:\n  - p5.48xlarge\n".to_owned(), 4, false),
            ("kind: NodePool\n- key: t\n  operator: NotIn\n  values: [a]\n- key: u\n  operator: In\n  values: [p5.48xlarge]\n".to_owned(), 6, false),
            ("kind: NodePool\n- key: u\n  operator: In\n  values: [p5.48xlarge]\n- key: t\n  operator: NotIn\n  values: [a]\n".to_owned(), 3, false),
        ] {
            assert_eq!(selecting(&text).contains(&line), is_idle, "{text}");
        }
    }

    #[test]
    fn only_blocks_that_check_are_left_out() {
        for (text, is_check) in [
            ("  validation {\n    condition = x\n  }\n", true),
            ("resource \"null_resource\" \"a\" {\n  command = \"echo 'a b' && exit 1\"\n}\n", true),
            ("resource \"null_resource\" \"a\" {\n  command = \"kubectl scale a\"\n}\n", false),
            ("resource \"a_b\" \"a\" {\n  count = 1\n}\n", false),
        ] {
            assert_eq!(!checks(text).is_empty(), is_check, "{text}");
        }
        let name = |text: &'static str| COMPARED.captures(text).and_then(|it| it.get(1)).map(|it| it.as_str());
        assert_eq!(name("a = contains([\"b\",\n \"c\"], var.d)\n"), Some("a"));
        assert_eq!(name("a = contains([\"b\"], var.d) ? 64 : 1\n"), None);
        assert_eq!(name("a = element([\"b\"], 0)\n"), None);
    }
}
