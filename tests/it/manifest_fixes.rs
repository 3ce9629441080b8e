//! Fixes random manifests until 1,000 are written: the requested value is read back, no other resource changes, and all
//! other text stays the same. `GPULINT_FIXES` sets the number. `GPULINT_FIXES_TO` stores each pair of files for another
//! parser.

use std::fmt::Write as _;

use gpulint::inventory::{FactEdit, FactValue, Key, Part, Resource};
use gpulint::kubernetes::{self, KubernetesOptions, KubernetesReading};
use gpulint::source::{Edit, MemoryTree, SourceFiles, Span};

use crate::fixes::Random;

/// The style of a file.
struct Style {
    step: usize,
    dash: usize,
    brackets: bool,
    anchors: bool,
}

fn comment(random: &mut Random) -> &'static str {
    random.of(&["", "", "", " # why: é", " # [a, {b: c}]", "  "])
}

/// Returns a separate line between others.
fn between(random: &mut Random, indent: usize) -> String {
    match random.below(6) {
        0 => format!("{}# - not: a key\n", " ".repeat(indent)),
        1 => "\n".to_owned(),
        _ => String::new(),
    }
}

fn quoted(random: &mut Random, text: &str) -> String {
    match random.below(3) {
        0 => format!("'{text}'"),
        1 => format!("\"{text}\""),
        _ => text.to_owned(),
    }
}

fn arguments(random: &mut Random, style: &Style, indent: usize, text: &mut String) {
    let pad = " ".repeat(indent);
    let mut words = vec![vec!["--model=Qwen/Qwen2.5-7B-Instruct"], vec!["--port", "8000"]];
    if random.chance() {
        words.push(random.of(&[vec!["--dtype=float32"], vec!["--dtype", "float32"]]));
    }
    if random.chance() {
        words.push(random.of(&[vec!["--max-num-seqs=1"], vec!["--max-num-seqs", "\"1\""]]));
    }
    let start = random.below(words.len());
    words.rotate_left(start);
    match random.below(4) {
        0 if style.brackets => {
            let words: Vec<&str> = words.concat();
            let _ = writeln!(text, "{pad}args: [{}]{}", words.join(", "), comment(random));
        }
        1 => {
            let words: Vec<&str> = words.concat();
            let line = words.join(" ").replace('"', "");
            let _ = writeln!(text, "{pad}command: [sh, -c, \"exec vllm serve {line}\"]{}", comment(random));
        }
        2 => {
            let lines: Vec<String> = words.iter().map(|words| words.join(" ").replace('"', "")).collect();
            let dash = " ".repeat(indent + style.dash);
            let body = lines.join(&format!(" \\\n{dash}    "));
            let _ = writeln!(text, "{pad}command:\n{dash}- bash\n{dash}- -c\n{dash}- |");
            let _ = writeln!(text, "{dash}  set -e\n{dash}  vllm serve {body}");
        }
        _ => {
            let _ = writeln!(text, "{pad}args:{}", comment(random));
            for word in words.concat() {
                let word = if word.starts_with('"') { word.to_owned() } else { quoted(random, word) };
                text.push_str(&between(random, indent + style.dash));
                let _ = writeln!(text, "{pad}{}- {word}{}", " ".repeat(style.dash), comment(random));
            }
        }
    }
}

fn container(random: &mut Random, style: &Style, indent: usize, second: bool, text: &mut String) {
    let dash = indent + style.dash;
    let inner = dash + 2;
    let pad = " ".repeat(inner);
    let _ = writeln!(text, "{}- name: c{}", " ".repeat(dash), usize::from(second));
    let _ = writeln!(text, "{pad}image: vllm/vllm-openai:v0.11.0{}", comment(random));
    if second {
        let _ = writeln!(text, "{pad}env: [{{name: A, value: \"b\"}}]");
        return;
    }
    arguments(random, style, inner, text);
    let count = random.of(&["4", "\"4\"", "'4'"]);
    match random.below(4) {
        0 if style.brackets => {
            let _ = writeln!(text, "{pad}resources: {{ limits: {{ nvidia.com/gpu: {count} }} }}{}", comment(random));
        }
        1 if style.anchors => {
            let deep = " ".repeat(inner + style.step);
            let deeper = " ".repeat(inner + 2 * style.step);
            let _ = writeln!(text, "{pad}resources:\n{deep}limits: &same\n{deeper}nvidia.com/gpu: {count}");
            let _ = writeln!(text, "{deep}requests: *same");
        }
        _ => {
            let deep = " ".repeat(inner + style.step);
            let deeper = " ".repeat(inner + 2 * style.step);
            let _ = writeln!(text, "{pad}resources:\n{deep}limits:{}", comment(random));
            let _ = writeln!(text, "{deeper}nvidia.com/gpu: {count}{}", comment(random));
        }
    }
}

fn pod(random: &mut Random, style: &Style, indent: usize, text: &mut String) {
    let pad = " ".repeat(indent);
    if random.chance() {
        let _ = writeln!(text, "{pad}restartPolicy: Never");
    }
    if random.below(3) == 0 {
        let deep = " ".repeat(indent + style.step);
        let _ =
            writeln!(text, "{pad}nodeSelector:\n{deep}cloud.google.com/gke-accelerator: nvidia-l4{}", comment(random));
    }
    let volumes = random.chance();
    let before = random.chance();
    let write = |text: &mut String| {
        if volumes {
            let dash = " ".repeat(style.dash);
            let _ = writeln!(text, "{pad}volumes:\n{pad}{dash}- name: data\n{pad}{dash}  emptyDir: {{}}");
        }
    };
    if before {
        write(text);
    }
    let _ = writeln!(text, "{pad}containers:{}", comment(random));
    container(random, style, indent, false, text);
    if random.below(3) == 0 {
        container(random, style, indent, true, text);
    }
    if !before {
        write(text);
    }
}

fn metadata(random: &mut Random, style: &Style, name: &str, text: &mut String) {
    let pad = " ".repeat(style.step);
    let deep = " ".repeat(2 * style.step);
    match random.below(5) {
        0 if style.brackets => {
            let _ = writeln!(text, "metadata: {{ name: {name} }}{}", comment(random));
        }
        1 if style.brackets => {
            let _ = writeln!(text, "metadata:\n{pad}name: {name}\n{pad}labels: {{app: a, tier: \"b\"}}");
        }
        2 => {
            let _ = writeln!(text, "metadata:\n{pad}labels:{}\n{deep}app: a", comment(random));
            let _ = writeln!(text, "{}{pad}name: {name}", between(random, style.step));
        }
        3 if style.anchors => {
            let _ = writeln!(text, "metadata:\n{pad}name: {name}\n{pad}labels: &labels\n{deep}app: a");
            let _ = writeln!(text, "{pad}annotations: *labels");
        }
        _ => {
            let _ = writeln!(text, "metadata:{}\n{pad}name: {name}{}", comment(random), comment(random));
        }
    }
}

fn object(random: &mut Random, style: &Style, name: &str, text: &mut String) {
    let pad = " ".repeat(style.step);
    let deep = 2 * style.step;
    let kind = random.below(4);
    let head = [("batch/v1", "Job"), ("apps/v1", "Deployment"), ("v1", "Pod"), ("batch/v1", "CronJob")][kind];
    let _ = writeln!(text, "apiVersion: {}\nkind: {}{}", head.0, head.1, comment(random));
    metadata(random, style, name, text);
    let _ = writeln!(text, "spec:{}", comment(random));
    match kind {
        0 => {
            if random.chance() {
                let _ = writeln!(text, "{pad}backoffLimit: 6{}", comment(random));
            }
            let _ = writeln!(text, "{pad}template:\n{}spec:", " ".repeat(deep));
            pod(random, style, deep + style.step, text);
            if random.chance() {
                let _ = writeln!(text, "{pad}parallelism: 1");
            }
        }
        1 => {
            let _ = writeln!(text, "{pad}replicas: {}{}", random.of(&["2", "3"]), comment(random));
            let _ = writeln!(text, "{pad}template:\n{}spec:", " ".repeat(deep));
            pod(random, style, deep + style.step, text);
        }
        2 => pod(random, style, style.step, text),
        _ => {
            let _ = writeln!(text, "{pad}schedule: \"0 3 * * *\"\n{pad}jobTemplate:\n{}spec:", " ".repeat(deep));
            let _ = writeln!(text, "{}template:", " ".repeat(deep + style.step));
            let _ = writeln!(text, "{}spec:", " ".repeat(deep + 2 * style.step));
            pod(random, style, deep + 3 * style.step, text);
        }
    }
}

fn file(random: &mut Random) -> String {
    let step = random.of(&[2, 2, 4]);
    let style = Style { step, dash: random.of(&[0, step]), brackets: random.chance(), anchors: random.below(4) == 0 };
    let mut text = random.of(&["", "---\n", "# about this\n"]).to_owned();
    for at in 0..1 + random.below(3) {
        if at > 0 {
            text.push_str(random.of(&["---\n", "---\n# the next\n", "...\n---\n", "--- # next\n"]));
        }
        object(random, &style, &format!("n{at}"), &mut text);
    }
    text.push_str(random.of(&["", "", "# end\n", "---\n", "\n\n"]));
    if random.below(4) == 0 {
        text = text.trim_end().to_owned();
    }
    if random.below(4) == 0 {
        text = text.replace('\n', "\r\n");
    }
    if random.below(8) == 0 {
        text.insert(0, '\u{feff}');
    }
    text
}

fn wishes(random: &mut Random) -> Vec<FactEdit> {
    let fact = |key, value| vec![FactEdit { part: Part::Fact(key), value }];
    let label =
        |key: &str, value: &str| FactEdit { part: Part::Label(key.into()), value: Some(FactValue::text(value)) };
    match random.below(12) {
        0 => vec![label("cost-center", "4711")],
        1 => vec![label("team", "r&d: #1"), label("example.org/owner", "yes")],
        2 => fact(Key::TimeLimit, Some(FactValue::Number(7_200.0))),
        3 => fact(Key::Retries, Some(FactValue::Integer(3))),
        4 => fact(Key::AcceleratorCount, Some(FactValue::Number(2.0))),
        5 => fact(Key::SharedMemory, Some(FactValue::Flag(true))),
        6 => fact(Key::Precision, None),
        7 => fact(Key::BatchSize, None),
        8 => fact(Key::Context, Some(FactValue::Integer(8_192))),
        9 => fact(Key::Purchase, Some(FactValue::text("spot"))),
        10 => fact(Key::BatchSize, Some(FactValue::Integer(64))),
        _ => vec![FactEdit { part: Part::Floor, value: Some(FactValue::Integer(1)) }],
    }
}

fn read(text: &str) -> (SourceFiles, KubernetesReading) {
    let sources = SourceFiles::new(MemoryTree::new().with("a.yaml", text));
    let reading = kubernetes::read(&sources, &["a.yaml".to_owned()], &[], &KubernetesOptions::default());
    (sources, reading)
}

fn written(resource: &Resource, wishes: &[FactEdit], sources: &SourceFiles) -> Option<Vec<Edit>> {
    let labels: Vec<_> = wishes
        .iter()
        .filter_map(|wish| match &wish.part {
            Part::Label(key) => Some((key.clone(), wish.value.clone()?)),
            _ => None,
        })
        .collect();
    if !labels.is_empty() {
        return kubernetes::label(resource, &labels, sources).ok();
    }
    kubernetes::write(resource, wishes.first()?, sources).ok()
}

fn is_granted(resource: &Resource, wish: &FactEdit) -> bool {
    match (&wish.part, &wish.value) {
        (Part::Fact(key), None) => resource.fact(*key).is_absent(),
        (Part::Fact(key), Some(value)) => {
            resource.fact(*key).value().map(ToString::to_string) == Some(value.to_string())
        }
        (Part::Floor, value) => {
            resource.count.value().map(|range| range.floor) == value.as_ref().and_then(FactValue::as_number)
        }
        (Part::Ceiling, value) => {
            resource.count.value().map(|range| range.ceiling) == value.as_ref().and_then(FactValue::as_number)
        }
        (Part::Label(key), value) => {
            let label = resource.labels.entries.get(&**key).and_then(|fact| fact.value());
            label.map(|it| it.to_string()) == value.as_ref().map(ToString::to_string)
        }
    }
}

/// Returns everything that a resource sets, except the requested edits.
fn others(resource: &Resource, wishes: &[FactEdit]) -> String {
    let is_wished = |part: &Part| wishes.iter().any(|wish| wish.part == *part);
    let facts = resource.facts().filter(|(key, _)| !is_wished(&Part::Fact(*key)));
    let mut text: String = facts.map(|(key, fact)| format!("{}={:?} ", key.name(), fact.value())).collect();
    for (key, fact) in &resource.labels.entries {
        if !is_wished(&Part::Label(key.as_str().into())) {
            let _ = write!(text, "{key}:{:?} ", fact.value());
        }
    }
    if !is_wished(&Part::Floor) {
        let _ = write!(text, "{:?}", resource.count.value());
    }
    text
}

#[test]
fn a_random_fix_of_a_manifest_changes_what_is_wished_and_not_a_byte_beside_it() {
    let cases = std::env::var("GPULINT_FIXES").ok().and_then(|it| it.parse().ok()).unwrap_or(1_000);
    let keep = std::env::var_os("GPULINT_FIXES_TO").map(std::path::PathBuf::from);
    let (mut done, mut random) = (0, Random(5));
    for case in 0..3 * cases {
        if done == cases {
            break;
        }
        let text = file(&mut random);
        let (sources, reading) = read(&text);
        let resources = &reading.inventory.resources;
        let wishes = wishes(&mut random);
        assert!(!resources.is_empty(), "case {case}: nothing is read\n{text}");
        let at = random.below(resources.len());
        let edits = written(&resources[at], &wishes, &sources).filter(|edits| !edits.is_empty());
        let Some(edits) = edits else { continue };
        let after = gpulint::fix::apply(&text, edits.iter().collect());
        let failed = |why: &str| format!("case {case}: {}: {why}\n--- before\n{text}\n--- after\n{after}", wishes[0]);
        let (_, again) = read(&after);
        let (old, new) = (&reading.inventory, &again.inventory);
        assert!(new.diagnostics.len() <= old.diagnostics.len(), "{}", failed("it does not parse"));
        assert_eq!(new.resources.len(), resources.len(), "{}", failed("resources"));
        for (place, (old, new)) in resources.iter().zip(&new.resources).enumerate() {
            let wishes = if place == at { wishes.as_slice() } else { &[] };
            assert!(wishes.iter().all(|wish| is_granted(new, wish)), "{}", failed("it is not as wished"));
            assert_eq!(others(old, wishes), others(new, wishes), "{}", failed("something else changed"));
        }
        beside(&text, &after, &edits, &failed);
        if let Some(directory) = &keep {
            for (name, text) in [("before", &text), ("after", &after)] {
                std::fs::write(directory.join(format!("{case}.{name}.yaml")), text).unwrap();
            }
        }
        done += 1;
    }
    assert_eq!(done, cases, "so few were written");
}

/// Checks that the text between the edits is unchanged, in order and without a gap, and that the line ends are of one
/// kind.
fn beside(text: &str, after: &str, edits: &[Edit], failed: &dyn Fn(&str) -> String) {
    let mut rest = after;
    let mut at = 0;
    for Edit { span: Span { start, end, .. }, replacement } in edits {
        let kept = &text[at..*start as usize];
        rest = rest.strip_prefix(kept).unwrap_or_else(|| panic!("{}", failed("text beside the edits changed")));
        rest = rest.strip_prefix(replacement.as_str()).unwrap_or_else(|| panic!("{}", failed("an edit is not there")));
        at = *end as usize;
    }
    assert_eq!(rest, &text[at..], "{}", failed("text behind the edits changed"));
    let windows = |text: &str| text.contains("\r\n");
    assert!(!windows(text) || !after.replace("\r\n", "").contains('\n'), "{}", failed("mixed line ends"));
    assert!(windows(text) || !windows(after), "{}", failed("line ends"));
    assert_eq!(text.ends_with('\n'), after.ends_with('\n'), "{}", failed("the end of the file"));
}
