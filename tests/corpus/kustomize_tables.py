#!/usr/bin/env python3
"""Writes the tables of src/languages/kustomize/tables from what kustomize itself knows of the kinds of Kubernetes: by what lists
are merged, which kinds are in no namespace, and in which fields names, labels, images and numbers of copies stand.

usage: kustomize_tables.py KYAML API, the module directories of sigs.k8s.io/kustomize/kyaml and /api
"""

import glob
import gzip
import json
import os
import re
import sys

import yaml

kyaml, api = sys.argv[1:3]
bundle = glob.glob(os.path.join(kyaml, "openapi/kubernetesapi/data/*.json.gz"))[0]
with gzip.open(bundle) as file:
    description = json.load(file)
definitions = description["definitions"]


def target(schema):
    """The definition that a schema leads to, through lists and maps, and how."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[-1], ""
    if schema.get("type") == "array" and "items" in schema:
        name, way = target(schema["items"])
        return name, "[]" + way
    inner = schema.get("additionalProperties")
    if isinstance(inner, dict):
        name, way = target(inner)
        return name, "*" + way
    return None, ""


def strategy(schema):
    """Merge keys where lists are merged: None where they are replaced, [] for lists of scalars."""
    if "merge" not in schema.get("x-kubernetes-patch-strategy", "").split(","):
        return None
    keys = schema.get("x-kubernetes-list-map-keys")
    if keys is None:
        key = schema.get("x-kubernetes-patch-merge-key")
        keys = [key] if key else []
    return keys


fields = {}
for name, definition in definitions.items():
    fields[name] = {
        field: (*target(schema), strategy(schema)) for field, schema in definition.get("properties", {}).items()
    }

matters = {name for name, own in fields.items() if any(keys is not None for _, _, keys in own.values())}
while True:
    more = {name for name, own in fields.items() if name not in matters and any(to in matters for to, *_ in own.values())}
    if not more:
        break
    matters |= more

matters = {name for name in matters if not name.endswith("List")}
short = {}
for name in sorted(matters):
    brief = name.rsplit(".", 1)[-1]
    short[name] = brief if brief not in short.values() else ".".join(name.rsplit(".", 2)[-2:])

head = "# Written by tests/corpus/kustomize_tables.py; do not edit.\n"
here = os.path.join(os.path.dirname(__file__), "../../src/languages/kustomize/tables")
os.makedirs(here, exist_ok=True)
with open(os.path.join(here, "merge_keys.txt"), "w") as out:
    out.write(head + "# What lists are merged by. A type, then its fields that matter: how, to which type, and the keys; `-` for scalars.\n")
    for name in sorted(matters, key=short.get):
        out.write(f"{short[name]}\n")
        for field, (to, way, keys) in sorted(fields[name].items()):
            if to in matters or keys is not None:
                by = "" if keys is None else " " + (",".join(keys) or "-")
                out.write(f"  {field} {way or '.'} {short.get(to, '-')}{by}\n")
    out.write("= kinds\n")
    for resource in description["resources"]:
        if resource.get("definition") in matters and not resource["kind"].endswith("List"):
            out.write(f"  {resource['apiVersion']} {resource['kind']} {short[resource['definition']]}\n")

with open(os.path.join(kyaml, "openapi/openapi.go")) as file:
    known = re.findall(r'\{APIVersion: "([^"]*)", Kind: "([^"]*)"\}:\s*(true|false)', file.read())
with open(os.path.join(here, "cluster_scoped.txt"), "w") as out:
    out.write(head + "# Kinds that are in no namespace.\n")
    for version, kind, scoped in sorted(known):
        if scoped == "false":
            out.write(f"{version} {kind}\n")


def gvk(spec):
    return " ".join(spec.get(key) or "-" for key in ("group", "version", "kind"))


constants = ""
for path in sorted(glob.glob(os.path.join(api, "internal/konfig/builtinpluginconsts/*.go"))):
    with open(path) as file:
        constants += file.read()
parts = {
    name: re.findall(r"`[^`]*`|\w+", body)
    for name, body in re.findall(r"(\w+) = ((?:`[^`]*`|\w+)(?:\s*\+\s*(?:`[^`]*`|\w+))*)", constants)
}


def whole(name):
    return "".join(part.strip("`") if part.startswith("`") else whole(part) for part in parts[name])


texts = [whole(name) for name in parts]
with open(os.path.join(here, "fields.txt"), "w") as out:
    out.write(head + "# Where things stand: section, `+` if it is made where it is not there, group, version, kind, path;\n")
    out.write("# for names of other objects also group, version and kind of those.\n")
    lines = set()
    for text in texts:
        for section, specs in (yaml.safe_load(text) or {}).items() if re.match(r"\s*\w+:\s*\n", text) else []:
            for spec in specs or []:
                if section == "nameReference":
                    for inner in spec["fieldSpecs"]:
                        lines.add(f"{section} - {gvk(inner)} {inner['path']} {gvk(spec)}")
                else:
                    lines.add(f"{section} {'+' if spec.get('create') else '-'} {gvk(spec)} {spec['path']}")
    out.write("".join(line + "\n" for line in sorted(lines)))
