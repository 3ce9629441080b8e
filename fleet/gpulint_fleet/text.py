"""Handles strings that others wrote, for people to read on a terminal, in a log or on a page."""

import unicodedata

# Control characters, marks that change the direction of text, half surrogate pairs, and line separators.
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


class Refused(Exception):
    """gpulint-fleet refuses a request. The message has the reason and the next step."""


# The errors that a repository or its host can cause. `Refused` is not one of them, because it is the same for every repository.
OF_ONE_REPOSITORY = (OSError, ValueError, RecursionError, MemoryError, LookupError, TypeError)


def is_text(value):
    """Returns whether this is a string that a file can contain. JSON can escape half of a surrogate pair, which cannot be encoded."""
    return isinstance(value, str) and not any("\ud800" <= it <= "\udfff" for it in value)


def is_size(value):
    """Returns whether this is a number of bytes. Python counts `true` as a number, and its numbers have any length."""
    return type(value) is int and 0 <= value < 1 << 63


def replace_controls(text):
    """Returns the text on one line, with control characters replaced."""
    return "".join("\ufffd" if unicodedata.category(it) in HIDDEN else it for it in text)


def cause_of(error):
    """Returns why an operation failed, without the path, because the path of a checkout differs in each run."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"{type(error).__name__}: {error}"[:200]
