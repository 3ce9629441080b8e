#!/usr/bin/env python3
"""Changes checkouts at random, and compares `diff` with two complete runs, and a hook with the complete run on its files.

    changes.py GPULINT CHECKOUTS... [--count 200] [--seed 1]

Each change edits one file of one repository: a number, a machine, a removed line, a repeated block, a removed
file. `diff --base COMMIT` must have the totals of `cost` on both sides; `check -- FILE` must have the findings that `check`
has at that file, and no other at it.
"""
import argparse
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

TEXT = re.compile(r"\.(tf|tfvars|ya?ml|hcl|tpl)$")
MACHINES = ["p5.48xlarge", "g5.xlarge", "g4dn.12xlarge", "a2-highgpu-4g", "Standard_NC24ads_A100_v4"]
ENVIRONMENT = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "NO_COLOR": "1"}
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]


def run(*command, cwd):
    return subprocess.run(command, cwd=cwd, capture_output=True, env=ENVIRONMENT, timeout=300)


def told(gpulint, verb, *rest, cwd):
    options = ["--format", "json", "--no-config", "--prices", "embedded", "--today", "2026-11-22"]
    done = run(gpulint, verb, *options, *rest, cwd=cwd)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"failed": done.stderr.decode(errors="replace")[-300:]}


def edit(pick, text):
    """Returns a changed text, with a description of the change."""
    lines = text.splitlines(keepends=True)
    what = pick.choice(["number", "number", "machine", "drop", "twice", "gone"])
    if what == "gone":
        return None, what
    numbers = [at for at, line in enumerate(lines) if re.search(r"[:=] *\"?\d+\"?\s*$", line)]
    if what == "number" and numbers:
        at = pick.choice(numbers)
        lines[at] = re.sub(r"\d+(?=\"?\s*$)", lambda it: str(int(it[0]) * 2 + 1), lines[at])
        return "".join(lines), f"number in line {at + 1}"
    machines = [at for at, line in enumerate(lines) if re.search(r"[gp]\d\w*\.\d*x?\w+|a[23]-\w+-\d+g|Standard_N\w+", line)]
    if what == "machine" and machines:
        at = pick.choice(machines)
        lines[at] = re.sub(r"[gp]\d\w*\.\d*x?\w+|a[23]-\w+-\d+g|Standard_N\w+", pick.choice(MACHINES), lines[at])
        return "".join(lines), f"machine in line {at + 1}"
    at = pick.randrange(len(lines))
    if what == "twice":
        until = min(len(lines), at + pick.randint(1, 12))
        return "".join(lines[:until] + lines[at:]), f"lines {at + 1} to {until} twice"
    return "".join(lines[:at] + lines[at + 1 :]), f"line {at + 1} gone"


def sums(bill):
    return {role: [round(bill[role][end], 2) for end in ("floor", "expected", "ceiling")] for role in ("rented", "requested")}


def findings(report, path):
    at = [it for it in report.get("findings", []) if it["path"] == path]
    return collections.Counter((it["rule"], it["line"], it.get("address")) for it in at)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpulint")
    parser.add_argument("checkouts", nargs="+")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    pick = random.Random(given.seed)
    repositories = [os.path.join(top, name) for top in given.checkouts for name in sorted(os.listdir(top))]
    wrong = done = 0
    while done < given.count:
        repository = pick.choice(repositories)
        tracked = [os.path.join(at, name) for at, _, names in os.walk(repository) for name in names if "/.git" not in at]
        if len(tracked) > 4000:
            continue
        asks = re.compile(rb"gpu|accelerator|p[345]\.|g[56]\.|H100|A100", re.I)
        matters = [it for it in tracked if TEXT.search(it) and os.path.isfile(it) and not os.path.islink(it)]
        matters = [it for it in sorted(matters) if asks.search(open(it, "rb").read(200_000))]
        if not matters:
            continue
        path = os.path.relpath(pick.choice(matters), repository)
        with tempfile.TemporaryDirectory() as folder:
            here = os.path.join(folder, "work")
            shutil.copytree(repository, here, symlinks=True, ignore=shutil.ignore_patterns(".git"))
            try:
                text = open(os.path.join(here, path), encoding="utf-8").read()
            except UnicodeDecodeError:
                continue
            changed, what = edit(pick, text)
            run(*GIT, "init", "--quiet", "--initial-branch=main", cwd=here)
            run(*GIT, "add", "--all", "--force", cwd=here)
            run(*GIT, "commit", "--quiet", "--no-verify", "-m", "base", cwd=here)
            base = run("git", "rev-parse", "HEAD", cwd=here).stdout.decode().strip()
            before = told(given.gpulint, "cost", ".", cwd=here)
            if changed is None:
                os.unlink(os.path.join(here, path))
            else:
                open(os.path.join(here, path), "w", encoding="utf-8").write(changed)
            after, check = told(given.gpulint, "cost", ".", cwd=here), told(given.gpulint, "check", ".", cwd=here)
            diff = told(given.gpulint, "diff", "--base", base, ".", cwd=here)
            done += 1
            faults = []
            if "cost" not in diff or "bill" not in before or "bill" not in after:
                faults.append(f"no report: {[it.get('failed') for it in (diff, before, after)]}")
            else:
                for side, whole in (("before", before), ("after", after)):
                    says = {role: diff["cost"][role][side] for role in ("rented", "requested")}
                    if sums(says) != sums(whole["bill"]):
                        faults.append(f"{side}: diff {sums(says)}, cost {sums(whole['bill'])}")
            if changed is not None:
                hook = told(given.gpulint, "check", "--allow-empty", "--", path, cwd=here)
                if "findings" not in hook:
                    faults.append(f"hook: {hook.get('failed')}")
                elif findings(hook, path) != findings(check, path):
                    more = findings(hook, path) - findings(check, path)
                    less = findings(check, path) - findings(hook, path)
                    faults.append(f"hook: more {dict(more)}, less {dict(less)}")
            if faults:
                wrong += 1
                print(f"{os.path.basename(repository)} {path} ({what}):\n  " + "\n  ".join(faults), flush=True)
    print(f"{given.count} changes, {wrong} not equal")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
