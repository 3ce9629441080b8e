"""Runs the cases of `schema/targets/cases`: the file before a fix, and allowed and forbidden results.

Each `##` is a case. Its code blocks are marked `before`, `wrong` or `right`, and `verdicts` below lists the result of each
checker. At least one checker must refuse each `wrong` block, and none may refuse a `right` block.
"""

import re
from collections import Counter
from pathlib import Path

from . import judge, programs

FENCE = re.compile(r"^```(hcl|yaml|json) (before|wrong|right)\n(.*?)^```$", re.M | re.S)
VERDICTS = re.compile(r"^```verdicts\n.*?^```\n?", re.M | re.S)
LONGEST = 150


def by_tables(tables):
    def ask(text, language):
        said = [(type, it) for type, value in judge.objects(text, language) for it in tables.judge(type, value)]
        effects = {it["effect"] for it in tables.effects}
        schema = [it for _, it in said if it.split(": ")[0] not in effects]
        return "tables", schema

    return ask


def by_effects(tables):
    def ask(text, language):
        known = {(it["effect"], it["condition"]): it for it in tables.effects}
        found = []
        for type, value in judge.objects(text, language):
            for said in tables.judge(type, value):
                effect, _, condition = said.partition(": ")
                if (effect, condition) in known:
                    found.append(said)
        return "effects", found

    return ask


def verdicts(text, judges):
    """Returns (code block, checker, errors) for each code block of a case and each checker that supports it."""
    for language, mark, body in FENCE.findall(text):
        for ask in judges:
            told = ask(body, language)
            if told is not None:
                yield mark, told[0], told[1]


def run(root, sources):
    root = Path(root)
    tables = judge.Tables(root)
    targets = __import__("schemas").read_toml("targets.toml")
    place = __import__("schemas").Sources(sources) if sources else None
    judges = [by_tables(tables), by_effects(tables), *programs.all_programs(place, targets)]
    count, failures, cases = Counter(), [], 0
    for path in sorted((root / "cases").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        head, *parts = re.split(r"^(?=## )", text, flags=re.M)
        written = [head]
        for part in parts:
            cases += 1
            part = VERDICTS.sub("", part).rstrip() + "\n"
            lines, against, marks = [], Counter(), {it[1] for it in FENCE.findall(part)}
            for mark, name, objections in verdicts(part, judges):
                verdict = "invalid" if objections else "valid"
                count[name.split(",")[0], mark, verdict] += 1
                against[mark] += bool(objections)
                shown = f": {objections[0][:LONGEST]}" if objections else ""
                lines.append(f"{mark:6} {name}: {verdict}{shown}")
            title = part.split("\n")[0]
            if "wrong" in marks and not against["wrong"]:
                failures.append(f"{path.name} {title}: nobody objects to what is wrong")
            failures += [f"{path.name} {title}: {it} is refused" for it in ("right",) if against[it]]
            body = "\n".join(lines)
            written.append(f"{part}\n```verdicts\n{body}\n```\n\n")
        path.write_text("".join(written).rstrip() + "\n", encoding="utf-8")
    print(f"{cases} cases")
    for (name, mark, verdict), number in sorted(count.items()):
        print(f"{number:4} {name}: {mark} {verdict}")
    for it in failures:
        print(it)
    return 1 if failures else 0
