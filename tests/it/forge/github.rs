//! Tests the comment on GitHub for every answer of GitHub.

use std::time::Duration;

use gpulint::forge::{CommentOutcome, CommentTarget, ForgeComment, LineNote, Mode, Tag, Wire, review, upsert};
use gpulint::http::{HttpErrorKind, HttpSettings, Proxies, Secret};
use serde_json::json;

use super::gzip::gzipped;
use super::server::{Answer, Server};
use super::stand_in::{Github, HEAD, Remark, TOKEN, assert_no_secret};

const OLD: &str = "1111111111111111111111111111111111111111";
const NEWER: &str = "3333333333333333333333333333333333333333";

fn comment(body: &str) -> ForgeComment {
    ForgeComment { body: body.to_owned(), tag: Tag::default(), mode: Mode::Update, only_if_present: false }
}

fn ours(body: &str, head: &str) -> String {
    format!("<!-- gpulint:comment schema=1 tag=default head={head} -->\n\n{body}\n")
}

fn url(id: u64) -> Option<String> {
    Some(format!("https://github.com/acme/infra/pull/7#issuecomment-{id}"))
}

#[test]
fn the_first_comment_is_created() {
    let github = Github::with(vec![Remark::by_person(3, "nice change")]);
    let outcome = github.upsert(&comment("GPU cost +$10/month")).unwrap();
    assert_eq!(outcome, CommentOutcome::Created { url: url(4) });
    assert_eq!(github.bodies()[1], ours("GPU cost +$10/month", HEAD));
    assert_eq!(github.server.writes(), 1);
}

#[test]
fn an_earlier_comment_is_updated_in_place() {
    let github = Github::with(vec![Remark::by_bot(3, ours("old", OLD)), Remark::by_person(4, "hm")]);
    assert_eq!(github.upsert(&comment("new")).unwrap(), CommentOutcome::Updated { url: url(3) });
    assert_eq!(github.bodies(), [ours("new", HEAD), "hm".to_owned()]);
    assert_eq!(github.server.writes(), 1);
}

#[test]
fn an_identical_comment_is_left_alone() {
    let stored = ours("same\ntext", OLD).replace('\n', "\r\n");
    let github = Github::with(vec![Remark::by_bot(3, stored)]);
    assert_eq!(github.upsert(&comment("same\ntext\n")).unwrap(), CommentOutcome::Unchanged { url: url(3) });
    assert_eq!(github.server.writes(), 0);
}

#[test]
fn comments_of_other_tags_are_not_ours() {
    let other = ours("other", HEAD).replace("tag=default", "tag=default2");
    let github = Github::with(vec![Remark::by_bot(3, other.clone())]);
    assert_eq!(github.upsert(&comment("mine")).unwrap(), CommentOutcome::Created { url: url(4) });
    assert_eq!(github.bodies()[0], other);
}

#[test]
fn a_comment_on_the_third_page_is_found() {
    let mut remarks: Vec<Remark> = (1..=205).map(|id| Remark::by_person(id, "talk")).collect();
    remarks.push(Remark::by_bot(206, ours("old", OLD)));
    let github = Github::with(remarks);
    assert_eq!(github.upsert(&comment("new")).unwrap(), CommentOutcome::Updated { url: url(206) });
    let lists = github.server.received().into_iter().filter(|it| it.path.ends_with("/issues/7/comments"));
    let pages: Vec<String> = lists.map(|it| it.query("page").unwrap().to_owned()).collect();
    assert_eq!(pages, ["1", "2", "3"]);
}

#[test]
fn a_rate_limit_is_waited_for() {
    let limit = json!({ "message": "API rate limit exceeded for installation ID 1." });
    let reset = Answer::json(403, &limit).with("x-ratelimit-remaining", 0).with("x-ratelimit-reset", 1_800_000_020u64);
    let named = Answer::json(429, &limit).with("retry-after", 9);
    let secondary = Answer::json(403, &json!({ "message": "You have exceeded a secondary rate limit." }));
    let github = Github::with(Vec::new()).first("GET", vec![reset, named]).first("POST", vec![secondary]);
    assert_eq!(github.upsert(&comment("x")).unwrap(), CommentOutcome::Created { url: url(1) });
    assert_eq!(github.clock.slept(), [21, 9, 60]);
    assert_eq!(github.bodies().len(), 1);
}

#[test]
fn a_limit_of_an_hour_is_not_waited_for() {
    let limit = Answer::json(403, &json!({ "message": "API rate limit exceeded" }));
    let limit = limit.with("x-ratelimit-remaining", 0).with("x-ratelimit-reset", 1_800_003_600u64);
    let github = Github::with(Vec::new()).first("GET", vec![limit]);
    let error = github.upsert(&comment("x")).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::RateLimited);
    assert!(error.message.contains("3601 s"), "{error}");
    assert!(github.clock.slept().is_empty());
}

#[test]
fn what_is_not_there_is_an_error_at_once() {
    let missing = Answer::json(404, &json!({ "message": "Not Found" }));
    let github = Github::with(Vec::new()).first("GET", vec![missing]);
    let error = github.upsert(&comment("x")).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Status(404));
    assert!(error.message.contains("GET repos/acme/infra/issues/7/comments: Not Found"), "{error}");
    assert_eq!(github.server.received().len(), 1);
}

#[test]
fn a_refused_body_is_an_error_with_the_reason() {
    let refusal = json!({ "message": "Validation Failed",
                          "errors": [{ "resource": "IssueComment", "field": "body", "code": "too_long" }] });
    let github = Github::with(Vec::new()).first("POST", vec![Answer::json(422, &refusal)]);
    let error = github.upsert(&comment("x")).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Status(422));
    assert!(error.message.contains("Validation Failed") && error.message.contains("too_long"), "{error}");
    assert_eq!(github.server.writes(), 1);
}

#[test]
fn a_passing_fault_is_tried_again() {
    let faults = || vec![Answer::new(502, "<html>bad gateway</html>"), Answer::new(503, ""), Answer::hang_up()];
    let github =
        Github::with(vec![Remark::by_bot(3, ours("old", OLD))]).first("GET", faults()).first("PATCH", faults());
    assert_eq!(github.upsert(&comment("new")).unwrap(), CommentOutcome::Updated { url: url(3) });
    assert_eq!(github.clock.slept.lock().unwrap().len(), 6);
}

#[test]
fn a_lasting_fault_is_an_error() {
    let github = Github::with(Vec::new()).first("GET", vec![Answer::new(500, ""); 100]);
    let error = github.upsert(&comment("x")).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Status(500));
    assert_eq!(github.server.received().len(), 5);
}

#[test]
fn a_creation_whose_answer_got_lost_is_not_repeated() {
    for lost in [Answer::new(502, ""), Answer::hang_up()] {
        let mut once = Some(lost);
        let github = Github::with(Vec::new()).trick(move |received, world| {
            let lost = once.take_if(|_| received.method == "POST")?;
            let body = received.json().unwrap();
            world.remarks.push(Remark::by_bot(1, body["body"].as_str().unwrap()));
            Some(lost)
        });
        assert_eq!(github.upsert(&comment("x")).unwrap(), CommentOutcome::Created { url: url(1) });
        assert_eq!(github.bodies(), [ours("x", HEAD)]);
    }
}

#[test]
fn a_creation_that_did_not_happen_is_repeated() {
    let github = Github::with(Vec::new()).first("POST", vec![Answer::new(502, ""), Answer::hang_up()]);
    assert_eq!(github.upsert(&comment("x")).unwrap(), CommentOutcome::Created { url: url(1) });
    assert_eq!(github.bodies().len(), 1);
}

#[test]
fn a_token_that_may_not_write_is_no_failure() {
    for (method, remarks) in [("POST", Vec::new()), ("PATCH", vec![Remark::by_bot(3, ours("old", OLD))])] {
        let refusal = json!({ "message": "Resource not accessible by integration" });
        let github = Github::with(remarks).first(method, vec![Answer::json(403, &refusal)]);
        let CommentOutcome::JobSummary { reason } = github.upsert(&comment("x")).unwrap() else { panic!() };
        assert!(reason.contains("Resource not accessible by integration"), "{reason}");
        assert_eq!(github.server.writes(), 1);
    }
}

#[test]
fn a_redirect_to_another_place_is_refused() {
    let elsewhere = Server::start(|_| Answer::json(200, &json!([])));
    for method in ["GET", "POST"] {
        let redirect = Answer::new(307, "").with("location", format!("{}/repos/acme/infra", elsewhere.url()));
        let github = Github::with(Vec::new()).first(method, vec![redirect]);
        let error = github.upsert(&comment("x")).unwrap_err();
        assert_eq!(error.kind, HttpErrorKind::Redirected);
    }
    assert!(elsewhere.received().is_empty(), "the token went to another place");
}

#[test]
fn a_redirect_of_a_renamed_repository_is_followed() {
    let moved = |to: &str| Answer::new(301, "").with("location", to);
    let github = Github::with(Vec::new())
        .first("GET", vec![moved("/repos/acme/platform/issues/7/comments?per_page=100&page=1")])
        .first("POST", vec![moved("/repos/acme/platform/issues/7/comments")]);
    assert_eq!(github.upsert(&comment("x")).unwrap(), CommentOutcome::Created { url: url(1) });
    let asked = github.server.asked();
    assert_eq!(asked.iter().rfind(|it| it.starts_with("POST")).unwrap(), "POST /repos/acme/platform/issues/7/comments");
    let endless = vec![moved("/repos/acme/infra/issues/7/comments?per_page=100&page=1"); 50];
    let github = Github::with(Vec::new()).first("GET", endless);
    assert_eq!(github.upsert(&comment("x")).unwrap_err().kind, HttpErrorKind::Redirected);
}

#[test]
fn no_answer_makes_us_repeat_the_token() {
    for status in [401, 404, 418, 422, 500] {
        let echo = format!("you sent Bearer {TOKEN}\u{1b}[31m to {TOKEN}");
        let json = Answer::json(status, &json!({ "message": echo, "errors": [{ "message": TOKEN }] }));
        for answer in [json, Answer::new(status, echo.clone())] {
            let github = Github::with(Vec::new()).first("GET", vec![answer; 5]);
            let error = github.upsert(&comment("x")).unwrap_err();
            assert!(error.message.contains("***") && !error.message.contains('\u{1b}'), "{error}");
        }
    }
    let forbidden = Answer::json(403, &json!({ "message": format!("{TOKEN} may not") }));
    let github = Github::with(Vec::new()).first("POST", vec![forbidden]);
    assert_no_secret(&format!("{:?}", github.upsert(&comment("x")).unwrap()));
    assert_no_secret(&format!("{:?}", github.target()));
}

#[test]
fn two_runs_that_create_at_once_leave_one_comment() {
    // The other run creates its comment just before this one.
    let mut once = Some(());
    let github = Github::with(Vec::new()).trick(move |received, world| {
        once.take_if(|()| received.method == "POST")?;
        world.remarks.push(Remark::by_bot(world.next_id, ours("theirs", HEAD)));
        world.next_id += 1;
        None
    });
    assert_eq!(github.upsert(&comment("mine")).unwrap(), CommentOutcome::Updated { url: url(1) });
    assert_eq!(github.bodies(), [ours("mine", HEAD)]);

    // The other run creates its comment just after this one.
    let mut listed = 0;
    let github = Github::with(Vec::new()).trick(move |received, world| {
        let lists = received.method == "GET";
        listed += usize::from(lists);
        if lists && listed == 2 {
            world.remarks.push(Remark::by_bot(world.next_id, ours("theirs", HEAD)));
        }
        None
    });
    assert_eq!(github.upsert(&comment("mine")).unwrap(), CommentOutcome::Created { url: url(1) });
    assert_eq!(github.bodies(), [ours("mine", HEAD)]);
}

#[test]
fn duplicates_of_an_earlier_race_are_cleared_away() {
    let github = Github::with(vec![Remark::by_bot(3, ours("a", OLD)), Remark::by_bot(5, ours("b", OLD))]);
    assert_eq!(github.upsert(&comment("new")).unwrap(), CommentOutcome::Updated { url: url(3) });
    assert_eq!(github.bodies(), [ours("new", HEAD)]);
}

#[test]
fn a_run_of_an_older_commit_does_not_overwrite_a_newer_one() {
    let github = Github::with(vec![Remark::by_bot(3, ours("newer", NEWER))]);
    github.world.lock().unwrap().pull_head = NEWER;
    assert_eq!(github.upsert(&comment("older")).unwrap(), CommentOutcome::Superseded { head: NEWER.to_owned() });
    assert_eq!(github.server.writes(), 0);
}

#[test]
fn a_newer_run_that_writes_right_after_us_wins() {
    for (pull_head, kept) in [(NEWER, "theirs"), (HEAD, "mine")] {
        let mut once = Some(());
        let github = Github::with(vec![Remark::by_bot(3, ours("old", OLD))]).trick(move |received, world| {
            let single = received.method == "GET" && received.path.ends_with("/issues/comments/3");
            once.take_if(|()| single)?;
            world.remarks[0].body = ours("theirs", if pull_head == NEWER { NEWER } else { OLD });
            world.pull_head = pull_head;
            None
        });
        let outcome = github.upsert(&comment("mine")).unwrap();
        assert_eq!(matches!(outcome, CommentOutcome::Superseded { .. }), pull_head == NEWER, "{outcome:?}");
        assert!(github.bodies()[0].contains(kept), "{:?}", github.bodies());
    }
}

#[test]
fn a_comment_that_is_deleted_under_our_hands_is_created_again() {
    let mut once = Some(());
    let github = Github::with(vec![Remark::by_bot(3, ours("old", OLD))]).trick(move |received, world| {
        once.take_if(|()| received.method == "PATCH")?;
        world.remarks.clear();
        None
    });
    assert_eq!(github.upsert(&comment("new")).unwrap(), CommentOutcome::Created { url: url(4) });
}

#[test]
fn a_person_who_pastes_our_marker_is_not_edited() {
    let pasted = Remark::by_person(3, ours("mine now", OLD));
    let github = Github::with(vec![pasted.clone()]);
    assert_eq!(github.upsert(&comment("new")).unwrap(), CommentOutcome::Created { url: url(4) });
    assert_eq!(github.bodies()[0], pasted.body);

    let github = Github::with(vec![pasted]);
    github.world.lock().unwrap().viewer = Some("octocat");
    assert_eq!(github.upsert(&comment("new")).unwrap(), CommentOutcome::Updated { url: url(3) });
}

#[test]
fn comments_of_other_programs_are_neither_edited_nor_deleted() {
    for may_ask_name in [true, false] {
        for mode in [Mode::Update, Mode::DeleteAndNew, Mode::HideAndNew] {
            let other = Remark { login: "evil[bot]", ..Remark::by_bot(2, ours("theirs", OLD)) };
            let person = Remark::by_person(3, ours("pasted", OLD));
            let github = Github::with(vec![other.clone(), person.clone(), Remark::by_bot(4, ours("old", OLD))]);
            github.world.lock().unwrap().may_ask_name = may_ask_name;
            github.upsert(&ForgeComment { mode, ..comment("new") }).unwrap();
            let bodies = github.bodies();
            assert_eq!((&bodies[0], &bodies[1]), (&other.body, &person.body), "{mode:?} {may_ask_name}");
            assert!(bodies.contains(&ours("new", HEAD)) && !bodies.contains(&ours("old", OLD)), "{mode:?}: {bodies:?}");
            assert!(github.world.lock().unwrap().hidden.iter().all(|it| it == "IC_4"));
        }
        // Without an own comment, gpulint creates one, or none if there is nothing to report.
        let other = Remark { login: "evil[bot]", ..Remark::by_bot(2, ours("theirs", OLD)) };
        let github = Github::with(vec![other.clone()]);
        github.world.lock().unwrap().may_ask_name = may_ask_name;
        let quiet = ForgeComment { only_if_present: true, ..comment("all fixed") };
        assert_eq!(github.upsert(&quiet).unwrap(), CommentOutcome::NotNeeded);
        assert_eq!(github.bodies(), std::slice::from_ref(&other.body));
        github.upsert(&comment("new")).unwrap();
        assert_eq!(github.bodies(), [other.body, ours("new", HEAD)]);
    }
}

#[test]
fn nothing_to_tell_writes_no_first_comment() {
    let quiet = ForgeComment { only_if_present: true, ..comment("all fixed") };
    let github = Github::with(Vec::new());
    assert_eq!(github.upsert(&quiet).unwrap(), CommentOutcome::NotNeeded);
    assert_eq!(github.server.writes(), 0);
    let github = Github::with(vec![Remark::by_bot(3, ours("waste", OLD))]);
    assert_eq!(github.upsert(&quiet).unwrap(), CommentOutcome::Updated { url: url(3) });
}

#[test]
fn other_modes_put_the_earlier_comment_away() {
    let old = || vec![Remark::by_bot(3, ours("old", OLD))];
    let mode = |mode| ForgeComment { mode, ..comment("new") };

    let github = Github::with(old());
    assert_eq!(github.upsert(&mode(Mode::New)).unwrap(), CommentOutcome::Created { url: url(4) });
    assert_eq!(github.bodies(), [ours("old", OLD), ours("new", HEAD)]);

    let github = Github::with(old());
    assert_eq!(github.upsert(&mode(Mode::DeleteAndNew)).unwrap(), CommentOutcome::Created { url: url(4) });
    assert_eq!(github.bodies(), [ours("new", HEAD)]);

    let github = Github::with(old());
    assert_eq!(github.upsert(&mode(Mode::HideAndNew)).unwrap(), CommentOutcome::Created { url: url(4) });
    assert_eq!(github.world.lock().unwrap().hidden, ["IC_3"]);
    assert!(github.bodies()[0].starts_with("<!-- gpulint:retired -->"));
    let refused = Github::with(old());
    refused.world.lock().unwrap().may_hide = false;
    assert_eq!(refused.upsert(&mode(Mode::HideAndNew)).unwrap(), CommentOutcome::Created { url: url(4) });
    assert!(refused.bodies()[0].contains("Replaced by a newer report"), "{:?}", refused.bodies());

    // Another page about the same is no reason to call everybody again.
    let paged = |run: u32| format!("new\n\n[Full report](https://a.example/{run})");
    let of_run = |run, mode| ForgeComment { mode, ..comment(&paged(run)) };
    let linked = Github::with(vec![Remark::by_bot(3, ours(&paged(1), OLD))]);
    assert_eq!(linked.upsert(&of_run(2, Mode::DeleteAndNew)).unwrap(), CommentOutcome::Updated { url: url(3) });
    assert_eq!(linked.bodies(), [ours(&paged(2), HEAD)]);

    let again = github.upsert(&mode(Mode::HideAndNew)).unwrap();
    assert_eq!(again, CommentOutcome::Unchanged { url: url(4) }, "a hidden comment is no longer looked after");
}

#[test]
fn an_answer_without_end_is_not_read_to_its_end() {
    let github = Github::with(Vec::new()).first("GET", vec![Answer::new(200, vec![b' '; (16 << 20) + 2])]);
    assert_eq!(github.upsert(&comment("x")).unwrap_err().kind, HttpErrorKind::TooLarge);

    // 20 MB of spaces in 130 KB.
    let bomb = Answer::new(200, gzipped(b' ', 20 << 20)).with("content-encoding", "gzip");
    assert!(bomb.body.len() < 140_000);
    let github = Github::with(Vec::new()).first("GET", vec![bomb]);
    assert_eq!(github.upsert(&comment("x")).unwrap_err().kind, HttpErrorKind::TooLarge);

    let mut headers = Answer::new(200, "[]");
    headers.headers = (0..5_000).map(|n| (format!("x-{n}"), "y".repeat(200))).collect();
    let github = Github::with(Vec::new()).first("GET", vec![headers; 5]);
    assert_eq!(github.upsert(&comment("x")).unwrap_err().kind, HttpErrorKind::Interrupted);
}

#[test]
fn a_conversation_of_endless_pages_ends() {
    let talk = json!([{ "id": 1, "body": "x".repeat(4 << 20), "user": { "login": "somebody", "type": "User" } }]);
    let next = "<https://api.github.com/next>; rel=\"next\"";
    let mut github = Github::with(Vec::new()).trick(move |_, _| Some(Answer::json(200, &talk).with("link", next)));
    github.settings.max_total_bytes = 64 << 20;
    let error = github.upsert(&comment("x")).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::TooLarge, "{error}");
    assert_eq!(github.server.asked().len(), 16);
}

#[test]
fn an_answer_that_trickles_is_given_up() {
    let mut github = Github::with(Vec::new())
        .trick(|_, _| Some(Answer::new(200, vec![b' '; 1000]).slowly(Duration::from_millis(50))));
    github.settings.timeout = Duration::from_millis(300);
    github.settings.attempts = 2;
    assert_eq!(github.upsert(&comment("x")).unwrap_err().kind, HttpErrorKind::Interrupted);
}

#[test]
fn a_server_that_falls_asleep_is_given_up() {
    let mut github = Github::with(Vec::new()).trick(|_, _| {
        std::thread::sleep(Duration::from_millis(400));
        None
    });
    github.settings.timeout = Duration::from_millis(50);
    github.settings.attempts = 2;
    let error = github.upsert(&comment("x")).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Interrupted);
    assert!(error.message.contains("did not answer in time"), "{error}");
}

#[test]
fn an_answer_that_is_no_list_is_an_error() {
    for body in ["", "null", "{}", "[", "<html>", "\"x\""] {
        let github = Github::with(Vec::new()).first("GET", vec![Answer::new(200, body)]);
        assert_eq!(github.upsert(&comment("x")).unwrap_err().kind, HttpErrorKind::Malformed, "{body}");
    }
}

#[test]
fn a_body_that_is_too_long_is_not_sent() {
    let github = Github::with(Vec::new());
    let error = github.upsert(&comment(&"é".repeat(65_500))).unwrap_err();
    assert!(error.message.contains("65536"), "{error}");
    assert!(github.server.received().is_empty());
}

#[test]
fn hostile_names_stay_names() {
    for repository in ["acme", "acme/", "acme/a/b", "/x", "acme/.."] {
        let github = Github::with(Vec::new());
        let target = CommentTarget { repository: repository.to_owned(), ..github.target() };
        let wire = Wire { settings: HttpSettings::default(), clock: &github.clock };
        assert_eq!(upsert(&target, &comment("x"), &wire).unwrap_err().kind, HttpErrorKind::Unusable, "{repository}");
        assert!(github.server.received().is_empty());
    }
}

#[test]
fn a_proxy_is_used_unless_the_host_is_excepted() {
    let proxy = Server::start(|_| Answer::json(407, &json!({ "message": "who are you? hunter22" })));
    let github = Github::with(Vec::new());
    let address = proxy.url().replace("http://", "http://bot:hunter22@");
    let proxies = |except: Option<&str>| Proxies {
        http: Some(Secret::new(address.as_str())),
        except: except.map(str::to_owned),
        https: None,
    };
    let settings = |except| HttpSettings { proxies: proxies(except), ..HttpSettings::default() };
    let through = Wire { settings: settings(None), clock: &github.clock };
    let error = upsert(&github.target(), &comment("x"), &through).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Status(407));
    assert!(!format!("{error} {:?}", through.settings).contains("hunter22"), "{error}");
    assert_eq!(proxy.received().len(), 1);
    assert!(proxy.received()[0].path.starts_with(&github.server.url()));

    let around = Wire { settings: settings(Some("10.0.0.0/8,127.0.0.1")), clock: &github.clock };
    assert_eq!(upsert(&github.target(), &comment("x"), &around).unwrap(), CommentOutcome::Created { url: url(1) });
    assert_eq!(proxy.received().len(), 1);
}

fn note(first_line: u32, last_line: u32, key: &str) -> LineNote {
    LineNote {
        path: "main.tf".to_owned(),
        first_line,
        last_line,
        body: "on demand for $10/month".to_owned(),
        replacement: Some("  a = \"```\"".to_owned()),
        key: key.to_owned(),
    }
}

#[test]
fn notes_stand_on_changed_lines_once() {
    let github = Github::with(Vec::new());
    let wire = Wire { settings: HttpSettings::default(), clock: &github.clock };
    let notes = [note(2, 2, "one"), note(2, 3, "two"), note(1, 1, "unchanged"), note(90, 90, "far --> <b>")];
    let reviewed = review(&github.target(), &Tag::default(), &notes, &wire).unwrap();
    assert_eq!((reviewed.posted, reviewed.elsewhere, reviewed.standing), (2, 2, 0));
    let received = github.server.received();
    let sent = received.iter().rfind(|it| it.is_write()).unwrap().json().unwrap();
    assert_eq!(sent["commit_id"], HEAD);
    assert_eq!(sent["comments"][0]["line"], 2);
    assert_eq!(sent["comments"][0].get("start_line"), None);
    assert_eq!(sent["comments"][1]["start_line"], 2);
    let body = sent["comments"][0]["body"].as_str().unwrap();
    assert!(body.ends_with("\n\n````suggestion\n  a = \"```\"\n````\n"), "{body}");

    let reviewed = review(&github.target(), &Tag::default(), &notes, &wire).unwrap();
    assert_eq!((reviewed.posted, reviewed.elsewhere, reviewed.standing), (0, 2, 2));
    assert_eq!(github.server.writes(), 1);
    github.assert_as_described();
}

#[test]
fn a_review_that_is_refused_is_no_failure() {
    for status in [403, 422] {
        let refusal =
            Answer::json(status, &json!({ "message": "pull_request_review_thread.line must be part of the diff" }));
        let github = Github::with(Vec::new()).first("POST", vec![refusal]);
        let wire = Wire { settings: HttpSettings::default(), clock: &github.clock };
        let reviewed = review(&github.target(), &Tag::default(), &[note(2, 2, "one")], &wire).unwrap();
        assert!(reviewed.refused.unwrap().contains("part of the diff"));
    }
}

#[test]
fn a_review_stays_readable() {
    let github = Github::with(Vec::new());
    let wire = Wire { settings: HttpSettings::default(), clock: &github.clock };
    let notes: Vec<LineNote> = (0..25).map(|n| note(2, 2, &format!("finding {n}"))).collect();
    let reviewed = review(&github.target(), &Tag::default(), &notes, &wire).unwrap();
    assert_eq!((reviewed.posted, reviewed.beyond_limit), (10, 15));
}
