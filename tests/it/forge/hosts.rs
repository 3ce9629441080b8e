//! Tests the same comment on the other code hosts, each with its own addresses, fields and pagination.

use std::sync::{Arc, Mutex};

use gpulint::forge::{
    CodeHost, CommentOutcome, CommentTarget, ForgeComment, LineNote, Mode, Tag, Wire, review, upsert,
};
use gpulint::http::{Credential, HttpErrorKind, HttpSettings, Secret};
use serde_json::{Value, json};

use super::server::{Answer, Received, Server};
use super::stand_in::{HEAD, Hourglass};

const OTHERS: [CodeHost; 4] = [CodeHost::Gitlab, CodeHost::Bitbucket, CodeHost::Azure, CodeHost::Gitea];
const TOKEN: &str = "t0ken-SECRET-1234";
const OLD: &str = "1111111111111111111111111111111111111111";
const NEWER: &str = "3333333333333333333333333333333333333333";
const DIFF: &str = "diff --git a/main.tf b/main.tf\n--- a/main.tf\n+++ b/main.tf\n@@ -1,2 +1,3 @@\n a\n+b\n+c\n";

/// A host that stores comments in its own form.
struct Place {
    server: Server,
    host: CodeHost,
    clock: Hourglass,
    world: Arc<Mutex<World>>,
}

#[derive(Clone)]
struct Remark {
    id: u64,
    body: String,
    author: u64,
    inline: bool,
}

struct World {
    host: CodeHost,
    remarks: Vec<Remark>,
    head: &'static str,
    page_size: usize,
    may_write: bool,
}

impl World {
    /// Returns the path from the repository to the list of comments.
    fn base(&self) -> &'static str {
        match self.host {
            CodeHost::Gitlab => "/projects/acme%2Finfra/merge_requests/7",
            CodeHost::Bitbucket => "/repositories/acme/infra/pullrequests/7",
            CodeHost::Azure => "/acme/_apis/git/repositories/infra/pullRequests/7",
            _ => "/repos/acme/infra/pulls/7",
        }
    }

    fn comments(&self) -> String {
        match self.host {
            CodeHost::Gitlab => format!("{}/notes", self.base()),
            CodeHost::Bitbucket => format!("{}/comments", self.base()),
            CodeHost::Azure => format!("{}/threads", self.base()),
            _ => "/repos/acme/infra/issues/7/comments".to_owned(),
        }
    }

    fn comment(&self, id: u64) -> String {
        match self.host {
            CodeHost::Azure => format!("{}/{id}/comments/1", self.comments()),
            CodeHost::Gitea => format!("/repos/acme/infra/issues/comments/{id}"),
            _ => format!("{}/{id}", self.comments()),
        }
    }

    fn json(&self, remark: &Remark) -> Value {
        match self.host {
            CodeHost::Gitlab => json!({ "id": remark.id, "body": remark.body, "system": false,
                                    "author": { "id": remark.author } }),
            CodeHost::Bitbucket => json!({ "id": remark.id, "content": { "raw": remark.body }, "deleted": false,
                                       "inline": remark.inline.then(|| json!({ "path": "main.tf" })),
                                       "user": { "uuid": remark.author.to_string(), "type": "user" } }),
            CodeHost::Azure => {
                json!({ "id": 1, "content": remark.body, "author": { "id": remark.author.to_string() } })
            }
            _ => json!({ "id": remark.id, "body": remark.body, "user": { "login": remark.author.to_string() },
                         "html_url": "https://example.org/comment" }),
        }
    }

    fn list(&self, received: &Received) -> Answer {
        let all: Vec<&Remark> =
            self.remarks.iter().filter(|it| self.host == CodeHost::Bitbucket || !it.inline).collect();
        let page: usize = received.query("page").map_or(1, |it| it.parse().unwrap());
        let items = all.iter().skip((page - 1) * self.page_size).take(self.page_size);
        let items: Vec<Value> = items.map(|it| self.json(it)).collect();
        let more = page * self.page_size < all.len();
        match self.host {
            CodeHost::Gitlab => {
                let next = if more { (page + 1).to_string() } else { String::new() };
                Answer::json(200, &json!(items)).with("x-next-page", next)
            }
            // The address of the next page is on another server, so it must not be used.
            CodeHost::Bitbucket => {
                Answer::json(200, &json!({ "values": items, "next": more.then_some("http://evil.test") }))
            }
            CodeHost::Azure => {
                let threads = self.remarks.iter().map(|it| json!({ "id": it.id, "comments": [self.json(it)] }));
                Answer::json(200, &json!({ "value": threads.collect::<Vec<_>>() }))
            }
            _ if more => Answer::json(200, &json!(items)).with("link", "<http://evil.test>; rel=\"next\""),
            _ => Answer::json(200, &json!(items)),
        }
    }

    fn said(&self, body: &Value) -> String {
        let pointer = match self.host {
            CodeHost::Bitbucket => "/content/raw",
            CodeHost::Azure if body.get("comments").is_some() => "/comments/0/content",
            CodeHost::Azure => "/content",
            _ => "/body",
        };
        body.pointer(pointer).and_then(Value::as_str).unwrap().to_owned()
    }

    fn pull(&self) -> Value {
        match self.host {
            CodeHost::Gitlab => json!({ "sha": self.head,
                                    "diff_refs": { "base_sha": OLD, "start_sha": OLD, "head_sha": self.head } }),
            // This host shortens commits.
            CodeHost::Bitbucket => json!({ "source": { "commit": { "hash": self.head[..12] } } }),
            CodeHost::Azure => json!({ "lastMergeSourceCommit": { "commitId": self.head } }),
            _ => json!({ "head": { "sha": self.head } }),
        }
    }

    fn answer(&mut self, received: &Received) -> Answer {
        let expected = match self.host {
            CodeHost::Gitlab => ("private-token", TOKEN.to_owned()),
            CodeHost::Bitbucket => ("authorization", format!("Bearer {TOKEN}")),
            // `:t0ken-SECRET-1234`
            CodeHost::Azure => ("authorization", format!("Basic {ENCODED}")),
            _ => ("authorization", format!("token {TOKEN}")),
        };
        assert_eq!(received.header(expected.0), Some(expected.1.as_str()));
        let azure = self.host == CodeHost::Azure && !received.path.contains("connectionData");
        assert_eq!(received.query("api-version"), azure.then_some("7.1"));
        if received.is_write() && !self.may_write {
            return Answer::json(403, &json!({ "message": format!("403 Forbidden for {}", expected.1) }));
        }
        let path = received.path.as_str();
        let known = self.remarks.iter().position(|it| self.comment(it.id) == path);
        match (received.method.as_str(), known) {
            ("GET", None) if path == self.comments() => self.list(received),
            ("GET", None) if path == self.base() => Answer::json(200, &self.pull()),
            ("GET", None) if path.ends_with("/user") || path.ends_with("/connectionData") => {
                Answer::json(200, &json!({ "id": 1, "uuid": "1", "login": "1", "authenticatedUser": { "id": "1" } }))
            }
            ("GET", None) if path.ends_with("/diff") || path.ends_with(".diff") => Answer::new(200, DIFF),
            ("GET", None) if path.ends_with("/diffs") => {
                let (_, patch) = DIFF.split_once("+++ b/main.tf\n").unwrap();
                Answer::json(200, &json!([{ "old_path": "main.tf", "new_path": "main.tf", "diff": patch }]))
            }
            ("GET", None) if path.ends_with("/reviews") => Answer::json(200, &json!([])),
            ("GET", Some(at)) => Answer::json(200, &self.json(&self.remarks[at])),
            ("POST", None) => self.post(received),
            ("PUT" | "PATCH", Some(at)) => {
                self.remarks[at].body = self.said(&received.json().unwrap());
                Answer::json(200, &self.json(&self.remarks[at]))
            }
            ("DELETE", Some(at)) => {
                self.remarks.remove(at);
                Answer::new(204, "")
            }
            _ => Answer::json(404, &json!({ "message": "not here" })),
        }
    }

    fn post(&mut self, received: &Received) -> Answer {
        let body = received.json().unwrap();
        if received.path.ends_with("/reviews") {
            return Answer::json(200, &json!({ "id": 1 }));
        }
        let inline = body.get("inline").is_some() || body.get("position").is_some();
        let id = self.remarks.iter().map(|it| it.id).max().unwrap_or(0) + 1;
        let remark = Remark { id, body: self.said(&body), author: 1, inline };
        self.remarks.push(remark.clone());
        let made = match self.host {
            CodeHost::Azure => json!({ "id": id, "comments": [self.json(&remark)] }),
            _ => self.json(&remark),
        };
        Answer::json(201, &made)
    }
}

/// `:t0ken-SECRET-1234` in base64.
const ENCODED: &str = "OnQwa2VuLVNFQ1JFVC0xMjM0";

impl Place {
    fn with(host: CodeHost, remarks: &[(u64, &str, u64)]) -> Self {
        let remark = |(id, body, author): &(u64, &str, u64)| Remark {
            id: *id,
            body: (*body).to_owned(),
            author: *author,
            inline: false,
        };
        let remarks = remarks.iter().map(remark).collect();
        let world = World { host, remarks, head: HEAD, page_size: 2, may_write: true };
        let world = Arc::new(Mutex::new(world));
        let shared = world.clone();
        let server = Server::start(move |received| shared.lock().unwrap().answer(received));
        Place { server, host, clock: Hourglass::new(), world }
    }

    fn target(&self) -> CommentTarget {
        let token = Secret::new(TOKEN);
        CommentTarget {
            host: self.host,
            api: self.server.url(),
            repository: "acme/infra".to_owned(),
            number: 7,
            head: Some(HEAD.to_owned()),
            credential: match self.host {
                CodeHost::Gitlab => Credential::Header { name: "private-token", value: token },
                CodeHost::Azure => Credential::Basic { user: String::new(), password: token },
                CodeHost::Gitea => Credential::Token(token),
                _ => Credential::Bearer(token),
            },
        }
    }

    fn wire(&self) -> Wire<'_> {
        Wire { settings: HttpSettings::default(), clock: &self.clock }
    }

    fn upsert(&self, body: &str, mode: Mode) -> CommentOutcome {
        let comment = ForgeComment { body: body.to_owned(), tag: Tag::default(), mode, only_if_present: false };
        upsert(&self.target(), &comment, &self.wire()).unwrap()
    }

    fn bodies(&self) -> Vec<String> {
        self.world.lock().unwrap().remarks.iter().map(|it| it.body.clone()).collect()
    }

    /// Returns a comment as this host stores it.
    fn ours(host: CodeHost, body: &str, head: &str) -> String {
        let hidden = format!("gpulint:comment schema=1 tag=default head={head}");
        match host {
            CodeHost::Bitbucket => format!("[//]: # ({hidden})\n\n{body}\n"),
            _ => format!("<!-- {hidden} -->\n\n{body}\n"),
        }
    }
}

#[test]
fn a_comment_is_created_updated_and_left_alone() {
    for host in OTHERS {
        let place = Place::with(host, &[(3, "talk", 9)]);
        assert!(matches!(place.upsert("one", Mode::Update), CommentOutcome::Created { .. }), "{host:?}");
        assert!(matches!(place.upsert("two", Mode::Update), CommentOutcome::Updated { .. }), "{host:?}");
        assert!(matches!(place.upsert("two", Mode::Update), CommentOutcome::Unchanged { .. }), "{host:?}");
        assert_eq!(place.bodies(), ["talk".to_owned(), Place::ours(host, "two", HEAD)], "{host:?}");
        assert_eq!(place.server.writes(), 2, "{host:?}");
    }
}

#[test]
fn a_comment_behind_other_pages_is_found() {
    for host in OTHERS {
        let old = Place::ours(host, "old", OLD);
        let talk = [(1, "a", 9), (2, "b", 9), (3, "c", 9), (4, "d", 9), (5, old.as_str(), 1)];
        let place = Place::with(host, &talk);
        assert!(matches!(place.upsert("new", Mode::Update), CommentOutcome::Updated { .. }), "{host:?}");
        assert_eq!(place.bodies().len(), 5);
    }
}

#[test]
fn what_somebody_else_wrote_is_not_ours() {
    for host in OTHERS {
        let pasted = Place::ours(host, "pasted", OLD);
        let place = Place::with(host, &[(3, pasted.as_str(), 9)]);
        assert!(matches!(place.upsert("new", Mode::Update), CommentOutcome::Created { .. }), "{host:?}");
        assert_eq!(place.bodies()[0], pasted);
    }
}

#[test]
fn earlier_comments_are_put_away() {
    for host in OTHERS {
        let old = Place::ours(host, "old", OLD);
        let place = Place::with(host, &[(3, old.as_str(), 1)]);
        place.upsert("new", Mode::DeleteAndNew);
        assert_eq!(place.bodies(), [Place::ours(host, "new", HEAD)], "{host:?}");

        let place = Place::with(host, &[(3, old.as_str(), 1)]);
        place.upsert("new", Mode::HideAndNew);
        assert!(place.bodies()[0].contains("gpulint:retired"), "{host:?}");
        assert!(!place.bodies()[0].contains("old"), "{host:?}");
        assert!(matches!(place.upsert("new", Mode::HideAndNew), CommentOutcome::Unchanged { .. }), "{host:?}");
    }
}

#[test]
fn an_older_run_does_not_overwrite_a_newer_one() {
    for host in OTHERS {
        let newer = Place::ours(host, "newer", NEWER);
        let place = Place::with(host, &[(3, newer.as_str(), 1)]);
        place.world.lock().unwrap().head = NEWER;
        assert!(matches!(place.upsert("older", Mode::Update), CommentOutcome::Superseded { .. }), "{host:?}");
        assert_eq!(place.server.writes(), 0);
    }
}

#[test]
fn a_token_that_may_only_read_is_no_failure_and_is_not_told() {
    for host in OTHERS {
        let place = Place::with(host, &[]);
        place.world.lock().unwrap().may_write = false;
        let CommentOutcome::JobSummary { reason } = place.upsert("new", Mode::Update) else { panic!("{host:?}") };
        assert!(reason.contains("403 Forbidden") && reason.contains("***"), "{reason}");
        assert!(!reason.contains("SECRET") && !reason.contains(ENCODED), "{reason}");
    }
}

#[test]
fn a_thread_on_azure_holds_no_merge_back() {
    let place = Place::with(CodeHost::Azure, &[]);
    place.upsert("new", Mode::Update);
    let received = place.server.received();
    let thread = received.iter().find(|it| it.is_write()).unwrap().json().unwrap();
    assert_eq!(thread["status"], "closed");
}

#[test]
fn a_page_to_sign_in_on_is_no_success() {
    let server = Server::start(|_| Answer::new(203, "<html>sign in</html>"));
    let place = Place::with(CodeHost::Azure, &[]);
    let target = CommentTarget { api: server.url(), ..place.target() };
    let comment =
        ForgeComment { body: "x".to_owned(), tag: Tag::default(), mode: Mode::Update, only_if_present: false };
    let error = upsert(&target, &comment, &place.wire()).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Status(401));
}

#[test]
fn notes_stand_on_changed_lines_in_the_words_of_each_host() {
    let note = |line: u32, key: &str| LineNote {
        path: "main.tf".to_owned(),
        first_line: line,
        last_line: line,
        body: "on demand".to_owned(),
        replacement: Some("b = 1".to_owned()),
        key: key.to_owned(),
    };
    for host in OTHERS {
        let place = Place::with(host, &[]);
        let reviewed = review(&place.target(), &Tag::default(), &[note(2, "a"), note(40, "b")], &place.wire()).unwrap();
        if host == CodeHost::Azure {
            assert!(reviewed.refused.unwrap().contains("azure"));
            continue;
        }
        assert_eq!((reviewed.posted, reviewed.elsewhere), (1, 1), "{host:?}");
        let received = place.server.received();
        let sent = received.iter().find(|it| it.is_write()).unwrap();
        let body = sent.json().unwrap();
        let (path, line, text) = match host {
            CodeHost::Gitlab => ("/position/new_path", "/position/new_line", "/body"),
            CodeHost::Bitbucket => ("/inline/path", "/inline/to", "/content/raw"),
            _ => ("/comments/0/path", "/comments/0/new_position", "/comments/0/body"),
        };
        assert_eq!(body.pointer(path), Some(&json!("main.tf")), "{host:?}");
        assert_eq!(body.pointer(line), Some(&json!(2)), "{host:?}");
        let text = body.pointer(text).unwrap().as_str().unwrap();
        assert_eq!(text.contains("suggestion"), host.has_suggestions(), "{host:?}: {text}");
        if host == CodeHost::Gitlab {
            assert_eq!(body["position"]["start_sha"], OLD);
            assert!(text.contains("```suggestion:-0+0\nb = 1\n```"), "{text}");
        }
    }
}
