"""Tests git against hostile hosts, repositories and machines."""

import os
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path

import pytest
from conftest import DATE, POOL, git, make
from serving import ASK, Served, password

from gpulint_fleet import commands, reach, scan
from gpulint_fleet.git import Failed, Git
from gpulint_fleet.plan import plan, read_list
from gpulint_fleet.store import Store
from gpulint_fleet.text import Refused

SECRET = "ghp_0123456789abcdefTHESECRET"
POOL_TEXT = POOL.format(name="p", machine="g5.xlarge", team="search", size=1, most=2)
QUIET = {"tell": lambda _: None}


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setenv("FLEET_TOKEN", SECRET)
    reach.forget()


def with_token(where, **more):
    return Git({"variable": "FLEET_TOKEN", "origin": where}, seconds=20, retries=0, **more)


def authorized(host):
    return [path for _, path, headers, _ in host.requests if "Authorization" in headers]


def test_a_token_goes_to_its_origin_only(tmp_path):
    make(tmp_path, "r", {"a": "b"})
    locked = lambda request: None if password(request) == SECRET else ASK
    with Served(locked, root=tmp_path) as mine, Served(locked, root=tmp_path) as other:
        assert with_token(mine.url).tip(f"{mine.url}/r.git")
        assert authorized(mine)
        # The same address with another port, host or scheme is another origin.
        for where in (mine.url, "https://127.0.0.1", other.url.replace("http", "https"), None):
            with pytest.raises(Failed) as failed:
                with_token(where).tip(f"{other.url}/r.git")
            assert failed.value.status == "denied"
        assert f"valid for {mine.url} only" in denied(mine.url, other)
        assert not authorized(other)


def test_a_token_goes_by_https_to_a_certificate_that_the_user_trusts(tmp_path, monkeypatch):
    """Runs as in production, without the variable for tests."""
    made = subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            "/CN=x",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
        ]
        + ["-keyout", tmp_path / "key.pem", "-out", tmp_path / "ca.pem"],
        capture_output=True,
    )
    if made.returncode:
        pytest.skip("openssl is not installed")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "ca.pem", tmp_path / "key.pem")
    make(tmp_path, "r", {"a": "b"})
    monkeypatch.delenv("GPULINT_FLEET_ALLOW_LOCAL")
    locked = lambda request: None if password(request) == SECRET else ASK
    with Served(locked, root=tmp_path, tls=tls) as host:
        with pytest.raises(Failed, match="unreachable") as failed:
            with_token(host.url).tip(f"{host.url}/r.git")
        assert host.requests == [] and "GIT_SSL_CAINFO" in failed.value.reason
        monkeypatch.setenv("GIT_SSL_CAINFO", str(tmp_path / "ca.pem"))
        work = tmp_path / "work"
        work.mkdir()
        runner = with_token(host.url)
        runner.checkout(f"{host.url}/r.git", runner.tip(f"{host.url}/r.git"), str(work))
        assert (work / "a").read_text() == "b"
        with pytest.raises(Failed, match="denied"):
            with_token("https://127.0.0.1").tip(f"{host.url}/r.git")


def denied(where, other):
    with pytest.raises(Failed) as failed:
        with_token(where).tip(f"{other.url}/r.git")
    return failed.value.reason


def test_no_redirect_is_followed_with_or_without_a_token(tmp_path):
    make(tmp_path, "r", {"a": "b"})
    with Served(lambda request: ASK) as evil:
        with Served(lambda request: (302, {"Location": f"{evil.url}{request.path}"}, b"")) as host:
            for where in (host.url, evil.url, None):
                with pytest.raises(Failed) as failed:
                    with_token(where).tip(f"{host.url}/r.git")
                assert failed.value.status == "redirected" and "list the repositories again" in failed.value.reason
        assert evil.requests == []


def test_the_token_is_in_no_argument_and_in_no_variable_of_another_origin(tmp_path, monkeypatch):
    seen = tmp_path / "seen"
    fake = tmp_path / "git"
    fake.write_text(f'#!/bin/sh\n{{ env; echo "$@"; }} > {seen}\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with Served() as host:
        with_token("https://git.example.com").tip(f"{host.url}/r.git")
        assert SECRET not in seen.read_text()
        with_token(host.url).tip(f"{host.url}/r.git")
        said = seen.read_text()
        assert said.count(SECRET) == 1 and f"FLEET_TOKEN={SECRET}\n" in said
        quoted = tmp_path / "it's; touch ran"
        quoted.write_text(SECRET)
        Git({"file": str(quoted), "origin": host.url, "user": "$(touch ran)"}).tip(f"{host.url}/r.git")
        assert SECRET not in seen.read_text()


def test_git_is_started_without_what_others_can_use(tmp_path, monkeypatch):
    seen = tmp_path / "seen"
    fake = tmp_path / "git"
    fake.write_text(f'#!/bin/sh\n{{ env; printf "%s\\n" "$@"; }} > {seen}\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f".::bin:{tmp_path}:{os.environ['PATH']}")
    for name in ("GIT_DIR", "GIT_SSH", "GIT_EXTERNAL_DIFF", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_SSL_NO_VERIFY"):
        monkeypatch.setenv(name, "/hostile")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.sshCommand")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "/hostile")
    always = {
        "GIT_ASKPASS=",
        "GIT_TERMINAL_PROMPT=0",
        "GIT_NO_REPLACE_OBJECTS=1",
        "GIT_GRAFT_FILE=/dev/null",
        "GIT_NO_LAZY_FETCH=1",
        "GIT_CONFIG_NOSYSTEM=1",
        "GIT_CONFIG_GLOBAL=/dev/null",
        "core.hooksPath=/dev/null",
        "core.fsmonitor=false",
        "safe.bareRepository=explicit",
        "http.followRedirects=false",
        "submodule.recurse=false",
        "credential.helper=",
    }
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    monkeypatch.setattr(reach, "connect", lambda address: None)
    for url, more in (
        ("https://git.example.com/x", {"GIT_ALLOW_PROTOCOL=https", "HOME=/dev/null"}),
        ("ssh://git@git.example.com/x", {"GIT_ALLOW_PROTOCOL=ssh"}),
        (None, {"GIT_ALLOW_PROTOCOL=none", "HOME=/dev/null"}),
    ):
        Git().tip(url) if url else Git()("status", cwd=tmp_path)
        lines = set(seen.read_text().splitlines())
        assert always | more <= lines, always | more - lines
        assert "hostile" not in seen.read_text()
        path = next(line for line in lines if line.startswith("PATH=")).removeprefix("PATH=")
        assert all(os.path.isabs(it) for it in path.split(":"))


def test_ssh_asks_nothing_and_trusts_no_new_host_unless_the_user_chose_otherwise(tmp_path, monkeypatch):
    seen = tmp_path / "seen"
    for name in ("ssh", "my-ssh"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{name} $@" >> {seen}\nexit 1\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("GIT_SSH_COMMAND", raising=False)
    for command in (None, "my-ssh -4"):
        if command:
            monkeypatch.setenv("GIT_SSH_COMMAND", command)
        with pytest.raises(Failed):
            Git(retries=0).tip("git@git.example.com:acme/infra.git")
    default, own = seen.read_text().splitlines()[0], seen.read_text().splitlines()[-1]
    for option in ("BatchMode=yes", "StrictHostKeyChecking=yes", "ConnectTimeout=5"):
        assert option in default and option not in own
    assert default.startswith("ssh ") and own.startswith("my-ssh -4")


def test_no_setting_of_the_machine_and_of_the_current_directory_is_read(tmp_path, monkeypatch):
    """Creates a home with helpers, rewritten addresses, filters and templates, and a repository with the same settings."""
    url = make(tmp_path, "r", {"a.tf": "x", ".gitattributes": "*.tf filter=evil\n"})
    ran = tmp_path / "ran"
    settings = (
        f'[credential]\n\thelper = "!touch {ran}; echo username=x; echo password={SECRET}"\n'
        f'[url "http://127.0.0.1:1/"]\n\tinsteadOf = http://\n\tinsteadOf = file://\n'
        f'[filter "evil"]\n\tsmudge = "touch {ran}; cat"\n\trequired = true\n'
        f"[init]\n\ttemplateDir = {tmp_path}/template\n[core]\n\tsshCommand = touch {ran}\n"
    )
    hook = tmp_path / "template/hooks/post-checkout"
    hook.parent.mkdir(parents=True)
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    home, here, work = tmp_path / "home", tmp_path / "here", tmp_path / "work"
    for it in (home, here, work):
        it.mkdir()
    (home / ".gitconfig").write_text(settings)
    (home / ".netrc").write_text(f"machine 127.0.0.1 login x password {SECRET}\n")
    (home / ".netrc").chmod(0o600)
    git("init", "-q", ".", cwd=here)
    with open(here / ".git/config", "a") as file:
        file.write(settings)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    with Served(lambda request: ASK) as host:
        with pytest.raises(Failed, match="denied"):
            Git(retries=0).tip(f"{host.url}/r.git")
        assert host.requests and not authorized(host)
    runner = Git()
    runner.checkout(url, runner.tip(url), str(work))
    assert (work / "a.tf").read_text() == "x" and not ran.exists()
    assert not (work / ".git/hooks").exists()
    # git reads the settings that the user names when it connects to the host, but a repository still cannot choose a filter.
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    with pytest.raises(Failed) as failed:
        Git(retries=0).tip(url)
    assert "'http' not allowed" in failed.value.said
    (home / ".gitconfig").write_text(settings.replace("insteadOf", "unused"))
    again = tmp_path / "again"
    again.mkdir()
    runner.checkout(url, runner.tip(url), str(again))
    assert (again / "a.tf").read_text() == "x" and not ran.exists()


def test_a_helper_of_the_user_is_asked_for_the_origin_alone(tmp_path, monkeypatch):
    make(tmp_path, "r", {"a": "b"})
    home = tmp_path / "home"
    home.mkdir()
    (home / "secret").write_text(SECRET)
    helper = tmp_path / "helper"
    helper.write_text('#!/bin/sh\ntest "$1" = get && echo username=x && echo "password=$(cat "$HOME/secret")"\n')
    helper.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    locked = lambda request: None if password(request) == SECRET else ASK
    with Served(locked, root=tmp_path) as mine, Served(locked, root=tmp_path) as other:
        for words in (str(helper), f"!{helper}", f"!f() {{ {helper} $1; }}; f"):
            access = {"helper": words, "origin": mine.url}
            assert Git(access, retries=0).tip(f"{mine.url}/r.git")
            with pytest.raises(Failed, match="denied"):
                Git(access, retries=0).tip(f"{other.url}/r.git")
        assert not authorized(other)


def test_messages_of_a_host_hold_no_token_and_no_control_character(tmp_path):
    def echo(request):
        body = f"your token is {password(request)} \x1b[31m\x1b]0;title\x07 \u202e".encode()
        return (403, {"Content-Type": "text/plain"}, body) if password(request) else ASK

    with Served(echo) as host, pytest.raises(Failed) as failed:
        with_token(host.url).tip(f"{host.url}/r.git")
    assert "your token is …" in failed.value.said
    assert all(line.isprintable() for line in failed.value.said.splitlines())


def test_messages_without_an_end_do_not_fill_the_memory():
    done = commands.run(["sh", "-c", "head -c 300000000 /dev/zero >&2; echo end >&2"], 60)
    assert len(done.err) <= commands.MOST_MESSAGES and done.err.endswith("end\n")


def test_a_silent_host_costs_seconds_once(tmp_path, gpulint, monkeypatch):
    asked = []

    def create_connection(place, timeout):
        asked.append(place)
        time.sleep(30)
        raise TimeoutError

    monkeypatch.setattr(reach, "CONNECT_SECONDS", 0.5)
    monkeypatch.setattr(socket, "create_connection", create_connection)
    (tmp_path / "list").write_text("".join(f"https://git.example.com/acme/r{n}\n" for n in range(30)))
    store = Store(tmp_path / "store", DATE)
    begun = time.monotonic()
    plan(store, read_list(tmp_path / "list"), gpulint=gpulint, jobs=2)
    assert time.monotonic() - begun < 8 and len(asked) <= 2
    entries = store.plan()[1]
    assert {it["status"] for it in entries} == {"unreachable"} and len(entries) == 30
    reach.forget()
    assert scan(store, gpulint=gpulint, **QUIET) == {"unreachable": 30}


@pytest.mark.parametrize("url", ["https://nowhere.invalid/acme/r", "http://127.0.0.1:9/acme/r"])
def test_a_host_without_a_name_or_a_listener_is_not_tried_again(url):
    begun = time.monotonic()
    for _ in range(5):
        with pytest.raises(Failed) as failed:
            Git(seconds=60).tip(url)
        assert failed.value.status == "unreachable"
    assert time.monotonic() - begun < 2 * reach.CONNECT_SECONDS


@pytest.mark.parametrize("answer", [b"HTTP/1.1 502 Bad Gateway\r\n\r\n", b"", None])
def test_a_host_that_a_proxy_does_not_know_costs_seconds_once(tmp_path, gpulint, monkeypatch, answer):
    """A proxy resolves the name of the host. `None` is a proxy that nothing answers for."""
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as proxy:

        def serve():
            while True:
                try:
                    connection, _ = proxy.accept()
                except OSError:
                    return
                with connection:
                    asked.append(connection.recv(4096))
                    connection.sendall(answer)

        if answer is None:
            proxy.close()
        else:
            threading.Thread(target=serve, daemon=True).start()
        port = proxy.getsockname()[1] if answer is not None else 9
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        (tmp_path / "list").write_text("".join(f"https://nowhere.invalid/acme/r{n}\n" for n in range(30)))
        store = Store(tmp_path / "store", DATE)
        begun = time.monotonic()
        plan(store, read_list(tmp_path / "list"), gpulint=gpulint, jobs=2)
        assert time.monotonic() - begun < 15 and len(asked) <= 4
    entries = store.plan()[1]
    assert {it["status"] for it in entries} == {"unreachable"} and len({it["reason"] for it in entries}) == 1
    assert answer is None or "the proxy" in entries[0]["reason"]


def test_a_name_that_ssh_does_not_find_is_not_tried_again(tmp_path, monkeypatch):
    count = tmp_path / "count"
    ssh = tmp_path / "ssh"
    ssh.write_text(
        f'#!/bin/sh\necho x >> {count}\necho "ssh: Could not resolve hostname h: Name or service not known" >&2\nexit 255\n'
    )
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for _ in range(3):
        with pytest.raises(Failed, match="unreachable"):
            Git(seconds=60).tip("git@h:acme/r")
    assert len(count.read_text().split()) == 1


def test_a_commit_or_a_branch_is_no_option(tmp_path):
    url = make(tmp_path, "r", {"a": "b"})
    work = tmp_path / "work"
    work.mkdir()
    ran = tmp_path / "ran"
    for commit in (f"--upload-pack=touch {ran};", "HEAD", "main", "1" * 39, None):
        with pytest.raises(Failed) as failed:
            Git(retries=0).checkout(url, commit, str(work))
        assert failed.value.status == "refused"
    for ref in (f"--upload-pack=touch {ran};", "-q", "a b", "a..b", "*", "a\nb"):
        with pytest.raises(Failed) as failed:
            Git(retries=0).tip(url, ref)
        assert failed.value.status == "refused"
    assert not ran.exists()


def test_a_cache_gives_objects_and_no_settings(tmp_path, gpulint):
    """Puts repositories with settings into the places of the cache, in this version and in earlier ones."""
    url = make(tmp_path / "hosts", "r", {"main.tf": POOL_TEXT})
    evil = make(tmp_path / "evil", "r", {"main.tf": POOL_TEXT})
    (tmp_path / "list").write_text(url)
    store = Store(tmp_path / "store", DATE)
    plan(store, read_list(tmp_path / "list"), gpulint=gpulint)
    ran = tmp_path / "ran"
    name = store.rows_path(store.plan()[1][0]["id"]).stem
    for place in (tmp_path / "cache" / name, tmp_path / "cache" / f"{name}.git"):
        place.mkdir(parents=True)
        git("init", "-q", "--bare", ".", cwd=place)
        git("config", f"url.{evil}.insteadOf", url, cwd=place)
        for key in ("core.fsmonitor", "core.sshCommand", "credential.helper", "core.alternateRefsCommand"):
            git("config", key, f"!touch {ran}", cwd=place)
    assert scan(store, gpulint=gpulint, cache=str(tmp_path / "cache"), **QUIET) == {"ok": 1}
    assert not ran.exists()
    os.chmod(tmp_path / "cache", 0o777)
    from gpulint_fleet.scan import demand_private

    demand_private.cache_clear()
    with pytest.raises(Refused, match="others can write"):
        demand_private(str(tmp_path / "cache"))


def test_replace_refs_and_grafts_change_nothing(tmp_path):
    url = make(tmp_path, "r", {"main.tf": "real"})
    bare = url.removeprefix("file://")
    commit = git("rev-parse", "HEAD", cwd=bare)
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], input=b"forged", cwd=bare, capture_output=True, check=True
    ).stdout.decode()
    git("replace", git("rev-parse", "HEAD:main.tf", cwd=bare), blob.strip(), cwd=bare)
    work = tmp_path / "work"
    work.mkdir()
    Git().checkout(url, commit, str(work))
    assert (work / "main.tf").read_text() == "real"
    assert Path(work, ".git/info/attributes").read_text() == "* -filter\n"
