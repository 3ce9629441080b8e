//! Tests charts with the built-in engine: `tests/charts/expected.txt` has helm's output for each line of `cases.txt`,
//! and `errors.txt` the lines that helm refuses. `tests/charts/expect.py HELM` creates them with helm.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cli::Place;

/// Creates a chart in which each line is a template. The output is encoded as base64, so that it is always valid YAML.
fn chart(place: &Place, lines: &[&str]) {
    let given = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/charts");
    for name in ["Chart.yaml", "values.yaml"] {
        place.write(&format!("cases/{name}"), &fs::read_to_string(given.join(name)).unwrap());
    }
    place.write("cases/files/a.txt", "one\ntwo\n");
    place.write("cases/files/b.conf", "b: 1");
    place.write("cases/templates/_help.tpl", "{{ define \"help.name\" }}name-{{ .a }}{{ end }}");
    for (number, line) in lines.iter().enumerate() {
        let text = if line.contains("{{- define") || line.contains("{{ block") {
            format!("{{{{- $text := {line:?} -}}}}v: {{{{ tpl $text . | b64enc | quote }}}}\n")
        } else {
            format!(
                "{{{{- define \"case.{number:03}\" -}}}}{line}{{{{- end -}}}}\
                 v: {{{{ include \"case.{number:03}\" . | b64enc | quote }}}}\n"
            )
        };
        place.write(&format!("cases/templates/{number:03}.yaml"), &text);
    }
}

fn decoded(text: &str) -> String {
    let bytes = gpulint::source::from_base64(text.trim_end_matches('=').bytes()).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn templates_become_what_helm_makes_of_them() {
    let expected = include_str!("../charts/expected.txt");
    let cases: Vec<(&str, String)> = expected
        .split("\n\n")
        .map(|block| {
            let mut lines = block.trim_end_matches('\n').split('\n');
            let case = lines.next().unwrap().strip_prefix("> ").unwrap();
            (
                case,
                lines
                    .filter_map(|line| line.strip_prefix("= ").or(line.strip_prefix('=')))
                    .collect::<Vec<_>>()
                    .join("\n"),
            )
        })
        .collect();
    let place = Place::new();
    chart(&place, &cases.iter().map(|(case, _)| *case).collect::<Vec<_>>());
    let printed = place.run_with(&["template", "--no-config", "cases"], "", None);
    let mut wrong = String::new();
    for (number, (case, expected)) in cases.iter().enumerate() {
        let head = format!("# Source: cases/templates/{number:03}.yaml\nv: \"");
        let found = printed.split_once(&head).and_then(|(_, rest)| Some(decoded(rest.split_once('"')?.0)));
        if found.as_ref() != Some(expected) {
            let _ = writeln!(wrong, "{case}\n  helm: {expected:?}\n  ours: {found:?}");
        }
    }
    assert!(cases.len() > 80 && wrong.is_empty(), "{wrong}");
}

#[test]
fn what_helm_refuses_is_told_and_not_rendered() {
    for line in include_str!("../charts/errors.txt").lines() {
        let place = Place::new();
        chart(&place, &[line]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        let output =
            command.current_dir(place.directory()).args(["template", "--no-config", "cases"]).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {told}");
        assert!(told.contains("without rendering") || told.contains("a required value"), "{line}: {told}");
    }
}
