#!/usr/bin/env python3
"""Applies every fix to copies of checkouts, and prints the result, one line per repository.

    fixes.py GPULINT CHECKOUTS [NAME…] [--diffs DIR] [--sample N] [--seed N]

Independent programs check the results where possible. `terraform fmt` must report nothing new about a changed file. PyYAML
reads each manifest before and after, and the documents may differ only at the keys of the fix. In every resource, only facts
may differ that fixes of its own findings or of linked resources change. The findings must disappear, and a second run must
change nothing.

Needs terraform, git and PyYAML. `--diffs` stores the diffs, and `--sample` prints this many random parts of them.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

RULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "rules")

# Facts that change together with another fact.
FOLLOWS = {
    "purchase": {"price"},
    "floor": {"count", "price"},
    "machine": {"accelerator", "accelerator_count", "price", "facts.cpus", "facts.memory_gib"},
    "accelerator_count": {"price"},
    "idle_minutes": {"price"},
    "precision": {"price"},
    "time_limit_seconds": {"price"},
    # A cluster that no longer stays idle gets a time limit in the next round.
    "lingers": {"facts.ttl_seconds"},
}

# Manifest keys at which a fact can be written.
KEYS = {
    "purchase": r"nodeSelector|tolerations|capacity-type|requirements|spot",
    "floor": r"[mM]in|replicas",
    "time_limit_seconds": r"activeDeadlineSeconds|[tT]imeout|maxRunTime|maximumExecutionTime",
    "ttl_seconds": r"ttlSecondsAfterFinished|ttlStrategy",
    "retries": r"backoffLimit|[rR]etr|maxRestarts|limit",
    "shared_memory": r"volumeMounts|volumes",
    "precision": r"args|command",
    "batch_size": r"args|command",
    "prefix_cache": r"args|command",
    "accelerator_count": r"limits|requests",
    "lingers": r"shutdownAfterJobFinishes",
    "cooldown_seconds": r"cooldownPeriod|scaleDown|stabilization|[dD]elay|[rR]etention",
    "labels": r"metadata\.labels",
}


class Loader(yaml.CSafeLoader):
    """Loads unknown tags as null."""


Loader.add_multi_constructor("!", lambda loader, suffix, node: None)
Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: node.value)
Loader.add_constructor("tag:yaml.org,2002:value", lambda loader, node: node.value)


def wished():
    """Returns the facts that the fix of each rule changes."""
    parts = {}
    for name in os.listdir(RULES):
        front = yaml.safe_load(open(os.path.join(RULES, name)).read().split("---\n")[1])
        fix = front.get("fix")
        if fix:
            unset = fix.get("unset", [])
            unset = [unset] if isinstance(unset, str) else unset
            parts[front["name"]] = {*fix.get("set", {}), *unset, *fix.get("add", {})}
    return parts


WISHED = wished()


def intended(rule):
    """The fields of a resource that may differ once a finding of a rule is fixed."""
    fields = set()
    for part in WISHED[rule]:
        fields |= {part, f"facts.{part}"} | FOLLOWS.get(part, set())
    return fields


def run(arguments, where):
    done = subprocess.run(arguments, cwd=where, capture_output=True, text=True, errors="replace", timeout=900)
    return done.returncode, done.stdout, done.stderr


class Repository:
    COMMON = ["--no-config", "--allow-empty", "--today", "2026-11-21", "--prices", "embedded"]

    def __init__(self, gpulint, path):
        self.gpulint, self.path = gpulint, path

    def check(self, *arguments):
        return run([self.gpulint, "check", ".", "--profile", "all", *arguments, *self.COMMON], self.path)

    def findings(self):
        _, out, _ = self.check("--format", "json")
        return json.loads(out)["findings"] if out else []

    def facts(self):
        """Returns the fields of each resource. Several resources may have the same address."""
        _, out, _ = run([self.gpulint, "inspect", ".", *self.COMMON, "--format", "json"], self.path)
        facts = {}
        for it in json.loads(out)["resources"] if out else []:
            fields = {name: bare(value) for name, value in it.items() if name not in ("line", "facts")}
            fields |= {f"facts.{name}": bare(value) for name, value in it["facts"].items()}
            facts.setdefault((it["path"], it["address"]), []).append(fields)
        return facts


def bare(fact):
    """Returns a fact without line positions."""
    if isinstance(fact, dict):
        return {key: bare(value) for key, value in fact.items() if key not in ("line", "column", "origin", "reason")}
    return [bare(it) for it in fact] if isinstance(fact, list) else fact


def formatting(path):
    """What `terraform fmt` would change, as lines; None where the file does not parse."""
    code, out, _ = run(["terraform", "fmt", "-check", "-diff", os.path.basename(path)], os.path.dirname(path))
    if code not in (0, 3):
        return None
    return sorted(line for line in out.splitlines() if re.match(r"[-+](?![-+])", line))


def documents(path):
    """The documents of a file, as PyYAML reads them; None where it does not."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return list(yaml.load_all(file.read(), Loader))
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, TypeError):
        return None


def differences(old, new, path=""):
    """The paths at which two values differ."""
    if type(old) is type(new) is dict:
        for key in [*old, *(key for key in new if key not in old)]:
            if key not in old and type(new[key]) is dict:
                yield from differences({}, new[key], f"{path}.{key}")
            elif key not in old or key not in new:
                yield f"{path}.{key}"
            else:
                yield from differences(old[key], new[key], f"{path}.{key}")
    elif type(old) is type(new) is list and len(old) == len(new):
        for at, (one, other) in enumerate(zip(old, new)):
            yield from differences(one, other, f"{path}[{at}]")
    elif type(old) is type(new) is str and new == old + "\n":
        return  # a text in a block at the end of a file gets the line end that it lacked
    elif old != new or type(old) is not type(new):
        yield path


def identity(finding):
    return finding["rule"], finding["path"], finding["address"]


def try_one(gpulint, checkout, keep):
    offered = [it for it in Repository(gpulint, checkout).findings() if it["fix_safety"]]
    ready = [it for it in offered if it["fix_declined"] is None and it["fix_safety"] != "display"]
    row = {"offered": len(offered), "ready": len(ready), "fixed": 0, "files": 0, "yaml": 0, "templates": 0, "wrong": []}
    row["shown"] = sum(1 for it in offered if it["fix_declined"] is None and it["fix_safety"] == "display")
    row["declined"] = [(it["rule"], it["fix_declined"]) for it in offered if it["fix_declined"]]
    if not ready:
        return row
    with tempfile.TemporaryDirectory(prefix="gpulint-fixes-") as place:
        copy = os.path.join(place, "tree")
        shutil.copytree(checkout, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        repository = Repository(gpulint, copy)
        before, findings = repository.facts(), repository.findings()
        code, _, told = repository.check("--fix", "--unsafe-fixes", "--format", "concise")
        if code not in (0, 1):
            row["wrong"].append(f"exit {code}: {told[:200]}")
            return row
        found = re.search(r"^(\d+) findings? fixed in (\d+)", told, re.M)
        row["fixed"], row["files"] = (int(found.group(1)), int(found.group(2))) if found else (0, 0)
        changed = changed_files(checkout, copy)
        if len(changed) != row["files"]:
            row["wrong"].append(f"{row['files']} files are told, and {len(changed)} changed")
        after = repository.findings()
        row["gone"] = gone(row, findings, after)
        check_text(row, checkout, copy, changed, row["gone"])
        check_meaning(row, repository, before, row["gone"])
        if keep:
            _, out, _ = run(["diff", "-ruN", "--no-dereference", "-x", ".git", checkout, copy], place)
            out = re.sub(r"^diff .*\n", "", out.replace(checkout, "a").replace(copy, "b"), flags=re.M)
            with open(os.path.join(keep, os.path.basename(checkout) + ".diff"), "w") as file:
                file.write(out)
    return row


def gone(row, before, after):
    """Returns the fixed findings. A remaining fixable finding is an error."""
    ready = [it for it in before if it["fix_safety"] in ("safe", "unsafe") and it["fix_declined"] is None]
    left = {identity(it) for it in after}
    still = [it for it in after if it["fix_safety"] in ("safe", "unsafe") and it["fix_declined"] is None]
    row["given_up"] = len(still)
    known = {identity(it) for it in before}
    row["new"] = [it["rule"] for it in after if identity(it) not in known]
    return [it for it in ready if identity(it) not in left]


def changed_files(checkout, copy):
    _, out, _ = run(["diff", "-rq", "--no-dereference", "-x", ".git", checkout, copy], copy)
    found = re.findall(r"^Files .* and (.*) differ$", out, re.M)
    other = [line for line in out.splitlines() if not line.startswith("Files ")]
    return sorted(os.path.relpath(path, copy) for path in found) + other


def check_text(row, checkout, copy, changed, fixed):
    for name in changed:
        old, new = os.path.join(checkout, name), os.path.join(copy, name)
        if name.endswith((".tf", ".tfvars")):
            was, now = formatting(old), formatting(new)
            if now is None:
                row["wrong"].append(f"{name} does not parse")
            elif was is not None and len(set(now) - set(was)) > 0:
                row["wrong"].append(f"{name}: terraform fmt says more: {sorted(set(now) - set(was))[:2]}")
        elif name.endswith((".yaml", ".yml", ".json")):
            check_yaml(row, name, documents(old), documents(new), fixed)


def check_yaml(row, name, was, now, fixed):
    if was is None:
        row["templates"] += 1
        if now is not None:
            row["wrong"].append(f"{name}: PyYAML reads it only now")
        return
    row["yaml"] += 1
    if now is None or len(was) != len(now):
        row["wrong"].append(f"{name}: {len(was)} documents became {'none' if now is None else len(now)}")
        return
    parts = set().union(*(WISHED[it["rule"]] for it in fixed))
    allowed = re.compile("|".join(KEYS[part] for part in parts if part in KEYS) or "nothing")
    paths = [path for one, other in zip(was, now) for path in differences(one, other)]
    if not paths:
        row["wrong"].append(f"{name}: changed, and says the same")
    row["wrong"] += [f"{name}: {path} differs" for path in paths if not allowed.search(path)]


def check_meaning(row, repository, before, fixed):
    after = repository.facts()
    allowed = {}
    for it in fixed:
        allowed.setdefault(it["address"], set()).update(intended(it["rule"]))
    direct = {address: set(fields) for address, fields in allowed.items()}
    for (_, address), resources in before.items():
        for link in (link for fields in resources for link in fields["links"]):
            # A pod has the price and the way of buying of its pool, and an autoscaled one has the pool's minimum.
            allowed.setdefault(address, set()).update(direct.get(link["to"], set()))
            if link["to"] in {key[1] for key in before}:
                allowed.setdefault(link["to"], set()).update(direct.get(address, set()))
    for key in before.keys() ^ after.keys():
        row["wrong"].append(f"{key[1]} is {'gone' if key in before else 'new'}")
    for key in before.keys() & after.keys():
        if len(before[key]) != len(after[key]):
            row["wrong"].append(f"{key[1]}: {len(before[key])} became {len(after[key])}")
        for one, other in zip(before[key], after[key]):
            different = {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}
            surprising = different - allowed.get(key[1], set())
            row["wrong"] += [f"{key[1]}: {name}: {one.get(name)} became {other.get(name)}"[:300] for name in sorted(surprising)]
    _, out, _ = repository.check("--diff", "--unsafe-fixes")
    if out.strip():
        row["wrong"].append(f"a second run changes more: {out[:200]}")


COLUMNS = ["offered", "shown", "ready", "fixed", "files", "yaml", "templates", "given_up", "wrong"]


def numbers(row):
    value = {key: len(row[key]) if isinstance(row.get(key), list) else row.get(key, 0) for key in COLUMNS}
    return value


def sample(directory, number, seed):
    """Returns a random sample of diff parts, each with its file."""
    parts = []
    for name in sorted(os.listdir(directory)):
        file = ""
        for piece in re.split(r"(?=^@@ |^--- )", open(os.path.join(directory, name), newline="").read(), flags=re.M):
            if piece.startswith("--- "):
                file = piece.splitlines()[0]
            elif piece.startswith("@@ "):
                parts.append(f"{name[:-5]} {file}\n{piece}")
    print(f"{len(parts)} parts of diffs")
    for number, part in enumerate(random.Random(seed).sample(parts, min(number, len(parts))), 1):
        print(f"\n=== {number}. {part}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpulint")
    parser.add_argument("checkouts")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--diffs")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=11)
    asked = parser.parse_args()
    gpulint = os.path.abspath(asked.gpulint)
    if asked.diffs:
        os.makedirs(asked.diffs, exist_ok=True)
    declined, by_rule, new = {}, {}, {}
    totals = dict.fromkeys(COLUMNS, 0)
    print(f"{'repository':45}" + "".join(f"{column.replace('_', ' '):>10}" for column in COLUMNS))
    for name in sorted(asked.names or os.listdir(asked.checkouts)):
        row = try_one(gpulint, os.path.abspath(os.path.join(asked.checkouts, name)), asked.diffs)
        for _, why in row["declined"]:
            why = re.sub(r"`[^`]*`|\d+", "…", why)
            declined[why] = declined.get(why, 0) + 1
        for it in row.get("gone", []):
            by_rule[it["rule"]] = by_rule.get(it["rule"], 0) + 1
        for rule in row.get("new", []):
            new[rule] = new.get(rule, 0) + 1
        for key, value in numbers(row).items():
            totals[key] += value
        if row["offered"]:
            print(f"{name:45}" + "".join(f"{value:10}" for value in numbers(row).values()), flush=True)
        for wrong in row["wrong"]:
            print(f"    {wrong}")
    print(f"{'all':45}" + "".join(f"{value:10}" for value in totals.values()))
    for title, counts in [("findings that are gone", by_rule), ("findings that came", new), ("why fixes are declined", declined)]:
        print(f"{title}:")
        for what, count in sorted(counts.items(), key=lambda it: (-it[1], it[0])):
            print(f"{count:6}  {what}")
    if asked.diffs and asked.sample:
        sample(asked.diffs, asked.sample, asked.seed)
    return 1 if totals["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
