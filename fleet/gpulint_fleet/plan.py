"""Writes the plan of a date: repositories with their commits, and everything else on which results depend.

The plan leaves nothing open, so a scan that is later, repeated or in another order has the same result.
"""

import codecs
import concurrent.futures
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from . import commands, inputs, reach
from .address import identity, parse
from .git import Failed, Git, is_ref
from .owners import catalogue
from .store import Refused, canonical, digest, file_digest, tree_digest, write
from .text import OF_ONE_REPOSITORY, cause_of, is_size, is_text, replace_controls

__all__ = ["identity", "plan", "read_list"]

VERSION = 1

# The time limit of `gpulint --version`, in seconds.
VERSION_SECONDS = 30


def entry(line):
    """Parses a line of a list in UTF-8: an address with a branch, `github.com/owner/name`, or an object from `gpulint-fleet list`."""
    line = line.decode().strip()
    it = json.loads(line) if line.startswith("{") else dict(zip(("url", "ref"), line.split(maxsplit=1)))
    text = it.get("url")
    if not isinstance(text, str):
        raise Refused("the line has no `url`: write an address, or an object as `gpulint-fleet list` prints it")
    address = parse(f"https://{text}" if re.match(r"[A-Za-z0-9.-]+(:\d+)?/", text) else text)
    ref, size, owner = it.get("ref"), it.get("size"), it.get("owner")
    if ref is not None and not is_ref(ref):
        raise Refused(
            f"`{replace_controls(str(ref))[:100]}` is not a valid branch name: write an address and one branch on a line"
        )
    if not (size is None or is_size(size)) or not (owner is None or is_text(owner)):
        raise Refused(
            "`size` is not a number or `owner` is not a string: write the line as `gpulint-fleet list` prints it"
        )
    return address, {"id": address.identity, "url": address.url, "ref": ref, "size": size, "owner": owner}


def problem_of(error):
    """Returns what is wrong with a line of a list, and what to do."""
    if isinstance(error, Refused):
        return str(error)
    cause = {UnicodeDecodeError: "the line is not UTF-8", RecursionError: "the JSON of the line is too deep"}
    said = cause.get(type(error)) or f"the line is not JSON ({error})"
    return f"{said}: write an address, or the line as `gpulint-fleet list` prints it"


def read_list(path, tell=lambda line: None):
    """Returns the repositories of a list, each once. It reports addresses with a password, and lines that it leaves out.

    It refuses a list without a valid line.
    """
    text = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    entries, problems = {}, []
    for number, line in enumerate(text.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        line = line.strip()
        if not line or line.startswith(b"#"):
            continue
        try:
            address, it = entry(line)
        except (Refused, ValueError, RecursionError) as error:
            problems.append(f"{path}:{number}: {problem_of(error)}")
            continue
        if address.had_secret:
            tell(
                f"{path}:{number}: the address of {address.identity} contains a user name, a password or a query. gpulint-fleet "
                "removes that part and uses --token-env or --token-file instead. Revoke the part if it was a token."
            )
        entries[it["id"]] = it
    if problems and not entries:
        raise Refused(problems[0])
    for problem in problems:
        tell(f"{problem}. gpulint-fleet leaves this repository out of the plan.")
    return [entries[name] for name in sorted(entries)]


def keep(store, path):
    """Copies an input of the results into the store under its digest, so that every scan finds it there."""
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
                # Another process stored the same input at the same time.
                if not place.exists():
                    raise
    return str(kept)


def header(store, gpulint, prices, policy, files=None):
    """Returns the header of a plan. `files` are the bill and the usage metrics of the organization."""
    gpulint = commands.find_program(gpulint)
    said = commands.run([gpulint, "--version"], VERSION_SECONDS, env=commands.gpulint_environment(os.devnull))
    if said.code:
        raise Refused(f"`{gpulint} --version` fails: name the program with --gpulint")
    if policy not in ("own", "none"):
        directory = Path(policy)
        if directory.is_dir() and not (directory / "gpulint.toml").is_file():
            raise Refused(f"`{policy}` has no gpulint.toml: name another directory with --policy")
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
    } | {kind: keep(store, inputs.check(kind, path)) for kind, path in (files or {}).items() if path}


# The option that sets a part of the plan's header.
OPTIONS = {"binary": "--gpulint", "prices": "--prices", "policy": "--policy", "bill": "--bill", "usage": "--usage"}


def demand_same(store, head, wanted):
    """Refuses another plan of a planned date. The tables of a date have one plan, so it does not change silently."""
    old_head, old = store.plan()
    changed = [option for name, option in OPTIONS.items() if head.get(name) != old_head.get(name)]
    known, new = ({it["id"]: (it["url"], it["ref"]) for it in entries} for entries in (old, wanted))
    lists = [f"it lacks {name}" for name in new if name not in known] + [
        f"it has {name}" for name in known if name not in new
    ]
    lists += [f"it has another address or branch of {name}" for name in new if known.get(name, new[name]) != new[name]]
    owners = {it["id"]: it["owner"] for it in wanted}
    if not lists and any(it["owner"] != owners[it["id"]] for it in old):
        changed.append("--owners")
    if changed or lists:
        more = f" and {len(lists) - 1:,} more differences" if len(lists) > 1 else ""
        reasons = ([f"another {' and '.join(changed)}"] if changed else []) + (
            [f"another list ({lists[0]}{more})"] if lists else []
        )
        raise Refused(
            f"{store.date} is planned with {' and '.join(reasons)}: plan another --date, or remove {store.plan_path} "
            f"and {store.rows_path('').parents[1]}, then plan again"
        )


def plan(
    store,
    repositories,
    *,
    gpulint="gpulint",
    prices="embedded",
    policy="own",
    owners=None,
    bill=None,
    usage=None,
    jobs=16,
    git=None,
    tell=lambda line: None,
):
    """Writes the plan of a date, and returns the number of repositories. The same request again keeps the plan."""
    if not repositories:
        raise Refused("the list has no repository: add an address")
    head = header(store, gpulint, prices, policy, {"bill": bill, "usage": usage})
    known = catalogue(owners)
    wanted = [
        {
            "id": it["id"],
            "url": it["url"],
            "ref": it["ref"],
            "size": it["size"],
            "owner": known.of(it["id"]) or it["owner"],
        }
        for it in repositories
    ]
    for pattern in known.unused():
        tell(f"{owners}: `{pattern}` decides the owner of no repository of the list: check its spelling and its place")
    if store.plan_path.exists():
        demand_same(store, head, wanted)
        return len(wanted)
    git = git or {}
    reach.forget()

    def resolved(planned):
        try:
            commit = Git(**git).tip(planned["url"], planned["ref"])
            return planned | (
                {"commit": commit}
                if commit
                else {"commit": None, "status": "empty", "reason": "the repository has no commit"}
            )
        except Failed as failed:
            return planned | {"commit": None, "status": failed.status, "reason": failed.reason}
        except OF_ONE_REPOSITORY as error:
            reason = f"gpulint-fleet cannot get its commit: {replace_controls(cause_of(error))}"
            return planned | {"commit": None, "status": "crashed", "reason": reason}

    with concurrent.futures.ThreadPoolExecutor(jobs) as threads:
        lines = list(threads.map(resolved, wanted))
    write(store.plan_path, "".join(canonical(it) + "\n" for it in [head | {"digest": digest(head)}, *lines]))
    return len(lines)
