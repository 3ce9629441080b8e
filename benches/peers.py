#!/usr/bin/env python3
"""Measures other checkers of Terraform and Kubernetes files, gpulint and ripgrep, and prints Markdown.

    python3 benches/peers.py target/release/gpulint DIRECTORY [DIRECTORY …] [--rounds 3] [--limit 300]

Peers are taken where they are found on the path, each as its own documentation runs it over a directory; none is fetched.
They look for other things than gpulint does, so that the times say what a check costs beside others in one pipeline, not
which is better. `--limit` ends a run after so many seconds.
"""

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

WORDS = r"nvidia\.com/|accelerator|gpu"

# Name, command that prints the version, and command that runs it in a directory without a network.
PEERS = [
    ("rg", ["rg", "--version"], ["rg", "--count", "--no-messages", "--hidden", "--ignore-case", WORDS, "."]),
    ("terraform fmt", ["terraform", "version"], ["terraform", "fmt", "-check", "-recursive", "-list=false"]),
    ("tflint", ["tflint", "--version"], ["tflint", "--recursive", "--format", "compact"]),
    ("conftest", ["conftest", "--version"], ["conftest", "test", "--policy", "{policy}", "--no-fail", "."]),
    ("kube-linter", ["kube-linter", "version"], ["kube-linter", "lint", "."]),
    ("trivy", ["trivy", "--version"], ["trivy", "config", "--skip-check-update", "--quiet", "."]),
    ("infracost", ["infracost", "--version"], ["infracost", "breakdown", "--path", "."]),
    ("checkov", ["checkov", "--version"], ["checkov", "--directory", ".", "--compact", "--quiet", "--skip-download",
                                           "--framework", "terraform", "kubernetes"]),
]

STOPPED = "stopped"

# A conftest policy for pods that request accelerators.
POLICY = """package main

import rego.v1

warn contains message if {
	some container in input.spec.template.spec.containers
	container.resources.limits["nvidia.com/gpu"]
	message := "asks for accelerators"
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpulint")
    parser.add_argument("directories", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300)
    arguments = parser.parse_args()
    gpulint = str(Path(arguments.gpulint).resolve())
    check = [gpulint, "check", "--no-config", "--allow-empty", "--prices", "embedded", "--format", "json", "."]
    programs = [("gpulint", [gpulint, "--version"], check), *PEERS]
    missing = [name for name, version, _ in programs if not shutil.which(version[0])]
    programs = [program for program in programs if program[0] not in missing]
    print("| directory | program | version | exit | median | of gpulint | lines printed |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as policy:
        Path(policy, "gpu.rego").write_text(POLICY, encoding="utf-8")
        for directory in arguments.directories:
            measure(programs, directory, policy, arguments)
    if missing:
        print(f"\nNot installed: {', '.join(missing)}.")


def measure(programs, directory, policy, arguments):
    times = {name: [] for name, _, _ in programs}
    ends = {}
    for _ in range(arguments.rounds):
        for name, _, command in programs:
            if ends.get(name, ("",))[0] == STOPPED:
                continue
            command = [word.replace("{policy}", policy) for word in command]
            seconds, end, lines = run(command, directory, arguments.limit)
            times[name].append(seconds)
            ends[name] = (end, lines)
    ours = statistics.median(times["gpulint"])
    for name, version, _ in programs:
        end, lines = ends[name]
        at_least = "> " if end == STOPPED else ""
        median = max(times[name]) if end == STOPPED else statistics.median(times[name])
        print(f"| {Path(directory).name} | {name} | {said(version)} | {end} | {at_least}{median:.3f} s "
              f"| {at_least}{median / ours:.1f} | {lines:,} |", flush=True)


def run(command, directory, limit):
    environment = {**os.environ, "TF_CLI_CONFIG_FILE": os.devnull, "NO_COLOR": "1"}
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=directory, stdout=output, stderr=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL, env=environment, start_new_session=True)
        try:
            end = str(process.wait(timeout=limit))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # and whom it started
            process.wait()
            end = STOPPED
        seconds = time.perf_counter() - start
        output.seek(0)
        return seconds, end, sum(1 for _ in output)


def said(command):
    answer = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    words = (answer.stdout or answer.stderr).replace("v", " ").split()
    return next((word for word in words if word[:1].isdigit() and "." in word), "?")


if __name__ == "__main__":
    main()
