//! Finds the numbers of a file that can be amounts of machines.

use std::collections::BTreeSet;

use regex::Regex;

use super::change::{ChangedLine, lines};
use crate::source::static_regex;

static_regex!(
/// Keys whose digits are part of a name.
pub(super) static NAMING: Regex = r#"(?i)^\W*[\w./-]*(?:image|tag|version|digest|sha\d*|hash|date|time|checksum|url|uri|revision|commit|email|schema|id|arn|description|comment|name|port|cidr|address|host|timestamp|generation)["']?\s*[:=]"#);
static_regex!(
/// Keys and variables for times to wait and for repetitions.
static WAITING: Regex = r#"(?i)^\W*(?:(?:export|local)\s+)?[\w./-]*(?:timeout|interval|delay|backoff|retries|attempts)(?:[_-]?(?:s|m|ms|seconds|minutes|duration))?["']?\s*[:=]|^\s*for\s+(?:attempt|try|retry)\s+in\s"#);
static_regex!(
/// Keys of messages for people, and of the expressions that decide when they are sent.
static TOLD: Regex = r#"^\s*(?:-\s+)?["']?(?:description|summary|message|title|expr|runbook_url)["']?\s*:"#);
static_regex!(
/// A line that only prints a message.
pub(super) static MESSAGE: Regex = r"^\s*(?:-\s+)?@?(?:echo|printf)\s[^|>`]*$");
static_regex!(
/// Numbers of a shell: lines to print, seconds to wait, results, file descriptors, and fields of other programs.
static OF_SHELL: Regex = r#"\b(?:head|tail)\s+(?:-[nc]\s*|--(?:lines|bytes)[= ])?[-+]?\d+\b|\b(?:sleep|exit|return)\s+\d\w*|\b\d?>>?(?:&\d|/dev/null)|\bawk\s+(?:-\S+\s+)?'[^']*'|\bcut\s+[^|;]*"#);
static_regex!(static NUMBER: Regex = r"^-?\d+(?:\.\d+)?(?:[kKMGTP]i?|%|m|h|s)?$");

/// Returns the numbers in these lines that can be amounts. `told` are the lines of messages for people.
pub(super) fn numbers<'t>(lines: impl Iterator<Item = ChangedLine<'t>>, told: &BTreeSet<usize>) -> Vec<String> {
    let is_amount = |line: &ChangedLine| {
        let is_message = MESSAGE.is_match(line.text) && !line.text.contains("$(");
        !line.text.trim_start().starts_with(['#', '/', '*'])
            && !NAMING.is_match(line.text)
            && !WAITING.is_match(line.text)
            && !is_message
            && !told.contains(&line.number)
    };
    let mut numbers: Vec<String> = lines
        .filter(is_amount)
        .flat_map(|line| {
            let text = OF_SHELL.replace_all(line.text, "");
            let text = text.split(" # ").next().unwrap_or_default();
            let words = text.split(|c: char| !(c.is_alphanumeric() || "_.@/-%".contains(c)));
            words.filter(|word| NUMBER.is_match(word)).map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    numbers.sort();
    numbers
}

/// Returns the lines of messages for people: keys with their values, also if these have several lines.
pub(super) fn told(text: &str) -> BTreeSet<usize> {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
    let mut told = BTreeSet::new();
    let mut open: Option<usize> = None;
    for line in lines(text) {
        let own = line.indent();
        open = open.filter(|key| line.text.trim().is_empty() || own > *key);
        if open.is_none() && TOLD.is_match(line.text) {
            open = Some(indent(line.text));
        }
        if open.is_some() {
            told.insert(line.number);
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_names_are_no_numbers() {
        let found = |text: &'static str| numbers(lines(text), &told(text));
        assert_eq!(found("replicas: 64"), ["64"]);
        assert_eq!(found("x = [1, 2]"), ["1", "2"]);
        assert_eq!(found("  capacity = 50, name = a"), ["50"]);
        assert!(found("image: a/b:1.2.3\ntag: 12\n# 5\nversion = 3").is_empty());
    }

    #[test]
    fn numbers_of_texts_and_times_to_wait_are_no_amounts() {
        let found = |text: &'static str| numbers(lines(text), &told(text));
        for text in [
            "summary: \"[STATUS 6:00] a\"",
            "description: |-\n  a\n\n  b 5\n",
            "- expr: (hour()-4==6 and minute()==5)",
            "x | tail -n 1 | head -20",
            "sleep 30",
            "exit 1",
            "TIMEOUT_MINUTES=20",
            "MAX_ATTEMPTS=$((T * 60 / I))",
            "timeout-minutes: 20",
            "for attempt in $(seq 1 $MAX); do",
            "x 2>/dev/null || echo \"\"",
            "x | awk '{print $2 \" \" $3}'",
            "echo \"a 5\"",
            "N=$M # at most 8",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
        for (text, numbers) in [
            ("description: a\nreplicas: 64", vec!["64"]),
            ("description: |\n  a 5\nreplicas: 64", vec!["64"]),
            ("- description: a 5\n  replicas: 64", vec!["64"]),
            ("sleep 30; create --nodes 64", vec!["64"]),
            ("echo 64 > nodes", vec!["64"]),
            ("for i in $(seq 1 64); do", vec!["1", "64"]),
            ("query: sum(a) > 5", vec!["5"]),
            ("N=64 # sleep 5", vec!["64"]),
            ("nodes: 8 # tail", vec!["8"]),
        ] {
            assert_eq!(found(text), numbers, "{text}");
        }
    }
}
