#!/usr/bin/env python3
"""What the weekly update of prices does with what `gpulint catalog update` brought.

  prices.py merge CACHE PRICING TABLE [SAID]   write the rows of CACHE into the tables of PRICING, and what moved into TABLE
  prices.py release PRICING DATE OUT           write the prices of all providers as one file, to be signed

CACHE is a directory of files as gpulint keeps them, PRICING the project's own; SAID is what the update printed, of which the
rows that were refused are shown. TABLE is Markdown for reviewers.
"""

import csv
import os
import sys

PRICES = ["on_demand_usd_per_hour", "spot_usd_per_hour", "reserved_1y_usd_per_hour", "reserved_3y_usd_per_hour"]
SPOKEN = dict(zip(PRICES, ["on demand", "spot", "one year", "three years"]))
MOST_ROWS = 200
MOST_REFUSED = 50


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return list(rows.fieldnames or []), list(rows)


def write(path, columns, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def key(row):
    return row["machine"].lower(), row["region"].lower()


def plain(text):
    """Text of a vendor as one cell of a table, with nothing in it that Markdown or GitHub would act on."""
    kept = "".join(letter if letter.isprintable() else " " for letter in str(text))[:120]
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]()<>#+!|~@&" else letter for letter in kept)


def moves(provider, before, after):
    """Each price of a row that is another now: how much it moved, what it was and what it is."""
    for column in PRICES:
        old, new = (float(row.get(column) or "nan") for row in (before, after))
        if old == new or (old != old and new != new):
            continue
        share = new / old - 1 if old == old and new == new and old else None
        yield share, (provider, after["machine"], after["region"], SPOKEN[column], old, new)


def merge(cache, pricing):
    """Writes newer rows; returns what moved, and how many rows are new in each provider."""
    moved, added, same = [], {}, 0
    for name in sorted(os.listdir(cache)):
        provider, extension = os.path.splitext(name)
        path = os.path.join(pricing, name)
        if extension != ".csv" or not os.path.exists(path):
            continue
        columns, rows = read(path)
        known = {key(row): row for row in rows}
        for row in read(os.path.join(cache, name))[1]:
            before = known.get(key(row))
            if before is None:
                added.setdefault(provider, []).append(row["machine"])
                known[key(row)] = {column: row.get(column, "") for column in columns}
                continue
            found = list(moves(provider, before, row))
            moved += found
            same += not found
            newer = {column: row[column] for column in columns if row.get(column)}
            # What the vendor does not list any more does not stay beside what it lists.
            gone = {column: "" for column in PRICES if before.get(column) and not row.get(column)}
            known[key(row)] = {**before, **newer, **{c: v for c, v in gone.items() if not column_is_kept(c, row)}}
        write(path, columns, [known[at] for at in sorted(known)])
    return moved, added, same


def column_is_kept(column, row):
    """A reservation that an answer says nothing of may still be sold; a price on demand or spot may not."""
    return column.startswith("reserved") and not row.get("reserved_basis")


def told(moved, added, same, said):
    money = lambda value: "" if value != value else f"${value:,.4f}"
    lines = [f"{len(moved)} prices moved, {same} rows say what they said, {sum(map(len, added.values()))} rows are new.", ""]
    if moved:
        lines += ["| provider | machine | region | | before | now | moved |", "|---|---|---|---|---:|---:|---:|"]
    size = lambda move: (move[0] is not None, -abs(move[0] or 0), move[1][:4])
    for share, (provider, machine, region, what, old, new) in sorted(moved, key=size)[:MOST_ROWS]:
        by = "new" if old != old else "gone" if new != new else f"{share:+.1%}"
        lines.append(f"| {provider} | {plain(machine)} | {plain(region)} | {what} | {money(old)} | {money(new)} | {by} |")
    if len(moved) > MOST_ROWS:
        lines += ["", f"{len(moved) - MOST_ROWS} more moved by less."]
    for provider, machines in sorted(added.items()):
        names = sorted(set(machines))
        more = f" and {len(names) - 20} more" if len(names) > 20 else ""
        lines += ["", f"New of {provider}: {', '.join(map(plain, names[:20]))}{more}."]
    refused = [line.strip() for line in said if line.startswith("  refused ")]
    failed = [line.strip() for line in said if line.startswith("error: ")]
    for title, found in (("Not believed, the earlier rows stay", refused), ("Not asked or not answered", failed)):
        if found:
            lines += ["", f"### {title}", "", *[f"- {plain(line)}" for line in found[:MOST_REFUSED]]]
            if len(found) > MOST_REFUSED:
                lines.append(f"- {len(found) - MOST_REFUSED} more")
    return "\n".join(lines) + "\n"


def release(pricing, date, out):
    """One file of all tables that have prices of machines; those that nobody verified stay at home."""
    all_rows, columns = [], []
    for name in sorted(os.listdir(pricing)):
        provider, extension = os.path.splitext(name)
        if extension != ".csv":
            continue
        header, rows = read(os.path.join(pricing, name))
        if "on_demand_usd_per_hour" not in header:
            continue
        columns = columns or ["provider", *header]
        all_rows += [{"provider": provider, **row} for row in rows if row["confidence"] != "unverified"]
    with open(out, "w", encoding="utf-8", newline="") as file:
        file.write(f"# Prices of gpulint, {date}\n")
        table = csv.DictWriter(file, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(all_rows)


def main():
    verb, arguments = sys.argv[1:2], sys.argv[2:]
    if verb == ["merge"] and len(arguments) in (3, 4):
        cache, pricing, table = arguments[:3]
        said = []
        if len(arguments) == 4:
            with open(arguments[3], encoding="utf-8", errors="replace") as file:
                said = file.read().splitlines()
        with open(table, "w", encoding="utf-8") as file:
            file.write(told(*merge(cache, pricing), said))
    elif verb == ["release"] and len(arguments) == 3:
        release(*arguments)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
