//! Decides which comments to write, in the same way on every host.
//!
//! Several runs can work on one pull request at the same time, and none can lock anything. So each run checks again
//! after writing. If several comments have one tag, the oldest stays. A run whose commit is outdated leaves the
//! comment alone.

use super::conversation::{CommentOutcome, Conversation, ForgeComment, Mode, Posted};
use super::host::HiddenStyle;
use super::marker::{self, same_commit};
use crate::http::{Error, HttpErrorKind};

/// A comment may be deleted or changed during an update. After this many conflicts, gpulint leaves the pull request
/// alone.
const MOST_ROUNDS: u32 = 4;

pub(super) fn upsert(
    host: &dyn Conversation,
    comment: &ForgeComment,
    body: &str,
    head: Option<&str>,
) -> Result<CommentOutcome, Error> {
    if comment.mode == Mode::New {
        if comment.only_if_present {
            return Ok(CommentOutcome::NotNeeded);
        }
        return create_once(host, comment, body, &[]).map(|posted| CommentOutcome::Created { url: posted.url });
    }
    for _ in 0..MOST_ROUNDS {
        let ours = match earlier(host, comment)? {
            Earlier::Ours(ours) => ours,
            Earlier::OfAnybody(found) => return replace_by_own_name(host, comment, body, &found),
        };
        let Some(first) = ours.first() else {
            if comment.only_if_present {
                return Ok(CommentOutcome::NotNeeded);
            }
            let posted = create_once(host, comment, body, &[])?;
            return remove_duplicate_comment(host, comment, body, posted, head);
        };
        let same = marker::content(&first.body) == marker::content(body);
        if same && ours.len() == 1 {
            return Ok(CommentOutcome::Unchanged { url: first.url.clone() });
        }
        if let Some(newer) = newer_head(host, first, head) {
            return Ok(CommentOutcome::Superseded { head: newer });
        }
        let written = match comment.mode {
            Mode::DeleteAndNew | Mode::HideAndNew if !marker::has_same_content(&first.body, body) => {
                Some(replace(host, comment, body, &ours)?)
            }
            _ => bring_up_to_date(host, first, body, same, &ours, head)?,
        };
        if let Some(outcome) = written {
            return Ok(outcome);
        }
    }
    Err(Error::new(HttpErrorKind::Interrupted, "the comment changes again and again: another job writes to it"))
}

/// Comments with gpulint's marker and this tag, the oldest first.
enum Earlier {
    Ours(Vec<Posted>),
    /// The token may not query its own name. These comments may be from anyone, because a person or program can paste
    /// a marker.
    OfAnybody(Vec<Posted>),
}

fn earlier(host: &dyn Conversation, comment: &ForgeComment) -> Result<Earlier, Error> {
    let mut found = with_our_marker(host, comment)?;
    if found.is_empty() {
        return Ok(Earlier::Ours(found));
    }
    Ok(match host.viewer()? {
        None => Earlier::OfAnybody(found),
        viewer => {
            found.retain(|posted| posted.author == viewer);
            Earlier::Ours(found)
        }
    })
}

fn with_our_marker(host: &dyn Conversation, comment: &ForgeComment) -> Result<Vec<Posted>, Error> {
    let tag = comment.tag.to_string();
    let mut found = host.comments()?;
    found.retain(|posted| marker::read(&posted.body).is_some_and(|marker| marker.tag == tag));
    Ok(found)
}

/// Writes a new comment, whose author is gpulint's own name, and replaces earlier comments of this author.
fn replace_by_own_name(
    host: &dyn Conversation,
    comment: &ForgeComment,
    body: &str,
    found: &[Posted],
) -> Result<CommentOutcome, Error> {
    let posted = create_once(host, comment, body, found)?;
    let ours: Vec<&Posted> = found.iter().filter(|it| it.author.is_some() && it.author == posted.author).collect();
    if comment.only_if_present && ours.is_empty() {
        return host.delete(&posted.id).map(|()| CommentOutcome::NotNeeded);
    }
    for old in ours {
        put_away(host, comment, old)?;
    }
    Ok(CommentOutcome::Created { url: posted.url })
}

fn put_away(host: &dyn Conversation, comment: &ForgeComment, old: &Posted) -> Result<(), Error> {
    match comment.mode {
        Mode::HideAndNew => hide(host, old),
        _ => ignore_gone(host.delete(&old.id)),
    }
}

/// Returns the newest commit of the pull request, if it is the commit in the comment and not the commit of this run.
fn newer_head(host: &dyn Conversation, posted: &Posted, head: Option<&str>) -> Option<String> {
    let head = head?;
    let told = marker::read(&posted.body)?.head?;
    if same_commit(&told, head) {
        return None;
    }
    // A token that may not query the head can still write. The last writer then wins.
    let newest = host.head().ok()??;
    (same_commit(&newest, &told) && !same_commit(&newest, head)).then_some(newest)
}

/// Updates the comment; returns `None` if the comment has disappeared in the meantime.
fn bring_up_to_date(
    host: &dyn Conversation,
    first: &Posted,
    body: &str,
    same: bool,
    ours: &[Posted],
    head: Option<&str>,
) -> Result<Option<CommentOutcome>, Error> {
    remove_extras(host, ours.get(1..).unwrap_or_default())?;
    if same {
        return Ok(Some(CommentOutcome::Unchanged { url: first.url.clone() }));
    }
    let updated = match host.update(&first.id, body) {
        Err(error) if is_gone(&error) => return Ok(None),
        other => other?,
    };
    let seen = match host.comment(&first.id) {
        Err(error) if is_gone(&error) => return Ok(None),
        other => other?,
    };
    if marker::content(&seen.body) == marker::content(body) {
        return Ok(Some(CommentOutcome::Updated { url: updated.url }));
    }
    // Another run wrote after this one. If its commit is the newest, its comment is right; otherwise the host is
    // queried again.
    Ok(newer_head(host, &seen, head).map(|head| CommentOutcome::Superseded { head }))
}

/// Writes a new comment before it removes earlier ones, so that a failure leaves too many comments and not none.
fn replace(
    host: &dyn Conversation,
    comment: &ForgeComment,
    body: &str,
    ours: &[Posted],
) -> Result<CommentOutcome, Error> {
    let posted = create_once(host, comment, body, ours)?;
    for old in ours {
        put_away(host, comment, old)?;
    }
    Ok(CommentOutcome::Created { url: posted.url })
}

/// Hides an old comment. If the host cannot hide comments, one line of the old comment stays.
fn hide(host: &dyn Conversation, old: &Posted) -> Result<(), Error> {
    let style = if old.body.starts_with('[') { HiddenStyle::LinkDefinition } else { HiddenStyle::HtmlComment };
    let hidden = host.hide(old)?;
    let left = if hidden { old.body.as_str() } else { "_Replaced by a newer report below._" };
    ignore_gone(host.update(&old.id, &marker::retire(left, style)).map(drop))
}

/// Creates a comment. If the answer is lost, checks whether the comment exists before it tries again.
fn create_once(
    host: &dyn Conversation,
    comment: &ForgeComment,
    body: &str,
    earlier: &[Posted],
) -> Result<Posted, Error> {
    let mut lost = None;
    for round in 0..MOST_ROUNDS {
        match host.create(body) {
            Err(error) if error.is_ambiguous() => lost = Some(error),
            other => return other,
        }
        let known = |posted: &Posted| earlier.iter().any(|old| old.id == posted.id);
        let found = with_our_marker(host, comment)?;
        let found = found.into_iter().rev().find(|posted| !known(posted));
        if let Some(found) = found.filter(|found| marker::content(&found.body) == marker::content(body)) {
            return Ok(found);
        }
        host.pause(round);
    }
    Err(lost.unwrap_or_else(|| Error::new(HttpErrorKind::Interrupted, "the comment could not be created")))
}

/// Removes duplicates, because another run may have created a comment at the same time. The oldest stays, so both runs
/// make the same choice.
fn remove_duplicate_comment(
    host: &dyn Conversation,
    comment: &ForgeComment,
    body: &str,
    posted: Posted,
    head: Option<&str>,
) -> Result<CommentOutcome, Error> {
    let mut all = with_our_marker(host, comment)?;
    all.retain(|it| it.id == posted.id || it.author.is_some() && it.author == posted.author);
    let Some((first, extras)) = all.split_first().filter(|(_, extras)| !extras.is_empty()) else {
        return Ok(CommentOutcome::Created { url: posted.url });
    };
    remove_extras(host, extras)?;
    if first.id == posted.id {
        return Ok(CommentOutcome::Created { url: posted.url });
    }
    if let Some(head) = newer_head(host, first, head) {
        return Ok(CommentOutcome::Superseded { head });
    }
    if marker::content(&first.body) != marker::content(body) {
        host.update(&first.id, body)?;
    }
    Ok(CommentOutcome::Updated { url: first.url.clone() })
}

fn remove_extras(host: &dyn Conversation, extras: &[Posted]) -> Result<(), Error> {
    extras.iter().try_for_each(|extra| ignore_gone(host.delete(&extra.id)))
}

fn ignore_gone(result: Result<(), Error>) -> Result<(), Error> {
    match result {
        Err(error) if is_gone(&error) => Ok(()),
        other => other,
    }
}

fn is_gone(error: &Error) -> bool {
    matches!(error.status(), Some(404 | 410))
}
