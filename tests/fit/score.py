#!/usr/bin/env python3
"""Measures the estimator on a table of workloads with measured memory.

    gpulint fit --cases cases.csv > answers.jsonl
    python3 tests/fit/score.py cases.csv answers.jsonl [--groups]

Rows of evidence `formula`, and rows whose notes say "excluded from scoring", are left out. A workload fits where the need
is within the budget. With --groups the same is shown for each engine and each source, so that a term that only helps
one of them is seen.
"""

import collections
import csv
import json
import statistics
import sys


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def estimated(row, answer):
    """Returns the estimate for the measured quantity."""
    devices = number(row["gpu_count"]) or 1.0
    scope = row["mem_scope"]
    value = {
        "per_gpu": answer.get("need_gib_per_gpu"),
        "total": answer.get("total_gib"),
        "weights": answer.get("weights_gib"),
        "weights_per_gpu": answer.get("weights_gib"),
        "kv": answer.get("kv_gib"),
        "kv_per_gpu": answer.get("kv_gib"),
    }.get(scope)
    if value is None:
        return None
    return value / devices if scope in ("weights_per_gpu", "kv_per_gpu") else value


def ratio(part, whole):
    return part / whole if whole else float("nan")


def accuracy(pairs):
    """Of (fits, said): how many, accuracy, balanced accuracy, and precision and recall of "does not fit"."""
    count = collections.Counter(pairs)
    yes, no = count[True, True], count[False, False]
    recall_yes = ratio(yes, yes + count[True, False])
    recall_no = ratio(no, no + count[False, True])
    return {
        "n": len(pairs),
        "accuracy": ratio(yes + no, len(pairs)),
        "balanced": (recall_yes + recall_no) / 2,
        "no precision": ratio(no, no + count[True, False]),
        "no recall": recall_no,
    }


def show(name, scores):
    numbers = "  ".join(f"{key} {value:.3f}" for key, value in scores.items() if key != "n")
    print(f"{name:<34} n {scores['n']:>4}  {numbers}")


def main():
    paths = [path for path in sys.argv[1:] if not path.startswith("--")]
    if len(paths) != 2:
        sys.exit(__doc__)
    with open(paths[0], newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with open(paths[1], encoding="utf-8") as file:
        answers = {answer["id"]: answer for answer in map(json.loads, file)}
    pairs, errors = collections.defaultdict(list), collections.defaultdict(list)
    borderline = 0
    for row in rows:
        if row["evidence"] == "formula" or "excluded from scoring" in row["notes"]:
            continue
        answer = answers[row["id"]]
        groups = ["all", f"task {row['task']}", f"engine {row['engine'] or '-'}", f"source {row['source']}"]
        measured, estimate = number(row["mem_gib"]), estimated(row, answer)
        if measured and estimate is not None:
            for group in groups:
                errors[group].append(abs(estimate / measured - 1))
        need, budget = answer.get("need_gib_per_gpu"), answer.get("budget_gib_per_gpu")
        if row["fits"] not in ("yes", "no") or need is None or budget is None:
            continue
        fits = row["fits"] == "yes"
        for group in groups:
            pairs[group].append((fits, need <= budget))
        if row["task"] == "serve":
            if answer["verdict"] == "borderline":
                borderline += 1
            else:
                pairs["serving without borderline"].append((fits, answer["verdict"] == "fits"))
    for name in ["all", "task serve", "task train", "serving without borderline"]:
        show(name, accuracy(pairs[name]))
    print(f"serving borderline {borderline}")
    for name in ["all", "task serve", "task train"]:
        if errors[name]:
            print(f"memory error {name:<12} n {len(errors[name]):>4}  median {statistics.median(errors[name]):.3f}")
    if "--groups" in sys.argv:
        for name in sorted(group for group in pairs if group.startswith(("engine", "source"))):
            show(name, accuracy(pairs[name]))
        for name in sorted(group for group in errors if group.startswith(("engine", "source"))):
            if len(errors[name]) >= 5:
                print(f"memory error {name:<40} n {len(errors[name]):>4}  median {statistics.median(errors[name]):.3f}")


if __name__ == "__main__":
    main()
