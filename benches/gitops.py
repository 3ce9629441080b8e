#!/usr/bin/env python3
"""Measures gpulint, ripgrep, helm and kustomize over GitOps repositories, in one session, and prints Markdown.

    cargo build --release
    python3 benches/gitops.py target/release/gpulint CHECKOUT... [--rounds 5] [--renders 1]

The programs run in turn, so that other load affects all of them. `gpulint check` renders all charts and overlays of a
repository in one run. `helm template` renders each chart, and `kustomize build` each kustomization, in a process of its
own. If a program is not installed, its columns stay empty. No program may use the network, so charts and overlays with
remote parts fail. The table counts the charts and overlays that the real programs rendered.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from whole import WORDS, milliseconds, run, size_of

CHECK = ["check", "--no-config", "--allow-empty", "--prices", "embedded", "--format", "json", "."]
GREP = ["rg", "--count", "--no-messages", "--hidden", "--ignore-case", "--glob", "*.{tf,tfvars,yaml,yml,json,tpl}", WORDS, "."]
OVERLAYS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
# A closed port as the proxy makes every download fail at once.
OFFLINE = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9", "GIT_TERMINAL_PROMPT": "0"}


def main():
    arguments = parse()
    gpulint = str(Path(arguments.gpulint).resolve())
    if not shutil.which("rg"):
        sys.exit("ripgrep (rg) is not installed: it is what runs are compared with")
    print("| repository | files | gpulint, median | ripgrep, median | ratio | charts rendered | helm, median | kustomizations built | kustomize, median |")
    print("|---|---|---|---|---|---|---|---|---|")
    ratios = []
    for checkout in arguments.checkouts:
        ratios.append(measure(gpulint, Path(checkout).resolve(), arguments))
    print(f"\nratio to ripgrep: median {statistics.median(ratios):.2f}, highest {max(ratios):.2f}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpulint", help="the program, built for release")
    parser.add_argument("checkouts", nargs="+", help="directories of GitOps repositories")
    parser.add_argument("--rounds", type=int, default=5, help="how often gpulint and ripgrep run (default: 5)")
    parser.add_argument("--renders", type=int, default=1, help="in how many of these rounds helm and kustomize run (default: 1)")
    return parser.parse_args()


def measure(gpulint, checkout, arguments):
    """Prints one row, and returns the ratio of gpulint's median to the one of ripgrep."""
    charts = folders(checkout, ("Chart.yaml",))
    overlays = folders(checkout, OVERLAYS)
    ours, theirs, helm, kustomize = [], [], [], []
    for turn in range(arguments.rounds + 1):
        check_seconds, _ = run([gpulint, *CHECK], checkout, {0, 1})
        grep_seconds, _ = run(GREP, checkout, {0, 1})
        if turn == 0:  # the first fills the cache of the file system
            continue
        ours.append(check_seconds)
        theirs.append(grep_seconds)
        if turn <= arguments.renders:
            helm.append(render_all(["helm", "template"], charts))
            kustomize.append(render_all(["kustomize", "build"], overlays))
    ratio = statistics.median(ours) / statistics.median(theirs)
    files, _ = size_of(checkout)
    cells = [checkout.name, f"{files:,}", milliseconds(statistics.median(ours)), milliseconds(statistics.median(theirs)), f"{ratio:.2f}",
             *cells_of("helm", helm, charts), *cells_of("kustomize", kustomize, overlays)]
    print(f"| {' | '.join(cells)} |", flush=True)
    return ratio


def folders(checkout, names):
    """Returns the folders that contain a file of one of these names, sorted."""
    return sorted({path.parent for name in names for path in checkout.rglob(name) if ".git" not in path.parts})


def render_all(command, directories):
    """Returns the time for all directories, one process for each, and how many of them succeeded."""
    if not shutil.which(command[0]):
        return 0.0, 0
    start = time.perf_counter()
    succeeded = sum(renders([*command, str(directory)]) for directory in directories)
    return time.perf_counter() - start, succeeded


def renders(command):
    try:
        return subprocess.run(command, env={**os.environ, **OFFLINE}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def cells_of(program, runs, directories):
    if not shutil.which(program) or not directories or not runs:
        return [f"of {len(directories)}", ""]
    return [f"{runs[-1][1]} of {len(directories)}", milliseconds(statistics.median(seconds for seconds, _ in runs))]


if __name__ == "__main__":
    main()
