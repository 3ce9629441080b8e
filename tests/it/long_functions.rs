//! Counts long functions of the program. The limit only falls: split a function instead of raising it.

use std::fs;
use std::path::Path;

use crate::fences::files_below;

/// The number of lines from which a function is long.
const LONG: usize = 50;

/// The number of long functions outside of tests.
const MOST: usize = 64;

/// Returns the length and name of each function in a formatted file.
fn functions(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let code = code.strip_prefix("pub").map_or(code, |rest| rest.split_once(' ').map_or(rest, |(_, rest)| rest));
        let code = code.trim_start_matches("const ").trim_start_matches("async ");
        let Some(name) = code.strip_prefix("fn ").and_then(|rest| rest.split(['(', '<']).next()) else { continue };
        let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
        let is_one_line = line.ends_with('}');
        let last = lines[start..].iter().position(|line| *line == end).filter(|_| !is_one_line);
        let length = last.map_or(1, |last| last + 1);
        found.push((length, name.to_owned()));
    }
    found
}

#[test]
fn functions_only_get_shorter() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut long = Vec::new();
    for path in files_below(&src, ".rs").into_iter().filter(|path| !path.ends_with("tests.rs")) {
        let text = fs::read_to_string(&path).unwrap();
        let shown = path.strip_prefix(&src).unwrap().display().to_string();
        let all = functions(&text).into_iter().filter(|(length, _)| *length > LONG);
        long.extend(all.map(|(length, name)| (length, format!("{length} lines: {name} in {shown}"))));
    }
    long.sort();
    long.reverse();
    let names: Vec<&String> = long.iter().map(|(_, name)| name).collect();
    assert!(long.len() <= MOST, "{} functions have more than {LONG} lines:\n{names:#?}", long.len());
    assert_eq!(long.len(), MOST, "fewer functions are long now: lower MOST");
}

#[test]
fn lengths_are_counted_to_the_brace_of_the_function() {
    let text = "impl A {\n    pub(crate) const fn one<T>(&self) {\n        x\n    }\n}\nfn two() {}\nfn three() {\n}\n";
    let expected = [(3, "one"), (1, "two"), (2, "three")].map(|(length, name)| (length, name.to_owned()));
    assert_eq!(functions(text), expected);
}
