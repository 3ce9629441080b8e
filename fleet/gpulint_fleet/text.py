"""Text that others wrote, for people to read: on a terminal, in a log or on a page."""

import unicodedata

# Control characters, marks that change the direction of text, halves of characters, and line separators.
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


class Refused(Exception):
    """gpulint-fleet refuses a request. The message says why, and what to do."""


# What a repository or its host can raise in this program. `Refused` is no part: it is the same for every repository.
OF_ONE_REPOSITORY = (OSError, ValueError, RecursionError, MemoryError, LookupError, TypeError)


def is_text(value):
    """Whether this is a string that a file can hold. JSON can escape a half of a character, which has no bytes."""
    return isinstance(value, str) and not any("\ud800" <= it <= "\udfff" for it in value)


def is_size(value):
    """Whether this is a number of bytes. Python takes `true` for a number, and a number of any length."""
    return type(value) is int and 0 <= value < 1 << 63


def replace_controls(text):
    """The text on one line. Each character that a terminal or a browser obeys instead of showing is replaced."""
    return "".join("\ufffd" if unicodedata.category(it) in HIDDEN else it for it in text)


def cause_of(error):
    """Why an operation failed, without the path: that of a checkout differs from run to run."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"{type(error).__name__}: {error}"[:200]
