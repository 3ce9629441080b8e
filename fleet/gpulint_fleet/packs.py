"""Finds the packs of rules that a repository uses, and their versions."""

import tomllib
from pathlib import Path

from . import owners
from .address import parse
from .text import OF_ONE_REPOSITORY, Refused, is_text

SETTINGS = "gpulint.toml"


def settings_in(directory, place="."):
    """Returns the gpulint.toml of a directory of a checkout, or nothing. gpulint itself refuses invalid settings."""
    try:
        return tomllib.loads(owners.read_inside(directory, Path(directory, place, SETTINGS)).decode())
    except OF_ONE_REPOSITORY:
        return {}


def packs_of(directory):
    """Returns the packs of the repository's settings: a map from git address or path to commit, and one to the version in the pack."""
    commits, versions = {}, {}
    packs = settings_in(directory).get("packs")
    for pack in packs if isinstance(packs, list) else ():
        try:
            address = parse(pack["git"]).identity if "git" in pack else None
            # The copy of a pack from git is in this directory, unless the settings name another one.
            place = pack["path"] if "path" in pack else f".gpulint/{address.rsplit('/', 1)[-1]}"
            name = address or place
            commits[name], versions[name] = pack.get("commit"), settings_in(directory, place).get("version")
        except (Refused, AttributeError, *OF_ONE_REPOSITORY):
            continue
    known = sorted(name for name in commits if is_text(name))
    texts = lambda found: {name: found[name] if is_text(found[name]) else None for name in known}
    return {"packs": texts(commits), "pack_versions": texts(versions)}
