//! Reads the packs in `[[packs]]`: a directory of this repository, or a commit of another one.

use super::key::Text;
use super::{ConfigTable, SettingKey, setting};
use crate::source::{Span, normalize};

const PATH: SettingKey<Text> = setting!("packs[].path");
const GIT: SettingKey<Text> = setting!("packs[].git");
const COMMIT: SettingKey<Text> = setting!("packs[].commit");
const SHA256: SettingKey<Text> = setting!("packs[].sha256");
const DIRECTORY: SettingKey<Text> = setting!("packs[].directory");

/// An entry of `[[packs]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct PackEntry<'a> {
    /// The directory of the pack. Every pack that does not come from git has one.
    pub path: Option<&'a str>,
    pub origin: Option<PackCommit<'a>>,
    /// The position of its path or its address.
    pub span: Span,
}

/// A commit of another repository.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PackCommit<'a> {
    pub git: &'a str,
    pub commit: &'a str,
    /// The checksum of the pack's content. If it is not set, `gpulint rules vendor` prints it.
    pub sha256: Option<&'a str>,
    /// The directory in that repository, or `None` for the whole repository.
    pub directory: Option<&'a str>,
}

impl<'a> PackEntry<'a> {
    pub(super) fn of(table: &ConfigTable<'a>) -> Option<Self> {
        let span = table.at(GIT).or_else(|| table.at(PATH))?.span;
        let origin = table.text(GIT).map(|git| PackCommit {
            git,
            commit: table.text(COMMIT).unwrap_or_default(),
            sha256: table.text(SHA256),
            directory: table.text(DIRECTORY),
        });
        Some(PackEntry { path: table.text(PATH), origin, span })
    }
}

/// Reports the errors of an entry with their positions.
pub(super) fn judge(table: &ConfigTable<'_>, refuse: &mut dyn FnMut(String, Span)) {
    let Some(first) = table.first() else { return };
    if table.at(GIT).is_none() {
        if table.at(PATH).is_none() {
            refuse("[[packs]] needs `path`, or `git` with `commit` and `sha256`".to_owned(), first.key);
        }
        for (key, entry) in table.entries().filter(|(key, _)| *key != PATH.name()) {
            refuse(format!("`{key}` needs `git`: remove it from a pack with `path` only"), entry.key);
        }
        return;
    }
    let mut each = |key: SettingKey<Text>, check: &dyn Fn(&str) -> Option<String>| {
        let entry = table.at(key)?;
        refuse(check(entry.value.text().unwrap_or_default())?, entry.span);
        Some(())
    };
    each(GIT, &|address| unusable(address).map(str::to_owned));
    each(COMMIT, &|commit| {
        let what = "`commit` must be a full commit id of 40 hexadecimal digits, because branches and tags can move";
        (!is_hexadecimal(commit, 40)).then(|| what.to_owned())
    });
    each(SHA256, &|sum| {
        (!is_hexadecimal(sum, 64)).then(|| "`sha256` must have 64 hexadecimal digits in lower case".to_owned())
    });
    each(DIRECTORY, &|directory| {
        let leads_out = directory.starts_with('/') || normalize(directory).is_none();
        leads_out.then(|| "`directory` must be a directory of the pack's repository".to_owned())
    });
    if let (Some(git), None) = (table.at(GIT), table.at(COMMIT)) {
        refuse("a pack from `git` needs `commit`, the full commit id of 40 digits".to_owned(), git.key);
    }
}

fn is_hexadecimal(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns why gpulint does not pass an address to git. The reason never contains the address, which may contain a
/// password.
fn unusable(address: &str) -> Option<&'static str> {
    const SCHEMES: &str =
        "`git` must be an address that starts with https://, ssh:// or file://, or has the form user@host:path";
    if address.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') || address.len() > 2_000 {
        return Some("the address of a pack must be one line without blanks or backslashes");
    }
    let (host, has_password) = match address.split_once("://") {
        Some(("https" | "ssh" | "file", rest)) => {
            let host = rest.split('/').next().unwrap_or_default();
            let user = host.rsplit_once('@').map_or("", |(user, _)| user);
            // The user name in an https address is usually a token.
            (host, user.contains(':') || address.starts_with("https") && !user.is_empty())
        }
        Some(_) => return Some(SCHEMES),
        None => match address.split_once(':') {
            Some((host, _)) if host.contains('@') && !host.contains('/') => (host, false),
            _ => return Some(SCHEMES),
        },
    };
    if has_password {
        return Some(
            "the address of a pack contains a user or a password: remove them, and use git's credential helper",
        );
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
