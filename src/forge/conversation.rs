//! Defines a comment, its pull request, and the operations that a code host must support.

use super::diff::{ForgeHunk, ShownFile};
use super::host::CodeHost;
use super::marker::Tag;
use crate::http::{Credential, Error, HttpErrorKind};

/// The pull request of the comment, and the author.
#[derive(Debug, Clone)]
pub struct CommentTarget {
    pub host: CodeHost,
    /// The address of the host's interface, such as `https://api.github.com`.
    pub api: String,
    /// `owner/name`; on GitLab a number or the full path, on Azure `project/repository`.
    pub repository: String,
    /// The number of the pull request.
    pub number: u64,
    /// The commit that was checked, if known. With it, an older run never overwrites a newer one.
    pub head: Option<String>,
    pub credential: Credential,
}

/// How to handle an earlier comment with the same tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    #[default]
    Update,
    New,
    DeleteAndNew,
    HideAndNew,
}

impl Mode {
    pub const ALL: [Mode; 4] = [Mode::Update, Mode::New, Mode::DeleteAndNew, Mode::HideAndNew];

    pub fn name(self) -> &'static str {
        match self {
            Mode::Update => "update",
            Mode::New => "new",
            Mode::DeleteAndNew => "delete-and-new",
            Mode::HideAndNew => "hide-and-new",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

#[derive(Debug, Clone)]
pub struct ForgeComment {
    pub body: String,
    pub tag: Tag,
    pub mode: Mode,
    /// True if there is nothing new to report. An earlier comment is then updated, but no first one is written.
    pub only_if_present: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommentOutcome {
    Created {
        url: Option<String>,
    },
    Updated {
        url: Option<String>,
    },
    /// The comment already has this content.
    Unchanged {
        url: Option<String>,
    },
    /// There is nothing to report, and no comment to update.
    NotNeeded,
    /// A newer commit has been checked in the meantime.
    Superseded {
        head: String,
    },
    /// The token cannot write comments here, so the body must go to the job summary.
    JobSummary {
        reason: String,
    },
}

/// The operations that a code host must support.
pub(super) trait Conversation {
    /// Returns all comments of the pull request, the oldest first.
    fn comments(&self) -> Result<Vec<Posted>, Error>;
    fn comment(&self, id: &str) -> Result<Posted, Error>;
    fn create(&self, body: &str) -> Result<Posted, Error>;
    fn update(&self, id: &str, body: &str) -> Result<Posted, Error>;
    fn delete(&self, id: &str) -> Result<(), Error>;
    /// Hides a comment. Returns `false` if the host cannot hide comments.
    fn hide(&self, _comment: &Posted) -> Result<bool, Error> {
        Ok(false)
    }
    /// Returns the newest commit of the pull request.
    fn head(&self) -> Result<Option<String>, Error>;
    /// Waits a little, longer after each failure.
    fn pause(&self, attempt: u32);
    /// Returns gpulint's own name as in `Posted::author`; `None` if the token may not query it.
    fn viewer(&self) -> Result<Option<String>, Error>;

    /// Returns the lines that the pull request shows; `None` if the host supports no notes on lines.
    fn shown_lines(&self) -> Result<Option<Vec<ShownFile>>, Error> {
        Ok(None)
    }
    fn line_notes(&self) -> Result<Vec<Posted>, Error> {
        Ok(Vec::new())
    }
    /// Posts notes on visible lines; returns how many the host accepted.
    fn post_line_notes(&self, _notes: &[PlacedNote]) -> Result<usize, Error> {
        Ok(0)
    }
}

/// A comment on the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Posted {
    pub(super) id: String,
    pub(super) body: String,
    pub(super) author: Option<String>,
    pub(super) url: Option<String>,
    /// The host's second identifier, if hiding needs one.
    pub(super) node: Option<String>,
}

/// A finding worth a note on its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineNote {
    /// The path from the repository root, with `/`.
    pub path: String,
    pub first_line: u32,
    pub last_line: u32,
    /// Escaped Markdown.
    pub body: String,
    /// The replacement of the lines.
    pub replacement: Option<String>,
    /// A key that stays the same as long as the finding: rule, resource and fingerprint of the facts.
    pub key: String,
}

/// A note with its place in the diff.
pub(super) struct PlacedNote<'a> {
    pub(super) note: &'a LineNote,
    pub(super) file: &'a ShownFile,
    pub(super) hunk: &'a ForgeHunk,
    pub(super) body: String,
}

pub(super) fn text(value: &serde_json::Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(serde_json::Value::as_str).map(str::to_owned)
}

/// Splits `owner/name` into its two parts.
pub(super) fn owner_and_name(repository: &str) -> Result<(&str, &str), Error> {
    match repository.split_once('/') {
        Some((owner, name)) if !owner.is_empty() && !name.is_empty() && !name.contains('/') => Ok((owner, name)),
        _ => Err(Error::new(
            HttpErrorKind::Unusable,
            format!("`{repository}` is not a repository in the form owner/name"),
        )),
    }
}
