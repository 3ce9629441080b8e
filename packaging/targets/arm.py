"""Types of Azure Resource Manager → rows, from the types of Bicep (`bicep-types-az`)."""

import json
import subprocess

from .table import Row

REQUIRED, READ_ONLY = 1, 2
DEEPEST = 10


class Types:
    """A bare repository of `bicep-types-az`."""

    def __init__(self, repository):
        self.repository = repository
        self.files = {}

    def git(self, *arguments):
        return subprocess.run(
            ["git", f"--git-dir={self.repository}", *arguments], capture_output=True, check=True, text=True
        ).stdout

    def load(self, path):
        if path not in self.files:
            self.files[path] = json.loads(self.git("show", f"HEAD:{path}"))
        return self.files[path]

    def versions(self, type):
        """Returns the stable API versions with the type's namespace, oldest first."""
        space = type.split("/")[0].lower()
        names = self.git("ls-tree", "-r", "--name-only", "HEAD", "generated").splitlines()
        found = [it for it in names if it.endswith("/types.json") and f"/{space}/" in it]
        return sorted((it for it in found if "preview" not in it), key=lambda it: it.split("/")[-2])

    def rows(self, type, source):
        for path in reversed(self.versions(type)):
            types = self.load(path)
            for entry in types:
                if entry["$type"] == "ResourceType" and entry["name"].split("@")[0].lower() == type.lower():
                    version = entry["name"].split("@")[1]
                    rows = []
                    self.walk(types, ref(entry["body"]), type, "", source, rows, 0, ())
                    for row in rows:
                        row.type = f"{type}@{version}"
                    return [row for row in rows if row.path not in ("id", "type", "apiVersion", "systemData")]
        raise KeyError(type)

    def walk(self, types, at, type, path, source, rows, depth, seen):
        entry = types[at]
        if depth > DEEPEST or at in seen:
            return
        seen = (*seen, at)
        kind = entry["$type"]
        if kind == "DiscriminatedObjectType":
            self.members(types, entry["baseProperties"], type, path, source, rows, depth, seen)
            rows.append(
                Row(
                    type,
                    join(path, entry["discriminator"]),
                    "string",
                    "required",
                    values=sorted(entry["elements"]),
                    source=source,
                )
            )
            for name, element in sorted(entry["elements"].items()):
                inner = []
                self.walk(types, ref(element), type, path, source, inner, depth + 1, seen)
                for row in inner:
                    row.when.append(f'{entry["discriminator"]} == "{name}"')
                rows += [row for row in inner if row.path != join(path, entry["discriminator"])]
            return
        self.members(types, entry.get("properties") or {}, type, path, source, rows, depth, seen)

    def members(self, types, properties, type, path, source, rows, depth, seen):
        for name, it in sorted(properties.items()):
            below = join(path, name)
            flags = it.get("flags", 0)
            need = "computed" if flags & READ_ONLY else "required" if flags & REQUIRED else "optional"
            row = Row(type, below, "any", need, source=source)
            rows.append(row)
            inner = self.describe(types, ref(it["type"]), row)
            if inner is not None and need != "computed":
                self.walk(types, inner, type, row.path, source, rows, depth + 1, seen)

    def describe(self, types, at, row):
        """Fills a row, and returns the object below it."""
        entry = types[at]
        kind = entry["$type"]
        if kind in ("StringType", "IntegerType"):
            # These types have no fractions, although some properties accept them.
            row.kind = "string" if kind == "StringType" else "number"
            row.min = str(entry.get("minLength", entry.get("minValue", "")))
            row.max = str(entry.get("maxLength", entry.get("maxValue", "")))
            row.pattern = entry.get("pattern") or ""
        elif kind == "BooleanType":
            row.kind = "bool"
        elif kind == "StringLiteralType":
            row.kind, row.values = "string", [entry["value"]]
        elif kind == "UnionType":
            members = [types[ref(it)] for it in entry["elements"]]
            row.kind = "string"
            row.values = [it["value"] for it in members if it["$type"] == "StringLiteralType"]
            if any(it["$type"] == "StringType" for it in members):
                row.flags.append("open")
        elif kind == "ArrayType":
            inner = Row(row.type, row.path)
            below = self.describe(types, ref(entry["itemType"]), inner)
            row.kind, row.values = f"list({inner.kind})", inner.values
            row.min, row.max = str(entry.get("minLength", "")), str(entry.get("maxLength", ""))
            if below is not None:
                row.path += "[]"
            return below
        elif kind in ("ObjectType", "DiscriminatedObjectType"):
            row.kind = "object"
            if not entry.get("properties") and entry.get("additionalProperties"):
                inner = Row(row.type, row.path)
                below = self.describe(types, ref(entry["additionalProperties"]), inner)
                row.kind = f"map({inner.kind})"
                if below is not None:
                    row.path += ".*"
                return below
            return at
        return None


def ref(pointer):
    return int(pointer["$ref"].rpartition("/")[2])


def join(path, name):
    return f"{path}.{name}" if path else name
