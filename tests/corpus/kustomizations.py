#!/usr/bin/env python3
"""Compares gpulint and kustomize (without network) on every kustomization in checkouts.

usage: kustomizations.py GPULINT KUSTOMIZE CHECKOUTS [--helm=HELM] [REPOSITORY…]

With helm, by its absolute path, charts of kustomizations are compared as well.

Prints each difference, and the share that is equal of all that kustomize builds.
"""

import collections
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import yaml

KUBERNETES = "1.34.0"
NAMES = {"kustomization.yaml", "kustomization.yml", "Kustomization"}
Loader = yaml.CSafeLoader
# `=` is a special value in YAML 1.1, and a string for all other parsers.
# For all other parsers, a float needs no dot.
Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+[eE][-+]?[0-9]+$"), list("-+0123456789"))
Loader.add_constructor("tag:yaml.org,2002:value", lambda _, node: node.value)


def directories(checkouts, repositories):
    for repository in repositories or sorted(os.listdir(checkouts)):
        for directory, inside, files in os.walk(os.path.join(checkouts, repository)):
            inside[:] = sorted(name for name in inside if name != ".git")
            if NAMES & set(files):
                yield os.path.relpath(directory, checkouts)


def build(kustomize, helm, checkouts, directory):
    """What kustomize prints; nothing is fetched, and files outside of the directory may be read."""
    nowhere = {name: "http://127.0.0.1:1" for name in ("HTTPS_PROXY", "HTTP_PROXY")}
    command = [kustomize, "build", "--load-restrictor", "LoadRestrictionsNone", os.path.join(checkouts, directory)]
    command[2:2] = ["--enable-helm", "--helm-command", helm, "--helm-kube-version", KUBERNETES] if helm else []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={"PATH": "/nonexistent", **nowhere})
    except (subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        return None, str(error)
    return (done.stdout, "") if done.returncode == 0 else (None, done.stderr.strip()[-300:])


def differences(real, ours, path=""):
    if isinstance(real, dict) and isinstance(ours, dict):
        for key in {**real, **ours}:
            yield from differences(real.get(key, "(nothing)"), ours.get(key, "(nothing)"), f"{path}/{key}")
    elif isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
        for number, (a, b) in enumerate(zip(real, ours)):
            yield from differences(a, b, f"{path}/{number}")
    elif real != ours or isinstance(real, bool) != isinstance(ours, bool):
        yield f"{path}: kustomize {json.dumps(real)[:200]}, gpulint {json.dumps(ours)[:200]}"


def main():
    helm = next((it.removeprefix("--helm=") for it in sys.argv if it.startswith("--helm=")), None)
    gpulint, kustomize, checkouts, *repositories = [it for it in sys.argv[1:] if not it.startswith("--helm=")]
    found = list(directories(checkouts, repositories))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        built = list(pool.map(lambda it: build(kustomize, helm, checkouts, it), found))
    counts = collections.Counter()
    for directory, (text, refusal) in zip(found, built):
        command = [gpulint, "render", "--json", directory]
        ours = subprocess.run(command, cwd=checkouts, capture_output=True, text=True)
        if text is None:
            counts["kustomize refuses"] += 1
            if ours.returncode == 0 and ours.stdout:
                counts["only gpulint builds"] += 1
                print(f"only gpulint: {directory}: {refusal}")
            continue
        real = [it for it in yaml.load_all(text, Loader=Loader) if it is not None]
        told = list(differences(real, [json.loads(line) for line in ours.stdout.splitlines()]))
        if ours.returncode != 0:
            counts["only kustomize builds"] += 1
            print(f"only kustomize: {directory}: {ours.stderr.strip()}")
        elif told:
            counts["different"] += 1
            print(f"different: {directory}\n  " + "\n  ".join(told[:3]))
        else:
            counts["equal"] += 1
    all_built = counts["equal"] + counts["different"] + counts["only kustomize builds"]
    print(dict(counts), f"equal {counts['equal'] / max(1, all_built):.4f} of {all_built}")


main()
