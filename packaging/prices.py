#!/usr/bin/env python3
"""Merges and reviews the results of `gpulint catalog update` for the nightly price update.

  prices.py merge CACHE PRICING TABLE [SAID]   write the rows of CACHE into the tables of PRICING, and the changes into TABLE
  prices.py doubt TABLE DOUBTS                 put the errors of `catalog verify` and the tests at the start of TABLE
  prices.py unpack FILE CACHE                  write the machine prices of a published file into the form of the cache
  prices.py release PRICING DATE OUT [HELD]    write all prices and models as one file, to be signed

CACHE is a directory in the form of gpulint's cache, and PRICING the project's directory. SAID is the output of the update: TABLE
shows its refused rows and the providers without an answer. TABLE is Markdown for a quick review. HELD is the output of
`gpulint catalog verify --format csv`: its rows are not published.
"""

import csv
import os
import re
import sys
from collections import Counter, defaultdict

PRICES = ["on_demand_usd_per_hour", "spot_usd_per_hour", "reserved_1y_usd_per_hour", "reserved_3y_usd_per_hour"]
SPOKEN = dict(zip(PRICES, ["on demand", "spot", "one year", "three years"]))
# The lines per provider that a reviewer reads. The others are only counted.
MOST_MOVES = 6
MOST_REFUSED = 5
MOST_NAMES = 8
MOST_DOUBTS = 20


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


def latest(row):
    return max(row.get("as_of") or "", row.get("spot_as_of") or "")


def plain(text):
    """Returns a vendor's text as one table cell, with all Markdown and GitHub syntax escaped."""
    kept = "".join(letter if letter.isprintable() else " " for letter in str(text))[:240]
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]()<>#+!|~@&" else letter for letter in kept)


def counted(number, one, more):
    return f"{number:,} {one if number == 1 else more}"


class Change:
    """The changes in the answer of one provider."""

    def __init__(self):
        self.moves, self.new, self.unlisted, self.same = [], [], [], 0


class Move:
    """A changed price of a row."""

    def __init__(self, row, column, old, new):
        self.machine, self.region, self.accelerator = row["machine"], row["region"], row["accelerator"]
        self.way, self.old, self.new = SPOKEN[column], old, new
        self.share = new / old - 1 if old and new is not None else None

    def kind(self):
        """Returns the common cause of changes: a card whose price changed by a share, in all regions and machines."""
        moved = "new" if self.old is None else "gone" if self.new is None else f"{self.share:+.1%}"
        return self.accelerator, self.way, moved


def moves(before, after):
    for column in PRICES:
        old, new = (float(row[column]) if row.get(column) else None for row in (before, after))
        if old != new and not (new is None and column_is_kept(column, after)):
            yield Move(after, column, old, new)


def column_is_kept(column, row):
    """Keeps a reservation that the answer does not contain, because it may still be sold. Other prices are dropped."""
    return column.startswith("reserved") and not row.get("reserved_basis")


def merge(cache, pricing, refused):
    """Writes newer rows, and returns the changes by provider."""
    changes = {}
    for name in sorted(os.listdir(cache)):
        provider, extension = os.path.splitext(name)
        path = os.path.join(pricing, name)
        if extension != ".csv" or not os.path.exists(path):
            continue
        columns, rows = read(path)
        arrived = read(os.path.join(cache, name))[1]
        known = {key(row): row for row in rows}
        change = changes[provider] = Change()
        told = {(machine.lower(), region.lower()) for machine, region, _ in refused.get(provider, [])}
        regions, listed = {key(row)[1] for row in arrived}, {key(row) for row in arrived}
        gone = [row for at, row in known.items() if at[1] in regions and at not in listed | told]
        change.unlisted = [row for row in gone if any(row.get(column) for column in PRICES)]
        for row in arrived:
            before = known.get(key(row))
            if before is None:
                change.new.append(row)
                known[key(row)] = {column: row.get(column, "") for column in columns}
                continue
            if latest(row) < latest(before):
                continue
            found = list(moves(before, row))
            change.moves += found
            change.same += not found
            newer = {column: row[column] for column in columns if row.get(column)}
            # Rows that the vendor no longer lists are removed.
            gone = [column for column in PRICES if before.get(column) and not row.get(column)]
            known[key(row)] = {**before, **newer, **{c: "" for c in gone if not column_is_kept(c, row)}}
        write(path, columns, [known[at] for at in sorted(known)])
    return changes


def heard(said):
    """Returns the printed messages: refused rows by provider, and lines about missing or incomplete answers."""
    refused, silent, provider = defaultdict(list), [], ""
    for line in dict.fromkeys(said):
        if found := re.match(r"([a-z0-9-]+): \d+ rows arrived", line):
            provider = found[1]
        elif found := re.match(r"  refused (\S+) (.*?): (.*)", line):
            refused[provider].append(found.groups())
        # `error: 2 providers were not refreshed` only repeats the lines before it.
        elif found := re.match(r"(?:error: )?(?!error:)([a-z0-9-]+): (.*)", line):
            silent.append(f"{found[1]}: {found[2]}")
        elif line.startswith("  "):
            silent.append(f"{provider}: {line.strip()}")
    return refused, silent


def told(changes, refused, silent):
    moved, new = (sum(len(getattr(change, what)) for change in changes.values()) for what in ("moves", "new"))
    not_believed = sum(map(len, refused.values()))
    same = sum(change.same for change in changes.values())
    lines = [
        f"{counted(moved, 'price', 'prices')} moved, {counted(new, 'row is', 'rows are')} new, {not_believed:,} not"
        f" believed; {counted(same, 'row says what it', 'rows say what they')} said.",
        "",
        "| provider | moved | up | down | new or gone | most | rows new | not believed | not listed |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for provider, change in changes.items():
        shares = [move.share for move in change.moves if move.share is not None]
        up, down = (sum(share > 0 for share in shares), sum(share < 0 for share in shares))
        most = f"{max(shares, key=abs):+.1%}" if shares else ""
        cells = [len(change.moves), up, down, len(change.moves) - len(shares), most, len(change.new)]
        cells += [len(refused.get(provider, [])), len(change.unlisted)]
        lines.append(f"| {plain(provider)} | {' | '.join(map(str, cells))} |")
    for line in silent[:MOST_DOUBTS]:
        lines += ([""] if line == silent[0] else []) + [f"- {plain(line)}"]
    for provider in sorted(changes.keys() | refused.keys()):
        lines += of_provider(provider, changes.get(provider, Change()), refused.get(provider, []))
    return "\n".join(lines) + "\n"


def of_provider(provider, change, refused):
    lines = []
    if change.moves:
        lines += ["", "| machines | | before | now | moved |", "|---|---|---:|---:|---:|"] + kinds(change.moves)
    for what, rows in (("New", change.new), ("Not listed any more, and kept as it was", change.unlisted)):
        names = sorted({row["machine"] for row in rows})
        if names:
            more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            lines += ["", f"{what}: {', '.join(map(plain, names[:MOST_NAMES]))}{more}."]
    if refused:
        lines += ["", "Not believed, the earlier rows stay:", ""]
        lines += [f"- {plain(machine)} {plain(region)}: {plain(why)}" for machine, region, why in refused[:MOST_REFUSED]]
        if len(refused) > MOST_REFUSED:
            reasons = Counter(re.sub(r"\$?\d+(?:[.,]\d+)*", "…", why) for *_, why in refused[MOST_REFUSED:])
            rest = "; ".join(f"{count} × {plain(why)}" for why, count in reasons.most_common(3))
            lines.append(f"- {len(refused) - MOST_REFUSED} more: {rest}")
    return ["", f"### {plain(provider)}", *lines] if lines else []


def kinds(found):
    """Returns one line for equal changes, the largest first."""
    alike = defaultdict(list)
    for move in found:
        alike[move.kind()].append(move)
    share = lambda group: abs(group[0].share) if group[0].share is not None else -1
    ordered = sorted(alike.values(), key=lambda group: (-share(group), group[0].kind(), group[0].machine))
    lines = []
    for group in ordered[:MOST_MOVES]:
        machines, regions = ({getattr(move, of) for move in group} for of in ("machine", "region"))
        first = min(group, key=lambda move: (move.machine, move.region))
        name = plain(first.machine) + (f" and {len(machines) - 1} more" if len(machines) > 1 else "")
        name += f", {plain(first.region)}" if len(regions) == 1 else f", {len(regions)} regions"
        old, new = (span([getattr(move, of) for move in group]) for of in ("old", "new"))
        lines.append(f"| {name} | {first.way} | {old} | {new} | {group[0].kind()[2]} |")
    if rest := ordered[MOST_MOVES:]:
        most = max(share(group) for group in rest)
        by = f", none by more than {most:.1%}" if most >= 0 else ", all new or gone"
        lines += ["", f"{counted(sum(map(len, rest)), 'more price', 'more prices')}{by}."]
    return lines


def span(values):
    values = sorted({value for value in values if value is not None})
    return " to ".join(f"${value:,.4f}" for value in [*values[:1], *values[1:][-1:]])


def doubt(table, doubts):
    """Puts impossible values of the new tables first."""
    with open(doubts, encoding="utf-8", errors="replace") as file:
        found = [line for line in file.read().splitlines() if line.strip()]
    with open(table, encoding="utf-8") as file:
        rest = file.read()
    lines = ["### Doubted: not to be merged before this is explained", ""]
    lines += [f"- {plain(line)}" for line in found[:MOST_DOUBTS]]
    if len(found) > MOST_DOUBTS:
        lines.append(f"- {len(found) - MOST_DOUBTS} more")
    with open(table, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n\n" + rest)


# The tables of the file besides that of machine prices. A program ignores tables that it does not know.
TABLES = ["commitments", "disk_speed", "disks", "models"]
FIRST_LINE, TABLE_LINE = "# Prices of gpulint, ", "# table "


def release(pricing, date, out, held=None):
    """Writes the tables as one file, without unverified prices and without the rows that `held` names."""
    doubted = {(row["provider"], row["machine"].lower(), row["region"].lower()) for row in read(held)[1]} if held else set()
    rows, columns = [], []
    for name in sorted(os.listdir(pricing)):
        provider, extension = os.path.splitext(name)
        if extension != ".csv":
            continue
        header, of_provider = read(os.path.join(pricing, name))
        if "on_demand_usd_per_hour" not in header:
            continue
        columns = columns or ["provider", *header]
        for row in of_provider:
            machine, region = key(row)
            is_doubted = doubted & {(provider, machine, region), (provider, machine, "*")}
            if row["confidence"] != "unverified" and not is_doubted:
                rows.append({"provider": provider, **row})
    with open(out, "w", encoding="utf-8", newline="") as file:
        file.write(f"{FIRST_LINE}{date}\n{TABLE_LINE}prices\n")
        table = csv.DictWriter(file, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        for name in TABLES:
            path = os.path.join(pricing, f"{name}.csv")
            if os.path.exists(path):
                with open(path, encoding="utf-8", newline="") as lines:
                    rows = "".join(line for line in lines if not line.startswith("#"))
                file.write(f"{TABLE_LINE}{name}\n{rows}")
    return len(doubted)


def unpack(published, cache):
    """Writes the machine prices of a published file into one file for each provider."""
    lines, table = [], ""
    with open(published, encoding="utf-8", newline="") as file:
        for line in file:
            if line.startswith(TABLE_LINE):
                table = line[len(TABLE_LINE):].strip()
            elif table in ("", "prices") and not line.startswith("#"):
                lines.append(line)
    by_provider = defaultdict(list)
    rows = csv.DictReader(lines)
    for row in rows:
        if re.fullmatch(r"[a-z0-9-]+", row["provider"]):
            by_provider[row.pop("provider")].append(row)
    columns = [column for column in rows.fieldnames or [] if column != "provider"]
    os.makedirs(cache, exist_ok=True)
    for provider, found in by_provider.items():
        write(os.path.join(cache, f"{provider}.csv"), columns, found)


def main():
    verb, arguments = sys.argv[1:2], sys.argv[2:]
    if verb == ["merge"] and len(arguments) in (3, 4):
        cache, pricing, table = arguments[:3]
        said = []
        if len(arguments) == 4:
            with open(arguments[3], encoding="utf-8", errors="replace") as file:
                said = file.read().splitlines()
        refused, silent = heard(said)
        with open(table, "w", encoding="utf-8") as file:
            file.write(told(merge(cache, pricing, refused), refused, silent))
    elif verb == ["doubt"] and len(arguments) == 2:
        doubt(*arguments)
    elif verb == ["unpack"] and len(arguments) == 2:
        unpack(*arguments)
    elif verb == ["release"] and len(arguments) in (3, 4):
        held = release(*arguments)
        print(f"{counted(held, 'row is', 'rows are')} held back")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
