//! Supports GitHub and GitHub Enterprise. The comments of a pull request are those of the issue with its number.

use serde_json::{Value, json};

use super::api::{COMMON, HostApi, HostDialect, review, sorted_by_number};
use super::conversation::{CommentTarget, Conversation, PlacedNote, Posted, owner_and_name, text};
use super::diff::{self, ShownFile};
use crate::http::{Error, HttpClient, HttpMethod, HttpRequest};

/// The version of the REST API, pinned so that answers keep their shape.
const API_VERSION: &str = "2022-11-28";
const DIALECT: HostDialect = HostDialect { prepare, ..COMMON };

pub(super) struct Github<'a> {
    api: HostApi<'a>,
    head: Option<&'a str>,
}

impl<'a> Github<'a> {
    pub(super) fn new(client: HttpClient<'a>, target: &'a CommentTarget) -> Result<Self, Error> {
        let (owner, name) = owner_and_name(&target.repository)?;
        let (base, number) = (vec!["repos", owner, name], target.number.to_string());
        Ok(Github { api: HostApi { client, base, number, dialect: &DIALECT }, head: target.head.as_deref() })
    }

    /// Queries the GraphQL API. Its errors arrive as successful answers with an error list.
    fn graphql(&self, question: Value) -> Option<Value> {
        let path = self.api.client.origin().path().trim_end_matches('/');
        let base = path.strip_suffix("/v3").unwrap_or(path);
        let client = self.api.client.at(base);
        let request = HttpRequest::new(HttpMethod::Post, ["graphql"]);
        client.send(&request.json(question)).ok()?.json().ok()
    }

    /// Returns the pull request of a branch whose head is the target's commit, because the branch may have newer
    /// commits or several pull requests.
    pub(super) fn pull_request_from(&self, owner: &str, branch: &str) -> Result<Option<u64>, Error> {
        let request = self.api.request(HttpMethod::Get, &["pulls"]);
        let request = request.query("state", "open").query("head", format!("{owner}:{branch}")).query("per_page", 100);
        let pulls = self.api.client.send(&request)?.json()?;
        let ours = |pull: &&Value| text(pull, "/head/sha").as_deref() == self.head;
        let mut found = pulls.as_array().into_iter().flatten().filter(ours);
        let first = found.next().and_then(|pull| pull.get("number")?.as_u64());
        Ok(first.filter(|_| self.head.is_some() && found.next().is_none()))
    }
}

impl Conversation for Github<'_> {
    fn comments(&self) -> Result<Vec<Posted>, Error> {
        let path = ["issues", &self.api.number, "comments"];
        self.api.pages(&path, &[], |it| self.api.posted_by_us(it)).map(sorted_by_number)
    }

    fn comment(&self, id: &str) -> Result<Posted, Error> {
        self.api.comment(HttpMethod::Get, &["issues", "comments", id], None)
    }

    fn create(&self, body: &str) -> Result<Posted, Error> {
        let path = ["issues", &self.api.number, "comments"];
        self.api.comment(HttpMethod::Post, &path, Some(json!({ "body": body })))
    }

    fn update(&self, id: &str, body: &str) -> Result<Posted, Error> {
        self.api.comment(HttpMethod::Patch, &["issues", "comments", id], Some(json!({ "body": body })))
    }

    fn delete(&self, id: &str) -> Result<(), Error> {
        self.api.delete(&["issues", "comments", id])
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
        Ok(text(&self.api.get(&["pulls", &self.api.number])?, "/head/sha"))
    }

    fn pause(&self, attempt: u32) {
        self.api.client.pause(attempt);
    }

    /// Returns the name behind the token. The token of an app or a workflow cannot query it by REST, only by GraphQL.
    fn viewer(&self) -> Result<Option<String>, Error> {
        if let Some(user) = self.api.user()? {
            return Ok(text(&user, "/login"));
        }
        let answer = self.graphql(json!({ "query": "query { viewer { login } }" }));
        Ok(answer.and_then(|answer| text(&answer, "/data/viewer/login")))
    }

    fn shown_lines(&self) -> Result<Option<Vec<ShownFile>>, Error> {
        let shown = self.api.pages(&["pulls", &self.api.number, "files"], &[], |file| {
            let path = text(file, "/filename")?;
            let old_path = text(file, "/previous_filename").unwrap_or_else(|| path.clone());
            // A file that is too large or binary has no patch.
            let hunks = diff::hunks(file.get("patch")?.as_str()?);
            Some(ShownFile { path, old_path, hunks })
        });
        shown.map(Some)
    }

    fn line_notes(&self) -> Result<Vec<Posted>, Error> {
        self.api.pages(&["pulls", &self.api.number, "comments"], &[], |it| self.api.posted_by_us(it))
    }

    /// Sends all notes in one review, so that people get one notification.
    fn post_line_notes(&self, notes: &[PlacedNote]) -> Result<usize, Error> {
        let comments: Vec<Value> = notes.iter().map(line_comment).collect();
        let summary = match notes.len() {
            1 => "1 note on a changed line".to_owned(),
            count => format!("{count} notes on changed lines"),
        };
        let review = review(&summary, comments, self.head);
        self.api.post(&["pulls", &self.api.number, "reviews"], review)?;
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

fn prepare(mut request: HttpRequest<'_>) -> HttpRequest<'_> {
    request.accept = "application/vnd.github+json";
    request.headers.push(("x-github-api-version", API_VERSION));
    request
}
