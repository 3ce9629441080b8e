#!/usr/bin/env python3
"""Compares what gpulint counts in random GitOps trees with what Flux and Argo CD apply.

    python3 tests/gitops/compare.py [--trees 200] [--seed 1] PROGRAM

Each tree is applied as a cluster applies it: `kustomize build`, `helm template`, and the libraries of Flux and Argo CD in a
helper that `go build` makes. Each workload must be in the report once, with the same copies and the same GPUs. Prints each
difference. Differences in trees with entries that are not evaluated are counted separately. gpulint counts a file in a folder
that no object applies, because a user may apply it. The exit code is 1 if the report does not mention a difference.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from cluster import Cluster, Libraries
from trees import Tree, put

HERE = pathlib.Path(__file__).resolve().parent
# A partly refused tree proves nothing, so the next seed replaces it.
ATTEMPTS = 20


def found(name):
    beside = pathlib.Path.home() / "go" / "bin" / name
    return shutil.which(name) or (str(beside) if beside.is_file() else None)


def helper(given):
    """Returns the helper with the libraries, and builds it if necessary."""
    if given:
        return given
    if not found("go"):
        return None
    out = HERE.parent.parent / "target" / "gitops-oracle"
    out.parent.mkdir(exist_ok=True)
    built = subprocess.run([found("go"), "build", "-trimpath", "-o", str(out), "."], cwd=HERE / "oracle", capture_output=True, text=True)
    if built.returncode:
        print(built.stderr[-2000:], file=sys.stderr)
        return None
    return str(out)


def skipped(what):
    line = f"GitOps trees: {what}"
    print(f"SKIPPED {line}")
    if noted := os.environ.get("GPULINT_SKIPPED"):
        with open(noted, "a") as file:
            file.write(line + "\n")
    sys.exit(0)


def counted(program, place):
    """What the report counts: kind, namespace and name of each workload, with copies and GPUs; and what it does not judge."""
    arguments = [program, "cost", ".", "--format", "json", "--prices", "embedded", "--no-config", "--today", "2026-11-28"]
    ended = subprocess.run(arguments, cwd=place, capture_output=True, text=True)
    if ended.returncode not in (0, 1):
        raise RuntimeError(ended.stderr)
    said = json.loads(ended.stdout)
    rows = []
    for it in said["resources"]:
        if it.get("counted", "deployed") != "deployed":
            continue
        kind, *namespace, name = it["address"].split("/")
        copies = (it["count"] or {}).get("expected")
        gpus = (it["accelerator_count"] or {}).get("value")
        rows.append(((kind, "/".join(namespace), name), (copies, gpus), it["path"]))
    told = [f"{it['path']}: {it['reason']}" for it in said["not_judged"]]
    return rows, told


def differences(applied, rows, is_by_hand):
    """Each workload that is not counted once as it is applied, and each that is counted and not applied; and how many are
    counted that a person may apply."""
    left = collections.defaultdict(list)
    for (kind, namespace, name), figures, path in rows:
        left[kind, name].append((namespace, figures, path))
    lines = []

    def take(key, wanted):
        kind, namespace, name = key
        for row in left[kind, name]:
            if wanted(row, namespace):
                left[kind, name].remove(row)
                return row
        return None

    same_place = lambda row, namespace: row[0] == namespace
    no_place = lambda row, namespace: row[0] == ""
    waiting = dict(applied)
    for fits in (
        lambda row, namespace, figures: same_place(row, namespace) and row[1] == figures,
        lambda row, namespace, figures: no_place(row, namespace) and row[1] == figures,
        lambda row, namespace, figures: row[1] == figures,
        lambda row, namespace, figures: same_place(row, namespace),
        lambda row, namespace, figures: True,
    ):
        for key, figures in list(waiting.items()):
            row = take(key, lambda row, namespace: fits(row, namespace, figures))
            if row is None:
                continue
            del waiting[key]
            if row[1] != figures:
                lines.append(f"figures: {'/'.join(key)}: {figures[0]} × {figures[1]} GPUs, counted as {row[1][0]} × {row[1][1]}")
            elif row[0] not in ("", key[1]):
                lines.append(f"namespace: {'/'.join(key)}: counted in {row[0]}")
    lines += [f"missing: {'/'.join(key)}: {copies} × {gpus} GPUs" for key, (copies, gpus) in waiting.items()]
    by_hand = 0
    for (kind, name), rows in left.items():
        for namespace, (copies, gpus), path in rows:
            if is_by_hand(path):
                by_hand += 1
            else:
                lines.append(f"extra: {kind}/{namespace}/{name} in {path}: counted as {copies} × {gpus} GPUs")
    return lines, by_hand


def one(seed, options, libraries):
    """The tree of a seed: what is applied, and the differences."""
    for attempt in range(ATTEMPTS):
        tree = Tree(f"{seed}.{attempt}")
        directory = tempfile.TemporaryDirectory()
        with directory as name:
            place = pathlib.Path(name).resolve() / "tree"
            put(tree, place)
            cluster = Cluster(place, libraries, options.kustomize, options.helm)
            cluster.run()
            if cluster.refused or cluster.conflicts:
                if options.verbose:
                    print(f"tree {seed}.{attempt}: not compared: {cluster.refused} {cluster.conflicts}")
                continue
            applied = cluster.workloads()
            rows, told = counted(options.program, place)
            times = sum(cluster.times[key] for key in cluster.objects if key[1:] in applied)
            if options.keep:
                kept = pathlib.Path(options.keep) / str(seed)
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(place, kept, symlinks=True)
            lines, by_hand = differences(applied, rows, cluster.is_by_hand)
            return {"seed": seed, "attempt": attempt, "tree": tree, "applied": applied, "times": times, "told": told, "lines": lines, "by_hand": by_hand}
    raise RuntimeError(f"seed {seed}: no tree that all programs accept in {ATTEMPTS} attempts")


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("program")
    reader.add_argument("--trees", type=int, default=200)
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--kustomize", default=found("kustomize"))
    reader.add_argument("--helm", default=found("helm"))
    reader.add_argument("--oracle", help="the built helper of tests/gitops/oracle")
    reader.add_argument("--keep", help="a directory for the trees")
    reader.add_argument("--verbose", action="store_true")
    options = reader.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    for name in ("kustomize", "helm"):
        if not getattr(options, name):
            skipped(f"{name} is not installed")
    oracle = helper(options.oracle)
    if not oracle:
        skipped("the libraries of Flux and Argo CD cannot be built: Go or its modules are missing")
    seeds = range(options.seed, options.seed + options.trees)

    def share(number, of):
        libraries = Libraries(oracle)
        try:
            return [one(seed, options, libraries) for seed in seeds[number::of]]
        finally:
            libraries.close()

    workers = min(2, len(seeds)) or 1
    with ThreadPoolExecutor(workers) as pool:
        results = [it for part in pool.map(lambda number: share(number, workers), range(workers)) for it in part]
    kinds, features = collections.Counter(), collections.Counter()
    silent = 0
    for it in sorted(results, key=lambda it: it["seed"]):
        features.update(it["tree"].features)
        for line in it["lines"]:
            kinds[line.split(":")[0]] += 1
        if not it["lines"]:
            continue
        is_told = bool(it["told"])
        silent += 0 if is_told else len(it["lines"])
        print(f"tree {it['seed']} ({', '.join(sorted(it['tree'].features))})")
        for line in it["lines"]:
            print(f"  {line}")
        for line in it["told"]:
            print(f"  told: {line}")
    objects = sum(len(it["applied"]) for it in results)
    times = sum(it["times"] for it in results)
    gpus = sum(copies * each for it in results for copies, each in it["applied"].values())
    again = sum(it["attempt"] for it in results)
    print("shapes: " + ", ".join(f"{name} {count}" for name, count in sorted(features.items())))
    print(f"{len(results)} trees, {objects} workloads with {gpus} GPUs, applied {times} times; {again} trees were refused and replaced")
    print(f"{sum(it['by_hand'] for it in results)} workloads in folders that nothing applies are counted as applied by hand")
    print(f"{sum(kinds.values())} differences: " + (", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())) or "none") + f"; {silent} in trees of which the report names nothing")
    sys.exit(1 if silent else 0)


if __name__ == "__main__":
    main()
