//! Creates disguises of manifests: the form of a key and a value, the kind, and the file.

use super::{Choice, Files, Pair, file};

/// Objects that request accelerators: `%i` is a name, `%n` the number per pod, `%r` the number of pods, `%k` the
/// resource key.
const KINDS: &[&str] = &[
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: %i\nspec:\n  replicas: %r\n  selector:\n    matchLabels: {app: %i}\n  \
     template:\n    metadata:\n      labels: {app: %i}\n    spec:\n      containers:\n        - name: c\n          image: x\n          \
     resources:\n            limits:\n              %k: %n\n",
    "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: %i}\nspec:\n  replicas: %r\n  serviceName: x\n  selector: {matchLabels: {app: %i}}\n  \
     template:\n    metadata: {labels: {app: %i}}\n    spec:\n      containers:\n      - name: c\n        image: x\n        \
     resources: {limits: {%k: %n}}\n",
    "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: %i\nspec:\n  parallelism: %r\n  completions: %r\n  template:\n    spec:\n      \
     restartPolicy: Never\n      containers:\n        - {name: c, image: x, resources: {limits: {%k: %n}}}\n",
    "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: %i}\nspec:\n  schedule: '0 * * * *'\n  jobTemplate:\n    spec:\n      parallelism: %r\n      \
     template:\n        spec:\n          restartPolicy: Never\n          initContainers:\n            - name: c\n              image: x\n              \
     resources: {requests: {%k: %n}, limits: {%k: %n}}\n          containers: [{name: d, image: x}]\n",
];

/// The forms of the resource name as a key.
const KEYS: &[&str] = &[
    "nvidia.com/gpu",
    "\"nvidia.com/gpu\"",
    "'nvidia.com/gpu'",
    "\"\\x6evidia.com/\\u0067pu\"",
    "!!str nvidia.com/gpu",
    "&key nvidia.com/gpu",
    "\"\\U0000006Evidia.com/gpu\"",
    "nvidia.com/mig-1g.5gb",
    "amd.com/gpu",
];

/// The forms of a number `%n`.
const NUMBERS: &[&str] = &[
    "%n",
    "\"%n\"",
    "'%n'",
    "!!str %n",
    "&n %n",
    "%n # no",
    "\"\\x3%n\"",
    "!!int \"%n\"",
    "%n.0",
    "0x%n",
    "%ne0",
    "%n000m",
];

pub(super) fn pair(choice: &mut Choice, name: &str) -> Pair {
    let kind = choice.one(KINDS);
    let plain = of(kind, &format!("{name}-a"), "nvidia.com/gpu", "1", "1");
    let mut pair = Pair {
        base: vec![file("a.yaml", &plain[..])],
        head: Vec::new(),
        links: Vec::new(),
        disguises: vec!["a manifest"],
    };
    let in_braces = kind.contains("{%k");
    let mut key = choice.one(KEYS);
    if in_braces && key.contains('&') {
        key = KEYS[3];
    }
    let number = |choice: &mut Choice, digit: &str| {
        let form = choice.one(NUMBERS);
        let form = if in_braces && (form.contains('#') || form.contains('&')) { "'%n'" } else { form };
        form.replace("%n", digit)
    };
    match choice.below(3) {
        0 => {
            pair.tell("one more");
            let text = of(kind, &format!("{name}-b"), key, &number(choice, "1"), "1");
            let known = pair.base.clone();
            carried(&mut pair, choice, &text, name);
            pair.head.extend(known);
        }
        1 => {
            pair.tell("more for each pod");
            let text = of(kind, &format!("{name}-a"), key, &number(choice, "8"), "1");
            instead(&mut pair, choice, &text, name);
        }
        _ => {
            pair.tell("more pods");
            let text = of(kind, &format!("{name}-a"), key, "1", "8");
            instead(&mut pair, choice, &text, name);
        }
    }
    lowered(&mut pair, choice, kind, name);
    pair
}

/// Adds an object that seems to lower the number, although no controller would.
fn lowered(pair: &mut Pair, choice: &mut Choice, kind: &str, name: &str) {
    let kind = kind.lines().find_map(|line| line.strip_prefix("kind: ")).unwrap_or_default();
    let (what, text) = match choice.below(12) {
        0 => (
            "an autoscaler with a maximum of none",
            format!("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: h}}\nspec:\n  scaleTargetRef: {{apiVersion: apps/v1, kind: {kind}, name: {name}-a}}\n  minReplicas: 0\n  maxReplicas: 0\n"),
        ),
        1 => (
            "an autoscaler of another namespace",
            format!("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: h, namespace: other}}\nspec:\n  scaleTargetRef: {{apiVersion: apps/v1, kind: {kind}, name: {name}-z}}\n  minReplicas: 1\n  maxReplicas: 1\n"),
        ),
        2 => (
            "an owner without replicas",
            "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: owner}\nspec:\n  replicas: 0\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec:\n      containers: [{name: c, image: x}]\n".to_owned(),
        ),
        3 => (
            "a quota of none",
            "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: other}\nspec:\n  hard: {requests.nvidia.com/gpu: 0}\n".to_owned(),
        ),
        _ => return,
    };
    if what == "an owner without replicas" {
        let owner = "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: owner, uid: x}]";
        for (path, bytes) in
            pair.head.iter_mut().filter(|(path, _)| path.ends_with("a.yaml") || path.ends_with("b.yaml"))
        {
            let _ = path;
            let text = String::from_utf8_lossy(bytes).replacen("metadata:\n", &format!("metadata:\n  {owner}\n"), 1);
            *bytes = text.into_bytes();
        }
    }
    pair.head.push(file("lower.yaml", text));
    pair.tell(what);
}

fn of(kind: &str, name: &str, key: &str, each: &str, pods: &str) -> String {
    kind.replace("%i", name).replace("%k", key).replace("%n", each).replace("%r", pods)
}

/// Rewrites the document in another form of YAML.
fn rewritten(choice: &mut Choice, text: &str) -> (&'static str, String) {
    let kind = text.lines().find_map(|line| line.strip_prefix("kind: ")).unwrap_or_default().to_owned();
    let line = format!("kind: {kind}\n");
    let with = |new: String| text.replacen(&line, &new, 1);
    let (first, rest) = kind.split_at(1);
    match choice.below(16) {
        0 => (
            "a kind in quotes with escapes",
            with(format!("\"k\\u0069nd\": \"\\x{:02x}{rest}\"\n", first.as_bytes()[0])),
        ),
        1 => ("a kind that is folded", with(format!("kind: >-\n  {kind}\n"))),
        2 => ("a kind with a tag", with(format!("!!str kind: !!str {kind}\n"))),
        3 => ("a kind with an anchor", with(format!("kind: &kind {kind}\n"))),
        4 => ("a complex key", with(format!("? kind\n: {kind}\n"))),
        5 => ("a kind on the next line", with(format!("kind:\n  {kind}\n"))),
        6 => ("a kind by an alias", with(format!("x-a: &a {kind}\nkind: *a\n"))),
        7 => ("a kind at the end", with(String::new()) + &line),
        8 => ("between other documents", format!("# nothing\n---\na: 1\n--- # more\n{text}...\n---\nb: 2\n")),
        9 => ("a directive", format!("%YAML 1.2\n---\n{text}")),
        10 => ("the last of two kinds", with(format!("kind: ConfigMap\n{line}"))),
        11 => (
            "everything by a merge",
            format!("<<:\n{}", text.lines().map(|it| format!("  {it}\n")).collect::<String>()),
        ),
        12 => (
            "a list",
            format!(
                "apiVersion: v1\nkind: List\nitems:\n{}",
                text.lines()
                    .enumerate()
                    .map(|(at, it)| format!("{} {it}\n", if at == 0 { "-" } else { " " }))
                    .collect::<String>()
            ),
        ),
        13 => ("a kind in capitals of the tag", with(format!("kind: !<tag:yaml.org,2002:str> {kind}\n"))),
        _ => ("as it is", text.to_owned()),
    }
}

fn carried(pair: &mut Pair, choice: &mut Choice, text: &str, name: &str) {
    let (how, text) = rewritten(choice, text);
    pair.tell(how);
    let kustomization = |resource: &str| format!("resources:\n  - {resource}\n");
    let (what, files): (&'static str, Files) = match choice.below(12) {
        0 => ("another ending", vec![file("b.yml", text)]),
        1 => ("a folder that hides", vec![file(".hidden/b.yaml", text)]),
        2 => ("packages of something else", vec![file("node_modules/b.yaml", text)]),
        3 => (
            "a kustomization that names a file of another ending",
            vec![file("kustomization.yaml", kustomization("b.txt")), file("b.txt", text)],
        ),
        4 => (
            "a kustomization that names a file in a folder that hides",
            vec![
                file("k/kustomization.yml", kustomization("../.b/x")),
                file(".b/x/Kustomization", kustomization("b")),
                file(".b/x/b", text),
            ],
        ),
        5..=8 => chart(choice, text, name),
        9 => ("a name with spaces", vec![file("b b\u{a0}.yaml", text)]),
        _ => ("a file", vec![file("b.yaml", text)]),
    };
    pair.tell(what);
    pair.head.extend(files);
}

/// Creates a chart whose templates produce a text.
fn chart(choice: &mut Choice, text: String, name: &str) -> (&'static str, Files) {
    let about = file("chart/Chart.yaml", format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n"));
    let whole = "{{ tpl (.Files.Get \"b.txt\") . }}\n";
    let (what, files): (&'static str, Files) = match choice.below(8) {
        0 => (
            "a chart that includes",
            vec![
                file("chart/templates/_b.tpl", format!("{{{{- define \"b\" -}}}}\n{text}{{{{- end -}}}}\n")),
                file("chart/templates/b.yaml", "{{ include \"b\" . }}\n"),
            ],
        ),
        1 => ("a template of another ending", vec![file("chart/templates/b.txt", text)]),
        2 => (
            "a file that a template takes",
            vec![file("chart/b.txt", text), file("chart/templates/b.yaml", "{{ .Files.Get \"b.txt\" }}\n")],
        ),
        3 => ("a file that is a template", vec![file("chart/b.txt", text), file("chart/templates/b.yaml", whole)]),
        4 => (
            "a template in values",
            vec![
                file(
                    "chart/values.yaml",
                    format!("b: |\n{}", text.lines().map(|it| format!("  {it}\n")).collect::<String>()),
                ),
                file("chart/templates/b.yaml", "{{ tpl .Values.b . }}\n"),
            ],
        ),
        5 => (
            "the other way of what nobody knows",
            vec![file(
                "chart/templates/b.yaml",
                format!(
                    "{{{{ if lookup \"v1\" \"Node\" \"\" \"\" }}}}\na: 1\nb: 2\n{{{{ else }}}}\n{text}{{{{ end }}}}\n"
                ),
            )],
        ),
        6 => (
            "a chart inside a chart",
            vec![
                file("chart/charts/b/Chart.yaml", "apiVersion: v2\nname: b\nversion: 1.0.0\n"),
                file("chart/charts/b/templates/b", text),
            ],
        ),
        _ => ("a chart", vec![file("chart/templates/b.yaml", text)]),
    };
    (what, [vec![about], files].concat())
}

fn instead(pair: &mut Pair, choice: &mut Choice, text: &str, name: &str) {
    if choice.below(4) == 0 {
        let known = pair.base.clone();
        let kind = text.lines().find_map(|line| line.strip_prefix("kind: ")).unwrap_or_default();
        let patch = format!("patches:\n  - target: {{kind: {kind}, name: {name}-a}}\n    patch: |-\n");
        let patch = patch + &text.lines().map(|it| format!("      {it}\n")).collect::<String>();
        pair.tell("a patch of a kustomization");
        pair.head.push(file("kustomization.yaml", format!("resources: [a.yaml]\n{patch}")));
        pair.head.extend(known);
        return;
    }
    let (how, text) = rewritten(choice, text);
    pair.tell(how);
    pair.head.push(file("a.yaml", text));
}
