#!/usr/bin/env python3
"""Writes the license files of a release, and refuses crates that it must not contain.

  licences.py OUT [--target TRIPLE …] [--policy FILE] [--offline]

OUT/LICENCES.txt has each crate with its license text, and OUT/gpulint.cdx.json is the bill of materials (CycloneDX 1.5).
Both depend only on Cargo.lock and the sources of the crates. Neither contains crates that only tests need.
The exit code is 1 if `packaging/licences.toml` does not allow a crate.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGETS = [
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
]
TEXTS = re.compile(r"^(licen[cs]e|copying|notice|unlicense|copyright|patents)", re.IGNORECASE)


def cargo(verb, offline, *arguments):
    command = ["cargo", verb, "--locked", *["--offline"] * offline, *arguments]
    run = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"error: cargo {verb}: {run.stderr.strip()}")
    return run.stdout


def packages(target, offline):
    """Returns the packages that a build for a target links or runs, with their dependencies."""
    metadata = json.loads(cargo("metadata", offline, "--format-version", "1", "--filter-platform", target))
    # The metadata include features that only tests enable. The tree does not.
    tree = cargo("tree", offline, "--target", target, "--edges", "normal,build", "--prefix", "none", "--format", "{p}")
    built = {tuple(line.split(" ")[:2]) for line in tree.splitlines()}
    known = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    edges, left = {}, [metadata["resolve"]["root"]]
    while left:
        at = left.pop()
        if at not in edges:
            needed = (it["pkg"] for it in nodes[at]["deps"] if any(kind["kind"] != "dev" for kind in it["dep_kinds"]))
            edges[at] = sorted(to for to in needed if (known[to]["name"], f"v{known[to]['version']}") in built)
            left += edges[at]
    return known, edges, metadata["resolve"]["root"]


def words(expression):
    # `MIT/Apache-2.0` is an old form of a choice, before SPDX expressions.
    return re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))


def permitted(expression, allowed):
    """Returns whether allowed licenses satisfy an SPDX expression: AND binds closer than OR, and WITH closest."""
    left = words(expression)

    def choice():
        found = both()
        while left[:1] == ["OR"]:
            left.pop(0)
            found = both() or found
        return found

    def both():
        found = one()
        while left[:1] == ["AND"]:
            left.pop(0)
            found = one() and found
        return found

    def one():
        if not left:
            return False
        word = left.pop(0)
        if word == "(":
            found = choice()
            return bool(left) and left.pop(0) == ")" and found
        if left[:1] == ["WITH"]:
            left.pop(0)
            word = f"{word} WITH {left.pop(0) if left else ''}"
        return word in allowed

    found = choice()
    return found and not left


def texts(package):
    """Returns every license file in the directory of the crate's manifest or below."""
    top = os.path.dirname(package["manifest_path"])
    found = []
    for directory, below, files in os.walk(top):
        below[:] = sorted(name for name in below if name not in ("target", "tests", "benches") and name[0] != ".")
        if directory.count(os.sep) - top.count(os.sep) >= 3:
            below[:] = []
        for name in sorted(files):
            if TEXTS.match(name) and not name.endswith((".rs", ".py")):
                path = os.path.join(directory, name)
                with open(path, encoding="utf-8", errors="replace") as file:
                    found.append((os.path.relpath(path, top).replace(os.sep, "/"), file.read()))
    return found


def checksums():
    with open(os.path.join(SOURCE, "Cargo.lock"), "rb") as file:
        return {(it["name"], it["version"]): it.get("checksum") for it in tomllib.load(file)["package"]}


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, sums):
    entry = {
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "licenses": [{"expression": " ".join(words(package["license"])).replace("( ", "(").replace(" )", ")")}],
        "purl": purl(package),
    }
    digest = sums.get((package["name"], package["version"]))
    if digest:
        entry["hashes"] = [{"alg": "SHA-256", "content": digest}]
    if package.get("repository"):
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return entry


def bill(root, crates, edges, known, beside):
    main = {**component(root, {}), "type": "application"}
    parts = [component(package, checksums()) for package in crates]
    for part in beside:
        reference = f"pkg:generic/{part['name']}"
        parts.append({
            "type": "library",
            "bom-ref": reference,
            "name": part["name"],
            "licenses": [{"expression": part["licence"]}],
            "externalReferences": [{"type": "vcs", "url": part["source"]}],
        })
    rows = {purl(known[at]): sorted({purl(known[to]) for to in edges[at]}) for at in edges}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": main},
        "components": parts,
        "dependencies": [{"ref": reference, "dependsOn": rows[reference]} for reference in sorted(rows)],
    }


def said(crates, beside):
    lines = ["What gpulint is made of, and under which terms. Each crate is used under one of the licences that it offers.", ""]
    bodies = {}
    for package in crates:
        lines.append(f"{package['name']} {package['version']}: {package['license']} {package.get('repository') or ''}".rstrip())
        for name, text in texts(package):
            bodies.setdefault(text.strip(), []).append(f"{package['name']} {package['version']} {name}")
    for part in beside:
        lines.append(f"{part['name']}: {part['licence']} {part['source']}\n  {part['text']}")
    for text, users in sorted(bodies.items(), key=lambda it: it[1]):
        lines += ["", "=" * 80, *users, "=" * 80, "", text]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--target", action="append")
    parser.add_argument("--policy", default=os.path.join(SOURCE, "packaging", "licences.toml"))
    parser.add_argument("--offline", action="store_true")
    arguments = parser.parse_args()
    with open(arguments.policy, "rb") as file:
        policy = tomllib.load(file)
    known, edges, root = {}, {}, None
    for target in arguments.target or TARGETS:
        more, needed, root = packages(target, arguments.offline)
        known.update(more)
        for at, to in needed.items():
            edges[at] = sorted({*edges.get(at, []), *to})
    crates = sorted((known[at] for at in edges if at != root), key=lambda it: (it["name"], it["version"]))
    refused = []
    for package in crates:
        name = f"{package['name']} {package['version']}"
        licence = package.get("license") or ""
        if not permitted(licence, set(policy["allowed"])):
            refused.append(f"{name}: `{licence}` is not among the allowed licences")
        elif not texts(package):
            refused.append(f"{name}: its sources hold no text of `{licence}`")
    if refused:
        sys.exit("\n".join(f"error: {why}" for why in refused))
    os.makedirs(arguments.out, exist_ok=True)
    with open(os.path.join(arguments.out, "LICENCES.txt"), "w", encoding="utf-8", newline="\n") as file:
        file.write(said(crates, policy["beside"]))
    with open(os.path.join(arguments.out, "gpulint.cdx.json"), "w", encoding="utf-8", newline="\n") as file:
        json.dump(bill(known[root], crates, edges, known, policy["beside"]), file, indent=1)
        file.write("\n")
    print(f"{len(crates)} crates, {len(policy['beside'])} other parts")


if __name__ == "__main__":
    main()
