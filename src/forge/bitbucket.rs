//! Supports Bitbucket Cloud: comments of a pull request, in pages, without HTML.

use serde_json::{Value, json};

use super::api::{COMMON, HostApi, HostDialect, HostPage, sorted_by_number};
use super::conversation::{CommentTarget, Conversation, PlacedNote, Posted, owner_and_name, text};
use super::diff::{self, ShownFile};
use crate::http::{Error, HttpClient, HttpMethod, Reply};

const DIALECT: HostDialect = HostDialect { page_size: Some("pagelen"), read_page, posted, ..COMMON };

pub(super) struct Bitbucket<'a> {
    api: HostApi<'a>,
}

impl<'a> Bitbucket<'a> {
    pub(super) fn new(client: HttpClient<'a>, target: &'a CommentTarget) -> Result<Self, Error> {
        let (workspace, name) = owner_and_name(&target.repository)?;
        let base = vec!["repositories", workspace, name, "pullrequests"];
        Ok(Bitbucket { api: HostApi { client, base, number: target.number.to_string(), dialect: &DIALECT } })
    }
}

impl Conversation for Bitbucket<'_> {
    fn comments(&self) -> Result<Vec<Posted>, Error> {
        let is_inline = |item: &Value| item.get("inline").is_some_and(|inline| !inline.is_null());
        let path = [&self.api.number, "comments"];
        let comments = self.api.pages(&path, &[], |item| self.api.posted_by_us(item).filter(|_| !is_inline(item)));
        comments.map(sorted_by_number)
    }

    fn comment(&self, id: &str) -> Result<Posted, Error> {
        self.api.comment(HttpMethod::Get, &[&self.api.number, "comments", id], None)
    }

    fn create(&self, body: &str) -> Result<Posted, Error> {
        let body = json!({ "content": { "raw": body } });
        self.api.comment(HttpMethod::Post, &[&self.api.number, "comments"], Some(body))
    }

    fn update(&self, id: &str, body: &str) -> Result<Posted, Error> {
        let body = json!({ "content": { "raw": body } });
        self.api.comment(HttpMethod::Put, &[&self.api.number, "comments", id], Some(body))
    }

    fn delete(&self, id: &str) -> Result<(), Error> {
        self.api.delete(&[&self.api.number, "comments", id])
    }

    fn head(&self) -> Result<Option<String>, Error> {
        Ok(text(&self.api.get(&[&self.api.number])?, "/source/commit/hash"))
    }

    fn pause(&self, attempt: u32) {
        self.api.client.pause(attempt);
    }

    fn viewer(&self) -> Result<Option<String>, Error> {
        Ok(self.api.user()?.and_then(|user| text(&user, "/uuid")))
    }

    fn shown_lines(&self) -> Result<Option<Vec<ShownFile>>, Error> {
        let mut request = self.api.request(HttpMethod::Get, &[&self.api.number, "diff"]);
        request.accept = "text/plain";
        Ok(Some(diff::files(&self.api.client.send(&request)?.text())))
    }

    fn line_notes(&self) -> Result<Vec<Posted>, Error> {
        self.api.pages(&[&self.api.number, "comments"], &[], |it| self.api.posted_by_us(it))
    }

    fn post_line_notes(&self, notes: &[PlacedNote]) -> Result<usize, Error> {
        for placed in notes {
            let inline = json!({ "path": placed.file.path, "to": placed.note.last_line });
            let body = json!({ "content": { "raw": placed.body }, "inline": inline });
            self.api.post(&[&self.api.number, "comments"], body)?;
        }
        Ok(notes.len())
    }
}

fn read_page(_: &Reply, mut answer: Value) -> Option<HostPage> {
    let Some(Value::Array(mut items)) = answer.get_mut("values").map(Value::take) else { return None };
    items.retain(|item| item.get("deleted") != Some(&Value::Bool(true)));
    Some((items, answer.get("next").is_some_and(|it| !it.is_null())))
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
