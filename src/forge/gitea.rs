//! Supports Gitea and Forgejo. They are similar to GitHub, but the server sets the page sizes and there are no bots.

use serde_json::{Value, json};

use super::api::{COMMON, HostApi, HostDialect, linked_page, review, sorted_by_number};
use super::conversation::{CommentTarget, Conversation, PlacedNote, Posted, owner_and_name, text};
use super::diff::{self, ShownFile};
use crate::http::{Error, HttpClient, HttpMethod};

const DIALECT: HostDialect = HostDialect {
    page_size: None,
    most_pages: 200,
    // Some versions answer an empty list with null.
    read_page: |reply, answer| linked_page(reply, if answer.is_null() { json!([]) } else { answer }),
    ..COMMON
};

pub(super) struct Gitea<'a> {
    api: HostApi<'a>,
    head: Option<&'a str>,
}

impl<'a> Gitea<'a> {
    pub(super) fn new(client: HttpClient<'a>, target: &'a CommentTarget) -> Result<Self, Error> {
        let (owner, name) = owner_and_name(&target.repository)?;
        let (base, number) = (vec!["repos", owner, name], target.number.to_string());
        Ok(Gitea { api: HostApi { client, base, number, dialect: &DIALECT }, head: target.head.as_deref() })
    }
}

impl Conversation for Gitea<'_> {
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

    fn head(&self) -> Result<Option<String>, Error> {
        Ok(text(&self.api.get(&["pulls", &self.api.number])?, "/head/sha"))
    }

    fn pause(&self, attempt: u32) {
        self.api.client.pause(attempt);
    }

    fn viewer(&self) -> Result<Option<String>, Error> {
        Ok(self.api.user()?.and_then(|user| text(&user, "/login")))
    }

    fn shown_lines(&self) -> Result<Option<Vec<ShownFile>>, Error> {
        let name = format!("{}.diff", self.api.number);
        let mut request = self.api.request(HttpMethod::Get, &["pulls", &name]);
        request.accept = "text/plain";
        Ok(Some(diff::files(&self.api.client.send(&request)?.text())))
    }

    /// Returns the notes of every review: the host lists them review by review.
    fn line_notes(&self) -> Result<Vec<Posted>, Error> {
        let mut notes = Vec::new();
        let reviews = self.api.pages(&["pulls", &self.api.number, "reviews"], &[], |review| {
            let ours = review.get("body").and_then(Value::as_str).is_some_and(|body| body.starts_with(REVIEW));
            review.get("id").and_then(Value::as_u64).filter(|_| ours)
        })?;
        for id in reviews {
            let comments = self.api.get(&["pulls", &self.api.number, "reviews", &id.to_string(), "comments"])?;
            notes.extend(comments.as_array().into_iter().flatten().filter_map(|it| self.api.posted_by_us(it)));
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
        self.api.post(&["pulls", &self.api.number, "reviews"], review(REVIEW, comments, self.head))?;
        Ok(notes.len())
    }
}

/// The first words of gpulint's reviews.
const REVIEW: &str = "Notes of gpulint on changed lines";
