"""Markup of a page. A string becomes markup only if it is escaped.

`Html` is markup, and only this module makes it. `element` takes `Html` and raises for a string, so a forgotten `text` fails
in the first test and no string from a repository gets into the page as it is.
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
        raise TypeError("text() and element() make Html")

    def __bool__(self):
        return bool(self._markup)

    def __str__(self):
        raise TypeError("Html is no string: put it into an element()")

    __format__ = __add__ = __radd__ = lambda self, _: str(self)


def made(markup):
    it = object.__new__(Html)
    it._markup = markup
    return it


def escape(value):
    return html.escape(replace_controls("–" if value is None else str(value)))


def text(value):
    """Any value as text: escaped, and without characters that a browser obeys."""
    return made(escape(value))


def join(*children):
    wrong = [it for it in children if not isinstance(it, Html)]
    if wrong:
        raise TypeError(f"{type(wrong[0]).__name__} is no Html: escape it by text()")
    return made("".join(it._markup for it in children))


def element(name, /, *children, **attributes):
    """An element. A name of an attribute is written with `_` in the place of `-`, and with one at its end if Python needs it."""
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
    """The attributes of a link: it leads into this page, or to https without a word about this page."""
    if not href.startswith(("#", "https://")):
        raise ValueError("a link of the page leads to a place in it, or to https")
    return {} if href.startswith("#") else {"rel": "noopener noreferrer"}


def page(title, css, *body):
    """A whole page as a string. Its policy lets the browser load nothing, run nothing, and use this one style sheet."""
    style = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", text(title)),
        # The style sheet is a file of ours.
        made(f"<style>{css}</style>"),
    )
    return f"<!doctype html>\n{element('html', head, element('body', *body), lang='en')._markup}\n"
