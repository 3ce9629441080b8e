#!/usr/bin/env python3
"""Damages files of real repositories at random and checks each with gpulint: no panic, an exit code that is documented, no hang.

    python3 tests/corpus/mutate.py target/debug/gpulint CHECKOUTS [--runs 2000] [--seed 1]

A debug build finds more, because it stops if numbers overflow. Each failure is stored with the command that repeats it.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ENDINGS = {".tf", ".tfvars", ".yaml", ".yml", ".json", ".tpl", ".hcl", ".toml"}
LARGEST = 200_000
SECONDS = 30

# Text that is difficult for parsers: brackets, quotes, template and document markers, invalid UTF-8, large numbers.
PIECES = [b"{", b"}", b"[", b"]", b"(", b'"', b"'", b"${", b"%{", b"{{", b"}}", b"<<EOT\n", b"\n---\n", b"\xff\xfe", b"\x00", b"\xef\xbb\xbf",
          b"\r\n", b"\t", b"&a ", b"*a", b"<<: ", b"!!binary ", b"99999999999999999999", b"-1", b"1e999", b"0x", b"..", b"/*", b"#",
          b"# gpulint: ignore[", b"${each.value}", b"count = 1e18\n", b"nvidia.com/gpu: 1e30", "\u202e".encode(), "\u0130".encode(), b"\\u{0}"]


def main():
    arguments = parse()
    chance = random.Random(arguments.seed)
    files = sorted(path for path in Path(arguments.checkouts).rglob("*")
                   if path.suffix in ENDINGS and ".git" not in path.parts and path.is_file() and not path.is_symlink()
                   and 0 < path.stat().st_size <= LARGEST)
    # Files that request accelerators reach the code after the byte search.
    rich = [path for path in files if b"gpu" in path.read_bytes().lower()]
    codes, wrong = Counter(), []
    for run in range(arguments.runs):
        path = chance.choice(rich if chance.random() < 0.8 else files)
        text = mutated(chance, path.read_bytes())
        with tempfile.TemporaryDirectory() as directory:
            copy = Path(directory) / path.name
            copy.write_bytes(text)
            verdict = check(arguments.gpulint, directory)
            codes[verdict] += 1
            if verdict not in (0, 1, 2, 3):
                kept = Path(tempfile.gettempdir()) / f"gpulint-mutation-{arguments.seed}-{run}"
                shutil.copytree(directory, kept)
                wrong.append((path, verdict, kept))
                print(f"{path}: {verdict}; repeat with: {arguments.gpulint} check --no-config {kept}", flush=True)
    print(f"{arguments.runs} files of {len(files):,} damaged: " + ", ".join(f"exit {code}: {n}" for code, n in sorted(codes.items(), key=str)))
    sys.exit(1 if wrong else 0)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpulint")
    parser.add_argument("checkouts")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def mutated(chance, text):
    for _ in range(chance.randrange(1, 9)):
        at = chance.randrange(len(text) + 1)
        length = min(chance.choice([1, 1, 2, 8, 40, 400]), len(text) - at)
        kind = chance.randrange(5)
        if kind == 0:
            text = text[:at] + text[at + length:]
        elif kind == 1:
            text = text[:at] + bytes(chance.randrange(256) for _ in range(min(length, 8))) + text[at + length:]
        elif kind == 2:
            text = text[:at] + chance.choice(PIECES) + text[at:]
        elif kind == 3:
            text = text[:at] + text[at:at + length] * chance.choice([2, 3, 50]) + text[at + length:]
        else:
            other = chance.randrange(len(text) + 1)
            text = text[:at] + text[other:other + length] + text[at + length:]
    return text


def check(gpulint, directory):
    command = [gpulint, "check", "--no-config", "--prices", "embedded", "--format", "json", "."]
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"no end within {SECONDS} s"
    if b"panicked" in done.stderr:
        return "panic"
    return done.returncode


if __name__ == "__main__":
    main()
