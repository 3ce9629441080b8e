//! A GitHub test server with the operations that gpulint uses. It accepts only what GitHub's published description
//! allows.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use gpulint::forge::{CodeHost, CommentOutcome, CommentTarget, ForgeComment, Wire, upsert};
use gpulint::http::{Clock, Credential, Error, HttpSettings, Secret};
use serde_json::{Value, json};

use super::description;
use super::server::{Answer, Received, Server};

pub(crate) const TOKEN: &str = "ghs_1234567890abcdefSECRET";
pub(crate) const HEAD: &str = "2222222222222222222222222222222222222222";

/// A clock that advances only during a sleep.
pub(crate) struct Hourglass {
    pub(crate) now: Mutex<u64>,
    pub(crate) slept: Mutex<Vec<Duration>>,
}

impl Hourglass {
    pub(crate) fn new() -> Self {
        Hourglass { now: Mutex::new(1_800_000_000), slept: Mutex::default() }
    }

    pub(crate) fn slept(&self) -> Vec<u64> {
        self.slept.lock().unwrap().iter().map(Duration::as_secs).collect()
    }
}

impl Clock for Hourglass {
    fn now(&self) -> u64 {
        *self.now.lock().unwrap()
    }

    fn sleep(&self, time: Duration) {
        *self.now.lock().unwrap() += time.as_secs();
        self.slept.lock().unwrap().push(time);
    }

    fn chance(&self) -> f64 {
        0.5
    }
}

#[derive(Clone)]
pub(crate) struct Remark {
    pub(crate) id: u64,
    pub(crate) body: String,
    pub(crate) login: &'static str,
    pub(crate) kind: &'static str,
}

impl Remark {
    pub(crate) fn by_bot(id: u64, body: impl Into<String>) -> Self {
        Remark { id, body: body.into(), login: "github-actions[bot]", kind: "Bot" }
    }

    pub(crate) fn by_person(id: u64, body: impl Into<String>) -> Self {
        Remark { id, body: body.into(), login: "octocat", kind: "User" }
    }

    fn json(&self) -> Value {
        const PATH: &str = "/repos/{owner}/{repo}/issues/comments/{comment_id}";
        let mut comment = description::example("get", PATH, "200");
        comment["id"] = json!(self.id);
        comment["node_id"] = json!(format!("IC_{}", self.id));
        comment["body"] = json!(self.body);
        comment["user"]["login"] = json!(self.login);
        comment["user"]["type"] = json!(self.kind);
        comment["html_url"] = json!(format!("https://github.com/acme/infra/pull/7#issuecomment-{}", self.id));
        comment
    }
}

/// An effect in place of an answer, or in addition to it.
pub(crate) type Trick = Box<dyn FnMut(&Received, &mut World) -> Option<Answer> + Send>;

pub(crate) struct World {
    pub(crate) remarks: Vec<Remark>,
    pub(crate) next_id: u64,
    pub(crate) pull_head: &'static str,
    /// The login of the token's owner. A workflow token has none.
    pub(crate) viewer: Option<&'static str>,
    /// A workflow token may query its own name with GraphQL.
    pub(crate) may_ask_name: bool,
    pub(crate) patch: &'static str,
    pub(crate) notes: Vec<Value>,
    pub(crate) hidden: Vec<String>,
    /// Not every token may hide comments.
    pub(crate) may_hide: bool,
    pub(crate) tricks: Vec<Trick>,
    pub(crate) violations: Vec<String>,
}

pub(crate) struct Github {
    pub(crate) server: Server,
    pub(crate) world: Arc<Mutex<World>>,
    pub(crate) clock: Hourglass,
    pub(crate) settings: HttpSettings,
}

impl Github {
    pub(crate) fn with(remarks: Vec<Remark>) -> Self {
        let next_id = remarks.iter().map(|it| it.id).max().unwrap_or(0) + 1;
        let world = World {
            remarks,
            next_id,
            pull_head: HEAD,
            viewer: None,
            may_ask_name: true,
            patch: "@@ -1,3 +1,4 @@\n resource \"aws_instance\" \"train\" {\n-  a = 1\n+  a = 2\n+  b = 3\n }",
            notes: Vec::new(),
            hidden: Vec::new(),
            may_hide: true,
            tricks: Vec::new(),
            violations: Vec::new(),
        };
        let world = Arc::new(Mutex::new(world));
        let shared = world.clone();
        let server = Server::start(move |received| answer(received, &mut shared.lock().unwrap()));
        Github { server, world, clock: Hourglass::new(), settings: HttpSettings::default() }
    }

    /// Adds an effect on the next requests, applied before the answer.
    pub(crate) fn trick(self, trick: impl FnMut(&Received, &mut World) -> Option<Answer> + Send + 'static) -> Self {
        self.world.lock().unwrap().tricks.push(Box::new(trick));
        self
    }

    /// Sets the answers to the first requests of a method.
    pub(crate) fn first(self, method: &'static str, answers: Vec<Answer>) -> Self {
        let mut answers = answers.into_iter();
        self.trick(move |received, _| {
            if received.method == method && (method == "GET" || received.is_write()) { answers.next() } else { None }
        })
    }

    pub(crate) fn target(&self) -> CommentTarget {
        CommentTarget {
            host: CodeHost::Github,
            api: self.server.url(),
            repository: "acme/infra".to_owned(),
            number: 7,
            head: Some(HEAD.to_owned()),
            credential: Credential::Bearer(Secret::new(TOKEN)),
        }
    }

    pub(crate) fn upsert(&self, comment: &ForgeComment) -> Result<CommentOutcome, Error> {
        let wire = Wire { settings: self.settings.clone(), clock: &self.clock };
        let result = upsert(&self.target(), comment, &wire);
        if let Err(error) = &result {
            assert_no_secret(&format!("{error} {error:?}"));
        }
        self.assert_as_described();
        result
    }

    pub(crate) fn bodies(&self) -> Vec<String> {
        self.world.lock().unwrap().remarks.iter().map(|it| it.body.clone()).collect()
    }

    pub(crate) fn assert_as_described(&self) {
        let violations = &self.world.lock().unwrap().violations;
        assert!(violations.is_empty(), "GitHub's description is violated:\n{}", violations.join("\n"));
    }
}

pub(crate) fn assert_no_secret(text: &str) {
    assert!(!text.contains(TOKEN) && !text.contains("SECRET"), "a secret in: {text}");
}

fn answer(received: &Received, world: &mut World) -> Answer {
    assert_eq!(received.header("user-agent").unwrap(), concat!("gpulint/", env!("CARGO_PKG_VERSION")));
    if received.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
        return Answer::json(401, &json!({ "message": "Bad credentials" }));
    }
    if received.path == "/graphql" {
        return graphql(received, world);
    }
    let Some(operation) = description::operation(&received.method, &received.path) else {
        world.violations.push(format!("{} {} is not described", received.method, received.path));
        return Answer::json(404, &json!({ "message": "Not Found" }));
    };
    for (name, value) in [("accept", "application/vnd.github+json"), ("x-github-api-version", "2022-11-28")] {
        if received.header(name) != Some(value) {
            world.violations.push(format!("header {name} is {:?}", received.header(name)));
        }
    }
    let body = received.json();
    world.violations.extend(operation.violations(&received.query, body.as_ref()));
    let mut tricks = std::mem::take(&mut world.tricks);
    let tricked = tricks.iter_mut().find_map(|trick| trick(received, world));
    world.tricks = tricks;
    if let Some(answer) = tricked {
        return answer;
    }
    let argument = |name: &str| operation.arguments.iter().find(|(known, _)| known == name).unwrap().1.parse::<u64>();
    let answer = match (operation.method.as_str(), operation.path.rsplit('/').next().unwrap()) {
        ("get", "comments") if operation.path.contains("/issues/") => {
            let all: Vec<Value> = world.remarks.iter().map(Remark::json).collect();
            page(received, &all)
        }
        ("post", "comments") => {
            let remark = Remark::by_bot(world.next_id, body.unwrap()["body"].as_str().unwrap());
            world.next_id += 1;
            world.remarks.push(remark.clone());
            Answer::json(201, &remark.json())
        }
        (method, "{comment_id}") => one_comment(method, argument("comment_id").unwrap(), body, world),
        ("get", "{pull_number}") => pull(world.pull_head),
        ("get", "pulls") => pulls_from(received.query("head").unwrap(), world.pull_head),
        ("get", "files") => page(received, &[changed_file(world.patch)]),
        ("get", "comments") => page(received, &world.notes),
        ("post", "reviews") => take_review(&body.unwrap(), world),
        ("get", "user") => user(world.viewer),
        other => panic!("{other:?}"),
    };
    let said = serde_json::from_slice(&answer.body).ok();
    world.violations.extend(operation.answer_violations(answer.status, said.as_ref()));
    answer
}

fn one_comment(method: &str, id: u64, body: Option<Value>, world: &mut World) -> Answer {
    let Some(at) = world.remarks.iter().position(|it| it.id == id) else {
        return Answer::json(404, &json!({ "message": "Not Found" }));
    };
    match method {
        "patch" => world.remarks[at].body = body.unwrap()["body"].as_str().unwrap().to_owned(),
        "delete" => {
            world.remarks.remove(at);
            return Answer::new(204, "");
        }
        _ => {}
    }
    Answer::json(200, &world.remarks[at].json())
}

fn page(received: &Received, all: &[Value]) -> Answer {
    let number = |name: &str, default: usize| received.query(name).map_or(default, |it| it.parse().unwrap());
    let (size, page) = (number("per_page", 30), number("page", 1));
    let items: Vec<Value> = all.iter().skip((page - 1) * size).take(size).cloned().collect();
    let answer = Answer::json(200, &Value::Array(items));
    if page * size >= all.len() {
        return answer;
    }
    let next = format!("<https://api.github.com{}?per_page={size}&page={}>; rel=\"next\"", received.path, page + 1);
    answer.with("link", next)
}

fn pull(head: &str) -> Answer {
    let mut pull = description::example("get", "/repos/{owner}/{repo}/pulls/{pull_number}", "200");
    pull["head"]["sha"] = json!(head);
    // GitHub's example violates GitHub's schema here.
    pull["requested_teams"] = json!([]);
    Answer::json(200, &pull)
}

/// The branch of a fork. Other branches have no pull request.
pub(crate) const FORK_BRANCH: &str = "someone:more-gpus";

fn pulls_from(branch: &str, head: &str) -> Answer {
    let mut pulls = description::example("get", "/repos/{owner}/{repo}/pulls", "200");
    pulls[0]["number"] = json!(7);
    pulls[0]["head"]["sha"] = json!(head);
    pulls[0]["requested_teams"] = json!([]);
    Answer::json(200, &if branch == FORK_BRANCH { pulls } else { json!([]) })
}

fn changed_file(patch: &str) -> Value {
    let mut files = description::example("get", "/repos/{owner}/{repo}/pulls/{pull_number}/files", "200");
    let mut file = files[0].take();
    file["filename"] = json!("main.tf");
    file["patch"] = json!(patch);
    file
}

fn take_review(review: &Value, world: &mut World) -> Answer {
    let examples = description::example("get", "/repos/{owner}/{repo}/pulls/{pull_number}/comments", "200");
    for comment in review["comments"].as_array().unwrap() {
        let mut note = examples[0].clone();
        note["body"] = comment["body"].clone();
        note["path"] = comment["path"].clone();
        note["line"] = comment["line"].clone();
        note["user"]["login"] = json!(world.viewer.unwrap_or("github-actions[bot]"));
        world.notes.push(note);
    }
    Answer::json(200, &description::example("post", "/repos/{owner}/{repo}/pulls/{pull_number}/reviews", "200"))
}

fn user(viewer: Option<&str>) -> Answer {
    let Some(login) = viewer else {
        return Answer::json(403, &json!({ "message": "Resource not accessible by integration" }));
    };
    let mut user = description::example("get", "/user", "200");
    user["login"] = json!(login);
    Answer::json(200, &user)
}

fn graphql(received: &Received, world: &mut World) -> Answer {
    let body = received.json().unwrap();
    let query = body["query"].as_str().unwrap();
    if query.contains("viewer") {
        return match world.may_ask_name {
            true => Answer::json(200, &json!({ "data": { "viewer": { "login": "github-actions[bot]" } } })),
            false => Answer::json(403, &json!({ "message": "Resource not accessible by integration" })),
        };
    }
    assert!(query.contains("minimizeComment"));
    if !world.may_hide {
        let error = json!({ "type": "FORBIDDEN", "message": "Resource not accessible by integration" });
        return Answer::json(200, &json!({ "data": { "minimizeComment": null }, "errors": [error] }));
    }
    world.hidden.push(body["variables"]["id"].as_str().unwrap().to_owned());
    let minimized = json!({ "minimizedComment": { "isMinimized": true } });
    Answer::json(200, &json!({ "data": { "minimizeComment": minimized } }))
}
