//! Tests the completions in a real shell.

use std::process::Command;

use crate::cli::Place;
use crate::skipped::skip;

/// Loads the completions into bash, lets it complete these words, and returns what it offers.
fn offered(place: &Place, words: &[&str]) -> Option<Vec<String>> {
    let program = env!("CARGO_BIN_EXE_gpulint");
    let directory = std::path::Path::new(program).parent().unwrap();
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let script = format!(
        "PATH=\"{}:$PATH\"\nsource <(gpulint completions bash)\nCOMP_WORDS=({})\nCOMP_CWORD={}\n_clap_complete_gpulint gpulint '{}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        directory.display(),
        quoted.join(" "),
        words.len() - 1,
        words.last().unwrap(),
    );
    let output = Command::new("bash").args(["-c", &script]).current_dir(place.directory()).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn a_shell_offers_rules_and_the_addresses_of_the_directory() {
    let place = Place::new();
    place.write(
        "main.tf",
        "resource \"aws_instance\" \"train\" { instance_type = \"p5.48xlarge\" }\nresource \"aws_instance\" \"many\" {\n  for_each      = toset([\"$(touch made)\", \"b\"])\n  instance_type = \"p5.48xlarge\"\n}\n",
    );
    let Some(found) = offered(&place, &["gpulint", "explain", "aws"]) else {
        return skip("bash is not installed");
    };
    // The keys of `for_each` contain characters that a shell would expand or run.
    assert_eq!(found, ["aws_instance.train"]);
    assert!(!place.directory().join("made").exists());
    let offered = |words: &[&str]| offered(&place, words).unwrap();
    assert_eq!(offered(&["gpulint", "check", "--only", "on-demand-b"]), ["on-demand-batch"]);
    assert_eq!(offered(&["gpulint", "price", "p5.48"]), ["p5.48xlarge"]);
    assert_eq!(offered(&["gpulint", "what-i"]), ["what-if"]);
    assert_eq!(offered(&["gpulint", "help", "exit"]), ["exit-codes"]);
    assert!(offered(&["gpulint", "fit", "meta-llama/Llama-3.1"]).contains(&"meta-llama/Llama-3.1-8B".to_owned()));
}

#[test]
fn files_that_cannot_be_read_offer_nothing_and_print_nothing() {
    let place = Place::new();
    place.write("gpulint.toml", "not = [valid\n");
    if let Some(found) = offered(&place, &["gpulint", "explain", "aws"]) {
        assert_eq!(found.concat(), "");
    }
}
