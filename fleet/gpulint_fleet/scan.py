"""Scans each repository of a plan separately, and writes a row file for each.

A scan skips a repository that has a row file, so a stopped scan continues where it stopped. A failure is a row, too.
"""

import functools
import glob
import json
import os
import re
import time
import zlib
from pathlib import Path

from . import owners, reach
from .git import Failed, Git
from .gpulint import check, demand_binary, put_policy
from .matches import match
from .packs import SETTINGS, packs_of
from .scratch import PREFIX, scratch, sweep
from .store import Refused, Store, append, canonical, write
from .text import OF_ONE_REPOSITORY, cause_of, replace_controls

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
def demand_private(cache):
    """Refuses a cache that others can write to, because git does not check the objects in it."""
    Path(cache).mkdir(parents=True, exist_ok=True)
    it = os.stat(cache)
    if it.st_uid not in (os.geteuid(), 0) or it.st_mode & 0o002:
        raise Refused(f"others can write into the cache `{cache}`: run `chmod o-w`, or name another directory")


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
            put_policy(store, head, directory)
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
