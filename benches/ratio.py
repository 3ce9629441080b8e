#!/usr/bin/env python3
"""Compares two builds of gpulint on the same machine, and prints Markdown.

    python3 benches/ratio.py OLD NEW [--rounds 9] [--files 5000]

Both programs run in turn on the same files, so that other load affects both. The result is the ratio of the medians: above
1, the new program is slower.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import whole

OPTIONS = ["--no-config", "--allow-empty", "--prices", "embedded"]
CHANGED = "live/root-1/part-0.tf"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--files", type=int, default=5000)
    arguments = parser.parse_args()
    programs = [str(arguments.old.resolve()), str(arguments.new.resolve())]
    print("| run | before | after | ratio | memory before | memory after |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="gpulint-ratio-") as directory:
        base = Path(directory)
        for name, command, tree, rounds in runs(base, arguments):
            compare(name, command, tree, programs, rounds, base)


def runs(base, arguments):
    """Yields the name, the arguments, the directory and the rounds of each run."""
    examples = Path(__file__).parent.parent / "examples"
    small = base / "small"
    shutil.copytree(examples / "notebooks-gcp", small)
    check = ["check", *OPTIONS, "."]
    yield "`--version`", ["--version"], small, arguments.rounds * 4
    yield "one small root", check, small, arguments.rounds * 4
    yield "all examples", check, examples, arguments.rounds * 2
    tree = base / "monorepo"
    whole.generate(tree, arguments.files)
    commit(tree)
    yield f"monorepo of {arguments.files:,} files", check, tree, arguments.rounds
    yield "its `diff --base HEAD`", ["diff", "--base", "HEAD", *OPTIONS, "."], tree, arguments.rounds
    yield "its hook", ["diff", "--staged", *OPTIONS, "."], tree, arguments.rounds


def commit(tree):
    """Commits all files and stages a change of one of them."""
    git = ["git", "-C", str(tree), "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "gc.auto=0"]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "all"]):
        subprocess.run(git + command, check=True)
    with (tree / CHANGED).open("a") as file:
        file.write('\nresource "aws_instance" "changed" {\n  instance_type = "g5.xlarge"\n}\n')
    subprocess.run([*git, "add", CHANGED], check=True)


def compare(name, command, tree, programs, rounds, base):
    times, memory = ([], []), [0, 0]
    for turn in range(rounds + 1):
        for which, program in enumerate(programs):
            cache = {"GPULINT_CACHE_DIR": str(base / f"cache-{which}")}
            seconds, peak = whole.run([program, *command], tree, {0, 1}, cache)
            if turn > 0:  # the first fills the caches
                times[which].append(seconds)
                memory[which] = max(memory[which], peak)
    before, after = (statistics.median(each) for each in times)
    print(f"| {name} | {whole.milliseconds(before)} | {whole.milliseconds(after)} | {after / before:.2f} "
          f"| {memory[0] / 1024:.0f} MiB | {memory[1] / 1024:.0f} MiB |")


if __name__ == "__main__":
    sys.exit(main())
