#!/usr/bin/env python3
"""Compares the cost of checkouts between two builds: the largest changes, and the share of cost by confidence.

    money.py BEFORE AFTER CHECKOUTS... [--top 50] [--today 2026-11-22]

Each directory inside CHECKOUTS is one repository. A resource is one address in one file; of several roots or deployments, the
most expensive one counts. Cost is the expected cost per month. A workload that ends has none.
"""
import argparse
import collections
import json
import os
import subprocess

WORST = ["unpriced", "estimated", "assumed", "inferred", "default", "resolved", "written"]


def cost(binary, folder, today):
    command = [binary, "cost", "--format", "json", "--no-config", "--prices", "embedded", "--today", today, "."]
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, timeout=300)
        return json.loads(run.stdout)["resources"]
    except (ValueError, subprocess.TimeoutExpired):
        return []


def known(resource):
    """Returns the lowest confidence of price, machine, number and region."""
    status = resource["price"]["status"]
    if status in ("unpriced", "estimated"):
        return status
    facts = [resource["machine"], resource["accelerator"], resource["count"]]
    origins = {(fact or {}).get("origin") for fact in facts}
    return next((word for word in WORST if any((it or "").startswith(word) for it in origins)), "written")


def by_place(resources):
    all = {}
    for it in resources:
        if it.get("version_of") or it.get("counted", "deployed") != "deployed":
            continue
        price = it["price"]
        month = (price["usd_per_month"] or {}).get("expected")
        reason = price["reason"] or price.get("hours_because") or ""
        key = (it["path"], it["address"], it["role"])
        if key not in all or (month or 0) > (all[key][0] or 0):
            all[key] = (month, price["usd_per_hour"], (it["machine"] or {}).get("value"), (it["count"] or {}).get("expected"), reason)
    return all


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("checkouts", nargs="+")
    parser.add_argument("--top", type=int, default=50)
    parser.add_argument("--today", default="2026-11-22")
    given = parser.parse_args()
    changes, shares, counts, sums = [], collections.Counter(), collections.Counter(), collections.Counter()
    for checkouts in given.checkouts:
        for name in sorted(os.listdir(checkouts)):
            folder = os.path.join(checkouts, name)
            if not os.path.isdir(folder):
                continue
            old, new = cost(given.before, folder, given.today), cost(given.after, folder, given.today)
            for it in new:
                if it.get("version_of") or it.get("counted") != "deployed" or it["role"] != "rented":
                    continue
                kind = known(it)
                counts[kind] += 1
                shares[kind] += (it["price"]["usd_per_month"] or {}).get("expected") or 0
            old, new = by_place(old), by_place(new)
            for key in old.keys() | new.keys():
                one, two = old.get(key), new.get(key)
                difference = ((two or [0])[0] or 0) - ((one or [0])[0] or 0)
                sums["before " + key[2]] += (one or [0])[0] or 0
                sums["after " + key[2]] += (two or [0])[0] or 0
                if abs(difference) >= 0.5:
                    changes.append((abs(difference), difference, name, key, one, two))
    changes.sort(key=lambda it: -it[0])
    print("\n".join(f"{what}: ${usd:,.0f}" for what, usd in sorted(sums.items())))
    print(f"{len(changes)} changes")
    for _, difference, name, (path, address, role), one, two in changes[: given.top]:
        print(f"{difference:+,.0f}\t{name}\t{path}\t{address}\t{role}\n    before {one}\n    after  {two}")
    print("\nrented, a month, by how it is known")
    whole = sum(shares.values()) or 1
    for kind in reversed(WORST):
        print(f"{kind}\t{counts[kind]} resources\t${shares[kind]:,.0f}\t{shares[kind] / whole:.1%}")


if __name__ == "__main__":
    main()
