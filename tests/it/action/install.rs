//! Tests the installation without a compiler or sources: the installer of a release from a server, the wheel in a
//! virtual environment, and the archive at the address for `cargo binstall`.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::sandbox::Sandbox;
use super::{archive, release, supply, target};
use crate::forge::server::{Answer, Server};
use crate::skipped::skip;

const PROJECT: &str = env!("CARGO_MANIFEST_DIR");
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A server with the files of a release, and a user who has nothing else.
struct Newcomer {
    sandbox: Sandbox,
    server: Server,
}

impl Newcomer {
    fn new() -> Self {
        let sandbox = Sandbox::new("newcomer");
        release(&sandbox);
        let files = sandbox.path("release");
        let server = Server::start(move |asked| match fs::read(files.join(asked.path.trim_start_matches('/'))) {
            Ok(bytes) => Answer::new(200, bytes),
            Err(_) if asked.path.contains("secret") => Answer::new(403, "who are you?"),
            Err(_) => Answer::new(404, "nothing"),
        });
        fs::create_dir_all(sandbox.path("home")).unwrap();
        Newcomer { sandbox, server }
    }

    fn script(&self) -> String {
        fs::read_to_string(self.sandbox.path("release/install.sh")).unwrap()
    }

    /// Runs `curl … | sh` with these programs on the path.
    fn piped(&self, text: &str, path: &str, more: &[(&str, &str)]) -> Output {
        let mut command = Command::new("sh");
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.sandbox.path("home"))
            .current_dir(&self.sandbox.directory);
        command.env("GPULINT_DOWNLOAD", self.server.url()).envs(more.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A shell that has exited does not read the rest.
        let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
        child.wait_with_output().unwrap()
    }

    fn install(&self) -> Output {
        self.piped(&self.script(), &path(), &[])
    }

    fn program(&self) -> PathBuf {
        self.sandbox.path("home/.local/bin/gpulint")
    }

    /// Checks that the output has this message, and that nothing is installed.
    fn refused(&self, output: &Output, words: &str) {
        let said = said(output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
        assert!(!self.program().exists(), "{said}");
    }
}

fn path() -> String {
    std::env::var("PATH").unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_installer_of_a_release_needs_nothing_but_the_release() {
    let newcomer = Newcomer::new();
    let output = newcomer.install();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(newcomer.server.asked(), [format!("GET /{}", archive())]);
    let place = newcomer.program().parent().unwrap().display().to_string();
    assert!(said(&output).contains(&format!("{place} is not on your PATH")), "{}", said(&output));
    let version = Command::new(newcomer.program()).arg("--version").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&version.stdout), format!("gpulint {VERSION}\n"));

    // The file of a running program cannot be overwritten, so it must be a new file afterwards.
    fs::write(newcomer.program(), "#!/bin/sh\necho gpulint 0.0.1\n").unwrap();
    let earlier = fs::metadata(newcomer.program()).unwrap().ino();
    let again = newcomer.piped(&newcomer.script(), &format!("{place}:{}", path()), &[]);
    assert!(again.status.success() && !said(&again).contains("PATH"), "{}", said(&again));
    assert_ne!(fs::metadata(newcomer.program()).unwrap().ino(), earlier);
    let version = Command::new(newcomer.program()).arg("--version").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&version.stdout), format!("gpulint {VERSION}\n"));
    assert_eq!(fs::read_dir(place).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn an_archive_that_was_tampered_with_is_not_installed() {
    let newcomer = Newcomer::new();
    let file = newcomer.sandbox.path("release").join(archive());
    let whole = fs::read(&file).unwrap();
    let mut other = whole.clone();
    let middle = other.len() / 2;
    other[middle] ^= 1;
    for bytes in [other, whole[..whole.len() - 1].to_vec(), Vec::new(), [&whole[..], b"x"].concat()] {
        fs::write(&file, bytes).unwrap();
        newcomer.refused(&newcomer.install(), "does not have the checksum that this script lists: it is not installed");
    }
    // Existing files stay.
    fs::create_dir_all(newcomer.program().parent().unwrap()).unwrap();
    fs::write(newcomer.program(), "earlier").unwrap();
    assert_eq!(newcomer.install().status.code(), Some(2));
    assert_eq!(fs::read_to_string(newcomer.program()).unwrap(), "earlier");
}

#[test]
fn what_cannot_be_installed_is_told_plainly() {
    let newcomer = Newcomer::new();
    let (script, path) = (newcomer.script(), path());
    let strange = newcomer.sandbox.path("strange");
    fs::create_dir_all(&strange).unwrap();
    let machine = "#!/bin/sh\nif [ \"$1\" = -s ]; then echo FreeBSD; else echo riscv64; fi\n";
    fs::write(strange.join("uname"), machine).unwrap();
    fs::set_permissions(strange.join("uname"), fs::Permissions::from_mode(0o755)).unwrap();
    let elsewhere = newcomer.piped(&script, &format!("{}:{path}", strange.display()), &[]);
    newcomer.refused(&elsewhere, "there is no release for FreeBSD on riscv64: releases are for Linux and macOS");
    assert_eq!(newcomer.server.asked(), [""; 0], "it asks for nothing that cannot be");

    let other = newcomer.piped(&script, &path, &[("GPULINT_VERSION", "99.0.0")]);
    newcomer.refused(&other, "there is no release 99.0.0 at http://127.0.0.1:");
    let place = format!("{}/secret", newcomer.server.url());
    let refused = newcomer.piped(&script, &path, &[("GPULINT_DOWNLOAD", &place)]);
    newcomer.refused(&refused, "cannot be downloaded (status 403, code 22)");
    // This address is not the local machine, so plain http is refused.
    let open = newcomer.piped(&script, &path, &[("GPULINT_DOWNLOAD", "http://127.0.0.1.example")]);
    newcomer.refused(&open, "cannot be downloaded");
    let homeless = newcomer.piped(&script, &path, &[("HOME", "")]);
    newcomer.refused(&homeless, "HOME is not set: set GPULINT_INSTALL to a directory for the program");
    // The installer in the sources has no version if it is used alone.
    let bare = fs::read_to_string(format!("{PROJECT}/packaging/install.sh")).unwrap();
    newcomer.refused(&newcomer.piped(&bare, &path, &[]), "no version is set");
}

#[test]
fn a_script_that_breaks_off_does_nothing() {
    let newcomer = Newcomer::new();
    let script = newcomer.script();
    let last = script.trim_end().rfind('\n').unwrap();
    for cut in (0..=last).step_by(last / 40) {
        newcomer.piped(&script[..cut], &path(), &[]);
        assert_eq!(newcomer.server.asked(), [""; 0], "{}", &script[..cut]);
        assert!(!newcomer.program().exists());
    }
}

#[test]
fn without_curl_wget_does() {
    let newcomer = Newcomer::new();
    let tools = supply::tools(&newcomer.sandbox, None);
    fs::remove_file(Path::new(&tools).join("curl")).unwrap();
    let output = newcomer.piped(&newcomer.script(), &tools, &[]);
    newcomer.refused(&output, "neither curl nor wget is installed");
    let found = std::env::split_paths(&path()).map(|it| it.join("wget")).find(|it| it.is_file());
    let Some(wget) = found else { return skip("wget is not there") };
    std::os::unix::fs::symlink(wget, Path::new(&tools).join("wget")).unwrap();
    let output = newcomer.piped(&newcomer.script(), &tools, &[]);
    assert!(output.status.success() && newcomer.program().exists(), "{}", said(&output));
}

/// Runs `wheel.py` on directories of programs; does nothing without Python. rustup and cargo read settings from the
/// current directory, which an attacker may control in a checkout.
#[test]
fn building_from_source_happens_among_the_sources() {
    let sandbox = Sandbox::new("builder");
    let sources = sandbox.path("action");
    let checkout = sandbox.path("checkout");
    for (path, text) in [
        (sources.join("packaging/install.sh"), fs::read_to_string(format!("{PROJECT}/packaging/install.sh")).unwrap()),
        (sources.join("Cargo.toml"), format!("[package]\nversion = \"{VERSION}\"\n")),
        (checkout.join("rust-toolchain.toml"), "[toolchain]\npath = \"/tmp\"\n".to_owned()),
        (sandbox.path("bin/uname"), "#!/bin/sh\necho riscv64\n".to_owned()),
        (sandbox.path("bin/cargo"), "#!/bin/sh\npwd >\"$SEEN\"\n".to_owned()),
    ] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let bin = sandbox.path("bin");
    let output = Command::new("sh")
        .arg(sources.join("packaging/install.sh"))
        .current_dir(&checkout)
        .env_clear()
        .env("PATH", format!("{}:{}", bin.display(), path()))
        .env("SEEN", sandbox.path("seen"))
        .env("GPULINT_INSTALL", "bin")
        .output()
        .unwrap();
    let seen = fs::read_to_string(sandbox.path("seen")).unwrap_or_else(|_| panic!("{}", said(&output)));
    assert_eq!(Path::new(seen.trim()).canonicalize().unwrap(), sources.canonicalize().unwrap());
}

fn wheels(binaries: &Path, out: &Path) -> Option<Output> {
    let python = Command::new("python3").args(["-c", "import tomllib, venv, ensurepip"]).output();
    if !python.is_ok_and(|it| it.status.success()) {
        skip("no python3 with tomllib, venv and ensurepip");
        return None;
    }
    let mut command = Command::new("python3");
    command.arg(format!("{PROJECT}/packaging/wheel.py")).args([binaries, out]).env("SOURCE_DATE_EPOCH", "1780000000");
    Some(command.output().unwrap())
}

#[test]
fn the_wheel_installs_the_program_and_nothing_else() {
    let sandbox = Sandbox::new("wheel");
    release(&sandbox);
    let (binaries, out) = (sandbox.path("binaries"), sandbox.path("wheels"));
    let Some(made) = wheels(&binaries, &out) else { return };
    assert!(made.status.success(), "{}", said(&made));
    let clean = sandbox.path("clean");
    let venv = Command::new("python3").args(["-m", "venv"]).arg(&clean).output().unwrap();
    assert!(venv.status.success(), "{}", said(&venv));
    let pip = |arguments: &[&str]| {
        let mut command = Command::new(clean.join("bin/pip"));
        // The pip settings of this machine have no effect.
        command.env_clear().env("PATH", path()).env("PIP_CONFIG_FILE", "/dev/null").args(arguments);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    pip(&["install", "--no-index", "--find-links", out.to_str().unwrap(), "gpulint"]);
    let version = Command::new(clean.join("bin/gpulint")).arg("--version").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&version.stdout), format!("gpulint {VERSION}\n"));
    let installed = clean.join("bin/gpulint");
    assert_eq!(fs::read(installed).unwrap(), fs::read(binaries.join(target()).join("gpulint")).unwrap());
    let shown = pip(&["show", "--files", "gpulint"]);
    assert!(shown.contains(&format!("Version: {VERSION}\n")) && shown.contains("../../../bin/gpulint"), "{shown}");
    pip(&["uninstall", "--yes", "gpulint"]);
    assert!(!clean.join("bin/gpulint").exists());
}

/// Every target of a release has a wheel that installers on that machine accept, with the same bytes each time.
#[test]
fn every_target_has_a_wheel() {
    let sandbox = Sandbox::new("wheels");
    let workflow = fs::read_to_string(format!("{PROJECT}/.github/workflows/release.yml")).unwrap();
    let targets: Vec<&str> =
        workflow.lines().filter_map(|line| line.trim().strip_prefix("- { target: ")?.split(',').next()).collect();
    assert!(targets.len() >= 5, "{targets:?}");
    for target in &targets {
        let directory = sandbox.path("binaries").join(target);
        fs::create_dir_all(&directory).unwrap();
        let name = if target.contains("windows") { "gpulint.exe" } else { "gpulint" };
        fs::write(directory.join(name), format!("a program for {target}")).unwrap();
    }
    let (one, other) = (sandbox.path("one"), sandbox.path("other"));
    for out in [&one, &other] {
        let Some(made) = wheels(&sandbox.path("binaries"), out) else { return };
        assert!(made.status.success(), "{}", said(&made));
    }
    let mut names: Vec<String> =
        fs::read_dir(&one).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names.len(), targets.len(), "{names:?}");
    for tag in
        ["manylinux2014_x86_64", "manylinux2014_aarch64", "musllinux_1_1_x86_64", "macosx_11_0_arm64", "win_amd64"]
    {
        assert_eq!(names.iter().filter(|name| name.contains(tag)).count(), 1, "{tag}: {names:?}");
    }
    for name in &names {
        assert_eq!(fs::read(one.join(name)).unwrap(), fs::read(other.join(name)).unwrap(), "{name}");
    }
    fs::create_dir_all(sandbox.path("binaries/sparc-sun-solaris")).unwrap();
    let refused = wheels(&sandbox.path("binaries"), &one).unwrap();
    assert!(!refused.status.success() && said(&refused).contains("no installer has a name for sparc-sun-solaris"));
}

#[test]
fn cargo_binstall_finds_the_archives_of_a_release() {
    let manifest: toml::Value = toml::from_str(&fs::read_to_string(format!("{PROJECT}/Cargo.toml")).unwrap()).unwrap();
    let package = &manifest["package"];
    let filled = |key: &str| {
        let mut text = package["metadata"]["binstall"][key].as_str().unwrap().to_owned();
        let repository = package["repository"].as_str().unwrap();
        for (name, value) in [
            ("repo", repository),
            ("name", "gpulint"),
            ("bin", "gpulint"),
            ("binary-ext", ""),
            ("version", VERSION),
            ("target", target()),
        ] {
            text = text.replace(&format!("{{ {name} }}"), value);
        }
        assert!(!text.contains('{'), "{text}");
        text
    };
    let sandbox = Sandbox::new("binstall");
    release(&sandbox);
    // The formula names the same address.
    let formula =
        fs::read_to_string(sandbox.path("release/gpulint.rb")).unwrap().replace("acme/gpulint", "gpulint/gpulint");
    let address = filled("pkg-url");
    assert!(formula.contains(&format!("url \"{address}\"")), "{address}\n{formula}");
    let file = sandbox.path("release").join(address.rsplit('/').next().unwrap());
    let list = Command::new("tar").arg("-tzf").arg(file).output().unwrap();
    let inside = filled("bin-dir");
    assert!(String::from_utf8_lossy(&list.stdout).lines().any(|line| line == inside), "{inside}");
}
