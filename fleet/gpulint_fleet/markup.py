"""Builds the markup of a page. A string becomes markup only if it is escaped.

`Html` is markup, and only this module makes it. `element` takes `Html` and raises for a string, so a forgotten `text` fails
in the first test, and no string from a repository gets into the page unescaped.
"""

import base64
import hashlib
import html

from .text import replace_controls

# Elements that have no content and no end tag here.
VOID = ("meta", "rect", "polyline")


class Html:
    __slots__ = ("_markup",)

    def __init__(self):
        raise TypeError("use text() or element() to make Html")

    def __bool__(self):
        return bool(self._markup)

    def __str__(self):
        raise TypeError("Html is not a string: put it into an element()")

    __format__ = __add__ = __radd__ = lambda self, _: str(self)


def made(markup):
    it = object.__new__(Html)
    it._markup = markup
    return it


def escape(value):
    return html.escape(replace_controls("–" if value is None else str(value)))


def text(value):
    """Returns any value as text: escaped, and without control characters."""
    return made(escape(value))


def join(*children):
    wrong = [it for it in children if not isinstance(it, Html)]
    if wrong:
        raise TypeError(f"{type(wrong[0]).__name__} is not Html: escape it by text()")
    return made("".join(it._markup for it in children))


def element(name, /, *children, **attributes):
    """Returns an element. Write `_` instead of `-` in an attribute's name, and a final `_` after a word that Python reserves."""
    if "href" in attributes:
        attributes |= checked(attributes["href"])
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return made(f"<{name}{said}{'/' * (name != 'meta')}>")
    return made(f"<{name}{said}>{join(*children)._markup}</{name}>")


def checked(href):
    """Returns the extra attributes of a link. A link leads into this page, or to https without a referrer."""
    if not href.startswith(("#", "https://")):
        raise ValueError("a link must lead to a place in this page, or to https")
    return {} if href.startswith("#") else {"rel": "noopener noreferrer"}


def page(title, css, *body):
    """Returns a whole page as a string. Its policy lets the browser load and run nothing, and use only this style sheet."""
    style = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", text(title)),
        # The style sheet is our own file, so it needs no escaping.
        made(f"<style>{css}</style>"),
    )
    return f"<!doctype html>\n{element('html', head, element('body', *body), lang='en')._markup}\n"
