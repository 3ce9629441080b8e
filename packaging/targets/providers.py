"""Reads enumerations, bounds and relations from the source of a Terraform provider, beyond its schema.

`terraform providers schema` leaves these out: they are functions and lists in the provider's own code.
"""

import re
from pathlib import Path

from .golang import UNKNOWN, Call, Composite, Name, Package

RELATIONS = {
    "ConflictsWith": "conflicts",
    "RequiredWith": "requires",
    "ExactlyOneOf": "exactly_one",
    "AtLeastOneOf": "at_least_one",
}
DEEPEST = 12


class Source:
    """The source checkout of a provider, with the modules that it uses."""

    def __init__(self, root, modules=None):
        self.root, self.modules = Path(root), Path(modules) if modules else None
        self.packages = {}

    def package(self, directory):
        if directory not in self.packages:
            self.packages[directory] = Package(directory)
        return self.packages[directory]

    def imported(self, path):
        """Returns the package of an import path, from the provider or from Go's module cache."""
        parts = path.split("/")
        inside = self.root.joinpath(*parts[3:])
        if len(parts) > 3 and inside.is_dir():
            return self.package(inside)
        if self.modules is None:
            return None
        for length in range(len(parts), 1, -1):
            above = self.modules.joinpath(*[escape(it) for it in parts[: length - 1]])
            found = sorted(above.glob(escape(parts[length - 1]) + "@*"))
            if found:
                directory = found[-1].joinpath(*parts[length:])
                return self.package(directory) if directory.is_dir() else None
        return None


def escape(part):
    """Returns a path with capitals in the form of Go's module cache."""
    return re.sub(r"[A-Z]", lambda it: "!" + it.group().lower(), part)


class Reader:
    """Reads one resource."""

    def __init__(self, source, package):
        self.source, self.package, self.rows = source, package, {}

    def scope(self, name):
        """The package and the bare name of `package.Name`."""
        prefix, dot, bare = name.rpartition(".")
        if not dot:
            return self, name
        for path in sorted(self.package.imports.get(prefix, ()), reverse=True):
            package = self.source.imported(path)
            if package and package.has(bare):
                return Reader(self.source, package), bare
        return None, bare

    def resolve(self, value, depth=0):
        if depth > DEEPEST:
            return UNKNOWN
        if isinstance(value, Name):
            scope, bare = self.scope(value)
            if value in ("true", "false"):
                return value == "true"
            found = scope.package.value(bare) if scope else UNKNOWN
            return found if found is UNKNOWN or not isinstance(found, Name) else scope.resolve(found, depth + 1)
        if isinstance(value, Call):
            if value.name in ("string", "int", "int64", "pointer.To", "utils.String") and value.arguments:
                return self.resolve(value.arguments[0], depth + 1)
            if value.name.endswith("MergeSchemas"):
                merged = Composite("map", [])
                for argument in value.arguments:
                    inner = self.resolve(argument, depth + 1)
                    if isinstance(inner, Composite):
                        merged.items += inner.items
                return merged
            scope, bare = self.scope(value.name)
            found = scope.package.result(bare) if scope else UNKNOWN
            if isinstance(found, (Name, Call)):
                return scope.resolve(found, depth + 1)
            return self.with_scope(found, scope)
        return value

    def with_scope(self, value, scope):
        """Elements of another package's list are resolved there."""
        if isinstance(value, Composite) and scope is not self and value.type.startswith("[]string"):
            value.items = [(None, scope.resolve(item)) for _, item in value.items]
        return value

    def strings(self, value):
        value = self.resolve(value)
        if not isinstance(value, Composite):
            return []
        found = [self.resolve(item) for _, item in value.items]
        return [it for it in found if isinstance(it, str)]

    def complete(self, value):
        """Returns the strings of a list, or none if one is unknown."""
        value, found = self.resolve(value), self.strings(value)
        return [it for it in found if it] if isinstance(value, Composite) and len(found) == len(value.items) else []

    def read(self, function):
        resource = self.resolve(Call(function, []))
        schema = (
            self.resolve(resource.get("Schema"))
            if isinstance(resource, Composite) and resource.get("Schema") is not None
            else resource
        )
        if isinstance(schema, Composite):
            self.walk(schema, "", 0)
        return self.rows

    def walk(self, schema, prefix, depth):
        if depth > DEEPEST:
            return
        for key, value in schema.items:
            name = key and (key[1] if key[0] == "str" else self.resolve(Name(key[1])))
            value = self.resolve(value)
            if not isinstance(name, str) or not isinstance(value, Composite):
                continue
            path = f"{prefix}.{name}" if prefix else name
            self.rows[path] = facts = self.facts(value)
            inner = self.resolve(value.get("Elem")) if value.get("Elem") is not None else None
            if isinstance(inner, Composite) and inner.get("Schema") is not None:
                below = self.resolve(inner.get("Schema"))
                if isinstance(below, Composite):
                    self.walk(below, path, depth + 1)
            elif isinstance(inner, Composite):
                elements = self.facts(inner)
                for name in ("values", "pattern"):
                    facts[name] = facts.get(name) or elements.get(name)

    def facts(self, value):
        facts = {}
        for name, column in RELATIONS.items():
            if value.get(name) is not None:
                facts[column] = [normal(it) for it in self.strings(value.get(name))]
        for name in ("Required", "Optional", "Computed", "ForceNew"):
            if value.get(name) is not None:
                facts[name] = self.resolve(value.get(name)) is True
        if value.get("Deprecated") is not None:
            facts["Deprecated"] = True
        default = self.resolve(value.get("Default")) if value.get("Default") is not None else UNKNOWN
        if default is not UNKNOWN and not isinstance(default, (Composite, Call)):
            facts["default"] = str(default).lower() if isinstance(default, bool) else str(default)
        for name in ("ValidateFunc", "ValidateDiagFunc"):
            if value.get(name) is not None:
                self.validator(value.get(name), facts)
        return facts

    def validator(self, value, facts):
        if not isinstance(value, Call):
            return
        name = value.name.rpartition(".")[2]
        arguments = value.arguments
        numbers = [it for it in (self.resolve(argument) for argument in arguments) if isinstance(it, (int, float))]
        if name in ("All", "ToDiagFunc"):
            for argument in arguments:
                self.validator(argument, facts)
        elif name in ("StringInSlice", "ValidateEnum"):
            facts["values"] = self.complete(arguments[0])
        elif name == "IntInSlice":
            items = self.resolve(arguments[0])
            facts["values"] = [str(it) for _, it in items.items] if isinstance(items, Composite) else []
        elif name in ("IntBetween", "FloatBetween", "StringLenBetween") and len(numbers) == 2:
            facts["min"], facts["max"] = map(str, numbers)
        elif name in ("IntAtLeast", "FloatAtLeast") and numbers:
            facts["min"] = str(numbers[0])
        elif name in ("IntAtMost", "FloatAtMost") and numbers:
            facts["max"] = str(numbers[0])
        elif name == "ValidateRegexp" and isinstance(self.resolve(arguments[0]), str):
            facts["pattern"] = self.resolve(arguments[0])
        elif name == "StringMatch" and isinstance(arguments[0], Call) and arguments[0].arguments:
            pattern = self.resolve(arguments[0].arguments[0])
            facts["pattern"] = pattern if isinstance(pattern, str) else ""


def normal(path):
    return path.replace(".0.", ".").removesuffix(".0")


def functions_of(source, directories):
    """Type → (package, function): what the provider registers, and methods of types that tell their name."""
    found = {}
    for directory in directories:
        for path in sorted(Path(source.root).glob(directory)):
            if not path.is_dir():
                continue
            package = source.package(path)
            for file in sorted(path.glob("*.go")):
                text = file.read_text(encoding="utf-8", errors="replace")
                for kind, function in re.findall(r'"((?:google|azurerm)_\w+)":\s*([rR]esource\w+)\(\),?$', text, re.M):
                    found.setdefault(kind, (package, function))
                for kind, function in re.findall(r'Name:\s*"(google_\w+)",[^}]*?Schema:\s*(Resource\w+)\(\)', text):
                    found.setdefault(kind, (package, function))
                typed = r'^func \(\w* ?\*?(\w+)\) ResourceType\(\) string \{\s*return "(azurerm_\w+)"'
                for receiver, kind in re.findall(typed, text, re.M):
                    found.setdefault(kind, (package, f"{receiver}/Arguments"))
    return found
