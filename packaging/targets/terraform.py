"""Resource types of Terraform providers → rows.

The shape comes from the provider itself (`terraform providers schema -json`) or, where there is no such file, from the
bindings that CDK for Terraform generates out of it. Enumerations, bounds and relations come from `providers.py`, and for
AWS from the models of botocore, whose enumerations the provider checks with.
"""

import json
import re
from pathlib import Path

from .table import Row, plain

# Properties of every resource that the bindings can set but the provider refuses.
COMPUTED = ("tags_all", "effective_labels", "terraform_labels")
SCALARS = {"string": "string", "number": "number", "bool": "bool", "dynamic": "any"}


def kind_of(type):
    if isinstance(type, str):
        return SCALARS.get(type, type)
    outer, inner = type
    return "object" if outer == "object" else f"{outer}({kind_of(inner)})"


def from_schema(block, type, source, prefix=""):
    """Rows of a block of `terraform providers schema -json`."""
    rows = []
    for name, it in (block.get("attributes") or {}).items():
        path = prefix + name
        kind = kind_of(it["type"]) if "type" in it else "object"
        need = "required" if it.get("required") else "optional" if it.get("optional") else "computed"
        flags = [flag for flag in ("deprecated", "sensitive") if it.get(flag)]
        if it.get("computed") and need == "optional":
            flags.insert(0, "computed")
        rows.append(Row(type, path, kind, need, flags=flags, source=source))
        nested = it.get("nested_type")
        if nested:
            rows += from_schema(nested, type, source, path + ("."))
        elif isinstance(it.get("type"), list):
            rows += members(it["type"], type, source, path, need)
    for name, it in (block.get("block_types") or {}).items():
        least, most = it.get("min_items", 0), it.get("max_items", 0)
        single = most == 1 or it["nesting_mode"] == "single"
        path = prefix + name + ("" if single else "[]")
        flags = ["deprecated"] if it["block"].get("deprecated") else []
        need = "required" if least else "optional"
        rows.append(
            Row(
                type,
                path,
                "block",
                need,
                min=str(least or ""),
                max="1" if single else str(most or ""),
                flags=flags,
                source=source,
            )
        )
        rows += from_schema(it["block"], type, source, path + ".")
    return rows


def members(outer, type, source, path, need):
    """Returns the members of an attribute with objects."""
    while isinstance(outer, list) and outer[0] in ("list", "set", "map"):
        path += "[]" if outer[0] != "map" else ".*"
        outer = outer[1]
    if not isinstance(outer, list) or outer[0] != "object":
        return []
    rows = []
    for name, inner in outer[1].items():
        rows.append(
            Row(type, f"{path}.{name}", kind_of(inner), "computed" if need == "computed" else "optional", source=source)
        )
        rows += members(inner, type, source, f"{path}.{name}", need)
    return rows


class Bindings:
    """One resource of the bindings of CDK for Terraform."""

    ATTRIBUTE = re.compile(
        r"^ {8,12}(\w+): \{\n +value: (.*),\n +isBlock: (true|false),\n +type: \"(\w+)\",\n +storageClassType: \"(\w+)\",",
        re.M,
    )
    KINDS = {
        "stringList": "string",
        "numberList": "number",
        "booleanList": "bool",
        "stringMap": "string",
        "anyMap": "any",
    }

    def __init__(self, directory):
        directory = Path(directory)
        # Large resources have their structs in separate files.
        self.code = self.text(directory, "js")
        self.types = self.text(directory, "d.ts")

    @staticmethod
    def text(directory, ending):
        parts = sorted(directory.glob(f"index-structs/structs*.{ending}"))
        return "".join(it.read_text(encoding="utf-8") for it in [*parts, directory / f"index.{ending}"])

    def rows(self, type, source):
        self.type, self.source = type, source
        start = self.code.rfind("synthesizeHclAttributes()")
        config = re.search(r"^export interface (\w+Config)\b", self.types, re.M)
        computed = re.findall(r"^    // (\w+) - computed: true, optional: false, required: false", self.main(), re.M)
        rows = self.read(self.code[start:], config.group(1), "")
        known = {row.path for row in rows}
        return rows + [Row(type, it, "any", "computed", source=source) for it in computed if it not in known]

    def main(self):
        found = list(re.finditer(r"^class \w+ extends cdktf\.Terraform(?:Resource|Provider) \{", self.code, re.M))
        return self.code[found[0].start() :] if found else ""

    def required(self, interface):
        match = re.search(rf"^export interface {interface}(?: extends [\w.]+)? \{{\n(.*?)^\}}", self.types, re.M | re.S)
        body = match.group(1) if match else ""
        return {snake(name) for name in re.findall(r"^    readonly (\w+):", body, re.M)}

    def read(self, text, interface, prefix):
        rows, required = [], self.required(interface)
        end = re.search(r"^ +\};\n", text, re.M)
        for name, value, is_block, shape, storage in self.ATTRIBUTE.findall(text[: end.end() if end else None]):
            if name == "timeouts" or (name == "id" and not prefix):
                continue
            needed = "required" if snake(camel(name)) in required else "computed" if name in COMPUTED else "optional"
            inner = re.search(r"(?:listMapperHcl\()?(\w+)ToHclTerraform", value.replace("cdktf.", ""))
            struct = inner and inner.group(1) not in ("string", "number", "boolean", "any")
            if struct:
                several = "listMapperHcl" in value
                path = prefix + name + ("[]" if several else "")
                kind = "block" if is_block == "true" else "object"
                rows.append(Row(self.type, path, kind, needed, max="" if several else "1", source=self.source))
                function = inner.group(1)
                at = self.code.find(f"function {function}ToHclTerraform(")
                rows += self.read(self.code[at:], function[0].upper() + function[1:], path + ".")
                continue
            scalar = storage if storage in ("string", "number") else "bool" if storage == "boolean" else storage
            if shape in ("list", "set", "map"):
                scalar = f"{shape}({self.KINDS.get(storage, 'any')})"
            rows.append(Row(self.type, prefix + name, scalar, needed, source=self.source))
        return rows


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(it[:1].upper() + it[1:] for it in rest)


def snake(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def directory_of(name):
    """The directory of a resource in the bindings: `job_v1` is `job-v1`."""
    return name.replace("_", "-")


def add_relations(rows, relations):
    by_path = {plain(row.path): row for row in rows}
    real = {path: row.path for path, row in by_path.items()}
    for it in relations:
        row, name = by_path[it["path"]], it["relation"]
        values = it["paths"].split("|")
        if name in ("min", "max", "pattern"):
            setattr(row, name, it["paths"])
        else:
            setattr(row, name, getattr(row, name) + [real.get(value, value) for value in values if value != it["path"]])


def overlay(rows, facts):
    """Adds facts from the provider's source to rows. Returns the paths that only the source has."""
    by_path = {plain(row.path): row for row in rows}
    real = {path: row.path for path, row in by_path.items()}
    for path, fact in facts.items():
        row = by_path.get(path)
        if row is None or row.need == "computed":
            continue
        for name in ("values", "requires", "conflicts", "exactly_one", "at_least_one"):
            others = fact.get(name) or []
            if name != "values":
                others = [real.get(plain(it), it) for it in others if plain(it) != path]
            if others:
                setattr(row, name, sorted(set(others)) if name != "values" else list(dict.fromkeys(others)))
        for name in ("min", "max", "pattern", "default"):
            if fact.get(name) not in (None, "") and not getattr(row, name):
                setattr(row, name, fact[name])
        for flag, name in (("Deprecated", "deprecated"), ("ForceNew", "new")):
            if fact.get(flag) and name not in row.flags:
                row.flags.append(name)
    return sorted(set(facts) - set(by_path))


def from_botocore(rows, operation, aliases):
    """Adds enumerations, bounds and lengths of an operation of AWS to the properties that have its names."""
    said = {}

    def walk(shape, path, seen):
        if shape.name in seen or len(seen) > 8:
            return
        if shape.type_name == "structure":
            for name, member in shape.members.items():
                walk(member, f"{path}.{word(name)}" if path else word(name), seen | {shape.name})
        elif shape.type_name == "list":
            said.setdefault(path, {}).update(limits(shape))
            walk(shape.member, path, seen | {shape.name})
        elif shape.type_name == "map":
            pass
        else:
            facts = said.setdefault(path, {})
            facts.update(limits(shape))
            if getattr(shape, "enum", None):
                facts["values"] = list(shape.enum)

    walk(operation.input_shape, "", frozenset())
    by_path = {plain(row.path): row for row in rows}
    for path, row in by_path.items():
        named = path
        for ours, theirs in aliases:
            if not ours and f"{theirs}.{named}".strip(".") in said:
                named = f"{theirs}.{named}"
            elif ours and (named == ours or named.startswith(ours + ".")):
                named = (theirs + named[len(ours) :]).strip(".")
                break
        facts = said.get(named) or said.get(named + "s") or {}
        if row.need == "computed" or not facts:
            continue
        if facts.get("values") and not row.values and row.kind in ("string", "list(string)", "set(string)"):
            row.values = facts["values"]
        if row.kind in ("number", "string") and not row.values:
            row.min, row.max = row.min or facts.get("min", ""), row.max or facts.get("max", "")


def limits(shape):
    meta = shape.metadata
    if shape.type_name in ("integer", "long", "float", "double", "string"):
        return {name: str(meta[name]) for name in ("min", "max") if name in meta}
    return {}


def word(name):
    """`minvCpus` as Terraform calls it: `min_vcpus`."""
    name = re.sub(r"vCpus", "Vcpus", name)
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def load_schema(path):
    """Provider → its part of `terraform providers schema -json`."""
    whole = json.loads(Path(path).read_text(encoding="utf-8"))
    return {name.rpartition("/")[2]: it for name, it in whole["provider_schemas"].items()}
