//! Tests that the memory of index comparisons changes only the run time: random edits of a repository are evaluated
//! with the memory, without it, without a writable cache, and in another order.
//!
//! `GPULINT_EDITS=200` sets the number of edits, and `GPULINT_SEED` the seed.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::action::sandbox::{GIT_ENVIRONMENT, Sandbox, git, write};

/// Numbers that are the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().unwrap())
}

const MACHINES: [&str; 4] = ["p4d.24xlarge", "g5.xlarge", "m5.large", "p5.48xlarge"];

fn text(kind: &str, chance: &mut Chance) -> String {
    let (machine, size) = (chance.of(&MACHINES), chance.below(4));
    match kind {
        "module" => format!(
            "variable \"size\" {{\n  default = {size}\n}}\nresource \"aws_eks_node_group\" \"pool\" {{\n  cluster_name = \"main\"\n  \
             instance_types = [\"{machine}\"]\n  labels = {{ pool = \"p{size}\" }}\n  scaling_config {{\n    min_size = 0\n    \
             desired_size = var.size\n    max_size = 5\n  }}\n}}\n"
        ),
        "call" => format!("module \"pool\" {{\n  source = \"../../modules/m{}\"\n  size = {size}\n}}\n", chance.below(3)),
        "root" => format!(
            "variable \"machine\" {{\n  default = \"{machine}\"\n}}\nresource \"aws_instance\" \"i{size}\" {{\n  instance_type = \
             var.machine\n  user_data = try(file(\"${{path.module}}/start.sh\"), \"\")\n}}\n"
        ),
        "values of variables" => format!("machine = \"{machine}\"\n"),
        "pod" => format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {{ name: train-{size} }}\nspec:\n  template:\n    spec:\n      nodeSelector: \
             {{ pool: p{size} }}\n      containers:\n        - name: main\n          image: vllm/vllm-openai\n          envFrom: [{{ \
             configMapRef: {{ name: settings }} }}]\n          resources: {{ limits: {{ nvidia.com/gpu: {} }} }}\n",
            size + 1
        ),
        "plain" => format!("apiVersion: v1\nkind: Service\nmetadata: {{ name: s{size} }}\nspec: {{ type: ClusterIP }}\n"),
        "settings of pods" => {
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: settings }}\ndata: {{ REPLICAS: \"{size}\" }}\n")
        }
        "scaler" => format!(
            "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{ name: a }}\nspec: {{ maxReplicas: {}, \
             scaleTargetRef: {{ kind: Deployment, name: serve }} }}\n",
            size + 2
        ),
        "chart" => "apiVersion: v2\nname: serve\nversion: 1.0.0\n".to_owned(),
        "template" => "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: serve }\nspec:\n  replicas: {{ .Values.replicas }}\n  \
                       template:\n    spec:\n      containers:\n        - name: main\n          resources: { limits: { nvidia.com/gpu: \
                       1 } }\n"
            .to_owned(),
        "values" => format!("replicas: {}\n", size + 1),
        "overlay" => format!("kind: Kustomization\nresources: [../k8s/a{size}.yaml]\n"),
        "settings" => format!("fail-on = \"{}\"\n", chance.of(&["error", "warning"])),
        "ignored" => format!("{}\n", chance.of(&["*.log", "k8s/a1.yaml", "live/", "node_modules/"])),
        "script" => format!("#!/bin/sh\nsbatch --gres=gpu:{size} train.sh\n# {machine}\n"),
        "compose" => format!("services:\n  a:\n    image: a{size}\n"),
        _ => format!("about {machine}: {size}\n"),
    }
}

/// Returns a path with a possible text.
fn any_file(chance: &mut Chance) -> (String, String) {
    let (a, b) = (chance.below(4), chance.below(3));
    let (path, kind) = match chance.below(20) {
        0 => (format!("modules/m{b}/main.tf"), "module"),
        1..=3 => (format!("live/r{a}/pool.tf"), "call"),
        4 | 5 => (format!("live/r{a}/main.tf"), "root"),
        6 => (format!("live/r{a}/terraform.tfvars"), "values of variables"),
        7 => (format!("live/r{a}/env/{}.tfvars", chance.of(&["prod", "dev"])), "values of variables"),
        8 | 9 => (format!("k8s/a{a}.yaml"), chance.of(&["pod", "plain", "settings of pods", "scaler"])),
        10 => (format!("k8s/more/b{b}.yml"), chance.of(&["pod", "plain", "settings of pods"])),
        11 => ("charts/serve/Chart.yaml".to_owned(), "chart"),
        12 => ("charts/serve/templates/serve.yaml".to_owned(), "template"),
        13 => (format!("charts/serve/{}.yaml", chance.of(&["values", "values-prod"])), "values"),
        14 => ("overlay/kustomization.yaml".to_owned(), "overlay"),
        15 => ("gpulint.toml".to_owned(), "settings"),
        16 => (format!("{}.gitignore", chance.of(&["", "k8s/"])), "ignored"),
        17 => (format!("live/r{a}/start.sh"), "script"),
        18 => ("compose.yaml".to_owned(), chance.of(&["compose", "pod"])),
        _ => (format!("docs/{a}.md"), "words"),
    };
    (path, text(kind, chance))
}

fn files(directory: &Path) -> Vec<String> {
    git(directory, &["ls-files", "-z"]).split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// Adds, changes, removes or moves a file.
fn edit(directory: &Path, chance: &mut Chance, with_links: bool) {
    let there = files(directory);
    let any = |chance: &mut Chance| there[chance.below(there.len())].clone();
    match chance.below(8) {
        0 if there.len() > 4 => drop(fs::remove_file(directory.join(any(chance)))),
        1 if there.len() > 4 => {
            let (from, (to, _)) = (any(chance), any_file(chance));
            fs::create_dir_all(directory.join(&to).parent().unwrap()).unwrap();
            drop(fs::rename(directory.join(from), directory.join(to)));
        }
        2 if with_links && there.len() > 4 => {
            let (from, to) = (any(chance), format!("live/r{}/linked.tf", chance.below(4)));
            drop(fs::remove_file(directory.join(&to)));
            fs::create_dir_all(directory.join(&to).parent().unwrap()).unwrap();
            symlink(
                directory.join(from).strip_prefix(directory).map(|it| Path::new("../..").join(it)).unwrap(),
                directory.join(to),
            )
            .unwrap();
        }
        _ => {
            let (path, text) = any_file(chance);
            drop(fs::remove_file(directory.join(&path)));
            write(directory, &[(&path, &text)]);
        }
    }
    git(directory, &["add", "--all", "--force"]);
}

/// Returns the output with the exit code.
fn told(directory: &Path, arguments: &[&str], cache: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.current_dir(directory).envs(GIT_ENVIRONMENT).env("NO_COLOR", "1").env("GPULINT_CACHE_DIR", cache);
    let output = command.args(["diff", "--format", "json"]).args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{:?}\n{}{}", output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Shows the first difference of two texts.
fn assert_same(a: &str, b: &str, what: &str) {
    let mut lines = a.lines().zip(b.lines()).enumerate();
    let parted = lines.find(|(_, (a, b))| a != b);
    assert!(a == b, "{what}: {parted:?} of {} and {} lines", a.lines().count(), b.lines().count());
}

struct Work {
    sandbox: Sandbox,
    directory: PathBuf,
}

impl Work {
    fn new(chance: &mut Chance) -> Work {
        let sandbox = Sandbox::new("remembered");
        let directory = sandbox.path("work");
        fs::create_dir_all(&directory).unwrap();
        git(&directory, &["init", "--quiet", "--initial-branch=main"]);
        for _ in 0..40 {
            let (path, text) = any_file(chance);
            write(&directory, &[(&path, &text)]);
        }
        let work = Work { sandbox, directory };
        git(&work.directory, &["add", "--all", "--force"]);
        work.commit();
        work
    }

    fn commit(&self) -> String {
        git(&self.directory, &["commit", "--quiet", "--allow-empty", "--message", "all"]);
        git(&self.directory, &["rev-parse", "HEAD"])
    }

    fn staged(&self, cache: &str) -> String {
        told(&self.directory, &["--staged"], &self.sandbox.path(cache))
    }

    /// Returns the files of a cache.
    fn kept(&self, cache: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.sandbox.path(cache).join("texts")).unwrap();
        entries.map(|it| it.unwrap().path()).collect()
    }
}

#[test]
fn random_edits_are_told_the_same_with_and_without_what_is_remembered() {
    let (edits, seed) = (number("GPULINT_EDITS", 40), number("GPULINT_SEED", 20_261_126));
    let mut chance = Chance(seed);
    let work = Work::new(&mut chance);
    let here = &work.directory;
    // There is a file in place of a directory.
    fs::write(work.sandbox.path("nowhere"), "").unwrap();
    let (mut states, mut walked) = (Vec::new(), 0);
    for round in 0..edits {
        for _ in 0..=chance.below(3) {
            // With links, the two states share less.
            edit(here, &mut chance, round * 3 > edits * 2);
        }
        let warm = work.staged("warm");
        let cold = work.staged(&format!("cold-{round}"));
        let what = format!("edit {round} of seed {seed}");
        assert_same(&warm, &cold, &what);
        assert_same(&warm, &work.staged("warm"), &format!("{what}, once more"));
        if round % 4 == 0 {
            assert_same(&warm, &work.staged("nowhere"), &format!("{what}, where nothing can be kept"));
        }
        // Where the files lie as they are staged, the way that walks through them says the same; of links that lead nowhere
        // it has other words, and of nothing that is staged it has none.
        if files(here).iter().all(|file| here.join(file).exists()) && !warm.contains("no changes are staged") {
            let lying = told(here, &["--base", "HEAD"], &work.sandbox.path("nowhere"));
            assert_same(&warm, &lying, &format!("{what}, from the files as they lie there"));
            walked += 1;
        }
        let head = git(here, &["rev-parse", "HEAD"]);
        let tree = git(here, &["write-tree"]);
        states.push((head, tree, warm));
        if chance.below(3) > 0 {
            work.commit();
        }
    }
    assert!(!work.kept("warm").is_empty(), "nothing was remembered");
    assert!(walked * 4 > edits, "links led nowhere in most of them");
    let (passed, failed) = (Some(0), Some(1));
    let codes =
        [passed, failed].map(|code| states.iter().filter(|it| it.2.starts_with(&format!("{code:?}\n"))).count());
    assert!(codes.iter().all(|count| *count > 0), "all of them say the same: {codes:?}");
    // In another order, using only the index, because the work tree has another state.
    for place in 0..states.len() / 2 {
        let (head, tree, expected) = &states[(place * 7) % states.len()];
        git(here, &["update-ref", "HEAD", head]);
        git(here, &["read-tree", tree]);
        // The settings are those of the work tree.
        for path in ["gpulint.toml", "gpulint-baseline.json"] {
            drop(fs::remove_file(here.join(path)));
            git(here, &["checkout-index", "--quiet", "--all", "--force"]);
        }
        for cache in ["warm", "other"] {
            assert_same(&work.staged(cache), expected, &format!("state {place} of seed {seed} in another order"));
        }
    }
}

#[test]
fn what_is_torn_or_forged_is_as_if_it_were_not_there() {
    let mut chance = Chance(7);
    let work = Work::new(&mut chance);
    edit(&work.directory, &mut chance, true);
    let expected = work.staged("cache");
    let [file] = work.kept("cache").try_into().unwrap();
    let whole = fs::read(&file).unwrap();
    let put = |bytes: &[u8]| fs::write(&file, bytes).unwrap();
    let parts = 24;
    for part in 0..parts {
        let (start, end) = (whole.len() * part / parts, whole.len() * (part + 1) / parts);
        let mut damaged = whole.clone();
        damaged[start..end].iter_mut().for_each(|byte| *byte ^= 0x20);
        put(&damaged);
        assert_eq!(work.staged("cache"), expected, "bytes {start} to {end} are others");
        assert_eq!(fs::read(&file).unwrap(), whole, "it is not made anew");
        put(&whole[..start]);
        assert_eq!(work.staged("cache"), expected, "it ends at {start}");
        assert_eq!(fs::read(&file).unwrap(), whole, "it is not made anew");
    }
    for forged in [&b""[..], b"\n", b"x", &[0xFF; 4096]] {
        put(forged);
        assert_eq!(work.staged("cache"), expected);
    }
    // A link is not a file of the cache, whatever its target is.
    let elsewhere = work.sandbox.path("elsewhere");
    fs::write(&elsewhere, "mine").unwrap();
    fs::remove_file(&file).unwrap();
    symlink(&elsewhere, &file).unwrap();
    assert_eq!(work.staged("cache"), expected);
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "mine", "a link was written through");
    fs::remove_file(&file).unwrap();
    fs::create_dir_all(file.join("directory")).unwrap();
    assert_eq!(work.staged("cache"), expected);
}

#[test]
fn what_is_remembered_is_the_text_that_git_has() {
    let mut chance = Chance(11);
    let work = Work::new(&mut chance);
    let path = "live/r0/own.tf";
    write(&work.directory, &[(path, "resource \"aws_instance\" \"own\" {\n  instance_type = \"p4d.24xlarge\"\n}\n")]);
    git(&work.directory, &["add", "--all", "--force"]);
    let staged = work.staged("first");
    assert!(staged.contains("aws_instance.own"), "{staged}");
    // The work tree has other files of the same size. Their results must not be stored for the staged text.
    write(&work.directory, &[(path, "resource \"aws_instance\" \"two\" {\n  instance_type = \"p4d.24xlarge\"\n}\n")]);
    assert_eq!(work.staged("second"), staged);
    assert_eq!(work.staged("second"), staged);
    git(&work.directory, &["add", "--all", "--force"]);
    assert!(work.staged("second").contains("aws_instance.two"));
}

/// Returns a seal without a key, as anyone with write access to the cache could create it.
fn plain_seal(text: &[u8]) -> Vec<u8> {
    let digest =
        Command::new("sha256sum").stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn();
    let mut digest = digest.unwrap();
    std::io::Write::write_all(&mut digest.stdin.take().unwrap(), text).unwrap();
    let said = digest.wait_with_output().unwrap().stdout;
    [&said[..64], b"\n", text].concat()
}

#[test]
fn a_seal_that_somebody_else_made_is_no_seal() {
    let sandbox = Sandbox::outside("sealed");
    let here = sandbox.path("work");
    fs::create_dir_all(&here).unwrap();
    git(&here, &["init", "--quiet", "--initial-branch=main"]);
    let machine = |kind: &str| format!("resource \"aws_instance\" \"a\" {{\n  instance_type = \"{kind}\"\n}}\n");
    let maps: Vec<(String, String)> = (0..5)
        .map(|n| (format!("p{n}.yaml"), format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a{n}}}\n")))
        .collect();
    let maps: Vec<(&str, &str)> = maps.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    write(&here, &maps);
    write(&here, &[("main.tf", &machine("t3.micro"))]);
    git(&here, &["add", "--all"]);
    git(&here, &["commit", "--quiet", "--message", "all"]);
    write(&here, &[("main.tf", &machine("p5.48xlarge"))]);
    git(&here, &["add", "--all"]);
    let (cache, state) = (sandbox.path("cache"), sandbox.path("state"));
    let staged = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.current_dir(&here).envs(GIT_ENVIRONMENT).env("GPULINT_CACHE_DIR", &cache).env("XDG_STATE_HOME", &state);
        command.env("HOME", &state).args(["diff", "--staged", "--format", "outputs"]);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let expected = staged();
    assert!(expected.contains("verdict=fail"), "{expected}");
    let texts = cache.join("texts");
    let [file] = fs::read_dir(&texts).unwrap().map(|it| it.unwrap().path()).collect::<Vec<_>>().try_into().unwrap();
    let whole = fs::read(&file).unwrap();
    let text = &whole[whole.iter().position(|it| *it == b'\n').unwrap() + 1..];
    let at = text.windows(11).position(|it| it == b"p5.48xlarge").expect("the text is remembered");
    let forged = [&text[..at], b"t3.largexxx", &text[at + 11..]].concat();
    for bytes in [plain_seal(&forged), [&whole[..65], &forged[..]].concat()] {
        fs::write(&file, bytes).unwrap();
        assert_eq!(staged(), expected);
    }
    // A key of another user, or one that others may read, is not used. Without a key, the answer is the same.
    let key = state.join("gpulint/key");
    assert_eq!(
        fs::metadata(&key).map(|it| std::os::unix::fs::PermissionsExt::mode(&it.permissions()) & 0o777).unwrap(),
        0o600
    );
    fs::write(&file, &whole).unwrap();
    fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    assert_eq!(staged(), expected);
    // Files of other programs in this directory stay.
    let others = ["notes.texts", "a.json", "0123456789abcdef.bak"];
    for name in others {
        fs::write(texts.join(name), "mine").unwrap();
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(400 * 86_400);
        fs::File::options().write(true).open(texts.join(name)).unwrap().set_modified(old).unwrap();
    }
    fs::remove_file(&key).unwrap();
    fs::remove_file(&file).unwrap();
    assert_eq!(staged(), expected);
    assert!(file.exists() && others.iter().all(|name| texts.join(name).exists()), "a sweep took files of others");
}

#[test]
fn a_cache_inside_of_the_checkout_is_refused() {
    let sandbox = Sandbox::outside("cache");
    let here = sandbox.path("work");
    fs::create_dir_all(here.join("below")).unwrap();
    git(&here, &["init", "--quiet", "--initial-branch=main"]);
    let header = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("pricing/aws.csv")).unwrap();
    let cheap =
        header.lines().find(|it| it.starts_with("p5.48xlarge,us-east-1")).unwrap().replacen("55.04", "0.526", 1);
    let prices = format!("{}\n{cheap}\n", header.lines().next().unwrap());
    let machine = "resource \"aws_instance\" \"a\" {\n  instance_type = \"p5.48xlarge\"\n}\n";
    write(&here, &[("below/main.tf", machine), (".gc/prices/aws.csv", &prices)]);
    symlink(here.join(".gc"), sandbox.path("link")).unwrap();
    for cache in [".gc", "below/../.gc", "../work/.gc", "../link", "below/not-yet"] {
        for directory in [&here, &here.join("below")] {
            let cache = here.join(cache);
            let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
            command.current_dir(directory).env("GPULINT_CACHE_DIR", &cache).args(["cost", "--format", "json"]);
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{}: {said}", cache.display());
            assert!(said.contains("is inside the repository"), "{said}");
        }
    }
}
