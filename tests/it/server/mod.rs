//! Tests `gpulint server` as editors use it.
#![cfg(unix)]

mod client;

use std::fs;

use serde_json::{Value, json};

use crate::cli::Place as Directory;
use client::{Editor, able, range};

const POOL: &str = "resource \"aws_instance\" \"a\" {\n  instance_type = var.machine\n  tags = { team = \"vision\" }\n}\n\
                    provider \"aws\" {\n  region = \"us-east-1\"\n}\n";
const VARIABLES: &str = "variable \"machine\" {\n  default = \"g5.2xlarge\"\n}\n";

fn root() -> Directory {
    let root = Directory::new();
    root.write("main.tf", POOL);
    root.write("variables.tf", VARIABLES);
    root
}

fn rules(diagnostics: &[Value]) -> Vec<&str> {
    let mut rules: Vec<&str> = diagnostics.iter().filter_map(|it| it["code"].as_str()).collect();
    rules.sort_unstable();
    rules
}

#[test]
fn prices_and_findings_are_there_as_soon_as_a_text_is_open() {
    let root = root();
    let mut editor = Editor::start(root.path());
    editor.open("main.tf");
    let told = editor.diagnostics("main.tf", 1);
    assert_eq!(rules(&told), ["missing-auto-shutdown"]);
    let finding = &told[0];
    assert_eq!(finding["source"], "gpulint");
    assert_eq!(finding["severity"], 2);
    assert_eq!(finding["range"], range((0, 0), (0, 27)));
    assert!(finding["codeDescription"]["href"].as_str().unwrap().ends_with("/missing-auto-shutdown.html"));
    assert!(finding["message"].as_str().unwrap().contains(", saves $"), "{finding}");
    assert_eq!(editor.prices("main.tf"), [(0, "$885/month".to_owned())]);
    let told = editor.hover("main.tf", 0, 12).unwrap();
    assert!(told.contains("aws_instance.a") && told.contains("g5.2xlarge") && told.contains("priced"), "{told}");
    // Files of other languages belong to other servers.
    assert_eq!(editor.hover("main.tf", 1, 4), None);
    assert!(editor.leave().success());
}

#[test]
fn what_is_not_saved_counts_in_other_files_too() {
    let root = root();
    let mut editor = Editor::start(root.path());
    editor.open("main.tf");
    editor.diagnostics("main.tf", 1);
    editor.open("variables.tf");
    editor.change("variables.tf", 2, (1, 13), (1, 23), "p5.48xlarge");
    editor.wait(|it| {
        it["method"] == "textDocument/publishDiagnostics" && it["params"]["diagnostics"].to_string().contains("$40,179")
    });
    assert_eq!(editor.prices("main.tf"), [(0, "$40,179/month".to_owned())]);
    // A file that exists only in the editor.
    editor.open_as(
        "more.tf",
        &POOL.replace("\"a\"", "\"b\"").replace("provider \"aws\" {\n  region = \"us-east-1\"\n}\n", ""),
    );
    editor.diagnostics("more.tf", 1);
    assert_eq!(editor.prices("more.tf"), [(0, "$40,179/month".to_owned())]);
    // The file is closed without saving, so the state on disk applies.
    editor.close("more.tf");
    editor.close("variables.tf");
    editor.replace("main.tf", 2, POOL);
    editor.diagnostics("main.tf", 2);
    assert_eq!(editor.prices("main.tf"), [(0, "$885/month".to_owned())]);
}

#[test]
fn settings_count_as_they_are_written() {
    let root = root();
    root.write("gpulint.toml", "");
    let mut editor = Editor::start(root.path());
    editor.open("main.tf");
    assert_eq!(rules(&editor.diagnostics("main.tf", 1)), ["missing-auto-shutdown"]);
    editor.open("gpulint.toml");
    editor.replace("gpulint.toml", 2, "[rules.missing-auto-shutdown]\nlevel = \"error\"\n");
    let told = editor.wait(|it| it["params"]["diagnostics"][0]["severity"] == 1);
    assert_eq!(told["params"]["uri"], editor.uri("main.tf"));
    // An incomplete word is an invalid setting. The error is at its place, and other diagnostics stay.
    editor.replace("gpulint.toml", 3, "[rules.missing-auto-shutdown]\nlevel = \"err\n");
    let told = editor.diagnostics("gpulint.toml", 3);
    assert_eq!(
        (told.len(), &told[0]["severity"], &told[0]["range"]["start"]["line"]),
        (1, &json!(1), &json!(1)),
        "{told:#?}"
    );
    assert_eq!(editor.prices("main.tf").len(), 1);
    editor.replace("gpulint.toml", 4, "ignore = [\"missing-auto-shutdown\"]\n");
    let uri = editor.uri("main.tf");
    editor.wait(|it| it["params"]["diagnostics"] == json!([]) && it["params"]["uri"] == uri);
    assert_eq!(editor.diagnostics("gpulint.toml", 4), [] as [Value; 0]);
    let told = editor.hover("gpulint.toml", 0, 12).unwrap();
    assert!(told.starts_with("# missing-auto-shutdown") && told.contains("Documentation of this rule"), "{told}");
}

/// Returns the result of `check --fix` on the file `main.tf` of a directory.
fn fixed(root: &Directory, more: &[&str]) -> String {
    let copy = Directory::new();
    for file in fs::read_dir(root.path()).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let directory = copy.path().to_str().unwrap().to_owned();
    copy.stdout(&[&["check", "--fix", directory.as_str()], more].concat());
    copy.read("main.tf")
}

#[test]
fn actions_make_what_fixes_make() {
    let root = Directory::new();
    root.write("gpulint.toml", "[labels]\nrequired = [\"team\"]\nvalues = { team = [\"vision\"] }\n");
    let text = "# é𝛼\nresource \"aws_instance\" \"a\" {\n  instance_type = \"g5.2xlarge\" # é𝛼\n}\n\n\
                resource \"aws_instance\" \"b\" {\n  instance_type = \"g5.2xlarge\"\n}\n";
    root.write("main.tf", text);
    let mut editor = Editor::start(root.path());
    editor.open("main.tf");
    let told = editor.diagnostics("main.tf", 1);
    let labels: Vec<&Value> = told.iter().filter(|it| it["code"] == "missing-labels").collect();
    assert_eq!(labels.len(), 2, "{told:#?}");
    let everywhere = range((0, 0), (99, 0));
    // All fixes together are offered only on request.
    let all = editor.actions("main.tf", &everywhere, &["source.fixAll"]);
    assert_eq!(all.len(), 1);
    let made = editor.applied(&all[0], "main.tf", text).unwrap();
    assert_eq!(made, fixed(&root, &[]));
    assert_ne!(made, text);
    // A single fix.
    let quick = editor.actions("main.tf", &labels[0]["range"], &[]);
    assert!(quick.iter().all(|it| it["kind"] == "quickfix"), "{quick:#?}");
    let fix = quick.iter().find(|it| it["title"].as_str().unwrap().starts_with("Fix: ")).unwrap();
    assert_eq!(fix["isPreferred"], true);
    let made = editor.applied(fix, "main.tf", text).unwrap();
    assert_eq!(made.matches("vision").count(), 1, "{made}");
    // The action adds a suppression comment, which equals that of `--add-ignore` except for the reason.
    let accept = quick.iter().find(|it| it["title"].as_str().unwrap().starts_with("Suppress missing-labels")).unwrap();
    let made = editor.applied(accept, "main.tf", text).unwrap();
    assert!(made.contains("# gpulint: ignore[missing-labels] -- "), "{made}");
    editor.replace("main.tf", 2, &made);
    let after = editor.diagnostics("main.tf", 2);
    assert_eq!(after.iter().filter(|it| it["code"] == "missing-labels").count(), 1);
    // The finding no longer exists, so its fix must not overwrite anything.
    editor.replace("main.tf", 3, "# nothing\n");
    assert!(editor.applied(fix, "main.tf", "# nothing\n").is_err());
}

#[test]
fn who_asks_for_no_edits_later_gets_them_at_once() {
    let root = root();
    root.write("gpulint.toml", "[labels]\nrequired = [\"owner\"]\nvalues = { owner = [\"ml\"] }\n");
    let mut editor = Editor::start_with(root.path(), &json!({ "capabilities": {} }), "");
    editor.open("main.tf");
    assert!(rules(&editor.diagnostics("main.tf", 1)).contains(&"missing-labels"));
    let actions = editor.actions("main.tf", &range((0, 0), (99, 0)), &[]);
    let fix = actions.iter().find(|it| it["title"].as_str().unwrap().starts_with("Fix: ")).unwrap();
    let edits = &fix["edit"]["changes"][editor.uri("main.tf")];
    assert!(edits.to_string().contains("owner"), "{fix:#}");
}

#[test]
fn columns_are_counted_as_was_agreed() {
    let text = "resource \"aws_instance\" \"𝛼é\" { /* 𝛼é */ instance_type = \"g5.2xlarge\" }\n";
    for (offered, agreed, end) in [
        (json!(["utf-8", "utf-16"]), "utf-8", text.len() - 1),
        (json!(["utf-16"]), "utf-16", text.encode_utf16().count() - 1),
        (json!(["utf-32"]), "utf-32", text.chars().count() - 1),
        (Value::Null, "utf-16", text.encode_utf16().count() - 1),
    ] {
        let root = Directory::new();
        root.write("main.tf", text);
        let mut capabilities = able();
        capabilities["general"]["positionEncodings"] = offered;
        let mut editor = Editor::start_with(root.path(), &json!({ "capabilities": capabilities }), "");
        assert_eq!(editor.greeting["capabilities"]["positionEncoding"], agreed);
        editor.open("main.tf");
        editor.diagnostics("main.tf", 1);
        let params = json!({ "textDocument": { "uri": editor.uri("main.tf") }, "range": range((0, 0), (9, 0)) });
        let hints = editor.ask("textDocument/inlayHint", params).unwrap();
        assert_eq!(hints[0]["position"]["character"], end, "{agreed}");
    }
}

#[test]
fn of_a_row_of_keystrokes_the_last_is_told_and_none_before_it_afterwards() {
    let root = root();
    let mut editor = Editor::start(root.path());
    editor.open("main.tf");
    editor.diagnostics("main.tf", 1);
    for version in 2..=200 {
        editor.change("main.tf", version, (0, 0), (0, 0), "#\n");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let told = editor.diagnostics("main.tf", 200);
    assert_eq!(told[0]["range"], range((199, 0), (199, 27)));
    assert_eq!(editor.prices("main.tf"), [(199, "$885/month".to_owned())]);
    let versions: Vec<i64> = editor.told_of("main.tf").iter().filter_map(|it| it["version"].as_i64()).collect();
    assert!(versions.is_sorted() && versions.iter().all(|it| *it <= 200), "{versions:?}");
}

#[test]
fn addresses_and_folders_may_be_unusual() {
    let outer = Directory::new();
    for name in ["a b+c#d", "inside/é"] {
        outer.write(&format!("{name}/main.tf"), POOL);
        outer.write(&format!("{name}/variables.tf"), VARIABLES);
    }
    std::os::unix::fs::symlink(outer.path().join("a b+c#d"), outer.path().join("link")).unwrap();
    for name in ["a b+c#d", "link"] {
        let mut editor = Editor::start(&outer.path().join(name));
        editor.open("main.tf");
        assert_eq!(rules(&editor.diagnostics("main.tf", 1)), ["missing-auto-shutdown"], "{name}");
        assert_eq!(editor.prices("main.tf").len(), 1, "{name}");
    }
    // Of two nested folders, one result is for both.
    let folder = |name: &str| json!({ "uri": format!("file://{}", outer.path().join(name).display()), "name": name });
    let both = json!({ "capabilities": able(), "workspaceFolders": [folder("inside"), folder("inside/é")] });
    let mut editor = Editor::start_with(&outer.path().join("inside"), &both, "");
    let uri = format!("file://{}", outer.path().join("inside/%C3%A9/main.tf").display());
    editor.wait(|it| it["method"] == "textDocument/publishDiagnostics" && it["params"]["uri"] == uri);
    // If a folder is removed, its diagnostics are removed.
    let gone = json!({ "event": { "added": [], "removed": [folder("inside")] } });
    editor.say("workspace/didChangeWorkspaceFolders", gone);
    editor.wait(|it| it["params"]["uri"] == uri && it["params"]["diagnostics"] == json!([]));
    // Without a workspace folder, the folder of the file is used.
    let none = json!({ "capabilities": able(), "rootUri": null });
    let mut editor = Editor::start_with(&outer.path().join("inside/é"), &none, "");
    editor.say(
        "textDocument/didOpen",
        json!({ "textDocument": { "uri": uri, "languageId": "", "version": 7, "text": POOL } }),
    );
    editor.wait(|it| it["params"]["uri"] == uri && it["params"]["version"] == 7);
}

#[test]
fn what_changes_on_the_disk_is_seen_when_the_editor_says_so() {
    let root = root();
    let mut editor = Editor::start(root.path());
    editor.open("main.tf");
    editor.diagnostics("main.tf", 1);
    root.write("variables.tf", &VARIABLES.replace("g5.2xlarge", "p5.48xlarge"));
    editor.say("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    editor.wait(|it| it["params"]["diagnostics"].to_string().contains("$40,179"));
    fs::remove_file(root.path().join("variables.tf")).unwrap();
    editor.forget();
    editor.say("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    // A machine whose type is unknown gives no finding about cost, but a message.
    editor.wait(|it| {
        it["method"] == "textDocument/publishDiagnostics"
            && !it["params"]["diagnostics"].to_string().contains("$40,179")
    });
    let prices = editor.prices("main.tf");
    assert!(prices.iter().all(|(_, label)| label.starts_with("? ")), "{prices:?}");
}

#[test]
fn nothing_is_started_for_a_folder_that_nobody_trusts() {
    let root = Directory::new();
    root.write("gpulint.toml", "render = true\n");
    root.write("chart/Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n");
    root.write(
        "chart/templates/pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec:\n  containers:\n    - name: a\n      resources: { limits: { \
         nvidia.com/gpu: 1 } }\n",
    );
    let programs = Directory::new();
    for name in ["helm", "kustomize", "kubectl"] {
        let note = programs.path().join("started");
        programs.write(name, &format!("#!/bin/sh\necho {name} >> {}\nexit 1\n", note.display()));
        let path = programs.path().join(name);
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let path = programs.path().to_str().unwrap().to_owned();
    let started = || programs.path().join("started").exists();
    let mut editor = Editor::start_with(root.path(), &json!({ "capabilities": able() }), &path);
    editor.open("chart/templates/pod.yaml");
    editor.diagnostics("chart/templates/pod.yaml", 1);
    assert!(!started());
    // The user of the editor may enable rendering.
    let wants = json!({ "capabilities": able(), "initializationOptions": { "render": true } });
    let mut editor = Editor::start_with(root.path(), &wants, &path);
    editor.open("chart/templates/pod.yaml");
    editor.wait(|it| it["method"] == "textDocument/publishDiagnostics");
    assert!(started());
}

#[test]
fn preferences_say_what_is_shown() {
    let root = root();
    let of = |options: &Value, capabilities: &Value| {
        let greeting = json!({ "capabilities": capabilities, "initializationOptions": options });
        let mut editor = Editor::start_with(root.path(), &greeting, "");
        editor.open("main.tf");
        let told = editor.diagnostics("main.tf", 1).len();
        let offered = editor.greeting["capabilities"].clone();
        let ask = json!({ "textDocument": { "uri": editor.uri("main.tf") } });
        let lenses = editor.ask("textDocument/codeLens", ask).unwrap().as_array().unwrap().len();
        (told, editor.prices("main.tf").len(), lenses, offered.get("codeLensProvider").is_some())
    };
    assert_eq!(of(&json!({}), &able()), (1, 1, 0, false));
    assert_eq!(of(&json!({ "level": "error" }), &able()), (0, 1, 0, false));
    assert_eq!(of(&json!({ "gpulint": { "prices": "lens" } }), &able()), (1, 0, 1, true));
    assert_eq!(of(&json!({ "prices": "off" }), &able()), (1, 0, 0, false));
    // An editor that shows code lenses and no inlay hints.
    assert_eq!(of(&Value::Null, &json!({ "textDocument": { "codeLens": {} } })), (1, 0, 1, true));
    // A variable file.
    root.write("env/prod.tfvars", "machine = \"p5.48xlarge\"\n");
    let wants = json!({ "capabilities": able(), "initializationOptions": { "environment": "env/prod.tfvars" } });
    let mut editor = Editor::start_with(root.path(), &wants, "");
    editor.open("main.tf");
    editor.diagnostics("main.tf", 1);
    assert_eq!(editor.prices("main.tf"), [(0, "$40,179/month".to_owned())]);
    // An invalid option is reported, and the others apply.
    let wrong = json!({ "capabilities": able(), "initializationOptions": { "prices": "gold" } });
    let mut editor = Editor::start_with(root.path(), &wrong, "");
    editor.wait(|it| it["params"]["message"].as_str().is_some_and(|it| it.contains("ignores the editor's settings")));
    editor.open("main.tf");
    editor.diagnostics("main.tf", 1);
}

#[test]
fn pages_of_rules_are_proved_as_they_are_written() {
    let root = root();
    root.write("gpulint.toml", "rules-dir = [\"rules\"]\n");
    let page = "---\nname: no-aws\ngroup: other\nlayer: utilization\nlevel: warning\nwhen: machine == \"g5.2xlarge\"\n\
                message: not this one\n---\n# no-aws\n\nNot here.\n\n## Examples\n\n```hcl\n\
                resource \"aws_instance\" \"a\" { # <- reported\n  instance_type = \"g5.2xlarge\"\n}\n```\n";
    root.write("rules/no-aws.md", page);
    let mut editor = Editor::start(root.path());
    editor.open("rules/no-aws.md");
    editor.open("main.tf");
    let told = editor.diagnostics("main.tf", 1);
    assert!(rules(&told).contains(&"no-aws"), "{told:#?}");
    // A changed condition makes the example fail, and removes the finding.
    editor.replace("rules/no-aws.md", 2, &page.replace("== \"g5.2xlarge\"", "== \"g6.2xlarge\""));
    let told = editor.diagnostics("rules/no-aws.md", 2);
    assert!(told.iter().any(|it| it["message"].as_str().unwrap().contains("`reported` is missing")), "{told:#?}");
    assert_eq!(told[0]["range"], range((14, 0), (14, 6)));
    // A fact that does not exist.
    editor.replace("rules/no-aws.md", 3, &page.replace("when: machine", "when: maschine"));
    let told = editor.diagnostics("rules/no-aws.md", 3);
    assert!(told.iter().any(|it| it["message"].as_str().unwrap().contains("maschine")), "{told:#?}");
    let at =
        json!({ "textDocument": { "uri": editor.uri("rules/no-aws.md") }, "position": { "line": 5, "character": 9 } });
    let offered = editor.ask("textDocument/completion", at).unwrap();
    let offered = |label: &str| offered.as_array().unwrap().iter().any(|it| it["label"] == label);
    assert!(offered("machine") && offered("accelerator_count"));
    editor.replace("rules/no-aws.md", 4, page);
    editor.diagnostics("rules/no-aws.md", 4);
    let told = editor.hover("rules/no-aws.md", 5, 8).unwrap();
    assert!(told.contains("Machine type as the cloud bills it"), "{told}");
}

#[test]
fn it_ends_when_the_editor_does() {
    let root = root();
    assert!(Editor::start(root.path()).leave().success());
    assert_eq!(Editor::start(root.path()).vanish().code(), Some(1));
    let mut editor = Editor::start(root.path());
    editor.say("exit", Value::Null);
    assert_eq!(editor.end().code(), Some(1));
    // Before the initialization.
    let mut editor = Editor::start(root.path());
    let refused = editor.ask("textDocument/rename", json!({})).unwrap_err();
    assert!(refused.contains("textDocument/rename"), "{refused}");
    editor.say("textDocument/didChange", json!({ "nonsense": 1 }));
    editor.say("textDocument/didClose", json!({ "textDocument": { "uri": "untitled:a" } }));
    editor.open_as("main.tf", POOL);
    editor.diagnostics("main.tf", 1);
}

#[test]
fn a_question_that_nobody_wants_answered_any_more_is_let_go() {
    let root = root();
    let mut editor = Editor::start(root.path());
    editor.open("main.tf");
    let uri = editor.uri("main.tf");
    let asked =
        editor.put("textDocument/inlayHint", json!({ "textDocument": { "uri": uri }, "range": range((0, 0), (9, 0)) }));
    editor.say("$/cancelRequest", json!({ "id": asked }));
    // The request was already answered, or is refused: exactly one of the two.
    match editor.answer(asked) {
        Ok(hints) => assert_eq!(hints.as_array().unwrap().len(), 1),
        Err(why) => assert_eq!(why, "cancelled"),
    }
    let nowhere =
        json!({ "textDocument": { "uri": "file:///nowhere/x.tf" }, "position": { "line": 0, "character": 0 } });
    assert_eq!(editor.ask("textDocument/hover", nowhere).unwrap(), Value::Null);
}

#[test]
fn a_file_that_is_not_open_can_be_asked_about_and_fixed() {
    let root = root();
    root.write("gpulint.toml", "[labels]\nrequired = [\"owner\"]\nvalues = { owner = [\"ml\"] }\n");
    let mut editor = Editor::start(root.path());
    editor.diagnostics_of_closed("main.tf");
    assert_eq!(editor.prices("main.tf").len(), 1);
    assert!(editor.hover("main.tf", 0, 3).unwrap().contains("aws_instance.a"));
    let actions = editor.actions("main.tf", &range((0, 0), (99, 0)), &[]);
    let fix = actions.iter().find(|it| it["title"].as_str().unwrap().starts_with("Fix: ")).unwrap();
    assert!(editor.applied(fix, "main.tf", POOL).unwrap().contains("owner"));
}

#[test]
fn one_file_is_told_under_one_address() {
    let outer = Directory::new();
    outer.write("a+b/main.tf", POOL);
    outer.write("a+b/variables.tf", VARIABLES);
    let mut editor = Editor::start(&outer.path().join("a+b"));
    assert_eq!(editor.diagnostics_of_closed("main.tf").len(), 1);
    let usual = editor.uri("main.tf");
    let other = usual.replace("a+b", "a%2Bb").replace("main", "m%61in");
    let item = json!({ "uri": other, "languageId": "", "version": 1, "text": POOL });
    editor.say("textDocument/didOpen", json!({ "textDocument": item }));
    editor.wait(|it| it["params"]["uri"] == usual && it["params"]["diagnostics"] == json!([]));
    editor.wait(|it| it["params"]["uri"] == other && it["params"]["version"] == 1);
    editor.say("textDocument/didClose", json!({ "textDocument": { "uri": other } }));
    editor.wait(|it| it["params"]["uri"] == other && it["params"]["diagnostics"] == json!([]));
    let told = editor.wait(|it| it["params"]["uri"] == usual);
    assert_eq!(told["params"]["diagnostics"].as_array().unwrap().len(), 1);
}

#[test]
fn a_call_of_a_module_has_the_price_of_what_it_makes() {
    let root = Directory::new();
    root.write("modules/pool/main.tf", POOL);
    root.write("modules/pool/variables.tf", VARIABLES);
    root.write("main.tf", "module \"one\" {\n  source = \"./modules/pool\"\n}\nmodule \"two\" {\n  source = \"./modules/pool\"\n  count = 2\n}\n");
    let mut editor = Editor::start(root.path());
    editor.open("main.tf");
    let expected = [(0, "$885/month".to_owned()), (3, "$1,770/month for 2".to_owned())];
    assert_eq!(editor.prices("main.tf"), expected);
    // After an edit in another root, the blocks of this root are the cached ones.
    editor.open("modules/pool/variables.tf");
    editor.change("modules/pool/variables.tf", 2, (1, 13), (1, 23), "p5.48xlarge");
    editor.diagnostics("modules/pool/variables.tf", 2);
    assert_eq!(editor.prices("main.tf")[1].1, "$80,358/month for 2");
    let told = editor.hover("main.tf", 3, 9).unwrap();
    assert!(told.starts_with("```text\nmodule.two[0].aws_instance.a\n\n  "), "{told}");
}

/// A document that would need gigabytes is reported like any other, and so are the messages after an invalid one.
#[test]
fn neither_a_bomb_nor_an_invalid_message_ends_the_session() {
    let root = root();
    let mut editor = Editor::start(root.path());
    let mut bomb = "var s0 = 'aaaaaaaaaaaaaaaa'\n".to_owned();
    for number in 1..=26 {
        let before = number - 1;
        bomb += &format!("var s{number} = '${{s{before}}}${{s{before}}}'\n");
    }
    bomb += "resource vm 'Microsoft.Compute/virtualMachines@2023-03-01' = {\n  name: s26\n  location: 'eastus'\n  \
             properties: { hardwareProfile: { vmSize: 'Standard_NC24ads_A100_v4' } }\n}\n";
    editor.open_as("bomb.bicep", &bomb);
    let told = editor.diagnostics("bomb.bicep", 1);
    assert!(rules(&told).contains(&"unreadable"), "{told:?}");
    for bytes in [
        "Content-Length: 107374182400\r\n\r\n{}",
        "Content-Length: -1\r\n\r\n{}",
        "Content-Type: none\r\n\r\n{}",
        "Content-Length: 2\r\n\r\n[[",
    ] {
        editor.send_bytes(bytes.as_bytes());
    }
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    editor.send_bytes(format!("Content-Length: {}\r\n\r\n{deep}", deep.len()).as_bytes());
    editor.open("main.tf");
    assert_eq!(rules(&editor.diagnostics("main.tf", 1)), ["missing-auto-shutdown"]);
    assert!(editor.leave().success());
}
