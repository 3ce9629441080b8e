//! Tests `gpulint mcp`: its answers equal the output of the command line, in parts of limited size. A client can
//! neither read outside the folder nor stop the server.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::Place;
use crate::fences;
use crate::schema::validate;
use crate::skipped::skip;

const TODAY: &str = "2026-11-26";
const TOOLS: [&str; 6] = ["check", "price", "fit", "explain", "what_if", "rules"];
/// The maximum size of an answer: a few thousand words.
const LARGEST_ANSWER_BYTES: usize = 40_000;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn example(name: &str) -> PathBuf {
    root().join("examples").join(name)
}

/// A server that reads lines from a client.
struct Served {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    count: u64,
}

impl Served {
    fn start(folder: &Path) -> Served {
        Served::with(Command::new(env!("CARGO_BIN_EXE_gpulint")).arg("mcp").arg(folder))
    }

    fn with(command: &mut Command) -> Served {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Served { child, input, output, count: 0 }
    }

    fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// Returns the next message, which must exist.
    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"))
    }

    /// Returns the answer to a line.
    fn hear_for(&mut self, line: &str) -> Value {
        self.say(line);
        self.hear()
    }

    fn request(&mut self, method: &str, parameters: Value) -> Value {
        self.count += 1;
        let id = self.count;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters });
        let answer = self.hear_for(&message.to_string());
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(id)), "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let size = answer.to_string().len();
        assert!(size < LARGEST_ANSWER_BYTES, "{tool}: {size} bytes");
        answer["result"].clone()
    }

    /// Returns the report of a successful tool call.
    fn report(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments.clone());
        assert_eq!(result["isError"], json!(false), "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// Returns the error of a failed tool call.
    fn refusal(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments.clone());
        assert_eq!(result["isError"], json!(true), "{tool} {arguments}: {result}");
        assert_eq!(result.get("structuredContent"), None);
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    fn demand_alive(&mut self, after: &str) {
        assert_eq!(self.request("ping", json!({}))["result"], json!({}), "after {after}");
    }

    /// Closes the input: all requests are answered, and the server exits.
    fn end(mut self) -> Vec<Value> {
        drop(self.input.take());
        let rest = (&mut self.output).lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        assert!(self.child.wait().unwrap().success());
        rest
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn copy(from: &Path, to: &str, place: &Place) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let path = format!("{to}{}", entry.file_name().to_str().unwrap());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &format!("{path}/"), place),
            false => place.write(&path, &fs::read_to_string(entry.path()).unwrap()),
        }
    }
}

/// Returns the output of the command line for the same question.
fn printed(folder: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    let run = command.args(arguments).args(["--format", "json"]).current_dir(folder).output().unwrap();
    assert!(matches!(run.status.code(), Some(0 | 1)), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&run.stdout).unwrap()
}

#[test]
fn versions_are_agreed_on() {
    for (wished, spoken) in
        [("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2025-11-25"), ("?", "2025-11-25")]
    {
        let mut served = Served::start(&example("mixed"));
        let client = json!({ "name": "test", "version": "1" });
        let wish = json!({ "protocolVersion": wished, "capabilities": {}, "clientInfo": client });
        let said = served.request("initialize", wish);
        assert_eq!(said["result"]["protocolVersion"], json!(spoken), "{wished}");
        assert_eq!(said["result"]["serverInfo"]["version"], json!(env!("CARGO_PKG_VERSION")));
        served.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        served.demand_alive("a handshake");
    }
}

/// A request that contains its version is answered in this version, or gets a list of versions.
#[test]
fn a_request_that_says_its_version_needs_no_handshake() {
    let mut served = Served::start(&example("mixed"));
    let meta = |version: &str| json!({ "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {} });
    let said = served.request("server/discover", json!({ "_meta": meta("2026-07-28") }));
    assert_eq!(said["result"]["supportedVersions"], json!(["2026-07-28"]));
    let call = json!({ "_meta": meta("2026-07-28"), "name": "rules", "arguments": { "limit": 1 } });
    let said = served.request("tools/call", call);
    assert_eq!((&said["result"]["resultType"], &said["result"]["isError"]), (&json!("complete"), &json!(false)));
    let said = served.request("tools/list", json!({ "_meta": meta("1900-01-01") }));
    assert_eq!(said["error"]["code"], json!(-32022));
    assert_eq!(said["error"]["data"]["supported"], json!(["2026-07-28"]));
    let said =
        served.request("tools/list", json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } }));
    assert_eq!(said["error"]["code"], json!(-32602));
}

#[test]
fn every_tool_only_reads_and_says_what_its_arguments_mean() {
    let mut served = Served::start(&example("mixed"));
    let said = served.request("tools/list", json!({}));
    // Each client pays for this text in every conversation.
    let size = said.to_string().len();
    assert!(size < 18_000, "{size} bytes");
    let tools = said["result"]["tools"].as_array().unwrap().clone();
    assert_eq!(tools.iter().map(|it| it["name"].as_str().unwrap()).collect::<Vec<_>>(), TOOLS);
    for tool in &tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], json!(true));
        jsonschema::validator_for(&tool["inputSchema"]).unwrap();
        for (name, argument) in tool["inputSchema"]["properties"].as_object().unwrap() {
            let meaning = argument["description"].as_str().unwrap_or_default();
            // A command-line option with another name would have no description.
            assert!(!meaning.is_empty() || name == "region", "{}: {name}", tool["name"]);
        }
    }
}

/// The content of a report equals the output of the command line, in a form that tools and schemas describe.
#[test]
fn answers_are_the_reports_of_the_command_line() {
    // In a repository, the command line also looks above the folder and names its runs by the path to them.
    let place = Place::new();
    copy(&example("mixed"), "", &place);
    let folder = place.directory();
    let mut served = Served::start(folder);
    let tools = served.request("tools/list", json!({}))["result"]["tools"].clone();
    let forms: BTreeMap<&str, &Value> =
        tools.as_array().unwrap().iter().map(|it| (it["name"].as_str().unwrap(), &it["outputSchema"])).collect();
    let pool = "google_container_node_pool.l4";
    let cases: [(&str, Value, &[&str]); 6] = [
        ("check", json!({}), &["check"]),
        (
            "check",
            json!({ "path": "terraform", "select": ["missing-auto-shutdown"] }),
            &["check", "terraform", "--select=missing-auto-shutdown"],
        ),
        ("price", json!({ "name": "g5.xlarge", "region": "us-east-1" }), &["price", "g5.xlarge", "--region=us-east-1"]),
        (
            "fit",
            json!({ "model": "meta-llama/Llama-3.1-8B", "accelerator": "L4" }),
            &["fit", "meta-llama/Llama-3.1-8B", "--accelerator=L4"],
        ),
        (
            "what_if",
            json!({ "on": [pool], "set": { "machine": "g2-standard-4", "count": 2 } }),
            &["what-if", "--on=google_container_node_pool.l4", "--set=machine=g2-standard-4", "--set=count=2"],
        ),
        (
            "what_if",
            json!({ "on": pool, "case": [{ "name": "spot", "set": { "purchase": "spot" } }] }),
            &["what-if", "--on=google_container_node_pool.l4", "--case=spot:purchase=spot"],
        ),
    ];
    for (tool, mut arguments, words) in cases {
        let mut words = words.to_vec();
        if tool != "fit" {
            arguments["today"] = json!(TODAY);
            words.extend(["--today", TODAY, "--prices", "embedded"]);
        }
        let said = served.report(tool, arguments);
        let form = jsonschema::validator_for(forms[tool]).unwrap();
        assert!(form.is_valid(&said), "{tool}: {:?}", form.iter_errors(&said).next());
        let mut whole = printed(folder, &words);
        if tool == "check" {
            validate("check", &said["report"]);
            whole = as_told(whole, &said);
        }
        assert_eq!(said["report"], whole, "{tool}");
        assert!(!said["summary"].as_str().unwrap().is_empty());
    }
    let said = served.report("rules", json!({ "limit": 200 }));
    let whole = printed(folder, &["rules", "list"]);
    let shown = said["report"].as_array().unwrap();
    assert_eq!(shown[..], whole.as_array().unwrap()[..shown.len()]);
    assert!(shown.len() > 50, "{}", shown.len());
}

/// Returns the same, in the order and to the extent of the answer.
fn as_told(mut whole: Value, said: &Value) -> Value {
    let key = |it: &Value| (it["fingerprint"].to_string(), it["address"].to_string(), it["path"].to_string());
    for list in ["findings", "resources"] {
        let order: Vec<_> = said["report"][list].as_array().unwrap().iter().map(key).collect();
        whole[list].as_array_mut().unwrap().sort_by_key(|it| order.iter().position(|other| *other == key(it)));
    }
    for told in said["left_out"].as_array().unwrap() {
        let shown = usize::try_from(told["shown"].as_u64().unwrap()).unwrap();
        whole[told["list"].as_str().unwrap()].as_array_mut().unwrap().truncate(shown);
    }
    whole
}

#[test]
fn explanations_are_text_and_told_in_pages() {
    let mut served = Served::start(&example("mixed"));
    let whole = |what: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        let run =
            command.args(["explain", what, "--prices", "embedded"]).current_dir(example("mixed")).output().unwrap();
        String::from_utf8(run.stdout).unwrap()
    };
    let said = served.call("explain", json!({ "what": "google_container_node_pool.l4" }));
    assert_eq!(said["content"][0]["text"], json!(whole("google_container_node_pool.l4")));
    let page = whole("on-demand-batch");
    let mut read = String::new();
    for _ in 0..100 {
        let offset = read.chars().count();
        let said = served.call("explain", json!({ "what": "on-demand-batch", "offset": offset, "limit": 3_000 }));
        let text = said["content"][0]["text"].as_str().unwrap().to_owned();
        match text.rsplit_once("\n(") {
            Some((part, note)) if note.contains("continue at offset") => read.push_str(part),
            _ => {
                read.push_str(&text);
                break;
            }
        }
    }
    assert_eq!(read, page);
}

#[test]
fn pages_hold_everything_once_and_the_dearest_first() {
    let place = Place::new();
    let pool = |at: usize| {
        format!(
            "resource \"aws_instance\" \"n{at}\" {{\n  instance_type = \"{}\"\n}}\n",
            ["g5.xlarge", "p5.48xlarge", "g6.2xlarge"][at % 3]
        )
    };
    place.write("main.tf", &(0..120).map(pool).collect::<String>());
    let mut served = Served::start(place.directory());
    let mut seen = BTreeSet::new();
    let (mut offset, mut total, mut last, mut most) = (0, 0, f64::MAX, 0.0);
    while let Some(next) = Some(offset).filter(|_| seen.len() < 1_000) {
        let said = served.report("check", json!({ "limit": 50, "offset": next, "today": TODAY }));
        for finding in said["report"]["findings"].as_array().unwrap() {
            assert!(seen.insert(finding["fingerprint"].as_str().unwrap().to_owned()), "{finding} is told twice");
            let usd = finding["saves_usd_per_month"]["expected"].as_f64().unwrap_or(0.0);
            assert!(usd <= last, "{usd} after {last}");
            (last, most) = (usd, usd.max(most));
        }
        let told = said["left_out"].as_array().unwrap().iter().find(|it| it["list"] == "findings").unwrap().clone();
        total = told["total"].as_u64().unwrap();
        let Some(next) = told["next_offset"].as_u64() else { break };
        assert!(next > offset);
        offset = next;
    }
    assert_eq!(seen.len() as u64, total);
    assert!(total >= 120 && most > 1_000.0 && last < most, "{total} findings from {most} to {last}");
    let said = served.report("check", json!({ "list": "resources", "limit": 2, "offset": 118 }));
    assert_eq!(said["report"]["resources"].as_array().unwrap().len(), 2);
    assert!(served.refusal("check", json!({ "list": "nothing" })).contains("findings"));
}

#[test]
fn what_is_no_message_is_answered_and_the_server_lives() {
    let mut served = Served::start(&example("mixed"));
    let nested = "[".repeat(100_000);
    let long = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"x\":\"{}\"}}}}",
        "y".repeat(3 << 20)
    );
    let cases: [(&str, i64); 10] = [
        ("nonsense", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,", -32700),
        (&nested, -32700),
        (&long, -32600),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
        ("{\"id\":1,\"method\":\"ping\"}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[1]}", -32602),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}", -32601),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"fix\"}}", -32602),
    ];
    for (line, code) in cases {
        let said = served.hear_for(line);
        let shown: String = line.chars().take(80).collect();
        assert_eq!(said["error"]["code"], json!(code), "{shown}");
        served.demand_alive(&shown);
    }
    // Answers and notifications get no answer.
    for line in
        ["{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}", "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\"}", "", "  "]
    {
        served.say(line);
        served.demand_alive(line);
    }
    served.say("\u{feff}");
    assert_eq!(served.hear()["error"]["code"], json!(-32700));
    assert!(served.end().is_empty());
}

#[test]
fn bad_arguments_are_told_with_what_to_do() {
    let mut served = Served::start(&example("mixed"));
    let cases = [
        ("check", json!({ "format": "html", "output": "x" }), "has no argument"),
        ("check", json!({ "selct": ["x"] }), "Did you mean `select`?"),
        ("check", json!({ "limit": 0 }), "from 1 to 200"),
        ("check", json!({ "limit": 1.5 }), "from 1 to 200"),
        ("check", json!({ "offset": -1 }), "`offset`"),
        ("check", json!({ "profile": "everything" }), "essential, standard or all"),
        ("check", json!({ "path": 7 }), "expected a string"),
        ("check", json!({ "path": "terrafrom" }), "did you mean `./terraform`?"),
        ("check", json!({ "var": ["a=b"] }), "an object of names and values"),
        ("check", json!({ "select": vec!["x"; 1_000] }), "more than 100 entries"),
        ("check", json!({ "select": ["x".repeat(100_000)] }), "more than 1000 bytes"),
        ("check", json!({ "workspace": "a\u{0}b" }), "control characters"),
        ("price", json!({}), "MACHINE|ACCELERATOR"),
        ("price", json!({ "name": "--config=/etc/passwd" }), "lists no machine type"),
        ("price", json!({ "name": "H100", "count": "many" }), "expected a number"),
        ("price", json!({ "name": "H100", "provider": ["nobody"] }), "use one of"),
        ("fit", json!({ "model": "meta-llama/Llama-3.1-8B", "task": "--help" }), "serve, embed"),
        ("explain", json!({}), "needs the argument `what`"),
        ("explain", json!({ "what": "--fix" }), "no rule or resource"),
        ("what_if", json!({ "on": ["google_container_node_pool.l4"] }), "--set"),
        ("what_if", json!({ "on": ["google_container_node_pool.l5"], "set": { "count": 2 } }), "did you mean"),
        ("what_if", json!({ "on": ["x"], "set": { "count": [1] } }), "a string, a number, true or false"),
        ("what_if", json!({ "on": ["x"], "case": [{ "name": "a" }] }), "needs `name` and `set`"),
    ];
    for (tool, arguments, expected) in cases {
        let said = served.refusal(tool, arguments.clone());
        assert!(said.contains(expected), "{tool} {arguments}: {said}");
        assert!(said.len() < 2_000, "{said}");
        assert!(!said.contains(root().to_str().unwrap()), "{said}");
    }
    served.demand_alive("bad arguments");
}

/// Returns everything below a directory: files with their text, links with their targets.
fn contents(directory: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let text = match (kind.is_dir(), kind.is_symlink()) {
            (_, true) => fs::read_link(&path).unwrap().to_str().unwrap().as_bytes().to_vec(),
            (true, _) => Vec::new(),
            _ => fs::read(&path).unwrap(),
        };
        found.insert(path.clone(), text);
        if kind.is_dir() {
            contents(&path, found);
        }
    }
}

const SECRET: &str = "resource \"aws_instance\" \"sentinel\" {\n  instance_type = \"p5.48xlarge\"\n}\n";

/// Creates a repository of which one folder is served. Links lead out of it, settings and ignore files are above it,
/// and every started program leaves a trace.
#[cfg(unix)]
fn hostile() -> Place {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = Place::new();
    place.write(".git/HEAD", "ref: refs/heads/main\n");
    place.write(".gitignore", "seen.tf\n");
    place.write("gpulint.toml", "this = [is wrong\n");
    place.write("secret/main.tf", SECRET);
    place.write("secret/rule.md", SECRET);
    place.write("served/main.tf", "resource \"aws_instance\" \"own\" {\n  instance_type = \"g5.xlarge\"\n}\n");
    place.write("served/seen.tf", "resource \"aws_instance\" \"seen\" {\n  instance_type = \"g5.xlarge\"\n}\n");
    place.write("served/gpulint.toml", "render = true\n");
    place.write("served/chart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
    place.write("served/sparse/.git/HEAD", "ref: refs/heads/main\n");
    place.write("served/sparse/.git/info/sparse-checkout", "x\n");
    place.write("served/sparse/main.tf", "# nothing\n");
    place.write("served/elsewhere/.git", "gitdir: ../../.git\n");
    place.write("served/elsewhere/main.tf", "# nothing\n");
    let at = |path: &str| place.directory().join(path);
    symlink(at("secret"), at("served/link")).unwrap();
    symlink(at("secret/main.tf"), at("served/inside.tf")).unwrap();
    symlink(at("secret/rule.md"), at("served/.gitmodules")).unwrap();
    symlink(at("nowhere"), at("served/dangling")).unwrap();
    for name in ["git", "helm", "kustomize", "kubectl"] {
        place.write(&format!("bin/{name}"), &format!("#!/bin/sh\necho {name} >> '{}'\n", at("started").display()));
        fs::set_permissions(at("bin").join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    place
}

#[cfg(unix)]
#[test]
fn nothing_outside_is_read_nothing_is_written_and_nothing_is_started() {
    let place = hostile();
    let mut before = BTreeMap::new();
    contents(place.directory(), &mut before);
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.arg("mcp").arg(place.directory().join("served")).env("PATH", place.directory().join("bin"));
    // The user's home contains downloaded prices, which the command line would read.
    command.env("HOME", place.directory().join("secret")).env_remove("XDG_CACHE_HOME");
    let mut served = Served::with(&mut command);
    let mut said = vec![served.report("check", json!({}))];
    let told = said[0].to_string();
    assert!(told.contains("aws_instance.own") && told.contains("aws_instance.seen"), "{told}");
    assert!(told.contains("the server ignores `render`"), "{told}");
    assert!(told.contains("inside.tf"), "what leads out is told: {told}");
    said.push(served.report("check", json!({ "path": "sparse" })));
    assert!(said[1].to_string().contains("does not start git"), "{}", said[1]);
    said.push(served.report("check", json!({ "path": "elsewhere/main.tf" })));
    said.push(served.report("what_if", json!({ "on": ["*"], "set": { "purchase": "spot" } })));
    said.push(served.report("rules", json!({ "limit": 1 })));
    for tool in ["check", "explain", "what_if", "rules"] {
        for path in [
            "..",
            "../secret",
            "link",
            "link/main.tf",
            "link/nothing",
            "chart/../../secret",
            "inside.tf",
            "dangling",
            "/",
            "/etc/passwd",
            "",
            "./../served",
        ] {
            let mut arguments = json!({ "path": path });
            match tool {
                "explain" => arguments["what"] = json!("aws_instance.own"),
                "what_if" => arguments = json!({ "path": path, "on": ["*"], "set": { "count": 2 } }),
                _ => {}
            }
            let why = served.refusal(tool, arguments);
            assert!(why.contains("outside the served folder"), "{tool} {path}: {why}");
        }
    }
    for file in ["../secret/main.tf", "link/main.tf", "link/*.tfvars", "/etc/*"] {
        let why = served.refusal("check", json!({ "var_file": [file] }));
        assert!(why.contains("outside the served folder"), "{file}: {why}");
    }
    // Standard input contains the requests.
    let why = served.refusal("check", json!({ "path": "-" }));
    assert!(why.contains("does not exist"), "{why}");
    for answer in said {
        assert!(!answer.to_string().contains("sentinel"), "{answer}");
    }
    assert!(served.end().is_empty());
    let mut after = BTreeMap::new();
    contents(place.directory(), &mut after);
    assert_eq!(before, after);
}

/// Settings of a folder may name files. Files outside the folder are not read.
#[cfg(unix)]
#[test]
fn settings_of_the_folder_lead_nowhere_else() {
    for settings in [
        "rules-dir = [\"../secret\"]\n",
        "rules-dir = [\"link\"]\n",
        "[prices]\nfile = \"../secret/main.tf\"\n",
        "[prices]\nfile = \"link/main.tf\"\n",
        "[models]\nfile = \"../secret/main.tf\"\n",
        "baseline = \"link/main.tf\"\n",
        "[measured]\nfiles = [\"link/main.tf\"]\n",
    ] {
        let place = hostile();
        place.write("served/gpulint.toml", settings);
        let mut served = Served::start(&place.directory().join("served"));
        let said = served.call("check", json!({})).to_string();
        assert!(!said.contains("sentinel") && !said.contains("p5.48xlarge"), "{settings}: {said}");
        assert!(said.contains("\"isError\":true"), "{settings}: {said}");
        served.demand_alive(settings);
    }
}

/// On the command line, a run that takes too long ends. In a server, only the answer ends.
#[test]
fn no_deadline_ends_the_server() {
    let place = Place::new();
    place.write("main.tf", "resource \"aws_instance\" \"own\" {\n  instance_type = \"g5.xlarge\"\n}\n");
    place.write("gpulint.toml", "[bounds]\nseconds = 1\n");
    let mut served = Served::start(place.directory());
    served.report("check", json!({}));
    std::thread::sleep(Duration::from_millis(2_500));
    served.report("check", json!({}));

    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    let mut served = Served::with(command.arg("mcp").arg(example("mixed")).args(["--seconds", "0"]));
    for _ in 0..3 {
        assert!(served.refusal("check", json!({})).contains("no answer within 0 seconds"));
    }
    served.demand_alive("three calls that took too long");
}

/// Each call is answered by its number, canceled calls are not answered, and the queue is limited.
#[test]
fn many_calls_at_once() {
    let mut served = Served::start(&example("mixed"));
    let call = |id: usize| {
        let call = json!({ "name": "check", "arguments": { "limit": 1 } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call }).to_string()
    };
    let many: Vec<String> = (1..=100).map(call).collect();
    served.say(&many.join("\n"));
    served.say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":30}}");
    let answers = served.end();
    let ids: BTreeSet<u64> = answers.iter().map(|it| it["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), answers.len());
    assert_eq!((1..=100).filter(|id| !ids.contains(id)).collect::<Vec<_>>(), [30]);
    let refused = answers.iter().filter(|it| it["result"]["isError"] == json!(true)).count();
    assert!((1..100).contains(&refused), "{refused}");
}

#[test]
fn a_folder_that_is_none_is_refused() {
    let run = |folder: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.arg("mcp").arg(folder).stdin(Stdio::null()).output().unwrap()
    };
    for folder in [example("nothing"), root().join("Cargo.toml")] {
        let output = run(&folder);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{}", folder.display());
    }
}

/// Each message matches the schemas that the protocol publishes (github.com/modelcontextprotocol/modelcontextprotocol).
#[test]
fn messages_are_what_the_protocol_publishes() {
    let Some(directory) = std::env::var_os("GPULINT_MCP_SCHEMA") else {
        return skip("GPULINT_MCP_SCHEMA names no directory with the schemas of the Model Context Protocol");
    };
    let modern = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let path = Path::new(&directory).join(version).join("schema.json");
        let published: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let key = if published.get("$defs").is_some() { "$defs" } else { "definitions" };
        let demand = |form: &str, value: &Value| {
            let mut schema = published.clone();
            assert!(schema[key].get(form).is_some(), "{version} has no {form}");
            schema["$ref"] = json!(format!("#/{key}/{form}"));
            let validator = jsonschema::validator_for(&schema).unwrap();
            let wrong: Vec<String> = validator.iter_errors(value).map(|it| it.to_string()).take(3).collect();
            assert!(wrong.is_empty(), "{version} {form}: {wrong:?}\n{value}");
        };
        let is_modern = version == "2026-07-28";
        let (response, failure) = match version {
            "2025-06-18" => ("JSONRPCResponse", "JSONRPCError"),
            _ => ("JSONRPCResultResponse", "JSONRPCErrorResponse"),
        };
        let mut served = Served::start(&example("mixed"));
        let mut ask = |method: &str, mut parameters: Value, form: &str| {
            if is_modern {
                parameters["_meta"] = modern.clone();
            }
            let said = served.request(method, parameters);
            demand(if form == failure { failure } else { response }, &said);
            if form != failure {
                demand(form, &said["result"]);
            }
            said
        };
        if is_modern {
            ask("server/discover", json!({}), "DiscoverResult");
        } else {
            let client = json!({ "name": "test", "version": "1" });
            let wish = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
            ask("initialize", wish, "InitializeResult");
            ask("ping", json!({}), "EmptyResult");
        }
        let tools = ask("tools/list", json!({}), "ListToolsResult")["result"]["tools"].clone();
        for tool in tools.as_array().unwrap() {
            demand("Tool", tool);
        }
        let pool = "google_container_node_pool.l4";
        for (tool, arguments) in [
            ("check", json!({})),
            ("price", json!({ "name": "H100" })),
            ("fit", json!({ "model": "meta-llama/Llama-3.1-8B" })),
            ("explain", json!({ "what": pool })),
            ("what_if", json!({ "on": [pool], "set": { "purchase": "spot" } })),
            ("rules", json!({})),
            ("check", json!({ "path": ".." })),
        ] {
            ask("tools/call", json!({ "name": tool, "arguments": arguments }), "CallToolResult");
        }
        ask("tools/call", json!({ "name": "nothing" }), failure);
        ask("resources/list", json!({}), failure);
        // In the oldest version, a message without a number gets no answer.
        for line in ["nonsense", "[]"].iter().filter(|_| version != "2025-06-18") {
            demand(failure, &served.hear_for(line));
        }
    }
}

/// Returns the calls of the page about assistants.
fn prompts() -> Vec<(String, Value)> {
    let text = fs::read_to_string(root().join("docs/assistants.md")).unwrap();
    let fences = fences::read(&text).into_iter().filter(|it| it.language == "json" && it.text.starts_with("[["));
    let calls: Vec<(String, Value)> =
        fences.flat_map(|it| serde_json::from_str::<Vec<(String, Value)>>(&it.text).unwrap()).collect();
    assert!(calls.len() > 8, "{} calls", calls.len());
    calls
}

/// The calls behind the page's prompts get useful answers.
#[test]
fn the_calls_behind_prompts_are_answered() {
    let mut served = Served::start(&example("mixed"));
    for (tool, arguments) in prompts() {
        let said = served.call(&tool, arguments.clone());
        assert_eq!(said["isError"], json!(false), "{tool} {arguments}: {said}");
        let Some(report) = said.get("structuredContent").map(|it| &it["report"]) else { continue };
        let list = arguments.get("list").and_then(Value::as_str);
        let told = match (tool.as_str(), report) {
            (_, Value::Array(entries)) => entries.len(),
            ("fit", _) => report["options"].as_array().unwrap().len(),
            ("what_if", _) => report["cases"].as_array().unwrap().len(),
            _ => report[list.unwrap_or("findings")].as_array().unwrap().len(),
        };
        assert!(told > 0, "{tool} {arguments}: {said}");
    }
}

/// The protocol's official client (`pip install mcp`) lists the tools and calls each one, in both kinds of versions. It
/// validates structured answers with the schema of their tool.
#[test]
fn the_client_of_the_protocol_calls_every_tool() {
    let Some(python) = std::env::var_os("GPULINT_MCP_PYTHON") else {
        return skip("GPULINT_MCP_PYTHON names no Python with the client of the Model Context Protocol");
    };
    const SCRIPT: &str = r#"
import asyncio, json, sys
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
program, folder, calls = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
async def run(mode):
    server = StdioServerParameters(command=program, args=["mcp", folder])
    async with Client(stdio_client(server), mode=mode) as client:
        listed = await client.list_tools()
        said = []
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            said.append([bool(result.is_error), result.content[0].text, result.structured_content])
        try:
            await client.call_tool("fix", {})
            unknown = "answered"
        except Exception as error:
            unknown = str(error)
        return {"version": client.protocol_version, "tools": [tool.name for tool in listed.tools], "said": said, "unknown": unknown}
print(json.dumps([asyncio.run(run(mode)) for mode in ["legacy", "auto"]]))
"#;
    let mut calls = vec![
        ("check".to_owned(), json!({ "path": "../../.." }), true),
        ("check".to_owned(), json!({ "limit": "all" }), true),
    ];
    calls.extend(prompts().into_iter().map(|(tool, arguments)| (tool, arguments, false)));
    assert!(TOOLS.iter().filter(|tool| **tool != "explain").all(|tool| calls.iter().any(|(it, ..)| it == tool)));
    let asked: Vec<Value> = calls.iter().map(|(tool, arguments, _)| json!([tool, arguments])).collect();
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT, env!("CARGO_BIN_EXE_gpulint")]).arg(example("mixed")).arg(json!(asked).to_string());
    let run = command.output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let runs: Value = serde_json::from_slice(&run.stdout).unwrap();
    for (run, version) in runs.as_array().unwrap().iter().zip(["2025-11-25", "2026-07-28"]) {
        assert_eq!((&run["version"], &run["tools"]), (&json!(version), &json!(TOOLS)));
        assert!(run["unknown"].as_str().unwrap().contains("unknown tool `fix`"), "{}", run["unknown"]);
        let said = run["said"].as_array().unwrap();
        assert_eq!(said.len(), calls.len());
        for ((tool, arguments, is_wrong), call) in calls.iter().zip(said) {
            assert_eq!(call[0], json!(is_wrong), "{tool} {arguments}: {call}");
            assert!(!call[1].as_str().unwrap().is_empty());
            assert_eq!(call[2].is_object(), !is_wrong && tool != "explain", "{tool}: {call}");
        }
    }
}

/// A file that would need gigabytes becomes an entry of the answer.
#[test]
fn a_bomb_in_the_folder_is_reported_and_the_server_lives() {
    let place = Place::new();
    let mut bomb = "name: demo\nruntime: yaml\nvariables:\n  s0: aaaaaaaaaaaaaaaa\n".to_owned();
    for number in 1..=26 {
        let before = number - 1;
        bomb += &format!("  s{number}: ${{s{before}}}${{s{before}}}\n");
    }
    bomb += "resources:\n  web:\n    type: aws:ec2:Instance\n    properties: {instanceType: g5.xlarge, tags: {x: \"${s26}\"}}\n";
    place.write("Pulumi.yaml", &bomb);
    let mut served = Served::start(place.path());
    let told = served.report("check", json!({})).to_string();
    assert!(told.contains("creates more than 64 MiB of text") && told.contains("g5.xlarge"), "{told}");
    served.demand_alive("the bomb");
    served.end();
}
