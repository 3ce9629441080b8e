"""Types of Pulumi → rows, from the declarations of its packages for TypeScript."""

import re
from pathlib import Path

from .table import Row

DEEPEST = 8
COMMENT = re.compile(r"^ *(?:/\*\*.*?\*/)\n", re.M | re.S)
PROPERTY = re.compile(r"^( +)(\w+)(\??): (.*?);$", re.M | re.S)


class Package:
    def __init__(self, root):
        self.root = Path(root)
        text = COMMENT.sub("", (self.root / "types" / "input.d.ts").read_text(encoding="utf-8"))
        self.inputs = {}
        space = ""
        for match in re.finditer(
            r"^export declare namespace ([\w.]+) \{|^( *)(?:export )?interface (\w+) \{\n(.*?)^\2\}", text, re.M | re.S
        ):
            if match.group(1):
                space = match.group(1)
            elif match.group(2) == "":
                self.inputs[match.group(3)] = match.group(4)
            else:
                self.inputs[f"{space}.{match.group(3)}"] = match.group(4)

    def rows(self, token, source):
        """`token` is `aws:ec2/instance:Instance`."""
        module, name = token.split(":")[1], token.rpartition(":")[2]
        text = COMMENT.sub("", (self.root / f"{module}.d.ts").read_text(encoding="utf-8"))
        body = re.search(rf"^export interface {name}Args \{{\n(.*?)^\}}", text, re.M | re.S)
        rows = [Row(token, "", "object", "", source=source)]
        self.members(body.group(1) if body else "", token, "", source, rows, 0)
        return rows

    def members(self, body, token, path, source, rows, depth):
        if depth > DEEPEST:
            return
        least = min((len(it.group(1)) for it in PROPERTY.finditer(body)), default=0)
        for indent, name, optional, type in PROPERTY.findall(body):
            if len(indent) != least:
                continue
            below = f"{path}.{name}" if path else name
            inner = re.search(r"inputs\.([\w.]+)", type)
            several = "[]" in type
            row = Row(
                token,
                below + ("[]" if inner and several else ""),
                kind(type),
                "optional" if optional else "required",
                source=source,
            )
            row.values = re.findall(r'"([^"]+)"', type)
            rows.append(row)
            if inner and inner.group(1) in self.inputs:
                self.members(self.inputs[inner.group(1)], token, row.path, source, rows, depth + 1)


def kind(type):
    if "inputs." in type:
        return "list(object)" if "[]" in type else "object"
    if "[key: string]" in type:
        return "map(string)"
    scalar = next(
        (
            ours
            for theirs, ours in (("string", "string"), ("enums.", "string"), ("number", "number"), ("boolean", "bool"))
            if theirs in type
        ),
        "any",
    )
    return f"list({scalar})" if "[]" in type else scalar
