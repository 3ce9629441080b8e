"""Tests broken, hostile and missing repositories: each has one failed row, and no other row changes."""

import json
import os
import socket
import subprocess
import threading

import pytest
from conftest import DATE, JOB, POOL, git, make
from serving import ASK, Served, password

from gpulint_fleet import scan
from gpulint_fleet.merge import merge
from gpulint_fleet.plan import plan, read_list
from gpulint_fleet.store import Store

QUIET = {"tell": lambda _: None}
POOL_TEXT = POOL.format(name="p", machine="g5.xlarge", team="search", size=1, most=2)
GIT = {"retries": 1, "pause": 0.05}


def first_row(store, url):
    from gpulint_fleet.plan import identity

    return json.loads(store.rows_path(identity(url)).read_text().splitlines()[0])


def rows(store, url):
    from gpulint_fleet.plan import identity

    return [json.loads(line) for line in store.rows_path(identity(url)).read_text().splitlines()]


def planned_of(tmp_path, urls, gpulint, **more):
    (tmp_path / "list").write_text("".join(f"{url}\n" for url in urls))
    store = Store(tmp_path / "store", DATE)
    plan(store, read_list(tmp_path / "list"), gpulint=gpulint, git=GIT, **more)
    return store


class Hanging:
    """A host that takes a connection and never answers."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.kept = []
        threading.Thread(target=self.accept, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/hangs.git"

    def accept(self):
        while True:
            try:
                self.kept.append(self.socket.accept())
            except OSError:
                return


def broken(directory):
    url = make(directory, "broken", {"main.tf": POOL_TEXT, "big.bin": os.urandom(100_000)})
    path = url.removeprefix("file://")
    git("gc", "-q", cwd=path)
    pack = next(iter((__import__("pathlib").Path(path) / "objects/pack").glob("*.pack")))
    pack.chmod(0o644)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 2000] = b"\0" * 2000
    pack.write_bytes(bytes(data))
    return url


def test_each_poison_is_a_row_and_the_others_stay(tmp_path, gpulint):
    hosts = tmp_path / "hosts"
    hosts.mkdir()
    good = [make(hosts, f"good{n}", {"main.tf": POOL_TEXT}) for n in range(8)]
    alone = planned_of(tmp_path / "alone" if (tmp_path / "alone").mkdir() is None else None, good, gpulint)
    scan(alone, gpulint=gpulint, **QUIET)

    empty = hosts / "empty.git"
    git("init", "-q", "--bare", str(empty))
    headless = make(hosts, "headless", {"main.tf": POOL_TEXT})
    git("symbolic-ref", "HEAD", "refs/heads/nowhere", cwd=headless.removeprefix("file://"))
    moved = make(hosts, "moved", {"main.tf": POOL_TEXT})
    big = make(hosts, "big", {"main.tf": POOL_TEXT, "weights.bin": os.urandom(3 << 20)})
    damaged = broken(hosts)
    hanging = Hanging()
    outside = tmp_path / "secret.tf"
    outside.write_text(POOL.format(name="stolen", machine="p5.48xlarge", team="x", size=9, most=9))
    linked = make(hosts, "linked", {"main.tf": POOL_TEXT}, links=[("stolen.tf", outside), ("up", "../../..")])
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
    lfs = make(
        hosts,
        "lfs",
        {
            "main.tf": POOL_TEXT,
            "model.bin": pointer,
            "jobs.yaml": pointer,
            ".gitattributes": "*.yaml filter=lfs diff=lfs merge=lfs -text\n",
        },
    )
    newline = make(hosts, "newline", {"a\nb/main.tf": POOL_TEXT, "x/\u001b[31m.tf": POOL_TEXT})
    submodule = hosts / ".sub"
    submodule.mkdir()
    git("init", "-q", "-b", "main", ".", cwd=submodule)
    (submodule / "main.tf").write_text(POOL_TEXT)
    (submodule / ".gitmodules").write_text(f'[submodule "s"]\n\tpath = s\n\turl = {good[0]}\n')
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},s", cwd=submodule)
    git("add", "main.tf", ".gitmodules", cwd=submodule)
    git("commit", "-q", "-m", "x", cwd=submodule)
    git("clone", "-q", "--bare", str(submodule), str(hosts / "submodule.git"))
    settings = make(hosts, "settings", {"main.tf": POOL_TEXT, "gpulint.toml": "no such setting = 1\n"})
    hooks = make(
        hosts, "hooks", {"main.tf": POOL_TEXT, ".githooks/post-checkout": f"#!/bin/sh\ntouch {tmp_path}/ran\n"}
    )
    locked = Served(lambda request: ASK)

    poison = {
        f"file://{hosts}/nowhere.git": "missing",
        f"{locked.url}/private.git": "denied",
        f"file://{empty}": "empty",
        headless: "empty",
        moved: "missing",
        big: "too_large",
        damaged: "broken",
        hanging.url: "timeout",
        linked: "ok",
        lfs: "ok",
        newline: "ok",
        f"file://{hosts}/submodule.git": "ok",
        settings: "bad_settings",
        hooks: "ok",
    }
    # The test writes this plan itself, because asking the hanging host for a commit would hang, too.
    store = planned_of(tmp_path, [*good, *(url for url in poison if url != hanging.url)], gpulint)
    header, *lines = store.plan_path.read_text().splitlines()
    entry = {"id": "127.0.0.1/hangs", "url": hanging.url, "ref": None, "size": None, "owner": None, "commit": "1" * 40}
    store.plan_path.write_text("\n".join([header, *lines, json.dumps(entry)]) + "\n")
    path = moved.removeprefix("file://")
    git("update-ref", "-d", "refs/heads/main", cwd=path)
    git("gc", "-q", "--prune=now", cwd=path)

    scan(store, gpulint=gpulint, seconds=8, git=GIT | {"max_mib": 2}, **QUIET)
    told = {url: first_row(store, url if url != hanging.url else "http://127.0.0.1/hangs") for url in poison}
    assert {url: row["status"] for url, row in told.items()} == poison, {u: r["reason"] for u, r in told.items()}
    for url, row in told.items():
        assert row["status"] == "ok" or row["reason"], url
    plans = [it.plan()[0]["digest"] for it in (alone, store)]
    assert plans[0] == plans[1]
    for url in good:
        assert rows(store, url) == rows(alone, url)
    assert not any("p5.48xlarge" in str(row) for row in rows(store, linked))
    assert any(row.get("path") == "jobs.yaml" for row in rows(store, lfs) if row["row"] == "unjudged")
    assert any(row.get("path") == "a\nb/main.tf" for row in rows(store, newline))
    assert not (tmp_path / "ran").exists()

    summary, complete = merge(store)
    failed = [url for url, status in poison.items() if status not in ("ok", "empty")]
    assert not complete and len(summary["failed"]) == len(failed)


def test_what_failed_is_tried_again_when_asked(tmp_path, gpulint):
    up = threading.Event()
    url = make(tmp_path, "late", {"main.tf": POOL_TEXT})
    with Served(lambda request: None if up.is_set() else (503, {}, b"later"), root=tmp_path) as host:
        store = planned_of(tmp_path, [f"{host.url}/late.git"], gpulint)
        assert store.plan()[1][0]["status"] == "unreachable"
        up.set()
        commit = git("rev-parse", "HEAD", cwd=url.removeprefix("file://"))
        text = store.plan_path.read_text().replace('"commit":null', f'"commit":"{commit}"')
        store.plan_path.write_text(text)
        up.clear()
        assert scan(store, gpulint=gpulint, git=GIT, **QUIET) == {"unreachable": 1}
        up.set()
        assert scan(store, gpulint=gpulint, git=GIT, **QUIET) == {}
        assert scan(store, gpulint=gpulint, git=GIT, again=True, **QUIET) == {"ok": 1}


def test_a_busy_host_is_waited_for_and_a_new_token_is_asked_for(tmp_path, gpulint):
    """Answers with 429, a secondary limit, and an expired token. Each fetch reads the renewed token file."""
    make(tmp_path, "held", {"main.tf": POOL_TEXT})
    token = tmp_path / "token"
    token.write_text("good-secret-1\n")
    store = None
    seen = {"busy": 0, "limit": 0, "old": 0}

    def refuse(request):
        if password(request) is None:
            return ASK
        if seen["busy"] < 1:
            seen["busy"] += 1
            return 429, {"Retry-After": "1"}, b"slow down"
        if seen["limit"] < 1:
            seen["limit"] += 1
            return 403, {}, b"You have exceeded a secondary rate limit"
        if password(request) == "good-secret-1" and store is not None:
            seen["old"] += 1
            token.write_text("good-secret-2\n")
            return ASK
        return None

    with Served(refuse, root=tmp_path) as host:
        (tmp_path / "list").write_text(f"{host.url}/held.git\n")
        access = {"retries": 4, "pause": 0.05, "access": {"file": str(token), "origin": host.url}}
        made = Store(tmp_path / "store", DATE)
        plan(made, read_list(tmp_path / "list"), gpulint=gpulint, git=access)
        store = made
        seen.update(busy=0, limit=0)
        assert scan(made, gpulint=gpulint, git=access, **QUIET) == {"ok": 1}
        assert seen == {"busy": 1, "limit": 1, "old": 1}


SECRET = "ghp_0123456789abcdefTHESECRET"


def test_the_token_stands_nowhere(tmp_path, gpulint, monkeypatch):
    """Tests a token in the environment of nodes: no row, table, log, task or session of Ray contains it."""
    ray = pytest.importorskip("ray", reason="ray is not installed")
    for n in range(6):
        make(tmp_path, f"private{n}", {"main.tf": POOL_TEXT})
    monkeypatch.setenv("FLEET_TOKEN", SECRET)
    with Served(lambda request: None if password(request) == SECRET else ASK, root=tmp_path) as host:
        (tmp_path / "list").write_text(
            "".join(f"http://someone:{SECRET}@{host.url[7:]}/private{n}.git\n" for n in range(6))
            + f"{host.url}/none.git\n"
        )
        access = {"retries": 0, "access": {"variable": "FLEET_TOKEN", "origin": host.url}}
        store = Store(tmp_path / "store", DATE)
        plan(store, read_list(tmp_path / "list"), gpulint=gpulint, git=access)
        told = ray.init(num_cpus=2, log_to_driver=False, logging_level="error")
        session = told.address_info["session_dir"]
        try:
            counts = scan(store, engine="local", gpulint=gpulint, git=access, **QUIET)
            assert counts["ok"] == 6
            tasks = str(ray.timeline())
        finally:
            ray.shutdown()
        merge(store, at_least=0)
    assert SECRET not in tasks
    for place in (store.root, session):
        found = subprocess.run(["grep", "-rlF", SECRET, str(place)], capture_output=True, text=True).stdout
        assert found == "", found


def test_one_policy_or_each_its_own(tmp_path, gpulint):
    own = make(tmp_path, "own", {"main.tf": POOL_TEXT, "gpulint.toml": 'ignore = ["missing-auto-shutdown"]\n'})
    policy = tmp_path / "policy"
    policy.mkdir()
    (policy / "gpulint.toml").write_text('[labels]\nrequired = ["cost-center"]\n[prices]\nfile = "prices.csv"\n')
    (policy / "prices.csv").write_text("provider,machine,on_demand_usd_per_hour\naws,g5.xlarge,10\n")

    def scanned(name, policy):
        (tmp_path / name).mkdir()
        store = planned_of(tmp_path / name, [own], gpulint, policy=policy)
        scan(store, gpulint=gpulint, **QUIET)
        found = rows(store, own)
        return {row["rule"] for row in found if row["row"] == "finding"}, found[0]["rented_expected_micro_usd"]

    rules, _ = scanned("a", "own")
    assert "missing-auto-shutdown" not in rules
    rules, _ = scanned("b", "none")
    assert "missing-auto-shutdown" in rules
    rules, money = scanned("c", str(policy))
    assert "missing-auto-shutdown" in rules and "missing-labels" in rules
    assert money == 7_300_000_000


def test_another_program_is_refused(planned, tmp_path, gpulint):
    from gpulint_fleet.store import Refused

    other = tmp_path / "gpulint"
    other.write_text(f'#!/bin/sh\nexec {gpulint} "$@"\n')
    other.chmod(0o755)
    with pytest.raises(Refused, match="not the program of the plan"):
        scan(planned(), gpulint=str(other), **QUIET)


def test_what_git_says_is_told_from_names_that_look_like_it():
    from gpulint_fleet.git import meaning

    assert meaning("fatal: unable to access 'https://x/': The requested URL returned error: 429")[0] == "unreachable"
    assert meaning(f"fatal: Not a valid object name {'429' * 13}a^{{commit}}") == ("crashed", 0)
    assert meaning("fatal: repository 'https://x/429.git/' not found") == ("missing", 0)
