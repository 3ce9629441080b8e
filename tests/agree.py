#!/usr/bin/env python3
"""Compares all reports about each directory: they must contain the same amounts.

    tests/agree.py PROGRAM DIRECTORY...

Prints a line for each contradiction, then how many reports were read and how many disagreed. `tests/it/holds/agree.rs` does
the same for every test input. This script checks the program on real trees.
"""

import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

READ = 0.51
WRITTEN = 0.011


def run(program, arguments, directory):
    command = [program, *arguments, "--prices", "embedded", "--today", "2026-11-28"]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=600)


def amounts(line):
    return [float(it.replace(",", "")) for it in re.findall(r"\$(\d[\d,]*(?:\.\d+)?)", line.replace("\\", ""))]


def first_line(text):
    return next((line for line in text.splitlines() if line.strip()), "")


def outputs(text):
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def near(one, other, within):
    return abs(one - other) <= within + abs(other) * 1e-9


def reports(program, directory, place):
    """Returns the reports of one run, by format."""
    formats = ["json", "text", "outputs", "markdown", "html", "ndjson"]
    arguments = ["check", "."]
    for form in formats:
        arguments += ["--format", form, "--output", str(place / form)]
    ended = run(program, arguments, directory)
    if ended.returncode not in (0, 1):
        return None
    found = {form: (place / form).read_text() for form in formats}
    found["focus"] = run(program, ["cost", ".", "--format", "focus"], directory).stdout
    found["cost"] = run(program, ["cost", "."], directory).stdout
    return found


def contradictions(found):
    told = json.loads(found["json"])
    sums = told["bill"]
    combined = sums["combined"]
    answer = first_line(found["text"])
    if amounts(answer) != amounts(first_line(found["markdown"])):
        yield f"markdown: {answer} | {first_line(found['markdown'])}"
    heading = re.search(r"<h1>(.*?)</h1>", found["html"])
    if heading and amounts(answer) != amounts(heading.group(1)):
        yield f"page: {answer} | {heading.group(1)}"
    if first_line(found["cost"]) != answer:
        yield f"cost: {answer} | {first_line(found['cost'])}"
    before_month = amounts(answer.split(" a month")[0]) if " a month" in answer else []
    is_apart = answer.startswith("accelerators only")
    if before_month and "not known" not in answer and not is_apart and not near(before_month[0], combined["expected"], READ):
        yield f"json: {answer} | {combined}"
    if len(answer.split()) > 20:
        yield f"more than twenty words: {answer}"
    named = outputs(found["outputs"])
    pairs = {"monthly-cost": "rented", "monthly-requested": "requested", "monthly-total": "combined"}
    for output, of in pairs.items():
        if output in named and not near(float(named[output]), sums[of]["expected"], WRITTEN):
            yield f"outputs: {output}={named[output]} | {sums[of]}"
    rows = [json.loads(line) for line in found["ndjson"].splitlines()]
    shares = sum(row.get("in_sum_expected_micro_usd") or 0 for row in rows) / 1e6
    if not near(shares, combined["expected"], WRITTEN):
        yield f"rows: {shares} | {combined}"
    total = amounts(found["text"].splitlines()[1])[:1] if len(found["text"].splitlines()) > 1 else []
    for finding in told["findings"]:
        counts = finding["suppressed"] is None and finding["baseline"] is None
        saves = (finding["saves_usd"] or {}).get("expected") or 0.0
        if counts and finding.get("counted", "deployed") == "deployed" and finding["saves_per"] == "month":
            if total and saves > total[0] + READ:
                yield f"saving: {finding['rule']} {saves} | {total[0]}"
    # November has 720 hours: machine rows have fewer hours than a month of 730, and disks a whole month.
    focus = [row for row in csv.DictReader(found["focus"].splitlines()) if row.get("x_EstimatedCost")]
    machines = [row for row in focus if not row["ResourceId"].endswith("/disks")]
    of_focus = sum(float(row["x_EstimatedCost"]) for row in machines)
    if not 0.97 * combined["expected"] - READ <= of_focus <= combined["expected"] + READ:
        yield f"focus: {of_focus} | {combined}"


def main(program, directories):
    read = disagreed = 0
    for directory in directories:
        with tempfile.TemporaryDirectory() as place:
            found = reports(program, directory, pathlib.Path(place))
            if found is None:
                print(f"{directory}: no reports")
                continue
            read += len(found)
            against = list(contradictions(found))
        disagreed += len(against)
        for line in against:
            print(f"{pathlib.Path(directory).name}: {line}"[:400])
    print(f"{read} reports of {len(directories)} directories, {disagreed} contradictions")
    return 1 if disagreed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
