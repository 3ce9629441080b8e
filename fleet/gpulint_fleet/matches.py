"""Matches the bill and the usage metrics of the organization with the resources of one checkout."""

import json
from pathlib import Path

from . import inputs
from .git import Failed
from .gpulint import add_reports, ask, options_of
from .scratch import remove, scratch
from .store import Refused

# The causes for which a line of the bill concerns no resource of the checkout.
NO_RESOURCE = ("unnamed", "nowhere", "other_machine")


def put_file(directory, name, source):
    """Puts a file into a checkout, in place of anything with its name, and follows no link."""
    place = Path(directory, name)
    if place.is_dir() and not place.is_symlink():
        remove(place)
    place.unlink(missing_ok=True)
    with open(place, "xb") as file:
        file.write(Path(source).read_bytes())


def match_bill(lines, directory, bill, run):
    """Returns rows for the lines of the bill that concern this checkout, and adds the reports of machines with the bill."""
    name, *_ = inputs.FILES["bill"]
    put_file(directory, name, bill)
    with scratch() as place:
        report = str(Path(place, "report.json"))
        run("check", ".", "--format", "json", "--output", report)
        add_reports(lines, report)
    months = json.loads(run("reconcile", ".", "--all-months", "--format", "json"))["months"]
    if any("matched" not in month for month in months):
        raise Refused("this gpulint does not list the lines of a bill that match: plan the date with a newer gpulint")
    mine = [it for month in months for it in (*month["matched"], *month["unmatched"]) if it["path"] == name]
    found, known = [it for it in mine if it.get("cause") not in NO_RESOURCE], by_address(lines)
    rows = [{"row": "bill", "line": it["line"], "cause": it.get("cause")} | resource_of(it, known) for it in found]
    return bool(mine), rows


def match_usage(lines, directory, usage, run):
    """Returns rows for the usage metrics that match a resource of this checkout."""
    name, *_ = inputs.FILES["usage"]
    put_file(directory, name, usage)
    report = json.loads(run("usage", "show", ".", "--format", "json")) or {"matched": [], "unmatched": []}
    places = [(it, place) for it in report["matched"] for place in it["rows"]]
    is_read = any(it["path"] == name for it in [*(place for _, place in places), *report["unmatched"]])
    found = [(it, place["line"]) for it, place in places if place["path"] == name]
    known = by_address(lines)
    return is_read, [{"row": "usage", "line": line} | resource_of(it, known) for it, line in found]


def by_address(lines):
    return {(it["address"], it["run"]): it for it in lines if it["row"] == "resource"}


def resource_of(match, known):
    """Returns the resource of a match, as columns of a row."""
    of = {"address": match.get("address"), "run": match.get("run")}
    resource = known.get(tuple(of.values()), {})
    return of | {"path": resource.get("path"), "team": resource.get("team")}


MATCHES = {"bill": match_bill, "usage": match_usage}


def match(store, head, lines, directory, gpulint, seconds):
    """Returns rows about the bill and the usage metrics of the plan, and for each of them whether gpulint read it here."""

    def run(*arguments):
        code, out, err = ask(gpulint, [*arguments, *options_of(store, head, directory)], directory, seconds)
        if code not in (0, 1, 3):
            raise Failed("crashed", err)
        return out

    is_read, rows = {}, []
    for kind, find in MATCHES.items():
        if kind in head and lines[-1]["resources"]:
            is_read[kind], found = find(lines, directory, store.input_path(head[kind]), run)
            rows += found
    return is_read, rows
