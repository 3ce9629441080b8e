//! One comment of ours on a pull request, kept up to date, on every code host that people use.
//!
//! What to do (create, update, leave alone, settle a race) is decided once in `upsert`; a file a host says only how that
//! host lists, writes and deletes. The body is made elsewhere: this room reads no finding, no file and no environment.
//! A token that may not write is an outcome and not an error, because every fork's token is one.

mod azure;
mod bitbucket;
mod diff;
mod gitea;
mod github;
mod gitlab;
mod marker;
mod review;
mod upsert;

pub use marker::Tag;
pub use review::{LineNote, Reviewed};

use crate::http::{Client, Clock, Credential, Error, HttpErrorKind, HttpOrigin, HttpSettings};

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

    /// The longest comment that the host takes, in characters. Checked against its documentation or its source, 2026-11.
    pub fn longest_body(self) -> usize {
        match self {
            CodeHost::Github | CodeHost::Gitea => 65_536,
            CodeHost::Gitlab => 1_000_000,
            CodeHost::Bitbucket => 32_768,
            CodeHost::Azure => 150_000,
        }
    }

    /// Whether `<details>` folds; where it does not, the tags would be shown.
    pub fn has_folds(self) -> bool {
        self != CodeHost::Bitbucket
    }

    /// Whether a fenced block named `suggestion` becomes a button that commits it.
    pub fn has_suggestions(self) -> bool {
        matches!(self, CodeHost::Github | CodeHost::Gitlab | CodeHost::Bitbucket)
    }
}

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

/// How the network is reached.
pub struct Wire<'a> {
    pub settings: HttpSettings,
    pub clock: &'a dyn Clock,
}

/// Leaves one comment with this tag that says this body.
pub fn upsert(target: &CommentTarget, comment: &Comment, wire: &Wire) -> Result<CommentOutcome, Error> {
    let conversation = conversation(target, wire)?;
    let stamped = marker::stamp(&comment.body, &comment.tag, target.head.as_deref(), marker::Style::of(target.host));
    let characters = stamped.chars().count();
    let limit = target.host.longest_body();
    if characters > limit {
        let message = format!("the comment has {characters} characters and {} takes {limit}", target.host.name());
        return Err(Error::new(HttpErrorKind::Unusable, message));
    }
    match upsert::upsert(conversation.as_ref(), comment, &stamped, target.head.as_deref()) {
        Err(error) if error.status() == Some(403) => Ok(CommentOutcome::JobSummary { reason: error.message }),
        other => other,
    }
}

/// What would be written, for a look before anything is sent.
pub fn preview(target: &CommentTarget, comment: &Comment) -> String {
    marker::stamp(&comment.body, &comment.tag, target.head.as_deref(), marker::Style::of(target.host))
}

/// Puts notes on lines that the pull request changes; notes that stand there already are left alone.
pub fn review(target: &CommentTarget, tag: &Tag, notes: &[LineNote], wire: &Wire) -> Result<Reviewed, Error> {
    let conversation = conversation(target, wire)?;
    match review::review(conversation.as_ref(), target, tag, notes) {
        Err(error) if error.status() == Some(403) => {
            Ok(Reviewed { refused: Some(error.message), ..Reviewed::default() })
        }
        other => other,
    }
}

/// The number of the one open pull request from this branch whose head is the target's; builds that run after other builds
/// know no number. Only GitHub has such builds.
pub fn pull_request_from(target: &CommentTarget, owner: &str, branch: &str, wire: &Wire) -> Result<Option<u64>, Error> {
    if target.host != CodeHost::Github {
        return Ok(None);
    }
    let origin = HttpOrigin::parse(&target.api, wire.settings.allow_plain_http)?;
    let client = Client::new(origin, target.credential.clone(), wire.settings.clone(), wire.clock)?;
    github::Github::new(client, target)?.pull_request_from(owner, branch)
}

fn conversation<'a>(target: &'a CommentTarget, wire: &Wire<'a>) -> Result<Box<dyn Conversation + 'a>, Error> {
    let origin = HttpOrigin::parse(&target.api, wire.settings.allow_plain_http)?;
    let client = Client::new(origin, target.credential.clone(), wire.settings.clone(), wire.clock)?;
    Ok(match target.host {
        CodeHost::Github => Box::new(github::Github::new(client, target)?),
        CodeHost::Gitlab => Box::new(gitlab::Gitlab::new(client, target)),
        CodeHost::Bitbucket => Box::new(bitbucket::Bitbucket::new(client, target)?),
        CodeHost::Azure => Box::new(azure::Azure::new(client, target)?),
        CodeHost::Gitea => Box::new(gitea::Gitea::new(client, target)?),
    })
}

/// What a code host has to be able to do.
trait Conversation {
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
    /// Whether the host says which comments programs wrote, so that a token without a name finds its own.
    fn names_programs(&self) -> bool {
        false
    }
    /// Who we are, in the same words as `Posted::author`; `None` when the token may not ask.
    fn viewer(&self) -> Result<Option<String>, Error>;

    /// The lines that the pull request shows; `None` where notes on lines are not supported.
    fn shown_lines(&self) -> Result<Option<Vec<diff::ShownFile>>, Error> {
        Ok(None)
    }
    fn line_notes(&self) -> Result<Vec<Posted>, Error> {
        Ok(Vec::new())
    }
    /// Posts notes of which every line is shown; returns how many were taken.
    fn post_line_notes(&self, _notes: &[review::PlacedNote]) -> Result<usize, Error> {
        Ok(0)
    }
}

/// A comment as it stands on the host.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Posted {
    id: String,
    body: String,
    author: Option<String>,
    /// Written by a program rather than by a person.
    automated: bool,
    url: Option<String>,
    /// The host's other name for it, where hiding needs one.
    node: Option<String>,
}

fn text(value: &serde_json::Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(serde_json::Value::as_str).map(str::to_owned)
}

/// `owner/name` into its two parts.
fn owner_and_name(repository: &str) -> Result<(&str, &str), Error> {
    match repository.split_once('/') {
        Some((owner, name)) if !owner.is_empty() && !name.is_empty() && !name.contains('/') => Ok((owner, name)),
        _ => {
            Err(Error::new(HttpErrorKind::Unusable, format!("`{repository}` is no repository of the form owner/name")))
        }
    }
}
