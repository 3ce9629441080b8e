//! Tests the files in `editors`, and runs `tests/editors`, which controls real editors.
//!
//! `GPULINT_EDITORS_PYTHON` names a Python with the packages in `tests/editors/requirements.txt`.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::skipped::skip;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).unwrap()
}

/// Returns a file without its initial comments.
fn body(name: &str) -> String {
    let text = read(name);
    let is_head = |line: &&str| line.is_empty() || line.starts_with("--") || line.starts_with('#');
    text.lines().skip_while(is_head).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_page_shows_the_files_as_they_are() {
    let page = read("docs/editors.md");
    for name in ["editors/neovim/lsp/gpulint.lua", "editors/helix/languages.toml", "editors/kakoune/gpulint.kak"] {
        let body = body(name);
        assert!(body.lines().count() > 4 && page.contains(&body), "docs/editors.md does not hold {name}");
    }
}

/// All editors must have the same settings, because users search for them.
#[test]
fn the_extension_has_the_settings_of_the_page() {
    let manifest: Value = serde_json::from_str(&read("editors/vscode/package.json")).unwrap();
    let settings = manifest["contributes"]["configuration"]["properties"].as_object().unwrap();
    let page = read("docs/editors.md");
    for (name, setting) in settings {
        let short = name.strip_prefix("gpulint.").unwrap();
        assert!(page.contains(&format!("`{short}`")) || page.contains(&format!("`{name}`")), "{name}");
        for value in setting["enum"].as_array().into_iter().flatten() {
            assert!(page.contains(&format!("`{}`", value.as_str().unwrap())), "{name}: {value}");
        }
        // A setting that starts a program, or that replaces team policy, must not come from an untrusted folder.
        let restricted = &manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"];
        let is_guarded =
            setting["scope"] == "machine" || restricted.as_array().unwrap().iter().any(|it| it == name.as_str());
        assert_eq!(is_guarded, ["path", "config", "render"].contains(&short), "{name}");
    }
    assert_eq!(settings.len(), 7);
    for file in ["editors/jetbrains/gpulint/initializationOptions.json", "editors/jetbrains/gpulint/settings.json"] {
        let text: Value = serde_json::from_str(&read(file)).unwrap();
        let said = text.get("gpulint").unwrap_or(&text).as_object().unwrap();
        assert!(said.keys().all(|it| settings.contains_key(&format!("gpulint.{it}"))), "{file}");
    }
}

/// Returns one number of the last line of pytest: `3 failed, 90 passed, 2 skipped in 9.1s`.
fn number(of: &str, told: &str) -> usize {
    let words: Vec<&str> = told.split([' ', ',', '=']).filter(|it| !it.is_empty()).collect();
    words.windows(2).find(|pair| pair[1] == of).and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
}

#[test]
fn real_editors_show_what_check_says() {
    let Some(python) = std::env::var_os("GPULINT_EDITORS_PYTHON") else {
        return skip("GPULINT_EDITORS_PYTHON names no Python with pytest-lsp");
    };
    let output = Command::new(python)
        .args(["-B", "-m", "pytest", "-q", "-rs", "--color=no", "tests/editors"])
        .current_dir(ROOT)
        .env("GPULINT", env!("CARGO_BIN_EXE_gpulint"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = told.trim_end().rsplit('\n').next().unwrap_or_default().to_owned();
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(number("passed", &last) > 50, "{last}");
    for line in told.lines().filter(|line| line.starts_with("SKIPPED ")) {
        let why = line.rsplit_once(": ").map_or(line, |(_, why)| why);
        skip(why);
    }
}
