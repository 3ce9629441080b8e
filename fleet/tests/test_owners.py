"""Patterns of owners, which the author of a repository writes."""

import time

import pytest

from gpulint_fleet.owners import Owners, in_repository


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "*b", "a" * 250),
        ("**/a/" * 40 + "b", "a/" * 1900 + "c"),
        ("/".join(["*a*a*a*"] * 20) + "/x", "/".join(["a" * 200] * 19)),
        ("a" + "**" * 40 + "b", "a" * 4000),
    ],
)
def test_a_hostile_pattern_of_owners_takes_no_time(pattern, path):
    begun = time.monotonic()
    assert Owners(f"{pattern} @x\n").of(path) is None
    assert time.monotonic() - begun < 1


def test_owners_of_another_place_are_not_read(tmp_path):
    outside, checkout = tmp_path / "outside", tmp_path / "checkout"
    outside.mkdir()
    checkout.mkdir()
    (outside / "CODEOWNERS").write_text("* @secret\n")
    for name, target in (("docs", outside), ("CODEOWNERS", outside / "CODEOWNERS"), (".gitlab", "../outside")):
        (checkout / name).symlink_to(target)
    assert in_repository(checkout).of("x") is None
    (checkout / ".github").mkdir()
    (checkout / ".github/CODEOWNERS").write_text("* @mine\n")
    assert in_repository(checkout).of("x") == "@mine"
