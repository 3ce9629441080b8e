//! Supports Gitea and Forgejo. They are similar to GitHub, but the server sets the page sizes and there are no bots.

use serde_json::{Value, json};

use super::conversation::{CommentTarget, Conversation, PlacedNote, Posted, owner_and_name, text};
use super::diff::{self, ShownFile};
use super::marker;
use crate::http::{Error, HttpClient, HttpErrorKind, HttpMethod, HttpRequest, Reply};

const MOST_PAGES: u32 = 200;

pub(super) struct Gitea<'a> {
    client: HttpClient<'a>,
    owner: &'a str,
    name: &'a str,
    number: String,
    head: Option<&'a str>,
}

impl<'a> Gitea<'a> {
    pub(super) fn new(client: HttpClient<'a>, target: &'a CommentTarget) -> Result<Self, Error> {
        let (owner, name) = owner_and_name(&target.repository)?;
        Ok(Gitea { client, owner, name, number: target.number.to_string(), head: target.head.as_deref() })
    }

    fn request<'r>(&'r self, method: HttpMethod, path: &[&'r str]) -> HttpRequest<'r> {
        let mut full = vec!["repos", self.owner, self.name];
        full.extend(path);
        HttpRequest::new(method, full)
    }

    /// Returns the selected items of all pages.
    fn pages<T>(&self, path: &[&str], wanted: impl Fn(&Value) -> Option<T>) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        for page in 1..=MOST_PAGES {
            let reply = self.client.send(&self.request(HttpMethod::Get, path).query("page", page))?;
            let items = match reply.json()? {
                Value::Array(items) => items,
                // Some versions answer an empty list with null.
                Value::Null => Vec::new(),
                _ => return Err(Error::new(HttpErrorKind::Malformed, "the server did not answer with a list")),
            };
            all.extend(items.iter().filter_map(&wanted));
            if !reply.has_next_page() {
                break;
            }
        }
        Ok(all)
    }
}

impl Conversation for Gitea<'_> {
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

    fn head(&self) -> Result<Option<String>, Error> {
        let pull = self.client.send(&self.request(HttpMethod::Get, &["pulls", &self.number]))?.json()?;
        Ok(pull.pointer("/head/sha").and_then(Value::as_str).map(str::to_owned))
    }

    fn pause(&self, attempt: u32) {
        self.client.pause(attempt);
    }

    fn viewer(&self) -> Result<Option<String>, Error> {
        match self.client.send(&HttpRequest::new(HttpMethod::Get, ["user"])) {
            Ok(reply) => Ok(text(&reply.json()?, "/login")),
            Err(error) if matches!(error.status(), Some(401 | 403 | 404)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn shown_lines(&self) -> Result<Option<Vec<ShownFile>>, Error> {
        let name = format!("{}.diff", self.number);
        let mut request = self.request(HttpMethod::Get, &["pulls", &name]);
        request.accept = "text/plain";
        Ok(Some(diff::files(&self.client.send(&request)?.text())))
    }

    /// Returns the notes of every review: the host lists them review by review.
    fn line_notes(&self) -> Result<Vec<Posted>, Error> {
        let mut notes = Vec::new();
        let reviews = self.pages(&["pulls", &self.number, "reviews"], |review| {
            let ours = review.get("body").and_then(Value::as_str).is_some_and(|body| body.starts_with(REVIEW));
            review.get("id").and_then(Value::as_u64).filter(|_| ours)
        })?;
        for id in reviews {
            let path = ["pulls", &self.number, "reviews", &id.to_string(), "comments"].map(str::to_owned);
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            let comments = self.client.send(&self.request(HttpMethod::Get, &path))?.json()?;
            notes.extend(comments.as_array().into_iter().flatten().filter_map(posted_by_us));
        }
        Ok(notes)
    }

    fn post_line_notes(&self, notes: &[PlacedNote]) -> Result<usize, Error> {
        let comments: Vec<Value> = notes
            .iter()
            .map(|placed| {
                json!({ "path": placed.note.path, "new_position": placed.note.last_line, "body": placed.body })
            })
            .collect();
        let mut review = json!({ "event": "COMMENT", "body": REVIEW, "comments": comments });
        if let (Some(head), Some(review)) = (self.head, review.as_object_mut()) {
            review.insert("commit_id".to_owned(), json!(head));
        }
        self.client.send(&self.request(HttpMethod::Post, &["pulls", &self.number, "reviews"]).json(review))?;
        Ok(notes.len())
    }
}

/// The first words of gpulint's reviews.
const REVIEW: &str = "Notes of gpulint on changed lines";

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
        node: None,
    })
}
