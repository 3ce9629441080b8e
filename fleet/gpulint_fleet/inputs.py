"""Reads the bill and the usage metrics of the organization: the files that `gpulint usage` writes."""

import csv
from decimal import Decimal, InvalidOperation
from pathlib import Path

from .text import Refused

# For each input: the file name that gpulint reads in a checkout, its first line, and the columns that gpulint-fleet needs.
FILES = {
    "bill": (
        "gpulint-paid.csv",
        "# gpulint paid 1",
        ("provider", "key_kind", "key", "month", "currency", "charge", "paid"),
    ),
    "usage": ("gpulint-usage.csv", "# gpulint usage 1", ("namespace", "kind", "name", "gpu_hours")),
}

MICRO = 1_000_000


def micro(text, what):
    """Returns an amount in millionths. The sum of all parts of a bill is then exact."""
    try:
        amount = Decimal(text)
        if amount.is_finite() and abs(amount) < 10**12:
            return round(amount * MICRO)
    except InvalidOperation:
        pass
    raise Refused(f"{what}: `{text[:40]}` is not an amount: write the file with `gpulint usage bill`")


def read(kind, path):
    """Yields each row of a file with the number of its line."""
    _, first, needed = FILES[kind]
    with open(path, encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        try:
            head, names = next(lines, []), next(lines, [])
            if ",".join(head).strip() != first or not set(needed) <= set(names):
                raise Refused(
                    f"{path}: this is not a file with the first line `{first}`: write it with `gpulint usage`"
                )
            for cells in lines:
                if cells and not cells[0].startswith("#"):
                    yield dict(zip(names, cells)) | {"line": lines.line_num}
        except (csv.Error, UnicodeDecodeError) as error:
            raise Refused(f"{path}: this is not CSV in UTF-8 ({error}): write it with `gpulint usage`") from None


def bill(path):
    """Yields the rows of a bill, with the columns of the table `billed`."""
    texts = ("provider", "key_kind", "key", "region", "machine", "accelerator", "month", "charge", "currency")
    for row in read("bill", path):
        where = f"{path}:{row['line']}"
        found = {"line": row["line"], "open": row.get("open") == "1", "paid_micro": micro(row["paid"], where)}
        found |= {"hours": float(row["hours"]) if row.get("hours") else None}
        found |= {"committed_hours": float(row["committed"]) if row.get("committed") else None}
        yield found | {name: row.get(name) or None for name in texts}


def usage(path):
    """Yields the rows of usage metrics, with the columns of the table `measured`."""
    texts = ("cluster", "namespace", "kind", "name", "accelerator")
    for row in read("usage", path):
        found = {"line": row["line"], "gpu_hours": float(row["gpu_hours"]) if row["gpu_hours"] else None}
        yield found | {name: row.get(name) or None for name in texts}


ROWS = {"bill": bill, "usage": usage}


def check(kind, path):
    """Refuses a file that gpulint-fleet cannot read, before a night is planned with it."""
    try:
        if not any(True for _ in [*ROWS[kind](path)]):
            raise Refused(f"{path}: the file has no rows: write it with `gpulint usage`")
    except ValueError as error:
        raise Refused(f"{path}: {error}: write the file with `gpulint usage`") from None
    return Path(path)
