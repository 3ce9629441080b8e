//! Supports GitLab, gitlab.com or self-managed: notes of a merge request.

use serde_json::{Value, json};

use super::conversation::{CommentTarget, Conversation, PlacedNote, Posted, text};
use super::diff::{self, ShownFile};
use super::marker;
use crate::http::{Error, HttpClient, HttpErrorKind, HttpMethod, HttpRequest, Reply};

const PAGE_SIZE: u32 = 100;
const MOST_PAGES: u32 = 100;

pub(super) struct Gitlab<'a> {
    client: HttpClient<'a>,
    project: &'a str,
    number: String,
}

impl<'a> Gitlab<'a> {
    pub(super) fn new(client: HttpClient<'a>, target: &'a CommentTarget) -> Self {
        Gitlab { client, project: &target.repository, number: target.number.to_string() }
    }

    fn request<'r>(&'r self, method: HttpMethod, path: &[&'r str]) -> HttpRequest<'r> {
        let mut full = vec!["projects", self.project, "merge_requests", &self.number];
        full.extend(path);
        HttpRequest::new(method, full)
    }

    /// Returns the selected items of all pages.
    fn pages<T>(
        &self,
        path: &[&str],
        order: &[(&'static str, &str)],
        wanted: impl Fn(&Value) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        for page in 1..=MOST_PAGES {
            let mut request = self.request(HttpMethod::Get, path).query("per_page", PAGE_SIZE).query("page", page);
            for (name, value) in order {
                request = request.query(name, value);
            }
            let reply = self.client.send(&request)?;
            let Value::Array(items) = reply.json()? else {
                return Err(Error::new(HttpErrorKind::Malformed, "the server did not answer with a list"));
            };
            all.extend(items.iter().filter_map(&wanted));
            if reply.header("x-next-page").is_none_or(str::is_empty) && !reply.has_next_page() {
                break;
            }
        }
        Ok(all)
    }
}

impl Conversation for Gitlab<'_> {
    fn comments(&self) -> Result<Vec<Posted>, Error> {
        let written = |note: &Value| note.get("system") != Some(&Value::Bool(true));
        self.pages(&["notes"], &[("sort", "asc"), ("order_by", "created_at")], |note| {
            posted(note).filter(|posted| written(note) && marker::is_ours(&posted.body))
        })
    }

    fn comment(&self, id: &str) -> Result<Posted, Error> {
        one(&self.client.send(&self.request(HttpMethod::Get, &["notes", id]))?)
    }

    fn create(&self, body: &str) -> Result<Posted, Error> {
        one(&self.client.send(&self.request(HttpMethod::Post, &["notes"]).json(json!({ "body": body })))?)
    }

    fn update(&self, id: &str, body: &str) -> Result<Posted, Error> {
        one(&self.client.send(&self.request(HttpMethod::Put, &["notes", id]).json(json!({ "body": body })))?)
    }

    fn delete(&self, id: &str) -> Result<(), Error> {
        self.client.send(&self.request(HttpMethod::Delete, &["notes", id])).map(drop)
    }

    fn head(&self) -> Result<Option<String>, Error> {
        Ok(text(&self.client.send(&self.request(HttpMethod::Get, &[]))?.json()?, "/sha"))
    }

    fn pause(&self, attempt: u32) {
        self.client.pause(attempt);
    }

    fn viewer(&self) -> Result<Option<String>, Error> {
        match self.client.send(&HttpRequest::new(HttpMethod::Get, ["user"])) {
            Ok(reply) => Ok(reply.json()?.get("id").and_then(Value::as_u64).map(|id| id.to_string())),
            Err(error) if matches!(error.status(), Some(401 | 403 | 404)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn shown_lines(&self) -> Result<Option<Vec<ShownFile>>, Error> {
        let shown = self.pages(&["diffs"], &[], |file| {
            let path = text(file, "/new_path")?;
            let old_path = text(file, "/old_path").unwrap_or_else(|| path.clone());
            Some(ShownFile { hunks: diff::hunks(file.get("diff")?.as_str()?), path, old_path })
        });
        shown.map(Some)
    }

    fn line_notes(&self) -> Result<Vec<Posted>, Error> {
        self.comments()
    }

    /// Posts each note on its last line, which must be new: an unchanged line would also need its old number.
    fn post_line_notes(&self, notes: &[PlacedNote]) -> Result<usize, Error> {
        let request = self.client.send(&self.request(HttpMethod::Get, &[]))?.json()?;
        let commit = |name: &str| text(&request, &format!("/diff_refs/{name}"));
        let (Some(base), Some(start), Some(head)) = (commit("base_sha"), commit("start_sha"), commit("head_sha"))
        else {
            return Err(Error::new(HttpErrorKind::Malformed, "the merge request has no base and head commits"));
        };
        let mut count = 0;
        for placed in notes.iter().filter(|placed| placed.hunk.added.contains(&placed.note.last_line)) {
            let position = json!({
                "position_type": "text",
                "base_sha": base, "start_sha": start, "head_sha": head,
                "old_path": placed.file.old_path, "new_path": placed.file.path,
                "new_line": placed.note.last_line,
            });
            let body = json!({ "body": placed.body, "position": position });
            self.client.send(&self.request(HttpMethod::Post, &["discussions"]).json(body))?;
            count += 1;
        }
        Ok(count)
    }
}

fn one(reply: &Reply) -> Result<Posted, Error> {
    posted(&reply.json()?).ok_or_else(|| Error::new(HttpErrorKind::Malformed, "the server did not answer with a note"))
}

fn posted(note: &Value) -> Option<Posted> {
    Some(Posted {
        id: note.get("id")?.as_u64()?.to_string(),
        body: text(note, "/body").unwrap_or_default(),
        author: note.pointer("/author/id").and_then(Value::as_u64).map(|id| id.to_string()),
        url: None,
        node: None,
    })
}
