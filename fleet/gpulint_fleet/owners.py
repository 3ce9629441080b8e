"""Finds the owner of a path from files in the format of CODEOWNERS, in which the last matching line wins.

The same format names owners of repositories in a catalog: `github.com/acme/infra-* @platform`.
"""

import os
import re
import stat
from pathlib import Path

from .text import Refused, cause_of

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
# The most bytes to read of a file in a repository. GitHub ignores a CODEOWNERS of more than 3 MB.
MOST_BYTES = 3 << 20
# The author of a repository writes the lines and the paths, so they have limits. A limit gives the same rows on each machine, and a
# time limit would not. The length of a line excludes its comment, and each row contains the owner.
MOST_LINES = 50_000
MOST_CHARACTERS = 2_000
# The most work for all comparisons of one file. A comparison costs the length of the pattern times that of the path, at least `LEAST_WORK`.
MOST_WORK = 5_000_000_000
LEAST_WORK = 50
SECTION = re.compile(r"^\^?\[(?P<name>[^\]]+)\](?:\[\d+\])?(?P<owners>.*)$")


def segment(text):
    """Returns one part of a path as a regular expression.

    Each star except the last one matches as little as possible, without backtracking. The result is the same, and the time does not
    explode for a pattern with many stars. That is necessary because the author of a repository writes the pattern and the path.
    """
    chunks = [""]
    for token in re.findall(r"\\?.", text, re.DOTALL):
        if token == "*":
            chunks.append("")
        else:
            chunks[-1] += "[^/]" if token == "?" else re.escape(token[-1])
    first, *rest = chunks
    middle = "".join(f"(?>[^/]*?{it})" for it in rest[:-1])
    return f"(?>{first}{middle}{f'[^/]*{rest[-1]}' if rest else ''}(?![^/]))"


def pattern(text):
    """Returns the pattern as a regular expression. It follows `.gitignore`, but `docs/*` matches direct children only."""
    blocks = [[]] if is_anchored(text) else [[], []]
    for part in text.strip("/").split("/"):
        if part != "**":
            blocks[-1].append(segment(part))
        elif len(blocks) == 1 or blocks[-1]:
            blocks.append([])
    first, *rest = ["/".join(it) for it in blocks]
    body = first + "/" * bool(first and rest)
    # After `**`, the first match of a block leaves the most for the rest, so no other match is tried.
    body += "".join(f"(?>(?:[^/]+/)*?{it}/)" for it in rest[:-1])
    if rest:
        body += f"(?:[^/]+/)*?{rest[-1]}" if rest[-1] else ".+"
    end = "/.*" if text.endswith("/") else "" if text.strip("/").endswith("/*") else "(?:/.*)?"
    return re.compile(body + end, re.DOTALL)


def is_anchored(text):
    return "/" in text.rstrip("/")


def prefix(text):
    """Returns the literal prefix of all matching paths. It is empty if the pattern matches below any directory."""
    return re.match(r"[^*?\\]*", text.strip("/"))[0] if is_anchored(text) else ""


class Line:
    """A pattern with its owner. It compiles the regular expression on first use."""

    def __init__(self, text, owner):
        self.text, self.owner, self.prefix, self.form, self.is_used = text, owner, prefix(text), None, False

    def fits(self, path):
        self.form = self.form or pattern(self.text)
        return self.form.fullmatch(path)


class Owners:
    """The lines of a file. `name` is the file for messages; a file beyond a limit raises `Refused`."""

    def __init__(self, text, name="CODEOWNERS"):
        self.name, self.lines, self.work, self.known, default = name, [], 0, {}, None
        for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
            line = re.sub(r"(^|\s)#.*", "", line).strip()
            if len(line) > MOST_CHARACTERS:
                raise Refused(
                    f"{name}:{number}: the line has {len(line):,} characters, limit {MOST_CHARACTERS:,}. Shorten the line."
                )
            section = SECTION.match(line)
            if section:
                default = " ".join(section["owners"].split()) or None
            elif line:
                words = re.findall(r"(?:\\.|\S)+", line)
                self.lines.append(Line(words[0], " ".join(words[1:]) or default))
            if len(self.lines) > MOST_LINES:
                raise Refused(
                    f"{name}:{number}: the file has more than {MOST_LINES:,} patterns. Replace patterns of files by directories."
                )

    def of(self, path):
        if path not in self.known:
            self.known[path] = self.search(path)
        return self.known[path]

    def search(self, path):
        for line in reversed(self.lines):
            is_near = path.startswith(line.prefix)
            self.work += max(LEAST_WORK, len(line.text) * len(path) * is_near)
            if self.work > MOST_WORK:
                raise Refused(
                    f"{self.name}: {len(self.lines):,} patterns for {len(self.known):,} paths cost too much time. "
                    "Remove patterns, or begin each one with a directory."
                )
            if is_near and line.fits(path):
                line.is_used = True
                return line.owner
        return None

    def unused(self):
        """Returns the patterns that decided about none of the paths so far."""
        return [line.text for line in self.lines if not line.is_used]

    def of_all(self):
        """Returns the owner of all paths that no specific line names."""
        everything = [it.owner for it in self.lines if it.text in ("*", "/", "**", "/**")]
        return everything[-1] if everything else None


def read_regular(directory, path, most=MOST_BYTES):
    """Returns the start of a file of a checkout. It raises `OSError` or `ValueError` if the path is a link, or if a link leads out."""
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        raise OSError("the path is a symbolic link, which gpulint-fleet does not follow")
    if not stat.S_ISREG(mode):
        raise FileNotFoundError("the path is not a file")
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(directory)):
        raise OSError("a symbolic link leads out of the repository")
    with open(path, "rb") as file:
        return file.read(most)


def read_inside(directory, path):
    """Returns the start of a file of a checkout, or nothing if gpulint-fleet cannot or must not read the file."""
    try:
        return read_regular(directory, path)
    except (OSError, ValueError):
        return b""


def in_repository(directory, warn=lambda line: None):
    """Returns the owners of a repository, from the first place that has a file. An invalid file affects these owners only."""
    problems = []
    for place in PLACES:
        try:
            text = read_regular(directory, Path(directory) / place, MOST_BYTES + 1)
            if len(text) > MOST_BYTES:
                raise Refused(f"{place}: the file has more than {MOST_BYTES >> 20} MiB. Shorten the file.")
            if text:
                return Owners(text.decode(errors="replace"), place)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            problems.append(f"{place}: {cause_of(error)}. Commit a regular file of that name.")
        except Refused as refused:
            problems.append(str(refused))
            break
    for problem in problems:
        warn(f"{problem} Until then, gpulint-fleet knows no owners of this repository.")
    return Owners("")


def find(directory, paths, warn=lambda line: None):
    """Returns the owner of the whole repository, and a map from each path to its owner."""
    found = in_repository(directory, warn)
    try:
        return found.of_all(), {path: found.of(path) for path in paths}
    except Refused as refused:
        warn(f"{refused} Until then, gpulint-fleet knows no owners of this repository.")
        return None, {}


def catalogue(path):
    """Returns the owners that the user names. An invalid file ends the run, because it is the user's own file."""
    return Owners(Path(path).read_text(encoding="utf-8"), str(path)) if path else Owners("")
