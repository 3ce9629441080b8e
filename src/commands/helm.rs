//! Reads commands that install charts: `helm install`, `helm upgrade` and `helm template` in scripts, Makefiles and
//! pipelines, and the task of Azure Pipelines.
//!
//! Follows the command line of Helm 4 and its syntax of single values (`strvals`, 2026-11). A value that only a run
//! of the script knows is unknown. This module does not know which charts exist.

use crate::languages::shell::{HOLE, ShellWord, certain_commands, cut_templates, printed, program_at, program_name};
use crate::languages::yaml::{self, Node, NodeData, NodeEntry, quoted};
use crate::source::{FileId, SourceFiles, Span, file_name, has_mark};

/// A command that installs or renders a chart.
pub(crate) struct HelmCommand {
    pub(crate) at: Span,
    /// The chart as written. An unknown part is a hole.
    pub(crate) chart: String,
    pub(crate) release: Option<String>,
    pub(crate) namespace: Option<String>,
    /// Values files as written. An unknown part is a hole.
    pub(crate) files: Vec<String>,
    /// Single values in order.
    pub(crate) set: Vec<SingleValue>,
    /// Whether it installs the chart, and does not only render it.
    pub(crate) deploys: bool,
    /// Whether it passes further options that are not in the file.
    pub(crate) is_open: bool,
}

/// A value that a command sets, with its path in the syntax of `--set`.
pub(crate) struct SingleValue {
    pub(crate) path: String,
    /// `None` if only a run knows it.
    pub(crate) value: Option<Node>,
    pub(crate) at: Span,
}

/// A word of a command with its place.
struct HelmWord {
    text: String,
    at: Span,
}

/// The value of an option, with the name of the option.
type NamedWord<'w> = (&'w str, HelmWord);

/// The limit on commands of a file; further ones are not read.
const MOST_COMMANDS: usize = 200;
/// The limit on single values of a command.
const MOST_VALUES: usize = 500;
/// The bytes of variables that the commands of one file may repeat.
const ROOM: usize = 1 << 20;
/// Words before a command beyond those of every script.
const RUNNERS: [&str; 4] = ["nohup", "uv", "run", "&&"];
/// Options of Helm without a value.
const SWITCHES: [&str; 36] = [
    "install",
    "i",
    "atomic",
    "wait",
    "wait-for-jobs",
    "create-namespace",
    "debug",
    "dry-run",
    "force",
    "force-conflicts",
    "force-replace",
    "reset-values",
    "reuse-values",
    "reset-then-reuse-values",
    "dependency-update",
    "devel",
    "no-hooks",
    "skip-crds",
    "skip-tests",
    "cleanup-on-fail",
    "rollback-on-failure",
    "render-subchart-notes",
    "disable-openapi-validation",
    "enable-dns",
    "hide-notes",
    "hide-secret",
    "insecure-skip-tls-verify",
    "pass-credentials",
    "plain-http",
    "replace",
    "skip-schema-validation",
    "verify",
    "generate-name",
    "g",
    "include-crds",
    "take-ownership",
];

/// Every file with such a command contains one of these strings.
pub(crate) const MARKS: [&[u8]; 3] = [b"helm ", b"helm3 ", b"HelmDeploy@"];

/// Returns the commands of a script, or of the strings of a pipeline.
pub(crate) fn installations(sources: &SourceFiles, path: &str) -> Vec<HelmCommand> {
    let Ok(file) = sources.open(path) else { return Vec::new() };
    let text = sources.text(file);
    let mut found = Vec::new();
    if ![".yml", ".yaml"].iter().any(|ending| path.ends_with(ending)) {
        add_script(&text, (file, 0, &text), &mut found);
        return found;
    }
    for document in yaml::read_within(file, &text, sources.limits()).documents {
        let mut open = vec![&document.root];
        while let Some(node) = open.pop() {
            found.extend(azure_task(node));
            if let Some(script) = node.text().filter(|it| has_mark(it.as_bytes(), &MARKS)) {
                let source = text.get(node.span.range()).unwrap_or_default();
                add_script(&cut_templates(script, false), (file, node.span.start as usize, source), &mut found);
            }
            let mut inner: Vec<&Node> = node.inner().collect();
            inner.reverse();
            open.extend(inner);
        }
    }
    found.truncate(MOST_COMMANDS);
    found
}

/// Adds the commands of a script, whose content is in a file from an offset, perhaps with another indentation.
fn add_script(script: &str, (file, first, source): (FileId, usize, &str), found: &mut Vec<HelmCommand>) {
    let script = printed::without_printed(script);
    let place = |word: &ShellWord| {
        let raw = script.get(word.start..word.end).unwrap_or_default();
        let line = script.get(..word.start).map_or(0, |before| before.matches('\n').count());
        let start = find_in_lines(source, line, raw);
        Span::new(file, first + start.start, first + start.end)
    };
    for words in certain_commands(&script, &mut ROOM.clone()) {
        if found.len() >= MOST_COMMANDS {
            return;
        }
        let is_helm = words.iter().any(|word| ["helm", "helm3"].contains(&program_name(&word.text)));
        if is_helm {
            let words: Vec<HelmWord> =
                words.iter().map(|word| HelmWord { at: place(word), text: word.text.clone() }).collect();
            found.extend(command(&words));
        }
    }
}

/// Returns the place of a string near a line. The first line of a string in YAML may be that of its header.
fn find_in_lines(source: &str, line: usize, raw: &str) -> std::ops::Range<usize> {
    let mut lines = Vec::new();
    let mut end = 0;
    for text in source.split_inclusive('\n').take(line + 2) {
        lines.push((end, text));
        end += text.len();
    }
    let near = [line, line + 1].into_iter().filter_map(|at| lines.get(at));
    let mut found = near.filter_map(|(start, text)| Some(start + text.find(raw)?));
    match found.next().or_else(|| source.find(raw)) {
        Some(start) => start..start + raw.len(),
        None => 0..source.lines().next().map_or(0, str::len),
    }
}

/// Returns the command that the words form, if it installs or renders a chart.
fn command(words: &[HelmWord]) -> Option<HelmCommand> {
    let first = program_at(words.iter().map(|it| it.text.as_str()), &RUNNERS)?;
    if !["helm", "helm3"].contains(&program_name(&words.get(first)?.text)) {
        return None;
    }
    let (plain, options) = arguments(words.get(first + 1..)?)?;
    let plain = plain.strip_prefix(&["secrets"]).unwrap_or(&plain);
    let (verb, plain) = plain.split_first()?;
    if !["install", "upgrade", "template"].contains(verb) {
        return None;
    }
    let (release, chart, more) = match plain {
        [chart] => (None, *chart, &[][..]),
        [release, chart, more @ ..] => (Some((*release).to_owned()), *chart, more),
        [] => return None,
    };
    let known = |text: &String| !text.contains(HOLE);
    let mut it = HelmCommand {
        at: words.get(first)?.at,
        chart: chart.to_owned(),
        release: release.filter(known),
        namespace: None,
        files: Vec::new(),
        set: Vec::new(),
        deploys: *verb != "template",
        is_open: !more.is_empty(),
    };
    for (name, value) in options {
        match name {
            "n" | "namespace" => it.namespace = Some(value.text).filter(known),
            "f" | "values" => it.files.extend(value.text.split(',').map(str::to_owned)),
            "set" => it.add_list(&value, true),
            "set-string" => it.add_list(&value, false),
            "set-json" | "set-literal" | "set-file" => it.add_one(name, &value),
            _ => {}
        }
    }
    Some(it)
}

/// Returns the words without an option, and the options with their values; `None` if a value is missing.
fn arguments(words: &[HelmWord]) -> Option<(Vec<&str>, Vec<NamedWord<'_>>)> {
    let (mut plain, mut options) = (Vec::new(), Vec::new());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let Some(option) = word.text.strip_prefix('-').map(|it| it.trim_start_matches('-')) else {
            plain.push(word.text.as_str());
            continue;
        };
        match option.split_once('=') {
            Some((name, value)) => options.push((name, HelmWord { text: value.to_owned(), at: word.at })),
            None if SWITCHES.contains(&option) => {}
            None => {
                let value = rest.next()?;
                options.push((option, HelmWord { text: value.text.clone(), at: value.at }));
            }
        }
    }
    Some((plain, options))
}

impl HelmCommand {
    /// Adds `a.b=1,c={x,y}`. The values are numbers and booleans where they look like them, or strings.
    fn add_list(&mut self, word: &HelmWord, plain: bool) {
        let mut rest = word.text.as_str();
        while let Some(middle) = unescaped(rest, '=') {
            let (path, after) = (&rest[..middle], &rest[middle + 1..]);
            let list = after.strip_prefix('{').and_then(|list| Some(list.split_at(unescaped(list, '}')?)));
            let (value, end) = match list {
                Some((items, _)) => {
                    let items = pieces(items).into_iter().map(|item| scalar(&item, plain, word.at));
                    (Node::list(word.at, items), items_end(after))
                }
                None => {
                    let end = unescaped(after, ',').unwrap_or(after.len());
                    (scalar(&after[..end], plain, word.at), end)
                }
            };
            let is_known = !after.get(..end).unwrap_or_default().contains(HOLE);
            self.add(path, is_known.then_some(value), word.at);
            rest = after.get(end..).unwrap_or_default().trim_start_matches(',');
        }
        self.is_open |= rest.contains(HOLE);
    }

    fn add_one(&mut self, option: &str, word: &HelmWord) {
        let Some((path, text)) = word.text.split_once('=') else {
            self.is_open |= word.text.contains(HOLE);
            return;
        };
        let value = match option {
            _ if text.contains(HOLE) => None,
            "set-literal" => Some(Node::scalar(word.at, text, false)),
            "set-json" => {
                yaml::read(word.at.file, text).documents.into_iter().next().map(|it| moved(&it.root, word.at))
            }
            _ => None,
        };
        self.add(path, value, word.at);
    }

    fn add(&mut self, path: &str, value: Option<Node>, at: Span) {
        if path.contains(HOLE) {
            self.is_open = true;
        } else if self.set.len() < MOST_VALUES {
            self.set.push(SingleValue { path: path.to_owned(), value, at });
        }
    }
}

/// Returns the place of the first such character without a backslash before it.
fn unescaped(text: &str, wanted: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let found = c == wanted && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        found.then_some(at)
    })
}

/// Returns the end of `{a,b}` in a word that starts with it.
fn items_end(text: &str) -> usize {
    unescaped(text, '}').map_or(text.len(), |end| end + 1)
}

/// Splits a list at commas.
fn pieces(text: &str) -> Vec<String> {
    let (mut all, mut rest) = (Vec::new(), text);
    while let Some(end) = unescaped(rest, ',') {
        all.push(rest[..end].to_owned());
        rest = &rest[end + 1..];
    }
    all.extend((!rest.is_empty()).then(|| rest.to_owned()));
    all
}

fn scalar(text: &str, plain: bool, at: Span) -> Node {
    Node::scalar(at, text.replace("\\,", ",").replace("\\\\", "\\"), plain)
}

/// Returns a node with all its parts at one place.
fn moved(node: &Node, at: Span) -> Node {
    match &node.data {
        NodeData::Scalar { text, plain } => Node::scalar(at, text.clone(), *plain),
        NodeData::List(items) => Node::list(at, items.iter().map(|item| moved(item, at)).collect::<Vec<_>>()),
        NodeData::Map(entries) => {
            let entry = |it: &NodeEntry| NodeEntry { key: it.key.clone(), key_span: at, value: moved(&it.value, at) };
            Node::map(at, entries.iter().map(entry).collect::<Vec<_>>())
        }
    }
}

/// Returns the command of a task of Azure Pipelines.
fn azure_task(node: &Node) -> Option<HelmCommand> {
    node.text_at("task").filter(|task| task.starts_with("HelmDeploy@"))?;
    let inputs = node.get("inputs")?;
    let input = |name: &str| inputs.get(name).filter(|it| it.text().is_some_and(|text| !text.is_empty()));
    let word = |node: &Node| HelmWord { text: without_macros(node.text().map_or("", |it| it)), at: node.span };
    let fixed = |text: &str| HelmWord { text: text.to_owned(), at: node.span };
    let mut words = vec![fixed("helm")];
    words.push(input("command").map_or_else(|| fixed("install"), word));
    words.extend(
        [input("releaseName"), input("chartPath").or_else(|| input("chartName"))].into_iter().flatten().map(word),
    );
    for (name, option) in [("namespace", "--namespace"), ("valueFile", "--values"), ("overrideValues", "--set")] {
        words.extend(input(name).into_iter().flat_map(|value| [fixed(option), word(value)]));
    }
    if let Some(arguments) = input("arguments") {
        let all = certain_commands(&format!("x {}", word(arguments).text.replace('\n', " ")), &mut ROOM.clone());
        let all = all.into_iter().next().unwrap_or_default().into_iter().skip(1);
        words.extend(all.map(|it| HelmWord { text: it.text, at: arguments.span }));
    }
    command(&words)
}

/// Replaces `$(name)` and `${{ name }}` by holes.
fn without_macros(text: &str) -> String {
    let text = cut_templates(&text.replace("${{", "{{"), false);
    let mut parts = text.split("$(");
    let mut known = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        known.push(HOLE);
        known.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    known
}

/// Returns an object that passes the values of a command to a chart elsewhere, as a derived file.
pub(crate) fn object(
    sources: &SourceFiles,
    path: &str,
    (kind, group): (&str, &str),
    command: &HelmCommand,
    files: &[String],
) -> Option<FileId> {
    let mut spec = Vec::new();
    if !files.is_empty() {
        let files: Vec<String> = files.iter().map(|file| quoted(&format!("/{file}"))).collect();
        spec.push(("files".to_owned(), format!("[{}]", files.join(", "))));
    }
    let single = |it: &SingleValue| {
        let value = it.value.as_ref().map_or_else(|| quoted(&format!("${{{}}}", it.path)), in_line);
        format!("{{name: {}, value: {value}}}", quoted(&it.path))
    };
    if !command.set.is_empty() {
        spec.push(("set".to_owned(), format!("[{}]", command.set.iter().map(single).collect::<Vec<_>>().join(", "))));
    }
    let mut writer = super::ObjectWriter::default();
    let name = command.release.as_deref().or_else(|| Some(file_name(&command.chart)));
    writer.add(path, kind, group, name, &spec, command.at);
    writer.finish(sources, path)
}

/// Writes a node as YAML in one line.
fn in_line(node: &Node) -> String {
    match &node.data {
        NodeData::Scalar { text, plain: true } if yaml::scalar::number(text).is_some() => text.to_string(),
        NodeData::Scalar { text, plain: true } if yaml::scalar::boolean(text).is_some() => text.to_string(),
        NodeData::Scalar { text, plain: true } if yaml::scalar::is_null(text) => "null".to_owned(),
        NodeData::Scalar { text, .. } => quoted(text),
        NodeData::List(items) => format!("[{}]", items.iter().map(in_line).collect::<Vec<_>>().join(", ")),
        NodeData::Map(entries) => {
            let entry = |it: &NodeEntry| format!("{}: {}", quoted(&it.key), in_line(&it.value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryTree;

    fn read(script: &str) -> Option<String> {
        let sources = SourceFiles::new(MemoryTree::new().with("up.sh", script));
        let it = installations(&sources, "up.sh").pop()?;
        let set = it.set.iter().map(|one| {
            let value = one.value.as_ref().map_or("?".to_owned(), in_line);
            format!("{}={value}", one.path)
        });
        let release = it.release.as_deref().unwrap_or("-");
        let open = if it.is_open { " …" } else { "" };
        let all: Vec<String> = it.files.iter().cloned().chain(set).collect();
        Some(format!("{release} {}: {}{open}", it.chart, all.join("; ")).replace(HOLE, "?"))
    }

    #[test]
    fn commands_are_read_in_every_form() {
        for (script, expected) in [
            ("helm install a ./c --set x.y=1,z=b", "a ./c: x.y=1; z=\"b\""),
            ("sudo helm -n ns upgrade -i --atomic a ./c -f v.yaml,w.yaml", "a ./c: v.yaml; w.yaml"),
            ("helm template ./c --set-string x=1 --set y=true", "- ./c: x=\"1\"; y=true"),
            ("helm secrets upgrade a ./c --values=v.yaml", "a ./c: v.yaml"),
            ("N=2; helm install a ./c --set x=$N --set y=$M", "a ./c: x=2; y=?"),
            ("helm install a ./c --set 'x={p,q},y=1'", "a ./c: x=[\"p\", \"q\"]; y=1"),
            ("helm install a ./c --set 'x=p\\,q'", "a ./c: x=\"p,q\""),
            ("helm install a ./c --set-json 'x={\"k\": [1, null]}'", "a ./c: x={\"k\": [1, null]}"),
            ("helm install a ./c --set x=null --set-file y=f", "a ./c: x=null; y=?"),
            ("helm install a ./c $MORE", "a ./c:  …"),
            ("helm upgrade --install $NAME charts/$APP -f $FILE", "- charts/?: ?"),
        ] {
            assert_eq!(read(script).as_deref(), Some(expected), "{script}");
        }
        for script in ["helm uninstall a ./c", "helm lint ./c --set x=1", "echo helm install a ./c", "helm install"] {
            assert_eq!(read(script), None, "{script}");
        }
    }

    #[test]
    fn hostile_commands_end() {
        for part in ["{", ",", "=", "\\", "a=", "--set ", "-f ", "'", "[", "$("] {
            for option in ["--set", "--set-json", "-f", ""] {
                read(&format!("helm install a ./c {option} {}", part.repeat(3000)));
            }
        }
    }
}
