"""Who answers for a path: files in the form of CODEOWNERS, the last line that matches wins.

The same form names owners of repositories in a catalogue: `github.com/acme/infra-* @platform`.
"""

import re
from pathlib import Path

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
# How much of a file of a repository is read, in bytes. GitHub reads 3 MB of CODEOWNERS.
MOST_BYTES = 3 << 20
SECTION = re.compile(r"^\^?\[(?P<name>[^\]]+)\](?:\[\d+\])?(?P<owners>.*)$")


def segment(text):
    """One part of a path as a regular expression.

    A star takes as little as possible and gives nothing back, except the last one. That finds the same, and the time does not
    explode for a pattern with many stars: the author of a repository writes the pattern and the path.
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
    """The pattern as a regular expression: that of git's ignored files, but `docs/*` means direct children alone."""
    blocks = [[]] if "/" in text.rstrip("/") else [[], []]
    for part in text.strip("/").split("/"):
        if part != "**":
            blocks[-1].append(segment(part))
        elif len(blocks) == 1 or blocks[-1]:
            blocks.append([])
    first, *rest = ["/".join(it) for it in blocks]
    body = first + "/" * bool(first and rest)
    # `**` before a block: the first place where the block fits leaves the most for what follows, so no other one is tried.
    body += "".join(f"(?>(?:[^/]+/)*?{it}/)" for it in rest[:-1])
    if rest:
        body += f"(?:[^/]+/)*?{rest[-1]}" if rest[-1] else ".+"
    end = "/.*" if text.endswith("/") else "" if text.strip("/").endswith("/*") else "(?:/.*)?"
    return re.compile(body + end, re.DOTALL)


class Owners:
    def __init__(self, text):
        self.lines, default = [], None
        for line in text.splitlines():
            line = re.sub(r"(^|\s)#.*", "", line).strip()
            section = SECTION.match(line)
            if section:
                default = " ".join(section["owners"].split()) or None
            elif line:
                words = re.findall(r"(?:\\.|\S)+", line)
                self.lines.append((words[0], pattern(words[0]), " ".join(words[1:]) or default))

    def of(self, path):
        for _, form, owner in reversed(self.lines):
            if form.fullmatch(path):
                return owner
        return None

    def of_all(self):
        """Of everything that no line names apart."""
        everything = [owner for text, _, owner in self.lines if text in ("*", "/", "**", "/**")]
        return everything[-1] if everything else None


def read_inside(directory, path):
    """The start of a file of a checkout. It is empty if the path is a link, or if a link leads it out of the checkout."""
    if not path.is_file() or path.is_symlink() or not path.resolve().is_relative_to(Path(directory).resolve()):
        return b""
    with open(path, "rb") as file:
        return file.read(MOST_BYTES)


def in_repository(directory):
    for place in PLACES:
        if text := read_inside(directory, Path(directory) / place):
            return Owners(text.decode(errors="replace"))
    return Owners("")


def catalogue(path):
    return Owners(Path(path).read_text(encoding="utf-8")) if path else Owners("")
