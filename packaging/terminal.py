#!/usr/bin/env python3
"""Draws the terminal output of a program as SVG, with its colors.

    program --color always | terminal.py 'program' > picture.svg

Needs only Python. Each line is one <text>, and each part of it has a fixed position, so fonts with other widths move nothing.
The colors are those of the reports, for a light page, or for a dark page if the reader prefers it."""

import re
import sys
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 8.4, 18.0
MARGIN = 16.0
TITLE = 30.0

# The names of the terminal's colors in the palette, by number.
COLORS = {1: "error", 2: "green", 3: "warning", 4: "blue", 5: "purple", 6: "note"}

STYLE = """
text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:14px;white-space:pre}
.bold{font-weight:700}.under{text-decoration:underline}
%s
@media (prefers-color-scheme:dark){
%s
}
"""


def style():
    """Returns the style sheet, with the palette of the reports."""
    path = Path(__file__).parent.parent / "src/report/html/colors.css"
    palette = dict(re.findall(r"--((?:light|dark)-\w+):(#\w+);", path.read_text(encoding="utf-8")))

    def rules(scheme):
        paper = ".page{fill:%s;stroke:%s}" % (palette[f"{scheme}-card"], palette[f"{scheme}-edge"])
        text = "text{fill:%s}.title,.dim{fill:%s}" % (palette[f"{scheme}-ink"], palette[f"{scheme}-soft"])
        hues = "".join(f".c{number}{{fill:{palette[f'{scheme}-{name}']}}}" for number, name in COLORS.items())
        return paper + text + hues

    return STYLE % (rules("light"), rules("dark"))


def changed(now, codes):
    """Returns the CSS classes after a sequence of terminal codes."""
    now = set(now)
    for code in [int(it or 0) for it in codes.split(";")]:
        color = code - 30 if 30 <= code <= 37 else code - 90 if 90 <= code <= 97 else None
        if code == 0:
            now.clear()
        elif code in (1, 2, 4):
            now.add({1: "bold", 2: "dim", 4: "under"}[code])
        elif code == 22:
            now -= {"bold", "dim"}
        elif code == 24:
            now.discard("under")
        elif code == 39 or color is not None:
            now = {it for it in now if not re.fullmatch(r"c\d", it)}
            if color in COLORS:
                now.add(f"c{color}")
        else:
            sys.exit(f"terminal.py: the code {code} has no drawing")
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
