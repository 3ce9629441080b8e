#!/usr/bin/env python3
"""Compares charts of checkouts, rendered by gpulint and by helm: the documents must be equal YAML values.

    python3 tests/corpus/charts.py "GPULINT template" HELM CHECKOUTS [--values] [--list FILE]

The first argument is a program that prints the documents of a chart, with its arguments. Each chart that
helm renders without a network counts as equal, as equal except for values that depend on chance, time or a cluster, or as
different. Each difference is printed with its first place.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
KUBERNETES = "v1.34.0"
HOLE = re.compile(r"\$\{[A-Za-z][^{}]*\}")
SECONDS = 60


class Loader(LOADER):
    """Loads dates and `=` as strings, like Kubernetes."""


Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: node.value)
Loader.add_constructor("tag:yaml.org,2002:value", lambda loader, node: node.value)


def documents(text):
    """Returns the documents that are neither empty nor test hooks."""
    found = []
    for document in yaml.load_all(text, Loader=Loader):
        if not document:
            continue
        hooks = ((document.get("metadata") or {}).get("annotations") or {}).get("helm.sh/hook", "") if isinstance(document, dict) else ""
        if any(hook.strip().startswith("test") for hook in str(hooks).split(",")):
            continue
        found.append(document)
    return found


def name(document):
    if not isinstance(document, dict):
        return ("", "", "")
    about = document.get("metadata") or {}
    about = about if isinstance(about, dict) else {}
    return (str(document.get("kind")), str(about.get("namespace", "")), str(about.get("name")))


def difference(ours, theirs, path=""):
    """Returns the first difference of two values, or None; and whether a value was unknown."""
    if ours == theirs and type(ours) is type(theirs):
        return None, False
    if isinstance(ours, str) and HOLE.search(ours):
        pattern = ".*".join(re.escape(part) for part in HOLE.split(ours))
        if not isinstance(theirs, str) or re.fullmatch(pattern, theirs, re.DOTALL):
            return None, True
    if isinstance(ours, dict) and isinstance(theirs, dict):
        holes = False
        for key in list(ours) + [key for key in theirs if key not in ours]:
            if key not in ours or key not in theirs:
                if isinstance(key, str) and HOLE.search(key):
                    return None, True
                where = "ours" if key in ours else "helm's"
                return f"{path}.{key} is only {where}", holes
            found, hole = difference(ours[key], theirs[key], f"{path}.{key}")
            holes = holes or hole
            if found:
                return found, holes
        return None, holes
    if isinstance(ours, list) and isinstance(theirs, list):
        holes = False
        for number, pair in enumerate(zip(ours, theirs)):
            found, hole = difference(*pair, f"{path}[{number}]")
            holes = holes or hole
            if found:
                return found, holes
        if len(ours) != len(theirs):
            return f"{path} has {len(ours)} items, and {len(theirs)} in helm's", holes
        return None, holes
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)) and ours == theirs:
        return None, False
    return f"{path}: {short(ours)} and in helm's {short(theirs)}", False


def short(value):
    text = repr(value)
    return text if len(text) < 300 else text[:300] + "…"


def compare(ours, theirs):
    """Returns (equal, unknown values, reason for a difference)."""
    try:
        ours, theirs = documents(ours), documents(theirs)
    except (yaml.YAMLError, ValueError) as error:
        return None, False, f"no YAML: {str(error).splitlines()[0]}"
    holes = False
    rest = list(theirs)
    missing = []
    for document in ours:
        if document in rest:
            rest.remove(document)
        else:
            missing.append(document)
    for document in missing:
        candidates = [it for it in rest if difference(name(document)[0], name(it)[0])[0] is None]
        reasons = []
        for candidate in candidates:
            why, hole = difference(document, candidate)
            if why is None:
                rest.remove(candidate)
                holes = holes or hole
                break
            reasons.append((name(candidate) != name(document), why))
        else:
            said = min(reasons)[1] if reasons else "helm has no such document"
            return False, holes, f"{'/'.join(name(document))}: {said}"
    if rest:
        return False, holes, f"{'/'.join(name(rest[0]))} is only helm's ({len(rest)} in all)"
    return True, holes, ""


def run(command):
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return 124, "", f"it took longer than {SECONDS} seconds"
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def charts(checkouts):
    """Returns the directories of charts that are not subcharts."""
    found = {path.parent for path in pathlib.Path(checkouts).rglob("Chart.yaml") if path.is_file()}
    for chart in sorted(found):
        above = [it for it in chart.parents if it in found]
        if any("charts" in chart.relative_to(it).parts or "templates" in chart.relative_to(it).parts for it in above):
            continue
        yield chart


def is_library(chart):
    try:
        about = yaml.load((chart / "Chart.yaml").read_bytes(), Loader=Loader)
    except (yaml.YAMLError, ValueError):
        return False
    return isinstance(about, dict) and about.get("type") == "library"


def release(chart):
    """Returns gpulint's default name for a release."""
    about = yaml.load((chart / "Chart.yaml").read_bytes(), Loader=Loader)
    name = about.get("name") if isinstance(about, dict) else None
    return re.sub(r"[^A-Za-z0-9]", "-", str(name or "release"))[:53].strip("-").lower() or "release"


def with_dependencies(helm, chart, scratch):
    """Packs `file://` dependencies in a copy of the tree, because Helm requires packed ones."""
    text = b"".join((chart / file).read_bytes() for file in ("Chart.yaml", "requirements.yaml") if (chart / file).is_file())
    if b"file://" not in text:
        return chart
    root = chart
    for _ in range(4):
        if (root / ".git").exists() or root.parent == root:
            break
        root = root.parent
    copy = pathlib.Path(scratch) / "tree"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(root, copy, symlinks=True, ignore_dangling_symlinks=True)
    inside = copy / chart.relative_to(root)
    for lock in ("Chart.lock", "requirements.lock"):
        (inside / lock).unlink(missing_ok=True)
    run([helm, "dependency", "update", "--skip-refresh", str(inside)])
    return inside


def variants(chart):
    """Returns the additional values files of a chart."""
    yield None
    for pattern in ("values-*.yaml", "values/*.yaml", "ci/*values*.yaml", "environments/*/values.yaml"):
        yield from sorted(chart.glob(pattern))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("gpulint")
    arguments.add_argument("helm")
    arguments.add_argument("checkouts")
    arguments.add_argument("--values", action="store_true", help="also with each file of values beside the chart")
    arguments.add_argument("--list", help="a file for one line a rendering")
    given = arguments.parse_args()
    counts = {"equal": 0, "equal but for holes": 0, "different": 0, "refused by us": 0, "refused by both": 0, "refused by helm only": 0}
    lines = []
    environment_free = {key: "http://127.0.0.1:9" for key in ("HTTP_PROXY", "HTTPS_PROXY")}
    os.environ.update(environment_free)
    with tempfile.TemporaryDirectory() as scratch:
        for chart in charts(given.checkouts):
            if is_library(chart):
                continue
            packed = None
            for values in variants(chart) if given.values else [None]:
                more = ["--values", str(values)] if values else []
                named = [f"--values={values.relative_to(chart)}"] if values else []
                code, ours, complaints = run([*given.gpulint.split(), *named, str(chart)])
                packed = packed or with_dependencies(given.helm, chart, scratch)
                helm_code, theirs, said = run(
                    [given.helm, "template", release(chart), str(packed), "--kube-version", KUBERNETES, *more]
                )
                title = f"{chart}{' ' + str(values.relative_to(chart)) if values else ''}"
                if helm_code != 0:
                    counts["refused by both" if code != 0 else "refused by helm only"] += 1
                    last = (said.strip().splitlines() or [""])[-1]
                    lines.append(f"{'BOTH' if code else 'HELM'}\t{title}\t{last[:300]}\t{complaints.strip()[:300]!r}")
                    continue
                # Messages with documents are not an error, and a chart may have no output.
                if code not in (0, 3) and not ours.strip():
                    counts["refused by us"] += 1
                    lines.append(f"US\t{title}\t{complaints.strip()[:500]!r}")
                    continue
                equal, holes, why = compare(ours, theirs)
                kind = "different" if not equal else "equal but for holes" if holes else "equal"
                counts[kind] += 1
                lines.append(f"{kind.upper()}\t{title}\t{why}")
    rendered = counts["equal"] + counts["equal but for holes"] + counts["different"] + counts["refused by us"]
    good = counts["equal"] + counts["equal but for holes"]
    for key, count in counts.items():
        print(f"{count:6} {key}")
    print(f"{good} of {rendered} that helm renders: {100 * good / max(rendered, 1):.1f} %")
    if given.list:
        pathlib.Path(given.list).write_text("\n".join(sorted(lines)) + "\n")
    else:
        for line in sorted(lines):
            if not line.startswith("EQUAL\t"):
                print(line)
    return 0 if good == rendered else 1


if __name__ == "__main__":
    sys.exit(main())
