"""Checks files with the tables: the place and type of each value, and required other values.

Checks only properties in the tables. Skips values that another place computes.
"""

import csv
import json
import re
from fnmatch import fnmatchcase
from pathlib import Path

from . import table

COMPUTED = re.compile(r"\$\{|^\[(?!\[)|\b(var|local|data|module|each|count|self)\.|^aws_|^google_|^azurerm_")
TERM = re.compile(r'^(!?)((?:[\w./@*-]|\["[^"]+"\])+)(?: (==|!=) (.+))?$')
STEP = re.compile(r'\["([^"]+)"\]|([^.\[\]]+)')


class Unknown:
    """A value that another place computes."""

    def __repr__(self):
        return "?"


UNKNOWN = Unknown()


def known(value):
    return UNKNOWN if isinstance(value, str) and COMPUTED.search(value) else value


class Tables:
    def __init__(self, root):
        self.root = Path(root)
        self.types = {}
        for path in sorted(self.root.glob("*.csv")):
            if path.stem not in ("sources", "effects", "types"):
                for row in table.read(path):
                    self.types.setdefault(row.type, {})[table.plain(row.path)] = row
        self.effects = []
        if (self.root / "effects.csv").exists():
            with open(self.root / "effects.csv", encoding="utf-8", newline="") as file:
                self.effects = list(csv.DictReader(line for line in file if not line.startswith("#")))

    def find(self, type):
        """Returns the rows of a type; for Azure, those of the version in the tables."""
        if type in self.types:
            return self.types[type]
        named = [it for it in self.types if it.split("@")[0].lower() == type.lower()]
        return self.types[named[0]] if named else None

    def judge(self, type, value):
        """Returns the errors in an object of a type."""
        rows = self.find(type)
        if rows is None:
            return
        yield from self.object(rows, value, "", value)
        for it in self.effects:
            if (
                it["type"] in (type, type.split("@")[0])
                and it["verdict"] != "told"
                and it["condition"]
                and fails(it["condition"], value)
            ):
                yield f"{it['effect']}: {it['condition']}"

    def object(self, rows, value, path, root):
        row = rows.get(path)
        if isinstance(value, list):
            yield from self.count(row, value, path)
            for item in value:
                yield from self.object(rows, item, path, root)
            return
        if isinstance(value, dict):
            below = {it: other for it, other in rows.items() if it and table.parent(it) == path}
            for name, other in below.items():
                if other.need == "required" and value.get(table.plain(other.path).rpartition(".")[2]) is None:
                    if all(alternative(it, other, value) for it in other.when):
                        yield f"`{name}` is missing"
            for name, inner in value.items():
                at = f"{path}.{name}" if path else name
                if at in rows:
                    yield from self.object(rows, inner, at, root)
                elif row is not None and "closed" in row.flags and below:
                    yield f"`{at}` is no property"
            yield from self.groups(row, value, path)
        if row is not None and path:
            yield from self.property(row, value, path, root)
        elif row is not None:
            for condition in row.when:
                if fails(condition, root):
                    yield condition

    @staticmethod
    def count(row, value, path):
        if row is None or row.kind not in ("block",) and not row.kind.startswith(("list", "set")):
            return
        if row.max and len(value) > float(row.max):
            yield f"`{path}` stands {len(value)} times, at most {row.max}"

    @staticmethod
    def groups(row, value, path):
        if row is None:
            return
        for group in row.exactly_one:
            members = group.split("+")
            there = [it for it in members if reach(value, it)]
            if len(there) != 1:
                yield f"`{path or 'it'}` needs exactly one of {', '.join(members)}" + (
                    f", not {' and '.join(there)}" if there else ""
                )
        for group in row.at_least_one:
            members = list(value) if group == "*" else group.split("+")
            if not any(reach(value, it) for it in members):
                yield f"`{path or 'it'}` needs at least one of {', '.join(members) or 'its properties'}"

    @staticmethod
    def property(row, value, path, root):
        if value is None or value is UNKNOWN or known(value) is UNKNOWN:
            return
        if row.need == "computed":
            yield f"`{path}` is read only"
        for other in row.conflicts:
            if reach(root, table.plain(other)):
                yield f"`{path}` conflicts with `{table.plain(other)}`"
        for other in row.requires:
            if not reach(root, table.plain(other)):
                yield f"`{path}` requires `{table.plain(other)}`"
        for condition in row.when:
            if fails(condition, root):
                yield condition
        yield from scalar(row, value, path)


def scalar(row, value, path):
    kinds = row.kind.split("|")
    if isinstance(value, dict):
        if not row.kind.startswith(("map", "object", "block", "pod", "list(object", "any")) and "object" not in kinds:
            yield f"`{path}` is a mapping, and has to be {row.kind}"
        return
    if isinstance(value, bool):
        right = {"bool", "boolean", "any"} & set(kinds)
    elif isinstance(value, (int, float)):
        right = (
            {"number", "integer", "string", "any"} & set(kinds)
            if "terraform" in row.source
            else {"number", "integer", "any"} & set(kinds)
        )
        right = (
            right
            or row.source.split("@")[0] in ("aws", "google", "azurerm", "kubernetes-provider", "cfn-lint")
            and "string" in kinds
        )
        if "integer" in kinds and value != int(value) and "number" not in kinds:
            right = False
    else:
        right = "string" in kinds or "any" in kinds
        numeric = re.fullmatch(r"-?\d+(\.\d+)?", str(value))
        lenient = row.source.split("@")[0] in ("aws", "google", "azurerm", "kubernetes-provider", "cfn-lint")
        if (
            lenient
            and numeric
            and {"number", "integer"} & set(kinds)
            or lenient
            and str(value) in ("true", "false")
            and "bool" in kinds
        ):
            right = True
    if row.kind.startswith(("list", "set")):
        right = not row.kind.startswith(("list(object", "set(object"))
    if row.kind.startswith(("map", "object", "block", "pod")):
        right = False
    if not right:
        yield f"`{path}` is {json.dumps(value)}, and has to be {row.kind}"
        return
    text = str(value).lower() if isinstance(value, bool) else str(value)
    allowed = row.values
    if allowed and "open" not in row.flags:
        same = [it.lower() for it in allowed] if "any-case" in row.flags else allowed
        if (text.lower() if "any-case" in row.flags else text) not in same:
            yield f"`{path}` is {json.dumps(value)}, and has to be one of {', '.join(allowed)}"
    if row.kind in ("number", "integer") and re.fullmatch(r"-?\d+(\.\d+)?", text):
        if row.min and float(text) < float(row.min):
            yield f"`{path}` is {text}, at least {row.min}"
        if row.max and float(text) > float(row.max):
            yield f"`{path}` is {text}, at most {row.max}"
    if row.pattern and isinstance(value, str) and "string" in kinds:
        try:
            if not re.search(row.pattern, value):
                yield f"`{path}` is {json.dumps(value)}, and does not match {row.pattern}"
        except re.error:
            pass


def alternative(condition, row, value):
    """Whether a required member of one of several forms of an object is meant: `computeType == "AmlCompute"`."""
    match = re.fullmatch(r'(\w+) == "(\w+)"', condition)
    return not match or value.get(match.group(1)) == match.group(2)


def reach(value, path):
    """All values at a path, through lists and maps. `["a.b"]` is one key; in a key, `*` stands for anything."""
    here = [value]
    for quoted, plain in STEP.findall(path.replace("[]", "")):
        step, nearer = quoted or plain, []
        for it in here:
            for one in it if isinstance(it, list) else [it]:
                if isinstance(one, dict):
                    nearer += [inner for key, inner in one.items() if inner is not None and fnmatchcase(str(key), step)]
        here = nearer
    return (
        [one for it in here for one in (it if isinstance(it, list) else [it])]
        if here and all(isinstance(it, list) for it in here)
        else here
    )


def holds(condition, root):
    for term in condition.split(" & "):
        match = TERM.match(term.strip())
        if not match:
            return False
        negated, path, sign, words = match.groups()
        found = reach(root, path)
        if any(known(it) is UNKNOWN for it in found):
            return False
        if not sign:
            if bool(found) == bool(negated):
                return False
            continue
        texts = [str(it).lower() if isinstance(it, bool) else str(it) for it in found] or ["absent"]
        is_one = any(text in words.split("|") for text in texts)
        if is_one != (sign == "=="):
            return False
    return True


def fails(statement, root):
    """Whether an object is what a statement forbids: `A requires B`, `A excludes B`, or a bare condition that holds."""
    if "self" in statement:  # an expression of the API server, which programs judge
        return False
    for word in (" requires ", " excludes "):
        head, found, tail = statement.partition(word)
        if found:
            if " " in tail or not holds(head, root):
                return False
            there = [bool(reach(root, it)) for it in tail.split("+")]
            return any(there) if word == " excludes " else not all(there)
    terms = statement.split(" & ")
    return (
        all(TERM.match(it.strip()) for it in terms)
        and any(it for it in terms if "==" in it or "!" in it or len(terms) > 1)
        and holds(statement, root)
    )


# Reads the objects that a file declares, each with its type.


def objects(text, language):
    readers = {"hcl": terraform, "yaml": documents, "json": arm}
    yield from readers[language](text)


def terraform(text):
    import hcl2

    whole = hcl2.loads(text)
    for block in whole.get("resource", []):
        for type, named in block.items():
            for _, body in named.items():
                yield bare(type), clean(body)
    for block in whole.get("provider", []):
        for name, body in block.items():
            yield "provider", clean(body)


def bare(text):
    return text.strip('"')


def clean(value):
    """Removes the quotes and marks that the parser leaves."""
    if isinstance(value, dict):
        return {bare(k): clean(v) for k, v in value.items() if not k.startswith("__")}
    if isinstance(value, list):
        return [clean(it) for it in value]
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1]
    return value


def documents(text):
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_multi_constructor("!", lambda loader, suffix, node: UNKNOWN)
    Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: node.value)
    for it in yaml.load_all(text, Loader):
        yield from document(it)


def document(it):
    if not isinstance(it, dict):
        return
    if isinstance(it.get("Resources"), dict):
        for resource in it["Resources"].values():
            yield resource["Type"], resource.get("Properties") or {}
    elif isinstance(it.get("resources"), dict) and any(
        isinstance(v, dict) and ":" in str(v.get("type")) for v in it["resources"].values()
    ):
        for resource in it["resources"].values():
            yield token(resource["type"]), resource.get("properties") or {}
    elif "kind" in it and "apiVersion" in it:
        yield ("core/" if it["apiVersion"] == "v1" else "") + f"{it['apiVersion']} {it['kind']}", it
        if not it["apiVersion"].startswith("serving.knative.dev"):
            for pod in pods(it):
                yield "core/v1 PodSpec", pod
    elif "resources" in it or "run" in it or "setup" in it:
        yield "skypilot task", it
        if isinstance(it.get("resources"), dict):
            yield "skypilot resources", it["resources"]
        if isinstance(it.get("service"), dict):
            yield "skypilot service", it["service"]


def token(name):
    """`aws:batch:ComputeEnvironment` is `aws:batch/computeEnvironment:ComputeEnvironment`."""
    package, module, kind = name.split(":")
    return name if "/" in module else f"{package}:{module}/{kind[0].lower()}{kind[1:]}:{kind}"


def pods(value):
    if isinstance(value, dict):
        if isinstance(value.get("containers"), list) and "minReplicas" not in value:
            yield value
        for inner in value.values():
            yield from pods(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from pods(inner)


def arm(text):
    whole = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.M))
    if "Resources" in whole:
        yield from document(whole)
        return
    resources = whole.get("resources", [])
    for it in resources.values() if isinstance(resources, dict) else resources:
        # The name of a part starts with the name of its owner.
        yield it["type"], {**it, "name": str(it.get("name", "")).rpartition("/")[2]}


def files(root, paths):
    tables, wrong = Tables(root), 0
    for path in paths:
        text = Path(path).read_text(encoding="utf-8")
        language = {".tf": "hcl", ".tofu": "hcl", ".json": "json"}.get(Path(path).suffix, "yaml")
        for type, value in objects(text, language):
            for said in tables.judge(type, value):
                print(f"{path}: {type}: {said}")
                wrong += 1
    return 1 if wrong else 0
