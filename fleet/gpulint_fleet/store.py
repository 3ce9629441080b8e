"""The files of a store: for each date a plan, tables and a summary, and a row file for each repository.

Every file is written next to its place and then moved, so no reader sees half a file, and two writers of the same
bytes do no harm.
"""

import functools
import hashlib
import json
import os
import re
import tempfile
from pathlib import Path

from .address import parse
from .git import is_commit, is_ref
from .text import Refused, is_size, is_text, replace_controls

# An input of a plan: the digest of a file or a directory, and the file in that directory.
INPUT = re.compile(r"inputs/([0-9a-f]{32})(/gpulint\.toml)?")


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value):
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:16]


def file_digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tree_digest(path):
    """Returns the digest of a file, or of all files below a directory."""
    path = Path(path)
    if path.is_file():
        return file_digest(path)
    names = sorted(it for it in path.rglob("*") if it.is_file())
    return hashlib.sha256("".join(f"{file_digest(it)}  {it.relative_to(path)}\n" for it in names).encode()).hexdigest()


@functools.lru_cache
def is_kept(path):
    """Returns whether a file or a directory still matches the digest in its name."""
    return path.exists() and tree_digest(path).startswith(path.name)


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
    """Appends a line to a log, and fails if the log is a link."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    with os.fdopen(handle, "a", encoding="utf-8") as file:
        file.write(line)


def is_entry(it):
    """Returns whether this is a repository as `plan` writes it. Others may have written the store, and git gets these strings."""
    try:
        address = parse(it["url"])
    except (Refused, KeyError, TypeError):
        return False
    return (
        it.get("id") == address.identity
        and it["url"] == address.url
        and (it.get("ref") is None or is_ref(it["ref"]))
        and (it.get("size") is None or is_size(it["size"]))
        and (it.get("owner") is None or is_text(it["owner"]))
        and (is_commit(it.get("commit")) or (it.get("commit") is None and isinstance(it.get("status"), str)))
    )


class Store:
    def __init__(self, root, date):
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
            raise Refused(f"`{date}` is not a date: write it as 2026-11-26")
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
        """Returns the path of this process's log of durations and attempts. No result uses it."""
        return self.root / "runs" / f"date={self.date}" / f"{os.uname().nodename}-{os.getpid()}.ndjson"

    def input_path(self, relative):
        """Returns the file or directory that a plan names, if its content is the same as when the plan was written."""
        named = INPUT.fullmatch(str(relative))
        if not named or not is_kept(self.root / "inputs" / named[1]):
            raise Refused(
                f"`{replace_controls(str(relative))}` of {self.plan_path} is missing or changed: remove it and the plan, then run `gpulint-fleet plan`"
            )
        return self.root / relative

    def plan(self):
        """Returns the header of the plan and its repositories."""
        if not self.plan_path.exists():
            raise Refused(f"there is no plan of {self.date} in {self.root}: run `gpulint-fleet plan`")
        try:
            head, *entries = map(json.loads, self.plan_path.read_text(encoding="utf-8").rstrip("\n").split("\n"))
            is_whole = head["digest"] == digest({k: v for k, v in head.items() if k != "digest"})
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            is_whole = False
        if not is_whole or head["date"] != self.date:
            raise Refused(f"{self.plan_path} is damaged or changed: remove it, then run `gpulint-fleet plan`")
        for number, it in enumerate(entries, 2):
            if not is_entry(it):
                raise Refused(
                    f"{self.plan_path}:{number}: gpulint-fleet did not write this line: remove the plan, then run `gpulint-fleet plan`"
                )
        return head, entries
