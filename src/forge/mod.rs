//! Writes and updates one gpulint comment on a pull request, on each supported code host.
//!
//! `upsert` decides for all hosts what to do: create, update, leave alone, or resolve a race. The file of a host only
//! lists, writes and deletes comments. Callers pass in the body: this module reads no finding, no file and no
//! environment. A token without write permission leads to a result and not to an error, because every fork has such a
//! token.

mod api;
mod azure;
mod bitbucket;
mod conversation;
mod diff;
mod gitea;
mod github;
mod gitlab;
mod host;
mod marker;
mod review;
mod upsert;

pub use conversation::{CommentOutcome, CommentTarget, ForgeComment, LineNote, Mode};
pub use host::CodeHost;
pub use marker::Tag;
pub use review::Reviewed;

use conversation::Conversation;

use crate::http::{Clock, Error, HttpClient, HttpErrorKind, HttpOrigin, HttpSettings};

/// The connection to the network.
pub struct Wire<'a> {
    pub settings: HttpSettings,
    pub clock: &'a dyn Clock,
}

/// Ensures that one comment with this tag has this body.
pub fn upsert(target: &CommentTarget, comment: &ForgeComment, wire: &Wire) -> Result<CommentOutcome, Error> {
    let conversation = conversation(target, wire)?;
    let stamped = preview(target, comment);
    let characters = stamped.chars().count();
    let limit = target.host.longest_body();
    if characters > limit {
        let message =
            format!("the comment has {characters} characters; the limit of {} is {limit}", target.host.name());
        return Err(Error::new(HttpErrorKind::Unusable, message));
    }
    match upsert::upsert(conversation.as_ref(), comment, &stamped, target.head.as_deref()) {
        Err(error) if error.status() == Some(403) => Ok(CommentOutcome::JobSummary { reason: error.message }),
        other => other,
    }
}

/// Returns the comment that would be written, for a dry run.
pub fn preview(target: &CommentTarget, comment: &ForgeComment) -> String {
    marker::stamp(&comment.body, &comment.tag, target.head.as_deref(), target.host.hidden_style())
}

/// Posts notes on changed lines; leaves existing notes alone.
pub fn review(target: &CommentTarget, tag: &Tag, notes: &[LineNote], wire: &Wire) -> Result<Reviewed, Error> {
    let conversation = conversation(target, wire)?;
    match review::review(conversation.as_ref(), target, tag, notes) {
        Err(error) if error.status() == Some(403) => {
            Ok(Reviewed { refused: Some(error.message), ..Reviewed::default() })
        }
        other => other,
    }
}

/// Returns the number of the only open pull request from this branch with the target's head. Builds that run after
/// other builds do not know this number. Only GitHub has such builds.
pub fn pull_request_from(target: &CommentTarget, owner: &str, branch: &str, wire: &Wire) -> Result<Option<u64>, Error> {
    if target.host != CodeHost::Github {
        return Ok(None);
    }
    let origin = HttpOrigin::parse(&target.api, wire.settings.allow_plain_http)?;
    let client = HttpClient::new(origin, target.credential.clone(), wire.settings.clone(), wire.clock)?;
    github::Github::new(client, target)?.pull_request_from(owner, branch)
}

fn conversation<'a>(target: &'a CommentTarget, wire: &Wire<'a>) -> Result<Box<dyn Conversation + 'a>, Error> {
    let origin = HttpOrigin::parse(&target.api, wire.settings.allow_plain_http)?;
    let client = HttpClient::new(origin, target.credential.clone(), wire.settings.clone(), wire.clock)?;
    Ok(match target.host {
        CodeHost::Github => Box::new(github::Github::new(client, target)?),
        CodeHost::Gitlab => Box::new(gitlab::Gitlab::new(client, target)),
        CodeHost::Bitbucket => Box::new(bitbucket::Bitbucket::new(client, target)?),
        CodeHost::Azure => Box::new(azure::Azure::new(client, target)?),
        CodeHost::Gitea => Box::new(gitea::Gitea::new(client, target)?),
    })
}
