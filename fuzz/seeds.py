#!/usr/bin/env python3
"""Writes a directory of seeds for each fuzz target, from the tests, the examples and the rule files of this repository.

    python3 fuzz/seeds.py [DIRECTORY]     # fuzz/corpus by default

The seeds are not committed, because they are the cases of the tests. An input of several files is one text with headings
`=== path`, as `targets.rs` reads it.
"""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 16_000


def main():
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "fuzz/corpus"
    seeds = {name: [] for name in re.findall(r'^name = "(\w+)"$', (ROOT / "fuzz/Cargo.toml").read_text(), re.M)}
    cases = [case for path in sorted(ROOT.glob("tests/**/*.md")) + sorted(ROOT.glob("rules/*.md")) + sorted(ROOT.glob("docs/own-rules/*.md"))
             for case in cases_of(path.read_text())]
    examples = [files_below(path) for path in sorted(ROOT.glob("examples/*")) if path.is_dir()]
    for case in cases + examples:
        sort_in(case, seeds)
    seeds["page"] += [path.read_text() for path in ROOT.glob("rules/*.md")] + broken_pages()
    for page in seeds["page"]:
        seeds["condition"] += conditions(page)
    seeds["configuration"] += [path.read_text() for path in ROOT.glob("**/gpulint.toml") if "target" not in path.parts]
    seeds["suppression"] += comments(cases)
    seeds["prices"] += [head(path.read_text()) for path in [*ROOT.glob("pricing/*.csv"), *ROOT.glob("tests/catalog/*.csv")]]
    seeds["names"] += names()
    seeds["saved"] += saved_reports(examples)
    for name, texts in seeds.items():
        directory = out / name
        directory.mkdir(parents=True, exist_ok=True)
        kept = sorted({text for text in texts if text.strip() and len(text.encode()) <= LONGEST})
        for text in kept:
            (directory / hashlib.sha1(text.encode()).hexdigest()).write_bytes(text.encode())
        print(f"{name:14} {len(kept):5} seeds")
        assert kept, name


def cases_of(markdown):
    """Returns the files of each section: [(path, language, text)]."""
    case = []
    for kind, info, text in parts(markdown):
        if kind == "heading":
            if case:
                yield case
            case = []
            continue
        words = info.split()
        language = words[0] if words else ""
        named = next((word.removeprefix("file=") for word in words[1:] if word.startswith("file=")), words[1] if len(words) > 1 else None)
        default = {"hcl": "main.tf", "yaml": "all.yaml", "json": "plan.json", "page": "page.md", "toml": "gpulint.toml", "csv": "own.csv",
                   "terraform": "main.tf", "config": "gpulint.toml", "prices": "own.csv"}.get(language)
        if path := named or default:
            case.append((path, language, text))
    if case:
        yield case


def parts(markdown):
    fence, info, lines = None, "", []
    for line in markdown.splitlines(keepends=True):
        ticks = re.match(r"`{3,}", line)
        if fence is None and ticks:
            fence, info, lines = ticks[0], line.strip("`\n "), []
        elif fence is not None and line.strip() == fence:
            yield "fence", info, "".join(lines)
            fence = None
        elif fence is not None:
            lines.append(line)
        elif line.startswith("#"):
            yield "heading", "", ""


def files_below(directory):
    paths = sorted(path for path in directory.rglob("*") if path.is_file() and path.suffix in {".tf", ".tfvars", ".yaml", ".yml", ".json"})
    return [(str(path.relative_to(directory)), path.suffix, path.read_text()) for path in paths]


def joined(files):
    return "".join(f"=== {path}\n{text}" for path, text in files)


def sort_in(case, seeds):
    tree = {}
    for path, _, text in case:
        tree.setdefault(path, text)
    files = list(tree.items())
    for path, text in files:
        if path.endswith(".tfvars"):
            seeds["tfvars"].append(text)
        elif path.endswith(".json") and "format_version" in text:
            seeds["plan"].append(text)
        elif path.endswith("gpulint.toml"):
            seeds["configuration"].append(text)
        elif path.endswith(".csv"):
            seeds["prices"].append(text)
        elif path.endswith(".md"):
            seeds["page"].append(text)
    before = [(path.removeprefix("before/"), text) for path, text in files if path.startswith("before/")]
    after = [(path.removeprefix("after/"), text) for path, text in files if path.startswith("after/")]
    if before or after:
        seeds["change"].append(joined(before) + "======\n" + joined(after))
        return
    read = [(path, text) for path, text in files if path.endswith((".tf", ".tofu", ".tfvars", ".json", ".yaml", ".yml", ".tpl"))]
    if any(path.endswith((".tf", ".tf.json", ".tofu")) for path, _ in read):
        seeds["terraform"].append(joined(read))
    elif any("AWS::" in text for _, text in read):
        seeds["template"].append(joined(read))
    elif any(path.endswith((".yaml", ".yml", ".tpl")) for path, _ in read):
        seeds["kubernetes"].append(joined(read))
        seeds["change"].append("======\n" + joined(read))


def broken_pages():
    """Returns invalid rule files; each differs in a few lines from a valid one."""
    good = (ROOT / "rules/idle-gpus.md").read_text()
    front = {"name", "group", "layer", "level", "risk", "since", "profile", "message", "help", "at", "when"}
    pages = []
    for case in cases_of((ROOT / "tests/pages/broken.md").read_text()):
        for _, language, text in case:
            if language == "page":
                said = {line.split(":")[0] for line in text.splitlines()}
                rest = "".join(f"{key}: x\n" for key in sorted(front - said - {"when", "name", "level", "risk", "profile", "layer"}))
                pages.append(f"---\nname: broken\nlayer: efficiency\nlevel: note\nrisk: low\nprofile: all\n{text}{rest}---\n# broken\n")
    return pages + [good.replace("idle-gpus", "mine")]


def conditions(page):
    front = page.split("---")[1] if page.startswith("---") else page
    found = re.findall(r"^(?:when|saves):\s*(?:>-\s*\n((?:[ \t]+.*\n)+)|(.+)\n)", front, re.M)
    return [" ".join((block or line).split()) for block, line in found] + re.findall(r"\{([^{}|]+)[|}]", front)


def comments(cases):
    lines = []
    for case in cases:
        for _, _, text in case:
            lines += [line.strip().lstrip("#/* ") for line in text.splitlines() if "gpulint:" in line]
    lines += ["gpulint: ignore[missing-labels] until=2027-01-31 -- why", "until=2027-01-31; reason", "gpulint: ignore-file[idle-gpus]"]
    return lines + ["\n".join(lines[at:at + 10]) for at in range(0, len(lines), 5)]


def names():
    hostile = ["a\nb\nc\np4d.24xlarge\ntraining\nx", "::error::x\n@everyone\n<script>\n| a |\n```\n[x](http://x)\n",
               "\u001b[2J\n\u202e\n\u200b\n%0A::set-output\n=cmd()\n\"';\n", "../..\n${var.x}\n%{if true}\n{{ .Values.x }}\n<!-- gpulint -->\n&amp;\n"]
    return hostile + ["\n".join(line[::-1] for line in it.split("\n")) for it in hostile]


def head(table):
    lines = table.splitlines(keepends=True)
    return "".join(lines[:1] + lines[1:: max(1, len(lines) // 25)])


def saved_reports(examples):
    """Returns reports of the program, if it is built, and the committed ones."""
    reports = [path.read_text() for path in ROOT.glob("tests/formats/expected.json")]
    program = next((path for path in [ROOT / "target/debug/gpulint", ROOT / "target/release/gpulint"] if path.exists()), None)
    for directory in sorted(ROOT.glob("examples/*")) if program else []:
        for arguments in [["check"], ["diff", "--base-dir", str(ROOT / "examples/mixed")]]:
            done = subprocess.run([program, *arguments, "--no-config", "--prices", "embedded", "--format", "json", "."],
                                  cwd=directory, capture_output=True, text=True, check=False)
            if done.stdout.startswith("{"):
                reports.append(json.dumps(json.loads(done.stdout)))
                reports += parts_of_report(json.loads(done.stdout))
    return reports


def parts_of_report(report):
    """Returns the report with at most one entry in each list, because the fuzzer tries small inputs more often."""
    return [json.dumps({key: value[at:at + 1] if isinstance(value, list) else value for key, value in report.items()}) for at in range(3)]


if __name__ == "__main__":
    main()
