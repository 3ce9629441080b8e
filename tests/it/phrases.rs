//! Counts phrases that readers stumble over, in pages, rules, strings and comments. `tests/phrases.csv` has the most that
//! each may occur; a limit only falls. See "How we write" in CONTRIBUTING.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::fences;

/// The kinds of text that have a limit of their own, in the order of the table's columns.
const SOURCES: [&str; 4] = ["pages", "rules", "strings", "comments"];

/// A phrase by its name in the table, the pattern that finds it, and the words to write instead.
const PHRASES: &[(&str, &str, &str)] = &[
    ("told", r"(?i)\b(told|tells?|telling)\b", "report, list, show"),
    ("said", r"(?i)\b(said|says)\b", "set, declare, specify, warn"),
    ("stands", r"(?i)\b(stands?|stood)\b", "is, is in, is defined in"),
    ("nobody", r"(?i)\b(nobody|somebody|whoever)\b", "the actor: gpulint, the rule, the user"),
    ("not judged", r"(?i)\b(not judged|unjudged)\b", "not evaluated, incomplete"),
    ("at hand", r"(?i)\bat hand\b", "available, downloaded"),
    ("beside", r"(?i)\b(beside|apart)\b", "excluded from the total, separately, next to"),
    ("anew", r"(?i)\b(anew|mended)\b", "again, fixed"),
    ("dear", r"(?i)\bdear(er|est)?\b", "expensive"),
    ("floor", r"(?i)\b(floors?|ceilings?|full scale)\b", "minimum, maximum"),
    ("of which", r"(?i)\b(of which|all that|whatever)\b", "two sentences"),
    ("headless", r"(^|[.:;] )(What|Of|That) (is|are|was|it|they|can|has|no|does|a|the|this|these)\b[^?]*$", "the noun"),
    ("is no", r"(?i)\b(is no|are no) \w", "is not a"),
    ("the text", r"(?i)\b(the|a|no) texts?\b", "configuration, file, string"),
    ("settles", r"(?i)\bsettle[sd]?\b", "resolve, infer"),
    ("percent", r"\d %", "7%"),
    (
        "spelling",
        r"(?i)\b(colour|licence|behaviour|neighbour|grey|centre|favour|catalogue|recognis|normalis|organis|optimis|summaris|minimis|maximis)",
        "American spelling",
    ),
];

static PATTERNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| PHRASES.iter().map(|(_, pattern, _)| Regex::new(pattern).unwrap()).collect());
static INLINE_CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new("`[^`]*`").unwrap());
static STRING: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""(?:[^"\\]|\\.)*""#).unwrap());
/// Ordinary uses that a pattern cannot leave out itself.
static ORDINARY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\bthere (is|are) no\b|\bstands? for\b|\bapart from\b|\w\.(floor|ceiling)\b|\bgap-floor\b|\breserved-for-nobody\b").unwrap()
});

/// A line of text in which phrases count, and where it is.
struct Line {
    path: String,
    number: usize,
    text: String,
}

#[test]
fn phrases_that_readers_stumble_over_only_get_fewer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lines = [pages(root), rules(root), source(root, false), source(root, true)];
    let table = root.join("tests/phrases.csv");
    let limits = limits(&fs::read_to_string(&table).unwrap_or_default());
    let mut written = format!("phrase,{}\n", SOURCES.join(","));
    let mut wrong = String::new();
    for ((phrase, _, instead), pattern) in PHRASES.iter().zip(PATTERNS.iter()) {
        let _ = write!(written, "{phrase}");
        for (column, name) in SOURCES.iter().enumerate() {
            let found: Vec<&Line> = lines[column].iter().filter(|line| pattern.is_match(&line.text)).collect();
            let limit = limits.get(*phrase).map_or(usize::MAX, |of| of[column]);
            let _ = write!(written, ",{}", found.len().min(limit));
            if found.len() > limit {
                let _ =
                    writeln!(wrong, "\"{phrase}\" in {name}: {} lines, limit {limit}; write: {instead}", found.len());
                for line in &found {
                    let _ = writeln!(wrong, "  {}:{}: {}", line.path, line.number, line.text.trim());
                }
            } else if found.len() < limit && limit != usize::MAX {
                let _ =
                    writeln!(wrong, "\"{phrase}\" in {name}: {} lines, limit {limit}; lower the limit", found.len());
            }
        }
        written.push('\n');
    }
    if fences::blessing() {
        fs::write(table, written).unwrap();
    } else {
        assert!(wrong.is_empty(), "GPULINT_BLESS=1 cargo test lowers limits, and raises none\n{wrong}");
    }
}

#[test]
fn the_patterns_find_what_they_are_for() {
    let finds = |phrase: &str, text: &str| {
        let at = PHRASES.iter().position(|(name, ..)| *name == phrase).unwrap();
        PATTERNS[at].is_match(&prose(text))
    };
    assert!(finds("told", "A change is told as such."));
    assert!(finds("percent", "2 % busy"));
    assert!(finds("spelling", "the colour of a licence"));
    assert!(finds("is no", "`yesterday` is no date"));
    assert!(finds("headless", "What is not known is zero."));
    assert!(!finds("headless", "What is an incomplete total?"));
    assert!(!finds("is no", "there is no file"));
    assert!(!finds("not judged", "the verdict is `not judged`"));
    assert!(!finds("spelling", "the color of a license"));
    assert!(!finds("floor", "the value of `floor`"));
}

fn limits(table: &str) -> BTreeMap<String, Vec<usize>> {
    table
        .lines()
        .skip(1)
        .map(|line| {
            let mut cells = line.split(',');
            let phrase = cells.next().unwrap().to_owned();
            (phrase, cells.map(|cell| cell.parse().unwrap()).collect())
        })
        .collect()
}

/// The line without code and without ordinary uses of the phrases.
fn prose(line: &str) -> String {
    ORDINARY.replace_all(&INLINE_CODE.replace_all(line, "``"), "").into_owned()
}

/// The written pages of the book and of the repository: no code block, no generated page, no older release, and no table
/// that quotes how sentences were before.
fn pages(root: &Path) -> Vec<Line> {
    let mut paths: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| root.join(name)).to_vec();
    paths.extend(fences::files_below(&root.join("docs"), ".md"));
    let mut lines = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        if text.starts_with("<!-- written from") {
            continue;
        }
        let quotes = path.ends_with("glossary.md") || path.ends_with("CONTRIBUTING.md");
        lines.extend(markdown(root, &path, &text).into_iter().filter(|line| !(quotes && line.text.starts_with('|'))));
    }
    lines
}

/// The lines of rule files outside of their examples.
fn rules(root: &Path) -> Vec<Line> {
    let paths = fences::files_below(&root.join("rules"), ".md");
    paths.iter().flat_map(|path| markdown(root, path, &fs::read_to_string(path).unwrap())).collect()
}

fn markdown(root: &Path, path: &Path, text: &str) -> Vec<Line> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push(Line { path: shown(root, path), number: index + 1, text: prose(line) });
        }
    }
    lines
}

/// Comments of the source, or its strings outside of tests: each a line, as far as it is written on one.
fn source(root: &Path, wants_comments: bool) -> Vec<Line> {
    let paths = fences::files_below(&root.join("src"), ".rs");
    let mut lines = Vec::new();
    for path in paths {
        let shown = shown(root, &path);
        let text = fs::read_to_string(&path).unwrap();
        if !wants_comments && (shown.contains("tests") || shown.contains("_cases")) {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            if !wants_comments && line.starts_with("mod tests") {
                break;
            }
            let comment = line.trim_start().strip_prefix("//");
            let text = match (comment, wants_comments) {
                (Some(comment), true) => prose(comment.trim_start_matches(['/', '!']).trim()),
                (None, false) => prose(&STRING.find_iter(line).map(|it| it.as_str()).collect::<Vec<_>>().join(" ")),
                _ => continue,
            };
            lines.push(Line { path: shown.clone(), number: index + 1, text });
        }
    }
    lines
}

fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/")
}
