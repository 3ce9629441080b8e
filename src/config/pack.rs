//! Packs, as settings name them: a directory of the repository, or a commit of another one.

use super::key::Text;
use super::{Key, Table, setting};
use crate::source::{Span, normalize};

const PATH: Key<Text> = setting!("packs[].path");
const GIT: Key<Text> = setting!("packs[].git");
const COMMIT: Key<Text> = setting!("packs[].commit");
const SHA256: Key<Text> = setting!("packs[].sha256");
const DIRECTORY: Key<Text> = setting!("packs[].directory");

/// An entry of `[[packs]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Pack<'a> {
    /// Where it lies; said for every pack that does not come from git.
    pub path: Option<&'a str>,
    pub origin: Option<Origin<'a>>,
    /// Where its path or its address is named.
    pub span: Span,
}

/// A commit of another repository.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Origin<'a> {
    pub git: &'a str,
    pub commit: &'a str,
    /// Of what it holds; `gpulint rules vendor` tells it where it is not said yet.
    pub sha256: Option<&'a str>,
    /// The directory of that repository; all of it where it is not said.
    pub directory: Option<&'a str>,
}

impl<'a> Pack<'a> {
    pub(super) fn of(table: &Table<'a>) -> Option<Self> {
        let span = table.at(GIT).or_else(|| table.at(PATH))?.span;
        let origin = table.text(GIT).map(|git| Origin {
            git,
            commit: table.text(COMMIT).unwrap_or_default(),
            sha256: table.text(SHA256),
            directory: table.text(DIRECTORY),
        });
        Some(Pack { path: table.text(PATH), origin, span })
    }
}

/// What is wrong with an entry, and where.
pub(super) fn judge(table: &Table<'_>, refuse: &mut dyn FnMut(String, Span)) {
    let Some(first) = table.first() else { return };
    if table.at(GIT).is_none() {
        if table.at(PATH).is_none() {
            refuse("a pack says `path`, or `git` with `commit` and `sha256`".to_owned(), first.key);
        }
        for (key, entry) in table.entries().filter(|(key, _)| *key != PATH.name()) {
            refuse(format!("`{key}` belongs to a pack that comes from `git`"), entry.key);
        }
        return;
    }
    let mut each = |key: Key<Text>, check: &dyn Fn(&str) -> Option<String>| {
        let entry = table.at(key)?;
        refuse(check(entry.value.text().unwrap_or_default())?, entry.span);
        Some(())
    };
    each(GIT, &|address| unusable(address).map(str::to_owned));
    each(COMMIT, &|commit| {
        let what = "`commit` is a full commit of 40 hexadecimal digits; a branch or a tag may be moved";
        (!is_hexadecimal(commit, 40)).then(|| what.to_owned())
    });
    each(SHA256, &|sum| {
        (!is_hexadecimal(sum, 64)).then(|| "`sha256` has 64 hexadecimal digits in small letters".to_owned())
    });
    each(DIRECTORY, &|directory| {
        let leads_out = directory.starts_with('/') || normalize(directory).is_none();
        leads_out.then(|| "`directory` lies in the repository of the pack".to_owned())
    });
    if let (Some(git), None) = (table.at(GIT), table.at(COMMIT)) {
        refuse("a pack from `git` says its `commit`, all 40 digits of it".to_owned(), git.key);
    }
}

fn is_hexadecimal(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Why an address is not handed to git. It is not repeated: it may hold a password.
fn unusable(address: &str) -> Option<&'static str> {
    const SCHEMES: &str =
        "`git` is an address that starts with https://, ssh:// or file://, or is written user@host:path";
    if address.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') || address.len() > 2_000 {
        return Some("the address of a pack is one line without blanks and backslashes");
    }
    let (host, has_password) = match address.split_once("://") {
        Some(("https" | "ssh" | "file", rest)) => {
            let host = rest.split('/').next().unwrap_or_default();
            let user = host.rsplit_once('@').map_or("", |(user, _)| user);
            // the user of https is where a token stands
            (host, user.contains(':') || address.starts_with("https") && !user.is_empty())
        }
        Some(_) => return Some(SCHEMES),
        None => match address.split_once(':') {
            Some((host, _)) if host.contains('@') && !host.contains('/') => (host, false),
            _ => return Some(SCHEMES),
        },
    };
    if has_password {
        return Some("the address of a pack holds a user or a password; leave them to git's credential helper");
    }
    let named = host.rsplit_once('@').map_or(host, |(_, name)| name);
    if host.starts_with('-') || named.starts_with('-') || address.contains("::") {
        return Some(SCHEMES);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::unusable;

    #[test]
    fn only_addresses_that_fetch_and_run_nothing_are_used() {
        for good in [
            "https://git.example.org/platform/rules.git",
            "ssh://git@git.example.org:2222/platform/rules.git",
            "git@git.example.org:platform/rules.git",
            "file:///srv/git/rules.git",
        ] {
            assert_eq!(unusable(good), None, "{good}");
        }
        for bad in [
            "",
            "http://git.example.org/rules.git",
            "git://git.example.org/rules.git",
            "ext::sh -c whoami",
            "ext::sh",
            "a@b:x::y",
            "fd::17",
            "--upload-pack=whoami",
            "-oProxyCommand=whoami@host:x",
            "ssh://-oProxyCommand=whoami/x",
            "ssh://git@-oProxyCommand=whoami/x",
            "https://user:secret@git.example.org/rules.git",
            "https://token@git.example.org/rules.git",
            "../rules",
            "/srv/rules",
            "C:\\rules",
            "https://git.example.org/a\nb",
        ] {
            assert!(unusable(bad).is_some(), "{bad}");
            assert!(!unusable(bad).is_some_and(|why| why.contains("secret")));
        }
    }
}
