"""Tests hostile repositories and stores, which try to break the run, start a program or read foreign files."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import DATE, POOL, git, make

from gpulint_fleet import commands, scan
from gpulint_fleet.merge import merge
from gpulint_fleet.plan import plan, read_list
from gpulint_fleet.store import Store, canonical, digest
from gpulint_fleet.text import Refused

QUIET = {"tell": lambda _: None}
POOL_TEXT = POOL.format(name="p", machine="g5.xlarge", team="search", size=1, most=2)


def planned_of(tmp_path, urls, gpulint, **more):
    (tmp_path / "list").write_text("".join(f"{url}\n" for url in urls))
    store = Store(tmp_path / "store", DATE)
    plan(store, read_list(tmp_path / "list"), gpulint=gpulint, **more)
    return store


def rows(store, name):
    entry = next(it for it in store.plan()[1] if it["id"].endswith(name))
    return [json.loads(line) for line in store.rows_path(entry["id"]).read_text().split("\n") if line]


def deep(directory, depth):
    """Creates a bare repository with one file below many directories, without writing them to a file system."""
    bare = Path(directory) / "deep.git"
    git("init", "-q", "--bare", "-b", "main", str(bare))

    def written(*arguments, text):
        return subprocess.run(
            ["git", *arguments], cwd=bare, input=text, capture_output=True, text=True, check=True
        ).stdout.strip()

    tree = written("mktree", text=f"100644 blob {written('hash-object', '-w', '--stdin', text='x')}\tmain.tf\n")
    for _ in range(depth):
        tree = written("mktree", text=f"040000 tree {tree}\ta\n")
    git("update-ref", "refs/heads/main", git("commit-tree", "-m", "x", tree, cwd=bare), cwd=bare)
    return f"file://{bare}"


def test_no_repository_ends_the_run_for_the_others(tmp_path, gpulint):
    """Tests directories that are too deep for Python to remove, and names with characters that Python treats as line ends."""
    names = {f"x{char}y/main.tf": POOL_TEXT for char in "\u2028\u2029\x85\x0b\x0c\x1c\x1e"}
    urls = [
        deep(tmp_path, 1500),
        make(tmp_path, "lines", names),
        make(tmp_path, "good", {"main.tf": POOL_TEXT}),
    ]
    store = planned_of(tmp_path, urls, gpulint)
    assert sum(scan(store, gpulint=gpulint, **QUIET).values()) == 3
    assert {row["path"] for row in rows(store, "lines") if row["row"] == "resource"} == set(names)
    assert rows(store, "good")[0]["status"] == "ok"
    assert merge(store)[1]


def test_odd_links_of_one_repository_cost_its_owners_alone(tmp_path, gpulint):
    long, files = "a" * 300, {"main.tf": POOL_TEXT}
    hooks = [(".husky", long), ("lefthook.yml", long), (".gitlab-ci.yml", ".gitlab-ci.yml"), (".gitea", ".gitea")]
    settings = [("gpulint.toml", long), (".gpulint-baseline.json", long)]
    urls = [
        make(tmp_path, "a-file", files, links=[("CODEOWNERS", long)]),
        make(tmp_path, "b-directory", files, links=[(".github", long), *hooks]),
        make(tmp_path, "c-settings", files, links=settings),
        make(tmp_path, "z-good", files | {"CODEOWNERS": "* @good\n"}),
    ]
    store = planned_of(tmp_path, urls, gpulint)
    told = []
    assert sum(scan(store, gpulint=gpulint, tell=told.append).values()) == 4
    for name in ("a-file", "b-directory", "z-good"):
        assert rows(store, name)[0]["status"] == "ok", rows(store, name)
    assert rows(store, "z-good")[0]["owner"] == "@good" and rows(store, "a-file")[0]["owner"] is None
    warnings = [it for it in told if "CODEOWNERS" in it]
    assert len(warnings) == 2
    for name, place, cause in (
        ("a-file", "CODEOWNERS", "symbolic link"),
        ("b-directory", ".github/CODEOWNERS", "File name too long"),
    ):
        (warning,) = [it for it in warnings if f"{name}: {place}: " in it]
        assert cause in warning and "Commit a regular file" in warning
    merge(store, at_least=0)


ERRORS = [
    OSError(36, "File name too long", "TMP/gpulint-fleet-1-x/a\udc80/b"),
    ValueError("embedded null byte"),
    RecursionError("maximum recursion depth exceeded"),
    UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
    KeyError("is_empty"),
    MemoryError(),
]


@pytest.mark.parametrize("error", ERRORS, ids=[type(it).__name__ for it in ERRORS])
def test_an_error_of_one_repository_is_its_row(tmp_path, gpulint, monkeypatch, error):
    """Tests any other error, too."""
    urls = [make(tmp_path, name, {f"{name}.tf": POOL_TEXT}) for name in ("a-bad", "z-good")]
    store = planned_of(tmp_path, urls, gpulint)
    module = sys.modules["gpulint_fleet.scan"]
    dressed = module.dressed

    def failing(entry, *arguments):
        if entry["id"].endswith("a-bad"):
            raise error
        yield from dressed(entry, *arguments)

    monkeypatch.setattr(module, "dressed", failing)
    told = []
    assert scan(store, gpulint=gpulint, tell=told.append) == {"crashed": 1, "ok": 1}
    (row,) = rows(store, "a-bad")
    assert row["status"] == "crashed" and "gpulint-fleet cannot read" in row["reason"] and "TMP" not in row["reason"]
    (warning,) = [it for it in told if "a-bad" in it]
    assert "a-bad: " in warning and "has no result" in warning and "Fix the file" in warning
    assert rows(store, "z-good")[0]["status"] == "ok"
    summary, complete = merge(store)
    assert not complete and summary["statuses"] == {"crashed": 1, "ok": 1}


def test_names_of_branches_with_odd_characters_end_no_plan(tmp_path, gpulint):
    """`git ls-remote ADDRESS HEAD` also lists branches whose name ends with `/HEAD`."""
    odd = make(tmp_path, "odd", {"main.tf": POOL_TEXT})
    git("update-ref", "refs/heads/x\u2028y\x85/HEAD", "HEAD", cwd=odd.removeprefix("file://"))
    good = make(tmp_path, "good", {"main.tf": POOL_TEXT})
    store = planned_of(tmp_path, [odd, good], gpulint)
    assert [bool(it["commit"]) for it in store.plan()[1]] == [True, True]


def test_an_error_of_one_address_ends_no_plan(tmp_path, gpulint, monkeypatch):
    from gpulint_fleet.git import Git

    urls = [make(tmp_path, name, {"main.tf": POOL_TEXT}) for name in ("a-bad", "z-good")]
    tip = Git.tip

    def failing(self, url, ref=None):
        if "a-bad" in url:
            raise OSError(7, "Argument list too long", "git")
        return tip(self, url, ref)

    monkeypatch.setattr(Git, "tip", failing)
    bad, good = planned_of(tmp_path, urls, gpulint).plan()[1]
    assert bad["status"] == "crashed" and "Argument list too long" in bad["reason"] and good["commit"]


def test_owners_and_rows_without_an_end_are_a_timeout(monkeypatch):
    from gpulint_fleet.git import Failed
    from gpulint_fleet.scan import within

    with pytest.raises(Failed, match="timeout"):
        within(time.monotonic() + 0.05, (time.sleep(0.01) for _ in range(1000)))


def test_links_of_a_repository_lead_to_nothing_outside(tmp_path, gpulint):
    outside = tmp_path / "outside"
    (outside / "workflows").mkdir(parents=True)
    (outside / "CODEOWNERS").write_text("* @secret-owner\n")
    (outside / "workflows/ci.yml").write_text("uses: gpulint/gpulint@v1\n")
    (outside / "pre-commit").write_text("gpulint\n")
    links = [("docs", outside), (".github", outside), (".husky", outside), ("CODEOWNERS", outside / "CODEOWNERS")]
    url = make(tmp_path, "linked", {"main.tf": POOL_TEXT}, links=links)
    store = planned_of(tmp_path, [url], gpulint)
    scan(store, gpulint=gpulint, **QUIET)
    first, *others = rows(store, "linked")
    assert (first["status"], first["owner"], first["hook"], first["pipeline"]) == ("ok", None, False, False)
    assert not any(row["owner"] for row in others)


def test_a_program_of_a_repository_is_not_started_in_the_place_of_gpulint_or_git(tmp_path, gpulint, monkeypatch):
    ran = tmp_path / "ran"
    program = f"#!/bin/sh\ntouch {ran}\n"
    url = make(tmp_path, "r", {"main.tf": POOL_TEXT, "tools/gpulint": program, "git": program, "bin/git": program})
    bare = url.removeprefix("file://")
    # All three are programs in the repository.
    work = tmp_path / "work"
    git("clone", "-q", bare, str(work))
    for name in ("tools/gpulint", "git", "bin/git"):
        git("update-index", "--chmod=+x", name, cwd=work)
    git("commit", "-q", "-m", "x", cwd=work)
    git("push", "-q", "origin", "HEAD:main", cwd=work)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/gpulint").symlink_to(gpulint)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:bin:{os.environ['PATH']}")
    store = planned_of(tmp_path, [url], "tools/gpulint")
    assert scan(store, gpulint="tools/gpulint", **QUIET) == {"ok": 1}
    assert not ran.exists()


def test_gpulint_gets_no_token(tmp_path, monkeypatch):
    from gpulint_fleet.fix import apply_fix

    seen = tmp_path / "seen"
    program = tmp_path / "gpulint"
    log = '{"runs": [{"tool": {"driver": {"rules": []}}}]}'
    program.write_text(f"#!/bin/sh\nenv > {seen}\necho '{log}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("FLEET_TOKEN", "THESECRET")
    monkeypatch.setenv("GIT_SSH_COMMAND", "THESECRET")
    apply_fix(str(program), str(tmp_path), "missing-labels", None, "embedded", DATE, False)
    assert "THESECRET" not in seen.read_text()
    assert "THESECRET" not in str(commands.environment()) + str(commands.gpulint_environment("/x"))


def change(store, at, **more):
    """Changes a line of the plan and corrects the header, as an attacker who knows the format can."""
    lines = [json.loads(line) for line in store.plan_path.read_text().splitlines()]
    lines[at] |= more
    head = {k: v for k, v in lines[0].items() if k != "digest"}
    lines[0] = head | {"digest": digest(head)}
    store.plan_path.write_text("".join(canonical(it) + "\n" for it in lines))


CHANGES = [
    (1, {"url": "ext::sh -c 'touch RAN'"}),
    (1, {"url": "fd::17"}),
    (1, {"url": "https://x:token@127.0.0.1/acme/r"}),
    (1, {"url": "--upload-pack=touch RAN"}),
    (1, {"url": None}),
    (1, {"id": "../../../x"}),
    (1, {"commit": "--upload-pack=touch RAN"}),
    (1, {"commit": "HEAD"}),
    (1, {"ref": "--upload-pack=touch RAN"}),
    (1, {"size": "1"}),
    (1, {"owner": ["x"]}),
    (0, {"date": "2026-11-25"}),
    (0, {"policy": "/etc/passwd"}),
    (0, {"policy": "../../policy.toml"}),
    (0, {"policy": "inputs/../../../etc"}),
    (0, {"prices": "inputs/" + "0" * 32}),
]


@pytest.mark.parametrize("changed", CHANGES, ids=[str(it) for _, it in CHANGES])
def test_a_plan_that_somebody_else_wrote_starts_nothing(tmp_path, gpulint, changed, monkeypatch):
    at, fields = changed
    ran = tmp_path / "RAN"
    monkeypatch.chdir(tmp_path)
    store = planned_of(tmp_path, [make(tmp_path / "hosts", "r", {"main.tf": POOL_TEXT})], gpulint)
    change(store, at, **fields)
    with pytest.raises(Refused, match="run `gpulint-fleet plan`"):
        scan(store, gpulint=gpulint, **QUIET)
    assert not ran.exists() and not (store.root / "rows").exists()


def test_a_plan_that_is_cut_or_no_json_is_refused(tmp_path, gpulint):
    store = planned_of(tmp_path, [make(tmp_path / "hosts", "r", {"main.tf": POOL_TEXT})], gpulint)
    text = store.plan_path.read_text()
    for damaged in ("", text[:40], text.replace("embedded", "embeddeD", 1), text + "[]\n", "7\n", "[]\n" + text):
        store.plan_path.write_text(damaged)
        with pytest.raises(Refused, match="run `gpulint-fleet plan`"):
            store.plan()


def test_an_input_of_the_plan_that_somebody_changed_is_refused(tmp_path, gpulint):
    policy = tmp_path / "policy"
    policy.mkdir()
    (policy / "gpulint.toml").write_text('profile = "essential"\n')
    store = planned_of(tmp_path, [make(tmp_path / "hosts", "r", {"main.tf": POOL_TEXT})], gpulint, policy=str(policy))
    (store.root / store.plan()[0]["policy"]).write_text("ignore = []\n")
    with pytest.raises(Refused, match="missing or changed"):
        scan(store, gpulint=gpulint, **QUIET)


def test_a_policy_leaves_no_place_of_a_run_in_the_rows(tmp_path, gpulint):
    policy = tmp_path / "policy"
    (policy / "pack").mkdir(parents=True)
    (policy / "gpulint.toml").write_text('select = ["missing-labels"]\n[[packs]]\npath = "pack"\n')
    (policy / "pack/gpulint.toml").write_text('[labels]\nrequired = ["cost-center"]\n')
    # The repository has something with the name of the copied policy.
    files = {"main.tf": POOL_TEXT, ".gpulint-fleet-policy/gpulint.toml": 'ignore = ["missing-labels"]\n'}
    url = make(tmp_path / "hosts", "r", files)
    texts = []
    for place in ("first", "second"):
        (tmp_path / place).mkdir()
        store = planned_of(tmp_path / place, [url], gpulint, policy=str(policy))
        scan(store, gpulint=gpulint, **QUIET)
        text = store.rows_path(store.plan()[1][0]["id"]).read_text()
        assert "cost-center" in text and "gpulint-fleet-" not in text.replace(".gpulint-fleet-policy", ""), text
        texts.append(text)
    assert texts[0] == texts[1]


def test_nothing_is_written_through_a_link_in_the_store(tmp_path, gpulint):
    store = planned_of(tmp_path, [make(tmp_path / "hosts", "r", {"main.tf": POOL_TEXT})], gpulint)
    mine = tmp_path / "mine"
    mine.write_text("mine\n")
    log = store.runs_path()
    log.parent.mkdir(parents=True)
    log.symlink_to(mine)
    with pytest.raises(OSError):
        scan(store, gpulint=gpulint, **QUIET)
    log.unlink()
    scan(store, gpulint=gpulint, **QUIET)
    for path in (store.table_path("findings").with_name(".part"), store.summary_path):
        path.parent.mkdir(parents=True)
        path.symlink_to(mine)
    merge(store)
    assert mine.read_text() == "mine\n"


def test_damaged_rows_are_refused_by_name_and_read_again_when_asked(tmp_path, gpulint):
    store = planned_of(tmp_path, [make(tmp_path / "hosts", "r", {"main.tf": POOL_TEXT})], gpulint)
    scan(store, gpulint=gpulint, **QUIET)
    (path,) = (store.root / "rows").rglob("*.ndjson")
    whole = path.read_text()
    other = json.dumps(json.loads(whole.splitlines()[0]) | {"repository": "github.com/other/r"})
    for damaged in ("", "{", "[]\n", "{}\n", other + "\n"):
        path.write_text(damaged)
        with pytest.raises(Refused, match=path.name):
            merge(store)
    path.write_text("{")
    assert scan(store, gpulint=gpulint, again=True, **QUIET) == {"ok": 1}
    assert path.read_text() == whole


def command(*arguments, **more):
    return subprocess.run(
        [sys.executable, "-m", "gpulint_fleet", *map(str, arguments)], capture_output=True, text=True, **more
    )


@pytest.mark.parametrize("token", ["two words", "two\nlines", ""])
def test_no_error_repeats_a_token(tmp_path, token):
    token = f"ghp_THESECRET{token}" if token else token
    (tmp_path / "token").write_text(token)
    for arguments in (["--token-env", "FLEET_TOKEN"], ["--token-file", tmp_path / "token"]):
        done = command("list", "acme", *arguments, env=os.environ | {"FLEET_TOKEN": token})
        assert done.returncode == 2 and done.stderr.startswith("error: the token "), done.stderr
        assert "THESECRET" not in done.stderr and len(done.stderr.splitlines()) == 1
    done = command("list", "acme", "--token-env", "ghp_THESECRET")
    assert done.returncode == 2 and "THESECRET" not in done.stderr


def test_a_terminal_gets_no_control_character(tmp_path, gpulint):
    from gpulint_fleet.__main__ import say

    text = "a\x1b[31m\x1b]0;x\x07 \u202eb\r\n::error::c\x9b\x7f\u200b\u2066"
    with open(tmp_path / "said", "w+", encoding="utf-8") as file:
        say(text, file)
        file.seek(0)
        said = file.read()
    assert said.count("\n") == 1 and said.rstrip("\n").isprintable() and "::error::c" in said
    (tmp_path / "list").write_text("https://github.com/acme/\x1b[31mred\n")
    done = command("plan", tmp_path / "list", "--store", tmp_path, "--date", DATE, "--gpulint", gpulint)
    assert done.returncode == 2 and done.stderr.rstrip("\n").isprintable()
    assert "write" in done.stderr or "percent-encode" in done.stderr


def test_an_app_answers_for_its_code_host_alone(tmp_path):
    """Tests that a helper answers for its own host only, because git asks each helper for every host."""
    arguments = ["credential", "--app", "1", "--app-key", tmp_path / "none.pem", "--installation", "2"]
    for asked in ("protocol=https\nhost=evil.example\n\n", "protocol=http\nhost=github.com\n\n", "", "host=github.com"):
        done = command(*arguments, "get", input=asked)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
    # For its own host, the helper continues to the key, which is missing here.
    done = command(*arguments, "get", input="protocol=https\nhost=github.com\n\n")
    assert done.returncode == 2 and "is not a private key" in done.stderr
    done = command(
        *arguments, "--api", "https://git.example.com/api/v3", "get", input="protocol=https\nhost=github.com\n"
    )
    assert (done.returncode, done.stdout) == (0, "")
