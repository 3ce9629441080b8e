"""Runs gpulint on a checkout, so that its result depends on the plan only."""

import functools
import json
import shutil
import tempfile
from pathlib import Path

from . import commands
from .git import Failed
from .scratch import remove, scratch
from .store import Refused, canonical, file_digest


# The policy lies inside the checkout, because names of deployments and fingerprints begin at the directory that holds all settings.
POLICY = ".gpulint-fleet-policy"


def put_policy(store, head, directory):
    """Copies the policy of the plan into a checkout, in place of anything with its name."""
    if head["policy"] in ("none", "own"):
        return
    place = Path(directory, POLICY)
    if place.is_dir() and not place.is_symlink():
        remove(place)
    place.unlink(missing_ok=True)
    source = store.input_path(head["policy"])
    if source.name == "gpulint.toml":
        shutil.copytree(source.parent, place)
    else:
        place.mkdir()
        shutil.copy(source, place)


@functools.lru_cache
def demand_binary(gpulint, wanted):
    """Returns the path of gpulint, after a check that it is the program of the plan."""
    path = commands.find_program(gpulint)
    if file_digest(path) != wanted:
        raise Refused(f"`{path}` is not the program of the plan: scan with the planned program, or plan another date")
    return path


def options_of(store, head, directory=None):
    """Returns the arguments that make the result of gpulint depend on the plan only, in a checkout with its policy."""
    arguments = ["--today", head["date"], "--color", "never", "--allow-empty"]
    arguments += [
        "--prices",
        head["prices"] if head["prices"] == "embedded" else str(store.input_path(head["prices"]).absolute()),
    ]
    if head["policy"] == "none":
        arguments.append("--no-config")
    elif head["policy"] != "own":
        policy = store.input_path(head["policy"])
        arguments += ["--config", str(Path(POLICY, policy.name) if directory else policy.absolute())]
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
        arguments = ["check", ".", *formats, *options_of(store, head, directory)]
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
