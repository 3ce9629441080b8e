"""Types of CloudFormation → rows, from the schemas that cfn-lint bundles, with the conditions that cfn-lint adds."""

import json
from pathlib import Path

from .table import Row

DEEPEST = 9


class Bundle:
    def __init__(self, site):
        self.root = Path(site, "cfnlint", "data", "schemas")
        self.types = json.loads((self.root / "providers" / "us-east-1.json").read_text(encoding="utf-8"))

    def schema(self, type):
        return json.loads((self.root / "resources" / f"{self.types[type]}.json").read_text(encoding="utf-8"))

    def extensions(self, type):
        directory = self.root / "extensions" / type.lower().replace("::", "_")
        for path in sorted(directory.glob("*.json")):
            yield path.stem, json.loads(path.read_text(encoding="utf-8"))

    def rows(self, type, source):
        schema = self.schema(type)
        rows = []
        self.walk(schema, schema, type, "", source, rows, set(), 0)
        by_path = {row.path: row for row in rows}
        for name, flag in (
            ("readOnlyProperties", "computed"),
            ("createOnlyProperties", "new"),
            ("deprecatedProperties", "deprecated"),
        ):
            for pointer in schema.get(name) or ():
                path = (
                    pointer.removeprefix("/properties/")
                    .replace("/*/", "[].")
                    .replace("/properties/", ".")
                    .replace("/", ".")
                )
                row = by_path.get(path) or by_path.get(path + "[]")
                if row and flag == "computed":
                    row.need = "computed"
                elif row:
                    row.flags.append(flag)
        for _, extension in self.extensions(type):
            conditions(extension, "", by_path)
        return [row for row in rows if row.path or row.when]

    def walk(self, root, schema, type, path, source, rows, required, depth):
        schema = resolve(root, schema)
        name = path.rpartition(".")[2].replace("[]", "")
        row = row_of(root, schema, type, path, source, "required" if name in required or not path else "optional")
        rows.append(row)
        if depth > DEEPEST:
            return
        if "items" in schema:
            inner = resolve(root, schema["items"])
            if inner.get("properties"):
                row.path = path = f"{path}[]"
                schema = inner
                row.when += alternatives(inner)
            else:
                row.values = [str(it) for it in inner.get("enum") or ()]
        needed = set(schema.get("required") or ())
        for key, inner in sorted((schema.get("properties") or {}).items()):
            self.walk(root, inner, type, f"{path}.{key}" if path else key, source, rows, needed, depth + 1)


def resolve(root, schema):
    seen = 0
    while "$ref" in schema and seen < 9:
        node = root
        for part in schema["$ref"].lstrip("#/").split("/"):
            node = node[part]
        schema, seen = node, seen + 1
    return schema


def row_of(root, schema, type, path, source, need):
    kind = schema.get("type") or "object"
    kind = "|".join(kind) if isinstance(kind, list) else kind
    if kind == "array":
        inner = resolve(root, schema.get("items") or {})
        kind = f"list({inner.get('type') or 'object'})"
    kind = {"boolean": "bool"}.get(kind, kind)
    row = Row(
        type,
        path,
        kind,
        need,
        values=[str(it) for it in schema.get("enum") or ()],
        min=text(schema, "minimum", "minLength", "minItems"),
        max=text(schema, "maximum", "maxLength", "maxItems"),
        pattern=schema.get("pattern") or "",
        default=(
            str(schema.get("default", "")).lower()
            if isinstance(schema.get("default"), bool)
            else str(schema.get("default", ""))
        ),
        when=alternatives(schema),
        source=source,
    )
    below = schema.get("dependentRequired") or {}
    row.when += [f"{key} requires {'+'.join(value)}" for key, value in sorted(below.items())]
    return row


def text(schema, *names):
    found = [schema[name] for name in names if name in schema]
    return str(found[0]) if found else ""


def alternatives(schema):
    found = []
    for word in ("oneOf", "anyOf"):
        needed = [it.get("required") for it in schema.get(word) or () if isinstance(it, dict) and it.get("required")]
        if needed:
            found.append(f"{word}: " + " | ".join("+".join(it) for it in needed))
    for exclusive in ("requiredXor", "requiredOr"):
        if schema.get(exclusive):
            found.append(f"{exclusive}: " + " | ".join(schema[exclusive]))
    for key, others in sorted((schema.get("dependentExcluded") or {}).items()):
        found.append(f"{key} excludes {'+'.join(others)}")
    return found


def conditions(extension, path, by_path):
    """Returns the conditions of a cfn-lint extension, at the object that they apply to."""
    row = by_path.get(path) or by_path.get(path + "[]") or (by_path.get("") if not path else None)
    if row is not None:
        row.when += alternatives(extension)
        row.when += [
            f"{key} requires {'+'.join(value)}"
            for key, value in sorted((extension.get("dependentRequired") or {}).items())
        ]
        if "if" in extension:
            row.when += implication(extension)
    for part in extension.get("allOf") or ():
        conditions(part, path, by_path)
    for key, inner in (extension.get("properties") or {}).items():
        if isinstance(inner, dict):
            conditions(inner, f"{path}.{key}" if path else key, by_path)
    if isinstance(extension.get("items"), dict):
        conditions(extension["items"], f"{path}[]", by_path)


def implication(schema):
    """One line of an `if` with its `then`, as compact JSON: conditions are data here, and not told again in words."""

    def slim(it):
        return json.dumps(it, separators=(",", ":"), sort_keys=True)

    told = "if " + slim(schema["if"])
    if "then" in schema:
        told += " then " + slim(schema["then"])
    if "else" in schema:
        told += " else " + slim(schema["else"])
    return [told]
