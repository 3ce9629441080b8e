//! Defines the supported code hosts.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeHost {
    Github,
    Gitlab,
    Bitbucket,
    Azure,
    Gitea,
}

impl CodeHost {
    pub const ALL: [CodeHost; 5] =
        [CodeHost::Github, CodeHost::Gitlab, CodeHost::Bitbucket, CodeHost::Azure, CodeHost::Gitea];

    pub fn name(self) -> &'static str {
        match self {
            CodeHost::Github => "github",
            CodeHost::Gitlab => "gitlab",
            CodeHost::Bitbucket => "bitbucket",
            CodeHost::Azure => "azure",
            CodeHost::Gitea => "gitea",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.name() == name)
    }

    /// Returns the maximum length of a comment on the host, in characters, by its documentation or its source
    /// (2026-11).
    pub fn longest_body(self) -> usize {
        match self {
            CodeHost::Github | CodeHost::Gitea => 65_536,
            CodeHost::Gitlab => 1_000_000,
            CodeHost::Bitbucket => 32_768,
            CodeHost::Azure => 150_000,
        }
    }

    /// Returns true if `<details>` folds; otherwise the host would show the tags.
    pub fn has_folds(self) -> bool {
        self != CodeHost::Bitbucket
    }

    /// Returns true if a fenced block named `suggestion` becomes a button that commits it.
    pub fn has_suggestions(self) -> bool {
        matches!(self, CodeHost::Github | CodeHost::Gitlab | CodeHost::Bitbucket)
    }
}
