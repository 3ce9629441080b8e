//! Reads the commands of a script with the values that every run of the script has.

use std::collections::{BTreeMap, BTreeSet};

use super::steps::{RunsWhen, steps};
use super::{Expansion, ShellWord, assignment, expanded};

/// The commands of a script, with those that set variables.
pub(crate) struct CertainScript {
    pub(crate) commands: Vec<Vec<ShellWord>>,
    /// The variables that the script sets to values which depend on the run.
    pub(crate) unsure: BTreeSet<String>,
}

/// Returns the commands of a script. A word contains only values that every run of the script has: a variable that a
/// branch, a loop or a second assignment sets is a hole, and a default is never used.
pub(crate) fn certain_commands(script: &str, room: &mut usize) -> Vec<Vec<ShellWord>> {
    let unsure = &unsure_names(script);
    let (outer, local) = (&|_: &str| None, BTreeMap::new());
    let (has_defaults, keeps_assignments) = (false, false);
    expanded(script, Expansion { outer, local, unsure, has_defaults, keeps_assignments, words: 0, room })
}

/// Returns the same commands with the variables around the script, and the commands that set variables.
pub(crate) fn certain_script<'v>(
    script: &str,
    outer: &dyn Fn(&str) -> Option<&'v str>,
    room: &mut usize,
) -> CertainScript {
    let unsure = unsure_names(script);
    let outer = |name: &str| if unsure.contains(name) { None } else { outer(name) };
    let (local, has_defaults, keeps_assignments) = (BTreeMap::new(), false, true);
    let expansion =
        Expansion { outer: &outer, local, unsure: &unsure, has_defaults, keeps_assignments, words: 0, room };
    CertainScript { commands: expanded(script, expansion), unsure }
}

/// Returns the variables whose values depend on the run.
fn unsure_names(script: &str) -> BTreeSet<String> {
    let (mut all, mut unsure) = (BTreeSet::new(), BTreeSet::new());
    for step in steps(script) {
        let is_sure = step.when == RunsWhen::Always && !step.repeats && step.function.is_none();
        for (name, _) in step.words.iter().filter_map(|word| assignment(word)) {
            if !all.insert(name.to_owned()) || !is_sure {
                unsure.insert(name.to_owned());
            }
        }
    }
    unsure
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::shell::HOLE;

    #[test]
    fn only_values_of_every_run_are_certain() {
        let last = |script: &str| certain_commands(script, &mut 9999).pop().unwrap().pop().unwrap().text;
        let hole = HOLE.to_string();
        assert_eq!(last("T=a\nrun $T"), "a");
        for script in [
            "T=a; T=b; run $T",
            "if x; then T=a; fi; run $T",
            "T=${T:-a}; run $T",
            "run ${T-a}",
            "for T in a b; do :; done; run $T",
            "f() { T=a; }; run $T",
        ] {
            assert_eq!(last(script), hole, "{script}");
        }
    }
}
