//! Resolves the name of a commit to the full name of one reference. A pushed tag must not replace a
//! branch with the same name.

use std::path::Path;

use super::git_program::{answer, ask, is_commit};
use crate::cli::Failure;

/// The shortest abbreviation of a commit id that git accepts.
const SHORTEST_ID: usize = 4;

/// Returns the full name of a reference, and refuses an ambiguous name.
pub(in crate::cli) fn in_full(repository: &Path, written: &str) -> Result<Option<String>, Failure> {
    let (name, rest) = split(written);
    if matches!(name, "" | "@" | "HEAD") || is_commit(name) {
        return Ok(Some(written.to_owned()));
    }
    let known = references(repository, name)?;
    if name.starts_with("refs/") {
        return Ok(known.iter().any(|it| it == name).then(|| written.to_owned()));
    }
    let mut meanings: Vec<String> = short_for(name).into_iter().filter(|it| known.contains(it)).collect();
    if let [tag] = meanings.as_slice()
        && tag.starts_with("refs/tags/")
    {
        // The branch can exist only as a remote branch.
        let end = format!("/{name}");
        meanings.extend(known.into_iter().filter(|it| it.starts_with("refs/remotes/") && it.ends_with(&end)));
    }
    if !meanings.is_empty() && is_short_id(name) {
        let asked = ["rev-parse", &format!("--disambiguate={name}")];
        meanings.extend(ask(repository, &asked)?.map(|id| format!("the object {id}")));
    }
    match meanings.as_slice() {
        // The name is a commit id, or a special reference such as FETCH_HEAD.
        [] => Ok(Some(written.to_owned())),
        [one] => Ok(Some(format!("{one}{rest}"))),
        [first, ..] => Err(Failure::new(format!("`{name}` is ambiguous: {}", meanings.join(", ")))
            .with_help(format!("pass the full name, such as {first}{rest}, or the commit id"))),
    }
}

/// Splits `main~2` into the name `main` and the steps `~2`.
pub(in crate::cli) fn split(written: &str) -> (&str, &str) {
    let end = [written.find(['~', '^', ':']), written.find("@{")].into_iter().flatten().min();
    written.split_at(end.unwrap_or(written.len()))
}

/// The patterns with which git resolves short names.
fn short_for(name: &str) -> [String; 5] {
    [
        format!("refs/{name}"),
        format!("refs/tags/{name}"),
        format!("refs/heads/{name}"),
        format!("refs/remotes/{name}"),
        format!("refs/remotes/{name}/HEAD"),
    ]
}

/// Returns the references that a short name can mean, including remote branches.
fn references(repository: &Path, name: &str) -> Result<Vec<String>, Failure> {
    // No reference has such a name, and git would read it as a pattern.
    if name.contains(['*', '?', '[', '\\', ' ']) || name.chars().any(char::is_control) {
        return Ok(Vec::new());
    }
    let mut patterns = short_for(name).to_vec();
    patterns.extend([name.to_owned(), format!("refs/remotes/*/{name}")]);
    patterns.retain(|it| it.starts_with("refs/"));
    let mut arguments = vec!["for-each-ref", "--format=%(refname)", "--"];
    arguments.extend(patterns.iter().map(String::as_str));
    let listed = answer(repository, &arguments)?
        .ok_or_else(|| Failure::new(format!("git cannot list the references with the name `{name}`")))?;
    Ok(String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect())
}

fn is_short_id(name: &str) -> bool {
    name.len() >= SHORTEST_ID && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn steps_are_no_part_of_a_name() {
        assert_eq!(split("main"), ("main", ""));
        assert_eq!(split("origin/main~2^1"), ("origin/main", "~2^1"));
        assert_eq!(split("main@{1.day.ago}"), ("main", "@{1.day.ago}"));
        assert_eq!(split("a@b"), ("a@b", ""));
        assert_eq!(split("@{u}"), ("", "@{u}"));
    }
}
