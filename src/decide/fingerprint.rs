//! Computes the stable identity of a finding: its rule and subject, without the line.

use std::collections::HashMap;

use super::Decided;
use crate::inventory::Inventory;
use crate::rules::Finding;
use crate::source::SourceFiles;

/// Returns a fingerprint of each finding: of its rule, file and resource, and of a counter if these are equal.
pub fn fingerprints(findings: &[Decided], sources: &SourceFiles, inventory: &Inventory) -> Vec<String> {
    let mut turns: HashMap<(String, String, String), usize> = HashMap::new();
    let identity = |decided: &Decided| {
        let key = identity(&decided.finding, sources, inventory);
        let turn = turns.entry(key.clone()).or_default();
        *turn += 1;
        hash([&key.0, &key.1, &key.2, &turn.to_string()])
    };
    findings.iter().map(identity).collect()
}

/// Returns the basis of a fingerprint: rule, file and address.
pub(super) fn identity(finding: &Finding, sources: &SourceFiles, inventory: &Inventory) -> (String, String, String) {
    // A total keeps its identity if its most expensive part moves to another file.
    let path = if finding.total.is_some() { String::new() } else { sources.path_of(finding.span) };
    (finding.rule.clone(), path, finding.address(inventory).unwrap_or_default().to_owned())
}

/// Returns a hash that is the same on every machine and in every version: FNV-1a, twice, with different starts.
pub fn hash<'a>(parts: impl IntoIterator<Item = &'a String>) -> String {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut halves = [0xcbf2_9ce4_8422_2325u64, 0x6c62_272e_07bb_0142];
    for part in parts {
        // The hash includes the end of each part, so that different lists of parts never give the same input.
        for byte in part.bytes().chain([0xff]) {
            for half in &mut halves {
                *half = (*half ^ u64::from(byte)).wrapping_mul(PRIME);
            }
        }
        halves[1] = halves[1].rotate_left(29);
    }
    format!("{:016x}{:016x}", halves[0], halves[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        let hashed = |parts: &[&str]| hash(&parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>());
        assert_eq!(hashed(&["a", "b"]).len(), 32);
        assert_ne!(hashed(&["a", "b"]), hashed(&["ab", ""]));
        assert_ne!(hashed(&["a", "b"]), hashed(&["b", "a"]));
        // Baselines of repositories and code hosts store these values, so they must never change.
        assert_eq!(hashed(&["on-demand-batch", "main.tf"]), hashed(&["on-demand-batch", "main.tf"]));
    }
}
