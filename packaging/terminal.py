#!/usr/bin/env python3
"""Draws the terminal output of a program as SVG, with its colors.

    program --color always | terminal.py 'program' > picture.svg

Needs only Python. Each line is one <text>, and each part of it has a fixed position, so fonts with other widths move nothing.
The colors are for a light page, or for a dark page if the reader prefers it."""

import re
import sys
from html import escape

WIDTH, HEIGHT = 8.4, 18.0
MARGIN = 16.0
TITLE = 30.0

# Colors for a light page and for a dark page, by number.
COLOURS = {
    1: ("#b3261e", "#ff8a80"),
    2: ("#1a7f37", "#56d364"),
    3: ("#9a6700", "#e3b341"),
    4: ("#0550ae", "#79c0ff"),
    5: ("#8250df", "#d2a8ff"),
    6: ("#0a6b74", "#56d4dd"),
}

STYLE = """
.page{fill:#fbfbfc;stroke:#d0d7de}
text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:14px;fill:#1f2328;white-space:pre}
.title{fill:#59636e}
.bold{font-weight:700}.dim{opacity:.65}.under{text-decoration:underline}
%s
@media (prefers-color-scheme:dark){.page{fill:#0d1117;stroke:#30363d}text{fill:#e6edf3}.title{fill:#9198a1}
%s}
"""


def style():
    light = "".join(f".c{number}{{fill:{pair[0]}}}" for number, pair in COLOURS.items())
    dark = "".join(f".c{number}{{fill:{pair[1]}}}" for number, pair in COLOURS.items())
    return STYLE % (light, dark)


def changed(now, codes):
    """Returns the CSS classes after a sequence of terminal codes."""
    now = set(now)
    for code in [int(it or 0) for it in codes.split(";")]:
        colour = code - 30 if 30 <= code <= 37 else code - 90 if 90 <= code <= 97 else None
        if code == 0:
            now.clear()
        elif code in (1, 2, 4):
            now.add({1: "bold", 2: "dim", 4: "under"}[code])
        elif code == 22:
            now -= {"bold", "dim"}
        elif code == 24:
            now.discard("under")
        elif code == 39 or colour is not None:
            now = {it for it in now if not re.fullmatch(r"c\d", it)}
            if colour in COLOURS:
                now.add(f"c{colour}")
        else:
            sys.exit(f"terminal.py: nobody draws the code {code}")
    return now


def parts(line, now):
    """Returns the pieces of a line with column and classes. Text and drawn lines are separate pieces."""
    column, found = 0, []
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        if piece.startswith("\x1b["):
            now = changed(now, piece[2:-1])
            continue
        for run in re.findall(r"[\x20-\x7e]+|[^\x20-\x7e]+", piece):
            found.append((column, run, " ".join(sorted(now))))
            column += len(run)
    return found, column, now


def main():
    title = sys.argv[1] if len(sys.argv) > 1 else ""
    lines = sys.stdin.read().rstrip("\n").split("\n")
    now, rows, widest = set(), [], len(title) + 2
    for line in lines:
        found, columns, now = parts(line.rstrip(), now)
        rows.append(found)
        widest = max(widest, columns)
    width = round(widest * WIDTH + 2 * MARGIN)
    height = round(len(rows) * HEIGHT + TITLE + 2 * MARGIN)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">')
    print(f"<title>{escape(title)}</title>")
    print(f"<style>{style()}</style>")
    print(f'<rect class="page" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>')
    print(f'<text class="title" x="{MARGIN:g}" y="{MARGIN + 10:g}">$ {escape(title)}</text>')
    for number, found in enumerate(rows):
        y = MARGIN + TITLE + number * HEIGHT + 10
        spans = "".join(
            f'<tspan x="{MARGIN + column * WIDTH:.1f}" textLength="{len(run) * WIDTH:.1f}"'
            + (f' class="{classes}"' if classes else "")
            + f">{escape(run, quote=False)}</tspan>"
            for column, run, classes in found
        )
        print(f'<text y="{y:g}" xml:space="preserve">{spans}</text>')
    print("</svg>")


main()
