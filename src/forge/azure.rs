//! Supports Azure Repos. A pull request has threads, and the report is the first comment of a thread.
//!
//! Notes on lines are not supported: the interface lists changed files without the lines that changed.

use serde_json::{Value, json};

use super::api::{unexpected, unless_refused};
use super::conversation::{CommentTarget, Conversation, Posted, owner_and_name, text};
use crate::http::{Error, HttpClient, HttpErrorKind, HttpMethod, HttpRequest, Reply};

const API_VERSION: &str = "7.1";

pub(super) struct Azure<'a> {
    client: HttpClient<'a>,
    project: &'a str,
    repository: &'a str,
    number: String,
}

impl<'a> Azure<'a> {
    pub(super) fn new(client: HttpClient<'a>, target: &'a CommentTarget) -> Result<Self, Error> {
        let (project, repository) = owner_and_name(&target.repository)?;
        Ok(Azure { client, project, repository, number: target.number.to_string() })
    }

    fn request<'r>(&'r self, method: HttpMethod, path: &[&'r str]) -> HttpRequest<'r> {
        let mut full =
            vec![self.project, "_apis", "git", "repositories", self.repository, "pullRequests", &self.number];
        full.extend(path);
        HttpRequest::new(method, full).query("api-version", API_VERSION)
    }

    fn send(&self, request: &HttpRequest) -> Result<Reply, Error> {
        let reply = self.client.send(request)?;
        // Azure answers a rejected token with success and a page to sign in.
        if reply.status == 203 {
            return Err(Error::new(
                HttpErrorKind::Status(401),
                format!("{} rejected the token", self.client.origin().host()),
            ));
        }
        Ok(reply)
    }
}

impl Conversation for Azure<'_> {
    fn comments(&self) -> Result<Vec<Posted>, Error> {
        let answer = self.send(&self.request(HttpMethod::Get, &["threads"]))?.json()?;
        let Some(Value::Array(threads)) = answer.get("value") else {
            return Err(unexpected("a list"));
        };
        let living = threads.iter().filter(|thread| thread.get("isDeleted") != Some(&Value::Bool(true)));
        let mut comments: Vec<(u64, Posted)> = living.filter_map(first_comment).collect();
        comments.sort_by_key(|(thread, _)| *thread);
        Ok(comments.into_iter().map(|(_, comment)| comment).collect())
    }

    fn comment(&self, id: &str) -> Result<Posted, Error> {
        let (thread, comment) = thread_and_comment(id)?;
        let found = self.send(&self.request(HttpMethod::Get, &["threads", thread, "comments", comment]))?.json()?;
        posted(thread, &found).ok_or_else(|| unexpected("a comment"))
    }

    /// Creates the comment. Its thread is closed from the start, because an open one could block the merge.
    fn create(&self, body: &str) -> Result<Posted, Error> {
        let comment = json!({ "parentCommentId": 0, "content": body, "commentType": "text" });
        let thread = json!({ "comments": [comment], "status": "closed" });
        let made = self.send(&self.request(HttpMethod::Post, &["threads"]).json(thread))?.json()?;
        let made = first_comment(&made).ok_or_else(|| unexpected("a thread"))?;
        Ok(made.1)
    }

    fn update(&self, id: &str, body: &str) -> Result<Posted, Error> {
        let (thread, comment) = thread_and_comment(id)?;
        let request = self.request(HttpMethod::Patch, &["threads", thread, "comments", comment]);
        let made = self.send(&request.json(json!({ "content": body })))?.json()?;
        posted(thread, &made).ok_or_else(|| unexpected("a comment"))
    }

    fn delete(&self, id: &str) -> Result<(), Error> {
        let (thread, comment) = thread_and_comment(id)?;
        self.send(&self.request(HttpMethod::Delete, &["threads", thread, "comments", comment])).map(drop)
    }

    fn head(&self) -> Result<Option<String>, Error> {
        let pull = self.send(&self.request(HttpMethod::Get, &[]))?.json()?;
        Ok(text(&pull, "/lastMergeSourceCommit/commitId"))
    }

    fn pause(&self, attempt: u32) {
        self.client.pause(attempt);
    }

    fn viewer(&self) -> Result<Option<String>, Error> {
        let reply = self.send(&HttpRequest::new(HttpMethod::Get, ["_apis", "connectionData"]));
        Ok(unless_refused(reply)?.and_then(|it| text(&it, "/authenticatedUser/id")))
    }
}

fn first_comment(thread: &Value) -> Option<(u64, Posted)> {
    let id = thread.get("id")?.as_u64()?;
    let first = thread.get("comments")?.as_array()?.first()?;
    let deleted = first.get("isDeleted") == Some(&Value::Bool(true));
    posted(&id.to_string(), first).filter(|_| !deleted).map(|comment| (id, comment))
}

fn posted(thread: &str, comment: &Value) -> Option<Posted> {
    Some(Posted {
        id: format!("{thread}/{}", comment.get("id")?.as_u64()?),
        body: text(comment, "/content").unwrap_or_default(),
        author: text(comment, "/author/id"),
        url: None,
        node: None,
    })
}

fn thread_and_comment(id: &str) -> Result<(&str, &str), Error> {
    id.split_once('/')
        .ok_or_else(|| Error::new(HttpErrorKind::Unusable, format!("`{id}` is not a comment of a thread")))
}
