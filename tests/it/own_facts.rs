//! What pages may ask beyond one resource: where things belong, what refers to what, pods, changes, groups. Each page of
//! `tests/own` is one question, and its examples are the answers.

use std::path::Path;
use std::process::Command;

#[test]
fn pages_that_ask_further_come_out_as_they_say() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own");
    let pages = std::fs::read_dir(&own).unwrap().count();
    let output =
        Command::new(env!("CARGO_BIN_EXE_gpulint")).args(["rules", "test", "--require"]).arg(&own).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains(&format!("{pages} pages")), "{said}");
}
