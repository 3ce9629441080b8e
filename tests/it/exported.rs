//! Exports the rules of `tests/admission` for each engine. `tests/admission/compare.py` evaluates the policies with real
//! engines, if they are installed.

use std::path::Path;
use std::process::Command;

/// The rules are those that a platform team writes, so each engine must get all of them.
#[test]
fn every_rule_of_the_comparison_is_exported_for_each_engine() {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/admission/rules");
    let count = std::fs::read_dir(&rules).unwrap().count();
    for engine in ["vap", "kyverno", "gatekeeper"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.args(["rules", "export", "--to", engine, "--no-config", "--rules"]).arg(&rules);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{engine}: {said}");
        let policies = String::from_utf8(output.stdout).unwrap();
        let written: Vec<&str> = policies.split("\n---\n#").collect();
        assert_eq!(written.len(), count, "{engine}");
        written.into_iter().for_each(|policy| assert_variables_come_first(engine, policy));
    }
}

/// An engine evaluates a variable only after those that stand before it.
fn assert_variables_come_first(engine: &str, policy: &str) {
    let mut known: Vec<&str> = Vec::new();
    let mut name = "";
    for line in policy.lines() {
        if let Some(next) = line.trim_start().strip_prefix("- name: ") {
            name = next;
        }
        let Some((_, expression)) = line.split_once("xpression: ") else { continue };
        for (at, start) in expression.match_indices("variables.") {
            let rest = &expression[at + start.len()..];
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            assert!(known.contains(&&rest[..end]), "{engine}: {name} uses {} before its definition", &rest[..end]);
        }
        known.push(name);
    }
}
