//! Sends the requests that most code hosts have in common: one comment, all pages of a list, the user of the token.

use serde_json::{Value, json};

use super::conversation::{Posted, text};
use super::marker;
use crate::http::{Error, HttpClient, HttpErrorKind, HttpMethod, HttpRequest, Reply};

/// The items of a page, and whether another page follows.
pub(super) type HostPage = (Vec<Value>, bool);

/// The form of a host's requests and answers.
pub(super) struct HostDialect {
    /// Adds the headers of the host to a request.
    pub(super) prepare: for<'r> fn(HttpRequest<'r>) -> HttpRequest<'r>,
    /// The parameter for the number of items on a page, if the host has one.
    pub(super) page_size: Option<&'static str>,
    /// The limit on pages. If there are more, a new comment is better than a longer wait.
    pub(super) most_pages: u32,
    /// Returns a page; `None` if the answer has another form.
    pub(super) read_page: fn(&Reply, Value) -> Option<HostPage>,
    /// Reads a comment.
    pub(super) posted: fn(&Value) -> Option<Posted>,
    /// The name of a comment, for error messages.
    pub(super) comment: &'static str,
}

/// The form of most hosts.
pub(super) const COMMON: HostDialect = HostDialect {
    prepare: |request| request,
    page_size: Some("per_page"),
    most_pages: 100,
    read_page: linked_page,
    posted,
    comment: "a comment",
};

const PAGE_SIZE: u32 = 100;

/// The part of a host's interface below one address.
pub(super) struct HostApi<'a> {
    pub(super) client: HttpClient<'a>,
    pub(super) base: Vec<&'a str>,
    /// The number of the pull request.
    pub(super) number: String,
    pub(super) dialect: &'static HostDialect,
}

impl HostApi<'_> {
    pub(super) fn request<'r>(&'r self, method: HttpMethod, path: &[&'r str]) -> HttpRequest<'r> {
        let mut full = self.base.clone();
        full.extend(path);
        (self.dialect.prepare)(HttpRequest::new(method, full))
    }

    pub(super) fn get(&self, path: &[&str]) -> Result<Value, Error> {
        self.client.send(&self.request(HttpMethod::Get, path))?.json()
    }

    pub(super) fn post(&self, path: &[&str], body: Value) -> Result<(), Error> {
        self.client.send(&self.request(HttpMethod::Post, path).json(body)).map(drop)
    }

    pub(super) fn delete(&self, path: &[&str]) -> Result<(), Error> {
        self.client.send(&self.request(HttpMethod::Delete, path)).map(drop)
    }

    /// Returns the comment with which the host answers.
    pub(super) fn comment(&self, method: HttpMethod, path: &[&str], body: Option<Value>) -> Result<Posted, Error> {
        let request = self.request(method, path);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let answer = self.client.send(&request)?.json()?;
        (self.dialect.posted)(&answer).ok_or_else(|| unexpected(self.dialect.comment))
    }

    /// Returns the selected items of all pages. Requests pages by number, because the address of the next page in an
    /// answer could lead anywhere.
    pub(super) fn pages<T>(
        &self,
        path: &[&str],
        order: &[(&'static str, &str)],
        wanted: impl Fn(&Value) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        for page in 1..=self.dialect.most_pages {
            let mut request = self.request(HttpMethod::Get, path);
            if let Some(name) = self.dialect.page_size {
                request = request.query(name, PAGE_SIZE);
            }
            request = request.query("page", page);
            for (name, value) in order {
                request = request.query(name, value);
            }
            let reply = self.client.send(&request)?;
            let page = (self.dialect.read_page)(&reply, reply.json()?);
            let (items, has_next_page) = page.ok_or_else(|| unexpected("a list"))?;
            all.extend(items.iter().filter_map(&wanted));
            if !has_next_page {
                break;
            }
        }
        Ok(all)
    }

    /// Returns a comment with a hidden line of gpulint.
    pub(super) fn posted_by_us(&self, comment: &Value) -> Option<Posted> {
        (self.dialect.posted)(comment).filter(|posted| marker::is_ours(&posted.body))
    }

    /// Returns the user of the token; `None` if the token may not query it.
    pub(super) fn user(&self) -> Result<Option<Value>, Error> {
        unless_refused(self.client.send(&(self.dialect.prepare)(HttpRequest::new(HttpMethod::Get, ["user"]))))
    }
}

/// Returns the answer; `None` if the token may not send the request.
pub(super) fn unless_refused(reply: Result<Reply, Error>) -> Result<Option<Value>, Error> {
    match reply {
        Ok(reply) => reply.json().map(Some),
        Err(error) if matches!(error.status(), Some(401 | 403 | 404)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the error for an answer of another form.
pub(super) fn unexpected(what: &str) -> Error {
    Error::new(HttpErrorKind::Malformed, format!("the server did not answer with {what}"))
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

/// Reads a page that is a list; a `link` header leads to the next page.
pub(super) fn linked_page(reply: &Reply, answer: Value) -> Option<HostPage> {
    match answer {
        Value::Array(items) => Some((items, reply.has_next_page())),
        _ => None,
    }
}

pub(super) fn sorted_by_number(mut comments: Vec<Posted>) -> Vec<Posted> {
    comments.sort_by_key(|comment| comment.id.parse::<u64>().unwrap_or(u64::MAX));
    comments
}

/// Returns a review with notes on lines, for GitHub and similar hosts.
pub(super) fn review(summary: &str, comments: Vec<Value>, head: Option<&str>) -> Value {
    let mut review = json!({ "event": "COMMENT", "body": summary, "comments": comments });
    if let (Some(head), Some(review)) = (head, review.as_object_mut()) {
        review.insert("commit_id".to_owned(), json!(head));
    }
    review
}
