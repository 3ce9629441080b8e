//! Tests what a malicious pull request can try. `docs/security.md` names these tests.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::action::sandbox::{GIT_ENVIRONMENT, Sandbox, git, write};

const SECRET: &str = "hunter2";

const WASTE: &str = "resource \"aws_instance\" \"a\" {\n  instance_type = \"p3.2xlarge\"\n}\n";

/// Creates a repository below a directory with files that gpulint must not read.
fn repository(name: &str, files: &[(&str, &str)]) -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new(name);
    let here = sandbox.path("work");
    fs::create_dir_all(&here).unwrap();
    let outside = sandbox.path("outside");
    fs::create_dir_all(&outside).unwrap();
    let module =
        format!("output \"it\" {{\n  value = \"{SECRET}\"\n}}\n{}", WASTE.replace("\"a\"", &format!("\"{SECRET}\"")));
    write(&outside, &[("secret.txt", SECRET), ("main.tf", &module), ("page.md", SECRET)]);
    git(&here, &["init", "--quiet", "--initial-branch=main"]);
    write(&here, files);
    (sandbox, here)
}

struct Said {
    code: Option<i32>,
    all: String,
}

fn gpulint(here: &Path, arguments: &[&str]) -> Said {
    with(here, arguments, &[])
}

fn with(here: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(arguments).current_dir(here).envs(GIT_ENVIRONMENT).env("NO_COLOR", "1").stdin(Stdio::null());
    let output = command.envs(environment.iter().copied()).output().unwrap();
    let all = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Said { code: output.status.code(), all }
}

fn page(when: &str) -> String {
    format!(
        "---\nname: mine\ngroup: governance\nlayer: efficiency\nlevel: error\nrisk: low\nsince: 0.1.0\nprofile: essential\nuntested: true\n\
         when: {when}\nat: [machine]\nmessage: mine\n---\n# mine\n"
    )
}

#[test]
fn text_that_names_files_outside_gets_none() {
    let outside = |sandbox: &Sandbox| sandbox.path("outside").to_str().unwrap().to_owned();
    let (sandbox, here) = repository("outside-text", &[]);
    let terraform = format!(
        "locals {{\n  a = file(\"../outside/secret.txt\")\n  b = file(\"{0}/secret.txt\")\n  c = templatefile(\"../outside/secret.txt\", {{}})\n  \
         d = join(\",\", fileset(\"..\", \"outside/*\"))\n  e = filebase64(\"../outside/secret.txt\")\n}}\n\
         module \"m\" {{\n  source = \"../outside\"\n}}\nmodule \"n\" {{\n  source = \"{0}\"\n}}\n\
         resource \"aws_instance\" \"a\" {{\n  instance_type = \"p3.2xlarge\"\n  tags = {{ a = local.a, b = local.b, c = local.c, d = local.d, e = local.e, m = module.m.it }}\n}}\n",
        outside(&sandbox)
    );
    let kustomization =
        "resources: [../outside/pod.yaml]\nconfigMapGenerator:\n  - name: a\n    files: [../outside/secret.txt]\n";
    let chart = "apiVersion: v2\nname: a\nversion: 1.0.0\ndependencies:\n  - name: b\n    repository: file://../outside\n    version: 1.0.0\n";
    write(&here, &[("main.tf", &terraform), ("kustomization.yaml", kustomization), ("Chart.yaml", chart)]);
    symlink("../outside/main.tf", here.join("link.tf")).unwrap();
    symlink("../outside", here.join("linked")).unwrap();
    for arguments in
        [&["check", "--format", "json"][..], &["check"], &["inspect", "--all"], &["cost"], &["check", "--render"]]
    {
        let said = gpulint(&here, arguments);
        assert!(matches!(said.code, Some(0 | 1)), "{arguments:?}: {}", said.all);
        assert!(!said.all.contains(SECRET) && !said.all.contains("aHVudGVyMg"), "{arguments:?}: {}", said.all);
    }
    let said = gpulint(&here, &["check"]);
    assert!(said.all.contains("the path is outside the checkout"), "what is not read is told: {}", said.all);
}

#[test]
fn settings_that_name_files_outside_are_refused() {
    for (key, value) in [
        ("extend", "\"../outside/secret.txt\""),
        ("baseline", "\"../outside/secret.txt\""),
        ("rules-dir", "[\"../outside\"]"),
        ("prices.file", "\"../outside/secret.txt\""),
        ("models.file", "\"/outside/secret.txt\""),
        ("models.configs.own", "\"../outside/secret.txt\""),
    ] {
        let (_sandbox, here) = repository("outside-settings", &[("main.tf", WASTE)]);
        write(&here, &[("gpulint.toml", &format!("{key} = {value}\n"))]);
        let said = gpulint(&here, &["check"]);
        assert_eq!(said.code, Some(2), "{key}: {}", said.all);
        assert!(said.all.contains("leads out of it"), "{key}: {}", said.all);
        assert!(!said.all.contains(SECRET), "{key}: {}", said.all);
    }
    // The same through a link.
    let (_sandbox, here) =
        repository("outside-links", &[("main.tf", WASTE), ("gpulint.toml", "rules-dir = [\"rules\"]\n")]);
    symlink("../outside", here.join("rules")).unwrap();
    let said = gpulint(&here, &["check"]);
    assert_eq!(said.code, Some(2), "{}", said.all);
    assert!(!said.all.contains(SECRET), "{}", said.all);
}

/// A model configuration is untrusted text of the repository. Valid values are used, and invalid ones are reported.
#[test]
fn a_configuration_of_a_model_is_read_or_refused_with_its_line() {
    const OWN: &str = r#"{"hidden_size": 4096, "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8,
      "head_dim": 128, "intermediate_size": 12288, "vocab_size": 151936, "max_position_embeddings": 40960}"#;
    const POD: &str = r#"
apiVersion: v1
kind: Pod
metadata: { name: llm }
spec:
  nodeSelector: { nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3 }
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.11.0
      args: [--model=acme/legal, --max-model-len=8192]
      resources: { limits: { nvidia.com/gpu: 1 } }
"#;
    let settings = "[models.configs]\n\"acme/legal\" = \"legal/config.json\"\n";
    let files = [("pod.yaml", POD), ("gpulint.toml", settings), ("legal/config.json", OWN)];
    let (_sandbox, here) = repository("model-config", &files);
    let said = gpulint(&here, &["check"]);
    assert!(said.all.contains("acme/legal needs 18.2 GiB"), "{}", said.all);
    for (text, wrong) in [
        ("{\n\"hidden_size\": []}", "legal/config.json:2: `hidden_size` must be a number"),
        ("{\n\n\"hidden_size\": 1e999}", "legal/config.json:3: the file is not valid JSON"),
        (&*"[".repeat(300_000), "legal/config.json:1: the file is not valid JSON"),
    ] {
        write(&here, &[("legal/config.json", text)]);
        let said = gpulint(&here, &["check"]);
        assert_eq!(said.code, Some(2), "{}", said.all);
        assert!(said.all.contains(wrong), "{}", said.all);
    }
}

#[test]
fn a_report_is_not_written_where_a_link_leads_out() {
    let (sandbox, here) = repository("links-out", &[("main.tf", WASTE), ("inside/kept.json", "old")]);
    let precious = sandbox.path("outside").join("secret.txt");
    symlink(&precious, here.join("a.json")).unwrap();
    symlink("../outside", here.join("out")).unwrap();
    symlink("../outside/not-there-yet", here.join("b.json")).unwrap();
    symlink(".git/config", here.join("c.json")).unwrap();
    symlink(".git", here.join("hidden")).unwrap();
    let config = fs::read_to_string(here.join(".git/config")).unwrap();
    for output in ["a.json", "out/secret.txt", "out/new.json", "b.json", "c.json", "hidden/hooks.json"] {
        for arguments in [&["check", "--format", "json", "--output", output][..], &["cost", "--output", output]] {
            let said = gpulint(&here, arguments);
            assert_eq!(said.code, Some(2), "{output}: {}", said.all);
            assert!(said.all.contains("a symbolic link leads out of the repository"), "{output}: {}", said.all);
        }
    }
    assert_eq!(fs::read_to_string(&precious).unwrap(), SECRET);
    assert_eq!(fs::read_to_string(here.join(".git/config")).unwrap(), config);
    assert_eq!(fs::read_dir(sandbox.path("outside")).unwrap().count(), 3, "nothing was added there");
    // Links inside the repository are followed, and a path outside is read if the user names it.
    symlink("inside/kept.json", here.join("d.json")).unwrap();
    let there = precious.to_str().unwrap();
    for output in ["d.json", "inside/new.json", "inside/../new.json", there] {
        let said = gpulint(&here, &["check", "--format", "json", "--output", output]);
        assert_eq!(said.code, Some(1), "{output}: {}", said.all);
    }
    assert!(here.join("d.json").is_symlink());
    assert!(fs::read_to_string(here.join("inside/kept.json")).unwrap().starts_with('{'));
}

#[test]
fn what_hides_behind_a_limit_is_a_finding() {
    let nested = |levels: usize| format!("locals {{\n  a = {}1{}\n}}\n{WASTE}", "[".repeat(levels), "]".repeat(levels));
    let turns = "sum([for a in range(1000) : length([for b in range(1000) : [for c in range(100) : c]])])";
    let endless =
        format!("locals {{\n  a = {turns}\n}}\nresource \"aws_instance\" \"b\" {{\n  count = local.a\n}}\n{WASTE}");
    let bomb = "apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nx:\n  a: &a [1,1,1,1,1,1,1,1,1,1]\n  b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n  \
                c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n  d: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\nspec:\n  containers:\n    - name: a\n      \
                resources: { limits: { nvidia.com/gpu: 1 } }\n";
    let deep = format!("apiVersion: v1\nkind: Pod\nnvidia.com/gpu: {}1{}\n", "[".repeat(60), "]".repeat(60));
    let large = format!("# {}\n{WASTE}", "x".repeat(2 << 20));
    let large_manifest = format!("# {}\napiVersion: v1\nkind: Pod\n", "x".repeat(2 << 20));
    for (name, setting, path, text) in [
        ("nesting", "nesting = 20", "main.tf", nested(30)),
        (
            "nesting",
            "nesting = 20",
            "main.tf.json",
            format!("{{\"locals\": {{\"a\": {}1{}}}}}", "[".repeat(30), "]".repeat(30)),
        ),
        ("nesting", "nesting = 20", "a.yaml", deep),
        ("evaluation-steps", "evaluation-steps = 10000", "main.tf", endless),
        ("yaml-nodes", "yaml-nodes = 5000", "a.yaml", bomb.to_owned()),
        ("file-mib", "file-mib = 1", "main.tf", large),
        ("file-mib", "file-mib = 1", "a.yaml", large_manifest),
    ] {
        let settings = format!("[bounds]\n{setting}\n");
        let (_sandbox, here) = repository("limits", &[(path, &text), ("gpulint.toml", &settings)]);
        let said = gpulint(&here, &["check", "--format", "concise"]);
        assert_eq!(said.code, Some(1), "{setting}, {path}: {}", said.all);
        let told = said.all.lines().find(|line| line.contains("unreadable")).unwrap_or_default();
        assert!(told.contains(path) && told.contains(&format!("`bounds.{name}`")), "{setting}, {path}: {}", said.all);
        fs::remove_file(here.join("gpulint.toml")).unwrap();
        let said = gpulint(&here, &["check", "--format", "concise"]);
        let is_read = !said.all.contains("unreadable") || name == "evaluation-steps";
        assert!(is_read, "by default it is read, {setting}, {path}: {}", said.all);
    }
    // Large data files are not relevant.
    let data = format!("{{\"rows\": [\"{}\"]}}", "x".repeat(2 << 20));
    let (_sandbox, here) =
        repository("data", &[("a.json", &data), ("gpulint.toml", "[bounds]\nfile-mib = 1\n"), ("b.tf", "locals {}\n")]);
    let said = gpulint(&here, &["check"]);
    assert_eq!(said.code, Some(0), "{}", said.all);
    assert!(said.all.contains("and the limit is 1048576 (`bounds.file-mib`)"), "{}", said.all);
}

#[test]
fn bounds_have_bounds() {
    for setting in [
        "nesting = 100000",
        "file-mib = 0",
        "file-mib = 1.5",
        "seconds = 1e9",
        "yaml-nodes = -1",
        "evaluation-steps = 1e12",
    ] {
        let (_sandbox, here) =
            repository("bounds", &[("main.tf", WASTE), ("gpulint.toml", &format!("[bounds]\n{setting}\n"))]);
        let said = gpulint(&here, &["check"]);
        assert_eq!(said.code, Some(2), "{setting}: {}", said.all);
        assert!(said.all.contains("must be a whole number from 1 to"), "{setting}: {}", said.all);
    }
}

#[test]
fn a_run_without_end_is_ended() {
    // It stores nothing, so it does not run out of memory first.
    let turns = "sum([for a in local.r : length([for b in local.r : length([for c in local.r : c if false])])])";
    let endless =
        format!("locals {{\n  r = range(1000)\n}}\nresource \"aws_instance\" \"b\" {{\n  count = {turns}\n}}\n");
    let settings = "[bounds]\nevaluation-steps = 1000000000\nseconds = 1\n";
    let (_sandbox, here) = repository("endless", &[("main.tf", &endless), ("gpulint.toml", settings)]);
    let said = gpulint(&here, &["check", "--format", "json", "--output", "report.json"]);
    assert_eq!(said.code, Some(2), "{}", said.all);
    assert!(said.all.contains("error: the check did not finish within 1 seconds"), "{}", said.all);
    assert!(said.all.contains("`bounds.seconds`"), "{}", said.all);
    assert!(!here.join("report.json").exists());
}

/// Creates a program that leaves a trace in its working directory.
fn program(directory: &Path, name: &str, script: &str) {
    fs::create_dir_all(directory).unwrap();
    fs::write(directory.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(directory.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

const CHART: [(&str, &str); 2] = [
    ("chart/Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n"),
    (
        "chart/templates/pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec:\n  containers:\n    - name: a\n      resources: { limits: { nvidia.com/gpu: 1 } }\n",
    ),
];

/// Templates that never end, or that grow or nest without limit.
const BOMBS: [&str; 8] = [
    "{{ define \"a\" }}{{ include \"a\" . }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}",
    "{{ tpl \"{{ tpl .Values.t . }}\" . }}",
    "{{ range $i := until 100000 }}{{ range $j := until 100000 }}{{ $i }}{{ end }}{{ end }}",
    "{{ repeat 1000000000 \"nvidia.com/gpu\" }}",
    "{{ printf \"%1000000000d\" 1 }}",
    "{{ $a := list }}{{ range until 1000000 }}{{ $a = concat $a $a (list 1) }}{{ end }}",
    "{{ $m := dict }}{{ $_ := set $m \"m\" $m }}{{ toYaml $m }}",
    "{{ regexReplaceAll \"(a*)*b\" (repeat 100000 \"a\") \"${1}${1}\" }}",
];

#[test]
fn hostile_charts_end_and_hide_nothing() {
    let (_sandbox, here) = repository("charts", &[]);
    let (about, pod) = (CHART[0].1, CHART[1].1);
    for number in 0..24 {
        let bomb = BOMBS[number % BOMBS.len()];
        let at = |name: &str| format!("c{number:02}/{name}");
        let values = "t: \"{{ tpl .Values.t . }}\"\n";
        let pod = pod.replace("name: a }", &format!("name: pod{number:02} }}"));
        let [about_at, values_at, pod_at, bomb_at] =
            ["Chart.yaml", "values.yaml", "templates/pod.yaml", "templates/z.yaml"].map(at);
        write(&here, &[(&about_at, about), (&values_at, values), (&pod_at, &pod), (&bomb_at, bomb)]);
    }
    let said = gpulint(&here, &["check", "--format", "json", "--prices", "embedded"]);
    assert!(matches!(said.code, Some(0 | 1)), "{}", said.all);
    for number in 0..24 {
        assert!(said.all.contains(&format!("Pod/pod{number:02}")), "the pod of chart {number} is lost: {}", said.all);
    }
    assert!(said.all.contains("read without rendering: rendering exceeds the step limit"), "{}", said.all);
}

/// All charts of a run share one memory limit.
#[cfg(target_os = "linux")]
#[test]
fn what_charts_make_fits_the_memory_of_one_run() {
    const DOUBLED: &str =
        "{{ $d := dict \"a\" \"x\" }}{{ range until 60 }}{{ $d = dict \"a\" $d \"b\" $d }}{{ end }}a: {{ $d }}\n";
    const GROWING: [&str; 6] = [
        DOUBLED,
        "{{ $t := repeat 8000000 \"x,\" }}a: {{ splitList \",\" $t | len }}\n",
        "{{ $k := list }}{{ range until 1000 }}{{ $k = append $k (toString (until 100000)) }}{{ end }}",
        "{{ $t := repeat 1000000 \"x\" }}{{ $k := list }}{{ range until 1000 }}{{ $k = append $k (cat $t $t $t) }}{{ end }}",
        "{{ $d := dict }}{{ range until 700000 }}{{ $_ := set $d (print .) . }}{{ end }}",
        "{{ range until 30000 }}---\napiVersion: v1\nkind: Pod\nmetadata: {name: p{{ . }}}\n\
         spec: {containers: [{name: a, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}\n{{ end }}",
    ];
    let (_sandbox, here) = repository("growing-charts", &[]);
    for number in 0..36 {
        let at = |name: &str| format!("c{number:02}/{name}");
        let pod = CHART[1].1.replace("name: a }", &format!("name: pod{number:02} }}"));
        let [about, pod_at, bomb] = ["Chart.yaml", "templates/pod.yaml", "templates/z.yaml"].map(at);
        write(&here, &[(&about, CHART[0].1), (&pod_at, &pod), (&bomb, GROWING[number % GROWING.len()])]);
    }
    let run = format!("ulimit -v 2500000; exec {} inspect --prices embedded .", env!("CARGO_BIN_EXE_gpulint"));
    let output = Command::new("sh").args(["-c", &run]).current_dir(&here).envs(GIT_ENVIRONMENT).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
    for number in 0..36 {
        assert!(said.contains(&format!("Pod/pod{number:02}")), "the pod of chart {number} is lost");
    }
}

/// Values schemas whose patterns, references or branches multiply.
#[test]
fn hostile_schemas_of_values_end_and_hide_nothing() {
    let (_sandbox, here) = repository("schemas", &CHART);
    let wide = |pattern: &str, times: usize| {
        let rows: Vec<String> = (0..times).map(|row| format!("\"^{}{row}$\": {{}}", pattern)).collect();
        format!("{{\"patternProperties\": {{{}}}}}", rows.join(", "))
    };
    let nested = (0..60).fold("{\"type\": \"string\"}".to_owned(), |inner, _| {
        format!("{{\"properties\": {{\"a\": {{\"anyOf\": [{inner}, {inner}]}}}}}}").chars().take(1 << 20).collect()
    });
    let schemas = [
        wide("(a|b|c){1,500}7(x{1,90}){1,90}", 300),
        wide("[a-z]{1,60}", 900),
        "{\"$ref\": \"#\"}".to_owned(),
        "{\"$ref\": \"#/a\", \"a\": {\"anyOf\": [{\"$ref\": \"#/a\"}, {\"$ref\": \"#/a\"}]}}".to_owned(),
        nested,
    ];
    let values: String = (0..2_000).map(|row| format!("{}{row}: a\n", "abc".repeat(9))).collect();
    for (number, schema) in schemas.iter().enumerate() {
        let at = |name: &str| format!("c{number}/{name}");
        let pod = CHART[1].1.replace("name: a }", &format!("name: pod{number} }}"));
        let [about_at, values_at, schema_at, pod_at] =
            ["Chart.yaml", "values.yaml", "values.schema.json", "templates/pod.yaml"].map(at);
        write(&here, &[(&about_at, CHART[0].1), (&values_at, &values), (&schema_at, schema), (&pod_at, &pod)]);
    }
    let said = gpulint(&here, &["check", "--format", "json", "--prices", "embedded"]);
    for number in 0..schemas.len() {
        assert!(said.all.contains(&format!("Pod/pod{number}")), "the pod of chart {number} is lost: {}", said.all);
    }
}

#[test]
fn programs_of_the_repository_are_not_started() {
    let (sandbox, here) = repository("programs", &CHART);
    let trace = sandbox.path("trace");
    for name in ["helm", "kustomize", "kubectl", "git"] {
        program(&here, name, &format!("touch {}", trace.display()));
    }
    let said = with(&here, &["check", "--render"], &[("PATH", ".::/usr/bin:/bin")]);
    assert!(matches!(said.code, Some(0 | 1)), "{}", said.all);
    assert!(!trace.exists(), "a program of the repository ran");
}

#[test]
fn a_renderer_that_does_not_end_is_ended_and_told() {
    let (sandbox, here) = repository("renderer", &CHART);
    write(&here, &[("gpulint.toml", "[bounds]\nrender-seconds = 1\n")]);
    program(&sandbox.path("bin"), "helm", "exec /bin/sleep 1000");
    let path = format!("{}:/usr/bin:/bin", sandbox.path("bin").display());
    let said = with(&here, &["check", "--render"], &[("PATH", &path)]);
    assert!(said.all.contains("it took longer than 1 seconds"), "{}", said.all);
    assert!(matches!(said.code, Some(0 | 1)), "{}", said.all);
}

#[cfg(target_os = "linux")]
#[test]
fn a_renderer_that_takes_all_memory_is_ended_and_told() {
    let (sandbox, here) = repository("renderer-memory", &CHART);
    // It searches the end of an endless line.
    program(&sandbox.path("bin"), "helm", "exec /usr/bin/tail /dev/zero");
    let path = format!("{}:/usr/bin:/bin", sandbox.path("bin").display());
    let said = with(&here, &["check", "--render"], &[("PATH", &path)]);
    assert!(said.all.contains("it took more than 1024 MiB of memory"), "{}", said.all);
    assert!(matches!(said.code, Some(0 | 1)), "{}", said.all);
}

/// A later run removes the directory of a renderer whose run was killed, but no link with such a name.
#[test]
fn the_directory_of_a_killed_run_goes_with_the_next_one() {
    let (sandbox, here) = repository("killed", &CHART);
    program(&sandbox.path("bin"), "helm", "exec /bin/false");
    let temporary = sandbox.path("temporary");
    let (gone, young, link, other) =
        ("gpulint-2147483646-0", "gpulint-2147483646-1", "gpulint-2147483646-2", "gpulint-2147483646-x");
    for name in [gone, young, other] {
        fs::create_dir_all(temporary.join(name).join("tree")).unwrap();
    }
    symlink(sandbox.path("outside"), temporary.join(link)).unwrap();
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(7_200);
    for name in [gone, other] {
        fs::File::open(temporary.join(name)).unwrap().set_modified(long_ago).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", sandbox.path("bin").display());
    let set = [("PATH", path.as_str()), ("TMPDIR", temporary.to_str().unwrap())];
    let said = with(&here, &["check", "--render"], &set);
    assert!(matches!(said.code, Some(0 | 1)), "{}", said.all);
    let is_there = |name: &str| temporary.join(name).symlink_metadata().is_ok();
    assert_eq!([gone, young, link, other].map(is_there), [false, true, true, true]);
    assert!(sandbox.path("outside/secret.txt").exists());
}

#[test]
fn a_change_cannot_relax_the_gate_that_it_has_to_pass() {
    let settings = "rules-dir = [\"policy\"]\n";
    let (_sandbox, here) = repository(
        "policy",
        &[("main.tf", "locals {}\n"), ("gpulint.toml", settings), ("policy/mine.md", &page("machine == 'p3.2xlarge'"))],
    );
    git(&here, &["add", "--all"]);
    git(&here, &["commit", "--quiet", "--message", "strict"]);
    // The change adds waste, and everything that could make it pass.
    write(
        &here,
        &[
            ("main.tf", WASTE),
            ("policy/mine.md", &page("false")),
            ("gpulint.toml", "ignore = [\"all\"]\nfail-on = \"error\"\n"),
        ],
    );
    assert_eq!(gpulint(&here, &["baseline", "create", "--no-config"]).code, Some(0));
    let told = |said: &Said| said.all.contains("mine") && said.all.contains("old-generation");
    let there = gpulint(&here, &["check", "--policy-ref", "main", "--format", "concise"]);
    assert_eq!(there.code, Some(1), "{}", there.all);
    assert!(told(&there), "{}", there.all);
    let compared = gpulint(&here, &["diff", "--base", "main", "--policy-ref", "main", "--format", "concise"]);
    assert_eq!(compared.code, Some(1), "{}", compared.all);
    assert!(told(&compared), "{}", compared.all);
}

#[test]
fn files_of_other_tools_hide_nothing() {
    let hiding = [
        (".ignore", "*\n"),
        (".rgignore", "*\n"),
        (".gpulintignore", "*\n"),
        ("x/.ignore", "*\n"),
        ("x/main.tf", WASTE),
    ];
    let (_sandbox, here) = repository("ignored", &hiding);
    let said = gpulint(&here, &["check", "--format", "concise"]);
    assert_eq!(said.code, Some(1), "{}", said.all);
    assert!(said.all.contains("x/main.tf:2:3"), "{}", said.all);
}

#[test]
fn nothing_is_fetched_and_what_is_not_there_is_told() {
    let remote = "module \"a\" {\n  source = \"git::https://127.0.0.1:9/a.git\"\n}\nmodule \"b\" {\n  source = \"https://127.0.0.1:9/b.zip\"\n}\n\
                  module \"c\" {\n  source  = \"acme/pool/aws\"\n  version = \"1.0.0\"\n}\n";
    let kustomization = "resources: [\"https://127.0.0.1:9/a.yaml\", \"github.com/acme/a?ref=main\"]\n";
    let (_sandbox, here) = repository("remote", &[("main.tf", remote), ("k/kustomization.yaml", kustomization)]);
    // A program that used the proxy would fail, because the proxy does not exist.
    let nowhere = [("HTTPS_PROXY", "http://127.0.0.1:9"), ("HTTP_PROXY", "http://127.0.0.1:9")];
    let said = with(&here, &["check"], &nowhere);
    assert_eq!(said.code, Some(0), "{}", said.all);
    assert!(said.all.contains("3 × module not downloaded"), "{}", said.all);
}

#[test]
fn prices_are_no_business_of_the_repository_unless_settings_say_so() {
    let row = "provider,machine,on_demand_usd_per_hour\naws,p3.2xlarge,0.0001\n";
    let poison =
        [(".cache/gpulint/prices/aws.csv", row), ("prices/aws.csv", row), ("pricing/aws.csv", row), ("main.tf", WASTE)];
    let (_sandbox, here) = repository("poison", &poison);
    let clean = repository("clean", &[("main.tf", WASTE)]);
    let home = |directory: &Path| directory.join("no-home").to_str().unwrap().to_owned();
    let bill = |here: &Path| with(here, &["cost"], &[("HOME", &home(here)), ("XDG_CACHE_HOME", "")]).all;
    assert_eq!(bill(&here), bill(&clean.1));
    let refused = gpulint(&here, &["config", "show"]);
    assert_eq!(refused.code, Some(0), "{}", refused.all);
    write(&here, &[("gpulint.toml", "[prices]\ncache = \".cache\"\n")]);
    let refused = gpulint(&here, &["check"]);
    assert_eq!(refused.code, Some(2), "no setting names the cache: {}", refused.all);
}

/// Names also reach gpulint through arguments: hooks pass the names of changed files.
#[test]
fn what_is_quoted_from_arguments_and_blocks_is_harmless() {
    const HOSTILE: &str = "a\u{1b}[31m\u{202e}\u{ad}\u{e0041}";
    let terraform = format!(
        "resource \"aws_instance\" \"a\" {{\n  instance_type = \"p3.2xlarge\"\n  tags = {{ Name = \"{HOSTILE}\" }}\n}}\n"
    );
    let (_sandbox, here) = repository("hostile-arguments", &[("main.tf", &terraform)]);
    let page = format!("{HOSTILE}.tf");
    let all: &[&[&str]] = &[
        &["check", &page],
        &["check", "--config", HOSTILE],
        &["check", "--select", HOSTILE],
        &["diff", "--base", HOSTILE],
        &["explain", HOSTILE],
        &["price", HOSTILE],
        &["inspect", HOSTILE],
        &["inspect", "--all"],
        &["inspect", "--all", "main.tf"],
        &["rules", "try", HOSTILE],
        &["check", "--format", "json"],
        &["check", "--format", "markdown"],
    ];
    for arguments in all {
        let said = gpulint(&here, arguments);
        let hostile = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{ad}\u{e0041}".contains(c);
        assert!(!said.all.chars().any(hostile), "{arguments:?}: {:?}", said.all);
    }
}

/// Folders and names that are commands for a pipeline that reads its own log.
#[test]
fn no_line_of_a_report_is_a_command_of_a_pipeline() {
    let pod = "apiVersion: v1\nkind: \"::warning::kind\"\nmetadata: {name: \"::warning::a\", namespace: \"##[group]n\"}\n\
               spec: {containers: [{name: a, image: x, resources: {limits: {nvidia.com/gpu: 8}}}]}\n";
    let (_sandbox, here) = repository("commands", &[]);
    for folder in ["::stop-commands::x", "##[error]y", "##vso[task.setvariable variable=a]z", "=x", "\u{ff1d}x"] {
        let machine = WASTE.replace(
            "\"a\"",
            "\"a\" {\n  tags = { x = \"##[debug]\" }\n  # ::debug::\n}\nresource \"aws_instance\" \"b\"",
        );
        let at = |name: &str| format!("{folder}/{name}");
        write(
            &here,
            &[
                (&at("main.tf"), &machine),
                (&at("::a.yaml"), pod),
                (&at("::b.yaml"), "kind: Pod\nspec: [\nnvidia.com/gpu: 8\n"),
            ],
        );
    }
    git(&here, &["add", "--all"]);
    git(&here, &["commit", "--quiet", "--message", "first"]);
    write(&here, &[("::stop-commands::x/main.tf", &WASTE.replace("p3.2xlarge", "p3.16xlarge"))]);
    let formats = ["text", "concise", "json", "sarif", "markdown", "gitlab", "junit", "csv", "outputs"];
    let mut all: Vec<Vec<&str>> = formats.iter().map(|format| vec!["check", "--format", format]).collect();
    all.extend(["file", "team", "root", "run"].map(|by| vec!["check", "--all", "-v", "--group-by", by]));
    all.extend(["text", "concise", "json", "markdown", "csv"].map(|it| vec!["diff", "--base", "main", "--format", it]));
    all.extend(["text", "json", "markdown", "csv"].map(|format| vec!["cost", "--format", format]));
    all.extend([vec!["files"], vec!["explain", "aws_instance.b"], vec!["inspect"], vec!["check", "--plain"]]);
    for arguments in &all {
        let said = gpulint(&here, arguments).all;
        let said = said.replace("&#10;", "\n").replace("&#9;", "\t");
        assert!(!said.is_empty(), "{arguments:?}");
        for line in said.lines() {
            let is_command = line.trim_start().starts_with("::") || line.contains("##[") || line.contains("##vso[");
            assert!(!is_command, "{arguments:?}: {line}");
        }
    }
    let concise = gpulint(&here, &["check", "--format", "concise"]).all;
    assert!(concise.contains("\n./::stop-commands::x/main.tf:1:1: "), "an editor finds the file: {concise}");
    let table = gpulint(&here, &["check", "--format", "csv"]).all;
    assert!(table.contains("'=x/main.tf") && table.contains("'\u{ff1d}x/main.tf"), "{table}");
}

/// A repository in a neighboring directory, with a hook of its owner.
#[test]
fn a_link_is_judged_by_the_repository_that_holds_it() {
    let (sandbox, here) = repository("links-to-others", &[("main.tf", WASTE), ("inside/kept.json", "old")]);
    let other = sandbox.path("other");
    fs::create_dir_all(&other).unwrap();
    git(&other, &["init", "--quiet", "--initial-branch=main"]);
    write(&other, &[(".git/hooks/pre-commit", "#!/bin/sh\n"), ("main.tf", WASTE), ("baseline.json", "{}")]);
    let nested = here.join("nested");
    fs::create_dir_all(&nested).unwrap();
    git(&nested, &["init", "--quiet", "--initial-branch=main"]);
    symlink("../other", here.join("out")).unwrap();
    symlink("out", here.join("twice")).unwrap();
    symlink("nested/.git", here.join("hidden")).unwrap();
    symlink("../inside", nested.join("up")).unwrap();
    let before = fs::read_to_string(other.join("main.tf")).unwrap();
    for output in [
        "out/.git/hooks/pre-commit",
        "out/new.json",
        "out/main.tf",
        "twice/.git/hooks/pre-commit",
        "inside/../out/new.json",
        "hidden/hooks/pre-commit",
        "nested/up/kept.json",
    ] {
        let said = gpulint(&here, &["check", "--format", "json", "--output", output]);
        assert_eq!(said.code, Some(2), "{output}: {}", said.all);
        assert!(said.all.contains("a symbolic link leads out of the repository"), "{output}: {}", said.all);
    }
    assert_eq!(fs::read_to_string(other.join(".git/hooks/pre-commit")).unwrap(), "#!/bin/sh\n");
    assert_eq!(fs::read_to_string(other.join("main.tf")).unwrap(), before);
    assert!(!other.join("new.json").exists() && !nested.join(".git/hooks/pre-commit").exists());
    // A link above the repository belongs to the user, and is allowed.
    symlink(&here, sandbox.path("short")).unwrap();
    let there = sandbox.path("short").join("report.json");
    let said = gpulint(&here, &["check", "--format", "json", "--output", there.to_str().unwrap()]);
    assert_eq!(said.code, Some(1), "{}", said.all);
    // One function writes baselines and fixes, and nothing is read through such a link for them.
    symlink("../other/baseline.json", here.join(".gpulint-baseline.json")).unwrap();
    let said = gpulint(&here, &["baseline", "update"]);
    assert_eq!(said.code, Some(2), "{}", said.all);
    assert_eq!(fs::read_to_string(other.join("baseline.json")).unwrap(), "{}");
}

#[test]
fn a_policy_lies_where_no_path_of_the_change_leads() {
    let (_sandbox, here) = repository("policy-namespace", &[("main.tf", "locals {}\n")]);
    git(&here, &["add", "--all"]);
    git(&here, &["commit", "--quiet", "--message", "first"]);
    let short = format!("{}:", &git(&here, &["rev-parse", "HEAD"])[..12]);
    write(&here, &[(&format!("{short}/main.tf"), WASTE)]);
    let there = &["check", "--policy-ref", "main", "--format", "concise"];
    let said = gpulint(&here, there);
    assert_eq!(said.code, Some(1), "{}", said.all);
    assert!(said.all.contains(&format!("{short}/main.tf:2:3")), "{}", said.all);
    // A text with an impossible file name has no effect either.
    let spelt = format!(
        "module \"a\" {{\n  source = \"./\\u0000{short}/m\"\n}}\nlocals {{\n  a = file(\"\\u0000{short}/main.tf\")\n}}\n"
    );
    write(&here, &[(&format!("{short}/main.tf"), WASTE), ("main.tf", &spelt)]);
    let said = gpulint(&here, there);
    assert_eq!(said.code, Some(1), "{}", said.all);
}

/// pre-commit runs a hook as its entry, its arguments, then the names of changed files.
#[test]
fn a_file_that_is_called_like_an_option_is_a_file() {
    let hooks = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(".pre-commit-hooks.yaml")).unwrap();
    let hooks: serde_json::Value = serde_saphyr::from_str(&hooks).unwrap();
    for hook in hooks.as_array().unwrap().iter().filter(|hook| hook["pass_filenames"] != false) {
        let (sandbox, here) = repository("names", &[]);
        let astray = sandbox.path("astray.tf");
        let names = ["--config=x.tf", "--format=json.tf", "--output=y.tf", "--allow-empty.tf", "-.tf"];
        for (index, name) in names.iter().enumerate() {
            write(&here, &[(name, &WASTE.replace("\"a\"", &format!("\"a{index}\"")))]);
        }
        let through = format!("--output={}", astray.display());
        write(&here, &[(&through, WASTE)]);
        let entry = hook["entry"].as_str().unwrap().split(' ').skip(1);
        let arguments = hook["args"].as_array().into_iter().flatten().map(|it| it.as_str().unwrap());
        let all: Vec<&str> = entry.chain(arguments).chain(names).chain([through.as_str()]).collect();
        let said = gpulint(&here, &all);
        assert_eq!(said.code, Some(1), "{}: {}", hook["id"], said.all);
        // All messages are the same: the first is shown, and the others are counted, some with their names.
        let named = names.iter().filter(|name| said.all.contains(&format!("{name}:1"))).count();
        assert!(said.all.contains("and 5 more, at ") && named >= 4, "{}: {}", hook["id"], said.all);
        assert!(!astray.exists() && !here.join("y.tf").exists(), "{}: a report was written", hook["id"]);
    }
}

#[test]
fn git_is_not_a_program_of_the_repository() {
    let (sandbox, here) = repository("own-git", &[("main.tf", "locals {}\n")]);
    git(&here, &["add", "--all"]);
    git(&here, &["commit", "--quiet", "--message", "first"]);
    let trace = sandbox.path("trace");
    let script = format!("touch {}; exec /usr/bin/git \"$@\"", trace.display());
    program(&here, "git", &script);
    program(&here.join("bin"), "git", &script);
    program(&here.join("bin"), "helm", &script);
    write(&here, &CHART);
    let outside = sandbox.path("linked");
    fs::create_dir_all(&outside).unwrap();
    symlink(here.join("git"), outside.join("git")).unwrap();
    let own = here.join("bin").display().to_string();
    for path in [".", "", "bin", "./bin", &own, outside.to_str().unwrap()] {
        let path = format!("{path}:/usr/bin:/bin");
        for arguments in [&["diff", "--base", "main"][..], &["check", "--policy-ref", "main"], &["check", "--render"]] {
            let said = with(&here, arguments, &[("PATH", &path)]);
            assert!(matches!(said.code, Some(0 | 1)), "{path}, {arguments:?}: {}", said.all);
            assert!(!trace.exists(), "{path}, {arguments:?}: a program of the repository ran");
        }
    }
    let said = with(&here, &["diff", "--base", "main"], &[("PATH", &own)]);
    assert_eq!(said.code, Some(2), "{}", said.all);
    assert!(said.all.contains("git cannot be started"), "{}", said.all);
}

/// Creates a pipe in place of another file.
fn pipe(path: &Path) {
    drop(fs::remove_file(path));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_pipe_or_a_device_in_the_place_of_a_file_of_git_holds_nobody() {
    for file in [".git", ".git/HEAD", ".git/config", ".git/packed-refs", ".git/info/exclude", ".git/commondir"] {
        let (_sandbox, here) = repository("pipes", &[("main.tf", WASTE)]);
        git(&here, &["add", "--all"]);
        git(&here, &["commit", "--quiet", "--message", "first"]);
        if file == ".git" {
            fs::remove_dir_all(here.join(file)).unwrap();
        }
        pipe(&here.join(file));
        let said = gpulint(&here, &["check"]);
        assert_eq!(said.code, Some(1), "{file}: {}", said.all);
        for arguments in [&["diff", "--base", "main"][..], &["check", "--policy-ref", "main"]] {
            let said = gpulint(&here, arguments);
            assert_eq!(said.code, Some(2), "{file}: {}", said.all);
            assert!(said.all.contains("is not a regular file"), "{file}: {}", said.all);
        }
    }
    // A work tree whose `.git` names a directory.
    let (_sandbox, here) = repository("pipes-linked", &[("main.tf", WASTE)]);
    fs::rename(here.join(".git"), here.join("git")).unwrap();
    fs::write(here.join(".git"), "gitdir: git\n").unwrap();
    pipe(&here.join("git/commondir"));
    let said = gpulint(&here, &["check"]);
    assert_eq!(said.code, Some(1), "{}", said.all);
    assert_eq!(gpulint(&here, &["diff", "--base", "main"]).code, Some(2));
}

/// Git follows links, and a link may lead to an endless file.
#[test]
fn rules_of_what_git_ignores_that_never_end_hide_nothing() {
    for directory in ["", "x"] {
        for target in ["/dev/zero", "/dev/full", "pipe"] {
            let (_sandbox, here) = repository("ignore", &[("main.tf", WASTE), ("x/main.tf", WASTE)]);
            if target == "pipe" {
                pipe(&here.join(directory).join(".gitignore"));
            } else {
                symlink(target, here.join(directory).join(".gitignore")).unwrap();
            }
            let said = gpulint(&here, &["check", "--format", "concise"]);
            assert_eq!(said.code, Some(1), "{directory}, {target}: {}", said.all);
            assert!(said.all.contains("x/main.tf:2:3"), "{directory}, {target}: {}", said.all);
        }
    }
}
