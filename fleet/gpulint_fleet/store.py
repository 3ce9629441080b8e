"""Where things lie: a plan a date, a file of rows a repository, tables and a summary a date.

Everything is written beside its place and moved there, so that nobody reads half a file, and two writers of the same
bytes do no harm.
"""

import hashlib
import json
import os
import re
import tempfile
from pathlib import Path

from .text import Refused


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value):
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:16]


def file_digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tree_digest(path):
    """Of a file, or of every file below a directory."""
    path = Path(path)
    if path.is_file():
        return file_digest(path)
    names = sorted(it for it in path.rglob("*") if it.is_file())
    return hashlib.sha256("".join(f"{file_digest(it)}  {it.relative_to(path)}\n" for it in names).encode()).hexdigest()


def write(path, text):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def append(path, line):
    """Adds a line to a log, which must not be a link to another file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    with os.fdopen(handle, "a", encoding="utf-8") as file:
        file.write(line)


class Store:
    def __init__(self, root, date):
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
            raise Refused(f"`{date}` is no date: write it as 2026-11-26")
        self.root, self.date = Path(root), date

    @property
    def plan_path(self):
        return self.root / "plan" / f"date={self.date}.ndjson"

    def rows_path(self, repository):
        name = hashlib.sha256(repository.encode()).hexdigest()
        return self.root / "rows" / f"date={self.date}" / name[:2] / f"{name}.ndjson"

    def table_path(self, table):
        return self.root / table / f"date={self.date}" / "part.parquet"

    @property
    def summary_path(self):
        return self.root / "summary" / f"date={self.date}.json"

    def runs_path(self):
        """A file of its own for whoever ran: durations and attempts, which no result rests on."""
        return self.root / "runs" / f"date={self.date}" / f"{os.uname().nodename}-{os.getpid()}.ndjson"

    def input_path(self, relative):
        return self.root / relative

    def plan(self):
        """The header of the plan and its repositories."""
        if not self.plan_path.exists():
            raise Refused(f"there is no plan of {self.date} in {self.root}: `gpulint-fleet plan` makes one")
        with open(self.plan_path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        return lines[0], lines[1:]
