"""The rows of a table, how rows are chosen, and how a table is written and read."""

import csv
import re
from dataclasses import dataclass, field, fields, replace

LISTS = ("values", "requires", "conflicts", "exactly_one", "at_least_one", "when", "flags")
# Longer lists are values such as the machines of a region, which do not belong in schema tables.
MOST_VALUES = 40
MOST_PATTERN = 60
MOST_CONDITION = 300
# A group with more members stands for any property of the object: `*`.
MOST_MEMBERS = 6
# The separator between conditions, which are expressions and may contain any other character.
SPLIT = " ;; "


@dataclass
class Row:
    """The schema of one property. The README of `schema/targets` defines each column."""

    type: str
    path: str
    kind: str = "any"
    need: str = "optional"
    values: list = field(default_factory=list)
    min: str = ""
    max: str = ""
    pattern: str = ""
    default: str = ""
    requires: list = field(default_factory=list)
    conflicts: list = field(default_factory=list)
    exactly_one: list = field(default_factory=list)
    at_least_one: list = field(default_factory=list)
    when: list = field(default_factory=list)
    flags: list = field(default_factory=list)
    source: str = ""

    def mentions(self):
        """Returns the properties that are necessary to write this one."""
        groups = {f"{self.path}.{it}" if self.path else it for group in self.exactly_one for it in group.split("+")}
        return {*self.requires, *self.conflicts, *groups}


COLUMNS = [it.name for it in fields(Row)]


def plain(path):
    """Returns the path without list and map marks, to compare paths of different sources."""
    return path.replace("[]", "").replace(".*", "")


def parent(path):
    return path.rpartition(".")[0]


def compile_pattern(pattern):
    """`a.b` is one property, `a.*` its properties, `a.**` all below, `**` all."""
    if pattern == "**":
        return re.compile(r".*")
    body = re.escape(pattern).replace(r"\.\*\*", r"(\..*)?").replace(r"\*", r"[^.]*")
    return re.compile(body + r"$")


def lift_groups(rows):
    """Moves groups of alternatives from their members to the object that has them all, each group once."""
    by_path = {plain(row.path): row for row in rows}
    if "" not in by_path:
        rows.insert(0, Row(rows[0].type, "", "object", "", source=rows[0].source))
        by_path[""] = rows[0]
    for row in list(by_path.values()):
        for name in ("exactly_one", "at_least_one"):
            members = {plain(it) for it in getattr(row, name)} | {plain(row.path)}
            if len(members) < 2 or row.path == "" or any("+" in it for it in members):
                continue
            setattr(row, name, [])
            above = common(members)
            size = len(above) + 1 if above else 0
            group = "+".join(sorted(it[size:] for it in members))
            if name == "at_least_one" and len(members) > MOST_MEMBERS:
                group = "*"
            if above in by_path and group not in getattr(by_path[above], name):
                getattr(by_path[above], name).append(group)
    return rows


def common(paths):
    """Returns the longest common parent path."""
    parts = [it.split(".")[:-1] for it in paths]
    shared = []
    for step in zip(*parts):
        if len(set(step)) > 1:
            break
        shared.append(step[0])
    return ".".join(shared)


def choose(rows, patterns):
    """Returns the rows that match the patterns, with their parents, required properties and relations."""
    wanted = [compile_pattern(it) for it in patterns if not it.startswith("!")]
    banned = [compile_pattern(it[1:]) for it in patterns if it.startswith("!")]
    by_path = {plain(row.path): row for row in rows}

    def is_wanted(path):
        return any(it.match(path) for it in wanted) and not any(it.match(path) for it in banned)

    kept = {path for path, row in by_path.items() if is_wanted(path) and row.need != "computed"}
    kept |= {path for path in by_path if path in patterns}
    pending = set(kept) | {""}
    while pending:
        path = pending.pop()
        near = {other for other, row in by_path.items() if parent(other) == path and row.need == "required"}
        row = by_path.get(path)
        if row:
            near |= {other for other in map(plain, row.mentions()) if other in by_path}
        if path:
            near.add(parent(path))
        new = {it for it in near if it in by_path and it not in kept}
        kept |= new
        pending |= new
    top = [by_path[""]] if "" in by_path and "" not in kept else []
    return top + [by_path[path] for path in sorted(kept)]


def unmatched(rows, patterns):
    """Returns the patterns without a match: renamed targets or typing errors."""
    paths = [plain(row.path) for row in rows]
    return [
        it for it in patterns if not it.startswith("!") and not any(compile_pattern(it).match(path) for path in paths)
    ]


def cell(name, value):
    if name not in LISTS:
        return str(value)
    return SPLIT.join(value) if name == "when" else "|".join(map(str, value))


def shorten(row):
    """Removes values that are too long for a schema table."""
    row.when = [it for it in row.when if len(it) <= MOST_CONDITION]
    if len(row.values) > MOST_VALUES:
        row.values, row.flags = [], [*row.flags, "many"]
    if len(row.pattern) > MOST_PATTERN:
        row.pattern = ""
    return row


def write(path, rows, note):
    """Each type begins with a row that names it and its source; the rows below leave both out, and empty cells at the end."""
    groups = {}
    for row in sorted(rows, key=lambda it: (it.type, it.path)):
        groups.setdefault(row.type, []).append(shorten(row))
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(f"# {note}\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for type, group in sorted(groups.items()):
            if group[0].path:  # no row of its own yet
                group.insert(0, Row(type, "", "object", "", source=group[0].source))
            for row in group:
                named = replace(row, type="", source="") if row.path else row
                cells = [cell(name, getattr(named, name)) for name in COLUMNS]
                while not cells[-1]:
                    cells.pop()
                table.writerow(cells)


def read(path):
    """The rows of a table, each with its type and its source."""
    above = None
    with open(path, encoding="utf-8", newline="") as file:
        lines = (line for line in file if not line.startswith("#"))
        for raw in csv.DictReader(lines, restval=""):
            for name in LISTS:
                split = SPLIT if name == "when" else "|"
                raw[name] = raw[name].split(split) if raw[name] else []
            row = Row(**raw)
            if row.type:
                above = row
            row.type, row.source = above.type, above.source
            yield row
