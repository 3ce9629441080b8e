#!/usr/bin/env python3
"""Compares two builds on the public repositories of `.ci/ecosystem.tsv`, and prints the differences as Markdown.

    ecosystem.py BEFORE AFTER [--checkouts DIRECTORY] [--today 2026-11-21] [--lines 40]

A repository lies in DIRECTORY (target/ecosystem by default) as `owner+name`; one that does not is fetched there at its commit.
It shows and judges nothing: the exit code is 0 unless it was called wrongly.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# No git settings of this machine, no password prompts, and no Git LFS data.
ENVIRONMENT = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "NO_COLOR": "1"}
SECONDS = 300


def checkout(name, commit, directory):
    """Checks out the repository at its commit, or returns why this failed."""
    if directory.exists():
        return None
    directory.mkdir(parents=True)
    for step in (["init", "--quiet"], ["fetch", "--quiet", "--depth", "1", f"https://github.com/{name}", commit], ["checkout", "--quiet", "FETCH_HEAD"]):
        run = subprocess.run(["git", *step], cwd=directory, env=ENVIRONMENT, capture_output=True, text=True)
        if run.returncode:
            subprocess.run(["rm", "-rf", directory], check=True)
            return run.stderr.strip()[-300:]
    return None


def told(binary, directory, today):
    """Returns the report of one build, or why there is none."""
    command = [binary, "check", "--format", "json", "--no-config", "--prices", "embedded", "--today", today, "."]
    try:
        run = subprocess.run(command, cwd=directory, env=ENVIRONMENT, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"took more than {SECONDS} s"
    try:
        return json.loads(run.stdout)
    except ValueError:
        return f"exit code {run.returncode}: {run.stderr.decode(errors='replace').strip()[-300:]}"


def usd(amount):
    return "-" if amount is None else f"${amount:,.0f}"


def sums(report):
    combined = report["bill"]["combined"]
    return f"{usd(combined['floor'])} / {usd(combined['expected'])} / {usd(combined['ceiling'])}"


def finding(it):
    saves = it["saves_usd"] or {}
    money = f", saves {usd(saves['expected'])}" if saves.get("expected") else ""
    return f"{it['rule']} {it['path']}:{it['line']} {it['address'] or ''}: {it['message']} ({it['level']}, {it['confidence']}{money})"


def resource(it):
    """Returns the identity of an entry, and its content."""
    count, price = it["count"] or {}, it["price"]
    month = (price["usd"] or {}).get("expected")
    what = it["machine"] or f"{it['accelerator_count']} {it['accelerator']}"
    known = f"{count.get('floor')}..{count.get('expected')}..{count.get('ceiling')} x {what}, {it['purchase']}, {usd(month)} a {price['per']} ({price['status']}, {it['counted']})"
    return (it["path"], it["address"], it["run"] or "", it["role"]), known


def unjudged(it):
    return f"{it['path']}:{it['line'] or ''} {it['reason']}"


def lists(before, after):
    """Returns the removed and the added lines."""
    gone, came = list(before), []
    for line in after:
        gone.remove(line) if line in gone else came.append(line)
    return gone, came


def moved(before, after):
    """Returns a heading and lines for each part that differs."""
    parts = []
    for name, part, line in (("findings", "findings", finding), ("not judged", "not_judged", unjudged)):
        gone, came = lists(map(line, before[part]), map(line, after[part]))
        # Shows changed entries together.
        lines = sorted([f"- {line}" for line in gone] + [f"+ {line}" for line in came], key=lambda it: (it[2:], it[0]))
        parts.append((name, lines))
    old, new = (dict(map(resource, it["resources"])) for it in (before, after))
    lines = []
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            name = f"{key[0]} {key[1]} [{key[2]}]"
            lines += [f"{mark} {name}: {at[key]}" for mark, at in (("-", old), ("+", new)) if key in at]
    parts.append(("resources", lines))
    return [(name, lines) for name, lines in parts if lines]


def arrow(old, new):
    return str(new) if old == new else f"{old} → **{new}**"


def plain(text):
    """Returns foreign text as a single safe line of a table or a block."""
    return "".join(" " if ord(letter) < 32 else letter for letter in text).replace("`", "'").replace("|", "/")


def row(name, before, after):
    cells = [
        arrow(before["verdict"], after["verdict"]),
        arrow(len(before["findings"]), len(after["findings"])),
        arrow(len(before["resources"]), len(after["resources"])),
        arrow(sums(before), sums(after)),
        arrow(len(before["not_judged"]), len(after["not_judged"])),
    ]
    return f"| {name} | {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--checkouts", type=Path, default=ROOT / "target/ecosystem")
    parser.add_argument("--today", default="2026-11-21")
    parser.add_argument("--lines", type=int, default=40, help="how many lines are shown of each part")
    options = parser.parse_args()
    before, after = options.before.resolve(strict=True), options.after.resolve(strict=True)
    rows, details, same = [], [], 0
    for line in (ROOT / ".ci/ecosystem.tsv").read_text().splitlines()[1:]:
        name, commit = line.split("\t")
        directory = options.checkouts / name.replace("/", "+")
        failed = checkout(name, commit, directory)
        if failed:
            rows.append(f"| {name} | could not be fetched: `{plain(failed)}` | | | | |")
            continue
        one, other = told(before, directory, options.today), told(after, directory, options.today)
        if isinstance(one, str) or isinstance(other, str):
            words = " → ".join(plain(it) if isinstance(it, str) else it["verdict"] for it in (one, other))
            rows.append(f"| {name} | `{words}` | | | | |")
            continue
        rows.append(row(name, one, other))
        parts = moved(one, other)
        same += not parts
        for part, lines in parts:
            shown = [plain(line) for line in lines[: options.lines]]
            rest = [f"… and {len(lines) - len(shown)} lines more"] if len(lines) > len(shown) else []
            details += ["", f"<details><summary>{name}: {len(lines)} lines of {part}</summary>", "", "```diff", *shown, *rest, "```", "</details>"]
    print("### Effect of this change on public repositories\n")
    print(f"Unchanged: {same} of {len(rows)} repositories. Totals are per month: minimum / expected / maximum. Changes are not rated here.\n")
    print("| repository | verdict | findings | resources | totals | not evaluated |\n|---|---|---|---|---|---|")
    print("\n".join(rows + details))


if __name__ == "__main__":
    sys.exit(main())
