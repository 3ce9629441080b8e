#!/usr/bin/env python3
"""Applies every fix to copies of checkouts and says what came of it, a line a repository.

    fixes.py GPULINT CHECKOUTS [NAME…]

A changed file must parse, `terraform fmt` must have nothing new to say about it, only the facts of what was fixed may
differ, the findings must be gone, and a second run must change nothing.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile


def run(arguments, where):
    done = subprocess.run(arguments, cwd=where, capture_output=True, text=True, errors="replace", timeout=900)
    return done.returncode, done.stdout, done.stderr


class Repository:
    def __init__(self, gpulint, path):
        self.gpulint, self.path = gpulint, path

    def call(self, *arguments):
        common = ["--no-config", "--allow-empty", "--today", "2026-11-21", "--prices", "embedded", "--profile", "all"]
        return run([self.gpulint, *arguments, *common], self.path)

    def findings(self):
        _, out, _ = self.call("check", ".", "--format", "json")
        return json.loads(out)["findings"] if out else []

    def facts(self):
        arguments = [self.gpulint, "inspect", ".", "--no-config", "--allow-empty", "--today", "2026-11-21"]
        _, out, _ = run([*arguments, "--prices", "embedded", "--format", "json"], self.path)
        facts = {}
        for it in json.loads(out)["resources"] if out else []:
            facts[(it["path"], it["address"])] = {key: bare(value) for key, value in it.items() if key != "line"}
        return facts


def bare(fact):
    """A fact without the places that move when lines do."""
    if isinstance(fact, dict):
        return {key: bare(value) for key, value in fact.items() if key not in ("line", "column", "origin")}
    return [bare(it) for it in fact] if isinstance(fact, list) else fact


def formatting(path):
    """What `terraform fmt` would change, as lines; None where the file does not parse."""
    code, out, _ = run(["terraform", "fmt", "-check", "-diff", os.path.basename(path)], os.path.dirname(path))
    if code not in (0, 3):
        return None
    return sorted(line for line in out.splitlines() if re.match(r"[-+](?![-+])", line))


def identity(finding):
    return finding["rule"], finding["path"], finding["address"]


def try_one(gpulint, checkout):
    offered = [it for it in Repository(gpulint, checkout).findings() if it["fix_safety"]]
    ready = [it for it in offered if it["fix_declined"] is None]
    row = {"offered": len(offered), "ready": len(ready), "fixed": 0, "files": 0, "wrong": []}
    row["declined"] = [it["fix_declined"] for it in offered if it["fix_declined"]]
    if not ready:
        return row
    with tempfile.TemporaryDirectory(prefix="gpulint-fixes-") as place:
        copy = os.path.join(place, "tree")
        shutil.copytree(checkout, copy, symlinks=True)
        repository = Repository(gpulint, copy)
        before = repository.facts()
        code, _, told = repository.call("check", ".", "--fix", "--unsafe-fixes", "--format", "concise")
        if code not in (0, 1):
            row["wrong"].append(f"exit {code}: {told[:200]}")
            return row
        found = re.search(r"^(\d+) findings? fixed in (\d+)", told, re.M)
        row["fixed"], row["files"] = (int(found.group(1)), int(found.group(2))) if found else (0, 0)
        check_text(row, checkout, copy)
        check_meaning(row, repository, before, ready)
    return row


def check_text(row, checkout, copy):
    _, out, _ = run(["git", "diff", "--no-index", "--name-only", "--no-renames", checkout, copy], copy)
    changed = [line for line in out.splitlines() if line and "/.git/" not in line]
    for path in changed:
        path = path.strip('"')
        name = os.path.relpath("/" + path.lstrip("/"), copy)
        if name.startswith(".."):
            name = os.path.relpath("/" + path.lstrip("/"), checkout)
        if not name.endswith((".tf", ".tfvars")):
            continue
        old, new = formatting(os.path.join(checkout, name)), formatting(os.path.join(copy, name))
        if new is None:
            row["wrong"].append(f"{name} does not parse")
        elif old is not None and len(set(new) - set(old)) > 0:
            row["wrong"].append(f"{name}: terraform fmt says more: {sorted(set(new) - set(old))[:2]}")


def check_meaning(row, repository, before, ready):
    after = repository.facts()
    wished = {(it["path"], it["address"]) for it in ready}
    addresses = {address for _, address in wished}
    for key, facts in before.items():
        if key[1] not in addresses and after.get(key) != facts:
            different = [name for name in facts if (after.get(key) or {}).get(name) != facts[name]]
            # a pod has the price and the purchase of the pool that it runs on
            if set(different) - {"price", "purchase", "machine", "accelerator", "count"}:
                row["wrong"].append(f"{key[1]}: {different}")
    for key in after.keys() - before.keys():
        row["wrong"].append(f"{key[1]} is new")
    left = {identity(it) for it in repository.findings() if it["fix_safety"] and it["fix_declined"] is None}
    row["given_up"] = len(left)
    code, out, _ = repository.call("check", ".", "--diff", "--unsafe-fixes")
    if out.strip():
        row["wrong"].append(f"a second run changes more: {out[:200]}")


def main():
    gpulint, checkouts, *names = sys.argv[1:]
    gpulint = os.path.abspath(gpulint)
    declined, totals = {}, {"offered": 0, "ready": 0, "fixed": 0, "files": 0, "given_up": 0, "wrong": 0}
    print(f"{'repository':45} offered  ready  fixed  files  given up  wrong")
    for name in sorted(names or os.listdir(checkouts)):
        row = try_one(gpulint, os.path.abspath(os.path.join(checkouts, name)))
        for why in row["declined"]:
            why = re.sub(r"`[^`]*`|\d+", "…", why)
            declined[why] = declined.get(why, 0) + 1
        for key in totals:
            value = row.get(key, 0)
            totals[key] += len(value) if isinstance(value, list) else value
        if row["offered"]:
            numbers = f"{row['offered']:7} {row['ready']:6} {row['fixed']:6} {row['files']:6} {row.get('given_up', 0):9}"
            print(f"{name:45} {numbers} {len(row['wrong']):6}", flush=True)
        for wrong in row["wrong"]:
            print(f"    {wrong}")
    print("all:", ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in totals.items()))
    print("why fixes are declined:")
    for why, count in sorted(declined.items(), key=lambda it: -it[1]):
        print(f"{count:6}  {why}")
    return 1 if totals["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
