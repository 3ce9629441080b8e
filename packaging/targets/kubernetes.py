"""Kinds of Kubernetes → rows: custom resource definitions, and the API's own description for the kinds that are built in."""

import json
import subprocess
from pathlib import Path

import yaml

from .table import Row

# Fields that servers add to a pod. An object with them is more than a pod, so its own properties count.
BEYOND_PODS = {"minReplicas", "containerConcurrency", "supportedModelFormats", "pipelineParallelSize"}
DEEPEST = 14


def documents(place, path):
    """Returns the YAML documents of a file in a directory, or at a tag of a git repository."""
    if isinstance(place, tuple):
        repository, tag = place
        told = subprocess.run(
            ["git", f"--git-dir={repository}", "show", f"{tag}:{path}"], capture_output=True, check=True, text=True
        )
        text = told.stdout
    else:
        text = Path(place, path).read_text(encoding="utf-8")
    return [it for it in yaml.safe_load_all(text) if it]


def from_definition(document, source):
    """Returns (type, rows) for each served version of a custom resource definition."""
    spec = document["spec"]
    for version in spec["versions"]:
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if version.get("served") and schema:
            type = f"{spec['group']}/{version['name']} {spec['names']['kind']}"
            rows = []
            walk(schema, type, "", source, rows, set(), 0)
            if version.get("deprecated"):
                rows.insert(0, Row(type, "", "object", "required", flags=["deprecated"], source=source))
            yield type, [row for row in rows if row.path not in ("apiVersion", "kind")]


def is_pod(schema):
    """A pod that a workload embeds: `core/v1 PodSpec` has the rows of all of them, once."""
    properties = (schema.get("properties") or {}).keys()
    return {"containers", "nodeSelector"} <= properties and not BEYOND_PODS & properties


def walk(schema, type, path, source, rows, required, depth, lookup=None):
    if lookup:
        schema = lookup(schema)
    name = path.rpartition(".")[2].replace("[]", "")
    if path:
        rows.append(row_of(schema, type, path, source, "required" if name in required else "optional"))
    elif rules(schema):
        rows.append(Row(type, "", "object", "required", when=rules(schema), source=source))
    if depth > DEEPEST:
        return
    if path.startswith("status") or path == "metadata":
        return
    if is_pod(schema) and path:
        rows[-1].kind = "pod"
        return
    needed = set(schema.get("required") or ())
    for key, inner in sorted((schema.get("properties") or {}).items()):
        walk(inner, type, f"{path}.{key}" if path else key, source, rows, needed, depth + 1, lookup)
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict) and (lookup(extra) if lookup else extra).get("properties"):
        walk(extra, type, f"{path}.*", source, rows, set(), depth + 1, lookup)
    items = schema.get("items")
    if isinstance(items, dict):
        items = lookup(items) if lookup else items
        if items.get("properties"):
            at = f"{path}[]"
            rows[-1].path = at
            if rules(items):
                rows[-1].when += rules(items)
            needed = set(items.get("required") or ())
            for key, inner in sorted(items["properties"].items()):
                walk(inner, type, f"{at}.{key}", source, rows, needed, depth + 1, lookup)
        elif items.get("enum"):
            rows[-1].values = [str(it) for it in items["enum"]]


def rules(schema):
    """Returns the conditions that the API server evaluates, unchanged."""
    found = [" ".join(it["rule"].split()) for it in schema.get("x-kubernetes-validations") or ()]
    for word in ("oneOf", "anyOf"):
        alternatives = [it.get("required") for it in schema.get(word) or () if it.get("required")]
        if alternatives:
            found.append(f"{word}: " + " | ".join("+".join(it) for it in alternatives))
    return found


def row_of(schema, type, path, source, need):
    kind = schema.get("type") or "any"
    if schema.get("x-kubernetes-int-or-string"):
        kind = "integer|string"
    items = schema.get("items")
    if kind == "array" and isinstance(items, dict):
        kind = f"list({items.get('type') or 'object'})"
    if kind == "object" and schema.get("additionalProperties"):
        extra = schema["additionalProperties"]
        kind = f"map({extra.get('type') or 'any'})" if isinstance(extra, dict) else "object"
    flags = []
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        flags.append("open")
    if any("self == oldSelf" in it for it in rules(schema)):
        flags.append("new")
    return Row(
        type,
        path,
        kind,
        need,
        values=[str(it) for it in schema.get("enum") or () if it is not None],
        min=str(first(schema, "minimum", "minLength", "minItems")),
        max=str(first(schema, "maximum", "maxLength", "maxItems")),
        pattern=schema.get("pattern") or "",
        default=default(schema.get("default")),
        when=rules(schema),
        flags=flags,
        source=source,
    )


def first(schema, *names):
    found = [schema[name] for name in names if name in schema]
    return found[0] if found else ""


def default(value):
    if value is None or isinstance(value, (dict, list)):
        return "" if value is None else json.dumps(value, separators=(",", ":"), sort_keys=True)
    return str(value).lower() if isinstance(value, bool) else str(value)


class Builtin:
    """Returns the kinds in Kubernetes' `swagger.json`."""

    def __init__(self, path):
        self.definitions = json.loads(Path(path).read_text(encoding="utf-8"))["definitions"]

    def look(self, schema):
        while "$ref" in schema:
            schema = {
                **self.definitions[schema["$ref"].rpartition("/")[2]],
                **{k: v for k, v in schema.items() if k != "$ref"},
            }
        if schema.get("format") == "int-or-string":
            schema = {**schema, "type": "integer|string"}
        return schema

    def rows(self, type, source):
        group, version, kind = type.split("/")[0], *type.split("/")[1].split(" ")
        # A definition that is not a kind has its package as a prefix: `core/v1 PodSpec`.
        package = {"core": "core", "": "core"}.get(group, group.split(".")[0])
        schema = self.definitions[f"io.k8s.api.{package}.{version}.{kind}"]
        rows = []
        walk(schema, type, "", source, rows, set(), 0, self.look)
        return [row for row in rows if row.path not in ("apiVersion", "kind")]
