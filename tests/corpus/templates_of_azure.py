#!/usr/bin/env python3
"""Compares gpulint's reading of Bicep files with the output of the Bicep compiler.

Usage: templates_of_azure.py DIRECTORY

DIRECTORY has pairs of `NAME.bicep` and `NAME.json` (a checkout of github.com/Azure/bicep has some under `src/Bicep.Core.Samples/Files`). Both are worked
out; each resource of one is looked up in the other by its type and name, and their properties and the outputs of both are compared where both are known.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
COMMAND = ["cargo", "test", "--quiet", "--lib", "azure::tests::templates_of_a_directory", "--", "--nocapture"]


def evaluated(directory):
    run = subprocess.run(COMMAND, cwd=REPOSITORY, env={**os.environ, "AZURE_TEMPLATES": directory}, capture_output=True, text=True)
    found = {}
    for line in run.stdout.splitlines():
        start = line.find('{"path"')
        if start >= 0:
            one = json.loads(line[start:])
            found[one["path"]] = one
    return found


def compare(one, other, where, tally, shown):
    if isinstance(one, dict) and "?" in one or isinstance(other, dict) and "?" in other:
        tally["not known to one of both"] += 1
    elif isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() & other.keys():
            compare(one[key], other[key], f"{where}.{key}", tally, shown)
        tally["members that only one has"] += len([key for key in one.keys() ^ other.keys() if key not in ("parent", "scope", "dependsOn", "params")])
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, pair in enumerate(zip(one, other)):
            compare(*pair, f"{where}[{place}]", tally, shown)
    elif one == other:
        tally["same"] += 1
    else:
        tally["differ"] += 1
        shown.append(f"{where}: {json.dumps(one)[:120]} and {json.dumps(other)[:120]}")


def by_name(side):
    named = collections.defaultdict(list)
    for it in side["resources"]:
        if isinstance(it["properties"].get("name"), str):
            named[it["type"].lower(), it["properties"]["name"]].append(it)
    return {key: all[0] for key, all in named.items() if len(all) == 1}


def main(directory):
    all, tally, shown = evaluated(directory), collections.Counter(), []
    for path, one in sorted(all.items()):
        if not path.endswith(".bicep"):
            continue
        tally["files of Bicep"] += 1
        if one["refused"]:
            tally["refused"] += 1
            shown.append(f"{path}: {one['refused'][0]}")
        other = all.get(path[: -len(".bicep")] + ".json")
        if other is None:
            continue
        tally["pairs"] += 1
        ours, theirs = by_name(one), by_name(other)
        for key in ours.keys() & theirs.keys():
            tally["resources"] += 1
            compare(ours[key]["properties"], theirs[key]["properties"], f"{path} {key[1]}", tally, shown)
            compare(ours[key]["there"], theirs[key]["there"], f"{path} {key[1]} there", tally, shown)
        compare(one["outputs"], other["outputs"], f"{path} outputs", tally, shown)
    for line in shown:
        print(line)
    for name, count in tally.items():
        print(f"{count:6} {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
