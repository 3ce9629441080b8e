//! One comment of ours on a pull request, kept up to date, on every code host that people use.
//!
//! What to do (create, update, leave alone, settle a race) is decided once in `upsert`; a file a host says only how that
//! host lists, writes and deletes. The body is made elsewhere: this room reads no finding, no file and no environment.
//! A token that may not write is an outcome and not an error, because every fork's token is one.

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

pub use conversation::{Comment, CommentOutcome, CommentTarget, LineNote, Mode};
pub use host::CodeHost;
pub use marker::Tag;
pub use review::Reviewed;

use conversation::Conversation;

use crate::http::{Client, Clock, Error, HttpErrorKind, HttpOrigin, HttpSettings};

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
        let message = format!("the comment has {characters} characters; the limit of {} is {limit}", target.host.name());
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
