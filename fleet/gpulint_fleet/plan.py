"""What is to be read on a date: repositories with their commits, and everything else that results depend on.

Whoever scans later, twice, or in another order, finds the same answer: nothing that may differ is left open.
"""

import concurrent.futures
import json
import re
import shutil
import subprocess
import sys
import urllib.parse
from pathlib import Path

from .git import Failed, Git
from .owners import catalogue
from .store import Refused, canonical, digest, file_digest, tree_digest, write

VERSION = 1


def identity(url):
    """`github.com/acme/infra`: the same for every way to reach it."""
    scp = re.fullmatch(r"(?:[^@/]+@)?([^:/]+):(?!//)(.+)", url)
    host, path = (
        (scp[1], scp[2]) if scp else (urllib.parse.urlsplit(url).hostname or "file", urllib.parse.urlsplit(url).path)
    )
    return f"{host}/{path.strip('/').removesuffix('.git')}"


def without_credentials(url):
    parts = urllib.parse.urlsplit(url)
    if parts.scheme in ("http", "https"):
        return urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return url


def entry(line):
    """A line of a list: an address with a branch, `github.com/owner/name`, or an object as `gpulint-fleet list` writes it."""
    it = json.loads(line) if line.startswith("{") else dict(zip(("url", "ref"), line.split()))
    if "://" not in it["url"] and not re.match(r"[^/]+@[^/]+:", it["url"]):
        it["url"] = f"https://{it['url']}"
    url = without_credentials(it["url"])
    return {"id": identity(url), "url": url, "ref": it.get("ref"), "size": it.get("size"), "owner": it.get("owner")}


def read_list(path):
    text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    entries = {it["id"]: it for it in map(entry, (line for line in lines if line and not line.startswith("#")))}
    return [entries[name] for name in sorted(entries)]


def keep(store, path):
    """Copies an input of the results into the store, under its digest: whoever scans finds it there."""
    kept = Path("inputs") / tree_digest(path)[:32]
    place = store.input_path(kept)
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if Path(path).is_dir() else shutil.copyfile)(path, place)
    return str(kept)


def header(store, gpulint, prices, policy):
    said = subprocess.run([gpulint, "--version"], capture_output=True, text=True)
    if said.returncode:
        raise Refused(f"`{gpulint} --version` fails: name the program with --gpulint")
    if policy not in ("own", "none"):
        directory = Path(policy)
        if directory.is_dir() and not (directory / "gpulint.toml").is_file():
            raise Refused(f"`{policy}` has no gpulint.toml")
        policy = keep(store, directory) + ("/gpulint.toml" if directory.is_dir() else "")
    if prices != "embedded":
        prices = keep(store, prices)
    binary = file_digest(shutil.which(gpulint) or gpulint)
    return {
        "plan": VERSION,
        "date": store.date,
        "gpulint": said.stdout.strip(),
        "binary": binary,
        "prices": prices,
        "policy": policy,
    }


def plan(store, repositories, *, gpulint="gpulint", prices="embedded", policy="own", owners=None, jobs=16, git=None):
    """Writes the plan of a date, and keeps one that is there. Gives the number of repositories."""
    if store.plan_path.exists():
        return len(store.plan()[1])
    if not repositories:
        raise Refused("the list names no repository")
    head = header(store, gpulint, prices, policy)
    known = catalogue(owners)
    git = git or {}

    def resolved(it):
        planned = {"id": it["id"], "url": it["url"], "ref": it["ref"], "size": it["size"]}
        planned["owner"] = known.of(it["id"]) or it["owner"]
        try:
            commit = Git(local=it["url"].startswith("file:"), **git).tip(it["url"], it["ref"])
            return planned | (
                {"commit": commit} if commit else {"commit": None, "status": "empty", "reason": "it has no commit"}
            )
        except Failed as failed:
            return planned | {"commit": None, "status": failed.status, "reason": failed.reason}

    with concurrent.futures.ThreadPoolExecutor(jobs) as threads:
        lines = list(threads.map(resolved, repositories))
    write(store.plan_path, "".join(canonical(it) + "\n" for it in [head | {"digest": digest(head)}, *lines]))
    return len(lines)
