"""Addresses of repositories: which ones git may use, and where a token is valid.

The address comes from a list, a code host or a plan, so others may have written it. `parse` refuses an address that would start
a program, read a local file or send data unencrypted. Its result contains no password and no query.
"""

import dataclasses
import ipaddress
import os
import re
import urllib.parse

from .text import Refused, replace_controls

# Tests and measurements set this variable to 1. It allows file:// and http:// to a loopback address, and nothing else.
ALLOW_LOCAL = "GPULINT_FLEET_ALLOW_LOCAL"

DEFAULT_PORTS = {"https": 443, "http": 80, "ssh": 22}

HOST = re.compile(r"[a-z0-9][a-z0-9._-]*|\[[0-9a-f:.]+\]")
# The characters that RFC 3986 allows in a path. Neither a path nor an ssh user may look like an option.
PATH = re.compile(r"(?!-)[A-Za-z0-9._~!$&'()*+,;=:@%/-]+")
SSH_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*")
SCP = re.compile(r"(?P<user>[^@:/]+)@(?P<host>[^:/]+):(?P<path>.+)")

WRITE = "write https://HOST/PATH or ssh://USER@HOST/PATH"

# The address becomes an argument of git, and Linux limits an argument to 128 KiB. Browsers and hosts allow 2,000 or 8,000 characters.
MOST_CHARACTERS = 2_000


@dataclasses.dataclass(frozen=True)
class Address:
    scheme: str
    user: str | None
    host: str
    port: int | None
    path: str
    is_scp: bool = False
    # True if the original address had a password, an https user name, a query or a fragment. This address lacks it.
    had_secret: bool = False

    @property
    def origin(self):
        return f"{self.scheme}://{self.host}" + (f":{self.port}" if self.port else "")

    @property
    def url(self):
        user = f"{self.user}@" if self.user else ""
        if self.is_scp:
            return f"{user}{self.host}:{self.path}"
        return self.origin.replace("://", f"://{user}", 1) + self.path

    @property
    def identity(self):
        """`github.com/acme/infra`: the same for https and ssh."""
        return f"{self.host or 'file'}/{self.path.strip('/').removesuffix('.git')}"


def redact(text):
    """Returns the text for a message: one short line, without anything that may be a token."""
    text = re.sub(r"\S*@", "", re.sub(r"//\S*@", "//", str(text)))
    return replace_controls(re.sub(r"[?#].*", "", text, flags=re.DOTALL))[:100]


def is_local_allowed():
    return os.environ.get(ALLOW_LOCAL) == "1"


def is_loopback(host):
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def refuse(text, problem, cure=WRITE):
    raise Refused(f"the address `{redact(text)}` {problem}: {cure}")


def split(text):
    """Returns the parts of an address with `://`, after it has checked the scheme and the host."""
    if text.startswith("-"):
        refuse(text, "begins with `-`, like an option")
    if helper := re.match(r"([A-Za-z0-9+.-]*)::", text):
        refuse(text, f"starts the program `git-remote-{helper[1]}`")
    if not re.fullmatch(r"[!-\[\]-~]+", text):
        refuse(
            text, "contains a space, a backslash, a control character or a letter outside of ASCII", "percent-encode it"
        )
    try:
        parts = urllib.parse.urlsplit(text)
        port = parts.port
    except ValueError:
        refuse(text, "has no valid host and port")
    if not parts.scheme or "://" not in text:
        refuse(text, "names no host")
    if parts.scheme == "file" and is_local_allowed():
        return parts, "", None
    host = parts.netloc.rpartition("@")[2].removesuffix(f":{port}").lower()
    if parts.scheme == "http" and not (is_local_allowed() and is_loopback(host)):
        refuse(text, "is not encrypted", "write https://")
    if parts.scheme not in ("https", "ssh", "http"):
        refuse(text, f"uses `{parts.scheme}`")
    if not HOST.fullmatch(host) or port == 0:
        refuse(text, "has no valid host and port")
    return parts, host, None if port == DEFAULT_PORTS[parts.scheme] else port


def parse(text):
    """Returns the address of a repository, or raises `Refused` if git must not use the text."""
    if len(text) > MOST_CHARACTERS:
        refuse(
            text,
            f"has {len(text):,} characters, limit {MOST_CHARACTERS:,}",
            "write the address that the code host shows",
        )
    if scp := None if "://" in text else SCP.fullmatch(text):
        split(f"ssh://{scp['user']}@{scp['host']}/")
        return checked(text, Address("ssh", scp["user"], scp["host"].lower(), None, scp["path"], is_scp=True))
    parts, host, port = split(text)
    login = parts.netloc.rpartition("@")[0]
    user = login.partition(":")[0] if parts.scheme == "ssh" else ""
    had_secret = login != user or bool(parts.query or parts.fragment)
    return checked(text, Address(parts.scheme, user or None, host, port, parts.path, had_secret=had_secret))


def checked(text, address):
    names = urllib.parse.unquote(address.path).split("/")
    if address.user is not None and not SSH_USER.fullmatch(address.user):
        refuse(text, "has no valid ssh user")
    if not PATH.fullmatch(address.path) or not address.path.strip("/"):
        refuse(text, "has no valid path")
    if address.path.startswith("/-") or {".", ".."} & set(names) or replace_controls("".join(names)) != "".join(names):
        refuse(text, "has a path that leads elsewhere", "write the path that the code host shows")
    return address


def identity(text):
    return parse(text).identity


def origin(url):
    """Returns the origin of an address that may get a token: scheme, host, and the port if it is not the default."""
    parts, host, port = split(url)
    if parts.scheme not in ("https", "http"):
        refuse(url, "cannot get a token", "write https://HOST")
    if "@" in parts.netloc:
        refuse(url, "contains a user name or a password", "remove it, and use --token-env or --token-file")
    return Address(parts.scheme, None, host, port, "").origin
