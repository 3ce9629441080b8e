#!/usr/bin/env python3
"""Compares gpulint's evaluation of CloudFormation templates with moto's.

Usage: templates_of_aws.py DIRECTORY...

For each property of each resource that both can evaluate, the values are compared. Needs `pip install "moto[cloudformation]" cfn-flip`. What moto
cannot know without an account (attributes of resources, zones, exports, the parameter store) is left out on both sides, and counted.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")

import cfn_flip
from moto.cloudformation import parsing

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
UNKNOWN = {"?"}


class Marker(str):
    """A resource whose name only AWS knows."""


class Resources(parsing.ResourceMap):
    """Uses resource names as their values, because nothing is created."""

    def __getitem__(self, key):
        if key in self._resource_json_map:
            return Marker(key)
        return super().__getitem__(key)


def ours(directory):
    command = ["cargo", "test", "--quiet", "--lib", "cloudformation::tests::templates_of_a_directory", "--", "--nocapture"]
    run = subprocess.run(command, cwd=REPOSITORY, env={**os.environ, "CFN_TEMPLATES": directory}, capture_output=True, text=True)
    by_path = collections.defaultdict(dict)
    for line in run.stdout.splitlines():
        start = line.find('{"path"')
        if start >= 0:
            resource = json.loads(line[start:])
            by_path[resource["path"]][resource["name"]] = resource
    return by_path


def parsed(path):
    text = pathlib.Path(path).read_text(errors="replace")
    return json.loads(text) if text.lstrip().startswith("{") else json.loads(cfn_flip.to_json(text))


def is_beyond(node):
    """Returns whether a value needs account data, or a function that moto does not support."""
    if isinstance(node, dict):
        if len(node) == 1:
            (name, argument), = node.items()
            if name in ("Fn::GetAtt", "Fn::GetAZs", "Fn::ImportValue", "Fn::Transform", "Fn::Cidr", "Fn::Length", "Fn::ToJsonString"):
                return True
            if name == "Ref" and str(argument).startswith("AWS::") and argument != "AWS::NoValue":
                return True
            if name == "Fn::Sub":
                text = argument if isinstance(argument, str) else json.dumps(argument)
                return "AWS::" in text or "." in "".join(part.split("}")[0] for part in text.split("${")[1:]) or is_beyond(argument[1] if isinstance(argument, list) else None)
            if name == "Fn::FindInMap" and len(argument) > 3:
                return True
        return any(name.startswith("Fn::ForEach") or is_beyond(value) for name, value in node.items())
    if isinstance(node, list):
        return any(is_beyond(item) for item in node)
    return isinstance(node, str) and "{{resolve:" in node


def same(own, other):
    if isinstance(other, list):
        # The documentation takes `AWS::NoValue` out of a list; moto leaves a null.
        other = [item for item in other if item is not None]
    if own == [] and other == "":
        return True
    if isinstance(own, dict) and "?" in own:
        return None
    if isinstance(other, Marker):
        return None
    if isinstance(own, dict) and isinstance(other, dict):
        return all_same([same(own.get(key), other.get(key)) for key in set(own) | set(other)])
    if isinstance(own, list) and isinstance(other, list):
        if len(own) != len(other):
            return None if any(isinstance(it, dict) and "?" in it for it in own) else False
        return all_same([same(a, b) for a, b in zip(own, other)])
    if isinstance(own, (dict, list)) or isinstance(other, (dict, list)):
        return False
    return text(own) == text(other)


def all_same(answers):
    if False in answers:
        return False
    return None if None in answers else True


def text(scalar):
    if isinstance(scalar, bool):
        return str(scalar).lower()
    if scalar is None:
        return ""
    try:
        return str(float(scalar))
    except (TypeError, ValueError):
        return str(scalar)


def compare(path, resources, tally, shown):
    try:
        template = parsed(path)
        parameters = template.get("Parameters") or {}
        if any("Default" not in it for it in parameters.values()):
            # moto requires a value for each parameter. Parameters without one are unknown to gpulint, and not compared.
            for name, it in parameters.items():
                it.setdefault("Default", "\0" + name)
        known = Resources("id", "stack", {}, {}, "us-east-1", "123456789012", template, {})
        known.load_mapping()
        known.load_parameters()
        # CloudFormation compares strings. For moto, the number 1 and the string "1" differ.
        for name, value in known._parsed_resources.items():
            if type(value) in (int, float):
                known._parsed_resources[name] = str(value)
        known.load_conditions()
    except Exception as error:  # noqa: BLE001 - whatever moto cannot read is counted
        tally["templates that moto cannot read"] += 1
        return
    tally["templates"] += 1
    for name, own in resources.items():
        written = (template.get("Resources") or {}).get(name)
        if not isinstance(written, dict):
            continue
        condition = written.get("Condition")
        if condition is not None and isinstance(own["there"], bool):
            tally["conditions"] += 1
            if bool(known.lazy_condition_map[condition]) != own["there"]:
                tally["conditions that differ"] += 1
                shown.append((path, name, "Condition", own["there"], known.lazy_condition_map[condition]))
        for key, value in (written.get("Properties") or {}).items():
            if is_beyond(value):
                tally["beyond moto"] += 1
                continue
            try:
                other = parsing.clean_json(value, known)
            except Exception:  # noqa: BLE001
                tally["refused by moto"] += 1
                continue
            if "\0" in json.dumps(other, default=str):
                tally["a parameter without a value"] += 1
                continue
            answer = same(own["properties"].get(key), other)
            if answer is None:
                tally["not known to us in part"] += 1
                continue
            tally["values"] += 1
            if not answer:
                tally["values that differ"] += 1
                shown.append((path, name, key, own["properties"].get(key), other))


def main():
    tally, shown = collections.Counter(), []
    for directory in sys.argv[1:]:
        for path, resources in sorted(ours(os.path.abspath(directory)).items()):
            compare(path, resources, tally, shown)
    for path, name, key, own, other in shown[:40]:
        print(f"{path}: {name}.{key}\n  ours {json.dumps(own)[:300]}\n  moto {json.dumps(other, default=str)[:300]}")
    for name, count in sorted(tally.items()):
        print(f"{count:8} {name}")


if __name__ == "__main__":
    main()
