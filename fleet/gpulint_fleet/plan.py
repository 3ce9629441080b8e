"""What is to be read on a date: repositories with their commits, and everything else that results depend on.

Whoever scans later, twice, or in another order, finds the same answer: nothing that may differ is left open.
"""

import concurrent.futures
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from . import commands, reach
from .address import identity, parse
from .git import Failed, Git, is_ref
from .owners import catalogue
from .store import Refused, canonical, digest, file_digest, tree_digest, write
from .text import replace_controls

__all__ = ["identity", "plan", "read_list"]

VERSION = 1

# How long `gpulint --version` may take.
VERSION_SECONDS = 30


def entry(line):
    """A line of a list: an address with a branch, `github.com/owner/name`, or an object as `gpulint-fleet list` writes it."""
    it = json.loads(line) if line.startswith("{") else dict(zip(("url", "ref"), line.split(maxsplit=1)))
    text = it.get("url")
    if not isinstance(text, str):
        raise Refused("the line has no `url`: write an address, or an object as `gpulint-fleet list` prints it")
    address = parse(f"https://{text}" if re.match(r"[A-Za-z0-9.-]+(:\d+)?/", text) else text)
    ref, size, owner = it.get("ref"), it.get("size"), it.get("owner")
    if ref is not None and not is_ref(ref):
        raise Refused(
            f"`{replace_controls(str(ref))}` is no name of a branch: write an address and one branch on a line"
        )
    if not isinstance(size, int | None) or not isinstance(owner, str | None):
        raise Refused("`size` is no number or `owner` is no string: write the line as `gpulint-fleet list` prints it")
    return address, {"id": address.identity, "url": address.url, "ref": ref, "size": size, "owner": owner}


def read_list(path, tell=lambda line: None):
    """The repositories of a list, each once. It tells for which of them the address had a password."""
    text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    entries = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        try:
            address, it = entry(line)
        except (Refused, json.JSONDecodeError) as error:
            raise Refused(f"{path}:{number}: {error}") from None
        if address.had_secret:
            tell(
                f"{path}:{number}: the address of {address.identity} holds a user name, a password or a query. gpulint-fleet "
                "removes that part and uses --token-env or --token-file instead. Revoke the part if it was a token."
            )
        entries[it["id"]] = it
    return [entries[name] for name in sorted(entries)]


def keep(store, path):
    """Copies an input of the results into the store, under its digest: whoever scans finds it there."""
    kept = Path("inputs") / tree_digest(path)[:32]
    place = store.root / kept
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", dir=place.parent) as part:
            copy = Path(part) / "copy"
            (shutil.copytree if Path(path).is_dir() else shutil.copyfile)(path, copy)
            try:
                os.replace(copy, place)
            except OSError:
                # Another process kept the same input at the same time.
                if not place.exists():
                    raise
    return str(kept)


def header(store, gpulint, prices, policy):
    gpulint = commands.find_program(gpulint)
    said = commands.run([gpulint, "--version"], VERSION_SECONDS, env=commands.gpulint_environment(os.devnull))
    if said.code:
        raise Refused(f"`{gpulint} --version` fails: name the program with --gpulint")
    if policy not in ("own", "none"):
        directory = Path(policy)
        if directory.is_dir() and not (directory / "gpulint.toml").is_file():
            raise Refused(f"`{policy}` has no gpulint.toml")
        policy = keep(store, directory) + ("/gpulint.toml" if directory.is_dir() else "")
    if prices != "embedded":
        prices = keep(store, prices)
    return {
        "plan": VERSION,
        "date": store.date,
        "gpulint": said.out.strip(),
        "binary": file_digest(gpulint),
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
    reach.forget()

    def resolved(it):
        planned = {"id": it["id"], "url": it["url"], "ref": it["ref"], "size": it["size"]}
        planned["owner"] = known.of(it["id"]) or it["owner"]
        try:
            commit = Git(**git).tip(it["url"], it["ref"])
            return planned | (
                {"commit": commit} if commit else {"commit": None, "status": "empty", "reason": "it has no commit"}
            )
        except Failed as failed:
            return planned | {"commit": None, "status": failed.status, "reason": failed.reason}

    with concurrent.futures.ThreadPoolExecutor(jobs) as threads:
        lines = list(threads.map(resolved, repositories))
    write(store.plan_path, "".join(canonical(it) + "\n" for it in [head | {"digest": digest(head)}, *lines]))
    return len(lines)
