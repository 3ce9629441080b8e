//! Tests `usage fetch` against a server on the loopback address with false answers, and against a real Prometheus if
//! one is installed.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::forge::server::{Answer, Received, Server};
use crate::refresh::empty_directory;
use crate::skipped::skip;
use crate::usage::{DAY, answer, device};

const TOKEN: &str = "a-token-that-nobody-may-see";
const TENANT: &str = "a-tenant-of-some-length";
const ENGINE: &str = "DCGM_FI_PROF_GR_ENGINE_ACTIVE";

/// Returns the normal answer of a server: a device, and no kube-state-metrics.
fn good(asked: &Received) -> Answer {
    let body = String::from_utf8_lossy(&asked.body).into_owned();
    if asked.path.ends_with("/label/__name__/values") {
        return Answer::json(200, &json!({ "status": "success", "data": [ENGINE] }));
    }
    if asked.path.ends_with("/label/cluster/values") {
        return Answer::json(200, &json!({ "status": "success", "data": [] }));
    }
    if asked.path.ends_with("/series") {
        let all = json!([{ "__name__": "kube_pod_owner", "namespace": "team", "pod": "pod-secret", "owner_kind": "StatefulSet",
                           "owner_name": "run", "owner_is_controller": "true" }]);
        let all = if body.contains("kube_pod_owner") { all } else { json!([]) };
        return Answer::json(200, &json!({ "status": "success", "data": all }));
    }
    let labels = json!({ "UUID": "GPU-0", "gpu": "0", "Hostname": "node-secret", "modelName": "NVIDIA L4", "namespace": "team",
                         "pod": "pod-secret", "container": "server" });
    Answer::new(200, answer(device(ENGINE, &labels, 0.5, 288.0, 0)))
}

struct Ended {
    told: String,
    code: i32,
    file: Option<String>,
}

fn fetched(name: &str, server: &Server, more: &[&str]) -> Ended {
    let place = empty_directory(&format!("usage-{name}"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(["usage", "fetch", "--prometheus", &server.url(), "--days", "1", "--to", "2026-11-22"]);
    command.args(more).current_dir(&place).env("GPULINT_CACHE_DIR", place.join("cache"));
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(name);
    }
    let output = command.env("GPULINT_PROMETHEUS_TOKEN", TOKEN).output().unwrap();
    let file = fs::read_to_string(place.join("gpulint-usage.csv")).ok();
    let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let secrets = [TOKEN, TENANT, "secret"];
    for text in [Some(&told), file.as_ref()].into_iter().flatten() {
        assert!(secrets.iter().all(|it| !text.contains(it)), "{text}");
    }
    // No partly written file is left.
    let left: Vec<_> = fs::read_dir(&place).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert!(left.iter().all(|it| it == "gpulint-usage.csv" || it == "cache"), "{left:?}");
    fs::remove_dir_all(&place).unwrap();
    Ended { told, code: output.status.code().unwrap(), file }
}

#[test]
fn a_server_is_asked_by_post_with_the_token_and_the_tenant() {
    let server = Server::start(good);
    let done = fetched("good", &server, &["--header", &format!("X-Scope-OrgID={TENANT}")]);
    assert_eq!(done.code, 0, "{}", done.told);
    assert!(done.file.unwrap().contains(",team,StatefulSet,run,server,L4,"));
    for asked in server.received() {
        assert_eq!(asked.header("authorization"), Some(&*format!("Bearer {TOKEN}")));
        assert_eq!(asked.header("x-scope-orgid"), Some(TENANT));
        let is_post = asked.path.ends_with("/query") || asked.path.ends_with("/series");
        assert_eq!(asked.method, if is_post { "POST" } else { "GET" });
        if is_post {
            assert_eq!(asked.header("content-type"), Some("application/x-www-form-urlencoded"));
            assert!(String::from_utf8_lossy(&asked.body).contains("partial_response=false"));
        }
    }
}

/// Answers like `good`, except for queries.
fn queries(mut wrong: impl FnMut(&Received) -> Answer + Send + 'static) -> Server {
    Server::start(move |asked| if asked.path.ends_with("/query") { wrong(asked) } else { good(asked) })
}

#[test]
fn nothing_is_written_of_what_is_not_a_whole_answer() {
    let cut = |asked: &Received| {
        let mut answer = good(asked);
        answer.body.truncate(answer.body.len() / 2);
        answer
    };
    let matched = |_: &Received| {
        Answer::json(
            422,
            &json!({ "status": "error", "errorType": "execution", "error": "duplicate series {pod=\"pod-secret\"}" }),
        )
    };
    let range = |_: &Received| {
        Answer::json(200, &json!({ "status": "success", "data": { "resultType": "matrix", "result": [] } }))
    };
    let page = |_: &Received| Answer::new(200, "<html>log in, node-secret</html>");
    let refused = |_: &Received| Answer::new(401, "node-secret needs a token");
    let many = |_: &Received| Answer::new(200, format!("[{}0]", "0,".repeat(6_000_000)));
    for (name, server) in [
        ("cut", queries(cut)),
        ("matched", queries(matched)),
        ("range", queries(range)),
        ("page", queries(page)),
        ("many", queries(many)),
        ("deep", queries(|_| Answer::new(200, "[".repeat(1_000_000)))),
    ] {
        let done = fetched(name, &server, &["--timeout", "60"]);
        assert_eq!((done.code, done.file), (2, None), "{name}: {}", done.told);
    }
    let done = fetched("refused", &queries(|_| Answer::new(401, "needs a token")), &[]);
    assert_eq!((done.code, done.file), (2, None), "{}", done.told);
    let _ = refused;
}

#[test]
fn the_token_follows_no_redirect_to_another_place() {
    let thief = Server::start(good);
    let to = thief.url();
    let server = queries(move |_| Answer::new(307, "").with("location", format!("{to}/api/v1/query")));
    let done = fetched("redirect", &server, &[]);
    assert_eq!((done.code, done.file), (2, None), "{}", done.told);
    assert!(thief.received().is_empty());
}

#[test]
fn what_is_incomplete_is_written_only_where_that_is_allowed() {
    let warned = |asked: &Received| {
        let answer = good(asked);
        let text = String::from_utf8(answer.body.clone()).unwrap();
        Answer { body: text.replacen('{', "{\"warnings\":[\"store node-secret is down\"],", 1).into_bytes(), ..answer }
    };
    let done = fetched("warned", &queries(warned), &[]);
    assert_eq!((done.code, done.file), (4, None), "{}", done.told);
    assert!(done.told.contains(&format!("incomplete: dcgm of {DAY}")), "{}", done.told);
    let done = fetched("allowed", &queries(warned), &["--allow-partial"]);
    assert_eq!((done.code, done.file.is_some()), (0, true), "{}", done.told);
}

#[test]
fn nothing_measured_has_a_code_of_its_own() {
    let empty = Server::start(|asked| match asked.path.ends_with("/query") {
        true => Answer::new(200, answer(Vec::new())),
        false => good(asked),
    });
    assert_eq!(fetched("empty", &empty, &[]).code, 3);
    let none = Server::start(|_| Answer::json(200, &json!({ "status": "success", "data": [] })));
    let done = fetched("none", &none, &[]);
    assert_eq!((done.code, done.file), (3, None), "{}", done.told);
}

#[test]
fn several_clusters_are_refused_before_anything_is_asked() {
    let server = Server::start(|asked| match asked.path.ends_with("/label/cluster/values") {
        true => Answer::json(200, &json!({ "status": "success", "data": ["dev", "prod"] })),
        false => good(asked),
    });
    let done = fetched("clusters", &server, &[]);
    assert_eq!(done.code, 2);
    assert!(done.told.contains("dev, prod") && done.told.contains("--cluster-label"), "{}", done.told);
    assert_eq!(server.writes(), 0);
    let done = fetched("chosen", &server, &["--cluster-label", "cluster=prod"]);
    assert_eq!(done.code, 0, "{}", done.told);
    assert!(
        server
            .received()
            .iter()
            .filter(|it| it.path.ends_with("/query"))
            .all(|it| { String::from_utf8_lossy(&it.body).contains("cluster%3D%22prod%22") })
    );
}

#[test]
fn a_frontend_that_refuses_unknown_parameters_is_asked_without_them() {
    let server = Server::start(|asked| {
        let said = format!("{:?} {}", asked.query, String::from_utf8_lossy(&asked.body));
        if said.contains("partial_response") { Answer::new(400, "Unknown name") } else { good(asked) }
    });
    assert_eq!(fetched("parameters", &server, &[]).code, 0);
}

#[test]
fn a_password_in_an_address_and_a_secret_in_a_flag_are_refused() {
    let place = empty_directory("usage-password");
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(arguments).current_dir(&place).output().unwrap();
        let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        told
    };
    assert!(!run(&["usage", "fetch", "--prometheus", "http://bot:hunter2@127.0.0.1:1"]).contains("hunter2"));
    let told = run(&["usage", "fetch", "--prometheus", "http://127.0.0.1:1", "--header", "Authorization=Bearer x"]);
    assert!(told.contains("--token-file"), "{told}");
    fs::remove_dir_all(place).unwrap();
}

/// Stops the server when the test ends.
struct Prometheus {
    child: Child,
    address: String,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program(name: &str) -> Option<PathBuf> {
    let told = std::env::var_os("GPULINT_PROMETHEUS_DIR").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    told.into_iter().chain(std::env::split_paths(&path)).map(|it| it.join(name)).find(|it| it.is_file())
}

/// Starts a real Prometheus for a simulated cluster; `None` if it is not installed.
fn prometheus(place: &Path, options: &[&str]) -> Option<Prometheus> {
    let (Some(server), Some(tool)) = (program("prometheus"), program("promtool")) else {
        skip("there is no prometheus and promtool");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/usage/cluster.py");
    let made = Command::new("python3").arg(script).arg(place.join("text")).args(["--days", "2"]).args(options).status();
    if !made.is_ok_and(|it| it.success()) {
        skip("there is no python3");
        return None;
    }
    for file in fs::read_dir(place.join("text")).unwrap() {
        let blocks = ["tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=24h"];
        let made = Command::new(&tool).args(blocks).arg(file.unwrap().path()).arg(place.join("data")).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    fs::write(place.join("empty.yml"), "").unwrap();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let child = Command::new(server)
        .arg(format!("--config.file={}", place.join("empty.yml").display()))
        .arg(format!("--storage.tsdb.path={}", place.join("data").display()))
        .args(["--storage.tsdb.retention.time=100y", &format!("--web.listen-address={address}")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let running = Prometheus { child, address };
    let since = Instant::now();
    while !asked(&running.address, "GET", "-/ready", "").0 {
        assert!(since.elapsed() < Duration::from_secs(60), "Prometheus does not start");
        std::thread::sleep(Duration::from_millis(200));
    }
    Some(running)
}

/// Returns whether the request succeeded, and the answer, like curl.
fn asked(address: &str, method: &str, path: &str, body: &str) -> (bool, Vec<u8>) {
    let Ok(mut stream) = TcpStream::connect(address) else { return (false, Vec::new()) };
    let head = format!(
        "{method} /{path} HTTP/1.0\r\nhost: {address}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut answer = Vec::new();
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.read_to_end(&mut answer));
    let at = answer.windows(4).position(|it| it == b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
    (answer.starts_with(b"HTTP/1.0 200"), answer[at..].to_vec())
}

fn gpulint(place: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_gpulint"))
        .args(arguments)
        .current_dir(place)
        .env("GPULINT_CACHE_DIR", place.join("cache"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const WINDOW: [&str; 4] = ["--days", "2", "--to", "2026-11-22"];

fn fetched_from(place: &Path, server: &Prometheus, file: &str) -> String {
    let url = format!("http://{}", server.address);
    gpulint(place, &[&["usage", "fetch", "--prometheus", &*url, "-o", file][..], &WINDOW].concat());
    fs::read_to_string(place.join(file)).unwrap()
}

#[test]
fn a_real_prometheus_says_what_the_cluster_did() {
    let place = empty_directory("usage-real");
    let Some(server) = prometheus(&place, &[]) else { return };
    let text = fetched_from(&place, &server, "fetched.csv");
    for said in [
        // Four busy GPUs have the value 1.
        ",train,StatefulSet,busy,trainer,H100-80GB,dcgm:GR_ENGINE_ACTIVE,,2026-11-20,2026-11-22,4,2,192,1,1,1,0,,,68.4,,,,,,,1,,\n",
        ",train,CronJob,nightly,trainer,H100-80GB,dcgm:GR_ENGINE_ACTIVE,,2026-11-20,2026-11-22,8,2,64,1,0.62,0.62,0,",
        ",,NodePool,train,,H100-80GB,dcgm:GR_ENGINE_ACTIVE,,2026-11-20,2026-11-22,8,2,384,1,0.5,1,0.5,,,68.4,,,,,,,1,0.5,\n",
        ",,Observer,kube-state-metrics,,,kube-state-metrics,,2026-11-20,2026-11-22,,2,,1,",
        ",serving,Deployment,llm-2,server,H100-80GB,dcgm:GR_ENGINE_ACTIVE,,2026-11-20,2026-11-22,1,2,384,1,0.105,0.9,0,",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    assert_eq!(fetched_from(&place, &server, "again.csv"), text);

    // The same manually: another program runs the output of `queries`, and the answers are read from files.
    fs::create_dir(place.join("answers")).unwrap();
    for line in gpulint(&place, &[&["usage", "queries"][..], &WINDOW].concat()).lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        let (is_good, answer) = asked(&server.address, parts[1], parts[2], parts[3]);
        assert!(is_good, "{line}: {}", String::from_utf8_lossy(&answer));
        fs::write(place.join("answers").join(format!("{}.json", parts[0])), answer).unwrap();
    }
    gpulint(&place, &["usage", "import", "answers", "-o", "imported.csv"]);
    assert_eq!(fs::read_to_string(place.join("imported.csv")).unwrap(), text);
    drop(server);
    fs::remove_dir_all(&place).unwrap();
}

#[test]
fn a_real_prometheus_with_other_exporters_and_labels_says_the_same() {
    let mut said = Vec::new();
    for (at, options) in
        [&["--exporter", "4.5"][..], &["--exporter", "4.8", "--exported"], &["--exporter", "4.9", "--twice"]]
            .iter()
            .enumerate()
    {
        let place = empty_directory(&format!("usage-generation-{at}"));
        let Some(server) = prometheus(&place, options) else { return };
        said.push(fetched_from(&place, &server, "fetched.csv"));
        drop(server);
        fs::remove_dir_all(&place).unwrap();
    }
    assert_eq!(said[0], said[1]);
    assert_eq!(said[0], said[2]);
}
