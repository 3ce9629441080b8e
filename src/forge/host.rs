//! Defines the supported code hosts.

/// The way in which a host hides a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HiddenStyle {
    /// A comment of HTML: `<!-- … -->`.
    HtmlComment,
    /// `[//]: # (…)`, an unused link definition, for hosts that show HTML as text.
    LinkDefinition,
}

/// Defines the code hosts from one row each: name, longest body, folds, suggestions, hidden style.
macro_rules! code_hosts {
    ($($host:ident: $name:literal, $longest_body:literal, $folds:literal, $suggestions:literal, $style:ident;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum CodeHost {
            $($host),*
        }

        impl CodeHost {
            pub const ALL: [CodeHost; [$($name),*].len()] = [$(CodeHost::$host),*];

            pub fn name(self) -> &'static str {
                match self { $(CodeHost::$host => $name),* }
            }

            /// Returns the maximum length of a comment on the host, in characters, by its documentation or its source
            /// (2026-11).
            pub fn longest_body(self) -> usize {
                match self { $(CodeHost::$host => $longest_body),* }
            }

            /// Returns true if `<details>` folds; otherwise the host would show the tags.
            pub fn has_folds(self) -> bool {
                match self { $(CodeHost::$host => $folds),* }
            }

            /// Returns true if a fenced block named `suggestion` becomes a button that commits it.
            pub fn has_suggestions(self) -> bool {
                match self { $(CodeHost::$host => $suggestions),* }
            }

            pub(super) fn hidden_style(self) -> HiddenStyle {
                match self { $(CodeHost::$host => HiddenStyle::$style),* }
            }
        }
    };
}

code_hosts! {
    Github: "github", 65_536, true, true, HtmlComment;
    Gitlab: "gitlab", 1_000_000, true, true, HtmlComment;
    Bitbucket: "bitbucket", 32_768, false, true, LinkDefinition;
    Azure: "azure", 150_000, true, false, HtmlComment;
    Gitea: "gitea", 65_536, true, false, HtmlComment;
}

impl CodeHost {
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.name() == name)
    }
}
