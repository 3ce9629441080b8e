//! Supports GitLab, gitlab.com or self-managed: notes of a merge request.

use serde_json::{Value, json};

use super::api::{COMMON, HostApi, HostDialect, HostPage, linked_page};
use super::conversation::{CommentTarget, Conversation, PlacedNote, Posted, text};
use super::diff::{self, ShownFile};
use crate::http::{Error, HttpClient, HttpErrorKind, HttpMethod, Reply};

const DIALECT: HostDialect = HostDialect { read_page, posted, comment: "a note", ..COMMON };

pub(super) struct Gitlab<'a> {
    api: HostApi<'a>,
}

impl<'a> Gitlab<'a> {
    pub(super) fn new(client: HttpClient<'a>, target: &'a CommentTarget) -> Self {
        let base = vec!["projects", &target.repository, "merge_requests"];
        Gitlab { api: HostApi { client, base, number: target.number.to_string(), dialect: &DIALECT } }
    }
}

impl Conversation for Gitlab<'_> {
    fn comments(&self) -> Result<Vec<Posted>, Error> {
        let written = |note: &Value| note.get("system") != Some(&Value::Bool(true));
        let path = [&self.api.number, "notes"];
        self.api.pages(&path, &[("sort", "asc"), ("order_by", "created_at")], |note| {
            self.api.posted_by_us(note).filter(|_| written(note))
        })
    }

    fn comment(&self, id: &str) -> Result<Posted, Error> {
        self.api.comment(HttpMethod::Get, &[&self.api.number, "notes", id], None)
    }

    fn create(&self, body: &str) -> Result<Posted, Error> {
        self.api.comment(HttpMethod::Post, &[&self.api.number, "notes"], Some(json!({ "body": body })))
    }

    fn update(&self, id: &str, body: &str) -> Result<Posted, Error> {
        self.api.comment(HttpMethod::Put, &[&self.api.number, "notes", id], Some(json!({ "body": body })))
    }

    fn delete(&self, id: &str) -> Result<(), Error> {
        self.api.delete(&[&self.api.number, "notes", id])
    }

    fn head(&self) -> Result<Option<String>, Error> {
        Ok(text(&self.api.get(&[&self.api.number])?, "/sha"))
    }

    fn pause(&self, attempt: u32) {
        self.api.client.pause(attempt);
    }

    fn viewer(&self) -> Result<Option<String>, Error> {
        Ok(self.api.user()?.and_then(|user| user.get("id")?.as_u64()).map(|id| id.to_string()))
    }

    fn shown_lines(&self) -> Result<Option<Vec<ShownFile>>, Error> {
        let shown = self.api.pages(&[&self.api.number, "diffs"], &[], |file| {
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
        let request = self.api.get(&[&self.api.number])?;
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
            self.api.post(&[&self.api.number, "discussions"], body)?;
            count += 1;
        }
        Ok(count)
    }
}

fn read_page(reply: &Reply, answer: Value) -> Option<HostPage> {
    let (items, has_next_page) = linked_page(reply, answer)?;
    Some((items, has_next_page || !reply.header("x-next-page").is_none_or(str::is_empty)))
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
