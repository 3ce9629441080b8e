"""Who answers for a path: files in the form of CODEOWNERS, the last line that matches wins.

The same form names owners of repositories in a catalogue: `github.com/acme/infra-* @platform`.
"""

import re
from pathlib import Path

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
SECTION = re.compile(r"^\^?\[(?P<name>[^\]]+)\](?:\[\d+\])?(?P<owners>.*)$")


def pattern(text):
    """The pattern as a regular expression: that of git's ignored files, but `docs/*` means direct children alone."""
    anchored = "/" in text.rstrip("/")
    body, at = "", 0
    text, below = text.strip("/"), text.endswith("/")
    children_only = text.endswith("/*")
    while at < len(text):
        if text.startswith("**/", at):
            body, at = body + "(?:.*/)?", at + 3
        elif text.startswith("**", at):
            body, at = body + ".*", at + 2
        elif text[at] in "*?":
            body, at = body + ("[^/]*" if text[at] == "*" else "[^/]"), at + 1
        else:
            at += 2 if text[at] == "\\" else 1
            body += re.escape(text[at - 1 : at])
    end = "/.*" if below else "" if children_only else "(?:/.*)?"
    return re.compile(("" if anchored else "(?:.*/)?") + body + end, re.DOTALL)


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


def in_repository(directory):
    for place in PLACES:
        path = Path(directory) / place
        if path.is_file() and not path.is_symlink():
            return Owners(path.read_text(encoding="utf-8", errors="replace"))
    return Owners("")


def catalogue(path):
    return Owners(Path(path).read_text(encoding="utf-8")) if path else Owners("")
