#!/usr/bin/env python3
"""Compares gpulint and helm on random templates.

usage: templates.py GPULINT HELM [--count 2000] [--seed 1]

Each template is a chart of its own with values of its own; its output goes through base64, so that it is YAML whatever it
is. Both must print the same, or both refuse. Prints each difference, and the share that is equal.
"""

import argparse
import base64
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

TEXTS = ["a", "Web-1", "llm server", "", "x.y", "8", "true", "a,b,c", "nvidia.com/gpu", " pad ", "ünï", "1e3", "0x1f", "q\"uote"]
KEYS = ["name", "gpu", "count", "on", "list", "map", "deep", "empty", "text", "ratio"]

# Functions by what they give: their names with fixed arguments, and what they take behind these.
CALLS = {
    "text": [
        ("upper", "text"), ("lower", "text"), ("title", "text"), ("trim", "text"), ("quote", "any"), ("squote", "any"),
        ("toString", "any"), ("toYaml", "any"), ("toJson", "any"), ("toPrettyJson", "any"), ("b64enc", "text"), ("sha256sum", "text"),
        ("kindOf", "any"), ("typeOf", "any"), ("camelcase", "text"), ("snakecase", "text"), ("kebabcase", "text"), ("nospace", "text"),
        ("untitle", "text"), ("swapcase", "text"), ("initials", "text"), ("html", "text"), ("urlquery", "text"), ("js", "text"),
        ("print", "any", "any"), ("println", "any"), ("printf \"%v-%v\"", "any", "any"), ("printf \"%d\"", "number"), ("printf \"%s\"", "text"),
        ("printf \"%q\"", "text"), ("printf \"%5.2f\"", "ratio"), ("printf \"%-6s|\"", "text"), ("printf \"%05d\"", "number"), ("printf \"%T\"", "any"),
        ("repeat 2", "text"), ("trunc 3", "text"), ("trunc -2", "text"), ("indent 2", "text"), ("nindent 4", "text"), ("cat", "any", "any"),
        ("join \",\"", "list"), ("replace \"a\" \"b\"", "text"), ("trimSuffix \"a\"", "text"), ("trimPrefix \"B\"", "text"), ("trimAll", "text", "text"),
        ("substr 0 2", "text"), ("wrap 3", "text"), ("abbrev 5", "text"), ("plural \"one\" \"many\"", "number"), ("regexFind \"[a-z]+\"", "text"),
        ("regexReplaceAll \"[aeiou]\"", "text", "text"), ("regexReplaceAllLiteral \"a\"", "text", "text"), ("ternary \"y\" \"n\"", "flag"),
        ("default", "text", "any"), ("coalesce", "any", "text"), ("base", "text"), ("dir", "text"), ("ext", "text"), ("clean", "text"), ("adler32sum", "text"),
        ("b64dec | default \"x\"", "text"), ("squote", "text"), ("wrapWith 3 \"-\"", "text"), ("sha1sum", "text"), ("substr 1 -1", "text"),
        ("dig \"name\" \"none\"", "map"), ("tpl \"{{ upper .Release.Name }}\" $", ), ("semver \"1.2.3-x\" | toString",), ("untilStep 0 6 2 | join \"-\"",), ("get (dict) \"a\" | default (index (split \",\" \"a,b\") \"_1\")",), ("join \"+\"", "list"),
    ],
    "number": [
        ("add", "number", "number"), ("sub", "number", "number"), ("mul", "number", "number"), ("div 100", "number"), ("mod 17", "number"),
        ("max", "number", "number"), ("min", "number", "number"), ("add1", "number"), ("len", "text"), ("len", "list"), ("len", "map"), ("int", "any"),
        ("int64", "any"), ("int", "text"), ("ternary 1 2", "flag"), ("default", "number", "number"), ("atoi", "text"), ("toDecimal", "text"), ("biggest", "number", "number"),
    ],
    "ratio": [
        ("float64", "any"), ("addf", "ratio", "number"), ("subf", "ratio", "ratio"), ("mulf", "ratio", "ratio"), ("divf 7", "ratio"), ("floor", "ratio"),
        ("ceil", "ratio"), ("maxf", "ratio", "ratio"), ("minf", "ratio", "number"),
    ],
    "flag": [
        ("not", "any"), ("empty", "any"), ("eq", "text", "text"), ("eq", "number", "number"), ("ne", "text", "text"), ("lt", "number", "number"),
        ("gt", "number", "number"), ("le", "text", "text"), ("ge", "ratio", "ratio"), ("and", "flag", "flag"), ("or", "flag", "flag"), ("and", "any", "any"),
        ("contains", "text", "text"), ("hasPrefix", "text", "text"), ("hasSuffix", "text", "text"), ("has", "any", "list"), ("regexMatch \"^[a-z]+$\"", "text"),
        ("kindIs \"string\"", "any"), ("typeIs \"int\"", "any"), ("semverCompare \">=1.2.0-0\"", "text"), ("all", "any", "any"), ("any", "any", "any"),
        ("deepEqual", "any", "any"), ("eq", "any", "any"), ("hasKey", "map", "text"), ("or", "any", "any"), ("eq 1", "number"), ("eq \"a\" \"b\"", "text"),
    ],
    "list": [
        ("list", "any", "any"), ("first | list", "list"), ("rest", "list"), ("initial", "list"), ("uniq", "list"), ("sortAlpha", "list"), ("keys", "map"),
        ("values", "map"), ("reverse", "list"), ("compact", "list"), ("toStrings", "list"), ("append", "list", "any"), ("prepend", "list", "any"),
        ("without", "list", "text"), ("concat", "list", "list"), ("splitList \",\"", "text"), ("until 3",), ("untilStep 1 9 3",), ("slice", "list"),
        ("fromJsonArray", "text"), ("fromYamlArray", "text"), ("pluck \"name\"", "map", "map"), ("regexSplit \"-\"", "text", "number"), ("regexFindAll \"[a-z]\"", "text", "number"),
        ("chunk 2", "list"), ("seq 3 | splitList \" \"",), ("default", "list", "any"),
    ],
    "map": [
        ("dict \"a\"", "any"), ("pick", "map", "text"), ("omit", "map", "text"), ("merge", "map", "map"), ("mergeOverwrite", "map", "map"),
        ("fromYaml", "text"), ("fromJson", "text"), ("deepCopy", "map"), ("set (dict)", "text", "any"), ("default", "map", "any"),
        ("toYaml | fromYaml", "map"), ("toJson | fromJson", "map"), ("unset", "map", "text"), ("merge (dict)", "map"),
    ],
}


class Case:
    """Returns values, and a template that uses them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.values = {key: self.value(2) for key in KEYS if self.random.random() < 0.9}
        self.variables = {}
        self.defines = []
        self.names = 0
        self.inside = 0

    def one(self, *choices):
        return self.random.choice(choices)

    def value(self, depth):
        kinds = ["text", "int", "bool", "float", "null"] + (["list", "map"] * 2 if depth else [])
        kind = self.random.choice(kinds)
        if kind == "text":
            return self.random.choice(TEXTS)
        if kind == "int":
            return self.random.choice([0, 1, 2, 3, 8, -1, 1000000, 12345678])
        if kind == "float":
            return self.random.choice([0.5, 1.0, 2.25, 1e9, -0.1])
        if kind == "bool":
            return self.random.random() < 0.5
        if kind == "null":
            return None
        if kind == "list":
            return [self.value(depth - 1) for _ in range(self.random.randint(0, 3))]
        return {key: self.value(depth - 1) for key in self.random.sample(KEYS, self.random.randint(0, 3))}

    def paths(self, kind, value=None, path=""):
        """The paths of the values that are of a kind."""
        value = self.values if not path else value
        kinds = {"text": str, "number": int, "ratio": float, "flag": bool, "list": list, "map": dict}
        found = [path] if path and type(value) is kinds.get(kind) else []
        if isinstance(value, dict):
            for key, inner in value.items():
                found += self.paths(kind, inner, f"{path}.{key}")
        return found

    def atom(self, kind):
        """What is of a kind without calling anything."""
        if kind == "any":
            return self.atom(self.one("text", "number", "flag", "list", "map", "ratio")) if self.random.random() < 0.93 else self.one("nil", ".", ".Values.missing")
        paths = self.paths(kind)
        if paths and self.random.random() < 0.6:
            return self.one(".Values", "$.Values") + self.random.choice(paths) if self.inside == 0 else "$.Values" + self.random.choice(paths)
        if kind in self.variables and self.variables[kind] and self.random.random() < 0.5:
            return self.random.choice(self.variables[kind])
        return {
            "text": lambda: self.one('"a"', '"B-c d"', '""', "`raw \\n`", '"x,y"', "$.Release.Name", "$.Chart.Name", '"8"', '"Grün"'),
            "number": lambda: self.one("1", "0", "-3", "7", "1000000"),
            "ratio": lambda: self.one("2.5", "0.1", "-1.75"),
            "flag": lambda: self.one("true", "false"),
            "list": lambda: "(list " + " ".join(self.atom("text") for _ in range(self.random.randint(0, 3))) + ")",
            "map": lambda: "(dict " + " ".join(f'"{key}" {self.atom("text")}' for key in self.random.sample(KEYS, self.random.randint(0, 2))) + ")",
        }[kind]()

    def expression(self, kind, depth):
        """A call of a function that gives what is of a kind; now and then one that gives something else."""
        if kind == "any":
            kind = self.one("text", "text", "number", "flag", "list", "map", "ratio")
        if self.random.random() < 0.02:
            kind = self.one(*CALLS)
        if depth == 0 or self.random.random() < 0.2:
            return self.atom(kind)
        call, *wanted = self.random.choice(CALLS[kind])
        arguments = []
        for one in wanted:
            inner = self.expression(one, depth - 1)
            arguments.append(f"({inner})" if " " in inner and not inner.startswith(("(", '"', "`")) or inner.startswith("(") and not inner.endswith(")") else inner)
        if arguments and self.random.random() < 0.4:
            *before, last = arguments
            return f"{last} | {call} {' '.join(before)}".strip()
        return f"{call} {' '.join(arguments)}".strip()

    def action(self, text):
        return self.one("{{", "{{", "{{-") + f" {text} " + self.one("}}", "}}", "-}}")

    def block(self, depth):
        known = {kind: list(names) for kind, names in self.variables.items()}
        text = "".join(self.statement(depth) for _ in range(self.random.randint(1, 3)))
        self.variables = known
        return text

    def new(self, kind):
        self.names += 1
        name = f"$x{self.names}"
        self.variables.setdefault(kind, []).append(name)
        return name

    def within(self, head, depth, otherwise=0.3):
        """Returns a block in which the dot has another value."""
        self.inside += 1
        text = self.action(head) + self.block(depth)
        self.inside -= 1
        if self.random.random() < otherwise:
            text += self.action("else") + self.block(depth)
        return text + self.action("end")

    def statement(self, depth):
        kind = self.random.random()
        if depth == 0 or kind < 0.4:
            if self.random.random() < 0.2:
                return self.one("text ", "a: b\n", "\n", "  - x\n", "# c\n")
            return self.action(self.expression("any", 3))
        if kind < 0.55:
            text = self.action(f"if {self.expression(self.one('flag', 'any'), 2)}") + self.block(depth - 1)
            if self.random.random() < 0.3:
                text += self.action(f"else if {self.expression('flag', 2)}") + self.block(depth - 1)
            if self.random.random() < 0.5:
                text += self.action("else") + self.block(depth - 1)
            return text + self.action("end")
        if kind < 0.72:
            known = {kind: list(names) for kind, names in self.variables.items()}
            over = self.expression(self.one("list", "list", "map"), 2)
            head = self.one(f"range {over}", f"range $i, $v := {over}", f"range $v := {over}")
            if "$v" in head:
                self.variables.setdefault("any", []).append("$v")
            text = self.within(head, depth - 1)
            self.variables = known
            if self.random.random() < 0.15:
                stop = self.action(f"if {self.expression('flag', 1)}") + self.action(self.one("break", "continue")) + self.action("end")
                text = self.action("range until 4") + stop + self.action(".") + self.action("end") + text
            return text
        if kind < 0.8:
            return self.within(f"with {self.expression('any', 2)}", depth - 1)
        if kind < 0.92:
            sort = self.one("text", "number", "list", "map", "flag")
            value = self.expression(sort, 2)
            known = self.variables.get(sort)
            if known and self.random.random() < 0.3:
                return self.action(f"{self.random.choice(known)} = {value}")
            return self.action(f"{self.new(sort)} := {value}")
        if len(self.defines) < 4:
            number = len(self.defines)
            self.defines.append("")
            known, self.variables = self.variables, {}
            outside, self.inside = self.inside, 0
            self.defines[number] = self.action(f'define "h{number}"') + self.block(1) + self.action("end")
            self.variables, self.inside = known, outside
            return self.action(f'{self.one("include", "include", "template")} "h{number}" $')
        return self.action('tpl "{{ .Release.Name }}-{{ len .Values }}" $')

    def write(self, place):
        body = "".join(self.block(3) for _ in range(2))
        os.makedirs(f"{place}/templates", exist_ok=True)
        files = {
            "Chart.yaml": "apiVersion: v2\nname: c\nversion: 0.1.0\n",
            "values.yaml": json.dumps(self.values, ensure_ascii=False) + "\n",
            "templates/_h.tpl": "\n".join(self.defines) + '{{ define "body" }}' + body + "{{ end }}\n",
            "templates/a.yaml": 'v: {{ include "body" . | b64enc | quote }}\n',
        }
        for name, text in files.items():
            with open(f"{place}/{name}", "w") as file:
                file.write(text)
        return files["templates/_h.tpl"]


def run(command, where):
    try:
        done = subprocess.run(command, cwd=where, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return None, "timeout"
    found = re.search(r'^v: "?([A-Za-z0-9+/=]*)"?$', done.stdout, re.M)
    if done.returncode == 0 and found:
        return base64.b64decode(found.group(1)).decode(errors="replace"), ""
    return None, (done.stderr or done.stdout).strip()[-400:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpulint")
    parser.add_argument("helm")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()

    def one(seed):
        with tempfile.TemporaryDirectory() as place:
            text = Case(seed).write(f"{place}/c")
            theirs = run([given.helm, "template", "c", "c", "--kube-version", "v1.34.0"], place)
            ours = run([given.gpulint, "template", "--no-config", "c"], place)
        return seed, text, theirs, ours

    counts = {"equal": 0, "both refuse": 0, "different": 0, "only helm": 0, "only gpulint": 0}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for seed, text, theirs, ours in pool.map(one, range(given.seed, given.seed + given.count)):
            if theirs[0] is None:
                kind = "both refuse" if ours[0] is None else "only gpulint"
            elif ours[0] is None:
                kind = "only helm"
            else:
                kind = "equal" if ours[0] == theirs[0] else "different"
            counts[kind] += 1
            if kind not in ("equal", "both refuse"):
                print(f"{kind}: seed {seed}\n{text}\nhelm: {theirs[0]!r} {theirs[1]}\ngpulint: {ours[0]!r} {ours[1]}\n")
    print(counts)
    sys.exit(1 if counts["different"] + counts["only helm"] + counts["only gpulint"] else 0)


main()
