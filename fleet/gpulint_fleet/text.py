"""Text that others wrote, for people to read: on a terminal, in a log or on a page."""

import unicodedata

# Control characters, marks that change the direction of text, halves of characters, and line separators.
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


class Refused(Exception):
    """gpulint-fleet refuses a request. The message says why, and what to do."""


def replace_controls(text):
    """The text on one line. Each character that a terminal or a browser obeys instead of showing is replaced."""
    return "".join("\ufffd" if unicodedata.category(it) in HIDDEN else it for it in text)
