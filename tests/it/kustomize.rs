//! Tests overlays in `tests/overlays`. A `kustomize` block names the directory and has kustomize's own output, one
//! object per line (written by `tests/corpus/overlays.py`). `origins` has the output of `gpulint render --origins`.

use std::process::Command;

use serde_json::Value;

use crate::cli::Place;
use crate::fences;

#[test]
fn overlays_make_what_kustomize_makes() {
    let mut count = 0;
    fences::hold("tests/overlays", |case| {
        count += 1;
        check(case)
    });
    assert!(count > 0, "no case was found");
}

fn check(case: &str) -> String {
    let all = fences::read(case);
    let place = Place::new();
    for fence in all.iter().filter(|fence| !is_expected(fence)) {
        place.write(fence.file.as_deref().unwrap(), &fence.text);
    }
    let mut checked = case.to_owned();
    let objects = |text: &str| -> Vec<Value> { text.lines().map(|line| serde_json::from_str(line).unwrap()).collect() };
    for fence in all.iter().filter(|fence| is_expected(fence)).collect::<Vec<_>>().iter().rev() {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.arg("render").arg(fence.file.as_deref().unwrap()).current_dir(place.directory());
        let origins = fence.language == "origins";
        let output = command.arg(if origins { "--origins" } else { "--json" }).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        if origins {
            checked = fences::replaced(&checked, fence, &text);
            continue;
        }
        assert!(output.status.success(), "{text}\n{case}");
        assert_eq!(objects(&text), objects(&fence.text), "{case}");
    }
    checked
}

fn is_expected(fence: &fences::Fence) -> bool {
    matches!(fence.language.as_str(), "kustomize" | "origins")
}
