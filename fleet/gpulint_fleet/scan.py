"""Scans each repository of a plan separately, and writes a row file for each.

A scan skips a repository that has a row file, so a stopped scan continues where it stopped. A failure is a row, too.
"""

import contextlib
import functools
import glob
import json
import os
import re
import subprocess
import tempfile
import time
import tomllib
import zlib
from pathlib import Path

from . import commands, inputs, owners, reach
from .git import Failed, Git
from .store import Refused, Store, append, canonical, file_digest, write
from .address import parse
from .text import OF_ONE_REPOSITORY, cause_of, is_text, replace_controls

# Files that show whether a repository runs gpulint itself.
HOOKS = (".pre-commit-config.yaml", ".husky/pre-commit", "lefthook.yml")
PIPELINES = (
    ".gitlab-ci.yml",
    "bitbucket-pipelines.yml",
    "azure-pipelines.yml",
    "atlantis.yaml",
    ".github/workflows/*.y*ml",
    ".gitea/workflows/*.y*ml",
)

SETTINGS = "gpulint.toml"

FAILED = {
    "timeout": "the scan took longer than the limit --seconds",
    "bad_settings": "gpulint refuses the repository's settings",
    "crashed": "gpulint ended without a summary",
}


def names_gpulint(directory, places):
    # `Path.glob` raises an error for a link to a name that is too long, and `glob` does not.
    files = (it for place in places for it in sorted(glob.glob(place, root_dir=directory, include_hidden=True)))
    return any(b"gpulint" in owners.read_inside(directory, Path(directory) / it) for it in files)


@functools.lru_cache
def demand_binary(gpulint, wanted):
    """Returns the path of gpulint, after a check that it is the program of the plan."""
    path = commands.find_program(gpulint)
    if file_digest(path) != wanted:
        raise Refused(f"`{path}` is not the program of the plan: scan with the planned program, or plan another date")
    return path


@functools.lru_cache
def demand_private(cache):
    """Refuses a cache that others can write to, because git does not check the objects in it."""
    Path(cache).mkdir(parents=True, exist_ok=True)
    it = os.stat(cache)
    if it.st_uid not in (os.geteuid(), 0) or it.st_mode & 0o002:
        raise Refused(f"others can write into the cache `{cache}`: run `chmod o-w`, or name another directory")


def options_of(store, head):
    """Returns the arguments that make the result of gpulint depend on the plan only."""
    arguments = ["--today", head["date"], "--color", "never", "--allow-empty"]
    arguments += [
        "--prices",
        head["prices"] if head["prices"] == "embedded" else str(store.input_path(head["prices"]).absolute()),
    ]
    if head["policy"] == "none":
        arguments.append("--no-config")
    elif head["policy"] != "own":
        arguments += ["--config", str(store.input_path(head["policy"]).absolute())]
    return arguments


def ask(gpulint, arguments, directory, seconds):
    """Runs gpulint on a checkout. Returns its exit code, its output and its messages."""
    with scratch() as home, tempfile.TemporaryFile() as out:
        try:
            environment = commands.gpulint_environment(home)
            done = commands.run([gpulint, *arguments], seconds, cwd=directory, env=environment, stdout=out)
        except commands.TimedOut:
            raise Failed("timeout") from None
        out.seek(0)
        return done.code, out.read().decode(errors="replace"), done.err


def check(store, head, directory, gpulint, seconds):
    """Returns the rows that gpulint prints about a checkout, those of machines with their JSON report."""
    with scratch() as place:
        report = str(Path(place, "report.json"))
        formats = ["--format", "ndjson", "--format", "json", "--output", report]
        arguments = ["check", ".", *formats, *options_of(store, head)]
        code, out, err = ask(gpulint, arguments, directory, seconds)
        # A file name may contain other line separators, so only the newline ends a row.
        lines = [json.loads(line) for line in out.split("\n") if line] if code in (0, 1, 3) else []
        if not lines or lines[-1]["row"] != "summary":
            raise Failed("bad_settings" if code == 2 else "crashed", err)
        return add_reports(lines, report) if lines[-1]["resources"] else lines


def add_reports(lines, report):
    """Adds to the row of each machine what the JSON report of the same run says about it."""
    machines = {}
    for it in json.loads(Path(report).read_text(encoding="utf-8"))["resources"]:
        machines.setdefault((it["address"], it["run"], it["path"], it["line"]), []).append(it)
    for line in lines:
        if line["row"] == "resource" and line["role"] == "rented":
            found = machines.get((line["address"], line["run"], line["path"], line["line"]))
            line["report"] = canonical(found.pop(0)) if found else None
    return lines


def put_file(directory, name, source):
    """Puts a file into a checkout, in place of anything with its name, and follows no link."""
    place = Path(directory, name)
    if place.is_dir() and not place.is_symlink():
        remove(place)
    place.unlink(missing_ok=True)
    with open(place, "xb") as file:
        file.write(Path(source).read_bytes())


def match_bill(store, head, lines, directory, gpulint, seconds):
    """Returns rows for the lines of the bill that concern this checkout, and adds the reports of machines with the bill."""
    name, *_ = inputs.FILES["bill"]
    put_file(directory, name, store.input_path(head["bill"]))
    with scratch() as place:
        report = str(Path(place, "report.json"))
        code, _, err = ask(
            gpulint,
            ["check", ".", "--format", "json", "--output", report, *options_of(store, head)],
            directory,
            seconds,
        )
        if code not in (0, 1, 3):
            raise Failed("crashed", err)
        add_reports(lines, report)
    arguments = ["reconcile", ".", "--all-months", "--format", "json", *options_of(store, head)]
    code, out, err = ask(gpulint, arguments, directory, seconds)
    if code not in (0, 1, 3):
        raise Failed("crashed", err)
    months = json.loads(out)["months"]
    mine = [it for month in months for it in (*month["matched"], *month["unmatched"]) if it["path"] == name]
    of_nobody = ("unnamed", "nowhere", "other_machine")
    found = [it for it in mine if it.get("cause") not in of_nobody]
    return bool(mine), [
        {"row": "bill", "line": it["line"], "cause": it.get("cause")} | resource_of(it, lines) for it in found
    ]


def match_usage(store, head, lines, directory, gpulint, seconds):
    """Returns rows for the usage metrics that match a resource of this checkout."""
    name, *_ = inputs.FILES["usage"]
    put_file(directory, name, store.input_path(head["usage"]))
    code, out, err = ask(
        gpulint, ["usage", "show", ".", "--format", "json", *options_of(store, head)], directory, seconds
    )
    if code not in (0, 1, 3):
        raise Failed("crashed", err)
    report = json.loads(out) or {"matched": [], "unmatched": []}
    places = [(it, place) for it in report["matched"] for place in it["rows"]]
    is_read = any(it["path"] == name for it in [*(place for _, place in places), *report["unmatched"]])
    found = [(it, place["line"]) for it, place in places if place["path"] == name]
    return is_read, [{"row": "usage", "line": line} | resource_of(it, lines) for it, line in found]


def resource_of(match, lines):
    """Returns the resource of a match, as columns of a row."""
    of = {"address": match.get("address"), "run": match.get("run")}
    same = (it for it in lines if it["row"] == "resource" and (it["address"], it["run"]) == tuple(of.values()))
    resource = next(same, {}) if of["address"] else {}
    return of | {"path": resource.get("path"), "team": resource.get("team")}


MATCHES = {"bill": match_bill, "usage": match_usage}


def match(store, head, lines, directory, gpulint, seconds):
    """Returns rows about the bill and the usage metrics of the plan, and for each of them whether gpulint read it here."""
    is_read, rows = {}, []
    if lines[-1]["resources"]:
        for kind, find in MATCHES.items():
            if kind in head:
                is_read[kind], found = find(store, head, lines, directory, gpulint, seconds)
                rows += found
    return is_read, rows


def settings_in(directory, place="."):
    """Returns the gpulint.toml of a directory of a checkout, or nothing. gpulint itself refuses invalid settings."""
    try:
        return tomllib.loads(owners.read_inside(directory, Path(directory, place, SETTINGS)).decode())
    except OF_ONE_REPOSITORY:
        return {}


def packs_of(directory):
    """Returns the packs of the repository's settings: a map from git address or path to commit, and one to the version in the pack."""
    commits, versions = {}, {}
    packs = settings_in(directory).get("packs")
    for pack in packs if isinstance(packs, list) else ():
        try:
            address = parse(pack["git"]).identity if "git" in pack else None
            # The copy of a pack from git is in this directory, unless the settings name another one.
            place = pack["path"] if "path" in pack else f".gpulint/{address.rsplit('/', 1)[-1]}"
            name = address or place
            commits[name], versions[name] = pack.get("commit"), settings_in(directory, place).get("version")
        except (Refused, AttributeError, *OF_ONE_REPOSITORY):
            continue
    known = sorted(name for name in commits if is_text(name))
    texts = lambda found: {name: found[name] if is_text(found[name]) else None for name in known}
    return {"packs": texts(commits), "pack_versions": texts(versions)}


def within(end, rows):
    """Returns all rows, or fails if the time limit of the repository ends first. A repository can have many rows and owners."""
    found = []
    for row in rows:
        if time.monotonic() > end:
            raise Failed("timeout")
        found.append(row)
    return found


def dressed(entry, lines, directory, tree, blobs, warn):
    """Yields the rows with their owner and blob. The first row is the one of the repository."""
    of_all, owner_of = owners.find(directory, [line["path"] for line in lines[:-1] if line["path"]], warn)
    summary = {k: v for k, v in lines[-1].items() if k not in ("row", "version", "today")}
    path = Path(directory)
    own = {
        "status": "empty" if summary["is_empty"] else "ok",
        "reason": "the repository has no Terraform and no Kubernetes files" if summary["is_empty"] else None,
        "tree": tree,
        "owner": entry["owner"] or of_all,
        "hook": names_gpulint(path, HOOKS),
        "pipeline": names_gpulint(path, PIPELINES),
        "settings": os.path.isfile(path / SETTINGS),
        "baseline": os.path.isfile(path / ".gpulint-baseline.json"),
    }
    own |= packs_of(directory)
    yield own | summary
    for line in lines[:-1]:
        line = {k: v for k, v in line.items() if k != "version"}
        yield line | {"owner": owner_of.get(line["path"]) or own["owner"], "blob": blobs.get(line["path"])}


def file_text(head, entry, rows):
    where = {"date": head["date"], "repository": entry["id"], "commit": entry["commit"], "plan": head["digest"]}
    first, *rest = rows
    lines = [where | {"n": 0, "row": "repository"} | first]
    lines += [where | {"n": n} | row for n, row in enumerate(rest, 1)]
    return "".join(canonical(line) + "\n" for line in lines)


def read(store, head, entry, options, times):
    """Yields the rows of a repository."""
    if not entry["commit"]:
        yield {"status": entry["status"], "reason": entry["reason"], "owner": entry["owner"]}
        return
    git = Git(**options["git"])
    with scratch() as directory:
        begun = time.monotonic()
        try:
            cache = Path(options["cache"], store.rows_path(entry["id"]).stem) if options["cache"] else None
            tree = git.checkout(entry["url"], entry["commit"], directory, cache)
            times["clone"] = time.monotonic() - begun
            lines = check(store, head, directory, options["gpulint"], options["seconds"])
            is_read, matches = match(store, head, lines, directory, options["gpulint"], options["seconds"])
            times["check"] = time.monotonic() - begun - times["clone"]
            blobs = git.blobs(directory) if len(lines) > 1 else {}
            warn = times.setdefault("warnings", []).append
            lines = [*lines[:-1], *matches, lines[-1] | {f"{kind}_read": it for kind, it in is_read.items()}]
            yield from within(git.end, dressed(entry, lines, directory, tree, blobs, warn))
        except Failed as failed:
            times["said"] = replace_controls(failed.said.strip()[-500:])
            reason = FAILED.get(failed.status) if "clone" in times else failed.reason
            status = "missing" if failed.status == "gone" else failed.status
            yield {"status": status, "reason": reason or failed.reason, "owner": entry["owner"]}
        finally:
            times["attempts"] = git.attempts


PREFIX = "gpulint-fleet-"


def sweep():
    """Removes the directories that killed processes of this user left. Each name has the number of its process."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = path.name.removeprefix(PREFIX).partition("-")[0]
        try:
            is_ours = path.lstat().st_uid == os.getuid() and path.is_dir() and not path.is_symlink()
        except FileNotFoundError:
            continue
        if is_ours and owner.isdigit() and not Path(f"/proc/{owner}").exists() and Path("/proc/self").exists():
            remove(path)


def remove(path):
    """Removes a directory. Python's own `rmtree` fails on the depth of directories that a repository can have."""
    subprocess.run(["rm", "-rf", "--", path], stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def scratch():
    """Yields a directory that only this user can read, and removes it when the block ends."""
    path = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")
    try:
        yield path
    finally:
        remove(path)


def read_alone(store, head, entry, options, times):
    """Returns the rows of a repository and their text. An error from the repository's files becomes a row and stops no other scan."""
    try:
        rows = list(read(store, head, entry, options, times))
        text = file_text(head, entry, rows)
        # Half of a surrogate pair cannot be encoded, so this fails here and not later.
        text.encode()
        return rows, text
    except OF_ONE_REPOSITORY as error:
        # The checkout has another directory in each run, and a row must not differ.
        cause = replace_controls(re.sub(rf"/\S*{PREFIX}[^/\s]*/?", "", cause_of(error)))
        name = replace_controls(re.sub(rf"^.*/{PREFIX}[^/]*/?", "", str(getattr(error, "filename", None) or "")))
        where = f"`{name}`" if name else "it"
        times.setdefault("warnings", []).append(
            f"{name or 'its files'}: {cause}. gpulint-fleet has no result of this repository. "
            "Fix the file, or report this line at https://github.com/gpulint/gpulint/issues."
        )
        rows = [{"status": "crashed", "reason": f"gpulint-fleet cannot read {where}: {cause}", "owner": entry["owner"]}]
        return rows, file_text(head, entry, rows)


def scan_one(root, head, entry, options):
    """Scans one repository. Returns a short outcome without rows."""
    store, times = Store(root, head["date"]), {}
    sweep()
    begun = time.monotonic()
    if options["cache"]:
        demand_private(options["cache"])
    options = options | {"gpulint": demand_binary(options["gpulint"], head["binary"])}
    rows, text = read_alone(store, head, entry, options, times)
    write(store.rows_path(entry["id"]), text)
    return {
        "id": entry["id"],
        "status": rows[0]["status"],
        "bytes": len(text),
        "seconds": time.monotonic() - begun,
    } | times


def write_failure(store, head, entry, status, reason):
    write(
        store.rows_path(entry["id"]),
        file_text(head, entry, [{"status": status, "reason": reason, "owner": entry["owner"]}]),
    )


def is_mine(entry, part):
    """Returns whether a repository is in this part. Only its name decides, so machines need not agree on parts."""
    index, of = part
    return zlib.crc32(entry["id"].encode()) % of == index % of


def status_of(path):
    """Returns the status in the first row of a row file, or None if the file is damaged."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.loads(file.readline())["status"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def remaining(store, head, entries, part, again):
    """Returns the repositories without rows, the largest first, so that no large one starts last."""
    mine = [it for it in entries if is_mine(it, part)]
    left = []
    for it in mine:
        path = store.rows_path(it["id"])
        if not path.exists() or (again and status_of(path) not in ("ok", "empty")):
            left.append(it)
    return sorted(left, key=lambda it: (-(it["size"] or 0), it["id"]))


def scan(
    store,
    *,
    engine="here",
    part=(0, 1),
    again=False,
    gpulint="gpulint",
    seconds=900,
    git=None,
    per_host=64,
    cache=None,
    tell=print,
):
    """Scans the planned repositories that have no rows. `engine` is `here`, or an address of Ray (`auto`, `local`)."""
    head, entries = store.plan()
    left = remaining(store, head, entries, part, again)
    options = {"gpulint": gpulint, "seconds": seconds, "git": dict(git or {}, seconds=seconds), "cache": cache}
    counts = {}
    reach.forget()
    if engine == "here" or not left:
        results = (scan_one(str(store.root.absolute()), head, it, options) for it in left)
    else:
        from .on_ray import run

        results = run(store, head, left, options, engine, per_host)
    begun = time.monotonic()
    for done, result in enumerate(results, 1):
        append(store.runs_path(), canonical(result) + "\n")
        counts[result["status"]] = counts.get(result["status"], 0) + 1
        for warning in result.get("warnings", ()):
            tell(f"{result['id']}: {warning}")
        if done % 100 == 0 or done == len(left):
            tell(f"{done} of {len(left)} repositories, {done / (time.monotonic() - begun):.1f} repositories/s")
    return counts
