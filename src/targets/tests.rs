//! Judges the cases of `schema/targets/cases`, which real programs judged, too.

use super::*;
use crate::source::MemoryTree;

/// A case: files before the fix, with a wrong fix, and with a right one.
struct Case {
    name: String,
    language: String,
    texts: Vec<(String, String)>,
    verdicts: String,
}

fn cases() -> Vec<Case> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/targets/cases");
    let mut paths: Vec<_> = std::fs::read_dir(directory).expect("cases").map(|it| it.expect("a case").path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a case is text");
        for section in text.split("\n## ").skip(1) {
            let name = format!("{}: {}", path.display(), section.lines().next().unwrap_or_default());
            let mut case = Case { name, language: String::new(), texts: Vec::new(), verdicts: String::new() };
            for fence in section.split("```").skip(1).step_by(2) {
                let (head, body) = fence.split_once('\n').unwrap_or_default();
                match head.split_once(' ') {
                    Some((language, which)) => {
                        case.language = language.to_owned();
                        case.texts.push((which.to_owned(), body.to_owned()));
                    }
                    None => case.verdicts.push_str(body),
                }
            }
            found.push(case);
        }
    }
    found
}

fn judged(language: TextLanguage, before: &str, after: &str) -> TargetVerdict {
    let sources = SourceFiles::new(MemoryTree::new().with("case", before));
    let file = sources.open("case").expect("the case is in memory");
    let judge = TargetJudge::new(&sources);
    judge.judge_piece(file, language, &Piece { start: 0, before: before.to_owned(), after: after.to_owned() })
}

#[test]
fn cases_are_judged_as_the_tables_judge_them() {
    let mut wrong = Vec::new();
    let mut refused = 0;
    for case in cases() {
        let language = match &*case.language {
            "hcl" => TextLanguage::Terraform,
            "bicep" => TextLanguage::Bicep,
            _ => TextLanguage::Documents,
        };
        let text = |wanted: &'static str| case.texts.iter().filter(move |(which, _)| which == wanted);
        let before = text("before").next().map_or("", |(_, body)| body);
        for which in ["wrong", "right"] {
            for (at, (_, after)) in text(which).enumerate() {
                let verdict = judged(language, before, after);
                let is_refused = matches!(verdict, TargetVerdict::Refused(_));
                let invalid = |judge: &str| {
                    let said = case.verdicts.lines().filter(|line| line.starts_with(which) && line.contains(judge));
                    said.clone().nth(at).is_some_and(|line| line.contains(": invalid"))
                };
                refused += usize::from(is_refused);
                // The judge also refuses what the programs accept without an effect.
                let is_bad = which == "right" || invalid(" tables:") || invalid(" effects:");
                // Here the author's file is refused already.
                let is_old = case.name.ends_with("instance-with-migration");
                if is_refused != (which == "wrong") && is_bad && !is_old {
                    wrong.push(format!("{} {which} {at}: {verdict:?}", case.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused > 40, "only {refused} are refused");
}
