//! Supports Bitbucket Cloud: comments of a pull request, in pages, without HTML.

use serde_json::{Value, json};

use super::conversation::{CommentTarget, Conversation, PlacedNote, Posted, owner_and_name, text};
use super::diff::{self, ShownFile};
use super::marker;
use crate::http::{Error, HttpClient, HttpErrorKind, HttpMethod, HttpRequest, Reply};

const PAGE_SIZE: u32 = 100;
const MOST_PAGES: u32 = 100;

pub(super) struct Bitbucket<'a> {
    client: HttpClient<'a>,
    workspace: &'a str,
    name: &'a str,
    number: String,
}

impl<'a> Bitbucket<'a> {
    pub(super) fn new(client: HttpClient<'a>, target: &'a CommentTarget) -> Result<Self, Error> {
        let (workspace, name) = owner_and_name(&target.repository)?;
        Ok(Bitbucket { client, workspace, name, number: target.number.to_string() })
    }

    fn request<'r>(&'r self, method: HttpMethod, path: &[&'r str]) -> HttpRequest<'r> {
        let mut full = vec!["repositories", self.workspace, self.name, "pullrequests", &self.number];
        full.extend(path);
        HttpRequest::new(method, full)
    }

    /// Returns the selected items of all pages. Requests pages by number, because the address of the next page in an
    /// answer could lead anywhere.
    fn all<T>(&self, wanted: impl Fn(&Value) -> Option<T>) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        for page in 1..=MOST_PAGES {
            let request = self.request(HttpMethod::Get, &["comments"]).query("pagelen", PAGE_SIZE).query("page", page);
            let answer = self.client.send(&request)?.json()?;
            let Some(Value::Array(items)) = answer.get("values") else {
                return Err(Error::new(HttpErrorKind::Malformed, "the server did not answer with a list"));
            };
            let there = items.iter().filter(|item| item.get("deleted") != Some(&Value::Bool(true)));
            all.extend(there.filter_map(&wanted));
            if answer.get("next").is_none_or(Value::is_null) {
                break;
            }
        }
        Ok(all)
    }
}

impl Conversation for Bitbucket<'_> {
    fn comments(&self) -> Result<Vec<Posted>, Error> {
        let is_inline = |item: &Value| item.get("inline").is_some_and(|inline| !inline.is_null());
        let mut comments = self.all(|item| posted_by_us(item).filter(|_| !is_inline(item)))?;
        comments.sort_by_key(|comment| comment.id.parse::<u64>().unwrap_or(u64::MAX));
        Ok(comments)
    }

    fn comment(&self, id: &str) -> Result<Posted, Error> {
        one(&self.client.send(&self.request(HttpMethod::Get, &["comments", id]))?)
    }

    fn create(&self, body: &str) -> Result<Posted, Error> {
        let request = self.request(HttpMethod::Post, &["comments"]).json(json!({ "content": { "raw": body } }));
        one(&self.client.send(&request)?)
    }

    fn update(&self, id: &str, body: &str) -> Result<Posted, Error> {
        let request = self.request(HttpMethod::Put, &["comments", id]).json(json!({ "content": { "raw": body } }));
        one(&self.client.send(&request)?)
    }

    fn delete(&self, id: &str) -> Result<(), Error> {
        self.client.send(&self.request(HttpMethod::Delete, &["comments", id])).map(drop)
    }

    fn head(&self) -> Result<Option<String>, Error> {
        Ok(text(&self.client.send(&self.request(HttpMethod::Get, &[]))?.json()?, "/source/commit/hash"))
    }

    fn pause(&self, attempt: u32) {
        self.client.pause(attempt);
    }

    fn viewer(&self) -> Result<Option<String>, Error> {
        match self.client.send(&HttpRequest::new(HttpMethod::Get, ["user"])) {
            Ok(reply) => Ok(text(&reply.json()?, "/uuid")),
            Err(error) if matches!(error.status(), Some(401 | 403 | 404)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn shown_lines(&self) -> Result<Option<Vec<ShownFile>>, Error> {
        let mut request = self.request(HttpMethod::Get, &["diff"]);
        request.accept = "text/plain";
        Ok(Some(diff::files(&self.client.send(&request)?.text())))
    }

    fn line_notes(&self) -> Result<Vec<Posted>, Error> {
        self.all(posted_by_us)
    }

    fn post_line_notes(&self, notes: &[PlacedNote]) -> Result<usize, Error> {
        for placed in notes {
            let inline = json!({ "path": placed.file.path, "to": placed.note.last_line });
            let body = json!({ "content": { "raw": placed.body }, "inline": inline });
            self.client.send(&self.request(HttpMethod::Post, &["comments"]).json(body))?;
        }
        Ok(notes.len())
    }
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
        body: text(comment, "/content/raw").unwrap_or_default(),
        author: text(comment, "/user/uuid"),
        // Access tokens of a repository or a workspace write as a special user.
        url: text(comment, "/links/html/href"),
        node: None,
    })
}
