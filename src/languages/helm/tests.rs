use crate::source::{MemoryTree, SourceFiles, Span};

use super::{Cluster, Release, Rendering, load, render};

fn release() -> Release {
    Release { name: "r".into(), namespace: "n".into(), cluster: Cluster::default(), with_tests: false }
}

fn rendered(files: &[(&str, &str)]) -> (SourceFiles, Result<Rendering, String>) {
    let tree = MemoryTree::new().with("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n");
    let tree = files.iter().fold(tree, |tree, (path, text)| tree.with(&format!("c/{path}"), *text));
    let sources = SourceFiles::new(tree);
    let done = load(&sources, "c").and_then(|chart| render(&sources, &chart, &[], &release()));
    (sources, done)
}

/// Returns the text of the only document.
fn text(template: &str, values: &str) -> String {
    let (_, done) = rendered(&[("templates/a.yaml", template), ("values.yaml", values)]);
    let done = done.unwrap();
    assert!(done.failed.is_empty(), "{:?}", done.failed);
    done.documents.iter().map(|document| document.text.as_str()).collect()
}

fn refusal(template: &str) -> String {
    let (_, done) = rendered(&[("templates/a.yaml", template)]);
    match done {
        Ok(done) => done.failed.first().map(|(_, why)| why.clone()).unwrap_or_default(),
        Err(why) => why,
    }
}

/// Returns true if the message reports an exceeded limit.
fn is_limit(why: &str) -> bool {
    ["exceeds the step limit", "exceeds the size limit", "nested too deeply"].iter().any(|limit| why.contains(limit))
}

#[test]
fn templates_that_never_end_are_ended() {
    for template in [
        "{{ define \"a\" }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}",
        "{{ define \"a\" }}{{ template \"a\" . }}{{ end }}{{ template \"a\" . }}",
        "{{ define \"t\" }}{{ tpl \"{{ include \\\"t\\\" . }}\" . }}{{ end }}{{ include \"t\" . }}",
        "{{ range until 100000 }}{{ range until 100000 }}x{{ end }}{{ end }}",
        "{{ range until 2000000000 }}x{{ end }}",
        "{{ range 9000000000000000000 }}x{{ end }}",
    ] {
        let start = std::time::Instant::now();
        assert!(is_limit(&refusal(template)), "{template}: {}", refusal(template));
        assert!(start.elapsed().as_secs() < 20, "{template}");
    }
}

#[test]
fn templates_that_grow_without_end_are_ended() {
    for template in [
        "{{ $x := \"xxxxxxxxxx\" }}{{ range until 100 }}{{ $x = print $x $x }}{{ end }}{{ $x }}",
        "{{ repeat 2000000000 \"x\" }}",
        "{{ $l := list 1 }}{{ range until 100 }}{{ $l = concat $l $l }}{{ end }}",
        "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}{{ toYaml $d }}",
        "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}{{ $d }}",
        "{{ $l := list }}{{ range until 1000 }}{{ $l = list $l }}{{ end }}",
        "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}{{ deepCopy $d }}",
    ] {
        assert!(is_limit(&refusal(template)), "{template}: {}", refusal(template));
    }
}

/// Mappings that contain the previous mapping twice: a few bytes exceed any memory when they are walked.
#[test]
fn values_that_double_are_read_by_no_function() {
    let doubled = "{{ $d := dict \"a\" \"x\" }}{{ $e := dict \"a\" \"x\" }}{{ range until 60 }}{{ $d = dict \"a\" $d \"b\" $d }}\
                   {{ $e = dict \"a\" $e \"b\" $e }}{{ end }}";
    for read in [
        "{{ $d }}",
        "{{ $d | toJson }}",
        "{{ $d | toYaml }}",
        "{{ $d | toToml }}",
        "{{ deepCopy $d }}",
        "{{ cat $d }}",
        "{{ print $d }}",
        "{{ printf \"%v\" $d }}",
        "{{ toString $d }}",
        "{{ quote $d }}",
        "{{ deepEqual $d $e }}",
        "{{ has $d (list $e) }}",
        "{{ uniq (list $d $e) }}",
        "{{ without (list $d) $e }}",
        "{{ merge $d $e }}",
        "{{ dict $d 1 }}",
        "{{ join \",\" (list $d) }}",
        "{{ html $d }}",
    ] {
        let start = std::time::Instant::now();
        assert!(refusal(&format!("{doubled}{read}")).contains("exceeds the size limit"), "{read}");
        assert!(start.elapsed().as_secs() < 20, "{read}");
    }
    assert_eq!(text(&format!("{doubled}a: {{{{ len $d }}}} {{{{ kindOf $d }}}}"), ""), "a: 2 map\n");
}

#[test]
fn functions_pay_for_what_they_read_and_make() {
    let much = "{{ $t := repeat 8000000 \"x,\" }}";
    let lines = "{{ $t := repeat 100000 \"x\" }}{{ $l := list }}{{ range until 200 }}{{ $l = append $l (printf \"%s%d\" $t .) }}{{ end }}";
    for template in [
        format!("{much}{{{{ range until 100000 }}}}{{{{ $y := contains \"xy\" $t }}}}{{{{ end }}}}"),
        format!("{much}{{{{ range until 100000 }}}}{{{{ $y := hasSuffix \"xy\" $t }}}}{{{{ end }}}}"),
        format!("{lines}{{{{ range until 100000 }}}}{{{{ $y := has $t $l }}}}{{{{ end }}}}"),
        format!("{lines}{{{{ range until 100000 }}}}{{{{ $y := uniq $l }}}}{{{{ end }}}}"),
        format!("{lines}{{{{ range until 100000 }}}}{{{{ $y := eq $t (first $l) }}}}{{{{ end }}}}"),
        format!("{much}{{{{ splitList \",\" $t | len }}}}"),
        format!("{much}{{{{ splitList \"\" $t | len }}}}"),
        format!("{much}{{{{ split \",\" $t | len }}}}"),
        format!("{much}{{{{ regexFindAll \"x\" $t -1 | len }}}}"),
        format!("{much}{{{{ fromYaml (printf \"a: [%s]\" $t) | len }}}}"),
        format!("{much}{{{{ tpl (replace \"x\" \"{{{{.}}}}\" $t) 1 }}}}"),
        "{{ $p := repeat 20000 \"%9999d\" }}{{ printf $p 1 }}".to_owned(),
        "{{ $t := repeat 100000 \"a \" }}{{ wrapWith 1 (repeat 10000 \"b\") $t }}".to_owned(),
        "{{ join (repeat 1000000 \"b\") (until 100000) }}".to_owned(),
        "{{ regexReplaceAll \"a\" (repeat 1000000 \"a\") (repeat 1000 \"$0\") }}".to_owned(),
        "{{ $t := repeat 1000000 \"ab\" }}{{ regexMatch \"(a|b|ab){1,200}(x{1,50}){1,20}z\" $t }}".to_owned(),
        "{{ range until 300000 }}---\na: 1\n{{ end }}".to_owned(),
    ] {
        let start = std::time::Instant::now();
        assert!(is_limit(&refusal(&template)), "{template}");
        assert!(start.elapsed().as_secs() < 30, "{template}");
    }
}

#[test]
fn long_chains_of_mappings_come_apart() {
    let chain =
        "{{ $d := dict }}{{ range until 20000 }}{{ $n := dict }}{{ $_ := set $d \"n\" $n }}{{ $d = $n }}{{ end }}a: 1";
    assert_eq!(text(chain, "").trim(), "a: 1");
}

#[test]
fn deep_templates_are_refused_and_not_run() {
    let deep = format!("{}x{}", "{{ if true }}".repeat(5_000), "{{ end }}".repeat(5_000));
    assert!(refusal(&deep).contains("deep"), "{}", refusal(&deep));
    let parentheses = format!("{{{{ {}1{} }}}}", "(".repeat(5_000), ")".repeat(5_000));
    assert!(refusal(&parentheses).contains("deep"), "{}", refusal(&parentheses));
    let many = format!(
        "{}{}",
        "{{ if true }}x{{ else if false }}y".to_owned() + &"{{ else if false }}y".repeat(5_000),
        "{{ end }}"
    );
    assert!(refusal(&many).contains("deep"), "{}", refusal(&many));
}

#[test]
fn what_is_not_known_is_a_hole_and_the_rest_is_known() {
    let made = text("a: {{ randAlphaNum 5 }}\nb: {{ .Values.b }}\nc: {{ now | unixEpoch | quote }}\n", "b: 2");
    assert_eq!(made, "a: ${randAlphaNum}\nb: 2\nc: \"${date}\"\n");
    let made = text("a: {b: {{ randAlphaNum 5 }}, c: [1, {{ now }}]}\n", "");
    assert_eq!(made, "a: {b: \"${randAlphaNum}\", c: [1, \"${now}\"]}\n");
}

#[test]
fn both_ways_of_an_unknown_condition_are_taken() {
    let condition = "{{ if lookup \"v1\" \"Secret\" \"n\" \"s\" }}";
    assert_eq!(text(&format!("a: {condition}1{{{{ else }}}}1{{{{ end }}}}\n"), ""), "a: 1\n");
    assert_eq!(text(&format!("a: {condition}1{{{{ else }}}}2{{{{ end }}}}\n"), ""), "a: ${lookup Secret s}\n");
    let one_of_two = format!("{condition}a: 1{{{{ else }}}}a: 2{{{{ end }}}}\n");
    let (_, done) = rendered(&[("templates/a.yaml", &one_of_two)]);
    assert_eq!(
        done.unwrap().undecided.iter().map(|(_, it)| &*it.why).collect::<Vec<_>>(),
        ["`lookup` reads from a cluster"]
    );
    let (_, done) = rendered(&[("templates/a.yaml", &format!("a: 1\n{condition}\nb: 2\n{{{{ end }}}}\n"))]);
    let done = done.unwrap();
    assert!(done.documents[0].text.contains("b: 2") && done.documents[0].doubts.len() == 1, "{done:?}");
    let variable = format!("{{{{ $x := 1 }}}}{condition}{{{{ $x = 2 }}}}{{{{ end }}}}a: {{{{ $x }}}}\n");
    assert_eq!(text(&variable, ""), "a: ${lookup Secret s}\n");
}

#[test]
fn an_unknown_mapping_leaves_the_document_readable() {
    let made = text("a:\n  {{- toYaml (lookup \"v1\" \"X\" \"\" \"\") | nindent 2 }}\nb: 1\n", "");
    assert_eq!(made, "a: ${lookup X}\nb: 1\n");
    let made = text("a:\n  c: 1\n  {{- toYaml (lookup \"v1\" \"X\" \"\" \"\") | nindent 2 }}\nb: 1\n", "");
    assert_eq!(made.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>(), ["a:", "  c: 1", "b: 1"]);
}

#[test]
fn every_part_leads_back_to_the_line_that_a_person_changes() {
    let template = "kind: X\nn: {{ .Values.gpu.count }}\nq: {{ .Values.name | quote }}\nr:\n  {{- toYaml .Values.gpu | nindent 2 }}\ni: {{ include \"c.x\" . }}\n";
    let values = "name: foo\ngpu:\n  count: 4\n  type: \"A100\"\n";
    let helper = "{{ define \"c.x\" }}\n{{- .Values.name }}-x\n{{- end }}\n";
    let (sources, done) =
        rendered(&[("templates/a.yaml", template), ("values.yaml", values), ("templates/_h.tpl", helper)]);
    let document = done.unwrap().documents.remove(0);
    assert_eq!(document.text, "kind: X\nn: 4\nq: \"foo\"\nr:\n  count: 4\n  type: A100\ni: foo-x\n");
    let at = |wanted: &str| document.text.find(wanted).unwrap();
    let file = sources.derive("", document.text.clone(), document.segments.clone());
    let place = |from: usize, length: usize| {
        let found = sources.locate(Span::new(file, from, from + length));
        format!("{}:{}:{}", found.path, found.line, found.column)
    };
    assert_eq!(place(at("kind"), 4), "c/templates/a.yaml:1:1");
    assert_eq!(place(at("n: 4") + 3, 1), "c/values.yaml:3:10");
    assert_eq!(place(at("foo\""), 3), "c/values.yaml:1:7");
    assert_eq!(place(at("  count") + 2, 5), "c/values.yaml:3:3");
    assert_eq!(place(at("A100"), 4), "c/values.yaml:4:10");
    assert_eq!(place(at("i: "), 1), "c/templates/a.yaml:6:1");
    assert_eq!(place(at("foo-x"), 3), "c/values.yaml:1:7");
    assert_eq!(place(at("-x"), 2), "c/templates/_h.tpl:2:20");
    // The number is written literally, so a fix can replace it.
    let count = at("n: 4") + 3;
    let edit = sources.editable(Span::new(file, count, count + 1)).unwrap();
    assert_eq!(sources.snippet(edit), "4");
}

#[test]
fn values_of_inner_charts_are_layered() {
    let files = [
        (
            "Chart.yaml",
            "apiVersion: v2\nname: c\nversion: 0.1.0\ndependencies:\n- {name: in, version: 0.1.0, condition: in.enabled}\n- {name: in, version: 0.1.0, alias: two, import-values: [{child: give, parent: got}]}\n",
        ),
        ("values.yaml", "global: {g: 1}\nin: {enabled: true, a: 5}\ntwo: {a: 6, num: null}\n"),
        ("charts/in/Chart.yaml", "apiVersion: v2\nname: in\nversion: 0.1.0\n"),
        ("charts/in/values.yaml", "a: 0\nb: 7\nnum: 1\ngive: {x: 9}\n"),
        ("charts/in/templates/a.yaml", "{{ .Chart.Name }}: {{ toJson .Values }}\n"),
        ("templates/a.yaml", "got: {{ .Values.got.x }}\n"),
    ];
    let (_, done) = rendered(&files);
    let all: Vec<String> = done.unwrap().documents.into_iter().map(|it| it.text).collect();
    let inner = "\"b\":7,\"give\":{\"x\":9},\"global\":{\"g\":1},\"num\":1";
    assert_eq!(
        all,
        [
            format!("in: {{\"a\":5,\"b\":7,\"enabled\":true,{}}}\n", inner.trim_start_matches("\"b\":7,")),
            format!("two: {{\"a\":6,{}}}\n", inner.trim_end_matches(",\"num\":1")),
            "got: 9\n".to_owned(),
        ]
    );
}

#[test]
fn a_chart_that_is_not_at_hand_leaves_the_rest_known() {
    let files = [
        (
            "Chart.yaml",
            "apiVersion: v2\nname: c\nversion: 0.1.0\ndependencies:\n- {name: common, version: 1.x.x, repository: 'oci://example'}\n",
        ),
        ("templates/a.yaml", "name: {{ include \"common.name\" . }}\nnum: {{ .Values.num }}\n"),
        ("values.yaml", "num: 3"),
    ];
    let (_, done) = rendered(&files);
    let done = done.unwrap();
    assert_eq!(done.documents[0].text, "name: ${include common.name}\nnum: 3\n");
    assert_eq!(done.missing[0].why, "the chart `common` is not in its directory");
    assert!(done.missing[0].name == "common" && done.includes_missing);
}
