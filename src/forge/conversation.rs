//! A comment, where it belongs, and what a code host has to be able to do with it.

use super::diff::{Hunk, ShownFile};
use super::host::CodeHost;
use super::marker::Tag;
use crate::http::{Credential, Error, HttpErrorKind};

/// Where the comment belongs, and who writes it.
#[derive(Debug, Clone)]
pub struct CommentTarget {
    pub host: CodeHost,
    /// Address of the host's interface, such as `https://api.github.com`.
    pub api: String,
    /// `owner/name`; on GitLab a number or the full path, on Azure `project/repository`.
    pub repository: String,
    /// Number of the pull request.
    pub number: u64,
    /// The commit that was judged, when known: an older run then never overwrites a newer one.
    pub head: Option<String>,
    pub credential: Credential,
}

/// What becomes of an earlier comment with the same tag.
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
pub struct Comment {
    pub body: String,
    pub tag: Tag,
    pub mode: Mode,
    /// There is nothing new to tell: an earlier comment is brought up to date, a first one is not written.
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
    /// The comment says this already.
    Unchanged {
        url: Option<String>,
    },
    /// Nothing to tell and nothing to bring up to date.
    NotNeeded,
    /// A newer commit has been judged meanwhile.
    Superseded {
        head: String,
    },
    /// The token may not write here; the body belongs in the summary of the job.
    JobSummary {
        reason: String,
    },
}

/// What a code host has to be able to do.
pub(super) trait Conversation {
    /// All comments of the pull request, the oldest first.
    fn comments(&self) -> Result<Vec<Posted>, Error>;
    fn comment(&self, id: &str) -> Result<Posted, Error>;
    fn create(&self, body: &str) -> Result<Posted, Error>;
    fn update(&self, id: &str, body: &str) -> Result<Posted, Error>;
    fn delete(&self, id: &str) -> Result<(), Error>;
    /// Folds a comment away. `false` where the host cannot.
    fn hide(&self, _comment: &Posted) -> Result<bool, Error> {
        Ok(false)
    }
    /// The newest commit of the pull request.
    fn head(&self) -> Result<Option<String>, Error>;
    /// Lets a little time pass, the more the more often it failed.
    fn pause(&self, attempt: u32);
    /// Who we are, in the same words as `Posted::author`; `None` when the token may not ask.
    fn viewer(&self) -> Result<Option<String>, Error>;

    /// The lines that the pull request shows; `None` where notes on lines are not supported.
    fn shown_lines(&self) -> Result<Option<Vec<ShownFile>>, Error> {
        Ok(None)
    }
    fn line_notes(&self) -> Result<Vec<Posted>, Error> {
        Ok(Vec::new())
    }
    /// Posts notes of which every line is shown; returns how many were taken.
    fn post_line_notes(&self, _notes: &[PlacedNote]) -> Result<usize, Error> {
        Ok(0)
    }
}

/// A comment as it stands on the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Posted {
    pub(super) id: String,
    pub(super) body: String,
    pub(super) author: Option<String>,
    pub(super) url: Option<String>,
    /// The host's other name for it, where hiding needs one.
    pub(super) node: Option<String>,
}

/// A finding worth a note on its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineNote {
    /// From the root of the repository, with `/`.
    pub path: String,
    pub first_line: u32,
    pub last_line: u32,
    /// Markdown, escaped already.
    pub body: String,
    /// What the lines should be instead.
    pub replacement: Option<String>,
    /// Stays the same while the finding does: rule, resource and fingerprint of the facts.
    pub key: String,
}

/// A note with the place in the diff that it belongs to.
pub(super) struct PlacedNote<'a> {
    pub(super) note: &'a LineNote,
    pub(super) file: &'a ShownFile,
    pub(super) hunk: &'a Hunk,
    pub(super) body: String,
}

pub(super) fn text(value: &serde_json::Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(serde_json::Value::as_str).map(str::to_owned)
}

/// `owner/name` into its two parts.
pub(super) fn owner_and_name(repository: &str) -> Result<(&str, &str), Error> {
    match repository.split_once('/') {
        Some((owner, name)) if !owner.is_empty() && !name.is_empty() && !name.contains('/') => Ok((owner, name)),
        _ => {
            Err(Error::new(HttpErrorKind::Unusable, format!("`{repository}` is not a repository in the form owner/name")))
        }
    }
}
