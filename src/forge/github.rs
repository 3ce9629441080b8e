//! Supports GitHub and GitHub Enterprise. The comments of a pull request are those of the issue with its number.

use serde_json::{Value, json};

use super::conversation::{CommentTarget, Conversation, PlacedNote, Posted, owner_and_name, text};
use super::diff::{self, ShownFile};
use super::marker;
use crate::http::{Error, HttpClient, HttpErrorKind, HttpMethod, HttpRequest, Reply};

/// The version of the REST API, pinned so that answers keep their shape.
const API_VERSION: &str = "2022-11-28";
const PAGE_SIZE: u32 = 100;
/// The limit on pages, for 10,000 comments. If there are more, a new comment is better than a longer wait.
const MOST_PAGES: u32 = 100;

pub(super) struct Github<'a> {
    client: HttpClient<'a>,
    owner: &'a str,
    name: &'a str,
    number: String,
    head: Option<&'a str>,
}

impl<'a> Github<'a> {
    pub(super) fn new(client: HttpClient<'a>, target: &'a CommentTarget) -> Result<Self, Error> {
        let (owner, name) = owner_and_name(&target.repository)?;
        Ok(Github { client, owner, name, number: target.number.to_string(), head: target.head.as_deref() })
    }

    fn request<'r>(&'r self, method: HttpMethod, path: &[&'r str]) -> HttpRequest<'r> {
        let mut full = vec!["repos", self.owner, self.name];
        full.extend(path);
        let mut request = HttpRequest::new(method, full);
        request.accept = "application/vnd.github+json";
        request.headers.push(("x-github-api-version", API_VERSION));
        request
    }

    /// Queries the GraphQL API. Its errors arrive as successful answers with an error list.
    fn graphql(&self, question: Value) -> Option<Value> {
        let path = self.client.origin().path().trim_end_matches('/');
        let base = path.strip_suffix("/v3").unwrap_or(path);
        let client = self.client.at(base);
        let request = HttpRequest::new(HttpMethod::Post, ["graphql"]);
        client.send(&request.json(question)).ok()?.json().ok()
    }

    /// Returns the pull request of a branch whose head is the target's commit, because the branch may have newer
    /// commits or several pull requests.
    pub(super) fn pull_request_from(&self, owner: &str, branch: &str) -> Result<Option<u64>, Error> {
        let request = self.request(HttpMethod::Get, &["pulls"]);
        let request =
            request.query("state", "open").query("head", format!("{owner}:{branch}")).query("per_page", PAGE_SIZE);
        let pulls = self.client.send(&request)?.json()?;
        let ours = |pull: &&Value| text(pull, "/head/sha").as_deref() == self.head;
        let mut found = pulls.as_array().into_iter().flatten().filter(ours);
        let first = found.next().and_then(|pull| pull.get("number")?.as_u64());
        Ok(first.filter(|_| self.head.is_some() && found.next().is_none()))
    }

    /// Returns the selected items of all pages.
    fn pages<T>(&self, path: &[&str], wanted: impl Fn(&Value) -> Option<T>) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        for page in 1..=MOST_PAGES {
            let request = self.request(HttpMethod::Get, path).query("per_page", PAGE_SIZE).query("page", page);
            let reply = self.client.send(&request)?;
            let Value::Array(items) = reply.json()? else {
                return Err(Error::new(HttpErrorKind::Malformed, "the server did not answer with a list"));
            };
            all.extend(items.iter().filter_map(&wanted));
            if !reply.has_next_page() {
                break;
            }
        }
        Ok(all)
    }
}

impl Conversation for Github<'_> {
    fn comments(&self) -> Result<Vec<Posted>, Error> {
        let mut comments = self.pages(&["issues", &self.number, "comments"], posted_by_us)?;
        comments.sort_by_key(|comment| comment.id.parse::<u64>().unwrap_or(u64::MAX));
        Ok(comments)
    }

    fn comment(&self, id: &str) -> Result<Posted, Error> {
        one(&self.client.send(&self.request(HttpMethod::Get, &["issues", "comments", id]))?)
    }

    fn create(&self, body: &str) -> Result<Posted, Error> {
        let request =
            self.request(HttpMethod::Post, &["issues", &self.number, "comments"]).json(json!({ "body": body }));
        one(&self.client.send(&request)?)
    }

    fn update(&self, id: &str, body: &str) -> Result<Posted, Error> {
        let request = self.request(HttpMethod::Patch, &["issues", "comments", id]).json(json!({ "body": body }));
        one(&self.client.send(&request)?)
    }

    fn delete(&self, id: &str) -> Result<(), Error> {
        self.client.send(&self.request(HttpMethod::Delete, &["issues", "comments", id])).map(drop)
    }

    /// Hides a comment through GraphQL, because REST cannot minimize comments.
    fn hide(&self, comment: &Posted) -> Result<bool, Error> {
        let Some(node) = &comment.node else { return Ok(false) };
        let query = "mutation($id: ID!) { minimizeComment(input: { subjectId: $id, classifier: OUTDATED }) \
                     { minimizedComment { isMinimized } } }";
        let answer = self.graphql(json!({ "query": query, "variables": { "id": node } }));
        let is_hidden = answer.and_then(|it| it.pointer("/data/minimizeComment/minimizedComment/isMinimized").cloned());
        Ok(is_hidden == Some(Value::Bool(true)))
    }

    fn head(&self) -> Result<Option<String>, Error> {
        let pull = self.client.send(&self.request(HttpMethod::Get, &["pulls", &self.number]))?.json()?;
        Ok(pull.pointer("/head/sha").and_then(Value::as_str).map(str::to_owned))
    }

    fn pause(&self, attempt: u32) {
        self.client.pause(attempt);
    }

    /// Returns the name behind the token. The token of an app or a workflow cannot query it by REST, only by GraphQL.
    fn viewer(&self) -> Result<Option<String>, Error> {
        let mut request = HttpRequest::new(HttpMethod::Get, ["user"]);
        request.accept = "application/vnd.github+json";
        request.headers.push(("x-github-api-version", API_VERSION));
        match self.client.send(&request) {
            Ok(reply) => Ok(text(&reply.json()?, "/login")),
            Err(error) if matches!(error.status(), Some(401 | 403 | 404)) => {
                let answer = self.graphql(json!({ "query": "query { viewer { login } }" }));
                Ok(answer.and_then(|answer| text(&answer, "/data/viewer/login")))
            }
            Err(error) => Err(error),
        }
    }

    fn shown_lines(&self) -> Result<Option<Vec<ShownFile>>, Error> {
        let shown = self.pages(&["pulls", &self.number, "files"], |file| {
            let path = text(file, "/filename")?;
            let old_path = text(file, "/previous_filename").unwrap_or_else(|| path.clone());
            // A file that is too large or binary has no patch.
            let hunks = diff::hunks(file.get("patch")?.as_str()?);
            Some(ShownFile { path, old_path, hunks })
        });
        shown.map(Some)
    }

    fn line_notes(&self) -> Result<Vec<Posted>, Error> {
        self.pages(&["pulls", &self.number, "comments"], posted_by_us)
    }

    /// Sends all notes in one review, so that people get one notification.
    fn post_line_notes(&self, notes: &[PlacedNote]) -> Result<usize, Error> {
        let comments: Vec<Value> = notes.iter().map(line_comment).collect();
        let summary = match notes.len() {
            1 => "1 note on a changed line".to_owned(),
            count => format!("{count} notes on changed lines"),
        };
        let mut review = json!({ "event": "COMMENT", "body": summary, "comments": comments });
        if let (Some(head), Some(review)) = (self.head, review.as_object_mut()) {
            review.insert("commit_id".to_owned(), json!(head));
        }
        self.client.send(&self.request(HttpMethod::Post, &["pulls", &self.number, "reviews"]).json(review))?;
        Ok(notes.len())
    }
}

fn line_comment(placed: &PlacedNote) -> Value {
    let note = placed.note;
    let mut comment = json!({ "path": note.path, "line": note.last_line, "side": "RIGHT", "body": placed.body });
    if let Some(comment) = comment.as_object_mut().filter(|_| note.first_line < note.last_line) {
        comment.insert("start_line".to_owned(), json!(note.first_line));
        comment.insert("start_side".to_owned(), json!("RIGHT"));
    }
    comment
}

fn one(reply: &Reply) -> Result<Posted, Error> {
    posted(&reply.json()?)
        .ok_or_else(|| Error::new(HttpErrorKind::Malformed, "the server did not answer with a comment"))
}

fn posted_by_us(comment: &Value) -> Option<Posted> {
    posted(comment).filter(|posted| marker::is_ours(&posted.body))
}

fn posted(comment: &Value) -> Option<Posted> {
    Some(Posted {
        id: comment.get("id")?.as_u64()?.to_string(),
        body: text(comment, "/body").unwrap_or_default(),
        author: text(comment, "/user/login"),
        url: text(comment, "/html_url"),
        node: text(comment, "/node_id"),
    })
}
